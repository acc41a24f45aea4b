//! Curve points and stats from CSV files. `Csv: damage.csv` names a file that was exported from a spreadsheet. The file
//! is in the folder of the document or in a subfolder.

use crate::folder::text_of;
use crate::limits::MAX_POINTS;
use crate::tree::quoted;
use crate::{Code, Node, ReadError};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use ugas_doc::{CurvePoint, Doc, Scales, Stat};

/// Texts of tables by path, used instead of the files on disk.
pub(crate) type Tables = BTreeMap<PathBuf, Arc<str>>;

/// Reads the points of a curve or the stats of a stat table whose document names a table; other documents are unchanged.
/// `tree` is the document, `path` its file, `room` the number of lines that its tables may still have, `kept` the tables
/// that are not read from disk.
pub(crate) fn fill(
    doc: &mut Doc,
    tree: &Node,
    path: &Path,
    room: &mut usize,
    kept: &Tables,
) -> Result<(), Vec<ReadError>> {
    let (csv, is_filled, what, key) = if let Doc::Curve(curve) = doc {
        (curve.csv.take(), !curve.points.is_empty(), "the curve", "Points")
    } else if let Doc::StatTable(table) = doc {
        (table.csv.take(), !table.stats.is_empty(), "the table", "Stats")
    } else {
        return Ok(());
    };
    let Some(csv) = csv else { return Ok(()) };
    let file = path.display().to_string();
    let at = tree.get("Csv").unwrap_or(tree);
    if is_filled {
        let help = Some(format!("remove Csv or {key}"));
        let message = format!("Csv: {what} already has {key}");
        return Err(vec![ReadError { help, ..at.error(&file, message) }]);
    }
    let table = folder_of(path).join(&csv);
    let name = table.display().to_string();
    let text = match kept.get(&table).filter(|_| is_inside(&csv)) {
        Some(text) => text.to_string(),
        None => {
            let table = table_beside(path, &csv).map_err(|(message, help)| {
                let help = Some(help);
                vec![ReadError { help, ..at.error(&file, format!("Csv: {message}")) }]
            })?;
            text_of(&table, &name).map_err(|e| vec![e])?
        }
    };
    let mut lines = 0;
    if let Doc::Curve(curve) = doc {
        curve.points = points(&name, &text)?;
        lines = curve.points.len();
    } else if let Doc::StatTable(table) = doc {
        table.stats = stats(&name, &text)?;
        lines = table.stats.len();
    }
    if lines > *room {
        let message =
            format!("Csv: the tables that this file names together have more than {MAX_POINTS} lines; split the file");
        return Err(vec![at.error(&file, message)]);
    }
    *room -= lines;
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

/// Returns an error at a line and column of a table.
fn error_at(file: &str, line: usize, column: usize, message: String) -> ReadError {
    let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (line, column) = (clip(line), clip(column));
    ReadError { line, column, ..ReadError::of_file(file, Code::Invalid, message) }
}

/// The columns of a table of stats.
const STAT_COLUMNS: [&str; 7] = ["Tag", "Default", "Min", "Max", "Replicate", "Modifiable", "Scales"];

/// Parses a table of stats. The first line names the columns; an empty cell is a key that is not written.
fn stats(file: &str, text: &str) -> Result<Vec<Stat>, Vec<ReadError>> {
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    let help = "the first line names the columns: Tag, Default and any of Min, Max, Replicate, Modifiable, Scales";
    let Some((at, first)) = lines.next() else {
        return Err(vec![error_at(file, 1, 1, format!("the table is empty; {help}"))]);
    };
    let columns = cells(first);
    let unknown = columns.iter().filter(|c| !STAT_COLUMNS.contains(&c.text));
    let mut errors: Vec<ReadError> = unknown
        .map(|c| error_at(file, at + 1, c.column, format!("unknown column {}; {help}", quoted(c.text))))
        .collect();
    for needed in STAT_COLUMNS[..2].iter().filter(|n| columns.iter().all(|c| c.text != **n)) {
        errors.push(error_at(file, at + 1, 1, format!("the column {needed} is missing; {help}")));
    }
    let mut stats = Vec::new();
    for (at, line) in lines {
        if errors.len() >= crate::limits::MAX_ERRORS_PER_DOCUMENT || stats.len() > MAX_POINTS {
            break;
        }
        let values = cells(line);
        if values.len() > columns.len() {
            let extra = &values[columns.len()];
            let message = format!("expected {} columns, found {}", columns.len(), values.len());
            errors.push(error_at(file, at + 1, extra.column, message));
            continue;
        }
        let mut stat = Stat::new("", 0.0);
        for (column, cell) in columns.iter().zip(&values).filter(|(_, cell)| !cell.text.is_empty()) {
            if let Err(expected) = set_stat(&mut stat, column.text, cell.text) {
                let message = format!("{}: expected {expected}, found {}", column.text, quoted(cell.text));
                errors.push(error_at(file, at + 1, cell.column, message));
            }
        }
        for needed in ["Tag", "Default"] {
            let has = columns.iter().zip(&values).any(|(c, cell)| c.text == needed && !cell.text.is_empty());
            if !has && errors.is_empty() {
                errors.push(error_at(file, at + 1, 1, format!("{needed} is missing; write a value in that column")));
            }
        }
        stats.push(stat);
    }
    if stats.is_empty() && errors.is_empty() {
        errors.push(error_at(file, 1, 1, "the table has no stats; write lines such as Stat.Haste,1".to_owned()));
    }
    if errors.is_empty() { Ok(stats) } else { Err(errors) }
}

/// Sets a key of a stat from a cell. Returns what was expected if the cell contains something else.
fn set_stat(stat: &mut Stat, key: &str, text: &str) -> Result<(), &'static str> {
    let yes = |text: &str| match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => Err("true or false"),
    };
    let value = || number(text).ok_or("a number");
    match key {
        "Tag" => stat.tag = text.to_owned(),
        "Default" => stat.default = value()?,
        "Min" => stat.min = Some(value()?),
        "Max" => stat.max = Some(value()?),
        "Replicate" => stat.replicate = yes(text)?,
        "Modifiable" => stat.modifiable = yes(text)?,
        "Scales" => stat.scales = Some(Scales::from(text)),
        _ => {}
    }
    Ok(())
}

/// Parses the points of a table: two columns with rising X. The first line may name the columns.
fn points(file: &str, text: &str) -> Result<Vec<CurvePoint>, Vec<ReadError>> {
    let error = |line: usize, column: usize, message: String| error_at(file, line, column, message);
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
