//! The client session: prediction, reconciliation, proxies.
//!
//! The client's sim holds its own controllers, run ahead with the same code as the server's, and a proxy row for everybody
//! else it hears of. When the server's word about a tick differs from what was played, the controller is put to the
//! server's state and everything since is run again, within the call that brought the word: no tick in between shows half
//! of a correction.

mod history;
mod keys;
mod local;
mod pace;
mod told;

pub use keys::{Prediction, PredictionKey, Standing};
pub use told::{Certainty, NetFacts};

use crate::carrier::{Carrier, CarrierConfig, PacketNumber};
use crate::message::{Command, Denial, PROTOCOL, Request, ToClient, ToServer, decode, encode};
use crate::server::{DELTA, GONE, MATCHED, MAX_COMMANDS, MAX_DONE, MAX_VERDICTS};
use crate::types::Tick;
use crate::view::{Change, Proxies, read_next};
use crate::wire::bits::{BitReader, BitWriter, WireError};
use crate::wire::delta::{Coder, Limits};
use crate::wire::number::{get_int, get_uint, get_uint_to, put_int, put_uint};
use crate::wire::token::Tokens;
use history::History;
use keys::Keys;
use local::Local;
use pace::Pace;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use told::{Run, Waiting};
use ugas_core::{
    AbilityId, AttributeId, Cause, ControllerId, CueType, EffectId, EffectKey, Fact, FactKind, Facts, Host,
    JournalMark, NoHost, Op, OpId, Outcome, Portable, ProxyRow, Refusal, RemoveReason, Role, RowImage, Rules, SetId,
    Sim, SimConfig, SimTime, TagId,
};
use ugas_doc::{NetExecution, ReplicationMode};

/// Commands that may wait for a verdict.
const MAX_PENDING: usize = 256;

/// How a client is set up.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// How far the client may run ahead of the last state the server spoke about; at most half a second.
    pub window: SimTime,
    /// Differences of attributes above this share of the larger value ask for a blend.
    pub blend: f64,
    /// Limits and patience of the connection.
    pub carrier: CarrierConfig,
    /// The sim's setup; its role and seed do not matter.
    pub sim: SimConfig,
}

impl Default for ClientConfig {
    fn default() -> ClientConfig {
        ClientConfig {
            window: SimTime::frames(16, 60),
            blend: 0.05,
            carrier: CarrierConfig::default(),
            sim: SimConfig::default(),
        }
    }
}

/// Where a client stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientState {
    /// It waits for the server's first word.
    Connecting,
    /// It plays.
    Playing,
    /// The server will not have it.
    Denied(Denial),
}

/// What became of a command at once.
#[derive(Clone, Debug, PartialEq)]
pub enum Commanded {
    /// It was played ahead under this key, with this outcome.
    Predicted(OpId, Outcome),
    /// It was sent under this key; the server plays it first.
    Sent(OpId),
    /// It is played here only.
    Local(Outcome),
}

/// A value that jumped by a correction; a host that shows it moves it smoothly instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// Whose.
    pub who: ControllerId,
    /// Which attribute.
    pub attribute: AttributeId,
    /// What was shown.
    pub from: f64,
    /// What is true.
    pub to: f64,
}

/// Counts of what a client did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCounts {
    /// Corrections: states of the server's that differed from what was played.
    pub corrections: u64,
    /// Ticks that were run again.
    pub rerun: u64,
    /// The most ticks that were run again at once.
    pub longest: u64,
    /// Commands the server refused.
    pub refused: u64,
    /// Packets that could not be read.
    pub damaged: u64,
    /// Commands that were not played because the window was closed.
    pub closed: u64,
}

struct Pending {
    command: Command,
    /// Whether it was played ahead.
    played: bool,
    /// Whether the server has it.
    heard: bool,
}

/// A player's machine.
pub struct Client {
    sim: Sim,
    config: ClientConfig,
    carrier: Carrier,
    state: ClientState,
    client: u16,
    seed: u64,
    keys: Keys,
    local: Local,
    /// What refused abilities do about it, once everything is put back.
    mispredicted: Vec<(OpId, Op)>,
    length: SimTime,
    tick: Tick,
    now: SimTime,
    pace: Option<Pace>,
    rows: Vec<History>,
    owned: Vec<ControllerId>,
    proxies: Proxies,
    /// Marks of journals of proxies something was done to here, by tick.
    touched: BTreeMap<ControllerId, VecDeque<(Tick, JournalMark)>>,
    pending: VecDeque<Pending>,
    carried: VecDeque<(u64, Vec<(u32, u16)>)>,
    base: u32,
    sub: u16,
    base_tick: Tick,
    waiting: Waiting,
    out: NetFacts,
    blends: Vec<Blend>,
    counts: ClientCounts,
    coder: Coder,
    writer: BitWriter,
    facts: Facts,
    changes: Vec<(ControllerId, Change)>,
    fates: Vec<(PacketNumber, bool)>,
}

