//! SpawnProjectile: asks the engine to spawn a projectile.

use super::{TaskReach, TaskType};
use crate::flow::{Flow, Step, TaskAt};
use crate::rules::{Fields, TaskCategory};
use crate::{EffectId, TaskKey};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpawnProjectile {
    effect: Option<EffectId>,
}

impl TaskType for SpawnProjectile {
    const CATEGORY: TaskCategory = TaskCategory::Request;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let class = f.need_text("ProjectileClass");
        f.num("Speed");
        f.num("Gravity");
        let effect = f.effect("EffectClass");
        class.map(|_| Self { effect })
    }

    fn reach(&self) -> TaskReach {
        TaskReach::OwnAbility
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        flow.request(at, TaskKey::NONE);
        Step::Next
    }
}
