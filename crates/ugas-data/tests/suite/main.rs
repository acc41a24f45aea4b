//! The integration tests of `ugas-data`, one module per subject, in one program: each program is linked on its own, and
//! linking many of them took most of the time that building the tests took.

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
