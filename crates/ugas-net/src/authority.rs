//! Validation of the commands that clients send.
//!
//! The server checks the key and the tick of each command, its numeric values, its controller, the grant and the net
//! execution policy of the ability, the target, and whether the running ability allows the request. A client may apply
//! an effect only while a waiting task of a committed activation names the effect (`ClientEffects`), and may answer
//! only tasks that are open to clients (`ClientAnswers`). A valid command becomes an op, and the sim then checks this
//! op in the same way as an op of the host. [`MovementConfig`] contains the speed limits of moves.

mod anomaly;
mod cooldowns;
mod hit;
mod movement;
mod numbers;
mod reason;
mod target_policy;

pub(crate) use anomaly::AnomalyMeter;
pub use anomaly::{AnomalyScore, SUGGESTED_THRESHOLD};
pub use cooldowns::CooldownHistory;
pub(crate) use movement::MoveBudget;
pub use movement::MovementConfig;
pub(crate) use numbers::check_numbers;
pub use reason::RejectReason;
pub use target_policy::{AuthoredRange, PolicyDecision, TargetPolicy};

use crate::message::{Command, Request};
use crate::policy::{is_for_server, policy_of};
use crate::types::Tick;
use numbers::check_point;
use ugas_core::{AbilityId, Answer, ControllerId, EffectId, InputId, Op, Refusal, Sim, SimTime, Target, TaskKey};

/// Returns the distance between the anchors of two controllers.
pub(crate) fn distance(sim: &Sim, a: ControllerId, b: ControllerId) -> Option<f64> {
    let position = |id| sim.anchor(id).ok().flatten().map(|a| a.position);
    Some(length_between(position(a)?, position(b)?))
}

/// Returns the distance of a controller from a position.
fn distance_to(sim: &Sim, who: ControllerId, position: [f64; 3]) -> Option<f64> {
    Some(length_between(sim.anchor(who).ok().flatten()?.position, position))
}

/// Returns the distance between two positions.
fn length_between(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Validates the commands of one client against the current sim.
pub struct CommandValidator<'a> {
    /// The authoritative sim.
    pub sim: &'a Sim,
    /// The controllers of the client.
    pub owned: &'a [ControllerId],
    /// The target policy of the host.
    pub target_policy: &'a dyn TargetPolicy,
    /// The speed limits, which bound how far a target may have moved since the client saw it.
    pub movement: &'a MovementConfig,
    /// The time as of which the server checks the command. Client and server run a command at the end of the tick before
    /// the tick that the command names. The time is never in the future.
    pub at: SimTime,
}

