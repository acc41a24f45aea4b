//! Time: integer flicks, frames, and the clock of one controller.
//!
//! A flick is 1/705,600,000 s. Milliseconds and frames at 24, 25, 30, 48, 50, 60, 90, 100, 120 and 144 Hz are whole
//! numbers of flicks, so n frame lengths add up exactly to the time of frame n.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// The number of flicks in one second.
pub const FLICKS_PER_SECOND: i64 = 705_600_000;

/// A point in time or a duration in flicks.
///
/// ```
/// use ugas_core::SimTime;
/// assert_eq!(SimTime::seconds(1.0), SimTime::frames(60, 60));
/// assert_eq!(SimTime::millis(1500).as_seconds(), 1.5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(transparent)]
pub struct SimTime(pub i64);

impl SimTime {
    /// The time at which a sim starts; also the duration zero.
    pub const ZERO: SimTime = SimTime(0);
    /// A time that is never reached.
    pub const NEVER: SimTime = SimTime(i64::MAX);
    /// The longest accepted time: about 51 years. The sum of two such times does not overflow.
    pub const LONGEST: SimTime = SimTime(i64::MAX / 8);

    /// Converts seconds to a time, rounded to the nearest flick. Values out of range saturate, and NaN becomes zero.
    /// Use [`SimTime::try_seconds`] for untrusted data.
    pub fn seconds(seconds: f64) -> SimTime {
        SimTime((seconds * FLICKS_PER_SECOND as f64).round_ties_even() as i64)
    }

    /// Converts seconds to a time. Returns `None` if the number is not finite or the time is longer than
    /// [`SimTime::LONGEST`].
    ///
    /// ```
    /// use ugas_core::SimTime;
    /// assert_eq!(SimTime::try_seconds(f64::NAN), None);
    /// assert_eq!(SimTime::try_seconds(1e300), None);
    /// ```
    pub fn try_seconds(seconds: f64) -> Option<SimTime> {
        let t = SimTime::seconds(seconds);
        (seconds.is_finite() && t.0.unsigned_abs() <= SimTime::LONGEST.0 as u64).then_some(t)
    }

    /// Converts whole milliseconds to a time.
    pub const fn millis(ms: i64) -> SimTime {
        SimTime(ms * (FLICKS_PER_SECOND / 1000))
    }

    /// Returns the duration of `n` frames at `hz` frames per second.
    pub const fn frames(n: i64, hz: i64) -> SimTime {
        SimTime(n * FLICKS_PER_SECOND / hz)
    }

    /// Returns the time in seconds.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / FLICKS_PER_SECOND as f64
    }
}

impl From<f64> for SimTime {
    /// Converts seconds to a time; see [`SimTime::seconds`].
    fn from(seconds: f64) -> SimTime {
        SimTime::seconds(seconds)
    }
}
impl Add for SimTime {
    type Output = SimTime;
    fn add(self, other: SimTime) -> SimTime {
        SimTime(self.0.saturating_add(other.0))
    }
}
impl AddAssign for SimTime {
    fn add_assign(&mut self, other: SimTime) {
        *self = *self + other;
    }
}
impl Sub for SimTime {
    type Output = SimTime;
    fn sub(self, other: SimTime) -> SimTime {
        SimTime(self.0.saturating_sub(other.0))
    }
}
impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_seconds())
    }
}

/// The rate of a controller's clock, in 16.16 fixed point.
///
/// ```
/// use ugas_core::Rate;
/// assert_eq!(Rate::new(0.5), Some(Rate(1 << 15)));
/// assert_eq!(Rate::new(-1.0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(transparent)]
pub struct Rate(pub u32);

impl Rate {
    /// The normal rate, 1.
    pub const ONE: Rate = Rate(1 << 16);
    /// The rate of a stopped clock, 0.
    pub const ZERO: Rate = Rate(0);

    /// Creates a rate from a factor. Returns `None` if the factor is not between 0 and 1000.
    pub fn new(rate: f64) -> Option<Rate> {
        ((0.0..=1000.0).contains(&rate)).then(|| Rate((rate * 65536.0).round_ties_even() as u32))
    }

    /// Returns the rate as a factor.
    pub fn factor(self) -> f64 {
        self.0 as f64 / 65536.0
    }
}

/// The clock of a controller: a rate, and one point in sim time with its local time (the clock's anchor). Only a change
/// of rate moves the anchor, so rounding errors do not accumulate. Most clocks keep their initial state: start 0, rate
/// 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Clock {
    anchor: SimTime,
    pace: Option<Box<ClockAnchor>>,
}

/// The anchor and rate of a clock that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ClockAnchor {
    anchor_local: SimTime,
    rate: Rate,
    active: bool,
}

