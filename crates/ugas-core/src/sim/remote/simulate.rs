//! Abilities of remote actors as observers see them. A client that neither owns nor predicts a controller does not have its
//! abilities. The server reports when one ticks, is cancelled or interrupted, and the client runs the matching list.

use super::RemoteMut;
use crate::flow::{Journal, Replay};
use crate::{AbilityId, ControllerId, OpId, Refusal, Target};
use serde::{Deserialize, Serialize};

/// An event of an ability that observers see.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Simulated {
    /// The ability.
    pub ability: AbilityId,
    /// What happened.
    pub step: SimulatedStep,
    /// Its level.
    pub level: u32,
    /// Its target.
    pub target: Target,
}

/// What observers see of an ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SimulatedStep {
    /// It ticks: 0 is the first.
    Tick(u32),
    /// It was cancelled.
    Cancel,
    /// It was interrupted.
    Interrupt,
}

impl RemoteMut<'_> {
    /// Runs what observers see of an ability on a remote actor: its `OnSimulatedTick`, `OnSimulatedCancel` or
    /// `OnSimulatedInterrupt`. What that does to other controllers is suppressed, and nothing is journalled.
    pub fn simulate(&mut self, who: ControllerId, what: &Simulated) -> Result<(), Refusal> {
        let slot = self.sim.slot(who)?;
        let empty = Journal::default();
        let mut flow = self.sim.replaying(Replay::new(who, &empty));
        flow.start(OpId::default(), who);
        flow.run_simulated(slot, what);
        flow.react();
        Ok(())
    }
}
