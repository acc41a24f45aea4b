//! Numbers and conditions of tasks, evaluated when a task starts.

use crate::flow::Flow;
use crate::rules::{Bearer, Expr, Local, Num, Reads, Side, TagQuery};
use crate::state::Activation;
use crate::{AttributeId, ControllerId, EffectId, SimTime, TagId};

/// The values that an expression of a task reads.
struct TaskReads<'f, 'a> {
    flow: &'f Flow<'a>,
    slot: usize,
    activation: &'f Activation,
    /// The controller that an effect is being applied to, or `None` to use the activation's target.
    aim: Option<ControllerId>,
}

impl TaskReads<'_, '_> {
    fn who(&self, side: Side) -> Option<ControllerId> {
        let own = self.flow.row(self.slot).id;
        let a = self.activation;
        match side {
            Side::Own => Some(own),
            Side::Source => a.event.as_ref().map_or(Some(own), |e| e.instigator),
            Side::Target => self.aim.or(a.targets.first().copied()).or(match a.target {
                crate::Target::Controller(who) => Some(who),
                crate::Target::None | crate::Target::Point(_) => None,
            }),
        }
    }
}

impl Reads for TaskReads<'_, '_> {
    fn attribute(&mut self, side: Side, attribute: AttributeId) -> Option<f64> {
        self.flow.current_of(self.who(side)?, attribute)
    }

    fn tag(&mut self, bearer: Bearer, tag: TagId) -> Option<bool> {
        let side = match bearer {
            Bearer::Own => return Some(self.flow.has(self.slot, tag)),
            Bearer::Event => {
                let event = self.activation.event.as_ref();
                return event.map(|e| self.flow.rules.tags.is_under(e.tag, tag));
            }
            Bearer::Hit => {
                let tags = &self.flow.rules.tags;
                let hit = self.activation.hit.as_ref();
                return Some(hit.is_some_and(|h| h.tags.iter().any(|&t| tags.is_under(t, tag))));
            }
            Bearer::Source => Side::Source,
            Bearer::Target => Side::Target,
        };
        let who = self.who(side)?;
        self.flow.tags_of(who).map(|_| self.flow.source_has(who, tag))
    }

    fn local(&mut self, local: Local) -> Option<f64> {
        let a = self.activation;
        match local {
            Local::Level => Some(a.level as f64),
            Local::Param(name) => {
                let row = self.flow.row(self.slot);
                let grant = &row.grants[row.grant(a.grant)?];
                let own = grant.more.as_ref().and_then(|m| m.params.iter().find(|p| p.0 == name));
                let sent = || a.event.as_ref().and_then(|e| e.payload.iter().find(|p| p.0 == name));
                own.or_else(sent).map(|p| p.1)
            }
            Local::Magnitude => a.event.as_ref().map(|e| e.magnitude),
            Local::Tick => Some(a.tick as f64),
            Local::Held => Some(a.held),
            Local::Found => Some(a.targets.len() as f64),
            Local::TargetDistance => {
                let target = self.who(Side::Target).map_or(a.target, crate::Target::Controller);
                self.flow.view().distance_to(self.slot, target)
            }
            Local::Distance => Some(a.hit.as_ref().and_then(|h| h.distance).unwrap_or(0.0)),
            Local::Bound(_) | Local::Given(_) => None,
            Local::Stacks | Local::Caller(_) | Local::Amount | Local::Direct | Local::Periodic | Local::Area => None,
        }
    }
}

impl Flow<'_> {
    /// Returns a task's number, or `None` if a value that the number reads is missing or the result is not finite.
    pub(crate) fn value_of(&self, slot: usize, of: u64, num: &Num) -> Option<f64> {
        self.value_for(slot, of, num, None)
    }

    /// Like [`Flow::value_of`], for one of the targets of the task's effect.
    pub(crate) fn value_for(&self, slot: usize, of: u64, num: &Num, aim: Option<ControllerId>) -> Option<f64> {
        let value = match num {
            Num::Value(v) => *v,
            Num::Frames(n) => *n as f64 * self.work.frame.as_seconds(),
            Num::Expr(expr) => {
                let activation = self.row(slot).play().activation(of)?;
                expr.eval_with(&mut TaskReads { flow: self, slot, activation, aim })?
            }
        };
        value.is_finite().then_some(value + 0.0)
    }

    /// Returns a task's duration, at least zero. A duration in frames is exact.
    pub(crate) fn length_of(&self, slot: usize, of: u64, num: &Num) -> Option<SimTime> {
        if let Num::Frames(n) = num {
            let length = self.work.frame.0.checked_mul(*n as i64)?;
            return (length <= SimTime::LONGEST.0).then_some(SimTime(length));
        }
        SimTime::try_seconds(self.value_of(slot, of, num)?).map(|t| t.max(SimTime::ZERO))
    }

    pub(crate) fn holds(&self, slot: usize, of: u64, expr: &Expr) -> bool {
        let Some(activation) = self.row(slot).play().activation(of) else { return false };
        let reads = &mut TaskReads { flow: self, slot, activation, aim: None };
        self.view().holds(expr, reads, self.row(slot).id, EffectId::NONE)
    }

    pub(crate) fn matches_query(&self, slot: usize, query: &TagQuery) -> bool {
        let tags = &self.row(slot).tags;
        query.eval(&|t| self.has(slot, t), &|t| tags.count(&self.rules.tags, t) > 0)
    }
}
