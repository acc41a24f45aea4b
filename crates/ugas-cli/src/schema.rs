//! `ugas schema`: writes the JSON Schemas of the documents, for editors and other tools, and the reference pages of the
//! book.

use crate::args::SchemaArgs;
use crate::output::{Exit, Out, complain};
use std::io;
use std::path::Path;
use ugas_data::{reference_pages, schemas};

pub(crate) fn run(args: &SchemaArgs, out: &mut Out) -> io::Result<Exit> {
    if let Some(folder) = &args.reference {
        return write_all(folder, "pages", &reference_pages(), out);
    }
    let schemas = schemas();
    let Some(folder) = &args.out else {
        let bundle = schemas.last().map(|(_, schema)| schema);
        out.text(&format!("{}\n", serde_json::to_string_pretty(&bundle).map_err(io::Error::other)?))?;
        return Ok(Exit::Good);
    };
    let mut files = Vec::with_capacity(schemas.len());
    for (name, schema) in &schemas {
        files.push((name.clone(), serde_json::to_string_pretty(schema).map_err(io::Error::other)? + "\n"));
    }
    write_all(folder, "schemas", &files, out)
}

fn write_all(folder: &Path, what: &str, files: &[(String, String)], out: &mut Out) -> io::Result<Exit> {
    for (name, text) in files {
        let path = folder.join(name);
        if let Err(error) = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text)) {
            complain(&format!("{}: error: cannot write the file: {error}", path.display()));
            return Ok(Exit::Unreadable);
        }
    }
    out.line(format!("wrote {} {what} to {}", files.len(), folder.display()))?;
    Ok(Exit::Good)
}
