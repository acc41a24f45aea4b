//! What happened, as it is listed: the newest of it.

use crate::Names;
use crate::ask::{self, Why};
use crate::desk::asks::AskFrame;
use crate::stage::Stage;
use crate::tape::World;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use ugas_core::{AttributeId, ControllerId, Fact, FactKind, Sim};
use ugas_net::client::Certainty;

/// Facts that are remembered.
const MOST_TOLD: usize = 100_000;
/// Facts about a moment that one answer lists.
const MOST_OF_A_MOMENT: usize = 1_000;
/// Writes of a base value that are told.
const MOST_WRITES: usize = 5;
/// Facts that one answer lists; whoever was away longer than that has missed some.
const MOST_AT_ONCE: usize = 4_000;

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) serial: u64,
    pub(crate) tick: u32,
    /// The client's name; none for the server. Whoever plays at another moment may be others.
    pub(crate) client: Option<Arc<str>>,
    pub(crate) certainty: Option<Certainty>,
    pub(crate) fact: Fact,
}

/// The newest of what happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chronicle {
    told: VecDeque<Told>,
    serial: u64,
}

impl Chronicle {
    /// One without anything in it whose numbers go on.
    pub(crate) fn anew(&self) -> Chronicle {
        Chronicle { told: VecDeque::new(), serial: self.serial }
    }

    /// The number of the last.
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// Notes what the last tick of a stage brought, and what was done since.
    pub(crate) fn note(&mut self, stage: &Stage) {
        let (tick, news) = (stage.tick(), stage.news());
        self.note_facts(tick, news.fresh());
        for (player, told) in stage.net().players().iter().zip(&news.told) {
            // What a client hears or has confirmed is what the server did.
            let mut undone = told.iter().filter(|(_, c)| *c == Certainty::Undone).peekable();
            let client: Option<Arc<str>> = undone.peek().map(|_| player.name().into());
            undone.for_each(|(fact, certainty)| self.push(tick, client.clone(), Some(certainty), fact));
        }
        self.note_facts(tick, stage.deeds());
    }

    /// Notes facts of the world itself.
    pub(crate) fn note_facts(&mut self, tick: u32, facts: &[Fact]) {
        facts.iter().for_each(|fact| self.push(tick, None, None, fact));
    }

    fn push(&mut self, tick: u32, client: Option<Arc<str>>, certainty: Option<Certainty>, fact: &Fact) {
        self.serial += 1;
        if self.told.len() >= MOST_TOLD {
            self.told.pop_front();
        }
        self.told.push_back(Told { serial: self.serial, tick, client, certainty, fact: *fact });
    }

    /// Forgets what happened after a tick.
    pub(crate) fn forget_after(&mut self, tick: u32) {
        self.told.retain(|t| t.tick <= tick);
    }

    /// Forgets what happened at a tick and after it.
    pub(crate) fn forget_from(&mut self, tick: u32) {
        self.told.retain(|t| t.tick < tick);
    }

    pub(crate) fn find(&self, serial: u64) -> Option<&Told> {
        self.told.iter().find(|t| t.serial == serial)
    }

    /// What happened since, the newest of it; of whom it was asked, or of everybody.
    pub(crate) fn since<'t, L>(&'t self, asked: &AskFrame, names: &Names, line: impl FnMut(&'t Told) -> L) -> Vec<L> {
        let from = self.told.partition_point(|t| t.serial <= asked.since);
        newest(self.told.range(from..), asked.about.as_deref(), names, MOST_AT_ONCE).into_iter().map(line).collect()
    }

    /// What happened until a tick, the newest of it; of whom it was asked, or of everybody.
    pub(crate) fn until(&self, tick: u32, about: Option<&[String]>, names: &Names) -> Vec<&Told> {
        let to = self.told.partition_point(|t| t.tick <= tick);
        newest(self.told.range(..to), about, names, MOST_OF_A_MOMENT)
    }

    /// Where a number comes from, with what wrote its base last.
    pub(crate) fn with_writes(&self, why: Why, names: &Names, sim: &Sim, who: ControllerId, tick: u32) -> Value {
        let writes = self.writes(who, why.attribute, tick).into_iter().map(|t| write(t, names, sim));
        let mut answer = json!(why);
        answer["writes"] = writes.map(|w| json!(w)).collect();
        answer
    }

    /// What wrote a base value last until a tick, the newest first.
    fn writes(&self, who: ControllerId, attribute: AttributeId, tick: u32) -> Vec<&Told> {
        let to = self.told.partition_point(|t| t.tick <= tick);
        let wrote = |t: &&Told| {
            t.client.is_none()
                && t.fact.who == who
                && matches!(t.fact.kind, FactKind::AttributeChanged { attribute: a, old_base, new_base, .. }
                    if a == attribute && old_base != new_base)
        };
        self.told.range(..to).rev().filter(wrote).take(MOST_WRITES).collect()
    }
}

/// The newest of some, in the order they happened; of whom it was asked and whoever died, or of everybody.
fn newest<'t>(
    told: impl DoubleEndedIterator<Item = &'t Told>,
    about: Option<&[String]>,
    names: &Names,
    most: usize,
) -> Vec<&'t Told> {
    let about = about.map(|about| about.iter().filter_map(|n| names.id(n)).collect::<Vec<_>>());
    let wanted = |t: &&Told| {
        let died = matches!(t.fact.kind, FactKind::Died { .. });
        about.as_ref().is_none_or(|about| died || about.contains(&t.fact.who))
    };
    let mut newest: Vec<&Told> = told.rev().filter(wanted).take(most).collect();
    newest.reverse();
    newest
}

/// A base value that was written, as a page reads it.
#[derive(Debug, Serialize)]
struct Write {
    serial: u64,
    tick: u32,
    by: f64,
    now: f64,
    effect: Option<String>,
    from: Option<String>,
}

/// What a fact says about a base value that was written.
fn write(told: &Told, names: &Names, sim: &Sim) -> Write {
    let (by, now) = match told.fact.kind {
        FactKind::AttributeChanged { old_base, new_base, .. } => (new_base - old_base, new_base),
        _ => (0.0, 0.0),
    };
    let effect = sim.effect_name(told.fact.effect).map(str::to_owned);
    let from = told.fact.source.some().map(|who| names.name(who));
    Write { serial: told.serial, tick: told.tick, by, now, effect, from }
}

/// Something that happened, as a page reads it.
#[derive(Debug, Serialize)]
pub(crate) struct Line<'t> {
    serial: u64,
    tick: u32,
    client: Option<&'t str>,
    certainty: Option<String>,
    who: String,
    kind: &'static str,
    text: String,
    #[serde(flatten)]
    changed: Option<Changed<'t>>,
}

/// An attribute and what it is now.
#[derive(Debug, Serialize)]
struct Changed<'t> {
    attribute: Option<&'t str>,
    value: f64,
}

/// A line about something that happened.
pub(crate) fn line<'t>(told: &'t Told, names: &Names, sim: &'t Sim) -> Line<'t> {
    let changed = match told.fact.kind {
        FactKind::AttributeChanged { attribute, new, .. } => {
            Some(Changed { attribute: sim.rules().attribute_name(attribute), value: new })
        }
        _ => None,
    };
    Line {
        serial: told.serial,
        tick: told.tick,
        client: told.client.as_deref(),
        certainty: told.certainty.map(|c| format!("{c:?}")),
        who: names.name(told.fact.who),
        kind: told.fact.kind.name(),
        text: ask::in_words(names, sim, &told.fact),
        changed,
    }
}
