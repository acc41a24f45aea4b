//! Hot reload of capability sets, documents and code.

use crate::kit::capability::*;
use crate::kit::{diagnostics, get};
use std::sync::Arc;
use ugas_core::{
    BlockSource, CapabilityCall, CapabilityState, ControllerId, DiagnosticKind, FactKind, Facts, LimitKind, Migration,
    Op, Portable, Refusal, ReloadError, Role, Rules, RulesBuilder, Sim, SimTime,
};
use ugas_doc::{Attribute, AttributeSet, Capability, CapabilitySet, SetCapability, Side};

const NAMES: [&str; 5] = ["A", "B", "C", "D", "E"];

/// Code that counts its ticks and writes the count into the log.
fn counter(name: &'static str, log: &Log) -> Probe {
    let counts = log.clone();
    Probe::new(name, log).doing(move |count, call, _| {
        if matches!(call, CapabilityCall::Tick { .. }) {
            *count += 1;
            counts.lock().unwrap().push(format!("{name} {count}"));
        }
    })
}

fn with_code(builder: RulesBuilder, log: &Log) -> RulesBuilder {
    NAMES.iter().fold(builder, |b, name| b.capability_code(*name, counter(name, log)))
}

/// Starts a sim with one set and runs two frames.
fn start(log: &Log, set: CapabilitySet) -> (Sim, ControllerId, u64) {
    let rules = with_code(base().add(set), log).build().unwrap();
    let (mut sim, who) = sim_of(&rules);
    let handle = add(&mut sim, who, "CS_Robot");
    frames(&mut sim, 2);
    take(log);
    steps(&mut sim);
    (sim, who, handle)
}

fn next(sim: &Sim, set: Option<CapabilitySet>, log: &Log) -> Arc<Rules> {
    let builder = with_code(base().after(sim.rules().clone()), log);
    set.into_iter().fold(builder, RulesBuilder::add).build().unwrap()
}

fn reload(sim: &mut Sim, set: CapabilitySet, log: &Log) -> Migration {
    let rules = next(sim, Some(set), log);
    let report = sim.reload(rules).unwrap();
    assert_valid(sim);
    report
}

/// A reloaded controller is accepted by a sim of the new rules.
fn assert_valid(sim: &Sim) {
    let mut copy = sim.clone();
    for who in sim.controllers().collect::<Vec<_>>() {
        let hash = copy.row_hash(who).unwrap();
        let bytes = postcard::to_allocvec(&copy.extract(who).unwrap()).unwrap();
        let portable: Portable = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(copy.insert(&portable), Ok(who));
        assert_eq!(copy.row_hash(who), Ok(hash));
    }
}

#[test]
fn reordered_entries_reorder_what_runs_and_keep_their_state() {
    let log = Log::default();
    let (mut sim, who, _) = start(&log, set_of("CS_Robot", &["A", "B", "C"]));
    let report = reload(&mut sim, set_of("CS_Robot", &["C", "A", "B"]), &log);
    assert_eq!((report.capabilities_ended, report.capabilities_started), (0, 0));
    assert!(take(&log).is_empty() && steps(&mut sim).is_empty(), "nothing ends and nothing starts");
    frames(&mut sim, 1);
    let ticks: Vec<String> = calls(&log).into_iter().filter(|line| !line.ends_with("Tick")).collect();
    assert_eq!(ticks, ["C 3", "A 3", "B 3"], "the third tick of each");
    assert_eq!(sim.capability_counts(who).unwrap().total, 3);
}

#[test]
fn a_reload_of_the_same_rules_changes_nothing() {
    let log = Log::default();
    let (mut sim, who, _) = start(&log, set_of("CS_Robot", &["A", "B"]));
    let hash = sim.row_hash(who);
    let report = reload(&mut sim, set_of("CS_Robot", &["A", "B"]), &log);
    assert!(report.is_empty(), "{report}");
    assert_eq!((sim.row_hash(who), take(&log).len()), (hash, 0));
}

