//! The server's record of one controller: each visible field with the tick of its last change, independent of clients.

use super::burst::BurstCounter;
use super::code::{Coded, Cx, Head, Parts, put_indices, put_list};
use super::holding::SetNumbers;
use super::marks::{Item, Marks};
use super::{BURST_TICKS, Burst, ProxyEffect, Shape, Shapes, horizon};
use crate::types::Tick;
use crate::wire::bits::BitWriter;
use crate::wire::number::put_uint;
use std::sync::Arc;
use ugas_core::{ControllerId, EffectKey, Holding, Refusal, Sim, TagId};
use ugas_doc::ControllerReplication;

/// Lists with reused memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    tags: Vec<TagId>,
    effects: Vec<ProxyEffect>,
    holdings: Vec<Holding>,
}

/// Where the section for clients that have the state of a tick is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memo {
    pub(super) since: Tick,
    pub(super) begin: usize,
    pub(super) bits: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) shape: Arc<Shape>,
    values: Vec<(Coded, Tick)>,
    tags: Marks<TagId>,
    loops: Marks<TagId>,
    effects: Marks<ProxyEffect>,
    holdings: Marks<Holding>,
    set_numbers: SetNumbers,
    bursts: Vec<Burst>,
    counter: BurstCounter,
    /// A client whose last state is older than this tick gets a full section: the shape changed at this tick, or
    /// records of items that were removed before it are no longer kept.
    pub(super) full: Tick,
    /// The tick of the last change of its shape.
    pub(super) shaped: Tick,
    /// The tick of the memos.
    pub(super) memo_of: Tick,
    pub(super) memos: Vec<Memo>,
}

impl Record {
    /// Returns an empty record.
    pub(super) fn new(shape: Arc<Shape>, tick: Tick) -> Record {
        Record {
            shape,
            values: Vec::new(),
            tags: Marks::default(),
            loops: Marks::default(),
            effects: Marks::default(),
            holdings: Marks::default(),
            set_numbers: SetNumbers::default(),
            bursts: Vec::new(),
            counter: BurstCounter::default(),
            full: tick,
            shaped: tick,
            memo_of: Tick(0),
            memos: Vec::new(),
        }
    }

    /// Makes the record that of another controller. The memory of its lists is reused.
    pub(super) fn reuse(&mut self, shape: Arc<Shape>, tick: Tick) {
        self.restart(shape, tick);
        self.tags.clear();
        self.loops.clear();
        self.holdings.clear();
        self.set_numbers = SetNumbers::default();
        self.bursts.clear();
        (self.counter, self.memo_of) = (BurstCounter::default(), Tick(0));
    }

    /// Updates the record from the row. Returns whether anything visible changed.
    pub(super) fn refresh(
        &mut self,
        (sim, who): (&Sim, ControllerId),
        tick: Tick,
        (shapes, scratch): (&mut Shapes, &mut Scratch),
    ) -> Result<bool, Refusal> {
        let sets = shapes.visible(sim.set_list(who)?);
        let mut changed = self.reshape(&sets, self.shape.mode, tick, shapes);
        let shape = self.shape.clone();
        self.values.resize(shape.fields.len(), (Coded::default(), Tick(0)));
        for (field, (coded, at)) in shape.fields.iter().zip(&mut self.values) {
            let now = Coded::new(field, sim.get(who, field.attribute)?);
            if now != *coded || *at == Tick(0) {
                (*coded, *at) = (now, tick);
                changed = true;
            }
        }
        if shape.tags {
            scratch.tags.clear();
            scratch.tags.extend(sim.each_tag(who)?.map(|(tag, _)| tag));
            scratch.tags.sort_unstable();
            changed |= self.tags.refresh(&scratch.tags, tick);
        }
        if shape.cues {
            scratch.tags.clear();
            scratch.tags.extend(sim.each_cue(who)?);
            changed |= self.loops.refresh(&scratch.tags, tick);
        }
        if shape.effects {
            scratch.effects.clear();
            scratch.effects.extend(sim.each_effect(who)?.map(ProxyEffect::from));
            scratch.effects.sort_unstable_by_key(Item::key);
            changed |= self.effects.refresh(&scratch.effects, tick);
        }
        if shapes.has_holdings {
            sim.remote().holdings(who, &mut scratch.holdings);
            self.set_numbers.replace_handles(&mut scratch.holdings);
            changed |= self.holdings.refresh(&scratch.holdings, tick);
        }
        self.prune(tick);
        Ok(changed)
    }

