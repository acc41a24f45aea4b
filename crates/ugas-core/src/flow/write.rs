//! Writes to base values. A write clamps the base value so that the current value, computed with all modifiers, is
//! within the bounds. An increase never lowers the base value, and a decrease never raises it. Damage beyond the
//! minimum is lost and does not reduce later healing.

use super::pipeline::Sums;
use crate::rules::clamp;
use crate::state::ModOp;

/// The limits of the base value during a write. `lo` and `hi` are the range of base values that lead to a current value
/// within the bounds. The hull is the smallest range that contains both this range and the bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    lo: f64,
    hi: f64,
    hull_lo: f64,
    hull_hi: f64,
}

impl Window {
    pub(crate) fn new(sums: &Sums, lo: f64, hi: f64) -> Window {
        let hi = hi.max(lo);
        let (wlo, whi) = if sums.product <= 0.0 { (lo, hi) } else { (edge(sums, lo, -1.0), edge(sums, hi, 1.0)) };
        Window { lo: wlo, hi: whi, hull_lo: lo.min(wlo), hull_hi: hi.max(whi) }
    }

    /// Returns the window of an unmodified attribute: the bounds themselves.
    #[inline]
    pub(crate) fn plain(lo: f64, hi: f64) -> Window {
        let hi = greater(hi, lo);
        Window { lo, hi, hull_lo: lo, hull_hi: hi }
    }

    /// Returns the base value from which a write starts.
    #[inline]
    pub(crate) fn start(&self, base: f64) -> f64 {
        clamp(base, self.hull_lo, self.hull_hi)
    }

    /// Returns the base value after a write from `start` to `end`. `over` is true if the write includes an Override.
    #[inline(always)]
    pub(crate) fn settle(&self, base: f64, start: f64, end: f64, over: bool) -> f64 {
        let settled = if over {
            clamp(end, self.lo, self.hi)
        } else if end < start {
            lesser(base, greater(lesser(end, self.hull_hi), self.lo))
        } else if end > start {
            greater(base, lesser(greater(end, self.hull_lo), self.hi))
        } else {
            base
        };
        settled + 0.0
    }
}

/// Returns the lesser of two numbers that are not NaN.
#[inline]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline]
fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Returns the base value for which the pipeline yields `bound`. The base value is moved outward by a few ulps until
/// the pipeline reaches the bound.
fn edge(sums: &Sums, bound: f64, outward: f64) -> f64 {
    if !bound.is_finite() || (sums.add == 0.0 && sums.product == 1.0 && sums.post == 0.0) {
        return bound;
    }
    let scaled = ((bound - sums.post) / sums.product).max(sums.least);
    let mut e = scaled - sums.add;
    if !e.is_finite() {
        return f64::INFINITY * outward;
    }
    let step = ulp(e.abs().max(sums.add.abs()).max(scaled.abs()));
    let short = |e: f64| {
        let shown = sums.raw(e);
        if outward > 0.0 { shown < bound } else { shown > bound }
    };
    for _ in 0..4 {
        if !short(e) {
            break;
        }
        e += step * outward;
    }
    e
}

fn ulp(v: f64) -> f64 {
    f64::from_bits(v.to_bits() + 1) - v
}

/// Applies one operation to a base value. Multiply scales the value by `1 + m`.
#[inline]
pub(crate) fn operate(op: ModOp, value: f64, magnitude: f64) -> f64 {
    match op {
        ModOp::Add | ModOp::AddPost => value + magnitude,
        ModOp::Multiply => value * (1.0 + magnitude),
        ModOp::Override => magnitude,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(base: f64, sums: &Sums, lo: f64, hi: f64, by: f64) -> f64 {
        let w = Window::new(sums, lo, hi);
        let s = w.start(base);
        w.settle(base, s, s + by, false)
    }

    #[test]
    fn overkill_and_overheal_leave_no_debt() {
        assert_eq!(hit(100.0, &Sums::NONE, 0.0, 100.0, -150.0), 0.0);
        assert_eq!(hit(0.0, &Sums::NONE, 0.0, 100.0, 60.0), 60.0);
        assert_eq!(hit(90.0, &Sums::NONE, 0.0, 100.0, 60.0), 100.0);
    }

    #[test]
    fn a_temporary_bonus_takes_the_first_hit() {
        let plus_one = Sums { add: 1.0, ..Sums::NONE };
        let after = hit(1.0, &plus_one, 0.0, 3.0, -1.0);
        assert_eq!((after, plus_one.value(after, 0.0, 3.0)), (0.0, 1.0));
        let after = hit(after, &plus_one, 0.0, 3.0, -1.0);
        assert_eq!(plus_one.value(after, 0.0, 3.0), 0.0);
    }

    #[test]
    fn a_full_attribute_equals_its_bound_and_writes_keep_their_direction() {
        let mut seed = 3u64;
        for _ in 0..200_000 {
            let mut next = || {
                seed = crate::rng::mix(seed);
                (seed >> 11) as f64 / (1u64 << 53) as f64
            };
            let sums =
                Sums { add: next() * 50.0 - 25.0, product: next() * 3.0, post: next() * 20.0 - 10.0, ..Sums::NONE };
            let (lo, hi, base) = (next() * 10.0, 50.0 + next() * 100.0, next() * 300.0 - 100.0);
            let up = hit(base, &sums, lo, hi, 1e12);
            assert!(up >= base);
            if sums.product > 1e-6 && base < up {
                assert_eq!(sums.value(up, lo, hi), hi, "{sums:?} {lo} {hi} {base}");
            }
            assert!(hit(base, &sums, lo, hi, -1e6) <= base);
            assert!(hit(base, &sums, lo, hi, 0.1) >= base);
            assert!(hit(base, &sums, lo, hi, -0.1) <= base);
        }
    }
}
