//! Lint rules: checks for documents that load without errors but are probably wrong.
//!
//! Each rule has its own file with a documentation page and a check function. Some rules are checked by the rules
//! builder; their files have only the page. A comment `# ugas-allow: <id>` on the line of a finding, or alone on a line
//! above it with only comments and empty lines between, allows the finding.

mod ability_never_granted;
mod allow;
mod blocked_but_never_ticks;
mod cancel_both_ways;
mod capability_never_active;
mod channel_below_minus_one;
mod channel_on_non_multiply;
mod contradictory_tags;
mod cooldown_without_tag;
mod cost_above_maximum;
mod cost_never_affordable;
mod cx;
mod death_by_threshold;
mod double_bound_input;
mod effect_cycle;
mod effects_on_a_local_side;
mod host_data;
mod infinite_never_removed;
mod instant_with_granted_tags;
mod multiply_as_factor;
mod naming;
mod period_below_frame;
mod period_beyond_duration;
mod predicted_authoritative_only;
mod reserved_prefix;
mod resource_without_maximum;
mod same_priority_overrides;
mod schema_main;
mod schema_missing;
mod stat_fixed_and_modified;
mod tag_depth;
mod tag_never_granted;
mod task_without_timeline;
mod time_not_whole_frame;
mod unbounded_stacking;
mod unexplained_controller;
mod unreachable_ability;
mod unused_definition;
mod zero_magnitude;

pub(crate) use cx::LintCx;

use crate::assemble::Assembled;
use crate::diagnostic::{Diagnostic, Edit, Severity};
use crate::names::Names;
use crate::project::{DocSet, Project};
use crate::{Node, Span};
use cx::LintDoc;
use std::sync::Arc;
use ugas_core::Rules;

/// Where a rule is checked.
#[derive(Clone, Copy)]
pub(crate) enum CheckedBy {
    /// The rules builder, whose warnings have the id of the rule.
    Builder,
    /// This function.
    Lint(fn(&LintCx<'_>, &mut Report)),
}

/// A lint rule and its documentation.
///
/// ```
/// let rule = ugas_data::lint_rule("zero-magnitude").unwrap();
/// assert!(rule.page().starts_with("# zero-magnitude\n"));
/// assert!(ugas_data::lint_rule("no-such-rule").is_none());
/// ```
pub struct Rule {
    /// The id in findings.
    pub id: &'static str,
    /// The severity of the rule's findings.
    pub severity: Severity,
    /// Whether the rule runs only in strict mode, because it may also report valid data.
    pub strict: bool,
    /// What the rule finds, in one line.
    pub summary: &'static str,
    /// Why the finding matters.
    pub why: &'static str,
    /// An example in YAML that causes the finding.
    pub example: &'static str,
    /// The suggested action.
    pub fix: &'static str,
    pub(crate) check: CheckedBy,
}

impl Rule {
    /// Returns the page of the rule as Markdown.
    pub fn page(&self) -> String {
        let strict = if self.strict { ", only with `--strict`" } else { "" };
        format!(
            "# {}\n\n{} ({}{strict})\n\n## Why\n\n{}\n\n## Example\n\n```yaml\n{}\n```\n\n## How to fix it\n\n{}\n",
            self.id,
            self.summary,
            self.severity.name(),
            self.why.trim(),
            self.example.trim(),
            self.fix.trim()
        )
    }
}

/// Returns all rules, sorted by id.
///
/// ```
/// assert!(ugas_data::lint_rules().is_sorted_by_key(|rule| rule.id));
/// ```
pub fn lint_rules() -> &'static [&'static Rule] {
    RULES
}

/// Returns a rule by id.
pub fn lint_rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

static RULES: &[&Rule] = &[
    &ability_never_granted::RULE,
    &blocked_but_never_ticks::RULE,
    &cancel_both_ways::RULE,
    &capability_never_active::RULE,
    &channel_below_minus_one::RULE,
    &channel_on_non_multiply::RULE,
    &contradictory_tags::RULE,
    &cooldown_without_tag::RULE,
    &cost_above_maximum::RULE,
    &cost_never_affordable::RULE,
    &death_by_threshold::RULE,
    &double_bound_input::RULE,
    &effect_cycle::RULE,
    &effects_on_a_local_side::RULE,
    &host_data::RULE,
    &infinite_never_removed::RULE,
    &instant_with_granted_tags::RULE,
    &multiply_as_factor::RULE,
    &naming::RULE,
    &period_below_frame::RULE,
    &period_beyond_duration::RULE,
    &predicted_authoritative_only::RULE,
    &reserved_prefix::RULE,
    &resource_without_maximum::RULE,
    &same_priority_overrides::RULE,
    &schema_main::RULE,
    &schema_missing::RULE,
    &stat_fixed_and_modified::RULE,
    &tag_depth::RULE,
    &tag_never_granted::RULE,
    &task_without_timeline::RULE,
    &time_not_whole_frame::RULE,
    &unbounded_stacking::RULE,
    &unexplained_controller::RULE,
    &unreachable_ability::RULE,
    &unused_definition::RULE,
    &zero_magnitude::RULE,
];

/// The findings of one rule.
pub(crate) struct Report {
    rule: &'static Rule,
    findings: Vec<Diagnostic>,
}

impl Report {
    /// Adds a finding at a span of a document, unless the document belongs to another document set, where it is
    /// reported.
    pub(crate) fn add(&mut self, doc: &LintDoc<'_>, span: Span, message: String, help: &str) {
        self.add_with_fix(doc, span, message, help, None);
    }

    /// Adds a finding with a fix.
    pub(crate) fn add_with_fix(
        &mut self,
        doc: &LintDoc<'_>,
        span: Span,
        message: String,
        help: &str,
        fix: Option<(String, Vec<Edit>)>,
    ) {
        if !doc.own {
            return;
        }
        let mut finding = doc.source.finding(self.rule.id, self.rule.severity, message, span).help(help);
        if let Some((title, edits)) = fix {
            finding = finding.fix(title, edits);
        }
        self.findings.push(finding);
    }
}

/// Runs the rules on the own documents of a document set. `names` are the names of the whole project.
pub(crate) fn lint_set(
    project: &Project,
    set: &DocSet,
    whole: &Assembled<'_>,
    rules: &Arc<Rules>,
    names: &Names,
    strict: bool,
) -> Vec<Diagnostic> {
    let cx = LintCx::new(project, set, whole, rules, names, strict);
    let mut findings = Vec::new();
    for rule in RULES.iter().filter(|rule| strict || !rule.strict) {
        if let CheckedBy::Lint(check) = rule.check {
            let mut report = Report { rule, findings: Vec::new() };
            check(&cx, &mut report);
            findings.append(&mut report.findings);
        }
    }
    findings
}

/// Removes the findings that comments allow.
pub(crate) fn without_allowed(project: &Project, findings: &mut Vec<Diagnostic>) {
    allow::retain(project, findings);
}

/// Returns the span of the first line of a node, so that a finding about a long value marks one line.
pub(crate) fn head(node: &Node, text: &str) -> Span {
    let cut = node.span.of(text).unwrap_or("");
    let line = cut.lines().next().unwrap_or("").trim_end();
    Span { start: node.span.start, end: node.span.start + line.len() as u32 }
}

/// Returns whether a controller with `tag` also has `wanted`: it is the same tag or a parent.
pub(crate) fn implies(tag: &str, wanted: &str) -> bool {
    tag.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
