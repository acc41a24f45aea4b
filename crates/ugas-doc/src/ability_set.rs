//! Ability sets: abilities, effects and attribute sets that are granted and revoked together.

use crate::{Document, Metadata, SetCapability};
use serde::{Deserialize, Serialize};

/// An ability of an ability set.
///
/// ```
/// assert_eq!(ugas_doc::SetAbility::new("GA_FlameStrike").level, 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct SetAbility {
    /// The name of the ability.
    pub ability: String,
    /// The level, 1 or higher.
    #[serde(default = "one")]
    pub level: u32,
    /// The input action that activates the ability.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "InputID")]
    pub input_id: Option<String>,
}

impl SetAbility {
    /// Creates an entry at level 1 without an input.
    pub fn new(ability: impl Into<String>) -> SetAbility {
        SetAbility { ability: ability.into(), level: 1, input_id: None }
    }

    /// Sets the level.
    pub fn level(mut self, level: u32) -> SetAbility {
        self.level = level;
        self
    }

    /// Sets the input action.
    pub fn input(mut self, input: impl Into<String>) -> SetAbility {
        self.input_id = Some(input.into());
        self
    }
}

/// An `ability_set` document: abilities, effects and attribute sets that are granted and revoked together, for example
/// with a weapon or a class.
///
/// ```
/// use ugas_doc::{AbilitySet, SetAbility};
/// let sword = AbilitySet::new("AS_FireSword")
///     .effect("GE_Weapon_FireSword")
///     .ability(SetAbility::new("GA_FlameStrike").input("Weapon"));
/// assert_eq!(sword.abilities[0].input_id.as_deref(), Some("Weapon"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct AbilitySet {
    /// The name, unique in the project.
    pub name: String,
    /// Attribute sets that are registered before the effects of this ability set are applied and its abilities are
    /// granted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attribute_sets: Vec<String>,
    /// Effects that are applied when the ability set is granted and removed when it is revoked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// Abilities that are granted with the set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub abilities: Vec<SetAbility>,
    /// Capabilities that are added with the set, in the order in which they run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<SetCapability>,
    /// Display data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Document for AbilitySet {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    fn summary(&self) -> Option<String> {
        let abilities = self.abilities.iter().map(|a| a.ability.as_str());
        let all: Vec<&str> = self.effects.iter().map(String::as_str).chain(abilities).collect();
        Some(format!("grants {}", all.join(", ")))
    }
}

impl AbilitySet {
    /// Creates an empty set.
    pub fn new(name: impl Into<String>) -> AbilitySet {
        AbilitySet { name: name.into(), ..AbilitySet::default() }
    }

    /// Adds an attribute set.
    pub fn attributes(mut self, set: impl Into<String>) -> AbilitySet {
        self.attribute_sets.push(set.into());
        self
    }

    /// Adds an effect.
    pub fn effect(mut self, effect: impl Into<String>) -> AbilitySet {
        self.effects.push(effect.into());
        self
    }

    /// Adds an ability.
    pub fn ability(mut self, ability: SetAbility) -> AbilitySet {
        self.abilities.push(ability);
        self
    }

    /// Adds a capability.
    pub fn capability(mut self, capability: SetCapability) -> AbilitySet {
        self.capabilities.push(capability);
        self
    }
}

fn one() -> u32 {
    1
}
