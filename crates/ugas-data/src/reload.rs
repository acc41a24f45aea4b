//! Hot reload: builds new rules from changed files and keeps the ids of the old rules. If the files have errors, the
//! old rules stay in use and findings are returned.
//!
//! A [`Reloader`] reads only changed files. A reloader does not run by itself: a host calls [`Reloader::poll`] between
//! frames, and may use `Watch` (feature `watch`) to be notified of changes.

use crate::assemble::assemble;
use crate::diagnostic::{Diagnostic, Severity};
use crate::folder::{PACK_FILE, text_of};
use crate::names::Names;
use crate::project::{DocSet, Source};
use crate::{Project, ReadError};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use ugas_core::{Rules, RulesBuilder};

/// Metadata that shows whether a file changed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stamp {
    written: Option<SystemTime>,
    len: u64,
    /// Whether it was the same in two polls. A file may be written twice within the resolution of the file system's
    /// clock, so a changed file is read once more.
    sure: bool,
}

impl Stamp {
    /// Reads the stamp of a file, given its previous stamp.
    fn of(path: &Path, before: Option<Stamp>) -> Option<Stamp> {
        let meta = fs::metadata(path).ok()?;
        let now = Stamp { written: meta.modified().ok(), len: meta.len(), sure: false };
        let same = before.is_some_and(|b| (b.written, b.len) == (now.written, now.len));
        Some(Stamp { sure: same && now.written.is_some(), ..now })
    }
}

/// The text of a table when it was last read; `None` if the file does not exist.
#[derive(Debug)]
struct Table {
    stamp: Option<Stamp>,
    text: Option<String>,
}

/// The state of the files at the last poll.
#[derive(Debug, Default)]
struct Seen {
    stamps: BTreeMap<PathBuf, Stamp>,
    tables: BTreeMap<PathBuf, Table>,
}

impl Seen {
    /// Returns the tables that changed since the last poll.
    fn new_tables(&mut self) -> BTreeSet<PathBuf> {
        let mut new = BTreeSet::new();
        for (path, table) in &mut self.tables {
            let before = table.stamp;
            table.stamp = Stamp::of(path, before);
            if before.is_some_and(|b| b.sure) && table.stamp.is_some_and(|s| s.sure) {
                continue;
            }
            let text = table_text(path);
            if table.text != text {
                table.text = text;
                new.insert(path.clone());
            }
        }
        new
    }

    /// Keeps only the tables that documents name.
    fn keep_tables(&mut self, project: &Project) {
        let named: BTreeSet<PathBuf> = project.sources().iter().flat_map(Source::tables).collect();
        self.tables.retain(|path, _| named.contains(path));
        for path in named {
            let first = |path: &PathBuf| Table { stamp: Stamp::of(path, None), text: table_text(path) };
            self.tables.entry(path).or_insert_with_key(first);
        }
    }
}

fn table_text(path: &Path) -> Option<String> {
    text_of(path, &path.display().to_string()).ok()
}

type HostCodeFn = Box<dyn Fn(RulesBuilder) -> RulesBuilder + Send>;

/// The documents of a folder (with its required packs) or a file, and the last rules built from them.
///
/// ```
/// use ugas_data::Reloader;
/// let folder = std::env::temp_dir().join(format!("ugas-reload-doc-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let file = folder.join("vitals.yaml");
/// let text = "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: MaxHealth, DefaultBaseValue: 100}]\n";
/// std::fs::write(&file, text)?;
/// let mut reloader = Reloader::open(&folder).map_err(|findings| findings[0].message.clone())?;
/// let id = reloader.rules().find_attribute("MaxHealth");
/// assert!(reloader.poll().is_none());
///
/// std::fs::write(&file, text.replace("100", "lots"))?;
/// let findings = reloader.poll().unwrap().unwrap_err();
/// assert_eq!((findings[0].line, findings[0].column), (3, 50));
/// assert_eq!(reloader.rules().find_attribute("MaxHealth"), id); // the old rules are still there
///
/// std::fs::write(&file, text.replace("100", "150"))?;
/// let rules = reloader.poll().unwrap().unwrap();           // for `Sim::reload`
/// assert_eq!(rules.find_attribute("MaxHealth"), id);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Reloader {
    root: PathBuf,
    code: Option<HostCodeFn>,
    project: Project,
    seen: Seen,
    /// The files that could not be read at the last poll.
    unreadable: Vec<ReadError>,
    rules: Arc<Rules>,
}

