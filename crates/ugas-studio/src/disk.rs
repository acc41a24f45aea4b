//! Reads changed files of a world from disk, and saves edits to disk.
//!
//! The studio writes a file only if the file belongs to the world, is below the opened path, and was not changed by
//! another program since the studio read it. A file is replaced atomically.

use crate::Library;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use ugas_data::Source;

/// The error message of a world whose documents are built into the program.
pub(crate) const NO_DISK: &str =
    "read-only: these files are built into the program; open a folder with `ugas studio PATH` to save changes";

/// The path from which a world was opened, and the hashes that its files had when they were read.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    /// The path that the user gave.
    given: PathBuf,
    /// The canonical path.
    root: PathBuf,
    /// Hashes of the texts in the library, by path.
    hashes: BTreeMap<PathBuf, TextHash>,
    /// Hashes of the tables that documents use; `None` for a missing table.
    tables: BTreeMap<PathBuf, Option<TextHash>>,
}

/// The hash of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextHash(u64);

impl TextHash {
    pub(crate) fn of(text: &str) -> TextHash {
        TextHash(
            text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)),
        )
    }

    pub(crate) fn hex(self) -> String {
        format!("{:016x}", self.0)
    }
}

impl Disk {
    pub(crate) fn open(path: &Path, library: &Library) -> Result<Disk, String> {
        let root = fs::canonicalize(path).map_err(|e| format!("{}: cannot read: {e}", path.display()))?;
        let mut disk = Disk { given: path.to_path_buf(), root, hashes: BTreeMap::new(), tables: BTreeMap::new() };
        disk.record_all(library);
        Ok(disk)
    }

    /// Records that the library equals the files on disk.
    pub(crate) fn record_all(&mut self, library: &Library) {
        self.hashes = library.project().sources().iter().map(|s| (s.path.clone(), TextHash::of(&s.text))).collect();
        self.tables = read_table_hashes(library);
    }

    /// Records that changes from disk were applied to the library.
    pub(crate) fn record_applied(&mut self, changes: &BTreeMap<PathBuf, Option<String>>, library: &Library) {
        self.tables = read_table_hashes(library);
        for (path, text) in changes {
            match text {
                Some(text) => self.hashes.insert(path.clone(), TextHash::of(text)),
                None => self.hashes.remove(path),
            };
        }
    }

    /// Returns the files and folders to watch.
    #[cfg(feature = "serve")]
    pub(crate) fn watched_paths(&self) -> Vec<PathBuf> {
        let mut folders: BTreeSet<PathBuf> =
            self.hashes.keys().filter_map(|p| p.parent()).map(Path::to_path_buf).collect();
        // Another scenario of the file may use other packs.
        let scenarios = Some(&self.given).filter(|p| p.is_file()).and_then(|p| ugas_lab::load_file(p).ok());
        folders.extend(scenarios.iter().flatten().flat_map(ugas_lab::Scenario::pack_folders));
        let is_named = |folder: &PathBuf| !folder.as_os_str().is_empty();
        folders.into_iter().filter(is_named).chain([self.given.clone()]).collect()
    }

    /// Returns the hash of a file in the library.
    pub(crate) fn hash_of(&self, path: &Path) -> Option<TextHash> {
        self.hashes.get(path).copied()
    }

    /// Returns the name of a file whose text in the library differs from the text on disk.
    pub(crate) fn differs(&self, library: &Library) -> Option<String> {
        let other = |s: &&Source| self.hash_of(&s.path).is_some_and(|hash| hash != TextHash::of(&s.text));
        let file = library.project().sources().iter().find(other).map(|s| s.name.to_string());
        let tables = read_table_hashes(library);
        let table = || tables.iter().find(|(path, hash)| self.tables.get(*path).is_some_and(|known| known != *hash));
        file.or_else(|| table().map(|(path, _)| path.display().to_string()))
    }

