//! Advance: runs due work ordered by time, then phase (periodic executions, expiries, timers, frame work), then
//! controller, then sequence number. The result does not depend on how the caller divides the time into steps.

use super::{Flow, FrameTurn, RollSource};
use crate::state::{Due, Effect, Row, TimerKind};
use crate::{Cause, SimTime};
use ugas_doc::PeriodInhibition;

/// How many rows are prefetched.
const PREFETCH: usize = 16;

impl Flow<'_> {
    /// Prefetches the next rows together, so that their cache misses overlap. Changes nothing.
    fn prefetch_due(&self) {
        let mut seen = 0u64;
        let mut rows: [Option<&Row>; PREFETCH] = [None; PREFETCH];
        for (entry, place) in self.ix.agenda.upcoming(PREFETCH).iter().zip(&mut rows) {
            if let Some(slot) = self.st.controllers.slot(entry.who()) {
                let row = self.row(slot);
                seen ^= row.modded as u64 ^ row.due.len() as u64 ^ row.effects.len() as u64;
                *place = Some(row);
            }
        }
        let mut effects: [Option<&Effect>; PREFETCH] = [None; PREFETCH];
        for (row, place) in rows.iter().flatten().zip(&mut effects) {
            seen ^= row.attrs.first().map_or(0, |a| a.base.to_bits());
            *place = row.due.last().and_then(|due| row.effects.get(due.place()));
        }
        for e in effects.iter().flatten() {
            seen ^= e.origin_id ^ e.cold.as_ref().map_or(0, |c| c.root.0);
        }
        std::hint::black_box(seen);
    }

    /// Runs everything due up to `until`. Returns how many items ran, and whether all due items ran.
    pub(crate) fn advance(&mut self, until: SimTime) -> (u64, bool) {
        (self.sc.advanced_from, self.sc.visited) = (self.st.now, 0);
        let mut done = 0;
        let mut prefetched = 0;
        while let Some(entry) = self.ix.agenda.pop(until) {
            let Some(target) = self.st.controllers.slot(entry.who()) else {
                if entry.phase() == Due::FRAME {
                    self.st.now = self.st.now.max(entry.at());
                    self.frame(entry.at());
                }
                continue;
            };
            let row = self.st.controllers.row_mut(target);
            if (row.published, row.phase) != (entry.at(), entry.phase()) {
                continue;
            }
            row.published = SimTime::NEVER;
            if done >= self.limits.due_per_advance {
                self.publish(target);
                return (done, false);
            }
            if prefetched == 0 {
                self.prefetch_due();
                prefetched = PREFETCH;
            }
            prefetched -= 1;
            self.st.now = self.st.now.max(entry.at());
            // Work that became due during a frame runs after the frame.
            let is_late = self.ix.last_frame == self.st.now || entry.phase() > Due::FRAME;
            self.turn = if is_late { FrameTurn::After } else { FrameTurn::Before };
            self.run_due(target);
            done += 1;
        }
        (done, true)
    }

    /// Runs the row's next due work and its reactions.
    pub(crate) fn run_due(&mut self, target: usize) {
        let row = self.row(target);
        let Some(&due) = row.due.last() else { return };
        let who = row.id;
        if due.phase() >= Due::TIMER {
            return self.run_timer(target, due);
        }
        let Some(at) = row.effect_due(due) else {
            self.row_mut(target).due.pop();
            return;
        };
        let (root, link) = (row.effects[at].root(), row.effects[at].link);
        let roll = RollSource::of_effect(who, &row.effects[at]);
        self.set_roll(roll);
        self.cause = Cause { root, link };
        self.depth = 0;
        let is_proxy = self.ix.hidden.is_proxy(who);
        if due.phase() == Due::EXECUTION && !is_proxy && self.execute_fast(target, at, due) {
            self.number_use();
            return self.publish(target);
        }
        self.row_mut(target).due.pop();
        self.journal_due(who);
        if due.phase() == Due::EXPIRY {
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

    /// Runs a timer of the row.
    fn run_timer(&mut self, target: usize, due: Due) {
        let row = self.row_mut(target);
        row.due.pop();
        let (who, seq) = (row.id, due.seq());
        self.journal_due(who);
        self.cause = self.cause_of_timer(target, due);
        let roll = self.roll_of_timer(target, due);
        self.set_roll(roll);
        self.depth = 0;
        if due.phase() == Due::WAITING_INPUTS {
            self.try_waiting_inputs(target);
        } else {
            self.timer_due(target, due.which(), seq);
        }
        self.finish_operation();
        self.react();
        if let Some(target) = self.st.controllers.slot(who) {
            self.publish(target);
        }
    }

    fn timer_due(&mut self, target: usize, which: TimerKind, seq: u64) {
        match which {
            TimerKind::Task => self.task_due(target, seq),
            TimerKind::Charge => self.charge_due(target, seq),
            TimerKind::Cast => self.cast_due(target, seq),
            TimerKind::Gcd => self.gcd_due(target, seq),
            TimerKind::Validation => self.validation_due(target, seq),
            TimerKind::Input => self.input_due(target, seq),
        }
    }

    /// Returns the cause of a timer: the cause of its activation or global cooldown. The timer of a recharge has the
    /// default cause.
    pub(super) fn cause_of_timer(&self, target: usize, due: Due) -> Cause {
        let (play, seq) = (self.row(target).play(), due.seq());
        let of = match due.which() {
            TimerKind::Task => play.task(seq).map(|t| t.of),
            TimerKind::Cast => play.cast.as_ref().map(|c| c.of),
            TimerKind::Validation => Some(seq),
            TimerKind::Gcd => {
                let root = play.gcds.iter().find(|g| g.seq == seq).map(|g| g.root);
                return Cause { root: root.unwrap_or_default(), link: 0 };
            }
            TimerKind::Charge | TimerKind::Input => None,
        };
        let activation = of.and_then(|of| play.activation(of));
        activation.map_or(Cause::default(), |a| Cause { root: a.root, link: a.link })
    }

    /// Returns the source of a timer's draws.
    pub(super) fn roll_of_timer(&self, target: usize, due: Due) -> RollSource {
        let (row, play) = (self.row(target), self.row(target).play());
        let task = match due.which() {
            TimerKind::Task => play.task(due.seq()),
            TimerKind::Cast | TimerKind::Validation | TimerKind::Gcd => None,
            TimerKind::Charge | TimerKind::Input => None,
        };
        let item = task.map_or(due.which() as u64, |t| self.task_item(target, t.of, t.pc));
        RollSource::due(row.id, item)
    }

    /// Identifies a task of an activation among the work that is due on a row.
    pub(crate) fn task_item(&self, target: usize, of: u64, pc: u16) -> u64 {
        let activation = self.row(target).play().activation(of);
        activation.map_or(0, |a| a.origin_id ^ (a.ordinal as u64).rotate_left(40) ^ (pc as u64).rotate_left(24))
    }

    fn run_period(&mut self, target: usize, at: usize, due: Due) {
        let effect = self.row(target).effects[at].def;
        let catch_up = self.def(effect).is_some_and(|d| d.period_inhibition == PeriodInhibition::CatchUp);
        let row = self.row_mut(target);
        let e = &mut row.effects[at];
        let inhibited = e.inhibited();
        if let Some(p) = e.periodic_mut() {
            p.n = p.n.saturating_add(1);
        }
        if inhibited && catch_up {
            e.cold_mut().missed = e.missed().saturating_add(1);
        }
        if let Some(next) = row.effects[at].due() {
            row.schedule(next.with_hint(at));
        }
        // The server's value of a remote actor contains the execution when it arrives.
        let is_proxy = self.ix.hidden.is_proxy(self.row(target).id);
        if !inhibited && !is_proxy {
            self.execute(target, due.seq());
        }
    }
}
