//! The encoding of sections. The functions that write and read a part are next to each other in this file.
//!
//! A list of actors ends with a zero bit; each actor starts with a one bit and the difference between its id and the
//! previous id. A section starts with a prefix code for its content: attributes only, tags only, any combination, or a
//! full section. Lists inside a section are never empty and have a continuation bit after each entry.

use super::marks::Mark;
use super::{Burst, Field, ProxyEffect};
use crate::types::Tick;
use crate::wire::bits::{BitReader, BitWriter, WireError};
use crate::wire::number::{get_f64, get_int, get_time, get_uint, get_uint_to, put_f64, put_int, put_time, put_uint};
use ugas_core::{ControllerId, EffectId, EffectKey, EffectState, OpId, RUNTIME_BIT, Rules, SimTime, TagId};

/// The steps per unit of length on the wire.
pub(super) const STEPS_PER_UNIT: f64 = 64.0;

/// The values that the encoding of a section depends on. Client and server both know these values.
#[derive(Clone, Copy)]
pub(super) struct Cx<'a> {
    pub(super) rules: &'a Rules,
    pub(super) tag_bits: u32,
    pub(super) effect_bits: u32,
    /// Whether sections can have a list of actors and capability sets.
    pub(super) has_holdings: bool,
    /// The tick whose state it is.
    pub(super) tick: Tick,
    /// How long a tick is.
    pub(super) length: SimTime,
}

// Actors ---------------------------------------------------------------------------------------------------------

/// Writes a list of actors, sorted by id.
///
/// ```
/// use ugas_core::ControllerId;
/// use ugas_net::internals::view::{ActorList, read_next};
/// use ugas_net::internals::wire::bits::{BitReader, BitWriter};
/// let (mut out, mut list) = (BitWriter::new(), ActorList::default());
/// list.open(ControllerId(4), &mut out);
/// list.open(ControllerId(9), &mut out);
/// list.close(&mut out);
/// let (mut from, mut last) = (BitReader::new(out.finish()), None);
/// assert_eq!(read_next(&mut from, &mut last)?, Some(ControllerId(4)));
/// assert_eq!(read_next(&mut from, &mut last)?, Some(ControllerId(9)));
/// assert_eq!(read_next(&mut from, &mut last)?, None);
/// # Ok::<(), ugas_net::internals::wire::bits::WireError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ActorList {
    last: Option<ControllerId>,
}

impl ActorList {
    /// Starts the next actor, whose section follows. Ids must increase.
    pub fn open(&mut self, who: ControllerId, out: &mut BitWriter) {
        let first = self.last.map_or(0, |last| last.0.saturating_add(1));
        debug_assert!(who.0 >= first, "actors must be written in order of id");
        match who.0.saturating_sub(first) {
            0 => out.bits(0b01, 2),
            gap => {
                out.bits(0b11, 2);
                put_uint(out, gap as u64 - 1);
            }
        }
        self.last = Some(who);
    }

    /// Ends the list.
    pub fn close(self, out: &mut BitWriter) {
        out.bit(false);
    }
}

/// Reads the next actor of a list; `None` at its end.
pub fn read_next(from: &mut BitReader, last: &mut Option<ControllerId>) -> Result<Option<ControllerId>, WireError> {
    if !from.bit()? {
        return Ok(None);
    }
    let gap = if from.bit()? { get_uint(from)?.saturating_add(1) } else { 0 };
    let first = last.map_or(0, |last| last.0 as u64 + 1);
    let id = first.saturating_add(gap);
    if id >= ControllerId::NONE.0 as u64 {
        return Err(WireError::BadValue { what: "an actor's id" });
    }
    *last = Some(ControllerId(id as u32));
    Ok(*last)
}

// Sections -------------------------------------------------------------------------------------------------------

/// The parts of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) attributes: bool,
    pub(super) tags: bool,
    pub(super) effects: bool,
    pub(super) loops: bool,
    pub(super) bursts: bool,
    pub(super) holdings: bool,
}

impl Parts {
    const NONE: Parts =
        Parts { attributes: false, tags: false, effects: false, loops: false, bursts: false, holdings: false };
    const ATTRIBUTES: Parts = Parts { attributes: true, ..Parts::NONE };
    const TAGS: Parts = Parts { tags: true, ..Parts::NONE };

