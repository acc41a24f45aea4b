//! The data that a page receives when it opens, and with every frame.

use super::request::FrameRequest;
use super::{Backend, observer_of};
use crate::backend::{event_log, figures};
use crate::capability::CapabilityNotes;
use crate::recording::World;
use crate::session::Script;
use crate::view;
use serde::Serialize;
use serde_json::{Value, json};
use ugas_core::Rules;

/// Returns the names that the input fields of a page suggest.
pub(crate) fn names_of(rules: &Rules) -> Value {
    let names = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
    json!({
        "effects": names(rules.effect_list().map(|(_, n)| n).collect()),
        "abilities": names(rules.ability_list().map(|(_, n)| n).collect()),
        "inputs": names(rules.input_list().map(|(_, n)| n).collect()),
        "sets": names(rules.capability_set_list().map(|(_, n)| n).collect()),
        "tags": names(rules.tag_ids().filter_map(|t| rules.tag_name(t)).collect()),
    })
}

impl Backend {
    pub(super) fn hello(&self) -> Value {
        let session = self.recording.world();
        let mut hello = names_of(session.library().rules());
        let more = json!({
            "duel": session.duel_state().is_some(),
            "attached": false,
            "rate": crate::session::RATE,
            "seed": session.seed(),
            "categories": session.names().categories(),
            "files": session.library().files().map(|s| s.name.to_string()).collect::<Vec<_>>(),
            "scenario": session.script().map(scenario),
        });
        join(&mut hello, more);
        hello
    }

    pub(super) fn figures(&self) -> Value {
        let session = self.recording.world();
        let mut answer = Value::Object(figures::of_sim(session.sim(), &session.tick_facts().tasks));
        let more = json!({
            "step_us": self.step_us,
            "allocations": self.allocations,
            "recorded": self.recording.end() - self.recording.start(),
            "keyframes": self.recording.keyframes(),
        });
        join(&mut answer, more);
        answer
    }

    /// Returns a frame as JSON text. The lists are serialized directly, because building a JSON value first is too slow
    /// with many actors.
    pub(super) fn frame(&mut self, request: &FrameRequest) -> Result<String, String> {
        let hash = self.recording.world_mut().hash();
        let session = self.recording.world();
        let (round_trip, loss) = session.link();
        let hosts = session.block_names();
        let details: Vec<Value> = request
            .watch
            .iter()
            .map(|(side, name)| {
                let known = observer_of(session, side.as_deref()).ok().zip(session.who(name));
                let detail = known.and_then(|(observer, who)| {
                    let steps = self.event_log.last_steps(who, side.as_deref(), session.tick());
                    view::detail(session.names(), observer, who, &CapabilityNotes { hosts: &hosts, steps })
                });
                json!({ "side": side, "name": name, "detail": detail })
            })
            .collect();
        let bytes = match (self.sent.front(), self.sent.back()) {
            (Some((from, first)), Some((to, last))) if to > from => {
                last.saturating_sub(*first) as f64 * f64::from(crate::session::RATE) / f64::from(to - from)
            }
            _ => 0.0,
        };
        let events =
            self.event_log.since(request, session.names(), |t| event_log::line(t, session.names(), session.sim()));
        let plain = json!({
            "tick": session.tick(),
            "start": self.recording.start(),
            "end": self.recording.end(),
            "live": self.recording.is_live(),
            "running": self.running,
            "speed": self.speed,
            "hash": format!("{hash:016x}"),
            "step_us": self.step_us,
            "bytes_a_second": bytes,
            "round_trip": round_trip,
            "loss": loss,
            "player_controlled": session.duel_state().is_some_and(|d| d.is_player_controlled()),
            "shots": session.range().map(|r| r.shots_per_minute()),
            "twice": session.range().map(|r| r.wrong_frames().twice),
            "missing": session.range().map(|r| r.wrong_frames().missing),
            "done": self.recording.inputs().len(),
            "details": details,
            "serial": self.event_log.serial(),
            "reloads": self.reloads,
            "timelines": self.timelines,
            "notice": self.notice,
            "saved": self.saved,
        });
        let sides = view::sides(session, request.category.as_deref());
        serde_json::to_string(&Frame { plain, sides, events }).map_err(|e| e.to_string())
    }
}

/// A frame; its long lists are serialized directly.
#[derive(Serialize)]
struct Frame<'t> {
    #[serde(flatten)]
    plain: Value,
    sides: Vec<view::Side>,
    events: Vec<event_log::EventLine<'t>>,
}

/// Adds the fields of one object to another.
pub(crate) fn join(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}

/// Returns the result of a scenario, with the ticks of its failures.
fn scenario(script: &Script) -> Value {
    let report = &script.run().report;
    let tick = |at: ugas_core::SimTime| (at.as_seconds() * f64::from(crate::session::RATE)).ceil() as u32;
    let failures: Vec<Value> = script
        .run()
        .failed
        .iter()
        .filter_map(|(at, i)| Some((tick(*at), report.failures.get(*i)?)))
        .map(|(tick, f)| json!({ "tick": tick, "line": f.line, "message": f.message, "why": f.explanation }))
        .collect();
    let all: Vec<Value> =
        script.names().iter().enumerate().map(|(i, name)| json!({ "key": script.key(i), "name": name })).collect();
    json!({
        "name": report.scenario,
        "key": script.key(script.index()),
        "all": all,
        "own_seed": script.own_seed(),
        "file": &*report.file,
        "line": report.line,
        "end": script.last_tick(),
        "notes": report.notes,
        "failures": failures,
    })
}
