//! New rules for connected clients, sent as documents.
//!
//! The server sends the text of each new or changed document, and which documents of the old rules are kept. The client
//! builds the same rules from its own documents and host code. It uses them only if their hash is that of the server's
//! rules. The amount that a server can send and that a client accepts is bounded.

use crate::message::{ToClient, encode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_core::Rules;
use ugas_doc::{Doc, Kind};

/// The maximum number of bytes of the messages of one reload.
const MAX_BYTES: usize = 96 * 1024;
/// The number of bytes of documents from which on a new message is begun.
const MESSAGE_BYTES: usize = 16 * 1024;
/// The maximum number of documents that a client accepts.
const MAX_DOCUMENTS: usize = 65_536;

/// A part of the list of documents of new rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RulesPart {
    /// Documents of the old rules.
    Keep {
        /// The position of the first one.
        first: u32,
        /// How many documents are kept.
        count: u32,
    },
    /// A new or changed document, as JSON.
    Document(String),
}

/// Returns the messages with which a client replaces the old rules by the new ones; `None` if they would be too long, or
/// if a document cannot be sent.
pub(crate) fn messages(old: &Rules, new: &Rules) -> Option<Vec<Vec<u8>>> {
    let rules = new.fingerprint();
    let (mut list, mut documents, mut length) = (Vec::new(), Vec::new(), 0);
    for part in parts(old, new)? {
        if let RulesPart::Document(text) = &part {
            length += text.len();
        }
        documents.push(part);
        if length > MESSAGE_BYTES {
            list.push(encode(&ToClient::Rules { rules, documents: std::mem::take(&mut documents), is_last: false }));
            length = 0;
        }
    }
    list.push(encode(&ToClient::Rules { rules, documents, is_last: true }));
    let total: usize = list.iter().map(Vec::len).sum();
    let fits = total <= MAX_BYTES && list.iter().all(|message| message.len() <= crate::carrier::MAX_MESSAGE);
    fits.then_some(list)
}

/// Returns the documents of the new rules as parts; `None` if a document does not survive its text form.
fn parts(old: &Rules, new: &Rules) -> Option<Vec<RulesPart>> {
    let known: Vec<&Arc<Doc>> = old.documents().collect();
    let mut by_name: BTreeMap<(Kind, &str), Vec<usize>> = BTreeMap::new();
    for (at, doc) in known.iter().enumerate() {
        by_name.entry((doc.kind(), doc.name())).or_default().push(at);
    }
    let mut parts: Vec<RulesPart> = Vec::new();
    for doc in new.documents() {
        let same = by_name.get(&(doc.kind(), doc.name())).into_iter().flatten().find(|&&at| known[at] == doc);
        match (same, parts.last_mut()) {
            (Some(&at), Some(RulesPart::Keep { first, count })) if *first as usize + *count as usize == at => *count += 1,
            (Some(&at), _) => parts.push(RulesPart::Keep { first: at as u32, count: 1 }),
            (None, _) => {
                let text = serde_json::to_string(&**doc).ok()?;
                let read: Doc = serde_json::from_str(&text).ok()?;
                if read != **doc {
                    return None;
                }
                parts.push(RulesPart::Document(text));
            }
        }
    }
    Some(parts)
}

/// The documents of new rules, as far as they have arrived at a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct IncomingRules {
    documents: Vec<Arc<Doc>>,
}

impl IncomingRules {
    /// Adds parts of a message. Fails if a part is malformed or there are too many documents.
    pub(crate) fn add(&mut self, old: &Rules, parts: Vec<RulesPart>) -> Result<(), ()> {
        for part in parts {
            match part {
                RulesPart::Keep { first, count } => {
                    let (first, count) = (first as usize, count as usize);
                    if first + count > old.documents().len() || self.documents.len() + count > MAX_DOCUMENTS {
                        return Err(());
                    }
                    self.documents.extend(old.documents().skip(first).take(count).cloned());
                }
                RulesPart::Document(text) => {
                    if self.documents.len() >= MAX_DOCUMENTS {
                        return Err(());
                    }
                    self.documents.push(Arc::new(serde_json::from_str(&text).map_err(|_| ())?));
                }
            }
        }
        Ok(())
    }

    /// Returns whether no documents are kept.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Builds the rules from the documents that arrived, with the ids and host code of the old rules. Returns `None` if
    /// the documents are invalid or the hash of the rules is another one.
    pub(crate) fn build(&mut self, old: &Arc<Rules>, fingerprint: u64) -> Option<Arc<Rules>> {
        let documents = std::mem::take(&mut self.documents);
        let builder = Rules::builder().after_with_code(old.clone());
        let builder = builder.add_all(documents.into_iter().map(Arc::unwrap_or_clone));
        builder.build().ok().filter(|rules| rules.fingerprint() == fingerprint)
    }
}
