//! Packets from the server.
//!
//! The client reads everything about owned controllers in a packet before it applies any of it, because a verdict and
//! the state in the same packet belong together.

use super::clock_sync::ClockSync;
use super::history::OwnedHistory;
use super::moves::MoveSender;
use super::reconcile::ServerState;
use super::verdicts::{AppliedVerdicts, read_verdicts};
use super::{Client, ClientState, MAX_DEFINED, PendingCommand};
use crate::carrier::CarrierError;
use crate::confirm::read_list;
use crate::message::{ToClient, decode};
use crate::rolls::{Blocks, KEPT_BLOCKS};
use crate::server::{DELTA, MATCHED, REMOVED, USUAL_SLACK};
use crate::types::{MAX_OWNED, TICK_LENGTHS, Tick};
use crate::view::Proxies;
use crate::wire::bits::{BitReader, WireError};
use crate::wire::delta::Limits;
use crate::wire::number::{get_int, get_uint};
use crate::wire::token::Tokens;
use ugas_core::{ControllerId, SimTime, UsedAbility};

impl Client {
    /// Receives a datagram from the server. A malformed datagram is dropped and counted ([`Client::counts`]).
    pub fn receive(&mut self, datagram: &[u8]) {
        if matches!(self.state, ClientState::Disconnected(_)) {
            return;
        }
        self.drop_untaken_facts();
        let (tick, payload) = match self.carrier.read(self.now, datagram) {
            Ok(opened) => (opened.tick, opened.payload.to_vec()),
            Err(error) => {
                match error {
                    CarrierError::Duplicate { .. } => self.counts.duplicate += 1,
                    CarrierError::Stale { .. } => self.counts.outdated += 1,
                    CarrierError::TooLong { .. }
                    | CarrierError::BacklogFull { .. }
                    | CarrierError::Truncated { .. }
                    | CarrierError::UnknownFlags { .. }
                    | CarrierError::EmptySection
                    | CarrierError::NoReference
                    | CarrierError::UnsentAcknowledged { .. }
                    | CarrierError::FragmentAhead { .. } => self.counts.malformed += 1,
                }
                return;
            }
        };
        self.packet_results.clear();
        self.carrier.take_packet_results(&mut self.packet_results);
        for &(number, arrived) in &self.packet_results {
            let Some(at) = self.sent_commands.iter().position(|(n, _)| *n == number.0) else { continue };
            let Some((_, keys)) = self.sent_commands.remove(at) else { continue };
            if arrived {
                let of = |p: &&mut PendingCommand| keys.contains(&(p.command.base, p.command.sub));
                self.pending.iter_mut().filter(of).for_each(|p| p.is_acked = true);
                self.moves.on_acked(&keys, tick);
            }
        }
        while let Some(message) = self.carrier.next_message() {
            match decode(&message) {
                Some(message) => self.receive_message(message, tick),
                None => self.counts.malformed += 1,
            }
        }
        if self.state == ClientState::Playing && !payload.is_empty() && self.read(&payload, tick).is_err() {
            // Without the ack the server resends the content, for example a state that needs a definition still in
            // flight.
            self.carrier.revoke_ack();
            self.request_resync();
        }
        self.follow_capabilities();
    }

