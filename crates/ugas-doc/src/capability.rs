//! Capabilities: small pieces of behavior that run in a fixed order, and the sets in which they are added to a
//! controller.

use crate::{Document, Metadata, ReplicationMode, Side};
use serde::{Deserialize, Serialize};

/// A `capability` document: behavior that needs no code. The capability is active while its conditions hold. While it is
/// active, it keeps its effects applied and its tags blocked.
///
/// ```
/// use ugas_doc::Capability;
/// let regen = Capability::new("Regen").query("!State.Combat").when("Stamina < 30").until("Stamina > 60").effect("GE_Regen");
/// assert_eq!(regen.effects, ["GE_Regen"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct Capability {
    /// The name, unique in the project.
    pub name: String,
    /// A query on the tags of the owner. The capability activates only while the query holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// A condition on attributes and tags of the owner. The capability activates only while the condition holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// A condition that ends the capability. Without this field, the capability ends as soon as `Query` or `When` does
    /// not hold. With this field, it ends only when this condition holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Infinite effects that are applied to the owner while the capability is active.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// Instant effects that are applied to the owner when the capability is activated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_activated: Vec<String>,
    /// Instant effects that are applied to the owner when the capability is deactivated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_deactivated: Vec<String>,
    /// Instant effects that are applied to the owner at each evaluation while the capability is active.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_tick: Vec<String>,
    /// Capabilities of the owner with one of these tags, or a descendant of one, are blocked while this capability is
    /// active.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub block: Vec<String>,
    /// Display data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Document for Capability {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    fn summary(&self) -> Option<String> {
        let conditions: Vec<&str> = [&self.query, &self.when].into_iter().flatten().map(String::as_str).collect();
        let conditions =
            if conditions.is_empty() { "always".to_owned() } else { format!("while {}", conditions.join(" and ")) };
        let until = self.until.as_ref().map(|until| format!(", until {until}")).unwrap_or_default();
        Some(format!("active {conditions}{until}"))
    }
}

impl Capability {
    /// Creates a capability that is always active and does nothing.
    pub fn new(name: impl Into<String>) -> Capability {
        Capability { name: name.into(), ..Capability::default() }
    }

    /// Sets the tag query.
    pub fn query(mut self, query: impl Into<String>) -> Capability {
        self.query = Some(query.into());
        self
    }

    /// Sets the condition for activation.
    pub fn when(mut self, when: impl Into<String>) -> Capability {
        self.when = Some(when.into());
        self
    }

    /// Sets the condition for deactivation.
    pub fn until(mut self, until: impl Into<String>) -> Capability {
        self.until = Some(until.into());
        self
    }

    /// Adds an effect that is applied while the capability is active.
    pub fn effect(mut self, effect: impl Into<String>) -> Capability {
        self.effects.push(effect.into());
        self
    }

    /// Adds an instant effect that is applied on activation.
    pub fn on_activated(mut self, effect: impl Into<String>) -> Capability {
        self.on_activated.push(effect.into());
        self
    }

    /// Adds an instant effect that is applied on deactivation.
    pub fn on_deactivated(mut self, effect: impl Into<String>) -> Capability {
        self.on_deactivated.push(effect.into());
        self
    }

    /// Adds an instant effect that is applied at each evaluation while the capability is active.
    pub fn on_tick(mut self, effect: impl Into<String>) -> Capability {
        self.on_tick.push(effect.into());
        self
    }

    /// Adds a tag that is blocked while the capability is active.
    pub fn blocks(mut self, tag: impl Into<String>) -> Capability {
        self.block.push(tag.into());
        self
    }
}

/// A capability of a set.
///
/// ```
/// use ugas_doc::{SetCapability, Side};
/// let fly = SetCapability::new("FlyMove").side(Side::LocalControlledOnly).tag("Capability.Move");
/// assert!(fly.can_ever_tick && fly.enabled);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct SetCapability {
    /// The name of a `capability` document, or of a capability that the host implements in code.
    pub class: String,
    /// The machines that run the capability.
    #[serde(default)]
    pub side: Side,
    /// The tags by which the capability can be blocked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether the capability is evaluated after its setup. A capability that never ticks keeps the state that it has
    /// after its setup.
    #[serde(default = "yes")]
    pub can_ever_tick: bool,
    /// The time between two evaluations in seconds, on the clock of the owner; 0 means every frame.
    #[serde(default)]
    pub tick_interval: f64,
    /// Whether the capability is evaluated from the start. A disabled capability is not evaluated until it is enabled.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// A query on the tags of the owner. The capability is blocked while the query holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
}

