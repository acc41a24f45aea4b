//! The world of a scenario: rules built from its packs and entities, and names that only the scenario defines.

use super::into_errors;
use crate::packs::{builder_of, unplaced};
use crate::scenario::{AbilityVerb, Name, ReloadVerb, RemoveWhat, Scenario, Verb, for_each_step, inputs_in};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use ugas_core::{ActorId, InputId, LoadError, LoadIssue, Rules, Severity, needs_target};
use ugas_data::{Diagnostic, HostNames, Loaded, PackSet, ReadError, place_issue};
use ugas_doc::{Doc, DurationPolicy, Kind, Origin, TagEntry, TagRegistry};

/// The built rules and names of a scenario.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) rules: Arc<Rules>,
    /// The rules before each reload, for names that were removed.
    past: Vec<Arc<Rules>>,
    /// The documents of the rules.
    pub(crate) docs: Vec<Loaded>,
    host: HostNames,
    /// Instant effects.
    instants: BTreeSet<String>,
    /// Host actors by name.
    actor_names: BTreeMap<ActorId, String>,
    /// Inputs that only the scenario names; ids start at [`FIRST_INPUT`].
    inputs: Vec<String>,
    /// Abilities that need a target at activation: they apply effects to it and have no task that finds one.
    aimed: BTreeSet<String>,
    /// Inputs that documents or the scenario bind.
    bound: BTreeSet<String>,
}

/// Above every input id of rules.
const FIRST_INPUT: u32 = 1 << 30;

impl World {
    /// Builds the rules of a scenario, or returns all errors.
    pub(crate) fn build(scenario: &Scenario) -> Result<World, Vec<BuildError>> {
        World::build_after(scenario, None)
    }

    /// Like [`World::build`], keeping the ids of an older world.
    pub(crate) fn build_after(scenario: &Scenario, old: Option<&World>) -> Result<World, Vec<BuildError>> {
        let mut errors = Vec::new();
        let mut docs = Vec::new();
        let calculations = scenario.calculations.iter().map(|n| n.text.clone()).collect();
        let capabilities = scenario.capabilities.iter().map(|n| n.text.clone()).collect();
        let hooks = scenario.hooks.iter().map(|n| n.text.clone()).collect();
        let mut host = HostNames { calculations, capabilities, hooks, ..HostNames::default() };
        let mut folders = Vec::new();
        for (folder, place) in &scenario.packs {
            if folder.is_dir() {
                folders.push(folder);
            } else {
                let message = format!("Packs: the folder {} does not exist", folder.display());
                errors.push(BuildError::Read(place.error(&scenario.file, message)));
            }
        }
        let packs = match PackSet::read(folders) {
            Ok(packs) => {
                host.extend(&packs.host);
                docs.extend(packs.docs().cloned());
                Some(packs)
            }
            Err(more) => {
                errors.extend(more.into_iter().map(BuildError::Read));
                None
            }
        };
        docs.extend(scenario.entities.iter().cloned());
        if !errors.is_empty() {
            return Err(errors);
        }
        let build = |extra: Vec<(TagEntry, u32)>| {
            let mut builder = builder_of(docs.iter().cloned(), &host);
            for (tag, line) in extra {
                let origin = Origin::new(scenario.file.clone(), line);
                builder = builder.add_at(TagRegistry { tags: vec![tag] }, origin);
            }
            let builder = old.iter().fold(builder, |b, old| b.after(old.rules.clone()));
            builder.build().map_err(|e| load_errors(e, scenario, packs.as_ref()))
        };
        let mut rules = build(Vec::new())?;
        // Adds the tags that only the scenario uses.
        let missing: Vec<(TagEntry, u32)> = tags_of(scenario)
            .into_iter()
            .filter(|t| rules.find_tag(&t.text).is_none())
            .map(|t| {
                let entry = TagEntry { allow_multiple: true, ..TagEntry::new(t.text.clone()) };
                (entry, t.place.line)
            })
            .collect();
        if !missing.is_empty() {
            rules = build(missing)?;
        }
        Ok(World {
            instants: instants_of(&docs),
            actor_names: actor_names_of(scenario, &docs),
            inputs: inputs_of(scenario, &rules),
            bound: bound_inputs(scenario, &rules, &docs),
            aimed: aimed_of(&docs),
            rules,
            past: old.map_or(Vec::new(), |old| old.past.iter().chain([&old.rules]).cloned().collect()),
            docs,
            host,
        })
    }

