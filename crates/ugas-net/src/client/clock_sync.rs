//! The client's clock: it runs ahead of the server just far enough for commands to arrive in time.
//!
//! Each packet of the server contains the number of ticks by which the client's newest packet was early. The client
//! then runs its clock a few percent faster or slower until its packets are as early as intended. If the error is too
//! large for a change of speed, the clock jumps or waits instead.

use ugas_core::SimTime;

/// The change of speed per tick of error.
const GAIN: f64 = 0.01;
/// The largest change of speed.
const MAX_SPEED_CHANGE: f64 = 0.05;
/// The largest error in ticks that a change of speed corrects; with a larger error the clock jumps or waits.
const MAX_ADJUSTED_ERROR: i64 = 12;

/// The speed of the client's clock.
#[derive(Clone, Debug)]
pub(crate) struct ClockSync {
    length: SimTime,
    /// Elapsed time that is not yet a whole tick.
    fraction: f64,
    /// The ticks by which the client is too early (positive) or too late.
    error: i64,
}

impl ClockSync {
    pub(crate) fn new(length: SimTime) -> ClockSync {
        ClockSync { length, fraction: 0.0, error: 0 }
    }

    /// Sets the error from how early the last packet was and how early packets should be.
    pub(crate) fn update(&mut self, slack: i64, wanted: i64) {
        // A correct server reports only values within this range.
        self.error = slack.clamp(-128, 128) - wanted;
    }

    /// Advances the local time and returns how many ticks are due.
    pub(crate) fn advance(&mut self, elapsed: SimTime) -> u32 {
        let length = self.length.0.max(1) as f64;
        let speed = match self.error {
            e if e > MAX_ADJUSTED_ERROR => 0.0,
            e => 1.0 - (e as f64 * GAIN).clamp(-MAX_SPEED_CHANGE, MAX_SPEED_CHANGE),
        };
        self.fraction += elapsed.0 as f64 * speed / length;
        if self.error < -MAX_ADJUSTED_ERROR {
            self.fraction += -self.error as f64;
            self.error = 0;
        }
        let ticks = self.fraction.floor().clamp(0.0, 600.0);
        self.fraction -= ticks;
        ticks as u32
    }

    /// Returns by how many percent the clock runs faster (positive) or slower.
    pub(crate) fn adjustment(&self) -> f64 {
        -(self.error as f64 * GAIN).clamp(-MAX_SPEED_CHANGE, MAX_SPEED_CHANGE) * 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_client_runs_faster_and_an_early_one_slower() {
        let tick = SimTime::millis(20);
        let count = |slack| {
            let mut clock = ClockSync::new(tick);
            (0..100)
                .map(|_| {
                    clock.update(slack, 2);
                    clock.advance(tick)
                })
                .sum::<u32>()
        };
        assert_eq!(count(2), 100);
        assert!((101..=105).contains(&count(-1)), "{}", count(-1));
        assert!((95..=99).contains(&count(5)), "{}", count(5));
        assert_eq!(count(30), 0);
        let mut clock = ClockSync::new(tick);
        clock.update(-20, 2);
        assert_eq!(clock.advance(tick), 23);
        assert_eq!(clock.advance(tick), 1);
    }
}
