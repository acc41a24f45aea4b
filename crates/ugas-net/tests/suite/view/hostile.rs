//! Bytes that no server wrote: an error or a state, never a panic, and nothing grows without bound.

use super::rig::{LENGTH, Observer, Rig, rules};
use proptest::prelude::*;
use ugas_core::{Anchor, ControllerId};
use ugas_doc::ControllerReplication;
use ugas_net::internals::view::{Pose, Proxies, read_next};
use ugas_net::internals::wire::bits::BitReader;
use ugas_net::types::Tick;

/// Reads lists of actors as a session does, until the data ends.
fn read_all(proxies: &mut Proxies, bytes: &[u8], tick: Tick) {
    let (mut from, mut last, mut changes) = (BitReader::new(bytes), None, Vec::new());
    while let Ok(Some(who)) = read_next(&mut from, &mut last) {
        if proxies.read(&mut from, who, tick, &mut changes).is_err() {
            break;
        }
    }
    assert!(changes.len() <= 200 * bytes.len() + 200, "{} changes from {} bytes", changes.len(), bytes.len());
    let baseline = Pose::from(Anchor::at([1.0, 2.0, 3.0]));
    let _ = Pose::get(&mut BitReader::new(bytes), |_| Some(baseline));
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_read_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..300), tick in any::<u32>()) {
        let mut proxies = Proxies::new(rules(), LENGTH);
        read_all(&mut proxies, &bytes, Tick(tick));
    }

    #[test]
    fn a_damaged_section_is_read_or_rejected(
        flips in prop::collection::vec((any::<usize>(), 0..8u32), 1..6),
        cut in any::<usize>(),
        full in any::<bool>(),
    ) {
        let (mut rig, who) = Rig::with(&["Vitals", "Purse"], ControllerReplication::Full);
        let mut observer = Observer::new(&rig);
        observer.look(&mut rig, who);
        rig.set(who, "A3", 9.0);
        for effect in ["GE_Ward", "GE_Slow", "GE_Hit"] {
            rig.apply(who, effect).unwrap();
        }
        rig.step();
        let (mut bytes, _) = rig.section(who, if full { Tick(0) } else { observer.since }).unwrap();
        for (at, bit) in flips {
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
        }
        bytes.truncate(1 + cut % bytes.len());
        let mut changes = Vec::new();
        let _ = observer.proxies.read(&mut BitReader::new(&bytes), who, rig.tick, &mut changes);
        // A full section repairs the state.
        rig.set(who, "A3", 19.0);
        rig.step();
        let (full_section, _) = rig.section(who, Tick(0)).unwrap();
        observer.proxies.read(&mut BitReader::new(&full_section), who, rig.tick, &mut changes).unwrap();
        prop_assert_eq!(observer.seen(who), rig.truth(who));
    }
}

#[test]
fn a_partial_section_of_an_unknown_actor_is_rejected_with_a_message() {
    let mut proxies = Proxies::new(rules(), LENGTH);
    let error = proxies.read(&mut BitReader::new(&[0; 8]), ControllerId(3), Tick(9), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("a partial section of an unknown actor"), "{error}");
}
