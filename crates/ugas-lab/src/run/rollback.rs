//! The rollback test of a scenario. The test interrupts a run after every verb, at the time of every fact and timeline
//! entry, and halfway between two such times; in a longer form also at every frame. At each interruption the sim is saved, advanced and rolled back. In
//! addition, each controller is captured, changed and restored, and is serialized, removed and inserted again. After
//! each of these operations the next verbs and times must give the same facts and hashes as without the operation.

use super::{RunOptions, Runner};
use crate::scenario::Scenario;
use std::collections::BTreeSet;
use ugas_core::{
    AbilitySetId, BlockSource, ControllerId, Fact, FactKind, Facts, InputId, Op, OpId, Portable, RowImage, SetId, Sim,
    SimConfig, SimTime, Spec, TagId, Which,
};
use ugas_data::ReadError;

/// The number of segments that are run after an interruption.
const HORIZON: usize = 16;
/// The same if the run is interrupted at every frame.
const FRAME_HORIZON: usize = 4;
/// The limit of listed differences.
const MOST_LISTED: usize = 20;

/// The result of a rollback test.
///
/// ```
/// let text = "Scenario: Idle\nTimeline: [{At: 1}, {At: 2}]";
/// let tree = &ugas_data::read_trees("idle.yaml", text).unwrap()[0];
/// let report = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap().test_rollback().unwrap();
/// assert!(report.differences.is_empty() && report.rollbacks > 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RollbackReport {
    /// The number of points at which the run was interrupted.
    pub interruptions: usize,
    /// The number of rollbacks. Each rollback resimulates one to sixteen segments.
    pub rollbacks: usize,
    /// The number of controllers that were captured, changed and restored.
    pub restores: usize,
    /// The number of further controllers that were restored because the change of a captured controller affected them.
    pub others: usize,
    /// The number of controllers that were serialized, removed and inserted again.
    pub moves: usize,
    /// The ability and task type of every task that was waiting at an interruption.
    pub waiting_tasks: BTreeSet<(String, String)>,
    /// The differences between the run with rollbacks and the run without; empty if the test passed.
    pub differences: Vec<String>,
}

/// A part of a run between two interruptions.
#[derive(Clone, Copy, Debug)]
enum RunSegment {
    To(SimTime),
    Do {
        entry: usize,
        step: usize,
    },
    /// The end of a `Do` list, where the facts that its expectations checked are discarded.
    Close(usize),
}

/// The facts of one segment and the state after it.
#[derive(PartialEq)]
struct SegmentOutcome {
    facts: Vec<Fact>,
    hash: u64,
    failures: usize,
}

impl Scenario {
    /// Interrupts the run of the scenario at many points, rolls back and resimulates, and compares the results with an
    /// uninterrupted run.
    pub fn test_rollback(&self) -> Result<RollbackReport, Vec<ReadError>> {
        self.test_rollback_at(false, HORIZON)
    }

    /// The same as [`Scenario::test_rollback`] with an interruption at every frame too.
    ///
    /// ```
    /// let text = "Scenario: Idle\nTimeline: [{At: 1}, {At: 2}]";
    /// let tree = &ugas_data::read_trees("idle.yaml", text).unwrap()[0];
    /// let report = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap().test_rollback_at_every_frame().unwrap();
    /// assert!(report.differences.is_empty() && report.interruptions > 120);
    /// ```
    pub fn test_rollback_at_every_frame(&self) -> Result<RollbackReport, Vec<ReadError>> {
        self.test_rollback_at(true, FRAME_HORIZON)
    }

    fn test_rollback_at(&self, every_frame: bool, horizon: usize) -> Result<RollbackReport, Vec<ReadError>> {
        let options = RunOptions { keep_facts: true, ..RunOptions::default() };
        let first = Runner::new(self, options)?;
        let segments = segments_of(self, first.clone(), every_frame);
        let mut test = RollbackTest { segments, horizon, expected: Vec::new(), report: RollbackReport::default() };
        let mut runner = first.clone();
        runner.all_facts.clear();
        for segment in 0..test.segments.len() {
            let outcome = test.run(&mut runner, segment);
            test.expected.push(outcome);
        }
        let mut runner = first;
        runner.all_facts.clear();
        for at in 0..test.segments.len() {
            test.interrupt(&runner, at);
            test.run(&mut runner, at);
        }
        Ok(test.report)
    }
}

