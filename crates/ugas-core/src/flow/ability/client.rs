//! Requests of the owning client of a running ability. A client may answer a task and apply an effect only where the
//! program of the ability allows it (`ClientAnswers` and `ClientEffects`). Server and predicting client use these
//! rules.

use super::super::{Flow, ForeignAction, View};
use crate::state::Activation;
use crate::{
    AbilityId, AbilityState, BadValue, ControllerId, EffectId, NameKind, Outcome, Refusal, SimTime, Spec, TaskKey,
};

/// The part of a sim's configuration that the rules about clients read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientClock {
    /// The time at which the client sent its request.
    pub(crate) at: SimTime,
    pub(crate) frame: SimTime,
    /// Whether the sim plays timelines.
    pub(crate) timelines: bool,
}

/// An activation that allows an application, with its level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllowedApplication {
    seq: u64,
    level: u32,
}

impl<'a> View<'a> {
    /// Checks whether the owning client may apply an effect to a target now: a waiting task of a committed activation
    /// must name the effect, and its budget must not be used up. If several activations allow it, the oldest counts.
    pub(crate) fn may_client_apply(
        &self,
        slot: usize,
        ability: AbilityId,
        effect: EffectId,
        target: ControllerId,
    ) -> Result<AllowedApplication, Refusal> {
        let row = self.row(slot);
        if !row.grants.iter().any(|g| g.ability == ability) {
            return Err(Refusal::NotGranted);
        }
        let def = self.def(effect).ok_or(Refusal::UnknownName { kind: NameKind::Effect, id: effect.0 })?;
        if self.is_for_authority(&def) {
            return Err(Refusal::AuthoritativeOnly);
        }
        // The controller is inactive and its tasks are paused.
        if !row.clock.active() {
            return Err(Refusal::Inactive);
        }
        let is_running = |a: &&Activation| a.ability == ability && a.state == AbilityState::Active && a.committed;
        let mut running = row.play().activations.iter().filter(is_running).peekable();
        running.peek().ok_or(Refusal::StaleHandle)?;
        let mut refusal = Refusal::Authority;
        for a in running {
            let (total, per_target) = a.client_counts(effect, target);
            for budget in self.client_effects(slot, a, effect) {
                if total < budget.total && per_target < budget.per_target {
                    return Ok(AllowedApplication { seq: a.seq, level: a.level });
                }
                let max = if per_target < budget.per_target { budget.total } else { budget.per_target };
                refusal = Refusal::EffectBudget { max };
            }
        }
        Err(refusal)
    }

    /// Returns the budgets of an effect that the waiting tasks of an activation name.
    fn client_effects<'v>(
        &'v self,
        slot: usize,
        a: &'v Activation,
        effect: EffectId,
    ) -> impl Iterator<Item = crate::rules::ClientEffect> + 'v {
        let tasks = self.row(slot).play().tasks.iter().filter(|t| t.of == a.seq);
        tasks.filter_map(move |t| {
            let def = self.ability(a.ability)?;
            def.program.task(t.pc)?.client.effect(effect).copied()
        })
    }

    /// Checks whether the owning client may answer a waiting task with a number of targets. A client may not answer a
    /// task that a timeline of this sim answers, nor answer before the earliest time that the data allows.
    pub(crate) fn may_client_answer(
        &self,
        slot: usize,
        key: TaskKey,
        targets: usize,
        clock: ClientClock,
    ) -> Result<(), Refusal> {
        let row = self.row(slot);
        let t = row.play().task(key.seq).ok_or(Refusal::StaleHandle)?;
        let a = row.play().activation(t.of).ok_or(Refusal::StaleHandle)?;
        let def = self.ability(a.ability).ok_or(Refusal::StaleHandle)?;
        // A fork and a playing montage are not waiting tasks. Code of an ability asks the host, not the client.
        let task = def.program.task(t.pc).filter(|task| task.kind.waits()).ok_or(Refusal::StaleHandle)?;
        if !task.client.answers || !task.kind.is_host_answered() {
            return Err(Refusal::Authority);
        }
        if clock.timelines && (task.answer.is_some() || self.montage_answers(slot, t.of, &task.kind)) {
            return Err(Refusal::Authority);
        }
        if targets > task.kind.client_targets() as usize {
            return Err(Refusal::BadValue { what: BadValue::Targets });
        }
        let authored = task.client.answers_after.map_or(SimTime::ZERO, |after| after.length(clock.frame));
        let earliest = authored.max(task.answer.as_ref().map_or(SimTime::ZERO, |answer| answer.after));
        let left = t.since + earliest - row.clock.local(clock.at);
        if earliest > SimTime::ZERO && left > SimTime::ZERO { Err(Refusal::TooEarly { left }) } else { Ok(()) }
    }

    /// Returns whether a timeline that an activation plays will complete a task of this kind.
    fn montage_answers(&self, slot: usize, of: u64, kind: &crate::task::TaskKind) -> bool {
        self.playing_timelines(slot, of).any(|(timeline, next)| {
            let notifies = timeline.notifies.get(next..).unwrap_or_default();
            kind.completes_on_montage_end(&timeline.montage)
                || notifies.iter().any(|n| kind.completes_on_notify(&n.name))
        })
    }
}

impl Flow<'_> {
    /// Applies an effect of an active ability at the request of the owning client, and counts the application. The
    /// outcome is [`Outcome::Done`] if the effect has a chance that failed.
    pub(crate) fn apply_from_ability(
        &mut self,
        who: ControllerId,
        ability: AbilityId,
        effect: EffectId,
        target: ControllerId,
    ) -> Result<Outcome, Refusal> {
        let slot = self.slot(who)?;
        let AllowedApplication { seq, level } = self.view().may_client_apply(slot, ability, effect, target)?;
        // In a replay, actions on other rows are skipped: they have already happened.
        let outcome = if self.skips_action_on(target) {
            Outcome::Done
        } else {
            let spec = Spec::new(effect, target).from(who).level(level).ability(ability);
            let origin_id = self.cause.root.0;
            self.journal_foreign_action(who, target, || ForeignAction::Apply(spec.clone(), origin_id));
            match self.apply(&spec, origin_id) {
                Ok(key) => Outcome::Applied(key),
                // A chance that failed was used: otherwise the client could try until it succeeds.
                Err(Refusal::Chance { .. }) => Outcome::Done,
                Err(refusal) => return Err(refusal),
            }
        };
        // The application may have removed the controller or ended the activation.
        if let Ok(slot) = self.slot(who)
            && let Some(a) = self.row_mut(slot).play_mut().activation_mut(seq)
        {
            a.count_client_effect(effect, target);
        }
        Ok(outcome)
    }
}