    pub(super) fn receive_message(&mut self, message: ToClient, tick: Tick) {
        match message {
            ToClient::Welcome { client, base, length, owned } => {
                let is_valid = TICK_LENGTHS.contains(&length) && owned.len() <= MAX_OWNED;
                if self.state != ClientState::Connecting || !is_valid {
                    self.counts.malformed += 1;
                    return;
                }
                (self.client, self.base, self.length) = (client, base, length);
                (self.blocks, self.state) = (Blocks::new(length), ClientState::Playing);
                owned.iter().for_each(|&who| self.sim.remote_mut().set_roll_owner(who, client));
                self.rows = owned.into_iter().map(OwnedHistory::new).collect();
                self.moves = MoveSender::new(self.rows.len());
                self.proxies = Proxies::new(self.sim.rules().clone(), length).at_most(self.config.max_proxies);
                self.clock_sync = Some(ClockSync::new(length));
                let ahead = self.carrier.round_trip().unwrap_or(SimTime::millis(100)).0 / length.0.max(1) + 3;
                self.tick = tick.plus(ahead as u32);
                // The next packet arrives a round trip from now, after the ack of the welcome. The clock must not wait
                // for that packet, or every command would be late until the clock has caught up.
                self.newest_tick = self.tick;
                self.sim.advance_to(self.tick.time(length));
            }
            ToClient::Denied(denial) => self.state = ClientState::Denied(denial),
            ToClient::Define { id, doc } => {
                let fits = || self.defined.saturating_add(doc.len()) <= MAX_DEFINED;
                let read = serde_json::from_str(&doc).ok().filter(|_| fits());
                self.defined += doc.len();
                let adopted = read.map(|doc| self.sim.remote_mut().adopt_definition(id, &doc));
                if !matches!(adopted, Some(Ok(()))) {
                    self.counts.malformed += 1;
                }
            }
            ToClient::Removed { actors } => actors.into_iter().for_each(|(who, tick)| self.remove_proxy(who, tick)),
            ToClient::AllRemoved { tick } => {
                // In reverse order, so that removing is cheap.
                let all: Vec<ControllerId> = self.proxies.iter().map(|p| p.who()).collect();
                all.into_iter().rev().for_each(|who| self.remove_proxy(who, tick));
            }
            ToClient::ActorState { who, tick, section } => {
                if self.read_actor(who, tick, &mut BitReader::new(&section)).is_err() {
                    self.request_resync();
                }
            }
            ToClient::Simulated { who, what } => self.simulate(who, &what),
            ToClient::UseSeeds { who, ability, next, first, seeds } => {
                self.receive_use_seeds(UsedAbility { who, ability }, next, first, seeds);
            }
            ToClient::Rules { rules, documents, is_last } => self.receive_rules(rules, documents, is_last),
            ToClient::OwnerState { who, tick, state } => {
                let Some(at) = self.rows.iter().position(|r| r.who == who) else { return };
                let mut tokens = Tokens::new();
                let mut from = BitReader::new(&state);
                let is_external = from.bit();
                let read = self.coder.decode(&Tokens::new(), &mut from, Limits::default(), &mut tokens);
                let own = read.and_then(|_| read_list(tick, &mut from));
                match own.and_then(|own| Ok((own, self.image_at(at, tick, &tokens, is_external?)?))) {
                    Ok((own, image)) => {
                        let confirmed = self.own_confirmations.receive(own, tick);
                        confirmed.into_iter().for_each(|(at, hash)| self.pending_facts.confirm_hash(hash, at));
                        self.has_own_confirmations = true;
                        if self.correct(at, tick, image, tokens, false) {
                            self.resimulate();
                        }
                        self.has_own_confirmations = false;
                        self.run_triggers();
                    }
                    Err(_) => self.counts.malformed += 1,
                }
            }
        }
    }

    pub(super) fn read(&mut self, payload: &[u8], tick: Tick) -> Result<(), WireError> {
        let mut from = BitReader::new(payload);
        let first = from.bit()?;
        self.emit_pending();
        if first {
            let slack = get_int(&mut from)?.saturating_add(USUAL_SLACK);
            self.read_seeds(tick, &mut from)?;
            self.report_slack(slack, tick);
            if !self.jump(tick) {
                return Ok(());
            }
            self.jump_budget.packet_arrived();
            self.newest_tick = self.newest_tick.max(tick);
            // Nothing is applied before the whole part about owned controllers is read: a verdict belongs to its state.
            let verdicts = read_verdicts(&mut from)?;
            let confirmations = read_list(tick, &mut from)?;
            let mut updates = Vec::with_capacity(self.rows.len());
            let all_matched = !self.rows.is_empty() && from.bit()?;
            for at in 0..self.rows.len() {
                let matched = all_matched.then_some(OwnerUpdate::Matched(tick));
                updates.push(matched.map_or_else(|| self.read_owned(at, tick, &mut from), Ok)?);
            }
            let own = match updates.iter().any(|n| matches!(n, OwnerUpdate::State(_))) {
                true => Some(read_list(tick, &mut from)?),
                false => None,
            };
            let before = self.visible_predicted();
            self.remove_decided_moves(tick);
            let emitted = self.out.certainty.len();
            let AppliedVerdicts { is_rejected, mut undone, next_uses } = self.apply_verdicts(&verdicts, tick);
            let is_contradicted = is_rejected || self.has_undone_since(emitted, |_| true);
            self.has_own_confirmations = own.is_some();
            let mut confirmed = self.confirmations.receive(confirmations, tick);
            confirmed.extend(own.into_iter().flat_map(|own| self.own_confirmations.receive(own, tick)));
            confirmed.into_iter().for_each(|(at, hash)| self.pending_facts.confirm_hash(hash, at));
            let mut is_mispredicted = is_rejected;
            for (at, update) in updates.into_iter().enumerate() {
                is_mispredicted |= self.apply_owner_update(at, tick, update, is_contradicted);
            }
            let is_renumbered = self.renumber_uses(&next_uses, tick);
            if is_mispredicted || is_renumbered {
                self.resimulate();
            }
            self.has_own_confirmations = false;
            self.positions.packet_arrived(self.sim.now(), tick.time(self.length));
            let read = self.read_actors(tick, &mut from);
            let rejected = undone.len();
            self.resolve_remote_facts(&mut undone);
            self.confirm_proxies(tick, is_rejected || is_renumbered || undone.len() > rejected);
            self.emit_corrections(&before, undone);
            read?;
            self.send_mispredicted();
            self.run_queued();
            self.run_triggers();
        } else {
            let before = self.visible_predicted();
            let read = self.read_actors(tick, &mut from);
            self.emit_corrections(&before, Vec::new());
            read?;
        }
        self.read_positions(tick, &mut from)
    }

