//! Who hears of whom, how urgently and how often.
//!
//! A client is told of what is relevant to it ([`Relevance`]), no more often than its kind needs ([`RateTable`]), the most
//! urgent first ([`Priority`]) and only as much as its line takes ([`Bandwidth`]). What does not fit grows more urgent
//! until it does. A [`Schedule`] keeps that for one client: per controller the tick the client has and how long it has
//! waited. What the bytes say is [`crate::view`]'s business.

mod plan;
mod rate;
mod relevance;
mod schedule;

pub use plan::{Ask, Interest, Pick, Plan};
pub use rate::{ActorKind, Bandwidth, HIGH_LATENCY, RateTable, Rates};
pub use relevance::{Asked, ByDistance, Everything, Near, Priority, Relevance, Viewer};
pub use schedule::Schedule;
