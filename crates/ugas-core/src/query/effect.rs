//! Queries about active effects, grants and granted ability sets.

use crate::{
    AbilityId, AbilitySetId, ControllerId, EffectFilter, EffectId, EffectKey, GrantId, InputId, ReadError, Sim,
    SimTime, Spec, Timer,
};

/// The state of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectState {
    /// The effect is active.
    Active,
    /// The effect is active, but an ongoing requirement inhibits it.
    Inhibited,
    /// The application waits in a queue behind another application.
    Queued,
}

/// An active or queued effect. All times except `span` are durations on the controller's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectView {
    /// The key of the application.
    pub key: EffectKey,
    /// The definition of the effect.
    pub effect: EffectId,
    /// The controller that applied the effect, or `None` if the world applied it.
    pub source: Option<ControllerId>,
    /// The level of the effect.
    pub level: u32,
    /// The number of stacks.
    pub stacks: u32,
    /// The state of the effect.
    pub state: EffectState,
    /// The time since the effect started.
    pub elapsed: SimTime,
    /// The remaining time, or `None` for infinite and queued effects.
    pub remaining: Option<SimTime>,
    /// The total duration, or `None` for infinite and queued effects.
    pub total: Option<SimTime>,
    /// The start and the end of the effect in sim time, computed with the current rate of the controller's clock. The
    /// two times do not change from tick to tick; observers receive them instead of the remaining time. The end is
    /// [`SimTime::NEVER`] if the effect is infinite or the clock is stopped. Both times of a queued effect are
    /// [`SimTime::NEVER`].
    pub span: (SimTime, SimTime),
    /// The number of periodic executions so far.
    pub executed: u32,
    /// The time until the next periodic execution, if there is one.
    pub next_execution: Option<SimTime>,
}

impl EffectView {
    /// Returns the remaining and the total time, or `None` for infinite and queued effects.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec};
    /// use ugas_doc::{Attribute, AttributeSet, Effect};
    /// let set = AttributeSet::new("V").with(Attribute::new("Health", 100.0));
    /// let rules = Rules::builder().add(set).add(Effect::lasting("GE_Ward", 4.0)).build()?;
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let who = sim.spawn(SpawnSpec::sets([rules.set("V").unwrap()]))?;
    /// let ward = sim.apply(&Spec::new(rules.effect("GE_Ward").unwrap(), who))?;
    /// sim.advance_to(SimTime::seconds(1.0));
    /// assert_eq!(sim.effect(ward)?.timer().map(|t| t.fraction()), Some(0.75));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn timer(&self) -> Option<Timer> {
        Some(Timer { remaining: self.remaining?, total: self.total? })
    }
}

/// A granted ability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrantView {
    /// The id of the grant on this controller.
    pub id: GrantId,
    /// The ability.
    pub ability: AbilityId,
    /// The level of the grant.
    pub level: u32,
    /// The input that the ability is bound to, if any.
    pub input: Option<InputId>,
    /// The effect that granted the ability, if any. When that effect ends, the grant is revoked.
    pub by: Option<EffectKey>,
}

impl Sim {
    /// Returns the active effects in order of application, followed by the queued effects.
    pub fn effects(&self, who: ControllerId) -> Result<Vec<EffectView>, ReadError> {
        Ok(self.each_effect(who)?.collect())
    }

