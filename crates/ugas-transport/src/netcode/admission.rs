//! Decides which packets from unknown addresses netcode may process.
//!
//! Netcode stores data for every valid request, so each request is checked first:
//!
//! - over UDP, a request without a cookie does not prove the address of its sender. A server with a key decrypts a
//!   limited number of such requests per second; a server without a key decrypts none. Both answer the rest with a
//!   cookie;
//! - each address may start a limited number of connections per second;
//! - the expiry and the timeout in a token that a client created itself are replaced.
//!
//! An address whose request netcode accepted is pending until it becomes a peer or [`PENDING_LIFETIME`] has passed.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use super::MAX_PACKET;
use super::cookie::{COOKIE_PACKET, Cookies};
use super::packet::{COOKIE_LENGTH, COOKIE_REQUEST_KIND, REJOIN_KIND, REJOIN_LENGTH, REQUEST_LENGTH, is_well_formed};
use super::request::{OpenRequest, SessionKey};
use super::ticket::{Ticket, Tickets, split};
use crate::addresses::AddressRates;
use crate::bucket::Bucket;
use crate::counts::Counts;
use crate::limits::Limits;
use crate::token::{Token, TransportKind};

/// The time from the request of a client until it must have answered the challenge.
const PENDING_LIFETIME: Duration = Duration::from_secs(20);
/// The maximum number of packets per second that a pending address may send. A netcode client sends four.
const PENDING_RATE: u32 = 20;
/// The maximum number of pending addresses, the same as in netcode.
const MAX_PENDING: usize = 4_096;

/// A decrypted connection request that passed the checks. Netcode processes it unless the listener refuses it.
#[derive(Clone)]
pub(crate) struct Candidate {
    pub(crate) client: u64,
    pub(crate) ticket: Ticket,
    /// Whether the player was connected before and proved it with its ticket.
    pub(crate) is_rejoin: bool,
    /// The expiry that is passed to netcode.
    expiry: u64,
    /// The key of the request as it was received; `received_tag` is its authentication code. Both serve to recognise
    /// repetitions of the request.
    sealed_with: SessionKey,
    received_tag: [u8; 16],
}

/// What the listener must do with a packet from an address that is not a peer.
pub(crate) enum Screened {
    /// Netcode processes the packet. The length is that of the packet in the buffer, which may have been rewritten.
    Process(usize),
    /// Netcode processes the rewritten request in the buffer, which has this length, unless the listener refuses it.
    Request(usize, Box<Candidate>),
    /// The sender receives a cookie.
    Cookie([u8; COOKIE_PACKET]),
    /// The packet is invalid; a connection that sent it is closed.
    Invalid,
    /// The packet exceeds a limit.
    Dropped,
}

pub(crate) struct Admission {
    protocol: u64,
    key: SessionKey,
    is_open: bool,
    /// The earliest expiry that netcode accepts, in seconds.
    earliest_expiry: u64,
    now: Duration,
    cookies: Cookies,
    without_cookie: Bucket,
    cookie_rate: Bucket,
    rates: AddressRates,
    pending: BTreeMap<(TransportKind, SocketAddr), Pending>,
    pub(crate) tickets: Tickets,
}

struct Pending {
    candidate: Candidate,
    bucket: Bucket,
    since: Duration,
}

impl Admission {
    pub(crate) fn new(protocol: u64, key: SessionKey, is_open: bool, earliest: Duration, limits: &Limits) -> Admission {
        let rate = |per_second| Bucket::new(per_second, per_second);
        Admission {
            protocol,
            key,
            is_open,
            earliest_expiry: earliest.as_secs(),
            now: Duration::ZERO,
            cookies: Cookies::new(),
            without_cookie: rate(limits.unknown_packets_per_second),
            cookie_rate: rate(limits.cookies_per_second),
            rates: AddressRates::new(limits.connections_per_second, limits.connection_burst),
            pending: BTreeMap::new(),
            tickets: Tickets::default(),
        }
    }

    /// Advances the time. `now` is the time since the Unix epoch.
    pub(crate) fn advance(&mut self, elapsed: Duration, now: Duration) {
        self.now = now;
        self.without_cookie.refill(elapsed);
        self.cookie_rate.refill(elapsed);
        self.rates.advance(elapsed);
        self.tickets.advance(elapsed);
        self.pending.retain(|_, pending| {
            pending.bucket.refill(elapsed);
            now.saturating_sub(pending.since) <= PENDING_LIFETIME
        });
    }