impl Client {
    /// A client that wants to play under these rules.
    pub fn new(rules: Arc<Rules>, config: ClientConfig) -> Client {
        let mut carrier = Carrier::new(config.carrier);
        let hello = ToServer::Hello { protocol: PROTOCOL, rules: rules.fingerprint(), padding: vec![0; 256] };
        // An empty queue takes it.
        let _ = carrier.push(&encode(&hello));
        let sim = Sim::new(rules.clone(), SimConfig { role: Role::Client, ..config.sim.clone() });
        let length = SimTime::frames(1, 60);
        Client {
            sim,
            carrier,
            state: ClientState::Connecting,
            client: 0,
            seed: 0,
            keys: Keys::default(),
            local: Local::default(),
            mispredicted: Vec::new(),
            length,
            tick: Tick(0),
            now: SimTime::ZERO,
            pace: None,
            rows: Vec::new(),
            owned: Vec::new(),
            proxies: Proxies::new(rules, length),
            touched: BTreeMap::new(),
            pending: VecDeque::new(),
            carried: VecDeque::new(),
            base: 0,
            sub: 0,
            base_tick: Tick(0),
            waiting: Waiting::default(),
            out: NetFacts::default(),
            blends: Vec::new(),
            counts: ClientCounts::default(),
            coder: Coder::default(),
            writer: BitWriter::new(),
            facts: Facts::default(),
            changes: Vec::new(),
            fates: Vec::new(),
            config,
        }
    }

    /// The world as this player sees it.
    pub fn sim(&self) -> &Sim {
        &self.sim
    }

    /// Where it stands.
    pub fn state(&self) -> &ClientState {
        &self.state
    }

    /// The controllers that are its own.
    pub fn owned(&self) -> &[ControllerId] {
        &self.owned
    }

    /// What it hears of others.
    pub fn proxies(&self) -> &Proxies {
        &self.proxies
    }

    /// The last tick it played.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// The last tick of an owned controller that the server spoke about.
    pub fn settled(&self, who: ControllerId) -> Option<Tick> {
        self.rows.iter().find(|r| r.who == who)?.settled.as_ref().map(|s| s.0)
    }

    /// The hash of an owned controller at that tick, as its owner may know it.
    pub fn settled_hash(&self, who: ControllerId) -> Option<u64> {
        let row = self.rows.iter().find(|r| r.who == who)?;
        row.settled.as_ref()?.1.hash_without(self.sim.rules(), &row.hidden)
    }

    /// What it did so far.
    pub fn counts(&self) -> ClientCounts {
        self.counts
    }

    /// The measured round trip.
    pub fn round_trip(&self) -> Option<SimTime> {
        self.carrier.round_trip()
    }

    /// By how many percent its time passes faster, to be in time at the server.
    pub fn bent(&self) -> f64 {
        self.pace.as_ref().map_or(0.0, Pace::bent)
    }

    /// Commands without a verdict.
    pub fn unanswered(&self) -> usize {
        self.pending.len()
    }

    /// Whether what an effect or activation key names was played ahead and is not confirmed yet.
    pub fn is_predicted(&self, birth: u64) -> bool {
        self.pending.iter().any(|p| p.played && p.command.id(self.client).0 == birth)
    }

    /// The last activations that were played ahead, with their keys and how they stand.
    pub fn predictions(&self) -> impl Iterator<Item = &Prediction> {
        self.keys.iter()
    }

    /// What is kept because the server may still speak about it: journals, ticks, facts. For tests of bounds.
    pub fn held(&self) -> usize {
        let rows: usize = self.rows.iter().map(|r| r.stops.len() + self.sim.journal_len(r.who)).sum();
        let proxies: usize = self.touched.keys().map(|&who| self.sim.journal_len(who)).sum();
        rows + proxies + self.pending.len() + self.waiting.len()
    }

    /// Journal entries of own and other controllers: what would be run again.
    pub fn journalled(&self) -> usize {
        let rows: usize = self.rows.iter().map(|r| self.sim.journal_len(r.who)).sum();
        rows + self.touched.keys().map(|&who| self.sim.journal_len(who)).sum::<usize>()
    }

    /// Swaps out what happened since this was last asked.
    pub fn take_facts(&mut self, into: &mut NetFacts) {
        into.clear();
        std::mem::swap(&mut self.out, into);
    }

    /// Swaps out the values that jumped.
    pub fn take_blends(&mut self, into: &mut Vec<Blend>) {
        into.clear();
        std::mem::swap(&mut self.blends, into);
    }

    // Commands ----------------------------------------------------------------------------------------------------

    /// How many ticks the client may be ahead of what is settled.
    pub fn window(&self) -> u32 {
        let tick = self.length.0.max(1);
        let wanted = self.carrier.round_trip().unwrap_or(SimTime::ZERO) + SimTime(tick * 4);
        let cap = self.config.window.clamp(SimTime::ZERO, SimTime::millis(500));
        let least = SimTime::millis(250).min(cap);
        (wanted.clamp(least, cap).0 / tick).max(1) as u32
    }

    /// Whether another tick may be played ahead.
    pub fn is_open(&self) -> bool {
        let first = self.rows.iter().filter_map(|r| r.settled.as_ref()).map(|s| s.0).min();
        first.is_none_or(|settled| self.tick.0 - settled.0.min(self.tick.0) < self.window())
    }

