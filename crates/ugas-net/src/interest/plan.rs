//! The inputs and results of a schedule.

use super::{AllRelevant, DistancePriority, Priority, RateTable, Relevance, Viewer};
use crate::types::Tick;
use crate::view::{ActorList, ReplicationStore};
use crate::wire::bits::BitWriter;
use std::sync::Arc;
use ugas_core::{ControllerId, SimTime};

/// The interest management of a server.
#[derive(Clone)]
pub struct Interest {
    /// Decides which actors are relevant.
    pub relevance: Arc<dyn Relevance>,
    /// Decides which actors are sent first.
    pub priority: Arc<dyn Priority>,
    /// The rates at which actors are sent.
    pub rates: RateTable,
    /// Actors that are relevant to every client, sorted by id.
    pub always_relevant: Vec<ControllerId>,
}

impl Interest {
    /// Returns whether an actor is relevant to every client.
    pub(super) fn is_always_relevant(&self, who: ControllerId) -> bool {
        self.always_relevant.binary_search(&who).is_ok()
    }

    /// Sets whether an actor is relevant to every client. Returns whether this changed.
    pub(crate) fn set_always_relevant(&mut self, who: ControllerId, always: bool) -> bool {
        match (self.always_relevant.binary_search(&who), always) {
            (Err(at), true) => self.always_relevant.insert(at, who),
            (Ok(at), false) => drop(self.always_relevant.remove(at)),
            (Ok(_), true) | (Err(_), false) => return false,
        }
        true
    }
}

impl Default for Interest {
    fn default() -> Interest {
        Interest {
            relevance: Arc::new(AllRelevant),
            priority: Arc::new(DistancePriority::default()),
            rates: RateTable::default(),
            always_relevant: Vec::new(),
        }
    }
}

impl std::fmt::Debug for Interest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interest").field("rates", &self.rates).finish_non_exhaustive()
    }
}

/// The inputs of a schedule for one packet.
#[derive(Clone, Copy, Debug)]
pub struct ScheduleRequest<'a> {
    /// The client.
    pub viewer: Viewer<'a>,
    /// The tick whose state is sent.
    pub tick: Tick,
    /// The tick length.
    pub length: SimTime,
    /// The client's round trip time.
    pub round_trip: SimTime,
    /// The bytes available now.
    pub room: usize,
    /// The bytes available in an empty packet. Longer sections are sent in the reliable stream.
    pub packet: usize,
    /// Whether the link loses so many packets that updates are resent at their rate until acknowledged, without waiting
    /// for a loss report.
    pub lossy: bool,
}

/// The planned update of one actor in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedUpdate {
    /// The actor.
    pub who: ControllerId,
    /// The slot of the actor in the store.
    pub slot: u32,
    /// The tick of the state that the client has: only later changes are written. If the packet is lost, the client
    /// still has the state of this tick.
    pub since: Tick,
}

/// The planned position of one actor in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedPose {
    /// The actor.
    pub who: ControllerId,
    /// The slot of the actor in the store.
    pub slot: u32,
    /// The tick of the position that was sent before. If the packet is lost, the client still has that one.
    pub since: Tick,
    /// The tick of the position that the client acknowledged; the new one is written as the difference to it.
    pub acked: Tick,
}

/// The plan of a packet: the actors whose updates it contains. The lists are sorted by id, and their memory is reused.
#[derive(Clone, Debug, Default)]
pub struct PacketPlan {
    /// Actors whose state is written.
    pub state: Vec<PlannedUpdate>,
    /// Actors whose position is written.
    pub poses: Vec<PlannedPose>,
    /// Actors whose state is longer than a packet and is therefore sent in the reliable stream.
    pub large: Vec<PlannedUpdate>,
    /// Actors that became relevant.
    pub entered: Vec<ControllerId>,
    /// Actors that are no longer relevant.
    pub left: Vec<ControllerId>,
    /// Whether some updates did not fit.
    pub more: bool,
}

impl PacketPlan {
    pub(super) fn clear(&mut self) {
        self.state.clear();
        self.poses.clear();
        self.large.clear();
        self.entered.clear();
        self.left.clear();
        self.more = false;
    }

    /// Writes the states as a list of actors.
    pub fn write_state(&self, store: &mut ReplicationStore, out: &mut BitWriter) {
        let mut list = ActorList::default();
        for pick in &self.state {
            list.open(pick.who, out);
            store.write_at(pick.slot as usize, pick.since, out);
        }
        list.close(out);
    }

    /// Writes the positions as a list of actors.
    pub fn write_poses(&self, store: &ReplicationStore, out: &mut BitWriter) {
        let mut list = ActorList::default();
        for pick in &self.poses {
            if let Some(pose) = store.pose_at(pick.slot as usize) {
                list.open(pick.who, out);
                pose.put(store.pose_baseline(pick.slot as usize, pick.acked), out);
            }
        }
        list.close(out);
    }
}
