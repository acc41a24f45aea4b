//! Errors and warnings for references, fields and numbers when rules are built. Each code occurs once, with a message
//! that says what to do.

use crate::kit::world::load::{assert_issue, base, error, warning};
use ugas_core::{Rules, RulesBuilder};
use ugas_doc::{
    Ability, ActiveEffect, Attribute, AttributeSet, Bound, Controller, Curve, CurvePoint, Effect, ExecutionPolicy,
    GrantedAbility, GrantedAbilityEntry, ImmunityEntry, Magnitude, MagnitudeType, SetValues, Stacking,
};

// Unknown names -------------------------------------------------------------------------------------------------

#[test]
fn an_unknown_attribute_is_reported_with_its_location_and_the_nearest_name() {
    let issue = error(base().add(Effect::instant("GE_Hit").add("Helth", -5.0)), "unknown-attribute");
    assert_issue(&issue, "GE_Hit", &["Modifiers[0]", "Helth", "did you mean Health?"]);
    let bound = AttributeSet::new("Mana").with(Attribute::new("Mana", 1.0).max("MaxHelth"));
    assert_issue(&error(base().add(bound), "unknown-attribute"), "Mana", &["Clamping.Max", "did you mean MaxHealth?"]);
    let backing = Effect::infinite("GE_B").add("Health", Magnitude::attribute("Helth"));
    assert_issue(
        &error(base().add(backing), "unknown-attribute"),
        "GE_B",
        &["Modifiers[0].Magnitude", "did you mean Health?"],
    );
    let other = AttributeSet::new("Other").with(Attribute::new("Fuel", 1.0));
    let hero = Controller::new("Hero").set_values(SetValues::new("Vitals").base("Fuel", 3.0));
    assert_issue(&error(base().add(other).add(hero), "unknown-attribute"), "Hero", &["Vitals", "Fuel"]);
}

#[test]
fn an_unknown_effect_is_reported_everywhere_with_the_nearest_name() {
    let hit = || Effect::instant("GE_Blast").add("Health", -5.0);
    let mut then = Effect::lasting("GE_Bomb", 1.0);
    then.effects.get_or_insert_default().on_expired = vec!["GE_Blst".into()];
    assert_issue(
        &error(base().add(hit()).add(then), "unknown-effect"),
        "GE_Bomb",
        &["Effects.OnExpired", "GE_Blst", "did you mean GE_Blast?"],
    );
    let over = Stacking { overflow_effects: vec!["GE_Blst".into()], ..Stacking::default() };
    let stack = Effect::infinite("GE_Stack").stacking(over);
    assert_issue(&error(base().add(hit()).add(stack), "unknown-effect"), "GE_Stack", &["Stacking.OverflowEffects"]);
    let mut ward = Effect::infinite("GE_Ward");
    ward.immunity = vec![ImmunityEntry { effects: vec!["GE_Blst".into()], ..ImmunityEntry::default() }];
    assert_issue(
        &error(base().add(hit()).add(ward), "unknown-effect"),
        "GE_Ward",
        &["Immunity", "did you mean GE_Blast?"],
    );
    let hero = Controller::new("Hero").set("Vitals").effect("GE_Blst");
    assert_issue(
        &error(base().add(hit()).add(hero), "unknown-effect"),
        "Hero",
        &["ActiveEffects", "did you mean GE_Blast?"],
    );
}

#[test]
fn an_unknown_set_is_reported_with_the_nearest_name() {
    let needy = AttributeSet::new("Derived").needs("Vitls").with(Attribute::new("X", 0.0));
    assert_issue(&error(base().add(needy), "unknown-set"), "Derived", &["Vitls", "did you mean Vitals?"]);
    let hero = Controller::new("Hero").set("Vitls");
    assert_issue(&error(base().add(hero), "unknown-set"), "Hero", &["Vitls", "did you mean Vitals?"]);
}

#[test]
fn an_unknown_ability_is_reported_with_the_nearest_name() {
    let mut sword = Effect::infinite("GE_Sword");
    sword.granted_abilities = vec![GrantedAbilityEntry::new("GA_FlameStrik")];
    let builder = base().add(Ability::new("GA_FlameStrike")).add(sword);
    assert_issue(&error(builder, "unknown-ability"), "GE_Sword", &["GrantedAbilities", "did you mean GA_FlameStrike?"]);
    let hero = Controller::new("Hero").set("Vitals").ability("GA_FlameStrik");
    let builder = base().add(Ability::new("GA_FlameStrike")).add(hero);
    assert_issue(&error(builder, "unknown-ability"), "Hero", &["GrantedAbilities", "did you mean GA_FlameStrike?"]);
}