    /// Passes the slack of the newest acknowledged packet to the clock.
    fn report_slack(&mut self, slack: i64, tick: Tick) {
        // The content of a lost packet arrives with the next one and should still be in time.
        let wanted = 3.0 + (f64::from(self.carrier.lost_share()) / 50.0).min(2.0);
        let (Some(clock), Some(newest)) = (&mut self.clock_sync, self.carrier.newest_acked()) else { return };
        clock.report(newest.0, slack, wanted);
        clock.record_arrival(tick);
    }

    /// Reads the seeds of blocks of ticks that the server reveals.
    fn read_seeds(&mut self, tick: Tick, from: &mut BitReader) -> Result<(), WireError> {
        let seeds = self.blocks.read(tick, from)?;
        let oldest = self.blocks.first_tick(self.blocks.of(tick).saturating_sub(KEPT_BLOCKS)).time(self.length);
        let mut remote = self.sim.remote_mut();
        seeds.into_iter().for_each(|block| remote.add_seed_block(self.client, block));
        remote.drop_seed_blocks(self.client, oldest);
        Ok(())
    }

    pub(super) fn read_owned(&mut self, at: usize, tick: Tick, from: &mut BitReader) -> Result<OwnerUpdate, WireError> {
        Ok(match from.bits(2)? {
            MATCHED => {
                let back = get_uint(from)?;
                OwnerUpdate::Matched(Tick(tick.0.saturating_sub(back.min(u32::MAX as u64) as u32)))
            }
            DELTA => {
                let is_external = from.bit()?;
                let back = get_uint(from)?;
                let mut tokens = Tokens::new();
                let empty = Tokens::new();
                let base = match back {
                    0 => &empty,
                    _ => {
                        let base = Tick(tick.0.saturating_sub(back.min(u32::MAX as u64) as u32));
                        self.rows[at].drop_states_before(base);
                        self.rows[at].state(base).ok_or(WireError::BadValue { what: "the baseline of a delta" })?
                    }
                };
                self.coder.decode(base, from, Limits::default(), &mut tokens)?;
                OwnerUpdate::State(Box::new((self.image_at(at, tick, &tokens, is_external)?, tokens)))
            }
            REMOVED => OwnerUpdate::Removed,
            _ => OwnerUpdate::Nothing,
        })
    }

    /// Applies what a packet contains about an owned controller; `is_rejected` if the packet also rejects a predicted
    /// command or activation. Returns whether the owned controllers must be resimulated.
    pub(super) fn apply_owner_update(&mut self, at: usize, tick: Tick, update: OwnerUpdate, is_rejected: bool) -> bool {
        match update {
            OwnerUpdate::Matched(matched) => {
                for root in std::mem::take(&mut self.rows[at].pending_validations) {
                    self.pending_facts.accept(root, tick);
                }
                let (row, rules) = (&self.rows[at], self.sim.rules());
                match row.find_confirmed(rules, matched, tick) {
                    Some((tick, image)) => self.confirm(at, tick, image, false),
                    None => {
                        let must_request = row.is_contradicted(rules, matched, tick) || !self.can_predict();
                        self.rows[at].requests_state |= must_request;
                    }
                }
                false
            }
            OwnerUpdate::State(state) => {
                let (image, tokens) = *state;
                self.correct(at, tick, image, tokens, is_rejected)
            }
            OwnerUpdate::Removed => {
                self.remove_owned(at, tick);
                false
            }
            OwnerUpdate::Nothing => false,
        }
    }
}

/// What a packet contains about an owned controller.
pub(super) enum OwnerUpdate {
    Nothing,
    /// The prediction of this tick equals the server's state.
    Matched(Tick),
    State(Box<(Option<ServerState>, Tokens)>),
    Removed,
}
