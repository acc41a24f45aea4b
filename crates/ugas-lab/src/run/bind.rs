//! Every name of a scenario, looked up before anything runs: a misspelt one is an error at its place with the
//! nearest right one, not a run that fails somewhere else.

use super::look::resolve;
use super::world::World;
use crate::scenario::{
    AbilityVerb, Aim, ApplyVerb, Found, Matcher, Name, Of, Partial, Pick, RemoveWhat, Scenario, Step, Verb,
    did_you_mean, for_each_step,
};
use std::collections::BTreeSet;
use ugas_core::NameKind;
use ugas_data::ReadError;

/// Everything that names nothing.
pub(crate) fn check(world: &World, scenario: &Scenario) -> Vec<ReadError> {
    let mut binder = Binder { world: world.clone(), scenario, marks: BTreeSet::new(), errors: Vec::new() };
    binder.actors();
    for moment in &scenario.moments {
        for_each_step(&moment.steps, &mut |step| binder.step(step));
    }
    binder.errors
}

struct Binder<'a> {
    /// What there is at the step that is looked at; a reload makes another.
    world: World,
    scenario: &'a Scenario,
    marks: BTreeSet<&'a str>,
    errors: Vec<ReadError>,
}

impl<'a> Binder<'a> {
    fn unknown(&mut self, noun: &str, name: &Name, help: Option<String>) {
        let message = format!("there is no {noun} {}", name.text);
        let help = self.beside(name).or(help);
        self.errors.push(ReadError { help, ..name.place.error(&self.scenario.file, message) });
    }

    /// What to do about a name that a document beside the scenario defines: only its packs and entities are its own.
    fn beside(&self, name: &Name) -> Option<String> {
        let text = self.scenario.text.as_ref().filter(|text| text.contains(name.text.as_str()))?;
        let trees = ugas_data::read_trees(&self.scenario.file, text).ok()?;
        let mut documents = trees.iter().filter(|t| t.get("Scenario").is_none());
        let named = |t: &ugas_data::Node| t.get("Name").and_then(|n| n.as_text()) == Some(name.text.as_str());
        let found = documents.find(|t| named(t) || t.get("Attributes").is_some_and(|a| a.items().iter().any(named)))?;
        let line = found.line;
        Some(format!("the document at line {line} is not the scenario's; put it under `Entities:`, or into a pack"))
    }

    /// An input that something is bound to.
    fn input(&mut self, name: &Name) {
        if !self.world.is_bound(&name.text) {
            let help = did_you_mean(&name.text, self.world.bound_inputs());
            self.unknown("input", name, help.or(Some("bind it with InputID where an ability is granted".to_owned())));
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
            self.unknown("ability set", name, None);
        }
    }

    fn handle(&mut self, name: &Name) {
        if !self.scenario.handles.iter().any(|h| h.text == name.text) {
            let known = self.scenario.handles.iter().map(|h| h.text.as_str());
            let help = did_you_mean(&name.text, known);
            self.unknown("named result", name, help);
        }
    }

    fn actors(&mut self) {
        let scenario = self.scenario;
        for actor in &scenario.actors {
            if let Some(controller) = &actor.controller
                && self.world.rules.find_template(&controller.text).is_none()
            {
                let help = Some("write the OwnerActor.ActorID of a gameplay_controller document".to_owned());
                self.unknown("controller", controller, help);
            }
            actor.sets.iter().for_each(|n| self.set(n));
            actor.base.iter().for_each(|(n, _)| self.attribute(n));
            actor.effects.iter().for_each(|n| self.effect(n));
            actor.abilities.iter().for_each(|a| self.ability(&a.ability));
        }
    }

