//! Queries about abilities: activations, cooldowns, charges, casts, parameters, held inputs, castable abilities and the
//! reasons why an activation would be refused.

use crate::{
    AbilityId, AbilityState, ActivationKey, ControllerId, EffectKey, GrantId, GroupId, InputId, ParamId, ReadError,
    Refusal, Sim, SimTime, TagId, Target, Which,
};

/// A failed activation check, and the time at which the check will pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reason {
    /// The refusal.
    pub refusal: Refusal,
    /// The sim time at which this check will pass if nothing else changes, or `None` if that time is unknown.
    pub clears_at: Option<SimTime>,
}

/// The result of the activation checks of an ability. Checks of the target are not included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Castable {
    /// The first failed check, if any.
    pub reason: Option<Refusal>,
    /// The sim time at which all failed checks will pass, or the current time if no check failed. `None` if a failed
    /// check does not depend on time.
    pub ready_at: Option<SimTime>,
}

/// A running timer, on the controller's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timer {
    /// The remaining time.
    pub remaining: SimTime,
    /// The total time.
    pub total: SimTime,
}

impl Timer {
    /// Returns the remaining fraction, from 1 down to 0.
    ///
    /// ```
    /// use ugas_core::{SimTime, Timer};
    /// let t = Timer { remaining: SimTime::seconds(3.5), total: SimTime::seconds(5.0) };
    /// assert_eq!(t.fraction(), 0.7);
    /// ```
    pub fn fraction(&self) -> f64 {
        if self.total.0 > 0 { self.remaining.0 as f64 / self.total.0 as f64 } else { 0.0 }
    }
}

/// An activation of an ability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActivationView {
    /// The key of the activation.
    pub key: ActivationKey,
    /// The ability.
    pub ability: AbilityId,
    /// The grant that was activated.
    pub grant: GrantId,
    /// The state of the activation.
    pub state: AbilityState,
    /// The level of the activation. It does not change after the start.
    pub level: u32,
    /// The target of the activation.
    pub target: Target,
    /// Whether the activation is committed.
    pub committed: bool,
    /// The effect that grants the ability's owned tags while the ability is active. `None` if the ability has no owned
    /// tags.
    pub owned: Option<EffectKey>,
    /// The time since the start of the activation.
    pub elapsed: SimTime,
}

/// A cast in progress. The times are [`SimTime::NEVER`] if only the authoritative sim can compute them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CastView {
    /// The ability.
    pub ability: AbilityId,
    /// The activation.
    pub activation: ActivationKey,
    /// The remaining and the total time.
    pub timer: Timer,
    /// The total number of ticks, without the initial tick.
    pub ticks: u32,
    /// The number of the last tick that has run; 0 before the first tick and after the initial tick.
    pub tick: u32,
    /// Whether a tick whose time has passed waits for the target that its client chose (`TickData: Required`).
    pub owed: bool,
}

impl Sim {
    /// Fills `into` with the activation checks that fail now, in the order in which `activate` evaluates the checks.
    /// `into` is empty if the activation would succeed. If `which` selects several grants and none of them can be
    /// activated, `into` contains the reasons for the first grant.
    pub fn why_not(
        &self,
        who: ControllerId,
        which: Which,
        target: Target,
        into: &mut Vec<Reason>,
    ) -> Result<(), Refusal> {
        into.clear();
        let (view, slot) = (self.view(), self.slot(who)?);
        let mut first = true;
        for grant in view.grants_of(slot, which)? {
            let Some(at) = self.state().controllers.row(slot).grant(grant) else { continue };
            let Some(def) = view.ability(view.row(slot).grants[at].ability) else { continue };
            let t = view.attempt(slot, at, &def, target);
            if view.refusal_of(&t).and_then(|()| view.room_to_run(slot)).is_ok() {
                into.clear();
                return Ok(());
            }
            if first {
                view.every_refusal(&t, into);
                first = false;
            }
        }
        if first {
            into.push(Reason { refusal: Refusal::NotGranted, clears_at: None });
        }
        Ok(())
    }

    /// Checks whether `activate` would succeed now. The error is the first failed check.
    pub fn check(&self, who: ControllerId, ability: AbilityId, target: Target) -> Result<(), Refusal> {
        let (view, slot) = (self.view(), self.slot(who)?);
        let mut first = None;
        for grant in view.grants_of(slot, Which::Ability(ability))? {
            let Some(at) = view.row(slot).grant(grant) else { continue };
            let Some(def) = view.ability(ability) else { continue };
            let checked = view.first_refusal(&view.attempt(slot, at, &def, target));
            match checked.and_then(|()| view.room_to_run(slot)) {
                Ok(()) => return Ok(()),
                Err(refusal) => first = first.or(Some(refusal)),
            }
        }
        Err(first.unwrap_or(Refusal::NotGranted))
    }

    /// Returns the first activation check that a granted ability fails now, and the time at which the ability will be
    /// ready. The checks of the target are skipped. The result is cached until the controller changes.
    pub fn castable(&self, who: ControllerId, grant: GrantId) -> Result<Castable, ReadError> {
        let (slot, at) = self.grant_at(who, grant)?;
        let view = self.view();
        let Some(def) = view.ability(view.row(slot).grants[at].ability) else { return Err(ReadError::StaleHandle) };
        let (fails, ready) = view.castable_of(slot, at, &def);
        if fails == 0 {
            return Ok(Castable { reason: None, ready_at: Some(self.now()) });
        }
        let reason = view.refusal_in(&view.attempt(slot, at, &def, Target::None), fails).err();
        let due = if ready == SimTime::NEVER { ready } else { view.row(slot).clock.due(ready) };
        Ok(Castable { reason, ready_at: (due != SimTime::NEVER).then_some(due) })
    }

