//! Remapping: a player triggers an action with other device inputs. Only changes are stored, keyed by the default
//! inputs, so that a reset removes changes and new default bindings reach every player.

use crate::catalogue::InputCode;
use crate::controls::{Controls, Unit};
use ugas_doc::{CompositeSlot, DeviceInput, Platform};

/// A binding, or one direction of a composite binding, for a settings screen.
#[derive(Clone, Debug, PartialEq)]
pub struct BindingInfo {
    /// The action set.
    pub set: String,
    /// The action.
    pub action: String,
    /// The direction, if the binding is composite.
    pub slot: Option<CompositeSlot>,
    /// The platform of the mapping.
    pub platform: Option<Platform>,
    /// The inputs in the mapping.
    pub default: Vec<DeviceInput>,
    /// The inputs with the player's changes.
    pub inputs: Vec<DeviceInput>,
    /// Whether the player may change the inputs.
    pub is_rebindable: bool,
}

/// What a remap does if another action of the set has the new inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// Changes nothing and reports the action.
    Warn,
    /// Gives the old inputs to the other action.
    Swap,
}

/// The result of a remap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remap {
    /// The binding has the new inputs.
    Done,
    /// Another action of the set has the inputs, and it keeps them. Nothing changed.
    Conflict {
        /// The other action.
        action: String,
    },
    /// The mapping does not allow to change the binding. Nothing changed.
    Fixed,
    /// The set has no such binding. Nothing changed.
    NotBound,
    /// The new inputs do not exist or do not fit the action. Nothing changed.
    WrongKind {
        /// The reason.
        reason: String,
    },
}

impl Controls {
    /// Returns all bindings of the loaded platforms with the player's changes.
    pub fn bindings(&self) -> Vec<BindingInfo> {
        self.units.iter().map(|unit| self.info(unit)).collect()
    }

    /// Returns the bindings of an action.
    pub fn bindings_for(&self, action: &str) -> Vec<BindingInfo> {
        self.units.iter().map(|unit| self.info(unit)).filter(|info| info.action == action).collect()
    }

    /// Returns the bindings that a settings screen shows: those that the player may change.
    pub fn rebindable(&self) -> Vec<BindingInfo> {
        self.units.iter().map(|unit| self.info(unit)).filter(|info| info.is_rebindable).collect()
    }

    fn info(&self, unit: &Unit) -> BindingInfo {
        let place = self.unit_place(unit);
        BindingInfo {
            set: place.set.to_owned(),
            action: place.action.to_owned(),
            slot: unit.slot,
            platform: place.platform,
            default: self.device_inputs(&unit.default),
            inputs: self.device_inputs(&unit.current),
            is_rebindable: place.is_rebindable,
        }
    }

    pub(crate) fn device_inputs(&self, codes: &[InputCode]) -> Vec<DeviceInput> {
        codes.iter().filter_map(|code| self.device_input(*code)).collect()
    }

