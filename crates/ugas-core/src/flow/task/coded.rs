//! Abilities that are implemented in code. Such an ability is resumed by the event that it waits for. The row stores
//! one record for each waiting ability.

use super::effect::{child_of_act, path_of_act};
use super::{NO_PC, TaskThread};
use crate::flow::ability::EndHow;
use crate::flow::{Flow, ForeignAction, RowEvent, UsedAbility, Via};
use crate::rng::DrawAt;
use crate::rules::{AbilityAction, AbilityCx, Next, Resume};
use crate::state::{Task, alert};
use crate::{
    AbilityState, Answer, DiagnosticKind, EffectFilter, EffectId, EventData, FactKind, SimTime, Span, TaskKey,
};
use ugas_doc::NetExecution;

/// The calculation index of a coded ability's random stream; see the sites of magnitudes.
const SITE_CODE: u32 = 1 << 19;

/// Returns what a coded ability waits for.
fn waits_for(t: &Task) -> Option<Next> {
    if t.pc == NO_PC { serde_json::from_slice(&t.code).ok() } else { None }
}

/// Returns the kinds of events that a waiting coded ability listens to, as `alert` bits.
pub(super) fn alert_of(t: &Task) -> u8 {
    let Some(next) = waits_for(t) else { return 0 };
    next.waits().iter().fold(0, |bits, wait| {
        bits | match wait {
            Next::Event(_) => alert::EVENT,
            Next::Tag(_) => alert::TAG,
            Next::Input(_) => alert::INPUT,
            // `After` is resumed by time and `Request` by the host. The other values do not wait for an event
            // themselves.
            Next::After(_) | Next::Request(_) | Next::Any(_) | Next::End | Next::Cancel => 0,
        }
    })
}

