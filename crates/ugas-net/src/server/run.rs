//! One tick of the server: run the due commands, advance the sim, collect the changes.

use super::grace::KeptCommand;
use super::moves::move_id;
use super::peer::{Due, Peer, Phase};
use super::{MAX_ACTIVATED, MOVE_SUB, STARTS_PER_TICK, Server, is_exact};
use crate::authority::{CommandValidator, PolicyDecision, RejectReason, aim_rejection};
use crate::confirm::{confirmation_hash, is_shown, shown_attribute, unknown_hash};
use crate::frames::advance_frames;
use crate::message::{Command, Request, Verdict};
use crate::op_ids::has_effect;
use crate::types::{PeerId, Tick};
use ugas_core::{
    AbilityId, Anchor, ControllerId, EffectKey, Fact, FactKind, Facts, Host, OpId, Outcome, Refusal, SimTime,
};

/// The time for which a client may still predict changes of an actor that is no longer relevant to it: the longest
/// prediction window, and as much again for the removal to arrive.
const UNKNOWN_AFTER_LEAVING: SimTime = SimTime::millis(4000);

/// What an accepted command did.
pub(super) enum Ran {
    Done,
    /// The late command claimed a time inside the grace before the end of a cooldown, and ran as of that end.
    DoneInGrace,
    /// The input is pressed, but the press activated no ability, for example because of a cooldown. This is normal
    /// play, so it is not a rejection.
    PressedOnly,
    /// The command is kept until this time, the end of a cooldown.
    Kept(SimTime),
}

impl Server {
    /// Runs one tick: runs the due commands, advances the sim and collects the changes.
    pub fn step(&mut self, host: &mut dyn Host) {
        self.tick = self.tick.plus(1);
        self.starts_left = STARTS_PER_TICK;
        self.follow_rules();
        let mut order = std::mem::take(&mut self.command_order);
        order_of_commands(self.tick, self.peers.keys(), &mut order);
        for &id in &order {
            self.extend_stream(id);
            self.run_commands(id);
        }
        self.command_order = order;
        advance_frames(&mut self.sim, &mut self.runner, self.tick.time(self.config.tick_length), host);
        self.run_capabilities();
        self.collect();
    }

    /// Adds the seeds of a client's blocks of ticks to the sim, up to the current tick.
    fn extend_stream(&mut self, id: PeerId) {
        let Some(p) = self.peers.get_mut(&id).filter(|p| p.phase == Phase::Playing) else { return };
        let (client, first) = (p.number.client, p.first_owned());
        let new = p.seeds.take_new(self.blocks, self.tick);
        if new.is_empty() {
            return;
        }
        let oldest = self.oldest_tick().time(self.config.tick_length);
        let mut remote = self.sim.remote_mut();
        for block in new {
            remote.add_seed_block(client, self.blocks.with_seed(block, self.secret.seed_of(first, block)));
        }
        remote.drop_seed_blocks(client, oldest);
    }

    /// Returns the oldest tick whose commands run as of their own tick.
    fn oldest_tick(&self) -> Tick {
        self.tick.minus(self.config.late_ticks())
    }

    /// Fills the budgets of a client for this tick.
    fn fill_budgets(&mut self, id: PeerId) {
        let Some(p) = self.peers.get_mut(&id) else { return };
        p.packets.fill(self.config.packets_per_tick);
        p.commands.fill(self.config.commands_per_tick);
        for (at, (budget, &who)) in p.movement.iter_mut().zip(&p.owned).enumerate() {
            budget.fill(&self.sim, who, &self.config.movement, self.tick, self.config.tick_length);
            if budget.teleported() == Some(self.tick)
                && let Some(row) = p.rows.get_mut(at)
            {
                row.record_external(self.tick);
            }
        }
    }