    /// Checks a packet from an address that is not a peer, and decides what the listener must do with it.
    pub(crate) fn screen(
        &mut self,
        kind: TransportKind,
        who: SocketAddr,
        buffer: &mut [u8; MAX_PACKET],
        length: usize,
        counts: &mut Counts,
    ) -> Screened {
        if let Some(pending) = self.pending.get_mut(&(kind, who)) {
            if !pending.bucket.take() {
                counts.too_fast += 1;
                return Screened::Dropped;
            }
            return self.screen_pending(kind, who, buffer, length);
        }
        match kind {
            TransportKind::Udp => self.screen_udp(who, buffer, length, counts),
            // The address is genuine, and the socket counted the connection.
            TransportKind::WebSocket | TransportKind::WebTransport => self.screen_request(buffer, length, None),
        }
    }

    fn screen_udp(
        &mut self,
        who: SocketAddr,
        buffer: &mut [u8; MAX_PACKET],
        length: usize,
        counts: &mut Counts,
    ) -> Screened {
        let now = self.now.as_secs();
        let (cookie, rest) = match split_cookie(buffer, length) {
            Some((cookie, rest)) => (Some(cookie), rest),
            None => (None, length),
        };
        if !has_length_of_request(buffer[if cookie.is_some() { length - rest } else { 0 }], rest) {
            return Screened::Invalid;
        }
        let issued = cookie.and_then(|cookie| self.cookies.verify(&cookie, who, now));
        if issued.is_some() {
            if !self.rates.take(who.ip()) {
                counts.too_many += 1;
                return Screened::Dropped;
            }
            buffer.copy_within(length - rest..length, 0);
            return self.screen_request(buffer, rest, issued);
        }
        if cookie.is_none() && !self.is_open && self.without_cookie.take() {
            return self.screen_request(buffer, rest, None);
        }
        if !self.cookie_rate.take() {
            counts.unknown += 1;
            return Screened::Dropped;
        }
        counts.cookies += 1;
        Screened::Cookie(self.cookies.issue(who, now))
    }

    /// Decrypts a request. `issued` is the time of its cookie: repetitions of a request have the same cookie and must
    /// get the same expiry, because netcode would treat a request with another expiry as another token.
    fn screen_request(&mut self, buffer: &mut [u8; MAX_PACKET], length: usize, issued: Option<u64>) -> Screened {
        let packet = &buffer[..length];
        let is_rejoin = packet.first() == Some(&REJOIN_KIND);
        let (opened, ticket, sealed_with) = if is_rejoin {
            let Some((opened, ticket)) = self.tickets.redeem(packet, self.protocol) else { return Screened::Invalid };
            let key = ticket.key;
            (opened, ticket, key)
        } else {
            let Some(opened) = OpenRequest::open(packet, self.protocol, &self.key) else { return Screened::Invalid };
            if !self.is_open && opened.expiry <= self.now.as_secs() {
                return Screened::Invalid;
            }
            let ticket = Ticket::new(&opened);
            (opened, ticket, self.key)
        };
        let own_expiry = issued.unwrap_or(self.now.as_secs()) + PENDING_LIFETIME.as_secs();
        let is_rewritten = is_rejoin || self.is_open;
        let candidate = Candidate {
            client: opened.client(),
            is_rejoin,
            expiry: if is_rewritten { own_expiry.max(self.earliest_expiry) } else { opened.expiry },
            sealed_with,
            received_tag: opened.tag,
            ticket,
        };
        match self.rewrite(opened, &candidate, buffer) {
            Some(length) => Screened::Request(length, Box::new(candidate)),
            None => Screened::Invalid,
        }
    }

    /// Checks a packet from a pending address. The address may repeat its request, but may not send a different one.
    fn screen_pending(
        &mut self,
        kind: TransportKind,
        who: SocketAddr,
        buffer: &mut [u8; MAX_PACKET],
        length: usize,
    ) -> Screened {
        let rest = split_cookie(buffer, length).map_or(length, |(_, rest)| rest);
        buffer.copy_within(length - rest..length, 0);
        if buffer[0] & 15 != 0 && buffer[0] != REJOIN_KIND {
            return if is_well_formed(&buffer[..rest]) { Screened::Process(rest) } else { Screened::Invalid };
        }
        let packet = &buffer[..rest];
        let request = split(packet).map_or(packet, |(_, request)| request);
        let Some(pending) = self.pending.get(&(kind, who)) else { return Screened::Invalid };
        let candidate = pending.candidate.clone();
        match OpenRequest::open(request, self.protocol, &candidate.sealed_with) {
            Some(opened) if opened.tag == candidate.received_tag => match self.rewrite(opened, &candidate, buffer) {
                Some(length) => Screened::Process(length),
                None => Screened::Invalid,
            },
            _ => Screened::Invalid,
        }
    }

