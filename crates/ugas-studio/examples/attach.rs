//! A game that runs its own world and lets the studio watch: `cargo run -p ugas-studio --example attach`.
//!
//! Two mages throw bolts at each other. The game keeps its world, its loop and its time; the studio shows it, answers
//! questions about it and hands over what somebody wants done.

use std::time::Duration;
use ugas_core::{Anchor, ControllerId, Facts, Sim, SimConfig, SimTime, SpawnSpec, Target};
use ugas_studio::attach::{AttachConfig, Attached, Order};
use ugas_studio::{Library, Profiler, arena};

/// What the game itself knows beside its world.
#[derive(Default)]
struct Game {
    paused: bool,
    /// Ticks to run although it stands still.
    steps: u32,
}

impl Game {
    /// Orders about time are the game's own; the others are ops like any.
    fn run(&mut self, sim: &mut Sim, order: Order) -> Result<(), String> {
        match order {
            Order::Pause(paused) => self.paused = paused,
            Order::Step(ticks) => (self.paused, self.steps) = (true, ticks),
            Order::Speed(_) => return Err("this game has one speed".to_owned()),
            order => return order.run(sim),
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
    // A token is a secret that nobody guesses; a game takes it from the operating system's random numbers. The hasher's
    // keys are random too, which will do for an example.
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
    // A number ends it after so many frames, for whoever has no time to look.
    let frames: Option<u32> = std::env::args().nth(1).and_then(|n| n.parse().ok());
    for frame in 0.. {
        if frames == Some(frame) {
            break;
        }
        facts.list.clear();
        if !game.paused || game.steps > 0 {
            game.steps = game.steps.saturating_sub(1);
            for (&who, &foe) in heroes.iter().zip(heroes.iter().rev()) {
                // Whoever cannot tries again in the next frame.
                let _ = sim.activate(who, bolt, Target::Controller(foe));
            }
            sim.advance_with(sim.now() + SimTime::frames(1, 60), &mut profiler);
            sim.take_facts(&mut facts);
            studio.take_records(&mut profiler);
        }
        studio.tick(&mut sim, &facts, &mut |sim, order| game.run(sim, order));
        std::thread::sleep(Duration::from_millis(16));
    }
    Ok(())
}
