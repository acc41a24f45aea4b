//! Faults that a review of abilities and tasks found: each test is one of them, so that it does not come back.

mod common3;
use common3::*;
use ugas_core::{
    AbilityGrant, ActorId, Answer, FactKind, Limits, Op, ParamId, Rate, Refusal, Sim, SimConfig, SimTime, Spec, Target,
    Which,
};
use ugas_doc::{Ability, Calculation, CalculationResult, Charges, CombatRule, Effect, Timeline, Trigger};

// A time-out with OnFail: Cancel cancels at once, whether or not what the wait started still sleeps.
#[test]
fn on_fail_holds_while_a_body_runs() {
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
        assert_eq!(s.get("AttackPower"), 11.0, "sleeps {sleeps}: the list went on");
    }
}

#[test]
fn passives_start_when_what_blocked_them_is_over() {
    let restrict = CombatRule { on: "AbilityUse".into(), restrict: true, ..CombatRule::default() };
    let rules = base()
        .add(Effect { rules: vec![restrict], ..Effect::infinite("GE_Bar") })
        .add(Ability::new("GA").tag("Ability.Ward").blocks("Ability.Aura").task(wait(2.0)))
        .add(Ability::new("GA_Aura").tag("Ability.Aura").passively().owned("State.Aura"))
        .add(Ability::new("GA_Body").needs_avatar().passively().owned("State.Body"))
        .add(Ability::new("GA_Late").passively().owned("State.Late"))
        .add(Ability::new("GA_Cast").cast(1.0, 1).task(wait(5.0)))
        .build()
        .unwrap();
    let mut s = Stage::new(&rules, "GA");
    let has = |sim: &Sim, who, name: &str| sim.has_tag(who, tag(&rules, name)).unwrap();
    s.activate();
    s.sim.grant(s.hero, AbilityGrant::new(ability(&rules, "GA_Aura"))).unwrap();
    s.sim.grant(s.hero, AbilityGrant::new(ability(&rules, "GA_Body"))).unwrap();
    assert!(!has(&s.sim, s.hero, "State.Aura"));
    go(&mut s.sim, 10.0);
    assert!(has(&s.sim, s.hero, "State.Aura"), "what blocked it has ended");
    s.sim.run(Op::Possess { who: s.hero, avatar: Some(ActorId(7)) }).unwrap();
    assert!(has(&s.sim, s.hero, "State.Body"), "there is an avatar now");

    let late = AbilityGrant::new(ability(&rules, "GA_Late"));
    s.sim.run(Op::SetActive { who: s.hero, active: false }).unwrap();
    s.sim.grant(s.hero, late).unwrap();
    assert!(!has(&s.sim, s.hero, "State.Late"));
    s.sim.run(Op::SetActive { who: s.hero, active: true }).unwrap();
    assert!(has(&s.sim, s.hero, "State.Late"), "its owner is active again");

    let foe = spawn(&mut s.sim);
    let bar = s.sim.apply(&Spec::new(rules.effect("GE_Bar").unwrap(), foe)).unwrap();
    let grant = s.sim.grant(foe, late).unwrap();
    let name = ParamId::named("Locked");
    s.sim.restrict(foe, grant, name, true).unwrap();
    s.sim.remove(bar).unwrap();
    assert!(!has(&s.sim, foe, "State.Late"), "its own restriction holds");
    s.sim.restrict(foe, grant, name, false).unwrap();
    assert!(has(&s.sim, foe, "State.Late"), "it is not restricted any more");

    let third = spawn(&mut s.sim);
    let bar = s.sim.apply(&Spec::new(rules.effect("GE_Bar").unwrap(), third)).unwrap();
    s.sim.grant(third, late).unwrap();
    s.sim.remove(bar).unwrap();
    assert!(has(&s.sim, third, "State.Late"), "no rule forbids it any more");

    let fourth = spawn(&mut s.sim);
    s.sim.grant(fourth, AbilityGrant::new(ability(&rules, "GA_Cast"))).unwrap();
    s.sim.activate(fourth, ability(&rules, "GA_Cast"), Target::None).unwrap();
    s.sim.grant(fourth, late).unwrap();
    assert!(!has(&s.sim, fourth, "State.Late"));
    go(&mut s.sim, 12.0);
    assert!(has(&s.sim, fourth, "State.Late"), "the cast is over");
}

