//! Compiled capabilities: the documents, and the entries of the sets that list them.

use super::capability_code::CapabilityWatch;
use super::compile::Compiler;
use super::compiled::CompiledText;
use super::document::{Phase, RulesDocument};
use super::expr::Expr;
use super::scope::Scope;
use super::tag::TagQuery;
use super::{AbilitySetDef, Rules};
use crate::{AbilitySetId, AttributeId, CapabilityId, EffectId, NameKind, SetId, SimTime, TagId};
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_doc::{Capability, CapabilitySet, DurationPolicy, Origin, ReplicationMode, SetCapability, Side};

/// How deep capability sets may be nested.
const MAX_NESTED_SETS: usize = 8;

/// A compiled `capability` document, or a class that only the host's code defines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CapabilityDef {
    pub(crate) query: Option<TagQuery>,
    pub(crate) when: Option<Expr>,
    pub(crate) until: Option<Expr>,
    /// Effects that are applied while the capability is active.
    pub(crate) effects: Box<[EffectId]>,
    pub(crate) on_activated: Box<[EffectId]>,
    pub(crate) on_deactivated: Box<[EffectId]>,
    pub(crate) on_tick: Box<[EffectId]>,
    pub(crate) block: Box<[TagId]>,
    /// What the conditions read.
    pub(crate) watch: CapabilityWatch,
    /// Whether a document defines the class.
    pub(crate) is_document: bool,
}

impl CompiledText for CapabilityDef {}

/// An entry of a set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CapabilityEntry {
    pub(crate) class: CapabilityId,
    pub(crate) side: Side,
    pub(crate) tags: Box<[TagId]>,
    pub(crate) ticks: bool,
    pub(crate) interval: SimTime,
    pub(crate) enabled: bool,
    pub(crate) blocked_by: Option<TagQuery>,
    /// The tags that `blocked_by` reads.
    pub(crate) watch: CapabilityWatch,
}

/// The place of an entry: the set that lists it, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryPlace {
    pub(crate) set: AbilitySetId,
    pub(crate) index: u16,
}

impl RulesDocument for Capability {
    fn phase(&self) -> Phase {
        Phase::Abilities
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Capability)
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        c.capability(self);
    }
}

impl RulesDocument for CapabilitySet {
    fn phase(&self) -> Phase {
        Phase::AbilitySets
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::AbilitySet)
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        c.capability_set(self);
    }
}

