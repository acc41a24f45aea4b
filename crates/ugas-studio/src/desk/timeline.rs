//! Moving along the recording and changing it: seek, resume, put an input, undo.

use super::{Desk, note};
use crate::Library;
use crate::stage::Input;
use crate::tape::World;
use serde_json::{Value, json};
use std::sync::Arc;

impl Desk {
    /// Goes to a tick of the recording. If its documents differ, pages are notified.
    pub(super) fn seek(&mut self, tick: u32) {
        let documents = self.tape.world().documents();
        self.tape.seek(tick);
        self.heed(&documents);
    }

    fn heed(&mut self, before: &Arc<Library>) {
        self.reloads += u32::from(!Arc::ptr_eq(before, &self.tape.world().documents()));
    }

    /// Resumes from the tick that is shown. What was recorded after it is dropped; undo restores it.
    pub(super) fn resume(&mut self) -> Result<Value, String> {
        match self.tape.is_live() {
            true => Ok(json!({ "tick": self.tape.world().tick() })),
            false => self.do_now(Input::Resume),
        }
    }

    /// Puts an input into the recording. A refused one changes neither the world nor the recording.
    pub(super) fn put(&mut self, input: Input) -> Result<(), String> {
        let (before, was_live) = (self.tape.world().deeds().len(), self.tape.is_live());
        self.tape.put(input)?;
        self.pasts += u32::from(!was_live);
        let stage = self.tape.world();
        self.chronicle.forget_after(stage.tick());
        self.chronicle.note_facts(stage.tick(), stage.deeds().get(before..).unwrap_or_default());
        Ok(())
    }

    /// The same; the answer has the outcome, and the end of the timeline that it replaced.
    pub(super) fn do_now(&mut self, input: Input) -> Result<Value, String> {
        let old = (!self.tape.is_live()).then(|| self.tape.end());
        self.put(input)?;
        let stage = self.tape.world();
        let (said, vain) = stage.said().map_or((None, false), |s| (Some(&s.text), s.vain));
        let done = self.tape.inputs().len();
        Ok(json!({ "tick": stage.tick(), "said": said, "vain": vain, "old_end": old, "done": done }))
    }

    /// Undoes the last input, or everything back to the input with which there were `with` of them. Facts since then are
    /// recorded again. Returns what was undone, in words, the newest first.
    pub(super) fn undo(&mut self, with: Option<usize>) -> Result<Vec<String>, String> {
        let last = with.unwrap_or(self.tape.inputs().len()).max(1);
        if self.tape.inputs().len() < last {
            return Err("nothing to undo".to_owned());
        }
        let documents = self.tape.world().documents();
        let mut undone = Vec::new();
        loop {
            let many = self.tape.inputs().len();
            let Some((at, input)) = self.tape.inputs().last() else { break };
            let at = *at;
            undone.push(input.describe());
            self.chronicle.forget_from(at);
            let chronicle = &mut self.chronicle;
            // The facts of that tick were noted before; only those of the input go.
            self.tape.undo(&mut |stage| match stage.tick() == at {
                true => chronicle.note(stage),
                false => note(chronicle, stage),
            });
            // An undone input may bring back later ones of the timeline it replaced.
            if many <= last {
                break;
            }
        }
        self.pasts += 1;
        self.heed(&documents);
        self.compare();
        Ok(undone)
    }
}
