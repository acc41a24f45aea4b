//! Converts facts, diagnostics and trace entries to a kind and named fields.

use super::Runner;
use crate::scenario::{Found, Partial};
use ugas_core::{
    ActorId, AttributeId, ControllerId, CueType, Diagnostic, DiagnosticKind, EffectId, Fact, FactKind, LifecycleStep,
    SimTime, TagId, Trace, TraceKind,
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
        let number = |n: u32| Found::Number(f64::from(n));
        let more = match fact.kind {
            FactKind::AttributeChanged { attribute, old, new, old_base, new_base } => vec![
                ("Attribute", self.attribute_field(attribute)),
                ("Old", Found::Number(old)),
                ("New", Found::Number(new)),
                ("OldBase", Found::Number(old_base)),
                ("NewBase", Found::Number(new_base)),
            ],
            FactKind::TagChanged { tag, added, exact, presence } => vec![
                ("Tag", self.tag_field(tag)),
                ("Added", Found::Flag(added)),
                ("Exact", Found::Flag(exact)),
                ("Presence", Found::Flag(presence)),
            ],
            FactKind::EffectApplied { level, stacks } => vec![("Level", number(level)), ("Stacks", number(stacks))],
            FactKind::EffectExecuted { execution } | FactKind::ExecutionRestricted { execution } => {
                vec![("Execution", number(execution))]
            }
            FactKind::EffectRemoved { reason } => vec![("Reason", Found::text(format!("{reason:?}")))],
            FactKind::EffectChanged { what, stacks, level } => {
                vec![("What", Found::text(format!("{what:?}"))), ("Stacks", number(stacks)), ("Level", number(level))]
            }
            FactKind::Immune { by, .. } => vec![("By", self.effect_field(by))],
            FactKind::Granted { ability, grant, level, input } => vec![
                ("Ability", self.ability_field(ability)),
                ("Grant", number(grant.0)),
                ("Level", number(level)),
                ("InputID", self.world.input_name(input).map_or(Found::Nothing, Found::text)),
            ],
            FactKind::Revoked { ability, grant } => {
                vec![("Ability", self.ability_field(ability)), ("Grant", number(grant.0))]
            }
            FactKind::Cue { tag, cue, .. } => {
                let cue = match cue {
                    CueType::Execute => "Execute",
                    CueType::Add => "Add",
                    CueType::Remove => "Remove",
                };
                vec![("Tag", self.tag_field(tag)), ("Type", Found::text(cue)), ("Params", self.params_of(fact))]
            }
            FactKind::Died { attribute } => vec![("Attribute", self.attribute_field(attribute))],
            FactKind::Spawned { owner } => vec![("Owner", self.host_actor_field(owner))],
            FactKind::SetAdded { set } | FactKind::SetRemoved { set } => {
                vec![("Set", self.world.rules.set_name(set).map_or(Found::Nothing, Found::text))]
            }
            FactKind::Possessed { old, new } => {
                vec![("Old", self.host_actor_field(old)), ("New", self.host_actor_field(new))]
            }
            FactKind::ContextTag { tag } => vec![("Tag", self.tag_field(tag))],
            _ => self.seen_ability(fact),
        };
        fields.extend(more);
        StreamEntry { kind: fact.kind.name(), fields }
    }

    /// Returns the fields of facts about abilities.
    fn seen_ability(&self, fact: &Fact) -> Vec<(&'static str, Found)> {
        let rules = &self.world.rules;
        let number = |n: u32| Found::Number(f64::from(n));
        let seconds = |t: SimTime| Found::Number(t.as_seconds());
        let named = |name: Option<&str>| name.map_or(Found::Nothing, Found::text);
        match fact.kind {
            FactKind::AbilityActivated { ability, grant, level, .. } => {
                vec![("Ability", self.ability_field(ability)), ("Grant", number(grant.0)), ("Level", number(level))]
            }
            FactKind::AbilityEnded { ability, grant, cancelled, interrupted, .. } => vec![
                ("Ability", self.ability_field(ability)),
                ("Grant", number(grant.0)),
                ("Cancelled", Found::Flag(cancelled)),
                ("Interrupted", Found::Flag(interrupted)),
            ],
            FactKind::TaskRequest { ability, task, .. } => vec![
                ("Ability", self.ability_field(ability)),
                ("Task", named(rules.task_kind_name(task))),
                ("Params", self.params_of(fact)),
            ],
            FactKind::TaskEnded { ability, task, value, result, .. } => vec![
                ("Ability", self.ability_field(ability)),
                ("Task", named(rules.task_kind_name(task))),
                ("Value", Found::Number(value)),
                ("Result", Found::text(format!("{result:?}"))),
            ],
            FactKind::GameplayEvent { tag, magnitude, .. } => vec![
                ("Tag", self.tag_field(tag)),
                ("Magnitude", Found::Number(magnitude)),
                ("Params", self.params_of(fact)),
            ],
            FactKind::Cast { ability, tick, length, step } => vec![
                ("Ability", self.ability_field(ability)),
                ("Step", Found::text(format!("{step:?}"))),
                ("Tick", number(tick)),
                ("Length", seconds(length)),
            ],
            FactKind::GlobalCooldown { group, running, length } => vec![
                ("Group", named(rules.group_name(group))),
                ("Running", Found::Flag(running)),
                ("Length", seconds(length)),
            ],
            FactKind::Charges { ability, grant, have, max, length } => vec![
                ("Ability", self.ability_field(ability)),
                ("Grant", number(grant.0)),
                ("Have", number(have)),
                ("Max", number(max)),
                ("Length", seconds(length)),
            ],
            FactKind::Input { input, pressed, held } => vec![
                ("InputID", named(self.world.input_name(input))),
                ("Pressed", Found::Flag(pressed)),
                ("Held", seconds(held)),
            ],
            FactKind::Damage { damage, style, credit, amount, raw, absorbed, overkill } => vec![
                ("Type", Found::text(format!("{damage:?}"))),
                ("Style", Found::text(format!("{style:?}"))),
                ("Credit", self.actor_field(credit)),
                ("Amount", Found::Number(amount)),
                ("Raw", Found::Number(raw)),
                ("Absorbed", Found::Number(absorbed)),
                ("Overkill", Found::Number(overkill)),
            ],
            FactKind::SetGranted { set, .. } | FactKind::SetRevoked { set, .. } => {
                vec![("AbilitySet", named(rules.ability_set_name(set)))]
            }
            _ => Vec::new(),
        }
    }

    pub(crate) fn seen_diagnostic(&self, diagnostic: &Diagnostic) -> StreamEntry {
        let mut fields = self.common(diagnostic.who, diagnostic.effect, diagnostic.at);
        match diagnostic.kind {
            DiagnosticKind::TagUnderflow { tag } | DiagnosticKind::MultipleGrants { tag } => {
                fields.push(("Tag", self.tag_field(tag)));
            }
            DiagnosticKind::MissingSetByCaller { key } => {
                let name = self.world.rules.key_name(key);
                fields.push(("Key", name.map_or(Found::Nothing, Found::text)));
            }
            DiagnosticKind::NonFinite { attribute } | DiagnosticKind::Saturated { attribute } => {
                fields.push(("Attribute", self.attribute_field(attribute)));
            }
            DiagnosticKind::ValueMismatch { attribute, stated, found } => fields.extend([
                ("Attribute", self.attribute_field(attribute)),
                ("Stated", Found::Number(stated)),
                ("Found", Found::Number(found)),
            ]),
            DiagnosticKind::ReactionRefused { refusal } => {
                fields.push(("Refusal", Found::text(refusal.kind())));
            }
            _ => {}
        }
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

    fn attribute_field(&self, attribute: AttributeId) -> Found {
        let name = self.world.rules.attribute_name(attribute);
        name.map_or(Found::Nothing, Found::text)
    }

    pub(crate) fn tag_field(&self, tag: TagId) -> Found {
        let name = self.world.rules.tag_name(tag);
        name.map_or(Found::Nothing, Found::text)
    }
}
