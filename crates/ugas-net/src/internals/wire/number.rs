//! Lossless variable-length encoding of integers and floats.
//!
//! Replicated numbers are mostly small: a counter rises by two, health falls by 17, an event happened three ticks ago.
//! The code of an integer starts with its size class in unary, followed by the offset in the class. Each class except
//! the last starts where the previous class ends; the last class contains all 64 bits. Large multiples of a common time
//! unit, large integers that end with many zero bits, and integers near the maximum have shorter codes. A float with at
//! most four decimal places is scaled to an integer and written as the difference to its scaled old value, if the
//! reader gets exactly the same bits and the code is short. Any other float is written as the raw bits of an `f32` or,
//! if that would lose precision, of an `f64`. Values that may lose precision use a [`Quantizer`].

use super::bits::{BitReader, BitWriter, WireError};
use crate::types::Tick;
use ugas_core::SimTime;

/// Size classes, smallest first. The last one fits any value.
struct Classes {
    bits: [u32; 8],
    /// The first value of each class.
    first: [u64; 8],
}

impl Classes {
    const fn new(bits: [u32; 8]) -> Classes {
        let mut first = [0; 8];
        let mut class = 1;
        while class < 7 {
            first[class] = first[class - 1] + (1 << bits[class - 1]);
            class += 1;
        }
        Classes { bits, first }
    }
}

/// Classes for counts, gaps and differences of counters.
const COUNTS: Classes = Classes::new([3, 6, 10, 16, 24, 32, 48, 64]);
/// Classes for differences of decimals, which are rarely near zero.
const DECIMALS: Classes = Classes::new([4, 6, 8, 12, 18, 28, 44, 64]);
/// The class from which on a code has a flag for a shorter form: a multiple of [`STEP`], a number whose low bits are
/// zero, or a number near the largest one, such as "never".
const LARGE: usize = 4;
/// A common divisor, in flicks, of milliseconds and of frames at all usual rates: most large differences are times.
const STEP: u64 = 39_200;
/// The number of zero bits that are left out of large numbers that end with them, such as counters in the upper part of
/// a word.
const SHIFTED: u32 = 12;

fn class_of(value: u64, classes: &Classes) -> (usize, u64) {
    for class in 0..7 {
        let rest = value - classes.first[class];
        if rest < 1 << classes.bits[class] {
            return (class, rest);
        }
    }
    (7, value)
}

fn put_class(out: &mut BitWriter, class: usize) {
    out.bits((1 << class) - 1, (class as u32 + 1).min(7));
}

fn get_class(from: &mut BitReader) -> Result<usize, WireError> {
    from.ones(7).map(|ones| ones as usize)
}

fn put_in(out: &mut BitWriter, value: u64, classes: &Classes) {
    let (class, rest) = class_of(value, classes);
    put_class(out, class);
    out.bits(rest, classes.bits[class]);
}

fn rest_in(from: &mut BitReader, class: usize, classes: &Classes) -> Result<u64, WireError> {
    let class = class.min(7);
    Ok(classes.first[class] + from.bits(classes.bits[class])?)
}

fn get_in(from: &mut BitReader, classes: &Classes) -> Result<u64, WireError> {
    let class = get_class(from)?;
    rest_in(from, class, classes)
}

fn len_in(value: u64, classes: &Classes) -> u32 {
    let (class, _) = class_of(value, classes);
    (class as u32 + 1).min(7) + classes.bits[class]
}

