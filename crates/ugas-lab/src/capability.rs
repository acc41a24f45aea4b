//! Explains the capabilities of an actor at a time of a scenario.

use crate::explain::ExplainError;
use crate::run::{RunOptions, Runner};
use crate::scenario::{Scenario, block_names, did_you_mean};
use ugas_core::{BlockSource, CapabilityReason, CapabilityView, NameKind, Sim, SimTime};
use ugas_data::Loaded;
use ugas_doc::{Capability, DocumentKind};

/// Returns the runner of a scenario at a time, after the timeline's entries at that time have run.
fn played<'s>(scenario: &'s Scenario, actor: &str, at: SimTime) -> Result<Runner<'s>, ExplainError> {
    let options = RunOptions { until: Some(at), ..RunOptions::default() };
    let runner = Runner::played(scenario, options, &mut |_| {}).map_err(ExplainError::Scenario)?;
    if scenario.actors.iter().any(|a| a.name.text == actor) {
        return Ok(runner);
    }
    let help = did_you_mean(actor, scenario.actors.iter().map(|a| a.name.text.as_str()));
    let help = help.map_or(String::new(), |help| format!("; {help}"));
    Err(ExplainError::Unknown(format!("unknown actor {actor}{help}")))
}

/// Returns the capability sets of an actor at a time as a tree: one line for each set, and one indented line for each
/// capability with its state and side. The blocks follow.
///
/// ```
/// let text = r#"
/// Scenario: Idle
/// Entities:
///   - {Kind: attribute_set, Name: Body, Attributes: [{Name: Stamina, DefaultBaseValue: 10}]}
///   - {Kind: capability, Name: Regen, When: Stamina < 5}
///   - {Kind: capability_set, Name: CS_Robot, Capabilities: [{Class: Regen}]}
/// Actors: {Robot: {AttributeSets: [Body], Capabilities: [CS_Robot]}}
/// "#;
/// let tree = &ugas_data::read_trees("idle.yaml", text).unwrap()[0];
/// let scenario = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap();
/// let tree = ugas_lab::explain_capabilities(&scenario, "Robot", ugas_core::SimTime::ZERO).unwrap();
/// assert_eq!(tree, "CS_Robot\n  Regen: Inactive (Always)\n");
/// let why = ugas_lab::why_not_capability(&scenario, "Robot", "Regen", ugas_core::SimTime::ZERO).unwrap();
/// assert_eq!(why, ["When: `Stamina < 5` does not hold: Stamina is 10"]);
/// ```
pub fn explain_capabilities(scenario: &Scenario, actor: &str, at: SimTime) -> Result<String, ExplainError> {
    let runner = played(scenario, actor, at)?;
    let who = runner.who(actor);
    let unreadable = |error: ugas_core::ReadError| {
        let why = runner.describe(error);
        ExplainError::Unknown(format!("cannot read the capabilities of {actor} at {at}: {why}"))
    };
    let mut text = runner.sim.capability_tree(who).map_err(unreadable)?;
    let rules = &runner.world.rules;
    let views = runner.sim.capabilities(who).map_err(unreadable)?;
    for (tag, source) in runner.sim.blocks(who).map_err(unreadable)? {
        let by = describe_block_source(&runner.sim, &views, source, &block_names_of(scenario));
        let by = runner.with_names(&by);
        text.push_str(&format!("{} is blocked by {by}\n", rules.tag_name(tag).unwrap_or("?")));
    }
    Ok(text)
}

/// Lists every reason why a capability of an actor is not active at a time, one line for each reason. The list is empty
/// if the capability is active.
pub fn why_not_capability(
    scenario: &Scenario,
    actor: &str,
    class: &str,
    at: SimTime,
) -> Result<Vec<String>, ExplainError> {
    let runner = played(scenario, actor, at)?;
    let rules = runner.world.rules.clone();
    let Some(id) = rules.find_capability(class) else {
        let help = rules.nearest_name(NameKind::Capability, class).map(|n| format!("; did you mean {n:?}?"));
        return Err(ExplainError::Unknown(format!("unknown capability {class}{}", help.unwrap_or_default())));
    };
    let reasons = runner.sim.why_not_capability(runner.who(actor), id).map_err(|error| {
        let why = runner.describe(error);
        ExplainError::Unknown(format!("{actor} does not exist at {at}: {why}"))
    })?;
    let doc = runner.world.docs.iter().find_map(|loaded| document(loaded, class));
    let views = runner.sim.capabilities(runner.who(actor)).unwrap_or_default();
    let line = |reason: &CapabilityReason| {
        let text = describe_capability_reason(&runner.sim, &views, reason, doc, &block_names_of(scenario));
        runner.with_names(&text)
    };
    Ok(reasons.iter().map(line).collect())
}

