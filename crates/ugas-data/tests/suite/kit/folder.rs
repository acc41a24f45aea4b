//! A folder of files that goes away with the test that made it.
#![allow(dead_code, reason = "other crates use a part of it")]

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// A folder with these files.
    pub(crate) fn new(name: &str, files: &[(&str, impl AsRef<str>)]) -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ugas-test-{name}-{}-{n}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        let folder = Folder(path);
        files.iter().for_each(|(file, text)| folder.write(file, text.as_ref()));
        folder
    }

    /// An empty folder.
    pub(crate) fn empty(name: &str) -> Folder {
        Folder::new(name, &[] as &[(&str, &str)])
    }

    /// Writes a file and creates its folders.
    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