/// Writes a number that is usually small: below 8 in four bits, below 72 in eight.
///
/// ```
/// use ugas_net::internals::wire::bits::{BitReader, BitWriter};
/// use ugas_net::internals::wire::number::{get_uint, put_uint};
/// let mut out = BitWriter::new();
/// put_uint(&mut out, 7);
/// assert_eq!(out.bit_len(), 4);
/// put_uint(&mut out, u64::MAX);
/// let mut from = BitReader::new(out.finish());
/// assert_eq!((get_uint(&mut from), get_uint(&mut from)), (Ok(7), Ok(u64::MAX)));
/// ```
pub fn put_uint(out: &mut BitWriter, value: u64) {
    let (class, rest) = class_of(value, &COUNTS);
    if class < LARGE {
        put_class(out, class);
        out.bits(rest, COUNTS.bits[class]);
        return;
    }
    let shift = value.trailing_zeros();
    if value.is_multiple_of(STEP) {
        put_class(out, LARGE);
        out.bits(0b01, 2);
        put_in(out, value / STEP, &COUNTS);
    } else if value > u64::MAX - STEP {
        put_class(out, LARGE);
        out.bits(0b011, 3);
        put_in(out, u64::MAX - value, &COUNTS);
    } else if shift >= SHIFTED {
        put_class(out, LARGE);
        out.bits(0b111, 3);
        out.bits(shift as u64, 6);
        put_in(out, value >> shift, &COUNTS);
    } else {
        put_class(out, class);
        out.bit(false);
        out.bits(rest, COUNTS.bits[class]);
    }
}

/// Returns how many bits [`put_uint`] writes.
///
/// ```
/// use ugas_net::internals::wire::number::uint_bits;
/// assert_eq!((uint_bits(7), uint_bits(71)), (4, 8));
/// ```
pub fn uint_bits(value: u64) -> usize {
    let (class, _) = class_of(value, &COUNTS);
    let shift = value.trailing_zeros();
    let bits = if class < LARGE {
        len_in(value, &COUNTS)
    } else if value.is_multiple_of(STEP) {
        LARGE as u32 + 3 + len_in(value / STEP, &COUNTS)
    } else if value > u64::MAX - STEP {
        LARGE as u32 + 4 + len_in(u64::MAX - value, &COUNTS)
    } else if shift >= SHIFTED {
        LARGE as u32 + 10 + len_in(value >> shift, &COUNTS)
    } else {
        len_in(value, &COUNTS) + 1
    };
    bits as usize
}

/// Reads a number written by [`put_uint`].
pub fn get_uint(from: &mut BitReader) -> Result<u64, WireError> {
    let class = get_class(from)?;
    if class < LARGE || !from.bit()? {
        return rest_in(from, class, &COUNTS);
    }
    let bad = WireError::BadValue { what: "a large number" };
    if class > LARGE {
        return Err(bad);
    }
    if !from.bit()? {
        return get_in(from, &COUNTS)?.checked_mul(STEP).ok_or(bad);
    }
    if !from.bit()? {
        return Ok(u64::MAX - get_in(from, &COUNTS)?);
    }
    let shift = from.bits(6)? as u32;
    let value = get_in(from, &COUNTS)?;
    if value << shift >> shift == value { Ok(value << shift) } else { Err(bad) }
}

/// Reads a number of at most `max`; `what` is its name in the error.
///
/// ```
/// use ugas_net::internals::wire::bits::{BitReader, BitWriter, WireError};
/// use ugas_net::internals::wire::number::{get_uint_to, put_uint};
/// let mut out = BitWriter::new();
/// put_uint(&mut out, 900);
/// let read = get_uint_to(&mut BitReader::new(out.finish()), 100, "actors");
/// assert_eq!(read, Err(WireError::TooLong { what: "actors", max: 100 }));
/// ```
pub fn get_uint_to(from: &mut BitReader, max: u64, what: &'static str) -> Result<u64, WireError> {
    let value = get_uint(from)?;
    if value > max { Err(WireError::TooLong { what, max }) } else { Ok(value) }
}

