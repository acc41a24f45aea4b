//! One-line summaries of effects and abilities, and descriptions with numbers.

use crate::{Loaded, Project};
use std::sync::Arc;
use ugas_core::{FilledText, Rules, Sim, SimConfig, SpawnSpec};
use ugas_doc::{
    Ability, Attribute, Doc, DurationPolicy, Effect, Magnitude, MagnitudeSource, MagnitudeType, Metadata, Operation,
};

/// The description of a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Tooltip {
    /// The key for translations: `GA_Fireball.Description`.
    pub key: String,
    /// The text with its numbers, and the numbers for texts in other languages.
    pub filled: FilledText,
}

/// Returns the description of a document with its numbers at a level, if it has one.
///
/// ```
/// use ugas_data::{Project, language};
/// let mut project = Project::default();
/// project.put(
///     "fire.yaml",
///     "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 100}]\n---\n\
///      Kind: curve\nName: C_Fire\nPoints: [{X: 1, Y: -40}, {X: 2, Y: -52}]\n---\n\
///      Kind: gameplay_effect\nName: GE_Fireball\nDurationPolicy: Instant\n\
///      Modifiers: [{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Curve: C_Fire}}]\n\
///      Metadata: {Description: 'Deals {GE_Fireball.Health} damage'}\n",
/// );
/// let rules = project.build(&project.sets()[0]).0.unwrap();
/// let doc = &project.sources()[0].docs[2].loaded.as_ref().unwrap().doc;
/// let tooltip = language::tooltip(&rules, doc, 2).unwrap();
/// assert_eq!((tooltip.key.as_str(), tooltip.filled.text.as_str()), ("GE_Fireball.Description", "Deals 52 damage"));
/// ```
pub fn tooltip(rules: &Rules, doc: &Doc, level: u32) -> Option<Tooltip> {
    let text = metadata(doc)?.description.as_deref()?;
    Some(Tooltip { key: format!("{}.Description", doc.name()), filled: rules.fill_text(text, level) })
}

/// The limit of owners.
const MOST: usize = 5;

/// Returns the description with the numbers of each controller that has the ability, or of all controllers if it is not an
/// ability.
pub(super) fn tooltips_of_owners(
    rules: &Arc<Rules>,
    controllers: &[&str],
    doc: &Doc,
    level: u32,
) -> Vec<(String, String)> {
    let Some(text) = metadata(doc).and_then(|m| m.description.as_deref()) else { return Vec::new() };
    let ability = match doc {
        Doc::Ability(a) => rules.find_ability(&a.name),
        _ => None,
    };
    let fill = |who: &&str| {
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let owner = sim.spawn(SpawnSpec::template(rules.find_template(who)?)).ok()?;
        let has = |id| sim.grants(owner).is_ok_and(|all| all.iter().any(|g| g.ability == id));
        let filled = ability.is_none_or(has).then(|| sim.fill_text(text, level, owner))?;
        filled.missing.is_empty().then(|| ((*who).to_owned(), filled.text))
    };
    controllers.iter().filter_map(fill).take(MOST).collect()
}

pub(super) fn metadata(doc: &Doc) -> Option<&Metadata> {
    match doc {
        Doc::Attribute(d) => d.metadata.as_ref(),
        Doc::AttributeSet(d) => d.metadata.as_ref(),
        Doc::Effect(d) => d.metadata.as_ref(),
        Doc::Ability(d) => d.metadata.as_ref(),
        Doc::Controller(d) => d.metadata.as_ref(),
        Doc::AbilitySet(d) => d.metadata.as_ref(),
        Doc::Timeline(d) => d.metadata.as_ref(),
        Doc::Calculation(d) => d.metadata.as_ref(),
        Doc::InputAction(d) => d.metadata.as_ref(),
        Doc::InputActionSet(d) => d.metadata.as_ref(),
        Doc::InputMapping(d) => d.metadata.as_ref(),
        Doc::Scene(d) => d.metadata.as_ref(),
        Doc::InputModifier(_) | Doc::TagRegistry(_) | Doc::Curve(_) | Doc::Patch(_) => None,
    }
}

