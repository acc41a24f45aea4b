//! A seat: one player in front of the devices of one machine. The host passes the events of the devices with
//! [`Seat::take`] and asks once per frame for their meaning with [`Seat::step`].
//!
//! Between two calls of `step` nothing is lost: a press and its release are both reported, once, in order and with their
//! own times, however frames and ticks relate. A seat is plain data and can be saved with keys down.

mod axis;
mod digital;
mod step;
#[cfg(test)]
mod tests;
mod why;

use crate::catalogue::{Atom, InputCode};
use crate::controls::{ActionIndex, Controls};
use crate::sim_side::{ActionLife, Intent};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use ugas_core::{InputId, SimTime, TagId};
use ugas_doc::{Device, InputValue};
pub use why::{BindingAnswer, WhyNot};

/// The most events that wait for a step. Later ones are dropped, and every input is released after the last one kept.
pub(crate) const MOST_EVENTS: usize = 65_536;
/// The most atoms that are above zero at once; further presses are ignored.
const MOST_HELD: usize = 512;
/// The most devices of a seat.
const MOST_DEVICES: usize = 256;
/// An event that is further in the future than this has a wrong time and counts as an event of now.
const FURTHEST: SimTime = SimTime::millis(2000);

/// A device, by a number that the host chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeviceId(pub u32);

/// One change of a device input.
///
/// ```
/// use ugas_core::SimTime;
/// use ugas_input::{DeviceEvent, DeviceId, InputCode};
/// let press = DeviceEvent::press(SimTime::millis(20), DeviceId(0), InputCode::named("Key.Space")?);
/// assert_eq!(press.value, [1.0, 0.0, 0.0]);
/// # Ok::<(), ugas_input::UnknownInput>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceEvent {
    /// When it happened, on the clock of the sim.
    pub at: SimTime,
    /// The device.
    pub device: DeviceId,
    /// The input.
    pub input: InputCode,
    /// The new value; for relative inputs the change.
    pub value: [f64; 3],
}

impl DeviceEvent {
    /// A button goes down.
    pub fn press(at: SimTime, device: DeviceId, input: InputCode) -> DeviceEvent {
        DeviceEvent { at, device, input, value: [1.0, 0.0, 0.0] }
    }

    /// A button goes up.
    pub fn release(at: SimTime, device: DeviceId, input: InputCode) -> DeviceEvent {
        DeviceEvent { at, device, input, value: [0.0; 3] }
    }

    /// An axis moves.
    pub fn axis(at: SimTime, device: DeviceId, input: InputCode, value: [f64; 3]) -> DeviceEvent {
        DeviceEvent { at, device, input, value }
    }
}

/// What happened to an action, for the host. An action that falls asleep while it is down completes; if it wakes up and
/// is still down, it is ongoing again without a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// The value is no longer zero.
    Started,
    /// The value is still not zero; once per step.
    Ongoing,
    /// The value is zero again.
    Completed,
}

/// An event of an action, for the host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionEvent {
    /// When.
    pub at: SimTime,
    /// The action.
    pub action: ActionIndex,
    /// What happened.
    pub phase: Phase,
    /// The value after all modifiers.
    pub value: [f64; 3],
}

/// The result of a step: what the sim must run, and what the host may show. Both lists are in the order of time.
///
/// ```
/// let mut out = ugas_input::SeatOutput::default();
/// out.clear();
/// assert!(out.intents.is_empty() && out.events.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeatOutput {
    /// What the sim must run, with the times of the device events.
    pub intents: Vec<(SimTime, Intent)>,
    /// What happened to the actions.
    pub events: Vec<ActionEvent>,
}

impl SeatOutput {
    /// Empties both lists and keeps their memory.
    pub fn clear(&mut self) {
        self.intents.clear();
        self.events.clear();
    }
}

/// What waits for a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Pending {
    Event(DeviceEvent),
    /// A device is gone; `None` is every device: the window lost the focus.
    Lost(SimTime, Option<DeviceId>),
}

/// An atom of one device that is above zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Held {
    atom: Atom,
    device: DeviceId,
    value: f64,
    /// The number of the press, for the order of opposing directions.
    press: u64,
}

/// An atom that a satisfied binding hides from others until it goes up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Consumed {
    atom: Atom,
    by: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
