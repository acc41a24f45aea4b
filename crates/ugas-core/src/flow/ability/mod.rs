//! Abilities: grant, activate, commit, end.

mod activate;
mod cancel;
mod check;
mod client;
mod commit;
mod cost;
mod early;
mod fast;
mod finish;
mod grant;
mod listen;
mod predicted_target;
mod reads;
mod state;
mod status;
mod trigger;
mod validate;
mod view;

pub(crate) use activate::ActivationRequest;
pub(crate) use check::{ActivationAttempt, distance};
pub(crate) use client::ClientClock;
pub(crate) use finish::EndHow;
pub(crate) use predicted_target::PredictedTargets;
pub(crate) use status::CachedRefusal;
pub(crate) use trigger::TriggerCause;

use super::Flow;
use crate::{ActivationKey, ControllerId, Op, Outcome, Refusal, Target, Which};

impl Flow<'_> {
    /// Runs an activation op.
    pub(crate) fn activate_op(
        &mut self,
        who: ControllerId,
        which: Which,
        target: Target,
    ) -> Result<ActivationKey, Refusal> {
        let slot = self.slot(who)?;
        let origin_id = self.cause.root.0;
        let result = self.activate(slot, which, target, origin_id, None);
        if result.is_ok() {
            self.finish_operation();
            self.publish(slot);
        }
        result
    }

    /// Runs the ops on abilities that have no function of their own.
    pub(crate) fn ability_op(&mut self, op: &Op) -> Result<Outcome, Refusal> {
        let done = |_: ()| Outcome::Done;
        match op {
            Op::Grant { who, grant } => self.grant_op(*who, *grant).map(Outcome::Granted),
            Op::Revoke { who, which } => self.revoke_op(*who, *which).map(done),
            Op::GrantSet { who, set } => self.grant_set(*who, *set).map(Outcome::GrantedSet),
            Op::RevokeSet { who, handle } => self.revoke_set_op(*who, *handle).map(done),
            Op::SetLevel { who, grant, level } => self.set_level(*who, *grant, *level).map(done),
            Op::SetParam { who, grant, param, value } => self.set_param(*who, *grant, *param, *value).map(done),
            Op::Restrict { who, grant, name, on } => self.restrict(*who, *grant, *name, *on).map(done),
            Op::Activate { who, which, target } => self.activate_op(*who, *which, *target).map(Outcome::Activated),
            Op::Cancel { who, which } => self.cancel_op(*who, *which).map(done),
            Op::Interrupt { who, which } => self.interrupt_op(*who, *which).map(done),
            Op::End { who, which } => self.end_op(*who, *which).map(done),
            Op::Commit { who, which } => self.commit_op(*who, *which).map(done),
            Op::Validate { who, which, ok } => self.validate_op(*who, *which, *ok).map(done),
            Op::Mispredicted { who, ability, target } => self.mispredicted(*who, *ability, *target).map(done),
            Op::Aim { key, target, tick } => self.aim_op(*key, *target, *tick).map(done),
            Op::Event(event) => self.send_event(event.clone()).map(done),
            Op::Press { who, input, target } => self.press(*who, *input, *target),
            Op::Release { who, input } => self.release(*who, *input).map(done),
            Op::Axis { who, input, value } => self.axis(*who, *input, *value),
            Op::LetGo { who, input } => self.let_go(*who, *input).map(done),
            Op::Complete { key, answer } => self.complete(*key, answer).map(done),
            Op::ApplyFromAbility { who, ability, effect, target } => {
                self.apply_from_ability(*who, *ability, *effect, *target)
            }
            Op::Block { who, tag, source } => self.block_op(*who, *tag, *source).map(done),
            Op::Unblock { who, tag, source } => self.unblock_op(*who, *tag, *source).map(done),
            Op::Enable { who, capability, on } => self.enable_op(*who, *capability, *on).map(done),
            Op::SetTick { who, capability, ticks, interval } => {
                self.set_tick_op(*who, *capability, *ticks, *interval).map(done)
            }
            Op::Spawn(_)
            | Op::SpawnMany { .. }
            | Op::Despawn { .. }
            | Op::Apply(_)
            | Op::ApplyToMany { .. }
            | Op::ApplyAll { .. }
            | Op::Remove { .. }
            | Op::RemoveMatching { .. }
            | Op::Change { .. }
            | Op::ChangeMatching { .. }
            | Op::AddSet { .. }
            | Op::RemoveSet { .. }
            | Op::SetActive { .. }
            | Op::SetRate { .. }
            | Op::Possess { .. }
            | Op::Move { .. }
            | Op::Define(_)
            | Op::Undefine(_)
            | Op::ModifyResource { .. } => Ok(Outcome::Done),
        }
    }
}
