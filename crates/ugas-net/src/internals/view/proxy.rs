//! A remote actor on a client: the last received value of each field, with its tick. Packets may arrive late and in any
//! order; a value that is older than the stored value is ignored.

use super::burst::{BurstCounter, RecentBursts};
use super::code::{Coded, Cx, Head, Parts, get_indices, get_list};
use super::marks::{Item, Mark, MarkChange, Marks};
use super::{
    BURST_TICKS, Burst, HORIZON, MAX_EFFECTS, MAX_HOLDINGS, ProxyEffect, ProxySnapshot, Shape, Shapes, horizon,
};
use crate::types::Tick;
use crate::wire::bits::{BitReader, WireError};
use crate::wire::number::get_uint_to;
use std::sync::Arc;
use ugas_core::{AttributeId, ControllerId, EffectKey, Holding, SetId, TagId};
use ugas_doc::ControllerReplication;

/// A change of a proxy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProxyChange {
    /// The proxy is new, or its attribute sets or replication mode changed.
    Shaped,
    /// The current value of an attribute changed.
    Attribute {
        /// The attribute.
        attribute: AttributeId,
        /// The previous value; `None` if the client had no previous value.
        old: Option<f64>,
        /// The new value.
        new: f64,
    },
    /// A tag was added or removed.
    Tag {
        /// The tag.
        tag: TagId,
        /// Whether it was added.
        added: bool,
    },
    /// An effect was applied or changed.
    Effect(ProxyEffect),
    /// An effect was removed.
    EffectRemoved(EffectKey),
    /// A looping cue started or stopped.
    Loop {
        /// The cue.
        cue: TagId,
        /// Whether it started.
        added: bool,
    },
    /// A burst cue.
    Burst(Burst),
}

/// A remote actor with the state that is replicated to this client.
#[derive(Clone, Debug)]
pub struct Proxy {
    who: ControllerId,
    shape: Arc<Shape>,
    /// Its shapes, each with the first received tick, for packets that arrive late.
    history: ShapeHistory,
    /// The tick of the last full section; older sections are ignored.
    full_tick: Tick,
    /// The newest received tick.
    newest: Tick,
    values: Vec<(Coded, Tick)>,
    tags: Marks<TagId>,
    loops: Marks<TagId>,
    effects: Marks<ProxyEffect>,
    holdings: Marks<Holding>,
    ring: RecentBursts,
    /// Numbers the predicted bursts, as the server does.
    predicted: BurstCounter,
}

/// The latest shapes of an actor, each with the first received tick.
#[derive(Clone, Debug, Default)]
pub(super) struct ShapeHistory(Vec<(Tick, Arc<Shape>)>);

/// The maximum number of shapes that are kept.
const SHAPES: usize = 8;

impl ShapeHistory {
    fn push(&mut self, tick: Tick, shape: Arc<Shape>) {
        if self.0.len() >= SHAPES {
            self.0.remove(0);
        }
        self.0.push((tick, shape));
    }

    /// Returns the shape at a tick, and its first tick.
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

/// Collects changes, with reused memory.
pub(super) struct ChangeSink<'a> {
    pub(super) changes: &'a mut Vec<(ControllerId, ProxyChange)>,
    pub(super) indices: &'a mut Vec<usize>,
}

impl Proxy {
    /// Returns a proxy without values, with the shapes of an earlier one.
    pub(super) fn new(who: ControllerId, shape: Arc<Shape>, history: ShapeHistory) -> Proxy {
        Proxy {
            who,
            shape,
            history,
            full_tick: Tick(0),
            newest: Tick(0),
            values: Vec::new(),
            tags: Marks::default(),
            loops: Marks::default(),
            effects: Marks::default(),
            holdings: Marks::default(),
            ring: RecentBursts::default(),
            predicted: BurstCounter::default(),
        }
    }

    /// Returns the controller.
    pub fn who(&self) -> ControllerId {
        self.who
    }

    /// Returns the shape of the actor: which of its parts are replicated.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// Returns its shapes, for a later proxy of the same actor.
    pub(super) fn into_history(self) -> ShapeHistory {
        self.history
    }

    /// Returns the newest received tick.
    pub fn newest(&self) -> Tick {
        self.newest
    }

    /// Returns the tick of the newest received value of an attribute, or `None` if the attribute is not replicated.
    pub(crate) fn received(&self, attribute: AttributeId) -> Option<Tick> {
        let at = self.shape.fields.iter().position(|f| f.attribute == attribute)?;
        self.values.get(at).map(|known| known.1.max(self.full_tick))
    }

