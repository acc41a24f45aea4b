//! What sleeps on a controller.

use crate::rules::Inst;
use crate::{AbilityId, ActivationKey, ControllerId, Refusal, Sim, TaskKey, TaskKindId};

/// A sleeping task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskView {
    /// What the host answers with, if it is asked.
    pub key: TaskKey,
    /// Of which ability.
    pub ability: AbilityId,
    /// Of which activation.
    pub activation: ActivationKey,
    /// What kind of task.
    pub task: TaskKindId,
}

impl Sim {
    /// The tasks of a controller's abilities that wait, oldest first.
    pub fn tasks(&self, who: ControllerId) -> Result<Vec<TaskView>, Refusal> {
        let row = self.row(who)?;
        let play = row.play();
        let view = |t: &crate::state::Task| {
            let a = play.activation(t.of)?;
            let def = self.state().definitions.ability(self.rules(), a.ability)?;
            let Inst::Task(task) = def.program.at(t.pc) else { return None };
            let (key, activation) = (TaskKey { seq: t.seq, who }, a.key(who));
            task.kind.waits().then_some(TaskView { key, ability: a.ability, activation, task: task.name })
        };
        Ok(play.tasks.iter().filter_map(view).collect())
    }
}
