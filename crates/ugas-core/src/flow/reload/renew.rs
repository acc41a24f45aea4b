//! Settling under the new rules: links each live magnitude to its attribute again, and evaluates the magnitudes whose
//! definition changed. At the end, one fact is emitted for each changed attribute.

use super::super::magnitude::About;
use super::super::settle::Emit;
use super::super::{Flow, Via};
use super::effect::ChangedEffect;
use crate::migration::Migration;
use crate::state::LiveEdge;
use crate::{ControllerId, DiagnosticKind, EffectId, SimTime};

impl Flow<'_> {
    /// Links and counts a row's live modifiers.
    pub(super) fn connect(&mut self, slot: usize) {
        let row = self.row(slot);
        let follows = |m: &&crate::state::Mod| {
            let def = row.effect_at(m.seq()).and_then(|at| self.def(row.effects[at].def));
            def.is_some_and(|d| d.modifiers[m.index() as usize].magnitude.live_on().is_some())
        };
        let live = row.mods.iter().filter(follows).count() as u32;
        self.row_mut(slot).live = live;
        // A modifier that would close a cycle keeps its last value.
        if self.link_row(slot).is_err() {
            let who = self.row(slot).id;
            self.diagnose(who, EffectId::NONE, DiagnosticKind::Cycle);
        }
    }

    /// Updates live modifiers that read an attribute which the source has only under the new rules.
    pub(super) fn catch_up(&mut self, everyone: &[ControllerId]) {
        for &source in everyone {
            let edges: Vec<LiveEdge> = self.ix.edges_out(source).copied().collect();
            for edge in edges {
                let Ok(target) = self.slot(edge.target) else { continue };
                let m = self.row(target).mods.iter().find(|m| m.seq() == edge.seq && m.index() == edge.index);
                let value = self.current_of(source, edge.attribute);
                if let (Some(slot), Some(value)) = (m.map(|m| m.slot as usize), value)
                    && self.follow(target, slot, &edge, value, Via::NOTHING)
                {
                    self.mark(target, slot);
                }
            }
        }
        self.settle(Via::NOTHING, Emit::Nothing);
    }

    /// Settles the rows that no other row reads one by one, and all other rows together.
    pub(super) fn settle_everyone(&mut self, everyone: &[ControllerId]) {
        let mut together = Vec::new();
        for &who in everyone {
            let Ok(slot) = self.slot(who) else { continue };
            if self.row(slot).readers > 0 || self.row(slot).live > 0 {
                together.push(slot);
                continue;
            }
            self.mark_all(slot);
            self.settle(Via::NOTHING, Emit::Nothing);
        }
        for slot in together {
            self.mark_all(slot);
        }
        self.settle(Via::NOTHING, Emit::Nothing);
    }

    fn mark_all(&mut self, slot: usize) {
        for at in 0..self.row(slot).attrs.len() {
            self.mark(slot, at);
        }
    }

    /// Evaluates changed effects again, by controller and in order of application. Returns the effects that cannot be
    /// applied under the new rules and must be removed.
    pub(super) fn renew_all(
        &mut self,
        changed: Vec<ChangedEffect>,
        report: &mut Migration,
    ) -> Vec<(ControllerId, u64)> {
        let mut removed = Vec::new();
        for effect in changed {
            match self.renew(&effect) {
                Some(()) => report.effects_evaluated += 1,
                None => removed.push((effect.who, effect.seq)),
            }
        }
        removed
    }

    fn renew(&mut self, effect: &ChangedEffect) -> Option<()> {
        let slot = self.slot(effect.who).ok()?;
        let at = self.row(slot).effect_at(effect.seq)?;
        let e = &self.row(slot).effects[at];
        let (spec, key, inhibited) = (e.spec(effect.who), e.key(effect.who), e.inhibited());
        let (dropped, periodic) = (e.dropped().to_vec(), e.periodic().is_some());
        let def = self.def(spec.effect)?;
        let about = About {
            spec: &spec,
            target: slot,
            origin_id: key.origin_id,
            ordinal: key.ordinal,
            stacks: spec.stacks,
            execution: 0,
        };
        let room = self.limits.modifiers_per_controller as usize;
        if self.row(slot).mods.len() + def.modifiers.len() > room || self.check_cycles(&def, slot, spec.source).is_err()
        {
            return None;
        }
        self.capture_units(&def, about, &effect.frozen, &dropped).ok()?;
        if effect.gains_end {
            let units = std::mem::take(&mut self.sc.units);
            let duration = self.duration(&def, about);
            self.sc.units = units;
            let duration = duration.ok()?;
            let now = self.row(slot).clock.local(self.st.now);
            self.reschedule(slot, effect.seq, |e| {
                e.end = now + duration;
                if e.length() == SimTime::NEVER {
                    e.cold_mut().length = duration;
                }
            });
        }
        let units = std::mem::take(&mut self.sc.units);
        if spec.stacks != 1 || (def.has_live && periodic) {
            let row = self.row_mut(slot);
            row.effects[at].rest_mut().units = units.as_slice().into();
        }
        self.put_mods(&def, slot, effect.seq, spec.source, spec.stacks, &units);
        if inhibited {
            self.switch_mods(slot, effect.seq, true);
        }
        self.sc.units = units;
        self.settle(Via::NOTHING, Emit::Nothing);
        Some(())
    }
}
