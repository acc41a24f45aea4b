//! The catalogue of device inputs: every input that a mapping can name, with its device and the shape of its value.
//!
//! A name is a position and not a letter: `Key.W` is the key that is W on a US keyboard. Keys have the codes of the W3C
//! with the specification's spelling (`Key.W`, `Key.1`, `Key.LeftShift`, otherwise the code: `Key.ArrowUp`). Buttons
//! are 0 or 1, triggers 0 to 1, sticks −1 to 1; up and right are positive.
//!
//! The state of an input consists of *atoms*, which are never negative. A key has one atom. A stick has four: right,
//! left, up, down. `Gamepad.LeftStick`, `Gamepad.LeftStick.X` and `Gamepad.LeftStick.Left` are views of the same atoms,
//! so a host may report a stick as a whole or by axis, and a binding may use any part of it.

mod table;

use crate::spelling;
use serde::{Deserialize, Serialize};
use std::fmt;
use table::ROWS;
use ugas_doc::{Device, DeviceInput};

/// The shape of the value of a device input.
///
/// ```
/// use ugas_input::{InputCode, Shape};
/// assert_eq!(InputCode::named("Gamepad.LeftStick")?.shape(), Shape::Axis2D);
/// assert_eq!(Shape::Axis2D.components(), 2);
/// # Ok::<(), ugas_input::UnknownInput>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// 0 or 1.
    Button,
    /// From 0 to 1: a trigger, or one direction of an axis.
    HalfAxis,
    /// One number from −1 to 1; relative inputs are not limited.
    Axis1D,
    /// Two numbers.
    Axis2D,
    /// Three numbers.
    Axis3D,
    /// Up to three numbers, for inputs of custom devices.
    Custom,
}

impl Shape {
    /// Returns the number of components of a value.
    pub fn components(self) -> usize {
        match self {
            Shape::Button | Shape::HalfAxis | Shape::Axis1D => 1,
            Shape::Axis2D => 2,
            Shape::Axis3D | Shape::Custom => 3,
        }
    }
}

/// The programs whose names the catalogue contains, in the order of the table's last column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Web,
    Winit,
    Gilrs,
    Sdl,
    Unreal,
}

/// One input of the catalogue.
struct Row {
    name: &'static str,
    device: Device,
    shape: Shape,
    /// Whether events contain changes instead of positions.
    relative: bool,
    /// The number of rows back to the row that has the atoms.
    back: u8,
    /// The atoms of that row that the input consists of.
    parts: u8,
    hosts: [&'static str; 5],
}

const fn key(name: &'static str, hosts: [&'static str; 5]) -> Row {
    Row { name, device: Device::Keyboard, shape: Shape::Button, relative: false, back: 0, parts: 1, hosts }
}

const fn level(device: Device, shape: Shape, name: &'static str, back: u8, parts: u8, hosts: [&'static str; 5]) -> Row {
    Row { name, device, shape, relative: false, back, parts, hosts }
}

const fn moving(
    device: Device,
    shape: Shape,
    name: &'static str,
    back: u8,
    parts: u8,
    hosts: [&'static str; 5],
) -> Row {
    Row { name, device, shape, relative: true, back, parts, hosts }
}

/// The atoms of custom inputs: three axes with two directions each.
const ALL_PARTS: u8 = 0b11_1111;
/// Marks the codes of custom inputs, whose other bits are a hash of the names.
const CUSTOM: u32 = 1 << 31;
/// The longest name of a custom device or of its inputs.
const LONGEST_NAME: usize = 128;

/// A device input, as a small number. Codes are fixed for one version of this crate; documents contain names.
///
/// ```
/// use ugas_input::InputCode;
/// let space = InputCode::named("Key.Space")?;
/// assert_eq!(space.name(), Some("Key.Space"));
/// let error = InputCode::named("Key.Spcae").unwrap_err();
/// assert_eq!(error.to_string(), "unknown device input 'Key.Spcae'; did you mean 'Key.Space'?");
/// # Ok::<(), ugas_input::UnknownInput>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InputCode(u32);

/// The atoms of a device input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    root: u32,
    pub(crate) parts: u8,
}

/// One non-negative part of the state of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Atom(u64);

impl View {
    /// Returns the atoms with the numbers of their parts: 0 is +X, 1 is −X, 2 is +Y and so on.
    pub(crate) fn atoms(self) -> impl Iterator<Item = (u8, Atom)> {
        (0..6u8).filter(move |part| self.parts >> part & 1 != 0).map(move |part| (part, self.atom(part)))
    }

    fn atom(self, part: u8) -> Atom {
        Atom(u64::from(self.root) << 3 | u64::from(part))
    }

    /// Returns the components of an event's value by atom.
    pub(crate) fn split(self, value: [f64; 3]) -> impl Iterator<Item = (Atom, f64)> {
        let single = self.parts.is_power_of_two();
        let mut axis = 0;
        let mut last = None;
        self.atoms().map(move |(part, atom)| {
            if single {
                return (atom, value[0].max(0.0));
            }
            if last.is_some_and(|last| last != part / 2) {
                axis += 1;
            }
            last = Some(part / 2);
            let number = value.get(axis).copied().unwrap_or(0.0);
            (atom, if part % 2 == 0 { number.max(0.0) } else { (-number).max(0.0) })
        })
    }

