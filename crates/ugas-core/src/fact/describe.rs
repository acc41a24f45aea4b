//! Facts as text: one line per fact, with names instead of ids.

use super::{
    BufferStep, CapabilityStep, CastStep, CueType, EffectChange, Fact, FactKind, RemoveReason, ResourceStep, TaskResult,
};
use crate::{AbilityId, AttributeId, EffectId, InputId, Rules, SetId, TagId, TaskKindId};

impl Fact {
    /// Returns the fact as one line of text: the time, the controller, what happened, the effect that caused it, and
    /// the source of the effect. Controllers are shown by id. Everything else is shown by its name in the rules.
    ///
    /// ```
    /// use ugas_core::{Facts, Rules, Sim, SimConfig, SpawnSpec, Spec};
    /// use ugas_doc::{Attribute, AttributeSet, Effect};
    /// let rules = Rules::builder()
    ///     .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
    ///     .add(Effect::instant("GE_Hit").add("Health", -10.0))
    ///     .build()
    ///     .unwrap();
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let hero = sim.spawn(SpawnSpec { sets: vec![rules.set("Vitals").unwrap()], ..SpawnSpec::default() }).unwrap();
    /// sim.apply(&Spec::new(rules.effect("GE_Hit").unwrap(), hero)).unwrap();
    /// let mut facts = Facts::default();
    /// sim.take_facts(&mut facts);
    /// let lines: Vec<String> = facts.list.iter().map(|f| f.describe(&rules)).collect();
    /// assert!(lines.iter().any(|l| l.contains("Health 100 → 90, base 100 → 90 (GE_Hit)")), "{lines:?}");
    /// ```
    pub fn describe(&self, rules: &Rules) -> String {
        let what = self.event_text(&FactNames { rules });
        let who = self.who.some().map(|who| format!("controller {}: ", who.0)).unwrap_or_default();
        let mut through: Vec<String> = Vec::new();
        if let Some(effect) = rules.effect_name(self.effect).filter(|name| !what.contains(name)) {
            through.push(effect.to_owned());
        }
        if let Some(source) = self.source.some().filter(|s| *s != self.who) {
            through.push(format!("from controller {}", source.0));
        }
        let through = if through.is_empty() { String::new() } else { format!(" ({})", through.join(" ")) };
        format!("{} {who}{what}{through}", self.at)
    }

