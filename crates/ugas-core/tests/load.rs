//! What building rules refuses or warns of: every code once, each with a message a person can act on.

use std::sync::Arc;
use ugas_core::{LoadIssue, Rules, RulesBuilder, Severity, Sim, SimConfig};
use ugas_doc::{
    Ability, ActiveEffect, Attribute, AttributeSet, Bound, Controller, Curve, CurvePoint, Effect, ExecutionPolicy,
    GrantedAbility, GrantedAbilityEntry, ImmunityEntry, Magnitude, MagnitudeType, Modifier, Operation, Origin,
    SetValues, Stacking, TagEntry, TagRegistry,
};

fn vitals() -> AttributeSet {
    AttributeSet::new("Vitals")
        .with(Attribute::new("MaxHealth", 100.0))
        .with(Attribute::new("Health", 100.0).min(0.0).max("MaxHealth"))
}

fn base() -> RulesBuilder {
    Rules::builder().add(vitals())
}

/// The one error of this code.
fn error(builder: RulesBuilder, code: &str) -> LoadIssue {
    let error = match builder.build() {
        Ok(_) => panic!("no error; expected {code}"),
        Err(e) => e,
    };
    let found: Vec<&LoadIssue> =
        error.issues.iter().filter(|i| i.code == code && i.severity == Severity::Error).collect();
    assert_eq!(found.len(), 1, "expected one {code} in:\n{error}");
    found[0].clone()
}

/// The one warning of this code, from rules that were built.
fn warning(builder: RulesBuilder, code: &str) -> LoadIssue {
    let rules = builder.build().unwrap_or_else(|e| panic!("{e}"));
    let found: Vec<&LoadIssue> = rules.warnings().iter().filter(|i| i.code == code).collect();
    assert_eq!(found.len(), 1, "expected one {code} in {:?}", rules.warnings());
    assert_eq!(found[0].severity, Severity::Warning);
    found[0].clone()
}

#[track_caller]
fn says(issue: &LoadIssue, document: &str, parts: &[&str]) {
    assert_eq!(issue.document, document, "{issue}");
    for part in parts {
        assert!(issue.message.contains(part), "{part:?} is not in: {issue}");
    }
}

// Unknown names -------------------------------------------------------------------------------------------------

#[test]
fn an_unknown_attribute_names_the_place_and_the_nearest_spelling() {
    let issue = error(base().add(Effect::instant("GE_Hit").add("Helth", -5.0)), "unknown-attribute");
    says(&issue, "GE_Hit", &["Modifiers[0]", "Helth", "did you mean Health?"]);
    let bound = AttributeSet::new("Mana").with(Attribute::new("Mana", 1.0).max("MaxHelth"));
    says(&error(base().add(bound), "unknown-attribute"), "Mana", &["Clamping.Max", "did you mean MaxHealth?"]);
    let backing = Effect::infinite("GE_B").add("Health", Magnitude::attribute("Helth"));
    says(&error(base().add(backing), "unknown-attribute"), "GE_B", &["Modifiers[0].Magnitude", "did you mean Health?"]);
    let other = AttributeSet::new("Other").with(Attribute::new("Fuel", 1.0));
    let hero = Controller::new("Hero").set_values(SetValues::new("Vitals").base("Fuel", 3.0));
    says(&error(base().add(other).add(hero), "unknown-attribute"), "Hero", &["Vitals", "Fuel"]);
}

#[test]
fn an_unknown_effect_is_told_wherever_it_is_named() {
    let hit = || Effect::instant("GE_Blast").add("Health", -5.0);
    let mut then = Effect::lasting("GE_Bomb", 1.0);
    then.effects.get_or_insert_default().on_expired = vec!["GE_Blst".into()];
    says(
        &error(base().add(hit()).add(then), "unknown-effect"),
        "GE_Bomb",
        &["Effects.OnExpired", "GE_Blst", "did you mean GE_Blast?"],
    );
    let over = Stacking { overflow_effects: vec!["GE_Blst".into()], ..Stacking::default() };
    let stack = Effect::infinite("GE_Stack").stacking(over);
    says(&error(base().add(hit()).add(stack), "unknown-effect"), "GE_Stack", &["Stacking.OverflowEffects"]);
    let mut ward = Effect::infinite("GE_Ward");
    ward.immunity = vec![ImmunityEntry { effects: vec!["GE_Blst".into()], ..ImmunityEntry::default() }];
    says(&error(base().add(hit()).add(ward), "unknown-effect"), "GE_Ward", &["Immunity", "did you mean GE_Blast?"]);
    let hero = Controller::new("Hero").set("Vitals").effect("GE_Blst");
    says(&error(base().add(hit()).add(hero), "unknown-effect"), "Hero", &["ActiveEffects", "did you mean GE_Blast?"]);
}

