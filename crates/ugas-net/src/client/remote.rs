//! Remote actors: proxy rows of the client's sim, with their replicated state and the changes that the client predicts.

use super::Client;
use super::facts::Certainty;
use super::visible::{VisibleState, plain, report_resources};
use crate::types::Tick;
use crate::view::{ProxyChange, burst_key, read_next};
use crate::wire::bits::{BitReader, WireError};
use std::collections::VecDeque;
use ugas_core::{
    ControllerId, CueType, EffectId, EffectKey, Fact, FactKind, Facts, OpId, ParamValue, ProxyRow, RemoveReason,
    ResimulationStop, ResourceStep, Simulated,
};

impl Client {
    pub(super) fn read_actors(&mut self, tick: Tick, from: &mut BitReader) -> Result<(), WireError> {
        let mut last = None;
        self.changes.clear();
        let mut seen = Vec::new();
        let mut read = Ok(());
        loop {
            match read_next(from, &mut last) {
                Ok(Some(who)) => {
                    read = self.proxies.read(from, who, tick, &mut self.changes);
                    if read.is_err() {
                        break;
                    }
                    seen.push(who);
                }
                Ok(None) => break,
                Err(error) => {
                    read = Err(error);
                    break;
                }
            }
        }
        let changes = std::mem::take(&mut self.changes);
        for &who in &seen {
            self.reset_proxy(who, tick);
        }
        for (who, change) in &changes {
            self.emit_change(*who, change);
        }
        self.changes = changes;
        read
    }

    /// Returns the visible state of remote actors with predictions. A received value is emitted only if it differs from
    /// this state.
    pub(super) fn visible_predicted(&self) -> Vec<VisibleState> {
        let touched = self.touched.keys().filter_map(|&who| self.proxies.get(who));
        touched.map(|proxy| VisibleState::of_remote(&self.sim, proxy)).collect()
    }

    /// Confirms or undoes the predicted facts about remote actors of the ticks whose confirmations have arrived. Adds
    /// the undone facts to the list.
    pub(super) fn resolve_remote_facts(&mut self, undone: &mut Vec<Fact>) {
        let (client, pending, rows) = (self.client, &self.pending, &self.rows);
        // What waits for a validation by the server's host may still happen.
        let is_open = |root: OpId| {
            root.client() == client && pending.iter().any(|p| p.id == root)
                || rows.iter().any(|r| r.pending_validations.contains(&root))
        };
        undone.extend(self.pending_facts.resolve_remote_facts(&self.confirmations, is_open, &mut self.out));
        for fact in &*undone {
            if let (FactKind::Cue { tag, cue: CueType::Execute, .. }, Some(proxy)) =
                (fact.kind, self.proxies.get_mut(fact.who))
            {
                proxy.forget(burst_key(fact.key, fact.root, fact.who), tag);
            }
        }
        self.emit_hidden_changes(undone);
    }

    /// Emits loops and effects of remote actors that a misprediction suppressed: while the prediction was undecided,
    /// the same change received from the server was not emitted.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other fact is irrelevant here")]
    fn emit_hidden_changes(&mut self, undone: &[Fact]) {
        for fact in undone {
            let Some(proxy) = self.proxies.get(fact.who) else { continue };
            let kept = match fact.kind {
                FactKind::Cue { tag, cue: CueType::Add | CueType::Remove, .. } if proxy.loops().any(|t| t == tag) => {
                    ProxyChange::Loop { cue: tag, added: true }
                }
                FactKind::EffectApplied { .. } | FactKind::EffectRemoved { .. } => match proxy.effect(fact.key) {
                    Some(effect) => ProxyChange::Effect(*effect),
                    None => continue,
                },
                _ => continue,
            };
            self.emit_change(fact.who, &kept);
        }
    }

    /// Emits facts for visible changes that no other fact covers.
    pub(super) fn emit_corrections(&mut self, before: &[VisibleState], mut undone: Vec<Fact>) {
        for shown in before {
            let Some(proxy) = self.proxies.get(shown.who()) else { continue };
            undone.sort_by_key(|f| f.who != shown.who());
            let of = undone.partition_point(|f| f.who == shown.who());
            shown.compare(&VisibleState::of_remote(&self.sim, proxy), &undone[..of], self.sim.now(), &mut self.out);
        }
    }

    /// Reads a section from the reliable stream.
    pub(super) fn read_actor(&mut self, who: ControllerId, tick: Tick, from: &mut BitReader) -> Result<(), WireError> {
        self.changes.clear();
        let before = self.visible_predicted();
        let read = self.proxies.read(from, who, tick, &mut self.changes);
        let changes = std::mem::take(&mut self.changes);
        self.reset_proxy(who, tick);
        changes.iter().for_each(|(who, change)| self.emit_change(*who, change));
        self.changes = changes;
        self.emit_corrections(&before, Vec::new());
        read
    }

