//! The limits of a sim. They bound memory and run time for every input.

use serde::{Deserialize, Serialize};

/// The limits of a sim. A change that would exceed a limit is refused or reported as a diagnostic.
///
/// ```
/// use ugas_core::Limits;
/// let small = Limits { effects_per_controller: 64, ..Limits::default() };
/// assert!(small.reactions < u32::MAX);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The maximum number of controllers in a sim.
    pub controllers: u32,
    /// The maximum number of active and queued effects on one controller.
    pub effects_per_controller: u32,
    /// The maximum number of modifiers on one controller.
    pub modifiers_per_controller: u32,
    /// The maximum number of attributes of one controller.
    pub attributes_per_controller: u32,
    /// The maximum number of abilities granted to one controller.
    pub grants_per_controller: u32,
    /// The maximum number of distinct combinations of attribute sets in use.
    pub layouts: u32,
    /// The maximum number of stacks of one effect.
    pub stacks: u32,
    /// The maximum length of a chain of reactions in which each reaction causes the next reaction.
    pub chain_depth: u32,
    /// The maximum number of reactions to one op, periodic execution, expiry or timer. Each task step counts as a
    /// reaction.
    pub reactions: u32,
    /// The maximum number of periodic executions, expiries and timers that one `advance_to` call runs. The next call
    /// runs the remaining ones.
    pub due_per_advance: u64,
    /// The maximum number of facts stored until `take_facts` is called. If more facts are emitted, the sim drops the
    /// older half of the facts and emits a diagnostic.
    pub facts: u32,
    /// The maximum number of diagnostics stored until `take_diagnostics` is called.
    pub diagnostics: u32,
    /// The maximum number of cause links stored for `Sim::chain`.
    pub cause_links: u32,
    /// The maximum number of run-time definitions in a sim.
    pub definitions: u32,
    /// The maximum number of entries in the journal of one controller.
    pub journal: u32,
    /// The maximum number of simultaneous activations of a controller.
    pub activations_per_controller: u32,
    /// The maximum number of parameters of one grant. The same limit applies to the restrictions of one grant.
    pub params_per_grant: u32,
    /// The maximum number of capabilities of one controller. The same limit applies to the blocks on one controller.
    pub capabilities_per_controller: u32,
    /// The maximum number of times that one effect may become inhibited or stop being inhibited in the reactions to one
    /// op, periodic execution, expiry or timer.
    pub flips: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            controllers: 1 << 22,
            effects_per_controller: 16_384,
            modifiers_per_controller: 65_536,
            attributes_per_controller: 16_384,
            grants_per_controller: 4_096,
            layouts: 4_096,
            stacks: 1_000_000,
            chain_depth: 64,
            reactions: 10_000,
            due_per_advance: 10_000_000,
            facts: 4_000_000,
            diagnostics: 1_000,
            cause_links: 4_096,
            definitions: 65_536,
            journal: 4_096,
            activations_per_controller: 64,
            params_per_grant: 64,
            capabilities_per_controller: 1_024,
            flips: 2,
        }
    }
}

/// The shortest period: 1 ms.
pub const MIN_PERIOD: crate::SimTime = crate::SimTime::millis(1);
