//! The speed limit of moves.
//!
//! Each controller of a client has a budget of distance, which fills with time at the maximum speed. A move costs its
//! length. The budget has a maximum, so that moves that arrive late and together are accepted, but not a teleport. A
//! rejected move changes nothing; the client then rolls back to the server's position.

use super::{RejectReason, length_between};
use crate::types::Tick;
use ugas_core::{ControllerId, Sim, SimTime};

/// The time after a teleport by the host in which the moves of the client may still refer to the old position.
const TELEPORT_GRACE: SimTime = SimTime::millis(1000);

/// The time after a contradicted prediction in which the moves of the client may still follow that prediction: the
/// client learns of the contradiction after a round trip, and later if it is suspended or its link is interrupted.
const CONTRADICTION_GRACE: SimTime = SimTime::millis(2000);

/// The time within which contradicted predictions excuse at most two series of moves. A client can provoke
/// contradictions, for example with a key on cooldown, but cannot hide a permanent speed with them.
const EXCUSE_INTERVAL: SimTime = SimTime::millis(6000);

/// The speed limits of controllers that clients move. Distances are in the unit of the anchors.
///
/// A game with falls, knockback or vehicles that are faster than the attribute allows decides with
/// [`TargetPolicy::can_move`](super::TargetPolicy::can_move), or sets another attribute or number here. A host that
/// moves a controller itself ([`Op::Move`](ugas_core::Op::Move)) is not limited.
///
/// ```
/// use ugas_net::authority::MovementConfig;
/// let metres = MovementConfig { max_speed: 12.0, ..MovementConfig::default() };
/// assert_eq!(metres.speed_attribute, "MoveSpeed");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MovementConfig {
    /// The attribute that contains the maximum speed of a controller, per second. Default: `MoveSpeed`. If the rules have
    /// no attribute with this name, [`max_speed`](Self::max_speed) limits all controllers.
    pub speed_attribute: String,
    /// The maximum speed of a controller without the attribute. The default is 4000, the terminal velocity of engines
    /// that measure in centimetres. A game should set its own number; [`f64::INFINITY`] turns the check off. With a
    /// negative number or NaN, every move of such a controller is rejected.
    pub max_speed: f64,
    /// The factor by which a client may be faster, for differences between clocks. Default: 1.1.
    pub tolerance: f64,
    /// The maximum of the budget, as the distance that the controller moves in this time. Default: 500 ms.
    pub burst: SimTime,
}

impl Default for MovementConfig {
    fn default() -> MovementConfig {
        MovementConfig {
            speed_attribute: "MoveSpeed".to_owned(),
            max_speed: 4000.0,
            tolerance: 1.1,
            burst: SimTime::millis(500),
        }
    }
}

impl MovementConfig {
    /// Returns the maximum speed of a controller: the value of its attribute, or [`max_speed`](Self::max_speed).
    pub fn speed_of(&self, sim: &Sim, who: ControllerId) -> f64 {
        let attribute = sim.rules().find_attribute(&self.speed_attribute);
        let authored = attribute.and_then(|a| sim.get(who, a).ok());
        authored.unwrap_or(self.max_speed).max(0.0)
    }
}

/// The distance that the client of a controller may still move it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MoveBudget {
    left: f64,
    /// The position after the last accepted move, or where the host placed the controller.
    position: Option<[f64; 3]>,
    /// The highest speed since the last accepted move.
    fastest: f64,
    /// The tick of the last accepted move or placement by the host.
    moved: Tick,
    /// The tick at which the host last moved the controller.
    teleported: Option<Tick>,
    /// The last tick in which the controller jumped or a move was rejected. Shortly after it, clients may still see the
    /// controller at another position than the server.
    displaced: Option<Tick>,
    /// The last tick in which the server may have contradicted a prediction of the client.
    contradicted: Option<Tick>,
    /// The ticks of the first moves of the last two series that contradicted predictions excuse, the newest first.
    excused: [Option<Tick>; 2],
}