/// Maps signed numbers near zero to small unsigned ones: 0, −1, 1, −2 … become 0, 1, 2, 3 ….
///
/// ```
/// use ugas_net::internals::wire::number::{unzigzag, zigzag};
/// assert_eq!((zigzag(-1), zigzag(1), unzigzag(zigzag(i64::MIN))), (1, 2, i64::MIN));
/// ```
pub fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Reverses [`zigzag`].
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Writes a number that is usually near zero.
///
/// ```
/// use ugas_net::internals::wire::bits::{BitReader, BitWriter};
/// use ugas_net::internals::wire::number::{get_int, put_int};
/// let mut out = BitWriter::new();
/// put_int(&mut out, -3);
/// assert_eq!(out.bit_len(), 4);
/// assert_eq!(get_int(&mut BitReader::new(out.finish())), Ok(-3));
/// ```
pub fn put_int(out: &mut BitWriter, value: i64) {
    put_uint(out, zigzag(value));
}

/// Reads a number written by [`put_int`].
pub fn get_int(from: &mut BitReader) -> Result<i64, WireError> {
    get_uint(from).map(unzigzag)
}

/// The powers of ten of the possible numbers of decimal places.
const TENS: [f64; 5] = [1.0, 10.0, 100.0, 1_000.0, 10_000.0];
/// The largest number of units of a decimal: above it a double has no fraction.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Rounds a value to units of a decimal with these places; zero if it is out of range.
fn units(value: f64, places: usize) -> i64 {
    let scaled = value * TENS.get(places).copied().unwrap_or(1.0);
    if scaled.abs() <= MAX_EXACT { scaled.round_ties_even() as i64 } else { 0 }
}

fn of_units(units: i64, places: usize) -> f64 {
    units as f64 / TENS.get(places).copied().unwrap_or(1.0)
}

/// Returns the decimal that equals a value exactly, as places and units, if there is one.
fn decimal(value: f64) -> Option<(usize, i64)> {
    (0..TENS.len()).map(|p| (p, units(value, p))).find(|&(p, u)| of_units(u, p).to_bits() == value.to_bits())
}

/// Writes a float exactly, relative to its previous value. 83 after 100 takes nine bits; a value that is not a short
/// decimal takes 35 or 67 bits.
///
/// ```
/// use ugas_net::internals::wire::bits::{BitReader, BitWriter};
/// use ugas_net::internals::wire::number::{get_f64, put_f64};
/// let mut out = BitWriter::new();
/// put_f64(&mut out, 83.0, 100.0);
/// assert_eq!(out.bit_len(), 9);
/// assert_eq!(get_f64(&mut BitReader::new(out.finish()), 100.0), Ok(83.0));
/// ```
pub fn put_f64(out: &mut BitWriter, value: f64, before: f64) {
    if let Some((places, units_now)) = decimal(value) {
        let change = zigzag(units_now - units(before, places));
        if len_in(change, &DECIMALS) <= 34 {
            match places {
                0 => out.bits(0b0, 1),
                _ => out.bits((places as u64 - 1) << 2 | 0b01, 4),
            }
            return put_in(out, change, &DECIMALS);
        }
    }
    let short = value as f32;
    if !value.is_nan() && (short as f64).to_bits() == value.to_bits() {
        out.bits(0b011, 3);
        out.bits(short.to_bits() as u64, 32);
    } else {
        out.bits(0b111, 3);
        out.bits(value.to_bits(), 64);
    }
}

/// Reads a float written by [`put_f64`] with the same previous value.
pub fn get_f64(from: &mut BitReader, before: f64) -> Result<f64, WireError> {
    let places = if !from.bit()? {
        0
    } else if !from.bit()? {
        from.bits(2)? as usize + 1
    } else if !from.bit()? {
        return Ok(f32::from_bits(from.bits(32)? as u32) as f64);
    } else {
        return Ok(f64::from_bits(from.bits(64)?));
    };
    let change = unzigzag(get_in(from, &DECIMALS)?);
    Ok(of_units(units(before, places).wrapping_add(change), places))
}

