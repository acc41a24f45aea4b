//! Active effects. The common fields fit into one cache line. Less common fields are in a boxed second cache line, and
//! rare fields are in another box.

use super::{Row, Tags};
use crate::rules::{Layout, Rules, TagTable};
use crate::{AbilityId, AttributeId, ControllerId, EffectId, EffectKey, KeyId, OpId, SimTime, Spec, SpecExtra, TagId};
use serde::{Deserialize, Serialize};
use std::num::NonZero;

/// An active effect on a row. Times are local.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Effect {
    /// Packed: the sequence number, by which effects are sorted, the level if it fits into 16 bits, and flags.
    pub(crate) number: u64,
    pub(crate) origin_id: u64,
    /// The end, or [`SimTime::NEVER`] for an infinite effect.
    pub(crate) end: SimTime,
    pub(crate) start: SimTime,
    pub(crate) ordinal: u32,
    pub(crate) def: EffectId,
    pub(crate) source: ControllerId,
    pub(crate) link: u32,
    pub(crate) cold: Option<Box<Cold>>,
}

const _: () = assert!(size_of::<Effect>() == 56 && size_of::<Cold>() == 56);

/// Bit offsets of the sequence number and the level.
const SEQ_SHIFT: u32 = 64 - SEQ_BITS;
const LEVEL_SHIFT: u32 = 3;
/// Flag: the effect's ongoing requirements are not met.
const INHIBITED: u64 = 1;
/// Flag: the effect has ongoing requirements or modifiers with filters, and is rechecked when tags change.
const WATCHES: u64 = 2;

/// The periodic part of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Periodic {
    /// The period, at least 1 ms.
    pub(crate) period: NonZero<i64>,
    /// The start of the period. Due times are anchor + n × period, so that rounding errors do not add up.
    pub(crate) anchor: SimTime,
    pub(crate) n: u32,
    /// The number of executions so far, including the execution at application.
    pub(crate) executed: u32,
}

impl Periodic {
    /// Creates a period that starts at `anchor`. The first execution is due one period later.
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

/// Less common fields, in a cache line of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cold {
    pub(crate) periodic: Option<Periodic>,
    /// The root op. An effect without this struct has its origin id as the root op.
    pub(crate) root: OpId,
    /// The last duration, which restarts when a stack expires.
    pub(crate) length: SimTime,
    pub(crate) ability: AbilityId,
    /// The number of executions to run when the requirements are met again. Counts the periodic executions that were
    /// due while the effect was inhibited, and the execution at application if the effect started inhibited.
    pub(crate) missed: u32,
    pub(crate) rest: Option<Box<EffectExtras>>,
}

/// Rare fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EffectExtras {
    /// The level, if it does not fit into 16 bits.
    pub(crate) level: u32,
    /// The stacks. An effect without this struct has 1 stack.
    pub(crate) stacks: u32,
    /// Set-by-caller values and context of the latest application that replaced them.
    pub(crate) extra: Option<Box<SpecExtra>>,
    /// Reads captured at application, one list per execution, concatenated.
    #[serde(with = "bits")]
    pub(crate) captures: Box<[f64]>,
    /// Magnitude per stack of each modifier, or NaN for a skipped modifier. Empty if the effect has one stack and does
    /// not need the magnitudes later.
    #[serde(with = "bits")]
    pub(crate) units: Box<[f64]>,
    /// Modifiers that were dropped because their attribute set was removed by force.
    pub(crate) dropped: Vec<u16>,
    /// The state of the source immediately before it left the sim, which the effect reads from then on. `None` if the
    /// source is in the sim or the effect does not read it.
    pub(crate) frozen: Option<Box<Frozen>>,
}

/// What effects on other rows read of a controller that is their source: its values, tags, combat rules, position and
/// credit. Captured immediately before the controller leaves the sim, or for a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Frozen {
    /// Current values, sorted by attribute id.
    pub(crate) values: Box<[(AttributeId, f64)]>,
    /// The granted tags, sorted by id.
    pub(crate) tags: Box<[TagId]>,
    /// The active effects with combat rules about actions on others, in order of application.
    pub(crate) effects: Box<[FrozenEffect]>,
    pub(crate) position: Option<[f64; 3]>,
    /// The controller that gets the credit for the damage of this controller: itself or, for a pet, the controller of
    /// the pet's owner.
    pub(crate) credit: ControllerId,
}

