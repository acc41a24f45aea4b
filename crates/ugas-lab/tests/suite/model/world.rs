//! The model's state and the verbs that are not about effects: spawn, destroy, sets, clocks, time.
//!
//! Everything is a name, a `Vec` or a `BTreeMap`; the only cached values are those shown last, which facts need as
//! "old".

use super::calc::Frozen;
use super::eval::Node;
use super::notice::QueuedNotice;
use super::play::{Grant, Play, owned_tags};
use std::collections::{BTreeMap, VecDeque};
use ugas_doc::{Ability, AbilitySet, AttributeSet, Calculation, Curve, Effect, Resource, Stat};

/// No controller.
pub(crate) const NONE: u32 = u32::MAX;
/// The effect that grants innate tags.
pub(crate) const INITIAL_TAGS: &str = "GE_Initial_Tags";

/// Why a verb was refused: the kind's name.
pub(crate) type Refused = &'static str;

/// Something that happened, as text that can be compared, and the numbers that are compared with a tolerance.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub(crate) at: i64,
    pub(crate) who: u32,
    pub(crate) text: String,
    pub(crate) numbers: Vec<f64>,
}

/// The last shown value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) base: f64,
    pub(crate) current: f64,
    pub(crate) lo: f64,
    pub(crate) hi: f64,
}

/// An application before it happens.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) def: String,
    pub(crate) target: u32,
    pub(crate) source: u32,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    pub(crate) set_by_caller: BTreeMap<String, f64>,
    pub(crate) duration: Option<i64>,
    pub(crate) period: Option<i64>,
    /// The ability it comes from.
    pub(crate) ability: Option<String>,
}

impl Spec {
    pub(crate) fn new(def: &str, target: u32, source: u32) -> Spec {
        Spec {
            def: def.to_owned(),
            target,
            source,
            level: 1,
            stacks: 1,
            set_by_caller: BTreeMap::new(),
            duration: None,
            period: None,
            ability: None,
        }
    }
}

/// The magnitude of one modifier per stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unit {
    /// The caller did not set its value.
    Skipped,
    /// Found at application.
    Fixed(f64),
    /// Read from an attribute whenever it is needed; `last` is kept when the attribute is removed.
    Reading {
        /// The value read last.
        last: f64,
    },
    /// Calculated at each execution.
    AtExecution,
}

#[derive(Clone, Debug)]
pub(crate) struct ModState {
    pub(crate) unit: Unit,
    /// Whether its tag filter was met at the last check.
    pub(crate) holds: bool,
    /// Its attribute's set was removed by force.
    pub(crate) dropped: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Periodic {
    pub(crate) period: i64,
    pub(crate) anchor: i64,
    pub(crate) n: i64,
    pub(crate) executed: u32,
    pub(crate) missed: u32,
}

impl Periodic {
    pub(crate) fn next(&self) -> i64 {
        self.anchor + self.n * self.period
    }
}

/// An active effect. Times are local.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub(crate) key: u64,
    pub(crate) seq: u64,
    pub(crate) def: String,
    pub(crate) source: u32,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    pub(crate) set_by_caller: BTreeMap<String, f64>,
    pub(crate) end: Option<i64>,
    pub(crate) length: i64,
    pub(crate) periodic: Option<Periodic>,
    pub(crate) inhibited: bool,
    pub(crate) mods: Vec<ModState>,
    pub(crate) tags: Vec<String>,
    pub(crate) ability: Option<String>,
    /// What its source showed immediately before it was destroyed.
    pub(crate) frozen: Option<Frozen>,
    /// It began inhibited: the execution of its application runs once its requirements hold.
    pub(crate) owes_execution: bool,
}

