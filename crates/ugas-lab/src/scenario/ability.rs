//! Verbs about abilities: granting, activating, ending, inputs, events and the answers of a host.

use super::fields::{Fields, Name, Reading};
use super::verbs::hit_of;
use super::{HitDef, Step, Verb, for_each_step};
use ugas_data::{Entry, Node, NodeValue, ReadError};

/// The ability, grant, activation or ability set that a verb selects.
#[derive(Clone, Debug)]
pub(crate) enum Pick {
    Ability(Name),
    Input(Name),
    Handle(Name),
    Set(Name),
}

/// The target of an activation.
#[derive(Clone, Debug)]
pub(crate) enum Aim {
    Nothing,
    Actor(Name),
    Point([f64; 3]),
}

/// An actor and one of its abilities.
#[derive(Clone, Debug)]
pub(crate) struct AbilitySelector {
    /// The actor; `None` if a handle selects the ability, since a handle contains its actor.
    pub(crate) actor: Option<Name>,
    pub(crate) pick: Pick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Cancel,
    End,
    Commit,
}

#[derive(Clone, Debug)]
pub(crate) enum AbilityVerb {
    Grant { actor: Name, what: Pick, level: u32, input: Option<Name>, handle: Option<Name> },
    Revoke(AbilitySelector),
    Activate { of: AbilitySelector, aim: Aim, handle: Option<Name> },
    Stop { how: Stop, of: AbilitySelector },
    Interrupt { actor: Option<Name>, what: Option<Pick> },
    Validate { of: AbilitySelector, ok: bool },
    Event { to: Name, tag: Name, from: Option<Name>, magnitude: f64 },
    Press { actor: Name, input: Name, aim: Aim, handle: Option<Name> },
    Release { actor: Name, input: Name },
    Axis { actor: Name, input: Name, value: [f64; 3] },
    LetGo { actor: Name, input: Option<Name> },
    Complete(Box<Completion>),
    SetParam { of: AbilitySelector, param: Name, value: f64 },
    SetLevel { of: AbilitySelector, level: u32 },
}

/// The host's answer to a task.
#[derive(Clone, Debug)]
pub(crate) struct Completion {
    pub(crate) actor: Name,
    pub(crate) task: Name,
    pub(crate) targets: Vec<Name>,
    pub(crate) hit: Option<HitDef>,
    pub(crate) fail: bool,
    pub(crate) value: f64,
}

