//! ExecuteCue plays a burst cue. AddCue starts a loop cue. RemoveCue stops a loop cue that the ability added.

use super::{TaskReach, TaskType};
use crate::TagId;
use crate::flow::{Flow, Step, TaskAt};
use crate::rules::{Fields, TaskCategory};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExecuteCue(TagId);

impl TaskType for ExecuteCue {
    const CATEGORY: TaskCategory = TaskCategory::Action;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        f.need_tag("Cue").map(Self)
    }

    fn reach(&self) -> TaskReach {
        TaskReach::OwnAbility
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.burst_cue(at.slot, self.0);
        Step::Next
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AddCue(TagId);

impl TaskType for AddCue {
    const CATEGORY: TaskCategory = TaskCategory::Action;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        f.need_tag("Cue").map(Self)
    }

    fn reach(&self) -> TaskReach {
        TaskReach::OwnAbility
    }

    /// Starts a loop cue that stops when the activation ends.
    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let Some(a) = flow.row_mut(at.slot).play_mut().activation_mut(at.thread.of) else { return Step::Next };
        if !a.cues.contains(&self.0) {
            a.cues.push(self.0);
            flow.hold_cue(at.slot, self.0);
        }
        Step::Next
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RemoveCue(TagId);

impl TaskType for RemoveCue {
    const CATEGORY: TaskCategory = TaskCategory::Action;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        f.need_tag("Cue").map(Self)
    }

    fn reach(&self) -> TaskReach {
        TaskReach::OwnAbility
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let Some(a) = flow.row_mut(at.slot).play_mut().activation_mut(at.thread.of) else { return Step::Next };
        if let Some(held) = a.cues.iter().position(|t| *t == self.0) {
            a.cues.remove(held);
            flow.release_cue(at.slot, self.0);
        }
        Step::Next
    }
}
