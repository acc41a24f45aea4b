//! What designers write, as plain types.
//!
//! A game's rules are documents: attribute sets, tag registries, effects, abilities, controllers, curves. This crate
//! mirrors them field by field under the specification's names, so that a value built in code and a value read from
//! YAML are the same thing. It reads no file (that is `ugas-data`), checks no meaning (that is `ugas-core`'s rules
//! builder) and depends on nothing but `serde`.
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

/// The kinds of document this release reads, by the name that stands in `Kind:` or at the end of `$schema`.
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
    /// `gameplay_tag`: a registry of declared tags.
    TagRegistry,
    /// `gameplay_effect`: the only thing that changes attributes and tags.
    Effect,
    /// `gameplay_ability`: what an actor can do.
    Ability,
    /// `gameplay_controller`: a worked instance with sets, effects and tags.
    Controller,
    /// `curve`: a table of points.
    Curve,
    /// `ability_set`: abilities, effects and attribute sets granted as one.
    AbilitySet,
    /// `timeline`: what happens during a montage or an attack.
    Timeline,
    /// `calculation`: how a hit is worked out.
    Calculation,
    /// `input_action`: what a player may intend.
    InputAction,
    /// `input_action_set`: actions that are live together.
    InputActionSet,
    /// `input_mapping`: which inputs drive which actions.
    InputMapping,
    /// `input_modifier`: a step between a raw value and an action.
    InputModifier,
    /// `scene`: who stands where when a level begins.
    Scene,
    /// `patch`: changes of fields of another definition.
    Patch,
}

impl Kind {
    /// Every kind, in the order documents are listed for people.
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

    /// The name used in files.
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

    /// The kind a file name stands for, if it is one of ours.
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
    /// One attribute on its own; it becomes a set of the same name.
    Attribute(Box<Attribute>),
    /// A set of attributes.
    AttributeSet(AttributeSet),
    /// A tag registry.
    TagRegistry(TagRegistry),
    /// An effect.
    Effect(Box<Effect>),
    /// An ability.
    Ability(Box<Ability>),
    /// A worked controller.
    Controller(Box<Controller>),
    /// A curve.
    Curve(Curve),
    /// Abilities, effects and attribute sets granted as one.
    AbilitySet(AbilitySet),
    /// What happens during a montage or an attack.
    Timeline(Box<Timeline>),
    /// How a hit is worked out.
    Calculation(Box<Calculation>),
    /// An intent of players.
    InputAction(Box<InputAction>),
    /// Actions that are live together.
    InputActionSet(Box<InputActionSet>),
    /// Which inputs drive which actions.
    InputMapping(Box<InputMapping>),
    /// A step between a raw value and an action.
    InputModifier(Box<InputModifier>),
    /// Who stands where when a level begins.
    Scene(Box<Scene>),
    /// Changes of fields of another definition.
    Patch(Box<Patch>),
}

impl Doc {
    /// Which kind of document this is.
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

    /// The document's own name; a controller is named by its owner's `ActorID`, a mapping by the action
    /// set it belongs to; a tag registry and a patch have none.
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

/// Where a document stands in a file, so that explanations and errors can point at it.
///
/// ```
/// let at = ugas_doc::Origin::new("packs/rpg/sword.yaml", 8);
/// assert_eq!(at.to_string(), "packs/rpg/sword.yaml:8");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The file as it was named on the command line or by the host.
    pub file: Arc<str>,
    /// The line of the document's first key, counted from 1.
    pub line: u32,
    /// The line of each modifier of an effect (empty for other kinds).
    pub modifier_lines: Arc<[u32]>,
    /// The fields that patches changed, in the order they were applied.
    pub patches: Vec<Patched>,
}

impl Origin {
    /// A place in a file.
    pub fn new(file: impl Into<Arc<str>>, line: u32) -> Origin {
        Origin { file: file.into(), line, modifier_lines: Arc::default(), patches: Vec::new() }
    }

    /// The line of modifier `index`, or of the document where that is not known.
    pub fn modifier_line(&self, index: usize) -> u32 {
        self.modifier_lines.get(index).copied().unwrap_or(self.line)
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