/// Parses a verb about abilities; `None` for other verbs.
pub(crate) fn parse(reading: Reading<'_>, entry: &Entry) -> Result<Option<AbilityVerb>, ReadError> {
    let (what, node) = (entry.key.as_str(), &entry.value);
    macro_rules! fields {
        ($($key:literal),*) => { reading.fields(what, node, &[$($key,)* "Refused", "MayRefuse"])? };
    }
    Ok(Some(match what {
        "Grant" => {
            let f = fields!("Actor", "Ability", "AbilitySet", "Level", "InputID", "As");
            AbilityVerb::Grant {
                actor: f.name("Actor")?,
                what: need_pick(&f, &["Ability", "AbilitySet"])?,
                level: f.count_if("Level")?.unwrap_or(1),
                input: f.name_if("InputID")?,
                handle: f.name_if("As")?,
            }
        }
        "Revoke" => {
            let f = fields!("Actor", "Ability", "AbilitySet", "Handle");
            AbilityVerb::Revoke(of(&f, &["Ability", "AbilitySet", "Handle"])?)
        }
        "Activate" => {
            let f = fields!("Actor", "Ability", "InputID", "Handle", "Target", "Point", "As");
            let of = of(&f, &["Ability", "InputID", "Handle"])?;
            AbilityVerb::Activate { of, aim: aim(&f)?, handle: f.name_if("As")? }
        }
        "Cancel" | "End" | "Commit" => {
            let f = fields!("Actor", "Ability", "Handle");
            let how = match what {
                "Cancel" => Stop::Cancel,
                "End" => Stop::End,
                _ => Stop::Commit,
            };
            AbilityVerb::Stop { how, of: of(&f, &["Ability", "Handle"])? }
        }
        "Interrupt" => {
            let f = fields!("Actor", "Ability", "Handle");
            let what = pick(&f, &["Ability", "Handle"])?;
            let actor = match what {
                Some(Pick::Handle(_)) => f.name_if("Actor")?,
                _ => Some(f.name("Actor")?),
            };
            AbilityVerb::Interrupt { actor, what }
        }
        "Validate" => {
            let f = fields!("Actor", "Ability", "Handle", "Ok");
            AbilityVerb::Validate { of: of(&f, &["Ability", "Handle"])?, ok: reading.flag("Ok", f.need("Ok")?)? }
        }
        "Event" => {
            let f = fields!("To", "Tag", "From", "Magnitude");
            AbilityVerb::Event {
                to: f.name("To")?,
                tag: f.name("Tag")?,
                from: f.name_if("From")?,
                magnitude: number_if(&f, "Magnitude")?.unwrap_or(0.0),
            }
        }
        "Press" => {
            let f = fields!("Actor", "InputID", "Target", "Point", "As");
            let (actor, input) = (f.name("Actor")?, f.name("InputID")?);
            AbilityVerb::Press { actor, input, aim: aim(&f)?, handle: f.name_if("As")? }
        }
        "Release" => {
            let f = fields!("Actor", "InputID");
            AbilityVerb::Release { actor: f.name("Actor")?, input: f.name("InputID")? }
        }
        "Axis" => {
            let f = fields!("Actor", "InputID", "Value");
            let value = axis_of(reading, f.need("Value")?)?;
            AbilityVerb::Axis { actor: f.name("Actor")?, input: f.name("InputID")?, value }
        }
        "LetGo" => {
            let f = fields!("Actor", "InputID");
            AbilityVerb::LetGo { actor: f.name("Actor")?, input: f.name_if("InputID")? }
        }
        "Complete" => {
            let f = fields!("Actor", "Task", "Targets", "Hit", "Fail", "Value");
            AbilityVerb::Complete(Box::new(Completion {
                actor: f.name("Actor")?,
                task: f.name("Task")?,
                targets: f.names_if("Targets")?,
                hit: f.get("Hit").map(|n| hit_of(reading, n)).transpose()?,
                fail: f.flag_if("Fail")?.unwrap_or(false),
                value: number_if(&f, "Value")?.unwrap_or(0.0),
            }))
        }
        "Set" => {
            let f = fields!("Actor", "Ability", "Handle", "Param", "Value", "Level");
            let of = of(&f, &["Ability", "Handle"])?;
            match (f.name_if("Param")?, f.count_if("Level")?) {
                (Some(param), None) => {
                    AbilityVerb::SetParam { of, param, value: reading.number("Value", f.need("Value")?)? }
                }
                (None, Some(level)) => AbilityVerb::SetLevel { of, level },
                _ => return Err(reading.error(node, "Set: write Param and Value, or Level")),
            }
        }
        _ => return Ok(None),
    }))
}

/// Reads the value of an axis: one number, or a list of one to three numbers.
fn axis_of(reading: Reading<'_>, node: &Node) -> Result<[f64; 3], ReadError> {
    let mut value = [0.0; 3];
    if !matches!(node.value, NodeValue::List(_)) {
        value[0] = reading.number("Value", node)?;
        return Ok(value);
    }
    let list = reading.list("Value", node)?;
    if list.len() > value.len() {
        return Err(reading.error(node, format!("Value: expected one to three numbers, found {}", list.len())));
    }
    for (place, node) in value.iter_mut().zip(list) {
        *place = reading.number("Value", node)?;
    }
    Ok(value)
}

fn number_if(f: &Fields<'_>, key: &str) -> Result<Option<f64>, ReadError> {
    f.get(key).map(|n| f.reading.number(key, n)).transpose()
}

