//! A layout: the slot of each attribute in a row, for one ordered list of attribute sets.
//!
//! Slots are numbered in dependency order: an attribute comes after the attributes that its bounds and its derived
//! value read. Otherwise slots are in registration order. The settle phase of a row is therefore one ascending pass
//! over its slots. Rows with the same list of attribute sets share a layout.

use super::Rules;
use super::attribute::{AttributeDef, BoundDef};
use super::combat::ScaleDef;
use super::expr::{Expr, Side};
use crate::state::Attr;
use crate::{AttributeId, ControllerId, Refusal, SetId};
use std::collections::BTreeSet;
use std::sync::Arc;
use ugas_doc::{Aggregation, OnBoundChange};

/// No slot.
pub(crate) const NO_SLOT: u16 = u16::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SlotBound {
    Open,
    Value(f64),
    Slot(u16),
}

#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) attribute: AttributeId,
    pub(crate) set: SetId,
    pub(crate) lo: SlotBound,
    pub(crate) hi: SlotBound,
    pub(crate) derived: Option<Arc<Expr>>,
    pub(crate) dependents: Box<[u16]>,
    /// The least lower bound: 0 for `NonNegative`, otherwise no limit.
    pub(crate) least: f64,
    pub(crate) aggregation: Aggregation,
    /// The stat of the attribute, if it is one.
    pub(crate) stat: Option<StatSlot>,
    /// Whether the attribute is the value of a resource.
    pub(crate) resource: bool,
    pub(crate) proportional: bool,
    pub(crate) death: bool,
    /// The slots of the pools that absorb damage before this slot, in order.
    pub(crate) pools: Box<[u16]>,
}

/// A stat in a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatSlot {
    pub(crate) is_modifiable: bool,
}

/// A stat that multiplies a combat value.
#[derive(Clone, Debug)]
pub(crate) struct ScaleSlot {
    pub(crate) slot: u16,
    pub(crate) scale: ScaleDef,
}

/// The data that a plain write to an attribute needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteSlot {
    lo: f64,
    hi: f64,
    pub(crate) attribute: AttributeId,
    pub(crate) slot: u16,
    /// The slot of the attribute that is the lower bound.
    lo_slot: u16,
    hi_slot: u16,
    /// Whether the base value is not derived, no other slot depends on the attribute, and the attribute is neither a
    /// stat nor a resource.
    pub(crate) plain: bool,
    pub(crate) death: bool,
}

impl WriteSlot {
    fn new(slots: &[Slot], slot: u16) -> WriteSlot {
        let Some(s) = slots.get(slot as usize) else {
            let attribute = AttributeId(u32::MAX);
            let (lo, hi, none) = (0.0, 0.0, NO_SLOT);
            return WriteSlot { lo, hi, attribute, slot, lo_slot: none, hi_slot: none, plain: false, death: false };
        };
        let bound = |b: SlotBound, open: f64| match b {
            SlotBound::Open => (open, NO_SLOT),
            SlotBound::Value(v) => (v, NO_SLOT),
            SlotBound::Slot(slot) => (open, slot),
        };
        let ((lo, lo_slot), (hi, hi_slot)) = (bound(s.lo, s.least), bound(s.hi, f64::INFINITY));
        let plain = s.derived.is_none() && s.dependents.is_empty() && s.stat.is_none() && !s.resource;
        WriteSlot { lo, hi, attribute: s.attribute, slot, lo_slot, hi_slot, plain, death: s.death }
    }

    /// Returns the current bounds.
    #[inline(always)]
    pub(crate) fn bounds(&self, attrs: &[Attr]) -> (f64, f64) {
        let lo = if self.lo_slot == NO_SLOT { self.lo } else { attrs[self.lo_slot as usize].current.max(self.lo) };
        let hi = if self.hi_slot == NO_SLOT { self.hi } else { attrs[self.hi_slot as usize].current };
        (lo, hi)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) sets: Box<[SetId]>,
    pub(crate) slots: Box<[Slot]>,
    slot_of: Box<[u16]>,
    /// Indexed by attribute, like `slot_of`.
    write_slots: Box<[WriteSlot]>,
    /// The stats that multiply combat values.
    pub(crate) scales: Box<[ScaleSlot]>,
    /// The slots that mean death at zero.
    pub(crate) deaths: Box<[u16]>,
    /// The attribute values immediately after registration.
    pub(crate) initial: Box<[Attr]>,
    /// The slots of derived values that are not finite immediately after registration.
    pub(crate) not_finite: Box<[u16]>,
    /// Whether a slot is the value of a resource.
    pub(crate) has_resources: bool,
}

