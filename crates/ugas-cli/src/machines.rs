//! Code shared by `ugas serve` and `ugas bot`: addresses, the protocol id, connection ids, and the output of failures.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use ugas_core::{FLICKS_PER_SECOND, SimTime};
use ugas_lab::{Failure, PartError, Scenario};
use ugas_transport::TransportKind;

use crate::output::{Exit, Out, complain, complain_about};

/// The protocol id of netcode connections: the bytes "ugas", then the version of the message format.
pub(crate) const PROTOCOL: u64 = 0x7567_6173 << 32 | ugas_net::message::PROTOCOL as u64;

/// How long the server waits for clients to acknowledge the last tick and disconnect.
pub(crate) const SETTLE: Duration = Duration::from_secs(3);

/// A transport and an address: `udp://127.0.0.1:4000`. The default scheme is UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) kind: TransportKind,
    pub(crate) address: SocketAddr,
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Endpoint, String> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("udp", text));
        let kind = TransportKind::ALL.into_iter().find(|kind| kind.scheme() == scheme);
        let kind = kind.ok_or_else(|| format!("expected udp:// or ws://, found {scheme}://"))?;
        let address = rest.trim_end_matches('/').parse();
        let address =
            address.map_err(|_| format!("expected an address and a port such as 127.0.0.1:4000, found {rest}"))?;
        Ok(Endpoint { kind, address })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.kind.scheme(), self.address)
    }
}

/// Returns the connection id of a client: its position in the scenario's list of clients, counted from 1. While a
/// connection is open and in use, a second connection with the same id is rejected, unless it is a rejoin.
pub(crate) fn number_of(scenario: &Scenario, client: &str) -> Option<u64> {
    let clients = &scenario.network.as_ref()?.clients;
    clients.iter().position(|c| c.name == client).map(|at| at as u64 + 1)
}

/// Converts real time to sim time.
pub(crate) fn to_sim(elapsed: Duration) -> SimTime {
    SimTime(i64::try_from(elapsed.as_nanos() * FLICKS_PER_SECOND as u128 / 1_000_000_000).unwrap_or(i64::MAX))
}

/// Converts sim time to real time.
pub(crate) fn to_real(length: SimTime) -> Duration {
    let nanos = length.0.max(0) as u128 * 1_000_000_000 / FLICKS_PER_SECOND as u128;
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Reports why a scenario cannot run as a separate server and clients.
pub(crate) fn report_not_played(scenario: &Scenario, error: &PartError) -> Exit {
    match error {
        PartError::Errors(errors) => complain_about(errors),
        other @ PartError::NoNetwork | other @ PartError::NoClient { .. } | other @ PartError::TooLong => {
            complain(&format!("{}:{}: error: {other}", scenario.file, scenario.place.line))
        }
    }
    Exit::Unreadable
}

/// Prints the failed expectations of this server or client.
pub(crate) fn print_failures(failures: &[Failure], out: &mut Out) -> std::io::Result<Exit> {
    for failure in failures {
        out.text(&format!("{failure}\n"))?;
    }
    Ok(if failures.is_empty() { Exit::Good } else { Exit::Failed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_parsed_and_printed() {
        for text in ["udp://127.0.0.1:4000", "ws://[::1]:80", "wt://10.0.0.1:1"] {
            assert_eq!(text.parse::<Endpoint>().map(|endpoint| endpoint.to_string()).as_deref(), Ok(text));
        }
        assert_eq!("127.0.0.1:0".parse::<Endpoint>().map(|endpoint| endpoint.kind), Ok(TransportKind::Udp));
        assert!("http://127.0.0.1:0".parse::<Endpoint>().is_err_and(|why| why.contains("found http://")));
        assert!("udp://localhost".parse::<Endpoint>().is_err_and(|why| why.contains("found localhost")));
    }

    #[test]
    fn time_converts_both_ways() {
        assert_eq!(to_sim(Duration::from_millis(1_500)), SimTime::millis(1_500));
        assert_eq!(to_real(SimTime::frames(1, 50)), Duration::from_millis(20));
    }
}
