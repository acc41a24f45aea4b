//! The look-ups of the compiler. They replace a name in a document with its id, or report an error with a suggestion.

use super::compile::Compiler;
use super::curve::CurveDef;
use super::expr::{Expr, Resolve};
use super::param::shown;
use super::scope::Scope;
use super::tag::{TagQuery, tag_segments};
use crate::{AbilityId, AttributeId, CalcId, EffectId, GroupId, InputId, KeyId, NameKind, ParamId, SetId, TagId};
use std::borrow::Cow;
use std::sync::Arc;
use ugas_doc::{STAT_PREFIX, Value};

impl Compiler<'_> {
    /// Returns the id of a name that a document of these rules defines. A name from older rules may have no definition.
    pub(crate) fn find(&self, kind: NameKind, name: &str) -> Option<u32> {
        self.rules.names(kind).find(name).filter(|&id| self.is_defined(kind, id))
    }

    /// Returns a suggestion to append to a message.
    pub(crate) fn nearest_suggestion(&self, kind: NameKind, name: &str) -> String {
        let names = self.rules.names(kind);
        if self.are_suggestions_too_costly(names.len()) {
            return String::new();
        }
        suggestion(names.nearest_of(name, |id| self.is_defined(kind, id)))
    }

    /// Returns whether suggestions would take too long, because each suggestion compares every name.
    pub(crate) fn are_suggestions_too_costly(&self, names: usize) -> bool {
        const COMPARISONS: usize = 1 << 20;
        self.issues.len().saturating_mul(names) > COMPARISONS
    }

    fn is_defined(&self, kind: NameKind, id: u32) -> bool {
        // Documents may refer to later documents, so a declared name counts as defined.
        self.declared.contains(&(kind, id)) || self.rules.has(kind, id)
    }

    /// Returns the id of a name that a document refers to, or reports an error that suggests the most similar name.
    pub(crate) fn reference(&mut self, kind: NameKind, code: &'static str, place: &str, name: &str) -> Option<u32> {
        let found = self.find(kind, name);
        if found.is_none() {
            let near = self.nearest_suggestion(kind, name);
            self.error(code, format!("{place}: unknown {kind} {name}{near}"));
        }
        found
    }

    /// Returns whether no name can be added, because a run-time definition is compiled on top of finished rules.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self.rules, Cow::Borrowed(_))
    }

    /// Resolves `Name` of any set, or `Set.Name`.
    pub(crate) fn find_attribute(&mut self, name: &str) -> Result<AttributeId, String> {
        let known = self.rules.attributes.find(name).map(AttributeId);
        if let Some(id) = known.filter(|&id| self.rules.is_defined(id)) {
            return Ok(id);
        }
        if let Some(&(alias, ..)) = self.rules.aliases.iter().find(|a| Some(a.0) == known)
            && name.starts_with(STAT_PREFIX)
            && self.rules.is_stat_name(alias)
        {
            return Ok(alias);
        }
        if let Some((set, short)) = name.split_once('.')
            && let (Some(set), Some(plain)) =
                (self.find(NameKind::Set, set).map(SetId), self.rules.find_attribute(short))
            && self.rules.homes.contains(&(plain, set))
        {
            if let Some(&(alias, ..)) = self.rules.aliases.iter().find(|&&a| Some(a.0) == known && a.1 == set) {
                return Ok(alias);
            }
            if self.is_fixed() {
                return Err(format!("a run-time definition cannot add the name {name}; write {short}"));
            }
            let rules = self.rules.to_mut();
            let alias = AttributeId(rules.attributes.intern(name));
            rules.aliases.push((alias, set, plain));
            return Ok(alias);
        }
        let near = match self.are_suggestions_too_costly(self.rules.attributes.len()) {
            true => None,
            false => self.rules.attributes.nearest_of(name, |id| self.rules.is_defined(AttributeId(id))),
        };
        Err(format!("unknown attribute {name}{}", suggestion(near)))
    }

    /// Resolves `Name` or `Set.Name` of an existing set.
    pub(crate) fn attribute_ref(&mut self, place: &str, name: &str) -> Option<AttributeId> {
        match self.find_attribute(name) {
            Ok(id) => Some(id),
            Err(why) => {
                self.error("unknown-attribute", format!("{place}: {why}"));
                None
            }
        }
    }

    /// Compiles an expression that reads only attributes.
    pub(crate) fn expression(&mut self, place: &str, text: &str) -> Option<Expr> {
        self.expression_in(place, text, Scope::VALUES)
    }

    /// Compiles an expression that may read the locals of its scope.
    pub(crate) fn expression_in(&mut self, place: &str, text: &str, scope: Scope) -> Option<Expr> {
        match self.parse_expr(text, scope) {
            Ok(e) => Some(e),
            Err(why) => {
                self.error("bad-expression", format!("{place}: {why}"));
                None
            }
        }
    }

    pub(crate) fn parse_expr(&mut self, text: &str, scope: Scope) -> Result<Expr, String> {
        Expr::parse(text, scope, self)
    }

    /// Compiles a tag query. Using a tag declares it.
    pub(crate) fn query(&mut self, place: &str, text: &str) -> Option<TagQuery> {
        match TagQuery::parse_with(text, &mut |name| Resolve::tag(self, name)) {
            Ok(query) => Some(query),
            Err(why) => {
                self.error("bad-query", format!("{place}: {why}"));
                None
            }
        }
    }

    /// Returns the id of a parameter or restriction and stores its name for display.
    pub(crate) fn param(&mut self, name: &str) -> ParamId {
        let id = ParamId::named(name);
        if !self.is_fixed() {
            self.rules.to_mut().param_names.entry(id).or_insert_with(|| name.into());
        }
        id
    }

    /// Returns the id of a cooldown group or activation group and stores its name for display.
    pub(crate) fn group(&mut self, name: &str) -> GroupId {
        let id = GroupId::named(name);
        if !self.is_fixed() {
            self.rules.to_mut().group_names.entry(id).or_insert_with(|| name.into());
        }
        id
    }

    /// Resolves a curve of an expression.
    pub(crate) fn curve(&mut self, name: &str) -> Result<Arc<CurveDef>, String> {
        let found = self.find(NameKind::Curve, name).and_then(|id| self.rules.curves.get(id).cloned());
        found.ok_or_else(|| format!("unknown curve {name}{}", self.nearest_suggestion(NameKind::Curve, name)))
    }

    pub(crate) fn effect_ref(&mut self, place: &str, name: &str) -> Option<EffectId> {
        self.reference(NameKind::Effect, "unknown-effect", place, name).map(EffectId)
    }

    pub(crate) fn ability_ref(&mut self, place: &str, name: &str) -> Option<AbilityId> {
        self.reference(NameKind::Ability, "unknown-ability", place, name).map(AbilityId)
    }

    /// Resolves a calculation and checks the parameters that the document supplies.
    pub(crate) fn calc_ref(&mut self, place: &str, name: &str, given: &[(Arc<str>, Value)]) -> Option<CalcId> {
        let found = self.rules.find_calculator(name);
        let wanted = found.and_then(|id| self.rules.calcs.get(id.0)).map(|c| c.params.clone()).unwrap_or_default();
        for param in &wanted {
            match given.iter().find(|(p, _)| p == param).map(|(_, value)| value) {
                Some(Value::Number(_) | Value::Bool(_)) => {}
                Some(value) => {
                    let found = shown(value);
                    self.error("bad-param", format!("{place}.Params.{param}: expected a number, found {found}"));
                }
                None => {
                    self.error("bad-param", format!("{place}.Params.{param}: missing; {name} reads this parameter"))
                }
            }
        }
        // An error in the calculation itself is reported at its document.
        let is_reported = || self.issues.iter().any(|i| i.document == name && i.severity == crate::Severity::Error);
        if found.is_none() && !is_reported() {
            let near = self.nearest_suggestion(NameKind::Calculation, name);
            let other = "; write a document of Kind calculation, or register code";
            let help = if near.is_empty() { other } else { &near };
            self.error("unknown-calculation", format!("{place}: unknown calculation {name}{help}"));
        }
        found
    }

    pub(crate) fn input(&mut self, name: Option<&str>) -> InputId {
        let Some(name) = name else { return InputId::NONE };
        if let Some(id) = self.rules.find_input(name) {
            self.check_simulated(id, name);
            return id;
        }
        if self.is_fixed() {
            let near = suggestion(self.rules.input_names.nearest(name));
            self.error(
                "unknown-input",
                format!("unknown input {name}, and a run-time definition cannot add inputs{near}"),
            );
            return InputId::NONE;
        }
        InputId(self.rules.to_mut().input_names.intern(name))
    }

    pub(crate) fn key(&mut self, place: &str, name: &str) -> Option<KeyId> {
        if let Some(id) = self.rules.find_key(name) {
            return Some(id);
        }
        if self.is_fixed() {
            let near = suggestion(self.rules.key_names.nearest(name));
            let message =
                format!("{place}: unknown set-by-caller key {name}, and a run-time definition cannot add keys{near}");
            self.error("unknown-key", message);
            return None;
        }
        Some(KeyId(self.rules.to_mut().key_names.intern(name)))
    }
}

