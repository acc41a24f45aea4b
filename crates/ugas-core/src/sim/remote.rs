//! The interface of a sim for network sessions: [`Remote`] reads the sim, and [`RemoteMut`] changes it.
//!
//! A client predicts its own controllers, so its sim runs some ticks ahead of the authoritative server's sim. When the
//! server's state of an earlier tick arrives, [`RemoteMut::import`] turns that state into an image. [`Sim::resimulate`]
//! then restores the controller to the image and resimulates the later entries of the journal. The journal still
//! contains the ops of commands that the server has not processed yet. The op of a command that the server rejected is
//! removed with [`RemoteMut::discard_op`].
//!
//! The server takes snapshots ([`Remote::snapshot_without`]), lists the controllers that changed
//! ([`RemoteMut::take_changed`]) and runs the ops of clients ([`RemoteMut::run_late`]). The crate `ugas-net` builds its
//! sessions with these functions.

mod holding;
mod import;
mod journal;
mod redact;
mod simulate;

pub use holding::Holding;
pub use import::ProxyRow;
pub use journal::{JournalPosition, ResimulationStop, RowResimulation};
pub use simulate::{Simulated, SimulatedStep};

use super::Sim;
use crate::flow::{ClientClock, PredictedTargets, SeedBlock, TriggerCause, UsedAbility};
use crate::image::{Portable, RowImage};
use crate::rules::TriggerDef;
use crate::sim::{Role, SimConfig};
use crate::{
    AbilityId, AbilityState, ActivationKey, ControllerId, DefId, EffectId, Fact, InsertError, LimitKind, Op, OpId,
    Outcome, RUNTIME_BIT, Refusal, SimTime, Target, TaskKey, Which,
};
use ugas_doc::Doc;

/// Read access for network sessions; see [`Sim::remote`].
#[derive(Clone, Copy, Debug)]
pub struct Remote<'a> {
    sim: &'a Sim,
}

/// Write access for network sessions; see [`Sim::remote_mut`].
#[derive(Debug)]
pub struct RemoteMut<'a> {
    sim: &'a mut Sim,
}

/// A target that a predicted activation chose, which the client sends to the server.
///
/// ```
/// use ugas_core::{ActivationKey, ControllerId, PredictedAim, Target};
/// let activation = ActivationKey { origin_id: 1, who: ControllerId(3), ordinal: 0 };
/// let aim = PredictedAim { activation, tick: Some(2), target: Target::None };
/// assert_eq!(aim.tick, Some(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedAim {
    /// The activation.
    pub activation: ActivationKey,
    /// The number of the tick of its cast, if the server waits for the target of each tick (`TickData: Required`).
    pub tick: Option<u32>,
    /// The target.
    pub target: Target,
}

/// What a trigger does to its ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerAction {
    /// The trigger fires and activates the ability.
    Activate,
    /// The tag that keeps the ability active was removed, which cancels the ability.
    Cancel,
}

impl Sim {
    /// Returns read access for network sessions. A single-player game does not need this function.
    ///
    /// ```
    /// use ugas_core::{JournalPosition, ResimulationStop, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec};
    /// use ugas_doc::{Attribute, AttributeSet, Effect};
    /// let rules = Rules::builder()
    ///     .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
    ///     .add(Effect::instant("GE_Hit").add("Health", -10.0))
    ///     .build()?;
    /// let mut server = Sim::new(rules.clone(), SimConfig::default());
    /// let hero = server.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
    /// server.apply(&Spec::new(rules.effect("GE_Hit").unwrap(), hero))?;
    ///
    /// // A client takes over the server's state of the controller and resimulates it up to its own time.
    /// let mut client = Sim::new(rules.clone(), SimConfig::default());
    /// client.advance_to(SimTime::seconds(1.0));
    /// let snapshot = server.remote().snapshot(hero)?;
    /// let image = client.remote_mut().import(&snapshot, JournalPosition::default())?;
    /// client.resimulate(&image, None, &mut [ResimulationStop::at(client.now())])?;
    /// assert_eq!(client.get(hero, rules.attribute("Health").unwrap())?, 90.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remote(&self) -> Remote<'_> {
        Remote { sim: self }
    }

    /// Returns write access for network sessions. A single-player game does not need this function.
    pub fn remote_mut(&mut self) -> RemoteMut<'_> {
        RemoteMut { sim: self }
    }
}

