//! The life of a capability, as one table: the stages, the events, and the steps that an event causes.

use crate::flow::{Flow, Via};
use crate::rules::{CapabilityCall, Question};
use crate::state::{RecordKey, Stage};
use crate::{CapabilityStep, ControllerId, FactKind};

/// An event in the life of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LifeEvent {
    /// The capability runs on this machine now.
    Arrive,
    /// Its data components are registered.
    Ready,
    /// It becomes active.
    Activate,
    /// It becomes inactive.
    Deactivate,
    /// It no longer runs on this machine.
    Leave,
    /// It is removed from the controller.
    Remove,
}

/// Returns the next stage (`None` if the capability is removed) and the steps in between.
pub(crate) fn transition(stage: Stage, event: LifeEvent) -> (Option<Stage>, &'static [CapabilityStep]) {
    use CapabilityStep::{Activated, Deactivated, EndCapability, EndLife, Setup};
    match (stage, event) {
        (Stage::Elsewhere, LifeEvent::Arrive) => (Some(Stage::Waiting), &[]),
        (Stage::Waiting, LifeEvent::Ready) => (Some(Stage::Inactive), &[Setup]),
        (Stage::Inactive, LifeEvent::Activate) => (Some(Stage::Active), &[Activated]),
        (Stage::Active, LifeEvent::Deactivate) => (Some(Stage::Inactive), &[Deactivated]),
        (Stage::Waiting, LifeEvent::Leave) => (Some(Stage::Elsewhere), &[]),
        (Stage::Inactive, LifeEvent::Leave) => (Some(Stage::Elsewhere), &[EndCapability]),
        (Stage::Active, LifeEvent::Leave) => (Some(Stage::Elsewhere), &[Deactivated, EndCapability]),
        (Stage::Waiting | Stage::Elsewhere, LifeEvent::Remove) => (None, &[EndLife]),
        (Stage::Inactive, LifeEvent::Remove) => (None, &[EndCapability, EndLife]),
        (Stage::Active, LifeEvent::Remove) => (None, &[Deactivated, EndCapability, EndLife]),
        // These events change nothing in these stages.
        (Stage::Waiting | Stage::Inactive | Stage::Active, LifeEvent::Arrive)
        | (Stage::Elsewhere | Stage::Inactive | Stage::Active, LifeEvent::Ready)
        | (Stage::Elsewhere | Stage::Waiting | Stage::Active, LifeEvent::Activate)
        | (Stage::Elsewhere | Stage::Waiting | Stage::Inactive, LifeEvent::Deactivate)
        | (Stage::Elsewhere, LifeEvent::Leave) => (Some(stage), &[]),
    }
}

impl Flow<'_> {
    /// Starts the life of a new capability and, if it runs in the row, sets it up.
    pub(super) fn start_life(&mut self, who: ControllerId, key: RecordKey) {
        self.emit_step(who, key, CapabilityStep::StartLife);
        let Some(record) = self.record(who, key) else { return };
        if self.view().runs_in_row(who, record) {
            self.live(who, key, LifeEvent::Arrive);
            self.set_up(who, key);
        }
    }

    /// Sets a capability up as soon as its data components are registered, and decides whether it is active.
    pub(super) fn set_up(&mut self, who: ControllerId, key: RecordKey) {
        let Ok(slot) = self.slot(who) else { return };
        let Some(record) = self.record(who, key) else { return };
        if record.stage != Stage::Waiting || !self.view().has_data_components(slot, record.set) {
            return;
        }
        self.live(who, key, LifeEvent::Ready);
        let Some(record) = self.record(who, key) else { return };
        let is_blocked = record.ticks && self.view().blocker_of(slot, record).is_some();
        if record.enabled && !is_blocked && !self.ask(slot, key, Question::Deactivate) {
            self.live(who, key, LifeEvent::Activate);
        }
    }

    /// Applies an event to a capability: runs the steps of the table with all their reactions.
    pub(super) fn live(&mut self, who: ControllerId, key: RecordKey, event: LifeEvent) {
        let Some(record) = self.record(who, key) else { return };
        let (next, steps) = transition(record.stage, event);
        for &step in steps {
            self.run_step(who, key, step);
        }
        let Some(slot) = self.st.controllers.slot(who) else { return };
        let all = self.row_mut(slot).play_mut().capabilities_mut();
        match next {
            Some(stage) => {
                if let Some(record) = all.find_mut(key) {
                    record.stage = stage;
                }
            }
            None => all.records.retain(|record| record.key() != key),
        }
        if matches!(event, LifeEvent::Activate | LifeEvent::Deactivate) && !steps.is_empty() {
            // Its next verdict answers the other question, so it must be asked again even if nothing else changes.
            self.wake_capabilities(slot);
        }
    }

    /// Runs one step: sets the stage, emits the fact, and calls the code or executes the document.
    fn run_step(&mut self, who: ControllerId, key: RecordKey, step: CapabilityStep) {
        let Some(slot) = self.st.controllers.slot(who) else { return };
        let now = self.local_now(slot);
        let Some(record) = self.record_mut(slot, key) else { return };
        let call = match step {
            CapabilityStep::StartLife | CapabilityStep::EndLife => None,
            CapabilityStep::Setup => {
                record.stage = Stage::Inactive;
                Some(CapabilityCall::Setup)
            }
            CapabilityStep::Activated => {
                record.stage = Stage::Active;
                Some(CapabilityCall::Activated)
            }
            CapabilityStep::Deactivated => {
                record.stage = Stage::Inactive;
                Some(CapabilityCall::Deactivated)
            }
            CapabilityStep::EndCapability => Some(CapabilityCall::End),
        };
        if step == CapabilityStep::Setup && self.needs_time(slot, key) {
            self.edit_record(slot, key, |record| record.last = now);
        }
        self.emit_step(who, key, step);
        if let Some(call) = call {
            self.call(who, key, call);
        }
        if step == CapabilityStep::EndCapability {
            self.forget_record(who, key);
        }
    }

    /// Clears what a capability that no longer runs here kept: its blocks, its state and its last time. The number of
    /// its requests stays, because effects that it applied before may still be active, and their keys are derived from
    /// that number.
    fn forget_record(&mut self, who: ControllerId, key: RecordKey) {
        let Some(slot) = self.st.controllers.slot(who) else { return };
        let Some(source) = self.record(who, key).map(|record| record.block_source()) else { return };
        self.remove_blocks_of(slot, source);
        self.edit_record(slot, key, |record| {
            record.last = crate::SimTime::ZERO;
            record.state.clear();
            record.effects.clear();
        });
    }

    fn emit_step(&mut self, who: ControllerId, key: RecordKey, step: CapabilityStep) {
        let Some((class, set)) = self.record(who, key).map(|record| (record.class, record.set)) else { return };
        self.fact(who, Via { source: who, ..Via::NOTHING }, FactKind::Capability { class, set, step });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_that_leaves_or_is_removed_ends_exactly_what_it_began() {
        let stages = [Stage::Elsewhere, Stage::Waiting, Stage::Inactive, Stage::Active];
        for stage in stages {
            let (left, steps) = transition(stage, LifeEvent::Leave);
            assert_eq!(left, Some(Stage::Elsewhere));
            assert_eq!(steps.contains(&CapabilityStep::EndCapability), stage.is_set_up());
            let (removed, ends) = transition(stage, LifeEvent::Remove);
            assert_eq!((removed, ends.last()), (None, Some(&CapabilityStep::EndLife)));
            assert_eq!(&ends[..ends.len() - 1], steps);
            assert_eq!(ends.contains(&CapabilityStep::Deactivated), stage == Stage::Active);
        }
    }
}
