//! The engine's part of the blink: the ability only requests a teleport, and the client computes the destination. The
//! server therefore accepts one move of the length of a blink in the tick in which the blink starts.

use ugas_core::{AbilityId, Anchor, ControllerId, Sim, SimTime};
use ugas_net::authority::{AuthoredRange, PolicyDecision, TargetPolicy};

/// The distance of a blink in metres.
pub(super) const BLINK: f64 = 8.0;

/// Returns whether a blink of a controller started in this tick.
pub(super) fn is_blinking(sim: &Sim, who: ControllerId) -> bool {
    let Some(blink) = sim.rules().find_effect("GE_Blink") else { return false };
    let effects = sim.effects(who).unwrap_or_default();
    effects.into_iter().any(|e| e.effect == blink && e.elapsed == SimTime::ZERO)
}

/// The target policy of the studio: the authored range, and the speed limit except for a blink.
pub(super) struct BlinkPolicy;

impl TargetPolicy for BlinkPolicy {
    fn can_target(&self, sim: &Sim, who: ControllerId, ability: AbilityId, target: ControllerId) -> bool {
        AuthoredRange.can_target(sim, who, ability, target)
    }

    fn can_move(&self, sim: &Sim, who: ControllerId, to: &Anchor) -> PolicyDecision {
        let Some(from) = sim.anchor(who).ok().flatten() else { return PolicyDecision::BuiltIn };
        let square: f64 = from.position.iter().zip(to.position).map(|(a, b)| (a - b) * (a - b)).sum();
        let is_blink = is_blinking(sim, who) && square.sqrt() <= BLINK * 1.01;
        if is_blink { PolicyDecision::Accept } else { PolicyDecision::BuiltIn }
    }
}
