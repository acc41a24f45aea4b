//! Calculations in Rust: captures, results, the specification's formulas and the random stream.

use crate::kit::world::{World, calcs};
use std::sync::{Arc, Mutex};
use ugas_core::{AbilityId, FactKind, Hit, Read, Refusal, Rules, SimTime, SpawnSpec, Spec};
use ugas_doc::{Ability, Attribute, AttributeSet, Effect, Execution, Magnitude, TagRegistry, Value};

fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0), "found {found}, wanted {wanted}");
}

fn pair() -> AttributeSet {
    AttributeSet::new("S")
        .with(Attribute::new("Health", 100.0).min(0.0))
        .with(Attribute::new("Mana", 50.0).min(0.0))
        .with(Attribute::new("AttackPower", 10.0))
}

// Executions ----------------------------------------------------------------------------------------------------

// covers: UGAS-9.5-01
#[test]
fn a_calculation_with_two_results_changes_both_attributes_in_one_application() {
    let mut w = World::new(
        Rules::builder()
            .add(pair())
            .add(TagRegistry::new(["State.Weak"]))
            .add(Effect::infinite("GE_Weak").grants("State.Weak"))
            .add(Effect::instant("GE_Drain").execute("ExecCalc_Drain"))
            .calc_fn("ExecCalc_Drain", [Read::source("AttackPower"), Read::target("Mana")], |cx| {
                let taken = cx.source("AttackPower").min(cx.target("Mana")) * cx.level() as f64;
                let weak = if cx.target_has("State.Weak") { 2.0 } else { 1.0 };
                cx.add("Health", -taken * weak);
                cx.add("Mana", -taken);
            }),
    );
    let (a, b) = (w.spawn("S"), w.spawn("S"));
    w.apply("GE_Weak", b);
    w.facts();
    let spec = w.spec("GE_Drain", b).from(a).level(2);
    w.sim.apply(&spec).unwrap();
    assert_eq!((w.get(b, "Health"), w.get(b, "Mana")), (60.0, 30.0));
    let facts = w.facts();
    let changes = facts.iter().filter(|f| matches!(f.kind, FactKind::AttributeChanged { .. }));
    let keys: Vec<_> = changes.map(|f| (f.key, f.source)).collect();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1]);
    assert_eq!(keys[0].1, a);
}

// covers: UGAS-9.5-02
#[test]
fn an_undeclared_read_refuses_the_effect_and_changes_nothing() {
    let mut w = World::new(
        Rules::builder().add(pair()).add(Effect::instant("GE_Sly").add("Mana", -5.0).execute("ExecCalc_Sly")).calc_fn(
            "ExecCalc_Sly",
            [Read::target("Health")],
            |cx| {
                let power = cx.source("AttackPower");
                cx.add("Health", -power - 1.0);
            },
        ),
    );
    let who = w.spawn("S");
    w.facts();
    let (before, calculator) = (w.sim.row_hash(who).unwrap(), w.rules.calculator("ExecCalc_Sly").unwrap());
    assert_eq!(w.sim.apply(&w.spec("GE_Sly", who).from(who)), Err(Refusal::UndeclaredRead { calculator }));
    assert_eq!(w.sim.row_hash(who).unwrap(), before);
    assert!(w.facts().is_empty());
    let message = Refusal::UndeclaredRead { calculator }.describe(&w.rules);
    assert!(message.contains("ExecCalc_Sly"), "{message}");
}

/// Ticks of one damage per attack power, with the capture that `read` declares.
fn ticking(read: Read) -> (World, Vec<f64>) {
    let mut w = World::new(
        Rules::builder()
            .add(AttributeSet::new("S").with(Attribute::new("Pool", 1000.0)).with(Attribute::new("AttackPower", 10.0)))
            .add(Effect::lasting("GE_Bleed", 4.0).every(1.0).execute("ExecCalc_Bleed"))
            .add(Effect::infinite("GE_Strong").add("AttackPower", 10.0))
            .calc_fn("ExecCalc_Bleed", [read], |cx| {
                let power = cx.source("AttackPower");
                cx.add("Pool", -power);
            }),
    );
    let (a, b) = (w.spawn("S"), w.spawn("S"));
    w.hit("GE_Bleed", a, b);
    let mut seen = Vec::new();
    for second in 1..=4 {
        w.to(second as f64);
        seen.push(w.get(b, "Pool"));
        if second == 2 {
            w.apply("GE_Strong", a);
        }
    }
    (w, seen)
}

