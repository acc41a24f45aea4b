//! What a network session needs of a sim: which rows changed, a row as another sim has it, and ops under a client's
//! name.
//!
//! A client runs its own controller ahead of the authority. When it hears how the controller really was at an earlier
//! moment, [`Sim::rerun`] puts it there and runs its journal after that moment again: what the authority did not know
//! of yet is kept, what it refused is gone.

use super::Sim;
use crate::check::closes_circle;
use crate::flow::{Ahead, Captured, CapturedAt, Journal, Replay, Via};
use crate::image::{PORTABLE_VERSION, Portable, RowImage};
use crate::rules::TriggerDef;
use crate::sim::Role;
use crate::state::{Attr, Row};
use crate::time::Clock;
use crate::{
    AbilityId, AbilityState, ActivationKey, AttributeId, BadValue, ControllerId, DefId, EffectId, Fact, FactKind,
    InsertError, LimitKind, NameKind, Op, OpId, Outcome, RUNTIME_BIT, Refusal, SetId, SimTime, SpawnSpec, TagId,
    Target,
};
use ugas_doc::Doc;

/// A point in a controller's journal: what was noted before it and what after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct JournalMark {
    serial: u64,
    dues: u64,
}

impl Sim {
    /// A controller as it is, with everything in flight. Unlike [`Sim::extract`] it stays where it is.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig, SpawnSpec};
    /// use ugas_doc::{Attribute, AttributeSet};
    /// let rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build()?;
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
    /// assert_eq!(sim.peek(hero)?.id(), hero);
    /// assert!(sim.exists(hero));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn peek(&self, who: ControllerId) -> Result<Portable, Refusal> {
        let row = self.row(who)?;
        let sets = self.layout(row).sets.to_vec();
        let mut definitions = Vec::new();
        for (id, d) in self.state.definitions.used_by(row) {
            definitions.push((id, serde_json::to_string(&d.doc).map_err(|_| Refusal::Mismatch)?));
        }
        let tags = row.tags.to_list(&self.rules.tags);
        let (rules, at, row) = (self.rules.fingerprint(), self.state.now, row.clone());
        Ok(Portable { version: PORTABLE_VERSION, rules, at, sets, row, tags, definitions })
    }

    /// Whether an ability that may be played ahead waits for its validation: until the answer, whoever plays ahead knows
    /// better what the controller will be.
    pub fn awaits_validation(&self, who: ControllerId) -> bool {
        let Ok(row) = self.row(who) else { return false };
        row.play().activations.iter().any(|a| {
            let def = self.state.definitions.ability(&self.rules, a.ability);
            let ahead = def.is_some_and(|d| d.validation.as_ref().is_some_and(|v| v.predicted));
            ahead && a.state == AbilityState::PendingConfirmation
        })
    }

    /// Whether an ability's triggers set it off by what a fact tells (`true`), or end it because a tag it lasts with is
    /// gone (`false`). For abilities that run beside a sim, where no trigger of the sim reaches them.
    pub fn set_off_by(&self, ability: AbilityId, fact: &Fact) -> Option<bool> {
        let def = self.state.definitions.ability(&self.rules, ability)?;
        let sets_off = |trigger: &TriggerDef| match (*trigger, fact.kind) {
            (TriggerDef::Event(of), FactKind::GameplayEvent { tag, .. }) => {
                self.rules.tags.is_under(tag, of).then_some(true)
            }
            (TriggerDef::TagPresent(t), FactKind::TagChanged { tag, added, presence: true, .. }) => {
                (tag == t).then_some(added)
            }
            (TriggerDef::TagAdded(t), FactKind::TagChanged { tag, added: true, presence: true, .. }) => {
                (tag == t).then_some(true)
            }
            (TriggerDef::Below(a, v), FactKind::AttributeChanged { attribute, old, new, .. }) => {
                (attribute == a && old >= v && new < v).then_some(true)
            }
            (TriggerDef::Above(a, v), FactKind::AttributeChanged { attribute, old, new, .. }) => {
                (attribute == a && old <= v && new > v).then_some(true)
            }
            (TriggerDef::EffectApplied(e), FactKind::EffectApplied { .. }) => (fact.effect == e).then_some(true),
            (TriggerDef::Died, FactKind::Died { .. }) => Some(true),
            _ => None,
        };
        def.triggers.iter().find_map(sets_off)
    }

    /// Swaps out what activations that are played ahead aimed at by themselves since this was last asked: the authority
    /// has to hear of it.
    pub fn take_aims(&mut self, into: &mut Vec<(ActivationKey, Target)>) {
        into.clear();
        std::mem::swap(&mut self.log.aims, into);
    }

    /// Whose truth the sim holds from now on.
    pub fn set_role(&mut self, role: Role) {
        self.config.role = role;
    }

    /// The end of a controller's journal as it is now; its start where none is kept.
    pub fn mark(&self, who: ControllerId) -> JournalMark {
        self.journals.get(&who).map_or(JournalMark::default(), |j| JournalMark { serial: j.next, dues: j.dues })
    }

    /// The point from which on a journal still holds everything.
    pub fn journal_start(&self, who: ControllerId) -> JournalMark {
        self.journals.get(&who).map_or(JournalMark::default(), |j| JournalMark { serial: j.start(), dues: 0 })
    }

    /// The point in a journal between what was noted before a moment and what was noted from it on.
    pub fn mark_at(&self, who: ControllerId, at: SimTime) -> JournalMark {
        let Some(journal) = self.journals.get(&who) else { return JournalMark::default() };
        let next = journal.entries.iter().find(|e| e.at >= at).map_or(journal.next, |e| e.serial);
        JournalMark { serial: next.max(journal.start()), dues: 0 }
    }

    /// Forgets what a journal noted before a mark.
    pub fn forget_journal(&mut self, who: ControllerId, before: JournalMark) {
        if let Some(journal) = self.journals.get_mut(&who) {
            journal.forget_before(before.serial);
        }
    }

    /// Notes ops on a controller once more, first after a mark: another sim has not heard of them yet, and they are run
    /// again on what it says. One that is noted there already stays.
    pub fn journal_again(&mut self, who: ControllerId, after: JournalMark, at: SimTime, ops: &[(OpId, Op)]) {
        if let Some(journal) = self.journals.get_mut(&who) {
            let ops = ops.iter().filter(|(_, op)| op.target() == who);
            journal.note_again(after.serial, at, ops);
        }
    }

    /// How much a journal holds.
    pub fn journal_len(&self, who: ControllerId) -> usize {
        self.journals.get(&who).map_or(0, |j| j.entries.len())
    }

    /// Takes an op out of every journal with what others did because of it, e.g. one the authority refused.
    pub fn strike_out(&mut self, id: OpId) {
        for journal in self.journals.values_mut() {
            journal.strike_out(id);
        }
    }

    /// A controller as another sim has it, as an image for [`Sim::rerun`] here. It is checked like a saved game; what was
    /// noted in the journal after the mark comes after it.
    pub fn image_of(&mut self, from: &Portable, after: JournalMark) -> Result<RowImage, InsertError> {
        self.check_origin(from)?;
        if from.at > self.state.now || from.at < SimTime::ZERO {
            return Err(InsertError::Damaged("the time"));
        }
        let row = self.sound_row(from, true)?;
        Ok(self.image(row, from.at, after))
    }

    /// What is told of a controller that another sim decides about, as an image: sets, values and tags, nothing else.
    pub fn image_of_proxy(&mut self, proxy: &ProxyRow<'_>, after: JournalMark) -> Result<RowImage, Refusal> {
        let unknown = proxy.tags.iter().find(|t| self.rules.tags.def(**t).is_none());
        if let Some(tag) = unknown {
            return Err(Refusal::UnknownName { kind: NameKind::Tag, id: tag.0 });
        }
        if proxy.at > self.state.now || proxy.at < SimTime::ZERO {
            return Err(Refusal::BadValue { what: BadValue::Time });
        }
        // Spawned under a spare id, so that there is one way in which rows are made.
        let spare = ControllerId(self.state.next_id);
        let spec = SpawnSpec {
            sets: proxy.sets.to_vec(),
            base: proxy.values.to_vec(),
            tags: proxy.tags.to_vec(),
            anchor: proxy.anchor,
            id: Some(spare),
            ..SpawnSpec::default()
        };
        let (next_id, facts) = (self.state.next_id, self.log.facts.list.len());
        let diagnostics = self.log.diagnostics.len();
        let mut flow = self.flow();
        flow.start(OpId::default(), spare);
        let made = flow.spawn(&spec);
        flow.react();
        let row = made.ok().and_then(|_| flow.slot(spare).ok()).and_then(|slot| flow.drop_row(slot));
        self.log.facts.list.truncate(facts);
        self.log.diagnostics.truncate(diagnostics);
        self.state.next_id = next_id;
        let mut row = row.ok_or(made.err().unwrap_or(Refusal::StaleHandle))?;
        row.id = proxy.who;
        row.clock = Clock::starting(SimTime::ZERO);
        row.effects.iter_mut().for_each(|e| e.source = proxy.who);
        // What is told is so, whatever follows here from what is not told: bounds, derived values.
        let layout = &self.index.layouts[row.layout as usize];
        for &(attribute, value) in proxy.values.iter().filter(|(_, value)| value.is_finite()) {
            if let Some(slot) = layout.slot(attribute) {
                row.attrs[slot] = Attr { base: value, current: value };
            }
        }
        Ok(self.image(row, proxy.at, after))
    }

    fn image(&self, mut row: Row, at: SimTime, after: JournalMark) -> RowImage {
        row.rebuild();
        row.readers = 0;
        let JournalMark { serial, dues } = after;
        let taken = CapturedAt { at, rules: self.rules.image_print(), serial, dues, foreign: true };
        RowImage { inner: Some(Captured::new(row, taken, &self.index, &self.state.definitions)) }
    }

    /// Puts a controller to an image and runs its journal after it again, up to each of the stops: a time, and the mark
    /// that was the journal's end then. What the controller is at each stop goes into the image beside it. Only that row
    /// moves, and what it would do to others is muted. Makes the controller if it is not here.
    pub fn rerun(
        &mut self,
        from: &RowImage,
        stops: &[(SimTime, JournalMark)],
        images: &mut [RowImage],
    ) -> Result<(), Refusal> {
        let from = from.inner.as_ref().ok_or(Refusal::Mismatch)?;
        let who = from.row.id;
        self.make_room(&from.row)?;
        let journal = self.journals.remove(&who);
        let empty = Journal::default();
        let stops: Vec<(SimTime, u64)> = stops.iter().map(|(at, mark)| (*at, mark.serial)).collect();
        let mut flow = self.flow();
        let read = journal.as_ref().unwrap_or(&empty);
        flow.replay = Some(Replay::new(who, read));
        let result = flow.rerun(from, read, &stops, images);
        if let Some(journal) = journal {
            self.journals.insert(who, journal);
        }
        result
    }

    /// A place for a controller that is not here.
    fn make_room(&mut self, row: &Row) -> Result<(), Refusal> {
        let who = row.id;
        let mut flow = self.flow();
        if flow.slot(who).is_ok() {
            return Ok(());
        }
        let max = flow.limits.controllers;
        // Ids are given by another sim, however large they are; the last ones stay free for rows that are being made.
        if flow.st.controllers.len() as u32 >= max || who.0 >= u32::MAX - 2 {
            return Err(Refusal::Limit { what: LimitKind::Controllers, max, link: 0 });
        }
        let target = flow.st.controllers.insert(row.clone(), &flow.rules.tags);
        if closes_circle(&flow, who) {
            flow.st.controllers.remove(who);
            return Err(Refusal::Mismatch);
        }
        flow.st.hash_dirty.push(who);
        flow.st.next_id = flow.st.next_id.max(who.0 + 1);
        // Nothing closes a circle: that was looked at before.
        let _ = flow.link_row(target);
        flow.thaw_readers(who);
        flow.fact(who, Via::NOTHING, FactKind::Restored);
        Ok(())
    }

    /// Puts a controller that another sim decides about to a place. Nothing is journalled: where it stands is heard, not
    /// done.
    pub fn place_proxy(&mut self, who: ControllerId, anchor: Option<crate::Anchor>) -> Result<(), Refusal> {
        let mut flow = self.flow();
        if flow.ix.casters_at(who).next().is_some() {
            flow.start(OpId::default(), who);
        }
        let moved = flow.move_to(who, anchor);
        flow.react();
        moved
    }

    /// Takes a controller away without a word to anybody, e.g. one that left a client's sight.
    pub fn hide(&mut self, who: ControllerId) {
        let facts = self.log.facts.list.len();
        let mut flow = self.flow();
        if let Ok(slot) = flow.slot(who) {
            flow.drop_row(slot);
        }
        self.log.facts.list.truncate(facts);
        self.journals.remove(&who);
    }

    /// Rows whose state is not what it was when this was last asked, those that are new among them, by rising id. The
    /// first call names all there are. A change that was taken back in between is none.
    pub fn take_changed(&mut self, into: &mut Vec<ControllerId>) {
        into.clear();
        let first = self.state.changed.is_none();
        self.state.changed.get_or_insert_default();
        self.hash();
        if let Some(changed) = &mut self.state.changed {
            std::mem::swap(changed, into);
        }
        if first {
            into.clear();
            into.extend(self.state.controllers.iter().map(|r| r.id));
        }
        into.sort_unstable();
        into.dedup();
    }

    /// How many controllers went so far, however they did: while it stays, all that were there are there.
    pub fn departed(&self) -> u64 {
        self.state.controllers.departed()
    }

    /// Gives a client's random stream its seed: what the client's ops cause draws from it, here and wherever else it was
    /// given (ruling R-05). Client 0 is the sim itself, whose seed stays.
    pub fn seed_client(&mut self, client: u16, seed: u64) {
        if client == 0 {
            return;
        }
        let seeds = &mut self.state.client_seeds;
        match seeds.binary_search_by_key(&client, |s| s.0) {
            Ok(at) => seeds[at].1 = seed,
            Err(at) => seeds.insert(at, (client, seed)),
        }
    }

    /// Forgets a client's seed.
    pub fn unseed_client(&mut self, client: u16) {
        self.state.client_seeds.retain(|s| s.0 != client);
    }

    /// Runs an op of a client's that was asked for some time ago: cooldowns, charges and the global cooldown it starts
    /// count from then.
    pub fn run_late(&mut self, id: OpId, op: &Op, ago: SimTime) -> Result<Outcome, Refusal> {
        if id.client() == 0 {
            return Err(Refusal::Authority);
        }
        let ago = ago.clamp(SimTime::ZERO, self.state.now);
        let mut flow = self.flow();
        flow.back = ago;
        flow.run(id, op)
    }

    /// Runs an op of a client's like [`Sim::run_late`]. The first tick of what it activates aims where the client's
    /// predicted tick aimed; the checks of the activation itself look at the op's own target. Second, why it may not aim
    /// there, as [`Sim::may_aim`] says; the ability then runs with the target it has.
    pub fn run_aimed(
        &mut self,
        id: OpId,
        op: &Op,
        ago: SimTime,
        aim: Target,
    ) -> (Result<Outcome, Refusal>, Result<(), Refusal>) {
        self.scratch.ahead = Ahead { first: Some(aim), ..Ahead::default() };
        let done = self.run_late(id, op, ago);
        let refused = std::mem::take(&mut self.scratch.ahead).refused;
        (done, refused.map_or(Ok(()), Err))
    }

    /// Whether a running ability may aim at what a client that plays it ahead chose: its `OnPredictedTick` must be where
    /// that is chosen ([`Refusal::Authority`]), and the checks of a target pass as at an activation.
    pub fn may_aim(&self, key: ActivationKey, target: Target) -> Result<(), Refusal> {
        let (view, slot) = (self.view(), self.slot(key.who)?);
        let running = view.row(slot).play().activations.iter().find(|a| a.key(key.who) == key);
        view.may_aim(slot, running.ok_or(Refusal::StaleHandle)?, target)
    }

    /// The definitions made at run time, by number.
    pub fn definitions(&self) -> impl Iterator<Item = (DefId, &Doc)> {
        self.state.definitions.list.iter().enumerate().filter_map(|(number, d)| {
            let (number, d) = (RUNTIME_BIT | number as u32, d.as_ref()?);
            let ability = d.ability.is_some();
            let id = if ability { DefId::Ability(AbilityId(number)) } else { DefId::Effect(EffectId(number)) };
            Some((id, &d.doc))
        })
    }

    /// How many numbers for definitions made at run time were given, those that are gone included.
    pub fn definitions_given(&self) -> u32 {
        self.state.definitions.list.len() as u32
    }

    /// How many of them another sim must have been given to understand a controller: one more than the highest number that
    /// the controller uses; 0 if it uses none.
    pub fn definitions_needed(&self, who: ControllerId) -> u32 {
        let used = |row| self.state.definitions.used_by(row).map(|(id, _)| (id & !RUNTIME_BIT) + 1).max();
        self.row(who).ok().and_then(used).unwrap_or(0)
    }

    /// Takes over a definition another sim made, under its number. Numbers in between stay free for good.
    pub fn adopt_definition(&mut self, id: DefId, doc: &Doc) -> Result<(), InsertError> {
        let number = match id {
            DefId::Effect(e) => e.0,
            DefId::Ability(a) => a.0,
        };
        let at = (number & !RUNTIME_BIT) as usize;
        let max = self.config.limits.definitions;
        if number & RUNTIME_BIT == 0 {
            return Err(InsertError::Damaged("the number of a definition"));
        }
        if at >= max as usize {
            let what = LimitKind::Definitions;
            return Err(InsertError::Limit(Refusal::Limit { what, max, link: 0 }));
        }
        if self.state.definitions.get(number).is_some_and(|d| d.doc == *doc) {
            return Ok(());
        }
        let made = crate::flow::compile(&self.rules, doc, number).map_err(|e| {
            InsertError::Definition(e.map_or("its kind cannot be made at run time".into(), |e| e.to_string()))
        })?;
        let list = &mut self.state.definitions.list;
        if at < list.len() && list[at].is_some() {
            return Err(InsertError::Damaged("the number of a definition"));
        }
        if at >= list.len() {
            list.resize_with(at + 1, || None);
        }
        list[at] = Some(made);
        Ok(())
    }
}

/// What is told of a controller another sim decides about.
#[derive(Clone, Copy, Debug)]
pub struct ProxyRow<'a> {
    /// The controller.
    pub who: ControllerId,
    /// When it was so.
    pub at: SimTime,
    /// Its attribute sets.
    pub sets: &'a [SetId],
    /// Values that are known; the others stand at their defaults.
    pub values: &'a [(AttributeId, f64)],
    /// Tags it has.
    pub tags: &'a [TagId],
    /// Where it stands, if that is known.
    pub anchor: Option<crate::Anchor>,
}
