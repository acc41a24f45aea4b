//! A project: a collection of files. A project stores texts, trees and documents for checks, lints, the formatter and
//! editors, so that only changed files are read again.

use crate::assemble::{Assembled, assemble};
use crate::diagnostic::{Diagnostic, Severity};
use crate::folder::{PACK_FILE, files_in, link_out_of_folder, text_of};
use crate::kind::{KindName, draft_of, kind_of};
use crate::limits::{MAX_ERRORS, MAX_FINDINGS, MAX_FINDINGS_PER_DOCUMENT, MAX_POINTS};
use crate::lines::Lines;
use crate::lint::{lint_set, without_allowed};
use crate::locate::{at_patch, diagnostic_of};
use crate::names::Names;
use crate::pack::pack_from_node;
use crate::parse::parse;
use crate::read::read_tree;
use crate::unread::Unread;
use crate::{HostNames, Loaded, Node, PackFile, ReadError, ReadErrors, Span, csv, placeholder, resolve, scene};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use ugas_core::{LoadIssue, Rules};
use ugas_doc::{Kind, Origin, Patched, Scene};

/// One document of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceDoc {
    /// The document as a tree.
    pub tree: Node,
    /// The kind; `None` for scenarios and unknown documents.
    pub kind: Option<Kind>,
    /// The typed document, if it could be read.
    pub loaded: Option<Loaded>,
}

/// Reads a file of a project.
pub(crate) type ReadFile<'f> = dyn FnMut(PathBuf) -> Result<Source, ReadError> + 'f;

/// One file of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The name of the file in messages.
    pub name: Arc<str>,
    /// The path of the file.
    pub path: PathBuf,
    /// The text of the file.
    pub text: Arc<str>,
    /// The documents of the file. A document with invalid values has a tree but no typed document. A document with
    /// syntax errors is missing.
    pub docs: Vec<SourceDoc>,
    /// The errors that occurred while reading the file.
    pub errors: Vec<ReadError>,
    /// The contents of the `pack.yaml`, if the file is a valid `pack.yaml`.
    pub pack: Option<PackFile>,
    /// The index of its lines.
    lines: Lines,
}

impl Source {
    /// Creates a finding about a span of this file.
    pub(crate) fn finding(&self, id: &str, severity: Severity, message: String, span: Span) -> Diagnostic {
        self.mark(Diagnostic::new(id, severity, self.name.clone(), message), span)
    }

    /// Returns the line and column, both from 1, of a byte offset.
    pub(crate) fn place(&self, byte: usize) -> (u32, u32) {
        self.lines.place(&self.text, byte)
    }

    /// Sets the place of a finding to a span of this file.
    pub(crate) fn mark(&self, mut finding: Diagnostic, span: Span) -> Diagnostic {
        (finding.line, finding.column) = self.place(span.start as usize);
        (finding.end_line, finding.end_column) = self.place(span.end as usize);
        finding.span = span;
        finding
    }

    pub(crate) fn read(path: PathBuf, text: String) -> Source {
        Source::read_with(path, text, &csv::Tables::new())
    }

    /// Like [`Source::read`], with tables that are not read from disk.
    fn read_with(path: PathBuf, text: String, kept: &csv::Tables) -> Source {
        let name: Arc<str> = path.display().to_string().into();
        let (trees, errors) = parse(&name, &text);
        let lines = Lines::of(&text);
        let mut source = Source { name, path, text: text.into(), docs: Vec::new(), errors, pack: None, lines };
        if source.path.file_name().is_some_and(|n| n == PACK_FILE) {
            source.read_pack(&trees);
            return source;
        }
        let mut room = MAX_POINTS;
        for tree in trees {
            source.read_doc(tree, &mut room, kept);
        }
        source.errors.sort_by_key(|e| (e.line, e.column));
        ReadErrors::cut(&mut source.errors);
        source
    }

