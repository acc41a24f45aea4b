//! Clocks, and everything that falls due, in the order of ruling R-02: found anew before each step.

use super::task::FRAME;
use super::world::{NONE, Refused, Row, World};

/// What falls due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Effect,
    Task,
    Validation,
    Gcd,
    Cast,
    Charge,
    Frame,
}

impl World {
    pub(crate) fn set_rate(&mut self, who: u32, rate: u32) -> Result<(), Refused> {
        self.exists(who)?;
        if rate > 1000 << 16 {
            return Err("BadValue");
        }
        let (now, row) = (self.now, self.row(who));
        row.set_clock(now, rate, row.active);
        Ok(())
    }

    pub(crate) fn set_active(&mut self, who: u32, active: bool) -> Result<(), Refused> {
        self.exists(who)?;
        let (now, row) = (self.now, self.row(who));
        let was = row.active;
        row.set_clock(now, row.rate, active);
        if active && !was {
            self.notify(who, super::notice::Notice::Resumed);
            self.react();
        }
        Ok(())
    }

    /// The next due work of a controller: (sim time, phase, controller, key, timer); execution is phase 0, expiry 1,
    /// timers 2.
    fn next_due(&self, who: u32) -> Option<(i64, u8, u32, u64, Timer)> {
        let row = &self.rows[&who];
        let mut all = Vec::new();
        for e in &row.effects {
            all.extend(e.periodic.map(|p| (p.next(), 0, e.seq, e.key, Timer::Effect)));
            all.extend(e.end.map(|end| (end, 1, e.seq, e.key, Timer::Effect)));
        }
        let mut timer = |at: Option<i64>, seq: u64, what: Timer| all.extend(at.map(|at| (at, 2, seq, seq, what)));
        row.play.tasks.iter().for_each(|t| timer(t.due, t.seq, Timer::Task));
        row.play.acts.iter().for_each(|a| timer(a.deadline, a.seq, Timer::Validation));
        row.play.gcds.values().for_each(|g| timer(Some(g.end), g.seq, Timer::Gcd));
        row.play.cast.iter().filter(|c| c.length > 0).for_each(|c| timer(Some(c.next_at()), c.seq, Timer::Cast));
        for (_, end, seq) in row.grants.iter().filter_map(|g| g.charge.as_ref()?.run) {
            timer(Some(end), seq, Timer::Charge);
        }
        let (local, phase, _, key, timer) = all.into_iter().min()?;
        Some((row.due(local)?, phase, who, key, timer))
    }

    /// The next frame at which a controller has work.
    fn plan_frame(&mut self) {
        let work = self.rows.values().any(Row::retries) || self.has_capabilities();
        let planned = self.next_frame.filter(|&at| at >= self.now);
        self.next_frame = work.then(|| planned.unwrap_or((self.now / FRAME + 1) * FRAME));
    }

    pub(crate) fn advance(&mut self, to: i64) {
        self.plan_frame();
        loop {
            let due = self.rows.keys().filter_map(|&w| self.next_due(w)).min();
            let frame = self.next_frame.map(|at| (at, 3, NONE, 0, Timer::Frame));
            let Some((at, phase, who, key, timer)) = due.into_iter().chain(frame).min().filter(|d| d.0 <= to) else {
                break;
            };
            self.now = self.now.max(at);
            match timer {
                Timer::Effect if phase == 0 => self.due_execution(who, key),
                Timer::Effect => self.due_expiry(who, key),
                Timer::Task => self.task_due(who, key),
                Timer::Validation => self.validation_due(who, key),
                Timer::Gcd => self.gcd_due(who, key),
                Timer::Cast => self.cast_due(who, key),
                Timer::Charge => self.charge_due(who, key),
                Timer::Frame => {
                    self.next_frame = None;
                    self.frame();
                }
            }
            self.react();
            self.plan_frame();
            if self.storm {
                return;
            }
        }
        self.now = self.now.max(to);
    }
}
