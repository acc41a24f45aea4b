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

/// Writes a document as YAML 1.2, with `Kind:` first. Reading the text returns a document equal to `doc`, if all
/// numbers of `doc` are finite.
///
/// ```
/// use ugas_doc::{Doc, Effect};
/// let doc = Doc::from(Effect::instant("GE_Hit").add("Health", -10.0));
/// let text = ugas_data::to_yaml(&doc);
/// assert!(text.starts_with("Kind: gameplay_effect\nName: GE_Hit\n"));
/// assert_eq!(ugas_data::read_str("saved.yaml", &text).unwrap().docs[0].doc, doc);
/// ```
pub fn to_yaml(doc: &Doc) -> String {
    text_of(doc)
}

macro_rules! text_of {
    ($($(#[$doc:meta])* $kind:ident { $($entry:tt)* })*) => {
        fn text_of(doc: &Doc) -> String {
            let kind = doc.kind().name();
            match doc {
                $(Doc::$kind(doc) => written(kind, doc),)*
            }
        }
    };
}
ugas_doc::for_each_kind!(text_of);

fn written<T: Serialize>(kind: &'static str, doc: &T) -> String {
    // Quotes and escapes preserve every text exactly; folded blocks do not.
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    // The serializer fails on tags, anchors and failing writers; a plain document written to a string has none.
    serde_saphyr::to_string_with_options(&Written { kind, doc }, options).expect("a plain document always serializes")
}
