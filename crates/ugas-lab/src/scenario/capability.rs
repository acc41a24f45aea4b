//! Verbs about capabilities: sets, blocks and switches.

use super::ability::{AbilitySelector, AbilityVerb, Pick};
use super::fields::{Fields, Name, Reading};
use super::{Step, Verb, for_each_step};
use ugas_core::SimTime;
use ugas_data::{Entry, ReadError};

/// The source of a block.
#[derive(Clone, Debug)]
pub(crate) enum BlockedBy {
    /// The host, under a name.
    Host(String),
    Actor(Name),
    /// An applied effect, by its `As` name.
    Effect(Name),
}

#[derive(Clone, Debug)]
pub(crate) enum CapabilityVerb {
    Block { actor: Name, tag: Name, by: BlockedBy },
    Unblock { actor: Name, tag: Name, by: BlockedBy },
    Enable { actor: Name, class: Name, on: bool },
    SetTick { actor: Name, class: Name, ticks: Option<bool>, interval: Option<SimTime> },
}

impl CapabilityVerb {
    pub(crate) fn actor(&self) -> &Name {
        match self {
            CapabilityVerb::Block { actor, .. }
            | CapabilityVerb::Unblock { actor, .. }
            | CapabilityVerb::Enable { actor, .. }
            | CapabilityVerb::SetTick { actor, .. } => actor,
        }
    }

    /// Returns the tag that the verb names.
    pub(crate) fn tag(&self) -> Option<&Name> {
        match self {
            CapabilityVerb::Block { tag, .. } | CapabilityVerb::Unblock { tag, .. } => Some(tag),
            CapabilityVerb::Enable { .. } | CapabilityVerb::SetTick { .. } => None,
        }
    }
}

/// Parses a verb about capabilities; `None` for other verbs. Capability sets are granted and revoked like ability sets.
pub(crate) fn parse(reading: Reading<'_>, entry: &Entry) -> Result<Option<Verb>, ReadError> {
    let (what, node) = (entry.key.as_str(), &entry.value);
    macro_rules! fields {
        ($($key:literal),*) => { reading.fields(what, node, &[$($key,)* "Refused", "MayRefuse"])? };
    }
    Ok(Some(match what {
        "AddCapabilitySet" => {
            let f = fields!("Actor", "Set", "As");
            let (actor, what, handle) = (f.name("Actor")?, Pick::Set(f.name("Set")?), f.name_if("As")?);
            Verb::Ability(AbilityVerb::Grant { actor, what, level: 1, input: None, handle })
        }
        "RemoveCapabilitySet" => {
            let f = fields!("Actor", "Set");
            let (actor, pick) = (Some(f.name("Actor")?), Pick::Set(f.name("Set")?));
            Verb::Ability(AbilityVerb::Revoke(AbilitySelector { actor, pick }))
        }
        "Block" | "Unblock" => {
            let f = fields!("Actor", "Tag", "By", "Source", "Effect");
            let (actor, tag, by) = (f.name("Actor")?, f.name("Tag")?, source_of(&f)?);
            Verb::Capability(match what {
                "Block" => CapabilityVerb::Block { actor, tag, by },
                _ => CapabilityVerb::Unblock { actor, tag, by },
            })
        }
        "Enable" => {
            let f = fields!("Actor", "Class", "Enabled");
            let on = reading.flag("Enabled", f.need("Enabled")?)?;
            Verb::Capability(CapabilityVerb::Enable { actor: f.name("Actor")?, class: f.name("Class")?, on })
        }
        "SetTick" => {
            let f = fields!("Actor", "Class", "CanEverTick", "TickInterval");
            let (ticks, interval) = (f.flag_if("CanEverTick")?, f.time_if("TickInterval")?);
            if ticks.is_none() && interval.is_none() {
                return Err(reading.error(node, "SetTick: write CanEverTick or TickInterval"));
            }
            let (actor, class) = (f.name("Actor")?, f.name("Class")?);
            Verb::Capability(CapabilityVerb::SetTick { actor, class, ticks, interval })
        }
        _ => return Ok(None),
    }))
}

fn source_of(f: &Fields<'_>) -> Result<BlockedBy, ReadError> {
    match (f.name_if("By")?, f.name_if("Source")?, f.name_if("Effect")?) {
        (None, None, None) => Ok(BlockedBy::Host("Scenario".to_owned())),
        (Some(name), None, None) => Ok(BlockedBy::Host(name.text)),
        (None, Some(actor), None) => Ok(BlockedBy::Actor(actor)),
        (None, None, Some(effect)) => Ok(BlockedBy::Effect(effect)),
        _ => Err(f.reading.error(f.node, "write one of By, Source, Effect")),
    }
}

/// Returns the names of the host under which steps block tags.
pub(crate) fn block_names(steps: &[Step], into: &mut Vec<String>) {
    for_each_step(steps, &mut |step| {
        if let Verb::Capability(
            CapabilityVerb::Block { by: BlockedBy::Host(name), .. }
            | CapabilityVerb::Unblock { by: BlockedBy::Host(name), .. },
        ) = &step.verb
        {
            into.push(name.clone());
        }
    });
}
