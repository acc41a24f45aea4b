//! SendEvent: sends a gameplay event to the owner or to the targets.

use super::TaskType;
use crate::flow::{Flow, ForeignAction, Step, TaskAt};
use crate::rules::{EventTo, Fields, Num, TaskCategory};
use crate::{EventData, TagId};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SendEvent {
    tag: TagId,
    to: EventTo,
    magnitude: Option<Num>,
}

impl TaskType for SendEvent {
    const CATEGORY: TaskCategory = TaskCategory::Action;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let tag = f.need_tag("EventTag");
        let words = [("Owner", EventTo::Owner), ("Target", EventTo::Target), ("Targets", EventTo::Targets)];
        let to = f.word("To", &words).unwrap_or_default();
        let magnitude = f.num("Magnitude");
        Some(Self { tag: tag?, to, magnitude })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let (slot, of) = (at.slot, at.thread.of);
        let who = flow.row(slot).id;
        let (magnitude, hidden) =
            flow.watch_hidden(|flow| self.magnitude.as_ref().and_then(|m| flow.value_of(slot, of, m)).unwrap_or(0.0));
        if hidden.is_some() {
            // The server sends the event.
            return Step::Next;
        }
        for target in flow.resolve_targets(slot, of, self.to) {
            if !flow.skips_action_on(target) {
                let event = EventData { instigator: Some(who), magnitude, ..EventData::new(self.tag, target) };
                flow.journal_foreign_action(who, target, || ForeignAction::Event(event.clone()));
                // A target that no longer exists receives nothing.
                let _ = flow.send_event(event);
            }
        }
        Step::Next
    }
}
