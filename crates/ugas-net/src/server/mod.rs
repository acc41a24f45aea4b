//! The server session, which receives commands and sends state.
//!
//! In each tick the server validates and runs the commands that are due, advances the sim, and collects the changes
//! once for all clients. For each client it then only selects and copies changes. An owning client gets the exact delta
//! to its baseline, or only a confirmation if its prediction is correct. Observers get the changed parts of the visible
//! state.

mod confirm;
mod grace;
mod local;
mod moves;
mod numbers;
mod observe;
mod observed;
mod owner;
mod peer;
mod receive;
mod reload;
mod reveal;
mod run;
mod secret;
mod send;
mod uses;

use crate::authority::{
    AnomalyScore, AuthoredRange, CooldownHistory, MoveBudget, MovementConfig, RejectReason, TargetPolicy,
};
use crate::carrier::{ConnectionConfig, PacketNumber};
use crate::interest::{Bandwidth, Interest, Priority, RateTable, Relevance};

use crate::mask::hidden_from_owners;
use crate::message::Denial;
use crate::rolls::Blocks;
use crate::types::{MAX_DATAGRAM, MAX_OWNED, PeerId, Tick};
use crate::view::ReplicationStore;
use crate::wire::bits::BitWriter;
use crate::wire::delta::Coder;

pub use grace::GraceReport;
use numbers::Numbers;
use observed::ObservedActivations;
pub use secret::Secret;

pub(crate) use moves::{move_command, move_id};
pub(crate) use owner::{DELTA, MATCHED, NOTHING, REMOVED};
use peer::{Peer, Phase};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use thiserror::Error;
use ugas_core::{AttributeId, ControllerId, Facts, LocalRunner, Op, Refusal, Rules, Sim, SimTime, UsedAbility};
use ugas_doc::ControllerReplication;

/// The maximum number of commands in one packet.
pub(crate) const MAX_COMMANDS: u64 = 64;
/// The maximum number of bytes of one command.
pub(crate) const MAX_COMMAND: u64 = 512;
/// The first Sub of moves. The Subs of other commands are lower, so the keys differ.
pub(crate) const MOVE_SUB: u16 = u16::MAX - MAX_OWNED as u16;
/// The slack with the shortest code, because most slacks are near it. The slack of a packet is the number of ticks by
/// which it arrived early.
pub(crate) const USUAL_SLACK: i64 = 4;
/// The maximum number of activations in one verdict.
pub(crate) const MAX_ACTIVATED: u64 = 32;
/// The minimum number of bytes of a client's first message: more than any answer to a denied client.
pub(crate) const MIN_HELLO: usize = 256;
/// The maximum number of received bytes that count as credit for answers to a peer that has not joined.
const MAX_CREDIT: usize = 4 * MAX_DATAGRAM;
/// The maximum number of clients that get their first state in one tick. The first state costs much more than later
/// ones, so many clients that join at once are served over several ticks.
pub(crate) const STARTS_PER_TICK: u32 = 16;
/// The maximum number of verdicts in one packet.
pub(crate) const MAX_VERDICTS: u64 = 64;

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The tick length. Clients accept only a length within [`TICK_LENGTHS`].
    ///
    /// [`TICK_LENGTHS`]: crate::types::TICK_LENGTHS
    pub tick_length: SimTime,
    /// The replication mode of controllers without a mode of their own ([`Server::set_replication`]).
    pub replication: ControllerReplication,
    /// The maximum number of ticks by which a command may be early. If these ticks last less than one second, the limit
    /// is one second instead ([`ServerConfig::early_ticks`]).
    pub max_early_ticks: u32,
    /// The maximum number of ticks by which a command may be late. A late command takes effect as of its own tick. If
    /// these ticks last less than 250 ms, the limit is 250 ms instead ([`ServerConfig::late_ticks`]).
    pub max_late_ticks: u32,
    /// The average number of packets per tick that a client may send. In a burst, a client may send four times as many.
    pub packets_per_tick: u32,
    /// The average number of commands per tick that a client may send. In a burst, a client may send sixteen times as
    /// many.
    pub commands_per_tick: u32,
    /// The maximum number of datagrams per tick that the server sends to one client.
    pub datagrams_per_tick: u32,
    /// The bandwidth that the server uses for one client, in bytes per second. Verdicts and owned controllers are
    /// always sent; remote actors use the remaining bandwidth.
    pub bytes_per_second: u32,
    /// Whether the server releases the held inputs of a client when the client disconnects.
    pub release_inputs: bool,
    /// The speed limits of moves, unless [`TargetPolicy::can_move`] decides.
    pub movement: MovementConfig,
    /// How early a client may use an ability, as a share of its round trip time, from 0 to 1. A command that comes at
    /// most that much before the end of a global cooldown or of a cooldown that began with a use is not rejected: the
    /// server keeps it and runs it at that end, so the rate of use does not rise. A recharge that followed another
    /// recharge has no grace. The default is 0: no command is kept.
    ///
    /// A client predicts its cooldowns, so it needs the grace only where it cannot know their lengths.
    pub grace: f64,
    /// Limits and timeouts of connections.
    pub connection: ConnectionConfig,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            tick_length: SimTime::frames(1, 60),
            replication: ControllerReplication::Mixed,
            max_early_ticks: 60,
            max_late_ticks: 15,
            packets_per_tick: 4,
            commands_per_tick: 4,
            datagrams_per_tick: 4,
            bytes_per_second: 128 * 1024,
            release_inputs: true,
            movement: MovementConfig::default(),
            grace: 0.0,
            connection: ConnectionConfig::default(),
        }
    }
}