    /// Asks for something in the name of an own controller. What may be played ahead happens now; the server hears of it
    /// with the next packet.
    pub fn command(&mut self, request: Request) -> Result<Commanded, Refusal> {
        if self.state != ClientState::Playing || !self.owned.contains(&request.who()) {
            return Err(Refusal::Authority);
        }
        if !self.is_open() || self.pending.len() >= MAX_PENDING {
            self.counts.closed += 1;
            return Err(Refusal::Pending);
        }
        self.drain();
        let policy = self.policy(&request)?;
        if policy == NetExecution::LocalOnly {
            return self.local.run(&self.sim, &request, &mut self.out).map(Commanded::Local);
        }
        let next = self.tick.plus(1);
        if self.base_tick != next {
            (self.base, self.sub, self.base_tick) = (self.base + 1, 0, next);
        }
        let command = Command { tick: next, base: self.base, sub: self.sub, request };
        let id = command.id(self.client);
        let played = policy == NetExecution::LocalPredicted;
        let mut done = Commanded::Sent(id);
        if played {
            let level = self.level_of(&command.request);
            let outcome = match self.sim.run_as(id, &command.request.op(level)) {
                Ok(outcome) => outcome,
                Err(refusal) => {
                    self.sim.strike_out(id);
                    return Err(refusal);
                }
            };
            if let Outcome::Pressed { activated: None, refused: Some(refusal) } = outcome {
                // The input is down all the same: a press that activates nothing is still a press.
                self.counts.refused += u64::from(refusal.is_misuse());
            }
            done = Commanded::Predicted(id, outcome);
            self.tell(next);
            self.sub += self.keys.note(id, self.seed, &self.sim, &self.facts).max(1);
        } else {
            self.sub += 1;
        }
        self.pending.push_back(Pending { command, played, heard: false });
        Ok(done)
    }

    /// Where a request runs first.
    fn policy(&self, request: &Request) -> Result<NetExecution, Refusal> {
        let ability = match request {
            Request::Activate { ability, .. } | Request::Commit { ability, .. } | Request::End { ability, .. } => {
                ability
            }
            Request::Cancel { ability, .. } => {
                let may = self.sim.ability_doc(*ability).is_none_or(|d| d.client_may_cancel != Some(false));
                return if may { Ok(self.execution(*ability)) } else { Err(Refusal::Authority) };
            }
            _ => return Ok(NetExecution::LocalPredicted),
        };
        match self.execution(*ability) {
            NetExecution::ServerOnly => Err(Refusal::Authority),
            other => Ok(other),
        }
    }

    fn execution(&self, ability: AbilityId) -> NetExecution {
        self.sim.ability_doc(ability).map_or(NetExecution::default(), |d| d.net_execution)
    }

    fn level_of(&self, request: &Request) -> u32 {
        let Request::Apply { who, ability, .. } = request else { return 1 };
        let grants = self.sim.grants(*who).unwrap_or_default();
        grants.iter().find(|g| g.ability == *ability).map_or(1, |g| g.level)
    }

    /// Tells what was just played.
    fn tell(&mut self, tick: Tick) {
        self.sim.take_facts(&mut self.facts);
        for fact in &self.facts.list {
            self.waiting.predict(tick, fact, &self.facts, &mut self.out);
        }
    }

    /// Tells what was played since.
    fn drain(&mut self) {
        self.tell(self.tick);
    }

    // Time --------------------------------------------------------------------------------------------------------

    /// Local time went on. Plays the ticks that are due, with nobody to answer questions of tasks; how many.
    pub fn update(&mut self, elapsed: SimTime) -> u32 {
        self.update_with(elapsed, &mut NoHost)
    }

    /// The same with a host that answers.
    pub fn update_with(&mut self, elapsed: SimTime, host: &mut dyn Host) -> u32 {
        self.now += elapsed;
        let Some(pace) = &mut self.pace else { return 0 };
        let due = pace.pass(elapsed);
        let mut played = 0;
        while played < due && self.is_open() {
            self.play(host);
            played += 1;
        }
        played
    }

    /// Plays one tick.
    fn play(&mut self, host: &mut dyn Host) {
        self.drain();
        self.tick = self.tick.plus(1);
        self.sim.advance_to(self.tick.time(self.length), host);
        self.tell(self.tick);
        self.local.advance(self.sim.now(), host, &mut self.out);
        for row in &mut self.rows {
            if row.settled.is_none() {
                continue;
            }
            let mut stop = row.new_stop();
            (stop.tick, stop.mark) = (self.tick, self.sim.mark(row.who));
            if self.sim.capture(row.who, &mut stop.image).is_ok() {
                row.stops.push_back(stop);
            }
        }
        for (&who, marks) in &mut self.touched {
            marks.push_back((self.tick, self.sim.mark(who)));
        }
        let journalled = self.proxies.iter().map(|p| p.who()).filter(|&who| self.sim.journal_len(who) > 0);
        for who in journalled.collect::<Vec<_>>() {
            let mark = self.sim.mark(who);
            self.touched.entry(who).or_insert_with(|| VecDeque::from([(self.tick, mark)]));
        }
    }

