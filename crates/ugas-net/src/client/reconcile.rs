//! Reconciliation: owned controllers are rolled back to the server's states and resimulated together.

use super::Client;
use super::correction::CorrectionReason;
use super::facts::{Certainty, Resimulated};
use super::visible::{VisibleState, plain, report_resources, resources_of};
use crate::mask::hidden_from_owners;
use crate::types::Tick;
use crate::wire::bits::WireError;
use crate::wire::token::Tokens;
use ugas_core::{
    ActivationKey, ControllerId, Fact, FactKind, JournalPosition, Op, OpId, Portable, ResimulationStop, RowDifference,
    RowImage, RowResimulation, Which,
};

impl Client {
    /// Confirms a tick of an owned controller. With a state that differs from the prediction, the server also sends
    /// confirmations, which decide whether the predicted facts are confirmed or undone.
    pub(super) fn confirm(&mut self, at: usize, tick: Tick, image: RowImage, is_different: bool) {
        let row = &mut self.rows[at];
        if row.last_confirmed.as_ref().is_some_and(|s| s.0 >= tick) {
            return;
        }
        if let Some(mark) = row.confirm(tick, image) {
            self.sim.remote_mut().trim_journal(row.who, mark);
        }
        let (who, client, pending) = (row.who, self.client, &self.pending);
        let (owned, validations) = (&self.owned, &row.pending_validations);
        let is_decided = |f: &Fact| {
            let open = f.root.client() == client && pending.iter().any(|p| p.id == f.root);
            (f.who == who || !owned.contains(&f.who)) && !open && !validations.contains(&f.root)
        };
        let window = (is_different && self.has_own_confirmations).then_some((&self.own_confirmations, client));
        self.mispredicted_facts.extend(self.pending_facts.confirm(tick, is_decided, window, &mut self.out));
    }

    /// Imports the server's state of an owned controller at a tick. Returns `None` if a later tick is already
    /// confirmed. `is_external` states whether something other than the client's commands changed the controller since
    /// the prediction was last right.
    pub(super) fn image_at(
        &mut self,
        at: usize,
        tick: Tick,
        tokens: &Tokens,
        is_external: bool,
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
        let mark = match row.is_present() {
            // Ticks before the first simulated one and those outside the window have no recorded position.
            true => row
                .tick_end(tick)
                .map_or_else(|| self.sim.remote().journal_at(row.who, tick.time(self.length)), |s| s.journal),
            false => JournalPosition::default(),
        };
        let image = self.sim.remote_mut().import(&portable, mark).map_err(|_| bad)?;
        Ok(Some(ServerState { image, mark, is_external }))
    }

    /// Takes the server's state of an owned controller at a tick; `is_rejected` if the server rejected a predicted
    /// command or activation together with this state. Returns whether the controller must be resimulated.
    pub(super) fn correct(
        &mut self,
        at: usize,
        tick: Tick,
        state: Option<ServerState>,
        tokens: Tokens,
        is_rejected: bool,
    ) -> bool {
        let row = &mut self.rows[at];
        let Some(ServerState { image, mark, is_external }) = state else {
            row.keep_state(tick, tokens);
            return false;
        };
        row.requests_state = false;
        let predicted = row.tick_end(tick).map(|s| &s.image);
        let predicted_hash = predicted.and_then(|image| image.hash_without(self.sim.rules(), &row.hidden));
        let server_hash = image.hash_without(self.sim.rules(), &row.hidden);
        let validations = self.sim.remote().pending_validations(&image);
        let is_different = predicted_hash.is_some() && predicted_hash != server_hash;
        let difference = predicted.filter(|_| is_different);
        let difference = difference.and_then(|p| p.difference(&image, self.sim.rules(), &row.hidden));
        let row = &mut self.rows[at];
        let pending = validations.iter().map(|(root, _)| *root).collect();
        let mut answered = std::mem::replace(&mut row.pending_validations, pending);
        answered.retain(|root| !row.pending_validations.contains(root));
        row.keep_state(tick, tokens);
        let who = row.who;
        let first = !row.is_present();
        if first {
            self.add_owned(at, tick);
        }
        let undone = self.mispredicted_facts.len();
        self.confirm(at, tick, image, is_different);
        // While a validation is pending, the server's state always differs.
        if is_different && validations.is_empty() {
            if !is_external || is_rejected || self.mispredicted_facts.len() > undone {
                self.count_difference(true, who, tick, difference);
            } else {
                // A change by others may make a predicted command fail.
                self.changes_by_others.push((who, tick, difference));
            }
        }
        for root in answered {
            self.pending_facts.accept(root, tick);
            if self.mispredicted_facts.iter().any(|f| f.root == root) {
                self.keys.reject(root);
                self.sim.remote_mut().discard_uses(root);
            }
        }
        if first {
            self.list_owned();
            // The journal starts with the first state.
            self.start_journal(at);
        }
        let late = self.requeue(at, tick, mark, &validations);
        if first {
            let fact = plain(self.sim.now(), who, FactKind::Spawned { owner: ugas_core::ActorId::NONE });
            self.out.push(fact, None, Certainty::Server);
            let known = VisibleState::of(&self.sim, who);
            VisibleState::unknown(who).compare_capabilities(&known, &[], self.sim.now(), &mut self.out);
            report_resources(who, &[], &resources_of(&self.sim, who), self.sim.now(), &mut self.out);
        }
        predicted_hash.is_none() || is_different || late
    }

