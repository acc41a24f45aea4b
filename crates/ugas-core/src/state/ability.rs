//! The ability state of a row: grants, and a [`Play`] that exists only while the row has an activation, a global
//! cooldown is running, an input is pressed or an ability set is granted.

use super::capability::{Capabilities, DueRecords};
use super::input::Inputs;
use crate::{
    AbilityGrant, AbilityId, AbilitySetId, AbilityState, ActivationKey, ControllerId, EffectId, EventData, GrantId,
    GroupId, Hit, InputId, OpId, ParamId, SetId, SimTime, TagId, Target,
};
use serde::{Deserialize, Serialize};

/// A granted ability. The struct fills half a cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub(crate) id: GrantId,
    pub(crate) ability: AbilityId,
    pub(crate) more: Option<Box<GrantMore>>,
    /// The row's stamp for which the cached status is valid. Not state.
    #[serde(skip)]
    pub(crate) seen: u32,
    /// The level, if it fits into 8 bits, packed with the failing checks of the cached status. The status is not state.
    #[serde(serialize_with = "level_alone")]
    pub(crate) level_fails: u32,
    /// Part of the cached status: the local time at which the last timed check passes. Not state.
    #[serde(skip)]
    pub(crate) ready_at: SimTime,
}

const _: () = assert!(size_of::<Grant>() == 32);

/// Number of bits for failing checks.
pub(crate) const FAILS_BITS: u32 = 24;
const FAILS: u32 = (1 << FAILS_BITS) - 1;

fn level_alone<S: serde::Serializer>(level_fails: &u32, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u32(level_fails & !FAILS)
}

impl Grant {
    /// Creates a grant. `by` is the effect whose end revokes the grant, or 0.
    pub(crate) fn new(id: GrantId, grant: AbilityGrant, by: u64) -> Grant {
        let AbilityGrant { ability, level, input } = grant;
        let mut g = Grant { id, ability, more: None, seen: 0, level_fails: 0, ready_at: SimTime::ZERO };
        g.set_level(level);
        if by != 0 || input.is_some() {
            let more = g.more.get_or_insert_default();
            (more.by, more.input) = (by, input.unwrap_or(InputId::NONE));
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

    /// Returns the effect whose end revokes the grant, or 0.
    pub(crate) fn by(&self) -> u64 {
        self.more.as_ref().map_or(0, |m| m.by)
    }

    /// Returns the cached part of the castable status that depends on the row alone.
    #[inline]
    pub(crate) fn status(&self) -> Status {
        Status { seen: self.seen, fails: self.level_fails & FAILS, ready_at: self.ready_at }
    }

    pub(crate) fn set_status(&mut self, status: Status) {
        (self.seen, self.ready_at) = (status.seen, status.ready_at);
        self.level_fails = self.level_fails & !FAILS | status.fails & FAILS;
    }
}

/// A cached castable status.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Status {
    /// The row's stamp for which the status is valid. A status with stamp 0 is never valid.
    pub(crate) seen: u32,
    /// One bit per failing check, in the order of the checks.
    pub(crate) fails: u32,
    /// The local time at which the last timed check passes.
    pub(crate) ready_at: SimTime,
}

/// Rarely used fields of a grant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GrantMore {
    /// The effect whose end revokes the grant, or 0.
    pub(crate) by: u64,
    /// The level, if it does not fit into 8 bits.
    pub(crate) level: u32,
    pub(crate) input: InputId,
    /// The ability-set grant that this grant belongs to, or 0.
    pub(crate) set: u64,
    /// The parameters, sorted by id.
    pub(crate) params: Vec<(ParamId, f64)>,
    pub(crate) charges: Option<Charge>,
    /// Active named restrictions, sorted.
    pub(crate) restrictions: Vec<ParamId>,
}

impl Default for GrantMore {
    fn default() -> GrantMore {
        let (params, restrictions) = (Vec::new(), Vec::new());
        GrantMore { by: 0, level: 0, input: InputId::NONE, set: 0, params, charges: None, restrictions }
    }
}

