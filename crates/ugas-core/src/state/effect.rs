//! Active effects. The hot part is one record; what few effects need lies in a boxed cold part.

use crate::{ControllerId, EffectId, EffectKey, OpId, SimTime, Spec, SpecExtra, TagId};
use serde::{Deserialize, Serialize};

/// An active effect on a row. Times are the row's local time. The first cache line says what it is, the second what
/// few verbs need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Effect {
    /// The row's rising application number; effects are kept in this order.
    pub(crate) seq: u64,
    pub(crate) birth: u64,
    pub(crate) root: OpId,
    /// [`SimTime::NEVER`] for infinite.
    pub(crate) end: SimTime,
    pub(crate) ordinal: u32,
    pub(crate) def: EffectId,
    pub(crate) source: ControllerId,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    pub(crate) link: u32,
    pub(crate) inhibited: bool,
    /// Whether its modifiers have filters or ongoing tags: looked at again when tags change.
    pub(crate) watches: bool,
    pub(crate) periodic: Option<Periodic>,
    pub(crate) start: SimTime,
    pub(crate) cold: Option<Box<Cold>>,
}

/// The periodic part of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Periodic {
    /// At least 1 ms.
    pub(crate) period: SimTime,
    /// Due times are anchor + n × period, computed by multiplication.
    pub(crate) anchor: SimTime,
    pub(crate) n: u32,
    /// Executions so far, the one at application included.
    pub(crate) executed: u32,
    /// Fell due while inhibited.
    pub(crate) missed: u32,
}

impl Periodic {
    pub(crate) fn next(&self) -> SimTime {
        SimTime(self.anchor.0.saturating_add(self.period.0.saturating_mul(self.n as i64)))
    }
}

/// What few effects need.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cold {
    /// Level, caller's values and context of the latest application that counts.
    pub(crate) extra: Option<Box<SpecExtra>>,
    pub(crate) ability: Option<crate::AbilityId>,
    /// Reads captured at application, one list per execution, joined.
    #[serde(with = "bits")]
    pub(crate) captures: Vec<f64>,
    /// Magnitude per stack of each modifier; NaN for one that was skipped. Empty while stacks are 1.
    #[serde(with = "bits")]
    pub(crate) units: Vec<f64>,
    /// Tags granted by this instance beyond its definition's.
    pub(crate) tags: Vec<TagId>,
    /// Modifiers that went for good with a set that was removed by force.
    pub(crate) dropped: Vec<u16>,
    /// The length last given, for stacks that start their time anew.
    pub(crate) length: SimTime,
}

/// Numbers that may be NaN travel as their bits: JSON and others have no word for NaN.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(list: &[f64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(list.iter().map(|v| v.to_bits()))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<u64>::deserialize(from)?.into_iter().map(f64::from_bits).collect())
    }
}

impl Effect {
    pub(crate) fn key(&self, target: ControllerId) -> EffectKey {
        EffectKey { birth: self.birth, target, ordinal: self.ordinal }
    }

    pub(crate) fn cold_mut(&mut self) -> &mut Cold {
        self.cold.get_or_insert_default()
    }

    pub(crate) fn dropped(&self) -> &[u16] {
        self.cold.as_ref().map_or(&[], |c| &c.dropped)
    }

    pub(crate) fn has_dropped(&self, index: u16) -> bool {
        self.dropped().contains(&index)
    }

    pub(crate) fn own_tags(&self) -> &[TagId] {
        self.cold.as_ref().map_or(&[], |c| &c.tags)
    }

    /// The spec as it stands now, for evaluations after application.
    pub(crate) fn spec(&self, target: ControllerId) -> Spec {
        Spec {
            effect: self.def,
            target,
            source: self.source,
            level: self.level,
            stacks: self.stacks,
            ability: self.cold.as_ref().and_then(|c| c.ability).unwrap_or(crate::AbilityId::NONE),
            extra: self.cold.as_ref().and_then(|c| c.extra.clone()),
        }
    }

    /// What falls due next: a periodic execution before the end at the same moment.
    #[inline]
    pub(crate) fn due(&self) -> Option<Due> {
        let end = Due { at: self.end, phase_seq: 1 << 63 | self.seq };
        match &self.periodic {
            Some(p) => Some(Due { at: p.next(), phase_seq: self.seq }.min(end)),
            None => (self.end != SimTime::NEVER).then_some(end),
        }
    }
}

/// Due work of a row in local time. The top bit of `phase_seq` is the phase: executions before expiries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    pub(crate) at: SimTime,
    pub(crate) phase_seq: u64,
}

impl Due {
    pub(crate) fn is_expiry(self) -> bool {
        self.phase_seq >> 63 != 0
    }
    pub(crate) fn seq(self) -> u64 {
        self.phase_seq & !(1 << 63)
    }
}

/// An application that waits for its turn in a sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Queued {
    pub(crate) spec: Spec,
    pub(crate) birth: u64,
    pub(crate) ordinal: u32,
    pub(crate) root: OpId,
    pub(crate) link: u32,
}
