//! The client session: prediction, reconciliation, proxies.
//!
//! The client's sim contains its owned controllers, predicted with the same code as on the server, and a proxy row for
//! each remote actor. When the server's state of a tick differs from the prediction, the controller is rolled back to
//! that state and resimulated within the call that received the state, so no tick shows a partial correction.
//!
//! The [`Client`] keeps each command until the verdict of the server arrives.

mod clock_jump;
mod clock_sync;
mod command;
mod command_queue;
mod confirm;
mod correction;
mod facts;
mod history;
mod keys;
mod knowledge;
mod local;
mod moves;
mod owned;
mod positions;
mod receive;
mod reconcile;
mod reload;
mod remote;
mod runner;
mod send;
mod verdicts;
mod visible;

pub use crate::view::{Field, Proxies, Proxy, ProxyEffect, ProxySnapshot, Shape};
pub use clock_jump::DisconnectReason;
pub use command_queue::{QueueId, QueueResult};
pub(crate) use confirm::ConfirmationWindow;
pub use correction::CorrectionReason;
pub use facts::{Certainty, NetFacts};
pub use keys::{Prediction, PredictionKey, PredictionStatus};
pub use knowledge::{ClientExplanation, Knowledge};

use crate::carrier::{Carrier, ConnectionConfig, PacketNumber};
use crate::frames::advance_frames;
use crate::mask::hidden_from_owners;
use crate::message::{Command, Denial, PROTOCOL, Request, ToServer, encode};
use crate::op_ids::OpIds;
use crate::reload::IncomingRules;
use crate::rolls::Blocks;
use crate::types::Tick;
use crate::view::ProxyChange;
use crate::wire::bits::BitWriter;
use crate::wire::delta::Coder;

use clock_jump::JumpBudget;
use clock_sync::ClockSync;
use command_queue::CommandQueue;
use correction::CorrectionReasons;
use facts::PendingFacts;
use history::OwnedHistory;
use keys::Keys;
use local::LocalAbilities;
use moves::MoveSender;
use positions::RemotePositions;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use ugas_core::{
    AbilityId, ActivationKey, AttributeId, ControllerId, Fact, Facts, Host, JournalPosition, LocalRunner, NoHost, OpId,
    Outcome, PredictedAim, Role, RowDifference, Rules, Sim, SimConfig, SimTime,
};

/// The maximum number of commands that wait for a verdict.
const MAX_PENDING: usize = 256;

/// The maximum number of bytes of run-time definitions that a client accepts from a server.
const MAX_DEFINED: usize = 16 * 1024 * 1024;

/// The configuration of a client.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The longest time that the client may predict beyond the last confirmed state; at most two seconds. The client
    /// uses a shorter window that follows the round trip, the jitter, the loss and the tick length
    /// ([`Client::prediction_window`]). Set a shorter time to bound the cost of a resimulation. While the window is
    /// closed, [`Client::command`] queues most requests.
    pub prediction_window: SimTime,
    /// A correction that changes an attribute by more than this fraction of the larger of the predicted and the
    /// corrected value is reported as a [`ValueCorrection`].
    pub correction_threshold: f64,
    /// The delay with which remote actors are rendered, so that their positions can be interpolated.
    pub interpolation_delay: SimTime,
    /// The maximum number of remote actors that the client keeps. Further actors are skipped and counted
    /// ([`ClientCounts::skipped_proxies`]).
    pub max_proxies: usize,
    /// Limits and timeouts of the connection.
    pub connection: ConnectionConfig,
    /// The configuration of the sim. Its role is ignored. Its seed affects only abilities that run on this client only
    /// (`LocalOnly`).
    pub sim: SimConfig,
}

impl Default for ClientConfig {
    fn default() -> ClientConfig {
        ClientConfig {
            prediction_window: command::MAX_WINDOW,
            correction_threshold: 0.05,
            interpolation_delay: SimTime::millis(100),
            max_proxies: 4096,
            connection: ConnectionConfig::default(),
            sim: SimConfig::default(),
        }
    }
}

