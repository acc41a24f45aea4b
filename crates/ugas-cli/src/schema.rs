//! `ugas schema`: the JSON Schemas of the documents, for editors and other tools.

use crate::args::SchemaArgs;
use crate::output::{Exit, Out, complain};
use std::io;
use ugas_data::schemas;

pub(crate) fn run(args: &SchemaArgs, out: &mut Out) -> io::Result<Exit> {
    let schemas = schemas();
    let Some(folder) = &args.out else {
        let bundle = schemas.last().map(|(_, schema)| schema);
        out.text(&format!("{}\n", serde_json::to_string_pretty(&bundle).map_err(io::Error::other)?))?;
        return Ok(Exit::Good);
    };
    let write = |name: &str, schema: &serde_json::Value| -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let text = serde_json::to_string_pretty(schema).map_err(io::Error::other)?;
        std::fs::write(folder.join(name), text + "\n")
    };
    for (name, schema) in &schemas {
        if let Err(error) = write(name, schema) {
            complain(&format!("{}: error: cannot write the file: {error}", folder.join(name).display()));
            return Ok(Exit::Unreadable);
        }
    }
    out.line(&format!("wrote {} schemas to {}", schemas.len(), folder.display()))?;
    Ok(Exit::Good)
}
