//! Global cooldowns: each controller has one timer for each group of abilities.

use super::super::{Flow, Via, View};
use crate::rules::{AbilityDef, RuleOn};
use crate::state::{Due, Gcd, TimerKind};
use crate::{FactKind, GroupId, SimTime};

impl View<'_> {
    /// Returns the remaining time of a group's global cooldown, if the cooldown is running.
    pub(crate) fn gcd_left(&self, slot: usize, group: GroupId) -> Option<SimTime> {
        let row = self.row(slot);
        let now = row.clock.local(self.st.now);
        row.play().gcds.iter().find(|g| g.group == group).map(|g| (g.end - now).max(SimTime::ZERO))
    }

    /// Returns the group and duration of the global cooldown that an ability starts. Returns `None` if the ability has
    /// no global cooldown, or combat rules reduce its duration to zero.
    pub(crate) fn gcd_of(&self, slot: usize, ability: &AbilityDef) -> Option<(GroupId, SimTime)> {
        let (group, seconds) = ability.gcd?;
        let length = self.combat_time(slot, RuleOn::GlobalCooldown, seconds, ability);
        (length > SimTime::ZERO).then_some((group, length))
    }
}

impl Flow<'_> {
    /// Starts a group's global cooldown for activation `seq`.
    pub(crate) fn start_gcd(&mut self, slot: usize, group: GroupId, length: SimTime, seq: u64) {
        if length <= SimTime::ZERO {
            return;
        }
        let (asked, cause) = (self.st.now - self.back_dated_by, self.cause.root);
        let row = self.row_mut(slot);
        let (who, start) = (row.id, row.clock.local(asked));
        let root = row.play().activation(seq).map_or(cause, |a| a.root);
        let gcd = Gcd { group, seq: row.take_seq(), start, end: start + length, root };
        let gcds = &mut row.play_mut().gcds;
        let old = match gcds.binary_search_by_key(&group, |g| g.group) {
            Ok(at) => Some(std::mem::replace(&mut gcds[at], gcd)),
            Err(at) => {
                gcds.insert(at, gcd);
                None
            }
        };
        if let Some(old) = old {
            row.unschedule(Due::timer(old.end, TimerKind::Gcd, old.seq));
        }
        row.schedule(Due::timer(gcd.end, TimerKind::Gcd, gcd.seq));
        self.publish(slot);
        self.fact(who, Via::NOTHING, FactKind::GlobalCooldown { group, running: true, length });
    }

    pub(crate) fn gcd_due(&mut self, slot: usize, seq: u64) {
        let Some(at) = self.row(slot).play().gcds.iter().position(|g| g.seq == seq) else { return };
        let row = self.row_mut(slot);
        let (who, gcd) = (row.id, row.play_mut().gcds.remove(at));
        row.trim();
        let length = gcd.end - gcd.start;
        self.fact(who, Via::NOTHING, FactKind::GlobalCooldown { group: gcd.group, running: false, length });
        self.request_waiting_inputs(slot);
    }
}
