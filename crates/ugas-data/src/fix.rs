//! Mending files: the safe edits of findings, applied to texts so that comments, order and everything else stay. A result
//! is only given out if it parses to exactly the tree that was meant: the old one with the edited places edited.

use crate::diagnostic::{Diagnostic, Edit};
use crate::project::Project;
use crate::{Entry, Node, NodeValue, Span, read_trees};
use std::mem::discriminant;
use std::path::PathBuf;
use std::sync::Arc;

/// How often mended files are looked at again; what mends one finding rarely uncovers another.
const ROUNDS: usize = 8;

/// Bytes that are looked at again and again; large projects that uncover more and more are mended by several runs.
const MAX_CHECKED: usize = 3 << 20;

/// One change of a file.
///
/// ```
/// let change = ugas_data::Change { id: "a".into(), line: 1, column: 1, title: "write B".into() };
/// assert_eq!(change.title, "write B");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The finding it mends.
    pub id: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// What it does.
    pub title: String,
}

impl Change {
    fn of(finding: &Diagnostic, title: &str) -> Change {
        Change { id: finding.id.clone(), line: finding.line, column: finding.column, title: title.to_owned() }
    }
}

/// What can be mended in one file.
///
/// ```
/// let mut project = ugas_data::Project::default();
/// project.put("tags.yaml", "Kind: gameplay_tag\nTags: [{Tag: State.Alive}] # all\n");
/// assert!(project.fixes().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFix {
    /// Where it lies.
    pub path: PathBuf,
    /// Its name in messages.
    pub name: Arc<str>,
    /// What it should hold.
    pub text: String,
    /// What was changed, in the order of the file.
    pub changes: Vec<Change>,
    /// What was left alone, because the result would not have been exactly what was meant.
    pub refused: Vec<Change>,
}

impl Project {
    /// What can be mended without a person: for each file its text with every safe edit applied, and the list of them.
    /// Doing it again finds nothing more, unless more was wrong than is told at a time.
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
        let mut mended = self.clone();
        let mut fixes: Vec<FileFix> = Vec::new();
        let bytes: usize = self.sources().iter().map(|s| s.text.len()).sum();
        for round in 0..ROUNDS {
            if round > 1 && round * bytes > MAX_CHECKED {
                break;
            }
            let findings = mended.check();
            let mut again = false;
            for at in 0..mended.sources().len() {
                let source = &mended.sources()[at];
                let (name, path, text) = (source.name.clone(), source.path.clone(), source.text.clone());
                let of_file = findings.iter().filter(|f| f.file == name);
                let (text, changes, refused) = mend(&name, &text, of_file);
                if changes.is_empty() && refused.is_empty() {
                    continue;
                }
                again |= !changes.is_empty();
                mended.put(path.clone(), text.clone());
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

/// One file's text with the fixes of its findings, what was done and what was left alone.
fn mend<'f>(
    name: &'f str,
    text: &str,
    findings: impl Iterator<Item = &'f Diagnostic>,
) -> (String, Vec<Change>, Vec<Change>) {
    let mut wanted: Vec<Wanted<'f>> =
        findings.filter_map(|f| f.fix.as_ref().map(|fix| (f, fix.title.as_str(), fix.edits.as_slice()))).collect();
    wanted.retain(|(.., edits)| !edits.is_empty());
    wanted.sort_by_key(|(.., edits)| edits[0].span);
    wanted.dedup_by(|a, b| a.2 == b.2);
    // What overlaps with something after it waits for the next round.
    let mut free = u32::MAX;
    let mut apart: Vec<Wanted<'_>> = Vec::new();
    for one in wanted.into_iter().rev() {
        if one.2.iter().all(|e| e.span.end <= free) {
            free = one.2[0].span.start;
            apart.push(one);
        }
    }
    let mut mending = Mending { name, text: text.to_owned(), done: Vec::new(), refused: Vec::new(), tries: MAX_TRIES };
    mending.all(&apart);
    let changes = |list: Vec<Wanted<'_>>| list.into_iter().rev().map(|(f, title, _)| Change::of(f, title)).collect();
    (mending.text, changes(mending.done), changes(mending.refused))
}

/// A finding, what its fix does, and the fix.
type Wanted<'f> = (&'f Diagnostic, &'f str, &'f [Edit]);

/// How often one file is read again to find the fixes that do not do what is meant; what is left then is refused.
const MAX_TRIES: usize = 64;

struct Mending<'f> {
    name: &'f str,
    text: String,
    done: Vec<Wanted<'f>>,
    refused: Vec<Wanted<'f>>,
    tries: usize,
}

