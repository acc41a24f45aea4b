//! Reads scenario files within the size limit, and lists folders in sorted order.

use std::fs;
use std::path::{Path, PathBuf};
use ugas_data::{Code, ReadError, limits};

fn whole_file(path: &Path, code: Code, message: impl Into<String>) -> ReadError {
    ReadError { code, file: path.display().to_string().into(), line: 0, column: 0, message: message.into(), help: None }
}

/// Reads the text of a file, within the size limit of documents.
///
/// ```
/// let error = ugas_lab::text_of("no/such/file.yaml").unwrap_err();
/// assert!(error.to_string().starts_with("no/such/file.yaml: cannot read"));
/// ```
pub fn text_of(path: impl AsRef<Path>) -> Result<String, ReadError> {
    let path = path.as_ref();
    let unreadable = |e: std::io::Error| whole_file(path, Code::Unreadable, format!("cannot read: {e}"));
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(whole_file(path, Code::Unreadable, "expected a file, found a folder or a special file"));
    }
    if metadata.len() > limits::MAX_BYTES as u64 {
        let message =
            format!("the file has {} bytes; the limit is {}, so split the file", metadata.len(), limits::MAX_BYTES);
        return Err(whole_file(path, Code::Limit, message));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|e| {
        let good = e.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&e.as_bytes()[..good]);
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        ReadError {
            line: clip(before.matches('\n').count() + 1),
            column: clip(before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1),
            help: Some("save the file as UTF-8".to_owned()),
            ..whole_file(path, Code::Unreadable, "the file is not valid UTF-8 from here on")
        }
    })
}

/// Returns the path itself if it is a file, or every YAML and JSON file of a folder and its subfolders, sorted by path.
/// Hidden files are skipped, and links are not followed.
///
/// ```
/// let errors = ugas_lab::files_at("no/such/place").unwrap_err();
/// assert!(errors[0].to_string().starts_with("no/such/place: "));
/// ```
pub fn files_at(path: impl AsRef<Path>) -> Result<Vec<PathBuf>, Vec<ReadError>> {
    let path = path.as_ref();
    match fs::metadata(path) {
        Ok(m) if m.is_dir() => {}
        Ok(_) => return Ok(vec![path.to_path_buf()]),
        Err(e) => return Err(vec![whole_file(path, Code::Unreadable, format!("cannot read: {e}"))]),
    }
    let mut files = Vec::new();
    let mut errors = Vec::new();
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) => {
                errors.push(whole_file(&folder, Code::Unreadable, format!("cannot read: {e}")));
                continue;
            }
        };
        for entry in entries {
            let (path, kind) = match entry.and_then(|e| Ok((e.path(), e.file_type()?))) {
                Ok(entry) => entry,
                Err(e) => {
                    errors.push(whole_file(&folder, Code::Unreadable, format!("cannot read: {e}")));
                    continue;
                }
            };
            let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if is_hidden || kind.is_symlink() {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
            } else if is_document(&path) {
                files.push(path);
            }
        }
        if files.len() + folders.len() > limits::MAX_FILES {
            let message = format!("the folder has more than {} files; choose a smaller folder", limits::MAX_FILES);
            return Err(vec![whole_file(path, Code::Limit, message)]);
        }
    }
    files.sort();
    if errors.is_empty() { Ok(files) } else { Err(errors) }
}

fn is_document(path: &Path) -> bool {
    let known = ["yaml", "yml", "json"];
    path.extension().is_some_and(|e| known.iter().any(|k| e.eq_ignore_ascii_case(k)))
}
