//! Commands: what a player asks for, played at once where it may be.

use super::told::Certainty;
use super::{Client, ClientState, Commanded, MAX_PENDING, Pending};
use crate::authority::check_numbers;
use crate::echo::is_shown;
use crate::message::{Command, Request, encode};
use crate::policy::policy_of;
use crate::server::MAX_COMMAND;
use crate::types::Tick;
use crate::view::burst_key;
use ugas_core::{ActivationKey, BadValue, CueType, FactKind, OpId, Outcome, Refusal, SimTime, Target};
use ugas_doc::NetExecution;

impl Client {
    /// How many ticks the client may be ahead of what is settled.
    pub fn window(&self) -> u32 {
        let tick = self.length.0.max(1);
        let wanted = self.carrier.round_trip().unwrap_or(SimTime::ZERO) + SimTime(tick * 4);
        let cap = self.config.window.clamp(SimTime::ZERO, SimTime::millis(500));
        let least = SimTime::millis(250).min(cap);
        (wanted.clamp(least, cap).0 / tick).max(1) as u32
    }

    /// Whether commands may be played ahead: what is settled is no further back than the window.
    pub fn is_open(&self) -> bool {
        let first = self.rows.iter().filter_map(|r| r.settled.as_ref()).map(|s| s.0).min();
        self.is_within(first.unwrap_or(self.heard))
    }

    /// Whether time may go on: the server was heard of within the window. While it keeps its word back, e.g. until a
    /// validation is decided, nothing new is played ahead, but the clock goes on, and with it the talk.
    pub(super) fn is_near(&self) -> bool {
        self.is_within(self.heard)
    }

    fn is_within(&self, last: Tick) -> bool {
        self.tick.0.saturating_sub(last.0) < self.window()
    }

    /// Asks for something in the name of an own controller. What may be played ahead happens now; the server hears of it
    /// with the next packet. Past the window nothing is played ahead: what lets go (a release, a cancel) is still asked
    /// for, everything else is refused as [`Refusal::PredictionWindowClosed`] until the server's word opens the window again
    /// ([`Client::is_open`]); whoever still wants it then asks again.
    pub fn command(&mut self, request: Request) -> Result<Commanded, Refusal> {
        if self.state != ClientState::Playing || !self.owned.contains(&request.who()) {
            return Err(Refusal::Authority);
        }
        let is_open = self.is_open();
        // A key that was let go stays down, and an ability goes on, if nobody tells the server.
        if !is_open && !request.lets_go() || self.pending.len() >= MAX_PENDING {
            self.counts.closed += 1;
            return Err(Refusal::PredictionWindowClosed);
        }
        check_numbers(&request).map_err(|(_, refusal)| refusal)?;
        self.drain();
        if let Request::Aim { key, target } = request {
            self.sim.remote().check_aim(key, target)?;
        }
        let policy = policy_of(&self.sim, &request)?;
        if policy == NetExecution::LocalOnly {
            let done = self.local.run(&self.sim, &request, &mut self.out).map(Commanded::Local);
            self.watch();
            return done;
        }
        let next = self.tick.plus(1);
        self.open_base(next);
        let mut command = Command { tick: next, base: self.base, sub: self.sub, request, aim: None };
        if encode(&command).len() > MAX_COMMAND as usize {
            // The server would not read it.
            return Err(Refusal::BadValue { what: BadValue::Number });
        }
        let id = command.id(self.client);
        let played = policy == NetExecution::LocalPredicted && is_open;
        let mut done = Commanded::Sent(id);
        if played {
            let level = self.level_of(&command.request);
            let outcome = match self.sim.run_as(id, &command.request.op(level)) {
                Ok(outcome) => outcome,
                Err(refusal) => {
                    self.sim.remote_mut().discard_op(id);
                    return Err(refusal);
                }
            };
            if let Outcome::Pressed { activated: None, refused: Some(refusal) } = outcome {
                // The input is down all the same: a press that activates nothing is still a press.
                self.counts.refused += u64::from(refusal.is_misuse());
            }
            command.aim = self.take_aims(Some(&outcome));
            done = Commanded::Predicted(id, outcome);
            self.tell(next);
            self.watch();
            self.sub = self.sub.saturating_add(self.keys.note(id, self.seed, &self.sim, &self.facts).max(1));
        } else {
            self.sub = self.sub.saturating_add(1);
        }
        self.pending.push_back(Pending { command, played, heard: false });
        for (key, target) in std::mem::take(&mut self.aimed) {
            self.say_aim(next, key, target);
        }
        Ok(done)
    }

