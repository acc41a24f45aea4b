//! One connection: packet numbers, acknowledgements, reliable ordered messages, and the round trip time.
//!
//! Datagrams get lost, duplicated and reordered. A [`Carrier`] is one end of a connection. It reports which packets
//! arrived, so that state can be sent as deltas, and delivers reliable messages once and in order. Both ends use the
//! same type.
//!
//! The transport is responsible for encryption, checksums and authentication; the session is responsible for the send
//! rate. Memory is bounded regardless of what a peer sends. A rejected datagram is counted and reported as a typed
//! error.

mod header;
mod inbox;
mod outbox;
mod round_trip;
mod sent;

use thiserror::Error;
use ugas_core::SimTime;

use crate::types::{MAX_DATAGRAM, Tick};
use header::{ReceivedPackets, SHORT_RANGE, Wrapped, widen};
use inbox::Inbox;
use outbox::Outbox;
use round_trip::RoundTrip;
use sent::Sent;

/// The longest reliable message.
pub const MAX_MESSAGE: usize = 64 * 1024;
/// The maximum number of bytes in a fragment of a reliable message.
pub const FRAGMENT: usize = 480;
/// The maximum number of fragments in flight.
pub const WINDOW: u64 = 256;

/// The number of a packet; each side counts from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketNumber(pub u64);

/// The receipt of a queued message. [`Carrier::has_arrived`] returns whether the message of a receipt arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Receipt(u64);

/// Limits and timeouts of one end of a connection. The two ends may have different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// The maximum total size, in bytes, of reliable messages that wait to be sent or acknowledged. Each fragment
    /// counts 32 extra bytes.
    pub max_unacked_bytes: usize,
    /// The maximum total size, in bytes, of received reliable messages that the session has not read. Each message
    /// counts 32 extra bytes.
    pub max_unread_bytes: usize,
    /// The maximum number of bytes of reliable fragments in one datagram. The rest of the datagram is for the payload.
    pub reliable_bytes_per_datagram: usize,
    /// The time after which an empty packet is sent if no other packet was sent.
    pub keep_alive: SimTime,
    /// The lower limit of the loss timeout. A packet without an ack counts as lost after the loss timeout, which
    /// depends on the measured round trip time.
    pub min_loss_timeout: SimTime,
    /// The upper limit of the loss timeout.
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

/// Why a message was not queued or a datagram was rejected. After an error only the counters have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CarrierError {
    /// A message, datagram or fragment is too long.
    #[error("{length} bytes exceed the limit of {limit} bytes; split the message")]
    TooLong {
        /// Its length.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// The queue of unacknowledged messages is full.
    #[error(
        "{queued_bytes} bytes wait for acks and {more} more exceed the limit of {limit}; wait, or disconnect the peer"
    )]
    BacklogFull {
        /// Bytes in the queue.
        queued_bytes: usize,
        /// Bytes the message would add.
        more: usize,
        /// The limit of the queue.
        limit: usize,
    },
    /// The datagram ends early.
    #[error("the datagram is truncated: expected {needed} bytes, found {left}")]
    Truncated {
        /// The bytes expected.
        needed: usize,
        /// The bytes found.
        left: usize,
    },
    /// The first byte has unknown flags.
    #[error("unknown flags {flags:#04x}; the peer has another protocol version or the datagram is malformed")]
    UnknownFlags {
        /// The first byte.
        flags: u8,
    },
    /// A section or fragment is empty.
    #[error("a reliable section or fragment is empty")]
    EmptySection,
    /// A shortened number arrived before a full number.
    #[error("a shortened packet number or tick arrived before a full one")]
    NoReference,
    /// The packet was received before.
    #[error("packet {number} is a duplicate")]
    Duplicate {
        /// The packet.
        number: u64,
    },
    /// A packet of a newer tick was received before; this one is out of date.
    #[error(
        "packet {number} of tick {tick} is out of date: packet {newest_number} of tick {newest_tick} arrived earlier"
    )]
    Stale {
        /// The packet.
        number: u64,
        /// Its tick.
        tick: u32,
        /// The newest packet received.
        newest_number: u64,
        /// Its tick.
        newest_tick: u32,
    },
    /// The peer acknowledged a packet that was never sent.
    #[error("the peer acknowledged packet {ack} (low 16 bits), but only {sent} were sent")]
    UnsentAcknowledged {
        /// The low 16 bits of the number.
        ack: u16,
        /// The number of packets sent.
        sent: u64,
    },
    /// A fragment is beyond the window: the peer is hostile, or the session has not read the received messages.
    #[error(
        "fragment {found} is beyond the window that starts at {expected} (low 16 bits); read the received messages"
    )]
    FragmentAhead {
        /// The low 16 bits of the number expected next.
        expected: u16,
        /// The low 16 bits of the number found.
        found: u16,
    },
}

