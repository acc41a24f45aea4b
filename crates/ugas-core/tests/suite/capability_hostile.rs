//! Forged and extreme input for capabilities. Each is refused with a value, changes nothing and takes no long time.

use crate::kit::capability::*;
use serde_json::{Value, json};
use std::sync::Arc;
use ugas_core::{
    BadValue, BlockSource, CapabilityId, CapabilityState, ControllerId, EffectKey, InsertError, LimitKind, NameKind,
    Op, ParamId, Portable, Refusal, Role, Rules, Sim, SimTime, SpawnSpec, TagId,
};
use ugas_doc::{AbilitySet, Capability, CapabilitySet, SetCapability, Side};

fn rules() -> Arc<Rules> {
    let log = Log::default();
    let guard = Capability::new("Guard").effect("GE_Haste").blocks("Capability.Look");
    let set = CapabilitySet::new("CS_Robot")
        .capability(SetCapability::new("Guard"))
        .capability(SetCapability::new("B").side(Side::AuthorityOnly))
        .capability(SetCapability::new("C").tag("Capability.Move.Fly"));
    base()
        .add(guard)
        .add(set)
        .add(set_of("CS_Other", &["C"]))
        .capability_code("B", Probe::new("B", &log).doing(|state, _, _| *state += 1))
        .capability_code("C", Probe::new("C", &log))
        .build()
        .unwrap()
}

/// A saved controller as JSON.
fn saved(rules: &Arc<Rules>) -> (Value, ControllerId) {
    let (mut sim, who) = sim_of(rules);
    add(&mut sim, who, "CS_Robot");
    block(&mut sim, who, "Capability.Move", "Host", true);
    block(&mut sim, who, "Capability.Move", "Other", true);
    frames(&mut sim, 2);
    (serde_json::to_value(sim.extract(who).unwrap()).unwrap(), who)
}

/// Changes a saved controller and inserts it. A forged controller that cannot be read counts as refused.
fn insert_forged(rules: &Arc<Rules>, forge: impl FnOnce(&mut Value)) -> Result<Sim, InsertError> {
    let (mut whole, _) = saved(rules);
    forge(whole.pointer_mut("/row/side/play").unwrap());
    let portable: Portable =
        serde_json::from_value(whole).map_err(|_| InsertError::Damaged("the value cannot be read"))?;
    let mut sim = Sim::new(rules.clone(), config(Role::Standalone, true));
    let before = sim.hash();
    match sim.insert(&portable) {
        Ok(_) => Ok(sim),
        Err(error) => {
            assert_eq!((sim.hash(), sim.controllers().count()), (before, 0));
            Err(error)
        }
    }
}

fn damaged(forge: impl FnOnce(&mut Value)) -> String {
    match insert_forged(&rules(), forge) {
        Err(InsertError::Damaged(what)) => what.to_owned(),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("the forged controller was accepted"),
    }
}

fn records(play: &mut Value) -> &mut Vec<Value> {
    play["capabilities"]["records"].as_array_mut().unwrap()
}

#[test]
fn an_unchanged_controller_is_accepted() {
    let mut sim = insert_forged(&rules(), |_| {}).unwrap();
    frames(&mut sim, 5);
}

#[test]
fn records_that_are_not_sorted_are_refused() {
    assert_eq!(damaged(|play| records(play).swap(0, 1)), "capabilities are not in order");
    let swap_blocks = |play: &mut Value| play["capabilities"]["blocks"].as_array_mut().unwrap().swap(0, 1);
    assert_eq!(damaged(swap_blocks), "blocks are not in order");
}

#[test]
fn doubled_records_are_refused() {
    let double = |play: &mut Value| {
        let first = records(play)[0].clone();
        records(play).insert(0, first);
    };
    assert_eq!(damaged(double), "capabilities are not in order");
    let double = |play: &mut Value| {
        let blocks = play["capabilities"]["blocks"].as_array_mut().unwrap();
        blocks.insert(0, blocks[0].clone());
    };
    assert_eq!(damaged(double), "blocks are not in order");
    // As further records of the same grant.
    let append = |play: &mut Value| {
        let mut last = records(play)[2].clone();
        last["position"] = json!(3);
        records(play).push(last);
    };
    assert_eq!(damaged(append), "the entry of a capability does not exist");
}

