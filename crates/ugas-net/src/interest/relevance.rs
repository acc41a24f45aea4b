//! Traits that decide which actors a client receives and in which order.

use super::ActorKind;
use ugas_core::ControllerId;

/// The client that receives actors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Viewer<'a> {
    /// The controllers that the client owns.
    pub owned: &'a [ControllerId],
    /// Relevant actors that the client's commands changed and whose update the client has not acknowledged.
    pub targets: &'a [ControllerId],
    /// The positions of the owned controllers that have one.
    pub positions: &'a [[f64; 3]],
}

impl Viewer<'_> {
    /// Returns the square of the distance from the nearest owned controller to a position; `None` if no owned
    /// controller has a position, or the actor has none.
    ///
    /// ```
    /// use ugas_net::interest::Viewer;
    /// let viewer = Viewer { positions: &[[0.0; 3], [9.0, 0.0, 0.0]], ..Viewer::default() };
    /// assert_eq!(viewer.distance_squared(Some([7.0, 0.0, 0.0])), Some(4.0));
    /// assert_eq!(Viewer::default().distance_squared(Some([7.0, 0.0, 0.0])), None);
    /// ```
    #[inline]
    pub fn distance_squared(&self, position: Option<[f64; 3]>) -> Option<f64> {
        let to = position?;
        let distances = self.positions.iter().map(|from| {
            let [x, y, z] = [from[0] - to[0], from[1] - to[1], from[2] - to[2]];
            x * x + y * y + z * z
        });
        distances.reduce(f64::min)
    }
}

/// When the relevance of an actor is evaluated again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelevanceUpdate {
    /// When the actor is added, and when the client's owned controllers or [`targets`](Viewer::targets) change.
    Once,
    /// When the actor changes or moves, when the client moves, and when the client's owned controllers or targets
    /// change.
    OnChange,
    /// At the same times as [`RelevanceUpdate::OnChange`], and additionally once in this many ticks. Use this variant
    /// for a relevance that depends on inputs other than its arguments. Each tick evaluates a part of the actors.
    Every(u32),
}

/// The actors of a server by slot; a free slot has the controller [`ControllerId::NONE`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ActorSlots<'a> {
    pub(crate) owners: &'a [ControllerId],
    pub(crate) positions: &'a [Option<[f64; 3]>],
}

/// Decides which actors a client receives.
pub trait Relevance: Send + Sync {
    /// Returns whether an actor at this position is relevant to the client; `was_relevant` is the previous result.
    /// Owned controllers and actors that are always relevant
    /// ([`Server::set_always_relevant`](crate::server::Server::set_always_relevant)) are relevant whatever this method
    /// returns.
    fn is_relevant(&self, viewer: &Viewer, who: ControllerId, position: Option<[f64; 3]>, was_relevant: bool) -> bool;

    /// Appends the slots whose relevance is no longer the previous result. The schedule calls this method when it
    /// evaluates all actors; the default implementation calls [`Relevance::is_relevant`] for each.
    #[doc(hidden)]
    fn collect_changed(&self, viewer: &Viewer, actors: ActorSlots, relevant: &[bool], changed: &mut Vec<u32>) {
        let actors = actors.owners.iter().zip(actors.positions).zip(relevant).enumerate();
        for (slot, ((&who, &position), &was_relevant)) in actors {
            if who != ControllerId::NONE && self.is_relevant(viewer, who, position, was_relevant) != was_relevant {
                changed.push(slot as u32);
            }
        }
    }

    /// Returns when the relevance is evaluated again. A relevance that uses only its arguments returns
    /// [`RelevanceUpdate::OnChange`], so that unchanged actors take no time.
    fn update(&self) -> RelevanceUpdate {
        RelevanceUpdate::Every(1)
    }
}

/// A relevance that makes every actor relevant to every client.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllRelevant;

impl Relevance for AllRelevant {
    fn is_relevant(&self, _: &Viewer, _: ControllerId, _: Option<[f64; 3]>, _: bool) -> bool {
        true
    }

    fn update(&self) -> RelevanceUpdate {
        RelevanceUpdate::Once
    }
}

/// A relevance by distance. An actor becomes relevant within one distance and stays relevant up to a second, larger
/// distance, so that an actor at the edge does not become relevant and irrelevant repeatedly. The distance is that from
/// the nearest owned controller. Actors without a position, owned controllers and [`targets`](Viewer::targets) are
/// always relevant. If no owned controller has a position, an actor with a position is not relevant.
///
/// ```
/// use ugas_core::ControllerId;
/// use ugas_net::interest::{DistanceRelevance, Relevance, Viewer};
/// let (near, viewer) = (DistanceRelevance::new(50.0, 60.0), Viewer { positions: &[[0.0; 3]], ..Viewer::default() });
/// let at = |x, was| near.is_relevant(&viewer, ControllerId(1), Some([x, 0.0, 0.0]), was);
/// assert!(at(50.0, false) && !at(55.0, false) && at(55.0, true) && !at(61.0, true));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DistanceRelevance {
    enter_squared: f64,
    leave_squared: f64,
}

