//! Resources: their values and bounds, the facts and effects that follow a change, and `Op::ModifyResource`.

use crate::kit::world::World;
use std::sync::{Arc, Mutex};
use ugas_core::{
    AbilityGrant, ControllerId, Fact, FactKind, Op, OpId, Refusal, ResourceSpec, ResourceStep, Restriction, Role,
    Rules, RulesBuilder, Sim, SimConfig, SpawnSpec, Spec, Target, Which,
};
use ugas_doc::{
    Ability, Attribute, AttributeSet, CombatRule, Controller, Effect, Modify, ModifyOperation, Resource,
    ResourceValues, Stacking, Stat, StatTable,
};

fn mana() -> Resource {
    Resource::new("Mana", 100.0).max(100.0)
}

fn vitals() -> AttributeSet {
    AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))
}

fn builder() -> RulesBuilder {
    Rules::builder().add(vitals()).add(mana())
}

fn modify(w: &World, who: ControllerId, by: f64) -> Op {
    Op::ModifyResource { who, attribute: w.attr("Mana"), by, source: None, tags: Vec::new(), plain: false }
}

fn rule(modify: Modify) -> CombatRule {
    CombatRule { on: "ResourceDelta".into(), modify: Some(modify), ..CombatRule::default() }
}

fn factor(factor: f64) -> CombatRule {
    rule(Modify { operation: ModifyOperation::Multiply, value: None, factor: Some(factor) })
}

fn add(value: f64) -> CombatRule {
    rule(Modify { operation: ModifyOperation::Add, value: Some(value), factor: None })
}

fn with_rules(name: &str, rules: impl IntoIterator<Item = CombatRule>) -> Effect {
    Effect { rules: rules.into_iter().collect(), ..Effect::infinite(name) }
}

fn resources(facts: &[Fact]) -> Vec<(ResourceStep, f64, f64)> {
    let step = |f: &Fact| match f.kind {
        FactKind::Resource { step, old, new, .. } => Some((step, old, new)),
        _ => None,
    };
    facts.iter().filter_map(step).collect()
}

fn issues(builder: RulesBuilder) -> Vec<(&'static str, String)> {
    let error = builder.build().expect_err("the rules have errors");
    error.issues.iter().map(|i| (i.code, i.message.clone())).collect()
}

// covers: SAI-3.1-01 SAI-3.1-02
#[test]
fn a_spawn_sets_the_initial_value_and_the_bounds_and_nothing_is_below_zero() {
    let mut w = World::new(Rules::builder().add(Resource { min: Some(-10.0), ..mana() }));
    let set = w.set("Mana");
    let spec = ResourceSpec { initial: Some(20.0), max: Some(50.0), ..ResourceSpec::new(set) };
    let who = w.sim.spawn(SpawnSpec::default().resource(spec)).unwrap();
    assert_eq!((w.get(who, "Mana"), w.get(who, "MaxMana"), w.get(who, "MinMana")), (20.0, 50.0, 0.0));
    assert_eq!(w.sim.bounds(who, w.attr("Mana")), Ok((0.0, 50.0)));
    // Without an initial value, the value of the document is clamped to the new bounds.
    let small = w.sim.spawn(SpawnSpec::default().resource(ResourceSpec { max: Some(50.0), ..ResourceSpec::new(set) }));
    let small = small.unwrap();
    assert_eq!((w.get(small, "Mana"), w.base(small, "Mana")), (50.0, 50.0));
    let low = ResourceSpec { initial: Some(-3.0), max: Some(-50.0), min: Some(-7.0), ..ResourceSpec::new(set) };
    let low = w.sim.spawn(SpawnSpec::default().resource(low)).unwrap();
    assert_eq!((w.base(low, "Mana"), w.base(low, "MaxMana"), w.base(low, "MinMana")), (0.0, 0.0, 0.0));
    w.sim.run(modify(&w, who, -500.0)).unwrap();
    assert_eq!((w.get(who, "Mana"), w.base(who, "Mana")), (0.0, 0.0));
}

#[test]
fn a_minimum_holds_against_losses() {
    let mut w = World::new(Rules::builder().add(mana().min(10.0)));
    let who = w.spawn("Mana");
    w.sim.run(modify(&w, who, -95.0)).unwrap();
    assert_eq!(w.get(who, "Mana"), 10.0);
}

