//! Rules: all compiled documents and all registered code of a game. Rules are immutable and shared behind an `Arc`.
//!
//! A [`RulesBuilder`] compiles documents and replaces names with ids. [`RulesBuilder::after`] keeps the ids of the
//! previous rules, so ids that a host cached before a reload stay valid.

mod ability;
mod ability_compile;
mod ability_set;
mod assemble;
mod attribute;
mod builder;
mod by_name;
mod calc;
mod calculation;
mod capability;
mod capability_code;
mod check;
mod client;
mod code;
mod coded;
mod combat;
mod combat_fn;
mod compile;
mod compiled;
mod curve;
mod document;
mod effect;
mod effect_compile;
mod error;
mod expr;
mod expr_parse;
mod hook;
mod host_read;
mod input;
mod interner;
mod layout;
mod lineage;
mod lookup;
mod magnitude;
mod memory;
mod motion;
mod param;
mod program;
mod resource;
mod scope;
mod sets;
mod stat;
mod table;
mod tag;
mod task;
mod template;
mod timeline;
mod unsupported;

#[cfg(test)]
mod tests;

pub use attribute::{AttributeDef, BoundDef};
pub use builder::RulesBuilder;
pub use by_name::UnknownName;
pub use calc::{AfterCx, Calc, Calculator, CaptureTime, DamageCx, HookCx, Read, ReadKey, ResourceCx};
pub use capability_code::{CapabilityCall, CapabilityCx, CodedCapability, Watches};
pub use code::{CustomTask, Progression, TaskCx, WakeEvent, WakeKind};
pub(crate) use code::{ErasedTask, TaskCall, TaskCode};
pub(crate) use coded::{AbilityAction, AbilityCode};
pub use coded::{AbilityCx, CodedAbility, Next, Resume};
pub use combat_fn::{CombatChange, CombatCx};
pub use error::{LoadError, LoadIssue, Severity};
pub use hook::{AbilityHookCx, HookReads};
pub use memory::CapabilityMemory;
pub use tag::{TagQuery, TagSet, tag_parents, tag_segments};
pub use task::TaskCategory;

pub(crate) use ability::{AbilityDef, StaticMask, TriggerDef, listen};
pub(crate) use ability_compile::{CompiledAbility, compile_ability};
pub(crate) use ability_set::AbilitySetDef;
pub(crate) use attribute::SetDef;
pub(crate) use calc::{CalcDef, CalcResult, Hooks};
pub(crate) use capability::{CapabilityDef, CapabilityEntry, EntryPlace};
pub(crate) use capability_code::{
    CAPABILITY_STATE, CapabilityAction, CapabilityCode, CapabilityReads, CapabilityWatch, Question, Ticked,
};
pub(crate) use check::ActivationCheck;
pub(crate) use client::ClientEffect;
pub(crate) use combat::{CombatDef, RuleDef, RuleOn, RuleWhat, ScaleDef};
pub(crate) use compile::Compiler;
pub(crate) use curve::CurveDef;
pub(crate) use effect::{EffectDef, GrantDef, ModDef, PlainWrite, StackDef};
pub(crate) use expr::{Expr, NotFinite, Reads, Side};
pub(crate) use input::{ActionSetDef, BufferDef, InputDefs};
pub(crate) use interner::Interner;
pub(crate) use layout::{Layout, Slot, SlotBound, WriteSlot, clamp};
pub(crate) use magnitude::{Mag, MagnitudeInputs};
pub(crate) use motion::{CIRCLE, MotionDef, MotionStep};
pub(crate) use param::Fields;
pub(crate) use program::{Inst, NO_PC, Test};
pub(crate) use resource::{MODIFY_RESOURCE_NAME, ResourceDef};
pub(crate) use scope::{Bearer, Local};
pub(crate) use table::{NameTable, Table};
pub(crate) use tag::{RankFilter, TagTable};
pub(crate) use task::{AbilityPick, EffectPick, EventTo, Num, OnFail, TaskDef};
pub(crate) use template::Template;
pub(crate) use timeline::{AnswerDef, TimelineDef};

