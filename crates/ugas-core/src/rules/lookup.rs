//! The compiler's look-ups: names in documents become ids, or an error with a suggestion.

use super::compile::Compiler;
use super::curve::CurveDef;
use super::effect::{CurveInput, Mag};
use super::expr::{Expr, Resolve};
use super::names::Names;
use super::scope::Scope;
use super::tag::{TagQuery, tag_segments};
use crate::{AbilityId, AttributeId, CalcId, CurveId, EffectId, GroupId, InputId, KeyId, ParamId, SetId, TagId};
use std::borrow::Cow;
use std::sync::Arc;
use ugas_doc::{Magnitude, MagnitudeSource, MagnitudeType, Value};

/// The kinds of named definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Set,
    Effect,
    Ability,
    AbilitySet,
    Timeline,
    Curve,
}

impl Compiler<'_> {
    /// Finds a name that a document of these rules defines. The name alone may be a tombstone of older rules.
    pub(crate) fn find(&self, kind: Kind, name: &str) -> Option<u32> {
        self.names(kind).find(name).filter(|&id| self.defines(kind, id))
    }

    /// Returns a suggestion to append to a message.
    pub(crate) fn nearest_suggestion(&self, kind: Kind, name: &str) -> String {
        let names = self.names(kind);
        if self.are_suggestions_too_costly(names.len()) {
            return String::new();
        }
        suggestion(names.nearest_of(name, |id| self.defines(kind, id)))
    }

    /// Returns whether there are so many errors among so many names that suggestions cost too much: each one compares
    /// every name.
    pub(crate) fn are_suggestions_too_costly(&self, names: usize) -> bool {
        const COMPARISONS: usize = 1 << 20;
        self.issues.len().saturating_mul(names) > COMPARISONS
    }

    fn names(&self, kind: Kind) -> &Names {
        match kind {
            Kind::Set => &self.rules.set_names,
            Kind::Effect => &self.rules.effect_names,
            Kind::Ability => &self.rules.ability_names,
            Kind::AbilitySet => &self.rules.ability_set_names,
            Kind::Timeline => &self.rules.timeline_names,
            Kind::Curve => &self.rules.curve_names,
        }
    }

    fn defines(&self, kind: Kind, id: u32) -> bool {
        fn there<T>(table: &[Option<T>], id: u32) -> bool {
            table.get(id as usize).is_some_and(Option::is_some)
        }
        // Documents may refer to later ones, so a name that is only declared counts too.
        self.declared.contains(&(kind, id))
            || match kind {
                Kind::Set => there(&self.rules.sets, id),
                Kind::Effect => there(&self.rules.effects, id),
                Kind::Ability => there(&self.rules.abilities, id),
                Kind::AbilitySet => there(&self.rules.ability_sets, id),
                Kind::Timeline => there(&self.rules.timelines, id),
                Kind::Curve => there(&self.rules.curves, id),
            }
    }

    /// Returns whether the rules are finished, so that no name can be added: a run-time definition is compiled.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self.rules, Cow::Borrowed(_))
    }

    /// Resolves `Name` of any set, or `Set.Name`.
    pub(crate) fn find_attribute(&mut self, name: &str) -> Result<AttributeId, String> {
        let known = self.rules.attributes.find(name).map(AttributeId);
        if let Some(id) = known.filter(|&id| self.rules.is_defined(id)) {
            return Ok(id);
        }
        if let Some((set, short)) = name.split_once('.')
            && let (Some(set), Some(plain)) = (self.find(Kind::Set, set).map(SetId), self.rules.find_attribute(short))
            && self.rules.homes.contains(&(plain, set))
        {
            if let Some(&(alias, ..)) = self.rules.aliases.iter().find(|&&a| Some(a.0) == known && a.1 == set) {
                return Ok(alias);
            }
            if self.is_fixed() {
                return Err(format!("no document of the rules uses the form {name}; write {short}"));
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

    /// Compiles an expression that reads attributes only.
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

    /// Compiles a tag query; its tags declare themselves as everywhere.
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
        let found = self.find(Kind::Curve, name).and_then(|id| self.rules.curves[id as usize].clone());
        found.ok_or_else(|| format!("unknown curve {name}{}", self.nearest_suggestion(Kind::Curve, name)))
    }

    pub(crate) fn effect_ref(&mut self, place: &str, name: &str) -> Option<EffectId> {
        let found = self.find(Kind::Effect, name);
        if found.is_none() {
            let near = self.nearest_suggestion(Kind::Effect, name);
            self.error("unknown-effect", format!("{place}: unknown effect {name}{near}"));
        }
        found.map(EffectId)
    }

    pub(crate) fn ability_ref(&mut self, place: &str, name: &str) -> Option<AbilityId> {
        let found = self.find(Kind::Ability, name);
        if found.is_none() {
            let near = self.nearest_suggestion(Kind::Ability, name);
            self.error("unknown-ability", format!("{place}: unknown ability {name}{near}"));
        }
        found.map(AbilityId)
    }

    /// Resolves a calculation that gets these parameters.
    pub(crate) fn calc_ref(&mut self, place: &str, name: &str, given: &[(Arc<str>, Value)]) -> Option<CalcId> {
        let found = self.rules.find_calculator(name);
        let wanted = found.and_then(|id| self.rules.calcs[id.index()].clone()).map(|c| c.params).unwrap_or_default();
        for param in &wanted {
            match given.iter().find(|(p, _)| p == param).map(|(_, value)| value) {
                Some(Value::Number(_) | Value::Bool(_)) => {}
                Some(_) => self.error("bad-param", format!("{place}.Params.{param}: expected a number")),
                None => self.error("bad-param", format!("{place}.Params.{param}: {name} reads it, and it is missing")),
            }
        }
        // A calculation with errors of its own is reported at its own place.
        let is_reported = || self.issues.iter().any(|i| i.document == name && i.severity == crate::Severity::Error);
        if found.is_none() && !is_reported() {
            let known = |id: u32| self.rules.calcs[id as usize].is_some();
            let near = match self.are_suggestions_too_costly(self.rules.calc_names.len()) {
                true => String::new(),
                false => suggestion(self.rules.calc_names.nearest_of(name, known)),
            };
            self.error(
                "unknown-calculation",
                format!("{place}: no calculation {name}{near}; write a document of Kind calculation, or register code"),
            );
        }
        found
    }

    pub(crate) fn input(&mut self, name: Option<&str>) -> InputId {
        let Some(name) = name else { return InputId::NONE };
        if let Some(id) = self.rules.find_input(name) {
            return id;
        }
        if self.is_fixed() {
            let near = suggestion(self.rules.input_names.nearest(name));
            self.error("unknown-input", format!("the rules do not know the input {name}{near}"));
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
            let message = format!("{place}: the rules do not know the set-by-caller key {name}{near}");
            self.error("unknown-key", message);
            return None;
        }
        Some(KeyId(self.rules.to_mut().key_names.intern(name)))
    }

    pub(crate) fn magnitude(&mut self, place: &str, doc: &Magnitude) -> Option<Mag> {
        let numbers = [doc.value, doc.coefficient, doc.pre_multiply_additive, doc.post_multiply_additive];
        if let Some(v) = numbers.into_iter().flatten().find(|v| !v.is_finite()) {
            self.error("not-finite", format!("{place}: {v} is not a finite number"));
            return None;
        }
        let missing = |c: &mut Compiler, what: &str| {
            c.error("missing-field", format!("{place}: {:?} needs {what}", doc.kind));
            None
        };
        match doc.kind {
            MagnitudeType::ScalableFloat => match &doc.curve {
                None => match doc.value {
                    Some(v) => Some(Mag::Value(v + 0.0)),
                    None => missing(self, "Value or Curve"),
                },
                Some(name) => {
                    let Some(curve) = self.find(Kind::Curve, name).map(CurveId) else {
                        let near = self.nearest_suggestion(Kind::Curve, name);
                        self.error("unknown-curve", format!("{place}: unknown curve {name}{near}"));
                        return None;
                    };
                    let input = match doc.curve_input.as_deref() {
                        None | Some("Level") => CurveInput::Level,
                        Some(name) => match self.find_attribute(name) {
                            Ok(a) => CurveInput::Attribute(a),
                            Err(_) => CurveInput::Caller(self.key(place, name)?),
                        },
                    };
                    Some(Mag::Curve { curve, input, factor: doc.value.unwrap_or(1.0) })
                }
            },
            MagnitudeType::AttributeBased => match &doc.backing_attribute {
                None => missing(self, "BackingAttribute"),
                Some(name) => Some(Mag::Attribute {
                    attribute: self.attribute_ref(place, name)?,
                    of_target: doc.source == Some(MagnitudeSource::Target),
                    coefficient: doc.coefficient.unwrap_or(1.0),
                    pre: doc.pre_multiply_additive.unwrap_or(0.0),
                    post: doc.post_multiply_additive.unwrap_or(0.0),
                }),
            },
            MagnitudeType::CustomCalculation => match &doc.calculator_class {
                None => missing(self, "CalculatorClass"),
                Some(name) => self.calc_ref(place, name, &[]).map(Mag::Calc),
            },
            MagnitudeType::SetByCaller => match &doc.data_tag {
                None => missing(self, "DataTag"),
                Some(name) => self.key(place, name).map(Mag::Caller),
            },
        }
    }
}

impl Resolve for Compiler<'_> {
    fn attribute(&mut self, name: &str) -> Result<AttributeId, String> {
        self.find_attribute(name)
    }

    fn tag(&mut self, name: &str) -> Result<TagId, String> {
        if tag_segments(name).is_none() {
            return Err(format!("{name:?} is not a tag"));
        }
        if self.is_fixed() && self.rules.find_tag(name).is_none() {
            let near = suggestion(self.rules.tags.nearest(name));
            return Err(format!("the rules do not know the tag {name}, and a run-time definition cannot add it{near}"));
        }
        Compiler::tag(self, name).ok_or_else(|| format!("{name:?} is not a tag"))
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
            return Err(format!("the rules do not know the set-by-caller key {name}{near}"));
        }
        Ok(KeyId(self.rules.to_mut().key_names.intern(name)))
    }
}

/// Formats a suggestion to append to a message.
pub(crate) fn suggestion(near: Option<&str>) -> String {
    near.map(|n| format!("; did you mean {n}?")).unwrap_or_default()
}
