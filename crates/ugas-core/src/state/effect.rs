//! Active effects. The common part is smaller than a cache line; less common parts are a second, boxed line; rare parts
//! are boxed again.

use super::{Row, Tags};
use crate::rules::{Layout, Rules, TagTable};
use crate::{AbilityId, AttributeId, ControllerId, EffectId, EffectKey, OpId, SimTime, Spec, SpecExtra, TagId};
use serde::{Deserialize, Serialize};
use std::num::NonZero;

/// An active effect on a row. Times are local.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Effect {
    /// The row's rising application number, by which effects are sorted, then the level if 16 bits are enough, then
    /// flags.
    pub(crate) number: u64,
    pub(crate) birth: u64,
    /// [`SimTime::NEVER`] for infinite.
    pub(crate) end: SimTime,
    pub(crate) start: SimTime,
    pub(crate) ordinal: u32,
    pub(crate) def: EffectId,
    pub(crate) source: ControllerId,
    pub(crate) link: u32,
    pub(crate) cold: Option<Box<Cold>>,
}

const _: () = assert!(size_of::<Effect>() == 56 && size_of::<Cold>() == 56);

/// Bit offsets of the number and the level.
const SEQ_SHIFT: u32 = 64 - SEQ_BITS;
const LEVEL_SHIFT: u32 = 3;
/// Its ongoing requirements are not met.
const INHIBITED: u64 = 1;
/// Its modifiers have filters, or it has ongoing tags: rechecked when tags change.
const WATCHES: u64 = 2;

/// The periodic part of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Periodic {
    /// At least 1 ms.
    pub(crate) period: NonZero<i64>,
    /// Due times are anchor + n × period, computed by multiplication.
    pub(crate) anchor: SimTime,
    pub(crate) n: u32,
    /// Executions so far, the one at application included.
    pub(crate) executed: u32,
}

impl Periodic {
    /// Creates a period from `anchor`; the first execution is due one period later.
    pub(crate) fn new(period: SimTime, anchor: SimTime) -> Periodic {
        let period = NonZero::new(period.0).unwrap_or(NonZero::<i64>::MAX);
        Periodic { period, anchor, n: 1, executed: 0 }
    }

    /// Restarts with another period at `now`.
    pub(crate) fn restart(&mut self, period: SimTime, now: SimTime) {
        *self = Periodic { executed: self.executed, ..Periodic::new(period, now) };
    }

    pub(crate) fn period(&self) -> SimTime {
        SimTime(self.period.get())
    }

    #[inline]
    pub(crate) fn next(&self) -> SimTime {
        SimTime(self.anchor.0.saturating_add(self.period.get().saturating_mul(self.n as i64)))
    }
}

/// Less common fields: another cache line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cold {
    pub(crate) periodic: Option<Periodic>,
    /// The root op; without a cold part it is the birth.
    pub(crate) root: OpId,
    /// The last duration, for stacks that restart it.
    pub(crate) length: SimTime,
    pub(crate) ability: AbilityId,
    /// Executions to run when its requirements are met again: periodic ones that fell due while it was inhibited, and
    /// that of its application if it started inhibited.
    pub(crate) missed: u32,
    pub(crate) rest: Option<Box<EffectExtras>>,
}

/// Rare fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EffectExtras {
    /// Used if the level does not fit into 16 bits.
    pub(crate) level: u32,
    /// 1 without this part.
    pub(crate) stacks: u32,
    /// Level, set-by-caller values and context of the latest application that counts.
    pub(crate) extra: Option<Box<SpecExtra>>,
    /// Reads captured at application, one list per execution, concatenated.
    #[serde(with = "bits")]
    pub(crate) captures: Box<[f64]>,
    /// Magnitude per stack of each modifier; NaN for a skipped one. Empty while stacks are 1.
    #[serde(with = "bits")]
    pub(crate) units: Box<[f64]>,
    /// Modifiers that were removed with a set that was removed by force.
    pub(crate) dropped: Vec<u16>,
    /// The values and tags of its source immediately before it left the sim (ruling R-100).
    pub(crate) frozen: Option<Box<Frozen>>,
}

/// The values and tags of a controller immediately before it left the sim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Frozen {
    /// Current values, by rising attribute.
    pub(crate) values: Box<[(AttributeId, f64)]>,
    /// Its granted tags, by rising id.
    pub(crate) tags: Box<[TagId]>,
}

impl Frozen {
    /// Captures the current values and tags of a row.
    pub(crate) fn of(row: &Row, layout: &Layout, rules: &Rules) -> Frozen {
        let ids = (0..rules.attributes.len() as u32).map(AttributeId);
        let values = ids.filter_map(|a| Some((a, row.attrs[layout.slot(a)?].current))).collect();
        let mut tags: Vec<TagId> = row.tags.iter(&rules.tags).map(|(tag, _)| tag).collect();
        tags.sort_unstable();
        Frozen { values, tags: tags.into() }
    }

    /// Returns an attribute's current value at that time.
    pub(crate) fn value(&self, attribute: AttributeId) -> Option<f64> {
        self.values.binary_search_by_key(&attribute, |v| v.0).ok().map(|at| self.values[at].1)
    }

