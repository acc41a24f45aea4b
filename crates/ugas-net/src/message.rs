//! The messages between client and server.
//!
//! A client can ask the server only for the changes that are listed in [`Request`]. Messages that must arrive use the
//! reliable ordered stream. Commands and states are in the payloads of packets and are resent until acknowledged. Moves
//! are in the payloads too; a newer move replaces an older one.

pub use crate::reload::RulesPart;
use crate::types::Tick;
use serde::ser::SerializeStructVariant;
use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;
use ugas_core::{
    AbilityId, ActivationKey, Anchor, Answer, AxisValue, ControllerId, DefId, EffectId, InputId, Op, SimTime,
    Simulated, Target, TaskKey, Which,
};

/// The protocol version. Client and server must have the same version.
pub const PROTOCOL: u32 = 5;

/// A request that a client may send.
///
/// ```
/// use ugas_core::{AbilityId, ControllerId, Target};
/// use ugas_net::message::Request;
/// let request = Request::Activate { who: ControllerId(3), ability: AbilityId(1), target: Target::None };
/// assert_eq!(request.who(), ControllerId(3));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Presses an input.
    Press {
        /// The controller.
        who: ControllerId,
        /// The input.
        input: InputId,
        /// The target of the abilities that the press activates.
        target: Target,
    },
    /// Releases an input.
    Release {
        /// The controller.
        who: ControllerId,
        /// The input.
        input: InputId,
    },
    /// Sets the value of a simulated axis. The client sends the last value of each action and tick.
    Axis {
        /// The controller.
        who: ControllerId,
        /// The input.
        input: InputId,
        /// The value.
        value: AxisValue,
    },
    /// Lets go of one input or of all inputs, because the window lost the focus or a device was lost.
    LetGo {
        /// The controller.
        who: ControllerId,
        /// The input, or `None` for all inputs.
        input: Option<InputId>,
    },
    /// Activates a granted ability.
    Activate {
        /// The controller.
        who: ControllerId,
        /// The ability.
        ability: AbilityId,
        /// The target.
        target: Target,
    },
    /// Cancels an active ability.
    Cancel {
        /// The controller.
        who: ControllerId,
        /// The ability.
        ability: AbilityId,
    },
    /// Ends an active ability at the request of its player. Server and client run this request as a cancel: an end
    /// would skip the tasks that remove the effects of the ability.
    End {
        /// The controller.
        who: ControllerId,
        /// The ability.
        ability: AbilityId,
    },
    /// Commits an active ability whose commit policy is `Manual`.
    Commit {
        /// The controller.
        who: ControllerId,
        /// The ability.
        ability: AbilityId,
    },
    /// Applies an effect of an active ability to a target. The client predicts the application, and the server
    /// validates it. A waiting task of the ability must name the effect in `ClientEffects`.
    Apply {
        /// The source.
        who: ControllerId,
        /// The ability.
        ability: AbilityId,
        /// The effect.
        effect: EffectId,
        /// The target.
        target: ControllerId,
    },
    /// Answers a waiting task that is open to clients (`WaitTargetData`, or a task with `ClientAnswers: true`).
    Complete {
        /// The task.
        key: TaskKey,
        /// The answer.
        answer: Answer,
    },
    /// Moves the controller. The client rounds the position to 1/256 of a unit and the facing to 1/127, and sends the
    /// newest pose of each tick without a verdict.
    Move {
        /// The controller.
        who: ControllerId,
        /// The position and facing.
        anchor: Anchor,
    },
    /// Changes the target of an active ability to the target that a predicted tick of the ability chose on the client.
    /// The client session sends this request automatically.
    Aim {
        /// The activation.
        key: ActivationKey,
        /// The target.
        target: Target,
        /// The number of the tick of the cast, if the server waits for the target of each tick (`TickData: Required`).
        tick: Option<u32>,
    },
    /// Reports that the predicted activation of an ability was rejected: server and client emit the fact `Mispredicted`
    /// and run the `OnMispredicted` tasks. The client session sends this request automatically, once per rejected
    /// command.
    Mispredicted {
        /// The controller.
        who: ControllerId,
        /// The Base of the rejected command.
        base: u32,
        /// The Sub of the rejected command.
        sub: u16,
        /// The ability that the client activated.
        ability: AbilityId,
        /// The target.
        target: Target,
    },
}

