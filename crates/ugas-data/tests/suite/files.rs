//! Files and folders on disk: order, what is left out, what is refused.

use std::fs;
use std::path::{Path, PathBuf};
use ugas_data::{Code, read_file, read_folder};

/// A folder of its own that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("ugas-data-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn curve(name: &str) -> String {
    format!("Kind: curve\nName: {name}\n")
}

fn error_of(path: &Path) -> ugas_data::ReadError {
    read_file(path).expect_err("must be refused").into_vec().remove(0)
}

#[test]
fn a_folder_is_read_in_sorted_order_without_hidden_and_foreign_files() {
    let folder = Folder::new("order");
    folder.file("b.yml", curve("B"));
    folder.file("a.yaml", format!("{}---\n{}", curve("A1"), curve("A2")));
    folder.file("sub/deep/c.json", r#"{"Kind": "curve", "Name": "C"}"#);
    folder.file("sub/D.YAML", curve("D"));
    folder.file("pack.yaml", "Name: demo\nVersion: 1\n");
    folder.file(".hidden.yaml", "broken: [");
    folder.file(".git/x.yaml", "broken: [");
    folder.file("readme.md", "broken: [");
    let documents = read_folder(&folder.0).unwrap();
    let names: Vec<&str> = documents.docs.iter().map(|l| l.doc.name()).collect();
    assert_eq!(names, ["A1", "A2", "B", "D", "C"]);
    assert!(documents.docs[4].origin.file.ends_with("c.json"));
}

#[test]
fn all_errors_of_a_folder_are_reported_with_their_files() {
    let folder = Folder::new("errors");
    folder.file("a.yaml", "Kind: curve\nNmae: A\n---\nKind: curve\nName: 1\n");
    folder.file("b.yaml", curve("B"));
    folder.file("c.yaml", [b"Kind: curve\nName: \xc3\xa9".as_slice(), b"\xff\n"].concat());
    folder.file("pack.yaml", "[not a map]");
    let errors = read_folder(&folder.0).unwrap_err();
    let places: Vec<(String, u32, u32)> = errors
        .iter()
        .map(|e| (Path::new(&*e.file).file_name().unwrap().to_string_lossy().into_owned(), e.line, e.column))
        .collect();
    let place = |file: &str, line, column| (file.to_owned(), line, column);
    assert_eq!(places, [place("a.yaml", 2, 1), place("a.yaml", 5, 7), place("c.yaml", 2, 8), place("pack.yaml", 1, 1)]);
    assert_eq!(errors[2].code, Code::Unreadable);
    assert!(errors.to_string().contains("Nmae"));
}

#[test]
fn an_unreadable_file_is_an_error_with_its_name() {
    let folder = Folder::new("unreadable");
    let missing = folder.0.join("missing.yaml");
    let error = error_of(&missing);
    assert_eq!((error.code, error.line), (Code::Unreadable, 0));
    assert!(error.to_string().starts_with(&format!("{}: cannot read: ", missing.display())));
    assert_eq!(error_of(&folder.0).message, "expected a file, found a folder");
    let big = folder.file("big.yaml", "");
    fs::File::options().write(true).open(&big).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(error_of(&big).code, Code::Limit);
    assert_eq!(read_folder(&missing).unwrap_err()[0].code, Code::Unreadable);
    let file = folder.file("file.yaml", curve("F"));
    assert_eq!(read_folder(&file).unwrap_err()[0].code, Code::Unreadable);
    assert_eq!(read_file(&file).unwrap().docs.len(), 1);
}

#[cfg(unix)]
#[test]
fn symlinks_out_of_the_folder_are_refused_and_symlinks_inside_are_read_once() {
    let outside = Folder::new("outside");
    let secret = outside.file("secret.yaml", curve("Secret"));
    let folder = Folder::new("links");
    folder.file("a.yaml", curve("A"));
    std::os::unix::fs::symlink(folder.0.join("a.yaml"), folder.0.join("b.yaml")).unwrap();
    std::os::unix::fs::symlink(&folder.0, folder.0.join("loop")).unwrap();
    assert_eq!(read_folder(&folder.0).unwrap().docs.len(), 1);

    for (target, name) in [(&secret, "c.yaml"), (&outside.0, "d"), (&outside.0.join("gone.yaml"), "e.yaml")] {
        let link = folder.0.join(name);
        std::os::unix::fs::symlink(target, &link).unwrap();
        let errors = read_folder(&folder.0).unwrap_err();
        assert_eq!((errors.len(), errors[0].code), (1, Code::Unreadable));
        assert_eq!(&*errors[0].file, link.display().to_string());
        fs::remove_file(link).unwrap();
    }
}
