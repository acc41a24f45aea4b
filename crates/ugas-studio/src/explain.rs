//! Explanations of attribute values, and chains of causes.

use crate::Names;
use crate::observer::Observer;
use serde::Serialize;
use ugas_core::{AttributeId, CauseLink, CauseWhat, ControllerId, Explanation, Fact, ModifierLine, ModifierState, Sim};
use ugas_doc::Operation;
use ugas_net::client::ClientExplanation;

/// An explained attribute value.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ValueExplanation {
    #[serde(skip)]
    pub(crate) attribute: AttributeId,
    /// One line: `18 = 10 × 1.50 (Might 50, brann.yaml:48) × 1.20 (GE_EmberBlade, equipment.yaml:12)`.
    pub(crate) text: String,
    /// The value; `None` if it is not replicated to the client. The same applies to the fields below.
    pub(crate) value: Option<f64>,
    pub(crate) base: Option<f64>,
    pub(crate) bounds: Option<(Option<f64>, Option<f64>)>,
    pub(crate) lines: Option<Vec<ModifierRow>>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ModifierRow {
    pub(crate) does: &'static str,
    pub(crate) magnitude: f64,
    pub(crate) effect: String,
    pub(crate) by: Option<String>,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    pub(crate) channel: Option<String>,
    pub(crate) follows: Option<(String, f64)>,
    /// File and line of the modifier.
    pub(crate) place: Option<(String, u32)>,
    pub(crate) counts: bool,
    /// Why the modifier does not apply; `None` if it applies.
    pub(crate) note: Option<&'static str>,
}

/// One step of a chain of causes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CauseStep {
    pub(crate) text: String,
    pub(crate) who: String,
    pub(crate) tick: u32,
    pub(crate) kind: &'static str,
}

/// Explains an attribute with the state that is replicated to an observer.
pub(crate) fn explain_value(
    names: &Names,
    observer: Observer<'_>,
    who: ControllerId,
    attribute: &str,
) -> Result<ValueExplanation, String> {
    let rules = observer.sim().rules();
    let id = rules.attribute(attribute).map_err(|unknown| unknown.to_string())?;
    let unknown =
        |text: String, value| ValueExplanation { attribute: id, text, value, base: None, bounds: None, lines: None };
    Ok(match observer.explain(who, id).map_err(|r| r.describe(rules))? {
        ClientExplanation::Full(e) => full(names, &e),
        ClientExplanation::ValueOnly { value, replicated } => unknown(replicated_value(value, replicated), Some(value)),
        ClientExplanation::Hidden => {
            unknown("–: not replicated to this client; explain the value on the server".to_owned(), None)
        }
    })
}

fn full(names: &Names, e: &Explanation) -> ValueExplanation {
    let finite = |v: f64| Some(v).filter(|v| v.is_finite());
    ValueExplanation {
        attribute: e.attribute,
        text: sentence(e),
        value: Some(e.value),
        base: Some(e.base),
        bounds: Some((finite(e.bounds.0), finite(e.bounds.1))),
        lines: Some(e.lines.iter().map(|l| line(names, l)).collect()),
    }
}

/// Explains a value of a remote actor, whose base value and modifiers are not replicated to the client.
fn replicated_value(value: f64, replicated: f64) -> String {
    let from = match value == replicated {
        true => format!("{}, replicated from the server", number(value)),
        false => {
            let by = value - replicated;
            let sign = if by < 0.0 { '−' } else { '+' };
            let (value, replicated, by) = (number(value), number(replicated), number(by.abs()));
            format!("{value} = {replicated} replicated from the server {sign} {by} predicted by this client")
        }
    };
    from + "; its base value and modifiers are not replicated"
}

/// Formats a number as the pages do: at most two decimals, no trailing zeros.
fn number(v: f64) -> String {
    let unit = if v.abs() >= 1000.0 { 1.0 } else { 100.0 };
    // Adding 0 turns -0 into 0.
    format!("{}", (v * unit).round() / unit + 0.0)
}

fn sentence(e: &Explanation) -> String {
    let about = |at: &[usize]| {
        let one = |&i: &usize| {
            let l = &e.lines[i];
            let what = match &l.follows {
                Some((name, value)) => format!("{name} {}", number(*value)),
                None => l.effect_name.clone(),
            };
            place_of(l).map_or(what.clone(), |(file, line)| format!("{what}, {}:{line}", short(&file)))
        };
        at.iter().map(one).collect::<Vec<_>>().join("; ")
    };
    let counting = |operation: Operation| -> Vec<usize> {
        let counts = |l: &&ModifierLine| l.operation == operation && l.state == ModifierState::Counts;
        (0..e.lines.len()).filter(|&i| counts(&&e.lines[i])).collect()
    };
    let mut text = format!("{} = ", number(e.value));
    if let Some(over) = e.over {
        return text + &format!("{} ({})", number(over), about(&counting(Operation::Override)));
    }
    let add = counting(Operation::Add);
    text += &match add.is_empty() {
        true => number(e.base),
        false => format!("({} + {} ({}))", number(e.base), number(e.add), about(&add)),
    };
    for channel in &e.channels {
        text += &format!(" × {:.2} ({})", channel.factor, about(&channel.lines));
    }
    let post = counting(Operation::AddPost);
    if !post.is_empty() {
        text += &format!(" + {} ({})", number(e.post), about(&post));
    }
    let unclamped = (e.base + e.add) * e.product + e.post;
    if unclamped != e.value {
        text += &format!(", clamped to {} to {}", number(e.bounds.0), number(e.bounds.1));
    }
    if let Some(expression) = e.derived.as_ref().filter(|_| e.lines.is_empty()) {
        text += &format!(" (derived: {expression})");
    }
    text
}