#[test]
fn a_removed_entry_ends_under_the_old_rules_and_a_new_one_starts_under_the_new() {
    let log = Log::default();
    let (mut sim, who, _) = start(&log, set_of("CS_Robot", &["A", "B", "C", "D"]));
    let report = reload(&mut sim, set_of("CS_Robot", &["D", "E", "A"]), &log);
    assert_eq!((report.capabilities_ended, report.capabilities_started), (2, 1));
    assert!(report.to_string().contains("2 capabilities ended, 1 capability started"), "{report}");
    assert_eq!(calls(&log), ["C Deactivated", "C End", "B Deactivated", "B End", "E Setup", "E Activated"]);
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    let reloaded = facts.list.iter().position(|f| matches!(f.kind, FactKind::Reloaded { .. }));
    assert_eq!(reloaded, Some(0));
    let rules = sim.rules().clone();
    let step = |f: &ugas_core::Fact| match f.kind {
        FactKind::Capability { class, step, .. } => Some(format!("{} {step:?}", rules.capability_name(class).unwrap())),
        _ => None,
    };
    let expected = [
        "C Deactivated",
        "C EndCapability",
        "C EndLife",
        "B Deactivated",
        "B EndCapability",
        "B EndLife",
        "E StartLife",
        "E Setup",
        "E Activated",
    ];
    assert_eq!(facts.list.iter().filter_map(step).collect::<Vec<_>>(), expected);
    frames(&mut sim, 1);
    let ticks: Vec<String> = calls(&log).into_iter().filter(|line| !line.ends_with("Tick")).collect();
    assert_eq!(ticks, ["D 3", "E 1", "A 3"]);
    assert_eq!(sim.capability_state(who, class(&sim, "B")), Ok(CapabilityState::NotHeld));
}

#[test]
fn entries_of_one_class_are_told_apart_by_their_order() {
    let log = Log::default();
    let (mut sim, who, _) = start(&log, set_of("CS_Robot", &["A", "B", "A"]));
    sim.run(Op::SetActive { who, active: true }).unwrap();
    let report = reload(&mut sim, set_of("CS_Robot", &["B", "A"]), &log);
    assert_eq!(report.capabilities_ended, 1);
    assert_eq!(calls(&log), ["A Deactivated", "A End"], "the second A");
    let report = reload(&mut sim, set_of("CS_Robot", &["A", "A", "A", "B"]), &log);
    assert_eq!(report.capabilities_started, 2);
    take(&log);
    frames(&mut sim, 1);
    let ticks: Vec<String> = calls(&log).into_iter().filter(|line| !line.ends_with("Tick")).collect();
    assert_eq!(ticks, ["A 3", "A 1", "A 1", "B 3"]);
}

#[test]
fn a_removed_set_ends_its_capabilities_first() {
    let log = Log::default();
    let (mut sim, who, handle) = start(&log, set_of("CS_Robot", &["A", "B"]).data("Data"));
    block(&mut sim, who, "Capability.Look", "Host", true);
    let rules = next(&sim, None, &log);
    let set = cap_set(&sim, "CS_Robot");
    let report = sim.reload(rules).unwrap();
    assert_valid(&sim);
    assert_eq!((report.ability_sets_revoked, report.capabilities_ended), (1, 2));
    assert_eq!(calls(&log), ["B Deactivated", "B End", "A Deactivated", "A End"]);
    let kinds = crate::kit::kinds(&mut sim);
    let revoked = kinds.iter().position(|kind| *kind == FactKind::SetRevoked { set, handle }).unwrap();
    let last = kinds.iter().rposition(|kind| matches!(kind, FactKind::Capability { .. })).unwrap();
    assert!(last < revoked);
    assert!(sim.capabilities(who).unwrap().is_empty());
    assert_eq!(sim.blocks(who).unwrap().len(), 1, "the host's block stays");
    frames(&mut sim, 3);
    assert!(take(&log).is_empty());
}

#[test]
fn a_nested_set_can_be_added_and_removed() {
    let log = Log::default();
    let other = || set_of("CS_Other", &["B", "C"]);
    let rules = with_code(base().add(set_of("CS_Robot", &["A"])).add(other()), &log).build().unwrap();
    let (mut sim, who) = sim_of(&rules);
    add(&mut sim, who, "CS_Robot");
    frames(&mut sim, 1);
    take(&log);
    let nested = with_code(base().after(rules).add(set_of("CS_Robot", &["A"]).set("CS_Other")).add(other()), &log);
    sim.reload(nested.build().unwrap()).unwrap();
    assert_valid(&sim);
    assert_eq!(calls(&log), ["B Setup", "B Activated", "C Setup", "C Activated"]);
    frames(&mut sim, 1);
    let ticks: Vec<String> = calls(&log).into_iter().filter(|line| !line.ends_with("Tick")).collect();
    assert_eq!(ticks, ["B 1", "C 1", "A 2"], "contained sets run first");
    let plain = with_code(base().after(sim.rules().clone()).add(set_of("CS_Robot", &["A"])).add(other()), &log);
    sim.reload(plain.build().unwrap()).unwrap();
    assert_valid(&sim);
    assert_eq!(calls(&log), ["C Deactivated", "C End", "B Deactivated", "B End"]);
}

