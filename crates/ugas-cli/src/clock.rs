//! Reads the system clock. No other module of this crate reads a clock.
#![allow(clippy::disallowed_methods, reason = "a host reads the clock and passes the time to the sim")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Returns the time since the Unix epoch, for the expiry of tokens.
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A stopwatch that also measures laps.
pub(crate) struct Watch {
    start: Instant,
    lap: Instant,
}

impl Watch {
    pub(crate) fn start() -> Watch {
        let start = Instant::now();
        Watch { start, lap: start }
    }

    /// Returns the time since the start.
    pub(crate) fn total(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns the time since the previous lap and starts the next lap.
    pub(crate) fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.lap, now))
    }
}
