//! Controllers of others: rows of this sim that show what is told of them, and what was done to them here since.

use super::Client;
use super::shown::{Shown, plain};
use super::told::Certainty;
use crate::types::Tick;
use crate::view::{Change, burst_key, read_next};
use crate::wire::bits::{BitReader, WireError};
use std::collections::VecDeque;
use ugas_core::{
    ControllerId, CueType, EffectId, EffectKey, Fact, FactKind, Facts, OpId, ParamValue, ProxyRow, RemoveReason,
    ResimulationStop, Simulated,
};

impl Client {
    pub(super) fn read_views(&mut self, tick: Tick, from: &mut BitReader) -> Result<(), WireError> {
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
            self.show(who, tick);
        }
        for (who, change) in &changes {
            self.tell_change(*who, change);
        }
        self.changes = changes;
        read
    }

    /// What is shown of others something was done to here: a value that moves there is news only if it is not what was
    /// shown already.
    pub(super) fn shown_of_touched(&self) -> Vec<Shown> {
        let touched = self.touched.keys().filter_map(|&who| self.proxies.get(who));
        touched.map(|other| Shown::of_other(&self.sim, other)).collect()
    }

    /// The server has said everything up to a tick that happened to others: what was told ahead of them is true or undone.
    pub(super) fn settle_others(&mut self, until: Tick, before: &[Shown], mut undone: Vec<Fact>) {
        let (client, pending) = (self.client, &self.pending);
        let is_open = |root: OpId| root.client() == client && pending.iter().any(|p| p.command.id(client) == root);
        undone.extend(self.waiting.settle_others(until, is_open, &mut self.out));
        for fact in &undone {
            if let (FactKind::Cue { tag, cue: CueType::Execute, .. }, Some(other)) =
                (fact.kind, self.proxies.get_mut(fact.who))
            {
                other.forget(burst_key(fact.key, fact.root, fact.who), tag);
            }
        }
        self.tell_kept(&undone);
        self.tell_moved(before, undone);
    }

    /// Reports loops and effects of others that a wrong prediction hid: while the prediction waited, the same change heard
    /// from the server was not reported.
    fn tell_kept(&mut self, undone: &[Fact]) {
        for fact in undone {
            let Some(other) = self.proxies.get(fact.who) else { continue };
            let kept = match fact.kind {
                FactKind::Cue { tag, cue: CueType::Add | CueType::Remove, .. } if other.loops().any(|t| t == tag) => {
                    Change::Loop { cue: tag, added: true }
                }
                FactKind::EffectApplied { .. } | FactKind::EffectRemoved { .. } => match other.effect(fact.key) {
                    Some(effect) => Change::Effect(*effect),
                    None => continue,
                },
                _ => continue,
            };
            self.tell_change(fact.who, &kept);
        }
    }

    /// Tells what is shown otherwise than before and nothing else has told.
    pub(super) fn tell_moved(&mut self, before: &[Shown], mut undone: Vec<Fact>) {
        for shown in before {
            let Some(other) = self.proxies.get(shown.who()) else { continue };
            undone.sort_by_key(|f| f.who != shown.who());
            let of = undone.partition_point(|f| f.who == shown.who());
            shown.compare(&Shown::of_other(&self.sim, other), &undone[..of], self.sim.now(), &mut self.out);
        }
    }

    /// One section that came by another way.
    pub(super) fn read_view(&mut self, who: ControllerId, tick: Tick, from: &mut BitReader) -> Result<(), WireError> {
        self.changes.clear();
        let before = self.shown_of_touched();
        let read = self.proxies.read(from, who, tick, &mut self.changes);
        let changes = std::mem::take(&mut self.changes);
        self.show(who, tick);
        changes.iter().for_each(|(who, change)| self.tell_change(*who, change));
        self.changes = changes;
        self.tell_moved(&before, Vec::new());
        read
    }

    /// Puts a proxy row to what is known of it at a tick, and does again what was done to it here since.
    pub(super) fn show(&mut self, who: ControllerId, tick: Tick) {
        let Some(proxy) = self.proxies.get(who) else { return };
        let tick = self.heard_up_to(tick);
        let marks = self.touched.get(&who);
        let mark = marks.and_then(|m| m.iter().rev().find(|(t, _)| *t <= tick)).map(|(_, mark)| *mark);
        let snapshot = proxy.snapshot();
        let at = tick.time(self.length).min(self.sim.now());
        let row = ProxyRow {
            who,
            at,
            sets: &snapshot.sets,
            values: &snapshot.values,
            tags: &snapshot.tags,
            anchor: self.places.newest(who),
        };
        let start = self.sim.remote().journal_start(who);
        let image = self.sim.remote_mut().import_proxy(&row, mark.map_or(start, |m| m.max(start)));
        let end = ResimulationStop::at(self.sim.now());
        let done = image.and_then(|image| self.sim.resimulate(&image, None, &mut [end]));
        self.sim.take_facts(&mut self.facts);
        if done.is_err() {
            self.counts.damaged += 1;
        }
        if !self.owned.contains(&who) {
            // A journal that is there already goes on.
            let _ = self.sim.keep_journal(who);
        }
    }

    /// Runs what bystanders see of somebody else's ability. One nothing is known of is not seen.
    pub(super) fn simulate(&mut self, who: ControllerId, what: &Simulated) {
        if self.owned.contains(&who) || self.proxies.get(who).is_none() {
            return;
        }
        self.drain();
        if self.sim.remote_mut().simulate(who, what).is_err() {
            self.counts.damaged += 1;
        }
        self.sim.take_facts(&mut self.facts);
        for fact in &self.facts.list {
            self.out.push(*fact, Some(&self.facts), Certainty::Server);
        }
    }

    /// Somebody is gone or out of sight since a tick.
    pub(super) fn lose(&mut self, who: ControllerId, tick: Tick) {
        self.proxies.remove(who, tick);
        // What is one's own is told in packets.
        if self.proxies.get(who).is_some() || self.rows.iter().any(|r| r.who == who && r.settled.is_some()) {
            return;
        }
        if self.proxies.has_places_again() {
            self.ask_for_all();
        }
        self.places.forget(who);
        self.touched.remove(&who);
        if self.sim.exists(who) {
            self.sim.remote_mut().remove_silently(who);
            let fact = plain(self.sim.now(), who, FactKind::Despawned);
            self.out.push(fact, None, Certainty::Server);
        }
    }

    /// The last tick up to which the server has heard every command. One it has kept its word back about for longer than
    /// anything is run again does not count: else a single one that is never judged would keep everything since.
    pub(super) fn heard_up_to(&self, tick: Tick) -> Tick {
        let open = self.pending.iter().filter(|p| p.played && !self.is_ancient(p.command.tick));
        let open = open.map(|p| p.command.tick.minus(1)).min();
        open.map_or(tick, |open| open.min(tick))
    }

    /// Notes where the journals of others something was done to here stand at the end of the tick just played. So many
    /// are kept at most; what is older will not be played again, as with own controllers.
    pub(super) fn mark_proxies(&mut self, most: usize) {
        for (&who, marks) in &mut self.touched {
            let mark = self.sim.remote().journal_end(who);
            // Where nothing was noted since, the older mark says the same.
            if marks.back().is_none_or(|(_, last)| *last != mark) {
                marks.push_back((self.tick, mark));
            }
            while marks.len() > most
                && let Some((_, oldest)) = marks.pop_front()
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

    /// What was done here to others up to a tick the server has spoken about goes: what it says of them holds.
    pub(super) fn settle_proxies(&mut self, tick: Tick, struck: bool) {
        let tick = self.heard_up_to(tick);
        let touched: Vec<ControllerId> = self.touched.keys().copied().collect();
        for who in touched {
            let Some(marks) = self.touched.get_mut(&who) else { continue };
            let mut settled = None;
            while marks.front().is_some_and(|(t, _)| *t <= tick) {
                settled = marks.pop_front().map(|(_, mark)| mark);
            }
            if let Some(mark) = settled {
                self.sim.remote_mut().trim_journal(who, mark);
            }
            if settled.is_some() || struck {
                self.show(who, tick);
            }
            if self.sim.remote().journal_len(who) == 0 {
                self.touched.remove(&who);
            }
        }
    }

    /// Whether a change was told ahead, or is looked at when everything is heard.
    fn is_foretold(&self, who: ControllerId, change: &Change) -> bool {
        let foretells = |test: &dyn Fn(&Fact) -> bool| self.waiting.foretells(|f| f.who == who && test(f));
        match *change {
            Change::Attribute { old: Some(_), .. } | Change::Tag { .. } => self.touched.contains_key(&who),
            Change::Effect(e) => foretells(&|f| f.key == e.key && matches!(f.kind, FactKind::EffectApplied { .. })),
            Change::EffectGone(key) => foretells(&|f| f.key == key && matches!(f.kind, FactKind::EffectRemoved { .. })),
            Change::Loop { cue, added } => {
                let wanted = if added { CueType::Add } else { CueType::Remove };
                foretells(&|f| matches!(f.kind, FactKind::Cue { tag, cue: c, .. } if tag == cue && c == wanted))
            }
            _ => false,
        }
    }

    pub(super) fn tell_change(&mut self, who: ControllerId, change: &Change) {
        if self.is_foretold(who, change) {
            return;
        }
        let at = self.sim.now();
        let mut put = |kind, key: EffectKey, effect: EffectId| {
            let fact = Fact { key, effect, ..plain(at, who, kind) };
            self.out.push(fact, None, Certainty::Server);
        };
        let (no_key, no_effect) = (EffectKey::NONE, EffectId::NONE);
        match *change {
            Change::Shaped => put(FactKind::Restored, no_key, no_effect),
            Change::Attribute { attribute, old, new } => {
                let old = old.unwrap_or(new);
                put(
                    FactKind::AttributeChanged { attribute, old, new, old_base: old, new_base: new },
                    no_key,
                    no_effect,
                );
            }
            Change::Tag { tag, added } => {
                put(FactKind::TagChanged { tag, added, exact: true, presence: true }, no_key, no_effect);
            }
            Change::Effect(e) => {
                put(FactKind::EffectApplied { level: e.level, stacks: e.stacks }, e.key, e.effect);
            }
            Change::EffectGone(key) => put(FactKind::EffectRemoved { reason: RemoveReason::Removed }, key, no_effect),
            Change::Loop { cue, added } => {
                let kind = if added { CueType::Add } else { CueType::Remove };
                put(FactKind::Cue { tag: cue, cue: kind, detail: Default::default() }, no_key, no_effect);
            }
            Change::Burst(burst) => {
                let kind = FactKind::Cue { tag: burst.cue, cue: CueType::Execute, detail: Default::default() };
                let place = burst.place.map(|place| ("Position", ParamValue::Vector(place)));
                let mut details = Facts::default();
                details.push(Fact { key: burst.key, ..plain(at, who, kind) }, place.as_slice());
                details.list.iter().for_each(|fact| self.out.push(*fact, Some(&details), Certainty::Server));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Client, Pending};
    use crate::harness::Harness;
    use crate::link::LinkProfile;
    use crate::message::{Command, Request};
    use crate::server::{Secret, Server, ServerConfig};
    use ugas_core::{AbilityGrant, Op, Rules, Sim, SimConfig, SpawnSpec, Target};
    use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, ControllerReplication, Effect};

    /// A server that judges every command but one must not make a client remember all it does to others from then on.
    #[test]
    fn a_verdict_that_never_comes_does_not_keep_what_is_done_to_others() {
        let set = AttributeSet::new("S").with(Attribute::new("Health", 100.0));
        let dot = Effect::lasting("GE_Dot", 5.0).every(0.05).add("Health", -1.0);
        let task = AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Dot");
        let rules = Rules::builder().add(set).add(dot).add(Ability::new("GA").task(task)).build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let spawn = |sim: &mut Sim| sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
        let (who, foe) = (spawn(&mut sim), spawn(&mut sim));
        let ability = rules.ability("GA").unwrap();
        sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
        let config = ServerConfig { mode: ControllerReplication::Full, ..ServerConfig::default() };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 1);
        net.join("Ana", LinkProfile::round_trip(100, 0), &[who]).unwrap();
        net.run(60);
        let ask = || Request::Activate { who, ability, target: Target::Controller(foe) };
        let ana = net.client_mut("Ana");
        ana.command(ask()).unwrap();
        // The server never hears of this one, and the client believes that it has.
        let command = Command { tick: ana.tick.plus(1), base: 0, sub: 9, request: ask(), aim: None };
        ana.pending.push_back(Pending { command, played: true, heard: true });
        let marks = |ana: &Client| ana.touched.get(&foe).map_or(0, |marks| marks.len());
        let mut most = 0;
        for n in 0..61 * 60 {
            if n % 20 == 0 && n < 40 * 60 {
                net.client_mut("Ana").command(ask()).unwrap();
            }
            net.step();
            let ana = net.client("Ana");
            assert!(marks(ana) <= ana.window() as usize, "{} marks of {} ticks", marks(ana), ana.window());
            // Fifteen of them run at once, each every third tick.
            assert!(
                ana.sim.remote().journal_len(foe) <= 6 * ana.window() as usize,
                "{}",
                ana.sim.remote().journal_len(foe)
            );
            assert!(ana.held() >= marks(ana) + ana.sim.remote().journal_len(foe), "what is kept is counted");
            most = most.max(marks(ana));
        }
        assert!(most > 10, "there was something to keep");
        net.run(60);
        let ana = net.client("Ana");
        assert_eq!((ana.unanswered(), ana.touched.len()), (1, 0), "after a minute nobody waits for it");
        let health = |sim: &Sim| sim.get(foe, rules.attribute("Health").unwrap()).unwrap();
        assert_eq!(health(&ana.sim), health(net.server().sim()));
    }
}