/// An active effect of a frozen controller, as the effect's combat rules read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FrozenEffect {
    pub(crate) def: EffectId,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    /// The set-by-caller values, sorted by key.
    pub(crate) set_by_caller: Vec<(KeyId, f64)>,
}

impl FrozenEffect {
    /// Captures an active effect.
    pub(crate) fn of(e: &Effect) -> FrozenEffect {
        let set_by_caller = e.extra().map_or_else(Vec::new, |x| x.set_by_caller.clone());
        FrozenEffect { def: e.def, level: e.level(), stacks: e.stacks(), set_by_caller }
    }
}

impl Frozen {
    /// Captures the current values, the tags and the position of a row, its `effects` and its `credit`.
    pub(crate) fn of(
        row: &Row,
        layout: &Layout,
        rules: &Rules,
        effects: Box<[FrozenEffect]>,
        credit: ControllerId,
    ) -> Frozen {
        let ids = (0..rules.attributes.len() as u32).map(AttributeId);
        let values = ids.filter_map(|a| Some((a, row.attrs[layout.slot(a)?].current))).collect();
        let mut tags: Vec<TagId> = row.tags.iter(&rules.tags).map(|(tag, _)| tag).collect();
        tags.sort_unstable();
        let position = row.side().anchor.map(|a| a.position);
        Frozen { values, tags: tags.into(), effects, position, credit }
    }

    /// Returns an attribute's current value at the time of the capture.
    pub(crate) fn value(&self, attribute: AttributeId) -> Option<f64> {
        self.values.binary_search_by_key(&attribute, |v| v.0).ok().map(|at| self.values[at].1)
    }

    /// Returns whether the controller had a tag or a descendant of the tag.
    pub(crate) fn has(&self, table: &TagTable, tag: TagId) -> bool {
        self.tags.iter().any(|&t| table.is_under(t, tag))
    }

    /// Returns the tags in the form that a row stores.
    pub(crate) fn to_tags(&self, table: &TagTable) -> Tags {
        let mut list: Vec<(TagId, u32, bool)> = self.tags.iter().map(|&t| (t, 1, false)).collect();
        list.sort_unstable_by_key(|(tag, ..)| table.span(*tag));
        Tags::from_list(table, &list).unwrap_or_default()
    }

    /// Hashes the record.
    pub(super) fn hash(&self, put: &mut impl FnMut(u64)) {
        let Frozen { values, tags, effects, position, credit } = self;
        put((values.len() as u64) << 32 | tags.len() as u64);
        put((effects.len() as u64) << 32 | credit.0 as u64);
        put(position.is_some() as u64);
        position.iter().flatten().for_each(|v| put((v + 0.0).to_bits()));
        for (attribute, value) in values {
            put(attribute.0 as u64);
            put((value + 0.0).to_bits());
        }
        tags.iter().for_each(|t| put(t.0 as u64));
        for FrozenEffect { def, level, stacks, set_by_caller } in effects {
            put((def.0 as u64) << 32 | *level as u64);
            put((*stacks as u64) << 32 | set_by_caller.len() as u64);
            for (key, value) in set_by_caller {
                put(key.0 as u64);
                put((value + 0.0).to_bits());
            }
        }
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
        let (origin_id, ordinal) = (key.origin_id, key.ordinal);
        let mut effect = Effect { number, origin_id, end, start, ordinal, def, source, link, cold: None };
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
        EffectKey { origin_id: self.origin_id, target, ordinal: self.ordinal }
    }

