//! PlayMontage: emits a request to the host to play a montage, and does not wait for an answer. If timelines are
//! enabled (`SimConfig::timelines`), the sim also plays the montage's timeline.

use super::TaskType;
use crate::flow::{Flow, Step, TaskAt};
use crate::rules::{Fields, Num, TaskCategory};
use crate::{TaskKey, TimelineId};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlayMontage {
    montage: Arc<str>,
    rate: Num,
    timeline: Option<TimelineId>,
}

impl TaskType for PlayMontage {
    const CATEGORY: TaskCategory = TaskCategory::Request;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let (montage, rate) = (f.need_text("MontageToPlay"), f.num("PlayRate"));
        let montage = montage?;
        let timeline = f.c.rules.by_montage.get(&montage).copied();
        Some(Self { montage, rate: rate.unwrap_or(Num::Value(1.0)), timeline })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.request(at, TaskKey::NONE);
        if let Some(timeline) = self.timeline {
            flow.play_timeline(at, timeline, &self.rate);
        }
        Step::Next
    }

    fn timeline(&self) -> Option<TimelineId> {
        self.timeline
    }
}
