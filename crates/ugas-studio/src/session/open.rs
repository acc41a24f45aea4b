//! Opening a session: from a scenario, from a scene of a pack, or from the controllers in documents.

use super::script::ScenarioList;
use super::{Script, Session, first_error};
use crate::{Library, Names};
use std::path::{Path, PathBuf};
use ugas_core::{Anchor, ControllerId, Role, Rules, Sim, SimConfig, SpawnSpec};
use ugas_data::{Project, ReadError};
use ugas_doc::{Doc, Metadata, Placement};
use ugas_lab::Scenario;

/// The default seed.
pub const SEED: u64 = 7;

/// Options for opening a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// The random seed. The default is the seed of the scenario, or [`SEED`] without a scenario.
    pub seed: Option<u64>,
    /// The scenario of the file, by name or by number counted from 1. The default is the first scenario.
    pub scenario: Option<String>,
}

impl Session {
    /// Opens a scenario.
    pub fn of_scenario(scenario: &Scenario, seed: Option<u64>) -> Result<Session, String> {
        Session::of_one(std::slice::from_ref(scenario), 0, seed)
    }

    /// Opens one of the scenarios of a file.
    fn of_one(all: &[Scenario], at: usize, seed: Option<u64>) -> Result<Session, String> {
        let scenario = &all[at];
        let run = scenario.record(seed).map_err(|errors| listed(&errors))?;
        let Some(first) = run.snapshots.first().cloned() else {
            return Err("the scenario has no `Timeline:`".to_owned());
        };
        let library = Library::of_scenario(first.rules().clone(), scenario);
        let mut names = Names::from(run.names.clone());
        let categories = scenario.categories();
        for (who, name) in &run.names {
            if let Some(category) = categories.get(name) {
                names.set_category(*who, category);
            }
        }
        let mut session = Session::of_sim(first.clone(), library, names, seed.unwrap_or(scenario.seed));
        session.continue_standalone(first);
        let listed = ScenarioList { names: all.iter().map(|s| s.name.clone()).collect(), at, seed: scenario.seed };
        let script = Script::new(run, listed);
        session.tick_facts.facts.list = script.first_facts();
        session.script = Some(script);
        Ok(session)
    }

    /// Opens a path: a scenario of a file, the pack in a folder, or the documents of a file. A pack or a file of
    /// documents starts with its first scene; without a scene, each controller is spawned once.
    pub fn of_path(path: &Path, choice: &OpenOptions) -> Result<Session, String> {
        match if path.is_file() { ugas_lab::load_file(path) } else { Ok(Vec::new()) } {
            Ok(scenarios) if !scenarios.is_empty() => {
                let wanted = |wanted: &String| ugas_lab::choose(&scenarios, wanted);
                let at = choice.scenario.as_ref().map_or(Ok(0), wanted);
                let at = at.map_err(|why| format!("{}: {why}", path.display()))?;
                return Session::of_one(&scenarios, at, choice.seed);
            }
            Err(errors) if choice.scenario.is_some() || means_scenarios(path) => return Err(listed(&errors)),
            // The file contains documents.
            _ => {}
        }
        let (project, unread) = Project::open_readable(path);
        if let Some(error) = unread.first() {
            return Err(error.to_string());
        }
        if choice.scenario.is_some() {
            return Err(format!("{} contains no scenarios; remove --scenario", path.display()));
        }
        let seed = choice.seed.unwrap_or(SEED);
        let folder = path.join("pack.yaml").is_file().then_some(path);
        let library = Library::new(project, folder).map_err(|findings| first_error(&findings))?;
        let scene = library.own_docs().find_map(|d| if let Doc::Scene(s) = d { Some(s.name.clone()) } else { None });
        match scene {
            Some(scene) => Session::of_scene(library, &scene, seed),
            None => Session::of_controllers(library, seed),
        }
    }

    /// Returns the path to open: the given path, or, for a folder that is not a pack, the only pack in that folder.
    pub fn resolve_path(path: &Path) -> Result<PathBuf, String> {
        let is_pack = |folder: &Path| folder.join("pack.yaml").is_file();
        if !path.is_dir() || is_pack(path) {
            return Ok(path.to_path_buf());
        }
        let inside = std::fs::read_dir(path).map_err(|e| format!("{}: cannot read: {e}", path.display()))?;
        let mut packs: Vec<PathBuf> = inside.filter_map(|e| Some(e.ok()?.path())).filter(|p| is_pack(p)).collect();
        packs.sort();
        match packs.len() {
            0 => Ok(path.to_path_buf()),
            1 => Ok(packs.remove(0)),
            _ => {
                let names: Vec<String> = packs.iter().map(|p| p.display().to_string()).collect();
                Err(format!("{} contains several packs; open one of them: {}", path.display(), names.join(", ")))
            }
        }
    }

