//! Functions of combat rules: host code that decides for each event.

use crate::kit::world::World;
use std::sync::{Arc, Mutex};
use ugas_core::{
    CombatChange, CombatCx, ControllerId, EventData, FactKind, Op, Read, Refusal, Restriction, Rules, RulesBuilder,
};
use ugas_doc::{
    Attribute, AttributeSet, Combat, CombatKind, CombatRule, CombatStyle, Effect, Resource, Stacking, TagRegistry,
};

fn vitals() -> AttributeSet {
    AttributeSet::new("Vitals").with(Attribute::new("Health", 1000.0)).with(Attribute::new("Armor", 100.0))
}

fn hit(name: &str, kind: CombatKind, style: CombatStyle, school: &str, amount: f64) -> Effect {
    let combat = Combat { kind, style, school: Some(school.into()), mitigation: None };
    Effect { combat: Some(combat), ..Effect::instant(name).add("Health", amount) }
}

fn function(on: &str, name: &str) -> CombatRule {
    CombatRule { on: on.into(), function: Some(name.into()), ..CombatRule::default() }
}

fn ruled(name: &str, rules: impl IntoIterator<Item = CombatRule>) -> Effect {
    Effect { rules: rules.into_iter().collect(), ..Effect::infinite(name) }
}

fn builder() -> RulesBuilder {
    Rules::builder().add(vitals()).add(TagRegistry::new(["DamageType.Fire", "DamageType.Ice", "Event.Push"]))
}

/// What a call of a function was about.
type Call = (f64, CombatStyle, Option<ControllerId>, ControllerId);