impl Inst {
    /// Executions so far and how long until the next, if it comes before the end.
    pub(crate) fn next_execution(&self, now: i64) -> Option<(u32, i64)> {
        let p = self.periodic.filter(|p| self.end.is_none_or(|end| p.next() <= end))?;
        Some((p.executed, p.next() - now))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) sets: Vec<String>,
    pub(crate) base: BTreeMap<String, f64>,
    pub(crate) effects: Vec<Inst>,
    /// Cues of effects that are being removed: each plays until its removal stops it.
    pub(crate) leaving_cues: Vec<String>,
    pub(crate) queue: Vec<(u64, Spec)>,
    pub(crate) grants: Vec<Grant>,
    anchor: i64,
    anchor_local: i64,
    pub(crate) rate: u32,
    pub(crate) active: bool,
    pub(crate) play: Play,
    /// The actors it belongs to and moves.
    pub(crate) owner: Option<u32>,
    pub(crate) avatar: Option<u32>,
    /// Its position on a line.
    pub(crate) place: Option<f64>,
    /// The effects that belong to its resources, with the sets of these.
    pub(crate) belonging: Vec<(String, u64)>,
}

impl Row {
    /// Whether a held input is to be tried again.
    pub(crate) fn retries(&self) -> bool {
        self.play.held.values().any(|h| h.retry)
    }
    /// The local time to wait for until a time of the sim has come, on the clock as it goes now.
    pub(crate) fn local_reaching(&self, sim: i64) -> i64 {
        let mut times = self.local(sim)..;
        times.find(|&local| self.due(local).is_none_or(|due| due >= sim)).expect("times do not end")
    }

    fn running(&self) -> i128 {
        if self.active { self.rate as i128 } else { 0 }
    }
    pub(crate) fn local(&self, now: i64) -> i64 {
        self.anchor_local + ((now - self.anchor) as i128 * self.running()).div_euclid(65536) as i64
    }
    /// The first sim time that shows `local`.
    pub(crate) fn due(&self, local: i64) -> Option<i64> {
        let rate = self.running();
        if rate == 0 {
            return None;
        }
        let ahead = (local - self.anchor_local) as i128 * 65536;
        Some(self.anchor + (ahead + rate - 1).div_euclid(rate) as i64)
    }
    pub(crate) fn set_clock(&mut self, now: i64, rate: u32, active: bool) {
        if (rate, active) != (self.rate, self.active) {
            self.anchor_local = self.local(now);
            self.anchor = now;
            (self.rate, self.active) = (rate, active);
        }
        // What waits for a time of the sim meets it at another local time.
        let dues: Vec<_> = self.play.tasks.iter().map(|t| t.until.map(|u| self.local_reaching(u))).collect();
        let local = self.local(now);
        for (t, due) in self.play.tasks.iter_mut().zip(dues).filter(|(_, due)| due.is_some()) {
            t.due = due.map(|due| due.max(local));
            t.late = t.too_long.map(|late| late.max(local)) < t.due && t.too_long.is_some();
            t.due = if t.late { t.too_long.map(|late| late.max(local)) } else { t.due };
        }
    }
}

/// What waits until the verb is done.
#[derive(Clone, Debug)]
pub(crate) enum Reaction {
    Apply(Spec),
    NextInSequence(u32, String),
    Recheck(u32, Vec<u64>),
    Notice(QueuedNotice),
    /// All ticks of a cast without length.
    Ticks(u32, u64),
}

/// The parts of a new controller.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spawn {
    pub(crate) sets: Vec<String>,
    pub(crate) base: Vec<(String, f64)>,
    pub(crate) tags: Vec<String>,
    pub(crate) abilities: Vec<(String, u32, Option<String>)>,
    pub(crate) effects: Vec<String>,
    pub(crate) owner: Option<u32>,
    pub(crate) avatar: Option<u32>,
    pub(crate) place: Option<f64>,
    pub(crate) ability_sets: Vec<String>,
}

/// Everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) sets: BTreeMap<String, AttributeSet>,
    pub(crate) effects: BTreeMap<String, Effect>,
    pub(crate) curves: BTreeMap<String, Curve>,
    pub(crate) abilities: BTreeMap<String, Ability>,
    pub(crate) ability_sets: BTreeMap<String, AbilitySet>,
    pub(crate) calculations: BTreeMap<String, Calculation>,
    pub(crate) classes: super::capability::Classes,
    pub(crate) resources: BTreeMap<String, Resource>,
    /// Stats by table and attribute.
    pub(crate) stats: BTreeMap<(String, String), Stat>,
    pub(crate) now: i64,
    pub(crate) rows: BTreeMap<u32, Row>,
    pub(crate) next_id: u32,
    pub(crate) next_key: u64,
    pub(crate) next_seq: u64,
    pub(crate) shown: BTreeMap<Node, Shown>,
    /// Where the writes of the latest settle started from.
    pub(crate) starts: BTreeMap<String, f64>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) reactions: VecDeque<Reaction>,
    /// Effects to recheck after the verb, by controller.
    pub(crate) rechecks: Vec<(u32, Vec<u64>)>,
    pub(crate) flips: BTreeMap<u64, u32>,
    /// Effects whose missed executions run once nothing else is left to do.
    pub(crate) catch_ups: Vec<(u32, u64)>,
    /// Reactions that were refused, with the kind: diagnostics in the runtime.
    pub(crate) refused_reactions: Vec<Refused>,
    /// Notices for abilities, delivered after the verb.
    pub(crate) notices: Vec<QueuedNotice>,
    /// More followed from one cause than is compared.
    pub(crate) storm: bool,
    pub(crate) next_frame: Option<i64>,
    /// Derived attributes of the latest spawn that had no finite value.
    pub(crate) not_finite: Vec<Node>,
    /// Handles of ability sets that were granted in this op.
    pub(crate) handles: Vec<u64>,
    /// What attributes showed before an application that settles several times; facts come at its end.
    pub(crate) later: Option<Vec<(Node, Shown)>>,
    /// How often what happened.
    pub(crate) tally: BTreeMap<String, u64>,
}

impl World {
    pub(crate) fn new(sets: &[AttributeSet], effects: &[Effect], curves: &[Curve]) -> World {
        let mut world = World::default();
        world.effects.insert(INITIAL_TAGS.into(), Effect::infinite(INITIAL_TAGS));
        sets.iter().for_each(|s| drop(world.sets.insert(s.name.clone(), s.clone())));
        effects.iter().for_each(|e| drop(world.effects.insert(e.name.clone(), e.clone())));
        curves.iter().for_each(|c| drop(world.curves.insert(c.name.clone(), c.clone())));
        world
    }

    /// The same with abilities.
    pub(crate) fn with(mut self, abilities: &[Ability], sets: &[AbilitySet]) -> World {
        for a in abilities {
            let (name, tags) = (owned_tags(&a.name), &a.tags.activation_owned_tags);
            if !tags.is_empty() {
                let effect = Effect { granted_tags: tags.clone(), ..Effect::infinite(name.clone()) };
                self.effects.insert(name, effect);
            }
            self.abilities.insert(a.name.clone(), a.clone());
        }
        sets.iter().for_each(|s| drop(self.ability_sets.insert(s.name.clone(), s.clone())));
        self
    }

    pub(crate) fn key(&mut self) -> u64 {
        self.next_key += 1;
        self.next_key
    }

    pub(crate) fn row(&mut self, who: u32) -> &mut Row {
        self.rows.get_mut(&who).expect("it exists")
    }

    pub(crate) fn local(&self, who: u32) -> i64 {
        self.rows[&who].local(self.now)
    }

    pub(crate) fn get(&self, who: u32, attribute: &str) -> Option<f64> {
        self.shown.get(&(who, attribute.to_owned())).map(|s| s.current)
    }

    pub(crate) fn exists(&self, who: u32) -> Result<(), Refused> {
        if self.rows.contains_key(&who) { Ok(()) } else { Err("StaleHandle") }
    }

    // Controllers -----------------------------------------------------------------------------------------------

