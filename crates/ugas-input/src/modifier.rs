//! Input modifiers: the steps from the value of a device to the value of an action. A step is a pure function; only
//! `TriggerThreshold` also depends on whether its binding was pressed before, which the seat stores.
//!
//! The value of an input at rest is 0 and stays 0: the steps do not run for it, so that a lower limit does not press a
//! button that nobody touches. A result that is not finite becomes 0.

use crate::spelling;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use ugas_doc::{InputModifier, ModifierType, Value};

/// A modifier that a game implements in code. Documents refer to it by `CalculatorClass`.
///
/// ```
/// use std::collections::BTreeMap;
/// use ugas_input::CustomModifier;
/// struct Doubled;
/// impl CustomModifier for Doubled {
///     fn apply(&self, value: [f64; 3], _: &BTreeMap<String, ugas_doc::Value>) -> [f64; 3] {
///         value.map(|number| 2.0 * number)
///     }
/// }
/// assert_eq!(Doubled.apply([0.5, 0.0, 0.0], &BTreeMap::new())[0], 1.0);
/// ```
pub trait CustomModifier: Send + Sync {
    /// Returns the value after the modifier. `params` are the parameters of the document with the player's changes.
    /// The result must depend only on the arguments.
    fn apply(&self, value: [f64; 3], params: &BTreeMap<String, Value>) -> [f64; 3];
}

/// The custom modifiers of a game, by the name that documents use in `CalculatorClass`.
pub(crate) type CustomModifiers = BTreeMap<String, Arc<dyn CustomModifier>>;

/// The values that a parameter can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Domain {
    /// A number. The range is enforced for documents only if it is `hard`; settings always stay within it.
    Number {
        least: f64,
        most: f64,
        default: f64,
        hard: bool,
    },
    Flag,
    /// One of these texts; the first is the default.
    Choice(&'static [&'static str]),
    /// A permutation of the axes.
    Order,
    /// Points of a curve.
    Points,
    /// The name of host code.
    Code,
}

/// A parameter of a modifier type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) domain: Domain,
}

const fn number(name: &'static str, label: &'static str, least: f64, most: f64, default: f64) -> Param {
    Param { name, label, unit: "×", domain: Domain::Number { least, most, default, hard: false } }
}

const fn threshold(name: &'static str, label: &'static str, default: f64) -> Param {
    Param { name, label, unit: "", domain: Domain::Number { least: 0.0, most: 1.0, default, hard: true } }
}

const fn other(name: &'static str, label: &'static str, domain: Domain) -> Param {
    Param { name, label, unit: "", domain }
}

/// Returns the parameters of a modifier type.
pub(crate) fn params(kind: ModifierType) -> &'static [Param] {
    match kind {
        ModifierType::DeadZone => {
            const {
                &[
                    threshold("InnerThreshold", "Inner threshold", 0.0),
                    threshold("OuterThreshold", "Outer threshold", 1.0),
                    other("DeadZoneShape", "Shape", Domain::Choice(&["Axial", "Radial"])),
                ]
            }
        }
        ModifierType::Sensitivity => {
            const {
                &[
                    number("Multiplier", "Sensitivity", 0.05, 10.0, 1.0),
                    number("MultiplierX", "Horizontal sensitivity", 0.05, 10.0, 1.0),
                    number("MultiplierY", "Vertical sensitivity", 0.05, 10.0, 1.0),
                ]
            }
        }
        ModifierType::ResponseCurve => {
            const {
                &[
                    other("CurveType", "Curve", Domain::Choice(&["Linear", "Exponential", "SCurve", "Custom"])),
                    Param { unit: "", ..number("Exponent", "Exponent", 0.1, 10.0, 1.0) },
                    other("CurvePoints", "Points", Domain::Points),
                ]
            }
        }
        ModifierType::AxisInvert => {
            const {
                &[
                    other("InvertX", "Invert horizontal axis", Domain::Flag),
                    other("InvertY", "Invert vertical axis", Domain::Flag),
                ]
            }
        }
        ModifierType::AxisScale => {
            const {
                &[
                    number("ScaleX", "Horizontal scale", -10.0, 10.0, 1.0),
                    number("ScaleY", "Vertical scale", -10.0, 10.0, 1.0),
                    number("ScaleZ", "Depth scale", -10.0, 10.0, 1.0),
                ]
            }
        }
        ModifierType::AxisSwizzle => const { &[other("SwizzleOrder", "Order of axes", Domain::Order)] },
        ModifierType::RadialScaling => {
            const { &[Param { unit: "", ..number("MaxRadius", "Largest radius", 0.05, 10.0, 1.0) }] }
        }
        ModifierType::Normalize => &[],
        ModifierType::TriggerThreshold => {
            const {
                &[
                    threshold("PressThreshold", "Press threshold", 0.5),
                    threshold("ReleaseThreshold", "Release threshold", 0.5),
                ]
            }
        }
        ModifierType::Clamp => {
            const {
                &[
                    Param { unit: "", ..number("Min", "Minimum", -10.0, 10.0, -1.0) },
                    Param { unit: "", ..number("Max", "Maximum", -10.0, 10.0, 1.0) },
                ]
            }
        }
        ModifierType::Custom => const { &[other("CalculatorClass", "Code", Domain::Code)] },
    }
}

