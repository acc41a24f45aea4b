//! Plain types for the documents that designers write.
//!
//! The rules of a game are documents: attribute sets, tag registries, effects, abilities, controllers, curves and
//! others. The types of this crate have the fields and names of the specification, so that a value built in code equals
//! a value read from YAML. Reading files is the task of `ugas-data`; checking and compiling documents is the task of
//! `ugas-core`.
//!
//! The runtime reads every field, except fields that have one of two marks in the schemas. A field marked
//! `x-ugas-metadata` is data for other programs. A field marked `x-ugas-unsupported` is not supported yet: the rules
//! builder rejects it and reports the reason.
//!
//! ```
//! use ugas_doc::{Attribute, AttributeSet, Effect, Magnitude};
//!
//! let vitals = AttributeSet::new("Vitals")
//!     .with(Attribute::new("MaxHealth", 100.0))
//!     .with(Attribute::new("Health", 100.0).min(0.0).max("MaxHealth"));
//! let poison = Effect::lasting("GE_Poison", 10.0)
//!     .every(1.0)
//!     .add("Health", -5.0)
//!     .grants("State.Debuff.Poisoned");
//! assert_eq!(vitals.attributes.len(), 2);
//! assert_eq!(poison.modifiers[0].magnitude, Magnitude::value(-5.0));
//! ```

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod ability;
mod ability_build;
mod ability_set;
mod area;
mod attribute;
mod calculation;
mod capability;
mod combat;
mod controller;
mod curve;
mod effect;
mod input;
mod input_profile;
mod kind;
mod magnitude;
mod motion;
mod patch;
mod resource;
mod scene;
#[cfg(feature = "schema")]
mod schema;
mod side;
mod stacking;
mod stat;
mod tag;
mod timeline;
mod value;

pub use ability::{
    Ability, AbilityTags, AbilityTask, ActivationGroup, AsyncValidation, Cast, Charges, CommitPolicy, GlobalCooldown,
    GroupPolicy, NetExecution, OnTargetLost, TickData, Trigger,
};
pub use ability_set::{AbilitySet, SetAbility};
pub use area::{Affiliation, Area, AreaFilter, AreaShape};
pub use attribute::{
    Absorb, Aggregation, Attribute, AttributeSet, Bound, Category, Clamping, DerivedFrom, Metadata, OnBoundChange,
    OnDepleted, Quantize, ReplicationMode,
};
pub use calculation::{Binding, Calculation, CalculationResult, Capture, CaptureMoment, ContextTag, Formula, ResultOn};
pub use capability::{Capability, CapabilityMode, CapabilitySet, ControllerCapabilities, SetCapability};
pub use combat::{Combat, CombatKind, CombatRule, CombatStyle, Modify, ModifyOperation};
pub use controller::{
    ActiveEffect, Actor, AttributeValue, Controller, ControllerReplication, GrantedAbility, SetValues,
};
pub use curve::{Curve, CurvePoint, Interpolation};
pub use effect::{
    ConditionalEffects, DurationPolicy, Effect, Execution, ExecutionPolicy, GrantedAbilityEntry, ImmunityEntry,
    Modifier, OnOngoingFail, Operation, Period, PeriodInhibition,
};
pub use input::{
    ActionTags, ActivationTags, BindingTags, BufferChoice, BufferPreset, CompositeInputs, Device, DeviceInput,
    InputAction, InputActionSet, InputBinding, InputBuffer, InputMapping, InputModifier, InputSettings, InputValue,
    ModifierType, Opposing, Platform, TriggerBehavior,
};
pub use input_profile::{BindingChange, CompositeSlot, InputProfile};
#[cfg(feature = "schema")]
pub use kind::schema_of;
pub use kind::{Defines, Doc, Document, DocumentKind, Kind};
pub use magnitude::{Magnitude, MagnitudeSource, MagnitudeType};
pub use motion::{Directions, MotionFacing, MotionPattern};
pub use patch::{Patch, Patched};
pub use resource::{Resource, ResourceValues};
pub use scene::{Placement, Region, RegionFilter, RegionShape, Scene, SpawnPoint};
pub use side::Side;
pub use stacking::{OnExpire, OnStack, PeriodOnStack, StackBy, Stacking};
pub use stat::{STAT_PREFIX, ScaledValue, Scales, Stat, StatTable};
pub use tag::{TagEntry, TagRegistry};
pub use timeline::{AnswerTarget, Notify, SocketKey, Time, Timeline, TimelineAnswer, TimelineWindow};
pub use value::Value;

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The file and line of a document, for explanations and error messages.
///
/// ```
/// let at = ugas_doc::Origin::new("packs/rpg/sword.yaml", 8);
/// assert_eq!(at.to_string(), "packs/rpg/sword.yaml:8");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The path of the file, as the command line or the host passed it.
    pub file: Arc<str>,
    /// The line of the document's first key, counted from 1.
    pub line: u32,
    /// The line of each modifier of an effect; empty for documents of other kinds.
    pub modifier_lines: Arc<[u32]>,
    /// The fields that patches changed, in the order in which the patches were applied.
    pub patches: Vec<Patched>,
}

impl Origin {
    /// Creates an origin at a line of a file.
    pub fn new(file: impl Into<Arc<str>>, line: u32) -> Origin {
        Origin { file: file.into(), line, modifier_lines: Arc::default(), patches: Vec::new() }
    }

    /// Returns the line of modifier `index`, or the line of the document if the modifier's line is unknown.
    pub fn modifier_line(&self, index: usize) -> u32 {
        self.modifier_lines.get(index).copied().unwrap_or(self.line)
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
