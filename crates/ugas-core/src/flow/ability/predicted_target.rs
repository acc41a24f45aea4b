//! Targets chosen by a predicting client. A client may choose a target only in an `OnPredictedTick` list. The
//! authoritative sim accepts a target only if the ability is `LocalPredicted`, a task in its `OnPredictedTick` list
//! sets a target, and the target checks pass. If the client clears the target, the target checks are skipped.

use super::super::{Flow, View};
use super::check::{ActivationAttempt, OF_TARGET};
use crate::sim::Role;
use crate::state::Activation;
use crate::task::TargetUse;
use crate::{ActivationKey, Refusal, Target};
use ugas_doc::NetExecution;

/// The chosen targets while an op runs. Empty between ops.
#[derive(Clone, Debug, Default)]
pub(crate) struct PredictedTargets {
    /// The activation whose predicted tick is running.
    pub(crate) ticking: Option<ActivationKey>,
    /// The target of the first tick of the activation that the op starts.
    pub(crate) first: Option<Target>,
    /// The activation that uses `first`, once it exists.
    pub(crate) activation: Option<ActivationKey>,
    /// Why the target was rejected.
    pub(crate) refused: Option<Refusal>,
}

impl View<'_> {
    /// Checks whether an activation may use a target that a predicting client chose.
    pub(crate) fn may_aim(&self, slot: usize, a: &Activation, target: Target) -> Result<(), Refusal> {
        let def = self.ability(a.ability).ok_or(Refusal::StaleHandle)?;
        let can_set = TargetUse::Sets.is_in(&def.doc.on_predicted_tick);
        if def.doc.net_execution != NetExecution::LocalPredicted || !can_set {
            return Err(Refusal::Authority);
        }
        match target {
            // Clearing the target is always allowed.
            Target::None => return Ok(()),
            // No task chooses a point.
            Target::Point(_) => return Err(Refusal::NoTarget),
            Target::Controller(_) => {}
        }
        let grant = self.row(slot).grant(a.grant).ok_or(Refusal::NotGranted)?;
        let t = ActivationAttempt { level: a.level, source: a.source, ..self.attempt(slot, grant, &def, target) };
        self.refusal_in(&t, OF_TARGET)
    }
}

impl Flow<'_> {
    /// Assigns the first target of the op to the first activation.
    pub(super) fn assign_first_target(&mut self, slot: usize, seq: u64) {
        if self.sc.predicted_targets.first.is_some() && self.sc.predicted_targets.activation.is_none() {
            self.sc.predicted_targets.activation = Some(self.key_of(slot, seq));
        }
    }

    /// Sets the target of the first predicted tick.
    pub(crate) fn apply_first_target(&mut self, slot: usize, seq: u64) {
        let Some(key) = self.sc.predicted_targets.activation else { return };
        if self.work.role != Role::Authority || self.key_of(slot, seq) != key {
            return;
        }
        let Some(target) = self.sc.predicted_targets.first.take() else { return };
        let Some(a) = self.row(slot).play().activation(seq) else { return };
        match self.view().may_aim(slot, a, target) {
            Ok(()) => drop(self.put_aim(slot, key, target)),
            Err(refusal) => self.sc.predicted_targets.refused = Some(refusal),
        }
    }
}