/// Returns the segments of a run: every verb, and time up to every fact, every timeline entry and halfway between. With
/// `every_frame`, also time up to every frame.
fn segments_of(scenario: &Scenario, mut runner: Runner<'_>, every_frame: bool) -> Vec<RunSegment> {
    runner.play(RunOptions::default(), &mut |_| {});
    let mut times: Vec<SimTime> = runner.all_facts.iter().map(|f| f.at).collect();
    times.extend(scenario.timeline.iter().map(|m| m.at));
    times.sort();
    times.dedup();
    let halves: Vec<SimTime> = times.windows(2).map(|w| SimTime((w[0].0 + w[1].0) / 2)).collect();
    times.extend(halves);
    if every_frame {
        let (frame, end) = (SimConfig::default().frame, scenario.timeline.last().map_or(SimTime::ZERO, |m| m.at));
        times.extend((0..=end.0 / frame.0).map(|n| SimTime(n * frame.0)));
    }
    times.sort();
    times.dedup();
    let mut segments = Vec::new();
    let mut times = times.into_iter().peekable();
    for (entry, m) in scenario.timeline.iter().enumerate() {
        while let Some(at) = times.next_if(|t| *t <= m.at) {
            segments.push(RunSegment::To(at));
        }
        segments.extend((0..m.steps.len()).map(|step| RunSegment::Do { entry, step }));
        segments.push(RunSegment::Close(entry));
    }
    segments
}

struct RollbackTest {
    segments: Vec<RunSegment>,
    /// The number of segments that are run after an interruption.
    horizon: usize,
    expected: Vec<SegmentOutcome>,
    report: RollbackReport,
}

impl RollbackTest {
    fn run(&self, runner: &mut Runner<'_>, segment: usize) -> SegmentOutcome {
        let timeline = &runner.scenario.timeline;
        match self.segments[segment] {
            RunSegment::To(at) => {
                let step = SimTime(at.0.max(1));
                runner.advance(at, step, runner.scenario.place, &mut |_| {});
            }
            RunSegment::Do { entry, step } => runner.run_steps(std::slice::from_ref(&timeline[entry].steps[step])),
            RunSegment::Close(entry) => runner.close_windows(&timeline[entry].steps),
        }
        let facts = without_details(&std::mem::take(&mut runner.all_facts));
        SegmentOutcome { facts, hash: runner.sim.hash(), failures: runner.failures.len() }
    }

    fn differs(&mut self, runner: &Runner<'_>, at: usize, later: usize, what: &str) {
        if self.report.differences.len() < MOST_LISTED {
            let time = runner.sim.now();
            let message =
                format!("{what} at step {at} ({:?}): differs {later} steps later, at {time}", self.segments[at]);
            self.report.differences.push(message);
        }
    }

    /// Runs all tests at one interruption.
    fn interrupt(&mut self, runner: &Runner<'_>, at: usize) {
        self.report.interruptions += 1;
        let who: Vec<ControllerId> = runner.ids.values().copied().collect();
        let rules = &runner.world.rules;
        for &who in &who {
            for task in runner.sim.tasks(who).unwrap_or_default() {
                let names = (rules.ability_name(task.ability), rules.task_kind_name(task.kind));
                if let (Some(ability), Some(kind)) = names {
                    self.report.waiting_tasks.insert((ability.to_owned(), kind.to_owned()));
                }
            }
        }
        for k in 1..=self.horizon.min(self.segments.len() - at) {
            self.roll_back(runner, at, k);
        }
        for &who in &who {
            self.restore(runner, at, who);
            self.reinsert(runner, at, who);
        }
    }

    /// Saves, advances, rolls back and resimulates.
    fn roll_back(&mut self, saved: &Runner<'_>, at: usize, k: usize) {
        self.report.rollbacks += 1;
        let mut runner = saved.clone();
        for segment in at..at + k {
            if self.run(&mut runner, segment) != self.expected[segment] {
                return self.differs(&runner, at, segment - at, "a copy");
            }
        }
        let mut sim = runner.sim;
        sim.clone_from(&saved.sim);
        let mut runner = Runner { sim, ..saved.clone() };
        for segment in at..at + k {
            if self.run(&mut runner, segment) != self.expected[segment] {
                return self.differs(&runner, at, segment - at, &format!("rolled back by {k} steps"));
            }
        }
    }

    /// Captures one controller, changes it and restores it.
    fn restore(&mut self, runner: &Runner<'_>, at: usize, who: ControllerId) {
        let mut image = RowImage::default();
        let (one, mut other) = (runner.clone(), runner.clone());
        if other.sim.capture(who, &mut image).is_err() {
            return;
        }
        let mut facts = Facts::default();
        other.sim.take_facts(&mut facts);
        change_controller(&mut other.sim, who);
        other.sim.take_facts(&mut facts);
        if other.sim.restore(who, &image).is_err() {
            return self.differs(&other, at, 0, "restoring a controller is refused");
        }
        // The change can act on other controllers: it may end casts that target the controller, for example by its
        // death, and the abilities that it cancels may apply effects. Such changes belong to the state of the other
        // controllers, which are restored from images of their own. State that is only derived from the controller must
        // be as before without such a restore.
        let acts = |f: &&Fact| matches!(f.kind, FactKind::EffectApplied { .. } | FactKind::AbilityEnded { .. });
        // Its blocks on other controllers end with their source, without a fact.
        let changed = facts.list.iter().filter(acts).map(|f| f.who).chain(blocked_by(&one.sim, who));
        let others: BTreeSet<ControllerId> = changed.filter(|&id| id != who).collect();
        for &id in &others {
            let captured = one.sim.capture(id, &mut image);
            if captured.is_err() || other.sim.restore(id, &image).is_err() {
                return self.differs(&other, at, 0, "restoring another controller is refused");
            }
        }
        self.report.restores += 1;
        self.report.others += others.len();
        self.continues_equally(at, who, one, other, 1 + others.len() as u32, "a restored controller");
    }

