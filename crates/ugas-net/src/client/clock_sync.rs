//! The client's clock: it runs ahead of the server just far enough for commands to arrive in time.
//!
//! Each packet of the server contains the slack of one packet of the client: the number of ticks by which that packet
//! was early. A report is a round trip old. The clock therefore records its phase, which is its tick minus the local
//! time, for each packet that it sends. A slack minus the phase of its packet does not depend on how the clock changed
//! since the packet was sent, so the clock never corrects one error twice. It smooths this difference and runs faster
//! or slower in proportion to the error. A clock that is far too late jumps, and a clock that is far too early waits.
//!
//! A process that was suspended for a while is recognised without a report: the server's tick has advanced much further
//! than the client's clock.

use crate::types::Tick;
use std::collections::VecDeque;
use ugas_core::SimTime;

/// The error in ticks below which the speed does not change. A slack is a whole number of ticks, so a smaller error
/// cannot be removed.
const TOLERANCE: f64 = 0.5;
/// The change of speed per tick of error beyond the tolerance.
const GAIN: f64 = 1.0 / 6.0;
/// The highest speed of a clock that is late. A later clock jumps.
const MAX_FASTER: f64 = 0.25;
/// The largest reduction of the speed of an early clock. Beyond [`WAIT`] the clock waits instead.
const MAX_SLOWER: f64 = 0.5;
/// The error in ticks above which a late clock jumps.
const JUMP: f64 = 6.0;
/// The error in ticks above which an early clock waits until the error is below [`WAITED`].
const WAIT: f64 = 8.0;
/// See [`WAIT`].
const WAITED: f64 = 0.5;
/// The weight of one report in the smoothed slack.
const WEIGHT: f64 = 1.0 / 8.0;
/// The weight of one measurement in the smoothed deviation and in the smoothed time of the server.
const SLOW_WEIGHT: f64 = 1.0 / 32.0;
/// The weight of one measurement in the intended slack, which must change more slowly than the clock.
const SLOWEST_WEIGHT: f64 = 1.0 / 64.0;
/// Measurements that differ from the smoothed value by more than this time, and by more than [`FAR_TICKS`], are not
/// smoothed. Two such reports in a row, or one such measurement of the server's tick, replace the smoothed value.
const FAR: SimTime = SimTime::millis(120);
/// See [`FAR`].
const FAR_TICKS: f64 = 6.0;
/// The number of reports after which the deviation is measured. With fewer reports, the smoothed slack itself is
/// inaccurate.
const MIN_REPORTS: f64 = 8.0;
/// The largest addition to the intended slack because of jitter, in ticks.
const MAX_JITTER_SLACK: f64 = 8.0;
/// The number of sent packets whose phase is kept.
const MAX_SENT: usize = 512;

/// A smoothed value that ignores a single outlier.
#[derive(Clone, Copy, Debug, Default)]
struct Smoothed {
    value: Option<f64>,
    /// The last measurement, if it was an outlier.
    far: Option<f64>,
    /// How many measurements the value contains. The first ones have a higher weight.
    count: f64,
}

impl Smoothed {
    /// Adds a measurement. Returns its difference to the smoothed value and whether it replaced that value.
    fn add(&mut self, sample: f64, weight: f64, far: f64) -> (f64, bool) {
        let Some(value) = self.value else {
            self.set(sample);
            return (0.0, false);
        };
        let difference = sample - value;
        if difference.abs() <= far {
            self.far = None;
            self.count += 1.0;
            self.value = Some(value + difference * weight.max(1.0 / self.count));
            return (difference, false);
        }
        match self.far.replace(sample).filter(|last| (*last > value) == (sample > value)) {
            Some(last) => {
                self.set((last + sample) / 2.0);
                (difference, true)
            }
            None => (difference, false),
        }
    }

    /// Replaces the value.
    fn set(&mut self, value: f64) {
        *self = Smoothed { value: Some(value), far: None, count: 1.0 };
    }
}

/// The speed of the client's clock.
#[derive(Clone, Debug)]
pub(crate) struct ClockSync {
    length: SimTime,
    /// Elapsed time that is not yet a whole tick, in ticks.
    fraction: f64,
    /// The local time in ticks.
    local: f64,
    /// The smoothed difference between the slack of a packet and the phase at which it was sent.
    offset: Smoothed,
    /// The smoothed deviation of the slack, in ticks.
    deviation: Smoothed,
    /// The smoothed difference between the local time and the newest received tick, measured when time advances.
    server: Smoothed,
    /// The smoothed difference between `offset` and `server`, which a suspended process does not change.
    path: Option<f64>,
    /// The phases of sent packets, by rising packet number.
    sent: VecDeque<(u64, f64)>,
    /// Whether `offset` was estimated from `server`, because no report has arrived since a suspension.
    is_estimated: bool,
    /// Reports about packets before this number are ignored.
    next_report: u64,
    /// The slack that packets should have on a link without jitter.
    wanted: f64,
    /// Ticks by which the session moved the clock since time last advanced.
    jumped: u32,
    /// The newest tick of the packets that arrived since time last advanced.
    arrived: Option<Tick>,
    /// Whether the clock waits because it is early.
    is_waiting: bool,
    /// The last speed.
    speed: f64,
}