    /// Counts a state of the server that differs from the prediction: as a correction, or as an external change.
    fn count_difference(
        &mut self,
        is_correction: bool,
        who: ControllerId,
        tick: Tick,
        difference: Option<RowDifference>,
    ) {
        if !is_correction {
            self.counts.external_changes += 1;
            return;
        }
        if matches!(difference, Some(RowDifference::Position { .. })) {
            // The moves that the client sent before it learned of a rejected move are contradicted too, but that is one
            // misprediction.
            let Some(row) = self.rows.iter_mut().find(|r| r.who == who && tick > r.moves_corrected_until) else {
                return;
            };
            row.moves_corrected_until = self.tick;
        }
        self.counts.corrections += 1;
        if let Some(what) = difference {
            self.reasons.push(CorrectionReason { who, tick, what });
        }
    }

    /// Requeues the predictions that the server's state does not contain yet: the validations that the server's host
    /// has not answered, and predicted commands of confirmed ticks that the server has not processed. They are
    /// resimulated until the answer or the verdict arrives. Returns whether there are any.
    fn requeue(&mut self, at: usize, tick: Tick, mark: JournalPosition, validations: &[(OpId, ActivationKey)]) -> bool {
        let validated = validations
            .iter()
            .map(|&(root, key)| (root, Op::Validate { who: key.who, which: Which::Activation(key), ok: true }));
        let open = self.pending.iter().filter(|p| p.is_predicted && p.command.tick <= tick);
        let late = open.map(|p| (p.id, p.command.request.op()));
        let ops: Vec<(OpId, Op)> = validated.chain(late).collect();
        self.sim.remote_mut().requeue_ops(self.rows[at].who, mark, tick.time(self.length), &ops);
        !ops.is_empty()
    }

    pub(super) fn start_journal(&mut self, at: usize) {
        let who = self.rows[at].who;
        if let Some((_, image)) = &self.rows[at].last_confirmed {
            // A row that was just checked can be created.
            let _ = self.sim.resimulate(image, None, &mut [ResimulationStop::at(self.sim.now())]);
        }
        let _ = self.sim.keep_journal(who);
        self.rows[at].hidden = hidden_from_owners(self.sim.rules());
        let _ = self.sim.remote_mut().set_hidden(who, &self.rows[at].hidden);
    }

    /// Resimulates all owned controllers from their last confirmed ticks, in one resimulation, because they may affect
    /// each other. The facts are compared with the predicted ones once.
    pub(super) fn resimulate(&mut self) {
        let mut before = Vec::with_capacity(self.owned.len());
        let mut runs = Vec::with_capacity(self.owned.len());
        let (length, now) = (self.length, self.sim.now());
        for row in &mut self.rows {
            let Some((confirmed, image)) = &row.last_confirmed else { continue };
            before.push((*confirmed, VisibleState::of(&self.sim, row.who)));
            let ticks = row.tick_ends.len() as u64;
            self.counts.resimulated += ticks;
            self.counts.longest_resimulation = self.counts.longest_resimulation.max(ticks);
            let ends = row.tick_ends.iter_mut().map(|s| ResimulationStop {
                at: s.tick.time(length),
                until: s.journal,
                image: Some(&mut s.image),
            });
            runs.push(RowResimulation { from: image, stops: ends.chain([ResimulationStop::at(now)]).collect() });
        }
        if self.sim.resimulate_together(&mut runs).is_err() {
            self.counts.malformed += 1;
        }
        drop(runs);
        self.sim.take_facts(&mut self.facts);
        let emitted = self.out.certainty.len();
        for (after, before) in before {
            self.compare(after, &before);
        }
        self.mispredicted_facts.clear();
        for (who, tick, difference) in std::mem::take(&mut self.changes_by_others) {
            // A stun that ends an accepted cast is no misprediction; one that makes an undecided command fail is.
            let is_open = |root: OpId| self.pending.iter().any(|p| p.id == root);
            let is_correction = self.has_undone_since(emitted, |fact| fact.who == who && is_open(fact.root));
            self.count_difference(is_correction, who, tick, difference);
        }
    }

    /// Returns whether one of the facts after the first `emitted` facts is an undone fact of the client's commands that
    /// `selects` accepts.
    pub(super) fn has_undone_since(&self, emitted: usize, selects: impl Fn(&Fact) -> bool) -> bool {
        let mut new = self.out.iter().skip(emitted);
        new.any(|(fact, certainty)| {
            certainty == Certainty::Undone && fact.root.client() == self.client && selects(fact)
        })
    }

    /// Compares the facts of a resimulation about an owned controller with the predicted ones, and emits the changes.
    fn compare(&mut self, after: Tick, before: &VisibleState) {
        let who = before.who();
        let run = Resimulated { who, after, length: self.length, facts: &self.facts };
        let (client, pending) = (self.client, &self.pending);
        let validations = self.rows.iter().find(|r| r.who == who).map(|r| &r.pending_validations[..]);
        let is_open = |root: OpId| {
            root.client() == client && pending.iter().any(|p| p.id == root)
                || validations.is_some_and(|list| list.contains(&root))
        };
        let mut touched = self.pending_facts.compare(run, is_open, &mut self.out);
        touched.extend(self.mispredicted_facts.extract_if(.., |f| f.who == who));
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
    /// Whether something other than the client's commands changed the controller since the prediction was last right.
    pub(super) is_external: bool,
}