    /// Iterates over the effects that [`Sim::effects`] returns, without allocating a list.
    pub fn each_effect(&self, who: ControllerId) -> Result<impl Iterator<Item = EffectView>, ReadError> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        // On a very slow clock, the end may be beyond `SimTime::LONGEST`. The effect then never ends.
        let due = |local| row.clock.due(local);
        let sim_time =
            move |local| Some(local).filter(|&t| t != SimTime::NEVER).map(due).filter(|&t| t <= SimTime::LONGEST);
        let sim_time = move |local| sim_time(local).unwrap_or(SimTime::NEVER);
        let active = row.effects.iter().map(move |e| EffectView {
            key: e.key(who),
            effect: e.def,
            source: e.source.some(),
            level: e.level(),
            stacks: e.stacks(),
            state: if e.inhibited() { EffectState::Inhibited } else { EffectState::Active },
            elapsed: now - e.start,
            remaining: (e.end != SimTime::NEVER).then(|| e.end - now),
            total: (e.end != SimTime::NEVER).then(|| e.end - e.start),
            span: (sim_time(e.start), sim_time(e.end)),
            executed: e.periodic().map_or(0, |p| p.executed),
            next_execution: e.periodic().map(|p| p.next()).filter(|&t| t <= e.end).map(|t| t - now),
        });
        let queued = row.queue().iter().map(move |q| EffectView {
            key: EffectKey { origin_id: q.origin_id, target: who, ordinal: q.ordinal },
            effect: q.spec.effect,
            source: q.spec.source.some(),
            level: q.spec.level,
            stacks: q.spec.stacks,
            state: EffectState::Queued,
            elapsed: SimTime::ZERO,
            remaining: None,
            total: None,
            span: (SimTime::NEVER, SimTime::NEVER),
            executed: 0,
            next_execution: None,
        });
        Ok(active.chain(queued))
    }

    /// Returns one active or queued effect. If the effect has ended, the error is [`ReadError::StaleHandle`].
    pub fn effect(&self, key: EffectKey) -> Result<EffectView, ReadError> {
        self.each_effect(key.target)?.find(|e| e.key == key).ok_or(ReadError::StaleHandle)
    }

    /// Returns the spec of an effect: target, source, level, ability and context (set-by-caller values, origin, hit,
    /// causer). To read the causes of the effect, pass the link of one of its facts to `Sim::chain`.
    pub fn spec_of(&self, key: EffectKey) -> Result<Spec, ReadError> {
        let row = self.row(key.target)?;
        if let Some(at) = row.find_queued(key) {
            return Ok(row.queue()[at].spec.clone());
        }
        let at = row.find(key).ok_or(ReadError::StaleHandle)?;
        Ok(row.effects[at].spec(key.target))
    }

    /// Returns the keys of the active effects that match a filter, in order of application.
    pub fn query(&self, who: ControllerId, filter: &EffectFilter) -> Result<Vec<EffectKey>, ReadError> {
        let row = self.row(who)?;
        let rules = self.rules();
        let layout = self.layout(row);
        let defs = &self.state().definitions;
        let slot = filter.modifies.map(|a| layout.slot(a));
        let hit = |e: &&crate::state::Effect| {
            let Some(def) = defs.effect(rules, e.def) else {
                return false;
            };
            let tagged = || {
                let mut mine = def.effect_tags.iter().chain(&def.granted_tags);
                mine.any(|&t| filter.with_any_tag.iter().any(|&of| rules.tag_is_under(t, of)))
            };
            filter.effect.is_none_or(|d| d == e.def)
                && filter.source.is_none_or(|s| s == e.source)
                && (filter.with_any_tag.is_empty() || tagged())
                && slot.is_none_or(|s| s.is_some() && def.modifiers.iter().any(|m| layout.slot(m.attribute) == s))
        };
        Ok(row.effects.iter().filter(hit).map(|e| e.key(who)).collect())
    }

    /// Returns the abilities granted to a controller.
    pub fn grants(&self, who: ControllerId) -> Result<Vec<GrantView>, ReadError> {
        let row = self.row(who)?;
        let by = |seq: u64| row.effect_at(seq).map(|i| row.effects[i].key(who));
        Ok(row
            .grants
            .iter()
            .map(|g| GrantView {
                id: g.id,
                ability: g.ability,
                level: g.level(),
                input: g.input().some(),
                by: by(g.by()),
            })
            .collect())
    }

    /// Returns the ability sets of a controller, oldest grant first, each with the handle for [`Sim::revoke_set`]. The
    /// list includes ability sets that were granted at spawn.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig, SpawnSpec};
    /// use ugas_doc::{AbilitySet, Attribute, AttributeSet, Controller};
    /// let mut knight = Controller::new("Knight").set("Vitals");
    /// knight.ability_sets.push("AS_Sword".into());
    /// let rules = Rules::builder()
    ///     .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
    ///     .add(AbilitySet::new("AS_Sword"))
    ///     .add(knight)
    ///     .build()
    ///     .unwrap();
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let who = sim.spawn(SpawnSpec::template(rules.template("Knight").unwrap())).unwrap();
    /// let (set, handle) = sim.ability_sets(who).unwrap()[0];
    /// assert_eq!(rules.ability_set_name(set), Some("AS_Sword"));
    /// sim.run(ugas_core::Op::RevokeSet { who, handle }).unwrap();
    /// assert!(sim.ability_sets(who).unwrap().is_empty());
    /// ```
    pub fn ability_sets(&self, who: ControllerId) -> Result<Vec<(AbilitySetId, u64)>, ReadError> {
        Ok(self.row(who)?.play().sets.iter().map(|s| (s.set, s.seq)).collect())
    }
}
