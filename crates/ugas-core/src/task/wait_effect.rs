//! WaitEffectApplied and WaitEffectRemoved: wait until an effect is applied to the owner or removed from the owner.

use super::TaskType;
use crate::EffectId;
use crate::flow::{Flow, RowEvent, Step, TaskAt, Wait, Waiting};
use crate::rules::{EffectPick, Fields, TaskCategory};
use crate::state::alert;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitEffect<const APPLIED: bool> {
    what: EffectPick,
}

impl<const APPLIED: bool> TaskType for WaitEffect<APPLIED> {
    const CATEGORY: TaskCategory = TaskCategory::Event;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        f.effects().map(|what| Self { what })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.wait(at, Wait::default())
    }

    fn wakes_on(&self) -> u8 {
        alert::EFFECT
    }

    fn event_value(&self, flow: &Flow<'_>, _: &Waiting<'_>, event: &RowEvent) -> Option<f64> {
        let RowEvent::Effect { effect, applied, .. } = event else { return None };
        (*applied == APPLIED && is_picked(flow, *effect, &self.what)).then_some(0.0)
    }
}

fn is_picked(flow: &Flow<'_>, effect: EffectId, pick: &EffectPick) -> bool {
    match pick {
        EffectPick::Effect(id) => *id == effect,
        EffectPick::Tags(tags) => flow.def(effect).is_some_and(|d| {
            let mut mine = d.effect_tags.iter().chain(&d.granted_tags);
            mine.any(|&t| tags.iter().any(|&of| flow.rules.tags.is_under(t, of)))
        }),
    }
}
