//! The compiler of attribute sets. It first compiles each document separately, then each attribute set together with
//! the attribute sets that it depends on.

use super::attribute::{AttributeDef, BoundDef, SetDef};
use super::compile::Compiler;
use super::document::{Phase, RulesDocument};
use super::{Layout, Side};
use crate::limits::Limits;
use crate::{AttributeId, NameKind, Refusal, SetId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use ugas_doc::{Attribute, AttributeSet, Bound, OnDepleted, Origin, Patched, Quantize};

/// Maximum number of names shown for a cycle.
const SHOWN: usize = 8;

/// The state of a set during the traversal.
#[derive(Clone, Copy, PartialEq)]
enum VisitState {
    New,
    /// The dependencies of the set are being traversed.
    Open,
    /// The set is part of a cycle or depends on a missing set.
    Broken,
    Whole,
}

impl RulesDocument for Attribute {
    fn phase(&self) -> Phase {
        Phase::Sets
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Set)
    }

    fn declare(&self, c: &mut Compiler<'_>) {
        c.declare_set(&self.name, std::slice::from_ref(self));
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        c.set(&AttributeSet::new(self.name.clone()).with(self.clone()));
    }
}

impl RulesDocument for AttributeSet {
    fn phase(&self) -> Phase {
        Phase::Sets
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Set)
    }

    fn declare(&self, c: &mut Compiler<'_>) {
        c.declare_set(&self.name, &self.attributes);
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        c.set(self);
    }
}