// covers: SAI-3.1-03 SAI-3.1-04
#[test]
fn a_bound_follows_its_stat_under_the_name_of_the_bound_and_under_another_name() {
    for (stat, bound) in [("Stat.MaxMana", "MaxMana"), ("Stat.Wisdom", "Wisdom")] {
        let table = StatTable::new("T").with(Stat::new(stat, 120.0));
        let mut w = World::new(
            Rules::builder()
                .add(table)
                .add(Resource { initial: 60.0, ..mana() }.max_stat(stat))
                .add(Effect::infinite("GE_Wise").add(stat, 120.0))
                .add(Effect::infinite("GE_More").add("MaxMana", 20.0)),
        );
        let (table, mana) = (w.set("T"), ResourceSpec::new(w.set("Mana")));
        let who = w.sim.spawn(SpawnSpec::default().stats([table]).resource(mana)).unwrap();
        let other = w.sim.spawn(SpawnSpec::default().resource(mana)).unwrap();
        assert_eq!((w.get(who, "MaxMana"), w.get(who, bound), w.get(who, "Mana")), (120.0, 120.0, 60.0), "{stat}");
        assert_eq!((w.get(other, "MaxMana"), w.get(other, "Mana")), (100.0, 60.0), "{stat}: the default");
        w.apply("GE_Wise", who);
        assert_eq!((w.get(who, "MaxMana"), w.get(who, "Mana")), (240.0, 120.0), "{stat}: the proportion");
        // Without the stat, the maximum is an attribute like any other.
        w.apply("GE_More", other);
        assert_eq!((w.get(other, "MaxMana"), w.get(other, "Mana")), (120.0, 72.0), "{stat}");
        // A bound that follows a stat of the controller cannot be set.
        let set = ResourceSpec { max: Some(50.0), ..mana };
        let refused = w.sim.spawn(SpawnSpec::default().stats([table]).resource(set));
        assert_eq!(refused, Err(Refusal::Restricted { by: Restriction::ResourceBound }), "{stat}");
        let poor = w.sim.spawn(SpawnSpec::default().resource(set)).unwrap();
        assert_eq!((w.get(poor, "MaxMana"), w.get(poor, "Mana")), (50.0, 50.0), "{stat}");
        // The order of the sets does not matter.
        let late = w.sim.spawn(SpawnSpec::sets([w.set("Mana"), table])).unwrap();
        assert_eq!(w.get(late, "MaxMana"), 120.0, "{stat}");
    }
}

// covers: SAI-3-02
#[test]
fn a_resource_is_reported_when_it_is_added_changed_and_removed() {
    let mut w = World::new(builder());
    let who = w.spawn("Vitals");
    w.facts();
    let set = w.set("Mana");
    w.sim.run(Op::AddSet { who, set }).unwrap();
    w.sim.run(modify(&w, who, -30.0)).unwrap();
    w.sim.run(modify(&w, who, 500.0)).unwrap();
    w.sim.run(modify(&w, who, 5.0)).unwrap();
    w.sim.run(Op::RemoveSet { who, set, force: false }).unwrap();
    use ResourceStep::{Added, Changed, Removed};
    let expected = [(Added, 0.0, 100.0), (Changed, 100.0, 70.0), (Changed, 70.0, 100.0), (Removed, 100.0, 0.0)];
    assert_eq!(resources(&w.facts()), expected, "a gain at the maximum is no change");
    assert_eq!(w.sim.run(modify(&w, who, 1.0)), Err(Refusal::UnknownAttribute { who, attribute: w.attr("Mana") }));
    // At spawn: once for each new controller, and for copies of a template too.
    let doc = Controller::new("Mob").set("Vitals").resource(ResourceValues::new("Mana"));
    let mut w = World::new(builder().add(doc));
    let template = w.rules.template("Mob").unwrap();
    w.sim.run(Op::SpawnMany { template, count: 3 }).unwrap();
    assert_eq!(resources(&w.facts()), [(Added, 0.0, 100.0); 3]);
}

