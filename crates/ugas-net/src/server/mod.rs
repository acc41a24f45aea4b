//! The server session: commands in, states out.
//!
//! Each tick: commands whose tick has come are judged and run, the sim moves one length on, and what changed is noted
//! once. Sending then only selects and copies: owners get the exact difference to what they have (nothing where they had
//! it right themselves), everybody else gets the views.

mod observe;
mod owner;
mod peer;

use crate::authority::{AuthoredRange, Claims, Judge, Reach, Reason, Whitelist};
use crate::carrier::{CarrierConfig, PacketNumber};
use crate::interest::{Bandwidth, Interest, Priority, RateTable, Relevance};
use crate::message::{Command, Denial, PROTOCOL, ToClient, ToServer, Verdict, decode, encode};
use crate::types::{MAX_DATAGRAM, PeerId, Tick};
use crate::view::Board;
use crate::wire::bits::{BitReader, BitWriter, WireError};
use crate::wire::delta::Coder;
use crate::wire::number::{get_int, get_uint_to, put_int, put_uint};
use observe::{Message, Sight};
use owner::Owned;
pub(crate) use owner::{DELTA, GONE, MATCHED, NOTHING};
use peer::{Limits, Peer, Phase, Told};
use std::collections::BTreeMap;
use std::ops::Bound;
use thiserror::Error;
use ugas_core::{AbilityId, ControllerId, Fact, FactKind, Facts, Host, Outcome, Refusal, Sim, SimTime};
use ugas_doc::ControllerReplication;

/// Commands in one packet at most.
pub(crate) const MAX_COMMANDS: u64 = 64;
/// Bytes of one command at most.
pub(crate) const MAX_COMMAND: u64 = 512;
/// Activations one command may tell of.
pub(crate) const MAX_DONE: u64 = 32;
/// Bytes of the first message at least: longer than what is said to who may not play.
pub(crate) const LEAST_HELLO: usize = 256;
/// Bytes somebody who does not play yet may save up for answers.
const MAX_CREDIT: usize = 4 * MAX_DATAGRAM;
/// Verdicts in one packet at most.
pub(crate) const MAX_VERDICTS: u64 = 64;

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Length of a tick.
    pub length: SimTime,
    /// How controllers are replicated for which nobody says otherwise.
    pub mode: ControllerReplication,
    /// How many ticks ahead of the server a command may be.
    pub ahead: u32,
    /// How many ticks late a command may come and still count from its own tick.
    pub behind: u32,
    /// Packets one client may send in a tick on average; four times as many at once.
    pub packets: u32,
    /// Commands one client may give in a tick on average; sixteen times as many at once.
    pub commands: u32,
    /// Datagrams to one client in a tick at most.
    pub datagrams: u32,
    /// Bytes a second to one client. Its own controllers and verdicts are sent in any case; others as far as there is room.
    pub bandwidth: u32,
    /// Seed of the seeds that clients get.
    pub secret: u64,
    /// Limits and patience of connections.
    pub carrier: CarrierConfig,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            length: SimTime::frames(1, 60),
            mode: ControllerReplication::Mixed,
            ahead: 60,
            behind: 15,
            packets: 4,
            commands: 4,
            datagrams: 4,
            bandwidth: 128 * 1024,
            secret: 0,
            carrier: CarrierConfig::default(),
        }
    }
}

/// Why a connection was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConnectError {
    /// The number is in use.
    #[error("peer {} is connected already; give each connection a number of its own", .0.0)]
    Taken(PeerId),
    /// A controller that is not there.
    #[error("controller {} does not exist; spawn it before its player connects", .0.0)]
    NoController(ControllerId),
    /// A controller of another player.
    #[error("controller {} belongs to another player; one controller has one owner", .0.0)]
    Owned(ControllerId),
    /// Every number for clients was given.
    #[error("65,534 clients were here already; start the server anew")]
    Full,
}