    /// Opens documents without a scene: spawns each controller once, in a row.
    fn of_controllers(library: Library, seed: u64) -> Result<Session, String> {
        let rules = library.rules().clone();
        let mut sim = Sim::new(rules.clone(), server_config(seed));
        let mut names = Names::default();
        for doc in library.own_docs() {
            let Doc::Controller(controller) = doc else { continue };
            let name = controller.owner_actor.actor_id.clone();
            let anchor = Some(Anchor::at([names.len() as f64 * 4.0, 0.0, 0.0]));
            let spec = SpawnSpec { template: rules.find_template(&name), anchor, ..SpawnSpec::default() };
            let who = sim.spawn(spec).map_err(|refusal| refusal.describe(&rules))?;
            categorise(&mut names, who, &library, &name);
            names.set(who, name);
        }
        match names.len() == 0 {
            true => Err("no actors: the documents contain neither a scene nor a controller".to_owned()),
            false => Ok(Session::of_sim(sim, library, names, seed)),
        }
    }

    /// Opens a scene, merged with the scenes that it extends. The session has no clients.
    pub fn of_scene(library: Library, scene: &str, seed: u64) -> Result<Session, String> {
        let rules = library.rules().clone();
        let mut sim = Sim::new(rules.clone(), server_config(seed));
        let mut names = Names::default();
        let scene = match library.set().and_then(|set| library.project().scene(&set, scene)) {
            Some(Ok(scene)) => scene,
            Some(Err(findings)) => return Err(first_error(&findings)),
            None => return Err(format!("unknown scene '{scene}'")),
        };
        for placed in scene.placements.iter().filter(|p| p.enabled) {
            let spec = spec_of(placed, &rules).map_err(|why| format!("instance {}: {why}", placed.instance_id))?;
            let spawned = sim.spawn(spec).map_err(|refusal| refusal.describe(&rules));
            let who = spawned.map_err(|why| format!("instance {}: {why}", placed.instance_id))?;
            let title = title_of(&library, &placed.controller).filter(|title| !names.is_taken(title));
            categorise(&mut names, who, &library, &placed.controller);
            names.set(who, title.unwrap_or_else(|| placed.instance_id.clone()));
        }
        Ok(Session::of_sim(sim, library, names, seed))
    }
}

/// Returns the config of a server's sim. Actors are spawned as on a server: a capability of a side that does not run on
/// a server does not start.
fn server_config(seed: u64) -> SimConfig {
    SimConfig { seed, role: Role::Authority, ..SimConfig::default() }
}

/// Returns the spawn parameters of a placement. The rotation of the placement is left to the host.
fn spec_of(placed: &Placement, rules: &Rules) -> Result<SpawnSpec, String> {
    let Placement {
        controller,
        instance_id: _,
        position,
        rotation: _,
        startup_tags,
        startup_effects,
        attribute_overrides,
        enabled: _,
    } = placed;
    let template = rules.template(controller).map_err(|e| e.to_string())?;
    let mut spec = SpawnSpec { anchor: Some(Anchor::at(*position)), ..SpawnSpec::template(template) };
    for tag in startup_tags {
        spec.tags.push(rules.tag(tag).map_err(|e| e.to_string())?);
    }
    for effect in startup_effects {
        spec.effects.push(rules.effect(effect).map_err(|e| e.to_string())?);
    }
    for (attribute, value) in attribute_overrides {
        spec.base.push((rules.attribute(attribute).map_err(|e| e.to_string())?, *value));
    }
    Ok(spec)
}

fn listed(errors: &[ReadError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Returns whether an invalid file was meant to contain scenarios.
fn means_scenarios(path: &Path) -> bool {
    ugas_lab::text_of(path).is_ok_and(|text| text.lines().any(|line| line.starts_with("Scenario:")))
}

/// Returns the metadata of a controller.
fn metadata_of<'l>(library: &'l Library, controller: &str) -> Option<&'l Metadata> {
    let mut controllers = library.docs().filter_map(|d| if let Doc::Controller(c) = d { Some(c) } else { None });
    controllers.find(|c| c.owner_actor.actor_id == controller)?.metadata.as_ref()
}

/// Returns the display name of a controller.
fn title_of(library: &Library, controller: &str) -> Option<String> {
    metadata_of(library, controller)?.display_name.clone()
}

/// Sets the category of a controller from its document.
fn categorise(names: &mut Names, who: ControllerId, library: &Library, controller: &str) {
    if let Some(category) = metadata_of(library, controller).and_then(|m| m.debug_category.as_ref()) {
        names.set_category(who, category);
    }
}
