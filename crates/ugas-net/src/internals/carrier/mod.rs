//! One connection: packet numbers, acknowledgements, reliable messages in order, the round trip.
//!
//! Datagrams get lost, duplicated and reordered. A [`Carrier`] is one end of a connection. It reports which packets arrived, so
//! that state can be sent as deltas, and delivers reliable messages once and in order. Both ends have the same type.
//!
//! Not here: encryption, checksums and authentication (the transport), and the send rate (the session). Memory is bounded
//! whatever a peer sends; a rejected datagram is a typed error and counted.

mod header;
mod inbox;
mod outbox;
mod round_trip;
mod sent;

use thiserror::Error;
use ugas_core::SimTime;

use crate::types::{MAX_DATAGRAM, Tick};
use header::{ReceivedPackets, SHORT_REACH, Wrapped, widen};
use inbox::Inbox;
use outbox::Outbox;
use round_trip::RoundTrip;
use sent::Sent;

/// The longest reliable message.
pub const MAX_MESSAGE: usize = 64 * 1024;
/// The bytes of a fragment of a reliable message.
pub const FRAGMENT: usize = 480;
/// The most fragments in flight.
pub const WINDOW: u64 = 256;

/// The number of a packet; each side counts from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketNumber(pub u64);

/// The receipt of a queued message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Receipt(u64);

/// Limits and timeouts of one end of a connection. The two ends may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// The most bytes of own reliable messages without an ack, with 32 per fragment.
    pub max_unacked_bytes: usize,
    /// The most bytes of received reliable messages that were not taken, with 32 per message.
    pub max_unread_bytes: usize,
    /// The most bytes of reliable fragments in one datagram; the rest is for the payload.
    pub reliable_bytes_per_datagram: usize,
    /// The longest time without a packet; then an empty one is sent.
    pub keep_alive: SimTime,
    /// The shortest time without an ack after which a packet counts as lost.
    pub min_loss_timeout: SimTime,
    /// The longest time without an ack after which a packet counts as lost.
    pub max_loss_timeout: SimTime,
}

impl Default for ConnectionConfig {
    fn default() -> Self {
        ConnectionConfig {
            max_unacked_bytes: 256 * 1024,
            max_unread_bytes: 256 * 1024,
            reliable_bytes_per_datagram: 1000,
            keep_alive: SimTime::millis(500),
            min_loss_timeout: SimTime::millis(50),
            max_loss_timeout: SimTime::millis(1000),
        }
    }
}

/// Why a message was not queued or a datagram was rejected. Nothing but the counters changes then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CarrierError {
    /// A message, a datagram or a fragment in it.
    #[error("{length} bytes are too long, expected at most {limit}; split the message")]
    TooLong {
        /// What was found.
        length: usize,
        /// What is allowed.
        limit: usize,
    },
    /// The peer has not acknowledged enough of what was queued before.
    #[error("{held} bytes wait for acks and {more} more exceed the limit of {limit}; wait, or disconnect the peer")]
    BacklogFull {
        /// Bytes that wait already.
        held: usize,
        /// Bytes the message would add.
        more: usize,
        /// What may wait.
        limit: usize,
    },
    /// The datagram ends before what it announces.
    #[error("the datagram is truncated: expected {needed} bytes, found {left}")]
    Truncated {
        /// What was announced.
        needed: usize,
        /// What is there.
        left: usize,
    },
    /// Flags this version does not know.
    #[error("unknown flags {flags:#04x}; the peer has another protocol version or the datagram is malformed")]
    UnknownFlags {
        /// The first byte.
        flags: u8,
    },
    /// A section or fragment that says nothing.
    #[error("a reliable section or fragment is empty")]
    EmptySection,
    /// A shortened number without a reference.
    #[error("a shortened packet number or tick arrived before a full one")]
    NoReference,
    /// The packet was read before.
    #[error("packet {number} is a duplicate")]
    Duplicate {
        /// The packet.
        number: u64,
    },
    /// A newer tick was read before, so that what this one says is out of date.
    #[error(
        "packet {number} of tick {tick} is out of date: packet {newest_number} of tick {newest_tick} arrived before"
    )]
    Stale {
        /// The packet.
        number: u64,
        /// Its tick.
        tick: u32,
        /// The newest packet read.
        newest_number: u64,
        /// Its tick.
        newest_tick: u32,
    },
    /// The peer acknowledges what was never sent to it.
    #[error("the peer acknowledged packet {ack} (low 16 bits), but only {sent} were sent")]
    UnsentAcknowledged {
        /// Low half of the number.
        ack: u16,
        /// Packets sent so far.
        sent: u64,
    },
    /// A fragment beyond the window: a hostile peer, or received messages that are not taken.
    #[error(
        "fragment {found} is beyond the window that starts at {expected} (low 16 bits); take the messages that wait"
    )]
    FragmentAhead {
        /// Low half of the number expected next.
        expected: u16,
        /// Low half of the number found.
        found: u16,
    },
}

