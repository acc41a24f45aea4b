//! Capabilities that run on this client only, and the capabilities of remote actors.

use super::Client;
use super::facts::Certainty;
use super::visible::plain;
use crate::message::Request;
use ugas_core::{
    AbilitySetId, CapabilityId, CapabilityReason, CapabilityStep, CapabilityView, ControllerId, Diagnostic, FactKind,
    ReadError, Refusal, insert_local_facts,
};

/// What identifies a capability of a remote actor: the handle of its grant, its class and its set.
type HeldCapability = (u64, CapabilityId, AbilitySetId);

impl Client {
    /// Returns the capabilities of a controller as this client runs them, in the order in which they run. Unlike
    /// [`Sim::capabilities`](ugas_core::Sim::capabilities), this function returns the states of those that run on this
    /// client only, and those of the sets that this client added for itself.
    pub fn capabilities(&self, who: ControllerId) -> Vec<CapabilityView> {
        self.runner.capabilities(&self.sim, who)
    }

    /// Returns every reason why the first capability of a class is not active on this client. Unlike
    /// [`Sim::why_not_capability`](ugas_core::Sim::why_not_capability), this function explains the capabilities that
    /// run on this client only.
    pub fn why_not_capability(
        &self,
        who: ControllerId,
        class: CapabilityId,
    ) -> Result<Vec<CapabilityReason>, ReadError> {
        self.runner.why_not_capability(&self.sim, who, class)
    }

    /// Sets whether the player of this client plays an own controller; see
    /// [`Sim::set_local`](ugas_core::Sim::set_local). Capabilities that run only where a controller is played start and
    /// end with it.
    pub fn set_local(&mut self, who: ControllerId, is_local: bool) -> Result<(), Refusal> {
        let set = self.sim.set_local(who, is_local);
        self.follow_capabilities();
        set
    }

    /// Adds a capability set on this client only; see [`LocalRunner::add_set`](ugas_core::LocalRunner::add_set). The
    /// server and other clients do not learn about it.
    pub fn add_local_set(&mut self, who: ControllerId, set: AbilitySetId) -> Result<u64, Refusal> {
        let added = self.runner.add_set(&self.sim, who, set);
        self.emit_local_facts();
        added
    }

    /// Removes a capability set that this client added for itself.
    pub fn remove_local_set(&mut self, who: ControllerId, handle: u64) -> Result<(), Refusal> {
        let removed = self.runner.remove_set(&self.sim, who, handle);
        self.emit_local_facts();
        removed
    }

    /// Returns the diagnostics of capabilities that run on this client only.
    pub fn take_local_diagnostics(&mut self) -> Vec<Diagnostic> {
        self.runner.take_diagnostics()
    }

    /// Starts and ends local capabilities as the received state requires.
    pub(super) fn follow_capabilities(&mut self) {
        self.runner.follow(&self.sim);
        self.emit_local_facts();
    }

    /// Runs one frame of the local capabilities, and sends the abilities that they request.
    pub(super) fn run_capabilities(&mut self) {
        self.runner.run(&self.sim);
        self.emit_local_facts();
        for request in self.runner.take_requests() {
            let ugas_core::LocalRequest { who, ability, target } = request;
            // A refusal is normal, as for a player's input.
            let _ = self.command(Request::Activate { who, ability, target });
        }
    }

    fn emit_local_facts(&mut self) {
        let facts = self.runner.take_facts();
        let (certainty, triggered) = (&mut self.out.certainty, &mut self.triggered);
        insert_local_facts(&facts, &mut self.out.facts.list, self.placed, |at| {
            certainty.insert(at, Certainty::Local);
            *triggered += (at < *triggered) as usize;
        });
        self.placed = self.out.facts.list.len();
    }

    /// Returns the capabilities of a remote actor.
    pub(super) fn held_capabilities(&self, who: ControllerId) -> Vec<HeldCapability> {
        if !self.sim.rules().has_holdings() {
            return Vec::new();
        }
        let all = self.sim.capabilities(who).unwrap_or_default();
        all.into_iter().map(|view| (view.handle, view.class, view.set)).collect()
    }

    /// Emits facts for the capabilities that a remote actor got or lost.
    pub(super) fn report_held_capabilities(&mut self, who: ControllerId, before: &[HeldCapability]) {
        // A class may be listed twice, so each capability has one partner.
        let mut started = self.held_capabilities(who);
        let mut ended = Vec::new();
        for held in before {
            match started.iter().position(|now| now == held) {
                Some(at) => {
                    started.remove(at);
                }
                None => ended.push(*held),
            }
        }
        let ended = ended.into_iter().rev().map(|held| (held, CapabilityStep::EndLife));
        let started = started.into_iter().map(|held| (held, CapabilityStep::StartLife));
        for ((_, class, set), step) in ended.chain(started) {
            let fact = plain(self.sim.now(), who, FactKind::Capability { class, set, step });
            self.out.push(fact, None, Certainty::Server);
        }
    }
}