/// Charges of a grant. Times are local.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Charge {
    pub(crate) have: u32,
    pub(crate) max: u32,
    pub(crate) start: SimTime,
    /// The end of the running recharge, or [`SimTime::NEVER`] while no recharge is running.
    pub(crate) end: SimTime,
    /// The sequence number of its timer.
    pub(crate) seq: u64,
    /// Whether the running recharge did not start with a use: it followed the previous recharge, or the maximum rose.
    pub(crate) rolled: bool,
}

/// The ability state of a row that changes during play: activations, tasks, casts, global cooldowns, held inputs and
/// ability sets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Play {
    /// The activations, sorted by sequence number.
    pub(crate) activations: Vec<Activation>,
    /// Waiting tasks, sorted by sequence number.
    pub(crate) tasks: Vec<Task>,
    pub(crate) cast: Option<Box<Cast>>,
    /// The running global cooldowns, sorted by group.
    pub(crate) gcds: Vec<Gcd>,
    /// The held, buffered and queued inputs.
    pub(crate) inputs: Option<Box<Inputs>>,
    /// The granted ability sets, sorted by sequence number.
    pub(crate) sets: Vec<SetGrant>,
    /// The capabilities and blocks.
    pub(crate) capabilities: Option<Box<Capabilities>>,
}

/// One run of an ability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Activation {
    pub(crate) seq: u64,
    pub(crate) origin_id: u64,
    pub(crate) ordinal: u32,
    pub(crate) grant: GrantId,
    pub(crate) ability: AbilityId,
    pub(crate) root: OpId,
    /// The nearest cause: an index that is valid in this sim only. Not state.
    #[serde(skip)]
    pub(crate) link: u32,
    /// The state: PendingConfirmation, Active or Ending.
    pub(crate) state: AbilityState,
    pub(crate) committed: bool,
    pub(crate) level: u32,
    pub(crate) target: Target,
    pub(crate) start: SimTime,
    /// The time at which the validation times out, or [`SimTime::NEVER`] without a validation.
    pub(crate) deadline: SimTime,
    /// The sequence number of the effect that grants the activation's owned tags, or 0.
    pub(crate) owned: u64,
    /// The number of task actions so far. Part of the origin ids of the effects that the tasks apply.
    pub(crate) acts: u32,
    /// The current or last cast tick.
    pub(crate) tick: u32,
    /// One counter for each Repeat of the ability's program.
    pub(crate) repeats: Vec<u32>,
    pub(crate) event: Option<Box<EventData>>,
    /// The controller that caused the activation: an event's instigator, an effect's source, otherwise the owner.
    pub(crate) source: ControllerId,
    /// Targets from target data.
    pub(crate) targets: Vec<ControllerId>,
    pub(crate) hit: Option<Box<Hit>>,
    /// How long the last awaited input was held, in seconds.
    pub(crate) held: f64,
    /// Loop cues that the activation added.
    pub(crate) cues: Vec<TagId>,
    /// State of a coded ability.
    pub(crate) code: Vec<u8>,
    /// How often the owning client applied an effect to a target, sorted by effect and target.
    pub(crate) client_effects: Vec<AppliedByClient>,
}

/// How often the owning client applied one effect to one target in an activation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AppliedByClient {
    pub(crate) effect: EffectId,
    pub(crate) target: ControllerId,
    pub(crate) count: u32,
}

impl Activation {
    /// Returns how often the owning client applied an effect: to all targets, and to one target.
    pub(crate) fn client_counts(&self, effect: EffectId, target: ControllerId) -> (u32, u32) {
        let of_effect = self.client_effects.iter().filter(|e| e.effect == effect);
        of_effect.fold((0, 0), |(total, own), e| {
            (total.saturating_add(e.count), if e.target == target { e.count } else { own })
        })
    }

    /// Counts an application of an effect by the owning client.
    pub(crate) fn count_client_effect(&mut self, effect: EffectId, target: ControllerId) {
        match self.client_effects.binary_search_by_key(&(effect, target), |e| (e.effect, e.target)) {
            Ok(at) => self.client_effects[at].count = self.client_effects[at].count.saturating_add(1),
            Err(at) => self.client_effects.insert(at, AppliedByClient { effect, target, count: 1 }),
        }
    }

    pub(crate) fn key(&self, who: ControllerId) -> ActivationKey {
        ActivationKey { origin_id: self.origin_id, who, ordinal: self.ordinal }
    }
}