#[test]
fn records_of_unknown_classes_sets_and_entries_are_refused() {
    for class in [0, 1, 77, u32::MAX] {
        let what = std::panic::catch_unwind(|| damaged(|play| records(play)[2]["class"] = json!(class)));
        let is_real = class == json_class(&rules(), "C");
        assert_eq!(what.is_err(), is_real, "class {class}");
    }
    assert_eq!(damaged(|play| records(play)[2]["set"] = json!(99)), "the entry of a capability does not exist");
    assert_eq!(damaged(|play| records(play)[2]["index"] = json!(65_535)), "the entry of a capability does not exist");
    assert_eq!(damaged(|play| records(play)[0]["side"] = json!("AllClients")), "the class of a capability is invalid");
}

fn json_class(rules: &Rules, name: &str) -> u32 {
    rules.capability(name).unwrap().0
}

#[test]
fn a_state_of_65_bytes_is_refused() {
    let state = |bytes: usize| move |play: &mut Value| records(play)[1]["state"] = json!(vec![1; bytes]);
    assert_eq!(damaged(state(65)), "the state of a capability is too large");
    assert_eq!(damaged(state(100_000)), "the state of a capability is too large");
    // A state that the code cannot read: its calls end with a diagnostic, and nothing panics.
    for forged in [vec![255u8; 64], vec![128; 11], vec![1, 2, 3]] {
        let mut sim = insert_forged(&rules(), |play| records(play)[1]["state"] = json!(forged)).unwrap();
        frames(&mut sim, 3);
        let who = sim.controllers().next().unwrap();
        sim.despawn(who).unwrap();
    }
}

#[test]
fn records_without_their_set_and_sets_without_their_records_are_refused() {
    assert_eq!(damaged(|play| play["sets"] = json!([])), "the set of a capability does not exist");
    let other = |play: &mut Value| records(play).iter_mut().for_each(|record| record["handle"] = json!(999));
    assert_eq!(damaged(other), "the set of a capability does not exist");
    let incomplete = "the capabilities of a set are not the entries of the set";
    assert_eq!(damaged(|play| drop(records(play).pop())), incomplete);
    assert_eq!(damaged(|play| play["capabilities"] = json!(null)), incomplete);
}

#[test]
fn records_with_impossible_times_stages_and_effects_are_refused() {
    for interval in [-1, i64::MIN, i64::MAX] {
        assert_eq!(
            damaged(|play| records(play)[1]["interval"] = json!(interval)),
            "the time of a capability is invalid"
        );
    }
    for last in [i64::MIN, i64::MAX] {
        assert_eq!(damaged(|play| records(play)[1]["last"] = json!(last)), "the time of a capability is invalid");
    }
    assert_eq!(
        damaged(|play| records(play)[1]["stage"] = json!("Elsewhere")),
        "a capability that does not run has state"
    );
    assert_eq!(damaged(|play| records(play)[0]["stage"] = json!("Inactive")), "an inactive capability has effects");
    assert_eq!(
        damaged(|play| records(play)[0]["effects"] = json!([[1, 1], [2, 2]])),
        "the effects of a capability are invalid"
    );
    let mut sim = insert_forged(&rules(), |play| records(play)[0]["effects"] = json!([[7, 7]])).unwrap();
    let who = sim.controllers().next().unwrap();
    sim.despawn(who).unwrap();
}

