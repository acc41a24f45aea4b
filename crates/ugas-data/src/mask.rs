//! Reading on behind an error. A derived type stops at its first error; what it stopped at is masked and the rest read
//! again, so that one run tells a person all there is to mend.

use crate::Node;
use crate::fault::{Cause, DeError};

/// Values that reading leaves out.
#[derive(Default)]
pub(crate) struct Masked<'a> {
    out: Vec<Out<'a>>,
}

/// One value that is left out.
struct Out<'a> {
    node: &'a Node,
    /// Whether it belongs where it stands.
    expected: bool,
    /// The map it stands in and the key it stands for there.
    home: Option<(&'a Node, &'a str)>,
}

/// What an error means for reading on.
pub(crate) struct Next {
    /// It only follows from what was masked before.
    pub(crate) follows: bool,
    /// Nothing can be read behind it.
    pub(crate) last: bool,
}

impl<'a> Masked<'a> {
    /// Without these keys of a map.
    pub(crate) fn keys(root: &'a Node, keys: &[&str]) -> Masked<'a> {
        let out = keys.iter().filter_map(|key| root.get(key)).map(|node| Out { node, expected: false, home: None });
        Masked { out: out.collect() }
    }

    /// How many values are left out.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether a value is left out.
    pub(crate) fn hides(&self, node: &Node) -> bool {
        self.out.iter().any(|o| std::ptr::eq(o.node, node))
    }

    /// Masks what an error is about.
    pub(crate) fn hide(&mut self, error: &DeError, root: &'a Node) -> Next {
        let Some((at, home)) = error.node(root) else {
            return Next { follows: false, last: true };
        };
        let follows = match error.cause() {
            Cause::Extra(key, meant) => {
                let extra = at.get(key);
                // A misspelt field is not missing as well.
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

/// Whether a value is another or holds it.
fn holds(node: &Node, inner: &Node) -> bool {
    std::ptr::eq(node, inner)
        || node.items().iter().any(|n| holds(n, inner))
        || node.entries().iter().any(|e| holds(&e.value, inner))
}
