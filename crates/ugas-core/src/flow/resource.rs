//! Resources: their values at spawn, the facts about them, the effects that belong to them, and
//! [`Op::ModifyResource`](crate::Op::ModifyResource).
//!
//! The effects of a resource have an origin id that is computed from the attribute set of the resource. They are found
//! by this id when the resource is removed, so a row stores nothing else about resources.

use super::magnitude::About;
use super::settle::Emit;
use super::{Flow, Reaction, RollSource, Via};
use crate::rules::{Layout, MODIFY_RESOURCE_NAME, ResourceDef};
use crate::state::{Attr, ModOp};
use crate::{
    AttributeId, Cause, ControllerId, DiagnosticKind, EffectId, EffectKey, FactKind, NameKind, Refusal, ResourceSpec,
    ResourceStep, Restriction, Role, SetId, Spec, TagId,
};

/// The parameters of [`Op::ModifyResource`](crate::Op::ModifyResource).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResourceModification<'o> {
    pub(crate) who: ControllerId,
    pub(crate) attribute: AttributeId,
    pub(crate) by: f64,
    pub(crate) source: ControllerId,
    pub(crate) tags: &'o [TagId],
    pub(crate) plain: bool,
}

/// A change of a resource that hooks receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResourceEvent {
    pub(crate) who: ControllerId,
    attribute: AttributeId,
    old: f64,
    new: f64,
    via: Via,
}

/// The number of a resource's reactions among the reactions with one cause.
#[derive(Clone, Copy)]
enum Part {
    OnChanged = 1,
    Hook,
}