#[test]
fn blocks_of_nobody_are_refused() {
    let source = |source: Value| {
        move |play: &mut Value| play["capabilities"]["blocks"] = json!([{ "tag": 0, "source": source }])
    };
    let capability = |handle: u64, position: u16| json!({ "Capability": { "handle": handle, "position": position } });
    assert_eq!(damaged(source(capability(999, 0))), "the capability of a block does not exist");
    assert_eq!(damaged(source(capability(u64::MAX, u16::MAX))), "the capability of a block does not exist");
    let unknown =
        |play: &mut Value| play["capabilities"]["blocks"] = json!([{ "tag": 4_000, "source": { "Host": 1 } }]);
    assert_eq!(damaged(unknown), "the tag of a block is unknown");

    let (mut sim, who) = sim_of(&rules());
    let handle = add(&mut sim, who, "CS_Robot");
    let tag = tag_of(&sim, "Capability.Look");
    let before = sim.row_hash(who);
    let nobody = [
        BlockSource::Controller(ControllerId(77)),
        BlockSource::Controller(ControllerId::NONE),
        BlockSource::Effect(EffectKey::NONE),
        BlockSource::Effect(EffectKey { origin_id: 1, target: who, ordinal: 0 }),
        BlockSource::Capability { handle: handle + 1, position: 0 },
        BlockSource::Capability { handle, position: 3 },
        BlockSource::Capability { handle, position: u16::MAX },
    ];
    for source in nobody {
        assert_eq!(sim.run(Op::Block { who, tag, source }), Err(Refusal::StaleHandle), "{source:?}");
        sim.run(Op::Unblock { who, tag, source }).unwrap();
    }
    let host = BlockSource::Host(ParamId(u32::MAX));
    let unknown = Err(Refusal::UnknownName { kind: NameKind::Tag, id: 4_000 });
    assert_eq!(sim.run(Op::Block { who, tag: TagId(4_000), source: host }), unknown);
    assert_eq!(sim.run(Op::Unblock { who, tag: TagId(4_000), source: host }), unknown);
    let missing = ControllerId(77);
    assert_eq!(sim.run(Op::Block { who: missing, tag, source: host }), Err(Refusal::StaleHandle));
    assert_eq!(sim.row_hash(who), before);
}

/// A saved block whose source is not in the sim ends with the next frame. Until then the source may be inserted too.
#[test]
fn a_block_of_a_source_that_does_not_exist_ends_with_the_next_frame() {
    let rules = rules();
    let (whole, who) = saved(&rules);
    let other = ControllerId(who.0 + 1);
    let tag = rules.tag("Capability.Move").unwrap();
    let sources = [
        BlockSource::Controller(other),
        BlockSource::Controller(ControllerId::NONE),
        BlockSource::Effect(EffectKey { origin_id: 7, target: who, ordinal: 0 }),
        BlockSource::Effect(EffectKey { origin_id: 7, target: other, ordinal: 0 }),
        BlockSource::Effect(EffectKey::NONE),
    ];
    let class = rules.capability("C").unwrap();
    for source in sources {
        let mut whole = whole.clone();
        let blocks = json!([{ "tag": tag.0, "source": serde_json::to_value(source).unwrap() }]);
        whole.pointer_mut("/row/side/play").unwrap()["capabilities"]["blocks"] = blocks;
        let portable: Portable = serde_json::from_value(whole).unwrap();
        let load = || {
            let mut sim = Sim::new(rules.clone(), config(Role::Standalone, true));
            sim.insert(&portable).unwrap();
            assert_eq!(sim.capability_state(who, class), Ok(CapabilityState::Blocked), "{source:?}");
            sim
        };
        let mut sim = load();
        frames(&mut sim, 1);
        assert_eq!(sim.capability_state(who, class), Ok(CapabilityState::Active), "{source:?}");
        // The source is loaded at the same time.
        let mut sim = load();
        let spec = SpawnSpec { id: Some(other), ..SpawnSpec::sets([rules.set("Vitals").unwrap()]) };
        sim.spawn(spec).unwrap();
        frames(&mut sim, 3);
        let stays = source == BlockSource::Controller(other);
        let state = if stays { CapabilityState::Blocked } else { CapabilityState::Active };
        assert_eq!(sim.capability_state(who, class), Ok(state), "{source:?}");
        if stays {
            sim.despawn(other).unwrap();
            frames(&mut sim, 1);
            assert_eq!(sim.capability_state(who, class), Ok(CapabilityState::Active), "it goes with its source");
        }
    }
}

#[test]
fn the_number_of_blocks_is_limited() {
    let (mut sim, who) = sim_of(&rules());
    let tag = tag_of(&sim, "Capability.Look");
    let max = sim.config().limits.capabilities_per_controller;
    let put = |sim: &mut Sim, n: u32| sim.run(Op::Block { who, tag, source: BlockSource::Host(ParamId(n)) });
    for n in 0..max {
        put(&mut sim, n).unwrap();
    }
    let refused = put(&mut sim, max);
    assert!(matches!(refused, Err(Refusal::Limit { what: LimitKind::Blocks, .. })), "{refused:?}");
    put(&mut sim, 0).unwrap();
    add(&mut sim, who, "CS_Robot");
    frames(&mut sim, 2);
}

