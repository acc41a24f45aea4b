//! Tag registries: the tags of a project and what they mean.

use crate::Document;
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
    /// The declared tags. A tag also declares its parent tags: `State.Debuff.Stunned` declares `State.Debuff` and
    /// `State`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<TagEntry>,
}

impl Document for TagRegistry {
    fn name(&self) -> &str {
        ""
    }
}

impl TagRegistry {
    /// Creates a registry that declares these tags.
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
    /// The tag, such as `State.Debuff.Stunned`: segments joined by dots. Each segment is an upper-case letter followed
    /// by letters and digits.
    pub tag: String,
    /// What the tag means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "display")))]
    pub description: Option<String>,
    /// Declares that several effects may grant the tag at the same time. The runtime counts every tag, with or without
    /// this declaration.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "tools; a finding reports registries with different values")))]
    pub allow_multiple: bool,
    /// A note for other designers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "display")))]
    pub dev_comment: Option<String>,
}

impl TagEntry {
    /// Creates a declaration without a description.
    pub fn new(tag: impl Into<String>) -> TagEntry {
        TagEntry { tag: tag.into(), ..TagEntry::default() }
    }
}
