//! The invariants for arbitrary bytes. Each function takes one input and panics if an invariant is broken.

mod expressions;
mod json;
mod packs;
mod yaml;

pub use expressions::expressions;
pub use json::json;
pub use packs::packs;
pub use yaml::yaml;

/// A callback that receives the name of each finished step. A step is one action of a command or a game with the input.
/// The limits apply to each step, not to the whole body.
pub type Done<'d> = &'d mut dyn FnMut(&'static str);

/// The body of a target.
pub type Body = fn(&[u8], Done<'_>);

/// A target: its name, which is also the name of its corpus, and its body.
pub type Target = (&'static str, Body);

/// All targets.
pub const TARGETS: [Target; 4] = [("yaml", yaml), ("json", json), ("expressions", expressions), ("packs", packs)];