impl ServerConfig {
    /// Returns the maximum number of ticks by which a command may be early: [`ServerConfig::max_early_ticks`], but at
    /// least one second.
    pub fn early_ticks(&self) -> u32 {
        self.max_early_ticks.max(self.ticks_in(SimTime::millis(1000)))
    }

    /// Returns the maximum number of ticks by which a command may be late: [`ServerConfig::max_late_ticks`], but at
    /// least 250 ms.
    pub fn late_ticks(&self) -> u32 {
        self.max_late_ticks.max(self.ticks_in(SimTime::millis(250)))
    }

    /// Returns how early a client with this round trip time may use an ability ([`ServerConfig::grace`]). The result is
    /// at most the time by which a command may be late.
    ///
    /// ```
    /// use ugas_core::SimTime;
    /// use ugas_net::server::ServerConfig;
    /// let config = ServerConfig { grace: 0.2, ..ServerConfig::default() };
    /// assert_eq!(config.grace_of(SimTime::millis(100)), SimTime::millis(20));
    /// ```
    pub fn grace_of(&self, round_trip: SimTime) -> SimTime {
        // A share that is not a number is no grace.
        let share = if self.grace > 0.0 { self.grace.min(1.0) } else { 0.0 };
        let most = self.tick_length.0.saturating_mul(i64::from(self.late_ticks()));
        SimTime((round_trip.0.max(0) as f64 * share).round() as i64).min(SimTime(most))
    }

    fn ticks_in(&self, time: SimTime) -> u32 {
        let ticks = time.0 / self.tick_length.0.max(1);
        ticks.clamp(0, i64::from(u32::MAX)) as u32
    }
}

/// Why [`Server::connect`] failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConnectError {
    /// The peer number is in use.
    #[error("peer {} is already connected; use a new number for each connection", .0.0)]
    PeerInUse(PeerId),
    /// A controller does not exist.
    #[error("controller {} does not exist; spawn it before its player connects", .0.0)]
    UnknownController(ControllerId),
    /// A controller belongs to another client.
    #[error("controller {} is owned by another client; disconnect that client first", .0.0)]
    AlreadyOwned(ControllerId),
    /// The client would own more controllers than allowed.
    #[error("a client may own at most {MAX_OWNED} controllers, found {0}")]
    TooManyControllers(usize),
    /// No client number is available. Each number is in use by a connected client, or too many of its prediction keys
    /// were used by earlier clients.
    #[error("the server is full: no client number is available; start another server")]
    ServerFull,
}

/// The packets, messages and commands that the server rejected, counted by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RejectionCounts {
    list: BTreeMap<RejectReason, u64>,
}

impl RejectionCounts {
    fn add(&mut self, reason: RejectReason) {
        *self.list.entry(reason).or_default() += 1;
    }

    /// Returns the number of rejections for a reason.
    pub fn of(&self, reason: RejectReason) -> u64 {
        self.list.get(&reason).copied().unwrap_or(0)
    }

    /// Returns the reasons that have occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (RejectReason, u64)> {
        self.list.iter().map(|(reason, n)| (*reason, *n))
    }
}

