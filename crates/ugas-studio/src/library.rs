//! The documents of a world and the rules made of them. A text that is not sound changes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use ugas_core::Rules;
use ugas_data::{Diagnostic, DocSet, Project, Severity, Source};
use ugas_doc::Doc;
use ugas_lab::Scenario;

/// Documents and the rules made of them last.
#[derive(Clone, Debug)]
pub struct Library {
    project: Project,
    whole: Whole,
    rules: Arc<Rules>,
}

/// Which of the files become rules together.
#[derive(Clone, Debug)]
enum Whole {
    /// A pack with what it requires.
    Pack(PathBuf),
    /// Those in no pack.
    Loose,
    /// Those a scenario stands on; its rules are made by it.
    Scenario,
}

impl Library {
    /// Builds the rules of a pack of a project, or of the files in no pack.
    ///
    /// ```
    /// use ugas_studio::{Library, arena};
    /// let library = Library::new(arena::project(), Some("arena".as_ref())).unwrap();
    /// assert!(library.rules().find_ability("GA_Fireball").is_some());
    /// ```
    pub fn new(mut project: Project, pack: Option<&Path>) -> Result<Library, Vec<Diagnostic>> {
        keep_tables(&mut project);
        let whole = pack.map_or(Whole::Loose, |folder| Whole::Pack(folder.to_path_buf()));
        let rules = rules_of(&project, &whole, None)?;
        Ok(Library { project, whole, rules })
    }

    /// The documents at a path: the pack in a folder, or what is in no pack. Nothing is built: the rules are those of a
    /// world that runs already.
    pub fn beside(rules: Arc<Rules>, path: &Path) -> Library {
        let (mut project, _) = Project::open_readable(path);
        keep_tables(&mut project);
        let whole = match path.join("pack.yaml").is_file() {
            true => Whole::Pack(path.to_path_buf()),
            false => Whole::Loose,
        };
        Library { project, whole, rules }
    }

    /// The rules of a scenario, its file and the packs it stands on.
    pub(crate) fn of_scenario(rules: Arc<Rules>, scenario: &Scenario) -> Library {
        let (mut project, _) = Project::open_readable(&*scenario.file);
        for folder in scenario.pack_folders() {
            for source in Project::open_readable(&folder).0.sources() {
                project.put(source.path.clone(), source.text.to_string());
            }
        }
        keep_tables(&mut project);
        Library { project, whole: Whole::Scenario, rules }
    }

    /// The rules.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// The files.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Whether a changed text is taken by the running world. A scenario begins again instead, when its file is saved.
    pub fn is_live(&self) -> bool {
        !matches!(self.whole, Whole::Scenario)
    }

    /// The documents that belong together.
    pub fn set(&self) -> Option<DocSet> {
        set_of(&self.project, &self.whole)
    }

    /// The files that are the world's own, and then those it requires.
    pub fn files(&self) -> impl Iterator<Item = &Source> {
        let order: Vec<usize> = self.set().iter().flat_map(|s| s.own.iter().chain(&s.required).copied()).collect();
        order.into_iter().map(|i| &self.project.sources()[i])
    }

    /// The documents that could be read.
    pub(crate) fn docs(&self) -> impl Iterator<Item = &Doc> {
        docs_in(self.project.sources().iter())
    }

    /// Those of the pack's own files.
    pub(crate) fn own_docs(&self) -> impl Iterator<Item = &Doc> {
        let own = self.set().map_or(Vec::new(), |set| set.own);
        docs_in(own.into_iter().map(|i| &self.project.sources()[i]))
    }

