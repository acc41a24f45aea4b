//! Cues: particles, sounds and icons by tag. The runtime only tells that a cue was triggered; what is seen and heard is
//! registered here, differs from client to client and cannot touch the game: a cue gets `&Sim` and nothing more.
//!
//! ```compile_fail
//! use ugas::prelude::*;
//! use ugas::{BurstCue, CueContext};
//! struct Cheat;
//! impl BurstCue for Cheat {
//!     fn execute(&mut self, cx: &CueContext<'_>) {
//!         cx.sim.despawn(cx.target); // a cue changes nothing: this does not compile
//!     }
//! }
//! ```

use std::collections::BTreeMap;
use ugas_core::{
    ControllerId, CueType, EffectId, EffectKey, Fact, FactKind, Facts, ParamValue, Rules, Sim, SimTime, TagId,
};

/// What a cue may know.
pub struct CueContext<'a> {
    /// The cue's tag, which may lie below the one that was registered.
    pub tag: TagId,
    /// On whom it plays.
    pub target: ControllerId,
    /// Who caused it, or [`ControllerId::NONE`].
    pub source: ControllerId,
    /// The effect it comes from, or [`EffectId::NONE`].
    pub effect: EffectId,
    /// The application it comes from, or [`EffectKey::NONE`].
    pub key: EffectKey,
    /// When it was triggered.
    pub at: SimTime,
    /// Where it hit, if the application said so.
    pub hit: Option<[f64; 3]>,
    /// Where it plays: where it hit, or else the target's place.
    pub location: Option<[f64; 3]>,
    /// How long the effect lasts, if it does and ends by itself.
    pub duration: Option<SimTime>,
    /// The effect's level; 1 if it is over.
    pub level: u32,
    /// Everything else, to read.
    pub sim: &'a Sim,
}

