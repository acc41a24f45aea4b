//! Input documents: actions, action sets, mappings from devices to actions, and modifiers of raw values. The rules
//! compile actions and action sets, because they decide which abilities a press activates. Mappings and modifiers belong
//! to the machine of the player; the crate `ugas-input` reads them.

use crate::{Document, Metadata, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The type of value that an action produces.
///
/// ```
/// assert_ne!(ugas_doc::InputValue::Digital, ugas_doc::InputValue::Axis1D);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum InputValue {
    /// A button that is pressed or not pressed.
    #[default]
    Digital,
    /// One number.
    Axis1D,
    /// Two numbers.
    Axis2D,
    /// Three numbers.
    Axis3D,
}

/// When an action triggers.
///
/// ```
/// assert_eq!(ugas_doc::TriggerBehavior::default(), ugas_doc::TriggerBehavior::OnPressed);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TriggerBehavior {
    /// The action triggers once, when the input is pressed.
    #[default]
    OnPressed,
    /// The action triggers once, when the input is released.
    OnReleased,
    /// The action triggers when the input is pressed, and in every frame while the input is held.
    WhileHeld,
    /// The action triggers when the input is released, if it was held for at most `TapThreshold`.
    OnTap,
    /// The action triggers at the second of two taps, if the gap between them is at most `DoubleTapWindow`.
    OnDoubleTap,
}

/// The tags of an action.
///
/// ```
/// assert!(ugas_doc::ActionTags::default().action_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct ActionTags {
    /// Tags that describe the action, for queries such as "all combat inputs".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub action_tags: Vec<String>,
}

/// An `input_action` document: a named action that a player triggers with an input, such as Fire or Jump. A granted
/// ability names its action in `InputID`.
///
/// ```
/// let fire = ugas_doc::InputAction::new("Fire", ugas_doc::InputValue::Digital);
/// assert_eq!((fire.tap_threshold, fire.double_tap_window, fire.consume_input), (0.2, 0.3, true));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct InputAction {
    /// The name, unique in the project.
    pub name: String,
    /// The type of value that the action produces.
    pub value_type: InputValue,
    /// When the action triggers.
    #[serde(default)]
    pub trigger_behavior: TriggerBehavior,
    /// Whether the sim receives the value of the action. By default, the sim receives digital actions and no axes. The
    /// host reads an axis that is not simulated, such as the look direction, without sending it to the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<bool>,
    /// The longest press that counts as a tap, in seconds.
    #[serde(default = "tap_threshold")]
    pub tap_threshold: f64,
    /// The longest gap between two taps, in seconds.
    #[serde(default = "double_tap_window")]
    pub double_tap_window: f64,
    /// Whether the action consumes the input, so that actions with a lower priority on the same device input do not
    /// receive it.
    #[serde(default = "yes")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "the machine of the player")))]
    pub consume_input: bool,
    /// The tags of the action.
    #[serde(default)]
    pub tags: ActionTags,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Document for InputAction {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }
}

impl InputAction {
    /// Creates an action with the specification's defaults.
    pub fn new(name: impl Into<String>, value_type: InputValue) -> InputAction {
        InputAction {
            name: name.into(),
            value_type,
            trigger_behavior: TriggerBehavior::OnPressed,
            simulated: None,
            tap_threshold: tap_threshold(),
            double_tap_window: double_tap_window(),
            consume_input: true,
            tags: ActionTags::default(),
            metadata: None,
        }
    }

    /// Returns whether the sim receives the value of the action.
    pub fn is_simulated(&self) -> bool {
        self.simulated.unwrap_or(self.value_type == InputValue::Digital)
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
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// The tags that decide whether an action set is active.
///
/// ```
/// assert!(ugas_doc::ActivationTags::default().required_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct ActivationTags {
    /// The controller must have all of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_tags: Vec<String>,
    /// The controller must have none of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_tags: Vec<String>,
}

/// How presses that arrive too early are buffered.
///
/// ```
/// let b = ugas_doc::InputBuffer::default();
/// assert_eq!((b.enabled, b.buffer_window, b.max_buffer_size), (false, 0.15, 3));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct InputBuffer {
    /// Whether presses are buffered.
    pub enabled: bool,
    /// How long a press stays in the buffer, in seconds.
    pub buffer_window: f64,
    /// The maximum number of buffered presses.
    pub max_buffer_size: u32,
}

impl Default for InputBuffer {
    fn default() -> InputBuffer {
        InputBuffer { enabled: false, buffer_window: 0.15, max_buffer_size: 3 }
    }
}

/// A named input buffer for a genre.
///
/// ```
/// use ugas_doc::BufferPreset;
/// assert!(BufferPreset::Fighting.buffer().enabled && !BufferPreset::Menu.buffer().enabled);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BufferPreset {
    /// Five presses for 0.1 s.
    Fighting,
    /// Three presses for 0.15 s.
    Platformer,
    /// No buffer.
    Menu,
    /// No buffer.
    Driving,
}