impl Compiler<'_> {
    fn capability(&mut self, doc: &Capability) {
        let condition = |c: &mut Self, place: &str, text: &Option<String>| {
            let expr = c.expression_in(place, text.as_ref()?, Scope::OWNER)?;
            if expr.is_foreign() {
                let message = format!("{place}: a capability reads only attributes and tags of its owner");
                c.error("bad-expression", message);
            }
            Some(expr)
        };
        let query = doc.query.as_ref().and_then(|text| self.query("Query", text));
        let when = condition(self, "When", &doc.when);
        let until = condition(self, "Until", &doc.until);
        let mut def = CapabilityDef {
            query,
            when,
            until,
            effects: self.capability_effects("Effects", &doc.effects, DurationPolicy::Infinite),
            on_activated: self.capability_effects("OnActivated", &doc.on_activated, DurationPolicy::Instant),
            on_deactivated: self.capability_effects("OnDeactivated", &doc.on_deactivated, DurationPolicy::Instant),
            on_tick: self.capability_effects("OnTick", &doc.on_tick, DurationPolicy::Instant),
            block: self.tag_list(&doc.block),
            watch: CapabilityWatch::default(),
            is_document: true,
        };
        def.watch = def.reads(&self.rules);
        if let Some(id) = self.find(NameKind::Capability, &doc.name) {
            self.rules.to_mut().capabilities.define(id, Arc::new(def));
        }
    }

    /// Resolves the effects of a field. Each must have the duration policy that the field needs.
    fn capability_effects(&mut self, place: &str, names: &[String], policy: DurationPolicy) -> Box<[EffectId]> {
        let effects = self.effect_list(place, names);
        for &effect in &effects {
            let Some(found) = self.rules.effect_def(effect).map(|e| e.policy) else { continue };
            if found != policy {
                let name = self.rules.effect_name(effect).unwrap_or("").to_owned();
                let message = format!("{place}: {name} is {found:?}; this field needs an effect that is {policy:?}");
                self.error("capability-effect", message);
            }
        }
        effects
    }

    fn capability_set(&mut self, doc: &CapabilitySet) {
        let sets = self.data_components("DataComponents", &doc.data_components);
        let nested: Box<[AbilitySetId]> = doc.sets.iter().filter_map(|s| self.capability_set_ref("Sets", s)).collect();
        let mut capabilities = self.capability_entries(&doc.capabilities);
        if doc.replication_mode == ReplicationMode::None {
            capabilities.iter_mut().for_each(|entry| entry.side = without_clients(entry.side));
        }
        let Some(id) = self.find(NameKind::AbilitySet, &doc.name) else { return };
        let def = AbilitySetDef {
            sets,
            effects: [].into(),
            abilities: [].into(),
            nested,
            capabilities,
            replication: doc.replication_mode,
            is_capability_set: true,
        };
        self.rules.to_mut().ability_sets.define(id, Arc::new(def));
    }

    pub(crate) fn capability_set_ref(&mut self, place: &str, name: &str) -> Option<AbilitySetId> {
        let found = self.find(NameKind::AbilitySet, name);
        if found.is_none() {
            let near = self.nearest_suggestion(NameKind::AbilitySet, name);
            self.error("unknown-ability-set", format!("{place}: unknown capability set {name}{near}"));
        }
        found.map(AbilitySetId)
    }

    /// Resolves attribute sets that are registered with a set.
    pub(crate) fn data_components(&mut self, place: &str, names: &[String]) -> Box<[SetId]> {
        let mut sets = Vec::with_capacity(names.len());
        for name in names {
            match self.find(NameKind::Set, name) {
                Some(set) if self.rules.is_stat_table(SetId(set)) => {
                    let why =
                        "is a stat table, which is registered only at spawn; write it into Stats of the controller";
                    self.error("unknown-set", format!("{place}: {name} {why}"));
                }
                Some(set) => sets.push(SetId(set)),
                None => {
                    let near = self.nearest_suggestion(NameKind::Set, name);
                    self.error("unknown-set", format!("{place}: unknown attribute set {name}{near}"));
                }
            }
        }
        sets.into()
    }

    /// Compiles the capabilities of a set.
    pub(crate) fn capability_entries(&mut self, list: &[SetCapability]) -> Box<[CapabilityEntry]> {
        let mut entries = Vec::with_capacity(list.len());
        for (i, doc) in list.iter().enumerate() {
            let place = format!("Capabilities[{i}]");
            let class = self.reference(NameKind::Capability, "unknown-capability", &place, &doc.class);
            let interval = SimTime::try_seconds(doc.tick_interval).filter(|t| *t >= SimTime::ZERO);
            if interval.is_none() {
                let message = format!("{place}.TickInterval: expected seconds from 0, found {}", doc.tick_interval);
                self.error("bad-param", message);
            }
            let tags = self.tag_list(&doc.tags);
            let blocked_by = doc.blocked_by.as_ref().and_then(|text| self.query(&format!("{place}.BlockedBy"), text));
            let Some((class, interval)) = class.map(CapabilityId).zip(interval) else { continue };
            let mut read = Vec::new();
            if let Some(query) = &blocked_by {
                query.each_tag(&mut |tag| read.push(tag));
            }
            let watch = CapabilityWatch::new(&self.rules, read, Vec::new());
            entries.push(CapabilityEntry {
                class,
                side: doc.side,
                tags,
                ticks: doc.can_ever_tick,
                interval,
                enabled: doc.enabled,
                blocked_by,
                watch,
            });
        }
        entries.into()
    }

    /// Checks, when all sets are compiled, that nested sets are capability sets, form no circle and are not too deep.
    pub(crate) fn finish_capability_sets(&mut self, docs: &[(&CapabilitySet, Option<Origin>)]) {
        for (doc, origin) in docs {
            self.about(&doc.name, origin.clone());
            let Some(id) = self.find(NameKind::AbilitySet, &doc.name).map(AbilitySetId) else { continue };
            let nested = self.rules.ability_set_def(id).map(|def| def.nested.clone()).unwrap_or_default();
            for set in nested {
                if self.rules.ability_set_def(set).is_some_and(|def| !def.is_capability_set) {
                    let name = self.rules.ability_set_name(set).unwrap_or("").to_owned();
                    self.error("bad-set", format!("Sets: {name} is an ability set; list only capability sets"));
                }
            }
            match self.rules.nesting_of(id) {
                Nesting::Fine => {}
                Nesting::Circle(set) => {
                    let name = self.rules.ability_set_name(set).unwrap_or("").to_owned();
                    self.error("bad-set", format!("Sets: {name} contains itself; remove it from one of the sets"));
                }
                Nesting::TooDeep => {
                    let message = format!("Sets: the sets are nested deeper than {MAX_NESTED_SETS} levels");
                    self.error("bad-set", message);
                }
            }
        }
    }
}

