//! A page about a definition: its file and line, a summary, its description, the parsed document and its references.

use super::hover::{computed, controllers, is_of};
use super::names::scope;
use super::summary::{attribute, loaded, tooltip, tooltips_of_owners};
use super::{number, set_of};
use crate::names::Names;
use crate::{Mention, Node, Project, Source, SymbolKind, to_yaml};
use std::collections::BTreeSet;
use std::fmt::Write;
use ugas_doc::{Doc, Kind};

/// The maximum number of pages for one name.
const MAX_PAGES: usize = 8;

/// Returns a page for each definition of a name, with the values at `level`. The result has at most eight pages. The
/// namespace in `name` is optional.
///
/// ```
/// use ugas_data::{Project, language};
/// let mut project = Project::default();
/// project.put("tags.yaml", "Kind: gameplay_tag\nTags: [{Tag: State.Hurt, Description: In pain}]\n");
/// project.put("hit.yaml", "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Infinite\nGrantedTags: [State.Hurt]\n");
/// let page = &language::show(&project, "State.Hurt", 1)[0];
/// assert!(page.starts_with("tag State.Hurt, tags.yaml:2\n"));
/// assert!(page.contains("hit.yaml:4 GrantedTags of GE_Hit"));
/// ```
pub fn show(project: &Project, name: &str, level: u32) -> Vec<String> {
    let mut pages = Vec::new();
    let names = Names::of(project);
    for (i, source) in project.sources().iter().enumerate() {
        let short = |m: &Mention| names.space(i).is_some_and(|space| space.short(&m.name) == name);
        let found = names.all_of(i).filter(|m| m.definition && (m.name == name || short(m)));
        let room = MAX_PAGES - pages.len();
        pages.extend(found.take(room).map(|m| page(project, &names, source, m, level)));
    }
    pages
}

/// Returns every name that a project defines, without duplicates.
///
/// ```
/// use ugas_data::{Project, language};
/// let mut project = Project::default();
/// project.put("tags.yaml", "Kind: gameplay_tag\nTags: [{Tag: State.Hurt}]\n");
/// assert_eq!(language::defined_names(&project), ["State.Hurt"]);
/// ```
pub fn defined_names(project: &Project) -> Vec<String> {
    let names = Names::of(project);
    let all = (0..project.sources().len()).flat_map(|i| names.all_of(i)).filter(|m| m.definition);
    all.map(|m| m.name.clone()).collect::<BTreeSet<String>>().into_iter().collect()
}

fn page(project: &Project, names: &Names, source: &Source, m: &Mention, level: u32) -> String {
    let (line, _) = source.place(m.span.start as usize);
    let mut out = format!("{} {}, {}:{line}\n", m.kind, m.name, source.name);
    // Writing to a string cannot fail.
    let _ = describe(project, source, m, level, &mut out);
    let _ = patches(project, names, m, &mut out);
    let _ = uses(project, names, source, m, &mut out);
    out
}

/// The computed description and values of a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// A one-line summary of the definition.
    pub summary: Option<String>,
    /// The description of the definition, with its placeholders replaced by the values at the requested level.
    pub text: Option<String>,
    /// The placeholders that were not replaced, because their value is unknown or depends on the controller.
    pub missing: Vec<String>,
    /// The description with the values of each controller, as pairs of the controller's name and the text.
    pub of_owners: Vec<(String, String)>,
    /// The value of an attribute on each controller, as triples of the controller's name, the value and its
    /// explanation.
    pub values: Vec<(String, f64, String)>,
    /// The parsed document as YAML; `None` for a tag.
    pub understood: Option<String>,
}

/// Computes the description and the values of a definition at `level`, the level of the ability or effect.
///
/// ```
/// use ugas_data::{Project, SymbolKind, language};
/// let mut project = Project::default();
/// project.put("tags.yaml", "Kind: gameplay_tag\nTags: [{Tag: State.Hurt, Description: In pain}]\n");
/// let about = language::about(&project, SymbolKind::Tag, "State.Hurt", 1).unwrap();
/// assert_eq!(about.text.as_deref(), Some("In pain"));
/// ```
pub fn about(project: &Project, kind: SymbolKind, name: &str, level: u32) -> Option<About> {
    let names = Names::of(project);
    project.sources().iter().enumerate().find_map(|(i, source)| {
        let m = names.all_of(i).find(|m| m.definition && m.kind == kind && m.name == name)?;
        about_of(project, source, m, level)
    })
}

