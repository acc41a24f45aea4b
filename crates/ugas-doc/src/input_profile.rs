//! The changes that one player made to the controls: other device inputs and other values of modifiers. A profile
//! contains changes and not whole mappings, so that new default bindings reach players with old profiles.

use crate::{DeviceInput, Document, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A direction of a composite binding.
///
/// ```
/// use ugas_doc::{CompositeInputs, CompositeSlot, Device, DeviceInput};
/// let w = DeviceInput { device: Device::Keyboard, input: "Key.W".into(), custom_device_name: None };
/// let inputs = CompositeInputs { up: Some(w.clone()), ..CompositeInputs::default() };
/// assert_eq!((inputs.get(CompositeSlot::Up), inputs.get(CompositeSlot::Down)), (Some(&w), None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CompositeSlot {
    /// +X.
    Right,
    /// −X.
    Left,
    /// +Y.
    Up,
    /// −Y.
    Down,
    /// +Z.
    Forward,
    /// −Z.
    Backward,
}

impl CompositeSlot {
    /// All slots. The slots of one axis are neighbours, the positive direction first.
    pub const ALL: [CompositeSlot; 6] = [
        CompositeSlot::Right,
        CompositeSlot::Left,
        CompositeSlot::Up,
        CompositeSlot::Down,
        CompositeSlot::Forward,
        CompositeSlot::Backward,
    ];
}

impl crate::CompositeInputs {
    /// Returns the input of a slot.
    pub fn get(&self, slot: CompositeSlot) -> Option<&DeviceInput> {
        match slot {
            CompositeSlot::Right => self.right.as_ref(),
            CompositeSlot::Left => self.left.as_ref(),
            CompositeSlot::Up => self.up.as_ref(),
            CompositeSlot::Down => self.down.as_ref(),
            CompositeSlot::Forward => self.forward.as_ref(),
            CompositeSlot::Backward => self.backward.as_ref(),
        }
    }
}

/// One change of a binding: the player triggers the action with other device inputs.
///
/// ```
/// let change = ugas_doc::BindingChange { action_set: "OnFoot".into(), action: "Jump".into(), ..Default::default() };
/// assert!(change.slot.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct BindingChange {
    /// The name of the action set.
    pub action_set: String,
    /// The name of the action.
    pub action: String,
    /// The direction, if the binding is composite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<CompositeSlot>,
    /// The inputs of the binding in the mapping, which identify the binding.
    pub from: Vec<DeviceInput>,
    /// The inputs that the player chose.
    pub to: Vec<DeviceInput>,
}

/// An `input_profile` document: the changes that one player made to the controls. Rules do not depend on profiles, so
/// players with different profiles can play together.
///
/// ```
/// let profile = ugas_doc::InputProfile::default();
/// assert_eq!((profile.version, profile.changes.len()), (1, 0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "the player's machine, which translates device inputs into actions")))]
pub struct InputProfile {
    /// The version of the format, which is 1.
    pub version: u32,
    /// The changed bindings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<BindingChange>,
    /// The changed parameters by input modifier.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modifiers: BTreeMap<String, BTreeMap<String, Value>>,
}

impl InputProfile {
    /// The version of the format that this crate writes.
    pub const VERSION: u32 = 1;
}

impl Default for InputProfile {
    fn default() -> InputProfile {
        InputProfile { version: InputProfile::VERSION, changes: Vec::new(), modifiers: BTreeMap::new() }
    }
}

impl Document for InputProfile {
    fn name(&self) -> &str {
        ""
    }
}