/// A compiled modifier.
#[derive(Clone)]
pub(crate) enum Step {
    DeadZone { radial: bool, inner: f64, outer: f64 },
    Scale([f64; 3]),
    Exponential(f64),
    SCurve,
    Curve(Vec<(f64, f64)>),
    Swizzle([usize; 3]),
    Radial(f64),
    Normalize,
    Threshold { press: f64, release: f64 },
    Clamp(f64, f64),
    Custom(Arc<dyn CustomModifier>, Arc<BTreeMap<String, Value>>),
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Step")
    }
}

pub(crate) fn length(value: [f64; 3]) -> f64 {
    (value[0] * value[0] + value[1] * value[1] + value[2] * value[2]).sqrt()
}

fn scaled(value: [f64; 3], factor: f64) -> [f64; 3] {
    value.map(|number| number * factor)
}

fn dead_zone(size: f64, inner: f64, outer: f64) -> f64 {
    ((size - inner) / (outer - inner)).clamp(0.0, 1.0)
}

/// Interpolates between points; before the first and after the last point the curve is constant.
fn curve(points: &[(f64, f64)], x: f64) -> f64 {
    let after = points.partition_point(|point| point.0 <= x);
    match (after.checked_sub(1).map(|at| points[at]), points.get(after)) {
        (Some(from), Some(to)) => from.1 + (to.1 - from.1) * (x - from.0) / (to.0 - from.0),
        (Some(only), None) => only.1,
        (None, Some(only)) => only.1,
        (None, None) => x,
    }
}

impl Step {
    /// Applies the step. `was_pressed` says whether the binding was pressed before.
    fn apply(&self, value: [f64; 3], was_pressed: bool) -> [f64; 3] {
        let odd = |f: &dyn Fn(f64) -> f64| value.map(|x| if x == 0.0 { 0.0 } else { f(x.abs()).copysign(x) });
        match self {
            Step::DeadZone { radial: false, inner, outer } => odd(&|x| dead_zone(x, *inner, *outer)),
            Step::DeadZone { radial: true, inner, outer } => {
                let size = length(value);
                if size == 0.0 { value } else { scaled(value, dead_zone(size, *inner, *outer) / size) }
            }
            Step::Scale(factors) => std::array::from_fn(|i| value[i] * factors[i]),
            Step::Exponential(exponent) => odd(&|x| libm::pow(x, *exponent)),
            Step::SCurve => odd(&|x| {
                let x = x.min(1.0);
                x * x * (3.0 - 2.0 * x)
            }),
            // The sign of the input is kept, and a curve may also change the sign.
            Step::Curve(points) => value.map(|x| if x < 0.0 { -curve(points, -x) } else { curve(points, x) }),
            Step::Swizzle(order) => order.map(|from| value[from]),
            Step::Radial(most) => {
                let size = length(value);
                if size > *most { scaled(value, most / size) } else { value }
            }
            Step::Normalize => {
                let size = length(value);
                if size == 0.0 { value } else { value.map(|number| number / size) }
            }
            Step::Threshold { press, release } => {
                let limit = if was_pressed { *release } else { *press };
                [if length(value) > limit { 1.0 } else { 0.0 }, 0.0, 0.0]
            }
            Step::Clamp(least, most) => value.map(|number| number.clamp(*least, *most)),
            Step::Custom(code, params) => code.apply(value, params),
        }
    }
}

