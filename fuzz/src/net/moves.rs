//! Arbitrary bits as the moves of a controller.

use super::{Done, records};
use std::collections::BTreeMap;
use ugas_core::Anchor;
use ugas_net::internals::wire::bits::{BitReader, BitWriter};
use ugas_net::internals::wire::moves::{MAX_COPIES, MoveEntry, MovePose, get_moves, put_moves};
use ugas_net::types::Tick;

/// Reads the moves of a series of packets, keeps the poses as references, and writes the moves again.
pub fn moves(bytes: &[u8], done: Done<'_>) {
    let mut known: BTreeMap<Tick, MovePose> = BTreeMap::new();
    let mut packet = Tick(1);
    for (kind, record) in records(bytes) {
        packet = if kind & 128 == 0 { packet.plus(u32::from(kind % 128)) } else { Tick(u32::MAX) };
        let mut list: Vec<MoveEntry> = Vec::new();
        let read = get_moves(&mut BitReader::new(record), packet, |tick| known.get(&tick).copied(), &mut list);
        done("read");
        assert!(list.len() <= MAX_COPIES, "{} moves", list.len());
        if read.is_err() {
            continue;
        }
        assert!(list.is_sorted_by(|a, b| a.tick < b.tick), "ticks rise");
        assert!(list.iter().all(|entry| entry.tick <= packet), "no move is later than its packet");
        for entry in &list {
            let anchor: Anchor = entry.pose.anchor();
            assert!(anchor.position.iter().all(|v| v.abs() <= 1e9) && anchor.facing.iter().all(|v| v.abs() <= 1.0));
            assert_eq!(MovePose::from(anchor), entry.pose, "a pose is rounded once");
        }
        let reference = list.first().and_then(|first| known.range(..first.tick).next_back());
        let reference = reference.map(|(tick, pose)| (*tick, *pose));
        let (mut out, mut again) = (BitWriter::new(), Vec::new());
        put_moves(&mut out, packet, reference, &list);
        let read = get_moves(&mut BitReader::new(out.finish()), packet, |tick| known.get(&tick).copied(), &mut again);
        assert!(read.is_ok() && again == list, "what was written is read");
        known.extend(list.into_iter().map(|entry| (entry.tick, entry.pose)));
        done("write");
    }
    done("");
}
