//! Implementations of cues, such as particles, sounds and icons, registered by tag. The runtime only emits facts about
//! cues. Each client registers its own implementations with a [`CueManager`]. An implementation gets only `&Sim`, so it
//! cannot change the sim.
//!
//! ```compile_fail
//! use ugas::prelude::*;
//! use ugas::{BurstCue, CueContext};
//! struct Cheat;
//! impl BurstCue for Cheat {
//!     fn execute(&mut self, cx: &CueContext<'_>) {
//!         cx.sim.despawn(cx.target); // does not compile: a cue cannot change the sim
//!     }
//! }
//! ```

use crate::batch::{FactBatch, Occurrence};
use std::collections::BTreeMap;
use ugas_core::{ControllerId, CueType, EffectId, EffectKey, Fact, FactKind, ParamValue, Rules, Sim, SimTime, TagId};

/// The context of a triggered cue. If no fact triggers the cue (e.g. in [`CueManager::join`]), `source`, `effect` and
/// `key` are `None`, and `at` is the current time.
pub struct CueContext<'a> {
    /// The cue's tag, which may be a descendant of the registered tag.
    pub tag: TagId,
    /// The controller that the cue plays on.
    pub target: ControllerId,
    /// The controller that caused the cue, or `None` if the world caused it.
    pub source: Option<ControllerId>,
    /// The effect that triggered the cue, or `None` if an ability did.
    pub effect: Option<EffectId>,
    /// The effect application that triggered the cue, or `None` if an ability did.
    pub key: Option<EffectKey>,
    /// The time at which the cue was triggered.
    pub at: SimTime,
    /// The hit position, if the application has one.
    pub hit: Option<[f64; 3]>,
    /// The position at which the cue plays: the hit position, or else the position of the target.
    pub location: Option<[f64; 3]>,
    /// The effect's total duration, if the effect is active and not infinite.
    pub duration: Option<SimTime>,
    /// The effect's level, or 1 if no active effect triggered the cue.
    pub level: u32,
    /// The sim, from which the cue can read other values.
    pub sim: &'a Sim,
}

