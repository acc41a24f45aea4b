//! Samples as text: a table, CSV and JSON.

use super::{Samples, Spread};
use serde_json::{Value, json};
use std::fmt::Write;
use ugas_core::SimTime;

/// Levels of a sparkline.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Width of a sparkline.
const PLOT: usize = 32;
/// The number of rows in a table; CSV and JSON have all rows.
const TABLE_ROWS: usize = 200;

impl Samples {
    /// Returns a text with a plot of every attribute over time, followed by a table of the rows.
    pub fn to_table(&self) -> String {
        let mut text = String::new();
        let runs = match self.runs {
            1 => format!("seed {}", self.seed),
            n => format!("{n} runs from seed {}: mean (min to max)", self.seed),
        };
        let _ = writeln!(text, "{}, {runs}", self.scenario);
        let width = self.columns.iter().map(|c| c.chars().count()).max().unwrap_or(0);
        for (i, column) in self.columns.iter().enumerate() {
            let values = || self.rows.iter().filter_map(|r| r.values[i]);
            let low = values().map(|v| v.min).fold(f64::INFINITY, f64::min);
            let high = values().map(|v| v.max).fold(f64::NEG_INFINITY, f64::max);
            let first = values().next().map_or_else(String::new, |v| number(v.mean));
            let last = values().next_back().map_or_else(String::new, |v| number(v.mean));
            let _ = writeln!(
                text,
                "  {column:<width$}  {}  {first} → {last}, from {} to {}",
                self.sparkline(i, low, high),
                number(low),
                number(high)
            );
        }
        text.push('\n');
        self.write_rows(&mut text);
        text
    }

    fn write_rows(&self, text: &mut String) {
        let mut lines: Vec<Vec<String>> =
            vec![std::iter::once("time".to_owned()).chain(self.columns.clone()).collect()];
        for row in self.rows.iter().take(TABLE_ROWS) {
            let time = number(row.at.as_seconds());
            let values = row.values.iter().map(|v| v.map_or_else(String::new, |v| self.cell(v)));
            lines.push(std::iter::once(time).chain(values).collect());
        }
        let widths: Vec<usize> =
            (0..=self.columns.len()).map(|i| lines.iter().map(|l| l[i].chars().count()).max().unwrap_or(0)).collect();
        for line in &lines {
            let cells: Vec<String> = line.iter().zip(&widths).map(|(c, w)| format!("{c:>w$}")).collect();
            let _ = writeln!(text, "{}", cells.join("  ").trim_end());
        }
        if self.rows.len() > TABLE_ROWS {
            let more = self.rows.len() - TABLE_ROWS;
            let _ = writeln!(text, "and {more} more rows; use --format csv for all rows");
        }
    }

    fn cell(&self, v: Spread) -> String {
        match self.runs {
            1 => number(v.mean),
            _ => format!("{} ({} to {})", number(v.mean), number(v.min), number(v.max)),
        }
    }

    /// Plots the mean over equal parts of the time; a space where there is no value.
    fn sparkline(&self, column: usize, low: f64, high: f64) -> String {
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else {
            return " ".repeat(PLOT);
        };
        let length = (last.at - first.at).0;
        let at = |part: usize| first.at + SimTime((length as i128 * part as i128 / (PLOT as i128 - 1)) as i64);
        let bar = |part: usize| {
            let time = at(part);
            let row = self.rows.partition_point(|r| r.at <= time).max(1) - 1;
            match self.rows[row].values[column] {
                None => ' ',
                Some(_) if high <= low => BARS[3],
                Some(v) => {
                    let share = (v.mean - low) / (high - low);
                    BARS[((share * 8.0) as usize).min(7)]
                }
            }
        };
        (0..PLOT).map(bar).collect()
    }

    /// Returns comma-separated values with a header; times are in seconds.
    ///
    /// ```
    /// let text = "Scenario: Idle\nTimeline: [{At: 1}]";
    /// let tree = &ugas_data::read_trees("idle.yaml", text).unwrap()[0];
    /// let scenario = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap();
    /// assert_eq!(ugas_lab::sample(&scenario, Default::default()).unwrap().to_csv(), "time\n0\n1\n");
    /// ```
    pub fn to_csv(&self) -> String {
        let mut text = String::from("time");
        for column in &self.columns {
            match self.runs {
                1 => text.push_str(&format!(",{}", quoted(column))),
                _ => ["mean", "min", "max"]
                    .iter()
                    .for_each(|of| text.push_str(&format!(",{}", quoted(&format!("{column}.{of}"))))),
            }
        }
        text.push('\n');
        for row in &self.rows {
            text.push_str(&row.at.as_seconds().to_string());
            for value in &row.values {
                match (value, self.runs) {
                    (Some(v), 1) => text.push_str(&format!(",{}", v.mean)),
                    (Some(v), _) => text.push_str(&format!(",{},{},{}", v.mean, v.min, v.max)),
                    (None, 1) => text.push(','),
                    (None, _) => text.push_str(",,,"),
                }
            }
            text.push('\n');
        }
        text
    }

    /// Returns a JSON object with the columns and the rows. Each row has a time and the values; with several runs, it
    /// has the mean, the minimum and the maximum of each value instead.
    pub fn to_json(&self) -> String {
        let pick = |values: &[Option<Spread>], of: fn(&Spread) -> f64| -> Value {
            values.iter().map(|v| v.as_ref().map(of)).collect()
        };
        let rows = self.rows.iter().map(|row| {
            let at = row.at.as_seconds();
            match self.runs {
                1 => json!({"time": at, "values": pick(&row.values, |v| v.mean)}),
                _ => json!({
                    "time": at,
                    "mean": pick(&row.values, |v| v.mean),
                    "min": pick(&row.values, |v| v.min),
                    "max": pick(&row.values, |v| v.max),
                }),
            }
        });
        let all = json!({
            "scenario": self.scenario,
            "runs": self.runs,
            "seed": self.seed,
            "columns": self.columns,
            "rows": rows.collect::<Vec<Value>>(),
        });
        format!("{all}\n")
    }
}

/// Formats a number for a table.
fn number(n: f64) -> String {
    if !n.is_finite() {
        return "-".to_owned();
    }
    let short = format!("{n:.4}");
    let short = short.trim_end_matches('0').trim_end_matches('.');
    match short {
        "-0" => "0".to_owned(),
        _ => short.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
