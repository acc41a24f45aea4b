//! WaitForTarget: waits until the host finds a target. On each tick, the task queries the host for a target. The host
//! can also answer the request that the task emits when it starts.

use super::{TargetUse, TaskType, Ticks};
use crate::ControllerId;
use crate::flow::{Flow, Step, TaskAt};
use crate::rules::{Fields, Num, TaskCategory};
use crate::sim::SpaceQuery;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitForTarget {
    max_range: Option<Num>,
}

impl TaskType for WaitForTarget {
    const CATEGORY: TaskCategory = TaskCategory::Spatial;
    const TICKS: Ticks = Ticks::Critical;
    const IS_HOST_ANSWERED: bool = true;
    const TARGET_USE: TargetUse = TargetUse::Finds;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        Some(Self { max_range: f.num("MaxRange") })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.wait_for_targets(at, self.max_range.as_ref())
    }

    fn find_targets(&self, flow: &mut Flow<'_>, query: &SpaceQuery) -> Vec<ControllerId> {
        let found = flow.host.as_mut().and_then(|h| h.find_target(query));
        found.filter(|&t| flow.st.controllers.slot(t).is_some()).into_iter().collect()
    }
}