    pub(crate) fn cold_mut(&mut self) -> &mut Cold {
        let (root, ability) = (OpId(self.origin_id), AbilityId::NONE);
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
        self.cold.as_ref().map_or(OpId(self.origin_id), |c| c.root)
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

    /// Stores the values and tags of the effect's source.
    pub(crate) fn freeze(&mut self, shown: &Frozen) {
        self.rest_mut().frozen = Some(Box::new(shown.clone()));
    }

    /// Of the stored effects of the source, keeps those whose definition `keep` accepts.
    pub(crate) fn retain_frozen(&mut self, keep: impl Fn(EffectId) -> bool) {
        let rest = self.cold.as_mut().and_then(|c| c.rest.as_mut());
        if let Some(frozen) = rest.and_then(|rest| rest.frozen.as_mut())
            && !frozen.effects.iter().all(|e| keep(e.def))
        {
            frozen.effects = frozen.effects.iter().filter(|e| keep(e.def)).cloned().collect();
        }
    }

    /// Drops the stored values of the effect's source, because the source returned to the sim or was replaced.
    pub(crate) fn thaw(&mut self) {
        if let Some(rest) = self.cold.as_mut().and_then(|c| c.rest.as_mut()) {
            rest.frozen = None;
        }
    }

    pub(crate) fn has_dropped(&self, index: u16) -> bool {
        self.dropped().contains(&index)
    }

    /// Returns the effect's current spec, for evaluations after the application.
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

    /// Returns the next due work. If both are due at the same time, a periodic execution precedes the end.
    #[inline]
    pub(crate) fn due(&self) -> Option<Due> {
        let end = Due::new(self.end, Due::EXPIRY, self.seq());
        match self.periodic() {
            Some(p) => Some(Due::new(p.next(), Due::EXECUTION, self.seq()).min(end)),
            None => (self.end != SimTime::NEVER).then_some(end),
        }
    }
}

/// Due work of a row in local time. Work of the same time is ordered by phase (executions, expiries, timers), then by
/// sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    pub(crate) at: SimTime,
    /// Packed: the phase in the top bits, the sequence number, and a hint. The hint is the index of the effect at the
    /// time of creation, or the kind of timer.
    rank: u64,
}

/// Sequence numbers stay below this many bits, so that other fields can be packed next to them.
pub(crate) const SEQ_BITS: u32 = 45;

/// The kind of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerKind {
    Task,
    Charge,
    Cast,
    Gcd,
    Validation,
    /// A buffered press or a tap that gets too old.
    Input,
}

impl TimerKind {
    const ALL: [TimerKind; 6] =
        [TimerKind::Task, TimerKind::Charge, TimerKind::Cast, TimerKind::Gcd, TimerKind::Validation, TimerKind::Input];
}

impl Due {
    pub(crate) const EXECUTION: u8 = 0;
    pub(crate) const EXPIRY: u8 = 1;
    pub(crate) const TIMER: u8 = 2;
    /// Frame work of the whole sim.
    pub(crate) const FRAME: u8 = 3;
    /// Queued and buffered presses that are tried.
    pub(crate) const WAITING_INPUTS: u8 = 4;

    fn new(at: SimTime, phase: u8, seq: u64) -> Due {
        Due { at, rank: (phase as u64) << 61 | seq << 16 }
    }

    /// Creates due work for a timer.
    pub(crate) fn timer(at: SimTime, timer: TimerKind, seq: u64) -> Due {
        Due::new(at, Due::TIMER, seq).with_hint(timer as usize)
    }

    /// Creates the due work that tries queued and buffered presses.
    pub(crate) fn waiting_inputs(at: SimTime) -> Due {
        Due::new(at, Due::WAITING_INPUTS, 0)
    }

    /// Returns the due work with another hint.
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
    /// Returns the time and rank without the hint, which identify the due work.
    #[inline]
    pub(crate) fn order(self) -> (SimTime, u64) {
        (self.at, self.rank >> 16)
    }
}

/// An application that is queued until earlier applications of the effect have ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Queued {
    pub(crate) spec: Spec,
    pub(crate) origin_id: u64,
    pub(crate) ordinal: u32,
    pub(crate) root: OpId,
    pub(crate) link: u32,
}
