//! Curve points from CSV files. `Csv: damage.csv` names a file that was exported from a spreadsheet. The file is in the
//! folder of the document or in a subfolder.

use crate::folder::text_of;
use crate::limits::MAX_POINTS;
use crate::tree::quoted;
use crate::{Code, Node, ReadError};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use ugas_doc::{CurvePoint, Doc};

/// Texts of tables by path, used instead of the files on disk.
pub(crate) type Tables = BTreeMap<PathBuf, Arc<str>>;

/// Reads the points of a curve whose document names a table; other documents are unchanged. `tree` is the document, `path`
/// its file, `room` the number of points that its tables may still have, `kept` the tables that are not read from disk.
pub(crate) fn fill(
    doc: &mut Doc,
    tree: &Node,
    path: &Path,
    room: &mut usize,
    kept: &Tables,
) -> Result<(), Vec<ReadError>> {
    let Doc::Curve(curve) = doc else { return Ok(()) };
    let Some(csv) = curve.csv.take() else { return Ok(()) };
    let file = path.display().to_string();
    let at = tree.get("Csv").unwrap_or(tree);
    if !curve.points.is_empty() {
        let help = Some("remove Csv or Points".to_owned());
        let message = "Csv: the curve already has Points";
        return Err(vec![ReadError { help, ..at.error(&file, message) }]);
    }
    let table = folder_of(path).join(&csv);
    let name = table.display().to_string();
    let points = match kept.get(&table).filter(|_| is_inside(&csv)) {
        Some(text) => points(&name, text)?,
        None => {
            let table = table_beside(path, &csv).map_err(|(message, help)| {
                let help = Some(help);
                vec![ReadError { help, ..at.error(&file, format!("Csv: {message}")) }]
            })?;
            points(&name, &text_of(&table, &name).map_err(|e| vec![e])?)?
        }
    };
    if points.len() > *room {
        let message =
            format!("Csv: the tables that this file names together have more than {MAX_POINTS} points; split the file");
        return Err(vec![at.error(&file, message)]);
    }
    *room -= points.len();
    curve.points = points;
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Returns whether a path stays in the folder of the document or below, on every system.
pub(crate) fn is_inside(csv: &str) -> bool {
    let plain = !csv.is_empty() && Path::new(csv).components().all(|c| matches!(c, Component::Normal(_)));
    // A backslash is a separator on some systems only, so it is not allowed.
    plain && !csv.contains(['\\', ':'])
}

/// Returns the table of a document, if it is in its folder or below.
fn table_beside(path: &Path, csv: &str) -> Result<PathBuf, (String, String)> {
    let inside = || "write the name of a file in the folder of the document, such as damage.csv".to_owned();
    if !is_inside(csv) {
        return Err((format!("{} is outside the folder of the document", quoted(csv)), inside()));
    }
    let folder = folder_of(path);
    let table = folder.join(csv);
    let home = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (home.canonicalize(), table.canonicalize()) {
        (Ok(home), Ok(real)) if !real.starts_with(&home) => {
            Err((format!("{} is a symbolic link to a file outside the folder of the document", quoted(csv)), inside()))
        }
        (Ok(_), Ok(_)) => Ok(table),
        _ => Err((
            format!("the file {} does not exist", table.display()),
            "create the file, or correct the name".to_owned(),
        )),
    }
}

/// Returns the text of the table of a document, if it is in its folder or below and can be read.
pub(crate) fn text_beside(path: &Path, table: &Path) -> Option<String> {
    let csv = table.strip_prefix(folder_of(path)).ok()?.to_str()?;
    let table = table_beside(path, csv).ok()?;
    text_of(&table, &table.display().to_string()).ok()
}

/// Parses the points of a table: two columns with rising X. The first line may name the columns.
fn points(file: &str, text: &str) -> Result<Vec<CurvePoint>, Vec<ReadError>> {
    let error = |line: usize, column: usize, message: String| {
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let (line, column) = (clip(line), clip(column));
        ReadError { line, column, ..ReadError::of_file(file, Code::Invalid, message) }
    };
    let mut points: Vec<CurvePoint> = Vec::new();
    let mut errors = Vec::new();
    let mut begun = false;
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let cells = cells(line);
        let header = !begun && cells.iter().all(|c| number(c.text).is_none());
        begun = true;
        if header {
            continue;
        }
        if let [_, _, third, ..] = cells.as_slice() {
            let message = format!("expected two columns, X and Y, found {}", cells.len());
            errors.push(error(i + 1, third.column, message));
        } else if cells.len() < 2 {
            errors.push(error(i + 1, 1, "expected two columns, X and Y, found one".to_owned()));
        } else {
            match (number(cells[0].text), number(cells[1].text)) {
                (Some(x), Some(y)) => match points.last() {
                    Some(before) if before.x >= x => {
                        let message = format!("X is {x}; write more than {}, the X of the previous point", before.x);
                        errors.push(error(i + 1, cells[0].column, message));
                    }
                    _ => points.push(CurvePoint { x, y }),
                },
                (x, _) => {
                    let cell = if x.is_none() { &cells[0] } else { &cells[1] };
                    errors.push(error(i + 1, cell.column, format!("expected a number, found {}", quoted(cell.text))));
                }
            }
        }
        if points.len() > MAX_POINTS {
            let limit = error(i + 1, 1, format!("the table has more than {MAX_POINTS} points; remove points"));
            errors.push(ReadError { code: Code::Limit, ..limit });
        }
        if errors.len() >= crate::limits::MAX_ERRORS_PER_DOCUMENT || points.len() > MAX_POINTS {
            break;
        }
    }
    if points.is_empty() && errors.is_empty() {
        errors.push(error(1, 1, "the table has no points; write lines such as 1,10".to_owned()));
    }
    if errors.is_empty() { Ok(points) } else { Err(errors) }
}

/// A cell without quotes, and the column of its first character.
struct Cell<'t> {
    text: &'t str,
    column: usize,
}

/// Splits a line into cells at commas, semicolons or tabs, depending on what the spreadsheet wrote.
fn cells(line: &str) -> Vec<Cell<'_>> {
    let between = [';', '\t'].into_iter().find(|c| line.contains(*c)).unwrap_or(',');
    let mut column = 1;
    line.split(between)
        .map(|part| {
            let blank = part.chars().take_while(|c| c.is_whitespace()).count();
            let bare = part.trim();
            let text = bare.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(bare);
            let found = Cell { text, column: column + blank };
            column += part.chars().count() + 1;
            found
        })
        .collect()
}

fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    text.parse().ok().filter(|n: &f64| plain && n.is_finite())
}