impl MoveBudget {
    /// Fills the budget for a tick. If the host moved the controller, the budget is full again.
    pub(crate) fn fill(&mut self, sim: &Sim, who: ControllerId, config: &MovementConfig, now: Tick, length: SimTime) {
        let position = sim.anchor(who).ok().flatten().map(|a| a.position);
        let speed = config.speed_of(sim, who) * config.tolerance;
        let (seconds, burst) = (length.as_seconds(), config.burst.as_seconds().max(length.as_seconds()));
        let most = speed * burst;
        self.fastest = self.fastest.max(speed);
        if position != self.position {
            if self.position.is_some() {
                (self.teleported, self.displaced) = (Some(now), Some(now));
            }
            *self = MoveBudget { left: most, position, fastest: speed, moved: now, ..*self };
        } else if self.left <= most {
            self.left = (self.left + speed * seconds).min(most);
        } else {
            // The controller became slower. Its client receives the new speed later, so the surplus expires gradually.
            self.left = most + (self.left - most) * (1.0 - seconds / burst);
        }
    }

    /// Returns the tick at which the host last moved the controller.
    pub(crate) fn teleported(&self) -> Option<Tick> {
        self.teleported
    }

    /// Moves the controller, or returns why the move is rejected. A controller without a position may be placed
    /// anywhere.
    pub(crate) fn try_move(
        &mut self,
        to: [f64; 3],
        config: &MovementConfig,
        now: Tick,
        length: SimTime,
    ) -> Result<(), RejectReason> {
        let distance = self.position.map_or(0.0, |from| length_between(from, to));
        if distance > self.left {
            self.displaced = Some(now);
            let since = |tick: Tick| Tick(now.0.saturating_sub(tick.0)).time(length).as_seconds();
            let is_after_teleport = self.teleported.is_some_and(|tick| since(tick) <= TELEPORT_GRACE.as_seconds());
            let reachable = self.fastest * (since(self.moved) + config.burst.as_seconds());
            let is_honest = is_after_teleport || distance <= reachable || self.is_excused(now, length);
            return Err(if is_honest { RejectReason::MoveBacklog } else { RejectReason::TooFast });
        }
        self.left -= distance;
        (self.position, self.moved, self.fastest) = (Some(to), now, 0.0);
        Ok(())
    }

    /// Records that the server may have contradicted a prediction of the client: the server rejected a command, a press
    /// activated no ability, or something other than the client's commands changed the controller. The client may have
    /// predicted a blink that did not happen, or a charge that a stun ended.
    pub(crate) fn record_contradiction(&mut self, now: Tick) {
        self.contradicted = Some(now);
    }

    /// Returns whether the controller jumped or a move was rejected so recently that clients may have seen it at
    /// another position than the server.
    pub(crate) fn is_displaced(&self, now: Tick, length: SimTime) -> bool {
        self.displaced.is_some_and(|tick| Tick(now.0.saturating_sub(tick.0)).time(length) <= CONTRADICTION_GRACE)
    }

    /// Returns whether a contradicted prediction excuses a move above the speed limit.
    fn is_excused(&mut self, now: Tick, length: SimTime) -> bool {
        let is_within =
            |tick: Option<Tick>, time| tick.is_some_and(|tick| Tick(now.0.saturating_sub(tick.0)).time(length) <= time);
        let [newest, older] = self.excused;
        if is_within(newest, CONTRADICTION_GRACE) {
            return true;
        }
        let is_excused = is_within(self.contradicted, CONTRADICTION_GRACE) && !is_within(older, EXCUSE_INTERVAL);
        if is_excused {
            self.excused = [Some(now), newest];
        }
        is_excused
    }

    /// Records a position that the target policy of the host accepted, without checking the speed limit.
    pub(crate) fn place(&mut self, to: [f64; 3], now: Tick) {
        if self.position.is_some_and(|from| length_between(from, to) > self.left) {
            self.displaced = Some(now);
        }
        (self.position, self.moved, self.fastest) = (Some(to), now, 0.0);
    }
}
