//! The header of a datagram: its number and tick, and acks of the peer's packets.
//!
//! Seven bytes in steady use: flags, number, tick and acknowledgement, two bytes each except the flags. The 32 bits
//! behind the acknowledgement cost a byte only for each eight of them that are not all set. Until the peer is known to
//! have heard something recent, number and tick are written in full, so that the short form is never ambiguous.

use super::CarrierError;
use crate::types::{MAX_DATAGRAM, Tick};

const ACK: u8 = 1;
const RELIABLE: u8 = 1 << 1;
const MASK: u8 = 2;
const LONG: u8 = 1 << 6;
const UNUSED: u8 = 1 << 7;
/// Numbers are written in six bytes at most, so that sums of them never overflow.
const NUMBER_BYTES: usize = 6;
/// The short form is used while the peer is known to be no further behind than this.
pub(super) const SHORT_REACH: u64 = 1 << 14;

/// What was heard from the other side: its newest packet and which of the 32 before it. Bit i stands for the packet
/// i + 1 before the newest; what was never sent counts as heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReceivedPackets {
    pub(super) newest: u64,
    pub(super) mask: u32,
}

/// A header as it stands on the wire, before the reader knows what its short numbers mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) number: Wrapped<u64>,
    pub(super) tick: Wrapped<u32>,
    pub(super) ack: Option<(u16, u32)>,
    pub(super) reliable: bool,
}

/// A counter as written: whole, or only its low half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapped<T> {
    Whole(T),
    Low(u16),
}

/// Takes bytes from the front of a datagram; refuses to take more than there are.
#[derive(Debug)]
pub(super) struct Bytes<'d>(pub(super) &'d [u8]);

impl<'d> Bytes<'d> {
    pub(super) fn take(&mut self, count: usize) -> Result<&'d [u8], CarrierError> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or(CarrierError::Truncated { needed: count, left: self.0.len() })?;
        self.0 = rest;
        Ok(taken)
    }

    /// A little-endian number of so many bytes, eight at most.
    pub(super) fn number(&mut self, bytes: usize) -> Result<u64, CarrierError> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }
}

pub(super) fn write(out: &mut Vec<u8>, number: u64, tick: Tick, long: bool, heard: Option<ReceivedPackets>) {
    let start = out.len();
    out.push(if long { LONG } else { 0 });
    if long {
        out.extend_from_slice(&number.to_le_bytes()[..NUMBER_BYTES]);
        out.extend_from_slice(&tick.0.to_le_bytes());
    } else {
        out.extend_from_slice(&(number as u16).to_le_bytes());
        out.extend_from_slice(&(tick.0 as u16).to_le_bytes());
    }
    if let Some(heard) = heard {
        out[start] |= ACK;
        out.extend_from_slice(&(heard.newest as u16).to_le_bytes());
        for (i, byte) in heard.mask.to_le_bytes().into_iter().enumerate() {
            if byte != u8::MAX {
                out[start] |= 1 << (MASK as usize + i);
                out.push(byte);
            }
        }
    }
}

/// Says in a header already written at the front of `out` that reliable fragments follow.
pub(super) fn mark_reliable(out: &mut [u8]) {
    if let Some(flags) = out.first_mut() {
        *flags |= RELIABLE;
    }
}

pub(super) fn read(datagram: &[u8]) -> Result<(Header, Bytes<'_>), CarrierError> {
    if datagram.len() > MAX_DATAGRAM {
        return Err(CarrierError::TooLong { length: datagram.len(), limit: MAX_DATAGRAM });
    }
    let mut bytes = Bytes(datagram);
    let flags = bytes.number(1)? as u8;
    if flags & UNUSED != 0 {
        return Err(CarrierError::UnknownFlags { flags });
    }
    let (number, tick) = if flags & LONG != 0 {
        (Wrapped::Whole(bytes.number(NUMBER_BYTES)?), Wrapped::Whole(bytes.number(4)? as u32))
    } else {
        (Wrapped::Low(bytes.number(2)? as u16), Wrapped::Low(bytes.number(2)? as u16))
    };
    let present = |i: usize| flags & (1 << (MASK as usize + i)) != 0;
    let ack = if flags & ACK != 0 {
        let newest = bytes.number(2)? as u16;
        let mut mask = [u8::MAX; 4];
        for (i, byte) in mask.iter_mut().enumerate() {
            if present(i) {
                *byte = bytes.number(1)? as u8;
            }
        }
        Some((newest, u32::from_le_bytes(mask)))
    } else if (0..4).any(present) {
        return Err(CarrierError::UnknownFlags { flags });
    } else {
        None
    };
    Ok((Header { number, tick, ack, reliable: flags & RELIABLE != 0 }, bytes))
}

/// The value nearest to `near` whose low half is `low`; `None` below zero or where nothing is known to be near.
pub(super) fn widen(low: u16, near: Option<u64>) -> Option<u64> {
    let near = near?;
    near.checked_add_signed(i64::from(low.wrapping_sub(near as u16) as i16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_in_steady_use_is_seven_bytes() {
        let mut out = Vec::new();
        write(&mut out, 70_000, Tick(90_000), false, Some(ReceivedPackets { newest: 65_540, mask: u32::MAX }));
        assert_eq!(out.len(), 7);
        let (header, rest) = read(&out).unwrap();
        assert_eq!(header.ack, Some((4, u32::MAX)));
        assert_eq!(header.number, Wrapped::Low(4464));
        assert!(rest.0.is_empty());
    }

    #[test]
    fn a_hole_costs_one_byte_for_each_eight_packets() {
        let mask = !(1 << 3 | 1 << 30);
        let mut out = Vec::new();
        write(&mut out, 1, Tick(1), false, Some(ReceivedPackets { newest: 99, mask }));
        assert_eq!(out.len(), 9);
        assert_eq!(read(&out).unwrap().0.ack, Some((99, mask)));
    }

    #[test]
    fn the_long_form_holds_everything() {
        let mut out = Vec::new();
        write(&mut out, (1 << 48) - 1, Tick(u32::MAX), true, Some(ReceivedPackets { newest: 7, mask: 0 }));
        assert_eq!(out.len(), 1 + 6 + 4 + 2 + 4);
        let (header, _) = read(&out).unwrap();
        assert_eq!((header.number, header.tick), (Wrapped::Whole((1 << 48) - 1), Wrapped::Whole(u32::MAX)));
    }

    #[test]
    fn every_cut_is_told_and_mask_without_acknowledgement_is_refused() {
        let mut out = Vec::new();
        write(&mut out, 5, Tick(5), true, Some(ReceivedPackets { newest: 7, mask: 0 }));
        for length in 0..out.len() {
            assert!(matches!(read(&out[..length]), Err(CarrierError::Truncated { .. })));
        }
        assert_eq!(read(&[1 << 2, 0, 0, 0, 0]).unwrap_err(), CarrierError::UnknownFlags { flags: 4 });
        assert_eq!(read(&[UNUSED]).unwrap_err(), CarrierError::UnknownFlags { flags: 128 });
    }

    #[test]
    fn the_nearest_value_is_taken_and_none_below_zero() {
        assert_eq!(widen(2, Some(65_535)), Some(65_538));
        assert_eq!(widen(65_535, Some(65_538)), Some(65_535));
        assert_eq!(widen(65_535, Some(3)), None);
        assert_eq!(widen(1, None), None);
    }
}