/// Writes a time exactly. The end of a tick near `base` takes few bits; "never" takes two bits.
///
/// ```
/// use ugas_core::SimTime;
/// use ugas_net::types::Tick;
/// use ugas_net::internals::wire::bits::{BitReader, BitWriter};
/// use ugas_net::internals::wire::number::{get_time, put_time};
/// let length = SimTime::millis(20);
/// let mut out = BitWriter::new();
/// put_time(&mut out, SimTime::seconds(2.0), Tick(97), length);
/// assert_eq!(out.bit_len(), 5);
/// assert_eq!(get_time(&mut BitReader::new(out.finish()), Tick(97), length), Ok(SimTime::seconds(2.0)));
/// ```
pub fn put_time(out: &mut BitWriter, time: SimTime, base: Tick, length: SimTime) {
    if time == SimTime::NEVER {
        out.bits(0b01, 2);
    } else if length.0 > 0 && time.0 % length.0 == 0 {
        out.bit(false);
        put_int(out, (time.0 / length.0).wrapping_sub(base.0 as i64));
    } else {
        out.bits(0b11, 2);
        put_int(out, time.0.wrapping_sub(base.time(length).0));
    }
}

/// Reads a time written by [`put_time`] with the same base and length.
pub fn get_time(from: &mut BitReader, base: Tick, length: SimTime) -> Result<SimTime, WireError> {
    if !from.bit()? {
        let tick = get_int(from)?.wrapping_add(base.0 as i64);
        return tick.checked_mul(length.0).map(SimTime).ok_or(WireError::BadValue { what: "a time in ticks" });
    }
    if !from.bit()? {
        return Ok(SimTime::NEVER);
    }
    Ok(SimTime(get_int(from)?.wrapping_add(base.time(length).0)))
}

/// A lossy encoding of values between two bounds in a few bits, for attributes sent to observers.
///
/// ```
/// use ugas_net::internals::wire::number::Quantizer;
/// let health = Quantizer::new(0.0, 100.0, 8).unwrap();
/// assert!((health.decode(health.encode(33.3)) - 33.3).abs() <= health.max_error());
/// assert_eq!(health.decode(health.encode(1e9)), 100.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantizer {
    min: f64,
    max: f64,
    bits: u32,
}

impl Quantizer {
    /// Creates a quantizer. Returns `None` if the bounds or their distance are not finite, if `min` is not below `max`,
    /// or if `bits` is not from 1 to 32.
    pub fn new(min: f64, max: f64, bits: u32) -> Option<Quantizer> {
        let is_valid = min < max && (max - min).is_finite() && min.is_finite() && (1..=32).contains(&bits);
        is_valid.then_some(Quantizer { min, max, bits })
    }

    /// Returns the number of bits of a code.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    fn steps(&self) -> f64 {
        ((1u64 << self.bits) - 1) as f64
    }

    /// Returns the nearest code. Values outside the bounds are clamped; NaN becomes the lower bound.
    pub fn encode(&self, value: f64) -> u32 {
        let share = (value.clamp(self.min, self.max) - self.min) / (self.max - self.min);
        (share * self.steps()).round_ties_even() as u32
    }

    /// Returns the value of a code. The first and the last code are exactly the bounds.
    pub fn decode(&self, code: u32) -> f64 {
        let share = code as f64 / self.steps();
        if share >= 1.0 { self.max } else { self.min + share * (self.max - self.min) }
    }

    /// Returns the largest difference between a value within the bounds and its decoded value: half a step plus the
    /// rounding error of doubles of this size.
    pub fn max_error(&self) -> f64 {
        let rounding = (self.min.abs().max(self.max.abs()) + (self.max - self.min)) * 4.0 * f64::EPSILON;
        (self.max - self.min) / self.steps() / 2.0 + rounding
    }

    /// Writes a value.
    pub fn put(&self, out: &mut BitWriter, value: f64) {
        out.bits(self.encode(value) as u64, self.bits);
    }

    /// Reads a value.
    pub fn get(&self, from: &mut BitReader) -> Result<f64, WireError> {
        Ok(self.decode(from.bits(self.bits)? as u32))
    }
}

#[cfg(test)]
mod tests;
