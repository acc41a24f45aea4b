//! The protocol layer below the sessions: packets, the bit codec, and the replicated state of remote actors.
//!
//! This module is public for the fuzz targets, the benchmarks and the tests of this repository only. It is hidden from
//! the documentation and may change in any release; a game uses [`crate::client`] and [`crate::server`].

pub mod carrier;
pub mod view;
pub mod wire;

pub use crate::interest::plan::{Interest, PacketPlan, PlannedPose, PlannedUpdate, ScheduleRequest};
pub use crate::interest::schedule::Schedule;
