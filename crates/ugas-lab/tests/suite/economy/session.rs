//! One session: a server with one world, the cheater, and other actors that stand still or act.

use super::account::{Account, Gain, Totals, Violation};
use super::cheat::{Cheater, Strategy};
use super::dice::Dice;
use super::forge::{CHEATER, Connection};
use super::limits::Limits;
use super::program::Docs;
use super::stage::{Cast, STAGES, Stage, load, spawn};
use ugas_core::{Facts, InputId, NoHost, Op, OpId, SimTime, Spec, Target, Which};
use ugas_doc::ControllerReplication;
use ugas_net::authority::MovementConfig;
use ugas_net::message::{Command, Request};
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
    pub(crate) ticks: u64,
}

/// The server's configuration of a session. Actors without the attribute `MoveSpeed` have the speed of the stage.
fn config(stage: &Stage, tick_length: SimTime) -> ServerConfig {
    let movement = MovementConfig { max_speed: stage.speed, ..MovementConfig::default() };
    ServerConfig { tick_length, replication: ControllerReplication::Full, movement, ..ServerConfig::default() }
}

/// How the requests of the cheater reach the sim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checks {
    /// As commands that the server checks.
    Server,
    /// As ops of the host that no check limits, to find out whether the limits notice each cheat.
    None,
}

/// What a seed decides about a session, except the play itself.
struct Setup<'w> {
    world: &'w World,
    cast: &'w Cast,
    strategy: Strategy,
    /// Ticks per second.
    rate: u32,
    ticks: u32,
    /// Whether the other actors act.
    others_act: bool,
    is_degraded: bool,
}

impl Setup<'_> {
    fn new<'w>(worlds: &'w [World], seed: u64, strategy: Option<Strategy>, dice: &mut Dice) -> Setup<'w> {
        let strategies = Strategy::ALL.len() as u64;
        let world = &worlds[(seed / strategies) as usize % worlds.len()];
        let is_second = (seed / strategies) as usize / worlds.len() % 2 == 1;
        let by_seed = match Strategy::ALL[(seed % strategies) as usize] {
            Strategy::Rolls if is_second => Strategy::Foresight,
            strategy => strategy,
        };
        let rate = *dice.pick(&[60, 60, 60, 30, 20, 128]);
        Setup {
            world,
            cast: dice.pick(&world.casts),
            strategy: strategy.unwrap_or(by_seed),
            rate,
            ticks: *dice.pick(&[2, 2, 4]) * rate,
            others_act: dice.percent(30),
            is_degraded: dice.percent(15),
        }
    }
}

/// Plays the session of a seed.
pub(crate) fn play(worlds: &[World], seed: u64, strategy: Option<Strategy>, checks: Checks) -> Outcome {
    let mut dice = Dice::new(seed);
    let setup = Setup::new(worlds, seed, strategy, &mut dice);
    let Setup { world, cast, strategy, rate, ticks, others_act, is_degraded } = setup;
    let config = config(world.stage, SimTime::frames(1, i64::from(rate)));
    let (late, tick_seconds) = (config.late_ticks(), 1.0 / f64::from(rate));
    let mut server = Server::new(cast.sim.clone(), config, Secret::known(seed));
    let client = server.connect(CHEATER, &cast.own).unwrap();
    let mut connection = Connection::join(&mut server, cast.own.len());
    if is_degraded {
        connection.degrade(&mut dice);
    }
    let mut cheater = Cheater::new(strategy, cast, client, &world.limits, late);
    let mut facts = Facts::default();
    server.take_facts(&mut facts);
    let account = |&who| Account::new(&world.limits, server.sim(), who, f64::from(late) * tick_seconds);
    let mut accounts: Vec<Account> = cast.own.iter().map(account).collect();
    for tick in 0..ticks {
        let commands = cheater.commands(&server, &connection, &mut dice);
        accounts.iter_mut().for_each(|account| account.note_moves(&commands));
        if tick % 4 == 0 {
            connection.receive(&mut server);
        }
        match checks {
            Checks::Server => connection.send(&mut server, &commands),
            Checks::None => run_unchecked(&mut server, client, &commands),
        }
        act(world, cast, &mut server, others_act, &mut dice);
        server.step(&mut NoHost);
        server.take_facts(&mut facts);
        accounts.iter_mut().for_each(|account| account.take(server.sim(), &facts, tick_seconds));
    }
    summary(world, strategy, accounts, ticks)
}

/// Runs the physics of the game and the actions of the other actors.
fn act(world: &World, cast: &Cast, server: &mut Server, others_act: bool, dice: &mut Dice) {
    for &who in &cast.own {
        if dice.percent(4) {
            (world.stage.physics)(server.sim_mut(), who, dice);
        }
    }
    if others_act && dice.percent(10) {
        let actor = *dice.pick(&cast.others);
        let target = Target::Controller(*dice.pick(&cast.own));
        let inputs: Vec<InputId> = server.sim().grants(actor).unwrap().iter().filter_map(|g| g.input).collect();
        if !inputs.is_empty() {
            // A refused press changes nothing.
            let _ = server.sim_mut().press(actor, *dice.pick(&inputs), target);
        }
    }
}

