//! The header of a datagram: its packet number, its tick, and acks of the peer's packets.
//!
//! A header usually has seven bytes: one byte of flags, and two bytes each for the packet number, the tick and the ack.
//! The ack has a mask of the 32 packets before it; a byte of the mask is written only if not all of its bits are set.
//! The packet number and the tick are truncated to their low 16 bits once the peer has acknowledged a recent packet.
//! Until then they are written in full, so that the short form is never ambiguous. If the newest received packet
//! arrived 250 ms ago or earlier, two bytes with this delay in milliseconds follow the ack, so that the peer can
//! subtract the delay from the round trip.

use super::CarrierError;
use crate::types::{MAX_DATAGRAM, Tick};
use ugas_core::SimTime;

const ACK: u8 = 1;
const RELIABLE: u8 = 1 << 1;
const MASK: u8 = 2;
const LONG: u8 = 1 << 6;
const DELAY: u8 = 1 << 7;
/// The shortest delay of an ack that is written.
pub(super) const MIN_ACK_DELAY: SimTime = SimTime::millis(250);
/// The number of bytes of a full packet number. With six bytes, sums of packet numbers do not overflow.
const NUMBER_BYTES: usize = 6;
/// The largest distance, in numbers and ticks, to the last acknowledged packet at which the short form is used.
pub(super) const SHORT_RANGE: u64 = 1 << 14;

/// The received packets: the newest one, and a mask of the 32 before it. Bit i is the packet i + 1 before the newest.
/// Numbers below zero count as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReceivedPackets {
    pub(super) newest: u64,
    pub(super) mask: u32,
}

/// A header as on the wire, before shortened numbers are restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) number: Wrapped<u64>,
    pub(super) tick: Wrapped<u32>,
    pub(super) ack: Option<(u16, u32)>,
    /// The time between the arrival of the newest acknowledged packet and the ack.
    pub(super) ack_delay: SimTime,
    pub(super) reliable: bool,
}

/// A counter as on the wire: in full, or its low 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapped<T> {
    Full(T),
    Low(u16),
}

/// The unread bytes of a datagram.
#[derive(Debug)]
pub(super) struct Bytes<'d>(pub(super) &'d [u8]);

impl<'d> Bytes<'d> {
    /// Takes bytes from the front; fails if there are fewer.
    pub(super) fn take(&mut self, count: usize) -> Result<&'d [u8], CarrierError> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or(CarrierError::Truncated { needed: count, left: self.0.len() })?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads a little-endian number of at most eight bytes.
    pub(super) fn number(&mut self, bytes: usize) -> Result<u64, CarrierError> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }
}

/// Writes a header; `ack_delay` is the time between the arrival of the newest received packet and now.
pub(super) fn write(
    out: &mut Vec<u8>,
    number: u64,
    tick: Tick,
    long: bool,
    received: Option<ReceivedPackets>,
    ack_delay: SimTime,
) {
    let start = out.len();
    out.push(if long { LONG } else { 0 });
    if long {
        out.extend_from_slice(&number.to_le_bytes()[..NUMBER_BYTES]);
        out.extend_from_slice(&tick.0.to_le_bytes());
    } else {
        out.extend_from_slice(&(number as u16).to_le_bytes());
        out.extend_from_slice(&(tick.0 as u16).to_le_bytes());
    }
    if let Some(received) = received {
        out[start] |= ACK;
        out.extend_from_slice(&(received.newest as u16).to_le_bytes());
        for (i, byte) in received.mask.to_le_bytes().into_iter().enumerate() {
            if byte != u8::MAX {
                out[start] |= 1 << (MASK as usize + i);
                out.push(byte);
            }
        }
        if ack_delay >= MIN_ACK_DELAY {
            out[start] |= DELAY;
            let millis = (ack_delay.0 / SimTime::millis(1).0).min(i64::from(u16::MAX)) as u16;
            out.extend_from_slice(&millis.to_le_bytes());
        }
    }
}

/// Sets the flag for reliable fragments in the header at the front of `out`.
pub(super) fn mark_reliable(out: &mut [u8]) {
    if let Some(flags) = out.first_mut() {
        *flags |= RELIABLE;
    }
}

