//! The seeds from which the commands of clients draw their random numbers.
//!
//! The uses of an ability are numbered ([`ugas_core::UsedAbility`]), and each number has a seed. The server reveals the
//! seeds of the next uses in the reliable stream, so that the client can predict their rolls. The numbers belong to the
//! controller: a new connection of its player continues them.

use super::Server;
use super::peer::Phase;
use crate::message::{ToClient, encode};
use crate::types::PeerId;
use ugas_core::{AbilityId, ControllerId, UsedAbility};

/// The number of next uses of an ability whose seeds the server reveals to the client.
const AHEAD: u32 = 16;
/// If a client has seeds for fewer than this number of future uses of an ability, the server sends it more.
const LOW: u32 = 10;

impl Server {
    /// Returns whether any rule may draw random numbers.
    fn may_roll(&self) -> bool {
        self.sim.rules().may_roll() || self.sim.remote().definition_count() > 0
    }

    /// Adds the seeds of the next [`AHEAD`] uses of an ability to the sim.
    fn extend_uses(&mut self, used: UsedAbility) {
        let next = self.sim.remote().next_use(used).unwrap_or_else(|| self.secret.first_use(used, self.tick));
        let end = self.use_ends.entry(used).or_insert(next);
        let (first, until) = ((*end).max(next), next.saturating_add(AHEAD));
        if first < until {
            *end = until;
            let seeds = (first..until).map(|number| self.secret.seed_of_use(used, number));
            self.sim.remote_mut().add_use_seeds(used, first, seeds);
        }
    }

    /// Sends a client the seeds of the next uses of an ability, if the client has fewer than [`LOW`] of them.
    fn reveal_uses(&mut self, id: PeerId, used: UsedAbility) {
        let Some(next) = self.sim.remote().next_use(used) else { return };
        let Some(p) = self.peers.get_mut(&id) else { return };
        let known = p.revealed_uses.get(&used).copied().unwrap_or(next).max(next);
        if p.revealed_uses.contains_key(&used) && known - next >= LOW {
            return;
        }
        let until = next.saturating_add(AHEAD);
        let seeds = (known..until).map(|number| self.secret.seed_of_use(used, number)).collect();
        let message = ToClient::UseSeeds { who: used.who, ability: used.ability, next, first: known, seeds };
        // A full queue is tried again after the next use.
        if p.carrier.push(&encode(&message)).is_ok() {
            p.revealed_uses.insert(used, until);
        }
    }

    /// Reveals more seeds of the abilities that drew random numbers for a use since the last tick.
    pub(super) fn reveal_used(&mut self) {
        let mut recent = std::mem::take(&mut self.used);
        self.sim.remote_mut().take_used(&mut recent);
        recent.sort_unstable();
        recent.dedup();
        for used in recent.drain(..) {
            let owner = self.peers.iter().find(|(_, p)| p.phase == Phase::Playing && p.owned.contains(&used.who));
            if let Some(id) = owner.map(|(&id, _)| id) {
                self.extend_uses(used);
                self.reveal_uses(id, used);
            }
        }
        self.used = recent;
    }

    /// Reveals the seeds of all abilities of a client that has joined.
    pub(super) fn reveal_granted(&mut self, id: PeerId) {
        let owned = self.peers.get(&id).filter(|_| self.may_roll()).map(|p| p.owned.clone());
        for who in owned.unwrap_or_default() {
            let grants = self.sim.grants(who).unwrap_or_default();
            let mut abilities: Vec<AbilityId> = grants.iter().map(|g| g.ability).collect();
            abilities.sort();
            abilities.dedup();
            for ability in abilities {
                self.extend_uses(UsedAbility { who, ability });
                self.reveal_uses(id, UsedAbility { who, ability });
            }
        }
    }

    /// Removes the uses of a controller that was permanently removed from the sim.
    pub(super) fn remove_uses(&mut self, who: ControllerId) {
        self.sim.remote_mut().remove_uses(who);
        self.use_ends.retain(|used, _| used.who != who);
    }
}
