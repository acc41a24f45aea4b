//! Configuration of a sim: seed, limits, frame length and its network role.

use crate::SimTime;
use crate::limits::Limits;

/// The network role of a sim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Stand-alone: the authoritative sim, without clients.
    #[default]
    Standalone,
    /// The authoritative server sim; clients predict parts of it.
    Authority,
    /// A predicting client sim. Effects for the authoritative sim only are refused, and calculations that cannot be
    /// predicted are left to it.
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
    /// Seed of the random stream.
    pub seed: u64,
    /// The limits.
    pub limits: Limits,
    /// Whether lifecycle steps and refusals are traced.
    pub trace: bool,
    /// The length of a frame: ticking tasks run at whole multiples of it.
    pub frame: SimTime,
    /// How many tasks may tick in one frame; the others gain urgency.
    pub task_budget: u32,
    /// Whether timelines of the data play and answer waiting tasks. Turn it off in an engine that plays animations
    /// itself.
    pub timelines: bool,
    /// The network role.
    pub role: Role,
    /// Whether every fast path is switched off. For tests only: both settings give the same facts, causes and hashes,
    /// and this one is slower.
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
            slow_path: false,
        }
    }
}
