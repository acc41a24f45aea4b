//! What observers see of a controller, and how it becomes bits and comes back.
//!
//! The server keeps one record for each replicated controller on a [`ReplicationStore`]: what the observer mask lets through, each
//! field with the tick it last changed. A client needs no snapshot of its own there: everything that changed after the
//! tick it has is written, in absolute values, so writing twice harms nothing and a lost packet is made good by writing
//! from an older tick again. What was written once for a tick is copied for the next client.
//!
//! The client keeps a [`Proxy`] for each controller it hears of. Its fields know the tick they are of, so packets may
//! overtake each other.
//!
//! Which attributes a section speaks of follows from the controller's sets and mode. A client learns these from a section
//! that tells everything; only when it has confirmed one of the present sets and mode ([`ReplicationStore::shaped`]) may it be sent
//! less, or it could not read it. [`crate::interest::Schedule`] sees to that.
//!
//! Deliberately absent: who hears of whom and when ([`crate::interest`]), and the owner's exact state.

mod store;
mod burst;
mod code;
mod effect;
mod marks;
mod pose;
mod proxies;
mod proxy;
mod record;
mod shape;
mod snapshot;

pub use store::ReplicationStore;
pub(crate) use store::burst_key;
pub use burst::Burst;
pub use code::{ActorList, read_next};
pub use effect::ProxyEffect;
pub use pose::{Pose, Track};
pub use proxies::Proxies;
pub use proxy::{ProxyChange, Proxy};
pub use shape::{Field, Shape, Shapes};
pub use snapshot::ProxySnapshot;

use crate::types::Tick;

/// How many ticks the two sides remember what vanished. Whoever lags further behind is sent everything.
pub const HORIZON: u32 = 256;

/// How many ticks a burst is still sent.
pub const BURST_TICKS: u32 = 8;

/// The most active effects a proxy takes in.
const MAX_EFFECTS: usize = 4096;

/// The oldest tick whose vanished things are still remembered at this tick.
fn horizon(tick: Tick) -> Tick {
    tick.minus(HORIZON)
}
