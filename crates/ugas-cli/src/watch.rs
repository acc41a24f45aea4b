//! `--watch` and `ugas watch`: run a command again, or reload documents, when a file is saved.

use crate::args::WatchArgs;
use crate::output::{Exit, Out, complain, complain_about};
use crate::sim::pick;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use ugas_data::limits::MAX_BYTES;
use ugas_data::{Project, Source, Watch};
use ugas_lab::{Live, LiveReloadError, Scenario, files_at, load_file};

/// Runs a command once immediately and once after every change, until the program is stopped.
pub(crate) fn repeat(
    paths: &[PathBuf],
    out: &mut Out,
    mut run: impl FnMut(&mut Out) -> io::Result<Exit>,
) -> io::Result<Exit> {
    // Watching starts before the first run, so that a change during that run is not missed.
    let Some(watch) = watching(paths) else { return Ok(Exit::Unreadable) };
    loop {
        run(out)?;
        out.line("watching; save a file to run again")?;
        out.flush()?;
        if !watch.wait(None) {
            return Ok(Exit::Unreadable);
        }
    }
}

/// Watches these paths and the packs that their scenarios use. Reports an error and returns `None` if a path cannot be
/// watched.
fn watching(paths: &[PathBuf]) -> Option<Watch> {
    let mut all = paths.to_vec();
    for file in paths.iter().flat_map(|path| files_at(path).unwrap_or_default()) {
        all.extend(load_file(&file).unwrap_or_default().iter().flat_map(Scenario::pack_folders));
    }
    all.sort();
    all.dedup();
    Watch::new(all).map_err(|error| complain(&format!("error: {error}"))).ok()
}

/// `ugas watch`: runs a scenario and reloads its documents when they are saved.
pub(crate) fn run(args: &WatchArgs, out: &mut Out) -> io::Result<Exit> {
    let Some(watch) = watching(std::slice::from_ref(&args.file)) else { return Ok(Exit::Unreadable) };
    let Some(scenario) = pick(&args.file, args.scenario.as_deref()) else { return Ok(Exit::Unreadable) };
    let mut live = match scenario.live() {
        Ok(live) => live,
        Err(errors) => {
            complain_about(&errors);
            return Ok(Exit::Unreadable);
        }
    };
    out.line(format!("{} at {} s", scenario.name, live.now().as_seconds()))?;
    for (path, value) in live.values() {
        out.line(format!("  {path} {value}"))?;
    }
    let mut seen = contents(&args.file);
    loop {
        out.line("watching; save a file to reload it")?;
        out.flush()?;
        loop {
            if !watch.wait(None) {
                return Ok(Exit::Unreadable);
            }
            // Many file events leave the content unchanged, for example when a file is touched or a folder is listed.
            let now = contents(&args.file);
            if now != seen {
                seen = now;
                break;
            }
        }
        reload(&mut live, args, out)?;
    }
}

/// Returns the contents of the scenario file and of the files of its packs.
fn contents(file: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let scenarios = load_file(file).unwrap_or_default();
    let packs = scenarios.iter().flat_map(Scenario::pack_folders);
    let files_of = |pack: PathBuf| {
        let tables: Vec<PathBuf> = Project::open_readable(&pack).0.sources().iter().flat_map(Source::tables).collect();
        files_at(pack).unwrap_or_default().into_iter().chain(tables)
    };
    let files = packs.flat_map(files_of).chain([file.to_path_buf()]);
    let plain = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= MAX_BYTES as u64);
    files.filter(plain).filter_map(|path| std::fs::read(&path).ok().map(|bytes| (path, bytes))).collect()
}

/// The message after the errors of a rejected reload.
const REJECTED: &str = "reload rejected; the world keeps the previous documents";

fn reload(live: &mut Live<'_>, args: &WatchArgs, out: &mut Out) -> io::Result<()> {
    let Some(scenario) = pick(&args.file, args.scenario.as_deref()) else {
        complain(REJECTED);
        return Ok(());
    };
    let before: BTreeMap<String, f64> = live.values().into_iter().collect();
    match live.reload(&scenario) {
        Ok(migration) => {
            out.line(format!("reloaded: {migration}"))?;
            let mut is_changed = false;
            for (path, value) in live.values() {
                let line = match before.get(&path) {
                    Some(old) if *old == value => continue,
                    Some(old) => format!("  {path} {old} -> {value}"),
                    None => format!("  {path} {value}"),
                };
                is_changed = true;
                out.line(line)?;
            }
            if !is_changed {
                out.line("  no value changed; new definitions apply to later effects and activations")?;
            }
            Ok(())
        }
        Err(LiveReloadError::Documents(errors)) => {
            out.flush()?;
            complain_about(&errors);
            complain(REJECTED);
            Ok(())
        }
        Err(error @ LiveReloadError::World(_)) => {
            out.flush()?;
            complain(&format!("error: {error}\n{REJECTED}"));
            Ok(())
        }
    }
}