#[test]
fn an_unknown_set_is_told_with_the_nearest_spelling() {
    let needy = AttributeSet::new("Derived").needs("Vitls").with(Attribute::new("X", 0.0));
    says(&error(base().add(needy), "unknown-set"), "Derived", &["Vitls", "did you mean Vitals?"]);
    let hero = Controller::new("Hero").set("Vitls");
    says(&error(base().add(hero), "unknown-set"), "Hero", &["Vitls", "did you mean Vitals?"]);
}

#[test]
fn an_unknown_ability_is_told_with_the_nearest_spelling() {
    let mut sword = Effect::infinite("GE_Sword");
    sword.granted_abilities = vec![GrantedAbilityEntry::new("GA_FlameStrik")];
    let builder = base().add(Ability::new("GA_FlameStrike")).add(sword);
    says(&error(builder, "unknown-ability"), "GE_Sword", &["GrantedAbilities", "did you mean GA_FlameStrike?"]);
    let hero = Controller::new("Hero").set("Vitals").ability("GA_FlameStrik");
    let builder = base().add(Ability::new("GA_FlameStrike")).add(hero);
    says(&error(builder, "unknown-ability"), "Hero", &["GrantedAbilities", "did you mean GA_FlameStrike?"]);
}

#[test]
fn an_unknown_calculation_is_told_for_executions_and_magnitudes() {
    let calc = |b: RulesBuilder| b.calc_fn("ExecCalc_Hit", [], |_| {});
    let run = Effect::instant("GE_Hit").execute("ExecCalc_Hot");
    says(&error(calc(base().add(run)), "unknown-calculation"), "GE_Hit", &["Executions[0]", "did you mean ExecCalc_Hit?"]);
    let give = Effect::instant("GE_Hit").add("Health", Magnitude::calculation("ExecCalc_Hot"));
    says(&error(calc(base().add(give)), "unknown-calculation"), "GE_Hit", &["Modifiers[0].Magnitude"]);
}

#[test]
fn an_unknown_curve_is_told_with_the_nearest_spelling() {
    let builder = base()
        .add(Curve::new("C_Damage", [(1.0, 10.0)]))
        .add(Effect::instant("GE_Hit").add("Health", Magnitude::curve("C_Damge")));
    says(&error(builder, "unknown-curve"), "GE_Hit", &["Modifiers[0].Magnitude", "did you mean C_Damage?"]);
}

#[test]
fn an_unknown_requirement_is_told_with_the_nearest_spelling() {
    let mut effect = Effect::instant("GE_Hit").add("Health", -5.0);
    effect.application_requirement = Some("Req_OnGrond".into());
    let builder = base().add(effect).requirement("Req_OnGround", |_| true);
    says(
        &error(builder, "unknown-hook"),
        "GE_Hit",
        &["ApplicationRequirement", "Req_OnGrond", "did you mean Req_OnGround?"],
    );
}

// Fields and numbers --------------------------------------------------------------------------------------------

#[test]
fn each_magnitude_type_says_which_field_it_misses() {
    let bare = |kind| Magnitude { kind, ..Magnitude::default() };
    let cases = [
        (MagnitudeType::ScalableFloat, "ScalableFloat needs Value or Curve"),
        (MagnitudeType::AttributeBased, "AttributeBased needs BackingAttribute"),
        (MagnitudeType::CustomCalculation, "CustomCalculation needs CalculatorClass"),
        (MagnitudeType::SetByCaller, "SetByCaller needs DataTag"),
    ];
    for (kind, wanted) in cases {
        let issue = error(base().add(Effect::instant("GE_Hit").add("Health", bare(kind))), "missing-field");
        says(&issue, "GE_Hit", &["Modifiers[0].Magnitude", wanted]);
        let issue = error(base().add(Effect::lasting("GE_Long", bare(kind))), "missing-field");
        says(&issue, "GE_Long", &["Duration", wanted]);
    }
    let mut none = Effect::lasting("GE_Long", 1.0);
    none.duration = None;
    says(&error(base().add(none), "missing-field"), "GE_Long", &["HasDuration needs Duration"]);
}

