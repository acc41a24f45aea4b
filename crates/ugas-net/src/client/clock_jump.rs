//! How far a server may move a client's clock. A client that was disconnected for a while jumps to the server's tick. A
//! server that sends wrong ticks must not make it simulate years, so a jump is limited to the local time since the last
//! packet plus a margin. Beyond that the client ends the session.

use super::Client;
use crate::types::Tick;
use thiserror::Error;
use ugas_core::SimTime;

/// The margin by which a server may be ahead of local time.
const SPARE: SimTime = SimTime::millis(10_000);
/// The longest jump.
const LONGEST: SimTime = SimTime::millis(60_000);

/// Why a client ended its session.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DisconnectReason {
    /// The server's clock jumped further than local time advanced.
    #[error(
        "the server's clock jumped from tick {} to {}, expected at most {most} ticks; connect again", .from.0, .to.0
    )]
    ClockJump {
        /// The last simulated tick.
        from: Tick,
        /// The tick of the server.
        to: Tick,
        /// The most ticks that could have passed.
        most: u32,
    },
}

/// How much time the clock may jump over.
#[derive(Clone, Copy, Debug)]
pub(super) struct JumpBudget {
    left: SimTime,
    /// Local time since the last packet.
    silence: SimTime,
}

impl Default for JumpBudget {
    fn default() -> JumpBudget {
        JumpBudget { left: SPARE, silence: SimTime::ZERO }
    }
}

impl JumpBudget {
    /// Advances the local time.
    pub(super) fn pass(&mut self, elapsed: SimTime) {
        let add = |a: SimTime| SimTime(a.0.saturating_add(elapsed.0.max(0)).min(LONGEST.0));
        self.silence = add(self.silence);
        self.left = add(self.left).min(SPARE + self.silence);
    }

    /// A packet arrived.
    pub(super) fn packet_arrived(&mut self) {
        self.silence = SimTime::ZERO;
    }

    /// Whether the clock may jump by this time; if so, the budget is spent.
    fn spend(&mut self, time: SimTime) -> bool {
        let may = time <= self.left.min(LONGEST);
        if may {
            self.left = self.left - time;
        }
        may
    }
}

impl Client {
    /// Whether the clock may jump to a tick; if not, the client ends the session.
    pub(super) fn may_jump(&mut self, to: Tick) -> bool {
        let (from, length) = (self.tick, self.length.0.max(1));
        if to <= from || self.jump_budget.spend(Tick(to.0 - from.0).time(self.length)) {
            return true;
        }
        let most = (self.jump_budget.left.min(LONGEST).0 / length) as u32;
        self.state = super::ClientState::Disconnected(DisconnectReason::ClockJump { from, to, most });
        false
    }

    /// Whether a tick is too old to resimulate from.
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
        let mut leap = JumpBudget::default();
        assert!(leap.spend(SimTime::millis(9_000)));
        assert!(!leap.spend(SimTime::millis(2_000)), "spent is spent");
        (0..40).for_each(|_| leap.pass(SECOND));
        assert!(leap.spend(SimTime::millis(41_000)), "it was silent for so long");
        leap.packet_arrived();
        (0..3).for_each(|_| leap.pass(SECOND));
        assert!(!leap.spend(SimTime::millis(3_001)), "it fills up with time");
        (0..600).for_each(|_| leap.pass(SECOND));
        assert!(!leap.spend(SimTime::millis(60_001)), "never more than a minute");
        leap.packet_arrived();
        leap.pass(SECOND);
        assert!(!leap.spend(SimTime::millis(12_000)), "silence that is over does not count");
        leap.pass(SimTime(i64::MAX));
        leap.pass(SimTime(-5));
        assert!(leap.spend(SimTime::millis(60_000)));
    }
}
