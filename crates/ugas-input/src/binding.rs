//! Compiled bindings: the device inputs of a binding with their meaning for the action, and which bindings hide which.

use crate::catalogue::{Atom, InputCode, Shape, View};
use crate::modifier::Step;
use ugas_core::SimTime;
use ugas_doc::{CompositeSlot, InputValue, Opposing};

/// The most device inputs of one binding.
pub(crate) const MOST_PARTS: usize = 8;

/// What a device input contributes to its binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It must be pressed.
    Gate,
    /// It supplies the components from this one on.
    Axis(u8),
    /// It is a direction of a composite binding.
    Slot(CompositeSlot),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) code: InputCode,
    pub(crate) view: View,
    pub(crate) role: Role,
}

/// The priority of the set, then the priority of the binding.
pub(crate) type Rank = (i32, i32);

#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub(crate) action: u16,
    pub(crate) set: u16,
    pub(crate) rank: Rank,
    pub(crate) parts: Vec<Part>,
    /// The atoms of all parts, sorted.
    pub(crate) atoms: Vec<Atom>,
    pub(crate) steps: Vec<Step>,
    /// Indices into the tags of the controls.
    pub(crate) tags: Vec<u16>,
    pub(crate) hold: SimTime,
    pub(crate) window: SimTime,
    pub(crate) opposing: Opposing,
    /// Whether an input of the binding is relative.
    pub(crate) is_relative: bool,
    /// The bindings whose inputs this one hides, in ascending order.
    pub(crate) hides: Vec<u16>,
    /// The chords with a window that hide this binding.
    pub(crate) waits_for: Vec<u16>,
    /// The place in the order in which bindings are satisfied by one event.
    pub(crate) order: u16,
}

impl Binding {
    /// Returns the bits of all parts that must be pressed.
    pub(crate) fn all_gates(&self) -> u8 {
        let gate = |(i, part): (usize, &Part)| if part.role == Role::Gate { 1 << i } else { 0 };
        self.parts.iter().enumerate().map(gate).fold(0, |all, bit: u8| all | bit)
    }

    pub(crate) fn does_hide(&self, other: u16) -> bool {
        self.hides.binary_search(&other).is_ok()
    }

    fn is_chord(&self) -> bool {
        self.parts.len() > 1 && self.parts.iter().all(|part| part.role == Role::Gate)
    }
}

/// Returns the number of components of an action's value.
pub(crate) fn components(value: InputValue) -> usize {
    match value {
        InputValue::Digital | InputValue::Axis1D => 1,
        InputValue::Axis2D => 2,
        InputValue::Axis3D => 3,
    }
}

/// Returns the parts of a binding with `Inputs`, or why the inputs do not fit the action.
pub(crate) fn plain_parts(value: InputValue, codes: &[InputCode]) -> Result<Vec<Part>, String> {
    if codes.is_empty() {
        return Err("expected at least one device input, found none".to_owned());
    }
    if codes.len() > MOST_PARTS {
        return Err(format!("expected at most {MOST_PARTS} device inputs, found {}", codes.len()));
    }
    for (i, code) in codes.iter().enumerate() {
        if codes[..i].contains(code) {
            return Err(format!("{} occurs twice", code.name().unwrap_or("a custom input")));
        }
    }
    let mut next = 0;
    let most = components(value);
    let part = |code: &InputCode| {
        let (shape, view) = (code.shape(), code.view());
        let role = match (value, shape) {
            (InputValue::Digital, _) | (_, Shape::Button) => Role::Gate,
            (
                InputValue::Axis1D | InputValue::Axis2D | InputValue::Axis3D,
                Shape::HalfAxis | Shape::Axis1D | Shape::Axis2D | Shape::Axis3D | Shape::Custom,
            ) => {
                let wide = if shape == Shape::Custom { most - next.min(most) } else { shape.components() };
                let first = next;
                next += wide.max(1);
                if next > most {
                    let name = code.name().unwrap_or("the custom input");
                    return Err(format!("{name} has {wide} components more than the {most} of a {value:?} action"));
                }
                Role::Axis(first as u8)
            }
        };
        Ok(Part { code: *code, view, role })
    };
    codes.iter().map(part).collect()
}

/// Returns the parts of a composite binding, or why the inputs do not fit the action.
pub(crate) fn composite_parts(value: InputValue, slots: &[(CompositeSlot, InputCode)]) -> Result<Vec<Part>, String> {
    if value == InputValue::Digital {
        return Err("CompositeInputs form a value of axes, but the action is Digital".to_owned());
    }
    if slots.is_empty() {
        return Err("CompositeInputs: expected at least one direction, found none".to_owned());
    }
    let axis = |slot: CompositeSlot| slot as usize / 2;
    let one_axis = slots.iter().all(|(slot, _)| axis(*slot) == axis(slots[0].0));
    let mut parts = Vec::with_capacity(slots.len());
    for (slot, code) in slots {
        let name = code.name().unwrap_or("the custom input");
        match code.shape() {
            Shape::Button | Shape::HalfAxis | Shape::Custom => {}
            Shape::Axis1D | Shape::Axis2D | Shape::Axis3D => {
                return Err(format!("{slot:?} needs a button or one direction of an axis, but {name} is neither"));
            }
        }
        let is_single = value == InputValue::Axis1D && one_axis;
        if axis(*slot) >= components(value) && !is_single {
            return Err(format!("a {value:?} action has no direction {slot:?}"));
        }
        parts.push(Part { code: *code, view: code.view(), role: Role::Slot(*slot) });
    }
    Ok(parts)
}

/// Fills in the relations between bindings. `consumes` says whether an action consumes its inputs.
pub(crate) fn relate(bindings: &mut [Binding], consumes: impl Fn(u16) -> bool) {
    let overlaps = |a: &Binding, b: &Binding| b.atoms.iter().any(|atom| a.atoms.binary_search(atom).is_ok());
    let contains = |a: &Binding, b: &Binding| b.atoms.iter().all(|atom| a.atoms.binary_search(atom).is_ok());
    let mut order: Vec<usize> = (0..bindings.len()).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse((bindings[at].rank, bindings[at].parts.len())), at));
    for (place, at) in order.into_iter().enumerate() {
        bindings[at].order = place as u16;
    }
    for a in 0..bindings.len() {
        let first = &bindings[a];
        if !consumes(first.action) {
            continue;
        }
        let hidden = |second: &Binding| {
            let is_contained = || first.is_chord() && first.atoms.len() > second.atoms.len() && contains(first, second);
            first.action != second.action
                && (first.rank > second.rank || first.rank == second.rank && is_contained())
                && overlaps(first, second)
        };
        let hides: Vec<u16> = bindings.iter().enumerate().filter(|(_, b)| hidden(b)).map(|(at, _)| at as u16).collect();
        if bindings[a].is_chord() && bindings[a].window > SimTime::ZERO {
            hides.iter().for_each(|&at| bindings[usize::from(at)].waits_for.push(a as u16));
        }
        bindings[a].hides = hides;
    }
}