impl BufferPreset {
    /// Returns the buffer of the preset.
    pub fn buffer(self) -> InputBuffer {
        let on = |buffer_window, max_buffer_size| InputBuffer { enabled: true, buffer_window, max_buffer_size };
        match self {
            BufferPreset::Fighting => on(0.1, 5),
            BufferPreset::Platformer => on(0.15, 3),
            BufferPreset::Menu | BufferPreset::Driving => InputBuffer::default(),
        }
    }
}

/// An input buffer: the name of a preset, or its values.
///
/// ```
/// use ugas_doc::{BufferChoice, BufferPreset};
/// assert_eq!(BufferChoice::Preset(BufferPreset::Fighting).buffer().max_buffer_size, 5);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum BufferChoice {
    /// A preset: `Fighting`, `Platformer`, `Menu` or `Driving`.
    Preset(BufferPreset),
    /// The values of the buffer.
    Values(InputBuffer),
}

impl BufferChoice {
    /// Returns the values of the buffer.
    pub fn buffer(&self) -> InputBuffer {
        match self {
            BufferChoice::Preset(preset) => preset.buffer(),
            BufferChoice::Values(buffer) => buffer.clone(),
        }
    }
}

/// An `input_settings` document: the input buffer of all action sets that have none of their own. The field `InputBuffer`
/// of a `pack.yaml` is a short form of this document.
///
/// ```
/// use ugas_doc::{BufferChoice, BufferPreset, InputSettings};
/// let settings = InputSettings::new(BufferChoice::Preset(BufferPreset::Platformer));
/// assert_eq!(settings.input_buffer.buffer().buffer_window, 0.15);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct InputSettings {
    /// The input buffer.
    pub input_buffer: BufferChoice,
}

impl Document for InputSettings {
    fn name(&self) -> &str {
        ""
    }
}

impl InputSettings {
    /// Creates settings with this buffer.
    pub fn new(input_buffer: BufferChoice) -> InputSettings {
        InputSettings { input_buffer }
    }
}

/// An `input_action_set` document: actions that are active together.
///
/// ```
/// assert_eq!(ugas_doc::InputActionSet::new("OnFoot", ["Move", "Fire"]).priority, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct InputActionSet {
    /// The name, unique in the project.
    pub name: String,
    /// The actions, at least one.
    pub actions: Vec<String>,
    /// The priority. If several active sets contain the same action, only the set with the highest priority triggers
    /// the action.
    #[serde(default)]
    pub priority: i32,
    /// When the set is active.
    #[serde(default)]
    pub activation_tags: ActivationTags,
    /// Whether the set, while active, deactivates other sets with the same or a lower priority.
    #[serde(default)]
    pub exclusive: bool,
    /// The input buffer of the set. Without it, the set uses the buffer of the pack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_buffer: Option<BufferChoice>,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Document for InputActionSet {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }
}

impl InputActionSet {
    /// Creates a set of these actions that is always active.
    pub fn new<S: Into<String>>(name: impl Into<String>, actions: impl IntoIterator<Item = S>) -> InputActionSet {
        let actions = actions.into_iter().map(Into::into).collect();
        InputActionSet { name: name.into(), actions, ..InputActionSet::default() }
    }
}

/// The platform of a mapping.
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

/// A class of input devices.
///
/// ```
/// assert_ne!(ugas_doc::Device::Keyboard, ugas_doc::Device::Mouse);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Device {
    /// Keyboard.
    Keyboard,
    /// Mouse.
    Mouse,
    /// Gamepad.
    Gamepad,
    /// Touch screen.
    Touch,
    /// Motion sensor.
    Gyro,
    /// Another device; see `CustomDeviceName`.
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
    /// The class of device.
    pub device: Device,
    /// The input, such as `Key.Space`.
    pub input: String,
    /// The name of the device, if its class is `Custom`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_device_name: Option<String>,
}

/// Digital inputs that together form a value of one to three axes.
///
/// ```
/// assert!(ugas_doc::CompositeInputs::default().up.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct CompositeInputs {
    /// The input for +Y.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<DeviceInput>,
    /// The input for −Y.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<DeviceInput>,
    /// The input for −X.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<DeviceInput>,
    /// The input for +X.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<DeviceInput>,
    /// The input for +Z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward: Option<DeviceInput>,
    /// The input for −Z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backward: Option<DeviceInput>,
}

/// The value of a composite binding while two opposite inputs are pressed, such as left and right.
///
/// ```
/// assert_eq!(ugas_doc::Opposing::default(), ugas_doc::Opposing::Neutral);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Opposing {
    /// The two inputs cancel each other.
    #[default]
    Neutral,
    /// The input that was pressed last counts.
    Last,
    /// The input that was pressed first counts.
    First,
    /// The input of the positive direction counts: right, up and forward.
    Positive,
}

impl Opposing {
    fn is_neutral(&self) -> bool {
        *self == Opposing::Neutral
    }
}

/// Tags that a binding requires.
///
/// ```
/// assert!(ugas_doc::BindingTags::default().required_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct BindingTags {
    /// The controller must have all of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_tags: Vec<String>,
}