enum BindingPhase {
    /// Not all parts are down.
    #[default]
    Idle,
    /// All parts are down, and the binding waits for its hold time or for a chord.
    Waiting {
        at: SimTime,
        /// When the hold time is over.
        held_at: SimTime,
    },
    /// The binding holds its action down.
    Down,
    /// All parts are down, but the press belongs to others.
    Spent,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct BindingState {
    /// The parts that are down, one bit each.
    down: u8,
    phase: BindingPhase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ActionState {
    /// The number of bindings that hold a Digital action down.
    bindings: u16,
    /// The value of an axis that the host knows.
    value: [f64; 3],
    /// The value of an axis that the sim knows.
    sent: ugas_core::AxisValue,
    /// Whether the host knows the action as not zero.
    is_shown: bool,
    /// Whether the host already got an event with the current value in this step.
    is_fresh: bool,
}

/// What a seat listens for while a player chooses a new input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ListenFor {
    /// A button, a trigger or one direction of an axis.
    Button,
    /// An axis or a stick.
    Axis,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Listening {
    No,
    For(ListenFor),
    Heard(InputCode),
}

/// The ids of names in the rules of the sim.
#[derive(Clone, Debug, Default)]
struct Link {
    rules: Option<u64>,
    revision: u64,
    inputs: Vec<Option<InputId>>,
    sets: Vec<Option<u32>>,
    tags: Vec<Option<TagId>>,
    /// The number of the current step, and the lives of actions with the number of the step they belong to.
    step: u64,
    lives: Vec<(u64, ActionLife)>,
    /// The lives with which axes were computed last, and the modifiers.
    axis_lives: Vec<Option<ActionLife>>,
    settings: u64,
    /// The bindings that the current event concerns.
    touched: Vec<u16>,
    /// The bindings that the current event may satisfy.
    ready: Vec<u16>,
}

/// One player with the state of the player's devices.
///
/// ```
/// use ugas_core::{Rules, Sim, SimConfig, SimTime, SpawnSpec, Target};
/// use ugas_doc::{Attribute, AttributeSet, Device, DeviceInput, Doc};
/// use ugas_doc::{InputAction, InputActionSet, InputBinding, InputMapping, InputValue};
/// use ugas_input::{Controls, DeviceEvent, DeviceId, InputCode, Phase, Seat, SeatOutput};
/// let space = DeviceInput { device: Device::Keyboard, input: "Key.Space".into(), custom_device_name: None };
/// let jump = InputBinding { inputs: vec![space], ..InputBinding::new("Jump") };
/// let docs = [
///     Doc::from(InputAction::new("Jump", InputValue::Digital)),
///     Doc::from(InputActionSet::new("OnFoot", ["Jump"])),
///     Doc::from(InputMapping { action_set: "OnFoot".into(), platform: None, bindings: vec![jump], metadata: None }),
/// ];
/// let controls = Controls::new(&docs, &[])?;
/// let rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals")?]))?;
/// let (mut seat, mut out) = (Seat::new(), SeatOutput::default());
/// seat.take(DeviceEvent::press(SimTime::millis(5), DeviceId(0), InputCode::named("Key.Space")?));
/// seat.step(&controls, &sim, who, Target::None, SimTime::millis(16), &mut out);
/// assert_eq!((out.events[0].phase, out.events[0].at), (Phase::Started, SimTime::millis(5)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Seat {
    /// The devices of the seat; `None` is every device.
    devices: Option<Vec<DeviceId>>,
    last_used: Option<(DeviceId, Device)>,
    queue: VecDeque<Pending>,
    has_overflowed: bool,
    dropped: u64,
    /// The end of the last step.
    now: SimTime,
    presses: u64,
    /// Sorted by atom, then device.
    held: Vec<Held>,
    /// The sums of relative atoms in this frame.
    moved: Vec<(Atom, f64)>,
    consumed: Vec<Consumed>,
    bindings: Vec<BindingState>,
    actions: Vec<ActionState>,
    /// The number of waiting bindings.
    waiting: u32,
    /// The actions that are not at rest, in ascending order. Those that came to rest in this step are still listed.
    active: Vec<u16>,
    /// The revision of the controls that the states belong to.
    revision: u64,
    /// The hash of the names of their actions.
    names: u64,
    listening: Listening,
    /// The input that a player chose, until it is released.
    chosen: Option<(DeviceId, InputCode)>,
    #[serde(skip)]
    link: Link,
}

impl Default for Seat {
    fn default() -> Seat {
        Seat::new()
    }
}

impl PartialEq for Seat {
    /// Compares what is saved.
    fn eq(&self, other: &Seat) -> bool {
        let state = |seat: &Seat| (seat.now, seat.presses, seat.waiting, seat.revision, seat.dropped, seat.listening);
        state(self) == state(other)
            && (self.names, &self.active) == (other.names, &other.active)
            && (&self.devices, &self.last_used, self.has_overflowed)
                == (&other.devices, &other.last_used, other.has_overflowed)
            && (&self.queue, &self.held, &self.moved) == (&other.queue, &other.held, &other.moved)
            && (&self.consumed, &self.bindings, &self.actions) == (&other.consumed, &other.bindings, &other.actions)
    }
}

impl Seat {
    /// Creates a seat that accepts the events of every device.
    pub fn new() -> Seat {
        Seat {
            devices: None,
            last_used: None,
            queue: VecDeque::new(),
            has_overflowed: false,
            dropped: 0,
            now: SimTime::ZERO,
            presses: 0,
            held: Vec::new(),
            moved: Vec::new(),
            consumed: Vec::new(),
            bindings: Vec::new(),
            actions: Vec::new(),
            waiting: 0,
            active: Vec::new(),
            revision: 0,
            names: 0,
            listening: Listening::No,
            chosen: None,
            link: Link::default(),
        }
    }