/// Returns a summary of a document in one line, if there is something to add to its description.
pub(super) fn in_a_line(doc: &Doc) -> Option<String> {
    match doc {
        Doc::Effect(e) => Some(effect(e)),
        Doc::Ability(a) => Some(ability(a)),
        Doc::Curve(c) => {
            let points: Vec<String> = c.points.iter().map(|p| format!("({}, {})", p.x, p.y)).collect();
            Some(format!("points {}", points.join(", ")))
        }
        Doc::AbilitySet(s) => {
            let abilities = s.abilities.iter().map(|a| a.ability.as_str());
            let all: Vec<&str> = s.effects.iter().map(String::as_str).chain(abilities).collect();
            Some(format!("results: {}", all.join(", ")))
        }
        _ => None,
    }
}

fn effect(e: &Effect) -> String {
    let mut parts = vec![match (e.duration_policy, &e.duration) {
        (DurationPolicy::Instant, _) => "instant".to_owned(),
        (DurationPolicy::Infinite, _) => "until it is removed".to_owned(),
        (DurationPolicy::HasDuration, Some(duration)) => format!("for {} s", magnitude(duration)),
        (DurationPolicy::HasDuration, None) => "with a duration".to_owned(),
    }];
    if let Some(period) = &e.period {
        parts.push(format!("every {} s", period.period));
    }
    for m in &e.modifiers {
        let operation = match m.operation {
            Operation::Add => "+",
            Operation::Multiply => "× 1 +",
            Operation::AddPost => "+ after multiplying",
            Operation::Override => "becomes",
        };
        let channel = m.channel.as_ref().map(|c| format!(" in {c}")).unwrap_or_default();
        parts.push(format!("{} {operation} {}{channel}", m.attribute, magnitude(&m.magnitude)));
    }
    parts.extend(e.executions.iter().map(|x| format!("runs {}", x.calculator_class)));
    if !e.granted_tags.is_empty() {
        parts.push(format!("grants {}", e.granted_tags.join(", ")));
    }
    parts.join("; ")
}

fn ability(a: &Ability) -> String {
    let cost = a.cost.as_ref().map(|c| format!("cost {c}"));
    let cooldown = a.cooldown.as_ref().map(|c| format!("cooldown {c}"));
    let tasks: Vec<&str> = a.tasks.iter().map(|t| t.kind.as_str()).collect();
    let tasks = (!tasks.is_empty()).then(|| tasks.join(", "));
    [cost, cooldown, tasks].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn magnitude(m: &Magnitude) -> String {
    match m.kind {
        MagnitudeType::ScalableFloat => match (&m.curve, m.value) {
            (None, value) => value.unwrap_or(0.0).to_string(),
            (Some(curve), value) => {
                let factor = value.filter(|v| *v != 1.0).map(|v| format!("{v} × ")).unwrap_or_default();
                format!("{factor}{curve}({})", m.curve_input.as_deref().unwrap_or("Level"))
            }
        },
        MagnitudeType::AttributeBased => {
            let whose = if m.source == Some(MagnitudeSource::Target) { "target" } else { "source" };
            let name = format!("{whose}.{}", m.backing_attribute.as_deref().unwrap_or("?"));
            let name = match m.pre_multiply_additive.filter(|v| *v != 0.0) {
                Some(pre) => format!("({name} + {pre})"),
                None => name,
            };
            let factor = m.coefficient.filter(|v| *v != 1.0).map(|v| format!("{v} × ")).unwrap_or_default();
            let post = m.post_multiply_additive.filter(|v| *v != 0.0).map(|v| format!(" + {v}")).unwrap_or_default();
            format!("{factor}{name}{post}")
        }
        MagnitudeType::CustomCalculation => m.calculator_class.clone().unwrap_or_default(),
        MagnitudeType::SetByCaller => format!("SetByCaller {}", m.data_tag.as_deref().unwrap_or("value")),
    }
}

/// Returns the attribute of a name.
pub(super) fn attribute<'d>(doc: &'d Doc, name: &str) -> Option<&'d Attribute> {
    match doc {
        Doc::Attribute(a) if a.name == name => Some(a),
        Doc::AttributeSet(set) => set.attributes.iter().find(|a| a.name == name),
        _ => None,
    }
}

/// Returns the readable documents of a set.
pub(super) fn loaded(project: &Project, set: &crate::DocSet) -> Vec<Loaded> {
    let whole = crate::assemble::assemble(project, set, &crate::names::Names::of(project));
    whole.docs.into_iter().map(|d| d.loaded).collect()
}
