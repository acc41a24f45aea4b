//! `ugas demo` and `ugas studio`: a living world in a browser, or the demo's in the terminal.

use crate::allocations::allocations;
use crate::args::{DemoArgs, PageArgs, StudioArgs};
use crate::clock::Watch;
use crate::output::{Colour, Exit, Out, complain};
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};
use std::time::Duration;
use ugas_studio::recording::World;
use ugas_studio::serve::StudioServer;
use ugas_studio::session::{OpenOptions, SEED, Session};
use ugas_studio::{Backend, Summary};
use ugas_transport::random_bytes;

/// The port that is tried first, so that the address stays the same from day to day.
const PORT: u16 = 7700;
/// What the demo is called where its address is printed.
const DUEL: &str = "a duel under lag";

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
            "note: {} holds {count} scenarios; this is the first (the page Scenario and --scenario choose another)",
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

/// Shows a world in a browser.
fn show(backend: Result<Backend, String>, title: &str, page: &PageArgs, out: &mut Out) -> io::Result<Exit> {
    let backend = match backend {
        Ok(backend) => backend.with_counter(allocations),
        Err(error) => return failed(&error),
    };
    let token: String = random_bytes::<16>().iter().map(|b| format!("{b:02x}")).collect();
    let listening = match page.port {
        Some(port) => StudioServer::listen(port, &token),
        // Somebody else may be there already.
        None => StudioServer::listen(PORT, &token).or_else(|_| StudioServer::listen(0, &token)),
    };
    let studio = match listening {
        Ok(studio) => studio,
        Err(error) => return failed(&format!("nobody can listen on port {}: {error}", page.port.unwrap_or(PORT))),
    };
    let address = studio.address()?;
    out.line(&format!("{title}: open {}", out.paint(Colour::Green, &address)))?;
    out.line("it runs until you press Ctrl+C; the address is for this machine and this run only")?;
    out.line("everything else: `ugas help`")?;
    out.flush()?;
    if page.open
        && let Err(error) = in_browser(&address)
    {
        complain(&format!("note: no browser could be opened ({error}); open the address yourself"));
    }
    studio.run(backend)?;
    Ok(Exit::Good)
}

/// Asks the system to show an address; nobody waits for it.
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

/// The demo drawn in lines: one picture a tenth of a second where somebody looks, only the last one where nobody does.
fn in_terminal(mut session: Session, ticks: Option<u32>, out: &mut Out) -> io::Result<Exit> {
    let looks = io::stdout().is_terminal();
    let mut watch = Watch::start();
    let mut owed = Duration::ZERO;
    let last = ticks.unwrap_or(if looks { u32::MAX } else { 600 });
    while session.tick() < last {
        session.step();
        if looks && session.tick().is_multiple_of(6) {
            // From the corner on, over what was there.
            out.text(&format!("\x1b[H\x1b[2J{}", picture(&mut session, out)))?;
            out.text("\nCtrl+C ends it; `ugas demo` shows it in a browser\n")?;
            out.flush()?;
            owed += Duration::from_millis(100);
            owed = owed.saturating_sub(watch.lap());
            std::thread::sleep(owed);
        }
    }
    if !looks {
        out.text(&picture(&mut session, out))?;
        io::stdout().flush()?;
    }
    Ok(Exit::Good)
}

fn picture(session: &mut Session, out: &Out) -> String {
    let summary = Summary::of(session);
    let mut text = format!("tick {}   state {:016x}\n\n", summary.tick, summary.hash);
    for (side, actors) in &summary.sides {
        text += &format!("{side}\n");
        for actor in actors {
            let share = actor.health.zip(actor.most).map_or(0.0, |(v, most)| if most > 0.0 { v / most } else { 0.0 });
            let full = (share.clamp(0.0, 1.0) * 30.0).round() as usize;
            let bar = format!("{}{}", "█".repeat(full), "·".repeat(30 - full));
            let colour = if share * 3.0 < 1.0 { Colour::Red } else { Colour::Green };
            let does = actor.cast.as_deref().map_or(String::new(), |cast| format!("  {cast}"));
            let health = actor.health.map_or("–".to_owned(), |v| format!("{v:.0}"));
            text += &format!("  {:8} {} {health:>5}{does}\n", actor.name, out.paint(colour, &bar));
        }
    }
    if let Some([ahead, asking]) = summary.shots {
        text += &format!(
            "\nround trip {} ms, {:.0} % lost\nshots a minute: {} with the cooldown played ahead, {} confirmed by the server\n",
            summary.round_trip,
            summary.loss * 100.0,
            out.paint(Colour::Green, &format!("{ahead:.0}")),
            out.paint(Colour::Red, &format!("{asking:.0}")),
        );
        text += &format!("modifier shown twice: {} frames, missing: {} frames\n", summary.twice, summary.missing);
    }
    text + &format!("\n{}\n", summary.why)
}
