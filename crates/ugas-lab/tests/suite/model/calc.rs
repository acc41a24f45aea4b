//! Calculations: generated documents and what they compute; and sources that were destroyed, whose last values they read.

use super::damage::Dealt;
use super::effects::under;
use super::eval::Context;
use super::expr;
use super::generate::{Documents, Rng};
use super::world::{Inst, Refused, Spec, World};
use std::collections::BTreeMap;
use ugas_doc::{
    Calculation, CalculationResult, Combat, CombatKind, CombatRule, CombatStyle, Effect, Execution, Formula, Magnitude,
    Modifier, Operation,
};

/// The values of a source immediately before it was destroyed.
#[derive(Clone, Debug)]
pub(crate) struct Frozen {
    pub(crate) values: BTreeMap<String, f64>,
    pub(crate) sets: Vec<String>,
    pub(crate) tags: Vec<String>,
    /// Its active effects, whose rules still apply to its effects on others.
    pub(crate) effects: Vec<Inst>,
    pub(crate) place: Option<f64>,
    /// Who gets the credit for its damage.
    pub(crate) credit: u32,
}

// Documents -------------------------------------------------------------------------------------------------------

/// The magnitude that modifiers use, and the mitigation.
const VALUE: &str = "Calc_Value";
const SOAK: &str = "Calc_Soak";

/// Calculations, and effects that use them. The stream is its own, so that the rest of a sequence stays as it is.
pub(crate) fn add(rng: &mut Rng, docs: &mut Documents) {
    let set = &docs.sets[0].attributes;
    let all: Vec<String> = set.iter().map(|a| a.name.clone()).collect();
    let plain: Vec<String> = set.iter().filter(|a| a.derived_from.is_none()).map(|a| a.name.clone()).collect();
    let execs: Vec<Calculation> = (0..3).map(|i| execution(rng, i, &all, &plain)).collect();
    let value = format!("source.{} * 0.1 + has_tag(source, {}) * 2", rng.pick(&all), rng.tag());
    let soak = format!("amount * 0.5 - source.{} * 0.1 / (1 - has_tag(target, {}))", rng.pick(&all), rng.tag());
    for e in &mut docs.effects {
        if rng.percent(20) {
            e.executions.push(Execution::new(rng.pick(&execs).name.clone()));
        }
        if rng.percent(4) {
            e.executions.push(Execution::new(rng.pick(&execs).name.clone()));
        }
        for m in &mut e.modifiers {
            if rng.percent(8) {
                m.magnitude = Magnitude::calculation(VALUE);
            }
        }
        let mitigation = e.combat.as_mut().and_then(|c| c.mitigation.as_mut());
        if let (Some(mitigation), true) = (mitigation, rng.percent(60)) {
            *mitigation = SOAK.to_owned();
        }
        doubtful(rng, e, &all);
    }
    let names: Vec<String> = execs.iter().map(|c| c.name.clone()).collect();
    docs.effects.extend([lingering(rng, &all, &plain, &names), following(rng, &all, &plain), forbidding(rng)]);
    docs.calculations = execs;
    for (name, text) in [(VALUE, value), (SOAK, soak)] {
        docs.calculations.push(Calculation { value: Some(Formula::from(text)), ..Calculation::new(name) });
    }
}

/// Ticks that read their source, and outlive it.
fn lingering(rng: &mut Rng, all: &[String], plain: &[String], calculations: &[String]) -> Effect {
    let mut e = Effect::infinite("GE_Linger").every(*rng.pick(&[0.25, 0.5]));
    let magnitude = match rng.below(3) {
        0 => Magnitude::calculation(VALUE),
        1 => Magnitude::attribute(rng.pick(all)).times(-0.2),
        _ => Magnitude::value(-3.0),
    };
    e.modifiers.push(Modifier::new(rng.pick(plain), Operation::Add, magnitude));
    e.modifiers[0].source_tags = rng.tags(20, 1);
    if rng.percent(50) {
        e.executions.push(Execution::new(rng.pick(calculations).clone()));
    }
    if rng.percent(60) {
        let kind = *rng.pick(&[CombatKind::Damage, CombatKind::Damage, CombatKind::Healing, CombatKind::Threat]);
        let mitigation = rng.percent(50).then(|| SOAK.to_owned());
        e.combat = Some(Combat { kind, style: CombatStyle::Periodic, school: None, mitigation });
    }
    e
}

