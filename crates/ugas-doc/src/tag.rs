//! Tag registries: which tags a project declares, and what they mean.

use serde::{Deserialize, Serialize};

/// A `gameplay_tag` document: a list of declared tags.
///
/// ```
/// let registry = ugas_doc::TagRegistry::new(["State.Alive", "State.Debuff.Stunned"]);
/// assert_eq!(registry.tags[1].tag, "State.Debuff.Stunned");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct TagRegistry {
    /// The declared tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<TagEntry>,
}

impl TagRegistry {
    /// A registry that declares these tags and says nothing more about them.
    pub fn new<S: Into<String>>(tags: impl IntoIterator<Item = S>) -> TagRegistry {
        TagRegistry { tags: tags.into_iter().map(TagEntry::new).collect() }
    }
}

/// One declared tag.
///
/// ```
/// assert!(!ugas_doc::TagEntry::new("State.Alive").allow_multiple);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct TagEntry {
    /// The tag in dot notation.
    pub tag: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Registry metadata: more than one grant at a time is expected. Nothing is clamped or refused by it.
    #[serde(default)]
    pub allow_multiple: bool,
    /// A note for other designers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_comment: Option<String>,
}

impl TagEntry {
    /// A declaration without a description.
    pub fn new(tag: impl Into<String>) -> TagEntry {
        TagEntry { tag: tag.into(), ..TagEntry::default() }
    }
}
