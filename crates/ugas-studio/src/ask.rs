//! Questions: why a number is what it is, and what caused something.

use crate::Names;
use serde::Serialize;
use ugas_core::{AttributeId, CauseLink, CauseWhat, ControllerId, Explanation, Fact, ModifierLine, ModifierState, Sim};
use ugas_doc::Operation;

/// Where a number comes from.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Why {
    #[serde(skip)]
    pub(crate) attribute: AttributeId,
    /// One line: `18 = 10 × 1.50 (Might 50, brann.yaml:48) × 1.20 (GE_EmberBlade, equipment.yaml:12)`.
    pub(crate) text: String,
    pub(crate) value: f64,
    pub(crate) base: f64,
    pub(crate) bounds: (Option<f64>, Option<f64>),
    pub(crate) lines: Vec<Line>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) does: &'static str,
    pub(crate) magnitude: f64,
    pub(crate) effect: String,
    pub(crate) by: Option<String>,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    pub(crate) channel: Option<String>,
    pub(crate) follows: Option<(String, f64)>,
    /// The file and the line in it.
    pub(crate) place: Option<(String, u32)>,
    pub(crate) counts: bool,
    /// Why not, if it does not count.
    pub(crate) note: Option<&'static str>,
}

/// One step of a chain of causes, the nearest first.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Step {
    pub(crate) text: String,
    pub(crate) who: String,
    pub(crate) tick: u32,
    pub(crate) kind: &'static str,
}

/// The explanation of an attribute on a side.
pub(crate) fn why(names: &Names, sim: &Sim, who: ControllerId, attribute: &str) -> Result<Why, String> {
    let rules = sim.rules();
    let id = rules.attribute(attribute).map_err(|unknown| unknown.to_string())?;
    let e = sim.explain(who, id).map_err(|r| r.describe(rules))?;
    let finite = |v: f64| Some(v).filter(|v| v.is_finite());
    Ok(Why {
        attribute: id,
        text: sentence(&e),
        value: e.value,
        base: e.base,
        bounds: (finite(e.bounds.0), finite(e.bounds.1)),
        lines: e.lines.iter().map(|l| line(names, l)).collect(),
    })
}

/// A number for people, as the pages write it: two places after the point at most, and none that says nothing.
fn number(v: f64) -> String {
    let unit = if v.abs() >= 1000.0 { 1.0 } else { 100.0 };
    // Nought is nought, from whichever side.
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
        text += &format!(", held between {} and {}", number(e.bounds.0), number(e.bounds.1));
    }
    if e.lines.is_empty() && e.derived {
        text += " (computed from other attributes)";
    }
    text
}

fn short(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn place_of(line: &ModifierLine) -> Option<(String, u32)> {
    line.origin.as_ref().map(|o| (o.file.to_string(), o.line))
}

fn line(names: &Names, l: &ModifierLine) -> Line {
    let note = match l.state {
        ModifierState::Counts => None,
        ModifierState::Hidden => Some("hidden by a stronger one"),
        ModifierState::Inhibited => Some("inhibited"),
        ModifierState::Filtered => Some("its tags do not fit now"),
        ModifierState::NotFinite => Some("not a finite number now"),
    };
    Line {
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

/// What led to a fact, the nearest cause first, down to the key that was pressed.
pub(crate) fn chain(names: &Names, sim: &Sim, fact: &Fact) -> Vec<Step> {
    let mut steps = vec![Step {
        text: in_words(names, sim, fact),
        who: names.name(fact.who),
        tick: tick_of(fact.at),
        kind: fact.kind.name(),
    }];
    for link in sim.chain(fact.link) {
        // Behind a key there is only the order that brought it here.
        if link.what == CauseWhat::Op && steps.len() > 1 {
            break;
        }
        steps.push(step(names, sim, &link));
    }
    steps
}

/// A fact without its time, with names.
pub(crate) fn in_words(names: &Names, sim: &Sim, fact: &Fact) -> String {
    const WORD: &str = "controller ";
    let text = fact.describe(sim.rules());
    let text = text.split_once(": ").map_or(text.as_str(), |(_, rest)| rest);
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
    (at.as_seconds() * f64::from(crate::stage::RATE)).round() as u32
}

fn step(names: &Names, sim: &Sim, link: &CauseLink) -> Step {
    let rules = sim.rules();
    let effect = |id| sim.effect_name(id).unwrap_or("?").to_owned();
    let ability = |id| rules.ability_name(id).unwrap_or("?").to_owned();
    let input = |id| rules.input_name(id).unwrap_or("?").to_owned();
    let (kind, text) = match link.what {
        CauseWhat::Op => ("op", "an order from outside".to_owned()),
        CauseWhat::Applied(id) => ("applied", format!("{} was applied", effect(id))),
        CauseWhat::Executed(id) => ("executed", format!("{} fell due", effect(id))),
        CauseWhat::Expired(id) => ("expired", format!("{} ran out", effect(id))),
        CauseWhat::Removed(id) => ("removed", format!("{} was removed", effect(id))),
        CauseWhat::Activated(id) => ("activated", format!("{} was used", ability(id))),
        CauseWhat::Ended(id) => ("ended", format!("{} ended", ability(id))),
        CauseWhat::Pressed(id) => ("pressed", format!("{} was pressed", input(id))),
        CauseWhat::Released(id) => ("released", format!("{} was let go", input(id))),
        CauseWhat::Reload => ("reload", "the documents changed".to_owned()),
    };
    let by = link.source.some().unwrap_or(link.who);
    Step { text, who: names.name(by), tick: tick_of(link.at), kind }
}
