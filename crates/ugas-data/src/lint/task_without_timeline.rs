//! Tasks that wait for the engine and have no timeline.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::Node;
use crate::diagnostic::Severity;
use std::collections::{BTreeMap, BTreeSet};
use ugas_core::host_answered_tasks;
use ugas_doc::Timeline;

pub(super) static RULE: Rule = Rule {
    id: "task-without-timeline",
    severity: Severity::Info,
    strict: false,
    summary: "a task that waits for the engine and has no timeline",
    why: "The engine completes tasks such as WaitTargetData and WaitAnimationEvent. In tests and on servers without \
animation, a timeline document completes these tasks; without a timeline they wait forever. If your engine always \
completes the task, allow the finding. A task with `TimeOut` is not reported.",
    example: "Tasks:\n  - {Type: WaitTargetData, Params: {TargetingMethod: Trace}}",
    fix: "Write a timeline: `Kind: timeline`, `Ability: GA_Shot`, `Answers: [{Task: WaitTargetData, After: 1f}]`. The \
timeline of a montage completes WaitMontageEnded and, with its Notifies, WaitAnimationEvent.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let mut answers: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut montages: BTreeMap<&str, &Timeline> = BTreeMap::new();
    for (_, t) in cx.each::<Timeline>() {
        montages.insert(t.montage.as_deref().unwrap_or(&t.name), t);
        let ability = t.ability.as_deref().unwrap_or("");
        answers.extend(t.answers.iter().map(|a| (ability, a.task.as_str())));
    }
    for (d, a) in cx.each::<ugas_doc::Ability>() {
        let tasks = d.tasks();
        let text =
            |task: &'_ Node, key: &str| task.get("Params").and_then(|p| p.get(key)?.as_text().map(str::to_owned));
        let played: Vec<&Timeline> = tasks
            .iter()
            .filter_map(|t| text(t, "MontageToPlay"))
            .filter_map(|montage| montages.get(montage.as_str()).copied())
            .collect();
        for task in &tasks {
            let kind = task.get("Type").and_then(Node::as_text);
            let Some(kind) = kind.filter(|k| host_answered_tasks().any(|name| name == *k)) else { continue };
            let event = text(task, "EventTag").or_else(|| text(task, "EventName"));
            let by_montage = match kind {
                "WaitMontageEnded" => !played.is_empty(),
                "WaitAnimationEvent" => {
                    let names = |t: &&Timeline| {
                        let mut notifies = t.notifies.iter().flat_map(|n| [n.event.as_ref(), n.name.as_ref()]);
                        notifies.any(|n| n.is_some() && n == event.as_ref())
                    };
                    played.iter().any(names)
                }
                _ => false,
            };
            let times_out = task.get("Params").is_some_and(|p| p.get("TimeOut").is_some());
            if !by_montage && !times_out && !answers.contains(&(a.name.as_str(), kind)) {
                let message = format!("{kind} waits for the engine, and no timeline completes it");
                let span = task.get("Type").map_or(task.span, |t| t.span);
                report.add(d, span, message, "write a timeline for runs without an engine, or give the task a TimeOut");
            }
        }
    }
}
