//! The client session: prediction, reconciliation, proxies.
//!
//! The client's sim holds its own controllers, run ahead with the same code as the server's, and a proxy row for everybody
//! else it hears of. When the server's word about a tick differs from what was played, the controller is put to the
//! server's state and everything since is run again, within the call that brought the word: no tick in between shows half
//! of a correction.

mod command;
mod history;
mod keys;
mod knowledge;
mod leap;
mod local;
mod others;
mod own;
mod pace;
mod proxies;
mod receive;
mod reconcile;
mod shown;
mod told;

pub use keys::{Prediction, PredictionKey, Standing};
pub use knowledge::{ClientExplanation, Knowledge};
pub use leap::Loss;
pub use told::{Certainty, NetFacts};

use crate::carrier::{Carrier, CarrierConfig, PacketNumber};
use crate::mask::hidden_from_owners;
use crate::message::{Command, Denial, PROTOCOL, Request, ToServer, encode};
use crate::server::MAX_COMMANDS;
use crate::types::Tick;
use crate::view::{Change, Proxies};
use crate::wire::bits::BitWriter;
use crate::wire::delta::Coder;
use crate::wire::number::{put_int, put_uint};

use history::History;
use keys::Keys;
use leap::Leap;
use local::Local;
use pace::Pace;
use proxies::Places;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use told::Waiting;
use ugas_core::{
    ActivationKey, AttributeId, ControllerId, Fact, Facts, Host, JournalPosition, NoHost, OpId, Outcome, Role, Rules,
    Sim, SimConfig, SimTime, Target,
};

/// Commands that may wait for a verdict.
const MAX_PENDING: usize = 256;

/// Bytes of definitions made at run time that a client takes from a server.
const MAX_DEFINED: usize = 16 * 1024 * 1024;

/// How a client is set up.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// How far the client may run ahead of the last state the server spoke about; at most half a second. Beyond it commands
    /// are refused as pending ([`Client::command`]).
    pub window: SimTime,
    /// Differences of attributes above this share of the larger value ask for a blend.
    pub blend: f64,
    /// How much later than they are heard of others are shown, so that they move evenly.
    pub interpolation: SimTime,
    /// Controllers of others that are shown at most. Of more only their number is known ([`ClientCounts::crowded`]).
    pub proxies: usize,
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
            interpolation: SimTime::millis(100),
            proxies: 4096,
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
    /// It will not have the server any more: it hears and says nothing, and plays no further.
    Lost(Loss),
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
    /// The controller.
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
    /// Packets and messages that could not be read.
    pub damaged: u64,
    /// Packets that had been read before: networks double some.
    pub duplicate: u64,
    /// Packets older than the newest that was read: they were overtaken on their way. What they said is said again.
    pub outdated: u64,
    /// Commands that were not played because the window was closed.
    pub closed: u64,
    /// Sections about controllers that are not shown because too many are shown already.
    pub crowded: u64,
}

#[derive(Clone)]
struct Pending {
    command: Command,
    /// Whether it was played ahead.
    played: bool,
    /// Whether the server has it.
    heard: bool,
}

/// A player's machine.
#[derive(Clone)]
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
    mispredicted: VecDeque<Request>,
    length: SimTime,
    tick: Tick,
    /// Where the window begins: the newest tick of the server's that was heard of, and the first own one until then.
    heard: Tick,
    leap: Leap,
    now: SimTime,
    pace: Option<Pace>,
    rows: Vec<History>,
    owned: Vec<ControllerId>,
    proxies: Proxies,
    places: Places,
    /// Marks of journals of proxies something was done to here, by tick.
    touched: BTreeMap<ControllerId, VecDeque<(Tick, JournalPosition)>>,
    pending: VecDeque<Pending>,
    carried: VecDeque<(u64, Vec<(u32, u16)>)>,
    base: u32,
    sub: u16,
    base_tick: Tick,
    waiting: Waiting,
    out: NetFacts,
    /// Up to where the packet that is read says what the client did to its own controllers.
    said: Option<Tick>,
    /// What was told of own controllers and turned out not to have happened, until it is seen what is there instead.
    untrue: Vec<Fact>,
    /// What abilities aimed at by themselves.
    aimed: Vec<(ActivationKey, Target)>,
    /// Facts that abilities which run here only have heard of.
    watched: usize,
    blends: Vec<Blend>,
    counts: ClientCounts,
    coder: Coder,
    writer: BitWriter,
    facts: Facts,
    changes: Vec<(ControllerId, Change)>,
    fates: Vec<(PacketNumber, bool)>,
    /// Bytes of definitions made at run time.
    defined: usize,
}

