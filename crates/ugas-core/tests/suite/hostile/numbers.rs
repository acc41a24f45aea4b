//! Numbers that are none, that are huge, or that are nothing.

use crate::kit::*;
use ugas_core::{
    Anchor, BadValue, ControllerId, EffectUpdate, Hit, KeyId, Op, Rate, Refusal, Rules, Sim, SimTime, SpawnSpec, Spec,
};
use ugas_doc::{Attribute, AttributeSet, Curve, Effect, Magnitude, OnStack, Operation, Stacking};

const NONE: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

fn small_world() -> std::sync::Arc<Rules> {
    let by_caller = || Magnitude::set_by_caller("Data.X");
    world()
        .add(AttributeSet::new("Free").with(Attribute::new("Zero", 0.0)).with(Attribute::new("One", 1.0)))
        .add(Effect::instant("GE_Write").add("Zero", by_caller()))
        .add(Effect::instant("GE_Set").set("Zero", by_caller()))
        .add(Effect::instant("GE_Scale").multiply("Zero", by_caller()))
        .add(Effect::infinite("GE_Add").add("Zero", by_caller()))
        .add(Effect::infinite("GE_Multiply").multiply("Zero", by_caller()))
        .add(Effect::infinite("GE_Channel").multiply_in("Zero", by_caller(), "Gear"))
        .add(Effect::infinite("GE_Post").add_post("Zero", by_caller()))
        .add(Effect::infinite("GE_Over").set("Zero", by_caller()))
        .add(Effect::lasting("GE_Long", by_caller()).every(1.0).add("One", 0.0))
        .add(Effect::lasting("GE_Buff", 5.0).every(1.0).add("One", 0.0))
        .add(Effect::infinite("GE_Follow").add("One", Magnitude::attribute("Zero").times(1e300)))
        .build()
        .unwrap()
}

fn start(rules: &std::sync::Arc<Rules>) -> (Sim, ControllerId, KeyId) {
    let mut sim = Sim::new(rules.clone(), Default::default());
    let who = sim.spawn(SpawnSpec::sets([set(rules, "Free")])).unwrap();
    (sim, who, rules.key("Data.X").unwrap())
}

#[test]
fn non_finite_numbers_are_refused_by_every_operation() {
    let rules = small_world();
    let (mut sim, who, key) = start(&rules);
    let buff = apply(&mut sim, "GE_Buff", who);
    let before = sim.row_hash(who).unwrap();
    let add = effect(&rules, "GE_Add");
    let kind = |r: Result<_, Refusal>| r.err().map(|r: Refusal| r.kind());
    for v in NONE {
        let spec = Spec::new(add, who);
        let far = Hit { distance: Some(v), ..Hit::default() };
        let at = Hit { position: Some([0.0, v, 0.0]), ..Hit::default() };
        let specs = [spec.clone().set(key, v), spec.clone().set(key, 1.0).hit(far), spec.clone().set(key, 1.0).hit(at)];
        for spec in specs {
            assert_eq!(sim.apply(&spec), Err(Refusal::BadValue { what: BadValue::Number }), "{v}");
        }
        let placed = spec.set(key, 1.0).origin([v, 0.0, 0.0]);
        assert_eq!(sim.apply(&placed), Err(Refusal::BadValue { what: BadValue::Position }));
        let anchor = Some(Anchor::at([0.0, 0.0, v]));
        assert_eq!(kind(sim.run(Op::Move { who, anchor })), Some("BadValue"));
        let anchor = Some(Anchor { position: [0.0; 3], facing: [v, 0.0, 0.0] });
        assert_eq!(kind(sim.run(Op::Move { who, anchor })), Some("BadValue"));
        let base = SpawnSpec::sets([set(&rules, "Free")]).base(attribute(&rules, "Zero"), v);
        assert_eq!(sim.spawn(base).map_err(|r| r.kind()), Err("NonFinite"));
        let change = EffectUpdate::SetByCaller(key, v);
        assert_eq!(kind(sim.run(Op::Change { key: buff, change })), Some("BadValue"));
        assert_eq!(Rate::new(v), None);
        assert_eq!(SimTime::try_seconds(v), None);
    }
    assert_eq!(sim.row_hash(who).unwrap(), before);
    assert_eq!(sim.controllers().count(), 1);
}

#[test]
fn documents_with_non_finite_numbers_are_load_errors() {
    let with = |e: Effect| world().add(e).build();
    for v in NONE {
        assert!(with(Effect::instant("GE_X").add("Health", v)).is_err());
        assert!(with(Effect::lasting("GE_X", v)).is_err());
        assert!(with(Effect::infinite("GE_X").every(v).add("Health", 1.0)).is_err());
        let set = |a: Attribute| Rules::builder().add(AttributeSet::new("S").with(a)).build();
        assert!(set(Attribute::new("A", v)).is_err());
        assert!(set(Attribute::new("A", 0.0).min(v)).is_err());
        assert!(set(Attribute::new("A", 0.0).max(v)).is_err());
        assert!(world().add(Curve::new("C", [(0.0, v)])).build().is_err());
        assert!(world().add(Curve::new("C", [(v, 0.0)])).build().is_err());
        assert!(with(Effect::infinite("GE_X").add("Health", Magnitude::attribute("Mana").times(v))).is_err());
    }
    for period in [1e-9, 0.000_9, -1.0, f64::MIN, f64::MAX, 1e18] {
        assert!(with(Effect::infinite("GE_X").every(period).add("Health", 1.0)).is_err(), "{period}");
    }
    assert!(with(Effect::infinite("GE_X").every(0.001).add("Health", 1.0)).is_ok());
}

