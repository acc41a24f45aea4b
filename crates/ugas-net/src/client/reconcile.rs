//! Reconciliation: an owned controller is rolled back to the server's state and resimulated.

use super::Client;
use super::facts::{Certainty, Resimulated};
use super::visible::{VisibleState, plain};
use crate::mask::hidden_from_owners;
use crate::message::Request;
use crate::types::Tick;
use crate::wire::bits::WireError;
use crate::wire::token::Tokens;
use ugas_core::{Fact, FactKind, JournalPosition, Op, OpId, Portable, ResimulationStop, RowImage};

impl Client {
    /// Confirms a tick of an owned controller.
    pub(super) fn confirm(&mut self, at: usize, tick: Tick, image: RowImage, confirmed_until: Option<Tick>) {
        let row = &mut self.rows[at];
        if row.last_confirmed.as_ref().is_some_and(|s| s.0 >= tick) {
            return;
        }
        if let Some(mark) = row.confirm(tick, image) {
            self.sim.remote_mut().trim_journal(row.who, mark);
        }
        let (who, client, pending) = (row.who, self.client, &self.pending);
        let owned = &self.owned;
        let is_decided = |f: &Fact| {
            let open = f.root.client() == client && pending.iter().any(|p| p.id == f.root);
            (f.who == who || !owned.contains(&f.who)) && !open
        };
        let confirmed_until = confirmed_until.map(|confirmed_until| (confirmed_until, client));
        self.mispredicted_facts.extend(self.pending_facts.confirm(tick, is_decided, confirmed_until, &mut self.out));
    }

    /// Imports the server's state of an owned controller at a tick. Returns `None` if a later tick is already
    /// confirmed.
    pub(super) fn image_at(
        &mut self,
        at: usize,
        tick: Tick,
        tokens: &Tokens,
    ) -> Result<Option<ServerState>, WireError> {
        let bad = WireError::BadValue { what: "the state of a controller" };
        if self.is_too_old(tick) || !self.jump(tick) {
            return Err(bad);
        }
        let row = &self.rows[at];
        if row.last_confirmed.as_ref().is_some_and(|s| s.0 >= tick) {
            return Ok(None);
        }
        let mut portable: Portable = tokens.read().map_err(|_| bad)?;
        if portable.id() != row.who {
            return Err(bad);
        }
        portable.set_at(tick.time(self.length));
        let mark = match &row.last_confirmed {
            // Ticks before the first simulated one and those outside the window have no recorded position.
            Some(_) => row
                .tick_end(tick)
                .map_or_else(|| self.sim.remote().journal_at(row.who, tick.time(self.length)), |s| s.journal),
            None => JournalPosition::default(),
        };
        let image = self.sim.remote_mut().import(&portable, mark).map_err(|_| bad)?;
        Ok(Some(ServerState { image, mark }))
    }

    /// Corrects an owned controller with the server's state at a tick. Returns whether the controller was resimulated.
    pub(super) fn correct(&mut self, at: usize, tick: Tick, state: Option<ServerState>, tokens: Tokens) -> bool {
        let row = &mut self.rows[at];
        let Some(ServerState { image, mark }) = state else {
            row.keep_state(tick, tokens);
            return false;
        };
        row.requests_state = false;
        let predicted_hash = row.tick_end(tick).and_then(|s| s.image.hash_without(self.sim.rules(), &row.hidden));
        let server_hash = image.hash_without(self.sim.rules(), &row.hidden);
        row.keep_state(tick, tokens);
        let who = row.who;
        let first = row.last_confirmed.is_none();
        if first {
            self.add_owned(at, tick);
        }
        // Together with a state that differs from the prediction the server sends confirmations.
        let confirmed_until =
            self.confirmed_until.filter(|_| predicted_hash.is_some() && predicted_hash != server_hash);
        self.confirm(at, tick, image, confirmed_until);
        if first {
            self.list_owned();
            // The journal starts with the first state.
            self.start_journal(at);
        }
        let late = self.requeue_late(at, tick, mark);
        let differs = predicted_hash.is_none() || predicted_hash != server_hash || late;
        if differs {
            self.counts.corrections += u64::from(predicted_hash.is_some());
            self.resimulate(at);
        }
        if first {
            let fact = plain(self.sim.now(), who, FactKind::Spawned { owner: ugas_core::ActorId::NONE });
            self.out.push(fact, None, Certainty::Server);
        }
        differs
    }

    /// Requeues predicted commands of confirmed ticks that the server has not processed: they are resimulated on top of
    /// the server's state until their verdict arrives. Returns whether there are any.
    pub(super) fn requeue_late(&mut self, at: usize, tick: Tick, mark: JournalPosition) -> bool {
        let open = self.pending.iter().filter(|p| p.is_predicted && p.command.tick <= tick);
        let level = |request: &Request| self.level_of(request);
        let late: Vec<(OpId, Op)> = open.map(|p| (p.id, p.command.request.op(level(&p.command.request)))).collect();
        self.sim.remote_mut().requeue_ops(self.rows[at].who, mark, tick.time(self.length), &late);
        !late.is_empty()
    }

    pub(super) fn start_journal(&mut self, at: usize) {
        let who = self.rows[at].who;
        if let Some((_, image)) = &self.rows[at].last_confirmed {
            // A row that was just checked can be created.
            let _ = self.sim.resimulate(image, None, &mut [ResimulationStop::at(self.sim.now())]);
        }
        let _ = self.sim.keep_journal(who);
        self.rows[at].hidden = hidden_from_owners(self.sim.rules());
    }

    /// Resimulates an owned controller from the last confirmed tick.
    pub(super) fn resimulate(&mut self, at: usize) {
        let row = &mut self.rows[at];
        let who = row.who;
        let Some((confirmed_tick, image)) = &row.last_confirmed else { return };
        let before = VisibleState::of(&self.sim, who);
        let length = self.length;
        let mut stops: Vec<ResimulationStop<'_>> = row
            .tick_ends
            .iter_mut()
            .map(|s| ResimulationStop { at: s.tick.time(length), until: s.journal, image: Some(&mut s.image) })
            .collect();
        stops.push(ResimulationStop::at(self.sim.now()));
        let done = self.sim.resimulate(image, None, &mut stops);
        drop(stops);
        self.counts.resimulated += row.tick_ends.len() as u64;
        self.counts.longest_resimulation = self.counts.longest_resimulation.max(row.tick_ends.len() as u64);
        let after = *confirmed_tick;
        self.sim.take_facts(&mut self.facts);
        if done.is_err() {
            self.counts.malformed += 1;
        }
        let run = Resimulated { who, after, length: self.length, facts: &self.facts };
        let (client, pending) = (self.client, &self.pending);
        let is_open = |root: OpId| root.client() == client && pending.iter().any(|p| p.id == root);
        let mut touched = self.pending_facts.compare(run, is_open, &mut self.out);
        touched.extend(self.mispredicted_facts.drain(..).filter(|f| f.who == who));
        let now = VisibleState::of(&self.sim, who);
        before.compare(&now, &touched, self.sim.now(), &mut self.out);
        before.collect_corrections(&now, self.config.correction_threshold, &mut self.corrections);
    }
}

/// A state of the server.
pub(super) struct ServerState {
    pub(super) image: RowImage,
    /// The journal position at its tick.
    pub(super) mark: JournalPosition,
}