    /// Returns the world with documents replaced by kind and name, or all errors. The tag registry of the scenario is
    /// replaced as a whole; the tag registries of packs are kept.
    pub(crate) fn reloaded(&self, reload: &ReloadVerb, scenario: &Scenario) -> Result<World, Vec<ReadError>> {
        let file = &scenario.file;
        let mut docs = self.docs.clone();
        for name in &reload.remove {
            let before = docs.len();
            docs.retain(|d| d.doc.name() != name.text);
            if docs.len() == before {
                return Err(vec![name.place.error(file, format!("cannot remove {}: unknown document", name.text))]);
            }
        }
        for new in &reload.entities {
            let own_tags = |d: &Loaded| d.doc.kind() != Kind::TagRegistry || d.origin.file == *file;
            let same = |d: &Loaded| d.doc.kind() == new.doc.kind() && d.doc.name() == new.doc.name() && own_tags(d);
            match docs.iter().position(same) {
                Some(at) => docs[at] = new.clone(),
                None => docs.push(new.clone()),
            }
        }
        let builder = builder_of(docs.iter().cloned(), &self.host).after(self.rules.clone());
        let rules = builder.build().map_err(|e| into_errors(load_errors(e, scenario, None)))?;
        let mut past = self.past.clone();
        past.push(self.rules.clone());
        let (bound, aimed) = (bound_inputs(scenario, &rules, &docs), aimed_of(&docs));
        Ok(World { rules, past, bound, aimed, instants: instants_of(&docs), docs, ..self.clone() })
    }

    /// Resolves a name in the current rules, or in the rules before a reload.
    pub(crate) fn find<T>(&self, look_up: impl Fn(&Rules) -> Option<T>) -> Option<T> {
        look_up(&self.rules).or_else(|| self.past.iter().rev().find_map(|rules| look_up(rules)))
    }

    pub(crate) fn is_instant(&self, effect: &str) -> bool {
        self.instants.contains(effect)
    }

    pub(crate) fn actor_name(&self, actor: ActorId) -> String {
        let known = self.actor_names.get(&actor).cloned();
        known.unwrap_or_else(|| format!("actor {:016x}", actor.0))
    }

    pub(crate) fn input(&self, name: &str) -> InputId {
        let own = || self.inputs.iter().position(|n| n == name);
        self.rules.find_input(name).or_else(|| own().map(|i| InputId(FIRST_INPUT + i as u32))).unwrap_or(InputId::NONE)
    }

    pub(crate) fn needs_target(&self, ability: &str) -> bool {
        self.aimed.contains(ability)
    }

    pub(crate) fn is_bound(&self, input: &str) -> bool {
        self.bound.contains(input)
    }

    pub(crate) fn bound_inputs(&self) -> impl Iterator<Item = &str> {
        self.bound.iter().map(String::as_str)
    }

    pub(crate) fn input_name(&self, id: InputId) -> Option<&str> {
        let own = || self.inputs.get(id.0.checked_sub(FIRST_INPUT)? as usize);
        self.rules.input_name(id).or_else(|| own().map(String::as_str))
    }
}

/// Why the world of a scenario could not be built.
#[derive(Clone, Debug)]
pub(crate) enum BuildError {
    /// A read error, or an unknown name.
    Read(ReadError),
    /// A finding of the rules builder.
    Found(Diagnostic),
}

impl BuildError {
    pub(crate) fn into_error(self) -> ReadError {
        match self {
            BuildError::Read(error) => error,
            BuildError::Found(finding) => ReadError::from(&finding),
        }
    }

    /// Converts to a finding; `text` is the text of the scenario file.
    pub(crate) fn into_finding(self, file: &str, text: &str) -> Diagnostic {
        match self {
            BuildError::Read(error) if *error.file == *file => Diagnostic::of_read_error(&error).stretched(text),
            BuildError::Read(error) => Diagnostic::of_read_error(&error),
            BuildError::Found(finding) => finding,
        }
    }
}

/// Converts an issue of the rules builder to a finding at its exact place.
fn load_errors(error: LoadError, scenario: &Scenario, packs: Option<&PackSet>) -> Vec<BuildError> {
    let place = |issue: &LoadIssue| {
        let in_packs = packs.and_then(|p| p.place(issue));
        let here = || scenario.text.as_ref().and_then(|text| place_issue(issue, text));
        let mut found = in_packs.or_else(here).unwrap_or_else(|| unplaced(issue, &scenario.file));
        if issue.code == "unknown-calculation" && found.file == scenario.file {
            found.help = Some("list it under `Host: {Calculations: [..]}` if host code provides it".to_owned());
        }
        BuildError::Found(found)
    };
    error.issues.iter().filter(|i| i.severity == Severity::Error).map(place).collect()
}

