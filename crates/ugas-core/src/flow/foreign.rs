//! What a row reads of other rows. The journal of the row records it, so that a resimulation of the row reads the same:
//! the state of another controller, the results of checks that depend on other rows, and the controllers among which a
//! task chose.

use super::{Flow, JournalEvent};
use crate::rules::Layout;
use crate::state::{Frozen, Row, Tags};
use crate::{AbilityId, AbilitySetId, AttributeId, ControllerId, EffectId, Refusal, Role, SetId};
use std::sync::Arc;

/// A check of a row that depends on other rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForeignCheck {
    /// Whether another controller with the same avatar has capabilities when this set is granted.
    Rival(AbilitySetId),
    /// Whether this effect would make an attribute depend on itself.
    EffectCycle(EffectId),
    /// Whether this attribute set would make an attribute depend on itself.
    SetCycle(SetId),
}

/// A controller that a task can choose, with its position.
pub(crate) type Candidate = (ControllerId, Option<[f64; 3]>);

/// A task in the program of an ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskPlace {
    pub(crate) ability: AbilityId,
    pub(crate) pc: u16,
}

/// The recorded state of another controller: its tags, current values, position, credit, death and combat rules.
#[derive(Clone, Debug)]
pub(crate) struct KnownController {
    pub(super) tags: Tags,
    layout: Arc<Layout>,
    /// The current values of the slots of the layout.
    values: Box<[f64]>,
    pub(super) position: Option<[f64; 3]>,
    /// The controller that gets the credit for the damage of this controller.
    pub(super) credit: ControllerId,
    pub(super) is_dead: bool,
    /// The state that the combat rules of the controller read. `None` if the controller has no active effect with combat
    /// rules about actions on others and no stat that multiplies a combat value.
    pub(super) rules: Option<Box<Frozen>>,
}

impl KnownController {
    pub(super) fn value(&self, attribute: AttributeId) -> Option<f64> {
        self.layout.slot(attribute).map(|slot| self.values[slot])
    }
}

impl PartialEq for KnownController {
    fn eq(&self, other: &KnownController) -> bool {
        let parts = |k: &KnownController| (k.position, k.credit, k.is_dead);
        // Under the same rules, the sets decide the layout.
        self.layout.sets == other.layout.sets
            && self.values == other.values
            && self.tags == other.tags
            && parts(self) == parts(other)
            && self.rules == other.rules
    }
}

impl Flow<'_> {
    /// Records another controller before its state is read.
    #[inline]
    pub(crate) fn journal_source(&mut self, target: ControllerId, source: ControllerId) {
        if !self.journals.is_empty() && self.replay.is_none() && target != source && source != ControllerId::NONE {
            self.note_source(target, source);
        }
    }

    #[cold]
    fn note_source(&mut self, target: ControllerId, source: ControllerId) {
        if !self.journals.contains_key(&target) {
            return;
        }
        let known = self.st.controllers.slot(source).map(|slot| Box::new(self.known_controller(slot)));
        self.journal_event(target, || JournalEvent::Source { source, known });
    }

    fn known_controller(&self, slot: usize) -> KnownController {
        let (view, row) = (self.view(), self.row(slot));
        let effects = view.ruling_effects(slot);
        let layout = self.ix.layouts[row.layout as usize].clone();
        let has_rules = !effects.is_empty() || !layout.scales.is_empty();
        let rules = has_rules.then(|| Box::new(view.frozen_row(slot, effects)));
        let (credit, is_dead) = (view.credit(row.id), view.is_dead(row.id));
        let values = row.attrs.iter().map(|a| a.current).collect();
        let (tags, position) = (row.tags.clone(), row.side().anchor.map(|a| a.position));
        KnownController { tags, layout, values, position, credit, is_dead, rules }
    }

    /// Runs a check of a row that depends on other rows, and records its result. A replay repeats a recorded refusal,
    /// because the other rows may have changed since.
    pub(super) fn checked(
        &mut self,
        who: ControllerId,
        check: ForeignCheck,
        run: impl FnOnce(&Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        if let Some(refusal) = self.replay.and_then(|replay| replay.refusal_of(who, check, self.st.now)) {
            return Err(refusal);
        }
        let result = run(self);
        if !self.journals.is_empty() && self.replay.is_none() {
            self.journal_event(who, || JournalEvent::Check { check, refusal: result.err() });
        }
        result
    }

    /// Records whether this machine controls the outermost owner of a row locally, before the row reads it. Only a
    /// standalone sim runs capabilities in the row that depend on it.
    pub(super) fn journal_owner(&mut self, who: ControllerId) {
        let depends = |row: &Row| {
            row.play().capabilities().records.iter().any(|r| r.side == ugas_doc::Side::OwnerLocalControlledOnly)
        };
        if self.work.role == Role::Standalone
            && self.journals.contains_key(&who)
            && self.replay.is_none()
            && self.st.controllers.get(who).is_some_and(depends)
        {
            let view = self.view();
            let is_local = view.is_local(view.outermost_owner(who));
            self.journal_event(who, || JournalEvent::OwnerLocality { is_local });
        }
    }

    /// Records the controllers among which a task of a row chooses. In a replay, replaces those outside the replayed
    /// rows by the recorded ones, because they may have moved or left the sim since. Returns whether there is a record.
    pub(crate) fn journal_candidates(&mut self, who: ControllerId, task: TaskPlace, all: &mut Vec<Candidate>) -> bool {
        let Some(replay) = self.replay else {
            if !self.journals.is_empty() {
                self.journal_event(who, || JournalEvent::Candidates { task, others: all[..].into() });
            }
            return false;
        };
        let recorded = replay.candidates(who, task, self.st.now);
        if let Some(recorded) = recorded {
            all.retain(|(other, _)| replay.includes(*other));
            all.extend(recorded.iter().filter(|(other, _)| !replay.includes(*other)));
        }
        recorded.is_some()
    }
}