impl Remote<'_> {
    /// Returns the seed from which an ability draws its random numbers for a client's op; `None` if the sim does not
    /// have this seed.
    pub fn use_seed(&self, op: OpId, used: UsedAbility) -> Option<u64> {
        self.sim.state.streams.uses.seed_of(op, used)
    }

    /// Returns the number that the next use of an ability gets; `None` if no seeds were added for the ability.
    pub fn next_use(&self, used: UsedAbility) -> Option<u32> {
        self.sim.state.streams.uses.next(used)
    }

    /// Returns a copy of a controller with its active effects, activations and timers. Unlike [`Sim::extract`], this
    /// function leaves the controller in the sim.
    pub fn snapshot(&self, who: ControllerId) -> Result<Portable, Refusal> {
        self.sim.pack(self.sim.row(who)?.clone())
    }

    /// Returns the activations in a state of the server that wait for their validation although the client has
    /// predicted them (`Validation.Predicted`): the op that caused each, and its key. The client runs
    /// [`Op::Validate`] for each of them on top of the state, so that its prediction continues until the host of the
    /// server answers.
    pub fn pending_validations(&self, image: &RowImage) -> Vec<(OpId, ActivationKey)> {
        let Some(captured) = &image.inner else { return Vec::new() };
        let is_predicted = |ability| {
            let def = self.sim.state.definitions.ability(&self.sim.rules, ability);
            def.is_some_and(|d| d.validation.as_ref().is_some_and(|v| v.predicted))
        };
        let activations = captured.row.play().activations.iter();
        let waiting = activations.filter(|a| a.state == AbilityState::PendingConfirmation && is_predicted(a.ability));
        waiting.map(|a| (a.root, a.key(captured.row.id))).collect()
    }

    /// Returns what the triggers of an ability do in response to a fact, for abilities that run in another sim, such as
    /// the `LocalOnly` abilities of a client. The sim matches the triggers of its own abilities with the same function.
    pub fn triggered_by(&self, ability: AbilityId, fact: &Fact) -> Option<TriggerAction> {
        let def = self.sim.state.definitions.ability(&self.sim.rules, ability)?;
        let cause = TriggerCause::of_fact(fact)?;
        def.triggers.iter().find_map(|trigger| match cause {
            _ if cause.fires(trigger, &self.sim.rules.tags) => Some(TriggerAction::Activate),
            TriggerCause::Tag { tag, added: false } if *trigger == TriggerDef::TagPresent(tag) => {
                Some(TriggerAction::Cancel)
            }
            TriggerCause::Event(_)
            | TriggerCause::Tag { .. }
            | TriggerCause::Attribute { .. }
            | TriggerCause::EffectApplied(_)
            | TriggerCause::Died => None,
        })
    }

    /// Checks whether an active ability may use a target that a predicting client chose. The ability must be
    /// `LocalPredicted` and have an `OnPredictedTick` list that chooses targets. Otherwise, the target is refused with
    /// [`Refusal::Authority`]. The target must also pass the target checks of an activation.
    pub fn check_aim(&self, key: ActivationKey, target: Target) -> Result<(), Refusal> {
        let (view, slot) = (self.sim.view(), self.sim.slot(key.who)?);
        let running = view.row(slot).play().activations.iter().find(|a| a.key(key.who) == key);
        view.may_aim(slot, running.ok_or(Refusal::StaleHandle)?, target)
    }

    /// Returns the time at which an activation can succeed that is refused now only because of cooldowns: the end of the
    /// last of its global cooldown, its cooldown and its recharge. Returns `None` if the activation would succeed now,
    /// if something else refuses it, or if a cooldown did not begin with a use of an ability, such as a recharge that
    /// followed another one. If `which` selects several grants, returns the earliest time.
    pub fn cooldowns_end(&self, who: ControllerId, which: Which, target: Target) -> Option<SimTime> {
        self.sim.view().cooldowns_end(who, which, target)
    }

    /// Returns whether an effect on a controller is the cooldown of one of its abilities, and `source`, which applied
    /// the effect, is the controller itself.
    pub fn is_own_cooldown(&self, who: ControllerId, effect: EffectId, source: ControllerId) -> bool {
        self.sim.view().is_own_cooldown(who, effect, source)
    }

    /// Checks whether the owning client may apply an effect of an active ability now: a waiting task of a committed
    /// activation names the effect in `ClientEffects`, and its budget is not used up. [`Op::ApplyFromAbility`] runs the
    /// same check. Returns [`Refusal::StaleHandle`] if the ability is not active and committed, [`Refusal::Authority`]
    /// if no waiting task names the effect, and [`Refusal::EffectBudget`] if the budget is used up.
    pub fn check_client_effect(
        &self,
        who: ControllerId,
        ability: AbilityId,
        effect: EffectId,
        target: ControllerId,
    ) -> Result<(), Refusal> {
        let (view, slot) = (self.sim.view(), self.sim.slot(who)?);
        view.may_client_apply(slot, ability, effect, target).map(|_| ())
    }

    /// Returns whether a task of an ability names an effect in `ClientEffects`.
    pub fn names_client_effect(&self, ability: AbilityId, effect: EffectId) -> bool {
        let def = self.sim.state.definitions.ability(&self.sim.rules, ability);
        def.is_some_and(|def| def.program.tasks().any(|task| task.client.effect(effect).is_some()))
    }

    /// Checks whether the owning client may answer a waiting task with a number of targets, in a request that it sent
    /// at the time `at`. Only tasks whose data allow it (`ClientAnswers`; `WaitTargetData` by default) may be answered.
    /// Returns [`Refusal::Authority`] for other tasks and for tasks that a timeline of this sim answers,
    /// [`Refusal::TooEarly`] before the earliest time that the data allow, and [`Refusal::BadValue`] for more targets
    /// than the data allow.
    pub fn check_client_answer(&self, key: TaskKey, targets: usize, at: SimTime) -> Result<(), Refusal> {
        let (view, slot) = (self.sim.view(), self.sim.slot(key.who)?);
        let SimConfig { frame, timelines, .. } = self.sim.config;
        view.may_client_answer(slot, key, targets, ClientClock { at, frame, timelines })
    }

    /// Returns how many controllers have been removed from the sim, for any reason. Compare two results to find out
    /// whether a controller was removed in between.
    pub fn removed_count(&self) -> u64 {
        self.sim.state.controllers.departed()
    }

    /// Returns the run-time definitions in order of id.
    pub fn definitions(&self) -> impl Iterator<Item = (DefId, &Doc)> {
        self.sim.state.definitions.list.iter().enumerate().filter_map(|(number, d)| {
            let (number, d) = (RUNTIME_BIT | number as u32, d.as_ref()?);
            let ability = d.ability.is_some();
            let id = if ability { DefId::Ability(AbilityId(number)) } else { DefId::Effect(EffectId(number)) };
            Some((id, &d.doc))
        })
    }

    /// Returns how many ids of run-time definitions were assigned, including the ids of removed definitions.
    pub fn definition_count(&self) -> u32 {
        self.sim.state.definitions.list.len() as u32
    }

    /// Returns how many run-time definitions another sim must have to read a snapshot of a controller. The number is
    /// one more than the highest index of a run-time definition that the controller uses, or 0 if the controller uses
    /// none.
    pub fn required_definitions(&self, who: ControllerId) -> u32 {
        let used = |row| self.sim.state.definitions.used_by(row).map(|(id, _)| (id & !RUNTIME_BIT) + 1).max();
        self.sim.row(who).ok().and_then(used).unwrap_or(0)
    }
}

