//! Values from scratch: every current value follows from base values, active effects and definitions.

use super::calc::Frozen;
use super::expr;
use super::world::{Inst, NONE, Unit, World};
use std::collections::{BTreeMap, BTreeSet};
use ugas_doc::{
    Aggregation, Attribute, Bound, Curve, DurationPolicy, Effect, Interpolation, Magnitude, MagnitudeSource,
    MagnitudeType, Modifier, Operation,
};

/// An attribute of a controller.
pub(crate) type Node = (u32, String);
/// Current values as far as they are known.
pub(crate) type Values = BTreeMap<Node, f64>;

/// The inputs of a magnitude besides attributes.
pub(crate) struct Context<'a> {
    pub(crate) source: u32,
    pub(crate) target: u32,
    pub(crate) level: u32,
    pub(crate) set_by_caller: &'a BTreeMap<String, f64>,
    /// The stored values of a destroyed source.
    pub(crate) frozen: Option<&'a Frozen>,
}

impl<'a> Context<'a> {
    /// Of an active effect.
    pub(crate) fn of(e: &'a Inst, target: u32) -> Context<'a> {
        let (source, level) = (e.source, e.level);
        Context { source, target, level, set_by_caller: &e.set_by_caller, frozen: e.frozen.as_ref() }
    }
}

/// The combined modifiers of an attribute.
pub(crate) struct Pieces {
    add: f64,
    factor: f64,
    post: f64,
    over: Option<f64>,
    /// The least sum of base value and added values.
    least: f64,
}

impl Pieces {
    fn plain(&self, base: f64) -> f64 {
        (base + self.add).max(self.least) * self.factor + self.post
    }
}

/// Whether a modifier acts on current while its effect is active.
pub(crate) fn acts_on_current(def: &Effect, m: &Modifier) -> bool {
    def.duration_policy != DurationPolicy::Instant && (!is_periodic(def) || m.operation == Operation::Multiply)
}

pub(crate) fn is_periodic(def: &Effect) -> bool {
    def.duration_policy != DurationPolicy::Instant && def.period.is_some_and(|p| p.period > 0.0)
}

pub(crate) fn clamp(v: f64, lo: f64, hi: f64) -> f64 {
    v.min(hi).max(lo)
}

impl World {
    // Definitions -----------------------------------------------------------------------------------------------

    /// Attributes of a controller in registration order.
    pub(crate) fn attributes(&self, who: u32) -> Vec<String> {
        let sets = &self.rows[&who].sets;
        sets.iter().flat_map(|s| self.sets[s].attributes.iter().map(|a| a.name.clone())).collect()
    }

    pub(crate) fn attribute(&self, node: &Node) -> Option<&Attribute> {
        let sets = &self.rows.get(&node.0)?.sets;
        sets.iter().flat_map(|s| &self.sets[s].attributes).find(|a| a.name == node.1)
    }

    /// What an attribute reads on its own controller: bounds and derivation.
    pub(crate) fn own_reads(&self, node: &Node) -> Vec<Node> {
        let Some(doc) = self.attribute(node) else {
            return Vec::new();
        };
        let clamping = doc.clamping.clone().unwrap_or_default();
        let mut names: Vec<String> = [clamping.min, clamping.max]
            .into_iter()
            .filter_map(|b| match b {
                Some(Bound::Attribute(name)) => Some(name),
                _ => None,
            })
            .collect();
        names.extend(doc.derived_from.iter().flat_map(|d| expr::names(&d.expression)));
        let nodes = names.into_iter().map(|n| (node.0, n));
        nodes.filter(|n| self.attribute(n).is_some()).collect()
    }

    /// The attribute that a live magnitude reads.
    pub(crate) fn live_read(&self, mag: &Magnitude, source: u32, target: u32) -> Option<Node> {
        match mag.kind {
            MagnitudeType::AttributeBased => {
                let who = if mag.source == Some(MagnitudeSource::Target) { target } else { source };
                Some((who, mag.backing_attribute.clone()?))
            }
            MagnitudeType::ScalableFloat => {
                let name = mag.curve.as_ref().and(mag.curve_input.as_ref())?;
                self.is_attribute_name(name).then(|| (source, name.clone()))
            }
            MagnitudeType::CustomCalculation | MagnitudeType::SetByCaller => None,
        }
    }

    fn is_attribute_name(&self, name: &str) -> bool {
        self.sets.values().any(|s| s.attributes.iter().any(|a| a.name == name))
    }