    /// Returns the state of a granted ability.
    pub fn ability_state(&self, who: ControllerId, grant: GrantId) -> Result<AbilityState, ReadError> {
        Ok(self.view().state_of(self.slot(who)?, grant))
    }

    /// Iterates over the activations of a controller, oldest first.
    pub fn activations(&self, who: ControllerId) -> Result<impl Iterator<Item = ActivationView>, ReadError> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        Ok(row.play().activations.iter().map(move |a| ActivationView {
            key: a.key(who),
            ability: a.ability,
            grant: a.grant,
            state: a.state,
            level: a.level,
            target: a.target,
            committed: a.committed,
            owned: row.effect_at(a.owned).map(|i| row.effects[i].key(who)),
            elapsed: SimTime(now.0 - a.start.0),
        }))
    }

    /// Returns the timer of a grant's cooldown, or `None` if no active effect grants a cooldown tag of the ability. If
    /// several effects grant a cooldown tag, the timer is that of the effect with the longest remaining time. For an
    /// infinite effect, the remaining time is [`SimTime::NEVER`].
    pub fn cooldown(&self, who: ControllerId, grant: GrantId) -> Result<Option<Timer>, ReadError> {
        let (slot, at) = self.grant_at(who, grant)?;
        let view = self.view();
        let Some(def) = view.ability(view.row(slot).grants[at].ability) else { return Ok(None) };
        let t = view.attempt(slot, at, &def, Target::None);
        Ok(view.cooldown_of(&t).map(|(start, end)| Timer {
            remaining: view.left(slot, end),
            total: if end == SimTime::NEVER { end } else { SimTime(end.0 - start.0) },
        }))
    }

    /// Returns the cooldowns that can delay an activation of an ability: the tags of its cooldown and the group of its
    /// global cooldown.
    pub fn cooldown_gates(&self, ability: AbilityId) -> (Vec<TagId>, Option<GroupId>) {
        let def = self.view().ability(ability);
        def.map_or((Vec::new(), None), |d| (d.cooldown_tags.to_vec(), d.gcd.map(|(group, _)| group)))
    }

    /// Returns the timer of a global cooldown, or `None` if the cooldown is not running.
    pub fn global_cooldown(&self, who: ControllerId, group: GroupId) -> Result<Option<Timer>, ReadError> {
        let slot = self.slot(who)?;
        let view = self.view();
        let gcd = view.row(slot).play().gcds.iter().find(|g| g.group == group);
        Ok(gcd.map(|g| Timer { remaining: view.left(slot, g.end), total: SimTime(g.end.0 - g.start.0) }))
    }

    /// Returns the charges of a grant, or `None` if its ability does not use charges.
    pub fn charges(&self, who: ControllerId, grant: GrantId) -> Result<Option<crate::ChargeView>, ReadError> {
        let (slot, at) = self.grant_at(who, grant)?;
        Ok(self.view().charges_of(slot, at))
    }

    /// Returns the cast in progress, or `None` if the controller is not casting.
    pub fn cast(&self, who: ControllerId) -> Result<Option<CastView>, ReadError> {
        let slot = self.slot(who)?;
        let view = self.view();
        let play = view.row(slot).play();
        Ok(play.cast.as_deref().and_then(|c| {
            let a = play.activation(c.of)?;
            let timer = Timer { remaining: view.left(slot, c.start + c.length), total: c.length };
            Some(CastView {
                ability: a.ability,
                activation: a.key(who),
                timer,
                ticks: c.ticks,
                tick: a.tick,
                owed: c.owed,
            })
        }))
    }

    /// Returns the value of a grant's parameter, or `None` if the parameter is not set.
    pub fn param(&self, who: ControllerId, grant: GrantId, name: ParamId) -> Result<Option<f64>, ReadError> {
        let (slot, at) = self.grant_at(who, grant)?;
        Ok(self.view().param_of(slot, at, name))
    }

    /// Returns how long an input has been pressed, or `None` if the input is not pressed.
    pub fn held(&self, who: ControllerId, input: InputId) -> Result<Option<SimTime>, ReadError> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        Ok(row.play().inputs().held.iter().find(|h| h.input == input).map(|h| SimTime(now.0 - h.since.0)))
    }

    /// Returns the pressed inputs in order of id.
    ///
    /// ```
    /// use ugas_core::{InputId, Op, Rules, Sim, SimConfig, SpawnSpec, Target};
    /// use ugas_doc::{Attribute, AttributeSet};
    /// let rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Mana", 50.0))).build()?;
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
    /// sim.run(Op::Press { who, input: InputId(3), target: Target::None })?;
    /// assert_eq!(sim.held_inputs(who)?, [InputId(3)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn held_inputs(&self, who: ControllerId) -> Result<Vec<InputId>, ReadError> {
        Ok(self.row(who)?.play().inputs().held.iter().map(|h| h.input).collect())
    }

    fn grant_at(&self, who: ControllerId, grant: GrantId) -> Result<(usize, usize), ReadError> {
        let slot = self.slot(who)?;
        let at = self.state().controllers.row(slot).grant(grant).ok_or(ReadError::StaleHandle)?;
        Ok((slot, at))
    }
}