/// Returns the side of a capability if no client runs its set.
fn without_clients(side: Side) -> Side {
    match side {
        Side::Always | Side::AuthorityOnly | Side::AuthorityAndLocalControlled => Side::AuthorityOnly,
        Side::LocalControlledOnly | Side::OwnerLocalControlledOnly | Side::AllClients => side,
    }
}

/// Returns whether a capability runs on the machines of observers.
pub(crate) fn runs_on_observers(side: Side) -> bool {
    match side {
        Side::Always | Side::OwnerLocalControlledOnly | Side::AllClients => true,
        Side::AuthorityOnly | Side::AuthorityAndLocalControlled | Side::LocalControlledOnly => false,
    }
}

/// Whether the sets that a set contains can be expanded.
enum Nesting {
    Fine,
    Circle(AbilitySetId),
    TooDeep,
}

impl Rules {
    fn nesting_of(&self, set: AbilitySetId) -> Nesting {
        self.nested_levels(set, &mut Vec::new(), &mut BTreeMap::new()).err().unwrap_or(Nesting::Fine)
    }

    /// Returns how many levels of sets a set contains. Each set is visited once, however often it is listed.
    fn nested_levels(
        &self,
        set: AbilitySetId,
        path: &mut Vec<AbilitySetId>,
        known: &mut BTreeMap<AbilitySetId, usize>,
    ) -> Result<usize, Nesting> {
        if path.contains(&set) {
            return Err(Nesting::Circle(set));
        }
        if let Some(&levels) = known.get(&set) {
            return if path.len() + levels > MAX_NESTED_SETS { Err(Nesting::TooDeep) } else { Ok(levels) };
        }
        if path.len() > MAX_NESTED_SETS {
            return Err(Nesting::TooDeep);
        }
        path.push(set);
        let mut levels = 0;
        for &nested in self.ability_set_def(set).map_or(&[][..], |def| &def.nested) {
            levels = levels.max(1 + self.nested_levels(nested, path, known)?);
        }
        path.pop();
        known.insert(set, levels);
        Ok(levels)
    }

    /// Returns a set and the sets that it contains, in the order in which they are added: contained sets first. A set
    /// that is contained twice is listed once. The rules contain no circle, so the recursion ends.
    pub(crate) fn sets_in(&self, set: AbilitySetId) -> Vec<AbilitySetId> {
        let mut all = Vec::new();
        self.collect_sets(set, &mut all);
        all
    }

    fn collect_sets(&self, set: AbilitySetId, all: &mut Vec<AbilitySetId>) {
        if all.contains(&set) {
            return;
        }
        for &nested in self.ability_set_def(set).map_or(&[][..], |def| &def.nested) {
            self.collect_sets(nested, all);
        }
        all.push(set);
    }

    /// Returns the entries of a set and of the sets that it contains, in the order in which they run.
    pub(crate) fn entries_of(&self, set: AbilitySetId) -> Vec<EntryPlace> {
        let mut entries = Vec::new();
        for set in self.sets_in(set) {
            let count = self.ability_set_def(set).map_or(0, |def| def.capabilities.len());
            entries.extend((0..count).map(|index| EntryPlace { set, index: index as u16 }));
        }
        entries
    }

    #[inline]
    pub(crate) fn capability_entry(&self, place: EntryPlace) -> Option<&CapabilityEntry> {
        self.ability_set_def(place.set)?.capabilities.get(place.index as usize)
    }

