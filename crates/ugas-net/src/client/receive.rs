//! Packets from the server.
//!
//! The client reads everything about owned controllers in a packet before it applies any of it, because a verdict and
//! the state in the same packet belong together.

use super::clock_sync::ClockSync;
use super::history::OwnedHistory;
use super::moves::MoveSender;
use super::reconcile::ServerState;
use super::{Client, ClientState, MAX_DEFINED, PendingCommand};
use crate::carrier::CarrierError;
use crate::confirm::read_list;
use crate::message::{MAX_USE_SEEDS, ToClient, USE_BITS, USE_MASK, decode};
use crate::rolls::{Blocks, KEPT_BLOCKS};
use crate::server::{DELTA, MATCHED, MAX_ACTIVATED, MAX_VERDICTS, REMOVED, USUAL_SLACK};
use crate::types::{MAX_OWNED, TICK_LENGTHS, Tick};
use crate::view::Proxies;
use crate::wire::bits::{BitReader, WireError};
use crate::wire::delta::Limits;
use crate::wire::number::{get_int, get_uint, get_uint_to};
use crate::wire::token::Tokens;
use ugas_core::{AbilityId, CauseLink, CauseWhat, ControllerId, Fact, FactKind, OpId, Sim, SimTime, UsedAbility};

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

    /// Applies the verdicts of a packet.
    pub(super) fn apply_verdicts(&mut self, verdicts: &[CommandVerdict], tick: Tick) -> AppliedVerdicts {
        let AppliedVerdicts { mut is_rejected, mut undone, next_uses: mut numbers } = AppliedVerdicts::default();
        for CommandVerdict { base, sub, activated, next_uses } in verdicts {
            let of = |p: &PendingCommand| (p.command.base, p.command.sub) == (*base, *sub);
            let Some(at) = self.pending.iter().position(of) else { continue };
            let Some(pending) = self.pending.remove(at) else { continue };
            let id = pending.id;
            let who = pending.command.request.who();
            numbers.extend(next_uses.iter().map(|&(ability, low)| (UsedAbility { who, ability }, low)));
            self.pending_facts.accept(id, tick);
            let rejected = self.keys.apply_verdict(id, activated.as_deref().unwrap_or_default());
            if activated.is_some() && !rejected.is_empty() {
                // The server accepted the command, but not every activation that the client predicted for it.
                let sim = &self.sim;
                let is_rejected_fact = |f: &Fact| f.root == id && is_of(sim, f, &rejected);
                undone.extend(self.pending_facts.undo(is_rejected_fact, &mut self.out));
                if self.keys.first(id).is_some_and(|first| rejected.contains(&first)) {
                    self.queue_mispredicted(id, &pending.command);
                }
            }
            if activated.is_none() {
                self.counts.rejected += 1;
                if pending.is_predicted {
                    is_rejected = true;
                    let op = pending.command.request.op();
                    let mut remote = self.sim.remote_mut();
                    remote.discard_op(id, &op);
                    if pending.has_effect {
                        remote.discard_actions(id);
                        remote.discard_uses(id);
                    }
                    // The facts of a command without an effect are about its input.
                    let is_of = |f: &Fact| f.root == id && (pending.has_effect || is_input(f));
                    undone.extend(self.pending_facts.undo(is_of, &mut self.out));
                    self.queue_mispredicted(id, &pending.command);
                }
            }
        }
        AppliedVerdicts { is_rejected, undone, next_uses: numbers }
    }

    /// Renumbers the client's uses as the server numbers them; the numbers differ after a misprediction. Returns
    /// whether a number changed, so that the rolls of predicted commands may change.
    fn renumber_uses(&mut self, numbers: &[(UsedAbility, u8)], tick: Tick) -> bool {
        let (pending, rows, time, mut is_changed) = (&self.pending, &self.rows, tick.time(self.length), false);
        // An ability whose validation is pending has not drawn on the server.
        let is_pending = |op: OpId| {
            pending.iter().any(|p| p.id == op) || rows.iter().any(|row| row.pending_validations.contains(&op))
        };
        let is_open = |op: OpId, drawn: SimTime| drawn > time || is_pending(op);
        // A packet has one number for each ability, which it repeats for each command.
        for (at, &(used, low)) in numbers.iter().enumerate() {
            if numbers[..at].iter().all(|n| n.0 != used) {
                let next = |expected| nearest_use(expected, low);
                is_changed |= self.sim.remote_mut().renumber_uses(used, is_open, next);
            }
        }
        is_changed
    }

    /// Receives the seeds of the next uses of an ability, and the server's number of the next use. The client takes
    /// over this number only if it has none, or if its own number differs so much that the low bits in a verdict cannot
    /// correct it.
    fn receive_use_seeds(&mut self, used: UsedAbility, next: u32, first: u32, seeds: Vec<u32>) {
        let is_owned = self.rows.iter().any(|row| row.who == used.who);
        if !is_owned || self.sim.ability_doc(used.ability).is_none() || seeds.len() > MAX_USE_SEEDS {
            self.counts.malformed += 1;
            return;
        }
        let is_new = self.sim.remote().next_use(used).is_none();
        let mut remote = self.sim.remote_mut();
        remote.add_use_seeds(used, first, seeds);
        let is_far = |expected: u32| is_new || expected.abs_diff(next) > USE_MASK as u32 / 2;
        remote.renumber_uses(used, |_, _| false, |expected| if is_far(expected) { next } else { expected });
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
                match self.rows[at].find_confirmed(self.sim.rules(), matched, tick) {
                    Some((tick, image)) => self.confirm(at, tick, image, false),
                    None => self.rows[at].requests_state |= !self.can_predict(),
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

/// Returns whether a fact is about an input.
fn is_input(fact: &Fact) -> bool {
    matches!(fact.kind, FactKind::Input { .. })
}

/// Returns whether one of these abilities caused a fact.
fn is_of(sim: &Sim, fact: &Fact, abilities: &[AbilityId]) -> bool {
    let caused = |link: &CauseLink| match link.what {
        CauseWhat::Activated(a) | CauseWhat::Ended(a) => abilities.contains(&a),
        CauseWhat::Op
        | CauseWhat::Applied(_)
        | CauseWhat::Executed(_)
        | CauseWhat::Expired(_)
        | CauseWhat::Removed(_)
        | CauseWhat::Pressed(_)
        | CauseWhat::Released(_)
        | CauseWhat::Reload => false,
    };
    sim.chain(fact.link).iter().any(caused)
}

/// The verdict of a command.
pub(super) struct CommandVerdict {
    pub(super) base: u32,
    pub(super) sub: u16,
    /// The abilities that the command activated; `None` if the command was rejected.
    pub(super) activated: Option<Vec<AbilityId>>,
    /// For each activated ability whose uses are numbered, the low bits of the number of its next use.
    pub(super) next_uses: Vec<(AbilityId, u8)>,
}

/// What the verdicts of a packet changed.
#[derive(Default)]
pub(super) struct AppliedVerdicts {
    /// Whether a predicted command was rejected.
    is_rejected: bool,
    /// The undone facts about remote actors.
    undone: Vec<Fact>,
    /// The low bits of the numbers of the next uses on the server.
    next_uses: Vec<(UsedAbility, u8)>,
}

/// What a packet contains about an owned controller.
pub(super) enum OwnerUpdate {
    Nothing,
    /// The prediction of this tick equals the server's state.
    Matched(Tick),
    State(Box<(Option<ServerState>, Tokens)>),
    Removed,
}

/// Returns the use number with these low bits that is nearest to `expected`.
fn nearest_use(expected: u32, low: u8) -> u32 {
    let range = USE_MASK as u32 + 1;
    let ahead = u32::from(low).wrapping_sub(expected) % range;
    if ahead < range / 2 { expected.wrapping_add(ahead) } else { expected.wrapping_add(ahead).wrapping_sub(range) }
}

fn read_verdicts(from: &mut BitReader) -> Result<Vec<CommandVerdict>, WireError> {
    let mut verdicts = Vec::new();
    for _ in 0..get_uint_to(from, MAX_VERDICTS, "verdicts")? {
        let base = get_uint_to(from, u32::MAX as u64, "a base")? as u32;
        let sub = get_uint_to(from, u16::MAX as u64, "a sub")? as u16;
        let (mut activated, mut next_uses) = (None, Vec::new());
        if !from.bit()? {
            let activated = activated.insert(Vec::new());
            for _ in 0..get_uint_to(from, MAX_ACTIVATED, "activations")? {
                let ability = AbilityId(get_uint_to(from, u32::MAX as u64, "an ability")? as u32);
                activated.push(ability);
                if from.bit()? {
                    next_uses.push((ability, from.bits(USE_BITS)? as u8));
                }
            }
        }
        verdicts.push(CommandVerdict { base, sub, activated, next_uses });
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::nearest_use;
    use crate::client::CommandStatus;
    use crate::harness::Harness;
    use crate::link::LinkProfile;
    use crate::message::{Request, ToClient};
    use crate::server::{NOTHING, Secret, Server, ServerConfig};
    use crate::view::ActorList;
    use crate::wire::bits::BitWriter;
    use crate::wire::number::{put_int, put_uint};
    use ugas_core::{AbilityGrant, Op, Rules, Sim, SimConfig, SpawnSpec, Target, UsedAbility};
    use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect};

    /// Returns a packet of the server that contains only verdicts.
    fn packet(verdicts: &[(u32, u16, bool)]) -> Vec<u8> {
        let mut out = BitWriter::new();
        out.bit(true);
        put_int(&mut out, 2);
        // No seeds.
        out.bit(false);
        put_uint(&mut out, verdicts.len() as u64);
        for &(base, sub, refused) in verdicts {
            put_uint(&mut out, base as u64);
            put_uint(&mut out, sub as u64);
            out.bit(refused);
            if !refused {
                put_uint(&mut out, 0);
            }
        }
        out.bit(false);
        out.bit(false);
        out.bits(NOTHING, 2);
        ActorList::default().close(&mut out);
        ActorList::default().close(&mut out);
        out.finish().to_vec()
    }

    /// A hero with an ability of Ana, after she joined.
    fn joined() -> (Harness, ugas_core::ControllerId, ugas_core::AbilityId) {
        let set = AttributeSet::new("S").with(Attribute::new("Mana", 100.0));
        let cost = Effect::instant("GE_Cost").add("Mana", -1.0);
        let luck = Effect { application_chance: Some(0.5.into()), ..Effect::instant("GE_Luck").add("Mana", 1.0) };
        let apply = AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Luck");
        let ability = Ability::new("GA").cost("GE_Cost").task(apply);
        let rules = Rules::builder().add(set).add(cost).add(luck).add(ability).build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
        let ability = rules.ability("GA").unwrap();
        sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
        let mut net = Harness::new(Server::new(sim, ServerConfig::default(), Secret::known(1)), 1);
        net.join("Ana", LinkProfile::round_trip(100, 0), &[who]).unwrap();
        net.run(60);
        (net, who, ability)
    }

    #[test]
    fn a_roll_that_is_unknown_is_left_to_the_server_and_the_rest_is_predicted() {
        let (mut net, who, ability) = joined();
        let mana = net.server().sim().rules().attribute("Mana").unwrap();
        let ask = || Request::Activate { who, ability, target: Target::None };
        let mut lucky = 0;
        for is_known in (0..40).map(|n| n % 2 == 0) {
            let before = net.client("Ana").sim().get(who, mana).unwrap();
            let ana = net.client_mut("Ana");
            if !is_known {
                ana.sim.remote_mut().remove_uses(who);
            }
            assert!(matches!(ana.command(ask()), Ok(CommandStatus::Predicted(..))));
            let predicted = ana.sim().get(who, mana).unwrap() - before;
            let corrections = ana.counts().corrections;
            net.run(90);
            let ana = net.client("Ana");
            let result = ana.sim().get(who, mana).unwrap() - before;
            assert_eq!(net.server().sim().get(who, mana), ana.sim().get(who, mana));
            assert_eq!(predicted, if is_known { result } else { -1.0 }, "the cost is predicted");
            assert_eq!(ana.counts().corrections - corrections, u64::from(predicted != result));
            lucky += (result > -1.0) as u32;
            // The server reveals the seeds again.
            let used = UsedAbility { who, ability };
            let next = net.server().sim().remote().next_use(used).unwrap();
            let seeds = (next..next + 4).map(|n| Secret::known(1).seed_of_use(used, n)).collect();
            let (first, tick) = (next, net.server().tick());
            net.client_mut("Ana").receive_message(ToClient::UseSeeds { who, ability, next, first, seeds }, tick);
        }
        assert!((5..35).contains(&lucky), "{lucky}");
    }

    #[test]
    fn a_client_takes_over_the_servers_numbers_of_uses_with_the_next_verdict() {
        let (mut net, who, ability) = joined();
        let mana = net.server().sim().rules().attribute("Mana").unwrap();
        let group = UsedAbility { who, ability };
        let next = |sim: &Sim| sim.remote().next_use(group).unwrap();
        for wrong_by in [-2_i32, 5, 1, -1, 3, -4] {
            // Each of these uses is in flight when the verdict of the first arrives.
            net.client_mut("Ana").sim.remote_mut().renumber_uses(
                group,
                |_, _| false,
                |next| next.wrapping_add_signed(wrong_by),
            );
            for _ in 0..3 {
                let ask = Request::Activate { who, ability, target: Target::None };
                net.client_mut("Ana").command(ask).unwrap();
                net.run(4);
            }
            net.run(60);
            assert_eq!(next(net.client("Ana").sim()), next(net.server().sim()), "{wrong_by}");
            // Now the predictions are right.
            let corrections = net.client("Ana").counts().corrections;
            for _ in 0..10 {
                let ask = Request::Activate { who, ability, target: Target::None };
                net.client_mut("Ana").command(ask).unwrap();
                net.run(3);
            }
            net.run(60);
            assert_eq!(net.client("Ana").counts().corrections, corrections, "{wrong_by}");
            assert_eq!(net.client("Ana").sim().get(who, mana), net.server().sim().get(who, mana));
        }
    }

    #[test]
    fn the_number_of_a_use_is_the_nearest_with_these_low_bits() {
        for expected in [0_u32, 5, 31, 32, 63, 64, 1000, u32::MAX - 3] {
            for difference in -32_i32..32 {
                let number = expected.wrapping_add_signed(difference);
                assert_eq!(nearest_use(expected, (number & 63) as u8), number, "{expected} {difference}");
            }
        }
    }

    // covers: UGAS-13.5-03
    #[test]
    fn verdicts_for_unknown_or_decided_keys_are_ignored() {
        let (mut net, who, ability) = joined();
        let ask = || Request::Activate { who, ability, target: Target::None };
        net.client_mut("Ana").command(ask()).unwrap();
        net.run(30);
        let ana = net.client_mut("Ana");
        assert_eq!(
            (ana.pending_commands(), ana.journal_entries(), ana.pending_facts.len()),
            (0, 0, 0),
            "decided commands are dropped"
        );
        ana.command(ask()).unwrap();
        ana.take_facts(&mut super::super::NetFacts::default());
        let state = |ana: &super::Client| {
            let facts = (ana.pending_facts.len(), ana.out.facts.list.len());
            let status = ana.predictions().map(|p| p.status).collect::<Vec<_>>();
            (
                ana.sim.row_hash(who).unwrap(),
                ana.pending.len(),
                ana.journal_entries(),
                facts,
                status,
                ana.counts().rejected,
            )
        };
        let before = state(ana);
        let tick = net.server().tick();
        let ana = net.client_mut("Ana");
        // The first key is decided; the others are unknown.
        for verdicts in [[(1, 0, true), (1, 0, false)], [(77, 0, true), (77, 9, false)], [(0, 0, true), (2, 1, true)]] {
            ana.read(&packet(&verdicts), tick).unwrap();
            assert_eq!(state(ana), before, "{verdicts:?}");
        }
        // The verdict of the pending command is applied.
        ana.read(&packet(&[(2, 0, true)]), tick).unwrap();
        assert_ne!(state(ana), before);
        assert_eq!((ana.pending_commands(), ana.counts().rejected), (0, 1));
    }
}