// A passive ability that is ended stays ended until something else changes: its own end is no reason to start it.
#[test]
fn the_end_of_a_passive_does_not_start_it() {
    let rules = base()
        .add(Ability::new("GA").tag("Ability.Aura").blocks("Ability.Aura").passively().owned("State.Aura"))
        .build()
        .unwrap();
    let mut s = Stage::new(&rules, "GA");
    assert!(s.is_active());
    s.sim.run(Op::Cancel { who: s.hero, which: Which::Ability(s.ability) }).unwrap();
    assert!(!s.is_active());
}

#[test]
fn an_inactive_controllers_tasks_pause() {
    let rules = rules_with(
        Ability::new("GA").task(task("WaitGameplayEvent").param("EventTag", "Event.Hit")).task(mark("GE_Mark")),
    );
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    s.sim.run(Op::SetActive { who: s.hero, active: false }).unwrap();
    s.event("Event.Hit", 1.0);
    assert_eq!(s.get("AttackPower"), 10.0, "a paused task went on");
    s.sim.run(Op::SetActive { who: s.hero, active: true }).unwrap();
    assert_eq!(s.get("AttackPower"), 10.0, "the event is over");
    s.event("Event.Hit", 1.0);
    assert_eq!(s.get("AttackPower"), 11.0);
}

// A wait for a state that came while the controller was inactive is over when it is active again.
#[test]
fn waits_for_a_state_look_again_after_a_pause() {
    let waits = [
        task("WaitTagAdded").param("Tag", "Status.Burning"),
        task("WaitAttributeThreshold")
            .param("Attribute", "Health")
            .param("Comparison", "LessThan")
            .param("Value", 95.0),
    ];
    for wait in waits {
        let name = wait.kind.clone();
        let mut s = Stage::new(&rules_with(Ability::new("GA").task(wait).task(mark("GE_Mark"))), "GA");
        s.activate();
        s.sim.run(Op::SetActive { who: s.hero, active: false }).unwrap();
        for effect in ["GE_Burn", "GE_Hurt"] {
            let effect = s.sim.rules().effect(effect).unwrap();
            s.sim.apply(&Spec::new(effect, s.hero)).unwrap();
        }
        assert_eq!(s.get("AttackPower"), 10.0, "{name}");
        s.sim.run(Op::SetActive { who: s.hero, active: true }).unwrap();
        assert_eq!(s.get("AttackPower"), 11.0, "{name}");
    }
}

#[test]
fn an_answer_to_an_inactive_controller_can_be_given_again() {
    let mut s = Stage::new(
        &rules_with(
            Ability::new("GA").task(task("WaitTargetData").param("TargetingMethod", "Trace")).task(mark("GE_Mark")),
        ),
        "GA",
    );
    s.activate();
    let asked = facts(&mut s.sim).into_iter().find_map(|f| match f.kind {
        FactKind::TaskRequest { task_key, .. } => Some(task_key),
        _ => None,
    });
    let key = asked.unwrap();
    s.sim.run(Op::SetActive { who: s.hero, active: false }).unwrap();
    let answer = || Op::Complete { key, answer: Answer::default() };
    assert_eq!(s.sim.run(answer()).unwrap_err(), Refusal::Inactive);
    s.sim.run(Op::SetActive { who: s.hero, active: true }).unwrap();
    s.sim.run(answer()).unwrap();
    assert_eq!(s.get("AttackPower"), 11.0);
}

#[test]
fn a_random_cost_is_what_was_checked() {
    let rules = base()
        .calc_fn("Calc_Roll", [], |cx| {
            let cost = -(cx.random() * 100.0).floor();
            cx.add("Mana", cost);
        })
        .add(Effect::instant("GE_Gamble").execute("Calc_Roll"))
        .add(Ability::new("GA").cost("GE_Gamble"))
        .build()
        .unwrap();
    for seed in 0..20 {
        let mut s = Stage::with(&rules, "GA", SimConfig { seed, ..SimConfig::default() });
        let mut why = Vec::new();
        s.sim.why_not(s.hero, Which::Ability(s.ability), Target::None, &mut why).unwrap();
        let refused = s.sim.activate(s.hero, s.ability, Target::None).unwrap_err();
        assert_eq!(refused.kind(), "RandomCost");
        assert_eq!(why.first().unwrap().refusal, refused);
        assert!(refused.describe(&rules).contains("Calc_Roll"));
    }
}

#[test]
fn data_that_rolls_in_a_commit_is_a_load_error() {
    let load = |text: &str| {
        let calc = Calculation::new("Calc_Luck").result(CalculationResult::add("Mana", text));
        let cost = Effect::instant("GE_Luck").execute("Calc_Luck");
        base().add(calc).add(cost).add(Ability::new("GA").cost("GE_Luck")).build()
    };
    assert!(load("0 - 5").is_ok());
    let error = load("if(roll(0.5), 0 - 5, 0 - 10)").unwrap_err();
    let issue = error.issues.iter().find(|i| i.code == "roll-on-commit").unwrap();
    assert!(issue.message.contains("GE_Luck") && issue.message.contains("Calc_Luck"), "{issue:?}");
}

