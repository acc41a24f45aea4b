//! Queries about abilities, tasks and the details of facts.

use super::Runner;
use crate::scenario::Found;
use ugas_core::{ControllerId, Fact, GrantId, ParamValue, Refusal, SimTime, Target, TaskKey, Which};

impl Runner<'_> {
    /// Returns every reason why an activation would be refused now.
    pub(crate) fn reasons(&self, who: ControllerId, which: Which, target: Target) -> Vec<Refusal> {
        let mut reasons = Vec::new();
        match self.sim.why_not(who, which, target, &mut reasons) {
            Ok(()) => reasons.iter().map(|r| r.refusal).collect(),
            Err(refusal) => vec![refusal],
        }
    }

    /// Returns the remaining seconds of a cooldown: of its effect or, for charges, of the next charge.
    pub(crate) fn cooldown_left(&self, who: ControllerId, grant: GrantId) -> Result<Found, Refusal> {
        let effect = self.sim.cooldown(who, grant)?.map(|t| t.remaining);
        let charge = self.sim.charges(who, grant)?.and_then(|c| c.left);
        Ok(match effect.max(charge) {
            Some(SimTime::NEVER) => Found::Nothing,
            left => Found::Number(left.unwrap_or(SimTime::ZERO).as_seconds()),
        })
    }

    /// Returns the waiting tasks of a type, oldest first.
    pub(crate) fn waiting(&self, who: ControllerId, task: &str) -> Result<Vec<TaskKey>, Refusal> {
        let kind = self.world.rules.find_task_kind(task);
        let tasks = self.sim.tasks(who)?;
        Ok(tasks.iter().filter(|t| Some(t.kind) == kind).map(|t| t.key).collect())
    }

    /// Reads the details of a fact.
    pub(crate) fn params_of(&self, fact: &Fact) -> Found {
        let word = |value: ParamValue<'_>| match value {
            ParamValue::Null => Found::Nothing,
            ParamValue::Bool(b) => Found::Flag(b),
            ParamValue::Number(n) => Found::Number(n),
            ParamValue::Text(t) => Found::text(t),
            ParamValue::Vector(v) => Found::Vector(v),
            ParamValue::Tag(tag) => self.tag_field(tag),
            ParamValue::Controller(who) => self.actor_field(who),
        };
        Found::Map(self.facts.params(fact).map(|(name, value)| (name.to_owned(), word(value))).collect())
    }
}
