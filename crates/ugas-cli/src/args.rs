//! The arguments as they are written; help comes from here.

use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

use crate::machines::Endpoint;

const EXAMPLES: &str = "\
Without a command: the demo, as `ugas demo`.

Examples, from the root of the repository:
  ugas init my_game
  ugas test scenarios
  ugas sim scenarios/worked/rpg.yaml
  ugas explain scenarios/worked/rpg.yaml --actor Barbarian --attribute WeaponDamage --at 0

In a clone of the repository, `cargo ugas` is the same command.";

/// The seed of everything that happens where none is asked for.
const SEED: u64 = ugas_studio::session::SEED;
/// The highest seed of a world in a browser: above it numbers are not exact there.
const MOST_SEED: u64 = 1 << 53;

/// Scenarios and documents of a gameplay-ability runtime, on the command line.
#[derive(Debug, Parser)]
#[command(name = "ugas", version, about, after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the demo in a browser: a duel under lag.
    Demo(DemoArgs),
    /// Open a pack or a scenario in the studio: watch it, ask it, drive it, change it.
    Studio(StudioArgs),
    /// Write a small project to start from into a new folder.
    Init(InitArgs),
    /// Run scenarios and say what does not hold.
    Test(TestArgs),
    /// Show every attribute of a scenario over time.
    Sim(SimArgs),
    /// Show how a number came about.
    Explain(ExplainArgs),
    /// Show what speaks against activating an ability.
    WhyNot(WhyNotArgs),
    /// Preview what an effect or an ability would do, without doing it.
    Preview(PreviewArgs),
    /// Check documents and scenarios without running them.
    Check(CheckArgs),
    /// Write the JSON Schemas of the documents.
    Schema(SchemaArgs),
    /// Mend what can be mended safely, keeping comments and order.
    Fix(FixArgs),
    /// Show what a lint rule is about, or list all rules.
    ExplainLint(ExplainLintArgs),
    /// Put files into the house's shape; comments, key order and values stay.
    Fmt(FmtArgs),
    /// Show a definition: what it does, its text for players, what uses it.
    Show(ShowArgs),
    /// Keep the world of a scenario and reload its documents whenever a file is saved.
    Watch(WatchArgs),
    /// Serve an editor on standard input and output (Language Server Protocol).
    Lsp(LspArgs),
    /// Host the world of a scenario with `Network:` and play the server's part.
    Serve(ServeArgs),
    /// Connect to `ugas serve` as one of the scenario's clients and play its part.
    Bot(BotArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Draw it in this terminal instead.
    #[arg(long)]
    pub(crate) tty: bool,
    /// The seed of everything that happens.
    #[arg(long, value_name = "S", default_value_t = SEED, value_parser = clap::value_parser!(u64).range(..=MOST_SEED))]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// End at this tick; with --tty.
    #[arg(long, value_name = "N", requires = "tty")]
    pub(crate) ticks: Option<u32>,
}

