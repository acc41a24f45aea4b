//! Host code that agrees to activations.

use super::{ReadKey, Rules};
use crate::{AbilityId, AttributeId, ControllerId, ParamId, TagId};
use std::sync::Arc;

/// What a `CanActivate` hook looks at, so that its answer may be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookReads {
    /// Nothing but the owner's attributes, tags and parameters: the answer is good until the owner changes.
    Owner,
    /// Something else: it is asked every time.
    Anything,
}

/// What a `CanActivate` hook sees.
pub struct AbilityHookCx<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) who: ControllerId,
    pub(crate) ability: AbilityId,
    pub(crate) level: u32,
    /// `NONE` without a target.
    pub(crate) target: ControllerId,
    pub(crate) values: &'a dyn Fn(ControllerId, AttributeId) -> Option<f64>,
    pub(crate) tags: &'a dyn Fn(ControllerId, TagId) -> bool,
    pub(crate) params: &'a dyn Fn(ParamId) -> Option<f64>,
}

impl AbilityHookCx<'_> {
    /// The rules.
    pub fn rules(&self) -> &Rules {
        self.rules
    }
    /// Whose ability it is.
    pub fn who(&self) -> ControllerId {
        self.who
    }
    /// The ability.
    pub fn ability(&self) -> AbilityId {
        self.ability
    }
    /// The grant's level.
    pub fn level(&self) -> u32 {
        self.level
    }
    /// The target, if it is a controller.
    pub fn target(&self) -> Option<ControllerId> {
        self.target.some()
    }
    /// An attribute of the owner.
    pub fn get(&self, attribute: impl ReadKey) -> Option<f64> {
        (self.values)(self.who, attribute.attribute(self.rules)?)
    }
    /// An attribute of the target.
    pub fn target_get(&self, attribute: impl ReadKey) -> Option<f64> {
        (self.values)(self.target.some()?, attribute.attribute(self.rules)?)
    }
    /// Whether the owner has a tag or a descendant of it.
    pub fn has(&self, tag: TagId) -> bool {
        (self.tags)(self.who, tag)
    }
    /// Whether the target has a tag or a descendant of it.
    pub fn target_has(&self, tag: TagId) -> bool {
        self.target.some().is_some_and(|target| (self.tags)(target, tag))
    }
    /// A parameter of the grant.
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