impl ClockAnchor {
    const PLAIN: ClockAnchor = ClockAnchor { anchor_local: SimTime::ZERO, rate: Rate::ONE, active: true };

    fn running(&self) -> Rate {
        if self.active { self.rate } else { Rate::ZERO }
    }
}

impl Clock {
    pub(crate) fn starting(now: SimTime) -> Clock {
        Clock { anchor: now, pace: None }
    }

    fn pace(&self) -> ClockAnchor {
        self.pace.as_deref().copied().unwrap_or(ClockAnchor::PLAIN)
    }

    #[inline]
    pub(crate) fn local(&self, now: SimTime) -> SimTime {
        let passed = now.0 - self.anchor.0;
        let Some(pace) = &self.pace else { return SimTime(passed) };
        match pace.running() {
            Rate::ONE => SimTime(pace.anchor_local.0 + passed),
            Rate::ZERO => pace.anchor_local,
            rate => {
                // A fast clock over a very long time saturates instead of wrapping.
                let local = pace.anchor_local.0 as i128 + ((passed as i128 * rate.0 as i128) >> 16);
                SimTime(local.min(SimTime::LONGEST.0 as i128) as i64)
            }
        }
    }

    /// Returns the first sim time at which the local clock shows `local`.
    #[inline]
    pub(crate) fn due(&self, local: SimTime) -> SimTime {
        let Some(pace) = &self.pace else { return SimTime(self.anchor.0.saturating_add(local.0)) };
        let elapsed = local.0.saturating_sub(pace.anchor_local.0);
        match pace.running() {
            Rate::ONE => SimTime(self.anchor.0.saturating_add(elapsed)),
            Rate::ZERO => SimTime::NEVER,
            _ if local == SimTime::NEVER => SimTime::NEVER,
            rate => {
                let scaled = ((elapsed as i128) << 16) + rate.0 as i128 - 1;
                SimTime(self.anchor.0.saturating_add(scaled.div_euclid(rate.0 as i128).min(i64::MAX as i128) as i64))
            }
        }
    }

    /// Returns the first local time that is due at or after a sim time. On a slow clock several sim times share one
    /// local time, so the local time of `time` itself may be due too early.
    pub(crate) fn until(&self, time: SimTime) -> SimTime {
        let local = self.local(time);
        if self.due(local) < time { SimTime(local.0 + 1) } else { local }
    }

    pub(crate) fn rate(&self) -> Rate {
        self.pace().rate
    }
    pub(crate) fn active(&self) -> bool {
        self.pace().active
    }
    /// Returns the duration until a local time, or [`SimTime::NEVER`] if that time is `NEVER`.
    #[inline]
    pub(crate) fn left(&self, now: SimTime, end: SimTime) -> SimTime {
        if end == SimTime::NEVER { end } else { SimTime((end.0 - self.local(now).0).max(0)) }
    }

    pub(crate) fn set(&mut self, now: SimTime, rate: Rate, active: bool) {
        if (rate, active) != (self.rate(), self.active()) {
            self.pace = Some(Box::new(ClockAnchor { anchor_local: self.local(now), rate, active }));
            self.anchor = now;
        }
    }

    /// Shifts the clock to a sim whose time differs by `by`.
    pub(crate) fn shift(&mut self, by: i64) {
        self.anchor = SimTime(self.anchor.0.saturating_add(by));
    }

    /// Returns whether a clock from untrusted data is in the range in which time sums do not overflow.
    pub(crate) fn is_valid(&self) -> bool {
        let fits = |t: SimTime| t.0.unsigned_abs() <= SimTime::LONGEST.0 as u64;
        fits(self.anchor) && fits(self.pace().anchor_local) && self.rate().0 <= 1000 << 16
    }

    pub(crate) fn words(&self) -> [u64; 3] {
        let ClockAnchor { anchor_local, rate, active } = self.pace();
        [self.anchor.0 as u64, anchor_local.0 as u64, (rate.0 as u64) << 1 | active as u64]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_whole_flicks() {
        for hz in [24, 25, 30, 48, 50, 60, 90, 100, 120, 144] {
            assert_eq!(FLICKS_PER_SECOND % hz, 0, "{hz}");
        }
    }

    #[test]
    fn due_is_the_first_sim_time_of_a_local_time() {
        for rate in [1u32, 77, 1 << 15, 65535, 65537, 3 << 16, 1000 << 16] {
            let mut clock = Clock::starting(SimTime(1_000));
            clock.set(SimTime(5_000), Rate(rate), true);
            for local in [4_000, 4_001, 4_002, 5_555, 1_000_000] {
                let due = clock.due(SimTime(local));
                assert!(clock.local(due).0 >= local, "rate {rate} local {local}");
                assert!(clock.local(SimTime(due.0 - 1)).0 < local || due.0 == 5_000, "rate {rate} local {local}");
            }
        }
    }
}
