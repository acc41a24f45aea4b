//! The frame work of capabilities: in each frame, after ticking tasks and before held inputs, the capabilities of each
//! controller are asked in order.

use super::life::LifeEvent;
use crate::flow::{Flow, RollSource, RowEvent, server_op};
use crate::rng::fold;
use crate::rules::{CapabilityCall, CapabilityWatch, Question};
use crate::state::{CapabilityRecord, Due, RecordKey, Stage};
use crate::{Cause, ControllerId, OpId, Rate, SimTime, TagId};

/// The order of frame work within one frame: ticking tasks, then the capabilities of each controller, then the held
/// inputs of each controller. Other work of the same time runs before the frame, and ops run after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FrameTurn {
    /// Executions, expiries, timers and ticking tasks.
    Before,
    Capabilities(ControllerId),
    HeldInputs(ControllerId),
    /// Ops.
    #[default]
    After,
}

/// Returns the op id of the capabilities of a controller in a frame. The id is derived from controller and time, so
/// that client and server assign the same id.
fn capability_op(who: ControllerId, at: SimTime) -> OpId {
    server_op((fold(fold(19, who.0 as u64), at.0 as u64) & !(1 << 47)) | 1 << 46)
}

impl Flow<'_> {
    /// Runs the capabilities of all rows with frame work, by controller.
    pub(crate) fn capability_frame(&mut self) {
        let woken = std::mem::take(&mut self.ix.woken);
        let mut last = None;
        loop {
            let from = last.map_or(std::ops::Bound::Unbounded, std::ops::Bound::Excluded);
            let next = self.ix.frames.range((from, std::ops::Bound::Unbounded)).next().copied();
            let Some(who) = next else { break };
            last = Some(who);
            if self.ix.capable.contains(&who) {
                self.turn = FrameTurn::Capabilities(who);
                // A controller that ran earlier in this frame may have woken the row.
                let is_awake = woken.contains(&who) | self.ix.woken.remove(&who);
                self.capability_pass(who, is_awake);
            }
        }
    }

    /// Runs the capabilities of one row in order. A row that was not woken skips the capabilities that sleep. If a
    /// capability wakes the row during the pass, the later ones are asked in this pass, and all in the next frame.
    pub(crate) fn capability_pass(&mut self, who: ControllerId, is_awake: bool) {
        let Some(row) = self.st.controllers.get(who) else { return };
        if !row.clock.active() || row.clock.rate() == Rate(0) {
            return;
        }
        // Capabilities that are added during the pass are asked from the next frame on.
        let end = row.next_seq;
        let mut last = None;
        self.sc.leaving.clear();
        while let Some(record) = self.record_after(who, last).filter(|record| record.handle < end) {
            let key = record.key();
            last = Some(key);
            if !record.is_evaluated() {
                continue;
            }
            if is_awake || !self.sleeps(record) || self.ix.woken.contains(&who) {
                self.sc.visited += 1;
                self.begin_work(who);
                self.evaluate_capability(who, key);
                self.frame_done(who);
            }
        }
        for handle in std::mem::take(&mut self.sc.leaving) {
            self.begin_work(who);
            // Attribute sets that something else needs keep the set; the capability asks again in the next frame.
            let _ = self.revoke_set(who, handle);
            self.frame_done(who);
        }
        if let Some(slot) = self.st.controllers.slot(who) {
            self.refresh_frames(slot);
        }
    }

    /// Makes the frame work of a row's capabilities the cause of the following changes.
    fn begin_work(&mut self, who: ControllerId) {
        let id = capability_op(who, self.st.now);
        self.cause = Cause { root: id, link: 0 };
        self.set_roll(RollSource::due(who, id.0));
        self.depth = 0;
    }

    fn record_after(&self, who: ControllerId, last: Option<RecordKey>) -> Option<&CapabilityRecord> {
        self.st.controllers.get(who)?.play().capabilities().after(last)
    }

    /// Asks one capability: blocked or not, active or not; then ticks it if it is active.
    fn evaluate_capability(&mut self, who: ControllerId, key: RecordKey) {
        let Some(slot) = self.st.controllers.slot(who) else { return };
        let Some(record) = self.record(who, key) else { return };
        if record.stage == Stage::Waiting {
            return self.set_up(who, key);
        }
        let is_active = record.stage == Stage::Active;
        if self.view().blocker_of(slot, record).is_some() {
            if is_active {
                self.live(who, key, LifeEvent::Deactivate);
            }
            return;
        }
        let now = self.local_now(slot);
        let (interval, elapsed) = (record.interval, now - record.last);
        if interval > SimTime::ZERO && elapsed < interval {
            return;
        }
        if self.needs_time(slot, key) {
            self.edit_record(slot, key, |record| record.last = now);
        }
        let is_active =
            match (is_active, self.ask(slot, key, if is_active { Question::Deactivate } else { Question::Activate })) {
                (true, true) => {
                    self.live(who, key, LifeEvent::Deactivate);
                    false
                }
                (false, true) => {
                    self.live(who, key, LifeEvent::Activate);
                    true
                }
                (is_active, false) => is_active,
            };
        if is_active {
            self.call(who, key, CapabilityCall::Tick { elapsed });
        }
    }

    /// Returns whether the last evaluation of a capability matters: for its interval, or for the elapsed time of a tick.
    pub(super) fn needs_time(&self, slot: usize, key: RecordKey) -> bool {
        let Some(record) = self.row(slot).play().capabilities().find(key) else { return false };
        let code = self.rules.capability_code(record.class);
        record.interval > SimTime::ZERO || code.is_some_and(|code| code.watch.is_none())
    }

    /// Returns whether a capability need not be asked until something that it reads changes: asked in every frame, it
    /// would do nothing.
    fn sleeps(&self, record: &CapabilityRecord) -> bool {
        if !record.is_evaluated() || record.interval > SimTime::ZERO {
            return !record.is_evaluated();
        }
        match self.rules.capability_code(record.class) {
            Some(code) => code.watch.is_some(),
            None => {
                let ticks = |def: &std::sync::Arc<crate::rules::CapabilityDef>| !def.on_tick.is_empty();
                record.stage != Stage::Active || !self.rules.capability_def(record.class).is_some_and(ticks)
            }
        }
    }

    /// Returns whether the row needs the next frame for its capabilities.
    pub(crate) fn has_capability_work(&self, slot: usize) -> bool {
        let row = self.row(slot);
        let records = &row.play().capabilities().records;
        !records.is_empty() && (self.ix.woken.contains(&row.id) || records.iter().any(|record| !self.sleeps(record)))
    }

    /// Wakes the capabilities of a row if one of them reads what changed.
    pub(crate) fn wake_for(&mut self, slot: usize, event: &RowEvent) {
        let records = &self.row(slot).play().capabilities().records;
        let is_concerned = match event {
            RowEvent::Tag { tag, .. } => records.iter().any(|record| self.reads_tag(record, *tag)),
            RowEvent::Attribute { attribute, .. } => records
                .iter()
                .any(|record| self.watch_of(record).is_some_and(|watch| watch.attributes.contains(attribute))),
            RowEvent::Resumed => true,
            RowEvent::Died { .. }
            | RowEvent::Effect { .. }
            | RowEvent::Event(_)
            | RowEvent::Input { .. }
            | RowEvent::Granted { .. }
            | RowEvent::Ability { .. }
            | RowEvent::Freed => false,
        };
        if is_concerned {
            self.wake_capabilities(slot);
        }
    }

    /// Returns what the decisions of a capability read, or `None` if it never sleeps.
    fn watch_of(&self, record: &CapabilityRecord) -> Option<&CapabilityWatch> {
        match self.rules.capability_code(record.class) {
            Some(code) => code.watch.as_ref(),
            None => self.rules.capability_def(record.class).map(|def| &def.watch),
        }
    }

    fn reads_tag(&self, record: &CapabilityRecord, tag: TagId) -> bool {
        let entry = self.rules.capability_entry(record.place());
        let blocks = entry.is_some_and(|entry| entry.watch.has_tag(self.rules, tag));
        blocks || self.watch_of(record).is_some_and(|watch| watch.has_tag(self.rules, tag))
    }

    /// Wakes the sleeping capabilities of a row: they are asked in the next frame.
    pub(crate) fn wake_capabilities(&mut self, slot: usize) {
        let who = self.row(slot).id;
        if self.ix.capable.contains(&who) && self.ix.woken.insert(who) {
            self.ix.frames.insert(who);
            self.plan_woken_frame();
        }
    }

    /// Plans the frame in which woken capabilities are asked. Work that is due at the time of a frame runs before that
    /// frame, so what it wakes is asked at the same time, as if it had not slept.
    fn plan_woken_frame(&mut self) {
        let (now, frame) = (self.st.now, self.work.frame.0.max(1));
        let is_due_work = self.turn == FrameTurn::Before && now > self.sc.advanced_from;
        if is_due_work && now.0 % frame == 0 && self.ix.last_frame != now {
            if self.ix.next_frame != now {
                self.ix.next_frame = now;
                self.ix.agenda.push(now, Due::FRAME, ControllerId::NONE);
            }
        } else {
            self.plan_frame();
        }
    }
}