    /// Everything an attribute reads, modifiers that are off included.
    pub(crate) fn all_reads(&self, node: &Node) -> Vec<Node> {
        let mut reads = self.own_reads(node);
        for e in &self.rows[&node.0].effects {
            let def = &self.effects[&e.def];
            for (m, state) in def.modifiers.iter().zip(&e.mods) {
                let live = matches!(state.unit, Unit::Reading { .. }) && acts_on_current(def, m);
                if m.attribute == node.1 && live && !state.dropped {
                    let read = self.live_read(&m.magnitude, e.source, node.0);
                    reads.extend(read.filter(|n| e.frozen.is_none() || n.0 == node.0));
                }
            }
        }
        reads.retain(|n| self.attribute(n).is_some());
        reads
    }

    /// A controller's attributes, referenced ones first, registration order otherwise.
    pub(crate) fn slots(&self, who: u32) -> Vec<String> {
        let mut left: Vec<Node> = self.attributes(who).into_iter().map(|a| (who, a)).collect();
        let mut order = Vec::new();
        while !left.is_empty() {
            let ready = left.iter().position(|n| self.own_reads(n).iter().all(|r| !left.contains(r)));
            order.push(left.remove(ready.expect("documents have no circle")).1);
        }
        order
    }

    /// Sorts `nodes` so that a node comes after those it reads; smallest (controller, slot) otherwise. `None` on a
    /// cycle.
    pub(crate) fn sort(&self, nodes: BTreeSet<Node>) -> Option<Vec<Node>> {
        let mut left = Vec::new();
        for who in self.rows.keys() {
            for a in self.slots(*who) {
                let node = (*who, a);
                if nodes.contains(&node) {
                    let reads: Vec<Node> = self.all_reads(&node).into_iter().filter(|r| nodes.contains(r)).collect();
                    left.push((node, reads));
                }
            }
        }
        let mut order = Vec::new();
        while !left.is_empty() {
            let ready = left.iter().position(|(_, reads)| !reads.iter().any(|r| left.iter().any(|(n, _)| n == r)))?;
            order.push(left.remove(ready).0);
        }
        Some(order)
    }

    pub(crate) fn all_nodes(&self) -> BTreeSet<Node> {
        self.rows.keys().flat_map(|&w| self.attributes(w).into_iter().map(move |a| (w, a))).collect()
    }

    /// Whether bounds, derivations and live magnitudes form a cycle.
    pub(crate) fn has_cycle(&self) -> bool {
        self.sort(self.all_nodes()).is_none()
    }

    // Magnitudes ------------------------------------------------------------------------------------------------

    /// A magnitude now; `Ok(None)` where the caller did not set its value.
    pub(crate) fn magnitude(
        &self,
        mag: &Magnitude,
        cx: &Context<'_>,
        read: &dyn Fn(&Node) -> Option<f64>,
    ) -> Result<Option<f64>, &'static str> {
        let read = |n: &Node| match cx.frozen {
            Some(f) if n.0 == cx.source => f.values.get(&n.1).copied(),
            _ => read(n),
        };
        let value = match mag.kind {
            MagnitudeType::ScalableFloat => match &mag.curve {
                None => mag.value.expect("generated documents are whole"),
                Some(name) => {
                    let x = match mag.curve_input.as_deref() {
                        None | Some("Level") => cx.level as f64,
                        Some(input) if self.is_attribute_name(input) => {
                            read(&(cx.source, input.to_owned())).ok_or("UnknownAttribute")?
                        }
                        Some(key) => match cx.set_by_caller.get(key) {
                            Some(v) => *v,
                            None => return Ok(None),
                        },
                    };
                    mag.value.unwrap_or(1.0) * curve_at(&self.curves[name], x)
                }
            },
            MagnitudeType::AttributeBased => {
                let node = self.live_read(mag, cx.source, cx.target).expect("names an attribute");
                let backing = read(&node).ok_or("UnknownAttribute")?;
                (backing + mag.pre_multiply_additive.unwrap_or(0.0)) * mag.coefficient.unwrap_or(1.0)
                    + mag.post_multiply_additive.unwrap_or(0.0)
            }
            MagnitudeType::SetByCaller => {
                match cx.set_by_caller.get(mag.data_tag.as_ref().expect("generated documents are whole")) {
                    Some(v) => *v,
                    None => return Ok(None),
                }
            }
            MagnitudeType::CustomCalculation => {
                let calc = &self.calculations[mag.calculator_class.as_ref().expect("names a calculation")];
                let text = calc.value.as_ref().expect("it is a magnitude").text();
                self.calculated(&[text], cx, 0.0)?[0]
            }
        };
        if value.is_finite() { Ok(Some(value + 0.0)) } else { Err("NonFinite") }
    }

    /// Whether a magnitude reads an attribute, and so may change after application.
    pub(crate) fn reads_attribute(&self, mag: &Magnitude) -> bool {
        self.live_read(mag, NONE, NONE).is_some()
    }

