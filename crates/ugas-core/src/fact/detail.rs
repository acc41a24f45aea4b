//! Details: what does not fit into a fact lies behind the list as a row of named values, one after the other:
//! `u16` length of the name, the name, one byte of type, the value. Numbers are little-endian. The same bytes serve C.
//!
//! | Type | Value |
//! |---|---|
//! | 0 nothing | – |
//! | 1 truth | `u8` |
//! | 2 number | `f64` |
//! | 3 text | `u32` length, UTF-8 |
//! | 4 place | three `f64` |
//! | 5 tag | `u32` |
//! | 6 controller | `u32` |

use super::{Fact, FactKind, Facts, Span};
use crate::{ControllerId, TagId};

/// Details kept until the facts are taken: 64 MiB.
const MAX_BYTES: usize = 64 << 20;

/// A named value of a fact's details.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamValue<'a> {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(f64),
    /// Text.
    Text(&'a str),
    /// A place or a direction.
    Vector([f64; 3]),
    /// A tag.
    Tag(TagId),
    /// A controller.
    Controller(ControllerId),
}

/// Appends a named value. A name or a text beyond what its length field holds is cut.
pub(crate) fn put(into: &mut Vec<u8>, name: &str, value: ParamValue<'_>) {
    let name = cut(name, u16::MAX as usize);
    into.extend((name.len() as u16).to_le_bytes());
    into.extend(name.as_bytes());
    match value {
        ParamValue::Null => into.push(0),
        ParamValue::Bool(b) => into.extend([1, b as u8]),
        ParamValue::Number(n) => {
            into.push(2);
            into.extend(n.to_le_bytes());
        }
        ParamValue::Text(t) => {
            let t = cut(t, u16::MAX as usize);
            into.push(3);
            into.extend((t.len() as u32).to_le_bytes());
            into.extend(t.as_bytes());
        }
        ParamValue::Vector(v) => {
            into.push(4);
            v.iter().for_each(|x| into.extend(x.to_le_bytes()));
        }
        ParamValue::Tag(t) => {
            into.push(5);
            into.extend(t.0.to_le_bytes());
        }
        ParamValue::Controller(c) => {
            into.push(6);
            into.extend(c.0.to_le_bytes());
        }
    }
}

fn cut(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The named values in a piece of details; ends at the first byte that makes no sense.
#[derive(Clone, Copy, Debug)]
pub struct Params<'a>(&'a [u8]);

impl<'a> Params<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn text(&mut self, len: usize) -> Option<&'a str> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        std::str::from_utf8(head).ok()
    }

    fn number(&mut self) -> Option<f64> {
        self.take::<8>().map(f64::from_le_bytes)
    }

    fn one(&mut self) -> Option<(&'a str, ParamValue<'a>)> {
        let len = u16::from_le_bytes(self.take()?);
        let name = self.text(len as usize)?;
        let [kind] = self.take()?;
        let value = match kind {
            0 => ParamValue::Null,
            1 => ParamValue::Bool(self.take::<1>()?[0] != 0),
            2 => ParamValue::Number(self.number()?),
            3 => {
                let len = u32::from_le_bytes(self.take()?);
                ParamValue::Text(self.text(len as usize)?)
            }
            4 => ParamValue::Vector([self.number()?, self.number()?, self.number()?]),
            5 => ParamValue::Tag(TagId(u32::from_le_bytes(self.take()?))),
            6 => ParamValue::Controller(ControllerId(u32::from_le_bytes(self.take()?))),
            _ => return None,
        };
        Some((name, value))
    }
}

impl<'a> Iterator for Params<'a> {
    type Item = (&'a str, ParamValue<'a>);
    fn next(&mut self) -> Option<Self::Item> {
        let found = self.one();
        if found.is_none() {
            self.0 = &[];
        }
        found
    }
}

impl FactKind {
    /// Where its details lie; empty for a fact without any.
    pub fn detail(&self) -> Span {
        match self {
            FactKind::TaskRequest { detail, .. }
            | FactKind::GameplayEvent { detail, .. }
            | FactKind::Cue { detail, .. } => *detail,
            _ => Span::default(),
        }
    }

    fn detail_mut(&mut self) -> Option<&mut Span> {
        match self {
            FactKind::TaskRequest { detail, .. }
            | FactKind::GameplayEvent { detail, .. }
            | FactKind::Cue { detail, .. } => Some(detail),
            _ => None,
        }
    }
}

