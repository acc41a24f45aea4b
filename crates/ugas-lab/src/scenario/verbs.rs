//! Parses verbs.

use super::document::entity_of;
use super::fields::{Fields, Name, Place, Reading, did_you_mean};
use super::kinds::{LATER_FACTS, LATER_VERBS, REFUSALS, STEP_KEYS, Stream, VERBS};
use super::network::{on_of, wire_of};
use super::{
    ApplyVerb, ChangeTo, CountOf, Expectation, Found, HitDef, Matcher, ModifyVerb, Partial, ReloadVerb, RemoveVerb,
    RemoveWhat, Step, Verb, for_each_step,
};
use ugas_data::{Entry, Node, ReadError};

/// Parses the steps of a `Do` list; invalid steps are reported and skipped.
pub(crate) fn parse_steps(reading: Reading<'_>, what: &str, node: &Node, errors: &mut Vec<ReadError>) -> Vec<Step> {
    let list = match reading.list(what, node) {
        Ok(list) => list,
        Err(error) => {
            errors.push(error);
            return Vec::new();
        }
    };
    let mut steps = Vec::new();
    for item in list {
        match parse_step(reading, item, errors) {
            Ok(step) => steps.push(step),
            Err(error) => errors.push(error),
        }
    }
    steps
}

fn parse_step(reading: Reading<'_>, node: &Node, errors: &mut Vec<ReadError>) -> Result<Step, ReadError> {
    if !node.is_map() {
        let message = format!("expected a verb such as `Apply: {{..}}`, found {}", node.describe());
        return Err(reading.error(node, message));
    }
    let mut verb: Option<&Entry> = None;
    for entry in node.entries() {
        let key = entry.key.as_str();
        if STEP_KEYS.contains(&key) {
            continue;
        }
        if LATER_VERBS.contains(&key) {
            let message = format!("the verb {key} is not supported in this release; remove the step");
            return Err(Place::of_key(entry).error(reading.file, message));
        }
        if !VERBS.contains(&key) {
            let message = format!("unknown verb {key:?}");
            let known = VERBS.iter().chain(LATER_VERBS).chain(STEP_KEYS).copied();
            return Err(ReadError {
                help: did_you_mean(key, known).or_else(|| Some(format!("the verbs are {}", VERBS.join(", ")))),
                ..Place::of_key(entry).error(reading.file, message)
            });
        }
        if let Some(other) = verb.replace(entry) {
            let message = format!("a step has one verb, found {} and {key}; write two steps", other.key);
            return Err(Place::of_key(entry).error(reading.file, message));
        }
    }
    let Some(entry) = verb else {
        return Err(reading.error(node, "the step has no verb; add one such as `Apply: {..}`"));
    };
    let inside = |key: &str| entry.value.get(key);
    let refused = node.get("Refused").or_else(|| inside("Refused"));
    let may_refuse = node.get("MayRefuse").or_else(|| inside("MayRefuse"));
    let step = Step {
        place: Place::of_key(entry),
        verb: parse_verb(reading, entry, errors)?,
        refused: refused.map(|n| refusal_of(reading, n)).transpose()?,
        may_refuse: may_refuse.map_or(Ok(false), |n| reading.flag("MayRefuse", n))?,
        on: on_of(reading, node)?,
    };
    let can_be_refused = !matches!(
        step.verb,
        Verb::Repeat { .. }
            | Verb::Wire(_)
            | Verb::Expect(_)
            | Verb::ExpectStream { .. }
            | Verb::ExpectCount(_)
            | Verb::MarkHash { .. }
            | Verb::ExpectHash { .. }
    );
    if let Some(node) = refused.or(may_refuse).filter(|_| !can_be_refused) {
        return Err(reading.error(node, format!("{} cannot be refused; remove this key", entry.key)));
    }
    Ok(step)
}

