//! What the server looks at before it does what a client asks.
//!
//! Everything a client sends is a claim. The claim is tested in a fixed order (who asks, when, by what ability, at what
//! target, with which effect) before an op exists at all; what passes then meets the same checks as an op of the host's.

mod claims;

pub use claims::Claims;

use crate::carrier::CarrierError;
use crate::message::{Command, Request};
use crate::policy::{is_for_server, policy_of};
use crate::types::Tick;
use std::collections::{BTreeMap, BTreeSet};
use ugas_core::{
    AbilityId, AbilityState, Anchor, Answer, BadValue, ControllerId, EffectId, InputId, Op, Refusal, Sim, Target,
    TaskKey,
};
use ugas_doc::{Ability, AbilityTask, Value};

/// Why something a client sent was not done. Counted by the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// More packets than one client may send.
    PacketRate,
    /// A datagram that cannot be read: too long, damaged, of nobody who is connected, or with claims that cannot be true.
    Packet,
    /// A datagram that was read before. Networks double some, and whoever replays what he recorded sends them.
    Duplicate,
    /// A datagram older than the newest that was read: it was overtaken on its way. What it said is said again.
    Outdated,
    /// A payload that cannot be read.
    Payload,
    /// A reliable message that cannot be read or does not belong here.
    Message,
    /// More commands than one client may send.
    CommandRate,
    /// A command for a tick too far ahead.
    Future,
    /// A command for a tick too long ago.
    Past,
    /// A key that was used before with another command, or is older than the last one done, or names no command that was
    /// refused where one is meant.
    Key,
    /// In the name of a controller that is not the client's.
    Authority,
    /// An ability that was not granted.
    Ability,
    /// An ability that runs elsewhere, or may not be cancelled by a client.
    Policy,
    /// A target that cannot be reached, or does not exist.
    Target,
    /// An effect the ability may not apply.
    EffectClass,
    /// An effect for the authority only.
    AuthoritativeOnly,
    /// An application by an ability that does not run: nothing was paid for it.
    Idle,
    /// An answer to a task that does not wait, or to a question that is not the client's to answer.
    Task,
    /// A place the host says the controller cannot have come to.
    Pose,
    /// A number that is none, or out of range.
    Number,
    /// A late command whose cooldown had not passed when it was claimed to be given.
    Early,
    /// The rules of the game refused it.
    Rules,
}

impl From<&CarrierError> for Reason {
    fn from(error: &CarrierError) -> Reason {
        match error {
            CarrierError::Duplicate { .. } => Reason::Duplicate,
            CarrierError::Stale { .. } => Reason::Outdated,
            _ => Reason::Packet,
        }
    }
}

/// Targets that one answer may name.
const MAX_TARGETS: usize = 64;
/// No world is larger: beyond this, squares and sums of places lose what they are about.
const FARTHEST: f64 = 1e9;

/// What a host adds to the question whether a target can be reached: sight, teams, its own rules.
pub trait Reach: Send + Sync {
    /// Whether `who` may act on `target` by `ability`.
    fn reaches(&self, sim: &Sim, who: ControllerId, ability: AbilityId, target: ControllerId) -> bool;

    /// Whether `who` may have come to a place by itself, e.g. at the speed it has. Anywhere, unless a host knows better.
    fn may_move(&self, sim: &Sim, who: ControllerId, to: &Anchor) -> bool {
        let _ = (sim, who, to);
        true
    }
}

/// The range an ability is authored with, measured between anchors. Whoever has no anchor is not in space and always
/// within range.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuthoredRange;

impl Reach for AuthoredRange {
    fn reaches(&self, sim: &Sim, who: ControllerId, ability: AbilityId, target: ControllerId) -> bool {
        let Some(range) = sim.ability_doc(ability).and_then(|doc| doc.max_range) else { return true };
        let place = |id| sim.anchor(id).ok().flatten().map(|a| a.position);
        let (Some(here), Some(there)) = (place(who), place(target)) else { return true };
        let square: f64 = here.iter().zip(there).map(|(a, b)| (a - b) * (a - b)).sum();
        square <= range * range
    }
}

/// What one client may do: judged from the sim as it is now.
pub struct Judge<'a> {
    /// The authoritative sim.
    pub sim: &'a Sim,
    /// The client's own controllers.
    pub owned: &'a [ControllerId],
    /// The host's view of reach.
    pub reach: &'a dyn Reach,
    /// Which effects each ability may apply.
    pub effects: &'a Whitelist,
}

