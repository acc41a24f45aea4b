//! Bridges translate the names of other programs into device inputs and back. A bridge is a table of names; this crate
//! depends on none of these programs.

use crate::catalogue::{Host, InputCode, Shape, UnknownInput};
use crate::spelling;
use std::fmt;

/// A translation between the names of one program and the catalogue.
///
/// ```
/// use ugas_input::{Bridge, InputCode};
/// let web = Bridge::web();
/// let (code, value) = web.translate("Axis1", [0.5, 0.0, 0.0]).unwrap();
/// assert_eq!((code.name(), value[0]), (Some("Gamepad.LeftStick.Y"), -0.5)); // in browsers, down is positive
/// assert_eq!(web.host_name(InputCode::named("Key.W")?), Some("KeyW"));
/// # Ok::<(), ugas_input::UnknownInput>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bridge {
    /// Sorted by name.
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    host: Box<str>,
    code: InputCode,
    /// The factors of the components.
    scale: [f64; 3],
}

/// Browsers report the wheel in pixels; one notch is about 100.
const PIXELS_PER_NOTCH: f64 = 100.0;
/// The largest value of an axis in SDL.
const SDL_AXIS: f64 = 32767.0;

impl Bridge {
    /// Returns the bridge for browsers: `KeyboardEvent.code`, `Mouse` and the number of the button, `movementX`,
    /// `movementY`, `deltaX`, `deltaY`, and for the standard gamepad `Button` and `Axis` with their numbers.
    ///
    /// ```
    /// assert_eq!(ugas_input::Bridge::web().code("ShiftLeft").unwrap().name(), Some("Key.LeftShift"));
    /// ```
    pub fn web() -> Bridge {
        Bridge::of(Host::Web)
    }

    /// Returns the bridge for winit: the `Debug` names of `KeyCode` and `MouseButton`, `MouseMotion`, `MouseWheel`.
    ///
    /// ```
    /// assert_eq!(ugas_input::Bridge::winit().code("SuperLeft").unwrap().name(), Some("Key.LeftMeta"));
    /// ```
    pub fn winit() -> Bridge {
        Bridge::of(Host::Winit)
    }

    /// Returns the bridge for gilrs: the `Debug` names of `Button` and `Axis`.
    ///
    /// ```
    /// assert_eq!(ugas_input::Bridge::gilrs().code("South").unwrap().name(), Some("Gamepad.FaceBottom"));
    /// ```
    pub fn gilrs() -> Bridge {
        Bridge::of(Host::Gilrs)
    }

    /// Returns the bridge for SDL 3: the names of its constants, `xrel`, `yrel`, `wheel.x`, `wheel.y`. The values of
    /// axes are those of SDL, up to 32767.
    ///
    /// ```
    /// let sdl = ugas_input::Bridge::sdl();
    /// let (code, value) = sdl.translate("SDL_GAMEPAD_AXIS_LEFTY", [-32767.0, 0.0, 0.0]).unwrap();
    /// assert_eq!((code.name(), value[0]), (Some("Gamepad.LeftStick.Y"), 1.0));
    /// ```
    pub fn sdl() -> Bridge {
        Bridge::of(Host::Sdl)
    }

    /// Returns the bridge for Unreal: the names of `FKey`.
    ///
    /// ```
    /// assert_eq!(ugas_input::Bridge::unreal().code("SpaceBar").unwrap().name(), Some("Key.Space"));
    /// ```
    pub fn unreal() -> Bridge {
        Bridge::of(Host::Unreal)
    }

    /// Creates a bridge from pairs of a host's name and the name of a device input.
    ///
    /// ```
    /// let bridge = ugas_input::Bridge::from_table([("57", "Key.Space"), ("17", "Key.W")])?;
    /// assert_eq!(bridge.code("57").unwrap().name(), Some("Key.Space"));
    /// # Ok::<(), ugas_input::BridgeError>(())
    /// ```
    pub fn from_table<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Bridge, BridgeError> {
        let mut error = BridgeError { unknown: Vec::new(), repeated: Vec::new() };
        let mut entries = Vec::new();
        for (host, name) in pairs {
            match InputCode::named(name) {
                Ok(code) => entries.push(Entry { host: host.into(), code, scale: [1.0; 3] }),
                Err(unknown) => error.unknown.push(unknown),
            }
        }
        entries.sort_by(|a, b| a.host.cmp(&b.host));
        let twice = entries.windows(2).filter(|pair| pair[0].host == pair[1].host);
        error.repeated.extend(twice.map(|pair| pair[0].host.to_string()));
        if error.unknown.is_empty() && error.repeated.is_empty() { Ok(Bridge { entries }) } else { Err(error) }
    }