impl Request {
    /// Returns the controller that the request is for.
    pub fn who(&self) -> ControllerId {
        match self {
            Request::Press { who, .. }
            | Request::Release { who, .. }
            | Request::Axis { who, .. }
            | Request::LetGo { who, .. }
            | Request::Activate { who, .. }
            | Request::Cancel { who, .. }
            | Request::End { who, .. }
            | Request::Commit { who, .. }
            | Request::Apply { who, .. }
            | Request::Move { who, .. }
            | Request::Mispredicted { who, .. } => *who,
            Request::Complete { key, .. } => key.who,
            Request::Aim { key, .. } => key.who,
        }
    }

    /// Returns whether the request is a release or a cancel. The client sends such a request even while the prediction
    /// window is closed, and the server never rejects it as too late: otherwise an input would stay pressed on the
    /// server.
    pub(crate) fn is_release(&self) -> bool {
        match self {
            Request::Release { .. } | Request::LetGo { .. } | Request::Cancel { .. } => true,
            Request::Axis { value, .. } => value.is_zero(),
            Request::Press { .. }
            | Request::Activate { .. }
            | Request::End { .. }
            | Request::Commit { .. }
            | Request::Apply { .. }
            | Request::Complete { .. }
            | Request::Move { .. }
            | Request::Aim { .. }
            | Request::Mispredicted { .. } => false,
        }
    }

    /// Returns the target of the abilities that the request activates.
    pub(crate) fn aim(&self) -> Option<Target> {
        match self {
            Request::Activate { target, .. } | Request::Press { target, .. } => Some(*target),
            Request::Release { .. }
            | Request::Axis { .. }
            | Request::LetGo { .. }
            | Request::Cancel { .. }
            | Request::End { .. }
            | Request::Commit { .. }
            | Request::Apply { .. }
            | Request::Complete { .. }
            | Request::Move { .. }
            | Request::Aim { .. }
            | Request::Mispredicted { .. } => None,
        }
    }

    /// Returns the op of the request, which is the same on client and server.
    pub fn op(&self) -> Op {
        match self {
            Request::Press { who, input, target } => Op::Press { who: *who, input: *input, target: *target },
            Request::Release { who, input } => Op::Release { who: *who, input: *input },
            Request::Axis { who, input, value } => Op::Axis { who: *who, input: *input, value: *value },
            Request::LetGo { who, input } => Op::LetGo { who: *who, input: *input },
            Request::Activate { who, ability, target } => {
                Op::Activate { who: *who, which: Which::Ability(*ability), target: *target }
            }
            Request::Cancel { who, ability } => Op::Cancel { who: *who, which: Which::Ability(*ability) },
            // The tasks that the end skips may remove effects, so that the clean-up of a cancel must run.
            Request::End { who, ability } => Op::Cancel { who: *who, which: Which::Ability(*ability) },
            Request::Commit { who, ability } => Op::Commit { who: *who, which: Which::Ability(*ability) },
            Request::Apply { who, ability, effect, target } => {
                Op::ApplyFromAbility { who: *who, ability: *ability, effect: *effect, target: *target }
            }
            Request::Complete { key, answer } => Op::Complete { key: *key, answer: answer.clone() },
            Request::Move { who, anchor } => Op::Move { who: *who, anchor: Some(*anchor) },
            Request::Aim { key, target, tick } => Op::Aim { key: *key, target: *target, tick: *tick },
            Request::Mispredicted { who, ability, target, .. } => {
                Op::Mispredicted { who: *who, ability: *ability, target: *target }
            }
        }
    }
}

/// A request with its tick and number. The number identifies the command in acks and verdicts. It is not the id of the
/// op: rolls depend on that id, so the server computes it itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// The tick for which the client issued the command.
    pub tick: Tick,
    /// The Base of the command's number: it rises by one with each tick that has commands.
    pub base: u32,
    /// The Sub of the command's number: the position of the command's first activation within the tick.
    pub sub: u16,
    /// The request.
    pub request: Request,
    /// The target that the first predicted tick of the activated ability chose. On the server, only the first tick of
    /// the ability uses this target; the activation is checked with the target of the request.
    pub aim: Option<Target>,
}

impl Command {
    /// Returns the command as encoded in a packet, for tests that forge a command.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }
}

/// The verdict of the server on a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The Base of the command's number.
    pub base: u32,
    /// The Sub of the command's number.
    pub sub: u16,
    /// Whether the command was rejected. The reason is not sent because it may reveal hidden state.
    pub rejected: bool,
    /// The abilities that the command activated, in order.
    pub activated: Vec<AbilityId>,
    /// The controller of the command. For each activated ability of this controller, the packet also contains the low
    /// bits of the number of the next use.
    pub who: ControllerId,
}

