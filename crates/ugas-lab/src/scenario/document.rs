//! Parses a scenario document, except its verbs.

use super::fields::{Name, Place, Reading};
use super::network::{self, network_of};
use super::verbs::{handles_in, parse_steps};
use super::{AbilityDef, ActorDef, ResourceDef, Scenario, TimelineEntry};
use std::path::{Path, PathBuf};
use ugas_core::{FLICKS_PER_SECOND, SimTime};
use ugas_data::{Loaded, Node, NodeValue, ReadError, doc_from_node, from_node};
use ugas_doc::{InputSettings, Origin};

const KEYS: &[&str] = &[
    "Scenario",
    "Covers",
    "Packs",
    "Entities",
    "Actors",
    "Seed",
    "Step",
    "Frame",
    "Screen",
    "Host",
    "Network",
    "InputBuffer",
    "Timeline",
];
const ACTOR_KEYS: &[&str] = &[
    "AttributeSets",
    "Stats",
    "Resources",
    "Attributes",
    "Tags",
    "Controller",
    "Position",
    "Facing",
    "Effects",
    "Abilities",
    "Capabilities",
    "Spawned",
];
/// First segments of paths that cannot be names of actors or results.
const RESERVED: &[&str] = &["Sim", "Cues", "Rejected"];
/// The limit of requirements for one scenario.
const MAX_COVERS: usize = 6;

impl Scenario {
    /// Parses a scenario. `file` is the path of the file in messages; paths of packs are relative to the folder of that
    /// file.
    pub fn from_node(file: &str, node: &Node) -> Result<Scenario, Vec<ReadError>> {
        let mut errors = Vec::new();
        let scenario = parse(file, node, &mut errors);
        match scenario {
            Ok(scenario) if errors.is_empty() => Ok(scenario),
            Ok(_) => Err(errors),
            Err(error) => {
                errors.push(error);
                Err(errors)
            }
        }
    }
}

impl Scenario {
    /// Adds the text of the scenario's file, so that errors in entities have the exact line and column.
    pub fn with_text(mut self, text: impl Into<std::sync::Arc<str>>) -> Scenario {
        self.text = Some(text.into());
        self
    }
}

fn parse(file: &str, node: &Node, errors: &mut Vec<ReadError>) -> Result<Scenario, ReadError> {
    let first = Reading { file, frame: SimTime::frames(1, 60) };
    let fields = first.fields("the scenario", node, KEYS)?;
    let frame = fields.get("Frame").map_or(Ok(first.frame), |n| frame_of(first, n))?;
    let reading = Reading { file, frame };
    let step = fields.get("Step").map_or(Ok(frame), |n| reading.time("Step", n))?;
    if step.0 <= 0 {
        let at = fields.get("Step").unwrap_or(node);
        return Err(reading.error(at, format!("Step: expected a time longer than 0, found {step}")));
    }
    let covers = fields.names_if("Covers")?;
    if covers.len() > MAX_COVERS {
        let message = format!("Covers: expected at most {MAX_COVERS} ids, found {}", covers.len());
        errors.push(covers[MAX_COVERS].place.error(file, message));
    }
    let seed = fields.get("Seed").map_or(Ok(0), |n| reading.whole("Seed", n, 0, 1 << 53))?;
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let packs: Vec<(PathBuf, Place)> =
        fields.names_if("Packs")?.into_iter().map(|n| (folder.join(&n.text), n.place)).collect();

    let mut scenario = Scenario {
        file: file.into(),
        name: first.text("Scenario", fields.need("Scenario")?)?,
        place: node.entry("Scenario").map_or(Place::of(node), Place::of_key),
        covers: covers.into_iter().map(|n| n.text).collect(),
        seed: seed as u64,
        frame,
        step,
        // The server of a scenario is dedicated, unless the scenario states that it has a screen.
        screen: fields.flag_if("Screen")?.unwrap_or(fields.get("Network").is_none()),
        network: fields.get("Network").map(|n| network_of(reading, n)).transpose()?,
        text: None,
        packs,
        entities: Vec::new(),
        actors: Vec::new(),
        calculations: Vec::new(),
        capabilities: Vec::new(),
        hooks: Vec::new(),
        timeline: Vec::new(),
        handles: Vec::new(),
    };
    if let Some(host) = fields.get("Host") {
        let host = reading.fields("Host", host, &["Calculations", "Capabilities", "Hooks"])?;
        scenario.calculations = host.names_if("Calculations")?;
        scenario.capabilities = host.names_if("Capabilities")?;
        scenario.hooks = host.names_if("Hooks")?;
    }
    if let Some(entities) = fields.get("Entities") {
        for entity in reading.list("Entities", entities)? {
            match entity_of(reading, entity) {
                Ok(loaded) => scenario.entities.push(loaded),
                Err(error) => errors.push(error),
            }
        }
    }
    if let Some(buffer) = fields.get("InputBuffer") {
        let input_buffer = from_node(file, buffer)?;
        let origin = Origin::new(file, buffer.line);
        scenario.entities.push(Loaded { doc: InputSettings { input_buffer }.into(), origin });
    }
    if let Some(actors) = fields.get("Actors") {
        actors_of(reading, actors, &mut scenario, errors)?;
    }
    if let Some(timeline) = fields.get("Timeline") {
        timeline_of(reading, timeline, &mut scenario, errors)?;
    }
    check_names(&mut scenario, errors);
    network::check(&scenario, errors);
    Ok(scenario)
}

