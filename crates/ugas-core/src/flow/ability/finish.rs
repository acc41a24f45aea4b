//! The end of an activation. When an activation completes, its tasks end, its owned tags are removed, and then the
//! `AbilityEnded` fact is emitted. When an activation is cancelled, its owned tags are removed, the `AbilityEnded` fact
//! is emitted, OnCancel or OnInterrupt runs, and then its tasks end. An activation that still waits for its validation
//! is removed without a fact. Every activation ends exactly once.

use super::super::task::ListKind;
use super::super::{AbilityEvent, Flow, RowEvent, Via};
use super::state::AbilityTransition;
use crate::state::{Activation, CauseWhat, Due, TimerKind, alert};
use crate::{AbilityState, CastStep, CueType, FactKind, RemoveReason, SimTime, Span, TagId};

/// How an activation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndHow {
    Ended,
    Cancelled,
    Interrupted,
}

impl Flow<'_> {
    /// Ends an activation. Does nothing if the activation has already ended or is ending.
    pub(crate) fn finish(&mut self, slot: usize, seq: u64, how: EndHow) {
        let row = self.row(slot);
        let Some(a) = row.play().activation(seq) else { return };
        let (who, ids, key) = (row.id, (a.ability, a.grant), a.key(row.id));
        match a.state {
            AbilityState::Active => {}
            AbilityState::PendingConfirmation => {
                // The activation was never active, so nothing is reported.
                self.step_ability(who, ids, AbilityState::PendingConfirmation, AbilityTransition::Reject);
                self.drop_activation(slot, seq);
                return;
            }
            AbilityState::NotGranted | AbilityState::Granted | AbilityState::Activating | AbilityState::Ending => {
                return;
            }
        }
        let cause = self.because(CauseWhat::Ended(ids.0), who, who);
        let state = self.step_ability(who, ids, AbilityState::Active, AbilityTransition::Finish);
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(seq) {
            a.state = state;
        }
        let cancelled = how != EndHow::Ended;
        if cancelled {
            self.drop_owned_tags(slot, seq);
            let step = if how == EndHow::Interrupted { CastStep::Interrupted } else { CastStep::Cancelled };
            self.stop_cast(slot, seq, step);
        } else {
            self.cancel_tasks(slot, seq);
            self.stop_cast(slot, seq, CastStep::Cancelled);
            self.drop_owned_tags(slot, seq);
        }
        let (ability, grant) = ids;
        let interrupted = how == EndHow::Interrupted;
        let ended = FactKind::AbilityEnded { ability, grant, activation: key, cancelled, interrupted };
        self.fact(who, Via::NOTHING, ended);
        self.code_ended(slot, seq, cancelled);
        if cancelled {
            let list = if interrupted { ListKind::Interrupt } else { ListKind::Cancel };
            self.run_list(slot, seq, list);
            self.cancel_tasks(slot, seq);
        }
        self.drop_cues(slot, seq);
        self.drop_activation(slot, seq);
        self.step_ability(who, ids, AbilityState::Ending, AbilityTransition::Done);
        let change = AbilityEvent::Ended { cancelled, grant };
        self.notify(slot, alert::ABILITY, || RowEvent::Ability { ability, key, change });
        self.cause = cause;
    }

    fn drop_owned_tags(&mut self, slot: usize, seq: u64) {
        let Some(owned) = self.row(slot).play().activation(seq).map(|a| a.owned).filter(|&s| s != 0) else { return };
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(seq) {
            a.owned = 0;
        }
        self.end(slot, owned, RemoveReason::Removed, None);
    }

    /// Stops the loop cues that the activation added.
    fn drop_cues(&mut self, slot: usize, seq: u64) {
        let Some(a) = self.row(slot).play().activation(seq).filter(|a| !a.cues.is_empty()) else { return };
        let cues: Vec<TagId> = a.cues.clone();
        let who = self.row(slot).id;
        for tag in cues {
            let row = self.row_mut(slot);
            let Ok(i) = row.cues().binary_search_by_key(&tag, |c| c.tag) else { continue };
            let count = &mut row.side_mut().cues[i].count;
            *count -= 1;
            if *count == 0 {
                row.side_mut().cues.remove(i);
                self.fact(who, Via::NOTHING, FactKind::Cue { tag, cue: CueType::Remove, detail: Span::default() });
            }
        }
    }

    /// Removes an activation.
    pub(crate) fn drop_activation(&mut self, slot: usize, seq: u64) {
        let row = self.row_mut(slot);
        let Some(at) = row.play().activations.iter().position(|a| a.seq == seq) else { return };
        let Activation { deadline, .. } = row.play_mut().activations.remove(at);
        if deadline != SimTime::NEVER {
            row.unschedule(Due::timer(deadline, TimerKind::Validation, seq));
        }
        row.trim();
        self.refresh_listeners(slot);
        self.publish(slot);
    }
}
