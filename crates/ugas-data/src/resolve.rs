//! Checks the names that the rules builder does not resolve: the names in input documents and scenes.

use crate::Node;
use crate::diagnostic::{Diagnostic, Edit, Severity};
use crate::names::Names;
use crate::project::{DocSet, Project, Source};
use crate::spelling::nearest;
use crate::symbol::{Mention, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};
use ugas_doc::{Kind, Resource};

/// The maximum number of name comparisons for suggestions.
pub(crate) const COMPARISONS: usize = 1 << 20;

/// The definitions of a document set, by kind.
type DefinedNames = BTreeMap<SymbolKind, BTreeSet<String>>;

/// Reports unknown names of input documents and scenes in the own files of a document set.
pub(crate) fn check(project: &Project, set: &DocSet, names: &Names) -> Vec<Diagnostic> {
    let mut defined = DefinedNames::new();
    for doc in set.required.iter().chain(&set.own).flat_map(|&i| names.of_file(i)) {
        let Some(kind) = doc.kind else { continue };
        for m in &doc.mentions {
            // The rules builder reports the tags that rules use.
            if m.definition || m.kind == SymbolKind::Tag && !is_input(kind) {
                defined.entry(m.kind).or_default().insert(m.name.clone());
            }
            if m.definition && kind == Kind::Resource {
                let resource = Resource::new(m.name.as_str(), 0.0);
                let bounds = ["Max", "Min"].map(|bound| resource.bound_name(bound));
                defined.entry(SymbolKind::Attribute).or_default().extend(bounds);
            }
        }
    }
    let mut findings = Vec::new();
    for &i in &set.own {
        let source = &project.sources()[i];
        for (doc, named) in source.docs.iter().zip(names.of_file(i)) {
            let Some(kind) = named.kind else { continue };
            let name = doc.tree.get("Name").and_then(Node::as_text).map(|n| format!("{n}: ")).unwrap_or_default();
            for m in named.mentions.iter().filter(|m| !m.definition) {
                let Some(mut finding) = look_up(kind, m, &defined, set, source, findings.len()) else { continue };
                finding.message.insert_str(0, &name);
                findings.push(finding);
                if m.kind == SymbolKind::Tag {
                    defined.entry(m.kind).or_default().insert(m.name.clone());
                }
            }
        }
    }
    findings
}

fn is_input(kind: Kind) -> bool {
    matches!(kind, Kind::InputAction | Kind::InputActionSet | Kind::InputMapping | Kind::InputModifier)
}

fn look_up(
    kind: Kind,
    m: &Mention,
    defined: &DefinedNames,
    set: &DocSet,
    source: &Source,
    found: usize,
) -> Option<Diagnostic> {
    let input = is_input(kind);
    let what = m.kind;
    // Without input documents, inputs are bound in code.
    if matches!(what, SymbolKind::InputAction | SymbolKind::InputActionSet) && !input && !defined.contains_key(&what) {
        return None;
    }
    if what == SymbolKind::Calculation && kind == Kind::InputModifier {
        return (!set.host.modifiers.contains(&m.name)).then(|| host_modifier(m, set, source));
    }
    let in_scene = kind == Kind::Scene;
    // The rules builder resolves the tags of actions and action sets.
    let is_of_device = matches!(kind, Kind::InputMapping | Kind::InputModifier);
    // The names that the rules builder does not resolve, and whether it does not resolve them in this document.
    let unresolved = [
        (SymbolKind::InputAction, true, "unknown-input-action", Severity::Error),
        (SymbolKind::InputActionSet, true, "unknown-input-action-set", Severity::Error),
        (SymbolKind::InputModifier, true, "unknown-input-modifier", Severity::Error),
        (SymbolKind::Controller, true, "unknown-controller", Severity::Error),
        (SymbolKind::Scene, true, "unknown-scene", Severity::Error),
        (SymbolKind::Effect, in_scene, "unknown-effect", Severity::Error),
        (SymbolKind::Attribute, in_scene, "unknown-attribute", Severity::Error),
        (SymbolKind::Tag, is_of_device, "undeclared-tag", Severity::Warning),
    ];
    let (_, _, id, severity) = unresolved.into_iter().find(|(of, here, ..)| *of == what && *here)?;
    // A profile is older than the data; its changes of names that no longer exist are kept and have no effect.
    let severity = if kind == Kind::InputProfile { Severity::Warning } else { severity };
    let none = BTreeSet::new();
    let known = defined.get(&what).unwrap_or(&none);
    let below = format!("{}.", m.name);
    let has_below = || known.range(below.clone()..).next().is_some_and(|tag| tag.starts_with(&below));
    if known.contains(&m.name) || what == SymbolKind::Tag && has_below() {
        return None;
    }
    let message = if let SymbolKind::Tag = what {
        format!("{}: no tag registry declares {}", m.key, m.name)
    } else {
        format!("{}: unknown {what} {}", m.key, m.name)
    };
    // Suggestions are computed only for a readable number of findings.
    let near = match found.saturating_mul(known.len()) > COMPARISONS {
        true => None,
        false => nearest(&m.name, known.iter().map(String::as_str)),
    };
    Some(at_name(source.finding(id, severity, message, m.span), m, near))
}

fn host_modifier(m: &Mention, set: &DocSet, source: &Source) -> Diagnostic {
    let message = format!("{}: no host code is listed for {}", m.key, m.name);
    let finding = source.finding("unknown-modifier-code", Severity::Error, message, m.span);
    let near = nearest(&m.name, set.host.modifiers.iter().map(String::as_str));
    let mut finding = at_name(finding, m, near);
    finding.help.get_or_insert(
        "if host code provides this name, list it in pack.yaml under `Host: {Modifiers: [..]}`".to_owned(),
    );
    finding
}

fn at_name(finding: Diagnostic, m: &Mention, near: Option<&str>) -> Diagnostic {
    match near {
        Some(meant) => {
            let edits = vec![Edit { span: m.span, text: meant.to_owned() }];
            finding.help(format!("did you mean {meant}?")).fix(format!("write {meant}"), edits)
        }
        None => finding,
    }
}