    /// Gives a device to the seat. From the first call on, the seat accepts only the events of its own devices.
    /// Returns `false` if the seat already has too many devices.
    ///
    /// ```
    /// use ugas_input::{DeviceId, Seat};
    /// let mut seat = Seat::new();
    /// seat.give(DeviceId(1));
    /// assert!(seat.has_device(DeviceId(1)) && !seat.has_device(DeviceId(2)));
    /// ```
    pub fn give(&mut self, device: DeviceId) -> bool {
        let devices = self.devices.get_or_insert_default();
        if devices.contains(&device) {
            return true;
        }
        let is_free = devices.len() < MOST_DEVICES;
        if is_free {
            devices.push(device);
        }
        is_free
    }

    /// Takes a device from the seat and lets go of what is down on it, at the given time.
    pub fn take_away(&mut self, device: DeviceId, at: SimTime) {
        self.lose_device(device, at);
        self.devices.get_or_insert_default().retain(|own| *own != device);
    }

    /// Returns whether the seat accepts events of a device.
    pub fn has_device(&self, device: DeviceId) -> bool {
        self.devices.as_ref().is_none_or(|devices| devices.contains(&device))
    }

    /// Returns the device that was used last, for the symbols of its buttons. A stick at rest that trembles is not used.
    pub fn last_used(&self) -> Option<(DeviceId, Device)> {
        self.last_used
    }

    /// Returns how many events were dropped because too many waited.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Takes an event of a device for the next step. Events are processed in the order of the calls; an event with an
    /// earlier time than the event before it gets the time of that event. Returns `false` if the seat does not accept
    /// the event: another seat has the device, the code is unknown, the seat listens, or too many events wait.
    pub fn take(&mut self, event: DeviceEvent) -> bool {
        if !self.has_device(event.device) || !event.input.is_known() {
            return false;
        }
        let value = event.input.limited(event.value);
        let is_single = value[1] == 0.0 && value[2] == 0.0;
        let size = if is_single { value[0].abs() } else { crate::modifier::length(value) };
        if size > 0.5 || event.input.is_relative() && size > 0.0 {
            self.last_used = Some((event.device, event.input.device()));
        }
        if self.chosen == Some((event.device, event.input)) {
            // The keyboard may repeat the key that the player chose.
            if size > 0.0 {
                return false;
            }
            self.chosen = None;
        }
        if let Listening::For(what) = self.listening
            && size > 0.0
        {
            if size > 0.5 && is_heard(what, event.input) && !self.is_held(&event) {
                self.listening = Listening::Heard(event.input);
                self.chosen = Some((event.device, event.input));
            }
            return false;
        }
        if self.queue.len() >= MOST_EVENTS {
            self.has_overflowed = true;
            self.dropped += 1;
            return false;
        }
        self.queue.push_back(Pending::Event(DeviceEvent { value, ..event }));
        true
    }

