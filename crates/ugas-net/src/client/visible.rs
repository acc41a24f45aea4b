//! The visible state of a controller, compared before and after a correction.

use super::ValueCorrection;
use super::facts::{Certainty, NetFacts};
use crate::view::Proxy;
use ugas_core::{
    AttributeId, Cause, ControllerId, CueType, EffectId, EffectKey, Fact, FactKind, RemoveReason, Sim, SimTime, Span,
    TagId,
};

/// Returns a fact without source, effect and cause.
pub(super) fn plain(at: SimTime, who: ControllerId, kind: FactKind) -> Fact {
    let Cause { root, link } = Cause::default();
    let (source, key, effect) = (ControllerId::NONE, EffectKey::NONE, EffectId::NONE);
    Fact { at, who, source, key, root, link, effect, kind }
}

/// The visible state of a controller.
pub(super) struct VisibleState {
    who: ControllerId,
    values: Vec<(AttributeId, f64, f64)>,
    tags: Vec<TagId>,
    effects: Vec<(EffectKey, EffectId, u32, u32)>,
    /// Looping cues, sorted by tag.
    loops: Vec<TagId>,
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
        VisibleState { who, values, tags, effects, loops }
    }

    /// Returns the visible state of a remote actor: replicated attributes and tags. Effects and looping cues are left
    /// out because separate facts report them.
    pub(super) fn of_remote(sim: &Sim, proxy: &Proxy) -> VisibleState {
        let mut shown = VisibleState::of(sim, proxy.who());
        shown.values.retain(|v| proxy.shows(v.0));
        // Only current values are replicated.
        shown.values.iter_mut().for_each(|v| v.1 = v.2);
        shown.effects.clear();
        shown.loops.clear();
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
            }
        }
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
