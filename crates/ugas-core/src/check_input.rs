//! Validation of the inputs of a row from untrusted data.

use crate::check::RowValidator;
use crate::check_play::{aims, is_valid_time, want};
use crate::state::{Axis, BufferedPress, DIRECTIONS, DirectionChange, HeldInput, Inputs, QueuedPress, Row, Tap};

/// Limits of one controller.
const HELD: usize = 64;
const BUFFERED: usize = 64;

impl RowValidator<'_> {
    /// Validates the inputs of a row.
    pub(crate) fn inputs(&self, row: &Row, inputs: &Inputs) -> Result<(), &'static str> {
        let Inputs { held, axes, taps, buffered, queued, directions, tried_at } = inputs;
        want(held.len() <= HELD, "too many held inputs")?;
        want(held.windows(2).all(|w| w[0].input < w[1].input), "held inputs are not in order")?;
        let is_held = |h: &HeldInput| {
            let HeldInput { input: _, since, retry: _, is_muted, is_fresh, repeats: _, is_second: _, target } = h;
            is_valid_time(*since) && aims(target) && !(*is_muted && *is_fresh)
        };
        want(held.iter().all(is_held), "a held input's time or target is invalid")?;
        want(axes.windows(2).all(|w| w[0].input < w[1].input), "axes are not in order")?;
        let is_axis = |&Axis { input, value }: &Axis| {
            let is_known = self.rules.inputs.action(input).is_some_and(|a| a.is_axis());
            let is_held = held.binary_search_by_key(&input, |h| h.input).is_ok();
            is_known && is_held && value.is_valid() && !value.is_zero()
        };
        want(axes.iter().all(is_axis), "an axis is invalid")?;
        let is_tap = |&Tap { input: _, until, seq }: &Tap| is_valid_time(until) && seq < row.next_seq;
        want(taps.len() <= HELD && taps.iter().all(is_tap), "a tap is invalid")?;
        want(taps.windows(2).all(|w| w[0].input < w[1].input), "taps are not in order")?;
        let is_press = |b: &BufferedPress| {
            let BufferedPress { input: _, target, until, seq, root: _ } = b;
            aims(target) && is_valid_time(*until) && *seq < row.next_seq
        };
        want(buffered.len() <= BUFFERED && buffered.iter().all(is_press), "a buffered press is invalid")?;
        want(buffered.windows(2).all(|w| w[0].seq < w[1].seq), "buffered presses are not in order")?;
        // The grant may have been revoked after the press.
        let is_queued = |q: &QueuedPress| {
            let QueuedPress { input: _, grant: _, target, is_after_cast: _, root: _ } = q;
            aims(target)
        };
        want(queued.iter().all(is_queued), "a queued press is invalid")?;
        let is_change =
            |&DirectionChange { at, input: _, direction }: &DirectionChange| is_valid_time(at) && direction <= 9;
        want(directions.len() <= DIRECTIONS && directions.iter().all(is_change), "a direction is invalid")?;
        want(directions.windows(2).all(|w| w[0].at <= w[1].at), "directions are not in order")?;
        want(tried_at.is_none_or(is_valid_time), "the time of waiting presses is invalid")
    }
}
