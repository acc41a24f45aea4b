//! Writes the delta between two token lists.

use super::super::bits::BitWriter;
use super::super::number::{put_f64, put_int, put_uint};
use super::super::token::{Kind, Tokens};
use super::{CHAR_BITS, Coder, KIND_BITS, NOTHING, fraction_before, set};

/// A member of a group that changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    index: u32,
    old: u32,
    new: u32,
    /// The number of leading tokens that are equal.
    same: u32,
}

/// How many old elements are searched for the match of a new one.
const MATCH_RANGE: usize = 32;
/// The match of an element that is new.
const UNMATCHED: u32 = u32::MAX;

pub(super) fn encode(coder: &mut Coder, old: &Tokens, new: &Tokens, out: &mut BitWriter) {
    coder.changed.clear();
    coder.stack.clear();
    if old == new {
        return out.bit(false);
    }
    out.bit(true);
    let mut pass = DeltaEncoder { coder, new, out };
    if new.is_empty() {
        pass.escape(old, 0, None);
        pass.out.bits(NOTHING, KIND_BITS);
    } else if old.is_empty() {
        pass.full(0);
    } else {
        pass.change(old, 0, 0, old.common(0, new, 0));
    }
}

struct DeltaEncoder<'c> {
    coder: &'c mut Coder,
    new: &'c Tokens,
    out: &'c mut BitWriter,
}

