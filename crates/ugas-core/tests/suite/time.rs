//! Time: without external input the result of a sim does not depend on the step size, n frames end exactly at frame n,
//! and every controller has its own clock.

use crate::kit::*;
use ugas_core::{
    ControllerId, EffectUpdate, Fact, Limits, Op, Rate, ReadError, Sim, SimConfig, SimTime, SpawnSpec, Spec,
};
use ugas_doc::{ConditionalEffects, Curve, Effect, ExecutionPolicy, Magnitude, OnExpire, PeriodInhibition, Stacking};

/// Effects with every kind of timer there is.
fn timers() -> std::sync::Arc<ugas_core::Rules> {
    let mut aura =
        Effect::infinite("GE_Aura").every(0.35).add("Mana", 1.0).multiply("AttackPower", 0.1).grants("State.Buff");
    aura.ongoing_blocked_tags = vec!["State.Debuff".into()];
    aura.period_inhibition = PeriodInhibition::CatchUp;
    let mut reset = Effect::infinite("GE_Reset").every(0.2).add("Mana", -0.5);
    reset.ongoing_blocked_tags = vec!["State.Debuff".into()];
    reset.period_inhibition = PeriodInhibition::Reset;
    let mut bomb = Effect::lasting("GE_Bomb", 1.7).grants("Status.Burning");
    bomb.effects = Some(ConditionalEffects { on_expired: vec!["GE_Blast".into()], ..Default::default() });
    let mut ticking = Effect::lasting("GE_Ticking", 4.0).every_and_now(0.3).add("Health", -1.0).cue("GameplayCue.Tick");
    ticking.effects = Some(ConditionalEffects { on_executed: vec!["GE_Chance".into()], ..Default::default() });
    let mut chance = Effect::lasting("GE_Chance", 0.45).add("Defense", 1.0);
    chance.application_chance = Some(Magnitude::value(0.5));
    let one_by_one = Stacking { limit: Some(4), on_expire: OnExpire::RemoveOne, ..Stacking::default() };
    world()
        .add(Curve::new("C_Length", [(1.0, 0.5), (10.0, 3.0)]))
        .add(aura)
        .add(reset)
        .add(bomb)
        .add(ticking)
        .add(chance)
        .add(Effect::instant("GE_Blast").add("Health", -7.0))
        .add(Effect::lasting("GE_Stun", 0.8).grants("State.Debuff.Stunned"))
        .add(Effect::lasting("GE_Row", 0.6).multiply("Defense", 0.5).policy(ExecutionPolicy::RunInSequence))
        .add(Effect::lasting("GE_Merge", 2.0).add("Defense", 2.0).policy(ExecutionPolicy::RunInMerge))
        .add(Effect::lasting("GE_Stack", 0.9).add("AttackPower", 3.0).stacking(one_by_one))
        .add(Effect::lasting("GE_Curve", Magnitude::curve("C_Length")).every(0.111).add("Mana", -0.25))
        .add(Effect::lasting("GE_Follow", 2.5).add("AttackPower", Magnitude::attribute("Defense").times(0.5)))
        .build()
        .unwrap()
}

/// The script: ops at exact times, most of them between the strides.
fn script(sim: &mut Sim, all: &[ControllerId]) -> Vec<(SimTime, Op)> {
    let rules = sim.rules().clone();
    let mut rng = Rng(77);
    let names = [
        "GE_Aura",
        "GE_Reset",
        "GE_Bomb",
        "GE_Ticking",
        "GE_Stun",
        "GE_Row",
        "GE_Merge",
        "GE_Stack",
        "GE_Curve",
        "GE_Follow",
    ];
    let rates = [0.0, 0.25, 0.5, 1.0, 1.5, 3.0];
    let mut ops = Vec::new();
    for i in 0..400 {
        let at = SimTime::millis(i * 73);
        let who = *rng.pick(all);
        let name = *rng.pick(&names);
        let spec = Spec::new(effect(&rules, name), who).from(*rng.pick(all)).level(1 + rng.below(10) as u32);
        ops.push((at, Op::Apply(spec)));
        if rng.below(4) == 0 {
            let rate = Rate::new(*rng.pick(&rates)).unwrap();
            ops.push((at, Op::SetRate { who: *rng.pick(all), rate }));
        }
        if rng.below(9) == 0 {
            ops.push((at, Op::SetActive { who: *rng.pick(all), active: rng.below(3) > 0 }));
        }
    }
    // At the end all controllers are active, so that everything pending comes due.
    let end = SimTime::millis(400 * 73);
    for &who in all {
        ops.push((end, Op::SetActive { who, active: true }));
        ops.push((end, Op::SetRate { who, rate: Rate::ONE }));
    }
    ops
}

