//! Actions of tasks and coded abilities on effects and cues.

use crate::flow::{Flow, ForeignAction, Via, child_origin_id};
use crate::rules::{AbilityDef, AbilityPick, EffectPick};
use crate::task::RemoveDef;
use crate::{ControllerId, CueType, EffectFilter, EffectKey, FactKind, SimTime, Span, TagId};

/// Marks the origin id of an effect that a task applies.
const TASK: u64 = 64;

/// Returns the origin id for the next action of an activation and counts the action.
pub(crate) fn child_of_act(a: &mut crate::state::Activation, who: ControllerId, pc: u16) -> u64 {
    let acts = a.acts;
    a.acts = acts.wrapping_add(1);
    let key = EffectKey { origin_id: a.origin_id, target: who, ordinal: a.ordinal };
    child_origin_id(key, TASK, acts, pc as usize)
}

/// Returns the words that identify the rolls of the next action of an activation.
pub(crate) fn path_of_act(a: &crate::state::Activation, who: ControllerId, pc: u16) -> [u64; 3] {
    [(a.ability.0 as u64) << 32 | who.0 as u64, TASK << 32 | pc as u64, (a.ordinal as u64) << 32 | a.acts as u64]
}

impl Flow<'_> {
    /// Removes the selected effects. If there are none, the call changes nothing.
    pub(crate) fn remove_from(&mut self, from: ControllerId, target: ControllerId, remove: &RemoveDef) {
        if self.skips_action_on(target) {
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

    /// Returns whether `pick` selects an ability.
    pub(crate) fn is_picked(&self, def: &AbilityDef, pick: &AbilityPick) -> bool {
        match pick {
            AbilityPick::Ability(id) => def.id == *id,
            AbilityPick::Tags(tags) => def.tags.iter().any(|&t| tags.iter().any(|&of| self.rules.tags.is_under(t, of))),
        }
    }

    // Cues ------------------------------------------------------------------------------------------------------

    pub(crate) fn burst_cue(&mut self, slot: usize, tag: TagId) {
        let who = self.row(slot).id;
        let detail = Span::default();
        self.fact(who, self.own_via(slot), FactKind::Cue { tag, cue: CueType::Execute, detail });
    }

    fn own_via(&self, slot: usize) -> Via {
        Via { source: self.row(slot).id, ..Via::NOTHING }
    }

    /// Starts a loop cue of an activation.
    pub(crate) fn hold_cue(&mut self, slot: usize, tag: TagId) {
        self.cue_in(slot, tag, None, self.own_via(slot));
    }

    /// Stops a loop cue of an activation, unless an effect or another activation also has the cue.
    pub(crate) fn release_cue(&mut self, slot: usize, tag: TagId) {
        self.cue_out(slot, tag, self.own_via(slot));
    }

    /// Returns the row's current local time.
    pub(crate) fn local_now(&self, slot: usize) -> SimTime {
        self.row(slot).clock.local(self.st.now)
    }
}
