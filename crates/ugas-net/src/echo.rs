//! What a client's doings did to others, said back to it.
//!
//! A client that plays ahead shows at once what its commands do to controllers of others. Whether that really happened
//! cannot be read from what is then seen of them: something else may have moved the same value, a shield may have taken
//! the blow. So the server calls each such happening by a short number that both sides make alike, and what it does not
//! call did not happen.

use ugas_core::{EffectKey, Fact, FactKind};

/// Bits of such a number.
pub(crate) const ECHO_BITS: u32 = 24;

/// What both sides call a happening. None for what is no happening at a controller of somebody else's.
pub(crate) fn echo_of(fact: &Fact) -> Option<u32> {
    // Numbers of a happening may differ; that it was about another attribute or tag is another happening.
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
        // All of one application.
        _ => (12, 0),
    };
    let EffectKey { birth, target, ordinal } = fact.key;
    let key = (target.0 as u64) << 32 | ordinal as u64;
    let words = [fact.who.0 as u64, fact.root.0, birth, key, fact.effect.0 as u64, kind << 32 | about as u64];
    let print = words.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, &word| {
        let mixed = (h.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    });
    Some((print >> (64 - ECHO_BITS)) as u32)
}
