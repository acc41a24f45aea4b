//! The event log: the newest facts of the server, and the predicted facts that clients undid.

use crate::Names;
use crate::backend::request::FrameRequest;
use crate::capability::LastStep;
use crate::explain::{self, ValueExplanation};
use crate::recording::World;
use crate::session::Session;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use ugas_core::{AttributeId, ControllerId, Fact, FactKind, Sim};
use ugas_net::client::Certainty;

/// The maximum number of facts in the log.
const MAX_RECORDED: usize = 100_000;
/// The maximum number of facts in an answer about the facts up to a tick.
const MAX_UNTIL: usize = 1_000;
/// The maximum number of writes of a base value in an explanation.
const MAX_WRITES: usize = 5;
/// The maximum number of facts in one frame. A page that has not requested frames for a while misses older facts.
const MAX_PER_FRAME: usize = 4_000;

/// A fact in the log.
#[derive(Clone, Debug)]
pub(crate) struct RecordedFact {
    pub(crate) serial: u64,
    pub(crate) tick: u32,
    /// The name of the client; `None` for the server. An index would be ambiguous: other ticks may have other clients.
    pub(crate) client: Option<Arc<str>>,
    pub(crate) certainty: Option<Certainty>,
    pub(crate) fact: Fact,
}

/// The newest facts, by ascending serial number.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventLog {
    facts: VecDeque<RecordedFact>,
    serial: u64,
}

impl EventLog {
    /// Returns an empty log that continues the serial numbers.
    pub(crate) fn cleared(&self) -> EventLog {
        EventLog { facts: VecDeque::new(), serial: self.serial }
    }

    /// Returns the serial number of the last fact.
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// Records the facts of the last tick of a session and the facts of the inputs after that tick.
    pub(crate) fn record(&mut self, session: &Session) {
        let (tick, tick_facts) = (session.tick(), session.tick_facts());
        self.record_facts(tick, tick_facts.fresh());
        for (player, facts) in session.net().players().iter().zip(&tick_facts.client_facts) {
            let mut own = facts.iter().filter(|(fact, certainty)| is_of_client(fact, *certainty)).peekable();
            let client: Option<Arc<str>> = own.peek().map(|_| player.name().into());
            own.for_each(|(fact, certainty)| self.push(tick, client.clone(), Some(certainty), fact));
        }
        self.record_facts(tick, session.pending_facts());
    }

    /// Records facts of the server.
    pub(crate) fn record_facts(&mut self, tick: u32, facts: &[Fact]) {
        facts.iter().for_each(|fact| self.push(tick, None, None, fact));
    }

    fn push(&mut self, tick: u32, client: Option<Arc<str>>, certainty: Option<Certainty>, fact: &Fact) {
        self.serial += 1;
        if self.facts.len() >= MAX_RECORDED {
            self.facts.pop_front();
        }
        self.facts.push_back(RecordedFact { serial: self.serial, tick, client, certainty, fact: *fact });
    }

    /// Drops the facts after a tick.
    pub(crate) fn drop_after(&mut self, tick: u32) {
        self.facts.retain(|t| t.tick <= tick);
    }

    /// Drops the facts of a tick and of all later ticks.
    pub(crate) fn drop_from(&mut self, tick: u32) {
        self.facts.retain(|t| t.tick < tick);
    }

    pub(crate) fn find(&self, serial: u64) -> Option<&RecordedFact> {
        self.facts.iter().find(|t| t.serial == serial)
    }

    /// Returns the newest facts since a serial number, of the requested actors or of all actors.
    pub(crate) fn since<'t, L>(
        &'t self,
        request: &FrameRequest,
        names: &Names,
        line: impl FnMut(&'t RecordedFact) -> L,
    ) -> Vec<L> {
        let from = self.facts.partition_point(|t| t.serial <= request.since);
        newest(self.facts.range(from..), request.about.as_deref(), names, MAX_PER_FRAME).into_iter().map(line).collect()
    }

    /// Returns the newest facts up to a tick, of the requested actors or of all actors.
    pub(crate) fn until(&self, tick: u32, about: Option<&[String]>, names: &Names) -> Vec<&RecordedFact> {
        let to = self.facts.partition_point(|t| t.tick <= tick);
        newest(self.facts.range(..to), about, names, MAX_UNTIL)
    }

    /// Returns the last step of each class of capabilities in each set up to a tick, on the server or on a client. The
    /// log contains the steps of a client only for capabilities that run on that client only.
    pub(crate) fn last_steps(&self, who: ControllerId, client: Option<&str>, tick: u32) -> Vec<LastStep> {
        let to = self.facts.partition_point(|t| t.tick <= tick);
        let mut steps: Vec<LastStep> = Vec::new();
        let of_machine = |t: &&RecordedFact| {
            let is_step = t.client.is_none() || t.certainty == Some(Certainty::Local);
            t.fact.who == who && t.client.as_deref() == client && is_step
        };
        for recorded in self.facts.range(..to).rev().filter(of_machine) {
            if let FactKind::Capability { class, set, step } = recorded.fact.kind
                && steps.iter().all(|last| (last.class, last.set) != (class, set))
            {
                steps.push(LastStep { class, set, step, tick: recorded.tick });
            }
        }
        steps
    }

