//! WaitTagQuery: waits until the owner's tags match a query.

use super::TaskType;
use crate::flow::{Flow, RowEvent, Step, TaskAt, Wait, Waiting};
use crate::rules::{Fields, TagQuery, TaskCategory};
use crate::state::alert;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitTagQuery(TagQuery);

impl TaskType for WaitTagQuery {
    const CATEGORY: TaskCategory = TaskCategory::State;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        f.need_query("Query").map(Self)
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        if flow.matches_query(at.slot, &self.0) {
            return flow.complete_now(at, 0.0);
        }
        flow.wait(at, Wait::default())
    }

    fn wakes_on(&self) -> u8 {
        alert::TAG
    }

    fn event_value(&self, flow: &Flow<'_>, waiting: &Waiting<'_>, event: &RowEvent) -> Option<f64> {
        let is_about_tags = matches!(event, RowEvent::Tag { .. } | RowEvent::Resumed);
        (is_about_tags && flow.matches_query(waiting.slot, &self.0)).then_some(1.0)
    }
}
