//! The documents of a world and the rules built from them. An invalid text changes neither the documents nor the rules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use ugas_core::Rules;
use ugas_data::{Diagnostic, DocSet, Project, Severity, Source};
use ugas_doc::Doc;
use ugas_lab::Scenario;

/// The documents of a world and the last rules built from them.
#[derive(Clone, Debug)]
pub struct Library {
    project: Project,
    scope: DocScope,
    rules: Arc<Rules>,
}

/// The files that are built together.
#[derive(Clone, Debug)]
enum DocScope {
    /// A pack with its dependencies.
    Pack(PathBuf),
    /// Files that belong to no pack.
    Loose,
    /// The files of a scenario, which builds its own rules.
    Scenario,
}

impl Library {
    /// Creates a library of one pack of a project and builds its rules. If `pack` is `None`, the library contains the
    /// files outside packs.
    ///
    /// ```
    /// use ugas_studio::{Library, arena};
    /// let library = Library::new(arena::project(), Some("arena".as_ref())).unwrap();
    /// assert!(library.rules().find_ability("GA_Fireball").is_some());
    /// ```
    pub fn new(mut project: Project, pack: Option<&Path>) -> Result<Library, Vec<Diagnostic>> {
        keep_tables(&mut project);
        let scope = pack.map_or(DocScope::Loose, |folder| DocScope::Pack(folder.to_path_buf()));
        let rules = rules_of(&project, &scope, None)?;
        Ok(Library { project, scope, rules })
    }

    /// Creates a library for a running world with the rules `rules`, which are not built again. Reads the documents at
    /// a path: the pack in a folder, or files outside packs.
    pub fn of_running(rules: Arc<Rules>, path: &Path) -> Library {
        let (mut project, _) = Project::open_readable(path);
        keep_tables(&mut project);
        let scope = match path.join("pack.yaml").is_file() {
            true => DocScope::Pack(path.to_path_buf()),
            false => DocScope::Loose,
        };
        Library { project, scope, rules }
    }

    /// Returns a library with the rules of a scenario, its file and the packs that it uses.
    pub(crate) fn of_scenario(rules: Arc<Rules>, scenario: &Scenario) -> Library {
        let (mut project, _) = Project::open_readable(&*scenario.file);
        for folder in scenario.pack_folders() {
            for source in Project::open_readable(&folder).0.sources() {
                project.put(source.path.clone(), source.text.to_string());
            }
        }
        keep_tables(&mut project);
        Library { project, scope: DocScope::Scenario, rules }
    }

    /// Returns the rules.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Returns the files.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Returns whether a changed text can be applied to the running world. For a scenario this is false, because saving
    /// its file restarts the scenario.
    pub fn is_live(&self) -> bool {
        !matches!(self.scope, DocScope::Scenario)
    }

    /// Returns the set of documents that are built together, or `None` if there are no documents.
    pub fn set(&self) -> Option<DocSet> {
        set_of(&self.project, &self.scope)
    }

    /// Returns the files of the world itself, then the files of the packs that it requires.
    pub fn files(&self) -> impl Iterator<Item = &Source> {
        let order: Vec<usize> = self.set().iter().flat_map(|s| s.own.iter().chain(&s.required).copied()).collect();
        order.into_iter().map(|i| &self.project.sources()[i])
    }

    /// Returns the documents that were read successfully.
    pub(crate) fn docs(&self) -> impl Iterator<Item = &Doc> {
        docs_in(self.project.sources().iter())
    }

    /// Returns the documents of the pack's own files.
    pub(crate) fn own_docs(&self) -> impl Iterator<Item = &Doc> {
        let own = self.set().map_or(Vec::new(), |set| set.own);
        docs_in(own.into_iter().map(|i| &self.project.sources()[i]))
    }

