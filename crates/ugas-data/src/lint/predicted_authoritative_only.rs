//! Predicted abilities that apply what only the server can work out.

use super::{Check, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use ugas_doc::NetExecution;

pub(super) static RULE: Rule = Rule {
    id: "predicted-authoritative-only",
    severity: Severity::Warning,
    strict: false,
    summary: "an ability that runs ahead on the client and applies an effect with `Predictable: false`",
    why: "A client that runs ahead leaves out executions that only the server may work out. The owner sees the ability's \
other effects at once and this one a round trip later, which looks like a fault.",
    example: "Kind: gameplay_ability\nName: GA_Shot # NetExecution: LocalPredicted\nTasks:\n  \
- {Type: ApplyEffectToTarget, Params: {EffectClass: GE_Hit}} # its execution is not predictable",
    fix: "Make the calculation predictable, or run the ability on the server with `NetExecution: ServerInitiated`.",
    check: Check::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let ahead = cx.abilities().filter(|(_, a)| a.net_execution == NetExecution::LocalPredicted);
    for (d, _) in ahead {
        for node in d.applied() {
            let name = node.as_text().unwrap_or("");
            let barred = cx.effect(name).and_then(|(_, e)| e.executions.iter().find(|x| !x.predictable));
            if let Some(execution) = barred {
                let calc = &execution.calculator_class;
                let message = format!("the ability is predicted, but {calc} of {name} only runs on the server");
                report.say(d, node.span, message, "make it predictable, or write NetExecution: ServerInitiated");
            }
        }
    }
}
