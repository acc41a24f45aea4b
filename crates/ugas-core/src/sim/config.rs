//! The configuration of a sim, such as its seed, limits, frame length and network role.

use crate::SimTime;
use crate::limits::Limits;

/// The network role of a sim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A sim without a network.
    #[default]
    Standalone,
    /// The authoritative sim of a server. Clients predict parts of its state.
    Authority,
    /// The predicting sim of a client. A client's sim refuses effects that only the authoritative sim applies, and
    /// skips calculations that cannot be predicted.
    Client,
}

/// The configuration of a sim.
///
/// ```
/// let config = ugas_core::SimConfig { seed: 7, ..Default::default() };
/// assert!(!config.trace);
/// ```
#[derive(Clone, Debug)]
pub struct SimConfig {
    /// The seed of the random stream.
    pub seed: u64,
    /// The limits on sizes and counts.
    pub limits: Limits,
    /// Whether the sim records lifecycle steps, state changes and refusals in the trace.
    pub trace: bool,
    /// The length of a frame. Tasks tick at whole multiples of this time.
    pub frame: SimTime,
    /// How many tasks may tick in one frame. The remaining tasks are deferred to a later frame and gain priority.
    pub task_budget: u32,
    /// Whether the sim plays timeline documents, which complete tasks that wait for an animation. Set this field to
    /// false in an engine that plays the animations itself.
    pub timelines: bool,
    /// The network role.
    pub role: Role,
    /// Whether this machine shows the world to a player. False on a dedicated server. The field decides where
    /// capabilities run ([`Sim::home_of`](crate::Sim::home_of)).
    pub screen: bool,
    /// Whether all fast paths are turned off, for tests. Facts, causes and hashes are the same with and without fast
    /// paths, but the sim is slower without them.
    pub slow_path: bool,
}

impl Default for SimConfig {
    fn default() -> SimConfig {
        SimConfig {
            seed: 0,
            limits: Limits::default(),
            trace: false,
            frame: SimTime::frames(1, 60),
            task_budget: u32::MAX,
            timelines: true,
            role: Role::Standalone,
            screen: true,
            slow_path: false,
        }
    }
}