/// A cue that plays once, e.g. an impact or a flash.
pub trait BurstCue {
    /// Plays the burst.
    fn execute(&mut self, cx: &CueContext<'_>);

    /// Cancels a burst that was mispredicted. `self` is an instance of the same registration, but not necessarily the
    /// instance that played the burst. `cx.tag`, `cx.target` and `cx.key` identify the burst. `cx.hit` is `None`.
    fn cancel(&mut self, _cx: &CueContext<'_>) {}
}

/// A cue that plays until it is removed, e.g. an aura, an icon or the sound of burning.
pub trait LoopCue {
    /// Starts the loop.
    fn add(&mut self, cx: &CueContext<'_>);
    /// Stops the loop. The manager may reuse the instance for another loop.
    fn remove(&mut self, cx: &CueContext<'_>);
    /// Runs at each periodic execution of the effect while the loop plays.
    fn execute(&mut self, _cx: &CueContext<'_>) {}
    /// Cancels a periodic execution that was mispredicted.
    fn cancel(&mut self, _cx: &CueContext<'_>) {}
}

impl<F: FnMut(&CueContext<'_>)> BurstCue for F {
    fn execute(&mut self, cx: &CueContext<'_>) {
        self(cx);
    }
}

/// Counters of a [`CueManager`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CueFigures {
    /// The number of instances created.
    pub made: u64,
    /// The number of instances reused from a pool.
    pub reused: u64,
    /// The number of idle instances in pools.
    pub pooled: usize,
    /// The number of loops that are playing.
    pub active: usize,
    /// The number of triggers without a registered cue.
    pub unknown: u64,
    /// The number of mispredicted bursts, and of mispredicted periodic executions of loops, that were cancelled.
    pub cancelled: u64,
}

type Make<'c, T> = Box<dyn FnMut() -> Box<T> + 'c>;

/// A registered class of cues and its idle instances.
struct Class<'c, T: ?Sized> {
    make: Make<'c, T>,
    idle: Vec<Box<T>>,
    size: usize,
    made: u64,
    reused: u64,
}

impl<'c, T: ?Sized> Class<'c, T> {
    fn new(size: usize, make: Make<'c, T>) -> Class<'c, T> {
        Class { make, idle: Vec::new(), size, made: 0, reused: 0 }
    }

    fn take(&mut self) -> Box<T> {
        match self.idle.pop() {
            Some(cue) => {
                self.reused += 1;
                cue
            }
            None => {
                self.made += 1;
                (self.make)()
            }
        }
    }

    fn give_back(&mut self, cue: Box<T>) {
        if self.idle.len() < self.size {
            self.idle.push(cue);
        }
    }
}

/// A loop that plays, and the tag its class is registered under.
struct Playing {
    cue: Box<dyn LoopCue>,
    class: TagId,
}

/// A registry of cues that plays the cues which the facts of a step trigger. Each client has its own manager with its
/// own cues. A headless server has no manager; see [`CueManager::for_host`].
///
/// The manager takes the facts of a sim and, with the feature `net`, the facts of a client session ([`FactBatch`]). A
/// predicted cue plays when the client predicts it. When the server confirms the cue, the cue is not played again. If a
/// cue was mispredicted, the manager stops or restarts a loop to match the sim, and calls [`BurstCue::cancel`] for a
/// burst.
///
/// ```
/// use std::{cell::Cell, rc::Rc};
/// use ugas::CueManager;
/// use ugas::prelude::*;
/// let rules = Rules::builder()
///     .add(AttributeSet::new("V").with(Attribute::new("Health", 100.0)))
///     .add(Effect::instant("GE_Fire").add("Health", -25.0).cue("GameplayCue.Impact.Fire"))
///     .build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let orc = sim.spawn(SpawnSpec::sets([rules.set("V").unwrap()]))?;
/// let impacts = Rc::new(Cell::new(0));
/// let count = impacts.clone();
/// let mut cues = CueManager::default();
/// // Registered for every impact: the nearest registered ancestor plays.
/// cues.register_burst(rules.tag("GameplayCue.Impact").unwrap(), 4, move || {
///     let count = count.clone();
///     Box::new(move |_: &ugas::CueContext<'_>| count.set(count.get() + 1))
/// });
/// sim.apply(&Spec::new(rules.effect("GE_Fire").unwrap(), orc))?;
/// let mut facts = Facts::default();
/// sim.take_facts(&mut facts);
/// cues.dispatch(&sim, &facts);
/// assert_eq!(impacts.get(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct CueManager<'c> {
    bursts: BTreeMap<TagId, Class<'c, dyn BurstCue>>,
    loops: BTreeMap<TagId, Class<'c, dyn LoopCue>>,
    playing: BTreeMap<(ControllerId, TagId), Playing>,
    unknown: u64,
    cancelled: u64,
}

impl<'c> CueManager<'c> {
    /// Returns the manager that `make` builds, or `None` for a headless host. For a headless host, `make` is not
    /// called, so no assets are loaded.
    pub fn for_host(headless: bool, make: impl FnOnce() -> CueManager<'c>) -> Option<CueManager<'c>> {
        (!headless).then(make)
    }

    /// Registers a burst cue for a tag, and for the descendants of the tag that have no registration of their own.
    /// `make` creates an instance of the cue. The manager keeps up to `pool` idle instances for reuse.
    pub fn register_burst(&mut self, tag: TagId, pool: usize, make: impl FnMut() -> Box<dyn BurstCue> + 'c) {
        self.bursts.insert(tag, Class::new(pool, Box::new(make)));
    }

    /// Registers a loop cue for a tag, and for the descendants of the tag that have no registration of their own.
    /// `make` creates an instance of the cue. The manager keeps up to `pool` idle instances for reuse.
    pub fn register_loop(&mut self, tag: TagId, pool: usize, make: impl FnMut() -> Box<dyn LoopCue> + 'c) {
        self.loops.insert(tag, Class::new(pool, Box::new(make)));
    }

    /// Plays the cues that the facts trigger, in order. For a restored controller, starts and stops loops to match the
    /// controller's state.
    ///
    /// `sim` must be the sim that the facts come from. For the facts of a client session, pass `client.sim()`.
    pub fn dispatch(&mut self, sim: &Sim, facts: &impl FactBatch) {
        for entry in facts.entries() {
            let fact = entry.fact;
            match (fact.kind, entry.occurrence) {
                // The cue was played when it was predicted.
                (_, Occurrence::Confirmed) => {}
                (FactKind::Cue { tag, cue, .. }, Occurrence::Happened) => {
                    let hit = facts.params(fact).find_map(position);
                    self.notify(context(sim, fact, tag, hit), cue);
                }
                (FactKind::Cue { tag, cue, .. }, Occurrence::Undone) => self.undo(&context(sim, fact, tag, None), cue),
                // A client's sim does not have the loops of remote actors. The server sends facts for them.
                (FactKind::Restored, Occurrence::Happened) if !entry.is_replicated => self.match_loops(sim, fact.who),
                (FactKind::Despawned, Occurrence::Happened) => self.stop_all(sim, Some(fact.who)),
                _ => {}
            }
        }
    }

    /// Starts the loops that are active in the sim and stops all others, e.g. for a client that joins late.
    pub fn join(&mut self, sim: &Sim) {
        self.join_with(sim, |who| sim.cues(who).unwrap_or_default());
    }

    /// Starts the loops that are active in a client session and stops all others. These are the loops of owned
    /// controllers, and the loops of remote actors that the server reported.
    #[cfg(feature = "net")]
    pub fn join_session(&mut self, client: &ugas_net::client::Client) {
        let sim = client.sim();
        self.join_with(sim, |who| {
            let mut wanted = sim.cues(who).unwrap_or_default();
            wanted.extend(client.proxies().get(who).into_iter().flat_map(|proxy| proxy.loops()));
            wanted
        });
    }

    fn join_with(&mut self, sim: &Sim, wanted: impl Fn(ControllerId) -> Vec<TagId>) {
        let mut all: Vec<ControllerId> = self.playing.keys().map(|(who, _)| *who).collect();
        all.extend(sim.controllers());
        all.sort();
        all.dedup();
        all.into_iter().for_each(|who| self.set_loops(sim, who, wanted(who)));
    }

    /// Returns whether a loop with exactly this tag plays on a controller.
    pub fn is_playing(&self, who: ControllerId, tag: TagId) -> bool {
        self.playing.contains_key(&(who, tag))
    }

    /// Returns the counters.
    pub fn figures(&self) -> CueFigures {
        let (mut made, mut reused, mut pooled) = (0, 0, 0);
        for class in self.bursts.values() {
            (made, reused, pooled) = (made + class.made, reused + class.reused, pooled + class.idle.len());
        }
        for class in self.loops.values() {
            (made, reused, pooled) = (made + class.made, reused + class.reused, pooled + class.idle.len());
        }
        let (unknown, cancelled) = (self.unknown, self.cancelled);
        CueFigures { made, reused, pooled, active: self.playing.len(), unknown, cancelled }
    }

    fn notify(&mut self, cx: CueContext<'_>, cue: CueType) {
        match cue {
            CueType::Execute => {
                let burst = nearest(&self.bursts, cx.sim.rules(), cx.tag);
                if let Some(class) = burst.and_then(|t| self.bursts.get_mut(&t)) {
                    let mut cue = class.take();
                    cue.execute(&cx);
                    class.give_back(cue);
                }
                match self.playing.get_mut(&(cx.target, cx.tag)) {
                    Some(playing) => playing.cue.execute(&cx),
                    None => self.unknown += burst.is_none() as u64,
                }
            }
            CueType::Add => self.start(&cx),
            CueType::Remove => self.stop(&cx),
        }
    }

    /// Reverses a mispredicted cue.
    fn undo(&mut self, cx: &CueContext<'_>, cue: CueType) {
        let plays = || cx.sim.cues(cx.target).is_ok_and(|cues| cues.contains(&cx.tag));
        match cue {
            CueType::Execute => {
                self.cancelled += 1;
                let burst = nearest(&self.bursts, cx.sim.rules(), cx.tag);
                if let Some(class) = burst.and_then(|t| self.bursts.get_mut(&t)) {
                    let mut cue = class.take();
                    cue.cancel(cx);
                    class.give_back(cue);
                }
                if let Some(playing) = self.playing.get_mut(&(cx.target, cx.tag)) {
                    playing.cue.cancel(cx);
                }
            }
            // After the correction, another effect may still keep the loop playing.
            CueType::Add if !plays() => self.stop(cx),
            CueType::Remove if plays() => self.start(cx),
            CueType::Add | CueType::Remove => {}
        }
    }

    fn start(&mut self, cx: &CueContext<'_>) {
        let at = (cx.target, cx.tag);
        if self.playing.contains_key(&at) {
            return;
        }
        let Some(class) = nearest(&self.loops, cx.sim.rules(), cx.tag) else {
            self.unknown += 1;
            return;
        };
        if let Some(of) = self.loops.get_mut(&class) {
            let mut cue = of.take();
            cue.add(cx);
            self.playing.insert(at, Playing { cue, class });
        }
    }

    fn stop(&mut self, cx: &CueContext<'_>) {
        let Some(mut playing) = self.playing.remove(&(cx.target, cx.tag)) else {
            return;
        };
        playing.cue.remove(cx);
        if let Some(class) = self.loops.get_mut(&playing.class) {
            class.give_back(playing.cue);
        }
    }

    /// Starts and stops loops of one controller so that they match the loop cues in its sim.
    fn match_loops(&mut self, sim: &Sim, who: ControllerId) {
        self.set_loops(sim, who, sim.cues(who).unwrap_or_default());
    }

    /// Starts the wanted loops of one controller and stops its other loops.
    fn set_loops(&mut self, sim: &Sim, who: ControllerId, wanted: Vec<TagId>) {
        let mine = self.playing.keys().filter(|(w, _)| *w == who).map(|(_, tag)| *tag);
        let gone: Vec<TagId> = mine.filter(|tag| !wanted.contains(tag)).collect();
        for tag in gone {
            self.stop(&plain_context(sim, who, tag));
        }
        for tag in wanted {
            self.start(&plain_context(sim, who, tag));
        }
    }

    /// Stops all loops, of one controller or of all controllers.
    pub fn stop_all(&mut self, sim: &Sim, of: Option<ControllerId>) {
        let all: Vec<_> = self.playing.keys().copied().filter(|(who, _)| of.is_none_or(|w| w == *who)).collect();
        for (who, tag) in all {
            self.stop(&plain_context(sim, who, tag));
        }
    }
}

/// Returns the tag itself if something is registered under it, otherwise its nearest ancestor with a registration.
fn nearest<T>(classes: &BTreeMap<TagId, T>, rules: &Rules, tag: TagId) -> Option<TagId> {
    let mut at = Some(tag);
    while let Some(tag) = at {
        if classes.contains_key(&tag) {
            return Some(tag);
        }
        at = rules.tag_parent(tag);
    }
    None
}

fn place(sim: &Sim, who: ControllerId) -> Option<[f64; 3]> {
    sim.anchor(who).ok().flatten().map(|a| a.position)
}

/// Returns the hit position among the named values of a cue fact.
fn position((name, value): (&str, ParamValue<'_>)) -> Option<[f64; 3]> {
    match value {
        ParamValue::Vector(place) if name == "Position" => Some(place),
        ParamValue::Null
        | ParamValue::Bool(_)
        | ParamValue::Number(_)
        | ParamValue::Text(_)
        | ParamValue::Vector(_)
        | ParamValue::Tag(_)
        | ParamValue::Controller(_) => None,
    }
}

fn context<'a>(sim: &'a Sim, fact: &Fact, tag: TagId, hit: Option<[f64; 3]>) -> CueContext<'a> {
    let view = sim.effect(fact.key).ok();
    CueContext {
        tag,
        target: fact.who,
        source: fact.source.some(),
        effect: fact.effect.some(),
        key: fact.key.some(),
        at: fact.at,
        hit,
        location: hit.or_else(|| place(sim, fact.who)),
        duration: view.and_then(|v| v.total),
        level: view.map_or(1, |v| v.level),
        sim,
    }
}

/// Returns the context of a loop that no fact of this step triggered.
fn plain_context(sim: &Sim, who: ControllerId, tag: TagId) -> CueContext<'_> {
    CueContext {
        tag,
        target: who,
        source: None,
        effect: None,
        key: None,
        at: sim.now(),
        hit: None,
        location: place(sim, who),
        duration: None,
        level: 1,
        sim,
    }
}