    fn read_pack(&mut self, trees: &[Node]) {
        match trees {
            [tree] => match pack_from_node(&self.name, tree) {
                Ok(pack) => {
                    if let Some(settings) = pack.input_settings() {
                        let line = tree.get("InputBuffer").unwrap_or(tree).line;
                        let loaded = Loaded { doc: settings.into(), origin: Origin::new(&*self.name, line) };
                        let kind = Some(Kind::InputSettings);
                        self.docs.push(SourceDoc { tree: tree.clone(), kind, loaded: Some(loaded) });
                    }
                    self.pack = Some(pack);
                }
                Err(error) => self.errors.push(error),
            },
            _ if self.errors.is_empty() => {
                let message = format!("expected one document that describes the pack, found {}", trees.len());
                self.errors.push(ReadError::of_file(&self.name, crate::Code::Invalid, message));
            }
            _ => {}
        }
    }

    fn read_doc(&mut self, tree: Node, room: &mut usize, kept: &csv::Tables) {
        if tree.get("Scenario").is_some() {
            return self.docs.push(SourceDoc { tree, kind: None, loaded: None });
        }
        let kind = match kind_of(&self.name, &tree) {
            Ok(KindName::Known(kind)) => Some(kind),
            _ => None,
        };
        // More errors than are shown were already found.
        if self.errors.len() > MAX_ERRORS {
            return self.docs.push(SourceDoc { tree, kind, loaded: None });
        }
        let loaded = match read_tree(&self.name, &tree) {
            Ok(mut loaded) => match csv::fill(&mut loaded.doc, &tree, &self.path, room, kept) {
                Ok(()) => Some(loaded),
                Err(errors) => {
                    self.errors.extend(errors);
                    None
                }
            },
            Err(errors) => {
                self.errors.extend(errors);
                None
            }
        };
        self.docs.push(SourceDoc { tree, kind, loaded });
    }

    /// Returns the paths of the curve tables (CSV files) to which the documents of the file refer.
    ///
    /// ```
    /// let mut project = ugas_data::Project::default();
    /// project.put("curves/damage.yaml", "Kind: curve\nName: CT_Damage\nCsv: damage.csv\n");
    /// let tables: Vec<_> = project.sources()[0].tables().collect();
    /// assert_eq!(tables, [std::path::Path::new("curves/damage.csv")]);
    /// ```
    pub fn tables(&self) -> impl Iterator<Item = PathBuf> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let named = self.docs.iter().filter_map(|d| {
            let owner = if d.kind == Some(Kind::Patch) { d.tree.get("Set")? } else { &d.tree };
            matches!(d.kind, Some(Kind::Patch | Kind::Curve | Kind::StatTable)).then(|| owner.get("Csv"))?
        });
        named.filter_map(|node| node.as_text().filter(|name| csv::is_inside(name))).map(|name| folder.join(name))
    }

    /// Returns whether the whole file was read without errors.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }
}

/// A document set: documents that are built into rules together. A document set is a pack with its required packs, or
/// all files outside packs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocSet {
    /// The folder of the pack; `None` for files outside packs.
    pub folder: Option<PathBuf>,
    /// The files of the pack itself, or the files outside packs, as indices into [`Project::sources`].
    pub own: Vec<usize>,
    /// The files of the required packs, as indices into [`Project::sources`].
    pub required: Vec<usize>,
    /// The names of the calculations, tasks and other code that the host provides.
    pub host: HostNames,
}

/// A collection of files that are checked together.
///
/// ```
/// use ugas_data::Project;
/// let mut project = Project::default();
/// project.put("hurt.yaml", "Kind: gameplay_effect\nName: GE_Hurt\nDurationPolicy: Infinite\nGrantedTags: [State.Hurt]\n");
/// let findings = project.check();
/// let found = findings.iter().find(|f| f.id == "undeclared-tag").unwrap();
/// assert_eq!((found.line, found.column), (4, 15));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Project {
    pub(crate) sources: Vec<Source>,
    pub(crate) tables: csv::Tables,
}

impl Project {
    /// Reads a file, or every document file of a folder, and the required packs. Returns an error only if a file cannot
    /// be read from disk; [`Project::check`] reports all other problems.
    pub fn open(path: impl AsRef<Path>) -> Result<Project, ReadErrors> {
        let (project, errors) = Project::open_readable(path);
        ReadErrors::unless(errors, project)
    }

