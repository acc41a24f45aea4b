//! Abilities: granted, tried, committed, ended.

use super::{Flow, Notice, Via};
use crate::state::Grant;
use crate::{
    AbilityGrant, ActivationKey, ControllerId, EventData, FactKind, GrantId, Op, Outcome, ParamId, Refusal, Target,
    Which,
};

/// How an activation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndHow {
    Ended,
    Cancelled,
    Interrupted,
}

impl Flow<'_> {
    /// Grants an ability; `by` is the effect that takes it away again, or 0.
    pub(crate) fn grant_ability(&mut self, target: usize, g: AbilityGrant, by: u64, via: Via) -> GrantId {
        let row = self.row_mut(target);
        let id = GrantId(row.next_grant);
        row.next_grant += 1;
        let AbilityGrant { ability, level, input } = g;
        row.grants.push(Grant { id, ability, level, input, by, more: None, status: Default::default() });
        let who = row.id;
        self.fact(who, via, FactKind::Granted { ability, grant: id, level, input });
        id
    }

    pub(crate) fn revoke_grant(&mut self, target: usize, grant: GrantId, via: Via) {
        let Some(at) = self.row(target).grant(grant) else { return };
        let row = self.row_mut(target);
        let (who, g) = (row.id, row.grants.remove(at));
        self.fact(who, via, FactKind::Revoked { ability: g.ability, grant });
    }

    /// Everything an op asks about abilities.
    pub(crate) fn ability_op(&mut self, op: &Op) -> Result<Outcome, Refusal> {
        let done = |_: ()| Outcome::Done;
        let birth = self.cause.root.0;
        match op {
            Op::Grant { who, grant } => self.grant_op(*who, *grant).map(Outcome::Granted),
            Op::Revoke { who, which } => self.revoke_op(*who, *which).map(done),
            Op::GrantSet { who, set } => self.grant_set(*who, *set).map(Outcome::GrantedSet),
            Op::RevokeSet { who, handle } => self.revoke_set(*who, *handle).map(done),
            Op::SetLevel { who, grant, level } => self.set_level(*who, *grant, *level).map(done),
            Op::SetParam { who, grant, param, value } => self.set_param(*who, *grant, *param, *value).map(done),
            Op::Restrict { who, grant, name, on } => self.restrict(*who, *grant, *name, *on).map(done),
            Op::Activate { who, which, target } => {
                let slot = self.slot(*who)?;
                self.activate(slot, *which, *target, birth, None).map(Outcome::Activated)
            }
            Op::Cancel { who, which } => self.cancel_op(*who, *which).map(done),
            Op::Interrupt { who, which } => self.interrupt_op(*who, *which).map(done),
            Op::End { who, which } => self.end_op(*who, *which).map(done),
            Op::Commit { who, which } => self.commit_op(*who, *which).map(done),
            Op::Validate { who, which, ok } => self.validate_op(*who, *which, *ok).map(done),
            Op::Event(event) => self.send_event(event.clone()).map(done),
            Op::Press { who, input, target } => self.press(*who, *input, *target),
            Op::Release { who, input } => self.release(*who, *input).map(done),
            Op::Complete { key, answer } => self.complete(*key, answer).map(done),
            _ => Ok(Outcome::Done),
        }
    }

    pub(crate) fn grant_op(&mut self, _: ControllerId, _: AbilityGrant) -> Result<GrantId, Refusal> {
        Err(Refusal::NotGranted)
    }
    pub(crate) fn revoke_op(&mut self, _: ControllerId, _: Which) -> Result<(), Refusal> {
        Err(Refusal::NotGranted)
    }
    pub(crate) fn set_level(&mut self, _: ControllerId, _: GrantId, _: u32) -> Result<(), Refusal> {
        Err(Refusal::NotGranted)
    }
    pub(crate) fn set_param(&mut self, _: ControllerId, _: GrantId, _: ParamId, _: f64) -> Result<(), Refusal> {
        Err(Refusal::NotGranted)
    }
    pub(crate) fn restrict(&mut self, _: ControllerId, _: GrantId, _: ParamId, _: bool) -> Result<(), Refusal> {
        Err(Refusal::NotGranted)
    }
    pub(crate) fn cancel_op(&mut self, _: ControllerId, _: Which) -> Result<(), Refusal> {
        Err(Refusal::NotGranted)
    }
    pub(crate) fn end_op(&mut self, _: ControllerId, _: Which) -> Result<(), Refusal> {
        Err(Refusal::NotGranted)
    }
    pub(crate) fn commit_op(&mut self, _: ControllerId, _: Which) -> Result<(), Refusal> {
        Err(Refusal::NotGranted)
    }
    pub(crate) fn validate_op(&mut self, _: ControllerId, _: Which, _: bool) -> Result<(), Refusal> {
        Err(Refusal::NotGranted)
    }

    /// Tries grants in order; `birth` tells where the activation comes from.
    pub(crate) fn activate(
        &mut self,
        _: usize,
        _: Which,
        _: Target,
        _: u64,
        _: Option<Box<EventData>>,
    ) -> Result<ActivationKey, Refusal> {
        Err(Refusal::NotGranted)
    }

    /// Commits an activation: cost, cooldown, owned tags. Nothing if that was done.
    pub(crate) fn commit(&mut self, _slot: usize, _seq: u64) -> Result<(), Refusal> {
        Ok(())
    }

    /// Ends an activation; nothing if it is gone or ending.
    pub(crate) fn finish(&mut self, _slot: usize, _seq: u64, _how: EndHow) {}

    /// Ends an activation as completed if nothing of it is left to wait for: no task, no cast, not passive, no code.
    pub(crate) fn maybe_done(&mut self, _slot: usize, _seq: u64) {}

    /// Computes anew what a row wants to hear of.
    pub(crate) fn relisten(&mut self, _slot: usize) {}

    /// What a row is told after a verb: cancels first, then waits, then triggers, then passives.
    pub(crate) fn hear(&mut self, target: usize, notice: &Notice) {
        self.wake(target, notice);
    }

    pub(crate) fn validation_due(&mut self, _: usize, _: u64) {}
}
