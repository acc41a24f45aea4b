//! The check of the hit that a client reports with an answer.

use super::{CommandValidator, PolicyDecision, RejectReason, distance};
use ugas_core::{AbilityId, Answer, ControllerId, Hit, Refusal};

/// The part of a distance by which a client may be wrong.
const RELATIVE_TOLERANCE: f64 = 0.25;
/// The time in seconds for which two controllers may have moved since the client saw them.
const SEEN_SECONDS: f64 = 0.25;
/// The time in seconds for which an honest client on a bad link may not have seen two controllers move. A hit that would
/// have been true within this time is rejected like a target that moved out of range.
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

    /// Returns whether the distance of a hit is the distance to each of the targets, if they and `who` may have moved for
    /// a time since the client saw them. Without targets or without positions there is nothing to compare.
    fn is_near(&self, who: ControllerId, targets: &[ControllerId], hit: &Hit, seconds: f64) -> bool {
        let Some(claimed) = hit.distance else { return true };
        let fits = |&target: &ControllerId| {
            let Some(actual) = distance(self.sim, who, target) else { return true };
            let speed = self.movement.speed_of(self.sim, who) + self.movement.speed_of(self.sim, target);
            (claimed - actual).abs() <= actual * RELATIVE_TOLERANCE + speed * seconds
        };
        claimed >= 0.0 && targets.iter().all(fits)
    }

    /// Returns an answer with the distance to its farthest target. The distance that the client reported is only checked:
    /// otherwise the client could choose it within the tolerance, and so its damage. A distance that the host accepted
    /// stays.
    pub(super) fn with_distance(&self, who: ControllerId, ability: AbilityId, answer: &Answer) -> Answer {
        let mut answer = answer.clone();
        let farthest = answer.targets.iter().filter_map(|&target| distance(self.sim, who, target)).reduce(f64::max);
        let is_accepted = answer.hit.as_ref().is_some_and(|hit| {
            let decision = self.target_policy.can_hit(self.sim, who, ability, &answer.targets, hit);
            hit.distance.is_some() && decision == PolicyDecision::Accept
        });
        if let Some(farthest) = farthest.filter(|_| !is_accepted) {
            answer.hit.get_or_insert_default().distance = Some(farthest);
        }
        answer
    }
}
