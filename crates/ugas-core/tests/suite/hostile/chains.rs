//! Long chains and wide lattices of references: settled once each, without recursion, refused where they close.

use crate::kit::*;
use std::sync::Arc;
use ugas_core::{ControllerId, Limits, Refusal, Rules, Sim, SimConfig, SpawnSpec, Spec};
use ugas_doc::{Attribute, AttributeSet, Effect, Magnitude};

const LONG: usize = 10_000;

fn set_of(name: &str, n: usize, link: impl Fn(Attribute, usize) -> Attribute) -> AttributeSet {
    (0..n).fold(AttributeSet::new(name), |s, i| s.with(link(Attribute::new(format!("A{i}"), 100.0), i)))
}

#[test]
fn ten_thousand_bounds_in_a_row_settle_together() {
    let chain = set_of("Chain", LONG, |a, i| if i == 0 { a } else { a.max(format!("A{}", i - 1).as_str()) });
    let rules = Rules::builder().add(chain).add(Effect::instant("GE_Cut").add("A0", -60.0)).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([set(&rules, "Chain")])).unwrap();
    facts(&mut sim);
    apply(&mut sim, "GE_Cut", who);
    assert_eq!(get(&sim, who, "A9999"), 40.0);
    let changes = facts(&mut sim).iter().filter(|f| f.kind.name() == "AttributeChanged").count();
    assert_eq!(changes, LONG);
}

#[test]
fn a_chain_of_bounds_declared_in_reverse_order_settles_too() {
    let chain = set_of("Chain", LONG, |a, i| if i == LONG - 1 { a } else { a.max(format!("A{}", i + 1).as_str()) });
    let last = format!("A{}", LONG - 1);
    let rules = Rules::builder().add(chain).add(Effect::instant("GE_Cut").add(last, -60.0)).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([set(&rules, "Chain")])).unwrap();
    apply(&mut sim, "GE_Cut", who);
    assert_eq!(get(&sim, who, "A0"), 40.0);
}

#[test]
fn a_cycle_of_ten_thousand_bounds_is_a_load_error() {
    let cycle = set_of("Circle", LONG, |a, i| a.max(format!("A{}", (i + 1) % LONG).as_str()));
    let error = Rules::builder().add(cycle).build().unwrap_err();
    assert!(error.issues.iter().any(|i| i.code == "cycle"));
}

#[test]
fn ten_thousand_derived_attributes_in_a_row_settle_together() {
    let chain = (1..LONG).fold(AttributeSet::new("Chain").with(Attribute::new("A0", 1.0)), |s, i| {
        s.with(Attribute::derived(format!("A{i}"), format!("A{} + 1", i - 1)))
    });
    let rules = Rules::builder().add(chain).add(Effect::infinite("GE_Up").add("A0", 10.0)).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([set(&rules, "Chain")])).unwrap();
    assert_eq!(get(&sim, who, "A9999"), 10_000.0);
    apply(&mut sim, "GE_Up", who);
    assert_eq!(get(&sim, who, "A9999"), 10_010.0);
}

#[test]
fn an_expression_cannot_nest_or_grow_without_end() {
    let derived = |text: String| {
        let set = AttributeSet::new("S").with(Attribute::new("A", 1.0)).with(Attribute::derived("B", text));
        Rules::builder().add(set).build()
    };
    let deep = |open: &str, close: &str, n: usize| format!("{}A{}", open.repeat(n), close.repeat(n));
    // Nesting of this depth would overflow the stack of a careless parser; either answer is fine, a crash is not.
    for text in [
        deep("(", ")", 100_000),
        deep("-", "", 100_000),
        deep("!", "", 100_000),
        deep("abs(", ")", 100_000),
        format!("A{}", " + A".repeat(50_000)),
        format!("A{}", " ^ A".repeat(50_000)),
        "(".repeat(100_000),
        format!("{}A", "A*".repeat(50_000)),
        format!("A{}", " ? A : A".repeat(20_000)),
    ] {
        let _ = derived(text);
    }
}

/// `n` controllers and the rules by which one follows another.
fn followers(n: usize) -> (Sim, Arc<Rules>, Vec<ControllerId>) {
    let rules = Rules::builder()
        .add(AttributeSet::new("P").with(Attribute::new("Power", 1.0)))
        .add(Effect::infinite("GE_Follow").add("Power", Magnitude::attribute("Power")))
        .add(Effect::infinite("GE_Half").add("Power", Magnitude::attribute("Power").times(0.125)))
        .add(Effect::instant("GE_Up").add("Power", 1.0))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let power = set(&rules, "P");
    let all = (0..n).map(|_| sim.spawn(SpawnSpec::sets([power])).unwrap()).collect();
    (sim, rules, all)
}

