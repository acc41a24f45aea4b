//! `ugas show`: prints a definition, its description and its references.

use crate::args::ShowArgs;
use crate::output::{Exit, Out, complain, complain_about};
use std::io;
use ugas_data::{Project, language, nearest};

pub(crate) fn run(args: &ShowArgs, out: &mut Out) -> io::Result<Exit> {
    let (project, errors) = Project::open_readable(&args.path);
    if !errors.is_empty() {
        complain_about(&errors);
        return Ok(Exit::Unreadable);
    }
    let pages = language::show(&project, &args.name, args.level);
    if pages.is_empty() {
        let names = language::defined_names(&project);
        let near = nearest(&args.name, names.iter().map(String::as_str));
        let hint = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
        complain(&format!("error: {} has no definition named {}{hint}", args.path.display(), args.name));
        return Ok(Exit::Unreadable);
    }
    for (i, page) in pages.iter().enumerate() {
        if i > 0 {
            out.line("")?;
        }
        out.text(page)?;
    }
    Ok(Exit::Good)
}