    /// Opens a path like [`Project::open`]. If the path is a file in a pack, opens the whole pack, because the names in
    /// the file may be defined elsewhere in the pack. The second value is true if a pack was opened for a file;
    /// findings may then be about other files.
    pub fn open_at_home(path: impl AsRef<Path>) -> Result<(Project, bool), ReadErrors> {
        let path = path.as_ref();
        let mut above = path.ancestors().skip(1).filter(|_| path.is_file());
        match above.find(|folder| folder.join(PACK_FILE).is_file()) {
            Some(home) if home.as_os_str().is_empty() => Ok((Project::open(".")?, true)),
            Some(home) => Ok((Project::open(home)?, true)),
            None => Ok((Project::open(path)?, false)),
        }
    }

    /// Opens a path like [`Project::open`], but returns the readable files together with the errors.
    pub fn open_readable(path: impl AsRef<Path>) -> (Project, Vec<ReadError>) {
        Project::open_by(path.as_ref(), &mut |file| {
            let text = text_of(&file, &file.display().to_string())?;
            Ok(Source::read(file, text))
        })
    }

    /// Like [`Project::open_readable`], with a custom reader.
    pub(crate) fn open_by(path: &Path, read: &mut ReadFile<'_>) -> (Project, Vec<ReadError>) {
        let mut errors = Vec::new();
        let files = if path.is_dir() { files_in(path, &mut errors) } else { vec![path.to_path_buf()] };
        let mut project = Project::default();
        for file in files {
            match read(file) {
                Ok(source) => project.sources.push(source),
                Err(error) => errors.push(error),
            }
        }
        project.require(read, &mut errors);
        (project, errors)
    }

    /// Returns the files.
    pub(crate) fn into_sources(self) -> impl Iterator<Item = Source> {
        self.sources.into_iter()
    }

    /// Adds a file, or replaces its text.
    pub fn put(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) {
        let source = Source::read_with(path.into(), text.into(), &self.tables);
        match self.sources.iter_mut().find(|s| s.path == source.path) {
            Some(old) => *old = source,
            None => self.sources.push(source),
        }
    }

    /// Removes a file.
    pub fn remove(&mut self, path: impl AsRef<Path>) {
        self.sources.retain(|s| s.path != path.as_ref());
    }

    /// Returns the files.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Returns the file whose name in messages is `name`, if the project contains it.
    pub fn source(&self, name: &str) -> Option<&Source> {
        self.sources.iter().find(|s| &*s.name == name)
    }

    /// Reads required packs outside the opened folder.
    fn require(&mut self, read: &mut ReadFile<'_>, errors: &mut Vec<ReadError>) {
        let mut next = 0;
        while let Some(source) = self.sources.get(next) {
            next += 1;
            let Some(pack) = &source.pack else { continue };
            let folders: Vec<PathBuf> =
                pack.requires.iter().filter_map(|name| required_pack_folder(&source.path, name)).collect();
            for folder in folders {
                if self.sources.iter().any(|s| s.path.parent() == Some(&folder)) || !folder.join(PACK_FILE).is_file() {
                    continue;
                }
                if let Some(error) = folder.parent().and_then(|home| link_out_of_folder(&folder, home)) {
                    errors.push(error);
                    continue;
                }
                for file in files_in(&folder, errors) {
                    match read(file) {
                        Ok(source) => self.sources.push(source),
                        Err(error) => errors.push(error),
                    }
                }
            }
        }
    }

    /// Returns the document sets of the project. The documents of one set are built into rules together.
    pub fn sets(&self) -> Vec<DocSet> {
        let packs = self.packs();
        let mut sets: BTreeMap<Option<PathBuf>, DocSet> = BTreeMap::new();
        for (i, source) in self.sources.iter().enumerate() {
            let folder = home_in(&packs, &source.path);
            let empty =
                || DocSet { folder: folder.clone(), own: Vec::new(), required: Vec::new(), host: HostNames::default() };
            sets.entry(folder.clone()).or_insert_with(empty).own.push(i);
        }
        let own: BTreeMap<PathBuf, Vec<usize>> =
            sets.iter().filter_map(|(folder, set)| folder.clone().map(|f| (f, set.own.clone()))).collect();
        for set in sets.values_mut() {
            let Some(folder) = &set.folder else { continue };
            for at in self.in_order(&packs, folder) {
                let Some(pack) = packs.get(at.as_path()).and_then(|&i| self.sources[i].pack.as_ref()) else { continue };
                set.host.extend(&pack.host);
                if at != *folder {
                    set.required.extend(own.get(&at).into_iter().flatten());
                }
            }
        }
        sets.into_values().collect()
    }

