//! The cheating client: named strategies that build requests, ticks and keys that an unmodified client would not send.

use super::dice::Dice;
use super::forge::Connection;
use super::limits::{ChanceLimits, Limits};
use super::stage::Cast;
use ugas_core::{
    AbilityId, ActivationKey, Anchor, Answer, ControllerId, EffectId, Fact, FactKind, Facts, GrantView, Hit, InputId,
    NoHost, Op, OpId, Sim, SimTime, TagId, Target, TaskKey, Which,
};
use ugas_net::message::{Command, Request};
use ugas_net::server::Server;
use ugas_net::types::Tick;

/// The keys that the cheater tries for each roll.
const TRIES: u32 = 24;

/// What the cheater does most of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strategy {
    /// No cheat: the limits must allow all of it.
    Honest,
    /// Any request with any key, tick, target and answer.
    Noise,
    /// Searches the keys with which random rolls succeed.
    Rolls,
    /// Applies effects of running abilities.
    Apply,
    /// Answers waiting tasks early.
    Complete,
    /// Ends abilities early.
    End,
    /// Moves to a distant target, hits it, and moves back.
    Movement,
    /// Cancels abilities and activates them again.
    Cancel,
    /// Claims the earliest tick for each command, or a future tick. Holds inputs and releases them as of an old tick.
    Ticks,
    /// Reports hits that did not happen.
    Hits,
    /// Commits early, aims again, claims mispredictions, and sends commands again.
    Misc,
    /// Knows the next roll of an ability, and waits for a tick in which it succeeds. Half of the sessions of
    /// [`Strategy::Rolls`] are played with it.
    Foresight,
}

impl Strategy {
    pub(crate) const ALL: [Strategy; 11] = [
        Strategy::Honest,
        Strategy::Noise,
        Strategy::Rolls,
        Strategy::Apply,
        Strategy::Complete,
        Strategy::End,
        Strategy::Movement,
        Strategy::Cancel,
        Strategy::Ticks,
        Strategy::Hits,
        Strategy::Misc,
    ];

    /// Returns the strategy with a name.
    pub(crate) fn named(name: &str) -> Option<Strategy> {
        Strategy::ALL.into_iter().chain([Strategy::Foresight]).find(|s| s.name() == name)
    }

    pub(crate) fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// The requests of one tick, with a tick or a key that the strategy chose.
struct Forged {
    request: Request,
    tick: Option<Tick>,
    base: Option<u32>,
    sub: Option<u16>,
}

impl From<Request> for Forged {
    fn from(request: Request) -> Forged {
        Forged { request, tick: None, base: None, sub: None }
    }
}

pub(crate) struct Cheater<'l> {
    strategy: Strategy,
    own: Vec<ControllerId>,
    others: Vec<ControllerId>,
    /// The number of the client.
    client: u16,
    limits: &'l Limits,
    /// How late a command may be, in ticks.
    late: u32,
    base: u32,
    last_tick: Tick,
    /// A command that was sent, to send it again.
    sent: Option<Command>,
}

