//! The functions of [`Sim`] for abilities. Each function is a shorthand for an op.

use crate::flow::CachedRefusal;
use crate::rules::AbilityDef;
use crate::{
    AbilityGrant, AbilityId, AbilitySetId, ActivationKey, Answer, Cause, ControllerId, EventData, GrantId, InputId, Op,
    Outcome, ParamId, Refusal, Sim, Target, TaskKey, Which,
};

impl Sim {
    /// Grants an ability and returns the id of the grant. The id is only valid together with this controller.
    ///
    /// ```
    /// use ugas_core::{AbilityGrant, Rules, Sim, SimConfig, SpawnSpec, Target};
    /// use ugas_doc::{Ability, Attribute, AttributeSet, Effect};
    ///
    /// let rules = Rules::builder()
    ///     .add(AttributeSet::new("Vitals").with(Attribute::new("Mana", 50.0).min(0.0)))
    ///     .add(Effect::instant("GE_Cost").add("Mana", -20.0))
    ///     .add(Ability { name: "GA_Spark".into(), cost: Some("GE_Cost".into()), ..Ability::default() })
    ///     .build()?;
    /// let (spark, mana) = (rules.ability("GA_Spark").unwrap(), rules.attribute("Mana").unwrap());
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
    /// sim.grant(hero, AbilityGrant::new(spark))?;
    /// sim.activate(hero, spark, Target::None)?;
    /// assert_eq!(sim.get(hero, mana)?, 30.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn grant(&mut self, who: ControllerId, grant: AbilityGrant) -> Result<GrantId, Refusal> {
        if let Outcome::Granted(id) = self.run(Op::Grant { who, grant })? { Ok(id) } else { Err(Refusal::Mismatch) }
    }

    /// Revokes abilities. Their activations are cancelled first.
    pub fn revoke(&mut self, who: ControllerId, which: Which) -> Result<(), Refusal> {
        self.run(Op::Revoke { who, which }).map(|_| ())
    }

    /// Grants an ability set and returns a handle for [`Sim::revoke_set`].
    pub fn grant_set(&mut self, who: ControllerId, set: AbilitySetId) -> Result<u64, Refusal> {
        if let Outcome::GrantedSet(handle) = self.run(Op::GrantSet { who, set })? {
            Ok(handle)
        } else {
            Err(Refusal::Mismatch)
        }
    }

    /// Revokes one grant of an ability set and removes everything that the grant added to the controller.
    pub fn revoke_set(&mut self, who: ControllerId, handle: u64) -> Result<(), Refusal> {
        self.run(Op::RevokeSet { who, handle }).map(|_| ())
    }

    /// Activates an ability. If the controller has several grants of the ability, the first grant that can be activated
    /// is used.
    #[inline]
    pub fn activate(
        &mut self,
        who: ControllerId,
        ability: AbilityId,
        target: Target,
    ) -> Result<ActivationKey, Refusal> {
        let cause = self.start_op(who);
        if matches!(target, Target::None)
            && self.fast_paths_open()
            && let Some(refusal) = self.cached_refusal(who, ability)
        {
            return Err(refusal);
        }
        self.activate_slow(cause, who, Which::Ability(ability), target)
    }

    /// Activates an ability that is selected by grant, input or ability id.
    pub fn activate_which(
        &mut self,
        who: ControllerId,
        which: Which,
        target: Target,
    ) -> Result<ActivationKey, Refusal> {
        if let Which::Ability(ability) = which {
            return self.activate(who, ability, target);
        }
        let cause = self.start_op(who);
        self.activate_slow(cause, who, which, target)
    }

    /// Returns the cached refusal of an activation without target, if the cache is still valid.
    #[inline(always)]
    fn cached_refusal(&self, who: ControllerId, ability: AbilityId) -> Option<Refusal> {
        let cached = CachedRefusal::of(self.state(), self.rules(), who, ability)?;
        let (now, layouts) = (self.now(), self.layouts());
        cached.remembered(cached.first(), now, layouts).or_else(|| self.refused_by(who, cached.def, cached.first()))
    }

    #[inline(never)]
    fn refused_by(&self, who: ControllerId, def: &AbilityDef, check: u32) -> Option<Refusal> {
        self.view().refused_by(who, def, check)
    }

    #[inline(never)]
    fn activate_slow(
        &mut self,
        cause: Cause,
        who: ControllerId,
        which: Which,
        target: Target,
    ) -> Result<ActivationKey, Refusal> {
        let mut flow = self.flow();
        flow.cause = cause;
        if !flow.journals.is_empty() {
            flow.journal_op(cause.root, &Op::Activate { who, which, target });
        }
        let result = flow.activate_op(who, which, target);
        flow.react();
        result
    }

    /// Cancels activations. The call succeeds even if there is no activation to cancel.
    pub fn cancel(&mut self, who: ControllerId, which: Which) -> Result<(), Refusal> {
        self.run(Op::Cancel { who, which }).map(|_| ())
    }

    /// Ends activations as completed.
    pub fn end(&mut self, who: ControllerId, which: Which) -> Result<(), Refusal> {
        self.run(Op::End { who, which }).map(|_| ())
    }

    /// Interrupts the cast in progress. If `which` is given, the cast is interrupted only if it belongs to a selected
    /// activation.
    pub fn interrupt(&mut self, who: ControllerId, which: Option<Which>) -> Result<(), Refusal> {
        self.run(Op::Interrupt { who, which }).map(|_| ())
    }

    /// Commits an activation whose commit policy is Manual. If the commit is refused, the activation is cancelled and
    /// no cost is paid.
    pub fn commit(&mut self, who: ControllerId, which: Which) -> Result<(), Refusal> {
        self.run(Op::Commit { who, which }).map(|_| ())
    }

    /// Answers an asynchronous validation of an activation. `ok` states whether the validation passed.
    pub fn validate(&mut self, who: ControllerId, which: Which, ok: bool) -> Result<(), Refusal> {
        self.run(Op::Validate { who, which, ok }).map(|_| ())
    }

    /// Changes a grant's level. Running activations keep the level with which they started.
    pub fn set_level(&mut self, who: ControllerId, grant: GrantId, level: u32) -> Result<(), Refusal> {
        self.run(Op::SetLevel { who, grant, level }).map(|_| ())
    }

    /// Sets a parameter of a grant.
    pub fn set_param(&mut self, who: ControllerId, grant: GrantId, param: ParamId, value: f64) -> Result<(), Refusal> {
        self.run(Op::SetParam { who, grant, param, value }).map(|_| ())
    }

    /// Turns a named restriction of a grant on or off.
    pub fn restrict(&mut self, who: ControllerId, grant: GrantId, name: ParamId, on: bool) -> Result<(), Refusal> {
        self.run(Op::Restrict { who, grant, name, on }).map(|_| ())
    }

    /// Presses an input. [`Outcome::Pressed`] contains the activation, or the reason why no ability was activated; both
    /// fields are `None` if no ability is bound to the input.
    pub fn press(&mut self, who: ControllerId, input: InputId, target: Target) -> Result<Outcome, Refusal> {
        self.run(Op::Press { who, input, target })
    }

    /// Releases an input.
    pub fn release(&mut self, who: ControllerId, input: InputId) -> Result<(), Refusal> {
        self.run(Op::Release { who, input }).map(|_| ())
    }

    /// Sends a gameplay event.
    pub fn event(&mut self, event: EventData) -> Result<(), Refusal> {
        self.run(Op::Event(event)).map(|_| ())
    }

    /// Completes or fails a task that requested an answer from the host.
    pub fn complete(&mut self, key: TaskKey, answer: Answer) -> Result<(), Refusal> {
        self.run(Op::Complete { key, answer }).map(|_| ())
    }
}
