//! CancelAbility: cancels other active abilities of the owner.

use super::TaskType;
use crate::flow::{EndHow, Flow, Step, TaskAt};
use crate::rules::{AbilityPick, Fields, TaskCategory};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CancelAbility(AbilityPick);

impl TaskType for CancelAbility {
    const CATEGORY: TaskCategory = TaskCategory::Action;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        f.abilities().map(Self)
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let others = flow.row(at.slot).play().activations.iter().filter(|a| a.seq != at.thread.of);
        let all: Vec<_> = others.map(|a| (a.seq, a.ability)).collect();
        for (seq, ability) in all {
            let Some(def) = flow.ability(ability) else { continue };
            if flow.is_picked(&def, &self.0) {
                flow.finish(at.slot, seq, EndHow::Cancelled);
            }
        }
        Step::Next
    }
}
