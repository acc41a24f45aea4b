//! Single bits, written and read.
//!
//! A delta is mostly flags and small numbers; whole bytes would double it. The writer is reused from packet to packet
//! and can be cut back when the last thing written no longer fits. The reader checks every length before it looks:
//! any bytes give values or an error. The first bit is the lowest of the first byte. Neither knows what a number means;
//! see [`number`](super::number).

use thiserror::Error;

/// What was wrong with bytes from outside.
///
/// ```
/// use ugas_net::internals::wire::bits::{BitReader, WireError};
/// assert_eq!(BitReader::new(&[]).bits(3), Err(WireError::Truncated { needed: 3, left: 0 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// The data ends inside a value.
    #[error("the data ends early: {needed} more bits were expected, {left} are left")]
    Truncated {
        /// Bits the value needs.
        needed: u64,
        /// Bits there are.
        left: u64,
    },
    /// A count or a length is above its limit.
    #[error("{what}: more than the {max} allowed; the sender is damaged, hostile or of another release")]
    TooLong {
        /// What is too long.
        what: &'static str,
        /// The most that is allowed.
        max: u64,
    },
    /// A value no sender writes.
    #[error("{what}: the value is none a sound sender writes; the data is damaged or hostile")]
    BadValue {
        /// Which value.
        what: &'static str,
    },
}

/// Keeps the lowest `count` bits.
fn low(value: u64, count: u32) -> u64 {
    if count >= 64 { value } else { value & ((1 << count) - 1) }
}

/// Collects bits. Clearing keeps the memory.
///
/// ```
/// use ugas_net::internals::wire::bits::{BitReader, BitWriter};
/// let mut out = BitWriter::new();
/// out.bits(5, 3);
/// out.bit(true);
/// let mark = out.bit_len();
/// out.bits(u64::MAX, 64);
/// out.truncate(mark); // it did not fit
/// assert_eq!(out.finish(), [0b1101]);
/// assert_eq!(BitReader::new(out.finish()).bits(3), Ok(5));
/// ```
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    /// Whole words, then what [`BitWriter::finish`] added for its reader.
    bytes: Vec<u8>,
    /// Bytes that are whole words.
    whole: usize,
    /// Bits not yet stored.
    word: u64,
    /// How many; below 64.
    used: u32,
}

impl BitWriter {
    /// An empty one.
    pub fn new() -> BitWriter {
        BitWriter::default()
    }

    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.whole, self.word, self.used) = (0, 0, 0);
    }

    /// Bits written so far.
    pub fn bit_len(&self) -> usize {
        self.whole * 8 + self.used as usize
    }

    /// Bytes needed for the bits written so far.
    pub fn byte_len(&self) -> usize {
        self.bit_len().div_ceil(8)
    }

    /// Writes the lowest `count` bits of a value; at most 64.
    #[inline]
    pub fn bits(&mut self, value: u64, count: u32) {
        let count = count.min(64);
        let value = low(value, count);
        self.word |= value << self.used;
        let used = self.used + count;
        if used < 64 {
            self.used = used;
            return;
        }
        self.store();
        // The shift is 64 only where nothing is left over.
        self.word = value.checked_shr(64 - self.used).unwrap_or(0);
        self.used = used - 64;
    }

    /// Writes one bit.
    #[inline]
    pub fn bit(&mut self, value: bool) {
        self.bits(value as u64, 1);
    }

    /// Writes zeros up to the next whole byte.
    pub fn align(&mut self) {
        let over = self.used % 8;
        if over != 0 {
            self.bits(0, 8 - over);
        }
    }

    /// Writes bytes, wherever the writer stands.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.bits(word.iter().rev().fold(0, |all, &b| all << 8 | b as u64), 64);
        }
        for &byte in words.remainder() {
            self.bits(byte as u64, 8);
        }
    }

    /// Copies a run of bits from data written before. What the data does not have is an error and nothing is written.
    ///
    /// ```
    /// use ugas_net::internals::wire::bits::BitWriter;
    /// let mut out = BitWriter::new();
    /// out.append(&[0b1011_0000], 4, 4).unwrap();
    /// assert_eq!(out.finish(), [0b1011]);
    /// assert!(out.append(&[0], 4, 5).is_err());
    /// ```
    pub fn append(&mut self, from: &[u8], from_bit: usize, bit_count: usize) -> Result<(), WireError> {
        let mut from = BitReader::new(from);
        from.skip(from_bit as u64)?;
        from.need(bit_count as u64)?;
        let mut left = bit_count;
        while left > 0 {
            let count = left.min(64) as u32;
            self.bits(from.bits(count)?, count);
            left -= count as usize;
        }
        Ok(())
    }

    /// Takes back everything after the first `bit_len` bits.
    pub fn truncate(&mut self, bit_len: usize) {
        if bit_len >= self.bit_len() {
            return;
        }
        let whole = bit_len / 64 * 8;
        if whole < self.whole {
            self.word = word_at(&self.bytes, whole);
            self.whole = whole;
        }
        self.used = (bit_len % 64) as u32;
        self.word = low(self.word, self.used);
    }

    /// The bytes so far, the last filled up with zeros. Writing can go on afterwards.
    pub fn finish(&mut self) -> &[u8] {
        self.bytes.truncate(self.whole);
        let tail = self.word.to_le_bytes();
        self.bytes.extend_from_slice(&tail[..self.used.div_ceil(8) as usize]);
        &self.bytes
    }

    fn store(&mut self) {
        self.bytes.truncate(self.whole);
        self.bytes.extend_from_slice(&self.word.to_le_bytes());
        self.whole += 8;
    }
}

