//! Assembles the documents of a document set for the rules builder: names are qualified and patches are applied. The
//! patches of a pack are applied after the patches of the packs that it requires. If two patches change the same field
//! and neither of their packs requires the other, their order is undefined and the conflict is reported.

use crate::csv;
use crate::diagnostic::{Diagnostic, Edit, Severity};
use crate::limits::{MAX_PATCHING, MAX_POINTS};
use crate::names::{Names, target_of, with_names};
use crate::patch::{PATCHED_LINE, PatchPath, set_at_path, settle};
use crate::project::{DocSet, Project, Source, SourceDoc};
use crate::read::read_tree;
use crate::spelling::nearest;
use crate::{Entry, Loaded, Node, Span, SymbolKind, place_of};
use std::collections::BTreeMap;
use std::path::PathBuf;
use ugas_core::RulesBuilder;
use ugas_doc::{Doc, Kind, Patch, Patched};

/// One assembled document.
pub(crate) struct AssembledDocument<'p> {
    /// The index of its file in the project.
    pub(crate) file: usize,
    /// Its index in the file.
    pub(crate) at: usize,
    pub(crate) loaded: Loaded,
    /// Its tree with qualified names; `None` if the names in the file are qualified already.
    named: Option<Node>,
    /// The tree after patches; `None` if no patch changed it.
    patched: Option<Node>,
    source: &'p SourceDoc,
}

impl AssembledDocument<'_> {
    /// Returns its tree with qualified names. Places are those in the file.
    pub(crate) fn tree(&self) -> &Node {
        self.named.as_ref().unwrap_or(&self.source.tree)
    }
}

/// The documents of a document set after patches, and the findings about the patches.
#[derive(Default)]
pub(crate) struct Assembled<'p> {
    pub(crate) docs: Vec<AssembledDocument<'p>>,
    pub(crate) findings: Vec<Diagnostic>,
    /// The changes so far: document, field and pack.
    changes: Vec<(usize, Patched, Option<PathBuf>)>,
    /// The cost of the patches so far; see [`MAX_PATCHING`].
    work: usize,
}

impl Assembled<'_> {
    /// Returns a rules builder with the documents.
    pub(crate) fn add_to(&self, builder: RulesBuilder) -> RulesBuilder {
        self.docs.iter().fold(builder, |b, d| b.add_at(d.loaded.doc.clone(), d.loaded.origin.clone()))
    }
}

/// Assembles the documents of a document set, required packs first.
pub(crate) fn assemble<'p>(project: &'p Project, set: &DocSet, names: &Names) -> Assembled<'p> {
    let mut out = Assembled::default();
    let mut patches = Vec::new();
    for &file in set.required.iter().chain(&set.own) {
        let source = &project.sources()[file];
        for (at, doc) in source.docs.iter().enumerate() {
            match &doc.loaded {
                Some(Loaded { doc: Doc::Patch(patch), .. }) => patches.push((file, doc, &**patch)),
                Some(loaded) => out.docs.push(whole(names, source, doc, loaded, file, at)),
                None => {}
            }
        }
    }
    out.same_attributes(project, names);
    for (file, doc, patch) in patches {
        out.apply(project, names, file, doc, patch);
    }
    out
}

fn whole<'p>(
    names: &Names,
    source: &Source,
    doc: &'p SourceDoc,
    loaded: &Loaded,
    file: usize,
    at: usize,
) -> AssembledDocument<'p> {
    let mut whole = AssembledDocument { file, at, loaded: loaded.clone(), named: None, patched: None, source: doc };
    if names.space(file).is_some() {
        let tree = with_names(&doc.tree, &source.text, &names.of_file(file)[at].mentions);
        // A document that cannot be read with qualified names keeps the names of the file.
        if let Ok(mut again) = read_tree(&source.name, &tree) {
            keep_table(&mut again.doc, &loaded.doc);
            whole.loaded = again;
        }
        whole.named = Some(tree);
    }
    whole
}

