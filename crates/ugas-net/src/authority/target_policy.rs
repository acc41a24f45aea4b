//! The checks that a host can replace: targets, positions and hits.

use ugas_core::{AbilityId, Anchor, ControllerId, Hit, Sim};

/// The decision of a [`TargetPolicy`] about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyDecision {
    /// The built-in check of the server decides.
    BuiltIn,
    /// The request is accepted.
    Accept,
    /// The request is rejected.
    Reject,
}

/// Decides which targets, positions and hits are valid, for example by line of sight, team or hit boxes. Set the policy
/// with [`Server::set_target_policy`](crate::server::Server::set_target_policy).
///
/// ```
/// use ugas_core::{AbilityId, Anchor, ControllerId, Sim};
/// use ugas_net::authority::{PolicyDecision, TargetPolicy};
///
/// /// A world that ends at x = 1000.
/// struct Walled;
/// impl TargetPolicy for Walled {
///     fn can_target(&self, _: &Sim, _: ControllerId, _: AbilityId, _: ControllerId) -> bool {
///         true
///     }
///     fn can_move(&self, _: &Sim, _: ControllerId, to: &Anchor) -> PolicyDecision {
///         if to.position[0] > 1000.0 { PolicyDecision::Reject } else { PolicyDecision::BuiltIn }
///     }
/// }
/// ```
pub trait TargetPolicy: Send + Sync {
    /// Returns whether `who` may target `target` with `ability`. The server asks when a command of the client is due. A
    /// held input that activates its ability again (`HeldActivation`) keeps the target of its press: only the sim checks
    /// the target again, for example its range.
    fn can_target(&self, sim: &Sim, who: ControllerId, ability: AbilityId, target: ControllerId) -> bool;

    /// Decides whether `who` may move to a position. The built-in check is the speed limit of
    /// [`MovementConfig`](super::MovementConfig).
    fn can_move(&self, sim: &Sim, who: ControllerId, to: &Anchor) -> PolicyDecision {
        let _ = (sim, who, to);
        PolicyDecision::BuiltIn
    }

    /// Decides whether the hit of an answer is valid. The built-in check compares the distance with the distance
    /// between the anchors, and accepts only tags that one of the targets has. A game whose clients report body parts
    /// must accept or reject them here.
    fn can_hit(
        &self,
        sim: &Sim,
        who: ControllerId,
        ability: AbilityId,
        targets: &[ControllerId],
        hit: &Hit,
    ) -> PolicyDecision {
        let _ = (sim, who, ability, targets, hit);
        PolicyDecision::BuiltIn
    }
}

/// A target policy that checks the authored range of an ability, measured between anchors. A controller without an
/// anchor is always in range.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuthoredRange;

impl TargetPolicy for AuthoredRange {
    fn can_target(&self, sim: &Sim, who: ControllerId, ability: AbilityId, target: ControllerId) -> bool {
        let range = sim.ability_doc(ability).and_then(|doc| doc.max_range);
        let (Some(range), Some(distance)) = (range, super::distance(sim, who, target)) else { return true };
        distance <= range
    }
}