impl Reloader {
    /// Reads a folder or file and builds its rules. Host code is replaced by placeholders; calculations return 0. On
    /// failure all findings are returned.
    pub fn open(path: impl Into<PathBuf>) -> Result<Reloader, Vec<Diagnostic>> {
        Reloader::start(path.into(), None)
    }

    /// Opens a path like [`Reloader::open`], with host code. `code` registers the host code each time the rules are
    /// built.
    ///
    /// ```no_run
    /// use ugas_core::Read;
    /// use ugas_data::Reloader;
    /// let reloader = Reloader::with_code("data/arena", |rules| {
    ///     rules.calc_fn("ExecCalc_Wind", [Read::source("Speed")], |cx| {
    ///         let speed = cx.source("Speed");
    ///         cx.add("Drift", speed * 0.1);
    ///     })
    /// });
    /// ```
    pub fn with_code(
        path: impl Into<PathBuf>,
        code: impl Fn(RulesBuilder) -> RulesBuilder + Send + 'static,
    ) -> Result<Reloader, Vec<Diagnostic>> {
        Reloader::start(path.into(), Some(Box::new(code)))
    }

    fn start(root: PathBuf, code: Option<HostCodeFn>) -> Result<Reloader, Vec<Diagnostic>> {
        let mut seen = Seen::default();
        let (project, unreadable) = look(&root, &mut BTreeMap::new(), &mut seen, &mut false);
        let rules = build(&root, &project, &unreadable, code.as_ref(), None)?;
        Ok(Reloader { root, code, project, seen, unreadable, rules })
    }

    /// Returns the rules of the last successful build.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Returns the files as they were last read, including files with errors.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Checks whether files changed. Returns `None` if no file changed, new rules if the files are valid, and findings
    /// if they have errors. If the files have errors, [`Reloader::rules`] still returns the rules of the last
    /// successful build.
    pub fn poll(&mut self) -> Option<Result<Arc<Rules>, Vec<Diagnostic>>> {
        let mut changed = false;
        let old = std::mem::take(&mut self.project);
        let mut known: BTreeMap<PathBuf, Source> = old.into_sources().map(|s| (s.path.clone(), s)).collect();
        let (project, unreadable) = look(&self.root, &mut known, &mut self.seen, &mut changed);
        // Files that were not read again no longer exist.
        changed |= !known.is_empty() || unreadable != self.unreadable;
        self.seen.stamps.retain(|path, _| !known.contains_key(path));
        (self.project, self.unreadable) = (project, unreadable);
        changed.then(|| self.build())
    }

    fn build(&mut self) -> Result<Arc<Rules>, Vec<Diagnostic>> {
        let rules = build(&self.root, &self.project, &self.unreadable, self.code.as_ref(), Some(&self.rules))?;
        self.rules = rules.clone();
        Ok(rules)
    }
}

impl std::fmt::Debug for Reloader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reloader").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Reads the project from disk; unchanged files are taken from `known`.
fn look(
    root: &Path,
    known: &mut BTreeMap<PathBuf, Source>,
    seen: &mut Seen,
    changed: &mut bool,
) -> (Project, Vec<ReadError>) {
    let new = seen.new_tables();
    let found = Project::open_by(root, &mut |path| {
        let (old, before) = (known.remove(&path), seen.stamps.remove(&path));
        let now = Stamp::of(&path, before);
        seen.stamps.extend(now.map(|now| (path.clone(), now)));
        let unchanged = before.is_some_and(|b| b.sure) && now.is_some_and(|n| n.sure);
        let source = match old {
            Some(source) if unchanged => source,
            Some(source) => {
                let text = text_of(&path, &source.name)?;
                if *source.text == *text {
                    source
                } else {
                    *changed = true;
                    Source::read(path, text)
                }
            }
            None => {
                let text = text_of(&path, &path.display().to_string())?;
                *changed = true;
                Source::read(path, text)
            }
        };
        if source.tables().any(|table| new.contains(&table)) {
            *changed = true;
            return Ok(Source::read(source.path.clone(), source.text.to_string()));
        }
        Ok(source)
    });
    seen.keep_tables(&found.0);
    found
}