impl SetCapability {
    /// Creates an entry that runs on every machine and is evaluated in each frame.
    pub fn new(class: impl Into<String>) -> SetCapability {
        SetCapability {
            class: class.into(),
            side: Side::Always,
            tags: Vec::new(),
            can_ever_tick: true,
            tick_interval: 0.0,
            enabled: true,
            blocked_by: None,
        }
    }

    /// Sets the machines that run the capability.
    pub fn side(mut self, side: Side) -> SetCapability {
        self.side = side;
        self
    }

    /// Adds a tag.
    pub fn tag(mut self, tag: impl Into<String>) -> SetCapability {
        self.tags.push(tag.into());
        self
    }

    /// Sets the time between two evaluations in seconds.
    pub fn interval(mut self, seconds: f64) -> SetCapability {
        self.tick_interval = seconds;
        self
    }

    /// Makes the capability keep the state that it has after its setup.
    pub fn never_ticks(mut self) -> SetCapability {
        self.can_ever_tick = false;
        self
    }

    /// Makes the capability start disabled.
    pub fn disabled(mut self) -> SetCapability {
        self.enabled = false;
        self
    }

    /// Sets the query that blocks the capability.
    pub fn blocked_by(mut self, query: impl Into<String>) -> SetCapability {
        self.blocked_by = Some(query.into());
        self
    }
}

/// A `capability_set` document: capabilities in the order in which they run, and the attribute sets through which they
/// share values. A set is added to a controller and removed from it as a whole.
///
/// ```
/// use ugas_doc::{CapabilitySet, SetCapability};
/// let robot = CapabilitySet::new("CS_Robot").data("RobotData").capability(SetCapability::new("Regen"));
/// assert_eq!(robot.capabilities[0].class, "Regen");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct CapabilitySet {
    /// The name, unique among capability sets and ability sets.
    pub name: String,
    /// Further capability sets that are added with this set, before its own capabilities and in this order. Sets may be
    /// nested eight levels deep.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<String>,
    /// Attribute sets that are registered with the set. If several sets list the same attribute set, it stays
    /// registered until the last of them is removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data_components: Vec<String>,
    /// Which clients run capabilities of the set: those that see the actor, the owning client only, or none.
    pub replication_mode: ReplicationMode,
    /// The capabilities, in the order in which they run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<SetCapability>,
    /// Display data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Document for CapabilitySet {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    fn summary(&self) -> Option<String> {
        let classes = self.capabilities.iter().map(|c| c.class.as_str());
        let all: Vec<&str> = self.sets.iter().map(String::as_str).chain(classes).collect();
        Some(format!("adds {}", all.join(", ")))
    }
}

impl CapabilitySet {
    /// Creates an empty set.
    pub fn new(name: impl Into<String>) -> CapabilitySet {
        CapabilitySet { name: name.into(), ..CapabilitySet::default() }
    }

    /// Adds a capability set that is added with this set.
    pub fn set(mut self, set: impl Into<String>) -> CapabilitySet {
        self.sets.push(set.into());
        self
    }

    /// Adds an attribute set.
    pub fn data(mut self, set: impl Into<String>) -> CapabilitySet {
        self.data_components.push(set.into());
        self
    }

    /// Adds a capability.
    pub fn capability(mut self, capability: SetCapability) -> CapabilitySet {
        self.capabilities.push(capability);
        self
    }
}

/// Where the capability sets of a controller are kept.
///
/// ```
/// assert_eq!(ugas_doc::CapabilityMode::default(), ugas_doc::CapabilityMode::Authority);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CapabilityMode {
    /// The authoritative sim adds and removes the sets and replicates them.
    #[default]
    Authority,
    /// Each machine adds and removes its own sets; nothing is replicated. A game without a network treats the sets as
    /// `Authority` does.
    Local,
}

/// The capability sets of a controller at spawn.
///
/// ```
/// assert!(ugas_doc::ControllerCapabilities::default().sets.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct ControllerCapabilities {
    /// Where the sets are kept.
    pub mode: CapabilityMode,
    /// Capability sets that are added at spawn, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<String>,
}

fn yes() -> bool {
    true
}
