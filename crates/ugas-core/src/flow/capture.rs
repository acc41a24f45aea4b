//! One row captured, restored and replayed, and the journal that lets a replay do without the rest of the world.

use super::Flow;
use crate::state::{LiveEdge, Row};
use crate::{AttributeId, BadValue, Cause, ControllerId, FactKind, Op, OpId, Refusal, SimTime};
use std::collections::VecDeque;

/// What a journal holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JournalWhat {
    /// An op on the row.
    Op(OpId, Op),
    /// A foreign attribute as it was read or followed.
    Value { source: ControllerId, attribute: AttributeId, value: f64 },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JournalEntry {
    pub(crate) at: SimTime,
    pub(crate) serial: u64,
    pub(crate) what: JournalWhat,
}

/// A bounded record of what reached one row from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Journal {
    pub(crate) entries: VecDeque<JournalEntry>,
    pub(crate) next: u64,
}

impl Journal {
    fn push(&mut self, limit: u32, at: SimTime, what: JournalWhat) {
        if self.entries.len() >= limit as usize {
            self.entries.pop_front();
        }
        self.entries.push_back(JournalEntry { at, serial: self.next, what });
        self.next += 1;
    }

    /// What a foreign attribute was at or before a time.
    pub(crate) fn value(&self, who: ControllerId, attribute: AttributeId, at: SimTime) -> Option<f64> {
        self.entries.iter().rev().filter(|e| e.at <= at).find_map(|e| match e.what {
            JournalWhat::Value { source, attribute: a, value } if source == who && a == attribute => Some(value),
            _ => None,
        })
    }
}

/// A row at one instant.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    pub(crate) row: Row,
    pub(crate) at: SimTime,
    pub(crate) rules: u64,
    pub(crate) serial: u64,
}

impl Flow<'_> {
    pub(crate) fn journal_op(&mut self, id: OpId, op: &Op) {
        if self.replay.is_some() {
            return;
        }
        let (limit, at) = (self.limits.journal, self.st.now);
        let birth_order = |spec: &crate::Spec| Op::Apply(spec.clone());
        match op {
            Op::ApplyToMany { spec, targets } => {
                for &target in targets {
                    if let Some(j) = self.journals.get_mut(&target) {
                        let spec = crate::Spec { target, ..spec.clone() };
                        j.push(limit, at, JournalWhat::Op(id, birth_order(&spec)));
                    }
                }
            }
            Op::ApplyAll { specs } => {
                for spec in specs {
                    if let Some(j) = self.journals.get_mut(&spec.target) {
                        j.push(limit, at, JournalWhat::Op(id, birth_order(spec)));
                    }
                }
            }
            _ => {
                if let Some(j) = self.journals.get_mut(&op.target()) {
                    j.push(limit, at, JournalWhat::Op(id, op.clone()));
                }
            }
        }
    }

    #[inline]
    pub(crate) fn journal_value(&mut self, target: ControllerId, source: ControllerId, attribute: AttributeId, value: f64) {
        if self.journals.is_empty() || self.replay.is_some() || target == source {
            return;
        }
        let (limit, at) = (self.limits.journal, self.st.now);
        if let Some(j) = self.journals.get_mut(&target) {
            j.push(limit, at, JournalWhat::Value { source, attribute, value });
        }
    }

    /// Puts another row into a slot and brings everything derived up to date.
    pub(crate) fn replace_row(&mut self, target: usize, mut row: Row) {
        self.unlink_row(target);
        let old = self.row_mut(target);
        row.readers = old.readers;
        row.hash = old.hash;
        row.last_birth = old.last_birth;
        row.rebuild();
        *old = row;
        self.link_row(target);
        self.publish(target);
    }

    /// Restores a row; its clock goes on from now, so remaining times are what they were.
    pub(crate) fn restore(&mut self, who: ControllerId, from: &Captured) -> Result<(), Refusal> {
        let target = self.check_image(who, from)?;
        let mut row = from.row.clone();
        row.clock.shift(self.st.now.0 - from.at.0);
        self.replace_row(target, row);
        self.fact(who, super::Via::NOTHING, FactKind::Restored);
        Ok(())
    }

    fn check_image(&self, who: ControllerId, from: &Captured) -> Result<usize, Refusal> {
        if from.rules != self.rules.fingerprint || from.row.id != who {
            return Err(Refusal::Mismatch);
        }
        self.slot(who)
    }

    /// Puts a row back to an image and runs it forward alone, from its journal.
    pub(crate) fn replay_row(&mut self, from: &Captured, journal: &Journal, to: SimTime) -> Result<(), Refusal> {
        let who = from.row.id;
        let target = self.check_image(who, from)?;
        let now = self.st.now;
        if to < from.at || to > now {
            return Err(Refusal::BadValue { what: BadValue::Time });
        }
        self.replace_row(target, from.row.clone());
        self.st.now = from.at;
        let entries: Vec<&JournalEntry> =
            journal.entries.iter().filter(|e| e.serial >= from.serial && e.at <= to).collect();
        for entry in entries {
            // Due work of the same moment comes first; a foreign change by a lower id came before it.
            let first = match entry.what {
                JournalWhat::Value { source, .. } => source < who,
                JournalWhat::Op(..) => false,
            };
            self.run_row(who, if first { SimTime(entry.at.0 - 1) } else { entry.at });
            self.st.now = self.st.now.max(entry.at);
            match &entry.what {
                JournalWhat::Op(id, op) => {
                    // A refusal then is a refusal now; what differs is what the replay is for.
                    let _ = self.run(*id, op);
                }
                JournalWhat::Value { source, attribute, .. } => self.follow_journal(who, *source, *attribute),
            }
            if self.st.controllers.slot(who).is_none() {
                break;
            }
        }
        self.run_row(who, to);
        self.st.now = now;
        if let Some(target) = self.st.controllers.slot(who) {
            self.publish(target);
        }
        Ok(())
    }

    /// Runs one row's due work up to a time.
    fn run_row(&mut self, who: ControllerId, until: SimTime) {
        let mut budget = self.limits.due_per_advance;
        while let Some(target) = self.st.controllers.slot(who) {
            let row = self.row(target);
            let Some(due) = row.due.last() else { return };
            let at = row.clock.due(due.at);
            if at > until || budget == 0 {
                return;
            }
            budget -= 1;
            self.st.now = self.st.now.max(at);
            self.run_due(target);
        }
    }

    /// A followed foreign attribute moved at this point of the journal.
    fn follow_journal(&mut self, who: ControllerId, source: ControllerId, attribute: AttributeId) {
        let edges: Vec<LiveEdge> =
            self.ix.edges_from(source, attribute).filter(|e| e.target == who).copied().collect();
        for edge in edges {
            let Some(target) = self.st.controllers.slot(who) else { return };
            let row = self.row(target);
            let Some(m) = row.mods.iter().find(|m| m.seq == edge.seq && m.index == edge.index) else { continue };
            let slot = m.slot as usize;
            self.cause = Cause::default();
            if self.follow(target, slot, &edge) {
                self.mark(target, slot);
            }
        }
        self.settle(super::Via::NOTHING, super::settle::Emit::Facts);
        self.react();
    }
}