    /// The server is at a tick this client has not played yet: it goes there at once. What it would have been in between
    /// nobody asks for.
    fn jump(&mut self, to: Tick) {
        if to.minus(1) > self.tick {
            self.drain();
            self.tick = to.minus(1);
            self.sim.advance_to(self.tick.time(self.length), &mut NoHost);
            self.tell(self.tick);
            self.rows.iter_mut().for_each(History::forget_stops);
        }
        if to > self.tick {
            self.play(&mut NoHost);
        }
    }

    // Out ---------------------------------------------------------------------------------------------------------

    /// The datagram to send, if there is something to say.
    pub fn send(&mut self, out: &mut dyn FnMut(&[u8])) {
        let mut keys = Vec::new();
        let Client { carrier, writer, rows, pending, sim, state, tick, now, .. } = self;
        let mut payload = |bytes: &mut Vec<u8>, room: usize| {
            if *state != ClientState::Playing || room < 64 {
                return;
            }
            writer.clear();
            for row in rows.iter_mut() {
                let have = row.have();
                writer.bit(have.is_some());
                if let Some(have) = have {
                    put_int(writer, tick.0 as i64 - have.0 as i64);
                }
                let hash = row.newest_hash(sim.rules()).filter(|(at, _)| at == tick && !row.asks);
                writer.bit(hash.is_some());
                if let Some((_, hash)) = hash {
                    writer.bits(hash as u64, 32);
                    row.note_told(*tick, hash);
                }
            }
            let mut body = BitWriter::new();
            for p in pending.iter().filter(|p| !p.heard).take(MAX_COMMANDS as usize) {
                let bytes = encode(&p.command);
                if writer.byte_len() + body.byte_len() + bytes.len() + 8 > room {
                    break;
                }
                put_uint(&mut body, bytes.len() as u64);
                body.bytes(&bytes);
                keys.push((p.command.base, p.command.sub));
            }
            put_uint(writer, keys.len() as u64);
            let bits = body.bit_len();
            // The run of bits lies in the writer it was taken from.
            let _ = writer.append(body.finish(), 0, bits);
            bytes.extend_from_slice(writer.finish());
        };
        let mut datagram = Vec::new();
        let number = carrier.write(*now, *tick, &mut datagram, &mut payload);
        if let Some(number) = number {
            self.carried.push_back((number.0, keys));
            if self.carried.len() > 512 {
                self.carried.pop_front();
            }
            out(&datagram);
        }
    }

    // In ----------------------------------------------------------------------------------------------------------

    /// Takes in a datagram of the server's. What cannot be read is counted and changes nothing more.
    pub fn receive(&mut self, datagram: &[u8]) {
        let (tick, payload) = match self.carrier.read(self.now, datagram) {
            Ok(opened) => (opened.tick, opened.payload.to_vec()),
            Err(_) => {
                self.counts.damaged += 1;
                return;
            }
        };
        self.fates.clear();
        self.carrier.take_verdicts(&mut self.fates);
        for &(number, arrived) in &self.fates {
            let Some(at) = self.carried.iter().position(|(n, _)| *n == number.0) else { continue };
            let Some((_, keys)) = self.carried.remove(at) else { continue };
            if arrived {
                let of = |p: &&mut Pending| keys.contains(&(p.command.base, p.command.sub));
                self.pending.iter_mut().filter(of).for_each(|p| p.heard = true);
            }
        }
        while let Some(message) = self.carrier.next_message() {
            match decode(&message) {
                Some(message) => self.hear(message, tick),
                None => self.counts.damaged += 1,
            }
        }
        if self.state == ClientState::Playing && !payload.is_empty() && self.read(&payload, tick).is_err() {
            // It says again what was not read, e.g. a state with a definition that is still under way.
            self.carrier.disown();
            self.counts.damaged += 1;
        }
    }

    fn hear(&mut self, message: ToClient, tick: Tick) {
        match message {
            ToClient::Welcome { client, length, seed, owned } => {
                if self.state != ClientState::Connecting || length <= SimTime::ZERO {
                    self.counts.damaged += 1;
                    return;
                }
                (self.client, self.seed, self.length, self.state) = (client, seed, length, ClientState::Playing);
                self.sim.seed_client(client, seed);
                self.rows = owned.iter().map(|&who| History::new(who)).collect();
                self.owned = owned;
                self.proxies = Proxies::new(self.sim.rules().clone(), length);
                self.pace = Some(Pace::new(length));
                let ahead = self.carrier.round_trip().unwrap_or(SimTime::millis(100)).0 / length.0.max(1) + 3;
                self.tick = tick.plus(ahead as u32);
                self.sim.advance_to(self.tick.time(length), &mut NoHost);
            }
            ToClient::Denied(denial) => self.state = ClientState::Denied(denial),
            ToClient::Define { id, doc } => {
                let adopted = serde_json::from_str(&doc).ok().map(|doc| self.sim.adopt_definition(id, &doc));
                if !matches!(adopted, Some(Ok(()))) {
                    self.counts.damaged += 1;
                }
            }
            ToClient::Gone { who, tick } => {
                self.proxies.remove(who, tick);
                self.touched.remove(&who);
                // Packets go on saying that it is gone; its place among the others stays.
                self.rows.iter_mut().filter(|r| r.who == who).for_each(|r| *r = History::new(who));
                self.owned.retain(|&o| o != who);
                self.sim.hide(who);
                let fact = plain(self.sim.now(), who, FactKind::Despawned);
                self.out.push(fact, None, Certainty::Server);
            }
            ToClient::Owner { who, tick, state } => {
                let Some(at) = self.rows.iter().position(|r| r.who == who) else { return };
                let mut tokens = Tokens::new();
                let mut from = BitReader::new(&state);
                let read = self.coder.decode(&Tokens::new(), &mut from, Limits::default(), &mut tokens);
                match read.and_then(|_| self.image_at(at, tick, &tokens)) {
                    Ok(image) => drop(self.correct(at, tick, image, tokens)),
                    Err(_) => self.counts.damaged += 1,
                }
            }
        }
    }

