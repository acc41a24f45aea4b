//! Abilities of remote actors. A client does not activate the abilities of a remote actor. Instead, the server reports
//! when such an ability ticks, is cancelled or is interrupted. The client then runs the ability's task list for
//! observers: `OnSimulatedTick`, `OnSimulatedCancel` or `OnSimulatedInterrupt`.

use super::RemoteMut;
use crate::flow::{Journal, Replay, ReplayRow};
use crate::{AbilityId, ControllerId, OpId, Refusal, Target};
use serde::{Deserialize, Serialize};

/// An event of a remote actor's ability, sent to observers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Simulated {
    /// The ability.
    pub ability: AbilityId,
    /// The kind of event.
    pub step: SimulatedStep,
    /// The level of the activation.
    pub level: u32,
    /// The target of the activation.
    pub target: Target,
}

/// The kind of a [`Simulated`] event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SimulatedStep {
    /// The ability ticked. The value is the index of the tick, counted from 0.
    Tick(u32),
    /// The ability was cancelled.
    Cancel,
    /// The ability was interrupted.
    Interrupt,
}

impl RemoteMut<'_> {
    /// Runs the observers' task list of a remote actor's ability: `OnSimulatedTick`, `OnSimulatedCancel` or
    /// `OnSimulatedInterrupt`. Changes that these tasks would make to other controllers are suppressed. Nothing
    /// is recorded in the journal.
    pub fn simulate(&mut self, who: ControllerId, what: &Simulated) -> Result<(), Refusal> {
        let slot = self.sim.slot(who)?;
        let empty = Journal::default();
        let rows = [ReplayRow::current(who, &empty)];
        let mut flow = self.sim.replaying(Replay::new(&rows));
        flow.start(OpId::default(), who);
        flow.run_simulated(slot, what);
        flow.react();
        Ok(())
    }
}