/// Eight bytes from `at` on; zeros after the end.
#[inline]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or(&[]);
    match rest.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => rest.iter().rev().fold(0, |all, &b| all << 8 | b as u64),
    }
}

/// Reads bits in the order they were written.
///
/// ```
/// use ugas_net::internals::wire::bits::BitReader;
/// let mut from = BitReader::new(&[0b1010_0110, 7]);
/// assert_eq!(from.bits(4), Ok(0b0110));
/// assert_eq!(from.left(), 12);
/// assert_eq!(from.slice(1), Ok(&[7][..])); // from the next whole byte on
/// ```
#[derive(Clone, Debug)]
pub struct BitReader<'d> {
    data: &'d [u8],
    /// The next bit.
    at: u64,
}

impl<'d> BitReader<'d> {
    /// From the first bit on.
    pub fn new(data: &'d [u8]) -> BitReader<'d> {
        BitReader { data, at: 0 }
    }

    /// Bits left, padding included.
    #[inline]
    pub fn left(&self) -> u64 {
        (self.data.len() as u64 * 8).saturating_sub(self.at)
    }

    /// Bits read.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// An error unless so many bits are left.
    #[inline]
    pub fn need(&self, bits: u64) -> Result<(), WireError> {
        if bits > self.left() { Err(WireError::Truncated { needed: bits, left: self.left() }) } else { Ok(()) }
    }

    /// Goes on so many bits.
    pub fn skip(&mut self, bits: u64) -> Result<(), WireError> {
        self.need(bits)?;
        self.at += bits;
        Ok(())
    }

    /// The next `count` bits; at most 64.
    #[inline]
    pub fn bits(&mut self, count: u32) -> Result<u64, WireError> {
        if count > 64 {
            return Err(WireError::TooLong { what: "a number's bits", max: 64 });
        }
        self.need(count as u64)?;
        let (byte, over) = ((self.at / 8) as usize, (self.at % 8) as u32);
        let mut value = word_at(self.data, byte) >> over;
        if over + count > 64 {
            let next = self.data.get(byte + 8).copied().unwrap_or(0);
            value |= (next as u64) << (64 - over);
        }
        self.at += count as u64;
        Ok(low(value, count))
    }

    /// The next bit.
    #[inline]
    pub fn bit(&mut self) -> Result<bool, WireError> {
        Ok(self.bits(1)? != 0)
    }

    /// How many ones come next, at most `most` (up to 32). Goes past them, and past the zero that ends fewer.
    ///
    /// ```
    /// use ugas_net::internals::wire::bits::BitReader;
    /// let mut from = BitReader::new(&[0b1111_0011]);
    /// assert_eq!([from.ones(7), from.ones(7)], [Ok(2), Ok(0)]);
    /// assert_eq!(from.ones(4), Ok(4));
    /// ```
    #[inline]
    pub fn ones(&mut self, most: u32) -> Result<u32, WireError> {
        let most = most.min(32);
        let word = word_at(self.data, (self.at / 8) as usize) >> (self.at % 8);
        let ones = word.trailing_ones().min(most);
        self.skip((ones + (ones < most) as u32) as u64)?;
        Ok(ones)
    }

    /// Goes to the next whole byte.
    pub fn align(&mut self) {
        self.at = self.at.next_multiple_of(8);
    }

    /// Adds the next `count` bytes to a list, wherever the reader stands. Nothing is added unless all are there.
    pub fn bytes(&mut self, count: usize, into: &mut Vec<u8>) -> Result<(), WireError> {
        self.need((count as u64).saturating_mul(8))?;
        into.reserve(count);
        for _ in 0..count / 8 {
            into.extend_from_slice(&self.bits(64)?.to_le_bytes());
        }
        for _ in 0..count % 8 {
            into.push(self.bits(8)? as u8);
        }
        Ok(())
    }

    /// Goes to the next whole byte and borrows `count` bytes from there.
    pub fn slice(&mut self, count: usize) -> Result<&'d [u8], WireError> {
        self.align();
        let from = (self.at / 8) as usize;
        let end = from.saturating_add(count);
        let short = WireError::Truncated { needed: (count as u64).saturating_mul(8), left: self.left() };
        let found = self.data.get(from..end).ok_or(short)?;
        self.at = end as u64 * 8;
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