// covers: UGAS-9.5-03
#[test]
fn a_read_taken_at_application_stays_for_every_tick() {
    let (_, seen) = ticking(Read::source("AttackPower").on_application());
    assert_eq!(seen, [990.0, 980.0, 970.0, 960.0]);
}

// covers: UGAS-9.5-04
#[test]
fn a_read_taken_at_execution_follows_the_change() {
    let (_, seen) = ticking(Read::source("AttackPower"));
    assert_eq!(seen, [990.0, 980.0, 960.0, 940.0]);
}

fn physical(attack: f64, pen: f64, armor: f64) -> f64 {
    let hit = Effect::instant("GE_Hit").execute("ExecCalc_PhysicalDamage");
    let mut w = World::new(calcs::physical_damage(Rules::builder().add(calcs::combat_set()).add(hit)));
    let a = w.spawn_with("Combat", &[("AttackPower", attack), ("ArmorPenetration", pen)]);
    let b = w.spawn_with("Combat", &[("Armor", armor), ("Health", 100.0)]);
    w.hit("GE_Hit", a, b);
    w.get(b, "Health")
}

// covers: UGAS-9.5-05
#[test]
fn physical_damage_is_reduced_by_the_armor_left_after_penetration() {
    assert_eq!(physical(100.0, 20.0, 120.0), 50.0);
}

// covers: UGAS-9.5-06
#[test]
fn armor_below_the_penetration_counts_as_none() {
    assert_eq!(physical(30.0, 50.0, 10.0), 70.0);
}

// covers: UGAS-9.5-07
#[test]
fn results_are_written_to_base_with_their_operation() {
    let mut w = World::new(
        Rules::builder()
            .add(calcs::vehicle_set())
            .add(Effect::infinite("GE_Tuned").multiply("AvailableTraction", 1.0))
            .add(Effect::instant("GE_Set").execute("ExecCalc_Set"))
            .add(Effect::instant("GE_Add").execute("ExecCalc_Add"))
            .add(Effect::instant("GE_Scale").execute("ExecCalc_Scale"))
            .calc_fn("ExecCalc_Set", [], |cx| cx.set("AvailableTraction", 0.44))
            .calc_fn("ExecCalc_Add", [], |cx| cx.add("AvailableTraction", 0.06))
            .calc_fn("ExecCalc_Scale", [], |cx| cx.multiply("AvailableTraction", 1.0)),
    );
    let car = w.spawn("Vehicle");
    w.apply("GE_Tuned", car);
    w.apply("GE_Set", car);
    assert_eq!((w.base(car, "AvailableTraction"), w.get(car, "AvailableTraction")), (0.44, 0.88));
    w.apply("GE_Add", car);
    assert_eq!(w.base(car, "AvailableTraction"), 0.5);
    w.apply("GE_Scale", car);
    assert_eq!(w.base(car, "AvailableTraction"), 1.0);
}

#[test]
fn parameters_and_stacks_reach_a_calculation() {
    let mut scaled = Execution::new("ExecCalc_Scaled");
    scaled.params.insert("Scale".into(), Value::from(3.0));
    let mut effect = Effect::instant("GE_Scaled");
    effect.executions.push(scaled);
    let mut w = World::new(Rules::builder().add(pair()).add(effect).calc_fn("ExecCalc_Scaled", [], |cx| {
        let scale = cx.param("Scale").and_then(Value::as_number).unwrap_or(f64::NAN);
        let value = scale * cx.stacks() as f64 * cx.set_by_caller("Data.Power").unwrap_or(2.0);
        cx.add("Mana", -value);
    }));
    let who = w.spawn("S");
    let spec = w.spec("GE_Scaled", who).stacks(2);
    w.sim.apply(&spec).unwrap();
    assert_eq!(w.get(who, "Mana"), 38.0);
}

#[test]
fn a_result_that_is_not_finite_or_has_no_attribute_refuses_the_whole_effect() {
    let mut w = World::new(
        Rules::builder()
            .add(pair())
            .add(AttributeSet::new("Other").with(Attribute::new("Fuel", 1.0)))
            .add(Effect::instant("GE_Nan").add("Mana", -5.0).execute("ExecCalc_Nan"))
            .add(Effect::instant("GE_Fuel").add("Mana", -5.0).execute("ExecCalc_Fuel"))
            .calc_fn("ExecCalc_Nan", [], |cx| {
                cx.add("Mana", -1.0);
                cx.add("Health", f64::NAN);
            })
            .calc_fn("ExecCalc_Fuel", [], |cx| {
                cx.add("Mana", -1.0);
                cx.add("Fuel", -1.0);
            }),
    );
    let who = w.spawn("S");
    let before = w.sim.row_hash(who).unwrap();
    w.facts();
    let (health, fuel) = (w.attr("Health"), w.attr("Fuel"));
    assert_eq!(w.try_apply("GE_Nan", who), Err(Refusal::NonFinite { attribute: Some(health) }));
    assert_eq!(w.try_apply("GE_Fuel", who), Err(Refusal::UnknownAttribute { who, attribute: fuel }));
    assert_eq!(w.sim.row_hash(who).unwrap(), before);
    assert!(w.facts().is_empty());
}

