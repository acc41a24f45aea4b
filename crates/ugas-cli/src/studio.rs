//! `ugas demo` and `ugas studio`: a running world in a browser, or the demo in the terminal.

use crate::allocations::allocations;
use crate::args::{DemoArgs, PageArgs, StudioArgs};
use crate::clock::Watch;
use crate::output::{Colour, Exit, Line, Out, complain};
use std::io::{self, IsTerminal};
use std::process::{Command, Stdio};
use std::time::Duration;
use ugas_studio::serve::Studio;
use ugas_studio::stage::{Choice, SEED, Stage};
use ugas_studio::tape::World;
use ugas_studio::{Desk, Glance};
use ugas_transport::random_bytes;

/// The preferred port, so that the address stays the same.
const PORT: u16 = 7700;
/// The title of the demo.
const DUEL: &str = "duel over a network with latency";

pub(crate) fn demo(args: &DemoArgs, out: &mut Out) -> io::Result<Exit> {
    match args.tty {
        true => match Stage::duel(args.seed) {
            Ok(stage) => in_terminal(stage, args.ticks, out),
            Err(error) => failed(&error),
        },
        false => show(duel(args.seed), DUEL, &args.page, out),
    }
}

pub(crate) fn studio(args: &StudioArgs, out: &mut Out) -> io::Result<Exit> {
    let Some(path) = &args.path else {
        return show(duel(args.seed.unwrap_or(SEED)), DUEL, &args.page, out);
    };
    let choice = Choice { seed: args.seed, scenario: args.scenario.clone() };
    let desk = Stage::place(path).and_then(|path| Desk::at(&path, choice));
    if let Ok(desk) = &desk
        && let Some(script) = desk.tape().world().script()
        && args.scenario.is_none()
        && script.names().len() > 1
    {
        let count = script.names().len();
        complain(&format!(
            "note: {} has {count} scenarios; this is the first (select another with --scenario or on the page Scenario)",
            path.display()
        ));
    }
    show(desk, &path.display().to_string(), &args.page, out)
}

fn duel(seed: u64) -> Result<Desk, String> {
    Desk::new(Box::new(Stage::duel), seed)
}

fn failed(error: &str) -> io::Result<Exit> {
    complain(&format!("error: {error}"));
    Ok(Exit::Unreadable)
}

/// Serves a world to a browser.
fn show(desk: Result<Desk, String>, title: &str, page: &PageArgs, out: &mut Out) -> io::Result<Exit> {
    let desk = match desk {
        Ok(desk) => desk.with_counter(allocations),
        Err(error) => return failed(&error),
    };
    let token: String = random_bytes::<16>().iter().map(|b| format!("{b:02x}")).collect();
    let listening = match page.port {
        Some(port) => Studio::listen(port, &token),
        // The preferred port may be in use.
        None => Studio::listen(PORT, &token).or_else(|_| Studio::listen(0, &token)),
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
    out.line("Press Ctrl+C to stop. The address works on this machine and for this run only.")?;
    out.line("`ugas help` lists all commands.")?;
    out.flush()?;
    if page.open
        && let Err(error) = in_browser(&address)
    {
        complain(&format!("note: cannot open a browser: {error}; open the address yourself"));
    }
    studio.run(desk)?;
    Ok(Exit::Good)
}

/// Opens an address in the default browser without waiting for it.
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

/// Draws the demo as text: ten times per second in a terminal, otherwise only the last state.
fn in_terminal(mut stage: Stage, ticks: Option<u32>, out: &mut Out) -> io::Result<Exit> {
    let is_terminal = io::stdout().is_terminal();
    let mut watch = Watch::start();
    let mut ahead = Duration::ZERO;
    let last = ticks.unwrap_or(if is_terminal { u32::MAX } else { 600 });
    while stage.tick() < last {
        stage.step();
        if is_terminal && stage.tick().is_multiple_of(6) {
            out.clear_screen()?;
            picture(&mut stage, out)?;
            out.line("")?;
            out.line("Press Ctrl+C to stop; `ugas demo` shows it in a browser")?;
            out.flush()?;
            ahead += Duration::from_millis(100);
            ahead = ahead.saturating_sub(watch.lap());
            std::thread::sleep(ahead);
        }
    }
    if !is_terminal {
        picture(&mut stage, out)?;
    }
    Ok(Exit::Good)
}

/// Draws the current state of the demo.
fn picture(stage: &mut Stage, out: &mut Out) -> io::Result<()> {
    let glance = Glance::of(stage);
    out.line(format!("tick {}   state {:016x}", glance.tick, glance.hash))?;
    out.line("")?;
    for (side, actors) in &glance.sides {
        out.line(side)?;
        for actor in actors {
            let most = if actor.most > 0.0 { actor.most } else { 1.0 };
            let full = ((actor.health / most).clamp(0.0, 1.0) * 30.0).round() as usize;
            let bar = format!("{}{}", "█".repeat(full), "·".repeat(30 - full));
            let colour = if actor.health * 3.0 < actor.most { Colour::Red } else { Colour::Green };
            let cast = actor.cast.as_deref().map_or(String::new(), |cast| format!("  {cast}"));
            let line = Line::from(format!("  {:8} ", actor.name)).coloured(colour, bar);
            out.line(line.plain(format!(" {:5.0}{cast}", actor.health)))?;
        }
    }
    if let Some([predicted, confirmed]) = glance.shots {
        out.line("")?;
        out.line(format!("round trip {} ms, {:.0} % packet loss", glance.round_trip, glance.loss * 100.0))?;
        let line = Line::from("shots per minute: ").coloured(Colour::Green, format!("{predicted:.0}"));
        let line = line.plain(" with a predicted cooldown, ").coloured(Colour::Red, format!("{confirmed:.0}"));
        out.line(line.plain(" with a cooldown confirmed by the server"))?;
        out.line(format!("modifier shown twice: {} frames, missing: {} frames", glance.twice, glance.missing))?;
    }
    out.line("")?;
    out.text(&format!("{}\n", glance.why))
}
