//! Tasks that tick: intervals, budget, priorities, ageing and statistics; also tasks in host code.

use crate::kit::tasks::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use ugas_core::{
    ControllerId, CustomTask, FactKind, Host, Progression, Rules, Sim, SimConfig, SimTime, SpaceQuery, TaskCategory,
    TaskCx, TaskRecord, TaskResult, WakeEvent, WakeKind, Which,
};
use ugas_doc::{Ability, AbilityTask};

/// Counts queries and answers from the n-th one on.
#[derive(Default)]
struct Engine {
    asked: u32,
    by: Vec<ControllerId>,
    answer_at: u32,
    answer: Option<ControllerId>,
    records: Vec<TaskRecord>,
    clock: u64,
}

impl Host for Engine {
    fn overlap(&mut self, query: &SpaceQuery, found: &mut Vec<ControllerId>) {
        found.extend(self.find_target(query));
    }
    fn find_target(&mut self, query: &SpaceQuery) -> Option<ControllerId> {
        self.asked += 1;
        self.by.push(query.who);
        self.answer.filter(|_| self.asked >= self.answer_at)
    }
    fn stopwatch(&mut self) -> u64 {
        self.clock += 100;
        self.clock
    }
    fn task_record(&mut self, record: &TaskRecord) {
        self.records.push(*record);
    }
}

fn frames_of(millis: i64) -> SimConfig {
    SimConfig { frame: SimTime::millis(millis), ..SimConfig::default() }
}

// covers: UGAS-10.3-02 UGAS-10.3-11
#[test]
fn a_spatial_task_ends_with_the_target_the_host_found() {
    for kind in ["WaitOverlap", "WaitForTarget"] {
        let hit = task("ApplyEffectToTarget").param("EffectClass", "GE_Hurt");
        let rules = rules_with(Ability::new("GA").task(task(kind).every(0.0)).task(hit));
        let mut s = Stage::new(&rules, "GA");
        let foe = spawn(&mut s.sim);
        s.activate();
        let mut engine = Engine { answer_at: 3, answer: Some(foe), ..Engine::default() };
        s.sim.advance_with(SimTime::frames(2, 60), &mut engine);
        assert!(s.is_active());
        s.sim.advance_with(SimTime::frames(3, 60), &mut engine);
        assert!(!s.is_active());
        assert_eq!(engine.asked, 3);
        assert_eq!(get(&s.sim, foe, "Health"), 90.0);
        s.sim.advance_with(SimTime::seconds(1.0), &mut engine);
        assert_eq!(engine.asked, 3);
    }
}

/// Notes its ticks.
struct Clockwork(Arc<Mutex<Vec<f64>>>);
impl CustomTask for Clockwork {
    type State = ();
    fn activate(&self, _: &mut (), _: &TaskCx<'_>) -> Progression {
        Progression::Wait
    }
    fn tick(&self, _: &mut (), dt: SimTime, _: &TaskCx<'_>) -> Progression {
        self.0.lock().unwrap().push(dt.as_seconds());
        Progression::Wait
    }
    fn interval(&self) -> Option<SimTime> {
        Some(SimTime::ZERO)
    }
}

fn ticks(interval: f64, frame: i64, seconds: f64) -> Vec<f64> {
    let log = Arc::new(Mutex::new(Vec::new()));
    let ga = Ability::new("GA").task(task("Clockwork").every(interval));
    let rules = base().add(ga).task("Clockwork", Clockwork(log.clone())).build().unwrap();
    let mut s = Stage::with(&rules, "GA", frames_of(frame));
    s.activate();
    go(&mut s.sim, seconds);
    let list = log.lock().unwrap();
    list.clone()
}

// covers: UGAS-10.6-01 UGAS-10.6-02 UGAS-10.6-03
#[test]
fn a_task_ticks_at_frames_when_its_interval_is_over_with_the_time_that_passed() {
    assert_eq!(ticks(0.0, 100, 1.0).len(), 10);
    assert_eq!(ticks(0.1, 30, 0.9), [0.12; 7]);
    assert_eq!(ticks(0.1, 60, 0.6), [0.12; 5]);
}

