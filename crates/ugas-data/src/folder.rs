//! Reads files and folders. The files of a folder are read in the order of their paths, so that the same files give the
//! same documents on every machine. Files outside the folder are not read.

use crate::limits::{MAX_BYTES, MAX_FILES, MAX_POINTS};
use crate::read::{Documents, check_map, read_str};
use crate::{Code, Loaded, Node, ReadError, ReadErrors, csv, read_trees};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use ugas_doc::Doc;

/// The file that describes a pack; it contains no documents.
pub(crate) const PACK_FILE: &str = "pack.yaml";

/// Reads all documents of one file.
///
/// ```
/// let errors = ugas_data::read_file("no/such/file.yaml").unwrap_err();
/// assert_eq!(errors[0].code, ugas_data::Code::Unreadable);
/// assert!(errors[0].to_string().starts_with("no/such/file.yaml: "));
/// ```
pub fn read_file(path: impl AsRef<Path>) -> Result<Documents, ReadErrors> {
    let path = path.as_ref();
    let file = path.display().to_string();
    read_at(path, &file, &text_of(path, &file)?)
}

/// Reads the documents of the text of a file, with the tables of its curves and stat tables.
fn read_at(path: &Path, file: &str, text: &str) -> Result<Documents, ReadErrors> {
    let mut documents = read_str(file, text)?;
    let names_table = |l: &&mut Loaded| {
        let of_curve = matches!(&l.doc, Doc::Curve(curve) if curve.csv.is_some());
        of_curve || matches!(&l.doc, Doc::StatTable(table) if table.csv.is_some())
    };
    let mut errors = Vec::new();
    let mut docs = documents.docs.iter_mut().filter(names_table).peekable();
    let trees = if docs.peek().is_some() { read_trees(file, text)? } else { Vec::new() };
    let trees: BTreeMap<u32, Node> = trees.into_iter().map(|t| (t.line, t)).collect();
    let (mut room, kept) = (MAX_POINTS, csv::Tables::new());
    for loaded in docs {
        if let Some(tree) = trees.get(&loaded.origin.line) {
            errors.extend(csv::fill(&mut loaded.doc, tree, path, &mut room, &kept).err().into_iter().flatten());
        }
    }
    ReadErrors::unless(errors, documents)
}

/// Reads all documents of all `.yaml`, `.yml` and `.json` files in a folder and its subfolders, sorted by path.
///
/// Hidden files and folders (their names start with a dot) are skipped. A symbolic link to a file or folder outside the
/// folder is an error. A symbolic link to a target inside the folder is not followed, because the target itself is
/// read. A `pack.yaml` must be well-formed, but it is not read as a document.
///
/// ```
/// let folder = std::env::temp_dir().join(format!("ugas-data-doc-{}", std::process::id()));
/// std::fs::create_dir_all(&folder).unwrap();
/// std::fs::write(folder.join("hit.yaml"), "Kind: curve\nName: C_Hit\n").unwrap();
/// let documents = ugas_data::read_folder(&folder).unwrap();
/// assert_eq!(documents.docs[0].doc.name(), "C_Hit");
/// std::fs::remove_dir_all(&folder).unwrap();
/// ```
pub fn read_folder(path: impl AsRef<Path>) -> Result<Documents, ReadErrors> {
    let root = path.as_ref();
    let mut errors = Vec::new();
    let mut documents = Documents::default();
    for path in files_in(root, &mut errors) {
        let file = path.display().to_string();
        let read = text_of(&path, &file).map_err(ReadErrors::from).and_then(|text| {
            if path.file_name().is_some_and(|n| n == PACK_FILE) {
                check_map(&file, &text).map(|()| Documents::default())
            } else {
                read_at(&path, &file, &text)
            }
        });
        match read {
            Ok(more) => documents.append(more),
            Err(more) => errors.extend(more),
        }
    }
    ReadErrors::unless(errors, documents)
}

/// Reads the text of a file, within the size limit.
pub(crate) fn text_of(path: &Path, file: &str) -> Result<String, ReadError> {
    let metadata = fs::metadata(path).map_err(|e| unreadable(file, &e))?;
    if metadata.is_dir() {
        return Err(ReadError::of_file(file, Code::Unreadable, "expected a file, found a folder"));
    }
    if !metadata.is_file() {
        return Err(ReadError::of_file(file, Code::Unreadable, "expected a regular file, found a special file"));
    }
    if metadata.len() > MAX_BYTES as u64 {
        let message = format!("the file has {} bytes; the limit is {MAX_BYTES}, so split the file", metadata.len());
        return Err(ReadError::of_file(file, Code::Limit, message));
    }
    let bytes = fs::read(path).map_err(|e| unreadable(file, &e))?;
    String::from_utf8(bytes).map_err(|e| {
        let good = e.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&e.as_bytes()[..good]);
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        ReadError {
            line: clip(before.matches('\n').count() + 1),
            column: clip(column),
            help: Some("save the file as UTF-8".to_owned()),
            ..ReadError::of_file(file, Code::Unreadable, "the file is not valid UTF-8 from here on")
        }
    })
}

/// Returns the files of a folder in the order they are read.
pub(crate) fn files_in(root: &Path, errors: &mut Vec<ReadError>) -> Vec<PathBuf> {
    let fail = |path: &Path, error: &io::Error| unreadable(&path.display().to_string(), error);
    let canonical_root = match fs::canonicalize(root) {
        Ok(path) => path,
        Err(error) => {
            errors.push(fail(root, &error));
            return Vec::new();
        }
    };
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                errors.push(fail(&folder, &error));
                continue;
            }
        };
        for entry in entries {
            let (path, kind) = match entry.and_then(|e| Ok((e.path(), e.file_type()?))) {
                Ok(entry) => entry,
                Err(error) => {
                    errors.push(fail(&folder, &error));
                    continue;
                }
            };
            if is_hidden(&path) {
                continue;
            }
            if kind.is_symlink() {
                errors.extend(leads_out(&path, &canonical_root));
            } else if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && is_document(&path) {
                files.push(path);
            }
            if files.len() + folders.len() > MAX_FILES {
                let message = format!("the folder has more than {MAX_FILES} files; choose a smaller folder");
                errors.push(ReadError::of_file(&root.display().to_string(), Code::Limit, message));
                return Vec::new();
            }
        }
    }
    files.sort();
    errors.sort_by(|a, b| a.file.cmp(&b.file));
    files
}

/// Returns an error if a file or folder is a link out of `home`.
pub(crate) fn link_out_of_folder(path: &Path, home: &Path) -> Option<ReadError> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink());
    match fs::canonicalize(home) {
        Ok(home) if is_link => leads_out(path, &home),
        _ => None,
    }
}

/// Returns an error if a link leaves the folder or is dangling.
fn leads_out(link: &Path, canonical_root: &Path) -> Option<ReadError> {
    let file = link.display().to_string();
    match fs::canonicalize(link) {
        Ok(target) if target.starts_with(canonical_root) => None,
        Ok(_) => {
            let message = "the symbolic link points outside the folder and is not followed";
            let help = Some("copy its target into the folder, or remove the link".to_owned());
            Some(ReadError { help, ..ReadError::of_file(&file, Code::Unreadable, message) })
        }
        Err(error) => Some(unreadable(&file, &error)),
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"."))
}

fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|e| ["yaml", "yml", "json"].iter().any(|known| e.eq_ignore_ascii_case(known)))
}

fn unreadable(file: &str, error: &io::Error) -> ReadError {
    ReadError::of_file(file, Code::Unreadable, format!("cannot read: {error}"))
}