#[test]
fn an_attribute_without_a_default_is_told() {
    let mut bare = Attribute::new("Mana", 0.0);
    bare.default_base_value = None;
    let issue = error(Rules::builder().add(AttributeSet::new("S").with(bare)), "missing-default");
    says(&issue, "S", &["Mana", "DefaultBaseValue"]);
}

#[test]
fn numbers_that_are_not_finite_are_told_with_their_place() {
    for v in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let set = AttributeSet::new("S").with(Attribute::new("Mana", v));
        says(&error(Rules::builder().add(set), "not-finite"), "S", &["Mana", "DefaultBaseValue"]);
        let set = AttributeSet::new("S").with(Attribute::new("Mana", 0.0).min(Bound::Value(v)));
        says(&error(Rules::builder().add(set), "not-finite"), "S", &["Mana", "Clamping.Min"]);
        let effect = Effect::instant("GE_Hit").add("Health", v);
        says(&error(base().add(effect), "not-finite"), "GE_Hit", &["Modifiers[0].Magnitude"]);
        let effect = Effect::instant("GE_Hit").add("Health", Magnitude::attribute("Health").times(v));
        says(&error(base().add(effect), "not-finite"), "GE_Hit", &["Modifiers[0].Magnitude"]);
        let effect = Effect::lasting("GE_Long", v);
        says(&error(base().add(effect), "not-finite"), "GE_Long", &["Duration"]);
        let mut effect = Effect::instant("GE_Luck");
        effect.application_chance = Some(v.into());
        says(&error(base().add(effect), "not-finite"), "GE_Luck", &["ApplicationChance"]);
        let hero = Controller::new("Hero").set_values(SetValues::new("Vitals").base("Health", v));
        says(&error(base().add(hero), "not-finite"), "Hero", &["finite"]);
    }
}

#[test]
fn a_period_is_at_least_a_millisecond_and_zero_is_only_a_warning() {
    for bad in [0.0009, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        let issue = error(base().add(Effect::infinite("GE_Tick").every(bad)), "bad-period");
        says(&issue, "GE_Tick", &["Period", "0.001"]);
    }
    assert!(base().add(Effect::infinite("GE_Tick").every(0.001)).build().is_ok());
    let issue = warning(base().add(Effect::infinite("GE_Tick").every(0.0)), "zero-period");
    says(&issue, "GE_Tick", &["Period of 0"]);
}

#[test]
fn fields_that_do_nothing_are_warned_of() {
    let mut long = Effect::instant("GE_Now");
    long.duration = Some(3.0.into());
    says(&warning(base().add(long), "unused-field"), "GE_Now", &["Duration", "HasDuration"]);
    says(&warning(base().add(Effect::instant("GE_Now").every(1.0)), "unused-field"), "GE_Now", &["Period"]);
    let stack = Effect::instant("GE_Now").stacking(Stacking::default());
    says(&warning(base().add(stack), "unused-field"), "GE_Now", &["Stacking"]);
}

#[test]
fn stacking_allows_no_other_policy_and_no_limit_of_zero() {
    for policy in [ExecutionPolicy::RunInSequence, ExecutionPolicy::RunInMerge] {
        let effect = Effect::infinite("GE_Stack").stacking(Stacking::default()).policy(policy);
        says(&error(base().add(effect), "stacking-policy"), "GE_Stack", &["RunInParallel"]);
    }
    let zero = Effect::infinite("GE_Stack").stacking(Stacking { limit: Some(0), ..Stacking::default() });
    says(&error(base().add(zero), "bad-limit"), "GE_Stack", &["Stacking.Limit", "1"]);
}

