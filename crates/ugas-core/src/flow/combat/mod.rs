//! Combat state: global cooldown, charges, casts, input.

use super::Flow;
use crate::{ControllerId, InputId, Outcome, Refusal, Target, Which};

impl Flow<'_> {
    pub(crate) fn charge_due(&mut self, _slot: usize, _seq: u64) {}
    pub(crate) fn cast_due(&mut self, _slot: usize, _seq: u64) {}
    pub(crate) fn gcd_due(&mut self, _slot: usize, _seq: u64) {}

    pub(crate) fn interrupt_op(&mut self, who: ControllerId, _: Option<Which>) -> Result<(), Refusal> {
        self.slot(who).map(|_| ())
    }
    pub(crate) fn press(&mut self, who: ControllerId, _: InputId, _: Target) -> Result<Outcome, Refusal> {
        self.slot(who).map(|_| Outcome::Pressed { activated: None, refused: None })
    }
    pub(crate) fn release(&mut self, who: ControllerId, _: InputId) -> Result<(), Refusal> {
        self.slot(who).map(|_| ())
    }
}
