//! Tasks that the host answers. The host receives a request fact and answers with an op.

use super::{TaskAt, WaitingTask};
use crate::flow::ability::distance;
use crate::flow::foreign::Candidate;
use crate::flow::{Flow, TaskPlace, Via};
use crate::rules::AbilityDef;
use crate::{AbilityState, Answer, BadValue, ControllerId, FactKind, Refusal, TaskKey, TaskResult};

/// Maximum number of targets of one answer.
const TARGETS: usize = 4096;

impl Flow<'_> {
    /// Emits the request of a task to the host.
    pub(crate) fn request(&mut self, at: TaskAt<'_>, task_key: TaskKey) {
        let TaskAt { slot, ability, task, .. } = at;
        let who = self.row(slot).id;
        let detail = self.log.keep(&task.request);
        let via = Via { source: who, ..Via::NOTHING };
        self.fact(who, via, FactKind::TaskRequest { ability: ability.id, task: task.name, task_key, detail });
    }

    /// Handles the host's answer to a waiting task.
    pub(crate) fn complete(&mut self, key: TaskKey, answer: &Answer) -> Result<(), Refusal> {
        let slot = self.slot(key.who)?;
        if !answer.value.is_finite() || answer.targets.len() > TARGETS {
            return Err(Refusal::BadValue { what: BadValue::Number });
        }
        answer.hit.iter().try_for_each(|hit| self.rules.refuse_hit(hit))?;
        let Some((of, pc)) = self.row(slot).play().task(key.seq).map(|t| (t.of, t.pc)) else {
            // Activations and tasks share one sequence of numbers, so an answer may be that of a validation.
            return self.answer_validation(slot, key.seq, !answer.fail);
        };
        let active = self.row(slot).play().activation(of).is_some_and(|a| a.state == AbilityState::Active);
        let def = self.def_of(slot, of).filter(|_| active).ok_or(Refusal::StaleHandle)?;
        let is_host_answered = |pc| def.program.task(pc).is_some_and(|t| t.kind.is_host_answered());
        if !self.is_code_asking(slot, key.seq) && !is_host_answered(pc) {
            return Err(Refusal::StaleHandle);
        }
        // The controller is inactive and its tasks are paused: the host may answer again later.
        if !self.row(slot).clock.active() {
            return Err(Refusal::Inactive);
        }
        if self.is_code_asking(slot, key.seq) {
            self.code_answered(slot, key.seq, of, answer);
            return Ok(());
        }
        // The answer only resumes the ability, so the following changes have the ability's cause.
        let link = self.row(slot).play().activation(of).map_or(self.cause.link, |a| a.link);
        let before = std::mem::replace(&mut self.cause.link, link);
        self.take_answer(slot, &def, key.seq, answer);
        self.moved(slot, of);
        self.cause.link = before;
        Ok(())
    }

    /// Passes an answer to a waiting task. The thread of the task continues.
    pub(super) fn take_answer(&mut self, slot: usize, def: &AbilityDef, seq: u64, answer: &Answer) {
        if answer.fail {
            return self.finish_task(slot, def, seq, TaskResult::Failed, answer.value);
        }
        let Some((of, pc, range)) = self.row(slot).play().task(seq).map(|t| (t.of, t.pc, t.value)) else { return };
        let Some(task) = def.program.task(pc) else { return };
        let mut value = answer.value;
        if task.kind.finds_targets() {
            let (own, task) = (self.row(slot).id, TaskPlace { ability: def.id, pc });
            let too_far = answer.hit.as_ref().and_then(|h| h.distance).is_some_and(|d| d > range);
            let place =
                |&who: &ControllerId| Some((who, self.st.controllers.get(who)?.side().anchor.map(|a| a.position)));
            let mut there: Vec<Candidate> = answer.targets.iter().filter_map(place).collect();
            self.journal_candidates(own, task, &mut there);
            there.sort_unstable_by_key(|c| c.0);
            let here = self.row(slot).side().anchor;
            let reaches = |position: Option<[f64; 3]>| {
                here.zip(position).is_none_or(|(here, position)| distance(here.position, position) <= range)
            };
            let found = |who: &ControllerId| there.binary_search_by_key(who, |c| c.0).ok();
            let is_there = |who: &ControllerId| !too_far && found(who).is_some_and(|at| reaches(there[at].1));
            let targets: Vec<_> = answer.targets.iter().copied().filter(is_there).collect();
            value = targets.len() as f64;
            if let Some(a) = self.row_mut(slot).play_mut().activation_mut(of) {
                a.targets = targets;
                // No target was found: the target of an earlier task must not be used.
                if a.targets.is_empty() {
                    a.target = crate::Target::None;
                }
                a.hit = answer.hit.clone().filter(|_| !too_far).map(Box::new);
            }
        }
        self.finish_task(slot, def, seq, TaskResult::Completed, value);
    }

    /// Clears the targets and the hit of an activation whose search for targets failed. Otherwise the following tasks
    /// would use the target of an earlier task.
    pub(super) fn forget_targets(&mut self, slot: usize, of: u64) {
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(of) {
            (a.target, a.hit) = (crate::Target::None, None);
            a.targets.clear();
        }
    }

    /// Answers a ticking task with the controllers that it found. If the list is empty, the task keeps waiting.
    pub(crate) fn answer_with_targets(&mut self, at: WaitingTask<'_>, targets: Vec<ControllerId>) {
        if !targets.is_empty() {
            self.take_answer(at.slot, at.ability, at.seq, &Answer { targets, ..Answer::default() });
            self.moved(at.slot, at.of);
        }
    }
}
