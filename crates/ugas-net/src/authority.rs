//! Validation of the commands that clients send.
//!
//! The server checks each command in a fixed order: key and tick, numeric values, controller, grant of the ability, net
//! execution policy, target or position, effect, and whether the ability that applies the effect is active and
//! committed. A valid command becomes an op, and the sim then checks this op in the same way as an op of the host.

mod cooldowns;

pub use cooldowns::CooldownHistory;

use crate::carrier::CarrierError;
use crate::message::{Command, Request};
use crate::policy::{is_for_server, policy_of};
use crate::types::Tick;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use ugas_core::{
    AbilityId, AbilityState, Anchor, Answer, BadValue, ControllerId, EffectId, InputId, Op, Refusal, Sim, Target,
    TaskKey,
};
use ugas_doc::{Ability, AbilityTask, Value};

/// Why the server rejected a packet, a message or a command of a client. `Display` writes a short phrase for people.
///
/// ```
/// use ugas_net::authority::RejectReason;
/// assert_eq!(RejectReason::Past.to_string(), "tick too far in the past");
/// assert_eq!(RejectReason::Early.to_string(), "ability on cooldown at the tick of the command");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RejectReason {
    /// The client exceeded its packet rate.
    PacketRate,
    /// An invalid datagram: too long, malformed, from an unknown peer, or with an ack of a packet that was never sent.
    Packet,
    /// A duplicate datagram, from the network or from a replay attack.
    Duplicate,
    /// A datagram older than the newest one received. Its content is resent.
    Outdated,
    /// A malformed payload.
    Payload,
    /// A malformed or unexpected reliable message.
    Message,
    /// The client exceeded its command rate.
    CommandRate,
    /// The tick of the command is too far in the future.
    Future,
    /// The tick of the command is too far in the past.
    Past,
    /// The key was used for another command, is out of order, or has a Base that is too high. The reason is the same if
    /// the client requests `OnMispredicted` for a command that was not rejected.
    Key,
    /// The client does not own the controller.
    Authority,
    /// The ability is not granted.
    Ability,
    /// The net execution policy of the ability does not allow the request, or clients may not cancel the ability.
    Policy,
    /// The target does not exist or is not valid.
    Target,
    /// The ability does not name the effect in its task lists.
    EffectClass,
    /// Only the server may apply the effect.
    AuthoritativeOnly,
    /// The client applies an effect of an ability that is inactive or not committed, or changes the target of an
    /// activation that has ended.
    Idle,
    /// The task is not waiting for an answer, or a client may not answer it.
    Task,
    /// The target policy rejects the position that the client moves to.
    Pose,
    /// A number is out of range or not finite.
    Number,
    /// The command is late, and its ability was still on cooldown at the tick of the command.
    Early,
    /// The sim refused the op, for example because of cost, cooldown or tags.
    Rules,
}

impl fmt::Display for RejectReason {
    /// Writes a short phrase for people, such as `tick too far in the past`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RejectReason::PacketRate => "packet rate exceeded",
            RejectReason::Packet => "malformed packet",
            RejectReason::Duplicate => "duplicate packet",
            RejectReason::Outdated => "outdated packet",
            RejectReason::Payload => "malformed payload",
            RejectReason::Message => "malformed or unexpected message",
            RejectReason::CommandRate => "command rate exceeded",
            RejectReason::Future => "tick too far in the future",
            RejectReason::Past => "tick too far in the past",
            RejectReason::Key => "invalid prediction key",
            RejectReason::Authority => "controller not owned by the client",
            RejectReason::Ability => "ability not granted",
            RejectReason::Policy => "request not allowed for this ability",
            RejectReason::Target => "invalid target",
            RejectReason::EffectClass => "effect not named by the ability",
            RejectReason::AuthoritativeOnly => "effect reserved for the server",
            RejectReason::Idle => "ability not active or not committed",
            RejectReason::Task => "task does not accept this answer",
            RejectReason::Pose => "position rejected by the target policy",
            RejectReason::Number => "number not finite or out of range",
            RejectReason::Early => "ability on cooldown at the tick of the command",
            RejectReason::Rules => "refused by the simulation",
        })
    }
}