    /// The text of a file.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.project.source(file).map(|s| &*s.text)
    }

    /// Everything that is wrong with a file if it had this text, or probably not meant.
    pub fn check(&self, file: &str, text: &str) -> Vec<Diagnostic> {
        let mut project = self.project.clone();
        let Some(path) = project.source(file).map(|s| s.path.clone()) else { return Vec::new() };
        project.put(path, text);
        let findings = project.check();
        match self.whole {
            Whole::Scenario => ugas_lab::with_scenarios(findings, ugas_lab::check_scenarios(&project)),
            _ => findings,
        }
    }

    /// The library with another text for a file, or why not.
    pub fn with(&self, file: &str, text: &str) -> Result<Library, Vec<Diagnostic>> {
        match self.project.source(file).map(|s| s.path.clone()) {
            Some(path) => self.with_all(&BTreeMap::from([(path, Some(text.to_owned()))])),
            None => Err(vec![error("no-file", file, format!("there is no file {file}"))]),
        }
    }

    /// The library with other texts, files that are new, and without files that have none; or why not. Their numbers are
    /// those that tables on the disk have now.
    pub fn with_all(&self, texts: &BTreeMap<PathBuf, Option<String>>) -> Result<Library, Vec<Diagnostic>> {
        self.change(texts, put_anew)
    }

    /// The library with other texts and the rules it had: what is shown of a game that decides itself what it loads.
    #[cfg(feature = "serve")]
    pub(crate) fn showing(&self, texts: &BTreeMap<PathBuf, Option<String>>) -> Library {
        let project = changed(&self.project, texts, put_anew);
        Library { project, whole: self.whole.clone(), rules: self.rules.clone() }
    }

    /// The same with numbers that tables had when it was done first.
    pub(crate) fn with_kept(
        &self,
        texts: &BTreeMap<PathBuf, Option<String>>,
        tables: &BTreeMap<PathBuf, String>,
    ) -> Result<Library, Vec<Diagnostic>> {
        self.change(texts, |project, path, text| {
            tables.iter().for_each(|(table, text)| project.put_table(table, text.as_str()));
            project.put(path, text);
        })
    }

    /// The tables that these files take numbers from, as they were read.
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
            let message = "the world follows a scenario; save the file, and it begins again with it".to_owned();
            return Err(vec![error("scenario", "", message)]);
        }
        let project = changed(&self.project, texts, put);
        let rules = rules_of(&project, &self.whole, Some(&self.rules))?;
        Ok(Library { project, whole: self.whole.clone(), rules })
    }
}

/// Files with other texts.
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

/// Another text of a file, with the numbers that its tables have now.
fn put_anew(project: &mut Project, path: &Path, text: &str) {
    project.put(path, text);
    let tables = tables_of(project, path);
    let old: Vec<Option<String>> = tables.iter().map(|t| project.table(t).map(str::to_owned)).collect();
    project.keep_tables_of(path);
    if tables.iter().zip(old).any(|(t, old)| project.table(t) != old.as_deref()) {
        project.put(path, text);
    }
}

/// The tables of a file.
fn tables_of(project: &Project, path: &Path) -> Vec<PathBuf> {
    project.sources().iter().filter(|s| s.path == path).flat_map(Source::tables).collect()
}

/// Keeps what tables hold now, so that a world that is gone back to has the numbers it had.
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

fn set_of(project: &Project, whole: &Whole) -> Option<DocSet> {
    let folder = match whole {
        Whole::Pack(folder) => Some(folder.as_path()),
        Whole::Loose => None,
        Whole::Scenario => {
            let own = (0..project.sources().len()).collect();
            return Some(DocSet { folder: None, own, required: Vec::new(), host: Default::default() });
        }
    };
    project.sets().into_iter().find(|set| set.folder.as_deref() == folder)
}

fn rules_of(project: &Project, whole: &Whole, after: Option<&Arc<Rules>>) -> Result<Arc<Rules>, Vec<Diagnostic>> {
    match set_of(project, whole) {
        Some(set) => project.rules_after(&set, after),
        None => {
            let place = match whole {
                Whole::Pack(folder) => folder.display().to_string(),
                _ => ".".to_owned(),
            };
            Err(vec![error("no-documents", &place, "no document found; is this the right folder?".to_owned())])
        }
    }
}
