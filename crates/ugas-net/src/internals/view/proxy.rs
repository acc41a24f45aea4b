//! The client's side of one controller: what was last heard of each field, and of which tick. Packets may come late and
//! in any order; news of an older tick than a field's own is passed over.

use super::burst::{Counter, Ring};
use super::code::{Coded, Cx, Head, Parts, get_list, get_places};
use super::marks::{Item, Mark, Marks, Put};
use super::{BURST_TICKS, Burst, ProxyEffect, HORIZON, MAX_EFFECTS, Shape, Shapes, ProxySnapshot, horizon};
use crate::types::Tick;
use crate::wire::bits::{BitReader, WireError};
use crate::wire::number::get_uint_to;
use std::sync::Arc;
use ugas_core::{AttributeId, ControllerId, EffectKey, SetId, TagId};
use ugas_doc::ControllerReplication;

/// What changed of a proxy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProxyChange {
    /// It came, or its sets or its mode are others: which attributes it has changed.
    Shaped,
    /// An attribute has another current value.
    Attribute {
        /// Which.
        attribute: AttributeId,
        /// What was known before; none if nothing was.
        old: Option<f64>,
        /// Its value.
        new: f64,
    },
    /// A tag came or went.
    Tag {
        /// Which.
        tag: TagId,
        /// Whether it came.
        added: bool,
    },
    /// An effect came or changed.
    Effect(ProxyEffect),
    /// An effect went.
    EffectGone(EffectKey),
    /// A looping cue began or ended.
    Loop {
        /// Which.
        cue: TagId,
        /// Whether it began.
        added: bool,
    },
    /// A cue plays once.
    Burst(Burst),
}

/// A controller of somebody else, as far as this client is told of it.
#[derive(Clone, Debug)]
pub struct Proxy {
    who: ControllerId,
    shape: Arc<Shape>,
    /// The shapes it had and has, each with the first tick heard of in it, for packets that were overtaken.
    history: ShapeHistory,
    /// The tick of the last section that told everything; what is older says nothing new.
    told: Tick,
    /// The newest tick heard of.
    newest: Tick,
    values: Vec<(Coded, Tick)>,
    tags: Marks<TagId>,
    loops: Marks<TagId>,
    effects: Marks<ProxyEffect>,
    ring: Ring,
    /// Numbers the bursts this client plays itself, as the server does.
    predicted: Counter,
}

/// The last shapes of one controller, each with the first tick heard of in it.
#[derive(Clone, Debug, Default)]
pub(super) struct ShapeHistory(Vec<(Tick, Arc<Shape>)>);

/// How many shapes a controller may have had while a packet was under way.
const SHAPES: usize = 8;

impl ShapeHistory {
    fn push(&mut self, tick: Tick, shape: Arc<Shape>) {
        if self.0.len() >= SHAPES {
            self.0.remove(0);
        }
        self.0.push((tick, shape));
    }

    /// The shape at a tick, and since when.
    fn at(&self, tick: Tick) -> Option<(Tick, Arc<Shape>)> {
        self.0.iter().rev().find(|s| s.0 <= tick).cloned()
    }

    pub(super) fn newest(&self) -> Option<Arc<Shape>> {
        self.0.last().map(|s| s.1.clone())
    }

    fn last(&self) -> Tick {
        self.0.last().map_or(Tick(0), |s| s.0)
    }
}

/// Where the news go, and lists that are used again.
pub(super) struct ChangeSink<'a> {
    pub(super) changes: &'a mut Vec<(ControllerId, ProxyChange)>,
    pub(super) places: &'a mut Vec<usize>,
}

impl Proxy {
    /// One nothing is known of yet but the shapes it had when it was last here.
    pub(super) fn new(who: ControllerId, shape: Arc<Shape>, history: ShapeHistory) -> Proxy {
        Proxy {
            who,
            shape,
            history,
            told: Tick(0),
            newest: Tick(0),
            values: Vec::new(),
            tags: Marks::default(),
            loops: Marks::default(),
            effects: Marks::default(),
            ring: Ring::default(),
            predicted: Counter::default(),
        }
    }

    /// Whose it is.
    pub fn who(&self) -> ControllerId {
        self.who
    }

    /// What is sent of it.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// The shapes it had, for who brings it back.
    pub(super) fn into_history(self) -> ShapeHistory {
        self.history
    }

    /// The newest tick anything was heard of.
    pub fn newest(&self) -> Tick {
        self.newest
    }

    /// The tick of the last section that told everything.
    pub(super) fn told(&self) -> Tick {
        self.told
    }

    /// An attribute's current value, rounded as observers see it; none if it is not sent.
    pub fn value(&self, attribute: AttributeId) -> Option<f64> {
        let at = self.shape.fields.iter().position(|f| f.attribute == attribute)?;
        Some(self.values.get(at)?.0.value(&self.shape.fields[at]))
    }

