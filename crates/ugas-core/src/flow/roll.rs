//! Which random stream a draw uses.
//!
//! A sim without clients draws from its own seed. For a client, the host registers seeds: one for each block of ticks,
//! and the controllers that the client owns. An op of a client draws from the seed of the op's tick. Work that is due on
//! a row draws from the seed of the client that owns the row, at the current time. Every other draw uses the seed of the
//! sim, and so does a draw that no client predicts. The streams decide which numbers are drawn; they are not part of the
//! state of the game and not of its hash.
//!
//! A predicting client knows only the seeds that the server has revealed. A draw from a stream that it does not know is
//! refused with [`Refusal::UnknownRoll`]: the result is left to the server.

use super::{Flow, State, View, child_origin_id};
use crate::rng::fold;
use crate::state::Effect;
use crate::{CalcId, ControllerId, EffectId, EffectKey, OpId, Refusal, Role, SimTime};
use std::collections::VecDeque;

/// The seed of a client's random stream for a block of ticks.
///
/// ```
/// use ugas_core::{SeedBlock, SimTime};
/// let tick = SimTime::millis(20);
/// let block = SeedBlock { first: 9, count: 8, from: SimTime(tick.0 * 8), until: SimTime(tick.0 * 16), seed: 5 };
/// assert!(block.has_tick(16) && !block.has_tick(17));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedBlock {
    /// The first tick: the lowest Base of an op that draws from this seed.
    pub first: u32,
    /// The number of ticks.
    pub count: u32,
    /// Work that is due after this time draws from this seed.
    pub from: SimTime,
    /// The last time of the block.
    pub until: SimTime,
    /// The seed.
    pub seed: u64,
}

impl SeedBlock {
    /// Returns whether the block contains a tick.
    pub fn has_tick(&self, tick: u32) -> bool {
        tick >= self.first && tick - self.first < self.count
    }

    fn has_time(&self, at: SimTime) -> bool {
        self.from < at && at <= self.until
    }
}

/// The random streams of the clients.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    /// The known blocks of each client in order of ticks, sorted by client.
    blocks: Vec<(u16, VecDeque<SeedBlock>)>,
    /// The clients that own controllers, sorted by controller.
    owners: Vec<(ControllerId, u16)>,
}

impl Streams {
    fn blocks_of(&self, client: u16) -> Option<&VecDeque<SeedBlock>> {
        let at = self.blocks.binary_search_by_key(&client, |s| s.0).ok()?;
        Some(&self.blocks[at].1)
    }

    /// Returns the client that owns a controller.
    pub(crate) fn owner(&self, who: ControllerId) -> Option<u16> {
        let at = self.owners.binary_search_by_key(&who, |o| o.0).ok()?;
        Some(self.owners[at].1)
    }

    /// Returns the block of a client that contains a tick.
    pub(crate) fn at_tick(&self, client: u16, tick: u32) -> Option<&SeedBlock> {
        self.blocks_of(client)?.iter().rev().find(|b| b.has_tick(tick))
    }

    fn at_time(&self, client: u16, at: SimTime) -> Option<&SeedBlock> {
        self.blocks_of(client)?.iter().rev().find(|b| b.has_time(at))
    }

    /// Adds a block of a client. A block that is not after the last one of the client changes nothing.
    pub(crate) fn push(&mut self, client: u16, block: SeedBlock) {
        let at = match self.blocks.binary_search_by_key(&client, |s| s.0) {
            Ok(at) => at,
            Err(at) => {
                self.blocks.insert(at, (client, VecDeque::new()));
                at
            }
        };
        let list = &mut self.blocks[at].1;
        if list.back().is_none_or(|last| last.first < block.first) {
            list.push_back(block);
        }
    }

    /// Drops the blocks of a client that end before a tick.
    pub(crate) fn drop_before(&mut self, client: u16, tick: u32) {
        if let Ok(at) = self.blocks.binary_search_by_key(&client, |s| s.0) {
            let list = &mut self.blocks[at].1;
            while list.front().is_some_and(|b| b.first.saturating_add(b.count) <= tick) {
                list.pop_front();
            }
        }
    }

    pub(crate) fn set_owner(&mut self, who: ControllerId, client: u16) {
        match self.owners.binary_search_by_key(&who, |o| o.0) {
            Ok(at) => self.owners[at].1 = client,
            Err(at) => self.owners.insert(at, (who, client)),
        }
    }

    /// Removes the blocks and the controllers of a client.
    pub(crate) fn remove(&mut self, client: u16) {
        self.blocks.retain(|s| s.0 != client);
        self.owners.retain(|o| o.1 != client);
    }

    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.owners.clear();
    }
}

/// What the current draws belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RollSource {
    /// An op of the host.
    #[default]
    Host,
    /// An op of a client.
    Op(OpId),
    /// Work that is due on a row.
    Due {
        /// The row.
        who: ControllerId,
        /// Distinguishes the work from other work that is due on the row at the same time.
        item: u64,
    },
}

impl RollSource {
    /// Returns the source of an op's draws.
    #[inline]
    pub(crate) fn of_op(id: OpId) -> RollSource {
        if id.client() == 0 { RollSource::Host } else { RollSource::Op(id) }
    }

