//! What a page is told: once when it opens, and then again and again.

use super::asks::AskFrame;
use super::{Desk, observer_of};
use crate::desk::{figures, told};
use crate::stage::Script;
use crate::tape::World;
use crate::view;
use serde::Serialize;
use serde_json::{Value, json};
use ugas_core::Rules;

/// What a page offers to choose from.
pub(crate) fn names_of(rules: &Rules) -> Value {
    let names = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
    json!({
        "effects": names(rules.effect_list().map(|(_, n)| n).collect()),
        "abilities": names(rules.ability_list().map(|(_, n)| n).collect()),
        "inputs": names(rules.input_list().map(|(_, n)| n).collect()),
        "tags": names(rules.tag_ids().filter_map(|t| rules.tag_name(t)).collect()),
    })
}

impl Desk {
    pub(super) fn hello(&self) -> Value {
        let stage = self.tape.world();
        let mut hello = names_of(stage.library().rules());
        let more = json!({
            "duel": stage.duel_state().is_some(),
            "attached": false,
            "rate": crate::stage::RATE,
            "seed": stage.seed(),
            "categories": stage.names().categories(),
            "files": stage.library().files().map(|s| s.name.to_string()).collect::<Vec<_>>(),
            "scenario": stage.script().map(scenario),
        });
        join(&mut hello, more);
        hello
    }

    pub(super) fn figures(&self) -> Value {
        let stage = self.tape.world();
        let mut answer = Value::Object(figures::of_sim(stage.sim(), &stage.news().tasks));
        let more = json!({
            "step_us": self.step_us,
            "allocations": self.allocations,
            "recorded": self.tape.end() - self.tape.start(),
            "keyframes": self.tape.keyframes(),
        });
        join(&mut answer, more);
        answer
    }

    /// As text: a crowd sixty times a second is too much to be built twice.
    pub(super) fn frame(&mut self, asked: &AskFrame) -> Result<String, String> {
        let hash = self.tape.world_mut().hash();
        let stage = self.tape.world();
        let (round_trip, loss) = stage.link();
        let details: Vec<Value> = asked
            .watch
            .iter()
            .map(|(side, name)| {
                let known = observer_of(stage, side.as_deref()).ok().zip(stage.who(name));
                let detail = known.and_then(|(observer, who)| view::detail(stage.names(), observer, who));
                json!({ "side": side, "name": name, "detail": detail })
            })
            .collect();
        let bytes = match (self.sent.front(), self.sent.back()) {
            (Some((from, first)), Some((to, last))) if to > from => {
                last.saturating_sub(*first) as f64 * f64::from(crate::stage::RATE) / f64::from(to - from)
            }
            _ => 0.0,
        };
        let news = self.chronicle.since(asked, stage.names(), |t| told::line(t, stage.names(), stage.sim()));
        let plain = json!({
            "tick": stage.tick(),
            "start": self.tape.start(),
            "end": self.tape.end(),
            "live": self.tape.is_live(),
            "running": self.running,
            "speed": self.speed,
            "hash": format!("{hash:016x}"),
            "step_us": self.step_us,
            "bytes_a_second": bytes,
            "round_trip": round_trip,
            "loss": loss,
            "taken": stage.duel_state().is_some_and(|d| d.is_taken()),
            "shots": stage.range().map(|r| r.shots_a_minute()),
            "twice": stage.range().map(|r| r.wrong_frames().twice),
            "missing": stage.range().map(|r| r.wrong_frames().missing),
            "done": self.tape.inputs().len(),
            "details": details,
            "serial": self.chronicle.serial(),
            "reloads": self.reloads,
            "pasts": self.pasts,
            "notice": self.notice,
            "saved": self.saved,
        });
        let sides = view::sides(stage, asked.category.as_deref());
        serde_json::to_string(&Frame { plain, sides, news }).map_err(|e| e.to_string())
    }
}

/// What there may be much of, beside the rest.
#[derive(Serialize)]
struct Frame<'t> {
    #[serde(flatten)]
    plain: Value,
    sides: Vec<view::Side>,
    news: Vec<told::Line<'t>>,
}

/// Puts the fields of one object into another.
pub(crate) fn join(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}

/// What came of a scenario, with the ticks at which something did not hold.
fn scenario(script: &Script) -> Value {
    let report = &script.film().report;
    let tick = |at: ugas_core::SimTime| (at.as_seconds() * f64::from(crate::stage::RATE)).ceil() as u32;
    let failures: Vec<Value> = script
        .film()
        .failed
        .iter()
        .filter_map(|(at, i)| Some((tick(*at), report.failures.get(*i)?)))
        .map(|(tick, f)| json!({ "tick": tick, "line": f.line, "message": f.message, "why": f.explanation }))
        .collect();
    let all: Vec<Value> =
        script.names().iter().enumerate().map(|(i, name)| json!({ "key": script.key(i), "name": name })).collect();
    json!({
        "name": report.scenario,
        "key": script.key(script.place()),
        "all": all,
        "own_seed": script.own_seed(),
        "file": &*report.file,
        "line": report.line,
        "end": script.last_tick(),
        "notes": report.notes,
        "failures": failures,
    })
}
