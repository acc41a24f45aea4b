//! Diagnostics: reports of likely mistakes in documents, of refused reactions and of reached limits. A diagnostic does
//! not stop the sim.

use super::field::event_kinds;
use super::{Cause, FieldValue};
use crate::{AbilitySetId, AttributeId, CapabilityId, ControllerId, EffectId, KeyId, Refusal, SimTime, TagId};
use serde::{Deserialize, Serialize};

event_kinds! {
    /// The kind of a diagnostic: a likely mistake in a document that did not stop the sim.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum DiagnosticKind {
        /// The removal of a tag was skipped, because the controller does not have the tag.
        TagUnderflow {
            /// The tag.
            tag: TagId = "Tag",
        },
        /// A modifier was skipped because its set-by-caller value is missing.
        MissingSetByCaller {
            /// The key.
            key: KeyId = "Key",
        },
        /// A derived value or a live magnitude is not finite and is ignored.
        NonFinite {
            /// The attribute.
            attribute: AttributeId = "Attribute",
        },
        /// A number in a condition is not finite, so the condition is false.
        NonFiniteCondition,
        /// A computed value overflowed and was clamped to the finite range.
        Saturated {
            /// The attribute.
            attribute: AttributeId = "Attribute",
        },
        /// A duration was zero or less, so the effect was applied and removed immediately.
        ZeroDuration,
        /// A spec overrides the duration of an effect that has no duration. The override was ignored.
        DurationOverrideIgnored,
        /// A controller document states a current value that differs from the computed value.
        ValueMismatch {
            /// The attribute.
            attribute: AttributeId = "Attribute",
            /// The value in the document.
            stated: f64 = "Stated",
            /// The computed value.
            found: f64 = "Found",
        },
        /// A declared tag without `AllowMultiple` was granted more than once at the same time.
        MultipleGrants {
            /// The tag.
            tag: TagId = "Tag",
        },
        /// A reaction was refused.
        ReactionRefused {
            /// The refusal.
            refusal: Refusal = "Refusal",
        },
        /// The ongoing requirements of an effect inhibit the effect and end the inhibition again and again.
        Cycle,
        /// A limit was reached in a reaction, or the log is full.
        Limit,
        /// A set has a capability whose class has no code in this process. The capability does nothing.
        CapabilityWithoutCode {
            /// The set.
            set: AbilitySetId = "Set",
            /// The class.
            class: CapabilityId = "Class",
        },
        /// A capability that runs on one machine only requested a change of shared state. The request was ignored.
        LocalCapabilityRefused {
            /// The class.
            class: CapabilityId = "Class",
        },
        /// The state of a coded capability could not be stored or read, so its code was not called.
        CapabilityState {
            /// The class.
            class: CapabilityId = "Class",
        },
        /// A document requires something that is missing at run time, e.g. the position of a controller without an
        /// anchor.
        MissingTarget,
    }
}

/// A diagnostic with its context.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The time.
    pub at: SimTime,
    /// The controller.
    pub who: ControllerId,
    /// The effect definition that caused the diagnostic.
    pub effect: EffectId,
    /// The cause.
    pub cause: Cause,
    /// What happened.
    pub kind: DiagnosticKind,
}