/// What clients sent that was not done, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    list: BTreeMap<Reason, u64>,
}

impl Counts {
    fn add(&mut self, reason: Reason) {
        *self.list.entry(reason).or_default() += 1;
    }

    /// How often for this reason.
    pub fn of(&self, reason: Reason) -> u64 {
        self.list.get(&reason).copied().unwrap_or(0)
    }

    /// All reasons there were.
    pub fn iter(&self) -> impl Iterator<Item = (Reason, u64)> {
        self.list.iter().map(|(reason, n)| (*reason, *n))
    }
}

/// The authority of a session.
///
/// ```
/// use ugas_core::{NoHost, Rules, Sim, SimConfig, SpawnSpec};
/// use ugas_doc::{Attribute, AttributeSet};
/// use ugas_net::server::{Server, ServerConfig};
/// use ugas_net::types::PeerId;
/// let rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let hero = sim.spawn(SpawnSpec::sets(vec![rules.set("Vitals").unwrap()]))?;
/// let mut server = Server::new(sim, ServerConfig::default());
/// server.connect(PeerId(1), &[hero])?;
/// server.step(&mut NoHost);
/// server.send(&mut |_peer, datagram| assert!(datagram.len() <= 1200));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    sim: Sim,
    config: ServerConfig,
    tick: Tick,
    peers: BTreeMap<PeerId, Peer>,
    next_client: u16,
    board: Board,
    modes: BTreeMap<ControllerId, ControllerReplication>,
    reach: Box<dyn Reach>,
    interest: Interest,
    effects: Whitelist,
    claims: Claims,
    counts: Counts,
    facts: Facts,
    /// The facts of the tick under way.
    noted: Facts,
    changed: Vec<ControllerId>,
    fates: Vec<(PacketNumber, bool)>,
    writer: BitWriter,
    coder: Coder,
    out: Vec<u8>,
}

impl Server {
    /// A session about a sim. The sim's role becomes that of an authority.
    pub fn new(mut sim: Sim, config: ServerConfig) -> Server {
        sim.set_role(ugas_core::Role::Authority);
        let board = Board::new(sim.rules().clone(), config.length);
        let effects = Whitelist::of(&sim);
        let tick = Tick((sim.now().0 / config.length.0.max(1)) as u32);
        Server {
            board,
            effects,
            sim,
            tick,
            config,
            peers: BTreeMap::new(),
            next_client: 1,
            modes: BTreeMap::new(),
            reach: Box::new(AuthoredRange),
            claims: Claims::default(),
            interest: Interest::default(),
            counts: Counts::default(),
            facts: Facts::default(),
            noted: Facts::default(),
            changed: Vec::new(),
            fates: Vec::new(),
            writer: BitWriter::new(),
            coder: Coder::default(),
            out: Vec::new(),
        }
    }

    /// The authoritative world.
    pub fn sim(&self) -> &Sim {
        &self.sim
    }

    /// The authoritative world, for the host's own ops between ticks.
    pub fn sim_mut(&mut self) -> &mut Sim {
        &mut self.sim
    }

    /// The last tick that is over.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// Length of a tick.
    pub fn length(&self) -> SimTime {
        self.config.length
    }

    /// What clients sent that was not done.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Who decides what can be reached, instead of the authored range.
    pub fn set_reach(&mut self, reach: impl Reach + 'static) {
        self.reach = Box::new(reach);
    }

    /// Whom clients are told of, instead of everybody.
    pub fn set_relevance(&mut self, relevance: impl Relevance + 'static) {
        self.interest.relevance = Box::new(relevance);
    }

    /// Who comes first and which kind of actor everybody is, instead of by distance.
    pub fn set_priority(&mut self, priority: impl Priority + 'static) {
        self.interest.priority = Box::new(priority);
    }

    /// How often the kinds of actors are sent.
    pub fn set_rates(&mut self, rates: RateTable) {
        self.interest.rates = rates;
    }

