//! What the steps of a capability do: the effects and blocks of a document, or calls of code and the requests that the
//! code makes.

use super::block::is_local_side;
use super::life::LifeEvent;
use super::pass::{Evaluated, RowWork};
use crate::flow::{Flow, ForeignAction, RollStream, UsedAbility, child_origin_id};
use crate::rng::DrawAt;
use crate::rules::{
    CapabilityAction, CapabilityCall, CapabilityCode, CapabilityCx, CapabilityDef, CapabilityReads, Question, Ticked,
};
use crate::state::{Block, CapabilityRecord, RecordKey, Row};
use crate::{
    AbilityId, AttributeId, ControllerId, DiagnosticKind, EffectFilter, EffectId, EffectKey, EventData, SimTime, Spec,
    TagId, Target, Which,
};
use std::sync::Arc;

/// Marks the origin id of an effect that a capability applies.
const CAPABILITY: u64 = 96;
/// The calculation index of a coded capability's random stream; see the sites of magnitudes.
const SITE_CAPABILITY: u32 = (1 << 19) + 1;

/// What a coded capability in a row reads.
struct FlowReads<'f, 'a> {
    flow: &'f Flow<'a>,
    slot: usize,
    row: &'f Row,
    record: &'f CapabilityRecord,
}

impl CapabilityReads for FlowReads<'_, '_> {
    fn value(&self, who: ControllerId, attribute: AttributeId) -> Option<f64> {
        let FlowReads { flow, row, .. } = self;
        // A sim that has all values and replays nothing reads the values of the owner from its row.
        if who == row.id && flow.replay.is_none() && flow.ix.hidden.is_empty() {
            let slot = flow.ix.layouts[row.layout as usize].slot(attribute)?;
            return Some(row.attrs[slot].current);
        }
        flow.current_of(who, attribute)
    }

    fn has(&self, who: ControllerId, tag: TagId) -> bool {
        self.flow.rules.tags.def(tag).is_some() && self.flow.source_has(who, tag)
    }

    fn around(&self, radius: f64) -> Vec<ControllerId> {
        self.flow.around(self.slot, radius)
    }

    fn first_draw(&self) -> DrawAt {
        let FlowReads { flow, row, record, .. } = self;
        // No client knows the stream of a capability that only the authoritative sim evaluates.
        let used = UsedAbility { who: row.id, ability: AbilityId::NONE };
        let RollStream { seed, known, is_use, .. } = flow.view().roll_stream(used, || record.is_for_authority());
        DrawAt {
            seed,
            known,
            is_use,
            sub: 0,
            target: row.id.0,
            origin_id: flow.st.now.0 as u64,
            ordinal: record.position as u32,
            execution: record.acts,
            calculation: SITE_CAPABILITY,
            site: record.class.0,
            draw: 0,
        }
    }
}

impl FlowReads<'_, '_> {
    /// Returns the context of the capability. `acts` is an empty list for its requests.
    #[inline]
    fn context<'r>(&'r self, now: SimTime, acts: &'r mut Vec<CapabilityAction>) -> CapabilityCx<'r> {
        let FlowReads { flow, row, record, .. } = self;
        CapabilityCx { rules: flow.rules, who: row.id, class: record.class, now, reads: self, draw: None, acts }
    }
}

/// Memory for a call of a capability's code. A call leaves both lists empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallBuffers {
    /// The requests of the code.
    acts: Vec<CapabilityAction>,
    /// The new state of the capability.
    state: Vec<u8>,
}

/// The result of a call of a capability's code.
#[derive(Clone, Copy)]
struct Called {
    /// `None` if a state could not be encoded or decoded.
    done: Option<()>,
    draw: Option<DrawAt>,
    /// Whether this sim has every value that the code read.
    is_known: bool,
}