    /// Resets a proxy row to its replicated state at a tick and resimulates the predictions on it.
    pub(super) fn reset_proxy(&mut self, who: ControllerId, tick: Tick) {
        let Some(proxy) = self.proxies.get(who) else { return };
        let tick = self.last_shown_tick(who, tick);
        let positions = self.touched.get(&who);
        let mark = positions.and_then(|m| m.iter().rev().find(|(t, _)| *t <= tick)).map(|(_, mark)| *mark);
        let snapshot = proxy.snapshot();
        let at = tick.time(self.length).min(self.sim.now());
        let row = ProxyRow {
            who,
            at,
            sets: &snapshot.sets,
            values: &snapshot.values,
            tags: &snapshot.tags,
            anchor: self.positions.newest(who),
            holdings: &snapshot.holdings,
        };
        let held = self.held_capabilities(who);
        let start = self.sim.remote().journal_start(who);
        let image = self.sim.remote_mut().import_proxy(&row, mark.map_or(start, |m| m.max(start)));
        let end = ResimulationStop::at(self.sim.now());
        let done = image.and_then(|image| self.sim.resimulate(&image, None, &mut [end]));
        self.sim.take_facts(&mut self.facts);
        if done.is_err() {
            self.counts.malformed += 1;
        }
        self.report_held_capabilities(who, &held);
        if !self.owned.contains(&who) {
            // An existing journal continues.
            let _ = self.sim.keep_journal(who);
        }
    }

    /// Runs the observer list of a remote actor's ability; ignored for an unknown actor.
    pub(super) fn simulate(&mut self, who: ControllerId, what: &Simulated) {
        if self.owned.contains(&who) || self.proxies.get(who).is_none() {
            return;
        }
        self.emit_pending();
        if self.sim.remote_mut().simulate(who, what).is_err() {
            self.counts.malformed += 1;
        }
        self.sim.take_facts(&mut self.facts);
        for fact in &self.facts.list {
            self.out.push(*fact, Some(&self.facts), Certainty::Server);
        }
    }

    /// Removes a remote actor that was despawned or became irrelevant at a tick.
    pub(super) fn remove_proxy(&mut self, who: ControllerId, tick: Tick) {
        self.proxies.remove(who, tick);
        // Owned controllers are updated in packets.
        if self.proxies.get(who).is_some() || self.rows.iter().any(|r| r.who == who && r.is_present()) {
            return;
        }
        if self.proxies.has_free_slots() {
            self.request_all();
        }
        self.positions.remove(who);
        self.touched.remove(&who);
        if self.sim.exists(who) {
            let held = self.held_capabilities(who);
            self.sim.remote_mut().remove_silently(who);
            self.report_held_capabilities(who, &held);
            let fact = plain(self.sim.now(), who, FactKind::Despawned);
            self.out.push(fact, None, Certainty::Server);
        }
    }

    /// Returns the last tick up to which every predicted command has its verdict. A command that is too old to
    /// resimulate is ignored: otherwise one command without a verdict would retain all predictions since its tick.
    pub(super) fn last_decided_tick(&self, tick: Tick) -> Tick {
        let open = self.pending.iter().filter(|p| p.is_predicted && !self.is_too_old(p.command.tick));
        let open = open.map(|p| p.command.tick.minus(1)).min();
        open.map_or(tick, |open| open.min(tick))
    }

    /// Returns the last tick up to which the replicated state of a remote actor replaces the predictions on it: every
    /// predicted command has its verdict, and the values that the predictions changed have arrived. Without the second
    /// condition, the actor would show its old value until the new value arrives. A prediction that is too old is
    /// ignored.
    fn last_shown_tick(&self, who: ControllerId, tick: Tick) -> Tick {
        let proxy = self.proxies.get(who);
        let received = |attribute| proxy.and_then(|p| p.received(attribute));
        let first = self.pending_facts.first_unreceived(who, received).filter(|&first| !self.is_too_old(first));
        let decided = self.last_decided_tick(tick);
        first.map_or(decided, |first| decided.min(first.minus(1)))
    }

