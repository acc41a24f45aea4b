//! The check of the hit that a client reports with an answer.

use super::{CommandValidator, PolicyDecision, RejectReason, distance, distance_to};
use ugas_core::{AbilityId, Answer, ControllerId, Hit, Refusal};

/// The fraction of the actual distance by which the reported distance of a hit may differ from it.
const RELATIVE_TOLERANCE: f64 = 0.25;
/// The time in seconds by which the positions that a client sees may be out of date. The reported distance of a hit may
/// differ by the distance that both controllers can move in this time.
const SEEN_SECONDS: f64 = 0.25;
/// The time in seconds by which the positions may be out of date for an honest client on a bad link. A hit whose
/// distance is wrong, but was possible within this time, is rejected like a target that moved out of range.
const STALE_SECONDS: f64 = 1.0;

impl CommandValidator<'_> {
    /// Checks the hit of an answer with the target policy of the host, or by default against the positions and tags of
    /// the sim.
    pub(super) fn check_hit(
        &self,
        who: ControllerId,
        ability: AbilityId,
        answer: &Answer,
    ) -> Result<(), (RejectReason, Refusal)> {
        let Some(hit) = &answer.hit else { return Ok(()) };
        let reason = match self.target_policy.can_hit(self.sim, who, ability, &answer.targets, hit) {
            PolicyDecision::Accept => None,
            PolicyDecision::Reject => Some(RejectReason::Hit),
            PolicyDecision::BuiltIn => {
                let is_near = |seconds| self.is_near(who, &answer.targets, hit, seconds);
                if !self.has_known_tags(&answer.targets, hit) || !is_near(STALE_SECONDS) {
                    Some(RejectReason::Hit)
                } else {
                    (!is_near(SEEN_SECONDS)).then_some(RejectReason::Target)
                }
            }
        };
        reason.map_or(Ok(()), |reason| Err((reason, Refusal::NoTarget)))
    }

    /// Returns whether each tag of a hit is a tag of one of the targets.
    fn has_known_tags(&self, targets: &[ControllerId], hit: &Hit) -> bool {
        hit.tags.iter().all(|&tag| targets.iter().any(|&t| self.sim.has_tag(t, tag).unwrap_or(false)))
    }

    /// Returns whether the reported distance of a hit matches the distance from `who` to each target. The tolerance
    /// includes the distance that both controllers can move in `seconds`. A target without a position, and a hit
    /// without a distance, always match.
    fn is_near(&self, who: ControllerId, targets: &[ControllerId], hit: &Hit, seconds: f64) -> bool {
        let Some(claimed) = hit.distance else { return true };
        let fits = |&target: &ControllerId| {
            let Some(actual) = distance(self.sim, who, target) else { return true };
            let speed = self.movement.speed_of(self.sim, who) + self.movement.speed_of(self.sim, target);
            (claimed - actual).abs() <= actual * RELATIVE_TOLERANCE + speed * seconds
        };
        claimed >= 0.0 && targets.iter().all(fits)
    }

    /// Returns an answer with the distance that the server measures: to the farthest target or, if no target has a
    /// position, to the position of the hit. The server does not use the distance that the client reported: the client
    /// could choose it, and with it the damage. If the target policy of the host accepted the hit, the reported distance
    /// stays.
    pub(super) fn with_distance(&self, who: ControllerId, ability: AbilityId, answer: &Answer) -> Answer {
        let mut answer = answer.clone();
        let farthest = answer.targets.iter().filter_map(|&target| distance(self.sim, who, target)).reduce(f64::max);
        let Some(hit) = &mut answer.hit else {
            answer.hit = farthest.map(|distance| Hit { distance: Some(distance), ..Hit::default() });
            return answer;
        };
        let decision = self.target_policy.can_hit(self.sim, who, ability, &answer.targets, hit);
        if decision != PolicyDecision::Accept || hit.distance.is_none() {
            hit.distance = farthest.or_else(|| distance_to(self.sim, who, hit.position?));
        }
        answer
    }
}
