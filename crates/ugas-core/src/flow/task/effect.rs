//! Tasks that act immediately: effects, other abilities, cues.

use super::Strand;
use crate::flow::ability::EndHow;
use crate::flow::{Flow, ForeignAction, Via, child_birth};
use crate::rules::{AbilityDef, AbilityPick, ApplyDef, EffectPick, Num, RemoveDef};
use crate::{
    ControllerId, CueType, DiagnosticKind, EffectFilter, EffectId, EffectKey, FactKind, SimTime, Span, Spec, TagId,
};

/// Replaces the trigger in the birth of an effect that a task applies.
const TASK: u64 = 64;

/// Returns the birth of the next action of an activation and counts it.
pub(super) fn child_of_act(a: &mut crate::state::Activation, who: ControllerId, pc: u16) -> u64 {
    let acts = a.acts;
    a.acts = acts.wrapping_add(1);
    let key = EffectKey { birth: a.birth, target: who, ordinal: a.ordinal };
    child_birth(key, TASK, acts, pc as usize)
}

impl Flow<'_> {
    /// Applies an effect from a task. A refusal is traced and the list continues.
    pub(super) fn apply_from(&mut self, slot: usize, s: Strand, apply: &ApplyDef, target: ControllerId) {
        let who = self.row(slot).id;
        let Some(a) = self.row_mut(slot).play_mut().activation_mut(s.of) else { return };
        let birth = child_of_act(a, who, s.pc);
        let (ability, level, hit) = (a.ability, a.level, a.hit.clone());
        // What a replayed row does to others has already happened.
        if self.replay.is_some_and(|r| r.only != target) {
            return;
        }
        let mut spec = Spec::new(apply.effect, target).from(who).level(level).ability(ability);
        let whole = |v: f64| v.round().clamp(1.0, u32::MAX as f64) as u32;
        if let Some(level) = apply.level.as_ref().and_then(|n| self.value_for(slot, s.of, n, Some(target))) {
            spec.level = whole(level);
        }
        if let Some(stacks) = apply.stacks.as_ref().and_then(|n| self.value_for(slot, s.of, n, Some(target))) {
            spec.stacks = whole(stacks);
        }
        if let Some(duration) = apply.duration.as_ref().and_then(|n| self.length_of(slot, s.of, n)) {
            spec = spec.lasting(duration);
        }
        for (key, num) in &apply.by_caller {
            // A value that cannot be read is missing: the effect's own rules for that apply.
            if let Some(value) = self.value_for(slot, s.of, num, Some(target)) {
                spec.put(*key, value);
            }
        }
        if let Some(hit) = hit {
            spec = spec.hit(*hit);
        }
        self.journal_foreign_action(who, target, || ForeignAction::Apply(spec.clone(), birth));
        let _ = self.apply(&spec, birth);
    }

    /// Applies an effect to every controller in a radius, the nearest first.
    pub(super) fn apply_in_radius(
        &mut self,
        slot: usize,
        s: Strand,
        apply: &ApplyDef,
        radius: &Num,
        ignore: &[TagId],
        max: Option<u32>,
    ) {
        let who = self.row(slot).id;
        if self.row(slot).side().anchor.is_none() {
            return self.diagnose(who, apply.effect, DiagnosticKind::MissingTarget);
        }
        let Some(radius) = self.value_of(slot, s.of, radius) else { return };
        let mut left = max.unwrap_or(u32::MAX);
        for target in self.around(slot, radius) {
            if left == 0 {
                return;
            }
            let Some(at) = self.st.controllers.slot(target) else { continue };
            if ignore.iter().any(|&t| self.has(at, t)) {
                let via = Via { source: who, key: EffectKey::NONE, effect: apply.effect };
                if self.replay.is_none() {
                    self.fact(target, via, FactKind::Immune { blocker: EffectKey::NONE, by: EffectId::NONE });
                }
                continue;
            }
            left -= 1;
            self.apply_from(slot, s, apply, target);
        }
    }

    /// Removes effects; it is not an error if there are none.
    pub(in crate::flow) fn remove_from(&mut self, from: ControllerId, target: ControllerId, remove: &RemoveDef) {
        if self.replay.is_some_and(|r| r.only != target) {
            return;
        }
        self.journal_foreign_action(from, target, || ForeignAction::Remove(remove.clone()));
        let Some(slot) = self.st.controllers.slot(target) else { return };
        let filter = match &remove.what {
            EffectPick::Effect(effect) => EffectFilter { effect: Some(*effect), ..EffectFilter::default() },
            EffectPick::Tags(tags) => EffectFilter { with_any_tag: tags.to_vec(), ..EffectFilter::default() },
        };
        let Some(stacks) = remove.stacks else {
            self.remove_matching(slot, &filter);
            return;
        };
        for seq in self.matching(slot, &filter) {
            let row = self.row(slot);
            if let Some(key) = row.effect_at(seq).map(|at| row.effects[at].key(target)) {
                let _ = self.remove(key, Some(stacks));
            }
        }
    }

    /// Cancels other active abilities.
    pub(super) fn cancel_picked(&mut self, slot: usize, of: u64, pick: &AbilityPick) {
        let others = self.row(slot).play().activations.iter().filter(|a| a.seq != of);
        let all: Vec<_> = others.map(|a| (a.seq, a.ability)).collect();
        for (seq, ability) in all {
            let Some(def) = self.ability(ability) else { continue };
            if self.is_picked(&def, pick) {
                self.finish(slot, seq, EndHow::Cancelled);
            }
        }
    }

    pub(super) fn is_picked(&self, def: &AbilityDef, pick: &AbilityPick) -> bool {
        match pick {
            AbilityPick::Ability(id) => def.id == *id,
            AbilityPick::Tags(tags) => def.tags.iter().any(|&t| tags.iter().any(|&of| self.rules.tags.is_under(t, of))),
        }
    }

    // Cues ------------------------------------------------------------------------------------------------------

    pub(super) fn burst_cue(&mut self, slot: usize, tag: TagId) {
        let who = self.row(slot).id;
        let detail = Span::default();
        self.fact(who, self.own_via(slot), FactKind::Cue { tag, cue: CueType::Execute, detail });
    }

    fn own_via(&self, slot: usize) -> Via {
        Via { source: self.row(slot).id, ..Via::NOTHING }
    }

    /// Starts a looping cue that ends with the activation.
    pub(super) fn add_cue(&mut self, slot: usize, of: u64, tag: TagId) {
        let via = self.own_via(slot);
        let Some(a) = self.row_mut(slot).play_mut().activation_mut(of) else { return };
        if a.cues.contains(&tag) {
            return;
        }
        a.cues.push(tag);
        self.cue_in(slot, tag, None, via);
    }

    pub(super) fn remove_cue(&mut self, slot: usize, of: u64, tag: TagId) {
        let Some(a) = self.row_mut(slot).play_mut().activation_mut(of) else { return };
        let Some(at) = a.cues.iter().position(|t| *t == tag) else { return };
        a.cues.remove(at);
        self.release_cue(slot, tag);
    }

    /// Releases what one activation holds of a looping cue.
    pub(crate) fn release_cue(&mut self, slot: usize, tag: TagId) {
        self.cue_out(slot, tag, self.own_via(slot));
    }

    /// Returns the row's current local time.
    pub(super) fn local_now(&self, slot: usize) -> SimTime {
        self.row(slot).clock.local(self.st.now)
    }
}
