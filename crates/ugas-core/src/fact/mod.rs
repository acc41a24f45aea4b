//! Facts: the events of a sim in one ordered log. Game code, cues, replication and the studio all read this log. A fact
//! is plain data with a C layout.
//!
//! A sim has two more logs: the diagnostics (likely mistakes in documents) and the opt-in trace (lifecycle steps, state
//! changes and refusals).

mod describe;
mod detail;
mod diagnostic;
mod field;
mod kind;
mod trace;
mod word;

pub(crate) use detail::put as put_param;
pub use detail::{ParamValue, Params};
pub use diagnostic::{Diagnostic, DiagnosticKind};
pub use field::FieldValue;
pub use kind::FactKind;
pub use trace::{AbilityState, LifecycleStep, TaskState, Trace, TraceKind};
pub use word::{BufferStep, CapabilityStep, CastStep, CueType, EffectChange, RemoveReason, ResourceStep, TaskResult};

use crate::{AttributeId, ControllerId, EffectId, EffectKey, OpId, SimTime};
use serde::{Deserialize, Serialize};

/// The cause of a fact: the root op, and a link into the sim's ring buffer of causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct Cause {
    /// The root op.
    pub root: OpId,
    /// The link of the nearest cause. `Sim::chain` returns the chain of causes that starts at this link.
    pub link: u32,
}

/// A range of bytes in [`Facts::detail`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct Span {
    /// The offset in bytes.
    pub offset: u32,
    /// The length in bytes.
    pub len: u32,
}

/// One event of a sim.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C)]
pub struct Fact {
    /// The time of the event.
    pub at: SimTime,
    /// The controller that the event happened to.
    pub who: ControllerId,
    /// The controller that caused the event, or [`ControllerId::NONE`].
    pub source: ControllerId,
    /// The effect application that caused the event, or [`EffectKey::NONE`].
    pub key: EffectKey,
    /// The root op.
    pub root: OpId,
    /// The link of the nearest cause. `Sim::chain` returns the chain of causes that starts at this link.
    pub link: u32,
    /// The effect definition of the application in `key`, or [`EffectId::NONE`].
    pub effect: EffectId,
    /// What happened.
    pub kind: FactKind,
}

const _: () = assert!(size_of::<Fact>() == 96);

impl Fact {
    /// Returns the cause.
    pub fn cause(&self) -> Cause {
        Cause { root: self.root, link: self.link }
    }
}

/// A log of facts and their details. Details are the variable-length data of facts.
///
/// ```
/// let facts = ugas_core::Facts::default();
/// assert!(facts.list.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The facts in order.
    pub list: Vec<Fact>,
    /// The details of all facts, encoded as bytes: the parameters of task requests, the payloads of events, and the
    /// positions of cues.
    pub detail: Vec<u8>,
}

/// Iterates over the facts in order.
///
/// ```
/// # use ugas_core::Facts;
/// for fact in &Facts::default() {
///     println!("{}", fact.at);
/// }
/// ```
impl<'f> IntoIterator for &'f Facts {
    type Item = &'f Fact;
    type IntoIter = std::slice::Iter<'f, Fact>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl Facts {
    /// Iterates over the facts in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Fact> {
        self.list.iter()
    }

    /// Iterates over the facts that report a change of an attribute on one controller, or on all controllers if `who`
    /// is `None`.
    ///
    /// ```
    /// # use ugas_core::{AttributeId, Facts};
    /// assert_eq!(Facts::default().changes_of(AttributeId(0), None).count(), 0);
    /// ```
    pub fn changes_of(&self, attribute: AttributeId, who: Option<ControllerId>) -> impl Iterator<Item = &Fact> {
        self.list.iter().filter(move |f| {
            matches!(f.kind, FactKind::AttributeChanged { attribute: a, .. } if a == attribute)
                && who.is_none_or(|w| w == f.who)
        })
    }
}
