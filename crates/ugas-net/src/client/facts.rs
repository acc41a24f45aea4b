//! Facts with their certainty. The client emits a predicted fact immediately, and emits it again later as confirmed or
//! undone, or as unknown if it cannot find out. It emits a fact of the server that it did not predict, or of a
//! `LocalOnly` ability, once.

use super::confirm::ConfirmationWindow;
use crate::confirm::{confirmation_hash, shown_attribute, unknown_hash};
use crate::types::Tick;
use std::collections::VecDeque;
use std::mem::{Discriminant, discriminant};
use ugas_core::{AttributeId, ControllerId, EffectId, EffectKey, Fact, FactKind, Facts, OpId, Params, SimTime};

/// The maximum number of predicted facts that are neither confirmed nor undone yet.
const MAX_WAITING: usize = 16_384;

/// The certainty of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The client predicted the fact.
    Predicted,
    /// The fact was predicted before, and the server confirmed it.
    Confirmed,
    /// The fact was predicted before, but it did not happen on the server.
    Undone,
    /// The fact was predicted before, but the client cannot find out whether it happened: the server dropped the
    /// confirmation because too many were unacknowledged, the client dropped the fact because too many were waiting,
    /// the actor is no longer relevant to the client, or the server removed the owned controller. The replicated values
    /// show the result.
    Unknown,
    /// The server reported the fact; the client had not predicted it.
    Server,
    /// The fact belongs to an ability that runs on this client only.
    Local,
}

/// The facts of a client session in order, each with its certainty.
///
/// The field `at` of a fact is a time on the server's clock, as the client estimates it. A predicted fact has the time
/// at which the client expects the server to emit the same fact. The later confirmed or undone fact has the same time.
/// A fact that the server reported has the time at which the client received it.
///
/// Each fact can be read only together with its certainty, because code that reacts to every fact of a list would react
/// twice to a predicted fact. `CueManager` and `Observers` of the crate `ugas` take a whole `NetFacts`.
#[derive(Clone, Debug, Default)]
pub struct NetFacts {
    /// The facts. Confirmed and undone facts have no named values, because the predicted fact had the same values.
    pub(crate) facts: Facts,
    /// The certainty of each fact.
    pub(crate) certainty: Vec<Certainty>,
}

impl NetFacts {
    /// Returns each fact with its certainty.
    ///
    /// ```
    /// assert_eq!(ugas_net::client::NetFacts::default().iter().count(), 0);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (&Fact, Certainty)> {
        self.facts.list.iter().zip(self.certainty.iter().copied())
    }

    /// Returns the named values of one of these facts, e.g. the position of a cue. A confirmed or undone fact has no
    /// named values.
    pub fn params(&self, fact: &Fact) -> Params<'_> {
        self.facts.params(fact)
    }

    /// Returns the number of facts.
    pub fn len(&self) -> usize {
        self.certainty.len()
    }

    /// Returns whether there are no facts.
    pub fn is_empty(&self) -> bool {
        self.certainty.is_empty()
    }

    pub(crate) fn push(&mut self, mut fact: Fact, from: Option<&Facts>, certainty: Certainty) {
        self.facts.import(&mut fact, from.unwrap_or(&Facts::default()));
        self.facts.list.push(fact);
        self.certainty.push(certainty);
    }

    pub(crate) fn clear(&mut self) {
        self.facts.list.clear();
        self.facts.detail.clear();
        self.certainty.clear();
    }
}

/// Identifies a fact across resimulations: the same change with other numbers or in another tick has the same identity.
type Identity = (ControllerId, OpId, EffectKey, EffectId, Discriminant<FactKind>, u32);

#[expect(clippy::wildcard_enum_match_arm, reason = "the discriminant identifies every other fact")]
fn identity(f: &Fact) -> Identity {
    let about = match f.kind {
        FactKind::AttributeChanged { attribute, .. } => attribute.0,
        FactKind::TagChanged { tag, added, .. } => tag.0 << 1 | added as u32,
        FactKind::Cue { tag, cue, .. } => tag.0 << 2 | cue as u32,
        FactKind::Resource { attribute, step, .. } => attribute.0 << 2 | step as u32,
        _ => 0,
    };
    (f.who, f.root, f.key, f.effect, discriminant(&f.kind), about)
}

