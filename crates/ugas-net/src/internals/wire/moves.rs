//! The moves of one controller in a packet of its client.
//!
//! A pose is state, not an event: a later pose replaces an earlier one. A packet therefore contains only the newest
//! poses of each controller, and none of them waits for a lost one. A pose is written as the difference to an
//! extrapolation of the poses before it; the first pose is relative to one that the server acknowledged, if that one is
//! recent. Steady movement takes a few bits per tick.
//!
//! Positions are rounded to 1/256 of a unit, the parts of a facing to 1/127. The client predicts with the rounded pose,
//! so prediction and server agree exactly.

use super::bits::{BitReader, BitWriter, WireError};
use super::number::{get_int, get_uint_to, put_int, put_uint};
use crate::types::Tick;
use ugas_core::Anchor;

/// The steps per unit of length.
const STEPS_PER_UNIT: f64 = 256.0;
/// The steps of one part of a facing.
const FACING_STEPS: f64 = 127.0;
/// The largest coordinate in steps; the same limit as for all coordinates of requests.
const MAX_STEP: i64 = 256_000_000_000;
/// The maximum number of poses of one controller in a packet.
pub const MAX_COPIES: usize = 4;
/// The largest distance in ticks between the newest pose of a packet and the acknowledged pose that it refers to.
pub const MAX_REFERENCE_AGE: u32 = 120;
/// The largest number of ticks between a packet and its newest pose, and between two poses.
const MAX_GAP: u64 = 1 << 20;

/// The rounded position and facing of an owned controller.
///
/// ```
/// use ugas_core::Anchor;
/// use ugas_net::internals::wire::moves::MovePose;
/// let pose = MovePose::from(Anchor::at([1.5, 0.0, -2.001]));
/// assert_eq!(pose.anchor().position, [1.5, 0.0, -2.0]);
/// assert_eq!(MovePose::from(pose.anchor()), pose);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovePose {
    position: [i64; 3],
    facing: [i8; 3],
}

impl From<Anchor> for MovePose {
    fn from(anchor: Anchor) -> MovePose {
        let step = |v: f64| ((v * STEPS_PER_UNIT).round_ties_even() as i64).clamp(-MAX_STEP, MAX_STEP);
        let part = |v: f64| (v * FACING_STEPS).round_ties_even().clamp(-FACING_STEPS, FACING_STEPS) as i8;
        MovePose { position: anchor.position.map(step), facing: anchor.facing.map(part) }
    }
}

impl MovePose {
    /// The pose that the first pose without a reference is relative to.
    const ORIGIN: MovePose = MovePose { position: [0; 3], facing: [0, 0, FACING_STEPS as i8] };

    /// Returns the pose as an anchor.
    pub fn anchor(&self) -> Anchor {
        Anchor {
            position: self.position.map(|v| v as f64 / STEPS_PER_UNIT),
            facing: self.facing.map(|v| f64::from(v) / FACING_STEPS),
        }
    }
}

/// A move of a controller in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveEntry {
    /// The tick of the move.
    pub tick: Tick,
    /// The move runs before the commands of its tick that have this Sub or a higher one.
    pub before: u16,
    /// The pose.
    pub pose: MovePose,
}

/// Extrapolates poses: the last pose and the movement per tick.
struct Extrapolation {
    pose: MovePose,
    tick: Tick,
    velocity: [i64; 3],
    /// Whether the last pose is one of the controller.
    is_known: bool,
}

impl Extrapolation {
    fn new(reference: Option<(Tick, MovePose)>) -> Extrapolation {
        let (tick, pose) = reference.unwrap_or((Tick(0), MovePose::ORIGIN));
        Extrapolation { pose, tick, velocity: [0; 3], is_known: reference.is_some() }
    }

    /// Returns the expected position at a tick.
    fn at(&self, tick: Tick) -> [i64; 3] {
        let ticks = i64::from(tick.0.wrapping_sub(self.tick.0));
        [0, 1, 2].map(|i: usize| self.pose.position[i].wrapping_add(self.velocity[i].wrapping_mul(ticks)))
    }

