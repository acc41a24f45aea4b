//! Snapshots without the attributes that must not be replicated to a client.
//!
//! The data of active effects can reveal the value of a hidden attribute: the amounts that they add to the attribute,
//! their set-by-caller values, and the values that they captured from the attribute. A redacted snapshot omits this
//! data, and hidden attributes have their initial values in it. Tags, grants and visible attributes that follow from a
//! hidden value under the rules are still included.

use super::Remote;
use crate::image::Portable;
use crate::rules::{EffectDef, Mag};
use crate::sim::Sim;
use crate::state::{CapabilityRecord, Cold, Effect, EffectExtras, Frozen, Row, RowExtras};
use crate::{AttributeId, ControllerId, KeyId, Refusal, SpecExtra};

/// The attributes that a snapshot leaves out.
struct Redaction<'a> {
    hidden: &'a [AttributeId],
    /// Returns whether an attribute of another controller is replicated to the receiver.
    knows: &'a dyn Fn(ControllerId, AttributeId) -> bool,
}

impl Remote<'_> {
    /// Returns a snapshot of a controller with some attributes hidden. In the snapshot, hidden attributes have their
    /// initial values. The amounts that effects add to hidden attributes, and the values that effects captured from
    /// hidden attributes, are left out. `knows` returns whether an attribute of another controller is replicated to the
    /// receiver. If it is not, values that effects captured from that attribute are left out too.
    pub fn snapshot_without(
        &self,
        who: ControllerId,
        hidden: &[AttributeId],
        knows: &dyn Fn(ControllerId, AttributeId) -> bool,
    ) -> Result<Portable, Refusal> {
        let sim = self.sim;
        let mut portable = self.snapshot(who)?;
        let layout = sim.layout(sim.row(who)?);
        for slot in hidden.iter().filter_map(|&a| layout.slot(a)) {
            portable.row.attrs[slot] = layout.initial[slot];
        }
        let redaction = Redaction { hidden, knows };
        let row = &mut portable.row;
        if !hidden.is_empty() {
            row.mods.retain(|m| !hidden.contains(&layout.slots[m.slot as usize].attribute));
            row.rebuild_modded();
            row.live = sim.live_mods(row);
        }
        // Destructured without `..`: a new field does not compile until it is redacted or listed here.
        let Row {
            effects,
            side,
            // Redacted above.
            attrs: _,
            mods: _,
            modded: _,
            live: _,
            // These fields contain no attribute value. Tags and grants that follow from a hidden value stay visible.
            last_origin_id: _,
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
            // Not part of a snapshot.
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
            if let Some(def) = sim.state.definitions.effect(&sim.rules, e.def) {
                sim.redact_effect(e, &def, who, &redaction);
            }
        }
        // Activations contain only state that is replicated to the owning client.
        if let Some(RowExtras { avatar: _, anchor: _, cues: _, queue, play }) = side.as_deref_mut() {
            let capabilities = play.as_mut().and_then(|play| play.capabilities.as_mut());
            capabilities.into_iter().flat_map(|all| &mut all.records).for_each(CapabilityRecord::redact);
            for q in queue {
                if let Some(def) = sim.state.definitions.effect(&sim.rules, q.spec.effect) {
                    redaction.values(q.spec.extra.as_deref_mut(), &def);
                }
            }
        }
        Ok(portable)
    }

    /// Returns the canonical hash of a controller without its hidden attributes. The hash also leaves out the amounts
    /// that effects add to hidden attributes, and all values that effects captured. If at least one attribute is
    /// hidden, all set-by-caller values and stored magnitudes are left out too. A controller and its copy from
    /// [`Remote::snapshot_without`] have the same hash.
    pub fn hash_without(&self, who: ControllerId, hidden: &[AttributeId]) -> Result<u64, Refusal> {
        let row = self.sim.row(who)?;
        Ok(row.hash_without(self.sim.layout(row), &self.sim.rules.tags, hidden))
    }
}

impl Sim {
    fn live_mods(&self, row: &Row) -> u32 {
        let live = |seq: u64, index: u16| {
            let e = row.effect_at(seq).map(|at| &row.effects[at])?;
            let def = self.state.definitions.effect(&self.rules, e.def)?;
            def.modifiers.get(index as usize)?.magnitude.live_on()
        };
        row.mods.iter().filter(|m| live(m.seq(), m.index()).is_some()).count() as u32
    }

    fn redact_effect(&self, e: &mut Effect, def: &EffectDef, who: ControllerId, redaction: &Redaction<'_>) {
        let source = e.source;
        let seen = |of_target: bool, attribute: AttributeId| match of_target || source == who {
            true => !redaction.hidden.contains(&attribute),
            false => (redaction.knows)(source, attribute),
        };
        for (index, _) in def.modifiers.iter().enumerate().filter(|(_, m)| redaction.hidden.contains(&m.attribute)) {
            // The modifier is treated as if its attribute set were removed: it is neither read nor executed.
            let rest = e.rest_mut();
            if let Some(unit) = rest.units.get_mut(index) {
                *unit = f64::NAN;
            }
            rest.dropped.retain(|&i| i as usize != index);
            rest.dropped.push(index as u16);
        }
        // Times, counts and the source are not values of attributes; units and dropped modifiers are redacted above.
        let Effect { number: _, origin_id: _, end: _, start: _, ordinal: _, def: _, source: _, link: _, cold } = e;
        let Some(Cold { periodic: _, root: _, length: _, ability: _, missed: _, rest }) = cold.as_deref_mut() else {
            return;
        };
        let Some(EffectExtras { level: _, stacks: _, extra, captures, units: _, dropped: _, frozen }) =
            rest.as_deref_mut()
        else {
            return;
        };
        redaction.values(extra.as_deref_mut(), def);
        // The `Damage` facts show which controller gets the credit.
        if let Some(Frozen { values, tags: _, effects, position, credit: _ }) = frozen.as_deref_mut() {
            *values = values.iter().filter(|v| (redaction.knows)(source, v.0)).copied().collect();
            // Which effects a destroyed source had and where it was is not replicated.
            *effects = Box::default();
            *position = None;
        }
        if !captures.is_empty() {
            let calcs = def.executions.iter().filter_map(|x| self.rules.calcs.get(x.calculator.0));
            let reads = calcs.flat_map(|c| &c.reads);
            for (value, read) in captures.iter_mut().zip(reads) {
                if !seen(read.of_target, read.attribute) {
                    *value = f64::NAN;
                }
            }
        }
    }
}

impl Redaction<'_> {
    /// Removes the set-by-caller values that only hidden attributes use.
    fn values(&self, extra: Option<&mut SpecExtra>, def: &EffectDef) {
        // The other fields are context and contain no attribute value.
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

/// Returns whether a magnitude is the set-by-caller value of a key.
fn asks_for(m: &Mag, key: KeyId) -> bool {
    m.key() == Some(key)
}
