//! Queries about a sim: the logs, causes, the clock, the configuration, controllers, attributes, definitions and
//! hashes. The `take_` functions also empty a log.

use super::Sim;
use super::config::SimConfig;
use super::figures::{CapabilityFigures, TaskFigures};
use crate::rng::mix;
use crate::rules::{Rules, Slot};
use crate::state::{CauseLink, Row};
use crate::{
    ActorId, Anchor, AttributeId, ControllerId, Diagnostic, EffectId, Facts, Rate, ReadError, SetId, SimTime, Trace,
};
use std::sync::Arc;
use ugas_doc::{Category, Doc};

impl Sim {
    /// Returns the facts emitted since the last call of [`Sim::take_facts`].
    pub fn facts(&self) -> &Facts {
        &self.log.facts
    }

    /// Moves the facts into `into` by swapping buffers, without allocating. The old content of `into` is dropped. The
    /// sim can be used while the caller reads the facts.
    pub fn take_facts(&mut self, into: &mut Facts) {
        into.list.clear();
        into.detail.clear();
        std::mem::swap(&mut self.log.facts, into);
    }

    /// Moves the diagnostics into `into` by swapping buffers. The old content of `into` is dropped.
    pub fn take_diagnostics(&mut self, into: &mut Vec<Diagnostic>) {
        into.clear();
        std::mem::swap(&mut self.log.diagnostics, into);
    }

    /// Moves the trace into `into` by swapping buffers. The old content of `into` is dropped.
    pub fn take_trace(&mut self, into: &mut Vec<Trace>) {
        into.clear();
        std::mem::swap(&mut self.log.trace, into);
    }

    /// Returns the measurements of ticking tasks, one entry per task type.
    pub fn task_figures(&self) -> &[TaskFigures] {
        &self.index.figures
    }

    /// Iterates over the measurements of capabilities, one entry per class that was visited.
    pub fn capability_figures(&self) -> impl Iterator<Item = &CapabilityFigures> {
        self.index.capability_figures.iter().filter(|figures| figures.visits > 0)
    }

    /// Returns the chain of causes of a fact, the nearest cause first. `link` is the fact's
    /// [`link`](crate::Fact::link). The sim stores a limited number of links
    /// ([`Limits::cause_links`](crate::Limits::cause_links)), so the chain of an old fact may be incomplete.
    pub fn chain(&self, link: u32) -> Vec<CauseLink> {
        self.causes.chain(self.config.limits.cause_links, link)
    }

    /// Returns the rules.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }
    /// Returns the current time.
    pub fn now(&self) -> SimTime {
        self.state.now
    }
    /// Returns the configuration.
    pub fn config(&self) -> &SimConfig {
        &self.config
    }
    /// Iterates over the controllers in order of id.
    pub fn controllers(&self) -> impl Iterator<Item = ControllerId> {
        self.state.controllers.iter().map(|r| r.id)
    }
    /// Returns whether a controller exists.
    pub fn exists(&self, who: ControllerId) -> bool {
        self.state.controllers.slot(who).is_some()
    }
    /// Returns the controller whose owner or avatar is the actor. If several controllers match, returns the one with
    /// the lowest id. The search visits all controllers, so a host that needs the result often should keep its own map.
    pub fn controller_of(&self, actor: ActorId) -> Option<ControllerId> {
        actor.some()?;
        self.state.controllers.iter().find(|r| r.owner == actor || r.avatar() == actor).map(|r| r.id)
    }
    /// Returns the owner: the actor that the controller belongs to.
    pub fn owner(&self, who: ControllerId) -> Result<Option<ActorId>, ReadError> {
        Ok(self.row(who)?.owner.some())
    }
    /// Returns the avatar: the actor that represents the controller in the world.
    pub fn avatar(&self, who: ControllerId) -> Result<Option<ActorId>, ReadError> {
        Ok(self.row(who)?.avatar().some())
    }
    /// Returns the anchor of a controller: the position and facing of its avatar, if set.
    pub fn anchor(&self, who: ControllerId) -> Result<Option<Anchor>, ReadError> {
        Ok(self.row(who)?.side().anchor)
    }
    /// Returns the rate of a controller's clock.
    pub fn rate(&self, who: ControllerId) -> Result<Rate, ReadError> {
        Ok(self.row(who)?.clock.rate())
    }
    /// Returns whether a controller is active. The clock of an inactive controller is stopped.
    pub fn is_active(&self, who: ControllerId) -> Result<bool, ReadError> {
        Ok(self.row(who)?.clock.active())
    }
    /// Returns the attribute sets of a controller.
    pub fn sets(&self, who: ControllerId) -> Result<Vec<SetId>, ReadError> {
        self.set_list(who).map(<[SetId]>::to_vec)
    }
    /// Returns the attribute sets of a controller without copying the list.
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

