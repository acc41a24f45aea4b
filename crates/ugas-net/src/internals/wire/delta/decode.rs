//! Applies a delta to an old token list. The bits may come from a hostile peer. Every count is checked against the
//! remaining token and byte budget before it is used. The nesting depth is limited to `MAX_DEPTH`.

use super::super::bits::{BitReader, WireError};
use super::super::number::{get_f64, get_int, get_uint, get_uint_to};
use super::super::token::{Kind, MAX_DEPTH, Token, Tokens};
use super::{CHAR_BITS, KIND_BITS, Limits, NOTHING, fraction_before, set};

pub(super) fn decode(
    stack: &mut Vec<u32>,
    old: &Tokens,
    from: &mut BitReader,
    limits: Limits,
    into: &mut Tokens,
) -> Result<(), WireError> {
    let mut pass = DeltaDecoder { stack, old, from, limits, into, depth: 0 };
    let root = Model { is_old: true, at: 0 };
    let is_new = pass.from.bit()?;
    match (is_new, old.is_empty()) {
        (false, true) => Ok(()),
        (false, false) => pass.copy(root),
        (true, true) => pass.full(),
        (true, false) => pass.change(root),
    }
}

/// A value that a delta is relative to: one of the old list, or an earlier one of the new list.
#[derive(Clone, Copy)]
struct Model {
    is_old: bool,
    at: usize,
}

impl Model {
    fn after(self, tokens: usize) -> Model {
        Model { at: self.at.saturating_add(tokens), ..self }
    }
}

struct DeltaDecoder<'p, 'd> {
    /// The selected members of each group being read.
    stack: &'p mut Vec<u32>,
    old: &'p Tokens,
    from: &'p mut BitReader<'d>,
    limits: Limits,
    into: &'p mut Tokens,
    depth: usize,
}

const BAD_LIST: WireError = WireError::BadValue { what: "the elements of a list" };

impl DeltaDecoder<'_, '_> {
    fn model(&self, m: Model) -> Token {
        if m.is_old { self.old.at(m.at) } else { self.into.at(m.at) }
    }

    /// Returns the sibling after a model.
    fn next(&self, m: Model) -> Model {
        m.after(self.model(m).size as usize)
    }

    /// Fails if the tokens would exceed the limit.
    fn room(&self, tokens: usize) -> Result<(), WireError> {
        match self.limits.tokens.min(u32::MAX as usize).checked_sub(self.into.len()) {
            Some(removed) if tokens <= removed => Ok(()),
            _ => Err(WireError::TooLong { what: "the parts of a value", max: self.limits.tokens as u64 }),
        }
    }

    fn room_for_bytes(&self, bytes: usize) -> Result<(), WireError> {
        match self.limits.bytes.min(u32::MAX as usize).checked_sub(self.into.bytes.len()) {
            Some(removed) if bytes <= removed => Ok(()),
            _ => Err(WireError::TooLong { what: "the texts of a value", max: self.limits.bytes as u64 }),
        }
    }

    fn push(&mut self, kind: Kind, bits: u64) -> Result<(), WireError> {
        self.room(1)?;
        self.into.list.push(Token::leaf(kind, bits));
        Ok(())
    }

