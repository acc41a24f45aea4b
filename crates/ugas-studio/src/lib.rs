//! The studio: a user interface that shows, explains, controls, records and edits a running world.
//!
//! A [`session::Session`] runs a world (the demo's duel, a pack or a scenario) as a server with simulated clients. A
//! [`recording::Recording`] records the session. A [`Backend`] answers JSON requests about the session, for example
//! for the state, the explanation of a value, the reasons why an ability cannot be activated, or the causes of a death.
//! The files in `pages` are the user interface. The backend runs behind the web server of [`serve`], or in the browser
//! as wasm.
//!
//! This crate contains no game rules. Only [`serve`] reads a clock; the host of a backend passes the elapsed time.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod arena;
#[cfg(feature = "serve")]
pub mod attach;
mod backend;
mod capability;
mod disk;
mod explain;
mod library;
mod names;
mod observer;
mod preview;
mod profile;
pub mod recording;
#[cfg(feature = "serve")]
pub mod serve;
pub mod session;
mod summary;
mod view;

pub use backend::{Backend, SessionFactory};
pub use library::Library;
pub use names::Names;
pub use profile::{Clock, Profiler};
pub use summary::{ActorSummary, Summary};

#[cfg(all(doctest, feature = "serve"))]
#[doc = include_str!("../../../book/src/attach.md")]
struct AttachPage;