    /// One Base for each tick with commands.
    fn open_base(&mut self, tick: Tick) {
        if self.base_tick != tick {
            (self.base, self.sub, self.base_tick) = (self.base.saturating_add(1), 0, tick);
        }
    }

    /// What predicted ticks aimed at: the server's are to aim there too. What the first tick of the ability that a command
    /// itself activated aims at goes with the command, so that the server's first tick knows it.
    pub(super) fn take_aims(&mut self, done: Option<&Outcome>) -> Option<Target> {
        self.sim.remote_mut().take_aims(&mut self.aimed);
        let first = match done? {
            Outcome::Activated(key) | Outcome::Pressed { activated: Some(key), .. } => *key,
            _ => return None,
        };
        let target = self.aimed.iter().rev().find(|a| a.0 == first).map(|a| a.1);
        self.aimed.retain(|a| a.0 != first);
        target
    }

    /// Says what the ticks of abilities aimed at in the tick just played. The server plays that tick later: it knows
    /// before its own ticks run.
    pub(super) fn say_aims(&mut self) {
        self.take_aims(None);
        for (key, target) in std::mem::take(&mut self.aimed) {
            self.say_aim(self.tick, key, target);
        }
    }

    fn say_aim(&mut self, tick: Tick, key: ActivationKey, target: Target) {
        if self.pending.len() >= MAX_PENDING || !self.owned.contains(&key.who) {
            return;
        }
        self.open_base(tick);
        let request = Request::Aim { key, target };
        let command = Command { tick, base: self.base, sub: self.sub, request, aim: None };
        self.sub = self.sub.saturating_add(1);
        // One whose ability is over by now is said all the same: its last tick is still to come there.
        let _ = self.sim.run_as(command.id(self.client), &command.request.op(1));
        self.pending.push_back(Pending { command, played: true, heard: false });
    }

    /// A command that was played ahead was refused: its ability may have something to do about that.
    pub(super) fn note_mispredicted(&mut self, id: OpId, command: &Command) {
        let (Some(target), Some(ability)) = (command.request.aim(), self.keys.first(id)) else { return };
        let acts = self.sim.ability_doc(ability).is_some_and(|doc| !doc.on_mispredicted.is_empty());
        if acts && self.mispredicted.len() < MAX_PENDING {
            let (who, base, sub) = (command.request.who(), command.base, command.sub);
            self.mispredicted.push_back(Request::Mispredicted { who, base, sub, ability, target });
        }
    }

    /// Lets abilities that were refused do what they do about it, as commands like any other: played here at once, and
    /// on the server in the same tick.
    pub(super) fn clean_up(&mut self) {
        while self.is_open() && self.pending.len() < MAX_PENDING {
            let Some(request) = self.mispredicted.pop_front() else { return };
            // An ability that is not granted any more has nothing to clean up.
            let _ = self.command(request);
        }
    }

    pub(super) fn level_of(&self, request: &Request) -> u32 {
        let Request::Apply { who, ability, .. } = request else { return 1 };
        let grants = self.sim.grants(*who).unwrap_or_default();
        grants.iter().find(|g| g.ability == *ability).map_or(1, |g| g.level)
    }

    /// Tells what was just played.
    pub(super) fn tell(&mut self, tick: Tick) {
        self.sim.take_facts(&mut self.facts);
        for fact in &self.facts.list {
            let other = self.proxies.get_mut(fact.who).filter(|_| !self.owned.contains(&fact.who));
            let own = other.is_none();
            match (fact.kind, other) {
                // Nobody tells what it really is.
                (_, Some(other)) if !is_shown(&self.sim, other.shape(), fact) => continue,
                (FactKind::Cue { tag, cue: CueType::Execute, .. }, Some(other)) => {
                    other.foresee(burst_key(fact.key, fact.root, fact.who), tag);
                }
                _ => {}
            }
            self.waiting.predict(tick, fact, own, &self.facts, &mut self.out);
        }
    }

    /// Sets off what runs here only by what was told of own controllers since.
    pub(super) fn watch(&mut self) {
        // What it tells itself may set off more; a circle of that ends here.
        let end = self.out.facts.list.len().saturating_add(MAX_PENDING);
        while self.watched < self.out.facts.list.len().min(end) {
            let (fact, certainty) = (self.out.facts.list[self.watched], self.out.certainty[self.watched]);
            self.watched += 1;
            let is_news = !matches!(certainty, Certainty::Confirmed | Certainty::Undone);
            if is_news && self.owned.contains(&fact.who) {
                self.local.watch(&self.sim, &fact, &mut self.out);
            }
        }
        self.watched = self.out.facts.list.len();
    }

    /// Tells what was played since.
    pub(super) fn drain(&mut self) {
        self.tell(self.tick);
    }
}
