//! Charges: stored uses of an ability. Each recharge restores one or more charges. The duration of a recharge is fixed
//! when the recharge starts. The next recharge starts exactly when the previous one ends, with a duration computed at
//! that time.

use super::super::{Flow, Via, View};
use crate::rules::{AbilityDef, RuleOn};
use crate::state::{AbilityRef, Charge, Due, GrantMore, TimerKind};
use crate::{AttributeId, FactKind, Role, SimTime};

/// The charges of a grant. Times are measured on the controller's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChargeView {
    /// The number of charges that are available.
    pub have: u32,
    /// The maximum number of charges.
    pub max: u32,
    /// The number of charges that one use costs.
    pub cost: u32,
    /// The remaining time of the running recharge, or `None` if no recharge is running. The time is [`SimTime::NEVER`]
    /// if only the authoritative sim can compute it.
    pub left: Option<SimTime>,
    /// The total duration of the running recharge, or zero if no recharge is running. The duration is
    /// [`SimTime::NEVER`] if only the authoritative sim can compute it.
    pub length: SimTime,
}

impl ChargeView {
    /// Returns the timer of the running recharge, or `None` if no recharge is running.
    pub fn timer(&self) -> Option<crate::Timer> {
        self.left.map(|remaining| crate::Timer { remaining, total: self.length })
    }
}

impl<'a> View<'a> {
    /// Returns the charges of a grant, or `None` if its ability has no charges.
    pub(crate) fn charges_of(&self, slot: usize, grant: usize) -> Option<ChargeView> {
        let def = self.charged(slot, grant)?;
        let cost = def.charges.map_or(0, |c| self.combat_count(slot, RuleOn::ChargeCost, c.cost, &def, 0));
        let g = &self.row(slot).grants[grant];
        let now = self.row(slot).clock.local(self.st.now);
        Some(match g.more.as_ref().and_then(|m| m.charges) {
            Some(Charge { have, max, start, end, .. }) if end != SimTime::NEVER => {
                ChargeView { have, max, cost, left: Some((end - now).max(SimTime::ZERO)), length: end - start }
            }
            resting => {
                let full = || (self.max_charges(slot, &def), self.max_charges(slot, &def));
                let (have, max) = resting.map_or_else(full, |c| (c.have, c.max));
                // Charges are missing, but only the authoritative sim knows the recharge time.
                let (left, length) = match have < max {
                    true => (Some(SimTime::NEVER), SimTime::NEVER),
                    false => (None, SimTime::ZERO),
                };
                ChargeView { have, max, cost, left, length }
            }
        })
    }

    /// Returns the definition of a grant's ability, if it has charges.
    fn charged(&self, slot: usize, grant: usize) -> Option<AbilityRef<'a>> {
        let g = self.row(slot).grants.get(grant)?;
        self.ability(g.ability).filter(|a| a.charges.is_some())
    }

    fn charge(&self, slot: usize, grant: usize) -> Option<Charge> {
        self.row(slot).grants.get(grant)?.more.as_ref()?.charges
    }

    fn max_charges(&self, slot: usize, def: &AbilityDef) -> u32 {
        def.charges.map_or(0, |c| self.combat_count(slot, RuleOn::MaxCharges, c.max, def, 1))
    }

    /// Returns the time until there are enough charges for one use, or `None` if one use costs more than the maximum.
    /// Assumes that all further recharges are as long as the running one.
    pub(crate) fn charged_in(&self, slot: usize, def: &AbilityDef, c: &ChargeView) -> Option<SimTime> {
        let left = c.left.filter(|_| c.cost <= c.max)?;
        let per = self.per_cooldown(slot, def).max(1);
        let more = c.cost.saturating_sub(c.have).div_ceil(per).saturating_sub(1) as i64;
        Some(left + SimTime(c.length.0.saturating_mul(more).min(SimTime::LONGEST.0)))
    }

    /// Returns whether the running recharge started with a use and its end restores enough charges for one use.
    pub(crate) fn is_recharged_by_use(&self, slot: usize, grant: usize, def: &AbilityDef) -> bool {
        let (Some(c), Some(shown)) = (self.charge(slot, grant), self.charges_of(slot, grant)) else { return false };
        let restored = c.have.saturating_add(self.per_cooldown(slot, def)).min(c.max);
        c.end != SimTime::NEVER && !c.rolled && restored >= shown.cost
    }

    fn per_cooldown(&self, slot: usize, def: &AbilityDef) -> u32 {
        def.charges.map_or(1, |c| self.combat_count(slot, RuleOn::ChargesPerCooldown, c.per, def, 1))
    }
}