    /// Bytes a second to one client, instead of what the setup says.
    pub fn set_bandwidth(&mut self, peer: PeerId, per_second: u32) {
        if let Some(p) = self.peers.get_mut(&peer) {
            p.views.set_line(line(per_second));
        }
    }

    /// How a controller is replicated, where it is not as the setup says. Call it before the controller's first tick.
    pub fn set_mode(&mut self, who: ControllerId, mode: ControllerReplication) {
        self.modes.insert(who, mode);
        self.board.remove(who);
    }

    /// How a controller is replicated.
    pub fn mode(&self, who: ControllerId) -> ControllerReplication {
        self.modes.get(&who).copied().unwrap_or(self.config.mode)
    }

    /// The facts of the ticks since they were last taken.
    pub fn take_facts(&mut self, into: &mut Facts) {
        into.list.clear();
        into.detail.clear();
        std::mem::swap(&mut self.facts, into);
    }

    /// A client's measured round trip.
    pub fn round_trip(&self, peer: PeerId) -> Option<SimTime> {
        self.peers.get(&peer)?.carrier.round_trip()
    }

    /// The hash of a controller as its owner may know it, after the last tick: what its client's
    /// [`settled_hash`](crate::client::Client::settled_hash) comes to.
    pub fn owner_hash(&self, who: ControllerId) -> Result<u64, Refusal> {
        self.sim.row_hash_without(who, &owner::hidden(&self.sim, who))
    }

    /// Peers that play.
    pub fn playing(&self) -> impl Iterator<Item = PeerId> {
        self.peers.iter().filter(|(_, p)| p.phase == Phase::Playing).map(|(id, _)| *id)
    }

    /// Memory that depends on what clients send: packets in flight, commands that wait, verdicts. For tests of bounds.
    pub fn held(&self) -> usize {
        self.peers.values().map(|p| p.flying.len() + p.waiting() + p.verdicts.len() + p.carrier.held()).sum()
    }

    /// Takes a connection whose player owns these controllers. The transport has made sure who it is. Gives the client's
    /// number, which is in every key of its commands.
    pub fn connect(&mut self, peer: PeerId, owns: &[ControllerId]) -> Result<u16, ConnectError> {
        if self.peers.contains_key(&peer) {
            return Err(ConnectError::Taken(peer));
        }
        if let Some(&who) = owns.iter().find(|&&who| !self.sim.exists(who)) {
            return Err(ConnectError::NoController(who));
        }
        let owned = |who: &&ControllerId| self.peers.values().any(|p| p.owned.contains(who));
        if let Some(&who) = owns.iter().find(owned) {
            return Err(ConnectError::Owned(who));
        }
        let client = self.next_client;
        // The last number is for what clients do by themselves.
        self.next_client = client.checked_add(1).filter(|&next| next < u16::MAX).ok_or(ConnectError::Full)?;
        let rates = (self.config.packets * 4, self.config.commands * 16);
        self.peers.insert(peer, Peer::new(client, owns, self.config.carrier, rates, line(self.config.bandwidth)));
        Ok(client)
    }

    /// Forgets a connection. Its controllers stay; their inputs are let go.
    pub fn disconnect(&mut self, peer: PeerId) {
        if let Some(gone) = self.peers.remove(&peer) {
            self.sim.unseed_client(gone.client);
        }
    }