    fn event_text(&self, names: &FactNames<'_>) -> String {
        let own = names.effect(self.effect);
        let level = |level: u32| if level == 1 { String::new() } else { format!(", level {level}") };
        let stacks = |stacks: u32| if stacks == 1 { String::new() } else { format!(", {stacks} stacks") };
        match self.kind {
            FactKind::AttributeChanged { attribute, old, new, old_base, new_base } => {
                let base =
                    if old_base == new_base { String::new() } else { format!(", base {old_base} → {new_base}") };
                format!("{} {old} → {new}{base}", names.attribute(attribute))
            }
            FactKind::TagChanged { tag, added, .. } => {
                format!("{} {}", if added { "gains" } else { "loses" }, names.tag(tag))
            }
            FactKind::EffectApplied { level: l, stacks: s } => format!("{own} applied{}{}", level(l), stacks(s)),
            FactKind::EffectExecuted { execution } => format!("{own} executed (execution {})", execution + 1),
            FactKind::ExecutionRestricted { execution } => {
                format!("{own}: execution {} prevented by a combat rule", execution + 1)
            }
            FactKind::EffectRemoved { reason } => format!("{own} {}", removal_text(reason)),
            FactKind::EffectChanged { what, stacks: s, level: l } => {
                format!("{own}: {}, level {l}, stacks {s}", change_text(what))
            }
            FactKind::Immune { by, .. } => format!("is immune to {own} because of {}", names.effect(by)),
            FactKind::Granted { ability, level: l, input, .. } => {
                let input = if input == InputId::NONE { String::new() } else { format!(" on {}", names.input(input)) };
                format!("{} granted{input}{}", names.ability(ability), level(l))
            }
            FactKind::Revoked { ability, .. } => format!("{} revoked", names.ability(ability)),
            FactKind::Cue { tag, cue, .. } => {
                let cue = match cue {
                    CueType::Execute => "executed",
                    CueType::Add => "added",
                    CueType::Remove => "removed",
                };
                format!("cue {} {cue}", names.tag(tag))
            }
            FactKind::Died { attribute } => format!("died: {} is depleted", names.attribute(attribute)),
            FactKind::Spawned { .. } => "spawned".to_owned(),
            FactKind::Despawned => "despawned".to_owned(),
            FactKind::SetAdded { set } => format!("attribute set {} added", names.set(set)),
            FactKind::SetRemoved { set } => format!("attribute set {} removed", names.set(set)),
            FactKind::Possessed { .. } => "avatar changed".to_owned(),
            FactKind::ContextTag { tag } => format!("{own} added the context tag {}", names.tag(tag)),
            FactKind::Restored => "restored from a snapshot".to_owned(),
            FactKind::AbilityActivated { ability, level: l, .. } => {
                format!("{} activated{}", names.ability(ability), level(l))
            }
            FactKind::AbilityEnded { ability, cancelled, interrupted, .. } => {
                let how = match (cancelled, interrupted) {
                    (_, true) => "interrupted",
                    (true, false) => "cancelled",
                    (false, false) => "ended",
                };
                format!("{} {how}", names.ability(ability))
            }
            FactKind::TaskRequest { ability, task, .. } => {
                format!("{} requests {} from the host", names.ability(ability), names.task(task))
            }
            FactKind::TaskEnded { ability, task, result, value, .. } => {
                let how = match result {
                    TaskResult::Completed => "completed",
                    TaskResult::Cancelled => "cancelled",
                    TaskResult::Failed => "failed",
                    TaskResult::Output => "produced an output",
                };
                let value = if value == 0.0 { String::new() } else { format!(" with {value}") };
                format!("{} of {} {how}{value}", names.task(task), names.ability(ability))
            }
            FactKind::GameplayEvent { tag, magnitude, .. } => {
                let magnitude = if magnitude == 0.0 { String::new() } else { format!(", magnitude {magnitude}") };
                format!("event {}{magnitude}", names.tag(tag))
            }
            FactKind::Cast { ability, tick, length, step } => {
                let ability = names.ability(ability);
                match step {
                    CastStep::Started => format!("cast of {ability} started, {length}"),
                    CastStep::Tick => format!("cast of {ability}: tick {tick}"),
                    CastStep::Finished => format!("cast of {ability} finished"),
                    CastStep::Cancelled => format!("cast of {ability} cancelled"),
                    CastStep::Interrupted => format!("cast of {ability} interrupted"),
                    CastStep::Skipped => format!("cast of {ability}: tick {tick} skipped, its target did not arrive"),
                }
            }
            FactKind::GlobalCooldown { group, running, length } => {
                let group = names.rules.group_name(group).unwrap_or("?");
                match running {
                    true => format!("global cooldown {group} started, {length}"),
                    false => format!("global cooldown {group} expired"),
                }
            }
            FactKind::Charges { ability, have, max, .. } => {
                format!("{}: {have} of {max} charges", names.ability(ability))
            }
            FactKind::Input { input, pressed, .. } => {
                format!("{} {}", names.input(input), if pressed { "pressed" } else { "released" })
            }
            FactKind::Damage { damage, amount, absorbed, overkill, credit, .. } => {
                let noun = match damage {
                    ugas_doc::CombatKind::Damage => "damage",
                    ugas_doc::CombatKind::Healing => "healing",
                    ugas_doc::CombatKind::Threat => "threat",
                    ugas_doc::CombatKind::Resource => "resource",
                };
                let part = |n: f64, what: &str| if n == 0.0 { String::new() } else { format!(", {n} {what}") };
                let by = credit.some().map(|c| format!(", by controller {}", c.0)).unwrap_or_default();
                format!("{amount} {noun}{}{}{by}", part(absorbed, "absorbed"), part(overkill, "overkill"))
            }
            FactKind::SetGranted { set, .. } => {
                format!("ability set {} granted", names.rules.ability_set_name(set).unwrap_or("?"))
            }
            FactKind::SetRevoked { set, .. } => {
                format!("ability set {} revoked", names.rules.ability_set_name(set).unwrap_or("?"))
            }
            FactKind::Capability { class, set, step } => {
                let class = names.rules.capability_name(class).unwrap_or("?");
                let set = names.rules.ability_set_name(set).unwrap_or("?");
                format!("capability {class} of {set} {}", capability_text(step))
            }
            FactKind::Resource { attribute, step, old, new } => {
                let name = names.attribute(attribute);
                match step {
                    ResourceStep::Added => format!("resource {name} added: {new}"),
                    ResourceStep::Changed => format!("resource {name} changed: {old} → {new}"),
                    ResourceStep::Removed => format!("resource {name} removed: was {old}"),
                }
            }
            FactKind::Triggered { input, behavior } => format!("{} triggered ({behavior:?})", names.input(input)),
            FactKind::Axis { input, x, y, z } => format!("{} is at ({x}, {y}, {z})", names.input(input)),
            FactKind::Buffered { input, step } => format!("press of {} {}", names.input(input), buffer_text(step)),
            FactKind::Mispredicted { ability } => {
                format!("the server denied the predicted activation of {}", names.ability(ability))
            }
            FactKind::Reloaded { from, to } => format!("rules reloaded, hash {from:016x} to {to:016x}"),
        }
    }
}

