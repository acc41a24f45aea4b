//! Queries: reads that do not change the sim.

mod ability;
mod capability;
mod capability_reason;
mod effect;
mod explain;
mod input;
mod play;
mod tag;
mod text;

pub use ability::{ActivationView, CastView, Castable, Reason, Timer};
pub use capability::{CapabilityCounts, CapabilityState, CapabilityView};
pub use capability_reason::{CapabilityReason, ConditionReads};
pub use effect::{EffectState, EffectView, GrantView};
pub use explain::{ChannelShare, Explanation, ModifierLine, ModifierState};
pub use input::ActionView;
pub use play::TaskView;
pub use text::FilledText;