/// The numbers of received and rejected datagrams, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CarrierCounts {
    /// Datagrams received.
    pub read: u64,
    /// Malformed datagrams: too long, truncated, with an empty section, or with unknown flags.
    pub malformed: u64,
    /// Duplicate datagrams.
    pub duplicate: u64,
    /// Out-of-date datagrams, and datagrams with a shortened packet number or tick that arrived before a full one.
    pub stale: u64,
    /// Datagrams that acknowledge packets that were never sent.
    pub unsent: u64,
    /// Datagrams with fragments beyond the window.
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

    /// Returns the number of rejected datagrams.
    pub fn rejected(&self) -> u64 {
        self.malformed + self.duplicate + self.stale + self.unsent + self.ahead
    }
}

/// A received datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened<'d> {
    /// The number that the peer gave the packet.
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
/// there.write(SimTime::millis(20), Tick(2), &mut datagram, &mut |_, _| ()).expect("an ack is due");
/// here.read(SimTime::millis(40), &datagram)?;
/// let mut results = Vec::new();
/// here.take_packet_results(&mut results);
/// assert_eq!(results, [(number.unwrap(), true)]);
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
    /// The received packets and the newest tick among them.
    received: Option<(ReceivedPackets, Tick)>,
    /// The value of `received` before the last packet, for [`Carrier::revoke_ack`].
    before: Option<(ReceivedPackets, Tick)>,
    /// When the newest received packet arrived.
    newest_at: Option<SimTime>,
    last_received_at: Option<SimTime>,
    last_sent_at: Option<SimTime>,
    ack_due: bool,
    round_trip: RoundTrip,
    counts: CarrierCounts,
}

impl Carrier {
    /// Creates an end of a connection that has not sent or received packets.
    pub fn new(config: ConnectionConfig) -> Carrier {
        Carrier {
            config,
            share: config.reliable_bytes_per_datagram,
            sent: Sent::default(),
            outbox: Outbox::default(),
            inbox: Inbox::default(),
            received: None,
            before: None,
            newest_at: None,
            last_received_at: None,
            last_sent_at: None,
            ack_due: false,
            round_trip: RoundTrip::default(),
            counts: CarrierCounts::default(),
        }
    }

    /// Queues a message, which is split into fragments and arrives once and in order.
    ///
    /// Fails if the message is longer than [`MAX_MESSAGE`] or the queue is full. [`Carrier::has_arrived`] returns
    /// whether the message arrived.
    pub fn push(&mut self, message: &[u8]) -> Result<Receipt, CarrierError> {
        self.outbox.push(message, self.config.max_unacked_bytes).map(Receipt)
    }

    /// Returns whether a queued message and all earlier ones were acknowledged.
    pub fn has_arrived(&self, message: Receipt) -> bool {
        self.outbox.first() >= message.0
    }

    /// Returns the total size, in bytes, of reliable messages that wait to be sent or acknowledged. Each fragment
    /// counts 32 extra bytes.
    pub fn queued(&self) -> usize {
        self.outbox.retained()
    }

    /// Limits the bytes of reliable fragments per datagram to `most`, for payloads that need the space. The configured
    /// limit still applies.
    pub fn set_share(&mut self, most: usize) {
        self.share = most.min(self.config.reliable_bytes_per_datagram);
    }