/// Looks up names in the rules. The rules have no names of run-time definitions.
struct FactNames<'r> {
    rules: &'r Rules,
}

impl<'r> FactNames<'r> {
    fn attribute(&self, id: AttributeId) -> &'r str {
        self.rules.attribute_name(id).unwrap_or("?")
    }

    fn tag(&self, id: TagId) -> &'r str {
        self.rules.tag_name(id).unwrap_or("?")
    }

    fn effect(&self, id: EffectId) -> &'r str {
        self.rules.effect_name(id).unwrap_or("a run-time effect")
    }

    fn ability(&self, id: AbilityId) -> &'r str {
        self.rules.ability_name(id).unwrap_or("a run-time ability")
    }

    fn set(&self, id: SetId) -> &'r str {
        self.rules.set_name(id).unwrap_or("?")
    }

    /// Returns the name of an input, or its number if the rules have no name for it.
    fn input(&self, id: InputId) -> String {
        self.rules.input_name(id).map_or_else(|| format!("input {}", id.0), str::to_owned)
    }

    fn task(&self, id: TaskKindId) -> &'r str {
        self.rules.task_kind_name(id).unwrap_or("a task")
    }
}

fn removal_text(reason: RemoveReason) -> &'static str {
    match reason {
        RemoveReason::Expired => "expired",
        RemoveReason::Removed => "removed",
        RemoveReason::ByTag => "removed by a tag",
        RemoveReason::Ongoing => "removed: its ongoing requirements are not met",
        RemoveReason::Destroyed => "removed: its controller was destroyed",
        RemoveReason::Avatar => "removed: the avatar changed",
        RemoveReason::Reload => "removed by a reload",
    }
}

fn buffer_text(step: BufferStep) -> &'static str {
    match step {
        BufferStep::Stored => "buffered",
        BufferStep::Queued => "queued",
        BufferStep::Used => "used from the buffer or the queue",
        BufferStep::Expired => "expired in the buffer",
        BufferStep::Overflow => "dropped: the buffer was full, or another press was used",
        BufferStep::Refused => "dropped: it cannot succeed any more",
        BufferStep::Asleep => "dropped: its action is asleep",
    }
}

fn capability_text(step: CapabilityStep) -> &'static str {
    match step {
        CapabilityStep::StartLife => "added",
        CapabilityStep::Setup => "set up",
        CapabilityStep::Activated => "activated",
        CapabilityStep::Deactivated => "deactivated",
        CapabilityStep::EndCapability => "ended",
        CapabilityStep::EndLife => "removed",
    }
}

fn change_text(change: EffectChange) -> &'static str {
    match change {
        EffectChange::Level => "level changed",
        EffectChange::Duration => "duration changed",
        EffectChange::Period => "period changed",
        EffectChange::Stacks => "stacks changed",
        EffectChange::SetByCaller => "set-by-caller value changed",
        EffectChange::Merged => "merged with another application",
        EffectChange::Inhibited => "inhibited",
        EffectChange::Restored => "no longer inhibited",
    }
}