impl Facts {
    /// Adds the facts of another log after these, with their details.
    ///
    /// ```
    /// # use ugas_core::Facts;
    /// let mut all = Facts::default();
    /// all.append(&Facts::default());
    /// assert!(all.list.is_empty());
    /// ```
    pub fn append(&mut self, other: &Facts) {
        self.list.reserve(other.list.len());
        for fact in &other.list {
            let mut fact = *fact;
            self.take_in(&mut fact, other);
            self.list.push(fact);
        }
    }

    /// Appends a fact with named values as its details. A kind without details drops them.
    ///
    /// ```
    /// use ugas_core::{ControllerId, EffectId, EffectKey, Fact, FactKind, Facts, OpId, ParamValue, SimTime, Span, TagId};
    /// let event = FactKind::GameplayEvent { tag: TagId(1), magnitude: 1.0, detail: Span::default() };
    /// let (source, key, effect) = (ControllerId::NONE, EffectKey::NONE, EffectId::NONE);
    /// let at = SimTime::ZERO;
    /// let fact = Fact { at, who: ControllerId(1), source, key, root: OpId::default(), link: 0, effect, kind: event };
    /// let mut facts = Facts::default();
    /// facts.push(fact, &[("Distance", ParamValue::Number(3.0))]);
    /// assert_eq!(facts.params(&facts.list[0]).next(), Some(("Distance", ParamValue::Number(3.0))));
    /// ```
    pub fn push(&mut self, mut fact: Fact, params: &[(&str, ParamValue<'_>)]) {
        let mut bytes = Vec::new();
        params.iter().for_each(|(name, value)| put(&mut bytes, name, *value));
        if let Some(detail) = fact.kind.detail_mut() {
            *detail = self.keep(&bytes);
        }
        self.list.push(fact);
    }

    /// Makes a fact of another log one of this log: its details are copied.
    pub fn take_in(&mut self, fact: &mut Fact, from: &Facts) {
        if let Some(span) = fact.kind.detail_mut()
            && span.len > 0
        {
            let bytes = from.detail.get(span.offset as usize..span.offset as usize + span.len as usize);
            let offset = self.detail.len() as u32;
            self.detail.extend_from_slice(bytes.unwrap_or_default());
            *span = Span { offset, len: bytes.map_or(0, |b| b.len() as u32) };
        }
    }

    /// The named values of a fact of this log: a request's parameters, an event's payload, where a cue plays.
    ///
    /// ```
    /// # use ugas_core::Facts;
    /// let facts = Facts::default();
    /// assert!(facts.list.iter().all(|f| facts.params(f).count() == 0));
    /// ```
    pub fn params(&self, fact: &Fact) -> Params<'_> {
        let Span { offset, len } = fact.kind.detail();
        let end = offset as usize + len as usize;
        Params(self.detail.get(offset as usize..end).unwrap_or(&[]))
    }

    /// Drops the details of facts that were forgotten: those before the first that a fact in the list still has.
    pub(crate) fn forget_details(&mut self) {
        let kept = self.list.iter().map(|f| f.kind.detail()).filter(|d| d.len > 0).map(|d| d.offset).min();
        let start = kept.map_or(self.detail.len(), |offset| offset as usize);
        self.detail.drain(..start);
        for span in self.list.iter_mut().filter_map(|f| f.kind.detail_mut()).filter(|d| d.len > 0) {
            span.offset -= start as u32;
        }
    }

    /// Keeps bytes and says where they lie; nowhere once nobody took the log for too long.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Span {
        if bytes.is_empty() || self.detail.len() + bytes.len() > MAX_BYTES {
            return Span::default();
        }
        let offset = self.detail.len() as u32;
        self.detail.extend_from_slice(bytes);
        Span { offset, len: bytes.len() as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_and_nonsense_ends_the_list() {
        let all = [
            ("Null", ParamValue::Null),
            ("Yes", ParamValue::Bool(true)),
            ("Speed", ParamValue::Number(12.5)),
            ("Class", ParamValue::Text("Arrow é")),
            ("At", ParamValue::Vector([1.0, 2.0, -3.0])),
            ("Tag", ParamValue::Tag(TagId(4))),
            ("Who", ParamValue::Controller(ControllerId(9))),
        ];
        let mut bytes = Vec::new();
        all.iter().for_each(|(name, value)| put(&mut bytes, name, *value));
        assert_eq!(Params(&bytes).collect::<Vec<_>>(), all);
        for len in 0..bytes.len() {
            assert!(Params(&bytes[..len]).count() < all.len());
        }
        bytes.extend([1, 0, b'x', 99]);
        assert_eq!(Params(&bytes).count(), all.len());
    }
}