/// The state of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientState {
    /// The client waits for the server's welcome.
    Connecting,
    /// The client has joined.
    Playing,
    /// The server denied the connection.
    Denied(Denial),
    /// The client ended the session. It no longer receives, sends or predicts.
    Disconnected(DisconnectReason),
}

/// What [`Client::command`] did with a request.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandStatus {
    /// The client predicted the request, under this op id and with this outcome.
    Predicted(OpId, Outcome),
    /// The client sends the request under this op id without predicting it; the result arrives with the server's state.
    Sent(OpId),
    /// The request ran on this client only.
    Local(Outcome),
    /// The prediction window is closed, or too many commands wait for their verdicts. The client runs the request
    /// later; [`Client::take_queue_results`] then returns the result.
    Queued(QueueId),
}

/// A value that a correction changed by more than [`ClientConfig::correction_threshold`]. A host can smooth such a
/// change over several frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueCorrection {
    /// The controller.
    pub who: ControllerId,
    /// The attribute.
    pub attribute: AttributeId,
    /// The predicted value.
    pub from: f64,
    /// The corrected value.
    pub to: f64,
}

/// The counters of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCounts {
    /// The number of corrections: states of the server that contradicted a prediction. The server rejected a command of
    /// the client or did not make a change that the client predicted for it, a change by others made an undecided
    /// command fail, or the states differed although only the client's commands and time changed the controller.
    pub corrections: u64,
    /// The number of states of the server that differed from the prediction because another client, the host or a
    /// controller without a client changed the controller, and no command failed because of it. No client can predict
    /// such a change.
    pub external_changes: u64,
    /// Resimulated ticks.
    pub resimulated: u64,
    /// The number of ticks in the longest resimulation.
    pub longest_resimulation: u64,
    /// Commands that the server rejected.
    pub rejected: u64,
    /// Malformed packets and messages.
    pub malformed: u64,
    /// Duplicate packets.
    pub duplicate: u64,
    /// Packets of an earlier tick than the newest packet received. The server resends their content.
    pub outdated: u64,
    /// Requests that were queued because the prediction window was closed or too many commands waited for their
    /// verdicts.
    pub queued: u64,
    /// Requests refused because the queue was full.
    pub window_closed: u64,
    /// Updates of remote actors that were skipped because the client already had [`ClientConfig::max_proxies`] remote
    /// actors.
    pub skipped_proxies: u64,
}

/// A predicted activation that the server rejected.
#[derive(Clone)]
struct MispredictedUse {
    request: Request,
    ability: AbilityId,
    /// Whether the rejected command was a press. The server cannot know which ability such a command was for once that
    /// ability is revoked.
    is_press: bool,
}

/// A command that waits for its verdict.
#[derive(Clone)]
struct PendingCommand {
    command: Command,
    /// The id of the command's op.
    id: OpId,
    /// Whether the prediction had an effect. Commands without an effect may share an id with the next command.
    has_effect: bool,
    /// Whether the client predicted the command.
    is_predicted: bool,
    /// Whether a packet contained the command.
    is_sent: bool,
    /// Whether the server acknowledged the command.
    is_acked: bool,
}

