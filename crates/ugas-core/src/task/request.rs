//! Request: emits a named request with any parameters to the host, and does not wait for an answer.

use super::{TaskReach, TaskType};
use crate::TaskKey;
use crate::flow::{Flow, Step, TaskAt};
use crate::rules::{Fields, TaskCategory};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    name: Arc<str>,
}

impl TaskType for Request {
    const CATEGORY: TaskCategory = TaskCategory::Request;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let name = f.need_text("Name");
        f.accept_rest();
        name.map(|name| Self { name })
    }

    fn reach(&self) -> TaskReach {
        TaskReach::OwnAbility
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.request(at, TaskKey::NONE);
        Step::Next
    }
}