fn short(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn place_of(line: &ModifierLine) -> Option<(String, u32)> {
    line.origin.as_ref().map(|o| (o.file.to_string(), o.line))
}

fn line(names: &Names, l: &ModifierLine) -> ModifierRow {
    let note = match l.state {
        ModifierState::Counts => None,
        ModifierState::Hidden => Some("overridden by a stronger modifier"),
        ModifierState::Inhibited => Some("inhibited"),
        ModifierState::Filtered => Some("its tag requirements are not met"),
        ModifierState::NotFinite => Some("not a finite number"),
    };
    ModifierRow {
        does: match l.operation {
            Operation::Add => "add",
            Operation::Multiply => "multiply",
            Operation::AddPost => "add after",
            Operation::Override => "override",
        },
        magnitude: l.magnitude,
        effect: l.effect_name.clone(),
        by: l.source.some().map(|by| names.name(by)),
        level: l.level,
        stacks: l.stacks,
        channel: l.channel.clone(),
        follows: l.follows.clone(),
        place: place_of(l),
        counts: note.is_none(),
        note,
    }
}

/// Returns the causes of a fact, the direct cause first, back to the input.
pub(crate) fn chain(names: &Names, sim: &Sim, fact: &Fact) -> Vec<CauseStep> {
    let mut steps = vec![CauseStep {
        text: describe_fact(names, sim, fact),
        who: names.name(fact.who),
        tick: tick_of(fact.at),
        kind: fact.kind.name(),
    }];
    for link in sim.chain(fact.link) {
        // The chain ends at the input; the op that contained the input is left out.
        if link.what == CauseWhat::Op && steps.len() > 1 {
            break;
        }
        steps.push(step(names, sim, &link));
    }
    steps
}

/// Describes a fact without its time, with the names of actors.
pub(crate) fn describe_fact(names: &Names, sim: &Sim, fact: &Fact) -> String {
    let text = fact.describe(sim.rules());
    with_names(names, text.split_once(": ").map_or(text.as_str(), |(_, rest)| rest))
}

/// Replaces the ids of controllers in a text, such as `controller 3`, by their names.
pub(crate) fn with_names(names: &Names, text: &str) -> String {
    const WORD: &str = "controller ";
    let mut parts = text.split(WORD);
    let mut named = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        match part[..digits].parse() {
            Ok(id) => named += &names.name(ControllerId(id)),
            Err(_) => named += WORD,
        }
        named += &part[digits..];
    }
    named
}

fn tick_of(at: ugas_core::SimTime) -> u32 {
    (at.as_seconds() * f64::from(crate::session::RATE)).round() as u32
}

fn step(names: &Names, sim: &Sim, link: &CauseLink) -> CauseStep {
    let rules = sim.rules();
    let effect = |id| sim.effect_name(id).unwrap_or("?").to_owned();
    let ability = |id| rules.ability_name(id).unwrap_or("?").to_owned();
    let input = |id| rules.input_name(id).unwrap_or("?").to_owned();
    let (kind, text) = match link.what {
        CauseWhat::Op => ("op", "op of the host".to_owned()),
        CauseWhat::Applied(id) => ("applied", format!("{} was applied", effect(id))),
        CauseWhat::Executed(id) => ("executed", format!("{} executed", effect(id))),
        CauseWhat::Expired(id) => ("expired", format!("{} expired", effect(id))),
        CauseWhat::Removed(id) => ("removed", format!("{} was removed", effect(id))),
        CauseWhat::Activated(id) => ("activated", format!("{} was activated", ability(id))),
        CauseWhat::Ended(id) => ("ended", format!("{} ended", ability(id))),
        CauseWhat::Pressed(id) => ("pressed", format!("{} was pressed", input(id))),
        CauseWhat::Released(id) => ("released", format!("{} was released", input(id))),
        CauseWhat::Reload => ("reload", "documents reloaded".to_owned()),
    };
    let by = link.source.some().unwrap_or(link.who);
    CauseStep { text, who: names.name(by), tick: tick_of(link.at), kind }
}
