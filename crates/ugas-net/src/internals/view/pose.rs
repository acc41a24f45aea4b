//! Positions of actors. Positions are sent separately from other state, since they change more often and are
//! interpolated. Positions are rounded to 1/64 of a unit, facings to 1/127. A position is sent as the difference to a
//! position that the client has acknowledged, if it is recent.

use super::code::{get_position, put_position, steps, units};
use crate::types::Tick;
use crate::wire::bits::{BitReader, BitWriter, WireError};
use crate::wire::number::{get_int, get_uint_to, put_int, put_uint, uint_bits, zigzag};
use std::collections::VecDeque;
use ugas_core::{Anchor, SimTime};

/// Steps of one part of a facing.
const FACING_STEPS: f64 = 127.0;

/// The rounded position and facing of an actor.
///
/// ```
/// use ugas_core::Anchor;
/// use ugas_net::internals::view::Pose;
/// let pose = Pose::from(Anchor::at([1.5, 0.0, -2.001]));
/// assert_eq!(pose.anchor().position, [1.5, 0.0, -2.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pose {
    position: [i32; 3],
    facing: [i8; 3],
}

impl From<Anchor> for Pose {
    fn from(anchor: Anchor) -> Pose {
        let facing =
            anchor.facing.map(|v| (v * FACING_STEPS).round_ties_even().clamp(-FACING_STEPS, FACING_STEPS) as i8);
        Pose { position: steps(anchor.position), facing }
    }
}

impl Pose {
    /// The default facing, +Z.
    const DEFAULT_FACING: [i8; 3] = [0, 0, FACING_STEPS as i8];

    /// Returns the rounded position and facing as an anchor.
    pub fn anchor(&self) -> Anchor {
        Anchor { position: units(self.position), facing: self.facing.map(|v| v as f64 / FACING_STEPS) }
    }

    /// Writes the position and facing, as the difference to a baseline if there is one.
    pub fn put(&self, baseline: Option<Baseline>, out: &mut BitWriter) {
        out.bit(baseline.is_some());
        if let Some(Baseline { back, pose }) = baseline {
            put_uint(out, back as u64);
            self.position_from(&pose).iter().for_each(|&v| put_int(out, v));
            out.bit(self.facing != pose.facing);
            if self.facing != pose.facing {
                self.facing_from(&pose).iter().for_each(|&v| put_int(out, v));
            }
            return;
        }
        put_position(out, self.position);
        out.bit(self.facing != Pose::DEFAULT_FACING);
        if self.facing != Pose::DEFAULT_FACING {
            self.facing.iter().for_each(|&v| out.bits(v as u8 as u64, 8));
        }
    }

    fn position_from(&self, baseline: &Pose) -> [i64; 3] {
        std::array::from_fn(|i| self.position[i] as i64 - baseline.position[i] as i64)
    }

    fn facing_from(&self, baseline: &Pose) -> [i64; 3] {
        std::array::from_fn(|i| self.facing[i] as i64 - baseline.facing[i] as i64)
    }

    /// Returns how many bits [`Pose::put`] writes.
    pub fn bits(&self, baseline: Option<Baseline>) -> usize {
        let ints = |list: [i64; 3]| list.iter().map(|&v| uint_bits(zigzag(v))).sum::<usize>();
        match baseline {
            Some(Baseline { back, pose }) => {
                let facing = if self.facing == pose.facing { 0 } else { ints(self.facing_from(&pose)) };
                2 + uint_bits(back as u64) + ints(self.position_from(&pose)) + facing
            }
            None => 2 + ints(self.position.map(i64::from)) + if self.facing == Pose::DEFAULT_FACING { 0 } else { 24 },
        }
    }

