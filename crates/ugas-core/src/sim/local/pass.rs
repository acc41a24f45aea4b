//! The frame work of the local runner: the same life and the same order as in the row of a controller.

use super::{LocalRequest, LocalRunner, MAX_DIAGNOSTICS, is_own, local_now};
use crate::flow::{Home, LifeEvent, View, is_interval, is_local_side, transition};
use crate::rng::{DrawAt, fold};
use crate::rules::{CapabilityAction, CapabilityCall, CapabilityCx, CapabilityReads, Question};
use crate::sim::Sim;
use crate::state::{Block, CapabilityRecord, RecordKey, Stage};
use crate::{
    AttributeId, CapabilityId, CapabilityStep, Cause, ControllerId, CueType, Diagnostic, DiagnosticKind, EffectId,
    EffectKey, Fact, FactKind, FactPlace, LocalFact, Rate, SimTime, Span, TagId,
};
use ugas_doc::Side;

/// What a coded capability of the runner reads.
struct LocalReads<'v> {
    view: View<'v>,
    who: ControllerId,
    /// The slot of the owner; `None` if it has left the sim.
    slot: Option<usize>,
    record: &'v CapabilityRecord,
}

impl CapabilityReads for LocalReads<'_> {
    fn value(&self, who: ControllerId, attribute: AttributeId) -> Option<f64> {
        self.view.current_of(who, attribute)
    }

    fn has(&self, who: ControllerId, tag: TagId) -> bool {
        self.view.rules.tags.def(tag).is_some() && self.view.source_has(who, tag)
    }

    fn around(&self, radius: f64) -> Vec<ControllerId> {
        self.slot.map_or(Vec::new(), |slot| self.view.around(slot, radius))
    }

    /// The random numbers belong to this machine.
    fn first_draw(&self) -> DrawAt {
        let (record, now) = (self.record, self.view.st.now.0 as u64);
        DrawAt {
            seed: fold(fold(31, record.handle), now),
            known: true,
            is_use: false,
            sub: 0,
            target: self.who.0,
            origin_id: now,
            ordinal: record.position as u32,
            execution: record.acts,
            calculation: 0,
            site: record.class.0,
            draw: 0,
        }
    }
}

impl LocalReads<'_> {
    /// Returns the context of the capability. `acts` is an empty list for its requests.
    fn context<'r>(&'r self, acts: &'r mut Vec<CapabilityAction>) -> CapabilityCx<'r> {
        let LocalReads { view, who, record, .. } = *self;
        let now = view.st.controllers.get(who).map_or(view.st.now, |row| local_now(row, view.st.now));
        CapabilityCx { rules: view.rules, who, class: record.class, now, reads: self, draw: None, acts }
    }
}

impl LocalRunner {
    /// Runs one frame of a controller's capabilities.
    pub(super) fn run_frame(&mut self, sim: &Sim, who: ControllerId) {
        let (view, Ok(row)) = (sim.view(), sim.row(who)) else { return };
        if !row.clock.active() || row.clock.rate() == Rate(0) {
            return;
        }
        let mut keys = std::mem::take(&mut self.buffers.keys);
        keys.clear();
        let records = self.actors.get(&who).into_iter().flat_map(|actor| &actor.records);
        keys.extend(records.map(|local| local.record.key()));
        let mut leaving = Vec::new();
        for &key in &keys {
            self.evaluate(&view, who, key);
            leaving.append(&mut self.leaving);
        }
        self.buffers.keys = keys;
        for handle in leaving {
            // A set that two capabilities remove is removed once.
            let _ = self.remove_set(sim, who, handle);
        }
    }

