//! Names shared by both sides.

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use ugas_core::SimTime;

/// The longest datagram either side sends or reads.
pub const MAX_DATAGRAM: usize = 1200;

/// Controllers one client may own.
pub const MAX_OWNED: usize = 16;

/// How long a tick may be. A client takes no other length from a server: with shorter ones its window would hold more of
/// them than it can keep.
pub const TICK_LENGTHS: RangeInclusive<SimTime> = SimTime::millis(1)..=SimTime::millis(1000);

/// A connection, as the transport or host numbers them. Never used again for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub u32);

/// A step of the fixed clock. Commands of tick n run at the end of tick n − 1; then the world moves one length on.
///
/// ```
/// use ugas_core::SimTime;
/// use ugas_net::types::Tick;
/// assert_eq!(Tick(3).time(SimTime::seconds(0.02)), SimTime::seconds(0.06));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tick(pub u32);

impl Tick {
    /// When the tick ends, at this length.
    pub fn time(self, length: SimTime) -> SimTime {
        SimTime(length.0.saturating_mul(self.0 as i64))
    }

    /// So many ticks later.
    pub fn plus(self, ticks: u32) -> Tick {
        Tick(self.0.saturating_add(ticks))
    }

    /// So many ticks earlier.
    pub fn minus(self, ticks: u32) -> Tick {
        Tick(self.0.saturating_sub(ticks))
    }
}
