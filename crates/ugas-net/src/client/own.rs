//! Own controllers that come and go. A client plays a controller from the first whole state it hears of it until it hears
//! that it is gone; its place among the own ones stays, so that it may come back.

use super::Client;
use super::history::History;
use super::shown::plain;
use super::told::Certainty;
use crate::types::Tick;
use crate::view::Change;
use ugas_core::FactKind;

impl Client {
    /// The first whole state of an own controller is here, of this tick: it is nobody else's any more.
    pub(super) fn arrive(&mut self, at: usize, tick: Tick) {
        let who = self.rows[at].who;
        self.proxies.remove(who, tick);
        self.places.forget(who);
        self.touched.remove(&who);
        self.sim.remote_mut().remove_silently(who);
    }

    /// The own controllers that are there, in the order the server named them.
    pub(super) fn list_owned(&mut self) {
        self.owned.clear();
        self.owned.extend(self.rows.iter().filter(|r| r.settled.is_some()).map(|r| r.who));
    }

    /// An own controller is gone since a tick, or shown as those of others are.
    pub(super) fn depart(&mut self, at: usize, tick: Tick) {
        let row = &self.rows[at];
        // One of a later tick is back already.
        if row.settled.as_ref().is_none_or(|s| s.0 > tick) {
            return;
        }
        let who = row.who;
        self.rows[at] = History::new(who);
        self.list_owned();
        self.sim.remote_mut().remove_silently(who);
        self.waiting.undo(|f| f.who == who, &mut self.out);
        let fact = plain(self.sim.now(), who, FactKind::Despawned);
        self.out.push(fact, None, Certainty::Server);
        self.show(who, tick);
        // Whoever follows the facts has dropped everything of it: what others see of it begins anew.
        let loops: Vec<_> = self.proxies.get(who).into_iter().flat_map(|proxy| proxy.loops()).collect();
        loops.into_iter().for_each(|cue| self.tell_change(who, &Change::Loop { cue, added: true }));
    }
}
