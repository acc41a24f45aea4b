//! Calculations as documents: reads, captures, refusals, and replacement by host code.

use crate::kit::world::World;
use crate::kit::world::load::{assert_issue, error, warning};
use ugas_core::{Refusal, Rules, RulesBuilder};
use ugas_doc::{
    Attribute, AttributeSet, Calculation, CalculationResult, CaptureMoment, ContextTag, Effect, Execution, Magnitude,
    Modifier, Operation,
};

fn base() -> RulesBuilder {
    Rules::builder().add(
        AttributeSet::new("S")
            .with(Attribute::new("Pool", 1000.0))
            .with(Attribute::new("AttackPower", 10.0))
            .with(Attribute::new("Armor", 4.0)),
    )
}

fn hit(value: &str) -> Calculation {
    Calculation::new("ExecCalc_Hit").result(CalculationResult::add("Pool", value))
}

fn with(calculation: Calculation) -> RulesBuilder {
    base().add(calculation).add(Effect::instant("GE_Hit").execute("ExecCalc_Hit"))
}

/// What one hit of `a` takes from `b`'s pool.
fn taken(rules: RulesBuilder) -> f64 {
    let mut w = World::new(rules);
    let (a, b) = (w.spawn("S"), w.spawn("S"));
    w.hit("GE_Hit", a, b);
    1000.0 - w.get(b, "Pool")
}

#[test]
fn each_value_may_use_those_before_it() {
    let calculation = Calculation::new("ExecCalc_Hit")
        .bind("raw", "source.AttackPower * level * stacks")
        .bind("left", "max(0, raw - target.Armor)")
        .result(CalculationResult::add("Pool", "-left"));
    assert_eq!(taken(with(calculation)), 6.0);
}

#[test]
fn a_result_with_a_condition_is_written_only_while_the_condition_is_true() {
    let mut rich = hit("-100");
    rich.results[0].when = Some("target.Armor > 4".into());
    assert_eq!(taken(with(rich.clone())), 0.0);
    rich.results[0].when = Some("target.Armor >= 4".into());
    assert_eq!(taken(with(rich)), 100.0);
}

#[test]
fn a_value_captured_at_application_does_not_change() {
    let ticks = |moment: CaptureMoment| {
        let mut bleed = hit("-source.AttackPower");
        bleed.capture.source.insert("AttackPower".into(), moment);
        let mut w = World::new(
            base()
                .add(bleed)
                .add(Effect::lasting("GE_Bleed", 4.0).every(1.0).execute("ExecCalc_Hit"))
                .add(Effect::infinite("GE_Strong").add("AttackPower", 10.0)),
        );
        let (a, b) = (w.spawn("S"), w.spawn("S"));
        w.hit("GE_Bleed", a, b);
        w.to(2.0);
        w.apply("GE_Strong", a);
        w.to(4.0);
        1000.0 - w.get(b, "Pool")
    };
    assert_eq!(ticks(CaptureMoment::OnApplication), 40.0);
    assert_eq!(ticks(CaptureMoment::OnExecution), 60.0);
}

#[test]
fn a_calculation_used_as_a_magnitude_returns_its_value() {
    let magnitude = Magnitude::calculation("MMC_Half");
    let effect = Effect::instant("GE_Hit").modify(Modifier::new("Pool", Operation::Add, magnitude));
    let rules = base().add(Calculation::new("MMC_Half").gives("-source.AttackPower / 2")).add(effect);
    assert_eq!(taken(rules), 5.0);
}

#[test]
fn host_code_replaces_the_calculation_document_of_the_same_name() {
    let rules = with(hit("-1")).calc_fn("ExecCalc_Hit", [], |cx| cx.add("Pool", -7.0));
    assert_eq!(taken(rules), 7.0);
}

