//! What waits and what cools down for everybody, as lists.

use super::Timer;
use crate::{AbilityId, ActivationKey, ControllerId, GroupId, ReadError, Sim, SimTime, TaskKey, TaskKindId};

/// A task that waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskView {
    /// Its key, for the host's answer.
    pub key: TaskKey,
    /// Its type.
    pub kind: TaskKindId,
    /// The ability.
    pub ability: AbilityId,
    /// Of which activation.
    pub activation: ActivationKey,
    /// Time until it wakes by itself.
    pub remaining: Option<SimTime>,
}

impl Sim {
    /// Tasks that wait, oldest first.
    pub fn tasks(&self, who: ControllerId) -> Result<Vec<TaskView>, ReadError> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        let view = |t: &crate::state::Task| {
            let a = row.play().activation(t.of)?;
            let def = self.view().ability(a.ability)?;
            // A montage that plays is not waited for.
            let kind = def.program.task(t.pc).filter(|task| task.kind.waits())?.name;
            let remaining = (t.due != SimTime::NEVER).then(|| t.due - now);
            let key = TaskKey { seq: t.seq, who };
            Some(TaskView { key, kind, ability: a.ability, activation: a.key(who), remaining })
        };
        Ok(row.play().tasks.iter().filter_map(view).collect())
    }

    /// Every global cooldown that runs.
    pub fn global_cooldowns(&self, who: ControllerId) -> Result<Vec<(GroupId, Timer)>, ReadError> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        let timer = |g: &crate::state::Gcd| (g.group, Timer { remaining: g.end - now, total: g.end - g.start });
        Ok(row.play().gcds.iter().filter(|g| g.end > now).map(timer).collect())
    }
}