/// Reads a header. Returns the bytes after it.
pub(super) fn read(datagram: &[u8]) -> Result<(Header, Bytes<'_>), CarrierError> {
    if datagram.len() > MAX_DATAGRAM {
        return Err(CarrierError::TooLong { length: datagram.len(), limit: MAX_DATAGRAM });
    }
    let mut bytes = Bytes(datagram);
    let flags = bytes.number(1)? as u8;
    let (number, tick) = if flags & LONG != 0 {
        (Wrapped::Full(bytes.number(NUMBER_BYTES)?), Wrapped::Full(bytes.number(4)? as u32))
    } else {
        (Wrapped::Low(bytes.number(2)? as u16), Wrapped::Low(bytes.number(2)? as u16))
    };
    let present = |i: usize| flags & (1 << (MASK as usize + i)) != 0;
    let mut ack_delay = SimTime::ZERO;
    let ack = if flags & ACK != 0 {
        let newest = bytes.number(2)? as u16;
        let mut mask = [u8::MAX; 4];
        for (i, byte) in mask.iter_mut().enumerate() {
            if present(i) {
                *byte = bytes.number(1)? as u8;
            }
        }
        if flags & DELAY != 0 {
            ack_delay = SimTime::millis(bytes.number(2)? as i64);
        }
        Some((newest, u32::from_le_bytes(mask)))
    } else if (0..4).any(present) || flags & DELAY != 0 {
        return Err(CarrierError::UnknownFlags { flags });
    } else {
        None
    };
    Ok((Header { number, tick, ack, ack_delay, reliable: flags & RELIABLE != 0 }, bytes))
}

/// Returns the value nearest to `near` whose low 16 bits are `low`; `None` if it is below zero or there is no
/// reference.
pub(super) fn widen(low: u16, near: Option<u64>) -> Option<u64> {
    let near = near?;
    near.checked_add_signed(i64::from(low.wrapping_sub(near as u16) as i16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_header_has_seven_bytes() {
        let mut out = Vec::new();
        write(
            &mut out,
            70_000,
            Tick(90_000),
            false,
            Some(ReceivedPackets { newest: 65_540, mask: u32::MAX }),
            SimTime::ZERO,
        );
        assert_eq!(out.len(), 7);
        let (header, rest) = read(&out).unwrap();
        assert_eq!(header.ack, Some((4, u32::MAX)));
        assert_eq!(header.number, Wrapped::Low(4464));
        assert!(rest.0.is_empty());
    }

    #[test]
    fn missing_packets_take_one_byte_per_eight() {
        let mask = !(1 << 3 | 1 << 30);
        let mut out = Vec::new();
        write(&mut out, 1, Tick(1), false, Some(ReceivedPackets { newest: 99, mask }), SimTime::ZERO);
        assert_eq!(out.len(), 9);
        assert_eq!(read(&out).unwrap().0.ack, Some((99, mask)));
    }

    #[test]
    fn the_long_form_has_full_numbers() {
        let mut out = Vec::new();
        write(
            &mut out,
            (1 << 48) - 1,
            Tick(u32::MAX),
            true,
            Some(ReceivedPackets { newest: 7, mask: 0 }),
            SimTime::ZERO,
        );
        assert_eq!(out.len(), 1 + 6 + 4 + 2 + 4);
        let (header, _) = read(&out).unwrap();
        assert_eq!((header.number, header.tick), (Wrapped::Full((1 << 48) - 1), Wrapped::Full(u32::MAX)));
    }

    #[test]
    fn a_long_delay_of_an_ack_takes_two_bytes() {
        let received = Some(ReceivedPackets { newest: 9, mask: u32::MAX });
        for (delay, written) in [(0, 0), (249, 0), (250, 250), (9_000, 9_000), (99_000, 65_535)] {
            let mut out = Vec::new();
            write(&mut out, 1, Tick(1), false, received, SimTime::millis(delay));
            assert_eq!(out.len(), if written == 0 { 7 } else { 9 });
            assert_eq!(read(&out).unwrap().0.ack_delay, SimTime::millis(written));
            for length in 0..out.len() {
                assert!(matches!(read(&out[..length]), Err(CarrierError::Truncated { .. })));
            }
        }
    }

    #[test]
    fn truncated_headers_and_masks_without_ack_are_rejected() {
        let mut out = Vec::new();
        write(&mut out, 5, Tick(5), true, Some(ReceivedPackets { newest: 7, mask: 0 }), SimTime::ZERO);
        for length in 0..out.len() {
            assert!(matches!(read(&out[..length]), Err(CarrierError::Truncated { .. })));
        }
        assert_eq!(read(&[1 << 2, 0, 0, 0, 0]).unwrap_err(), CarrierError::UnknownFlags { flags: 4 });
        assert_eq!(read(&[DELAY, 0, 0, 0, 0]).unwrap_err(), CarrierError::UnknownFlags { flags: 128 });
    }

    #[test]
    fn widening_takes_the_nearest_value_and_none_below_zero() {
        assert_eq!(widen(2, Some(65_535)), Some(65_538));
        assert_eq!(widen(65_535, Some(65_538)), Some(65_535));
        assert_eq!(widen(65_535, Some(3)), None);
        assert_eq!(widen(1, None), None);
    }
}
