//! Files and folders of scenarios: text within limits, folders in sorted order.

use std::fs;
use std::path::{Path, PathBuf};
use ugas_data::{Code, ReadError, limits};

fn whole_file(path: &Path, code: Code, message: impl Into<String>) -> ReadError {
    ReadError { code, file: path.display().to_string().into(), line: 0, column: 0, message: message.into(), help: None }
}

/// The text of a file, within the size limit of documents.
///
/// ```
/// let error = ugas_lab::text_of("no/such/file.yaml").unwrap_err();
/// assert!(error.to_string().starts_with("no/such/file.yaml: cannot be read"));
/// ```
pub fn text_of(path: impl AsRef<Path>) -> Result<String, ReadError> {
    let path = path.as_ref();
    let unreadable = |e: std::io::Error| whole_file(path, Code::Unreadable, format!("cannot be read: {e}"));
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(whole_file(path, Code::Unreadable, "this is not a file"));
    }
    if metadata.len() > limits::MAX_BYTES as u64 {
        let message = format!("the file has {} bytes; at most {} are read", metadata.len(), limits::MAX_BYTES);
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
            ..whole_file(path, Code::Unreadable, "the file is not UTF-8 from here on")
        }
    })
}

/// The file itself, or every YAML and JSON file of a folder and the folders in it, sorted by path. Hidden ones are
/// left out, links are not followed.
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
        Err(e) => return Err(vec![whole_file(path, Code::Unreadable, format!("cannot be read: {e}"))]),
    }
    let mut files = Vec::new();
    let mut errors = Vec::new();
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) => {
                errors.push(whole_file(&folder, Code::Unreadable, format!("cannot be read: {e}")));
                continue;
            }
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            match entry.file_type() {
                Ok(kind) if hidden || kind.is_symlink() => {}
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(_) if is_document(&path) => files.push(path),
                _ => {}
            }
        }
        if files.len() + folders.len() > limits::MAX_FILES {
            let message = format!("the folder holds more than {} files", limits::MAX_FILES);
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