impl Resolve for Compiler<'_> {
    fn attribute(&mut self, name: &str) -> Result<AttributeId, String> {
        self.find_attribute(name)
    }

    fn tag(&mut self, name: &str) -> Result<TagId, String> {
        if tag_segments(name).is_none() {
            return Err(format!("{name:?} is not a valid tag; write segments such as State.Debuff"));
        }
        if self.is_fixed() && self.rules.find_tag(name).is_none() {
            let near = suggestion(self.rules.tags.nearest(name));
            return Err(format!("unknown tag {name}, and a run-time definition cannot add tags{near}"));
        }
        Compiler::tag(self, name).ok_or_else(|| format!("{name:?} is not a valid tag"))
    }

    fn curve(&mut self, name: &str) -> Result<Arc<CurveDef>, String> {
        Compiler::curve(self, name)
    }

    fn key(&mut self, name: &str) -> Result<KeyId, String> {
        if let Some(id) = self.rules.find_key(name) {
            return Ok(id);
        }
        if self.is_fixed() {
            let near = suggestion(self.rules.key_names.nearest(name));
            return Err(format!("unknown set-by-caller key {name}, and a run-time definition cannot add keys{near}"));
        }
        Ok(KeyId(self.rules.to_mut().key_names.intern(name)))
    }
}

/// Formats a suggestion to append to a message.
pub(crate) fn suggestion(near: Option<&str>) -> String {
    near.map(|n| format!("; did you mean {n}?")).unwrap_or_default()
}
