//! What a scenario stands on: rules compiled from its packs and entities, and the names that only the scenario knows.

use crate::packs::{builder_of, host_names};
use crate::scenario::{Name, ReloadVerb, RemoveWhat, Scenario, Verb, for_each_step, inputs_in};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use ugas_core::{ActorId, InputId, LoadError, LoadIssue, Rules, Severity};
use ugas_data::{Code, HostNames, Loaded, ReadError, read_packs};
use ugas_doc::{Doc, DurationPolicy, Kind, Origin, TagEntry, TagRegistry};

/// The compiled side of a scenario.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) rules: Arc<Rules>,
    /// The rules before each reload: names that are gone were right once.
    past: Vec<Arc<Rules>>,
    /// What the rules are made of.
    docs: Vec<Loaded>,
    host: HostNames,
    /// Effects that are over when they were applied.
    instants: BTreeSet<String>,
    /// Host actors by the names that the scenario and its documents give them.
    actor_names: BTreeMap<ActorId, String>,
    /// Inputs that only the scenario names; their ids start at [`FIRST_INPUT`].
    inputs: Vec<String>,
}

/// Above every id that rules give out for inputs.
const FIRST_INPUT: u32 = 1 << 30;

impl World {
    /// Compiles everything a scenario names, or says everything that is wrong with it.
    pub(crate) fn build(scenario: &Scenario) -> Result<World, Vec<ReadError>> {
        World::build_after(scenario, None)
    }

    /// The same with rules that keep the ids of those of an older world.
    pub(crate) fn build_after(scenario: &Scenario, old: Option<&World>) -> Result<World, Vec<ReadError>> {
        let mut errors = Vec::new();
        let mut docs = Vec::new();
        let calculations = scenario.calculations.iter().map(|n| n.text.clone()).collect();
        let mut host = HostNames { calculations, ..HostNames::default() };
        let mut folders = Vec::new();
        for (folder, place) in &scenario.packs {
            if folder.is_dir() {
                folders.push(folder);
            } else {
                let message = format!("Packs: there is no folder {}", folder.display());
                errors.push(place.error(&scenario.file, message));
            }
        }
        match read_packs(folders) {
            Ok(packs) => {
                host.extend(&host_names(&packs));
                docs.extend(packs.into_iter().flat_map(|p| p.documents.docs));
            }
            Err(more) => errors.extend(more),
        }
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
            builder.build().map_err(|e| load_errors(e, &scenario.file))
        };
        let mut rules = build(Vec::new())?;
        // A tag exists if something uses it, and a scenario is something.
        let missing: Vec<(TagEntry, u32)> = tags_of(scenario)
            .into_iter()
            .filter(|t| rules.tag(&t.text).is_none())
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
            rules,
            past: old.map_or(Vec::new(), |old| old.past.iter().chain([&old.rules]).cloned().collect()),
            docs,
            host,
        })
    }

    /// The world with other documents in the place of those of their kinds and names, or everything that is wrong with
    /// them. Tags that a scenario lists are replaced as a whole; those of packs stay.
    pub(crate) fn reloaded(&self, reload: &ReloadVerb, file: &Arc<str>) -> Result<World, Vec<ReadError>> {
        let mut docs = self.docs.clone();
        for name in &reload.remove {
            let before = docs.len();
            docs.retain(|d| d.doc.name() != name.text);
            if docs.len() == before {
                return Err(vec![name.place.error(file, format!("there is no document {} to remove", name.text))]);
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
        let rules = builder.build().map_err(|e| load_errors(e, file))?;
        let mut past = self.past.clone();
        past.push(self.rules.clone());
        Ok(World { rules, past, instants: instants_of(&docs), docs, ..self.clone() })
    }

    /// What a name stands for, or stood for before a reload.
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
        self.rules.input(name).or_else(|| own().map(|i| InputId(FIRST_INPUT + i as u32))).unwrap_or(InputId::NONE)
    }

    pub(crate) fn input_name(&self, id: InputId) -> Option<&str> {
        let own = || self.inputs.get(id.0.checked_sub(FIRST_INPUT)? as usize);
        self.rules.input_name(id).or_else(|| own().map(String::as_str))
    }
}

/// A finding of the rules builder as an error at its place.
pub(crate) fn issue_error(issue: &LoadIssue, file: &str) -> ReadError {
    let (file, line) = match &issue.origin {
        Some(origin) => (origin.file.clone(), origin.line),
        None => (file.into(), 0),
    };
    let subject = match issue.document.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    ReadError {
        code: Code::Invalid,
        file,
        line,
        column: u32::from(line > 0),
        message: format!("{subject}{} [{}]", issue.message, issue.code),
        help: (issue.code == "unknown-calculation")
            .then(|| "name what host code provides under `Host: {Calculations: [..]}`".to_owned()),
    }
}

fn load_errors(error: LoadError, file: &str) -> Vec<ReadError> {
    let errors = error.issues.iter().filter(|i| i.severity == Severity::Error);
    errors.map(|i| issue_error(i, file)).collect()
}

fn instants_of(docs: &[Loaded]) -> BTreeSet<String> {
    let instant = |loaded: &Loaded| match &loaded.doc {
        Doc::Effect(e) if e.duration_policy == DurationPolicy::Instant => Some(e.name.clone()),
        _ => None,
    };
    docs.iter().filter_map(instant).collect()
}

/// The tags that only verbs and actors name.
fn tags_of(scenario: &Scenario) -> Vec<&Name> {
    let mut tags: Vec<&Name> = scenario.actors.iter().flat_map(|a| &a.tags).collect();
    for moment in &scenario.moments {
        for_each_step(&moment.steps, &mut |step| match &step.verb {
            Verb::Apply(apply) => tags.extend(apply.hit.iter().flat_map(|h| &h.tags)),
            Verb::Remove(remove) => {
                if let RemoveWhat::Tags { tags: named, .. } = &remove.what {
                    tags.extend(named);
                }
            }
            Verb::Ability(verb) => tags.extend(verb.tags()),
            _ => {}
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
    for moment in &scenario.moments {
        for_each_step(&moment.steps, &mut |step| {
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
    scenario.moments.iter().for_each(|m| inputs_in(&m.steps, &mut inputs));
    let own: BTreeSet<&str> = inputs.iter().map(|n| n.text.as_str()).filter(|n| rules.input(n).is_none()).collect();
    own.into_iter().map(str::to_owned).collect()
}
