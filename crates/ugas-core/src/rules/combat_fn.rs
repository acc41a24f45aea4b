//! Functions of combat rules: host code that decides for each event whether a rule changes a value, forbids the event or
//! does nothing.

use super::Rules;
use super::calc::{Read, ReadDef, ReadKey};
use super::compile::Compiler;
use super::expr::{Reads, Side};
use super::lookup::suggestion;
use super::scope::Bearer;
use crate::{AbilityId, AttributeId, ControllerId, HookId, TagId};
use std::sync::Arc;
use ugas_doc::CombatStyle;

/// What a function of a combat rule decides about an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CombatChange {
    /// The rule does not apply to the event.
    #[default]
    None,
    /// Adds to the value. A number that is not finite counts as [`CombatChange::None`].
    Add(f64),
    /// Multiplies the value. A number that is not finite counts as [`CombatChange::None`].
    Factor(f64),
    /// Forbids the event.
    Restrict,
}

type Decide = Arc<dyn Fn(&mut CombatCx<'_>) -> CombatChange + Send + Sync>;

/// A registered function of combat rules.
#[derive(Clone)]
pub(crate) struct CombatFn {
    pub(crate) reads: Vec<Read>,
    /// The reads with the ids of these rules.
    pub(crate) declared: Box<[ReadDef]>,
    pub(crate) decide: Decide,
}

/// The context of a function of a combat rule: the event, and read access to its source and its target.
pub struct CombatCx<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) reads: &'a mut dyn Reads,
    pub(crate) declared: &'a [ReadDef],
    /// The amount of the event: damage, healing, threat, the gain (or, below 0, the loss) of a resource, or the magnitude
    /// of a gameplay event. 0 if the value has no event.
    pub amount: f64,
    /// The style of the event.
    pub style: CombatStyle,
    /// The controller that caused the event, or `None`.
    pub source: Option<ControllerId>,
    /// The target of the event.
    pub target: ControllerId,
    /// The attribute that the amount is written to, if any.
    pub attribute: Option<AttributeId>,
    /// The ability that caused the event, if any.
    pub ability: Option<AbilityId>,
    /// The level of the effect that has the rule.
    pub level: u32,
    /// The stacks of the effect that has the rule.
    pub stacks: u32,
}

impl CombatCx<'_> {
    /// Returns the rules.
    pub fn rules(&self) -> &Rules {
        self.rules
    }

    fn read(&mut self, key: impl ReadKey, of_target: bool) -> Option<f64> {
        let attribute = key.attribute(self.rules)?;
        let is_declared = |r: &ReadDef| r.of_target == of_target && r.attribute == attribute;
        if !self.declared.iter().any(is_declared) {
            return None;
        }
        self.reads.attribute(if of_target { Side::Target } else { Side::Source }, attribute)
    }

    /// Returns the value of a declared attribute of the source. Returns `None` if the read is not declared, there is no
    /// source, or the source lacks the attribute.
    pub fn source(&mut self, attribute: impl ReadKey) -> Option<f64> {
        self.read(attribute, false)
    }

    /// Returns the value of a declared attribute of the target. Returns `None` if the read is not declared or the target
    /// lacks the attribute.
    pub fn target(&mut self, attribute: impl ReadKey) -> Option<f64> {
        self.read(attribute, true)
    }

    /// Returns whether the event has a tag or a descendant of it: a tag of the effect, its school, a tag of the ability,
    /// or a tag of the gameplay event.
    pub fn has(&mut self, tag: TagId) -> bool {
        self.reads.tag(Bearer::Event, tag) == Some(true)
    }

    /// Returns whether the source has a tag or a descendant of it.
    pub fn source_has(&mut self, tag: TagId) -> bool {
        self.reads.tag(Bearer::Source, tag) == Some(true)
    }

    /// Returns whether the target has a tag or a descendant of it.
    pub fn target_has(&mut self, tag: TagId) -> bool {
        self.reads.tag(Bearer::Target, tag) == Some(true)
    }
}

impl Compiler<'_> {
    /// Resolves the function of a combat rule, or reports an error.
    pub(super) fn combat_function(&mut self, place: &str, name: &str) -> Option<HookId> {
        let id = self.rules.hook_names.find(name).map(HookId);
        let known = |id: HookId| self.rules.hooks.combat.contains_key(&id);
        if let Some(id) = id.filter(|&id| known(id)) {
            return Some(id);
        }
        let near = suggestion(self.rules.hook_names.nearest_of(name, |id| known(HookId(id))));
        self.error("unknown-hook", format!("{place}.Function: no combat function {name} is registered{near}"));
        None
    }

    /// Replaces the names in the declared reads of combat functions with ids. Returns the functions that read unknown
    /// attributes, with the reason.
    pub(super) fn resolve_combat_reads(&mut self) -> Vec<(String, String)> {
        let functions: Vec<(HookId, Vec<Read>)> =
            self.rules.hooks.combat.iter().map(|(id, function)| (*id, function.reads.clone())).collect();
        let mut unread = Vec::new();
        for (id, reads) in functions {
            let mut declared = Vec::with_capacity(reads.len());
            for read in reads {
                match self.find_attribute(&read.attribute) {
                    Ok(attribute) => {
                        declared.push(ReadDef { attribute, of_target: read.of_target, when: read.when });
                    }
                    Err(why) => {
                        let name = self.rules.hook_names.name(id.0).unwrap_or("?").to_owned();
                        unread.push((name, why));
                    }
                }
            }
            if let Some(function) = self.rules.to_mut().hooks.combat.get_mut(&id) {
                function.declared = declared.into();
            }
        }
        unread
    }
}