impl From<&CarrierError> for RejectReason {
    fn from(error: &CarrierError) -> RejectReason {
        match error {
            CarrierError::Duplicate { .. } => RejectReason::Duplicate,
            CarrierError::Stale { .. } => RejectReason::Outdated,
            CarrierError::TooLong { .. }
            | CarrierError::BacklogFull { .. }
            | CarrierError::Truncated { .. }
            | CarrierError::UnknownFlags { .. }
            | CarrierError::EmptySection
            | CarrierError::NoReference
            | CarrierError::UnsentAcknowledged { .. }
            | CarrierError::FragmentAhead { .. } => RejectReason::Packet,
        }
    }
}

/// The maximum number of targets of one answer.
const MAX_TARGETS: usize = 64;
/// The largest coordinate: squares and sums of larger coordinates lose their precision.
const MAX_COORDINATE: f64 = 1e9;

/// Decides which targets and positions are valid, for example by line of sight, team or movement speed. Set the policy
/// with [`Server::set_target_policy`](crate::server::Server::set_target_policy).
pub trait TargetPolicy: Send + Sync {
    /// Returns whether `who` may target `target` with `ability`.
    fn can_target(&self, sim: &Sim, who: ControllerId, ability: AbilityId, target: ControllerId) -> bool;

    /// Returns whether `who` may move to a position, for example whether `who` is fast enough. The default accepts
    /// every position.
    fn can_move(&self, sim: &Sim, who: ControllerId, to: &Anchor) -> bool {
        let _ = (sim, who, to);
        true
    }
}

/// A target policy that checks the authored range of an ability, measured between anchors. A controller without an
/// anchor is always in range.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuthoredRange;

impl TargetPolicy for AuthoredRange {
    fn can_target(&self, sim: &Sim, who: ControllerId, ability: AbilityId, target: ControllerId) -> bool {
        let Some(range) = sim.ability_doc(ability).and_then(|doc| doc.max_range) else { return true };
        let position = |id| sim.anchor(id).ok().flatten().map(|a| a.position);
        let (Some(here), Some(there)) = (position(who), position(target)) else { return true };
        let square: f64 = here.iter().zip(there).map(|(a, b)| (a - b) * (a - b)).sum();
        square <= range * range
    }
}

