//! Distances between anchors. The space layer brings an index; until then every controller with an anchor is looked at.

use crate::ControllerId;
use crate::flow::Flow;

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| (a[i] - b[i]) * (a[i] - b[i])).sum::<f64>().sqrt()
}

impl Flow<'_> {
    /// How far two controllers are apart, if both stand somewhere.
    pub(crate) fn distance(&self, a: ControllerId, b: ControllerId) -> Option<f64> {
        let place = |who| self.st.controllers.get(who)?.side().anchor;
        Some(distance(place(a)?.position, place(b)?.position))
    }

    /// Others within a radius of a controller, the nearest first, then by id.
    pub(super) fn around(&self, slot: usize, radius: f64) -> Vec<ControllerId> {
        let row = self.row(slot);
        let Some(here) = row.side().anchor else { return Vec::new() };
        let others = self.st.controllers.iter().filter(|r| r.id != row.id);
        let mut found: Vec<(f64, ControllerId)> = others
            .filter_map(|r| Some((distance(here.position, r.side().anchor?.position), r.id)))
            .filter(|(d, _)| *d <= radius)
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|f| f.1).collect()
    }

    /// The nearest other controller.
    pub(super) fn nearest(&self, slot: usize) -> Option<ControllerId> {
        self.around(slot, f64::INFINITY).first().copied()
    }
}
