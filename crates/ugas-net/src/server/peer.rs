//! One client as the server knows it.

use super::echo::Echoes;
use super::numbers::Number;
use super::observe::Observing;
use super::owner::Owned;
use super::{MAX_VERDICTS, ServerConfig, line};
use crate::authority::{Reason, check_tick};
use crate::carrier::{Carrier, PacketNumber, Receipt};
use crate::interest::Pick;
use crate::message::{Command, Denial, Request, Verdict};
use crate::types::Tick;
use std::collections::{BTreeMap, VecDeque};
use ugas_core::{AbilityId, ControllerId, Sim};

/// Commands that may wait for their tick.
const MAX_WAITING: usize = 256;
/// Commands that were decided and may be said again: no fewer than a client keeps for a verdict.
const MAX_DECIDED: usize = 256;
/// Refused commands whose abilities may still clean up.
const MAX_DENIED: usize = 64;
/// Packets whose fate is not known; the carrier decides on each sooner.
const MAX_FLYING: usize = 1100;

/// Bases above one for each tick that a client may use.
const SPARE_BASES: u32 = 1024;

/// How far a client is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It has not said what it is.
    Silent,
    /// It plays.
    Playing,
    /// It was told why not.
    Denied(Denial),
}

/// What one packet told: whom it showed since when, and how many verdicts it held.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    pub(crate) number: u64,
    pub(crate) tick: Tick,
    pub(crate) actors: Vec<Pick>,
    pub(crate) poses: Vec<Pick>,
    pub(crate) verdicts: Vec<(u32, u16)>,
    /// How much of what it did to others it has heard of then.
    pub(crate) echoes: u64,
    /// And of what it did to its own controllers.
    pub(crate) own: u64,
}

/// Tokens that fill up with the ticks: what a client may send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    left: u32,
    most: u32,
}

impl Bucket {
    pub(crate) fn new(most: u32) -> Bucket {
        Bucket { left: most, most }
    }

    pub(crate) fn take(&mut self) -> bool {
        let some = self.left > 0;
        self.left -= some as u32;
        some
    }

    pub(crate) fn fill(&mut self, by: u32) {
        self.left = self.left.saturating_add(by).min(self.most);
    }
}

/// How far ahead and how late a command may be, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) ahead: u32,
    pub(crate) behind: u32,
}

/// FNV-1a: tells a command said again from another under its key. Who finds two with one print fools nobody: the first
/// counts.
fn print_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// One client.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) number: Number,
    /// The tick at which it came.
    since: Tick,
    pub(crate) phase: Phase,
    pub(crate) carrier: Carrier,
    pub(crate) owned: Vec<ControllerId>,
    pub(crate) rows: Vec<Owned>,
    /// Commands that wait for their tick, by key, with their prints.
    waiting: BTreeMap<(u32, u16), (Command, u64)>,
    /// Keys of commands that were done or refused, with the commands' prints, the oldest first.
    decided: VecDeque<((u32, u16), u64)>,
    /// The highest key that was decided and is not kept any more: nobody can tell what came under it or below.
    forgotten: Option<(u32, u16)>,
    /// The last key that was done, and its tick.
    pub(crate) last: Option<(u32, u16)>,
    pub(crate) last_tick: Tick,
    pub(crate) verdicts: Vec<Verdict>,
    /// Refused commands whose abilities may still clean up, the oldest first.
    denied: VecDeque<Command>,
    /// What it did to others.
    pub(crate) echoes: Echoes,
    /// What it did to its own controllers, said where their states are.
    pub(crate) own: Echoes,
    pub(crate) flying: VecDeque<Told>,
    pub(crate) spare: Vec<Told>,
    /// What it is told of others.
    pub(crate) views: Observing,
    pub(crate) packets: Bucket,
    pub(crate) commands: Bucket,
    /// By how many ticks the newest packet came before its tick.
    pub(crate) slack: i32,
    /// Definitions made at run time that were told.
    pub(crate) defined: u32,
    /// Those that have not arrived yet as far as is known: each message, and how many are there with it.
    pub(crate) defining: VecDeque<(Receipt, u32)>,
    /// How many have arrived.
    pub(crate) arrived: u32,
    /// Bytes heard and not yet answered, while it is not known to be a player: it never gets more than it gave.
    pub(crate) credit: usize,
    /// Its welcome, once it was said: what rides in packets before it arrives the client cannot read.
    pub(crate) welcome: Option<Receipt>,
}

impl Peer {
    pub(crate) fn new(number: Number, owned: &[ControllerId], config: &ServerConfig, now: Tick) -> Peer {
        Peer {
            number,
            since: now,
            phase: Phase::Silent,
            carrier: Carrier::new(config.carrier),
            owned: owned.to_vec(),
            rows: Vec::new(),
            waiting: BTreeMap::new(),
            decided: VecDeque::new(),
            forgotten: None,
            last: None,
            last_tick: Tick(0),
            verdicts: Vec::new(),
            denied: VecDeque::new(),
            echoes: Echoes::default(),
            own: Echoes::default(),
            flying: VecDeque::new(),
            spare: Vec::new(),
            views: Observing::new(line(config.bandwidth)),
            packets: Bucket::new(config.packets.saturating_mul(4)),
            commands: Bucket::new(config.commands.saturating_mul(16)),
            slack: 0,
            defined: 0,
            defining: VecDeque::new(),
            arrived: 0,
            credit: 0,
            welcome: None,
        }
    }