/// Received and rejected datagrams, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CarrierCounts {
    /// Datagrams received.
    pub read: u64,
    /// Too long, cut short, empty where something must be, or with unknown flags.
    pub malformed: u64,
    /// Duplicates.
    pub duplicate: u64,
    /// Older than the newest, or shortened without a reference.
    pub stale: u64,
    /// Acknowledging packets that were never sent.
    pub unsent: u64,
    /// With fragments beyond the window.
    pub ahead: u64,
    /// Reliable messages dropped because they were longer than [`MAX_MESSAGE`].
    pub overlong: u64,
}

impl CarrierCounts {
    fn count(&mut self, error: &CarrierError) {
        let counter = match error {
            CarrierError::TooLong { .. }
            | CarrierError::BacklogFull { .. }
            | CarrierError::Truncated { .. }
            | CarrierError::UnknownFlags { .. }
            | CarrierError::EmptySection => &mut self.malformed,
            CarrierError::NoReference | CarrierError::Stale { .. } => &mut self.stale,
            CarrierError::Duplicate { .. } => &mut self.duplicate,
            CarrierError::UnsentAcknowledged { .. } => &mut self.unsent,
            CarrierError::FragmentAhead { .. } => &mut self.ahead,
        };
        *counter += 1;
    }

    /// Returns all rejected datagrams.
    pub fn refused(&self) -> u64 {
        self.malformed + self.duplicate + self.stale + self.unsent + self.ahead
    }
}

/// A received datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened<'d> {
    /// The peer's number for it.
    pub number: PacketNumber,
    /// Its tick.
    pub tick: Tick,
    /// Its payload.
    pub payload: &'d [u8],
}

/// One end of a connection.
///
/// ```
/// use ugas_core::SimTime;
/// use ugas_net::internals::carrier::{Carrier, ConnectionConfig};
/// use ugas_net::types::Tick;
///
/// let (mut here, mut there) = (Carrier::new(ConnectionConfig::default()), Carrier::new(ConnectionConfig::default()));
/// here.push(b"welcome")?;
/// let mut datagram = Vec::new();
/// let number = here.write(SimTime::ZERO, Tick(1), &mut datagram, &mut |out, _left| out.extend_from_slice(b"state"));
///
/// let opened = there.read(SimTime::millis(20), &datagram)?;
/// assert_eq!((opened.tick, opened.payload), (Tick(1), &b"state"[..]));
/// assert_eq!(there.next_message().as_deref(), Some(&b"welcome"[..]));
///
/// there.write(SimTime::millis(20), Tick(2), &mut datagram, &mut |_, _| ()).expect("an answer is owed");
/// here.read(SimTime::millis(40), &datagram)?;
/// let mut verdicts = Vec::new();
/// here.take_verdicts(&mut verdicts);
/// assert_eq!(verdicts, [(number.unwrap(), true)]);
/// assert_eq!(here.round_trip(), Some(SimTime::millis(40)));
/// # Ok::<(), ugas_net::internals::carrier::CarrierError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Carrier {
    config: ConnectionConfig,
    /// The bytes of reliable fragments in the next datagrams.
    share: usize,
    sent: Sent,
    outbox: Outbox,
    inbox: Inbox,
    heard: Option<(ReceivedPackets, Tick)>,
    /// The same before the packet read last.
    before: Option<(ReceivedPackets, Tick)>,
    heard_at: Option<SimTime>,
    spoke_at: Option<SimTime>,
    answer_owed: bool,
    round_trip: RoundTrip,
    counts: CarrierCounts,
}

impl Carrier {
    /// Creates an end without packets.
    pub fn new(config: ConnectionConfig) -> Carrier {
        Carrier {
            config,
            share: config.reliable_bytes_per_datagram,
            sent: Sent::default(),
            outbox: Outbox::default(),
            inbox: Inbox::default(),
            heard: None,
            before: None,
            heard_at: None,
            spoke_at: None,
            answer_owed: false,
            round_trip: RoundTrip::default(),
            counts: CarrierCounts::default(),
        }
    }