impl ClockSync {
    pub(crate) fn new(length: SimTime) -> ClockSync {
        ClockSync {
            length,
            fraction: 0.0,
            local: 0.0,
            offset: Smoothed::default(),
            deviation: Smoothed { value: Some(1.0), far: None, count: 1.0 },
            server: Smoothed::default(),
            path: None,
            is_estimated: false,
            sent: VecDeque::new(),
            next_report: 0,
            wanted: 3.0,
            jumped: 0,
            arrived: None,
            is_waiting: false,
            speed: 1.0,
        }
    }

    fn far(&self) -> f64 {
        (FAR.0 as f64 / self.length.0.max(1) as f64).max(FAR_TICKS)
    }

    /// Returns the tick of the clock minus the local time, in ticks.
    fn phase(&self, tick: Tick) -> f64 {
        f64::from(tick.0) + self.fraction - self.local
    }

    /// Returns how early packets should be, in ticks.
    pub(crate) fn wanted_slack(&self) -> f64 {
        self.wanted + (2.0 * self.deviation.value.unwrap_or(0.0)).min(MAX_JITTER_SLACK)
    }

    /// Returns by how many ticks a single measurement is usually wrong because of jitter, at most half a jump.
    fn jitter_margin(&self) -> f64 {
        self.deviation.value.unwrap_or(0.0).min(JUMP / 2.0)
    }

    /// Records the phase at which a packet was sent.
    pub(crate) fn record_sent(&mut self, number: u64, tick: Tick) {
        if self.sent.len() >= MAX_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back((number, self.phase(tick)));
    }

    /// Adds a report: the slack of a sent packet. `wanted` is the slack that packets should have on a link without
    /// jitter.
    pub(crate) fn report(&mut self, number: u64, slack: i64, wanted: f64) {
        self.wanted += (wanted - self.wanted) * SLOWEST_WEIGHT;
        if number < self.next_report {
            return;
        }
        let Ok(at) = self.sent.binary_search_by_key(&number, |(sent, _)| *sent) else { return };
        self.next_report = number.saturating_add(1);
        self.is_estimated = false;
        let phase = self.sent[at].1;
        self.sent.drain(..=at);
        // A correct server reports only values within this range.
        let sample = slack.clamp(-128, 128) as f64 - phase;
        let far = self.far();
        let (difference, is_replaced) = self.offset.add(sample, WEIGHT, far);
        if !is_replaced && difference.abs() <= far && self.offset.count > MIN_REPORTS {
            self.deviation.add(difference.abs(), SLOW_WEIGHT, f64::INFINITY);
        }
        if let (Some(offset), Some(server)) = (self.offset.value, self.server.value)
            && self.offset.far.is_none()
        {
            let path = self.path.get_or_insert(offset - server);
            *path += (offset - server - *path) * SLOW_WEIGHT;
        }
    }

    /// Records that the session moved the clock forward, because the server's tick was later.
    pub(crate) fn record_jump(&mut self, ticks: u32) {
        self.jumped = self.jumped.saturating_add(ticks);
    }

    /// Records that a packet of this tick of the server arrived.
    pub(crate) fn record_arrival(&mut self, tick: Tick) {
        self.arrived = self.arrived.max(Some(tick));
    }

    /// Advances the local time from a tick and returns how many ticks are due.
    pub(crate) fn advance(&mut self, elapsed: SimTime, tick: Tick) -> u32 {
        let elapsed = elapsed.0.max(0) as f64 / self.length.0.max(1) as f64;
        // If the elapsed time contains the time over which the clock was moved, that time must not count twice.
        let jumped = std::mem::take(&mut self.jumped);
        let before = f64::from(tick.0) - f64::from(jumped);
        if let Some(arrived) = self.arrived.take() {
            self.measure_server(self.local + elapsed - f64::from(arrived.0));
        }
        let error = self.error(before + self.fraction - self.local);
        self.is_waiting = error > if self.is_waiting { WAITED } else { WAIT };
        let beyond = error - error.clamp(-TOLERANCE, TOLERANCE);
        self.speed = if self.is_waiting { 0.0 } else { 1.0 - (beyond * GAIN).clamp(-MAX_FASTER, MAX_SLOWER) };
        self.local += elapsed;
        self.fraction += elapsed * self.speed;
        if error < -JUMP {
            // The error may be a single measurement. A jump over all of it could make the clock early.
            self.fraction += -error - self.jitter_margin();
        }
        let ticks = self.fraction.floor().clamp(0.0, 600.0);
        self.fraction -= ticks;
        (ticks as u32).saturating_sub(jumped)
    }