    /// Asks one capability, and ticks it if it is active.
    fn evaluate(&mut self, view: &View<'_>, who: ControllerId, key: RecordKey) {
        let Some(row) = view.st.controllers.get(who) else { return };
        let Some(record) = self.record(who, key) else { return };
        match record.stage {
            Stage::Elsewhere => return,
            Stage::Waiting => return self.set_up(view, who, key),
            Stage::Inactive | Stage::Active => {}
        }
        if !record.enabled || !record.ticks {
            return;
        }
        let is_active = record.stage == Stage::Active;
        if self.is_blocked(view, who, record) {
            if is_active {
                self.live(view, who, key, LifeEvent::Deactivate);
            }
            return;
        }
        let now = local_now(row, view.st.now);
        let elapsed = now - record.last;
        if record.interval > SimTime::ZERO && elapsed < record.interval {
            return;
        }
        if let Some(record) = self.record_mut(who, key) {
            record.last = now;
        }
        let question = if is_active { Question::Deactivate } else { Question::Activate };
        let is_changed = self.ask(view, who, key, question);
        match (is_active, is_changed) {
            (true, true) => self.live(view, who, key, LifeEvent::Deactivate),
            (false, true) => self.live(view, who, key, LifeEvent::Activate),
            (true | false, false) => {}
        }
        let watches = |record: &CapabilityRecord| {
            view.rules.capability_code(record.class).is_some_and(|code| code.watch.is_some())
        };
        if is_active != is_changed && !self.record(who, key).is_some_and(watches) {
            self.call(view, who, key, CapabilityCall::Tick { elapsed });
        }
    }

    /// Sets a capability up as soon as its data components are registered, and decides whether it is active.
    pub(super) fn set_up(&mut self, view: &View<'_>, who: ControllerId, key: RecordKey) {
        let Some(slot) = view.st.controllers.slot(who) else { return };
        let Some(record) = self.record(who, key) else { return };
        if record.stage != Stage::Waiting || !view.has_data_components(slot, record.set) {
            return;
        }
        self.live(view, who, key, LifeEvent::Ready);
        let Some(record) = self.record(who, key) else { return };
        let is_blocked = record.ticks && self.is_blocked(view, who, record);
        if record.enabled && !is_blocked && !self.ask(view, who, key, Question::Deactivate) {
            self.live(view, who, key, LifeEvent::Activate);
        }
    }

    /// Ends a capability and removes its record. The sim reports the end of a life that it started.
    pub(super) fn end(&mut self, view: &View<'_>, who: ControllerId, key: RecordKey) {
        self.live(view, who, key, LifeEvent::Leave);
        if is_own(key) {
            self.emit(view.st.now, who, key, CapabilityStep::EndLife);
        }
        if let Some(actor) = self.actors.get_mut(&who) {
            actor.records.retain(|local| local.record.key() != key);
        }
    }

    /// Applies an event to a capability: runs the steps of the life table.
    pub(super) fn live(&mut self, view: &View<'_>, who: ControllerId, key: RecordKey, event: LifeEvent) {
        let Some(record) = self.record(who, key) else { return };
        let (next, steps) = transition(record.stage, event);
        for &step in steps {
            let call = match step {
                CapabilityStep::StartLife | CapabilityStep::EndLife => continue,
                CapabilityStep::Setup => (Stage::Inactive, CapabilityCall::Setup),
                CapabilityStep::Activated => (Stage::Active, CapabilityCall::Activated),
                CapabilityStep::Deactivated => (Stage::Inactive, CapabilityCall::Deactivated),
                CapabilityStep::EndCapability => (Stage::Inactive, CapabilityCall::End),
            };
            let now = view.st.controllers.get(who).map(|row| local_now(row, view.st.now));
            if let Some(record) = self.record_mut(who, key) {
                record.stage = call.0;
                if step == CapabilityStep::Setup {
                    record.last = now.unwrap_or_default();
                }
            }
            self.emit(view.st.now, who, key, step);
            self.call(view, who, key, call.1);
            if step == CapabilityStep::EndCapability {
                self.forget(who, key);
            }
        }
        if let (Some(stage), Some(record)) = (next, self.record_mut(who, key)) {
            record.stage = stage;
        }
    }

    /// Clears what a capability that no longer runs here kept.
    fn forget(&mut self, who: ControllerId, key: RecordKey) {
        let Some(actor) = self.actors.get_mut(&who) else { return };
        let source = crate::BlockSource::Capability { handle: key.handle, position: key.position };
        actor.blocks.retain(|block| block.source != source);
        if let Some(record) = self.record_mut(who, key) {
            record.state.clear();
        }
    }

    /// Returns the block of the runner that blocks a capability.
    pub(super) fn local_blocker(&self, view: &View<'_>, who: ControllerId, record: &CapabilityRecord) -> Option<Block> {
        let entry = view.rules.capability_entry(record.place())?;
        let hits = |block: &&Block| entry.tags.iter().any(|&tag| view.rules.tags.is_under(tag, block.tag));
        self.actors.get(&who)?.blocks.iter().find(hits).copied()
    }

