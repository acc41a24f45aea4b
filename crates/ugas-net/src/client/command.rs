//! Commands: each asks the server for a change. The client predicts the change if the net execution policy allows it.

use super::facts::Certainty;
use super::{Client, ClientState, CommandStatus, MAX_PENDING, MispredictedUse, PendingCommand};
use crate::authority::check_numbers;
use crate::confirm::is_shown;
use crate::message::{Command, Request, encode};
use crate::op_ids;
use crate::policy::policy_of;
use crate::server::MAX_COMMAND;
use crate::types::Tick;
use crate::view::burst_key;
use ugas_core::{BadValue, CueType, FactKind, OpId, Outcome, PredictedAim, Refusal, SimTime, Target};
use ugas_doc::NetExecution;

/// The shortest prediction window, unless the configuration limits it to less.
const LEAST_WINDOW: SimTime = SimTime::millis(500);
/// The maximum number of casts whose last sent tick is kept.
const MAX_SENT_TICKS: usize = 64;
/// The longest prediction window.
pub(super) const MAX_WINDOW: SimTime = SimTime::millis(2000);

impl Client {
    /// Returns how many ticks the client may predict beyond the last confirmed tick: the round trip with its jitter,
    /// the slack that packets should have, and four ticks, with more ticks on a link that loses packets. The result is
    /// at least half a second, plus the time by which the round trip exceeds 150 ms, and at most
    /// [`ClientConfig::prediction_window`](super::ClientConfig::prediction_window).
    pub fn prediction_window(&self) -> u32 {
        let tick = self.length.0.max(1);
        let round_trip = self.carrier.round_trip().unwrap_or(SimTime::ZERO).clamp(SimTime::ZERO, MAX_WINDOW);
        let jitter = self.carrier.jitter().clamp(SimTime::ZERO, MAX_WINDOW);
        let slack = self.clock_sync.as_ref().map_or(3.0, |clock| clock.wanted_slack().ceil()) as i64;
        let ticks = slack + 4 + i64::from(self.carrier.lost_share().min(600) / 50);
        let wanted = round_trip + jitter + jitter + SimTime(ticks * tick);
        let least = LEAST_WINDOW + (round_trip - SimTime::millis(150)).max(SimTime::ZERO);
        let cap = self.config.prediction_window.clamp(SimTime::ZERO, MAX_WINDOW);
        (wanted.max(least).min(cap).0 / tick).max(1) as u32
    }

    /// Returns whether the client can predict commands, that is, whether the last confirmed tick is within the
    /// prediction window.
    pub fn can_predict(&self) -> bool {
        let first = self.rows.iter().filter_map(|r| r.last_confirmed.as_ref()).map(|s| s.0).min();
        self.is_within(first.unwrap_or(self.newest_tick))
    }

    /// Returns whether the client may simulate the next tick: a packet of the server arrived within the prediction
    /// window. If packets arrive but confirm no state, the client predicts no new commands, but its clock continues.
    pub(super) fn can_advance(&self) -> bool {
        self.is_within(self.newest_tick)
    }

    fn is_within(&self, last: Tick) -> bool {
        self.tick.0.saturating_sub(last.0) < self.prediction_window()
    }

    /// Sends a request for an owned controller with the next packet. A predicted request takes effect on this client at
    /// once.
    ///
    /// While the prediction window is closed ([`Client::can_predict`]) or too many commands wait for their verdicts,
    /// the client queues the request and runs it when the window opens ([`CommandStatus::Queued`]). Releases and
    /// cancels are sent at once without a prediction, unless a queued request must run before them. If the queue is
    /// full, this method returns [`Refusal::PredictionWindowClosed`]. Until the server's state of the controller has
    /// arrived, it returns [`Refusal::NotInitialized`].
    pub fn command(&mut self, request: Request) -> Result<CommandStatus, Refusal> {
        let is_missing = || self.rows.iter().any(|row| row.who == request.who() && !row.is_present());
        if self.state == ClientState::Connecting || self.state == ClientState::Playing && is_missing() {
            return Err(Refusal::NotInitialized);
        }
        if self.state != ClientState::Playing || !self.owned.contains(&request.who()) {
            return Err(Refusal::Authority);
        }
        check_numbers(&request).map_err(|(_, refusal)| refusal)?;
        self.run_queued();
        let is_full = self.is_full(&request);
        let must_wait = match request.is_release() {
            // Otherwise the input would stay pressed and the ability active on the server.
            true => is_full || self.queue.must_precede(&request),
            false => is_full || !self.can_predict() || !self.queue.is_empty(),
        };
        if must_wait { self.enqueue(request) } else { self.run_request(request) }
    }

    /// Returns whether a request must wait: too many commands wait for their verdicts, or too many of its ability had an
    /// effect in this tick.
    pub(super) fn is_full(&self, request: &Request) -> bool {
        self.open_commands() >= MAX_PENDING || self.op_ids.is_full(&self.sim, self.tick.plus(1), request)
    }