    /// Gives a binding other inputs. `from` are its current inputs and `slot` its direction, if it is composite.
    ///
    /// ```
    /// use ugas_doc::{Device, DeviceInput, Doc, InputAction, InputActionSet, InputBinding, InputMapping, InputValue};
    /// # let key = |name: &str| DeviceInput { device: Device::Keyboard, input: name.into(), custom_device_name: None };
    /// let jump = InputBinding { inputs: vec![key("Key.Space")], ..InputBinding::new("Jump") };
    /// let docs = [
    ///     Doc::from(InputAction::new("Jump", InputValue::Digital)),
    ///     Doc::from(InputActionSet::new("OnFoot", ["Jump"])),
    ///     Doc::from(InputMapping { action_set: "OnFoot".into(), platform: None, bindings: vec![jump], metadata: None }),
    /// ];
    /// use ugas_input::{Controls, OnConflict, Remap};
    /// let mut controls = Controls::new(&docs, &[])?;
    /// let (from, to) = ([key("Key.Space")], [key("Key.J")]);
    /// assert_eq!(controls.remap("OnFoot", "Jump", None, &from, &to, OnConflict::Warn), Remap::Done);
    /// assert_eq!(controls.bindings_for("Jump")[0].inputs, to);
    /// controls.reset("OnFoot");
    /// assert_eq!(controls.bindings_for("Jump")[0].inputs, from);
    /// # Ok::<(), ugas_input::ControlsError>(())
    /// ```
    pub fn remap(
        &mut self,
        set: &str,
        action: &str,
        slot: Option<CompositeSlot>,
        from: &[DeviceInput],
        to: &[DeviceInput],
        on_conflict: OnConflict,
    ) -> Remap {
        let from: Option<Vec<InputCode>> = from.iter().map(|input| InputCode::of(input).ok()).collect();
        let from = from.unwrap_or_default();
        let matches = |unit: &&Unit| unit.slot == slot && is_same(&unit.current, &from);
        let own = self.find_units(set, action, matches);
        let Some(&first) = own.first() else { return Remap::NotBound };
        if own.iter().any(|at| !self.unit_place(&self.units[*at]).is_rebindable) {
            return Remap::Fixed;
        }
        let to: Result<Vec<InputCode>, String> = to.iter().map(|input| self.intern(input)).collect();
        let to = match to {
            Ok(to) => to,
            Err(reason) => return Remap::WrongKind { reason },
        };
        for at in &own {
            if let Err(reason) = self.check_unit(*at, &to) {
                return Remap::WrongKind { reason };
            }
        }
        let others = self.conflicts(&own, &to);
        for &other in &others {
            let place = self.unit_place(&self.units[other]);
            let fits = self.check_unit(other, &from).is_ok();
            if on_conflict == OnConflict::Warn || !place.is_rebindable || !fits {
                return Remap::Conflict { action: place.action.to_owned() };
            }
        }
        let from = self.units[first].current.clone();
        others.iter().for_each(|at| self.units[*at].current.clone_from(&from));
        own.iter().for_each(|at| self.units[*at].current.clone_from(&to));
        self.compile();
        Remap::Done
    }

    /// Removes the player's changes of an action set.
    pub fn reset(&mut self, set: &str) {
        for at in 0..self.units.len() {
            if self.unit_place(&self.units[at]).set == set {
                let unit = &mut self.units[at];
                unit.current.clone_from(&unit.default);
            }
        }
        self.kept.changes.retain(|change| change.action_set != set);
        self.compile();
    }

    pub(crate) fn find_units(&self, set: &str, action: &str, is_it: impl Fn(&&Unit) -> bool) -> Vec<usize> {
        let belongs = |unit: &Unit| {
            let place = self.unit_place(unit);
            place.set == set && place.action == action
        };
        let units = self.units.iter().enumerate().filter(|(_, unit)| is_it(unit) && belongs(unit));
        units.map(|(at, _)| at).collect()
    }

    /// Returns the units that have the inputs already: in the same set, on an overlapping platform, with the same rank,
    /// of another action or another direction. Bindings that overlap by default may do so again.
    fn conflicts(&self, own: &[usize], to: &[InputCode]) -> Vec<usize> {
        let has_conflict = |at: usize, other: usize| {
            let (unit, with) = (&self.units[at], &self.units[other]);
            let (place, there) = (self.unit_place(unit), self.unit_place(with));
            let overlaps = place.platform.is_none() || there.platform.is_none() || place.platform == there.platform;
            let is_default = is_same(to, &unit.default) && is_same(&with.current, &with.default);
            let is_other = place.action != there.action || unit.authored == with.authored;
            place.set == there.set && overlaps && place.rank == there.rank && is_other && !is_default
        };
        let others = (0..self.units.len()).filter(|other| !own.contains(other));
        let taken = others.filter(|other| is_same(&self.units[*other].current, to));
        taken.filter(|other| own.iter().any(|at| has_conflict(*at, *other))).collect()
    }
}

/// Returns whether two chords consist of the same inputs.
pub(crate) fn is_same(a: &[InputCode], b: &[InputCode]) -> bool {
    a.len() == b.len() && !a.is_empty() && a.iter().all(|code| b.contains(code))
}