#[test]
fn settings_follow_the_document_unless_the_host_changed_them() {
    let log = Log::default();
    let set = |interval: f64, enabled: bool| {
        let entry = |class: &str| SetCapability { enabled, ..SetCapability::new(class).interval(interval) };
        CapabilitySet::new("CS_Robot").capability(entry("A")).capability(entry("B")).capability(SetCapability::new("C"))
    };
    let (mut sim, who, _) = start(&log, set(0.0, true));
    set_interval(&mut sim, who, "B", 0.3);
    enable(&mut sim, who, "C", false);
    reload(&mut sim, set(0.5, true), &log);
    let seen = |sim: &Sim| -> Vec<(f64, bool)> {
        sim.capabilities(who).unwrap().iter().map(|v| (v.interval.as_seconds(), v.enabled)).collect()
    };
    assert_eq!(seen(&sim), [(0.5, true), (0.3, true), (0.0, false)]);
    frames(&mut sim, 5);
    let calls = calls(&log);
    assert_eq!(calls.iter().filter(|line| *line == "A Tick").count(), 1, "the interval began at the last tick");
    reload(&mut sim, set(0.5, false), &log);
    assert_eq!(seen(&sim), [(0.5, false), (0.3, false), (0.0, false)]);
}

#[test]
fn a_changed_side_is_evaluated_again() {
    let log = Log::default();
    let set = |side: Side| {
        CapabilitySet::new("CS_Robot")
            .capability(SetCapability::new("A").side(side))
            .capability(SetCapability::new("B"))
    };
    let rules = with_code(base().add(set(Side::Always)), &log).build().unwrap();
    let (mut server, who) = machine(&rules, Role::Authority, false);
    add(&mut server, who, "CS_Robot");
    take(&log);
    reload(&mut server, set(Side::AllClients), &log);
    assert_eq!(calls(&log), ["A Deactivated", "A End"], "a dedicated server has no screen");
    assert_eq!(server.capability_state(who, class(&server, "A")), Ok(CapabilityState::Elsewhere));
    reload(&mut server, set(Side::AuthorityOnly), &log);
    assert_eq!(calls(&log), ["A Setup", "A Activated"]);
    reload(&mut server, set(Side::Always), &log);
    assert!(take(&log).is_empty(), "both run on the server");
    assert_eq!(server.capabilities(who).unwrap()[0].side, Side::Always);
}

#[test]
fn a_class_that_loses_or_gets_code_ends_and_starts() {
    let log = Log::default();
    let set = || set_of("CS_Robot", &["A", "Own"]);
    let code = |b: RulesBuilder| b.capability_code("Own", counter("Own", &log));
    let docs = |b: RulesBuilder| with_code(b, &log).add(set());
    let rules = code(docs(base())).build().unwrap();
    let (mut sim, who) = sim_of(&rules);
    add(&mut sim, who, "CS_Robot");
    frames(&mut sim, 1);
    take(&log);
    steps(&mut sim);
    diagnostics(&mut sim);
    let own = class(&sim, "Own");
    let set_id = cap_set(&sim, "CS_Robot");

    // Announced only.
    let announced = docs(base()).after(rules.clone()).announce_capability("Own").build().unwrap();
    let report = sim.reload(announced).unwrap();
    assert_valid(&sim);
    assert_eq!(calls(&log), ["Own Deactivated", "Own End"]);
    assert_eq!((report.capabilities_ended, report.capabilities_started), (1, 0));
    let kinds: Vec<DiagnosticKind> = diagnostics(&mut sim).into_iter().map(|d| d.kind).collect();
    assert_eq!(kinds, [DiagnosticKind::CapabilityWithoutCode { set: set_id, class: own }]);
    assert_eq!(sim.capability_state(who, own), Ok(CapabilityState::Elsewhere));

    // Code again.
    let again = code(docs(base())).after(sim.rules().clone()).build().unwrap();
    let report = sim.reload(again).unwrap();
    assert_valid(&sim);
    assert_eq!(report.capabilities_started, 1);
    assert_eq!(calls(&log), ["Own Setup", "Own Activated"]);
    frames(&mut sim, 1);
    assert!(calls(&log).contains(&"Own 1".to_owned()), "its state began again");

    // A document.
    let document = docs(base()).after(sim.rules().clone()).add(Capability::new("Own").effect("GE_Haste"));
    let report = sim.reload(document.build().unwrap()).unwrap();
    assert_valid(&sim);
    assert_eq!((report.capabilities_ended, report.capabilities_started), (1, 1));
    assert_eq!(calls(&log), ["Own Deactivated", "Own End"]);
    assert_eq!((get(&sim, who, "Health"), sim.capability_state(who, own)), (105.0, Ok(CapabilityState::Active)));
}