/// Runs the script with a stride; ops run at their exact times.
fn run(stride: SimTime) -> (Vec<Fact>, u64) {
    let mut sim = Sim::new(timers(), SimConfig { seed: 5, ..SimConfig::default() });
    let all: Vec<ControllerId> = (0..5).map(|_| spawn(&mut sim)).collect();
    let ops = script(&mut sim, &all);
    let until = SimTime::seconds(60.0);
    let mut log = Vec::new();
    let mut at = SimTime::ZERO;
    let mut next = 0;
    while sim.now() < until {
        at = (at + stride).min(until);
        while next < ops.len() && ops[next].0 <= at {
            go_to(&mut sim, ops[next].0);
            let _ = sim.run(ops[next].1.clone());
            next += 1;
        }
        go_to(&mut sim, at);
        log.extend(facts(&mut sim));
    }
    (log, sim.hash())
}

#[test]
fn every_stride_gives_the_same_facts_and_the_same_hash() {
    let (facts, hash) = run(SimTime::frames(1, 240));
    assert!(facts.len() > 3_000, "{}", facts.len());
    for kind in ["EffectExecuted", "EffectRemoved", "EffectChanged", "TagChanged", "Cue", "AttributeChanged"] {
        assert!(facts.iter().any(|f| f.kind.name() == kind), "{kind}");
    }
    assert!(facts.windows(2).all(|w| w[0].at <= w[1].at));
    for stride in [SimTime::frames(1, 60), SimTime::seconds(0.1), SimTime::seconds(1.0), SimTime::seconds(7.3)] {
        let (other, other_hash) = run(stride);
        let differs = facts.iter().zip(&other).position(|(a, b)| a != b);
        if let Some(i) = differs {
            panic!("stride {stride}: fact {i} differs:\n{:?}\n{:?}", facts[i], other[i]);
        }
        assert_eq!(facts.len(), other.len(), "stride {stride}");
        assert_eq!(hash, other_hash, "stride {stride}");
    }
}

#[test]
fn an_advance_that_runs_out_of_budget_resumes_where_it_stopped() {
    let run = |budget: u64| {
        let limits = Limits { due_per_advance: budget, ..Limits::default() };
        let mut sim = Sim::new(timers(), SimConfig { limits, ..SimConfig::default() });
        let all: Vec<ControllerId> = (0..3).map(|_| spawn(&mut sim)).collect();
        for &who in &all {
            for name in ["GE_Aura", "GE_Reset", "GE_Ticking", "GE_Stack", "GE_Bomb"] {
                apply(&mut sim, name, who);
            }
        }
        let mut calls = 0;
        loop {
            calls += 1;
            let p = sim.advance_to(SimTime::seconds(10.0));
            assert!(p.due <= budget);
            assert_eq!(p.reached, sim.now());
            if p.finished {
                break;
            }
            assert!(p.reached < SimTime::seconds(10.0) || p.due == budget);
        }
        (facts(&mut sim), sim.hash(), calls)
    };
    let (facts, hash, calls) = run(u64::MAX);
    assert_eq!(calls, 1);
    for budget in [1, 2, 7] {
        let (f, h, c) = run(budget);
        assert!(c > 10);
        assert_eq!((f.len(), h), (facts.len(), hash), "budget {budget}");
        assert!(f == facts, "budget {budget}");
    }
}

#[test]
fn a_move_of_n_frames_ends_on_frame_n() {
    for hz in [24, 30, 50, 60, 120, 144] {
        // Authored in seconds as designers write them, rounded to the nearest flick: exactly n frames.
        let mut rules = world();
        for n in 1..=120 {
            rules = rules.add(Effect::lasting(format!("GE_{n}"), n as f64 / hz as f64).add("AttackPower", 1.0));
        }
        let rules = rules.build().unwrap();
        let (mut sim, hero) = one(&rules);
        let authored: Vec<_> = (1..=120).map(|n| apply(&mut sim, &format!("GE_{n}"), hero)).collect();
        let id = effect(&rules, "GE_1");
        let given: Vec<_> =
            (1..=120).map(|n| sim.apply(&Spec::new(id, hero).lasting(SimTime::frames(n, hz))).unwrap()).collect();
        for n in 1..=120 {
            let keys = [authored[n - 1], given[n - 1]];
            go_to(&mut sim, SimTime(SimTime::frames(n as i64, hz).0 - 1));
            for key in keys {
                assert_eq!(sim.effect(key).unwrap().remaining, Some(SimTime(1)), "{n} frames at {hz} Hz");
            }
            go_to(&mut sim, SimTime::frames(n as i64, hz));
            for key in keys {
                assert_eq!(sim.effect(key), Err(ReadError::StaleHandle), "{n} frames at {hz} Hz");
            }
        }
        assert_eq!(get(&sim, hero, "AttackPower"), 10.0);
    }
}