    /// Returns whether it had a tag or a descendant of it.
    pub(crate) fn has(&self, table: &TagTable, tag: TagId) -> bool {
        self.tags.iter().any(|&t| table.is_under(t, tag))
    }

    /// Returns its tags in the form of a row.
    pub(crate) fn to_tags(&self, table: &TagTable) -> Tags {
        let mut list: Vec<(TagId, u32, bool)> = self.tags.iter().map(|&t| (t, 1, false)).collect();
        list.sort_unstable_by_key(|(tag, ..)| table.span(*tag));
        Tags::from_list(table, &list).unwrap_or_default()
    }

    /// Hashes it.
    pub(super) fn hash(&self, put: &mut impl FnMut(u64)) {
        for (attribute, value) in &self.values {
            put(attribute.0 as u64);
            put((value + 0.0).to_bits());
        }
        self.tags.iter().for_each(|t| put(t.0 as u64));
    }
}

/// Serializes numbers that may be NaN as their bits: JSON and other formats cannot represent NaN.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(list: &[f64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(list.iter().map(|v| v.to_bits()))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Box<[f64]>, D::Error> {
        Ok(Vec::<u64>::deserialize(from)?.into_iter().map(f64::from_bits).collect())
    }
}

impl Default for EffectExtras {
    fn default() -> EffectExtras {
        let (captures, units) = (Box::default(), Box::default());
        EffectExtras { level: 0, stacks: 1, extra: None, captures, units, dropped: Vec::new(), frozen: None }
    }
}

impl Effect {
    /// Creates an effect with one stack.
    #[inline]
    pub(crate) fn new(seq: u64, key: EffectKey, (start, end): (SimTime, SimTime), spec: &Spec, link: u32) -> Effect {
        let Spec { effect: def, source, level, .. } = *spec;
        let number = seq << SEQ_SHIFT | ((level & 0xffff) as u64) << LEVEL_SHIFT;
        let (birth, ordinal) = (key.birth, key.ordinal);
        let mut effect = Effect { number, birth, end, start, ordinal, def, source, link, cold: None };
        if level > 0xffff {
            effect.set_level(level);
        }
        effect
    }

    #[inline]
    pub(crate) fn seq(&self) -> u64 {
        self.number >> SEQ_SHIFT
    }

    #[inline]
    pub(crate) fn level(&self) -> u32 {
        match (self.number >> LEVEL_SHIFT) as u16 {
            0 => self.rest().map_or(0, |r| r.level),
            level => level as u32,
        }
    }

    pub(crate) fn set_level(&mut self, level: u32) {
        let short = u16::try_from(level).unwrap_or(0);
        self.number = self.number & !(0xffff << LEVEL_SHIFT) | (short as u64) << LEVEL_SHIFT;
        if short == 0 {
            self.rest_mut().level = level;
        }
    }

    #[inline]
    pub(crate) fn stacks(&self) -> u32 {
        self.rest().map_or(1, |r| r.stacks)
    }

    pub(crate) fn set_stacks(&mut self, stacks: u32) {
        if stacks != self.stacks() {
            self.rest_mut().stacks = stacks;
        }
    }

    pub(crate) fn set_inhibited(&mut self, on: bool) {
        self.number = self.number & !INHIBITED | (on as u64 * INHIBITED);
    }

    pub(crate) fn set_watches(&mut self, on: bool) {
        self.number = self.number & !WATCHES | (on as u64 * WATCHES);
    }

    pub(crate) fn key(&self, target: ControllerId) -> EffectKey {
        EffectKey { birth: self.birth, target, ordinal: self.ordinal }
    }

    pub(crate) fn cold_mut(&mut self) -> &mut Cold {
        let (root, ability) = (OpId(self.birth), AbilityId::NONE);
        self.cold.get_or_insert_with(|| {
            let length = SimTime::ZERO;
            Box::new(Cold { periodic: None, root, length, ability, missed: 0, rest: None })
        })
    }

    pub(crate) fn rest(&self) -> Option<&EffectExtras> {
        self.cold.as_ref()?.rest.as_deref()
    }

    pub(crate) fn rest_mut(&mut self) -> &mut EffectExtras {
        self.cold_mut().rest.get_or_insert_default()
    }

    #[inline]
    pub(crate) fn root(&self) -> OpId {
        self.cold.as_ref().map_or(OpId(self.birth), |c| c.root)
    }

    #[inline]
    pub(crate) fn inhibited(&self) -> bool {
        self.number & INHIBITED != 0
    }

    #[inline]
    pub(crate) fn watches(&self) -> bool {
        self.number & WATCHES != 0
    }

    #[inline]
    pub(crate) fn periodic(&self) -> Option<&Periodic> {
        self.cold.as_ref()?.periodic.as_ref()
    }

    pub(crate) fn missed(&self) -> u32 {
        self.cold.as_ref().map_or(0, |c| c.missed)
    }

    #[inline]
    pub(crate) fn periodic_mut(&mut self) -> Option<&mut Periodic> {
        self.cold.as_mut()?.periodic.as_mut()
    }

