//! What bystanders see of abilities: those that say so tell every client that sees their owner and is not its own when
//! they tick, are cancelled or interrupted.

use super::Server;
use super::peer::Phase;
use crate::authority::Reason;
use crate::message::{ToClient, encode};
use ugas_core::{AbilityId, CastStep, ControllerId, FactKind, Facts, Simulated, SimulatedStep, Target};

impl Server {
    /// Tells bystanders what abilities did in the tick that is over.
    pub(super) fn tell_bystanders(&mut self, facts: &Facts) {
        for fact in &facts.list {
            let (ability, step) = match fact.kind {
                FactKind::AbilityActivated { ability, .. } if self.ticks_at_once(ability) => {
                    (ability, SimulatedStep::Tick(0))
                }
                FactKind::Cast { ability, step: CastStep::Started, .. } if self.ticks_first(ability) => {
                    (ability, SimulatedStep::Tick(0))
                }
                FactKind::Cast { ability, tick, step: CastStep::Tick, .. } => (ability, SimulatedStep::Tick(tick)),
                FactKind::AbilityEnded { ability, cancelled: true, interrupted, .. } => {
                    (ability, if interrupted { SimulatedStep::Interrupt } else { SimulatedStep::Cancel })
                }
                _ => continue,
            };
            let Some(doc) = self.sim.ability_doc(ability) else { continue };
            let list = match step {
                SimulatedStep::Tick(_) => &doc.on_simulated_tick,
                SimulatedStep::Cancel => &doc.on_simulated_cancel,
                SimulatedStep::Interrupt => &doc.on_simulated_interrupt,
            };
            if !list.is_empty() {
                self.tell_one(fact.who, ability, step);
            }
        }
    }

    fn tell_one(&mut self, who: ControllerId, ability: AbilityId, step: SimulatedStep) {
        let running = self.sim.activations(who).ok().and_then(|mut list| list.find(|a| a.ability == ability));
        let target = running.map_or(Target::None, |a| a.target);
        let grants = self.sim.grants(who).unwrap_or_default();
        let level = grants.iter().find(|g| g.ability == ability).map_or(1, |g| g.level);
        let message = encode(&ToClient::Simulated { who, what: Simulated { ability, step, level, target } });
        let sees =
            |p: &super::peer::Peer| p.phase == Phase::Playing && !p.owned.contains(&who) && p.views.is_told_of(who);
        for p in self.peers.values_mut().filter(|p| sees(p)) {
            if p.carrier.push(&message).is_err() {
                self.counts.add(Reason::Message);
            }
        }
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
