//! The visible state of a controller, compared before and after a correction.

use super::ValueCorrection;
use super::facts::{Certainty, NetFacts};
use crate::mask::hidden_from_owners;
use crate::view::Proxy;
use ugas_core::{
    AttributeId, CapabilityState, CapabilityStep, CapabilityView, Cause, ControllerId, CueType, EffectId, EffectKey,
    Fact, FactKind, RemoveReason, ResourceStep, Sim, SimTime, Span, TagId,
};

/// Returns a fact without source, effect and cause.
pub(super) fn plain(at: SimTime, who: ControllerId, kind: FactKind) -> Fact {
    let Cause { root, link } = Cause::default();
    let (source, key, effect) = (ControllerId::NONE, EffectKey::NONE, EffectId::NONE);
    Fact { at, who, source, key, root, link, effect, kind }
}

/// Returns the resources of a controller that are replicated to its owner, with their values.
pub(super) fn resources_of(sim: &Sim, who: ControllerId) -> Vec<(AttributeId, f64)> {
    let mut resources = sim.resources(who).unwrap_or_default();
    if resources.is_empty() {
        return Vec::new();
    }
    let hidden = hidden_from_owners(sim.rules());
    resources.retain(|attribute| !hidden.contains(attribute));
    resources.into_iter().filter_map(|attribute| Some((attribute, sim.get(who, attribute).ok()?))).collect()
}

/// Emits facts for the resources that a controller got or lost.
pub(super) fn report_resources(
    who: ControllerId,
    before: &[(AttributeId, f64)],
    now: &[(AttributeId, f64)],
    at: SimTime,
    out: &mut NetFacts,
) {
    let has = |list: &[(AttributeId, f64)], attribute| list.iter().any(|r| r.0 == attribute);
    for &(attribute, new) in now.iter().filter(|r| !has(before, r.0)) {
        let kind = FactKind::Resource { attribute, step: ResourceStep::Added, old: 0.0, new };
        out.push(plain(at, who, kind), None, Certainty::Server);
    }
    for &(attribute, old) in before.iter().filter(|r| !has(now, r.0)) {
        let kind = FactKind::Resource { attribute, step: ResourceStep::Removed, old, new: 0.0 };
        out.push(plain(at, who, kind), None, Certainty::Server);
    }
}

/// The visible state of a controller.
pub(super) struct VisibleState {
    who: ControllerId,
    values: Vec<(AttributeId, f64, f64)>,
    tags: Vec<TagId>,
    effects: Vec<(EffectKey, EffectId, u32, u32)>,
    /// Looping cues, sorted by tag.
    loops: Vec<TagId>,
    /// The capabilities, in the order in which they run.
    capabilities: Vec<CapabilityView>,
    /// The resources that are replicated to the client, with their values.
    resources: Vec<(AttributeId, f64)>,
}

impl VisibleState {
    pub(super) fn of(sim: &Sim, who: ControllerId) -> VisibleState {
        let attributes = sim.attributes(who).unwrap_or_default();
        let value = |a: AttributeId| Some((a, sim.base(who, a).ok()?, sim.get(who, a).ok()?));
        let values = attributes.into_iter().filter_map(value).collect();
        let tags = sim.tags(who).unwrap_or_default().into_iter().map(|(tag, _)| tag).collect();
        let effects = sim.effects(who).unwrap_or_default();
        let effects = effects.into_iter().map(|e| (e.key, e.effect, e.level, e.stacks)).collect();
        let loops = sim.cues(who).unwrap_or_default();
        let capabilities = sim.capabilities(who).unwrap_or_default();
        VisibleState { who, values, tags, effects, loops, resources: resources_of(sim, who), capabilities }
    }

    /// Returns the state of a controller of which the client knows nothing yet.
    pub(super) fn unknown(who: ControllerId) -> VisibleState {
        let (values, tags, effects, loops, resources) = Default::default();
        VisibleState { who, values, tags, effects, loops, resources, capabilities: Vec::new() }
    }

