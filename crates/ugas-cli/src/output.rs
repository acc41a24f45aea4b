//! Writes lines, optionally coloured, and defines the exit codes. Control characters in texts are escaped, so that text
//! from files cannot control the terminal. Write errors are returned, so that the program ends without a message when a
//! pipe is closed.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::process::ExitCode;
use ugas_data::{ReadError, printable, printable_line};

/// The result of a command, which determines the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// The command succeeded.
    Good,
    /// A test, a check or a network session failed.
    Failed,
    /// An input is invalid, or a file, a port or another resource could not be opened, read or written.
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

/// One line of output: plain and coloured parts.
#[derive(Default)]
pub(crate) struct Line {
    parts: Vec<(Option<Colour>, String)>,
}

impl Line {
    /// Appends plain text.
    pub(crate) fn plain(mut self, text: impl Into<String>) -> Line {
        self.parts.push((None, text.into()));
        self
    }

    /// Appends coloured text.
    pub(crate) fn coloured(mut self, colour: Colour, text: impl Into<String>) -> Line {
        self.parts.push((Some(colour), text.into()));
        self
    }
}

impl<T: AsRef<str>> From<T> for Line {
    fn from(text: T) -> Line {
        Line::default().plain(text.as_ref())
    }
}

/// Standard output; lines are coloured if stdout is a terminal.
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

    /// Writes one line.
    pub(crate) fn line(&mut self, line: impl Into<Line>) -> io::Result<()> {
        for (colour, text) in line.into().parts {
            let text = printable_line(&text);
            match colour.filter(|_| self.coloured) {
                Some(colour) => write!(self.to, "\x1b[{}m{text}\x1b[0m", colour as u8)?,
                None => write!(self.to, "{text}")?,
            }
        }
        writeln!(self.to)
    }

    /// Writes a text of several lines.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        write!(self.to, "{}", printable(text))
    }

    /// Clears the screen and moves the cursor to the top left corner.
    pub(crate) fn clear_screen(&mut self) -> io::Result<()> {
        write!(self.to, "\x1b[H\x1b[2J")
    }

    /// Writes the buffered output, so that it appears before output that bypasses the buffer.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

/// Writes a message to stderr. A write error is ignored because no other output remains to report it.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

/// Writes errors about input files, each with its position and a suggested action.
pub(crate) fn complain_about<'a>(errors: impl IntoIterator<Item = &'a ReadError>) {
    for error in errors {
        let file = printable_line(&error.file);
        let message = printable_line(&error.message);
        complain(&match error.line {
            0 => format!("{file}: error: {message}"),
            line => format!("{file}:{line}:{}: error: {message}", error.column),
        });
        if let Some(help) = &error.help {
            complain(&format!("    {}", printable_line(help)));
        }
    }
}

/// Returns a count with its noun: `1 error`, `2 errors`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