    pub(crate) fn spawn(&mut self, spec: &Spawn) -> Result<u32, Refused> {
        if spec.sets.is_empty() {
            return Err("NoSets");
        }
        for n in 1..=spec.sets.len() {
            self.check_sets(&spec.sets[..n])?;
        }
        let who = self.next_id;
        self.next_id += 1;
        let row = Row {
            sets: spec.sets.clone(),
            base: BTreeMap::new(),
            effects: Vec::new(),
            leaving_cues: Vec::new(),
            queue: Vec::new(),
            grants: Vec::new(),
            anchor: self.now,
            anchor_local: 0,
            rate: 65536,
            active: true,
            play: Play::default(),
            owner: spec.owner,
            avatar: spec.avatar.or(spec.owner),
            place: spec.place,
            belonging: Vec::new(),
        };
        self.rows.insert(who, row);
        self.register(who, &self.attributes(who));
        for (attribute, value) in &spec.base {
            self.row(who).base.insert(attribute.clone(), *value);
        }
        self.settle(&[], who, Vec::new(), NONE);
        let values = self.shown_values();
        let nodes = self.attributes(who).into_iter().map(|a| (who, a));
        self.not_finite = nodes.filter(|n| self.is_not_finite(n, &values)).collect();
        self.emit(who, "Spawned".into());
        spec.sets.iter().for_each(|set| self.report_resource(who, set));
        for (ability, level, input) in &spec.abilities {
            self.give(who, ability, *level, input.clone(), None);
        }
        if !spec.tags.is_empty() {
            let key = self.key();
            self.begin(&Spec::new(INITIAL_TAGS, who, who), key, spec.tags.clone()).expect("tags are never refused");
        }
        spec.sets.iter().for_each(|set| self.apply_belonging(who, set));
        for effect in &spec.effects {
            let key = self.key();
            if let Err(kind) = self.apply_now(&Spec::new(effect, who, who), key) {
                self.refused_reactions.push(kind);
            }
        }
        for set in &spec.ability_sets {
            if let Err(kind) = self.grant_set(who, set) {
                self.refused_reactions.push(kind);
            }
        }
        self.owners_changed();
        self.react();
        Ok(who)
    }

    /// Initial values: clamped defaults, referenced attributes first.
    fn register(&mut self, who: u32, new: &[String]) {
        for attribute in self.slots(who).into_iter().filter(|a| new.contains(a)) {
            let node = (who, attribute.clone());
            let default = self.attribute(&node).and_then(|d| d.default_base_value).unwrap_or(0.0);
            self.row(who).base.insert(attribute.clone(), default);
            // Everything before it has its value; what comes later does not matter to it.
            let clamped = self.clamped_default(&node, default);
            self.row(who).base.insert(attribute, clamped);
        }
    }

    fn check_sets(&self, sets: &[String]) -> Result<(), Refused> {
        let (set, before) = sets.split_last().expect("at least one");
        if before.contains(set) {
            return Err("SetRegistered");
        }
        if self.sets[set].dependencies.iter().any(|d| !before.contains(d)) {
            return Err("SetMissing");
        }
        let has = |name: &str| before.iter().any(|b| self.sets[b].attributes.iter().any(|a| a.name == name));
        if self.sets[set].attributes.iter().any(|a| has(&a.name)) {
            return Err("DuplicateAttribute");
        }
        Ok(())
    }

    pub(crate) fn despawn(&mut self, who: u32) -> Result<(), Refused> {
        self.exists(who)?;
        self.freeze(who);
        self.remove_capabilities(who, |_| true);
        self.row(who).queue.clear();
        // What abilities do as they end goes too.
        while !self.rows[&who].effects.is_empty() || !self.rows[&who].grants.is_empty() {
            while let Some(key) = self.rows[&who].effects.first().map(|e| e.key) {
                self.end_effect(who, key, "Destroyed");
            }
            while let Some(id) = self.rows[&who].grants.first().map(|g| g.id) {
                self.revoke_grant(who, id);
            }
        }
        self.emit(who, "Despawned".into());
        self.freeze(who);
        self.rows.remove(&who);
        self.shown.retain(|n, _| n.0 != who);
        self.check_casters_at(who);
        self.owners_changed();
        self.react();
        Ok(())
    }