/// How many of the low bits of a use number a verdict contains.
pub(crate) const USE_BITS: u32 = 6;
/// The mask for the low [`USE_BITS`] bits of a use number.
pub(crate) const USE_MASK: u64 = (1 << USE_BITS) - 1;

/// The maximum number of seeds in one [`ToClient::UseSeeds`].
pub(crate) const MAX_USE_SEEDS: usize = 64;

/// Why a server denied a client.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Denial {
    /// Client and server have different protocol versions.
    #[error("the server has protocol version {server}, but this client has {client}; install the same game version")]
    Protocol {
        /// The server's version.
        server: u32,
        /// The client's version.
        client: u32,
    },
    /// Client and server have different rules.
    #[error(
        "the server's rules have the hash {server:016x}, but this client's rules have {client:016x}; \
         install the same data"
    )]
    Rules {
        /// The hash of the server's rules.
        server: u64,
        /// The hash of the client's rules.
        client: u64,
    },
}

/// A reliable message to a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToClient {
    /// The server accepted the client.
    Welcome {
        /// The number of the client. It is part of every key of the client's commands.
        client: u16,
        /// The last Base that an earlier client with this number used. The Bases of the new client start above it.
        base: u32,
        /// The length of a tick.
        length: SimTime,
        /// The owned controllers.
        owned: Vec<ControllerId>,
    },
    /// The server denied the client.
    Denied(Denial),
    /// A run-time definition, as JSON.
    Define {
        /// The id of the definition.
        id: DefId,
        /// The document.
        doc: String,
    },
    /// Actors that were despawned or are no longer relevant.
    Removed {
        /// The actors with the tick of each removal.
        actors: Vec<(ControllerId, Tick)>,
    },
    /// The state of a remote actor, sent as a message because it does not fit into a packet.
    ActorState {
        /// The controller.
        who: ControllerId,
        /// The tick of the state.
        tick: Tick,
        /// The state, encoded as in packets.
        section: Vec<u8>,
    },
    /// The state of an owned controller, sent as a message because it does not fit into a packet.
    OwnerState {
        /// The controller.
        who: ControllerId,
        /// The tick of the state.
        tick: Tick,
        /// The full state, followed by the confirmations for owned controllers, as in packets.
        state: Vec<u8>,
    },
    /// More actors were removed than the server can list, so the client removes all remote actors. The server then
    /// sends the state of all relevant actors again.
    AllRemoved {
        /// The client ignores states up to this tick.
        tick: Tick,
    },
    /// An ability event of a remote actor.
    Simulated {
        /// The controller.
        who: ControllerId,
        /// The event.
        what: Simulated,
    },
    /// The seeds from which the next uses of an ability draw their random numbers, so that the client can predict the
    /// rolls.
    UseSeeds {
        /// The owned controller.
        who: ControllerId,
        /// The ability.
        ability: AbilityId,
        /// The number of the next use.
        next: u32,
        /// The number of the use that the first seed is for.
        first: u32,
        /// The seeds.
        seeds: Vec<u32>,
    },
    /// New rules of the server. A reload may need several messages; the client applies the rules with the last one.
    Rules {
        /// The hash of the new rules.
        rules: u64,
        /// The documents, in order.
        documents: Vec<RulesPart>,
        /// Whether this is the last message of the reload.
        is_last: bool,
    },
}

/// A reliable message to the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToServer {
    /// The first message of a client.
    Hello {
        /// The protocol version.
        protocol: u32,
        /// The hash of the rules.
        rules: u64,
        /// Padding that makes the message longer than any answer of the server, so that an attacker with a forged
        /// sender address cannot amplify traffic.
        padding: Vec<u8>,
    },
    /// The client could not read an update and requests the state of all remote actors again.
    Resync,
    /// The rules that the client has after it received new rules.
    Rules {
        /// The hash of the client's rules. It differs from the server's if the client cannot use the new rules.
        rules: u64,
    },
}

impl ToClient {
    /// Reads a message, for tests.
    pub fn from_bytes(bytes: &[u8]) -> Option<ToClient> {
        decode(bytes)
    }

    /// Returns the message as encoded in the reliable stream, for tests that forge a message.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }
}