    /// Returns an attribute's current value.
    #[inline]
    pub fn get(&self, who: ControllerId, attribute: AttributeId) -> Result<f64, ReadError> {
        self.place(who, attribute).map(|(row, slot)| row.attrs[slot].current)
    }
    /// Returns an attribute's base value.
    #[inline]
    pub fn base(&self, who: ControllerId, attribute: AttributeId) -> Result<f64, ReadError> {
        self.place(who, attribute).map(|(row, slot)| row.attrs[slot].base)
    }
    /// Returns an attribute's current minimum and maximum. A missing bound is infinite.
    pub fn bounds(&self, who: ControllerId, attribute: AttributeId) -> Result<(f64, f64), ReadError> {
        let (row, slot) = self.place(who, attribute)?;
        Ok(self.layout(row).slots[slot].bounds(&row.attrs))
    }
    /// Returns the attributes of a controller, in dependency order.
    pub fn attributes(&self, who: ControllerId) -> Result<Vec<AttributeId>, ReadError> {
        let row = self.row(who)?;
        Ok(self.layout(row).slots.iter().map(|s| s.attribute).collect())
    }
    /// Returns the attributes of a controller's resources, in dependency order.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig, SpawnSpec};
    /// use ugas_doc::Resource;
    /// let rules = Rules::builder().add(Resource::new("Mana", 80.0).max(100.0)).build()?;
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let hero = sim.spawn(SpawnSpec::sets([rules.set("Mana")?])).unwrap();
    /// assert_eq!(sim.resources(hero), Ok(vec![rules.attribute("Mana")?]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resources(&self, who: ControllerId) -> Result<Vec<AttributeId>, ReadError> {
        let row = self.row(who)?;
        Ok(self.layout(row).slots.iter().filter(|s| s.resource).map(|s| s.attribute).collect())
    }
    /// Returns the attributes that a list for players shows: the attributes of a controller, in dependency order,
    /// without those of the category `Meta`.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig, SpawnSpec};
    /// use ugas_doc::{Attribute, AttributeSet, Category};
    /// let set = AttributeSet::new("V").with(Attribute::new("Health", 100.0))
    ///     .with(Attribute::new("IncomingDamage", 0.0).category(Category::Meta));
    /// let rules = Rules::builder().add(set).build()?;
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let hero = sim.spawn(SpawnSpec::sets([rules.set("V").unwrap()]))?;
    /// assert_eq!(sim.player_attributes(hero)?, [rules.attribute("Health").unwrap()]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn player_attributes(&self, who: ControllerId) -> Result<Vec<AttributeId>, ReadError> {
        let row = self.row(who)?;
        let is_meta = |slot: &Slot| {
            let defs = self.rules.set_attributes(slot.set).unwrap_or_default();
            defs.iter().any(|d| d.attribute == slot.attribute && d.category == Category::Meta)
        };
        Ok(self.layout(row).slots.iter().filter(|s| !is_meta(s)).map(|s| s.attribute).collect())
    }
    /// Returns the document of an ability from the rules or from a run-time definition.
    pub fn ability_doc(&self, ability: crate::AbilityId) -> Option<&ugas_doc::Ability> {
        if !ability.is_runtime() {
            return self.rules.ability_doc(ability);
        }
        if let Doc::Ability(doc) = &self.state.definitions.get(ability.0)?.doc { Some(doc) } else { None }
    }
    /// Returns whether an effect is instant. Returns false for an unknown effect.
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
            true => self
                .state
                .definitions
                .get(effect.0)
                .and_then(|d| if let Doc::Effect(doc) = &d.doc { Some(doc.duration_policy) } else { None }),
        };
        policy == Some(ugas_doc::DurationPolicy::Instant)
    }
    /// Returns the name of an effect from the rules or from a run-time definition.
    pub fn effect_name(&self, effect: EffectId) -> Option<&str> {
        if effect.is_runtime() {
            return self.state.definitions.get(effect.0).map(|d| d.doc.name());
        }
        self.rules.effect_name(effect)
    }

    /// Returns the canonical hash of the state, without the log. The cost depends on the number of controllers that
    /// changed since the last call.
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
        words.into_iter().chain(defs).fold(9, |h, w| mix(h ^ w).rotate_left(17))
    }

    /// Returns the canonical hash of one controller.
    pub fn row_hash(&self, who: ControllerId) -> Result<u64, ReadError> {
        let row = self.row(who)?;
        Ok(row.compute_hash(&self.layout(row).sets, &self.rules.tags))
    }
}