#[test]
fn an_unknown_calculation_is_reported_for_executions_and_magnitudes() {
    let calc = |b: RulesBuilder| b.calc_fn("ExecCalc_Hit", [], |_| {});
    let run = Effect::instant("GE_Hit").execute("ExecCalc_Hot");
    assert_issue(
        &error(calc(base().add(run)), "unknown-calculation"),
        "GE_Hit",
        &["Executions[0]", "did you mean ExecCalc_Hit?"],
    );
    let give = Effect::instant("GE_Hit").add("Health", Magnitude::calculation("ExecCalc_Hot"));
    assert_issue(&error(calc(base().add(give)), "unknown-calculation"), "GE_Hit", &["Modifiers[0].Magnitude"]);
}

#[test]
fn an_unknown_curve_is_reported_with_the_nearest_name() {
    let builder = base()
        .add(Curve::new("C_Damage", [(1.0, 10.0)]))
        .add(Effect::instant("GE_Hit").add("Health", Magnitude::curve("C_Damge")));
    assert_issue(&error(builder, "unknown-curve"), "GE_Hit", &["Modifiers[0].Magnitude", "did you mean C_Damage?"]);
}

#[test]
fn an_unknown_requirement_is_reported_with_the_nearest_name() {
    let mut effect = Effect::instant("GE_Hit").add("Health", -5.0);
    effect.application_requirement = Some("Req_OnGrond".into());
    let builder = base().add(effect).requirement("Req_OnGround", |_| true);
    assert_issue(
        &error(builder, "unknown-hook"),
        "GE_Hit",
        &["ApplicationRequirement", "Req_OnGrond", "did you mean Req_OnGround?"],
    );
}

// Fields and numbers --------------------------------------------------------------------------------------------

#[test]
fn each_magnitude_type_reports_its_missing_field() {
    let bare = |kind| Magnitude { kind, ..Magnitude::default() };
    let cases = [
        (MagnitudeType::ScalableFloat, "ScalableFloat needs Value or Curve"),
        (MagnitudeType::AttributeBased, "AttributeBased needs BackingAttribute"),
        (MagnitudeType::CustomCalculation, "CustomCalculation needs CalculatorClass"),
        (MagnitudeType::SetByCaller, "SetByCaller needs DataTag"),
    ];
    for (kind, wanted) in cases {
        let issue = error(base().add(Effect::instant("GE_Hit").add("Health", bare(kind))), "missing-field");
        assert_issue(&issue, "GE_Hit", &["Modifiers[0].Magnitude", wanted]);
        let issue = error(base().add(Effect::lasting("GE_Long", bare(kind))), "missing-field");
        assert_issue(&issue, "GE_Long", &["Duration", wanted]);
    }
    let mut none = Effect::lasting("GE_Long", 1.0);
    none.duration = None;
    assert_issue(&error(base().add(none), "missing-field"), "GE_Long", &["HasDuration needs Duration"]);
}

#[test]
fn an_attribute_without_a_default_is_reported() {
    let mut bare = Attribute::new("Mana", 0.0);
    bare.default_base_value = None;
    let issue = error(Rules::builder().add(AttributeSet::new("S").with(bare)), "missing-default");
    assert_issue(&issue, "S", &["Mana", "DefaultBaseValue"]);
}

#[test]
fn non_finite_numbers_are_reported_with_their_location() {
    for v in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let set = AttributeSet::new("S").with(Attribute::new("Mana", v));
        assert_issue(&error(Rules::builder().add(set), "not-finite"), "S", &["Mana", "DefaultBaseValue"]);
        let set = AttributeSet::new("S").with(Attribute::new("Mana", 0.0).min(Bound::Value(v)));
        assert_issue(&error(Rules::builder().add(set), "not-finite"), "S", &["Mana", "Clamping.Min"]);
        let effect = Effect::instant("GE_Hit").add("Health", v);
        assert_issue(&error(base().add(effect), "not-finite"), "GE_Hit", &["Modifiers[0].Magnitude"]);
        let effect = Effect::instant("GE_Hit").add("Health", Magnitude::attribute("Health").times(v));
        assert_issue(&error(base().add(effect), "not-finite"), "GE_Hit", &["Modifiers[0].Magnitude"]);
        let effect = Effect::lasting("GE_Long", v);
        assert_issue(&error(base().add(effect), "not-finite"), "GE_Long", &["Duration"]);
        let mut effect = Effect::instant("GE_Luck");
        effect.application_chance = Some(v.into());
        assert_issue(&error(base().add(effect), "not-finite"), "GE_Luck", &["ApplicationChance"]);
        let hero = Controller::new("Hero").set_values(SetValues::new("Vitals").base("Health", v));
        assert_issue(&error(base().add(hero), "not-finite"), "Hero", &["finite"]);
    }
}

