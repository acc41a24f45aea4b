//! Previews the changes that an effect or an ability would make at a time of a scenario, without applying them.

use crate::explain::ExplainError;
use crate::run::{RunOptions, Runner};
use crate::scenario::{Scenario, did_you_mean};
use serde_json::{Value, json};
use std::fmt::Write;
use ugas_core::{EffectView, Preview, RowPreview, SimTime, Spec, TagId, Target};

/// The effect or ability to preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviewOf<'a> {
    /// An effect that is applied to the actor.
    Effect {
        /// Its name.
        effect: &'a str,
        /// The actor that is the source of the effect.
        from: Option<&'a str>,
        /// Its level.
        level: u32,
        /// The number of stacks that are applied.
        stacks: u32,
    },
    /// An ability of the actor: its commit, and the tasks that run immediately.
    Ability {
        /// Its name.
        ability: &'a str,
        /// The actor that the ability targets.
        target: Option<&'a str>,
    },
}

/// A preview, with the names that the scenario uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Previewed {
    /// The name of the previewed effect or ability.
    pub of: String,
    /// The kind and the message of the refusal; `None` if the effect or ability would succeed.
    pub refusal: Option<(&'static str, String)>,
    /// The source, the target and every other actor that would change.
    pub actors: Vec<PreviewedActor>,
    /// The facts that would be emitted, one line each.
    pub facts: Vec<String>,
}

/// An actor before and after the previewed effect or ability.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewedActor {
    /// Its name.
    pub actor: String,
    /// Every attribute: its name, and its current value before and after the change.
    pub attributes: Vec<(String, f64, f64)>,
    /// Tags that the actor would gain.
    pub tags_added: Vec<String>,
    /// Tags that the actor would lose.
    pub tags_removed: Vec<String>,
    /// Effects that would become active or be queued.
    pub effects_added: Vec<String>,
    /// Effects that would end.
    pub effects_removed: Vec<String>,
    /// Effects whose level, stacks or remaining time would change.
    pub effects_changed: Vec<String>,
}

/// Previews an effect or an ability at a time, after the timeline's entries at that time have run.
///
/// ```
/// let text = r#"
/// Scenario: Idle
/// Entities:
///   - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}
///   - Kind: gameplay_effect
///     Name: GE_Hit
///     DurationPolicy: Instant
///     Modifiers: [{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -10}}]
/// Actors: {Hero: {AttributeSets: [Vitals]}}
/// "#;
/// let tree = &ugas_data::read_trees("idle.yaml", text).unwrap()[0];
/// let scenario = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap();
/// let hit = ugas_lab::PreviewOf::Effect { effect: "GE_Hit", from: None, level: 1, stacks: 1 };
/// let preview = ugas_lab::preview(&scenario, "Hero", hit, ugas_core::SimTime::ZERO).unwrap();
/// assert_eq!(preview.actors[0].attributes, [("Health".to_owned(), 100.0, 90.0)]);
/// ```
pub fn preview(scenario: &Scenario, actor: &str, of: PreviewOf<'_>, at: SimTime) -> Result<Previewed, ExplainError> {
    let options = RunOptions { until: Some(at), ..RunOptions::default() };
    let runner = Runner::played(scenario, options, &mut |_| {}).map_err(ExplainError::Scenario)?;
    let other = match of {
        PreviewOf::Effect { from, .. } => from,
        PreviewOf::Ability { target, .. } => target,
    };
    for name in [Some(actor), other].into_iter().flatten() {
        if !scenario.actors.iter().any(|a| a.name.text == name) {
            let help = did_you_mean(name, scenario.actors.iter().map(|a| a.name.text.as_str()));
            return Err(unknown(format!("unknown actor {name}"), help));
        }
    }
    let (rules, who) = (runner.world.rules.clone(), runner.who(actor));
    let (name, preview) = match of {
        PreviewOf::Effect { effect, from, level, stacks } => {
            let Some(id) = rules.find_effect(effect) else {
                let help = did_you_mean(effect, rules.effect_list().map(|(_, name)| name));
                return Err(unknown(format!("unknown effect {effect}"), help));
            };
            let mut spec = Spec::new(id, who).level(level).stacks(stacks);
            if let Some(from) = from {
                spec = spec.from(runner.who(from));
            }
            (effect, runner.sim.preview(&spec))
        }
        PreviewOf::Ability { ability, target } => {
            let Some(id) = rules.find_ability(ability) else {
                let help = did_you_mean(ability, rules.ability_list().map(|(_, name)| name));
                return Err(unknown(format!("unknown ability {ability}"), help));
            };
            let target = target.map_or(Target::None, |name| Target::Controller(runner.who(name)));
            (ability, runner.sim.preview_ability(who, id, target))
        }
    };
    Ok(Previewed::of(&runner, name, &preview))
}