    pub(super) fn run_commands(&mut self, id: PeerId) {
        self.fill_budgets(id);
        let now = self.sim.now();
        while let Some(due) = self.peers.get_mut(&id).and_then(|p| p.next_due(self.tick, now)) {
            let (command, kept_until) = match due {
                Due::Command(command) => (command, None),
                Due::Kept(KeptCommand { command, until }) => (command, Some(until)),
                Due::Move(command) => {
                    let Some(p) = self.peers.get(&id) else { return };
                    let op_id = move_id(p.number.client, &command);
                    // The state of the controller shows whether the move ran.
                    if let Err((reason, _)) = self.run_command(id, &command, op_id, None) {
                        self.count_rejection(id, reason);
                    }
                    continue;
                }
            };
            let before = self.sim.facts().list.len();
            // A release or a cancel may be older than the limit. Its id is that of the oldest tick that is allowed.
            let tick = command.tick.max(self.oldest_tick());
            let Some(p) = self.peers.get_mut(&id) else { return };
            let op_id = p.op_ids.next(&self.sim, p.number.client, tick, &command.request);
            let result = match p.op_ids.is_taken(op_id) {
                true => Err((RejectReason::CommandRate, Refusal::Authority)),
                false => self.run_command(id, &command, op_id, kept_until),
            };
            if let Ok(Ran::Kept(until)) = result {
                let Some(p) = self.peers.get_mut(&id) else { return };
                p.kept = Some(KeptCommand { command, until });
                continue;
            }
            let facts = &self.sim.facts().list;
            // A log that overflowed was cleared.
            let new = facts.get(before..).unwrap_or(facts);
            let Some(p) = self.peers.get_mut(&id) else { return };
            if has_effect(new, op_id) {
                p.op_ids.count(op_id);
            }
            let mut activated: Vec<AbilityId> =
                activated(new, op_id, &p.owned, self.sim.rules().find_task_kind("Validate"));
            activated.truncate(MAX_ACTIVATED as usize);
            p.last_tick = p.last_tick.max(command.tick);
            let is_inside = kept_until.is_some() || matches!(result, Ok(Ran::DoneInGrace));
            let rejected = match result {
                Ok(Ran::Done | Ran::DoneInGrace | Ran::Kept(_)) => false,
                Ok(Ran::PressedOnly) => {
                    p.record_rejected(&command, RejectReason::Rules, self.tick);
                    false
                }
                Err((reason, _)) => {
                    p.record_rejected(&command, reason, self.tick);
                    self.count_rejection(id, reason);
                    true
                }
            };
            let Some(p) = self.peers.get_mut(&id) else { return };
            let (base, sub, who) = (command.base, command.sub, command.request.who());
            let is_use = command.request.aim().is_some() && !activated.is_empty() && self.config.grace > 0.0;
            p.push_verdict(Verdict { base, sub, rejected, activated, who });
            if is_use {
                self.record_use(id, is_inside);
            }
        }
    }

    pub(super) fn run_command(
        &mut self,
        id: PeerId,
        command: &Command,
        op_id: OpId,
        kept_until: Option<SimTime>,
    ) -> Result<Ran, (RejectReason, Refusal)> {
        let Some(p) = self.peers.get(&id) else { return Err((RejectReason::Authority, Refusal::Authority)) };
        if command.tick < p.last_tick && command.sub < MOVE_SUB {
            return Err((RejectReason::Key, Refusal::Authority));
        }
        // A release or a cancel may be older than the limit. It takes effect as of the oldest tick that is allowed.
        let tick = command.tick.max(self.oldest_tick());
        let (now, claimed) = (self.sim.now(), tick.minus(1).time(self.config.tick_length));
        // A kept command takes effect as of the end of the cooldown for which it was kept.
        let claimed = kept_until.unwrap_or(claimed);
        let validator = CommandValidator {
            sim: &self.sim,
            owned: &p.owned,
            target_policy: &*self.target_policy,
            movement: &self.config.movement,
            at: claimed.min(now),
        };
        let op = validator.validate(command).map_err(|error| self.excuse_hit(&command.request, error))?;
        if kept_until.is_none()
            && let Some(end) = self.grace_end(id, &command.request, claimed)
        {
            return Ok(Ran::Kept(end));
        }
        let aim = command.aim.map(|aim| validator.validate_first_aim(command, aim).map(|()| aim)).transpose();
        let aim = match aim {
            Ok(aim) => aim,
            // The command is accepted; only the chosen target is not.
            Err((reason, _)) => {
                self.count_rejection(id, reason);
                None
            }
        };
        if let Request::Move { who, anchor } = &command.request {
            self.check_move(id, *who, anchor)?;
        }
        self.observed.record_target(op_id, &command.request);
        if let Request::Mispredicted { base, sub, ability, .. } = command.request {
            let known = self.peers.get_mut(&id).is_some_and(|p| p.take_rejected((base, sub), &self.sim, ability));
            if !known {
                return Err((RejectReason::Key, Refusal::StaleHandle));
            }
        }
        let from = self.counted_from(id, &command.request, claimed)?;
        let (ago, is_in_grace) =
            (now - from, from > claimed && matches!(command.request, Request::Activate { .. }) && claimed < now);
        let result = match aim {
            Some(aim) => {
                let (result, aimed) = self.sim.remote_mut().run_aimed(op_id, &op, ago, aim);
                if let Err(refusal) = aimed {
                    self.count_rejection(id, aim_rejection(refusal).0);
                }
                result
            }
            None => self.sim.remote_mut().run_late(op_id, &op, ago),
        };
        match result {
            Ok(Outcome::Pressed { activated: None, refused: Some(_) }) => Ok(Ran::PressedOnly),
            Ok(_) => Ok(if is_in_grace { Ran::DoneInGrace } else { Ran::Done }),
            Err(refusal) => Err((RejectReason::Rules, refusal)),
        }
    }

