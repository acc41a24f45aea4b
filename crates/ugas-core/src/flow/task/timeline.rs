//! Plays timelines. A timeline document defines the length of a montage and its notifies, so that a sim without an
//! engine can play the montage.

use super::{PLAYER, TaskAt, TaskThread};
use crate::flow::{Flow, View};
use crate::rules::{AbilityDef, Num, TimelineDef};
use crate::task::TaskKind;
use crate::{AbilityState, EventData, SimTime, TaskResult, TimelineId};
use std::sync::Arc;

impl Flow<'_> {
    /// Starts the player of a timeline. The player ends with its activation.
    pub(crate) fn play_timeline(&mut self, at: TaskAt<'_>, timeline: TimelineId, rate: &Num) {
        let TaskAt { slot, thread, .. } = at;
        if !self.work.timelines || thread.list {
            return;
        }
        let rate = self.value_of(slot, thread.of, rate).filter(|r| *r > 0.0).unwrap_or(1.0);
        let Some(def) = self.rules.timeline_def(timeline).cloned() else { return };
        let now = self.local_now(slot);
        let due = now + stretched(step(&def, 0), rate);
        self.sleep(slot, TaskThread { parent: 0, ..thread }, |t| {
            t.left = PLAYER;
            t.due = due;
            // `value` is the play rate, `age` the index of the next notify.
            t.value = rate;
            t.age = 0;
        });
    }

    fn timeline_at(&self, def: &AbilityDef, pc: u16) -> Option<Arc<TimelineDef>> {
        self.rules.timeline_def(def.program.task(pc)?.kind.timeline()?).cloned()
    }

    /// Runs the next notify of a playing timeline, or the end of the timeline.
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
            // Cannot be refused: the row exists, and the tag is one of the rules.
            let _ = self.send_event(EventData { instigator: Some(who), ..EventData::new(tag, who) });
        }
        let name = notify.name.clone();
        self.end_waits(slot, of, |kind| kind.completes_on_notify(&name));
    }

    fn montage_ended(&mut self, slot: usize, of: u64, montage: &str) {
        self.end_waits(slot, of, |kind| kind.completes_on_montage_end(montage));
    }

    /// Completes the selected waiting tasks of one activation, in the order the tasks started. A timeline wakes only
    /// tasks of its own activation.
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

    /// Returns whether the rules have a timeline of a montage and the montage is not playing. A task that waits for the
    /// end of the montage then completes.
    pub(crate) fn has_played(&self, slot: usize, of: u64, montage: &str) -> bool {
        if !self.work.timelines || !self.rules.by_montage.contains_key(montage) {
            return false;
        }
        !self.view().playing_timelines(slot, of).any(|(timeline, _)| *timeline.montage == *montage)
    }
}

impl<'a> View<'a> {
    /// Returns the timelines that an activation plays, each with the index of its next notify.
    pub(crate) fn playing_timelines(
        &self,
        slot: usize,
        of: u64,
    ) -> impl Iterator<Item = (&'a TimelineDef, usize)> + use<'a> {
        let (view, row) = (*self, self.row(slot));
        let def = row.play().activation(of).and_then(|a| view.ability(a.ability));
        let players = row.play().tasks.iter().filter(move |t| t.of == of && t.left == PLAYER);
        players.filter_map(move |t| {
            let timeline = def.as_ref()?.program.task(t.pc)?.kind.timeline()?;
            Some((&**view.rules.timeline_def(timeline)?, t.age as usize))
        })
    }
}

/// Returns the time of the n-th notify, or the end of the timeline after the last notify.
fn step(timeline: &TimelineDef, n: usize) -> SimTime {
    timeline.notifies.get(n).map_or(timeline.length, |notify| notify.at)
}

fn stretched(time: SimTime, rate: f64) -> SimTime {
    if rate == 1.0 { time } else { SimTime::try_seconds(time.as_seconds() / rate).unwrap_or(SimTime::LONGEST) }
}