impl DeltaEncoder<'_> {
    /// Writes a value that differs from the old one from token `same` on.
    fn change(&mut self, old: &Tokens, o: usize, n: usize, same: usize) {
        let (was, is) = (old.at(o), self.new.at(n));
        let has_same_kind = was.kind == is.kind && (is.kind != Kind::Tuple || was.bits == is.bits);
        let before = n.checked_sub(1).map(|b| self.new.at(b));
        if !has_same_kind {
            self.escape(old, o, fraction_before(before));
            return self.full(n);
        }
        match is.kind {
            Kind::Unit | Kind::None => {}
            Kind::Bool => self.out.bit(false),
            Kind::Some => {
                self.out.bit(false);
                self.change(old, o + 1, n + 1, same.saturating_sub(1));
            }
            Kind::Unsigned | Kind::Signed => put_int(self.out, is.bits.wrapping_sub(was.bits) as i64),
            Kind::Float => self.fraction(is.bits, was.bits, fraction_before(before)),
            Kind::Float32 => self.out.bits(is.bits, 32),
            Kind::Char => self.out.bits(is.bits, CHAR_BITS),
            Kind::Str | Kind::Bytes => {
                self.out.bit(false);
                self.stored(n);
            }
            Kind::Tuple => self.members(old, o, n, same),
            Kind::Seq | Kind::Map => self.list(old, o, n, same),
            Kind::Variant if was.bits == is.bits => {
                self.out.bit(false);
                self.members(old, o, n, same);
            }
            Kind::Variant => {
                self.out.bits(0b01, 2);
                self.variant(n);
            }
        }
    }

    /// Announces a value of another kind, by the code for no change.
    fn escape(&mut self, old: &Tokens, o: usize, before: Option<u64>) {
        let was = old.at(o);
        match was.kind {
            Kind::Unit | Kind::None => {}
            Kind::Some | Kind::Bool | Kind::Str | Kind::Bytes => self.out.bit(true),
            Kind::Unsigned | Kind::Signed => put_int(self.out, 0),
            Kind::Float => {
                if before.is_some() {
                    self.out.bit(false);
                }
                put_f64(self.out, f64::from_bits(was.bits), f64::from_bits(was.bits));
            }
            Kind::Float32 => self.out.bits(was.bits, 32),
            Kind::Char => self.out.bits(was.bits, CHAR_BITS),
            Kind::Tuple => set::put(self.out, was.count(), [].into_iter()),
            Kind::Seq | Kind::Map | Kind::Variant => self.out.bits(0b11, 2),
        }
    }

    fn fraction(&mut self, is: u64, was: u64, before: Option<u64>) {
        if let Some(before) = before {
            self.out.bit(before == is);
            if before == is {
                return;
            }
        }
        put_f64(self.out, f64::from_bits(is), f64::from_bits(was));
    }

    fn stored(&mut self, n: usize) {
        let bytes = self.new.stored(self.new.at(n));
        put_uint(self.out, bytes.len() as u64);
        self.out.bytes(bytes);
    }

    /// Writes a value without an old one.
    fn full(&mut self, n: usize) {
        let is = self.new.at(n);
        self.out.bits(is.kind as u64, KIND_BITS);
        match is.kind {
            Kind::Unit | Kind::None => {}
            Kind::Some => self.full(n + 1),
            Kind::Bool => self.out.bit(is.bits != 0),
            Kind::Unsigned => put_uint(self.out, is.bits),
            Kind::Signed => put_int(self.out, is.bits as i64),
            Kind::Float => self.fraction(is.bits, 0, fraction_before(n.checked_sub(1).map(|b| self.new.at(b)))),
            Kind::Float32 => self.out.bits(is.bits, 32),
            Kind::Char => self.out.bits(is.bits, CHAR_BITS),
            Kind::Str | Kind::Bytes => self.stored(n),
            Kind::Tuple => {
                put_uint(self.out, is.count() as u64);
                self.children_in_full(n);
            }
            Kind::Seq | Kind::Map => {
                put_uint(self.out, is.count() as u64);
                let mut previous = None;
                let mut child = n + 1;
                for _ in 0..is.count() {
                    self.element(previous, child);
                    previous = Some(child);
                    child += self.new.at(child).size as usize;
                }
            }
            Kind::Variant => self.variant(n),
        }
    }

    fn variant(&mut self, n: usize) {
        let is = self.new.at(n);
        put_uint(self.out, is.index() as u64);
        put_uint(self.out, is.count() as u64);
        self.children_in_full(n);
    }

    fn children_in_full(&mut self, n: usize) {
        let mut child = n + 1;
        for _ in 0..self.new.at(n).count() {
            self.full(child);
            child += self.new.at(child).size as usize;
        }
    }

    /// Writes a new element of a list, as a delta to the previous element if there is one.
    fn element(&mut self, previous: Option<usize>, n: usize) {
        match previous {
            Some(previous) => self.against(self.new, previous, n),
            None => self.full(n),
        }
    }

    /// Writes a value as a delta to a model, which may be equal.
    fn against(&mut self, model: &Tokens, m: usize, n: usize) {
        let same = model.common(m, self.new, n);
        let is_equal = same == self.new.at(n).size as usize;
        self.out.bit(!is_equal);
        if !is_equal {
            self.change(model, m, n, same);
        }
    }

    /// Writes the changed members of two groups with the same members.
    fn members(&mut self, old: &Tokens, o: usize, n: usize, same: usize) {
        let base = self.coder.changed.len();
        self.compare(old, o, n, same);
        self.put_members(old, n, base);
    }

    /// Collects the changed members of two groups with the same members.
    fn compare(&mut self, old: &Tokens, o: usize, n: usize, same: usize) {
        let (mut old_child, mut child) = (o + 1, n + 1);
        for index in 0..self.new.at(n).count() {
            let (offset, size) = (child - n, self.new.at(child).size as usize);
            let known = if offset + size <= same {
                size
            } else if offset <= same {
                same - offset
            } else {
                old.common(old_child, self.new, child)
            };
            if known < size {
                self.push_changed(index, old_child, child, known);
            }
            old_child += old.at(old_child).size as usize;
            child += size;
        }
    }

    /// Writes the collected changes of a group from `base` on and removes them.
    fn put_members(&mut self, old: &Tokens, n: usize, base: usize) {
        set::put(self.out, self.new.at(n).count(), self.coder.changed[base..].iter().map(|m| m.index as usize));
        for at in base..self.coder.changed.len() {
            let m = self.coder.changed[at];
            self.change(old, m.old as usize, m.new as usize, m.same as usize);
        }
        self.coder.changed.truncate(base);
    }

    fn push_changed(&mut self, index: usize, old: usize, new: usize, same: usize) {
        let (index, old, new, same) = (index as u32, old as u32, new as u32, same as u32);
        self.coder.changed.push(Member { index, old, new, same });
    }

    fn list(&mut self, old: &Tokens, o: usize, n: usize, same: usize) {
        let (was, is) = (old.at(o).count(), self.new.at(n).count());
        let (base, stack) = (self.coder.changed.len(), self.coder.stack.len());
        if was == is {
            self.compare(old, o, n, same);
            let changed = &self.coder.changed[base..];
            let replaced = changed.iter().filter(|m| has_other_identity(old, m.old, self.new, m.new));
            if replaced.take(2).count() < 2 || self.match_elements(old, o, n) {
                self.coder.stack.truncate(stack);
                self.out.bit(false);
                return self.put_members(old, n, base);
            }
            self.coder.changed.truncate(base);
        } else {
            self.match_elements(old, o, n);
        }
        self.out.bits(0b01, 2);
        put_int(self.out, is as i64 - was as i64);
        ListEdit { base: stack, was, is }.write(self, old);
        self.coder.stack.truncate(stack);
    }

    /// Pushes the positions of all old and new elements on the stack, then the match of each new one. Returns whether
    /// as many elements would match by index alone.
    fn match_elements(&mut self, old: &Tokens, o: usize, n: usize) -> bool {
        let stack = &mut self.coder.stack;
        let base = stack.len();
        let (was, is) = (old.at(o).count(), self.new.at(n).count());
        for (tokens, head, count) in [(old, o, was), (self.new, n, is)] {
            let mut child = head + 1;
            for _ in 0..count {
                stack.push(child as u32);
                child += tokens.at(child).size as usize;
            }
        }
        let (mut next, mut matched, mut in_place) = (0, 0, 0);
        for j in 0..is {
            let key = identity_of(self.new, stack[base + was + j]);
            let is_match = |i: &usize| self.new.is_same(key, old, identity_of(old, stack[base + i]));
            in_place += (j < was && is_match(&j)) as usize;
            let found = (next..was.min(next + MATCH_RANGE)).find(is_match);
            stack.push(found.map_or(UNMATCHED, |i| i as u32));
            if let Some(i) = found {
                next = i + 1;
                matched += 1;
            }
        }
        in_place >= matched
    }
}

