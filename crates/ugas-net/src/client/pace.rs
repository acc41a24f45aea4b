//! The client's clock: it runs ahead of the server, just so far that its commands come in time.
//!
//! The server says with each packet by how many ticks the client's newest one came early. The client then lets its time
//! pass a few percent faster or slower until that is what it wants; only when it is far off it jumps or waits.

use ugas_core::SimTime;

/// Ticks of error for each percent of speed.
const GAIN: f64 = 0.01;
/// The most the clock is bent.
const MOST: f64 = 0.05;
/// Beyond this many ticks of error the clock jumps or waits.
const FAR: i64 = 12;

/// How fast the client's time passes.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    length: SimTime,
    /// Time that has passed and is not yet a tick.
    rest: f64,
    /// By how many ticks too early (positive) or too late the client is.
    error: i64,
}

impl Pace {
    pub(crate) fn new(length: SimTime) -> Pace {
        Pace { length, rest: 0.0, error: 0 }
    }

    /// What the server said, and how much earlier than needed a packet should come.
    pub(crate) fn hear(&mut self, slack: i64, wanted: i64) {
        // No sound server says more than this; more than that is no news anyway.
        self.error = slack.clamp(-128, 128) - wanted;
    }

    /// Time went on: how many ticks have passed.
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

    /// Percent by which time passes faster (positive) or slower.
    pub(crate) fn bent(&self) -> f64 {
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
            let mut pace = Pace::new(tick);
            (0..100)
                .map(|_| {
                    pace.hear(slack, 2);
                    pace.pass(tick)
                })
                .sum::<u32>()
        };
        assert_eq!(count(2), 100);
        assert!((101..=105).contains(&count(-1)), "{}", count(-1));
        assert!((95..=99).contains(&count(5)), "{}", count(5));
        assert_eq!(count(30), 0);
        let mut pace = Pace::new(tick);
        pace.hear(-20, 2);
        assert_eq!(pace.pass(tick), 23);
        assert_eq!(pace.pass(tick), 1);
    }
}