/// One binding of a mapping: the device inputs that trigger an action.
///
/// ```
/// let b = ugas_doc::InputBinding::new("Fire");
/// assert!(b.is_rebindable && b.priority == 0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct InputBinding {
    /// The name of the action.
    pub action: String,
    /// The device inputs. Several inputs form a chord: all of them must be pressed at the same time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<DeviceInput>,
    /// Digital inputs that together form a value of one to three axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composite_inputs: Option<CompositeInputs>,
    /// The names of the input modifiers that process the raw value, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<String>,
    /// The priority. If several bindings of one action are satisfied, the binding with the highest priority is used.
    #[serde(default)]
    pub priority: i32,
    /// How long the inputs must be held before the binding is satisfied, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_threshold: Option<f64>,
    /// How long the press of one part of a chord waits for the other parts, in seconds. A binding that the chord hides
    /// is delayed by at most this time. With 0 nothing is delayed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub chord_window: f64,
    /// The value of `CompositeInputs` while two opposite inputs are pressed.
    #[serde(default, skip_serializing_if = "Opposing::is_neutral")]
    pub opposing: Opposing,
    /// Whether players may change the binding.
    #[serde(default = "yes", rename = "bIsRebindable")]
    pub is_rebindable: bool,
    /// Tags that the binding requires.
    #[serde(default)]
    pub tags: BindingTags,
}

impl InputBinding {
    /// Creates a binding without inputs.
    pub fn new(action: impl Into<String>) -> InputBinding {
        InputBinding {
            action: action.into(),
            inputs: Vec::new(),
            composite_inputs: None,
            modifiers: Vec::new(),
            priority: 0,
            hold_threshold: None,
            chord_window: 0.0,
            opposing: Opposing::Neutral,
            is_rebindable: true,
            tags: BindingTags::default(),
        }
    }
}

/// An `input_mapping` document: the bindings of one action set, for one platform or for all platforms.
///
/// ```
/// let m = ugas_doc::InputMapping { action_set: "OnFoot".into(), platform: None, bindings: vec![], metadata: None };
/// assert!(m.platform.is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "the host, which reads devices and sends Press and Release with the names of actions")))]
pub struct InputMapping {
    /// The name of the action set.
    pub action_set: String,
    /// The platform. A mapping without a platform is for every platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    /// The bindings, at least one.
    pub bindings: Vec<InputBinding>,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Document for InputMapping {
    fn name(&self) -> &str {
        &self.action_set
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }
}

/// What an input modifier does to a raw value.
///
/// ```
/// assert_ne!(ugas_doc::ModifierType::DeadZone, ugas_doc::ModifierType::Clamp);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ModifierType {
    /// Ignores small values.
    DeadZone,
    /// Multiplies the value by a factor.
    Sensitivity,
    /// Applies a response curve.
    ResponseCurve,
    /// Inverts axes.
    AxisInvert,
    /// Scales each axis.
    AxisScale,
    /// Reorders axes.
    AxisSwizzle,
    /// Limits the length of the value to `MaxRadius`; the direction is kept.
    RadialScaling,
    /// Scales the length of the value to 1.
    Normalize,
    /// Converts the value to pressed or not pressed: pressed above `PressThreshold`, and then until the value is no
    /// longer above `ReleaseThreshold`, which is `PressThreshold` if it is absent.
    TriggerThreshold,
    /// Clamps the value to bounds.
    Clamp,
    /// Runs host code.
    Custom,
}

/// An `input_modifier` document: one step from a raw device value to the value of an action.
///
/// ```
/// let m = ugas_doc::InputModifier::new("StickDeadzone", ugas_doc::ModifierType::DeadZone).with("InnerThreshold", 0.15);
/// assert!(!m.user_configurable);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "the host, which reads devices and sends Press and Release with the names of actions")))]
pub struct InputModifier {
    /// The name, unique in the project.
    pub name: String,
    /// What the modifier does.
    #[serde(rename = "Type")]
    pub kind: ModifierType,
    /// The parameters of the modifier type.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// Whether players can change the parameters in the settings.
    #[serde(default)]
    pub user_configurable: bool,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Document for InputModifier {
    fn name(&self) -> &str {
        &self.name
    }
}

impl InputModifier {
    /// Creates a modifier without parameters.
    pub fn new(name: impl Into<String>, kind: ModifierType) -> InputModifier {
        InputModifier { name: name.into(), kind, params: BTreeMap::new(), user_configurable: false, metadata: None }
    }

    /// Returns a numeric parameter, or the specification's default if the parameter is absent.
    pub fn number(&self, name: &str) -> Option<f64> {
        if let Some(value) = self.params.get(name) {
            return value.as_number();
        }
        match name {
            _ if self.kind != ModifierType::TriggerThreshold => None,
            "ReleaseThreshold" => self.number("PressThreshold"),
            "PressThreshold" => Some(0.5),
            _ => None,
        }
    }

    /// Sets a parameter.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> InputModifier {
        self.params.insert(name.into(), value.into());
        self
    }
}
