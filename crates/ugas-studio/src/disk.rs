//! Files on a disk: where a world came from, and where a changed text goes back to.
//!
//! Only files of the world are written, only below the path that the studio was opened on, and only if nobody else changed
//! them meanwhile. A file is replaced as a whole: whoever reads it sees the old text or the new one, never a part.

use crate::Library;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use ugas_data::Source;

/// What is told where nothing can be saved.
pub(crate) const NO_DISK: &str =
    "these files are part of the program; open a folder with `ugas studio PATH` to save what you change";

/// The path a world was opened on, and what its files held when they were read.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    /// As it was given.
    given: PathBuf,
    /// Without links and dots.
    root: PathBuf,
    /// The marks of the texts that the library was made of, by path.
    seen: BTreeMap<PathBuf, Mark>,
    /// Those of the tables that documents take numbers from; none where there is no table.
    tables: BTreeMap<PathBuf, Option<Mark>>,
}

/// Tells texts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(u64);

impl Mark {
    pub(crate) fn of(text: &str) -> Mark {
        Mark(text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)))
    }

    pub(crate) fn hex(self) -> String {
        format!("{:016x}", self.0)
    }
}

impl Disk {
    pub(crate) fn open(path: &Path, library: &Library) -> Result<Disk, String> {
        let root = fs::canonicalize(path).map_err(|e| format!("{}: cannot be read: {e}", path.display()))?;
        let mut disk = Disk { given: path.to_path_buf(), root, seen: BTreeMap::new(), tables: BTreeMap::new() };
        disk.settle(library);
        Ok(disk)
    }

    /// The library is what the disk holds.
    pub(crate) fn settle(&mut self, library: &Library) {
        self.seen = library.project().sources().iter().map(|s| (s.path.clone(), Mark::of(&s.text))).collect();
        self.tables = tables_in(library);
    }

    /// What others saved was taken, and the library is what came of it.
    pub(crate) fn took(&mut self, news: &BTreeMap<PathBuf, Option<String>>, library: &Library) {
        self.tables = tables_in(library);
        for (path, text) in news {
            match text {
                Some(text) => self.seen.insert(path.clone(), Mark::of(text)),
                None => self.seen.remove(path),
            };
        }
    }

    /// The files, or folders, whose changes matter.
    #[cfg(feature = "serve")]
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        let mut folders: BTreeSet<PathBuf> =
            self.seen.keys().filter_map(|p| p.parent()).map(Path::to_path_buf).collect();
        // Another scenario of the file may be chosen, on other packs.
        let scenarios = Some(&self.given).filter(|p| p.is_file()).and_then(|p| ugas_lab::load_file(p).ok());
        folders.extend(scenarios.iter().flatten().flat_map(ugas_lab::Scenario::pack_folders));
        let is_named = |folder: &PathBuf| !folder.as_os_str().is_empty();
        folders.into_iter().filter(is_named).chain([self.given.clone()]).collect()
    }

    /// The mark of a file as the library knows it.
    pub(crate) fn mark(&self, path: &Path) -> Option<Mark> {
        self.seen.get(path).copied()
    }

    /// The name of a file whose text here is not the one that the disk was seen with.
    pub(crate) fn differs(&self, library: &Library) -> Option<String> {
        let other = |s: &&Source| self.mark(&s.path).is_some_and(|mark| mark != Mark::of(&s.text));
        let file = library.project().sources().iter().find(other).map(|s| s.name.to_string());
        let tables = tables_in(library);
        let table = || tables.iter().find(|(path, mark)| self.tables.get(*path).is_some_and(|seen| seen != *mark));
        file.or_else(|| table().map(|(path, _)| path.display().to_string()))
    }

    /// Where a file may be written, or why it may not.
    pub(crate) fn place(&self, path: &Path) -> Result<PathBuf, String> {
        let said = path.display();
        let place = fs::canonicalize(path).map_err(|e| format!("{said}: cannot be read: {e}"))?;
        if !place.starts_with(&self.root) {
            let root = self.given.display();
            return Err(format!("{said} lies outside {root}; open the studio on its own folder to change it"));
        }
        match fs::symlink_metadata(path) {
            Ok(meta) if meta.is_file() => Ok(place),
            _ => Err(format!("{said} is not a plain file; open the studio on what it points to")),
        }
    }

    /// Writes a text in place of the one with a mark.
    pub(crate) fn save(&mut self, path: &Path, was: &str, text: &str) -> Result<(), String> {
        let place = self.place(path)?;
        let said = path.display();
        let there = fs::read(&place).map_err(|e| format!("{said}: cannot be read: {e}"))?;
        let there = String::from_utf8(there).map(|text| Mark::of(&text).hex());
        if there.as_deref() != Ok(was) {
            return Err(format!(
                "{said} was changed by somebody else since it was opened here; copy your change, open the file again and \
                 make it there"
            ));
        }
        replace(&place, text).map_err(|e| format!("{said}: cannot be written: {e}"))?;
        self.seen.insert(path.to_path_buf(), Mark::of(text));
        Ok(())
    }

    /// What files hold that hold something else than the library was made of, or take numbers from a table that does;
    /// `None` for those that are gone.
    pub(crate) fn look(&self, library: &Library) -> Result<BTreeMap<PathBuf, Option<String>>, String> {
        let tables = tables_of(library);
        let renewed = |s: &&Source| s.tables().any(|t| tables.get(&t) != self.tables.get(&t));
        let renewed: BTreeSet<&Path> =
            library.project().sources().iter().filter(renewed).map(|s| s.path.as_path()).collect();
        let mut paths: BTreeSet<PathBuf> = self.seen.keys().cloned().collect();
        let listed = ugas_lab::files_at(&self.given).map_err(|errors| first(&errors))?;
        paths.extend(listed);
        let mut news = BTreeMap::new();
        for path in paths {
            if !path.exists() {
                news.insert(path, None);
                continue;
            }
            let text = ugas_lab::text_of(&path).map_err(|e| e.to_string())?;
            if self.mark(&path) != Some(Mark::of(&text)) || renewed.contains(path.as_path()) {
                news.insert(path, Some(text));
            }
        }
        Ok(news)
    }
}

/// What the tables of a library held when they were read.
fn tables_in(library: &Library) -> BTreeMap<PathBuf, Option<Mark>> {
    let tables = library.project().sources().iter().flat_map(Source::tables);
    tables.map(|path| (path.clone(), library.project().table(&path).map(Mark::of))).collect()
}

/// What they hold now.
fn tables_of(library: &Library) -> BTreeMap<PathBuf, Option<Mark>> {
    let tables = library.project().sources().iter().flat_map(Source::tables);
    tables.map(|path| (path.clone(), ugas_lab::text_of(&path).ok().map(|text| Mark::of(&text)))).collect()
}

fn first(errors: &[ugas_data::ReadError]) -> String {
    errors.first().map_or_else(String::new, ToString::to_string)
}

/// A new file beside the old one, whole and on the disk, then its name.
fn replace(place: &Path, text: &str) -> std::io::Result<()> {
    let mut name = OsString::from(".");
    name.push(place.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = place.with_file_name(name);
    let write = || {
        // Left behind by a process of the same number that did not come to its end.
        let _ = fs::remove_file(&beside);
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(fs::metadata(place)?.permissions())?;
        file.sync_all()?;
        drop(file);
        fs::rename(&beside, place)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_differ_where_texts_do() {
        assert_ne!(Mark::of("a"), Mark::of("b"));
        assert_eq!(Mark::of("a").hex(), Mark::of("a").hex());
        assert_eq!(Mark::of("").hex().len(), 16);
    }
}
