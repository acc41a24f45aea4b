//! The plain loop: the same capabilities, written by hand. In every frame it visits all records of all actors, with the
//! checks that the runtime makes for a capability: enabled, blocked, interval, decision, tick.

use super::{Crowd, Entry, STAMINA, TIRES_AFTER};
use crate::plan::{FRAME, SECOND};

type Tag = u16;
const MOVE: Tag = 1;
const COMBAT: Tag = 2;
const STUNNED: Tag = 3;
const AWAKE: Tag = 4;

/// The part of an actor that behaviors read and write.
struct Body {
    stamina: f64,
    tags: Vec<Tag>,
}

impl Body {
    fn has(&self, tag: Tag) -> bool {
        self.tags.contains(&tag)
    }
}

/// A piece of behavior with its state.
trait Behavior {
    fn should_activate(&self, body: &Body) -> bool;
    fn should_deactivate(&self, body: &Body) -> bool {
        !self.should_activate(body)
    }
    fn tick(&mut self, _body: &mut Body, _elapsed: i64) {}
}

#[derive(Default)]
struct Walk {
    walked: i64,
}

impl Behavior for Walk {
    fn should_activate(&self, body: &Body) -> bool {
        body.stamina > 0.0
    }

    fn tick(&mut self, body: &mut Body, elapsed: i64) {
        self.walked += elapsed;
        if self.walked >= (TIRES_AFTER * SECOND as f64) as i64 {
            self.walked = 0;
            body.stamina -= 1.0;
        }
    }
}

struct Fresh;

impl Behavior for Fresh {
    fn should_activate(&self, body: &Body) -> bool {
        body.stamina > 49.0
    }
}

struct Rest;

impl Behavior for Rest {
    fn should_activate(&self, body: &Body) -> bool {
        !body.has(COMBAT) && body.stamina < 49.0
    }
}

struct Calm;

impl Behavior for Calm {
    fn should_activate(&self, body: &Body) -> bool {
        !body.has(COMBAT)
    }
}

struct Record {
    behavior: Box<dyn Behavior>,
    tags: Vec<Tag>,
    blocked_by: Option<Tag>,
    enabled: bool,
    ticks: bool,
    active: bool,
    interval: i64,
    last: i64,
}

impl Record {
    fn new(entry: Entry) -> Record {
        let behavior: Box<dyn Behavior> = match entry {
            Entry::Walk | Entry::StillWalk | Entry::DisabledWalk => Box::new(Walk::default()),
            Entry::Fresh => Box::new(Fresh),
            Entry::Rest => Box::new(Rest),
            Entry::Calm => Box::new(Calm),
        };
        Record {
            behavior,
            tags: vec![MOVE],
            blocked_by: Some(STUNNED),
            enabled: entry != Entry::DisabledWalk,
            ticks: entry != Entry::StillWalk,
            active: false,
            interval: 0,
            last: 0,
        }
    }
}

struct Actor {
    body: Body,
    /// The tags whose capabilities are blocked.
    blocks: Vec<Tag>,
    records: Vec<Record>,
}

impl Actor {
    fn new(crowd: Crowd) -> Actor {
        let body = Body { stamina: STAMINA, tags: vec![AWAKE] };
        let mut records: Vec<Record> = crowd.entries().map(Record::new).collect();
        for record in records.iter_mut().filter(|record| record.enabled) {
            record.active = !record.behavior.should_deactivate(&body);
        }
        Actor { body, blocks: Vec::new(), records }
    }
}

/// Actors whose capabilities a plain loop runs.
pub(super) struct PlainWorld {
    actors: Vec<Actor>,
    now: i64,
}

impl PlainWorld {
    pub(super) fn new(actors: u32, crowd: Crowd) -> PlainWorld {
        PlainWorld { actors: (0..actors).map(|_| Actor::new(crowd)).collect(), now: 0 }
    }

    /// Runs one frame.
    pub(super) fn step(&mut self) {
        self.now += FRAME;
        for Actor { body, blocks, records } in &mut self.actors {
            for record in records {
                if !record.enabled || !record.ticks {
                    continue;
                }
                let is_blocked = blocks.iter().any(|tag| record.tags.contains(tag));
                if is_blocked || record.blocked_by.is_some_and(|tag| body.has(tag)) {
                    record.active = false;
                    continue;
                }
                let elapsed = self.now - record.last;
                if elapsed < record.interval {
                    continue;
                }
                record.last = self.now;
                record.active = match record.active {
                    true => !record.behavior.should_deactivate(body),
                    false => record.behavior.should_activate(body),
                };
                if record.active {
                    record.behavior.tick(body, elapsed);
                }
            }
        }
    }

    /// Returns the stamina of an actor.
    #[cfg(test)]
    pub(super) fn stamina(&self, actor: usize) -> f64 {
        self.actors[actor].body.stamina
    }

    /// Returns which capabilities of an actor are active.
    #[cfg(test)]
    pub(super) fn active(&self, actor: usize) -> Vec<bool> {
        self.actors[actor].records.iter().map(|record| record.active).collect()
    }
}
