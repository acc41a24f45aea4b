//! Capabilities that run on this machine only: those of the player of a listen server, and those of sets that the host
//! adds for itself.

use super::Server;
use ugas_core::{
    AbilitySetId, CapabilityId, CapabilityReason, CapabilityView, ControllerId, Diagnostic, LocalRequest, Op,
    ReadError, Refusal, Which, insert_local_facts,
};

impl Server {
    /// Returns the capabilities of a controller as this machine runs them, in the order in which they run. Unlike
    /// [`Sim::capabilities`](ugas_core::Sim::capabilities), this function returns the states of those that run on this
    /// machine only, and those of the sets that this machine added for itself.
    pub fn capabilities(&self, who: ControllerId) -> Vec<CapabilityView> {
        self.runner.capabilities(&self.sim, who)
    }

    /// Returns every reason why the first capability of a class is not active on this machine. Unlike
    /// [`Sim::why_not_capability`](ugas_core::Sim::why_not_capability), this function explains the capabilities that
    /// run on this machine only.
    pub fn why_not_capability(
        &self,
        who: ControllerId,
        class: CapabilityId,
    ) -> Result<Vec<CapabilityReason>, ReadError> {
        self.runner.why_not_capability(&self.sim, who, class)
    }

    /// Adds a capability set on this machine only; see [`LocalRunner::add_set`](ugas_core::LocalRunner::add_set).
    /// Clients do not learn about it.
    pub fn add_local_set(&mut self, who: ControllerId, set: AbilitySetId) -> Result<u64, Refusal> {
        let added = self.runner.add_set(&self.sim, who, set);
        self.emit_local_facts(self.facts.list.len());
        added
    }

    /// Removes a capability set that this machine added for itself.
    pub fn remove_local_set(&mut self, who: ControllerId, handle: u64) -> Result<(), Refusal> {
        let removed = self.runner.remove_set(&self.sim, who, handle);
        self.emit_local_facts(self.facts.list.len());
        removed
    }

    /// Returns the diagnostics of capabilities that run on this machine only.
    pub fn take_local_diagnostics(&mut self) -> Vec<Diagnostic> {
        self.runner.take_diagnostics()
    }

    /// Runs one frame of the local capabilities, and the abilities that they request.
    pub(super) fn run_capabilities(&mut self) {
        self.runner.run(&self.sim);
        for LocalRequest { who, ability, target } in self.runner.take_requests() {
            // A refusal is normal, as for a player's input.
            let _ = self.sim.run(Op::Activate { who, which: Which::Ability(ability), target });
        }
    }

    /// Adds the facts of local capabilities to the facts for the host, among those from an index on. Clients do not
    /// receive them.
    pub(super) fn emit_local_facts(&mut self, from: usize) {
        insert_local_facts(&self.runner.take_facts(), &mut self.facts.list, from, |_| {});
    }
}
