//! Reads, checks, formats and writes authored documents.
//!
//! The input is YAML 1.2 or JSON, with one or several documents in a file. The output consists of values of the plain
//! types of `ugas-doc`, each with its file and line. Text is parsed once into a tree of [`Node`]s with line and column.
//! Every typed value is read from that tree, so that an error points at the exact word to change. Input is not trusted:
//! size, nesting and alias expansion are limited (see [`limits`]), and invalid data never causes a panic.
//!
//! Reading does not check references or game rules. The rules builder checks references and game rules: for example,
//! whether a named effect exists and whether a period is valid.
//!
//! ```
//! let text = "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Instant\n";
//! let documents = ugas_data::read_str("hit.yaml", text).unwrap();
//! assert_eq!(documents.docs[0].doc.name(), "GE_Hit");
//!
//! let errors = ugas_data::read_str("hit.yaml", "Kind: gameplay_effect\nNmae: GE_Hit\n").unwrap_err();
//! assert_eq!((errors[0].line, errors[0].column), (2, 1));
//! assert_eq!(errors[0].help.as_deref(), Some("did you mean \"Name\"?"));
//! ```

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod assemble;
mod bounds;
mod csv;
mod de;
mod diagnostic;
mod error;
mod excerpt;
mod fault;
mod finding_page;
mod fix;
mod folder;
mod form;
mod format;
mod host;
mod kind;
pub mod language;
pub mod limits;
mod lines;
mod lint;
mod locate;
mod mask;
mod names;
mod pack;
mod parse;
mod patch;
mod placeholder;
mod portable;
mod printable;
mod project;
mod read;
#[cfg(feature = "schema")]
mod reference;
mod reload;
mod resolve;
mod scalar;
mod scene;
#[cfg(feature = "schema")]
mod schema;
mod spelling;
mod stat_rule;
mod symbol;
mod tables;
mod tree;
mod unread;
#[cfg(feature = "watch")]
mod watch;
mod write;

pub use de::from_node;
pub use diagnostic::{Diagnostic, Edit, Fix, Severity, byte_at, place_of};
pub use error::{Code, ReadError, ReadErrors};
pub use excerpt::Excerpt;
pub use finding_page::{FindingPage, finding_page, finding_pages};
pub use fix::{AppliedFix, FileFix};
pub use folder::{read_file, read_folder};
pub use form::{FormError, Step, set_value};
pub use format::format;
pub use kind::{KindName, UNSUPPORTED_KINDS, kind_of};
pub use lint::{Rule, lint_rule, lint_rules};
pub use locate::place_issue;
pub use pack::{HostNames, Pack, PackFile, PackSet, read_pack_file, read_packs};
pub use parse::read_trees;
pub use printable::{printable, printable_line};
pub use project::{DocSet, Project, Source, SourceDoc};
pub use read::{Documents, Loaded, doc_from_node, read_str};
#[cfg(feature = "schema")]
pub use reference::{REFERENCE_EXAMPLES, reference_pages};
pub use reload::Reloader;
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use spelling::nearest;
pub use symbol::{Mention, SymbolKind, mentions};
pub use tree::{Entry, Node, NodeValue, Span};
#[cfg(feature = "watch")]
pub use watch::{Watch, WatchError};
pub use write::to_yaml;
