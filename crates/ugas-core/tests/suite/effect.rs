//! Effects through the public API: specs, keys, order, grants, queries and changes.

use crate::kit::world::World;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use ugas_core::{ActorId, CauseWhat, EffectKey, FactKind, Read, ReadError, Refusal, RemoveReason, Rules, SimTime};
use ugas_doc::{
    Ability, Attribute, AttributeSet, ConditionalEffects, Effect, GrantedAbilityEntry, Magnitude, TagRegistry,
};

fn vitals() -> AttributeSet {
    AttributeSet::new("Vitals")
        .with(Attribute::new("Health", 100.0).min(0.0))
        .with(Attribute::new("AttackPower", 10.0))
        .with(Attribute::new("MoveSpeed", 5.0))
}

// Specs and contexts --------------------------------------------------------------------------------------------

// covers: UGAS-2-05
#[test]
fn two_specs_share_a_definition_and_keep_their_own_level() {
    let level = Magnitude::curve("C_Poison");
    let mut w = World::new(
        Rules::builder()
            .add(vitals())
            .add(ugas_doc::Curve::new("C_Poison", [(1.0, -1.0), (5.0, -5.0)]))
            .add(Effect::infinite("GE_Poison").add("AttackPower", level)),
    );
    let (a, b) = (w.spawn("Vitals"), w.spawn("Vitals"));
    let (weak, strong) = (w.spec("GE_Poison", a).level(1), w.spec("GE_Poison", b).level(5));
    assert_eq!(weak.effect, strong.effect);
    assert_eq!((weak.level, strong.level), (1, 5));
    let (weak, strong) = (w.sim.apply(&weak).unwrap(), w.sim.apply(&strong).unwrap());
    let view = |w: &World, key| w.sim.effect(key).unwrap();
    assert_eq!(view(&w, weak).effect, view(&w, strong).effect);
    assert_eq!((view(&w, weak).level, view(&w, strong).level), (1, 5));
    assert_eq!((w.get(a, "AttackPower"), w.get(b, "AttackPower")), (9.0, 5.0));
}

// covers: UGAS-4.5-01 UGAS-4.5-02
#[test]
fn a_spec_has_its_source_and_contexts_are_independent() {
    let mut w = World::new(Rules::builder().add(vitals()).add(Effect::infinite("GE_Mark").add("MoveSpeed", 1.0)));
    let (maker, target) = (w.spawn("Vitals"), w.spawn("Vitals"));
    // Without more context the instigator is the maker.
    let plain = w.spec("GE_Mark", target).from(maker).level(3);
    assert_eq!((plain.source, plain.level, plain.extra.is_none()), (maker, 3, true));
    // Two contexts of one maker do not share anything.
    let mut first = plain.clone().origin([1.0, 2.0, 3.0]);
    first.extra().causer = Some(ActorId(5));
    let mut second = w.spec("GE_Mark", target).from(maker);
    second.extra().causer = Some(ActorId(6));
    assert_eq!((first.source, second.source), (maker, maker));
    assert_eq!(first.extra().origin, Some([1.0, 2.0, 3.0]));
    assert_eq!(second.extra().origin, None);
    assert_eq!((first.extra().causer, second.extra().causer), (Some(ActorId(5)), Some(ActorId(6))));
    // The spec is applied and reported unchanged.
    let key = w.sim.apply(&first).unwrap();
    let view = w.sim.effect(key).unwrap();
    assert_eq!((view.source, view.level), (Some(maker), 3));
    assert!(w.facts().iter().filter(|f| f.key == key).all(|f| f.source == maker));
}

// Public API ----------------------------------------------------------------------------------------------------

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, into),
            false if path.extension().is_some_and(|e| e == "rs") => into.push(path),
            false => {}
        }
    }
}

/// The names of the public methods of `Sim` and its network handle that may change it, as its sources have them.
fn changing_methods() -> BTreeSet<String> {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut found = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (at, _) in text.match_indices("pub fn ") {
            let head = &text[at + "pub fn ".len()..];
            let end = head.find('{').unwrap_or(head.len());
            let signature = &head[..end];
            assert!(
                !signature.contains("&mut Sim") && !signature.contains("&mut State"),
                "{}: {signature}",
                file.display()
            );
            let block = text[..at].rfind("\nimpl").map_or("", |i| text[i + 1..].lines().next().unwrap_or(""));
            if ["impl Sim {", "impl RemoteMut<'_> {"].contains(&block) && signature.contains("&mut self") {
                found.insert(head[..head.find(['(', '<']).unwrap()].to_owned());
            }
        }
    }
    found
}

