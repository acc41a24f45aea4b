//! The seeds of the rolls of clients' commands.
//!
//! The uses of a group of abilities are numbered ([`ugas_core::UseGroup`]), and each number has a seed. The server
//! reveals the seeds of the next uses of a group in the reliable stream, so that the client can predict their rolls.
//! The numbers belong to the controller: a new connection of its player continues them.

use super::Server;
use crate::message::{ToClient, encode};
use crate::op_ids::{granted_groups, use_group};
use crate::types::PeerId;
use ugas_core::{ControllerId, OpId, UseGroup};

/// The maximum number of seeds of future uses that a client has.
pub(super) const AHEAD: u32 = 16;
/// The server reveals more seeds when the client has fewer than this number.
const LOW: u32 = 10;

impl Server {
    /// Returns whether any rule may roll.
    fn may_roll(&self) -> bool {
        self.sim.rules().may_roll() || self.sim.remote().definition_count() > 0
    }

    /// Registers the use of a client's command before it runs. Returns the group of its rolls.
    pub(super) fn register_use(&mut self, peer: PeerId, id: OpId, who: ControllerId) -> Option<UseGroup> {
        // Otherwise a client could create an unlimited number of groups.
        let is_owned = || self.peers.get(&peer).is_some_and(|p| p.owned.contains(&who));
        let group = use_group(id, who).filter(|_| self.may_roll() && is_owned())?;
        self.extend_uses(group);
        self.sim.remote_mut().add_use(id, group);
        Some(group)
    }

    /// Gives the sim the seeds of the next uses of a group.
    fn extend_uses(&mut self, group: UseGroup) {
        let next = match self.sim.remote().next_use(group) {
            Some(next) => next,
            None => {
                let first = self.secret.first_use(group, self.tick);
                self.sim.remote_mut().renumber_uses(group, |_, _| false, |_| first);
                first
            }
        };
        let end = self.use_ends.entry(group).or_insert(next);
        let (first, until) = ((*end).max(next), next.saturating_add(AHEAD));
        if first < until {
            *end = until;
            let seeds = (first..until).map(|number| self.secret.seed_of_use(group, number));
            self.sim.remote_mut().add_use_seeds(group, first, seeds);
        }
    }

    /// Reveals the seeds of the next uses of a group to a client that has fewer than [`LOW`] of them.
    pub(super) fn reveal_uses(&mut self, id: PeerId, group: UseGroup) {
        let Some(next) = self.sim.remote().next_use(group) else { return };
        let Some(p) = self.peers.get_mut(&id).filter(|p| p.owned.contains(&group.who)) else { return };
        let known = p.revealed_uses.get(&group).copied().unwrap_or(next).max(next);
        if p.revealed_uses.contains_key(&group) && known - next >= LOW {
            return;
        }
        let until = next.saturating_add(AHEAD);
        let seeds = (known..until).map(|number| self.secret.seed_of_use(group, number)).collect();
        let message = ToClient::UseSeeds { who: group.who, group: group.group, next, first: known, seeds };
        // If the queue is full, the server tries again after the next command.
        if p.carrier.push(&encode(&message)).is_ok() {
            p.revealed_uses.insert(group, until);
        }
    }

    /// Reveals the seeds of the next uses of all granted abilities to a client that has joined.
    pub(super) fn reveal_granted(&mut self, id: PeerId) {
        let Some(owned) = self.peers.get(&id).map(|p| p.owned.clone()).filter(|_| self.may_roll()) else { return };
        for group in owned.into_iter().flat_map(|who| granted_groups(&self.sim, who)).collect::<Vec<_>>() {
            self.extend_uses(group);
            self.reveal_uses(id, group);
        }
    }

    /// Removes the uses of a controller that was permanently removed from the sim.
    pub(super) fn remove_uses(&mut self, who: ControllerId) {
        self.sim.remote_mut().remove_use_groups(who);
        self.use_ends.retain(|group, _| group.who != who);
    }
}