    /// Serializes one controller, removes it and inserts it again.
    fn reinsert(&mut self, runner: &Runner<'_>, at: usize, who: ControllerId) {
        // Blocks end with their source, so the blocked controllers differ when their source leaves and returns.
        if !blocked_by(&runner.sim, who).is_empty() {
            return;
        }
        let (one, mut other) = (runner.clone(), runner.clone());
        let Ok(portable) = other.sim.extract(who) else { return };
        let text = serde_json::to_string(&portable).unwrap_or_default();
        let read: Option<Portable> = serde_json::from_str(&text).ok();
        if read.and_then(|p| other.sim.insert(&p).ok()) != Some(who) {
            return self.differs(&other, at, 0, "inserting a moved controller is refused");
        }
        // The host sets again whether its player plays the controller: this is no state of the controller.
        let is_local = one.sim.is_local(who).unwrap_or_default();
        if other.sim.is_local(who) != Ok(is_local) {
            let _ = other.sim.set_local(who, is_local);
        }
        self.report.moves += 1;
        self.continues_equally(at, who, one, other, 2, "a moved controller");
    }

    /// Compares a controller after `ops` additional operations with the run without these operations.
    fn continues_equally(
        &mut self,
        at: usize,
        who: ControllerId,
        mut one: Runner<'_>,
        mut other: Runner<'_>,
        ops: u32,
        what: &str,
    ) {
        // Operations without effect, so that later operations have the same ids in both runs.
        for _ in 0..ops {
            let _ = one.sim.run(Op::Release { who, input: InputId(u32::MAX - 7) });
        }
        one.sim.take_facts(&mut Default::default());
        other.sim.take_facts(&mut Default::default());
        for segment in at..self.segments.len().min(at + self.horizon) {
            let (a, b) = (self.run(&mut one, segment), self.run(&mut other, segment));
            let same = about(&a.facts, who) == about(&b.facts, who);
            if !same || one.sim.row_hash(who) != other.sim.row_hash(who) || a.failures != b.failures {
                return self.differs(&other, at, segment - at, what);
            }
        }
        if one.sim.hash() != other.sim.hash() {
            self.differs(&other, at, self.horizon, what);
        }
    }
}

/// Returns the other controllers whose capabilities a controller or one of its effects blocks.
fn blocked_by(sim: &Sim, who: ControllerId) -> Vec<ControllerId> {
    let is_own = |source: BlockSource| match source {
        BlockSource::Controller(source) => source == who,
        BlockSource::Effect(key) => key.target == who,
        BlockSource::Host(_) | BlockSource::Capability { .. } => false,
    };
    let is_blocked = |id: &ControllerId| sim.blocks(*id).unwrap_or_default().into_iter().any(|(_, s)| is_own(s));
    sim.controllers().filter(|&id| id != who).filter(is_blocked).collect()
}

/// Changes one controller: applies every effect of the rules, ends all its abilities, and changes its capabilities,
/// resources and sets. The operations have ids of a client, so the sim's own count does not change.
fn change_controller(sim: &mut Sim, who: ControllerId) {
    let rules = sim.rules().clone();
    for (n, (effect, _)) in rules.effect_list().enumerate() {
        // A refused operation changes nothing.
        let _ = sim.run_as(OpId::new(8, 1, n as u16), &Op::Apply(Spec::new(effect, who)));
    }
    for (n, (ability, _)) in rules.ability_list().enumerate() {
        let which = Which::Ability(ability);
        let op = if n % 2 == 0 { Op::Cancel { who, which } } else { Op::Revoke { who, which } };
        let _ = sim.run_as(OpId::new(9, 1, n as u16), &op);
    }
    for (n, op) in capability_ops(sim, who).into_iter().enumerate() {
        let _ = sim.run_as(OpId::new(10, 1, n as u16), &op);
    }
}

