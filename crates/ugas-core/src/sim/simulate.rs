//! What bystanders see of abilities of others. A sim that neither decides about a controller nor plays it ahead knows
//! nothing of its abilities; it is told when one ticks, is cancelled or interrupted, and runs the lists meant for it.

use super::Sim;
use crate::flow::{Journal, Replay};
use crate::{AbilityId, ControllerId, OpId, Refusal, Target};
use serde::{Deserialize, Serialize};

/// Something of an ability that bystanders see.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Simulated {
    /// Which ability.
    pub ability: AbilityId,
    /// What happened to it.
    pub step: SimulatedStep,
    /// Its level.
    pub level: u32,
    /// At what it aims.
    pub target: Target,
}

/// What of an ability bystanders see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SimulatedStep {
    /// It ticks: 0 is the first.
    Tick(u32),
    /// It was cancelled.
    Cancel,
    /// It was interrupted.
    Interrupt,
}

impl Sim {
    /// Runs what bystanders see of an ability on a controller that another sim decides about: its `OnSimulatedTick`,
    /// `OnSimulatedCancel` or `OnSimulatedInterrupt`. What that does to others is muted, and nothing of it is journalled.
    pub fn simulate(&mut self, who: ControllerId, what: &Simulated) -> Result<(), Refusal> {
        let slot = self.flow().slot(who)?;
        let empty = Journal::default();
        let mut flow = self.replaying(Replay::new(who, &empty));
        flow.start(OpId::default(), who);
        flow.run_simulated(slot, what);
        flow.react();
        Ok(())
    }
}