    fn read(&mut self, payload: &[u8], tick: Tick) -> Result<(), WireError> {
        let mut from = BitReader::new(payload);
        let first = from.bit()?;
        self.drain();
        if first {
            let slack = get_int(&mut from)?;
            let jitter = self.carrier.jitter().0 / self.length.0.max(1);
            if let Some(pace) = &mut self.pace {
                pace.hear(slack, 2 + jitter.clamp(0, 8));
            }
            self.jump(tick);
            // Nothing is done before everything about own controllers is understood: a verdict belongs to its state.
            let verdicts = read_verdicts(&mut from)?;
            let mut news = Vec::with_capacity(self.rows.len());
            for at in 0..self.rows.len() {
                news.push(self.read_owned(at, tick, &mut from)?);
            }
            let struck = self.take_verdicts(&verdicts);
            for (at, news) in news.into_iter().enumerate() {
                self.take_owned(at, tick, struck, news);
            }
            self.settle_proxies(tick, struck);
            for (id, op) in std::mem::take(&mut self.mispredicted) {
                // An ability that is not granted any more has nothing to clean up.
                let _ = self.sim.run_as(id, &op);
            }
        }
        self.read_views(tick, &mut from)
    }

    /// Whether a command that was played was refused.
    fn take_verdicts(&mut self, verdicts: &[Judged]) -> bool {
        let mut struck = false;
        let mispredicted = &mut self.mispredicted;
        for Judged { base, sub, done } in verdicts {
            let of = |p: &Pending| (p.command.base, p.command.sub) == (*base, *sub);
            let Some(at) = self.pending.iter().position(of) else { continue };
            let Some(pending) = self.pending.remove(at) else { continue };
            let id = pending.command.id(self.client);
            self.keys.judge(id, done.as_deref().unwrap_or_default());
            if done.is_none() {
                self.counts.refused += 1;
                if pending.played {
                    struck = true;
                    self.sim.strike_out(id);
                    self.waiting.undo(id, &mut self.out);
                    mispredicted.extend(pending.command.request.mispredicted().map(|op| (id, op)));
                }
            }
        }
        struck
    }

    fn read_owned(&mut self, at: usize, tick: Tick, from: &mut BitReader) -> Result<OwnerNews, WireError> {
        Ok(match from.bits(2)? {
            MATCHED => {
                let back = get_uint(from)?;
                OwnerNews::Matched(Tick(tick.0.saturating_sub(back.min(u32::MAX as u64) as u32)))
            }
            DELTA => {
                let back = get_uint(from)?;
                let mut tokens = Tokens::new();
                let empty = Tokens::new();
                let base = match back {
                    0 => &empty,
                    _ => {
                        let base = Tick(tick.0.saturating_sub(back.min(u32::MAX as u64) as u32));
                        self.rows[at].drop_states_before(base);
                        self.rows[at].state(base).ok_or(WireError::BadValue { what: "a state this client has not" })?
                    }
                };
                self.coder.decode(base, from, Limits::default(), &mut tokens)?;
                OwnerNews::State(self.image_at(at, tick, &tokens)?, tokens)
            }
            GONE => OwnerNews::Gone,
            _ => OwnerNews::Nothing,
        })
    }

    fn take_owned(&mut self, at: usize, tick: Tick, struck: bool, news: OwnerNews) {
        match news {
            OwnerNews::Matched(matched) => {
                match self.rows[at].confirmed(self.sim.rules(), matched, tick) {
                    Some((tick, image)) => self.settle(at, tick, image),
                    None => self.rows[at].asks |= !self.is_open(),
                }
                if struck {
                    self.rerun(at);
                }
            }
            OwnerNews::State(image, tokens) => {
                let ran = self.correct(at, tick, image, tokens);
                if struck && !ran {
                    self.rerun(at);
                }
            }
            OwnerNews::Gone => {}
            OwnerNews::Nothing if struck => self.rerun(at),
            OwnerNews::Nothing => {}
        }
    }

    // Reconciliation ----------------------------------------------------------------------------------------------

    /// A tick of an own controller is settled.
    fn settle(&mut self, at: usize, tick: Tick, image: RowImage) {
        let row = &mut self.rows[at];
        if row.settled.as_ref().is_some_and(|s| s.0 >= tick) {
            return;
        }
        if let Some(mark) = row.settle(tick, image) {
            self.sim.forget_journal(row.who, mark);
        }
        let (who, client, pending) = (row.who, self.client, &self.pending);
        let owned = &self.owned;
        // What somebody else's row shows is settled by verdicts.
        let is_settled = |f: &Fact| {
            let open = f.root.client() == client && pending.iter().any(|p| p.command.id(client) == f.root);
            (f.who == who || !owned.contains(&f.who)) && !open
        };
        self.waiting.confirm(tick, is_settled, &mut self.out);
    }

