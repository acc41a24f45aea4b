//! The studio: a running world that can be watched, asked, driven, rewound and changed.
//!
//! People believe what they can see move. Here a world (the demo's duel, a pack, a scenario) runs as a server with simulated
//! clients, is recorded ([`tape`]), and answers requests in JSON ([`Desk`]): what there is, why a number is what it is, why
//! an ability cannot be used, what caused a death. The pages in `pages` show it, whether the desk sits behind the web server
//! of [`serve`] or in the browser itself as wasm.
//!
//! Deliberately absent: rules of the game, and clocks. Whoever hosts the desk says how much time has passed.
#![forbid(unsafe_code)]

pub mod arena;
mod ask;
#[cfg(feature = "serve")]
pub mod attach;
mod desk;
mod disk;
mod glance;
mod library;
mod names;
mod observer;
mod profile;
#[cfg(feature = "serve")]
pub mod serve;
pub mod stage;
pub mod tape;
mod view;

pub use desk::{Boot, Desk};
pub use glance::{Glance, Someone};
pub use library::Library;
pub use names::Names;
pub use profile::{Clock, Profiler};

#[cfg(all(doctest, feature = "serve"))]
#[doc = include_str!("../../../book/src/attach.md")]
struct AttachPage;