#[test]
fn levels_stacks_times_and_periods_out_of_range_are_refused() {
    let rules = small_world();
    let (mut sim, who, _) = start(&rules);
    let id = effect(&rules, "GE_Buff");
    let key = sim.apply(&Spec::new(id, who)).unwrap();
    let before = sim.row_hash(who).unwrap();
    let over = SimTime(SimTime::LONGEST.0 + 1);
    let bad = |what| Refusal::BadValue { what };
    let specs = [
        (Spec::new(id, who).level(0), BadValue::Level),
        (Spec::new(id, who).stacks(0), BadValue::Stacks),
        (Spec::new(id, who).stacks(u32::MAX), BadValue::Stacks),
        (Spec::new(id, who).lasting(SimTime(-1)), BadValue::Duration),
        (Spec::new(id, who).lasting(SimTime(i64::MIN)), BadValue::Duration),
        (Spec::new(id, who).lasting(SimTime::NEVER), BadValue::Duration),
        (Spec::new(id, who).lasting(over), BadValue::Duration),
        (Spec::new(id, who).every(SimTime(1)), BadValue::Period),
        (Spec::new(id, who).every(SimTime::ZERO), BadValue::Period),
        (Spec::new(id, who).every(SimTime(-5)), BadValue::Period),
        (Spec::new(id, who).every(SimTime::NEVER), BadValue::Period),
    ];
    for (spec, what) in specs {
        assert_eq!(sim.apply(&spec), Err(bad(what)), "{spec:?}");
    }
    let changes = [
        (EffectUpdate::Level(0), BadValue::Level),
        (EffectUpdate::Stacks(0), BadValue::Stacks),
        (EffectUpdate::Stacks(u32::MAX), BadValue::Stacks),
        (EffectUpdate::Remaining(SimTime(-1)), BadValue::Duration),
        (EffectUpdate::Remaining(over), BadValue::Duration),
        (EffectUpdate::Extend(over), BadValue::Duration),
        (EffectUpdate::Extend(SimTime(i64::MIN)), BadValue::Duration),
        (EffectUpdate::Period(SimTime(1)), BadValue::Period),
        (EffectUpdate::Period(SimTime(i64::MIN)), BadValue::Period),
        (EffectUpdate::Period(SimTime::NEVER), BadValue::Period),
    ];
    for (change, what) in changes {
        assert_eq!(sim.run(Op::Change { key, change }), Err(bad(what)), "{change:?}");
    }
    assert_eq!(sim.remove_stacks(key, 0), Err(bad(BadValue::RemoveCount)));
    assert_eq!(sim.row_hash(who).unwrap(), before);
}

#[test]
fn values_stay_finite_under_extreme_sums_and_factors() {
    let rules = small_world();
    let (fresh, who, key) = start(&rules);
    let names = ["GE_Write", "GE_Set", "GE_Scale", "GE_Add", "GE_Multiply", "GE_Channel", "GE_Post", "GE_Over"];
    let values = [f64::MAX, f64::MIN, 1e300, -1e300, -1.0, 0.0, -0.0, f64::MIN_POSITIVE, 5e-324, 1.0];
    for seed in 0..60 {
        let mut rng = Rng(seed);
        let mut sim = fresh.clone();
        let _ = sim.apply(&Spec::new(effect(&rules, "GE_Follow"), who).from(who));
        for step in 0..60 {
            let name = *rng.pick(&names);
            let value = *rng.pick(&values);
            let stacks = [1, 2, 1_000_000][rng.below(3)];
            let result = sim.apply(&Spec::new(effect(&rules, name), who).set(key, value).stacks(stacks));
            for a in sim.attributes(who).unwrap() {
                let (base, current) = (sim.base(who, a).unwrap(), sim.get(who, a).unwrap());
                let name_of = rules.attribute_name(a);
                assert!(
                    base.is_finite() && current.is_finite(),
                    "seed {seed}, step {step}: {name} {value} × {stacks} gave {result:?}; {name_of:?} is {base}, {current}"
                );
                let minus_zero = (-0.0f64).to_bits();
                assert!(base.to_bits() != minus_zero && current.to_bits() != minus_zero);
                assert_eq!(sim.explain(who, a).unwrap().value.to_bits(), current.to_bits(), "seed {seed}, step {step}");
            }
            if let (Ok(k), 0) = (result, rng.below(4)) {
                let _ = sim.run(Op::Change { key: k, change: EffectUpdate::Stacks(1 + rng.below(1_000_000) as u32) });
            }
        }
    }
}

