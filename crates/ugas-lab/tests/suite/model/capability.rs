//! Capabilities: every capability of every controller is asked in every frame. Conditions are read from the documents
//! whenever they are needed; nothing sleeps.

mod frame;

use super::coded::{self, Call, Memory};
use super::effects::{flicks, under};
use super::generate::Documents;
use super::resources::RESOURCE;
use super::world::{Refused, World};
use std::collections::BTreeMap;
use ugas_doc::{AbilitySet, Capability, CapabilitySet, SetCapability, Side};

/// The longest interval.
const LONGEST: i64 = i64::MAX / 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Waiting,
    Elsewhere,
    Inactive,
    Active,
}

/// The handle of the grant, and the position in the list of all its entries.
pub(crate) type Key = (u64, usize);

/// One capability of a controller. Times are local.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) key: Key,
    /// The set that lists it.
    pub(crate) set: String,
    pub(crate) entry: SetCapability,
    pub(crate) stage: Stage,
    pub(crate) enabled: bool,
    pub(crate) ticks: bool,
    pub(crate) interval: i64,
    /// The last evaluation, the setup, or the last change of the interval.
    last: i64,
    /// The effects that it keeps applied.
    effects: Vec<u64>,
    memory: Memory,
}

impl Record {
    pub(crate) fn is_set_up(&self) -> bool {
        matches!(self.stage, Stage::Inactive | Stage::Active)
    }
}

/// Who blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Host(&'static str),
    Controller(u32),
    /// An effect on this controller.
    Effect(u32, u64),
    Capability(u64, usize),
}

/// The capabilities of a controller.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capable {
    /// In the order in which they run.
    pub(crate) records: Vec<Record>,
    /// All blocks that were made; those of sources that ended do not count.
    blocks: Vec<(String, Source)>,
    /// Nobody on this machine plays the controller.
    pub(crate) is_remote: bool,
}

/// The documents about capabilities, and what the current frame has left to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    pub(crate) documents: BTreeMap<String, Capability>,
    sets: BTreeMap<String, CapabilitySet>,
    /// Grants that capabilities of the current pass remove.
    leaving: Vec<u64>,
}

/// Whether it exists on one machine only, so that it must not change what is shared.
fn is_local_side(side: Side) -> bool {
    matches!(side, Side::LocalControlledOnly | Side::OwnerLocalControlledOnly | Side::AllClients)
}

impl World {
    /// The same with capabilities.
    pub(crate) fn capable(mut self, docs: &Documents) -> World {
        let named = docs.capabilities.iter().map(|c| (c.name.clone(), c.clone()));
        self.classes.documents = named.collect();
        self.classes.sets = docs.capability_sets.iter().map(|s| (s.name.clone(), s.clone())).collect();
        for set in &docs.capability_sets {
            // What it registers, as an ability set.
            let mut all = AbilitySet::new(&set.name);
            for part in self.parts(&set.name) {
                for data in &self.classes.sets[&part].data_components {
                    if !all.attribute_sets.contains(data) {
                        all.attribute_sets.push(data.clone());
                    }
                }
            }
            self.ability_sets.insert(set.name.clone(), all);
        }
        self
    }