    /// Returns whether a shared block, its `BlockedBy` query or a block of the runner blocks a capability.
    fn is_blocked(&self, view: &View<'_>, who: ControllerId, record: &CapabilityRecord) -> bool {
        let slot = view.st.controllers.slot(who);
        let is_shared = slot.is_some_and(|slot| view.blocker_of(slot, record).is_some());
        is_shared || self.local_blocker(view, who, record).is_some()
    }

    fn ask(&mut self, view: &View<'_>, who: ControllerId, key: RecordKey, question: Question) -> bool {
        let Some(slot) = view.st.controllers.slot(who) else { return question == Question::Deactivate };
        let Some(record) = self.record(who, key) else { return false };
        let class = record.class;
        let Some(code) = view.rules.capability_code(class) else {
            let Some(def) = view.rules.capability_def(class) else { return false };
            let is_active = record.stage == Stage::Active;
            return view.ask_document(slot, def, question, is_active);
        };
        let reads = LocalReads { view: *view, who, slot: Some(slot), record };
        let answer = code.code.ask(&record.state, question, &reads.context(&mut Vec::new()));
        if answer.is_none() {
            self.diagnose(view.st.now, who, DiagnosticKind::CapabilityState { class });
        }
        answer.unwrap_or(false)
    }

    /// Runs a step of a capability: calls its code, or executes its document.
    fn call(&mut self, view: &View<'_>, who: ControllerId, key: RecordKey, call: CapabilityCall) {
        let Some(class) = self.record(who, key).map(|record| record.class) else { return };
        let Some(code) = view.rules.capability_code(class) else {
            return self.run_document(view, who, key, call);
        };
        let mut state = std::mem::take(&mut self.buffers.state);
        let mut acts = std::mem::take(&mut self.buffers.acts);
        let Some(record) = self.record(who, key) else { return };
        // The code of a controller that has left the sim is called, but has nothing to read.
        let reads = LocalReads { view: *view, who, slot: view.st.controllers.slot(who), record };
        state.clear();
        let mut cx = reads.context(&mut acts);
        let called = code.code.step(&record.state, &mut state, call, &mut cx);
        let has_drawn = cx.draw.is_some();
        if called.is_none() {
            return self.diagnose(view.st.now, who, DiagnosticKind::CapabilityState { class });
        }
        if let Some(record) = self.record_mut(who, key) {
            std::mem::swap(&mut record.state, &mut state);
            record.acts = record.acts.wrapping_add(has_drawn as u32);
        }
        for act in acts.drain(..) {
            self.act(view, who, key, act);
        }
        (self.buffers.state, self.buffers.acts) = (state, acts);
    }

    /// Executes a step of a document: its blocks. Its effects would change shared state.
    fn run_document(&mut self, view: &View<'_>, who: ControllerId, key: RecordKey, call: CapabilityCall) {
        let Some(class) = self.record(who, key).map(|record| record.class) else { return };
        let Some(def) = view.rules.capability_def(class).cloned() else { return };
        match call {
            CapabilityCall::Activated => {
                let lists = [&def.effects, &def.on_activated, &def.on_deactivated, &def.on_tick];
                if lists.iter().any(|list| !list.is_empty()) {
                    self.refuse(view, who, key);
                }
                def.block.iter().for_each(|&tag| self.block(view, who, key, tag));
            }
            CapabilityCall::Deactivated => def.block.iter().for_each(|&tag| self.unblock(who, key, tag)),
            CapabilityCall::Setup | CapabilityCall::Tick { .. } | CapabilityCall::End => {}
        }
    }