fn unknown(message: String, help: Option<String>) -> ExplainError {
    ExplainError::Unknown(match help {
        Some(help) => format!("{message}; {help}"),
        None => message,
    })
}

impl Previewed {
    fn of(runner: &Runner<'_>, name: &str, preview: &Preview) -> Previewed {
        Previewed {
            of: name.to_owned(),
            refusal: preview.refusal.map(|r| (r.kind(), runner.describe(r))),
            actors: preview.rows.iter().map(|row| PreviewedActor::of(runner, row)).collect(),
            facts: preview.facts.list.iter().map(|fact| runner.fact_in_words(fact)).collect(),
        }
    }

    /// Returns a table for each actor: every attribute with its old and new value, then the changed tags and effects.
    pub fn to_table(&self) -> String {
        let mut text = String::new();
        if let Some((kind, sentence)) = &self.refusal {
            let _ = writeln!(text, "{} would be refused: {kind}: {sentence}", self.of);
        }
        for row in &self.actors {
            let _ = writeln!(text, "{}", row.actor);
            let width = row.attributes.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
            for (name, before, after) in &row.attributes {
                let _ = match before == after {
                    true => writeln!(text, "  {name:<width$}  {before}"),
                    false => writeln!(text, "  {name:<width$}  {before} → {after}"),
                };
            }
            for (what, list) in row.lists() {
                if !list.is_empty() {
                    let _ = writeln!(text, "  {what}: {}", list.join(", "));
                }
            }
        }
        text
    }

    /// Returns the preview as a JSON object, for tools.
    pub fn to_json(&self) -> String {
        let attribute = |(name, before, after): &(String, f64, f64)| {
            (name.clone(), json!({"before": before, "after": after, "changed": before != after}))
        };
        let actor = |row: &PreviewedActor| {
            let mut value = json!({
                "actor": row.actor,
                "attributes": row.attributes.iter().map(attribute).collect::<serde_json::Map<String, Value>>(),
            });
            for (what, list) in row.lists() {
                value[what.replace(' ', "_")] = json!(list);
            }
            value
        };
        let refusal = self.refusal.as_ref().map(|(kind, sentence)| json!({"kind": kind, "message": sentence}));
        let actors: Vec<Value> = self.actors.iter().map(actor).collect();
        format!("{}\n", json!({"of": self.of, "refusal": refusal, "actors": actors, "facts": self.facts}))
    }
}

impl PreviewedActor {
    fn of(runner: &Runner<'_>, row: &RowPreview) -> PreviewedActor {
        let rules = &runner.world.rules;
        let attribute = |a| rules.attribute_name(a).unwrap_or("?").to_owned();
        let tags = |list: &[TagId]| list.iter().map(|&t| rules.tag_name(t).unwrap_or("?").to_owned()).collect();
        let effect = |e: &EffectView| {
            let name = runner.sim.effect_name(e.effect).unwrap_or("?");
            let stacks = if e.stacks > 1 { format!(" ×{}", e.stacks) } else { String::new() };
            let time = e.remaining.map_or_else(String::new, |t| format!(" {t}"));
            format!("{name}{stacks}{time}")
        };
        PreviewedActor {
            actor: runner.with_names(&format!("controller {}", row.who.0)),
            attributes: row.attributes.iter().map(|a| (attribute(a.attribute), a.before, a.after)).collect(),
            tags_added: tags(&row.tags_added),
            tags_removed: tags(&row.tags_removed),
            effects_added: row.effects_added.iter().map(effect).collect(),
            effects_removed: row.effects_removed.iter().map(effect).collect(),
            effects_changed: row
                .effects_changed
                .iter()
                .map(|(old, new)| format!("{} → {}", effect(old), effect(new)))
                .collect(),
        }
    }

    fn lists(&self) -> [(&'static str, &[String]); 5] {
        [
            ("tags added", &self.tags_added),
            ("tags removed", &self.tags_removed),
            ("effects added", &self.effects_added),
            ("effects removed", &self.effects_removed),
            ("effects changed", &self.effects_changed),
        ]
    }
}