#[test]
fn an_active_document_gets_its_new_effects_and_blocks() {
    let rules = |after: Option<&Sim>, own: Capability| {
        let builder = after.map_or_else(base, |sim| base().after(sim.rules().clone()));
        builder.add(own).add(set_of("CS_Robot", &["Own"])).build().unwrap()
    };
    let (mut sim, who) = sim_of(&rules(None, Capability::new("Own").effect("GE_Haste").blocks("Capability.Look")));
    add(&mut sim, who, "CS_Robot");
    frames(&mut sim, 1);
    steps(&mut sim);
    let names = |sim: &Sim| -> Vec<String> {
        let effects = sim.effects(who).unwrap();
        effects.iter().map(|e| sim.rules().effect_name(e.effect).unwrap().to_owned()).collect()
    };
    let new = rules(Some(&sim), Capability::new("Own").effect("GE_Go").effect("GE_Haste").blocks("Capability.Move"));
    sim.reload(new).unwrap();
    assert_valid(&sim);
    assert_eq!(names(&sim), ["GE_Haste", "GE_Go"], "the old effect is kept, the new one is applied");
    let blocked = |sim: &Sim, tag: &str| sim.is_blocked(who, tag_of(sim, tag)).unwrap();
    assert_eq!((blocked(&sim, "Capability.Look"), blocked(&sim, "Capability.Move")), (false, true));
    assert!(steps(&mut sim).is_empty());
    let new = rules(Some(&sim), Capability::new("Own"));
    sim.reload(new).unwrap();
    assert_valid(&sim);
    assert_eq!((names(&sim).len(), sim.blocks(who).unwrap().len()), (0, 0));
    assert_eq!(sim.capability_state(who, class(&sim, "Own")), Ok(CapabilityState::Active));
    let new = rules(Some(&sim), Capability::new("Own").when("Health > 200"));
    sim.reload(new).unwrap();
    frames(&mut sim, 1);
    assert_eq!(steps(&mut sim), ["Own Deactivated"], "new conditions are read in the next frame");
}

#[test]
fn blocks_of_capabilities_move_with_them() {
    let log = Log::default();
    let blocker = |log: &Log| {
        Probe::new("Blocker", log).doing(|_, call, cx| {
            if call == CapabilityCall::Activated {
                cx.block(cx.rules().tag("Capability.Look").unwrap());
            }
        })
    };
    let rules = |after: Option<&Sim>, classes: &[&str]| {
        let builder = after.map_or_else(base, |sim| base().after(sim.rules().clone()));
        with_code(builder, &log)
            .capability_code("Blocker", blocker(&log))
            .add(set_of("CS_Robot", classes))
            .build()
            .unwrap()
    };
    let (mut sim, who) = sim_of(&rules(None, &["A", "B", "Blocker"]));
    let handle = add(&mut sim, who, "CS_Robot");
    let look = tag_of(&sim, "Capability.Look");
    assert_eq!(sim.blocks(who), Ok(vec![(look, BlockSource::Capability { handle, position: 2 })]));
    let new = rules(Some(&sim), &["Blocker", "A"]);
    sim.reload(new).unwrap();
    assert_valid(&sim);
    assert_eq!(sim.blocks(who), Ok(vec![(look, BlockSource::Capability { handle, position: 0 })]));
    let new = rules(Some(&sim), &["A"]);
    sim.reload(new).unwrap();
    assert_valid(&sim);
    assert_eq!(sim.blocks(who), Ok(vec![]), "removed with the capability");
}

