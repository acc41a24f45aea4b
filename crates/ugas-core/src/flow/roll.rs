//! Which random stream a draw uses.
//!
//! A sim without clients draws from its own seed. For a client, the host registers two kinds of streams. They decide
//! which numbers are drawn; they are neither part of the state of the game nor of its hash.
//!
//! - **Uses** (`flow/uses.rs`): an ability of a client's controller that draws because of an op of that client draws
//!   from the seed of a use. The uses of an ability are numbered in the order in which they draw, so neither the time
//!   of an op nor its target changes its rolls. Later work of the op on the client's controllers and retries of held
//!   inputs are such uses too. If an op applies an effect to several targets, their rolls use the seed of the sim: the
//!   client could otherwise choose which target gets which roll.
//! - **Blocks of time**: other work that is due on a controller of the client draws from the seed of the block that
//!   contains the current time.
//!
//! Every other draw uses the seed of the sim, and so does a draw that no client predicts. A predicting client knows
//! only the seeds that the server has revealed. A draw from a stream that it does not know is refused with
//! [`Refusal::UnknownRoll`]: the result is left to the server.

use super::task::is_retry;
use super::uses::{UsedAbility, Uses};
use super::{Flow, State, View, child_origin_id};
use crate::rng::{DrawAt, fold};
use crate::state::Effect;
use crate::{CalcId, ControllerId, EffectId, EffectKey, OpId, Refusal, Role, SimTime};
use std::cell::RefCell;
use std::collections::VecDeque;

/// The seed of a client's random stream for a block of time.
///
/// ```
/// use ugas_core::{SeedBlock, SimTime};
/// let block = SeedBlock { from: SimTime::millis(160), until: SimTime::millis(320), seed: 5 };
/// assert!(block.has_time(SimTime::millis(320)) && !block.has_time(block.from));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedBlock {
    /// Work that is due after this time draws from this seed.
    pub from: SimTime,
    /// The last time of the block.
    pub until: SimTime,
    /// The seed.
    pub seed: u64,
}

impl SeedBlock {
    /// Returns whether work that is due at the time `at` draws from this seed.
    pub fn has_time(&self, at: SimTime) -> bool {
        self.from < at && at <= self.until
    }
}

/// The draws for uses that have no number yet: the op and the ability of each. [`Flow::number_use`] numbers them.
pub(crate) type Drawn = RefCell<Vec<(OpId, UsedAbility)>>;

/// The random streams of the clients.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    /// The known blocks of each client in order of time, sorted by client.
    blocks: Vec<(u16, VecDeque<SeedBlock>)>,
    /// The clients that own controllers, sorted by controller.
    owners: Vec<(ControllerId, u16)>,
    /// The uses of abilities by clients.
    pub(crate) uses: Uses,
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

    fn at_time(&self, client: u16, at: SimTime) -> Option<&SeedBlock> {
        self.blocks_of(client)?.iter().rev().find(|b| b.has_time(at))
    }

    /// Adds a seed block of a client. A block that starts no later than the client's last block changes nothing.
    pub(crate) fn push(&mut self, client: u16, block: SeedBlock) {
        let at = match self.blocks.binary_search_by_key(&client, |s| s.0) {
            Ok(at) => at,
            Err(at) => {
                self.blocks.insert(at, (client, VecDeque::new()));
                at
            }
        };
        let list = &mut self.blocks[at].1;
        if list.back().is_none_or(|last| last.from < block.from) {
            list.push_back(block);
        }
    }

    /// Removes the client's seed blocks that end before `time`.
    pub(crate) fn drop_before(&mut self, client: u16, time: SimTime) {
        if let Ok(at) = self.blocks.binary_search_by_key(&client, |s| s.0) {
            let list = &mut self.blocks[at].1;
            while list.front().is_some_and(|b| b.until < time) {
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

    /// Removes the seed blocks and the uses of a client, and its ownership of controllers. The next use numbers belong
    /// to the controllers and stay.
    pub(crate) fn remove(&mut self, client: u16) {
        self.blocks.retain(|s| s.0 != client);
        self.owners.retain(|o| o.1 != client);
        self.uses.remove_client(client);
    }

    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.owners.clear();
        self.uses.clear();
    }
}

/// The cause of the current draws. It decides which random stream they use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RollSource {
    pub(crate) from: RollOrigin,
    /// Identifies the consequence of the op or the due work that draws, so that each consequence draws its own numbers.
    path: u64,
    /// Whether a client that knew the results of these draws could choose among them: which of several targets draws,
    /// or whether a rejected command draws at all. The draws then use the seed of the sim.
    is_chosen: bool,
}

