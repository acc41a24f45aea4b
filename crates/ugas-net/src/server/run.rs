//! One tick of the server: run the due commands, advance the sim, collect the changes.

use super::peer::{Peer, Phase};
use super::{MAX_ACTIVATED, Server, is_exact};
use crate::authority::{CommandValidator, RejectReason, aim_rejection};
use crate::confirm::{confirmation_hash, is_shown};
use crate::message::{Command, Request, Verdict};
use crate::types::PeerId;
use ugas_core::{AbilityId, ControllerId, Fact, FactKind, Facts, Host, Outcome, Refusal, SimTime};

impl Server {
    /// Runs one tick: runs the due commands, advances the sim and collects the changes.
    pub fn step(&mut self, host: &mut dyn Host) {
        self.tick = self.tick.plus(1);
        let mut last = None;
        while let Some(id) = self.peer_after(last) {
            self.run_commands(id);
            last = Some(id);
        }
        self.sim.advance_with(self.tick.time(self.config.tick_length), host);
        self.collect();
    }

    pub(super) fn run_commands(&mut self, id: PeerId) {
        let Some(p) = self.peers.get_mut(&id) else { return };
        p.packets.fill(self.config.packets_per_tick);
        p.commands.fill(self.config.commands_per_tick);
        while let Some(command) = self.peers.get_mut(&id).and_then(|p| p.next_due(self.tick)) {
            let before = self.sim.facts().list.len();
            let result = self.run_command(id, &command);
            let mut activated: Vec<AbilityId> = self.activated(id, &command, before);
            activated.truncate(MAX_ACTIVATED as usize);
            let Some(p) = self.peers.get_mut(&id) else { return };
            p.last_tick = p.last_tick.max(command.tick);
            let rejected = match result {
                Ok(()) => false,
                Err((reason, _)) => {
                    p.record_rejected(&command, reason);
                    self.counts.add(reason);
                    true
                }
            };
            p.push_verdict(Verdict { base: command.base, sub: command.sub, rejected, activated });
        }
    }

    /// Returns the abilities of the client's controllers that a command activated. An activation that waits for its
    /// validation counts: the client has predicted it, and its facts stay undecided until the answer.
    pub(super) fn activated(&self, id: PeerId, command: &Command, before: usize) -> Vec<AbilityId> {
        let Some(p) = self.peers.get(&id) else { return Vec::new() };
        let (key, facts) = (command.id(p.number.client), &self.sim.facts().list);
        // A log that overflowed was cleared.
        let new = facts.get(before..).unwrap_or(facts);
        let validate = self.sim.rules().find_task_kind("Validate");
        #[expect(clippy::wildcard_enum_match_arm, reason = "no other fact starts an ability")]
        let of = |f: &Fact| match f.kind {
            FactKind::AbilityActivated { ability, .. } => Some(ability),
            FactKind::TaskRequest { ability, task, .. } if Some(task) == validate => Some(ability),
            _ => None,
        };
        new.iter().filter(|f| f.root == key && p.owned.contains(&f.who)).filter_map(of).collect()
    }

    pub(super) fn run_command(&mut self, id: PeerId, command: &Command) -> Result<(), (RejectReason, Refusal)> {
        let Some(p) = self.peers.get(&id) else { return Err((RejectReason::Authority, Refusal::Authority)) };
        if command.tick < p.last_tick {
            return Err((RejectReason::Key, Refusal::Authority));
        }
        let validator = CommandValidator {
            sim: &self.sim,
            owned: &p.owned,
            target_policy: &*self.target_policy,
            effects: &self.effects,
        };
        let op = validator.validate(command)?;
        let aim = match command.aim.map(|aim| validator.validate_first_aim(command, aim).map(|()| aim)) {
            // The command is accepted; only the chosen target is not.
            Some(Err((reason, _))) => {
                self.counts.add(reason);
                None
            }
            aim => aim.transpose()?,
        };
        let key = command.id(p.number.client);
        self.observed.record_target(key, &command.request);
        if let Request::Mispredicted { base, sub, ability, .. } = command.request {
            let known = self.peers.get_mut(&id).is_some_and(|p| p.take_rejected((base, sub), &self.sim, ability));
            if !known {
                return Err((RejectReason::Key, Refusal::StaleHandle));
            }
        }
        let (now, claimed) = (self.sim.now(), command.tick.minus(1).time(self.config.tick_length));
        let ago = if claimed >= now {
            SimTime::ZERO
        } else {
            now - self.cooldowns.counted_from(&self.sim, &command.request, claimed)?.min(now)
        };
        let result = match aim {
            Some(aim) => {
                let (result, aimed) = self.sim.remote_mut().run_aimed(key, &op, ago, aim);
                if let Err(refusal) = aimed {
                    self.counts.add(aim_rejection(refusal).0);
                }
                result
            }
            None => self.sim.remote_mut().run_late(key, &op, ago),
        };
        match result {
            Ok(Outcome::Pressed { activated: None, refused: Some(refusal) }) => Err((RejectReason::Rules, refusal)),
            Ok(_) => Ok(()),
            Err(refusal) => Err((RejectReason::Rules, refusal)),
        }
    }

    /// Collects the changes of the tick, once for all clients.
    pub(super) fn collect(&mut self) {
        let mut facts = std::mem::take(&mut self.tick_facts);
        self.sim.take_facts(&mut facts);
        self.sim.remote_mut().take_changed(&mut self.changed);
        self.remove_despawned();
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
        self.cooldowns.record(
            &facts,
            self.tick.minus(self.config.max_late_ticks.saturating_add(1)).time(self.config.tick_length),
        );
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
        self.queue_confirmations(&facts);
        self.send_observer_events(&facts);
        if self.facts.list.len() > self.sim.config().limits.facts as usize {
            // The host does not take the facts.
            self.facts = Facts::default();
        }
        self.facts.append(&facts);
        self.tick_facts = facts;
    }

    /// Queues confirmations for clients: the changes that their commands made to remote actors and to their own
    /// controllers. Changes that are hidden from a client are not confirmed to it.
    pub(super) fn queue_confirmations(&mut self, facts: &Facts) {
        let may_be_predicted = |f: &&Fact| f.root.client() != 0 || f.source != f.who && f.source != ControllerId::NONE;
        let Server { peers, store, sim, hidden, tick, .. } = self;
        for fact in facts.list.iter().filter(may_be_predicted) {
            let Some(hash) = confirmation_hash(fact) else { continue };
            let is_visible_to_owner = if let FactKind::AttributeChanged { attribute, .. } = fact.kind {
                !hidden.contains(&attribute)
            } else {
                true
            };
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
                    if p.views.is_relevant(fact.who) {
                        p.confirmations.push(*tick, hash);
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
            // An owned controller may return.
            if !self.peers.values().any(|p| p.owned.contains(&who)) {
                self.modes.remove(&who);
            }
        }
    }
}