    /// Returns the time from which the cooldowns of a command count: the claimed time, or later within the grace.
    fn counted_from(
        &mut self,
        id: PeerId,
        request: &Request,
        claimed: SimTime,
    ) -> Result<SimTime, (RejectReason, Refusal)> {
        let now = self.sim.now();
        if claimed >= now {
            return Ok(now);
        }
        let grace = self.grace_for(id);
        Ok(self.cooldowns.counted_from(&self.sim, request, claimed, grace)?.min(now))
    }

    /// Returns the rejection of a command. A hit at the wrong distance does not raise the anomaly score if one of the
    /// controllers jumped, or if the client did not know yet that a move was rejected.
    fn excuse_hit(&self, request: &Request, (reason, refusal): (RejectReason, Refusal)) -> (RejectReason, Refusal) {
        let Request::Complete { key, answer } = request else { return (reason, refusal) };
        let is_displaced = |who: ControllerId| {
            let owners = self.peers.values().flat_map(|p| p.owned.iter().zip(&p.movement));
            owners
                .filter(|(owned, _)| **owned == who)
                .any(|(_, budget)| budget.is_displaced(self.tick, self.config.tick_length))
        };
        let is_excused =
            reason == RejectReason::Hit && answer.targets.iter().chain([&key.who]).any(|&who| is_displaced(who));
        (if is_excused { RejectReason::Target } else { reason }, refusal)
    }

    /// Checks a move: by the target policy of the host, or else against the speed limit.
    fn check_move(&mut self, id: PeerId, who: ControllerId, anchor: &Anchor) -> Result<(), (RejectReason, Refusal)> {
        let decision = self.target_policy.can_move(&self.sim, who, anchor);
        let Server { peers, config, tick, .. } = self;
        let budget = peers.get_mut(&id).and_then(|p| {
            let at = p.owned.iter().position(|&owned| owned == who)?;
            p.movement.get_mut(at)
        });
        let Some(budget) = budget else { return Err((RejectReason::Authority, Refusal::Authority)) };
        let moved = match decision {
            PolicyDecision::BuiltIn => budget.try_move(anchor.position, &config.movement, *tick, config.tick_length),
            PolicyDecision::Accept => {
                budget.place(anchor.position, *tick);
                Ok(())
            }
            PolicyDecision::Reject => Err(RejectReason::Pose),
        };
        moved.map_err(|reason| (reason, Refusal::Authority))
    }

