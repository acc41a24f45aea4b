//! Patches: a patch changes single fields of another pack's definition, so that the definition need not be copied.

use crate::{Document, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A `patch` document: new values for single fields of another pack's definition.
///
/// ```
/// let patch = ugas_doc::Patch { target: "GE_Fireball".into(), ..Default::default() };
/// assert!(patch.set.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Patch {
    /// The name of the definition that the patch changes.
    pub target: String,
    /// The kind of that definition, such as `gameplay_effect`. Required only if several definitions have the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_kind: Option<String>,
    /// The new values by field path: `Duration.Value`, `Modifiers[0].Magnitude.Value`,
    /// `Attributes[Health].DefaultBaseValue`. `null` removes a field.
    pub set: BTreeMap<String, Value>,
}

impl Document for Patch {
    fn name(&self) -> &str {
        ""
    }
}

/// A field that a patch changed, with the file and line of the change.
///
/// ```
/// let patched = ugas_doc::Patched { field: "Duration.Value".into(), file: "mods/long.yaml".into(), line: 4 };
/// assert_eq!(patched.to_string(), "Duration.Value patched by mods/long.yaml:4");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patched {
    /// The path of the field, with the indices of list entries: `Modifiers[0].Magnitude.Value`.
    pub field: String,
    /// The file of the patch.
    pub file: Arc<str>,
    /// The line of the field in that file.
    pub line: u32,
}

impl Patched {
    /// Returns whether the changed field is the field with the path `way`, is inside it or contains it.
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
