//! Flow: the code that changes rows, in the order of data flow: op, apply, settle, react, advance. Only this module and
//! the task types (`task`) change rows.
//!
//! A [`Flow`] borrows a sim's parts for one op, or for the work that is due at one time, and stores the cause of the
//! resulting facts.

mod ability;
mod admit;
mod advance;
mod apply;
mod capability;
mod capture;
mod change;
mod combat;
mod cue;
mod define;
mod depend;
mod execute;
mod fast_path;
mod foreign;
mod grant;
mod hidden;
mod input;
mod lifecycle;
mod magnitude;
mod op;
mod pipeline;
mod plain;
mod plan;
mod policy;
mod react;
mod reload;
mod remove;
mod replay;
mod resource;
mod roll;
mod set;
mod set_grant;
mod settle;
mod side;
mod task;
mod undo;
mod uses;
mod view;
mod write;

pub use combat::ChargeView;
pub use input::{ActionSetState, Liveness};
pub use roll::SeedBlock;
pub use side::Home;
pub use uses::UsedAbility;

pub(crate) use ability::{CachedRefusal, ClientClock, EndHow, PredictedTargets, TriggerCause, distance};
pub(crate) use capability::{
    Blocker, CallBuffers, FrameTurn, LifeEvent, RequestCounts, is_interval, is_local_side, new_record, transition,
};
pub(crate) use capture::{Captured, CapturedAt, ForeignAction, FrameWork, Journal, JournalEvent};
pub(crate) use define::compile;
pub(crate) use fast_path::{FastApplication, FastCommit, TargetRow};
pub(crate) use foreign::TaskPlace;
pub(crate) use hidden::{HiddenRead, HiddenValues};
pub(crate) use magnitude::About;
pub(crate) use pipeline::{Sums, sums};
pub(crate) use react::{AbilityEvent, CatchUp, EventCutoff, Reaction, Recheck, RowEvent};
pub(crate) use reload::{Catalogue, Layouts, PreviousRules};
pub(crate) use remove::Trigger;
pub(crate) use replay::{Replay, ReplayRow, SourceRecord, Stop};
pub(crate) use roll::{Drawn, RollSource, RollStream, Streams};
pub(crate) use side::Locality;
pub(crate) use task::{FrameConfig, ListKind, Step, TaskAt, Wait, Waiting, WaitingTask, child_of_act, path_of_act};
pub(crate) use view::{NonFiniteConditions, View};

use crate::limits::Limits;
use crate::rules::{Layout, Rules};
use crate::state::{CauseLink, CauseWhat, Causes, Controllers, Definitions, EffectRef, Index, ModOp, Row, TagFlip};
use crate::{
    Cause, ControllerId, Diagnostic, DiagnosticKind, EffectId, EffectKey, Fact, FactKind, Facts, LifecycleStep, OpId,
    Refusal, SimTime, Span, TagId, Trace, TraceKind,
};
use std::collections::{BTreeMap, VecDeque};
use ugas_doc::Aggregation;

/// The state of a sim that a rollback of the whole sim restores.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) now: SimTime,
    pub(crate) seed: u64,
    pub(crate) next_id: u32,
    pub(crate) next_op: u64,
    pub(crate) controllers: Controllers,
    pub(crate) definitions: Definitions,
    /// The sum of row hashes, and the rows whose hash is outdated.
    pub(crate) hash_sum: u64,
    pub(crate) hash_dirty: Vec<ControllerId>,
    /// The random streams of the clients. Not hashed.
    pub(crate) streams: Streams,
    /// Which controllers this machine controls locally, where a host set it. Not hashed.
    pub(crate) locality: Locality,
    /// Rows whose hash changed, if the host requested the list. Not part of the state.
    pub(crate) changed: Option<Vec<ControllerId>>,
}

/// The output of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) facts: Facts,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) trace: Vec<Trace>,
    pub(crate) tracing: bool,
    /// Whether details of dropped facts are still stored.
    pub(crate) forgot: bool,
    /// Targets that predicted activations chose since the host last took the list.
    pub(crate) aims: Vec<crate::PredictedAim>,
}

