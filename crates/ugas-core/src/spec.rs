//! The parameters of two ops: [`Spec`] describes an effect to apply, and [`SpawnSpec`] describes a controller to spawn.

use crate::{AbilityId, AbilitySetId, ActorId, ControllerId, EffectId, KeyId, SetId, SimTime, TagId, TemplateId};
use serde::{Deserialize, Serialize};

/// The host's data about a hit, such as the result of a line trace.
///
/// ```
/// let hit = ugas_core::Hit { distance: Some(20.0), ..Default::default() };
/// assert!(hit.tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The impact position.
    pub position: Option<[f64; 3]>,
    /// The distance from the shooter.
    pub distance: Option<f64>,
    /// The tags of the object or body part that was hit, e.g. `Hitzone.Head`.
    pub tags: Vec<TagId>,
}

/// The rarely used fields of a [`Spec`].
///
/// ```
/// assert!(ugas_core::SpecExtra::default().duration.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpecExtra {
    /// Set-by-caller values, sorted by key.
    pub set_by_caller: Vec<(KeyId, f64)>,
    /// The duration that replaces the definition's duration.
    pub duration: Option<SimTime>,
    /// The period that replaces the definition's period.
    pub period: Option<SimTime>,
    /// The position where the effect originated, e.g. the center of an explosion.
    pub origin: Option<[f64; 3]>,
    /// The hit that led to the application.
    pub hit: Option<Hit>,
    /// The actor that caused the application, such as a projectile or a trap. The default is the source's avatar or
    /// owner.
    pub causer: Option<ActorId>,
    /// The host's id of an object such as an item, or 0.
    pub object: u64,
}

impl SpecExtra {
    /// Returns whether no field other than `duration` and `period` is set.
    pub fn is_only_time(&self) -> bool {
        self.set_by_caller.is_empty()
            && self.origin.is_none()
            && self.hit.is_none()
            && self.causer.is_none()
            && self.object == 0
    }
}

/// The parameters of an application: the effect, the target, the level, the context and overrides. Many specs can refer
/// to one effect definition.
///
/// ```
/// use ugas_core::{ControllerId, EffectId, KeyId, Spec};
/// let spec = Spec::new(EffectId(0), ControllerId(1)).from(ControllerId(2)).level(3).set(KeyId(0), -30.0);
/// assert_eq!(spec.value(KeyId(0)), Some(-30.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The effect definition.
    pub effect: EffectId,
    /// The target.
    pub target: ControllerId,
    /// The controller that applies the effect, or [`ControllerId::NONE`] if the world applies it.
    pub source: ControllerId,
    /// The level, at least 1.
    pub level: u32,
    /// The number of stacks, at least 1.
    pub stacks: u32,
    /// The ability that applies the effect, or [`AbilityId::NONE`].
    pub ability: AbilityId,
    /// The rarely used fields.
    pub extra: Option<Box<SpecExtra>>,
}

impl Spec {
    /// Creates a spec at level 1 with one stack and no source.
    #[inline]
    pub fn new(effect: EffectId, target: ControllerId) -> Spec {
        Spec { effect, target, source: ControllerId::NONE, level: 1, stacks: 1, ability: AbilityId::NONE, extra: None }
    }

    /// Sets the source.
    #[inline]
    pub fn from(mut self, source: ControllerId) -> Spec {
        self.source = source;
        self
    }

    /// Sets the level.
    pub fn level(mut self, level: u32) -> Spec {
        self.level = level;
        self
    }

    /// Sets the number of stacks.
    pub fn stacks(mut self, stacks: u32) -> Spec {
        self.stacks = stacks;
        self
    }

    /// Sets the ability that applies the effect.
    pub fn ability(mut self, ability: AbilityId) -> Spec {
        self.ability = ability;
        self
    }

    /// Sets a set-by-caller value.
    pub fn set(mut self, key: KeyId, value: f64) -> Spec {
        self.put(key, value);
        self
    }

    /// Sets a set-by-caller value in place.
    pub fn put(&mut self, key: KeyId, value: f64) {
        let list = &mut self.extra().set_by_caller;
        match list.binary_search_by_key(&key, |&(k, _)| k) {
            Ok(i) => list[i].1 = value,
            Err(i) => list.insert(i, (key, value)),
        }
    }

    /// Overrides the definition's duration. The argument is a number of seconds or an exact [`SimTime`].
    pub fn lasting(mut self, duration: impl Into<SimTime>) -> Spec {
        self.extra().duration = Some(duration.into());
        self
    }

    /// Overrides the definition's period. The argument is a number of seconds or an exact [`SimTime`].
    pub fn every(mut self, period: impl Into<SimTime>) -> Spec {
        self.extra().period = Some(period.into());
        self
    }

    /// Sets the hit that led to the application.
    pub fn hit(mut self, hit: Hit) -> Spec {
        self.extra().hit = Some(hit);
        self
    }

    /// Sets the position where the effect originated.
    pub fn origin(mut self, origin: [f64; 3]) -> Spec {
        self.extra().origin = Some(origin);
        self
    }

    /// Returns the rarely used fields. The first call allocates them.
    pub fn extra(&mut self) -> &mut SpecExtra {
        self.extra.get_or_insert_default()
    }

    /// Returns a set-by-caller value, or `None` if it is not set.
    pub fn value(&self, key: KeyId) -> Option<f64> {
        let list = &self.extra.as_ref()?.set_by_caller;
        list.binary_search_by_key(&key, |&(k, _)| k).ok().map(|i| list[i].1)
    }
}