#[test]
fn a_set_with_ten_thousand_entries_is_refused_quickly() {
    let names: Vec<&str> = vec!["Guard"; 10_000];
    let rules = base()
        .add(Capability::new("Guard"))
        .add(set_of("CS_Huge", &names))
        .add(AbilitySet { capabilities: vec![SetCapability::new("Guard"); 70_000], ..AbilitySet::new("AS_Huge") })
        .build()
        .unwrap();
    let (mut sim, who) = sim_of(&rules);
    let before = sim.row_hash(who);
    for name in ["CS_Huge", "AS_Huge"] {
        let set = cap_set(&sim, name);
        for _ in 0..100 {
            let refused = sim.grant_set(who, set);
            assert!(matches!(refused, Err(Refusal::Limit { what: LimitKind::Capabilities, .. })), "{refused:?}");
        }
    }
    assert_eq!(sim.row_hash(who), before);
}

#[test]
fn sets_in_a_circle_are_load_errors() {
    let errors = |sets: &[(&str, &[&str])]| {
        let set = |(name, nested): &(&str, &[&str])| {
            nested.iter().fold(CapabilitySet::new(*name), |set, nested| set.set(*nested))
        };
        let error = sets.iter().fold(base(), |b, s| b.add(set(s))).build().err();
        error.map_or_else(String::new, |e| e.to_string())
    };
    assert!(errors(&[("CS_A", &["CS_A"])]).contains("CS_A contains itself"));
    let circle = errors(&[("CS_A", &["CS_B"]), ("CS_B", &["CS_C"]), ("CS_C", &["CS_A"])]);
    assert!(circle.contains("contains itself"), "{circle}");
    assert!(errors(&[("CS_A", &["CS_Nobody"])]).contains("CS_Nobody"));
    // Nine levels below the first are too many.
    let names: Vec<String> = (0..=9).map(|n| format!("CS_{n}")).collect();
    let chain: Vec<(&str, Vec<&str>)> =
        (0..=9).map(|n| (&*names[n], names.get(n + 1).map(|s| &**s).into_iter().collect())).collect();
    let list: Vec<(&str, &[&str])> = chain.iter().map(|(name, nested)| (*name, &nested[..])).collect();
    assert!(errors(&list).contains("nested deeper than 8 levels"));
    assert_eq!(errors(&list[1..]), "", "eight levels");
    let ability_set = base().add(AbilitySet::new("AS_One")).add(CapabilitySet::new("CS_A").set("AS_One")).build();
    assert!(ability_set.is_err(), "a capability set contains only capability sets");
}

#[test]
fn sets_that_are_listed_many_times_are_visited_once() {
    // Eight levels, each of which lists the next one fifty times.
    let builder = (0..8).fold(base(), |b, level| {
        let set = CapabilitySet::new(format!("CS_{level}"));
        b.add((0..50).fold(set, |set, _| set.set(format!("CS_{}", level + 1))))
    });
    let rules = builder.add(Capability::new("Guard")).add(set_of("CS_8", &["Guard"])).build().unwrap();
    let (mut sim, who) = sim_of(&rules);
    add(&mut sim, who, "CS_0");
    assert_eq!(sim.capability_counts(who).unwrap().total, 1);
}

#[test]
fn intervals_out_of_range_are_refused() {
    let (mut sim, who) = sim_of(&rules());
    add(&mut sim, who, "CS_Robot");
    let capability = class(&sim, "C");
    let before = sim.row_hash(who);
    let set = |sim: &mut Sim, capability, interval| {
        sim.run(Op::SetTick { who, capability, ticks: Some(false), interval: Some(interval) })
    };
    for interval in [SimTime(-1), SimTime(i64::MIN), SimTime(i64::MAX), SimTime::NEVER, SimTime(SimTime::LONGEST.0 + 1)]
    {
        assert_eq!(
            set(&mut sim, capability, interval),
            Err(Refusal::BadValue { what: BadValue::Time }),
            "{interval:?}"
        );
    }
    let unknown = Err(Refusal::UnknownName { kind: NameKind::Capability, id: 99 });
    assert_eq!(set(&mut sim, CapabilityId(99), SimTime::ZERO), unknown);
    assert_eq!(sim.run(Op::Enable { who, capability: CapabilityId(99), on: false }), unknown);
    assert_eq!(sim.row_hash(who), before);
    let capability = class(&sim, "C");
    set(&mut sim, capability, SimTime::LONGEST).unwrap();
    frames(&mut sim, 3);
    for seconds in [f64::NAN, f64::INFINITY, -1.0, 1e308, -1e308] {
        let set = CapabilitySet::new("CS_A").capability(SetCapability::new("Guard").interval(seconds));
        assert!(base().add(Capability::new("Guard")).add(set).build().is_err(), "{seconds}");
    }
}

