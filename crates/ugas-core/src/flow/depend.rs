//! Dependencies between attributes through live magnitudes. In the dependency graph, each live magnitude is an edge
//! from the attribute that it reads to the attribute that its modifier changes. The graph of all attributes of a sim
//! has no cycle.

use super::Flow;
use super::foreign::ForeignCheck;
use crate::rules::EffectDef;
use crate::state::{Effect, Frozen, LiveEdge};
use crate::{AttributeId, ControllerId, Refusal};
use std::collections::BTreeSet;

/// An attribute of a controller.
type AttributeNode = (ControllerId, u16);

impl Flow<'_> {
    /// Refuses an application whose live modifiers would make an attribute depend on itself.
    pub(crate) fn check_cycles(&mut self, def: &EffectDef, target: usize, source: ControllerId) -> Result<(), Refusal> {
        let who = self.row(target).id;
        // A cycle through other rows leaves the row by an edge to a live modifier of another row.
        let depends = || self.replay.is_some() || self.ix.edges_out(who).any(|e| e.target != who);
        if def.has_live && depends() {
            let check = ForeignCheck::EffectCycle(def.id);
            return self.checked(who, check, |flow| flow.find_cycle(def, target, source));
        }
        self.find_cycle(def, target, source)
    }

    fn find_cycle(&self, def: &EffectDef, target: usize, source: ControllerId) -> Result<(), Refusal> {
        let who = self.row(target).id;
        let mut new: Vec<(AttributeNode, AttributeNode)> = Vec::new();
        for m in def.modifiers.iter().filter(|m| def.acts_on_current(m)) {
            let Some((attribute, of_target)) = m.magnitude.live_on() else {
                continue;
            };
            let from = if of_target { who } else { source };
            let Some(source_row) = self.st.controllers.get(from) else {
                continue;
            };
            let read = self.ix.layouts[source_row.layout as usize].slot(attribute);
            if let (Some(read), Some(slot)) = (read, self.layout(target).slot(m.attribute)) {
                new.push(((from, read as u16), (who, slot as u16)));
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        for &(from, to) in &new {
            if self.leads_to(to, from, &new) {
                let attribute = self.layout(target).slots[to.1 as usize].attribute;
                return Err(Refusal::Cycle { who, attribute });
            }
        }
        Ok(())
    }

    /// Returns whether a change of `from` can reach `goal` along the existing edges and the edges in `more`.
    fn leads_to(&self, from: AttributeNode, goal: AttributeNode, more: &[(AttributeNode, AttributeNode)]) -> bool {
        let mut seen = BTreeSet::from([from]);
        let mut stack = vec![from];
        while let Some(node) = stack.pop() {
            if node == goal {
                return true;
            }
            let mut visit = |next| {
                if seen.insert(next) {
                    stack.push(next);
                }
            };
            self.successors(node, &mut visit);
            more.iter().filter(|(f, _)| *f == node).for_each(|(_, t)| visit(*t));
        }
        false
    }

    /// Returns whether a new edge would close a cycle. A cycle is possible only if the source left the sim and returned
    /// after other edges were added.
    fn closes_cycle(&self, target: usize, seq: u64, index: u16, source: ControllerId, attribute: AttributeId) -> bool {
        let Some(source_row) = self.st.controllers.get(source) else {
            return false;
        };
        let Some(read) = self.ix.layouts[source_row.layout as usize].slot(attribute) else {
            return false;
        };
        let m = self.row(target).mods.iter().find(|m| m.seq() == seq && m.index() == index);
        m.is_some_and(|m| self.leads_to((self.row(target).id, m.slot), (source, read as u16), &[]))
    }

    /// Links a live modifier of a new effect to its source.
    pub(crate) fn link_live(
        &mut self,
        target: usize,
        seq: u64,
        index: u16,
        source: ControllerId,
        attribute: AttributeId,
    ) {
        let Some(source_slot) = self.st.controllers.slot(source) else {
            return;
        };
        let layout = &self.ix.layouts[self.row(source_slot).layout as usize];
        let Some(slot) = layout.slot(attribute) else { return };
        let attribute = layout.slots[slot].attribute;
        let edge = LiveEdge { source, attribute, target: self.row(target).id, seq, index };
        if self.ix.live.insert(edge) {
            self.st.controllers.row_mut(source_slot).readers += 1;
        }
    }

    /// Unlinks all live modifiers of an effect.
    pub(crate) fn unlink_live(&mut self, target: usize, def: &EffectDef, seq: u64, source: ControllerId) {
        let who = self.row(target).id;
        for (index, m) in def.modifiers.iter().enumerate() {
            let Some((attribute, of_target)) = m.magnitude.live_on() else {
                continue;
            };
            let from = if of_target { who } else { source };
            self.unlink_edge(from, attribute, who, seq, index as u16);
        }
    }

    pub(crate) fn unlink_edge(
        &mut self,
        from: ControllerId,
        attribute: AttributeId,
        who: ControllerId,
        seq: u64,
        index: u16,
    ) {
        let Some(source_slot) = self.st.controllers.slot(from) else {
            return;
        };
        let layout = &self.ix.layouts[self.row(source_slot).layout as usize];
        let attribute = layout.slot(attribute).map_or(attribute, |s| layout.slots[s].attribute);
        if self.ix.live.remove(&LiveEdge { source: from, attribute, target: who, seq, index }) {
            self.st.controllers.row_mut(source_slot).readers -= 1;
        }
    }

    /// Updates an effect's live modifiers to the current values of their sources.
    pub(crate) fn follow_all(&mut self, def: &EffectDef, target: usize, seq: u64, source: ControllerId) {
        let who = self.row(target).id;
        for (index, m) in def.modifiers.iter().enumerate() {
            let Some((attribute, of_target)) = m.magnitude.live_on() else {
                continue;
            };
            let edge = LiveEdge {
                source: if of_target { who } else { source },
                attribute,
                target: who,
                seq,
                index: index as u16,
            };
            let slot = self.row(target).mods.iter().find(|x| x.seq() == seq && x.index() == edge.index).map(|x| x.slot);
            if let (Some(slot), Some(value)) = (slot, self.current_of(edge.source, attribute))
                && self.follow(target, slot as usize, &edge, value, super::Via::NOTHING)
            {
                self.mark(target, slot as usize);
            }
        }
    }

    /// Links every live modifier and filter of a row, e.g. after a restore. A modifier that would close a cycle is not
    /// linked, and its attribute is returned as the error.
    pub(crate) fn link_row(&mut self, target: usize) -> Result<(), AttributeId> {
        let mut linked = Ok(());
        let effects: Vec<_> = self.row(target).effects.iter().map(|e| (e.seq(), e.def, e.source)).collect();
        let who = self.row(target).id;
        for (seq, def, source) in effects {
            let Some(def) = self.def(def) else { continue };
            for (index, m) in def.modifiers.iter().enumerate() {
                let there = self.row(target).mods.iter().any(|x| x.seq() == seq && x.index() == index as u16);
                if let (Some((attribute, of_target)), true) = (m.magnitude.live_on(), there) {
                    let from = if of_target { who } else { source };
                    if self.closes_cycle(target, seq, index as u16, from, attribute) {
                        linked = Err(m.attribute);
                    } else {
                        self.link_live(target, seq, index as u16, from, attribute);
                    }
                }
            }
            self.link_filter(target, &def, seq, source);
            if def.reads_source {
                self.link_source_reader(target, seq, source);
            }
        }
        linked
    }

    /// Updates the live modifiers on a restored row to the current values of their sources, and the live modifiers on
    /// other rows that read the restored row.
    pub(crate) fn catch_up_live(&mut self, target: usize) {
        let row = self.row(target);
        let own: Vec<_> = row.effects.iter().map(|e| (e.seq(), e.def, e.source)).collect();
        for (seq, def, source) in own {
            if let Some(def) = self.def(def).filter(|d| d.has_live) {
                self.follow_all(&def, target, seq, source);
            }
        }
        self.mark_followers(target);
        self.settle(super::Via::NOTHING, super::settle::Emit::Facts);
        self.react();
    }

    /// Marks the live modifiers on other rows that read a row whose values may have changed.
    pub(crate) fn mark_followers(&mut self, target: usize) {
        let who = self.row(target).id;
        let edges: Vec<LiveEdge> = self.ix.edges_out(who).filter(|e| e.target != who).copied().collect();
        for edge in edges {
            let Some(reader) = self.st.controllers.slot(edge.target) else { continue };
            let slot =
                self.row(reader).mods.iter().find(|m| m.seq() == edge.seq && m.index() == edge.index).map(|m| m.slot);
            if let (Some(slot), Some(value)) = (slot, self.current_of(who, edge.attribute))
                && self.follow(reader, slot as usize, &edge, value, super::Via::NOTHING)
            {
                self.mark(reader, slot as usize);
            }
        }
    }

    /// Links the live modifiers of other rows to a controller that is in the sim again.
    pub(crate) fn relink_returned(&mut self, who: ControllerId) {
        self.thaw_readers(who);
        self.relink_readers(who);
        self.settle(super::Via::NOTHING, super::settle::Emit::Facts);
        self.react();
    }

    /// Links the live modifiers that read a source, after the source returned to the sim or got a new attribute.
    pub(crate) fn relink_readers(&mut self, source: ControllerId) {
        let rows: Vec<ControllerId> = self
            .st
            .controllers
            .iter()
            .filter(|r| {
                (r.live > 0 || r.watching > 0) && r.effects.iter().any(|e| e.source == source || r.id == source)
            })
            .map(|r| r.id)
            .collect();
        for who in rows {
            let Some(target) = self.st.controllers.slot(who) else {
                continue;
            };
            let known: Vec<LiveEdge> = self.ix.edges_out(source).filter(|e| e.target == who).copied().collect();
            // A modifier that would close a cycle keeps its last value.
            let _ = self.link_row(target);
            let now: Vec<LiveEdge> = self.ix.edges_out(source).filter(|e| e.target == who).copied().collect();
            for edge in now.iter().filter(|e| !known.contains(e)) {
                let m = self.row(target).mods.iter().find(|m| m.seq() == edge.seq && m.index() == edge.index);
                let value = self.current_of(source, edge.attribute);
                if let (Some(slot), Some(value)) = (m.map(|m| m.slot as usize), value)
                    && self.follow(target, slot, edge, value, super::Via::NOTHING)
                {
                    self.mark(target, slot);
                }
            }
        }
    }

    /// Removes every edge into a row.
    pub(crate) fn unlink_row(&mut self, target: usize) {
        let effects: Vec<_> = self.row(target).effects.iter().map(|e| (e.seq(), e.def, e.source)).collect();
        for (seq, def, source) in effects {
            if let Some(def) = self.def(def) {
                self.unlink_live(target, &def, seq, source);
                self.unlink_filter(target, seq, source);
                self.unlink_source_reader(target, seq, source);
            }
        }
    }

    /// Freezes a source that leaves the sim. Live modifiers on other rows keep their values. Effects on other rows that
    /// read the source later store its values now. Effects on the source itself continue until the source is removed.
    pub(crate) fn freeze_readers(&mut self, source: usize) {
        let who = self.row(source).id;
        let edges: Vec<LiveEdge> = self.ix.edges_out(who).filter(|e| e.target != who).copied().collect();
        for e in &edges {
            self.ix.live.remove(e);
        }
        self.st.controllers.row_mut(source).readers -= edges.len() as u32;
        let all = (who, ControllerId(0), 0)..=(who, ControllerId::NONE, u64::MAX);
        let tested: Vec<_> = self.ix.filters.range(all.clone()).copied().collect();
        for f in tested {
            self.ix.filters.remove(&f);
        }
        let looking: Vec<_> = self.ix.source_readers.range(all).copied().collect();
        // A replay of another row must not read the source any more either.
        let knowing = self.journals.iter().filter(|(_, journal)| journal.knows(who)).map(|(target, _)| *target);
        let knowing: Vec<ControllerId> = knowing.filter(|target| !looking.iter().any(|l| l.1 == *target)).collect();
        if looking.is_empty() && knowing.is_empty() {
            return;
        }
        let frozen = self.view().frozen_row(source, self.view().ruling_effects(source));
        knowing.into_iter().for_each(|target| self.journal_gone(target, who, Some(&frozen)));
        for (n, &(_, target, seq)) in looking.iter().enumerate() {
            self.ix.source_readers.remove(&looking[n]);
            if !looking[..n].iter().any(|l| l.1 == target) {
                self.journal_gone(target, who, Some(&frozen));
            }
            let Some(slot) = self.st.controllers.slot(target) else { continue };
            let row = self.row_mut(slot);
            if let Some(at) = row.effect_at(seq) {
                row.effects[at].freeze(&frozen);
            }
        }
    }

    /// Replays a journal entry about a source of the row's effects: the source left the sim with these last values, or
    /// returned.
    pub(crate) fn replay_source_change(&mut self, target: usize, source: ControllerId, frozen: Option<&Frozen>) {
        for at in 0..self.row(target).effects.len() {
            let e = &self.row(target).effects[at];
            let (seq, is_frozen) = (e.seq(), e.frozen().is_some());
            if e.source != source || !self.def(e.def).is_some_and(|d| d.reads_source) {
                continue;
            }
            match frozen {
                Some(frozen) if !is_frozen => self.row_mut(target).effects[at].freeze(frozen),
                Some(_) => {}
                None => {
                    self.row_mut(target).effects[at].thaw();
                    self.link_source_reader(target, seq, source);
                }
            }
        }
    }

    /// Handles a source that returned to the sim: effects on other rows read the source again instead of its stored
    /// values.
    pub(crate) fn thaw_readers(&mut self, source: ControllerId) {
        let keeps = |e: &Effect| e.source == source && e.frozen().is_some();
        let rows: Vec<ControllerId> =
            self.st.controllers.iter().filter(|r| r.effects.iter().any(keeps)).map(|r| r.id).collect();
        for who in rows {
            let Some(target) = self.st.controllers.slot(who) else { continue };
            self.journal_gone(who, source, None);
            self.replay_source_change(target, source, None);
        }
    }

    /// Records that an effect reads its source after application.
    pub(crate) fn link_source_reader(&mut self, target: usize, seq: u64, source: ControllerId) {
        let who = self.row(target).id;
        if source == who || self.st.controllers.slot(source).is_none() {
            return;
        }
        self.ix.source_readers.insert((source, who, seq));
        // The effect may come from an image with stored values of a source that has returned since.
        if self.replay.is_none()
            && let Some(at) = self.row(target).effect_at(seq)
            && self.row(target).effects[at].frozen().is_some()
        {
            self.row_mut(target).effects[at].thaw();
        }
    }

    pub(crate) fn unlink_source_reader(&mut self, target: usize, seq: u64, source: ControllerId) {
        if !self.ix.source_readers.is_empty() {
            let who = self.row(target).id;
            self.ix.source_readers.remove(&(source, who, seq));
        }
    }

    /// Records that an effect's modifier filters test its source's tags.
    pub(crate) fn link_filter(&mut self, target: usize, def: &EffectDef, seq: u64, source: ControllerId) {
        let tests_source = def.modifiers.iter().any(|m| !m.source_tags.is_empty());
        let who = self.row(target).id;
        if tests_source && source != who && self.st.controllers.get(source).is_some() {
            self.ix.filters.insert((source, who, seq));
        }
    }

    pub(crate) fn unlink_filter(&mut self, target: usize, seq: u64, source: ControllerId) {
        if !self.ix.filters.is_empty() {
            let who = self.row(target).id;
            self.ix.filters.remove(&(source, who, seq));
        }
    }
}