// covers: SAI-3.2-02
#[test]
fn a_cost_is_written_then_reported_with_its_op_then_on_changed_the_hook_and_the_triggers_run() {
    let seen: Arc<Mutex<Vec<(f64, f64, f64)>>> = Arc::default();
    let log = seen.clone();
    let spend = Effect::instant("GE_Cost").add("Mana", -30.0);
    let trigger = ugas_doc::Trigger { attribute: Some("Mana".into()), below: Some(90.0), ..Default::default() };
    let answer = Ability { triggers: vec![trigger], ..Ability::new("GA_Answer") };
    let mut w = World::new(
        Rules::builder()
            .add(AttributeSet::new("Vitals").with(Attribute::new("Pulses", 0.0)))
            .add(mana().on_changed("GE_Pulse"))
            .add(spend)
            .add(Effect::instant("GE_Pulse").add("Pulses", 1.0))
            .add(Effect::infinite("GE_Mark").grants("State.Marked"))
            .add(Ability { cost: Some("GE_Cost".into()), ..Ability::new("GA_Spark") })
            .add(answer)
            .resource_hook("Post", move |cx| {
                let pulses = cx.value(cx.who, "Pulses").unwrap_or(f64::NAN);
                log.lock().unwrap().push((cx.old, cx.new, pulses));
                if let Some(mark) = cx.rules().find_effect("GE_Mark") {
                    cx.then(Spec::new(mark, cx.who).from(cx.who));
                }
            }),
    );
    let who = w.sim.spawn(SpawnSpec::sets([w.set("Mana"), w.set("Vitals")])).unwrap();
    for name in ["GA_Spark", "GA_Answer"] {
        let grant = AbilityGrant::new(w.rules.ability(name).unwrap());
        w.sim.run(Op::Grant { who, grant }).unwrap();
    }
    w.facts();
    let id = OpId(0x0007_0000_0000_0001);
    let which = Which::Ability(w.rules.ability("GA_Spark").unwrap());
    w.sim.run_as(id, &Op::Activate { who, which, target: Target::None }).unwrap();
    let facts = w.facts();
    let place = |name: &str, is: &dyn Fn(&Fact) -> bool| {
        facts.iter().position(is).unwrap_or_else(|| panic!("{name}: {facts:?}"))
    };
    let of = |effect: &str| w.effect(effect);
    let value = place("value", &|f| matches!(f.kind, FactKind::AttributeChanged { new: 70.0, .. }));
    let changed = place("changed", &|f| matches!(f.kind, FactKind::Resource { step: ResourceStep::Changed, .. }));
    let applied = |f: &Fact, effect| f.effect == effect && matches!(f.kind, FactKind::EffectApplied { .. });
    let pulse = place("OnChanged", &|f| applied(f, of("GE_Pulse")));
    let mark = place("hook", &|f| applied(f, of("GE_Mark")));
    let answer = w.rules.ability("GA_Answer").unwrap();
    let trigger =
        place("trigger", &|f| matches!(f.kind, FactKind::AbilityActivated { ability, .. } if ability == answer));
    assert_eq!(changed, value + 1, "right after the change of the attribute");
    assert!(changed < pulse && pulse < mark && pulse < trigger, "{facts:?}");
    assert!(facts[value..=changed].iter().all(|f| f.root == id), "both carry the id of the command");
    // The hook ran once, after the effect of OnChanged.
    assert_eq!(*seen.lock().unwrap(), [(100.0, 70.0, 1.0)]);
    assert!(w.has(who, "State.Marked"));
}

#[test]
fn the_effects_of_a_resource_come_and_go_with_it_and_do_not_keep_it() {
    let mut w = World::new(
        Rules::builder()
            .add(vitals())
            .add(Resource { initial: 40.0, ..mana() }.effect("GE_Regen").effect("GE_Bonus"))
            .add(Effect::infinite("GE_Regen").every(1.0).add("Mana", 5.0))
            .add(Effect::infinite("GE_Bonus").add("Mana", 3.0).grants("State.Gifted")),
    );
    let who = w.sim.spawn(SpawnSpec::sets([w.set("Vitals"), w.set("Mana")])).unwrap();
    assert!(w.has(who, "State.Gifted"));
    w.to(2.0);
    assert_eq!(w.get(who, "Mana"), 53.0);
    let set = w.set("Mana");
    // An effect of another origin keeps the resource, and so does the same effect applied by the host.
    let other = w.apply("GE_Bonus", who);
    let refused = w.sim.run(Op::RemoveSet { who, set, force: false });
    assert_eq!(refused, Err(Refusal::SetInUse { by: other }));
    assert_eq!(w.get(who, "Mana"), 56.0, "a refusal removes nothing");
    w.sim.run(Op::Remove { key: other, stacks: None }).unwrap();
    w.sim.run(Op::RemoveSet { who, set, force: false }).unwrap();
    assert!(!w.has(who, "State.Gifted") && w.sim.effects(who).unwrap().is_empty());
    w.sim.run(Op::AddSet { who, set }).unwrap();
    assert!(w.has(who, "State.Gifted") && w.get(who, "Mana") == 43.0, "the resource starts anew");
    assert!(w.diagnostics().is_empty());
}

