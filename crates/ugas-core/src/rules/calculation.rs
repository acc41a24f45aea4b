//! Calculations written as documents: expressions instead of code, with the same interface as a [`Calculator`].
//!
//! The compiler collects the attributes that a calculation reads from its expressions, so the list of declared reads is
//! always complete. `Let` values are stored on the stack, so a run does not allocate.

use super::calc::{Calc, CalcDef, CalcResult, Calculator, CaptureTime, Read};
use super::compile::Compiler;
use super::curve::CurveDef;
use super::document::{Phase, RulesDocument};
use super::expr::{Expr, NotFinite, Reads, Resolve, Side};
use super::interner::nearest;
use super::lookup::suggestion;
use super::scope::{Bearer, Local, Scope};
use crate::{AttributeId, KeyId, NameKind, Refusal, TagId};
use std::sync::Arc;
use ugas_doc::{Calculation, CaptureMoment, Operation, Origin, Value};

/// Maximum number of `Let` values of one calculation.
const MAX_BOUND: usize = 32;

/// A compiled `calculation` document.
#[derive(Debug, PartialEq)]
pub(crate) struct Formulas {
    reads: Vec<Read>,
    params: Box<[Arc<str>]>,
    bound: Box<[Expr]>,
    tags: Box<[(TagId, Option<Expr>)]>,
    results: Box<[ResultDef]>,
    value: Option<Expr>,
}

#[derive(Debug, PartialEq)]
struct ResultDef {
    attribute: AttributeId,
    op: Operation,
    value: Expr,
    when: Option<Expr>,
}

impl Formulas {
    /// Returns the parameters that the calculation reads. An execution must supply them.
    pub(crate) fn params(&self) -> &[Arc<str>] {
        &self.params
    }

    /// Returns whether the calculation draws random numbers.
    pub(crate) fn rolls(&self) -> bool {
        self.exprs().any(Expr::rolls)
    }

    fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let conditions = self.tags.iter().filter_map(|(_, when)| when.as_ref());
        let results = self.results.iter().flat_map(|r| [Some(&r.value), r.when.as_ref()]).flatten();
        self.bound.iter().chain(conditions).chain(results).chain(&self.value)
    }
}

impl Calculator for Formulas {
    fn reads(&self) -> &[Read] {
        &self.reads
    }

    fn run(&self, cx: &mut Calc<'_>) {
        let _ = self.compute(cx);
    }
}

impl Formulas {
    /// Runs the calculation; `None` if a value is missing, with the refusal in the context.
    fn compute(&self, cx: &mut Calc<'_>) -> Option<()> {
        let mut bound = [0.0; MAX_BOUND];
        for (i, expr) in self.bound.iter().enumerate() {
            bound[i] = expr.eval_with(&mut Running { cx, bound: &bound, params: &self.params })?;
        }
        let mut now = Running { cx, bound: &bound, params: &self.params };
        for (tag, when) in &self.tags {
            if holds(when, &mut now)? {
                now.cx.context_tags.push(*tag);
            }
        }
        for r in &self.results {
            if holds(&r.when, &mut now)? {
                let value = r.value.eval_with(&mut now)?;
                now.cx.results.push(CalcResult { attribute: r.attribute, op: r.op, value });
            }
        }
        if let Some(value) = &self.value {
            let value = value.eval_with(&mut now)?;
            now.cx.give(value);
        }
        Some(())
    }
}

fn holds(when: &Option<Expr>, reads: &mut Running<'_, '_>) -> Option<bool> {
    match when {
        None => Some(true),
        Some(expr) => expr.condition(reads).unwrap_or_else(|NotFinite| {
            reads.cx.not_finite = true;
            Some(false)
        }),
    }
}

/// The values that the expressions of one run read.
struct Running<'r, 'c> {
    cx: &'r mut Calc<'c>,
    bound: &'r [f64; MAX_BOUND],
    params: &'r [Arc<str>],
}

impl Reads for Running<'_, '_> {
    fn attribute(&mut self, side: Side, attribute: AttributeId) -> Option<f64> {
        let of_target = side != Side::Source;
        let at = self.cx.reads.iter().position(|r| r.attribute == attribute && r.of_target == of_target)?;
        Some(self.cx.values[at])
    }

