//! Motions: directions that precede a press. The row records when an action reaches a direction, and presses. At a press,
//! the latest directions are compared with the patterns of the bound abilities.
//!
//! The recorded directions are those of the stick. They are mirrored or turned by the facing at the press, so that a
//! corrected facing corrects the result.

use super::super::{Flow, View};
use crate::rules::{CIRCLE, MotionDef, MotionStep};
use crate::state::{DirectionChange, Inputs};
use crate::{AxisValue, GrantId, InputId, MotionId, SimTime};
use ugas_doc::MotionFacing;

/// The length of a value below which it has no direction, squared, in steps of 1/1024.
const DEAD_ZONE: i64 = 94_372;

/// The neutral direction.
pub(crate) const NEUTRAL: u8 = 5;

/// Returns the direction of a value as the key of a numeric keypad. Each of the eight directions has 45 degrees.
pub(crate) fn direction_of(value: AxisValue) -> u8 {
    let [x, y, _] = value.0.map(i64::from);
    if x * x + y * y < DEAD_ZONE {
        return NEUTRAL;
    }
    // The tangent of 22.5 degrees is √2 − 1. In whole numbers, |y| < |x| · (√2 − 1) is (|y| + |x|)² < 2 · x².
    let is_flat = |a: i64, b: i64| (a.abs() + b.abs()).pow(2) < 2 * b * b;
    let column = if is_flat(x, y) { 0 } else { x.signum() };
    let row = if is_flat(y, x) { 0 } else { y.signum() };
    (5 + column + 3 * row) as u8
}

/// Returns a direction turned by a number of eighths of a circle, counterclockwise.
fn turned(direction: u8, eighths: usize) -> u8 {
    let at = CIRCLE.iter().position(|&d| d == direction);
    at.map_or(direction, |at| CIRCLE[(at + eighths) % CIRCLE.len()])
}

/// Returns a direction with left and right exchanged.
fn mirrored(direction: u8) -> u8 {
    match direction % 3 {
        _ if direction == 0 => 0,
        0 => direction - 2,
        1 => direction + 2,
        _ => direction,
    }
}

/// Returns the direction that a recorded direction means for a facing.
fn seen_from(direction: u8, facing: MotionFacing, [x, _, z]: [f64; 3]) -> u8 {
    match facing {
        MotionFacing::Ignore => direction,
        MotionFacing::Mirror if x < 0.0 => mirrored(direction),
        MotionFacing::Mirror => direction,
        MotionFacing::Turn => {
            // The stick is turned against the yaw, so that up means forward.
            let forward = AxisValue::new([x, z, 0.0]);
            let at = CIRCLE.iter().position(|&d| d == direction_of(forward)).unwrap_or(2);
            turned(direction, (CIRCLE.len() + 2 - at) % CIRCLE.len())
        }
    }
}

/// A direction of the history, and how long it was held. Times are local.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HeldDirection {
    pub(crate) direction: u8,
    pub(crate) since: SimTime,
    /// When the direction was left; the time of the press for the last one.
    pub(crate) until: SimTime,
}

/// Where a pattern was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FoundMotion {
    /// When the last direction was reached.
    pub(crate) at: SimTime,
}

/// Compares a history with a pattern. `now` is the time of the press. Returns the latest match.
pub(crate) fn find_motion(def: &MotionDef, history: &[HeldDirection], now: SimTime) -> Option<FoundMotion> {
    def.forms.iter().filter_map(|form| find_form(def, form, history, now)).max_by_key(|found| found.at)
}