impl<'l> Cheater<'l> {
    pub(crate) fn new(strategy: Strategy, cast: &Cast, client: u16, limits: &'l Limits, late: u32) -> Cheater<'l> {
        let (own, others) = (cast.own.clone(), cast.others.clone());
        Cheater { strategy, own, others, client, limits, late, base: 0, last_tick: Tick(0), sent: None }
    }

    /// Returns the commands of one tick.
    pub(crate) fn commands(&mut self, server: &Server, connection: &Connection, dice: &mut Dice) -> Vec<Command> {
        let sim = server.sim();
        let who = *dice.pick(&self.own);
        let mut forged = self.strategic(server, connection, who, dice);
        let is_pure = matches!(self.strategy, Strategy::Honest | Strategy::Foresight);
        let is_waiting = self.strategy == Strategy::Ticks && forged.is_empty();
        if !is_pure && !is_waiting && dice.percent(15) {
            let noise = self.noise(sim, who, dice);
            // Only two strategies move, so that the others are not stopped for it.
            let moves = matches!(noise.request, Request::Move { .. });
            if !moves || matches!(self.strategy, Strategy::Noise | Strategy::Movement) {
                forged.push(noise);
            }
        }
        self.base += 1;
        let (mut sub, mut commands) = (0, Vec::new());
        for one in forged {
            let tick = one.tick.unwrap_or(server.tick().plus(1)).max(self.last_tick);
            let is_noise = one.tick.is_some() && self.strategy != Strategy::Ticks;
            if !is_noise {
                self.last_tick = tick;
            }
            let base = one.base.unwrap_or(self.base);
            self.base = self.base.max(base);
            let key_sub = one.sub.unwrap_or(sub);
            sub = sub.max(key_sub) + 1;
            let tick = if is_noise { one.tick.unwrap_or_default() } else { tick };
            commands.push(Command { tick, base, sub: key_sub, request: one.request, aim: None });
        }
        self.send_again(&mut commands, dice);
        commands
    }

    /// Sends an earlier command again: the same one, or another request under the same key.
    fn send_again(&mut self, commands: &mut Vec<Command>, dice: &mut Dice) {
        if self.strategy == Strategy::Misc && dice.percent(20) {
            commands.extend(self.sent.clone());
            let changed = self.sent.take().zip(commands.first());
            commands.extend(changed.map(|(sent, first)| Command { request: first.request.clone(), ..sent }));
        }
        if dice.percent(20) {
            self.sent = commands.first().cloned();
        }
    }

    fn strategic(&self, server: &Server, connection: &Connection, who: ControllerId, dice: &mut Dice) -> Vec<Forged> {
        let sim = server.sim();
        let play = |this: &Self, dice: &mut Dice| this.play(sim, who, dice).map(Forged::from);
        match self.strategy {
            Strategy::Honest => {
                let step = || self.walk(server, who);
                let walk = dice.percent(20).then(step).flatten().map(Forged::from);
                let answer = self.true_answer(sim, who).map(Forged::from);
                play(self, dice).into_iter().chain(walk).chain(answer).collect()
            }
            Strategy::Noise => {
                let noise: Vec<Forged> = (0..dice.roll(4)).map(|_| self.noise(sim, who, dice)).collect();
                play(self, dice).into_iter().chain(noise).collect()
            }
            Strategy::Rolls => {
                // Other abilities would delay the next roll.
                let seldom = if self.limits.chances.is_empty() { 100 } else { 5 };
                let other = |dice: &mut Dice| dice.percent(seldom).then(|| play(self, dice)).flatten();
                self.searched(sim, who).or_else(|| other(dice)).into_iter().collect()
            }
            Strategy::Apply => {
                let applies = (0..4).filter_map(|_| self.apply(sim, who, dice));
                let applies: Vec<Forged> = applies.map(Forged::from).collect();
                play(self, dice).into_iter().chain(applies).collect()
            }
            Strategy::Complete => {
                let done = self.complete(sim, who, dice, false).map(Forged::from);
                play(self, dice).into_iter().chain(done).collect()
            }
            Strategy::Hits => {
                let done = self.complete(sim, who, dice, true).map(Forged::from);
                play(self, dice).into_iter().chain(done).collect()
            }
            Strategy::End | Strategy::Cancel => self.end_and_activate(sim, who, dice),
            Strategy::Movement => self.there_and_back(sim, who, dice),
            Strategy::Ticks => {
                let early = dice.percent(10);
                let claimed = server.tick().plus(1);
                let tick = if early { claimed.plus(dice.roll(30) as u32) } else { claimed.minus(self.late) };
                if let Some(&input) = sim.held_inputs(who).unwrap_or_default().first() {
                    // The release of a held input may be as old as the last command: the cheater sends nothing else.
                    let release = Forged { tick: Some(Tick(0)), ..Request::Release { who, input }.into() };
                    return dice.percent(4).then_some(release).into_iter().collect();
                }
                play(self, dice).into_iter().map(|one| Forged { tick: Some(tick), ..one }).collect()
            }
            Strategy::Foresight if self.limits.chances.is_empty() => play(self, dice).into_iter().collect(),
            Strategy::Foresight => self.foreseen(server, connection, who).into_iter().collect(),
            Strategy::Misc => {
                let other = self.misc(sim, who, dice).map(Forged::from);
                play(self, dice).into_iter().chain(other).collect()
            }
        }
    }

    /// Activates an ability that is ready, or presses or releases an input, as an honest player would.
    fn play(&self, sim: &Sim, who: ControllerId, dice: &mut Dice) -> Option<Request> {
        let grants = sim.grants(who).ok()?;
        let grant: &GrantView = dice.pick(&grants);
        let target = Target::Controller(self.target(dice));
        let ability = grant.ability;
        match (dice.roll(10), grant.input) {
            (0, Some(input)) => Some(Request::Press { who, input, target }),
            (1, Some(input)) => Some(Request::Release { who, input }),
            (2, _) if sim.activations(who).ok()?.any(|a| a.ability == ability) => {
                dice.percent(20).then_some(Request::Cancel { who, ability })
            }
            _ => sim.check(who, ability, target).is_ok().then_some(Request::Activate { who, ability, target }),
        }
    }

    /// The first of the others is near and is the usual target.
    fn target(&self, dice: &mut Dice) -> ControllerId {
        match dice.roll(10) {
            0 => *dice.pick(&self.own),
            1..=3 => *dice.pick(&self.others),
            _ => self.others[0],
        }
    }

    /// A step at the highest speed.
    fn walk(&self, server: &Server, who: ControllerId) -> Option<Request> {
        let mut anchor = server.sim().anchor(who).ok()??;
        anchor.position[2] += self.limits.speed * server.tick_length().as_seconds();
        Some(Request::Move { who, anchor })
    }

    /// Returns an ability with a random roll that is ready, and its target.
    fn ready_chance(&self, sim: &Sim, who: ControllerId) -> Option<(&'l ChanceLimits, Target)> {
        let target = Target::Controller(self.others[0]);
        let ready = |chance: &&ChanceLimits| sim.check(who, chance.ability, target).is_ok();
        Some((self.limits.chances.iter().find(ready)?, target))
    }

    /// Plays the next tick on a copy of the server, and activates the ability if its roll succeeds there, or if no tick
    /// of the last third of a second was better.
    fn foreseen(&self, server: &Server, connection: &Connection, who: ControllerId) -> Option<Forged> {
        let (chance, target) = self.ready_chance(server.sim(), who)?;
        let request = Request::Activate { who, ability: chance.ability, target };
        let command = Command { tick: server.tick().plus(1), base: self.base + 1, sub: 0, request, aim: None };
        let mut copy = server.clone();
        let mut facts = Facts::default();
        copy.take_facts(&mut facts);
        connection.copy_without_link().send(&mut copy, std::slice::from_ref(&command));
        copy.step(&mut NoHost);
        copy.take_facts(&mut facts);
        let waits = !server.tick().0.is_multiple_of(20);
        (is_success(chance, &facts.list) || !waits).then(|| Forged::from(command.request))
    }

    /// Tries the keys that the client may choose on a copy of the world, and takes one whose roll succeeds.
    fn searched(&self, sim: &Sim, who: ControllerId) -> Option<Forged> {
        let (chance, target) = self.ready_chance(sim, who)?;
        let op = Op::Activate { who, which: Which::Ability(chance.ability), target };
        let succeeds = |&(base, sub): &(u32, u16)| {
            let mut copy = sim.clone();
            let before = copy.facts().list.len();
            let _ = copy.remote_mut().run_late(OpId::new(self.client, base, sub), &op, SimTime::ZERO);
            is_success(chance, &copy.facts().list[before..])
        };
        let keys = (0..TRIES).map(|n| (self.base + 1 + n / 4, (n % 4) as u16));
        let (base, sub) = keys.into_iter().find(succeeds).unwrap_or((self.base + 1, 0));
        let request = Request::Activate { who, ability: chance.ability, target };
        Some(Forged { base: Some(base), sub: Some(sub), ..Forged::from(request) })
    }

    /// Applies an effect of a running ability.
    fn apply(&self, sim: &Sim, who: ControllerId, dice: &mut Dice) -> Option<Request> {
        let running: Vec<AbilityId> = sim.activations(who).ok()?.map(|a| a.ability).collect();
        let ability = *running.get(dice.roll(running.len().max(1)))?;
        let places = &self.limits.abilities.get(&ability)?.places;
        let effect = places.get(dice.roll(places.len().max(1)))?.effect;
        Some(Request::Apply { who, ability, effect, target: self.target(dice) })
    }

    /// Answers a task that waits for targets with the near actor and its distance, if no timeline answers it.
    fn true_answer(&self, sim: &Sim, who: ControllerId) -> Option<Request> {
        if sim.config().timelines {
            return None;
        }
        let tasks = sim.tasks(who).ok()?;
        let waits = |kind| sim.rules().task_kinds().any(|(id, name, _)| id == kind && name == "WaitTargetData");
        let task = tasks.iter().find(|t| waits(t.kind))?;
        let target = self.others[0];
        let hit = Some(Hit { distance: self.distance(sim, who, target), ..Hit::default() });
        Some(Request::Complete { key: task.key, answer: Answer { targets: vec![target], hit, ..Answer::default() } })
    }

    /// Answers a waiting task, with a forged hit if `forged`.
    fn complete(&self, sim: &Sim, who: ControllerId, dice: &mut Dice, forged: bool) -> Option<Request> {
        let tasks = sim.tasks(who).ok()?;
        let task = tasks.get(dice.roll(tasks.len().max(1)))?;
        let mut answer = Answer { targets: vec![self.target(dice)], ..Answer::default() };
        if forged {
            answer.targets = self.others.clone();
            answer.hit = self.forged_hit(sim, who, dice);
        }
        Some(Request::Complete { key: task.key, answer })
    }

    /// A hit that is nearer than it is true, or to the most vulnerable zone: without a distance, at no distance, or at
    /// the distance of another target.
    fn forged_hit(&self, sim: &Sim, who: ControllerId, dice: &mut Dice) -> Option<Hit> {
        let head = sim.rules().find_tag("Hitzone.Head");
        let tags = if dice.percent(30) { head.into_iter().collect() } else { Vec::new() };
        let distance = match dice.roll(4) {
            0 => return None,
            1 => None,
            2 => self.distance(sim, who, self.others[0]),
            _ => Some(0.0),
        };
        Some(Hit { distance, tags, ..Hit::default() })
    }

    fn distance(&self, sim: &Sim, from: ControllerId, to: ControllerId) -> Option<f64> {
        let place = |who| sim.anchor(who).ok().flatten().map(|a| a.position);
        let (here, there) = (place(from)?, place(to)?);
        Some(here.iter().zip(there).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt())
    }

    /// Ends or cancels a running ability and activates the ability again in the same tick.
    fn end_and_activate(&self, sim: &Sim, who: ControllerId, dice: &mut Dice) -> Vec<Forged> {
        let running: Vec<AbilityId> = sim.activations(who).map(|a| a.map(|a| a.ability).collect()).unwrap_or_default();
        let Some(&ability) = running.get(dice.roll(running.len().max(1))) else {
            return self.play(sim, who, dice).into_iter().map(Forged::from).collect();
        };
        let stop = match self.strategy {
            Strategy::End => Request::End { who, ability },
            _ => Request::Cancel { who, ability },
        };
        let again = Request::Activate { who, ability, target: Target::Controller(self.target(dice)) };
        match dice.roll(8) {
            0..=3 => vec![stop.into(), again.into()],
            4 => vec![stop.into()],
            _ => self.play(sim, who, dice).into_iter().map(Forged::from).collect(),
        }
    }

    /// Moves to the most distant actor, activates an ability there, and moves back.
    fn there_and_back(&self, sim: &Sim, who: ControllerId, dice: &mut Dice) -> Vec<Forged> {
        let play = self.play(sim, who, dice).map(Forged::from);
        let (Some(&far), Ok(Some(home))) = (self.others.last(), sim.anchor(who)) else { return Vec::new() };
        let there = sim.anchor(far).ok().flatten().map_or(home, |a| Anchor { position: a.position, ..home });
        let Ok(grants) = sim.grants(who) else { return Vec::new() };
        let ability = dice.pick(&grants).ability;
        let hit = Request::Activate { who, ability, target: Target::Controller(far) };
        let go = Request::Move { who, anchor: there };
        match dice.roll(6) {
            0 | 1 => vec![go.into(), hit.into(), Request::Move { who, anchor: home }.into()],
            2 => vec![go.into()],
            _ => play.into_iter().collect(),
        }
    }

    /// Commits early, aims again, or claims that a command was mispredicted.
    fn misc(&self, sim: &Sim, who: ControllerId, dice: &mut Dice) -> Option<Request> {
        let running: Vec<(ActivationKey, AbilityId)> = sim.activations(who).ok()?.map(|a| (a.key, a.ability)).collect();
        let target = Target::Controller(*dice.pick(&self.others));
        let (key, ability) = *running.get(dice.roll(running.len().max(1)))?;
        Some(match dice.roll(3) {
            0 => Request::Commit { who, ability },
            1 => Request::Aim { key, target, tick: None },
            _ => {
                let base = self.base.saturating_sub(dice.roll(4) as u32);
                Request::Mispredicted { who, base, sub: 0, ability, target }
            }
        })
    }

    /// Any request with any numbers.
    fn noise(&self, sim: &Sim, own: ControllerId, dice: &mut Dice) -> Forged {
        let who = if dice.percent(90) { own } else { ControllerId(dice.roll(8) as u32) };
        let ability = AbilityId(dice.roll(sim.rules().ability_list().count() + 2) as u32);
        let effect = EffectId(dice.roll(sim.rules().effect_list().count() + 2) as u32);
        let input = InputId(dice.roll(6) as u32);
        let target = ControllerId(dice.roll(6) as u32);
        let mut place = || (dice.unit() - 0.5) * 1000.0;
        let point = [place(), place(), place()];
        let aim = match dice.roll(3) {
            0 => Target::None,
            1 => Target::Controller(target),
            _ => Target::Point(point),
        };
        let hit = Hit { distance: Some(point[0].abs()), tags: vec![TagId(dice.roll(60) as u32)], ..Hit::default() };
        let answer = Answer { targets: vec![target], hit: Some(hit), value: point[1], fail: dice.percent(20) };
        let seen = sim.tasks(who).ok().and_then(|t| t.first().map(|t| t.key));
        let key = seen.unwrap_or(TaskKey { seq: dice.roll(50) as u64, who });
        let request = match dice.roll(11) {
            0 => Request::Press { who, input, target: aim },
            1 => Request::Release { who, input },
            2 => Request::Activate { who, ability, target: aim },
            3 => Request::Cancel { who, ability },
            4 => Request::End { who, ability },
            5 => Request::Commit { who, ability },
            6 => Request::Apply { who, ability, effect, target },
            7 => Request::Complete { key, answer },
            8 => Request::Move { who, anchor: Anchor::at(point) },
            9 => {
                let running = sim.activations(who).ok().and_then(|mut a| a.next()).map(|a| a.key);
                Request::Aim {
                    key: running.unwrap_or(ActivationKey { origin_id: 1, who, ordinal: 0 }),
                    target: aim,
                    tick: None,
                }
            }
            _ => Request::Mispredicted { who, base: dice.roll(200) as u32, sub: 0, ability, target: aim },
        };
        // A command for a later tick delays all commands after it, so that other strategies seldom send one.
        let often = if self.strategy == Strategy::Noise { 30 } else { 3 };
        let tick = dice.percent(often).then(|| Tick(dice.roll(400) as u32));
        let base = dice.percent(10).then(|| self.base + dice.roll(30) as u32);
        Forged { request, tick, base, sub: dice.percent(10).then(|| dice.roll(60_000) as u16) }
    }
}

/// Returns whether a random roll succeeded.
fn is_success(chance: &ChanceLimits, facts: &[Fact]) -> bool {
    facts.iter().any(|fact| match (fact.kind, chance.tag) {
        (FactKind::ContextTag { tag }, Some(wanted)) => tag == wanted,
        (FactKind::EffectApplied { .. }, None) => fact.effect == chance.effect,
        _ => false,
    })
}
