//! Facts with how sure they are: what was played ahead is told at once, and later once more as confirmed or undone.

use crate::echo::echo_of;
use crate::types::Tick;
use std::collections::VecDeque;
use std::mem::{Discriminant, discriminant};
use ugas_core::{AttributeId, ControllerId, EffectId, EffectKey, Fact, FactKind, Facts, OpId, Params, SimTime};

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
///
/// `at` of a fact is a time of the clock that both sides share, as the client has it: of what was played ahead the time at which
/// it happens on the server too, also when it is told again as confirmed or undone; of what was heard from the server first the
/// time at which it was heard.
///
/// The facts cannot be taken without their certainty: whoever reacts to each fact of a list would react to a predicted one
/// twice. `CueManager` and `Observers` of the crate `ugas` take the whole batch.
#[derive(Clone, Debug, Default)]
pub struct NetFacts {
    /// The facts. Those that are confirmed or undone have no details: they were told before.
    pub(crate) facts: Facts,
    /// How sure each is.
    pub(crate) certainty: Vec<Certainty>,
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

    /// Returns the named values of a fact of this batch, e.g. where a cue plays. A confirmed or undone fact has none.
    pub fn params(&self, fact: &Fact) -> Params<'_> {
        self.facts.params(fact)
    }

    /// Returns how many facts there are.
    pub fn len(&self) -> usize {
        self.certainty.len()
    }

    /// Returns whether there are no facts.
    pub fn is_empty(&self) -> bool {
        self.certainty.is_empty()
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

/// A fact that was told ahead.
#[derive(Clone, Debug)]
struct Entry {
    tick: Tick,
    fact: Fact,
    /// Whether it is about an own controller.
    own: bool,
    /// What the server calls it.
    echo: Option<u32>,
    /// The server has called it so.
    heard: bool,
}

impl Entry {
    /// Whether the server says of it whether it happened, beside what it shows.
    fn is_of_others(&self) -> bool {
        !self.own && self.echo.is_some()
    }
}

/// Facts that were told ahead and wait for the server's word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    list: VecDeque<Entry>,
    /// Attributes of own controllers of which the server never speaks.
    hidden: Vec<AttributeId>,
}

impl Waiting {
    /// Nothing waits yet. The server does not speak of what is hidden from owners.
    pub(crate) fn new(hidden: Vec<AttributeId>) -> Waiting {
        Waiting { list: VecDeque::new(), hidden }
    }

    /// Tells a fact of a tick ahead, about an own controller or somebody else's.
    pub(crate) fn predict(&mut self, tick: Tick, fact: &Fact, own: bool, from: &Facts, out: &mut NetFacts) {
        out.push(*fact, Some(from), Certainty::Predicted);
        if self.list.len() >= MAX_WAITING {
            self.list.pop_front();
        }
        let is_hidden = match fact.kind {
            FactKind::AttributeChanged { attribute, .. } => own && self.hidden.contains(&attribute),
            _ => false,
        };
        let echo = echo_of(fact).filter(|_| !is_hidden);
        self.list.push_back(Entry { tick, fact: *fact, own, echo, heard: false });
    }

    /// What was told did not happen, or nobody will ever say. Gives what was told of others.
    pub(crate) fn undo(&mut self, is_false: impl Fn(&Fact) -> bool, out: &mut NetFacts) -> Vec<Fact> {
        let mut undone = Vec::new();
        self.list.retain(|e| {
            let gone = is_false(&e.fact);
            if gone {
                out.push(e.fact, None, Certainty::Undone);
                undone.extend(e.is_of_others().then_some(e.fact));
            }
            !gone
        });
        undone
    }

    /// Up to a tick everything about own controllers that is settled happened. Where the server's state is another than
    /// was played, it has said up to a tick what of a client's doings did happen; the others did not. Gives these.
    pub(crate) fn confirm(
        &mut self,
        until: Tick,
        is_settled: impl Fn(&Fact) -> bool,
        said: Option<(Tick, u16)>,
        out: &mut NetFacts,
    ) -> Vec<Fact> {
        let mut undone = Vec::new();
        self.list.retain(|e| {
            if e.is_of_others() || e.tick > until || !is_settled(&e.fact) {
                return true;
            }
            let said = said.filter(|s| e.echo.is_some() && e.fact.root.client() == s.1).map(|s| s.0);
            match said {
                Some(said) if !e.heard && e.tick > said => return true,
                Some(_) if !e.heard => {
                    undone.push(e.fact);
                    out.push(e.fact, None, Certainty::Undone);
                }
                _ => out.push(e.fact, None, Certainty::Confirmed),
            }
            false
        });
        undone
    }

