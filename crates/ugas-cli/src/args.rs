//! The command line arguments and their help.

use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

use crate::machines::Endpoint;

const EXAMPLES: &str = "\
Without a command, `ugas` runs `ugas demo`.

Examples (run them in the root of the repository):
  ugas init my_game
  ugas test scenarios
  ugas sim scenarios/worked/rpg.yaml
  ugas explain scenarios/worked/rpg.yaml --actor Barbarian --attribute WeaponDamage --at 0

In a clone of the repository, run `cargo ugas` instead of `ugas`.";

/// The default random seed.
const SEED: u64 = ugas_studio::session::SEED;
/// The largest seed. JavaScript cannot represent larger integers exactly.
const MOST_SEED: u64 = 1 << 53;

/// Run, check and inspect gameplay-ability scenarios and documents.
#[derive(Debug, Parser)]
#[command(name = "ugas", version, about, after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the demo, a duel over a network with latency, and serve it to a browser
    Demo(DemoArgs),
    /// Open a pack or a scenario in the studio to run, inspect and edit it
    Studio(StudioArgs),
    /// Create a starter project in a new folder
    Init(InitArgs),
    /// Run scenarios and report failed expectations
    Test(TestArgs),
    /// Run a scenario and print every attribute over time
    Sim(SimArgs),
    /// Explain how the value of an attribute is computed, or list the capabilities of an actor
    Explain(ExplainArgs),
    /// Explain why an ability cannot be activated, or why a capability is not active
    WhyNot(WhyNotArgs),
    /// Preview what an effect or an ability would do, without changing the world
    Preview(PreviewArgs),
    /// Check documents and scenarios without running them
    Check(CheckArgs),
    /// Write the JSON Schemas of the documents
    Schema(SchemaArgs),
    /// Apply the safe fixes of `ugas check`, and keep comments and key order
    Fix(FixArgs),
    /// Explain a finding id of `ugas check`, or list all finding ids
    ExplainLint(ExplainLintArgs),
    /// Format files and keep comments, key order and values
    Fmt(FmtArgs),
    /// Show a definition, its description for players and its references
    Show(ShowArgs),
    /// Run a scenario and reload its documents whenever a file is saved
    Watch(WatchArgs),
    /// Run the language server on standard input and output
    Lsp(LspArgs),
    /// Run the server of a scenario that has a `Network:` section
    Serve(ServeArgs),
    /// Connect to `ugas serve` and run one client of the scenario
    Bot(BotArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Draw the demo in the terminal instead of serving it to a browser
    #[arg(long)]
    pub(crate) tty: bool,
    /// Set the random seed
    #[arg(long, value_name = "S", default_value_t = SEED, value_parser = clap::value_parser!(u64).range(..=MOST_SEED))]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Stop at this tick; requires --tty
    #[arg(long, value_name = "N", requires = "tty")]
    pub(crate) ticks: Option<u32>,
}