/// Returns the selection by the first of these keys that is present.
fn pick(f: &Fields<'_>, keys: &[&str]) -> Result<Option<Pick>, ReadError> {
    let mut found = None;
    for &key in keys {
        let Some(name) = f.name_if(key)? else { continue };
        let pick = match key {
            "Ability" => Pick::Ability(name),
            "InputID" => Pick::Input(name),
            "AbilitySet" => Pick::Set(name),
            _ => Pick::Handle(name),
        };
        if found.replace(pick).is_some() {
            return Err(f.reading.error(f.node, format!("write one of {}", keys.join(", "))));
        }
    }
    Ok(found)
}

fn need_pick(f: &Fields<'_>, keys: &[&str]) -> Result<Pick, ReadError> {
    pick(f, keys)?.ok_or_else(|| f.reading.error(f.node, format!("write one of {}", keys.join(", "))))
}

fn of(f: &Fields<'_>, keys: &[&str]) -> Result<AbilitySelector, ReadError> {
    let pick = need_pick(f, keys)?;
    let actor = match pick {
        Pick::Handle(_) => f.name_if("Actor")?,
        Pick::Ability(_) | Pick::Input(_) | Pick::Set(_) => Some(f.name("Actor")?),
    };
    Ok(AbilitySelector { actor, pick })
}

fn aim(f: &Fields<'_>) -> Result<Aim, ReadError> {
    match (f.name_if("Target")?, f.vector_if("Point")?) {
        (None, None) => Ok(Aim::Nothing),
        (Some(actor), None) => Ok(Aim::Actor(actor)),
        (None, Some(point)) => Ok(Aim::Point(point)),
        _ => Err(f.reading.error(f.node, "write Target or Point, not both")),
    }
}

impl AbilityVerb {
    /// Returns the `As` name of its result.
    pub(crate) fn handle(&self) -> Option<&Name> {
        match self {
            AbilityVerb::Grant { handle, .. }
            | AbilityVerb::Activate { handle, .. }
            | AbilityVerb::Press { handle, .. } => handle.as_ref(),
            AbilityVerb::Revoke(_)
            | AbilityVerb::Stop { .. }
            | AbilityVerb::Interrupt { .. }
            | AbilityVerb::Validate { .. }
            | AbilityVerb::Event { .. }
            | AbilityVerb::Release { .. }
            | AbilityVerb::Axis { .. }
            | AbilityVerb::LetGo { .. }
            | AbilityVerb::Complete(_)
            | AbilityVerb::SetParam { .. }
            | AbilityVerb::SetLevel { .. } => None,
        }
    }

    /// Returns the tags that it refers to.
    pub(crate) fn tags(&self) -> Vec<&Name> {
        match self {
            AbilityVerb::Event { tag, .. } => vec![tag],
            AbilityVerb::Complete(c) => c.hit.iter().flat_map(|h| &h.tags).collect(),
            AbilityVerb::Grant { .. }
            | AbilityVerb::Revoke(_)
            | AbilityVerb::Activate { .. }
            | AbilityVerb::Stop { .. }
            | AbilityVerb::Interrupt { .. }
            | AbilityVerb::Validate { .. }
            | AbilityVerb::Press { .. }
            | AbilityVerb::Release { .. }
            | AbilityVerb::Axis { .. }
            | AbilityVerb::LetGo { .. }
            | AbilityVerb::SetParam { .. }
            | AbilityVerb::SetLevel { .. } => Vec::new(),
        }
    }
}

/// The inputs that verbs name.
pub(crate) fn inputs_in<'a>(steps: &'a [Step], into: &mut Vec<&'a Name>) {
    for_each_step(steps, &mut |step| {
        let Verb::Ability(verb) = &step.verb else { return };
        if let AbilityVerb::Grant { input: Some(input), .. }
        | AbilityVerb::Activate { of: AbilitySelector { pick: Pick::Input(input), .. }, .. }
        | AbilityVerb::Press { input, .. }
        | AbilityVerb::Release { input, .. }
        | AbilityVerb::Axis { input, .. }
        | AbilityVerb::LetGo { input: Some(input), .. } = verb
        {
            into.push(input)
        }
    });
}
