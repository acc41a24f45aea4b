//! What observers learn about a controller beside its attributes, tags and effects: its actors and capability sets.

use super::Remote;
use crate::rules::Rules;
use crate::{AbilitySetId, ActorId, ControllerId, SetId};
use ugas_doc::ReplicationMode;

/// An actor or a capability set of a controller that observers learn about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holding {
    /// The owner actor.
    Owner(ActorId),
    /// The avatar, if it is not the owner actor.
    Avatar(ActorId),
    /// A capability set, or an ability set with capabilities.
    Set {
        /// The handle of its grant. A client gets another number, which does not depend on hidden state.
        handle: u64,
        /// The set.
        set: AbilitySetId,
    },
    /// A capability set that each machine adds for itself (`Mode: Local`).
    LocalSet {
        /// Its place among those of these sets that observers learn about.
        index: u16,
        /// The set.
        set: AbilitySetId,
    },
}

impl Remote<'_> {
    /// Replaces the content of `into` with what observers may learn about a controller, sorted: its actors if the side
    /// of a capability depends on them, its capability sets with `ReplicationMode: All`, and its ability sets with
    /// capabilities that run on the machines of observers.
    pub fn holdings(&self, who: ControllerId, into: &mut Vec<Holding>) {
        into.clear();
        let Ok(row) = self.sim.row(who) else { return };
        let rules = &self.sim.rules;
        if rules.has_owner_sides() {
            let (owner, avatar) = (row.owner, row.avatar());
            into.extend(owner.some().map(Holding::Owner));
            into.extend(avatar.some().filter(|&avatar| avatar != owner).map(Holding::Avatar));
        }
        let is_seen = |set: AbilitySetId| is_seen(rules, set);
        let sets = row.play().sets.iter().filter(|held| is_seen(held.set));
        into.extend(sets.map(|held| Holding::Set { handle: held.seq, set: held.set }));
        let local = row.play().capabilities().presets.iter().filter(|set| is_seen(**set)).enumerate();
        into.extend(local.map(|(index, &set)| Holding::LocalSet { index: index as u16, set }));
        into.sort_unstable();
    }
}

fn is_seen(rules: &Rules, set: AbilitySetId) -> bool {
    rules.has_capabilities(set) && rules.set_replication(set) == ReplicationMode::All
}

impl Rules {
    /// Returns whether observers can learn anything about the actors or the capability sets of a controller.
    pub fn has_holdings(&self) -> bool {
        self.has_owner_sides() || self.set_ids().any(|set| is_seen(self, set))
    }

    /// Returns the attribute sets that observers do not learn about: the data components of capability sets that are
    /// hidden from them, if none of their attributes is replicated to observers.
    pub fn hidden_data_components(&self) -> Vec<SetId> {
        let is_hidden = |set: &SetId| {
            let mut attributes = self.set_attributes(*set).into_iter().flatten();
            attributes.all(|attribute| attribute.replication != ReplicationMode::All)
        };
        let sets = self.set_ids().filter(|&set| self.is_capability_set(set) && !is_seen(self, set));
        let components = sets.filter_map(|set| self.ability_set_def(set)).flat_map(|def| def.sets.iter().copied());
        let mut hidden: Vec<SetId> = components.filter(is_hidden).collect();
        hidden.sort_unstable();
        hidden.dedup();
        hidden
    }

    fn set_ids(&self) -> impl Iterator<Item = AbilitySetId> + use<> {
        (0..).map(AbilitySetId).take(self.ability_sets.len())
    }
}
