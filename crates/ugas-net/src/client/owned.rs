//! Adds and removes owned controllers. A client predicts a controller from its first full state until the server
//! removes the controller or changes its replication mode so that the owning client no longer receives the exact state.
//! The client then keeps an empty history, so that the controller can return.

use super::Client;
use super::facts::Certainty;
use super::history::OwnedHistory;
use super::visible::{VisibleState, plain};
use crate::types::Tick;
use crate::view::ProxyChange;
use ugas_core::FactKind;

impl Client {
    /// Removes the proxy of an owned controller whose first full state arrived.
    pub(super) fn add_owned(&mut self, at: usize, tick: Tick) {
        let who = self.rows[at].who;
        self.proxies.remove(who, tick);
        self.positions.remove(who);
        self.touched.remove(&who);
        self.sim.remote_mut().remove_silently(who);
    }

    /// Lists the owned controllers that are present, in the server's order.
    pub(super) fn list_owned(&mut self) {
        self.owned.clear();
        self.owned.extend(self.rows.iter().filter(|r| r.is_present()).map(|r| r.who));
    }

    /// Removes an owned controller that the server removed at a tick or now replicates only as to observers.
    pub(super) fn remove_owned(&mut self, at: usize, tick: Tick) {
        let row = &self.rows[at];
        // A state of a later tick has arrived already.
        if !row.is_present() || row.last_confirmed.as_ref().is_some_and(|s| s.0 > tick) {
            return;
        }
        let who = row.who;
        self.rows[at] = OwnedHistory::new(who);
        self.list_owned();
        let before = VisibleState::of(&self.sim, who);
        self.sim.remote_mut().remove_silently(who);
        self.pending_facts.resolve_removed(who, tick, &mut self.out);
        before.compare_capabilities(&VisibleState::unknown(who), &[], self.sim.now(), &mut self.out);
        let fact = plain(self.sim.now(), who, FactKind::Despawned);
        self.out.push(fact, None, Certainty::Server);
        self.reset_proxy(who, tick);
        // The despawn ended the looping cues of the controller: start those that observers see again.
        let loops: Vec<_> = self.proxies.get(who).into_iter().flat_map(|proxy| proxy.loops()).collect();
        loops.into_iter().for_each(|cue| self.emit_change(who, &ProxyChange::Loop { cue, added: true }));
    }
}