// covers: UGAS-3.1-02
#[test]
fn only_ops_change_a_value_or_a_tag_from_outside() {
    let doors = [
        "run",
        "run_as",
        "run_aimed",
        "run_late",
        "spawn",
        "spawn_many",
        "despawn",
        "apply",
        "apply_to_many",
        "apply_all",
        "remove",
        "remove_stacks",
    ];
    let time = ["advance_to", "advance_with"];
    // These restore, move or reload whole controllers made by the operations above; never one value or tag.
    let whole =
        ["restore", "resimulate", "resimulate_together", "extract", "insert", "reset", "reload", "remove_silently"];
    // What network sessions do through their handle.
    let session = [
        "add_seed_block",
        "add_use_seeds",
        "adopt_definition",
        "discard_actions",
        "discard_op",
        "discard_uses",
        "drop_seed_blocks",
        "import",
        "import_proxy",
        "move_proxy",
        "remote_mut",
        "remove_stream",
        "remove_uses",
        "renumber_uses",
        "requeue_ops",
        "set_hidden",
        "set_role",
        "set_roll_owner",
        "simulate",
        "take_aims",
        "take_changed",
        "take_used",
        "trim_journal",
    ];
    let no_values = [
        "take_facts",
        "take_diagnostics",
        "take_trace",
        "hash",
        "keep_journal",
        "define",
        "undefine",
        "reseed",
        // Decides on which machine code runs.
        "set_local",
    ];
    // Sugar over ops about abilities.
    let abilities = [
        "activate",
        "activate_which",
        "cancel",
        "commit",
        "complete",
        "end",
        "event",
        "grant",
        "grant_set",
        "interrupt",
        "press",
        "release",
        "restrict",
        "revoke",
        "revoke_set",
        "set_level",
        "set_param",
        "validate",
    ];
    let all = doors.iter().chain(&time).chain(&whole).chain(&session).chain(&no_values).chain(&abilities);
    let allowed: BTreeSet<String> = all.map(|s| (*s).to_owned()).collect();
    assert_eq!(changing_methods(), allowed, "a new way into the sim: is it an op?");
    // The ops themselves: only applying, changing and removing effects acts on values and tags of what exists.
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/op.rs")).unwrap();
    let body = text.split("pub enum Op {").nth(1).unwrap().split("\n}").next().unwrap();
    let variants: BTreeSet<&str> = body
        .lines()
        .filter(|l| l.starts_with("    ") && l.as_bytes()[4].is_ascii_uppercase())
        .map(|l| l.trim().split(['(', ' ', ',', '{']).next().unwrap())
        .collect();
    // `ModifyResource` applies the built-in effect `GE_ModifyResource`.
    let effects =
        ["Apply", "ApplyToMany", "ApplyAll", "Remove", "RemoveMatching", "Change", "ChangeMatching", "ModifyResource"];
    let lives = ["Spawn", "SpawnMany", "Despawn", "AddSet", "RemoveSet", "SetActive", "SetRate", "Possess", "Move"];
    // Abilities act on values and tags only by applying and removing effects.
    let abilities = [
        "Grant",
        "Revoke",
        "GrantSet",
        "RevokeSet",
        "SetLevel",
        "SetParam",
        "Restrict",
        "Activate",
        "Cancel",
        "Interrupt",
        "End",
        "Commit",
        "Validate",
        "Mispredicted",
        "Aim",
        "Event",
        "Press",
        "Release",
        "Axis",
        "LetGo",
        "Complete",
        "ApplyFromAbility",
    ];
    // Capabilities too; these ops change when they run.
    let capabilities = ["Block", "Unblock", "Enable", "SetTick"];
    let all = effects.iter().chain(&lives).chain(&abilities).chain(&capabilities).chain(&["Define", "Undefine"]);
    let wanted: BTreeSet<&str> = all.copied().collect();
    assert_eq!(variants, wanted, "a new op: does it set a value or a tag without an effect?");
    // And the state itself is out of reach.
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sim.rs")).unwrap();
    let fields = text.split("pub struct Sim {").nth(1).unwrap().split('}').next().unwrap();
    assert!(!fields.contains("pub "), "{fields}");
}