    /// Queues a message that arrives once and in order, in as many fragments as it needs.
    ///
    /// Fails if it is longer than [`MAX_MESSAGE`] or too much waits already. [`Carrier::has_arrived`] returns whether it
    /// arrived.
    pub fn push(&mut self, message: &[u8]) -> Result<Receipt, CarrierError> {
        self.outbox.push(message, self.config.max_unacked_bytes).map(Receipt)
    }

    /// Returns whether a queued message was acknowledged, and with it all earlier ones.
    pub fn has_arrived(&self, message: Receipt) -> bool {
        self.outbox.first() >= message.0
    }

    /// Returns the bytes of own reliable messages without an ack, with 32 per fragment.
    pub fn queued(&self) -> usize {
        self.outbox.retained()
    }

    /// Limits the bytes of reliable fragments per datagram, below the configured limit, for payloads that need the space.
    pub fn set_share(&mut self, most: usize) {
        self.share = most.min(self.config.reliable_bytes_per_datagram);
    }

    /// Writes one datagram into `out`, whose earlier content is dropped: a header, reliable fragments that are new or
    /// due again, then what `payload` appends; its argument is the number of bytes left, which it must not exceed.
    ///
    /// Returns the packet's number, or `None` and an empty `out` if there is nothing to send: no fragment due, no payload, no
    /// ack due and no keep-alive due. Ticks must not decrease, since the peer drops packets older than the newest one.
    ///
    /// A payload that is too long is not sent; debug builds panic.
    pub fn write(
        &mut self,
        now: SimTime,
        tick: Tick,
        out: &mut Vec<u8>,
        payload: &mut dyn FnMut(&mut Vec<u8>, usize),
    ) -> Option<PacketNumber> {
        let number = self.sent.next();
        let known = self.sent.newest_arrived();
        let long = known.is_none_or(|(newest, newest_tick)| {
            number - newest > SHORT_REACH || u64::from(tick.0.abs_diff(newest_tick.0)) > SHORT_REACH
        });
        out.clear();
        header::write(out, number, tick, long, self.heard.map(|(heard, _)| heard));

        let room = (MAX_DATAGRAM - out.len()).min(self.share);
        let patience = self.patience();
        let fragments = self.outbox.write(number, now, patience, room, out, &mut self.sent.held);
        if fragments > 0 {
            header::mark_reliable(out);
        }

        let before = out.len();
        payload(out, MAX_DATAGRAM - before);
        let keeps = (before..=MAX_DATAGRAM).contains(&out.len());
        debug_assert!(keeps, "a payload must keep to the room it was given");
        if !keeps {
            out.resize(before, 0);
        }

        let asks = fragments > 0 || out.len() > before;
        let quiet = now - *self.spoke_at.get_or_insert(now);
        if !asks && !self.answer_owed && quiet < self.config.keep_alive {
            out.clear();
            return None;
        }
        self.sent.push(now, tick, asks, fragments, &mut self.outbox);
        self.spoke_at = Some(now);
        self.answer_owed = false;
        Some(PacketNumber(number))
    }

