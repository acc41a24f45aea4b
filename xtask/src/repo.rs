//! The repository: its root, files and packages.
//!
//! Packages come from `cargo metadata`, so that inherited fields and custom target paths are read the way cargo
//! reads them. Paths are kept relative to the root with forward slashes, so output is the same on every machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// Returns the root of the repository: the folder above this package.
pub(crate) fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_path_buf).context("xtask has no parent folder")
}

/// Returns a `cargo` command that runs in `root`, with the cargo that started this program.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Returns every file of the project: tracked files and new files that are not ignored.
///
/// Without git, for example in an exported archive, lists the folder without hidden folders and build output.
pub(crate) fn files(root: &Path) -> Result<Vec<String>> {
    let mut found = match git(root, &["ls-files", "-co", "--exclude-standard", "-z"]) {
        Some(list) => list.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        None => {
            let mut found = Vec::new();
            walk(root, root, &mut found)?;
            found
        }
    };
    // Git still lists a deleted file until the deletion is committed.
    found.retain(|name| root.join(name).is_file());
    found.sort();
    found.dedup();
    Ok(found)
}

/// Returns the output of a git command, or `None` if it fails.
pub(crate) fn git(root: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(args).output().ok()?;
    if !output.status.success() {
        return None;
    }
    String::from_utf8(output.stdout).ok()
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if name != "target" && name != ".git" {
                walk(root, &path, found)?;
            }
        } else if let Some(name) = relative(root, &path) {
            found.push(name);
        }
    }
    Ok(())
}

/// Returns `path` relative to `root` with forward slashes, or `None` if `path` is outside `root`.
pub(crate) fn relative(root: &Path, path: &Path) -> Option<String> {
    let inside = path.strip_prefix(root).ok()?;
    let parts: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    Some(parts.join("/"))
}

/// Reads a project file; returns `None` if it is not UTF-8 text.
pub(crate) fn read_text(root: &Path, file: &str) -> Result<Option<String>> {
    let bytes = std::fs::read(root.join(file)).with_context(|| format!("cannot read {file}"))?;
    Ok(String::from_utf8(bytes).ok())
}

/// One package of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    /// The name in the package's manifest.
    pub(crate) name: String,
    /// The description, which may be inherited from the workspace.
    pub(crate) description: Option<String>,
    /// The path of the package's `Cargo.toml`.
    pub(crate) manifest_path: PathBuf,
    /// The normal, dev and build dependencies.
    pub(crate) dependencies: Vec<Dependency>,
    /// The targets that cargo builds from the package.
    pub(crate) targets: Vec<Target>,
}

/// One line of a package's dependency tables.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    /// The name of the required package.
    pub(crate) name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    pub(crate) kind: Option<String>,
}

/// A library, program, test, example or bench of a package.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    /// The kinds of the target: `lib`, `bin`, `test`, `example`, ...
    pub(crate) kind: Vec<String>,
    /// The root source file of the target.
    pub(crate) src_path: PathBuf,
}

/// Returns the packages of the workspace, by name.
pub(crate) fn packages(root: &Path) -> Result<Vec<Package>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let output = cargo(root).args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    if !output.status.success() {
        bail!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    let mut metadata: Metadata = serde_json::from_slice(&output.stdout).context("cargo metadata printed bad JSON")?;
    metadata.packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(metadata.packages)
}