impl<'f> Mending<'f> {
    /// Applies fixes that stand apart, the last of the file first, so that the spans of what is still to come stay true.
    /// All at once, because each try reads the file; in halves where that is not what is meant.
    fn all(&mut self, fixes: &[Wanted<'f>]) {
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

/// The text with the edits, if it parses to the tree that was meant.
fn apply(name: &str, text: &str, edits: &[Edit]) -> Option<String> {
    let result = Edit::apply_all(edits, text)?;
    let (before, after) = (read_trees(name, text).ok()?, read_trees(name, &result).ok()?);
    let meant = Meant { before: text, after: &result, edits };
    let same = before.len() == after.len() && before.iter().zip(&after).all(|(a, b)| meant.holds(a, b));
    same.then_some(result)
}

struct Meant<'t> {
    before: &'t str,
    after: &'t str,
    edits: &'t [Edit],
}

impl Meant<'_> {
    /// Whether `b` is `a` with the edits and nothing else.
    fn holds(&self, a: &Node, b: &Node) -> bool {
        if !self.touched(a.span) {
            return same(a, b);
        }
        match (&a.value, &b.value) {
            (NodeValue::Map(from), NodeValue::Map(to)) => {
                let (mut kept, mut to) = (from.iter().filter(|e| !self.removed(e.span)), to.iter());
                let pair = |e: &Entry, t: &Entry| self.key(e.span, t.span) && self.holds(&e.value, &t.value);
                kept.all(|e| to.next().is_some_and(|t| pair(e, t))) && to.next().is_none()
            }
            (NodeValue::List(from), NodeValue::List(to)) => {
                let (mut kept, mut to) = (from.iter().filter(|n| !self.removed(n.span)), to.iter());
                kept.all(|n| to.next().is_some_and(|t| self.holds(n, t))) && to.next().is_none()
            }
            // A word stays a word: no edit makes a map of it, or a number.
            (a_value, b_value) => discriminant(a_value) == discriminant(b_value) && self.key(a.span, b.span),
        }
    }

    /// The edits that touch a span; they are in order and apart.
    fn about(&self, span: Span) -> &[Edit] {
        let from = self.edits.partition_point(|e| e.span.end < span.start);
        let to = self.edits.partition_point(|e| e.span.start <= span.end);
        &self.edits[from..to.max(from)]
    }

    fn touched(&self, span: Span) -> bool {
        !self.about(span).is_empty()
    }

    /// Whether an edit takes something out as a whole.
    fn removed(&self, span: Span) -> bool {
        self.about(span).iter().any(|e| e.span.start <= span.start && span.end <= e.span.end && e.text.is_empty())
    }

    /// Whether a key or a plain value reads as its edits make it.
    fn key(&self, from: Span, to: Span) -> bool {
        let Some(mut meant) = from.of(self.before).map(str::to_owned) else { return false };
        let inside = |e: &&Edit| from.start <= e.span.start && e.span.end <= from.end;
        for e in self.about(from).iter().rev().filter(inside) {
            // A line break would be folded into something that is not written there.
            if e.text.contains(['\n', '\r']) {
                return false;
            }
            let at = (e.span.start - from.start) as usize..(e.span.end - from.start) as usize;
            meant.replace_range(at, &e.text);
        }
        to.of(self.after) == Some(meant.as_str())
    }
}

/// Whether two trees say the same, wherever they stand.
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

/// The edit that takes an entry out of a map with everything that belongs to it, or `None` where that would take a
/// comment along or leave the map empty.
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
    fn only_what_was_meant_comes_out() {
        let text = "A: one\nB: [two, three] # why\n";
        assert_eq!(edit(text, "two", "2nd").as_deref(), Some("A: one\nB: [2nd, three] # why\n"));
        assert_eq!(edit(text, "two, ", "").as_deref(), Some("A: one\nB: [three] # why\n"));
        // Each of these would make another tree than the old one with another word in it.
        for slip in ["a, b", "a: b", "x # y", "\"", "[", "*a", "a\n  b"] {
            assert_eq!(edit(text, "two", slip), None, "{slip}");
        }
        assert_eq!(edit(text, "one\nB", "one\nC"), None, "no edit crosses values");
    }
}