/// Without a command.
impl Default for DemoArgs {
    fn default() -> DemoArgs {
        DemoArgs { tty: false, seed: SEED, page: PageArgs::default(), ticks: None }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct StudioArgs {
    /// A folder with a pack, a document or a scenario file; the demo's world without it.
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// The seed of everything that happens; by default a scenario's own, and 7 elsewhere.
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(..=MOST_SEED))]
    pub(crate) seed: Option<u64>,
    /// Which scenario of the file: its name, or its number counted from 1; the first by default.
    #[arg(long, value_name = "NAME|N", requires = "path")]
    pub(crate) scenario: Option<String>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

/// Where a world is shown in a browser.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct PageArgs {
    /// The port of this machine's own address; 7700 or any free one by default.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Open it in this machine's browser at once.
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// The folder; it is made, or must be empty.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TestArgs {
    /// Scenario files, or folders of them.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Write which scenario passed to a JSON file, even if some failed.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Run again whenever a file is saved.
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    /// A scenario file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Which scenario of the file: its name, or its number counted from 1.
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SimArgs {
    /// A scenario file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = SimFormat::Table)]
    pub(crate) format: SimFormat,
    /// Run it that many times, each with the next seed, and show mean, minimum and maximum.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) runs: u32,
    /// The first seed; the scenario's own by default.
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Which scenario of the file: its name, or its number counted from 1.
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
    /// Only actors whose controller is filed under this `DebugCategory`.
    #[arg(long, value_name = "CATEGORY")]
    pub(crate) category: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SimFormat {
    Table,
    Csv,
    Json,
    /// Everything that happens, one line each, for people.
    Facts,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// A scenario file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Whose attribute.
    #[arg(long, value_name = "A")]
    pub(crate) actor: String,
    /// Which attribute.
    #[arg(long, value_name = "X")]
    pub(crate) attribute: String,
    /// When: seconds (1.5), frames (12f) or milliseconds (250ms). What happens at that time has happened.
    #[arg(long, value_name = "T")]
    pub(crate) at: String,
    /// Which scenario of the file: its name, or its number counted from 1.
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WhyNotArgs {
    /// A scenario file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Whose ability.
    #[arg(long, value_name = "A")]
    pub(crate) actor: String,
    /// Which ability.
    #[arg(long, value_name = "G")]
    pub(crate) ability: String,
    /// At whom.
    #[arg(long, value_name = "A")]
    pub(crate) target: Option<String>,
    /// When: seconds (1.5), frames (12f) or milliseconds (250ms). What happens at that time has happened.
    #[arg(long, value_name = "T")]
    pub(crate) at: String,
    /// Which scenario of the file: its name, or its number counted from 1.
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("of").required(true).args(["effect", "ability"]))]
pub(crate) struct PreviewArgs {
    /// A scenario file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The actor that gets the effect or uses the ability.
    #[arg(long, value_name = "A")]
    pub(crate) actor: String,
    /// Which effect.
    #[arg(long, value_name = "E")]
    pub(crate) effect: Option<String>,
    /// The actor that is the effect's source.
    #[arg(long, value_name = "A", requires = "effect")]
    pub(crate) from: Option<String>,
    /// The effect's level.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "effect")]
    pub(crate) level: u32,
    /// The effect's stacks.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "effect")]
    pub(crate) stacks: u32,
    /// Which ability.
    #[arg(long, value_name = "G")]
    pub(crate) ability: Option<String>,
    /// The actor the ability is used on.
    #[arg(long, value_name = "A", requires = "ability")]
    pub(crate) target: Option<String>,
    /// When: seconds (1.5), frames (12f) or milliseconds (250ms). What happens at that time has happened.
    #[arg(long, value_name = "T")]
    pub(crate) at: String,
    /// Which scenario of the file: its name, or its number counted from 1.
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = PreviewFormat::Table)]
    pub(crate) format: PreviewFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PreviewFormat {
    /// Every attribute before and after, tags and effects, for people.
    Table,
    /// One object for tools.
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FmtArgs {
    /// Files or folders.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Only say which files are not in shape; exit with 1 if there are any.
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The name of a tag, attribute, effect, ability or anything else that is defined.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// A file or a folder.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,
    /// The level that numbers are shown for.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) level: u32,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LspArgs {
    /// The folder to look at; by default the one that the editor has open.
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("who").required(true).args(["tokens", "insecure"])))]
pub(crate) struct ServeArgs {
    /// A scenario file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Where to listen: udp://127.0.0.1:4000 or ws://127.0.0.1:4000 (WebSocket), one of each at most; port 0 takes a
    /// free one. What it came to is printed first.
    #[arg(long, value_name = "ADDRESS", default_value = "udp://127.0.0.1:0")]
    pub(crate) listen: Vec<Endpoint>,
    /// Let in only who has a token, and write one for each client to this folder, such as `Ana.udp.token`. The key is new
    /// with every start and never leaves the server.
    #[arg(long, value_name = "DIR")]
    pub(crate) tokens: Option<PathBuf>,
    /// Let in everybody who says a client's name, without a token: for one machine, or a network among friends.
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Roll the same each time, from this seed, as `ugas test` does with the scenario's own. Without it clients roll from
    /// a secret that is new with every start.
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
    /// How many seconds to wait for the clients.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) wait: u32,
    /// Which scenario of the file: its name, or its number counted from 1.
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("how").required(true).args(["token", "connect"])))]
pub(crate) struct BotArgs {
    /// The scenario file that the server plays.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Which client to be.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: String,
    /// Connect with a token that the server wrote; it knows the address.
    #[arg(long, value_name = "FILE")]
    pub(crate) token: Option<PathBuf>,
    /// Connect to a server that runs with --insecure: udp://127.0.0.1:4000 or ws://127.0.0.1:4000.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) connect: Option<Endpoint>,
    /// How many seconds to wait for the server and the other clients.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) wait: u32,
    /// Which scenario of the file: its name, or its number counted from 1.
    #[arg(long, value_name = "NAME|N")]
    pub(crate) scenario: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Files or folders; each path is one set of documents.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// How to print what was found.
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub(crate) format: CheckFormat,
    /// Count these as errors too.
    #[arg(long, value_enum)]
    pub(crate) deny: Option<Deny>,
    /// Also list every use of a field or kind that goes beyond the specification.
    #[arg(long)]
    pub(crate) portable: bool,
    /// Look with the rules that sound data breaks too.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Check again whenever a file is saved.
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// The folder to write one file for each kind and `ugas.json` for all to; without it `ugas.json` is printed.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the reference pages of the book to this folder instead, one file per kind and `index.md`
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(crate) reference: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FixArgs {
    /// Files or folders; each path is one set of documents.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Show what would be changed and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainLintArgs {
    /// The rule; all of them without it.
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people: place, message, and the line it is about.
    Text,
    /// One object for tools.
    Json,
    /// SARIF 2.1.0, for code review and scanning services.
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Deny {
    Warnings,
}
