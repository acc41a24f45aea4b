//! SetRestriction: switches a restriction of the ability's grant on or off.

use super::{TaskReach, TaskType};
use crate::ParamId;
use crate::flow::{Flow, Step, TaskAt};
use crate::rules::{Fields, TaskCategory};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SetRestriction {
    name: ParamId,
    active: bool,
}

impl TaskType for SetRestriction {
    const CATEGORY: TaskCategory = TaskCategory::Action;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let (name, active) = (f.param("Name"), f.flag("Active", true));
        Some(Self { name: name?, active })
    }

    fn reach(&self) -> TaskReach {
        TaskReach::OwnAbility
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let row = flow.row(at.slot);
        let (who, grant) = (row.id, row.play().activation(at.thread.of).map(|a| a.grant));
        if let Some(grant) = grant {
            // If the grant was removed, nothing is set, and the list continues.
            let _ = flow.restrict(who, grant, self.name, self.active);
        }
        Step::Next
    }
}
