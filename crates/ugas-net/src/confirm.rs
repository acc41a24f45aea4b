//! Confirmations: the list of changes that a client's commands made on the server to remote actors and to the client's
//! own controllers.
//!
//! A client shows the predicted changes of its commands at once. Replicated values do not reveal whether those changes
//! really happened: something else may have changed the same value, or a shield may have absorbed the damage. The
//! server therefore confirms each change: it sends the tick and a short hash of the change, which the client compares
//! with the hashes of its predictions. A change without a confirmation did not happen. The server confirms only changes
//! that the client may see.

use crate::types::Tick;
use crate::view::Shape;
use crate::wire::bits::{BitReader, BitWriter, WireError};
use crate::wire::number::{get_uint, put_uint};
use ugas_core::{EffectChange, EffectKey, Fact, FactKind, Sim};

/// The maximum number of confirmations in one list of a packet.
pub(crate) const MAX_CONFIRMATIONS: usize = 64;

/// The number of bits of a confirmation hash.
pub(crate) const CONFIRMATION_BITS: u32 = 24;

/// Returns whether observers of a controller with this shape see a fact about it. The server does not confirm other
/// facts, and clients do not predict them.
#[expect(clippy::wildcard_enum_match_arm, reason = "a fact that is not listed is not shown")]
pub(crate) fn is_shown(sim: &Sim, shape: &Shape, fact: &Fact) -> bool {
    match fact.kind {
        FactKind::AttributeChanged { attribute, .. } | FactKind::Died { attribute } => shape.shows(attribute),
        FactKind::TagChanged { .. } => shape.tags,
        FactKind::Cue { .. } => shape.cues,
        // Observers see active effects, but neither their periods nor their caller values.
        FactKind::EffectApplied { .. } => shape.effects && !sim.is_instant(fact.effect),
        FactKind::EffectChanged { what, .. } => {
            shape.effects && !matches!(what, EffectChange::SetByCaller | EffectChange::Period)
        }
        FactKind::EffectRemoved { .. } => shape.effects,
        FactKind::Spawned { .. } | FactKind::Despawned | FactKind::Restored => true,
        _ => false,
    }
}

/// Writes confirmations sorted by tick, as many as fit into `room` bits and [`MAX_CONFIRMATIONS`] allows. Returns
/// their number.
pub(crate) fn write_confirmations<'a>(
    list: impl Iterator<Item = &'a (Tick, u32)>,
    tick: Tick,
    out: &mut BitWriter,
    room: usize,
) -> usize {
    let begun = out.bit_len();
    let (mut count, mut last) = (0, None);
    for &(at, hash) in list.take(MAX_CONFIRMATIONS) {
        let before = out.bit_len();
        out.bit(true);
        match last {
            Some(last) => put_uint(out, at.0.saturating_sub(last) as u64),
            None => put_uint(out, tick.0.saturating_sub(at.0) as u64),
        }
        out.bits(hash as u64, CONFIRMATION_BITS);
        if out.bit_len() - begun > room {
            out.truncate(before);
            break;
        }
        (count, last) = (count + 1, Some(at.0));
    }
    out.bit(false);
    count
}

/// Reads confirmations with their ticks, and the tick up to which the list is complete.
pub(crate) fn read_confirmations(tick: Tick, from: &mut BitReader) -> Result<(Vec<(Tick, u32)>, Tick), WireError> {
    let mut list: Vec<(Tick, u32)> = Vec::new();
    if !from.bit()? {
        return Ok((list, tick));
    }
    while from.bit()? {
        if list.len() >= MAX_CONFIRMATIONS {
            return Err(WireError::BadValue { what: "the number of confirmations" });
        }
        let apart = get_uint(from)?.min(u32::MAX as u64) as u32;
        let at = list.last().map_or_else(|| tick.minus(apart), |last| last.0.plus(apart)).min(tick);
        list.push((at, from.bits(CONFIRMATION_BITS)? as u32));
    }
    let behind = get_uint(from)?.min(u32::MAX as u64) as u32;
    Ok((list, tick.minus(behind)))
}

/// Returns the hash that identifies a change on client and server; `None` for facts that are not predicted.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other facts of one application share a kind")]
pub(crate) fn confirmation_hash(fact: &Fact) -> Option<u32> {
    // The values of a change may differ between client and server. A change of another attribute or tag is another
    // change.
    let (kind, about) = match fact.kind {
        FactKind::AttributeChanged { attribute, .. } => (1, attribute.0),
        FactKind::TagChanged { tag, added, .. } => (2 + added as u64, tag.0),
        FactKind::Cue { tag, cue, .. } => (4 + cue as u64, tag.0),
        FactKind::GameplayEvent { tag, .. } => (7, tag.0),
        FactKind::Immune { .. } => (8, 0),
        FactKind::EffectRemoved { .. } => (9, 0),
        FactKind::Died { .. } => (10, 0),
        FactKind::Damage { .. } => (11, 0),
        FactKind::Spawned { .. } | FactKind::Despawned | FactKind::Restored => return None,
        // All other facts of one application.
        _ => (12, 0),
    };
    let EffectKey { origin_id, target, ordinal } = fact.key;
    let key = (target.0 as u64) << 32 | ordinal as u64;
    let words = [fact.who.0 as u64, fact.root.0, origin_id, key, fact.effect.0 as u64, kind << 32 | about as u64];
    let print = words.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, &word| {
        let mixed = (h.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    });
    Some((print >> (64 - CONFIRMATION_BITS)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_confirmations_are_rejected_and_none_is_in_the_future() {
        let read = |count: usize, apart: u64| {
            let mut out = BitWriter::new();
            out.bit(true);
            for _ in 0..count {
                out.bit(true);
                put_uint(&mut out, apart);
                out.bits(7, CONFIRMATION_BITS);
            }
            out.bit(false);
            put_uint(&mut out, apart);
            read_confirmations(Tick(9), &mut BitReader::new(out.finish()))
        };
        assert_eq!(read(2, 3), Ok((vec![(Tick(6), 7), (Tick(9), 7)], Tick(6))));
        assert_eq!(read(2, u64::MAX), Ok((vec![(Tick(0), 7), (Tick(9), 7)], Tick(0))));
        assert!(read(MAX_CONFIRMATIONS, 0).is_ok());
        assert_eq!(read(MAX_CONFIRMATIONS + 1, 0), Err(WireError::BadValue { what: "the number of confirmations" }));
        assert!(read_confirmations(Tick(9), &mut BitReader::new(&[255; 40])).is_err(), "cut off");
    }
}
