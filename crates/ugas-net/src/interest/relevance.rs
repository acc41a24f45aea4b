//! Whom a client is told of at all, and who comes first.

use super::ActorKind;
use ugas_core::ControllerId;

/// The client that is told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Viewer<'a> {
    /// What belongs to it.
    pub owned: &'a [ControllerId],
    /// Whom its controllers did something to that it has no word of yet. A server lists only those it is told of already.
    pub targets: &'a [ControllerId],
    /// Where it looks from; none sees the same everywhere.
    pub place: Option<[f64; 3]>,
}

impl Viewer<'_> {
    /// The square of the distance to a place; none if either has no place.
    pub fn distance_squared(&self, place: Option<[f64; 3]>) -> Option<f64> {
        let (a, b) = (self.place?, place?);
        Some(a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum())
    }
}

/// When a relevance is asked about a controller again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Never: what it once said stays, until the client owns another or its [`targets`](Viewer::targets) are others.
    Once,
    /// When the controller changes or moves, when the client moves, and when it owns another or its targets are others.
    OnChange,
    /// Then, and after so many ticks at the latest, because it looks at something else too. Each tick a part of all is
    /// asked about.
    Every(u32),
}

/// Decides whom a client is told of. Asked for each pair of a client and a controller as often as it says.
pub trait Relevance: Send + Sync {
    /// Whether the client is told of a controller at this place; `was` says whether it was so far.
    fn is_relevant(&self, viewer: &Viewer, who: ControllerId, place: Option<[f64; 3]>, was: bool) -> bool;

    /// When it is asked again. One that looks only at what it is given says [`Asked::OnChange`], and whoever stays where
    /// he is takes no time.
    fn asked(&self) -> Asked {
        Asked::Every(1)
    }
}

/// Everybody is told of everybody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everything;

impl Relevance for Everything {
    fn is_relevant(&self, _: &Viewer, _: ControllerId, _: Option<[f64; 3]>, _: bool) -> bool {
        true
    }

    fn asked(&self) -> Asked {
        Asked::Once
    }
}

/// A client is told of who comes near, until he is clearly away again: the second distance is the larger one, so that
/// nobody flickers at the edge. Who has no place or belongs to the client is always relevant. Whom the client did something
/// to stays relevant until it has word of it, however far away that one goes.
///
/// ```
/// use ugas_core::ControllerId;
/// use ugas_net::interest::{Near, Relevance, Viewer};
/// let (near, viewer) = (Near::new(50.0, 60.0), Viewer { place: Some([0.0; 3]), ..Viewer::default() });
/// let at = |x, was| near.is_relevant(&viewer, ControllerId(1), Some([x, 0.0, 0.0]), was);
/// assert!(at(50.0, false) && !at(55.0, false) && at(55.0, true) && !at(61.0, true));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Near {
    enter_squared: f64,
    leave_squared: f64,
}

impl Near {
    /// Relevant from the first distance on until the second; the second is at least the first.
    pub fn new(enter: f64, leave: f64) -> Near {
        let leave = leave.max(enter);
        Near { enter_squared: enter * enter, leave_squared: leave * leave }
    }
}

impl Relevance for Near {
    fn is_relevant(&self, viewer: &Viewer, who: ControllerId, place: Option<[f64; 3]>, was: bool) -> bool {
        let limit = if was { self.leave_squared } else { self.enter_squared };
        viewer.distance_squared(place).is_none_or(|d| d <= limit)
            || viewer.owned.contains(&who)
            || viewer.targets.contains(&who)
    }

    fn asked(&self) -> Asked {
        Asked::OnChange
    }
}

/// Decides who comes first when not everything fits.
pub trait Priority: Send + Sync {
    /// How much more urgent a controller grows with each packet it waits; 0 counts as 1.
    fn weight(&self, viewer: &Viewer, who: ControllerId, place: Option<[f64; 3]>) -> u32;

    /// What kind of actor it is to this client.
    fn kind(&self, _viewer: &Viewer, _who: ControllerId, _place: Option<[f64; 3]>) -> ActorKind {
        ActorKind::Player
    }
}

/// Own and targets before near before far.
///
/// ```
/// use ugas_core::ControllerId;
/// use ugas_net::interest::{ActorKind, ByDistance, Priority, Viewer};
/// let (order, viewer) = (ByDistance::default(), Viewer { place: Some([0.0; 3]), ..Viewer::default() });
/// let weight = |x| order.weight(&viewer, ControllerId(1), Some([x, 0.0, 0.0]));
/// assert!(weight(1.0) > weight(30.0) && weight(30.0) > weight(500.0));
/// assert_eq!(order.kind(&viewer, ControllerId(1), Some([500.0, 0.0, 0.0])), ActorKind::Distant);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ByDistance {
    /// What is nearer than this is near.
    pub near: f64,
    /// What is further than this is far.
    pub far: f64,
}

impl Default for ByDistance {
    fn default() -> ByDistance {
        ByDistance { near: 20.0, far: 100.0 }
    }
}

impl Priority for ByDistance {
    fn weight(&self, viewer: &Viewer, who: ControllerId, place: Option<[f64; 3]>) -> u32 {
        if viewer.owned.contains(&who) {
            return 16;
        }
        if viewer.targets.contains(&who) {
            return 8;
        }
        match viewer.distance_squared(place) {
            Some(d) if d > self.far * self.far => 1,
            Some(d) if d > self.near * self.near => 2,
            _ => 4,
        }
    }

    fn kind(&self, viewer: &Viewer, _: ControllerId, place: Option<[f64; 3]>) -> ActorKind {
        match viewer.distance_squared(place) {
            Some(d) if d > self.far * self.far => ActorKind::Distant,
            _ => ActorKind::Player,
        }
    }
}