    /// The server's state of an own controller at a tick as an image, and what was noted up to then. None if a later
    /// tick is settled already.
    fn image_at(&mut self, at: usize, tick: Tick, tokens: &Tokens) -> Result<Option<Told>, WireError> {
        let bad = WireError::BadValue { what: "the state of a controller" };
        self.jump(tick);
        let row = &self.rows[at];
        if row.settled.as_ref().is_some_and(|s| s.0 >= tick) {
            return Ok(None);
        }
        let mut portable: Portable = tokens.read().map_err(|_| bad)?;
        if portable.id() != row.who {
            return Err(bad);
        }
        portable.set_at(tick.time(self.length));
        // Ticks before the first that was played here have no mark of their own: everything noted comes after them.
        let mark = row.stop(tick).map_or_else(|| self.sim.journal_start(row.who), |s| s.mark);
        let image = self.sim.image_of(&portable, mark).map_err(|_| bad)?;
        Ok(Some(Told { image, mark }))
    }

    /// Takes over the server's state of an own controller at a tick. Whether the controller was run again.
    fn correct(&mut self, at: usize, tick: Tick, told: Option<Told>, tokens: Tokens) -> bool {
        let row = &mut self.rows[at];
        let Some(Told { image, mark }) = told else {
            row.keep_state(tick, tokens);
            return false;
        };
        row.asks = false;
        let played = row.stop(tick).and_then(|s| s.image.hash_without(self.sim.rules(), &row.hidden));
        let told = image.hash_without(self.sim.rules(), &row.hidden);
        row.keep_state(tick, tokens);
        let who = row.who;
        let first = row.settled.is_none();
        self.settle(at, tick, image);
        if first {
            // The journal begins with the first state.
            self.begin(at);
        }
        let late = self.play_late_again(at, tick, mark);
        let differs = played.is_none() || played != told || late;
        if differs {
            self.counts.corrections += u64::from(played.is_some());
            self.rerun(at);
        }
        if first {
            let fact = plain(self.sim.now(), who, FactKind::Spawned { owner: ugas_core::ActorId::NONE });
            self.out.push(fact, None, Certainty::Server);
        }
        differs
    }

    /// Commands of ticks the server has spoken about, but that have not come to it in time: they count after what it says,
    /// until their verdict comes. Whether there are any.
    fn play_late_again(&mut self, at: usize, tick: Tick, mark: JournalMark) -> bool {
        let open = self.pending.iter().filter(|p| p.played && p.command.tick <= tick);
        let level = |request: &Request| self.level_of(request);
        let late: Vec<(OpId, Op)> =
            open.map(|p| (p.command.id(self.client), p.command.request.op(level(&p.command.request)))).collect();
        self.sim.journal_again(self.rows[at].who, mark, tick.time(self.length), &late);
        !late.is_empty()
    }

    fn begin(&mut self, at: usize) {
        let who = self.rows[at].who;
        if let Some((_, image)) = &self.rows[at].settled {
            // A row that was just checked finds its place.
            let stop = [(self.sim.now(), JournalMark::default())];
            let _ = self.sim.rerun(image, &stop, &mut [RowImage::default()]);
        }
        let _ = self.sim.keep_journal(who);
        let rules = self.sim.rules().clone();
        // Of all sets: what the controller has may change.
        let sets = (0..).map(SetId).take_while(|&set| rules.set_name(set).is_some());
        let all = sets.filter_map(|set| rules.set_attributes(set)).flatten();
        self.rows[at].hidden = all.filter(|a| a.replication == ReplicationMode::None).map(|a| a.attribute).collect();
    }

    /// Runs an own controller again from the last settled tick.
    fn rerun(&mut self, at: usize) {
        let row = &mut self.rows[at];
        let who = row.who;
        let Some((settled, image)) = &row.settled else { return };
        let before = Shown::of(&self.sim, who);
        let end = (self.sim.now(), self.sim.mark(who));
        let mut stops: Vec<(SimTime, JournalMark)> =
            row.stops.iter().map(|s| (s.tick.time(self.length), s.mark)).collect();
        stops.push(end);
        let mut images: Vec<RowImage> = row.stops.iter_mut().map(|s| std::mem::take(&mut s.image)).collect();
        images.push(RowImage::default());
        let done = self.sim.rerun(image, &stops, &mut images);
        for (stop, image) in row.stops.iter_mut().zip(images) {
            stop.image = image;
        }
        self.counts.rerun += row.stops.len() as u64;
        self.counts.longest = self.counts.longest.max(row.stops.len() as u64);
        let after = *settled;
        self.sim.take_facts(&mut self.facts);
        if done.is_err() {
            self.counts.damaged += 1;
        }
        let run = Run { who, after, length: self.length, again: &self.facts };
        let (client, pending) = (self.client, &self.pending);
        let is_open = |root: OpId| root.client() == client && pending.iter().any(|p| p.command.id(client) == root);
        let touched = self.waiting.compare(run, is_open, &mut self.out);
        let now = Shown::of(&self.sim, who);
        before.compare(&now, &touched, self.sim.now(), &mut self.out);
        before.blends(&now, self.config.blend, &mut self.blends);
    }

