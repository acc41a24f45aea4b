//! The reference implementation: hand-written, safe Rust for exactly the work of W1 to W6. It has no data files, no
//! expressions, no stacking and no explanations.
//!
//! In the workloads it does the same work as the runtime: base and current values in f64, bounds given by other
//! attributes, modifiers summed from scratch in a canonical order, times in flicks, due work in exact order, effects
//! found by their key, and facts of 96 bytes that contain their cause.

mod ability;
mod due;
mod fact;
mod few;
mod settle;
mod subject;
mod tag;
#[cfg(test)]
mod tests;
mod value;

use crate::plan::{self, ABILITIES_EACH, ATTRIBUTES, Life, TagTree};
use due::{Due, Entry, Phase};
pub(crate) use fact::EffectKey;
use fact::{Cause, Fact, Kind, NONE};
use tag::{Presence, Tags};
use value::{Modifier, Modifiers, Operation, Value};

/// A controller. The fields that are read first come before the values, so that a hit reads one cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Row {
    /// One bit per hash of a present tag: a quick "surely not".
    signature: u64,
    /// The next application's place in this controller's order.
    sequence: u64,
    /// The newest effect of this controller.
    newest: u32,
    /// The attributes that modifiers act on.
    modified: u16,
    alive: bool,
    values: [Value; ATTRIBUTES],
}

/// The part of an active effect that every step reads; it fits in one cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Effect {
    key: EffectKey,
    root: u64,
    end: i64,
    sequence: u64,
    who: u32,
    source: u32,
    definition: u32,
    link: u32,
    /// The controller's next newer and next older effect.
    newer: u32,
    older: u32,
}

/// The rest of an active effect. It is written because the runtime must keep this data; the workloads never read it.
#[derive(Clone, Copy)]
#[allow(dead_code)]
struct Detail {
    start: i64,
    level: u32,
    stacks: u32,
}

impl Effect {
    /// The sequence of a free place.
    const FREE: u64 = u64::MAX;

    fn cause(&self) -> Cause {
        let Effect { key, source, definition, root, link, .. } = *self;
        Cause { source, key, definition, root, link }
    }
}

/// A granted ability. Except for the ability, the fields are written because the runtime must keep this data; the
/// workloads never read them.
#[derive(Clone, Copy)]
#[allow(dead_code)]
struct Grant {
    ability: u32,
    level: u32,
    input: u32,
    /// The effect that granted it.
    by: u64,
}

/// A compiled effect.
#[derive(Clone, Copy)]
struct Definition {
    modifier: Modifier,
    life: Life,
    blocked_by: u16,
    blocked_signature: u64,
}

/// The data that never changes while the store runs.
struct Rules {
    template: Row,
    /// For each attribute the one that caps it, or [`Rules::NO_CAP`]; all capped attributes are at least 0.
    cap: [u8; ATTRIBUTES],
    /// For each attribute the set of those it caps.
    capped: [u16; ATTRIBUTES],
    definitions: Vec<Definition>,
    tree: TagTree,
}

impl Rules {
    const NO_CAP: u8 = u8::MAX;

    fn new() -> Rules {
        let mut cap = [Rules::NO_CAP; ATTRIBUTES];
        let mut capped = [0; ATTRIBUTES];
        let mut base = plan::template();
        for (low, high) in plan::CAPS {
            cap[low] = high as u8;
            capped[high] |= 1 << low;
            base[low] = base[low].max(0.0).min(base[high]);
        }
        let tree = TagTree::new();
        let granting = (0..tree.end.len() as u16).map(|grants| Definition {
            modifier: Modifier::FILLER,
            life: Life::Infinite { grants },
            blocked_by: plan::IMMUNE,
            blocked_signature: signature(plan::IMMUNE),
        });
        let compile = |effect: plan::EffectPlan| {
            let operation = match effect.operation {
                plan::Operation::Add => Operation::Add,
                plan::Operation::Multiply => Operation::Multiply,
            };
            Definition {
                modifier: Modifier::new(effect.attribute, operation, effect.channel, effect.magnitude),
                life: effect.life,
                blocked_by: plan::IMMUNE,
                blocked_signature: signature(plan::IMMUNE),
            }
        };
        Rules {
            template: Row {
                signature: 0,
                sequence: 0,
                newest: NONE,
                modified: 0,
                alive: true,
                values: base.map(|base| Value { current: base, base }),
            },
            cap,
            capped,
            definitions: plan::effects().into_iter().map(compile).chain(granting).collect(),
            tree,
        }
    }
}

