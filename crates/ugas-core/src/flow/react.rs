//! React: runs the consequences of an operation in order, until none is left or a limit is reached. The consequences
//! are conditional effects, the next application in a queue, rechecks of ongoing requirements and tag filters, events,
//! the ticks of casts of zero duration, and the missed executions of effects that are no longer inhibited.

use super::remove::Trigger;
use super::resource::ResourceEvent;
use super::settle::Emit;
use super::{Flow, ForeignAction, RollSource, Via, child_origin_id};
use crate::rules::EffectDef;
use crate::state::{Activation, CauseWhat, FILTERED, alert};
use crate::{
    AbilityId, AbilityState, ActivationKey, AttributeId, Cause, ControllerId, DiagnosticKind, EffectChange, EffectId,
    EffectKey, EventData, GrantId, InputId, LimitKind, Refusal, RemoveReason, SimTime, Spec, TagId,
};
use ugas_doc::{OnOngoingFail, PeriodInhibition};

/// A reaction to run after the operation.
#[derive(Clone, Debug)]
pub(crate) enum Reaction {
    Apply {
        /// The controller whose effect or damage caused the application.
        from: ControllerId,
        spec: Spec,
        origin_id: u64,
        roll: RollSource,
        cause: Cause,
        depth: u32,
    },
    Next {
        who: ControllerId,
        effect: EffectId,
        cause: Cause,
    },
    Recheck(Recheck),
    Event {
        who: ControllerId,
        row_event: RowEvent,
        cutoff: EventCutoff,
        cause: Cause,
        depth: u32,
    },
    /// The hooks of a changed resource. They run after the effects of `OnChanged`.
    Resource {
        event: ResourceEvent,
        roll: RollSource,
        cause: Cause,
        depth: u32,
    },
    /// The ticks of a cast of zero duration. They run after the activation that started the cast.
    Ticks {
        who: ControllerId,
        cast: u64,
        cause: Cause,
    },
}

/// An effect that is no longer inhibited and has missed executions to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CatchUp {
    who: ControllerId,
    seq: u64,
    cause: Cause,
}

/// Effects to recheck after the operation.
#[derive(Clone, Debug)]
pub(crate) struct Recheck {
    pub(crate) who: ControllerId,
    /// The sequence numbers of the affected effects. Effects that start later are not included, because each of them
    /// checks its own requirements after its conditional effects.
    effects: Vec<u64>,
    cause: Cause,
}

/// The next sequence numbers of a row when an event happened. Listeners that started later do not receive the event.
#[derive(Clone, Debug)]
pub(crate) struct EventCutoff {
    /// Tasks and activations with this number or a higher one started later.
    pub(crate) seq: u64,
    /// The activation that was being committed, or 0. An event of its own commit does not cancel the activation.
    pub(crate) activating: u64,
    /// Grants with this id or a higher one are newer.
    pub(crate) grants: u32,
    /// Passive abilities that were active at the event. The event does not restart these abilities.
    pub(crate) passives: Vec<GrantId>,
}

/// An event that a row's tasks, triggers and cancel lists receive after an operation.
#[derive(Clone, Debug)]
pub(crate) enum RowEvent {
    Tag {
        tag: TagId,
        added: bool,
    },
    Attribute {
        attribute: AttributeId,
        old: f64,
        new: f64,
    },
    /// The owner died because of a change that `source` caused.
    Died {
        source: ControllerId,
    },
    Effect {
        effect: EffectId,
        source: ControllerId,
        applied: bool,
    },
    Event(Box<EventData>),
    /// An input was pressed or released. The event wakes only tasks with a sequence number below `before`.
    Input {
        input: InputId,
        pressed: bool,
        held: SimTime,
        before: u64,
    },
    /// An ability that may start without an activation op was granted.
    Granted {
        grant: GrantId,
    },
    Ability {
        ability: AbilityId,
        key: ActivationKey,
        change: AbilityEvent,
    },
    /// An obstacle to activations was removed: a cast ended, a restriction ended, or the controller got an avatar.
    Freed,
    /// Tags changed that may decide whether held inputs are live.
    Liveness,
    /// The controller is active again. The controller received no events while it was inactive.
    Resumed,
}

