//! The kind of a document, from `Kind: <kind>` or the URL in `$schema`. The URL only names the kind; nothing is
//! downloaded.

use crate::fault::did_you_mean;
use crate::tree::quoted;
use crate::{Code, Node, ReadError};
use ugas_doc::Kind;

/// The kinds of the specification that this release does not support, in alphabetical order, with the reason.
pub const UNSUPPORTED_KINDS: [(&str, &str); 5] = [
    ("chooser", "the runtime does not evaluate choosers"),
    ("combo_graph", "the runtime does not play combos"),
    ("hitbox_set", "the runtime does not test hitboxes"),
    ("moveset", "the runtime does not play movesets"),
    ("rotation", "the runtime does not run rotations"),
];

/// Returns the error for a document of one of [`UNSUPPORTED_KINDS`]. Such a document is rejected, because it would
/// otherwise be read without any effect.
pub(crate) fn unsupported(file: &str, kind: &str, node: &Node) -> ReadError {
    let at = node.get("Kind").or_else(|| node.get("$schema")).unwrap_or(node);
    let why = UNSUPPORTED_KINDS.iter().find(|(name, _)| *name == kind).map(|(_, why)| format!(": {why}"));
    let help = Some("remove the document; a later release will support its kind".to_owned());
    ReadError {
        code: Code::UnsupportedKind,
        help,
        ..at.error(file, format!("kind {kind} is not supported yet{}", why.unwrap_or_default()))
    }
}

/// The keys that name the kind of a document.
pub(crate) const KIND_KEYS: &[&str] = &["Kind", "$schema"];

/// Base URLs of the schemas of the specification; `{version}/schemas/{kind}.json` follows.
const SCHEMA_HOMES: [&str; 2] = ["https://raw.githubusercontent.com/jbltx/ugas/", "https://ugas.jbltx.com/"];

/// The kind that a document names.
///
/// ```
/// use ugas_data::{KindName, kind_of, read_trees};
/// let tree = &read_trees("a.yaml", "Kind: moveset\nName: MS_Katana").unwrap()[0];
/// assert_eq!(kind_of("a.yaml", tree).unwrap(), KindName::Unsupported("moveset"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindName {
    /// A supported kind.
    Known(Kind),
    /// One of [`UNSUPPORTED_KINDS`].
    Unsupported(&'static str),
}

impl KindName {
    fn from_name(name: &str) -> Option<KindName> {
        let unsupported = || UNSUPPORTED_KINDS.iter().find(|(k, _)| *k == name).map(|&(k, _)| KindName::Unsupported(k));
        Kind::from_name(name).map(KindName::Known).or_else(unsupported)
    }

    /// Returns the name of the kind in files, such as `gameplay_effect`.
    pub fn name(self) -> &'static str {
        match self {
            KindName::Known(kind) => kind.name(),
            KindName::Unsupported(name) => name,
        }
    }
}

/// Returns the kind of a document.
///
/// ```
/// use ugas_data::{KindName, kind_of, read_trees};
/// let text = "$schema: https://ugas.jbltx.com/v1.0.0-draft.9/schemas/gameplay_effect.json\nName: GE_Hit";
/// let tree = &read_trees("a.yaml", text).unwrap()[0];
/// assert_eq!(kind_of("a.yaml", tree).unwrap(), KindName::Known(ugas_doc::Kind::Effect));
/// ```
pub fn kind_of(file: &str, node: &Node) -> Result<KindName, ReadError> {
    let fail = |at: &Node, message: String, help: Option<String>| {
        Err(ReadError { code: Code::UnknownKind, help, ..at.error(file, message) })
    };
    if !node.is_map() {
        return fail(node, format!("expected a document (a map with `Kind:`), found {}", node.describe()), None);
    }
    let named = match node.get("Kind") {
        Some(kind) => Some(by_name(file, kind)?),
        None => None,
    };
    let addressed = match node.get("$schema") {
        Some(schema) => Some(by_address(file, schema)?),
        None => None,
    };
    match (named, addressed) {
        (Some(kind), Some(other)) if kind != other => {
            let at = node.get("Kind").unwrap_or(node);
            fail(
                at,
                format!("Kind is {}, but $schema names {}", kind.name(), other.name()),
                Some("remove one of them".to_owned()),
            )
        }
        (Some(kind), _) | (None, Some(kind)) => Ok(kind),
        (None, None) => {
            let message = format!("the kind of the document is missing; the kinds are {}", kind_names().join(", "));
            fail(node, message, Some("add a line `Kind: <kind>`".to_owned()))
        }
    }
}