/// The session of a client.
#[derive(Clone)]
pub struct Client {
    sim: Sim,
    config: ClientConfig,
    carrier: Carrier,
    state: ClientState,
    client: u16,
    /// The ids of the client's ops.
    op_ids: OpIds,
    /// The division of ticks into blocks that have one seed each.
    blocks: Blocks,
    keys: Keys,
    local: LocalAbilities,
    /// Runs the capabilities that exist on this client only.
    runner: LocalRunner,
    /// The `Mispredicted` requests of rejected commands, to be sent after the rollback.
    mispredicted: VecDeque<MispredictedUse>,
    length: SimTime,
    tick: Tick,
    /// The start of the prediction window: the newest tick received from the server. Before the first packet it is the
    /// first own tick.
    newest_tick: Tick,
    jump_budget: JumpBudget,
    now: SimTime,
    clock_sync: Option<ClockSync>,
    rows: Vec<OwnedHistory>,
    owned: Vec<ControllerId>,
    proxies: Proxies,
    positions: RemotePositions,
    /// For each proxy that predictions changed, its journal positions at the ends of ticks.
    touched: BTreeMap<ControllerId, VecDeque<(Tick, JournalPosition)>>,
    /// The resources of remote actors when their attribute sets last changed, with their values.
    proxy_resources: BTreeMap<ControllerId, Vec<(AttributeId, f64)>>,
    pending: VecDeque<PendingCommand>,
    queue: CommandQueue,
    moves: MoveSender,
    sent_commands: VecDeque<(u64, Vec<(u32, u16)>)>,
    base: u32,
    sub: u16,
    base_tick: Tick,
    pending_facts: PendingFacts,
    out: NetFacts,
    /// The confirmations about remote actors that have arrived.
    confirmations: ConfirmationWindow,
    /// The confirmations about owned controllers that have arrived.
    own_confirmations: ConfirmationWindow,
    /// Whether the packet being read contains confirmations about owned controllers.
    has_own_confirmations: bool,
    /// Mispredicted facts about owned controllers, kept until they are compared with the corrected state.
    mispredicted_facts: Vec<Fact>,
    /// Targets that predicted abilities chose.
    aimed: Vec<PredictedAim>,
    /// The last tick of each cast whose target was sent, the oldest cast first. A resimulation runs ticks again.
    sent_ticks: VecDeque<(ActivationKey, u32)>,
    /// How many facts of the sim were already matched with the triggers of local abilities.
    triggered: usize,
    /// The number of facts when facts of local capabilities were last inserted.
    placed: usize,
    corrections: Vec<ValueCorrection>,
    reasons: CorrectionReasons,
    /// States of the server that differ from the prediction because something other than the client's commands changed
    /// the controller. The resimulation shows whether such a state undoes a prediction.
    changes_by_others: Vec<(ControllerId, Tick, Option<RowDifference>)>,
    counts: ClientCounts,
    coder: Coder,
    writer: BitWriter,
    facts: Facts,
    changes: Vec<(ControllerId, ProxyChange)>,
    packet_results: Vec<(PacketNumber, bool)>,
    /// Bytes of run-time definitions received.
    defined: usize,
    /// New rules of the server that have not arrived completely.
    incoming_rules: IncomingRules,
    /// Bytes of new rules received.
    rules_bytes: usize,
}

impl Client {
    /// Creates a client with these rules. The client sends its hello with the first packet.
    pub fn new(rules: Arc<Rules>, config: ClientConfig) -> Client {
        let mut carrier = Carrier::new(config.connection);
        let hello = ToServer::Hello { protocol: PROTOCOL, rules: rules.fingerprint(), padding: vec![0; 256] };
        // The queue is empty and accepts the message.
        let _ = carrier.push(&encode(&hello));
        let sim = Sim::new(rules.clone(), SimConfig { role: Role::Client, ..config.sim.clone() });
        let (length, hidden) = (SimTime::frames(1, 60), hidden_from_owners(&rules));
        Client {
            sim,
            carrier,
            state: ClientState::Connecting,
            client: 0,
            op_ids: OpIds::default(),
            blocks: Blocks::new(length),
            keys: Keys::default(),
            local: LocalAbilities::default(),
            runner: LocalRunner::default(),
            mispredicted: VecDeque::new(),
            length,
            tick: Tick(0),
            newest_tick: Tick(0),
            jump_budget: JumpBudget::default(),
            now: SimTime::ZERO,
            clock_sync: None,
            rows: Vec::new(),
            owned: Vec::new(),
            proxies: Proxies::new(rules, length),
            positions: RemotePositions::default(),
            touched: BTreeMap::new(),
            proxy_resources: BTreeMap::new(),
            pending: VecDeque::new(),
            queue: CommandQueue::default(),
            moves: MoveSender::default(),
            sent_commands: VecDeque::new(),
            base: 0,
            sub: 0,
            base_tick: Tick(0),
            pending_facts: PendingFacts::new(hidden),
            out: NetFacts::default(),
            confirmations: ConfirmationWindow::default(),
            own_confirmations: ConfirmationWindow::default(),
            has_own_confirmations: false,
            mispredicted_facts: Vec::new(),
            aimed: Vec::new(),
            sent_ticks: VecDeque::new(),
            triggered: 0,
            placed: 0,
            corrections: Vec::new(),
            reasons: CorrectionReasons::default(),
            changes_by_others: Vec::new(),
            counts: ClientCounts::default(),
            coder: Coder::default(),
            writer: BitWriter::new(),
            facts: Facts::default(),
            changes: Vec::new(),
            packet_results: Vec::new(),
            defined: 0,
            incoming_rules: IncomingRules::default(),
            rules_bytes: 0,
            config,
        }
    }