/// How many tokens of an element are searched for its identity.
const IDENTITY_RANGE: usize = 6;

/// Returns the position of the identity of an element: its first leaf that is not a float, or else its first leaf.
fn identity_of(tokens: &Tokens, element: u32) -> usize {
    let element = element as usize;
    let mut first = None;
    for at in element..element + (tokens.at(element).size as usize).min(IDENTITY_RANGE) {
        let token = tokens.at(at);
        if token.count() == 0 && token.kind != Kind::Float {
            return at;
        }
        first = first.or((token.count() == 0).then_some(at));
    }
    first.unwrap_or(element)
}

/// Returns whether two elements at the same index have different identities, so that one may have replaced the other.
fn has_other_identity(old: &Tokens, o: u32, new: &Tokens, n: u32) -> bool {
    let (was, is) = (identity_of(old, o), identity_of(new, n));
    new.at(is).kind != Kind::Float && !new.is_same(is, old, was)
}

/// The edit of a list: positions and matches on the stack from `base` on.
struct ListEdit {
    base: usize,
    was: usize,
    is: usize,
}

impl ListEdit {
    fn old_at(&self, pass: &DeltaEncoder, i: usize) -> usize {
        pass.coder.stack[self.base + i] as usize
    }

    fn new_at(&self, pass: &DeltaEncoder, j: usize) -> usize {
        pass.coder.stack[self.base + self.was + j] as usize
    }

    fn match_of(&self, pass: &DeltaEncoder, j: usize) -> Option<usize> {
        let i = pass.coder.stack[self.base + self.was + self.is + j];
        (i != UNMATCHED).then_some(i as usize)
    }

    /// Writes which old elements were removed, which elements are new and which of the others changed; then the new and
    /// changed elements in the new order.
    fn write(&self, pass: &mut DeltaEncoder, old: &Tokens) {
        let base = pass.coder.changed.len();
        if self.is == 0 {
            return;
        }
        let (mut next, mut kept) = (0, 0);
        for j in 0..=self.is {
            let until = if j == self.is { Some(self.was) } else { self.match_of(pass, j) };
            for i in next..until.unwrap_or(next) {
                pass.push_changed(i, 0, 0, 0);
            }
            next = until.map_or(next, |i| i + 1);
            kept += (j < self.is && until.is_some()) as usize;
        }
        self.put_picked(pass, self.was, base);
        pass.coder.changed.truncate(base);

        if kept > 0 && kept < self.is {
            for j in 0..self.is {
                if self.match_of(pass, j).is_none() {
                    pass.push_changed(j, 0, 0, 0);
                }
            }
            set::put(pass.out, self.is, pass.coder.changed[base..].iter().map(|m| m.index as usize));
            pass.coder.changed.truncate(base);
        }

        let mut kept_index = 0;
        for j in 0..self.is {
            if let Some(i) = self.match_of(pass, j) {
                let (o, n) = (self.old_at(pass, i), self.new_at(pass, j));
                let same = old.common(o, pass.new, n);
                if same < pass.new.at(n).size as usize {
                    pass.push_changed(kept_index, o, n, same);
                }
                kept_index += 1;
            }
        }
        self.put_picked(pass, kept, base);
        self.elements(pass, old, base);
        pass.coder.changed.truncate(base);
    }

    fn elements(&self, pass: &mut DeltaEncoder, old: &Tokens, base: usize) {
        let mut change = base;
        let end = pass.coder.changed.len();
        let (mut next, mut next_kept) = (0, 0);
        for j in 0..self.is {
            let n = self.new_at(pass, j);
            if let Some(i) = self.match_of(pass, j) {
                if change < end && pass.coder.changed[change].new as usize == n {
                    let m = pass.coder.changed[change];
                    pass.change(old, m.old as usize, n, m.same as usize);
                    change += 1;
                }
                next = i + 1;
                continue;
            }
            // The element that was removed at this index is the best model.
            while next_kept < self.is && (next_kept < j || self.match_of(pass, next_kept).is_none()) {
                next_kept += 1;
            }
            let until = if next_kept < self.is { self.match_of(pass, next_kept) } else { None };
            if next < until.unwrap_or(self.was) {
                pass.against(old, self.old_at(pass, next), n);
                next += 1;
            } else {
                pass.element(j.checked_sub(1).map(|k| self.new_at(pass, k)), n);
            }
        }
    }

    /// Writes a set that may be empty.
    fn put_picked(&self, pass: &mut DeltaEncoder, of: usize, base: usize) {
        let picked = &pass.coder.changed[base..];
        if of > 0 {
            pass.out.bit(!picked.is_empty());
        }
        if !picked.is_empty() {
            set::put(pass.out, of, picked.iter().map(|m| m.index as usize));
        }
    }
}
