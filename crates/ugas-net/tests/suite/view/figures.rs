//! The size of updates; unchanged actors take no bytes.

use super::rig::{LENGTH, Observer, Rig, moded, rounded, setters};
use ugas_core::{ControllerId, Rules, SimTime};
use ugas_doc::{Attribute, AttributeSet, ControllerReplication, Effect, ReplicationMode};
use ugas_net::internals::view::{ActorList, ProxyChange};
use ugas_net::internals::wire::bits::BitWriter;
use ugas_net::types::Tick;

/// Returns the bits of the sections of these actors, with their ids, for a client one tick behind.
fn sections(rig: &mut Rig, actors: &[ControllerId]) -> usize {
    let (mut out, mut list) = (BitWriter::new(), ActorList::default());
    for &who in actors {
        list.open(who, &mut out);
        assert!(rig.store.write(who, rig.tick.minus(1), &mut out));
    }
    out.bit_len()
}

/// One set with this many rounded attributes `A0`, `A1` ….
fn wide(count: usize, bits: u8) -> std::sync::Arc<Rules> {
    let names: Vec<String> = (0..count).map(|i| format!("A{i}")).collect();
    let set = names.iter().map(|n| rounded(n, 100.0, bits)).fold(AttributeSet::new("Vitals"), AttributeSet::with);
    setters(&names).into_iter().fold(Rules::builder().add(set), |b, e: Effect| b.add(e)).build().unwrap()
}

// covers: UGAS-13.3-01
#[test]
fn two_of_eight_attributes_are_a_mask_and_two_values() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    rig.step();
    rig.set(who, "A2", 300.0);
    rig.set(who, "A5", 700.0);
    rig.step();
    let (bytes, bits) = rig.section(who, rig.tick.minus(1)).unwrap();
    // One bit for attributes only, one for the mask, then the mask, then two values of ten bits.
    assert_eq!(bits, 1 + 1 + 8 + 2 * 10);
    assert_eq!((bytes[0] >> 2 | bytes[1] << 6).count_ones(), 2);
    rig.step();
    assert_eq!(rig.section(who, rig.tick.minus(1)), None);
}

#[test]
fn an_observer_update_takes_five_bytes_at_most_on_average() {
    let mut rig = Rig::new(super::rig::rules());
    let all: Vec<ControllerId> = (0..1000).map(|_| rig.spawn(&["Vitals"], ControllerReplication::Full)).collect();
    rig.step();
    // Neighbours, and one in ten: ids near and far apart.
    for stride in [1, 10] {
        let some: Vec<ControllerId> = all.iter().copied().step_by(stride).take(100).collect();
        for (i, &who) in some.iter().enumerate() {
            rig.set(who, &format!("A{}", i % 8), (100 + i * 7 + stride) as f64);
            rig.set(who, &format!("A{}", (i + 3) % 8), (900 - i * 7 - stride) as f64);
        }
        rig.step();
        let bytes = sections(&mut rig, &some) as f64 / 8.0 / some.len() as f64;
        assert!(bytes <= 5.0, "{bytes} bytes on average at every {stride}th id");
    }
}

#[test]
fn one_tag_takes_three_bytes_at_most() {
    let mut rig = Rig::new(super::rig::rules());
    let all: Vec<ControllerId> = (0..20).map(|_| rig.spawn(&["Vitals"], ControllerReplication::Mixed)).collect();
    rig.step();
    let key = rig.apply(all[15], "GE_Mark").unwrap();
    rig.step();
    assert!(sections(&mut rig, &[all[15]]) <= 24);
    rig.sim.remove(key).unwrap();
    rig.step();
    assert!(sections(&mut rig, &[all[15]]) <= 24);
}

// covers: UGAS-13.3-02
#[test]
fn only_visible_changes_are_sent_and_only_once() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    rig.set(who, "A0", 250.0);
    rig.step();
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    let stamp = rig.store.changed_ticks()[0];
    rig.set(who, "A0", 250.0);
    rig.step();
    assert_eq!((rig.section(who, observer.since), rig.store.changed_ticks()[0]), (None, stamp));
    rig.set(who, "A0", 400.0);
    rig.step();
    assert_eq!(observer.look(&mut rig, who).len(), 1);
    rig.step();
    assert_eq!(rig.section(who, observer.since), None);
}

// covers: UGAS-13.3-03
#[test]
fn the_fortieth_attribute_of_a_set_arrives() {
    let mut rig = Rig::new(wide(40, 10));
    let who = rig.spawn(&["Vitals"], ControllerReplication::Full);
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    rig.set(who, "A39", 777.0);
    rig.step();
    let (_, bits) = rig.section(who, observer.since).unwrap();
    assert_eq!(bits, 1 + 1 + (6 + 1) + 10, "an index is shorter than a mask of forty");
    let changes = observer.look(&mut rig, who);
    let last = rig.rules.attribute("A39").unwrap();
    assert!(matches!(changes[..], [ProxyChange::Attribute { attribute, .. }] if attribute == last), "{changes:?}");
    assert_eq!(observer.seen(who), rig.truth(who));
}

