//! The reader of task parameters. Each function reads a parameter as one type. An error contains the path of the
//! parameter.

use super::code::{ErasedTask, TaskCode};
use super::compile::Compiler;
use super::interner::nearest;
use super::lookup::suggestion;
use super::scope::Scope;
use super::tag::TagQuery;
use super::task::{AbilityPick, EffectPick, Num};
use crate::{EffectId, InputId, KeyId, ParamId, TagId, TaskKindId};
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_doc::{AbilityTask, Time, Value};

pub(crate) struct Fields<'c, 'r, 'd> {
    pub(crate) c: &'c mut Compiler<'r>,
    doc: &'d AbilityTask,
    path: &'d str,
    /// The names of the parameters that were read. All other parameters are errors.
    asked: Vec<&'static str>,
    open: bool,
}

impl<'c, 'r, 'd> Fields<'c, 'r, 'd> {
    pub(crate) fn new(c: &'c mut Compiler<'r>, doc: &'d AbilityTask, path: &'d str) -> Fields<'c, 'r, 'd> {
        Fields { c, doc, path, asked: Vec::new(), open: false }
    }

    /// Reports parameters that were not read.
    pub(crate) fn finish(self) {
        if self.open {
            return;
        }
        for name in self.doc.params.keys().filter(|n| !self.asked.contains(&n.as_str())) {
            let near = suggestion(nearest(name, self.asked.iter().copied()));
            let message = match self.asked.as_slice() {
                [] => format!("{}.Params.{name}: {} has no parameters; remove it", self.path, self.doc.kind),
                known => format!(
                    "{}.Params.{name}: unknown parameter of {}{}",
                    self.path,
                    self.doc.kind,
                    if near.is_empty() { format!("; the parameters are {}", known.join(", ")) } else { near }
                ),
            };
            self.c.error("bad-param", message);
        }
    }

    /// Returns the authored parameters.
    pub(crate) fn params(&self) -> &'d BTreeMap<String, Value> {
        &self.doc.params
    }

    /// Returns the code that the host registered for the type of this task.
    pub(crate) fn registered_code(&self) -> Option<Arc<dyn ErasedTask>> {
        let rules = &self.c.rules;
        let id = rules.task_names.find(&self.doc.kind).map(TaskKindId)?;
        rules.task_code.get(&id).map(|TaskCode(code)| code.clone())
    }

    /// Accepts all other parameters. They are passed to the engine unchanged.
    pub(crate) fn accept_rest(&mut self) {
        self.open = true;
    }

    fn get(&mut self, name: &'static str) -> Option<&'d Value> {
        self.asked.push(name);
        self.doc.params.get(name).filter(|v| **v != Value::Null)
    }

    pub(crate) fn bad(&mut self, name: &str, why: String) {
        self.c.error("bad-param", format!("{}.Params.{name}: {why}", self.path));
    }

    /// Reports that the type of the task is not allowed.
    pub(crate) fn bad_type(&mut self, why: &str) {
        self.c.error("bad-task", format!("{}.Type: {why}", self.path));
    }

    fn wrong(&mut self, name: &str, expected: &str, found: &Value) {
        self.bad(name, format!("expected {expected}, found {}", shown(found)));
    }

    /// Reads a required parameter.
    fn need<T>(
        &mut self,
        name: &'static str,
        expected: &str,
        read: impl FnOnce(&mut Self, &'static str) -> Option<T>,
    ) -> Option<T> {
        let there = self.has(name);
        let value = read(self, name);
        if !there {
            self.bad(name, format!("missing; {} needs {expected}", self.doc.kind));
        }
        value
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Option<&'d str> {
        match self.get(name)? {
            Value::Text(t) if !t.is_empty() => Some(t),
            other @ Value::Null
            | other @ Value::Bool(_)
            | other @ Value::Number(_)
            | other @ Value::Text(_)
            | other @ Value::List(_)
            | other @ Value::Map(_) => {
                self.wrong(name, "a text", other);
                None
            }
        }
    }
    pub(crate) fn need_text(&mut self, name: &'static str) -> Option<Arc<str>> {
        self.need(name, "a name", Self::text).map(Arc::from)
    }

    pub(crate) fn flag(&mut self, name: &'static str, default: bool) -> bool {
        match self.get(name) {
            None => default,
            Some(Value::Bool(b)) => *b,
            Some(other) => {
                self.wrong(name, "true or false", other);
                default
            }
        }
    }

    /// Reads a whole number of at least 1.
    pub(crate) fn count(&mut self, name: &'static str) -> Option<u32> {
        match self.get(name)? {
            Value::Number(n) if n.fract() == 0.0 && (1.0..=u32::MAX as f64).contains(n) => Some(*n as u32),
            other @ Value::Null
            | other @ Value::Bool(_)
            | other @ Value::Number(_)
            | other @ Value::Text(_)
            | other @ Value::List(_)
            | other @ Value::Map(_) => {
                self.wrong(name, "a whole number from 1", other);
                None
            }
        }
    }

    fn number(&mut self, name: &str, value: &Value, frames: bool) -> Option<Num> {
        match value {
            Value::Number(n) if n.is_finite() => Some(Num::Value(*n + 0.0)),
            Value::Text(t) => {
                if let Some(Time::Frames(n)) = Time::parse(t) {
                    if frames {
                        return Some(Num::Frames(n));
                    }
                    self.bad(
                        name,
                        format!("{t:?} is a number of frames, but the parameter is not a time; write a number"),
                    );
                    return None;
                }
                let place = format!("{}.Params.{name}", self.path);
                match self.c.parse_expr(t, Scope::TASK) {
                    Ok(e) => Some(Num::Expr(e)),
                    Err(why) => {
                        self.c.error("bad-param", format!("{place}: {why}"));
                        None
                    }
                }
            }
            other @ Value::Null
            | other @ Value::Bool(_)
            | other @ Value::Number(_)
            | other @ Value::List(_)
            | other @ Value::Map(_) => {
                let expected =
                    if frames { "seconds, an expression or frames such as 12f" } else { "a number or an expression" };
                self.wrong(name, expected, other);
                None
            }
        }
    }

    pub(crate) fn num(&mut self, name: &'static str) -> Option<Num> {
        let value = self.get(name)?;
        self.number(name, value, false)
    }
    pub(crate) fn need_num(&mut self, name: &'static str) -> Option<Num> {
        self.need(name, "a number or an expression", Self::num)
    }
    /// Reads a time in seconds or frames that is not negative.
    pub(crate) fn time(&mut self, name: &'static str) -> Option<Num> {
        let value = self.get(name)?;
        if let Value::Number(n) = value
            && *n < 0.0
        {
            self.bad(name, format!("expected seconds from 0, found {n}"));
            return None;
        }
        self.number(name, value, true)
    }
    pub(crate) fn need_time(&mut self, name: &'static str) -> Option<Num> {
        self.need(name, "seconds, an expression or frames such as 12f", Self::time)
    }

    /// Reads `{key: number or expression}`.
    pub(crate) fn by_caller(&mut self, name: &'static str) -> Box<[(KeyId, Num)]> {
        let map = match self.get(name) {
            None => return Box::default(),
            Some(Value::Map(map)) => map,
            Some(other) => {
                self.wrong(name, "a map of keys and numbers", other);
                return Box::default();
            }
        };
        let mut list = Vec::with_capacity(map.len());
        for (key, value) in map {
            let number = self.number(&format!("{name}.{key}"), value, false);
            let id = self.c.key(&format!("{}.Params.{name}", self.path), key);
            list.extend(id.zip(number));
        }
        list.sort_by_key(|(key, _)| *key);
        list.into()
    }

    pub(crate) fn tag(&mut self, name: &'static str) -> Option<TagId> {
        let text = self.text(name)?;
        self.c.tag(text)
    }
    pub(crate) fn need_tag(&mut self, name: &'static str) -> Option<TagId> {
        self.need(name, "a tag", Self::tag)
    }

    /// Reads one tag or a list of tags.
    pub(crate) fn tags(&mut self, name: &'static str) -> Box<[TagId]> {
        let list: &[Value] = match self.get(name) {
            None => return Box::default(),
            Some(Value::List(list)) => list,
            Some(one) => std::slice::from_ref(one),
        };
        let mut tags = Vec::with_capacity(list.len());
        for value in list {
            match value {
                Value::Text(t) => tags.extend(self.c.tag(t)),
                other @ Value::Null
                | other @ Value::Bool(_)
                | other @ Value::Number(_)
                | other @ Value::List(_)
                | other @ Value::Map(_) => self.wrong(name, "a tag or a list of tags", other),
            }
        }
        tags.into()
    }

    pub(crate) fn effect(&mut self, name: &'static str) -> Option<EffectId> {
        let text = self.text(name)?;
        let place = format!("{}.Params.{name}", self.path);
        self.c.effect_ref(&place, text)
    }
    pub(crate) fn need_effect(&mut self, name: &'static str) -> Option<EffectId> {
        self.need(name, "the name of an effect", Self::effect)
    }

    /// Returns whether a parameter is present.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.doc.params.get(name).is_some_and(|v| *v != Value::Null)
    }

    /// Reads a list.
    pub(crate) fn list(&mut self, name: &'static str) -> Option<&'d [Value]> {
        match self.get(name)? {
            Value::List(list) => Some(list),
            other @ Value::Null
            | other @ Value::Bool(_)
            | other @ Value::Number(_)
            | other @ Value::Text(_)
            | other @ Value::Map(_) => {
                self.wrong(name, "a list", other);
                None
            }
        }
    }

    /// Resolves the name of an effect inside a parameter.
    pub(crate) fn effect_named(&mut self, place: &str, name: &str) -> Option<EffectId> {
        let place = format!("{}.Params.{place}", self.path);
        self.c.effect_ref(&place, name)
    }

    /// Returns whether only the server may apply an effect.
    pub(crate) fn is_for_authority(&self, effect: EffectId) -> bool {
        self.c.rules.is_for_authority(effect)
    }

    /// Checks that exactly one of two parameters is present.
    fn one_of(&mut self, a: &'static str, b: &'static str) -> bool {
        let there = |n: &str| self.has(n);
        let exactly = there(a) != there(b);
        if !exactly {
            let found = if there(a) { "both" } else { "neither" };
            let message = format!("{}.Params: {} needs either {a} or {b}, found {found}", self.path, self.doc.kind);
            self.c.error("bad-param", message);
        }
        exactly
    }

    /// Reads `EffectClass` or `WithTags`.
    pub(crate) fn effects(&mut self) -> Option<EffectPick> {
        let exactly = self.one_of("EffectClass", "WithTags");
        let (effect, tags) = (self.effect("EffectClass"), self.tags("WithTags"));
        match effect {
            _ if !exactly => None,
            Some(effect) => Some(EffectPick::Effect(effect)),
            None => (!tags.is_empty()).then_some(EffectPick::Tags(tags)),
        }
    }

    /// Reads `Ability` or `WithTags`.
    pub(crate) fn abilities(&mut self) -> Option<AbilityPick> {
        let exactly = self.one_of("Ability", "WithTags");
        let ability = self.text("Ability");
        let ability = ability.and_then(|name| {
            let place = format!("{}.Params.Ability", self.path);
            self.c.ability_ref(&place, name)
        });
        let tags = self.tags("WithTags");
        match ability {
            _ if !exactly => None,
            Some(ability) => Some(AbilityPick::Ability(ability)),
            None => (!tags.is_empty()).then_some(AbilityPick::Tags(tags)),
        }
    }

    pub(crate) fn attribute(&mut self, name: &'static str) -> Option<crate::AttributeId> {
        let text = self.need(name, "the name of an attribute", Self::text)?;
        let place = format!("{}.Params.{name}", self.path);
        self.c.attribute_ref(&place, text)
    }

    pub(crate) fn query(&mut self, name: &'static str) -> Option<TagQuery> {
        let text = self.text(name)?;
        let place = format!("{}.Params.{name}", self.path);
        self.c.query(&place, text)
    }
    pub(crate) fn need_query(&mut self, name: &'static str) -> Option<TagQuery> {
        self.need(name, "a tag query", Self::query)
    }

    pub(crate) fn input(&mut self, name: &'static str) -> Option<InputId> {
        let text = self.text(name)?;
        Some(self.c.input(Some(text)))
    }

    /// Reads the name of a parameter or a restriction.
    pub(crate) fn param(&mut self, name: &'static str) -> Option<ParamId> {
        let text = self.need(name, "a name", Self::text)?;
        Some(self.c.param(text))
    }

    /// Reads one of several words.
    pub(crate) fn word<T: Copy>(&mut self, name: &'static str, words: &[(&'static str, T)]) -> Option<T> {
        let text = self.text(name)?;
        let found = words.iter().find(|(w, _)| *w == text).map(|(_, t)| *t);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(w, _)| *w).collect();
            self.bad(name, format!("expected one of {}, found {text:?}", known.join(", ")));
        }
        found
    }
    pub(crate) fn need_word<T: Copy>(&mut self, name: &'static str, words: &[(&'static str, T)]) -> Option<T> {
        let known: Vec<&str> = words.iter().map(|(w, _)| *w).collect();
        self.need(name, &format!("one of {}", known.join(", ")), |f, name| f.word(name, words))
    }
}

/// Returns a value as it is named in messages.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => n.to_string(),
        Value::Text(t) => format!("the text {:?}", t.chars().take(40).collect::<String>()),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
    }
}
