//! Advance: visits each due moment in the order of ruling R-02, so that a closed sim does not depend on the stride.

use super::Flow;
use crate::state::Due;
use crate::{Cause, SimTime};
use ugas_doc::PeriodInhibition;

impl Flow<'_> {
    /// Runs what falls due up to `until`; how much, and whether that was all.
    pub(crate) fn advance(&mut self, until: SimTime) -> (u64, bool) {
        let mut done = 0;
        while let Some(entry) = self.ix.agenda.pop(until) {
            let Some(target) = self.st.controllers.slot(entry.who()) else { continue };
            let row = self.st.controllers.row_mut(target);
            if row.published != entry.published() {
                continue;
            }
            row.published = (SimTime::NEVER, 0);
            if done >= self.limits.due_per_advance {
                self.publish(target);
                return (done, false);
            }
            self.st.now = self.st.now.max(entry.at);
            self.run_due(target);
            done += 1;
        }
        (done, true)
    }

    /// The row's next due work, and what follows from it.
    pub(crate) fn run_due(&mut self, target: usize) {
        let row = self.row_mut(target);
        let Some(due) = row.due.pop() else { return };
        let who = row.id;
        let Some(at) = row.effect_at(due.seq()) else { return };
        self.cause = Cause { root: row.effects[at].root, link: row.effects[at].link };
        self.depth = 0;
        if due.is_expiry() {
            self.expire(target, due.seq());
        } else {
            self.run_period(target, at, due);
        }
        self.react();
        // A reaction may have destroyed the row.
        if let Some(target) = self.st.controllers.slot(who) {
            self.publish(target);
        }
    }

    fn run_period(&mut self, target: usize, at: usize, due: Due) {
        let effect = self.row(target).effects[at].def;
        let catch_up = self.def(effect).is_some_and(|d| d.period_inhibition == PeriodInhibition::CatchUp);
        let row = self.row_mut(target);
        let e = &mut row.effects[at];
        let inhibited = e.inhibited;
        if let Some(p) = e.cold.as_mut().and_then(|c| c.periodic.as_mut()) {
            p.n = p.n.saturating_add(1);
            p.missed += (inhibited && catch_up) as u32;
        }
        if let Some(next) = row.effects[at].due() {
            row.schedule(next);
        }
        if !inhibited {
            self.execute(target, due.seq());
        }
    }
}
