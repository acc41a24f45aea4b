//! Limits how far a server may move a client's clock forward. A client that received no packets for a while jumps to
//! the server's tick. A server that sends wrong ticks must not make the client simulate years, so jumps have a budget:
//! at most the local time since the last packet plus ten seconds, and never more than one minute. Each jump spends a
//! part of the budget, which refills with local time. If a jump exceeds the budget, the client ends the session.

use super::Client;
use crate::types::Tick;
use thiserror::Error;
use ugas_core::SimTime;

/// The time that a jump may exceed the local time since the last packet.
const MARGIN: SimTime = SimTime::millis(10_000);
/// The longest jump.
const MAX_JUMP: SimTime = SimTime::millis(60_000);

/// Why a client ended its session.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DisconnectReason {
    /// The server's clock jumped further than local time advanced.
    #[error(
        "the server's clock jumped from tick {} to {}; the limit is {most} ticks; connect again", .from.0, .to.0
    )]
    ClockJump {
        /// The last simulated tick.
        from: Tick,
        /// The tick of the server.
        to: Tick,
        /// The maximum number of ticks that can have passed.
        most: u32,
    },
}

/// The length of time by which the clock may still jump.
#[derive(Clone, Copy, Debug)]
pub(super) struct JumpBudget {
    left: SimTime,
    /// Local time since the last packet.
    silence: SimTime,
}

impl Default for JumpBudget {
    fn default() -> JumpBudget {
        JumpBudget { left: MARGIN, silence: SimTime::ZERO }
    }
}

impl JumpBudget {
    /// Advances the local time.
    pub(super) fn advance(&mut self, elapsed: SimTime) {
        let add = |a: SimTime| SimTime(a.0.saturating_add(elapsed.0.max(0)).min(MAX_JUMP.0));
        self.silence = add(self.silence);
        self.left = add(self.left).min(MARGIN + self.silence);
    }

    /// Resets the time since the last packet.
    pub(super) fn packet_arrived(&mut self) {
        self.silence = SimTime::ZERO;
    }

    /// Spends the budget for a jump over this time. Returns whether the budget suffices.
    fn spend(&mut self, time: SimTime) -> bool {
        let is_allowed = time <= self.left.min(MAX_JUMP);
        if is_allowed {
            self.left = self.left - time;
        }
        is_allowed
    }
}

impl Client {
    /// Spends the budget for a jump to a tick. Returns whether the budget suffices; if not, the client ends the
    /// session.
    pub(super) fn spend_jump(&mut self, to: Tick) -> bool {
        let (from, length) = (self.tick, self.length.0.max(1));
        if to <= from || self.jump_budget.spend(Tick(to.0 - from.0).time(self.length)) {
            return true;
        }
        let most = (self.jump_budget.left.min(MAX_JUMP).0 / length) as u32;
        self.state = super::ClientState::Disconnected(DisconnectReason::ClockJump { from, to, most });
        false
    }

    /// Returns whether a tick is too old to resimulate from: more than one minute old.
    pub(super) fn is_too_old(&self, tick: Tick) -> bool {
        tick.plus((MAX_JUMP.0 / self.length.0.max(1)) as u32) < self.tick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: SimTime = SimTime::millis(1000);

    #[test]
    fn a_jump_is_limited_to_the_time_without_packets_plus_a_margin() {
        let mut budget = JumpBudget::default();
        assert!(budget.spend(SimTime::millis(9_000)));
        assert!(!budget.spend(SimTime::millis(2_000)), "the margin is spent");
        (0..40).for_each(|_| budget.advance(SECOND));
        assert!(budget.spend(SimTime::millis(41_000)), "no packet for 40 seconds");
        budget.packet_arrived();
        (0..3).for_each(|_| budget.advance(SECOND));
        assert!(!budget.spend(SimTime::millis(3_001)), "the budget grows with time only");
        (0..600).for_each(|_| budget.advance(SECOND));
        assert!(!budget.spend(SimTime::millis(60_001)), "never more than a minute");
        budget.packet_arrived();
        budget.advance(SECOND);
        assert!(!budget.spend(SimTime::millis(12_000)), "time before the last packet does not count");
        budget.advance(SimTime(i64::MAX));
        budget.advance(SimTime(-5));
        assert!(budget.spend(SimTime::millis(60_000)));
    }
}
