//! One session: a server with one world, the cheater, and other actors that stand still or act.

use super::account::{Account, Gain, Totals, Violation};
use super::cheat::{Cheater, Strategy};
use super::dice::Dice;
use super::forge::{CHEATER, Connection};
use super::limits::Limits;
use super::program::Docs;
use super::stage::{Cast, STAGES, Stage, load, spawn};
use ugas_core::{Facts, NoHost, SimTime, Target};
use ugas_doc::ControllerReplication;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::Tick;

/// A stage with its limits and the sims that sessions start from.
pub(crate) struct World {
    pub(crate) stage: &'static Stage,
    pub(crate) limits: Limits,
    casts: Vec<Cast>,
}

impl World {
    pub(crate) fn all() -> Vec<World> {
        STAGES.iter().map(World::new).collect()
    }

    fn new(stage: &'static Stage) -> World {
        let (rules, docs) = load(stage);
        let limits = Limits::new(stage, &rules, &Docs::new(docs.iter()));
        // One hero each, and all of them or two equal ones together.
        let heroes = stage.heroes.len();
        let mut chosen: Vec<Vec<usize>> = (0..heroes).map(|hero| vec![hero]).collect();
        chosen.push(vec![0, heroes - 1]);
        let casts = chosen.iter().map(|heroes| spawn(stage, &rules, heroes)).collect();
        World { stage, limits, casts }
    }
}

/// The result of a session.
pub(crate) struct Outcome {
    pub(crate) stage: &'static str,
    pub(crate) strategy: Strategy,
    pub(crate) violations: Vec<Violation>,
    pub(crate) totals: Totals,
    /// Successes, attempts and chance of each random roll.
    pub(crate) rolls: Vec<(u64, u64, f64)>,
    pub(crate) accepted: u64,
    pub(crate) ticks: u64,
}

/// The server's configuration of a session.
fn config(tick_length: SimTime) -> ServerConfig {
    ServerConfig { tick_length, replication: ControllerReplication::Full, ..ServerConfig::default() }
}

/// Plays the session of a seed.
pub(crate) fn play(worlds: &[World], seed: u64, strategy: Option<Strategy>) -> Outcome {
    let mut dice = Dice::new(seed);
    let world = &worlds[(seed / Strategy::ALL.len() as u64) as usize % worlds.len()];
    let strategy = strategy.unwrap_or(Strategy::ALL[seed as usize % Strategy::ALL.len()]);
    let cast = dice.pick(&world.casts);
    let rate = *dice.pick(&[60, 60, 60, 30, 20, 128]);
    let config = config(SimTime::frames(1, rate));
    let late = config.max_late_ticks;
    let late_seconds = f64::from(late) / rate as f64;
    let tick_seconds = 1.0 / rate as f64;
    let mut server = Server::new(cast.sim.clone(), config, Secret::known(seed));
    let client = server.connect(CHEATER, &cast.own).unwrap();
    let mut connection = Connection::join(&mut server, cast.own.len());
    if dice.percent(15) {
        connection.degrade(&mut dice);
    }
    let (own, others) = (cast.own.clone(), cast.others.clone());
    let limits = &world.limits;
    let last_tick = Tick(0);
    let mut cheater =
        Cheater { strategy, own: own.clone(), others: others.clone(), client, limits, late, base: 0, last_tick };
    let mut facts = Facts::default();
    server.take_facts(&mut facts);
    let mut accounts: Vec<Account> =
        own.iter().map(|&who| Account::new(limits, server.sim(), who, late_seconds)).collect();
    let others_act = dice.percent(30);
    let ticks = (*dice.pick(&[2, 4, 6]) * rate) as u64;
    for tick in 0..ticks {
        let commands = cheater.commands(&server, &mut dice);
        for account in &mut accounts {
            let who = account.who;
            account.asked_to_move |= commands.iter().any(|c| matches!(c.request, Request::Move { .. }) && c.request.who() == who);
        }
        if tick % 4 == 0 {
            connection.receive(&mut server);
        }
        connection.send(&mut server, &commands);
        for &who in &own {
            if dice.percent(4) {
                (world.stage.physics)(server.sim_mut(), who, &mut dice);
            }
        }
        if others_act && dice.percent(10) {
            let actor = *dice.pick(&others);
            let target = Target::Controller(*dice.pick(&own));
            let inputs = server.sim().grants(actor).unwrap().iter().filter_map(|g| g.input).collect::<Vec<_>>();
            if !inputs.is_empty() {
                // A refused press changes nothing.
                let _ = server.sim_mut().press(actor, *dice.pick(&inputs), target);
            }
        }
        server.step(&mut NoHost);
        server.take_facts(&mut facts);
        accounts.iter_mut().for_each(|account| account.take(server.sim(), &facts, tick_seconds));
    }
    summary(world, strategy, accounts, ticks)
}

fn summary(world: &World, strategy: Strategy, accounts: Vec<Account<'_>>, ticks: u64) -> Outcome {
    let mut totals = Totals::default();
    let mut rolls: Vec<(u64, u64, f64)> = world.limits.chances.iter().map(|c| (0, 0, c.chance)).collect();
    let mut violations = Vec::new();
    for account in accounts {
        totals.add(&account.totals);
        for (sum, (successes, attempts)) in rolls.iter_mut().zip(&account.rolls) {
            sum.0 += successes;
            sum.1 += attempts;
        }
        violations.extend(account.violations);
    }
    for &(successes, attempts, chance) in &rolls {
        if at_least(successes, attempts, chance) < 1e-10 {
            let text = format!("{successes} of {attempts} rolls with a chance of {chance} succeeded");
            violations.push(Violation { gain: Gain::Rolls, text });
        }
    }
    Outcome { stage: world.stage.name, strategy, violations, totals, rolls, accepted: totals.uses, ticks }
}

/// Returns the probability of at least this many successes (the upper tail of the binomial distribution).
pub(crate) fn at_least(successes: u64, attempts: u64, chance: f64) -> f64 {
    if successes as f64 <= attempts as f64 * chance {
        return 1.0;
    }
    if successes > attempts {
        return 0.0;
    }
    // The chance of exactly k successes, from the ratio of neighbouring terms, in logarithms.
    let ln_choose = |k: u64| (1..=k).map(|i| ((attempts - k + i) as f64 / i as f64).ln()).sum::<f64>();
    let term = |k: u64| ln_choose(k) + k as f64 * chance.ln() + (attempts - k) as f64 * (1.0 - chance).ln();
    (successes..=attempts).take(200).map(|k| term(k).exp()).sum()
}