    /// Returns the visible state of a remote actor: replicated attributes and tags. Effects and looping cues are left
    /// out because separate facts report them.
    pub(super) fn of_remote(sim: &Sim, proxy: &Proxy) -> VisibleState {
        let mut shown = VisibleState::of(sim, proxy.who());
        shown.values.retain(|v| proxy.shows(v.0));
        shown.resources.retain(|r| proxy.shows(r.0));
        // Only current values are replicated.
        shown.values.iter_mut().for_each(|v| v.1 = v.2);
        shown.effects.clear();
        shown.loops.clear();
        shown.capabilities.clear();
        shown
    }

    /// Returns the controller.
    pub(super) fn who(&self) -> ControllerId {
        self.who
    }

    /// Emits facts for the changes of a correction that no other fact reports.
    pub(super) fn compare(&self, now: &VisibleState, touched: &[Fact], at: SimTime, out: &mut NetFacts) {
        let is_covered = |f: &dyn Fn(&FactKind) -> bool| touched.iter().any(|t| f(&t.kind));
        for &(attribute, new_base, new) in &now.values {
            let Some(&(_, old_base, old)) = self.values.iter().find(|v| v.0 == attribute) else { continue };
            // An undone fact has the value before it, a new fact the value after it.
            let about = |k: &FactKind| {
                if let FactKind::AttributeChanged { attribute: a, old: was, new: is, .. } = *k {
                    a == attribute && (was == new || is == new)
                } else {
                    false
                }
            };
            if (old, old_base) != (new, new_base) && !is_covered(&about) {
                let kind = FactKind::AttributeChanged { attribute, old, new, old_base, new_base };
                out.push(plain(at, self.who, kind), None, Certainty::Server);
                if old != new && self.resources.iter().any(|r| r.0 == attribute) {
                    let kind = FactKind::Resource { attribute, step: ResourceStep::Changed, old, new };
                    out.push(plain(at, self.who, kind), None, Certainty::Server);
                }
            }
        }
        report_resources(self.who, &self.resources, &now.resources, at, out);
        let removed = self.tags.iter().filter(|t| !now.tags.contains(t)).map(|t| (*t, false));
        let new = now.tags.iter().filter(|t| !self.tags.contains(t)).map(|t| (*t, true));
        for (tag, added) in removed.chain(new) {
            let about = |k: &FactKind| matches!(k, FactKind::TagChanged { tag: t, .. } if *t == tag);
            if !is_covered(&about) {
                let kind = FactKind::TagChanged { tag, added, exact: true, presence: true };
                out.push(plain(at, self.who, kind), None, Certainty::Server);
            }
        }
        let removed = self.loops.iter().filter(|t| !now.loops.contains(t)).map(|t| (*t, CueType::Remove));
        let new = now.loops.iter().filter(|t| !self.loops.contains(t)).map(|t| (*t, CueType::Add));
        for (tag, cue) in removed.chain(new) {
            // An undone prediction means the reverse change.
            let about =
                |k: &FactKind| matches!(k, FactKind::Cue { tag: t, cue, .. } if *t == tag && *cue != CueType::Execute);
            if !is_covered(&about) {
                let kind = FactKind::Cue { tag, cue, detail: Span::default() };
                out.push(plain(at, self.who, kind), None, Certainty::Server);
            }
        }
        let has = |list: &[(EffectKey, EffectId, u32, u32)], key: EffectKey| list.iter().any(|e| e.0 == key);
        for &(key, effect, level, stacks) in now.effects.iter().filter(|e| !has(&self.effects, e.0)) {
            if !touched.iter().any(|f| f.key == key) {
                let fact = plain(at, self.who, FactKind::EffectApplied { level, stacks });
                out.push(Fact { key, effect, ..fact }, None, Certainty::Server);
            }
        }
        for &(key, effect, ..) in self.effects.iter().filter(|e| !has(&now.effects, e.0)) {
            if !touched.iter().any(|f| f.key == key) {
                let fact = plain(at, self.who, FactKind::EffectRemoved { reason: RemoveReason::Removed });
                out.push(Fact { key, effect, ..fact }, None, Certainty::Server);
            }
        }
        self.compare_capabilities(now, touched, at, out);
    }

