//! `ugas demo` and `ugas studio`: serve a running world to a browser. `ugas demo --tty` draws the demo in the terminal.

use crate::allocations::allocations;
use crate::args::{DemoArgs, PageArgs, StudioArgs};
use crate::clock::Watch;
use crate::output::{Colour, Exit, Line, Out, complain};
use std::io::{self, IsTerminal};
use std::process::{Command, Stdio};
use std::time::Duration;
use ugas_studio::recording::World;
use ugas_studio::serve::StudioServer;
use ugas_studio::session::{OpenOptions, SEED, Session};
use ugas_studio::{Backend, Summary};
use ugas_transport::random_bytes;

/// The preferred port, so that the URL stays the same between runs.
const PORT: u16 = 7700;
/// The title of the demo.
const DUEL: &str = "duel over a network with latency";

pub(crate) fn demo(args: &DemoArgs, out: &mut Out) -> io::Result<Exit> {
    match args.tty {
        true => match Session::duel(args.seed) {
            Ok(session) => in_terminal(session, args.ticks, out),
            Err(error) => failed(&error),
        },
        false => show(duel(args.seed), DUEL, &args.page, out),
    }
}

pub(crate) fn studio(args: &StudioArgs, out: &mut Out) -> io::Result<Exit> {
    let Some(path) = &args.path else {
        return show(duel(args.seed.unwrap_or(SEED)), DUEL, &args.page, out);
    };
    let choice = OpenOptions { seed: args.seed, scenario: args.scenario.clone() };
    let backend = Session::resolve_path(path).and_then(|path| Backend::at(&path, choice));
    if let Ok(backend) = &backend
        && let Some(script) = backend.recording().world().script()
        && args.scenario.is_none()
        && script.names().len() > 1
    {
        let count = script.names().len();
        complain(&format!(
            "note: {} has {count} scenarios; using the first (select another with --scenario or on the page Scenario)",
            path.display()
        ));
    }
    show(backend, &path.display().to_string(), &args.page, out)
}

fn duel(seed: u64) -> Result<Backend, String> {
    Backend::new(Box::new(Session::duel), seed)
}

fn failed(error: &str) -> io::Result<Exit> {
    complain(&format!("error: {error}"));
    Ok(Exit::Unreadable)
}

/// Serves a world to a browser.
fn show(backend: Result<Backend, String>, title: &str, page: &PageArgs, out: &mut Out) -> io::Result<Exit> {
    let backend = match backend {
        Ok(backend) => backend.with_counter(allocations),
        Err(error) => return failed(&error),
    };
    let token: String = random_bytes::<16>().iter().map(|b| format!("{b:02x}")).collect();
    let listening = match page.port {
        Some(port) => StudioServer::listen(port, &token),
        // The preferred port may be in use.
        None => StudioServer::listen(PORT, &token).or_else(|_| StudioServer::listen(0, &token)),
    };
    let studio = match listening {
        Ok(studio) => studio,
        Err(error) => {
            return failed(&format!(
                "cannot bind port {}: {error}; choose another with --port",
                page.port.unwrap_or(PORT)
            ));
        }
    };
    let address = studio.address()?;
    out.line(Line::from(format!("{title}: open ")).coloured(Colour::Green, address.as_str()))?;
    out.line("Press Ctrl+C to stop. The address is valid only on this machine and only until the program stops.")?;
    out.line("`ugas help` lists all commands.")?;
    out.flush()?;
    if page.open
        && let Err(error) = in_browser(&address)
    {
        complain(&format!("note: cannot open a browser: {error}; open the address yourself"));
    }
    studio.run(backend)?;
    Ok(Exit::Good)
}

/// Opens an address in the default browser without waiting for the browser.
fn in_browser(address: &str) -> io::Result<()> {
    let mut command = match std::env::consts::OS {
        "macos" => Command::new("open"),
        "windows" => {
            let mut command = Command::new("rundll32");
            command.arg("url.dll,FileProtocolHandler");
            command
        }
        _ => Command::new("xdg-open"),
    };
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(|_| ())
}

/// Draws the demo as text. A terminal shows ten pictures per second; other outputs get only the last state.
fn in_terminal(mut session: Session, ticks: Option<u32>, out: &mut Out) -> io::Result<Exit> {
    let is_terminal = io::stdout().is_terminal();
    let mut watch = Watch::start();
    let mut ahead = Duration::ZERO;
    let last = ticks.unwrap_or(if is_terminal { u32::MAX } else { 600 });
    while session.tick() < last {
        session.step();
        if is_terminal && session.tick().is_multiple_of(6) {
            out.clear_screen()?;
            picture(&mut session, out)?;
            out.line("")?;
            out.line("Press Ctrl+C to stop. Run `ugas demo` to open the demo in a browser.")?;
            out.flush()?;
            ahead += Duration::from_millis(100);
            ahead = ahead.saturating_sub(watch.lap());
            std::thread::sleep(ahead);
        }
    }
    if !is_terminal {
        picture(&mut session, out)?;
    }
    Ok(Exit::Good)
}

/// Draws the current state of the demo.
fn picture(session: &mut Session, out: &mut Out) -> io::Result<()> {
    let summary = Summary::of(session);
    out.line(format!("tick {}   state hash {:016x}", summary.tick, summary.hash))?;
    out.line("")?;
    for (side, actors) in &summary.sides {
        out.line(side)?;
        for actor in actors {
            let share = actor.health.zip(actor.most).map_or(0.0, |(v, most)| if most > 0.0 { v / most } else { 0.0 });
            let full = (share.clamp(0.0, 1.0) * 30.0).round() as usize;
            let bar = format!("{}{}", "█".repeat(full), "·".repeat(30 - full));
            let colour = if share * 3.0 < 1.0 { Colour::Red } else { Colour::Green };
            let cast = actor.cast.as_deref().map_or(String::new(), |cast| format!("  {cast}"));
            let line = Line::from(format!("  {:8} ", actor.name)).coloured(colour, bar);
            let health = actor.health.map_or("–".to_owned(), |v| format!("{v:.0}"));
            out.line(line.plain(format!(" {health:>5}{cast}")))?;
        }
    }
    if let Some([predicted, confirmed]) = summary.shots {
        out.line("")?;
        out.line(format!("round trip {} ms, {:.0} % packet loss", summary.round_trip, summary.loss * 100.0))?;
        let line = Line::from("shots per minute: ").coloured(Colour::Green, format!("{predicted:.0}"));
        let line = line.plain(" with a predicted cooldown, ").coloured(Colour::Red, format!("{confirmed:.0}"));
        out.line(line.plain(" with a cooldown confirmed by the server"))?;
        out.line(format!("cooldown shown twice: {} frames, missing: {} frames", summary.twice, summary.missing))?;
    }
    out.line("")?;
    out.text(&format!("{}\n", summary.why))
}
