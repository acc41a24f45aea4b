//! Patches: changes of single fields of a definition that belongs to somebody else. The definition stays where it is;
//! whoever requires its pack says what is different.

use crate::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A `patch` document: fields of another definition and what stands there instead.
///
/// ```
/// let patch = ugas_doc::Patch { target: "GE_Fireball".into(), ..Default::default() };
/// assert!(patch.set.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Patch {
    /// The name of the definition that changes.
    pub target: String,
    /// The kind of that definition, such as `gameplay_effect`; needed only where several have the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_kind: Option<String>,
    /// The fields that change, by their way through the definition: `Duration.Value`, `Modifiers[0].Magnitude.Value`,
    /// `Attributes[Health].DefaultBaseValue`. Nothing (`null`) takes a field away.
    pub set: BTreeMap<String, Value>,
}

/// A field that a patch changed, and where the patch says so.
///
/// ```
/// let patched = ugas_doc::Patched { field: "Duration.Value".into(), file: "mods/long.yaml".into(), line: 4 };
/// assert_eq!(patched.to_string(), "Duration.Value patched by mods/long.yaml:4");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patched {
    /// The way to the field, entries of lists by number: `Modifiers[0].Magnitude.Value`.
    pub field: String,
    /// The file of the patch.
    pub file: Arc<str>,
    /// The line of the field in it.
    pub line: u32,
}

impl Patched {
    /// Whether the field is `way` itself or lies below it, or `way` lies below the field.
    ///
    /// ```
    /// let patched = ugas_doc::Patched { field: "Modifiers[0].Magnitude.Value".into(), file: "a.yaml".into(), line: 4 };
    /// assert!(patched.touches("Modifiers[0]") && patched.touches("Modifiers[0].Magnitude.Value"));
    /// assert!(!patched.touches("Modifiers[1]") && !patched.touches("Mod"));
    /// ```
    pub fn touches(&self, way: &str) -> bool {
        let begins = |long: &str, short: &str| {
            long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        begins(&self.field, way) || begins(way, &self.field)
    }
}

impl fmt::Display for Patched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} patched by {}:{}", self.field, self.file, self.line)
    }
}
