//! The server's record of one client.

use super::confirm::{ConfirmationQueue, SentRun};
use super::grace::{GraceMeter, KeptCommand};
use super::moves::MoveStreams;
use super::numbers::Number;
use super::observe::ObserverStream;
use super::owner::Owned;
use super::reveal::{RevealedSeeds, ahead};
use super::{MAX_VERDICTS, MOVE_SUB, RejectionCounts, ServerConfig, bandwidth};
use crate::authority::{AnomalyMeter, MoveBudget, RejectReason, check_tick};
use crate::carrier::{Carrier, PacketNumber, Receipt};
use crate::interest::{PlannedPose, PlannedUpdate};
use crate::message::{Command, Denial, Request, Verdict};
use crate::op_ids::OpIds;
use crate::rolls::Blocks;
use crate::types::Tick;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use ugas_core::{AbilityId, ControllerId, Sim, SimTime, UsedAbility};

/// The maximum number of commands waiting for their tick.
const MAX_WAITING: usize = 256;
/// The maximum number of processed commands kept to recognise resent commands. A client keeps no more.
const MAX_PROCESSED: usize = 256;
/// The maximum number of rejected commands whose `OnMispredicted` may still run.
const MAX_REJECTED: usize = 64;
/// The maximum number of packets in flight. The connection reports each packet as received or lost before this number
/// is reached.
const MAX_IN_FLIGHT: usize = 1100;

/// How many Bases a client may use in addition to one per tick since it connected.
const EXTRA_BASES: u32 = 1024;

/// The phase of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The hello has not arrived.
    AwaitingHello,
    /// The client has joined.
    Playing,
    /// The client was denied.
    Denied(Denial),
}

/// The content of a packet in flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentPacket {
    pub(crate) number: u64,
    pub(crate) tick: Tick,
    pub(crate) actors: Vec<PlannedUpdate>,
    pub(crate) poses: Vec<PlannedPose>,
    pub(crate) verdicts: Vec<(u32, u16)>,
    /// The confirmations about remote actors.
    pub(crate) confirmations: Vec<SentRun>,
    /// The confirmations about owned controllers.
    pub(crate) own_confirmations: Vec<SentRun>,
    /// When this packet arrives, the client has the seeds of all blocks of ticks before this one.
    pub(crate) seeds: u32,
}

/// A token bucket, which limits how much a client may send.
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

/// How early and how late a command may be, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickLimits {
    pub(crate) max_early: u32,
    pub(crate) max_late: u32,
}

/// A command that is due.
#[derive(Clone, Debug)]
pub(crate) enum Due {
    /// A command, which gets a verdict.
    Command(Command),
    /// A command that was kept until the end of a cooldown, which has come.
    Kept(KeptCommand),
    /// A move, which gets no verdict.
    Move(Command),
}

/// Returns the FNV-1a hash of a command, to distinguish a resent command from a different one with the same key. An
/// attacker gains nothing from a collision: the first command is used.
fn fingerprint_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// The record of one client.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) number: Number,
    /// The tick at which it connected.
    since: Tick,
    pub(crate) phase: Phase,
    pub(crate) carrier: Carrier,
    pub(crate) owned: Vec<ControllerId>,
    pub(crate) rows: Vec<Owned>,
    /// How far each owned controller may still move.
    pub(crate) movement: Vec<MoveBudget>,
    pub(crate) rejections: RejectionCounts,
    pub(crate) anomalies: AnomalyMeter,
    /// Commands waiting for their tick, by key, with their fingerprints.
    waiting: BTreeMap<(u32, u16), (Command, u64)>,
    /// The command that waits for the end of a cooldown. Later commands wait for it.
    pub(crate) kept: Option<KeptCommand>,
    pub(crate) grace_meter: GraceMeter,
    /// Moves waiting for their tick.
    pub(crate) moves: MoveStreams,
    /// Keys of processed commands with their fingerprints, the oldest first.
    processed: VecDeque<((u32, u16), u64)>,
    /// The highest processed key that is no longer kept.
    last_dropped: Option<(u32, u16)>,
    /// The key of the last command that ran. `last_tick` is the newest tick among the commands that ran.
    pub(crate) last: Option<(u32, u16)>,
    pub(crate) last_tick: Tick,
    /// The ids of the client's ops.
    pub(crate) op_ids: OpIds,
    /// Which seeds of blocks of ticks were sent to the client.
    pub(crate) seeds: RevealedSeeds,
    /// For each ability, the number of the first use whose seed was not sent to the client.
    pub(crate) revealed_uses: BTreeMap<UsedAbility, u32>,
    pub(crate) verdicts: Vec<Verdict>,
    /// Rejected commands whose `OnMispredicted` may still run, the oldest first.
    rejected: VecDeque<Command>,
    /// Confirmations about remote actors.
    pub(crate) confirmations: ConfirmationQueue,
    /// Confirmations about owned controllers, sent next to their states.
    pub(crate) own_confirmations: ConfirmationQueue,
    pub(crate) in_flight: VecDeque<SentPacket>,
    pub(crate) spare: Vec<SentPacket>,
    /// The remote actors of the client.
    pub(crate) views: ObserverStream,
    pub(crate) packets: Bucket,
    pub(crate) commands: Bucket,
    /// The number of ticks by which the newest packet of the client arrived early.
    pub(crate) slack: i32,
    /// How many of the server's run-time definitions have been put into messages to the client.
    pub(crate) defined: u32,
    /// Messages in flight that contain definitions, each with the number of definitions that the client has once the
    /// message arrives.
    pub(crate) defining: VecDeque<(Receipt, u32)>,
    /// The number of run-time definitions that have arrived at the client.
    pub(crate) arrived: u32,
    /// Bytes received and not yet answered before the client has joined: until then the client never gets more bytes
    /// than it sent.
    pub(crate) credit: usize,
    /// The hashes of new rules that were sent to the client and that it has not reported back. While there are any, the
    /// client cannot read payloads.
    pub(crate) awaited_rules: VecDeque<u64>,
    /// The welcome message once it is queued. Until the welcome arrives, the client cannot read payloads.
    pub(crate) welcome: Option<Receipt>,
}