    /// Keeps a command until its tick; `bytes` are what it was read from. One that is known already is said again until
    /// it is heard: no news. What was refused once stays refused.
    pub(crate) fn keep(&mut self, command: &Command, bytes: &[u8], now: Tick, limits: Limits) -> Result<(), Reason> {
        let (key, print) = ((command.base, command.sub), print_of(bytes));
        let known = self.waiting.get(&key).map(|(_, print)| *print);
        let known = known.or_else(|| self.decided.iter().rev().find(|d| d.0 == key).map(|d| d.1));
        if let Some(known) = known {
            return if known == print { Ok(()) } else { Err(Reason::Key) };
        }
        let kept = self.may_wait(command, now, limits);
        match kept {
            Ok(()) => drop(self.waiting.insert(key, (command.clone(), print))),
            Err(_) => self.decide(key, print),
        }
        kept
    }

    fn may_wait(&mut self, command: &Command, now: Tick, limits: Limits) -> Result<(), Reason> {
        let key = (command.base, command.sub);
        if Some(key) <= self.last.max(self.forgotten) || command.base <= self.number.base {
            return Err(Reason::Key);
        }
        // Paid for whatever becomes of it: what is refused for another reason gives its ability something to do, too.
        if self.waiting.len() >= MAX_WAITING || !self.commands.take() {
            return Err(Reason::CommandRate);
        }
        match check_tick(command.tick, now, limits.ahead, limits.behind) {
            Err(Reason::Past) if command.request.lets_go() => {}
            fits => fits?,
        }
        // A base for each tick at most: nobody uses up the bases of those who have the number later.
        let ticks = command.tick.0.saturating_sub(self.since.0);
        if command.base - self.number.base > ticks.saturating_add(SPARE_BASES) {
            return Err(Reason::Key);
        }
        // Keys rise with ticks.
        let fits = |(other, _): &(Command, u64)| {
            command.tick == other.tick || (key < (other.base, other.sub)) == (command.tick < other.tick)
        };
        if command.tick < self.last_tick || !self.waiting.values().all(fits) {
            return Err(Reason::Key);
        }
        Ok(())
    }

    fn decide(&mut self, key: (u32, u16), print: u64) {
        if self.decided.len() >= MAX_DECIDED {
            self.forgotten = self.forgotten.max(self.decided.pop_front().map(|d| d.0));
        }
        self.decided.push_back((key, print));
    }

    /// The next command whose tick has come, in the order of keys.
    pub(crate) fn next_due(&mut self, now: Tick) -> Option<Command> {
        let first = self.waiting.first_entry()?;
        if first.get().0.tick > now {
            return None;
        }
        let (key, (command, print)) = first.remove_entry();
        self.last = Some(key);
        self.decide(key, print);
        Some(command)
    }

    /// Keeps a verdict until the client has it. A client that hears nothing of a command waits for it for ever, so that
    /// one that is refused on arrival has its verdict too.
    pub(crate) fn judged(&mut self, verdict: Verdict) {
        if self.verdicts.iter().any(|v| (v.base, v.sub) == (verdict.base, verdict.sub)) {
            return;
        }
        if self.verdicts.len() >= 4 * MAX_VERDICTS as usize {
            self.verdicts.remove(0);
        }
        self.verdicts.push(verdict);
    }

    /// A command was refused. An honest client may have played it ahead and then has something to clean up, unless it
    /// asked for what it could not have played.
    pub(crate) fn deny(&mut self, command: &Command, reason: Reason) {
        let honest = matches!(
            reason,
            Reason::Rules | Reason::Early | Reason::Target | Reason::Past | Reason::Future | Reason::CommandRate
        );
        if !honest || command.request.aim().is_none() {
            return;
        }
        if self.denied.len() >= MAX_DENIED {
            self.denied.pop_front();
        }
        self.denied.push_back(command.clone());
    }

    /// Whether a refused command could have activated an ability; it is not asked for again.
    pub(crate) fn take_denied(&mut self, key: (u32, u16), sim: &Sim, ability: AbilityId) -> bool {
        let Some(at) = self.denied.iter().position(|c| (c.base, c.sub) == key) else { return false };
        let could = match self.denied[at].request {
            Request::Activate { ability: asked, .. } => asked == ability,
            Request::Press { who, input, .. } => {
                sim.grants(who).is_ok_and(|list| list.iter().any(|g| g.ability == ability && g.input == input))
            }
            _ => false,
        };
        if could {
            self.denied.remove(at);
        }
        could
    }

    /// The last base of a command that was done.
    pub(crate) fn last_base(&self) -> u32 {
        self.last.map_or(self.number.base, |(base, _)| base)
    }

    /// How many commands wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes in what became of packets: what was lost is told again, what arrived need not be.
    pub(crate) fn settle(&mut self, verdicts: &mut Vec<(PacketNumber, bool)>) {
        verdicts.clear();
        self.carrier.take_verdicts(verdicts);
        for &(number, arrived) in verdicts.iter() {
            let Ok(at) = self.flying.binary_search_by_key(&number.0, |t| t.number) else { continue };
            let Some(mut told) = self.flying.remove(at) else { continue };
            if arrived {
                self.verdicts.retain(|v| !told.verdicts.contains(&(v.base, v.sub)));
                self.echoes.heard(told.echoes);
                self.own.heard(told.own);
            }
            self.views.settle(&told, arrived);
            told.actors.clear();
            told.poses.clear();
            told.verdicts.clear();
            (told.echoes, told.own) = (0, 0);
            self.spare.push(told);
        }
        self.views.settle_stream(&self.carrier);
    }

    /// Whether it plays and knows it.
    pub(crate) fn is_welcomed(&self) -> bool {
        self.phase == Phase::Playing && self.welcome.is_some_and(|welcome| self.carrier.has_arrived(welcome))
    }

    /// Keeps what a packet told until its fate is known.
    pub(crate) fn tell(&mut self, told: Told) {
        if self.flying.len() >= MAX_FLYING {
            self.flying.pop_front();
        }
        self.flying.push_back(told);
    }
}