fn crowd(rules: &Arc<Rules>, config: SimConfig, names: &[&str]) -> (Sim, Vec<ControllerId>) {
    let mut sim = Sim::new(rules.clone(), config);
    let mut all = Vec::new();
    for name in names {
        let who = spawn(&mut sim);
        let id = ability(rules, name);
        let input = ugas_core::InputId::NONE;
        sim.grant(who, ugas_core::AbilityGrant { ability: id, level: 1, input: input.some() }).unwrap();
        sim.activate(who, id, ugas_core::Target::None).unwrap();
        all.push(who);
    }
    (sim, all)
}

// covers: UGAS-10.6-06 UGAS-10.6-07 UGAS-10.6-08
#[test]
fn a_short_task_budget_ticks_high_priorities_first_and_starves_no_task() {
    let ability = |name: &str, priority| Ability::new(name).task(task("WaitForTarget").priority(priority));
    let rules = base()
        .add(ability("GA", 0))
        .add(ability("GA_5", 5))
        .add(ability("GA_10", 10))
        .add(Ability::new("GA_Default").task(task("WaitOverlap")))
        .add(Ability::new("GA_Minus").task(task("WaitOverlap").priority(-1)))
        .add(Ability::new("GA_Plus").task(task("WaitOverlap").priority(1)))
        .build()
        .unwrap();
    let short = |budget| SimConfig { task_budget: budget, ..SimConfig::default() };
    let (mut sim, all) = crowd(&rules, short(10), &["GA"; 25]);
    let mut engine = Engine::default();
    sim.advance_with(SimTime::frames(1, 60), &mut engine);
    assert_eq!(engine.asked, 10);
    assert_eq!((engine.records[0].running, engine.records[0].ticked, engine.records[0].deferred), (25, 10, 15));
    sim.advance_with(SimTime::frames(3, 60), &mut engine);
    assert_eq!(engine.asked, 30);
    assert!(all.iter().all(|who| engine.by.contains(who)));

    let (mut sim, all) = crowd(&rules, short(1), &["GA", "GA_5"]);
    let mut engine = Engine::default();
    sim.advance_with(SimTime::frames(1, 60), &mut engine);
    assert_eq!(engine.by, [all[1]]);

    // A task without a priority has priority 0: it ticks after priority 1 and before priority -1.
    for names in [["GA_Default", "GA_Plus"], ["GA_Minus", "GA_Default"]] {
        let (mut sim, all) = crowd(&rules, short(1), &names);
        let mut engine = Engine::default();
        sim.advance_with(SimTime::millis(200), &mut engine);
        assert_eq!(engine.by.first(), Some(&all[1]), "{names:?}");
    }

    let (mut sim, all) = crowd(&rules, short(1), &["GA", "GA_10"]);
    let mut engine = Engine::default();
    sim.advance_with(SimTime::frames(20, 60), &mut engine);
    assert!(engine.by.contains(&all[0]) && engine.by.contains(&all[1]));
}

// covers: UGAS-10.6-12
#[test]
fn five_spatial_tasks_on_a_hundred_actors_are_throttled_by_their_interval() {
    let five = |name: &str, interval| {
        let tasks = (0..5).map(|_| task("WaitOverlap").every(interval));
        Ability::new(name).task(AbilityTask::parallel(tasks))
    };
    let rules = base().add(five("GA_Fast", 0.0)).add(five("GA_Slow", 0.1)).build().unwrap();
    let (mut sim, _) = crowd(&rules, SimConfig::default(), &["GA_Fast"; 100]);
    let mut engine = Engine::default();
    sim.advance_with(SimTime::frames(1, 60), &mut engine);
    assert_eq!(engine.asked, 500);
    let (mut sim, _) = crowd(&rules, SimConfig::default(), &["GA_Slow"; 100]);
    for tenth in 1..=10 {
        let mut engine = Engine::default();
        sim.advance_with(SimTime::millis(100 * tenth), &mut engine);
        assert!(engine.asked <= 500, "{}", engine.asked);
    }
}

