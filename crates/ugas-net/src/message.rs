//! What the two sides say to each other.
//!
//! A client can ask for no more than a [`Request`] says: whatever else a sim can do cannot be put into words here, so it
//! cannot be forged. Messages that must arrive go through the carrier's ordered stream; commands and states ride in the
//! payloads of packets and are said again until they are heard.

use crate::types::Tick;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use ugas_core::{
    AbilityId, ActivationKey, Anchor, Answer, ControllerId, DefId, EffectId, InputId, Op, OpId, SimTime, Simulated,
    Spec, Target, TaskKey, Which,
};

/// The version of what is said. Both sides must have the same.
pub const PROTOCOL: u32 = 1;

/// What a client may ask for.
///
/// ```
/// use ugas_core::{AbilityId, ControllerId, Target};
/// use ugas_net::message::Request;
/// let ask = Request::Activate { who: ControllerId(3), ability: AbilityId(1), target: Target::None };
/// assert_eq!(ask.who(), ControllerId(3));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// An input goes down.
    Press {
        /// The controller.
        who: ControllerId,
        /// The input.
        input: InputId,
        /// What abilities activated by it aim at.
        target: Target,
    },
    /// An input goes up.
    Release {
        /// The controller.
        who: ControllerId,
        /// The input.
        input: InputId,
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
    /// Ends an ability as cancelled.
    Cancel {
        /// The controller.
        who: ControllerId,
        /// The ability.
        ability: AbilityId,
    },
    /// Ends an ability as completed.
    End {
        /// The controller.
        who: ControllerId,
        /// The ability.
        ability: AbilityId,
    },
    /// Commits an ability whose policy is Manual.
    Commit {
        /// The controller.
        who: ControllerId,
        /// The ability.
        ability: AbilityId,
    },
    /// Applies an effect of an ability to a target: speculative here, looked at by the server before anything happens.
    Apply {
        /// Who does it.
        who: ControllerId,
        /// By which ability.
        ability: AbilityId,
        /// Which effect.
        effect: EffectId,
        /// The target.
        target: ControllerId,
    },
    /// Answers a task that waits for the host.
    Complete {
        /// The task.
        key: TaskKey,
        /// The answer.
        answer: Answer,
    },
    /// Says where the controller stands.
    Move {
        /// The controller.
        who: ControllerId,
        /// Where.
        anchor: Anchor,
    },
    /// A running ability of one's own aims at something else: what its predicted tick chose. A client says it by itself.
    Aim {
        /// Which activation.
        key: ActivationKey,
        /// The target.
        target: Target,
    },
    /// Runs what an ability does after it was played ahead and refused, its `OnMispredicted`. A client asks for it by
    /// itself, once for each use that was refused.
    Mispredicted {
        /// The controller.
        who: ControllerId,
        /// The Base of the command that was refused.
        base: u32,
        /// And its Sub.
        sub: u16,
        /// Which ability it activated here.
        ability: AbilityId,
        /// The target.
        target: Target,
    },
}

impl Request {
    /// The controller in whose name it is asked.
    pub fn who(&self) -> ControllerId {
        match self {
            Request::Press { who, .. }
            | Request::Release { who, .. }
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

    /// Whether it only lets go: a key that was let go stays down, and an ability goes on, if nobody hears of it, so that
    /// it is asked for past the window and never comes too late.
    pub(crate) fn lets_go(&self) -> bool {
        matches!(self, Request::Release { .. } | Request::Cancel { .. })
    }

    /// What abilities activated by it aim at.
    pub(crate) fn aim(&self) -> Option<Target> {
        match self {
            Request::Activate { target, .. } | Request::Press { target, .. } => Some(*target),
            _ => None,
        }
    }

    /// What it does, on either side. An application has the level of the grant it comes from.
    pub fn op(&self, level: u32) -> Op {
        match self {
            Request::Press { who, input, target } => Op::Press { who: *who, input: *input, target: *target },
            Request::Release { who, input } => Op::Release { who: *who, input: *input },
            Request::Activate { who, ability, target } => {
                Op::Activate { who: *who, which: Which::Ability(*ability), target: *target }
            }
            Request::Cancel { who, ability } => Op::Cancel { who: *who, which: Which::Ability(*ability) },
            Request::End { who, ability } => Op::End { who: *who, which: Which::Ability(*ability) },
            Request::Commit { who, ability } => Op::Commit { who: *who, which: Which::Ability(*ability) },
            Request::Apply { who, ability, effect, target } => {
                Op::Apply(Spec::new(*effect, *target).from(*who).ability(*ability).level(level))
            }
            Request::Complete { key, answer } => Op::Complete { key: *key, answer: answer.clone() },
            Request::Move { who, anchor } => Op::Move { who: *who, anchor: Some(*anchor) },
            Request::Aim { key, target } => Op::Aim { key: *key, target: *target },
            Request::Mispredicted { who, ability, target, .. } => {
                Op::Mispredicted { who: *who, ability: *ability, target: *target }
            }
        }
    }
}

/// A request, when it counts and under which key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// The tick it belongs to.
    pub tick: Tick,
    /// The key's Base: one for each tick with commands, rising.
    pub base: u32,
    /// The key's Sub.
    pub sub: u16,
    /// What is asked.
    pub request: Request,
    /// At what the first predicted tick of what it activated aimed, if it chose. Only the server's first tick reads it:
    /// the checks of the activation look at the request's own target.
    pub aim: Option<Target>,
}

impl Command {
    /// The id of the op, in the name of a client.
    pub fn id(&self, client: u16) -> OpId {
        OpId::new(client, self.base, self.sub)
    }