// The specification's formulas ----------------------------------------------------------------------------------

/// A fighter who rolls `rolled` (within a hundredth) on the first hit, found by trying seeds; and whether it was a
/// critical one.
fn penetrating(rolled: f64, chance: f64) -> (f64, bool) {
    let effect = Effect::instant("GE_Hit").execute("ExecCalc_ArmorPenetration");
    let docs = Rules::builder().add(calcs::combat_set()).add(effect).add(TagRegistry::new(["Hit.Critical"]));
    let rules = calcs::armor_penetration(docs).build().unwrap();
    for seed in 0..10_000 {
        let mut w = World::on(rules.clone(), seed);
        let a = w.spawn_with(
            "Combat",
            &[
                ("AttackPower", 200.0),
                ("FlatPenetration", 50.0),
                ("PercentPenetration", 0.5),
                ("CriticalChance", chance),
            ],
        );
        let b = w.spawn_with("Combat", &[("Armor", 150.0), ("DamageReduction", 0.2)]);
        w.hit("GE_Hit", a, b);
        if (w.get(b, "LastRoll") - rolled).abs() < 0.01 {
            let critical = w.tag("Hit.Critical");
            let tagged = w.facts().iter().any(|f| f.kind == FactKind::ContextTag { tag: critical });
            return (1000.0 - w.get(b, "Health"), tagged);
        }
    }
    panic!("no seed rolls {rolled}");
}

// covers: UGAS-14.4-01
#[test]
fn armor_penetration_without_a_critical_hit() {
    let (damage, tagged) = penetrating(0.5, 0.0);
    near(damage, 200.0 * (1.0 - 50.0 / 150.0) * 0.8);
    assert!((damage - 106.67).abs() < 0.005 && !tagged);
}

// covers: UGAS-14.4-02
#[test]
fn a_critical_hit_doubles_the_damage_and_sets_its_tag() {
    let (damage, tagged) = penetrating(0.1, 0.25);
    assert!((damage - 213.33).abs() < 0.005 && tagged, "{damage}");
    let (damage, tagged) = penetrating(0.9, 0.25);
    assert!((damage - 106.67).abs() < 0.005 && !tagged, "{damage}");
}

fn crits(seed: u64, n: usize) -> (World, Vec<bool>) {
    let effect = Effect::instant("GE_Hit").execute("ExecCalc_ArmorPenetration");
    let docs = Rules::builder().add(calcs::combat_set()).add(effect).add(TagRegistry::new(["Hit.Critical"]));
    let mut w = World::seeded(calcs::armor_penetration(docs), seed);
    let a = w.spawn_with("Combat", &[("AttackPower", 1.0), ("CriticalChance", 0.5)]);
    let b = w.spawn("Combat");
    let rolls = (0..n).map(|_| {
        w.hit("GE_Hit", a, b);
        w.get(b, "LastRoll") < 0.5
    });
    let rolls = rolls.collect();
    (w, rolls)
}

// covers: UGAS-14.4-03
#[test]
fn the_same_seed_gives_the_same_critical_hits() {
    let (_, first) = crits(7, 200);
    let (_, repeated) = crits(7, 200);
    let (_, other) = crits(8, 200);
    assert_eq!(first, repeated);
    assert_ne!(first, other);
    let hits = first.iter().filter(|c| **c).count();
    assert!((60..140).contains(&hits), "{hits} of 200");
}

