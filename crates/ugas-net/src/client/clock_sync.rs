//! The client's clock: it runs ahead of the server just far enough for commands to arrive in time.
//!
//! Each packet of the server says by how many ticks the client's newest packet was early. The client then runs its clock a
//! few percent faster or slower until that matches the target. Only when it is far off, it jumps or waits.

use ugas_core::SimTime;

/// Change of speed per tick of error.
const GAIN: f64 = 0.01;
/// The most the speed changes.
const MOST: f64 = 0.05;
/// Beyond this many ticks of error the clock jumps or waits.
const FAR: i64 = 12;

/// The speed of the client's clock.
#[derive(Clone, Debug)]
pub(crate) struct ClockSync {
    length: SimTime,
    /// Elapsed time that is not yet a whole tick.
    rest: f64,
    /// By how many ticks too early (positive) or too late the client is.
    error: i64,
}

impl ClockSync {
    pub(crate) fn new(length: SimTime) -> ClockSync {
        ClockSync { length, rest: 0.0, error: 0 }
    }

    /// Takes how early the last packet was, and how early packets should be.
    pub(crate) fn update(&mut self, slack: i64, wanted: i64) {
        // A valid server reports no more than this.
        self.error = slack.clamp(-128, 128) - wanted;
    }

    /// Advances the local time and returns how many ticks are due.
    pub(crate) fn pass(&mut self, elapsed: SimTime) -> u32 {
        let length = self.length.0.max(1) as f64;
        let speed = match self.error {
            e if e > FAR => 0.0,
            e => 1.0 - (e as f64 * GAIN).clamp(-MOST, MOST),
        };
        self.rest += elapsed.0 as f64 * speed / length;
        if self.error < -FAR {
            self.rest += -self.error as f64;
            self.error = 0;
        }
        let ticks = self.rest.floor().clamp(0.0, 600.0);
        self.rest -= ticks;
        ticks as u32
    }

    /// By how many percent the clock runs faster (positive) or slower.
    pub(crate) fn adjustment(&self) -> f64 {
        -(self.error as f64 * GAIN).clamp(-MOST, MOST) * 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_is_late_hurries_and_one_that_is_early_waits() {
        let tick = SimTime::millis(20);
        let count = |slack| {
            let mut pace = ClockSync::new(tick);
            (0..100)
                .map(|_| {
                    pace.update(slack, 2);
                    pace.pass(tick)
                })
                .sum::<u32>()
        };
        assert_eq!(count(2), 100);
        assert!((101..=105).contains(&count(-1)), "{}", count(-1));
        assert!((95..=99).contains(&count(5)), "{}", count(5));
        assert_eq!(count(30), 0);
        let mut pace = ClockSync::new(tick);
        pace.update(-20, 2);
        assert_eq!(pace.pass(tick), 23);
        assert_eq!(pace.pass(tick), 1);
    }
}
