//! Abilities. An attempt checks tags, cost and cooldown in this order; a refusal contains the values. A success pays
//! the cost, starts the cooldown and emits a fact. These abilities have no tasks, so they end immediately.

use super::fact::{Cause, Kind, NONE};
use super::{EffectKey, Reference, signature};
use crate::plan::{COOLDOWN, COOLING, COST, STUNNED};
use crate::subject::Answer;

impl Reference {
    /// Returns whether a controller has a tag. A bit mask rejects most absent tags quickly.
    #[inline]
    fn has(&self, who: u32, tag: u16) -> bool {
        self.rows[who as usize].signature & signature(tag) != 0 && self.presence[who as usize].has(tag)
    }

    /// Returns the end time of the cooldown.
    fn cooled_at(&self, who: u32) -> i64 {
        let mut end = self.now;
        let mut slot = self.rows[who as usize].newest;
        while slot != NONE {
            let effect = &self.effects[slot as usize];
            if effect.definition == COOLDOWN as u32 {
                end = end.max(effect.end);
            }
            slot = effect.older;
        }
        end
    }

    /// Tries to activate an ability.
    #[inline]
    pub(super) fn attempt(&mut self, who: u32, ability: u32) -> Answer {
        let root = self.next_op();
        let granted = self.grants[who as usize].iter().any(|grant| grant.ability == ability);
        assert!(granted, "everybody who tries an ability has it");
        if self.has(who, STUNNED) {
            return Answer::Blocked;
        }
        let cost = self.rules.definitions[COST];
        let (have, need) =
            (self.rows[who as usize].values[cost.modifier.attribute()].current, -cost.modifier.magnitude);
        if have - need < 0.0 {
            return Answer::Cost { have, need };
        }
        if self.has(who, COOLING) {
            return Answer::Cooldown { left: self.cooled_at(who) - self.now };
        }
        self.run(who, ability, root);
        Answer::Started
    }

    #[inline(never)]
    fn run(&mut self, who: u32, ability: u32, root: u64) {
        let cost = self.rules.definitions[COST];
        self.execute(who, &cost, &Reference::cause(COST as u16, who, root, 1));
        let cooldown = COOLDOWN as u16;
        let cause = Reference::cause(cooldown, who, root, 2);
        self.start(who, cooldown, self.own_duration(cooldown), cause);
        let key = EffectKey { origin_id: root, ordinal: 0 };
        let cause = Cause { source: who, key, definition: NONE, root, link: 1 };
        self.facts.push(cause.fact(self.now, who, Kind::Activated, ability));
        self.facts.push(cause.fact(self.now, who, Kind::Ended, ability));
    }
}
