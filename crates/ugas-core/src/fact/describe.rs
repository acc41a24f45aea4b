//! Facts in words: one line for a person, with names instead of ids.

use super::{CastStep, CueType, EffectChange, Fact, FactKind, RemoveReason, TaskResult};
use crate::{AbilityId, AttributeId, EffectId, InputId, Rules, SetId, TagId, TaskKindId};

impl Fact {
    /// One line for a person: when, whose, what, and through what. Controllers go by their numbers, everything else by the
    /// names of the rules.
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
        let what = self.what(&Words { rules });
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

    fn what(&self, words: &Words<'_>) -> String {
        let own = words.effect(self.effect);
        let level = |level: u32| if level == 1 { String::new() } else { format!(", level {level}") };
        let stacks = |stacks: u32| if stacks == 1 { String::new() } else { format!(", {stacks} stacks") };
        match self.kind {
            FactKind::AttributeChanged { attribute, old, new, old_base, new_base } => {
                let base =
                    if old_base == new_base { String::new() } else { format!(", base {old_base} → {new_base}") };
                format!("{} {old} → {new}{base}", words.attribute(attribute))
            }
            FactKind::TagChanged { tag, added, .. } => {
                format!("{} {}", if added { "gains" } else { "loses" }, words.tag(tag))
            }
            FactKind::EffectApplied { level: l, stacks: s } => format!("{own} is applied{}{}", level(l), stacks(s)),
            FactKind::EffectExecuted { execution } => format!("{own} is executed (number {})", execution + 1),
            FactKind::ExecutionRestricted { execution } => {
                format!("a rule forbids execution {} of {own}", execution + 1)
            }
            FactKind::EffectRemoved { reason } => format!("{own} {}", end_of(reason)),
            FactKind::EffectChanged { what, stacks: s, level: l } => {
                format!("{own}: {}, level {l}, stacks {s}", change_of(what))
            }
            FactKind::Immune { by, .. } => format!("is immune to {own} through {}", words.effect(by)),
            FactKind::Granted { ability, level: l, input, .. } => {
                let input = if input == InputId::NONE { String::new() } else { format!(" on {}", words.input(input)) };
                format!("has {} now{input}{}", words.ability(ability), level(l))
            }
            FactKind::Revoked { ability, .. } => format!("has {} no more", words.ability(ability)),
            FactKind::Cue { tag, cue, .. } => {
                let cue = match cue {
                    CueType::Execute => "plays",
                    CueType::Add => "begins",
                    CueType::Remove => "stops",
                };
                format!("{cue} the cue {}", words.tag(tag))
            }
            FactKind::Died { attribute } => format!("dies: {} is used up", words.attribute(attribute)),
            FactKind::Spawned { .. } => "is there".to_owned(),
            FactKind::Despawned => "is gone".to_owned(),
            FactKind::SetAdded { set } => format!("gets the attributes of {}", words.set(set)),
            FactKind::SetRemoved { set } => format!("loses the attributes of {}", words.set(set)),
            FactKind::Possessed { .. } => "has another avatar".to_owned(),
            FactKind::ContextTag { tag } => format!("{own} notes {}", words.tag(tag)),
            FactKind::Restored => "is restored".to_owned(),
            FactKind::AbilityActivated { ability, level: l, .. } => {
                format!("{} begins{}", words.ability(ability), level(l))
            }
            FactKind::AbilityEnded { ability, cancelled, interrupted, .. } => {
                let how = match (cancelled, interrupted) {
                    (_, true) => "is interrupted",
                    (true, _) => "is cancelled",
                    _ => "ends",
                };
                format!("{} {how}", words.ability(ability))
            }
            FactKind::TaskRequest { ability, task, .. } => {
                format!("{} asks the host for {}", words.ability(ability), words.task(task))
            }
            FactKind::TaskEnded { ability, task, result, value, .. } => {
                let how = match result {
                    TaskResult::Completed => "is done",
                    TaskResult::Cancelled => "is cancelled",
                    TaskResult::Failed => "fails",
                    TaskResult::Output => "gives something",
                };
                let value = if value == 0.0 { String::new() } else { format!(" with {value}") };
                format!("{} of {} {how}{value}", words.task(task), words.ability(ability))
            }
            FactKind::GameplayEvent { tag, magnitude, .. } => {
                let magnitude = if magnitude == 0.0 { String::new() } else { format!(" of {magnitude}") };
                format!("the event {} happens{magnitude}", words.tag(tag))
            }
            FactKind::Cast { ability, tick, length, step } => {
                let ability = words.ability(ability);
                match step {
                    CastStep::Started => format!("casts {ability} for {length}"),
                    CastStep::Tick => format!("tick {tick} of {ability}"),
                    CastStep::Finished => format!("the cast of {ability} is complete"),
                    CastStep::Cancelled => format!("the cast of {ability} is cancelled"),
                    CastStep::Interrupted => format!("the cast of {ability} is interrupted"),
                }
            }
            FactKind::GlobalCooldown { group, running, length } => {
                let group = words.rules.group_name(group).unwrap_or("?");
                match running {
                    true => format!("the global cooldown {group} runs for {length}"),
                    false => format!("the global cooldown {group} is over"),
                }
            }
            FactKind::Charges { ability, have, max, .. } => {
                format!("has {have} of {max} charges of {}", words.ability(ability))
            }
            FactKind::Input { input, pressed, .. } => {
                format!("{} is {}", words.input(input), if pressed { "pressed" } else { "released" })
            }
            FactKind::Damage { damage, amount, absorbed, overkill, credit, .. } => {
                let noun = match damage {
                    ugas_doc::CombatKind::Damage => "damage",
                    ugas_doc::CombatKind::Healing => "healing",
                    ugas_doc::CombatKind::Threat => "threat",
                };
                let part = |n: f64, what: &str| if n == 0.0 { String::new() } else { format!(", {n} {what}") };
                let by = credit.some().map(|c| format!(", by controller {}", c.0)).unwrap_or_default();
                format!("{amount} {noun}{}{}{by}", part(absorbed, "absorbed"), part(overkill, "beyond what was left"))
            }
            FactKind::SetGranted { set, .. } => {
                format!("gets the abilities of {}", words.rules.ability_set_name(set).unwrap_or("?"))
            }
            FactKind::SetRevoked { set, .. } => {
                format!("loses the abilities of {}", words.rules.ability_set_name(set).unwrap_or("?"))
            }
            FactKind::Reloaded { from, to } => format!("the rules change from {from:016x} to {to:016x}"),
        }
    }
}