    /// Returns the tick of the last full section.
    pub(super) fn full_tick(&self) -> Tick {
        self.full_tick
    }

    /// Returns the current value of an attribute, rounded for observers; `None` if the attribute is not replicated.
    pub fn value(&self, attribute: AttributeId) -> Option<f64> {
        let at = self.shape.fields.iter().position(|f| f.attribute == attribute)?;
        Some(self.values.get(at)?.0.value(&self.shape.fields[at]))
    }

    /// Returns whether an attribute is replicated.
    pub fn shows(&self, attribute: AttributeId) -> bool {
        self.shape.shows(attribute)
    }

    /// Returns the explicit tags of the actor, sorted by id.
    pub fn tags(&self) -> impl Iterator<Item = TagId> {
        self.tags.present().map(|m| m.item)
    }

    /// Returns whether the actor has exactly this tag.
    pub fn has_tag(&self, tag: TagId) -> bool {
        self.tags.find(tag).is_some()
    }

    /// Returns the effects of the actor, sorted by key.
    pub fn effects(&self) -> impl Iterator<Item = &ProxyEffect> {
        self.effects.present().map(|m| &m.item)
    }

    /// Returns the effect with this key.
    pub fn effect(&self, key: EffectKey) -> Option<&ProxyEffect> {
        self.effects.find(key)
    }

    /// Returns the looping cues of the actor, sorted by id.
    pub fn loops(&self) -> impl Iterator<Item = TagId> {
        self.loops.present().map(|m| m.item)
    }

    /// Returns the actors and capability sets of the actor, as far as they are replicated.
    pub fn holdings(&self) -> impl Iterator<Item = Holding> {
        self.holdings.present().map(|m| m.item)
    }

    /// Returns the complete visible state of the actor.
    pub fn snapshot(&self) -> ProxySnapshot {
        let fields = self.shape.fields.iter().zip(&self.values);
        ProxySnapshot {
            sets: self.shape.sets.to_vec(),
            values: fields.map(|(f, v)| (f.attribute, v.0.value(f))).collect(),
            tags: self.tags().collect(),
            effects: self.effects().copied().collect(),
            loops: self.loops().collect(),
            holdings: self.holdings().collect(),
        }
    }

    /// Records a predicted burst, so that the same burst is not emitted again when the server sends it.
    pub fn record_predicted_burst(&mut self, key: EffectKey, cue: TagId) {
        let ordinal = self.predicted.next(key, cue);
        self.ring.is_new((key, cue, ordinal));
    }

    /// Forgets a mispredicted burst, so that it is emitted if the server sends it later.
    pub fn forget(&mut self, key: EffectKey, cue: TagId) {
        self.predicted.forget(key, cue);
        self.ring.forget(key, cue);
    }

    /// Reads a partial section, which may have been written for the previous shape.
    pub(super) fn read(
        &mut self,
        from: &mut BitReader,
        cx: &Cx,
        parts: Parts,
        sink: &mut ChangeSink,
    ) -> Result<(), WireError> {
        let (from_tick, shape) = self.history.at(cx.tick).ok_or(WireError::BadValue { what: "an actor's section" })?;
        // Older than the last full section: only read to skip it.
        let counts = from_tick == self.history.last() && cx.tick > self.full_tick;
        if parts.attributes {
            get_indices(from, (shape.fields.len(), shape.index_bits()), sink.indices)?;
            for &at in sink.indices.iter() {
                let field = shape.fields.get(at).ok_or(WireError::BadValue { what: "an attribute's index" })?;
                let coded = Coded::get(from, field)?;
                if counts {
                    self.take_value(at, coded, cx.tick, sink.changes);
                }
            }
        }
        self.read_lists(from, cx, (parts, counts), sink.changes)?;
        self.record_tick(cx.tick);
        Ok(())
    }

