//! Data-driven tasks: what they wait for, what they do, and when they continue.

use crate::kit::tasks::*;
use ugas_core::{AbilityGrant, FactKind, InputId, Op, Rate, SimTime, Target, TaskResult, Which};
use ugas_doc::{Ability, Timeline};

use TaskResult::{Cancelled, Completed, Failed, Output};

fn results(list: &[(&str, TaskResult, f64)]) -> Vec<(String, TaskResult, f64)> {
    list.iter().map(|(name, how, value)| (name.to_string(), *how, *value)).collect()
}

// covers: UGAS-8.7-02 UGAS-10.1-02 UGAS-10.3-03
#[test]
fn tasks_run_in_sequence_and_continue_in_the_tick_that_wakes_them() {
    let rules = rules_with(Ability::new("GA").task(wait(1.0)).task(mark("GE_Mark")).task(wait(2.0)).task(wait(0.0)));
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    go_to(&mut s.sim, SimTime(SimTime::seconds(1.0).0 - 1));
    assert_eq!(s.get("AttackPower"), 10.0);
    go(&mut s.sim, 1.0);
    assert_eq!(s.get("AttackPower"), 11.0);
    go(&mut s.sim, 2.9);
    assert!(s.is_active());
    go(&mut s.sim, 3.0);
    assert!(!s.is_active());
    let all = facts(&mut s.sim);
    let end = all.last().unwrap();
    assert_eq!(end.at, SimTime::seconds(3.0));
    assert!(matches!(end.kind, FactKind::AbilityEnded { cancelled: false, .. }));
}

// covers: UGAS-10.1-01 UGAS-10.6-04
#[test]
fn event_waits_are_not_polled() {
    let rules = rules_with(Ability::new("GA").task(ugas_doc::AbilityTask::parallel([
        task("WaitGameplayEvent").param("EventTag", "Event.Hit"),
        task("WaitTagAdded").param("Tag", "Status.Burning"),
        task("WaitInputPressed").param("InputID", "Fire"),
    ])));
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    assert_eq!(s.waiting(), 3);
    for frame in 1..=1000 {
        let progress = s.sim.advance_to(SimTime::frames(frame, 60));
        assert_eq!(progress.due, 0);
    }
    assert!(s.sim.task_figures().is_empty());
    assert_eq!(s.waiting(), 3);
}

// covers: UGAS-10.3-01
#[test]
fn every_task_type_of_the_specification_is_registered() {
    let rules = base().build().unwrap();
    for name in [
        "WaitDelay",
        "WaitGameTime",
        "WaitGameplayEvent",
        "WaitTagChanged",
        "WaitInputRelease",
        "WaitInputPressed",
        "WaitTagAdded",
        "WaitTagRemoved",
        "WaitOverlap",
        "WaitForTarget",
        "WaitAnimationEvent",
        "WaitMontageEnded",
        "ApplyEffectToOwner",
        "RemoveEffectFromOwner",
        "ApplyEffectToTarget",
        "ApplyEffectToActorsInRadius",
        "WaitTargetData",
    ] {
        assert!(
            rules.task_kinds().any(|(id, found, _)| found == name && rules.find_task_kind(name) == Some(id)),
            "{name}"
        );
    }
}

// covers: UGAS-10.3-04
#[test]
fn game_time_waits_ignore_the_owners_clock_rate() {
    let rules = rules_with(Ability::new("GA").task(task("WaitGameTime").param("Time", 12.0)).task(mark("GE_Mark")));
    let mut s = Stage::new(&rules, "GA");
    go(&mut s.sim, 10.0);
    s.activate();
    let rate = Rate::new(0.3).unwrap();
    s.sim.run(Op::SetRate { who: s.hero, rate }).unwrap();
    let time = SimTime::seconds(12.0);
    go_to(&mut s.sim, time - SimTime(1));
    assert_eq!(s.get("AttackPower"), 10.0);
    // The owner's clock moves on once in three or four flicks.
    go_to(&mut s.sim, time + SimTime(4));
    assert_eq!(s.get("AttackPower"), 11.0);
    go(&mut s.sim, 13.0);
    s.activate();
    assert_eq!(s.get("AttackPower"), 12.0);
}