    pub(crate) fn add_set(&mut self, who: u32, set: &str) -> Result<(), Refused> {
        let result = self.add_set_now(who, set);
        self.react();
        result
    }

    pub(crate) fn add_set_now(&mut self, who: u32, set: &str) -> Result<(), Refused> {
        self.exists(who)?;
        let mut sets = self.rows[&who].sets.clone();
        sets.push(set.to_owned());
        self.check_sets(&sets)?;
        self.row(who).sets = sets;
        if self.has_cycle() {
            self.row(who).sets.pop();
            return Err("Cycle");
        }
        let new: Vec<String> = self.sets[set].attributes.iter().map(|a| a.name.clone()).collect();
        self.register(who, &new);
        self.emit(who, format!("SetAdded {set}"));
        let touched: Vec<Node> = new.into_iter().map(|a| (who, a)).collect();
        self.settle(&touched, who, Vec::new(), NONE);
        self.report_resource(who, set);
        self.apply_belonging(who, set);
        Ok(())
    }

    pub(crate) fn remove_set(&mut self, who: u32, set: &str, force: bool) -> Result<(), Refused> {
        let result = self.remove_set_now(who, set, force);
        self.react();
        result
    }

    pub(crate) fn remove_set_now(&mut self, who: u32, set: &str, force: bool) -> Result<(), Refused> {
        self.exists(who)?;
        let sets = self.rows[&who].sets.clone();
        if !sets.iter().any(|s| s == set) {
            return Err("SetMissing");
        }
        if sets.len() == 1 {
            return Err("NoSets");
        }
        let gone: Vec<String> = self.sets[set].attributes.iter().map(|a| a.name.clone()).collect();
        let declared = sets.iter().any(|s| self.sets[s].dependencies.iter().any(|d| d == set));
        let mut others = self.attributes(who).into_iter().filter(|a| !gone.contains(a));
        if declared || others.any(|a| self.own_reads(&(who, a)).iter().any(|r| gone.contains(&r.1))) {
            return Err("SetNeeded");
        }
        let defs = &self.effects;
        let used = |e: &Inst| {
            let mods = defs[&e.def].modifiers.iter().zip(&e.mods);
            mods.filter(|(_, s)| !s.dropped).any(|(m, _)| gone.contains(&m.attribute))
        };
        let own = self.belonging(who, set);
        if !force && self.rows[&who].effects.iter().any(|e| used(e) && !own.contains(&e.key)) {
            return Err("SetInUse");
        }
        for key in own {
            self.remove_now(who, key, -1).expect("it is active or queued");
        }
        self.row(who).belonging.retain(|(of, _)| of != set);
        let last = self.resources.get(set).and_then(|r| self.get(who, &r.name));
        let defs = self.effects.clone();
        let row = self.row(who);
        row.sets.retain(|s| s != set);
        for e in &mut row.effects {
            for (m, state) in defs[&e.def].modifiers.iter().zip(&mut e.mods) {
                state.dropped |= gone.contains(&m.attribute);
            }
        }
        row.base.retain(|a, _| !gone.contains(a));
        self.shown.retain(|n, _| n.0 != who || !gone.contains(&n.1));
        self.settle(&[], who, Vec::new(), NONE);
        self.emit(who, format!("SetRemoved {set}"));
        if let Some(last) = last {
            self.emit_with(who, format!("Resource {set} Removed"), vec![last, 0.0]);
        }
        Ok(())
    }

    /// Extracts and inserts into the same sim at the same time: nothing may be lost.
    pub(crate) fn extract_insert(&mut self, who: u32) -> Result<(), Refused> {
        self.exists(who)?;
        self.emit(who, "Despawned".into());
        self.take_blocks_along(who);
        self.emit(who, "Restored".into());
        Ok(())
    }
}
