//! A sim: one running world with rules, state, a clock and a log. All gameplay changes are ops. Functions such as
//! [`Sim::apply`] are shorthands for ops.

mod config;
mod figures;
mod host;
mod local;
mod locality;
mod portable;
mod preview;
mod reads;
mod reload;
mod remote;

pub use config::{Role, SimConfig};
pub use figures::{CapabilityFigures, TaskFigures, TaskRecord};
pub use host::{Host, NoHost, SpaceQuery};
pub use local::{FactPlace, LocalFact, LocalRequest, LocalRunner, insert_local_facts};
pub use preview::{AttributePreview, Preview, RowPreview};
pub use remote::{
    Holding, JournalPosition, PredictedAim, ProxyRow, Remote, RemoteMut, ResimulationStop, RowResimulation, Simulated,
    SimulatedStep, TriggerAction,
};

use crate::flow::{
    Captured, CapturedAt, Drawn, FastApplication, FastCommit, Flow, FrameConfig, HiddenRead, Locality, Log,
    NonFiniteConditions, Replay, RollSource, Scratch, State, Streams, TargetRow, View, server_op,
};
use crate::image::{RowImage, RowJournal};
use crate::rules::{Layout, LoadError, Rules};
use crate::state::{CauseLink, CauseWhat, Causes, Controllers, Definitions, Index, Row};
use crate::{
    Cause, ControllerId, DefId, EffectKey, Op, OpId, Outcome, ReadError, Refusal, SimTime, SpawnSpec, Spec, TemplateId,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_doc::Doc;

/// The progress of one [`Sim::advance_to`] call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The time that the sim reached. It is earlier than the requested time if the limit
    /// [`due_per_advance`](crate::Limits) was reached.
    pub reached: SimTime,
    /// The number of due entries that were processed, such as periodic executions and expiries.
    pub due: u64,
    /// The number of capabilities that the frames of this call evaluated. Capabilities that sleep, do not tick or are
    /// disabled are not among them.
    pub capabilities: u64,
    /// Whether the requested time was reached.
    pub finished: bool,
}

/// One running world. A clone is a fork of the world: it behaves like the original under the same ops.
///
/// ```
/// use ugas_core::{NoHost, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec};
/// use ugas_doc::{Attribute, AttributeSet, Effect};
///
/// let rules = Rules::builder()
///     .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0).min(0.0)))
///     .add(Effect::lasting("GE_Poison", 10.0).every(1.0).add("Health", -5.0))
///     .build()?;
/// let health = rules.attribute("Health").unwrap();
/// let poison = rules.effect("GE_Poison").unwrap();
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
/// sim.apply(&Spec::new(poison, hero))?;
/// sim.advance_to(SimTime::seconds(10.0));
/// assert_eq!(sim.get(hero, health)?, 50.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sim {
    rules: Arc<Rules>,
    config: SimConfig,
    state: State,
    index: Index,
    log: Log,
    scratch: Scratch,
    causes: Causes,
    journals: BTreeMap<ControllerId, crate::flow::Journal>,
}