/// Names of the rules; what was made at run time has none.
struct Words<'r> {
    rules: &'r Rules,
}

impl<'r> Words<'r> {
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

    /// An input of the host has no name in the rules.
    fn input(&self, id: InputId) -> String {
        self.rules.input_name(id).map_or_else(|| format!("input {}", id.0), str::to_owned)
    }

    fn task(&self, id: TaskKindId) -> &'r str {
        self.rules.task_kind_name(id).unwrap_or("a task")
    }
}

fn end_of(reason: RemoveReason) -> &'static str {
    match reason {
        RemoveReason::Expired => "is over",
        RemoveReason::Removed => "is removed",
        RemoveReason::ByTag => "is removed by a tag",
        RemoveReason::Ongoing => "is removed: what it needs is gone",
        RemoveReason::Destroyed => "ends with its controller",
        RemoveReason::Avatar => "ends with its place in the world",
        RemoveReason::Reload => "is removed: new rules do not know it",
    }
}

fn change_of(change: EffectChange) -> &'static str {
    match change {
        EffectChange::Level => "its level changes",
        EffectChange::Duration => "its end moves",
        EffectChange::Period => "its period changes",
        EffectChange::Stacks => "its stacks change",
        EffectChange::SetByCaller => "a caller's value changes",
        EffectChange::Merged => "another application merges into it",
        EffectChange::Inhibited => "it is inhibited",
        EffectChange::Restored => "it counts again",
    }
}