/// Maximum number of chosen targets that wait to be sent.
const AIMS: usize = 256;

impl Log {
    /// Records a target that a predicted activation chose. A resimulation may run a tick again; its target is recorded
    /// once.
    pub(crate) fn report_aim(&mut self, aim: crate::PredictedAim) {
        let is_same = |a: &crate::PredictedAim| a.activation == aim.activation && a.tick == aim.tick;
        if aim.tick.is_some() && self.aims.iter().any(is_same) {
            return;
        }
        if self.aims.len() >= AIMS {
            self.aims.remove(0);
        }
        self.aims.push(aim);
    }

    /// Stores details for the next fact. Removes the details of dropped facts first, because the next fact is not in
    /// the list yet.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Span {
        if std::mem::take(&mut self.forgot) {
            self.facts.forget_details();
        }
        self.facts.keep(bytes)
    }
}

/// The application that causes a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Via {
    pub(crate) source: ControllerId,
    pub(crate) key: EffectKey,
    pub(crate) effect: EffectId,
}

impl Via {
    pub(crate) const NOTHING: Via = Via { source: ControllerId::NONE, key: EffectKey::NONE, effect: EffectId::NONE };
}

/// A pending write to the base value of one attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub(crate) row: u32,
    pub(crate) slot: u16,
    pub(crate) over: bool,
    pub(crate) start: f64,
    pub(crate) end: f64,
}

/// The value of an attribute before an application that settles several times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PreviousValue {
    pub(crate) row: u32,
    pub(crate) slot: u16,
    pub(crate) base: f64,
    pub(crate) current: f64,
}

/// Buffers that are empty between operations and keep their allocations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) dirty: Vec<(u32, u16)>,
    pub(crate) bits: Vec<u64>,
    pub(crate) writes: Vec<Write>,
    pub(crate) before: Vec<PreviousValue>,
    pub(crate) moved: Vec<(u32, u16, f64)>,
    pub(crate) flips: Vec<TagFlip>,
    pub(crate) units: Vec<f64>,
    pub(crate) captures: Vec<f64>,
    pub(crate) results: Vec<crate::rules::CalcResult>,
    pub(crate) reactions: VecDeque<Reaction>,
    pub(crate) rechecks: Vec<Recheck>,
    pub(crate) catch_ups: Vec<CatchUp>,
    pub(crate) row_events: Vec<(ControllerId, RowEvent, Cause, EventCutoff)>,
    pub(crate) reacted: u32,
    pub(crate) flipped: Vec<(ControllerId, u64, u32)>,
    pub(crate) origin_counts: BTreeMap<(u64, ControllerId), u32>,
    /// The combat results of the current application.
    pub(crate) combat_results: Vec<combat::CombatResult>,
    /// Targets that a predicting client chose.
    pub(crate) predicted_targets: PredictedTargets,
    /// The number of entries recorded in all journals.
    pub(crate) journal_stamp: u64,
    /// Memory for the calls of capabilities outside the ticks of a frame.
    pub(crate) capability_calls: CallBuffers,
    /// Memory for the ticks of capabilities.
    pub(crate) capability_ticks: CallBuffers,
    /// The time at which the current advance began. The frame of this time has passed.
    pub(crate) advanced_from: SimTime,
    /// The number of capabilities that the current advance evaluated.
    pub(crate) visited: u64,
    /// Rows with frame work that the current frame visits next.
    pub(crate) frame_rows: Vec<ControllerId>,
    /// Whether a row got frame work since `frame_rows` was filled.
    pub(crate) frames_grew: bool,
    /// Whether the host measures capabilities in this frame.
    pub(crate) measures: bool,
    /// The sets that capabilities of the current pass remove.
    pub(crate) leaving: Vec<u64>,
}

