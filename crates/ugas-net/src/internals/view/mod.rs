//! The visible state of remote actors, and its encoding.
//!
//! The server keeps one record per replicated controller in a [`ReplicationStore`]: the visible fields, each with the
//! tick of its last change. There are no snapshots per client. An update contains the absolute value of every field
//! that changed after the last tick that the client received. After a lost packet, the next update contains the changes
//! of the lost packet too. The encoded update of one actor is called a section; the server writes a section once and
//! reuses it for other clients.
//!
//! The client keeps a [`Proxy`] per remote actor. Each field has its own tick, so packets may arrive in any order.
//!
//! The attributes of a section depend on the controller's attribute sets and replication mode. A client learns these
//! from a full section. Partial sections may be sent only after the client acknowledged a full section with the current
//! attribute sets and mode ([`ReplicationStore::shape_ticks`]); the schedule of [`crate::interest`] ensures that.
//!
//! This module does not decide which actors a client receives and when ([`crate::interest`]), and does not encode the
//! exact state of owned controllers.

mod burst;
mod code;
mod effect;
mod holding;
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
use pose::PoseHistory;
pub use pose::{Baseline, Pose, Track};
pub use proxies::Proxies;
pub use proxy::{Proxy, ProxyChange};
pub use shape::{Field, Shape, Shapes};
pub use snapshot::ProxySnapshot;
pub use store::ReplicationStore;
pub(crate) use store::burst_key;

use crate::types::Tick;

/// The number of ticks for which client and server keep the records of removed tags, cues and effects. A client that is
/// further behind gets full sections.
pub const HORIZON: u32 = 256;

/// The number of ticks for which a burst is sent.
pub const BURST_TICKS: u32 = 8;

/// The maximum number of actors and capability sets of a proxy.
const MAX_HOLDINGS: usize = 2048;

/// The maximum number of active effects of a proxy.
const MAX_EFFECTS: usize = 4096;

/// Returns the oldest tick whose records of removed items are still kept at this tick.
fn horizon(tick: Tick) -> Tick {
    tick.minus(HORIZON)
}