    // Others ------------------------------------------------------------------------------------------------------

    fn read_views(&mut self, tick: Tick, from: &mut BitReader) -> Result<(), WireError> {
        let mut last = None;
        self.changes.clear();
        let mut seen = Vec::new();
        let mut read = Ok(());
        loop {
            match read_next(from, &mut last) {
                Ok(Some(who)) => {
                    read = self.proxies.read(from, who, tick, &mut self.changes);
                    if read.is_err() {
                        break;
                    }
                    seen.push(who);
                }
                Ok(None) => break,
                Err(error) => {
                    read = Err(error);
                    break;
                }
            }
        }
        let changes = std::mem::take(&mut self.changes);
        for &who in &seen {
            self.show(who, tick);
        }
        for (who, change) in &changes {
            self.tell_change(*who, change);
        }
        self.changes = changes;
        read
    }

    /// Puts a proxy row to what is known of it at a tick, and does again what was done to it here since.
    fn show(&mut self, who: ControllerId, tick: Tick) {
        let Some(proxy) = self.proxies.get(who) else { return };
        let tick = self.heard_up_to(tick);
        let marks = self.touched.get(&who);
        let mark = marks.and_then(|m| m.iter().rev().find(|(t, _)| *t <= tick)).map(|(_, mark)| *mark);
        let snapshot = proxy.snapshot();
        let at = tick.time(self.length).min(self.sim.now());
        let row = ProxyRow {
            who,
            at,
            sets: &snapshot.sets,
            values: &snapshot.values,
            tags: &snapshot.tags,
            anchor: self.sim.anchor(who).ok().flatten(),
        };
        let start = self.sim.journal_start(who);
        let image = self.sim.image_of_proxy(&row, mark.map_or(start, |m| m.max(start)));
        let end = (self.sim.now(), self.sim.mark(who));
        let done = image.and_then(|image| self.sim.rerun(&image, &[end], &mut [RowImage::default()]));
        self.sim.take_facts(&mut self.facts);
        if done.is_err() {
            self.counts.damaged += 1;
        }
        if !self.owned.contains(&who) {
            // A journal that is there already goes on.
            let _ = self.sim.keep_journal(who);
        }
    }

    /// The last tick up to which the server has heard every command.
    fn heard_up_to(&self, tick: Tick) -> Tick {
        let open = self.pending.iter().filter(|p| p.played).map(|p| p.command.tick.minus(1)).min();
        open.map_or(tick, |open| open.min(tick))
    }

    /// What was done here to others up to a tick the server has spoken about goes: what it says of them holds.
    fn settle_proxies(&mut self, tick: Tick, struck: bool) {
        let tick = self.heard_up_to(tick);
        let touched: Vec<ControllerId> = self.touched.keys().copied().collect();
        for who in touched {
            let Some(marks) = self.touched.get_mut(&who) else { continue };
            let mut settled = None;
            while marks.front().is_some_and(|(t, _)| *t <= tick) {
                settled = marks.pop_front().map(|(_, mark)| mark);
            }
            if let Some(mark) = settled {
                self.sim.forget_journal(who, mark);
            }
            if settled.is_some() || struck {
                self.show(who, tick);
            }
            if self.sim.journal_len(who) == 0 {
                self.touched.remove(&who);
            }
        }
    }

    fn tell_change(&mut self, who: ControllerId, change: &Change) {
        let at = self.sim.now();
        let mut put = |kind, key: EffectKey, effect: EffectId| {
            let fact = Fact { key, effect, ..plain(at, who, kind) };
            self.out.push(fact, None, Certainty::Server);
        };
        let (no_key, no_effect) = (EffectKey::NONE, EffectId::NONE);
        match *change {
            Change::Shaped => put(FactKind::Restored, no_key, no_effect),
            Change::Attribute { attribute, old, new } => {
                let old = old.unwrap_or(new);
                put(
                    FactKind::AttributeChanged { attribute, old, new, old_base: old, new_base: new },
                    no_key,
                    no_effect,
                );
            }
            Change::Tag { tag, added } => {
                put(FactKind::TagChanged { tag, added, exact: true, presence: true }, no_key, no_effect);
            }
            Change::Effect(e) => {
                put(FactKind::EffectApplied { level: e.level, stacks: e.stacks }, e.key, e.effect);
            }
            Change::EffectGone(key) => put(FactKind::EffectRemoved { reason: RemoveReason::Removed }, key, no_effect),
            Change::Loop { cue, added } => {
                let kind = if added { CueType::Add } else { CueType::Remove };
                put(FactKind::Cue { tag: cue, cue: kind, detail: Default::default() }, no_key, no_effect);
            }
            Change::Burst(burst) => {
                let kind = FactKind::Cue { tag: burst.cue, cue: CueType::Execute, detail: Default::default() };
                put(kind, burst.key, no_effect);
            }
        }
    }
}

/// What became of a command.
struct Judged {
    base: u32,
    sub: u16,
    /// The abilities it activated; none if it was refused.
    done: Option<Vec<AbilityId>>,
}

