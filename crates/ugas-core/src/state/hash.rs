//! The canonical hash of a row: equal states have equal hashes, whatever changes led to them.
//!
//! Every record is destructured without `..`, so that the code does not compile after a field is added, until the field
//! is hashed or listed here as not hashed. The tests change each field and check that the hash changes.

use super::ability::{Charge, Grant, GrantMore, Play};
use super::digest::digest;
use super::effect::{Cold, Effect, EffectExtras, Periodic, Queued};
use super::row::{CueCount, Row, RowExtras};
use super::{Attr, Mod};
use crate::rng::{fold, mix};
use crate::rules::{Layout, TagTable};
use crate::{Anchor, AttributeId, Hit, SetId, SimTime, Spec, SpecExtra};

#[cfg(test)]
mod tests;

/// Which stored magnitudes and captured values of effects are hashed. The resulting modifiers are always hashed.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum HashDetail {
    /// No values. The hash function does not read definitions, so it does not know which values belong to a hidden
    /// attribute.
    Nothing,
    /// Set-by-caller values and magnitudes, but no captured values.
    Given,
    /// All stored magnitudes and captured values.
    All,
}

fn number(v: f64) -> u64 {
    (v + 0.0).to_bits()
}

impl Row {
    /// Returns the canonical hash. `sets` represents the layout.
    pub(crate) fn compute_hash(&self, sets: &[SetId], table: &TagTable) -> u64 {
        self.hash_of(sets, table, HashDetail::All, |_| false)
    }

    /// Like [`Row::compute_hash`], without some attributes and without values that effects captured.
    pub(crate) fn hash_without(&self, layout: &Layout, table: &TagTable, hidden: &[AttributeId]) -> u64 {
        let kept = if hidden.is_empty() { HashDetail::Given } else { HashDetail::Nothing };
        self.hash_of(&layout.sets, table, kept, |slot| hidden.contains(&layout.slots[slot].attribute))
    }

    fn hash_of(&self, sets: &[SetId], table: &TagTable, kept: HashDetail, hides: impl Fn(usize) -> bool) -> u64 {
        let Row {
            id,
            clock,
            owner,
            attrs,
            mods,
            effects,
            tags,
            grants,
            side: _,
            // Counters: an effect that was added and removed again must not change the hash.
            last_origin_id: _,
            next_seq: _,
            next_grant: _,
            // Derived from the sets, the modifiers and the effects.
            layout: _,
            modded: _,
            immunities: _,
            watching: _,
            live: _,
            // Not state.
            readers: _,
            signature: _,
            hash_dirty: _,
            alert: _,
            published: _,
            changes: _,
            phase: _,
            due: _,
        } = self;
        let RowExtras { avatar: _, anchor, cues, queue, play: _ } = self.side();
        let mut h = mix(id.0 as u64);
        let mut put = |word: u64| h = fold(h, word);
        sets.iter().for_each(|s| put(s.0 as u64));
        clock.words().into_iter().for_each(&mut put);
        put(owner.0);
        put(self.avatar().0);
        for (_, Attr { base, current }) in attrs.iter().enumerate().filter(|(slot, _)| !hides(*slot)) {
            put(number(*base));
            put(number(*current));
        }
        mods.iter().filter(|m| !hides(m.slot as usize)).for_each(|m| hash_mod(m, &mut put));
        for e in effects {
            hash_effect(e, kept, &mut put);
            self.own_tags(e, table).for_each(|t| put(t.0 as u64));
        }
        for (tag, count) in tags.iter(table) {
            put((tag.0 as u64) << 32 | count as u64);
        }
        grants.iter().for_each(|g| hash_grant(g, &mut put));
        let Play { activations, tasks, cast, gcds, inputs, sets: granted, capabilities: _ } = self.play();
        let capabilities = self.play().capabilities();
        if !self.play().is_empty() {
            // Hashed as a whole through derived serializers.
            put(digest(&(activations, tasks, cast, gcds, inputs, granted)));
        }
        if !capabilities.is_empty() {
            capabilities.hash(kept < HashDetail::All, &mut put);
        }
        for CueCount { tag, count } in cues {
            put((tag.0 as u64) << 32 | *count as u64);
        }
        queue.iter().for_each(|q| hash_queued(q, kept, &mut put));
        if let Some(Anchor { position, facing }) = anchor {
            position.iter().chain(facing).for_each(|&v| put(number(v)));
        }
        h
    }
}

fn hash_mod(m: &Mod, put: &mut impl FnMut(u64)) {
    let Mod { magnitude, seq_index, channel, slot, op, off } = *m;
    put(number(magnitude));
    put(seq_index);
    put((channel.0 as u64) << 32 | slot as u64);
    put((op as u64) << 8 | off as u64);
}