#[test]
fn a_random_draw_depends_on_its_operation_and_not_on_earlier_draws() {
    let (mut w, _) = crits(7, 50);
    let (a, b) = (ugas_core::ControllerId(0), ugas_core::ControllerId(1));
    let spec = w.spec("GE_Hit", b).from(a);
    let id = ugas_core::OpId::new(3, 1000, 0);
    let op = ugas_core::Op::Apply(spec);
    let mut copy = w.clone();
    for _ in 0..10 {
        copy.hit("GE_Hit", a, b);
    }
    w.sim.run_as(id, &op).unwrap();
    copy.sim.run_as(id, &op).unwrap();
    assert_eq!(w.get(b, "LastRoll"), copy.get(b, "LastRoll"));
    // Another position in the same frame is another draw.
    let next = ugas_core::OpId::new(3, 1000, 1);
    w.sim.run_as(next, &op).unwrap();
    assert_ne!(w.get(b, "LastRoll"), copy.get(b, "LastRoll"));
}

fn traction(grip: f64, downforce: f64, speed: f64, temperature: f64) -> (f64, f64) {
    let effect = Effect::instant("GE_Traction").execute("ExecCalc_VehicleTraction");
    let mut w = World::new(calcs::vehicle_traction(Rules::builder().add(calcs::vehicle_set()).add(effect)));
    let values =
        [("TireGrip", grip), ("Downforce", downforce), ("CurrentSpeed", speed), ("TireTemperature", temperature)];
    let car = w.spawn_with("Vehicle", &values);
    w.hit("GE_Traction", car, car);
    (w.base(car, "AvailableTraction"), w.get(car, "AvailableTraction"))
}

// covers: UGAS-15.2-04
#[test]
fn traction_of_a_fast_car_with_downforce() {
    let (base, current) = traction(0.44, 100.0, 50.0, 95.0);
    near(base, 1.54);
    assert_eq!(base, current);
}

// covers: UGAS-15.2-05
#[test]
fn cold_and_hot_tyres_have_less_traction() {
    near(traction(1.0, 0.0, 0.0, 40.0).1, 0.85);
    near(traction(1.0, 0.0, 0.0, 90.0).1, 1.0);
    near(traction(1.0, 0.0, 0.0, 150.0).1, 0.7);
    near(traction(1.0, 0.0, 0.0, 80.0).1, 1.0);
    near(traction(1.0, 0.0, 0.0, 100.0).1, 1.0);
}

// covers: UGAS-15.3-04
#[test]
fn vulnerable_targets_take_a_fifth_more_damage() {
    let docs = Rules::builder()
        .add(calcs::shooter_set())
        .add(Effect::infinite("GE_Vulnerable").grants("Status.Vulnerable"))
        .add(Effect::instant("GE_Hit").execute("ExecCalc_ARPGDamage"));
    let mut w = World::new(calcs::arpg_damage(docs));
    let (a, b) = (w.spawn_with("Shooter", &[("WeaponDamage", 30.0)]), w.spawn("Shooter"));
    w.hit("GE_Hit", a, b);
    assert_eq!(w.get(b, "Health"), 70.0);
    w.apply("GE_Vulnerable", b);
    w.hit("GE_Hit", a, b);
    assert_eq!(w.get(b, "Health"), 34.0);
}

fn shooter() -> World {
    World::new(calcs::shooter(
        Rules::builder()
            .add(calcs::shooter_set())
            .add(TagRegistry::new(["Hitzone.Head", "Hitzone.Body", "Immunity.Ballistic"]))
            .add(Effect::instant("GE_Reload").execute("ExecCalc_MagazineReload"))
            .add(Effect::instant("GE_BallisticDamage").execute("ExecCalc_HitResolution")),
    ))
}

// covers: UGAS-PACK.SHO-05
#[test]
fn a_reload_moves_at_most_the_ammo_left_in_the_reserve() {
    let mut w = shooter();
    let who = w.spawn_with("Shooter", &[("Ammo", 10.0), ("ReserveAmmo", 8.0)]);
    w.hit("GE_Reload", who, who);
    assert_eq!((w.get(who, "Ammo"), w.get(who, "ReserveAmmo")), (18.0, 0.0));
    let full = w.spawn_with("Shooter", &[("Ammo", 25.0), ("ReserveAmmo", 90.0)]);
    w.hit("GE_Reload", full, full);
    assert_eq!((w.get(full, "Ammo"), w.get(full, "ReserveAmmo")), (30.0, 85.0));
}

