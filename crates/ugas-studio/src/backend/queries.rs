//! Requests that read the recording: explanations, reasons, previews, events, causes and links.

use super::{Backend, event_log, observer_of};
use crate::recording::World;
use crate::session::{Action, Input};
use crate::{capability, explain, preview};
use serde_json::{Value, json};

impl Backend {
    /// Explains the value of an attribute on the server or on a client.
    pub(super) fn explain(&self, side: Option<&str>, who: &str, attribute: &str) -> Result<Value, String> {
        let session = self.recording.world();
        let observer = observer_of(session, side)?;
        let who = session.who(who).ok_or_else(|| format!("actor {who} does not exist"))?;
        let why = explain::explain_value(session.names(), observer, who, attribute)?;
        // Writes are facts of the server that a client may not have received yet.
        Ok(match side {
            None => self.event_log.with_writes(why, session.names(), session.sim(), who, session.tick()),
            Some(_) => json!(why),
        })
    }

    /// Returns the reasons why a capability is not active on the server or on a client.
    pub(super) fn why_not(&self, side: Option<&str>, who: &str, class: &str) -> Result<Value, String> {
        let session = self.recording.world();
        let observer = observer_of(session, side)?;
        let id = session.who(who).ok_or_else(|| format!("actor {who} does not exist"))?;
        let (docs, hosts) = (session.capability_docs(), session.block_names());
        let reasons = capability::why_not(session.names(), observer, id, class, docs, &hosts)?;
        Ok(json!({ "tick": session.tick(), "reasons": reasons }))
    }

    /// Previews an action at the current tick, on the server or on a client.
    pub(super) fn preview(&self, side: Option<&str>, action: &Action) -> Result<Value, String> {
        let session = self.recording.world();
        let preview = preview::preview(session.names(), observer_of(session, side)?, action)?;
        Ok(json!({ "tick": session.tick(), "preview": preview }))
    }

    /// Returns the newest events up to the current tick.
    pub(super) fn history(&self, about: Option<&[String]>) -> Value {
        let session = self.recording.world();
        let recorded = self.event_log.until(session.tick(), about, session.names());
        recorded.into_iter().map(|fact| json!(event_log::line(fact, session.names(), session.sim()))).collect()
    }

    /// Returns the chain of causes of an event.
    pub(super) fn causes(&self, serial: u64) -> Result<Value, String> {
        let recorded = self.event_log.find(serial).ok_or("this event is no longer in the log; select a newer event")?;
        let session = self.recording.at(recorded.tick);
        Ok(json!(explain::chain(session.names(), session.sim(), &recorded.fact)))
    }

    /// Returns the content of a link to the current tick.
    pub(super) fn permalink(&self) -> Value {
        let (session, now) = (self.recording.world(), self.recording.world().tick());
        let counts = |(at, input): &&(u32, Input)| *at <= now && *input != Input::Resume;
        let inputs: Vec<_> = self.recording.inputs().iter().filter(counts).collect();
        json!({ "seed": session.seed(), "scenario": self.shown(), "tick": now, "inputs": inputs })
    }
}
