//! What bystanders see of abilities: those that say so tell every client that sees their owner and is not its own when
//! they tick, are cancelled or interrupted.
//!
//! What happened is read from the facts of a tick that is over, so whoever is aimed at may be forgotten already: an
//! activation that ended takes its target along. It is kept here until nobody asks for it any more.

use super::Server;
use super::peer::{Peer, Phase};
use crate::message::{Request, ToClient, encode};
use std::collections::BTreeMap;
use ugas_core::{
    AbilityId, ActivationKey, CastStep, ControllerId, Fact, FactKind, Facts, OpId, Sim, Simulated, SimulatedStep,
    Target,
};

/// An activation that bystanders hear of.
#[derive(Clone, Copy, Debug)]
struct Running {
    key: ActivationKey,
    ability: AbilityId,
    level: u32,
    target: Target,
}

impl Running {
    /// It runs still, and aims at what the sim says.
    fn follow(&mut self, sim: &Sim) -> bool {
        let now = sim.activations(self.key.who).ok().and_then(|mut all| all.find(|a| a.key == self.key));
        self.target = now.as_ref().map_or(self.target, |now| now.target);
        now.is_some()
    }
}

/// The activations that bystanders hear of, and at what commands of the tick under way aimed.
#[derive(Clone, Debug, Default)]
pub(super) struct Bystand {
    running: BTreeMap<ControllerId, Vec<Running>>,
    asked: Vec<(OpId, Target)>,
}

impl Bystand {
    /// A command was run. What it activates may be over before anybody looks.
    pub(super) fn note(&mut self, id: OpId, request: &Request) {
        self.asked.extend(request.aim().map(|target| (id, target)));
    }

    /// At what the first activation of a command aims; the others are set off by it.
    fn take_asked(&mut self, root: OpId) -> Target {
        let at = self.asked.iter().position(|(id, _)| *id == root);
        at.map_or(Target::None, |at| self.asked.swap_remove(at).1)
    }

    /// The activation a fact is about. A cast has no key in its facts: it is the newest of its ability.
    fn find(&self, sim: &Sim, who: ControllerId, ability: AbilityId, key: Option<ActivationKey>) -> Option<Running> {
        let is_it = |of: ActivationKey, what: AbilityId| key.map_or(what == ability, |key| key == of);
        if let Some(known) = self.running.get(&who).and_then(|l| l.iter().rev().find(|r| is_it(r.key, r.ability))) {
            let mut known = *known;
            known.follow(sim);
            return Some(known);
        }
        // It came with a saved game.
        let found = sim.activations(who).ok()?.filter(|a| is_it(a.key, a.ability)).last()?;
        Some(Running { key: found.key, ability, level: found.level, target: found.target })
    }

    /// The tick is over: what runs no more is forgotten.
    fn end_tick(&mut self, sim: &Sim) {
        self.asked.clear();
        self.running.retain(|_, list| {
            list.retain_mut(|r| r.follow(sim));
            !list.is_empty()
        });
    }
}

impl Server {
    /// Tells bystanders what abilities did in the tick that is over.
    pub(super) fn tell_bystanders(&mut self, facts: &Facts) {
        for fact in &facts.list {
            let (ability, key) = match fact.kind {
                FactKind::AbilityActivated { ability, level, activation: key, .. } => {
                    let target = self.bystand.take_asked(fact.root);
                    if self.is_simulated(ability) {
                        let new = Running { key, ability, level, target };
                        self.bystand.running.entry(fact.who).or_default().push(new);
                    }
                    (ability, Some(key))
                }
                FactKind::AbilityEnded { ability, activation, .. } => (ability, Some(activation)),
                FactKind::Cast { ability, .. } => (ability, None),
                _ => continue,
            };
            let Some(step) = self.simulated_step(fact) else { continue };
            let Some(doc) = self.sim.ability_doc(ability) else { continue };
            let list = match step {
                SimulatedStep::Tick(_) => &doc.on_simulated_tick,
                SimulatedStep::Cancel => &doc.on_simulated_cancel,
                SimulatedStep::Interrupt => &doc.on_simulated_interrupt,
            };
            if !list.is_empty() {
                let of = self.bystand.find(&self.sim, fact.who, ability, key);
                let (level, target) = of.map_or((1, Target::None), |of| (of.level, of.target));
                self.tell_one(fact.who, Simulated { ability, step, level, target });
            }
        }
        self.bystand.end_tick(&self.sim);
    }

    /// What a fact is to bystanders.
    fn simulated_step(&self, fact: &Fact) -> Option<SimulatedStep> {
        match fact.kind {
            FactKind::AbilityActivated { ability, .. } if self.ticks_at_once(ability) => Some(SimulatedStep::Tick(0)),
            FactKind::Cast { ability, step: CastStep::Started, .. } if self.ticks_first(ability) => {
                Some(SimulatedStep::Tick(0))
            }
            FactKind::Cast { tick, step: CastStep::Tick, .. } => Some(SimulatedStep::Tick(tick)),
            FactKind::AbilityEnded { cancelled: true, interrupted: true, .. } => Some(SimulatedStep::Interrupt),
            FactKind::AbilityEnded { cancelled: true, .. } => Some(SimulatedStep::Cancel),
            _ => None,
        }
    }

    /// Tells whoever sees the owner. Whom an ability aims at is nobody's to hear of who is not told of that one either.
    fn tell_one(&mut self, who: ControllerId, what: Simulated) {
        let told = |target| encode(&ToClient::Simulated { who, what: Simulated { target, ..what } });
        let (whole, blank) = (told(what.target), told(Target::None));
        // Half of the stream is for what cannot wait. What finds no room was not seen, and that is nobody's mistake.
        let most = self.config.carrier.backlog / 2;
        let sees = |p: &Peer| p.phase == Phase::Playing && !p.owned.contains(&who) && p.views.is_told_of(who);
        for p in self.peers.values_mut().filter(|p| sees(p) && p.carrier.queued() < most) {
            let may_know = match what.target {
                Target::Controller(at) => p.owned.contains(&at) || p.views.is_told_of(at),
                Target::None | Target::Point(_) => true,
            };
            let _ = p.carrier.push(if may_know { &whole } else { &blank });
        }
    }

    /// Whether bystanders hear of an ability at all.
    fn is_simulated(&self, ability: AbilityId) -> bool {
        let hears = |d: &ugas_doc::Ability| {
            let lists = [&d.on_simulated_tick, &d.on_simulated_cancel, &d.on_simulated_interrupt];
            lists.iter().any(|list| !list.is_empty())
        };
        self.sim.ability_doc(ability).is_some_and(hears)
    }

    /// Whether an ability ticks when it is activated.
    fn ticks_at_once(&self, ability: AbilityId) -> bool {
        self.sim.ability_doc(ability).is_some_and(|d| d.cast.is_none())
    }

    /// Whether a cast ticks as it begins.
    fn ticks_first(&self, ability: AbilityId) -> bool {
        self.sim.ability_doc(ability).and_then(|d| d.cast.as_ref()).is_some_and(|c| c.initial_tick)
    }
}
