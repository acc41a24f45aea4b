//! `ugas init`: creates a starter project. The files of the project are in the folder `starter` of this crate, so that
//! tests check and run them like any other project.

use crate::args::InitArgs;
use crate::output::{Exit, Out, complain};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

macro_rules! starter {
    ($($file:literal),* $(,)?) => { [$(($file, include_str!(concat!("../starter/", $file)))),*] };
}

/// The path and the text of every starter file, in the order in which a new user reads them.
const FILES: [(&str, &str); 8] = starter![
    "README.md",
    "game/pack.yaml",
    "game/attributes.yaml",
    "game/tags.yaml",
    "game/hero.yaml",
    "game/slime.yaml",
    "game/death.yaml",
    "scenarios/fight.yaml",
];

pub(crate) fn run(args: &InitArgs, out: &mut Out) -> io::Result<Exit> {
    let folder = &args.folder;
    if let Err(why) = is_free(folder) {
        complain(&format!("{}: error: {why}", folder.display()));
        complain("    choose a new or an empty folder, for example `ugas init my_game`");
        return Ok(Exit::Unreadable);
    }
    for (name, text) in FILES {
        let file = folder.join(name);
        if let Err(error) = write_new(&file, text) {
            complain(&format!("{}: error: cannot write the file: {error}", file.display()));
            return Ok(Exit::Unreadable);
        }
        out.line(format!("wrote {}", file.display()))?;
    }
    out.line("")?;
    out.line("Next:")?;
    out.line(format!("  ugas check {}", folder.display()))?;
    out.line(format!("  ugas test {}", folder.join("scenarios").display()))?;
    out.line(format!("  ugas studio {}", folder.join("game").display()))?;
    out.line("In a clone of the repository, run `cargo ugas` instead of `ugas`.")?;
    Ok(Exit::Good)
}

/// Checks that the folder does not exist or is empty.
fn is_free(folder: &Path) -> Result<(), String> {
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err("the folder is not empty".to_owned()),
        },
        // A dangling link counts as an existing file.
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(folder).is_err() => Ok(()),
        Err(_) if folder.is_file() => Err("expected a folder, found a file".to_owned()),
        Err(error) => Err(format!("cannot read the folder: {error}")),
    }
}

/// Writes a new file; fails if the file exists.
fn write_new(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    OpenOptions::new().write(true).create_new(true).open(file)?.write_all(text.as_bytes())
}
