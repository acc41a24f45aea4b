//! Queries about waiting tasks and global cooldowns.

use super::Timer;
use crate::{AbilityId, ActivationKey, ControllerId, GroupId, ReadError, Sim, SimTime, TaskKey, TaskKindId};

/// A waiting task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskView {
    /// The key of the task. The host passes this key to `Sim::complete`.
    pub key: TaskKey,
    /// The task type.
    pub kind: TaskKindId,
    /// The ability.
    pub ability: AbilityId,
    /// The activation.
    pub activation: ActivationKey,
    /// The time until the task's timer fires, if it has a timer.
    pub remaining: Option<SimTime>,
}

impl Sim {
    /// Returns the waiting tasks of a controller, oldest first.
    pub fn tasks(&self, who: ControllerId) -> Result<Vec<TaskView>, ReadError> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        let view = |t: &crate::state::Task| {
            let a = row.play().activation(t.of)?;
            let def = self.view().ability(a.ability)?;
            // A playing montage is not a waiting task.
            let kind = def.program.task(t.pc).filter(|task| task.kind.waits())?.name;
            let remaining = (t.due != SimTime::NEVER).then(|| t.due - now);
            let key = TaskKey { seq: t.seq, who };
            Some(TaskView { key, kind, ability: a.ability, activation: a.key(who), remaining })
        };
        Ok(row.play().tasks.iter().filter_map(view).collect())
    }

    /// Returns every running global cooldown of a controller.
    pub fn global_cooldowns(&self, who: ControllerId) -> Result<Vec<(GroupId, Timer)>, ReadError> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        let timer = |g: &crate::state::Gcd| (g.group, Timer { remaining: g.end - now, total: g.end - g.start });
        Ok(row.play().gcds.iter().filter(|g| g.end > now).map(timer).collect())
    }
}