/// A predicted fact that is neither confirmed nor undone yet.
#[derive(Clone, Debug)]
struct PredictedFact {
    /// The tick at which the server makes the change, as the client predicted it or as a confirmation reported it.
    tick: Tick,
    /// The tick at which the client predicted the change.
    predicted: Tick,
    fact: Fact,
    /// Whether the fact is about an owned controller.
    is_owned: bool,
    /// The fact is not resolved before the confirmations of this tick have arrived, because the server ran the command
    /// at this tick or earlier. A late command runs later than predicted.
    resolved_from: Tick,
    /// The hash with which the server confirms the fact.
    hash: Option<u32>,
    /// The hash with which the server reports that it does not confirm the changes to this controller in a tick,
    /// because the actor is no longer relevant to the client.
    unknown_hash: u32,
    /// Whether the server confirmed the fact.
    is_confirmed: bool,
    /// Whether the server reported that it does not confirm the fact.
    is_unknown: bool,
}

impl PredictedFact {
    /// Returns whether the fact is about a remote actor and is confirmed by its hash.
    fn is_remote(&self) -> bool {
        !self.is_owned && self.hash.is_some()
    }
}

/// A confirmed change of a remote actor's value whose new value may not have arrived yet.
#[derive(Clone, Copy, Debug)]
struct AwaitedValue {
    who: ControllerId,
    attribute: AttributeId,
    /// The tick at which the client predicted the change.
    predicted: Tick,
    /// The tick at which the server made the change.
    tick: Tick,
}

/// Predicted facts that wait for the server's decision.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingFacts {
    list: VecDeque<PredictedFact>,
    awaited: VecDeque<AwaitedValue>,
    /// Attributes of owned controllers that the server never sends.
    hidden: Vec<AttributeId>,
}

impl PendingFacts {
    /// Returns an empty list. The server does not confirm changes of hidden attributes.
    pub(crate) fn new(hidden: Vec<AttributeId>) -> PendingFacts {
        PendingFacts { list: VecDeque::new(), awaited: VecDeque::new(), hidden }
    }

    /// Sets the hidden attributes, after new rules.
    pub(crate) fn set_hidden(&mut self, hidden: Vec<AttributeId>) {
        self.hidden = hidden;
    }

    /// Emits a predicted fact of a tick, about an owned controller or a remote actor.
    pub(crate) fn predict(&mut self, tick: Tick, fact: &Fact, is_owned: bool, from: &Facts, out: &mut NetFacts) {
        out.push(*fact, Some(from), Certainty::Predicted);
        if self.list.len() >= MAX_WAITING
            && let Some(dropped) = self.list.pop_front()
        {
            out.push(dropped.fact, None, Certainty::Unknown);
        }
        let is_hidden = is_owned && shown_attribute(fact).is_some_and(|attribute| self.hidden.contains(&attribute));
        let hash = confirmation_hash(fact).filter(|_| !is_hidden);
        self.list.push_back(PredictedFact {
            tick,
            predicted: tick,
            fact: *fact,
            is_owned,
            resolved_from: Tick(0),
            hash,
            unknown_hash: unknown_hash(fact.who),
            is_confirmed: false,
            is_unknown: false,
        });
    }

    /// Emits the selected facts as undone. Returns the undone facts about remote actors.
    pub(crate) fn undo(&mut self, selects: impl Fn(&Fact) -> bool, out: &mut NetFacts) -> Vec<Fact> {
        let mut undone = Vec::new();
        self.list.retain(|e| {
            let is_undone = selects(&e.fact);
            if is_undone {
                out.push(e.fact, None, Certainty::Undone);
                undone.extend(e.is_remote().then_some(e.fact));
            }
            !is_undone
        });
        undone
    }

