//! The documents that designers write, as plain types.
//!
//! The rules of a game are documents: attribute sets, tag registries, effects, abilities, controllers, curves. The types
//! of this crate have the fields and names of the specification, so that a value built in code equals a value read from
//! YAML. Reading files is the task of `ugas-data`; checking and compiling documents is the task of `ugas-core`.
//!
//! A field that the documents may have does something, or it is declared as data for other readers
//! (`x-ugas-metadata` in the schemas), or the rules builder rejects it with the reason (`x-ugas-unsupported`).
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

mod ability;
mod ability_build;
mod ability_set;
mod area;
mod attribute;
mod calculation;
mod combat;
mod controller;
mod curve;
mod effect;
mod input;
mod magnitude;
mod patch;
mod scene;
#[cfg(feature = "schema")]
mod schema;
mod stacking;
mod tag;
mod timeline;
mod value;

pub use ability::{
    Ability, AbilityTags, AbilityTask, ActivationGroup, AsyncValidation, Cast, Charges, CommitPolicy, GlobalCooldown,
    GroupPolicy, NetExecution, OnTargetLost, Trigger,
};
pub use ability_set::{AbilitySet, SetAbility};
pub use area::{Affiliation, Area, AreaFilter, AreaShape};
pub use attribute::{
    Absorb, Aggregation, Attribute, AttributeSet, Bound, Category, Clamping, DerivedFrom, Metadata, OnBoundChange,
    OnDepleted, Quantize, ReplicationMode,
};
pub use calculation::{Binding, Calculation, CalculationResult, Capture, CaptureMoment, ContextTag, Formula, ResultOn};
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
    ActionTags, ActivationTags, BindingTags, CompositeInputs, Device, DeviceInput, InputAction, InputActionSet,
    InputBinding, InputBuffer, InputMapping, InputModifier, InputValue, ModifierType, Platform, TriggerBehavior,
};
pub use magnitude::{Magnitude, MagnitudeSource, MagnitudeType};
pub use patch::{Patch, Patched};
pub use scene::{Placement, Region, RegionFilter, RegionShape, Scene, SpawnPoint};
#[cfg(feature = "schema")]
pub use schema::schema_of;
pub use stacking::{OnExpire, OnStack, PeriodOnStack, StackBy, Stacking};
pub use tag::{TagEntry, TagRegistry};
pub use timeline::{AnswerTarget, Notify, SocketKey, Time, Timeline, TimelineAnswer, TimelineWindow};
pub use value::Value;

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The kinds of document, by the name in `Kind:` or at the end of `$schema`.
///
/// ```
/// assert_eq!(ugas_doc::Kind::from_name("gameplay_effect"), Some(ugas_doc::Kind::Effect));
/// assert_eq!(ugas_doc::Kind::Effect.name(), "gameplay_effect");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `attribute`: one attribute on its own.
    Attribute,
    /// `attribute_set`: attributes registered together.
    AttributeSet,
    /// `gameplay_tag`: a registry of tags.
    TagRegistry,
    /// `gameplay_effect`: a change of attributes and tags.
    Effect,
    /// `gameplay_ability`: an action of an actor.
    Ability,
    /// `gameplay_controller`: an actor with its sets, abilities, effects and tags.
    Controller,
    /// `curve`: a table of points.
    Curve,
    /// `ability_set`: abilities, effects and attribute sets that are granted together.
    AbilitySet,
    /// `timeline`: the events of a montage.
    Timeline,
    /// `calculation`: an execution or a magnitude, as expressions.
    Calculation,
    /// `input_action`: something a player can do.
    InputAction,
    /// `input_action_set`: actions that are active together.
    InputActionSet,
    /// `input_mapping`: the bindings of actions to device inputs.
    InputMapping,
    /// `input_modifier`: a step from a raw device value to the value of an action.
    InputModifier,
    /// `scene`: the controllers, regions and spawn points of a level.
    Scene,
    /// `patch`: changes of single fields of another definition.
    Patch,
}

impl Kind {
    /// Every kind, in the order in which lists show them.
    pub const ALL: [Kind; 16] = [
        Kind::Attribute,
        Kind::AttributeSet,
        Kind::TagRegistry,
        Kind::Effect,
        Kind::Ability,
        Kind::Controller,
        Kind::Curve,
        Kind::AbilitySet,
        Kind::Timeline,
        Kind::Calculation,
        Kind::InputAction,
        Kind::InputActionSet,
        Kind::InputMapping,
        Kind::InputModifier,
        Kind::Scene,
        Kind::Patch,
    ];

    /// Returns the name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Attribute => "attribute",
            Kind::AttributeSet => "attribute_set",
            Kind::TagRegistry => "gameplay_tag",
            Kind::Effect => "gameplay_effect",
            Kind::Ability => "gameplay_ability",
            Kind::Controller => "gameplay_controller",
            Kind::Curve => "curve",
            Kind::AbilitySet => "ability_set",
            Kind::Timeline => "timeline",
            Kind::Calculation => "calculation",
            Kind::InputAction => "input_action",
            Kind::InputActionSet => "input_action_set",
            Kind::InputMapping => "input_mapping",
            Kind::InputModifier => "input_modifier",
            Kind::Scene => "scene",
            Kind::Patch => "patch",
        }
    }

    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| k.name() == name)
    }
}