    /// The server says that something happened in a tick. What comes again, like a period, is called the same each time:
    /// later ones are not heard of by that. At others a command that came late counts later than it was shown here, and
    /// so does what follows from it.
    pub(crate) fn hear(&mut self, echo: u32, tick: Tick) {
        let mut nearest: Option<(Tick, OpId)> = None;
        for e in self.list.iter_mut().filter(|e| e.echo == Some(echo)) {
            if e.own {
                // One that was run again may have it a tick later.
                e.heard |= e.tick <= tick.plus(1);
            } else if e.tick <= tick && nearest.is_none_or(|n| n.0 < e.tick) {
                nearest = Some((e.tick, e.fact.root));
            }
        }
        let Some((shown, root)) = nearest else { return };
        let late = tick.0 - shown.0;
        for e in self.list.iter_mut().filter(|e| !e.own && e.fact.root == root) {
            e.heard |= e.tick == shown && e.echo == Some(echo);
            if e.tick >= shown {
                e.tick = e.tick.plus(late);
            }
        }
    }

    /// Whether a fact about somebody else that the test picks waits for the server.
    pub(crate) fn foretells(&self, test: impl Fn(&Fact) -> bool) -> bool {
        self.list.iter().any(|e| e.is_of_others() && test(&e.fact))
    }

    /// Up to a tick the server has said all that happened to others: what it has not named did not happen. Gives that.
    pub(crate) fn settle_others(
        &mut self,
        until: Tick,
        is_open: impl Fn(OpId) -> bool,
        out: &mut NetFacts,
    ) -> Vec<Fact> {
        let mut undone = Vec::new();
        self.list.retain(|e| {
            let settled = e.is_of_others() && e.tick <= until && !is_open(e.fact.root);
            if settled && e.heard {
                out.push(e.fact, None, Certainty::Confirmed);
            } else if settled {
                out.push(e.fact, None, Certainty::Undone);
                undone.push(e.fact);
            }
            !settled
        });
        undone
    }

    /// A controller was run again from the end of a tick on: what is not there any more is undone, what is new is told.
    /// What only has other numbers is no news. Gives what was undone or told.
    pub(crate) fn compare(&mut self, run: Run<'_>, is_open: impl Fn(OpId) -> bool, out: &mut NetFacts) -> Vec<Fact> {
        let Run { who, after, length, again } = run;
        // What the server has not heard of yet is run again too, from whatever tick it is.
        let is_mine = |e: &Entry| e.fact.who == who && (e.tick > after || is_open(e.fact.root));
        let mut told: Vec<(Identity, Option<Tick>)> =
            self.list.iter().filter(|e| is_mine(e)).map(|e| (identity(&e.fact), None)).collect();
        let mut news = Vec::new();
        for fact in again.list.iter().filter(|f| f.who == who) {
            let id = identity(fact);
            match told.iter_mut().find(|(known, found)| found.is_none() && *known == id) {
                Some((_, found)) => *found = Some(tick_of(fact.at, length)),
                None => news.push(*fact),
            }
        }
        let mut touched = Vec::new();
        let mut at = 0;
        self.list.retain_mut(|entry| {
            if !is_mine(entry) {
                return true;
            }
            let found = told[at].1;
            at += 1;
            match found {
                // It may be a tick earlier or later now.
                Some(tick) => entry.tick = tick,
                None => {
                    touched.push(entry.fact);
                    out.push(entry.fact, None, Certainty::Undone);
                }
            }
            found.is_some()
        });
        for fact in news {
            touched.push(fact);
            self.predict(tick_of(fact.at, length), &fact, true, again, out);
        }
        touched
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

/// The tick in which something happens at a time; on the edge of two the later one, where commands belong.
fn tick_of(at: SimTime, length: SimTime) -> Tick {
    Tick((at.0 / length.0.max(1)).clamp(0, u32::MAX as i64) as u32).plus(1)
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