#[test]
fn charges_heal_when_there_are_enough() {
    let ready = |max, cost| {
        let mut a = Ability::new("GA").task(wait(0.1));
        a.charges =
            Some(Charges { max, cost: Some(cost), per_cooldown: Some(1), cooldown: 10.0, predict_length: None });
        let mut s = Stage::new(&rules_with(a), "GA");
        let _ = s.sim.activate(s.hero, s.ability, Target::None);
        go(&mut s.sim, 1.0);
        s.sim.castable(s.hero, s.grant).unwrap().ready_at
    };
    assert_eq!(ready(2, 2), Some(SimTime::seconds(20.0)));
    assert_eq!(ready(3, 2), Some(SimTime::seconds(10.0)));
    assert_eq!(ready(1, 2), None, "there will never be enough");
}

#[test]
fn a_validated_ability_keeps_the_source_of_its_trigger() {
    let mut a =
        Ability::new("GA").trigger(Trigger::effect_applied("GE_Burn")).validated("Server", None).task(wait(9.0));
    a.source_required_tags.push("State.Buff".into());
    let rules = base().add(a).add(Effect::infinite("GE_Buff").grants("State.Buff")).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    let foe = spawn(&mut s.sim);
    s.sim.apply(&Spec::new(rules.effect("GE_Buff").unwrap(), foe)).unwrap();
    s.sim.apply(&Spec::new(rules.effect("GE_Burn").unwrap(), s.hero).from(foe)).unwrap();
    assert!(s.is_active());
    s.sim.validate(s.hero, Which::Ability(s.ability), true).unwrap();
    assert!(s.is_active(), "the check was made against the owner");
}

#[test]
fn a_montage_ends_for_its_own_ability() {
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

// One commit that is refused is no reason to leave the others as they are.
#[test]
fn a_commit_of_several_reaches_each() {
    let rules = base()
        .add(Effect::instant("GE_Price").add("Mana", -30.0))
        .add(Ability::new("GA").manual().multiple().cost("GE_Price").task(wait(9.0)))
        .build()
        .unwrap();
    let mut s = Stage::new(&rules, "GA");
    for _ in 0..3 {
        s.activate();
    }
    assert_eq!(s.get("Mana"), 50.0);
    let refused = s.sim.commit(s.hero, Which::Ability(s.ability)).unwrap_err();
    assert_eq!(refused.kind(), "Cost");
    assert_eq!(s.get("Mana"), 20.0);
    let committed: Vec<bool> = s.sim.activations(s.hero).unwrap().map(|a| a.committed).collect();
    assert_eq!(committed, [true], "those that were refused are cancelled");
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

#[test]
fn why_not_tells_that_too_much_runs() {
    let limits = Limits { activations_per_controller: 1, ..Limits::default() };
    let rules = rules_with(Ability::new("GA").multiple().task(wait(9.0)));
    let mut s = Stage::with(&rules, "GA", SimConfig { limits, ..SimConfig::default() });
    s.activate();
    let refused = s.sim.activate(s.hero, s.ability, Target::None).unwrap_err();
    let mut why = Vec::new();
    s.sim.why_not(s.hero, Which::Ability(s.ability), Target::None, &mut why).unwrap();
    assert_eq!(why.iter().map(|r| r.refusal.kind()).collect::<Vec<_>>(), [refused.kind()]);
    assert_eq!(s.sim.check(s.hero, s.ability, Target::None).unwrap_err().kind(), "Limit");
}

#[test]
fn a_priority_has_bounds() {
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

// A row from outside has no more of anything than ops would have given it.
#[test]
fn an_inserted_row_keeps_to_the_limits() {
    let rules = rules_with(Ability::new("GA"));
    let mut s = Stage::new(&rules, "GA");
    s.sim.grant(s.hero, AbilityGrant::new(s.ability)).unwrap();
    let row = s.sim.extract(s.hero).unwrap();
    for (grants, fits) in [(1, false), (2, true)] {
        let limits = Limits { grants_per_controller: grants, ..Limits::default() };
        let mut other = Sim::new(rules.clone(), SimConfig { limits, ..SimConfig::default() });
        assert_eq!(other.insert(&row).is_ok(), fits, "{grants}");
    }
}