impl RemoteMut<'_> {
    /// Sets the network role. If the role changes, the sides of all capabilities are evaluated again: a capability that
    /// now runs in the row is set up and checked for the first time, and a capability that no longer runs in the row is
    /// deactivated and ends. Sets stay granted, also those that a standalone sim granted because of `Mode: Local`.
    /// Journals are cleared, and images that were captured before are not resimulated any more.
    pub fn set_role(&mut self, role: Role) {
        if std::mem::replace(&mut self.sim.config.role, role) == role {
            return;
        }
        self.sim.journals.values_mut().for_each(crate::flow::Journal::forget);
        self.sim.flow().role_changed();
    }

    /// Replaces the content of `into` with the targets that predicted activations chose since the last call. The client
    /// must send these targets to the server.
    pub fn take_aims(&mut self, into: &mut Vec<PredictedAim>) {
        into.clear();
        std::mem::swap(&mut self.sim.log.aims, into);
    }

    /// Replaces the content of `into` with the controllers that changed or were created since the last call, in order
    /// of id. The first call returns all controllers. A change that was reverted between two calls is not reported.
    pub fn take_changed(&mut self, into: &mut Vec<ControllerId>) {
        into.clear();
        let first = self.sim.state.changed.is_none();
        self.sim.state.changed.get_or_insert_default();
        self.sim.hash();
        if let Some(changed) = &mut self.sim.state.changed {
            std::mem::swap(changed, into);
        }
        if first {
            into.clear();
            into.extend(self.sim.state.controllers.iter().map(|r| r.id));
        }
        into.sort_unstable();
        into.dedup();
    }

    /// Removes the uses of an op that did not happen, for example because it was refused. If a removed use had the last
    /// assigned number of its ability, the next use gets this number.
    pub fn discard_uses(&mut self, op: OpId) {
        self.sim.state.streams.uses.discard(op);
    }

    /// Adds seeds for the uses of an ability. `first` is the number of the use that the first seed is for. A use is an
    /// op of a client for which an ability of a controller of that client ([`RemoteMut::set_roll_owner`]) draws random
    /// numbers. With its first draw the use gets the next number of the ability, and all draws of the ability for that
    /// op use the seed of this number. Sims with the same seeds draw the same numbers. Seeds that do not directly
    /// follow the known ones replace them. Without a seed, the ability draws from the seed of the sim; a predicting
    /// client does not know that seed.
    ///
    /// ```
    /// use ugas_core::{AbilityId, Op, OpId, Rules, Sim, SimConfig, SpawnSpec, Spec, UsedAbility};
    /// use ugas_doc::{Attribute, AttributeSet, Effect};
    /// let mut hit = Effect::instant("GE_Hit").add("Health", -10.0);
    /// hit.application_chance = Some(0.5.into());
    /// let vitals = AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0));
    /// let rules = Rules::builder().add(vitals).add(hit).build()?;
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
    /// let used = UsedAbility { who, ability: AbilityId(0) };
    /// sim.remote_mut().set_roll_owner(who, 3);
    /// sim.remote_mut().add_use_seeds(used, 0, [71, 72]);
    /// let spec = Spec::new(rules.effect("GE_Hit").unwrap(), who).from(who).ability(used.ability);
    /// let _ = sim.run_as(OpId::new(3, 1, 0), &Op::Apply(spec));
    /// assert_eq!(sim.remote().next_use(used), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_use_seeds(&mut self, used: UsedAbility, first: u32, seeds: impl IntoIterator<Item = u32>) {
        self.sim.state.streams.uses.add_seeds(used, first, seeds);
    }

    /// Corrects the numbers of an ability's uses on a client after the server reported the number of its next use.
    /// `is_open` selects the uses that the server has not run yet, by their op and the time of their first draw. `next`
    /// gets the number of the first selected use, or the number of the next use if none is selected, and returns the
    /// server's number for it. The selected uses are renumbered from there on. Returns whether a number changed.
    pub fn renumber_uses(
        &mut self,
        used: UsedAbility,
        is_open: impl Fn(OpId, SimTime) -> bool,
        next: impl FnOnce(u32) -> u32,
    ) -> bool {
        self.sim.state.streams.uses.renumber(used, is_open, next)
    }

    /// Appends to `into` the abilities that drew random numbers for a use since the last call. The host then adds seeds
    /// for their next uses ([`add_use_seeds`](Self::add_use_seeds)).
    pub fn take_used(&mut self, into: &mut Vec<UsedAbility>) {
        self.sim.state.streams.uses.take_recent(into);
    }

    /// Removes the next use numbers and the seeds of a controller's abilities.
    pub fn remove_uses(&mut self, who: ControllerId) {
        self.sim.state.streams.uses.remove_controller(who);
    }

    /// Adds the seed of a client's random stream for a block of time. Due work of the client's controllers
    /// ([`RemoteMut::set_roll_owner`]) that no op of the client caused draws from the block that contains the time at
    /// which it is due. Sims with the same blocks draw the same numbers. A block that starts no later than the client's
    /// last block changes nothing, and neither does a call for client 0, which is the sim itself.
    pub fn add_seed_block(&mut self, client: u16, block: SeedBlock) {
        if client != 0 {
            self.sim.state.streams.push(client, block);
        }
    }

    /// Removes the client's seed blocks that end before the time `before`. Nothing can draw from them any more.
    pub fn drop_seed_blocks(&mut self, client: u16, before: SimTime) {
        self.sim.state.streams.drop_before(client, before);
    }

    /// Sets the client that owns a controller. Due work of the controller draws from this client's seed blocks, and ops
    /// of this client draw from the use seeds of the controller's abilities ([`RemoteMut::add_use_seeds`]).
    pub fn set_roll_owner(&mut self, who: ControllerId, client: u16) {
        self.sim.state.streams.set_owner(who, client);
    }

    /// Removes the random streams of a client. Its controllers draw from the sim's seed again. The use numbers of their
    /// abilities stay, so that a player cannot restart them with a new connection.
    pub fn remove_stream(&mut self, client: u16) {
        self.sim.state.streams.remove(client);
    }

    /// Runs an op that a client requested `ago` before now. Cooldowns, recharges and global cooldowns that the op
    /// starts count from the time of the request.
    pub fn run_late(&mut self, id: OpId, op: &Op, ago: SimTime) -> Result<Outcome, Refusal> {
        if id.client() == 0 {
            return Err(Refusal::Authority);
        }
        let ago = ago.clamp(SimTime::ZERO, self.sim.state.now);
        let mut flow = self.sim.flow();
        flow.back_dated_by = ago;
        flow.run(id, op)
    }

    /// Runs an op like [`RemoteMut::run_late`]. The checks of the activation use the target of the op. The first tick
    /// of the activated ability uses `aim`, the target that the client's predicted tick chose. If that target is
    /// rejected, the second returned value is the refusal of [`Remote::check_aim`], and the ability keeps the target of
    /// the op.
    pub fn run_aimed(
        &mut self,
        id: OpId,
        op: &Op,
        ago: SimTime,
        aim: Target,
    ) -> (Result<Outcome, Refusal>, Result<(), Refusal>) {
        self.sim.scratch.predicted_targets = PredictedTargets { first: Some(aim), ..PredictedTargets::default() };
        let done = self.run_late(id, op, ago);
        let refused = std::mem::take(&mut self.sim.scratch.predicted_targets).refused;
        (done, refused.map_or(Ok(()), Err))
    }

    /// Adds a run-time definition of another sim under the same id. Lower ids that this sim does not have yet stay
    /// unused.
    pub fn adopt_definition(&mut self, id: DefId, doc: &Doc) -> Result<(), InsertError> {
        let number = match id {
            DefId::Effect(e) => e.0,
            DefId::Ability(a) => a.0,
        };
        let at = (number & !RUNTIME_BIT) as usize;
        let max = self.sim.config.limits.definitions;
        if number & RUNTIME_BIT == 0 {
            return Err(InsertError::Damaged("the id of a run-time definition is invalid"));
        }
        if at >= max as usize {
            let what = LimitKind::Definitions;
            return Err(InsertError::Limit(Refusal::Limit { what, max, link: 0 }));
        }
        if self.sim.state.definitions.get(number).is_some_and(|d| d.doc == *doc) {
            return Ok(());
        }
        let made = crate::flow::compile(&self.sim.rules, doc, number).map_err(|e| {
            InsertError::Definition(e.map_or("its kind cannot be defined at run time".into(), |e| e.to_string()))
        })?;
        let list = &mut self.sim.state.definitions.list;
        if at < list.len() && list[at].is_some() {
            return Err(InsertError::Damaged("the id of a run-time definition is invalid"));
        }
        if at >= list.len() {
            list.resize_with(at + 1, || None);
        }
        list[at] = Some(made);
        Ok(())
    }
}
