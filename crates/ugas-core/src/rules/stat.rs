//! The compiler of stat tables. A stat table becomes an attribute set. Each stat has an alias, its tag, which is an
//! attribute of a controller only if the controller has the table.

use super::attribute::{BoundDef, StatDef};
use super::combat::{RuleOn, ScaleDef};
use super::compile::Compiler;
use super::document::{Phase, RulesDocument};
use super::interner::nearest;
use super::lookup::suggestion;
use super::{Rules, clamp};
use crate::{AttributeId, NameKind, SetId};
use ugas_doc::{Origin, STAT_PREFIX, Scales, Stat, StatTable};

impl RulesDocument for StatTable {
    fn phase(&self) -> Phase {
        Phase::Sets
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Set)
    }

    fn declare(&self, c: &mut Compiler<'_>) {
        let set = self.attribute_set();
        let Some(id) = c.declare_set(&self.name, &set.attributes) else { return };
        for stat in self.stats.iter().filter(|s| s.tag.starts_with(STAT_PREFIX)) {
            let rules = c.rules.to_mut();
            let attribute = AttributeId(rules.attributes.intern(stat.attribute_name()));
            let alias = AttributeId(rules.attributes.intern(&stat.tag));
            if !rules.aliases.contains(&(alias, id, attribute)) {
                rules.aliases.push((alias, id, attribute));
            }
        }
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        self.stats.iter().enumerate().for_each(|(i, stat)| c.check_stat(i, stat));
        c.set(&self.attribute_set());
        let Some(id) = c.find(NameKind::Set, &self.name).map(SetId) else { return };
        let def = |(at, stat): (usize, &Stat)| StatDef {
            alias: AttributeId(c.rules.to_mut().attributes.intern(&stat.tag)),
            is_modifiable: stat.modifiable,
            scale: stat.scales.as_ref().and_then(|scales| c.scale(at, scales)),
        };
        let stats: Box<[StatDef]> = self.stats.iter().enumerate().map(def).collect();
        if let Some(set) = c.rules.to_mut().sets.get_mut(id.0).filter(|set| set.attributes.len() == stats.len()) {
            set.stats = stats;
        }
    }
}

impl Compiler<'_> {
    fn check_stat(&mut self, at: usize, stat: &Stat) {
        let tag = &stat.tag;
        let is_name = |name: &str| !name.is_empty() && !name.contains('.');
        if !tag.strip_prefix(STAT_PREFIX).is_some_and(is_name) {
            let message = format!("Stats[{at}].Tag: {tag} is not the tag of a stat; write Stat. and one name");
            self.error("bad-stat", message);
        }
        if let (Some(min), Some(max)) = (stat.min, stat.max)
            && min > max
        {
            self.error("bad-stat", format!("Stats[{at}]: Min {min} is above Max {max}; swap them"));
        }
    }

    /// Compiles the combat value that a stat multiplies.
    fn scale(&mut self, at: usize, scales: &Scales) -> Option<ScaleDef> {
        let value = scales.value();
        let place = format!("Stats[{at}].Scales");
        let Some(on) = RuleOn::scaled(&value.on) else {
            let names = || RuleOn::scaled_names();
            let near = suggestion(nearest(&value.on, names()));
            let known = names().collect::<Vec<_>>().join(", ");
            let help = if near.is_empty() { format!("; write one of {known}") } else { near };
            self.error("bad-stat", format!("{place}: unknown combat value {}{help}", value.on));
            return None;
        };
        let abilities = value.abilities.iter().filter_map(|a| self.ability_ref(&place, a)).collect();
        let tags = self.tag_list(&value.ability_tags);
        Some(ScaleDef { on, abilities, tags })
    }

    /// Returns the set of a stat table that a document refers to, or reports an error.
    pub(crate) fn stat_table_ref(&mut self, place: &str, name: &str) -> Option<SetId> {
        let found = self.find(NameKind::Set, name).map(SetId);
        let Some(set) = found else {
            let near = self.nearest_suggestion(NameKind::Set, name);
            self.error("unknown-set", format!("{place}: unknown stat table {name}{near}"));
            return None;
        };
        if !self.rules.is_stat_table(set) {
            let message = format!("{place}: {name} is an attribute set; move it to AttributeSets");
            self.error("unknown-set", message);
            return None;
        }
        Some(set)
    }

    /// Reports a modifier of a stat that effects may not modify, if every set that defines the attribute says so.
    pub(crate) fn check_modified(&mut self, place: &str, attribute: AttributeId) {
        if self.rules.is_fixed_stat(attribute) {
            let name = self.rules.attribute_name(attribute).unwrap_or("?").to_owned();
            let message =
                format!("{place}: {name} has Modifiable: false; modify another attribute, or change the stat");
            self.error("fixed-stat", message);
        }
    }
}

impl Rules {
    /// Returns whether an attribute set is a stat table.
    pub(crate) fn is_stat_table(&self, set: SetId) -> bool {
        self.set_def(set).is_some_and(|def| !def.stats.is_empty())
    }