fn actors_of(
    reading: Reading<'_>,
    actors: &Node,
    scenario: &mut Scenario,
    errors: &mut Vec<ReadError>,
) -> Result<(), ReadError> {
    if !actors.is_map() {
        let message = format!("Actors: expected a map of names, found {}", actors.describe());
        return Err(reading.error(actors, message));
    }
    for entry in actors.entries() {
        let name = Name { text: entry.key.clone(), place: Place::of_key(entry) };
        match actor_of(reading, name, &entry.value) {
            Ok(actor) => scenario.actors.push(actor),
            Err(error) => errors.push(error),
        }
    }
    Ok(())
}

/// Parses `60` (frames per second) or a length such as `30ms`.
fn frame_of(reading: Reading<'_>, node: &Node) -> Result<SimTime, ReadError> {
    let frame = match &node.value {
        NodeValue::Number(hz) if *hz > 0.0 => SimTime((FLICKS_PER_SECOND as f64 / hz).round_ties_even() as i64),
        NodeValue::Text(_) => reading.time("Frame", node)?,
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::List(_) | NodeValue::Map(_) => {
            SimTime::ZERO
        }
    };
    if frame.0 > 0 && frame <= SimTime::seconds(1000.0) {
        Ok(frame)
    } else {
        let message = format!("Frame: expected frames per second (60) or a length (30ms), found {}", node.describe());
        Err(reading.error(node, message))
    }
}

pub(super) fn entity_of(reading: Reading<'_>, node: &Node) -> Result<Loaded, ReadError> {
    doc_from_node(reading.file, node)
}

fn actor_of(reading: Reading<'_>, name: Name, node: &Node) -> Result<ActorDef, ReadError> {
    let what = format!("the actor {}", name.text);
    let fields = reading.fields(&what, node, ACTOR_KEYS)?;
    let controller = fields.name_if("Controller")?;
    if controller.is_none() && !["AttributeSets", "Stats", "Resources"].iter().any(|key| fields.get(key).is_some()) {
        return Err(ReadError {
            help: Some("add `AttributeSets: [..]` or `Controller: <ActorID>`".to_owned()),
            ..name.place.error(reading.file, format!("{what} has no attribute sets"))
        });
    }
    let resources = fields.get("Resources").map_or(Ok(&[][..]), |n| reading.list("Resources", n))?;
    let resources: Result<Vec<ResourceDef>, ReadError> = resources.iter().map(|n| resource_of(reading, n)).collect();
    let abilities = fields.get("Abilities").map_or(Ok(&[][..]), |n| reading.list("Abilities", n))?;
    let abilities: Result<Vec<AbilityDef>, ReadError> = abilities.iter().map(|n| ability_of(reading, n)).collect();
    Ok(ActorDef {
        name,
        controller,
        stats: fields.names_if("Stats")?,
        resources: resources?,
        sets: fields.names_if("AttributeSets")?,
        base: fields.numbers_if("Attributes")?,
        tags: fields.names_if("Tags")?,
        effects: fields.names_if("Effects")?,
        abilities: abilities?,
        capabilities: fields.names_if("Capabilities")?,
        position: fields.vector_if("Position")?,
        facing: fields.vector_if("Facing")?,
        spawned: fields.flag_if("Spawned")?.unwrap_or(true),
    })
}