#[test]
fn levels_start_at_one() {
    let mut sword = Effect::infinite("GE_Sword");
    sword.granted_abilities = vec![GrantedAbilityEntry { level: 0, ..GrantedAbilityEntry::new("GA_Hit") }];
    let builder = || base().add(Ability::new("GA_Hit")).add(Effect::infinite("GE_Aura"));
    says(&error(builder().add(sword), "bad-level"), "GE_Sword", &["GA_Hit", "1"]);
    let mut hero = Controller::new("Hero").set("Vitals");
    hero.granted_abilities = vec![GrantedAbility { level: 0, ..GrantedAbility::new("GA_Hit") }];
    says(&error(builder().add(hero), "bad-level"), "Hero", &["GA_Hit", "1"]);
    for (level, stacks) in [(0, 1), (1, 0)] {
        let mut hero = Controller::new("Hero").set("Vitals");
        hero.active_effects = vec![ActiveEffect { level, stacks, ..ActiveEffect::new("GE_Aura") }];
        says(&error(builder().add(hero), "bad-level"), "Hero", &["GE_Aura", "1"]);
    }
}

#[test]
fn a_curve_needs_points_with_rising_x() {
    says(&error(base().add(Curve::new("C", [])), "bad-curve"), "C", &["at least one point"]);
    says(&error(base().add(Curve::new("C", [(2.0, 1.0), (1.0, 1.0)])), "bad-curve"), "C", &["1 follows 2"]);
    let mut nan = Curve::new("C", [(1.0, 1.0)]);
    nan.points.push(CurvePoint { x: 2.0, y: f64::NAN });
    says(&error(base().add(nan), "bad-curve"), "C", &["not finite"]);
}

#[test]
fn an_expression_says_its_column() {
    let mut effect = Effect::instant("GE_Hit").add("Health", -5.0);
    effect.application_condition = Some("Helth < 30".into());
    let issue = error(base().add(effect.clone()), "bad-expression");
    says(&issue, "GE_Hit", &["ApplicationCondition", "column 1", "did you mean Health?"]);
    effect.application_condition = Some("Health < ".into());
    says(&error(base().add(effect), "bad-expression"), "GE_Hit", &["column 10", "expected"]);
    let set = AttributeSet::new("S").with(Attribute::derived("Power", "1 + * 2"));
    says(&error(Rules::builder().add(set), "bad-expression"), "S", &["Power: DerivedFrom", "column 5"]);
    let set = AttributeSet::new("D").with(Attribute::derived("Power", "source.Health * 2"));
    says(&error(base().add(set), "bad-expression"), "D", &["Power", "own controller"]);
}

// Names and sets ------------------------------------------------------------------------------------------------

#[test]
fn a_circle_of_attributes_names_both() {
    let set = AttributeSet::new("S").with(Attribute::new("A", 1.0).max("B")).with(Attribute::new("B", 1.0).max("A"));
    let issue = error(Rules::builder().add(set), "cycle");
    says(&issue, "S", &["A", "B", "circle"]);
    let set = AttributeSet::new("S").with(Attribute::derived("A", "B + 1")).with(Attribute::derived("B", "A + 1"));
    says(&error(Rules::builder().add(set), "cycle"), "S", &["A", "B"]);
    let set = AttributeSet::new("S").with(Attribute::new("A", 1.0).max("A"));
    says(&error(Rules::builder().add(set), "cycle"), "S", &["A → A"]);
}

#[test]
fn a_circle_of_sets_is_told() {
    let builder = Rules::builder()
        .add(AttributeSet::new("One").needs("Two").with(Attribute::new("A", 1.0)))
        .add(AttributeSet::new("Two").needs("One").with(Attribute::new("B", 1.0)));
    let failed = builder.build().unwrap_err();
    let issue = failed.issues.iter().find(|i| i.code == "cycle").unwrap();
    assert!(issue.message.contains("circle"), "{issue}");
    assert!(["One", "Two"].iter().all(|s| issue.to_string().contains(s)), "names both sets: {issue}");
}

#[test]
fn a_name_defined_twice_is_told() {
    says(&error(base().add(vitals()), "duplicate-name"), "Vitals", &["attribute_set"]);
    let hit = || Effect::instant("GE_Hit").add("Health", -5.0);
    says(&error(base().add(hit()).add(hit()), "duplicate-name"), "GE_Hit", &["gameplay_effect"]);
    let twice = AttributeSet::new("S").with(Attribute::new("A", 1.0)).with(Attribute::new("A", 2.0));
    says(&error(Rules::builder().add(twice), "duplicate-name"), "S", &["A twice"]);
    let calc = |b: RulesBuilder| b.calc_fn("ExecCalc_Hit", [], |_| {});
    says(&error(calc(calc(base())), "duplicate-name"), "ExecCalc_Hit", &["calculator"]);
    let old = calc(base()).build().unwrap();
    says(&error(calc(calc(base().after(old))), "duplicate-name"), "ExecCalc_Hit", &["calculator"]);
}