    /// Runs a request: predicts it if possible, and sends it with the next packet.
    pub(super) fn run_request(&mut self, request: Request) -> Result<CommandStatus, Refusal> {
        let is_open = self.can_predict();
        self.emit_pending();
        if let Request::Move { who, anchor } = request {
            return self.run_move(who, anchor);
        }
        if let Request::Aim { key, target, .. } = request {
            self.sim.remote().check_aim(key, target)?;
        }
        let policy = policy_of(&self.sim, &request)?;
        if policy == NetExecution::LocalOnly {
            let status = self.local.run(&self.sim, &request, &mut self.out).map(CommandStatus::Local);
            self.run_triggers();
            return status;
        }
        self.check_running(&request)?;
        let next = self.tick.plus(1);
        self.open_base(next);
        let mut command = Command { tick: next, base: self.base, sub: self.sub, request, aim: None };
        if encode(&command).len() > MAX_COMMAND as usize {
            // The server rejects longer commands.
            return Err(Refusal::BadValue { what: BadValue::Length });
        }
        let id = self.op_ids.next(&self.sim, self.client, next, &command.request);
        let may_predict = policy == NetExecution::LocalPredicted && is_open;
        let outcome = if may_predict { self.predict(id, &command.request)? } else { None };
        let is_predicted = outcome.is_some();
        let mut status = CommandStatus::Sent(id);
        // Whether a command that is not predicted has an effect is not known; most commands have one.
        let mut has_effect = true;
        if let Some(outcome) = outcome {
            if let Outcome::Pressed { activated: None, refused: Some(refusal) } = outcome {
                // The press is sent although it activated nothing: the server must know that the input is held.
                self.counts.rejected += u64::from(refusal.is_misuse());
            }
            command.aim = self.take_aims(Some(&outcome));
            status = CommandStatus::Predicted(id, outcome);
            self.emit_facts(next);
            self.run_triggers();
            has_effect = op_ids::has_effect(&self.facts.list, id);
            let number = (command.base, command.sub);
            self.sub = self.sub.saturating_add(self.keys.record(id, number, &self.sim, &self.facts).max(1));
        } else {
            self.sub = self.sub.saturating_add(1);
        }
        if has_effect {
            self.op_ids.count(id);
        }
        let (is_sent, is_acked) = (false, false);
        self.pending.push_back(PendingCommand { command, id, has_effect, is_predicted, is_sent, is_acked });
        for aim in std::mem::take(&mut self.aimed) {
            self.send_aim(next, aim);
        }
        Ok(status)
    }

    /// Predicts a request. Returns `None` if the client lacks a value or a roll that the result depends on: the server
    /// decides, and the client only sends the request.
    fn predict(&mut self, id: OpId, request: &Request) -> Result<Option<Outcome>, Refusal> {
        let op = request.op();
        self.sim.run_as(id, &op).map(Some).or_else(|refusal| {
            let mut remote = self.sim.remote_mut();
            remote.discard_op(id, &op);
            remote.discard_uses(id);
            let is_unknown = matches!(refusal, Refusal::NotReplicated { .. } | Refusal::UnknownRoll);
            if is_unknown { Ok(None) } else { Err(refusal) }
        })
    }

    /// Checks a request as the server checks requests inside a running ability, so that the client sends no request
    /// that the server rejects.
    fn check_running(&self, request: &Request) -> Result<(), Refusal> {
        let remote = self.sim.remote();
        match *request {
            Request::Apply { who, ability, effect, target } => remote.check_client_effect(who, ability, effect, target),
            Request::Complete { key, ref answer } => {
                remote.check_client_answer(key, answer.targets.len(), self.sim.now())
            }
            Request::Press { .. }
            | Request::Release { .. }
            | Request::Axis { .. }
            | Request::LetGo { .. }
            | Request::Activate { .. }
            | Request::Cancel { .. }
            | Request::End { .. }
            | Request::Commit { .. }
            | Request::Move { .. }
            | Request::Aim { .. }
            | Request::Mispredicted { .. } => Ok(()),
        }
    }

    /// Starts a new Base if the tick has none yet.
    fn open_base(&mut self, tick: Tick) {
        if self.base_tick != tick {
            (self.base, self.sub, self.base_tick) = (self.base.saturating_add(1), 0, tick);
        }
    }

    /// Collects the targets that predicted ticks of abilities chose, because the server must use the same targets.
    /// Returns the target that the first tick of the ability activated by a command chose: it is sent with the command.
    pub(super) fn take_aims(&mut self, outcome: Option<&Outcome>) -> Option<Target> {
        self.sim.remote_mut().take_aims(&mut self.aimed);
        let first = if let Outcome::Activated(key) | Outcome::Pressed { activated: Some(key), .. } = outcome? {
            *key
        } else {
            return None;
        };
        let is_first = |a: &PredictedAim| a.activation == first && a.tick.is_none();
        let target = self.aimed.iter().rev().find(|a| is_first(a)).map(|a| a.target);
        self.aimed.retain(|a| !is_first(a));
        target
    }

