//! The seven-step pipeline, which computes the current value of an attribute from its base value and modifiers. Only
//! fast paths for attributes without modifiers compute current values without the pipeline. `explain` shows the steps
//! of the pipeline.

use crate::ChannelId;
use crate::rules::clamp;
use crate::state::{Mod, ModOp};
use ugas_doc::Aggregation;

/// The sums of one attribute's modifiers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sums {
    /// Steps 1 and 2: the sum that is added to the base value.
    pub(crate) add: f64,
    /// Steps 3 and 4: the product of the channel factors.
    pub(crate) product: f64,
    /// Step 5: the sum that is added after the multiplication.
    pub(crate) post: f64,
    /// Step 6: the override.
    pub(crate) over: Option<f64>,
    /// The least result of step 2: 0 for `NonNegative`, otherwise no limit.
    pub(crate) least: f64,
    /// Whether a number overflowed and was clamped.
    pub(crate) saturated: bool,
}

impl Sums {
    pub(crate) const NONE: Sums =
        Sums { add: 0.0, product: 1.0, post: 0.0, over: None, least: f64::NEG_INFINITY, saturated: false };

    /// Computes steps 1 to 5.
    #[inline]
    pub(crate) fn formula(&self, base: f64) -> f64 {
        held(self.raw(base))
    }

    /// Computes steps 1 to 5 without the clamp to the finite range.
    #[inline]
    pub(crate) fn raw(&self, base: f64) -> f64 {
        at_least(base + self.add, self.least) * self.product + self.post
    }

    /// Computes all seven steps.
    #[inline]
    pub(crate) fn value(&self, base: f64, lo: f64, hi: f64) -> f64 {
        clamp(self.over.unwrap_or_else(|| self.formula(base)), lo, hi) + 0.0
    }

    /// Returns whether a sum or the formula overflowed and was clamped.
    #[inline]
    pub(crate) fn is_out_of_range(&self, base: f64) -> bool {
        self.saturated || self.over.is_none() && !self.raw(base).is_finite()
    }
}

/// Returns the greater of two numbers that are not NaN.
#[inline]
fn at_least(v: f64, least: f64) -> f64 {
    if v < least { least } else { v }
}

/// Clamps a number to the finite range.
#[inline]
pub(crate) fn held(v: f64) -> f64 {
    match v {
        v if v.is_finite() => v,
        v if v.is_nan() => 0.0,
        v => f64::MAX.copysign(v),
    }
}

/// Sums one attribute's modifiers. The modifiers must be sorted by (operation, channel, magnitude), so that the result
/// does not depend on the order of application. `priority` returns the priority of an Override from the sequence number
/// of its effect.
pub(crate) fn sums(mods: &[Mod], aggregation: Aggregation, priority: impl Fn(u64) -> i32) -> Sums {
    let mut s = Sums::NONE;
    let strongest = aggregation == Aggregation::StrongestMultiply;
    let least = if aggregation == Aggregation::NonNegative { 0.0 } else { f64::NEG_INFINITY };
    s.least = least;
    let (mut channel, mut factor) = (ChannelId::NONE, 1.0f64);
    let (mut bonus, mut penalty) = (0.0f64, 0.0f64);
    let mut best: Option<(i32, u64, u16)> = None;
    for m in mods.iter().filter(|m| m.off == 0) {
        match m.op {
            ModOp::Add => s.add += m.magnitude,
            ModOp::Multiply if strongest => {
                bonus = bonus.max(m.magnitude);
                penalty = penalty.min(m.magnitude);
            }
            ModOp::Multiply if m.channel == ChannelId::NONE => s.product *= at_least(1.0 + m.magnitude, least),
            ModOp::Multiply => {
                if m.channel != channel {
                    s.product *= at_least(factor, least);
                    (channel, factor) = (m.channel, 1.0);
                }
                factor += m.magnitude;
            }
            ModOp::AddPost => s.post += m.magnitude,
            ModOp::Override => {
                let rank = (priority(m.seq()), m.seq(), m.index());
                if best.is_none_or(|b| rank > b) {
                    best = Some(rank);
                    s.over = Some(m.magnitude);
                }
            }
        }
    }
    s.product *= at_least(factor, least);
    if strongest {
        s.product = (1.0 + bonus) * (1.0 + penalty);
    }
    // If the total is finite, so are its parts.
    if !(s.add + s.product + s.post).is_finite() {
        let raw = [s.add, s.product, s.post];
        s.saturated = raw.iter().any(|v| !v.is_finite());
        [s.add, s.product, s.post] = raw.map(held);
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    fn m(op: ModOp, channel: &str, magnitude: f64, seq: u64) -> Mod {
        let channel = if channel.is_empty() { ChannelId::NONE } else { ChannelId::named(channel) };
        Mod::new(seq, 0, 0, op, channel, magnitude)
    }

    fn value(base: f64, mut mods: Vec<Mod>) -> f64 {
        mods.sort_by(Mod::order);
        sums(&mods, Aggregation::All, |_| 0).value(base, f64::NEG_INFINITY, f64::INFINITY)
    }

    // covers: UGAS-5.3-01
    #[test]
    fn the_worked_example_gives_487_5() {
        let mods = vec![
            m(ModOp::Multiply, "", 1.0, 6),
            m(ModOp::Add, "", 20.0, 1),
            m(ModOp::Multiply, "P", 0.15, 4),
            m(ModOp::Add, "", 10.0, 2),
            m(ModOp::Multiply, "", 0.5, 5),
            m(ModOp::Multiply, "P", 0.10, 3),
        ];
        assert_eq!(value(100.0, mods), 487.5);
    }

    #[test]
    fn every_order_of_six_modifiers_gives_the_same_bits() {
        let all = [
            m(ModOp::Add, "", 0.1, 0),
            m(ModOp::Add, "", 0.7, 0),
            m(ModOp::Multiply, "G", 0.3, 0),
            m(ModOp::Multiply, "G", 0.11, 0),
            m(ModOp::Multiply, "", 0.9, 0),
            m(ModOp::AddPost, "", -1.3, 0),
        ];
        let mut order = [0usize, 1, 2, 3, 4, 5];
        let mut seen = Vec::new();
        permutations(&mut order, 0, &mut |order| {
            let mods = order
                .iter()
                .enumerate()
                .map(|(at, &i)| Mod::new(at as u64 + 1, 0, 0, all[i].op, all[i].channel, all[i].magnitude))
                .collect();
            seen.push(value(17.3, mods).to_bits());
        });
        assert_eq!(seen.len(), 720);
        assert!(seen.iter().all(|&bits| bits == seen[0]));
    }

    fn permutations(order: &mut [usize; 6], at: usize, each: &mut impl FnMut(&[usize; 6])) {
        if at == order.len() {
            return each(order);
        }
        for i in at..order.len() {
            order.swap(at, i);
            permutations(order, at + 1, each);
            order.swap(at, i);
        }
    }

    #[test]
    fn overflow_is_clamped_to_the_finite_range() {
        let s = sums(&[m(ModOp::Add, "", f64::MAX, 1), m(ModOp::Add, "", f64::MAX, 2)], Aggregation::All, |_| 0);
        assert!(s.saturated);
        assert_eq!(s.value(f64::MAX, f64::NEG_INFINITY, f64::INFINITY), f64::MAX);
    }
}
