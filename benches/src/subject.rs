//! The doors a subject must offer to be measured. The workloads are written once against this trait, so the stick
//! and the runtime are driven by the same loops over the same plan.

use crate::plan::Ask;

/// What came of an attempt to activate an ability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    /// It ran.
    Started,
    /// A tag forbids it.
    Blocked,
    /// It cannot be paid.
    Cost { have: f64, need: f64 },
    /// It cools down for so many flicks more.
    Cooldown { left: i64 },
}

/// A world of controllers, numbered from 0 in the order they were spawned.
///
/// All effects come from [`crate::plan::effects`] and are named by their index there, except those that grant a tag,
/// which are named by it; their source is controller 0.
pub(crate) trait Subject: Sized {
    /// What an applied effect is found by again.
    type Key: Copy;
    /// What a tag is called at run time.
    type Tag: Copy;
    /// The column in the table.
    const NAME: &'static str;

    /// Returns an empty world with compiled rules; memory for `room` controllers may be reserved.
    fn new(room: usize) -> Self;
    /// The batch door: so many controllers from the template.
    fn spawn_many(&mut self, count: usize);
    /// One controller from the template.
    fn spawn_one(&mut self);
    /// One controller from the template with innate tags and [`crate::plan::ABILITIES_EACH`] abilities.
    fn spawn_full(&mut self, tags: &[u16]);

    /// Applies a timed effect with its own duration.
    fn apply(&mut self, who: u32, effect: u16) -> Self::Key;
    /// Applies a timed or periodic effect with this duration, in flicks.
    fn apply_for(&mut self, who: u32, effect: u16, duration: i64) -> Self::Key;
    /// The batch door: many timed effects on one target.
    fn apply_all(&mut self, who: u32, effects: &[u16], keys: &mut Vec<Self::Key>);
    /// Removes an effect before its time.
    fn remove(&mut self, key: Self::Key);
    /// Applies the instant damage.
    fn hit(&mut self, who: u32);
    /// The batch door: the instant damage on many targets.
    fn hit_many(&mut self, targets: &[u32]);

    /// Tries to activate an ability of a controller that was spawned with abilities.
    fn activate(&mut self, who: u32, ability: usize) -> Answer;

    /// Advances the clock by so many frames and does what is due.
    fn advance(&mut self, frames: i64);

    /// Applies the infinite effect that grants this tag.
    fn add_tag(&mut self, who: u32, tag: u16) -> Self::Key;
    /// Answers a tag query; ancestors of owned tags count.
    fn ask(&self, who: u32, ask: Ask<Self::Tag>) -> bool;
    /// Returns the subject's own name of a tag.
    fn tag(&self, tag: u16) -> Self::Tag;

    /// Returns the current value of an attribute.
    fn current(&self, who: u32, attribute: usize) -> f64;
    /// Returns the base value of an attribute.
    fn base(&self, who: u32, attribute: usize) -> f64;
    /// Takes the facts out, as a host does after each step, and says how many there were.
    fn take_facts(&mut self) -> usize;
    /// Gives back the memory of buffers for facts, which belong to no controller and are as large as the busiest step.
    fn drop_buffers(&mut self);
    /// Returns a digest of the facts not yet taken, order and times included; for checks, never timed.
    fn facts_digest(&self) -> u64;
    /// Returns how many periodic executions and expiries have been done.
    fn due_done(&self) -> u64;
}