    fn act(&mut self, view: &View<'_>, who: ControllerId, key: RecordKey, act: CapabilityAction) {
        match act {
            CapabilityAction::Apply(_) | CapabilityAction::Remove { .. } | CapabilityAction::Send { .. } => {
                self.refuse(view, who, key);
            }
            CapabilityAction::Cue(tag) => {
                if view.rules.tags.def(tag).is_some() {
                    let kind = FactKind::Cue { tag, cue: CueType::Execute, detail: Span::default() };
                    self.push_fact(fact(view.st.now, who, kind), FactPlace::Last);
                }
            }
            CapabilityAction::Block(tag) => self.block(view, who, key, tag),
            CapabilityAction::Unblock(tag) => self.unblock(who, key, tag),
            CapabilityAction::Enable { class, on } => {
                self.order(view, who, key, class, |record| record.enabled = on);
            }
            CapabilityAction::SetTicking { class, on } => {
                self.order(view, who, key, class, |record| record.ticks = on);
            }
            CapabilityAction::SetInterval { class, interval } => {
                let now = view.st.controllers.get(who).map_or(SimTime::ZERO, |row| local_now(row, view.st.now));
                if is_interval(interval) {
                    self.order(view, who, key, class, |record| (record.interval, record.last) = (interval, now));
                }
            }
            CapabilityAction::Activate { ability, target } => match view.is_local(who) {
                true => self.requests.push(LocalRequest { who, ability, target }),
                false => self.refuse(view, who, key),
            },
            CapabilityAction::RemoveSet => match is_own(key) {
                true => self.leaving.push(key.handle),
                false => self.refuse(view, who, key),
            },
        }
    }

    /// Switches the capabilities of a class that the runner runs. A shared capability of the class refuses the request.
    fn order(
        &mut self,
        view: &View<'_>,
        who: ControllerId,
        key: RecordKey,
        class: CapabilityId,
        change: impl Fn(&mut CapabilityRecord),
    ) {
        let shared = view.st.controllers.get(who).map(|row| &row.play().capabilities().records);
        if shared.is_some_and(|list| list.iter().any(|r| r.class == class && !is_local_side(r.side))) {
            return self.refuse(view, who, key);
        }
        self.records_of(who, class).for_each(change);
    }

    /// Reports a request that a local capability may not make. An `Always` capability of a remote actor makes the
    /// request on the server too, so it is muted here.
    fn refuse(&mut self, view: &View<'_>, who: ControllerId, key: RecordKey) {
        let Some(record) = self.record(who, key) else { return };
        let is_muted = record.side == Side::Always && view.home_of(who, Side::Always) == Home::Local;
        if !is_muted {
            let class = record.class;
            self.diagnose(view.st.now, who, DiagnosticKind::LocalCapabilityRefused { class });
        }
    }

    fn block(&mut self, view: &View<'_>, who: ControllerId, key: RecordKey, tag: TagId) {
        let source = crate::BlockSource::Capability { handle: key.handle, position: key.position };
        let most = view.limits.capabilities_per_controller as usize;
        let Some(actor) = self.actors.get_mut(&who).filter(|actor| actor.blocks.len() < most) else { return };
        let block = Block { tag, source };
        if view.rules.tags.def(tag).is_some()
            && let Err(at) = actor.blocks.binary_search(&block)
        {
            actor.blocks.insert(at, block);
        }
    }

    fn unblock(&mut self, who: ControllerId, key: RecordKey, tag: TagId) {
        let source = crate::BlockSource::Capability { handle: key.handle, position: key.position };
        if let Some(actor) = self.actors.get_mut(&who) {
            actor.blocks.retain(|block| *block != Block { tag, source });
        }
    }

    /// Emits the fact of a step.
    pub(super) fn emit(&mut self, at: SimTime, who: ControllerId, key: RecordKey, step: CapabilityStep) {
        let Some(record) = self.record(who, key) else { return };
        let kind = FactKind::Capability { class: record.class, set: record.set, step };
        let place = if is_own(key) { FactPlace::Last } else { self.place };
        self.push_fact(fact(at, who, kind), place);
    }

    fn push_fact(&mut self, fact: Fact, place: FactPlace) {
        self.facts.push(LocalFact { fact, place });
    }

    pub(super) fn diagnose(&mut self, at: SimTime, who: ControllerId, kind: DiagnosticKind) {
        let has_room = self.reported.len() < MAX_DIAGNOSTICS && self.diagnostics.len() < MAX_DIAGNOSTICS;
        if has_room && !self.reported.contains(&(who, kind)) {
            self.reported.push((who, kind));
            let (effect, cause) = (EffectId::NONE, Cause::default());
            self.diagnostics.push(Diagnostic { at, who, effect, cause, kind });
        }
    }
}

/// Returns a fact about a controller that no op caused.
fn fact(at: SimTime, who: ControllerId, kind: FactKind) -> Fact {
    let Cause { root, link } = Cause::default();
    Fact { at, who, source: who, key: EffectKey::NONE, root, link, effect: EffectId::NONE, kind }
}