// covers: PEER-16
#[test]
fn durations_and_periods_run_on_the_controllers_own_clock() {
    let rules = world()
        .add(Effect::lasting("GE_Buff", 2.0).add("AttackPower", 5.0))
        .add(Effect::lasting("GE_Move", 10.0 / 60.0).grants("State.Buff"))
        .add(Effect::infinite("GE_Tick").every(1.0).add("Health", -1.0))
        .build()
        .unwrap();
    let (mut sim, slow) = one(&rules);
    let normal = spawn(&mut sim);
    sim.run(Op::SetRate { who: slow, rate: Rate::new(0.5).unwrap() }).unwrap();
    let (a, b) = (apply(&mut sim, "GE_Buff", slow), apply(&mut sim, "GE_Buff", normal));
    apply(&mut sim, "GE_Tick", slow);
    apply(&mut sim, "GE_Tick", normal);
    go_to(&mut sim, SimTime(SimTime::seconds(2.0).0 - 1));
    assert!(sim.effect(b).is_ok());
    go(&mut sim, 2.0);
    assert_eq!(sim.effect(b), Err(ReadError::StaleHandle));
    go_to(&mut sim, SimTime(SimTime::seconds(4.0).0 - 1));
    assert!(sim.effect(a).is_ok());
    go(&mut sim, 4.0);
    assert_eq!(sim.effect(a), Err(ReadError::StaleHandle));
    assert_eq!((get(&sim, slow, "Health"), get(&sim, normal, "Health")), (98.0, 96.0));

    // Hitstop: a move of 10 frames, held for 6 of them from frame 4 on, ends on frame 16 exactly.
    let (mut sim, hero) = one(&rules);
    let frame = |n| SimTime::frames(n, 60);
    let key = apply(&mut sim, "GE_Move", hero);
    go_to(&mut sim, frame(4));
    sim.run(Op::SetRate { who: hero, rate: Rate::ZERO }).unwrap();
    go_to(&mut sim, frame(10));
    assert_eq!(sim.effect(key).unwrap().remaining, Some(frame(6)));
    sim.run(Op::SetRate { who: hero, rate: Rate::ONE }).unwrap();
    go_to(&mut sim, SimTime(frame(16).0 - 1));
    assert!(sim.effect(key).is_ok());
    go_to(&mut sim, frame(16));
    assert_eq!(sim.effect(key), Err(ReadError::StaleHandle));
}

#[test]
fn changing_the_rate_often_loses_no_time() {
    let rules = world().add(Effect::lasting("GE_Long", 1000.0)).build().unwrap();
    let (mut sim, hero) = one(&rules);
    let key = apply(&mut sim, "GE_Long", hero);
    // Each round spends 1 s at rate 0.5 and 1 s at rate 1.5: 2 s of local time, to the flick.
    for round in 0..100 {
        sim.run(Op::SetRate { who: hero, rate: Rate::new(0.5).unwrap() }).unwrap();
        go(&mut sim, round as f64 * 2.0 + 1.0);
        sim.run(Op::SetRate { who: hero, rate: Rate::new(1.5).unwrap() }).unwrap();
        go(&mut sim, round as f64 * 2.0 + 2.0);
    }
    assert_eq!(sim.effect(key).unwrap().elapsed, SimTime::seconds(200.0));
}

#[test]
fn time_never_decreases_and_never_exceeds_the_limit() {
    let rules = world().add(Effect::lasting("GE_Buff", 2.0)).build().unwrap();
    let (mut sim, hero) = one(&rules);
    let key = apply(&mut sim, "GE_Buff", hero);
    go(&mut sim, 1.0);
    let hash = sim.hash();
    for bad in [SimTime::ZERO, SimTime(-1), SimTime(i64::MIN), SimTime::NEVER, SimTime(SimTime::LONGEST.0 + 1)] {
        let p = sim.advance_to(bad);
        assert!(!p.finished);
        assert_eq!(p.reached, SimTime::seconds(1.0));
    }
    assert_eq!(sim.hash(), hash);
    sim.run(Op::Change { key, change: EffectUpdate::Remaining(SimTime::seconds(5.0)) }).unwrap();
    go(&mut sim, 5.9);
    assert!(sim.effect(key).is_ok());
    go(&mut sim, 6.0);
    assert!(sim.effect(key).is_err());
    let born = sim.spawn(SpawnSpec::sets([set(&rules, "Combat")])).unwrap();
    let late = apply(&mut sim, "GE_Buff", born);
    go(&mut sim, 7.999);
    assert!(sim.effect(late).is_ok());
    go(&mut sim, 8.0);
    assert!(sim.effect(late).is_err());
}
