//! What runs: states of abilities, casts, charges and global cooldowns, as hosts and scenarios see them.

use crate::{
    AbilityId, AbilityState, ActivationKey, ControllerId, GrantId, GroupId, InputId, ParamId, Refusal, Sim, SimTime,
    TaskKey, TaskKindId,
};

/// A timer on a controller's own clock.
///
/// ```
/// use ugas_core::{SimTime, Timer};
/// let timer = Timer { remaining: SimTime::seconds(3.5), total: SimTime::seconds(5.0) };
/// assert_eq!(timer.fraction(), 0.7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Time left; [`SimTime::NEVER`] if it does not end by itself.
    pub remaining: SimTime,
    /// Its whole length.
    pub total: SimTime,
}

impl Timer {
    /// How much is left, from 1 to 0.
    pub fn fraction(&self) -> f64 {
        match (self.remaining, self.total) {
            (SimTime::NEVER, _) => 1.0,
            (_, SimTime::ZERO) => 0.0,
            (remaining, total) => remaining.0 as f64 / total.0 as f64,
        }
    }
}

/// Charges of a granted ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChargeView {
    /// How many there are.
    pub have: u32,
    /// How many fit.
    pub max: u32,
    /// The cooldown that runs.
    pub cooldown: Option<Timer>,
}

/// A cast under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CastView {
    /// Of which ability.
    pub ability: AbilityId,
    /// Of which activation.
    pub activation: ActivationKey,
    /// Ticks so far, without the one at the start.
    pub tick: u32,
    /// How many there will be.
    pub ticks: u32,
    /// Time left and whole length.
    pub timer: Timer,
}

/// A running activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActivationView {
    /// Its key.
    pub key: ActivationKey,
    /// Of which grant.
    pub grant: GrantId,
    /// Of which ability.
    pub ability: AbilityId,
    /// Its level.
    pub level: u32,
    /// PendingConfirmation, Active or Ending.
    pub state: AbilityState,
    /// Whether cost and cooldown are paid.
    pub committed: bool,
}

/// A task that waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskView {
    /// Its key, for the host's answer.
    pub key: TaskKey,
    /// Its type.
    pub kind: TaskKindId,
    /// Of which ability.
    pub ability: AbilityId,
    /// Of which activation.
    pub activation: ActivationKey,
    /// Time until it wakes by itself.
    pub remaining: Option<SimTime>,
}

impl Sim {
    /// Tasks that wait, oldest first.
    pub fn tasks(&self, who: ControllerId) -> Result<Vec<TaskView>, Refusal> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        let view = |t: &crate::state::Task| {
            let a = row.play().activation(t.of)?;
            let def = self.rules().ability_def(a.ability)?;
            let kind = def.program.task(t.pc)?.name;
            let remaining = (t.due != SimTime::NEVER).then(|| t.due - now);
            let key = TaskKey { seq: t.seq, who };
            Some(TaskView { key, kind, ability: a.ability, activation: a.key(who), remaining })
        };
        Ok(row.play().tasks.iter().filter_map(view).collect())
    }

    /// Where a granted ability stands.
    pub fn ability_state(&self, who: ControllerId, grant: GrantId) -> Result<AbilityState, Refusal> {
        let row = self.row(who)?;
        if row.grant(grant).is_none() {
            return Ok(AbilityState::NotGranted);
        }
        let running = row.play().activations.iter().filter(|a| a.grant == grant).map(|a| a.state);
        Ok(running.max_by_key(|s| *s as u8).unwrap_or(AbilityState::Granted))
    }

    /// What runs, oldest first.
    pub fn activations(&self, who: ControllerId) -> Result<Vec<ActivationView>, Refusal> {
        let view = |a: &crate::state::Activation| ActivationView {
            key: a.key(who),
            grant: a.grant,
            ability: a.ability,
            level: a.level,
            state: a.state,
            committed: a.committed,
        };
        Ok(self.row(who)?.play().activations.iter().map(view).collect())
    }

    /// The global cooldown of a group, while it runs.
    pub fn global_cooldown(&self, who: ControllerId, group: GroupId) -> Result<Option<Timer>, Refusal> {
        Ok(self.global_cooldowns(who)?.into_iter().find(|(g, _)| *g == group).map(|(_, timer)| timer))
    }

    /// Every global cooldown that runs.
    pub fn global_cooldowns(&self, who: ControllerId) -> Result<Vec<(GroupId, Timer)>, Refusal> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        let timer = |g: &crate::state::Gcd| (g.group, Timer { remaining: g.end - now, total: g.end - g.start });
        Ok(row.play().gcds.iter().filter(|g| g.end > now).map(timer).collect())
    }

    /// The cast under way.
    pub fn cast(&self, who: ControllerId) -> Result<Option<CastView>, Refusal> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        let play = row.play();
        let Some(cast) = &play.cast else { return Ok(None) };
        Ok(play.activation(cast.of).map(|a| CastView {
            ability: a.ability,
            activation: a.key(who),
            tick: cast.next.saturating_sub(1),
            ticks: cast.ticks,
            timer: Timer { remaining: SimTime((cast.start + cast.length - now).0.max(0)), total: cast.length },
        }))
    }

    /// Charges of a granted ability, if it has them.
    pub fn charges(&self, who: ControllerId, grant: GrantId) -> Result<Option<ChargeView>, Refusal> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        let at = row.grant(grant).ok_or(Refusal::NotGranted)?;
        let charges = row.grants[at].more.as_ref().and_then(|m| m.charges);
        Ok(charges.map(|c| ChargeView {
            have: c.have,
            max: c.max,
            cooldown: (c.end != SimTime::NEVER).then(|| Timer { remaining: c.end - now, total: c.end - c.start }),
        }))
    }

    /// A parameter of a granted ability, if it was set.
    pub fn param(&self, who: ControllerId, grant: GrantId, param: ParamId) -> Result<Option<f64>, Refusal> {
        let row = self.row(who)?;
        let at = row.grant(grant).ok_or(Refusal::NotGranted)?;
        let params = row.grants[at].more.as_ref().map_or(&[][..], |m| &m.params);
        Ok(params.iter().find(|(p, _)| *p == param).map(|(_, value)| *value))
    }

    /// For how long an input has been down, if it is.
    pub fn held(&self, who: ControllerId, input: InputId) -> Result<Option<SimTime>, Refusal> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        Ok(row.play().held.iter().find(|h| h.input == input).map(|h| now - h.since))
    }
}
