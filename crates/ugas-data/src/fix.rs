//! Applies the safe fixes of findings to the texts of files. Comments, key order and all other text are kept. A changed
//! text is returned only if it parses to the old tree with exactly the intended changes.

use crate::diagnostic::{Diagnostic, Edit};
use crate::project::Project;
use crate::{Entry, Node, NodeValue, Span, read_trees};
use std::mem::discriminant;
use std::path::PathBuf;
use std::sync::Arc;

/// How often fixed files are checked again; a fix rarely uncovers another finding.
const ROUNDS: usize = 8;

/// Bytes that are checked in further rounds; a large project may need several runs.
const MAX_CHECKED: usize = 3 << 20;

/// An applied or skipped fix.
///
/// ```
/// let change = ugas_data::AppliedFix { id: "a".into(), line: 1, column: 1, title: "write B".into() };
/// assert_eq!(change.title, "write B");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedFix {
    /// The id of the finding.
    pub id: String,
    /// The line of the finding, from 1.
    pub line: u32,
    /// The column of the finding, from 1.
    pub column: u32,
    /// A short description of the fix.
    pub title: String,
}

impl AppliedFix {
    fn of(finding: &Diagnostic, title: &str) -> AppliedFix {
        AppliedFix { id: finding.id.clone(), line: finding.line, column: finding.column, title: title.to_owned() }
    }
}

/// The fixes of one file.
///
/// ```
/// let mut project = ugas_data::Project::default();
/// project.put("tags.yaml", "Kind: gameplay_tag\nTags: [{Tag: State.Alive}] # all\n");
/// assert!(project.fixes().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFix {
    /// The path of the file.
    pub path: PathBuf,
    /// The name of the file in messages.
    pub name: Arc<str>,
    /// The fixed text.
    pub text: String,
    /// The applied fixes, in the order of the file.
    pub changes: Vec<AppliedFix>,
    /// The skipped fixes. Each of them would have changed more than the value that its finding is about.
    pub refused: Vec<AppliedFix>,
}

impl Project {
    /// Returns, for each file with fixes, the fixed text, the applied fixes and the skipped fixes. One call is normally
    /// enough. A large project, or one with more findings than the [`limits`](crate::limits) allow, may need
    /// several calls.
    ///
    /// ```
    /// let mut project = ugas_data::Project::default();
    /// let modifier = "{Attribute: Speed, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 5}, Channel: Boots}";
    /// project.put("a.yaml", format!("Kind: attribute\nName: Speed\nDefaultBaseValue: 5\n---\n\
    ///     Kind: gameplay_effect\nName: GE_Boots\nDurationPolicy: Infinite\nModifiers: [{modifier}] # fast\n"));
    /// let fixes = project.fixes();
    /// assert_eq!(fixes[0].changes[0].title, "remove Channel");
    /// assert!(fixes[0].text.ends_with("Value: 5}}] # fast\n"));
    /// ```
    pub fn fixes(&self) -> Vec<FileFix> {
        let mut fixed = self.clone();
        let mut fixes: Vec<FileFix> = Vec::new();
        let bytes: usize = self.sources().iter().map(|s| s.text.len()).sum();
        for round in 0..ROUNDS {
            if round > 1 && round * bytes > MAX_CHECKED {
                break;
            }
            let findings = fixed.check();
            let mut again = false;
            for at in 0..fixed.sources().len() {
                let source = &fixed.sources()[at];
                let (name, path, text) = (source.name.clone(), source.path.clone(), source.text.clone());
                let of_file = findings.iter().filter(|f| f.file == name);
                let (text, changes, refused) = apply_fixes(&name, &text, of_file);
                if changes.is_empty() && refused.is_empty() {
                    continue;
                }
                again |= !changes.is_empty();
                fixed.put(path.clone(), text.clone());
                match fixes.iter_mut().find(|f| f.path == path) {
                    Some(fix) => {
                        fix.changes.extend(changes);
                        (fix.text, fix.refused) = (text, refused);
                    }
                    None => fixes.push(FileFix { path, name, text, changes, refused }),
                }
            }
            if !again {
                break;
            }
        }
        fixes
    }
}

