//! Interest management: which actors a client receives, in which order and how often.
//!
//! A client receives the actors that are relevant to it ([`Relevance`]), at the rate of their kind ([`RateTable`]), by
//! priority ([`Priority`]) and within its bandwidth ([`Bandwidth`]). The priority of an actor that does not fit rises until
//! it does. A `Schedule` keeps this per client: for each actor the tick that the client has and how long it has waited.

pub(crate) mod plan;
mod rate;
mod relevance;
pub(crate) mod schedule;

pub(crate) use plan::{Interest, PacketPlan, PlannedUpdate, ScheduleRequest};
pub use rate::{ActorKind, Bandwidth, HIGH_LATENCY, RateTable, Rates};
pub use relevance::{AllRelevant, DistancePriority, DistanceRelevance, Priority, Relevance, RelevanceUpdate, Viewer};
pub(crate) use schedule::Schedule;
