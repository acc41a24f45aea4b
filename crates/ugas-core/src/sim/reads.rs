//! Reads of a sim: the log, the clock, controllers, attributes, names of definitions, hashes.

use super::Sim;
use super::config::SimConfig;
use super::figures::TaskFigures;
use crate::rng::mix;
use crate::rules::Rules;
use crate::state::{CauseLink, Row};
use crate::{
    ActorId, Anchor, AttributeId, ControllerId, Diagnostic, EffectId, Facts, Rate, ReadError, SetId, SimTime, Trace,
};
use std::sync::Arc;
use ugas_doc::Doc;

impl Sim {
    /// Facts since they were last taken.
    pub fn facts(&self) -> &Facts {
        &self.log.facts
    }

    /// Swaps the facts out: no allocation, and the sim is free again while they are read.
    pub fn take_facts(&mut self, into: &mut Facts) {
        into.list.clear();
        into.detail.clear();
        std::mem::swap(&mut self.log.facts, into);
    }

    /// Swaps the diagnostics out.
    pub fn take_diagnostics(&mut self, into: &mut Vec<Diagnostic>) {
        into.clear();
        std::mem::swap(&mut self.log.diagnostics, into);
    }

    /// Swaps the trace out.
    pub fn take_trace(&mut self, into: &mut Vec<Trace>) {
        into.clear();
        std::mem::swap(&mut self.log.trace, into);
    }

    /// What tasks that tick cost so far, by task type.
    pub fn task_figures(&self) -> &[TaskFigures] {
        &self.index.figures
    }

    /// The chain of causes behind a fact's link, nearest first, as far as the ring remembers.
    pub fn chain(&self, link: u32) -> Vec<CauseLink> {
        self.causes.chain(self.config.limits.cause_links, link)
    }

    /// The rules.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }
    /// The time reached.
    pub fn now(&self) -> SimTime {
        self.state.now
    }
    /// How it was set up.
    pub fn config(&self) -> &SimConfig {
        &self.config
    }
    /// Controllers that exist, by rising id.
    pub fn controllers(&self) -> impl Iterator<Item = ControllerId> {
        self.state.controllers.iter().map(|r| r.id)
    }
    /// Whether a controller exists.
    pub fn exists(&self, who: ControllerId) -> bool {
        self.state.controllers.slot(who).is_some()
    }
    /// The controller of an actor, as owner or avatar: the one with the lowest id. Looks through all controllers;
    /// hosts that ask often keep a map of their own.
    pub fn controller_of(&self, actor: ActorId) -> Option<ControllerId> {
        actor.some()?;
        self.state.controllers.iter().find(|r| r.owner == actor || r.avatar() == actor).map(|r| r.id)
    }
    /// The owner: lifecycle, authority, persistence.
    pub fn owner(&self, who: ControllerId) -> Result<Option<ActorId>, ReadError> {
        Ok(self.row(who)?.owner.some())
    }
    /// The avatar: place and looks.
    pub fn avatar(&self, who: ControllerId) -> Result<Option<ActorId>, ReadError> {
        Ok(self.row(who)?.avatar().some())
    }
    /// Where it stands.
    pub fn anchor(&self, who: ControllerId) -> Result<Option<Anchor>, ReadError> {
        Ok(self.row(who)?.side().anchor)
    }
    /// How fast its clock runs.
    pub fn rate(&self, who: ControllerId) -> Result<Rate, ReadError> {
        Ok(self.row(who)?.clock.rate())
    }
    /// Whether it is active.
    pub fn is_active(&self, who: ControllerId) -> Result<bool, ReadError> {
        Ok(self.row(who)?.clock.active())
    }
    /// Its registered sets.
    pub fn sets(&self, who: ControllerId) -> Result<Vec<SetId>, ReadError> {
        self.set_list(who).map(<[SetId]>::to_vec)
    }
    /// The same without a copy.
    pub fn set_list(&self, who: ControllerId) -> Result<&[SetId], ReadError> {
        let row = self.row(who)?;
        Ok(&self.layout(row).sets)
    }

    #[inline]
    fn place(&self, who: ControllerId, attribute: AttributeId) -> Result<(&Row, usize), ReadError> {
        let row = self.row(who)?;
        let slot = self.layout(row).slot(attribute).ok_or(ReadError::UnknownAttribute { who, attribute })?;
        Ok((row, slot))
    }