fn refusal_of(reading: Reading<'_>, node: &Node) -> Result<&'static str, ReadError> {
    let kind = reading.text("Refused", node)?;
    REFUSALS.iter().copied().find(|k| *k == kind).ok_or_else(|| ReadError {
        help: did_you_mean(&kind, REFUSALS.iter().copied())
            .or_else(|| Some(format!("the kinds are {}", REFUSALS.join(", ")))),
        ..reading.error(node, format!("Refused: unknown refusal {kind:?}"))
    })
}

fn parse_verb(reading: Reading<'_>, entry: &Entry, errors: &mut Vec<ReadError>) -> Result<Verb, ReadError> {
    let (what, node) = (entry.key.as_str(), &entry.value);
    macro_rules! fields {
        ($($key:literal),*) => { reading.fields(what, node, &[$($key,)* "Refused", "MayRefuse"])? };
    }
    if let Some(verb) = super::ability::parse(reading, entry)? {
        return Ok(Verb::Ability(verb));
    }
    if let Some(verb) = super::capability::parse(reading, entry)? {
        return Ok(verb);
    }
    if let Some(verb) = wire_of(reading, entry)? {
        return Ok(Verb::Wire(verb));
    }
    Ok(match what {
        "Apply" => {
            let f = fields!(
                "Effect",
                "To",
                "From",
                "Level",
                "SetByCaller",
                "Stacks",
                "Duration",
                "Period",
                "Origin",
                "Hit",
                "Ability",
                "As"
            );
            Verb::Apply(Box::new(apply_of(&f)?))
        }
        "Remove" => {
            let f = fields!("Handle", "Actor", "Effect", "WithTags", "Stacks");
            Verb::Remove(remove_of(&f)?)
        }
        "ChangeEffect" => {
            let f = fields!("Handle", "Level", "Remaining", "Period", "Stacks", "SetByCaller");
            Verb::ChangeEffect { handle: f.name("Handle")?, changes: changes_of(&f)? }
        }
        "Move" => {
            let f = fields!("Actor", "To", "Facing");
            Verb::Move { actor: f.name("Actor")?, to: f.vector_if("To")?, facing: f.vector_if("Facing")? }
        }
        "Possess" => {
            let f = fields!("Actor", "Avatar");
            if node.get("Avatar").is_none() {
                f.need("Avatar")?;
            }
            Verb::Possess { actor: f.name("Actor")?, avatar: f.name_if("Avatar")?.map(|n| n.text) }
        }
        "Spawn" => Verb::Spawn { actor: fields!("Actor").name("Actor")? },
        "Despawn" => Verb::Despawn { actor: fields!("Actor").name("Actor")? },
        "AddSet" => {
            let f = fields!("Actor", "Set");
            Verb::AddSet { actor: f.name("Actor")?, set: f.name("Set")? }
        }
        "RemoveSet" => {
            let f = fields!("Actor", "Set", "Force");
            Verb::RemoveSet {
                actor: f.name("Actor")?,
                set: f.name("Set")?,
                force: f.flag_if("Force")?.unwrap_or(false),
            }
        }
        "SetActive" => {
            let f = fields!("Actor", "Active");
            Verb::SetActive { actor: f.name("Actor")?, active: reading.flag("Active", f.need("Active")?)? }
        }
        "SetRate" => {
            let f = fields!("Actor", "Rate");
            Verb::SetRate { actor: f.name("Actor")?, rate: reading.number("Rate", f.need("Rate")?)? }
        }
        "SetLocal" => {
            let f = fields!("Actor", "Local");
            Verb::SetLocal { actor: f.name("Actor")?, is_local: reading.flag("Local", f.need("Local")?)? }
        }
        "ModifyResource" => {
            let f = fields!("Actor", "Resource", "By", "From", "Tags", "Plain");
            Verb::ModifyResource(Box::new(ModifyVerb {
                actor: f.name("Actor")?,
                resource: f.name("Resource")?,
                by: reading.number("By", f.need("By")?)?,
                from: f.name_if("From")?,
                tags: f.names_if("Tags")?,
                plain: f.flag_if("Plain")?.unwrap_or(false),
            }))
        }
        "Repeat" => {
            let f = reading.fields(what, node, &["Times", "Do"])?;
            Verb::Repeat {
                times: reading.whole("Times", f.need("Times")?, 0, 1_000_000)? as u32,
                steps: parse_steps(reading, "Do", f.need("Do")?, errors),
            }
        }
        "Reload" => {
            let f = fields!("Entities", "Remove");
            let mut entities = Vec::new();
            for entity in f.get("Entities").map_or(Ok(&[][..]), |n| reading.list("Entities", n))? {
                match entity_of(reading, entity) {
                    Ok(loaded) => entities.push(loaded),
                    Err(error) => errors.push(error),
                }
            }
            Verb::Reload(Box::new(ReloadVerb { entities, remove: f.names_if("Remove")? }))
        }
        "Expect" => Verb::Expect(expectations_of(reading, node)?),
        "ExpectFacts" => stream_of(reading, Stream::Facts, what, node)?,
        "ExpectDiagnostics" => stream_of(reading, Stream::Diagnostics, what, node)?,
        "ExpectTrace" => stream_of(reading, Stream::Trace, what, node)?,
        "ExpectCount" => {
            let entries = reading.list(what, node)?.iter();
            Verb::ExpectCount(entries.map(|n| count_of(reading, n)).collect::<Result<_, _>>()?)
        }
        "MarkHash" => {
            let f = reading.fields(what, node, &["As", "Actor"])?;
            Verb::MarkHash { mark: f.name("As")?, actor: f.name_if("Actor")? }
        }
        _ => {
            let f = reading.fields(what, node, &["Equals", "Actor"])?;
            Verb::ExpectHash { mark: f.name("Equals")?, actor: f.name_if("Actor")? }
        }
    })
}

fn apply_of(f: &Fields<'_>) -> Result<ApplyVerb, ReadError> {
    Ok(ApplyVerb {
        effect: f.name("Effect")?,
        to: f.name("To")?,
        from: f.name_if("From")?,
        level: f.count_if("Level")?.unwrap_or(1),
        stacks: f.count_if("Stacks")?.unwrap_or(1),
        set_by_caller: f.numbers_if("SetByCaller")?,
        duration: f.time_if("Duration")?,
        period: f.time_if("Period")?,
        origin: f.vector_if("Origin")?,
        hit: f.get("Hit").map(|n| hit_of(f.reading, n)).transpose()?,
        ability: f.name_if("Ability")?,
        handle: f.name_if("As")?,
    })
}

pub(crate) fn hit_of(reading: Reading<'_>, node: &Node) -> Result<HitDef, ReadError> {
    let f = reading.fields("Hit", node, &["Position", "Distance", "Tags"])?;
    Ok(HitDef {
        position: f.vector_if("Position")?,
        distance: f.get("Distance").map(|n| reading.number("Distance", n)).transpose()?,
        tags: f.names_if("Tags")?,
    })
}

fn remove_of(f: &Fields<'_>) -> Result<RemoveVerb, ReadError> {
    let stacks = match f.get("Stacks") {
        Some(n) => f.reading.whole("Stacks", n, i64::from(i32::MIN), i64::from(i32::MAX))? as i32,
        None => -1,
    };
    let what = match (f.name_if("Handle")?, f.name_if("Effect")?, f.get("WithTags")) {
        (Some(handle), None, None) => RemoveWhat::Handle(handle),
        (None, Some(effect), None) => RemoveWhat::Effect { actor: f.name("Actor")?, effect },
        (None, None, Some(_)) => RemoveWhat::Tags { actor: f.name("Actor")?, tags: f.names_if("WithTags")? },
        _ => {
            let message = "Remove: write Handle, or Actor and Effect, or Actor and WithTags";
            return Err(f.reading.error(f.node, message));
        }
    };
    Ok(RemoveVerb { what, stacks })
}

/// Parses the changes in the order of the file.
fn changes_of(f: &Fields<'_>) -> Result<Vec<ChangeTo>, ReadError> {
    let mut changes = Vec::new();
    let count = |key: &str| f.count_if(key).map(|n| n.unwrap_or(0));
    let time = |key: &str| f.time_if(key).map(Option::unwrap_or_default);
    for entry in f.node.entries() {
        match entry.key.as_str() {
            "Level" => changes.push(ChangeTo::Level(count("Level")?)),
            "Stacks" => changes.push(ChangeTo::Stacks(count("Stacks")?)),
            "Remaining" => changes.push(ChangeTo::Remaining(time("Remaining")?)),
            "Period" => changes.push(ChangeTo::Period(time("Period")?)),
            "SetByCaller" => changes.extend(
                f.numbers_if("SetByCaller")?.into_iter().map(|(name, value)| ChangeTo::SetByCaller(name, value)),
            ),
            _ => {}
        }
    }
    if changes.is_empty() {
        let message = "ChangeEffect: write at least one of Level, Remaining, Period, Stacks, SetByCaller";
        return Err(f.reading.error(f.node, message));
    }
    Ok(changes)
}

fn expectations_of(reading: Reading<'_>, node: &Node) -> Result<Vec<Expectation>, ReadError> {
    if !node.is_map() {
        let message = format!("Expect: expected a map of paths, found {}", node.describe());
        return Err(reading.error(node, message));
    }
    let entries = node.entries().iter();
    entries
        .map(|e| {
            Ok(Expectation {
                path: Name { text: e.key.clone(), place: Place::of_key(e) },
                matcher: Matcher::parse(reading, &e.key, &e.value)?,
            })
        })
        .collect()
}

fn stream_of(reading: Reading<'_>, stream: Stream, what: &str, node: &Node) -> Result<Verb, ReadError> {
    let entries = reading.list(what, node)?.iter();
    Ok(Verb::ExpectStream {
        stream,
        entries: entries.map(|n| partial_of(reading, stream, n)).collect::<Result<_, _>>()?,
    })
}

fn count_of(reading: Reading<'_>, node: &Node) -> Result<CountOf, ReadError> {
    let f = reading.fields("ExpectCount", node, &["Fact", "Count"])?;
    Ok(CountOf {
        entry: partial_of(reading, Stream::Facts, f.need("Fact")?)?,
        count: Matcher::parse(reading, "Count", f.need("Count")?)?,
    })
}

fn partial_of(reading: Reading<'_>, stream: Stream, node: &Node) -> Result<Partial, ReadError> {
    let noun = stream.noun();
    let kind_node = node.get("Kind").ok_or_else(|| {
        let message = format!("expected a {noun} as a map with `Kind:`, found {}", node.describe());
        reading.error(node, message)
    })?;
    let kind = reading.text("Kind", kind_node)?;
    if stream == Stream::Facts && LATER_FACTS.contains(&kind.as_str()) {
        return Err(reading
            .error(kind_node, format!("facts of kind {kind} are not supported in this release; remove the entry")));
    }
    let Some((kind, own)) = stream.kinds().find(|k| *k == kind).and_then(|k| Some((k, stream.fields_of(k)?))) else {
        let message = format!("unknown {noun} {kind:?}");
        let all: Vec<&str> = stream.kinds().collect();
        return Err(ReadError {
            help: did_you_mean(&kind, stream.kinds()).or_else(|| Some(format!("the kinds are {}", all.join(", ")))),
            ..reading.error(kind_node, message)
        });
    };
    let mut fields = Vec::new();
    for entry in node.entries().iter().filter(|e| e.key != "Kind") {
        let known = || stream.common().iter().chain(own).copied();
        if !known().any(|k| k == entry.key) {
            let all: Vec<&str> = known().collect();
            let message = format!("{kind}: unknown field {:?}; the fields are {}", entry.key, all.join(", "));
            return Err(ReadError {
                help: did_you_mean(&entry.key, known()),
                ..Place::of_key(entry).error(reading.file, message)
            });
        }
        let matcher = match entry.key.as_str() {
            "At" if entry.value.as_text().is_some() => {
                Matcher::Is(Found::Number(reading.time("At", &entry.value)?.as_seconds()))
            }
            "Params" => Matcher::parse_entries(reading, "Params", &entry.value)?,
            key => Matcher::parse(reading, key, &entry.value)?,
        };
        let name = Name { text: entry.key.clone(), place: Place::of(&entry.value) };
        fields.push((name, matcher));
    }
    Ok(Partial { place: Place::of(node), kind, fields })
}

/// Collects the `As` names of steps.
pub(crate) fn handles_in(steps: &[Step], into: &mut Vec<Name>) {
    for_each_step(steps, &mut |step| match &step.verb {
        Verb::Apply(apply) => into.extend(apply.handle.clone()),
        Verb::Ability(verb) => into.extend(verb.handle().cloned()),
        Verb::Remove(_)
        | Verb::ChangeEffect { .. }
        | Verb::Move { .. }
        | Verb::Possess { .. }
        | Verb::Spawn { .. }
        | Verb::Despawn { .. }
        | Verb::AddSet { .. }
        | Verb::RemoveSet { .. }
        | Verb::SetActive { .. }
        | Verb::SetRate { .. }
        | Verb::SetLocal { .. }
        | Verb::ModifyResource(_)
        | Verb::Capability(_)
        | Verb::Wire(_)
        | Verb::Reload(_)
        | Verb::Repeat { .. }
        | Verb::Expect(_)
        | Verb::ExpectStream { .. }
        | Verb::ExpectCount(_)
        | Verb::MarkHash { .. }
        | Verb::ExpectHash { .. } => {}
    });
}