impl Assembled<'_> {
    /// Reports attributes that two unrelated packs define. Attribute sets may share an attribute, and a pack may refer
    /// to an attribute of a required pack.
    fn same_attributes(&mut self, project: &Project, names: &Names) {
        let mut first: BTreeMap<&str, (usize, Span)> = BTreeMap::new();
        let mut homes: BTreeMap<usize, Option<PathBuf>> = BTreeMap::new();
        for d in &self.docs {
            let defined = names.of_file(d.file)[d.at].mentions.iter();
            for m in defined.filter(|m| m.definition && m.kind == SymbolKind::Attribute) {
                let (other, span) = *first.entry(&m.name).or_insert((d.file, m.span));
                if other == d.file {
                    continue;
                }
                let mut home = |file: usize| {
                    let found = || project.home(&project.sources()[file].path);
                    homes.entry(file).or_insert_with(found).clone()
                };
                let (Some(here), Some(there)) = (home(d.file), home(other)) else { continue };
                let knows = |a: &PathBuf, b: &PathBuf| project.required_packs(a).contains(b);
                if here == there || knows(&here, &there) || knows(&there, &here) {
                    continue;
                }
                let (source, earlier) = (&project.sources()[d.file], &project.sources()[other]);
                let line = place_of(&earlier.text, span.start as usize).0;
                let message = format!("the attribute {} is already defined at {}:{line}", m.name, earlier.name);
                let finding = Diagnostic::new("duplicate-name", Severity::Error, source.name.clone(), message);
                let help =
                    "give one pack a `Namespace:`; if both packs mean the same attribute, let one require the other";
                self.findings.push(source.mark(finding, m.span).help(help));
            }
        }
    }

    fn apply(&mut self, project: &Project, names: &Names, file: usize, doc: &SourceDoc, patch: &Patch) {
        let source = &project.sources()[file];
        let space = names.space(file).map(|s| &**s);
        let is_defined = |name: &str| self.docs.iter().any(|d| d.loaded.doc.name() == name);
        let Some((name, at)) = target_of(&doc.tree, space, is_defined) else { return };
        let target = match self.target(&name, patch, &doc.tree) {
            Ok(target) => target,
            Err(error) => return self.findings.push(error.into_finding(source, at)),
        };
        let fields = doc.tree.get("Set").map_or(&[][..], Node::entries);
        let before = &self.docs[target];
        // The target is read again for each patch, and each field is compared with earlier changes.
        let bytes = (before.source.tree.span.end - before.source.tree.span.start) as usize;
        let looked_at = self.docs.len() + self.changes.len() * fields.len().max(1);
        self.work = self.work.saturating_add(8 * bytes + 8 * looked_at);
        if self.work > MAX_PATCHING {
            if !self.findings.iter().any(|f| f.id == "limit") {
                let message =
                    "the patches exceed the time limit; this and the following patches are not applied".to_owned();
                let help = "merge the patches of one definition into one patch, or replace the definition";
                self.findings.push(source.finding("limit", Severity::Error, message, at.span).help(help));
            }
            return;
        }
        let mut tree = before.patched.as_ref().unwrap_or(before.tree()).clone();
        let pack = project.home(&source.path);
        let mut done = Vec::new();
        let names = &names.of_file(file);
        let own = names.iter().zip(&source.docs).find(|(_, d)| std::ptr::eq(*d, doc)).map(|(n, _)| &n.mentions[..]);
        for entry in fields {
            let value = with_names(&entry.value, &source.text, own.unwrap_or_default());
            let patched = PatchPath::parse(&entry.key).and_then(|way| match way.to_string().as_str() {
                "Name" | "Kind" | "$schema" => {
                    Err(format!("a patch cannot change the {way} of a definition; remove {way}"))
                }
                _ => set_at_path(&mut tree, &way, &value),
            });
            match patched {
                Ok(way) => {
                    let field = way.to_string();
                    let patched = Patched { field, file: source.name.clone(), line: entry.line };
                    self.conflicts(project, target, &patched, pack.as_ref(), entry, source);
                    done.push((target, patched, pack.clone()));
                }
                Err(why) => return self.findings.push(bad_field(why, &name, entry, source)),
            }
        }
        let home = &project.sources()[self.docs[target].file];
        match read_tree(&home.name, &tree) {
            Ok(mut loaded) => {
                let line = loaded.origin.line;
                match tree.get("Csv").filter(|n| n.line >= PATCHED_LINE) {
                    // A table named by a patch is relative to the file of the patch.
                    Some(_) => {
                        let kept = &project.tables;
                        let room = &mut { MAX_POINTS };
                        if let Err(errors) = csv::fill(&mut loaded.doc, &doc.tree, &source.path, room, kept) {
                            return self.findings.extend(errors.iter().map(Diagnostic::of_read_error));
                        }
                    }
                    None => keep_table(&mut loaded.doc, &self.docs[target].loaded.doc),
                }
                let lines = loaded.origin.modifier_lines.iter().map(|&l| if l >= PATCHED_LINE { line } else { l });
                loaded.origin.modifier_lines = lines.collect();
                settle(&mut tree, line);
                loaded.origin.patches = std::mem::take(&mut self.docs[target].loaded.origin.patches);
                loaded.origin.patches.extend(done.iter().map(|(_, patched, _)| patched.clone()));
                self.docs[target].loaded = loaded;
                self.docs[target].patched = Some(tree);
                self.changes.extend(done);
            }
            Err(errors) => {
                for mut error in errors {
                    let read = Diagnostic::of_read_error;
                    self.findings.push(if error.line >= PATCHED_LINE {
                        error.line -= PATCHED_LINE;
                        error.file = source.name.clone();
                        error.message = format!("{name}: {}", error.message);
                        read(&error).stretched(&source.text)
                    } else {
                        let message = format!("{name} is invalid after this patch: {}", error.message);
                        let finding = Diagnostic::new("bad-patch", Severity::Error, source.name.clone(), message);
                        source
                            .mark(finding, at.span)
                            .help(format!("the patch makes {}:{}:{} invalid", error.file, error.line, error.column))
                    });
                }
            }
        }
    }

    /// Returns the document that a patch changes.
    fn target(&self, name: &str, patch: &Patch, tree: &Node) -> Result<usize, TargetError> {
        let kind_node = || tree.get("TargetKind").map(|n| n.span);
        let wanted = match &patch.target_kind {
            Some(kind) => Some(Kind::from_name(kind).ok_or_else(|| {
                let near = nearest(kind, Kind::ALL.iter().map(|k| k.name())).map(str::to_owned);
                TargetError {
                    id: "unknown-kind",
                    message: format!("unknown kind {kind}"),
                    near,
                    help: None,
                    span: kind_node(),
                }
            })?),
            None => None,
        };
        let is_it = |d: &&AssembledDocument<'_>| {
            // A mapping is named after its action set.
            let kind = d.loaded.doc.kind();
            d.loaded.doc.name() == name && wanted.map_or(kind != Kind::InputMapping, |w| w == kind)
        };
        let found: Vec<&AssembledDocument<'_>> = self.docs.iter().filter(is_it).collect();
        match found.as_slice() {
            [_] => Ok(self.docs.iter().position(|d| is_it(&d)).unwrap_or_default()),
            [] => match self.docs.iter().find(|d| d.loaded.doc.name() == name) {
                Some(other) => {
                    let kind = other.loaded.doc.kind().name();
                    let message = format!(
                        "expected {name} to be a {}, found a {kind}",
                        wanted.map_or("patchable kind", Kind::name)
                    );
                    let near = Some(kind.to_owned()).filter(|_| wanted.is_some());
                    Err(TargetError { id: "unknown-target", message, near, help: None, span: kind_node() })
                }
                None => Err(self.no_target(name)),
            },
            several => {
                let mut kinds: Vec<&str> = several.iter().map(|d| d.loaded.doc.kind().name()).collect();
                kinds.dedup();
                let message = format!("several definitions are named {name}");
                let help = Some(match kinds.len() {
                    1 => "rename one of them".to_owned(),
                    _ => format!("write `TargetKind:` with one of {}", kinds.join(", ")),
                });
                Err(TargetError { id: "ambiguous-target", message, near: None, help, span: None })
            }
        }
    }

    fn no_target(&self, name: &str) -> TargetError {
        let id = "unknown-target";
        let inside = self.docs.iter().find(|d| {
            if let Doc::AttributeSet(set) = &d.loaded.doc {
                set.attributes.iter().any(|a| a.name == name)
            } else {
                false
            }
        });
        if let Some(set) = inside {
            let set = set.loaded.doc.name();
            let message = format!("{name} is an attribute of {set}, not a document");
            let help = Some(format!(
                "write `Target: {set}` and paths such as `Attributes[{name}].DefaultBaseValue` under `Set:`"
            ));
            return TargetError { id, message, near: None, help, span: None };
        }
        let names = self.docs.iter().map(|d| d.loaded.doc.name()).filter(|n| !n.is_empty());
        let near = nearest(name, names).map(str::to_owned);
        let message = format!("unknown definition {name}");
        let help = near.is_none().then(|| "add the pack that defines it to `Requires` in pack.yaml".to_owned());
        TargetError { id, message, near, help, span: None }
    }

    fn conflicts(
        &mut self,
        project: &Project,
        target: usize,
        patched: &Patched,
        pack: Option<&PathBuf>,
        entry: &Entry,
        source: &Source,
    ) {
        let same = |(of, p, _): &&(usize, Patched, Option<PathBuf>)| *of == target && p.touches(&patched.field);
        let ordered = |other: &Option<PathBuf>| match (pack, other) {
            (Some(pack), Some(other)) => pack != other && project.required_packs(pack).contains(other),
            _ => false,
        };
        if let Some((_, earlier, by)) = self.changes.iter().filter(same).find(|(.., by)| !ordered(by)) {
            let name = self.docs[target].loaded.doc.name();
            let message = format!("{} of {name} is also patched at {}:{}", patched.field, earlier.file, earlier.line);
            let help = match by.as_ref() == pack {
                true => "remove one of the two patches".to_owned(),
                false => "let one of the two packs require the other, or remove one of the patches".to_owned(),
            };
            let finding = Diagnostic::new("patch-conflict", Severity::Error, source.name.clone(), message);
            self.findings.push(source.mark(finding, entry.span).help(help));
        }
    }
}

