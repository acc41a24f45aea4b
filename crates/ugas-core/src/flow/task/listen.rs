//! The kinds of events that a row's waiting tasks listen to.

use super::{CLOSED, PLAYER};
use crate::SimTime;
use crate::flow::Flow;
use crate::rules::{TaskDef, TaskKind, listen};
use crate::state::{Due, Grant, Task, alert};

/// Returns the events that wake a task.
fn alert_of(task: &TaskDef) -> u8 {
    match &task.kind {
        TaskKind::WaitGameplayEvent { .. } => alert::EVENT,
        TaskKind::WaitTag { .. } | TaskKind::WaitTagChanged { .. } | TaskKind::WaitTagQuery(_) => alert::TAG,
        TaskKind::WaitAttributeChange { .. } | TaskKind::WaitAttributeThreshold { .. } => alert::ATTRIBUTE,
        TaskKind::WaitEffect { .. } => alert::EFFECT,
        TaskKind::WaitAbility { .. } => alert::ABILITY,
        TaskKind::WaitInputPressed { .. } | TaskKind::WaitInputRelease { .. } => alert::INPUT,
        TaskKind::Custom(custom) => super::custom::alerts(custom),
        // Woken by time, by the host or by the frame.
        TaskKind::WaitDelay { .. }
        | TaskKind::WaitGameTime { .. }
        | TaskKind::WaitMontageEnded { .. }
        | TaskKind::WaitAnimationEvent { .. }
        | TaskKind::WaitTargetData { .. }
        | TaskKind::WaitOverlap { .. }
        | TaskKind::WaitForTarget { .. } => 0,
        // Actions complete when they start.
        TaskKind::ApplyToOwner(_)
        | TaskKind::ApplyToTarget(_)
        | TaskKind::ApplyInRadius { .. }
        | TaskKind::RemoveFromOwner(_)
        | TaskKind::RemoveFromTarget(_)
        | TaskKind::Commit
        | TaskKind::End { .. }
        | TaskKind::CancelAbility(_)
        | TaskKind::SendEvent { .. }
        | TaskKind::SetParam { .. }
        | TaskKind::SetRestriction { .. }
        | TaskKind::SetTarget { .. }
        | TaskKind::ExecuteCue(_)
        | TaskKind::AddCue(_)
        | TaskKind::RemoveCue(_)
        | TaskKind::PlayMontage { .. }
        | TaskKind::SpawnProjectile { .. }
        | TaskKind::Request { .. } => 0,
    }
}

impl Flow<'_> {
    /// Returns the `alert` bits that the row's waiting tasks need.
    pub(crate) fn task_alerts(&self, slot: usize) -> u8 {
        let tasks = self.row(slot).play().tasks.iter().filter(|t| t.left != PLAYER && t.age != CLOSED);
        tasks.fold(0, |bits, t| bits | self.alert_of(slot, t))
    }

    /// Returns whether anything on the row waits for events or is triggered by them. An alert may be outdated.
    pub(crate) fn listens_to_events(&self, slot: usize) -> bool {
        let granted = |g: &Grant| self.ability(g.ability).is_some_and(|d| d.flags.listens & listen::EVENT != 0);
        self.row(slot).grants.iter().any(granted) || self.task_alerts(slot) & alert::EVENT != 0
    }

    /// Returns the events that wake a waiting task.
    pub(super) fn alert_of(&self, slot: usize, t: &Task) -> u8 {
        let def = self.def_of(slot, t.of);
        super::coded::alert_of(t) | def.and_then(|d| d.program.task(t.pc).map(alert_of)).unwrap_or(0)
    }

    /// Updates whether the row has frame work, and the agenda's entry for the next frame. Without frame work there is
    /// none.
    pub(crate) fn refresh_frames(&mut self, slot: usize) {
        let row = self.row(slot);
        let ticks = row.play().tasks.iter().any(|t| {
            let def = self.def_of(slot, t.of);
            def.is_some_and(|d| d.program.task(t.pc).is_some_and(|k| k.interval.is_some()))
        });
        let (who, work) = (row.id, ticks || row.play().held.iter().any(|h| h.retry));
        if work {
            self.ix.frames.insert(who);
            self.plan_frame();
        } else {
            self.ix.frames.remove(&who);
        }
    }

    /// Schedules the next frame if it is not in the agenda.
    pub(crate) fn plan_frame(&mut self) {
        let (now, frame) = (self.st.now.0, self.work.frame.0.max(1));
        // A frame at this exact time is still to come: what runs before it must not delay it.
        let planned = self.ix.next_frame != SimTime::ZERO && self.ix.next_frame != SimTime::NEVER;
        if self.ix.frames.is_empty() || (planned && self.ix.next_frame.0 >= now) {
            return;
        }
        self.ix.next_frame = SimTime((now / frame + 1) * frame);
        self.ix.agenda.push(self.ix.next_frame, Due::FRAME, crate::ControllerId::NONE);
    }
}