#[test]
fn a_lasting_effect_of_on_changed_is_applied_at_every_period_under_its_own_key() {
    let mark = Effect::infinite("GE_Mark").stacking(Stacking { limit: Some(9), ..Stacking::default() });
    let mut w = World::new(
        Rules::builder()
            .add(mana().on_changed("GE_Echo").on_changed("GE_Mark"))
            .add(Effect::infinite("GE_Drain").every(1.0).add("Mana", -5.0))
            .add(Effect::infinite("GE_Echo").grants("State.Echo"))
            .add(mark),
    );
    let who = w.spawn("Mana");
    w.apply("GE_Drain", who);
    w.to(3.5);
    let echoes = w.sim.effects(who).unwrap().into_iter().filter(|e| e.effect == w.effect("GE_Echo"));
    let keys: std::collections::BTreeSet<_> = echoes.map(|e| e.key).collect();
    assert_eq!(keys.len(), 3);
}

// covers: SAI-3.3-01
#[test]
fn rules_on_resource_delta_change_gains_and_losses_and_plain_skips_them() {
    let potion = CombatRule { when: Some("has_tag(event, Item.Potion)".into()), ..factor(2.0) };
    let from_friend = CombatRule { when: Some("source.Mana > 50 && event.Amount > 0".into()), ..add(5.0) };
    let never = CombatRule {
        when: Some("event.Amount < -60".into()),
        modify: None,
        restrict: true,
        attribute: None,
        ..factor(1.0)
    };
    let other = CombatRule { attribute: Some("Health".into()), ..factor(100.0) };
    let tags = ugas_doc::TagRegistry::new(["Item.Potion.Blue"]);
    let mut w = World::new(builder().add(tags).add(with_rules("GE_Rules", [potion, from_friend, never, other])));
    let (vitals, mana) = (w.set("Vitals"), w.set("Mana"));
    let who = w.sim.spawn(SpawnSpec::sets([vitals, mana])).unwrap();
    let friend = w.sim.spawn(SpawnSpec::sets([vitals, mana])).unwrap();
    w.apply("GE_Rules", who);
    let attribute = w.attr("Mana");
    let blue = w.tag("Item.Potion.Blue");
    let run = |w: &mut World, by: f64, source, tags: &[_], plain| {
        let op = Op::ModifyResource { who, attribute, by, source, tags: tags.to_vec(), plain };
        w.sim.run(op).map(|_| w.get(who, "Mana"))
    };
    assert_eq!(run(&mut w, -50.0, None, &[], false), Ok(50.0));
    assert_eq!(run(&mut w, 10.0, None, &[blue], false), Ok(70.0), "a child of the tag counts");
    assert_eq!(run(&mut w, 10.0, None, &[blue], true), Ok(80.0), "plain");
    assert_eq!(run(&mut w, -5.0, Some(friend), &[blue], false), Ok(70.0), "a loss grows too");
    assert_eq!(run(&mut w, 1.0, Some(friend), &[], false), Ok(76.0));
    let refused = Err(Refusal::Restricted { by: Restriction::CombatRule });
    assert_eq!(run(&mut w, -70.0, None, &[], false), refused);
    assert_eq!(w.get(who, "Mana"), 76.0);
    assert_eq!(run(&mut w, -70.0, None, &[], true), Ok(6.0));
    // Rules change the size, never the direction.
    let mut w = World::new(builder().add(with_rules("GE_Less", [add(-500.0)])));
    let who = w.spawn("Mana");
    w.apply("GE_Less", who);
    w.sim.run(modify(&w, who, -50.0)).unwrap();
    assert_eq!(w.get(who, "Mana"), 100.0);
}