fn find_form(def: &MotionDef, form: &[MotionStep], history: &[HeldDirection], now: SimTime) -> Option<FoundMotion> {
    let (first, last) = (*form.first()?, form.last()?.direction);
    let mut best: Option<FoundMotion> = None;
    for (start, &held) in history.iter().enumerate() {
        let Some(end) = first_end(def, first, history, start) else { continue };
        if form.len() == 1 {
            let found = FoundMotion { at: held.since };
            if now - held.since <= def.press_within.max(if first.is_charged { def.charge_time } else { SimTime::ZERO })
            {
                best = best.max_by_time(found);
            }
            continue;
        }
        let left = history[end].until;
        let costs = costs_from(form, history, end + 1);
        for (i, &to) in history[end + 1..].iter().enumerate() {
            let fits = to.direction == last
                && to.since - left <= def.max_duration
                && now - to.since <= def.press_within
                && costs.get(i).is_some_and(|&cost| cost <= def.tolerance);
            if fits {
                best = best.max_by_time(FoundMotion { at: to.since });
            }
        }
    }
    best
}

trait Latest {
    fn max_by_time(self, other: FoundMotion) -> Self;
}

impl Latest for Option<FoundMotion> {
    fn max_by_time(self, other: FoundMotion) -> Self {
        Some(self.map_or(other, |known| if known.at >= other.at { known } else { other }))
    }
}

/// Returns the index of the last entry of the first direction that begins at `start`. A charged direction also takes its
/// neighbours, and must be held long enough.
fn first_end(def: &MotionDef, first: MotionStep, history: &[HeldDirection], start: usize) -> Option<usize> {
    if !first.is_charged {
        return (history[start].direction == first.direction).then_some(start);
    }
    let neighbours = [first.direction, turned(first.direction, 1), turned(first.direction, 7)];
    let is_charging = |held: &HeldDirection| neighbours.contains(&held.direction);
    let is_begun = start > 0 && is_charging(&history[start - 1]);
    let length = history[start..].iter().take_while(|held| is_charging(held)).count();
    let end = start + length.checked_sub(1)?;
    (!is_begun && history[end].until - history[start].since >= def.charge_time).then_some(end)
}

/// Returns, for each entry of the history from `start` on, the number of missing and additional directions if the last
/// direction of the form is that entry. The first direction of the form is before `start`, and the last one must be there.
fn costs_from(form: &[MotionStep], history: &[HeldDirection], start: usize) -> Vec<u32> {
    const NEVER: u32 = u32::MAX / 2;
    let form = &form[1..];
    let last = form.len() - 1;
    // The cost after the first `j` directions of the form were passed, before the entry that is looked at.
    let mut at: Vec<u32> = (0..form.len() as u32).collect();
    let mut next = vec![NEVER; form.len()];
    let mut result = Vec::with_capacity(history.len() - start);
    for (i, entry) in history.iter().enumerate().skip(start) {
        let is = |j: usize| entry.direction == form[j].direction;
        result.push(if is(last) { at[last] } else { NEVER });
        let extra = u32::from(!parts_equal_directions(history, i));
        for j in 0..form.len() {
            let passed = at[j] + extra;
            let matched = if j > 0 && is(j - 1) { at[j - 1] } else { NEVER };
            let missing = if j > 0 { next[j - 1] + 1 } else { NEVER };
            next[j] = passed.min(matched).min(missing);
        }
        std::mem::swap(&mut at, &mut next);
    }
    result
}

/// Returns whether an entry is the neutral direction between two equal directions. It is not additional.
fn parts_equal_directions(history: &[HeldDirection], i: usize) -> bool {
    let direction = |at: Option<usize>| at.and_then(|at| history.get(at)).map(|held| held.direction);
    let (before, after) = (direction(i.checked_sub(1)), direction(i.checked_add(1)));
    history[i].direction == NEUTRAL && before.is_some() && before == after
}