fn document<'d>(loaded: &'d Loaded, class: &str) -> Option<&'d Capability> {
    Capability::of(&loaded.doc).filter(|doc| doc.name == class)
}

/// Returns a reason why a capability is not active as one line, such as `Blocked: Capability.Move is blocked by the host
/// (Cutscene)`. `views` are the capabilities of the controller, `doc` is the document of the class, and `hosts` are the
/// names under which the host may have blocked tags. Controllers are named by their ids, such as `controller 3`.
pub fn describe_capability_reason(
    sim: &Sim,
    views: &[CapabilityView],
    reason: &CapabilityReason,
    doc: Option<&Capability>,
    hosts: &[String],
) -> String {
    let rules = sim.rules();
    let text = if let CapabilityReason::Blocked { tag, source } = reason {
        let by = describe_block_source(sim, views, *source, hosts);
        format!("{} is blocked by {by}", rules.tag_name(*tag).unwrap_or("?"))
    } else {
        with_condition(reason.describe(rules), reason, doc)
    };
    format!("{}: {text}", reason.kind())
}

/// Returns the names under which a scenario blocks tags.
pub(crate) fn block_names_of(scenario: &Scenario) -> Vec<String> {
    let mut names = Vec::new();
    scenario.timeline.iter().for_each(|entry| block_names(&entry.steps, &mut names));
    names
}

/// Replaces the name of a condition by its text.
fn with_condition(text: String, reason: &CapabilityReason, doc: Option<&Capability>) -> String {
    let kind = reason.kind();
    let condition = doc.and_then(|doc| match reason {
        CapabilityReason::Query { .. } => doc.query.as_ref(),
        CapabilityReason::When(_) => doc.when.as_ref(),
        CapabilityReason::Until(_) => doc.until.as_ref(),
        CapabilityReason::NotHeld
        | CapabilityReason::WithoutCode
        | CapabilityReason::Elsewhere { .. }
        | CapabilityReason::WaitsFor { .. }
        | CapabilityReason::Disabled
        | CapabilityReason::NeverTicks
        | CapabilityReason::ClockStopped
        | CapabilityReason::Blocked { .. }
        | CapabilityReason::BlockedByQuery { .. }
        | CapabilityReason::Interval { .. }
        | CapabilityReason::Code
        | CapabilityReason::NextEvaluation => None,
    });
    condition.map_or(text.clone(), |condition| text.replacen(kind, &format!("`{condition}`"), 1))
}

/// Returns the source of a block as text, such as `the host (Cutscene)`. `views` are the capabilities of the blocked
/// controller, and `hosts` are the names under which the host may have blocked tags. Controllers are named by their
/// ids, such as `controller 3`.
pub fn describe_block_source(sim: &Sim, views: &[CapabilityView], source: BlockSource, hosts: &[String]) -> String {
    let rules = sim.rules();
    match source {
        BlockSource::Host(_) => {
            let name = hosts.iter().find(|name| BlockSource::host(name) == source);
            name.map_or_else(|| "the host".to_owned(), |name| format!("the host ({name})"))
        }
        BlockSource::Controller(who) => who.to_string(),
        BlockSource::Effect(key) => {
            let effect = sim.effect(key).ok().and_then(|view| sim.effect_name(view.effect));
            format!("{} on {}", effect.unwrap_or("an effect"), key.target)
        }
        BlockSource::Capability { handle, position } => {
            let found = views.iter().find(|view| (view.handle, view.position) == (handle, position));
            let class = found.and_then(|view| rules.capability_name(view.class));
            format!("the capability {}", class.unwrap_or("?"))
        }
    }
}