    /// Returns the path to write a file to, or why it cannot be written.
    pub(crate) fn writable_path(&self, path: &Path) -> Result<PathBuf, String> {
        let shown = path.display();
        let place = fs::canonicalize(path).map_err(|e| format!("{shown}: cannot read: {e}"))?;
        if !place.starts_with(&self.root) {
            let root = self.given.display();
            return Err(format!("{shown} is outside {root}; open the folder of this file in the studio to change it"));
        }
        match fs::symlink_metadata(path) {
            Ok(meta) if meta.is_file() => Ok(place),
            _ => Err(format!("{shown} is not a regular file; if it is a link, open its target in the studio")),
        }
    }

    /// Saves a text if the file on disk still has the hash `was`.
    pub(crate) fn save(&mut self, path: &Path, was: &str, text: &str) -> Result<(), String> {
        let place = self.writable_path(path)?;
        let shown = path.display();
        let there = fs::read(&place).map_err(|e| format!("{shown}: cannot read: {e}"))?;
        let there = String::from_utf8(there).map(|text| TextHash::of(&text).hex());
        if there.as_deref() != Ok(was) {
            return Err(format!(
                "{shown} was changed by another program after the studio opened it; copy your change, open the file \
                 again and repeat the change"
            ));
        }
        replace(&place, text).map_err(|e| format!("{shown}: cannot write: {e}"))?;
        self.hashes.insert(path.to_path_buf(), TextHash::of(text));
        Ok(())
    }

    /// Returns the texts of files whose text or tables differ from the library; `None` for deleted files.
    pub(crate) fn changed_files(&self, library: &Library) -> Result<BTreeMap<PathBuf, Option<String>>, String> {
        let tables = disk_table_hashes(library);
        let renewed = |s: &&Source| s.tables().any(|t| tables.get(&t) != self.tables.get(&t));
        let renewed: BTreeSet<&Path> =
            library.project().sources().iter().filter(renewed).map(|s| s.path.as_path()).collect();
        let mut paths: BTreeSet<PathBuf> = self.hashes.keys().cloned().collect();
        let listed = ugas_lab::files_at(&self.given).map_err(|errors| first(&errors))?;
        paths.extend(listed);
        let mut changes = BTreeMap::new();
        for path in paths {
            if !path.exists() {
                changes.insert(path, None);
                continue;
            }
            let text = ugas_lab::text_of(&path).map_err(|e| e.to_string())?;
            if self.hash_of(&path) != Some(TextHash::of(&text)) || renewed.contains(path.as_path()) {
                changes.insert(path, Some(text));
            }
        }
        Ok(changes)
    }
}

/// Returns the hashes that the tables of a library had when they were read.
fn read_table_hashes(library: &Library) -> BTreeMap<PathBuf, Option<TextHash>> {
    let tables = library.project().sources().iter().flat_map(Source::tables);
    tables.map(|path| (path.clone(), library.project().table(&path).map(TextHash::of))).collect()
}

/// Returns the hashes of the tables on disk.
fn disk_table_hashes(library: &Library) -> BTreeMap<PathBuf, Option<TextHash>> {
    let tables = library.project().sources().iter().flat_map(Source::tables);
    tables.map(|path| (path.clone(), ugas_lab::text_of(&path).ok().map(|text| TextHash::of(&text)))).collect()
}

fn first(errors: &[ugas_data::ReadError]) -> String {
    errors.first().map_or_else(String::new, ToString::to_string)
}

/// Replaces a file: writes and syncs a temporary file, then renames it over the old file.
fn replace(place: &Path, text: &str) -> std::io::Result<()> {
    let mut name = OsString::from(".");
    name.push(place.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = place.with_file_name(name);
    let write = || {
        // A crashed process with the same id may have left a temporary file.
        let _ = fs::remove_file(&temporary);
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(fs::metadata(place)?.permissions())?;
        file.sync_all()?;
        drop(file);
        fs::rename(&temporary, place)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_texts_have_different_hashes() {
        assert_ne!(TextHash::of("a"), TextHash::of("b"));
        assert_eq!(TextHash::of("a").hex(), TextHash::of("a").hex());
        assert_eq!(TextHash::of("").hex().len(), 16);
    }
}