    /// An attribute's current value.
    #[inline]
    pub fn get(&self, who: ControllerId, attribute: AttributeId) -> Result<f64, ReadError> {
        self.place(who, attribute).map(|(row, slot)| row.attrs[slot].current)
    }
    /// An attribute's base value.
    #[inline]
    pub fn base(&self, who: ControllerId, attribute: AttributeId) -> Result<f64, ReadError> {
        self.place(who, attribute).map(|(row, slot)| row.attrs[slot].base)
    }
    /// An attribute's bounds now; infinite where there is none.
    pub fn bounds(&self, who: ControllerId, attribute: AttributeId) -> Result<(f64, f64), ReadError> {
        let (row, slot) = self.place(who, attribute)?;
        Ok(self.layout(row).slots[slot].bounds(&row.attrs))
    }
    /// The attributes a controller has, in dependency order.
    pub fn attributes(&self, who: ControllerId) -> Result<Vec<AttributeId>, ReadError> {
        let row = self.row(who)?;
        Ok(self.layout(row).slots.iter().map(|s| s.attribute).collect())
    }
    /// An ability's document, made at run time or not.
    pub fn ability_doc(&self, ability: crate::AbilityId) -> Option<&ugas_doc::Ability> {
        if !ability.is_runtime() {
            return self.rules.ability_doc(ability);
        }
        match &self.state.definitions.get(ability.0)?.doc {
            Doc::Ability(doc) => Some(doc),
            _ => None,
        }
    }
    /// Whether an effect is over as soon as it is applied; false for one that is not known.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig};
    /// use ugas_doc::Effect;
    /// let rules = Rules::builder().add(Effect::instant("GE_Hit")).add(Effect::infinite("GE_Ward")).build()?;
    /// let sim = Sim::new(rules.clone(), SimConfig::default());
    /// assert!(sim.is_instant(rules.effect("GE_Hit").unwrap()));
    /// assert!(!sim.is_instant(rules.effect("GE_Ward").unwrap()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_instant(&self, effect: EffectId) -> bool {
        let policy = match effect.is_runtime() {
            false => self.rules.effect_def(effect).map(|def| def.policy),
            true => self.state.definitions.get(effect.0).and_then(|d| match &d.doc {
                Doc::Effect(doc) => Some(doc.duration_policy),
                _ => None,
            }),
        };
        policy == Some(ugas_doc::DurationPolicy::Instant)
    }
    /// The name of an effect, made at run time or not.
    pub fn effect_name(&self, effect: EffectId) -> Option<&str> {
        if effect.is_runtime() {
            return self.state.definitions.get(effect.0).map(|d| d.doc.name());
        }
        self.rules.effect_name(effect)
    }

    /// The canonical hash of everything but the log. Its cost follows what changed since it was last asked for.
    pub fn hash(&mut self) -> u64 {
        let dirty = std::mem::take(&mut self.state.hash_dirty);
        for &who in &dirty {
            let Some(slot) = self.state.controllers.slot(who) else {
                continue;
            };
            let row = self.state.controllers.row(slot);
            if !row.hash_dirty {
                continue;
            }
            let new = row.compute_hash(&self.index.layouts[row.layout as usize].sets, &self.rules.tags);
            self.state.controllers.row_mut(slot).hash_dirty = false;
            let old = std::mem::replace(self.state.controllers.hash_mut(slot), new);
            if old != new
                && let Some(changed) = &mut self.state.changed
            {
                changed.push(who);
            }
            self.state.hash_sum = self.state.hash_sum.wrapping_sub(old).wrapping_add(new);
        }
        self.state.hash_dirty = dirty;
        self.state.hash_dirty.clear();
        let s = &self.state;
        let words = [s.now.0 as u64, s.seed, s.next_id as u64, s.next_op, s.hash_sum, self.rules.fingerprint()];
        let defs = s.definitions.list.iter().map(|d| d.as_ref().map_or(1, |d| d.fingerprint));
        let seeds = s.client_seeds.iter().map(|&(client, seed)| mix(client as u64) ^ seed);
        words.into_iter().chain(defs).chain(seeds).fold(9, |h, w| mix(h ^ w).rotate_left(17))
    }

    /// The canonical hash of one controller.
    pub fn row_hash(&self, who: ControllerId) -> Result<u64, ReadError> {
        let row = self.row(who)?;
        Ok(row.compute_hash(&self.layout(row).sets, &self.rules.tags))
    }
}