    /// Records the journal positions of remote actors with predictions at the end of the tick just simulated. At most
    /// `most` positions are kept; older predictions are not resimulated.
    pub(super) fn mark_proxies(&mut self, most: usize) {
        for (&who, positions) in &mut self.touched {
            let mark = self.sim.remote().journal_end(who);
            // Without new entries the older position is the same.
            if positions.back().is_none_or(|(_, last)| *last != mark) {
                positions.push_back((self.tick, mark));
            }
            while positions.len() > most
                && let Some((_, oldest)) = positions.pop_front()
            {
                self.sim.remote_mut().trim_journal(who, oldest);
            }
        }
        let journalled = self.proxies.iter().map(|p| p.who()).filter(|&who| self.sim.remote().journal_len(who) > 0);
        for who in journalled.collect::<Vec<_>>() {
            let mark = self.sim.remote().journal_end(who);
            self.touched.entry(who).or_insert_with(|| VecDeque::from([(self.tick, mark)]));
        }
    }

    /// Drops the predictions on remote actors up to a confirmed tick: from then on the server's state replaces them.
    pub(super) fn confirm_proxies(&mut self, tick: Tick, is_rejected: bool) {
        let oldest = self.tick.minus(self.prediction_window());
        let proxies = &self.proxies;
        self.pending_facts.drop_received(oldest, |who, attribute| proxies.get(who)?.received(attribute));
        let touched: Vec<ControllerId> = self.touched.keys().copied().collect();
        for who in touched {
            let tick = self.last_shown_tick(who, tick);
            let Some(positions) = self.touched.get_mut(&who) else { continue };
            let mut confirmed = None;
            while positions.front().is_some_and(|(t, _)| *t <= tick) {
                confirmed = positions.pop_front().map(|(_, mark)| mark);
            }
            if let Some(mark) = confirmed {
                self.sim.remote_mut().trim_journal(who, mark);
            }
            if confirmed.is_some() || is_rejected {
                self.reset_proxy(who, tick);
            }
            if self.sim.remote().journal_len(who) == 0 {
                self.touched.remove(&who);
            }
        }
    }

    /// Returns whether a change was predicted, or will be compared with the prediction once the whole packet is read.
    fn is_predicted_change(&self, who: ControllerId, change: &ProxyChange) -> bool {
        let has_predicted =
            |test: &dyn Fn(&Fact) -> bool| self.pending_facts.has_predicted(|f| f.who == who && test(f));
        match *change {
            ProxyChange::Attribute { old: Some(_), .. } | ProxyChange::Tag { .. } => self.touched.contains_key(&who),
            ProxyChange::Effect(e) => {
                has_predicted(&|f| f.key == e.key && matches!(f.kind, FactKind::EffectApplied { .. }))
            }
            ProxyChange::EffectRemoved(key) => {
                has_predicted(&|f| f.key == key && matches!(f.kind, FactKind::EffectRemoved { .. }))
            }
            ProxyChange::Loop { cue, added } => {
                let wanted = if added { CueType::Add } else { CueType::Remove };
                has_predicted(&|f| matches!(f.kind, FactKind::Cue { tag, cue: c, .. } if tag == cue && c == wanted))
            }
            ProxyChange::Shaped | ProxyChange::Attribute { .. } | ProxyChange::Burst(_) => false,
        }
    }

    /// Emits facts for the resources that a remote actor got or lost since its attribute sets last changed.
    fn report_proxy_resources(&mut self, who: ControllerId) {
        let Some(proxy) = self.proxies.get(who) else { return };
        let now = self.sim.resources(who).unwrap_or_default().into_iter().filter(|&a| proxy.shows(a));
        let now: Vec<_> = now.filter_map(|a| Some((a, self.sim.get(who, a).ok()?))).collect();
        let proxies = &self.proxies;
        self.proxy_resources.retain(|&who, _| proxies.get(who).is_some());
        let before = self.proxy_resources.remove(&who).unwrap_or_default();
        report_resources(who, &before, &now, self.sim.now(), &mut self.out);
        if !now.is_empty() {
            self.proxy_resources.insert(who, now);
        }
    }