    /// Clears `out` and writes one datagram into it: a header, reliable fragments that are new or to be resent, then
    /// the payload. `payload` must not append more bytes than its second argument allows.
    ///
    /// Returns the packet's number, or `None` and an empty `out` if nothing is due: no fragment, no payload, no ack and
    /// no keep-alive. The ticks of successive packets must not decrease, since the peer drops a packet whose tick is
    /// earlier than the newest received tick.
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
            number - newest > SHORT_RANGE || u64::from(tick.0.abs_diff(newest_tick.0)) > SHORT_RANGE
        });
        out.clear();
        let ack_delay = self.newest_at.map_or(SimTime::ZERO, |at| now - at);
        header::write(out, number, tick, long, self.received.map(|(received, _)| received), ack_delay);

        let room = (MAX_DATAGRAM - out.len()).min(self.share);
        let loss_timeout = self.loss_timeout();
        let fragments = self.outbox.write(number, now, loss_timeout, room, out, &mut self.sent.fragments);
        if fragments > 0 {
            header::mark_reliable(out);
        }

        let before = out.len();
        payload(out, MAX_DATAGRAM - before);
        let fits = (before..=MAX_DATAGRAM).contains(&out.len());
        debug_assert!(fits, "the payload is longer than the space left");
        if !fits {
            out.resize(before, 0);
        }

        let needs_ack = fragments > 0 || out.len() > before;
        let silence = now - *self.last_sent_at.get_or_insert(now);
        if !needs_ack && !self.ack_due && silence < self.config.keep_alive {
            out.clear();
            return None;
        }
        self.sent.push(now, tick, needs_ack, fragments, &mut self.outbox);
        self.last_sent_at = Some(now);
        self.ack_due = false;
        Some(PacketNumber(number))
    }

    /// Reads a datagram.
    ///
    /// A duplicate is rejected. A packet whose tick is earlier than the newest received tick is rejected and not
    /// acknowledged, so its sender resends the content. After an error only [`Carrier::counts`] has changed.
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
            Wrapped::Full(number) => number,
            Wrapped::Low(low) => {
                widen(low, self.received.map(|(received, _)| received.newest)).ok_or(CarrierError::NoReference)?
            }
        };
        let tick = match header.tick {
            Wrapped::Full(tick) => Tick(tick),
            Wrapped::Low(low) => widen(low, self.received.map(|(_, tick)| u64::from(tick.0)))
                .and_then(|tick| u32::try_from(tick).ok())
                .map(Tick)
                .ok_or(CarrierError::NoReference)?,
        };
        let received = self.with_received(number, tick)?;
        let ack = header.ack.map(|(low, mask)| self.resolve_ack(low, mask)).transpose()?;
        let payload = if header.reliable { self.inbox.check(bytes.0)? } else { bytes.0 };

        if let Some(ack) = ack {
            let loss_timeout = self.loss_timeout();
            if let Some(sample) = self.sent.on_ack(ack, now, loss_timeout, &mut self.outbox) {
                self.round_trip.add_sample(sample - header.ack_delay);
            }
        }
        if header.reliable {
            self.counts.overlong += self.inbox.keep(bytes.0, self.config.max_unread_bytes);
        }
        self.before = self.received;
        if self.received.is_none_or(|(before, _)| before.newest < received.newest) {
            self.newest_at = Some(now);
        }
        self.received = Some((received, tick.max(self.received.map_or(tick, |(_, newest)| newest))));
        self.last_received_at = Some(now);
        self.ack_due |= header.reliable || !payload.is_empty();
        Ok(Opened { number: PacketNumber(number), tick, payload })
    }

    /// Revokes the ack of the last packet, because its payload could not be read, so its sender resends the content.
    /// Its reliable fragments are kept; duplicates of them are recognised.
    pub fn revoke_ack(&mut self) {
        // The ack of the first packet stays: its number is the reference for shortened numbers.
        if let Some(before) = self.before.take() {
            self.received = Some(before);
        }
    }

    /// Returns the received packets including this one; fails if it is a duplicate or out of date.
    fn with_received(&self, number: u64, tick: Tick) -> Result<ReceivedPackets, CarrierError> {
        let Some((ReceivedPackets { newest, mask }, newest_tick)) = self.received else {
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

    /// Returns the packets that the peer acknowledged; fails if they were never sent.
    fn resolve_ack(&self, low: u16, mask: u32) -> Result<ReceivedPackets, CarrierError> {
        let sent = self.sent.next();
        let last = sent.checked_sub(1);
        match widen(low, last) {
            Some(newest) if newest < sent => Ok(ReceivedPackets { newest, mask }),
            _ => Err(CarrierError::UnsentAcknowledged { ack: low, sent }),
        }
    }

    /// Appends the results of own packets since the last call: arrived or lost. Every number is reported exactly once.
    /// A packet that is reported as lost may still have arrived; a packet that is reported as arrived did arrive.
    pub fn take_packet_results(&mut self, into: &mut Vec<(PacketNumber, bool)>) {
        into.append(&mut self.sent.results);
    }

    /// Returns the next reliable message of the peer.
    pub fn next_message(&mut self) -> Option<Vec<u8>> {
        let (message, dropped) = self.inbox.take(self.config.max_unread_bytes);
        self.counts.overlong += dropped;
        message
    }

    /// Returns the smoothed round trip time. It includes the peer's time to answer, unless that time is 250 ms or
    /// longer.
    pub fn round_trip(&self) -> Option<SimTime> {
        self.round_trip.smoothed()
    }

    /// Returns the smoothed deviation of the round trip time.
    pub fn jitter(&self) -> SimTime {
        self.round_trip.variation()
    }

    /// Returns how many of a thousand own packets were lost recently, counting packets that arrived too late as lost.
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

    /// Returns the number of the newest own packet that the peer acknowledged.
    pub fn newest_acked(&self) -> Option<PacketNumber> {
        self.sent.newest_arrived().map(|(number, _)| PacketNumber(number))
    }

    /// Returns when a datagram was last received.
    pub fn last_received_at(&self) -> Option<SimTime> {
        self.last_received_at
    }

    /// Returns the number of bytes of received fragments and messages that are kept: at most `max_unread_bytes` of the
    /// config, plus one message and the window.
    pub fn retained(&self) -> usize {
        self.inbox.retained()
    }

    /// Returns the counters.
    pub fn counts(&self) -> &CarrierCounts {
        &self.counts
    }

    /// Returns the time without an ack after which a packet counts as lost.
    fn loss_timeout(&self) -> SimTime {
        self.round_trip.loss_timeout(self.config.min_loss_timeout, self.config.max_loss_timeout)
    }
}

/// Returns the mask bits of packets before number zero, which count as received.
fn before_zero(newest: u64) -> u32 {
    u32::try_from(newest).ok().and_then(|newest| u32::MAX.checked_shl(newest)).unwrap_or(0)
}