#[test]
fn a_bonus_that_overflows_is_refused_or_clamped() {
    let rules = small_world();
    let (mut sim, who, key) = start(&rules);
    let zero = attribute(&rules, "Zero");
    // Two stacks of the largest number: the sum over its stacks is no number any more.
    let result = sim.apply(&Spec::new(effect(&rules, "GE_Add"), who).set(key, f64::MAX).stacks(2));
    assert!(result.is_err() || sim.get(who, zero).unwrap() == f64::MAX, "{result:?}");
    let result = sim.apply(&Spec::new(effect(&rules, "GE_Add"), who).set(key, f64::MIN).stacks(2));
    assert!(sim.get(who, zero).unwrap().is_finite(), "{result:?}");
    let shown = sim.explain(who, zero).unwrap();
    assert!(shown.lines.iter().all(|l| l.operation == Operation::Add && l.magnitude.is_finite()), "{shown:?}");
}

#[test]
fn zero_negative_and_huge_durations_expire_at_once_or_are_refused() {
    let rules = small_world();
    let (mut sim, who, key) = start(&rules);
    let id = effect(&rules, "GE_Long");
    for v in [0.0, -0.0, -5.0, -1e300, f64::MIN, 1e-12] {
        let _ = sim.apply(&Spec::new(id, who).set(key, v));
        assert_eq!(sim.effects(who).unwrap().len(), 0, "{v}");
    }
    assert!(diagnostics(&mut sim).iter().all(|d| d.kind.name() == "ZeroDuration"));
    for v in [1e300, f64::MAX, 1e12] {
        assert_eq!(sim.apply(&Spec::new(id, who).set(key, v)), Err(Refusal::BadValue { what: BadValue::Duration }));
    }
    let aged = sim.apply(&Spec::new(id, who).lasting(SimTime::LONGEST)).unwrap();
    for _ in 0..10 {
        let _ = sim.run(Op::Change { key: aged, change: EffectUpdate::Extend(SimTime::LONGEST) });
        assert!(sim.effect(aged).unwrap().remaining.is_none_or(|r| r > SimTime::ZERO));
    }
    go(&mut sim, 3.0);
    let _ = sim.run(Op::Change { key: aged, change: EffectUpdate::Extend(SimTime(-SimTime::LONGEST.0)) });
    sim.hash();
}

#[test]
fn local_time_never_decreases_at_any_rate_up_to_the_longest_time() {
    let rules = world()
        .add(Effect::lasting("GE_Buff", 5.0).add("AttackPower", 1.0))
        .add(Effect::infinite("GE_Aura").add("Defense", 1.0))
        .build()
        .unwrap();
    for rate in [1000.0, 999.9, 1.0, 0.00002] {
        let (mut sim, hero) = one(&rules);
        sim.run(Op::SetRate { who: hero, rate: Rate::new(rate).unwrap() }).unwrap();
        let aura = apply(&mut sim, "GE_Aura", hero);
        apply(&mut sim, "GE_Buff", hero);
        let mut last = SimTime::ZERO;
        for part in (1..=64).rev() {
            assert!(sim.advance_to(SimTime(SimTime::LONGEST.0 / part)).finished);
            let elapsed = sim.effect(aura).unwrap().elapsed;
            assert!(elapsed >= last, "rate {rate}: {last:?} then {elapsed:?}");
            last = elapsed;
        }
        // Going from a fast clock to a normal one and back moves the anchors; local time still never goes back.
        sim.run(Op::SetRate { who: hero, rate: Rate::ONE }).unwrap();
        assert_eq!(sim.effect(aura).unwrap().elapsed, last, "rate {rate}");
        let key = apply(&mut sim, "GE_Buff", hero);
        assert_eq!(sim.effect(key).unwrap().remaining, Some(SimTime::seconds(5.0)), "rate {rate}");
        sim.hash();
    }
}

#[test]
fn stacks_never_wrap() {
    let unlimited = Stacking { limit: None, on_stack: OnStack::KeepDuration, ..Stacking::default() };
    let huge = Stacking { limit: Some(u32::MAX), ..unlimited.clone() };
    let rules = world()
        .add(Effect::infinite("GE_None").add("AttackPower", 1.0).stacking(unlimited))
        .add(Effect::infinite("GE_Huge").add("Defense", 1.0).stacking(huge))
        .build()
        .unwrap();
    let (mut sim, hero) = one(&rules);
    for name in ["GE_None", "GE_Huge"] {
        let spec = Spec::new(effect(&rules, name), hero).stacks(1_000_000);
        let mut last = 0;
        for _ in 0..5_000 {
            let _ = sim.apply(&spec);
            let now = sim.effects(hero).unwrap().last().unwrap().stacks;
            assert!(now >= last, "{name}: {last} then {now}");
            last = now;
        }
    }
    assert!(get(&sim, hero, "AttackPower") >= 1_000_010.0);
    let key = sim.effects(hero).unwrap()[0].key;
    sim.remove_stacks(key, 5).unwrap();
    sim.remove_stacks(key, u32::MAX).unwrap_or(());
    sim.hash();
}