/// Registers a function that records its calls.
fn recorded(
    builder: RulesBuilder,
    name: &str,
    decide: impl Fn(&mut CombatCx<'_>) -> CombatChange + Send + Sync + 'static,
) -> (RulesBuilder, Arc<Mutex<Vec<Call>>>) {
    let calls: Arc<Mutex<Vec<Call>>> = Arc::default();
    let log = calls.clone();
    let builder = builder.combat_fn(name, [Read::target("Armor"), Read::source("Armor")], move |cx| {
        log.lock().unwrap().push((cx.amount, cx.style, cx.source, cx.target));
        decide(cx)
    });
    (builder, calls)
}

// covers: SAI-1.2-01 SAI-1.2-02
#[test]
fn a_function_is_called_once_per_damage_calculation_with_that_event() {
    use CombatStyle::{Direct, Periodic};
    let rules = builder()
        .add(hit("GE_Fire", CombatKind::Damage, Direct, "DamageType.Fire", -100.0))
        .add(hit("GE_Ice", CombatKind::Damage, Direct, "DamageType.Ice", -100.0))
        .add(hit("GE_Burn", CombatKind::Damage, Periodic, "DamageType.Fire", -100.0))
        .add(hit("GE_Warm", CombatKind::Healing, Direct, "DamageType.Fire", 100.0))
        .add(ruled("GE_Ward", [function("DamageTaken", "Ward")]));
    let (rules, calls) = recorded(rules, "Ward", |cx| {
        let is_fire = cx.rules().find_tag("DamageType.Fire").is_some_and(|tag| cx.has(tag));
        if is_fire && cx.style == Direct { CombatChange::Factor(0.8) } else { CombatChange::None }
    });
    let mut w = World::new(rules);
    let (a, b) = (w.spawn("Vitals"), w.spawn("Vitals"));
    w.apply("GE_Ward", b);
    for (effect, health) in [("GE_Fire", 920.0), ("GE_Ice", 820.0), ("GE_Burn", 720.0), ("GE_Warm", 820.0)] {
        w.hit(effect, a, b);
        assert_eq!(w.get(b, "Health"), health, "{effect}");
    }
    let expected = [(100.0, Direct, Some(a), b), (100.0, Direct, Some(a), b), (100.0, Periodic, Some(a), b)];
    assert_eq!(*calls.lock().unwrap(), expected, "one call per calculation; healing is another value");
}

#[test]
fn a_function_reads_declared_attributes_only_and_its_result_joins_the_other_rules() {
    let simple = ugas_doc::Modify { operation: ugas_doc::ModifyOperation::Multiply, value: None, factor: Some(1.5) };
    let simple = CombatRule { on: "DamageTaken".into(), modify: Some(simple), ..CombatRule::default() };
    let stacking = Stacking { limit: Some(5), ..Stacking::default() };
    let rules = builder()
        .add(hit("GE_Hit", CombatKind::Damage, CombatStyle::Direct, "DamageType.Fire", -100.0))
        .add(ruled("GE_Plate", [function("DamageTaken", "Plate"), simple]))
        .add(ruled("GE_Thorns", [CombatRule { stacks: true, ..function("DamageTaken", "Thorns") }]).stacking(stacking))
        .combat_fn("Plate", [Read::target("Armor")], |cx| {
            assert_eq!(cx.target("Health"), None, "not declared");
            assert_eq!(cx.source("Armor"), None, "not declared for the source");
            CombatChange::Factor(100.0 / (100.0 + cx.target("Armor").unwrap_or(0.0)))
        })
        .combat_fn("Thorns", [], |cx| CombatChange::Add(if cx.stacks == 3 { -10.0 } else { f64::NAN }));
    let mut w = World::new(rules);
    let (a, b) = (w.spawn("Vitals"), w.spawn("Vitals"));
    w.apply("GE_Plate", b);
    w.hit("GE_Hit", a, b);
    assert_eq!(w.get(b, "Health"), 925.0);
    let spec = w.spec("GE_Thorns", b).stacks(2);
    w.sim.apply(&spec).unwrap();
    w.hit("GE_Hit", a, b);
    assert_eq!(w.get(b, "Health"), 850.0, "a number that is not finite does nothing");
    w.apply("GE_Thorns", b);
    w.hit("GE_Hit", a, b);
    assert_eq!(w.get(b, "Health"), 850.0 - 70.0 * 0.75);
}

#[test]
fn a_function_may_forbid_damage_executions_events_buffs_and_changes_of_resources() {
    let dot = hit("GE_Dot", CombatKind::Damage, CombatStyle::Periodic, "DamageType.Fire", -10.0);
    let dot = Effect { duration_policy: ugas_doc::DurationPolicy::Infinite, ..dot }.every(1.0);
    let rules = builder()
        .add(Resource::new("Mana", 50.0).max(100.0))
        .add(hit("GE_Small", CombatKind::Damage, CombatStyle::Direct, "DamageType.Fire", -10.0))
        .add(hit("GE_Large", CombatKind::Damage, CombatStyle::Direct, "DamageType.Fire", -100.0))
        .add(dot)
        .add(Effect::infinite("GE_Buff").grants("State.Buffed"))
        .add(ruled("GE_Guard", ["DamageTaken", "ResourceDelta", "Event.Push"].map(|on| function(on, "Small"))))
        .add(ruled("GE_Pure", [function("BuffApplied", "Always")]));
    let (rules, calls) =
        recorded(rules, "Small", |cx| if cx.amount.abs() < 50.0 { CombatChange::Restrict } else { CombatChange::None });
    let mut w = World::new(rules.combat_fn("Always", [], |_| CombatChange::Restrict));
    let who = w.sim.spawn(ugas_core::SpawnSpec::sets([w.set("Vitals"), w.set("Mana")])).unwrap();
    w.apply("GE_Dot", who);
    w.apply("GE_Guard", who);
    let forbidden = Refusal::Restricted { by: Restriction::CombatRule };
    assert_eq!(w.try_apply("GE_Small", who), Err(forbidden));
    assert!(w.try_apply("GE_Large", who).is_ok());
    assert_eq!((w.get(who, "Health"), calls.lock().unwrap().len()), (900.0, 2));
    w.facts();
    w.to(1.5);
    assert_eq!(w.get(who, "Health"), 900.0);
    assert!(w.facts().iter().any(|f| matches!(f.kind, FactKind::ExecutionRestricted { .. })));
    let attribute = w.attr("Mana");
    let modify = |by| Op::ModifyResource { who, attribute, by, source: None, tags: Vec::new(), plain: false };
    assert_eq!(w.sim.run(modify(-10.0)), Err(forbidden));
    assert!(w.sim.run(modify(-50.0)).is_ok() && w.get(who, "Mana") == 0.0);
    let push = |magnitude| Op::Event(EventData { magnitude, ..EventData::new(w.tag("Event.Push"), who) });
    let (weak, strong) = (push(1.0), push(60.0));
    assert_eq!(w.sim.run(weak), Err(forbidden));
    assert!(w.sim.run(strong).is_ok());
    assert_eq!(calls.lock().unwrap().len(), 7, "once each: two hits, one period, two changes, two events");
    w.apply("GE_Pure", who);
    assert_eq!(w.try_apply("GE_Buff", who), Err(forbidden));
}

#[test]
fn functions_are_checked_when_rules_are_built() {
    let issue = |rules: RulesBuilder| {
        let error = rules.build().unwrap_err();
        (error.issues[0].code, error.issues[0].message.clone())
    };
    let with = |rule: CombatRule| builder().add(ruled("GE_It", [rule])).combat_fn("Ward", [], |_| CombatChange::None);
    assert!(with(function("DamageTaken", "Ward")).build().is_ok());
    let (code, text) = issue(with(function("DamageTaken", "Wrd")));
    assert_eq!(code, "unknown-hook");
    assert!(text.contains("no combat function Wrd is registered; did you mean Ward?"), "{text}");
    for on in ["ResourceCost", "AbilityUse", "MaxCharges"] {
        assert_eq!(issue(with(function(on, "Ward"))).0, "conditional-value", "{on}");
    }
    let (code, text) = issue(with(CombatRule { restrict: true, ..function("DamageTaken", "Ward") }));
    assert!(code == "bad-rule" && text.contains("Function and Modify or Restrict"), "{text}");
    let (code, text) = issue(builder().combat_fn("Ward", [Read::target("Armr")], |_| CombatChange::None));
    assert!(code == "unknown-attribute" && text.contains("Armr"), "{text}");
    let twice = builder().combat_fn("A", [], |_| CombatChange::None).combat_fn("A", [], |_| CombatChange::None);
    assert_eq!(issue(twice).0, "duplicate-name");
    // Code survives a reload that keeps it.
    let old = with(function("DamageTaken", "Ward")).build().unwrap();
    let new =
        Rules::builder().after_with_code(old).add(vitals()).add(ruled("GE_It", [function("DamageTaken", "Ward")]));
    assert!(new.build().is_ok());
}
