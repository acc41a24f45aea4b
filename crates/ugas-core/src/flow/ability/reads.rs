//! The values that an activation condition reads.

use super::super::View;
use super::check::ActivationAttempt;
use crate::rules::{Bearer, Local, Reads, Side};
use crate::{AttributeId, ControllerId, TagId, Target};

/// The values of an activation attempt that a condition can read.
pub(crate) struct AttemptReads<'v, 't> {
    pub(crate) view: View<'v>,
    pub(crate) of: ActivationAttempt<'t>,
}

impl AttemptReads<'_, '_> {
    fn target(&self) -> Option<ControllerId> {
        match self.of.target {
            Target::Controller(c) => Some(c),
            Target::None | Target::Point(_) => None,
        }
    }
}

impl Reads for AttemptReads<'_, '_> {
    fn attribute(&mut self, side: Side, attribute: AttributeId) -> Option<f64> {
        let who = match side {
            Side::Own => self.view.row(self.of.slot).id,
            Side::Source => self.of.source,
            Side::Target => self.target()?,
        };
        self.view.current_of(who, attribute)
    }

    fn tag(&mut self, bearer: Bearer, tag: TagId) -> Option<bool> {
        match bearer {
            Bearer::Own => Some(self.view.has(self.of.slot, tag)),
            Bearer::Source => Some(self.view.source_has(self.of.source, tag)),
            Bearer::Target => Some(self.view.source_has(self.target()?, tag)),
            Bearer::Event | Bearer::Hit => None,
        }
    }

    fn local(&mut self, local: Local) -> Option<f64> {
        match local {
            Local::Level => Some(self.of.level as f64),
            Local::TargetDistance => self.view.distance_to(self.of.slot, self.of.target),
            Local::Param(name) => self.view.param_of(self.of.slot, self.of.grant, name),
            Local::Stacks
            | Local::Caller(_)
            | Local::Magnitude
            | Local::Amount
            | Local::Direct
            | Local::Periodic
            | Local::Area
            | Local::Tick
            | Local::Held
            | Local::Found
            | Local::Distance
            | Local::Bound(_)
            | Local::Given(_) => None,
        }
    }
}
