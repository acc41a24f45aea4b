//! Requests that seek in the recording or change it: seek, resume, apply an input, undo.

use super::{Backend, record};
use crate::Library;
use crate::recording::World;
use crate::session::Input;
use serde_json::{Value, json};
use std::sync::Arc;

impl Backend {
    /// Seeks to a tick of the recording. If the documents at that tick differ, pages are notified.
    pub(super) fn seek(&mut self, tick: u32) {
        let documents = self.recording.world().documents();
        self.recording.seek(tick);
        self.count_reload(&documents);
    }

    fn count_reload(&mut self, before: &Arc<Library>) {
        self.reloads += u32::from(!Arc::ptr_eq(before, &self.recording.world().documents()));
    }

    /// Resumes from the current tick. The recording after that tick is dropped; an undo restores it.
    pub(super) fn resume(&mut self) -> Result<Value, String> {
        match self.recording.is_live() {
            true => Ok(json!({ "tick": self.recording.world().tick() })),
            false => self.put_and_report(Input::Resume),
        }
    }

    /// Applies an input and adds it to the recording. A refused input changes neither the world nor the recording.
    pub(super) fn put(&mut self, input: Input) -> Result<(), String> {
        let (before, was_live) = (self.recording.world().pending_facts().len(), self.recording.is_live());
        self.recording.put(input)?;
        self.timelines += u32::from(!was_live);
        let session = self.recording.world();
        self.event_log.drop_after(session.tick());
        self.event_log.record_facts(session.tick(), session.pending_facts().get(before..).unwrap_or_default());
        Ok(())
    }

    /// Applies an input like [`Backend::put`]. The answer contains the outcome of the input and the last tick of the
    /// timeline that the input replaced.
    pub(super) fn put_and_report(&mut self, input: Input) -> Result<Value, String> {
        let old = (!self.recording.is_live()).then(|| self.recording.end());
        self.put(input)?;
        let session = self.recording.world();
        let (message, no_effect) = session.outcome().map_or((None, false), |s| (Some(&s.text), s.no_effect));
        let done = self.recording.inputs().len();
        Ok(json!({ "tick": session.tick(), "message": message, "no_effect": no_effect, "old_end": old, "done": done }))
    }

    /// Undoes the last input. If `with` is given, undoes every input from the input with this number (counted from 1)
    /// to the last. The facts since the first undone input are recorded again. Returns descriptions of the undone
    /// inputs, the newest first.
    pub(super) fn undo(&mut self, with: Option<usize>) -> Result<Vec<String>, String> {
        let last = with.unwrap_or(self.recording.inputs().len()).max(1);
        if self.recording.inputs().len() < last {
            return Err("nothing to undo".to_owned());
        }
        let documents = self.recording.world().documents();
        let mut undone = Vec::new();
        loop {
            let many = self.recording.inputs().len();
            let Some((at, input)) = self.recording.inputs().last() else { break };
            let at = *at;
            undone.push(input.describe());
            self.event_log.drop_from(at);
            let event_log = &mut self.event_log;
            // The task records of that tick are already emitted.
            self.recording.undo(&mut |session| match session.tick() == at {
                true => event_log.record(session),
                false => record(event_log, session),
            });
            // If the input replaced a timeline, undoing the input restores the later inputs of that timeline.
            if many <= last {
                break;
            }
        }
        self.timelines += 1;
        self.count_reload(&documents);
        self.compare_with_disk();
        Ok(undone)
    }
}