    /// Sends the targets that abilities chose in the tick just simulated. The server simulates that tick later, so the
    /// targets arrive in time.
    pub(super) fn send_aims(&mut self) {
        self.take_aims(None);
        for aim in std::mem::take(&mut self.aimed) {
            self.send_aim(self.tick, aim);
        }
    }

    /// Records that the target of a tick of a cast is sent. Returns false if it was sent before.
    fn record_sent_tick(&mut self, aim: &PredictedAim) -> bool {
        let Some(tick) = aim.tick else { return true };
        if let Some(last) = self.sent_ticks.iter_mut().find(|s| s.0 == aim.activation) {
            let is_new = tick > last.1;
            last.1 = last.1.max(tick);
            return is_new;
        }
        if self.sent_ticks.len() >= MAX_SENT_TICKS {
            self.sent_ticks.pop_front();
        }
        self.sent_ticks.push_back((aim.activation, tick));
        true
    }

    fn send_aim(&mut self, tick: Tick, aim: PredictedAim) {
        let PredictedAim { activation: key, tick: cast_tick, target } = aim;
        let may_send = self.open_commands() < MAX_PENDING && self.owned.contains(&key.who);
        if !may_send || !self.record_sent_tick(&aim) {
            return;
        }
        self.open_base(tick);
        let request = Request::Aim { key, target, tick: cast_tick };
        let command = Command { tick, base: self.base, sub: self.sub, request, aim: None };
        self.sub = self.sub.saturating_add(1);
        // The target is sent even if the ability has ended on this client: the server has not simulated its last tick
        // yet.
        let id = self.op_ids.next(&self.sim, self.client, tick, &command.request);
        let _ = self.sim.run_as(id, &command.request.op());
        let (has_effect, is_predicted, is_sent, is_acked) = (false, true, false, false);
        self.pending.push_back(PendingCommand { command, id, has_effect, is_predicted, is_sent, is_acked });
    }

    /// Queues the `Mispredicted` request for a predicted command that was rejected.
    pub(super) fn queue_mispredicted(&mut self, id: OpId, command: &Command) {
        let (Some(target), Some(ability)) = (command.request.aim(), self.keys.first(id)) else { return };
        if self.mispredicted.len() < MAX_PENDING {
            let (who, base, sub) = (command.request.who(), command.base, command.sub);
            let request = Request::Mispredicted { who, base, sub, ability, target };
            let is_press = matches!(command.request, Request::Press { .. });
            self.mispredicted.push_back(MispredictedUse { request, ability, is_press });
        }
    }

    /// Sends the queued `Mispredicted` requests as commands, which the client predicts and the server runs in the same
    /// tick.
    pub(super) fn send_mispredicted(&mut self) {
        while self.can_predict() && self.open_commands() < MAX_PENDING {
            let Some(MispredictedUse { request, ability, is_press }) = self.mispredicted.pop_front() else { return };
            let grants = self.sim.grants(request.who()).unwrap_or_default();
            if is_press && grants.iter().all(|g| g.ability != ability) {
                continue;
            }
            // The controller may have been removed.
            let _ = self.run_request(request);
        }
    }

    /// Emits the facts of the tick just simulated as predicted.
    pub(super) fn emit_facts(&mut self, tick: Tick) {
        self.sim.take_facts(&mut self.facts);
        for fact in &self.facts.list {
            let proxy = self.proxies.get_mut(fact.who).filter(|_| !self.owned.contains(&fact.who));
            let is_owned = proxy.is_none();
            match (fact.kind, proxy) {
                // The server does not report this fact to observers, so it could never be confirmed.
                (_, Some(proxy)) if !is_shown(&self.sim, proxy.shape(), fact) => continue,
                (FactKind::Cue { tag, cue: CueType::Execute, .. }, Some(proxy)) => {
                    proxy.record_predicted_burst(burst_key(fact.key, fact.root, fact.who), tag);
                }
                _ => {}
            }
            self.pending_facts.predict(tick, fact, is_owned, &self.facts, &mut self.out);
        }
    }

    /// Matches new facts about owned controllers with the triggers of local abilities.
    pub(super) fn run_triggers(&mut self) {
        // Facts of local abilities may trigger more local abilities; this limit ends a cycle.
        let end = self.out.facts.list.len().saturating_add(MAX_PENDING);
        while self.triggered < self.out.facts.list.len().min(end) {
            let (fact, certainty) = (self.out.facts.list[self.triggered], self.out.certainty[self.triggered]);
            self.triggered += 1;
            let is_new = !matches!(certainty, Certainty::Confirmed | Certainty::Undone);
            if is_new && self.owned.contains(&fact.who) {
                self.local.trigger(&self.sim, &fact, &mut self.out);
            }
        }
        self.triggered = self.out.facts.list.len();
    }

    /// Emits the facts since the last tick as predicted.
    pub(super) fn emit_pending(&mut self) {
        self.emit_facts(self.tick);
    }
}
