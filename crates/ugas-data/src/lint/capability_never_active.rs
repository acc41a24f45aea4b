//! Capabilities whose conditions can never hold.

use super::cx::LintDoc;
use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use ugas_core::{CapabilityState, Rules, Sim, SimConfig, SpawnSpec, TagId, TagQuery};
use ugas_doc::{Attribute, AttributeSet, Capability, CapabilitySet, SetCapability};

pub(super) static RULE: Rule = Rule {
    id: "capability-never-active",
    severity: Severity::Warning,
    strict: false,
    summary: "a capability whose Query or When can never hold, or whose Until always holds",
    why: "A capability is activated while `Query` and `When` hold and `Until` does not. A query such as `State.Mounted & \
!State.Mounted` holds for no set of tags, and a condition without attributes and tags never changes. Tags are \
hierarchical: `State.Debuff.Stunned & !State.Debuff` is a contradiction too.",
    example: "Kind: capability\nName: Gallop\nQuery: State.Mounted & !State.Mounted",
    fix: "Correct the condition, or remove the capability.",
    check: CheckedBy::Lint(check),
};

/// Queries with more tags are not checked, because every combination of tags is tried.
const MAX_TAGS: usize = 10;

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (d, doc) in cx.each::<Capability>().filter(|(d, _)| d.own) {
        let help = "correct the condition, or remove the capability";
        if doc.query.as_ref().is_some_and(|query| is_contradiction(cx.rules, query)) {
            report.add(d, d.span("Query"), "no combination of tags matches this query".to_owned(), help);
        }
        if constant(d, "When", &doc.when) == Some(false) {
            report.add(d, d.span("When"), "this condition never holds".to_owned(), help);
        }
        if constant(d, "Until", &doc.until) == Some(true) {
            report.add(d, d.span("Until"), "this condition always holds".to_owned(), help);
        }
    }
}

/// Returns whether no set of tags matches a query. A tag that the query does not name cannot change the result, except
/// as a descendant of one that it names, which counts as that tag.
fn is_contradiction(rules: &Rules, text: &str) -> bool {
    let Ok(query) = TagQuery::parse(text, rules) else { return false };
    let mut tags = Vec::new();
    collect_tags(&query, &mut tags);
    tags.sort_unstable();
    tags.dedup();
    if tags.len() > MAX_TAGS {
        return false;
    }
    let chosen = |bits: u32| -> Vec<TagId> {
        tags.iter().enumerate().filter(|(i, _)| bits & (1 << i) != 0).map(|(_, &tag)| tag).collect()
    };
    !(0..1_u32 << tags.len()).any(|bits| query.matches(rules, &chosen(bits)))
}

fn collect_tags(query: &TagQuery, into: &mut Vec<TagId>) {
    match query {
        TagQuery::Has(tag) | TagQuery::HasExact(tag) => into.push(*tag),
        TagQuery::Any(list) | TagQuery::All(list) | TagQuery::None(list) => {
            list.iter().for_each(|query| collect_tags(query, into));
        }
    }
}

/// Returns the value of a condition that reads neither attributes nor tags: whether a capability with this condition is
/// active in a sim of its own.
fn constant(d: &LintDoc<'_>, key: &str, text: &Option<String>) -> Option<bool> {
    let text = text.as_ref()?;
    if d.names.iter().any(|m| m.key == key) || text.contains("rand") {
        return None;
    }
    let rules = Rules::builder()
        .add(AttributeSet::new("S").with(Attribute::new("Unused", 0.0)))
        .add(Capability::new("C").when(text))
        .add(CapabilitySet::new("CS").capability(SetCapability::new("C")))
        .build()
        .ok()?;
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([rules.find_set("S")?])).ok()?;
    sim.grant_set(who, rules.find_ability_set("CS")?).ok()?;
    Some(sim.capability_state(who, rules.find_capability("C")?) == Ok(CapabilityState::Active))
}