    pub(super) fn emit_change(&mut self, who: ControllerId, change: &ProxyChange) {
        if self.is_predicted_change(who, change) {
            return;
        }
        let at = self.sim.now();
        let mut push = |kind, key: EffectKey, effect: EffectId| {
            let fact = Fact { key, effect, ..plain(at, who, kind) };
            self.out.push(fact, None, Certainty::Server);
        };
        let (no_key, no_effect) = (EffectKey::NONE, EffectId::NONE);
        match *change {
            ProxyChange::Shaped => {
                push(FactKind::Restored, no_key, no_effect);
                self.report_proxy_resources(who);
            }
            ProxyChange::Attribute { attribute, old, new } => {
                let old = old.unwrap_or(new);
                push(
                    FactKind::AttributeChanged { attribute, old, new, old_base: old, new_base: new },
                    no_key,
                    no_effect,
                );
                if old != new && self.sim.resources(who).is_ok_and(|list| list.contains(&attribute)) {
                    let step = ResourceStep::Changed;
                    let fact = plain(at, who, FactKind::Resource { attribute, step, old, new });
                    self.out.push(fact, None, Certainty::Server);
                }
            }
            ProxyChange::Tag { tag, added } => {
                push(FactKind::TagChanged { tag, added, exact: true, presence: true }, no_key, no_effect);
            }
            ProxyChange::Effect(e) => {
                push(FactKind::EffectApplied { level: e.level, stacks: e.stacks }, e.key, e.effect);
            }
            ProxyChange::EffectRemoved(key) => {
                push(FactKind::EffectRemoved { reason: RemoveReason::Removed }, key, no_effect)
            }
            ProxyChange::Loop { cue, added } => {
                let kind = if added { CueType::Add } else { CueType::Remove };
                push(FactKind::Cue { tag: cue, cue: kind, detail: Default::default() }, no_key, no_effect);
            }
            ProxyChange::Burst(burst) => {
                let kind = FactKind::Cue { tag: burst.cue, cue: CueType::Execute, detail: Default::default() };
                let position = burst.position.map(|position| ("Position", ParamValue::Vector(position)));
                let mut details = Facts::default();
                details.push(Fact { key: burst.key, ..plain(at, who, kind) }, position.as_slice());
                details.list.iter().for_each(|fact| self.out.push(*fact, Some(&details), Certainty::Server));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Client, PendingCommand};
    use crate::harness::Harness;
    use crate::link::LinkProfile;
    use crate::message::{Command, Request};
    use crate::server::{Secret, Server, ServerConfig};
    use ugas_core::{AbilityGrant, Op, Rules, Sim, SimConfig, SpawnSpec, Target};
    use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, ControllerReplication, Effect};

    /// A server that withholds one verdict must not make a client keep all later predictions on remote actors.
    #[test]
    fn a_missing_verdict_does_not_retain_later_predictions_on_remote_actors() {
        let set = AttributeSet::new("S").with(Attribute::new("Health", 100.0));
        let dot = Effect::lasting("GE_Dot", 5.0).every(0.05).add("Health", -1.0);
        let task = AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Dot");
        let rules = Rules::builder().add(set).add(dot).add(Ability::new("GA").task(task)).build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let spawn = |sim: &mut Sim| sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
        let (who, foe) = (spawn(&mut sim), spawn(&mut sim));
        let ability = rules.ability("GA").unwrap();
        sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
        let config = ServerConfig { replication: ControllerReplication::Full, ..ServerConfig::default() };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 1);
        net.join("Ana", LinkProfile::round_trip(100, 0), &[who]).unwrap();
        net.run(60);
        let ask = || Request::Activate { who, ability, target: Target::Controller(foe) };
        let ana = net.client_mut("Ana");
        ana.command(ask()).unwrap();
        // This command is never sent, but the client counts it as acknowledged.
        let command = Command { tick: ana.tick.plus(1), base: 0, sub: 9, request: ask(), aim: None };
        let id = ugas_core::OpId::new(ana.client, command.tick.0, 9);
        let (has_effect, is_predicted, is_sent, is_acked) = (true, true, true, true);
        ana.pending.push_back(PendingCommand { command, id, has_effect, is_predicted, is_sent, is_acked });
        let positions = |ana: &Client| ana.touched.get(&foe).map_or(0, |positions| positions.len());
        let mut most = 0;
        for n in 0..61 * 60 {
            if n % 20 == 0 && n < 40 * 60 {
                net.client_mut("Ana").command(ask()).unwrap();
            }
            net.step();
            let ana = net.client("Ana");
            assert!(
                positions(ana) <= ana.prediction_window() as usize,
                "{} positions of {} ticks",
                positions(ana),
                ana.prediction_window()
            );
            // Fifteen effects are active at once, each with a period of three ticks.
            assert!(
                ana.sim.remote().journal_len(foe) <= 6 * ana.prediction_window() as usize,
                "{}",
                ana.sim.remote().journal_len(foe)
            );
            assert!(ana.retained() >= positions(ana) + ana.sim.remote().journal_len(foe), "retained() counts it");
            most = most.max(positions(ana));
        }
        assert!(most > 10, "positions were kept");
        net.run(60);
        let ana = net.client("Ana");
        assert_eq!((ana.pending_commands(), ana.touched.len()), (1, 0), "after a minute the command no longer counts");
        let health = |sim: &Sim| sim.get(foe, rules.attribute("Health").unwrap()).unwrap();
        assert_eq!(health(&ana.sim), health(net.server().sim()));
    }
}