/// Returns the draft of the specification that a document names in `$schema`, or `None` without one. Releases and the
/// main branch count as later than every draft.
pub(crate) fn draft_of(node: &Node) -> Option<u32> {
    let address = node.get("$schema")?.as_text()?;
    let rest = SCHEMA_HOMES.iter().find_map(|home| address.strip_prefix(home))?;
    let version = rest.split('/').next()?;
    match version.split_once("-draft.") {
        Some((_, draft)) => draft.parse().ok(),
        None => Some(u32::MAX),
    }
}

fn by_name(file: &str, kind: &Node) -> Result<KindName, ReadError> {
    kind.as_text().and_then(KindName::from_name).ok_or_else(|| unknown(file, kind, kind.as_text()))
}

fn by_address(file: &str, schema: &Node) -> Result<KindName, ReadError> {
    let malformed = || {
        let message = format!("$schema: {} is not the URL of a schema", schema.describe());
        let help = format!("write {}{{version}}/schemas/{{kind}}.json, or `Kind: <kind>` instead", SCHEMA_HOMES[0]);
        ReadError { code: Code::UnknownKind, help: Some(help), ..schema.error(file, message) }
    };
    let address = schema.as_text().ok_or_else(malformed)?;
    let rest = SCHEMA_HOMES.iter().find_map(|home| address.strip_prefix(home)).ok_or_else(malformed)?;
    let (version, path) = rest.split_once('/').ok_or_else(malformed)?;
    let name = path.strip_prefix("schemas/").and_then(|f| f.strip_suffix(".json")).ok_or_else(malformed)?;
    if !is_version(version) {
        let message = format!("$schema: {} is not a version of the specification", quoted(version));
        let help = Some("write a released version such as v1.0.0-draft.3".to_owned());
        return Err(ReadError { code: Code::UnknownKind, help, ..schema.error(file, message) });
    }
    KindName::from_name(name).ok_or_else(|| unknown(file, schema, Some(name)))
}

/// `v1.0.0`, `v1.0.0-draft.1` and later, or `main`.
fn is_version(version: &str) -> bool {
    let number = |n: &str| !n.is_empty() && n.len() <= 9 && n.bytes().all(|b| b.is_ascii_digit());
    let Some(version) = version.strip_prefix('v') else {
        return version == "main";
    };
    let (release, draft) = match version.split_once("-draft.") {
        Some((release, draft)) => (release, Some(draft)),
        None => (version, None),
    };
    let parts: Vec<&str> = release.split('.').collect();
    parts.len() == 3
        && parts.iter().all(|p| number(p))
        && parts[0].bytes().any(|b| b != b'0')
        && draft.is_none_or(|d| number(d) && d.bytes().any(|b| b != b'0'))
}

fn unknown(file: &str, at: &Node, name: Option<&str>) -> ReadError {
    let kinds = kind_names();
    let found = name.map_or_else(|| at.describe().to_string(), quoted);
    let message = format!("unknown kind {found}; the kinds are {}", kinds.join(", "));
    let help = name.and_then(|n| did_you_mean(n, &kinds));
    ReadError { code: Code::UnknownKind, help, ..at.error(file, message) }
}

/// Returns the names of the supported kinds. Messages do not suggest a kind that would then be refused.
fn kind_names() -> [&'static str; Kind::ALL.len()] {
    Kind::ALL.map(Kind::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_release_tags() {
        for version in ["v1.0.0-draft.1", "v1.0.0-draft.9", "v1.0.0-draft.12", "v1.0.0", "v2.10.3", "main"] {
            assert!(is_version(version), "{version}");
        }
        for version in ["v9", "1.0.0", "v1.0", "v1.0.0-draft.0", "v1.0.0-draft.", "v1.0.0-beta.1", "v0.1.0", "", "v"] {
            assert!(!is_version(version), "{version}");
        }
    }

    #[test]
    fn no_kind_is_both_read_and_unsupported() {
        assert!(UNSUPPORTED_KINDS.iter().all(|(k, _)| Kind::from_name(k).is_none()));
        assert!(UNSUPPORTED_KINDS.is_sorted());
    }

    #[test]
    fn an_unsupported_kind_is_neither_suggested_nor_listed() {
        let tree = &crate::read_trees("a.yaml", "Kind: movset").unwrap()[0];
        let error = kind_of("a.yaml", tree).unwrap_err();
        assert_eq!(error.help, None);
        assert!(UNSUPPORTED_KINDS.iter().all(|(k, _)| !error.message.contains(k)), "{error}");
    }
}