    /// Reads a full section.
    pub(super) fn read_all(
        &mut self,
        from: &mut BitReader,
        cx: &Cx,
        shape: Arc<Shape>,
        sink: &mut ChangeSink,
    ) -> Result<(), WireError> {
        let tick = cx.tick;
        let is_same = *shape == *self.shape && self.full_tick != Tick(0);
        // Older than the last full section.
        let counts = tick > self.full_tick;
        if counts && !is_same {
            self.reshape(shape.clone(), tick, sink.changes);
        }
        let parts = Parts::get_flags(cx.has_holdings, from)?;
        for (at, field) in shape.fields.iter().enumerate() {
            let coded = Coded::get(from, field)?;
            if counts {
                self.take_value(at, coded, tick, sink.changes);
            }
        }
        self.read_lists(from, cx, (Parts { attributes: false, ..parts }, counts), sink.changes)?;
        if counts {
            let (who, changes) = (self.who, &mut *sink.changes);
            self.tags.remove_before(tick, |tag| changes.push((who, ProxyChange::Tag { tag, added: false })));
            self.loops.remove_before(tick, |cue| changes.push((who, ProxyChange::Loop { cue, added: false })));
            self.holdings.remove_before(tick, |_| {});
            self.effects.remove_before(tick, |effect| changes.push((who, ProxyChange::EffectRemoved(effect.key))));
            self.full_tick = tick;
        }
        self.record_tick(tick);
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
        let (old, received) = std::mem::replace(known, (coded, tick));
        let old = (received != Tick(0)).then_some(old);
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
                if let Some(added) = apply_mark(counts, &mut self.tags, mark) {
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
                match apply_mark(counts, &mut self.effects, mark) {
                    Some(true) => changes.push((who, ProxyChange::Effect(mark.item))),
                    Some(false) => changes.push((who, ProxyChange::EffectRemoved(mark.item.key))),
                    None => {}
                }
                Ok(())
            })?;
        }
        if parts.loops {
            get_list(from, (many, "looping cues"), |from| {
                let mark = cx.get_tag(from)?;
                if let Some(added) = apply_mark(counts, &mut self.loops, mark) {
                    changes.push((who, ProxyChange::Loop { cue: mark.item, added }));
                }
                Ok(())
            })?;
        }
        if parts.bursts {
            get_list(from, (MAX_EFFECTS, "bursts"), |from| {
                let burst = cx.get_burst(from, who)?;
                // A very late burst is not played.
                let is_late = burst.at.plus(2 * BURST_TICKS) < self.newest;
                if !is_late && self.ring.is_new((burst.key, burst.cue, burst.ordinal)) {
                    changes.push((who, ProxyChange::Burst(burst)));
                }
                Ok(())
            })?;
        }
        if parts.holdings {
            get_list(from, (MAX_HOLDINGS, "capability sets"), |from| {
                let mark = cx.get_holding(from)?;
                if self.holdings.len() >= 2 * MAX_HOLDINGS {
                    // Sets that were swapped often leave many removed items.
                    self.holdings.prune(horizon(self.newest));
                }
                if self.holdings.len() >= 2 * MAX_HOLDINGS {
                    return Err(WireError::TooLong { what: "capability sets", max: 2 * MAX_HOLDINGS as u64 });
                }
                apply_mark(counts, &mut self.holdings, mark);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Records a received tick and drops old removed items.
    fn record_tick(&mut self, tick: Tick) {
        self.newest = self.newest.max(tick);
        // Not every time, since most sections change little.
        if self.newest.0.is_multiple_of(HORIZON / 4)
            || self.effects.len() > MAX_EFFECTS
            || self.holdings.len() > MAX_HOLDINGS
        {
            let before = horizon(self.newest);
            self.tags.prune(before);
            self.loops.prune(before);
            self.effects.prune(before);
            self.holdings.prune(before);
        }
    }
}

/// Inserts a mark if it counts. Returns whether the item was added or changed (`true`) or removed (`false`).
fn apply_mark<T: Item>(counts: bool, marks: &mut Marks<T>, mark: Mark<T>) -> Option<bool> {
    if !counts {
        return None;
    }
    match marks.put(mark) {
        MarkChange::Nothing => None,
        MarkChange::Added | MarkChange::Changed => Some(true),
        MarkChange::Removed => Some(false),
    }
}

/// Reads the attribute sets and mode of a shape.
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

/// The maximum number of attribute sets of an actor.
const MAX_SETS: u64 = 256;

/// Reads the head of a section.
pub(super) fn get_head(from: &mut BitReader, shapes: &mut Shapes) -> Result<(Parts, Option<Arc<Shape>>), WireError> {
    match Head::get(shapes.has_holdings, from)? {
        Head::Some(parts) => Ok((parts, None)),
        Head::All => Ok((Parts::default(), Some(get_shape(from, shapes)?))),
    }
}