/// Returns operations that block, switch and slow every capability of a controller, change its resources, revoke its
/// sets and add all sets.
fn capability_ops(sim: &Sim, who: ControllerId) -> Vec<Op> {
    let rules = sim.rules();
    let mut ops = Vec::new();
    let source = BlockSource::host("Rollback");
    let tags = (0..).map(TagId).take_while(|&tag| rules.tag_name(tag).is_some());
    ops.extend(tags.map(|tag| Op::Block { who, tag, source }));
    for (n, view) in sim.capabilities(who).unwrap_or_default().into_iter().enumerate() {
        let (capability, interval) = (view.class, Some(SimTime::millis(70)));
        ops.push(Op::SetTick { who, capability, ticks: Some(!view.ticks), interval });
        ops.extend((n % 2 == 0).then_some(Op::Enable { who, capability, on: !view.enabled }));
    }
    for attribute in sim.resources(who).unwrap_or_default() {
        ops.push(Op::ModifyResource { who, attribute, by: -3.0, source: None, tags: Vec::new(), plain: true });
        ops.push(Op::ModifyResource { who, attribute, by: 1.0, source: Some(who), tags: Vec::new(), plain: false });
    }
    ops.extend(sim.ability_sets(who).unwrap_or_default().into_iter().map(|(_, handle)| Op::RevokeSet { who, handle }));
    ops.extend(sim.sets(who).unwrap_or_default().into_iter().map(|set| Op::RemoveSet { who, set, force: true }));
    let sets = (0..).map(SetId).take_while(|&set| rules.set_name(set).is_some());
    ops.extend(sets.map(|set| Op::AddSet { who, set }));
    let ability_sets = (0..).map(AbilitySetId).take_while(|&set| rules.ability_set_name(set).is_some());
    ops.extend(ability_sets.map(|set| Op::GrantSet { who, set }));
    ops
}

/// Returns facts without the positions of their details, which depend on when facts are taken.
fn without_details(list: &[Fact]) -> Vec<Fact> {
    list.iter().map(|f| Fact { kind: f.kind.without_detail(), ..*f }).collect()
}

/// Returns the facts about one controller without the ids of their causes, which a sim counts for all controllers.
fn about(list: &[Fact], who: ControllerId) -> Vec<Fact> {
    list.iter().filter(|f| f.who == who).map(|f| Fact { link: 0, ..*f }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
Scenario: A slow drain
Entities:
  - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Mana, DefaultBaseValue: 50}]}
  - Kind: gameplay_effect
    Name: GE_Drain
    DurationPolicy: Instant
    Modifiers: [{Attribute: Mana, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -1}}]
  - Kind: gameplay_ability
    Name: GA_Drain
    Tasks:
      - {Type: WaitDelay, Params: {Duration: 1}}
      - {Type: ApplyEffectToOwner, Params: {EffectClass: GE_Drain}}
      - {Type: WaitDelay, Params: {Duration: 1}}
Actors:
  Hero: {AttributeSets: [Vitals], Abilities: [{Ability: GA_Drain, InputID: Drain}]}
Timeline:
  - At: 0
    Do: [{Press: {Actor: Hero, InputID: Drain}}]
  - At: 3
    Do: [{Expect: {Hero.Mana: 49, Hero.Abilities.GA_Drain: Granted}}]
"#;

    fn scenario() -> Scenario {
        let tree = &ugas_data::read_trees("drain.yaml", TEXT).unwrap()[0];
        Scenario::from_node("drain.yaml", tree).unwrap()
    }

    #[test]
    fn the_rollback_test_interrupts_at_the_start_middle_and_end_of_a_task() {
        let report = scenario().test_rollback().unwrap();
        assert_eq!(report.differences, Vec::<String>::new());
        assert!(report.waiting_tasks.contains(&("GA_Drain".to_owned(), "WaitDelay".to_owned())));
        // Time 0, the press, the end of its list, 0.5, 1, 1.5, 2, 2.5, 3, the look, the end of its list.
        assert_eq!((report.interruptions, report.restores, report.moves), (11, 11, 11));
    }

    // The test must be able to fail.
    #[test]
    fn the_rollback_test_detects_a_changed_controller() {
        let scenario = scenario();
        let options = RunOptions { keep_facts: true, ..RunOptions::default() };
        let mut runner = Runner::new(&scenario, options).unwrap();
        let segments = segments_of(&scenario, runner.clone(), false);
        let (horizon, report) = (HORIZON, RollbackReport::default());
        let mut test = RollbackTest { segments, horizon, expected: Vec::new(), report };
        runner.all_facts.clear();
        for segment in 0..4 {
            test.run(&mut runner, segment);
        }
        let who = runner.ids["Hero"];
        let mut other = runner.clone();
        change_controller(&mut other.sim, who);
        test.continues_equally(4, who, runner, other, 0, "a changed controller");
        assert_eq!(test.report.differences.len(), 1, "{:?}", test.report.differences);
    }
}
