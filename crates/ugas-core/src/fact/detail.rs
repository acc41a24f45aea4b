//! Details: the variable-length data of facts. All details of a log are stored in one buffer, as a sequence of named
//! values. A named value consists of the `u16` length of the name, the name, one byte for the type, and the value.
//! Numbers are little-endian. The C API reads the same bytes.
//!
//! | Type | Value |
//! |---|---|
//! | 0 none | – |
//! | 1 boolean | `u8` |
//! | 2 number | `f64` |
//! | 3 text | `u32` length, UTF-8 |
//! | 4 position or direction | three `f64` |
//! | 5 tag | `u32` |
//! | 6 controller | `u32` |

use super::{Fact, FactKind, Facts, Span};
use crate::{ControllerId, TagId};

/// The maximum size in bytes of the details of facts that were not taken yet.
const MAX_BYTES: usize = 64 << 20;

/// A named value of a fact's details.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamValue<'a> {
    /// No value.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// Text.
    Text(&'a str),
    /// A position or a direction.
    Vector([f64; 3]),
    /// A tag.
    Tag(TagId),
    /// A controller.
    Controller(ControllerId),
}

/// Appends a named value. A name or text that is longer than its length field allows is truncated.
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

/// An iterator over the named values of one fact. It ends at the first malformed entry.
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
    /// Returns the range of the fact's details in [`Facts::detail`]. The range is empty if the fact has no details.
    pub fn detail(&self) -> Span {
        let mut kind = *self;
        kind.detail_mut().map_or(Span::default(), |detail| *detail)
    }

    /// Returns the kind with an empty range of details. Facts of two logs are compared without these ranges, because the
    /// position of details depends on when facts were taken.
    ///
    /// ```
    /// use ugas_core::{CueType, FactKind, Span, TagId};
    /// let cue = |offset| FactKind::Cue { tag: TagId(1), cue: CueType::Execute, detail: Span { offset, len: 4 } };
    /// assert_eq!(cue(0).without_detail(), cue(8).without_detail());
    /// ```
    pub fn without_detail(mut self) -> FactKind {
        if let Some(detail) = self.detail_mut() {
            *detail = Span::default();
        }
        self
    }

    /// Returns the field `Params` of the kinds that have one. A test compares these kinds with the table of fact kinds.
    fn detail_mut(&mut self) -> Option<&mut Span> {
        let (FactKind::TaskRequest { detail, .. }
        | FactKind::GameplayEvent { detail, .. }
        | FactKind::Cue { detail, .. }) = self
        else {
            return None;
        };
        Some(detail)
    }
}

impl Facts {
    /// Appends the facts of another log, with their details.
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
            self.import(&mut fact, other);
            self.list.push(fact);
        }
    }

    /// Appends a fact with named values as its details. The values are dropped if facts of this kind have no details.
    ///
    /// ```
    /// use ugas_core::{ControllerId, EffectId, EffectKey, Fact, FactKind, Facts, OpId, ParamValue, SimTime, Span,
    /// TagId}; let event = FactKind::GameplayEvent { tag: TagId(1), magnitude: 1.0, detail: Span::default() };
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

    /// Copies the details of a fact from another log into this log, and updates the byte range that the fact stores.
    pub fn import(&mut self, fact: &mut Fact, from: &Facts) {
        if let Some(span) = fact.kind.detail_mut()
            && span.len > 0
        {
            let bytes = from.detail.get(span.offset as usize..span.offset as usize + span.len as usize);
            let offset = self.detail.len() as u32;
            self.detail.extend_from_slice(bytes.unwrap_or_default());
            *span = Span { offset, len: bytes.map_or(0, |b| b.len() as u32) };
        }
    }

    /// Returns the named values of a fact of this log, such as the parameters of a task request, the payload of an
    /// event or the position of a cue.
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

    /// Drops the details of facts that are no longer in the list.
    pub(crate) fn forget_details(&mut self) {
        let kept = self.list.iter().map(|f| f.kind.detail()).filter(|d| d.len > 0).map(|d| d.offset).min();
        let start = kept.map_or(self.detail.len(), |offset| offset as usize);
        self.detail.drain(..start);
        for span in self.list.iter_mut().filter_map(|f| f.kind.detail_mut()).filter(|d| d.len > 0) {
            span.offset -= start as u32;
        }
    }

    /// Stores bytes and returns their range. If the buffer is full because the facts were not taken for too long, drops
    /// the bytes and returns an empty range.
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
    use crate::{AbilityId, CueType, EffectId, EffectKey, OpId, SimTime, TaskKey, TaskKindId};

    #[test]
    fn facts_of_every_kind_with_params_keep_them_when_they_move() {
        let detail = Span::default();
        let (ability, task, task_key) = (AbilityId(0), TaskKindId(0), TaskKey::NONE);
        let kinds = [
            FactKind::Cue { tag: TagId(1), cue: CueType::Execute, detail },
            FactKind::TaskRequest { ability, task, task_key, detail },
            FactKind::GameplayEvent { tag: TagId(1), magnitude: 1.0, detail },
        ];
        let with_params = FactKind::KINDS.iter().filter(|(_, fields)| fields.contains(&"Params"));
        let names: Vec<&str> = with_params.map(|(kind, _)| *kind).collect();
        assert_eq!(kinds.map(|kind| kind.name()).as_slice(), names, "list the new kind above");

        let fact = |kind| {
            let (at, who, source) = (SimTime::ZERO, ControllerId(1), ControllerId::NONE);
            let (key, root, effect) = (EffectKey::NONE, OpId::default(), EffectId::NONE);
            Fact { at, who, source, key, root, link: 0, effect, kind }
        };
        let params = [("Distance", ParamValue::Number(3.0)), ("Class", ParamValue::Text("Arrow"))];
        for kind in kinds {
            let name = kind.name();
            let mut from = Facts::default();
            from.push(fact(kind), &params);
            assert_eq!(from.params(&from.list[0]).collect::<Vec<_>>(), params, "{name} stores");
            // In the other log, the details have another offset.
            let mut all = Facts::default();
            all.push(fact(kinds[0]), &[("Other", ParamValue::Bool(true))]);
            all.append(&from);
            assert_eq!(all.params(&all.list[1]).collect::<Vec<_>>(), params, "{name} moves to another log");
            all.list.remove(0);
            all.forget_details();
            assert_eq!(all.params(&all.list[0]).collect::<Vec<_>>(), params, "{name} moves to the front");
            assert_eq!(all.detail.len(), from.detail.len(), "the other details are dropped");
        }
    }

    #[test]
    fn params_round_trip_and_malformed_bytes_end_the_list() {
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
