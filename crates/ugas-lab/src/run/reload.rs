//! The verb that gives a running world other documents.

use super::Runner;
use crate::scenario::{ReloadVerb, Step};
use ugas_core::{Refusal, ReloadError};

/// Why documents were not taken: the kind that a scenario names, and what a person reads.
pub(super) struct NotTaken {
    refusal: Refusal,
    why: String,
}

impl Runner<'_> {
    /// Builds the rules of the new documents and moves the sim to them, or leaves both as they are.
    pub(super) fn reload(&mut self, reload: &ReloadVerb) -> Result<(), NotTaken> {
        let world = self.world.reloaded(reload, &self.scenario.file).map_err(|errors| {
            let told: Vec<String> = errors.iter().map(|e| format!("line {}: {}", e.line, e.message)).collect();
            NotTaken { refusal: Refusal::BadDefinition, why: told.join("; ") }
        })?;
        self.sim.reload(world.rules.clone()).map_err(|error| {
            let refusal = match &error {
                ReloadError::Sets { refusal, .. } => *refusal,
                _ => Refusal::BadDefinition,
            };
            NotTaken { refusal, why: self.with_names(&error.to_string()) }
        })?;
        self.world = world;
        Ok(())
    }

    pub(super) fn judge_reload(&mut self, step: &Step, outcome: Result<(), NotTaken>) {
        if let (Err(not), None, false) = (&outcome, step.refused, step.may_refuse) {
            let message = format!("expected the documents to be taken, found {}", not.why);
            return self.fail(step.place, message, None);
        }
        self.judge(step, outcome.map_err(|not| not.refusal), &[]);
    }
}