/// What caused the current draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RollOrigin {
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
        let from = if id.client() == 0 { RollOrigin::Host } else { RollOrigin::Op(id) };
        RollSource { from, ..RollSource::default() }
    }

    /// Returns the source of the draws of work that is due.
    #[inline]
    pub(crate) fn due(who: ControllerId, item: u64) -> RollSource {
        RollSource { from: RollOrigin::Due { who, item }, ..RollSource::default() }
    }

    /// Returns the source of the draws of an effect that is due.
    #[inline]
    pub(crate) fn of_effect(who: ControllerId, effect: &Effect) -> RollSource {
        RollSource::due(who, effect.origin_id ^ (effect.ordinal as u64).rotate_left(40))
    }

    /// Returns the source of the draws of a consequence. The words identify the consequence among the others, so that
    /// its draws are independent of theirs. They must not contain anything that a client can choose, such as a time.
    pub(crate) fn child(self, words: [u64; 3]) -> RollSource {
        RollSource { path: words.iter().fold(self.path, |h, &w| fold(h, w)), ..self }
    }
}

/// The random stream that a draw uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RollStream {
    pub(crate) seed: u64,
    /// Whether this sim has the seed. A predicting client has only the seeds that the server revealed.
    pub(crate) known: bool,
    /// If the seed is that of a use: the [`RollSource::path`] of the draw. It replaces the ids of the op, the target
    /// and the origin, because the client can influence these ids.
    pub(crate) path: Option<u64>,
    /// Whether the draw belongs to a use of a client's ability, even if the use has no seed.
    pub(crate) is_use: bool,
}

impl State {
    /// Returns the client from whose stream a source draws.
    pub(crate) fn roll_client(&self, source: RollSource) -> Option<u16> {
        match source.from {
            RollOrigin::Host => None,
            RollOrigin::Op(id) => Some(id.client()),
            RollOrigin::Due { who, .. } => self.streams.owner(who),
        }
    }

    /// Returns the stream from which an ability draws. `root` is the op that caused the draw.
    fn stream_of(&self, source: RollSource, root: OpId, used: UsedAbility, role: Role) -> RollStream {
        let known = RollStream { seed: self.seed, known: true, path: None, is_use: false };
        // The seed of the sim, which no client knows.
        let own = RollStream { known: role != Role::Client, ..known };
        let client = self.roll_client(source);
        let is_own = client.is_some() && self.streams.owner(used.who) == client;
        let is_use = match source.from {
            RollOrigin::Host => return own,
            RollOrigin::Op(_) => true,
            RollOrigin::Due { .. } => client.is_some_and(|c| root.client() == c) || is_own && is_retry(root),
        };
        if is_use || is_own && root.client() != 0 {
            // An op of an earlier connection of the same player has no number here.
            let is_use = is_use && is_own && !source.is_chosen;
            let seed = self.streams.uses.seed_of(root, used).filter(|_| is_use);
            let stream = seed.map_or(own, |seed| RollStream { seed, path: Some(source.path), ..known });
            return RollStream { is_use, ..stream };
        }
        let block = client.and_then(|client| self.streams.at_time(client, self.now));
        block.map_or(own, |block| RollStream { seed: block.seed, ..known })
    }
}

impl View<'_> {
    /// Returns the stream of the current draws. Draws that no client predicts (`is_for_server`) use the seed of the
    /// sim, which no client knows.
    pub(crate) fn roll_stream(&self, used: UsedAbility, is_for_server: impl Fn() -> bool) -> RollStream {
        let is_host = self.roll.from == RollOrigin::Host || is_for_server();
        let source = if is_host { RollSource::default() } else { self.roll };
        self.st.stream_of(source, self.root, used, self.role)
    }

    /// Records that random numbers were drawn for an ability. Returns [`Refusal::UnknownRoll`] if this sim does not
    /// have the seed of their stream.
    pub(crate) fn record_draws(&self, draw: &DrawAt, used: UsedAbility) -> Result<(), Refusal> {
        if !draw.known {
            return Err(Refusal::UnknownRoll);
        }
        if let Some(drawn) = self.drawn.filter(|_| draw.is_use) {
            drawn.borrow_mut().push((self.root, used));
        }
        Ok(())
    }

    /// Returns whether only the authoritative sim runs an effect or one of its calculations.
    pub(crate) fn is_effect_for_server(&self, effect: EffectId) -> bool {
        let is_hidden = |c: CalcId| self.rules.calcs.get(c.0).is_some_and(|c| !c.code.predictable());
        let def = self.st.definitions.effect(self.rules, effect);
        def.is_some_and(|d| d.authority || d.executions.iter().any(|x| is_hidden(x.calculator)))
    }
}