/// Applies the fixes of the findings of one file. Returns the text, the applied fixes and the skipped ones.
fn apply_fixes<'f>(
    name: &'f str,
    text: &str,
    findings: impl Iterator<Item = &'f Diagnostic>,
) -> (String, Vec<AppliedFix>, Vec<AppliedFix>) {
    let mut wanted: Vec<PendingFix<'f>> =
        findings.filter_map(|f| f.fix.as_ref().map(|fix| (f, fix.title.as_str(), fix.edits.as_slice()))).collect();
    wanted.retain(|(.., edits)| !edits.is_empty());
    wanted.sort_by_key(|(.., edits)| edits[0].span);
    wanted.dedup_by(|a, b| a.2 == b.2);
    // A fix that overlaps with a later one waits for the next round.
    let mut free = u32::MAX;
    let mut apart: Vec<PendingFix<'_>> = Vec::new();
    for one in wanted.into_iter().rev() {
        if one.2.iter().all(|e| e.span.end <= free) {
            free = one.2[0].span.start;
            apart.push(one);
        }
    }
    let mut applier =
        FixApplier { name, text: text.to_owned(), done: Vec::new(), refused: Vec::new(), tries: MAX_TRIES };
    applier.all(&apart);
    let changes =
        |list: Vec<PendingFix<'_>>| list.into_iter().rev().map(|(f, title, _)| AppliedFix::of(f, title)).collect();
    (applier.text, changes(applier.done), changes(applier.refused))
}

/// A finding, the description of its fix, and the edits.
type PendingFix<'f> = (&'f Diagnostic, &'f str, &'f [Edit]);

/// How often one file is parsed to find the fixes that change other values; the remaining ones are skipped.
const MAX_TRIES: usize = 64;

struct FixApplier<'f> {
    name: &'f str,
    text: String,
    done: Vec<PendingFix<'f>>,
    refused: Vec<PendingFix<'f>>,
    tries: usize,
}

impl<'f> FixApplier<'f> {
    /// Applies fixes that do not overlap, the last of the file first, so that earlier spans stay valid. It tries all of them
    /// at once, because each try parses the file, and then halves.
    fn all(&mut self, fixes: &[PendingFix<'f>]) {
        if fixes.is_empty() {
            return;
        }
        let edits: Vec<Edit> = fixes.iter().rev().flat_map(|(.., edits)| edits.iter().cloned()).collect();
        let tried = self.tries.checked_sub(1).and_then(|left| {
            self.tries = left;
            apply(self.name, &self.text, &edits)
        });
        match tried {
            Some(result) => {
                self.text = result;
                self.done.extend_from_slice(fixes);
            }
            None if fixes.len() == 1 || self.tries == 0 => self.refused.extend_from_slice(fixes),
            None => {
                let (last, first) = fixes.split_at(fixes.len() / 2);
                self.all(last);
                self.all(first);
            }
        }
    }
}

/// Returns the text with the edits, if it parses to the intended tree.
fn apply(name: &str, text: &str, edits: &[Edit]) -> Option<String> {
    let result = Edit::apply_all(edits, text)?;
    let (before, after) = (read_trees(name, text).ok()?, read_trees(name, &result).ok()?);
    let intended = IntendedTree { before: text, after: &result, edits };
    let same = before.len() == after.len() && before.iter().zip(&after).all(|(a, b)| intended.matches(a, b));
    same.then_some(result)
}

struct IntendedTree<'t> {
    before: &'t str,
    after: &'t str,
    edits: &'t [Edit],
}

