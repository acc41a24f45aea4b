//! Ability events for observers: cast ticks, cancels and interrupts for which the ability has an `OnSimulated…` list.
//! For an ability without a cast, the activation counts as its only tick. An event is sent to each client that receives
//! the controller and does not own it, unless half of the client's reliable stream is full.
//!
//! The events are derived from the facts of a completed tick. By then the activation and its target may already be
//! removed, so this module keeps the last known target of each activation.

use super::Server;
use super::peer::{Peer, Phase};
use crate::message::{Request, ToClient, encode};
use std::collections::BTreeMap;
use ugas_core::{
    AbilityId, ActivationKey, CastStep, ControllerId, Fact, FactKind, Facts, OpId, Sim, Simulated, SimulatedStep,
    Target,
};

/// An activation with observer events.
#[derive(Clone, Copy, Debug)]
struct ObservedActivation {
    key: ActivationKey,
    ability: AbilityId,
    level: u32,
    target: Target,
}

impl ObservedActivation {
    /// Updates the target. Returns whether it is still active.
    fn refresh(&mut self, sim: &Sim) -> bool {
        let now = sim.activations(self.key.who).ok().and_then(|mut all| all.find(|a| a.key == self.key));
        self.target = now.as_ref().map_or(self.target, |now| now.target);
        now.is_some()
    }
}

/// The activations with observer events, and the targets of the commands of the current tick.
#[derive(Clone, Debug, Default)]
pub(super) struct ObservedActivations {
    active: BTreeMap<ControllerId, Vec<ObservedActivation>>,
    targets: Vec<(OpId, Target)>,
}

impl ObservedActivations {
    /// Records the target of a command, since an ability that the command activates may end within the tick.
    pub(super) fn record_target(&mut self, id: OpId, request: &Request) {
        self.targets.extend(request.aim().map(|target| (id, target)));
    }

    /// Returns the target of the first activation of a command, which caused all later activations.
    fn take_target(&mut self, root: OpId) -> Target {
        let at = self.targets.iter().position(|(id, _)| *id == root);
        at.map_or(Target::None, |at| self.targets.swap_remove(at).1)
    }

    /// Returns the activation that a fact is about. Cast facts have no activation key and refer to the newest
    /// activation of the ability.
    fn find(
        &self,
        sim: &Sim,
        who: ControllerId,
        ability: AbilityId,
        key: Option<ActivationKey>,
    ) -> Option<ObservedActivation> {
        let is_same = |of: ActivationKey, what: AbilityId| key.map_or(what == ability, |key| key == of);
        if let Some(known) = self.active.get(&who).and_then(|l| l.iter().rev().find(|r| is_same(r.key, r.ability))) {
            let mut known = *known;
            known.refresh(sim);
            return Some(known);
        }
        // It was loaded from a saved game.
        let found = sim.activations(who).ok()?.filter(|a| is_same(a.key, a.ability)).last()?;
        Some(ObservedActivation { key: found.key, ability, level: found.level, target: found.target })
    }

    /// Ends the tick: drops activations that ended.
    fn end_tick(&mut self, sim: &Sim) {
        self.targets.clear();
        self.active.retain(|_, list| {
            list.retain_mut(|r| r.refresh(sim));
            !list.is_empty()
        });
    }
}

impl Server {
    /// Sends the ability events of the completed tick to observers.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other fact is irrelevant here")]
    pub(super) fn send_observer_events(&mut self, facts: &Facts) {
        for fact in &facts.list {
            let (ability, key) = match fact.kind {
                FactKind::AbilityActivated { ability, level, activation: key, .. } => {
                    let target = self.observed.take_target(fact.root);
                    if self.is_simulated(ability) {
                        let new = ObservedActivation { key, ability, level, target };
                        self.observed.active.entry(fact.who).or_default().push(new);
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
                let of = self.observed.find(&self.sim, fact.who, ability, key);
                let (level, target) = of.map_or((1, Target::None), |of| (of.level, of.target));
                self.send_observer_event(fact.who, Simulated { ability, step, level, target });
            }
        }
        self.observed.end_tick(&self.sim);
    }

    /// Returns the observer event of a fact.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other fact is irrelevant here")]
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

    /// Sends an event to the clients that see the controller. The target is left out for clients that do not see the
    /// target.
    fn send_observer_event(&mut self, who: ControllerId, what: Simulated) {
        let sent = |target| encode(&ToClient::Simulated { who, what: Simulated { target, ..what } });
        let (with_target, without_target) = (sent(what.target), sent(Target::None));
        // Half of the stream is reserved for messages that must arrive. Events that do not fit are dropped.
        let most = self.config.connection.max_unacked_bytes / 2;
        let store = &self.store;
        let receives =
            |p: &Peer| p.phase == Phase::Playing && !p.owned.contains(&who) && p.views.is_relevant(store, who);
        for p in self.peers.values_mut().filter(|p| receives(p) && p.carrier.queued() < most) {
            let may_know = match what.target {
                Target::Controller(at) => p.owned.contains(&at) || p.views.is_relevant(store, at),
                Target::None | Target::Point(_) => true,
            };
            let _ = p.carrier.push(if may_know { &with_target } else { &without_target });
        }
    }

    /// Returns whether an ability has observer lists.
    fn is_simulated(&self, ability: AbilityId) -> bool {
        let has_lists = |d: &ugas_doc::Ability| {
            let lists = [&d.on_simulated_tick, &d.on_simulated_cancel, &d.on_simulated_interrupt];
            lists.iter().any(|list| !list.is_empty())
        };
        self.sim.ability_doc(ability).is_some_and(has_lists)
    }

    /// Returns whether an ability ticks when it is activated.
    fn ticks_at_once(&self, ability: AbilityId) -> bool {
        self.sim.ability_doc(ability).is_some_and(|d| d.cast.is_none())
    }

    /// Returns whether a cast ticks when it starts.
    fn ticks_first(&self, ability: AbilityId) -> bool {
        self.sim.ability_doc(ability).and_then(|d| d.cast.as_ref()).is_some_and(|c| c.initial_tick)
    }
}
