//! The visible state of remote actors, and its encoding.
//!
//! The server keeps one record per replicated controller in a [`ReplicationStore`]: the visible fields, each with the tick of
//! its last change. There are no snapshots per client: everything that changed after the client's tick is written in
//! absolute values, and after a lost packet it is written from an older tick again. Written sections are reused for other
//! clients.
//!
//! The client keeps a [`Proxy`] per remote actor. Each field has its tick, so packets may arrive in any order.
//!
//! The attributes of a section depend on the controller's sets and mode. A client learns these from a full section. Partial
//! sections may be sent only after a full one of the present sets and mode is acknowledged
//! ([`ReplicationStore::shaped`]); the schedule of [`crate::interest`] ensures that.
//!
//! Not here: which actors a client receives and when ([`crate::interest`]), and the exact state of owned controllers.

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
mod store;

pub use burst::Burst;
pub use code::{ActorList, read_next};
pub use effect::ProxyEffect;
pub use pose::{Pose, Track};
pub use proxies::Proxies;
pub use proxy::{Proxy, ProxyChange};
pub use shape::{Field, Shape, Shapes};
pub use snapshot::ProxySnapshot;
pub use store::ReplicationStore;
pub(crate) use store::burst_key;

use crate::types::Tick;

/// How many ticks both sides keep removed items. A client that is further behind gets full sections.
pub const HORIZON: u32 = 256;

/// How many ticks a burst is still sent.
pub const BURST_TICKS: u32 = 8;

/// The most active effects of a proxy.
const MAX_EFFECTS: usize = 4096;

/// The oldest tick whose removed items are still kept at this tick.
fn horizon(tick: Tick) -> Tick {
    tick.minus(HORIZON)
}
