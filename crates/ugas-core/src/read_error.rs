//! The errors of queries. A failed query does not change the sim.

use crate::{AttributeId, ControllerId, NameKind, Refusal, Rules};

/// The reason why a query on a sim failed.
///
/// ```
/// use ugas_core::{AttributeId, ControllerId, ReadError, Rules, Sim, SimConfig};
/// let sim = Sim::new(Rules::builder().build()?, SimConfig::default());
/// assert_eq!(sim.get(ControllerId(0), AttributeId(0)), Err(ReadError::StaleHandle));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The controller, effect or grant does not exist.
    StaleHandle,
    /// No attribute set of the controller has the attribute.
    UnknownAttribute {
        /// The controller.
        who: ControllerId,
        /// The attribute.
        attribute: AttributeId,
    },
    /// The rules have no definition with this id.
    UnknownName {
        /// The kind of definition.
        kind: NameKind,
        /// The id.
        id: u32,
    },
}

impl ReadError {
    /// Returns the error message with names from the rules.
    pub fn describe(self, rules: &Rules) -> String {
        Refusal::from(self).describe(rules)
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Refusal {
        match error {
            ReadError::StaleHandle => Refusal::StaleHandle,
            ReadError::UnknownAttribute { who, attribute } => Refusal::UnknownAttribute { who, attribute },
            ReadError::UnknownName { kind, id } => Refusal::UnknownName { kind, id },
        }
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::StaleHandle => write!(f, "the controller, effect or grant does not exist"),
            ReadError::UnknownAttribute { who, attribute } => write!(f, "{who} has no {attribute}"),
            ReadError::UnknownName { kind, id } => write!(f, "the rules have no {kind} with id {id}"),
        }
    }
}
impl std::error::Error for ReadError {}