/// A sim's parts, borrowed for one op or for the work that is due at one time.
pub(crate) struct Flow<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) limits: &'a Limits,
    pub(crate) st: &'a mut State,
    pub(crate) ix: &'a mut Index,
    pub(crate) log: &'a mut Log,
    pub(crate) sc: &'a mut Scratch,
    pub(crate) causes: &'a mut Causes,
    pub(crate) journals: &'a mut BTreeMap<ControllerId, Journal>,
    /// The replay of some rows, if this flow is a replay. Actions on other rows are then suppressed, and values of other
    /// rows come from the journals.
    pub(crate) replay: Option<Replay<'a>>,
    pub(crate) cause: Cause,
    /// What the current draws belong to.
    pub(crate) roll: RollSource,
    pub(crate) depth: u32,
    pub(crate) work: FrameConfig,
    /// How long ago the op was requested. Cooldowns start at that time.
    pub(crate) back_dated_by: SimTime,
    /// Whether fast paths may be taken; see [`crate::Sim::fast_paths_open`].
    pub(crate) fast: bool,
    /// Conditions with a part that is not finite, reported at the end of the operation.
    pub(crate) non_finite: NonFiniteConditions,
    /// The last value that was read although the client does not have it.
    pub(crate) hidden_read: HiddenRead,
    /// The uses that drew since the last operation.
    pub(crate) drawn: Drawn,
    /// The frame work that is being done.
    pub(crate) turn: FrameTurn,
    /// The host, during an advance.
    pub(crate) host: Option<&'a mut dyn crate::Host>,
}

impl<'a> Flow<'a> {
    #[inline]
    pub(crate) fn slot(&self, who: ControllerId) -> Result<usize, Refusal> {
        self.st.controllers.slot(who).ok_or(Refusal::StaleHandle)
    }

    #[inline]
    pub(crate) fn row(&self, slot: usize) -> &Row {
        self.st.controllers.row(slot)
    }

    /// Returns a row for changes and marks its hash as outdated.
    #[inline]
    pub(crate) fn row_mut(&mut self, slot: usize) -> &mut Row {
        let row = self.st.controllers.row_mut(slot);
        row.changes = row.changes.wrapping_add(1).max(1);
        if !row.hash_dirty {
            row.hash_dirty = true;
            self.st.hash_dirty.push(row.id);
        }
        row
    }

    /// Marks the row as changed.
    #[inline]
    pub(crate) fn touch(&mut self, slot: usize) {
        self.row_mut(slot);
    }

    /// Returns whether a row has a tag or a descendant of it.
    #[inline]
    pub(crate) fn has(&self, slot: usize, tag: TagId) -> bool {
        self.row(slot).has(&self.rules.tags, tag)
    }

    pub(crate) fn layout(&self, slot: usize) -> &Layout {
        &self.ix.layouts[self.row(slot).layout as usize]
    }