impl Judge<'_> {
    /// The op a command stands for, or why not.
    pub fn judge(&self, command: &Command) -> Result<Op, (Reason, Refusal)> {
        let request = &command.request;
        check_numbers(request)?;
        let who = request.who();
        if !self.owned.contains(&who) {
            return Err((Reason::Authority, Refusal::Authority));
        }
        let level = match request {
            Request::Activate { ability, .. }
            | Request::Cancel { ability, .. }
            | Request::End { ability, .. }
            | Request::Commit { ability, .. }
            | Request::Apply { ability, .. }
            | Request::Mispredicted { ability, .. } => self.check_granted(who, *ability)?,
            _ => 1,
        };
        self.check_policy(request)?;
        match request {
            Request::Press { input, target, .. } => self.check_press(who, *input, *target)?,
            Request::Activate { ability, target, .. } => self.check_aim_of(who, *ability, *target)?,
            Request::Cancel { .. } | Request::End { .. } | Request::Commit { .. } => {}
            Request::Apply { ability, effect, target, .. } => {
                self.check_aim(Target::Controller(*target))?;
                self.check_reach(who, *ability, *target)?;
                if self.sim.rules().is_for_authority(*effect) {
                    return Err((Reason::AuthoritativeOnly, Refusal::AuthoritativeOnly));
                }
                if !self.effects.allows(self.sim, *ability, *effect) {
                    return Err((Reason::EffectClass, Refusal::Authority));
                }
                self.check_running(who, *ability)?;
            }
            Request::Complete { key, answer } => self.check_answer(*key, answer)?,
            Request::Move { anchor, .. } => {
                if !self.reach.may_move(self.sim, who, anchor) {
                    return Err((Reason::Pose, Refusal::Authority));
                }
            }
            Request::Aim { key, target } => {
                let mut running = self.sim.activations(who).map_err(|r| (Reason::Authority, r.into()))?;
                let ability = running.find(|a| a.key == *key).map(|a| a.ability);
                let ability = ability.ok_or((Reason::Idle, Refusal::StaleHandle))?;
                self.check_aim_of(who, ability, *target)?;
                self.sim.remote().check_aim(*key, *target).map_err(misaimed)?;
            }
            Request::Mispredicted { ability, target, .. } => {
                // What could not be reached is why it was refused; there is something to clean up all the same.
                if self.check_aim_of(who, *ability, *target).is_err() {
                    return Ok(Op::Mispredicted { who, ability: *ability, target: Target::None });
                }
            }
            Request::Release { .. } => {}
        }
        Ok(request.op(level))
    }

    /// Whether what a command says its first tick aimed at exists and can be reached. Whether what it activates lets a
    /// client choose, and the target is one for it, the sim knows when that runs.
    pub fn judge_first_aim(&self, command: &Command, aim: Target) -> Result<(), (Reason, Refusal)> {
        check_point(&aim)?;
        match command.request {
            Request::Activate { who, ability, .. } => self.check_aim_of(who, ability, aim),
            Request::Press { who, input, .. } => self.check_press(who, input, aim),
            _ => Err((Reason::Target, Refusal::NoTarget)),
        }
    }

    /// The level of the grant.
    fn check_granted(&self, who: ControllerId, ability: AbilityId) -> Result<u32, (Reason, Refusal)> {
        let grants = self.sim.grants(who).map_err(|r| (Reason::Authority, r.into()))?;
        let grant = grants.iter().find(|g| g.ability == ability);
        grant.map(|g| g.level).ok_or((Reason::Ability, Refusal::NotGranted))
    }

    fn check_policy(&self, request: &Request) -> Result<(), (Reason, Refusal)> {
        match policy_of(self.sim, request) {
            Ok(policy) if is_for_server(policy) => Ok(()),
            Ok(_) | Err(Refusal::Authority) => Err((Reason::Policy, Refusal::Authority)),
            Err(refusal) => Err((Reason::Authority, refusal)),
        }
    }

    /// An input may activate whatever is bound to it: all of that is looked at.
    fn check_press(&self, who: ControllerId, input: InputId, target: Target) -> Result<(), (Reason, Refusal)> {
        self.check_aim(target)?;
        let grants = self.sim.grants(who).map_err(|r| (Reason::Authority, r.into()))?;
        for grant in grants.iter().filter(|g| g.input == input && input != InputId::NONE) {
            if let Target::Controller(target) = target {
                self.check_reach(who, grant.ability, target)?;
            }
        }
        Ok(())
    }

    /// Effects come from an ability that runs and was paid for, as often as it likes; never from one that could be used.
    fn check_running(&self, who: ControllerId, ability: AbilityId) -> Result<(), (Reason, Refusal)> {
        let mut running = self.sim.activations(who).map_err(|r| (Reason::Authority, r.into()))?;
        let is = |a: ugas_core::ActivationView| a.ability == ability && a.state == AbilityState::Active && a.committed;
        if running.any(is) { Ok(()) } else { Err((Reason::Idle, Refusal::Inactive)) }
    }

    /// A client answers tasks of what it may run; validations are the host's. Each target is named once and within reach.
    fn check_answer(&self, key: TaskKey, answer: &Answer) -> Result<(), (Reason, Refusal)> {
        let tasks = self.sim.tasks(key.who).map_err(|r| (Reason::Authority, r.into()))?;
        let Some(task) = tasks.iter().find(|t| t.key == key) else {
            return Err((Reason::Task, Refusal::StaleHandle));
        };
        if answer.targets.len() > MAX_TARGETS {
            return Err((Reason::Target, Refusal::BadValue { what: BadValue::Number }));
        }
        for (at, &target) in answer.targets.iter().enumerate() {
            if answer.targets.iter().take(at).any(|&t| t == target) {
                return Err((Reason::Target, Refusal::NoTarget));
            }
            self.check_aim(Target::Controller(target))?;
            self.check_reach(key.who, task.ability, target)?;
        }
        Ok(())
    }

    fn check_aim_of(&self, who: ControllerId, ability: AbilityId, target: Target) -> Result<(), (Reason, Refusal)> {
        self.check_aim(target)?;
        match target {
            Target::Controller(target) => self.check_reach(who, ability, target),
            _ => Ok(()),
        }
    }

    fn check_aim(&self, target: Target) -> Result<(), (Reason, Refusal)> {
        match target {
            Target::Controller(id) if !self.sim.exists(id) => Err((Reason::Target, Refusal::StaleHandle)),
            _ => Ok(()),
        }
    }

    fn check_reach(
        &self,
        who: ControllerId,
        ability: AbilityId,
        target: ControllerId,
    ) -> Result<(), (Reason, Refusal)> {
        if who == target || self.reach.reaches(self.sim, who, ability, target) {
            return Ok(());
        }
        Err((Reason::Target, Refusal::NoTarget))
    }
}

