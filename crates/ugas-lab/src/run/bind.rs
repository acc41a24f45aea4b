//! Resolves every name of a scenario before it runs. A misspelt name is reported as an error with its line, its column
//! and a suggestion.

use super::path_value::resolve;
use super::world::World;
use crate::scenario::{
    AbilitySelector, AbilityVerb, Aim, ApplyVerb, BlockedBy, CapabilityVerb, ChangeTo, Found, Matcher, Name, Partial,
    Pick, RemoveWhat, Scenario, Step, Verb, did_you_mean, for_each_step,
};
use std::collections::BTreeSet;
use ugas_core::{MIN_PERIOD, NameKind, SimTime};
use ugas_data::ReadError;

/// Returns errors for unknown names and impossible times.
pub(crate) fn check(world: &World, scenario: &Scenario) -> Vec<ReadError> {
    let mut binder = Binder { world: world.clone(), scenario, marks: BTreeSet::new(), errors: Vec::new() };
    binder.actors();
    for entry in &scenario.timeline {
        for_each_step(&entry.steps, &mut |step| binder.step(step));
    }
    binder.errors
}

struct Binder<'a> {
    /// The world at the current step; a reload replaces it.
    world: World,
    scenario: &'a Scenario,
    marks: BTreeSet<&'a str>,
    errors: Vec<ReadError>,
}

impl<'a> Binder<'a> {
    fn unknown(&mut self, noun: &str, name: &Name, help: Option<String>) {
        let message = format!("unknown {noun} {}", name.text);
        let help = self.document_outside_scenario(name).or(help);
        self.errors.push(ReadError { help, ..name.place.error(&self.scenario.file, message) });
    }

    /// Returns help if a document in the same file defines the name: a scenario only uses its packs and entities.
    fn document_outside_scenario(&self, name: &Name) -> Option<String> {
        let text = self.scenario.text.as_ref().filter(|text| text.contains(name.text.as_str()))?;
        let trees = ugas_data::read_trees(&self.scenario.file, text).ok()?;
        let mut documents = trees.iter().filter(|t| t.get("Scenario").is_none());
        let named = |t: &ugas_data::Node| t.get("Name").and_then(|n| n.as_text()) == Some(name.text.as_str());
        let found = documents.find(|t| named(t) || t.get("Attributes").is_some_and(|a| a.items().iter().any(named)))?;
        let line = found.line;
        Some(format!(
            "the document at line {line} is not part of the scenario; move it under `Entities:` or into a pack"
        ))
    }

    /// Checks an input.
    fn input(&mut self, name: &Name) {
        if !self.world.is_bound(&name.text) {
            let help = did_you_mean(&name.text, self.world.bound_inputs());
            self.unknown("input", name, help.or(Some("set `InputID` where an ability is granted".to_owned())));
        }
    }

    fn near(&self, kind: NameKind, name: &Name) -> Option<String> {
        let near = self.world.rules.nearest_name(kind, &name.text);
        near.map(|n| format!("did you mean {n:?}?"))
    }

    fn actor(&mut self, name: &Name) {
        if !self.scenario.actors.iter().any(|a| a.name.text == name.text) {
            let known = self.scenario.actors.iter().map(|a| a.name.text.as_str());
            let help = did_you_mean(&name.text, known);
            self.unknown("actor", name, help);
        }
    }

    fn effect(&mut self, name: &Name) {
        if self.world.find(|rules| rules.find_effect(&name.text)).is_none() {
            let help = did_you_mean(&name.text, self.world.rules.effect_list().map(|(_, n)| n));
            self.unknown("effect", name, help);
        }
    }

    fn attribute(&mut self, name: &Name) {
        if self.world.rules.find_attribute(&name.text).is_none() {
            let help = self.near(NameKind::Attribute, name);
            self.unknown("attribute", name, help);
        }
    }

    fn set(&mut self, name: &Name) {
        if self.world.find(|rules| rules.find_set(&name.text)).is_none() {
            let help = self.near(NameKind::Set, name);
            self.unknown("attribute set", name, help);
        }
    }

    fn ability(&mut self, name: &Name) {
        if self.world.find(|rules| rules.find_ability(&name.text)).is_none() {
            let help = self.near(NameKind::Ability, name);
            self.unknown("ability", name, help);
        }
    }

    fn ability_set(&mut self, name: &Name) {
        if self.world.find(|rules| rules.find_ability_set(&name.text)).is_none() {
            let help = self.near(NameKind::AbilitySet, name);
            self.unknown("ability set", name, help);
        }
    }

    fn capability(&mut self, name: &Name) {
        if self.world.find(|rules| rules.find_capability(&name.text)).is_none() {
            let help = self.near(NameKind::Capability, name);
            self.unknown("capability", name, help);
        }
    }