// covers: UGAS-10.3-05 UGAS-10.2-02
#[test]
fn an_event_wakes_by_its_tag_once_or_each_time() {
    let once = Ability::new("GA").task(task("WaitGameplayEvent").param("EventTag", "Event.Hit"));
    let mut s = Stage::new(&rules_with(once), "GA");
    s.activate();
    s.event("Event.Other", 1.0);
    assert_eq!(s.task_results(), []);
    s.event("Event.Hit.Hard", 7.0);
    s.event("Event.Hit.Hard", 8.0);
    assert_eq!(s.task_results(), results(&[("WaitGameplayEvent", Completed, 7.0)]));
    assert!(!s.is_active() && s.waiting() == 0);

    let body = task("WaitGameplayEvent").param("EventTag", "Event.Hit").param("OnlyTriggerOnce", false);
    let each = Ability::new("GA").task(body.task(mark("GE_Mark"))).task(mark("GE_Mark10"));
    let mut s = Stage::new(&rules_with(each), "GA");
    s.activate();
    for n in 1..=3 {
        s.event("Event.Hit", n as f64);
    }
    let out = |v| ("WaitGameplayEvent", Output, v);
    assert_eq!(s.task_results(), results(&[out(1.0), out(2.0), out(3.0)]));
    assert!(s.is_active());
    assert_eq!(s.get("AttackPower"), 13.0);
}

// covers: UGAS-10.3-08 UGAS-10.3-09 UGAS-10.3-10
#[test]
fn tags_wake_when_presence_changes() {
    let added = task("WaitTagAdded").param("Tag", "State.Debuff.Stunned");
    let removed = task("WaitTagRemoved").param("Tag", "State.Debuff.Stunned");
    let mut s = Stage::new(&rules_with(Ability::new("GA").task(added).task(removed)), "GA");
    s.activate();
    assert_eq!(s.task_results(), []);
    let first = apply(&mut s.sim, "GE_Stun", s.hero);
    assert_eq!(s.task_results(), results(&[("WaitTagAdded", Completed, 1.0)]));
    let second = apply(&mut s.sim, "GE_Stun", s.hero);
    s.sim.remove(first).unwrap();
    assert_eq!(s.task_results(), []);
    s.sim.remove(second).unwrap();
    assert_eq!(s.task_results(), results(&[("WaitTagRemoved", Completed, 0.0)]));
    assert!(!s.is_active());
    // Already so: both are done at once in their turn.
    apply(&mut s.sim, "GE_Stun", s.hero);
    s.activate();
    assert_eq!(s.task_results().len(), 1);

    let changed = task("WaitTagChanged").param("Tag", "Status.Burning").param("OnlyTriggerOnce", false);
    let mut s = Stage::new(&rules_with(Ability::new("GA").task(changed)), "GA");
    s.activate();
    let burn = apply(&mut s.sim, "GE_Burn", s.hero);
    s.sim.remove(burn).unwrap();
    assert_eq!(s.task_results(), results(&[("WaitTagChanged", Output, 1.0), ("WaitTagChanged", Output, 0.0)]));
}

// covers: UGAS-10.3-06 UGAS-10.3-07
#[test]
fn input_waits_wake_only_for_their_own_input() {
    let list = Ability::new("GA").task(task("WaitInputRelease").param("InputID", "Jump"));
    let pressed = Ability::new("GA_P").task(task("WaitInputPressed").param("InputID", "Jump"));
    let other = Ability::new("GA_O").task(task("WaitInputPressed").param("InputID", "Fire"));
    let rules = base().add(list).add(pressed).add(other).build().unwrap();
    let (jump, fire) = (rules.input("Jump").unwrap(), rules.input("Fire").unwrap());
    let mut s = Stage::new(&rules, "GA");
    s.sim.press(s.hero, jump, Target::None).unwrap();
    s.activate();
    go(&mut s.sim, 0.25);
    assert_eq!(s.task_results(), []);
    s.sim.release(s.hero, jump).unwrap();
    assert_eq!(s.task_results(), results(&[("WaitInputRelease", Completed, 0.25)]));
    // Already up: at once.
    s.activate();
    assert_eq!(s.task_results(), results(&[("WaitInputRelease", Completed, 0.0)]));

    let mut s = Stage::new(&rules, "GA_P");
    s.activate();
    s.sim.press(s.hero, fire, Target::None).unwrap();
    assert_eq!(s.task_results(), []);
    s.sim.press(s.hero, jump, Target::None).unwrap();
    assert_eq!(s.task_results(), results(&[("WaitInputPressed", Completed, 0.0)]));
    assert_ne!(jump, InputId::NONE);
}