    /// Updates the shape. Returns whether it changed; a full section is sent then.
    pub(super) fn reshape(
        &mut self,
        sets: &[ugas_core::SetId],
        mode: ControllerReplication,
        tick: Tick,
        shapes: &mut Shapes,
    ) -> bool {
        if *self.shape.sets == *sets && self.shape.mode == mode {
            return false;
        }
        self.restart(shapes.of(sets, mode), tick);
        true
    }

    /// Takes a new shape. A full section is sent then.
    pub(super) fn restart(&mut self, shape: Arc<Shape>, tick: Tick) {
        self.shape = shape;
        self.values.clear();
        self.effects.clear();
        self.memos.clear();
        (self.full, self.shaped) = (tick, tick);
    }

    fn prune(&mut self, tick: Tick) {
        let before = horizon(tick);
        let forgotten = [
            self.tags.prune(before),
            self.loops.prune(before),
            self.effects.prune(before),
            self.holdings.prune(before),
        ];
        self.full = forgotten.into_iter().flatten().fold(self.full, Tick::max);
    }

    /// Records a burst cue.
    pub(super) fn burst(&mut self, key: EffectKey, cue: TagId, position: Option<[f64; 3]>, tick: Tick) {
        let ordinal = self.counter.next(key, cue);
        self.bursts.retain(|b| b.at.plus(BURST_TICKS) > tick);
        self.bursts.push(Burst { key, cue, ordinal, position, at: tick });
    }

    fn bursts_after(&self, since: Tick, tick: Tick) -> impl Iterator<Item = &Burst> {
        self.bursts.iter().filter(move |b| b.at > since && b.at.plus(BURST_TICKS) > tick)
    }

    /// Writes the changes after a tick, or a full section. Returns whether anything was written.
    pub(super) fn write(&self, cx: &Cx, since: Tick, out: &mut BitWriter) -> bool {
        let everything = since < self.full || since == Tick(0);
        let since = if everything { Tick(0) } else { since };
        let indices = self.values.iter().enumerate().filter(|(_, v)| v.1 > since).map(|(at, _)| at);
        let parts = Parts {
            attributes: indices.clone().next().is_some(),
            tags: self.tags.after(since).any(|m| m.on || !everything),
            effects: self.effects.after(since).any(|m| m.on || !everything),
            loops: self.loops.after(since).any(|m| m.on || !everything),
            bursts: self.bursts_after(since, cx.tick).next().is_some(),
            holdings: self.holdings.after(since).any(|m| m.on || !everything),
        };
        let fields = &self.shape.fields;
        if everything {
            Head::All.put(cx.has_holdings, out);
            put_shape(out, &self.shape);
            parts.put_flags(cx.has_holdings, out);
            for (field, (coded, _)) in fields.iter().zip(&self.values) {
                coded.put(out, field);
            }
        } else if parts.is_empty() {
            return false;
        } else {
            Head::Some(parts).put(cx.has_holdings, out);
            if parts.attributes {
                put_indices(out, (fields.len(), self.shape.index_bits()), indices.clone());
                indices.for_each(|at| self.values[at].0.put(out, &fields[at]));
            }
        }
        if parts.tags {
            let tags = self.tags.after(since).filter(|m| m.on || !everything);
            put_list(out, tags, |out, mark| cx.put_tag(out, mark));
        }
        if parts.effects {
            let effects = self.effects.after(since).filter(|m| m.on || !everything);
            put_list(out, effects, |out, mark| cx.put_effect(out, mark));
        }
        if parts.loops {
            let loops = self.loops.after(since).filter(|m| m.on || !everything);
            put_list(out, loops, |out, mark| cx.put_tag(out, mark));
        }
        if parts.bursts {
            put_list(out, self.bursts_after(since, cx.tick), |out, burst| cx.put_burst(out, burst));
        }
        if parts.holdings {
            let holdings = self.holdings.after(since).filter(|m| m.on || !everything);
            put_list(out, holdings, |out, mark| cx.put_holding(out, mark));
        }
        true
    }
}

/// Writes the attribute sets and mode of a shape.
fn put_shape(out: &mut BitWriter, shape: &Shape) {
    let mode = match shape.mode {
        ControllerReplication::None => 0,
        ControllerReplication::Minimal => 1,
        ControllerReplication::Mixed => 2,
        ControllerReplication::Full => 3,
    };
    out.bits(mode, 2);
    put_uint(out, shape.sets.len() as u64);
    for set in &shape.sets {
        put_uint(out, set.0 as u64);
    }
}
