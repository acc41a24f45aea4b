//! A controller without what its owner may not see.
//!
//! A hidden attribute is more than its value: effects that last keep what they add to it, what their caller gave for it
//! and what they took from it when they began. A copy for the owner leaves all of that out, so that none of its bytes
//! depends on what is hidden. What the rules let others see because of a hidden value (a tag, a visible attribute that
//! follows it) is theirs to decide and stays.

use super::Sim;
use crate::image::Portable;
use crate::rules::{CurveInput, EffectDef, Mag};
use crate::state::{Cold, Effect, Frozen, Rest, Row, Side};
use crate::{AttributeId, ControllerId, KeyId, Refusal, SpecExtra};

/// What is hidden from whom a copy is for.
struct Veil<'a> {
    hidden: &'a [AttributeId],
    /// Whether an attribute of another controller may be known.
    knows: &'a dyn Fn(ControllerId, AttributeId) -> bool,
}

impl Sim {
    /// [`Sim::peek`] with some attributes hidden: they show the value they are authored with, what effects do to them is
    /// not there, and reads of them are not either. `knows` says which attributes of other controllers may be known
    /// through effects that read them when they began.
    pub fn peek_without(
        &self,
        who: ControllerId,
        hidden: &[AttributeId],
        knows: &dyn Fn(ControllerId, AttributeId) -> bool,
    ) -> Result<Portable, Refusal> {
        let mut portable = self.peek(who)?;
        let layout = self.layout(self.row(who)?);
        for slot in hidden.iter().filter_map(|&a| layout.slot(a)) {
            portable.row.attrs[slot] = layout.initial[slot];
        }
        let veil = Veil { hidden, knows };
        let row = &mut portable.row;
        if !hidden.is_empty() {
            row.mods.retain(|m| !hidden.contains(&layout.slots[m.slot as usize].attribute));
            row.rebuild_modded();
            row.live = self.live_mods(row);
        }
        // A field that is added does not compile until it is said whether it holds something of an attribute.
        let Row {
            effects,
            side,
            // Veiled above.
            attrs: _,
            mods: _,
            modded: _,
            live: _,
            // Nothing of an attribute: tags and grants that follow from a hidden value are for others to see.
            last_birth: _,
            next_seq: _,
            id: _,
            layout: _,
            immunities: _,
            watching: _,
            clock: _,
            owner: _,
            grants: _,
            tags: _,
            next_grant: _,
            // Does not travel.
            readers: _,
            signature: _,
            hash_dirty: _,
            alert: _,
            published: _,
            changes: _,
            phase: _,
            due: _,
        } = row;
        for e in effects {
            if let Some(def) = self.state.definitions.effect(&self.rules, e.def) {
                self.veil_effect(e, &def, who, &veil);
            }
        }
        // What runs holds what its owner did and was told.
        if let Some(Side { avatar: _, anchor: _, cues: _, queue, play: _ }) = side.as_deref_mut() {
            for q in queue {
                if let Some(def) = self.state.definitions.effect(&self.rules, q.spec.effect) {
                    veil.values(q.spec.extra.as_deref_mut(), &def);
                }
            }
        }
        Ok(portable)
    }

    /// The canonical hash of a controller without some attributes, what effects do to them, and what effects took when
    /// they began: the same for the controller and for a copy by [`Sim::peek_without`].
    pub fn row_hash_without(&self, who: ControllerId, hidden: &[AttributeId]) -> Result<u64, Refusal> {
        let row = self.row(who)?;
        Ok(row.hash_without(self.layout(row), &self.rules.tags, hidden))
    }

    fn live_mods(&self, row: &Row) -> u32 {
        let live = |seq: u64, index: u16| {
            let e = row.effect_at(seq).map(|at| &row.effects[at])?;
            let def = self.state.definitions.effect(&self.rules, e.def)?;
            def.modifiers.get(index as usize)?.magnitude.live_on()
        };
        row.mods.iter().filter(|m| live(m.seq(), m.index()).is_some()).count() as u32
    }

    fn veil_effect(&self, e: &mut Effect, def: &EffectDef, who: ControllerId, veil: &Veil<'_>) {
        let source = e.source;
        let seen = |of_target: bool, attribute: AttributeId| match of_target || source == who {
            true => !veil.hidden.contains(&attribute),
            false => (veil.knows)(source, attribute),
        };
        for (index, _) in def.modifiers.iter().enumerate().filter(|(_, m)| veil.hidden.contains(&m.attribute)) {
            // As if its set had gone: nobody looks for it, and nothing executes it.
            let rest = e.rest_mut();
            if let Some(unit) = rest.units.get_mut(index) {
                *unit = f64::NAN;
            }
            rest.dropped.retain(|&i| i as usize != index);
            rest.dropped.push(index as u16);
        }
        // Times, counts and where it comes from are no values of attributes; units and what was dropped are veiled above.
        let Effect { number: _, birth: _, end: _, start: _, ordinal: _, def: _, source: _, link: _, cold } = e;
        let Some(Cold { periodic: _, root: _, length: _, ability: _, missed: _, rest }) = cold.as_deref_mut() else {
            return;
        };
        let Some(Rest { level: _, stacks: _, extra, captures, units: _, dropped: _, frozen }) = rest.as_deref_mut()
        else {
            return;
        };
        veil.values(extra.as_deref_mut(), def);
        if let Some(Frozen { values, tags: _ }) = frozen.as_deref_mut() {
            *values = values.iter().filter(|v| (veil.knows)(source, v.0)).copied().collect();
        }
        if !captures.is_empty() {
            let calcs = def.executions.iter().filter_map(|x| self.rules.calcs[x.calculator.index()].as_ref());
            let reads = calcs.flat_map(|c| &c.reads);
            for (value, read) in captures.iter_mut().zip(reads) {
                if !seen(read.of_target, read.attribute) {
                    *value = f64::NAN;
                }
            }
        }
    }
}

impl Veil<'_> {
    /// Takes out what a caller gave for hidden attributes alone.
    fn values(&self, extra: Option<&mut SpecExtra>, def: &EffectDef) {
        // Everything else is the context, not a value of an attribute.
        let Some(SpecExtra { set_by_caller, duration: _, period: _, origin: _, hit: _, causer: _, object: _ }) = extra
        else {
            return;
        };
        set_by_caller.retain(|(key, _)| {
            let asking = || def.modifiers.iter().filter(|m| asks_for(&m.magnitude, *key));
            let is_open = asking().any(|m| !self.hidden.contains(&m.attribute))
                || def.duration.iter().chain(&def.chance).any(|m| asks_for(m, *key));
            is_open || asking().next().is_none()
        });
    }
}

/// Whether a magnitude is what the caller gives under a key.
fn asks_for(m: &Mag, key: KeyId) -> bool {
    matches!(m, Mag::Caller(k) | Mag::Curve { input: CurveInput::Caller(k), .. } if *k == key)
}