impl Flow<'_> {
    /// Returns the base values that the resources of a spawn set. A value that is not finite, a set that is not a
    /// resource and a bound that a resource does not have, or that follows a stat, are refused.
    pub(crate) fn resource_bases<'s>(
        &self,
        layout: &Layout,
        resources: impl Iterator<Item = &'s ResourceSpec>,
    ) -> Result<Vec<(AttributeId, f64)>, Refusal> {
        let mut bases = Vec::new();
        for spec in resources {
            let unknown = Refusal::UnknownName { kind: NameKind::Set, id: spec.resource.0 };
            self.rules.set_def(spec.resource).ok_or(unknown)?;
            let not_resource = Refusal::Restricted { by: Restriction::NotResource };
            let def = self.rules.resource_def(spec.resource).ok_or(not_resource)?;
            for (value, bound) in [(spec.max, def.max), (spec.min, def.min)] {
                let Some(value) = value else { continue };
                let is_own = |a: AttributeId| {
                    let slot = layout.slot(a).map(|slot| &layout.slots[slot]);
                    slot.is_some_and(|slot| slot.set == spec.resource && slot.derived.is_none())
                };
                let own = bound.filter(|bound| is_own(bound.attribute));
                let bound = own.ok_or(Refusal::Restricted { by: Restriction::ResourceBound })?;
                bases.push((bound.attribute, value));
            }
            bases.extend(spec.initial.map(|value| (def.attribute, value)));
        }
        match bases.iter().find(|(_, value)| !value.is_finite()) {
            Some(&(attribute, _)) => Err(Refusal::NonFinite { attribute: Some(attribute) }),
            None => Ok(bases),
        }
    }

    /// Returns whether a row has a resource.
    pub(crate) fn has_resources(&self, target: usize) -> bool {
        self.layout(target).has_resources
    }

    /// Clamps the base values of a new row's resources and their bounds, after the base values were set.
    pub(crate) fn clamp_resources(&mut self, target: usize) {
        let layout = self.ix.layouts[self.row(target).layout as usize].clone();
        for (slot, def) in layout.slots.iter().enumerate() {
            if def.derived.is_some() || self.rules.resource_def(def.set).is_none() {
                continue;
            }
            let row = self.row(target);
            let (lo, hi) = def.bounds(&row.attrs);
            let base = crate::rules::clamp(row.attrs[slot].base, lo, hi);
            // Slots are in dependency order, so bounds are final before the value that they bound.
            self.row_mut(target).attrs[slot] = Attr { base, current: base };
        }
    }

    /// Emits a fact for each resource of a new row.
    pub(crate) fn report_resources(&mut self, target: usize) {
        let sets: Vec<SetId> = self.layout(target).sets.to_vec();
        sets.into_iter().for_each(|set| self.report_resource(target, set));
    }

    /// Emits the fact that a resource was added, if the set is a resource.
    pub(crate) fn report_resource(&mut self, target: usize, set: SetId) {
        let Some(attribute) = self.rules.resource_attribute(set) else { return };
        let Some(slot) = self.layout(target).slot(attribute) else { return };
        let (who, new) = (self.row(target).id, self.row(target).attrs[slot].current);
        self.fact(who, Via::NOTHING, FactKind::Resource { attribute, step: ResourceStep::Added, old: 0.0, new });
    }

    /// Applies the effects that belong to a resource, if the set is a resource. A refusal becomes a diagnostic, like
    /// the refusal of an initial effect.
    pub(crate) fn apply_resource_effects(&mut self, who: ControllerId, set: SetId) {
        let rules = self.rules;
        let Some(def) = rules.resource_def(set) else { return };
        for &effect in &def.effects {
            if let Err(refusal) = self.apply_slow(&Spec::new(effect, who).from(who), origin_of(set)) {
                self.diagnose(who, effect, DiagnosticKind::ReactionRefused { refusal });
            }
        }
    }

    /// Returns the active and queued effects of a row that belong to a resource.
    pub(crate) fn resource_effects(&self, target: usize, set: SetId) -> Vec<EffectKey> {
        let (row, origin_id) = (self.row(target), origin_of(set));
        let key = |ordinal| EffectKey { origin_id, target: row.id, ordinal };
        let active = row.effects.iter().filter(|e| e.origin_id == origin_id).map(|e| e.ordinal);
        let queued = row.queue().iter().filter(|q| q.origin_id == origin_id).map(|q| q.ordinal);
        active.chain(queued).map(key).collect()
    }

    /// Removes the effects that belong to a resource. An effect that has already ended is skipped.
    pub(crate) fn remove_resource_effects(&mut self, target: usize, set: SetId) {
        for key in self.resource_effects(target, set) {
            let _ = self.remove(key, None);
        }
    }

    /// Reports the change of a resource: emits its fact, and queues the effects of `OnChanged` and the hooks.
    #[cold]
    pub(crate) fn resource_changed(&mut self, row: usize, set: SetId, old: Attr, new: Attr, via: Via) {
        let rules = self.rules;
        let Some(def) = rules.resource_def(set) else { return };
        let (who, attribute) = (self.row(row).id, def.attribute);
        let (old, new) = (old.current, new.current);
        self.fact(who, via, FactKind::Resource { attribute, step: ResourceStep::Changed, old, new });
        self.queue_on_changed(who, set, def, via);
        if !rules.hooks.resource.is_empty() {
            let (cause, depth, roll) = (self.cause, self.depth + 1, self.resource_roll(Part::Hook, set, 0));
            let event = ResourceEvent { who, attribute, old, new, via };
            self.sc.reactions.push_back(Reaction::Resource { event, roll, cause, depth });
        }
    }

    fn queue_on_changed(&mut self, who: ControllerId, set: SetId, def: &ResourceDef, via: Via) {
        let (cause, depth) = (self.cause, self.depth + 1);
        for (nth, &effect) in def.on_changed.iter().enumerate() {
            let origin_id = self.change_origin_id(via, set, Part::OnChanged, nth);
            let (roll, spec) = (self.resource_roll(Part::OnChanged, set, nth), Spec::new(effect, who).from(who));
            self.sc.reactions.push_back(Reaction::Apply { from: who, spec, origin_id, roll, cause, depth });
        }
    }

    /// Calls the resource hooks for a change, and queues the effects that they request.
    pub(crate) fn run_resource_hooks(&mut self, event: ResourceEvent) {
        let rules = self.rules;
        let ResourceEvent { who, attribute, old, new, via } = event;
        let mut then = Vec::new();
        for hook in &rules.hooks.resource {
            let values = |who, attribute| self.current_of(who, attribute);
            let (source, effect, then) = (via.source, via.effect, &mut then);
            hook(&mut crate::ResourceCx { rules, values: &values, who, attribute, old, new, source, effect, then });
        }
        let (cause, depth) = (self.cause, self.depth + 1);
        for (nth, spec) in then.into_iter().enumerate() {
            let origin_id = self.change_origin_id(via, SetId(attribute.0), Part::Hook, nth);
            let roll = self.roll.child([Part::Hook as u64, 0, nth as u64]);
            self.sc.reactions.push_back(Reaction::Apply { from: who, spec, origin_id, roll, cause, depth });
        }
    }

    fn resource_roll(&self, part: Part, set: SetId, nth: usize) -> RollSource {
        self.roll.child([ROLL_RESOURCE + part as u64, set.0 as u64, nth as u64])
    }

    /// Returns the origin id of an effect that a change of a resource applies. The time is part of it, because an
    /// effect may change a resource at each period.
    fn change_origin_id(&self, via: Via, set: SetId, part: Part, nth: usize) -> u64 {
        let EffectKey { origin_id, ordinal, .. } = via.key;
        let Cause { root, .. } = self.cause;
        let words = [origin_id, ordinal as u64, root.0, self.st.now.0 as u64, set.0 as u64, part as u64, nth as u64];
        words.iter().fold(11, |hash, &word| crate::rng::fold(hash, word)) | 1 << 63
    }

    /// Adds to a resource. Unless the modification is plain, combat rules of the owner on `ResourceDelta` change or
    /// forbid it.
    pub(crate) fn modify_resource(&mut self, change: ResourceModification<'_>) -> Result<EffectKey, Refusal> {
        let result = self.try_modify_resource(change);
        if let Err(refusal) = result {
            let effect = self.rules.find_effect(MODIFY_RESOURCE_NAME).unwrap_or(EffectId::NONE);
            self.trace_refusal(change.who, effect, refusal);
        }
        result
    }

    fn try_modify_resource(&mut self, change: ResourceModification<'_>) -> Result<EffectKey, Refusal> {
        let ResourceModification { who, attribute, by, source, tags, plain } = change;
        if self.work.role == Role::Client {
            return Err(Refusal::Authority);
        }
        let target = self.slot(who)?;
        let slot = self.layout(target).slot(attribute).ok_or(Refusal::UnknownAttribute { who, attribute })?;
        if !self.layout(target).slots[slot].resource {
            return Err(Refusal::Restricted { by: Restriction::NotResource });
        }
        if !by.is_finite() {
            return Err(Refusal::NonFinite { attribute: Some(attribute) });
        }
        self.check_tags(tags)?;
        let effect = self.rules.find_effect(MODIFY_RESOURCE_NAME).unwrap_or(EffectId::NONE);
        let Some(def) = self.def(effect) else {
            return Err(Refusal::UnknownName { kind: NameKind::Effect, id: effect.0 });
        };
        let spec = Spec::new(effect, who).from(source);
        let origin_id = self.cause.root.0;
        let ordinal = self.number(target, origin_id);
        let key = EffectKey { origin_id, target: who, ordinal };
        self.check_spec(&spec)?;
        self.journal_source(who, source);
        self.admit(&def, &spec, target, key)?;

        let via = Via { source, key, effect };
        let cause = self.because_applied(&def, &spec, target);
        let about = About { spec: &spec, target, origin_id, ordinal, stacks: 1, execution: 0 };
        let written = if !self.plan_write(target, slot, ModOp::Add, by) {
            self.sc.writes.clear();
            Err(Refusal::NonFinite { attribute: Some(attribute) })
        } else {
            self.mark(target, slot);
            if plain {
                self.settle(via, Emit::Later);
                Ok(())
            } else {
                self.settle_writes(&def, about, via, tags)
            }
        };
        if let Err(refusal) = written {
            self.undo_changes();
            self.cause = cause;
            return Err(refusal);
        }
        self.row_mut(target).next_seq += 1;
        self.emit_changes(via);
        self.emit_applied(target, via, 1, 1);
        self.after_hooks(&spec, target, key);
        self.finish_operation();
        self.cause = cause;
        Ok(key)
    }
}

/// The first number of the rolls of resources among the rolls of one cause.
const ROLL_RESOURCE: u64 = 1 << 20;

/// Returns the origin id of the effects that belong to a resource.
fn origin_of(set: SetId) -> u64 {
    crate::rng::fold(13, set.0 as u64) | 1 << 63
}
