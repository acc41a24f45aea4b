//! Masks invalid values, so that one run reports all errors of a document. A derived `serde` type stops at its first
//! error. The invalid value is then masked: the document is read again without it.

use crate::Node;
use crate::fault::{Cause, DeError};

/// Values that reading skips.
#[derive(Default)]
pub(crate) struct Masked<'a> {
    out: Vec<Out<'a>>,
}

/// A skipped value.
struct Out<'a> {
    node: &'a Node,
    /// Whether its key is valid.
    expected: bool,
    /// The map that lacks a field, and the field that the value was meant for.
    home: Option<(&'a Node, &'a str)>,
}

/// How reading continues after an error.
pub(crate) struct Next {
    /// The error follows from a masked value.
    pub(crate) follows: bool,
    /// Reading cannot continue.
    pub(crate) last: bool,
}

impl<'a> Masked<'a> {
    /// Masks keys of a map.
    pub(crate) fn keys(root: &'a Node, keys: &[&str]) -> Masked<'a> {
        let out = keys.iter().filter_map(|key| root.get(key)).map(|node| Out { node, expected: false, home: None });
        Masked { out: out.collect() }
    }

    /// Returns the number of masked values.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// Returns whether a value is masked.
    pub(crate) fn hides(&self, node: &Node) -> bool {
        self.out.iter().any(|o| std::ptr::eq(o.node, node))
    }

    /// Masks the value of an error.
    pub(crate) fn hide(&mut self, error: &DeError, root: &'a Node) -> Next {
        let Some((at, home)) = error.node(root) else {
            return Next { follows: false, last: true };
        };
        let follows = match error.cause() {
            Cause::Extra(key, meant) => {
                let extra = at.get(key);
                // A misspelt field is not also reported as missing.
                let home = meant.map(|meant| (at, meant));
                self.out.extend(extra.map(|node| Out { node, expected: false, home }));
                return Next { follows: false, last: extra.is_none() };
            }
            Cause::Missing(key) => {
                let same = |(map, name): (&Node, &str)| std::ptr::eq(map, at) && name == *key;
                self.out.iter().filter_map(|o| o.home).any(same)
            }
            Cause::Value => self.out.iter().any(|o| o.expected && holds(at, o.node)),
        };
        self.out.push(Out { node: at, expected: true, home });
        Next { follows, last: std::ptr::eq(at, root) }
    }
}

/// Returns whether a value is or contains another.
fn holds(node: &Node, inner: &Node) -> bool {
    std::ptr::eq(node, inner)
        || node.items().iter().any(|n| holds(n, inner))
        || node.entries().iter().any(|e| holds(&e.value, inner))
}
