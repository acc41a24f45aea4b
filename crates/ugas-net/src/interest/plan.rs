//! What is asked of a schedule, and what it answers.

use super::{ByDistance, Everything, Priority, RateTable, Relevance, Viewer};
use crate::types::Tick;
use crate::view::{ActorList, Board};
use crate::wire::bits::BitWriter;
use std::sync::Arc;
use ugas_core::{ControllerId, SimTime};

/// How clients are served: the same for all of a server.
#[derive(Clone)]
pub struct Interest {
    /// Whom they are told of.
    pub relevance: Arc<dyn Relevance>,
    /// Who comes first.
    pub priority: Arc<dyn Priority>,
    /// How often.
    pub rates: RateTable,
}

impl Default for Interest {
    fn default() -> Interest {
        Interest {
            relevance: Arc::new(Everything),
            priority: Arc::new(ByDistance::default()),
            rates: RateTable::default(),
        }
    }
}

impl std::fmt::Debug for Interest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interest").field("rates", &self.rates).finish_non_exhaustive()
    }
}

/// What is asked of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The client.
    pub viewer: Viewer<'a>,
    /// The tick whose state is sent.
    pub tick: Tick,
    /// How long a tick is.
    pub length: SimTime,
    /// The client's round trip.
    pub round_trip: SimTime,
    /// Bytes there is room for now.
    pub room: usize,
    /// Bytes there is room for in an empty packet. What is longer goes another way.
    pub packet: usize,
    /// Whether so much is lost on the way that nobody should wait for word of it: what was sent is sent again, no more
    /// often than its rate allows, until it is known to have arrived.
    pub lossy: bool,
}

/// A controller that goes into a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The controller.
    pub who: ControllerId,
    /// What the client has: everything later is written. If the packet is lost, this is what it still has.
    pub since: Tick,
}

/// What goes into a packet. Lists are by rising id and keep their memory.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Sections.
    pub state: Vec<Pick>,
    /// Places.
    pub poses: Vec<Pick>,
    /// Sections that are longer than a packet: they go as reliable messages.
    pub large: Vec<Pick>,
    /// Who became relevant. A first section follows as soon as there is room.
    pub entered: Vec<ControllerId>,
    /// Who is no longer relevant.
    pub left: Vec<ControllerId>,
    /// Whether something found no room.
    pub more: bool,
}

impl Plan {
    pub(super) fn clear(&mut self) {
        self.state.clear();
        self.poses.clear();
        self.large.clear();
        self.entered.clear();
        self.left.clear();
        self.more = false;
    }

    /// Writes the sections as a list of actors.
    pub fn write_state(&self, board: &mut Board, out: &mut BitWriter) {
        let mut list = ActorList::default();
        for pick in &self.state {
            list.open(pick.who, out);
            board.write(pick.who, pick.since, out);
        }
        list.close(out);
    }

    /// Writes the places as a list of actors.
    pub fn write_poses(&self, board: &Board, out: &mut BitWriter) {
        let mut list = ActorList::default();
        for pick in &self.poses {
            if let Some(pose) = board.pose(pick.who) {
                list.open(pick.who, out);
                pose.put(out);
            }
        }
        list.close(out);
    }
}