fn check_chain(sim: &mut Sim, rules: &Arc<Rules>, all: &[ControllerId]) {
    let follow = effect(rules, "GE_Follow");
    let last = *all.last().unwrap();
    assert_eq!(get(sim, last, "Power"), LONG as f64);
    match sim.apply(&Spec::new(follow, all[0]).from(last)) {
        Err(Refusal::Cycle { .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(sim.apply(&Spec::new(follow, last).from(last)).unwrap_err().kind(), "Cycle");
    facts(sim);
    apply(sim, "GE_Up", all[0]);
    assert_eq!(get(sim, last, "Power"), LONG as f64 + 1.0);
    assert_eq!(facts(sim).iter().filter(|f| f.kind.name() == "AttributeChanged").count(), LONG);
    // A part of the chain is taken out: what followed it keeps its value.
    sim.extract(all[LONG / 2]).unwrap();
    assert_eq!(get(sim, last, "Power"), LONG as f64 + 1.0);
    apply(sim, "GE_Up", all[0]);
    assert_eq!(get(sim, all[LONG / 2 - 1], "Power"), (LONG / 2) as f64 + 2.0);
    assert_eq!(get(sim, last, "Power"), LONG as f64 + 1.0);
    // Another is destroyed: what followed it keeps reading the value it had before.
    let before = get(sim, all[LONG / 4 + 1], "Power");
    sim.despawn(all[LONG / 4]).unwrap();
    assert_eq!(get(sim, all[LONG / 4 + 1], "Power"), before);
}

#[test]
fn ten_thousand_controllers_linked_by_live_modifiers_settle() {
    let (mut sim, rules, all) = followers(LONG);
    let follow = effect(&rules, "GE_Follow");
    for w in all.windows(2) {
        sim.apply(&Spec::new(follow, w[1]).from(w[0])).unwrap();
    }
    check_chain(&mut sim, &rules, &all);
}

#[test]
fn a_chain_of_controllers_may_be_linked_from_its_end() {
    let (mut sim, rules, all) = followers(1_000);
    let follow = effect(&rules, "GE_Follow");
    for w in all.windows(2).rev() {
        sim.apply(&Spec::new(follow, w[1]).from(w[0])).unwrap();
    }
    assert_eq!(get(&sim, all[999], "Power"), 1_000.0);
}

#[test]
fn one_source_has_ten_thousand_followers() {
    let (mut sim, rules, all) = followers(LONG + 1);
    let follow = effect(&rules, "GE_Follow");
    for &who in &all[1..] {
        sim.apply(&Spec::new(follow, who).from(all[0])).unwrap();
    }
    facts(&mut sim);
    apply(&mut sim, "GE_Up", all[0]);
    assert!(all[1..].iter().all(|&who| get(&sim, who, "Power") == 3.0));
    let who: Vec<ControllerId> =
        facts(&mut sim).iter().filter(|f| f.kind.name() == "AttributeChanged").map(|f| f.who).collect();
    assert_eq!(who, all, "in order of their ids");
    sim.despawn(all[0]).unwrap();
    assert!(all[1..].iter().all(|&who| get(&sim, who, "Power") == 3.0));
}

#[test]
fn ten_thousand_modifiers_of_one_controller_follow_one_source() {
    let (mut sim, rules, all) = followers(2);
    let follow = effect(&rules, "GE_Follow");
    for _ in 0..LONG {
        sim.apply(&Spec::new(follow, all[1]).from(all[0])).unwrap();
    }
    facts(&mut sim);
    apply(&mut sim, "GE_Up", all[0]);
    assert_eq!(get(&sim, all[1], "Power"), 1.0 + 2.0 * LONG as f64);
    let changes = facts(&mut sim).iter().filter(|f| f.kind.name() == "AttributeChanged").count();
    assert_eq!(changes, 2, "one fact per attribute and application");
    sim.despawn(all[1]).unwrap();
}

#[test]
fn a_dense_lattice_of_live_modifiers_settles_each_node_once() {
    let (width, depth) = (8, 25);
    let (mut sim, rules, all) = followers(width * depth);
    let half = effect(&rules, "GE_Half");
    for layer in 1..depth {
        for to in 0..width {
            for from in 0..width {
                let (from, to) = (all[(layer - 1) * width + from], all[layer * width + to]);
                sim.apply(&Spec::new(half, to).from(from)).unwrap();
            }
        }
    }
    // Each node is 1 plus the mean of the layer before it.
    assert_eq!(get(&sim, *all.last().unwrap(), "Power"), depth as f64);
    facts(&mut sim);
    apply(&mut sim, "GE_Up", all[0]);
    let changes = facts(&mut sim).iter().filter(|f| f.kind.name() == "AttributeChanged").count();
    assert_eq!(changes, 1 + width * (depth - 1));
    assert_eq!(get(&sim, *all.last().unwrap(), "Power"), depth as f64 + 0.125);
    let closing = Spec::new(half, all[0]).from(*all.last().unwrap());
    assert_eq!(sim.apply(&closing).unwrap_err().kind(), "Cycle");
}

#[test]
fn a_chain_of_dependent_sets_is_built_in_order() {
    let n = 400;
    let mut builder = Rules::builder().add(AttributeSet::new("S0").with(Attribute::new("A0", 1.0)));
    for i in (1..n).rev() {
        let a = Attribute::derived(format!("A{i}"), format!("A{} + 1", i - 1));
        builder = builder.add(AttributeSet::new(format!("S{i}")).needs(format!("S{}", i - 1)).with(a));
    }
    let rules = builder.build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets((0..n).map(|i| set(&rules, &format!("S{i}"))))).unwrap();
    assert_eq!(get(&sim, who, &format!("A{}", n - 1)), n as f64);
}

#[test]
fn too_many_attributes_are_refused_with_a_limit() {
    let wide = set_of("Wide", 20_000, |a, _| a);
    let error = Rules::builder().add(wide).build().unwrap_err();
    assert!(error.issues.iter().any(|i| i.code == "limit"), "{error}");

    let rules = Rules::builder().add(set_of("Some", 10, |a, _| a)).build().unwrap();
    let limits = Limits { attributes_per_controller: 9, ..Limits::default() };
    let mut sim = Sim::new(rules.clone(), SimConfig { limits, ..SimConfig::default() });
    let refused = sim.spawn(SpawnSpec::sets([set(&rules, "Some")])).unwrap_err();
    assert_eq!(refused.kind(), "Limit");
}