    fn tag(&mut self, bearer: Bearer, tag: TagId) -> Option<bool> {
        let (rules, hit) = (self.cx.rules, self.cx.hit());
        Some(match bearer {
            Bearer::Own | Bearer::Target => self.cx.target_row.tags.has(&rules.tags, tag),
            Bearer::Source => self.cx.source_tags.is_some_and(|s| s.has(&rules.tags, tag)),
            Bearer::Hit => hit.is_some_and(|h| h.tags.iter().any(|&t| rules.tag_is_under(t, tag))),
            Bearer::Event => return None,
        })
    }

    fn local(&mut self, local: Local) -> Option<f64> {
        match local {
            Local::Bound(i) => self.bound.get(usize::from(i)).copied(),
            Local::Given(i) => match self.cx.param(self.params.get(usize::from(i))?)? {
                Value::Number(n) => Some(*n),
                Value::Bool(b) => Some(if *b { 1.0 } else { 0.0 }),
                Value::Null | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
            },
            Local::Level => Some(f64::from(self.cx.level())),
            Local::Stacks => Some(f64::from(self.cx.stacks())),
            Local::Amount => Some(self.cx.amount()),
            Local::Distance => Some(self.cx.hit().and_then(|h| h.distance).unwrap_or(0.0)),
            Local::TargetDistance => {
                let distance = self.cx.distance();
                if distance.is_none() {
                    self.cx.refused = Some(Refusal::NoTarget);
                }
                distance
            }
            Local::Caller(key) => {
                let value = self.cx.spec().value(key);
                if value.is_none() {
                    self.cx.refused = Some(Refusal::MissingSetByCaller { key });
                }
                value
            }
            Local::Param(_) | Local::Magnitude | Local::Direct | Local::Periodic | Local::Area => None,
            Local::Tick | Local::Held | Local::Found => None,
        }
    }

    fn roll(&mut self, chance: f64) -> Option<bool> {
        Some(self.cx.roll(chance))
    }
}

/// The names that the expressions of one calculation can use.
struct CalculationNames<'w, 'c> {
    c: &'w mut Compiler<'c>,
    bound: Vec<&'w str>,
    params: Vec<Arc<str>>,
}

impl Resolve for CalculationNames<'_, '_> {
    fn attribute(&mut self, name: &str) -> Result<AttributeId, String> {
        Resolve::attribute(self.c, name).map_err(|why| {
            let near = if name.contains('.') { None } else { nearest(name, self.bound.iter().copied()) };
            format!("{why}{}", suggestion(near))
        })
    }
    fn tag(&mut self, name: &str) -> Result<TagId, String> {
        Resolve::tag(self.c, name)
    }
    fn key(&mut self, name: &str) -> Result<KeyId, String> {
        Resolve::key(self.c, name)
    }
    fn curve(&mut self, name: &str) -> Result<Arc<CurveDef>, String> {
        self.c.curve(name)
    }
    fn bound(&mut self, name: &str) -> Option<Local> {
        self.bound.iter().position(|b| *b == name).map(|i| Local::Bound(i as u16))
    }
    fn given(&mut self, name: &str) -> Result<Local, String> {
        let at = self.params.iter().position(|p| **p == *name).unwrap_or(self.params.len());
        if at == self.params.len() {
            self.params.push(name.into());
        }
        Ok(Local::Given(at as u16))
    }
}

impl CalculationNames<'_, '_> {
    fn expression(&mut self, place: &str, text: &str) -> Option<Expr> {
        let parsed = Expr::parse(text, Scope::CALCULATION, self);
        parsed.map_err(|why| self.c.error("bad-expression", format!("{place}: {why}"))).ok()
    }

    /// Compiles an optional condition. Returns `Some(None)` if there is no condition, and `None` after an error.
    fn condition(&mut self, place: &str, when: Option<&ugas_doc::Formula>) -> Option<Option<Expr>> {
        match when {
            None => Some(None),
            Some(when) => self.expression(&format!("{place}.When"), when.text()).map(Some),
        }
    }
}

fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl RulesDocument for Calculation {
    fn phase(&self) -> Phase {
        Phase::Calculations
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Calculation)
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        let Some(formulas) = c.formulas(self) else { return };
        let (params, rolls, code) = (formulas.params().into(), formulas.rolls(), Arc::new(formulas));
        let def = CalcDef { code: code.clone(), reads: [].into(), params, rolls, formulas: Some(code) };
        // Its reads were resolved with its expressions.
        c.calculator(&self.name, def);
    }
}