// Keys and facts ------------------------------------------------------------------------------------------------

// covers: UGAS-9.2-05
#[test]
fn one_applied_and_one_removed_fact_carry_the_key() {
    let mut w = World::new(Rules::builder().add(vitals()).add(Effect::lasting("GE_Haste", 3.0).add("MoveSpeed", 1.0)));
    let who = w.spawn("Vitals");
    w.facts();
    let key = w.apply("GE_Haste", who);
    w.to(10.0);
    let facts = w.facts();
    let applied: Vec<_> = facts.iter().filter(|f| matches!(f.kind, FactKind::EffectApplied { .. })).collect();
    let removed: Vec<_> = facts.iter().filter(|f| matches!(f.kind, FactKind::EffectRemoved { .. })).collect();
    assert_eq!((applied.len(), removed.len()), (1, 1));
    assert_eq!((applied[0].at, applied[0].key, applied[0].who), (SimTime::ZERO, key, who));
    assert_eq!((removed[0].at, removed[0].key), (SimTime::seconds(3.0), key));
    assert_eq!(removed[0].kind, FactKind::EffectRemoved { reason: RemoveReason::Expired });
}

// covers: UGAS-9.9-04
#[test]
fn ten_thousand_applications_have_ten_thousand_keys() {
    let mut w = World::new(
        Rules::builder()
            .add(vitals())
            .add(TagRegistry::new(["State.Marked"]))
            .add(Effect::instant("GE_Hit").add("AttackPower", 0.001))
            .add(Effect::lasting("GE_Haste", 0.5).add("MoveSpeed", 0.001))
            .add(Effect::instant("GE_Execute").add("Health", -1.0).requires("State.Marked")),
    );
    let (a, b) = (w.spawn("Vitals"), w.spawn("Vitals"));
    let mut keys: BTreeSet<EffectKey> = BTreeSet::new();
    let mut results = Vec::new();
    for round in 0..1_000 {
        for _ in 0..4 {
            keys.insert(w.apply("GE_Hit", a));
            keys.insert(w.apply("GE_Haste", b));
        }
        let spec = w.spec("GE_Hit", a);
        w.sim.apply_to_many(&spec, &[a, b], &mut results);
        keys.extend(results.drain(..).map(Result::unwrap));
        w.to(round as f64 * 0.1);
    }
    assert_eq!(keys.len(), 10_000);
    // An instant effect was executed: its key is good, but nothing is active under it.
    let key = w.apply("GE_Hit", a);
    assert_eq!(w.sim.effect(key), Err(ReadError::StaleHandle));
    // An application refused by a filter has no key and uses none up.
    let missing = w.tag("State.Marked");
    assert_eq!(w.try_apply("GE_Execute", a), Err(Refusal::RequiredTags { missing }));
    assert!(keys.insert(w.apply("GE_Hit", a)));
}

#[test]
fn keys_of_one_batch_are_distinct_even_if_some_entries_are_refused() {
    let mut w = World::new(
        Rules::builder()
            .add(vitals())
            .add(Effect::infinite("GE_Haste").add("MoveSpeed", 1.0))
            .add(Effect::infinite("GE_Shy").add("MoveSpeed", 1.0).requires("State.Never")),
    );
    let (a, b) = (w.spawn("Vitals"), w.spawn("Vitals"));
    let specs: Vec<_> = [("GE_Haste", a), ("GE_Shy", a), ("GE_Haste", b), ("GE_Haste", a), ("GE_Haste", b)]
        .map(|(e, who)| w.spec(e, who))
        .to_vec();
    let mut results = Vec::new();
    assert_eq!(w.sim.apply_all(&specs, &mut results), 4);
    let keys: BTreeSet<EffectKey> = results.iter().filter_map(|r| r.ok()).collect();
    assert_eq!(keys.len(), 4);
    assert!(results[1].is_err());
    for key in keys {
        w.sim.remove(key).unwrap();
        assert_eq!(w.sim.remove(key), Err(Refusal::StaleHandle));
    }
    assert_eq!((w.get(a, "MoveSpeed"), w.get(b, "MoveSpeed")), (5.0, 5.0));
}