impl Flow<'_> {
    /// Numbers the uses that drew in the previous operation, and sets the source of the next draws.
    #[inline]
    pub(crate) fn set_roll(&mut self, roll: RollSource) {
        self.number_use();
        self.roll = roll;
    }

    /// Starts the draws of a consequence. Returns the source of the draws before it, which the caller restores.
    pub(crate) fn enter_roll(&mut self, path: [u64; 3]) -> RollSource {
        let child = self.roll.child(path);
        std::mem::replace(&mut self.roll, child)
    }

    /// Runs the applications of an effect to `count` targets. Applications to several targets draw from the seed of the
    /// sim: a client that knew their rolls could choose which target gets which roll.
    pub(crate) fn with_targets(&mut self, count: usize, run: impl FnOnce(&mut Self)) {
        if count > 1 { self.with_chosen_rolls(run) } else { run(self) }
    }

    /// Runs `run` with draws from the seed of the sim, which no client knows. Otherwise a client that knew the rolls
    /// could choose among them.
    pub(crate) fn with_chosen_rolls(&mut self, run: impl FnOnce(&mut Self)) {
        let roll = self.roll;
        self.roll = RollSource { is_chosen: true, ..roll };
        run(self);
        self.roll = roll;
    }

    /// Numbers the uses that drew and have no number yet.
    #[inline]
    pub(crate) fn number_use(&mut self) {
        if !self.drawn.get_mut().is_empty() {
            self.number_uses();
        }
    }

    #[cold]
    fn number_uses(&mut self) {
        for (root, used) in self.drawn.get_mut().drain(..) {
            self.st.streams.uses.number(root, used, self.st.now);
        }
    }

    /// Returns the origin id of a triggered activation whose draws use the stream of a client. It depends on the op or
    /// the due work that triggered the activation, but on no counter of the row: the client could shift a counter until
    /// a roll succeeds. Returns `None` if the draws use the seed of the sim.
    pub(crate) fn trigger_origin(&self, parent: EffectKey, trigger: u64, position: usize) -> Option<u64> {
        self.st.roll_client(self.roll)?;
        let (at, item) = match self.roll.from {
            // The id of the op is enough. The time may differ, because a command may arrive late.
            RollOrigin::Host | RollOrigin::Op(_) => (0, 0),
            RollOrigin::Due { item, .. } => (self.st.now.0 as u64, item),
        };
        let words = [self.cause.root.0, at, item];
        let origin_id = words.iter().fold(trigger, |h, &w| fold(h, w));
        Some(child_origin_id(EffectKey { origin_id, ..parent }, trigger, 0, position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(first: i64, seed: u64) -> SeedBlock {
        SeedBlock { from: SimTime((first - 1) * 10), until: SimTime((first + 7) * 10), seed }
    }

    #[test]
    fn a_time_has_the_seed_of_its_block() {
        let mut streams = Streams::default();
        [block(1, 5), block(9, 6), block(9, 7), block(1, 8)].into_iter().for_each(|b| streams.push(3, b));
        let due = |at| streams.at_time(3, SimTime(at)).map(|b| b.seed);
        assert_eq!(
            [due(0), due(1), due(80), due(81), due(160), due(161)],
            [None, Some(5), Some(5), Some(6), Some(6), None]
        );
        assert_eq!(streams.at_time(2, SimTime(3)), None);
    }

    #[test]
    fn a_removed_client_leaves_no_blocks_and_owns_nothing() {
        let mut streams = Streams::default();
        streams.push(3, block(1, 5));
        streams.push(3, block(9, 6));
        streams.set_owner(ControllerId(4), 3);
        streams.set_owner(ControllerId(2), 9);
        streams.drop_before(3, SimTime(81));
        let seed = |streams: &Streams, at| streams.at_time(3, SimTime(at)).map(|b| b.seed);
        assert_eq!((seed(&streams, 80), seed(&streams, 81)), (None, Some(6)));
        streams.remove(3);
        assert_eq!((seed(&streams, 81), streams.owner(ControllerId(4))), (None, None));
        assert_eq!(streams.owner(ControllerId(2)), Some(9));
    }
}
