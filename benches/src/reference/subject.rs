//! Implements the measured interface for the reference implementation.

use super::fact::{Cause, EffectKey, Kind, NONE};
use super::{Definition, Grant, Reference};
use crate::plan::{Ask, DAMAGE, FRAME, Life, TAG_EFFECTS};
use crate::subject::{Answer, Subject};

/// The source of all effects.
const SOURCE: u32 = 0;

impl Reference {
    /// An instant effect on one target.
    #[inline(always)]
    pub(super) fn execute(&mut self, who: u32, definition: &Definition, cause: &Cause) {
        if self.accepts(who, definition) {
            self.facts.push(cause.fact(self.now, who, Kind::Applied, NONE));
            self.write_base(who, &definition.modifier, cause);
        }
    }

    pub(super) fn own_duration(&self, effect: u16) -> i64 {
        match self.rules.definitions[usize::from(effect)].life {
            Life::Instant | Life::Infinite { .. } => 0,
            Life::Timed { duration } | Life::Periodic { duration, .. } | Life::Cooldown { duration, .. } => duration,
        }
    }
}

impl Subject for Reference {
    type Key = (u32, EffectKey);
    type Tag = u16;
    const NAME: &'static str = super::NAME;

    fn new(room: usize) -> Reference {
        Reference::with_room(room)
    }

    fn spawn_many(&mut self, count: usize) {
        self.spawn(count);
    }

    fn spawn_one(&mut self) {
        self.spawn(1);
    }

    fn spawn_full(&mut self, tags: &[u16]) {
        let who = self.rows.len() as u32;
        self.spawn(1);
        let grant = |ability| Grant { ability: ability as u32, level: 1, input: NONE, by: 0 };
        self.grants.push(std::array::from_fn(grant));
        let cause = Reference::cause(0, who, self.ops, 0);
        tags.iter().for_each(|&tag| self.give_tag(who, tag, &cause));
    }

    #[inline]
    fn apply(&mut self, who: u32, effect: u16) -> Self::Key {
        self.apply_for(who, effect, self.own_duration(effect))
    }

    #[inline]
    fn apply_for(&mut self, who: u32, effect: u16, duration: i64) -> Self::Key {
        let root = self.next_op();
        let cause = Reference::cause(effect, SOURCE, root, 0);
        if let Some(touched) = self.start(who, effect, duration, cause) {
            self.settle(who, touched, &cause);
        }
        (who, cause.key)
    }

    #[inline]
    fn apply_all(&mut self, who: u32, effects: &[u16], keys: &mut Vec<Self::Key>) {
        let root = self.next_op();
        for (ordinal, &effect) in effects.iter().enumerate() {
            let cause = Reference::cause(effect, SOURCE, root, ordinal as u32);
            // The runtime tells what each application changed, so the batch may not settle once for all.
            if let Some(touched) = self.start(who, effect, self.own_duration(effect), cause) {
                self.settle(who, touched, &cause);
            }
            keys.push((who, cause.key));
        }
    }

    #[inline]
    fn remove(&mut self, (who, key): Self::Key) {
        let root = self.next_op();
        if let Some(slot) = self.find(who, key) {
            let cause = Cause { root, link: 0, ..self.effects[slot as usize].cause() };
            let touched = self.stop(slot);
            self.settle(who, touched, &cause);
        }
    }

    #[inline]
    fn hit(&mut self, who: u32) {
        let root = self.next_op();
        let definition = self.rules.definitions[DAMAGE];
        self.execute(who, &definition, &Reference::cause(DAMAGE as u16, SOURCE, root, 0));
    }

    #[inline]
    fn hit_many(&mut self, targets: &[u32]) {
        let root = self.next_op();
        let definition = self.rules.definitions[DAMAGE];
        let cause = Reference::cause(DAMAGE as u16, SOURCE, root, 0);
        self.facts.reserve(2 * targets.len());
        for &who in targets {
            self.execute(who, &definition, &cause);
        }
    }

    #[inline]
    fn activate(&mut self, who: u32, ability: usize) -> Answer {
        self.attempt(who, ability as u32)
    }

    fn advance(&mut self, frames: i64) {
        self.advance_to(self.now + frames * FRAME);
    }

    #[inline]
    fn add_tag(&mut self, who: u32, tag: u16) -> Self::Key {
        self.apply_for(who, TAG_EFFECTS + tag, i64::MAX / 4)
    }

    fn tag(&self, tag: u16) -> u16 {
        tag
    }

    #[inline]
    fn ask(&self, who: u32, ask: Ask) -> bool {
        let tags = &self.presence[who as usize];
        match ask {
            Ask::All([a, b, c]) => tags.has(a) & tags.has(b) & tags.has(c),
            Ask::Any([a, b, c]) => tags.has(a) | tags.has(b) | tags.has(c),
            Ask::One(tag) => tags.has(tag),
        }
    }

    #[inline]
    fn current(&self, who: u32, attribute: usize) -> f64 {
        self.rows[who as usize].values[attribute].current
    }

    #[inline]
    fn base(&self, who: u32, attribute: usize) -> f64 {
        self.rows[who as usize].values[attribute].base
    }

    #[inline]
    fn take_facts(&mut self) -> usize {
        let count = self.facts.len();
        self.facts.clear();
        count
    }

    fn drop_buffers(&mut self) {
        self.facts = Vec::new();
    }

    fn facts_digest(&self) -> u64 {
        self.facts.iter().fold(0xcbf2_9ce4_8422_2325, |hash, fact| {
            let words = [
                fact.at as u64,
                u64::from(fact.who) << 32 | u64::from(fact.source),
                fact.key.origin_id,
                u64::from(fact.key.ordinal) << 32 | u64::from(fact.definition),
                fact.root,
                u64::from(fact.link) << 32 | fact.kind as u64,
                u64::from(fact.subject),
                fact.old.to_bits(),
                fact.new.to_bits(),
                fact.old_base.to_bits(),
                fact.new_base.to_bits(),
            ];
            words.iter().fold(hash, |hash, word| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17))
        })
    }

    fn due_done(&self) -> u64 {
        self.due_done
    }
}
