//! Texts with placeholders for numbers of the rules.

use std::sync::Arc;
use ugas_core::{Rules, Sim, SimConfig, SpawnSpec};
use ugas_doc::{Attribute, AttributeSet, Calculation, CalculationResult, Curve, Effect, Magnitude};

fn rules() -> Arc<Rules> {
    let vitals = AttributeSet::new("Vitals")
        .with(Attribute::new("Health", 100.0))
        .with(Attribute::new("Power", 10.0))
        .with(Attribute::new("Speed", 5.0));
    Rules::builder()
        .add(vitals)
        .add(Curve::new("C_Fire", [(1.0, 40.0), (2.0, 52.0)]))
        .add(
            Effect::instant("GE_Fireball").add("Health", Magnitude { value: Some(-1.0), ..Magnitude::curve("C_Fire") }),
        )
        .add(Effect::instant("GE_Blow").add("Health", Magnitude::attribute("Power").times(-1.5)))
        .add(Effect::lasting("GE_Burn", 4.5).add("Health", -2.0).add("Health", -1.25))
        .add(Effect::infinite("GE_Haste").multiply("Speed", 0.3))
        .build()
        .unwrap()
}

// covers: PEER-20
#[test]
fn a_text_shows_the_numbers_of_an_effect_at_a_level() {
    let rules = rules();
    let text = "Deals {GE_Fireball.Health} damage";
    assert_eq!(rules.fill_text(text, 1).text, "Deals 40 damage");
    let second = rules.fill_text(text, 2);
    assert_eq!(second.text, "Deals 52 damage");
    // A translation is another text with the same names.
    assert_eq!(second.values, [("GE_Fireball.Health".to_owned(), 52.0)]);
    assert_eq!(rules.fill_text("Macht {GE_Fireball.Health} Schaden", 2).text, "Macht 52 Schaden");
}

// covers: PEER-20
#[test]
fn a_text_shows_the_numbers_of_an_effect_for_its_owner() {
    let rules = rules();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let set = rules.set("Vitals").unwrap();
    let power = rules.attribute("Power").unwrap();
    let weak = sim.spawn(SpawnSpec::sets([set])).unwrap();
    let strong = sim.spawn(SpawnSpec { base: vec![(power, 30.0)], ..SpawnSpec::sets([set]) }).unwrap();
    let text = "{GE_Blow.Health} damage of {Power} power at level {Level}";
    assert_eq!(sim.fill_text(text, 3, weak).text, "15 damage of 10 power at level 3");
    assert_eq!(sim.fill_text(text, 3, strong).text, "45 damage of 30 power at level 3");
    let without_owner = rules.fill_text(text, 3);
    assert_eq!(without_owner.text, "{GE_Blow.Health} damage of {Power} power at level 3");
    assert_eq!(without_owner.missing, ["GE_Blow.Health", "Power"]);
}

#[test]
fn random_parts_are_not_shown_in_a_text() {
    let strike = Calculation::new("ExecCalc_Strike")
        .bind("crit", "roll(source.Luck)")
        .result(CalculationResult::add("Health", "-10 * if(crit, 3, 1)"));
    let rules = Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)).with(Attribute::new("Luck", 0.0)))
        .add(strike)
        .add(Effect::instant("GE_Strike").execute("ExecCalc_Strike"))
        .build()
        .unwrap();
    let (set, luck) = (rules.set("Vitals").unwrap(), rules.attribute("Luck").unwrap());
    let mut sim = Sim::new(rules, SimConfig::default());
    // A certain chance is not random.
    for (chance, text) in [(0.0, "10"), (0.5, "10"), (0.999, "10"), (1.0, "30")] {
        let who = sim.spawn(SpawnSpec { base: vec![(luck, chance)], ..SpawnSpec::sets([set]) }).unwrap();
        assert_eq!(sim.fill_text("{GE_Strike.Health}", 1, who).text, text, "{chance}");
    }
}

#[test]
fn durations_sums_and_factors_are_formatted_for_readers() {
    let rules = rules();
    let fill = |text: &str| rules.fill_text(text, 1).text;
    assert_eq!(fill("{GE_Burn.Health} for {GE_Burn.Duration} s"), "3.25 for 4.5 s");
    assert_eq!(fill("{GE_Haste.Speed} faster"), "30% faster");
}

#[test]
fn placeholders_that_name_nothing_stay_unchanged() {
    let rules = rules();
    for text in
        ["", "{", "}", "{}", "{{Level", "{a b}", "{GE_Nobody.Health}", "{GE_Burn.}", "{.}", "ö{ü}", "{GE_Burn.Period}"]
    {
        assert_eq!(rules.fill_text(text, 1).text, text);
    }
    assert_eq!(rules.fill_text("{{Level}}", 7).text, "{7}");
}