    fn push(&mut self, tick: Tick, pose: MovePose) {
        let ticks = i64::from(tick.0.wrapping_sub(self.tick.0)).max(1);
        let change = |i: usize| pose.position[i].wrapping_sub(self.pose.position[i]) / ticks;
        self.velocity = if self.is_known { [0, 1, 2].map(change) } else { [0; 3] };
        (self.pose, self.tick, self.is_known) = (pose, tick, true);
    }
}

/// Writes the newest moves of a controller, sorted by tick; at most [`MAX_COPIES`]. `packet` is the tick of the packet,
/// which no move exceeds. `reference` is an acknowledged pose of an earlier tick.
pub fn put_moves(out: &mut BitWriter, packet: Tick, reference: Option<(Tick, MovePose)>, moves: &[MoveEntry]) {
    let moves = &moves[..moves.len().min(MAX_COPIES)];
    let (Some(first), Some(last)) = (moves.first(), moves.last()) else {
        return out.bit(false);
    };
    out.bit(true);
    out.bits(moves.len() as u64 - 1, 2);
    put_uint(out, u64::from(packet.0.saturating_sub(last.tick.0)));
    for pair in moves.windows(2) {
        let gap = pair[1].tick.0.saturating_sub(pair[0].tick.0);
        out.bit(gap != 1);
        if gap != 1 {
            put_uint(out, u64::from(gap));
        }
    }
    let reference = reference.filter(|(tick, _)| *tick < first.tick && tick.plus(MAX_REFERENCE_AGE) >= last.tick);
    out.bit(reference.is_some());
    if let Some((tick, _)) = reference {
        put_uint(out, u64::from(first.tick.0 - tick.0 - 1));
    }
    let mut expected = Extrapolation::new(reference);
    for entry in moves {
        put_move(out, entry, &expected);
        expected.push(entry.tick, entry.pose);
    }
}

fn put_move(out: &mut BitWriter, entry: &MoveEntry, expected: &Extrapolation) {
    out.bit(entry.before != 0);
    if entry.before != 0 {
        put_uint(out, u64::from(entry.before));
    }
    let position = expected.at(entry.tick);
    out.bit(entry.pose.position != position);
    if entry.pose.position != position {
        (0..3).for_each(|i| put_int(out, entry.pose.position[i].wrapping_sub(position[i])));
    }
    let facing = expected.pose.facing;
    out.bit(entry.pose.facing != facing);
    if entry.pose.facing != facing {
        (0..3).for_each(|i| put_int(out, i64::from(entry.pose.facing[i]) - i64::from(facing[i])));
    }
}

/// Reads the moves of a controller, sorted by tick, and appends them to `into`. `reference` returns a pose that was
/// received before. After an error the content of `into` is unspecified.
pub fn get_moves(
    from: &mut BitReader,
    packet: Tick,
    reference: impl Fn(Tick) -> Option<MovePose>,
    into: &mut Vec<MoveEntry>,
) -> Result<(), WireError> {
    if !from.bit()? {
        return Ok(());
    }
    let bad = WireError::BadValue { what: "the tick of a move" };
    let back = |tick: Tick, ticks: u64| tick.0.checked_sub(ticks as u32).map(Tick).ok_or(bad);
    let count = from.bits(2)? as usize + 1;
    let last = back(packet, get_uint_to(from, MAX_GAP, "ticks of a move")?)?;
    let mut gaps = [0; MAX_COPIES];
    for gap in gaps.iter_mut().take(count).skip(1) {
        *gap = if from.bit()? { get_uint_to(from, MAX_GAP, "ticks between moves")? } else { 1 };
        if *gap == 0 {
            return Err(bad);
        }
    }
    let first = back(last, gaps.iter().sum())?;
    let known = if from.bit()? {
        let tick = back(first, get_uint_to(from, u64::from(MAX_REFERENCE_AGE), "the age of a pose")? + 1)?;
        Some((tick, reference(tick).ok_or(WireError::BadValue { what: "the reference of a pose" })?))
    } else {
        None
    };
    let (mut expected, mut tick) = (Extrapolation::new(known), first);
    for gap in gaps.iter().take(count) {
        tick = tick.plus(*gap as u32);
        let entry = get_move(from, tick, &expected)?;
        expected.push(tick, entry.pose);
        into.push(entry);
    }
    Ok(())
}