fn resource_of(reading: Reading<'_>, node: &Node) -> Result<ResourceDef, ReadError> {
    if node.as_text().is_some() {
        let resource = reading.name("Resources", node)?;
        return Ok(ResourceDef { resource, initial: None, max: None, min: None });
    }
    let fields = reading.fields("Resources", node, &["Resource", "Initial", "Max", "Min"])?;
    let number = |key: &str| fields.get(key).map(|n| reading.number(key, n)).transpose();
    Ok(ResourceDef {
        resource: fields.name("Resource")?,
        initial: number("Initial")?,
        max: number("Max")?,
        min: number("Min")?,
    })
}

fn ability_of(reading: Reading<'_>, node: &Node) -> Result<AbilityDef, ReadError> {
    if node.as_text().is_some() {
        let ability = reading.name("Abilities", node)?;
        return Ok(AbilityDef { ability, level: 1, input: None, handle: None });
    }
    let fields = reading.fields("Abilities", node, &["Ability", "Level", "InputID", "As"])?;
    Ok(AbilityDef {
        ability: fields.name("Ability")?,
        level: fields.count_if("Level")?.unwrap_or(1),
        input: fields.name_if("InputID")?,
        handle: fields.name_if("As")?,
    })
}

fn timeline_of(
    reading: Reading<'_>,
    node: &Node,
    scenario: &mut Scenario,
    errors: &mut Vec<ReadError>,
) -> Result<(), ReadError> {
    for entry in reading.list("Timeline", node)? {
        let fields = match reading.fields("a timeline entry", entry, &["At", "Do"]) {
            Ok(fields) => fields,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        let at = fields.need("At").and_then(|n| moment_time(reading, n, scenario));
        let at = match at {
            Ok(at) => at,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        let steps = match fields.get("Do") {
            Some(list) => parse_steps(reading, "Do", list, errors),
            None => Vec::new(),
        };
        scenario.timeline.push(TimelineEntry { at, place: Place::of(entry), steps });
    }
    Ok(())
}

fn moment_time(reading: Reading<'_>, node: &Node, scenario: &Scenario) -> Result<SimTime, ReadError> {
    let at = reading.time_from("At", node, SimTime::ZERO)?;
    match scenario.timeline.last() {
        Some(before) if at < before.at => {
            let message = format!("At: {at} is before the previous entry at {}; sort the timeline by time", before.at);
            Err(reading.error(node, message))
        }
        _ => Ok(at),
    }
}

/// Reports names that would make paths ambiguous.
fn check_names(scenario: &mut Scenario, errors: &mut Vec<ReadError>) {
    let mut handles = Vec::new();
    for actor in &scenario.actors {
        handles.extend(actor.abilities.iter().filter_map(|a| a.handle.clone()));
    }
    for entry in &scenario.timeline {
        handles_in(&entry.steps, &mut handles);
    }
    let is_actor = |name: &str| scenario.actors.iter().any(|a| a.name.text == name);
    for name in scenario.actors.iter().map(|a| &a.name).chain(&handles) {
        if RESERVED.contains(&name.text.as_str()) {
            let message = format!("{} is reserved in paths; choose another name", name.text);
            errors.push(name.place.error(&scenario.file, message));
        }
    }
    for handle in handles.iter().filter(|h| is_actor(&h.text)) {
        let message = format!("{} is already the name of an actor; give the result another name", handle.text);
        errors.push(handle.place.error(&scenario.file, message));
    }
    scenario.handles = handles;
}
