//! What must hold for any bytes. Each function takes one input and panics where a promise is broken.

mod expressions;
mod json;
mod packs;
mod yaml;

pub use expressions::expressions;
pub use json::json;
pub use packs::packs;
pub use yaml::yaml;

/// Told after each thing that a command or a game would do with the input, by its name. The limits are about one such
/// thing, not about a body that does many.
pub type Done<'d> = &'d mut dyn FnMut(&'static str);

/// What a target does with an input.
pub type Body = fn(&[u8], Done<'_>);

/// A target: its name, which is also its corpus's, and its body.
pub type Target = (&'static str, Body);

/// Every target there is.
pub const TARGETS: [Target; 4] = [("yaml", yaml), ("json", json), ("expressions", expressions), ("packs", packs)];
