//! The interface of a measured implementation. The workloads are written once for this trait, so that the reference
//! implementation and the runtime run the same loops over the same plan.

use crate::plan::Ask;

/// The outcome of an attempt to activate an ability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    /// The ability was activated.
    Started,
    /// A tag blocks the ability.
    Blocked,
    /// The cost cannot be paid.
    Cost { have: f64, need: f64 },
    /// The ability is on cooldown; the value is the remaining time in flicks.
    Cooldown { left: i64 },
}

/// A world of controllers, numbered from 0 in the order they were spawned.
///
/// All effects come from [`crate::plan::effects`] and are named by their index there, except those that grant a tag,
/// which are named by it; their source is controller 0.
pub(crate) trait Subject: Sized {
    /// The key of an applied effect.
    type Key: Copy;
    /// The id of a tag.
    type Tag: Copy;
    /// The name of the column in the tables.
    const NAME: &'static str;

    /// Returns an empty world with compiled rules; memory for `room` controllers may be reserved.
    fn new(room: usize) -> Self;
    /// Spawns many controllers from the template in one call.
    fn spawn_many(&mut self, count: usize);
    /// Spawns one controller from the template.
    fn spawn_one(&mut self);
    /// Spawns one controller from the template with innate tags and [`crate::plan::ABILITIES_EACH`] abilities.
    fn spawn_full(&mut self, tags: &[u16]);

    /// Applies a timed effect with its own duration.
    fn apply(&mut self, who: u32, effect: u16) -> Self::Key;
    /// Applies a timed or periodic effect with this duration, in flicks.
    fn apply_for(&mut self, who: u32, effect: u16, duration: i64) -> Self::Key;
    /// Applies many timed effects to one target in one call.
    fn apply_all(&mut self, who: u32, effects: &[u16], keys: &mut Vec<Self::Key>);
    /// Removes an effect before it expires.
    fn remove(&mut self, key: Self::Key);
    /// Applies the instant damage.
    fn hit(&mut self, who: u32);
    /// Applies the instant damage to many targets in one call.
    fn hit_many(&mut self, targets: &[u32]);

    /// Tries to activate an ability of a controller that was spawned with abilities.
    fn activate(&mut self, who: u32, ability: usize) -> Answer;

    /// Advances the clock by this many frames and runs the due work.
    fn advance(&mut self, frames: i64);

    /// Applies the infinite effect that grants this tag.
    fn add_tag(&mut self, who: u32, tag: u16) -> Self::Key;
    /// Answers a tag query. A controller also has the ancestors of its tags.
    fn ask(&self, who: u32, ask: Ask<Self::Tag>) -> bool;
    /// Returns the id of a tag.
    fn tag(&self, tag: u16) -> Self::Tag;

    /// Returns the current value of an attribute.
    fn current(&self, who: u32, attribute: usize) -> f64;
    /// Returns the base value of an attribute.
    fn base(&self, who: u32, attribute: usize) -> f64;
    /// Takes the facts, as a host does after each step, and returns their number.
    fn take_facts(&mut self) -> usize;
    /// Frees the buffers for facts, which are as large as the busiest step and do not belong to a controller.
    fn drop_buffers(&mut self);
    /// Returns a digest of the facts not yet taken, order and times included; for checks, never timed.
    fn facts_digest(&self) -> u64;
    /// Returns how many periodic executions and expiries have been done.
    fn due_done(&self) -> u64;
}
