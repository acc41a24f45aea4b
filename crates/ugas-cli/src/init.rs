//! `ugas init`: a starter project in a new folder. What is written lies in `starter` beside this crate's sources as it
//! will be, so that it can be read, checked and played like any other project.

use crate::args::InitArgs;
use crate::output::{Exit, Out, complain};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

macro_rules! starter {
    ($($file:literal),* $(,)?) => { [$(($file, include_str!(concat!("../starter/", $file)))),*] };
}

/// Every file with its text, in the order in which one would read them.
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
        complain("    ugas init writes into a new or an empty folder only; name one, such as `ugas init my_game`");
        return Ok(Exit::Unreadable);
    }
    for (name, text) in FILES {
        let file = folder.join(name);
        if let Err(error) = write_new(&file, text) {
            complain(&format!("{}: error: cannot be written: {error}", file.display()));
            return Ok(Exit::Unreadable);
        }
        out.line(&format!("wrote {}", file.display()))?;
    }
    out.line("")?;
    out.line("Next:")?;
    out.line(&format!("  ugas check {}", folder.display()))?;
    out.line(&format!("  ugas test {}", folder.join("scenarios").display()))?;
    out.line(&format!("  ugas studio {}", folder.join("game").display()))?;
    out.line("In a clone of the repository, `cargo ugas` is the same command.")?;
    Ok(Exit::Good)
}

/// Whether nothing is there that could be lost.
fn is_free(folder: &Path) -> Result<(), String> {
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err("the folder is not empty".to_owned()),
        },
        // A link that leads nowhere is something, too.
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(folder).is_err() => Ok(()),
        Err(_) if folder.is_file() => Err("this is a file".to_owned()),
        Err(error) => Err(format!("cannot be read: {error}")),
    }
}

/// Never in the place of another file, not even one that has come since.
fn write_new(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    OpenOptions::new().write(true).create_new(true).open(file)?.write_all(text.as_bytes())
}
