//! The server session: commands in, states out.
//!
//! Each tick: commands whose tick has come are judged and run, the sim moves one length on, and what changed is noted
//! once. Sending then only selects and copies: owners get the exact difference to what they have (nothing where they had
//! it right themselves), everybody else gets the views.

mod bystand;
mod echo;
mod numbers;
mod observe;
mod owner;
mod peer;
mod receive;
mod run;
mod secret;
mod send;

use crate::authority::{AuthoredRange, Claims, Reach, Reason, Whitelist};
use crate::carrier::{CarrierConfig, PacketNumber};
use crate::interest::{Bandwidth, Interest, Priority, RateTable, Relevance};

use crate::mask::hidden_from_owners;
use crate::message::Denial;
use crate::types::{MAX_DATAGRAM, MAX_OWNED, PeerId, Tick};
use crate::view::Board;
use crate::wire::bits::BitWriter;
use crate::wire::delta::Coder;

use bystand::Bystand;
use numbers::Numbers;
pub use secret::Secret;

pub(crate) use owner::{DELTA, GONE, MATCHED, NOTHING};
use peer::{Peer, Phase};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use thiserror::Error;
use ugas_core::{AttributeId, ControllerId, Facts, Op, Refusal, Sim, SimTime};
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
    /// Length of a tick. Clients take one within [`TICK_LENGTHS`] and no other.
    ///
    /// [`TICK_LENGTHS`]: crate::types::TICK_LENGTHS
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
    /// Whether a player who leaves lets go of what it holds down. Else the host does, or its controllers go on as they were.
    pub release: bool,
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
            release: true,
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
    /// More controllers than one client may own.
    #[error("{0} controllers are too many for one player; at most {MAX_OWNED} are played ahead on one machine")]
    Many(usize),
    /// Every number for clients is in use.
    #[error("65,534 clients are here already, and keys have room for no more; let some leave, or start another server")]
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
/// use ugas_net::server::{Secret, Server, ServerConfig};
/// use ugas_net::types::PeerId;
/// let rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
/// let mut server = Server::new(sim, ServerConfig::default(), Secret::known(1));
/// server.connect(PeerId(1), &[hero])?;
/// server.step(&mut NoHost);
/// server.send(&mut |_peer, datagram| assert!(datagram.len() <= 1200));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Server {
    sim: Sim,
    config: ServerConfig,
    secret: Secret,
    tick: Tick,
    peers: BTreeMap<PeerId, Peer>,
    numbers: Numbers,
    board: Board,
    /// How many controllers were gone when the board was last looked through.
    departed: u64,
    /// Attributes that even owners may not see.
    hidden: Vec<AttributeId>,
    modes: BTreeMap<ControllerId, ControllerReplication>,
    /// Whose mode was set since the last tick.
    remade: BTreeSet<ControllerId>,
    reach: Arc<dyn Reach>,
    interest: Interest,
    effects: Whitelist,
    claims: Claims,
    bystand: Bystand,
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
    /// A session about a sim. The sim's role becomes that of an authority. What clients roll comes out of the secret: on a
    /// public host, sixteen bytes from the operating system.
    pub fn new(mut sim: Sim, config: ServerConfig, secret: Secret) -> Server {
        sim.remote_mut().set_role(ugas_core::Role::Authority);
        let board = Board::new(sim.rules().clone(), config.length);
        let effects = Whitelist::of(&sim);
        let tick = Tick((sim.now().0 / config.length.0.max(1)) as u32);
        // A sim that was served before tells only what changes; who stands still is shown all the same.
        let remade = sim.controllers().collect();
        Server {
            departed: sim.remote().removed_count(),
            hidden: hidden_from_owners(sim.rules()),
            board,
            effects,
            sim,
            tick,
            config,
            secret,
            peers: BTreeMap::new(),
            numbers: Numbers::default(),
            modes: BTreeMap::new(),
            remade,
            reach: Arc::new(AuthoredRange),
            claims: Claims::default(),
            bystand: Bystand::default(),
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
        self.reach = Arc::new(reach);
    }

    /// Whom clients are told of, instead of everybody.
    pub fn set_relevance(&mut self, relevance: impl Relevance + 'static) {
        self.interest.relevance = Arc::new(relevance);
        self.peers.values_mut().for_each(|p| p.views.reconsider());
    }

    /// Who comes first and which kind of actor everybody is, instead of by distance.
    pub fn set_priority(&mut self, priority: impl Priority + 'static) {
        self.interest.priority = Arc::new(priority);
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

    /// How a controller is replicated from the next tick on, where it is not as the setup says. An owner that is then
    /// told no more than others does not play it any more, until it is told everything again. Forgotten when the
    /// controller leaves the sim, unless it belongs to a player who is here.
    pub fn set_mode(&mut self, who: ControllerId, mode: ControllerReplication) {
        self.modes.insert(who, mode);
        self.remade.insert(who);
    }

    /// How a controller is replicated.
    pub fn mode(&self, who: ControllerId) -> ControllerReplication {
        self.modes.get(&who).copied().unwrap_or(self.config.mode)
    }

    /// The facts of the ticks since they were last taken. Whoever does not take them for too long loses the oldest.
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
        self.sim.remote().hash_without(who, &self.hidden)
    }

    /// Peers that play.
    pub fn playing(&self) -> impl Iterator<Item = PeerId> {
        self.peers.iter().filter(|(_, p)| p.phase == Phase::Playing).map(|(id, _)| *id)
    }

    /// Peers that may not play, and why. They are told, and stay connected until the host or they themselves end it.
    pub fn denied(&self) -> impl Iterator<Item = (PeerId, &Denial)> {
        self.peers.iter().filter_map(|(id, p)| match &p.phase {
            Phase::Denied(denial) => Some((*id, denial)),
            Phase::Silent | Phase::Playing => None,
        })
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
        if owns.len() > MAX_OWNED {
            return Err(ConnectError::Many(owns.len()));
        }
        if let Some(&who) = owns.iter().find(|&&who| !self.sim.exists(who)) {
            return Err(ConnectError::NoController(who));
        }
        let owned = |who: &&ControllerId| self.peers.values().any(|p| p.owned.contains(who));
        if let Some(&who) = owns.iter().find(owned) {
            return Err(ConnectError::Owned(who));
        }
        let number = self.numbers.take().ok_or(ConnectError::Full)?;
        self.peers.insert(peer, Peer::new(number, owns, &self.config, self.tick));
        Ok(number.client)
    }

    /// Forgets a connection. Its controllers stay; the inputs they hold down go up, by ops like any other, unless the
    /// setup says otherwise ([`ServerConfig::release`]).
    pub fn disconnect(&mut self, peer: PeerId) {
        if let Some(gone) = self.peers.remove(&peer) {
            for &who in gone.owned.iter().filter(|_| self.config.release) {
                // One that is not there holds nothing.
                for input in self.sim.held_inputs(who).unwrap_or_default() {
                    let _ = self.sim.run(Op::Release { who, input });
                }
            }
            self.sim.remote_mut().clear_client_seed(gone.number.client);
            self.numbers.give_back(gone.number.client, gone.last_base());
        }
    }

    /// The next peer, by rising number.
    fn peer_after(&self, last: Option<PeerId>) -> Option<PeerId> {
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        self.peers.range((from, Bound::Unbounded)).next().map(|(id, _)| *id)
    }
}

/// Whether an owner gets the exact state, and so may play ahead.
fn is_exact(mode: ControllerReplication) -> bool {
    matches!(mode, ControllerReplication::Mixed | ControllerReplication::Full)
}

/// A line that takes so many bytes a second, and a tenth of a second's worth or a few packets at once.
pub(crate) fn line(per_second: u32) -> Bandwidth {
    Bandwidth::new(per_second, (per_second / 10).max(4 * MAX_DATAGRAM as u32))
}