#[test]
fn any_number_of_changed_attributes_uses_the_shorter_encoding() {
    for count in [1, 2, 7, 8, 40, 63, 64, 65, 130] {
        let mut rig = Rig::new(wide(count, 8));
        let who = rig.spawn(&["Vitals"], ControllerReplication::Full);
        let mut observer = Observer::new(&rig);
        observer.look(&mut rig, who);
        let mut value = 0.0;
        for changed in [1, 2, count / 3, count] {
            for i in 0..changed.min(count) {
                value = if value > 900.0 { 10.0 } else { value + 37.0 };
                rig.set(who, &format!("A{}", count - 1 - i * count / changed), value);
            }
            rig.step();
            observer.look(&mut rig, who);
            assert_eq!(observer.seen(who), rig.truth(who), "{changed} of {count}");
        }
    }
}

// covers: SAI-4.1-04
#[test]
fn one_of_twenty_stats_is_sent_alone_and_hidden_ones_never() {
    let mut names: Vec<String> = (0..20).map(|i| format!("S{i}")).collect();
    names.extend(["Static", "Inner"].map(String::from));
    let mut set = AttributeSet::new("Stats");
    for name in &names[..20] {
        set = set.with(rounded(name, 10.0, 8));
    }
    // One that never changes, and one that changes but is hidden.
    set = set.with(rounded("Static", 1.0, 8)).with(moded(Attribute::new("Inner", 1.0), ReplicationMode::None));
    let rules = setters(&names).into_iter().fold(Rules::builder().add(set), |b, e: Effect| b.add(e)).build().unwrap();
    let mut rig = Rig::new(rules);
    let who = rig.spawn(&["Stats"], ControllerReplication::Full);
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    for i in 0..20 {
        rig.set(who, &format!("S{i}"), 500.0);
        rig.set(who, "Inner", 500.0 + i as f64);
        rig.step();
        let (_, bits) = rig.section(who, observer.since).unwrap();
        assert_eq!(bits, 1 + 1 + (5 + 1) + 8, "one index of 21 and one value");
        let changes = observer.look(&mut rig, who);
        let stat = rig.rules.attribute(&format!("S{i}")).unwrap();
        assert!(matches!(changes[..], [ProxyChange::Attribute { attribute, .. }] if attribute == stat), "{changes:?}");
    }
    rig.set(who, "Inner", 9.0);
    rig.step();
    assert_eq!(rig.section(who, observer.since), None);
}

// covers: UGAS-3.3-05
#[test]
fn two_changes_in_one_tick_are_one_update_with_the_last_value() {
    let (mut rig, who) = Rig::with(&["Purse"], ControllerReplication::Full);
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    rig.set(who, "Exact", 40.0);
    rig.set(who, "Exact", 25.0);
    assert_eq!(rig.section(who, observer.since), None, "nothing is sent before the tick ends");
    rig.step();
    let exact = rig.rules.attribute("Exact").unwrap();
    let changes = observer.look(&mut rig, who);
    assert_eq!(changes, [ProxyChange::Attribute { attribute: exact, old: Some(3.0), new: 25.0 }]);
}

#[test]
fn time_alone_sends_nothing() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    rig.sim.run(ugas_core::Op::SetRate { who, rate: ugas_core::Rate::new(0.37).unwrap() }).unwrap();
    rig.apply(who, "GE_Slow").unwrap();
    rig.step();
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    let end = rig.truth(who).effects[0].end;
    while rig.tick.plus(1).time(LENGTH) < end {
        rig.step();
        assert_eq!(rig.section(who, observer.since), None, "at {:?}", rig.tick);
    }
    rig.step();
    observer.look(&mut rig, who);
    assert!(observer.seen(who).effects.is_empty());
    assert!(end > SimTime::seconds(0.3), "its clock is slow: {end}");
}

#[test]
fn a_copy_for_the_second_client_is_the_same_bits() {
    let (mut rig, who) = Rig::with(&["Vitals", "Purse"], ControllerReplication::Full);
    rig.set(who, "A0", 1.0);
    rig.apply(who, "GE_Ward").unwrap();
    rig.step();
    let (mut first, mut second) = (BitWriter::new(), BitWriter::new());
    for since in [Tick(0), Tick(1)] {
        first.clear();
        second.clear();
        second.bits(5, 3);
        assert!(rig.store.write(who, since, &mut first) && rig.store.write(who, since, &mut second));
        let mut shifted = BitWriter::new();
        shifted.bits(5, 3);
        let bits = first.bit_len();
        shifted.append(first.finish(), 0, bits).unwrap();
        assert_eq!(shifted.finish(), second.finish());
    }
}
