//! Values that a client does not have. The server does not replicate every attribute to a client; in the client's sim
//! such an attribute has its default. A prediction must not depend on this default, so a client does not predict what
//! reads the attribute:
//!
//! - an activation whose condition, cost or cooldown reads it is refused with [`Refusal::NotReplicated`], and the
//!   command is only sent;
//! - a program stops before a branch or a delay that reads it, until the server's state arrives;
//! - an application or execution that reads it, or that writes a value that depends on it, is left to the server.
//!
//! A client also runs no periodic executions on a remote actor: the server's value contains them when it arrives.

use super::ability::ActivationAttempt;
use super::{Flow, View};
use crate::rules::{EffectDef, Layout, Mag, Side, SlotBound};
use crate::{AttributeId, ControllerId, Refusal, Target};
use std::cell::Cell;
use std::collections::BTreeMap;

/// A value that was read although the client does not have it.
pub(crate) type HiddenRead = Cell<Option<(ControllerId, AttributeId)>>;

/// The values of one controller that the client does not have.
#[derive(Clone, Debug, Default)]
struct HiddenRow {
    /// Sorted.
    attributes: Box<[AttributeId]>,
    /// Whether the row is the proxy of a remote actor.
    is_proxy: bool,
}

/// The values that the client does not have, by controller. Empty on a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct HiddenValues {
    rows: BTreeMap<ControllerId, HiddenRow>,
}

impl HiddenValues {
    /// Sets the hidden attributes of a controller. Attributes that are derived from hidden ones are hidden too, because
    /// the client cannot recompute them.
    pub(crate) fn set(&mut self, who: ControllerId, layout: &Layout, hidden: &[AttributeId], is_proxy: bool) {
        let mut attributes: Vec<AttributeId> = hidden.to_vec();
        // Slots are numbered in the order of their dependencies.
        for slot in &layout.slots {
            let reads = |expr: &crate::rules::Expr| expr.reads().any(|(_, a)| attributes.contains(&a));
            if slot.derived.as_deref().is_some_and(reads) {
                attributes.push(slot.attribute);
            }
        }
        attributes.sort_unstable();
        attributes.dedup();
        if attributes.is_empty() && !is_proxy {
            self.rows.remove(&who);
        } else {
            self.rows.insert(who, HiddenRow { attributes: attributes.into(), is_proxy });
        }
    }

    /// Returns whether no value is hidden.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn remove(&mut self, who: ControllerId) {
        self.rows.remove(&who);
    }

    /// Returns whether the client does not have a value.
    #[inline]
    pub(crate) fn hides(&self, who: ControllerId, attribute: AttributeId) -> bool {
        !self.rows.is_empty() && self.rows.get(&who).is_some_and(|r| r.attributes.binary_search(&attribute).is_ok())
    }

    /// Returns whether a row is the proxy of a remote actor.
    #[inline]
    pub(crate) fn is_proxy(&self, who: ControllerId) -> bool {
        !self.rows.is_empty() && self.rows.get(&who).is_some_and(|r| r.is_proxy)
    }
}

