//! A row: all state of one controller, stored together, because rollback, saving, replication and migration work on one
//! controller.

use super::{Capabilities, Cold, Due, DueRecords, Effect, Grant, Mod, Play, Queued, Tags, TimerKind, Values};
use crate::rules::{INITIAL_TAGS, TagTable};
use crate::time::Clock;
use crate::{ActorId, Anchor, ControllerId, EffectKey, GrantId, SimTime, TagId};
use serde::{Deserialize, Serialize};

/// The number of effects and abilities that have added a loop cue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CueCount {
    pub(crate) tag: TagId,
    pub(crate) count: u32,
}

/// Fields that many controllers do not need or that few operations read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RowExtras {
    /// The avatar, if it is not the owner.
    pub(crate) avatar: Option<ActorId>,
    pub(crate) anchor: Option<Anchor>,
    pub(crate) cues: Vec<CueCount>,
    pub(crate) queue: Vec<Queued>,
    pub(crate) play: Option<Box<Play>>,
}

impl RowExtras {
    const NONE: RowExtras = RowExtras { avatar: None, anchor: None, cues: Vec::new(), queue: Vec::new(), play: None };
}

/// The kinds of events that something on a row listens to.
pub(crate) mod alert {
    pub(crate) const TAG: u8 = 1;
    pub(crate) const ATTRIBUTE: u8 = 2;
    pub(crate) const EFFECT: u8 = 4;
    pub(crate) const EVENT: u8 = 8;
    pub(crate) const ABILITY: u8 = 16;
    pub(crate) const DEATH: u8 = 32;
    pub(crate) const INPUT: u8 = 64;
    /// Capabilities sleep until a tag or an attribute changes. Nothing is notified; the row is only woken.
    pub(crate) const ASLEEP: u8 = 128;
}

/// The state of one controller. Fields are grouped by cache line: first those of a base write, then the values, then
/// due work, effects and the rest. Processors fetch the first two lines together.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(128))]
pub(crate) struct Row {
    /// The latest origin id on this row, its count and the low half of its root op. Numbers the applications of one
    /// cause. Stored in the row, because an ability that commits later continues the count. Not hashed.
    pub(crate) last_origin_id: (u64, u32, u32),
    pub(crate) next_seq: u64,
    /// The slots that have modifiers: one bit for each of the first 31, bit 31 for all others.
    pub(crate) modded: u32,
    pub(crate) id: ControllerId,
    /// Index into the sim's layouts. Derived from the registered sets.
    pub(crate) layout: u32,
    /// Number of live modifiers and tag filters on other rows that read this row. Not state.
    #[serde(skip)]
    pub(crate) readers: u32,
    /// A signature of the granted tags, which rejects most tags that are not granted. Not state.
    #[serde(skip)]
    pub(crate) signature: u32,
    /// Number of effects that grant immunity.
    pub(crate) immunities: u16,
    #[serde(skip)]
    pub(crate) hash_dirty: bool,
    /// Bits of [`alert`]. Not state.
    #[serde(skip)]
    pub(crate) alert: u8,
    pub(crate) attrs: Values,

    /// Time and phase of this row's entry in the agenda, or [`SimTime::NEVER`] without an entry. Not state.
    #[serde(skip, default = "never")]
    pub(crate) published: SimTime,
    /// The number of changes that took no sequence number; see [`Row::stamp`]. Not state.
    #[serde(skip, default = "unchanged")]
    pub(crate) changes: u32,
    /// Number of effects that watch tags.
    pub(crate) watching: u16,
    #[serde(skip)]
    pub(crate) phase: u8,
    /// Due work, with the next item last. Derived from effects and timers, so not state.
    #[serde(skip)]
    pub(crate) due: Vec<Due>,
    pub(crate) clock: Clock,
    pub(crate) owner: ActorId,

    pub(crate) effects: Vec<Effect>,
    pub(crate) mods: Vec<Mod>,
    pub(crate) grants: Box<[Grant]>,

    /// Serialized as a list, because tag ranks depend on the rules.
    #[serde(skip)]
    pub(crate) tags: Tags,
    /// Number of live modifiers on this row.
    pub(crate) live: u32,
    pub(crate) next_grant: u32,
    pub(crate) side: Option<Box<RowExtras>>,
}