#[test]
fn effects_keep_unique_keys_when_entries_change_places() {
    let log = Log::default();
    let giver = |name: &'static str| {
        Probe::new(name, &log).doing(|_, call, cx| {
            if matches!(call, CapabilityCall::Tick { .. } | CapabilityCall::Deactivated) {
                cx.apply_to_owner(cx.rules().effect("GE_Haste").unwrap());
            }
        })
    };
    let rules = |after: Option<&Sim>, classes: &[&str]| {
        let builder = after.map_or_else(base, |sim| base().after(sim.rules().clone()));
        let builder = ["X", "Y", "Z"].into_iter().fold(builder, |b, name| b.capability_code(name, giver(name)));
        builder.add(set_of("CS_Robot", classes)).build().unwrap()
    };
    let (mut sim, who) = sim_of(&rules(None, &["X", "Y"]));
    add(&mut sim, who, "CS_Robot");
    for classes in [&["Y", "X"][..], &["Z", "X"], &["X"], &["Z"], &["Y", "X", "Z"]] {
        frames(&mut sim, 3);
        let new = rules(Some(&sim), classes);
        sim.reload(new).unwrap();
        assert_valid(&sim);
    }
    frames(&mut sim, 3);
    let effects = sim.effects(who).unwrap();
    let keys: std::collections::BTreeSet<_> = effects.iter().map(|e| (e.key.origin_id, e.key.ordinal)).collect();
    assert_eq!(keys.len(), effects.len());
    assert!(effects.len() > 20);
}

#[test]
fn a_new_entry_waits_for_a_data_component_that_the_reload_does_not_register() {
    let log = Log::default();
    let (mut sim, who, _) = start(&log, set_of("CS_Robot", &["A"]));
    reload(&mut sim, set_of("CS_Robot", &["A", "B"]).data("Data"), &log);
    assert!(calls(&log).is_empty());
    assert_eq!(sim.capability_state(who, class(&sim, "B")), Ok(CapabilityState::Waiting));
    let data = sim.rules().set("Data").unwrap();
    assert_eq!(sim.capabilities(who).unwrap()[1].waits_for, Some(data));
    sim.run(Op::AddSet { who, set: data }).unwrap();
    frames(&mut sim, 1);
    assert_eq!(calls(&log)[2..], ["B Setup", "B Activated"]);
}

#[test]
fn too_many_capabilities_under_the_new_rules_refuse_the_reload() {
    let log = Log::default();
    let (mut sim, who, _) = start(&log, set_of("CS_Robot", &["A"]));
    let hash = sim.hash();
    let rules = next(&sim, Some(set_of("CS_Robot", &["A"; 2_000])), &log);
    let refused = sim.reload(rules).unwrap_err();
    let ReloadError::Capabilities { who: of, refusal: Refusal::Limit { what, .. }, .. } = refused else {
        panic!("{refused}");
    };
    assert_eq!((of, what), (who, LimitKind::Capabilities));
    assert_eq!((sim.hash(), take(&log).len()), (hash, 0));
}

#[test]
fn a_reload_continues_like_a_run_with_the_new_rules() {
    // Attributes change with the set: a kept capability reads the new value.
    let log = Log::default();
    let rules = |after: Option<&Sim>, health: f64| {
        let builder = after.map_or_else(Rules::builder, |sim| Rules::builder().after(sim.rules().clone()));
        let watch = Capability::new("Own").when("Health > 120");
        let vitals = AttributeSet::new("Vitals").with(Attribute::new("Health", health));
        builder.add(vitals).add(watch).add(set_of("CS_Robot", &["Own"])).build().unwrap()
    };
    let (mut sim, who) = sim_of(&rules(None, 100.0));
    add(&mut sim, who, "CS_Robot");
    frames(&mut sim, 2);
    assert_eq!(steps(&mut sim), ["Own StartLife", "Own Setup"]);
    let new = rules(Some(&sim), 150.0);
    sim.reload(new).unwrap();
    sim.advance_to(sim.now() + SimTime::millis(100));
    assert_eq!(steps(&mut sim), ["Own Activated"]);
    assert!(take(&log).is_empty());
}
