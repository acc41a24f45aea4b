//! `cargo xtask playground`: builds the demo as static files for any web server, with the runtime as wasm.
//!
//! The playground uses the pages of the studio. An attribute of the root element selects the wasm backend.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use brotli::CompressorWriter;

use crate::repo;

const TARGET: &str = "wasm32-unknown-unknown";
/// The maximum size of the compressed module in bytes. A new document kind adds about 15,000. `wasm-opt -Oz` makes the
/// module smaller and its compressed form 10 % larger, so it is not used.
const MOST: usize = 1_200_000;

pub(crate) fn run(args: &[String]) -> Result<bool> {
    let root = repo::root()?;
    let mut out = root.join("target/playground");
    let mut is_checked = false;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--out" => out = words.next().map(PathBuf::from).context("--out needs a folder")?,
            "--check" => is_checked = true,
            other => bail!("unknown option `{other}` of playground"),
        }
    }
    add_target();
    let mut build = repo::cargo(&root);
    build.args(["build", "--quiet", "-p", "ugas-playground", "--target", TARGET, "--profile", "playground"]);
    if !build.status()?.success() {
        bail!("cannot build the module; install the target with `rustup target add {TARGET}`");
    }
    let module = target_folder(&root)?.join(TARGET).join("playground/ugas_playground.wasm");
    let bytes = fs::read(&module).with_context(|| format!("cannot read {}", module.display()))?;
    write_pages(&root, &out, &bytes)?;
    let packed = packed(&bytes)?;
    fs::write(out.join("ugas.wasm.br"), &packed)?;
    let packed = packed.len();
    println!("{}: {} bytes of wasm, {packed} compressed with brotli (limit {MOST})", out.display(), bytes.len());
    println!("serve the folder with any web server; it needs no backend");
    let mut is_good = packed <= MOST;
    if is_checked {
        let mut node = Command::new("node");
        node.arg(root.join("crates/ugas-playground/golden.mjs")).arg(out.join("ugas.wasm"));
        is_good &= node.status().context("--check needs node, which cannot be started")?.success();
    }
    Ok(is_good)
}

/// Installs the target. Errors are ignored: without rustup the target may be part of the toolchain.
fn add_target() {
    let _ = Command::new("rustup").args(["target", "add", TARGET]).status();
}

fn target_folder(root: &Path) -> Result<PathBuf> {
    #[derive(serde::Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }
    let output = repo::cargo(root).args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let metadata: Metadata = serde_json::from_slice(&output.stdout).context("cargo metadata printed bad JSON")?;
    Ok(metadata.target_directory)
}

fn write_pages(root: &Path, out: &Path, module: &[u8]) -> Result<()> {
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let pages = root.join("crates/ugas-studio/pages");
    for entry in fs::read_dir(&pages).with_context(|| format!("cannot list {}", pages.display()))? {
        let (path, name) = entry.map(|e| (e.path(), e.file_name()))?;
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        fs::write(out.join(name), text.replacen("<html ", "<html data-wasm=\"1\" ", 1))?;
    }
    fs::copy(root.join("schemas/ugas.json"), out.join("schemas.json")).context("cannot copy schemas/ugas.json")?;
    fs::write(out.join("ugas.wasm"), module)?;
    Ok(())
}

/// Returns the size of the module compressed with brotli.
fn packed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut writer = CompressorWriter::new(Vec::new(), 1 << 16, 11, 24);
    writer.write_all(bytes)?;
    Ok(writer.into_inner())
}
