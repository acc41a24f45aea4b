//! Replaces the placeholders in the descriptions of definitions with numbers.

use crate::{Loaded, Project};
use std::sync::Arc;
use ugas_core::{FilledText, Rules, Sim, SimConfig, SpawnSpec};
use ugas_doc::{Ability, Attribute, Doc, DocumentKind, Stat};

/// The description of a definition, with its placeholders replaced by numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Tooltip {
    /// The key for translations, such as `GA_Fireball.Description`.
    pub key: String,
    /// The text with its placeholders replaced, and the numbers as separate values for translated texts.
    pub filled: FilledText,
}

/// Returns the description of a document with its placeholders replaced by the values at `level`, or `None` if the
/// document has no description.
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
    let text = doc.metadata()?.description.as_deref()?;
    Some(Tooltip { key: format!("{}.Description", doc.name()), filled: rules.fill_text(text, level) })
}

/// The maximum number of owners.
const MOST: usize = 5;

/// Returns the description with the values of each controller that has the ability, or of every controller if the
/// document is not an ability.
pub(super) fn tooltips_of_owners(
    rules: &Arc<Rules>,
    controllers: &[&str],
    doc: &Doc,
    level: u32,
) -> Vec<(String, String)> {
    let Some(text) = doc.metadata().and_then(|m| m.description.as_deref()) else { return Vec::new() };
    let ability = Ability::of(doc).and_then(|a| rules.find_ability(&a.name));
    let fill = |who: &&str| {
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let owner = sim.spawn(SpawnSpec::template(rules.find_template(who)?)).ok()?;
        let has = |id| sim.grants(owner).is_ok_and(|all| all.iter().any(|g| g.ability == id));
        let filled = ability.is_none_or(has).then(|| sim.fill_text(text, level, owner))?;
        filled.missing.is_empty().then(|| ((*who).to_owned(), filled.text))
    };
    controllers.iter().filter_map(fill).take(MOST).collect()
}

/// Returns the attribute of a name; a stat is an attribute, and so are a resource and its bounds.
pub(super) fn attribute(doc: &Doc, name: &str) -> Option<Attribute> {
    if let Doc::StatTable(table) = doc {
        return table.stats.iter().find(|s| s.attribute_name() == name).map(Stat::attribute);
    }
    if let Doc::Resource(resource) = doc {
        return resource.attribute_set().attributes.into_iter().find(|a| a.name == name);
    }
    doc.attributes().iter().find(|a| a.name == name).cloned()
}

/// Returns the readable documents of a document set.
pub(super) fn loaded(project: &Project, set: &crate::DocSet) -> Vec<Loaded> {
    let whole = crate::assemble::assemble(project, set, &crate::names::Names::of(project));
    whole.docs.into_iter().map(|d| d.loaded).collect()
}