    /// Returns the source of the draws of an effect that is due.
    #[inline]
    pub(crate) fn of_effect(who: ControllerId, effect: &Effect) -> RollSource {
        RollSource::Due { who, item: effect.origin_id ^ (effect.ordinal as u64).rotate_left(40) }
    }
}

impl State {
    /// Returns the client from whose stream a source draws.
    pub(crate) fn roll_client(&self, source: RollSource) -> Option<u16> {
        match source {
            RollSource::Host => None,
            RollSource::Op(id) => Some(id.client()),
            RollSource::Due { who, .. } => self.streams.owner(who),
        }
    }

    /// Returns the seed of a draw. Returns `None` if a predicting client does not know the seed.
    pub(crate) fn seed_of(&self, source: RollSource, role: Role) -> Option<u64> {
        let block = match source {
            RollSource::Host => None,
            RollSource::Op(id) => self.streams.at_tick(id.client(), id.base()),
            RollSource::Due { who, .. } => {
                self.streams.owner(who).and_then(|client| self.streams.at_time(client, self.now))
            }
        };
        match role {
            Role::Client => block.map(|b| b.seed),
            Role::Authority | Role::Standalone => Some(block.map_or(self.seed, |b| b.seed)),
        }
    }
}

impl View<'_> {
    /// Returns the seed of the current draws, and whether it is known. Draws that no client predicts
    /// (`is_for_server`) use the seed of the sim, which no client knows.
    pub(crate) fn seed(&self, is_for_server: impl Fn() -> bool) -> (u64, bool) {
        let source = if self.roll != RollSource::Host && is_for_server() { RollSource::Host } else { self.roll };
        let seed = self.st.seed_of(source, self.role);
        (seed.unwrap_or(0), seed.is_some())
    }

    /// Returns whether only the authoritative sim runs an effect or one of its calculations.
    pub(crate) fn is_effect_for_server(&self, effect: EffectId) -> bool {
        let is_hidden = |c: CalcId| self.rules.calcs.get(c.0).is_some_and(|c| !c.code.predictable());
        let def = self.st.definitions.effect(self.rules, effect);
        def.is_some_and(|d| d.authority || d.executions.iter().any(|x| is_hidden(x.calculator)))
    }
}

impl Flow<'_> {
    /// Returns the origin id of a triggered activation whose draws use the stream of a client. It depends on the op or
    /// the due work that triggered the activation, but on no counter of the row: the client could shift a counter until
    /// a roll succeeds. Returns `None` if the draws use the seed of the sim.
    pub(crate) fn trigger_origin(&self, parent: EffectKey, trigger: u64, position: usize) -> Option<u64> {
        self.st.roll_client(self.roll)?;
        let (at, item) = match self.roll {
            // The id of the op is enough. The time may differ, because a command may arrive late.
            RollSource::Host | RollSource::Op(_) => (0, 0),
            RollSource::Due { item, .. } => (self.st.now.0 as u64, item),
        };
        let words = [self.cause.root.0, at, item];
        let origin_id = words.iter().fold(trigger, |h, &w| fold(h, w));
        Some(child_origin_id(EffectKey { origin_id, ..parent }, trigger, 0, position))
    }
}

/// Refuses a result that used a number from an unknown stream.
pub(crate) fn check_known(known: bool, drew: bool) -> Result<(), Refusal> {
    if drew && !known { Err(Refusal::UnknownRoll) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(first: u32, seed: u64) -> SeedBlock {
        let time = |tick: u32| SimTime(tick as i64 * 10);
        SeedBlock { first, count: 8, from: time(first - 1), until: time(first + 7), seed }
    }

    #[test]
    fn a_tick_and_the_times_after_its_start_have_the_same_seed() {
        let mut streams = Streams::default();
        [block(1, 5), block(9, 6), block(9, 7), block(1, 8)].into_iter().for_each(|b| streams.push(3, b));
        let seed = |tick| streams.at_tick(3, tick).map(|b| b.seed);
        assert_eq!(
            [seed(0), seed(1), seed(8), seed(9), seed(16), seed(17)],
            [None, Some(5), Some(5), Some(6), Some(6), None]
        );
        let due = |at| streams.at_time(3, SimTime(at)).map(|b| b.seed);
        assert_eq!(
            [due(0), due(1), due(80), due(81), due(160), due(161)],
            [None, Some(5), Some(5), Some(6), Some(6), None]
        );
        assert_eq!(streams.at_tick(2, 3), None);
    }

    #[test]
    fn a_removed_client_leaves_no_blocks_and_owns_nothing() {
        let mut streams = Streams::default();
        streams.push(3, block(1, 5));
        streams.push(3, block(9, 6));
        streams.set_owner(ControllerId(4), 3);
        streams.set_owner(ControllerId(2), 9);
        streams.drop_before(3, 9);
        assert_eq!((streams.at_tick(3, 8), streams.at_tick(3, 9).map(|b| b.seed)), (None, Some(6)));
        streams.remove(3);
        assert_eq!((streams.at_tick(3, 9), streams.owner(ControllerId(4))), (None, None));
        assert_eq!(streams.owner(ControllerId(2)), Some(9));
    }
}
