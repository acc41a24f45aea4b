//! Converts each fact, diagnostic and trace entry to a kind and named fields.

use super::Runner;
use crate::scenario::{Found, Partial};
use ugas_core::{
    ActorId, ControllerId, Diagnostic, EffectId, Fact, FieldValue, LifecycleStep, SimTime, TagId, Trace, TraceKind,
};

/// An entry of a stream: a kind and named fields.
pub(crate) struct StreamEntry {
    kind: &'static str,
    fields: Vec<(&'static str, Found)>,
}

impl StreamEntry {
    /// Returns whether it matches a partial entry.
    pub(crate) fn fits(&self, partial: &Partial) -> bool {
        let field = |name: &str| self.fields.iter().find(|(n, _)| *n == name).map(|(_, found)| found);
        self.kind == partial.kind
            && partial.fields.iter().all(|(name, matcher)| matcher.holds(field(&name.text).unwrap_or(&Found::Nothing)))
    }
}

impl std::fmt::Display for StreamEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{{Kind: {}", self.kind)?;
        for (name, found) in self.fields.iter().filter(|(_, found)| *found != Found::Nothing) {
            write!(f, ", {name}: {found}")?;
        }
        f.write_str("}")
    }
}

impl Runner<'_> {
    pub(crate) fn seen_fact(&self, fact: &Fact) -> StreamEntry {
        let mut fields = self.common(fact.who, fact.effect, fact.at);
        fields.push(("Source", self.actor_field(fact.source)));
        fact.kind.fields(&mut |name, value| fields.push((name, self.field(value, Some(fact)))));
        StreamEntry { kind: fact.kind.name(), fields }
    }

    /// Converts a field; `fact` is the fact whose details contain the parameters of the field.
    fn field(&self, value: FieldValue, fact: Option<&Fact>) -> Found {
        let rules = &self.world.rules;
        let named = |name: Option<&str>| name.map_or(Found::Nothing, Found::text);
        match value {
            FieldValue::Number(n) => Found::Number(n),
            FieldValue::Count(n) => Found::Number(f64::from(n)),
            FieldValue::Flag(flag) => Found::Flag(flag),
            FieldValue::Time(time) => Found::Number(time.as_seconds()),
            FieldValue::Word(word) => Found::text(word),
            FieldValue::Attribute(attribute) => named(rules.attribute_name(attribute)),
            FieldValue::Tag(tag) => self.tag_field(tag),
            FieldValue::Effect(effect) => self.effect_field(effect),
            FieldValue::Ability(ability) => self.ability_field(ability),
            FieldValue::Grant(grant) => Found::Number(f64::from(grant.0)),
            FieldValue::AbilitySet(set) => named(rules.ability_set_name(set)),
            FieldValue::Capability(class) => named(rules.capability_name(class)),
            FieldValue::Set(set) => named(rules.set_name(set)),
            FieldValue::Group(group) => named(rules.group_name(group)),
            FieldValue::Task(task) => named(rules.task_kind_name(task)),
            FieldValue::Input(input) => named(self.world.input_name(input)),
            FieldValue::Key(key) => named(rules.key_name(key)),
            FieldValue::Controller(who) => self.actor_field(who),
            FieldValue::Actor(actor) => self.host_actor_field(actor),
            FieldValue::Params(_) => fact.map_or(Found::Nothing, |fact| self.params_of(fact)),
        }
    }

    pub(crate) fn seen_diagnostic(&self, diagnostic: &Diagnostic) -> StreamEntry {
        let mut fields = self.common(diagnostic.who, diagnostic.effect, diagnostic.at);
        diagnostic.kind.fields(&mut |name, value| fields.push((name, self.field(value, None))));
        StreamEntry { kind: diagnostic.kind.name(), fields }
    }

