//! What a row keeps about abilities: grants, and, only while something runs, is held or was granted as a set, the play.

use crate::{
    AbilityGrant, AbilityId, AbilitySetId, AbilityState, ActivationKey, ControllerId, EventData, GrantId, GroupId, Hit,
    InputId, OpId, ParamId, SetId, SimTime, TagId, Target,
};
use serde::{Deserialize, Serialize};

/// A granted ability: half a cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub(crate) id: GrantId,
    pub(crate) ability: AbilityId,
    pub(crate) more: Option<Box<GrantMore>>,
    /// Of the status. Not state.
    #[serde(skip)]
    pub(crate) seen: u32,
    /// The level where 8 bits are enough, then what fails of the status, which is not state.
    #[serde(serialize_with = "level_alone")]
    pub(crate) level_fails: u32,
    /// Of the status. Not state.
    #[serde(skip)]
    pub(crate) ready_at: SimTime,
}

const _: () = assert!(size_of::<Grant>() == 32);

/// Bits for what fails.
pub(crate) const FAILS_BITS: u32 = 24;
const FAILS: u32 = (1 << FAILS_BITS) - 1;

fn level_alone<S: serde::Serializer>(level_fails: &u32, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u32(level_fails & !FAILS)
}

impl Grant {
    /// A grant; `by` is the effect that takes it away again, or 0.
    pub(crate) fn new(id: GrantId, grant: AbilityGrant, by: u64) -> Grant {
        let AbilityGrant { ability, level, input } = grant;
        let mut g = Grant { id, ability, more: None, seen: 0, level_fails: 0, ready_at: SimTime::ZERO };
        g.set_level(level);
        if by != 0 || input != InputId::NONE {
            let more = g.more.get_or_insert_default();
            (more.by, more.input) = (by, input);
        }
        g
    }

    #[inline]
    pub(crate) fn level(&self) -> u32 {
        match self.level_fails >> FAILS_BITS {
            0 => self.more.as_ref().map_or(0, |m| m.level),
            level => level,
        }
    }

    pub(crate) fn set_level(&mut self, level: u32) {
        let short = u8::try_from(level).unwrap_or(0);
        self.level_fails = self.level_fails & FAILS | (short as u32) << FAILS_BITS;
        if let Some(more) = &mut self.more {
            more.level = 0;
        }
        if short == 0 {
            self.more.get_or_insert_default().level = level;
        }
    }

    #[inline]
    pub(crate) fn input(&self) -> InputId {
        self.more.as_ref().map_or(InputId::NONE, |m| m.input)
    }

    /// The effect that granted it and takes it away, or 0.
    pub(crate) fn by(&self) -> u64 {
        self.more.as_ref().map_or(0, |m| m.by)
    }

    /// What of the castable status follows from the row alone, as last computed.
    #[inline]
    pub(crate) fn status(&self) -> Status {
        Status { seen: self.seen, fails: self.level_fails & FAILS, ready_at: self.ready_at }
    }

    pub(crate) fn set_status(&mut self, status: Status) {
        (self.seen, self.ready_at) = (status.seen, status.ready_at);
        self.level_fails = self.level_fails & !FAILS | status.fails & FAILS;
    }
}

/// A castable status as last computed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Status {
    /// The row's stamp it belongs to; 0 is never.
    pub(crate) seen: u32,
    /// One bit per failing check, in the order of the checks.
    pub(crate) fails: u32,
    /// The local time at which the last timed check heals.
    pub(crate) ready_at: SimTime,
}

/// What few grants have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GrantMore {
    /// The effect that granted it, or 0.
    pub(crate) by: u64,
    /// Used where the level does not fit beside the status.
    pub(crate) level: u32,
    pub(crate) input: InputId,
    /// The ability-set grant it belongs to, or 0.
    pub(crate) set: u64,
    /// Sorted by name.
    pub(crate) params: Vec<(ParamId, f64)>,
    pub(crate) charges: Option<Charge>,
    /// Named restrictions that hold, sorted.
    pub(crate) restrictions: Vec<ParamId>,
}

impl Default for GrantMore {
    fn default() -> GrantMore {
        let (params, restrictions) = (Vec::new(), Vec::new());
        GrantMore { by: 0, level: 0, input: InputId::NONE, set: 0, params, charges: None, restrictions }
    }
}

/// Charges of a grant. Times are the row's local time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Charge {
    pub(crate) have: u32,
    pub(crate) max: u32,
    pub(crate) start: SimTime,
    /// [`SimTime::NEVER`] while no cooldown runs.
    pub(crate) end: SimTime,
    /// The run's number among the row's due work.
    pub(crate) seq: u64,
}

/// Everything about abilities that runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Play {
    /// By rising number.
    pub(crate) activations: Vec<Activation>,
    /// Sleeping tasks by rising number.
    pub(crate) tasks: Vec<Task>,
    pub(crate) cast: Option<Box<Cast>>,
    /// By group.
    pub(crate) gcds: Vec<Gcd>,
    /// By input.
    pub(crate) held: Vec<Held>,
    /// By rising number.
    pub(crate) sets: Vec<SetGrant>,
}

