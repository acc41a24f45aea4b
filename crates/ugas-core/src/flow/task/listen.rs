//! What a row's sleeping tasks want to hear of.

use super::{CLOSED, PLAYER};
use crate::SimTime;
use crate::flow::Flow;
use crate::rules::{TaskDef, TaskKind, listen};
use crate::state::{Due, Grant, Task, alert};

/// The news that wakes a task.
fn alert_of(task: &TaskDef) -> u8 {
    match &task.kind {
        TaskKind::WaitGameplayEvent { .. } => alert::EVENT,
        TaskKind::WaitTag { .. } | TaskKind::WaitTagChanged { .. } | TaskKind::WaitTagQuery(_) => alert::TAG,
        TaskKind::WaitAttributeChange { .. } | TaskKind::WaitAttributeThreshold { .. } => alert::ATTRIBUTE,
        TaskKind::WaitEffect { .. } => alert::EFFECT,
        TaskKind::WaitAbility { .. } => alert::ABILITY,
        TaskKind::WaitInputPressed { .. } | TaskKind::WaitInputRelease { .. } => alert::INPUT,
        TaskKind::Custom(custom) => super::custom::alerts(custom),
        _ => 0,
    }
}

impl Flow<'_> {
    /// Which `alert` bits the row's sleeping tasks need.
    pub(crate) fn task_alerts(&self, slot: usize) -> u8 {
        let tasks = self.row(slot).play().tasks.iter().filter(|t| t.left != PLAYER && t.age != CLOSED);
        tasks.fold(0, |bits, t| bits | self.alert_of(slot, t))
    }

    /// Whether anybody on the row waits for events or is triggered by them. An alert may be older than that.
    pub(crate) fn hears_events(&self, slot: usize) -> bool {
        let granted = |g: &Grant| self.ability(g.ability).is_some_and(|d| d.flags.listens & listen::EVENT != 0);
        self.row(slot).grants.iter().any(granted) || self.task_alerts(slot) & alert::EVENT != 0
    }

    /// The news that wakes one of them.
    pub(super) fn alert_of(&self, slot: usize, t: &Task) -> u8 {
        let def = self.def_of(slot, t.of);
        super::coded::alert_of(t) | def.and_then(|d| d.program.task(t.pc).map(alert_of)).unwrap_or(0)
    }

    /// Whether the row has work at frame moments, and the agenda's entry for the next one. While nobody has, there is
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

    /// Puts the next frame moment into the agenda if it is not there.
    pub(crate) fn plan_frame(&mut self) {
        let (now, frame) = (self.st.now.0, self.work.frame.0.max(1));
        // A frame of this very moment is still to come: whatever runs before it must not put it off.
        let planned = self.ix.next_frame != SimTime::ZERO && self.ix.next_frame != SimTime::NEVER;
        if self.ix.frames.is_empty() || (planned && self.ix.next_frame.0 >= now) {
            return;
        }
        self.ix.next_frame = SimTime((now / frame + 1) * frame);
        self.ix.agenda.push(self.ix.next_frame, Due::FRAME, crate::ControllerId::NONE);
    }
}