/// The session of an authoritative server.
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
    /// The division of ticks into blocks that have one seed each.
    blocks: Blocks,
    /// The abilities that rolled in this tick.
    used: Vec<UsedAbility>,
    /// The movement budgets of controllers whose client has left.
    kept_movement: BTreeMap<ControllerId, MoveBudget>,
    /// For each ability, the number of the first use whose seed the sim does not have.
    use_ends: BTreeMap<UsedAbility, u32>,
    tick: Tick,
    /// The time that passed without ticks.
    idle: SimTime,
    peers: BTreeMap<PeerId, Peer>,
    numbers: Numbers,
    store: ReplicationStore,
    /// The number of removed controllers when the store was last cleaned.
    removed_count: u64,
    /// The rules that the session follows: those of the sim at the last tick.
    rules: Arc<Rules>,
    /// Earlier rules, the oldest first.
    earlier_rules: VecDeque<Arc<Rules>>,
    /// Attributes that are hidden from owning clients.
    hidden: Vec<AttributeId>,
    modes: BTreeMap<ControllerId, ControllerReplication>,
    /// Controllers whose mode was set since the last tick.
    mode_changes: BTreeSet<ControllerId>,
    target_policy: Arc<dyn TargetPolicy>,
    interest: Interest,
    cooldowns: CooldownHistory,
    observed: ObservedActivations,
    counts: RejectionCounts,
    /// Reports that the host has not taken.
    reports: Vec<GraceReport>,
    facts: Facts,
    /// The facts of the current tick.
    tick_facts: Facts,
    /// Runs the capabilities that exist on this machine only.
    runner: LocalRunner,
    changed: Vec<ControllerId>,
    packet_results: Vec<(PacketNumber, bool)>,
    /// The positions of the owned controllers of the client to which a packet is written.
    positions: Vec<[f64; 3]>,
    /// How many more clients may get their first state in this tick.
    starts_left: u32,
    /// The peers in the order in which their commands run in this tick.
    command_order: Vec<PeerId>,
    /// Changes in the tick that something other than the commands of the controller's client may have caused: the
    /// controller, the client of the root op and the source.
    external: Vec<(ControllerId, u16, ControllerId)>,
    writer: BitWriter,
    coder: Coder,
    out: Vec<u8>,
}

impl Server {
    /// Creates a session for a sim and sets the role of the sim to [`Authority`](ugas_core::Role::Authority). If the sim
    /// had another role, the execution sides of its capabilities are evaluated again: capabilities of a standalone sim
    /// that a server does not run in its rows are deactivated and end. The random seeds of clients are derived from the secret. On a public server, create the secret from random bytes of
    /// the operating system ([`Secret::new`]).
    pub fn new(mut sim: Sim, config: ServerConfig, secret: Secret) -> Server {
        sim.remote_mut().set_role(ugas_core::Role::Authority);
        let store = ReplicationStore::new(sim.rules().clone(), config.tick_length);
        let tick = Tick((sim.now().0 / config.tick_length.0.max(1)) as u32);
        // A sim that had a session before reports only changed controllers; unchanged controllers are added here.
        let mode_changes = sim.controllers().collect();
        Server {
            removed_count: sim.remote().removed_count(),
            rules: sim.rules().clone(),
            earlier_rules: VecDeque::new(),
            hidden: hidden_from_owners(sim.rules()),
            store,
            sim,
            tick,
            idle: SimTime::ZERO,
            blocks: Blocks::new(config.tick_length),
            kept_movement: BTreeMap::new(),
            used: Vec::new(),
            use_ends: BTreeMap::new(),
            config,
            secret,
            peers: BTreeMap::new(),
            numbers: Numbers::default(),
            modes: BTreeMap::new(),
            mode_changes,
            target_policy: Arc::new(AuthoredRange),
            cooldowns: CooldownHistory::default(),
            observed: ObservedActivations::default(),
            interest: Interest::default(),
            counts: RejectionCounts::default(),
            reports: Vec::new(),
            facts: Facts::default(),
            tick_facts: Facts::default(),
            runner: LocalRunner::default(),
            changed: Vec::new(),
            packet_results: Vec::new(),
            positions: Vec::new(),
            starts_left: STARTS_PER_TICK,
            command_order: Vec::new(),
            external: Vec::new(),
            writer: BitWriter::new(),
            coder: Coder::default(),
            out: Vec::new(),
        }
    }

    /// Returns the authoritative sim.
    pub fn sim(&self) -> &Sim {
        &self.sim
    }

    /// Returns a mutable reference to the authoritative sim, so that the host can run ops between ticks. If the host
    /// reloads the rules of the sim, the next tick does the same as after [`Server::reload`].
    pub fn sim_mut(&mut self) -> &mut Sim {
        &mut self.sim
    }

    /// Returns the last completed tick.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// Returns the tick length.
    pub fn tick_length(&self) -> SimTime {
        self.config.tick_length
    }