    pub(crate) fn seen_trace(&self, trace: &Trace) -> StreamEntry {
        let rules = &self.world.rules;
        let mut fields = Vec::new();
        let mut effect = EffectId::NONE;
        let kind = match trace.kind {
            TraceKind::Refused { effect: of, refusal } => {
                effect = of;
                fields.push(("Refusal", Found::text(refusal.kind())));
                "Refused"
            }
            TraceKind::Ability { ability, from, to, .. } => {
                fields.push(("Ability", self.ability_field(ability)));
                fields.push(("From", Found::text(format!("{from:?}"))));
                fields.push(("To", Found::text(format!("{to:?}"))));
                "AbilityState"
            }
            TraceKind::AbilityRefused { ability, refusal } => {
                fields.push(("Ability", self.ability_field(ability)));
                fields.push(("Refusal", Found::text(refusal.kind())));
                "AbilityRefused"
            }
            TraceKind::Task { ability, task, to, .. } => {
                fields.push(("Ability", self.ability_field(ability)));
                fields.push(("Task", rules.task_kind_name(task).map_or(Found::Nothing, Found::text)));
                fields.push(("To", Found::text(format!("{to:?}"))));
                "TaskState"
            }
            TraceKind::Lifecycle(step) => match step {
                LifecycleStep::Instantiated => "Instantiated",
                LifecycleStep::SetRegistered(set) => {
                    fields.push(("Set", rules.set_name(set).map_or(Found::Nothing, Found::text)));
                    "SetRegistered"
                }
                LifecycleStep::ActorsSet => "ActorsSet",
                LifecycleStep::AbilityGranted(ability) => {
                    fields.push(("Ability", self.ability_field(ability)));
                    "AbilityGranted"
                }
                LifecycleStep::EffectApplied(of) => {
                    effect = of;
                    "EffectApplied"
                }
                LifecycleStep::ReplicationConfigured => "ReplicationConfigured",
                LifecycleStep::AvatarCleared => "AvatarCleared",
                LifecycleStep::AvatarEffectsRevalidated => "AvatarEffectsRevalidated",
                LifecycleStep::AvatarSet => "AvatarSet",
                LifecycleStep::AvatarAbilitiesRevalidated => "AvatarAbilitiesRevalidated",
                LifecycleStep::EffectsRemoved => "EffectsRemoved",
                LifecycleStep::AbilitiesRevoked => "AbilitiesRevoked",
                LifecycleStep::SubscriptionsCleared => "SubscriptionsCleared",
                LifecycleStep::ReplicationEnded => "ReplicationEnded",
            },
        };
        fields.extend(self.common(trace.who, effect, trace.at));
        StreamEntry { kind, fields }
    }

    fn common(&self, who: ControllerId, effect: EffectId, at: SimTime) -> Vec<(&'static str, Found)> {
        vec![
            ("At", Found::Number(at.as_seconds())),
            ("Actor", self.actor_field(who)),
            ("Effect", self.effect_field(effect)),
        ]
    }

    pub(crate) fn actor_field(&self, who: ControllerId) -> Found {
        match who.some() {
            None => Found::Nothing,
            Some(who) => match self.who_is.get(&who) {
                Some(name) => Found::text(name.clone()),
                None => Found::text(format!("controller {}", who.0)),
            },
        }
    }

    fn host_actor_field(&self, actor: ActorId) -> Found {
        actor.some().map_or(Found::Nothing, |a| Found::Text(self.world.actor_name(a)))
    }

    fn effect_field(&self, effect: EffectId) -> Found {
        let name = self.world.rules.effect_name(effect);
        name.map_or(Found::Nothing, Found::text)
    }

    fn ability_field(&self, ability: ugas_core::AbilityId) -> Found {
        let name = self.world.rules.ability_name(ability);
        name.map_or(Found::Nothing, Found::text)
    }

    pub(crate) fn tag_field(&self, tag: TagId) -> Found {
        let name = self.world.rules.tag_name(tag);
        name.map_or(Found::Nothing, Found::text)
    }
}