impl Compiler<'_> {
    /// Assigns ids to an attribute set and its attributes.
    pub(super) fn declare_set(&mut self, name: &str, attributes: &[Attribute]) -> Option<SetId> {
        let set = self.declare(NameKind::Set, name).map(SetId)?;
        for a in attributes {
            let rules = self.rules.to_mut();
            let attribute = AttributeId(rules.attributes.intern(&a.name));
            rules.homes.insert((attribute, set));
        }
        Some(set)
    }

    pub(crate) fn set(&mut self, doc: &AttributeSet) {
        let Some(id) = self.find(NameKind::Set, &doc.name).map(SetId) else {
            return;
        };
        if doc.attributes.is_empty() {
            self.error("empty-set", "the set has no attributes; add at least one".into());
        }
        let mut dependencies = Vec::new();
        for name in &doc.dependencies {
            match self.find(NameKind::Set, name) {
                Some(set) => dependencies.push(SetId(set)),
                None => {
                    let near = self.nearest_suggestion(NameKind::Set, name);
                    self.error("unknown-set", format!("Dependencies: unknown attribute set {name}{near}"));
                }
            }
        }
        let attributes: Box<[AttributeDef]> = doc.attributes.iter().filter_map(|a| self.attribute_def(a)).collect();
        for (i, a) in attributes.iter().enumerate() {
            if attributes[..i].iter().any(|b| b.attribute == a.attribute) {
                let name = self.rules.attribute_name(a.attribute).unwrap_or("").to_owned();
                self.error("duplicate-name", format!("defines {name} twice; rename or remove one definition"));
            }
        }
        self.note_patches(doc);
        let dependencies = dependencies.into();
        let def = SetDef { dependencies, attributes, stats: Box::default(), resource: None };
        self.rules.to_mut().sets.define(id.0, def);
        self.defined.push((id, doc.name.clone(), self.origin.clone()));
    }

    /// Stores the patches of each attribute of a set, so that explanations can name them.
    fn note_patches(&mut self, doc: &AttributeSet) {
        let Some(origin) = self.origin.clone().filter(|o| !o.patches.is_empty()) else { return };
        for (i, a) in doc.attributes.iter().enumerate() {
            let way = format!("Attributes[{i}]");
            // A single attribute document is a set with one attribute, and its fields are those of the document.
            let is_its = |p: &&Patched| p.touches(&way) || !p.field.starts_with("Attributes") && a.name == doc.name;
            let patches: Vec<Patched> = origin.patches.iter().filter(is_its).cloned().collect();
            if !patches.is_empty() {
                let id = AttributeId(self.rules.to_mut().attributes.intern(&a.name));
                self.rules.to_mut().attribute_patches.insert(id, patches);
            }
        }
    }

    fn attribute_def(&mut self, doc: &Attribute) -> Option<AttributeDef> {
        let default = match (doc.default_base_value, &doc.derived_from) {
            (Some(v), _) if v.is_finite() => v,
            (Some(v), _) => {
                self.error("not-finite", format!("{}: DefaultBaseValue is {v}; write a finite number", doc.name));
                return None;
            }
            (None, Some(_)) => 0.0,
            (None, None) => {
                self.error("missing-default", format!("{}: the field DefaultBaseValue is missing; add it", doc.name));
                return None;
            }
        };
        let clamping = doc.clamping.clone().unwrap_or_default();
        let min = self.bound(&doc.name, "Min", clamping.min)?;
        let max = self.bound(&doc.name, "Max", clamping.max)?;
        let derived = match &doc.derived_from {
            Some(d) => Some(Arc::new(self.expression(&format!("{}: DerivedFrom", doc.name), &d.expression)?)),
            None => None,
        };
        if derived.iter().flat_map(|e| e.reads()).any(|(side, _)| side != Side::Own) {
            self.error(
                "bad-expression",
                format!(
                    "{}: DerivedFrom reads another controller; read only attributes of its own controller",
                    doc.name
                ),
            );
        }
        let absorb = match &doc.absorb {
            Some(a) => {
                let before = self.attribute_ref(&format!("{}: Absorb.Before", doc.name), &a.before)?;
                if a.before == doc.name {
                    self.error(
                        "bad-absorb",
                        format!("{}: Absorb.Before names the attribute itself; name another attribute", doc.name),
                    );
                }
                Some((before, a.order))
            }
            None => None,
        };
        let on_depleted = doc.on_depleted.unwrap_or(match doc.name.rsplit("::").next() {
            Some("Health") => OnDepleted::Death,
            _ => OnDepleted::Nothing,
        });
        Some(AttributeDef {
            attribute: AttributeId(self.rules.to_mut().attributes.intern(&doc.name)),
            default,
            min,
            max,
            category: doc.category,
            replication: doc.replication_mode,
            quantize: self.quantize(doc),
            aggregation: doc.aggregation,
            on_bound_change: doc.on_bound_change,
            death: on_depleted == OnDepleted::Death,
            absorb,
            fallback: doc.default_base_value.filter(|_| derived.is_some()),
            derived,
        })
    }

    /// Validates the quantization of an attribute: a range and steps within it.
    fn quantize(&mut self, doc: &Attribute) -> Option<Quantize> {
        let Quantize { min, max, bits } = doc.quantize?;
        if !(min.is_finite() && max.is_finite() && min < max && (max - min).is_finite()) {
            let found = format!("Min is {min} and Max is {max}; write two finite numbers, Min below Max");
            self.error("bad-quantize", format!("{}: Quantize: {found}", doc.name));
        }
        if !(1..=32).contains(&bits) {
            let found = format!("Bits is {bits}; write 1 to 32, or leave Quantize out to send the exact value");
            self.error("bad-quantize", format!("{}: Quantize: {found}", doc.name));
        }
        doc.quantize
    }

    fn bound(&mut self, attribute: &str, which: &str, bound: Option<Bound>) -> Option<BoundDef> {
        match bound {
            None => Some(BoundDef::Open),
            Some(Bound::Value(v)) if v.is_finite() => Some(BoundDef::Value(v)),
            Some(Bound::Value(v)) => {
                self.error("not-finite", format!("{attribute}: Clamping.{which} is {v}; leave it out for no bound"));
                None
            }
            Some(Bound::Attribute(name)) => {
                self.attribute_ref(&format!("{attribute}: Clamping.{which}"), &name).map(BoundDef::Attribute)
            }
        }
    }

    /// Builds the layout of each set with its dependencies, so that a cycle or a missing reference is found here and
    /// not at spawn.
    ///
    /// A layout reports all errors of the sets that it contains, so only layouts of sets without dependents are built.
    /// After an error, the layouts of their dependencies are built too, to report the smallest set with the error.
    pub(crate) fn finish_sets(&mut self) {
        let defined = std::mem::take(&mut self.defined);
        let whole = self.whole_sets(&defined);
        let needed: BTreeSet<SetId> = whole.iter().flat_map(|&s| self.dependencies(s)).copied().collect();
        let mut open: Vec<SetId> = whole.iter().copied().filter(|s| !needed.contains(s)).collect();
        let mut found: BTreeMap<SetId, Option<Refusal>> = BTreeMap::new();
        while let Some(set) = open.pop() {
            if found.contains_key(&set) {
                continue;
            }
            let limit = Limits::default().attributes_per_controller;
            // A reference to an undeclared set is checked when the sets are registered together.
            let refusal = Layout::build(&self.rules, &self.with_dependencies(set), limit).err();
            if matches!(refusal, Some(Refusal::Cycle { .. } | Refusal::DuplicateAttribute { .. })) {
                open.extend(self.dependencies(set));
            }
            found.insert(set, refusal);
        }
        let has_cycle = |set: SetId| matches!(found.get(&set), Some(Some(Refusal::Cycle { .. })));
        for (id, name, origin) in defined {
            self.about(&name, origin);
            match found.get(&id) {
                Some(&Some(Refusal::Cycle { attribute, .. }))
                    if !self.dependencies(id).iter().any(|&d| has_cycle(d)) =>
                {
                    let names = self.cycle_names(id, attribute);
                    self.error(
                        "cycle",
                        format!("attributes depend on themselves: {names}; remove one of these dependencies"),
                    );
                }
                Some(Some(r @ Refusal::Limit { .. })) => self.error("limit", r.describe(&self.rules)),
                _ => {}
            }
        }
    }

    fn dependencies(&self, set: SetId) -> &[SetId] {
        self.rules.set_def(set).map_or(&[], |def| &def.dependencies)
    }

    /// Returns the sets that can be registered, in document order, and reports each cycle. The traversal has its own
    /// stack: a chain of sets may be longer than a thread's stack allows.
    fn whole_sets(&mut self, defined: &[(SetId, String, Option<Origin>)]) -> Vec<SetId> {
        let mut state = vec![VisitState::New; self.rules.sets.len()];
        for (start, name, origin) in defined {
            if state[start.index()] != VisitState::New {
                continue;
            }
            self.about(name, origin.clone());
            state[start.index()] = VisitState::Open;
            let mut stack = vec![(*start, 0)];
            while let Some((set, next)) = stack.pop() {
                let Some(&below) = self.dependencies(set).get(next) else {
                    let rests = |d: &SetId| state[d.index()] == VisitState::Whole;
                    let whole = self.rules.set_def(set).is_some() && self.dependencies(set).iter().all(rests);
                    state[set.index()] = if whole { VisitState::Whole } else { VisitState::Broken };
                    continue;
                };
                stack.push((set, next + 1));
                match state[below.index()] {
                    VisitState::New => {
                        state[below.index()] = VisitState::Open;
                        stack.push((below, 0));
                    }
                    VisitState::Open => {
                        let from = stack.iter().position(|&(s, _)| s == below).unwrap_or(0);
                        let cycle = stack[from..].iter().map(|&(s, _)| self.rules.set_name(s).unwrap_or("?"));
                        let mut names: Vec<&str> = cycle.take(SHOWN).collect();
                        names.push(if stack.len() - from > SHOWN { "…" } else { names[0] });
                        let message = format!(
                            "sets depend on each other: {}; remove one of these dependencies",
                            names.join(" → ")
                        );
                        self.error("cycle", message);
                    }
                    VisitState::Broken | VisitState::Whole => {}
                }
            }
        }
        defined.iter().map(|&(set, ..)| set).filter(|s| state[s.index()] == VisitState::Whole).collect()
    }

    /// Returns the set after all its dependencies.
    fn with_dependencies(&self, set: SetId) -> Vec<SetId> {
        let (mut order, mut seen) = (Vec::new(), BTreeSet::from([set]));
        let mut stack = vec![(set, 0)];
        while let Some((set, next)) = stack.pop() {
            match self.dependencies(set).get(next) {
                Some(&below) => {
                    stack.push((set, next + 1));
                    if seen.insert(below) {
                        stack.push((below, 0));
                    }
                }
                None => order.push(set),
            }
        }
        order
    }

    fn cycle_names(&self, set: SetId, from: AttributeId) -> String {
        let sets = self.with_dependencies(set);
        let next = |a: AttributeId| {
            let all = sets.iter().filter_map(|&s| self.rules.set_attributes(s)).flatten();
            let d = all.into_iter().find(|d| d.attribute == a)?;
            let bound = [d.min, d.max].into_iter().find_map(|b| match b {
                BoundDef::Attribute(x) => Some(x),
                BoundDef::Open | BoundDef::Value(_) => None,
            });
            bound.or_else(|| d.derived.as_ref()?.reads().next().map(|(_, x)| x))
        };
        let mut names = vec![from];
        while let Some(a) = next(names[names.len() - 1]) {
            let closes = names.contains(&a);
            names.push(a);
            if closes || names.len() > SHOWN {
                break;
            }
        }
        let shown: Vec<&str> = names.iter().map(|&a| self.rules.attribute_name(a).unwrap_or("?")).collect();
        shown.join(" → ")
    }
}
