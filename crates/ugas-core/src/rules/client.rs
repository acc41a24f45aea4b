//! What the owning client may do while a task waits: the parameters `ClientAnswers`, `ClientAnswersAfter` and
//! `ClientEffects`, which every waiting task has. Without them, a client may answer only tasks of the types that are
//! made for the answer of a player, and may apply no effect.

use super::param::{Fields, shown};
use super::task::Num;
use crate::{EffectId, SimTime};
use ugas_doc::{NetExecution, Value};

/// The highest `Total` of a budget.
const MAX_TOTAL: u32 = 1000;
/// The highest number of effects of one task.
const MAX_EFFECTS: usize = 16;

/// A constant time of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Delay {
    Time(SimTime),
    Frames(u32),
}

impl Delay {
    /// Returns the time, for a sim with this frame length.
    pub(crate) fn length(self, frame: SimTime) -> SimTime {
        match self {
            Delay::Time(time) => time,
            Delay::Frames(n) => SimTime(frame.0.saturating_mul(i64::from(n)).min(SimTime::LONGEST.0)),
        }
    }
}

/// How often the owning client may apply an effect in one activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClientEffect {
    pub(crate) effect: EffectId,
    pub(crate) total: u32,
    pub(crate) per_target: u32,
}

/// What the owning client may do while a task waits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClientAccess {
    /// Whether the client may answer the task.
    pub(crate) answers: bool,
    /// The earliest time of the client's answer, counted from the start of the task.
    pub(crate) answers_after: Option<Delay>,
    /// The effects that the client may apply.
    pub(crate) effects: Box<[ClientEffect]>,
}

/// The properties of a task that decide which of the parameters can have an effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientTask {
    pub(crate) net: NetExecution,
    /// Whether a client may answer tasks of this type by default.
    pub(crate) answers: bool,
    pub(crate) is_host_answered: bool,
    pub(crate) ticks: bool,
}

impl ClientAccess {
    /// Parses the parameters. Reports parameters that can never have an effect.
    pub(crate) fn parse(f: &mut Fields<'_, '_, '_>, task: ClientTask) -> ClientAccess {
        let answers = f.flag("ClientAnswers", task.answers);
        let after = f.time("ClientAnswersAfter");
        let is_allowed = f.has("ClientAnswers") && answers;
        if (is_allowed || after.is_some()) && !task.is_host_answered {
            let name = if is_allowed { "ClientAnswers" } else { "ClientAnswersAfter" };
            f.bad(name, "the engine does not answer this task, so a client cannot answer it; remove it".into());
        } else if after.is_some() && !answers {
            f.bad("ClientAnswersAfter", "a client may not answer this task; write ClientAnswers: true".into());
        } else if after.is_some() && task.ticks {
            f.bad("ClientAnswersAfter", "the task ticks and has no start time; wait with WaitDelay before it".into());
        }
        if is_allowed && !is_for_clients(task.net) {
            f.bad("ClientAnswers", format!("clients send no requests for a {:?} ability; remove it", task.net));
        }
        let answers_after = after.and_then(|after| delay(f, &after));
        ClientAccess { answers, answers_after, effects: client_effects(f, task.net) }
    }

    /// Returns the budget of an effect.
    pub(crate) fn effect(&self, effect: EffectId) -> Option<&ClientEffect> {
        self.effects.iter().find(|e| e.effect == effect)
    }
}

/// Returns whether clients send requests for an ability with this policy.
fn is_for_clients(net: NetExecution) -> bool {
    match net {
        NetExecution::LocalPredicted | NetExecution::ServerInitiated | NetExecution::LocalOnly => true,
        NetExecution::ServerOnly => false,
    }
}

fn delay(f: &mut Fields<'_, '_, '_>, after: &Num) -> Option<Delay> {
    let delay = match after {
        Num::Value(seconds) => SimTime::try_seconds(*seconds).map(Delay::Time),
        Num::Frames(n) => Some(Delay::Frames(*n)),
        Num::Expr(_) => None,
    };
    if delay.is_none() {
        f.bad("ClientAnswersAfter", "expected seconds such as 0.5, or frames such as 12f".into());
    }
    delay
}

/// Reads `ClientEffects: [{EffectClass, Total, PerTarget}]`.
fn client_effects(f: &mut Fields<'_, '_, '_>, net: NetExecution) -> Box<[ClientEffect]> {
    const NAME: &str = "ClientEffects";
    let Some(list) = f.list(NAME) else { return Box::default() };
    if !is_for_clients(net) {
        f.bad(NAME, format!("clients send no requests for a {net:?} ability; remove it"));
    }
    if list.len() > MAX_EFFECTS {
        f.bad(NAME, format!("expected at most {MAX_EFFECTS} effects, found {}", list.len()));
        return Box::default();
    }
    let mut effects: Vec<ClientEffect> = Vec::with_capacity(list.len());
    for (i, entry) in list.iter().enumerate() {
        let place = format!("{NAME}[{i}]");
        let Value::Map(map) = entry else {
            f.bad(&place, format!("expected a map such as {{EffectClass: GE_Hit, Total: 3}}, found {}", shown(entry)));
            continue;
        };
        for key in map.keys().filter(|k| !["EffectClass", "Total", "PerTarget"].contains(&k.as_str())) {
            f.bad(&format!("{place}.{key}"), "unknown field; the fields are EffectClass, Total, PerTarget".into());
        }
        let Some(Value::Text(name)) = map.get("EffectClass") else {
            f.bad(&format!("{place}.EffectClass"), "missing; a budget needs the name of an effect".into());
            continue;
        };
        let Some(effect) = f.effect_named(&format!("{place}.EffectClass"), name) else { continue };
        if f.is_for_authority(effect) {
            f.bad(&format!("{place}.EffectClass"), format!("only the server may apply {name}; remove it"));
        }
        if effects.iter().any(|e| e.effect == effect) {
            f.bad(&format!("{place}.EffectClass"), format!("{name} is in the list twice; remove one entry"));
        }
        let per_target = budget(f, &format!("{place}.PerTarget"), map.get("PerTarget"), 1);
        let total = budget(f, &format!("{place}.Total"), map.get("Total"), per_target);
        if per_target > total {
            f.bad(&format!("{place}.PerTarget"), format!("{per_target} is above the Total of {total}; write less"));
        }
        effects.push(ClientEffect { effect, total, per_target });
    }
    effects.into()
}

fn budget(f: &mut Fields<'_, '_, '_>, place: &str, value: Option<&Value>, default: u32) -> u32 {
    match value {
        None | Some(Value::Null) => default,
        Some(Value::Number(n)) if n.fract() == 0.0 && (1.0..=f64::from(MAX_TOTAL)).contains(n) => *n as u32,
        Some(other) => {
            f.bad(place, format!("expected a whole number from 1 to {MAX_TOTAL}, found {}", shown(other)));
            default
        }
    }
}