/// The parameters of a spawn: what the new controller consists of.
///
/// ```
/// use ugas_core::{SetId, SpawnSpec, TagId};
/// let hero = SpawnSpec::sets([SetId(0)]).tag(TagId(1));
/// assert_eq!(hero.tags.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpawnSpec {
    /// The template: the controller document that the new controller is created from.
    pub template: Option<TemplateId>,
    /// The stat tables to register before all attribute sets.
    #[serde(default)]
    pub stats: Vec<SetId>,
    /// The resources to register after the attribute sets of the template.
    #[serde(default)]
    pub resources: Vec<ResourceSpec>,
    /// The attribute sets to register after the attribute sets of the template.
    pub sets: Vec<SetId>,
    /// The base values of attributes. They are not clamped.
    pub base: Vec<(crate::AttributeId, f64)>,
    /// The innate tags. The built-in infinite effect `GE_Initial_Tags` grants them.
    pub tags: Vec<TagId>,
    /// The effects to apply after the abilities are granted.
    pub effects: Vec<EffectId>,
    /// The abilities to grant before the effects are applied.
    pub abilities: Vec<AbilityGrant>,
    /// The ability sets to grant last.
    pub ability_sets: Vec<AbilitySetId>,
    /// The id of the controller. The default is the next unused id.
    pub id: Option<ControllerId>,
    /// The owner. The default is the template's owner, or none.
    pub owner: Option<ActorId>,
    /// The avatar. The default is the template's avatar, or the owner.
    pub avatar: Option<ActorId>,
    /// The position and facing of the controller.
    pub anchor: Option<Anchor>,
    /// Whether the controller starts inactive.
    pub inactive: bool,
}

impl AbilityGrant {
    /// Creates a grant at level 1 that is not bound to an input.
    pub fn new(ability: AbilityId) -> AbilityGrant {
        AbilityGrant { ability, level: 1, input: None }
    }

    /// Sets the level.
    pub fn level(self, level: u32) -> AbilityGrant {
        AbilityGrant { level, ..self }
    }

    /// Binds the ability to an input.
    pub fn input(self, input: crate::InputId) -> AbilityGrant {
        AbilityGrant { input: Some(input), ..self }
    }
}

impl SpawnSpec {
    /// Creates a spec from a controller template.
    pub fn template(template: TemplateId) -> SpawnSpec {
        SpawnSpec { template: Some(template), ..SpawnSpec::default() }
    }

    /// Creates a spec from attribute sets.
    pub fn sets(sets: impl IntoIterator<Item = SetId>) -> SpawnSpec {
        SpawnSpec { sets: sets.into_iter().collect(), ..SpawnSpec::default() }
    }

    /// Adds stat tables.
    pub fn stats(mut self, tables: impl IntoIterator<Item = SetId>) -> SpawnSpec {
        self.stats.extend(tables);
        self
    }

    /// Adds a resource.
    pub fn resource(mut self, resource: ResourceSpec) -> SpawnSpec {
        self.resources.push(resource);
        self
    }

    /// Adds an innate tag.
    pub fn tag(mut self, tag: TagId) -> SpawnSpec {
        self.tags.push(tag);
        self
    }

    /// Sets a base value. The value is not clamped.
    pub fn base(mut self, attribute: crate::AttributeId, value: f64) -> SpawnSpec {
        self.base.push((attribute, value));
        self
    }

    /// Adds an effect to apply at spawn.
    pub fn effect(mut self, effect: EffectId) -> SpawnSpec {
        self.effects.push(effect);
        self
    }

    /// Returns whether the spec adds abilities, ability sets, tags or effects.
    pub(crate) fn has_parts(&self) -> bool {
        let has_abilities = !self.abilities.is_empty() || !self.ability_sets.is_empty();
        has_abilities || !self.tags.is_empty() || !self.effects.is_empty()
    }
}

/// A resource of a new controller, with the values that differ from the document of the resource.
///
/// ```
/// use ugas_core::{ResourceSpec, SetId};
/// let mana = ResourceSpec { initial: Some(20.0), max: Some(50.0), ..ResourceSpec::new(SetId(0)) };
/// assert_eq!(mana.min, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceSpec {
    /// The attribute set of the resource.
    pub resource: SetId,
    /// The initial value, clamped to the bounds.
    #[serde(default)]
    pub initial: Option<f64>,
    /// The maximum. Refused if the resource has no maximum, or if its maximum follows a stat of the controller.
    #[serde(default)]
    pub max: Option<f64>,
    /// The minimum. Refused if the resource has no minimum, or if its minimum follows a stat of the controller.
    #[serde(default)]
    pub min: Option<f64>,
}

impl ResourceSpec {
    /// Creates a spec with the values of the document.
    pub fn new(resource: SetId) -> ResourceSpec {
        ResourceSpec { resource, initial: None, max: None, min: None }
    }
}

/// An ability to grant, with its level and its input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AbilityGrant {
    /// The ability.
    pub ability: AbilityId,
    /// The level of the ability.
    pub level: u32,
    /// The input that the ability is bound to, if any. In JSON: a number, `null` or no field.
    #[serde(default, with = "crate::ids::or_none")]
    pub input: Option<crate::InputId>,
}

/// The position and facing of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// The position.
    pub position: [f64; 3],
    /// The facing direction.
    pub facing: [f64; 3],
}

impl Anchor {
    /// Creates an anchor at a position, facing +Z.
    ///
    /// ```
    /// assert_eq!(ugas_core::Anchor::at([1.0, 0.0, 0.0]).facing, [0.0, 0.0, 1.0]);
    /// ```
    pub fn at(position: [f64; 3]) -> Anchor {
        Anchor { position, facing: [0.0, 0.0, 1.0] }
    }
}