    /// Writes the request that is passed to netcode. Returns its length.
    fn rewrite(&self, mut opened: OpenRequest, candidate: &Candidate, buffer: &mut [u8]) -> Option<usize> {
        if candidate.is_rejoin {
            opened.set_user_data(&candidate.ticket.user_data);
        }
        if candidate.is_rejoin || self.is_open {
            opened.set_timeout(Token::TIMEOUT.as_secs() as i32);
        }
        let request = opened.seal(self.protocol, &self.key, candidate.expiry)?;
        buffer.get_mut(..REQUEST_LENGTH)?.copy_from_slice(&request);
        Some(REQUEST_LENGTH)
    }

    /// Records that netcode accepted a request and sent a challenge.
    pub(crate) fn accepted(&mut self, kind: TransportKind, who: SocketAddr, candidate: Candidate) {
        if self.pending.len() < MAX_PENDING {
            let bucket = Bucket::new(PENDING_RATE, PENDING_RATE);
            self.pending.insert((kind, who), Pending { candidate, bucket, since: self.now });
        }
    }

    /// Records that a pending address became a peer. Stores the player's ticket.
    pub(crate) fn joined(&mut self, kind: TransportKind, who: SocketAddr) {
        if let Some(pending) = self.pending.remove(&(kind, who)) {
            self.tickets.insert(pending.candidate.client, pending.candidate.ticket);
        }
    }

    /// Records that the connection of a pending address ended.
    pub(crate) fn lost(&mut self, kind: TransportKind, who: SocketAddr) {
        self.pending.remove(&(kind, who));
    }

    /// Records that a peer was confirmed ([`Listener::confirm`](crate::Listener::confirm)): its request no longer
    /// counts toward the rate limit of its address.
    pub(crate) fn trusted(&mut self, who: SocketAddr) {
        self.rates.give_back(who.ip());
    }
}

/// Splits a packet with a cookie. Returns the cookie and the length of the rest.
fn split_cookie(buffer: &[u8], length: usize) -> Option<([u8; COOKIE_LENGTH], usize)> {
    let (&COOKIE_REQUEST_KIND, rest) = buffer.get(..length)?.split_first()? else { return None };
    let (cookie, request) = rest.split_first_chunk()?;
    (!request.is_empty()).then_some((*cookie, request.len()))
}

/// Returns whether a packet with this first byte and length can be a request. Everything else is dropped unread.
fn has_length_of_request(first: u8, length: usize) -> bool {
    match first {
        0 => length == REQUEST_LENGTH,
        REJOIN_KIND => length == REJOIN_LENGTH,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn admission(is_open: bool) -> Admission {
        Admission::new(1, [7; 32], is_open, Duration::ZERO, &Limits::default())
    }

    proptest! {
        #[test]
        fn arbitrary_packets_are_screened_without_a_panic(
            first in 0u8..16,
            length in prop_oneof![
                0usize..=MAX_PACKET,
                Just(REQUEST_LENGTH),
                Just(REJOIN_LENGTH),
                Just(COOKIE_PACKET + REQUEST_LENGTH),
                Just(COOKIE_PACKET + REJOIN_LENGTH),
            ],
            second in 0u8..16,
            byte in any::<u8>(),
            is_open in any::<bool>(),
        ) {
            let mut admission = admission(is_open);
            let who = SocketAddr::from(([127, 0, 0, 1], 1));
            for kind in TransportKind::ALL {
                let mut buffer = [byte; MAX_PACKET];
                (buffer[0], buffer[COOKIE_PACKET]) = (first, second);
                match admission.screen(kind, who, &mut buffer, length, &mut Counts::default()) {
                    Screened::Cookie(_) => {
                        prop_assert!(kind == TransportKind::Udp && length > COOKIE_PACKET, "no amplification");
                    }
                    Screened::Invalid | Screened::Dropped => {}
                    Screened::Process(_) | Screened::Request(..) => prop_assert!(false, "nothing here is valid"),
                }
            }
        }
    }

    /// A server without a key stores nothing for a request without a cookie, and little for one with a cookie.
    #[test]
    fn cookies_above_the_rate_are_not_sent() {
        let limits = Limits { cookies_per_second: 3, ..Limits::default() };
        let mut admission = Admission::new(1, [0; 32], true, Duration::ZERO, &limits);
        let mut counts = Counts::default();
        let mut sent = 0;
        for port in 1..=10 {
            let mut buffer = [0; MAX_PACKET];
            let who = SocketAddr::from(([127, 0, 0, 1], port));
            let screened = admission.screen(TransportKind::Udp, who, &mut buffer, REQUEST_LENGTH, &mut counts);
            sent += usize::from(matches!(screened, Screened::Cookie(_)));
        }
        assert_eq!((sent, counts.cookies, counts.unknown), (3, 3, 7));
        assert!(admission.pending.is_empty());
    }
}
