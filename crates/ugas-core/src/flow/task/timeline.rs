//! Players of timelines: the data defines the length of a montage and its events, and a sim without an engine plays it,
//! so that the same fight runs headless.

use super::{PLAYER, Strand};
use crate::flow::Flow;
use crate::rules::{AbilityDef, Num, TaskKind, TimelineDef};
use crate::{AbilityState, EventData, SimTime, TaskResult, TimelineId};
use std::sync::Arc;

impl Flow<'_> {
    /// Starts the player of a timeline. It ends with its activation.
    pub(super) fn play_timeline(&mut self, slot: usize, s: Strand, timeline: TimelineId, rate: &Num) {
        if !self.work.timelines || s.list {
            return;
        }
        let rate = self.value_of(slot, s.of, rate).filter(|r| *r > 0.0).unwrap_or(1.0);
        let Some(def) = self.rules.timeline_def(timeline).cloned() else { return };
        let now = self.local_now(slot);
        let due = now + stretched(step(&def, 0), rate);
        let strand = Strand { parent: 0, ..s };
        self.sleep(slot, strand, |t| {
            t.left = PLAYER;
            t.due = due;
            // The index of the next notify, and the play rate.
            t.value = rate;
            t.age = 0;
        });
    }

    fn timeline_at(&self, def: &AbilityDef, pc: u16) -> Option<Arc<TimelineDef>> {
        match def.program.task(pc)?.kind {
            TaskKind::PlayMontage { timeline: Some(timeline), .. } => self.rules.timeline_def(timeline).cloned(),
            _ => None,
        }
    }

    /// Runs the next notify of a playing timeline, or its end.
    pub(super) fn play_on(&mut self, slot: usize, def: &AbilityDef, seq: u64) {
        let Some(t) = self.row(slot).play().task(seq) else { return };
        let (of, pc, at, rate, since) = (t.of, t.pc, t.age as usize, t.value, t.since);
        let Some(timeline) = self.timeline_at(def, pc) else { return };
        let Some(notify) = timeline.notifies.get(at) else {
            self.take_task(slot, seq);
            return self.montage_ended(slot, of, &timeline.montage);
        };
        let next = since + stretched(step(&timeline, at + 1), rate);
        if let Some(t) = self.row_mut(slot).play_mut().task_mut(seq) {
            t.age = (t.age + 1).min(super::OLDEST);
        }
        self.set_due(slot, seq, next);
        if let Some(tag) = notify.tag {
            let who = self.row(slot).id;
            // The row exists and the tag is one of the rules: it cannot be refused.
            let _ = self.send_event(EventData { instigator: who, ..EventData::new(tag, who) });
        }
        let name = notify.name.clone();
        self.end_waits(slot, of, |kind| matches!(kind, TaskKind::WaitAnimationEvent { name: n, .. } if *n == name));
    }

    fn montage_ended(&mut self, slot: usize, of: u64, montage: &str) {
        self.end_waits(slot, of, |kind| match kind {
            TaskKind::WaitMontageEnded { montage: None } => true,
            TaskKind::WaitMontageEnded { montage: Some(m) } => **m == *montage,
            _ => false,
        });
    }

    /// Completes the selected waiting tasks of an activation, by rising number: a timeline of one ability does not wake
    /// another.
    fn end_waits(&mut self, slot: usize, of: u64, is_selected: impl Fn(&TaskKind) -> bool) {
        let own = self.row(slot).play().tasks.iter().filter(|t| t.of == of);
        let sleeping: Vec<u64> = own.map(|t| t.seq).collect();
        for seq in sleeping {
            let Some(pc) = self.row(slot).play().task(seq).map(|t| t.pc) else { continue };
            let active = self.row(slot).play().activation(of).is_some_and(|a| a.state == AbilityState::Active);
            let Some(def) = self.def_of(slot, of).filter(|_| active) else { continue };
            if def.program.task(pc).is_some_and(|t| is_selected(&t.kind)) {
                self.finish_task(slot, &def, seq, TaskResult::Completed, 0.0);
                self.moved(slot, of);
            }
        }
    }

    /// Returns whether a montage of the data is no longer playing: its end need not be awaited.
    pub(super) fn has_played(&self, slot: usize, of: u64, montage: &str) -> bool {
        if !self.work.timelines || !self.rules.by_montage.contains_key(montage) {
            return false;
        }
        let Some(def) = self.def_of(slot, of) else { return false };
        let mut players = self.row(slot).play().tasks.iter().filter(|t| t.of == of && t.left == PLAYER);
        !players.any(|t| self.timeline_at(&def, t.pc).is_some_and(|l| *l.montage == *montage))
    }
}

/// Returns the time of the n-th notify; the end follows the last.
fn step(timeline: &TimelineDef, n: usize) -> SimTime {
    timeline.notifies.get(n).map_or(timeline.length, |notify| notify.at)
}

fn stretched(time: SimTime, rate: f64) -> SimTime {
    if rate == 1.0 { time } else { SimTime::try_seconds(time.as_seconds() / rate).unwrap_or(SimTime::LONGEST) }
}
