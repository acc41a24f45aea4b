//! The stick behind the doors that every subject has.

use super::fact::{Cause, EffectKey, Fact, Kind, NONE};
use super::{Definition, Stick, signature};
use crate::plan::{Ask, DAMAGE, FRAME, Life};
use crate::subject::Subject;

/// The controller all effects come from.
const SOURCE: u32 = 0;

impl Stick {
    fn tag_cause(&mut self) -> Cause {
        let root = self.next_op();
        Cause {
            source: NONE,
            key: EffectKey::NONE,
            definition: NONE,
            root,
            link: 0,
        }
    }

    /// An instant effect on one target.
    #[inline(always)]
    fn execute(&mut self, who: u32, definition: &Definition, cause: &Cause) {
        if self.accepts(who, definition) {
            self.facts.push(cause.fact(self.now, who, Kind::Applied, NONE));
            self.write_base(who, &definition.modifier, cause);
        }
    }

    fn own_duration(&self, effect: u16) -> i64 {
        match self.rules.definitions[usize::from(effect)].life {
            Life::Instant => 0,
            Life::Timed { duration } | Life::Periodic { duration, .. } => duration,
        }
    }
}

impl Subject for Stick {
    type Key = (u32, EffectKey);
    const NAME: &'static str = "stick";

    fn new(room: usize) -> Stick {
        Stick::with_room(room)
    }

    fn spawn_many(&mut self, count: usize) {
        self.spawn(count);
    }

    fn spawn_one(&mut self) {
        self.spawn(1);
    }

    #[inline]
    fn apply(&mut self, who: u32, effect: u16) -> Self::Key {
        self.apply_for(who, effect, self.own_duration(effect))
    }

    #[inline]
    fn apply_for(&mut self, who: u32, effect: u16, duration: i64) -> Self::Key {
        let root = self.next_op();
        let cause = Stick::cause(effect, SOURCE, root, 0);
        if let Some(touched) = self.start(who, effect, duration, cause) {
            self.settle(who, touched, &cause);
        }
        (who, cause.key)
    }

    #[inline]
    fn apply_all(&mut self, who: u32, effects: &[u16], keys: &mut Vec<Self::Key>) {
        let root = self.next_op();
        let mut touched = 0;
        for (ordinal, &effect) in effects.iter().enumerate() {
            let cause = Stick::cause(effect, SOURCE, root, ordinal as u32);
            touched |= self.start(who, effect, self.own_duration(effect), cause).unwrap_or(0);
            keys.push((who, cause.key));
        }
        self.settle(who, touched, &Stick::cause(0, SOURCE, root, 0));
    }

    #[inline]
    fn remove(&mut self, (who, key): Self::Key) {
        let root = self.next_op();
        if let Some(slot) = self.find(who, key) {
            let cause = Cause {
                root,
                link: 0,
                ..self.effects[slot as usize].cause()
            };
            let touched = self.stop(slot);
            self.settle(who, touched, &cause);
        }
    }

    #[inline]
    fn remove_all(&mut self, keys: &[Self::Key]) {
        let root = self.next_op();
        let mut touched = 0;
        for &(who, key) in keys {
            touched |= self.find(who, key).map_or(0, |slot| self.stop(slot));
        }
        if let Some(&(who, key)) = keys.first() {
            self.settle(
                who,
                touched,
                &Cause {
                    source: SOURCE,
                    key,
                    definition: NONE,
                    root,
                    link: 0,
                },
            );
        }
    }

    #[inline]
    fn hit(&mut self, who: u32) {
        let root = self.next_op();
        let definition = self.rules.definitions[DAMAGE];
        self.execute(who, &definition, &Stick::cause(DAMAGE as u16, SOURCE, root, 0));
    }

    #[inline]
    fn hit_many(&mut self, targets: &[u32]) {
        let root = self.next_op();
        let definition = self.rules.definitions[DAMAGE];
        let cause = Stick::cause(DAMAGE as u16, SOURCE, root, 0);
        self.facts.reserve(2 * targets.len());
        for &who in targets {
            self.execute(who, &definition, &cause);
        }
    }

    fn advance(&mut self, frames: i64) {
        self.advance_to(self.now + frames * FRAME);
    }

    #[inline]
    fn add_tag(&mut self, who: u32, tag: u16) {
        let cause = self.tag_cause();
        let Stick {
            rules,
            rows,
            tags,
            presence,
            facts,
            now,
            ..
        } = self;
        let row = &mut rows[who as usize];
        tags[who as usize].add(&mut presence[who as usize], &rules.tree, tag, |gained| {
            row.signature |= signature(gained);
            let fact = cause.fact(*now, who, Kind::TagGained, u32::from(gained));
            facts.push(Fact { new: 1.0, ..fact });
        });
    }

    #[inline]
    fn remove_tag(&mut self, who: u32, tag: u16) {
        let cause = self.tag_cause();
        let Stick {
            rules,
            rows,
            tags,
            presence,
            facts,
            now,
            ..
        } = self;
        let tags = &mut tags[who as usize];
        tags.remove(&mut presence[who as usize], &rules.tree, tag, |lost| {
            let fact = cause.fact(*now, who, Kind::TagLost, u32::from(lost));
            facts.push(Fact { old: 1.0, ..fact });
        });
        // Bits are shared between tags, so they are cleared only when no tag is left: a bit too many costs one look.
        if tags.is_empty() {
            rows[who as usize].signature = 0;
        }
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

    fn facts_digest(&self) -> u64 {
        self.facts.iter().fold(0xcbf2_9ce4_8422_2325, |hash, fact| {
            let words = [
                fact.at as u64,
                u64::from(fact.who) << 32 | u64::from(fact.source),
                fact.key.birth,
                u64::from(fact.key.ordinal) << 32 | u64::from(fact.definition),
                fact.root,
                u64::from(fact.link) << 32 | fact.kind as u64,
                u64::from(fact.subject),
                fact.old.to_bits(),
                fact.new.to_bits(),
                fact.old_base.to_bits(),
                fact.new_base.to_bits(),
            ];
            words.iter().fold(hash, |hash, word| {
                (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17)
            })
        })
    }

    fn due_done(&self) -> u64 {
        self.due_done
    }
}
