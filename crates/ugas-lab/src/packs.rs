//! What `pack.yaml` says about host code. Everything else in it is for tools that come later.

use crate::files::text_of;
use std::path::Path;
use ugas_data::{ReadError, read_trees};

/// The names under `Host: {Calculations: [..]}` of a folder's `pack.yaml`; none if there is no such file.
pub(crate) fn host_calculations(folder: &Path) -> Result<Vec<String>, Vec<ReadError>> {
    let path = folder.join("pack.yaml");
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let file = path.display().to_string();
    let text = text_of(&path).map_err(|e| vec![e])?;
    let trees = read_trees(&file, &text).map_err(|e| e.into_vec())?;
    let lists = trees.iter().filter_map(|tree| tree.get("Host")?.get("Calculations"));
    let names = lists.flat_map(|list| list.items()).filter_map(|n| n.as_text());
    Ok(names.map(str::to_owned).collect())
}
