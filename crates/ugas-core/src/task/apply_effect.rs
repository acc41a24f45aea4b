//! ApplyEffectToOwner, ApplyEffectToTarget and ApplyEffectToActorsInRadius: apply an effect to the owner, to the
//! targets or to the controllers within a radius.

use super::{TargetUse, TaskReach, TaskType};
use crate::flow::{Flow, ForeignAction, Step, TaskAt, TaskPlace, Via, child_of_act, path_of_act};
use crate::rules::{EventTo, Fields, Num, TaskCategory};
use crate::{ControllerId, DiagnosticKind, EffectId, EffectKey, FactKind, KeyId, Spec, TagId};

/// An effect and its application parameters.
#[derive(Clone, Debug, PartialEq)]
struct ApplyDef {
    effect: EffectId,
    /// The level of the application. Default: the activation's level.
    level: Option<Num>,
    stacks: Option<Num>,
    /// The duration in seconds, which replaces the effect's own duration.
    duration: Option<Num>,
    by_caller: Box<[(KeyId, Num)]>,
}

impl ApplyDef {
    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<ApplyDef> {
        let effect = f.need_effect("EffectClass");
        let (level, stacks, duration) = (f.num("Level"), f.num("Stacks"), f.time("Duration"));
        let by_caller = f.by_caller("SetByCaller");
        Some(ApplyDef { effect: effect?, level, stacks, duration, by_caller })
    }

    /// Applies the effect to a target. A refusal is traced, and the list continues.
    fn apply(&self, flow: &mut Flow<'_>, at: TaskAt<'_>, target: ControllerId) {
        let (slot, of) = (at.slot, at.thread.of);
        let who = flow.row(slot).id;
        let Some(a) = flow.row_mut(slot).play_mut().activation_mut(of) else { return };
        let path = path_of_act(a, who, at.thread.pc);
        let origin_id = child_of_act(a, who, at.thread.pc);
        let (ability, level, hit) = (a.ability, a.level, a.hit.clone());
        // In a replay, actions on other rows are skipped: they have already happened.
        if flow.skips_action_on(target) {
            return;
        }
        let spec = Spec::new(self.effect, target).from(who).level(level).ability(ability);
        let (mut spec, hidden) = flow.watch_hidden(|flow| self.evaluate(flow, at, spec));
        if hidden.is_some() {
            // A number reads a value that this client does not have. The server applies the effect.
            return;
        }
        if let Some(hit) = hit {
            spec = spec.hit(*hit);
        }
        let roll = flow.enter_roll(path);
        flow.journal_foreign_action(who, target, || ForeignAction::Apply(spec.clone(), origin_id));
        let _ = flow.apply(&spec, origin_id);
        flow.roll = roll;
    }

    /// Evaluates the numbers of the application.
    fn evaluate(&self, flow: &Flow<'_>, at: TaskAt<'_>, mut spec: Spec) -> Spec {
        let (slot, of, target) = (at.slot, at.thread.of, spec.target);
        let whole = |v: f64| v.round().clamp(1.0, u32::MAX as f64) as u32;
        if let Some(level) = self.level.as_ref().and_then(|n| flow.value_for(slot, of, n, Some(target))) {
            spec.level = whole(level);
        }
        if let Some(stacks) = self.stacks.as_ref().and_then(|n| flow.value_for(slot, of, n, Some(target))) {
            spec.stacks = whole(stacks);
        }
        if let Some(duration) = self.duration.as_ref().and_then(|n| flow.length_of(slot, of, n)) {
            spec = spec.lasting(duration);
        }
        for (key, num) in &self.by_caller {
            // A value that cannot be read is left out; the effect then handles a missing set-by-caller value.
            if let Some(value) = flow.value_for(slot, of, num, Some(target)) {
                spec.put(*key, value);
            }
        }
        spec
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApplyEffectToOwner(ApplyDef);

impl TaskType for ApplyEffectToOwner {
    const CATEGORY: TaskCategory = TaskCategory::Action;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        ApplyDef::parse(f).map(Self)
    }

    fn reach(&self) -> TaskReach {
        TaskReach::AppliesToOwner(self.0.effect)
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        self.0.apply(flow, at, flow.row(at.slot).id);
        Step::Next
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApplyEffectToTarget(ApplyDef);

impl TaskType for ApplyEffectToTarget {
    const CATEGORY: TaskCategory = TaskCategory::Action;
    const TARGET_USE: TargetUse = TargetUse::ActsOn;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        ApplyDef::parse(f).map(Self)
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let targets = flow.resolve_targets(at.slot, at.thread.of, EventTo::Targets);
        flow.with_targets(targets.len(), |flow| {
            targets.iter().for_each(|&target| self.0.apply(flow, at, target));
        });
        Step::Next
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApplyEffectToActorsInRadius {
    apply: ApplyDef,
    radius: Num,
    ignore: Box<[TagId]>,
    max: Option<u32>,
}

impl TaskType for ApplyEffectToActorsInRadius {
    const CATEGORY: TaskCategory = TaskCategory::Action;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let (apply, radius) = (ApplyDef::parse(f), f.need_num("Radius"));
        let (ignore, max) = (f.tags("IgnoreTargetsWithTag"), f.count("MaxTargets"));
        Some(Self { apply: apply?, radius: radius?, ignore, max })
    }

    /// Applies the effect to every controller in the radius, the nearest first.
    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let (slot, effect) = (at.slot, self.apply.effect);
        let who = flow.row(slot).id;
        if flow.row(slot).side().anchor.is_none() {
            flow.diagnose(who, effect, DiagnosticKind::MissingTarget);
            return Step::Next;
        }
        let Some(radius) = flow.value_of(slot, at.thread.of, &self.radius) else { return Step::Next };
        let mut left = self.max.unwrap_or(u32::MAX);
        let place = TaskPlace { ability: at.ability.id, pc: at.thread.pc };
        let targets = flow.search(slot, place, radius, &self.ignore);
        flow.with_targets(targets.len(), |flow| {
            for &found in &targets {
                if left == 0 {
                    break;
                }
                let target = found.who;
                let is_there = found.is_recorded || flow.st.controllers.slot(target).is_some();
                if is_there && !flow.may_choose(found, &self.ignore) {
                    let via = Via { source: who, key: EffectKey::NONE, effect };
                    if flow.replay.is_none() {
                        flow.fact(target, via, FactKind::Immune { blocker: EffectKey::NONE, by: EffectId::NONE });
                    }
                    continue;
                }
                if !is_there {
                    continue;
                }
                left -= 1;
                self.apply.apply(flow, at, target);
            }
        });
        Step::Next
    }
}