#[inline]
fn signature(tag: u16) -> u64 {
    1 << (u64::from(tag).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58)
}

/// The name of the reference implementation in the tables.
pub(crate) const NAME: &str = "reference";

/// The store.
pub(crate) struct Reference {
    rules: Rules,
    rows: Vec<Row>,
    modifiers: Vec<Modifiers>,
    tags: Vec<Tags>,
    presence: Vec<Presence>,
    grants: Vec<[Grant; ABILITIES_EACH]>,
    effects: Vec<Effect>,
    details: Vec<Detail>,
    /// The first free place among the effects; the others follow through `older`.
    free: u32,
    due: Due,
    due_done: u64,
    now: i64,
    /// The number of ops so far; the number of an op is the root cause of its facts.
    ops: u64,
    facts: Vec<Fact>,
}

impl Reference {
    fn with_room(room: usize) -> Reference {
        Reference {
            rules: Rules::new(),
            rows: Vec::with_capacity(room),
            modifiers: Vec::with_capacity(room),
            tags: Vec::with_capacity(room),
            presence: Vec::with_capacity(room),
            grants: Vec::new(),
            effects: Vec::new(),
            details: Vec::new(),
            free: NONE,
            due: Due::new(),
            due_done: 0,
            now: 0,
            ops: 0,
            facts: Vec::new(),
        }
    }

    fn next_op(&mut self) -> u64 {
        self.ops += 1;
        self.ops
    }

    fn spawn(&mut self, count: usize) {
        let root = self.next_op();
        let first = self.rows.len();
        self.rows.resize(first + count, self.rules.template);
        self.modifiers.resize_with(first + count, Modifiers::new);
        self.tags.resize_with(first + count, Tags::new);
        self.presence.resize(first + count, Presence::EMPTY);
        let cause = Cause { source: NONE, key: EffectKey::NONE, definition: NONE, root, link: 0 };
        let facts = (first..first + count).map(|who| cause.fact(self.now, who as u32, Kind::Spawned, NONE));
        self.facts.extend(facts);
    }

    /// Returns the controller's index, if it is alive and the effect is not blocked.
    #[inline]
    fn accepts(&self, who: u32, definition: &Definition) -> bool {
        let row = &self.rows[who as usize];
        let maybe_blocked = row.signature & definition.blocked_signature != 0;
        row.alive && !(maybe_blocked && self.presence[who as usize].has(definition.blocked_by))
    }

    /// Adds the effect and its modifier without settling; the set of attributes to settle is returned.
    #[inline]
    fn start(&mut self, who: u32, effect: u16, duration: i64, cause: Cause) -> Option<u16> {
        let definition = self.rules.definitions[usize::from(effect)];
        if !self.accepts(who, &definition) {
            return None;
        }
        let end = self.now + duration;
        let row = &mut self.rows[who as usize];
        let sequence = row.sequence;
        row.sequence += 1;
        let record = Effect {
            key: cause.key,
            root: cause.root,
            end,
            sequence,
            who,
            source: cause.source,
            definition: cause.definition,
            link: cause.link,
            newer: NONE,
            older: row.newest,
        };
        let detail = Detail { start: self.now, level: 1, stacks: 1 };
        let slot = if self.free == NONE {
            if self.effects.len() == self.effects.capacity() {
                self.effects.reserve_exact(self.effects.len() / 4 + 64);
                self.details.reserve_exact(self.effects.len() / 4 + 64);
            }
            self.effects.push(record);
            self.details.push(detail);
            self.effects.len() as u32 - 1
        } else {
            let slot = self.free;
            let place = &mut self.effects[slot as usize];
            self.free = place.older;
            *place = record;
            self.details[slot as usize] = detail;
            slot
        };
        let older = std::mem::replace(&mut row.newest, slot);
        if older != NONE {
            self.effects[older as usize].newer = slot;
        }
        self.facts.push(cause.fact(self.now, who, Kind::Applied, NONE));
        if let Life::Infinite { grants } = definition.life {
            self.give_tag(who, grants, &cause);
            return Some(0);
        }
        self.due.push(Entry::new(end, Phase::Expiry, who, sequence, slot));
        if let Life::Cooldown { grants, .. } = definition.life {
            self.give_tag(who, grants, &cause);
            return Some(0);
        }
        if let Life::Periodic { period, .. } = definition.life {
            self.due.push(Entry::new(self.now + period, Phase::Periodic, who, sequence, slot));
            return Some(0);
        }
        let set = 1 << definition.modifier.attribute();
        self.rows[who as usize].modified |= set;
        self.modifiers[who as usize].insert(definition.modifier.owned_by(slot));
        Some(set)
    }

