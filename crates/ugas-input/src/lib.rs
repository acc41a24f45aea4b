//! From a device to an action. A player's machine reads keyboards, gamepads and touch screens; the sim knows actions
//! such as Fire and Move. This crate translates the first into the second: it knows the names of device inputs, reads
//! the mappings and modifiers of a game, and lets players change them.
//!
//! What an action means (which action sets are active, what a tap or a motion triggers, what is buffered) is decided in
//! `ugas-core`, because a server must check it and a rollback must repeat it. What a device does is decided here,
//! because only the player's machine knows it. Rules do not depend on this crate: two players with different keys can
//! play together. The crate reads no clock and no device; the host passes the events of its devices and their times.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod binding;
mod bridge;
mod catalogue;
mod controls;
mod modifier;
mod profile;
mod remap;
mod seat;
mod settings;
mod sim_side;
mod spelling;

pub use bridge::{Bridge, BridgeError};
pub use catalogue::{InputCode, InputProblem, Shape, UnknownInput};
pub use controls::{ActionIndex, Controls, ControlsError, ControlsIssue};
pub use modifier::CustomModifier;
pub use profile::{ProfileError, ProfileIssue};
pub use remap::{BindingInfo, OnConflict, Remap};
pub use seat::{ActionEvent, BindingAnswer, DeviceEvent, DeviceId, ListenFor, Phase, Seat, SeatOutput, WhyNot};
pub use settings::{Setting, SettingRange};
pub use sim_side::{ActionLife, Activity, Intent, Liveness};
pub use ugas_core::AxisValue;
