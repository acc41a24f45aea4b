//! Validate: the type of the request that an ability with AsyncValidation sends to the host. The type has a name and an
//! id, but it is not allowed in a task list.

use super::TaskType;
use crate::flow::{Flow, Step, TaskAt};
use crate::rules::{Fields, TaskCategory};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Validate {}

impl TaskType for Validate {
    const CATEGORY: TaskCategory = TaskCategory::Request;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        f.bad_type("Validate is reserved for AsyncValidation; remove this task from the list");
        None
    }

    fn start(&self, _: &mut Flow<'_>, _: TaskAt<'_>) -> Step {
        match *self {}
    }
}