#[test]
fn a_class_that_the_controller_lacks_is_refused() {
    let (mut sim, who) = sim_of(&rules());
    let capability = class(&sim, "C");
    let lacks = Err(Refusal::NoCapability { class: capability });
    assert_eq!(sim.run(Op::Enable { who, capability, on: false }), lacks);
    assert_eq!(sim.run(Op::SetTick { who, capability, ticks: None, interval: None }), lacks);
    let who = ControllerId(77);
    assert_eq!(sim.run(Op::Enable { who, capability, on: false }), Err(Refusal::StaleHandle));
}

#[test]
fn a_client_cannot_change_which_capabilities_run() {
    let rules = rules();
    let (mut server, who) = machine(&rules, Role::Authority, false);
    let handle = add(&mut server, who, "CS_Robot");
    block(&mut server, who, "Capability.Look", "Host", true);
    let snapshot = server.remote().snapshot_without(who, &[], &|_, _| true).unwrap();
    let mut client = Sim::new(rules.clone(), config(Role::Client, true));
    client.insert(&snapshot).unwrap();
    let (tag, capability) = (tag_of(&client, "Capability.Look"), class(&client, "C"));
    let (set, source) = (cap_set(&client, "CS_Other"), BlockSource::host("Host"));
    let before = client.row_hash(who);
    let ops = [
        Op::GrantSet { who, set },
        Op::RevokeSet { who, handle },
        Op::Block { who, tag, source },
        Op::Unblock { who, tag, source },
        Op::Enable { who, capability, on: false },
        Op::SetTick { who, capability, ticks: Some(false), interval: None },
    ];
    for op in ops {
        assert_eq!(client.run(op.clone()), Err(Refusal::Authority), "{op:?}");
    }
    assert_eq!(client.row_hash(who), before);
}

#[test]
fn fields_of_capabilities_forged_one_by_one_never_panic() {
    let rules = rules();
    let (whole, who) = saved(&rules);
    let mut places = Vec::new();
    leaves(&whole["row"]["side"]["play"], "/row/side/play", &mut places);
    assert!(places.len() > 40, "{}", places.len());
    let values = [
        json!(0),
        json!(1),
        json!(2),
        json!(-1),
        json!(65_535),
        json!(u32::MAX),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(null),
        json!(true),
        json!("Elsewhere"),
        json!("Waiting"),
        json!("AllClients"),
    ];
    let (mut read, mut accepted) = (0, 0);
    for place in &places {
        for value in &values {
            let mut broken = whole.clone();
            *broken.pointer_mut(place).unwrap() = value.clone();
            let Ok(portable) = serde_json::from_value::<Portable>(broken) else { continue };
            read += 1;
            let mut sim = Sim::new(rules.clone(), config(Role::Standalone, true));
            if sim.insert(&portable).is_err() {
                continue;
            }
            accepted += 1;
            frames(&mut sim, 3);
            let portable = sim.extract(who).unwrap_or_else(|e| panic!("{place} = {value}: {e:?}"));
            assert_eq!(sim.insert(&portable), Ok(who), "{place} = {value}");
            frames(&mut sim, 3);
            sim.hash();
            sim.despawn(who).unwrap();
        }
    }
    assert!(read > 100 && accepted > 20, "{read} read, {accepted} accepted");
}

/// Every place in a JSON value that is not a map or a list.
fn leaves(value: &Value, path: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| leaves(v, &format!("{path}/{k}"), into)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| leaves(v, &format!("{path}/{i}"), into)),
        _ => into.push(path.to_owned()),
    }
}