    /// Collects the changes of the tick, once for all clients.
    pub(super) fn collect(&mut self) {
        let mut facts = std::mem::take(&mut self.tick_facts);
        self.sim.take_facts(&mut facts);
        self.sim.remote_mut().take_changed(&mut self.changed);
        for &who in &self.changed {
            if self.sim.exists(who) && self.store.mode(who).is_none() {
                let mode = self.modes.get(&who).copied().unwrap_or(self.config.replication);
                // An existing controller can be added; one in mode `None` is left out.
                let _ = self.store.add(&self.sim, who, mode, self.tick);
            }
        }
        for who in std::mem::take(&mut self.mode_changes) {
            let mode = self.replication(who);
            if self.sim.exists(who) && self.store.mode(who) != Some(mode) {
                let _ = self.store.add(&self.sim, who, mode, self.tick);
            }
        }
        self.store.update(&self.sim, self.tick, &self.changed);
        self.store.record_bursts(&facts);
        self.cooldowns
            .record(&facts, self.tick.minus(self.config.late_ticks().saturating_add(1)).time(self.config.tick_length));
        for p in self.peers.values_mut().filter(|p| p.phase == Phase::Playing) {
            for row in &mut p.rows {
                let mode = self.modes.get(&row.who).copied().unwrap_or(self.config.replication);
                // An unchanged controller keeps its hash.
                let known = row.newest().filter(|_| self.changed.binary_search(&row.who).is_err());
                let hash = || self.sim.remote().hash_without(row.who, &self.hidden).ok().map(|hash| hash as u32);
                let is_present = is_exact(mode) && self.sim.exists(row.who);
                row.follow(self.tick, is_present.then(|| known.or_else(hash)).flatten());
            }
        }
        self.reveal_used();
        self.record_external_changes(&facts);
        self.queue_confirmations(&facts);
        // A hit may despawn its target in the same tick: the target is removed after the hit is confirmed.
        self.remove_despawned();
        self.send_observer_events(&facts);
        if self.facts.list.len() > self.sim.config().limits.facts as usize {
            // The host does not take the facts.
            self.facts = Facts::default();
        }
        let start = self.facts.list.len();
        self.facts.append(&facts);
        self.emit_local_facts(start);
        self.tick_facts = facts;
    }

    /// Records which owned controllers something other than the commands of their client changed: an op or an effect of
    /// another client, of the host or of a controller without a client.
    fn record_external_changes(&mut self, facts: &Facts) {
        let Server { peers, tick, external, .. } = self;
        external.clear();
        // The host may also write a value without an effect.
        let is_change = |f: &Fact| f.key != EffectKey::NONE || matches!(f.kind, FactKind::AttributeChanged { .. });
        let is_candidate =
            |f: &&Fact| f.root.client() != 0 || f.source != f.who && (f.source != ControllerId::NONE || is_change(f));
        external.extend(facts.list.iter().filter(is_candidate).map(|f| (f.who, f.root.client(), f.source)));
        external.sort_unstable();
        external.dedup();
        for p in peers.values_mut() {
            let (client, owned) = (p.number.client, &p.owned);
            for (row, budget) in p.rows.iter_mut().zip(&mut p.movement) {
                let first = external.partition_point(|(who, ..)| *who < row.who);
                let mut changes = external[first..].iter().take_while(|(who, ..)| *who == row.who);
                if changes.any(|(_, root, source)| *root != client && (*root != 0 || !owned.contains(source))) {
                    row.record_external(*tick);
                    budget.record_contradiction(*tick);
                }
            }
        }
    }

    /// Queues confirmations for clients: the changes that their commands made to remote actors and to their own
    /// controllers. Changes that are hidden from a client are not confirmed to it. If an actor stopped being relevant
    /// to a client only recently, the client may still have predicted the change; the server then reports to the client
    /// that the change stays unknown.
    pub(super) fn queue_confirmations(&mut self, facts: &Facts) {
        let may_be_predicted = |f: &&Fact| f.root.client() != 0 || f.source != f.who && f.source != ControllerId::NONE;
        let Server { peers, store, sim, hidden, tick, config, .. } = self;
        let since = tick.minus((UNKNOWN_AFTER_LEAVING.0 / config.tick_length.0.max(1)) as u32);
        for fact in facts.list.iter().filter(may_be_predicted) {
            let Some(hash) = confirmation_hash(fact) else { continue };
            let is_visible_to_owner = shown_attribute(fact).is_none_or(|attribute| !hidden.contains(&attribute));
            let is_shown = store.shape(fact.who).is_some_and(|shape| is_shown(sim, shape, fact));
            // The client that sent the command predicted the change, and so did the client that owns its source. These
            // are two clients if the command of one triggers a change on the other.
            let is_sender = |p: &Peer| fact.root.client() != 0 && p.number.client == fact.root.client();
            for p in peers.values_mut().filter(|p| is_sender(p) || p.owned.contains(&fact.source)) {
                if p.owned.contains(&fact.who) {
                    if is_visible_to_owner && is_sender(p) {
                        p.own_confirmations.push(*tick, hash);
                    }
                } else if is_shown {
                    p.views.touch(fact.who, *tick);
                    if p.views.is_relevant(store, fact.who) {
                        p.confirmations.push(*tick, hash);
                    } else if p.views.was_relevant_since(store, fact.who, since) {
                        p.confirmations.push(*tick, unknown_hash(fact.who));
                    }
                }
            }
        }
    }

