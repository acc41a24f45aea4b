//! WaitTargetData: asks the host for targets with a targeting method, and waits for the answer.

use super::{TargetUse, TaskType};
use crate::flow::{Flow, Step, TaskAt};
use crate::rules::{Fields, Num, TaskCategory};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitTargetData {
    method: Arc<str>,
    max_range: Option<Num>,
    max_targets: Option<u32>,
}

impl TaskType for WaitTargetData {
    const CATEGORY: TaskCategory = TaskCategory::Spatial;
    const IS_HOST_ANSWERED: bool = true;
    const CLIENT_ANSWERS: bool = true;
    const TARGET_USE: TargetUse = TargetUse::Finds;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let (method, max_range) = (f.need_text("TargetingMethod"), f.num("MaxRange"));
        let max_targets = f.count("MaxTargets");
        Some(Self { method: method?, max_range, max_targets })
    }

    fn client_targets(&self) -> u32 {
        self.max_targets.unwrap_or(1)
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.wait_for_targets(at, self.max_range.as_ref())
    }
}