    /// Lets go of everything, because the window lost the focus: no release will be reported for keys that are down.
    /// Call this also if the player leaves.
    pub fn lose_focus(&mut self, at: SimTime) {
        self.listening = Listening::No;
        self.lose(at, None);
    }

    /// Lets go of what is down on a device that was disconnected.
    pub fn lose_device(&mut self, device: DeviceId, at: SimTime) {
        self.lose(at, Some(device));
    }

    fn lose(&mut self, at: SimTime, device: Option<DeviceId>) {
        self.chosen = self.chosen.filter(|(chosen, _)| device.is_some_and(|device| *chosen != device));
        if self.queue.len() < MOST_EVENTS {
            self.queue.push_back(Pending::Lost(at, device));
        } else {
            self.has_overflowed = true;
        }
    }

    /// Starts to listen: the next input that fits is reported by [`Seat::heard`] and does nothing else.
    ///
    /// ```
    /// use ugas_core::SimTime;
    /// use ugas_input::{DeviceEvent, DeviceId, InputCode, ListenFor, Seat};
    /// let (mut seat, key) = (Seat::new(), InputCode::named("Key.F")?);
    /// seat.listen(ListenFor::Button);
    /// assert!(!seat.take(DeviceEvent::press(SimTime::ZERO, DeviceId(0), key)));
    /// assert_eq!((seat.heard(), seat.heard()), (Some(key), None));
    /// # Ok::<(), ugas_input::UnknownInput>(())
    /// ```
    pub fn listen(&mut self, what: ListenFor) {
        self.listening = Listening::For(what);
    }

    /// Stops listening without an input.
    pub fn stop_listening(&mut self) {
        self.listening = Listening::No;
    }

    /// Returns the input that was heard, once.
    pub fn heard(&mut self) -> Option<InputCode> {
        let Listening::Heard(code) = self.listening else { return None };
        self.listening = Listening::No;
        Some(code)
    }

    /// Returns whether an input was down before an event.
    fn is_held(&self, event: &DeviceEvent) -> bool {
        let is_own = |atom: Atom| self.held.iter().any(|held| held.atom == atom && held.device == event.device);
        event.input.view().atoms().any(|(_, atom)| is_own(atom))
    }

    /// Returns the end of the last step.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Returns whether an action is down or its value is not zero.
    pub fn is_active(&self, action: ActionIndex) -> bool {
        let state = self.actions.get(usize::from(action.0));
        state.is_some_and(|state| state.bindings > 0 || state.value != [0.0; 3])
    }

    /// Returns the value of an atom, the largest of all devices.
    fn level(&self, atom: Atom) -> f64 {
        let mut level = 0.0_f64;
        // Few inputs are down at once, so a search from the front is the shortest.
        for held in &self.held {
            if held.atom > atom {
                break;
            }
            if held.atom == atom {
                level = level.max(held.value);
            }
        }
        for (moved, sum) in &self.moved {
            if *moved == atom {
                level = level.max(*sum);
            }
        }
        level
    }

    /// Lists an action as not at rest.
    fn note_active(&mut self, action: u16) {
        if let Err(at) = self.active.binary_search(&action) {
            self.active.insert(at, action);
        }
    }

    /// Returns the number of the newest press of an atom.
    fn pressed(&self, atom: Atom) -> u64 {
        let first = self.held.partition_point(|held| held.atom < atom);
        self.held[first..].iter().take_while(|held| held.atom == atom).map(|held| held.press).max().unwrap_or(0)
    }

    /// Returns whether a satisfied binding hides an atom from a binding.
    fn is_hidden(&self, controls: &Controls, atom: Atom, from: u16) -> Option<u16> {
        let hides =
            |consumed: &&Consumed| consumed.atom == atom && controls.bindings[usize::from(consumed.by)].does_hide(from);
        self.consumed.iter().find(hides).map(|consumed| consumed.by)
    }
}

fn is_heard(what: ListenFor, input: InputCode) -> bool {
    use crate::Shape;
    match input.shape() {
        Shape::Button | Shape::HalfAxis => what == ListenFor::Button,
        Shape::Axis1D | Shape::Axis2D | Shape::Axis3D => what == ListenFor::Axis,
        Shape::Custom => true,
    }
}

/// The components of an action's value.
fn components(value: InputValue) -> usize {
    crate::binding::components(value)
}