    /// Returns a pack and its required packs, required packs first.
    fn in_order(&self, packs: &BTreeMap<&Path, usize>, folder: &Path) -> Vec<PathBuf> {
        let mut done: Vec<PathBuf> = Vec::new();
        let mut begun = BTreeSet::new();
        // Each pack is visited twice: before and after its required packs.
        let mut steps = vec![(folder.to_path_buf(), false)];
        while let Some((at, below_done)) = steps.pop() {
            if below_done {
                done.push(at);
            } else if begun.insert(at.clone()) {
                let pack = packs.get(at.as_path()).and_then(|&i| self.sources[i].pack.as_ref());
                steps.push((at.clone(), true));
                let requires = pack.map_or(&[][..], |p| p.requires.as_slice());
                let below = requires.iter().rev().filter_map(|name| required_pack_folder(&at.join(PACK_FILE), name));
                steps.extend(below.map(|f| (f, false)));
            }
        }
        done
    }

    fn packs(&self) -> BTreeMap<&Path, usize> {
        self.sources.iter().enumerate().filter_map(|(i, s)| pack_folder(&s.path).map(|f| (f, i))).collect()
    }

    /// Returns the folder of the pack of a file.
    pub(crate) fn home(&self, path: &Path) -> Option<PathBuf> {
        home_in(&self.packs(), path)
    }

    /// Returns the folders of the required packs of a pack, transitively.
    pub(crate) fn required_packs(&self, pack: &Path) -> Vec<PathBuf> {
        let mut all = self.in_order(&self.packs(), pack);
        all.pop();
        all
    }

    /// Returns the namespaces of packs by folder.
    pub(crate) fn namespaces(&self) -> BTreeMap<PathBuf, String> {
        let named = |s: &Source| {
            let space = s.pack.as_ref()?.namespace.clone()?;
            Some((pack_folder(&s.path)?.to_path_buf(), space))
        };
        self.sources.iter().filter_map(named).collect()
    }