/// A running ability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Activation {
    pub(crate) seq: u64,
    pub(crate) birth: u64,
    pub(crate) ordinal: u32,
    pub(crate) grant: GrantId,
    pub(crate) ability: AbilityId,
    pub(crate) root: OpId,
    /// The nearest cause: a number of this sim's alone, and not state.
    #[serde(skip)]
    pub(crate) link: u32,
    /// PendingConfirmation, Active or Ending.
    pub(crate) state: AbilityState,
    pub(crate) committed: bool,
    pub(crate) level: u32,
    pub(crate) target: Target,
    pub(crate) start: SimTime,
    /// When a validation times out; [`SimTime::NEVER`] if none runs.
    pub(crate) deadline: SimTime,
    /// The number of the effect that grants its tags, or 0.
    pub(crate) owned: u64,
    /// Rises with each thing a task does; part of what its effects are known by.
    pub(crate) acts: u32,
    /// The cast tick under way or last.
    pub(crate) tick: u32,
    /// One counter for each Repeat of its program.
    pub(crate) repeats: Vec<u32>,
    pub(crate) event: Option<Box<EventData>>,
    /// Who caused it: an event's instigator, an effect's source, else the owner.
    pub(crate) source: ControllerId,
    /// What target data gave.
    pub(crate) targets: Vec<ControllerId>,
    pub(crate) hit: Option<Box<Hit>>,
    /// How long the last awaited input was held, in seconds.
    pub(crate) held: f64,
    /// Looping cues it added itself.
    pub(crate) cues: Vec<TagId>,
    /// State of a coded ability.
    pub(crate) code: Vec<u8>,
}

impl Activation {
    pub(crate) fn key(&self, who: ControllerId) -> ActivationKey {
        ActivationKey { birth: self.birth, who, ordinal: self.ordinal }
    }
}

/// A sleeping task: a place in a program and what it waits for follows from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) seq: u64,
    /// Its activation's number.
    pub(crate) of: u64,
    /// The task that forked it, or 0.
    pub(crate) parent: u64,
    /// When it wakes by time, local; [`SimTime::NEVER`] if it does not.
    pub(crate) due: SimTime,
    /// When it last ran, local.
    pub(crate) since: SimTime,
    /// A number of its own, by kind; a range without limit is infinite, which not every format can write.
    #[serde(with = "bits")]
    pub(crate) value: f64,
    /// Where in the program it sleeps.
    pub(crate) pc: u16,
    /// Frames it was passed over.
    pub(crate) age: u16,
    /// Forks: branches still running.
    pub(crate) left: u16,
    /// State of a custom task or of code; for a wait for sim time, when it takes too long.
    pub(crate) code: Vec<u8>,
}

/// A number as its bits.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(value.to_bits())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        u64::deserialize(from).map(f64::from_bits)
    }
}

/// A cast under way. Times are local.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cast {
    /// Its activation's number.
    pub(crate) of: u64,
    /// Its number among the row's due work.
    pub(crate) seq: u64,
    pub(crate) start: SimTime,
    pub(crate) length: SimTime,
    pub(crate) ticks: u32,
    /// The tick that comes next, from 1.
    pub(crate) next: u32,
}

impl Cast {
    /// When the next tick falls: the last one exactly at the end.
    pub(crate) fn next_at(&self) -> SimTime {
        if self.length == SimTime::NEVER {
            return SimTime::NEVER;
        }
        let (length, ticks) = (self.length.0 as i128, self.ticks.max(1) as i128);
        SimTime(self.start.0 + ((2 * length * self.next as i128 + ticks) / (2 * ticks)) as i64)
    }
}

/// A global cooldown under way. Times are local.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gcd {
    pub(crate) group: GroupId,
    pub(crate) seq: u64,
    pub(crate) start: SimTime,
    pub(crate) end: SimTime,
    /// The op that started it.
    pub(crate) root: OpId,
}

/// An input that is down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) input: InputId,
    /// Since when, local.
    pub(crate) since: SimTime,
    /// Whether an ability is tried again while it is down.
    pub(crate) retry: bool,
    pub(crate) target: Target,
}

/// What one grant of an ability set gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SetGrant {
    pub(crate) seq: u64,
    pub(crate) set: AbilitySetId,
    /// Its effects, active or waiting for their turn: birth and ordinal of their keys.
    pub(crate) effects: Vec<(u64, u32)>,
    pub(crate) grants: Vec<GrantId>,
    pub(crate) attributes: Vec<SetId>,
}

impl Play {
    pub(crate) const NONE: Play = Play {
        activations: Vec::new(),
        tasks: Vec::new(),
        cast: None,
        gcds: Vec::new(),
        held: Vec::new(),
        sets: Vec::new(),
    };

    pub(crate) fn is_empty(&self) -> bool {
        self.activations.is_empty()
            && self.tasks.is_empty()
            && self.cast.is_none()
            && self.gcds.is_empty()
            && self.held.is_empty()
            && self.sets.is_empty()
    }

    pub(crate) fn activation(&self, seq: u64) -> Option<&Activation> {
        self.activations.binary_search_by_key(&seq, |a| a.seq).ok().map(|i| &self.activations[i])
    }

    pub(crate) fn activation_mut(&mut self, seq: u64) -> Option<&mut Activation> {
        self.activations.binary_search_by_key(&seq, |a| a.seq).ok().map(|i| &mut self.activations[i])
    }

    pub(crate) fn task(&self, seq: u64) -> Option<&Task> {
        self.tasks.binary_search_by_key(&seq, |t| t.seq).ok().map(|i| &self.tasks[i])
    }

    pub(crate) fn task_mut(&mut self, seq: u64) -> Option<&mut Task> {
        self.tasks.binary_search_by_key(&seq, |t| t.seq).ok().map(|i| &mut self.tasks[i])
    }
}
