//! The rates at which actors are sent, and the bandwidth of a client.

use std::ops::RangeInclusive;
use ugas_core::{FLICKS_PER_SECOND, SimTime};

/// The round trip time above which a client has high latency.
pub const HIGH_LATENCY: SimTime = SimTime::millis(150);

/// The kind of an actor; it limits how often the actor is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorKind {
    /// A player's character.
    Player,
    /// An important actor that the server controls.
    Important,
    /// A distant actor.
    Distant,
    /// An actor that rarely changes and is sent only when it changes.
    Static,
}

/// A range of updates per second.
pub type Rates = RangeInclusive<u32>;

/// The rates at which each kind of actor is sent, in updates per second. The server uses the upper end of each range
/// and rounds the interval between two updates up to a whole number of ticks.
///
/// ```
/// use ugas_core::SimTime;
/// use ugas_net::interest::{ActorKind, RateTable};
/// let (table, tick) = (RateTable::default(), SimTime::frames(1, 60));
/// let every = |rtt| table.pose_ticks(ActorKind::Player, SimTime::millis(rtt), tick);
/// assert_eq!((every(100), every(200)), (1, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTable {
    /// The rates of players' characters for clients with low latency.
    pub player: Rates,
    /// The rates of players' characters for clients with high latency ([`HIGH_LATENCY`]).
    pub player_slow: Rates,
    /// The rates of important actors.
    pub important: Rates,
    /// The rates of distant actors.
    pub distant: Rates,
    /// The divisor for attributes, tags and effects: with 2, they are sent at half the rate of positions.
    pub state_divisor: u32,
}

impl Default for RateTable {
    fn default() -> RateTable {
        RateTable { player: 60..=100, player_slow: 20..=30, important: 30..=60, distant: 10..=20, state_divisor: 2 }
    }
}

impl RateTable {
    /// Returns the rates of a kind of actor for a client with this round trip time; `None` for actors that are sent
    /// only when they change.
    pub fn range(&self, kind: ActorKind, round_trip: SimTime) -> Option<&Rates> {
        match kind {
            ActorKind::Player if round_trip > HIGH_LATENCY => Some(&self.player_slow),
            ActorKind::Player => Some(&self.player),
            ActorKind::Important => Some(&self.important),
            ActorKind::Distant => Some(&self.distant),
            ActorKind::Static => None,
        }
    }

    /// Returns the number of ticks from one position update of an actor to the next.
    pub fn pose_ticks(&self, kind: ActorKind, round_trip: SimTime, tick: SimTime) -> u32 {
        let Some(range) = self.range(kind, round_trip) else { return 1 };
        let (rate, tick) = ((*range.end()).max(1) as i64, tick.0.max(1));
        let ticks = (FLICKS_PER_SECOND / rate + tick - 1) / tick;
        ticks.clamp(1, u32::MAX as i64) as u32
    }

    /// Returns the number of ticks from one state update of an actor to the next.
    pub fn state_ticks(&self, kind: ActorKind, round_trip: SimTime, tick: SimTime) -> u32 {
        let divisor = if kind == ActorKind::Static { 1 } else { self.state_divisor.max(1) };
        self.pose_ticks(kind, round_trip, tick).saturating_mul(divisor)
    }

    /// Returns the number of ticks between two positions and between two states, for each kind in its order.
    pub(super) fn ticks(&self, round_trip: SimTime, tick: SimTime) -> [(u32, u32); 4] {
        let kinds = [ActorKind::Player, ActorKind::Important, ActorKind::Distant, ActorKind::Static];
        kinds.map(|kind| (self.pose_ticks(kind, round_trip, tick), self.state_ticks(kind, round_trip, tick)))
    }
}

/// The budget of bytes that may be sent to a client: a rate in bytes per second with a burst limit.
///
/// ```
/// use ugas_core::SimTime;
/// use ugas_net::interest::Bandwidth;
/// let mut bandwidth = Bandwidth::new(6_000, 1_200);
/// bandwidth.spend(1_200);
/// bandwidth.advance(SimTime::millis(50));
/// assert_eq!(bandwidth.left(), 300);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    per_second: u32,
    most: u32,
    /// The unspent budget in bytes times flicks per second, so that rounding errors do not accumulate.
    saved: i64,
}

impl Bandwidth {
    /// Creates a bandwidth of `per_second` bytes per second with bursts of at most `most` bytes.
    pub fn new(per_second: u32, most: u32) -> Bandwidth {
        Bandwidth { per_second, most, saved: most as i64 * FLICKS_PER_SECOND }
    }

    /// Returns half of the bandwidth, with a burst of at least one packet.
    pub fn half(&self) -> Bandwidth {
        Bandwidth::new(self.per_second / 2, (self.most / 2).max(crate::types::MAX_DATAGRAM as u32))
    }

    /// Advances the time and adds the bytes of that time to the budget.
    pub fn advance(&mut self, time: SimTime) {
        let earned = (self.per_second as i64).saturating_mul(time.0.max(0));
        self.saved = self.saved.saturating_add(earned).min(self.most as i64 * FLICKS_PER_SECOND);
    }

    /// Returns the number of bytes that may be sent now.
    pub fn left(&self) -> usize {
        (self.saved / FLICKS_PER_SECOND).max(0) as usize
    }

    /// Accounts for sent bytes. Bytes beyond [`Bandwidth::left`] reduce the later budget.
    pub fn spend(&mut self, bytes: usize) {
        let spent = i64::try_from(bytes).unwrap_or(i64::MAX).saturating_mul(FLICKS_PER_SECOND);
        self.saved = self.saved.saturating_sub(spent);
    }
}