    /// Adds a group: its head, then the children that `fill` adds; the size is then written into the head.
    fn group(
        &mut self,
        kind: Kind,
        bits: u64,
        fill: impl FnOnce(&mut Self) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(WireError::TooLong { what: "groups within groups", max: MAX_DEPTH as u64 });
        }
        let head = self.into.len();
        self.push(kind, bits)?;
        fill(self)?;
        let size = self.into.len() - head;
        if let Some(token) = self.into.list.get_mut(head) {
            token.size = size as u32;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Copies a value.
    fn copy(&mut self, m: Model) -> Result<(), WireError> {
        let size = self.model(m).size as usize;
        self.room(size)?;
        let range = m.at..m.at.saturating_add(size);
        if !m.is_old {
            if range.end > self.into.len() {
                return Err(BAD_LIST);
            }
            // Several tokens may share one text.
            self.into.list.extend_from_within(range);
            return Ok(());
        }
        let old = self.old;
        let tokens = old.list.get(range).ok_or(BAD_LIST)?;
        for &token in tokens {
            let bits = if token.is_stored() { self.store(old.stored(token))? } else { token.bits };
            self.into.list.push(Token { bits, ..token });
        }
        Ok(())
    }

    /// Stores bytes. Returns their location as in a token.
    fn store(&mut self, bytes: &[u8]) -> Result<u64, WireError> {
        self.room_for_bytes(bytes.len())?;
        let from = self.into.bytes.len();
        self.into.bytes.extend_from_slice(bytes);
        Ok((from as u64) << 32 | bytes.len() as u64)
    }

    /// Reads a value that differs from the model.
    fn change(&mut self, m: Model) -> Result<(), WireError> {
        let was = self.model(m);
        match was.kind {
            Kind::Unit | Kind::None => self.full(),
            Kind::Bool | Kind::Some | Kind::Str | Kind::Bytes if self.from.bit()? => self.full(),
            Kind::Bool => self.push(Kind::Bool, (was.bits == 0) as u64),
            Kind::Some => self.group(Kind::Some, 0, |p| p.change(m.after(1))),
            Kind::Str | Kind::Bytes => self.stored(was.kind),
            Kind::Unsigned | Kind::Signed => match get_int(self.from)? {
                0 => self.full(),
                change => self.push(was.kind, was.bits.wrapping_add(change as u64)),
            },
            Kind::Float => match self.fraction(was.bits)? {
                bits if bits == was.bits => self.full(),
                bits => self.push(Kind::Float, bits),
            },
            Kind::Float32 => match self.from.bits(32)? {
                bits if bits == was.bits => self.full(),
                bits => self.push(Kind::Float32, bits),
            },
            Kind::Char => match self.char()? {
                bits if bits == was.bits => self.full(),
                bits => self.push(Kind::Char, bits),
            },
            Kind::Tuple => self.members(m),
            Kind::Seq | Kind::Map | Kind::Variant => {
                if !self.from.bit()? {
                    self.members(m)
                } else if self.from.bit()? {
                    self.full()
                } else if was.kind == Kind::Variant {
                    self.variant()
                } else {
                    self.list_edit(m)
                }
            }
        }
    }

    fn fraction(&mut self, was: u64) -> Result<u64, WireError> {
        let before = fraction_before(self.into.list.last().copied());
        match before {
            Some(before) if self.from.bit()? => Ok(before),
            _ => Ok(get_f64(self.from, f64::from_bits(was))?.to_bits()),
        }
    }

    fn char(&mut self) -> Result<u64, WireError> {
        let bits = self.from.bits(CHAR_BITS)?;
        char::from_u32(bits as u32).map(|_| bits).ok_or(WireError::BadValue { what: "a character" })
    }

    fn stored(&mut self, kind: Kind) -> Result<(), WireError> {
        self.room(1)?;
        let len = get_uint_to(self.from, self.limits.bytes as u64, "a text")? as usize;
        self.room_for_bytes(len)?;
        let from = self.into.bytes.len();
        self.from.bytes(len, &mut self.into.bytes)?;
        let is_text = self.into.bytes.get(from..).is_some_and(|b| str::from_utf8(b).is_ok());
        if kind == Kind::Str && !is_text {
            return Err(WireError::BadValue { what: "a text that is not UTF-8" });
        }
        self.push(kind, (from as u64) << 32 | len as u64)
    }

    /// Reads a value without a model.
    fn full(&mut self) -> Result<(), WireError> {
        let code = self.from.bits(KIND_BITS)?;
        if code == NOTHING && self.into.is_empty() {
            return Ok(());
        }
        let bad = WireError::BadValue { what: "the kind of a value" };
        let kind = Kind::ALL.get(code as usize).copied().ok_or(bad)?;
        match kind {
            Kind::Unit | Kind::None => self.push(kind, 0),
            Kind::Some => self.group(kind, 0, |p| p.full()),
            Kind::Bool => {
                let bits = self.from.bits(1)?;
                self.push(kind, bits)
            }
            Kind::Unsigned => {
                let bits = get_uint(self.from)?;
                self.push(kind, bits)
            }
            Kind::Signed => {
                let bits = get_int(self.from)? as u64;
                self.push(kind, bits)
            }
            Kind::Float => {
                let bits = self.fraction(0)?;
                self.push(kind, bits)
            }
            Kind::Float32 => {
                let bits = self.from.bits(32)?;
                self.push(kind, bits)
            }
            Kind::Char => {
                let bits = self.char()?;
                self.push(kind, bits)
            }
            Kind::Str | Kind::Bytes => self.stored(kind),
            Kind::Tuple => {
                let count = self.count()?;
                self.group(kind, count as u64, |p| p.all_in_full(count))
            }
            Kind::Seq | Kind::Map => {
                let count = self.count()?;
                self.group(kind, count as u64, |p| {
                    let mut previous = None;
                    for _ in 0..count {
                        let here = Model { is_old: false, at: p.into.len() };
                        p.element(previous)?;
                        previous = Some(here);
                    }
                    Ok(())
                })
            }
            Kind::Variant => self.variant(),
        }
    }

    /// Reads the number of children of a group. Each has at least one token.
    fn count(&mut self) -> Result<usize, WireError> {
        let count = get_uint_to(self.from, self.limits.tokens as u64, "the members of a group")? as usize;
        self.room(count)?;
        Ok(count)
    }

    fn variant(&mut self) -> Result<(), WireError> {
        let index = get_uint_to(self.from, u32::MAX as u64, "a variant")?;
        let count = self.count()?;
        self.group(Kind::Variant, (count as u64) << 32 | index, |p| p.all_in_full(count))
    }

    fn all_in_full(&mut self, count: usize) -> Result<(), WireError> {
        (0..count).try_for_each(|_| self.full())
    }

    fn element(&mut self, previous: Option<Model>) -> Result<(), WireError> {
        match previous {
            Some(previous) => self.against(previous),
            None => self.full(),
        }
    }

    fn against(&mut self, model: Model) -> Result<(), WireError> {
        if self.from.bit()? { self.change(model) } else { self.copy(model) }
    }

    /// Reads the changed members of a group with the same members. If there are none, a value of another kind follows.
    fn members(&mut self, m: Model) -> Result<(), WireError> {
        let was = self.model(m);
        let base = self.stack.len();
        if set::get(self.from, was.count(), self.stack)? == 0 {
            return self.full();
        }
        self.group(was.kind, was.bits, |p| {
            let (mut child, mut next) = (m.after(1), base);
            for index in 0..was.count() {
                if p.stack.get(next) == Some(&(index as u32)) {
                    next += 1;
                    p.change(child)?;
                } else {
                    p.copy(child)?;
                }
                child = p.next(child);
            }
            Ok(())
        })?;
        self.stack.truncate(base);
        Ok(())
    }

    /// Reads a set that may be empty.
    fn picked(&mut self, of: usize) -> Result<usize, WireError> {
        if of > 0 && self.from.bit()? { set::get(self.from, of, self.stack) } else { Ok(0) }
    }

    /// Reads a list in which elements were removed, added or changed.
    fn list_edit(&mut self, m: Model) -> Result<(), WireError> {
        let was = self.model(m);
        let base = self.stack.len();
        let is = (was.count() as i64).checked_add(get_int(self.from)?).and_then(|n| usize::try_from(n).ok());
        let is = is.ok_or(BAD_LIST)?;
        self.room(is)?;
        if is == 0 {
            return self.group(was.kind, 0, |_| Ok(()));
        }
        let removed = self.picked(was.count())?;
        let kept = was.count().checked_sub(removed).ok_or(BAD_LIST)?;
        let added = is.checked_sub(kept).ok_or(BAD_LIST)?;
        let come_from = self.stack.len();
        if added > 0 && kept > 0 && set::get(self.from, is, self.stack)? != added {
            return Err(BAD_LIST);
        }
        let changed_from = self.stack.len();
        self.picked(kept)?;
        let places = ElementRanges { removed: base..come_from, added: come_from..changed_from, changed: changed_from };
        let kept_any = kept > 0;
        self.group(was.kind, is as u64, |p| p.elements(m, is, kept_any, places))?;
        self.stack.truncate(base);
        Ok(())
    }

    fn elements(&mut self, m: Model, is: usize, kept_any: bool, places: ElementRanges) -> Result<(), WireError> {
        let ElementRanges { mut removed, mut added, mut changed } = places;
        let changed_end = self.stack.len();
        let (mut old, mut old_index, mut stayed) = (m.after(1), 0u32, 0u32);
        let mut previous = None;
        for index in 0..is as u32 {
            let here = Model { is_old: false, at: self.into.len() };
            let is_new = !kept_any || added.clone().next().is_some_and(|at| self.stack.get(at) == Some(&index));
            let has_left = |p: &Self, removed: &std::ops::Range<usize>, i: u32| {
                removed.clone().next().is_some_and(|at| p.stack.get(at) == Some(&i))
            };
            if is_new {
                added.next();
                if has_left(self, &removed, old_index) {
                    removed.next();
                    self.against(old)?;
                    (old, old_index) = (self.next(old), old_index + 1);
                } else {
                    self.element(previous)?;
                }
            } else {
                while has_left(self, &removed, old_index) {
                    removed.next();
                    (old, old_index) = (self.next(old), old_index + 1);
                }
                if changed < changed_end && self.stack.get(changed) == Some(&stayed) {
                    changed += 1;
                    self.change(old)?;
                } else {
                    self.copy(old)?;
                }
                (old, old_index, stayed) = (self.next(old), old_index + 1, stayed + 1);
            }
            previous = Some(here);
        }
        Ok(())
    }
}

/// The ranges on the stack of the elements that were removed, added or changed.
struct ElementRanges {
    removed: std::ops::Range<usize>,
    added: std::ops::Range<usize>,
    changed: usize,
}