const _: () = assert!(size_of::<Row>() == 512);

fn never() -> SimTime {
    SimTime::NEVER
}

fn unchanged() -> u32 {
    1
}

impl Row {
    pub(crate) fn new(id: ControllerId, layout: u32, attrs: Values, now: SimTime) -> Row {
        Row {
            last_origin_id: (0, 0, 0),
            next_seq: 1,
            modded: 0,
            id,
            layout,
            readers: 0,
            signature: 0,
            immunities: 0,
            hash_dirty: false,
            alert: 0,
            attrs,
            published: never(),
            changes: unchanged(),
            watching: 0,
            phase: 0,
            due: Vec::new(),
            clock: Clock::starting(now),
            owner: ActorId::NONE,
            effects: Vec::new(),
            mods: Vec::new(),
            grants: Box::default(),
            tags: Tags::default(),
            live: 0,
            next_grant: 0,
            side: None,
        }
    }

    /// Returns the row of a free slot.
    pub(crate) fn empty() -> Row {
        Row::new(ControllerId::NONE, 0, Values::from(&[][..]), SimTime::ZERO)
    }

    #[inline]
    pub(crate) fn side(&self) -> &RowExtras {
        static NONE: RowExtras = RowExtras::NONE;
        self.side.as_deref().unwrap_or(&NONE)
    }

    pub(crate) fn side_mut(&mut self) -> &mut RowExtras {
        self.side.get_or_insert_with(|| Box::new(RowExtras::NONE))
    }

    pub(crate) fn avatar(&self) -> ActorId {
        self.side().avatar.unwrap_or(self.owner)
    }

    pub(crate) fn set_avatar(&mut self, avatar: ActorId) {
        if avatar != self.avatar() {
            self.side_mut().avatar = Some(avatar);
        }
    }

    #[inline]
    pub(crate) fn queue(&self) -> &[Queued] {
        &self.side().queue
    }

    #[inline]
    pub(crate) fn cues(&self) -> &[CueCount] {
        &self.side().cues
    }

    /// Returns a stamp that changes with every change of the row. A cache is valid for one stamp. A write to a base
    /// value increases the next sequence number, because that number is in the cache line that the write touches
    /// anyway.
    #[inline]
    pub(crate) fn stamp(&self) -> u32 {
        self.changes.wrapping_add(self.next_seq as u32).max(1)
    }

    /// Returns the abilities in progress.
    #[inline]
    pub(crate) fn play(&self) -> &Play {
        static NONE: Play = Play::NONE;
        self.side().play.as_deref().unwrap_or(&NONE)
    }

    /// Returns the abilities in progress, for changes.
    pub(crate) fn play_mut(&mut self) -> &mut Play {
        self.side_mut().play.get_or_insert_default()
    }

    /// Returns the capabilities for changes, if the row has any.
    #[inline]
    pub(crate) fn own_capabilities_mut(&mut self) -> Option<&mut Capabilities> {
        self.side.as_mut()?.play.as_mut()?.capabilities.as_deref_mut()
    }

    /// Returns whether no ability is active, no global cooldown is running, no input is pressed and no ability set is
    /// granted.
    #[inline]
    pub(crate) fn is_at_rest(&self) -> bool {
        self.side.as_ref().and_then(|s| s.play.as_ref()).is_none_or(|p| p.is_empty())
    }

    /// Drops empty optional parts, so that an idle row equals a row that was never used.
    pub(crate) fn trim(&mut self) {
        if let Some(play) = self.side.as_mut().and_then(|side| side.play.as_mut())
            && play.capabilities().is_empty()
        {
            play.capabilities = None;
        }
        if let Some(play) = self.side.as_mut().and_then(|side| side.play.as_mut())
            && play.inputs().is_empty()
        {
            play.inputs = None;
        }
        if let Some(side) = &mut self.side
            && side.play.as_ref().is_some_and(|p| p.is_empty())
        {
            side.play = None;
        }
    }

    pub(crate) fn grant(&self, id: GrantId) -> Option<usize> {
        self.grants.binary_search_by_key(&id, |g| g.id).ok()
    }