/// Runs the steps in order. Components that the value does not have are 0 before and after each step.
pub(crate) fn run(steps: &[Step], mut value: [f64; 3], components: usize, was_pressed: bool) -> [f64; 3] {
    if value == [0.0; 3] {
        return value;
    }
    for step in steps {
        value = step.apply(value, was_pressed);
        let kept = if matches!(step, Step::Swizzle(_)) { 3 } else { components.max(1) };
        for (i, number) in value.iter_mut().enumerate() {
            if i >= kept || !number.is_finite() {
                *number = 0.0;
            }
        }
    }
    value
}

/// Compiles a modifier with the player's changes of its parameters, or returns everything that is wrong with it.
pub(crate) fn compile(
    doc: &InputModifier,
    changes: Option<&BTreeMap<String, Value>>,
    custom: &CustomModifiers,
) -> Result<Step, Vec<String>> {
    let mut values = doc.params.clone();
    values.extend(changes.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
    let known = params(doc.kind);
    let mut errors = Vec::new();
    for (name, value) in &values {
        match known.iter().find(|param| param.name == name) {
            Some(param) => errors.extend(check(param, value, param_is_hard(param)).err()),
            None if doc.kind == ModifierType::Custom => {}
            None => {
                let near = spelling::nearest(name, known.iter().map(|param| param.name));
                let near = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
                errors.push(format!("{:?} has no parameter '{}'{near}", doc.kind, spelling::shown(name)));
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    build(doc, values, custom).map_err(|error| vec![error])
}

fn param_is_hard(param: &Param) -> bool {
    matches!(param.domain, Domain::Number { hard: true, .. })
}

/// Checks the value of a parameter; numbers must be in the range if `ranged`.
pub(crate) fn check(param: &Param, value: &Value, ranged: bool) -> Result<(), String> {
    let name = param.name;
    match param.domain {
        Domain::Number { least, most, .. } => match value.as_number() {
            Some(number) if number.is_finite() && (!ranged || (least..=most).contains(&number)) => Ok(()),
            _ if ranged => Err(format!("{name}: expected a number from {least} to {most}")),
            _ => Err(format!("{name}: expected a finite number")),
        },
        Domain::Flag if matches!(value, Value::Bool(_)) => Ok(()),
        Domain::Flag => Err(format!("{name}: expected true or false")),
        Domain::Choice(choices) if value.as_text().is_some_and(|text| choices.contains(&text)) => Ok(()),
        Domain::Choice(choices) => Err(format!("{name}: expected one of {}", choices.join(", "))),
        Domain::Order if value.as_text().and_then(order).is_some() => Ok(()),
        Domain::Order => Err(format!("{name}: expected the letters X, Y and Z in another order, such as YXZ")),
        Domain::Points if points(value).is_some() => Ok(()),
        Domain::Points => Err(format!(
            "{name}: expected a list of at least one {{In, Out}} with finite numbers, In at least 0 and ascending"
        )),
        Domain::Code if value.as_text().is_some() => Ok(()),
        Domain::Code => Err(format!("{name}: expected the name of a registered modifier")),
    }
}

fn order(text: &str) -> Option<[usize; 3]> {
    let mut order = [0, 1, 2];
    let mut seen = [false; 3];
    let letters = text.len();
    if !(2..=3).contains(&letters) {
        return None;
    }
    for (i, letter) in text.chars().enumerate() {
        let axis = "XYZ".find(letter)?;
        if std::mem::replace(&mut seen[axis], true) || axis >= letters {
            return None;
        }
        *order.get_mut(i)? = axis;
    }
    Some(order)
}

fn points(value: &Value) -> Option<Vec<(f64, f64)>> {
    let Value::List(list) = value else { return None };
    let point = |value: &Value| {
        let Value::Map(map) = value else { return None };
        let number = |key: &str| map.get(key).and_then(Value::as_number).filter(|number| number.is_finite());
        (map.len() == 2).then_some(())?;
        Some((number("In")?, number("Out")?))
    };
    let points: Vec<_> = list.iter().map(point).collect::<Option<_>>()?;
    let ascending = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
    (points.first()?.0 >= 0.0 && ascending).then_some(points)
}

fn build(doc: &InputModifier, values: BTreeMap<String, Value>, custom: &CustomModifiers) -> Result<Step, String> {
    let number = |name: &str, default: f64| values.get(name).and_then(Value::as_number).unwrap_or(default);
    let text = |name: &str, default: &'static str| values.get(name).and_then(Value::as_text).unwrap_or(default);
    let sign = |name: &str| if values.get(name) == Some(&Value::Bool(true)) { -1.0 } else { 1.0 };
    Ok(match doc.kind {
        ModifierType::DeadZone => {
            let (inner, outer) = (number("InnerThreshold", 0.0), number("OuterThreshold", 1.0));
            if inner >= outer {
                return Err(format!("InnerThreshold {inner} must be less than OuterThreshold {outer}"));
            }
            Step::DeadZone { radial: text("DeadZoneShape", "Axial") == "Radial", inner, outer }
        }
        ModifierType::Sensitivity => {
            let all = number("Multiplier", 1.0);
            Step::Scale([all * number("MultiplierX", 1.0), all * number("MultiplierY", 1.0), all])
        }
        ModifierType::ResponseCurve => match text("CurveType", "Linear") {
            "Exponential" => match number("Exponent", 1.0) {
                exponent if exponent > 0.0 => Step::Exponential(exponent),
                exponent => return Err(format!("Exponent must be greater than 0, found {exponent}")),
            },
            "SCurve" => Step::SCurve,
            "Custom" => match values.get("CurvePoints").and_then(points) {
                Some(points) => Step::Curve(points),
                None => return Err("CurveType Custom needs CurvePoints".to_owned()),
            },
            _ => Step::Scale([1.0; 3]),
        },
        ModifierType::AxisInvert => Step::Scale([sign("InvertX"), sign("InvertY"), 1.0]),
        ModifierType::AxisScale => Step::Scale([number("ScaleX", 1.0), number("ScaleY", 1.0), number("ScaleZ", 1.0)]),
        ModifierType::AxisSwizzle => match order(text("SwizzleOrder", "XYZ")) {
            Some(order) => Step::Swizzle(order),
            None => return Err("SwizzleOrder is no order of the axes".to_owned()),
        },
        ModifierType::RadialScaling => match number("MaxRadius", 1.0) {
            most if most > 0.0 => Step::Radial(most),
            most => return Err(format!("MaxRadius must be greater than 0, found {most}")),
        },
        ModifierType::Normalize => Step::Normalize,
        ModifierType::TriggerThreshold => {
            let press = number("PressThreshold", 0.5);
            let release = number("ReleaseThreshold", press);
            if release > press {
                return Err(format!("ReleaseThreshold {release} must not be greater than PressThreshold {press}"));
            }
            Step::Threshold { press, release }
        }
        ModifierType::Clamp => {
            let (least, most) = (number("Min", -1.0), number("Max", 1.0));
            if least > most {
                return Err(format!("Min {least} must not be greater than Max {most}"));
            }
            Step::Clamp(least, most)
        }
        ModifierType::Custom => {
            let name = text("CalculatorClass", "");
            let Some(code) = custom.get(name) else {
                let near = spelling::nearest(name, custom.keys().map(String::as_str));
                let near = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
                return Err(format!("CalculatorClass: no modifier is registered as '{}'{near}", spelling::shown(name)));
            };
            Step::Custom(code.clone(), Arc::new(values))
        }
    })
}

#[cfg(test)]
mod tests;
