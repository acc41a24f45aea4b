//! A game with an attached studio: `cargo run -p ugas-studio --example attach`.
//!
//! Two mages shoot at each other. The game keeps its world, its loop and its time. The studio shows the world, answers
//! requests and passes commands to the game.

use std::time::Duration;
use ugas_core::{Anchor, ControllerId, Facts, Sim, SimConfig, SimTime, SpawnSpec, Target};
use ugas_studio::attach::{AttachConfig, Attached, Command};
use ugas_studio::{Library, Profiler, arena};

/// The state of the game outside its world.
#[derive(Default)]
struct Game {
    paused: bool,
    /// Ticks to run while paused.
    steps: u32,
}

impl Game {
    /// Handles commands about time itself; runs the others as ops.
    fn run(&mut self, sim: &mut Sim, command: Command) -> Result<(), String> {
        match command {
            Command::Pause(paused) => self.paused = paused,
            Command::Step(ticks) => (self.paused, self.steps) = (true, ticks),
            Command::Speed(_) => return Err("this game has one speed".to_owned()),
            command => return command.run(sim),
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let library = Library::new(arena::project(), Some("arena".as_ref())).map_err(|f| f[0].message.clone())?;
    let rules = library.rules().clone();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let template = rules.template("Pyra")?;
    let bolt = rules.ability("GA_Firebolt")?;
    let mut heroes: Vec<ControllerId> = Vec::new();
    // The token is a secret; a game takes it from the operating system's random numbers. The random keys of the hasher are
    // sufficient for an example.
    let chance = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id());
    let mut config = AttachConfig { token: format!("{chance:016x}"), ..AttachConfig::default() };
    for (name, x) in [("Left", -5.0), ("Right", 5.0)] {
        let anchor = Some(Anchor::at([x, 0.0, 0.0]));
        let who = sim.spawn(SpawnSpec { anchor, ..SpawnSpec::template(template) })?;
        config.names.set(who, name);
        heroes.push(who);
    }

    let mut studio = Attached::open(config)?;
    println!("open {}", studio.address());

    let (mut game, mut profiler, mut facts) = (Game::default(), Profiler::default(), Facts::default());
    // An argument limits the number of frames.
    let frames: Option<u32> = std::env::args().nth(1).and_then(|n| n.parse().ok());
    for frame in 0.. {
        if frames == Some(frame) {
            break;
        }
        facts.list.clear();
        if !game.paused || game.steps > 0 {
            game.steps = game.steps.saturating_sub(1);
            for (&who, &foe) in heroes.iter().zip(heroes.iter().rev()) {
                // If it is refused, the next frame tries again.
                let _ = sim.activate(who, bolt, Target::Controller(foe));
            }
            sim.advance_with(sim.now() + SimTime::frames(1, 60), &mut profiler);
            sim.take_facts(&mut facts);
            studio.take_records(&mut profiler);
        }
        studio.tick(&mut sim, &facts, &mut |sim, command| game.run(sim, command));
        std::thread::sleep(Duration::from_millis(16));
    }
    Ok(())
}
