//! RemoveEffectFromOwner and RemoveEffectFromTarget: remove active effects, or some of their stacks, from the owner or
//! from the targets.

use super::{TargetUse, TaskType};
use crate::flow::{Flow, Step, TaskAt};
use crate::rules::{EffectPick, EventTo, Fields, TaskCategory};

/// Which effects are removed, and how many stacks of each.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RemoveDef {
    pub(crate) what: EffectPick,
    /// The number of stacks to remove. Default: all stacks.
    pub(crate) stacks: Option<u32>,
}

impl RemoveDef {
    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<RemoveDef> {
        let (what, stacks) = (f.effects(), f.count("Stacks"));
        Some(RemoveDef { what: what?, stacks })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RemoveEffectFromOwner(RemoveDef);

impl TaskType for RemoveEffectFromOwner {
    const CATEGORY: TaskCategory = TaskCategory::Action;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        RemoveDef::parse(f).map(Self)
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let who = flow.row(at.slot).id;
        flow.remove_from(who, who, &self.0);
        Step::Next
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RemoveEffectFromTarget(RemoveDef);

impl TaskType for RemoveEffectFromTarget {
    const CATEGORY: TaskCategory = TaskCategory::Action;
    const TARGET_USE: TargetUse = TargetUse::ActsOn;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        RemoveDef::parse(f).map(Self)
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let who = flow.row(at.slot).id;
        for target in flow.resolve_targets(at.slot, at.thread.of, EventTo::Targets) {
            flow.remove_from(who, target, &self.0);
        }
        Step::Next
    }
}