    /// Returns the sim of this client: its predicted controllers and the proxies of remote actors.
    pub fn sim(&self) -> &Sim {
        &self.sim
    }

    /// Returns the state of the session.
    pub fn state(&self) -> &ClientState {
        &self.state
    }

    /// Returns the owned controllers.
    pub fn owned(&self) -> &[ControllerId] {
        &self.owned
    }

    /// Returns the remote actors.
    pub fn proxies(&self) -> &Proxies {
        &self.proxies
    }

    /// Returns the last simulated tick.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// Returns the last confirmed tick of an owned controller.
    pub fn confirmed_tick(&self, who: ControllerId) -> Option<Tick> {
        self.rows.iter().find(|r| r.who == who)?.last_confirmed.as_ref().map(|s| s.0)
    }

    /// Returns the hash of an owned controller at its last confirmed tick, without hidden attributes.
    pub fn confirmed_hash(&self, who: ControllerId) -> Option<u64> {
        let row = self.rows.iter().find(|r| r.who == who)?;
        row.last_confirmed.as_ref()?.1.hash_without(self.sim.rules(), &row.hidden)
    }

    /// Returns the counters.
    pub fn counts(&self) -> ClientCounts {
        ClientCounts { skipped_proxies: self.proxies.refused(), ..self.counts }
    }

    /// Returns the measured round trip time.
    pub fn round_trip(&self) -> Option<SimTime> {
        self.carrier.round_trip()
    }

    /// Returns by how many percent the clock runs faster (positive) or slower (negative) to stay in sync with the
    /// server.
    pub fn clock_adjustment(&self) -> f64 {
        self.clock_sync.as_ref().map_or(0.0, ClockSync::adjustment)
    }

    /// Returns how many commands have no verdict yet. Moves get no verdict and are not counted.
    pub fn pending_commands(&self) -> usize {
        self.open_commands()
    }

    /// Returns whether the effect or activation with this origin id is predicted and not confirmed yet.
    pub fn is_predicted(&self, origin_id: u64) -> bool {
        self.pending.iter().any(|p| p.is_predicted && p.id.0 == origin_id)
    }

    /// Returns the latest predicted activations.
    pub fn predictions(&self) -> impl Iterator<Item = &Prediction> {
        self.keys.iter()
    }

    /// Returns how many journal entries, ticks, commands and facts are kept for reconciliation. Tests use this number
    /// to check memory bounds.
    pub fn retained(&self) -> usize {
        let rows: usize = self.rows.iter().map(|r| r.tick_ends.len() + self.sim.remote().journal_len(r.who)).sum();
        let proxies: usize =
            self.touched.iter().map(|(&who, marks)| marks.len() + self.sim.remote().journal_len(who)).sum();
        rows + proxies + self.pending.len() + self.pending_facts.len()
    }

    /// Returns how many journal entries a resimulation of all rows would run.
    pub fn journal_entries(&self) -> usize {
        let rows: usize = self.rows.iter().map(|r| self.sim.remote().journal_len(r.who)).sum();
        rows + self.touched.keys().map(|&who| self.sim.remote().journal_len(who)).sum::<usize>()
    }