use crate::{
    AbilityId, AbilitySetId, AttributeId, BadValue, CalcId, EffectId, GroupId, Hit, InputId, NameKind, ParamId,
    Refusal, SetId, TagId, TaskKindId, TemplateId, TimelineId,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use ugas_doc::{Ability, CapabilityMode, ControllerReplication, Doc, Origin, Patched};

/// The compiled documents of a game. Any number of sims can share them behind an `Arc`.
///
/// ```
/// use ugas_core::Rules;
/// use ugas_doc::{Attribute, AttributeSet, Effect};
/// let rules = Rules::builder()
///     .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0).min(0.0)))
///     .add(Effect::instant("GE_Hit").add("Health", -10.0))
///     .build()
///     .unwrap();
/// assert_eq!(rules.effect_name(rules.effect("GE_Hit").unwrap()), Some("GE_Hit"));
/// ```
#[derive(Clone, Debug)]
pub struct Rules {
    pub(crate) tags: TagTable,
    pub(crate) attributes: Interner,
    /// The pairs of an attribute and an attribute set that defines it. An attribute without an attribute set is an
    /// alias or is no longer defined.
    pub(crate) homes: BTreeSet<(AttributeId, SetId)>,
    /// The ids of `Set.Name`, with the set and the id of `Name`.
    pub(crate) aliases: Vec<(AttributeId, SetId, AttributeId)>,
    pub(crate) sets: Table<SetDef>,
    pub(crate) effects: Table<Arc<EffectDef>>,
    pub(crate) abilities: Table<Arc<AbilityDef>>,
    pub(crate) ability_sets: Table<Arc<AbilitySetDef>>,
    pub(crate) timelines: Table<Arc<TimelineDef>>,
    /// Timelines by the montage they describe.
    pub(crate) by_montage: BTreeMap<Arc<str>, TimelineId>,
    /// Timelines by the ability whose waiting tasks they answer.
    pub(crate) by_ability: BTreeMap<AbilityId, TimelineId>,
    /// Task types, the built-in ones first.
    pub(crate) task_names: Interner,
    /// Code of the host's task types.
    pub(crate) task_code: BTreeMap<TaskKindId, TaskCode>,
    /// Code of abilities.
    pub(crate) ability_code: BTreeMap<AbilityId, AbilityCode>,
    /// Names of ids that are hashes, for display.
    pub(crate) group_names: BTreeMap<GroupId, Arc<str>>,
    pub(crate) param_names: BTreeMap<ParamId, Arc<str>>,
    pub(crate) curves: Table<Arc<CurveDef>>,
    pub(crate) calcs: Table<CalcDef>,
    pub(crate) hook_names: Interner,
    pub(crate) hooks: Hooks,
    pub(crate) key_names: Interner,
    pub(crate) input_names: Interner,
    /// The actions of input documents, and the buffer of the inputs that belong to no action set.
    pub(crate) inputs: InputDefs,
    pub(crate) action_sets: Table<Arc<ActionSetDef>>,
    pub(crate) motions: Table<Arc<MotionDef>>,
    pub(crate) templates: Table<Arc<Template>>,
    pub(crate) capabilities: Table<Arc<CapabilityDef>>,
    /// Code of capabilities.
    /// By class.
    pub(crate) capability_code: Vec<Option<CapabilityCode>>,
    /// Changes that patches made to attributes, for display.
    pub(crate) attribute_patches: BTreeMap<AttributeId, Vec<Patched>>,
    pub(crate) warnings: Vec<LoadIssue>,
    /// A hash of each document by kind and name, to find the documents that differ between two rules.
    pub(crate) prints: BTreeMap<(ugas_doc::Kind, Arc<str>), u64>,
    pub(crate) fingerprint: u64,
    /// The documents from which the rules were built, in order.
    pub(crate) documents: Vec<Arc<Doc>>,
}

/// The built-in infinite effect that grants innate tags.
pub(crate) const INITIAL_TAGS: EffectId = EffectId(0);
/// The name of [`INITIAL_TAGS`].
pub(crate) const INITIAL_TAGS_NAME: &str = "GE_Initial_Tags";

impl Rules {
    /// Returns rules without names and definitions.
    fn empty() -> Rules {
        Rules {
            tags: TagTable::default(),
            attributes: Interner::EMPTY,
            homes: BTreeSet::new(),
            aliases: Vec::new(),
            sets: Table::default(),
            effects: Table::default(),
            abilities: Table::default(),
            ability_sets: Table::default(),
            timelines: Table::default(),
            by_montage: BTreeMap::new(),
            by_ability: BTreeMap::new(),
            task_names: Interner::EMPTY,
            task_code: BTreeMap::new(),
            ability_code: BTreeMap::new(),
            group_names: BTreeMap::new(),
            param_names: BTreeMap::new(),
            curves: Table::default(),
            calcs: Table::default(),
            hook_names: Interner::EMPTY,
            hooks: Hooks::default(),
            key_names: Interner::EMPTY,
            input_names: Interner::EMPTY,
            inputs: InputDefs::default(),
            action_sets: Table::default(),
            motions: Table::default(),
            templates: Table::default(),
            capabilities: Table::default(),
            capability_code: Vec::new(),
            attribute_patches: BTreeMap::new(),
            warnings: Vec::new(),
            prints: BTreeMap::new(),
            fingerprint: 1,
            documents: Vec::new(),
        }
    }

    /// Returns rules with the same names and ids, but without definitions and code. Names that no document defines any
    /// longer are kept.
    fn to_names(&self) -> Rules {
        // Every field is named, so that a new field does not compile until it is clear whether it stores names.
        let Rules {
            tags,
            attributes,
            aliases,
            sets,
            effects,
            abilities,
            ability_sets,
            timelines,
            task_names,
            group_names,
            param_names,
            curves,
            calcs,
            hook_names,
            key_names,
            input_names,
            action_sets,
            motions,
            templates,
            capabilities,
            // Definitions, code and what is derived from them.
            homes: _,
            inputs: _,
            by_montage: _,
            by_ability: _,
            task_code: _,
            ability_code: _,
            capability_code: _,
            hooks: _,
            attribute_patches: _,
            warnings: _,
            prints: _,
            fingerprint: _,
            documents: _,
        } = self;
        Rules {
            tags: tags.clone(),
            attributes: attributes.clone(),
            aliases: aliases.clone(),
            sets: sets.to_names(),
            effects: effects.to_names(),
            abilities: abilities.to_names(),
            ability_sets: ability_sets.to_names(),
            timelines: timelines.to_names(),
            task_names: task_names.clone(),
            group_names: group_names.clone(),
            param_names: param_names.clone(),
            curves: curves.to_names(),
            calcs: calcs.to_names(),
            hook_names: hook_names.clone(),
            key_names: key_names.clone(),
            input_names: input_names.clone(),
            action_sets: action_sets.to_names(),
            motions: motions.to_names(),
            templates: templates.to_names(),
            capabilities: capabilities.to_names(),
            ..Rules::empty()
        }
    }

    /// Returns an empty builder.
    pub fn builder() -> RulesBuilder {
        RulesBuilder::new()
    }

    /// Returns a hash of all compiled definitions and the ids of all names. Rules with equal hashes and the same host
    /// code behave identically, and each can load state that was saved with the other. The hash does not include host
    /// code. Rules built with [`RulesBuilder::after`] keep old ids, so they can have a different hash than rules built
    /// from the same documents without it.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Iterates over the documents from which the rules were built, in order. Rules with the same host code that are
    /// built after the same older rules from these documents have the same hash.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = &Arc<Doc>> {
        self.documents.iter()
    }

    /// Returns the hash for state in memory, where tags are stored by rank. The hash also depends on tags that no
    /// document uses any longer, because they affect the ranks.
    pub(crate) fn image_print(&self) -> u64 {
        crate::rng::fold(self.fingerprint, self.tags.order())
    }

    /// Validates a hit from the host: its numbers must be finite and its tags must exist.
    pub(crate) fn refuse_hit(&self, hit: &Hit) -> Result<(), Refusal> {
        if !hit.position.iter().flatten().chain(&hit.distance).all(|v| v.is_finite()) {
            return Err(Refusal::BadValue { what: BadValue::Number });
        }
        let unknown = hit.tags.iter().find(|&&t| self.tags.def(t).is_none());
        unknown.map_or(Ok(()), |t| Err(Refusal::UnknownName { kind: NameKind::Tag, id: t.0 }))
    }

    /// Returns the warnings of the build.
    pub fn warnings(&self) -> &[LoadIssue] {
        &self.warnings
    }

    /// Returns the attribute of `Set.Name` if only that attribute set defines it.
    pub(super) fn attribute_of_set(&self, name: &str) -> Option<AttributeId> {
        let (set, short) = name.split_once('.')?;
        let (set, id) = (self.find_set(set)?, AttributeId(self.attributes.find(short)?));
        let mut homes = self.homes_of(id);
        (homes.next() == Some(set) && homes.next().is_none()).then_some(id)
    }

    /// Iterates over the attribute sets that define an attribute.
    pub(super) fn homes_of(&self, id: AttributeId) -> impl Iterator<Item = SetId> {
        self.homes.range((id, SetId(0))..=(id, SetId(u32::MAX))).map(|h| h.1)
    }

    /// Assigns an id to `Set.Name` if several attribute sets define `Name`, because the name is a different attribute
    /// in each of them.
    pub(super) fn name_shared_attributes(&mut self) {
        let shared: Vec<(AttributeId, SetId)> =
            self.homes.iter().copied().filter(|&(id, _)| self.homes_of(id).nth(1).is_some()).collect();
        for (id, set) in shared {
            let (Some(set_name), Some(short)) = (self.set_name(set), self.attribute_name(id)) else { continue };
            let name = format!("{set_name}.{short}");
            let alias = AttributeId(self.attributes.intern(&name));
            if !self.is_defined(alias) && !self.aliases.iter().any(|a| a.0 == alias) {
                self.aliases.push((alias, set, id));
            }
        }
    }

    /// Returns the changes that patches made to an attribute's definition.
    pub fn attribute_patches(&self, id: AttributeId) -> &[Patched] {
        self.attribute_patches.get(&id).map_or(&[], Vec::as_slice)
    }
    /// Returns the attributes of an attribute set as its document defines them.
    pub fn set_attributes(&self, id: SetId) -> Option<&[AttributeDef]> {
        self.set_def(id).map(|s| &*s.attributes)
    }
    /// Returns whether a tag registry document declares the tag.
    pub fn is_declared(&self, name: &str) -> bool {
        self.find_tag(name).and_then(|t| self.tags.def(t)).is_some_and(|d| d.declared)
    }
    /// Returns whether the tag is a cooldown tag: `Cooldown` or a descendant of it.
    pub fn is_cooldown_tag(&self, id: TagId) -> bool {
        self.tags.def(id).is_some_and(|d| d.is_cooldown)
    }
    /// Iterates over all tags that a registry declares or a document uses.
    pub fn tag_ids(&self) -> impl Iterator<Item = TagId> {
        self.tags.ids()
    }
    /// Returns the parent of a tag, or `None` for a root tag.
    pub fn tag_parent(&self, id: TagId) -> Option<TagId> {
        self.tags.def(id)?.parent
    }
    /// Returns whether `tag` is `of` or a descendant of `of`.
    pub fn tag_is_under(&self, tag: TagId, of: TagId) -> bool {
        self.tags.def(tag).is_some() && self.tags.def(of).is_some() && self.tags.is_under(tag, of)
    }
    /// Iterates over all effects with their names.
    pub fn effect_list(&self) -> impl Iterator<Item = (EffectId, &str)> {
        self.effects.iter().flatten().map(|e| (e.id, &*e.name))
    }
    /// Returns the file and line of an effect's document.
    pub fn effect_origin(&self, id: EffectId) -> Option<&Origin> {
        self.effect_def(id)?.origin.as_ref()
    }
    /// Returns whether a client may predict the effect's calculations.
    pub fn is_predictable(&self, id: EffectId) -> bool {
        self.effect_def(id).is_some_and(|e| {
            let calc = |c: CalcId| self.calcs.get(c.0).is_none_or(|c| c.code.predictable());
            e.executions.iter().all(|x| x.predictable && calc(x.calculator))
        })
    }
    /// Returns whether only the authoritative sim may apply an effect. This is the case if the effect has or grants the
    /// tag `Gameplay.Effect.AuthoritativeOnly`, or if one of its executions is marked as not predictable.
    pub fn is_for_authority(&self, id: EffectId) -> bool {
        self.effect_def(id).is_some_and(|e| e.authority)
    }
    /// Returns whether any effect, calculation or registered code of the rules may draw a random number.
    pub fn may_roll(&self) -> bool {
        let has_code = !self.ability_code.is_empty() || !self.task_code.is_empty() || !self.capability_code.is_empty();
        let calc_rolls = |c: &CalcDef| c.rolls || c.formulas.is_none();
        has_code
            || self.effects.iter().flatten().any(|e| e.chance.is_some())
            || self.calcs.iter().flatten().any(calc_rolls)
    }
    /// Returns an ability's document as it was authored.
    pub fn ability_doc(&self, id: AbilityId) -> Option<&Ability> {
        self.ability_def(id).map(|a| &*a.doc)
    }
    /// Returns the file and line of an ability's document.
    pub fn ability_origin(&self, id: AbilityId) -> Option<&Origin> {
        self.ability_def(id)?.origin.as_ref()
    }
    /// Iterates over all abilities with their names.
    pub fn ability_list(&self) -> impl Iterator<Item = (AbilityId, &str)> {
        self.abilities.iter().flatten().map(|a| (a.id, &*a.name))
    }
    /// Returns a timeline's document as it was authored.
    pub fn timeline_doc(&self, id: TimelineId) -> Option<&ugas_doc::Timeline> {
        self.timeline_def(id).map(|t| &*t.doc)
    }
    /// Iterates over all task types with their categories.
    pub fn task_kinds(&self) -> impl Iterator<Item = (TaskKindId, &str, TaskCategory)> {
        (0..self.task_names.len() as u32).filter_map(|id| {
            let name = self.task_names.name(id)?;
            Some((TaskKindId(id), name, self.task_category(name)?))
        })
    }
    /// Returns the category of a task type: what starts or wakes its tasks.
    pub fn task_category(&self, name: &str) -> Option<TaskCategory> {
        let custom = || self.find_task_kind(name).filter(|id| self.task_code.contains_key(id));
        let built_in = crate::task::built_in(name).map(|(_, row)| row.category);
        built_in.or_else(|| custom().map(|_| TaskCategory::Custom))
    }
    /// Returns the name of a cooldown group or activation group.
    pub fn group_name(&self, id: GroupId) -> Option<&str> {
        self.group_names.get(&id).map(|n| &**n)
    }
    /// Returns the name of a parameter or restriction.
    pub fn param_name(&self, id: ParamId) -> Option<&str> {
        self.param_names.get(&id).map(|n| &**n)
    }
    /// Iterates over all inputs with their names.
    pub fn input_list(&self) -> impl Iterator<Item = (InputId, &str)> {
        (0..self.input_names.len() as u32).filter_map(|id| Some((InputId(id), self.input_names.name(id)?)))
    }

    /// Returns how controllers of a template are replicated. The default is `Mixed`.
    ///
    /// ```
    /// use ugas_core::Rules;
    /// use ugas_doc::{Attribute, AttributeSet, Controller, ControllerReplication};
    /// let set = AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0));
    /// let rules = Rules::builder().add(set).add(Controller::new("Hero").set("Vitals")).build().unwrap();
    /// let hero = rules.template("Hero").unwrap();
    /// assert_eq!(rules.template_replication(hero), Some(ControllerReplication::Mixed));
    /// ```
    pub fn template_replication(&self, id: TemplateId) -> Option<ControllerReplication> {
        Some(self.templates.get(id.0)?.replication)
    }

    /// Returns where the capability sets of a template's controllers are kept. The default is `Authority`.
    pub fn capability_mode(&self, id: TemplateId) -> Option<CapabilityMode> {
        Some(self.templates.get(id.0)?.capability_mode)
    }

    /// Returns whether an attribute set defines the attribute.
    pub(crate) fn is_defined(&self, id: AttributeId) -> bool {
        self.homes.range((id, SetId(0))..=(id, SetId(u32::MAX))).next().is_some()
    }

    pub(crate) fn set_def(&self, id: SetId) -> Option<&SetDef> {
        self.sets.get(id.0)
    }
    #[inline]
    pub(crate) fn ability_def(&self, id: AbilityId) -> Option<&Arc<AbilityDef>> {
        self.abilities.get(id.0)
    }
    pub(crate) fn ability_set_def(&self, id: AbilitySetId) -> Option<&Arc<AbilitySetDef>> {
        self.ability_sets.get(id.0)
    }
    #[inline]
    pub(crate) fn timeline_def(&self, id: TimelineId) -> Option<&Arc<TimelineDef>> {
        self.timelines.get(id.0)
    }
    #[inline]
    pub(crate) fn effect_def(&self, id: EffectId) -> Option<&Arc<EffectDef>> {
        self.effects.get(id.0)
    }
}
