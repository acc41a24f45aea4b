//! Facts with how sure they are: what was played ahead is told at once, and later once more as confirmed or undone.

use crate::types::Tick;
use std::collections::VecDeque;
use std::mem::{Discriminant, discriminant};
use ugas_core::{ControllerId, EffectId, EffectKey, Fact, FactKind, Facts, OpId, SimTime};

/// Facts told ahead that may wait for the server.
const MAX_WAITING: usize = 16_384;

/// How sure a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Played ahead of the server.
    Predicted,
    /// Played ahead before, and the server agrees.
    Confirmed,
    /// Played ahead before, and it did not happen.
    Undone,
    /// Heard from the server first.
    Server,
    /// Of an ability that runs here only; nobody else hears of it.
    Local,
}

/// Facts in order, each with how sure it is.
#[derive(Clone, Debug, Default)]
pub struct NetFacts {
    /// The facts. Those that are confirmed or undone have no details: they were told before.
    pub facts: Facts,
    /// How sure each is.
    pub certainty: Vec<Certainty>,
}

impl NetFacts {
    /// Each fact with how sure it is.
    ///
    /// ```
    /// assert_eq!(ugas_net::client::NetFacts::default().iter().count(), 0);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (&Fact, Certainty)> {
        self.facts.list.iter().zip(self.certainty.iter().copied())
    }

    pub(crate) fn push(&mut self, mut fact: Fact, from: Option<&Facts>, certainty: Certainty) {
        self.facts.take_in(&mut fact, from.unwrap_or(&Facts::default()));
        self.facts.list.push(fact);
        self.certainty.push(certainty);
    }

    pub(crate) fn clear(&mut self) {
        self.facts.list.clear();
        self.facts.detail.clear();
        self.certainty.clear();
    }
}

/// What makes two facts the same happening, whatever the numbers say and whether it was a tick earlier or later.
type Identity = (ControllerId, OpId, EffectKey, EffectId, Discriminant<FactKind>, u32);

fn identity(f: &Fact) -> Identity {
    let about = match f.kind {
        FactKind::AttributeChanged { attribute, .. } => attribute.0,
        FactKind::TagChanged { tag, added, .. } => tag.0 << 1 | added as u32,
        FactKind::Cue { tag, cue, .. } => tag.0 << 2 | cue as u32,
        _ => 0,
    };
    (f.who, f.root, f.key, f.effect, discriminant(&f.kind), about)
}

/// Facts that were told ahead and wait for the server's word, each with its tick.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    list: VecDeque<(Tick, Fact)>,
}

impl Waiting {
    /// Tells a fact of a tick ahead.
    pub(crate) fn predict(&mut self, tick: Tick, fact: &Fact, from: &Facts, out: &mut NetFacts) {
        out.push(*fact, Some(from), Certainty::Predicted);
        if self.list.len() >= MAX_WAITING {
            self.list.pop_front();
        }
        self.list.push_back((tick, *fact));
    }

    /// An op was refused: nothing of it happened.
    pub(crate) fn undo(&mut self, root: OpId, out: &mut NetFacts) {
        self.list.retain(|(_, f)| {
            if f.root == root {
                out.push(*f, None, Certainty::Undone);
            }
            f.root != root
        });
    }

    /// A controller is gone: nobody will say what became of what was told ahead of it.
    pub(crate) fn undo_of(&mut self, who: ControllerId, out: &mut NetFacts) {
        self.list.retain(|(_, f)| {
            if f.who == who {
                out.push(*f, None, Certainty::Undone);
            }
            f.who != who
        });
    }

    /// Up to a tick everything that is settled happened.
    pub(crate) fn confirm(&mut self, until: Tick, is_settled: impl Fn(&Fact) -> bool, out: &mut NetFacts) {
        self.list.retain(|(tick, f)| {
            let sure = *tick <= until && is_settled(f);
            if sure {
                out.push(*f, None, Certainty::Confirmed);
            }
            !sure
        });
    }

    /// A controller was run again from the end of a tick on: what is not there any more is undone, what is new is told.
    /// What only has other numbers is no news. Gives what was undone or told.
    pub(crate) fn compare(&mut self, run: Run<'_>, is_open: impl Fn(OpId) -> bool, out: &mut NetFacts) -> Vec<Fact> {
        let Run { who, after, length, again } = run;
        // What the server has not heard of yet is run again too, from whatever tick it is.
        let is_mine = |(tick, f): &(Tick, Fact)| f.who == who && (*tick > after || is_open(f.root));
        let mut told: Vec<(Identity, bool)> =
            self.list.iter().filter(|e| is_mine(e)).map(|(_, f)| (identity(f), false)).collect();
        let mut news = Vec::new();
        for fact in again.list.iter().filter(|f| f.who == who) {
            let id = identity(fact);
            match told.iter_mut().find(|(known, found)| !found && *known == id) {
                Some((_, found)) => *found = true,
                None => news.push(*fact),
            }
        }
        let mut touched = Vec::new();
        let mut at = 0;
        self.list.retain(|entry| {
            if !is_mine(entry) {
                return true;
            }
            let keep = told[at].1;
            at += 1;
            if !keep {
                touched.push(entry.1);
                out.push(entry.1, None, Certainty::Undone);
            }
            keep
        });
        for fact in news {
            touched.push(fact);
            let tick = Tick((fact.at.0 / length.0.max(1)) as u32).plus(1);
            self.predict(tick, &fact, again, out);
        }
        touched
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

/// A controller that was run again.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) who: ControllerId,
    /// The tick it was run from.
    pub(crate) after: Tick,
    pub(crate) length: SimTime,
    /// What was said of it.
    pub(crate) again: &'a Facts,
}
