//! The verb `Reload`.

use super::Runner;
use super::live::LiveReloadError;
use super::world::World;
use crate::scenario::{ReloadVerb, Step};
use ugas_core::{Migration, Refusal, ReloadError};

impl Runner<'_> {
    /// Builds the rules of the new documents and migrates the sim, or changes nothing.
    pub(super) fn reload(&mut self, reload: &ReloadVerb) -> Result<(), LiveReloadError> {
        let world = self.world.reloaded(reload, self.scenario).map_err(LiveReloadError::Documents)?;
        self.take(world).map(|_| ())
    }

    /// Migrates the sim to the rules of another world.
    pub(super) fn take(&mut self, world: World) -> Result<Migration, LiveReloadError> {
        let migration = self.sim.reload(world.rules.clone()).map_err(LiveReloadError::World)?;
        self.world = world;
        Ok(migration)
    }

    pub(super) fn judge_reload(&mut self, step: &Step, outcome: Result<(), LiveReloadError>) {
        if let (Err(why), None, false) = (&outcome, step.refused, step.may_refuse) {
            let message = format!("reload rejected: {}", self.with_names(&why.to_string()));
            return self.fail(step.place, message, None);
        }
        let refusal = |why| match why {
            LiveReloadError::World(ReloadError::Sets { refusal, .. }) => refusal,
            LiveReloadError::World(_) | LiveReloadError::Documents(_) => Refusal::BadDefinition,
        };
        self.judge(step, outcome.map_err(refusal), &[]);
    }
}