fn hash_effect(e: &Effect, kept: HashDetail, put: &mut impl FnMut(u64)) {
    // The parts of `number` are hashed, except whether the effect watches tags, which follows from its definition.
    // `link` is an index into this sim's ring of causes.
    let Effect { number: _, origin_id, end, start, ordinal, def, source, link: _, cold } = e;
    put(e.seq());
    put(*origin_id);
    put(e.root().0);
    put(start.0 as u64);
    put(end.0 as u64);
    put((*ordinal as u64) << 32 | def.0 as u64);
    put((source.0 as u64) << 32 | e.level() as u64);
    put((e.stacks() as u64) << 1 | e.inhibited() as u64);
    let Some(cold) = cold.as_deref() else {
        put(e.length().0 as u64);
        return put(e.ability().0 as u64);
    };
    let Cold { periodic, root: _, length, ability, missed, rest } = cold;
    if let Some(Periodic { period, anchor, n, executed }) = periodic {
        put(period.get() as u64);
        put(anchor.0 as u64);
        put((*n as u64) << 32 | *executed as u64);
        put(*missed as u64);
    } else if *missed > 0 {
        put(*missed as u64);
    }
    put(length.0 as u64);
    put(ability.0 as u64);
    let Some(EffectExtras { level: _, stacks: _, extra, captures, units, dropped, frozen }) = rest.as_deref() else {
        return;
    };
    hash_extra(extra.as_deref(), kept, put);
    if kept >= HashDetail::All {
        captures.iter().for_each(|v| put(v.to_bits()));
        frozen.iter().for_each(|f| f.hash(put));
    }
    if kept >= HashDetail::Given {
        units.iter().for_each(|v| put(v.to_bits()));
        dropped.iter().for_each(|&i| put(i as u64));
    }
}

fn hash_extra(extra: Option<&SpecExtra>, kept: HashDetail, put: &mut impl FnMut(u64)) {
    let Some(SpecExtra { set_by_caller, duration, period, origin, hit, causer, object }) = extra else { return };
    if kept >= HashDetail::Given {
        for (key, value) in set_by_caller {
            put(key.0 as u64);
            put(number(*value));
        }
    }
    put(duration.map_or(0, |d| d.0 as u64 + 1));
    put(period.map_or(0, |d| d.0 as u64 + 1));
    origin.iter().flatten().for_each(|&v| put(number(v)));
    if let Some(Hit { position, distance, tags }) = hit {
        put(distance.map_or(1, |d| d.to_bits()));
        position.iter().flatten().for_each(|&v| put(number(v)));
        tags.iter().for_each(|t| put(t.0 as u64));
    }
    put(causer.map_or(0, |c| c.0));
    put(*object);
}

fn hash_grant(g: &Grant, put: &mut impl FnMut(u64)) {
    // The level is packed with the failing checks of the status. The status is not state.
    let Grant { id, ability, more, level_fails: _, seen: _, ready_at: _ } = g;
    put((id.0 as u64) << 32 | ability.0 as u64);
    put((g.level() as u64) << 32 | g.input().0 as u64);
    put(g.by());
    let Some(GrantMore { by: _, level: _, input: _, set, params, charges, restrictions }) = more.as_deref() else {
        return;
    };
    if *set == 0 && params.is_empty() && charges.is_none() && restrictions.is_empty() {
        return;
    }
    put(*set);
    for (name, value) in params {
        put(name.0 as u64);
        put(number(*value));
    }
    if let Some(Charge { have, max, start, end, seq, rolled }) = charges {
        put((*have as u64) << 32 | *max as u64);
        put(start.0 as u64);
        put(end.0 as u64);
        // The sequence number orders the recharge among the row's timers of the same time. Without a running recharge,
        // the number has no meaning.
        if *end != SimTime::NEVER {
            put(*seq);
        }
        if *rolled {
            put(1);
        }
    }
    restrictions.iter().for_each(|r| put(r.0 as u64));
}

fn hash_queued(q: &Queued, kept: HashDetail, put: &mut impl FnMut(u64)) {
    // The target is the row itself. `link` is an index into this sim's ring of causes.
    let Queued { spec, origin_id, ordinal, root, link: _ } = q;
    let Spec { effect, target: _, source, level, stacks, ability, extra } = spec;
    put(*origin_id);
    put((*ordinal as u64) << 32 | effect.0 as u64);
    put((source.0 as u64) << 32 | *level as u64);
    put((*stacks as u64) << 32 | ability.0 as u64);
    put(root.0);
    hash_extra(extra.as_deref(), kept, put);
}