/// The arguments of `ugas` without a command.
impl Default for DemoArgs {
    fn default() -> DemoArgs {
        DemoArgs { tty: false, seed: SEED, page: PageArgs::default(), ticks: None }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct StudioArgs {
    /// Pack folder, document file or scenario file to open [default: the demo]
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// Set the random seed [default: the seed of the scenario, otherwise 7]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(..=MOST_SEED))]
    pub(crate) seed: Option<u64>,
    /// Select a scenario of the file by name or by number, counted from 1 [default: the first]
    #[arg(long, value_name = "NAME|N", requires = "path")]
    pub(crate) scenario: Option<String>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

/// The local port of the studio, and whether `ugas` opens the studio in a browser.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct PageArgs {
    /// Listen on this local port [default: 7700, or a free port if 7700 is in use]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Open the studio in the default browser
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Folder to create; an existing folder must be empty
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TestArgs {
    /// Scenario files or folders
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Write the result of each scenario to a JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Run the scenarios again whenever a file is saved
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    /// Scenario file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Select a scenario of the file by name or by number, counted from 1 [default: the first]
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SimArgs {
    /// Scenario file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Select the output format
    #[arg(long, value_enum, default_value_t = SimFormat::Table)]
    pub(crate) format: SimFormat,
    /// Run the scenario N times with consecutive seeds and print the mean, minimum and maximum of every value
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) runs: u32,
    /// Set the first random seed [default: the seed of the scenario]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Select a scenario of the file by name or by number, counted from 1 [default: the first]
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
    /// Print only actors whose controller has this `DebugCategory`
    #[arg(long, value_name = "CATEGORY")]
    pub(crate) category: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SimFormat {
    Table,
    Csv,
    Json,
    /// One line of text for each fact
    Facts,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["attribute", "capabilities"]))]
pub(crate) struct ExplainArgs {
    /// Scenario file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Explain an attribute or the capabilities of this actor
    #[arg(long, value_name = "A")]
    pub(crate) actor: String,
    /// Explain the value of this attribute
    #[arg(long, value_name = "X")]
    pub(crate) attribute: Option<String>,
    /// List the capability sets, the state of each capability, and the blocks
    #[arg(long)]
    pub(crate) capabilities: bool,
    /// Run the scenario up to and including this time, then explain the value. Write seconds (1.5), frames (12f) or
    /// milliseconds (250ms)
    #[arg(long, value_name = "T")]
    pub(crate) at: String,
    /// Select a scenario of the file by name or by number, counted from 1 [default: the first]
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["ability", "capability"]))]
pub(crate) struct WhyNotArgs {
    /// Scenario file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Check an ability or a capability of this actor
    #[arg(long, value_name = "A")]
    pub(crate) actor: String,
    /// Check whether this ability can be activated
    #[arg(long, value_name = "G")]
    pub(crate) ability: Option<String>,
    /// Check why this capability is not active
    #[arg(long, value_name = "C", conflicts_with = "target")]
    pub(crate) capability: Option<String>,
    /// Check the activation on this target
    #[arg(long, value_name = "A")]
    pub(crate) target: Option<String>,
    /// Run the scenario up to and including this time, then check. Write seconds (1.5), frames (12f) or
    /// milliseconds (250ms)
    #[arg(long, value_name = "T")]
    pub(crate) at: String,
    /// Select a scenario of the file by name or by number, counted from 1 [default: the first]
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("of").required(true).args(["effect", "ability"]))]
pub(crate) struct PreviewArgs {
    /// Scenario file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Apply the effect to this actor, or activate the ability of this actor
    #[arg(long, value_name = "A")]
    pub(crate) actor: String,
    /// Preview the application of this effect
    #[arg(long, value_name = "E")]
    pub(crate) effect: Option<String>,
    /// Use this actor as the source of the effect [default: no source]
    #[arg(long, value_name = "A", requires = "effect")]
    pub(crate) from: Option<String>,
    /// Set the level of the effect
    #[arg(long, value_name = "N", default_value_t = 1, requires = "effect")]
    pub(crate) level: u32,
    /// Apply this many stacks of the effect
    #[arg(long, value_name = "N", default_value_t = 1, requires = "effect")]
    pub(crate) stacks: u32,
    /// Preview the activation of this ability
    #[arg(long, value_name = "G")]
    pub(crate) ability: Option<String>,
    /// Activate the ability on this target
    #[arg(long, value_name = "A", requires = "ability")]
    pub(crate) target: Option<String>,
    /// Run the scenario up to and including this time, then preview the change. Write seconds (1.5), frames (12f) or
    /// milliseconds (250ms)
    #[arg(long, value_name = "T")]
    pub(crate) at: String,
    /// Select a scenario of the file by name or by number, counted from 1 [default: the first]
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
    /// Select the output format
    #[arg(long, value_enum, default_value_t = PreviewFormat::Table)]
    pub(crate) format: PreviewFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PreviewFormat {
    /// The value of every attribute before and after the change, and the changed tags and effects
    Table,
    /// One JSON object
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FmtArgs {
    /// Files or folders
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// List files that are not formatted, without changing them; exit with code 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// Name of the tag, attribute, effect, ability or other definition to show
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// File or folder with the documents
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,
    /// Set the level for values that depend on a level
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) level: u32,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LspArgs {
    /// Folder with the documents [default: the workspace folders of the editor]
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("who").required(true).args(["tokens", "insecure"])))]
pub(crate) struct ServeArgs {
    /// Scenario file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Listen on this address, such as udp://127.0.0.1:4000 or ws://127.0.0.1:4000 (WebSocket). Repeat the option to
    /// listen on one UDP address and one WebSocket address. Port 0 selects a free port. The server prints its addresses
    /// when it starts
    #[arg(long, value_name = "ADDRESS", default_value = "udp://127.0.0.1:0")]
    pub(crate) listen: Vec<Endpoint>,
    /// Accept only clients that have a token, and write the token file of each client to this folder, for example
    /// `Ana.udp.token`. Each start of the server creates a new key, so tokens of an earlier start are rejected
    #[arg(long, value_name = "DIR")]
    pub(crate) tokens: Option<PathBuf>,
    /// Accept clients without a token if they send the name of a client in the scenario. Use this option only in local
    /// tests and on trusted networks
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Set the random seed, so that every run produces the same random numbers. Without --seed, the server derives the
    /// random numbers from a secret that changes at every start
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
    /// Wait at most this many seconds until all clients are connected
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) wait: u32,
    /// Select a scenario of the file by name or by number, counted from 1 [default: the first]
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("how").required(true).args(["token", "connect"])))]
pub(crate) struct BotArgs {
    /// Scenario file that the server runs
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Run the client with this name in the scenario
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: String,
    /// Connect with a token file written by the server; the file contains the server's address
    #[arg(long, value_name = "FILE")]
    pub(crate) token: Option<PathBuf>,
    /// Connect again with a token that was used before, for example after a crash; the server ends the old connection
    #[arg(long, requires = "token")]
    pub(crate) rejoin: bool,
    /// Connect to a server that runs with --insecure: udp://127.0.0.1:4000 or ws://127.0.0.1:4000
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) connect: Option<Endpoint>,
    /// Wait at most this many seconds for the server and the other clients
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) wait: u32,
    /// Select a scenario of the file by name or by number, counted from 1 [default: the first]
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Files or folders; the documents of each path are loaded together
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Select the output format
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub(crate) format: CheckFormat,
    /// Treat findings of this severity as errors
    #[arg(long, value_enum)]
    pub(crate) deny: Option<Deny>,
    /// Also list every field and document kind that extends the specification
    #[arg(long)]
    pub(crate) portable: bool,
    /// Also run the strict lint rules, which may report valid data
    #[arg(long)]
    pub(crate) strict: bool,
    /// Check the documents again whenever a file is saved
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// Write one file for each kind and `ugas.json` for all kinds to this folder [default: print `ugas.json`]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the reference pages of the book to this folder instead, one file per kind and `index.md`
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(crate) reference: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FixArgs {
    /// Files or folders; the documents of each path are loaded together
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// List the changes without writing them
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainLintArgs {
    /// Id of a finding [default: list all ids]
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// File position, message and source line
    Text,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code review and code scanning services
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Deny {
    Warnings,
}