    fn capability_verb(&mut self, verb: &CapabilityVerb, expects_unknown: bool) {
        self.actor(verb.actor());
        match verb {
            CapabilityVerb::Block { by, .. } | CapabilityVerb::Unblock { by, .. } => match by {
                BlockedBy::Host(_) => {}
                BlockedBy::Actor(actor) => self.actor(actor),
                BlockedBy::Effect(handle) => self.handle(handle),
            },
            CapabilityVerb::Enable { class, .. } | CapabilityVerb::SetTick { class, .. } => {
                if !expects_unknown {
                    self.capability(class);
                }
            }
        }
    }

    fn handle(&mut self, name: &Name) {
        if !self.scenario.handles.iter().any(|h| h.text == name.text) {
            let known = self.scenario.handles.iter().map(|h| h.text.as_str());
            let help = did_you_mean(&name.text, known);
            self.unknown("result name", name, help);
        }
    }

    fn actors(&mut self) {
        let scenario = self.scenario;
        for actor in &scenario.actors {
            if let Some(controller) = &actor.controller
                && self.world.rules.find_template(&controller.text).is_none()
            {
                let help = self.near(NameKind::Template, controller);
                let other = || "use the OwnerActor.ActorID of a gameplay_controller document".to_owned();
                let help = help.or_else(|| Some(other()));
                self.unknown("controller", controller, help);
            }
            actor.stats.iter().chain(&actor.sets).for_each(|n| self.set(n));
            actor.resources.iter().for_each(|r| self.set(&r.resource));
            actor.base.iter().for_each(|(n, _)| self.attribute(n));
            actor.effects.iter().for_each(|n| self.effect(n));
            actor.abilities.iter().for_each(|a| self.ability(&a.ability));
            actor.capabilities.iter().for_each(|n| self.ability_set(n));
        }
    }

    fn step(&mut self, step: &'a Step) {
        // A step that expects the refusal of an unknown name may have one.
        let expects_unknown = matches!(step.refused, Some("UnknownName" | "Any"));
        match &step.verb {
            Verb::Apply(apply) => {
                self.apply(apply, expects_unknown);
                self.possible_time(step, "Duration", apply.duration, SimTime::ZERO);
                self.possible_time(step, "Period", apply.period, MIN_PERIOD);
            }
            Verb::Remove(remove) => match &remove.what {
                RemoveWhat::Handle(handle) => self.handle(handle),
                RemoveWhat::Effect { actor, effect } => {
                    self.actor(actor);
                    if !expects_unknown {
                        self.effect(effect);
                    }
                }
                RemoveWhat::Tags { actor, .. } => self.actor(actor),
            },
            Verb::ChangeEffect { handle, changes } => {
                self.handle(handle);
                changes.iter().for_each(|change| self.change(step, change));
            }
            Verb::Move { actor, .. }
            | Verb::Possess { actor, .. }
            | Verb::Spawn { actor }
            | Verb::Despawn { actor }
            | Verb::SetActive { actor, .. }
            | Verb::SetRate { actor, .. }
            | Verb::SetLocal { actor, .. } => self.actor(actor),
            Verb::AddSet { actor, set } | Verb::RemoveSet { actor, set, .. } => {
                self.actor(actor);
                if !expects_unknown {
                    self.set(set);
                }
            }
            Verb::ModifyResource(modify) => {
                self.actor(&modify.actor);
                modify.from.iter().for_each(|n| self.actor(n));
                self.attribute(&modify.resource);
            }
            Verb::Ability(verb) => self.ability_verb(verb, expects_unknown),
            Verb::Capability(verb) => self.capability_verb(verb, expects_unknown),
            Verb::Reload(reload) => {
                // Documents that do not build are a refusal of the step, not an error of the file.
                if let Ok(world) = self.world.reloaded(reload, self.scenario) {
                    self.world = world;
                }
            }
            Verb::Wire(_) | Verb::Repeat { .. } => {}
            Verb::Expect(list) => list.iter().for_each(|expectation| self.path(&expectation.path)),
            Verb::ExpectStream { entries, .. } => entries.iter().for_each(|p| self.partial(p)),
            Verb::ExpectCount(list) => list.iter().for_each(|c| self.partial(&c.entry)),
            Verb::MarkHash { mark, actor } => {
                self.marks.insert(&mark.text);
                actor.iter().for_each(|n| self.actor(n));
            }
            Verb::ExpectHash { mark, actor } => {
                if !self.marks.contains(mark.text.as_str()) {
                    let help = did_you_mean(&mark.text, self.marks.iter().copied());
                    self.unknown("hash mark", mark, help);
                }
                actor.iter().for_each(|n| self.actor(n));
            }
        }
    }