/// What a packet says of an own controller.
enum OwnerNews {
    Nothing,
    /// It is as it was played, at this tick.
    Matched(Tick),
    State(Option<Told>, Tokens),
    Gone,
}

/// A state of the server's.
struct Told {
    image: RowImage,
    /// The end of the journal at its tick.
    mark: JournalMark,
}

fn read_verdicts(from: &mut BitReader) -> Result<Vec<Judged>, WireError> {
    let mut verdicts = Vec::new();
    let mut bytes = Vec::new();
    for _ in 0..get_uint_to(from, MAX_VERDICTS, "verdicts")? {
        let base = get_uint_to(from, u32::MAX as u64, "a base")? as u32;
        let sub = get_uint_to(from, u16::MAX as u64, "a sub")? as u16;
        let mut done = None;
        if from.bit()? {
            let length = get_uint_to(from, 256, "bytes of a refusal")?;
            bytes.clear();
            from.bytes(length as usize, &mut bytes)?;
        } else {
            let done = done.insert(Vec::new());
            for _ in 0..get_uint_to(from, MAX_DONE, "activations")? {
                done.push(AbilityId(get_uint_to(from, u32::MAX as u64, "an ability")? as u32));
            }
        }
        verdicts.push(Judged { base, sub, done });
    }
    Ok(verdicts)
}

/// A fact with nothing but who and what.
fn plain(at: SimTime, who: ControllerId, kind: FactKind) -> Fact {
    let Cause { root, link } = Cause::default();
    let (source, key, effect) = (ControllerId::NONE, EffectKey::NONE, EffectId::NONE);
    Fact { at, who, source, key, root, link, effect, kind }
}

/// What a player sees of a controller.
struct Shown {
    who: ControllerId,
    values: Vec<(AttributeId, f64, f64)>,
    tags: Vec<TagId>,
    effects: Vec<(EffectKey, EffectId, u32, u32)>,
}

impl Shown {
    fn of(sim: &Sim, who: ControllerId) -> Shown {
        let attributes = sim.attributes(who).unwrap_or_default();
        let value = |a: AttributeId| Some((a, sim.base(who, a).ok()?, sim.get(who, a).ok()?));
        let values = attributes.into_iter().filter_map(value).collect();
        let tags = sim.tags(who).unwrap_or_default().into_iter().map(|(tag, _)| tag).collect();
        let effects = sim.effects(who).unwrap_or_default();
        let effects = effects.into_iter().map(|e| (e.key, e.effect, e.level, e.stacks)).collect();
        Shown { who, values, tags, effects }
    }

    /// Tells what a correction changed that nothing else tells of.
    fn compare(&self, now: &Shown, touched: &[Fact], at: SimTime, out: &mut NetFacts) {
        let told = |f: &dyn Fn(&FactKind) -> bool| touched.iter().any(|t| f(&t.kind));
        for &(attribute, new_base, new) in &now.values {
            let Some(&(_, old_base, old)) = self.values.iter().find(|v| v.0 == attribute) else { continue };
            let about = |k: &FactKind| matches!(k, FactKind::AttributeChanged { attribute: a, .. } if *a == attribute);
            if (old, old_base) != (new, new_base) && !told(&about) {
                let kind = FactKind::AttributeChanged { attribute, old, new, old_base, new_base };
                out.push(plain(at, self.who, kind), None, Certainty::Server);
            }
        }
        let gone = self.tags.iter().filter(|t| !now.tags.contains(t)).map(|t| (*t, false));
        let new = now.tags.iter().filter(|t| !self.tags.contains(t)).map(|t| (*t, true));
        for (tag, added) in gone.chain(new) {
            let about = |k: &FactKind| matches!(k, FactKind::TagChanged { tag: t, .. } if *t == tag);
            if !told(&about) {
                let kind = FactKind::TagChanged { tag, added, exact: true, presence: true };
                out.push(plain(at, self.who, kind), None, Certainty::Server);
            }
        }
        let has = |list: &[(EffectKey, EffectId, u32, u32)], key: EffectKey| list.iter().any(|e| e.0 == key);
        for &(key, effect, level, stacks) in now.effects.iter().filter(|e| !has(&self.effects, e.0)) {
            if !touched.iter().any(|f| f.key == key) {
                let fact = plain(at, self.who, FactKind::EffectApplied { level, stacks });
                out.push(Fact { key, effect, ..fact }, None, Certainty::Server);
            }
        }
        for &(key, effect, ..) in self.effects.iter().filter(|e| !has(&now.effects, e.0)) {
            if !touched.iter().any(|f| f.key == key) {
                let fact = plain(at, self.who, FactKind::EffectRemoved { reason: RemoveReason::Removed });
                out.push(Fact { key, effect, ..fact }, None, Certainty::Server);
            }
        }
    }

    /// Values that jumped further than a share of the larger one.
    fn blends(&self, now: &Shown, share: f64, out: &mut Vec<Blend>) {
        for &(attribute, _, to) in &now.values {
            let Some(&(_, _, from)) = self.values.iter().find(|v| v.0 == attribute) else { continue };
            if (to - from).abs() > share * to.abs().max(from.abs()) {
                out.push(Blend { who: self.who, attribute, from, to });
            }
        }
    }
}
