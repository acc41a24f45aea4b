//! The capabilities of an actor as plain data for the pages, and the reasons why a capability is not active.

use crate::Names;
use crate::explain::with_names;
use crate::observer::Observer;
use crate::session::STUDIO;
use serde::Serialize;
use ugas_core::{
    AbilitySetId, BlockSource, CapabilityId, CapabilityState, CapabilityStep, CapabilityView, ControllerId, Home,
    NameKind, Rules, SimTime,
};
use ugas_doc::Capability;
use ugas_lab::{describe_block_source, describe_capability_reason};

/// What the documents and the recording add to the state of the capabilities.
#[derive(Default)]
pub(crate) struct CapabilityNotes<'r> {
    /// The names under which the host may have blocked tags.
    pub(crate) hosts: &'r [String],
    /// The last step of each class in each set on the shown machine.
    pub(crate) steps: Vec<LastStep>,
}

/// The last step of the capabilities of a class in a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LastStep {
    pub(crate) class: CapabilityId,
    pub(crate) set: AbilitySetId,
    pub(crate) step: CapabilityStep,
    pub(crate) tick: u32,
}

/// A capability of an actor.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CapabilityRow {
    /// Identifies the capability among those of the actor, on every machine.
    key: String,
    class: String,
    /// The set that lists the capability.
    set: String,
    /// The set that was added to the actor. It contains `set`, or is the same.
    grant: String,
    /// Whether the added set can be removed: it is state of the actor and not of this machine only.
    removable: bool,
    side: String,
    state: &'static str,
    /// Whether the capability runs on the shown machine only.
    local: bool,
    /// Whether the capability is active. A capability that was disabled while it was active stays active.
    active: bool,
    /// Whether the capability is enabled; `None` if this is not replicated to the client. The same applies to `ticks`
    /// and `interval`.
    enabled: Option<bool>,
    /// Whether the capability is evaluated after its setup.
    ticks: Option<bool>,
    /// Seconds between two evaluations; 0 for every frame.
    interval: Option<f64>,
    /// The tag whose block blocks the capability; `None` if the capability has no tags.
    tag: Option<String>,
    /// Whether the studio blocks `tag`.
    blocked_here: bool,
    /// What blocks the capability, in words.
    blocked_by: Option<String>,
    /// Whether the blocks are replicated to the client.
    blocks_known: bool,
    /// The attribute set that the capability waits for.
    waits_for: Option<String>,
    /// The last step on the shown machine, and its tick.
    last_step: Option<(&'static str, u32)>,
}

/// Returns the capabilities of an actor as an observer knows them.
pub(crate) fn rows(
    names: &Names,
    observer: Observer<'_>,
    who: ControllerId,
    notes: &CapabilityNotes<'_>,
) -> Vec<CapabilityRow> {
    let views = observer.capabilities(who);
    let grants = observer.sim().ability_sets(who).unwrap_or_default();
    let row = |view: &CapabilityView| {
        let rules = observer.sim().rules();
        let set_name = |set: AbilitySetId| rules.ability_set_name(set).unwrap_or("?").to_owned();
        let grant = grants.iter().find(|(_, handle)| *handle == view.handle).map(|(set, _)| *set);
        let is_complete = observer.is_complete(who);
        let tag = rules.capability_tags(view.set, view.index).first().copied();
        let blocks = observer.sim().blocks(who).unwrap_or_default();
        let last = notes.steps.iter().find(|last| (last.class, last.set) == (view.class, view.set));
        CapabilityRow {
            key: format!("{:x}.{}", view.handle, view.position),
            class: rules.capability_name(view.class).unwrap_or("?").to_owned(),
            set: set_name(view.set),
            grant: set_name(grant.unwrap_or(view.set)),
            removable: grant.is_some(),
            side: format!("{:?}", view.side),
            state: view.state.name(),
            local: view.home == Home::Local,
            active: view.active,
            enabled: is_complete.then_some(view.enabled),
            ticks: is_complete.then_some(view.ticks),
            interval: is_complete.then(|| view.interval.as_seconds()),
            tag: tag.and_then(|tag| rules.tag_name(tag)).map(str::to_owned),
            blocked_here: tag.is_some_and(|tag| blocks.contains(&(tag, BlockSource::host(STUDIO)))),
            blocked_by: is_complete.then(|| blocked_by(names, observer, &views, view, notes.hosts)).flatten(),
            blocks_known: is_complete,
            waits_for: view.waits_for.and_then(|set| rules.set_name(set)).map(str::to_owned),
            last_step: last.map(|last| (step_name(last.step), last.tick)),
        }
    };
    views.iter().map(row).collect()
}