    /// Sets the factor of a host's values, for drivers with another range or direction.
    ///
    /// ```
    /// let bridge = ugas_input::Bridge::from_table([("y", "Gamepad.LeftStick.Y")])?.scaled("y", -1.0 / 127.0);
    /// assert_eq!(bridge.translate("y", [127.0, 0.0, 0.0]).unwrap().1[0], -1.0);
    /// # Ok::<(), ugas_input::BridgeError>(())
    /// ```
    pub fn scaled(mut self, host: &str, factor: f64) -> Bridge {
        if let Ok(at) = self.find(host) {
            self.entries[at].scale = [factor; 3];
        }
        self
    }

    /// Returns the device input of a host's name.
    pub fn code(&self, host: &str) -> Option<InputCode> {
        self.find(host).ok().map(|at| self.entries[at].code)
    }

    /// Returns the device input and its value in the units of the catalogue.
    pub fn translate(&self, host: &str, value: [f64; 3]) -> Option<(InputCode, [f64; 3])> {
        let entry = &self.entries[self.find(host).ok()?];
        Some((entry.code, std::array::from_fn(|i| value[i] * entry.scale[i])))
    }

    /// Returns the host's name of a device input.
    pub fn host_name(&self, code: InputCode) -> Option<&str> {
        self.entries.iter().find(|entry| entry.code == code).map(|entry| &*entry.host)
    }

    fn find(&self, host: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| (*entry.host).cmp(host))
    }

    fn of(host: Host) -> Bridge {
        let entry =
            |(name, code): (&'static str, InputCode)| Entry { host: name.into(), code, scale: scale(host, code) };
        let mut entries: Vec<Entry> = InputCode::host_names(host).map(entry).collect();
        entries.sort_by(|a, b| a.host.cmp(&b.host));
        Bridge { entries }
    }
}

/// Returns the factors that turn a host's value into a value of the catalogue, in which up and right are positive.
fn scale(host: Host, code: InputCode) -> [f64; 3] {
    let name = code.name().unwrap_or_default();
    let is_mouse = name.starts_with("Mouse.Axis");
    let is_stick = name.contains("Stick.");
    let down = match host {
        Host::Web | Host::Sdl => (is_mouse || is_stick) && name.ends_with(".Y"),
        Host::Winit => is_mouse,
        Host::Gilrs | Host::Unreal => false,
    };
    let unit = match host {
        Host::Sdl if is_stick || (code.shape() == Shape::HalfAxis && !is_mouse) => 1.0 / SDL_AXIS,
        Host::Web if name == "Mouse.Scroll" => -1.0 / PIXELS_PER_NOTCH,
        Host::Web if name == "Mouse.Scroll.X" => 1.0 / PIXELS_PER_NOTCH,
        Host::Web | Host::Winit | Host::Gilrs | Host::Sdl | Host::Unreal => 1.0,
    };
    match (down, code.shape()) {
        (false, _) => [unit; 3],
        (true, Shape::Axis2D) => [unit, -unit, unit],
        (true, Shape::Button | Shape::HalfAxis | Shape::Axis1D | Shape::Axis3D | Shape::Custom) => [-unit, unit, unit],
    }
}

/// Why a table is no bridge: all unknown inputs and all repeated names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeError {
    /// The names that the catalogue does not contain.
    pub unknown: Vec<UnknownInput>,
    /// The host's names that occur more than once.
    pub repeated: Vec<String>,
}

impl fmt::Display for BridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unknown = self.unknown.iter().map(ToString::to_string);
        let repeated = self.repeated.iter().map(|name| format!("'{}' occurs twice", spelling::shown(name)));
        f.write_str(&unknown.chain(repeated).collect::<Vec<_>>().join("\n"))
    }
}
impl std::error::Error for BridgeError {}