#[test]
fn a_bad_tag_is_told_with_the_right_form() {
    for bad in ["state.alive", "State..Alive", "State.Debuff.", "State_Alive", "", "State.1"] {
        let issue = error(base().add(Effect::infinite("GE_T").grants(bad)), "bad-tag");
        says(&issue, "GE_T", &[bad, "State.Debuff"]);
    }
    let issue = error(base().add(TagRegistry::new(["alive"])), "bad-tag");
    assert!(issue.message.contains("alive"), "{issue}");
}

#[test]
fn an_undeclared_tag_is_warned_of_with_the_nearest_spelling() {
    let registry = TagRegistry::new(["State.Debuff.Stunned"]);
    let builder = base().add(registry).add(Effect::infinite("GE_Stun").grants("State.Debuff.Stuned"));
    let issue = warning(builder, "undeclared-tag");
    says(&issue, "GE_Stun", &["State.Debuff.Stuned", "did you mean State.Debuff.Stunned?"]);
}

#[test]
fn odd_tags_are_warned_of() {
    let deep = TagRegistry::new(["A.B.C.D.E.F"]);
    let issue = warning(base().add(deep), "tag-depth");
    says(&issue, "A.B.C.D.E.F", &["five levels"]);
    let registry = || TagRegistry::new(["State.Debuff", "State.Debuff.Stunned", "Fx.Fire", "GameplayCue.Fire"]);
    let issue = warning(base().add(registry()).add(Effect::infinite("GE_D").grants("State.Debuff")), "parent-granted");
    says(&issue, "GE_D", &["State.Debuff", "State.Debuff.Stunned"]);
    let issue = warning(base().add(registry()).add(Effect::infinite("GE_C").cue("Fx.Fire")), "cue-prefix");
    says(&issue, "GE_C", &["Fx.Fire", "GameplayCue."]);
    let quiet = base().add(registry()).add(Effect::infinite("GE_C").cue("GameplayCue.Fire")).build().unwrap();
    assert!(quiet.warnings().is_empty(), "{:?}", quiet.warnings());
    let twice = TagRegistry { tags: vec![TagEntry { allow_multiple: true, ..TagEntry::new("State.Debuff") }] };
    let issue = warning(base().add(registry()).add(twice), "tag-conflict");
    assert!(issue.message.contains("State.Debuff") && issue.message.contains("AllowMultiple"), "{issue}");
}

#[test]
fn sets_and_controllers_are_not_empty() {
    says(&error(Rules::builder().add(AttributeSet::new("S")), "empty-set"), "S", &["no attributes"]);
    says(&error(base().add(Controller::new("Hero")), "no-sets"), "Hero", &["at least one attribute set"]);
}

// As a whole ----------------------------------------------------------------------------------------------------

#[test]
fn everything_that_is_wrong_is_told_at_once_with_file_and_line() {
    let failed = base()
        .add_at(Effect::instant("GE_A").add("Helth", 1.0).add("Manna", 1.0), Origin::new("packs/a.yaml", 3))
        .add_at(Effect::infinite("GE_B").every(-1.0), Origin::new("packs/b.yaml", 9))
        .build()
        .unwrap_err();
    assert_eq!(failed.issues.len(), 3, "{failed}");
    let text = failed.to_string();
    assert!(text.contains("packs/a.yaml:3: error[unknown-attribute]: GE_A: Modifiers[0]"), "{text}");
    assert!(text.contains("packs/b.yaml:9: error[bad-period]: GE_B"), "{text}");
}

fn first_rules() -> Arc<Rules> {
    base()
        .add(TagRegistry::new(["State.Alive", "State.Dead", "Team.Red"]))
        .add(Curve::new("C_Damage", [(1.0, 10.0)]))
        .add(Ability::new("GA_Hit"))
        .add(Effect::infinite("GE_Aura").add("Health", 5.0).grants("Team.Red"))
        .add(Effect::instant("GE_Hit").add("Health", Magnitude::set_by_caller("Data.Damage")))
        .add(Controller::new("Hero").set("Vitals"))
        .build()
        .unwrap()
}

