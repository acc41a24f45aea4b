//! Costs above the maximum of the attribute.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use std::collections::{BTreeMap, BTreeSet};
use ugas_doc::{Attribute, Bound, DurationPolicy, Operation};

pub(super) static RULE: Rule = Rule {
    id: "cost-above-maximum",
    severity: Severity::Warning,
    strict: false,
    summary: "a cost above the maximum of the attribute",
    why: "An ability cannot be activated while its owner cannot pay the cost. If the upper bound of the attribute is \
below the cost, the ability can never be activated. If the bound is another attribute, the rule compares the cost with \
the largest base value of that attribute. If an effect can raise that attribute, the rule reports nothing.",
    example: "# Mana: {Max: 100}\nKind: gameplay_effect\nName: GE_Cost\nDurationPolicy: Instant\nModifiers:\n  \
- {Attribute: Mana, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -150}}",
    fix: "Lower the cost or raise the attribute's bound.",
    check: CheckedBy::Lint(check),
};

/// Returns the amount that a cost takes of each attribute, if it is a constant, and the last modifier that takes it.
pub(super) fn takes(effect: &ugas_doc::Effect) -> BTreeMap<&str, (f64, usize)> {
    let mut sums: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    if effect.duration_policy != DurationPolicy::Instant {
        return sums;
    }
    let plain = |m: &&ugas_doc::Modifier| m.source_tags.is_empty() && m.target_tags.is_empty();
    for (i, m) in effect.modifiers.iter().enumerate().filter(|(_, m)| plain(m)) {
        if let (Operation::Add | Operation::AddPost, Some(value)) = (m.operation, m.magnitude.constant()) {
            let sum = sums.entry(&m.attribute).or_default();
            *sum = (sum.0 - value, i);
        }
    }
    sums.retain(|_, (need, _)| *need > 0.0);
    sums
}

/// Returns the name of an attribute without its attribute set.
pub(super) fn plain_name(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, name)| name)
}

/// Returns the largest base value with which any controller starts, by attribute.
pub(super) fn starts<'c>(cx: &'c LintCx<'_>) -> BTreeMap<&'c str, f64> {
    let defaults = cx.attributes().filter_map(|a| Some((a.name.as_str(), a.default_base_value?)));
    let worked =
        cx.each::<ugas_doc::Controller>().flat_map(|(_, c)| c.attribute_sets.iter().flat_map(|s| &s.attributes));
    let worked = worked.filter_map(|v| Some((v.name.as_str(), v.base_value?)));
    let mut most: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, value) in defaults.chain(worked) {
        let so_far = most.entry(name).or_insert(value);
        *so_far = so_far.max(value);
    }
    most
}

/// Returns the attributes that an effect, a calculation or an expression may raise.
pub(super) fn raised<'c>(cx: &'c LintCx<'_>) -> BTreeSet<&'c str> {
    let lifts =
        |m: &&ugas_doc::Modifier| m.magnitude.constant().is_none_or(|v| m.operation == Operation::Override || v > 0.0);
    let modified =
        cx.each::<ugas_doc::Effect>().flat_map(|(_, e)| &e.modifiers).filter(lifts).map(|m| plain_name(&m.attribute));
    let derived = cx.attributes().filter(|a| a.derived_from.is_some()).map(|a| a.name.as_str());
    let results =
        cx.docs.iter().flat_map(|d| if let ugas_doc::Doc::Calculation(c) = d.doc { c.results.as_slice() } else { &[] });
    modified.chain(derived).chain(results.map(|r| plain_name(&r.attribute))).collect()
}

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let costs: BTreeSet<&str> = cx.each::<ugas_doc::Ability>().filter_map(|(_, a)| a.cost.as_deref()).collect();
    if costs.is_empty() {
        return;
    }
    let mut attributes: BTreeMap<&str, Vec<&Attribute>> = BTreeMap::new();
    cx.attributes().for_each(|a| attributes.entry(&a.name).or_default().push(a));
    let (starts, raised) = (starts(cx), raised(cx));
    let most = |a: &Attribute| match a.clamping.as_ref()?.max.as_ref()? {
        Bound::Value(v) => Some(*v),
        Bound::Attribute(name) if raised.contains(plain_name(name)) => None,
        Bound::Attribute(name) => starts.get(plain_name(name)).copied(),
    };
    for (d, e) in costs.iter().filter_map(|name| cx.effect(name)) {
        for (name, (need, at)) in takes(e) {
            let known = attributes.get(plain_name(name)).map_or(&[][..], Vec::as_slice);
            let bounds: Option<Vec<f64>> = known.iter().map(|a| most(a)).collect();
            let Some(max) = bounds.and_then(|b| b.into_iter().reduce(f64::max)).filter(|max| need > *max) else {
                continue;
            };
            let message = format!("the cost is {need} {name}, but the maximum of {name} is {max}");
            let span = d.span(&format!("Modifiers[{at}].Magnitude.Value"));
            report.add(d, span, message, "lower the cost or raise the attribute's bound");
        }
    }
}
