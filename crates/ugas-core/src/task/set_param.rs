//! SetParam: sets a parameter of the ability's grant.

use super::{TaskReach, TaskType};
use crate::ParamId;
use crate::flow::{Flow, Step, TaskAt};
use crate::rules::{Fields, Num, TaskCategory};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SetParam {
    param: ParamId,
    value: Num,
}

impl TaskType for SetParam {
    const CATEGORY: TaskCategory = TaskCategory::Action;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let (param, value) = (f.param("Name"), f.need_num("Value"));
        Some(Self { param: param?, value: value? })
    }

    fn reach(&self) -> TaskReach {
        TaskReach::OwnAbility
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let row = flow.row(at.slot);
        let (who, grant) = (row.id, row.play().activation(at.thread.of).map(|a| a.grant));
        if let (Some(grant), Some(value)) = (grant, flow.value_of(at.slot, at.thread.of, &self.value)) {
            // If the grant was removed, nothing is set, and the list continues.
            let _ = flow.set_param(who, grant, self.param, value);
        }
        Step::Next
    }
}