impl Flow<'_> {
    /// Calls an ability's code, executes its requests and stores what it waits for.
    pub(super) fn resume(&mut self, slot: usize, of: u64, why: Resume<'_>) {
        let ending = matches!(why, Resume::End { .. });
        let row = self.row(slot);
        let (who, play) = (row.id, row.play());
        let Some(a) = play.activation(of).filter(|a| ending || a.state == AbilityState::Active) else { return };
        let Some(code) = self.rules.code_of(a.ability) else { return };
        let mut state = a.code.clone();
        let grant = row.grant(a.grant);
        let is_for_server = || self.ability(a.ability).is_some_and(|d| d.doc.net_execution == NetExecution::ServerOnly);
        let used = UsedAbility { who, ability: a.ability };
        let stream = self.view().roll_stream(used, is_for_server);
        let draw = DrawAt {
            seed: stream.seed,
            known: stream.known,
            is_use: stream.is_use,
            sub: if a.root.client() == 0 || stream.path.is_some() { 0 } else { a.root.sub() },
            target: who.0,
            origin_id: stream.path.unwrap_or(a.origin_id),
            ordinal: a.ordinal,
            execution: a.acts,
            calculation: SITE_CODE,
            site: a.ability.0,
            draw: 0,
        };
        let mut cx = AbilityCx {
            rules: self.rules,
            who,
            level: a.level,
            target: a.target,
            now: self.local_now(slot),
            values: &|who, a| self.current_of(who, a),
            tags: &|who, t| self.rules.tags.def(t).is_some() && self.source_has(who, t),
            around: &|radius| self.around(slot, radius),
            params: &|name| self.view().param_of(slot, grant?, name),
            commits: &|| self.may_commit(slot, of),
            draw,
            acts: Vec::new(),
        };
        let next = code.resume(&mut state, why, &mut cx);
        let (acts, draw) = (cx.acts, cx.draw);
        if draw.draw > 0 && self.view().record_draws(&draw, used).is_err() {
            // The server decides what the ability does.
            return;
        }
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(of) {
            a.code = state;
            // The next call must draw other random numbers.
            a.acts += (draw.draw > 0) as u32;
        }
        if !self.act_all(slot, of, acts) {
            return;
        }
        if ending {
            if next.is_none() {
                self.diagnose(who, EffectId::NONE, DiagnosticKind::Limit);
            }
            return;
        }
        match next {
            None => self.cancel_at_limit(slot, of),
            Some(Next::End) => self.finish(slot, of, EndHow::Ended),
            Some(Next::Cancel) => self.finish(slot, of, EndHow::Cancelled),
            Some(next) => self.await_next(slot, of, next),
        }
    }

    fn await_next(&mut self, slot: usize, of: u64, next: Next) {
        // The requests of the code may have ended the ability.
        if !self.row(slot).play().activation(of).is_some_and(|a| a.state == AbilityState::Active) {
            return;
        }
        if !self.rules.can_await(&next) {
            return self.cancel_at_limit(slot, of);
        }
        let now = self.local_now(slot);
        let due = next.waits().iter().filter_map(|wait| match wait {
            Next::After(time) => Some(now + (*time).clamp(SimTime::ZERO, SimTime::LONGEST)),
            Next::Event(_) | Next::Tag(_) | Next::Input(_) | Next::Request(_) => None,
            Next::Any(_) | Next::End | Next::Cancel => None,
        });
        let due = due.min().unwrap_or(SimTime::NEVER);
        let Ok(code) = serde_json::to_vec(&next) else { return };
        let thread = TaskThread { of, pc: NO_PC, parent: 0, list: false };
        let Some(seq) = self.sleep(slot, thread, |t| (t.due, t.code) = (due, code)) else { return };
        let Some(ability) = self.row(slot).play().activation(of).map(|a| a.ability) else { return };
        let who = self.row(slot).id;
        for wait in next.waits() {
            if let &Next::Request(task) = wait {
                let (via, task_key) = (Via { source: who, ..Via::NOTHING }, TaskKey { seq, who });
                self.fact(who, via, FactKind::TaskRequest { ability, task, task_key, detail: Span::default() });
            }
        }
    }

    /// Returns whether a task record belongs to a coded ability that waits for the host.
    pub(super) fn is_code_asking(&self, slot: usize, seq: u64) -> bool {
        let next = self.row(slot).play().task(seq).and_then(waits_for);
        next.is_some_and(|n| n.waits().iter().any(|wait| matches!(wait, Next::Request(_))))
    }

    /// Passes the host's answer to a coded ability.
    pub(super) fn code_answered(&mut self, slot: usize, seq: u64, of: u64, answer: &Answer) {
        self.take_task(slot, seq);
        self.resume(slot, of, Resume::Answer(answer));
        self.moved(slot, of);
    }

    /// Executes the requests of an ability's code. Returns `false` if one of them ended the ability.
    fn act_all(&mut self, slot: usize, of: u64, acts: Vec<AbilityAction>) -> bool {
        let target_of =
            |act: &AbilityAction| if let AbilityAction::Apply(spec) = act { Some(spec.target) } else { None };
        let mut targets: Vec<crate::ControllerId> = acts.iter().filter_map(target_of).collect();
        targets.sort_unstable();
        targets.dedup();
        let mut continues = true;
        self.with_targets(targets.len(), |flow| {
            continues = acts.into_iter().all(|act| flow.act(slot, of, act));
        });
        continues
    }

    /// Executes a request of an ability's code. Returns `false` if the request ended the ability, and then the later
    /// requests are dropped.
    fn act(&mut self, slot: usize, of: u64, act: AbilityAction) -> bool {
        let who = self.row(slot).id;
        match act {
            AbilityAction::Apply(spec) => {
                let Some(a) = self.row_mut(slot).play_mut().activation_mut(of) else { return false };
                let path = path_of_act(a, who, NO_PC);
                let (origin_id, ability) = (child_of_act(a, who, NO_PC), a.ability);
                if !self.skips_action_on(spec.target) {
                    let spec = spec.from(who).ability(ability);
                    let roll = self.enter_roll(path);
                    self.journal_foreign_action(who, spec.target, || ForeignAction::Apply(spec.clone(), origin_id));
                    // A refusal is traced; the code can read the resulting state.
                    let _ = self.apply(&spec, origin_id);
                    self.roll = roll;
                }
            }
            AbilityAction::Remove { effect } => {
                self.remove_matching(slot, &EffectFilter { effect: Some(effect), ..EffectFilter::default() });
            }
            AbilityAction::Send { tag, target, magnitude } => {
                if !self.skips_action_on(target) {
                    let event = EventData { instigator: Some(who), magnitude, ..EventData::new(tag, target) };
                    self.journal_foreign_action(who, target, || ForeignAction::Event(event.clone()));
                    let _ = self.send_event(event);
                }
            }
            AbilityAction::Cue(tag) => {
                if self.rules.tags.def(tag).is_some() {
                    self.burst_cue(slot, tag);
                }
            }
            AbilityAction::SetParam { param, value } => {
                if let Some(grant) = self.row(slot).play().activation(of).map(|a| a.grant) {
                    // A refusal leaves the parameter unchanged. The code can read the parameter.
                    let _ = self.set_param(who, grant, param, value);
                }
            }
            AbilityAction::Commit => {
                if self.commit(slot, of).is_err() {
                    self.finish(slot, of, EndHow::Cancelled);
                    return false;
                }
            }
        }
        true
    }

    /// Resumes a coded ability with an event it waits for.
    pub(super) fn resume_on_event(&mut self, slot: usize, seq: u64, row_event: &RowEvent) {
        let Some(t) = self.row(slot).play().task(seq) else { return };
        let (of, Some(next)) = (t.of, waits_for(t)) else { return };
        let woken = next.waits().iter().find_map(|wait| match (wait, row_event) {
            (Next::Event(of), RowEvent::Event(e)) if self.rules.tags.is_under(e.tag, *of) => Some(Resume::Event(e)),
            (Next::Tag(tag), RowEvent::Tag { tag: found, added }) if tag == found => {
                Some(Resume::Tag { added: *added })
            }
            (Next::Input(input), RowEvent::Input { input: found, pressed, held, before })
                if input == found && seq < *before =>
            {
                Some(Resume::Input { pressed: *pressed, held: *held })
            }
            (Next::Event(_) | Next::Tag(_) | Next::Input(_), _) => None,
            // `After` is resumed by time and `Request` by the host. The other values do not wait for an event
            // themselves.
            (Next::After(_) | Next::Request(_) | Next::Any(_) | Next::End | Next::Cancel, _) => None,
        });
        let Some(why) = woken else { return };
        self.take_task(slot, seq);
        self.resume(slot, of, why);
        self.moved(slot, of);
    }

    /// Resumes a coded ability whose wait time has passed.
    pub(super) fn code_due(&mut self, slot: usize, seq: u64, of: u64) {
        self.take_task(slot, seq);
        self.resume(slot, of, Resume::Elapsed);
        self.moved(slot, of);
    }

    /// Calls an ability's code for the last time.
    pub(crate) fn code_ended(&mut self, slot: usize, of: u64, cancelled: bool) {
        self.resume(slot, of, Resume::End { cancelled });
    }
}