#[test]
fn an_effect_applied_by_an_effect_reports_it_in_its_chain() {
    let mut first = Effect::lasting("GE_A", 2.0);
    first.effects = Some(ConditionalEffects { on_expired: vec!["GE_B".into()], ..ConditionalEffects::default() });
    let mut second = Effect::instant("GE_B").add("Health", -5.0);
    second.effects = Some(ConditionalEffects { on_applied: vec!["GE_C".into()], ..ConditionalEffects::default() });
    let last = Effect::lasting("GE_C", 5.0).every(1.0).add("Health", -1.0);
    let mut w = World::new(Rules::builder().add(vitals()).add(first).add(second).add(last));
    let (boss, hero) = (w.spawn("Vitals"), w.spawn("Vitals"));
    w.facts();
    w.hit("GE_A", boss, hero);
    w.to(3.0);
    let (a, b, c) = (w.effect("GE_A"), w.effect("GE_B"), w.effect("GE_C"));
    let facts = w.facts();
    let root = facts[0].root;
    let tick = facts.iter().rfind(|f| matches!(f.kind, FactKind::AttributeChanged { .. })).unwrap();
    let chain: Vec<CauseWhat> = w.sim.chain(tick.link).iter().map(|l| l.what).collect();
    // A plain application may be a link of its own; the order of causes is fixed.
    let wanted = [CauseWhat::Executed(c), CauseWhat::Applied(b), CauseWhat::Expired(a), CauseWhat::Op];
    let places: Vec<_> = wanted.iter().map(|s| chain.iter().position(|c| c == s)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{chain:?}");
    assert!(w.sim.chain(tick.link).iter().all(|l| l.who == hero && l.root == root));
    assert_eq!((tick.root, tick.source, tick.who), (root, boss, hero));
}

// Order ---------------------------------------------------------------------------------------------------------

// covers: UGAS-9.7-05
#[test]
fn one_effect_with_all_parts_is_applied_and_removed_in_order() {
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let logger = |what: &'static str| {
        let log = log.clone();
        move |text: String| log.lock().unwrap().push(format!("{what}{text}"))
    };
    let (filter, before, magnitude, execution, after) =
        (logger("filter"), logger("before "), logger("capture"), logger("execution "), logger("after "));
    let mut all = Effect::infinite("GE_All")
        .add("AttackPower", Magnitude::calculation("MMC_Five"))
        .execute("ExecCalc_Tell")
        .grants("State.Buff.Strong")
        .cue("GameplayCue.Glow");
    all.granted_abilities = vec![GrantedAbilityEntry::new("GA_Smash")];
    all.application_requirement = Some("Req".into());
    let mut w = World::new(
        Rules::builder()
            .add(vitals())
            .add(Ability::new("GA_Smash"))
            .add(all)
            .requirement("Req", move |_| {
                filter(String::new());
                true
            })
            .before_hook("Before", move |cx| {
                before(cx.target("AttackPower").unwrap().to_string());
                true
            })
            .calc_fn("MMC_Five", [], move |cx| {
                magnitude(String::new());
                cx.give(5.0);
            })
            .calc_fn("ExecCalc_Tell", [Read::target("AttackPower")], move |cx| {
                execution(cx.target("AttackPower").to_string());
                cx.add("Health", -1.0);
            })
            .after_hook("After", move |cx| after(cx.context().target("AttackPower").unwrap().to_string())),
    );
    let who = w.spawn("Vitals");
    w.log();
    let key = w.apply("GE_All", who);
    // Code runs in this order: a filter and the hook see the old value, the execution sees the modifiers.
    assert_eq!(*log.lock().unwrap(), ["filter", "before 10", "capture", "execution 15", "after 15"]);
    let applied = [
        "AttackPower 10 -> 15",
        "Health 100 -> 99",
        "+State.Buff.Strong",
        "+State.Buff",
        "+State",
        "granted GA_Smash",
        "applied GE_All",
        "cue Add GameplayCue.Glow",
    ];
    let mut found = w.log();
    // Attributes come in the controller's own order.
    found[..2].sort();
    assert_eq!(found, applied);
    w.sim.remove(key).unwrap();
    let removed = [
        "AttackPower 15 -> 10",
        "-State.Buff.Strong",
        "-State.Buff",
        "-State",
        "revoked GA_Smash",
        "removed GE_All Removed",
        "cue Remove GameplayCue.Glow",
    ];
    assert_eq!(w.log(), removed);
}