/// A cue that is over when it was triggered: an impact, a flash.
pub trait BurstCue {
    /// Plays it once.
    fn execute(&mut self, cx: &CueContext<'_>);
}

/// A cue that lasts: an aura, an icon, the sound of burning.
pub trait LoopCue {
    /// It starts.
    fn add(&mut self, cx: &CueContext<'_>);
    /// It stops; the instance may be used again.
    fn remove(&mut self, cx: &CueContext<'_>);
    /// A periodic execution of its effect while it plays.
    fn execute(&mut self, _cx: &CueContext<'_>) {}
}

impl<F: FnMut(&CueContext<'_>)> BurstCue for F {
    fn execute(&mut self, cx: &CueContext<'_>) {
        self(cx);
    }
}

/// What a manager did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CueFigures {
    /// Instances made.
    pub made: u64,
    /// Instances taken from a pool instead.
    pub reused: u64,
    /// Instances that wait in pools.
    pub pooled: usize,
    /// Loops that play.
    pub active: usize,
    /// Triggers nobody registered for.
    pub unknown: u64,
}

type Make<'c, T> = Box<dyn FnMut() -> Box<T> + 'c>;

/// One registered class of cues and its idle instances.
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

/// A loop that plays: what plays, and the tag its class was registered under.
struct Playing {
    cue: Box<dyn LoopCue>,
    class: TagId,
}

/// Plays registered cues for the facts of a step. Each client has its own, with its own cues; a headless server has
/// none, see [`CueManager::for_host`].
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
/// let flashes = Rc::new(Cell::new(0));
/// let seen = flashes.clone();
/// let mut cues = CueManager::default();
/// // Registered for every impact: the nearest registered parent plays.
/// cues.register_burst(rules.tag("GameplayCue.Impact").unwrap(), 4, move || {
///     let seen = seen.clone();
///     Box::new(move |_: &ugas::CueContext<'_>| seen.set(seen.get() + 1))
/// });
/// sim.apply(&Spec::new(rules.effect("GE_Fire").unwrap(), orc))?;
/// let mut facts = Facts::default();
/// sim.take_facts(&mut facts);
/// cues.dispatch(&sim, &facts);
/// assert_eq!(flashes.get(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct CueManager<'c> {
    bursts: BTreeMap<TagId, Class<'c, dyn BurstCue>>,
    loops: BTreeMap<TagId, Class<'c, dyn LoopCue>>,
    playing: BTreeMap<(ControllerId, TagId), Playing>,
    unknown: u64,
}

impl<'c> CueManager<'c> {
    /// A manager for a host that shows something, or none for a headless one; then `make`, and with it every loader of
    /// assets, is not even called.
    pub fn for_host(headless: bool, make: impl FnOnce() -> CueManager<'c>) -> Option<CueManager<'c>> {
        (!headless).then(make)
    }

    /// Registers bursts for a tag and all below it that have none of their own. Up to `pool` idle instances are kept.
    pub fn register_burst(&mut self, tag: TagId, pool: usize, make: impl FnMut() -> Box<dyn BurstCue> + 'c) {
        self.bursts.insert(tag, Class::new(pool, Box::new(make)));
    }

    /// Registers loops for a tag and all below it that have none of their own. Up to `pool` idle instances are kept.
    pub fn register_loop(&mut self, tag: TagId, pool: usize, make: impl FnMut() -> Box<dyn LoopCue> + 'c) {
        self.loops.insert(tag, Class::new(pool, Box::new(make)));
    }

    /// Plays what the facts trigger, in their order. A restored controller's loops are matched with what it has now.
    pub fn dispatch(&mut self, sim: &Sim, facts: &Facts) {
        for fact in facts {
            match fact.kind {
                FactKind::Cue { tag, cue, .. } => {
                    let hit = facts.params(fact).find_map(position);
                    self.notify(context(sim, fact, tag, hit), cue);
                }
                FactKind::Restored => self.match_loops(sim, fact.who),
                FactKind::Despawned => self.stop_all(sim, Some(fact.who)),
                _ => {}
            }
        }
    }

    /// Starts the loops of everything that plays already and stops those that do not: for a client that comes late.
    pub fn join(&mut self, sim: &Sim) {
        let mut all: Vec<ControllerId> = self.playing.keys().map(|(who, _)| *who).collect();
        all.extend(sim.controllers());
        all.sort();
        all.dedup();
        all.into_iter().for_each(|who| self.match_loops(sim, who));
    }

    /// Whether a loop of this very tag plays on a controller.
    pub fn is_playing(&self, who: ControllerId, tag: TagId) -> bool {
        self.playing.contains_key(&(who, tag))
    }

    /// What was done so far.
    pub fn figures(&self) -> CueFigures {
        let (mut made, mut reused, mut pooled) = (0, 0, 0);
        for class in self.bursts.values() {
            (made, reused, pooled) = (made + class.made, reused + class.reused, pooled + class.idle.len());
        }
        for class in self.loops.values() {
            (made, reused, pooled) = (made + class.made, reused + class.reused, pooled + class.idle.len());
        }
        CueFigures { made, reused, pooled, active: self.playing.len(), unknown: self.unknown }
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

    /// Brings the loops of one controller in line with the cues it has.
    fn match_loops(&mut self, sim: &Sim, who: ControllerId) {
        let wanted = sim.cues(who).unwrap_or_default();
        let mine = self.playing.keys().filter(|(w, _)| *w == who).map(|(_, tag)| *tag);
        let gone: Vec<TagId> = mine.filter(|tag| !wanted.contains(tag)).collect();
        for tag in gone {
            self.stop(&still(sim, who, tag));
        }
        for tag in wanted {
            self.start(&still(sim, who, tag));
        }
    }

    /// Stops every loop, of one controller or of all.
    pub fn stop_all(&mut self, sim: &Sim, of: Option<ControllerId>) {
        let all: Vec<_> = self.playing.keys().copied().filter(|(who, _)| of.is_none_or(|w| w == *who)).collect();
        for (who, tag) in all {
            self.stop(&still(sim, who, tag));
        }
    }
}

/// The tag itself if something is registered under it, else its nearest such parent.
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

/// The place of a hit among the named values of a cue's fact.
fn position((name, value): (&str, ParamValue<'_>)) -> Option<[f64; 3]> {
    match value {
        ParamValue::Vector(place) if name == "Position" => Some(place),
        _ => None,
    }
}

fn context<'a>(sim: &'a Sim, fact: &Fact, tag: TagId, hit: Option<[f64; 3]>) -> CueContext<'a> {
    let view = sim.effect(fact.key).ok();
    CueContext {
        tag,
        target: fact.who,
        source: fact.source,
        effect: fact.effect,
        key: fact.key,
        at: fact.at,
        hit,
        location: hit.or_else(|| place(sim, fact.who)),
        duration: view.and_then(|v| v.total),
        level: view.map_or(1, |v| v.level),
        sim,
    }
}

/// The context of a loop that no fact of this step speaks of.
fn still(sim: &Sim, who: ControllerId, tag: TagId) -> CueContext<'_> {
    CueContext {
        tag,
        target: who,
        source: ControllerId::NONE,
        effect: EffectId::NONE,
        key: EffectKey::NONE,
        at: sim.now(),
        hit: None,
        location: place(sim, who),
        duration: None,
        level: 1,
        sim,
    }
}