/// Runs the requests as ops of the host. An activation has the key and the tick that the cheater chose.
fn run_unchecked(server: &mut Server, client: u16, commands: &[Command]) {
    for command in commands {
        let op = unchecked_op(&command.request);
        let late = server.tick().plus(1).0.saturating_sub(command.tick.0);
        let ago = Tick(late).time(server.tick_length());
        let id = OpId::new(client, command.base, command.sub);
        let sim = server.sim_mut();
        // A refused op changes nothing.
        let _ = match op {
            Op::Activate { .. } => sim.remote_mut().run_late(id, &op, ago),
            op => sim.run(op),
        };
    }
}

/// Returns what a request asks for, as an op of the host.
fn unchecked_op(request: &Request) -> Op {
    match request.clone() {
        Request::Press { who, input, target } => Op::Press { who, input, target },
        Request::Release { who, input } => Op::Release { who, input },
        Request::Axis { who, input, value } => Op::Axis { who, input, value },
        Request::LetGo { who, input } => Op::LetGo { who, input },
        Request::Activate { who, ability, target } => Op::Activate { who, which: Which::Ability(ability), target },
        Request::Cancel { who, ability } => Op::Cancel { who, which: Which::Ability(ability) },
        Request::End { who, ability } => Op::End { who, which: Which::Ability(ability) },
        Request::Commit { who, ability } => Op::Commit { who, which: Which::Ability(ability) },
        Request::Apply { who, ability, effect, target } => {
            Op::Apply(Spec::new(effect, target).from(who).ability(ability))
        }
        Request::Complete { key, answer } => Op::Complete { key, answer },
        Request::Move { who, anchor } => Op::Move { who, anchor: Some(anchor) },
        Request::Aim { key, target, tick } => Op::Aim { key, target, tick },
        Request::Mispredicted { who, ability, target, .. } => Op::Mispredicted { who, ability, target },
    }
}

fn summary(world: &World, strategy: Strategy, accounts: Vec<Account<'_>>, ticks: u32) -> Outcome {
    let mut totals = Totals::default();
    let mut rolls: Vec<(u64, u64, f64)> = world.limits.chances.iter().map(|c| (0, 0, c.chance)).collect();
    let mut violations = Vec::new();
    for account in accounts {
        totals.add(&account.totals);
        // A client that knows the next roll does not begin a use that fails when the session ends.
        let not_begun = u64::from(strategy == Strategy::Foresight);
        for (sum, (successes, attempts)) in rolls.iter_mut().zip(&account.rolls) {
            sum.0 += successes;
            sum.1 += attempts + not_begun;
        }
        violations.extend(account.violations);
    }
    for &(successes, attempts, chance) in &rolls {
        if at_least(successes, attempts, chance) < 1e-10 {
            let text = format!("{successes} of {attempts} rolls with a chance of {chance} succeeded");
            violations.push(Violation { gain: Gain::Rolls, text });
        }
    }
    Outcome { stage: world.stage.name, strategy, violations, totals, rolls, ticks: u64::from(ticks) }
}

/// Returns the probability of at least this many successes (the upper tail of the binomial distribution).
pub(crate) fn at_least(successes: u64, attempts: u64, chance: f64) -> f64 {
    if successes as f64 <= attempts as f64 * chance {
        return 1.0;
    }
    if successes > attempts {
        return 0.0;
    }
    // The probability of exactly this many successes. The factors below 1 are mixed in where they keep the product near
    // 1.
    let (mut term, mut failures) = (1.0, attempts - successes);
    for i in 1..=successes {
        term *= (attempts - successes + i) as f64 / i as f64 * chance;
        while term > 1.0 && failures > 0 {
            term *= 1.0 - chance;
            failures -= 1;
        }
    }
    (0..failures).for_each(|_| term *= 1.0 - chance);
    // Each further success is rarer by the ratio of neighbouring terms.
    let odds = chance / (1.0 - chance);
    (successes..=attempts)
        .fold((0.0, term), |(sum, term), k| (sum + term, term * (attempts - k) as f64 / (k + 1) as f64 * odds))
        .0
}

#[test]
fn the_upper_tail_of_the_binomial_distribution_is_exact() {
    assert!((at_least(3, 4, 0.5) - 5.0 / 16.0).abs() < 1e-12);
    assert!((at_least(2, 2, 0.05) - 0.0025).abs() < 1e-12);
    assert_eq!(at_least(1, 20, 0.05), 1.0, "as many as expected");
    // Three standard deviations above the mean of a large number: about 1 in 700.
    let tail = at_least(5_207, 100_000, 0.05);
    assert!((0.001..0.002).contains(&tail), "{tail}");
}
