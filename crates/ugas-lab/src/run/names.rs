//! What scenarios ask the sim about abilities, in one place.

use super::Runner;
use crate::scenario::Found;
use ugas_core::{ControllerId, Fact, GrantId, Refusal, Target, TaskKey, Which};

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
    pub(crate) fn waiting(&self, who: ControllerId, task: &str) -> Result<Vec<TaskKey>, Refusal> {
        let kind = self.world.rules.task_kind(task);
        let tasks = self.sim.tasks(who)?;
        Ok(tasks.iter().filter(|t| Some(t.kind) == kind).map(|t| t.key).collect())
    }

    /// What lies in the details of a fact.
    pub(crate) fn params_of(&self, _: &Fact) -> Found {
        Found::Map(Vec::new())
    }
}