    /// Returns an explanation with the last writes of the base value.
    pub(crate) fn with_writes(
        &self,
        why: ValueExplanation,
        names: &Names,
        sim: &Sim,
        who: ControllerId,
        tick: u32,
    ) -> Value {
        let writes = self.writes(who, why.attribute, tick).into_iter().map(|t| write(t, names, sim));
        let mut answer = json!(why);
        answer["writes"] = writes.map(|w| json!(w)).collect();
        answer
    }

    /// Returns the last writes of a base value up to a tick, the newest first.
    fn writes(&self, who: ControllerId, attribute: AttributeId, tick: u32) -> Vec<&RecordedFact> {
        let to = self.facts.partition_point(|t| t.tick <= tick);
        let wrote = |t: &&RecordedFact| {
            t.client.is_none()
                && t.fact.who == who
                && matches!(t.fact.kind, FactKind::AttributeChanged { attribute: a, old_base, new_base, .. }
                    if a == attribute && old_base != new_base)
        };
        self.facts.range(..to).rev().filter(wrote).take(MAX_WRITES).collect()
    }
}

/// Returns whether the log contains a fact of a client: a prediction that the client undid, or a step of a capability
/// that runs on the client only. Confirmed and replicated facts are already in the log as facts of the server.
fn is_of_client(fact: &Fact, certainty: Certainty) -> bool {
    match certainty {
        Certainty::Undone => true,
        Certainty::Local => matches!(fact.kind, FactKind::Capability { .. }),
        Certainty::Predicted | Certainty::Confirmed | Certainty::Unknown | Certainty::Server => false,
    }
}

/// Returns the newest facts in ascending order: those of the requested actors and all deaths, or all facts.
fn newest<'t>(
    recorded: impl DoubleEndedIterator<Item = &'t RecordedFact>,
    about: Option<&[String]>,
    names: &Names,
    most: usize,
) -> Vec<&'t RecordedFact> {
    let about = about.map(|about| about.iter().filter_map(|n| names.id(n)).collect::<Vec<_>>());
    let wanted = |t: &&RecordedFact| {
        let died = matches!(t.fact.kind, FactKind::Died { .. });
        about.as_ref().is_none_or(|about| died || about.contains(&t.fact.who))
    };
    let mut newest: Vec<&RecordedFact> = recorded.rev().filter(wanted).take(most).collect();
    newest.reverse();
    newest
}

/// A write of a base value.
#[derive(Debug, Serialize)]
struct BaseWrite {
    serial: u64,
    tick: u32,
    by: f64,
    now: f64,
    effect: Option<String>,
    from: Option<String>,
}

/// Converts a fact to a write.
fn write(recorded: &RecordedFact, names: &Names, sim: &Sim) -> BaseWrite {
    let (by, now) = if let FactKind::AttributeChanged { old_base, new_base, .. } = recorded.fact.kind {
        (new_base - old_base, new_base)
    } else {
        (0.0, 0.0)
    };
    let effect = sim.effect_name(recorded.fact.effect).map(str::to_owned);
    let from = recorded.fact.source.some().map(|who| names.name(who));
    BaseWrite { serial: recorded.serial, tick: recorded.tick, by, now, effect, from }
}

/// An event as a page shows it.
#[derive(Debug, Serialize)]
pub(crate) struct EventLine<'t> {
    serial: u64,
    tick: u32,
    client: Option<&'t str>,
    certainty: Option<String>,
    who: String,
    kind: &'static str,
    text: String,
    #[serde(flatten)]
    changed: Option<ChangedValue<'t>>,
}

/// An attribute and its new value.
#[derive(Debug, Serialize)]
struct ChangedValue<'t> {
    attribute: Option<&'t str>,
    value: f64,
}

/// Converts a fact to an event.
pub(crate) fn line<'t>(recorded: &'t RecordedFact, names: &Names, sim: &'t Sim) -> EventLine<'t> {
    let changed = if let FactKind::AttributeChanged { attribute, new, .. } = recorded.fact.kind {
        Some(ChangedValue { attribute: sim.rules().attribute_name(attribute), value: new })
    } else {
        None
    };
    EventLine {
        serial: recorded.serial,
        tick: recorded.tick,
        client: recorded.client.as_deref(),
        certainty: recorded.certainty.map(|c| format!("{c:?}")),
        who: names.name(recorded.fact.who),
        kind: recorded.fact.kind.name(),
        text: explain::describe_fact(names, sim, &recorded.fact),
        changed,
    }
}
