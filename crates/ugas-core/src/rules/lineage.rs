//! Comparison of new rules with older rules, for a hot reload: whether every id has the same meaning, which documents
//! differ, and which parts of a definition are unchanged.

use super::{AbilityDef, EffectDef, Inst, Interner, ModDef, Rules};
use crate::migration::{DocumentChange, DocumentWhat};
use crate::rng::fold;
use crate::{CalcId, NameKind, TimelineId};
use std::fmt::Write;
use std::sync::Arc;
use ugas_doc::{Doc, Kind};

/// A name whose id changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangedId {
    /// The kind of the name.
    pub(crate) kind: &'static str,
    pub(crate) name: Arc<str>,
}

/// A hash that implements `Write`, so that no string is allocated.
struct HashWriter {
    hash: u64,
    word: [u8; 8],
    len: usize,
}

impl HashWriter {
    fn of(doc: &Doc) -> u64 {
        let mut print = HashWriter { hash: 1, word: [0; 8], len: 0 };
        // Writing into a hash cannot fail.
        let _ = write!(print, "{doc:?}");
        fold(print.hash, u64::from_le_bytes(print.word) ^ (print.len as u64) << 56)
    }
}

impl Write for HashWriter {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for &byte in text.as_bytes() {
            self.word[self.len] = byte;
            self.len += 1;
            if self.len == self.word.len() {
                self.hash = fold(self.hash, u64::from_le_bytes(self.word));
                (self.word, self.len) = ([0; 8], 0);
            }
        }
        Ok(())
    }
}

/// Folds a text into a hash.
fn fold_name(hash: u64, name: &str) -> u64 {
    name.as_bytes().chunks(8).fold(fold(hash, name.len() as u64), |h, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        fold(h, u64::from_le_bytes(word))
    })
}

impl Rules {
    /// Records a document for the hash of the rules and for [`Rules::changes_since`].
    pub(super) fn note(&mut self, doc: &Doc) {
        let print = HashWriter::of(doc);
        // Players with different keys can play together.
        let is_local = matches!(doc.kind(), Kind::InputMapping | Kind::InputModifier | Kind::InputProfile);
        if !is_local {
            self.fingerprint = fold(self.fingerprint, print);
        }
        // Registries and input mappings may have several parts under one name.
        let known = self.prints.entry((doc.kind(), doc.name().into())).or_insert(0);
        *known = fold(*known, print);
    }

    /// Adds the ids to the hash. State contains ids, so it can be read only under rules in which the ids have the same
    /// meaning.
    pub(super) fn seal(&mut self) {
        let tables = self.tables();
        let hash = tables.iter().fold(self.fingerprint, |h, (_, names)| {
            names.list().iter().fold(fold(h, names.len() as u64), |h, name| fold_name(h, name))
        });
        self.fingerprint = hash;
    }

    /// Returns all tables of names whose ids are used outside the rules.
    pub(super) fn tables(&self) -> [(&'static str, &Interner); NameKind::NAMED.len()] {
        NameKind::NAMED.map(|kind| (kind.noun(), self.names(kind)))
    }

    /// Checks that every id of older rules has the same meaning here.
    pub(crate) fn continues(&self, old: &Rules) -> Result<(), ChangedId> {
        for ((kind, new), (_, old)) in self.tables().into_iter().zip(old.tables()) {
            let stays = |(at, name): (usize, &Arc<str>)| {
                // Rules that were built with `RulesBuilder::after` share the names of the older rules.
                new.list().get(at).is_some_and(|n| Arc::ptr_eq(n, name) || n == name)
            };
            if let Some((_, name)) = old.list().iter().enumerate().find(|&entry| !stays(entry)) {
                return Err(ChangedId { kind, name: name.clone() });
            }
        }
        Ok(())
    }

    /// Returns the documents that were added, removed or changed, by kind and name.
    pub(crate) fn changes_since(&self, old: &Rules) -> Vec<DocumentChange> {
        let change = |(kind, name): &(Kind, Arc<str>), what| DocumentChange { kind: *kind, name: name.clone(), what };
        let mut list: Vec<DocumentChange> = Vec::new();
        for (key, print) in &self.prints {
            match old.prints.get(key) {
                None => list.push(change(key, DocumentWhat::Added)),
                Some(was) if was != print => list.push(change(key, DocumentWhat::Changed)),
                Some(_) => {}
            }
        }
        let removed = old.prints.keys().filter(|key| !self.prints.contains_key(*key));
        list.extend(removed.map(|key| change(key, DocumentWhat::Removed)));
        list.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        list
    }

    /// Returns whether a calculation is unchanged. Code counts as unchanged if its name and its reads are unchanged,
    /// because rebuilt rules register the code again.
    pub(crate) fn same_calc(&self, old: &Rules, id: CalcId) -> bool {
        let of = |rules: &'_ Rules| rules.calcs.get(id.0).cloned();
        match (of(self), of(old)) {
            (Some(new), Some(old)) => new.formulas == old.formulas && new.reads == old.reads,
            (None, None) => true,
            _ => false,
        }
    }

    /// Returns whether an active effect's modifiers are unchanged.
    pub(crate) fn same_modifiers(&self, old: &Rules, mine: &EffectDef, theirs: &EffectDef) -> bool {
        let same_magnitude = |(a, b): (&ModDef, &ModDef)| a.magnitude.is_same(self, &b.magnitude, old);
        mine.policy == theirs.policy
            && mine.period.is_some() == theirs.period.is_some()
            && mine.modifiers == theirs.modifiers
            && mine.modifiers.iter().zip(&theirs.modifiers).all(same_magnitude)
    }

    /// Returns whether running activations of an ability can continue: its steps and the timelines it plays are
    /// unchanged.
    pub(crate) fn same_steps(&self, old: &Rules, mine: &AbilityDef, theirs: &AbilityDef) -> bool {
        let coded = |rules: &Rules| rules.ability_code.contains_key(&mine.id);
        let same_line = |inst: &Inst| {
            let Inst::Task(task) = inst else { return true };
            task.kind.timeline().is_none_or(|id| self.same_timeline(old, id))
        };
        mine.program == theirs.program
            && mine.program.code.iter().all(same_line)
            && coded(self) == coded(old)
            && mine.owned == theirs.owned
            && mine.cast.map(|c| (c.ticks, c.awaits_data)) == theirs.cast.map(|c| (c.ticks, c.awaits_data))
            && mine.validation.is_some() == theirs.validation.is_some()
    }

    fn same_timeline(&self, old: &Rules, id: TimelineId) -> bool {
        let doc = |rules: &Rules| rules.timeline_def(id).map(|t| t.doc.clone());
        doc(self) == doc(old)
    }
}