// covers: UGAS-PACK.SHO-06
#[test]
fn a_hit_applies_zone_range_shield_and_immunity() {
    let mut w = shooter();
    let a = w.spawn("Shooter");
    let b = w.spawn_with("Shooter", &[("Shield", 50.0)]);
    let shot = |w: &World, target, zone: &str, distance| {
        let hit = Hit { distance: Some(distance), tags: vec![w.tag(zone)], position: None };
        w.spec("GE_BallisticDamage", target).from(a).hit(hit)
    };
    let state = |w: &World, who| (w.get(who, "EffectiveDamage"), w.get(who, "Shield"), w.get(who, "Health"));
    let head = shot(&w, b, "Hitzone.Head", 20.0);
    w.sim.apply(&head).unwrap();
    assert_eq!(state(&w, b), (50.0, 0.0, 100.0));
    let body = shot(&w, b, "Hitzone.Body", 20.0);
    w.sim.apply(&body).unwrap();
    assert_eq!(state(&w, b), (25.0, 0.0, 75.0));
    let far = shot(&w, b, "Hitzone.Body", 75.0);
    w.sim.apply(&far).unwrap();
    assert_eq!(state(&w, b), (12.5, 0.0, 62.5));
    let immune = SpawnSpec::sets([w.set("Shooter")]).tag(w.tag("Immunity.Ballistic"));
    let c = w.sim.spawn(immune).unwrap();
    let head = shot(&w, c, "Hitzone.Head", 20.0);
    w.sim.apply(&head).unwrap();
    assert_eq!(state(&w, c), (0.0, 0.0, 100.0));
}

// Magnitudes and context ----------------------------------------------------------------------------------------

// covers: UGAS-9.4-10
#[test]
fn a_calculator_gives_a_magnitude_and_an_unregistered_one_is_a_load_error() {
    let effect = || Effect::instant("GE_Hit").add("Health", Magnitude::calculation("MMC_CriticalDamage"));
    let calc = |b: ugas_core::RulesBuilder| {
        b.calc_fn("MMC_CriticalDamage", [Read::source("AttackPower"), Read::target("Mana")], |cx| {
            // Spec, source and target are all there; with the values of this test they cancel out.
            let rest = cx.source("AttackPower") * 5.0 - cx.target("Mana");
            cx.give(cx.level() as f64 * 2.0 + rest);
        })
    };
    let mut w = World::new(calc(Rules::builder().add(pair()).add(effect())));
    let who = w.spawn("S");
    let spec = w.spec("GE_Hit", who).from(who).level(4);
    w.sim.apply(&spec).unwrap();
    assert_eq!(w.get(who, "Health"), 108.0);
    let wrong = effect().add("Mana", Magnitude::calculation("MMC_CriticalDamge"));
    let error = calc(Rules::builder().add(pair()).add(wrong)).build().unwrap_err();
    assert_eq!(error.issues[0].code, "unknown-calculation");
    assert!(error.issues[0].message.contains("did you mean MMC_CriticalDamage?"), "{error}");
}

// covers: UGAS-9.9-03
#[test]
fn a_calculator_sees_the_whole_context_of_a_projectile_hit() {
    let seen: Arc<Mutex<Vec<Spec>>> = Arc::default();
    let into = seen.clone();
    let mut w = World::new(
        Rules::builder()
            .add(pair())
            .add(Ability::new("GA_Bolt"))
            .add(TagRegistry::new(["Hitzone.Head"]))
            .add(Effect::instant("GE_Bolt").execute("ExecCalc_Look"))
            .add(Effect::lasting("GE_Burn", 2.0).every(1.0).execute("ExecCalc_Look"))
            .calc_fn("ExecCalc_Look", [], move |cx| into.lock().unwrap().push(cx.spec().clone())),
    );
    let (a, b) = (w.spawn("S"), w.spawn("S"));
    let hit = Hit { position: Some([1.0, 2.0, 3.0]), distance: Some(12.5), tags: vec![w.tag("Hitzone.Head")] };
    let ability = w.rules.ability("GA_Bolt").unwrap();
    for effect in ["GE_Bolt", "GE_Burn"] {
        let mut spec = w.spec(effect, b).from(a).ability(ability).hit(hit.clone()).origin([9.0, 0.0, 9.0]);
        spec.extra().causer = Some(ugas_core::ActorId(77));
        spec.extra().object = 4711;
        w.sim.apply(&spec).unwrap();
    }
    w.sim.advance_to(SimTime::seconds(2.0));
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 3);
    for spec in seen.iter() {
        let extra = spec.extra.as_ref().unwrap();
        assert_eq!((spec.source, spec.target, spec.ability), (a, b, ability));
        assert_ne!(spec.ability, AbilityId::NONE);
        assert_eq!((extra.causer, extra.object), (Some(ugas_core::ActorId(77)), 4711));
        assert_eq!((extra.hit.as_ref(), extra.origin), (Some(&hit), Some([9.0, 0.0, 9.0])));
    }
}
