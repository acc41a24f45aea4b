//! WaitOverlap: waits until controllers that match a query are within a radius. On each tick, the task queries the host
//! for the controllers within the radius. The host can also answer the request that the task emits when it starts.

use super::{TargetUse, TaskType, Ticks};
use crate::ControllerId;
use crate::flow::{Flow, Step, TaskAt};
use crate::rules::{Fields, Num, TagQuery, TaskCategory};
use crate::sim::SpaceQuery;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitOverlap {
    radius: Option<Num>,
    filter: Option<TagQuery>,
}

impl TaskType for WaitOverlap {
    const CATEGORY: TaskCategory = TaskCategory::Spatial;
    const TICKS: Ticks = Ticks::Normal;
    const IS_HOST_ANSWERED: bool = true;
    const TARGET_USE: TargetUse = TargetUse::Finds;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let (radius, filter) = (f.num("Radius"), f.query("Filter"));
        Some(Self { radius, filter })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.wait_for_targets(at, self.radius.as_ref())
    }

    fn find_targets(&self, flow: &mut Flow<'_>, query: &SpaceQuery) -> Vec<ControllerId> {
        let mut targets = Vec::new();
        if let Some(host) = &mut flow.host {
            host.overlap(query, &mut targets);
        }
        targets.retain(|&t| {
            let at = flow.st.controllers.slot(t);
            at.is_some_and(|at| self.filter.as_ref().is_none_or(|f| flow.matches_query(at, f)))
        });
        targets
    }
}