    /// Adds time that passed without a tick, for example while the host waits for all clients before the game starts.
    /// The server reports this time with its acks, so that clients can subtract it from the measured round trip.
    pub fn idle(&mut self, elapsed: SimTime) {
        self.idle = SimTime(self.idle.0.saturating_add(elapsed.0.max(0)));
    }

    /// Returns the time of sent and received packets: the end of the last tick plus the time that passed without ticks
    /// ([`Server::idle`]).
    fn now(&self) -> SimTime {
        SimTime(self.tick.time(self.config.tick_length).0.saturating_add(self.idle.0))
    }

    /// Returns how many packets, messages and commands of clients the server rejected, by reason.
    pub fn counts(&self) -> &RejectionCounts {
        &self.counts
    }

    /// Returns how many packets, messages and commands of one client the server rejected, by reason.
    pub fn counts_of(&self, peer: PeerId) -> Option<&RejectionCounts> {
        self.peers.get(&peer).map(|p| &p.rejections)
    }

    /// Returns the anomaly score of a client. Each rejection that honest play does not cause, or causes only rarely,
    /// raises the score, and the score decays with time. The server only reports the score; the host decides what to
    /// do, for example to log or disconnect the client if [`AnomalyScore::is_suspicious`] returns true.
    pub fn anomaly(&self, peer: PeerId) -> Option<AnomalyScore> {
        let now = self.tick.time(self.config.tick_length);
        self.peers.get(&peer).map(|p| p.anomalies.score(now))
    }

    /// Counts a rejection, for the server and for the client that caused it.
    fn count_rejection(&mut self, peer: PeerId, reason: RejectReason) {
        self.counts.add(reason);
        if let Some(p) = self.peers.get_mut(&peer) {
            p.count_rejection(reason, self.tick.time(self.config.tick_length));
        }
    }

    /// Sets the target policy. The default is [`AuthoredRange`].
    pub fn set_target_policy(&mut self, target_policy: impl TargetPolicy + 'static) {
        self.target_policy = Arc::new(target_policy);
    }

    /// Sets whether an actor is relevant to every client, for example the state of the match, whatever the relevance
    /// decides and even if the client has no position. When the actor is removed from the sim, this is reset, unless a
    /// connected client owns the actor.
    pub fn set_always_relevant(&mut self, who: ControllerId, always: bool) {
        if self.interest.set_always_relevant(who, always) {
            self.peers.values_mut().for_each(|p| p.views.reevaluate());
        }
    }

    /// Sets which actors are relevant to a client. By default all actors are relevant.
    pub fn set_relevance(&mut self, relevance: impl Relevance + 'static) {
        self.interest.relevance = Arc::new(relevance);
        self.peers.values_mut().for_each(|p| p.views.reevaluate());
    }

    /// Sets the priority and kind of actors. By default both depend on the distance.
    pub fn set_priority(&mut self, priority: impl Priority + 'static) {
        self.interest.priority = Arc::new(priority);
    }

    /// Sets how often each kind of actor is sent.
    pub fn set_rates(&mut self, rates: RateTable) {
        self.interest.rates = rates;
    }

    /// Sets the bandwidth that the server uses for one client, in bytes per second. This value overrides
    /// [`ServerConfig::bytes_per_second`].
    pub fn set_bandwidth(&mut self, peer: PeerId, per_second: u32) {
        if let Some(p) = self.peers.get_mut(&peer) {
            p.views.set_bandwidth(bandwidth(per_second));
        }
    }

    /// Sets the replication mode of a controller from the next tick on. The owning client can predict the controller
    /// only if the mode sends it the exact state (`Mixed` or `Full`). When the controller is removed from the sim, its
    /// mode is reset to the default, unless a connected client owns the controller.
    pub fn set_replication(&mut self, who: ControllerId, mode: ControllerReplication) {
        self.modes.insert(who, mode);
        self.mode_changes.insert(who);
    }

    /// Returns the replication mode of a controller.
    pub fn replication(&self, who: ControllerId) -> ControllerReplication {
        self.modes.get(&who).copied().unwrap_or(self.config.replication)
    }

    /// Replaces the content of `into` with the facts since the last call. If more facts accumulate than the limits of
    /// the sim allow, all of them are dropped.
    pub fn take_facts(&mut self, into: &mut Facts) {
        into.list.clear();
        into.detail.clear();
        std::mem::swap(&mut self.facts, into);
    }

    /// Returns the measured round trip time of a client.
    pub fn round_trip(&self, peer: PeerId) -> Option<SimTime> {
        self.peers.get(&peer)?.carrier.round_trip()
    }