/// A live modifier, and one that is on while its source has a tag.
fn following(rng: &mut Rng, all: &[String], plain: &[String]) -> Effect {
    let mut e = Effect::infinite("GE_Follow");
    e.modifiers.push(Modifier::new(rng.pick(plain), Operation::Add, Magnitude::attribute(rng.pick(all)).times(0.25)));
    e.modifiers.push(Modifier::new(rng.pick(plain), Operation::Add, Magnitude::value(2.0)));
    e.modifiers[1].source_tags = vec![rng.tag()];
    e
}

/// A restriction on an event of combat.
fn forbidding(rng: &mut Rng) -> Effect {
    let mut e = Effect::lasting("GE_Forbid", 1.5);
    let on = *rng.pick(&["DamageTaken", "DamageTaken", "DamageDone", "HealingTaken", "HealingDone", "Threat"]);
    e.rules.push(CombatRule { on: on.into(), restrict: true, ..CombatRule::default() });
    e
}

/// An execution that cannot always be computed.
fn execution(rng: &mut Rng, i: usize, all: &[String], plain: &[String]) -> Calculation {
    let (a, b) = (rng.pick(all).clone(), rng.pick(all).clone());
    let value = match rng.below(4) {
        0 => format!("source.{a} * 0.25 - 2"),
        1 => format!("has_tag(source, {}) * 3 - source.{a} / 10", rng.tag()),
        2 => format!("5 / target.{b} - source.{a} * 0.1"),
        _ => format!("target.{b} * 0.1 - 2 / (1 - has_tag(target, {}))", rng.tag()),
    };
    let mut first = CalculationResult::add(rng.pick(plain).clone(), value);
    if rng.percent(30) {
        let when = if rng.percent(50) { format!("1 / target.{b} > 0") } else { format!("source.{a} > 3") };
        first.when = Some(Formula::from(when));
    }
    if first.when.is_none() && rng.aside(5).percent(30) {
        first.value = Formula::from(format!("4 - distance() - source.{a} * 0.1"));
    }
    let mut calc = Calculation::new(format!("Calc_Exec{i}")).result(first);
    if rng.percent(30) {
        calc = calc.result(CalculationResult::add(rng.pick(plain).clone(), format!("source.{b} * 0.2")));
    }
    calc
}

/// Conditions with a part that may not be finite.
fn doubtful(rng: &mut Rng, e: &mut Effect, all: &[String]) {
    let a = rng.pick(all).clone();
    if rng.percent(3) {
        e.application_condition = Some(if rng.percent(50) {
            format!("1 / ({a} - {a}) > 0")
        } else {
            format!("{a} > 0 || 1 / (source.{a} - source.{a}) < 1")
        });
    }
    for rule in e.rules.iter_mut().filter(|r| r.when.is_some()) {
        if rng.percent(15) {
            rule.when = Some(format!("stacks > 0 && 1 / ({a} - {a}) > 0"));
        }
    }
}

// What they compute -----------------------------------------------------------------------------------------------

impl World {
    pub(crate) fn calculating(mut self, all: &[Calculation]) -> World {
        all.iter().for_each(|c| drop(self.calculations.insert(c.name.clone(), c.clone())));
        self
    }

    /// The values of a calculation's expressions, all of which must have what they read.
    pub(crate) fn calculated(&self, texts: &[&str], cx: &Context<'_>, amount: f64) -> Result<Vec<f64>, Refused> {
        let read = |name: &str| match name {
            "amount" => Some(amount),
            "level" => Some(cx.level as f64),
            _ => self.read_captured(name, cx.target, (cx.source, cx.frozen), cx.target),
        };
        let names: Vec<String> = texts.iter().flat_map(|text| expr::names(text)).collect();
        let missing: Vec<&String> = names.iter().filter(|name| read(name).is_none()).collect();
        if missing.iter().any(|name| *name != "distance()") {
            return Err("UnknownAttribute");
        }
        if !missing.is_empty() {
            return Err("NoTarget");
        }
        Ok(texts.iter().map(|text| expr::value(text, &read).expect("all is known")).collect())
    }

