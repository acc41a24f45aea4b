//! Controllers: actors with their attribute sets, abilities, effects and tags at spawn.

use crate::{ControllerCapabilities, Document, Metadata, ResourceValues};
use serde::{Deserialize, Serialize};

/// A reference to an actor.
///
/// ```
/// assert_eq!(ugas_doc::Actor::new("Hero_01").actor_id, "Hero_01");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Actor {
    /// The identifier, unique in the project.
    #[serde(rename = "ActorID", default)]
    pub actor_id: String,
    /// The type of actor, such as `Player`. Only the host reads the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "the host")))]
    pub actor_type: Option<String>,
}

impl Actor {
    /// Creates a reference to the actor with this identifier.
    pub fn new(id: impl Into<String>) -> Actor {
        Actor { actor_id: id.into(), actor_type: None }
    }
}

/// The value of one attribute at spawn.
///
/// ```
/// let v = ugas_doc::AttributeValue { name: "Health".into(), base_value: Some(80.0), current_value: None };
/// assert_eq!(v.base_value, Some(80.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct AttributeValue {
    /// The name of the attribute.
    pub name: String,
    /// The base value at spawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_value: Option<f64>,
    /// The expected current value. The sim recomputes the current value at spawn and reports a difference as a
    /// diagnostic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_value: Option<f64>,
}

/// An attribute set that is registered at spawn, with its base values.
///
/// ```
/// assert_eq!(ugas_doc::SetValues::new("Vitals").name, "Vitals");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct SetValues {
    /// The name of the attribute set.
    pub name: String,
    /// Values that differ from the defaults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<AttributeValue>,
}

impl SetValues {
    /// Creates an entry with the default values.
    pub fn new(name: impl Into<String>) -> SetValues {
        SetValues { name: name.into(), attributes: Vec::new() }
    }

    /// Sets the base value of an attribute.
    pub fn base(mut self, attribute: impl Into<String>, value: f64) -> SetValues {
        self.attributes.push(AttributeValue { name: attribute.into(), base_value: Some(value), current_value: None });
        self
    }
}

/// An ability that is granted at spawn.
///
/// ```
/// assert_eq!(ugas_doc::GrantedAbility::new("GA_Fire").level, 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct GrantedAbility {
    /// The name of the ability.
    pub ability_class: String,
    /// The level of the ability, 1 or higher.
    #[serde(default = "one")]
    pub level: u32,
    /// The input action that activates the ability.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "InputID")]
    pub input_id: Option<String>,
    /// A handle that other tools wrote. The runtime ignores this handle and creates its own handles for grants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "other tools")))]
    pub handle: Option<String>,
    /// Whether the ability was active when the document was saved. The runtime does not activate the ability at spawn.
    #[serde(default, rename = "bIsActive")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "other tools")))]
    pub is_active: bool,
}

impl GrantedAbility {
    /// Creates an entry at level 1 without an input.
    pub fn new(ability: impl Into<String>) -> GrantedAbility {
        GrantedAbility { ability_class: ability.into(), level: 1, input_id: None, handle: None, is_active: false }
    }
}

/// An effect that is active at spawn.
///
/// ```
/// assert_eq!(ugas_doc::ActiveEffect::new("GE_Aura").stacks, 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ActiveEffect {
    /// A handle that other tools wrote; optional. The runtime ignores this handle and creates its own effect keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "other tools")))]
    pub handle: Option<String>,
    /// The name of the effect.
    pub effect_class: String,
    /// The remaining duration in seconds. Without a value, or with −1, the effect has its full duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// The number of stacks, 1 or higher.
    #[serde(default = "one")]
    pub stacks: u32,
    /// The time at which the effect was applied, as written by other tools. The runtime ignores this time and uses
    /// `Duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "other tools")))]
    pub start_time: Option<f64>,
    /// The level of the effect, 1 or higher.
    #[serde(default = "one")]
    pub level: u32,
    /// The controller that caused the effect, as written by other tools. The runtime ignores this field: the spawned
    /// controller is the source of the effect.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "InstigatorGC")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "other tools")))]
    pub instigator_gc: Option<String>,
}

impl ActiveEffect {
    /// Creates an entry at level 1 with one stack.
    pub fn new(effect: impl Into<String>) -> ActiveEffect {
        ActiveEffect {
            handle: None,
            effect_class: effect.into(),
            duration: None,
            stacks: 1,
            start_time: None,
            level: 1,
            instigator_gc: None,
        }
    }
}