impl IntendedTree<'_> {
    /// Returns whether `b` is `a` with the edits and nothing else.
    fn matches(&self, a: &Node, b: &Node) -> bool {
        if !self.touched(a.span) {
            return same(a, b);
        }
        match (&a.value, &b.value) {
            (NodeValue::Map(from), NodeValue::Map(to)) => {
                let to: Vec<&Entry> = to.iter().filter(|t| !self.added(a.span, t.span, t.value.span)).collect();
                let (mut kept, mut to) = (from.iter().filter(|e| !self.removed(e.span)), to.into_iter());
                let pair = |e: &Entry, t: &Entry| self.key(e.span, t.span) && self.matches(&e.value, &t.value);
                kept.all(|e| to.next().is_some_and(|t| pair(e, t))) && to.next().is_none()
            }
            (NodeValue::List(from), NodeValue::List(to)) => {
                let to: Vec<&Node> = to.iter().filter(|t| !self.added(a.span, t.span, t.span)).collect();
                let (mut kept, mut to) = (from.iter().filter(|n| !self.removed(n.span)), to.into_iter());
                kept.all(|n| to.next().is_some_and(|t| self.matches(n, t))) && to.next().is_none()
            }
            // An edit must not change the type of a value.
            (a_value, b_value) => discriminant(a_value) == discriminant(b_value) && self.key(a.span, b.span),
        }
    }

    /// Returns the edits that touch a span; they are sorted and do not overlap.
    fn about(&self, span: Span) -> &[Edit] {
        let from = self.edits.partition_point(|e| e.span.end < span.start);
        let to = self.edits.partition_point(|e| e.span.start <= span.end);
        &self.edits[from..to.max(from)]
    }

    fn touched(&self, span: Span) -> bool {
        !self.about(span).is_empty()
    }

    /// Returns whether an edit removes a span.
    fn removed(&self, span: Span) -> bool {
        self.about(span).iter().any(|e| e.span.start <= span.start && span.end <= e.span.end && e.text.is_empty())
    }

    /// Returns whether the part of the new text from `first` to `last` is what an edit inserts into the old node `within`.
    fn added(&self, within: Span, first: Span, last: Span) -> bool {
        let inserts = self.about(within).iter().filter(|e| e.span.start == e.span.end);
        let part = Span { start: first.start, end: last.end };
        let mut texts = inserts.map(|e| e.text.trim_matches([',', ' ', '-', '\n']));
        part.of(self.after).is_some_and(|part| texts.any(|text| text == part))
    }

    /// Returns whether a key or a scalar has the edited text.
    fn key(&self, from: Span, to: Span) -> bool {
        let Some(mut meant) = from.of(self.before).map(str::to_owned) else { return false };
        let inside = |e: &&Edit| from.start <= e.span.start && e.span.end <= from.end;
        for e in self.about(from).iter().rev().filter(inside) {
            // YAML would fold a line break.
            if e.text.contains(['\n', '\r']) {
                return false;
            }
            let at = (e.span.start - from.start) as usize..(e.span.end - from.start) as usize;
            meant.replace_range(at, &e.text);
        }
        to.of(self.after) == Some(meant.as_str())
    }
}

/// Returns whether two trees have the same values, ignoring places.
pub(crate) fn same(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (NodeValue::Map(a), NodeValue::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.key == b.key && same(&a.value, &b.value))
        }
        (NodeValue::List(a), NodeValue::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (NodeValue::Number(a), NodeValue::Number(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

/// Returns the edit that removes an entry from a map, or `None` if that would remove a comment or leave the map empty.
pub(crate) fn remove_entry(map: &Node, key: &str, text: &str) -> Option<Edit> {
    let entries = map.entries();
    let at = entries.iter().position(|e| e.key == key)?;
    let entry = &entries[at];
    let (start, end) = (entry.span.start as usize, entry.value.span.end as usize);
    let span = if map.span.of(text)?.starts_with('{') {
        match (at.checked_sub(1).map(|i| &entries[i]), entries.get(at + 1)) {
            (Some(before), _) => Span::new(before.value.span.end as usize, end),
            (None, Some(after)) => Span::new(start, after.span.start as usize),
            (None, None) => return None,
        }
    } else {
        let line = text[..start].rfind('\n').map_or(0, |n| n + 1);
        let stop = text[end..].find('\n').map_or(text.len(), |n| end + n + 1);
        let alone = text[line..start].trim().is_empty() && text[end..stop].trim().is_empty();
        if !alone || at == 0 {
            return None;
        }
        Span::new(line, stop)
    };
    let cut = span.of(text)?;
    (!cut.contains('#')).then(|| Edit { span, text: String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, from: &str, to: &str) -> Option<String> {
        let at = text.find(from).unwrap();
        apply("a.yaml", text, &[Edit { span: Span::new(at, at + from.len()), text: to.to_owned() }])
    }

    #[test]
    fn an_edit_that_would_change_other_values_is_rejected() {
        let text = "A: one\nB: [two, three] # why\n";
        assert_eq!(edit(text, "two", "2nd").as_deref(), Some("A: one\nB: [2nd, three] # why\n"));
        assert_eq!(edit(text, "two, ", "").as_deref(), Some("A: one\nB: [three] # why\n"));
        // Each of these would change more than one value.
        for slip in ["a, b", "a: b", "x # y", "\"", "[", "*a", "a\n  b"] {
            assert_eq!(edit(text, "two", slip), None, "{slip}");
        }
        assert_eq!(edit(text, "one\nB", "one\nC"), None, "no edit crosses values");
    }
}
