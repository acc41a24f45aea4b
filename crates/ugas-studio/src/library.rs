//! The documents of a world and the rules made of them. A text that is not sound changes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use ugas_core::Rules;
use ugas_data::{Diagnostic, DocSet, Project, Source};
use ugas_doc::Doc;

/// Documents and the rules made of them last.
#[derive(Clone, Debug)]
pub struct Library {
    project: Project,
    pack: Option<PathBuf>,
    rules: Arc<Rules>,
}

impl Library {
    /// Builds the rules of a pack of a project, or of the files in no pack.
    ///
    /// ```
    /// use ugas_studio::{Library, arena};
    /// let library = Library::new(arena::project(), Some("arena".as_ref())).unwrap();
    /// assert!(library.rules().ability("GA_Fireball").is_some());
    /// ```
    pub fn new(project: Project, pack: Option<&Path>) -> Result<Library, Vec<Diagnostic>> {
        let rules = rules_of(&project, pack, None)?;
        Ok(Library { project, pack: pack.map(Path::to_path_buf), rules })
    }

    /// Rules that were built elsewhere, and the file they are told of in; its text can be read and not changed.
    pub(crate) fn of_rules(rules: Arc<Rules>, file: &str) -> Library {
        let (project, _) = Project::open_readable(file);
        Library { project, pack: None, rules }
    }

    /// The rules.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// The files.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The files that are the pack's own, and then those it requires.
    pub fn files(&self) -> impl Iterator<Item = &Source> {
        let set = set_of(&self.project, self.pack.as_deref());
        let order: Vec<usize> = set.iter().flat_map(|s| s.own.iter().chain(&s.required).copied()).collect();
        order.into_iter().map(|i| &self.project.sources()[i])
    }

    /// The documents that could be read.
    pub(crate) fn docs(&self) -> impl Iterator<Item = &Doc> {
        docs_in(self.project.sources().iter())
    }

    /// Those of the pack's own files.
    pub(crate) fn own_docs(&self) -> impl Iterator<Item = &Doc> {
        let own = set_of(&self.project, self.pack.as_deref()).map_or(Vec::new(), |set| set.own);
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
        project.check()
    }

    /// The library with another text for a file, or why not.
    pub fn with(&self, file: &str, text: &str) -> Result<Library, Vec<Diagnostic>> {
        let mut project = self.project.clone();
        let Some(path) = project.source(file).map(|s| s.path.clone()) else {
            let message = format!("there is no file {file}");
            return Err(vec![Diagnostic::new("no-file", ugas_data::Severity::Error, file, message)]);
        };
        project.put(path, text);
        let rules = rules_of(&project, self.pack.as_deref(), Some(&self.rules))?;
        Ok(Library { project, pack: self.pack.clone(), rules })
    }
}

fn docs_in<'s>(sources: impl Iterator<Item = &'s Source>) -> impl Iterator<Item = &'s Doc> {
    sources.flat_map(|s| &s.docs).filter_map(|d| d.loaded.as_ref()).map(|l| &l.doc)
}

fn set_of(project: &Project, pack: Option<&Path>) -> Option<DocSet> {
    project.sets().into_iter().find(|set| set.folder.as_deref() == pack)
}

fn rules_of(project: &Project, pack: Option<&Path>, after: Option<&Arc<Rules>>) -> Result<Arc<Rules>, Vec<Diagnostic>> {
    let Some(set) = set_of(project, pack) else {
        let place = pack.unwrap_or(Path::new(".")).display().to_string();
        let message = "no document found; is this the right folder?".to_owned();
        return Err(vec![Diagnostic::new("no-documents", ugas_data::Severity::Error, place, message)]);
    };
    project.rules_after(&set, after)
}