impl DistanceRelevance {
    /// Creates a relevance: an actor becomes relevant within the distance `enter` and irrelevant beyond the distance
    /// `leave`. If `leave` is smaller than `enter`, `enter` is used for both.
    pub fn new(enter: f64, leave: f64) -> DistanceRelevance {
        let leave = leave.max(enter);
        DistanceRelevance { enter_squared: enter * enter, leave_squared: leave * leave }
    }
}

impl Relevance for DistanceRelevance {
    fn is_relevant(&self, viewer: &Viewer, who: ControllerId, position: Option<[f64; 3]>, was_relevant: bool) -> bool {
        let limit = if was_relevant { self.leave_squared } else { self.enter_squared };
        position.is_none()
            || viewer.distance_squared(position).is_some_and(|d| d <= limit)
            || viewer.owned.contains(&who)
            || viewer.targets.contains(&who)
    }

    fn collect_changed(&self, viewer: &Viewer, actors: ActorSlots, relevant: &[bool], changed: &mut Vec<u32>) {
        let actors = actors.owners.iter().zip(actors.positions).zip(relevant).enumerate();
        for (slot, ((&who, &position), &was_relevant)) in actors {
            let limit = if was_relevant { self.leave_squared } else { self.enter_squared };
            let is_near = position.is_none() || viewer.distance_squared(position).is_some_and(|d| d <= limit);
            // Usually the distance decides, and nothing changed. The schedule evaluates owned controllers itself.
            if (is_near != was_relevant || !viewer.targets.is_empty())
                && who != ControllerId::NONE
                && self.is_relevant(viewer, who, position, was_relevant) != was_relevant
            {
                changed.push(slot as u32);
            }
        }
    }

    fn update(&self) -> RelevanceUpdate {
        RelevanceUpdate::OnChange
    }
}

/// Decides which actors are sent first when not all of them fit into a packet.
pub trait Priority: Send + Sync {
    /// Returns by how much the priority of an actor rises with each packet into which its update did not fit; 0 counts
    /// as 1.
    fn weight(&self, viewer: &Viewer, who: ControllerId, position: Option<[f64; 3]>) -> u32;

    /// Returns the kind of the actor for this client.
    fn kind(&self, _viewer: &Viewer, _who: ControllerId, _place: Option<[f64; 3]>) -> ActorKind {
        ActorKind::Player
    }
}

/// A priority that is highest for owned controllers, then for targets, and then higher for near than for far actors.
///
/// ```
/// use ugas_core::ControllerId;
/// use ugas_net::interest::{ActorKind, DistancePriority, Priority, Viewer};
/// let (order, viewer) = (DistancePriority::default(), Viewer { positions: &[[0.0; 3]], ..Viewer::default() });
/// let weight = |x| order.weight(&viewer, ControllerId(1), Some([x, 0.0, 0.0]));
/// assert!(weight(1.0) > weight(30.0) && weight(30.0) > weight(500.0));
/// assert_eq!(order.kind(&viewer, ControllerId(1), Some([500.0, 0.0, 0.0])), ActorKind::Distant);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DistancePriority {
    /// The distance below which an actor counts as near.
    pub near: f64,
    /// The distance above which an actor counts as far.
    pub far: f64,
}

impl Default for DistancePriority {
    fn default() -> DistancePriority {
        DistancePriority { near: 20.0, far: 100.0 }
    }
}

impl Priority for DistancePriority {
    fn weight(&self, viewer: &Viewer, who: ControllerId, position: Option<[f64; 3]>) -> u32 {
        if viewer.owned.contains(&who) {
            return 16;
        }
        if viewer.targets.contains(&who) {
            return 8;
        }
        match viewer.distance_squared(position) {
            Some(d) if d > self.far * self.far => 1,
            Some(d) if d > self.near * self.near => 2,
            _ => 4,
        }
    }

    fn kind(&self, viewer: &Viewer, _: ControllerId, position: Option<[f64; 3]>) -> ActorKind {
        match viewer.distance_squared(position) {
            Some(d) if d > self.far * self.far => ActorKind::Distant,
            _ => ActorKind::Player,
        }
    }
}