    /// Emits all predicted facts about an owned controller, because the server removed the controller at tick `removed`.
    /// Facts of later ticks are undone, because nothing happens to a removed controller. Facts of earlier ticks are
    /// confirmed if the server confirmed them, otherwise unknown.
    pub(crate) fn resolve_removed(&mut self, who: ControllerId, removed: Tick, out: &mut NetFacts) {
        self.list.retain(|e| {
            let is_about = e.fact.who == who;
            if is_about {
                let certainty = if e.is_confirmed {
                    Certainty::Confirmed
                } else if e.tick > removed {
                    Certainty::Undone
                } else {
                    Certainty::Unknown
                };
                out.push(e.fact, None, certainty);
            }
            !is_about
        });
    }

    /// Emits all predicted facts, before the rules change. The hashes of later confirmations belong to the new rules, so
    /// whether an unconfirmed prediction happened stays unknown.
    pub(crate) fn resolve_all(&mut self, out: &mut NetFacts) {
        for e in self.list.drain(..) {
            let certainty = if e.is_confirmed { Certainty::Confirmed } else { Certainty::Unknown };
            out.push(e.fact, None, certainty);
        }
    }

    /// Confirms the decided facts about owned controllers up to a tick. Where the server's state differs from the
    /// prediction, the server has also sent confirmations: facts without a confirmation are undone once all
    /// confirmations of their tick have arrived. Returns the undone facts.
    pub(crate) fn confirm(
        &mut self,
        until: Tick,
        is_decided: impl Fn(&Fact) -> bool,
        window: Option<(&ConfirmationWindow, u16)>,
        out: &mut NetFacts,
    ) -> Vec<Fact> {
        let mut undone = Vec::new();
        self.list.retain(|e| {
            if e.is_remote() || e.tick > until || !is_decided(&e.fact) {
                return true;
            }
            let window = window.filter(|s| e.hash.is_some() && e.fact.root.client() == s.1).map(|s| s.0);
            match window.filter(|_| !e.is_confirmed) {
                Some(window) if e.tick > window.complete_until() => return true,
                Some(window) if window.unknown_until() >= Some(e.tick) => {
                    out.push(e.fact, None, Certainty::Unknown);
                }
                Some(_) => {
                    undone.push(e.fact);
                    out.push(e.fact, None, Certainty::Undone);
                }
                None => out.push(e.fact, None, Certainty::Confirmed),
            }
            false
        });
        undone
    }

    /// Records that a packet of this tick contains the verdict of a command, so the server processed the command at
    /// this tick or earlier.
    pub(crate) fn accept(&mut self, root: OpId, tick: Tick) {
        for e in self.list.iter_mut().filter(|e| e.fact.root == root) {
            e.resolved_from = e.resolved_from.max(tick);
        }
    }

    /// Takes a confirmation of the server for a tick. Periodic executions share one hash, so a confirmation does not
    /// count for later executions. On remote actors a late command, and every change that it causes, takes effect later
    /// than predicted.
    pub(crate) fn confirm_hash(&mut self, hash: u32, tick: Tick) {
        let is_about = |e: &&mut PredictedFact| e.is_remote() && e.unknown_hash == hash && e.tick <= tick;
        self.list.iter_mut().filter(is_about).for_each(|e| e.is_unknown = true);
        let mut nearest: Option<(Tick, OpId)> = None;
        for e in self.list.iter_mut().filter(|e| e.hash == Some(hash)) {
            if e.is_owned {
                // A resimulated fact may be a tick later.
                e.is_confirmed |= e.tick <= tick.plus(1);
            } else if e.tick <= tick && nearest.is_none_or(|n| n.0 < e.tick) {
                nearest = Some((e.tick, e.fact.root));
            }
        }
        let Some((predicted_tick, root)) = nearest else { return };
        let late = tick.0 - predicted_tick.0;
        for e in self.list.iter_mut().filter(|e| !e.is_owned && e.fact.root == root) {
            e.is_confirmed |= e.tick == predicted_tick && e.hash == Some(hash);
            if e.tick >= predicted_tick {
                e.tick = e.tick.plus(late);
            }
        }
    }

    /// Returns whether a selected fact about a remote actor waits for its confirmation.
    pub(crate) fn has_predicted(&self, test: impl Fn(&Fact) -> bool) -> bool {
        self.list.iter().any(|e| e.is_remote() && test(&e.fact))
    }

