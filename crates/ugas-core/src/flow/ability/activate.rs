//! Activation of an ability: checks, validation, commit, start.

use super::super::task::ListKind;
use super::super::{AbilityEvent, Flow, RowEvent, Via};
use super::EndHow;
use super::check::ActivationAttempt;
use super::state::AbilityTransition;
use crate::rules::{AbilityDef, ActivationCheck};
use crate::state::{Activation, CauseWhat, alert};
use crate::{
    AbilityState, ActivationKey, BadValue, ControllerId, EventData, FactKind, GrantId, NameKind, Refusal, Role,
    SimTime, Simulated, SimulatedStep, Target, TraceKind, Which,
};

/// The parameters of an activation.
#[derive(Clone, Copy)]
pub(crate) struct ActivationRequest<'w> {
    pub(crate) target: Target,
    /// The origin id: identifies what caused the activation.
    pub(crate) origin_id: u64,
    pub(crate) event: Option<&'w EventData>,
    /// The controller that caused the activation, if it is not the owner.
    pub(crate) source: Option<ControllerId>,
}

impl Flow<'_> {
    /// Tries the selected grants in order. `origin_id` identifies the cause of the activation.
    pub(crate) fn activate(
        &mut self,
        slot: usize,
        which: Which,
        target: Target,
        origin_id: u64,
        event: Option<Box<EventData>>,
    ) -> Result<ActivationKey, Refusal> {
        if let Target::Point(p) = target
            && !p.iter().all(|v| v.is_finite())
        {
            return Err(Refusal::BadValue { what: BadValue::Position });
        }
        let source = event.as_ref().map(|e| e.instigator.unwrap_or(ControllerId::NONE));
        let request = ActivationRequest { target, origin_id, event: event.as_deref(), source };
        let (only, more) = {
            let mut selected = self.view().grants_of(slot, which)?;
            (selected.next(), selected.next().is_some())
        };
        let Some(only) = only else { return Err(Refusal::NotGranted) };
        if !more {
            return self.try_activate(slot, only, request);
        }
        let mut first = None;
        for grant in self.grants_of(slot, which)? {
            match self.try_activate(slot, grant, request) {
                Ok(key) => return Ok(key),
                Err(refusal) => first = first.or(Some(refusal)),
            }
        }
        Err(first.unwrap_or(Refusal::NotGranted))
    }

    /// Tries to activate one grant.
    pub(crate) fn try_activate(
        &mut self,
        slot: usize,
        grant: GrantId,
        request: ActivationRequest<'_>,
    ) -> Result<ActivationKey, Refusal> {
        let row = self.row(slot);
        let (Some(at), who) = (row.grant(grant), row.id) else { return Err(Refusal::NotGranted) };
        let ability = row.grants[at].ability;
        let Some(def) = &self.ability(ability) else {
            return Err(Refusal::UnknownName { kind: NameKind::Ability, id: ability.0 });
        };
        if let Target::Controller(other) = request.target {
            self.journal_source(who, other);
        }
        if let Some(other) = request.source {
            self.journal_source(who, other);
        }
        let from = self.step_ability(who, (ability, grant), AbilityState::Granted, AbilityTransition::Try);
        self.refresh(slot, at, def);
        let t = self.trying(slot, at, def, request);
        let checked = self.view().first_refusal(&t).and_then(|()| self.view().room_to_run(slot));
        let checked = checked.and_then(|()| self.view().check_hidden_reads(&t));
        if let Err(refusal) = checked {
            return Err(self.fail(who, (ability, grant), from, refusal));
        }
        if let Some(key) = self.activate_fast(&t, &request) {
            return Ok(key);
        }
        let seq = self.push_activation(slot, at, request);
        let key = self.key_of(slot, seq);
        self.assign_first_target(slot, seq);
        // With `Validation.Predicted`, a predicting client does not wait.
        if let Some(v) = def.validation.as_ref().filter(|v| !(v.predicted && self.work.role == Role::Client)) {
            let now = self.row(slot).clock.local(self.st.now);
            let deadline = if v.timeout == SimTime::NEVER { v.timeout } else { now + v.timeout };
            // The first predicted tick runs when the answer arrives.
            self.apply_first_target(slot, seq);
            self.request_validation(slot, seq, deadline, def, from);
            return Ok(key);
        }
        self.launch(slot, seq, def)?;
        Ok(key)
    }

    fn trying<'t>(
        &self,
        slot: usize,
        at: usize,
        def: &'t AbilityDef,
        request: ActivationRequest<'_>,
    ) -> ActivationAttempt<'t> {
        let t = self.view().attempt(slot, at, def, request.target);
        ActivationAttempt { source: request.source.unwrap_or(t.source), ..t }
    }

    /// Emits the fact about a predicted activation that was rejected, and runs its `OnMispredicted` list. The activation
    /// exists only while the list runs. An ability that is no longer granted has no list to run.
    pub(super) fn mispredicted(
        &mut self,
        who: ControllerId,
        ability: crate::AbilityId,
        target: Target,
    ) -> Result<(), Refusal> {
        let slot = self.slot(who)?;
        if self.ability(ability).is_none() {
            return Err(Refusal::UnknownName { kind: NameKind::Ability, id: ability.0 });
        }
        self.fact(who, Via::NOTHING, FactKind::Mispredicted { ability });
        let Some(at) = self.row(slot).grants.iter().position(|g| g.ability == ability) else { return Ok(()) };
        let request = ActivationRequest { target, origin_id: self.cause.root.0, event: None, source: None };
        let seq = self.push_activation(slot, at, request);
        // A client can get any of its commands rejected, and so could skip the rolls that it knows.
        self.with_chosen_rolls(|flow| flow.run_list(slot, seq, ListKind::Mispredicted));
        self.drop_activation(slot, seq);
        Ok(())
    }

    pub(super) fn fail(
        &mut self,
        who: ControllerId,
        (ability, grant): (crate::AbilityId, GrantId),
        from: AbilityState,
        refusal: Refusal,
    ) -> Refusal {
        if self.log.tracing {
            self.trace(who, TraceKind::AbilityRefused { ability, refusal });
        }
        self.step_ability(who, (ability, grant), from, AbilityTransition::Fail);
        refusal
    }

    fn push_activation(&mut self, slot: usize, at: usize, request: ActivationRequest<'_>) -> u64 {
        let g = &self.row(slot).grants[at];
        let (grant, ability, level) = (g.id, g.ability, g.level());
        self.push_new(slot, (grant, ability, level), request)
    }

    /// Creates an activation on an observer, to run the observers' list of an ability.
    pub(crate) fn push_simulated(&mut self, slot: usize, what: &Simulated, regs: usize) -> u64 {
        let request =
            ActivationRequest { target: what.target, origin_id: self.cause.root.0, event: None, source: None };
        // `u32::MAX` is not the id of any grant.
        let seq = self.push_new(slot, (GrantId(u32::MAX), what.ability, what.level), request);
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(seq) {
            a.repeats.resize(regs, 0);
            if let SimulatedStep::Tick(tick) = what.step {
                a.tick = tick;
            }
        }
        seq
    }

    fn push_new(&mut self, slot: usize, of: (GrantId, crate::AbilityId, u32), request: ActivationRequest<'_>) -> u64 {
        let ordinal = self.number(slot, request.origin_id);
        let (root, link, now) = (self.cause.root, self.cause.link, self.st.now);
        let row = self.row_mut(slot);
        let seq = row.take_seq();
        let (grant, ability, level) = of;
        let new = Activation {
            seq,
            origin_id: request.origin_id,
            ordinal,
            grant,
            ability,
            root,
            link,
            state: AbilityState::Activating,
            committed: false,
            level,
            target: request.target,
            start: row.clock.local(now),
            deadline: SimTime::NEVER,
            owned: 0,
            acts: 0,
            tick: 0,
            repeats: Vec::new(),
            client_effects: Vec::new(),
            event: request.event.map(|e| Box::new(e.clone())),
            source: request.source.unwrap_or(row.id),
            targets: Vec::new(),
            hit: None,
            held: 0.0,
            cues: Vec::new(),
            code: Vec::new(),
        };
        row.play_mut().activations.push(new);
        // The owner's death during the commit ends the activation too.
        row.alert |= alert::DEATH;
        seq
    }

    pub(crate) fn key_of(&self, slot: usize, seq: u64) -> ActivationKey {
        let row = self.row(slot);
        row.play().activation(seq).map_or(ActivationKey::NONE, |a| a.key(row.id))
    }

    /// Starts an activation whose checks passed: commits, cancels other abilities and starts the tasks. The commit
    /// comes first, so that a refused commit cancels no other ability.
    pub(super) fn launch(&mut self, slot: usize, seq: u64, def: &AbilityDef) -> Result<(), Refusal> {
        let row = self.row(slot);
        let Some(a) = row.play().activation(seq) else { return Err(Refusal::StaleHandle) };
        let (who, grant, level, state, source) = (row.id, a.grant, a.level, a.state, a.source);
        let ids = (def.id, grant);
        let cause = self.because(CauseWhat::Activated(def.id), who, source);
        let link = self.cause.link;
        if !def.manual
            && let Err(refusal) = self.commit(slot, seq)
        {
            self.drop_activation(slot, seq);
            self.fail(who, ids, state, refusal);
            self.cause = cause;
            return Err(refusal);
        }
        let is_there = |flow: &Self| flow.row(slot).play().activation(seq).is_some();
        if is_there(self) {
            if def.retrigger && !def.multiple {
                self.cancel_where(slot, |_, a| a.grant == grant && a.seq != seq);
            }
            self.cancel_group(slot, def.group, seq);
        }
        if !is_there(self) {
            // The cost, or an ability that was cancelled, may have removed the grant.
            self.cause = cause;
            return Ok(());
        }
        let state = self.step_ability(who, ids, state, AbilityTransition::Start);
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(seq) {
            (a.state, a.link) = (state, link);
        }
        self.refresh_listeners(slot);
        let activation = self.key_of(slot, seq);
        self.fact(who, Via::NOTHING, FactKind::AbilityActivated { ability: def.id, grant, level, activation });
        self.cancel_matching(slot, &def.cancels, seq);
        let (ability, key) = (def.id, activation);
        self.notify(slot, alert::ABILITY, || RowEvent::Ability { ability, key, change: AbilityEvent::Activated });
        if def.cast.is_none() || !def.manual && def.cast.is_some_and(|c| c.initial) {
            self.run_list(slot, seq, ListKind::Tick);
        }
        if self.is_active(slot, seq) {
            self.start_tasks(slot, seq);
        }
        self.maybe_done(slot, seq);
        self.cause = cause;
        Ok(())
    }

    fn is_active(&self, slot: usize, seq: u64) -> bool {
        self.row(slot).play().activation(seq).is_some_and(|a| a.state == AbilityState::Active)
    }

    /// Completes an activation if nothing keeps it active: it has no waiting task, no cast, and is not passive.
    pub(crate) fn maybe_done(&mut self, slot: usize, seq: u64) {
        let Some(a) = self.row(slot).play().activation(seq).filter(|a| a.state == AbilityState::Active) else {
            return;
        };
        let lasts = self.ability(a.ability).is_some_and(|d| d.passive || d.lasts_with_tag());
        let casts = self.row(slot).play().cast.as_ref().is_some_and(|c| c.of == seq);
        if !lasts && !casts && !self.has_tasks(slot, seq) {
            self.finish(slot, seq, EndHow::Ended);
        }
    }

    /// Repeats the checks of an activation after its validation. The activation does not block itself.
    pub(super) fn recheck_activation(&self, slot: usize, seq: u64, def: &AbilityDef) -> Result<(), Refusal> {
        let row = self.row(slot);
        let Some(a) = row.play().activation(seq) else { return Err(Refusal::StaleHandle) };
        let at = row.grant(a.grant).ok_or(Refusal::NotGranted)?;
        let t = self.view().attempt(slot, at, def, a.target);
        let skip = ActivationCheck::AlreadyActive.bit();
        self.view().first_refusal(&ActivationAttempt { source: a.source, skip, level: a.level, ..t })
    }
}