    /// Reads a position and facing. `find` returns the position that was received this many ticks ago. Returns `None`
    /// for the difference to a position that is not known.
    pub fn get(from: &mut BitReader, find: impl FnOnce(u32) -> Option<Pose>) -> Result<Option<Pose>, WireError> {
        if !from.bit()? {
            return Pose::get_whole(from).map(Some);
        }
        let baseline = find(get_uint_to(from, BASELINE_TICKS as u64, "ticks of a baseline")? as u32);
        let position = [get_int(from)?, get_int(from)?, get_int(from)?];
        let facing = if from.bit()? { [get_int(from)?, get_int(from)?, get_int(from)?] } else { [0; 3] };
        let Some(baseline) = baseline else { return Ok(None) };
        let bad = WireError::BadValue { what: "a position" };
        let mut pose = baseline;
        for i in 0..3 {
            let sum = (baseline.position[i] as i64).checked_add(position[i]);
            pose.position[i] = sum.and_then(|v| i32::try_from(v).ok()).ok_or(bad)?;
            let sum = (baseline.facing[i] as i64).checked_add(facing[i]);
            pose.facing[i] = sum.and_then(|v| i8::try_from(v).ok()).ok_or(bad)?;
        }
        Ok(Some(pose))
    }

    fn get_whole(from: &mut BitReader) -> Result<Pose, WireError> {
        let position = get_position(from)?;
        let mut facing = Pose::DEFAULT_FACING;
        if from.bit()? {
            for part in &mut facing {
                *part = from.bits(8)? as u8 as i8;
            }
        }
        Ok(Pose { position, facing })
    }
}

/// The maximum age of a baseline in ticks. A track keeps more samples, so the client still has the baseline.
pub(super) const BASELINE_TICKS: u32 = 20;

/// A position that the client has, to which a newer one is written as a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// How many ticks ago it was sent.
    pub back: u32,
    /// The position.
    pub pose: Pose,
}

/// The last positions of an actor on the server, from which baselines are taken.
#[derive(Clone, Debug, Default)]
pub(super) struct PoseHistory {
    /// The ticks of the last moves and the positions after them, the newest last.
    moves: VecDeque<(Tick, Pose)>,
}

impl PoseHistory {
    /// Records a position from a tick on.
    pub(super) fn push(&mut self, tick: Tick, pose: Pose) {
        while self.moves.len() > 1 && self.moves[1].0.plus(BASELINE_TICKS) < tick {
            self.moves.pop_front();
        }
        match self.moves.back_mut() {
            Some(last) if last.0 == tick => last.1 = pose,
            _ => self.moves.push_back((tick, pose)),
        }
    }

    /// Forgets all positions.
    pub(super) fn clear(&mut self) {
        self.moves.clear();
    }

    /// Returns the position at a tick as a baseline for `now`; `None` if the tick is 0, too old or not recorded.
    pub(super) fn baseline(&self, tick: Tick, now: Tick) -> Option<Baseline> {
        let back = now.0.checked_sub(tick.0).filter(|&back| tick != Tick(0) && back <= BASELINE_TICKS)?;
        // An actor that moves in every tick has one entry per tick.
        let guess = self.moves.len().checked_sub(1 + back as usize).and_then(|at| self.moves.get(at));
        let known = guess.filter(|(moved, _)| *moved == tick);
        let (_, pose) = known.or_else(|| self.moves.iter().rev().find(|(moved, _)| *moved <= tick))?;
        Some(Baseline { back, pose: *pose })
    }
}

/// How many samples a track keeps.
const KEPT: usize = 32;

/// The latest positions of one actor, for interpolation.
///
/// ```
/// use ugas_core::{Anchor, SimTime};
/// use ugas_net::internals::view::{Pose, Track};
/// let mut track = Track::default();
/// track.push(SimTime::millis(100), Anchor::at([0.0, 0.0, 0.0]).into());
/// track.push(SimTime::millis(200), Anchor::at([8.0, 0.0, 0.0]).into());
/// assert_eq!(track.at(SimTime::millis(150)).unwrap().position, [4.0, 0.0, 0.0]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// By rising time.
    samples: Vec<(SimTime, Pose)>,
}

impl Track {
    /// Inserts a position at a time. A position that arrives late is inserted in order of time.
    pub fn push(&mut self, at: SimTime, pose: Pose) {
        let position = self.samples.partition_point(|s| s.0 < at);
        match self.samples.get_mut(position) {
            Some(same) if same.0 == at => same.1 = pose,
            _ => self.samples.insert(position, (at, pose)),
        }
        if self.samples.len() > KEPT {
            self.samples.remove(0);
        }
    }

