//! Bounds that types cannot express: a minimum, a range, a list that must not be empty, a field that another field
//! requires. The reader of documents and the JSON Schemas use one table of these bounds.

use crate::{Node, NodeValue, ReadError};
use ugas_doc::{Kind, MagnitudeType};

/// The bound of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// A minimum.
    Least(f64),
    /// An inclusive range.
    Within(f64, f64),
    /// The list must not be empty.
    NotEmpty,
}

/// The kind, the path to the value (`[]` is every entry of a list) and the bound.
pub(crate) const BOUNDS: [(Kind, &str, Bound); 29] = [
    (Kind::Effect, "Area.HalfAngleDeg", Bound::Within(0.0, 180.0)),
    (Kind::Effect, "Area.MaxTargets", Bound::Least(1.0)),
    (Kind::Effect, "GrantedAbilities.[].Level", Bound::Least(1.0)),
    (Kind::Controller, "GrantedAbilities.[].Level", Bound::Least(1.0)),
    (Kind::Controller, "ActiveEffects.[].Level", Bound::Least(1.0)),
    (Kind::Controller, "ActiveEffects.[].Stacks", Bound::Least(1.0)),
    (Kind::AbilitySet, "Abilities.[].Level", Bound::Least(1.0)),
    (Kind::AbilitySet, "Capabilities.[].TickInterval", Bound::Least(0.0)),
    (Kind::CapabilitySet, "Capabilities.[].TickInterval", Bound::Least(0.0)),
    (Kind::InputAction, "TapThreshold", Bound::Least(0.0)),
    (Kind::InputAction, "DoubleTapWindow", Bound::Least(0.0)),
    (Kind::InputActionSet, "Actions", Bound::NotEmpty),
    (Kind::InputActionSet, "InputBuffer.BufferWindow", Bound::Least(0.0)),
    (Kind::InputActionSet, "InputBuffer.MaxBufferSize", Bound::Within(1.0, 64.0)),
    (Kind::InputSettings, "InputBuffer.BufferWindow", Bound::Least(0.0)),
    (Kind::InputSettings, "InputBuffer.MaxBufferSize", Bound::Within(1.0, 64.0)),
    (Kind::MotionPattern, "MaxDuration", Bound::Least(0.0)),
    (Kind::MotionPattern, "PressWithin", Bound::Least(0.0)),
    (Kind::MotionPattern, "ChargeTime", Bound::Least(0.0)),
    (Kind::Ability, "QueueWindow", Bound::Least(0.0)),
    (Kind::InputMapping, "Bindings", Bound::NotEmpty),
    (Kind::InputMapping, "Bindings.[].HoldThreshold", Bound::Least(0.0)),
    (Kind::InputMapping, "Bindings.[].ChordWindow", Bound::Least(0.0)),
    (Kind::InputMapping, "Bindings.[].Inputs", Bound::NotEmpty),
    (Kind::InputModifier, "Params.InnerThreshold", Bound::Within(0.0, 1.0)),
    (Kind::InputModifier, "Params.OuterThreshold", Bound::Within(0.0, 1.0)),
    (Kind::InputModifier, "Params.PressThreshold", Bound::Within(0.0, 1.0)),
    (Kind::InputModifier, "Params.ReleaseThreshold", Bound::Within(0.0, 1.0)),
    (Kind::Controller, "AttributeSets", Bound::NotEmpty),
];

/// Returns errors for the values of a document that are out of bounds.
pub(crate) fn check(file: &str, kind: Kind, node: &Node) -> Vec<ReadError> {
    let mut errors = Vec::new();
    for (_, path, bound) in BOUNDS.iter().filter(|b| b.0 == kind) {
        walk(node, path, "", &mut |value, place| errors.extend(keep(file, value, place, *bound).err()));
    }
    if kind == Kind::Effect
        && let Some(area) = node.get("Area")
    {
        errors.extend(area_needs(file, area));
    }
    errors
}

/// Returns errors for the fields that an area lacks for its shape, and its radius for its type.
fn area_needs(file: &str, area: &Node) -> Vec<ReadError> {
    let text = |node: &Node, key: &str| node.get(key).and_then(Node::as_text).map(str::to_owned);
    let missing = |at: &Node, place: &str, field: &str, why: &str| {
        let help = Some(format!("add `{field}:`"));
        ReadError { help, ..at.error(file, format!("{place}: {why} needs {field}")) }
    };
    // A key without a value counts as missing.
    let has = |node: &Node, key: &str| node.get(key).is_some_and(|value| value.value != NodeValue::Null);
    let mut errors = Vec::new();
    if text(area, "Shape").as_deref() == Some("Cone") && !has(area, "HalfAngleDeg") {
        errors.push(missing(area.get("Shape").unwrap_or(area), "Area.Shape", "HalfAngleDeg", "Cone"));
    }
    if let Some(radius) = area.get("Radius") {
        let Some(kind) = text(radius, "Type").as_deref().and_then(MagnitudeType::from_name) else { return errors };
        if let Some(field) = kind.required().first()
            && !kind.required().iter().any(|f| has(radius, f))
        {
            errors.push(missing(radius.get("Type").unwrap_or(radius), "Area.Radius", field, kind.name()));
        }
    }
    errors
}

pub(crate) fn walk(node: &Node, path: &str, place: &str, visit: &mut impl FnMut(&Node, &str)) {
    if path.is_empty() {
        return visit(node, place);
    }
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    if step == "[]" {
        let entries = node.items().iter().enumerate();
        return entries.for_each(|(i, entry)| walk(entry, rest, &format!("{place}[{i}]"), visit));
    }
    let dot = if place.is_empty() { "" } else { "." };
    if let Some(value) = node.get(step) {
        walk(value, rest, &format!("{place}{dot}{step}"), visit);
    }
}

fn keep(file: &str, node: &Node, place: &str, bound: Bound) -> Result<(), ReadError> {
    let number = node.as_number();
    let (kept, wanted) = match bound {
        Bound::Least(low) => (number.is_none_or(|n| n >= low), format!("at least {low}")),
        Bound::Within(low, high) => {
            (number.is_none_or(|n| (low..=high).contains(&n)), format!("a number from {low} to {high}"))
        }
        Bound::NotEmpty => (!node.is_list() || !node.items().is_empty(), "at least one entry".to_owned()),
    };
    if kept {
        return Ok(());
    }
    let found = if bound == Bound::NotEmpty { "none".to_owned() } else { node.describe().to_string() };
    Err(node.error(file, format!("{place}: expected {wanted}, found {found}")))
}