// covers: UGAS-10.2-03 UGAS-10.5-01
#[test]
fn cancelling_an_ability_cancels_its_tasks() {
    let three = [
        wait(1.0),
        task("WaitGameplayEvent").param("EventTag", "Event.Hit"),
        task("WaitTagAdded").param("Tag", "Status.Burning"),
    ];
    let ga = Ability::new("GA").task(ugas_doc::AbilityTask::parallel(three)).task(mark("GE_Mark"));
    let mut s = Stage::new(&rules_with(ga), "GA");
    s.activate();
    go(&mut s.sim, 0.5);
    s.sim.cancel(s.hero, Which::Ability(s.ability)).unwrap();
    let names = ["WaitDelay", "WaitGameplayEvent", "WaitTagAdded"];
    assert_eq!(s.task_results(), results(&names.map(|n| (n, Cancelled, 0.0))));
    assert_eq!(s.waiting(), 0);
    go(&mut s.sim, 2.0);
    s.event("Event.Hit", 1.0);
    apply(&mut s.sim, "GE_Burn", s.hero);
    assert_eq!(s.task_results(), []);
    assert_eq!(s.get("AttackPower"), 10.0);
}

// covers: UGAS-10.4-06
#[test]
fn a_threshold_is_tested_at_once_and_after_each_change() {
    let threshold = |how: &str| {
        let t = task("WaitAttributeThreshold").param("Attribute", "Health").param("Comparison", how);
        Stage::new(&rules_with(Ability::new("GA").task(t.param("Value", 90.0))), "GA")
    };
    let mut s = threshold("LessEqual");
    s.activate();
    assert_eq!(s.task_results(), []);
    apply(&mut s.sim, "GE_Hurt", s.hero);
    assert_eq!(s.task_results(), results(&[("WaitAttributeThreshold", Completed, 90.0)]));
    let mut s = threshold("LessThan");
    s.activate();
    apply(&mut s.sim, "GE_Hurt", s.hero);
    assert_eq!(s.task_results(), []);
    apply(&mut s.sim, "GE_Hurt", s.hero);
    assert_eq!(s.task_results(), results(&[("WaitAttributeThreshold", Completed, 80.0)]));
    let mut s = threshold("Greater");
    s.activate();
    assert_eq!(s.task_results(), results(&[("WaitAttributeThreshold", Completed, 100.0)]));
    let mut s = threshold("GreaterEqual");
    s.activate();
    assert_eq!(s.task_results().len(), 1);
}

#[test]
fn composites_branch_repeat_race_and_join() {
    use ugas_doc::AbilityTask as T;
    let hot = T::when("has_tag(self, Status.Burning)").then(mark("GE_Mark10")).otherwise(mark("GE_Mark"));
    let ga = Ability::new("GA")
        .task(T::repeat(3, [hot, wait(1.0)]))
        .task(T::race([wait(1.0), T::sequence([wait(5.0), mark("GE_Mark10")])]))
        .task(T::parallel([wait(1.0), wait(2.0), mark("GE_Mark")]));
    let mut s = Stage::new(&rules_with(ga), "GA");
    s.activate();
    go(&mut s.sim, 1.5);
    apply(&mut s.sim, "GE_Burn", s.hero);
    assert_eq!(s.get("AttackPower"), 12.0);
    go(&mut s.sim, 2.0);
    assert_eq!(s.get("AttackPower"), 22.0);
    go(&mut s.sim, 4.0);
    assert_eq!(s.get("AttackPower"), 23.0);
    assert_eq!(s.waiting(), 2);
    go(&mut s.sim, 5.9);
    assert!(s.is_active());
    go(&mut s.sim, 6.0);
    assert!(!s.is_active());
    let done = s.task_results();
    assert_eq!(done.iter().filter(|t| t.1 == Cancelled).count(), 1);
    assert_eq!(s.get("AttackPower"), 23.0);
}

#[test]
fn a_wait_that_times_out_fails_and_follows_on_fail() {
    let late = |then: &str| {
        let t = task("WaitGameplayEvent").param("EventTag", "Event.Hit").param("TimeOut", 2.0).param("OnFail", then);
        let mut s = Stage::new(&rules_with(Ability::new("GA").task(t).task(mark("GE_Mark"))), "GA");
        s.activate();
        go(&mut s.sim, 2.0);
        assert!(!s.is_active());
        let ended = facts(&mut s.sim);
        let cut = ended.iter().any(|f| matches!(f.kind, FactKind::AbilityEnded { cancelled: true, .. }));
        let failed = ended.iter().any(|f| matches!(f.kind, FactKind::TaskEnded { result: Failed, .. }));
        (cut, failed, s.get("AttackPower"))
    };
    assert_eq!(late("Continue"), (false, true, 11.0));
    assert_eq!(late("End"), (false, true, 10.0));
    assert_eq!(late("Cancel"), (true, true, 10.0));
}

#[test]
fn a_loop_without_end_is_cut_off() {
    use ugas_doc::AbilityTask as T;
    let ga = Ability::new("GA").task(T::repeat(4_000_000_000, [T::parallel([mark("GE_Mark"), mark("GE_Mark")])]));
    let mut s = Stage::new(&rules_with(ga), "GA");
    s.activate();
    assert!(!s.is_active());
    assert!(diagnostics(&mut s.sim).iter().any(|d| d.kind == ugas_core::DiagnosticKind::Limit));
    assert_eq!(s.waiting(), 0);
}

