//! Tables in the form that both a terminal and the book can show.

/// Rows of cells under a heading, printed as Markdown with aligned columns.
pub(crate) struct Table {
    title: String,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(title: impl Into<String>, columns: &[&str]) -> Table {
        Table { title: title.into(), rows: vec![columns.iter().map(|&column| column.to_owned()).collect()] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    pub(crate) fn markdown(&self) -> String {
        let columns = self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |cells: &[String]| {
            let pad = |(column, cell): (usize, &String)| {
                if column == 0 { format!("{cell:<0$}", widths[0]) } else { format!("{cell:>0$}", widths[column]) }
            };
            format!("| {} |\n", cells.iter().enumerate().map(pad).collect::<Vec<_>>().join(" | "))
        };
        let rule = widths.iter().enumerate().map(|(column, &width)| {
            if column == 0 { "-".repeat(width) } else { format!("{}:", "-".repeat(width - 1)) }
        });
        let mut text = format!("**{}**\n\n{}", self.title, line(&self.rows[0]));
        text += &line(&rule.collect::<Vec<_>>());
        self.rows[1..].iter().for_each(|row| text += &line(row));
        text
    }
}

/// Returns a figure with as many digits as mean something.
pub(crate) fn figure(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// A figure that may be missing.
pub(crate) fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), figure)
}