    /// Confirms or undoes the facts about remote actors of all ticks whose confirmations have arrived. Facts without a
    /// confirmation are undone; if the server dropped confirmations of their tick, or reported that it does not confirm
    /// changes of the actor, they are unknown. Returns the undone facts.
    pub(crate) fn resolve_remote_facts(
        &mut self,
        window: &ConfirmationWindow,
        is_open: impl Fn(OpId) -> bool,
        out: &mut NetFacts,
    ) -> Vec<Fact> {
        let mut undone = Vec::new();
        let PendingFacts { list, awaited, hidden: _ } = self;
        list.retain(|e| {
            let tick = e.tick.max(e.resolved_from);
            let is_decided = e.is_remote() && tick <= window.complete_until() && !is_open(e.fact.root);
            if is_decided && e.is_confirmed {
                out.push(e.fact, None, Certainty::Confirmed);
                if let FactKind::AttributeChanged { attribute, .. } = e.fact.kind {
                    let (who, predicted, tick) = (e.fact.who, e.predicted, e.tick);
                    awaited.push_back(AwaitedValue { who, attribute, predicted, tick });
                }
            } else if is_decided && (e.is_unknown || window.unknown_until() >= Some(e.tick)) {
                out.push(e.fact, None, Certainty::Unknown);
            } else if is_decided {
                out.push(e.fact, None, Certainty::Undone);
                undone.push(e.fact);
            }
            !is_decided
        });
        awaited.drain(..awaited.len().saturating_sub(MAX_WAITING));
        undone
    }

    /// Drops the awaited values that have arrived. `received` returns the tick of the newest value of an attribute that
    /// the client has, `None` if it does not receive the attribute. Values that were predicted before `oldest` are
    /// dropped too.
    pub(crate) fn drop_received(&mut self, oldest: Tick, received: impl Fn(ControllerId, AttributeId) -> Option<Tick>) {
        self.awaited.retain(|a| a.predicted >= oldest && received(a.who, a.attribute).is_some_and(|at| at < a.tick));
    }

    /// Returns the first tick at which the client predicted a change of a remote actor's value that happened, or may
    /// have happened, on the server after the newest value that the client has.
    pub(crate) fn first_unreceived(
        &self,
        who: ControllerId,
        received: impl Fn(AttributeId) -> Option<Tick>,
    ) -> Option<Tick> {
        let awaited = self.awaited.iter().filter(|a| a.who == who);
        let awaited = awaited.filter(|a| received(a.attribute).is_some_and(|at| at < a.tick)).map(|a| a.predicted);
        let is_missing = |e: &&PredictedFact| {
            let FactKind::AttributeChanged { attribute, .. } = e.fact.kind else { return false };
            let tick = if e.is_confirmed { e.tick } else { e.tick.max(e.resolved_from) };
            e.is_remote() && e.fact.who == who && received(attribute).is_some_and(|at| at < tick)
        };
        self.list.iter().filter(is_missing).map(|e| e.predicted).chain(awaited).min()
    }

    /// Compares the facts of a resimulation with the predicted facts. Missing facts are undone, and new facts are
    /// emitted. A fact that only has other numbers is not emitted again. Returns the undone and new facts.
    pub(crate) fn compare(
        &mut self,
        run: Resimulated<'_>,
        is_open: impl Fn(OpId) -> bool,
        out: &mut NetFacts,
    ) -> Vec<Fact> {
        let Resimulated { who, after, length, facts } = run;
        // Commands that the server has not processed are resimulated too, whatever their tick.
        let is_mine = |e: &PredictedFact| e.fact.who == who && (e.tick > after || is_open(e.fact.root));
        let mut predicted: Vec<(Identity, Option<Tick>)> =
            self.list.iter().filter(|e| is_mine(e)).map(|e| (identity(&e.fact), None)).collect();
        let mut new_facts = Vec::new();
        for fact in facts.list.iter().filter(|f| f.who == who) {
            let id = identity(fact);
            match predicted.iter_mut().find(|(known, found)| found.is_none() && *known == id) {
                Some((_, found)) => *found = Some(tick_of(fact.at, length)),
                None => new_facts.push(*fact),
            }
        }
        let mut touched = Vec::new();
        let mut at = 0;
        self.list.retain_mut(|entry| {
            if !is_mine(entry) {
                return true;
            }
            let found = predicted[at].1;
            at += 1;
            match found {
                // The resimulated fact may be a tick earlier or later.
                Some(tick) => entry.tick = tick,
                // The server's state already contains it: the tick of a resimulated fact may be one too late.
                None if entry.is_confirmed => out.push(entry.fact, None, Certainty::Confirmed),
                None => {
                    touched.push(entry.fact);
                    out.push(entry.fact, None, Certainty::Undone);
                }
            }
            found.is_some()
        });
        for fact in new_facts {
            touched.push(fact);
            self.predict(tick_of(fact.at, length), &fact, true, facts, out);
        }
        touched
    }

