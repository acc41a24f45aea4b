//! Arbitrary text as expressions, in every field that takes an expression. For all attribute values, a compiled
//! expression returns a finite number or a refusal. A compile error has a position.

use super::Done;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, ControllerId, Hit, Rules, RulesBuilder, Sim, SimConfig, SimTime, SpawnSpec, Spec, Target,
};
use ugas_doc::{
    Ability, Attribute, AttributeSet, Calculation, CalculationResult, Curve, Effect, Execution, Magnitude, Modifier,
    Operation, TagRegistry, Value,
};

/// The initial attribute values; each expression is evaluated with all of them.
const NUMBERS: [f64; 12] =
    [0.0, 1.0, -1.0, 0.5, 100.0, -0.0, 1e-300, 1e300, -1e300, 12_345.678, 4_503_599_627_370_497.5, f64::MIN_POSITIVE];

/// Compiles and evaluates.
pub fn expressions(bytes: &[u8], done: Done<'_>) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines: Vec<&str> = text.lines().collect();
    let Some((last, before)) = lines.split_last() else { return };
    let mut calculation = Calculation::new("ExecCalc_Fuzz");
    for (i, line) in before.iter().enumerate() {
        calculation = calculation.bind(format!("v{i}"), *line);
    }
    let mut execution = Execution::new("ExecCalc_Fuzz");
    execution.params.insert("Scale".into(), Value::Number(2.5));
    let result =
        CalculationResult { when: before.first().map(|l| (*l).into()), ..CalculationResult::add("Health", *last) };
    let magnitude = Modifier::new("Mana", Operation::Add, Magnitude::calculation("MMC_Fuzz"));
    let worlds = [
        base()
            .add(calculation.clone().result(result))
            .add(Effect { executions: vec![execution], ..Effect::lasting("GE_Fuzz", 1.0).every(0.25) }),
        base()
            .add(Calculation { name: "MMC_Fuzz".into(), ..calculation.gives(*last) })
            .add(Effect::infinite("GE_Fuzz").modify(magnitude)),
        base()
            .add(Effect { application_condition: Some((*last).into()), ..Effect::instant("GE_Fuzz").add("Mana", 1.0) }),
        base().add(AttributeSet::new("More").with(Attribute::derived("Derived", *last))).add(change()),
        base().add(Ability { activation_condition: Some((*last).into()), ..Ability::new("GA_Fuzz") }).add(change()),
    ];
    let seed = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
    done("");
    for world in worlds {
        let built = world.build();
        done("compile");
        match built {
            Ok(rules) => (0..3).for_each(|turn| play(&rules, seed.rotate_left(turn * 21))),
            Err(error) => assert!(error.issues.iter().all(|i| !i.message.is_empty() && !i.code.is_empty())),
        }
        done("play");
    }
}

fn base() -> RulesBuilder {
    let set = ["Health", "Mana", "Armor", "Power"]
        .into_iter()
        .fold(AttributeSet::new("S"), |set, name| set.with(Attribute::new(name, 1.0)));
    Rules::builder()
        .add(set)
        .add(TagRegistry::new(["State.Alive", "Hitzone.Head", "Hit.Critical"]))
        .add(Curve::new("C", [(0.0, 1.0), (10.0, 2.0), (20.0, 0.5)]))
}

fn change() -> Effect {
    Effect::instant("GE_Fuzz").add("Mana", 3.0).add("Health", -7.0)
}

fn play(rules: &Arc<Rules>, seed: u64) {
    let mut sim = Sim::new(rules.clone(), SimConfig { seed, ..SimConfig::default() });
    let mut draw = seed;
    let mut spawn = |sim: &mut Sim| {
        let sets = ["S", "More"].into_iter().filter_map(|name| rules.find_set(name));
        let mut spec = SpawnSpec::sets(sets);
        for name in ["Health", "Mana", "Armor", "Power"] {
            spec = spec.base(rules.attribute(name).expect("it is in the set"), NUMBERS[(draw % 12) as usize]);
            draw = draw / 12 + 7;
        }
        sim.spawn(spec).ok()
    };
    // A derived attribute may have no finite value; then the spawn is refused.
    let (Some(a), Some(b)) = (spawn(&mut sim), spawn(&mut sim)) else { return };
    let effect = rules.effect("GE_Fuzz").expect("every world has it");
    let mut spec = Spec::new(effect, b).from(a).level(1 + (seed % 5) as u32).hit(Hit {
        distance: Some(NUMBERS[(seed % 12) as usize].abs()),
        tags: rules.find_tag("Hitzone.Head").into_iter().collect(),
        ..Hit::default()
    });
    if let Some(key) = rules.find_key("Key") {
        spec = spec.set(key, 4.0);
    }
    let _ = sim.apply(&spec);
    finite(&sim, rules, [a, b]);
    if let Some(ability) = rules.find_ability("GA_Fuzz")
        && sim.grant(a, AbilityGrant::new(ability)).is_ok()
    {
        let _ = sim.activate(a, ability, Target::Controller(b));
    }
    sim.advance_to(SimTime::seconds(1.0));
    finite(&sim, rules, [a, b]);
}

fn finite(sim: &Sim, rules: &Rules, who: [ControllerId; 2]) {
    for who in who {
        for attribute in sim.attributes(who).unwrap_or_default() {
            let value = sim.get(who, attribute).expect("it has it");
            assert!(value.is_finite(), "{:?} is {value}", rules.attribute_name(attribute));
            assert!(sim.explain(who, attribute).is_ok());
        }
    }
}