#[test]
fn periodic_changes_of_a_resource_that_a_rule_forbids_are_reported_and_go_on() {
    let never = CombatRule { modify: None, restrict: true, ..factor(1.0) };
    let drain = Effect::infinite("GE_Drain").every(1.0).add("Mana", -5.0);
    let combat = ugas_doc::Combat { kind: ugas_doc::CombatKind::Resource, ..Default::default() };
    let drain = Effect { combat: Some(combat), ..drain };
    let mut w = World::new(builder().add(drain).add(with_rules("GE_Shield", [never])));
    let who = w.spawn("Mana");
    w.apply("GE_Drain", who);
    w.to(1.5);
    let shield = w.apply("GE_Shield", who);
    w.to(2.5);
    assert_eq!(w.get(who, "Mana"), 95.0);
    assert!(w.facts().iter().any(|f| matches!(f.kind, FactKind::ExecutionRestricted { execution: 1 })));
    w.sim.run(Op::Remove { key: shield, stacks: None }).unwrap();
    w.to(3.5);
    assert_eq!(w.get(who, "Mana"), 90.0);
    assert!(w.diagnostics().is_empty());
}

// covers: SAI-3.3-02
#[test]
fn a_client_sim_refuses_to_modify_a_resource() {
    let rules = builder().build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig { role: Role::Client, ..SimConfig::default() });
    let who = sim.spawn(SpawnSpec::sets([rules.set("Mana").unwrap()])).unwrap();
    let before = sim.row_hash(who);
    let attribute = rules.attribute("Mana").unwrap();
    let op = Op::ModifyResource { who, attribute, by: -1.0, source: None, tags: Vec::new(), plain: true };
    assert_eq!(sim.run(op), Err(Refusal::Authority));
    assert_eq!((sim.get(who, attribute), sim.row_hash(who)), (Ok(100.0), before));
}

// covers: SAI-2.2-06 SAI-3.2-01
#[test]
fn a_cost_in_an_attribute_that_the_owner_lacks_fails_with_nothing_there() {
    let mut w = World::new(
        builder()
            .add(Effect::instant("GE_Cost").add("Mana", -30.0))
            .add(Effect::instant("GE_Calc").execute("Exec_Cost"))
            .calc_fn("Exec_Cost", [], |cx| cx.add("Mana", -12.0))
            .add(Effect {
                rules: vec![CombatRule { on: "ResourceCost".into(), ..factor(0.5) }],
                ..Effect::infinite("GE_Half")
            })
            .add(Ability { cost: Some("GE_Cost".into()), ..Ability::new("GA_Spark") })
            .add(Ability { cost: Some("GE_Calc".into()), ..Ability::new("GA_Calc") }),
    );
    let who = w.sim.spawn(SpawnSpec::sets([w.set("Vitals"), w.set("Mana")])).unwrap();
    let mut grants = Vec::new();
    for name in ["GA_Spark", "GA_Calc"] {
        let ability = w.rules.ability(name).unwrap();
        w.sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
        grants.push(ability);
    }
    let refusal = |w: &mut World, at: usize| {
        let op = Op::Activate { who, which: Which::Ability(grants[at]), target: Target::None };
        w.sim.clone().run(op).map(|_| ())
    };
    assert_eq!((refusal(&mut w, 0), refusal(&mut w, 1)), (Ok(()), Ok(())));
    let set = w.set("Mana");
    w.sim.run(Op::RemoveSet { who, set, force: false }).unwrap();
    let attribute = w.attr("Mana");
    assert_eq!(refusal(&mut w, 0), Err(Refusal::Cost { attribute, have: 0.0, need: 30.0 }));
    assert_eq!(refusal(&mut w, 1), Err(Refusal::Cost { attribute, have: 0.0, need: 12.0 }));
    w.apply("GE_Half", who);
    assert_eq!(refusal(&mut w, 0), Err(Refusal::Cost { attribute, have: 0.0, need: 15.0 }));
    // Applied directly, such an effect stays an error.
    assert_eq!(w.try_apply("GE_Cost", who), Err(Refusal::UnknownAttribute { who, attribute }));
    w.sim.run(Op::AddSet { who, set }).unwrap();
    assert_eq!(refusal(&mut w, 0), Ok(()));
}