impl Peer {
    pub(crate) fn new(number: Number, owned: &[ControllerId], config: &ServerConfig, now: Tick) -> Peer {
        Peer {
            number,
            since: now,
            phase: Phase::AwaitingHello,
            carrier: Carrier::new(config.connection),
            owned: owned.to_vec(),
            rows: Vec::new(),
            movement: vec![MoveBudget::default(); owned.len()],
            rejections: RejectionCounts::default(),
            anomalies: AnomalyMeter::default(),
            waiting: BTreeMap::new(),
            kept: None,
            grace_meter: GraceMeter::default(),
            moves: MoveStreams::new(owned),
            processed: VecDeque::new(),
            last_dropped: None,
            last: None,
            last_tick: Tick(0),
            op_ids: OpIds::default(),
            seeds: RevealedSeeds::default(),
            revealed_uses: BTreeMap::new(),
            verdicts: Vec::new(),
            rejected: VecDeque::new(),
            confirmations: ConfirmationQueue::default(),
            own_confirmations: ConfirmationQueue::default(),
            in_flight: VecDeque::new(),
            spare: Vec::new(),
            views: ObserverStream::new(bandwidth(config.bytes_per_second)),
            packets: Bucket::new(config.packets_per_tick.saturating_mul(4)),
            commands: Bucket::new(config.commands_per_tick.saturating_mul(16)),
            slack: 0,
            defined: 0,
            defining: VecDeque::new(),
            arrived: 0,
            credit: 0,
            awaited_rules: VecDeque::new(),
            welcome: None,
        }
    }

    /// Keeps a command until its tick; `bytes` are its encoded form. A resent copy of a known command is ignored, so a
    /// command that was rejected stays rejected.
    pub(crate) fn keep(
        &mut self,
        command: &Command,
        bytes: &[u8],
        now: Tick,
        limits: TickLimits,
    ) -> Result<(), RejectReason> {
        let (key, fingerprint) = ((command.base, command.sub), fingerprint_of(bytes));
        let known = self.waiting.get(&key).map(|(_, fingerprint)| *fingerprint);
        let known = known.or_else(|| self.processed.iter().rev().find(|d| d.0 == key).map(|d| d.1));
        if let Some(known) = known {
            return if known == fingerprint { Ok(()) } else { Err(RejectReason::Key) };
        }
        let kept = self.check_waiting(command, now, limits);
        match kept {
            Ok(()) => drop(self.waiting.insert(key, (command.clone(), fingerprint))),
            Err(_) => self.record_processed(key, fingerprint),
        }
        kept
    }