// covers: UGAS-10.6-09
#[test]
fn task_categories_are_known_and_critical_tasks_tick_first() {
    let rules = base().build().unwrap();
    let category = |name| rules.task_category(name).unwrap();
    assert_eq!(category("WaitForTarget"), TaskCategory::Spatial);
    assert_eq!(category("WaitDelay"), TaskCategory::Temporal);
    assert_eq!(category("WaitMontageEnded"), TaskCategory::Animation);
    assert_eq!(category("WaitTagAdded"), TaskCategory::State);
    let rules = base()
        .add(Ability::new("GA_A").task(task("WaitOverlap")))
        .add(Ability::new("GA_C").task(task("WaitForTarget")));
    let rules = rules.build().unwrap();
    let config = SimConfig { task_budget: 1, ..SimConfig::default() };
    let (mut sim, all) = crowd(&rules, config, &["GA_A", "GA_C"]);
    let mut engine = Engine::default();
    // The critical one looks every frame, the ambient one at most every 50 to 100 ms.
    sim.advance_with(SimTime::millis(100), &mut engine);
    assert!(engine.by.iter().all(|who| *who == all[1]) && engine.by.len() == 6);
}

// covers: UGAS-10.6-10 UGAS-10.6-11
#[test]
fn task_figures_count_running_tasks_tick_rate_and_time() {
    let rules = rules_with(Ability::new("GA").task(task("WaitOverlap").every(0.1)));
    let (mut sim, _) = crowd(&rules, SimConfig::default(), &["GA"; 5]);
    let mut engine = Engine::default();
    sim.advance_with(SimTime::frames(100, 60), &mut engine);
    let figures = sim.task_figures()[0];
    assert_eq!(figures.task, rules.task_kind("WaitOverlap").unwrap());
    assert_eq!((figures.running, figures.frames), (5, 100));
    assert!(figures.rate() > 8.0 && figures.rate() <= 10.0, "{}", figures.rate());
    assert_eq!(figures.nanos, figures.ticks * 100);
    assert_eq!(figures.average(), 100.0);
    assert_eq!(engine.records.len(), 100);
    assert!(engine.records.iter().all(|r| r.running == 5 && r.task == figures.task));
}

/// The sample of the specification, counting its calls.
#[derive(Default)]
struct Counts {
    activated: AtomicU32,
    ended: Mutex<Vec<bool>>,
}
struct WaitForHealthThreshold(Arc<Counts>);
impl WaitForHealthThreshold {
    fn test_health(&self, cx: &TaskCx<'_>, health: f64) -> Progression {
        let threshold = cx.number("Threshold").unwrap_or(0.0);
        let reached = match cx.text("Comparison") {
            Some("LessThan") => health < threshold,
            Some("Greater") => health > threshold,
            Some("GreaterEqual") => health >= threshold,
            _ => health <= threshold,
        };
        if reached { Progression::Complete(health) } else { Progression::Wait }
    }
}
impl CustomTask for WaitForHealthThreshold {
    type State = u32;
    fn activate(&self, _: &mut u32, cx: &TaskCx<'_>) -> Progression {
        self.0.activated.fetch_add(1, Ordering::SeqCst);
        let health = cx.rules().find_attribute("Health").and_then(|a| cx.get(a));
        health.map_or(Progression::Fail, |h| self.test_health(cx, h))
    }
    fn wake(&self, seen: &mut u32, event: WakeEvent<'_>, cx: &TaskCx<'_>) -> Progression {
        *seen += 1;
        match event {
            WakeEvent::Attribute { attribute, new, .. } if cx.rules().find_attribute("Health") == Some(attribute) => {
                self.test_health(cx, new)
            }
            _ => Progression::Wait,
        }
    }
    fn end(&self, _: &mut u32, completed: bool, _: &TaskCx<'_>) {
        self.0.ended.lock().unwrap().push(completed);
    }
    fn wakes_on(&self) -> &[WakeKind] {
        &[WakeKind::Attributes]
    }
}

fn threshold(how: &str, value: f64) -> (Stage, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let t = task("WaitForHealthThreshold").param("Threshold", value).param("Comparison", how);
    let ga = Ability::new("GA").task(t).task(mark("GE_Mark"));
    let rules = base().add(ga).task("WaitForHealthThreshold", WaitForHealthThreshold(counts.clone())).build().unwrap();
    (Stage::new(&rules, "GA"), counts)
}