impl Layout {
    #[inline]
    pub(crate) fn slot(&self, attribute: AttributeId) -> Option<usize> {
        match self.slot_of.get(attribute.index()) {
            Some(&slot) if slot != NO_SLOT => Some(slot as usize),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn write_slot(&self, attribute: AttributeId) -> Option<&WriteSlot> {
        self.write_slots.get(attribute.index())
    }

    /// Builds the layout of these sets, registered in this order.
    pub(crate) fn build(rules: &Rules, sets: &[SetId], limit: u32) -> Result<Layout, Refusal> {
        let registered = Registered::new(rules, sets, limit)?;
        let reads = registered.reads();
        let order = sort(&reads).map_err(|at| {
            let attribute = registered.parts[at].1.attribute;
            Refusal::Cycle { who: ControllerId::NONE, attribute }
        })?;
        let places = Places::new(&registered, &order);
        let absorbs = registered.parts.iter().any(|(_, a)| a.absorb.is_some());
        let mut slots: Vec<Slot> = Vec::with_capacity(order.len());
        let mut initial: Vec<Attr> = Vec::with_capacity(order.len());
        let (mut not_finite, mut scales) = (Vec::new(), Vec::new());
        for (&part, dependents) in order.iter().zip(places.dependents(&reads)) {
            let (set, a) = registered.parts[part];
            let stat = rules.set_def(set).and_then(|def| def.stat(a.attribute));
            let resource = rules.resource_def(set);
            let scaled = |scale: &ScaleDef| ScaleSlot { slot: slots.len() as u16, scale: scale.clone() };
            scales.extend(stat.and_then(|s| s.scale.as_ref()).map(scaled));
            let least = if a.aggregation == Aggregation::NonNegative { 0.0 } else { f64::NEG_INFINITY };
            let slot = Slot {
                attribute: a.attribute,
                set,
                lo: match places.bound(a.min) {
                    SlotBound::Slot(slot) => SlotBound::Slot(slot),
                    SlotBound::Value(v) => SlotBound::Value(v.max(least)),
                    SlotBound::Open if least.is_finite() => SlotBound::Value(least),
                    SlotBound::Open => SlotBound::Open,
                },
                least,
                hi: places.bound(a.max),
                derived: a.derived.as_ref().and_then(|expr| match a.fallback {
                    // While an attribute of the expression is not registered, the default holds. The bound of a
                    // resource then has a base value of its own, which a controller may set.
                    Some(default) if expr.reads().any(|(_, read)| places.of_attribute[read.index()] == NO_SLOT) => {
                        resource.is_none().then(|| Arc::new(Expr::constant(default)))
                    }
                    _ => Some(expr.clone()),
                }),
                dependents: dependents.into(),
                aggregation: a.aggregation,
                stat: stat.map(|s| StatSlot { is_modifiable: s.is_modifiable }),
                resource: resource.is_some_and(|r| r.attribute == a.attribute),
                proportional: a.on_bound_change == OnBoundChange::Proportional,
                death: a.death,
                pools: if absorbs { places.pools(&registered, a.attribute) } else { Box::default() },
            };
            let (lo, hi) = slot.bounds(&initial);
            let base = match &slot.derived {
                Some(expr) => {
                    let (base, is_not_finite) = derived_value(expr, &places.of_attribute, &initial);
                    not_finite.extend(is_not_finite.then_some(slots.len() as u16));
                    base
                }
                None => clamp(a.default, lo, hi),
            };
            initial.push(Attr { base, current: clamp(base, lo, hi) });
            slots.push(slot);
        }
        let slot_of = places.of_attribute;
        let write_slots = slot_of.iter().map(|&slot| WriteSlot::new(&slots, slot)).collect();
        let deaths = (0..slots.len()).filter(|&slot| slots[slot].death).map(|slot| slot as u16).collect();
        let has_resources = slots.iter().any(|slot| slot.resource);
        let (sets, slots, initial) = (sets.into(), slots.into(), initial.into());
        let (scales, not_finite) = (scales.into(), not_finite.into());
        Ok(Layout { sets, slots, slot_of, write_slots, scales, deaths, initial, not_finite, has_resources })
    }

    /// Returns the base value of a derived attribute, and whether it was not finite.
    pub(crate) fn derive(&self, expr: &Expr, attrs: &[Attr]) -> (f64, bool) {
        derived_value(expr, &self.slot_of, attrs)
    }

    /// Returns the set that requires `set` to stay registered, if any.
    pub(crate) fn needed_by(&self, rules: &Rules, set: SetId) -> Option<SetId> {
        let declared = self.sets.iter().find(|&&s| rules.set_def(s).is_some_and(|d| d.dependencies.contains(&set)));
        let uses = |slot: &&Slot| slot.set == set && slot.dependents.iter().any(|&d| self.slots[d as usize].set != set);
        declared.copied().or_else(|| {
            let slot = self.slots.iter().find(uses)?;
            slot.dependents.iter().map(|&d| self.slots[d as usize].set).find(|&s| s != set)
        })
    }
}

/// The attributes of registered sets, in the order of registration.
struct Registered<'r> {
    parts: Vec<(SetId, &'r AttributeDef)>,
    /// The position of each attribute in `parts`; `usize::MAX` if no registered set defines it.
    position: Vec<usize>,
}

impl<'r> Registered<'r> {
    fn new(rules: &'r Rules, sets: &[SetId], limit: u32) -> Result<Registered<'r>, Refusal> {
        let mut parts: Vec<(SetId, &AttributeDef)> = Vec::new();
        let mut position = vec![usize::MAX; rules.attributes.len()];
        let mut seen = BTreeSet::new();
        for &set in sets {
            let def = rules.set_def(set).ok_or(Refusal::UnknownName { kind: crate::NameKind::Set, id: set.0 })?;
            if seen.contains(&set) {
                return Err(Refusal::SetRegistered { set });
            }
            if let Some(&missing) = def.dependencies.iter().find(|d| !seen.contains(*d)) {
                return Err(Refusal::SetMissing { set: missing });
            }
            seen.insert(set);
            let resource = rules.resource_def(set);
            for a in &def.attributes {
                if resource.is_some_and(|resource| rules.is_bound_a_stat(sets, resource, a)) {
                    continue;
                }
                if let Some((first, _)) = parts.get(position[a.attribute.index()]) {
                    return Err(Refusal::DuplicateAttribute { attribute: a.attribute, set: *first });
                }
                position[a.attribute.index()] = parts.len();
                parts.push((set, a));
            }
        }
        let max = limit.min(NO_SLOT as u32);
        if parts.len() as u32 > max {
            return Err(Refusal::Limit { what: crate::LimitKind::Attributes, max, link: 0 });
        }
        for (alias, set, attribute) in &rules.aliases {
            if seen.contains(set) && rules.homes.contains(&(*attribute, *set)) {
                position[alias.index()] = position[attribute.index()];
            }
        }
        Ok(Registered { parts, position })
    }

    /// Returns the positions that each attribute reads. If the attribute set of a name is not registered, a bound with
    /// this name is open, and a derived value that reads this name is 0.
    fn reads(&self) -> Vec<Vec<usize>> {
        let reads = |(_, a): &(SetId, &AttributeDef)| {
            let bounds = [a.min, a.max].into_iter().filter_map(|b| match b {
                BoundDef::Attribute(attribute) => Some(attribute),
                BoundDef::Open | BoundDef::Value(_) => None,
            });
            let derived = a.derived.iter().flat_map(|e| e.reads()).map(|(_, attribute)| attribute);
            let known = |attribute: AttributeId| Some(self.position[attribute.index()]).filter(|&at| at != usize::MAX);
            let mut list: Vec<usize> = bounds.chain(derived).filter_map(known).collect();
            list.sort_unstable();
            list.dedup();
            list
        };
        self.parts.iter().map(reads).collect()
    }
}

/// The slots of attributes in topological order.
struct Places {
    /// The slots by position in the order of registration.
    of_part: Vec<u16>,
    of_attribute: Box<[u16]>,
}

impl Places {
    fn new(registered: &Registered<'_>, order: &[usize]) -> Places {
        let mut of_part = vec![NO_SLOT; order.len()];
        for (slot, &part) in order.iter().enumerate() {
            of_part[part] = slot as u16;
        }
        let of_attribute = registered.position.iter().map(|&at| of_part.get(at).copied().unwrap_or(NO_SLOT)).collect();
        Places { of_part, of_attribute }
    }

    fn bound(&self, bound: BoundDef) -> SlotBound {
        match bound {
            BoundDef::Open => SlotBound::Open,
            BoundDef::Value(v) => SlotBound::Value(v),
            BoundDef::Attribute(a) => match self.of_attribute[a.index()] {
                NO_SLOT => SlotBound::Open,
                slot => SlotBound::Slot(slot),
            },
        }
    }

    /// Returns the slots that read each slot, ascending.
    fn dependents(&self, reads: &[Vec<usize>]) -> Vec<Vec<u16>> {
        let mut dependents: Vec<Vec<u16>> = vec![Vec::new(); self.of_part.len()];
        for (part, list) in reads.iter().enumerate() {
            for &read in list {
                dependents[self.of_part[read] as usize].push(self.of_part[part]);
            }
        }
        dependents.iter_mut().for_each(|list| list.sort_unstable());
        dependents
    }

    /// Returns the slots that absorb losses of an attribute, in their order.
    fn pools(&self, registered: &Registered<'_>, of: AttributeId) -> Box<[u16]> {
        let slot = self.of_attribute[of.index()];
        let pools = registered.parts.iter().enumerate().filter_map(|(part, (_, a))| {
            let (before, order) = a.absorb?;
            let guards = self.of_attribute[before.index()] == slot && self.of_part[part] != slot;
            guards.then(|| (order, self.of_part[part]))
        });
        let mut pools: Vec<(i32, u16)> = pools.collect();
        pools.sort_unstable();
        pools.into_iter().map(|(_, slot)| slot).collect()
    }
}

impl Slot {
    /// Returns the current bounds: a referenced bound is the current value of its attribute.
    #[inline(always)]
    pub(crate) fn bounds(&self, attrs: &[Attr]) -> (f64, f64) {
        let lo = match self.lo {
            SlotBound::Open => f64::NEG_INFINITY,
            SlotBound::Value(v) => v,
            SlotBound::Slot(s) => attrs[s as usize].current.max(self.least),
        };
        let hi = match self.hi {
            SlotBound::Open => f64::INFINITY,
            SlotBound::Value(v) => v,
            SlotBound::Slot(s) => attrs[s as usize].current,
        };
        (lo, hi)
    }
}

/// Clamps with `max(lo, min(hi, v))`. If the lower bound is above the upper bound, the lower bound applies.
#[inline]
pub(crate) fn clamp(v: f64, lo: f64, hi: f64) -> f64 {
    let v = if v > hi { hi } else { v };
    if v < lo { lo } else { v }
}

fn derived_value(expr: &Expr, slot_of: &[u16], attrs: &[Attr]) -> (f64, bool) {
    let mut read = |_: Side, a: AttributeId| attrs.get(slot_of[a.index()] as usize).map(|x| x.current);
    match expr.eval(&mut read) {
        Some(v) if v.is_finite() => (v + 0.0, false),
        _ => (0.0, true),
    }
}

/// Sorts with Kahn's algorithm, smallest first. If there is a cycle, returns the smallest member of the cycle.
fn sort(reads: &[Vec<usize>]) -> Result<Vec<usize>, usize> {
    let mut waiting: Vec<usize> = reads.iter().map(Vec::len).collect();
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); reads.len()];
    for (i, list) in reads.iter().enumerate() {
        for &r in list {
            readers[r].push(i);
        }
    }
    let mut ready: BTreeSet<usize> = (0..reads.len()).filter(|&i| waiting[i] == 0).collect();
    let mut order = Vec::with_capacity(reads.len());
    while let Some(i) = ready.pop_first() {
        order.push(i);
        for &r in &readers[i] {
            waiting[r] -= 1;
            if waiting[r] == 0 {
                ready.insert(r);
            }
        }
    }
    match (0..reads.len()).find(|&i| waiting[i] > 0) {
        Some(at) => Err(at),
        None => Ok(order),
    }
}