    #[inline]
    pub(crate) fn capability_def(&self, id: CapabilityId) -> Option<&Arc<CapabilityDef>> {
        self.capabilities.get(id.0)
    }

    /// Returns the entries of a set with their classes, sides and tags, for tools. The entries of the sets that it
    /// contains come first.
    ///
    /// ```
    /// use ugas_core::Rules;
    /// use ugas_doc::{Capability, CapabilitySet, SetCapability, Side};
    /// let rules = Rules::builder()
    ///     .add(Capability::new("Regen"))
    ///     .add(CapabilitySet::new("CS_Robot").capability(SetCapability::new("Regen").side(Side::AuthorityOnly)))
    ///     .build()?;
    /// let robot = rules.ability_set("CS_Robot")?;
    /// let sides: Vec<Side> = rules.capabilities_in(robot).map(|(_, side)| side).collect();
    /// assert_eq!(sides, [Side::AuthorityOnly]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn capabilities_in(&self, set: AbilitySetId) -> impl Iterator<Item = (CapabilityId, Side)> + '_ {
        let entries = self.entries_of(set).into_iter().filter_map(|place| self.capability_entry(place));
        entries.map(|entry| (entry.class, entry.side))
    }

    /// Iterates over all capability sets with their names.
    pub fn capability_set_list(&self) -> impl Iterator<Item = (AbilitySetId, &str)> {
        let ids = (0..self.ability_sets.len() as u32).map(AbilitySetId).filter(|&set| self.is_capability_set(set));
        ids.filter_map(|set| Some((set, self.ability_set_name(set)?)))
    }

    /// Returns the tags of a capability by its place in the list of its set. A block of one of these tags, or of an
    /// ancestor of one, blocks the capability.
    ///
    /// ```
    /// use ugas_core::Rules;
    /// use ugas_doc::{Capability, CapabilitySet, SetCapability};
    /// let rules = Rules::builder()
    ///     .add(Capability::new("Walk"))
    ///     .add(CapabilitySet::new("CS_Robot").capability(SetCapability::new("Walk").tag("Capability.Move")))
    ///     .build()?;
    /// let robot = rules.ability_set("CS_Robot")?;
    /// assert_eq!(rules.capability_tags(robot, 0), [rules.tag("Capability.Move")?]);
    /// assert_eq!(rules.capability_tags(robot, 1), []);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn capability_tags(&self, set: AbilitySetId, index: u16) -> &[TagId] {
        self.capability_entry(EntryPlace { set, index }).map_or(&[], |entry| &entry.tags)
    }

    /// Returns whether the side of a capability depends on the owners of its controller.
    pub fn has_owner_sides(&self) -> bool {
        let depends = |entry: &CapabilityEntry| entry.side == Side::OwnerLocalControlledOnly;
        self.ability_sets.iter().flatten().any(|def| def.capabilities.iter().any(depends))
    }

    /// Returns whether a set is a capability set.
    pub fn is_capability_set(&self, set: AbilitySetId) -> bool {
        self.ability_set_def(set).is_some_and(|def| def.is_capability_set)
    }

    /// Returns whether a set is a capability set or an ability set with capabilities.
    pub fn has_capabilities(&self, set: AbilitySetId) -> bool {
        self.ability_set_def(set).is_some_and(|def| def.is_capability_set || !def.capabilities.is_empty())
    }

    /// Returns which clients run capabilities of a set. Observers learn about an ability set only if one of its
    /// capabilities runs on their machines.
    pub fn set_replication(&self, set: AbilitySetId) -> ReplicationMode {
        self.ability_set_def(set).map_or(ReplicationMode::None, |def| def.replication)
    }
}

impl CapabilityDef {
    /// Returns the tags and attributes that the conditions of the document read.
    fn reads(&self, rules: &Rules) -> CapabilityWatch {
        let mut tags = Vec::new();
        if let Some(query) = &self.query {
            query.each_tag(&mut |tag| tags.push(tag));
        }
        let mut attributes: Vec<AttributeId> = Vec::new();
        for condition in [&self.when, &self.until].into_iter().flatten() {
            attributes.extend(condition.reads().map(|(_, attribute)| attribute));
            condition.each_tag(&mut |tag| tags.push(tag));
        }
        CapabilityWatch::new(rules, tags, attributes)
    }
}