impl ToServer {
    /// Returns the message as encoded in the reliable stream, for tests that forge a message.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }
}

/// Encodes a message.
pub(crate) fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    // These types always serialize.
    postcard::to_allocvec(message).unwrap_or_default()
}

/// Encodes [`ToClient::Removed`] into a buffer, without copying the list. Returns `None` if the buffer is too short: an
/// actor needs at most ten bytes, and the message at most six more.
pub(crate) fn encode_removed<'b>(actors: &[(ControllerId, Tick)], buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    struct Removed<'a>(&'a [(ControllerId, Tick)]);
    impl Serialize for Removed<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut message = serializer.serialize_struct_variant("ToClient", 3, "Removed", 1)?;
            message.serialize_field("actors", self.0)?;
            message.end()
        }
    }
    postcard::to_slice(&Removed(actors), buffer).ok().map(|bytes| &*bytes)
}

/// Decodes a message. Returns `None` if bytes are left over.
pub(crate) fn decode<T: for<'d> Deserialize<'d>>(bytes: &[u8]) -> Option<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Some(message),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removals_are_encoded_as_the_message_is() {
        let actors = vec![(ControllerId(1), Tick(2)), (ControllerId(u32::MAX), Tick(u32::MAX))];
        let mut buffer = [0; 26];
        assert_eq!(encode_removed(&actors, &mut buffer), Some(&*encode(&ToClient::Removed { actors: actors.clone() })));
        assert_eq!(encode_removed(&actors, &mut buffer[..8]), None);
    }

    /// Returns whether a client can request an op. A new op does not compile until it is listed here.
    fn is_requestable(op: &Op) -> bool {
        match op {
            Op::Press { .. }
            | Op::Release { .. }
            | Op::Axis { .. }
            | Op::LetGo { .. }
            | Op::Activate { .. }
            | Op::Cancel { .. }
            | Op::Commit { .. }
            | Op::ApplyFromAbility { .. }
            | Op::Complete { .. }
            | Op::Move { .. }
            | Op::Aim { .. }
            | Op::Mispredicted { .. } => true,
            Op::Spawn(_)
            | Op::SpawnMany { .. }
            | Op::Despawn { .. }
            | Op::Apply(_)
            | Op::ApplyToMany { .. }
            | Op::ApplyAll { .. }
            | Op::Remove { .. }
            | Op::RemoveMatching { .. }
            | Op::Change { .. }
            | Op::ChangeMatching { .. }
            | Op::AddSet { .. }
            | Op::RemoveSet { .. }
            | Op::SetActive { .. }
            | Op::SetRate { .. }
            | Op::Possess { .. }
            | Op::Grant { .. }
            | Op::Revoke { .. }
            | Op::SetLevel { .. }
            | Op::SetParam { .. }
            | Op::Restrict { .. }
            | Op::Interrupt { .. }
            | Op::End { .. }
            | Op::Validate { .. }
            | Op::Event(_)
            | Op::Define(_)
            | Op::Undefine(_) => false,
            // Only the server changes resources, and adds, removes, blocks and switches capabilities.
            Op::ModifyResource { .. }
            | Op::GrantSet { .. }
            | Op::RevokeSet { .. }
            | Op::Block { .. }
            | Op::Unblock { .. }
            | Op::Enable { .. }
            | Op::SetTick { .. } => false,
        }
    }

    #[test]
    fn requests_can_express_only_the_ops_of_a_player() {
        let (who, ability, target) = (ControllerId(1), AbilityId(2), Target::None);
        let (input, key) = (InputId(3), ActivationKey { origin_id: 4, who, ordinal: 0 });
        let requests = [
            Request::Press { who, input, target },
            Request::Release { who, input },
            Request::Axis { who, input, value: AxisValue([1, -2, 3]) },
            Request::LetGo { who, input: Some(input) },
            Request::Activate { who, ability, target },
            Request::Cancel { who, ability },
            Request::End { who, ability },
            Request::Commit { who, ability },
            Request::Apply { who, ability, effect: EffectId(5), target: who },
            Request::Complete { key: TaskKey { seq: 6, who }, answer: Answer::default() },
            Request::Move { who, anchor: Anchor::at([1.0; 3]) },
            Request::Aim { key, target, tick: None },
            Request::Mispredicted { who, base: 7, sub: 8, ability, target },
        ];
        assert!(requests.iter().all(|request| is_requestable(&request.op())));
    }
}