    /// Adds a measurement of the local time relative to the server. If it changed suddenly, this process or the server
    /// was suspended: the slack of the next packets changes by the same amount, and reports about earlier packets are
    /// out of date.
    fn measure_server(&mut self, sample: f64) {
        let far = self.far();
        // A packet that a later one overtook is not measured, so one measurement is enough: nothing newer has arrived.
        if self.server.value.is_some_and(|value| (sample - value).abs() > far) {
            self.server.set(sample);
            self.is_estimated = true;
            self.next_report = self.sent.back().map_or(self.next_report, |(number, _)| number.saturating_add(1));
        } else {
            self.server.add(sample, SLOW_WEIGHT, far);
        }
        if let (Some(server), Some(path), true) = (self.server.value, self.path, self.is_estimated) {
            self.offset = Smoothed { value: Some(server + path), far: None, count: self.server.count };
        }
    }

    /// Returns the ticks by which the clock is too early (positive) or too late at a phase.
    fn error(&self, phase: f64) -> f64 {
        self.offset.value.map_or(0.0, |offset| offset + phase - self.wanted_slack())
    }

    /// Returns by how many percent the clock runs faster (positive) or slower.
    pub(crate) fn adjustment(&self) -> f64 {
        (self.speed - 1.0) * 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: SimTime = SimTime::millis(20);

    /// A clock and a server whose reports arrive after a delay.
    struct Loop {
        clock: ClockSync,
        tick: Tick,
        /// The server's time in ticks.
        server: u32,
        reports: VecDeque<(u64, i64)>,
        number: u64,
    }

    impl Loop {
        fn new(delay: usize) -> Loop {
            let reports = (0..delay).map(|_| (u64::MAX, 0)).collect();
            Loop { clock: ClockSync::new(TICK), tick: Tick(103), server: 100, reports, number: 0 }
        }

        /// Runs one tick and returns the slack of the packet sent in it.
        fn step(&mut self) -> i64 {
            self.server += 1;
            self.reports.push_back((self.number, i64::from(self.tick.0) - i64::from(self.server)));
            self.clock.record_sent(self.number, self.tick);
            self.number += 1;
            if let Some((number, slack)) = self.reports.pop_front().filter(|(number, _)| *number != u64::MAX) {
                self.clock.report(number, slack, 2.0);
            }
            self.clock.record_arrival(Tick(self.server));
            self.tick = self.tick.plus(self.clock.advance(TICK, self.tick));
            i64::from(self.tick.0) - 1 - i64::from(self.server)
        }
    }

    #[test]
    fn a_late_or_early_clock_settles_without_overshoot_whatever_the_delay_of_reports() {
        for delay in [0, 6, 20] {
            for error in [-20, -5, -2, 3, 7, 20] {
                let mut run = Loop::new(delay);
                (0..200).for_each(|_| {
                    run.step();
                });
                let usual = run.step();
                assert!((1..=3).contains(&usual), "{usual} with reports {delay} ticks old");
                run.tick = Tick((run.tick.0 as i32 + error) as u32);
                let slacks: Vec<i64> = (0..60).map(|_| run.step()).collect();
                let settled = slacks.iter().rposition(|slack| (slack - usual).abs() > 1).map_or(0, |at| at + 1);
                assert!(settled <= delay + 36, "error {error}, delay {delay}: {slacks:?}");
                let overshoot = slacks.iter().map(|slack| (usual - slack) * i64::from(error.signum())).max();
                assert!(overshoot <= Some(1), "error {error}, delay {delay}: {slacks:?}");
            }
        }
    }

    #[test]
    fn time_over_which_the_session_moved_the_clock_does_not_count_twice() {
        let mut run = Loop::new(6);
        (0..100).for_each(|_| {
            run.step();
        });
        let usual = run.step();
        // A frame of 20 ticks: the packets that arrive first move the clock by 11 ticks.
        run.server += 20;
        run.tick = run.tick.plus(11);
        run.clock.record_jump(11);
        run.clock.record_arrival(Tick(run.server));
        run.tick = run.tick.plus(run.clock.advance(SimTime(TICK.0 * 20), run.tick));
        for _ in 0..30 {
            let slack = run.step();
            assert!((slack - usual).abs() <= 1, "{slack} instead of {usual}");
        }
    }

    #[test]
    fn lost_time_is_corrected_before_the_first_report() {
        let mut run = Loop::new(20);
        (0..100).for_each(|_| {
            run.step();
        });
        let usual = run.step();
        // The process did not run for 20 ticks, and its next frame is one tick long.
        run.server += 20;
        run.step();
        run.step();
        for _ in 0..60 {
            let slack = run.step();
            assert!((slack - usual).abs() <= 2, "{slack} instead of {usual}");
        }
    }

    #[test]
    fn one_delayed_packet_changes_nothing() {
        let mut run = Loop::new(2);
        (0..100).for_each(|_| {
            run.step();
        });
        let usual = run.step();
        if let Some(report) = run.reports.back_mut() {
            report.1 -= 40;
        }
        for _ in 0..30 {
            let slack = run.step();
            assert!((slack - usual).abs() <= 1, "{slack} instead of {usual}");
        }
    }
}