    /// Returns the number of facts that are neither confirmed nor undone.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

/// Returns the tick of a time. A time at the boundary of two ticks belongs to the later tick, as for commands.
fn tick_of(at: SimTime, length: SimTime) -> Tick {
    Tick((at.0 / length.0.max(1)).clamp(0, u32::MAX as i64) as u32).plus(1)
}

/// The facts of a resimulated controller.
#[derive(Clone, Copy)]
pub(crate) struct Resimulated<'a> {
    pub(crate) who: ControllerId,
    /// The tick that the controller was resimulated from.
    pub(crate) after: Tick,
    pub(crate) length: SimTime,
    /// The facts of the resimulation.
    pub(crate) facts: &'a Facts,
}

#[cfg(test)]
mod tests {
    use super::super::visible::plain;
    use super::*;
    use crate::confirm::{ConfirmationList, ListHeader};

    /// A predicted hit without a confirmation did not happen, unless the server dropped confirmations of its tick.
    #[test]
    fn a_dropped_confirmation_leaves_the_fact_unknown() {
        let (old, new) = (2.0, 1.0);
        let kind = FactKind::AttributeChanged { attribute: AttributeId(0), old, new, old_base: old, new_base: new };
        let fact = plain(SimTime::ZERO, ControllerId(3), kind);
        let (mut pending, mut out) = (PendingFacts::new(Vec::new()), NetFacts::default());
        let mut window = ConfirmationWindow::default();
        for tick in [5, 7, 9] {
            pending.predict(Tick(tick), &fact, false, &Facts::default(), &mut out);
        }
        let header = ListHeader { first: 40, count: 0, dropped_until: Some(Tick(6)) };
        window.receive(Some(ConfirmationList { header, entries: Vec::new() }), Tick(8));
        out.clear();
        assert_eq!(pending.resolve_remote_facts(&window, |_| false, &mut out).len(), 1);
        let certainties: Vec<Certainty> = out.iter().map(|(_, certainty)| certainty).collect();
        assert_eq!(certainties, [Certainty::Unknown, Certainty::Undone]);
        assert_eq!(pending.len(), 1, "tick 9 is not complete");
    }

    /// A late command runs later than predicted: its hit is not resolved with the confirmations of the predicted tick.
    #[test]
    fn an_accepted_hit_waits_for_the_confirmations_of_the_verdict() {
        let kind = FactKind::TagChanged { tag: ugas_core::TagId(1), added: true, exact: true, presence: true };
        let fact = Fact { root: OpId::new(1, 4, 0), ..plain(SimTime::ZERO, ControllerId(3), kind) };
        let (mut pending, mut out) = (PendingFacts::new(Vec::new()), NetFacts::default());
        let mut window = ConfirmationWindow::default();
        pending.predict(Tick(5), &fact, false, &Facts::default(), &mut out);
        pending.accept(fact.root, Tick(9));
        window.receive(None, Tick(8));
        out.clear();
        pending.resolve_remote_facts(&window, |_| false, &mut out);
        assert!(out.is_empty(), "the server may have run the command in tick 9");
        pending.confirm_hash(confirmation_hash(&fact).unwrap(), Tick(9));
        window.receive(None, Tick(9));
        pending.resolve_remote_facts(&window, |_| false, &mut out);
        assert_eq!(out.iter().map(|(_, certainty)| certainty).collect::<Vec<_>>(), [Certainty::Confirmed]);
    }
}