    /// Takes in a datagram. What is wrong with it is counted, never an error: it is the client's.
    pub fn receive(&mut self, peer: PeerId, datagram: &[u8]) {
        let Some(p) = self.peers.get_mut(&peer) else {
            return self.counts.add(Reason::Packet);
        };
        if !p.packets.take() {
            return self.counts.add(Reason::PacketRate);
        }
        p.credit = p.credit.saturating_add(datagram.len()).min(MAX_CREDIT);
        let now = self.tick.time(self.config.length);
        let opened = match p.carrier.read(now, datagram) {
            Ok(opened) => opened,
            Err(_) => return self.counts.add(Reason::Packet),
        };
        let (tick, payload) = (opened.tick, opened.payload);
        p.settle(&mut self.fates);
        while let Some(message) = self.peers.get_mut(&peer).and_then(|p| p.carrier.next_message()) {
            self.hear(peer, &message);
        }
        let Some(p) = self.peers.get_mut(&peer) else { return };
        if p.phase == Phase::Playing && !payload.is_empty() {
            p.slack = (tick.0 as i64 - self.tick.0 as i64).clamp(-127, 127) as i32;
            let read = read_payload(p, payload, tick, self.tick, &self.config, &mut self.counts);
            if read.is_err() {
                self.counts.add(Reason::Payload);
            }
        }
    }

    fn hear(&mut self, peer: PeerId, message: &[u8]) {
        let Some(p) = self.peers.get_mut(&peer) else { return };
        let (protocol, rules) = match decode(message) {
            Some(ToServer::Hello { protocol, rules, .. }) if message.len() >= LEAST_HELLO => (protocol, rules),
            Some(ToServer::Again) if p.phase == Phase::Playing => return p.views.again(),
            _ => return self.counts.add(Reason::Message),
        };
        if p.phase != Phase::Silent {
            return self.counts.add(Reason::Message);
        }
        let ours = self.sim.rules().fingerprint();
        let denial = if protocol != PROTOCOL {
            Some(Denial::Protocol { server: PROTOCOL, client: protocol })
        } else if rules != ours {
            Some(Denial::Rules { server: ours, client: rules })
        } else {
            None
        };
        let answer = match denial {
            Some(denial) => {
                p.phase = Phase::Denied;
                ToClient::Denied(denial)
            }
            None => {
                p.phase = Phase::Playing;
                let seed = mix(self.config.secret ^ mix(p.client as u64));
                self.sim.seed_client(p.client, seed);
                let owned: Vec<ControllerId> = p.owned.iter().copied().filter(|&who| self.sim.exists(who)).collect();
                let modes = &self.modes;
                let mode = |who: &ControllerId| modes.get(who).copied().unwrap_or(self.config.mode);
                p.rows = owned.iter().filter(|who| is_exact(mode(who))).map(|&who| Owned::new(who)).collect();
                let owned = p.rows.iter().map(|r| r.who).collect();
                ToClient::Welcome { client: p.client, length: self.config.length, seed, owned }
            }
        };
        // A queue that is full here belongs to a client that never answers.
        if p.carrier.push(&encode(&answer)).is_err() {
            self.counts.add(Reason::Message);
        }
    }

    /// One tick: commands, then time, then what changed.
    pub fn step(&mut self, host: &mut dyn Host) {
        self.tick = self.tick.plus(1);
        let mut last = None;
        while let Some(id) = self.peer_after(last) {
            self.run_commands(id);
            last = Some(id);
        }
        self.sim.advance_to(self.tick.time(self.config.length), host);
        self.collect();
    }

    /// The next peer, by rising number.
    fn peer_after(&self, last: Option<PeerId>) -> Option<PeerId> {
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        self.peers.range((from, Bound::Unbounded)).next().map(|(id, _)| *id)
    }

    fn run_commands(&mut self, id: PeerId) {
        let Some(p) = self.peers.get_mut(&id) else { return };
        p.packets.fill(self.config.packets);
        p.commands.fill(self.config.commands);
        while let Some(command) = self.peers.get_mut(&id).and_then(|p| p.next_due(self.tick)) {
            let before = self.sim.facts().list.len();
            let result = self.run_command(id, &command);
            let mut done: Vec<AbilityId> = self.activated(id, &command, before);
            done.truncate(MAX_DONE as usize);
            let Some(p) = self.peers.get_mut(&id) else { return };
            p.last_tick = p.last_tick.max(command.tick);
            let refused = match result {
                Ok(()) => None,
                Err((reason, refusal)) => {
                    if let (Reason::Rules, Some(op)) = (reason, command.request.mispredicted()) {
                        // An ability that is not granted any more has nothing to clean up.
                        let _ = self.sim.run_as(command.id(p.client), &op);
                    }
                    self.counts.add(reason);
                    Some(refusal)
                }
            };
            p.judged(Verdict { base: command.base, sub: command.sub, refused, done });
        }
    }