    /// Iterates over the attributes that a name means: of each set that defines the attribute, its stat, or `None` if
    /// the set is not a stat table.
    fn stats_of(&self, attribute: AttributeId) -> impl Iterator<Item = Option<&StatDef>> {
        let aliased = self.aliases.iter().filter(move |a| a.0 == attribute).map(|a| (a.2, a.1));
        let own = self.homes_of(attribute).map(move |set| (attribute, set));
        let is_defined = |(attribute, set): &(AttributeId, SetId)| self.homes.contains(&(*attribute, *set));
        aliased.chain(own).filter(is_defined).map(|(attribute, set)| self.set_def(set)?.stat(attribute))
    }

    /// Returns whether an id is the tag of a stat that a table of these rules defines.
    pub(crate) fn is_stat_name(&self, alias: AttributeId) -> bool {
        self.aliases.iter().any(|&(a, set, attribute)| a == alias && self.homes.contains(&(attribute, set)))
    }

    /// Returns whether an attribute is a stat in every set that defines it.
    pub(crate) fn is_stat(&self, attribute: AttributeId) -> bool {
        let mut stats = self.stats_of(attribute).peekable();
        stats.peek().is_some() && stats.all(|stat| stat.is_some())
    }

    /// Returns the attribute of a stat; `stat` is the id of its tag (`Stat.Haste`) or of the attribute (`Haste`).
    /// Facts name the attribute. Returns `None` if the id is not a stat.
    ///
    /// ```
    /// use ugas_core::Rules;
    /// use ugas_doc::{Stat, StatTable};
    /// let rules = Rules::builder().add(StatTable::new("MageStats").with(Stat::new("Stat.Haste", 1.0))).build()?;
    /// assert_eq!(rules.stat_attribute(rules.attribute("Stat.Haste")?), Some(rules.attribute("Haste")?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stat_attribute(&self, stat: AttributeId) -> Option<AttributeId> {
        let stats = self.sets.iter().flatten().flat_map(|set| set.attributes.iter().zip(&set.stats));
        let mut meant = stats.filter(|(a, def)| def.alias == stat || a.attribute == stat);
        meant.next().map(|(a, _)| a.attribute)
    }

    /// Returns whether effects may not modify a stat, in every table that defines it (`Modifiable: false`).
    ///
    /// ```
    /// use ugas_core::Rules;
    /// use ugas_doc::{Stat, StatTable};
    /// let fixed = Stat { modifiable: false, ..Stat::new("Stat.Mass", 80.0) };
    /// let rules = Rules::builder().add(StatTable::new("Body").with(fixed)).build()?;
    /// assert!(rules.is_fixed_stat(rules.attribute("Stat.Mass")?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_fixed_stat(&self, attribute: AttributeId) -> bool {
        let mut stats = self.stats_of(attribute).peekable();
        stats.peek().is_some() && stats.all(|stat| stat.is_some_and(|s| !s.is_modifiable))
    }

    /// Returns the default of a stat in its table, within its bounds; `None` if the attribute is not a stat. A client
    /// can ask before it has received any state.
    ///
    /// ```
    /// use ugas_core::Rules;
    /// use ugas_doc::{Stat, StatTable};
    /// let rules = Rules::builder().add(StatTable::new("MageStats").with(Stat::new("Stat.MaxMana", 120.0))).build()?;
    /// assert_eq!(rules.stat_default(rules.attribute("Stat.MaxMana")?), Some(120.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stat_default(&self, stat: AttributeId) -> Option<f64> {
        let plain = self.stat_attribute(stat)?;
        self.sets.iter().flatten().filter(|set| !set.stats.is_empty()).find_map(|set| {
            let attribute = set.attributes.iter().find(|a| a.attribute == plain)?;
            let bound = |bound: BoundDef, open: f64| if let BoundDef::Value(v) = bound { v } else { open };
            Some(clamp(attribute.default, bound(attribute.min, 0.0).max(0.0), bound(attribute.max, f64::INFINITY)))
        })
    }

    /// Returns the stats of a controller that multiply combat values, if only the names of its attributes are known.
    /// Each item is the id of the stat's tag and what it multiplies. The controller has a table if it has all stats of
    /// the table. No controller has two tables with a common stat: of such tables, it has the one with the most stats.
    pub(crate) fn scales_of(&self, has: impl Fn(AttributeId) -> bool) -> Vec<(AttributeId, &ScaleDef)> {
        let tables = self.sets.iter().flatten().map(|set| &set.stats).filter(|stats| !stats.is_empty());
        let mut held: Vec<&[StatDef]> = Vec::new();
        for stats in tables.filter(|stats| stats.iter().all(|stat| has(stat.alias))) {
            let shares = |other: &&[StatDef]| other.iter().any(|a| stats.iter().any(|b| a.alias == b.alias));
            if held.iter().filter(|other| shares(other)).all(|other| other.len() < stats.len()) {
                held.retain(|other| !shares(other));
                held.push(stats);
            }
        }
        held.into_iter().flatten().filter_map(|stat| Some((stat.alias, stat.scale.as_ref()?))).collect()
    }
}
