//! Confirmations: the list of changes that a client's commands made on the server to remote actors and to the client's
//! own controllers.
//!
//! A client shows the predicted changes of its commands at once. Replicated values do not reveal whether those changes
//! really happened: something else may have changed the same value, or a shield may have absorbed the damage. The
//! server therefore confirms each change: it sends the tick and a short hash of the change, which the client compares
//! with the hashes of its predictions. A change without a confirmation did not happen, once the client has received all
//! confirmations of its tick: confirmations are numbered, so the client notices a missing one. If the server had to
//! drop confirmations, the client does not know what happened. The server confirms only changes that the client may
//! see. If a command changes an actor that was relevant to the client shortly before, the server reports instead that
//! the changes of that tick to the actor stay unknown.

use crate::types::Tick;
use crate::view::Shape;
use crate::wire::bits::{BitReader, BitWriter, WireError};
use crate::wire::number::{get_uint, get_uint_to, put_uint};
use ugas_core::{AttributeId, ControllerId, EffectChange, EffectKey, Fact, FactKind, Sim};

/// The maximum number of confirmations in one list of a packet.
pub(crate) const MAX_CONFIRMATIONS: usize = 256;

/// The maximum number of confirmations that the server keeps for a client, and so the length of the sliding window.
pub(crate) const MAX_KEPT: usize = 4096;

/// The number of a confirmation in the stream to one client.
pub(crate) type Serial = u64;

/// The number of bits of a confirmation hash.
pub(crate) const CONFIRMATION_BITS: u32 = 24;

/// Returns whether observers of a controller with this shape see a fact about it. The server does not confirm other
/// facts, and clients do not predict them.
#[expect(clippy::wildcard_enum_match_arm, reason = "a fact that is not listed is not shown")]
pub(crate) fn is_shown(sim: &Sim, shape: &Shape, fact: &Fact) -> bool {
    match fact.kind {
        FactKind::AttributeChanged { attribute, .. }
        | FactKind::Resource { attribute, .. }
        | FactKind::Died { attribute } => shape.shows(attribute),
        FactKind::TagChanged { .. } => shape.tags,
        FactKind::Cue { .. } => shape.cues,
        // Observers see active effects, but neither their periods nor their set-by-caller values.
        FactKind::EffectApplied { .. } => shape.effects && !sim.is_instant(fact.effect),
        FactKind::EffectChanged { what, .. } => {
            shape.effects && !matches!(what, EffectChange::SetByCaller | EffectChange::Period)
        }
        FactKind::EffectRemoved { .. } => shape.effects,
        FactKind::Spawned { .. } | FactKind::Despawned | FactKind::Restored => true,
        _ => false,
    }
}

/// Returns the attribute whose value a fact contains. If the attribute is hidden from the owner, so is the fact.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other fact contains a value of an attribute")]
pub(crate) fn shown_attribute(fact: &Fact) -> Option<AttributeId> {
    match fact.kind {
        FactKind::AttributeChanged { attribute, .. } | FactKind::Resource { attribute, .. } => Some(attribute),
        _ => None,
    }
}

/// The state of the server's list when a packet is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListHeader {
    /// The serial of the oldest kept confirmation. The client needs none before it.
    pub(crate) first: Serial,
    /// The number of kept confirmations. The confirmations of all changes up to the tick of the packet have serials
    /// below `first + count`.
    pub(crate) count: u32,
    /// The newest tick of which a confirmation was dropped before the client acknowledged it.
    pub(crate) dropped_until: Option<Tick>,
}

/// A list of confirmations from a packet: the state of the server's list, and each confirmation with serial and tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfirmationList {
    pub(crate) header: ListHeader,
    pub(crate) entries: Vec<(Serial, Tick, u32)>,
}

/// Writes confirmations in ascending order, as many as fit into `room` bits and [`MAX_CONFIRMATIONS`] allows. Adds the
/// runs of serials that were written to `sent`.
pub(crate) fn write_list(
    header: ListHeader,
    tick: Tick,
    entries: impl Iterator<Item = (Serial, Tick, u32)>,
    out: &mut BitWriter,
    room: usize,
    sent: &mut Vec<(Serial, u32)>,
) {
    let begun = out.bit_len();
    put_uint(out, header.first);
    put_uint(out, header.count as u64);
    out.bit(header.dropped_until.is_some());
    if let Some(dropped) = header.dropped_until {
        put_uint(out, tick.0.saturating_sub(dropped.0) as u64);
    }
    let (mut next, mut last_tick) = (header.first, None::<Tick>);
    for (serial, at, hash) in entries.take(MAX_CONFIRMATIONS) {
        let before = out.bit_len();
        out.bit(true);
        let is_next = serial == next && last_tick == Some(at);
        out.bit(is_next);
        if !is_next {
            put_uint(out, serial - next);
            put_uint(out, last_tick.map_or(tick.0.saturating_sub(at.0), |last| at.0.saturating_sub(last.0)) as u64);
        }
        out.bits(hash as u64, CONFIRMATION_BITS);
        if out.bit_len() - begun > room {
            out.truncate(before);
            break;
        }
        match sent.last_mut().filter(|run| last_tick.is_some() && run.0 + run.1 as Serial == serial) {
            Some(run) => run.1 += 1,
            None => sent.push((serial, 1)),
        }
        (next, last_tick) = (serial + 1, Some(at));
    }
    out.bit(false);
}

