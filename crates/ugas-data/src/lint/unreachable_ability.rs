//! Abilities whose required tag is granted only by the ability itself, or only together with a blocking tag.

use super::cx::LintDoc;
use super::{CheckedBy, LintCx, Report, Rule, implies};
use crate::diagnostic::Severity;
use crate::symbol::Mention;
use ugas_doc::Doc;

pub(super) static RULE: Rule = Rule {
    id: "unreachable-ability",
    severity: Severity::Warning,
    strict: false,
    summary: "an ability whose required tag is granted only by the ability itself, or only together with a blocking \
tag",
    why: "An ability that requires a tag which only its own activation grants can never be activated. The same is true \
if everything that grants the required tag also grants a blocking tag. (See `tag-never-granted` for a tag that nothing \
grants.)",
    example: "Kind: gameplay_ability\nName: GA_Rage\nTags:\n  ActivationRequiredTags: [State.Raging]\n  \
ActivationOwnedTags: [State.Raging] # and nothing else grants it",
    fix: "Require a different tag, or grant the required tag from another source that does not grant the blocking tag.",
    check: CheckedBy::Lint(check),
};

/// A source of tags that are granted together.
struct Provider<'p> {
    doc: &'p LintDoc<'p>,
    tags: Vec<&'p str>,
}

fn providers<'p>(cx: &'p LintCx<'_>) -> Vec<Provider<'p>> {
    let gives =
        |m: &&Mention| matches!(m.key.as_str(), "GrantedTags" | "ActivationOwnedTags" | "OwnedTags" | "StartupTags");
    let instant =
        |d: &LintDoc<'_>| matches!(d.doc, Doc::Effect(e) if e.duration_policy == ugas_doc::DurationPolicy::Instant);
    let of = |doc: &'p LintDoc<'_>| Provider {
        doc,
        tags: doc.names.iter().filter(gives).map(|m| m.name.as_str()).collect(),
    };
    cx.docs.iter().filter(|d| !instant(d)).map(of).filter(|p| !p.tags.is_empty()).collect()
}

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let providers = providers(cx);
    // Indexes the providers by each of their tags and its parents.
    let mut by_tag: std::collections::BTreeMap<&str, Vec<usize>> = std::collections::BTreeMap::new();
    for (i, p) in providers.iter().enumerate() {
        for tag in &p.tags {
            let ends = tag.match_indices('.').map(|(at, _)| at).chain([tag.len()]);
            for end in ends {
                let list = by_tag.entry(&tag[..end]).or_default();
                if list.last() != Some(&i) {
                    list.push(i);
                }
            }
        }
    }
    for (d, a) in cx.each::<ugas_doc::Ability>().filter(|(_, a)| !a.passive) {
        let blocks: Vec<&String> = a.tags.activation_blocked_tags.iter().chain(&a.tags.blocked_by_tags).collect();
        for (i, required) in a.tags.activation_required_tags.iter().enumerate() {
            let Some(from) = by_tag.get(required.as_str()) else { continue };
            let itself = |p: &Provider<'_>| std::ptr::eq(p.doc.tree, d.tree);
            let barred = |p: &Provider<'_>| p.tags.iter().any(|t| blocks.iter().any(|b| implies(t, b)));
            let message = if from.iter().all(|&p| itself(&providers[p])) {
                format!("{} requires {required}, which only its own activation grants", a.name)
            } else if !blocks.is_empty() && from.iter().all(|&p| barred(&providers[p])) {
                format!("everything that grants {required} also grants a tag that blocks {}", a.name)
            } else {
                continue;
            };
            let span = d.span(&format!("Tags.ActivationRequiredTags[{i}]"));
            report.add(d, span, message, "require another tag, or grant the required tag from another source");
        }
    }
}