fn instants_of(docs: &[Loaded]) -> BTreeSet<String> {
    let instant = |loaded: &Loaded| {
        if let Doc::Effect(e) = &loaded.doc
            && e.duration_policy == DurationPolicy::Instant
        {
            Some(e.name.clone())
        } else {
            None
        }
    };
    docs.iter().filter_map(instant).collect()
}

/// Returns the tags that only verbs and actors use.
fn tags_of(scenario: &Scenario) -> Vec<&Name> {
    let mut tags: Vec<&Name> = scenario.actors.iter().flat_map(|a| &a.tags).collect();
    for entry in &scenario.timeline {
        for_each_step(&entry.steps, &mut |step| match &step.verb {
            Verb::Apply(apply) => tags.extend(apply.hit.iter().flat_map(|h| &h.tags)),
            Verb::Remove(remove) => {
                if let RemoveWhat::Tags { tags: named, .. } = &remove.what {
                    tags.extend(named);
                }
            }
            Verb::Ability(verb) => tags.extend(verb.tags()),
            Verb::ModifyResource(modify) => tags.extend(&modify.tags),
            Verb::Capability(verb) => tags.extend(verb.tag()),
            Verb::ChangeEffect { .. }
            | Verb::Move { .. }
            | Verb::Possess { .. }
            | Verb::Spawn { .. }
            | Verb::Despawn { .. }
            | Verb::AddSet { .. }
            | Verb::RemoveSet { .. }
            | Verb::SetActive { .. }
            | Verb::SetRate { .. }
            | Verb::SetLocal { .. }
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
    tags.sort_by(|a, b| a.text.cmp(&b.text));
    tags.dedup_by(|a, b| a.text == b.text);
    tags
}

fn actor_names_of(scenario: &Scenario, docs: &[Loaded]) -> BTreeMap<ActorId, String> {
    let mut names = BTreeMap::new();
    let mut add = |name: &str| {
        names.insert(ActorId::named(name), name.to_owned());
    };
    for loaded in docs {
        if let Doc::Controller(c) = &loaded.doc {
            add(&c.owner_actor.actor_id);
            if let Some(avatar) = &c.avatar_actor {
                add(&avatar.actor_id);
            }
        }
    }
    for actor in &scenario.actors {
        add(&actor.name.text);
    }
    for entry in &scenario.timeline {
        for_each_step(&entry.steps, &mut |step| {
            if let Verb::Possess { avatar: Some(name), .. } = &step.verb {
                add(name);
            }
        });
    }
    names
}

fn inputs_of(scenario: &Scenario, rules: &Rules) -> Vec<String> {
    let mut inputs: Vec<&Name> =
        scenario.actors.iter().flat_map(|a| &a.abilities).filter_map(|a| a.input.as_ref()).collect();
    scenario.timeline.iter().for_each(|m| inputs_in(&m.steps, &mut inputs));
    let own: BTreeSet<&str> =
        inputs.iter().map(|n| n.text.as_str()).filter(|n| rules.find_input(n).is_none()).collect();
    own.into_iter().map(str::to_owned).collect()
}

/// Returns the inputs of grants, documents and input actions.
fn bound_inputs(scenario: &Scenario, rules: &Rules, docs: &[Loaded]) -> BTreeSet<String> {
    let mut granted: Vec<&Name> =
        scenario.actors.iter().flat_map(|a| &a.abilities).filter_map(|a| a.input.as_ref()).collect();
    for entry in &scenario.timeline {
        for_each_step(&entry.steps, &mut |step| {
            if let Verb::Ability(AbilityVerb::Grant { input: Some(input), .. }) = &step.verb {
                granted.push(input);
            }
        });
    }
    let actions = docs.iter().filter(|l| matches!(l.doc, Doc::InputAction(_))).map(|l| l.doc.name().to_owned());
    let known = rules.input_list().map(|(_, name)| name.to_owned());
    known.chain(actions).chain(granted.iter().map(|n| n.text.clone())).collect()
}

/// Returns the abilities that need a target when they are activated.
fn aimed_of(docs: &[Loaded]) -> BTreeSet<String> {
    let aimed = |loaded: &Loaded| {
        let Doc::Ability(ability) = &loaded.doc else { return None };
        needs_target(ability).then(|| ability.name.clone())
    };
    docs.iter().filter_map(aimed).collect()
}
