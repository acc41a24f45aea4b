//! The `ugas` command. It parses arguments, calls the other crates of the project, and prints the results.
//!
//! Exit codes: 0 for success, 1 if a test, a check or a network session failed, 2 if an input is invalid or a file, a
//! port or another resource could not be opened, read or written. The program writes results to stdout and errors to
//! stderr. A closed pipe (`ugas … | head`) is not an error.

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod allocations;
mod args;
mod bot;
mod check;
mod clock;
mod explain;
mod explain_lint;
mod fix;
mod fmt;
mod init;
mod lsp;
mod machines;
mod output;
mod preview;
mod sarif;
mod schema;
mod serve;
mod show;
mod sim;
mod studio;
mod test;
mod watch;
mod why_not;

use args::{Args, Command, DemoArgs};
use clap::Parser;
use output::{Exit, Out};
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let mut out = Out::new();
    match run(args, &mut out).and_then(|exit| out.finish().map(|()| exit)) {
        Ok(exit) => exit.code(),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Good.code(),
        Err(error) => {
            output::complain(&format!("ugas: {error}"));
            Exit::Unreadable.code()
        }
    }
}

fn run(args: Args, out: &mut Out) -> io::Result<Exit> {
    match args.command {
        None => studio::demo(&DemoArgs::default(), out),
        Some(Command::Demo(args)) => studio::demo(&args, out),
        Some(Command::Studio(args)) => studio::studio(&args, out),
        Some(Command::Init(args)) => init::run(&args, out),
        Some(Command::Test(args)) if args.watch => watch::repeat(&args.paths, out, |out| test::run(&args, out)),
        Some(Command::Check(args)) if args.watch => watch::repeat(&args.paths, out, |out| check::run(&args, out)),
        Some(Command::Test(args)) => test::run(&args, out),
        Some(Command::Sim(args)) => sim::run(&args, out),
        Some(Command::Explain(args)) => explain::run(&args, out),
        Some(Command::WhyNot(args)) => why_not::run(&args, out),
        Some(Command::Preview(args)) => preview::run(&args, out),
        Some(Command::Check(args)) => check::run(&args, out),
        Some(Command::Schema(args)) => schema::run(&args, out),
        Some(Command::Fix(args)) => fix::run(&args, out),
        Some(Command::ExplainLint(args)) => explain_lint::run(&args, out),
        Some(Command::Fmt(args)) => fmt::run(&args, out),
        Some(Command::Show(args)) => show::run(&args, out),
        Some(Command::Watch(args)) => watch::run(&args, out),
        Some(Command::Lsp(args)) => lsp::run(&args),
        Some(Command::Serve(args)) => serve::run(&args, out),
        Some(Command::Bot(args)) => bot::run(&args, out),
    }
}
