//! Hover texts. To compute the value of an attribute, the controllers of the document set are spawned in a sim.

use super::summary::{attribute, loaded, tooltip};
use super::{host_calculations, host_capabilities, name_at, number, set_of};
use crate::{DocSet, Loaded, Mention, Project, Span, SymbolKind};
use std::path::Path;
use std::sync::Arc;
use ugas_core::{Explanation, Rules, Sim, SimConfig, SpawnSpec};
use ugas_doc::Doc;

/// A hover text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The text, in Markdown.
    pub text: String,
    /// The hovered span.
    pub span: Span,
}

/// The maximum number of controllers shown for one attribute.
const MOST: usize = 5;

/// Returns the hover text at a byte offset of a file.
///
/// ```
/// use ugas_data::{Project, language};
/// let mut project = Project::default();
/// let text = "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 100}]\n---\n\
///             Kind: gameplay_controller\nOwnerActor: {ActorID: Hero, ActorType: PlayerCharacter}\n\
///             AttributeSets: [{Name: Vitals, Attributes: [{Name: Health, BaseValue: 80, CurrentValue: 80}]}]\n";
/// project.put("hero.yaml", text);
/// let hover = language::hover(&project, "hero.yaml".as_ref(), text.rfind("Health").unwrap()).unwrap();
/// assert!(hover.text.contains("Health 80.0"));
/// ```
pub fn hover(project: &Project, path: &Path, at: usize) -> Option<Hover> {
    let found = name_at(project, path, at)?;
    let set = set_of(project, path)?;
    let text = if found.kind == SymbolKind::Attribute {
        let source = project.sources().iter().find(|s| s.path == path)?;
        let here = source.docs.iter().find(|d| d.tree.span.touches(at)).and_then(|d| d.loaded.as_ref());
        let line = here.filter(|l| matches!(l.doc, Doc::Controller(_))).map(|l| l.origin.line);
        let is_here = |l: &&Loaded| Some(l.origin.line) == line && l.origin.file == source.name;
        let docs = loaded(project, &set);
        let only = docs.iter().find(is_here).map(|l| l.doc.name());
        of_attribute(project, &set, &docs, &found.name, only)
    } else if found.kind == SymbolKind::Tag {
        of_tag(project, &set, &found.name)
    } else {
        of_definition(project, &set, &found)
    };
    Some(Hover { text, span: found.span })
}

/// Explains an attribute of each controller of a document set.
pub(super) fn computed(rules: &Arc<Rules>, controllers: &[&str], name: &str) -> Vec<(String, Explanation)> {
    let Some(id) = rules.find_attribute(name) else { return Vec::new() };
    let explain = |who: &&str| {
        let template = rules.find_template(who)?;
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let spawned = sim.spawn(SpawnSpec::template(template)).ok()?;
        Some(((*who).to_owned(), sim.explain(spawned, id).ok()?))
    };
    controllers.iter().filter_map(explain).take(MOST).collect()
}

/// Returns the controllers of a document set.
pub(super) fn controllers(docs: &[Loaded]) -> Vec<&str> {
    docs.iter().filter(|l| matches!(l.doc, Doc::Controller(_))).map(|l| l.doc.name()).collect()
}

fn of_attribute(project: &Project, set: &DocSet, docs: &[Loaded], name: &str, only: Option<&str>) -> String {
    let mut parts = Vec::new();
    let all = controllers(docs);
    let wanted: Vec<&str> = all.into_iter().filter(|who| only.is_none_or(|o| o == *who)).collect();
    if let (Some(rules), _) = project.build(set) {
        for (who, explained) in computed(&rules, &wanted, name) {
            parts.push(format!("**{name} {}** of `{who}`\n\n`{}`", number(explained.value), explained.short()));
        }
    }
    let definition = docs.iter().find_map(|l| attribute(&l.doc, name).map(|a| (a, &l.doc)));
    if let Some((a, doc)) = definition {
        let value = a.default_base_value.map(|v| format!(" {}", number(v))).unwrap_or_default();
        let is_set = matches!(doc, Doc::AttributeSet(_) | Doc::StatTable(_))
            || matches!(doc, Doc::Resource(resource) if resource.name != name);
        let home = if is_set { format!(" of `{}`", doc.name()) } else { String::new() };
        let is_resource = matches!(doc, Doc::Resource(resource) if resource.name == name);
        let what = if is_resource { "resource" } else { "attribute" };
        let what = if matches!(doc, Doc::StatTable(_)) { "stat" } else { what };
        if parts.is_empty() {
            parts.push(format!("**{name}{value}** by default"));
        }
        parts.push(format!(
            "{what}{home}{}",
            if value.is_empty() { String::new() } else { format!(", default{value}") }
        ));
        let text = a.metadata.as_ref().and_then(|m| m.description.clone()).or_else(|| a.description.clone());
        parts.extend(text);
    } else if parts.is_empty() {
        parts.push(format!("**{name}**: unknown attribute"));
    }
    parts.join("\n\n")
}

fn of_tag(project: &Project, set: &DocSet, name: &str) -> String {
    let docs = loaded(project, set);
    let entry = docs.iter().find_map(|l| {
        if let Doc::TagRegistry(registry) = &l.doc { registry.tags.iter().find(|t| t.tag == name) } else { None }
    });
    let mut parts = vec![format!("**{name}** tag")];
    match entry {
        Some(entry) => parts.extend(entry.description.clone()),
        None => parts.push("not declared in a tag registry".to_owned()),
    }
    parts.join("\n\n")
}

fn of_definition(project: &Project, set: &DocSet, found: &Mention) -> String {
    let mut parts = vec![format!("**{}** {}", found.name, found.kind)];
    let docs = loaded(project, set);
    let defines = |l: &&Loaded| l.doc.name() == found.name && is_of(&l.doc, found.kind);
    match docs.iter().find(defines) {
        Some(l) => {
            parts.extend(l.origin.patches.iter().map(|p| format!("{p}")));
            parts.extend(l.doc.summary().map(|line| format!("`{line}`")));
            if let (Some(rules), _) = project.build(set) {
                parts.extend(tooltip(&rules, &l.doc, 1).map(|t| t.filled.text));
            }
        }
        None if found.kind == SymbolKind::Calculation
            && host_calculations(project, set).any(|name| *name == found.name)
            || found.kind == SymbolKind::Capability
                && host_capabilities(project, set).any(|name| *name == found.name) =>
        {
            parts.push("provided by host code".to_owned());
        }
        None => parts.push("not defined here".to_owned()),
    }
    parts.join("\n\n")
}

/// Returns whether a document defines names of a kind.
pub(super) fn is_of(doc: &Doc, kind: SymbolKind) -> bool {
    kind.document_kind() == Some(doc.kind())
}