    fn step(&mut self, step: &'a Step) {
        // A step that must be refused for an unknown name may have one.
        let unknown_is_meant = matches!(step.refused, Some("UnknownName" | "Any"));
        match &step.verb {
            Verb::Apply(apply) => self.apply(apply, unknown_is_meant),
            Verb::Remove(remove) => match &remove.what {
                RemoveWhat::Handle(handle) => self.handle(handle),
                RemoveWhat::Effect { actor, effect } => {
                    self.actor(actor);
                    if !unknown_is_meant {
                        self.effect(effect);
                    }
                }
                RemoveWhat::Tags { actor, .. } => self.actor(actor),
            },
            Verb::ChangeEffect { handle, .. } => self.handle(handle),
            Verb::Move { actor, .. }
            | Verb::Possess { actor, .. }
            | Verb::Spawn { actor }
            | Verb::Despawn { actor }
            | Verb::SetActive { actor, .. }
            | Verb::SetRate { actor, .. } => self.actor(actor),
            Verb::AddSet { actor, set } | Verb::RemoveSet { actor, set, .. } => {
                self.actor(actor);
                if !unknown_is_meant {
                    self.set(set);
                }
            }
            Verb::Ability(verb) => self.ability_verb(verb, unknown_is_meant),
            Verb::Reload(reload) => {
                // What does not build is a refusal of its step, not an error of the file.
                if let Ok(world) = self.world.reloaded(reload, self.scenario) {
                    self.world = world;
                }
            }
            Verb::Wire(_) | Verb::Repeat { .. } => {}
            Verb::Expect(list) => {
                for expectation in list {
                    if let Err(lost) = resolve(&self.world, self.scenario, &expectation.path.text) {
                        self.errors.push(ReadError {
                            help: lost.help,
                            ..expectation.path.place.error(&self.scenario.file, lost.message)
                        });
                    }
                }
            }
            Verb::ExpectStream { entries, .. } => entries.iter().for_each(|p| self.partial(p)),
            Verb::ExpectCount(list) => list.iter().for_each(|c| self.partial(&c.entry)),
            Verb::MarkHash { mark, actor } => {
                self.marks.insert(&mark.text);
                actor.iter().for_each(|n| self.actor(n));
            }
            Verb::ExpectHash { mark, actor } => {
                if !self.marks.contains(mark.text.as_str()) {
                    let help = did_you_mean(&mark.text, self.marks.iter().copied());
                    self.unknown("hash marked before as", mark, help);
                }
                actor.iter().for_each(|n| self.actor(n));
            }
        }
    }

    fn pick(&mut self, pick: &Pick, unknown_is_meant: bool) {
        match pick {
            Pick::Ability(name) if !unknown_is_meant => self.ability(name),
            Pick::Set(name) if !unknown_is_meant => self.ability_set(name),
            Pick::Handle(name) => self.handle(name),
            Pick::Input(name) if !unknown_is_meant => self.input(name),
            Pick::Ability(_) | Pick::Set(_) | Pick::Input(_) => {}
        }
    }

    fn of(&mut self, of: &Of, unknown_is_meant: bool) {
        of.actor.iter().for_each(|n| self.actor(n));
        self.pick(&of.pick, unknown_is_meant);
    }

    fn aim(&mut self, aim: &Aim) {
        if let Aim::Actor(name) = aim {
            self.actor(name);
        }
    }

    fn ability_verb(&mut self, verb: &AbilityVerb, unknown_is_meant: bool) {
        match verb {
            AbilityVerb::Grant { actor, what, .. } => {
                self.actor(actor);
                self.pick(what, unknown_is_meant);
            }
            AbilityVerb::Activate { of, aim, .. } => {
                self.of(of, unknown_is_meant);
                self.aim(aim);
            }
            AbilityVerb::Interrupt { actor, what } => {
                actor.iter().for_each(|n| self.actor(n));
                what.iter().for_each(|p| self.pick(p, unknown_is_meant));
            }
            AbilityVerb::Revoke(of)
            | AbilityVerb::Stop { of, .. }
            | AbilityVerb::Validate { of, .. }
            | AbilityVerb::SetParam { of, .. }
            | AbilityVerb::SetLevel { of, .. } => self.of(of, unknown_is_meant),
            AbilityVerb::Event { to, from, .. } => {
                self.actor(to);
                from.iter().for_each(|n| self.actor(n));
            }
            AbilityVerb::Press { actor, aim, input, .. } => {
                self.actor(actor);
                self.aim(aim);
                if !unknown_is_meant {
                    self.input(input);
                }
            }
            AbilityVerb::Release { actor, input } => {
                self.actor(actor);
                if !unknown_is_meant {
                    self.input(input);
                }
            }
            AbilityVerb::Complete(c) => {
                self.actor(&c.actor);
                c.targets.iter().for_each(|n| self.actor(n));
            }
        }
    }

    fn apply(&mut self, apply: &ApplyVerb, unknown_is_meant: bool) {
        if !unknown_is_meant {
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
                "Actor" | "Source" | "Credit" => self.actor(&name),
                "Effect" | "By" => self.effect(&name),
                "Attribute" => self.attribute(&name),
                "Set" => self.set(&name),
                "Ability" => self.ability(&name),
                _ => {}
            }
        }
    }
}