/// Validates the commands of one client against the current sim.
pub struct CommandValidator<'a> {
    /// The authoritative sim.
    pub sim: &'a Sim,
    /// The controllers of the client.
    pub owned: &'a [ControllerId],
    /// The target policy of the host.
    pub target_policy: &'a dyn TargetPolicy,
    /// The effects that each ability may apply.
    pub effects: &'a AllowedEffects,
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
        let level = match request {
            Request::Activate { ability, .. }
            | Request::Cancel { ability, .. }
            | Request::End { ability, .. }
            | Request::Commit { ability, .. }
            | Request::Apply { ability, .. }
            | Request::Mispredicted { ability, .. } => self.check_granted(who, *ability)?,
            Request::Press { .. }
            | Request::Release { .. }
            | Request::Complete { .. }
            | Request::Move { .. }
            | Request::Aim { .. } => 1,
        };
        self.check_policy(request)?;
        match request {
            Request::Press { input, target, .. } => self.check_press(who, *input, *target)?,
            Request::Activate { ability, target, .. } => self.check_aim_of(who, *ability, *target)?,
            Request::Cancel { .. } | Request::End { .. } | Request::Commit { .. } => {}
            Request::Apply { ability, effect, target, .. } => {
                self.check_aim(Target::Controller(*target))?;
                self.check_range(who, *ability, *target)?;
                if self.sim.rules().is_for_authority(*effect) {
                    return Err((RejectReason::AuthoritativeOnly, Refusal::AuthoritativeOnly));
                }
                if !self.effects.allows(self.sim, *ability, *effect) {
                    return Err((RejectReason::EffectClass, Refusal::Authority));
                }
                self.check_running(who, *ability)?;
            }
            Request::Complete { key, answer } => self.check_answer(*key, answer)?,
            Request::Move { anchor, .. } => {
                if !self.target_policy.can_move(self.sim, who, anchor) {
                    return Err((RejectReason::Pose, Refusal::Authority));
                }
            }
            Request::Aim { key, target } => {
                let mut running = self.sim.activations(who).map_err(|r| (RejectReason::Authority, r.into()))?;
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
            Request::Release { .. } => {}
        }
        Ok(request.op(level))
    }

    /// Checks the target that the first predicted tick of an ability chose: it must exist and be in range. The sim runs
    /// the other checks of the target when the ability runs.
    pub fn validate_first_aim(&self, command: &Command, aim: Target) -> Result<(), (RejectReason, Refusal)> {
        check_point(&aim)?;
        match command.request {
            Request::Activate { who, ability, .. } => self.check_aim_of(who, ability, aim),
            Request::Press { who, input, .. } => self.check_press(who, input, aim),
            Request::Release { .. }
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

    /// Checks that the ability is granted and returns the level of the grant.
    fn check_granted(&self, who: ControllerId, ability: AbilityId) -> Result<u32, (RejectReason, Refusal)> {
        let grants = self.sim.grants(who).map_err(|r| (RejectReason::Authority, r.into()))?;
        let grant = grants.iter().find(|g| g.ability == ability);
        grant.map(|g| g.level).ok_or((RejectReason::Ability, Refusal::NotGranted))
    }

    fn check_policy(&self, request: &Request) -> Result<(), (RejectReason, Refusal)> {
        match policy_of(self.sim, request) {
            Ok(policy) if is_for_server(policy) => Ok(()),
            Ok(_) | Err(Refusal::Authority) => Err((RejectReason::Policy, Refusal::Authority)),
            Err(refusal) => Err((RejectReason::Authority, refusal)),
        }
    }

    /// Checks the target for every ability bound to an input, since the press may activate any of them.
    fn check_press(&self, who: ControllerId, input: InputId, target: Target) -> Result<(), (RejectReason, Refusal)> {
        self.check_aim(target)?;
        let grants = self.sim.grants(who).map_err(|r| (RejectReason::Authority, r.into()))?;
        for grant in grants.iter().filter(|g| g.input == Some(input)) {
            if let Target::Controller(target) = target {
                self.check_range(who, grant.ability, target)?;
            }
        }
        Ok(())
    }

    /// Checks that an ability is active and committed, which is required to apply its effects.
    fn check_running(&self, who: ControllerId, ability: AbilityId) -> Result<(), (RejectReason, Refusal)> {
        let mut running = self.sim.activations(who).map_err(|r| (RejectReason::Authority, r.into()))?;
        let is = |a: ugas_core::ActivationView| a.ability == ability && a.state == AbilityState::Active && a.committed;
        if running.any(is) { Ok(()) } else { Err((RejectReason::Idle, Refusal::Inactive)) }
    }

    /// Checks the answer to a task. The task must wait for an answer, and each target must be unique and in range.
    fn check_answer(&self, key: TaskKey, answer: &Answer) -> Result<(), (RejectReason, Refusal)> {
        let tasks = self.sim.tasks(key.who).map_err(|r| (RejectReason::Authority, r.into()))?;
        let Some(task) = tasks.iter().find(|t| t.key == key) else {
            return Err((RejectReason::Task, Refusal::StaleHandle));
        };
        if answer.targets.len() > MAX_TARGETS {
            return Err((RejectReason::Target, Refusal::BadValue { what: BadValue::Number }));
        }
        for (at, &target) in answer.targets.iter().enumerate() {
            if answer.targets.iter().take(at).any(|&t| t == target) {
                return Err((RejectReason::Target, Refusal::NoTarget));
            }
            self.check_aim(Target::Controller(target))?;
            self.check_range(key.who, task.ability, target)?;
        }
        Ok(())
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

/// Returns whether a number is zero or normal. Subnormal numbers are rejected: they only slow down sums.
fn is_normal_or_zero(v: &f64) -> bool {
    *v == 0.0 || v.is_normal()
}

fn is_coordinate(v: &f64) -> bool {
    is_normal_or_zero(v) && v.abs() <= MAX_COORDINATE
}

fn check_point(target: &Target) -> Result<(), (RejectReason, Refusal)> {
    match target {
        Target::Point(p) if !p.iter().all(is_coordinate) => Err(BAD_NUMBER),
        Target::None | Target::Controller(_) | Target::Point(_) => Ok(()),
    }
}

const BAD_NUMBER: (RejectReason, Refusal) = (RejectReason::Number, Refusal::BadValue { what: BadValue::Number });

/// Checks the numbers of a request. Clients check their own requests too, so that they do not predict what the server
/// rejects.
pub(crate) fn check_numbers(request: &Request) -> Result<(), (RejectReason, Refusal)> {
    let hit = |h: &ugas_core::Hit| h.position.iter().flatten().chain(&h.distance).all(is_coordinate);
    let is_valid = match request {
        Request::Press { target, .. }
        | Request::Activate { target, .. }
        | Request::Aim { target, .. }
        | Request::Mispredicted { target, .. } => return check_point(target),
        Request::Complete { answer, .. } => is_normal_or_zero(&answer.value) && answer.hit.as_ref().is_none_or(hit),
        Request::Move { anchor, .. } => anchor.position.iter().chain(&anchor.facing).all(is_coordinate),
        Request::Release { .. }
        | Request::Cancel { .. }
        | Request::End { .. }
        | Request::Commit { .. }
        | Request::Apply { .. } => true,
    };
    if is_valid { Ok(()) } else { Err(BAD_NUMBER) }
}

/// The effects that each ability may apply at a client's request: the effects that the ability's task lists name.
#[derive(Clone, Debug, Default)]
pub struct AllowedEffects {
    known: BTreeMap<AbilityId, BTreeSet<EffectId>>,
}

impl AllowedEffects {
    /// Collects the effects of all abilities of the rules.
    pub fn of(sim: &Sim) -> AllowedEffects {
        let rules = sim.rules();
        let list = rules.ability_list().filter_map(|(id, _)| Some((id, effects_of(sim, rules.ability_doc(id)?))));
        AllowedEffects { known: list.collect() }
    }

    /// Returns whether the ability's task lists name the effect.
    pub fn allows(&self, sim: &Sim, ability: AbilityId, effect: EffectId) -> bool {
        match self.known.get(&ability) {
            Some(list) => list.contains(&effect),
            // The ability was defined at run time.
            None => sim.ability_doc(ability).is_some_and(|doc| effects_of(sim, doc).contains(&effect)),
        }
    }
}

/// Returns the effects that an ability's task lists name.
fn effects_of(sim: &Sim, doc: &Ability) -> BTreeSet<EffectId> {
    let mut found = BTreeSet::new();
    let lists = [&doc.tasks, &doc.on_tick, &doc.on_predicted_tick, &doc.on_server_tick];
    lists.into_iter().for_each(|list| collect_effects(sim, list, &mut found));
    found
}

fn collect_effects(sim: &Sim, tasks: &[AbilityTask], found: &mut BTreeSet<EffectId>) {
    for task in tasks {
        for value in task.params.values() {
            if let Value::Text(name) = value
                && let Some(effect) = sim.rules().find_effect(name)
            {
                found.insert(effect);
            }
        }
        collect_effects(sim, &task.tasks, found);
        collect_effects(sim, &task.then, found);
        collect_effects(sim, &task.r#else, found);
    }
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