    /// Returns the sample at exactly this time.
    pub fn sample(&self, at: SimTime) -> Option<Pose> {
        self.samples.binary_search_by_key(&at, |s| s.0).ok().map(|found| self.samples[found].1)
    }

    /// Returns the newest position.
    pub fn last(&self) -> Option<(SimTime, Pose)> {
        self.samples.last().copied()
    }

    /// Returns the position at a time, linearly interpolated; clamped before the first and after the last sample.
    pub fn at(&self, time: SimTime) -> Option<Anchor> {
        let next = self.samples.partition_point(|s| s.0 <= time);
        let before = next.checked_sub(1).and_then(|at| self.samples.get(at));
        let (Some(&(from, a)), Some(&(to, b))) = (before, self.samples.get(next)) else {
            return before.or(self.samples.first()).map(|s| s.1.anchor());
        };
        let share = (time - from).0 as f64 / (to - from).0.max(1) as f64;
        let mix = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|i: usize| a[i] + (b[i] - a[i]) * share);
        let (a, b) = (a.anchor(), b.anchor());
        Some(Anchor { position: mix(a.position, b.position), facing: mix(a.facing, b.facing) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pose() -> impl Strategy<Value = Pose> {
        let part = prop_oneof![-100..100i32, any::<i32>()];
        let facing = prop_oneof![Just(Pose::DEFAULT_FACING), prop::array::uniform3(-127..=127i8)];
        (prop::array::uniform3(part), facing).prop_map(|(position, facing)| Pose { position, facing })
    }

    proptest! {
        #[test]
        fn a_position_is_read_as_written_with_and_without_a_baseline(
            to in pose(),
            baseline in prop::option::of((0..=BASELINE_TICKS, pose())),
        ) {
            let baseline = baseline.map(|(back, pose)| Baseline { back, pose });
            let mut out = BitWriter::new();
            to.put(baseline, &mut out);
            let bits = out.bit_len();
            prop_assert_eq!(to.bits(baseline), bits);
            let bytes = out.finish().to_vec();
            let mut from = BitReader::new(&bytes);
            let find = |back: u32| baseline.filter(|b| b.back == back).map(|b| b.pose);
            prop_assert_eq!(Pose::get(&mut from, find), Ok(Some(to)));
            prop_assert_eq!(from.position() as usize, bits);
            let mut from = BitReader::new(&bytes);
            let unknown = Pose::get(&mut from, |_| None).unwrap();
            prop_assert_eq!(unknown.is_some(), baseline.is_none());
            prop_assert_eq!(from.position() as usize, bits, "an unknown baseline is skipped");
        }
    }

    #[test]
    fn a_history_returns_the_position_of_a_tick_while_it_is_recent() {
        let at = |x: i32| Pose { position: [x, 0, 0], facing: Pose::DEFAULT_FACING };
        let mut history = PoseHistory::default();
        for tick in [10, 12, 40] {
            history.push(Tick(tick), at(tick as i32));
        }
        let base = |tick, now| history.baseline(Tick(tick), Tick(now)).map(|b| (b.back, b.pose.position[0]));
        assert_eq!(base(41, 45), Some((4, 40)));
        assert_eq!(base(39, 45), Some((6, 12)), "it stood still from tick 12 to 39");
        assert_eq!((base(20, 45), base(0, 5), base(50, 45)), (None, None, None), "too old, nothing, in the future");
    }

    #[test]
    fn a_difference_beyond_the_range_is_an_error() {
        let mut out = BitWriter::new();
        let from = Pose { position: [i32::MIN; 3], facing: [0; 3] };
        Pose { position: [i32::MAX; 3], facing: [0; 3] }.put(Some(Baseline { back: 1, pose: from }), &mut out);
        let other = Pose { position: [1; 3], facing: [0; 3] };
        assert!(Pose::get(&mut BitReader::new(out.finish()), |_| Some(other)).is_err());
    }
}
