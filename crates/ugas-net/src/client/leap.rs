//! How far the server's word may move a client's clock. A client that was cut off goes at once to where the server is; but
//! a server that lies about the time must not make it play years. So the clock leaps no further than local time went by
//! since the server was last heard, and a little more: beyond that the client leaves.

use super::Client;
use crate::types::Tick;
use thiserror::Error;
use ugas_core::SimTime;

/// What a server may be ahead of local time.
const SPARE: SimTime = SimTime::millis(10_000);
/// The longest leap, however long the server was silent.
const LONGEST: SimTime = SimTime::millis(60_000);

/// Why a client will not have a server any more.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Loss {
    /// Its clock leapt further than time went by here.
    #[error(
        "the server's clock went from tick {} to {}, and no more than {most} ticks can have passed; connect anew", .from.0, .to.0
    )]
    Leap {
        /// The last tick that was played.
        from: Tick,
        /// The tick the server speaks of.
        to: Tick,
        /// How many ticks it might be.
        most: u32,
    },
}

/// How much time may be leapt over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leap {
    left: SimTime,
    /// Local time since the server was heard.
    silence: SimTime,
}

impl Default for Leap {
    fn default() -> Leap {
        Leap { left: SPARE, silence: SimTime::ZERO }
    }
}

impl Leap {
    /// Local time went on.
    pub(super) fn pass(&mut self, elapsed: SimTime) {
        let add = |a: SimTime| SimTime(a.0.saturating_add(elapsed.0.max(0)).min(LONGEST.0));
        self.silence = add(self.silence);
        self.left = add(self.left).min(SPARE + self.silence);
    }

    /// The server was heard.
    pub(super) fn hear(&mut self) {
        self.silence = SimTime::ZERO;
    }

    /// Whether so much may be leapt over. It cannot be leapt over again then.
    fn spend(&mut self, time: SimTime) -> bool {
        let may = time <= self.left.min(LONGEST);
        if may {
            self.left = self.left - time;
        }
        may
    }
}

impl Client {
    /// Whether the clock may leap to a tick; if it may not, the client leaves.
    pub(super) fn may_leap(&mut self, to: Tick) -> bool {
        let (from, length) = (self.tick, self.length.0.max(1));
        if to <= from || self.leap.spend(Tick(to.0 - from.0).time(self.length)) {
            return true;
        }
        let most = (self.leap.left.min(LONGEST).0 / length) as u32;
        self.state = super::ClientState::Lost(Loss::Leap { from, to, most });
        false
    }

    /// Whether a tick is so long ago that running from there to now would take as long as a leap that is too far.
    pub(super) fn is_ancient(&self, tick: Tick) -> bool {
        tick.plus((LONGEST.0 / self.length.0.max(1)) as u32) < self.tick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: SimTime = SimTime::millis(1000);

    #[test]
    fn a_leap_is_as_long_as_the_silence_and_a_little_more() {
        let mut leap = Leap::default();
        assert!(leap.spend(SimTime::millis(9_000)));
        assert!(!leap.spend(SimTime::millis(2_000)), "spent is spent");
        (0..40).for_each(|_| leap.pass(SECOND));
        assert!(leap.spend(SimTime::millis(41_000)), "it was silent for so long");
        leap.hear();
        (0..3).for_each(|_| leap.pass(SECOND));
        assert!(!leap.spend(SimTime::millis(3_001)), "it fills up with time");
        (0..600).for_each(|_| leap.pass(SECOND));
        assert!(!leap.spend(SimTime::millis(60_001)), "never more than a minute");
        leap.hear();
        leap.pass(SECOND);
        assert!(!leap.spend(SimTime::millis(12_000)), "silence that is over does not count");
        leap.pass(SimTime(i64::MAX));
        leap.pass(SimTime(-5));
        assert!(leap.spend(SimTime::millis(60_000)));
    }
}