    /// Whether an attribute of it is sent.
    pub fn shows(&self, attribute: AttributeId) -> bool {
        self.shape.shows(attribute)
    }

    /// Its explicit tags, by rising id.
    pub fn tags(&self) -> impl Iterator<Item = TagId> {
        self.tags.present().map(|m| m.item)
    }

    /// Whether it has this very tag.
    pub fn has_tag(&self, tag: TagId) -> bool {
        self.tags.find(tag).is_some()
    }

    /// Its effects, by rising key.
    pub fn effects(&self) -> impl Iterator<Item = &ProxyEffect> {
        self.effects.present().map(|m| &m.item)
    }

    /// One of its effects.
    pub fn effect(&self, key: EffectKey) -> Option<&ProxyEffect> {
        self.effects.find(key)
    }

    /// The cues that loop on it, by rising id.
    pub fn loops(&self) -> impl Iterator<Item = TagId> {
        self.loops.present().map(|m| m.item)
    }

    /// Everything of it in one value.
    pub fn snapshot(&self) -> ProxySnapshot {
        let fields = self.shape.fields.iter().zip(&self.values);
        ProxySnapshot {
            sets: self.shape.sets.to_vec(),
            values: fields.map(|(f, v)| (f.attribute, v.0.value(f))).collect(),
            tags: self.tags().collect(),
            effects: self.effects().copied().collect(),
            loops: self.loops().collect(),
        }
    }

    /// A cue that this client played once itself: the server's own burst is then no news.
    pub fn note_predicted(&mut self, key: EffectKey, cue: TagId) {
        let ordinal = self.predicted.next(key, cue);
        self.ring.is_new((key, cue, ordinal));
    }

    /// What was foreseen of a cue through an application did not happen: if it still does, it is news.
    pub fn forget(&mut self, key: EffectKey, cue: TagId) {
        self.predicted.forget(key, cue);
        self.ring.forget(key, cue);
    }

    /// Reads what changed, written for a shape that may be the one before.
    pub(super) fn read(
        &mut self,
        from: &mut BitReader,
        cx: &Cx,
        parts: Parts,
        news: &mut ChangeSink,
    ) -> Result<(), WireError> {
        let (from_tick, shape) = self.history.at(cx.tick).ok_or(WireError::BadValue { what: "an actor's section" })?;
        // What told everything was of a later tick: this is only read to get past it.
        let counts = from_tick == self.history.last() && cx.tick > self.told;
        if parts.attributes {
            get_places(from, (shape.fields.len(), shape.index_bits()), news.places)?;
            for &at in news.places.iter() {
                let field = shape.fields.get(at).ok_or(WireError::BadValue { what: "an attribute's place" })?;
                let coded = Coded::get(from, field)?;
                if counts {
                    self.take_value(at, coded, cx.tick, news.changes);
                }
            }
        }
        self.read_lists(from, cx, (parts, counts), news.changes)?;
        self.heard(cx.tick);
        Ok(())
    }

    /// Reads everything.
    pub(super) fn read_all(
        &mut self,
        from: &mut BitReader,
        cx: &Cx,
        shape: Arc<Shape>,
        news: &mut ChangeSink,
    ) -> Result<(), WireError> {
        let tick = cx.tick;
        let is_same = *shape == *self.shape && self.told != Tick(0);
        // Overtaken by a later section that told everything, or by one in a newer shape.
        let counts = tick > self.told;
        if counts && !is_same {
            self.reshape(shape.clone(), tick, news.changes);
        }
        let parts = Parts::get_flags(from)?;
        for (at, field) in shape.fields.iter().enumerate() {
            let coded = Coded::get(from, field)?;
            if counts {
                self.take_value(at, coded, tick, news.changes);
            }
        }
        self.read_lists(from, cx, (Parts { attributes: false, ..parts }, counts), news.changes)?;
        if counts {
            let (who, changes) = (self.who, &mut *news.changes);
            self.tags.end_before(tick, |tag| changes.push((who, ProxyChange::Tag { tag, added: false })));
            self.loops.end_before(tick, |cue| changes.push((who, ProxyChange::Loop { cue, added: false })));
            self.effects.end_before(tick, |effect| changes.push((who, ProxyChange::EffectGone(effect.key))));
            self.told = tick;
        }
        self.heard(tick);
        Ok(())
    }

    fn reshape(&mut self, shape: Arc<Shape>, tick: Tick, changes: &mut Vec<(ControllerId, ProxyChange)>) {
        self.values.clear();
        self.values.resize(shape.fields.len(), (Coded::default(), Tick(0)));
        self.history.push(tick, shape.clone());
        self.shape = shape;
        changes.push((self.who, ProxyChange::Shaped));
    }