impl Compiler<'_> {
    /// Compiles a calculation or reports all its errors.
    pub(crate) fn formulas(&mut self, doc: &Calculation) -> Option<Formulas> {
        let before = self.issues.len();
        if doc.results.is_empty() && doc.value.is_none() {
            let message =
                "the calculation has no result; write Results (an execution) or Value (a magnitude)".to_owned();
            self.error("empty-calculation", message);
        }
        if doc.r#let.len() > MAX_BOUND {
            self.error("too-long", format!("Let has {} values; write at most {MAX_BOUND}", doc.r#let.len()));
            return None;
        }
        let mut words = CalculationNames { c: self, bound: Vec::new(), params: Vec::new() };
        let mut bound = Vec::new();
        for (i, b) in doc.r#let.iter().enumerate() {
            let place = format!("Let[{i}].{}", b.name);
            if !is_name(&b.name) {
                let message =
                    format!("{place}: invalid name; use letters, digits and _, and do not start with a digit");
                words.c.error("bad-name", message);
            }
            if words.bound.contains(&&*b.name) {
                words.c.error("duplicate-name", format!("{place}: a value with this name already exists; rename one"));
            }
            bound.extend(words.expression(&place, b.value.text()));
            words.bound.push(&b.name);
        }
        let mut tags = Vec::new();
        for (i, t) in doc.context_tags.iter().enumerate() {
            let place = format!("ContextTags[{i}]");
            match Resolve::tag(words.c, &t.tag) {
                Ok(tag) => tags.extend(words.condition(&place, t.when.as_ref()).map(|when| (tag, when))),
                Err(why) => words.c.error("bad-tag", format!("{place}: {why}")),
            }
        }
        let mut results = Vec::new();
        for (i, r) in doc.results.iter().enumerate() {
            let place = format!("Results[{i}]");
            let attribute = words.c.attribute_ref(&format!("{place}.Attribute"), &r.attribute);
            let value = words.expression(&format!("{place}.Value"), r.value.text());
            let when = words.condition(&place, r.when.as_ref());
            if let (Some(attribute), Some(value), Some(when)) = (attribute, value, when) {
                results.push(ResultDef { attribute, op: r.operation, value, when });
            }
        }
        let value = doc.value.as_ref().and_then(|v| words.expression("Value", v.text()));
        let params = std::mem::take(&mut words.params).into();
        if self.issues[before..].iter().any(|i| i.severity == super::Severity::Error) {
            return None;
        }
        let mut formulas = Formulas {
            reads: Vec::new(),
            params,
            bound: bound.into(),
            tags: tags.into(),
            results: results.into(),
            value,
        };
        formulas.reads = self.declared_reads(doc, &formulas);
        Some(formulas)
    }

    /// Returns the reads of `Capture` and of the expressions, without duplicates.
    fn declared_reads(&mut self, doc: &Calculation, formulas: &Formulas) -> Vec<Read> {
        let mut reads: Vec<Read> = Vec::new();
        let mut captured = Vec::new();
        for (side, list) in [("Source", &doc.capture.source), ("Target", &doc.capture.target)] {
            for (name, captured_at) in list {
                let Some(id) = self.attribute_ref(&format!("Capture.{side}"), name) else { continue };
                let when = match captured_at {
                    CaptureMoment::OnExecution => CaptureTime::OnExecution,
                    CaptureMoment::OnApplication => CaptureTime::OnApplication,
                };
                captured.push((id, side == "Target", when));
            }
        }
        let used: std::collections::BTreeSet<(bool, AttributeId)> =
            formulas.exprs().flat_map(Expr::reads).map(|(side, id)| (side != Side::Source, id)).collect();
        for &(id, of_target, _) in captured.iter().filter(|c| !used.contains(&(c.1, c.0))) {
            let side = if of_target { "Target" } else { "Source" };
            let name = self.rules.attribute_name(id).unwrap_or_default().to_owned();
            self.warn(
                "unused-capture",
                format!("Capture.{side}.{name}: no expression reads this attribute; remove the entry"),
            );
        }
        for (of_target, id) in used {
            let when =
                captured.iter().find(|c| (c.1, c.0) == (of_target, id)).map_or(CaptureTime::OnExecution, |c| c.2);
            let attribute = self.rules.attribute_name(id).unwrap_or_default().to_owned();
            reads.push(Read { attribute, of_target, when });
        }
        reads
    }
}
