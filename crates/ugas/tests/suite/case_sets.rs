//! The sets of chapter 15 and the tag registry of appendix B load as written.

use std::sync::Arc;
use ugas::core::BoundDef;
use ugas::doc::Category;
use ugas::prelude::*;

fn load(text: &str) -> Arc<Rules> {
    let warm = Effect::instant("GE_Heat").add("TireTemperature", 100.0);
    let builder = if text.contains("TireTemperature") { Rules::builder().add(warm) } else { Rules::builder() };
    load_str("set.yaml", text, builder).unwrap()
}

/// Name, default, category and fixed bounds of every attribute.
type Shown<'r> = Vec<(&'r str, f64, Category, Option<(f64, f64)>)>;

fn shown<'r>(rules: &'r Rules, set: &str) -> Shown<'r> {
    let set = rules.set_attributes(rules.set(set).unwrap()).unwrap();
    let bounds = |a: &ugas::core::AttributeDef| match (a.min, a.max) {
        (BoundDef::Value(lo), BoundDef::Value(hi)) => Some((lo, hi)),
        _ => None,
    };
    set.iter().map(|a| (rules.attribute_name(a.attribute).unwrap(), a.default, a.category, bounds(a))).collect()
}

// covers: UGAS-15.1-01
#[test]
fn the_platformer_set_has_the_specified_attributes() {
    let rules = load(
        "
Kind: attribute_set
Name: PlatformerMovementSet
Attributes:
  - {Name: GravityScale, DefaultBaseValue: 1.0}
  - {Name: JumpVelocity, DefaultBaseValue: 1200}
  - {Name: AirControl, DefaultBaseValue: 0.65, Clamping: {Min: 0, Max: 1}}
  - {Name: CoyoteTimeDuration, DefaultBaseValue: 0.15}
  - {Name: JumpBufferDuration, DefaultBaseValue: 0.1}
  - {Name: VerticalVelocity, DefaultBaseValue: 0, Category: Meta}
  - {Name: HorizontalSpeed, DefaultBaseValue: 600}
",
    );
    use Category::{Meta, Statistic};
    let want = [
        ("GravityScale", 1.0, Statistic, None),
        ("JumpVelocity", 1200.0, Statistic, None),
        ("AirControl", 0.65, Statistic, Some((0.0, 1.0))),
        ("CoyoteTimeDuration", 0.15, Statistic, None),
        ("JumpBufferDuration", 0.1, Statistic, None),
        ("VerticalVelocity", 0.0, Meta, None),
        ("HorizontalSpeed", 600.0, Statistic, None),
    ];
    assert_eq!(shown(&rules, "PlatformerMovementSet"), want);
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([rules.set("PlatformerMovementSet").unwrap()])).unwrap();
    for (name, default, _, _) in want {
        assert_eq!(sim.get(who, rules.attribute(name).unwrap()).unwrap(), default, "{name}");
    }
}

// covers: UGAS-15.2-01
#[test]
fn the_vehicle_set_has_the_specified_attributes() {
    let rules = load(
        "
Kind: attribute_set
Name: VehiclePerformanceSet
Attributes:
  - {Name: EngineTorque, DefaultBaseValue: 400}
  - {Name: EngineRPM, DefaultBaseValue: 0, Category: Meta}
  - {Name: MaxSpeed, DefaultBaseValue: 250}
  - {Name: TireGripMultiplier, DefaultBaseValue: 1}
  - {Name: AeroDownforce, DefaultBaseValue: 100}
  - {Name: TireTemperature, DefaultBaseValue: 80, Clamping: {Min: 20, Max: 150}}
",
    );
    use Category::{Meta, Statistic};
    let want = [
        ("EngineTorque", 400.0, Statistic, None),
        ("EngineRPM", 0.0, Meta, None),
        ("MaxSpeed", 250.0, Statistic, None),
        ("TireGripMultiplier", 1.0, Statistic, None),
        ("AeroDownforce", 100.0, Statistic, None),
        ("TireTemperature", 80.0, Statistic, Some((20.0, 150.0))),
    ];
    assert_eq!(shown(&rules, "VehiclePerformanceSet"), want);
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let car = sim.spawn(SpawnSpec::sets([rules.set("VehiclePerformanceSet").unwrap()])).unwrap();
    sim.apply(&Spec::new(rules.effect("GE_Heat").unwrap(), car)).unwrap();
    assert_eq!(sim.get(car, rules.attribute("TireTemperature").unwrap()).unwrap(), 150.0);
}

// covers: UGAS-B.EX-06
#[test]
fn the_example_registry_has_eight_tags_and_one_allows_multiple() {
    let text = "
Kind: gameplay_tag
Tags:
  - {Tag: State.Alive, Description: 'Actor is alive'}
  - {Tag: State.Dead}
  - {Tag: State.Combat}
  - {Tag: Debuff.Stunned}
  - {Tag: Debuff.Silenced}
  - {Tag: Buff.Regenerating}
  - {Tag: Ability.Magic.Fireball}
  - {Tag: Ability.Offensive, AllowMultiple: true}
";
    let documents = ugas::data::read_str("tags.yaml", text).unwrap();
    let [loaded] = documents.docs.as_slice() else { panic!("one document: {documents:?}") };
    let Doc::TagRegistry(registry) = &loaded.doc else { panic!("a registry: {documents:?}") };
    let often: Vec<&str> = registry.tags.iter().filter(|t| t.allow_multiple).map(|t| t.tag.as_str()).collect();
    assert_eq!((registry.tags.len(), often), (8, vec!["Ability.Offensive"]));

    // A second grant of a single tag is reported; one of a tag with AllowMultiple is not.
    let set = AttributeSet::new("S").with(Attribute::new("Health", 1.0));
    let [one, often] = ["State.Combat", "Ability.Offensive"];
    let builder = Rules::builder().add(set).add(Effect::infinite("GE_One").grants(one));
    let builder = builder.add(Effect::infinite("GE_Often").grants(often));
    let rules = load_str("tags.yaml", text, builder).unwrap();
    assert!(registry.tags.iter().all(|t| rules.find_tag(&t.tag).is_some()));
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
    let mut diagnostics = Vec::new();
    for effect in ["GE_One", "GE_One", "GE_Often", "GE_Often"] {
        sim.apply(&Spec::new(rules.effect(effect).unwrap(), who)).unwrap();
    }
    sim.take_diagnostics(&mut diagnostics);
    let kinds: Vec<_> = diagnostics.iter().map(|d| d.kind).collect();
    assert_eq!(kinds, [ugas::core::DiagnosticKind::MultipleGrants { tag: rules.tag(one).unwrap() }]);
}
