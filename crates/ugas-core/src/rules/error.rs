//! Errors and warnings of a build of rules. An error prevents the build. A warning does not.

use std::fmt;
use ugas_doc::Origin;

/// The severity of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The rules are rejected.
    Error,
    /// The rules are built, but the documents have a likely mistake.
    Warning,
}

/// One issue found while building rules.
///
/// ```
/// use ugas_core::Rules;
/// use ugas_doc::Effect;
/// let error = Rules::builder().add(Effect::instant("GE_Hit").add("Helth", -5.0)).build().unwrap_err();
/// assert_eq!(error.issues[0].code, "unknown-attribute");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LoadIssue {
    /// The severity.
    pub severity: Severity,
    /// The stable code of the check that found the issue.
    pub code: &'static str,
    /// The document that has the issue.
    pub document: String,
    /// The message, with a suggestion if there is one.
    pub message: String,
    /// The file and line of the document, if known.
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

/// The errors and warnings of rejected rules, or of a rejected run-time definition. `Debug` prints the same text as
/// `Display`, so that a `main` function that returns this error prints a readable message.
#[derive(Clone, PartialEq)]
pub struct LoadError {
    /// The issues (errors and warnings) in the order in which the compiler found them.
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
        write!(f, "the rules have errors:\n{self}")
    }
}
impl std::error::Error for LoadError {}