/// Why an ability may not aim at what a client chose: the choice is not the client's, or the target is none for it.
pub(crate) fn misaimed(refusal: Refusal) -> (Reason, Refusal) {
    let reason = if refusal == Refusal::Authority { Reason::Policy } else { Reason::Target };
    (reason, refusal)
}

/// What is smaller than any normal number came from no clock and no map; it only makes sums slow.
fn is_sound(v: &f64) -> bool {
    *v == 0.0 || v.is_normal()
}

fn is_place(v: &f64) -> bool {
    is_sound(v) && v.abs() <= FARTHEST
}

fn check_point(target: &Target) -> Result<(), (Reason, Refusal)> {
    match target {
        Target::Point(p) if !p.iter().all(is_place) => Err(BAD_NUMBER),
        _ => Ok(()),
    }
}

const BAD_NUMBER: (Reason, Refusal) = (Reason::Number, Refusal::BadValue { what: BadValue::Number });

/// Numbers that no honest machine asks with. Clients look at their own requests too, so that nothing is played ahead that
/// the server will not have.
pub(crate) fn check_numbers(request: &Request) -> Result<(), (Reason, Refusal)> {
    let hit = |h: &ugas_core::Hit| h.position.iter().flatten().chain(&h.distance).all(is_place);
    let fine = match request {
        Request::Press { target, .. }
        | Request::Activate { target, .. }
        | Request::Aim { target, .. }
        | Request::Mispredicted { target, .. } => return check_point(target),
        Request::Complete { answer, .. } => is_sound(&answer.value) && answer.hit.as_ref().is_none_or(hit),
        Request::Move { anchor, .. } => anchor.position.iter().chain(&anchor.facing).all(is_place),
        _ => true,
    };
    if fine { Ok(()) } else { Err(BAD_NUMBER) }
}

/// Which effects each ability may apply in a client's name: those its task lists name.
#[derive(Clone, Debug, Default)]
pub struct Whitelist {
    known: BTreeMap<AbilityId, BTreeSet<EffectId>>,
}

impl Whitelist {
    /// Of all abilities of the rules.
    pub fn of(sim: &Sim) -> Whitelist {
        let rules = sim.rules();
        let list = rules.ability_list().filter_map(|(id, _)| Some((id, effects_of(sim, rules.ability_doc(id)?))));
        Whitelist { known: list.collect() }
    }

    /// Whether the ability names the effect.
    pub fn allows(&self, sim: &Sim, ability: AbilityId, effect: EffectId) -> bool {
        match self.known.get(&ability) {
            Some(list) => list.contains(&effect),
            // Made at run time, after the list.
            None => sim.ability_doc(ability).is_some_and(|doc| effects_of(sim, doc).contains(&effect)),
        }
    }
}

/// The effects that an ability's task lists name.
fn effects_of(sim: &Sim, doc: &Ability) -> BTreeSet<EffectId> {
    let mut found = BTreeSet::new();
    let lists = [&doc.tasks, &doc.on_tick, &doc.on_predicted_tick, &doc.on_server_tick];
    lists.into_iter().for_each(|list| gather(sim, list, &mut found));
    found
}

fn gather(sim: &Sim, tasks: &[AbilityTask], found: &mut BTreeSet<EffectId>) {
    for task in tasks {
        for value in task.params.values() {
            if let Value::Text(name) = value
                && let Some(effect) = sim.rules().find_effect(name)
            {
                found.insert(effect);
            }
        }
        gather(sim, &task.tasks, found);
        gather(sim, &task.then, found);
        gather(sim, &task.r#else, found);
    }
}

/// Whether a tick can be meant by a command that comes when the tick `now` is over: it runs in the next one, no more than
/// `behind` ticks late.
pub fn check_tick(tick: Tick, now: Tick, ahead: u32, behind: u32) -> Result<(), Reason> {
    if tick.0 > now.0.saturating_add(ahead) {
        return Err(Reason::Future);
    }
    if tick.0.saturating_add(behind) <= now.0 {
        return Err(Reason::Past);
    }
    Ok(())
}
