//! What scenarios ask the rules and the sim about abilities, in one place.

use super::Runner;
use crate::scenario::Found;
use ugas_core::{
    AbilitySetId, ControllerId, Fact, GrantId, GroupId, Refusal, Rules, Target, TaskKey, TaskKindId, Which,
};

pub(crate) fn ability_set(_: &Rules, _: &str) -> Option<AbilitySetId> {
    None
}

pub(crate) fn ability_set_name(_: &Rules, _: AbilitySetId) -> Option<&str> {
    None
}

pub(crate) fn task_name(_: &Rules, _: TaskKindId) -> Option<&str> {
    None
}

pub(crate) fn group_name(_: &Rules, _: GroupId) -> Option<&str> {
    None
}

impl Runner<'_> {
    /// Every reason why an activation would be refused now.
    pub(crate) fn reasons(&self, _: ControllerId, _: Which, _: Target) -> Vec<Refusal> {
        Vec::new()
    }

    /// Seconds until a cooldown is over.
    pub(crate) fn cooldown_left(&self, _: ControllerId, _: GrantId) -> Result<f64, Refusal> {
        Ok(0.0)
    }

    /// Charges of a granted ability, or none if it has no charges.
    pub(crate) fn charges(&self, who: ControllerId, grant: GrantId) -> Result<Option<u32>, Refusal> {
        Ok(self.sim.charges(who, grant)?.map(|c| c.have))
    }

    /// Waiting tasks of a type, oldest first.
    pub(crate) fn waiting(&self, _: ControllerId, _: &str) -> Result<Vec<TaskKey>, Refusal> {
        Ok(Vec::new())
    }

    /// What lies in the details of a fact.
    pub(crate) fn params_of(&self, _: &Fact) -> Found {
        Found::Map(Vec::new())
    }
}
