//! Predicted abilities that apply an effect with `Predictable: false`.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use ugas_doc::NetExecution;

pub(super) static RULE: Rule = Rule {
    id: "predicted-authoritative-only",
    severity: Severity::Warning,
    strict: false,
    summary: "a predicted ability that applies an effect with `Predictable: false`",
    why: "A predicting client skips executions that only the server can compute. The owning client sees the other \
effects of the ability at once. It sees the effect with such an execution one round trip later.",
    example: "Kind: gameplay_ability\nName: GA_Shot # NetExecution: LocalPredicted\nTasks:\n  \
- {Type: ApplyEffectToTarget, Params: {EffectClass: GE_Hit}} # its execution is not predictable",
    fix: "Make the calculation predictable, or run the ability on the server with `NetExecution: ServerInitiated`.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let ahead = cx.each::<ugas_doc::Ability>().filter(|(_, a)| a.net_execution == NetExecution::LocalPredicted);
    for (d, _) in ahead {
        for node in d.applied() {
            let name = node.as_text().unwrap_or("");
            let barred = cx.effect(name).and_then(|(_, e)| e.executions.iter().find(|x| !x.predictable));
            if let Some(execution) = barred {
                let calc = &execution.calculator_class;
                let message = format!("the ability is predicted, but {calc} of {name} runs only on the server");
                report.add(
                    d,
                    node.span,
                    message,
                    "make the calculation predictable, or write NetExecution: ServerInitiated",
                );
            }
        }
    }
}
