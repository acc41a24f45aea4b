//! New rules for connected clients, sent as documents.
//!
//! The server sends the text of each new or changed document, and which documents of the old rules are kept. The client
//! builds the same rules from its own documents and host code. It uses them only if their hash is that of the server's
//! rules. The number of bytes that a server sends and the number of documents that a client accepts are bounded.

use crate::message::{ToClient, encode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_core::Rules;
use ugas_doc::{Doc, Kind};

/// The maximum number of bytes of the messages of one reload.
const MAX_BYTES: usize = 96 * 1024;
/// The number of bytes of documents above which a message is complete; the next document starts a new message.
const MESSAGE_BYTES: usize = 16 * 1024;
/// The maximum number of documents that a client accepts.
const MAX_DOCUMENTS: usize = 65_536;

/// A part of the list of documents of new rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RulesPart {
    /// Documents of the old rules.
    Keep {
        /// The index of the first kept document in the old rules.
        first: u32,
        /// How many documents are kept.
        count: u32,
    },
    /// A new or changed document, as JSON.
    Document(String),
}

/// Returns the messages that the server sends to a client with the old rules, so that the client can build the new
/// rules. Returns `None` if the messages would be too long, or if a document cannot be sent.
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

/// Returns the documents of the new rules as parts: ranges of unchanged documents, and the text of the others. Returns
/// `None` if a document cannot be written as JSON and read back unchanged.
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
            (Some(&at), Some(RulesPart::Keep { first, count })) if *first as usize + *count as usize == at => {
                *count += 1
            }
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

/// The documents of new rules that have arrived at a client.
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
    /// the documents are invalid or the hash of the rules differs from the server's.
    pub(crate) fn build(&mut self, old: &Arc<Rules>, fingerprint: u64) -> Option<Arc<Rules>> {
        let documents = std::mem::take(&mut self.documents);
        let builder = Rules::builder().after_with_code(old.clone());
        let builder = builder.add_all(documents.into_iter().map(Arc::unwrap_or_clone));
        builder.build().ok().filter(|rules| rules.fingerprint() == fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::decode;
    use ugas_doc::{Attribute, AttributeSet, Effect};

    fn set() -> Doc {
        AttributeSet::new("S").with(Attribute::new("Health", 0.1 + 0.2)).into()
    }

    fn effect(name: &str, amount: f64) -> Doc {
        Effect::instant(name).add("Health", amount).into()
    }

    /// Rules with code, after other rules.
    fn rules(after: Option<&Arc<Rules>>, docs: Vec<Doc>) -> Arc<Rules> {
        let builder = after.map_or_else(Rules::builder, |old| Rules::builder().after(old.clone()));
        let builder = builder.calc_fn("ExecCalc", [], |cx| cx.add("Health", 1.0)).after_hook("Hook", |_| {});
        builder.add_all(docs).build().unwrap()
    }

    /// Returns the rules that a client with the old rules builds from the messages of a server.
    fn received(old: &Arc<Rules>, new: &Arc<Rules>) -> Option<Arc<Rules>> {
        let mut incoming = IncomingRules::default();
        let list = messages(old, new).expect("they are short");
        for (at, message) in list.iter().enumerate() {
            let Some(ToClient::Rules { rules, documents, is_last }) = decode(message) else {
                panic!("another message")
            };
            assert_eq!((rules, is_last), (new.fingerprint(), at + 1 == list.len()));
            incoming.add(old, documents).unwrap();
        }
        incoming.build(old, new.fingerprint())
    }

    #[test]
    fn a_client_builds_the_same_rules_from_the_messages() {
        let docs = |list: &[(&str, f64)]| -> Vec<Doc> {
            let effects = list.iter().map(|(name, amount)| effect(name, *amount));
            std::iter::once(set()).chain(effects).collect()
        };
        let old = rules(None, docs(&[("A", 1.0), ("B", 2.0), ("C", 3.0), ("D", 4.0)]));
        let cases = [
            docs(&[("A", 1.0), ("B", 2.5), ("C", 3.0), ("D", 4.0)]),
            docs(&[("D", 4.0), ("C", 3.0), ("B", 2.0)]),
            docs(&[("A", 1.0), ("New", 1.0 / 3.0), ("C", 3.0), ("E", 1e300), ("D", 4.0)]),
            docs(&[]),
        ];
        for case in cases {
            let new = rules(Some(&old), case);
            let built = received(&old, &new).expect("the hash is the same");
            assert_eq!(built.fingerprint(), new.fingerprint());
            assert!(built.find_calculator("ExecCalc").is_some(), "the code is kept");
        }
    }

    #[test]
    fn a_client_accepts_a_limited_number_of_documents() {
        let old = rules(None, vec![set(), effect("A", 1.0)]);
        let keep = || vec![RulesPart::Keep { first: 0, count: 2 }];
        let mut incoming = IncomingRules::default();
        for _ in 0..MAX_DOCUMENTS / 2 {
            assert_eq!(incoming.add(&old, keep()), Ok(()));
        }
        assert_eq!(incoming.add(&old, keep()), Err(()));
        let text = serde_json::to_string(&effect("B", 1.0)).unwrap();
        assert_eq!(incoming.add(&old, vec![RulesPart::Document(text)]), Err(()));
        assert_eq!(incoming.documents.len(), MAX_DOCUMENTS);
    }

    #[test]
    fn unchanged_documents_take_two_numbers() {
        let list = |changed: f64| -> Vec<Doc> {
            let effects = (0..200).map(|n| effect(&format!("GE_{n}"), if n == 70 { changed } else { n as f64 }));
            std::iter::once(set()).chain(effects).collect()
        };
        let old = rules(None, list(1.0));
        let new = rules(Some(&old), list(2.0));
        assert_eq!(parts(&old, &new).unwrap().len(), 3);
        let bytes: usize = messages(&old, &new).unwrap().iter().map(Vec::len).sum();
        assert!(bytes < 1024, "{bytes} bytes");
        let all = rules(
            Some(&old),
            std::iter::once(set()).chain((0..60).map(|n| effect(&"x".repeat(900 + n), 1.0))).collect(),
        );
        assert!(messages(&old, &all).unwrap().len() > 1, "several messages");
        assert!(received(&old, &all).is_some());
    }
}