impl Flow<'_> {
    pub(super) fn record(&self, who: ControllerId, key: RecordKey) -> Option<&CapabilityRecord> {
        self.st.controllers.get(who)?.play().capabilities().find(key)
    }

    pub(super) fn record_mut(&mut self, slot: usize, key: RecordKey) -> Option<&mut CapabilityRecord> {
        self.row(slot).play().capabilities().find(key)?;
        self.row_mut(slot).play_mut().capabilities_mut().find_mut(key)
    }

    pub(super) fn edit_record(&mut self, slot: usize, key: RecordKey, edit: impl FnOnce(&mut CapabilityRecord)) {
        if let Some(record) = self.record_mut(slot, key) {
            edit(record);
        }
    }

    /// Asks a capability. A capability whose state cannot be read answers no. So does one that reads a value that the
    /// client does not have: its stage changes with the server's state.
    pub(super) fn ask(&mut self, slot: usize, key: RecordKey, question: Question) -> bool {
        if self.ix.hidden.is_empty() {
            return self.ask_known(slot, key, question);
        }
        let (answer, hidden) = self.watch_hidden(|flow| flow.ask_known(slot, key, question));
        answer && hidden.is_none()
    }

    fn ask_known(&mut self, slot: usize, key: RecordKey, question: Question) -> bool {
        let Some(record) = self.row(slot).play().capabilities().find(key) else { return false };
        let class = record.class;
        let Some(code) = self.rules.capability_code(class) else {
            let Some(def) = self.rules.capability_def(class) else { return false };
            return self.view().ask_document(slot, def, question, record.stage == crate::state::Stage::Active);
        };
        let reads = FlowReads { flow: self, slot, row: self.row(slot), record };
        let answer = code.code.ask(&record.state, question, &reads.context(self.local_now(slot), &mut Vec::new()));
        if answer.is_none() {
            let who = self.row(slot).id;
            self.diagnose(who, EffectId::NONE, DiagnosticKind::CapabilityState { class });
        }
        answer.unwrap_or(false)
    }

    /// Runs a step of a capability: calls its code, or executes its document.
    pub(super) fn call(&mut self, who: ControllerId, key: RecordKey, call: CapabilityCall) {
        let Some(record) = self.record(who, key) else { return };
        match self.rules.capability_code(record.class) {
            Some(code) if code.watch.is_some() && matches!(call, CapabilityCall::Tick { .. }) => {}
            Some(_) => self.call_code(who, key, call),
            None => {
                if let Some(def) = self.rules.capability_def(record.class).cloned() {
                    self.run_document(who, key, &def, call);
                }
            }
        }
        self.finish_operation();
        self.run_reactions();
    }

    /// Asks an active coded capability whether it ends, and ticks it if it does not. `buffers` are empty.
    #[inline(always)]
    pub(super) fn tick_code(
        &mut self,
        work: &RowWork,
        at: usize,
        code: &CapabilityCode,
        elapsed: SimTime,
        buffers: &mut CallBuffers,
    ) -> Evaluated {
        let &RowWork { slot, now, .. } = work;
        let row = self.row(slot);
        let Some(record) = row.play().capabilities().records.get(at) else {
            return Evaluated::Quietly { sleeps: false };
        };
        let reads = FlowReads { flow: self, slot, row, record };
        let mut cx = reads.context(now, &mut buffers.acts);
        let ticked = code.code.tick(&record.state, &mut buffers.state, elapsed, &mut cx);
        let draw = cx.draw;
        let is_quiet = ticked == Ticked::Done && draw.is_none() && buffers.acts.is_empty();
        if let Some(record) = self.row_mut(slot).own_capabilities_mut().and_then(|all| all.records.get_mut(at)) {
            record.last = now;
            if is_quiet {
                match record.state.len() == buffers.state.len() {
                    true => record.state.copy_from_slice(&buffers.state),
                    false => record.state.clone_from(&buffers.state),
                }
            }
        }
        if is_quiet {
            buffers.state.clear();
            return Evaluated::Quietly { sleeps: false };
        }
        self.finish_tick(work, at, (ticked, draw, elapsed), buffers)
    }

    /// Finishes a tick that did more than change the state of its capability.
    #[cold]
    fn finish_tick(
        &mut self,
        work: &RowWork,
        at: usize,
        (ticked, draw, elapsed): (Ticked, Option<DrawAt>, SimTime),
        buffers: &mut CallBuffers,
    ) -> Evaluated {
        let &RowWork { who, slot, .. } = work;
        let Some(record) = self.row(slot).play().capabilities().records.get(at) else {
            return Evaluated::Quietly { sleeps: false };
        };
        let (key, class) = (record.key(), record.class);
        let called = |done| Called { done, draw, is_known: true };
        match ticked {
            Ticked::Done => self.finish_call(slot, key, called(Some(())), buffers),
            Ticked::TooLarge => self.finish_call(slot, key, called(None), buffers),
            Ticked::Ends => self.live(who, key, LifeEvent::Deactivate),
            Ticked::Unreadable => {
                self.diagnose(who, EffectId::NONE, DiagnosticKind::CapabilityState { class });
                self.call(who, key, CapabilityCall::Tick { elapsed });
            }
        }
        self.finish_operation();
        self.run_reactions();
        Evaluated::WithChanges(key)
    }

    /// Calls the code of a capability and executes its requests.
    fn call_code(&mut self, who: ControllerId, key: RecordKey, call: CapabilityCall) {
        let Some(slot) = self.st.controllers.slot(who) else { return };
        // A capability that is called while another one is has memory of its own.
        let mut buffers = std::mem::take(&mut self.sc.capability_calls);
        let row = self.row(slot);
        if let Some(record) = row.play().capabilities().find(key)
            && let Some(code) = self.rules.capability_code(record.class)
        {
            let reads = FlowReads { flow: self, slot, row, record };
            let mut cx = reads.context(self.local_now(slot), &mut buffers.acts);
            let before = self.hidden_read.take();
            let done = code.code.step(&record.state, &mut buffers.state, call, &mut cx);
            let draw = cx.draw;
            let is_known = self.hidden_read.replace(before).is_none();
            self.finish_call(slot, key, Called { done, draw, is_known }, &mut buffers);
        }
        self.sc.capability_calls = buffers;
    }

    /// Stores the new state of a capability that was called, and executes its requests.
    fn finish_call(&mut self, slot: usize, key: RecordKey, called: Called, buffers: &mut CallBuffers) {
        let Called { done, draw, is_known } = called;
        let CallBuffers { acts, state } = buffers;
        let who = self.row(slot).id;
        let used = UsedAbility { who, ability: AbilityId::NONE };
        // If this sim does not have the seed of the draws or a value that the code read, the server decides what the
        // capability does.
        let is_rolled = draw.is_none_or(|draw| self.view().record_draws(&draw, used).is_ok());
        let is_decided = is_rolled && is_known;
        if done.is_none() {
            if let Some(class) = self.record(who, key).map(|record| record.class) {
                self.diagnose(who, EffectId::NONE, DiagnosticKind::CapabilityState { class });
            }
        } else if is_decided {
            self.edit_record(slot, key, |record| {
                if record.state != *state {
                    record.state.clone_from(state);
                }
                // The next call must draw other random numbers.
                record.acts = record.acts.wrapping_add(draw.is_some() as u32);
            });
            for act in acts.drain(..) {
                self.act_for(who, key, act);
            }
        }
        acts.clear();
        state.clear();
    }

    /// Executes a request of a capability. A capability that exists on one machine only may not change shared state.
    fn act_for(&mut self, who: ControllerId, key: RecordKey, act: CapabilityAction) {
        let Some(slot) = self.st.controllers.slot(who) else { return };
        let Some(record) = self.record(who, key) else { return };
        let (class, is_local) = (record.class, is_local_side(record.side));
        let changes_shared = match &act {
            CapabilityAction::Apply(_) | CapabilityAction::Remove { .. } | CapabilityAction::Send { .. } => true,
            CapabilityAction::Enable { class, .. }
            | CapabilityAction::SetInterval { class, .. }
            | CapabilityAction::SetTicking { class, .. } => {
                let records = &self.row(slot).play().capabilities().records;
                records.iter().any(|other| other.class == *class && !is_local_side(other.side))
            }
            // The blocks of such a capability do not block shared ones.
            CapabilityAction::Block(_) | CapabilityAction::Unblock(_) => false,
            CapabilityAction::Cue(_) | CapabilityAction::Activate { .. } | CapabilityAction::RemoveSet => false,
        };
        if is_local && changes_shared {
            return self.diagnose(who, EffectId::NONE, DiagnosticKind::LocalCapabilityRefused { class });
        }
        let source = record.block_source();
        match act {
            CapabilityAction::Apply(spec) => {
                self.apply_for(who, key, spec.from(who));
            }
            CapabilityAction::Remove { effect } => {
                self.remove_matching(slot, &EffectFilter { effect: Some(effect), ..EffectFilter::default() });
            }
            CapabilityAction::Send { tag, target, magnitude } => {
                if !self.skips_action_on(target) {
                    let event = EventData { instigator: Some(who), magnitude, ..EventData::new(tag, target) };
                    self.journal_foreign_action(who, target, || ForeignAction::Event(event.clone()));
                    // A refusal is traced; the code can read the resulting state.
                    let _ = self.send_event(event);
                }
            }
            CapabilityAction::Cue(tag) => {
                if self.rules.tags.def(tag).is_some() {
                    self.burst_cue(slot, tag);
                }
            }
            CapabilityAction::Block(tag) => {
                // A block beyond the limit is ignored, like an effect beyond its limit.
                if self.rules.tags.def(tag).is_some() {
                    let _ = self.add_block(slot, Block { tag, source });
                }
            }
            CapabilityAction::Unblock(tag) => self.remove_block(slot, Block { tag, source }),
            CapabilityAction::Enable { class, on } => self.switch(slot, class, |record| record.enabled = on),
            CapabilityAction::SetInterval { class, interval } => {
                if super::block::is_interval(interval) {
                    self.set_tick(slot, class, None, Some(interval));
                }
            }
            CapabilityAction::SetTicking { class, on } => self.set_tick(slot, class, Some(on), None),
            CapabilityAction::Activate { ability, target } => self.activate_for(who, ability, target),
            CapabilityAction::RemoveSet => {
                if !self.sc.leaving.contains(&key.handle) {
                    self.sc.leaving.push(key.handle);
                }
            }
        }
    }

    /// Activates an ability for a capability. A refusal is traced, like that of a player's input.
    fn activate_for(&mut self, who: ControllerId, ability: AbilityId, target: Target) {
        if let Err(refusal) = self.activate_op(who, Which::Ability(ability), target) {
            self.trace_refusal(who, EffectId::NONE, refusal);
        }
    }

    /// Applies an effect for a capability. Returns the key of the application, unless it was refused or skipped.
    fn apply_for(&mut self, who: ControllerId, key: RecordKey, spec: Spec) -> Option<EffectKey> {
        let slot = self.st.controllers.slot(who)?;
        let record = self.record_mut(slot, key)?;
        let acts = record.acts;
        record.acts = acts.wrapping_add(1);
        if self.skips_action_on(spec.target) {
            return None;
        }
        let parent = EffectKey { origin_id: key.handle, target: who, ordinal: key.position as u32 };
        let origin_id = child_origin_id(parent, CAPABILITY, acts, 0);
        self.journal_foreign_action(who, spec.target, || ForeignAction::Apply(spec.clone(), origin_id));
        // A refusal is traced.
        self.apply(&spec, origin_id).ok()
    }

    /// Executes a step of a document.
    fn run_document(&mut self, who: ControllerId, key: RecordKey, def: &Arc<CapabilityDef>, call: CapabilityCall) {
        let Some(record) = self.record(who, key) else { return };
        let (class, is_local, source) = (record.class, is_local_side(record.side), record.block_source());
        let lists = [&def.effects, &def.on_activated, &def.on_deactivated, &def.on_tick];
        let has_effects = lists.iter().any(|list| !list.is_empty());
        if is_local && has_effects && call == CapabilityCall::Activated {
            self.diagnose(who, EffectId::NONE, DiagnosticKind::LocalCapabilityRefused { class });
        }
        match call {
            CapabilityCall::Setup | CapabilityCall::End => {}
            CapabilityCall::Activated => {
                if !is_local {
                    self.apply_lasting_effects(who, key, &def.effects);
                }
                if let Some(slot) = self.st.controllers.slot(who) {
                    for &tag in &def.block {
                        let _ = self.add_block(slot, Block { tag, source });
                    }
                }
                self.apply_instant_effects(who, key, &def.on_activated, is_local);
            }
            CapabilityCall::Tick { .. } => self.apply_instant_effects(who, key, &def.on_tick, is_local),
            CapabilityCall::Deactivated => {
                self.remove_lasting_effects(who, key);
                if let Some(slot) = self.st.controllers.slot(who) {
                    self.remove_blocks_of(slot, source);
                }
                self.apply_instant_effects(who, key, &def.on_deactivated, is_local);
            }
        }
    }

    fn apply_instant_effects(&mut self, who: ControllerId, key: RecordKey, effects: &[EffectId], is_local: bool) {
        for &effect in effects.iter().filter(|_| !is_local) {
            self.apply_for(who, key, Spec::new(effect, who).from(who));
        }
    }

    pub(super) fn apply_lasting_effects(&mut self, who: ControllerId, key: RecordKey, effects: &[EffectId]) {
        for &effect in effects {
            let Some(applied) = self.apply_for(who, key, Spec::new(effect, who).from(who)) else { continue };
            let Some(slot) = self.st.controllers.slot(who) else { return };
            let row = self.row(slot);
            if row.find(applied).is_some() || row.find_queued(applied).is_some() {
                self.edit_record(slot, key, |record| record.effects.push((applied.origin_id, applied.ordinal)));
            }
        }
    }

    fn remove_lasting_effects(&mut self, who: ControllerId, key: RecordKey) {
        let Some(slot) = self.st.controllers.slot(who) else { return };
        let Some(record) = self.record_mut(slot, key) else { return };
        for (origin_id, ordinal) in std::mem::take(&mut record.effects).into_iter().rev() {
            // An effect that has already ended is skipped.
            let _ = self.remove(EffectKey { origin_id, target: who, ordinal }, None);
        }
    }
}