    /// Runs an effect's executions in order; each one's results are a further write.
    pub(crate) fn run_executions(
        &mut self,
        spec: &Spec,
        def: &Effect,
        frozen: Option<&Frozen>,
    ) -> Result<Vec<Dealt>, Refused> {
        let mut combat_writes = Vec::new();
        for x in &def.executions {
            let calc = self.calculations[&x.calculator_class].clone();
            let (source, target, set_by_caller) = (spec.source, spec.target, &spec.set_by_caller);
            let cx = Context { source, target, level: spec.level, set_by_caller, frozen };
            let conditions = calc.results.iter().filter_map(|r| Some(r.when.as_ref()?.text()));
            let texts: Vec<&str> = calc.results.iter().map(|r| r.value.text()).chain(conditions).collect();
            let values = self.calculated(&texts, &cx, 0.0)?;
            let mut operations = Vec::new();
            for (r, &value) in calc.results.iter().zip(&values) {
                let read = |name: &str| self.read_captured(name, target, (source, frozen), target);
                if r.when.as_ref().is_some_and(|w| !expr::holds(w.text(), &read)) {
                    continue;
                }
                if self.attribute(&(target, r.attribute.clone())).is_none() {
                    return Err("UnknownAttribute");
                }
                if !value.is_finite() {
                    return Err("NonFinite");
                }
                operations.push((r.attribute.clone(), r.operation, value));
            }
            combat_writes.extend(self.write(spec, def, operations, frozen)?);
        }
        Ok(combat_writes)
    }

    // Destroyed sources ---------------------------------------------------------------------------------------------

    /// A name in an expression, where the source may be gone.
    pub(crate) fn read_captured(
        &self,
        name: &str,
        own: u32,
        (source, frozen): (u32, Option<&Frozen>),
        target: u32,
    ) -> Option<f64> {
        if name == "distance()" {
            let from = frozen.map_or_else(|| self.rows.get(&source).and_then(|r| r.place), |f| f.place);
            return Some((from? - self.rows.get(&target)?.place?).abs());
        }
        let Some(f) = frozen else { return self.look(name, own, Some(source), Some(target)) };
        if let Some(rest) = name.strip_prefix("has_tag(source,") {
            let tag = rest.trim_end_matches(')').trim();
            return Some(f.tags.iter().any(|t| under(t, tag)) as u32 as f64);
        }
        match name.strip_prefix("source.") {
            Some(attribute) => f.values.get(attribute).copied(),
            // The rule of a destroyed source reads the source's own values.
            None if own == source && !name.contains(['.', '(']) => f.values.get(name).copied(),
            None => self.look(name, own, Some(source), Some(target)),
        }
    }

    /// Stores the current values of a controller in the effects that it is the source of.
    pub(crate) fn freeze(&mut self, who: u32) {
        let values = self.shown.iter().filter(|(n, _)| n.0 == who).map(|(n, s)| (n.1.clone(), s.current)).collect();
        let active = self.rows[&who].effects.iter().filter(|e| !e.inhibited);
        let effects = active.map(|e| Inst { frozen: None, ..e.clone() }).collect();
        let (tags, credit) = (self.tag_counts(who).into_keys().collect(), self.credit(who));
        let sets = self.rows[&who].sets.clone();
        let frozen = Frozen { values, sets, tags, effects, place: self.rows[&who].place, credit };
        for (_, row) in self.rows.iter_mut().filter(|(w, _)| **w != who) {
            for e in row.effects.iter_mut().filter(|e| e.source == who && e.frozen.is_none()) {
                e.frozen = Some(frozen.clone());
            }
        }
    }
}