    /// Removes controllers that left the sim from the store.
    pub(super) fn remove_despawned(&mut self) {
        if std::mem::replace(&mut self.removed_count, self.sim.remote().removed_count()) == self.removed_count {
            return;
        }
        let mut at = 0;
        while let Some(&who) = self.store.ids().get(at) {
            if self.sim.exists(who) {
                at += 1;
                continue;
            }
            self.store.remove(who);
            self.forget(who);
        }
        // Controllers in mode `None` are not in the store.
        let kept = self.modes.keys().chain(self.kept_movement.keys()).copied();
        let removed: Vec<ControllerId> = kept.filter(|&who| !self.sim.exists(who)).collect();
        removed.into_iter().for_each(|who| self.forget(who));
    }

    /// Removes what the server keeps about a controller that left the sim. A controller that a client owns may return.
    fn forget(&mut self, who: ControllerId) {
        if !self.peers.values().any(|p| p.owned.contains(&who)) {
            self.modes.remove(&who);
            self.interest.set_always_relevant(who, false);
            self.kept_movement.remove(&who);
            self.remove_uses(who);
        }
    }
}

/// Returns the abilities of the client's controllers that an op activated. An activation that waits for its validation
/// is included: the client has predicted it, and its facts are neither confirmed nor undone before the host answers.
/// `validate` is the kind of the task that requests the validation.
fn activated(
    facts: &[Fact],
    op_id: OpId,
    owned: &[ControllerId],
    validate: Option<ugas_core::TaskKindId>,
) -> Vec<AbilityId> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other fact starts an ability")]
    let of = |f: &Fact| match f.kind {
        FactKind::AbilityActivated { ability, .. } => Some(ability),
        FactKind::TaskRequest { ability, task, .. } if Some(task) == validate => Some(ability),
        _ => None,
    };
    facts.iter().filter(|f| f.root == op_id && owned.contains(&f.who)).filter_map(of).collect()
}

/// Lists the peers in the order in which their commands run in a tick, so that no peer has an advantage. The first peer
/// changes every two ticks, and the second of two ticks has the reverse order of the first, so of any two peers each
/// runs before the other in one of them.
fn order_of_commands<'a>(tick: Tick, peers: impl Iterator<Item = &'a PeerId>, order: &mut Vec<PeerId>) {
    order.clear();
    order.extend(peers);
    let first = (tick.0 / 2) as usize % order.len().max(1);
    order.rotate_left(first);
    if tick.0 % 2 == 1 {
        order.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_runs_first_equally_often_and_before_each_other_peer_in_half_of_the_ticks() {
        for count in 1..=7 {
            let peers: Vec<PeerId> = (10..10 + count).map(PeerId).collect();
            let (mut first, mut order) = (vec![0; peers.len()], Vec::new());
            for pair in 0..count {
                let mut before = vec![0; peers.len() * peers.len()];
                for tick in [2 * pair, 2 * pair + 1] {
                    order_of_commands(Tick(tick), peers.iter(), &mut order);
                    let at = |peer: &PeerId| peers.iter().position(|p| p == peer).unwrap();
                    first[at(&order[0])] += 1;
                    for (a, peer) in order.iter().enumerate() {
                        order[a + 1..].iter().for_each(|other| before[at(peer) * peers.len() + at(other)] += 1);
                    }
                }
                for (a, b) in (0..peers.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                    assert_eq!(before[a * peers.len() + b], 1, "{count} peers: {a} before {b}");
                }
            }
            assert_eq!(first, vec![2; peers.len()], "{count} peers");
        }
    }
}
