//! Checking without running: documents are read, rules are built, names of scenarios are looked up.

use crate::files::{files_at, text_of};
use crate::harness::is_pack_file;
use crate::packs::{builder_of, host_calculations};
use crate::run::world::issue_error;
use crate::scenario::Scenario;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use ugas_core::{LoadIssue, Severity};
use ugas_data::{Code, Document, Loaded, Node, ReadError, doc_from_node, read_packs, read_trees};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// Something is wrong.
    Error,
    /// Somebody should look.
    Warning,
    /// Good to know.
    Info,
}

impl FindingSeverity {
    /// Its name in text output.
    pub fn name(self) -> &'static str {
        match self {
            FindingSeverity::Error => "error",
            FindingSeverity::Warning => "warning",
            FindingSeverity::Info => "info",
        }
    }
}

/// One finding, in the shape tools read.
///
/// ```
/// let findings = ugas_lab::check_path("no/such/place").unwrap_err();
/// assert_eq!(findings[0].code, ugas_data::Code::Unreadable);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A stable id of what found it.
    pub id: String,
    /// How bad it is.
    pub severity: FindingSeverity,
    /// What was found, and what was expected.
    pub message: String,
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Where it ends.
    pub end_line: u32,
    /// Where it ends.
    pub end_column: u32,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Finding {
    fn new(id: &str, severity: FindingSeverity, error: &ReadError) -> Finding {
        let (line, column) = (error.line.max(1), error.column.max(1));
        Finding {
            id: id.to_owned(),
            severity,
            message: error.message.clone(),
            file: error.file.to_string(),
            line,
            column,
            end_line: line,
            end_column: column,
            help: error.help.clone(),
        }
    }

    fn of_read_error(error: &ReadError) -> Finding {
        let id = match error.code {
            Code::Unreadable => "unreadable",
            Code::Syntax => "syntax",
            Code::Limit => "limit",
            Code::DuplicateKey => "duplicate-key",
            Code::UnknownKind => "unknown-kind",
            _ => "invalid",
        };
        Finding::new(id, FindingSeverity::Error, error)
    }

    fn of_issue(issue: &LoadIssue, file: &str) -> Finding {
        let severity = match issue.severity {
            Severity::Error => FindingSeverity::Error,
            Severity::Warning => FindingSeverity::Warning,
        };
        let mut error = issue_error(issue, file);
        // The id has a place of its own here.
        error.message = error.message.trim_end_matches(&format!(" [{}]", issue.code)).to_owned();
        Finding::new(issue.code, severity, &error)
    }
}

/// Checks a file or a folder as one set of documents, and every scenario in it with what it names. A folder with a
/// `pack.yaml` is a set of its own, together with the packs it requires. The error holds what could not be read at all.
pub fn check_path(path: impl AsRef<Path>) -> Result<Vec<Finding>, Vec<ReadError>> {
    let path = path.as_ref();
    let files = files_at(path)?;
    let packs: BTreeSet<&Path> = files.iter().filter(|f| is_pack_file(f)).filter_map(|f| f.parent()).collect();
    // The innermost pack a file lies in, or none.
    let home = |file: &Path| file.ancestors().skip(1).find(|folder| packs.contains(folder)).map(Path::to_path_buf);
    let mut sets: BTreeMap<Option<PathBuf>, Set> = BTreeMap::new();
    let mut unreadable = Vec::new();
    for file in &files {
        let name = file.display().to_string();
        let set = sets.entry(home(file)).or_default();
        if is_pack_file(file) {
            continue;
        }
        match text_of(file) {
            Ok(text) => match read_trees(&name, &text) {
                Ok(trees) => trees.iter().for_each(|tree| set.tree(&name, tree)),
                Err(errors) => set.findings.extend(errors.iter().map(Finding::of_read_error)),
            },
            Err(error) => unreadable.push(error),
        }
    }
    if !unreadable.is_empty() {
        return Err(unreadable);
    }
    let mut findings = Vec::new();
    for (pack, mut set) in sets {
        if let Some(folder) = &pack {
            set.require(folder);
        }
        set.build(&pack.as_deref().unwrap_or(path).display().to_string());
        findings.append(&mut set.findings);
    }
    findings.sort_by(|a, b| {
        let key = |f: &Finding| (f.line, f.column, f.severity);
        a.file.cmp(&b.file).then(key(a).cmp(&key(b))).then_with(|| a.message.cmp(&b.message))
    });
    // What several packs require is found by each of them.
    findings.dedup();
    Ok(findings)
}

#[derive(Default)]
struct Set {
    docs: Vec<Loaded>,
    calculations: BTreeSet<String>,
    findings: Vec<Finding>,
}

impl Set {
    /// Adds what a pack requires and what it leaves to host code.
    fn require(&mut self, folder: &Path) {
        match read_packs([folder]) {
            Ok(packs) => {
                self.calculations = host_calculations(&packs);
                let others = packs.into_iter().filter(|p| p.folder != folder);
                self.docs.extend(others.flat_map(|p| p.documents.docs));
            }
            // What is wrong with its own documents is known already.
            Err(errors) => {
                let new = errors.iter().map(Finding::of_read_error).filter(|f| !self.findings.contains(f));
                let new: Vec<_> = new.collect();
                self.findings.extend(new);
            }
        }
    }

    fn tree(&mut self, file: &str, tree: &Node) {
        if tree.get("Scenario").is_some() {
            let checked = Scenario::from_node(file, tree).and_then(|s| s.check());
            if let Err(errors) = checked {
                self.findings.extend(errors.iter().map(Finding::of_read_error));
            }
            return;
        }
        match doc_from_node(file, tree) {
            Ok(Document::Loaded(loaded)) => self.docs.push(*loaded),
            Ok(Document::Unsupported(other)) => {
                let message = format!("documents of kind {} are not read by this release", other.kind);
                let error = tree.error(file, message);
                self.findings.push(Finding::new("unsupported-kind", FindingSeverity::Info, &error));
            }
            Err(error) => self.findings.push(Finding::of_read_error(&error)),
        }
    }

    /// Documents that could not be read would only give findings that are none.
    fn build(&mut self, path: &str) {
        if self.docs.is_empty() || self.findings.iter().any(|f| f.severity == FindingSeverity::Error) {
            return;
        }
        let found = match builder_of(std::mem::take(&mut self.docs), &self.calculations).build() {
            Ok(rules) => rules.warnings().to_vec(),
            Err(error) => error.issues,
        };
        self.findings.extend(found.iter().map(|i| Finding::of_issue(i, path)));
    }
}