    /// Returns the value that the atoms have together.
    pub(crate) fn join(self, read: impl Fn(Atom) -> f64) -> [f64; 3] {
        let mut value = [0.0; 3];
        if self.parts.is_power_of_two() {
            value[0] = self.atoms().map(|(_, atom)| read(atom)).sum();
            return value;
        }
        let mut axis = 0;
        for pair in 0..3 {
            let bits = self.parts >> (2 * pair) & 0b11;
            if bits == 0 {
                continue;
            }
            let part = |bit: u8| if bits >> bit & 1 != 0 { read(self.atom(2 * pair + bit)) } else { 0.0 };
            value[axis] = part(0) - part(1);
            axis += 1;
        }
        value
    }
}

impl InputCode {
    /// Returns the code of an input of the catalogue.
    pub fn named(name: &str) -> Result<InputCode, UnknownInput> {
        let at = ROWS.iter().position(|row| row.name == name);
        at.map(|at| InputCode(at as u32)).ok_or_else(|| UnknownInput {
            input: name.to_owned(),
            problem: InputProblem::Unknown { nearest: spelling::nearest(name, ROWS.iter().map(|row| row.name)) },
        })
    }

    /// Returns the code of an input of a custom device. The code depends only on the two names.
    ///
    /// ```
    /// use ugas_input::{InputCode, Shape};
    /// let pedal = InputCode::custom("Wheel", "Wheel.Pedal");
    /// assert_eq!((pedal.name(), pedal.shape()), (None, Shape::Custom));
    /// ```
    pub fn custom(device: &str, input: &str) -> InputCode {
        let bytes = device.bytes().chain([0]).chain(input.bytes());
        let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        InputCode(hash | CUSTOM)
    }

    /// Returns the code of an input as documents write it, with its class of device.
    ///
    /// ```
    /// use ugas_doc::{Device, DeviceInput};
    /// use ugas_input::InputCode;
    /// let space = DeviceInput { device: Device::Mouse, input: "Key.Space".into(), custom_device_name: None };
    /// assert_eq!(InputCode::of(&space).unwrap_err().to_string(), "'Key.Space' is an input of Keyboard, not of Mouse");
    /// ```
    pub fn of(input: &DeviceInput) -> Result<InputCode, UnknownInput> {
        let refuse = |problem| Err(UnknownInput { input: input.input.clone(), problem });
        if input.device == Device::Custom {
            let Some(device) = input.custom_device_name.as_deref().filter(|name| !name.is_empty()) else {
                return refuse(InputProblem::NoDeviceName);
            };
            if !is_path(&input.input) || device.len() > LONGEST_NAME {
                return refuse(InputProblem::NotAPath);
            }
            return Ok(InputCode::custom(device, &input.input));
        }
        let code = InputCode::named(&input.input)?;
        let device = code.device();
        if device != input.device {
            return refuse(InputProblem::OtherDevice { device, named: input.device });
        }
        Ok(code)
    }

    /// Returns all inputs of the catalogue.
    ///
    /// ```
    /// assert!(ugas_input::InputCode::all().count() > 250);
    /// ```
    pub fn all() -> impl Iterator<Item = InputCode> {
        (0..ROWS.len() as u32).map(InputCode)
    }

    /// Returns the name, or `None` if the input belongs to a custom device.
    pub fn name(self) -> Option<&'static str> {
        self.row().map(|row| row.name)
    }

    /// Returns the class of device.
    pub fn device(self) -> Device {
        self.row().map_or(Device::Custom, |row| row.device)
    }

    /// Returns the shape of the value.
    pub fn shape(self) -> Shape {
        self.row().map_or(Shape::Custom, |row| row.shape)
    }

    /// Returns whether events of the input contain changes instead of positions, as events of a mouse do.
    ///
    /// ```
    /// assert!(ugas_input::InputCode::named("Mouse.Scroll").unwrap().is_relative());
    /// ```
    pub fn is_relative(self) -> bool {
        self.row().is_some_and(|row| row.relative)
    }

    /// Returns the input as documents write it. Inputs of custom devices need the names, which `Controls` knows.
    pub fn device_input(self) -> Option<DeviceInput> {
        let row = self.row()?;
        Some(DeviceInput { device: row.device, input: row.name.to_owned(), custom_device_name: None })
    }

    /// Returns whether the code is one of this catalogue or of a custom device. Codes from a file may be neither.
    pub(crate) fn is_known(self) -> bool {
        self.0 & CUSTOM != 0 || self.row().is_some()
    }

    pub(crate) fn view(self) -> View {
        match self.row() {
            Some(row) => View { root: self.0 - u32::from(row.back), parts: row.parts },
            None => View { root: self.0, parts: ALL_PARTS },
        }
    }

    /// Returns a value within the limits of the input: finite, and in the range of its shape.
    pub(crate) fn limited(self, value: [f64; 3]) -> [f64; 3] {
        let (shape, is_wide) = match self.row() {
            Some(row) => (row.shape, row.relative || row.device == Device::Gyro),
            None => (Shape::Custom, true),
        };
        let most = if is_wide { LARGEST } else { 1.0 };
        let least = match shape {
            Shape::Button | Shape::HalfAxis => 0.0,
            Shape::Axis1D | Shape::Axis2D | Shape::Axis3D | Shape::Custom => -most,
        };
        let components = shape.components();
        let mut limited = [0.0; 3];
        for (i, number) in value.into_iter().enumerate().take(components) {
            limited[i] = if number.is_nan() { 0.0 } else { number.clamp(least, most) };
        }
        limited
    }

    pub(crate) fn host_names(host: Host) -> impl Iterator<Item = (&'static str, InputCode)> {
        let of = move |row: &Row| row.hosts[host as usize];
        InputCode::all().zip(&ROWS).filter(move |(_, row)| !of(row).is_empty()).map(move |(code, row)| (of(row), code))
    }

    fn row(self) -> Option<&'static Row> {
        ROWS.get(self.0 as usize)
    }
}