/// One authored document of any kind.
///
/// ```
/// use ugas_doc::{Doc, Effect, Kind};
/// let doc = Doc::from(Effect::instant("GE_Hit").add("Health", -10.0));
/// assert_eq!((doc.kind(), doc.name()), (Kind::Effect, "GE_Hit"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Doc {
    /// A single attribute; it becomes a set of the same name.
    Attribute(Box<Attribute>),
    /// A set of attributes.
    AttributeSet(AttributeSet),
    /// A tag registry.
    TagRegistry(TagRegistry),
    /// An effect.
    Effect(Box<Effect>),
    /// An ability.
    Ability(Box<Ability>),
    /// A controller.
    Controller(Box<Controller>),
    /// A curve.
    Curve(Curve),
    /// An ability set.
    AbilitySet(AbilitySet),
    /// A timeline.
    Timeline(Box<Timeline>),
    /// A calculation.
    Calculation(Box<Calculation>),
    /// An input action.
    InputAction(Box<InputAction>),
    /// An input action set.
    InputActionSet(Box<InputActionSet>),
    /// An input mapping.
    InputMapping(Box<InputMapping>),
    /// An input modifier.
    InputModifier(Box<InputModifier>),
    /// A scene.
    Scene(Box<Scene>),
    /// A patch.
    Patch(Box<Patch>),
}

impl Doc {
    /// Returns the kind of the document.
    pub fn kind(&self) -> Kind {
        match self {
            Doc::Attribute(_) => Kind::Attribute,
            Doc::AttributeSet(_) => Kind::AttributeSet,
            Doc::TagRegistry(_) => Kind::TagRegistry,
            Doc::Effect(_) => Kind::Effect,
            Doc::Ability(_) => Kind::Ability,
            Doc::Controller(_) => Kind::Controller,
            Doc::Curve(_) => Kind::Curve,
            Doc::AbilitySet(_) => Kind::AbilitySet,
            Doc::Timeline(_) => Kind::Timeline,
            Doc::Calculation(_) => Kind::Calculation,
            Doc::InputAction(_) => Kind::InputAction,
            Doc::InputActionSet(_) => Kind::InputActionSet,
            Doc::InputMapping(_) => Kind::InputMapping,
            Doc::InputModifier(_) => Kind::InputModifier,
            Doc::Scene(_) => Kind::Scene,
            Doc::Patch(_) => Kind::Patch,
        }
    }

    /// Returns the name of the document. A controller has the `ActorID` of its owner, a mapping the name of its action
    /// set; a tag registry and a patch have no name.
    pub fn name(&self) -> &str {
        match self {
            Doc::Attribute(d) => &d.name,
            Doc::AttributeSet(d) => &d.name,
            Doc::TagRegistry(_) | Doc::Patch(_) => "",
            Doc::Effect(d) => &d.name,
            Doc::Ability(d) => &d.name,
            Doc::Controller(d) => &d.owner_actor.actor_id,
            Doc::Curve(d) => &d.name,
            Doc::AbilitySet(d) => &d.name,
            Doc::Timeline(d) => &d.name,
            Doc::Calculation(d) => &d.name,
            Doc::InputAction(d) => &d.name,
            Doc::InputActionSet(d) => &d.name,
            Doc::InputMapping(d) => &d.action_set,
            Doc::InputModifier(d) => &d.name,
            Doc::Scene(d) => &d.name,
        }
    }
}

macro_rules! into_doc {
    ($($ty:ty => $variant:ident $(, $wrap:path)?;)*) => {$(
        impl From<$ty> for Doc {
            fn from(doc: $ty) -> Doc { Doc::$variant($($wrap)?(doc)) }
        }
    )*};
}
into_doc! {
    Attribute => Attribute, Box::new;
    Effect => Effect, Box::new;
    Ability => Ability, Box::new;
    Controller => Controller, Box::new;
    Timeline => Timeline, Box::new;
    Calculation => Calculation, Box::new;
    InputAction => InputAction, Box::new;
    InputActionSet => InputActionSet, Box::new;
    InputMapping => InputMapping, Box::new;
    InputModifier => InputModifier, Box::new;
    Scene => Scene, Box::new;
    Patch => Patch, Box::new;
}
impl From<AttributeSet> for Doc {
    fn from(doc: AttributeSet) -> Doc {
        Doc::AttributeSet(doc)
    }
}
impl From<TagRegistry> for Doc {
    fn from(doc: TagRegistry) -> Doc {
        Doc::TagRegistry(doc)
    }
}
impl From<Curve> for Doc {
    fn from(doc: Curve) -> Doc {
        Doc::Curve(doc)
    }
}

impl From<AbilitySet> for Doc {
    fn from(doc: AbilitySet) -> Doc {
        Doc::AbilitySet(doc)
    }
}

/// The place of a document in a file, for explanations and errors.
///
/// ```
/// let at = ugas_doc::Origin::new("packs/rpg/sword.yaml", 8);
/// assert_eq!(at.to_string(), "packs/rpg/sword.yaml:8");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The file, as named on the command line or by the host.
    pub file: Arc<str>,
    /// The line of the document's first key, counted from 1.
    pub line: u32,
    /// The line of each modifier of an effect (empty for other kinds).
    pub modifier_lines: Arc<[u32]>,
    /// The fields that patches changed, in the order they were applied.
    pub patches: Vec<Patched>,
}

impl Origin {
    /// Creates an origin at a line of a file.
    pub fn new(file: impl Into<Arc<str>>, line: u32) -> Origin {
        Origin { file: file.into(), line, modifier_lines: Arc::default(), patches: Vec::new() }
    }

    /// Returns the line of modifier `index`, or the line of the document if it is unknown.
    pub fn modifier_line(&self, index: usize) -> u32 {
        self.modifier_lines.get(index).copied().unwrap_or(self.line)
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
