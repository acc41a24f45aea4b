//! What building rules can say: errors refuse the whole set, warnings come along with it.

use std::fmt;
use ugas_doc::Origin;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The rules are refused.
    Error,
    /// The rules work, but somebody should look.
    Warning,
}

/// One finding while building rules.
///
/// ```
/// use ugas_core::Rules;
/// use ugas_doc::Effect;
/// let error = Rules::builder().add(Effect::instant("GE_Hit").add("Helth", -5.0)).build().unwrap_err();
/// assert_eq!(error.issues[0].code, "unknown-attribute");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LoadIssue {
    /// How bad it is.
    pub severity: Severity,
    /// A stable id of the rule that found it.
    pub code: &'static str,
    /// The document it is about.
    pub document: String,
    /// What is wrong, and where known what was meant.
    pub message: String,
    /// Where the document stands.
    pub origin: Option<Origin>,
}

impl fmt::Display for LoadIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}: ")?;
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}[{}]: {}: {}", self.code, self.document, self.message)
    }
}

/// Every reason why rules or a run-time definition were refused. Nothing was built. `Debug` reads like `Display`, so
/// that a `main` that returns it prints what a person needs.
#[derive(Clone, PartialEq)]
pub struct LoadError {
    /// The findings, errors and warnings in document order.
    pub issues: Vec<LoadIssue>,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, issue) in self.issues.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{issue}")?;
        }
        Ok(())
    }
}
impl fmt::Debug for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the rules are refused:\n{self}")
    }
}
impl std::error::Error for LoadError {}