/// The largest change of a relative or custom input.
const LARGEST: f64 = 1e6;

/// Returns whether a text is `{Category}.{Identifier}`.
fn is_path(text: &str) -> bool {
    let mut parts = text.split('.');
    text.len() <= LONGEST_NAME && text.contains('.') && parts.all(|part| !part.is_empty())
}

/// Why a text names no device input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputProblem {
    /// The catalogue has no such input; `nearest` is spelled most like it.
    Unknown {
        /// The input with the most similar name.
        nearest: Option<&'static str>,
    },
    /// The input belongs to another class of device.
    OtherDevice {
        /// The class of device that has the input.
        device: Device,
        /// The class of device that the document names.
        named: Device,
    },
    /// `CustomDeviceName` is missing.
    NoDeviceName,
    /// The name of a custom input is not `{Category}.{Identifier}`, or a name is too long.
    NotAPath,
}

/// A name that is no device input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownInput {
    /// The name.
    pub input: String,
    /// What is wrong with it.
    pub problem: InputProblem,
}

impl fmt::Display for UnknownInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = spelling::shown(&self.input);
        match &self.problem {
            InputProblem::Unknown { nearest: Some(nearest) } => {
                write!(f, "unknown device input '{name}'; did you mean '{nearest}'?")
            }
            InputProblem::Unknown { nearest: None } => write!(f, "unknown device input '{name}'"),
            InputProblem::OtherDevice { device, named } => {
                write!(f, "'{name}' is an input of {device:?}, not of {named:?}")
            }
            InputProblem::NoDeviceName => {
                write!(f, "'{name}' is an input of a custom device, but CustomDeviceName is missing")
            }
            InputProblem::NotAPath => {
                write!(f, "expected the name of a custom input as Category.Identifier, found '{name}'")
            }
        }
    }
}
impl std::error::Error for UnknownInput {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_parts_follow_their_whole() {
        for (at, row) in ROWS.iter().enumerate() {
            assert!(is_path(row.name), "{}", row.name);
            assert!(ROWS[..at].iter().all(|other| other.name != row.name), "{} twice", row.name);
            let root = &ROWS[at - usize::from(row.back)];
            assert_eq!((root.back, root.device, root.relative), (0, row.device, row.relative), "{}", row.name);
            let is_scroll = row.name.starts_with("Mouse.Scroll");
            assert!(row.parts & !root.parts == 0 || is_scroll, "{}", row.name);
            let is_part = row.back == 0 || row.name.starts_with(&format!("{}.", root.name));
            assert!(is_part || root.name == "Gyro.Rotation", "{} of {}", row.name, root.name);
        }
    }

    #[test]
    fn a_host_has_one_input_per_name() {
        for host in [Host::Web, Host::Winit, Host::Gilrs, Host::Sdl, Host::Unreal] {
            let mut names: Vec<_> = InputCode::host_names(host).map(|(name, _)| name).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{host:?}");
        }
    }

    #[test]
    fn splitting_and_joining_are_inverse() {
        for code in InputCode::all() {
            let value = code.limited([0.25, -0.5, 0.75]);
            let atoms: Vec<_> = code.view().split(value).collect();
            assert!(atoms.iter().all(|(_, part)| *part >= 0.0));
            let read = |atom| atoms.iter().find(|(a, _)| *a == atom).unwrap().1;
            assert_eq!(code.view().join(read), value, "{code:?} {:?}", code.name());
        }
    }

    #[test]
    fn values_are_finite_and_within_the_range_of_the_input() {
        let limit = |name: &str, x: f64| InputCode::named(name).unwrap().limited([x, 0.0, 0.0])[0];
        assert_eq!((limit("Key.W", 7.0), limit("Key.W", -1.0)), (1.0, 0.0));
        assert_eq!((limit("Gamepad.LeftStick.X", f64::NEG_INFINITY), limit("Key.W", f64::NAN)), (-1.0, 0.0));
        assert_eq!((limit("Mouse.Axis.X", 300.0), limit("Mouse.Axis.X", f64::INFINITY)), (300.0, LARGEST));
    }
}
