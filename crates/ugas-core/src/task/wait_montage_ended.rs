//! WaitMontageEnded: waits until a montage ends, in the engine or in a timeline.

use super::TaskType;
use crate::flow::{Flow, Step, TaskAt, Wait};
use crate::rules::{Fields, TaskCategory};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitMontageEnded {
    /// The name of the montage. Default: any montage.
    montage: Option<Arc<str>>,
}

impl TaskType for WaitMontageEnded {
    const CATEGORY: TaskCategory = TaskCategory::Animation;
    const IS_HOST_ANSWERED: bool = true;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        Some(Self { montage: f.text("Montage").map(Arc::from) })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        if self.montage.as_ref().is_some_and(|m| flow.has_played(at.slot, at.thread.of, m)) {
            return flow.complete_now(at, 0.0);
        }
        flow.wait(at, Wait::default())
    }

    fn completes_on_montage_end(&self, montage: &str) -> bool {
        self.montage.as_ref().is_none_or(|m| **m == *montage)
    }
}