impl RowEvent {
    /// Returns whether the event can make a passive ability start.
    pub(crate) fn may_start_passives(&self) -> bool {
        match self {
            RowEvent::Tag { .. } | RowEvent::Attribute { .. } | RowEvent::Granted { .. } => true,
            RowEvent::Freed | RowEvent::Resumed => true,
            RowEvent::Ability { change, .. } => matches!(change, AbilityEvent::Ended { .. }),
            RowEvent::Died { .. } | RowEvent::Effect { .. } | RowEvent::Event(_) => false,
            RowEvent::Input { .. } | RowEvent::Liveness => false,
        }
    }
}

/// A step of an ability that other tasks and triggers receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AbilityEvent {
    Activated,
    Committed,
    Ended { cancelled: bool, grant: GrantId },
}

impl Flow<'_> {
    /// Queues the conditional effects that a definition applies on a trigger.
    pub(crate) fn then(&mut self, def: &EffectDef, spec: &Spec, key: EffectKey, trigger: Trigger, execution: u32) {
        let list = match trigger {
            Trigger::Applied => &def.then.applied,
            Trigger::Executed => &def.then.executed,
            Trigger::Expired => &def.then.expired,
            Trigger::Removed => &def.then.removed,
            Trigger::Overflow | Trigger::Hook => return,
        };
        for (position, &effect) in list.iter().enumerate() {
            self.then_one(spec, key, effect, trigger, execution, position);
        }
    }

    pub(crate) fn then_one(
        &mut self,
        spec: &Spec,
        key: EffectKey,
        effect: EffectId,
        trigger: Trigger,
        execution: u32,
        position: usize,
    ) {
        let mut child = Spec { effect, stacks: 1, ..spec.clone() };
        if let Some(x) = &mut child.extra {
            (x.duration, x.period) = (None, None);
        }
        let origin_id = child_origin_id(key, trigger as u64, execution, position);
        let (cause, depth) = (self.cause, self.depth + 1);
        let roll = self.roll.child([trigger as u64, execution as u64, position as u64]);
        self.sc.reactions.push_back(Reaction::Apply { from: spec.target, spec: child, origin_id, roll, cause, depth });
    }

    pub(crate) fn next_later(&mut self, target: usize, effect: EffectId) {
        let who = self.row(target).id;
        self.sc.reactions.push_back(Reaction::Next { who, effect, cause: self.cause });
    }

    /// Schedules a recheck of some effects of a row after the operation and its conditional effects.
    pub(crate) fn recheck_later(&mut self, target: usize, effects: &[u64]) {
        if effects.is_empty() {
            return;
        }
        let (who, cause) = (self.row(target).id, self.cause);
        match self.sc.rechecks.iter_mut().find(|r| r.who == who) {
            Some(known) => known.effects.extend(effects),
            None => self.sc.rechecks.push(Recheck { who, effects: effects.to_vec(), cause }),
        }
    }

    /// Schedules a recheck of every effect of a row that watches tags.
    pub(crate) fn recheck_all_later(&mut self, target: usize) {
        let watching = self.watching(target);
        self.recheck_later(target, &watching);
    }

    /// Withdraws the rechecks queued after the first `queued` reactions. When an application removes other effects, the
    /// recheck must follow the application's own conditional effects.
    pub(crate) fn withdraw_rechecks(&mut self, queued: usize) {
        if self.sc.reactions.len() <= queued {
            return;
        }
        let later: Vec<Reaction> = self.sc.reactions.drain(queued..).collect();
        for reaction in later {
            match reaction {
                Reaction::Recheck(Recheck { who, effects, .. }) => {
                    if let Some(target) = self.st.controllers.slot(who) {
                        self.recheck_later(target, &effects);
                    }
                }
                other @ Reaction::Apply { .. }
                | other @ Reaction::Next { .. }
                | other @ Reaction::Event { .. }
                | other @ Reaction::Resource { .. }
                | other @ Reaction::Ticks { .. } => self.sc.reactions.push_back(other),
            }
        }
    }

    /// Queues an event for a row, if the row has a listener for it.
    #[inline]
    pub(crate) fn notify(&mut self, target: usize, alerts: u8, row_event: impl FnOnce() -> RowEvent) {
        let listening = self.row(target).alert;
        if listening & (alerts | alert::ASLEEP) != 0 {
            self.notify_listeners(target, listening & alerts != 0, row_event());
        }
    }

    /// Wakes the capabilities that read what changed, and queues an event for the listeners, if there are any.
    fn notify_listeners(&mut self, target: usize, has_listeners: bool, row_event: RowEvent) {
        if self.row(target).alert & alert::ASLEEP != 0 {
            self.wake_for(target, &row_event);
        }
        if has_listeners {
            self.wake_waiting_inputs(target, &row_event);
            self.notify_anyway(target, row_event);
        }
    }

    /// Queues an event for a row.
    pub(crate) fn notify_anyway(&mut self, target: usize, row_event: RowEvent) {
        let (row, cause) = (self.row(target), self.cause);
        let activating = row.play().activations.iter().find(|a| a.state == AbilityState::Activating);
        let mut passives = Vec::new();
        if row_event.may_start_passives() {
            let passive = |a: &&Activation| self.ability(a.ability).is_some_and(|d| d.passive);
            passives.extend(row.play().activations.iter().filter(passive).map(|a| a.grant));
        }
        let activating = activating.map_or(0, |a| a.seq);
        let cutoff = EventCutoff { seq: row.next_seq, activating, grants: row.next_grant, passives };
        self.sc.row_events.push((row.id, row_event, cause, cutoff));
    }

    /// Ends an operation: queues the rechecks for changed tags after the operation's conditional effects, and then
    /// queues the events.
    #[inline]
    pub(crate) fn finish_operation(&mut self) {
        if self.sc.rechecks.is_empty() && self.sc.row_events.is_empty() {
            return;
        }
        self.sc.reactions.extend(self.sc.rechecks.drain(..).map(Reaction::Recheck));
        let depth = self.depth + 1;
        for (who, row_event, cause, cutoff) in self.sc.row_events.drain(..) {
            self.sc.reactions.push_back(Reaction::Event { who, row_event, cutoff, cause, depth });
        }
    }

    /// Runs reactions until none is left or the limit for one cause is reached.
    #[inline]
    pub(crate) fn react(&mut self) {
        let s = &*self.sc;
        let idle = s.reactions.is_empty() && s.rechecks.is_empty() && s.row_events.is_empty() && s.catch_ups.is_empty();
        if !idle {
            self.run_reactions();
        }
        if !self.non_finite.get_mut().is_empty() {
            self.diagnose_non_finite();
        }
        self.number_use();
        self.sc.reacted = 0;
        if !self.sc.origin_counts.is_empty() {
            self.sc.origin_counts.clear();
        }
    }

    /// Emits a diagnostic for each condition that was false because a part of it is not finite.
    #[cold]
    fn diagnose_non_finite(&mut self) {
        for (who, effect) in std::mem::take(self.non_finite.get_mut()) {
            self.diagnose(who, effect, DiagnosticKind::NonFiniteCondition);
        }
    }

    pub(crate) fn run_reactions(&mut self) {
        self.finish_operation();
        loop {
            let Some(reaction) = self.sc.reactions.pop_front() else {
                if !self.catch_up_one() {
                    break;
                }
                self.finish_operation();
                continue;
            };
            self.sc.reacted += 1;
            if self.sc.reacted > self.limits.reactions {
                let refusal = self.limit(LimitKind::Reactions, self.limits.reactions);
                self.diagnose(ControllerId::NONE, EffectId::NONE, DiagnosticKind::ReactionRefused { refusal });
                self.diagnose(ControllerId::NONE, EffectId::NONE, DiagnosticKind::Limit);
                self.sc.reactions.clear();
                self.sc.rechecks.clear();
                self.sc.row_events.clear();
                self.drop_catch_ups();
                break;
            }
            self.react_to(reaction);
            self.finish_operation();
        }
        self.sc.reacted = 0;
        self.sc.flipped.clear();
    }

    /// Runs one missed execution of an effect that is no longer inhibited. Returns false if none is left. Each missed
    /// execution runs after all other reactions, like due work. An execution that removes or inhibits its own effect
    /// therefore prevents the next one.
    fn catch_up_one(&mut self) -> bool {
        while let Some(&CatchUp { who, seq, cause }) = self.sc.catch_ups.first() {
            if let Some(target) = self.st.controllers.slot(who)
                && self.take_missed(target, seq)
            {
                (self.cause, self.depth) = (cause, 0);
                self.journal_reaction(who);
                self.execute(target, seq);
                return true;
            }
            self.sc.catch_ups.remove(0);
        }
        false
    }

    /// Takes one missed execution of an active effect. Returns false if none is left.
    fn take_missed(&mut self, target: usize, seq: u64) -> bool {
        let Some(at) = self.row(target).effect_at(seq) else { return false };
        let e = &self.row(target).effects[at];
        if e.inhibited() || e.missed() == 0 {
            return false;
        }
        self.row_mut(target).effects[at].cold_mut().missed -= 1;
        true
    }

    /// Drops the pending missed executions.
    fn drop_catch_ups(&mut self) {
        for CatchUp { who, seq, .. } in std::mem::take(&mut self.sc.catch_ups) {
            while let Some(target) = self.st.controllers.slot(who)
                && self.take_missed(target, seq)
            {}
        }
    }

    fn limit(&self, what: LimitKind, max: u32) -> Refusal {
        Refusal::Limit { what, max, link: self.cause.link }
    }

    fn react_to(&mut self, reaction: Reaction) {
        match reaction {
            Reaction::Apply { from, spec, origin_id, roll, cause, depth } => {
                let roll_before = std::mem::replace(&mut self.roll, roll);
                self.cause = cause;
                self.depth = depth;
                if from == spec.target {
                    self.journal_reaction(from);
                }
                let result = if depth > self.limits.chain_depth {
                    Err(self.limit(LimitKind::ChainDepth, self.limits.chain_depth))
                } else if self.skips_action_on(spec.target) {
                    self.roll = roll_before;
                    return;
                } else {
                    self.journal_foreign_action(from, spec.target, || ForeignAction::Apply(spec.clone(), origin_id));
                    self.apply(&spec, origin_id).map(|_| ())
                };
                self.roll = roll_before;
                // An earlier reaction may have removed the target, which is not an error.
                if let Err(refusal) = result
                    && !matches!(refusal, Refusal::StaleHandle | Refusal::NotReplicated { .. })
                {
                    self.diagnose(spec.target, spec.effect, DiagnosticKind::ReactionRefused { refusal });
                }
            }
            Reaction::Next { who, effect, cause } => {
                self.cause = cause;
                self.journal_reaction(who);
                if let Some(target) = self.st.controllers.slot(who) {
                    self.start_next(target, effect);
                }
            }
            Reaction::Event { who, row_event, cutoff, cause, depth } => {
                (self.cause, self.depth) = (cause, depth);
                self.journal_reaction(who);
                if depth > self.limits.chain_depth {
                    let refusal = self.limit(LimitKind::ChainDepth, self.limits.chain_depth);
                    self.diagnose(who, EffectId::NONE, DiagnosticKind::ReactionRefused { refusal });
                } else if let Some(target) = self.st.controllers.slot(who) {
                    self.handle_event(target, &row_event, &cutoff);
                }
            }
            Reaction::Resource { event, roll, cause, depth } => {
                (self.cause, self.depth) = (cause, depth);
                self.journal_reaction(event.who);
                let roll_before = std::mem::replace(&mut self.roll, roll);
                self.run_resource_hooks(event);
                self.roll = roll_before;
            }
            Reaction::Ticks { who, cast, cause } => {
                self.cause = cause;
                self.journal_reaction(who);
                if let Some(target) = self.st.controllers.slot(who) {
                    self.cast_at_once(target, cast);
                }
            }
            Reaction::Recheck(Recheck { who, effects, cause }) => {
                self.cause = cause;
                if let Some(target) = self.st.controllers.slot(who) {
                    self.journal_recheck(who);
                    self.recheck(target, effects);
                }
            }
        }
    }

    // Ongoing requirements and filters --------------------------------------------------------------------------

    /// Returns whether an effect's ongoing requirements are met. Tags that the effect grants itself do not count.
    pub(crate) fn ongoing_holds(&self, def: &EffectDef, own: &[TagId], target: usize) -> bool {
        let tags = &self.row(target).tags;
        let has = |t: TagId| {
            if own.is_empty() { self.has(target, t) } else { tags.has_besides(&self.rules.tags, t, own) }
        };
        def.ongoing_required.iter().all(|&t| has(t)) && !def.ongoing_blocked.iter().any(|&t| has(t))
    }

    /// Returns the effects of a row that watch tags.
    fn watching(&self, target: usize) -> Vec<u64> {
        self.row(target).effects.iter().filter(|e| e.watches()).map(|e| e.seq()).collect()
    }

    /// Rechecks every effect of a row that watches tags.
    pub(crate) fn recheck_all(&mut self, target: usize) {
        let watching = self.watching(target);
        self.recheck(target, watching);
    }

    /// Rechecks some effects of a row, in order of application.
    fn recheck(&mut self, target: usize, mut effects: Vec<u64>) {
        effects.sort_unstable();
        effects.dedup();
        for seq in effects {
            self.recheck_filters(target, seq);
            self.recheck_ongoing(target, seq);
        }
    }

    fn recheck_filters(&mut self, target: usize, seq: u64) {
        if let Some(at) = self.row(target).effect_at(seq) {
            let (who, source) = (self.row(target).id, self.row(target).effects[at].source);
            self.journal_source(who, source);
        }
        let row = self.row(target);
        let Some(at) = row.effect_at(seq) else { return };
        let (e, who) = (&row.effects[at], row.id);
        let (source, via) = (e.source, Via { source: e.source, key: e.key(who), effect: e.def });
        let Some(def) = self.def(e.def) else { return };
        let flips: Vec<(usize, u16)> = row
            .mods
            .iter()
            .enumerate()
            .filter(|(_, m)| m.seq() == seq)
            .filter(|(_, m)| {
                let d = &def.modifiers[m.index() as usize];
                let holds = || self.view().filter_holds_of(d, seq, source, target);
                d.is_filtered() && holds() == (m.off & FILTERED != 0)
            })
            .map(|(i, m)| (i, m.slot))
            .collect();
        for (i, slot) in flips {
            self.row_mut(target).mods[i].off ^= FILTERED;
            self.mark(target, slot as usize);
        }
        self.settle(via, Emit::Facts);
    }

    fn recheck_ongoing(&mut self, target: usize, seq: u64) {
        let row = self.row(target);
        let Some(at) = row.effect_at(seq) else { return };
        let (e, who) = (&row.effects[at], row.id);
        let (inhibited, effect) = (e.inhibited(), e.def);
        let Some(def) = self.def(effect) else { return };
        if !def.has_ongoing() {
            return;
        }
        // `own` contains the tags that the effect itself grants. Innate tags are left out, because their effect has no
        // requirements.
        let own = if inhibited { &[][..] } else { &def.granted_tags };
        let holds = self.ongoing_holds(&def, own, target);
        if holds != inhibited {
            return;
        }
        if !holds && def.on_ongoing_fail == OnOngoingFail::Remove {
            self.end(target, seq, RemoveReason::Ongoing, Some(Trigger::Removed));
            return;
        }
        if self.flips_too_often(who, seq) {
            self.diagnose(who, effect, DiagnosticKind::Cycle);
            return;
        }
        if holds {
            self.restore_effect(&def, target, seq);
        } else {
            self.inhibit_effect(&def, target, seq);
        }
    }

    fn flips_too_often(&mut self, who: ControllerId, seq: u64) -> bool {
        match self.sc.flipped.iter_mut().find(|f| f.0 == who && f.1 == seq) {
            Some(f) => {
                f.2 += 1;
                f.2 > self.limits.flips
            }
            None => {
                self.sc.flipped.push((who, seq, 1));
                false
            }
        }
    }

    fn via_of(&self, target: usize, seq: u64) -> Via {
        let row = self.row(target);
        row.effect_at(seq).map_or(Via::NOTHING, |at| {
            let e = &row.effects[at];
            Via { source: e.source, key: e.key(row.id), effect: e.def }
        })
    }

    fn inhibit_effect(&mut self, def: &EffectDef, target: usize, seq: u64) {
        let via = self.via_of(target, seq);
        let cause = self.because(CauseWhat::Removed(def.id), via.key.target, via.source);
        if let Some(at) = self.row(target).effect_at(seq) {
            self.row_mut(target).effects[at].set_inhibited(true);
        }
        self.switch_mods(target, seq, true);
        let mut flips = Vec::new();
        self.take_tags(def, &[], target, &mut flips);
        self.settle(via, Emit::Facts);
        self.emit_flips(target, &flips, via);
        self.changed_fact(target, seq, EffectChange::Inhibited);
        self.release_cues(def, target, via);
        self.cause = cause;
    }

    pub(super) fn restore_effect(&mut self, def: &EffectDef, target: usize, seq: u64) {
        let via = self.via_of(target, seq);
        let cause = self.because(CauseWhat::Applied(def.id), via.key.target, via.source);
        let now = self.row(target).clock.local(self.st.now);
        let policy = def.period_inhibition;
        // Missed executions run now, at most as many as one cause may have reactions. An effect that started inhibited
        // runs the execution of its application under every policy.
        let catches_up = policy == PeriodInhibition::CatchUp && def.period.is_some();
        let most = if catches_up { self.limits.reactions } else { def.executes_at_once() as u32 };
        let mut missed = 0;
        self.reschedule(target, seq, |e| {
            e.set_inhibited(false);
            if let (PeriodInhibition::Reset, Some(p)) = (policy, e.periodic_mut()) {
                (p.anchor, p.n) = (now, 1);
            }
            if let Some(cold) = e.cold.as_mut() {
                cold.missed = cold.missed.min(most);
                missed = cold.missed;
            }
        });
        self.switch_mods(target, seq, false);
        let mut flips = Vec::new();
        self.grant_tags(def, &[], target, &mut flips);
        self.settle(via, Emit::Facts);
        self.emit_flips(target, &flips, via);
        self.changed_fact(target, seq, EffectChange::Restored);
        let extra = self.row(target).effect_at(seq).and_then(|at| self.row(target).effects[at].extra().cloned());
        self.hold_cues(def, extra.as_ref(), target, via);
        if missed > 0 {
            let (who, cause) = (via.key.target, self.cause);
            self.sc.catch_ups.push(CatchUp { who, seq, cause });
        }
        self.cause = cause;
    }
}
