//! Worked controllers: an actor with its sets, values, effects, abilities and tags, as a document.

use crate::Metadata;
use serde::{Deserialize, Serialize};

/// An actor reference.
///
/// ```
/// assert_eq!(ugas_doc::Actor::new("Hero_01").actor_id, "Hero_01");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Actor {
    /// Unique identifier.
    #[serde(rename = "ActorID", default)]
    pub actor_id: String,
    /// What kind of actor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_type: Option<String>,
}

impl Actor {
    /// An actor with this identifier.
    pub fn new(id: impl Into<String>) -> Actor {
        Actor { actor_id: id.into(), actor_type: None }
    }
}

/// A saved attribute value.
///
/// ```
/// let v = ugas_doc::AttributeValue { name: "Health".into(), base_value: Some(80.0), current_value: None };
/// assert_eq!(v.base_value, Some(80.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct AttributeValue {
    /// The attribute.
    pub name: String,
    /// Its base; authoritative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_value: Option<f64>,
    /// Its current value; recomputed on load, a difference is a diagnostic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_value: Option<f64>,
}

/// A registered set with values.
///
/// ```
/// assert_eq!(ugas_doc::SetValues::new("Vitals").name, "Vitals");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct SetValues {
    /// The set.
    pub name: String,
    /// Values that differ from the defaults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<AttributeValue>,
}

impl SetValues {
    /// A set with its default values.
    pub fn new(name: impl Into<String>) -> SetValues {
        SetValues { name: name.into(), attributes: Vec::new() }
    }

    /// Gives one attribute another base value.
    pub fn base(mut self, attribute: impl Into<String>, value: f64) -> SetValues {
        self.attributes.push(AttributeValue { name: attribute.into(), base_value: Some(value), current_value: None });
        self
    }
}

/// An ability the controller has.
///
/// ```
/// assert_eq!(ugas_doc::GrantedAbility::new("GA_Fire").level, 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct GrantedAbility {
    /// The ability.
    pub ability_class: String,
    /// Its level.
    #[serde(default = "one")]
    pub level: u32,
    /// Input binding.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "InputID")]
    pub input_id: Option<String>,
    /// Authored handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// Whether it was running when saved.
    #[serde(default, rename = "bIsActive")]
    pub is_active: bool,
}

impl GrantedAbility {
    /// The ability at level 1 without an input.
    pub fn new(ability: impl Into<String>) -> GrantedAbility {
        GrantedAbility { ability_class: ability.into(), level: 1, input_id: None, handle: None, is_active: false }
    }
}

/// An effect that is active when the controller is spawned.
///
/// ```
/// assert_eq!(ugas_doc::ActiveEffect::new("GE_Aura").stacks, 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ActiveEffect {
    /// Authored handle.
    pub handle: String,
    /// The effect.
    pub effect_class: String,
    /// Remaining seconds; −1 for infinite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// Stacks.
    #[serde(default = "one")]
    pub stacks: u32,
    /// When it was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<f64>,
    /// Level.
    #[serde(default = "one")]
    pub level: u32,
    /// Who caused it.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "InstigatorGC")]
    pub instigator_gc: Option<String>,
}

impl ActiveEffect {
    /// The effect at level 1 with one stack, and its name for a handle.
    pub fn new(effect: impl Into<String>) -> ActiveEffect {
        let effect_class = effect.into();
        ActiveEffect {
            handle: effect_class.clone(),
            effect_class,
            duration: None,
            stacks: 1,
            start_time: None,
            level: 1,
            instigator_gc: None,
        }
    }
}

/// How a controller is replicated.
///
/// ```
/// assert_eq!(ugas_doc::ControllerReplication::default(), ugas_doc::ControllerReplication::Mixed);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ControllerReplication {
    /// Cues and tags only.
    Minimal,
    /// Everything to the owner, minimal to others.
    #[default]
    Mixed,
    /// Everything to everyone.
    Full,
    /// Nothing.
    None,
}

/// A `gameplay_controller` document.
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
    /// Who owns it.
    pub owner_actor: Actor,
    /// What stands for it in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar_actor: Option<Actor>,
    /// Registered sets with values.
    pub attribute_sets: Vec<SetValues>,
    /// Granted abilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted_abilities: Vec<GrantedAbility>,
    /// Active effects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_effects: Vec<ActiveEffect>,
    /// Active input action sets; derived from tags at run time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_action_sets: Vec<String>,
    /// Owned tags; those that no effect explains are granted by an automatic effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owned_tags: Vec<String>,
    /// Replication.
    #[serde(default)]
    pub replication_mode: ControllerReplication,
    /// Whether it processes anything.
    #[serde(default = "yes", rename = "bIsActive")]
    pub is_active: bool,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Ability sets granted at spawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ability_sets: Vec<String>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 3]>,
    /// Its team tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
}

impl Controller {
    /// A controller without sets.
    pub fn new(owner: impl Into<String>) -> Controller {
        Controller {
            owner_actor: Actor::new(owner),
            avatar_actor: None,
            attribute_sets: Vec::new(),
            granted_abilities: Vec::new(),
            active_effects: Vec::new(),
            active_action_sets: Vec::new(),
            owned_tags: Vec::new(),
            replication_mode: ControllerReplication::Mixed,
            is_active: true,
            metadata: None,
            ability_sets: Vec::new(),
            position: None,
            team: None,
        }
    }

    /// Registers a set with default values.
    pub fn set(self, name: impl Into<String>) -> Controller {
        self.set_values(SetValues::new(name))
    }

    /// Registers a set with values.
    pub fn set_values(mut self, values: SetValues) -> Controller {
        self.attribute_sets.push(values);
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

    /// Grants an ability.
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