    /// Takes a new sequence number for an effect, a task, an activation or a timer.
    pub(crate) fn take_seq(&mut self) -> u64 {
        self.next_seq += 1;
        self.next_seq - 1
    }

    /// Returns whether a tag or a descendant of it is granted. The signature rejects most tags without a look-up, and
    /// is in a cache line that is read anyway.
    #[inline]
    pub(crate) fn has(&self, table: &TagTable, tag: TagId) -> bool {
        self.signature & table.signature(tag) != 0 && self.tags.has(table, tag)
    }

    /// Returns the tags that an effect of this row grants in addition to the tags of its definition. Only the automatic
    /// effect of the innate tags has such tags.
    pub(crate) fn own_tags(&self, e: &Effect, table: &TagTable) -> impl Iterator<Item = TagId> {
        let automatic = |e: &Effect| e.def == INITIAL_TAGS;
        let first = automatic(e) && !self.effects.iter().any(|other| automatic(other) && other.seq() < e.seq());
        first.then(|| self.tags.innate(table)).into_iter().flatten()
    }

    /// Appends a grant and returns its index.
    pub(crate) fn push_grant(&mut self, grant: Grant) -> usize {
        let mut list = std::mem::take(&mut self.grants).into_vec();
        list.reserve_exact(1);
        list.push(grant);
        self.grants = list.into();
        self.grants.len() - 1
    }

    pub(crate) fn take_grant(&mut self, at: usize) -> Grant {
        let mut list = std::mem::take(&mut self.grants).into_vec();
        let grant = list.remove(at);
        self.grants = list.into();
        grant
    }

    #[inline]
    pub(crate) fn is_modded(&self, slot: usize) -> bool {
        self.modded >> slot.min(31) & 1 != 0
    }

    /// Returns the modifiers of one slot.
    #[inline]
    pub(crate) fn mods_of(&self, slot: usize) -> &[Mod] {
        let slot = slot as u16;
        let start = self.mods.partition_point(|m| m.slot < slot);
        let len = self.mods[start..].iter().take_while(|m| m.slot == slot).count();
        &self.mods[start..start + len]
    }

    #[inline]
    pub(crate) fn add_mod(&mut self, m: Mod) {
        let at = self.mods.partition_point(|x| x.order(&m).is_lt());
        make_room(&mut self.mods);
        self.mods.insert(at, m);
        self.modded |= 1 << m.slot.min(31);
    }

    pub(crate) fn rebuild_modded(&mut self) {
        self.modded = self.mods.iter().fold(0, |bits, m| bits | 1 << m.slot.min(31));
    }

    /// Returns the index of the effect that due work belongs to.
    #[inline]
    pub(crate) fn effect_due(&self, due: Due) -> Option<usize> {
        let (place, seq) = (due.place(), due.seq());
        if self.effects.get(place).is_some_and(|e| e.seq() == seq) { Some(place) } else { self.effect_at(seq) }
    }

    #[inline]
    pub(crate) fn effect_at(&self, seq: u64) -> Option<usize> {
        self.effects.binary_search_by_key(&seq, |e| e.seq()).ok()
    }

    /// Returns whether the row uses the definition with this id.
    pub(crate) fn uses(&self, id: u32) -> bool {
        let from = |e: &Effect| e.ability().0 == id;
        let frozen = |e: &Effect| e.frozen().is_some_and(|f| f.effects.iter().any(|x| x.def.0 == id));
        self.effects.iter().any(|e| e.def.0 == id || from(e) || frozen(e))
            || self.queue().iter().any(|q| q.spec.effect.0 == id || q.spec.ability.0 == id)
            || self.grants.iter().any(|g| g.ability.0 == id)
            || self.play().activations.iter().any(|a| a.ability.0 == id)
    }