    /// As it stands in a packet, e.g. for a test that forges one.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The key's Base.
    pub base: u32,
    /// The key's Sub.
    pub sub: u16,
    /// Whether it was refused. Why is nobody's business but the server's: a reason may name what the client is not shown.
    pub refused: bool,
    /// The abilities it activated, in order.
    pub done: Vec<AbilityId>,
}

/// Why a server will not have a client.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Denial {
    /// Another version of the protocol.
    #[error("the server speaks protocol {server} and this client {client}; install the same version of the game")]
    Protocol {
        /// The server's.
        server: u32,
        /// The client's.
        client: u32,
    },
    /// Other data.
    #[error("the server's rules have the hash {server:016x} and this client's {client:016x}; install the same data")]
    Rules {
        /// The server's.
        server: u64,
        /// The client's.
        client: u64,
    },
}

/// What must arrive at a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToClient {
    /// The server has the client.
    Welcome {
        /// Its number, in every key of its commands.
        client: u16,
        /// The last base that was used under that number; its own are above it.
        base: u32,
        /// Length of a tick.
        length: SimTime,
        /// Seed of the client's random stream.
        seed: u64,
        /// The controllers that are its own.
        owned: Vec<ControllerId>,
    },
    /// The server has not.
    Denied(Denial),
    /// A definition made at run time, as JSON.
    Define {
        /// Its number.
        id: DefId,
        /// The document.
        doc: String,
    },
    /// Controllers that are gone or out of sight.
    Gone {
        /// Which, and since when.
        gone: Vec<(ControllerId, Tick)>,
    },
    /// What is seen of a controller, where that does not fit into a packet.
    Seen {
        /// The controller.
        who: ControllerId,
        /// When it was so.
        tick: Tick,
        /// The section, as in packets.
        section: Vec<u8>,
    },
    /// An owned controller whose state does not fit into a packet.
    Owner {
        /// The controller.
        who: ControllerId,
        /// When it was so.
        tick: Tick,
        /// The state as a difference to nothing, and behind it what the client did to its own, as in packets.
        state: Vec<u8>,
    },
    /// Too many are gone to list them: of whoever is still there everything is told anew.
    AllGone {
        /// What was told up to this tick is out of date.
        tick: Tick,
    },
    /// Something of somebody else's ability that bystanders see.
    Simulated {
        /// The controller.
        who: ControllerId,
        /// What changed.
        what: Simulated,
    },
}

/// What must arrive at the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToServer {
    /// A client begins.
    Hello {
        /// Its version.
        protocol: u32,
        /// The hash of its rules.
        rules: u64,
        /// Makes this longer than any answer, so that nobody gains by asking in another's name.
        padding: Vec<u8>,
    },
    /// The client could not read what it was told of others and wants everything anew.
    Again,
}

impl ToClient {
    /// Reads one, e.g. in a test that looks at what a server says.
    pub fn from_bytes(bytes: &[u8]) -> Option<ToClient> {
        decode(bytes)
    }

    /// As it stands in the ordered stream, e.g. for a test that forges one.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }
}

impl ToServer {
    /// As it stands in the ordered stream, e.g. for a test that forges one.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }
}

/// A message as bytes.
pub(crate) fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    // Writing into memory fails only for values that refuse to be written, and these do not.
    postcard::to_allocvec(message).unwrap_or_default()
}

/// Reads a message; nothing may be left over.
pub(crate) fn decode<T: for<'d> Deserialize<'d>>(bytes: &[u8]) -> Option<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Some(message),
        _ => None,
    }
}