#[test]
fn steps_of_one_op_do_not_count_for_the_next() {
    let rules = rules_with(Ability::new("GA").task(mark("GE_Mark")).task(wait(0.5)).task(mark("GE_Mark")));
    let mut s = Stage::new(&rules, "GA");
    // Many times the limit for one cause, a few steps at a time.
    for _ in 0..6_000 {
        s.activate();
        let next = SimTime(s.sim.now().0 + SimTime::seconds(1.0).0);
        go_to(&mut s.sim, next);
        assert!(!s.is_active());
    }
    let cut_short = |f: &ugas_core::Fact| matches!(f.kind, FactKind::AbilityEnded { cancelled: true, .. });
    assert!(!facts(&mut s.sim).iter().any(cut_short));
}

// A time-out with OnFail: Cancel cancels at once, whether or not the body of the wait still runs.
#[test]
fn on_fail_applies_while_the_body_of_the_wait_runs() {
    for sleeps in [false, true] {
        let mut body = task("WaitGameplayEvent")
            .param("EventTag", "Event.Hit")
            .param("OnlyTriggerOnce", false)
            .param("TimeOut", 1.0)
            .param("OnFail", "Cancel")
            .task(mark("GE_Mark"));
        if sleeps {
            body = body.task(wait(5.0));
        }
        let mut s = Stage::new(&rules_with(Ability::new("GA").task(body).task(mark("GE_Mark10"))), "GA");
        s.activate();
        s.event("Event.Hit", 1.0);
        go(&mut s.sim, 2.0);
        assert!(!s.is_active(), "sleeps {sleeps}: it is cancelled at the time-out");
        assert_eq!(s.waiting(), 0);
        go(&mut s.sim, 20.0);
        assert_eq!(s.get("AttackPower"), 11.0, "sleeps {sleeps}: the list continued");
    }
}

#[test]
fn wait_montage_ended_waits_for_the_montage_of_its_own_ability() {
    let plays = |name: &str, montage: &str, marks: &str| {
        let play = task("PlayMontage").param("MontageToPlay", montage);
        Ability::new(name).task(play).task(task("WaitMontageEnded")).task(mark(marks))
    };
    let rules = base()
        .add(plays("GA", "AM_Long", "GE_Mark"))
        .add(plays("GA_Short", "AM_Short", "GE_Mark10"))
        .add(Timeline::new("TL_L", 5.0).montage("AM_Long"))
        .add(Timeline::new("TL_S", 1.0).montage("AM_Short"))
        .build()
        .unwrap();
    let mut s = Stage::new(&rules, "GA");
    s.sim.grant(s.hero, AbilityGrant::new(ability(&rules, "GA_Short"))).unwrap();
    s.activate();
    s.sim.activate(s.hero, ability(&rules, "GA_Short"), Target::None).unwrap();
    go(&mut s.sim, 2.0);
    assert_eq!(s.get("AttackPower"), 20.0, "the long montage still plays");
    go(&mut s.sim, 6.0);
    assert_eq!(s.get("AttackPower"), 21.0);
}

#[test]
fn a_game_time_under_a_time_out_follows_the_clock() {
    for rates in [&[0.1][..], &[1.0, 0.1], &[0.1, 1.0, 0.1]] {
        let wait = task("WaitGameTime").param("Time", 12.0).param("TimeOut", 5.0);
        let mut s = Stage::new(&rules_with(Ability::new("GA").task(wait).task(mark("GE_Mark"))), "GA");
        s.activate();
        for &rate in rates {
            s.sim.run(Op::SetRate { who: s.hero, rate: Rate::new(rate).unwrap() }).unwrap();
        }
        go(&mut s.sim, 11.9);
        assert_eq!(s.get("AttackPower"), 10.0, "{rates:?}: neither the time nor the time-out has come");
        go(&mut s.sim, 12.1);
        assert_eq!(s.get("AttackPower"), 11.0, "{rates:?}");
    }
    let wait = task("WaitGameTime").param("Time", 12.0).param("TimeOut", 5.0).param("OnFail", "Cancel");
    let mut s = Stage::new(&rules_with(Ability::new("GA").task(wait).task(mark("GE_Mark"))), "GA");
    s.activate();
    for rate in [0.1, 1.0] {
        s.sim.run(Op::SetRate { who: s.hero, rate: Rate::new(rate).unwrap() }).unwrap();
    }
    go(&mut s.sim, 5.1);
    assert!(!s.is_active(), "at the old rate the time-out comes first again");
}
