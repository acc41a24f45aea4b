//! What must hold for any bytes. Each function takes one input and panics where a promise is broken.

mod expressions;
mod json;
mod packs;
mod yaml;

pub use expressions::expressions;
pub use json::json;
pub use packs::packs;
pub use yaml::yaml;

/// A target: its name, which is also its corpus's, and its body.
pub type Target = (&'static str, fn(&[u8]));

/// Every target there is.
pub const TARGETS: [Target; 4] = [("yaml", yaml), ("json", json), ("expressions", expressions), ("packs", packs)];