#[test]
fn rolls_come_from_the_context_and_repeat_with_the_seed() {
    let total = |seed| {
        let mut w = World::seeded(with(hit("if(roll(0.5), -1, 0)")), seed);
        let (a, b) = (w.spawn("S"), w.spawn("S"));
        for _ in 0..400 {
            w.hit("GE_Hit", a, b);
        }
        1000.0 - w.get(b, "Pool")
    };
    assert_eq!(total(1), total(1));
    assert!((150.0..250.0).contains(&total(1)), "{}", total(1));
    assert_ne!(total(1), total(2));
}

#[test]
fn a_missing_caller_value_refuses_the_effect_and_changes_nothing() {
    let mut w = World::new(with(hit("-sbc.Power")));
    let (a, b) = (w.spawn("S"), w.spawn("S"));
    let spec = w.spec("GE_Hit", b).from(a);
    let key = w.rules.key("Power").unwrap();
    let before = w.sim.row_hash(b).unwrap();
    assert_eq!(w.sim.apply(&spec), Err(Refusal::MissingSetByCaller { key }));
    assert_eq!(w.sim.row_hash(b).unwrap(), before);
    w.sim.apply(&spec.set(key, 25.0)).unwrap();
    assert_eq!(w.get(b, "Pool"), 975.0);
}

#[test]
fn a_value_that_is_not_finite_refuses_the_effect() {
    let mut w = World::new(with(hit("1 / (target.Armor - 4)")));
    let (a, b) = (w.spawn("S"), w.spawn("S"));
    let spec = w.spec("GE_Hit", b).from(a);
    assert!(matches!(w.sim.apply(&spec), Err(Refusal::NonFinite { .. })));
    assert_eq!(w.get(b, "Pool"), 1000.0);
}

#[test]
fn an_execution_must_provide_the_parameters_its_calculation_reads() {
    let rules = |params: &[(&str, ugas_doc::Value)]| {
        let mut execution = Execution::new("ExecCalc_Hit");
        execution.params = params.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
        let mut effect = Effect::instant("GE_Hit");
        effect.executions.push(execution);
        base().add(hit("-params.Scale")).add(effect)
    };
    assert_eq!(taken(rules(&[("Scale", 3.0.into())])), 3.0);
    assert_issue(&error(rules(&[]), "bad-param"), "GE_Hit", &["Executions[0].Params.Scale", "ExecCalc_Hit", "missing"]);
    assert_issue(&error(rules(&[("Scale", "big".into())]), "bad-param"), "GE_Hit", &["expected a number"]);
}

#[test]
fn errors_in_a_calculation_are_reported_with_their_location() {
    let bad = |c: Calculation, code| error(with(c), code);
    assert_issue(&bad(Calculation::new("ExecCalc_Hit"), "empty-calculation"), "ExecCalc_Hit", &["Results", "Value"]);
    assert_issue(&bad(hit("-sorce.AttackPower"), "bad-expression"), "ExecCalc_Hit", &["Results[0].Value: column 2"]);
    let twice = hit("a").bind("a", "1").bind("a", "2");
    assert_issue(&bad(twice, "duplicate-name"), "ExecCalc_Hit", &["Let[1].a"]);
    assert_issue(&bad(hit("1").bind("two words", "1"), "bad-name"), "ExecCalc_Hit", &["Let[0]"]);
    let late = hit("a").bind("a", "b").bind("b", "1");
    assert_issue(&bad(late, "bad-expression"), "ExecCalc_Hit", &["Let[0].a: column 1: unknown attribute b"]);
    assert_issue(&bad(hit("damge").bind("damage", "1"), "bad-expression"), "ExecCalc_Hit", &["did you mean damage?"]);
    let mut tagged = hit("1");
    tagged.context_tags.push(ContextTag { tag: "not a tag".into(), when: None });
    assert_issue(&bad(tagged, "bad-tag"), "ExecCalc_Hit", &["ContextTags[0]"]);
    let mut unread = hit("1");
    unread.capture.target.insert("Armor".into(), CaptureMoment::OnExecution);
    assert_issue(&warning(with(unread), "unused-capture"), "ExecCalc_Hit", &["Capture.Target.Armor"]);
}