    /// The abilities a command activated.
    fn activated(&self, id: PeerId, command: &Command, before: usize) -> Vec<AbilityId> {
        let Some(p) = self.peers.get(&id) else { return Vec::new() };
        let (key, facts) = (command.id(p.client), &self.sim.facts().list);
        // A log that overflowed begins anew.
        let new = facts.get(before..).unwrap_or(facts);
        let of = |f: &Fact| match f.kind {
            FactKind::AbilityActivated { ability, .. } if f.root == key => Some(ability),
            _ => None,
        };
        new.iter().filter_map(of).collect()
    }

    fn run_command(&mut self, id: PeerId, command: &Command) -> Result<(), (Reason, Refusal)> {
        let Some(p) = self.peers.get(&id) else { return Err((Reason::Authority, Refusal::Authority)) };
        if command.tick < p.last_tick {
            return Err((Reason::Key, Refusal::Authority));
        }
        let judge = Judge { sim: &self.sim, owned: &p.owned, reach: &*self.reach, effects: &self.effects };
        let op = judge.judge(command)?;
        let key = command.id(p.client);
        let (now, claimed) = (self.sim.now(), command.tick.minus(1).time(self.config.length));
        let result = if claimed >= now {
            self.sim.run_as(key, &op)
        } else {
            let from = self.claims.counted_from(&self.sim, &command.request, claimed)?;
            self.sim.run_late(key, &op, now - from.min(now))
        };
        match result {
            Ok(Outcome::Pressed { activated: None, refused: Some(refusal) }) => Err((Reason::Rules, refusal)),
            Ok(_) => Ok(()),
            Err(refusal) => Err((Reason::Rules, refusal)),
        }
    }

    /// Notes what the tick changed, once for everybody.
    fn collect(&mut self) {
        let mut facts = std::mem::take(&mut self.noted);
        self.sim.take_facts(&mut facts);
        self.sim.take_changed(&mut self.changed);
        self.remove_gone();
        for &who in &self.changed {
            if self.sim.exists(who) && self.board.mode(who).is_none() {
                let mode = self.modes.get(&who).copied().unwrap_or(self.config.mode);
                // A controller that exists can be shown; one whose mode is None is not.
                let _ = self.board.add(&self.sim, who, mode, self.tick);
            }
        }
        self.board.update(&self.sim, self.tick, &self.changed);
        self.board.bursts(&facts);
        self.claims.note(&facts, self.tick.minus(self.config.behind.saturating_add(1)).time(self.config.length));
        for p in self.peers.values_mut().filter(|p| p.phase == Phase::Playing) {
            for row in &mut p.rows {
                row.look(&self.sim);
                if let Ok(hash) = self.sim.row_hash_without(row.who, &row.hidden) {
                    row.note(self.tick, hash as u32);
                }
            }
        }
        for fact in facts.list.iter().filter(|f| f.root.client() != 0) {
            let by = self.peers.values_mut().find(|p| p.client == fact.root.client());
            if let Some(p) = by.filter(|p| !p.owned.contains(&fact.who)) {
                p.views.touch(fact.who, self.tick);
            }
        }
        self.facts.append(&facts);
        self.noted = facts;
    }

    /// Controllers that are no more are shown no more.
    fn remove_gone(&mut self) {
        let mut at = 0;
        while let Some(&who) = self.board.ids().get(at) {
            if self.sim.exists(who) {
                at += 1;
                continue;
            }
            self.board.remove(who);
            self.modes.remove(&who);
        }
    }

