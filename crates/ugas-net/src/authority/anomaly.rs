//! Anomaly scores, which help a host find modified clients.
//!
//! Each rejection adds the weight of its reason to the score of the client, and the score decays with time. Rejections
//! that honest play causes have the weight 0: late and duplicate packets, commands that lose a race against a cooldown,
//! a removal or a moving target. A client that often acts inside the grace before the end of a cooldown is reported, which
//! raises its score too ([`GraceReport`](crate::server::GraceReport)). The host decides what to do with a score.

use super::RejectReason;
use ugas_core::SimTime;

/// The score from which a host should investigate a client. A client reaches this score with four requests that only a
/// modified client sends, or with about 20 moves above the speed limit.
pub const SUGGESTED_THRESHOLD: f64 = 20.0;
/// By how much a score decays per second.
const DECAY_PER_SECOND: f64 = 1.0;
/// The maximum score, so that every score decays to 0 within 17 minutes.
const MAX_SCORE: f64 = 1000.0;

/// A suspicion score of a client. Each request that an unmodified client never sends raises it, and it decays with
/// time. See [`Server::anomaly`](crate::server::Server::anomaly).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct AnomalyScore(
    /// The score. It is 0 for a client whose rejections can all be caused by honest play.
    pub f64,
);

impl AnomalyScore {
    /// Returns whether the score has reached [`SUGGESTED_THRESHOLD`].
    ///
    /// ```
    /// use ugas_net::authority::AnomalyScore;
    /// assert!(!AnomalyScore::default().is_suspicious());
    /// assert!(AnomalyScore(20.0).is_suspicious());
    /// ```
    pub fn is_suspicious(self) -> bool {
        self.0 >= SUGGESTED_THRESHOLD
    }
}

impl RejectReason {
    /// Returns by how much a rejection raises the [`AnomalyScore`] of its client: 0 if honest play causes such
    /// rejections, 1 if honest play rarely causes them or a single one proves nothing, 5 if only a modified client
    /// causes them.
    pub fn weight(self) -> f64 {
        match self {
            RejectReason::PacketRate
            | RejectReason::Duplicate
            | RejectReason::Outdated
            | RejectReason::CommandRate
            | RejectReason::Future
            | RejectReason::Past
            | RejectReason::Despawned
            | RejectReason::Ability
            | RejectReason::Target
            | RejectReason::Idle
            | RejectReason::Task
            | RejectReason::TooSoon
            | RejectReason::MoveBacklog
            | RejectReason::Early
            | RejectReason::Rules => 0.0,
            RejectReason::Packet
            | RejectReason::Key
            | RejectReason::Policy
            | RejectReason::Budget
            | RejectReason::Hit
            | RejectReason::Pose
            | RejectReason::TooFast => 1.0,
            RejectReason::Payload
            | RejectReason::Message
            | RejectReason::Authority
            | RejectReason::EffectClass
            | RejectReason::AuthoritativeOnly
            | RejectReason::Answer
            | RejectReason::Number => 5.0,
        }
    }
}

/// The score of one client with the time at which it was last changed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnomalyMeter {
    score: f64,
    at: SimTime,
}

impl AnomalyMeter {
    /// Adds the weight of a rejection.
    pub(crate) fn record(&mut self, reason: RejectReason, now: SimTime) {
        self.score = (self.score(now).0 + reason.weight()).min(MAX_SCORE);
        self.at = now;
    }

    /// Adds the weight of a report: the score reaches [`SUGGESTED_THRESHOLD`].
    pub(crate) fn record_report(&mut self, now: SimTime) {
        self.score = (self.score(now).0 + SUGGESTED_THRESHOLD).min(MAX_SCORE);
        self.at = now;
    }

    /// Returns the score at a time.
    pub(crate) fn score(&self, now: SimTime) -> AnomalyScore {
        let seconds = (now - self.at).max(SimTime::ZERO).as_seconds();
        AnomalyScore((self.score - seconds * DECAY_PER_SECOND).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_rises_with_offences_and_decays() {
        let mut meter = AnomalyMeter::default();
        let second = |n: f64| SimTime::seconds(n);
        for _ in 0..4 {
            meter.record(RejectReason::Authority, second(10.0));
        }
        assert!(meter.score(second(10.0)).is_suspicious());
        assert_eq!(meter.score(second(12.5)), AnomalyScore(17.5));
        assert_eq!(meter.score(second(99.0)), AnomalyScore(0.0));
        for _ in 0..10_000 {
            meter.record(RejectReason::Payload, second(99.0));
        }
        assert_eq!(meter.score(second(99.0)), AnomalyScore(MAX_SCORE));
    }

    #[test]
    fn rejections_of_honest_play_weigh_nothing() {
        let mut meter = AnomalyMeter::default();
        for _ in 0..1000 {
            for reason in [RejectReason::Past, RejectReason::Early, RejectReason::Rules, RejectReason::Target] {
                meter.record(reason, SimTime::ZERO);
            }
        }
        assert_eq!(meter.score(SimTime::ZERO), AnomalyScore(0.0));
    }
}