    fn check_waiting(&mut self, command: &Command, now: Tick, limits: TickLimits) -> Result<(), RejectReason> {
        let key = (command.base, command.sub);
        let is_used = Some(key) <= self.last.max(self.last_dropped);
        if is_used || command.base <= self.number.base || command.sub >= MOVE_SUB {
            return Err(RejectReason::Key);
        }
        // Every command uses up the command rate, even a rejected one, because its `OnMispredicted` may run.
        if self.waiting.len() >= MAX_WAITING || !self.commands.take() {
            return Err(RejectReason::CommandRate);
        }
        match check_tick(command.tick, now, limits.max_early, limits.max_late) {
            Err(RejectReason::Past) if command.request.is_release() => {}
            fits => fits?,
        }
        // At most one Base per tick, so that the Bases last for later clients with this number.
        let ticks = command.tick.0.saturating_sub(self.since.0);
        if command.base - self.number.base > ticks.saturating_add(EXTRA_BASES) {
            return Err(RejectReason::Key);
        }
        // Keys rise with ticks.
        let fits = |(other, _): &(Command, u64)| {
            command.tick == other.tick || (key < (other.base, other.sub)) == (command.tick < other.tick)
        };
        if command.tick < self.last_tick || !self.waiting.values().all(fits) {
            return Err(RejectReason::Key);
        }
        Ok(())
    }

    fn record_processed(&mut self, key: (u32, u16), fingerprint: u64) {
        if self.processed.len() >= MAX_PROCESSED {
            self.last_dropped = self.last_dropped.max(self.processed.pop_front().map(|d| d.0));
        }
        self.processed.push_back((key, fingerprint));
    }

    /// Returns the next due command or move. Commands run in the order of keys, a move before the commands that were
    /// issued after it. `time` is the time of the sim, before the tick `now` is simulated.
    pub(crate) fn next_due(&mut self, now: Tick, time: SimTime) -> Option<Due> {
        if let Some(kept) = self.kept.take_if(|kept| kept.until <= time) {
            return Some(Due::Kept(kept));
        }
        if self.kept.is_some() {
            return self.moves.take_due(now).map(Due::Move);
        }
        let first = self.waiting.first_key_value().map(|(_, (command, _))| (command.tick, command.sub));
        let first = first.filter(|(tick, _)| *tick <= now);
        if let Some(due) = self.moves.peek_due(now)
            && first.is_none_or(|first| due <= first)
        {
            return self.moves.take_due(now).map(Due::Move);
        }
        first?;
        let (key, (command, fingerprint)) = self.waiting.pop_first()?;
        self.last = Some(key);
        self.record_processed(key, fingerprint);
        Some(Due::Command(command))
    }

    /// Keeps a verdict until the client has it. A command that is rejected on arrival gets a verdict too: otherwise the
    /// client would wait forever.
    pub(crate) fn push_verdict(&mut self, verdict: Verdict) {
        if self.verdicts.iter().any(|v| (v.base, v.sub) == (verdict.base, verdict.sub)) {
            return;
        }
        if self.verdicts.len() >= 4 * MAX_VERDICTS as usize {
            self.verdicts.remove(0);
        }
        self.verdicts.push(verdict);
    }

    /// Keeps a rejected command whose `OnMispredicted` may run: one that an honest client may have predicted.
    pub(crate) fn record_rejected(&mut self, command: &Command, reason: RejectReason, now: Tick) {
        let may_be_predicted = matches!(
            reason,
            RejectReason::Rules
                | RejectReason::Early
                | RejectReason::Target
                | RejectReason::Past
                | RejectReason::Future
                | RejectReason::CommandRate
                | RejectReason::Ability
        );
        if !may_be_predicted || command.request.aim().is_none() {
            return;
        }
        let who = command.request.who();
        let budgets = self.owned.iter().zip(&mut self.movement).filter(|(owned, _)| **owned == who);
        budgets.for_each(|(_, budget)| budget.record_contradiction(now));
        if self.rejected.len() >= MAX_REJECTED {
            self.rejected.pop_front();
        }
        self.rejected.push_back(command.clone());
    }

    /// Returns whether the command with this key was rejected and could have activated `ability`. If so, the command is
    /// removed from the list of rejected commands.
    pub(crate) fn take_rejected(&mut self, key: (u32, u16), sim: &Sim, ability: AbilityId) -> bool {
        let Some(at) = self.rejected.iter().position(|c| (c.base, c.sub) == key) else { return false };
        let could_activate = match self.rejected[at].request {
            Request::Activate { ability: requested, .. } => requested == ability,
            Request::Press { who, input, .. } => {
                sim.grants(who).is_ok_and(|list| list.iter().any(|g| g.ability == ability && g.input == Some(input)))
            }
            Request::Release { who, input } | Request::Axis { who, input, .. } => {
                sim.grants(who).is_ok_and(|list| list.iter().any(|g| g.ability == ability && g.input == Some(input)))
            }
            Request::LetGo { .. }
            | Request::Cancel { .. }
            | Request::End { .. }
            | Request::Commit { .. }
            | Request::Apply { .. }
            | Request::Complete { .. }
            | Request::Move { .. }
            | Request::Aim { .. }
            | Request::Mispredicted { .. } => false,
        };
        if could_activate {
            self.rejected.remove(at);
        }
        could_activate
    }