    /// Datagrams for everybody, after the tick.
    pub fn send(&mut self, out: &mut dyn FnMut(PeerId, &[u8])) {
        let mut last = None;
        while let Some(id) = self.peer_after(last) {
            last = Some(id);
            self.define(id);
            for round in 0..self.config.datagrams {
                let more = self.write(id, round == 0);
                if !self.out.is_empty() {
                    out(id, &self.out);
                }
                if !more {
                    break;
                }
            }
        }
    }

    /// Tells a client of definitions made at run time that it does not have.
    fn define(&mut self, id: PeerId) {
        let given = self.sim.definitions_given();
        let Some(p) = self.peers.get_mut(&id) else { return };
        if p.phase != Phase::Playing || p.defined == given {
            return;
        }
        let known = p.defined | ugas_core::RUNTIME_BIT;
        let number = |id: &ugas_core::DefId| match id {
            ugas_core::DefId::Effect(e) => e.0,
            ugas_core::DefId::Ability(a) => a.0,
        };
        for (def, doc) in self.sim.definitions().filter(|(def, _)| number(def) >= known) {
            let Ok(doc) = serde_json::to_string(doc) else { continue };
            if p.carrier.push(&encode(&ToClient::Define { id: def, doc })).is_err() {
                return;
            }
        }
        p.defined = given;
    }

    /// Writes one datagram for a client; whether there is more to say.
    fn write(&mut self, id: PeerId, first: bool) -> bool {
        let (tick, now) = (self.tick, self.tick.time(self.config.length));
        self.out.clear();
        let Some(p) = self.peers.get_mut(&id) else { return false };
        if p.phase != Phase::Playing && p.credit < LEAST_HELLO {
            return false;
        }
        p.settle(&mut self.fates);
        p.welcomed |= p.phase == Phase::Playing && p.carrier.is_idle();
        let playing = p.welcomed;
        let mut told = p.spare.pop().unwrap_or_default();
        let mut more = false;
        let Server { sim, board, interest, writer, coder, out, counts, config, .. } = self;
        let (rows, verdicts, views, owned, slack) = (&mut p.rows, &p.verdicts, &mut p.views, &p.owned, p.slack);
        let place = owned.first().and_then(|&who| sim.anchor(who).ok().flatten()).map(|a| a.position);
        let (length, round_trip) = (config.length, p.carrier.round_trip().unwrap_or(SimTime::ZERO));
        if first {
            views.pass(length);
        }
        let mut streamed: Vec<Vec<u8>> = Vec::new();
        let mut messages: Vec<Message> = Vec::new();
        let mut payload = |bytes: &mut Vec<u8>, room: usize| {
            if !playing || room < 32 {
                return;
            }
            let room = room * 8;
            writer.clear();
            writer.bit(first);
            if first {
                put_int(writer, slack as i64);
                write_verdicts(writer, verdicts, &mut told, room / 4);
                for row in rows.iter_mut() {
                    // Who plays ahead of a validation knows better what will be.
                    if sim.awaits_validation(row.who) {
                        writer.bits(NOTHING, 2);
                        continue;
                    }
                    match row.write(sim, tick, coder, writer, room - 64) {
                        Ok(true) => {}
                        Ok(false) => {
                            writer.bits(NOTHING, 2);
                            let mut whole = BitWriter::new();
                            if row.whole(tick, coder, &mut whole) {
                                let state = whole.finish().to_vec();
                                streamed.push(encode(&ToClient::Owner { who: row.who, tick, state }));
                            }
                        }
                        Err(_) => writer.bits(GONE, 2),
                    }
                }
            }
            let sight = Sight { board, interest, owned, place, tick, length, round_trip, room };
            let begun = writer.bit_len();
            more = views.write(sight, !first, writer, &mut told, &mut messages);
            if !first && writer.bit_len() == begun {
                return;
            }
            bytes.extend_from_slice(writer.finish());
        };
        let number = p.carrier.write(now, tick, out, &mut payload);
        for message in streamed {
            if p.carrier.push(&message).is_err() {
                counts.add(Reason::Message);
            }
        }
        for message in messages {
            let is_in = p.carrier.push(&message.bytes).is_ok();
            p.views.pushed(&message, tick, is_in);
            if !is_in {
                counts.add(Reason::Message);
            }
        }
        p.views.spend(out.len());
        p.credit = p.credit.saturating_sub(self.out.len());
        match number {
            Some(number) => {
                (told.number, told.tick) = (number.0, tick);
                p.tell(told);
            }
            None => p.spare.push(told),
        }
        more && self.out.len() <= MAX_DATAGRAM
    }
}

