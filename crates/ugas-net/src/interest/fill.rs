//! Which of the actors that need an update fit into a packet.

use crate::types::Tick;
use crate::wire::number::uint_bits;
use std::cmp::Reverse;
use ugas_core::ControllerId;

/// The minimum number of bits of an update with its id, which bounds how many updates fit into a packet.
const MIN_BITS: usize = 12;
/// Up to this value, [`uint_bits`] never decreases when its argument rises.
const MONOTONIC: u64 = 66_632;
/// The maximum number of bits that an id can add to a list.
const MOST_ID_BITS: usize = 52;
/// How many rounds choose candidates. A round assumes the longest code for each id; the next round uses the space that
/// the real codes left. Each round fills most of the remaining space.
const ROUNDS: usize = 4;

/// An actor that needs an update.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) slot: u32,
    pub(super) who: ControllerId,
    pub(super) urgency: u64,
    pub(super) sent: Tick,
    /// The tick of the state that the client has: only later changes are written. `None` if no state is written.
    pub(super) state: Option<Tick>,
    pub(super) pose: bool,
    /// Whether all of its changes were sent before and may be in flight.
    pub(super) is_repeat: bool,
    /// The number of bits of its state and position without its ids.
    pub(super) bits: usize,
}

impl Candidate {
    /// The order in which candidates are chosen.
    fn rank(&self) -> impl Ord + use<> {
        (self.is_repeat, Reverse(self.urgency), self.sent, self.who)
    }

    /// Returns the most bits that the candidate can need with its ids.
    fn most_bits(&self) -> usize {
        let ids = self.state.is_some() as usize + self.pose as usize;
        self.bits + ids * most_id_bits(self.who)
    }
}

/// Returns the number of bits of an id in a list, which depends on the id before it.
fn id_bits(last: Option<ControllerId>, who: ControllerId) -> usize {
    match who.0.saturating_sub(last.map_or(0, |last| last.0.saturating_add(1))) {
        0 => 2,
        gap => 2 + uint_bits(gap as u64 - 1),
    }
}

/// Returns the most bits that an id can add to a list. Up to [`MONOTONIC`], a smaller gap to the previous id never has
/// a longer code.
fn most_id_bits(who: ControllerId) -> usize {
    if (who.0 as u64) < MONOTONIC { 2 + uint_bits(who.0 as u64) } else { MOST_ID_BITS }
}

/// The candidates of a packet.
#[derive(Clone, Debug, Default)]
pub(super) struct Fill {
    /// First the chosen candidates.
    list: Vec<Candidate>,
    chosen: usize,
}

impl Fill {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.chosen = 0;
    }

    pub(super) fn push(&mut self, candidate: Candidate) {
        self.list.push(candidate);
    }

    /// Drops the candidates of lowest rank if there are more than can fit. Returns whether some were dropped.
    pub(super) fn limit(&mut self, room: usize) -> bool {
        let most = (room / MIN_BITS).max(1);
        let is_over = self.list.len() > most;
        if is_over {
            self.list.select_nth_unstable_by_key(most, Candidate::rank);
            self.list.truncate(most);
        }
        is_over
    }

    /// Sets the size of each candidate. Candidates with nothing to send are dropped.
    pub(super) fn measure(&mut self, mut bits: impl FnMut(&mut Candidate) -> usize) {
        self.list.retain_mut(|candidate| {
            candidate.bits = bits(candidate);
            candidate.bits > 0
        });
    }

    /// Chooses the candidates with the highest rank that fit, and sorts them by id. Smaller candidates may fill the
    /// remaining space, unless the first candidate does not fit: otherwise the first candidate could wait forever.
    /// Returns whether some did not fit.
    pub(super) fn fit(&mut self, room: usize) -> bool {
        let total: usize = self.list.iter().map(Candidate::most_bits).sum();
        if total <= room {
            self.chosen = self.list.len();
            self.list.sort_unstable_by_key(|c| c.who);
            return false;
        }
        self.list.sort_unstable_by_key(Candidate::rank);
        if self.list.first().is_none_or(|first| first.most_bits() > room) {
            return true;
        }
        for _ in 0..ROUNDS {
            let before = self.chosen;
            self.choose(room);
            self.list[..self.chosen].sort_unstable_by_key(|c| c.who);
            if self.chosen == before || self.chosen == self.list.len() {
                break;
            }
        }
        self.chosen < self.list.len()
    }

    /// Chooses candidates for the space that the chosen ones leave. The other candidates keep their order.
    fn choose(&mut self, room: usize) {
        let mut used = self.chosen_bits();
        for at in self.chosen..self.list.len() {
            let bits = self.list[at].most_bits();
            if used + bits <= room {
                used += bits;
                // Those between keep their order.
                self.list[self.chosen..=at].rotate_right(1);
                self.chosen += 1;
            }
        }
    }

    /// Returns the exact number of bits of the chosen candidates, which are sorted by id.
    fn chosen_bits(&self) -> usize {
        let (mut state, mut pose, mut bits) = (None, None, 0);
        for c in self.chosen() {
            bits += c.bits;
            if c.state.is_some() {
                bits += id_bits(state.replace(c.who), c.who);
            }
            if c.pose {
                bits += id_bits(pose.replace(c.who), c.who);
            }
        }
        bits
    }

    /// Returns the chosen candidates, sorted by id.
    pub(super) fn chosen(&self) -> &[Candidate] {
        &self.list[..self.chosen]
    }
}
