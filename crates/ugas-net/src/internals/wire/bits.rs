//! A writer and a reader of single bits.
//!
//! A delta consists mostly of flags and small numbers; encoded in whole bytes it would be twice as long. The writer is
//! reused for all packets and can be truncated when the last value does not fit. The reader checks every length before
//! it reads, so arbitrary bytes give values or an error. The first bit is the lowest bit of the first byte. The
//! encoding of numbers is in [`number`](super::number).

use thiserror::Error;

/// Why received bytes could not be decoded.
///
/// ```
/// use ugas_net::internals::wire::bits::{BitReader, WireError};
/// assert_eq!(BitReader::new(&[]).bits(3), Err(WireError::Truncated { needed: 3, left: 0 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// The data ends inside a value.
    #[error("the data ends early: expected {needed} more bits, found {left}")]
    Truncated {
        /// The bits that the value needs.
        needed: u64,
        /// The bits that are left.
        left: u64,
    },
    /// A count or a length is above its limit.
    #[error("{what}: more than the limit of {max}; the data is damaged or hostile, or the sender has another version")]
    TooLong {
        /// The name of the value.
        what: &'static str,
        /// The limit.
        max: u64,
    },
    /// A value that no valid sender writes.
    #[error("{what}: invalid value; the data is damaged or hostile")]
    BadValue {
        /// The name of the value.
        what: &'static str,
    },
}

/// Returns the lowest `count` bits.
fn low(value: u64, count: u32) -> u64 {
    if count >= 64 { value } else { value & ((1 << count) - 1) }
}

/// A writer of bits. [`BitWriter::clear`] keeps the memory.
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
    /// Complete words, then the bytes that [`BitWriter::finish`] added.
    bytes: Vec<u8>,
    /// The number of bytes in complete words.
    stored: usize,
    /// Bits that are not stored yet.
    word: u64,
    /// The number of these bits, below 64.
    used: u32,
}

impl BitWriter {
    /// Creates an empty writer.
    pub fn new() -> BitWriter {
        BitWriter::default()
    }

    /// Removes all bits and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.stored, self.word, self.used) = (0, 0, 0);
    }

    /// Returns the number of bits written.
    pub fn bit_len(&self) -> usize {
        self.stored * 8 + self.used as usize
    }

    /// Returns the number of bytes that the written bits need.
    pub fn byte_len(&self) -> usize {
        self.bit_len().div_ceil(8)
    }

    /// Writes the lowest `count` bits of a value, at most 64.
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
        // A shift by 64 gives `None`; nothing is left over then.
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

    /// Writes bytes without aligning them.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.bits(word.iter().rev().fold(0, |all, &b| all << 8 | b as u64), 64);
        }
        for &byte in words.remainder() {
            self.bits(byte as u64, 8);
        }
    }

    /// Copies a range of bits from other data. Fails without writing anything if the data ends before the range does.
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

    /// Removes everything after the first `bit_len` bits.
    pub fn truncate(&mut self, bit_len: usize) {
        if bit_len >= self.bit_len() {
            return;
        }
        let stored = bit_len / 64 * 8;
        if stored < self.stored {
            self.word = word_at(&self.bytes, stored);
            self.stored = stored;
        }
        self.used = (bit_len % 64) as u32;
        self.word = low(self.word, self.used);
    }

    /// Returns the written bytes, the last one padded with zeros. More can be written afterwards.
    pub fn finish(&mut self) -> &[u8] {
        self.bytes.truncate(self.stored);
        let tail = self.word.to_le_bytes();
        self.bytes.extend_from_slice(&tail[..self.used.div_ceil(8) as usize]);
        &self.bytes
    }

    fn store(&mut self) {
        self.bytes.truncate(self.stored);
        self.bytes.extend_from_slice(&self.word.to_le_bytes());
        self.stored += 8;
    }
}

/// Returns the eight bytes from `at` on, with zeros after the end.
#[inline]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or(&[]);
    match rest.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => rest.iter().rev().fold(0, |all, &b| all << 8 | b as u64),
    }
}

/// A reader of bits in the order they were written.
///
/// ```
/// use ugas_net::internals::wire::bits::BitReader;
/// let mut from = BitReader::new(&[0b1010_0110, 7]);
/// assert_eq!(from.bits(4), Ok(0b0110));
/// assert_eq!(from.left(), 12);
/// assert_eq!(from.slice(1), Ok(&[7][..])); // from the next stored byte on
/// ```
#[derive(Clone, Debug)]
pub struct BitReader<'d> {
    data: &'d [u8],
    /// The position of the next bit.
    at: u64,
}

impl<'d> BitReader<'d> {
    /// Creates a reader at the first bit.
    pub fn new(data: &'d [u8]) -> BitReader<'d> {
        BitReader { data, at: 0 }
    }

    /// Returns the number of bits left, including padding.
    #[inline]
    pub fn left(&self) -> u64 {
        (self.data.len() as u64 * 8).saturating_sub(self.at)
    }

    /// Returns the number of bits read.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Fails if fewer than `bits` bits are left.
    #[inline]
    pub fn need(&self, bits: u64) -> Result<(), WireError> {
        if bits > self.left() { Err(WireError::Truncated { needed: bits, left: self.left() }) } else { Ok(()) }
    }

    /// Skips bits.
    pub fn skip(&mut self, bits: u64) -> Result<(), WireError> {
        self.need(bits)?;
        self.at += bits;
        Ok(())
    }

    /// Reads the next `count` bits, at most 64.
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

    /// Reads the next bit.
    #[inline]
    pub fn bit(&mut self) -> Result<bool, WireError> {
        Ok(self.bits(1)? != 0)
    }

    /// Reads a unary number: consecutive ones, at most `most` (up to 32), and the zero that ends them if there are
    /// fewer. Returns the number of ones.
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

    /// Skips to the next whole byte.
    pub fn align(&mut self) {
        self.at = self.at.next_multiple_of(8);
    }

    /// Appends the next `count` bytes, which need not be aligned, to a list. Fails without appending if fewer bytes are
    /// left.
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

    /// Skips to the next whole byte and borrows `count` bytes from there.
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
