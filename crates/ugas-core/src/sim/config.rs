//! How a sim is set up: seed, limits, frame length and its role on a network.

use crate::SimTime;
use crate::limits::Limits;

/// Whose truth a sim holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The only one: it decides and plays locally.
    #[default]
    Whole,
    /// It decides; others play ahead of it.
    Authority,
    /// It plays ahead of an authority. Effects that are for the authority only are refused here, and calculations that
    /// may not be run ahead are left to it.
    Client,
}

/// How a sim is set up.
///
/// ```
/// let config = ugas_core::SimConfig { seed: 7, ..Default::default() };
/// assert!(!config.trace);
/// ```
#[derive(Clone, Debug)]
pub struct SimConfig {
    /// Seed of the random stream.
    pub seed: u64,
    /// Limits on everything.
    pub limits: Limits,
    /// Whether lifecycle steps and refusals are traced.
    pub trace: bool,
    /// Length of a frame: tasks that tick do so at whole multiples of it.
    pub frame: SimTime,
    /// How many tasks may tick in one frame; the others grow more urgent.
    pub task_budget: u32,
    /// Whether timelines of the data play and answer waiting tasks. An engine that plays animations itself says no.
    pub timelines: bool,
    /// Whose truth it holds.
    pub role: Role,
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
            role: Role::Whole,
        }
    }
}