#[test]
fn ids_stay_the_same_when_rules_are_built_after_older_ones() {
    let old = first_rules();
    // A tag in the middle of the registry, an effect before the others, and one effect less.
    let new = Rules::builder()
        .after(old.clone())
        .add(AttributeSet::new("Early").with(Attribute::new("Armor", 0.0)))
        .add(vitals())
        .add(TagRegistry::new(["State.Alive", "State.Afraid", "State.Dead", "Team.Red"]))
        .add(Curve::new("C_Armor", [(1.0, 1.0)]))
        .add(Curve::new("C_Damage", [(1.0, 10.0)]))
        .add(Ability::new("GA_Early"))
        .add(Ability::new("GA_Hit"))
        .add(Effect::infinite("GE_Early").add("Armor", 5.0))
        .add(Effect::instant("GE_Hit").add("Health", Magnitude::set_by_caller("Data.Damage")))
        .add(Controller::new("Early").set("Early"))
        .add(Controller::new("Hero").set("Vitals"))
        .build()
        .unwrap();
    for tag in ["State", "State.Alive", "State.Dead", "Team.Red"] {
        assert_eq!(old.tag(tag), new.tag(tag), "{tag}");
        assert_eq!(new.tag_name(old.tag(tag).unwrap()), Some(tag));
    }
    for name in ["Health", "MaxHealth"] {
        assert_eq!(old.attribute(name), new.attribute(name));
    }
    assert_eq!(old.set("Vitals"), new.set("Vitals"));
    assert_eq!(old.effect("GE_Hit"), new.effect("GE_Hit"));
    assert_eq!(old.ability("GA_Hit"), new.ability("GA_Hit"));
    assert_eq!(old.curve("C_Damage"), new.curve("C_Damage"));
    assert_eq!(old.key("Data.Damage"), new.key("Data.Damage"));
    assert_eq!(old.template("Hero"), new.template("Hero"));
    // The tree is the new one although the ids are old: presence of a parent follows the middle tag too.
    let (afraid, state) = (new.tag("State.Afraid").unwrap(), new.tag("State").unwrap());
    assert!(new.tag_is_under(afraid, state));
    // What is gone is a tombstone: its id means nothing else, and applying it is a typed refusal.
    let gone = old.effect("GE_Aura").unwrap();
    assert_eq!(new.effect("GE_Aura"), None);
    let mut sim = Sim::new(new.clone(), SimConfig::default());
    let hero = sim.spawn(ugas_core::SpawnSpec::template(new.template("Hero").unwrap())).unwrap();
    let refused = sim.apply(&ugas_core::Spec::new(gone, hero)).unwrap_err();
    assert_eq!(refused.kind(), "UnknownName");
}

#[test]
fn what_no_document_defines_any_more_is_unknown_to_new_rules() {
    let old = first_rules();
    let after = || base().after(old.clone());
    let mut then = Effect::lasting("GE_Bomb", 1.0);
    then.effects.get_or_insert_default().on_expired = vec!["GE_Aura".into()];
    says(&error(after().add(then), "unknown-effect"), "GE_Bomb", &["GE_Aura"]);
    let curved = Effect::instant("GE_C").add("Health", Magnitude::curve("C_Damage"));
    says(&error(after().add(curved), "unknown-curve"), "GE_C", &["C_Damage"]);
    let hero = Controller::new("Hero").set("Vitals").ability("GA_Hit");
    says(&error(after().add(hero), "unknown-ability"), "Hero", &["GA_Hit"]);
    let only = AttributeSet::new("Vitals").with(Attribute::new("Health", 1.0));
    let stale = Effect::infinite("GE_Max").add("MaxHealth", 1.0);
    says(&error(Rules::builder().after(old).add(only).add(stale), "unknown-attribute"), "GE_Max", &["MaxHealth"]);
}

#[test]
fn a_read_of_an_attribute_that_no_set_has_does_not_make_it_exist() {
    let builder = base()
        .add(Effect::instant("GE_Hit").modify(Modifier::new("Helth", Operation::Add, -5.0)).execute("ExecCalc_Slip"))
        .calc_fn("ExecCalc_Slip", [ugas_core::Read::target("Helth")], |_| {});
    says(&error(builder, "unknown-attribute"), "GE_Hit", &["Helth", "did you mean Health?"]);
}
