//! Curves: piecewise functions of one number, constant outside the range of their points.

use super::compile::Compiler;
use super::compiled::CompiledText;
use super::document::{Phase, RulesDocument};
use crate::NameKind;
use std::sync::Arc;
use ugas_doc::{Curve, Interpolation, Origin};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CurveDef {
    points: Box<[(f64, f64)]>,
    /// The slope at each point, for cubic curves only.
    slopes: Box<[f64]>,
    interpolation: Interpolation,
}

impl CompiledText for CurveDef {}

impl RulesDocument for Curve {
    fn phase(&self) -> Phase {
        Phase::Curves
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Curve)
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        match (CurveDef::new(self), c.find(NameKind::Curve, &self.name)) {
            (Ok(def), Some(id)) => c.rules.to_mut().curves.define(id, Arc::new(def)),
            (Ok(_), None) => {}
            (Err(why), _) => c.error("bad-curve", why),
        }
    }
}

impl CurveDef {
    /// Compiles a curve. The points must be finite, and X must increase. The caller adds the name of the curve to the
    /// message.
    pub(crate) fn new(doc: &Curve) -> Result<CurveDef, String> {
        let points: Box<[(f64, f64)]> = doc.points.iter().map(|p| (p.x, p.y)).collect();
        if let Some(csv) = doc.csv.as_ref().filter(|_| points.is_empty()) {
            return Err(format!(
                "Csv: cannot read {csv}, because this document was not loaded from disk; write Points instead"
            ));
        }
        if points.is_empty() {
            return Err("the curve has no points; add at least one point".into());
        }
        if let Some(p) = points.iter().find(|p| !p.0.is_finite() || !p.1.is_finite()) {
            return Err(format!("point ({}, {}) is not finite; write finite numbers", p.0, p.1));
        }
        if let Some((i, w)) = points.windows(2).enumerate().find(|(_, w)| w[0].0 >= w[1].0) {
            return Err(format!(
                "Points[{}]: X is {}; write more than {}, the X of the previous point",
                i + 1,
                w[1].0,
                w[0].0
            ));
        }
        let slopes = match doc.interpolation {
            Interpolation::Cubic => monotone_slopes(&points),
            Interpolation::Linear | Interpolation::Step => Box::default(),
        };
        Ok(CurveDef { points, slopes, interpolation: doc.interpolation })
    }

    pub(crate) fn at(&self, x: f64) -> f64 {
        let i = self.points.partition_point(|p| p.0 <= x);
        if i == 0 {
            return self.points[0].1;
        }
        if i == self.points.len() {
            return self.points[i - 1].1;
        }
        let ((x0, y0), (x1, y1)) = (self.points[i - 1], self.points[i]);
        match self.interpolation {
            Interpolation::Step => y0,
            Interpolation::Linear => y0 + (y1 - y0) * ((x - x0) / (x1 - x0)),
            Interpolation::Cubic => {
                let (h, t) = (x1 - x0, (x - x0) / (x1 - x0));
                let (t2, t3) = (t * t, t * t * t);
                y0 * (2.0 * t3 - 3.0 * t2 + 1.0)
                    + self.slopes[i - 1] * h * (t3 - 2.0 * t2 + t)
                    + y1 * (3.0 * t2 - 2.0 * t3)
                    + self.slopes[i] * h * (t3 - t2)
            }
        }
    }
}

/// Computes slopes with the method of Fritsch and Carlson (harmonic mean). The curve never overshoots its points.
fn monotone_slopes(p: &[(f64, f64)]) -> Box<[f64]> {
    let secant = |i: usize| (p[i + 1].1 - p[i].1) / (p[i + 1].0 - p[i].0);
    let last = p.len() - 1;
    (0..p.len())
        .map(|i| match i {
            _ if last == 0 => 0.0,
            0 => secant(0),
            i if i == last => secant(last - 1),
            i => {
                let (a, b) = (secant(i - 1), secant(i));
                if a * b <= 0.0 { 0.0 } else { 2.0 * a * b / (a + b) }
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(interpolation: Interpolation) -> CurveDef {
        CurveDef::new(&Curve { interpolation, ..Curve::new("C", [(1.0, 10.0), (5.0, 50.0), (6.0, 50.0)]) }).unwrap()
    }

    #[test]
    fn linear_between_and_constant_outside() {
        let c = curve(Interpolation::Linear);
        assert_eq!([0.0, 1.0, 3.0, 5.0, 9.0].map(|x| c.at(x)), [10.0, 10.0, 30.0, 50.0, 50.0]);
    }

    #[test]
    fn step_curves_keep_the_last_value_and_cubic_curves_stay_between_points() {
        assert_eq!(curve(Interpolation::Step).at(4.9), 10.0);
        let c = curve(Interpolation::Cubic);
        let mut before = c.at(1.0);
        for i in 0..=500 {
            let y = c.at(1.0 + i as f64 / 100.0);
            assert!((10.0..=50.0 + 1e-9).contains(&y) && y >= before - 1e-9, "{y}");
            before = y;
        }
    }

    #[test]
    fn bad_points_are_refused_with_a_reason() {
        assert!(CurveDef::new(&Curve::new("C", [])).unwrap_err().contains("one point"));
        assert!(CurveDef::new(&Curve::new("C", [(2.0, 1.0), (1.0, 1.0)])).unwrap_err().contains("previous point"));
        assert!(CurveDef::new(&Curve::new("C", [(f64::NAN, 1.0)])).unwrap_err().contains("finite"));
    }
}
