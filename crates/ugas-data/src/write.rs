//! Writes documents as YAML.

use serde::Serialize;
use ugas_doc::Doc;

/// A document with its kind first.
#[derive(Serialize)]
struct Written<'a, T> {
    #[serde(rename = "Kind")]
    kind: &'static str,
    #[serde(flatten)]
    doc: &'a T,
}

/// Writes a document as YAML 1.2, with `Kind:` first. Reading it back gives the same document if its numbers are finite.
///
/// ```
/// use ugas_doc::{Doc, Effect};
/// let doc = Doc::from(Effect::instant("GE_Hit").add("Health", -10.0));
/// let text = ugas_data::to_yaml(&doc);
/// assert!(text.starts_with("Kind: gameplay_effect\nName: GE_Hit\n"));
/// assert_eq!(ugas_data::read_str("saved.yaml", &text).unwrap().docs[0].doc, doc);
/// ```
pub fn to_yaml(doc: &Doc) -> String {
    let kind = doc.kind().name();
    match doc {
        Doc::Attribute(doc) => written(kind, doc),
        Doc::AttributeSet(doc) => written(kind, doc),
        Doc::TagRegistry(doc) => written(kind, doc),
        Doc::Effect(doc) => written(kind, doc),
        Doc::Ability(doc) => written(kind, doc),
        Doc::Controller(doc) => written(kind, doc),
        Doc::Curve(doc) => written(kind, doc),
        Doc::AbilitySet(doc) => written(kind, doc),
        Doc::Timeline(doc) => written(kind, doc),
        Doc::Calculation(doc) => written(kind, doc),
        Doc::InputAction(doc) => written(kind, doc),
        Doc::InputActionSet(doc) => written(kind, doc),
        Doc::InputMapping(doc) => written(kind, doc),
        Doc::InputModifier(doc) => written(kind, doc),
        Doc::Scene(doc) => written(kind, doc),
        Doc::Patch(doc) => written(kind, doc),
    }
}

fn written<T: Serialize>(kind: &'static str, doc: &T) -> String {
    // Quotes and escapes preserve every text exactly; folded blocks do not.
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    // The serializer fails on tags, anchors and failing writers; a plain document written to a string has none.
    serde_saphyr::to_string_with_options(&Written { kind, doc }, options).expect("a plain document always serializes")
}