    /// Returns the documents of a document set, required packs first.
    pub fn docs<'p>(&'p self, set: &'p DocSet) -> impl Iterator<Item = (&'p Source, &'p SourceDoc)> {
        let files = set.required.iter().chain(&set.own).map(|&i| &self.sources[i]);
        files.flat_map(|s| s.docs.iter().map(move |d| (s, d)))
    }

    /// Returns a scene of a document set, merged with the scenes that it extends, parents first. If the merged scene
    /// has errors, returns the findings; for a duplicate name, the finding names both lines. Returns `None` if the
    /// scene does not exist.
    ///
    /// ```
    /// let mut project = ugas_data::Project::default();
    /// project.put("hall.yaml", "Kind: scene\nName: SC_Hall\nSpawnPoints: [{Name: Door}]\n");
    /// project.put("feast.yaml", "Kind: scene\nName: SC_Feast\nExtends: [SC_Hall]\nSpawnPoints: [{Name: Table}]\n");
    /// let feast = project.scene(&project.sets()[0], "SC_Feast").unwrap().unwrap();
    /// let names: Vec<&str> = feast.spawn_points.iter().map(|p| p.name.as_str()).collect();
    /// assert_eq!(names, ["Door", "Table"]);
    /// ```
    pub fn scene(&self, set: &DocSet, name: &str) -> Option<Result<Scene, Vec<Diagnostic>>> {
        scene::whole(self, set, name)
    }

    /// Builds the rules of a document set. Host code is replaced by placeholders; calculations return 0. Returns the
    /// rules, or `None` if there are errors, and the issues of the builder.
    pub fn build(&self, set: &DocSet) -> (Option<Arc<Rules>>, Vec<LoadIssue>) {
        self.build_whole(set, &assemble(self, set, &Names::of(self)))
    }

    fn build_whole(&self, set: &DocSet, whole: &Assembled<'_>) -> (Option<Arc<Rules>>, Vec<LoadIssue>) {
        match set.host.stand_in(whole.add_to(Rules::builder())).build() {
            Ok(rules) => {
                let issues = rules.warnings().to_vec();
                (Some(rules), issues)
            }
            Err(error) => (None, error.issues),
        }
    }

    /// Checks all documents and returns errors and lint findings, sorted by file and line. Scenarios are not checked.
    pub fn check(&self) -> Vec<Diagnostic> {
        self.check_with(false)
    }

    /// Checks like [`Project::check`], including the strict lint rules if `strict` is true.
    ///
    /// ```
    /// let mut project = ugas_data::Project::default();
    /// project.put("a.yaml", "Kind: gameplay_effect\nName: Hit\nDurationPolicy: Instant\n");
    /// assert!(project.check().is_empty());
    /// assert!(project.check_with(true).iter().any(|f| f.id == "naming"));
    /// ```
    pub fn check_with(&self, strict: bool) -> Vec<Diagnostic> {
        let names = Names::of(self);
        let mut findings = Vec::new();
        for source in &self.sources {
            findings.extend(source.errors.iter().map(|e| {
                let finding = Diagnostic::of_read_error(e);
                // The table of a curve is a separate file.
                if e.file == source.name { finding.stretched(&source.text) } else { finding }
            }));
            findings.extend(self.missing_packs(source));
        }
        for set in self.sets() {
            let mut files = set.own.iter().chain(&set.required).map(|&i| &self.sources[i]);
            // Without a required pack all its names would be reported as unknown.
            if files.any(|s| !self.missing_packs(s).is_empty()) {
                continue;
            }
            let unread = Unread::of(self, &set);
            let mut found = resolve::check(self, &set, &names);
            found.extend(scene::check(self, &set));
            if self.docs(&set).any(|(_, d)| d.loaded.is_some()) {
                let whole = assemble(self, &set, &names);
                let (rules, issues) = self.build_whole(&set, &whole);
                found.extend(whole.findings.iter().cloned());
                found.extend(placeholder::check(self, &set, &names, &whole));
                found.extend(self.place_all(&issues, &set, &names));
                // Lint rules run only if there are no errors.
                let is_valid = set.own.iter().chain(&set.required).all(|&i| self.sources[i].is_valid());
                if let Some(rules) = rules.filter(|_| is_valid) {
                    found.extend(lint_set(self, &set, &whole, &rules, &names, strict));
                }
            }
            found.retain(|f| !unread.may_explain(f));
            findings.extend(found);
        }
        without_allowed(self, &mut findings);
        Diagnostic::arrange(&mut findings);
        findings
    }

    /// Converts the issues of the rules builder to findings, limited for each document and in total.
    pub(crate) fn place_all(&self, issues: &[LoadIssue], set: &DocSet, names: &Names) -> Vec<Diagnostic> {
        let mut counts: BTreeMap<(&str, u32), usize> = BTreeMap::new();
        let mut findings = Vec::new();
        let mut left_out = 0;
        for issue in issues {
            let about = issue.origin.as_ref().map(|origin| (&*origin.file, origin.line));
            let of_document = about.map_or(0, |about| *counts.entry(about).and_modify(|n| *n += 1).or_default());
            if of_document < MAX_FINDINGS_PER_DOCUMENT && findings.len() < MAX_FINDINGS {
                findings.push(self.place_with(issue, set, names));
            } else {
                left_out += 1;
            }
        }
        if left_out > 0
            && let Some(&first) = set.own.first()
        {
            let message = format!("{left_out} more findings are not shown");
            let finding = self.sources[first].finding("limit", Severity::Error, message, Span::default());
            findings.push(finding.help("fix some of the shown findings, and check again"));
        }
        findings
    }

    /// Converts an issue of the rules builder to a finding with the exact line and column.
    pub fn place(&self, issue: &LoadIssue, set: &DocSet) -> Diagnostic {
        self.place_with(issue, set, &Names::of(self))
    }

    fn place_with(&self, issue: &LoadIssue, set: &DocSet, names: &Names) -> Diagnostic {
        let found = issue.origin.as_ref().and_then(|origin| {
            let file = self.sources.iter().position(|s| s.name == origin.file)?;
            let source = &self.sources[file];
            // Documents are sorted by line.
            let at = source.docs.binary_search_by_key(&origin.line, |d| d.tree.line).ok()?;
            let doc = &source.docs[at];
            Some((file, at, source, doc))
        });
        match found {
            Some((file, at, source, doc)) => {
                let patched = issue.origin.iter().flat_map(|o| o.patches.iter().rev());
                let in_patch = patched.filter_map(|p| self.place_in_patch(issue, p, doc)).next();
                let mut finding = in_patch.unwrap_or_else(|| {
                    diagnostic_of(
                        issue,
                        source,
                        doc,
                        &names.of_file(file)[at].mentions,
                        names.space(file).map(|s| &**s),
                    )
                });
                // Drafts up to the third allow it.
                if issue.code == "zero-period" && draft_of(&doc.tree).is_some_and(|draft| draft > 3) {
                    finding.severity = Severity::Error;
                }
                finding
            }
            None => self.place_by_name(issue, set, names),
        }
    }

    /// Returns the finding for an issue about a patched value, with the line and column in the patch.
    fn place_in_patch(&self, issue: &LoadIssue, patched: &Patched, target: &SourceDoc) -> Option<Diagnostic> {
        let source = self.source(&patched.file)?;
        let patch = source.docs.iter().rev().find(|d| d.tree.line <= patched.line)?;
        at_patch(issue, (&target.tree, target.kind?), source, patch, (&patched.field, patched.line))
    }

    /// Returns the finding for an issue without an origin, which is about a name such as a tag. Its place is the
    /// definition of the name, or its first use.
    fn place_by_name(&self, issue: &LoadIssue, set: &DocSet, names: &Names) -> Diagnostic {
        let severity = match issue.severity {
            ugas_core::Severity::Error => Severity::Error,
            ugas_core::Severity::Warning => Severity::Warning,
        };
        let subject = if issue.document.is_empty() { String::new() } else { format!("{}: ", issue.document) };
        let said = format!("{subject}{}", issue.message);
        let in_set = |file: &usize| set.own.contains(file) || set.required.contains(file);
        let places = || names.places(&issue.document).iter().filter(|(file, _)| in_set(file));
        let defined = places().find(|(_, m)| m.definition);
        match defined.or_else(|| places().next()) {
            Some((file, m)) => self.sources[*file].finding(issue.code, severity, said, m.span),
            None => {
                let first = set.own.first().map_or("".into(), |&i| self.sources[i].name.clone());
                Diagnostic::new(issue.code, severity, first, said)
            }
        }
    }

    fn missing_packs(&self, source: &Source) -> Vec<Diagnostic> {
        let Some(pack) = &source.pack else { return Vec::new() };
        let there = |folder: &Path| self.sources.iter().any(|s| pack_folder(&s.path) == Some(folder));
        let missing =
            pack.requires.iter().filter(|name| !required_pack_folder(&source.path, name).is_some_and(|f| there(&f)));
        let say = |name: &String| {
            let message = format!("Requires: the pack {name} does not exist");
            let at = source.text.find(name.as_str()).unwrap_or(0);
            let span = Span::new(at, at + if source.text[at..].starts_with(name.as_str()) { name.len() } else { 0 });
            let help = format!("add a folder {name} with a {PACK_FILE} next to this pack");
            source.finding("missing-pack", Severity::Error, message, span).help(help)
        };
        missing.map(say).collect()
    }
}

fn home_in(packs: &BTreeMap<&Path, usize>, path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|folder| packs.contains_key(folder)).map(Path::to_path_buf)
}

/// Returns the folder of a `pack.yaml`.
fn pack_folder(path: &Path) -> Option<&Path> {
    if path.file_name().is_some_and(|n| n == PACK_FILE) { path.parent() } else { None }
}

/// Returns the folder of a required pack, given the `pack.yaml` that requires it.
fn required_pack_folder(pack_file: &Path, name: &str) -> Option<PathBuf> {
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let folder = pack_file.parent()?;
    plain.then(|| match folder.file_name() {
        Some(_) => folder.with_file_name(name),
        None => folder.join("..").join(name),
    })
}