    /// The unit magnitude of modifier `i` of an active effect.
    pub(crate) fn unit(&self, who: u32, e: &Inst, i: usize, values: &Values) -> Option<f64> {
        match e.mods[i].unit {
            Unit::Skipped | Unit::AtExecution => None,
            Unit::Fixed(v) => Some(v),
            Unit::Reading { last } => {
                let cx = Context::of(e, who);
                let mag = &self.effects[&e.def].modifiers[i].magnitude;
                match self.magnitude(mag, &cx, &|n| values.get(n).copied()) {
                    Ok(v) => v,
                    Err("NonFinite") => None,
                    Err(_) => Some(last),
                }
            }
        }
    }

    // The pipeline ----------------------------------------------------------------------------------------------

    fn pieces(&self, node: &Node, values: &Values) -> Pieces {
        let doc = self.attribute(node).expect("it exists");
        let (mut adds, mut posts, mut overrides) = (Vec::new(), Vec::new(), Vec::new());
        let mut multiplies: Vec<(u32, f64)> = Vec::new();
        for e in self.rows[&node.0].effects.iter().filter(|e| !e.inhibited) {
            let def = &self.effects[&e.def];
            for (i, m) in def.modifiers.iter().enumerate() {
                let state = &e.mods[i];
                if m.attribute != node.1 || !acts_on_current(def, m) || !state.holds || state.dropped {
                    continue;
                }
                let Some(unit) = self.unit(node.0, e, i, values) else {
                    continue;
                };
                let magnitude = unit * e.stacks as f64;
                match m.operation {
                    Operation::Add => adds.push(magnitude),
                    Operation::AddPost => posts.push(magnitude),
                    Operation::Multiply => multiplies.push((m.channel.as_deref().map_or(0, channel_number), magnitude)),
                    Operation::Override => overrides.push((def.priority, e.seq, i, unit)),
                }
            }
        }
        adds.sort_by(f64::total_cmp);
        posts.sort_by(f64::total_cmp);
        multiplies.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let factor = match doc.aggregation {
            Aggregation::All => {
                let single = multiplies.iter().filter(|m| m.0 == 0).fold(1.0, |p, m| p * (1.0 + m.1));
                let channels: BTreeSet<u32> = multiplies.iter().map(|m| m.0).filter(|&c| c != 0).collect();
                channels
                    .into_iter()
                    .fold(single, |p, c| p * (1.0 + multiplies.iter().filter(|m| m.0 == c).fold(0.0, |s, m| s + m.1)))
            }
            Aggregation::NonNegative => {
                let single = multiplies.iter().filter(|m| m.0 == 0).fold(1.0, |p, m| p * (1.0 + m.1).max(0.0));
                let channels: BTreeSet<u32> = multiplies.iter().map(|m| m.0).filter(|&c| c != 0).collect();
                let sum = |c: u32| multiplies.iter().filter(|m| m.0 == c).fold(0.0, |s, m| s + m.1);
                channels.into_iter().fold(single, |p, c| p * (1.0 + sum(c)).max(0.0))
            }
            Aggregation::StrongestMultiply => {
                let bonus = multiplies.iter().map(|m| m.1).fold(0.0, f64::max);
                let penalty = multiplies.iter().map(|m| m.1).fold(0.0, f64::min);
                (1.0 + bonus) * (1.0 + penalty)
            }
        };
        overrides.sort_by_key(|o| (o.0, o.1, o.2));
        Pieces {
            add: adds.iter().fold(0.0, |s, v| s + v),
            factor,
            post: posts.iter().fold(0.0, |s, v| s + v),
            over: overrides.last().map(|o| o.3),
            least: if doc.aggregation == Aggregation::NonNegative { 0.0 } else { f64::NEG_INFINITY },
        }
    }

    pub(crate) fn bounds(&self, node: &Node, values: &Values) -> (f64, f64) {
        let clamping = self.attribute(node).and_then(|d| d.clamping.clone()).unwrap_or_default();
        let value = |b: Option<Bound>, open: f64| match b {
            None => open,
            Some(Bound::Value(v)) => v,
            Some(Bound::Attribute(name)) => values.get(&(node.0, name)).copied().unwrap_or(open),
        };
        let is_non_negative = self.attribute(node).is_some_and(|d| d.aggregation == Aggregation::NonNegative);
        let least = if is_non_negative { 0.0 } else { f64::NEG_INFINITY };
        (value(clamping.min, f64::NEG_INFINITY).max(least), value(clamping.max, f64::INFINITY))
    }

