//! The invariants of every tick and of the end.

use super::play::{NAMES, Swarm};
use ugas_core::{ControllerId, Refusal, Sim, Target, Which};
use ugas_doc::ControllerReplication;
use ugas_net::client::{ClientState, PredictionStatus};
use ugas_net::internals::view::ProxySnapshot;

/// The most unconfirmed data that a client retains: ticks, journals, predicted facts.
const MOST_HELD: usize = 4_000;
/// The most that the server retains for one client: packets in flight, commands, verdicts, messages.
const MOST_HELD_FOR_ONE: usize = 4_000;

impl Swarm {
    /// Records the state of the server at the end of its tick.
    pub(crate) fn note(&mut self) {
        let tick = self.net.tick().0;
        for &hero in &self.heroes {
            let hash = self.net.server().owner_hash(hero).unwrap();
            self.hashes.insert((hero, tick), hash);
        }
        for (name, &hero) in NAMES.into_iter().zip(&self.heroes) {
            if self.is_dead(self.net.server().sim(), hero) || self.is_dead(self.net.client(name).sim(), hero) {
                self.dead.insert(hero, self.net.tick());
            }
        }
    }

    fn is_dead(&self, sim: &Sim, hero: ControllerId) -> bool {
        let (mark_it, mut reasons) = (self.made.rules.ability("GA_Mark").unwrap(), Vec::new());
        let asked = sim.why_not(hero, Which::Ability(mark_it), Target::None, &mut reasons);
        asked.is_ok() && reasons.iter().any(|r| matches!(r.refusal, Refusal::Dead { .. }))
    }

    pub(crate) fn assert_confirmed_states_match_the_server(&self) {
        let tick = self.net.tick();
        for (name, &hero) in NAMES.into_iter().zip(&self.heroes) {
            let client = self.net.client(name);
            let Some(settled) = client.confirmed_tick(hero) else { continue };
            let known = self.hashes.get(&(hero, settled.0)).copied();
            let held = client.confirmed_hash(hero);
            assert_eq!(held, known, "seed {}: {name} at {tick:?} about {settled:?}", self.seed);
        }
    }

    /// A predicted modifier is present exactly once from its prediction until it ends: never twice when the confirmation arrives,
    /// and never missing in between.
    pub(crate) fn assert_accepted_marks_are_present_once(&mut self) {
        let marks = std::mem::take(&mut self.marks);
        let seed = self.seed;
        let value = self.made.rules.attribute("Mark").unwrap();
        for (name, &hero) in NAMES.into_iter().zip(&self.heroes) {
            let sim = self.net.client(name).sim();
            let count = self.marks_on(sim, hero).len() as f64;
            if let Ok(shown) = sim.get(hero, value) {
                assert_eq!(shown, count, "seed {seed}: {name} shows Mark {shown} with {count} effects");
            }
        }
        for mark in marks {
            let (name, hero) = (NAMES[mark.player], self.heroes[mark.player]);
            let client = self.net.client(name);
            if client.sim().now() >= mark.until {
                continue;
            }
            let status = client.predictions().find(|p| p.op == mark.op).map(|p| p.status);
            let here = self.marks_on(client.sim(), hero).iter().filter(|&&key| key == mark.key).count();
            let tick = self.net.tick();
            if status == Some(PredictionStatus::Rejected) {
                assert_eq!(here, 0, "seed {seed}: {name} at {tick:?} keeps {:?}, which was rejected", mark.key);
                continue;
            }
            // If the server reports a death, the predictions since are undone, also if the hero lives again by now.
            let was_dead = self.dead.get(&hero).is_some_and(|&dead| mark.confirmed.is_none_or(|tick| dead >= tick));
            if here == 0 && status == Some(PredictionStatus::Pending) && was_dead {
                continue;
            }
            assert_eq!(here, 1, "seed {seed}: {name} at {tick:?} shows {:?} so often ({status:?})", mark.key);
            self.marks.push(mark);
        }
    }