// covers: UGAS-10.4-01 UGAS-10.4-02 UGAS-10.4-03 UGAS-10.4-04 UGAS-10.4-06
#[test]
fn a_custom_task_begins_once_ends_once_and_its_output_continues_the_ability() {
    let (mut s, counts) = threshold("LessEqual", 90.0);
    s.activate();
    assert_eq!(s.waiting(), 1);
    assert!(counts.ended.lock().unwrap().is_empty());
    apply(&mut s.sim, "GE_Hurt", s.hero);
    assert_eq!(s.get("AttackPower"), 11.0);
    assert_eq!(s.task_results(), [("WaitForHealthThreshold".to_owned(), TaskResult::Completed, 90.0)]);
    assert_eq!(counts.activated.load(Ordering::SeqCst), 1);
    assert_eq!(*counts.ended.lock().unwrap(), [true]);
    // Already there: at once, with both calls.
    s.activate();
    assert_eq!(counts.activated.load(Ordering::SeqCst), 2);
    assert_eq!(*counts.ended.lock().unwrap(), [true, true]);

    let (mut s, _) = threshold("LessThan", 90.0);
    s.activate();
    apply(&mut s.sim, "GE_Hurt", s.hero);
    assert!(s.is_active());
}

// covers: UGAS-10.4-03
#[test]
fn a_cancelled_custom_task_ends_once_without_output() {
    let (mut s, counts) = threshold("LessEqual", 90.0);
    s.activate();
    s.sim.cancel(s.hero, Which::Ability(s.ability)).unwrap();
    assert_eq!(*counts.ended.lock().unwrap(), [false]);
    assert_eq!(s.task_results(), [("WaitForHealthThreshold".to_owned(), TaskResult::Cancelled, 0.0)]);
    apply(&mut s.sim, "GE_Hurt", s.hero);
    assert_eq!((s.waiting(), s.get("AttackPower")), (0, 10.0));
    assert!(!facts(&mut s.sim).iter().any(|f| matches!(f.kind, FactKind::TaskEnded { .. })));
    // A waiting task is state like any other: a fork continues equally.
    s.sim.run(ugas_core::Op::SetActive { who: s.hero, active: true }).unwrap();
    let (mut a, counts) = threshold("LessEqual", 80.0);
    a.activate();
    let mut b = a.sim.clone();
    for sim in [&mut a.sim, &mut b] {
        apply(sim, "GE_Hurt", a.hero);
        apply(sim, "GE_Hurt", a.hero);
        sim.advance_to(SimTime::seconds(1.0));
    }
    assert_eq!(a.sim.hash(), b.hash());
    assert_eq!(*counts.ended.lock().unwrap(), [true, true]);
}

#[test]
fn a_built_in_task_name_cannot_be_registered() {
    assert!(base().task("WaitDelay", Clockwork(Arc::default())).build().is_err());
}

#[test]
fn a_held_input_is_retried_at_each_frame() {
    let busy = ugas_doc::Effect::lasting("GE_Busy", 1.0).grants("Status.Frozen");
    let ga = Ability::new("GA").held().blocked("Status.Frozen").task(mark("GE_Mark"));
    let fire = Ability::new("GA_Fire").task(task("WaitInputPressed").param("InputID", "Fire"));
    let rules = base().add(busy).add(ga).add(fire).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    let input = rules.input("Fire").unwrap();
    apply(&mut s.sim, "GE_Busy", s.hero);
    s.sim.press(s.hero, input, ugas_core::Target::None).unwrap();
    go(&mut s.sim, 0.9);
    assert_eq!(s.get("AttackPower"), 10.0);
    go(&mut s.sim, 1.1);
    assert_eq!(s.get("AttackPower"), 11.0);
    go(&mut s.sim, 2.0);
    assert_eq!(s.get("AttackPower"), 11.0);
}

#[test]
fn a_task_priority_is_limited() {
    let load = |priority| {
        let mut t = task("WaitOverlap");
        t.priority = Some(priority);
        base().add(Ability::new("GA").task(t)).build()
    };
    assert!(load(30_000).is_ok() && load(-30_000).is_ok());
    for priority in [30_001, i32::MIN] {
        let error = load(priority).unwrap_err();
        assert!(error.issues.iter().any(|i| i.code == "bad-param" && i.message.contains("Priority")), "{error:?}");
    }
}