    pub(crate) fn derived(&self, node: &Node, values: &Values) -> Option<f64> {
        let doc = self.attribute(node)?;
        let text = &doc.derived_from.as_ref()?.expression;
        let lacks = std::cell::Cell::new(false);
        let v = expr::value(text, &|name| {
            let value = values.get(&(node.0, name.to_owned())).copied();
            lacks.set(lacks.get() || value.is_none());
            value
        });
        if let Some(default) = doc.default_base_value.filter(|_| lacks.get()) {
            // A bound without its stat has a base value of its own.
            return (!self.is_bound(&node.1)).then_some(default);
        }
        Some(v.filter(|v| v.is_finite()).unwrap_or(0.0) + 0.0)
    }

    /// Whether a derived attribute has no finite value.
    pub(crate) fn is_not_finite(&self, node: &Node, values: &Values) -> bool {
        let Some((doc, derived)) = self.attribute(node).and_then(|a| Some((a, a.derived_from.as_ref()?))) else {
            return false;
        };
        let lacks = std::cell::Cell::new(false);
        let value = expr::value(&derived.expression, &|name| {
            let value = values.get(&(node.0, name.to_owned())).copied();
            lacks.set(lacks.get() || value.is_none());
            value
        });
        // While it lacks what it reads, it has its default.
        let has_default = doc.default_base_value.is_some() && lacks.get();
        !has_default && value.is_none_or(|v| !v.is_finite())
    }

    pub(crate) fn current(&self, node: &Node, base: f64, values: &Values) -> f64 {
        let pieces = self.pieces(node, values);
        let (lo, hi) = self.bounds(node, values);
        let v = pieces.over.unwrap_or_else(|| pieces.plain(base)).clamp(-f64::MAX, f64::MAX);
        clamp(v, lo, hi) + 0.0
    }

    /// The window and hull of ruling R-03.
    pub(crate) fn window(&self, node: &Node, values: &Values) -> ((f64, f64), (f64, f64)) {
        let pieces = self.pieces(node, values);
        let (lo, hi) = self.bounds(node, values);
        let hi = hi.max(lo);
        let edge = |bound: f64, outward: f64| {
            if bound.is_infinite() {
                return bound;
            }
            let scaled = ((bound - pieces.post) / pieces.factor).max(pieces.least);
            let mut edge = scaled - pieces.add;
            let largest = edge.abs().max(pieces.add.abs()).max(scaled.abs());
            let step = largest.next_up() - largest;
            for _ in 0..4 {
                if (pieces.plain(edge) - bound) * outward >= 0.0 {
                    break;
                }
                edge += step * outward;
            }
            edge
        };
        let window = if pieces.factor <= 0.0 { (lo, hi) } else { (edge(lo, -1.0), edge(hi, 1.0)) };
        (window, (window.0.min(lo), window.1.max(hi)))
    }

    /// A default value within the bounds, for a controller whose earlier slots have their values.
    pub(crate) fn clamped_default(&self, node: &Node, default: f64) -> f64 {
        let mut values = self.shown_values();
        for slot in self.slots(node.0) {
            let at = (node.0, slot);
            if at == *node {
                break;
            }
            let base = self.derived(&at, &values).unwrap_or(self.rows[&at.0].base[&at.1]);
            values.insert(at.clone(), self.current(&at, base, &values));
        }
        let (lo, hi) = self.bounds(node, &values);
        clamp(default, lo, hi)
    }

    /// The combined factor of the multiplying modifiers of an attribute.
    pub(crate) fn factor(&self, node: &Node) -> f64 {
        self.pieces(node, &self.shown_values()).factor
    }

    /// Where a write starts from, before the effect.
    pub(crate) fn write_start(&self, node: &Node) -> f64 {
        let values = self.shown_values();
        let (_, hull) = self.window(node, &values);
        clamp(self.rows[&node.0].base[&node.1], hull.0, hull.1)
    }

    pub(crate) fn shown_values(&self) -> Values {
        self.shown.iter().map(|(n, s)| (n.clone(), s.current)).collect()
    }
}

fn curve_at(curve: &Curve, x: f64) -> f64 {
    assert_ne!(curve.interpolation, Interpolation::Cubic, "not generated");
    let points = &curve.points;
    if x <= points[0].x {
        return points[0].y;
    }
    for pair in points.windows(2) {
        if x < pair[1].x {
            return match curve.interpolation {
                Interpolation::Step => pair[0].y,
                _ => pair[0].y + (pair[1].y - pair[0].y) * ((x - pair[0].x) / (pair[1].x - pair[0].x)),
            };
        }
    }
    points[points.len() - 1].y
}

/// Channels multiply in the order of a hash of their names, so that products have the same bits everywhere.
fn channel_number(name: &str) -> u32 {
    let mut h: u64 = 0xcbf2_9ce4_8422_2325;
    for b in name.bytes() {
        h ^= b as u64;
        h = h.wrapping_mul(0x100_0000_01b3);
    }
    ((h >> 32) as u32 ^ h as u32).max(1)
}
