//! Queries: reads that do not change the sim.

mod ability;
mod effect;
mod explain;
mod play;
mod tag;
mod text;

pub use ability::{ActivationView, CastView, Castable, Reason, Timer};
pub use effect::{EffectState, EffectView, GrantView};
pub use explain::{ChannelShare, Explanation, ModifierLine, ModifierState};
pub use play::TaskView;
pub use text::FilledText;