    pub(super) fn is_empty(self) -> bool {
        self == Parts::default()
    }

    /// Writes one bit for each part. Rules without visible actors and capability sets have no bit for them.
    pub(super) fn put_flags(self, has_holdings: bool, out: &mut BitWriter) {
        for part in [self.attributes, self.tags, self.effects, self.loops, self.bursts] {
            out.bit(part);
        }
        if has_holdings {
            out.bit(self.holdings);
        }
    }

    pub(super) fn get_flags(has_holdings: bool, from: &mut BitReader) -> Result<Parts, WireError> {
        let mut next = || from.bit();
        let (attributes, tags, effects, loops, bursts) = (next()?, next()?, next()?, next()?, next()?);
        Ok(Parts { attributes, tags, effects, loops, bursts, holdings: has_holdings && next()? })
    }
}

/// The head of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// A partial section; common combinations have a short code.
    Some(Parts),
    /// A full section.
    All,
}

impl Head {
    pub(super) fn put(self, has_holdings: bool, out: &mut BitWriter) {
        match self {
            Head::Some(Parts::ATTRIBUTES) => out.bit(false),
            Head::Some(Parts::TAGS) => out.bits(0b01, 2),
            Head::Some(parts) => {
                out.bits(0b011, 3);
                parts.put_flags(has_holdings, out);
            }
            Head::All => out.bits(0b111, 3),
        }
    }

    pub(super) fn get(has_holdings: bool, from: &mut BitReader) -> Result<Head, WireError> {
        if !from.bit()? {
            return Ok(Head::Some(Parts::ATTRIBUTES));
        }
        if !from.bit()? {
            return Ok(Head::Some(Parts::TAGS));
        }
        if from.bit()? { Ok(Head::All) } else { Parts::get_flags(has_holdings, from).map(Head::Some) }
    }
}

/// Writes a list that is not empty.
pub(super) fn put_list<T>(out: &mut BitWriter, list: impl Iterator<Item = T>, mut put: impl FnMut(&mut BitWriter, T)) {
    let mut is_first = true;
    for item in list {
        if !is_first {
            out.bit(true);
        }
        is_first = false;
        put(out, item);
    }
    debug_assert!(!is_first, "lists on the wire are never empty");
    out.bit(false);
}