/// Which state of a controller is replicated, and to which clients.
///
/// ```
/// assert_eq!(ugas_doc::ControllerReplication::default(), ugas_doc::ControllerReplication::Mixed);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ControllerReplication {
    /// Every client receives only tags and cues.
    Minimal,
    /// The owning client receives attributes, effects, tags and cues. Other clients receive only tags and cues.
    #[default]
    Mixed,
    /// Every client receives attributes, effects, tags and cues.
    Full,
    /// No client receives anything.
    None,
}

/// A `gameplay_controller` document: an actor with its attribute sets, abilities, effects and tags at spawn.
///
/// ```
/// use ugas_doc::Controller;
/// let hero = Controller::new("Hero_01").set("Vitals").tag("State.Alive").effect("GE_Aura");
/// assert_eq!(hero.attribute_sets[0].name, "Vitals");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Controller {
    /// The actor that owns the controller. The `ActorID` of this actor is the name of the document.
    pub owner_actor: Actor,
    /// The actor that represents the controller in the world; the owner by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar_actor: Option<Actor>,
    /// The attribute sets of the controller; at least one.
    pub attribute_sets: Vec<SetValues>,
    /// The stat tables of the controller. They are registered before the attribute sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stats: Vec<String>,
    /// The resources of the controller, with values that differ from their documents. They are registered after the stat
    /// tables and before the attribute sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceValues>,
    /// Abilities that are granted at spawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted_abilities: Vec<GrantedAbility>,
    /// Effects that are active at spawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_effects: Vec<ActiveEffect>,
    /// The input action sets that are active at spawn. Only the host reads this list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "the host")))]
    pub active_action_sets: Vec<String>,
    /// The tags at spawn. The built-in effect `GE_Initial_Tags` grants every tag that no effect of `ActiveEffects`
    /// grants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owned_tags: Vec<String>,
    /// Which state is replicated, and to which clients.
    #[serde(default)]
    pub replication_mode: ControllerReplication,
    /// Whether the controller is active in the sim. An inactive controller activates no abilities, and its effects do
    /// not advance.
    #[serde(default = "yes", rename = "bIsActive")]
    pub is_active: bool,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Ability sets that are granted at spawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ability_sets: Vec<String>,
    /// Capability sets that are added at spawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<ControllerCapabilities>,
    /// The position at spawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 3]>,
    /// The team of the controller. Not supported yet; a value is a load error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-unsupported" = true)))]
    pub team: Option<String>,
}

impl Document for Controller {
    fn name(&self) -> &str {
        &self.owner_actor.actor_id
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }
}

impl Controller {
    /// Creates a controller without attribute sets.
    pub fn new(owner: impl Into<String>) -> Controller {
        Controller {
            owner_actor: Actor::new(owner),
            avatar_actor: None,
            attribute_sets: Vec::new(),
            stats: Vec::new(),
            resources: Vec::new(),
            granted_abilities: Vec::new(),
            active_effects: Vec::new(),
            active_action_sets: Vec::new(),
            owned_tags: Vec::new(),
            replication_mode: ControllerReplication::Mixed,
            is_active: true,
            metadata: None,
            ability_sets: Vec::new(),
            capabilities: None,
            position: None,
            team: None,
        }
    }

    /// Adds an attribute set with default values.
    pub fn set(self, name: impl Into<String>) -> Controller {
        self.set_values(SetValues::new(name))
    }

    /// Adds an attribute set with values.
    pub fn set_values(mut self, values: SetValues) -> Controller {
        self.attribute_sets.push(values);
        self
    }

    /// Adds a stat table.
    pub fn stats(mut self, table: impl Into<String>) -> Controller {
        self.stats.push(table.into());
        self
    }

    /// Adds a resource.
    pub fn resource(mut self, values: ResourceValues) -> Controller {
        self.resources.push(values);
        self
    }

    /// Adds an owned tag.
    pub fn tag(mut self, tag: impl Into<String>) -> Controller {
        self.owned_tags.push(tag.into());
        self
    }

    /// Adds an active effect.
    pub fn effect(mut self, effect: impl Into<String>) -> Controller {
        self.active_effects.push(ActiveEffect::new(effect));
        self
    }

    /// Adds a capability set.
    pub fn capability_set(mut self, set: impl Into<String>) -> Controller {
        self.capabilities.get_or_insert_default().sets.push(set.into());
        self
    }

    /// Adds a granted ability.
    pub fn ability(mut self, ability: impl Into<String>) -> Controller {
        self.granted_abilities.push(GrantedAbility::new(ability));
        self
    }
}

fn one() -> u32 {
    1
}
fn yes() -> bool {
    true
}
