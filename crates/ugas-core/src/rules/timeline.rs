//! Compiled timelines: times in flicks; montages and abilities are resolved when the rules are built.

use super::compile::Compiler;
use super::lookup::suggestion;
use super::names::nearest;
use super::task::built_in;
use super::task_parse::SEAMS;
use crate::{SimTime, TagId, TaskKindId, TimelineId};
use std::sync::Arc;
use ugas_doc::{AnswerTarget, Time, Timeline};

#[derive(Clone, Debug)]
pub(crate) struct TimelineDef {
    /// The authored document, for readers and for the comparison of a hot reload.
    pub(crate) doc: Arc<Timeline>,
    pub(crate) montage: Arc<str>,
    pub(crate) length: SimTime,
    /// By rising time, then by position in the document.
    pub(crate) notifies: Box<[NotifyDef]>,
    pub(crate) answers: Box<[AnswerDef]>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NotifyDef {
    pub(crate) at: SimTime,
    /// The gameplay event it sends, if it names one.
    pub(crate) tag: Option<TagId>,
    /// The animation event's name: `Name`, else the tag's.
    pub(crate) name: Arc<str>,
}

/// The answer of a timeline in place of the engine's.
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

impl Compiler<'_> {
    pub(crate) fn timeline(&mut self, doc: &Timeline) {
        self.refuse_in_timeline(doc);
        let rate = doc.frame_rate.unwrap_or(FRAME_RATE);
        if rate == 0 {
            self.error("bad-timeline", "FrameRate must be at least 1".into());
            return;
        }
        let length = self.moment("Length", doc.length, rate);
        if length <= SimTime::ZERO {
            self.error("bad-timeline", "Length must be above 0".into());
        }
        let mut notifies = Vec::with_capacity(doc.notifies.len());
        for (i, n) in doc.notifies.iter().enumerate() {
            let at = self.moment(&format!("Notifies[{i}].At"), n.at, rate);
            if at > length {
                self.error("bad-timeline", format!("Notifies[{i}].At: {at} is after its end"));
            }
            let tag = n.event.as_ref().and_then(|tag| self.tag(tag));
            match n.name.as_ref().or(n.event.as_ref()) {
                Some(name) => notifies.push(NotifyDef { at, tag, name: name.as_str().into() }),
                None => self.error("bad-timeline", format!("Notifies[{i}]: needs Event or Name")),
            }
        }
        notifies.sort_by_key(|n| n.at);
        let mut answers = Vec::with_capacity(doc.answers.len());
        for (i, a) in doc.answers.iter().enumerate() {
            let after = self.moment(&format!("Answers[{i}].After"), a.after, rate);
            match built_in(&a.task).filter(|_| SEAMS.contains(&a.task.as_str())) {
                Some((task, _)) => answers.push(AnswerDef { task, after, target: a.target, fail: a.fail }),
                None => {
                    let near = suggestion(nearest(&a.task, SEAMS.into_iter()));
                    let help = if near.is_empty() { format!("; those are {}", SEAMS.join(", ")) } else { near };
                    let message =
                        format!("Answers[{i}].Task: {} is not a task that the engine completes{help}", a.task);
                    self.error("unknown-task", message);
                }
            }
        }
        let ability = doc.ability.as_ref().and_then(|name| self.ability_ref("Ability", name));
        if !doc.answers.is_empty() && doc.ability.is_none() {
            self.error("bad-timeline", "Answers: needs Ability, whose tasks it answers".into());
        }
        let Some(id) = self.rules.timeline_names.find(&doc.name).map(TimelineId) else { return };
        let montage: Arc<str> = doc.montage.as_deref().unwrap_or(&doc.name).into();
        let name = |id: TimelineId, rules: &super::Rules| rules.timeline_name(id).unwrap_or("").to_owned();
        if let Some(&other) = self.rules.by_montage.get(&montage) {
            let other = name(other, &self.rules);
            self.error("duplicate-montage", format!("Montage: {montage} already has the timeline {other}"));
        }
        if let Some(&other) = ability.and_then(|a| self.rules.by_ability.get(&a)) {
            let other = name(other, &self.rules);
            self.error("duplicate-timeline", format!("Ability: it already has the timeline {other}"));
        }
        let def = TimelineDef {
            doc: Arc::new(doc.clone()),
            montage: montage.clone(),
            length,
            notifies: notifies.into(),
            answers: answers.into(),
        };
        let rules = self.rules.to_mut();
        rules.timelines[id.index()] = Some(Arc::new(def));
        rules.by_montage.insert(montage, id);
        if let Some(ability) = ability {
            rules.by_ability.insert(ability, id);
        }
    }

    fn moment(&mut self, place: &str, time: Time, rate: u32) -> SimTime {
        match time {
            Time::Frames(n) => SimTime::frames(i64::from(n), i64::from(rate)),
            Time::Seconds(s) => match SimTime::try_seconds(s) {
                Some(t) if t >= SimTime::ZERO => t,
                _ => {
                    self.error("bad-timeline", format!("{place} is {s}; write seconds from 0 or frames such as 12f"));
                    SimTime::ZERO
                }
            },
        }
    }
}