    /// Reads a datagram.
    ///
    /// A duplicate or a packet of an earlier tick than the newest is rejected and not acknowledged: its sender resends the
    /// content. After an error nothing but [`Carrier::counts`] has changed.
    pub fn read<'d>(&mut self, now: SimTime, datagram: &'d [u8]) -> Result<Opened<'d>, CarrierError> {
        let opened = self.open(now, datagram);
        match &opened {
            Ok(_) => self.counts.read += 1,
            Err(error) => self.counts.count(error),
        }
        opened
    }

    fn open<'d>(&mut self, now: SimTime, datagram: &'d [u8]) -> Result<Opened<'d>, CarrierError> {
        let (header, bytes) = header::read(datagram)?;
        let number = match header.number {
            Wrapped::Whole(number) => number,
            Wrapped::Low(low) => {
                widen(low, self.heard.map(|(heard, _)| heard.newest)).ok_or(CarrierError::NoReference)?
            }
        };
        let tick = match header.tick {
            Wrapped::Whole(tick) => Tick(tick),
            Wrapped::Low(low) => widen(low, self.heard.map(|(_, tick)| u64::from(tick.0)))
                .and_then(|tick| u32::try_from(tick).ok())
                .map(Tick)
                .ok_or(CarrierError::NoReference)?,
        };
        let heard = self.after(number, tick)?;
        let ack = header.ack.map(|(low, mask)| self.acknowledged(low, mask)).transpose()?;
        let payload = if header.reliable { self.inbox.check(bytes.0)? } else { bytes.0 };

        if let Some(ack) = ack {
            let patience = self.patience();
            if let Some(sample) = self.sent.heard(ack, now, patience, &mut self.outbox) {
                self.round_trip.measured(sample);
            }
        }
        if header.reliable {
            self.counts.overlong += self.inbox.keep(bytes.0, self.config.max_unread_bytes);
        }
        self.before = self.heard;
        self.heard = Some((heard, tick.max(self.heard.map_or(tick, |(_, newest)| newest))));
        self.heard_at = Some(now);
        self.answer_owed |= header.reliable || !payload.is_empty();
        Ok(Opened { number: PacketNumber(number), tick, payload })
    }

    /// Revokes the ack of the last packet, because its payload could not be read: its sender resends the content. Its reliable
    /// fragments stay; duplicates are recognised.
    pub fn disown(&mut self) {
        // The first packet is what numbers are counted from, read or not.
        if let Some(before) = self.before.take() {
            self.heard = Some(before);
        }
    }

    /// The received packets including this one, if it is accepted.
    fn after(&self, number: u64, tick: Tick) -> Result<ReceivedPackets, CarrierError> {
        let Some((ReceivedPackets { newest, mask }, newest_tick)) = self.heard else {
            // Packets before the first are missing, except those before number zero.
            return Ok(ReceivedPackets { newest: number, mask: before_zero(number) });
        };
        let stale = CarrierError::Stale { number, tick: tick.0, newest_number: newest, newest_tick: newest_tick.0 };
        if number > newest {
            if tick < newest_tick {
                return Err(stale);
            }
            let moved = number - newest;
            let mask = match moved {
                1..=31 => mask << moved | 1 << (moved - 1),
                32 => 1 << 31,
                _ => 0,
            };
            return Ok(ReceivedPackets { newest: number, mask: mask | before_zero(number) });
        }
        if number == newest {
            return Err(CarrierError::Duplicate { number });
        }
        let bit = match newest - number - 1 {
            back @ 0..32 => 1u32 << back,
            _ => return Err(stale),
        };
        if mask & bit != 0 {
            return Err(CarrierError::Duplicate { number });
        }
        if tick != newest_tick {
            return Err(stale);
        }
        Ok(ReceivedPackets { newest, mask: mask | bit })
    }

    fn acknowledged(&self, low: u16, mask: u32) -> Result<ReceivedPackets, CarrierError> {
        let sent = self.sent.next();
        let last = sent.checked_sub(1);
        match widen(low, last) {
            Some(newest) if newest < sent => Ok(ReceivedPackets { newest, mask }),
            _ => Err(CarrierError::UnsentAcknowledged { ack: low, sent }),
        }
    }

    /// Appends the results of own packets since the last call: arrived or lost. Every number is reported exactly once. A lost
    /// packet may still have arrived; an arrived one did.
    pub fn take_verdicts(&mut self, into: &mut Vec<(PacketNumber, bool)>) {
        into.append(&mut self.sent.verdicts);
    }

    /// Returns the next reliable message of the peer.
    pub fn next_message(&mut self) -> Option<Vec<u8>> {
        let (message, dropped) = self.inbox.take(self.config.max_unread_bytes);
        self.counts.overlong += dropped;
        message
    }

    /// Returns the smoothed round trip time, including the peer's time to answer.
    pub fn round_trip(&self) -> Option<SimTime> {
        self.round_trip.smoothed()
    }

    /// Returns the smoothed deviation of the round trip time.
    pub fn jitter(&self) -> SimTime {
        self.round_trip.variation()
    }

    /// Returns how many of a thousand own packets were lost recently, including those that arrived too late.
    pub fn lost_share(&self) -> u32 {
        self.sent.lost_share()
    }

    /// Returns whether every queued message was acknowledged.
    pub fn is_idle(&self) -> bool {
        self.outbox.is_empty()
    }

    /// Returns the number of the next packet.
    pub fn next_number(&self) -> PacketNumber {
        PacketNumber(self.sent.next())
    }

    /// When a datagram was last read.
    pub fn heard_at(&self) -> Option<SimTime> {
        self.heard_at
    }

    /// Bytes of the peer's fragments and messages held: never more than `max_unread_bytes` of the config, one message and the
    /// window.
    pub fn retained(&self) -> usize {
        self.inbox.retained()
    }

    /// What was read and refused so far.
    pub fn counts(&self) -> &CarrierCounts {
        &self.counts
    }

    fn patience(&self) -> SimTime {
        self.round_trip.patience(self.config.min_loss_timeout, self.config.max_loss_timeout)
    }
}

/// The bits that stand for packets before number zero.
fn before_zero(newest: u64) -> u32 {
    u32::try_from(newest).ok().and_then(|newest| u32::MAX.checked_shl(newest)).unwrap_or(0)
}
