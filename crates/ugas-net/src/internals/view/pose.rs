//! Positions of actors. Positions are sent separately from other state, since they change more often and are
//! interpolated. Positions are rounded to 1/64 of a unit, facings to 1/127.

use super::code::{get_position, put_position, steps, units};
use crate::wire::bits::{BitReader, BitWriter, WireError};
use crate::wire::number::{uint_bits, zigzag};
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

    /// Writes the position and facing.
    pub fn put(&self, out: &mut BitWriter) {
        put_position(out, self.position);
        out.bit(self.facing != Pose::DEFAULT_FACING);
        if self.facing != Pose::DEFAULT_FACING {
            self.facing.iter().for_each(|&v| out.bits(v as u8 as u64, 8));
        }
    }

    /// Returns how many bits [`Pose::put`] writes.
    pub fn bits(&self) -> usize {
        let position: usize = self.position.iter().map(|&v| uint_bits(zigzag(v as i64))).sum();
        position + if self.facing == Pose::DEFAULT_FACING { 1 } else { 25 }
    }

    /// Reads a position and facing.
    pub fn get(from: &mut BitReader) -> Result<Pose, WireError> {
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

/// How many samples a track keeps.
const KEPT: usize = 24;

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
