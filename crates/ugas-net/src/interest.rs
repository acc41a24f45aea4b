//! Interest management: which actors a client receives, in which order and how often.
//!
//! A client receives the actors that are relevant to it ([`Relevance`]), at the rate of their kind ([`RateTable`]), by
//! priority ([`Priority`]) and within its bandwidth ([`Bandwidth`]). The priority of an actor that does not fit into a
//! packet rises until the actor is sent. For each client, the server keeps a schedule, which contains for each actor
//! the tick of the state that the client has, and the current priority.

mod fill;
pub(crate) mod plan;
mod rate;
mod relevance;
pub(crate) mod schedule;
mod visits;

pub(crate) use plan::{Interest, PacketPlan, PlannedPose, PlannedUpdate, ScheduleRequest};
pub use rate::{ActorKind, Bandwidth, HIGH_LATENCY, RateTable, Rates};
pub use relevance::{
    ActorSlots, AllRelevant, DistancePriority, DistanceRelevance, Priority, Relevance, RelevanceUpdate, Viewer,
};
pub(crate) use schedule::Schedule;