impl CommandValidator<'_> {
    /// Returns the op of a command, or the reason why the command is rejected.
    pub fn validate(&self, command: &Command) -> Result<Op, (RejectReason, Refusal)> {
        let request = &command.request;
        check_numbers(request)?;
        let who = request.who();
        if !self.owned.contains(&who) {
            return Err((RejectReason::Authority, Refusal::Authority));
        }
        if !self.sim.exists(who) {
            return Err((RejectReason::Despawned, Refusal::StaleHandle));
        }
        match request {
            Request::Activate { ability, .. }
            | Request::Cancel { ability, .. }
            | Request::End { ability, .. }
            | Request::Commit { ability, .. }
            | Request::Apply { ability, .. } => self.check_granted(who, *ability)?,
            // The command may have been rejected because the ability was revoked. The server looks up the command.
            Request::Mispredicted { .. }
            | Request::Press { .. }
            | Request::Release { .. }
            | Request::Axis { .. }
            | Request::LetGo { .. }
            | Request::Complete { .. }
            | Request::Move { .. }
            | Request::Aim { .. } => {}
        }
        self.check_policy(request)?;
        match request {
            Request::Press { input, target, .. } => self.check_press(who, *input, *target)?,
            Request::Activate { ability, target, .. } => self.check_aim_of(who, *ability, *target)?,
            Request::Cancel { .. } | Request::End { .. } | Request::Commit { .. } => {}
            Request::Apply { ability, effect, target, .. } => {
                self.check_aim(Target::Controller(*target))?;
                self.check_range(who, *ability, *target)?;
                self.check_effect(who, *ability, *effect, *target)?;
            }
            Request::Complete { key, answer } => {
                let ability = self.check_answer(*key, answer)?;
                return Ok(Op::Complete { key: *key, answer: self.with_distance(who, ability, answer) });
            }
            Request::Aim { key, target, .. } => {
                let mut running = self.sim.activations(who).map_err(|r| (RejectReason::Despawned, r.into()))?;
                let ability = running.find(|a| a.key == *key).map(|a| a.ability);
                let ability = ability.ok_or((RejectReason::Idle, Refusal::StaleHandle))?;
                self.check_aim_of(who, ability, *target)?;
                self.sim.remote().check_aim(*key, *target).map_err(aim_rejection)?;
            }
            Request::Mispredicted { ability, target, .. } => {
                // The command may have been rejected because of its invalid target; the clean-up runs without a target.
                if self.check_aim_of(who, *ability, *target).is_err() {
                    return Ok(Op::Mispredicted { who, ability: *ability, target: Target::None });
                }
            }
            // The speed limit changes with each move, so the server checks it when it runs the move.
            Request::Release { .. } | Request::Axis { .. } | Request::LetGo { .. } | Request::Move { .. } => {}
        }
        Ok(request.op())
    }

    /// Checks the target that the first predicted tick of an ability chose: it must exist and be in range. The sim runs
    /// the other checks of the target when the ability runs.
    pub fn validate_first_aim(&self, command: &Command, aim: Target) -> Result<(), (RejectReason, Refusal)> {
        check_point(&aim)?;
        match command.request {
            Request::Activate { who, ability, .. } => self.check_aim_of(who, ability, aim),
            Request::Press { who, input, .. } => self.check_press(who, input, aim),
            Request::Release { .. }
            | Request::Axis { .. }
            | Request::LetGo { .. }
            | Request::Cancel { .. }
            | Request::End { .. }
            | Request::Commit { .. }
            | Request::Apply { .. }
            | Request::Complete { .. }
            | Request::Move { .. }
            | Request::Aim { .. }
            | Request::Mispredicted { .. } => Err((RejectReason::Target, Refusal::NoTarget)),
        }
    }

    /// Checks that the ability is granted.
    fn check_granted(&self, who: ControllerId, ability: AbilityId) -> Result<(), (RejectReason, Refusal)> {
        let grants = self.sim.grants(who).map_err(|r| (RejectReason::Despawned, r.into()))?;
        let is_granted = grants.iter().any(|g| g.ability == ability);
        if is_granted { Ok(()) } else { Err((RejectReason::Ability, Refusal::NotGranted)) }
    }

    fn check_policy(&self, request: &Request) -> Result<(), (RejectReason, Refusal)> {
        match policy_of(self.sim, request) {
            Ok(policy) if is_for_server(policy) => Ok(()),
            Ok(_) | Err(Refusal::Authority) => Err((RejectReason::Policy, Refusal::Authority)),
            Err(refusal) => Err((RejectReason::Despawned, refusal)),
        }
    }

    /// Checks the target for every ability bound to an input, since the press may activate any of them.
    fn check_press(&self, who: ControllerId, input: InputId, target: Target) -> Result<(), (RejectReason, Refusal)> {
        self.check_aim(target)?;
        let grants = self.sim.grants(who).map_err(|r| (RejectReason::Despawned, r.into()))?;
        for grant in grants.iter().filter(|g| g.input == Some(input)) {
            if let Target::Controller(target) = target {
                self.check_range(who, grant.ability, target)?;
            }
        }
        Ok(())
    }

    /// Checks that the running ability lets its client apply an effect to a target.
    fn check_effect(
        &self,
        who: ControllerId,
        ability: AbilityId,
        effect: EffectId,
        target: ControllerId,
    ) -> Result<(), (RejectReason, Refusal)> {
        let remote = self.sim.remote();
        // An honest client requests only effects that the data names.
        if !self.sim.rules().is_for_authority(effect) && !remote.names_client_effect(ability, effect) {
            return Err((RejectReason::EffectClass, Refusal::Authority));
        }
        remote.check_client_effect(who, ability, effect, target).map_err(|refusal| {
            let reason = if refusal == Refusal::AuthoritativeOnly {
                RejectReason::AuthoritativeOnly
            } else if matches!(refusal, Refusal::EffectBudget { .. }) {
                RejectReason::Budget
            } else {
                // The ability has ended, or the task that names the effect has.
                RejectReason::Idle
            };
            (reason, refusal)
        })
    }

    /// Checks the answer to a task and returns the ability of the task. The task must wait for an answer of its client,
    /// each target must be unique and in range, and the hit must match the server's state.
    fn check_answer(&self, key: TaskKey, answer: &Answer) -> Result<AbilityId, (RejectReason, Refusal)> {
        let tasks = self.sim.tasks(key.who).map_err(|r| (RejectReason::Despawned, r.into()))?;
        let Some(task) = tasks.iter().find(|t| t.key == key) else {
            return Err((RejectReason::Task, Refusal::StaleHandle));
        };
        self.sim.remote().check_client_answer(key, answer.targets.len(), self.at).map_err(|refusal| {
            let reason = if refusal == Refusal::Authority {
                RejectReason::Answer
            } else if matches!(refusal, Refusal::BadValue { .. }) {
                RejectReason::Target
            } else if matches!(refusal, Refusal::TooEarly { .. }) {
                RejectReason::TooSoon
            } else {
                RejectReason::Task
            };
            (reason, refusal)
        })?;
        for (at, &target) in answer.targets.iter().enumerate() {
            if answer.targets.iter().take(at).any(|&t| t == target) {
                return Err((RejectReason::Target, Refusal::NoTarget));
            }
            self.check_aim(Target::Controller(target))?;
            self.check_range(key.who, task.ability, target)?;
        }
        self.check_hit(key.who, task.ability, answer)?;
        Ok(task.ability)
    }

    fn check_aim_of(
        &self,
        who: ControllerId,
        ability: AbilityId,
        target: Target,
    ) -> Result<(), (RejectReason, Refusal)> {
        self.check_aim(target)?;
        match target {
            Target::Controller(target) => self.check_range(who, ability, target),
            Target::None | Target::Point(_) => Ok(()),
        }
    }

    fn check_aim(&self, target: Target) -> Result<(), (RejectReason, Refusal)> {
        match target {
            Target::Controller(id) if !self.sim.exists(id) => Err((RejectReason::Target, Refusal::StaleHandle)),
            Target::None | Target::Controller(_) | Target::Point(_) => Ok(()),
        }
    }

    fn check_range(
        &self,
        who: ControllerId,
        ability: AbilityId,
        target: ControllerId,
    ) -> Result<(), (RejectReason, Refusal)> {
        if who == target || self.target_policy.can_target(self.sim, who, ability, target) {
            return Ok(());
        }
        Err((RejectReason::Target, Refusal::NoTarget))
    }
}

/// Returns the reason for a rejected target: the client may not choose a target, or the target is not valid.
pub(crate) fn aim_rejection(refusal: Refusal) -> (RejectReason, Refusal) {
    let reason = if refusal == Refusal::Authority { RejectReason::Policy } else { RejectReason::Target };
    (reason, refusal)
}

/// Checks the tick of a command that arrives after the tick `now`: the command may be at most `max_early` ticks early
/// and at most `max_late` ticks late.
pub fn check_tick(tick: Tick, now: Tick, max_early: u32, max_late: u32) -> Result<(), RejectReason> {
    if tick.0 > now.0.saturating_add(max_early) {
        return Err(RejectReason::Future);
    }
    if tick.0.saturating_add(max_late) <= now.0 {
        return Err(RejectReason::Past);
    }
    Ok(())
}
