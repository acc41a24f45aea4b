//! Curve tables that a project keeps in memory. A project that is restored to an earlier state uses the tables of that
//! state instead of the files on disk.

use crate::{Project, Source, csv};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Project {
    /// Keeps the text of a table in memory. Documents and patches that are added later use this text instead of the
    /// file on disk.
    ///
    /// ```
    /// let mut project = ugas_data::Project::default();
    /// project.put_table("curves/damage.csv", "1,10\n");
    /// project.put("curves/damage.yaml", "Kind: curve\nName: CT_Damage\nCsv: damage.csv\n");
    /// assert!(project.sources()[0].is_valid());
    /// assert_eq!(project.table("curves/damage.csv"), Some("1,10\n"));
    /// ```
    pub fn put_table(&mut self, path: impl Into<PathBuf>, text: impl Into<Arc<str>>) {
        self.tables.insert(path.into(), text.into());
    }

    /// Reads the tables of a document file from disk and keeps them in memory. A table that cannot be read is removed
    /// from memory; the error is reported when the document is read.
    ///
    /// ```
    /// let mut project = ugas_data::Project::default();
    /// project.put_table("curves/damage.csv", "1,10\n");
    /// project.put("curves/damage.yaml", "Kind: curve\nName: CT_Damage\nCsv: damage.csv\n");
    /// project.keep_tables_of("curves/damage.yaml".as_ref());
    /// assert_eq!(project.table("curves/damage.csv"), None, "there is no such file");
    /// ```
    pub fn keep_tables_of(&mut self, path: &Path) {
        let sources = self.sources.iter().filter(|s| s.path == path);
        for table in sources.flat_map(Source::tables).collect::<Vec<_>>() {
            match csv::text_beside(path, &table) {
                Some(text) => self.tables.insert(table, text.into()),
                None => self.tables.remove(&table),
            };
        }
    }

    /// Returns the text of a table that the project keeps in memory.
    pub fn table(&self, path: impl AsRef<Path>) -> Option<&str> {
        self.tables.get(path.as_ref()).map(|text| &**text)
    }
}