    pub(crate) fn assert_memory_is_bounded(&self) {
        let (seed, tick) = (self.seed, self.net.tick());
        for name in &NAMES[..self.heroes.len()] {
            let held = self.net.client(name).retained();
            assert!(held <= MOST_HELD, "seed {seed}: {name} holds {held} at {tick:?}");
        }
        let held = self.net.server().retained();
        let most = MOST_HELD_FOR_ONE * (self.heroes.len() + usize::from(self.cheater.is_some()));
        assert!(held <= most, "seed {seed}: the server holds {held} at {tick:?}");
    }

    /// Checks that no command is pending and none would be resimulated.
    pub(crate) fn assert_nothing_is_pending(&self) {
        let seed = self.seed;
        for (name, &hero) in NAMES.into_iter().zip(&self.heroes) {
            let client = self.net.client(name);
            assert_eq!(*client.state(), ClientState::Playing, "seed {seed}: {name}");
            assert_eq!(client.pending_commands(), 0, "seed {seed}: {name} waits for verdicts");
            for &who in self.heroes.iter().chain(&self.others) {
                let ops = client.sim().journal(who).map_or(0, |j| j.ops().count());
                assert_eq!(ops, 0, "seed {seed}: {name} would resimulate an op of {who:?}");
            }
            let behind = client.tick().0 - client.confirmed_tick(hero).unwrap().0;
            assert!(
                behind <= client.prediction_window(),
                "seed {seed}: {name} is {behind} ticks ahead of the confirmed tick"
            );
        }
    }

    /// Returns whether nothing is active any more.
    pub(crate) fn is_idle(&self) -> bool {
        let sim = self.net.server().sim();
        let rests = |who: &ControllerId| {
            sim.effects(*who).is_ok_and(|list| list.is_empty())
                && sim.activations(*who).is_ok_and(|mut list| list.next().is_none())
        };
        self.heroes.iter().chain(&self.others).all(rests)
    }

    pub(crate) fn journals_are_empty(&self) {
        for name in &NAMES[..self.heroes.len()] {
            let noted = self.net.client(name).journal_entries();
            assert_eq!(noted, 0, "seed {}: {name} would resimulate something", self.seed);
        }
    }

    /// Checks that every client agrees with the server about its own controllers, up to this many ticks in flight.
    pub(crate) fn assert_owners_are_up_to_date(&self, most: u32) {
        let (seed, tick) = (self.seed, self.net.tick());
        for (name, &own) in NAMES.into_iter().zip(&self.heroes) {
            let settled = self.net.client(name).confirmed_tick(own).unwrap();
            assert!(tick.0 - settled.0 <= most, "seed {seed}: {name} knows of {settled:?} at {tick:?}");
        }
    }

    /// Checks that every client has the visible state of all other controllers.
    pub(crate) fn assert_all_clients_agree(&self) {
        let (seed, tick, server) = (self.seed, self.net.tick(), self.net.server());
        for (name, &own) in NAMES.into_iter().zip(&self.heroes) {
            let client = self.net.client(name);
            for &who in self.heroes.iter().chain(&self.others).filter(|&&who| who != own) {
                let mode = server.replication(who);
                let seen = client.proxies().get(who).map(|p| p.snapshot().renumbered());
                let shown = match mode {
                    ControllerReplication::None => None,
                    _ => Some(ProxySnapshot::of(server.sim(), who, mode).unwrap().renumbered()),
                };
                assert_eq!(seen, shown, "seed {seed}: {name} about {who:?} ({mode:?}) at {tick:?}");
            }
            let known = client.proxies().len();
            let shown = self.heroes.iter().chain(&self.others);
            let shown =
                shown.filter(|&&who| who != own && server.replication(who) != ControllerReplication::None).count();
            assert_eq!(known, shown, "seed {seed}: {name} has a removed actor");
        }
    }
}