    /// Returns the text of a file.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.project.source(file).map(|s| &*s.text)
    }

    /// Returns the errors and warnings that a file would have with this text.
    pub fn check(&self, file: &str, text: &str) -> Vec<Diagnostic> {
        let mut project = self.project.clone();
        let Some(path) = project.source(file).map(|s| s.path.clone()) else { return Vec::new() };
        project.put(path, text);
        let findings = project.check();
        match self.scope {
            DocScope::Scenario => ugas_lab::with_scenarios(findings, ugas_lab::check_scenarios(&project)),
            DocScope::Pack(_) | DocScope::Loose => findings,
        }
    }

    /// Returns a library in which a file has a new text, or the errors of that text.
    pub fn with(&self, file: &str, text: &str) -> Result<Library, Vec<Diagnostic>> {
        match self.project.source(file).map(|s| s.path.clone()) {
            Some(path) => self.with_all(&BTreeMap::from([(path, Some(text.to_owned()))])),
            None => Err(vec![error("no-file", file, format!("file {file} does not exist"))]),
        }
    }

    /// Returns a library with changed, added and removed files, or their errors. Curve tables are read from disk again.
    pub fn with_all(&self, texts: &BTreeMap<PathBuf, Option<String>>) -> Result<Library, Vec<Diagnostic>> {
        self.change(texts, put_and_reload_tables)
    }

    /// Returns the library with changed files and the same rules, for a game that decides when to load them.
    #[cfg(feature = "serve")]
    pub(crate) fn with_texts_only(&self, texts: &BTreeMap<PathBuf, Option<String>>) -> Library {
        let project = changed(&self.project, texts, put_and_reload_tables);
        Library { project, scope: self.scope.clone(), rules: self.rules.clone() }
    }

    /// Like `with_all`, but uses the content that the tables had when the change was first applied.
    pub(crate) fn with_tables(
        &self,
        texts: &BTreeMap<PathBuf, Option<String>>,
        tables: &BTreeMap<PathBuf, String>,
    ) -> Result<Library, Vec<Diagnostic>> {
        self.change(texts, |project, path, text| {
            tables.iter().for_each(|(table, text)| project.put_table(table, text.as_str()));
            project.put(path, text);
        })
    }

    /// Returns the tables that these files use, with the content that was read.
    pub(crate) fn tables_of<'p>(&self, files: impl Iterator<Item = &'p PathBuf>) -> BTreeMap<PathBuf, String> {
        let tables = files.flat_map(|path| tables_of(&self.project, path));
        tables.filter_map(|t| Some((t.clone(), self.project.table(&t)?.to_owned()))).collect()
    }

    fn change(
        &self,
        texts: &BTreeMap<PathBuf, Option<String>>,
        put: impl Fn(&mut Project, &Path, &str),
    ) -> Result<Library, Vec<Diagnostic>> {
        if !self.is_live() {
            let message = "a running scenario cannot be changed; save the file to restart the scenario".to_owned();
            return Err(vec![error("scenario", "", message)]);
        }
        let project = changed(&self.project, texts, put);
        let rules = rules_of(&project, &self.scope, Some(&self.rules))?;
        Ok(Library { project, scope: self.scope.clone(), rules })
    }
}

/// Returns the project with changed files.
fn changed(
    project: &Project,
    texts: &BTreeMap<PathBuf, Option<String>>,
    put: impl Fn(&mut Project, &Path, &str),
) -> Project {
    let mut project = project.clone();
    for (path, text) in texts {
        match text {
            Some(text) => put(&mut project, path, text),
            None => project.remove(path),
        }
    }
    project
}

/// Replaces the text of a file and reads its tables from disk again.
fn put_and_reload_tables(project: &mut Project, path: &Path, text: &str) {
    project.put(path, text);
    let tables = tables_of(project, path);
    let old: Vec<Option<String>> = tables.iter().map(|t| project.table(t).map(str::to_owned)).collect();
    project.keep_tables_of(path);
    if tables.iter().zip(old).any(|(t, old)| project.table(t) != old.as_deref()) {
        project.put(path, text);
    }
}

/// Returns the tables of a file.
fn tables_of(project: &Project, path: &Path) -> Vec<PathBuf> {
    project.sources().iter().filter(|s| s.path == path).flat_map(Source::tables).collect()
}

/// Keeps the current content of all tables, so that a world at an earlier tick uses the numbers of that tick.
fn keep_tables(project: &mut Project) {
    let files: Vec<PathBuf> = project.sources().iter().map(|s| s.path.clone()).collect();
    files.iter().for_each(|file| project.keep_tables_of(file));
}

fn error(id: &str, file: &str, message: String) -> Diagnostic {
    Diagnostic::new(id, Severity::Error, file, message)
}

fn docs_in<'s>(sources: impl Iterator<Item = &'s Source>) -> impl Iterator<Item = &'s Doc> {
    sources.flat_map(|s| &s.docs).filter_map(|d| d.loaded.as_ref()).map(|l| &l.doc)
}

fn set_of(project: &Project, scope: &DocScope) -> Option<DocSet> {
    let folder = match scope {
        DocScope::Pack(folder) => Some(folder.as_path()),
        DocScope::Loose => None,
        DocScope::Scenario => {
            let own = (0..project.sources().len()).collect();
            return Some(DocSet { folder: None, own, required: Vec::new(), host: Default::default() });
        }
    };
    project.sets().into_iter().find(|set| set.folder.as_deref() == folder)
}

fn rules_of(project: &Project, scope: &DocScope, after: Option<&Arc<Rules>>) -> Result<Arc<Rules>, Vec<Diagnostic>> {
    match set_of(project, scope) {
        Some(set) => project.rules_after(&set, after),
        None => {
            let place = match scope {
                DocScope::Pack(folder) => folder.display().to_string(),
                DocScope::Loose | DocScope::Scenario => ".".to_owned(),
            };
            Err(vec![error("no-documents", &place, "no documents found; check the path".to_owned())])
        }
    }
}
