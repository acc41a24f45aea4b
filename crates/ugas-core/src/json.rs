//! Encodes documents inside other data as JSON text. A document can be deserialized only from a self-describing format,
//! and the formats of network messages are not self-describing.

use serde::{Deserialize, Deserializer, Serializer, de, ser};
use ugas_doc::Doc;

pub(crate) fn serialize<S: Serializer>(doc: &Doc, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&serde_json::to_string(doc).map_err(ser::Error::custom)?)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Box<Doc>, D::Error> {
    let text = String::deserialize(from)?;
    serde_json::from_str(&text).map(Box::new).map_err(de::Error::custom)
}