/// Returns the document set at a path: the pack in the folder, or the files outside packs.
fn set_at(root: &Path, project: &Project) -> Option<DocSet> {
    let folder = root.join(PACK_FILE).is_file().then(|| root.to_path_buf());
    project.sets().into_iter().find(|set| set.folder == folder)
}

fn build(
    root: &Path,
    project: &Project,
    unreadable: &[ReadError],
    code: Option<&HostCodeFn>,
    after: Option<&Arc<Rules>>,
) -> Result<Arc<Rules>, Vec<Diagnostic>> {
    let Some(set) = set_at(root, project).filter(|set| project.docs(set).next().is_some()) else {
        let mut findings: Vec<Diagnostic> = unreadable.iter().map(Diagnostic::of_read_error).collect();
        let message = "no document found; check the path";
        findings.push(Diagnostic::new("no-documents", Severity::Error, root.display().to_string(), message.to_owned()));
        return Err(findings);
    };
    if unreadable.is_empty()
        && let Some(built) = built(project, &set, code, after)
    {
        return built;
    }
    let mut findings: Vec<Diagnostic> = unreadable.iter().map(Diagnostic::of_read_error).collect();
    findings.extend(errors_of(project));
    Diagnostic::arrange(&mut findings);
    Err(findings)
}

fn errors_of(project: &Project) -> impl Iterator<Item = Diagnostic> {
    project.check().into_iter().filter(|f| f.severity == Severity::Error)
}

/// Builds the rules of a document set, or returns the issues. `None` if a document is invalid.
fn built(
    project: &Project,
    set: &DocSet,
    code: Option<&HostCodeFn>,
    after: Option<&Arc<Rules>>,
) -> Option<Result<Arc<Rules>, Vec<Diagnostic>>> {
    let mut files = set.own.iter().chain(&set.required).map(|&i| &project.sources()[i]);
    let names = Names::of(project);
    let whole = assemble(project, set, &names);
    if !files.all(Source::is_valid) || whole.findings.iter().any(|f| f.severity == Severity::Error) {
        return None;
    }
    let start = after.map_or_else(Rules::builder, |old| Rules::builder().after(old.clone()));
    let builder = whole.add_to(start);
    let builder = match code {
        Some(code) => code(builder),
        None => set.host.stand_in(builder),
    };
    Some(builder.build().map_err(|error| {
        let mut findings = project.place_all(&error.issues, set, &names);
        Diagnostic::arrange(&mut findings);
        findings
    }))
}

impl Project {
    /// Builds the rules of a document set with the ids of older rules, so that a running sim can migrate to the new
    /// rules. Host code is replaced by placeholders, and calculations return 0. On failure all errors are returned.
    ///
    /// ```
    /// let mut project = ugas_data::Project::default();
    /// project.put("a.yaml", "Kind: attribute_set\nName: A\nAttributes: [{Name: Speed, DefaultBaseValue: 5}]\n");
    /// let first = project.rules_after(&project.sets()[0], None).unwrap();
    /// project.put("a.yaml", "Kind: attribute_set\nName: A\nAttributes: [{Name: Speed, DefaultBaseValue: 6}]\n");
    /// let second = project.rules_after(&project.sets()[0], Some(&first)).unwrap();
    /// assert_eq!(first.attribute("Speed"), second.attribute("Speed"));
    /// ```
    pub fn rules_after(&self, set: &DocSet, after: Option<&Arc<Rules>>) -> Result<Arc<Rules>, Vec<Diagnostic>> {
        built(self, set, None, after).unwrap_or_else(|| Err(errors_of(self).collect()))
    }
}
