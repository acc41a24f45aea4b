//! Input: what players press, as documents. Actions name intents, sets say when they are live, mappings bind devices to
//! them, modifiers shape raw values. Only the types are here; reading devices is a matter of the input crate.

use crate::{Metadata, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an action produces.
///
/// ```
/// assert_ne!(ugas_doc::InputValue::Digital, ugas_doc::InputValue::Axis1D);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum InputValue {
    /// Pressed or not.
    #[default]
    Digital,
    /// One number.
    Axis1D,
    /// Two numbers.
    Axis2D,
    /// Three numbers.
    Axis3D,
}

/// When an action fires.
///
/// ```
/// assert_eq!(ugas_doc::TriggerBehavior::default(), ugas_doc::TriggerBehavior::OnPressed);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TriggerBehavior {
    /// Once, when pressed.
    #[default]
    OnPressed,
    /// Once, when released.
    OnReleased,
    /// Every frame while held.
    WhileHeld,
    /// When pressed and released within the tap threshold.
    OnTap,
    /// When tapped twice within the window.
    OnDoubleTap,
}

/// Tags of an action.
///
/// ```
/// assert!(ugas_doc::ActionTags::default().action_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct ActionTags {
    /// What the action is, for queries such as "all combat inputs".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub action_tags: Vec<String>,
}

/// An `input_action` document: an intent, referred to by the `InputID` of granted abilities.
///
/// ```
/// let fire = ugas_doc::InputAction::new("Fire", ugas_doc::InputValue::Digital);
/// assert_eq!((fire.tap_threshold, fire.double_tap_window, fire.consume_input), (0.2, 0.3, true));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct InputAction {
    /// Unique name.
    pub name: String,
    /// What it produces.
    pub value_type: InputValue,
    /// When it fires.
    #[serde(default)]
    pub trigger_behavior: TriggerBehavior,
    /// Longest press that counts as a tap, in seconds.
    #[serde(default = "tap_threshold")]
    pub tap_threshold: f64,
    /// Longest gap between two taps, in seconds.
    #[serde(default = "double_tap_window")]
    pub double_tap_window: f64,
    /// Whether actions below it see the input no more.
    #[serde(default = "yes")]
    pub consume_input: bool,
    /// What it is.
    #[serde(default)]
    pub tags: ActionTags,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl InputAction {
    /// An action with the specification's defaults.
    pub fn new(name: impl Into<String>, value_type: InputValue) -> InputAction {
        InputAction {
            name: name.into(),
            value_type,
            trigger_behavior: TriggerBehavior::OnPressed,
            tap_threshold: tap_threshold(),
            double_tap_window: double_tap_window(),
            consume_input: true,
            tags: ActionTags::default(),
            metadata: None,
        }
    }
}

fn tap_threshold() -> f64 {
    0.2
}
fn double_tap_window() -> f64 {
    0.3
}
fn yes() -> bool {
    true
}

/// When an action set is live.
///
/// ```
/// assert!(ugas_doc::ActivationTags::default().required_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct ActivationTags {
    /// All of them must be there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_tags: Vec<String>,
    /// None of them may be there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_tags: Vec<String>,
}

/// How presses that come too early are kept.
///
/// ```
/// let b = ugas_doc::InputBuffer::default();
/// assert_eq!((b.enabled, b.buffer_window, b.max_buffer_size), (false, 0.15, 3));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct InputBuffer {
    /// Whether they are kept at all.
    pub enabled: bool,
    /// For how many seconds.
    pub buffer_window: f64,
    /// How many.
    pub max_buffer_size: u32,
}

impl Default for InputBuffer {
    fn default() -> InputBuffer {
        InputBuffer { enabled: false, buffer_window: 0.15, max_buffer_size: 3 }
    }
}

/// An `input_action_set` document: actions that are live together.
///
/// ```
/// assert_eq!(ugas_doc::InputActionSet::new("OnFoot", ["Move", "Fire"]).priority, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct InputActionSet {
    /// Unique name.
    pub name: String,
    /// The actions, at least one.
    pub actions: Vec<String>,
    /// Where sets share an action, the higher one has it.
    #[serde(default)]
    pub priority: i32,
    /// When it is live.
    #[serde(default)]
    pub activation_tags: ActivationTags,
    /// Whether it puts other sets of its or lower priority to sleep.
    #[serde(default)]
    pub exclusive: bool,
    /// Its own buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_buffer: Option<InputBuffer>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl InputActionSet {
    /// A set of these actions, always live.
    pub fn new<S: Into<String>>(name: impl Into<String>, actions: impl IntoIterator<Item = S>) -> InputActionSet {
        let actions = actions.into_iter().map(Into::into).collect();
        InputActionSet { name: name.into(), actions, ..InputActionSet::default() }
    }
}

/// Where a mapping applies.
///
/// ```
/// assert_ne!(ugas_doc::Platform::PC, ugas_doc::Platform::VR);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Platform {
    /// Desktop.
    PC,
    /// Consoles.
    Console,
    /// Phones and tablets.
    Mobile,
    /// Headsets.
    VR,
}

