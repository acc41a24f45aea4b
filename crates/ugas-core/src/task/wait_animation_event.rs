//! WaitAnimationEvent: waits for a notify of an animation, from the engine or from a timeline.

use super::TaskType;
use crate::TagId;
use crate::flow::{Flow, Step, TaskAt, Wait};
use crate::rules::{Fields, TaskCategory};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitAnimationEvent {
    name: Arc<str>,
    /// The tag with the same name, if the rules define one.
    tag: Option<TagId>,
}

impl TaskType for WaitAnimationEvent {
    const CATEGORY: TaskCategory = TaskCategory::Animation;
    const IS_HOST_ANSWERED: bool = true;

    /// Reads the field `EventTag`, or else the field `EventName`.
    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        match f.tag("EventTag") {
            Some(tag) => {
                f.text("EventName");
                let name = f.c.rules.tag_name(tag).unwrap_or("").into();
                Some(Self { name, tag: Some(tag) })
            }
            None => {
                let name = f.need_text("EventName")?;
                let tag = f.c.rules.find_tag(&name);
                Some(Self { name, tag })
            }
        }
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.wait(at, Wait::default())
    }

    fn completes_on_notify(&self, name: &str) -> bool {
        *self.name == *name
    }
}
