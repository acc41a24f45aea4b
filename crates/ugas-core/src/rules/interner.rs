//! Interned names. The id of a name is its position in the table. Names are never removed, so rules that are built on a
//! copy of the table keep all ids.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A table of names. The id of a name is its position. Names are never removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner {
    list: Vec<Arc<str>>,
    by_name: BTreeMap<Arc<str>, u32>,
}

impl Interner {
    pub(crate) const EMPTY: Interner = Interner { list: Vec::new(), by_name: BTreeMap::new() };

    pub(crate) fn intern(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.by_name.get(name) {
            return id;
        }
        let id = self.list.len() as u32;
        let name: Arc<str> = name.into();
        self.list.push(name.clone());
        self.by_name.insert(name, id);
        id
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn name(&self, id: u32) -> Option<&str> {
        self.list.get(id as usize).map(|n| &**n)
    }

    /// Returns the names by id.
    pub(crate) fn list(&self) -> &[Arc<str>] {
        &self.list
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the known name that is most similar to `wanted`, if one is similar enough.
    pub(crate) fn nearest(&self, wanted: &str) -> Option<&str> {
        self.nearest_of(wanted, |_| true)
    }

    /// Returns the most similar name among the names that `among` accepts. Callers use `among` to exclude names without
    /// a definition.
    pub(crate) fn nearest_of(&self, wanted: &str, among: impl Fn(u32) -> bool) -> Option<&str> {
        let known = self.list.iter().enumerate().filter(|(id, _)| among(*id as u32));
        nearest(wanted, known.map(|(_, name)| &**name))
    }
}

/// Maximum length of names that are compared, because the cost is quadratic.
const MAX_SLIP: usize = 128;

/// Returns the candidate that is most similar to `wanted`, if at most a third of its letters differ. A name without a
/// namespace can match a name with a namespace, because packs use short names for their own definitions.
pub(crate) fn nearest<'a>(wanted: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if wanted.len() > MAX_SLIP {
        return None;
    }
    let (limit, letters) = ((wanted.len() / 3).max(1), wanted.chars().count());
    let far = |c: &str| {
        let short = c.rsplit("::").next().filter(|_| !wanted.contains("::")).unwrap_or(c);
        // If the lengths differ by n, at least n letters differ.
        let near = short.len() <= 2 * MAX_SLIP && short.chars().count().abs_diff(letters) <= limit;
        near.then(|| distance(wanted, short)).filter(|&d| d <= limit)
    };
    candidates.filter_map(|c| Some((far(c)?, c))).min().map(|(_, c)| c)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let best = (diagonal + (ca != *cb) as usize).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_id() {
        let mut names = Interner::default();
        let health = names.intern("Health");
        names.intern("Mana");
        assert_eq!(names.intern("Health"), health);
        assert_eq!(names.name(health), Some("Health"));
        assert_eq!(names.find("Nope"), None);
    }

    #[test]
    fn nearest_finds_typos_and_not_unrelated_names() {
        let mut names = Interner::default();
        names.intern("MaxHealth");
        assert_eq!(names.nearest("MaxHelth"), Some("MaxHealth"));
        assert_eq!(names.nearest("Fuel"), None);
    }
}