#[test]
fn documents_of_resources_with_errors_do_not_load() {
    let table = || StatTable::new("T").with(Stat::new("Stat.MaxMana", 120.0));
    let one = |resource: Resource| issues(Rules::builder().add(table()).add(vitals()).add(resource));
    let is = |found: &[(&str, String)], code: &str, words: &str| {
        assert!(found.iter().any(|(c, text)| *c == code && text.contains(words)), "{code} {words}: {found:?}");
    };
    is(&one(mana().min(200.0)), "bad-resource", "Min 200 is above Max 100");
    is(&one(mana().max_stat("Health")), "bad-resource", "MaxStat: Health is not the tag of a stat");
    is(&one(mana().max_stat("Stat.MaxMan")), "unknown-attribute", "MaxStat: unknown attribute Stat.MaxMan");
    is(&one(Resource::new("Mana", 1.0).max_stat("Stat.MaxMana")), "bad-resource", "add Max");
    is(&one(mana().effect("GE_None")), "unknown-effect", "Effects: unknown effect GE_None");
    is(&one(mana().on_changed("GE_None")), "unknown-effect", "OnChanged: unknown effect GE_None");
    let taken = builder().add(Effect::instant("GE_ModifyResource"));
    is(&issues(taken), "duplicate-name", "already has this name");
    assert!(Rules::builder().add(vitals()).add(Effect::instant("GE_ModifyResource")).build().is_ok());
    // Resources of controllers.
    let who = |values: ResourceValues, stats: &[&str]| {
        let doc = Controller::new("Mob").set("Vitals").resource(values);
        let doc = stats.iter().fold(doc, |doc, table| doc.stats(*table));
        issues(Rules::builder().add(table()).add(vitals()).add(mana().max_stat("Stat.MaxMana")).add(doc))
    };
    let values = || ResourceValues::new("Mana");
    is(&who(ResourceValues::new("Man"), &[]), "unknown-set", "unknown resource Man; did you mean Mana?");
    is(&who(ResourceValues::new("Vitals"), &[]), "unknown-set", "move it to AttributeSets");
    is(&who(ResourceValues::new("T"), &[]), "unknown-set", "move it to Stats");
    is(&who(ResourceValues { min: Some(1.0), ..values() }, &[]), "bad-resource", "Mana has no Min");
    is(&who(ResourceValues { max: Some(1.0), ..values() }, &["T"]), "bad-resource", "follows Stat.MaxMana");
    let as_set = Controller::new("Mob").set("Mana");
    is(&issues(builder().add(as_set)), "unknown-set", "write it into Resources");
}

#[test]
fn a_row_with_resources_is_captured_restored_and_reloaded() {
    let rules = || {
        Rules::builder()
            .add(vitals())
            .add(Effect::infinite("GE_Regen").every(1.0).add("Mana", 2.0))
            .add(Effect::instant("GE_Pulse").add("Health", -1.0))
    };
    let mut w = World::new(rules().add(Resource { initial: 50.0, ..mana() }.effect("GE_Regen").on_changed("GE_Pulse")));
    let who = w.sim.spawn(SpawnSpec::sets([w.set("Vitals"), w.set("Mana")])).unwrap();
    w.to(1.5);
    let mut image = ugas_core::RowImage::default();
    w.sim.capture(who, &mut image).unwrap();
    let hash = w.sim.hash();
    w.to(3.5);
    let later = w.sim.hash();
    w.sim.restore(who, &image).unwrap();
    assert_eq!(w.get(who, "Mana"), 52.0);
    let mut again = w.clone();
    again.sim.restore(who, &image).unwrap();
    assert_eq!((w.sim.hash() == hash, again.sim.hash() == later), (false, false), "the clock of the sim went on");
    // Without the resource, its effects end too.
    w.facts();
    let fewer = Rules::builder().after(w.rules.clone()).add(vitals());
    let fewer = fewer.add(Effect::infinite("GE_Regen").every(1.0).add("Health", 2.0));
    let fewer = fewer.add(Effect::instant("GE_Pulse").add("Health", -1.0)).build().unwrap();
    w.sim.reload(fewer).unwrap();
    assert!(w.sim.effects(who).unwrap().is_empty(), "{:?}", w.sim.effects(who));
    assert_eq!(resources(&w.facts()), [(ResourceStep::Removed, 52.0, 0.0)]);
}
