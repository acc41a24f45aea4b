//! The kinds of events that a row's waiting tasks listen to, and the scheduling of the next frame.

use super::{CLOSED, PLAYER};
use crate::SimTime;
use crate::flow::Flow;
use crate::rules::listen;
use crate::state::{Due, Grant, Task, alert};

impl Flow<'_> {
    /// Returns the kinds of events that the row's waiting tasks listen to, as `alert` bits.
    pub(crate) fn task_alerts(&self, slot: usize) -> u8 {
        let tasks = self.row(slot).play().tasks.iter().filter(|t| t.left != PLAYER && t.age != CLOSED);
        tasks.fold(0, |bits, t| bits | self.alert_of(slot, t))
    }

    /// Returns whether anything on the row waits for gameplay events or is triggered by them. Does not rely on the
    /// row's `alert` bits, which may be outdated.
    pub(crate) fn listens_to_events(&self, slot: usize) -> bool {
        let granted = |g: &Grant| self.ability(g.ability).is_some_and(|d| d.flags.listens & listen::EVENT != 0);
        self.row(slot).grants.iter().any(granted) || self.task_alerts(slot) & alert::EVENT != 0
    }

    /// Returns the kinds of events that wake a waiting task, as `alert` bits.
    pub(super) fn alert_of(&self, slot: usize, t: &Task) -> u8 {
        let def = self.def_of(slot, t.of);
        super::coded::alert_of(t) | def.and_then(|d| d.program.task(t.pc).map(|task| task.kind.wakes_on())).unwrap_or(0)
    }

    /// Updates whether the row has frame work. Also schedules the next frame, which is in the agenda only while some
    /// row has frame work.
    pub(crate) fn refresh_frames(&mut self, slot: usize) {
        let row = self.row(slot);
        let ticks = row.play().tasks.iter().any(|t| {
            let def = self.def_of(slot, t.of);
            def.is_some_and(|d| d.program.task(t.pc).is_some_and(|k| k.interval.is_some()))
        });
        let (who, work) = (row.id, ticks || self.has_held_work(slot) || self.has_capability_work(slot));
        if work {
            self.sc.frames_grew |= self.ix.frames.insert(who);
            self.plan_frame();
        } else {
            self.ix.frames.remove(&who);
        }
    }

    /// Schedules the next frame, unless the agenda already has it.
    pub(crate) fn plan_frame(&mut self) {
        let (now, frame) = (self.st.now.0, self.work.frame.0.max(1));
        // A frame planned for exactly now has not run yet and must not be postponed.
        let planned = self.ix.next_frame != SimTime::ZERO && self.ix.next_frame != SimTime::NEVER;
        if self.ix.frames.is_empty() || (planned && self.ix.next_frame.0 >= now) {
            return;
        }
        self.ix.next_frame = SimTime((now / frame + 1) * frame);
        self.ix.agenda.push(self.ix.next_frame, Due::FRAME, crate::ControllerId::NONE);
    }
}
