//! The reasons for which a server rejects packets, messages and commands of a client.

use crate::carrier::CarrierError;
use std::fmt;

/// Why the server rejected a packet, a message or a command of a client. `Display` writes a short phrase for people.
///
/// ```
/// use ugas_net::authority::RejectReason;
/// assert_eq!(RejectReason::Past.to_string(), "tick too far in the past");
/// assert_eq!(RejectReason::Early.to_string(), "ability on cooldown at the tick of the command");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RejectReason {
    /// The client exceeded its packet rate.
    PacketRate,
    /// An invalid datagram: too long, malformed, from an unknown peer, or with an ack of a packet that was never sent.
    Packet,
    /// A duplicate datagram, from the network or from a replay attack.
    Duplicate,
    /// A datagram of an earlier tick than the newest one received. The client resends its content.
    Outdated,
    /// A malformed payload.
    Payload,
    /// A malformed or unexpected reliable message.
    Message,
    /// The client exceeded its command rate, or it sent more than 64 commands of one ability for one tick.
    CommandRate,
    /// The tick of the command is too far in the future.
    Future,
    /// The tick of the command is too far in the past.
    Past,
    /// The key was used for another command, is out of order, or has a Base that is too high. The reason is the same if
    /// the client requests `OnMispredicted` for a command that was not rejected.
    Key,
    /// The client does not own the controller.
    Authority,
    /// The controller of the client was removed.
    Despawned,
    /// The ability is not granted.
    Ability,
    /// The net execution policy of the ability does not allow the request, or clients may not cancel the ability.
    Policy,
    /// The target does not exist or is not valid.
    Target,
    /// No task of the ability lets clients apply the effect (`ClientEffects`).
    EffectClass,
    /// Only the server may apply the effect.
    AuthoritativeOnly,
    /// The client applies an effect of an ability that is inactive, not committed or past the task that allows the
    /// effect, or changes the target of an activation that has ended.
    Idle,
    /// The client has applied the effect as often as the activation allows.
    Budget,
    /// The task is not waiting for an answer.
    Task,
    /// The data does not let clients answer the task, or a timeline of the server answers it.
    Answer,
    /// The answer arrives before the earliest time that the data allows.
    TooSoon,
    /// The distance or the tags of a hit differ from the server's state, or the target policy rejects the hit.
    Hit,
    /// The target policy rejects the position that the client moves to.
    Pose,
    /// The client moves farther than its maximum speed allows.
    TooFast,
    /// The move is longer than the distance that [`MovementConfig::burst`](super::MovementConfig::burst) allows, but
    /// not too long for the time since the last accepted move. An honest client sends such a move after a long
    /// interruption of the link. A move that exceeds the budget less than one second after the host moved the
    /// controller has this reason too.
    MoveBacklog,
    /// A number is out of range or not finite.
    Number,
    /// The command is late, and its ability was still on cooldown at the tick of the command.
    Early,
    /// The sim refused the op, for example because of cost, cooldown or tags.
    Rules,
}

impl fmt::Display for RejectReason {
    /// Writes a short phrase for people, such as `tick too far in the past`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RejectReason::PacketRate => "packet rate exceeded",
            RejectReason::Packet => "malformed packet",
            RejectReason::Duplicate => "duplicate packet",
            RejectReason::Outdated => "outdated packet",
            RejectReason::Payload => "malformed payload",
            RejectReason::Message => "malformed or unexpected message",
            RejectReason::CommandRate => "command rate exceeded",
            RejectReason::Future => "tick too far in the future",
            RejectReason::Past => "tick too far in the past",
            RejectReason::Key => "invalid prediction key",
            RejectReason::Authority => "controller not owned by the client",
            RejectReason::Despawned => "controller removed",
            RejectReason::Ability => "ability not granted",
            RejectReason::Policy => "request not allowed for this ability",
            RejectReason::Target => "invalid target",
            RejectReason::EffectClass => "effect not in the ability's ClientEffects",
            RejectReason::AuthoritativeOnly => "effect reserved for the server",
            RejectReason::Idle => "ability does not allow the effect now",
            RejectReason::Budget => "effect budget of the activation used up",
            RejectReason::Task => "task not waiting",
            RejectReason::Answer => "task not open to answers of clients",
            RejectReason::TooSoon => "answer before its earliest time",
            RejectReason::Hit => "hit differs from the server's state",
            RejectReason::Pose => "position rejected by the target policy",
            RejectReason::TooFast => "movement faster than the maximum speed",
            RejectReason::MoveBacklog => "movement after a long interruption",
            RejectReason::Number => "number not finite or out of range",
            RejectReason::Early => "ability on cooldown at the tick of the command",
            RejectReason::Rules => "refused by the simulation",
        })
    }
}

impl From<&CarrierError> for RejectReason {
    fn from(error: &CarrierError) -> RejectReason {
        match error {
            CarrierError::Duplicate { .. } => RejectReason::Duplicate,
            CarrierError::Stale { .. } => RejectReason::Outdated,
            CarrierError::TooLong { .. }
            | CarrierError::BacklogFull { .. }
            | CarrierError::Truncated { .. }
            | CarrierError::UnknownFlags { .. }
            | CarrierError::EmptySection
            | CarrierError::NoReference
            | CarrierError::UnsentAcknowledged { .. }
            | CarrierError::FragmentAhead { .. } => RejectReason::Packet,
        }
    }
}