    /// Replaces the content of `into` with the facts since the last call. If more facts accumulate than
    /// `ClientConfig::sim.limits.facts` allows, all of them are dropped.
    pub fn take_facts(&mut self, into: &mut NetFacts) {
        into.clear();
        (self.triggered, self.placed) = (0, 0);
        std::mem::swap(&mut self.out, into);
    }

    /// Drops all facts and corrections if the host has not taken them for too long.
    fn drop_untaken_facts(&mut self) {
        let most = self.sim.config().limits.facts as usize;
        if self.out.certainty.len() > most {
            self.out.clear();
            (self.triggered, self.placed) = (0, 0);
        }
        if self.corrections.len() > most {
            self.corrections.clear();
        }
    }

    /// Replaces the content of `into` with the value corrections since the last call.
    pub fn take_corrections(&mut self, into: &mut Vec<ValueCorrection>) {
        into.clear();
        std::mem::swap(&mut self.corrections, into);
    }

    /// Returns why the latest corrections happened, the oldest first. The client keeps a limited number of reasons.
    pub fn correction_reasons(&self) -> impl Iterator<Item = &CorrectionReason> {
        self.reasons.iter()
    }

    // Time --------------------------------------------------------------------------------------------------------

    /// Advances the local time and simulates the ticks that are due, without a host that answers tasks. Returns the
    /// number of simulated ticks.
    pub fn update(&mut self, elapsed: SimTime) -> u32 {
        self.update_with(elapsed, &mut NoHost)
    }

    /// Advances like [`Client::update`], with a host that answers tasks.
    pub fn update_with(&mut self, elapsed: SimTime, host: &mut dyn Host) -> u32 {
        self.now += elapsed;
        self.jump_budget.advance(elapsed);
        self.drop_untaken_facts();
        if matches!(self.state, ClientState::Disconnected(_)) {
            return 0;
        }
        let tick = self.tick;
        let Some(due) = self.clock_sync.as_mut().map(|clock| clock.advance(elapsed, tick)) else { return 0 };
        self.send_mispredicted();
        self.run_queued();
        let mut simulated = 0;
        while simulated < due && self.can_advance() {
            self.simulate_tick(host);
            self.run_capabilities();
            simulated += 1;
        }
        simulated
    }

    /// Simulates one tick.
    fn simulate_tick(&mut self, host: &mut dyn Host) {
        self.emit_pending();
        let window = self.prediction_window() as usize;
        self.tick = self.tick.plus(1);
        advance_frames(&mut self.sim, &mut self.runner, self.tick.time(self.length), host);
        self.emit_facts(self.tick);
        self.send_aims();
        self.local.advance(self.sim.now(), host, &mut self.out);
        self.run_triggers();
        for row in &mut self.rows {
            if row.last_confirmed.is_none() {
                continue;
            }
            let mut tick_end = row.new_tick_end();
            (tick_end.tick, tick_end.journal) = (self.tick, self.sim.remote().journal_end(row.who));
            if self.sim.capture(row.who, &mut tick_end.image).is_ok() {
                row.tick_ends.push_back(tick_end);
                row.limit_tick_ends(window);
            }
        }
        self.mark_proxies(window);
    }

    /// Jumps to a tick of the server that this client has not simulated. The ticks in between are not kept. Returns
    /// whether the jump is allowed.
    fn jump(&mut self, to: Tick) -> bool {
        if !self.spend_jump(to) {
            return false;
        }
        if let Some(clock) = &mut self.clock_sync {
            clock.record_jump(to.0.saturating_sub(self.tick.0));
        }
        if to.minus(1) > self.tick {
            self.emit_pending();
            self.tick = to.minus(1);
            self.sim.advance_to(self.tick.time(self.length));
            self.emit_facts(self.tick);
            self.rows.iter_mut().for_each(OwnedHistory::clear_tick_ends);
        }
        if to > self.tick {
            self.simulate_tick(&mut NoHost);
        }
        true
    }
}