    /// Emits facts for the steps of capabilities that no other fact reports: those that the server added, removed,
    /// activated or deactivated. The code of a capability is not called for these steps.
    pub(super) fn compare_capabilities(&self, now: &VisibleState, touched: &[Fact], at: SimTime, out: &mut NetFacts) {
        // A reload may reorder the entries of a set, so the n-th of a class is compared with the n-th.
        let identity = |c: &CapabilityView| (c.handle, c.class, c.set);
        let find = |list: &[CapabilityView], own: &[CapabilityView], of: &CapabilityView| {
            let is_same = |c: &&CapabilityView| identity(c) == identity(of);
            let nth = own.iter().filter(is_same).take_while(|c| c.position != of.position).count();
            list.iter().filter(is_same).nth(nth).copied()
        };
        let (old, new) = (&self.capabilities, &now.capabilities);
        let removed = old.iter().rev().filter(|c| find(new, old, c).is_none());
        for gone in removed {
            for step in steps_between(Some(gone), None) {
                self.emit_step(gone, step, touched, at, out);
            }
        }
        for capability in new {
            let before = find(old, new, capability);
            for step in steps_between(before.as_ref(), Some(capability)) {
                self.emit_step(capability, step, touched, at, out);
            }
        }
    }

    fn emit_step(&self, of: &CapabilityView, step: CapabilityStep, touched: &[Fact], at: SimTime, out: &mut NetFacts) {
        let kind = FactKind::Capability { class: of.class, set: of.set, step };
        // A fact of the resimulation reports the step, or an undone prediction reports its reverse.
        let reverse = match step {
            CapabilityStep::Activated => CapabilityStep::Deactivated,
            CapabilityStep::Deactivated => CapabilityStep::Activated,
            CapabilityStep::StartLife
            | CapabilityStep::Setup
            | CapabilityStep::EndCapability
            | CapabilityStep::EndLife => step,
        };
        let undone = FactKind::Capability { class: of.class, set: of.set, step: reverse };
        if !touched.iter().any(|f| f.kind == kind || f.kind == undone) {
            out.push(plain(at, self.who, kind), None, Certainty::Server);
        }
    }

    /// Collects values that changed by more than a fraction of the larger of the old and new value.
    pub(super) fn collect_corrections(&self, now: &VisibleState, share: f64, out: &mut Vec<ValueCorrection>) {
        for &(attribute, _, to) in &now.values {
            let Some(&(_, _, from)) = self.values.iter().find(|v| v.0 == attribute) else { continue };
            if (to - from).abs() > share * to.abs().max(from.abs()) {
                out.push(ValueCorrection { who: self.who, attribute, from, to });
            }
        }
    }
}

/// Returns the steps that lead from one state of a capability to another; `None` if the controller does not have it.
fn steps_between(from: Option<&CapabilityView>, to: Option<&CapabilityView>) -> Vec<CapabilityStep> {
    use CapabilityStep::{Activated, Deactivated, EndCapability, EndLife, Setup, StartLife};
    // Whether the capability is held, is set up on this machine, and is active.
    let level = |view: Option<&CapabilityView>| {
        let is_set_up = |state: CapabilityState| match state {
            CapabilityState::NotHeld | CapabilityState::Waiting | CapabilityState::Elsewhere => false,
            CapabilityState::Disabled
            | CapabilityState::Blocked
            | CapabilityState::Inactive
            | CapabilityState::Active => true,
        };
        (view.is_some(), view.is_some_and(|view| is_set_up(view.state)), view.is_some_and(|view| view.active))
    };
    let ((was_held, was_set_up, was_active), (is_held, is_set_up, is_active)) = (level(from), level(to));
    let steps = [
        (was_active && !is_active, Deactivated),
        (was_set_up && !is_set_up, EndCapability),
        (was_held && !is_held, EndLife),
        (!was_held && is_held, StartLife),
        (!was_set_up && is_set_up, Setup),
        (!was_active && is_active, Activated),
    ];
    steps.into_iter().filter(|(happened, _)| *happened).map(|(_, step)| step).collect()
}