    /// A set and the sets that it contains, those first.
    fn parts(&self, set: &str) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for inner in self.classes.sets.get(set).map_or(&[][..], |s| &s.sets) {
            for part in self.parts(inner) {
                if !all.contains(&part) {
                    all.push(part);
                }
            }
        }
        if !all.iter().any(|part| part == set) {
            all.push(set.to_owned());
        }
        all
    }

    fn entries(&self, set: &str) -> Vec<(String, SetCapability)> {
        let mut all = Vec::new();
        for part in self.parts(set) {
            let list = match self.classes.sets.get(&part) {
                Some(set) => &set.capabilities,
                None => &self.ability_sets[&part].capabilities,
            };
            all.extend(list.iter().map(|entry| (part.clone(), entry.clone())));
        }
        all
    }

    fn record(&self, who: u32, key: Key) -> Option<&Record> {
        self.rows.get(&who)?.play.capable.records.iter().find(|r| r.key == key)
    }

    fn record_mut(&mut self, who: u32, key: Key) -> &mut Record {
        self.play(who).capable.records.iter_mut().find(|r| r.key == key).expect("it exists")
    }

    // Adding and removing ---------------------------------------------------------------------------------------

    /// A capability set is held once, and an actor has the capabilities of one controller.
    pub(crate) fn admit_capabilities(&self, who: u32, set: &str) -> Result<(), Refused> {
        let is_capability_set = self.classes.sets.contains_key(set);
        if self.entries(set).is_empty() && !is_capability_set {
            return Ok(());
        }
        let adds = self.parts(set);
        let row = &self.rows[&who];
        let held = row.play.sets.iter().filter(|s| self.classes.sets.contains_key(&s.set));
        if is_capability_set && held.flat_map(|s| self.parts(&s.set)).any(|part| adds.contains(&part)) {
            return Err("SetHeld");
        }
        let is_rival = |(id, other): (&u32, &super::world::Row)| {
            *id != who && other.avatar == row.avatar && !other.play.capable.records.is_empty()
        };
        if row.avatar.is_some() && self.rows.iter().any(is_rival) { Err("SetHeld") } else { Ok(()) }
    }

    pub(crate) fn add_capabilities(&mut self, who: u32, handle: u64, set: &str) {
        let entries = self.entries(set);
        for (position, (set, entry)) in entries.iter().enumerate() {
            let record = Record {
                key: (handle, position),
                set: set.clone(),
                entry: entry.clone(),
                stage: Stage::Elsewhere,
                enabled: entry.enabled,
                ticks: entry.can_ever_tick,
                interval: flicks(entry.tick_interval),
                last: 0,
                effects: Vec::new(),
                memory: Memory::default(),
            };
            self.play(who).capable.records.push(record);
        }
        for position in 0..entries.len() {
            let key = (handle, position);
            self.step_fact(who, key, "StartLife");
            if self.runs_here(who, key) {
                self.arrive(who, key);
            }
        }
    }

    /// Removes some capabilities, from bottom to top.
    pub(crate) fn remove_capabilities(&mut self, who: u32, which: impl Fn(&Record) -> bool) {
        let records = &self.rows[&who].play.capable.records;
        let keys: Vec<Key> = records.iter().rev().filter(|r| which(r)).map(|r| r.key).collect();
        for key in keys {
            self.leave(who, key);
            self.step_fact(who, key, "EndLife");
            self.play(who).capable.records.retain(|r| r.key != key);
        }
    }

    fn arrive(&mut self, who: u32, key: Key) {
        self.record_mut(who, key).stage = Stage::Waiting;
        self.set_up(who, key);
    }

    fn leave(&mut self, who: u32, key: Key) {
        if self.record(who, key).expect("it exists").stage == Stage::Active {
            self.deactivate(who, key);
        }
        if self.record(who, key).expect("it exists").is_set_up() {
            self.step_fact(who, key, "EndCapability");
            self.call(who, key, Call::End);
            self.play(who).capable.blocks.retain(|b| b.1 != Source::Capability(key.0, key.1));
        }
        let record = self.record_mut(who, key);
        (record.stage, record.memory, record.effects) = (Stage::Elsewhere, Memory::default(), Vec::new());
    }

    /// Waits for its data components, then decides whether it is active.
    fn set_up(&mut self, who: u32, key: Key) {
        let record = self.record(who, key).expect("it exists");
        let needed = match self.classes.sets.get(&record.set) {
            Some(set) => &set.data_components,
            None => &self.ability_sets[&record.set].attribute_sets,
        };
        if !needed.iter().all(|set| self.rows[&who].sets.contains(set)) {
            self.count("Capability waits");
            return;
        }
        let now = self.local(who);
        let record = self.record_mut(who, key);
        (record.stage, record.last) = (Stage::Inactive, now);
        self.step_fact(who, key, "Setup");
        self.call(who, key, Call::Setup);
        let record = self.record(who, key).expect("it exists");
        let is_held = !record.enabled || record.ticks && self.is_blocked(who, record);
        if !is_held && !self.wants_end(who, record) {
            self.activate_capability(who, key);
        }
    }

    fn activate_capability(&mut self, who: u32, key: Key) {
        let class = &self.record(who, key).expect("it exists").entry.class;
        let doc = self.classes.documents.get(class);
        let conditions = doc.into_iter().flat_map(|doc| [&doc.when, &doc.until]).flatten();
        let reads_resource = conditions.filter(|text| text.contains(RESOURCE)).count() > 0;
        if class == coded::DRAIN || reads_resource {
            self.count("Capability by resource");
        }
        self.record_mut(who, key).stage = Stage::Active;
        self.step_fact(who, key, "Activated");
        self.call(who, key, Call::Activated);
    }

    fn deactivate(&mut self, who: u32, key: Key) {
        self.record_mut(who, key).stage = Stage::Inactive;
        self.step_fact(who, key, "Deactivated");
        self.call(who, key, Call::Deactivated);
    }

    fn step_fact(&mut self, who: u32, key: Key, step: &str) {
        let record = self.record(who, key).expect("it exists");
        let text = format!("Capability {} {} {step}", record.entry.class, record.set);
        self.emit(who, text);
    }

    // Blocks ----------------------------------------------------------------------------------------------------

    /// The blocks whose source exists.
    pub(crate) fn blocks(&self, who: u32) -> Vec<(String, Source)> {
        let exists = |source: &Source| match source {
            Source::Host(_) => true,
            Source::Controller(id) => self.rows.contains_key(id),
            Source::Effect(target, key) => {
                self.rows.get(target).is_some_and(|r| r.effects.iter().any(|e| e.key == *key))
            }
            Source::Capability(handle, position) => {
                self.record(who, (*handle, *position)).is_some_and(Record::is_set_up)
            }
        };
        self.rows[&who].play.capable.blocks.iter().filter(|b| exists(&b.1)).cloned().collect()
    }

    pub(crate) fn is_blocked(&self, who: u32, record: &Record) -> bool {
        let is_local = |source: &Source| match source {
            Source::Capability(handle, position) => {
                self.record(who, (*handle, *position)).is_some_and(|r| is_local_side(r.entry.side))
            }
            Source::Host(_) | Source::Controller(_) | Source::Effect(..) => false,
        };
        let entry = &record.entry;
        let blocks = |(tag, source): &(String, Source)| {
            entry.tags.iter().any(|t| under(t, tag)) && (is_local_side(entry.side) || !is_local(source))
        };
        self.blocks(who).iter().any(blocks) || entry.blocked_by.as_ref().is_some_and(|q| self.query_holds(who, q))
    }

    fn add_block(&mut self, who: u32, tag: &str, source: Source) {
        let block = (tag.to_owned(), source);
        let blocks = &mut self.play(who).capable.blocks;
        if !blocks.contains(&block) {
            blocks.push(block);
        }
    }

    // Operations ------------------------------------------------------------------------------------------------

    pub(crate) fn block_op(&mut self, who: u32, tag: &str, source: &Source) -> Result<(), Refused> {
        self.exists(who)?;
        let had = self.rows[&who].play.capable.blocks.clone();
        self.add_block(who, tag, source.clone());
        if self.blocks(who).iter().all(|b| b.1 != *source) {
            self.play(who).capable.blocks = had;
            return Err("StaleHandle");
        }
        Ok(())
    }

    pub(crate) fn unblock_op(&mut self, who: u32, tag: &str, source: &Source) -> Result<(), Refused> {
        self.exists(who)?;
        self.play(who).capable.blocks.retain(|b| b.0 != tag || b.1 != *source);
        Ok(())
    }

    fn check_class(&self, who: u32, class: &str) -> Result<(), Refused> {
        self.exists(who)?;
        let has = self.rows[&who].play.capable.records.iter().any(|r| r.entry.class == class);
        if has { Ok(()) } else { Err("NoCapability") }
    }

    pub(crate) fn enable_op(&mut self, who: u32, class: &str, on: bool) -> Result<(), Refused> {
        self.check_class(who, class)?;
        self.switch(who, class, |r| r.enabled = on);
        Ok(())
    }

    pub(crate) fn set_tick_op(
        &mut self,
        who: u32,
        class: &str,
        ticks: Option<bool>,
        interval: Option<i64>,
    ) -> Result<(), Refused> {
        self.check_class(who, class)?;
        if interval.is_some_and(|t| !(0..=LONGEST).contains(&t)) {
            return Err("BadValue");
        }
        self.switch(who, class, |r| r.ticks = ticks.unwrap_or(r.ticks));
        if let Some(interval) = interval {
            self.set_interval(who, class, interval);
        }
        Ok(())
    }

    // Sides -----------------------------------------------------------------------------------------------------

    pub(crate) fn set_local(&mut self, who: u32, is_local: bool) -> Result<(), Refused> {
        self.exists(who)?;
        let was_remote = std::mem::replace(&mut self.play(who).capable.is_remote, !is_local);
        if was_remote == is_local {
            self.evaluate_sides(who);
            self.owners_changed();
        }
        self.react();
        Ok(())
    }

    /// The owner of the owner and so on: each owner actor is the avatar of the next controller.
    pub(crate) fn outermost(&self, who: u32) -> u32 {
        let mut reached = vec![who];
        while reached.len() <= 16 {
            let last = reached[reached.len() - 1];
            let row = &self.rows[&last];
            let owner = row.owner.filter(|owner| row.avatar != Some(*owner));
            let next = owner.and_then(|owner| {
                self.rows.iter().find(|(id, r)| **id != last && r.avatar == Some(owner)).map(|(id, _)| *id)
            });
            match next {
                Some(next) if !reached.contains(&next) => reached.push(next),
                _ => break,
            }
        }
        reached[reached.len() - 1]
    }

    pub(crate) fn runs_here(&self, who: u32, key: Key) -> bool {
        let record = self.record(who, key).expect("it exists");
        let class = &record.entry.class;
        let is_played = |who: u32| !self.rows[&who].play.capable.is_remote;
        let behaves = self.classes.documents.contains_key(class) || coded::exists(class);
        behaves
            && match record.entry.side {
                Side::LocalControlledOnly => is_played(who),
                Side::OwnerLocalControlledOnly => is_played(self.outermost(who)),
                Side::Always | Side::AuthorityOnly | Side::AuthorityAndLocalControlled | Side::AllClients => true,
            }
    }

    /// Evaluates all sides again.
    pub(crate) fn owners_changed(&mut self) {
        let all: Vec<u32> = self.rows.keys().copied().collect();
        all.into_iter().for_each(|who| self.evaluate_sides(who));
    }

    fn evaluate_sides(&mut self, who: u32) {
        let records = &self.rows[&who].play.capable.records;
        let moved = records.iter().filter(|r| self.runs_here(who, r.key) != (r.stage != Stage::Elsewhere));
        let moved: Vec<(Key, Stage)> = moved.map(|r| (r.key, r.stage)).collect();
        for (key, _) in moved.iter().rev().filter(|m| m.1 != Stage::Elsewhere) {
            self.count("Capability leaves");
            self.leave(who, *key);
        }
        for (key, _) in moved.iter().filter(|m| m.1 == Stage::Elsewhere) {
            self.count("Capability arrives");
            self.arrive(who, *key);
        }
    }

    /// A controller that leaves takes the blocks with it that it and its effects made on others.
    pub(crate) fn take_blocks_along(&mut self, who: u32) {
        for (_, row) in self.rows.iter_mut().filter(|(id, _)| **id != who) {
            row.play.capable.blocks.retain(|(_, source)| match source {
                Source::Controller(id) | Source::Effect(id, _) => *id != who,
                Source::Host(_) | Source::Capability(..) => true,
            });
        }
    }
}