fn about_of(project: &Project, source: &Source, m: &Mention, level: u32) -> Option<About> {
    let at = m.span.start as usize;
    let line = source.docs.iter().find(|d| d.tree.span.touches(at)).map(|d| d.tree.line);
    let set = set_of(project, &source.path)?;
    let docs = loaded(project, &set);
    let is_it = |l: &&crate::Loaded| Some(l.origin.line) == line && l.origin.file == source.name;
    let doc = &docs.iter().find(is_it)?.doc;
    let (missing, of_owners, values) = (Vec::new(), Vec::new(), Vec::new());
    let mut about = About { summary: None, text: None, missing, of_owners, values, understood: None };
    match (m.kind, doc) {
        (SymbolKind::Tag, Doc::TagRegistry(registry)) => {
            about.text = registry.tags.iter().find(|t| t.tag == m.name)?.description.clone();
        }
        (SymbolKind::Attribute, doc) => {
            let a = attribute(doc, &m.name)?;
            about.text = a.metadata.as_ref().and_then(|d| d.description.clone());
            if let Some(rules) = project.build(&set).0 {
                let all = computed(&rules, &controllers(&docs), &m.name).into_iter();
                about.values = all.map(|(who, e)| (who, e.value, e.short())).collect();
            }
            about.understood = Some(to_yaml(&Doc::from(a.clone())));
        }
        (kind, doc) if is_of(doc, kind) => {
            about.summary = doc.summary();
            if let Some((rules, tip)) = project.build(&set).0.and_then(|r| tooltip(&r, doc, level).map(|tip| (r, tip)))
            {
                about.text = Some(tip.filled.text);
                about.missing = tip.filled.missing;
                if !about.missing.is_empty() {
                    about.of_owners = tooltips_of_owners(&rules, &controllers(&docs), doc, level);
                }
            }
            about.understood = Some(to_yaml(doc));
        }
        _ => return None,
    }
    Some(about)
}

fn describe(project: &Project, source: &Source, m: &Mention, level: u32, out: &mut String) -> std::fmt::Result {
    let Some(about) = about_of(project, source, m, level) else { return Ok(()) };
    if let Some(line) = &about.summary {
        writeln!(out, "  {line}")?;
    }
    if let Some(text) = &about.text {
        if let SymbolKind::Tag | SymbolKind::Attribute = m.kind {
            writeln!(out, "  {text}")?
        } else {
            writeln!(out, "  at level {level}: {text}")?
        }
    }
    for missing in about.missing.iter().filter(|_| about.of_owners.is_empty()) {
        writeln!(out, "  {{{missing}}} depends on the owner, or is unknown")?;
    }
    for (who, text) in &about.of_owners {
        writeln!(out, "  of {who}: {text}")?;
    }
    for (who, value, short) in &about.values {
        writeln!(out, "  {who}: {} {} ({short})", m.name, number(*value))?;
    }
    about.understood.as_ref().map_or(Ok(()), |yaml| resolved(yaml, out))
}

fn resolved(yaml: &str, out: &mut String) -> std::fmt::Result {
    writeln!(out, "parsed as:")?;
    yaml.lines().try_for_each(|line| writeln!(out, "  {line}"))
}

/// Writes the fields of a definition that patches change.
fn patches(project: &Project, names: &Names, m: &Mention, out: &mut String) -> std::fmt::Result {
    let mut first = true;
    for (i, source) in project.sources().iter().enumerate() {
        for (doc, named) in source.docs.iter().zip(names.of_file(i)) {
            let is_it = |u: &Mention| u.key == "Target" && u.kind == m.kind && u.name == m.name;
            if !matches!(doc.kind, Some(Kind::Patch)) || !named.mentions.iter().any(is_it) {
                continue;
            }
            for entry in doc.tree.get("Set").map_or(&[][..], Node::entries) {
                if std::mem::take(&mut first) {
                    writeln!(out, "patched by:")?;
                }
                let value = entry.value.span.of(&source.text).unwrap_or("").lines().next().unwrap_or("");
                writeln!(out, "  {}:{} {}: {value}", source.name, entry.line, entry.key)?;
            }
        }
    }
    Ok(())
}

fn uses(project: &Project, names: &Names, source: &Source, m: &Mention, out: &mut String) -> std::fmt::Result {
    writeln!(out, "used by:")?;
    let mut any = false;
    let is_it = |other: &Mention| other.kind == m.kind && other.name == m.name;
    for i in scope(project, names, &source.path, is_it) {
        let user = &project.sources()[i];
        for mention in names.all_of(i).filter(|other| !other.definition && is_it(other)) {
            let start = mention.span.start as usize;
            let after = user.docs.partition_point(|d| (d.tree.span.end as usize) < start);
            let doc = user.docs.get(after).and_then(|d| d.loaded.as_ref());
            let of = doc.map(|l| l.doc.name()).filter(|n| !n.is_empty());
            let of = of.map(|n| format!(" of {n}")).unwrap_or_default();
            writeln!(out, "  {}:{} {}{of}", user.name, user.place(start).0, mention.key)?;
            any = true;
        }
    }
    if any { Ok(()) } else { writeln!(out, "  nothing") }
}