/// A waiting task. Its address in the program determines what the task waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) seq: u64,
    /// The sequence number of the activation.
    pub(crate) of: u64,
    /// The task that forked this task, or 0.
    pub(crate) parent: u64,
    /// The local time at which the timer wakes the task, or [`SimTime::NEVER`] without a timer.
    pub(crate) due: SimTime,
    /// The local time at which the task last ran.
    pub(crate) since: SimTime,
    /// A number whose meaning depends on the task type. May be infinite, which JSON cannot represent.
    #[serde(with = "bits")]
    pub(crate) value: f64,
    /// The address in the program.
    pub(crate) pc: u16,
    /// The number of frames by which the task was deferred.
    pub(crate) age: u16,
    /// For a fork: the number of branches that are still running.
    pub(crate) left: u16,
    /// The state of a custom task or of a coded ability. For a task that waits for a sim time, the time of its timeout.
    pub(crate) code: Vec<u8>,
}

/// Serializes a number as its bits, because JSON cannot represent infinity.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(value.to_bits())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        u64::deserialize(from).map(f64::from_bits)
    }
}

/// A cast in progress. Times are local.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cast {
    /// The sequence number of the activation.
    pub(crate) of: u64,
    /// The sequence number of its timer.
    pub(crate) seq: u64,
    pub(crate) start: SimTime,
    pub(crate) length: SimTime,
    pub(crate) ticks: u32,
    /// The number of the next tick, counted from 1.
    pub(crate) next: u32,
    /// Whether the tick before `next` still waits for the target that the client of the cast chooses.
    pub(crate) owed: bool,
    /// The target that the client chose for the next tick, if it arrived early.
    pub(crate) data: Option<Target>,
}

impl Cast {
    /// Returns the time of the next tick. The last tick is exactly at the end of the cast.
    pub(crate) fn next_at(&self) -> SimTime {
        if self.length == SimTime::NEVER {
            return SimTime::NEVER;
        }
        let (length, ticks) = (self.length.0 as i128, self.ticks.max(1) as i128);
        SimTime(self.start.0 + ((2 * length * self.next as i128 + ticks) / (2 * ticks)) as i64)
    }

    /// Returns the time at which the cast ends: at its last tick, or one interval later if the last tick still waits for
    /// the data of its client.
    pub(crate) fn end(&self) -> SimTime {
        if self.next > self.ticks { self.next_at() } else { self.start + self.length }
    }
}

/// A running global cooldown. Times are local.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gcd {
    pub(crate) group: GroupId,
    pub(crate) seq: u64,
    pub(crate) start: SimTime,
    pub(crate) end: SimTime,
    /// The op that started the cooldown.
    pub(crate) root: OpId,
}

/// The parts that one grant of an ability set granted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SetGrant {
    pub(crate) seq: u64,
    pub(crate) set: AbilitySetId,
    /// The active or queued effects of the set: origin id and ordinal of their keys.
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
        inputs: None,
        sets: Vec::new(),
        capabilities: None,
    };

    pub(crate) fn is_empty(&self) -> bool {
        self.activations.is_empty()
            && self.tasks.is_empty()
            && self.cast.is_none()
            && self.gcds.is_empty()
            && self.inputs().is_empty()
            && self.sets.is_empty()
            && self.capabilities().is_empty()
    }

    /// Returns the held, buffered and queued inputs.
    #[inline]
    pub(crate) fn inputs(&self) -> &Inputs {
        static NONE: Inputs = Inputs::NONE;
        self.inputs.as_deref().unwrap_or(&NONE)
    }

    /// Returns the held, buffered and queued inputs, for changes.
    pub(crate) fn inputs_mut(&mut self) -> &mut Inputs {
        self.inputs.get_or_insert_default()
    }

    /// Returns the capabilities and blocks.
    #[inline]
    pub(crate) fn capabilities(&self) -> &Capabilities {
        static NONE: Capabilities =
            Capabilities { records: Vec::new(), blocks: Vec::new(), presets: Vec::new(), due: DueRecords::NONE };
        self.capabilities.as_deref().unwrap_or(&NONE)
    }

    /// Returns the capabilities and blocks, for changes.
    pub(crate) fn capabilities_mut(&mut self) -> &mut Capabilities {
        self.capabilities.get_or_insert_default()
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