impl View<'_> {
    /// Returns whether the client does not have a value, and records that it was read.
    #[inline]
    pub(crate) fn reads_hidden(&self, who: ControllerId, attribute: AttributeId) -> bool {
        let is_hidden = self.ix.hidden.hides(who, attribute);
        if is_hidden && let Some(read) = self.hidden_read {
            read.set(Some((who, attribute)));
        }
        is_hidden
    }

    /// Refuses a write whose result depends on a value that the client does not have: the bounds of a known attribute,
    /// or a hidden attribute that a known one depends on.
    #[inline]
    pub(crate) fn check_hidden_write(&self, target: usize, attribute: AttributeId) -> Result<(), Refusal> {
        if self.ix.hidden.is_empty() { Ok(()) } else { self.refuse_hidden_write(target, attribute) }
    }

    #[cold]
    fn refuse_hidden_write(&self, target: usize, attribute: AttributeId) -> Result<(), Refusal> {
        let (who, layout) = (self.row(target).id, self.layout(target));
        let Some(slot) = layout.slot(attribute).map(|at| &layout.slots[at]) else { return Ok(()) };
        let hides = |at: u16| self.ix.hidden.hides(who, layout.slots[at as usize].attribute);
        let bounds = || {
            [slot.lo, slot.hi].into_iter().any(|bound| match bound {
                SlotBound::Slot(at) => hides(at),
                SlotBound::Open | SlotBound::Value(_) => false,
            })
        };
        let is_refused = match self.ix.hidden.hides(who, attribute) {
            true => slot.dependents.iter().any(|&at| !hides(at)) || slot.derived.is_some(),
            false => bounds() || slot.pools.iter().any(|&pool| hides(pool)),
        };
        if is_refused { Err(Refusal::NotReplicated { who, attribute }) } else { Ok(()) }
    }

    /// Refuses to predict an activation whose condition, cost or cooldown reads a value that the client does not have.
    #[inline]
    pub(crate) fn check_hidden_reads(&self, t: &ActivationAttempt<'_>) -> Result<(), Refusal> {
        if self.ix.hidden.is_empty() { Ok(()) } else { self.refuse_hidden_reads(t) }
    }

    #[cold]
    fn refuse_hidden_reads(&self, t: &ActivationAttempt<'_>) -> Result<(), Refusal> {
        let own = self.row(t.slot).id;
        let of = |side: Side| match (side, t.target) {
            (Side::Own, _) => own,
            (Side::Source, _) => t.source,
            (Side::Target, Target::Controller(target)) => target,
            (Side::Target, Target::None | Target::Point(_)) => ControllerId::NONE,
        };
        let refuse = |who: ControllerId, attribute: AttributeId| match self.ix.hidden.hides(who, attribute) {
            true => Err(Refusal::NotReplicated { who, attribute }),
            false => Ok(()),
        };
        let condition = t.def.condition.iter().flat_map(|expr| expr.reads());
        condition.map(|(side, attribute)| (of(side), attribute)).try_for_each(|(who, a)| refuse(who, a))?;
        for effect in [t.def.cost, t.def.cooldown].into_iter().flatten() {
            let Some(def) = self.def(effect) else { continue };
            let spent = def.modifiers.iter().map(|m| m.attribute).filter(|_| Some(effect) == t.def.cost);
            spent.chain(self.effect_reads(&def)).try_for_each(|a| refuse(own, a))?;
        }
        Ok(())
    }

    /// Returns the attributes that an effect of an owner on itself reads.
    fn effect_reads(&self, def: &EffectDef) -> Vec<AttributeId> {
        let magnitudes = def.modifiers.iter().map(|m| &m.magnitude).chain(&def.duration).chain(&def.chance);
        let mut reads: Vec<AttributeId> = magnitudes.clone().filter_map(|m| m.live_on().map(|(a, _)| a)).collect();
        let calculations = magnitudes.filter_map(Mag::calculation).chain(def.executions.iter().map(|x| x.calculator));
        for calc in calculations.filter_map(|calc| self.rules.calcs.get(calc.0)) {
            reads.extend(calc.reads.iter().map(|r| r.attribute));
        }
        reads.extend(def.condition.iter().flat_map(|expr| expr.reads()).map(|(_, a)| a));
        reads
    }
}

impl Flow<'_> {
    /// Runs a part of an operation and returns its result, and the first hidden value that it read.
    pub(crate) fn watch_hidden<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> T,
    ) -> (T, Option<(ControllerId, AttributeId)>) {
        let before = self.hidden_read.take();
        let result = run(self);
        let read = self.hidden_read.replace(before);
        (result, read)
    }

    /// Refuses the result of `run` if `run` read a value that the client does not have.
    #[inline]
    pub(crate) fn refuse_hidden<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Refusal>) -> Result<T, Refusal> {
        if self.ix.hidden.is_empty() {
            return run(self);
        }
        match self.watch_hidden(run) {
            (_, Some((who, attribute))) => Err(Refusal::NotReplicated { who, attribute }),
            (result, None) => result,
        }
    }
}