    pub(crate) fn length(&self) -> SimTime {
        self.cold.as_ref().map_or(SimTime::ZERO, |c| c.length)
    }

    pub(crate) fn ability(&self) -> AbilityId {
        self.cold.as_ref().map_or(AbilityId::NONE, |c| c.ability)
    }

    pub(crate) fn extra(&self) -> Option<&SpecExtra> {
        self.rest()?.extra.as_deref()
    }

    pub(crate) fn units(&self) -> &[f64] {
        self.rest().map_or(&[], |r| &r.units)
    }

    pub(crate) fn units_mut(&mut self) -> &mut [f64] {
        let rest = self.cold.as_mut().and_then(|c| c.rest.as_mut());
        rest.map_or(&mut [], |r| &mut r.units)
    }

    pub(crate) fn captures(&self) -> &[f64] {
        self.rest().map_or(&[], |r| &r.captures)
    }

    #[inline]
    pub(crate) fn dropped(&self) -> &[u16] {
        self.rest().map_or(&[], |r| &r.dropped)
    }

    #[inline]
    pub(crate) fn frozen(&self) -> Option<&Frozen> {
        self.rest()?.frozen.as_deref()
    }

    /// Stores the values and tags of its source.
    pub(crate) fn freeze(&mut self, shown: &Frozen) {
        self.rest_mut().frozen = Some(Box::new(shown.clone()));
    }

    /// Drops the stored values of its source: it is back, or another source replaced it.
    pub(crate) fn thaw(&mut self) {
        if let Some(rest) = self.cold.as_mut().and_then(|c| c.rest.as_mut()) {
            rest.frozen = None;
        }
    }

    pub(crate) fn has_dropped(&self, index: u16) -> bool {
        self.dropped().contains(&index)
    }

    /// Returns the current spec, for evaluations after application.
    pub(crate) fn spec(&self, target: ControllerId) -> Spec {
        Spec {
            effect: self.def,
            target,
            source: self.source,
            level: self.level(),
            stacks: self.stacks(),
            ability: self.ability(),
            extra: self.rest().and_then(|r| r.extra.clone()),
        }
    }

    /// Returns the next due work: a periodic execution before the end at the same time.
    #[inline]
    pub(crate) fn due(&self) -> Option<Due> {
        let end = Due::new(self.end, Due::EXPIRY, self.seq());
        match self.periodic() {
            Some(p) => Some(Due::new(p.next(), Due::EXECUTION, self.seq()).min(end)),
            None => (self.end != SimTime::NEVER).then_some(end),
        }
    }
}

/// Due work of a row in local time: by phase (executions, expiries, timers), then by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    pub(crate) at: SimTime,
    /// Phase in the top bits, then the number, then a hint: the index of an effect when this was written, or the kind
    /// of a timer.
    rank: u64,
}

/// Numbers on a row stay below this, so that other fields can be packed next to them.
pub(crate) const SEQ_BITS: u32 = 45;

/// The kind of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerKind {
    Task,
    Charge,
    Cast,
    Gcd,
    Validation,
}

impl TimerKind {
    const ALL: [TimerKind; 5] =
        [TimerKind::Task, TimerKind::Charge, TimerKind::Cast, TimerKind::Gcd, TimerKind::Validation];
}

impl Due {
    pub(crate) const EXECUTION: u8 = 0;
    pub(crate) const EXPIRY: u8 = 1;
    pub(crate) const TIMER: u8 = 2;
    /// Frame work, of the whole sim.
    pub(crate) const FRAME: u8 = 3;

    fn new(at: SimTime, phase: u8, seq: u64) -> Due {
        Due { at, rank: (phase as u64) << 61 | seq << 16 }
    }

    /// Creates due work for a timer.
    pub(crate) fn timer(at: SimTime, timer: TimerKind, seq: u64) -> Due {
        Due::new(at, Due::TIMER, seq).with_hint(timer as usize)
    }

    /// Returns it with another hint.
    #[inline]
    pub(crate) fn with_hint(self, place: usize) -> Due {
        Due { rank: self.rank & !0xffff | place.min(0xffff) as u64, ..self }
    }

    #[inline]
    pub(crate) fn phase(self) -> u8 {
        (self.rank >> 61) as u8
    }
    #[inline]
    pub(crate) fn seq(self) -> u64 {
        self.rank << 3 >> 19
    }
    #[inline]
    pub(crate) fn place(self) -> usize {
        (self.rank & 0xffff) as usize
    }
    /// Returns the kind of timer.
    pub(crate) fn which(self) -> TimerKind {
        TimerKind::ALL[self.place().min(TimerKind::ALL.len() - 1)]
    }
    /// Returns its identity, without the hint.
    #[inline]
    pub(crate) fn order(self) -> (SimTime, u64) {
        (self.at, self.rank >> 16)
    }
}

/// An application that waits in a sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Queued {
    pub(crate) spec: Spec,
    pub(crate) birth: u64,
    pub(crate) ordinal: u32,
    pub(crate) root: OpId,
    pub(crate) link: u32,
}