/// Reads a list of confirmations; `None` if the server keeps none, so that the client has received all of them.
pub(crate) fn read_list(tick: Tick, from: &mut BitReader) -> Result<Option<ConfirmationList>, WireError> {
    if !from.bit()? {
        return Ok(None);
    }
    let bad = WireError::BadValue { what: "the number of a confirmation" };
    let back = |from: &mut BitReader| Ok(tick.minus(get_uint(from)?.min(u32::MAX as u64) as u32));
    let (first, count) = (get_uint(from)?, get_uint_to(from, MAX_KEPT as u64, "confirmations")? as u32);
    let end = first.checked_add(count as Serial).ok_or(bad)?;
    let dropped_until = if from.bit()? { Some(back(from)?) } else { None };
    let mut entries: Vec<(Serial, Tick, u32)> = Vec::new();
    while from.bit()? {
        if entries.len() >= MAX_CONFIRMATIONS {
            return Err(WireError::BadValue { what: "the number of confirmations" });
        }
        let last = entries.last().map(|e| (e.0, e.1));
        let next = last.map_or(first, |last| last.0 + 1);
        let (serial, at) = match (from.bit()?, last) {
            (true, Some((_, at))) => (next, at),
            (true, None) => return Err(bad),
            (false, last) => {
                let serial = next.checked_add(get_uint(from)?).ok_or(bad)?;
                let at = match last {
                    Some((_, at)) => at.plus(get_uint(from)?.min(u32::MAX as u64) as u32).min(tick),
                    None => back(from)?,
                };
                (serial, at)
            }
        };
        if serial >= end {
            return Err(bad);
        }
        entries.push((serial, at, from.bits(CONFIRMATION_BITS)? as u32));
    }
    Ok(Some(ConfirmationList { header: ListHeader { first, count, dropped_until }, entries }))
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
        FactKind::Resource { attribute, .. } => (14, attribute.0),
        FactKind::Spawned { .. } | FactKind::Despawned | FactKind::Restored => return None,
        // All other facts of one application.
        _ => (12, 0),
    };
    let EffectKey { origin_id, target, ordinal } = fact.key;
    let key = (target.0 as u64) << 32 | ordinal as u64;
    let words = [fact.who.0 as u64, fact.root.0, origin_id, key, fact.effect.0 as u64, kind << 32 | about as u64];
    Some(hash_of(&words))
}

/// Returns the hash that stands for "unknown": the client gets no confirmations of the changes that its commands made
/// to this actor in the tick, because the actor is no longer relevant to it.
pub(crate) fn unknown_hash(who: ControllerId) -> u32 {
    hash_of(&[who.0 as u64, 13 << 32])
}

fn hash_of(words: &[u64]) -> u32 {
    let print = words.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, &word| {
        let mixed = (h.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    });
    (print >> (64 - CONFIRMATION_BITS)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes and reads a list whose serials and ticks differ by `apart`.
    fn read(count: usize, apart: u64) -> Result<Option<ConfirmationList>, WireError> {
        let mut out = BitWriter::new();
        out.bit(true);
        put_uint(&mut out, 5);
        put_uint(&mut out, MAX_KEPT as u64);
        out.bit(false);
        for _ in 0..count {
            out.bits(0b01, 2);
            put_uint(&mut out, apart);
            put_uint(&mut out, apart);
            out.bits(7, CONFIRMATION_BITS);
        }
        out.bit(false);
        read_list(Tick(9), &mut BitReader::new(out.finish()))
    }

    #[test]
    fn a_list_is_bounded_and_none_of_it_is_in_the_future() {
        let entries = |count, apart| read(count, apart).map(|list| list.unwrap().entries);
        assert_eq!(entries(2, 3), Ok(vec![(8, Tick(6), 7), (12, Tick(9), 7)]));
        assert_eq!(entries(1, u64::MAX), Err(WireError::BadValue { what: "the number of a confirmation" }));
        assert_eq!(entries(1, MAX_KEPT as u64), Err(WireError::BadValue { what: "the number of a confirmation" }));
        assert!(read(MAX_CONFIRMATIONS, 0).is_ok());
        assert_eq!(entries(MAX_CONFIRMATIONS + 1, 0), Err(WireError::BadValue { what: "the number of confirmations" }));
        assert!(read_list(Tick(9), &mut BitReader::new(&[255; 40])).is_err(), "cut off");
    }
}