    /// Takes an effect out without settling; the set of attributes to settle is returned.
    #[inline]
    fn stop(&mut self, slot: u32) -> u16 {
        let effect = &mut self.effects[slot as usize];
        let (who, newer, older, cause) = (effect.who, effect.newer, effect.older, effect.cause());
        effect.sequence = Effect::FREE;
        effect.older = std::mem::replace(&mut self.free, slot);
        match newer {
            NONE => self.rows[who as usize].newest = older,
            newer => self.effects[newer as usize].older = older,
        }
        if older != NONE {
            self.effects[older as usize].newer = newer;
        }
        self.facts.push(cause.fact(self.now, who, Kind::Removed, NONE));
        let life = self.rules.definitions[cause.definition as usize].life;
        if let Life::Infinite { grants } | Life::Cooldown { grants, .. } = life {
            self.take_tag(who, grants, &cause);
            return 0;
        }
        let modifiers = &mut self.modifiers[who as usize];
        let touched = modifiers.remove_of(slot);
        if touched != 0 {
            self.rows[who as usize].modified = modifiers.attributes();
        }
        touched
    }

    #[inline]
    fn give_tag(&mut self, who: u32, tag: u16, cause: &Cause) {
        let row = &mut self.rows[who as usize];
        let (tags, presence) = (&mut self.tags[who as usize], &mut self.presence[who as usize]);
        tags.add(presence, &self.rules.tree, tag, |gained| {
            row.signature |= signature(gained);
            let fact = cause.fact(self.now, who, Kind::TagGained, u32::from(gained));
            self.facts.push(Fact { new: 1.0, ..fact });
        });
    }

    #[inline]
    fn take_tag(&mut self, who: u32, tag: u16, cause: &Cause) {
        let (tags, presence) = (&mut self.tags[who as usize], &mut self.presence[who as usize]);
        tags.remove(presence, &self.rules.tree, tag, |lost| {
            let fact = cause.fact(self.now, who, Kind::TagLost, u32::from(lost));
            self.facts.push(Fact { old: 1.0, ..fact });
        });
        // Bits are shared between tags, so they are cleared only when no tag is left: a bit too many costs one look.
        if tags.is_empty() {
            self.rows[who as usize].signature = 0;
        }
    }

    /// Returns an active effect of a controller by its key.
    #[inline]
    fn find(&self, who: u32, key: EffectKey) -> Option<u32> {
        let mut slot = self.rows[who as usize].newest;
        while slot != NONE {
            let effect = &self.effects[slot as usize];
            if effect.key == key {
                return Some(slot);
            }
            slot = effect.older;
        }
        None
    }

    fn advance_to(&mut self, until: i64) {
        while let Some(entry) = self.due.pop(until) {
            let effect = &self.effects[entry.slot as usize];
            if effect.sequence != entry.sequence || effect.who != entry.who() {
                continue;
            }
            self.now = entry.due;
            self.due_done += 1;
            let (who, end, cause) = (effect.who, effect.end, effect.cause());
            match entry.phase() {
                Phase::Periodic => {
                    let definition = self.rules.definitions[cause.definition as usize];
                    let cause = Cause { link: cause.link + 1, ..cause };
                    self.facts.push(cause.fact(self.now, who, Kind::Executed, NONE));
                    self.write_base(who, &definition.modifier, &cause);
                    if let Life::Periodic { period, .. } = definition.life
                        && entry.due + period <= end
                    {
                        self.due.push(entry.again_at(entry.due + period));
                    }
                }
                Phase::Expiry => {
                    let touched = self.stop(entry.slot);
                    self.settle(who, touched, &cause);
                }
            }
        }
        self.now = until;
    }
}