/// A family of devices.
///
/// ```
/// assert_ne!(ugas_doc::Device::Keyboard, ugas_doc::Device::Mouse);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Device {
    /// Keys.
    Keyboard,
    /// Mouse.
    Mouse,
    /// Gamepad.
    Gamepad,
    /// Touch screen.
    Touch,
    /// Motion sensor.
    Gyro,
    /// A device of its own; see `CustomDeviceName`.
    Custom,
}

/// One input of a device.
///
/// ```
/// let space = ugas_doc::DeviceInput { device: ugas_doc::Device::Keyboard, input: "Key.Space".into(), custom_device_name: None };
/// assert_eq!(space.input, "Key.Space");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct DeviceInput {
    /// The family.
    pub device: Device,
    /// The canonical name, such as `Key.Space`.
    pub input: String,
    /// Which device, where the family is Custom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_device_name: Option<String>,
}

/// Digital inputs that make an axis together.
///
/// ```
/// assert!(ugas_doc::CompositeInputs::default().up.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct CompositeInputs {
    /// +Y.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<DeviceInput>,
    /// −Y.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<DeviceInput>,
    /// −X.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<DeviceInput>,
    /// +X.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<DeviceInput>,
    /// +Z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward: Option<DeviceInput>,
    /// −Z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backward: Option<DeviceInput>,
}

/// Further tags that a binding needs.
///
/// ```
/// assert!(ugas_doc::BindingTags::default().required_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct BindingTags {
    /// All of them must be there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_tags: Vec<String>,
}

/// One line of a mapping: which inputs drive an action.
///
/// ```
/// let b = ugas_doc::InputBinding::new("Fire");
/// assert!(b.is_rebindable && b.priority == 0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct InputBinding {
    /// The action.
    pub action: String,
    /// The inputs; several are a chord.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<DeviceInput>,
    /// Digital inputs that make an axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composite_inputs: Option<CompositeInputs>,
    /// Modifiers of the raw value, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<String>,
    /// Among bindings of one action the highest that can be satisfied wins.
    #[serde(default)]
    pub priority: i32,
    /// How long it must be held before it counts, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_threshold: Option<f64>,
    /// Whether players may change it.
    #[serde(default = "yes", rename = "bIsRebindable")]
    pub is_rebindable: bool,
    /// Further tags it needs.
    #[serde(default)]
    pub tags: BindingTags,
}

impl InputBinding {
    /// A binding without inputs yet.
    pub fn new(action: impl Into<String>) -> InputBinding {
        InputBinding {
            action: action.into(),
            inputs: Vec::new(),
            composite_inputs: None,
            modifiers: Vec::new(),
            priority: 0,
            hold_threshold: None,
            is_rebindable: true,
            tags: BindingTags::default(),
        }
    }
}

/// An `input_mapping` document: bindings of one action set, for one platform or for all.
///
/// ```
/// let m = ugas_doc::InputMapping { action_set: "OnFoot".into(), platform: None, bindings: vec![], metadata: None };
/// assert!(m.platform.is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct InputMapping {
    /// The set it belongs to.
    pub action_set: String,
    /// Only there; everywhere if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    /// The bindings, at least one.
    pub bindings: Vec<InputBinding>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// What a modifier does.
///
/// ```
/// assert_ne!(ugas_doc::ModifierType::DeadZone, ugas_doc::ModifierType::Clamp);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ModifierType {
    /// Ignores small values.
    DeadZone,
    /// Multiplies.
    Sensitivity,
    /// Bends.
    ResponseCurve,
    /// Turns axes around.
    AxisInvert,
    /// Scales each axis.
    AxisScale,
    /// Reorders axes.
    AxisSwizzle,
    /// Brings the length to one radius.
    RadialScaling,
    /// Makes the length 1.
    Normalize,
    /// Pressed above a threshold.
    TriggerThreshold,
    /// Keeps within bounds.
    Clamp,
    /// Code of the host.
    Custom,
}

/// An `input_modifier` document: one step between a raw value and an action.
///
/// ```
/// let m = ugas_doc::InputModifier::new("StickDeadzone", ugas_doc::ModifierType::DeadZone).with("InnerThreshold", 0.15);
/// assert!(!m.user_configurable);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct InputModifier {
    /// Unique name.
    pub name: String,
    /// What it does.
    #[serde(rename = "Type")]
    pub kind: ModifierType,
    /// What its type takes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// Whether players see its parameters in the settings.
    #[serde(default)]
    pub user_configurable: bool,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl InputModifier {
    /// A modifier without parameters.
    pub fn new(name: impl Into<String>, kind: ModifierType) -> InputModifier {
        InputModifier { name: name.into(), kind, params: BTreeMap::new(), user_configurable: false, metadata: None }
    }

    /// A numeric parameter, or what the specification says where it is not written.
    pub fn number(&self, name: &str) -> Option<f64> {
        let default = (name == "PressThreshold" && self.kind == ModifierType::TriggerThreshold).then_some(0.5);
        self.params.get(name).map_or(default, Value::as_number)
    }

    /// Sets a parameter.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> InputModifier {
        self.params.insert(name.into(), value.into());
        self
    }
}