/// Returns what blocks a capability: `Capability.Weapon by the host (Studio)`.
fn blocked_by(
    names: &Names,
    observer: Observer<'_>,
    views: &[CapabilityView],
    view: &CapabilityView,
    hosts: &[String],
) -> Option<String> {
    let sim = observer.sim();
    match (view.blocked_by, view.state) {
        (Some((tag, source)), _) => {
            let by = with_names(names, &describe_block_source(sim, views, source, hosts));
            Some(format!("{} by {by}", sim.rules().tag_name(tag).unwrap_or("?")))
        }
        (None, CapabilityState::Blocked) => Some("its query BlockedBy".to_owned()),
        (
            None,
            CapabilityState::NotHeld
            | CapabilityState::Waiting
            | CapabilityState::Elsewhere
            | CapabilityState::Disabled
            | CapabilityState::Inactive
            | CapabilityState::Active,
        ) => None,
    }
}

fn step_name(step: CapabilityStep) -> &'static str {
    match step {
        CapabilityStep::StartLife => "added",
        CapabilityStep::Setup => "set up",
        CapabilityStep::Activated => "activated",
        CapabilityStep::Deactivated => "deactivated",
        CapabilityStep::EndCapability => "ended",
        CapabilityStep::EndLife => "removed",
    }
}

/// Returns every reason why a capability is not active on a machine, one line for each reason, as
/// `ugas why-not --capability` prints them. The list is empty if the capability is active. `docs` are the documents of
/// capabilities.
pub(crate) fn why_not<'d>(
    names: &Names,
    observer: Observer<'_>,
    who: ControllerId,
    class: &str,
    docs: impl IntoIterator<Item = &'d Capability>,
    hosts: &[String],
) -> Result<Vec<String>, String> {
    let (sim, rules) = (observer.sim(), observer.sim().rules());
    let id = rules.find_capability(class).ok_or_else(|| unknown(rules, class))?;
    if !observer.is_complete(who) {
        return Err(format!(
            "conditions and blocks of {} are replicated to its owning client only; select the server",
            names.name(who)
        ));
    }
    let reasons = observer.why_not_capability(who, id).map_err(|error| error.describe(rules))?;
    let (views, doc) = (observer.capabilities(who), docs.into_iter().find(|doc| doc.name == class));
    let line = |reason| with_names(names, &describe_capability_reason(sim, &views, reason, doc, hosts));
    Ok(reasons.iter().map(line).collect())
}

fn unknown(rules: &Rules, class: &str) -> String {
    match rules.nearest_name(NameKind::Capability, class) {
        Some(near) => format!("unknown capability '{class}'; did you mean '{near}'?"),
        None => format!("unknown capability '{class}'"),
    }
}

/// The cost of the capabilities of a class.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CapabilityCost {
    class: String,
    instances: u32,
    active: u32,
    /// The number of visits in the last step.
    visited: u32,
    visits: u64,
    /// The number of visits of a capability that was enabled, not blocked and due.
    evaluations: u64,
    sum_us: f64,
    average_us: f64,
}

/// Returns the cost of each class that a controller has or had, by name.
pub(crate) fn costs(sim: &ugas_core::Sim) -> Vec<CapabilityCost> {
    let step = SimTime::frames(1, i64::from(crate::session::RATE));
    let mut all = std::collections::BTreeMap::<CapabilityId, CapabilityCost>::new();
    let empty = |class: CapabilityId| CapabilityCost {
        class: sim.rules().capability_name(class).unwrap_or("?").to_owned(),
        instances: 0,
        active: 0,
        visited: 0,
        visits: 0,
        evaluations: 0,
        sum_us: 0.0,
        average_us: 0.0,
    };
    for view in sim.controllers().flat_map(|who| sim.capabilities(who).unwrap_or_default()) {
        let cost = all.entry(view.class).or_insert_with(|| empty(view.class));
        cost.instances += 1;
        cost.active += u32::from(view.active);
    }
    for figures in sim.capability_figures() {
        let cost = all.entry(figures.class).or_insert_with(|| empty(figures.class));
        cost.visited = if sim.now() - figures.last < step { figures.last_visits } else { 0 };
        cost.visits = figures.visits;
        cost.evaluations = figures.evaluations;
        cost.sum_us = figures.nanos as f64 / 1e3;
        cost.average_us = figures.average() / 1e3;
    }
    let mut costs: Vec<CapabilityCost> = all.into_values().collect();
    costs.sort_by(|a, b| a.class.cmp(&b.class));
    costs
}
