//! Limits, so that no input can make memory or run time grow without bound.

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
    /// Controllers in a sim.
    pub controllers: u32,
    /// Active and queued effects on one controller.
    pub effects_per_controller: u32,
    /// Modifiers on one controller.
    pub modifiers_per_controller: u32,
    /// Attributes of one controller.
    pub attributes_per_controller: u32,
    /// Abilities granted to one controller.
    pub grants_per_controller: u32,
    /// Distinct combinations of attribute sets in use.
    pub layouts: u32,
    /// Stacks of one effect.
    pub stacks: u32,
    /// Length of a chain of effects in which each effect causes the next.
    pub chain_depth: u32,
    /// Reactions to one op, or to one due execution or expiry.
    pub reactions: u32,
    /// Executions and expiries in one `advance_to` call. The remaining ones run in the next call.
    pub due_per_advance: u64,
    /// Facts stored until `take_facts` is called. Beyond that, the oldest facts are dropped and a diagnostic is
    /// emitted.
    pub facts: u32,
    /// Diagnostics stored until `take_diagnostics` is called.
    pub diagnostics: u32,
    /// Cause links stored for `Sim::chain`.
    pub cause_links: u32,
    /// Run-time definitions.
    pub definitions: u32,
    /// Entries recorded in the journal of one controller.
    pub journal: u32,
    /// Simultaneous activations of a controller.
    pub activations_per_controller: u32,
    /// Parameters of one grant, and separately its restrictions.
    pub params_per_grant: u32,
    /// How often ongoing requirements may inhibit or restore one effect within one op or due time.
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
            flips: 2,
        }
    }
}

/// The shortest period: 1 ms.
pub const MIN_PERIOD: crate::SimTime = crate::SimTime::millis(1);