impl Client {
    /// A client that wants to play under these rules.
    pub fn new(rules: Arc<Rules>, config: ClientConfig) -> Client {
        let mut carrier = Carrier::new(config.carrier);
        let hello = ToServer::Hello { protocol: PROTOCOL, rules: rules.fingerprint(), padding: vec![0; 256] };
        // An empty queue takes it.
        let _ = carrier.push(&encode(&hello));
        let sim = Sim::new(rules.clone(), SimConfig { role: Role::Client, ..config.sim.clone() });
        let (length, hidden) = (SimTime::frames(1, 60), hidden_from_owners(&rules));
        Client {
            sim,
            carrier,
            state: ClientState::Connecting,
            client: 0,
            seed: 0,
            keys: Keys::default(),
            local: Local::default(),
            mispredicted: VecDeque::new(),
            length,
            tick: Tick(0),
            heard: Tick(0),
            leap: Leap::default(),
            now: SimTime::ZERO,
            pace: None,
            rows: Vec::new(),
            owned: Vec::new(),
            proxies: Proxies::new(rules, length),
            places: Places::default(),
            touched: BTreeMap::new(),
            pending: VecDeque::new(),
            carried: VecDeque::new(),
            base: 0,
            sub: 0,
            base_tick: Tick(0),
            waiting: Waiting::new(hidden),
            out: NetFacts::default(),
            said: None,
            untrue: Vec::new(),
            aimed: Vec::new(),
            watched: 0,
            blends: Vec::new(),
            counts: ClientCounts::default(),
            coder: Coder::default(),
            writer: BitWriter::new(),
            facts: Facts::default(),
            changes: Vec::new(),
            fates: Vec::new(),
            defined: 0,
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
        ClientCounts { crowded: self.proxies.refused(), ..self.counts }
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
        let rows: usize = self.rows.iter().map(|r| r.stops.len() + self.sim.remote().journal_len(r.who)).sum();
        let proxies: usize =
            self.touched.iter().map(|(&who, marks)| marks.len() + self.sim.remote().journal_len(who)).sum();
        rows + proxies + self.pending.len() + self.waiting.len()
    }

    /// Journal entries of own and other controllers: what would be run again.
    pub fn journalled(&self) -> usize {
        let rows: usize = self.rows.iter().map(|r| self.sim.remote().journal_len(r.who)).sum();
        rows + self.touched.keys().map(|&who| self.sim.remote().journal_len(who)).sum::<usize>()
    }

    /// Swaps out what happened since this was last asked. Whoever does not ask for too long loses the oldest.
    pub fn take_facts(&mut self, into: &mut NetFacts) {
        into.clear();
        self.watched = 0;
        std::mem::swap(&mut self.out, into);
    }

    /// Nobody takes what happened: the oldest go.
    fn forget_facts(&mut self) {
        let most = self.sim.config().limits.facts as usize;
        if self.out.certainty.len() > most {
            self.out.clear();
            self.watched = 0;
        }
        if self.blends.len() > most {
            self.blends.clear();
        }
    }

    /// Swaps out the values that jumped.
    pub fn take_blends(&mut self, into: &mut Vec<Blend>) {
        into.clear();
        std::mem::swap(&mut self.blends, into);
    }

    // Time --------------------------------------------------------------------------------------------------------

    /// Local time went on. Plays the ticks that are due, with nobody to answer questions of tasks; how many.
    pub fn update(&mut self, elapsed: SimTime) -> u32 {
        self.update_with(elapsed, &mut NoHost)
    }

    /// The same with a host that answers.
    pub fn update_with(&mut self, elapsed: SimTime, host: &mut dyn Host) -> u32 {
        self.now += elapsed;
        self.leap.pass(elapsed);
        self.forget_facts();
        if matches!(self.state, ClientState::Lost(_)) {
            return 0;
        }
        let Some(due) = self.pace.as_mut().map(|pace| pace.pass(elapsed)) else { return 0 };
        self.clean_up();
        let mut played = 0;
        while played < due && self.is_near() {
            self.play(host);
            played += 1;
        }
        played
    }

    /// Plays one tick.
    fn play(&mut self, host: &mut dyn Host) {
        self.drain();
        let window = self.window() as usize;
        self.tick = self.tick.plus(1);
        self.sim.advance_with(self.tick.time(self.length), host);
        self.tell(self.tick);
        self.say_aims();
        self.local.advance(self.sim.now(), host, &mut self.out);
        self.watch();
        for row in &mut self.rows {
            if row.settled.is_none() {
                continue;
            }
            let mut stop = row.new_stop();
            (stop.tick, stop.mark) = (self.tick, self.sim.remote().journal_end(row.who));
            if self.sim.capture(row.who, &mut stop.image).is_ok() {
                row.stops.push_back(stop);
                row.keep_stops(window);
            }
        }
        self.mark_proxies(window);
    }

    /// The server is at a tick this client has not played yet: it goes there at once. What it would have been in between
    /// nobody asks for. Whether it may go so far.
    fn jump(&mut self, to: Tick) -> bool {
        if !self.may_leap(to) {
            return false;
        }
        if to.minus(1) > self.tick {
            self.drain();
            self.tick = to.minus(1);
            self.sim.advance_to(self.tick.time(self.length));
            self.tell(self.tick);
            self.rows.iter_mut().for_each(History::forget_stops);
        }
        if to > self.tick {
            self.play(&mut NoHost);
        }
        true
    }

    // Out ---------------------------------------------------------------------------------------------------------

    /// The datagram to send, if there is something to say.
    pub fn send(&mut self, out: &mut dyn FnMut(&[u8])) {
        if matches!(self.state, ClientState::Lost(_)) {
            return;
        }
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
}