    /// Returns the hash of a controller after the last tick, without hidden attributes. It equals the
    /// [`confirmed_hash`](crate::client::Client::confirmed_hash) of the owning client for the same tick.
    pub fn owner_hash(&self, who: ControllerId) -> Result<u64, Refusal> {
        self.sim.remote().hash_without(who, &self.hidden)
    }

    /// Returns the peers that have joined.
    pub fn playing(&self) -> impl Iterator<Item = PeerId> {
        self.peers.iter().filter(|(_, p)| p.phase == Phase::Playing).map(|(id, _)| *id)
    }

    /// Returns the denied peers, each with the reason. A denied peer stays connected until the host or the peer closes
    /// the connection.
    pub fn denied(&self) -> impl Iterator<Item = (PeerId, &Denial)> {
        self.peers.iter().filter_map(|(id, p)| match &p.phase {
            Phase::Denied(denial) => Some((*id, denial)),
            Phase::AwaitingHello | Phase::Playing => None,
        })
    }

    /// Returns how much data the server keeps for its clients: the number of packets in flight, waiting commands,
    /// verdicts and confirmations, plus the number of unread bytes. Tests use this number to check memory bounds.
    pub fn retained(&self) -> usize {
        self.peers.values().map(|p| p.retained()).sum()
    }

    /// Adds a client that owns these controllers. The transport must have authenticated the peer. Returns the number of
    /// the client, which is part of the id of each of its ops. From now on the client plays these controllers, so this
    /// machine no longer controls them locally ([`Sim::set_local`]).
    pub fn connect(&mut self, peer: PeerId, owns: &[ControllerId]) -> Result<u16, ConnectError> {
        if self.peers.contains_key(&peer) {
            return Err(ConnectError::PeerInUse(peer));
        }
        if owns.len() > MAX_OWNED {
            return Err(ConnectError::TooManyControllers(owns.len()));
        }
        if let Some(&who) = owns.iter().find(|&&who| !self.sim.exists(who)) {
            return Err(ConnectError::UnknownController(who));
        }
        let owned = |who: &&ControllerId| self.peers.values().any(|p| p.owned.contains(who));
        if let Some(&who) = owns.iter().find(owned) {
            return Err(ConnectError::AlreadyOwned(who));
        }
        let number = self.numbers.take().ok_or(ConnectError::ServerFull)?;
        let mut new = Peer::new(number, owns, &self.config, self.tick);
        for (budget, who) in new.movement.iter_mut().zip(owns) {
            *budget = self.kept_movement.remove(who).unwrap_or_default();
        }
        for &who in owns {
            // The client plays the controller from now on.
            if self.sim.is_local(who) == Ok(true) {
                let _ = self.sim.set_local(who, false);
            }
        }
        self.peers.insert(peer, new);
        Ok(number.client)
    }

    /// Removes a client. The controllers of the client stay in the sim. A host whose player takes over one of them calls
    /// [`Sim::set_local`]. If [`ServerConfig::release_inputs`] is set, the
    /// server releases their held inputs.
    pub fn disconnect(&mut self, peer: PeerId) {
        if let Some(removed) = self.peers.remove(&peer) {
            for &who in removed.owned.iter().filter(|_| self.config.release_inputs) {
                // A missing controller has no held inputs.
                let _ = self.sim.run(Op::LetGo { who, input: None });
            }
            // A new connection does not start again with a full budget or with the same rolls.
            for (&who, budget) in removed.owned.iter().zip(removed.movement.iter().cloned()) {
                if self.sim.exists(who) {
                    self.kept_movement.insert(who, budget);
                } else {
                    self.remove_uses(who);
                }
            }
            self.sim.remote_mut().remove_stream(removed.number.client);
            self.numbers.release(removed.number.client, removed.last_base());
        }
    }

    /// Returns the peer with the next higher number.
    fn peer_after(&self, last: Option<PeerId>) -> Option<PeerId> {
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        self.peers.range((from, Bound::Unbounded)).next().map(|(id, _)| *id)
    }
}

/// Returns whether this mode sends the exact state to the owning client, so that the client can predict.
fn is_exact(mode: ControllerReplication) -> bool {
    matches!(mode, ControllerReplication::Mixed | ControllerReplication::Full)
}

/// Returns a bandwidth whose bursts contain the bytes of a tenth of a second, but at least four packets.
pub(crate) fn bandwidth(per_second: u32) -> Bandwidth {
    Bandwidth::new(per_second, (per_second / 10).max(4 * MAX_DATAGRAM as u32))
}
