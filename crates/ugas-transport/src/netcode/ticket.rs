//! Session tickets: a player that was connected can connect again at once, for example after a crash, although its
//! token is used up and its old connection has not timed out.
//!
//! A ticket is the key of the player's first session, which only the player and the server know. The player encrypts a
//! new request with this key ([`Connector::rejoin`](crate::Connector::rejoin)). Each request has new session keys and a
//! time; the server accepts each time once, so an attacker cannot use a recorded request.

use std::collections::BTreeMap;
use std::time::Duration;

use renetcode2::NETCODE_USER_DATA_BYTES;

use super::packet::{REJOIN_KIND, REJOIN_LENGTH};
use super::request::{OpenRequest, SessionKey};
use crate::transport::CloseReason;

/// The time for which a player whose connection was lost can use its ticket.
const LIFETIME: Duration = Duration::from_secs(120);
/// The maximum number of tickets of players that are not connected; the oldest is removed first.
const MAX_UNUSED: usize = 1_024;

/// The ticket of one player.
#[derive(Clone)]
pub(crate) struct Ticket {
    pub(crate) key: SessionKey,
    pub(crate) user_data: Box<[u8; NETCODE_USER_DATA_BYTES]>,
    /// When the player's token expires. `tag` is the authentication code of the token.
    pub(crate) expiry: u64,
    pub(crate) tag: [u8; 16],
    /// The time in the last request that was accepted.
    last_time: u64,
    /// When the player's connection was lost.
    lost_at: Option<Duration>,
}

impl Ticket {
    /// Creates the ticket of a player that connects with a token.
    pub(crate) fn new(request: &OpenRequest) -> Ticket {
        Ticket {
            key: request.rejoin_key(),
            user_data: Box::new(*request.user_data()),
            expiry: request.expiry,
            tag: request.tag,
            last_time: 0,
            lost_at: None,
        }
    }
}

/// The tickets of connected players and of players whose connection was lost.
#[derive(Default)]
pub(crate) struct Tickets {
    now: Duration,
    by_client: BTreeMap<u64, Ticket>,
}

impl Tickets {
    pub(crate) fn advance(&mut self, elapsed: Duration) {
        self.now = self.now.saturating_add(elapsed);
        let now = self.now;
        self.by_client.retain(|_, ticket| ticket.lost_at.is_none_or(|lost_at| now - lost_at <= LIFETIME));
    }

    /// Stores the ticket of a connected player.
    pub(crate) fn insert(&mut self, client: u64, ticket: Ticket) {
        self.by_client.insert(client, Ticket { lost_at: None, ..ticket });
    }

    /// Records that a player is not connected any more. The ticket stays valid unless one side ended the connection on
    /// purpose.
    pub(crate) fn disconnected(&mut self, client: u64, reason: CloseReason) {
        let is_kept = match reason {
            CloseReason::TimedOut | CloseReason::ConnectionLost | CloseReason::Replaced => true,
            CloseReason::ByClient
            | CloseReason::ByServer
            | CloseReason::Unconfirmed
            | CloseReason::Rejected
            | CloseReason::NoAnswer
            | CloseReason::PortClosed
            | CloseReason::Expired => false,
        };
        if !is_kept {
            self.by_client.remove(&client);
        } else if let Some(ticket) = self.by_client.get_mut(&client) {
            ticket.lost_at = Some(self.now);
            let unused = self.by_client.iter().filter_map(|(&client, ticket)| Some((ticket.lost_at?, client)));
            let (count, oldest) = unused.fold((0, None), |(count, oldest), next| {
                (count + 1, Some(oldest.map_or(next, |oldest| next.min(oldest))))
            });
            if let Some((_, oldest)) = oldest.filter(|_| count > MAX_UNUSED) {
                self.by_client.remove(&oldest);
            }
        }
    }

    /// Returns the ticket of a player.
    pub(crate) fn get(&self, client: u64) -> Option<&Ticket> {
        self.by_client.get(&client)
    }

    /// Decrypts a request to connect again. Returns it, with the ticket, if the ticket is valid and the request is new.
    pub(crate) fn redeem(&mut self, packet: &[u8], protocol: u64) -> Option<(OpenRequest, Ticket)> {
        let (client, request) = split(packet)?;
        let ticket = self.by_client.get_mut(&client)?;
        let opened = OpenRequest::open(request, protocol, &ticket.key)?;
        let time = opened.user_data().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        if opened.client() != client || time <= ticket.last_time {
            return None;
        }
        ticket.last_time = time;
        Some((opened, ticket.clone()))
    }
}

/// Writes a request to connect again as this player.
pub(crate) fn rejoin_packet(client: u64, request: &[u8]) -> Vec<u8> {
    let mut packet = Vec::with_capacity(REJOIN_LENGTH);
    packet.push(REJOIN_KIND);
    packet.extend_from_slice(&client.to_le_bytes());
    packet.extend_from_slice(request);
    packet
}

/// Splits a request to connect again into the number of the player and the request.
pub(crate) fn split(packet: &[u8]) -> Option<(u64, &[u8])> {
    let (&REJOIN_KIND, rest) = packet.split_first()? else { return None };
    let (client, request) = rest.split_first_chunk()?;
    Some((u64::from_le_bytes(*client), request))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(key: u8) -> Ticket {
        let user_data = Box::new([0; NETCODE_USER_DATA_BYTES]);
        Ticket { key: [key; 32], user_data, expiry: 0, tag: [0; 16], last_time: 0, lost_at: None }
    }

    #[test]
    fn a_ticket_outlives_a_lost_connection_but_not_a_deliberate_disconnect() {
        let mut tickets = Tickets::default();
        for (client, reason) in [
            (1, CloseReason::TimedOut),
            (2, CloseReason::ConnectionLost),
            (3, CloseReason::ByClient),
            (4, CloseReason::ByServer),
        ] {
            tickets.insert(client, ticket(1));
            tickets.disconnected(client, reason);
        }
        assert_eq!(tickets.by_client.keys().copied().collect::<Vec<_>>(), [1, 2]);
        tickets.insert(2, ticket(1));
        tickets.advance(LIFETIME + Duration::from_secs(1));
        assert_eq!(tickets.by_client.keys().copied().collect::<Vec<_>>(), [2], "only a connected player keeps it");
    }

    #[test]
    fn the_number_of_unused_tickets_is_bounded() {
        let mut tickets = Tickets::default();
        for client in 0..MAX_UNUSED as u64 + 10 {
            tickets.advance(Duration::from_millis(1));
            tickets.insert(client, ticket(1));
            tickets.disconnected(client, CloseReason::TimedOut);
        }
        assert_eq!(tickets.by_client.len(), MAX_UNUSED);
        assert!(tickets.get(0).is_none() && tickets.get(10).is_some());
    }
}