fn get_move(from: &mut BitReader, tick: Tick, expected: &Extrapolation) -> Result<MoveEntry, WireError> {
    let before = if from.bit()? { get_uint_to(from, u64::from(u16::MAX), "a sub")? as u16 } else { 0 };
    let mut position = expected.at(tick);
    if from.bit()? {
        for part in &mut position {
            *part = part.wrapping_add(get_int(from)?);
        }
    }
    let mut facing = expected.pose.facing;
    if from.bit()? {
        for part in &mut facing {
            let value = get_int(from)?.wrapping_add(i64::from(*part));
            *part =
                i8::try_from(value).ok().filter(|v| *v != i8::MIN).ok_or(WireError::BadValue { what: "a facing" })?;
        }
    }
    if position.iter().any(|v| v.unsigned_abs() > MAX_STEP as u64) {
        return Err(WireError::BadValue { what: "a position" });
    }
    Ok(MoveEntry { tick, before, pose: MovePose { position, facing } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(tick: u32, x: f64) -> MoveEntry {
        MoveEntry { tick: Tick(tick), before: 0, pose: Anchor::at([x, 0.0, 0.5]).into() }
    }

    fn read(bytes: &[u8], packet: u32, known: &[MoveEntry]) -> Result<Vec<MoveEntry>, WireError> {
        let mut moves = Vec::new();
        let reference = |tick| known.iter().find(|entry| entry.tick == tick).map(|entry| entry.pose);
        get_moves(&mut BitReader::new(bytes), Tick(packet), reference, &mut moves).map(|()| moves)
    }

    #[test]
    fn moves_are_read_as_written_with_and_without_a_reference() {
        let turned = Anchor { position: [-1e9, 3.0, 1e9], facing: [1.0, -0.3, 0.0] };
        let moves = [
            walk(50, 1.0),
            walk(51, 1.25),
            MoveEntry { before: 3, ..walk(57, 2.0) },
            MoveEntry { pose: turned.into(), ..walk(58, 0.0) },
        ];
        let known = walk(40, -3.0);
        for reference in [None, Some((known.tick, known.pose))] {
            for count in 0..=moves.len() {
                let mut out = BitWriter::new();
                put_moves(&mut out, Tick(60), reference, &moves[..count]);
                assert_eq!(read(out.finish(), 60, &[known]).unwrap(), moves[..count]);
            }
        }
    }

    #[test]
    fn steady_movement_takes_few_bits() {
        let moves: Vec<MoveEntry> = (0..4).map(|n| walk(100 + n, 500.0 + f64::from(n) * 0.083)).collect();
        let known = walk(92, 500.0 - 8.0 * 0.083);
        let mut out = BitWriter::new();
        put_moves(&mut out, Tick(103), Some((known.tick, known.pose)), &moves);
        assert!(out.byte_len() <= 12, "{} bytes", out.byte_len());
        // A reference that is too old is not used.
        let mut full = BitWriter::new();
        put_moves(&mut full, Tick(300), Some((known.tick, known.pose)), &[walk(300, 500.0)]);
        assert_eq!(read(full.finish(), 300, &[]).unwrap(), [walk(300, 500.0)]);
    }

    #[test]
    fn invalid_moves_are_rejected() {
        let known = walk(40, 1.0);
        let mut out = BitWriter::new();
        put_moves(&mut out, Tick(60), Some((known.tick, known.pose)), &[walk(58, 1.0), walk(60, 1.0)]);
        let bytes = out.finish().to_vec();
        assert!(read(&bytes, 60, &[known]).is_ok());
        assert_eq!(read(&bytes, 60, &[]).unwrap_err(), WireError::BadValue { what: "the reference of a pose" });
        assert_eq!(read(&bytes, 1, &[known]).unwrap_err(), WireError::BadValue { what: "the tick of a move" });
        assert!(matches!(read(&bytes[..1], 60, &[known]), Err(WireError::Truncated { .. })));
        for position in [MAX_STEP + 1, i64::MIN, i64::MAX] {
            let mut far = walk(60, 0.0);
            far.pose.position[1] = position;
            let mut out = BitWriter::new();
            put_moves(&mut out, Tick(60), None, &[far]);
            assert_eq!(read(out.finish(), 60, &[]).unwrap_err(), WireError::BadValue { what: "a position" });
        }
    }
}
