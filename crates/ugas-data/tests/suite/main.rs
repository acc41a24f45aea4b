//! The integration tests of `ugas-data`, one module per subject. They are one program, because each test program is
//! linked separately, and linking took most of the build time.

mod corpora;
mod csv;
mod documents;
mod fields;
mod files;
mod fix_table;
mod fixes;
mod form;
mod format;
mod hostile;
mod invalid;
mod kit;
mod language;
mod lints;
mod namespaces;
mod packs;
mod project;
mod reference;
mod reload;
mod reload_packs;
mod restyled;
mod scenes;
mod schemas;
mod spans;
mod symbols;
