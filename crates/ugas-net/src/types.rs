//! Types shared by client and server.

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use ugas_core::SimTime;

/// The maximum length, in bytes, of a datagram that client and server send or accept.
pub const MAX_DATAGRAM: usize = 1200;

/// The maximum number of controllers that one client may own.
pub const MAX_OWNED: usize = 16;

/// The range of valid tick lengths. A client rejects other lengths, so that its prediction window is bounded.
pub const TICK_LENGTHS: RangeInclusive<SimTime> = SimTime::millis(1)..=SimTime::millis(1000);

/// The number of a connection, assigned by the transport or the host. A number is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub u32);

/// The number of a tick, which is a time step of fixed length. The commands of tick n run first, at the time at which
/// tick n − 1 ended; then the sim advances by one tick length.
///
/// ```
/// use ugas_core::SimTime;
/// use ugas_net::types::Tick;
/// assert_eq!(Tick(3).time(SimTime::seconds(0.02)), SimTime::seconds(0.06));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tick(pub u32);

impl Tick {
    /// Returns the time at which the tick ends, with this tick length.
    pub fn time(self, length: SimTime) -> SimTime {
        SimTime(length.0.saturating_mul(self.0 as i64))
    }

    /// Returns the tick that is this many ticks later.
    pub fn plus(self, ticks: u32) -> Tick {
        Tick(self.0.saturating_add(ticks))
    }

    /// Returns the tick that is this many ticks earlier.
    pub fn minus(self, ticks: u32) -> Tick {
        Tick(self.0.saturating_sub(ticks))
    }
}