impl<'r> Flow<'r> {
    /// Returns the definition of a grant's ability, if it has charges.
    fn charged(&self, slot: usize, grant: usize) -> Option<AbilityRef<'r>> {
        let g = self.row(slot).grants.get(grant)?;
        self.ability(g.ability).filter(|a| a.charges.is_some())
    }

    /// Fills a new grant's charges.
    pub(crate) fn init_charges(&mut self, slot: usize, grant: usize) {
        let Some(def) = self.charged(slot, grant) else { return };
        let max = self.view().max_charges(slot, &def);
        let more = self.row_mut(slot).grants[grant].more.get_or_insert_with(|| Box::new(GrantMore::default()));
        let (start, end, seq, rolled) = (SimTime::ZERO, SimTime::NEVER, 0, false);
        more.charges.get_or_insert(Charge { have: max, max, start, end, seq, rolled });
    }

    /// Spends charges, and starts the recharge unless it is already running.
    pub(crate) fn spend_charges(&mut self, slot: usize, grant: usize, n: u32) {
        let Some(def) = self.charged(slot, grant) else { return };
        self.init_charges(slot, grant);
        let asked = self.row(slot).clock.local(self.st.now - self.back_dated_by);
        self.change_charges(slot, grant, |c| c.have = c.have.saturating_sub(n));
        self.run_charges(slot, grant, &def, asked, true);
        self.emit_charges(slot, grant);
    }

    pub(crate) fn charge_due(&mut self, slot: usize, seq: u64) {
        let mine = |c: &Charge| c.seq == seq && c.end != SimTime::NEVER;
        let grants = &self.row(slot).grants;
        let at = grants.iter().position(|g| g.more.as_ref().and_then(|m| m.charges.as_ref()).is_some_and(mine));
        let Some(grant) = at else { return };
        let Some(def) = self.charged(slot, grant) else { return };
        let per = self.view().per_cooldown(slot, &def);
        let mut ended = SimTime::ZERO;
        self.change_charges(slot, grant, |c| {
            ended = c.end;
            c.have = c.have.saturating_add(per).min(c.max);
            (c.end, c.rolled) = (SimTime::NEVER, false);
        });
        self.run_charges(slot, grant, &def, ended, false);
        self.emit_charges(slot, grant);
        self.request_waiting_inputs(slot);
    }

    /// Adapts the charges of a row to changed combat rules: clamps the charges to the new maximum, and starts or stops
    /// the recharge.
    pub(crate) fn recharge(&mut self, slot: usize) {
        for grant in 0..self.row(slot).grants.len() {
            let Some(def) = self.charged(slot, grant) else { continue };
            self.init_charges(slot, grant);
            let (max, now) = (self.view().max_charges(slot, &def), self.row(slot).clock.local(self.st.now));
            if self.view().charge(slot, grant).is_none_or(|c| c.max == max) {
                continue;
            }
            self.change_charges(slot, grant, |c| (c.max, c.have) = (max, c.have.min(max)));
            self.run_charges(slot, grant, &def, now, false);
            self.emit_charges(slot, grant);
        }
    }

    /// Adapts the charges of a row to a changed attribute, if the attribute is a stat that multiplies combat values.
    pub(crate) fn scale_changed(&mut self, slot: usize, attribute: AttributeId) {
        let layout = self.layout(slot);
        if layout.scales.iter().any(|s| layout.slots[s.slot as usize].attribute == attribute) {
            self.recharge(slot);
        }
    }

    /// Removes the recharge timer of a grant.
    pub(crate) fn stop_charges(&mut self, slot: usize, grant: usize) {
        if let Some(c) = self.view().charge(slot, grant).filter(|c| c.end != SimTime::NEVER) {
            self.row_mut(slot).unschedule(Due::timer(c.end, TimerKind::Charge, c.seq));
        }
    }

    fn change_charges(&mut self, slot: usize, grant: usize, change: impl FnOnce(&mut Charge)) {
        let more = self.row_mut(slot).grants[grant].more.as_mut();
        if let Some(c) = more.and_then(|m| m.charges.as_mut()) {
            change(c);
        }
    }

    /// Starts the recharge at `from` if charges are missing and no recharge is running. Stops the recharge if no charge
    /// is missing. `is_use` states whether a use of the ability starts the recharge.
    fn run_charges(&mut self, slot: usize, grant: usize, def: &AbilityDef, from: SimTime, is_use: bool) {
        let Some(c) = self.view().charge(slot, grant) else { return };
        let running = c.end != SimTime::NEVER;
        if c.have >= c.max {
            self.stop_charges(slot, grant);
            self.change_charges(slot, grant, |c| (c.end, c.rolled) = (SimTime::NEVER, false));
        } else if !running {
            let seconds = def.charges.map_or(0.0, |c| c.cooldown);
            let length = self.combat_time(slot, RuleOn::CooldownLength, seconds, def);
            if length <= SimTime::ZERO {
                return self.change_charges(slot, grant, |c| c.have = c.max);
            }
            let known = self.work.role != Role::Client || def.charges.is_none_or(|c| c.predicted);
            let row = self.row_mut(slot);
            let (seq, end) = (row.take_seq(), if known { from + length } else { SimTime::NEVER });
            if known {
                row.schedule(Due::timer(end, TimerKind::Charge, seq));
            }
            self.change_charges(slot, grant, |c| {
                (c.start, c.end, c.seq, c.rolled) = (from, end, seq, known && !is_use)
            });
        }
        self.publish(slot);
    }

    fn emit_charges(&mut self, slot: usize, grant: usize) {
        let Some(c) = self.view().charge(slot, grant) else { return };
        let (who, g) = (self.row(slot).id, &self.row(slot).grants[grant]);
        let (ability, grant, have, max) = (g.ability, g.id, c.have, c.max);
        let length = if c.end == SimTime::NEVER { SimTime::ZERO } else { c.end - c.start };
        self.fact(who, Via::NOTHING, FactKind::Charges { ability, grant, have, max, length });
    }
}
