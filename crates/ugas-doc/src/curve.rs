//! Curves: functions of one number, defined by points. Magnitudes and expressions evaluate curves.

use crate::Document;
use serde::{Deserialize, Serialize};

/// A `curve` document: points in order of increasing X. For an X before the first point, the result is the Y of the
/// first point; for an X after the last point, the result is the Y of the last point.
///
/// ```
/// let c = ugas_doc::Curve::new("C_Damage", [(1.0, 10.0), (5.0, 50.0)]);
/// assert_eq!(c.points.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Curve {
    /// The name, unique in the project.
    pub name: String,
    /// The points, in order of increasing X.
    #[serde(default)]
    pub points: Vec<CurvePoint>,
    /// A CSV file that supplies the points instead of `Points`, with one `X,Y` per line. The file must be in the folder
    /// of the document or in a subfolder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csv: Option<String>,
    /// How values between two points are computed.
    #[serde(default)]
    pub interpolation: Interpolation,
}

impl Document for Curve {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> Option<String> {
        let points: Vec<String> = self.points.iter().map(|p| format!("({}, {})", p.x, p.y)).collect();
        Some(format!("points {}", points.join(", ")))
    }
}

impl Curve {
    /// Creates a linear curve through these points.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        Curve {
            name: name.into(),
            points: points.into_iter().map(|(x, y)| CurvePoint { x, y }).collect(),
            csv: None,
            interpolation: Interpolation::Linear,
        }
    }
}

/// One point of a curve.
///
/// ```
/// let p = ugas_doc::CurvePoint { x: 1.0, y: 10.0 };
/// assert!(p.y > p.x);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct CurvePoint {
    /// The input.
    pub x: f64,
    /// The output.
    pub y: f64,
}

/// How a curve computes values between its points.
///
/// ```
/// assert_eq!(ugas_doc::Interpolation::default(), ugas_doc::Interpolation::Linear);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Interpolation {
    /// A straight line between neighbouring points.
    #[default]
    Linear,
    /// The Y of the last point whose X is less than or equal to the input.
    Step,
    /// A monotone cubic interpolation through the points.
    Cubic,
}
