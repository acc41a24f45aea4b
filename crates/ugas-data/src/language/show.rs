//! A definition as a page of text: where it is, what it does, its text for players, the document as it was understood,
//! and what uses it.

use super::hover::{computed, controllers, is_of};
use super::names::scope;
use super::summary::{attribute, in_a_line, loaded, tooltip, tooltips_of_owners};
use super::{number, set_of};
use crate::names::Names;
use crate::{Mention, Node, Project, Source, SymbolKind, to_yaml};
use std::collections::BTreeSet;
use std::fmt::Write;
use ugas_doc::{Doc, Kind};

/// More definitions of one name are a mistake, and nobody reads their pages.
const MAX_PAGES: usize = 8;

/// Every definition of a name, one page each and eight at most, with numbers at a level; nothing if there is none. What has
/// a namespace is found with it and without it.
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

/// Every name that a project defines, each once.
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

fn describe(project: &Project, source: &Source, m: &Mention, level: u32, out: &mut String) -> std::fmt::Result {
    let at = m.span.start as usize;
    let line = source.docs.iter().find(|d| d.tree.span.touches(at)).map(|d| d.tree.line);
    let Some(set) = set_of(project, &source.path) else { return Ok(()) };
    let docs = loaded(project, &set);
    let is_it = |l: &&crate::Loaded| Some(l.origin.line) == line && l.origin.file == source.name;
    let Some(doc) = docs.iter().find(is_it).map(|l| &l.doc) else { return Ok(()) };
    let (rules, _) = project.build(&set);
    match (m.kind, doc) {
        (SymbolKind::Tag, Doc::TagRegistry(registry)) => {
            let entry = registry.tags.iter().find(|t| t.tag == m.name);
            entry.and_then(|t| t.description.as_ref()).map_or(Ok(()), |text| writeln!(out, "  {text}"))
        }
        (SymbolKind::Attribute, doc) => {
            let Some(a) = attribute(doc, &m.name) else { return Ok(()) };
            if let Some(text) = a.metadata.as_ref().and_then(|d| d.description.as_ref()) {
                writeln!(out, "  {text}")?;
            }
            if let Some(rules) = rules {
                for (who, explained) in computed(&rules, &controllers(&docs), &m.name) {
                    writeln!(out, "  {who}: {} {} ({})", m.name, number(explained.value), explained.short())?;
                }
            }
            let alone = to_yaml(&Doc::from(a.clone()));
            resolved(&alone, out)
        }
        (kind, doc) if is_of(doc, kind) => {
            if let Some(line) = in_a_line(doc) {
                writeln!(out, "  {line}")?;
            }
            if let Some((rules, tip)) = rules.and_then(|rules| tooltip(&rules, doc, level).map(|tip| (rules, tip))) {
                writeln!(out, "  at level {level}: {}", tip.filled.text)?;
                if !tip.filled.missing.is_empty() {
                    let owners = tooltips_of_owners(&rules, &controllers(&docs), doc, level);
                    for missing in tip.filled.missing.iter().filter(|_| owners.is_empty()) {
                        writeln!(out, "  {{{missing}}} depends on who uses it, or is not there")?;
                    }
                    for (who, text) in owners {
                        writeln!(out, "  of {who}: {text}")?;
                    }
                }
            }
            resolved(&to_yaml(doc), out)
        }
        _ => Ok(()),
    }
}

fn resolved(yaml: &str, out: &mut String) -> std::fmt::Result {
    writeln!(out, "as understood:")?;
    yaml.lines().try_for_each(|line| writeln!(out, "  {line}"))
}

/// What patches of other packs, and of its own, set in a definition.
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
