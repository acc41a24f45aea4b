//! How applications of one effect add up.

use serde::{Deserialize, Serialize};

/// Whose applications share a stack.
///
/// ```
/// assert_eq!(ugas_doc::StackBy::default(), ugas_doc::StackBy::Target);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum StackBy {
    /// One stack per source on a target.
    Source,
    /// One stack per target.
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
    /// Starts it anew.
    #[default]
    RefreshDuration,
    /// Leaves it.
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
    /// Leaves it.
    #[default]
    Keep,
    /// Starts it anew.
    Reset,
}

/// What the end of the duration does to a stack.
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
    /// One stack goes and the duration starts anew.
    RemoveOne,
    /// The duration starts anew; only removal ends it.
    Refresh,
}

/// Stacking of one instance.
///
/// ```
/// let s = ugas_doc::Stacking { limit: Some(5), ..Default::default() };
/// assert!(!s.deny_overflow);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Stacking {
    /// Whose applications share a stack.
    #[serde(default)]
    pub by: StackBy,
    /// Largest number of stacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Duration on a further application.
    #[serde(default)]
    pub on_stack: OnStack,
    /// Period on a further application.
    #[serde(default)]
    pub period_on_stack: PeriodOnStack,
    /// End of the duration.
    #[serde(default)]
    pub on_expire: OnExpire,
    /// Applied when an application finds the stack full.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overflow_effects: Vec<String>,
    /// Refuses an application that finds the stack full.
    #[serde(default)]
    pub deny_overflow: bool,
}
