//! Reads, checks and runs scenarios.
//!
//! A scenario is a YAML document with actors, a timeline of verbs, and expectations. The same file can be run as a
//! regression test, sampled to balance values, and opened in the studio. This crate reads scenarios ([`Scenario`]),
//! runs them ([`run_str`], [`check_folder`]), samples attributes over time ([`sample()`]), explains values and refusals
//! ([`explain()`], [`why_not()`]) and checks files without running them ([`check_path`]). The `ugas` command calls this
//! crate. A game can run its scenarios in its own tests:
//!
//! ```no_run
//! # fn main() {
//! ugas_lab::check_folder("scenarios").assert_ok();
//! # }
//! ```
//!
//! `ugas-core` implements effects and abilities; this crate only runs the verbs of scenarios and compares the results.

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod capability;
mod check;
mod explain;
mod facts;
mod files;
mod harness;
mod packs;
mod preview;
mod report;
mod run;
mod sample;
mod scenario;
mod why_not;

pub use capability::{describe_block_source, describe_capability_reason, explain_capabilities, why_not_capability};
pub use check::{check_path, check_path_with, check_scenarios, with_scenarios};
pub use explain::{ExplainError, explain};
pub use facts::facts;
pub use files::{files_at, text_of};
pub use harness::{check_folder, choose, is_pack_file, load_file, nothing_at, run_file, run_str, run_str_with};
pub use packs::load_pack;
pub use preview::{PreviewOf, Previewed, PreviewedActor, preview};
pub use report::{Failure, Report, Results};
pub use run::RunOptions;
pub use run::live::{Live, LiveReloadError};
pub use run::parts::{ClientPart, PartError, ServerPart};
pub use run::recorded::RecordedRun;
pub use run::rollback::RollbackReport;
pub use sample::{SampleOptions, SampleRow, Samples, Spread, sample};
pub use scenario::{NetClient, Network, Place, Scenario, longest_time, parse_time};
pub use why_not::why_not;

// Compiles and runs the Rust examples of the book as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/packs.md")]
mod book_packs {}
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/scenarios.md")]
mod book_scenarios {}
