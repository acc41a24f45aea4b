//! Triggers on low health that are used in place of a trigger on death.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use ugas_doc::OnDepleted;

pub(super) static RULE: Rule = Rule {
    id: "death-by-threshold",
    severity: Severity::Warning,
    strict: false,
    summary: "a trigger on low health that is used in place of a trigger on death",
    why: "A controller dies when its `Health`, or another attribute with `OnDepleted: Death`, reaches 0. A trigger \
`{Attribute: Health, Below: 1}` also fires at 0.5, while the owner is still alive. The ability then marks the owner as \
dead, although the owner has not died and can still attack.",
    example: "Kind: gameplay_ability\nName: GA_Die\nCastableWhileDead: true\nTriggers: [{Attribute: Health, Below: 1}]",
    fix: "Write `{Died: true}`, which fires with the fact `Died`. If the threshold is intended, put `# ugas-allow: \
death-by-threshold` above the line.",
    check: CheckedBy::Lint(check),
};

/// Thresholds up to this are meant as "none left".
const LAST_POINT: f64 = 1.0;

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (d, ability) in cx.each::<ugas_doc::Ability>().filter(|(_, a)| a.castable_while_dead) {
        for (i, t) in ability.triggers.iter().enumerate() {
            let (Some(name), Some(below)) = (&t.attribute, t.below) else { continue };
            if below > 0.0 && below <= LAST_POINT && is_death(cx, name) {
                let place = format!("Triggers[{i}]");
                let message = format!("the trigger fires while {name} is still above 0 and the owner is alive");
                report.add(d, d.span(&place), message, "write {Died: true} to trigger on death itself");
            }
        }
    }
}

/// Returns whether reaching 0 of an attribute means death.
fn is_death(cx: &LintCx<'_>, name: &str) -> bool {
    let short = name.rsplit(['.', ':']).next().unwrap_or(name);
    let means = |a: &ugas_doc::Attribute| a.on_depleted.map_or(a.name == "Health", |d| d == OnDepleted::Death);
    cx.attributes().any(|a| (a.name == name || a.name == short) && means(a))
}
