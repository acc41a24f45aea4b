//! Changes of stats that some or all controllers refuse, because a stat table has `Modifiable: false` for the stat.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use ugas_doc::{Calculation, Effect, STAT_PREFIX, StatTable};

pub(super) static RULE: Rule = Rule {
    id: "stat-fixed-and-modified",
    severity: Severity::Info,
    strict: false,
    summary: "a change of a stat that is fixed in one of the tables that define it",
    why: "An effect that modifies a stat with `Modifiable: false` is refused. If all tables fix the stat, such a modifier \
is the error `fixed-stat`. If only one table fixes it, or if a calculation writes the stat, the effect loads but is \
refused with `Static` on controllers with that table.",
    example: "# TankStats has {Tag: Stat.Mass, Default: 200, Modifiable: false}, and another table has Stat.Mass too\n\
Modifiers:\n  - {Attribute: Stat.Mass, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -20}}",
    fix: "Remove `Modifiable: false` from the stat, change another attribute, or allow the finding with a comment if such \
controllers should refuse the effect.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let fixed_in = |attribute: &str| -> Option<&str> {
        let name = attribute.strip_prefix(STAT_PREFIX).unwrap_or(attribute);
        let has = |table: &StatTable| table.stats.iter().any(|s| !s.modifiable && s.attribute_name() == name);
        cx.each::<StatTable>().find(|(_, table)| has(table)).map(|(_, table)| table.name.as_str())
    };
    let message = |attribute: &str, table: &str| {
        format!("{attribute} has Modifiable: false in {table}; controllers with this table refuse the change")
    };
    let help = "change another attribute, or remove Modifiable: false from the stat";
    for (d, effect) in cx.each::<Effect>() {
        for (i, m) in effect.modifiers.iter().enumerate() {
            if let Some(table) = fixed_in(&m.attribute) {
                report.add(d, d.span(&format!("Modifiers[{i}].Attribute")), message(&m.attribute, table), help);
            }
        }
    }
    for (d, calculation) in cx.each::<Calculation>() {
        for (i, result) in calculation.results.iter().enumerate() {
            if let Some(table) = fixed_in(&result.attribute) {
                let span = d.span(&format!("Results[{i}].Attribute"));
                report.add(d, span, message(&result.attribute, table), help);
            }
        }
    }
}