    /// Counts a rejection.
    pub(crate) fn count_rejection(&mut self, reason: RejectReason, now: SimTime) {
        self.count_rejection_as(reason, reason, now);
    }

    /// Counts a rejection for `reason` in the counters and for `scored` in the anomaly score.
    pub(crate) fn count_rejection_as(&mut self, reason: RejectReason, scored: RejectReason, now: SimTime) {
        self.rejections.add(reason);
        // A client that does not have the new rules yet follows the old ones.
        let is_excused = matches!(scored, RejectReason::Budget | RejectReason::Answer | RejectReason::TooSoon);
        if !is_excused || self.awaited_rules.is_empty() {
            self.anomalies.record(scored, now);
        }
    }

    /// Returns the number of the first owned controller, from which the seeds of blocks are derived.
    pub(crate) fn first_owned(&self) -> u64 {
        self.owned.first().map_or(0, |who| who.0 as u64)
    }

    /// Returns the Base of the last command that ran.
    pub(crate) fn last_base(&self) -> u32 {
        self.last.map_or(self.number.base, |(base, _)| base)
    }

    /// Returns how many packets, commands, moves, verdicts and unread bytes are kept.
    pub(crate) fn retained(&self) -> usize {
        let commands = self.waiting.len() + usize::from(self.kept.is_some()) + self.moves.retained();
        let confirmations = self.confirmations.len() + self.own_confirmations.len();
        self.in_flight.len() + commands + self.verdicts.len() + confirmations + self.carrier.retained()
    }

    /// Processes acks and losses: lost content is sent again.
    pub(crate) fn process_packet_results(&mut self, results: &mut Vec<(PacketNumber, bool)>) {
        results.clear();
        self.carrier.take_packet_results(results);
        for &(number, arrived) in results.iter() {
            let Ok(at) = self.in_flight.binary_search_by_key(&number.0, |t| t.number) else { continue };
            let Some(mut sent) = self.in_flight.remove(at) else { continue };
            if arrived {
                self.verdicts.retain(|v| !sent.verdicts.contains(&(v.base, v.sub)));
                self.seeds.acknowledge(sent.seeds);
            }
            self.confirmations.on_packet_result(&sent.confirmations, arrived);
            self.own_confirmations.on_packet_result(&sent.own_confirmations, arrived);
            self.views.on_packet_result(&sent, arrived);
            sent.actors.clear();
            sent.poses.clear();
            sent.verdicts.clear();
            sent.confirmations.clear();
            sent.own_confirmations.clear();
            sent.seeds = 0;
            self.spare.push(sent);
        }
        self.views.confirm_streamed(&self.carrier);
    }

    /// Returns the blocks whose seeds are revealed in the packet of a tick.
    pub(crate) fn seeds_to_send(&mut self, blocks: Blocks, tick: Tick) -> Range<u32> {
        let round_trip = self.carrier.round_trip().unwrap_or(SimTime::ZERO);
        self.seeds.take_unsent(blocks, tick, blocks.ticks_in(ahead(round_trip)))
    }

    /// Returns whether the client may get states. `starts_left` is the number of clients that may still get their first
    /// states in this tick.
    pub(crate) fn may_get_states(&mut self, starts_left: &mut u32) -> bool {
        if self.is_welcomed() && !self.views.is_started && *starts_left > 0 {
            *starts_left -= 1;
            self.views.is_started = true;
        }
        self.is_welcomed() && self.views.is_started
    }

    /// Returns whether the client has joined and has its welcome and the current rules.
    pub(crate) fn is_welcomed(&self) -> bool {
        let is_welcomed = || self.welcome.is_some_and(|welcome| self.carrier.has_arrived(welcome));
        self.phase == Phase::Playing && self.awaited_rules.is_empty() && is_welcomed()
    }

    /// Keeps the content of a packet until its ack or loss.
    pub(crate) fn track_packet(&mut self, sent: SentPacket) {
        if self.in_flight.len() >= MAX_IN_FLIGHT
            && let Some(oldest) = self.in_flight.pop_front()
        {
            self.confirmations.on_packet_result(&oldest.confirmations, false);
            self.own_confirmations.on_packet_result(&oldest.own_confirmations, false);
        }
        self.in_flight.push_back(sent);
    }
}