/// Copies the points of a curve's table, or the stats of a stat table's, to the patched document, unless a patch set
/// them.
fn keep_table(again: &mut Doc, before: &Doc) {
    if let (Doc::Curve(again), Doc::Curve(before)) = (&mut *again, before)
        && again.csv.take().is_some()
        && again.points.is_empty()
    {
        again.points.clone_from(&before.points);
    }
    if let (Doc::StatTable(again), Doc::StatTable(before)) = (again, before)
        && again.csv.take().is_some()
        && again.stats.is_empty()
    {
        again.stats.clone_from(&before.stats);
    }
}

/// An error about the target of a patch.
struct TargetError {
    id: &'static str,
    message: String,
    near: Option<String>,
    help: Option<String>,
    span: Option<Span>,
}

impl TargetError {
    fn into_finding(self, source: &Source, target: &Node) -> Diagnostic {
        let span = self.span.unwrap_or(target.span);
        let key = if self.span.is_some() { "TargetKind" } else { "Target" };
        let message = format!("{key}: {}", self.message);
        let finding = Diagnostic::new(self.id, Severity::Error, source.name.clone(), message).at(span, &source.text);
        match (self.near, self.help) {
            (Some(near), _) => {
                let edits = vec![Edit { span, text: near.clone() }];
                finding.help(format!("did you mean {near}?")).fix(format!("write {near}"), edits)
            }
            (None, Some(help)) => finding.help(help),
            (None, None) => finding,
        }
    }
}

fn bad_field(why: String, target: &str, entry: &Entry, source: &Source) -> Diagnostic {
    let (why, near) = match why.split_once("; did you mean ") {
        Some((why, near)) => (why.to_owned(), Some(format!("did you mean {near}"))),
        None => (why, None),
    };
    let message = format!("{target}: Set: {why}");
    let finding = Diagnostic::new("bad-patch", Severity::Error, source.name.clone(), message);
    let finding = source.mark(finding, entry.span);
    near.into_iter().fold(finding, Diagnostic::help)
}