/// Reads a list of at most `most` entries.
pub(super) fn get_list<'d>(
    from: &mut BitReader<'d>,
    (max, what): (usize, &'static str),
    mut get: impl FnMut(&mut BitReader<'d>) -> Result<(), WireError>,
) -> Result<(), WireError> {
    for _ in 0..max {
        get(from)?;
        if !from.bit()? {
            return Ok(());
        }
    }
    Err(WireError::TooLong { what, max: max as u64 })
}

// Attributes -----------------------------------------------------------------------------------------------------

/// An encoded value: the code of a rounded value, or the bits of an exact one. Equal codes mean no change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Coded(u64);

impl Coded {
    pub(super) fn new(field: &Field, value: f64) -> Coded {
        // Adding zero makes a negative zero positive.
        Coded(field.quantize.map_or_else(|| (value + 0.0).to_bits(), |q| q.encode(value) as u64))
    }

    pub(super) fn value(self, field: &Field) -> f64 {
        field.quantize.map_or_else(|| f64::from_bits(self.0), |q| q.decode(self.0 as u32))
    }

    pub(super) fn put(self, out: &mut BitWriter, field: &Field) {
        match field.quantize {
            Some(q) => out.bits(self.0, q.bits()),
            None => put_f64(out, f64::from_bits(self.0), 0.0),
        }
    }

    pub(super) fn get(from: &mut BitReader, field: &Field) -> Result<Coded, WireError> {
        if let Some(q) = field.quantize {
            return Ok(Coded(from.bits(q.bits())?));
        }
        let value = get_f64(from, 0.0)?;
        if value.is_finite() {
            Ok(Coded((value + 0.0).to_bits()))
        } else {
            Err(WireError::BadValue { what: "an attribute" })
        }
    }
}

/// Writes which of `count` fields follow, as a mask or as a list of indices, whichever is shorter.
pub(super) fn put_indices(
    out: &mut BitWriter,
    (count, width): (usize, u32),
    indices: impl Iterator<Item = usize> + Clone,
) {
    let listed = indices.clone().count() * (width as usize + 1);
    out.bit(listed < count);
    if listed < count {
        return put_list(out, indices, |out, at| out.bits(at as u64, width));
    }
    let (mut word, mut begin) = (0u64, 0);
    for at in indices {
        while at >= begin + 64 {
            out.bits(word, 64);
            (word, begin) = (0, begin + 64);
        }
        word |= 1 << (at - begin);
    }
    while begin < count {
        out.bits(word, (count - begin).min(64) as u32);
        (word, begin) = (0, begin + 64);
    }
}

/// Reads which of `count` fields follow.
pub(super) fn get_indices(
    from: &mut BitReader,
    (count, width): (usize, u32),
    indices: &mut Vec<usize>,
) -> Result<(), WireError> {
    indices.clear();
    if from.bit()? {
        return get_list(from, (count, "changed attributes"), |from| {
            let at = from.bits(width)? as usize;
            if at >= count || indices.last().is_some_and(|&last| last >= at) {
                return Err(WireError::BadValue { what: "an attribute's index" });
            }
            indices.push(at);
            Ok(())
        });
    }
    for begin in (0..count).step_by(64) {
        let mut word = from.bits((count - begin).min(64) as u32)?;
        while word != 0 {
            indices.push(begin + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
    Ok(())
}

// Tags, effects, cues --------------------------------------------------------------------------------------------

impl Cx<'_> {
    pub(super) fn put_tag(&self, out: &mut BitWriter, mark: &Mark<TagId>) {
        out.bit(mark.on);
        out.bits(mark.item.0 as u64, self.tag_bits);
    }

    pub(super) fn get_tag(&self, from: &mut BitReader) -> Result<Mark<TagId>, WireError> {
        let on = from.bit()?;
        Ok(Mark { item: self.get_tag_id(from)?, on, at: self.tick })
    }

    fn get_tag_id(&self, from: &mut BitReader) -> Result<TagId, WireError> {
        let tag = TagId(from.bits(self.tag_bits)? as u32);
        self.rules.tag_name(tag).map(|_| tag).ok_or(WireError::BadValue { what: "a tag" })
    }

    pub(super) fn put_effect(&self, out: &mut BitWriter, mark: &Mark<ProxyEffect>) {
        let e = &mark.item;
        out.bit(mark.on);
        put_key(out, e.key);
        if !mark.on {
            return;
        }
        out.bit(e.effect.is_runtime());
        match e.effect.is_runtime() {
            true => put_uint(out, (e.effect.0 & !RUNTIME_BIT) as u64),
            false => out.bits(e.effect.0 as u64, self.effect_bits),
        }
        put_uint(out, e.level as u64);
        put_uint(out, e.stacks as u64);
        let state = match e.state {
            EffectState::Active => 0,
            EffectState::Inhibited => 1,
            EffectState::Queued => 2,
        };
        out.bits(state, 2);
        put_time(out, e.start, self.tick, self.length);
        put_time(out, e.end, self.tick, self.length);
    }

    pub(super) fn get_effect(&self, from: &mut BitReader, who: ControllerId) -> Result<Mark<ProxyEffect>, WireError> {
        let (on, key) = (from.bit()?, get_key(from, who)?);
        let (level, stacks, state, start, end) = (0, 0, EffectState::Active, SimTime::NEVER, SimTime::NEVER);
        let mut item = ProxyEffect { key, effect: EffectId::NONE, level, stacks, state, start, end };
        if on {
            item.effect = self.get_effect_id(from)?;
            item.level = get_uint_to(from, u32::MAX as u64, "an effect's level")? as u32;
            item.stacks = get_uint_to(from, u32::MAX as u64, "an effect's stacks")? as u32;
            item.state = match from.bits(2)? {
                0 => EffectState::Active,
                1 => EffectState::Inhibited,
                2 => EffectState::Queued,
                _ => return Err(WireError::BadValue { what: "an effect's state" }),
            };
            item.start = self.get_time_of(from)?;
            item.end = self.get_time_of(from)?;
        }
        Ok(Mark { item, on, at: self.tick })
    }

    fn get_effect_id(&self, from: &mut BitReader) -> Result<EffectId, WireError> {
        if from.bit()? {
            let id = get_uint_to(from, (RUNTIME_BIT - 2) as u64, "a run-time definition")?;
            return Ok(EffectId(id as u32 | RUNTIME_BIT));
        }
        let id = EffectId(from.bits(self.effect_bits)? as u32);
        self.rules.effect_name(id).map(|_| id).ok_or(WireError::BadValue { what: "an effect" })
    }

    fn get_time_of(&self, from: &mut BitReader) -> Result<SimTime, WireError> {
        let time = get_time(from, self.tick, self.length)?;
        let is_valid = time == SimTime::NEVER || time.0.unsigned_abs() <= SimTime::LONGEST.0 as u64;
        if is_valid { Ok(time) } else { Err(WireError::BadValue { what: "an effect's time" }) }
    }

    pub(super) fn put_burst(&self, out: &mut BitWriter, burst: &Burst) {
        put_key(out, burst.key);
        out.bits(burst.cue.0 as u64, self.tag_bits);
        put_uint(out, burst.ordinal as u64);
        put_uint(out, self.tick.0.saturating_sub(burst.at.0) as u64);
        out.bit(burst.position.is_some());
        burst.position.iter().for_each(|&position| put_position(out, steps(position)));
    }

    pub(super) fn get_burst(&self, from: &mut BitReader, who: ControllerId) -> Result<Burst, WireError> {
        let (key, cue) = (get_key(from, who)?, self.get_tag_id(from)?);
        let ordinal = get_uint_to(from, u32::MAX as u64, "a burst's number")? as u32;
        let age = get_uint_to(from, super::BURST_TICKS as u64, "a burst's age")? as u32;
        let position = if from.bit()? { Some(units(get_position(from)?)) } else { None };
        Ok(Burst { key, cue, ordinal, position, at: self.tick.minus(age) })
    }
}

/// Writes a key without its target, which is the actor of the section.
fn put_key(out: &mut BitWriter, key: EffectKey) {
    let op = OpId(key.origin_id);
    match op.client() {
        0 => {
            out.bit(false);
            put_uint(out, key.origin_id);
        }
        // An origin id derived from others looks like an op whose parts are all large.
        1..1024 if op.sub() < 1024 => {
            out.bits(0b01, 2);
            [op.client() as u64, op.base() as u64, op.sub() as u64].iter().for_each(|&part| put_uint(out, part));
        }
        _ => {
            out.bits(0b11, 2);
            out.bits(key.origin_id, 64);
        }
    }
    put_uint(out, key.ordinal as u64);
}

fn get_key(from: &mut BitReader, target: ControllerId) -> Result<EffectKey, WireError> {
    let origin_id = if !from.bit()? {
        get_uint_to(from, (1 << 48) - 1, "the id of a server op")?
    } else if !from.bit()? {
        let client = get_uint_to(from, u16::MAX as u64, "a client's number")? as u16;
        let base = get_uint_to(from, u32::MAX as u64, "an input frame")? as u32;
        OpId::new(client, base, get_uint_to(from, u16::MAX as u64, "an op's sub")? as u16).0
    } else {
        from.bits(64)?
    };
    let ordinal = get_uint_to(from, u32::MAX as u64, "an effect's number")? as u32;
    Ok(EffectKey { origin_id, target, ordinal })
}

// Positions ------------------------------------------------------------------------------------------------------

/// Rounds a position to steps; beyond about 33 million units it is clamped.
pub(super) fn steps(position: [f64; 3]) -> [i32; 3] {
    position.map(|v| (v * STEPS_PER_UNIT).round_ties_even() as i32)
}

pub(super) fn units(steps: [i32; 3]) -> [f64; 3] {
    steps.map(|v| v as f64 / STEPS_PER_UNIT)
}

pub(super) fn put_position(out: &mut BitWriter, steps: [i32; 3]) {
    steps.iter().for_each(|&v| put_int(out, v as i64));
}

pub(super) fn get_position(from: &mut BitReader) -> Result<[i32; 3], WireError> {
    let mut next = || i32::try_from(get_int(from)?).map_err(|_| WireError::BadValue { what: "a position" });
    Ok([next()?, next()?, next()?])
}