#[test]
fn a_period_is_at_least_a_millisecond_and_zero_is_only_a_warning() {
    for bad in [0.0009, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        let issue = error(base().add(Effect::infinite("GE_Tick").every(bad)), "bad-period");
        assert_issue(&issue, "GE_Tick", &["Period", "0.001"]);
    }
    assert!(base().add(Effect::infinite("GE_Tick").every(0.001)).build().is_ok());
    assert_issue(
        &error(base().add(Effect::instant("GE_Now").every(1.0)), "bad-period"),
        "GE_Now",
        &["Instant", "Period"],
    );
    let issue = warning(base().add(Effect::infinite("GE_Tick").every(0.0)), "zero-period");
    assert_issue(&issue, "GE_Tick", &["Period", "with 0 s, the effect is not periodic"]);
}

#[test]
fn fields_without_effect_are_warnings() {
    let mut long = Effect::instant("GE_Now");
    long.duration = Some(3.0.into());
    assert_issue(&warning(base().add(long), "unused-field"), "GE_Now", &["Duration", "HasDuration"]);
    let stack = Effect::instant("GE_Now").stacking(Stacking::default());
    assert_issue(&warning(base().add(stack), "unused-field"), "GE_Now", &["Stacking"]);
}

#[test]
fn stacking_allows_no_other_policy_and_no_limit_of_zero() {
    for policy in [ExecutionPolicy::RunInSequence, ExecutionPolicy::RunInMerge] {
        let effect = Effect::infinite("GE_Stack").stacking(Stacking::default()).policy(policy);
        assert_issue(&error(base().add(effect), "stacking-policy"), "GE_Stack", &["RunInParallel"]);
    }
    let zero = Effect::infinite("GE_Stack").stacking(Stacking { limit: Some(0), ..Stacking::default() });
    assert_issue(&error(base().add(zero), "bad-limit"), "GE_Stack", &["Stacking.Limit", "1"]);
}

#[test]
fn levels_start_at_one() {
    let mut sword = Effect::infinite("GE_Sword");
    sword.granted_abilities = vec![GrantedAbilityEntry { level: 0, ..GrantedAbilityEntry::new("GA_Hit") }];
    let builder = || base().add(Ability::new("GA_Hit")).add(Effect::infinite("GE_Aura"));
    assert_issue(&error(builder().add(sword), "bad-level"), "GE_Sword", &["GA_Hit", "1"]);
    let mut hero = Controller::new("Hero").set("Vitals");
    hero.granted_abilities = vec![GrantedAbility { level: 0, ..GrantedAbility::new("GA_Hit") }];
    assert_issue(&error(builder().add(hero), "bad-level"), "Hero", &["GA_Hit", "1"]);
    for (level, stacks) in [(0, 1), (1, 0)] {
        let mut hero = Controller::new("Hero").set("Vitals");
        hero.active_effects = vec![ActiveEffect { level, stacks, ..ActiveEffect::new("GE_Aura") }];
        assert_issue(&error(builder().add(hero), "bad-level"), "Hero", &["GE_Aura", "1"]);
    }
}

#[test]
fn a_curve_needs_points_with_rising_x() {
    assert_issue(&error(base().add(Curve::new("C", [])), "bad-curve"), "C", &["at least one point"]);
    assert_issue(&error(base().add(Curve::new("C", [(2.0, 1.0), (1.0, 1.0)])), "bad-curve"), "C", &["1 follows 2"]);
    let mut nan = Curve::new("C", [(1.0, 1.0)]);
    nan.points.push(CurvePoint { x: 2.0, y: f64::NAN });
    assert_issue(&error(base().add(nan), "bad-curve"), "C", &["not finite"]);
}

#[test]
fn an_invalid_expression_is_reported_with_its_column() {
    let mut effect = Effect::instant("GE_Hit").add("Health", -5.0);
    effect.application_condition = Some("Helth < 30".into());
    let issue = error(base().add(effect.clone()), "bad-expression");
    assert_issue(&issue, "GE_Hit", &["ApplicationCondition", "column 1", "did you mean Health?"]);
    effect.application_condition = Some("Health < ".into());
    assert_issue(&error(base().add(effect), "bad-expression"), "GE_Hit", &["column 10", "expected"]);
    let set = AttributeSet::new("S").with(Attribute::derived("Power", "1 + * 2"));
    assert_issue(&error(Rules::builder().add(set), "bad-expression"), "S", &["Power: DerivedFrom", "column 5"]);
    let set = AttributeSet::new("D").with(Attribute::derived("Power", "source.Health * 2"));
    assert_issue(&error(base().add(set), "bad-expression"), "D", &["Power", "own controller"]);
}
