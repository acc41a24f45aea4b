//! The input state of a row: what is held, which presses wait to be tried again, and the latest directions. A row that
//! holds nothing and waits for nothing has none of it.

use super::Due;
use super::effect::TimerKind;
use crate::{GrantId, InputId, OpId, SimTime, Target};
use serde::{Deserialize, Serialize};

/// The number of directions and presses that a row remembers.
pub(crate) const DIRECTIONS: usize = 30;

/// Steps of an axis value per unit.
const STEPS: f64 = 1024.0;
/// The largest number of steps.
const MOST_STEPS: i32 = 1024 * 1024;

/// The value of an axis action: three numbers in steps of 1/1024, within ±1024. It cannot represent NaN or infinity, so
/// that client and server agree about it.
///
/// ```
/// use ugas_core::AxisValue;
/// let value = AxisValue::new([0.5, -2000.0, f64::NAN]);
/// assert_eq!(value.numbers(), [0.5, -1024.0, 0.0]);
/// assert!(AxisValue::default().is_zero());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisValue(pub [i32; 3]);

impl AxisValue {
    /// Returns the nearest value. NaN becomes 0.
    pub fn new(numbers: [f64; 3]) -> AxisValue {
        // The cast saturates and turns NaN into 0.
        AxisValue(numbers.map(|n| ((n * STEPS).round() as i32).clamp(-MOST_STEPS, MOST_STEPS)))
    }

    /// Returns the three numbers.
    pub fn numbers(self) -> [f64; 3] {
        self.0.map(|n| f64::from(n) / STEPS)
    }

    /// Returns whether all numbers are zero.
    pub fn is_zero(self) -> bool {
        self.0 == [0; 3]
    }

    /// Returns whether all numbers are within the range.
    pub fn is_valid(self) -> bool {
        self.0.iter().all(|n| n.unsigned_abs() <= MOST_STEPS as u32)
    }
}

/// The input state of a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Inputs {
    /// The held inputs, sorted by input.
    pub(crate) held: Vec<HeldInput>,
    /// The axes that are not zero, sorted by input.
    pub(crate) axes: Vec<Axis>,
    /// The latest taps of actions that trigger at a double tap, sorted by input.
    pub(crate) taps: Vec<Tap>,
    /// The buffered presses, the oldest first.
    pub(crate) buffered: Vec<BufferedPress>,
    pub(crate) queued: Option<QueuedPress>,
    /// The latest directions and presses, the oldest first.
    pub(crate) directions: Vec<DirectionChange>,
    /// The local time at which the queued and buffered presses are tried, if something that refused them ended.
    pub(crate) tried_at: Option<SimTime>,
}

/// A pressed input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HeldInput {
    pub(crate) input: InputId,
    /// The local time at which the input was pressed.
    pub(crate) since: SimTime,
    /// Whether activation is retried while the input is pressed.
    pub(crate) retry: bool,
    /// Whether the action is asleep or suppressed, so that the input counts as released.
    pub(crate) is_muted: bool,
    /// Whether the release can trigger: the action has been live since the press.
    pub(crate) is_fresh: bool,
    /// Whether automatic abilities of the input are repeated.
    pub(crate) repeats: bool,
    /// Whether the press began in time after a tap.
    pub(crate) is_second: bool,
    pub(crate) target: Target,
}

/// The value of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Axis {
    pub(crate) input: InputId,
    pub(crate) value: AxisValue,
}

/// A tap that may become the first of a double tap. Times are local.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tap {
    pub(crate) input: InputId,
    /// The last time at which a second tap may begin.
    pub(crate) until: SimTime,
    /// The sequence number of its timer.
    pub(crate) seq: u64,
}

/// A press that waits until its ability can be activated. Times are local.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BufferedPress {
    pub(crate) input: InputId,
    pub(crate) target: Target,
    /// The time at which the press is too old.
    pub(crate) until: SimTime,
    /// The sequence number of its timer.
    pub(crate) seq: u64,
    /// The op of the press.
    pub(crate) root: OpId,
}

/// A press that waits for the end of a cast or of a global cooldown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct QueuedPress {
    pub(crate) input: InputId,
    pub(crate) grant: GrantId,
    pub(crate) target: Target,
    /// Whether the press waits for the end of a cast, not of a global cooldown.
    pub(crate) is_after_cast: bool,
    /// The op of the press.
    pub(crate) root: OpId,
}

/// A direction that an action reached, or a press. Times are local.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DirectionChange {
    pub(crate) at: SimTime,
    pub(crate) input: InputId,
    /// The key of a numeric keypad, or 0 for a press.
    pub(crate) direction: u8,
}

impl Inputs {
    pub(crate) const NONE: Inputs = Inputs {
        held: Vec::new(),
        axes: Vec::new(),
        taps: Vec::new(),
        buffered: Vec::new(),
        queued: None,
        directions: Vec::new(),
        tried_at: None,
    };

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.axes.is_empty() && self.taps.is_empty() && !self.is_waiting() && {
            self.directions.is_empty() && self.tried_at.is_none()
        }
    }

    /// Returns whether a press is queued or buffered.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.queued.is_some() || !self.buffered.is_empty()
    }

    /// Returns a held input.
    pub(crate) fn held_mut(&mut self, input: InputId) -> Option<&mut HeldInput> {
        let at = self.held.binary_search_by_key(&input, |h| h.input).ok()?;
        Some(&mut self.held[at])
    }

    /// Returns the value of an axis.
    pub(crate) fn axis(&self, input: InputId) -> AxisValue {
        let at = self.axes.binary_search_by_key(&input, |a| a.input);
        at.map_or(AxisValue::default(), |at| self.axes[at].value)
    }

    /// Sets the value of an axis.
    pub(crate) fn set_axis(&mut self, input: InputId, value: AxisValue) {
        match (self.axes.binary_search_by_key(&input, |a| a.input), value.is_zero()) {
            (Ok(at), true) => drop(self.axes.remove(at)),
            (Ok(at), false) => self.axes[at].value = value,
            (Err(_), true) => {}
            (Err(at), false) => self.axes.insert(at, Axis { input, value }),
        }
    }

    /// Records a direction or a press. Several changes of one input at the same time count as one.
    pub(crate) fn record(&mut self, change: DirectionChange) {
        if let Some(last) = self.directions.last_mut()
            && (last.at, last.input, last.direction == 0) == (change.at, change.input, change.direction == 0)
        {
            last.direction = change.direction;
            return;
        }
        if self.directions.len() >= DIRECTIONS {
            self.directions.remove(0);
        }
        self.directions.push(change);
    }

    /// Returns the timers of buffered presses and taps, and the time at which presses are tried.
    pub(crate) fn timers(&self) -> impl Iterator<Item = Due> {
        let presses = self.buffered.iter().map(|b| Due::timer(b.until, TimerKind::Input, b.seq));
        let taps = self.taps.iter().map(|t| Due::timer(t.expires_at(), TimerKind::Input, t.seq));
        presses.chain(taps).chain(self.tried_at.map(Due::waiting_inputs))
    }
}

impl Tap {
    /// Returns the first time at which a second tap begins too late.
    pub(crate) fn expires_at(&self) -> SimTime {
        SimTime(self.until.0 + 1)
    }
}
