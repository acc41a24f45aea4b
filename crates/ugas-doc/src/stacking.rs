//! Stacking: how further applications of one effect add stacks to its active instance.

use serde::{Deserialize, Serialize};

/// Which applications of the effect are combined.
///
/// ```
/// assert_eq!(ugas_doc::StackBy::default(), ugas_doc::StackBy::Target);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum StackBy {
    /// Each source has its own instance and stack count on a target.
    Source,
    /// All sources share one instance and stack count on a target.
    #[default]
    Target,
}

/// What a further application does to the duration.
///
/// ```
/// assert_eq!(ugas_doc::OnStack::default(), ugas_doc::OnStack::RefreshDuration);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnStack {
    /// The duration starts again.
    #[default]
    RefreshDuration,
    /// The duration continues.
    KeepDuration,
}

/// What a further application does to the period.
///
/// ```
/// assert_eq!(ugas_doc::PeriodOnStack::default(), ugas_doc::PeriodOnStack::Keep);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PeriodOnStack {
    /// The period continues.
    #[default]
    Keep,
    /// The period starts again.
    Reset,
}

/// What happens to the stacks when the duration ends.
///
/// ```
/// assert_eq!(ugas_doc::OnExpire::default(), ugas_doc::OnExpire::ClearAll);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnExpire {
    /// The effect ends.
    #[default]
    ClearAll,
    /// One stack is removed and the duration starts again.
    RemoveOne,
    /// The duration starts again; the effect ends only when it is removed.
    Refresh,
}

/// Makes further applications add stacks to one instance instead of creating new instances.
///
/// ```
/// let s = ugas_doc::Stacking { limit: Some(5), ..Default::default() };
/// assert!(!s.deny_overflow);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Stacking {
    /// Which applications of the effect are combined.
    #[serde(default)]
    pub by: StackBy,
    /// The maximum number of stacks. Without `Limit`, the number of stacks is not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// What a further application does to the duration.
    #[serde(default)]
    pub on_stack: OnStack,
    /// What a further application does to the period.
    #[serde(default)]
    pub period_on_stack: PeriodOnStack,
    /// What happens when the duration ends.
    #[serde(default)]
    pub on_expire: OnExpire,
    /// Effects that are applied at each further application of this effect while its stack count is at `Limit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overflow_effects: Vec<String>,
    /// Whether an application is refused while the stack count is at `Limit`.
    #[serde(default)]
    pub deny_overflow: bool,
}
