//! Compiled timelines. Times are in flicks. Montages and abilities are resolved when the rules are built.

use super::compile::Compiler;
use super::compiled::CompiledText;
use super::document::{Phase, RulesDocument};
use super::interner::nearest;
use super::lookup::suggestion;
use crate::task::{built_in, host_answered_tasks};
use crate::{NameKind, SimTime, TagId, TaskKindId, TimelineId};
use std::sync::Arc;
use ugas_doc::{AnswerTarget, Origin, Time, Timeline};

#[derive(Clone, Debug)]
pub(crate) struct TimelineDef {
    /// The authored document, for readers and to compare timelines in a hot reload.
    pub(crate) doc: Arc<Timeline>,
    pub(crate) montage: Arc<str>,
    pub(crate) length: SimTime,
    /// Ordered by time, then by position in the document.
    pub(crate) notifies: Box<[NotifyDef]>,
    pub(crate) answers: Box<[AnswerDef]>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NotifyDef {
    pub(crate) at: SimTime,
    /// The tag of the gameplay event that the notify sends, if any.
    pub(crate) tag: Option<TagId>,
    /// The name of the animation event: `Name`, otherwise the tag.
    pub(crate) name: Arc<str>,
}

/// The answer of a timeline to a task that the host would complete.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AnswerDef {
    /// The task type.
    pub(crate) task: TaskKindId,
    pub(crate) after: SimTime,
    pub(crate) target: AnswerTarget,
    pub(crate) fail: bool,
}

/// Default frame rate of a document.
const FRAME_RATE: u32 = 60;

impl CompiledText for TimelineDef {
    fn compiled_text(&self) -> String {
        format!("{:?}", TimelineDef { doc: Arc::default(), ..self.clone() })
    }
}

impl RulesDocument for Timeline {
    fn phase(&self) -> Phase {
        Phase::Timelines
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Timeline)
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        c.timeline(self);
    }
}

impl Compiler<'_> {
    pub(crate) fn timeline(&mut self, doc: &Timeline) {
        self.refuse_in_timeline(doc);
        let rate = doc.frame_rate.unwrap_or(FRAME_RATE);
        if rate == 0 {
            self.error("bad-timeline", "FrameRate is 0; write at least 1".into());
            return;
        }
        let length = self.sim_time("Length", doc.length, rate);
        if length <= SimTime::ZERO {
            self.error("bad-timeline", "Length is not above 0; write a longer time".into());
        }
        let mut notifies = Vec::with_capacity(doc.notifies.len());
        for (i, n) in doc.notifies.iter().enumerate() {
            let at = self.sim_time(&format!("Notifies[{i}].At"), n.at, rate);
            if at > length {
                self.error("bad-timeline", format!("Notifies[{i}].At: {at} is after the Length {length}; write less"));
            }
            let tag = n.event.as_ref().and_then(|tag| self.tag(tag));
            match n.name.as_ref().or(n.event.as_ref()) {
                Some(name) => notifies.push(NotifyDef { at, tag, name: name.as_str().into() }),
                None => self.error("bad-timeline", format!("Notifies[{i}]: Event and Name are missing; add one")),
            }
        }
        notifies.sort_by_key(|n| n.at);
        let mut answers = Vec::with_capacity(doc.answers.len());
        for (i, a) in doc.answers.iter().enumerate() {
            let after = self.sim_time(&format!("Answers[{i}].After"), a.after, rate);
            match built_in(&a.task).filter(|(_, row)| row.is_host_answered) {
                Some((task, _)) => answers.push(AnswerDef { task, after, target: a.target, fail: a.fail }),
                None => {
                    let near = suggestion(nearest(&a.task, host_answered_tasks()));
                    let all = || host_answered_tasks().collect::<Vec<_>>().join(", ");
                    let help = if near.is_empty() { format!("; write one of {}", all()) } else { near };
                    let message =
                        format!("Answers[{i}].Task: {} is not a task that the engine completes{help}", a.task);
                    self.error("unknown-task", message);
                }
            }
        }
        let ability = doc.ability.as_ref().and_then(|name| self.ability_ref("Ability", name));
        if !doc.answers.is_empty() && doc.ability.is_none() {
            self.error(
                "bad-timeline",
                "Answers: the field Ability is missing; write the ability whose tasks the timeline answers".into(),
            );
        }
        let Some(id) = self.find(NameKind::Timeline, &doc.name).map(TimelineId) else { return };
        let montage: Arc<str> = doc.montage.as_deref().unwrap_or(&doc.name).into();
        let name = |id: TimelineId, rules: &super::Rules| rules.timeline_name(id).unwrap_or("").to_owned();
        if let Some(&other) = self.rules.by_montage.get(&montage) {
            let other = name(other, &self.rules);
            self.error("duplicate-montage", format!("Montage: {montage} already has the timeline {other}; change it"));
        }
        if let Some(&other) = ability.and_then(|a| self.rules.by_ability.get(&a)) {
            let other = name(other, &self.rules);
            self.error("duplicate-timeline", format!("Ability: it already has the timeline {other}; remove Ability"));
        }
        let def = TimelineDef {
            doc: Arc::new(doc.clone()),
            montage: montage.clone(),
            length,
            notifies: notifies.into(),
            answers: answers.into(),
        };
        let rules = self.rules.to_mut();
        rules.timelines.define(id.0, Arc::new(def));
        rules.by_montage.insert(montage, id);
        if let Some(ability) = ability {
            rules.by_ability.insert(ability, id);
        }
    }

    fn sim_time(&mut self, place: &str, time: Time, rate: u32) -> SimTime {
        match time {
            Time::Frames(n) => SimTime::frames(i64::from(n), i64::from(rate)),
            Time::Seconds(s) => match SimTime::try_seconds(s) {
                Some(t) if t >= SimTime::ZERO => t,
                _ => {
                    self.error("bad-timeline", format!("{place} is {s}; write seconds >= 0 or frames such as 12f"));
                    SimTime::ZERO
                }
            },
        }
    }
}