impl Sim {
    /// Creates an empty world.
    pub fn new(rules: Arc<Rules>, mut config: SimConfig) -> Sim {
        // A row counts some of its effects in 16 bits.
        config.limits.effects_per_controller = config.limits.effects_per_controller.min(u16::MAX as u32);
        let state = State {
            now: SimTime::ZERO,
            seed: config.seed,
            next_id: 0,
            next_op: 1,
            controllers: Controllers::default(),
            definitions: Definitions::default(),
            streams: Streams::default(),
            locality: Locality::default(),
            hash_sum: 0,
            hash_dirty: Vec::new(),
            changed: None,
        };
        Sim {
            rules,
            state,
            index: Index::default(),
            log: Log { tracing: config.trace, ..Log::default() },
            scratch: Scratch::default(),
            causes: Causes::default(),
            journals: BTreeMap::new(),
            config,
        }
    }

    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        View {
            rules: &self.rules,
            limits: &self.config.limits,
            st: &self.state,
            ix: &self.index,
            replay: None,
            root: OpId::default(),
            roll: RollSource::default(),
            role: self.config.role,
            screen: self.config.screen,
            link: 0,
            non_finite: None,
            hidden_read: None,
            drawn: None,
            sure: false,
            fast: self.fast_paths_open(),
        }
    }

    #[inline]
    pub(crate) fn flow(&mut self) -> Flow<'_> {
        let fast = self.fast_paths_open();
        Flow {
            rules: &self.rules,
            limits: &self.config.limits,
            st: &mut self.state,
            ix: &mut self.index,
            log: &mut self.log,
            sc: &mut self.scratch,
            causes: &mut self.causes,
            journals: &mut self.journals,
            replay: None,
            cause: Cause::default(),
            roll: RollSource::default(),
            depth: 0,
            work: FrameConfig {
                frame: self.config.frame,
                budget: self.config.task_budget,
                timelines: self.config.timelines,
                role: self.config.role,
                screen: self.config.screen,
            },
            back_dated_by: SimTime::ZERO,
            fast,
            non_finite: NonFiniteConditions::default(),
            hidden_read: HiddenRead::default(),
            drawn: Drawn::default(),
            turn: Default::default(),
            host: None,
        }
    }

    /// Returns a flow that replays rows from their journals. The flow takes no fast path.
    pub(crate) fn replaying<'a>(&'a mut self, replay: Replay<'a>) -> Flow<'a> {
        Flow { replay: Some(replay), fast: false, ..self.flow() }
    }

    #[inline]
    fn next_op(&mut self) -> OpId {
        let id = server_op(self.state.next_op);
        self.state.next_op += 1;
        id
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }
    pub(crate) fn layouts(&self) -> &[Arc<Layout>] {
        &self.index.layouts
    }
    #[inline]
    pub(crate) fn slot(&self, who: ControllerId) -> Result<usize, ReadError> {
        self.state.controllers.slot(who).ok_or(ReadError::StaleHandle)
    }
    #[inline]
    pub(crate) fn row(&self, who: ControllerId) -> Result<&Row, ReadError> {
        self.state.controllers.get(who).ok_or(ReadError::StaleHandle)
    }
    #[inline]
    pub(crate) fn layout(&self, row: &Row) -> &Layout {
        &self.index.layouts[row.layout as usize]
    }

    // Changes ----------------------------------------------------------------------------------------------------

    /// Runs an op. Functions such as [`Sim::apply`] and [`Sim::spawn`] are shorthands for this function.
    pub fn run(&mut self, op: Op) -> Result<Outcome, Refusal> {
        let id = self.next_op();
        self.flow().run(id, &op)
    }

    /// Runs an op under an id that a client assigned. Client 0 is reserved for this sim's own ops: an op with an id of
    /// client 0 is refused with [`Refusal::Authority`].
    pub fn run_as(&mut self, id: OpId, op: &Op) -> Result<Outcome, Refusal> {
        if id.client() == 0 {
            return Err(Refusal::Authority);
        }
        self.flow().run(id, op)
    }

    /// Spawns a controller.
    pub fn spawn(&mut self, spec: SpawnSpec) -> Result<ControllerId, Refusal> {
        if let Outcome::Spawned(who) = self.run(Op::Spawn(Box::new(spec)))? { Ok(who) } else { Err(Refusal::Mismatch) }
    }

    /// Spawns many controllers from one template. Returns the first id; the ids are consecutive.
    pub fn spawn_many(&mut self, template: TemplateId, count: u32) -> Result<ControllerId, Refusal> {
        let id = self.next_op();
        let mut flow = self.flow();
        flow.start(id, ControllerId::NONE);
        let first = flow.spawn_many(template, count);
        flow.react();
        first
    }

    /// Destroys a controller.
    pub fn despawn(&mut self, who: ControllerId) -> Result<(), Refusal> {
        self.run(Op::Despawn { who }).map(|_| ())
    }

    /// Returns the cause of a new op: the op's id and its first link.
    #[inline]
    pub(crate) fn start_op(&mut self, who: ControllerId) -> Cause {
        let (root, at) = (self.next_op(), self.state.now);
        let step = || CauseLink { what: CauseWhat::Op, who, source: ControllerId::NONE, at, root };
        Cause { root, link: self.causes.push(self.config.limits.cause_links, 0, step) }
    }

    /// Returns whether fast paths may be taken. This is the common condition of all fast paths. Each fast path adds
    /// conditions on definitions and rows. Traces, journals and hooks need steps that fast paths skip.
    #[inline]
    pub(crate) fn fast_paths_open(&self) -> bool {
        !self.config.slow_path && !self.log.tracing && self.journals.is_empty() && !self.rules.hooks.any()
    }

    /// Applies an effect and returns the key of the application. An instant effect does not become active. Its key
    /// appears in facts, but [`Sim::remove`] and other functions that need an active effect refuse the key.
    #[inline]
    pub fn apply(&mut self, spec: &Spec) -> Result<EffectKey, Refusal> {
        let target = TargetRow::of(&self.state.controllers, spec.target);
        let cause = self.start_op(spec.target);
        let limits = &self.config.limits;
        if self.fast_paths_open()
            && let Some(target) = target
            && let Some(application) = FastApplication::new(spec, &self.rules, limits, self.state.next_id)
        {
            let (layouts, facts) = (&self.index.layouts, &mut self.log.facts.list);
            let mut commit = FastCommit { st: &mut self.state, layouts, facts, limit: limits.facts, cause };
            if let Some(key) = commit.apply(&application, target, cause.root.0) {
                return Ok(key);
            }
        }
        self.apply_slow(cause, spec)
    }

    #[inline(never)]
    fn apply_slow(&mut self, cause: Cause, spec: &Spec) -> Result<EffectKey, Refusal> {
        let mut flow = self.flow();
        flow.cause = cause;
        flow.apply_op(cause.root, spec)
    }

    /// Applies one effect to many targets under one op. Each application is accepted or refused separately: `results`
    /// gets one entry per target. Returns how many applications were accepted.
    pub fn apply_to_many(
        &mut self,
        spec: &Spec,
        targets: &[ControllerId],
        results: &mut Vec<Result<EffectKey, Refusal>>,
    ) -> u32 {
        let id = self.next_op();
        let mut flow = self.flow();
        flow.start(id, ControllerId::NONE);
        if !flow.journals.is_empty() {
            flow.journal_op(id, &Op::ApplyToMany { spec: spec.clone(), targets: targets.to_vec() });
        }
        results.clear();
        results.reserve(targets.len());
        let applied = flow.apply_to_many(spec, targets, |r| results.push(r));
        flow.react();
        applied
    }

    /// Applies many specs under one op. Each application is accepted or refused separately: `results` gets one entry
    /// per spec. Returns how many applications were accepted.
    pub fn apply_all(&mut self, specs: &[Spec], results: &mut Vec<Result<EffectKey, Refusal>>) -> u32 {
        let id = self.next_op();
        let mut flow = self.flow();
        flow.start(id, ControllerId::NONE);
        if !flow.journals.is_empty() {
            flow.journal_op(id, &Op::ApplyAll { specs: specs.to_vec() });
        }
        results.clear();
        let applied = flow.apply_all(specs, &mut |r| results.push(r));
        flow.react();
        applied
    }

    /// Removes an effect with all its stacks, or a queued application.
    #[inline]
    pub fn remove(&mut self, key: EffectKey) -> Result<(), Refusal> {
        self.remove_some(key, None)
    }

    /// Removes `stacks` stacks (at least 1) of an effect. The effect ends when no stack is left.
    #[inline]
    pub fn remove_stacks(&mut self, key: EffectKey, stacks: u32) -> Result<(), Refusal> {
        self.remove_some(key, Some(stacks))
    }

    fn remove_some(&mut self, key: EffectKey, stacks: Option<u32>) -> Result<(), Refusal> {
        let id = self.next_op();
        let mut flow = self.flow();
        flow.start(id, key.target);
        if !flow.journals.is_empty() {
            flow.journal_op(id, &Op::Remove { key, stacks });
        }
        let result = flow.remove(key, stacks);
        flow.react();
        result
    }

    /// Advances the clock to a time and runs, in order, everything that is due by that time. No host answers the
    /// spatial queries of tasks, so these queries return nothing; see [`Sim::advance_with`]. A call with a time before
    /// now or after [`SimTime::LONGEST`] changes nothing.
    pub fn advance_to(&mut self, time: SimTime) -> Progress {
        self.advance_with(time, &mut NoHost)
    }

    /// Advances the clock like [`Sim::advance_to`]. Tasks send their spatial queries to `host`.
    pub fn advance_with(&mut self, time: SimTime, host: &mut dyn Host) -> Progress {
        if time > SimTime::LONGEST || time < self.state.now {
            return Progress { reached: self.state.now, due: 0, capabilities: 0, finished: false };
        }
        // An idle step costs only this check.
        if !self.index.agenda.has_due(time) {
            self.state.now = time;
            return Progress { reached: time, due: 0, capabilities: 0, finished: true };
        }
        let mut flow = self.flow();
        flow.host = Some(host);
        let (due, finished) = flow.advance(time);
        if finished {
            self.state.now = time;
        }
        Progress { reached: self.state.now, due, capabilities: self.scratch.visited, finished }
    }

    // One controller --------------------------------------------------------------------------------------------

    /// Captures the state of a controller into an image.
    pub fn capture(&self, who: ControllerId, into: &mut RowImage) -> Result<(), Refusal> {
        let row = self.row(who)?.clone();
        let (serial, dues) = self.journals.get(&who).map_or((0, 0), |j| (j.next, j.dues));
        let taken = CapturedAt { at: self.state.now, rules: self.rules.image_print(), serial, dues, foreign: false };
        into.inner = Some(Captured::new(row, taken, &self.index, &self.state.definitions));
        Ok(())
    }

    /// Restores a controller from an image. Effects, cooldowns and tasks get the remaining times that they had at the
    /// capture. The controller's live magnitudes are recomputed from the current values of the attributes that they
    /// follow. On other controllers, only the live magnitudes that follow the restored controller's attributes change.
    pub fn restore(&mut self, who: ControllerId, from: &RowImage) -> Result<(), Refusal> {
        let image = from.inner.as_ref().ok_or(Refusal::Mismatch)?;
        let id = self.next_op();
        let mut flow = self.flow();
        flow.start(id, who);
        flow.restore(who, image)
    }

    /// Starts to record a journal of a controller. [`Sim::resimulate`] uses the journal.
    pub fn keep_journal(&mut self, who: ControllerId) -> Result<(), Refusal> {
        self.row(who)?;
        self.journals.entry(who).or_default();
        Ok(())
    }

    /// Returns a copy of a controller's recorded journal, or `None` if [`Sim::keep_journal`] was not called for the
    /// controller.
    pub fn journal(&self, who: ControllerId) -> Option<RowJournal> {
        self.journals.get(&who).map(|j| RowJournal { inner: j.clone() })
    }

    /// Compiles an effect or ability at run time. The definition becomes part of this sim's state, not of the rules.
    pub fn define(&mut self, doc: impl Into<Doc>) -> Result<DefId, LoadError> {
        let id = self.next_op();
        let mut flow = self.flow();
        flow.start(id, ControllerId::NONE);
        flow.define(&doc.into())
    }

    /// Removes an unused run-time definition.
    pub fn undefine(&mut self, id: DefId) -> Result<(), Refusal> {
        self.run(Op::Undefine(id)).map(|_| ())
    }

    /// Resets the sim to an empty world with the same rules and seed. The sim keeps its allocated memory, so a reset is
    /// cheaper than the creation of a new sim.
    pub fn reset(&mut self) {
        self.state.now = SimTime::ZERO;
        self.state.seed = self.config.seed;
        self.state.next_id = 0;
        self.state.next_op = 1;
        self.state.controllers.clear();
        self.state.definitions.list.clear();
        self.state.streams.clear();
        self.state.locality.clear();
        self.state.changed.iter_mut().for_each(Vec::clear);
        self.state.hash_sum = 0;
        self.state.hash_dirty.clear();
        self.index.clear();
        self.log.facts.list.clear();
        self.log.facts.detail.clear();
        self.log.diagnostics.clear();
        self.log.trace.clear();
        self.causes.clear();
        self.journals.clear();
    }

    /// Sets the random seed. It applies to all later draws, and [`Sim::reset`] keeps it.
    pub fn reseed(&mut self, seed: u64) {
        self.config.seed = seed;
        self.state.seed = seed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosticKind;
    use ugas_doc::{Attribute, AttributeSet, Effect};

    // covers: UGAS-7.2-06
    #[test]
    fn removing_an_absent_tag_is_reported_and_skipped() {
        let rules = Rules::builder()
            .add(AttributeSet::new("S").with(Attribute::new("A", 1.0)))
            .add(Effect::infinite("GE_Mark").grants("State.Marked"))
            .build()
            .unwrap();
        let (mark, tag) = (rules.effect("GE_Mark").unwrap(), rules.tag("State.Marked").unwrap());
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let hero = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
        let mut flips = Vec::new();
        let mut flow = sim.flow();
        let (target, def) = (flow.slot(hero).unwrap(), flow.def(mark).unwrap());
        flow.take_tags(&def, &[], target, &mut flips);
        assert!(flips.is_empty());
        assert_eq!(sim.tag_count(hero, tag), Ok(0));
        let mut diagnostics = Vec::new();
        sim.take_diagnostics(&mut diagnostics);
        let kinds: Vec<_> = diagnostics.iter().map(|d| d.kind).collect();
        assert_eq!(kinds, [DiagnosticKind::TagUnderflow { tag }]);
    }
}