    #[inline]
    pub(crate) fn def(&self, effect: EffectId) -> Option<EffectRef<'a>> {
        self.st.definitions.effect(self.rules, effect)
    }

    #[inline]
    pub(crate) fn fact(&mut self, who: ControllerId, via: Via, kind: FactKind) {
        if self.log.facts.list.len() >= self.limits.facts as usize {
            self.forget_facts();
        }
        let (at, root, link) = (self.st.now, self.cause.root, self.cause.link);
        let Via { source, key, effect } = via;
        self.log.facts.list.push(Fact { at, who, source, key, root, link, effect, kind });
    }

    /// Drops the older half of the facts and emits a diagnostic, if the host has not taken the facts for too long.
    #[cold]
    fn forget_facts(&mut self) {
        let half = self.log.facts.list.len() / 2;
        self.log.facts.list.drain(..half);
        self.log.forgot = true;
        self.diagnose(ControllerId::NONE, EffectId::NONE, DiagnosticKind::Limit);
    }

    #[cold]
    pub(crate) fn diagnose(&mut self, who: ControllerId, effect: EffectId, kind: DiagnosticKind) {
        // The newest diagnostics are kept, because they describe the current state.
        if self.log.diagnostics.len() >= self.limits.diagnostics as usize {
            let half = self.log.diagnostics.len() / 2;
            self.log.diagnostics.drain(..half);
        }
        self.log.diagnostics.push(Diagnostic { at: self.st.now, who, effect, cause: self.cause, kind });
    }

    #[inline]
    pub(crate) fn step(&mut self, who: ControllerId, step: LifecycleStep) {
        if self.log.tracing {
            self.trace(who, TraceKind::Lifecycle(step));
        }
    }

    #[inline]
    pub(crate) fn trace_refusal(&mut self, who: ControllerId, effect: EffectId, refusal: Refusal) {
        if self.log.tracing {
            self.trace(who, TraceKind::Refused { effect, refusal });
        }
    }

    #[cold]
    pub(crate) fn trace(&mut self, who: ControllerId, kind: TraceKind) {
        if self.log.trace.len() >= self.limits.facts as usize {
            let half = self.log.trace.len() / 2;
            self.log.trace.drain(..half);
        }
        self.log.trace.push(Trace { at: self.st.now, who, kind });
    }

    /// Sets `what` as the cause of the following changes. Returns the previous cause.
    #[inline]
    pub(crate) fn because(&mut self, what: CauseWhat, who: ControllerId, source: ControllerId) -> Cause {
        let (at, root) = (self.st.now, self.cause.root);
        let step = || CauseLink { what, who, source, at, root };
        let link = self.causes.push(self.limits.cause_links, self.cause.link, step);
        let cause = self.cause;
        self.cause.link = link;
        cause
    }

    /// Publishes the row's next due time to the agenda.
    #[inline]
    pub(crate) fn publish(&mut self, slot: usize) {
        let row = self.st.controllers.row_mut(slot);
        let next = match row.due.last() {
            Some(d) => (row.clock.due(d.at), d.phase()),
            None => (SimTime::NEVER, 0),
        };
        if next != (row.published, row.phase) {
            (row.published, row.phase) = next;
            if next.0 != SimTime::NEVER {
                let id = row.id;
                self.ix.agenda.push(next.0, next.1, id);
                if self.ix.agenda.len() > 1024 + self.st.controllers.len() * 3 / 2 {
                    self.renew_agenda();
                }
            }
        }
    }

    /// Rebuilds the agenda without outdated entries, which accumulate if rows change often.
    #[cold]
    fn renew_agenda(&mut self) {
        self.ix.agenda.drain();
        for row in self.st.controllers.iter() {
            if row.published != SimTime::NEVER {
                self.ix.agenda.push(row.published, row.phase, row.id);
            }
        }
        if self.ix.next_frame > self.st.now && self.ix.next_frame != SimTime::NEVER {
            self.ix.agenda.push(self.ix.next_frame, crate::state::Due::FRAME, ControllerId::NONE);
        }
        self.ix.agenda.trim();
    }

    /// Returns an Override's priority.
    pub(crate) fn priority(&self, row: &Row, seq: u64) -> i32 {
        let def = row.effect_at(seq).and_then(|i| self.def(row.effects[i].def));
        def.map_or(0, |d| d.priority)
    }

    /// Returns the sums of a slot's modifiers.
    #[inline]
    pub(crate) fn sums_of(&self, row: &Row, slot: usize, aggregation: Aggregation) -> Sums {
        if row.is_modded(slot) {
            sums(row.mods_of(slot), aggregation, |seq| self.priority(row, seq))
        } else {
            Sums::NONE
        }
    }
}

/// Multiplies a magnitude by the stacks, except for an Override. The result is clamped to finite numbers.
#[inline]
pub(crate) fn stacked(op: ModOp, unit: f64, stacks: u32) -> f64 {
    if op == ModOp::Override || stacks == 1 { unit } else { pipeline::held(unit * stacks as f64) }
}

/// Returns the origin id of an effect that another effect caused: a hash of the parent's key, the trigger, the
/// execution and the position in the list.
pub(crate) fn child_origin_id(parent: EffectKey, trigger: u64, execution: u32, position: usize) -> u64 {
    let words = [parent.origin_id, parent.ordinal as u64, trigger, execution as u64, position as u64];
    // The top bit distinguishes the origin id from the op ids of clients, because client numbers are below 32768.
    words.iter().fold(7, |h, &w| crate::rng::fold(h, w)) | 1 << 63
}

/// Returns the id of an op that the sim numbers itself.
pub(crate) fn server_op(counter: u64) -> OpId {
    OpId(counter & 0xffff_ffff_ffff)
}