    fn take_value(&mut self, at: usize, coded: Coded, tick: Tick, changes: &mut Vec<(ControllerId, ProxyChange)>) {
        let (Some(field), Some(known)) = (self.shape.fields.get(at), self.values.get_mut(at)) else { return };
        if known.1 > tick {
            return;
        }
        let (old, heard) = std::mem::replace(known, (coded, tick));
        let old = (heard != Tick(0)).then_some(old);
        if old != Some(coded) {
            let (old, new) = (old.map(|o| o.value(field)), coded.value(field));
            changes.push((self.who, ProxyChange::Attribute { attribute: field.attribute, old, new }));
        }
    }

    fn read_lists(
        &mut self,
        from: &mut BitReader,
        cx: &Cx,
        (parts, counts): (Parts, bool),
        changes: &mut Vec<(ControllerId, ProxyChange)>,
    ) -> Result<(), WireError> {
        let who = self.who;
        let many = 1usize << cx.tag_bits.min(24);
        if parts.tags {
            get_list(from, (many, "tags"), |from| {
                let mark = cx.get_tag(from)?;
                if let Some(added) = took(counts, &mut self.tags, mark) {
                    changes.push((who, ProxyChange::Tag { tag: mark.item, added }));
                }
                Ok(())
            })?;
        }
        if parts.effects {
            get_list(from, (MAX_EFFECTS, "effects"), |from| {
                let mark = cx.get_effect(from, who)?;
                if self.effects.len() >= 2 * MAX_EFFECTS {
                    return Err(WireError::TooLong { what: "effects", max: 2 * MAX_EFFECTS as u64 });
                }
                match took(counts, &mut self.effects, mark) {
                    Some(true) => changes.push((who, ProxyChange::Effect(mark.item))),
                    Some(false) => changes.push((who, ProxyChange::EffectGone(mark.item.key))),
                    None => {}
                }
                Ok(())
            })?;
        }
        if parts.loops {
            get_list(from, (many, "looping cues"), |from| {
                let mark = cx.get_tag(from)?;
                if let Some(added) = took(counts, &mut self.loops, mark) {
                    changes.push((who, ProxyChange::Loop { cue: mark.item, added }));
                }
                Ok(())
            })?;
        }
        if parts.bursts {
            get_list(from, (MAX_EFFECTS, "bursts"), |from| {
                let burst = cx.get_burst(from, who)?;
                // A burst that comes very late is worse than none.
                let is_late = burst.at.plus(2 * BURST_TICKS) < self.newest;
                if !is_late && self.ring.is_new((burst.key, burst.cue, burst.ordinal)) {
                    changes.push((who, ProxyChange::Burst(burst)));
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Something of this tick arrived: what went long before it need not be remembered.
    fn heard(&mut self, tick: Tick) {
        self.newest = self.newest.max(tick);
        // Now and then, since most sections change little.
        if self.newest.0.is_multiple_of(HORIZON / 4) || self.effects.len() > MAX_EFFECTS {
            let before = horizon(self.newest);
            self.tags.prune(before);
            self.loops.prune(before);
            self.effects.prune(before);
        }
    }
}

/// Puts a mark in if it counts. Says whether the thing came or changed, or went.
fn took<T: Item>(counts: bool, marks: &mut Marks<T>, mark: Mark<T>) -> Option<bool> {
    if !counts {
        return None;
    }
    match marks.put(mark) {
        Put::Nothing => None,
        Put::Added | Put::Changed => Some(true),
        Put::Removed => Some(false),
    }
}

/// Reads from what a shape is made.
pub(super) fn get_shape(from: &mut BitReader, shapes: &mut Shapes) -> Result<Arc<Shape>, WireError> {
    let mode = match from.bits(2)? {
        1 => ControllerReplication::Minimal,
        2 => ControllerReplication::Mixed,
        3 => ControllerReplication::Full,
        _ => return Err(WireError::BadValue { what: "a replication mode" }),
    };
    let count = get_uint_to(from, MAX_SETS, "attribute sets")?;
    let mut sets = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let set = SetId(get_uint_to(from, u32::MAX as u64, "an attribute set")? as u32);
        if shapes.rules().set_attributes(set).is_none() || sets.contains(&set) {
            return Err(WireError::BadValue { what: "an attribute set" });
        }
        sets.push(set);
    }
    Ok(shapes.of(&sets, mode))
}

/// The most sets a controller on the wire has.
const MAX_SETS: u64 = 256;

/// What a section begins with.
pub(super) fn get_head(from: &mut BitReader, shapes: &mut Shapes) -> Result<(Parts, Option<Arc<Shape>>), WireError> {
    match Head::get(from)? {
        Head::Some(parts) => Ok((parts, None)),
        Head::All => Ok((Parts::default(), Some(get_shape(from, shapes)?))),
    }
}
