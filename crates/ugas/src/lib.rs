//! The crate that a game depends on. The crate re-exports the runtime, the document types and file loading, and adds
//! helpers for hosts. The book's glossary (`book/src/glossary.md`) defines the terms.
//!
//! - [`prelude`]: the names most programs need;
//! - [`simple`]: health, damage, buffs and cooldowns in code without any file, e.g. for a game jam;
//! - [`Observers`]: callbacks per attribute, tag, effect or ability, called when the host dispatches facts;
//! - [`CueManager`]: particles, sounds and icons, registered by tag, with read-only access to the sim;
//! - [`input`]: device inputs to actions, remapping and profiles of players;
//! - [`ids!`](crate::ids): a macro that resolves names to ids once, and reports all unknown names in one error.
//!
//! ```
//! use ugas::prelude::*;
//!
//! let rules = Rules::builder()
//!     .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0).min(0.0)))
//!     .add(Effect::instant("GE_Hit").add("Health", -30.0))
//!     .build()?;
//! let mut sim = Sim::new(rules.clone(), SimConfig::default());
//! let orc = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
//! sim.apply(&Spec::new(rules.effect("GE_Hit").unwrap(), orc))?;
//! assert_eq!(sim.get(orc, rules.attribute("Health").unwrap())?, 70.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod batch;
mod cue;
mod ids;
mod load;
mod observe;
pub mod simple;
mod spec;

pub use batch::{BatchEntry, FactBatch, Occurrence};
pub use cue::{BurstCue, CueContext, CueFigures, CueManager, LoopCue};
pub use ids::{FromRules, MissingNames};
pub use load::{LoadFailure, load_folder, load_str};
pub use observe::{Notice, ObserverId, Observers, StatError, StatNotice};
pub use spec::SpecHandle;

pub use ugas_core as core;
pub use ugas_data as data;
pub use ugas_doc as doc;
pub use ugas_input as input;
#[cfg(feature = "net")]
pub use ugas_net as net;

/// The names most programs need.
pub mod prelude {
    pub use crate::{Observers, SpecHandle, ids, load_folder, load_str};
    pub use ugas_core::{
        AbilityGrant, AbilityId, ActorId, Anchor, AttributeId, ControllerId, EffectId, EffectKey, Fact, FactKind,
        Facts, Host, InputId, NoHost, Op, Outcome, Preview, Rate, Read, Reason, Refusal, Rules, Sim, SimConfig,
        SimTime, SpawnSpec, Spec, TagId, TagQuery, Target, Which,
    };
    pub use ugas_doc::{
        Ability, Attribute, AttributeSet, Controller, Curve, Doc, Effect, Magnitude, Modifier, Operation, TagRegistry,
    };
    #[cfg(feature = "net")]
    pub use ugas_net::{
        client::{Client, ClientConfig, NetFacts},
        message::Request,
        server::{Secret, Server, ServerConfig},
        types::PeerId,
    };
}

// Compiles and runs the Rust examples of the README and the book as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/determinism.md")]
struct Determinism;
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/rust.md")]
struct InRust;
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/reload.md")]
struct HotReload;
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/tutorial.md")]
struct Tutorial;
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/capabilities.md")]
struct Capabilities;
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/cookbook.md")]
struct Cookbook;
