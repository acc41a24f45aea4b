//! The one place where the command line looks at a clock: playing over a network is about real time.
#![allow(clippy::disallowed_methods, reason = "a host passes real time in; nothing below this layer reads a clock")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The time now, since the Unix epoch; what tokens are dated with.
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// How long something takes, in laps.
pub(crate) struct Watch {
    start: Instant,
    lap: Instant,
}

impl Watch {
    pub(crate) fn start() -> Watch {
        let start = Instant::now();
        Watch { start, lap: start }
    }

    /// Since the start.
    pub(crate) fn total(&self) -> Duration {
        self.start.elapsed()
    }

    /// Since the last lap.
    pub(crate) fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.lap, now))
    }
}
