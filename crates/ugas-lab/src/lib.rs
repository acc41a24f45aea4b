//! The lab: scenarios and what can be learnt from running them.
//!
//! A scenario is a YAML document that says what exists, what happens when, and what must hold. The same file is a
//! regression test, an experiment in balance and a demo. Here it is read ([`Scenario`]), run ([`run_str`],
//! [`check_folder`]), sampled over time ([`sample()`]), asked for explanations ([`explain()`], [`why_not()`]) and checked without
//! running ([`check_path`]). The command line is a thin layer over this crate, and a game can run its own scenarios
//! from its own tests:
//!
//! ```no_run
//! # fn main() {
//! ugas_lab::check_folder("scenarios").assert_ok();
//! # }
//! ```
//!
//! Deliberately absent: rules of the game. What an effect does is decided in `ugas-core`; the lab only asks and
//! compares.

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

pub use check::{check_path, check_path_with, check_scenarios, with_scenarios};
pub use explain::{ExplainError, explain};
pub use facts::facts;
pub use files::{files_at, text_of};
pub use harness::{check_folder, choose, is_pack_file, load_file, nothing_at, run_file, run_str, run_str_with};
pub use packs::load_pack;
pub use preview::{PreviewOf, Previewed, PreviewedActor, preview};
pub use report::{Failure, Report, Results};
pub use run::RunOptions;
pub use run::film::Film;
pub use run::live::{Live, NotTaken};
pub use run::parts::{ClientPart, NotPlayed, ServerPart};
pub use run::rewind::Rewound;
pub use sample::{SampleOptions, SampleRow, Samples, Spread, sample};
pub use scenario::{NetClient, Network, Place, Scenario, parse_time};
pub use why_not::why_not;

// What the book shows in Rust is compiled with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/packs.md")]
mod book_packs {}
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/scenarios.md")]
mod book_scenarios {}
