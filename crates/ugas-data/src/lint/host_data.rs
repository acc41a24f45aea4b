//! Fields that only the host acts on, not the runtime.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::bounds::walk;
use crate::diagnostic::Severity;
use crate::{Node, NodeValue};
use ugas_doc::Kind;

pub(super) static RULE: Rule = Rule {
    id: "host-data",
    severity: Severity::Info,
    strict: false,
    summary: "a field that only the host acts on, not the runtime",
    why: "Input mappings, regions of scenes and some fields of saved controllers are data for the host. The runtime \
reads them, checks their names and passes them to the host, but they change nothing in a scenario or on a server. The \
rule reports one finding per file and field.",
    example: "Kind: input_mapping\nActionSet: OnFoot\nBindings:\n  - {Action: Use, Inputs: [{Device: Keyboard, Input: Key.E}], HoldThreshold: 0.5} # the host measures the time",
    fix: "Keep the field if the host acts on it. Otherwise remove the field. A comment `# ugas-allow: host-data` hides \
the finding.",
    check: CheckedBy::Lint(check),
};

/// The kind, the path of the field, and what the runtime does instead.
const FIELDS: [(Kind, &str, &str); 6] = [
    (Kind::InputMapping, "Bindings.[].HoldThreshold", "the host measures how long an input is held"),
    (Kind::Scene, "Regions", "the host grants the tags of regions"),
    (Kind::Scene, "Placements.[].Rotation", "the host rotates actors"),
    (Kind::Controller, "GrantedAbilities.[].bIsActive", "this field does not activate the ability at spawn"),
    (Kind::Controller, "ActiveEffects.[].StartTime", "the remaining time is Duration"),
    (Kind::Controller, "ActiveEffects.[].InstigatorGC", "the spawned controller is the source of the effect"),
];

/// Returns whether a value differs from the default behavior of the runtime.
fn asks(node: &Node) -> bool {
    !matches!(&node.value, NodeValue::Null | NodeValue::Bool(false))
}

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (kind, path, instead) in FIELDS {
        let field = path.rsplit('.').next().unwrap_or(path);
        let mut first = 0;
        while first < cx.docs.len() {
            let name = &cx.docs[first].source.name;
            let in_file = cx.docs[first..].iter().take_while(|d| d.source.name == *name);
            let docs: Vec<_> = in_file.collect();
            first += docs.len();
            let mut found = Vec::new();
            for d in docs.into_iter().filter(|d| d.doc.kind() == kind) {
                walk(d.tree, path, "", &mut |node, _| {
                    found.extend(asks(node).then(|| (d, super::head(node, &d.source.text))))
                });
            }
            let Some((d, span)) = found.first() else { continue };
            let times = if found.len() > 1 { format!(" ({} times in this file)", found.len()) } else { String::new() };
            let message = format!("the runtime does not act on {field}{times}: {instead}");
            report.add(d, *span, message, "keep the field if the host acts on it; otherwise remove it");
        }
    }
}