    fn path(&mut self, path: &Name) {
        if let Err(error) = resolve(&self.world, self.scenario, &path.text) {
            let found = path.place.error(&self.scenario.file, error.message);
            self.errors.push(ReadError { help: error.help, ..found });
        }
    }

    fn change(&mut self, step: &Step, change: &ChangeTo) {
        match change {
            ChangeTo::Remaining(time) => self.possible_time(step, "Remaining", Some(*time), SimTime::ZERO),
            ChangeTo::Period(time) => self.possible_time(step, "Period", Some(*time), MIN_PERIOD),
            ChangeTo::Level(_) | ChangeTo::Stacks(_) | ChangeTo::SetByCaller(..) => {}
        }
    }

    /// Reports a time that is always refused, unless the step expects a refusal.
    fn possible_time(&mut self, step: &Step, field: &str, time: Option<SimTime>, least: SimTime) {
        if let Some(time) = time.filter(|&time| time < least)
            && step.refused.is_none()
            && !step.may_refuse
        {
            let message = format!("{field}: expected at least {least}, found {time}");
            self.errors.push(step.place.error(&self.scenario.file, message));
        }
    }

    fn pick(&mut self, pick: &Pick, expects_unknown: bool) {
        match pick {
            Pick::Ability(name) if !expects_unknown => self.ability(name),
            Pick::Set(name) if !expects_unknown => self.ability_set(name),
            Pick::Handle(name) => self.handle(name),
            Pick::Input(name) if !expects_unknown => self.input(name),
            Pick::Ability(_) | Pick::Set(_) | Pick::Input(_) => {}
        }
    }

    fn of(&mut self, of: &AbilitySelector, expects_unknown: bool) {
        of.actor.iter().for_each(|n| self.actor(n));
        self.pick(&of.pick, expects_unknown);
    }

    fn aim(&mut self, aim: &Aim) {
        if let Aim::Actor(name) = aim {
            self.actor(name);
        }
    }

    fn ability_verb(&mut self, verb: &AbilityVerb, expects_unknown: bool) {
        match verb {
            AbilityVerb::Grant { actor, what, .. } => {
                self.actor(actor);
                self.pick(what, expects_unknown);
            }
            AbilityVerb::Activate { of, aim, .. } => {
                self.of(of, expects_unknown);
                self.aim(aim);
            }
            AbilityVerb::Interrupt { actor, what } => {
                actor.iter().for_each(|n| self.actor(n));
                what.iter().for_each(|p| self.pick(p, expects_unknown));
            }
            AbilityVerb::Revoke(of)
            | AbilityVerb::Stop { of, .. }
            | AbilityVerb::Validate { of, .. }
            | AbilityVerb::SetParam { of, .. }
            | AbilityVerb::SetLevel { of, .. } => self.of(of, expects_unknown),
            AbilityVerb::Event { to, from, .. } => {
                self.actor(to);
                from.iter().for_each(|n| self.actor(n));
            }
            AbilityVerb::Press { actor, aim, input, .. } => {
                self.actor(actor);
                self.aim(aim);
                if !expects_unknown {
                    self.input(input);
                }
            }
            AbilityVerb::LetGo { actor, input } => {
                self.actor(actor);
                input.iter().filter(|_| !expects_unknown).for_each(|input| self.input(input));
            }
            AbilityVerb::Release { actor, input } | AbilityVerb::Axis { actor, input, .. } => {
                self.actor(actor);
                if !expects_unknown {
                    self.input(input);
                }
            }
            AbilityVerb::Complete(c) => {
                self.actor(&c.actor);
                c.targets.iter().for_each(|n| self.actor(n));
            }
        }
    }

    fn apply(&mut self, apply: &ApplyVerb, expects_unknown: bool) {
        if !expects_unknown {
            self.effect(&apply.effect);
        }
        self.actor(&apply.to);
        apply.from.iter().for_each(|n| self.actor(n));
        apply.ability.iter().for_each(|n| self.ability(n));
    }

    fn partial(&mut self, partial: &Partial) {
        for (field, matcher) in &partial.fields {
            let Matcher::Is(Found::Text(text)) = matcher else {
                continue;
            };
            let name = Name { text: text.clone(), place: field.place };
            match field.text.as_str() {
                "AbilitySet" => self.ability_set(&name),
                "Class" => self.capability(&name),
                "Actor" | "Source" | "Credit" => self.actor(&name),
                "Effect" | "By" => self.effect(&name),
                "Attribute" => self.attribute(&name),
                "Set" if ["Capability", "CapabilityWithoutCode"].contains(&partial.kind) => self.ability_set(&name),
                "Set" => self.set(&name),
                "Ability" => self.ability(&name),
                _ => {}
            }
        }
    }
}
