//! Lines, colours and exit codes. Writing returns errors instead of panicking, so that a closed pipe ends the
//! program quietly.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::process::ExitCode;
use ugas_data::ReadError;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// All is well.
    Good,
    /// Something failed or was found.
    Failed,
    /// Something could not be read or understood.
    Unreadable,
}

impl Exit {
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Colour {
    Red = 31,
    Green = 32,
    Yellow = 33,
    Blue = 34,
}

/// Standard output, with colours only if somebody is looking.
pub(crate) struct Out {
    to: BufWriter<Stdout>,
    coloured: bool,
}

impl Out {
    pub(crate) fn new() -> Out {
        let stdout = io::stdout();
        let coloured = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Out { to: BufWriter::new(stdout), coloured }
    }

    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.to, "{text}")
    }

    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        write!(self.to, "{text}")
    }

    pub(crate) fn paint(&self, colour: Colour, text: &str) -> String {
        match self.coloured {
            true => format!("\x1b[{}m{text}\x1b[0m", colour as u8),
            false => text.to_owned(),
        }
    }

    /// Shows what was written so far, before something else writes to the same terminal.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

/// A line to stderr; if nobody reads it, there is nobody to tell.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Errors about input, with what to do about them.
pub(crate) fn complain_about<'a>(errors: impl IntoIterator<Item = &'a ReadError>) {
    for error in errors {
        complain(&match error.line {
            0 => format!("{}: error: {}", error.file, error.message),
            line => format!("{}:{line}:{}: error: {}", error.file, error.column, error.message),
        });
        if let Some(help) = &error.help {
            complain(&format!("    {help}"));
        }
    }
}

/// `1 error`, `2 errors`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
