//! Finding the one issue that building rules is expected to report.

use ugas_core::{LoadIssue, Rules, RulesBuilder, Severity};
use ugas_doc::{Attribute, AttributeSet};

pub(crate) fn vitals() -> AttributeSet {
    AttributeSet::new("Vitals")
        .with(Attribute::new("MaxHealth", 100.0))
        .with(Attribute::new("Health", 100.0).min(0.0).max("MaxHealth"))
}

pub(crate) fn base() -> RulesBuilder {
    Rules::builder().add(vitals())
}

/// The one error of this code.
pub(crate) fn error(builder: RulesBuilder, code: &str) -> LoadIssue {
    let error = match builder.build() {
        Ok(_) => panic!("no error; expected {code}"),
        Err(e) => e,
    };
    let found: Vec<&LoadIssue> =
        error.issues.iter().filter(|i| i.code == code && i.severity == Severity::Error).collect();
    assert_eq!(found.len(), 1, "expected one {code} in:\n{error}");
    found[0].clone()
}

/// The one warning of this code, from rules that were built.
pub(crate) fn warning(builder: RulesBuilder, code: &str) -> LoadIssue {
    let rules = builder.build().unwrap_or_else(|e| panic!("{e}"));
    let found: Vec<&LoadIssue> = rules.warnings().iter().filter(|i| i.code == code).collect();
    assert_eq!(found.len(), 1, "expected one {code} in {:?}", rules.warnings());
    assert_eq!(found[0].severity, Severity::Warning);
    found[0].clone()
}

#[track_caller]
pub(crate) fn assert_issue(issue: &LoadIssue, document: &str, parts: &[&str]) {
    assert_eq!(issue.document, document, "{issue}");
    for part in parts {
        assert!(issue.message.contains(part), "{part:?} is not in: {issue}");
    }
}