/// Whether an owner gets the exact state, and so may play ahead.
fn is_exact(mode: ControllerReplication) -> bool {
    matches!(mode, ControllerReplication::Mixed | ControllerReplication::Full)
}

fn write_verdicts(out: &mut BitWriter, verdicts: &[Verdict], told: &mut Told, room: usize) {
    let begun = out.bit_len();
    let mut kept = 0;
    let mut body = BitWriter::new();
    for v in verdicts.iter().take(MAX_VERDICTS as usize) {
        let before = body.bit_len();
        put_uint(&mut body, v.base as u64);
        put_uint(&mut body, v.sub as u64);
        body.bit(v.refused.is_some());
        if let Some(refusal) = &v.refused {
            let bytes = encode(refusal);
            put_uint(&mut body, bytes.len() as u64);
            body.bytes(&bytes);
        } else {
            put_uint(&mut body, v.done.len() as u64);
            v.done.iter().for_each(|a| put_uint(&mut body, a.0 as u64));
        }
        if begun + body.bit_len() > room {
            body.truncate(before);
            break;
        }
        kept += 1;
        told.verdicts.push((v.base, v.sub));
    }
    put_uint(out, kept);
    let bits = body.bit_len();
    // The run of bits lies in the writer it was taken from.
    let _ = out.append(body.finish(), 0, bits);
}

/// A line that takes so many bytes a second, and a tenth of a second's worth or a few packets at once.
fn line(per_second: u32) -> Bandwidth {
    Bandwidth::new(per_second, (per_second / 10).max(4 * MAX_DATAGRAM as u32))
}

fn read_payload(
    p: &mut Peer,
    payload: &[u8],
    tick: Tick,
    now: Tick,
    config: &ServerConfig,
    counts: &mut Counts,
) -> Result<(), WireError> {
    let mut from = BitReader::new(payload);
    for row in &mut p.rows {
        let have = if from.bit()? {
            let back = get_int(&mut from)?;
            Some(Tick((tick.0 as i64).saturating_sub(back).clamp(0, u32::MAX as i64) as u32))
        } else {
            None
        };
        let hash = if from.bit()? { Some(from.bits(32)? as u32) } else { None };
        row.claim(now, tick, hash, have);
    }
    let count = get_uint_to(&mut from, MAX_COMMANDS, "commands")?;
    let mut bytes = Vec::new();
    for _ in 0..count {
        let length = get_uint_to(&mut from, MAX_COMMAND, "bytes of a command")?;
        bytes.clear();
        from.bytes(length as usize, &mut bytes)?;
        match decode::<Command>(&bytes) {
            Some(command) => {
                let (base, sub) = (command.base, command.sub);
                let limits = Limits { ahead: config.ahead, behind: config.behind };
                if let Err(reason) = p.keep(command, &bytes, now, limits) {
                    counts.add(reason);
                    p.judged(Verdict { base, sub, refused: Some(Refusal::Pending), done: Vec::new() });
                }
            }
            None => counts.add(Reason::Payload),
        }
    }
    Ok(())
}

/// One step of SplitMix64's finaliser: seeds of neighbours have nothing in common.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