impl View<'_> {
    /// Returns the directions of an action as they are seen from the facing of the row.
    pub(crate) fn history(&self, slot: usize, action: InputId, facing: MotionFacing) -> Vec<HeldDirection> {
        let row = self.row(slot);
        let now = row.clock.local(self.st.now);
        let to = row.side().anchor.map_or([1.0, 0.0, 0.0], |anchor| anchor.facing);
        let changes = row.play().inputs().directions.iter().filter(|c| c.input == action && c.direction != 0);
        let mut list: Vec<HeldDirection> = Vec::new();
        for &DirectionChange { at, direction, .. } in changes {
            if let Some(last) = list.last_mut() {
                last.until = at;
            }
            list.push(HeldDirection { direction: seen_from(direction, facing, to), since: at, until: now });
        }
        list
    }

    /// Returns when a motion was completed, if it precedes a press now.
    pub(crate) fn motion(&self, slot: usize, motion: MotionId) -> Option<FoundMotion> {
        let def = self.rules.motions.get(motion.0)?;
        let history = self.history(slot, def.action, def.facing);
        find_motion(def, &history, self.row(slot).clock.local(self.st.now))
    }

    /// Returns the grants that are bound to an input in the order in which they are tried: those whose motion precedes
    /// the press, the best motion first, and then those without a motion. Also returns the first grant whose motion does
    /// not precede the press.
    pub(crate) fn bound_grants(&self, slot: usize, input: InputId) -> (Vec<GrantId>, Option<(GrantId, MotionId)>) {
        let row = self.row(slot);
        if input == InputId::NONE {
            return (Vec::new(), None);
        }
        let bound = row.grants.iter().filter(|g| g.input() == input);
        let (mut moved, mut plain, mut without) = (Vec::new(), Vec::new(), None);
        for g in bound {
            let Some(motion) = self.ability(g.ability).and_then(|def| def.motion) else {
                plain.push(g.id);
                continue;
            };
            match self.motion(slot, motion) {
                Some(found) => moved.push((motion, found, g.id)),
                None => without = without.or(Some((g.id, motion))),
            }
        }
        moved.sort_by(|(a, found_a, _), (b, found_b, _)| self.motion_order(*a, *found_a, *b, *found_b));
        (moved.into_iter().map(|(.., id)| id).chain(plain).collect(), without)
    }

    /// Orders motions: by priority, then length, then the later end, then name.
    pub(crate) fn motion_order(
        &self,
        a: MotionId,
        found_a: FoundMotion,
        b: MotionId,
        found_b: FoundMotion,
    ) -> std::cmp::Ordering {
        let key = |id: MotionId| self.rules.motions.get(id.0).map(|def| (def.priority, def.len()));
        let name = |id: MotionId| self.rules.motion_name(id);
        key(b).cmp(&key(a)).then(found_b.at.cmp(&found_a.at)).then(name(a).cmp(&name(b)))
    }
}

impl Flow<'_> {
    /// Records the direction of an axis, if a motion pattern reads it.
    pub(super) fn record_direction(&mut self, slot: usize, input: InputId, value: AxisValue) {
        if self.rules.inputs.action(input).is_some_and(|a| a.has_motions) {
            let direction = direction_of(value);
            let of = |inputs: &Inputs| inputs.directions.iter().rev().find(|c| c.input == input).map(|c| c.direction);
            if of(self.row(slot).play().inputs()).unwrap_or(NEUTRAL) != direction {
                self.record_change(slot, input, direction);
            }
        }
    }

    /// Records a press, if the rules have motion patterns.
    pub(super) fn record_press(&mut self, slot: usize, input: InputId) {
        let has_motions = |g: &crate::state::Grant| self.ability(g.ability).is_some_and(|def| def.motion.is_some());
        if self.rules.motions.len() > 0 && self.row(slot).grants.iter().any(has_motions) {
            self.record_change(slot, input, 0);
        }
    }

    fn record_change(&mut self, slot: usize, input: InputId, direction: u8) {
        let now = self.st.now;
        let row = self.row_mut(slot);
        let at = row.clock.local(now);
        row.play_mut().inputs_mut().record(DirectionChange { at, input, direction });
    }
}

#[cfg(test)]
mod tests;