    /// Calls `map` with each effect and ability id that the row refers to. Must visit the same ids as [`Row::uses`].
    pub(crate) fn each_definition(&mut self, map: impl Fn(&mut u32)) {
        for e in &mut self.effects {
            map(&mut e.def.0);
            let Some(Cold { periodic: _, root: _, length: _, ability, missed: _, rest }) = e.cold.as_deref_mut() else {
                continue;
            };
            map(&mut ability.0);
            let frozen = rest.as_deref_mut().and_then(|rest| rest.frozen.as_deref_mut());
            frozen.into_iter().flat_map(|f| f.effects.iter_mut()).for_each(|x| map(&mut x.def.0));
        }
        self.grants.iter_mut().for_each(|g| map(&mut g.ability.0));
        let Some(RowExtras { avatar: _, anchor: _, cues: _, queue, play }) = self.side.as_deref_mut() else { return };
        for q in queue {
            map(&mut q.spec.effect.0);
            map(&mut q.spec.ability.0);
        }
        // Tasks, casts and inputs refer to activations. Groups, inputs and ability sets cannot be defined at run time.
        let Some(Play { activations, tasks: _, cast: _, gcds: _, inputs: _, sets: _, capabilities: _ }) =
            play.as_deref_mut()
        else {
            return;
        };
        activations.iter_mut().for_each(|a| map(&mut a.ability.0));
    }

    pub(crate) fn find(&self, key: EffectKey) -> Option<usize> {
        self.effects.iter().rposition(|e| e.origin_id == key.origin_id && e.ordinal == key.ordinal)
    }

    pub(crate) fn find_queued(&self, key: EffectKey) -> Option<usize> {
        self.queue().iter().position(|q| q.origin_id == key.origin_id && q.ordinal == key.ordinal)
    }

    #[inline]
    pub(crate) fn push_effect(&mut self, effect: Effect) {
        make_room(&mut self.effects);
        self.effects.push(effect);
    }

    /// Inserts an effect's due work. Due work is sorted latest first.
    #[inline]
    pub(crate) fn schedule(&mut self, due: Due) {
        let at = self.due.partition_point(|d| *d > due);
        make_room(&mut self.due);
        self.due.insert(at, due);
    }

    /// Delays the next due work.
    #[inline]
    pub(crate) fn put_off(&mut self, due: Due, later: Due) {
        let Some(mut at) = self.due.len().checked_sub(1).filter(|&at| self.due[at].order() == due.order()) else {
            self.unschedule(due);
            return self.schedule(later);
        };
        while at > 0 && self.due[at - 1] < later {
            self.due[at] = self.due[at - 1];
            at -= 1;
        }
        self.due[at] = later;
    }

    pub(crate) fn unschedule(&mut self, due: Due) {
        if let Ok(at) = self.due.binary_search_by(|d| due.order().cmp(&d.order())) {
            self.due.remove(at);
        }
    }

    /// Recomputes the fields that are not state.
    pub(crate) fn rebuild(&mut self) {
        self.rebuild_modded();
        self.due = self.effects.iter().enumerate().filter_map(|(at, e)| Some(e.due()?.with_hint(at))).collect();
        let timers = self.timers();
        self.due.extend(timers);
        self.due.sort_unstable_by(|a, b| b.cmp(a));
        (self.published, self.changes, self.phase) = (never(), unchanged(), 0);
        self.grants.iter_mut().for_each(|g| g.set_status(Default::default()));
        if let Some(capabilities) = self.own_capabilities_mut() {
            capabilities.due = DueRecords::NONE;
        }
        self.hash_dirty = true;
    }

    /// Returns the timers of the abilities in progress.
    fn timers(&self) -> Vec<Due> {
        let play = self.play();
        let charges = self.grants.iter().filter_map(|g| g.more.as_ref()?.charges.as_ref());
        let tasks = play.tasks.iter().map(|t| Due::timer(t.due, TimerKind::Task, t.seq));
        let casts = play.cast.iter().map(|c| Due::timer(c.next_at(), TimerKind::Cast, c.seq));
        let gcds = play.gcds.iter().map(|g| Due::timer(g.end, TimerKind::Gcd, g.seq));
        let pending = play.activations.iter().map(|a| Due::timer(a.deadline, TimerKind::Validation, a.seq));
        let charges = charges.map(|c| Due::timer(c.end, TimerKind::Charge, c.seq));
        let inputs = play.inputs().timers();
        tasks
            .chain(casts)
            .chain(gcds)
            .chain(pending)
            .chain(charges)
            .chain(inputs)
            .filter(|d| d.at != SimTime::NEVER)
            .collect()
    }
}

/// Grows a list by an eighth instead of doubling it, because there are many rows and most lists stay short.
#[inline]
fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 8).max(1));
    }
}
