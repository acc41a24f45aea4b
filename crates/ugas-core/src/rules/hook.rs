//! `CanActivate` hooks: host code that decides whether an ability can be activated.

use super::{ReadKey, Rules};
use crate::{AbilityId, AttributeId, ControllerId, ParamId, TagId};
use std::sync::Arc;

/// The state that a `CanActivate` hook reads. This declaration determines whether the result of the hook may be cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookReads {
    /// The hook reads only the owner's attributes, tags and parameters. Its result is cached until the owner changes.
    Owner,
    /// The hook also reads other state, so its result is not cached and the hook runs at every check.
    Anything,
}

/// The context of a `CanActivate` hook.
pub struct AbilityHookCx<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) who: ControllerId,
    pub(crate) ability: AbilityId,
    pub(crate) level: u32,
    /// The target, or `NONE` if there is none.
    pub(crate) target: ControllerId,
    pub(crate) values: &'a dyn Fn(ControllerId, AttributeId) -> Option<f64>,
    pub(crate) tags: &'a dyn Fn(ControllerId, TagId) -> bool,
    pub(crate) params: &'a dyn Fn(ParamId) -> Option<f64>,
}

impl AbilityHookCx<'_> {
    /// Returns the rules.
    pub fn rules(&self) -> &Rules {
        self.rules
    }
    /// Returns the controller that owns the ability.
    pub fn who(&self) -> ControllerId {
        self.who
    }
    /// Returns the ability.
    pub fn ability(&self) -> AbilityId {
        self.ability
    }
    /// Returns the grant's level.
    pub fn level(&self) -> u32 {
        self.level
    }
    /// Returns the target, or `None` if the target is not a controller.
    pub fn target(&self) -> Option<ControllerId> {
        self.target.some()
    }
    /// Returns the current value of an attribute of the owner.
    pub fn get(&self, attribute: impl ReadKey) -> Option<f64> {
        (self.values)(self.who, attribute.attribute(self.rules)?)
    }
    /// Returns the current value of an attribute of the target.
    pub fn target_get(&self, attribute: impl ReadKey) -> Option<f64> {
        (self.values)(self.target.some()?, attribute.attribute(self.rules)?)
    }
    /// Returns whether the owner has a tag or a descendant of it.
    pub fn has(&self, tag: TagId) -> bool {
        (self.tags)(self.who, tag)
    }
    /// Returns whether the target has a tag or a descendant of it.
    pub fn target_has(&self, tag: TagId) -> bool {
        self.target.some().is_some_and(|target| (self.tags)(target, tag))
    }
    /// Returns the value of a parameter of the grant, or `None` if the parameter is not set.
    pub fn param(&self, name: &str) -> Option<f64> {
        (self.params)(ParamId::named(name))
    }
}

/// A registered `CanActivate` hook.
#[derive(Clone)]
pub(crate) struct ActivationHook {
    pub(crate) own_only: bool,
    pub(crate) run: Arc<dyn Fn(&AbilityHookCx<'_>) -> bool + Send + Sync>,
}
