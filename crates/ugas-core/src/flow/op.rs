//! Runs an op: dispatches it to the function that implements it, and then runs the reactions.

use super::resource::ResourceModification;
use super::{Flow, RollSource};
use crate::state::CauseWhat;
use crate::{Cause, ControllerId, DefId, EffectKey, NameKind, Op, OpId, Outcome, Refusal, Spec};

/// How many rows are prefetched.
const PREFETCH: usize = 32;

impl Flow<'_> {
    /// Runs an op and its reactions.
    pub(crate) fn run(&mut self, id: OpId, op: &Op) -> Result<Outcome, Refusal> {
        let who = op.target();
        self.start(id, who);
        if !self.journals.is_empty() {
            self.journal_op(id, op);
        }
        let result = self.dispatch(op);
        self.react();
        result
    }

    /// Makes this op the cause of the following changes.
    #[inline]
    pub(crate) fn start(&mut self, id: OpId, who: ControllerId) {
        self.cause = Cause { root: id, link: 0 };
        self.set_roll(RollSource::of_op(id));
        self.depth = 0;
        self.because(CauseWhat::Op, who, ControllerId::NONE);
    }

    fn dispatch(&mut self, op: &Op) -> Result<Outcome, Refusal> {
        match op {
            Op::Spawn(spec) => self.spawn(spec).map(Outcome::Spawned),
            Op::SpawnMany { template, count } => {
                self.spawn_many(*template, *count).map(|first| Outcome::SpawnedMany(first, *count))
            }
            Op::Despawn { who } => self.despawn(*who).map(|_| Outcome::Done),
            Op::Apply(spec) => self.apply(spec, self.cause.root.0).map(Outcome::Applied),
            Op::ApplyToMany { spec, targets } => Ok(Outcome::AppliedMany(self.apply_to_many(spec, targets, |_| {}))),
            Op::ApplyAll { specs } => Ok(Outcome::AppliedMany(self.apply_all(specs, &mut |_| {}))),
            Op::Remove { key, stacks } => self.remove(*key, *stacks).map(|_| Outcome::Done),
            Op::RemoveMatching { who, filter } => {
                let target = self.slot(*who)?;
                self.check_tags(&filter.with_any_tag)?;
                Ok(Outcome::Matched(self.remove_matching(target, filter)))
            }
            Op::Change { key, change } => self.change(*key, *change).map(|_| Outcome::Done),
            Op::ChangeMatching { who, filter, change } => {
                let target = self.slot(*who)?;
                self.check_tags(&filter.with_any_tag)?;
                self.change_matching(target, filter, *change).map(Outcome::Matched)
            }
            Op::ModifyResource { who, attribute, by, source, tags, plain } => {
                let source = source.unwrap_or(ControllerId::NONE);
                let (who, attribute, by, plain) = (*who, *attribute, *by, *plain);
                let change = ResourceModification { who, attribute, by, source, tags, plain };
                self.modify_resource(change).map(Outcome::Applied)
            }
            Op::AddSet { who, set } => self.add_set(*who, *set).map(|_| Outcome::Done),
            Op::RemoveSet { who, set, force } => self.remove_set(*who, *set, *force).map(|_| Outcome::Done),
            Op::SetActive { who, active } => self.set_clock(*who, None, Some(*active)).map(|_| Outcome::Done),
            Op::SetRate { who, rate } => self.set_clock(*who, Some(*rate), None).map(|_| Outcome::Done),
            Op::Possess { who, avatar } => self.possess(*who, *avatar).map(|_| Outcome::Done),
            Op::Move { who, anchor } => self.move_to(*who, *anchor).map(|_| Outcome::Done),
            Op::Define(doc) => match self.define(doc) {
                Ok(id) => Ok(Outcome::Defined(id)),
                Err(_) => Err(Refusal::BadDefinition),
            },
            Op::Undefine(id) => self.undefine(*id).map(|_| Outcome::Done),
            Op::Grant { .. }
            | Op::Revoke { .. }
            | Op::GrantSet { .. }
            | Op::RevokeSet { .. }
            | Op::SetLevel { .. }
            | Op::SetParam { .. }
            | Op::Restrict { .. }
            | Op::Activate { .. }
            | Op::Cancel { .. }
            | Op::Interrupt { .. }
            | Op::End { .. }
            | Op::Commit { .. }
            | Op::Validate { .. }
            | Op::Mispredicted { .. }
            | Op::Aim { .. }
            | Op::Event(_)
            | Op::Press { .. }
            | Op::Release { .. }
            | Op::Axis { .. }
            | Op::LetGo { .. }
            | Op::Complete { .. }
            | Op::ApplyFromAbility { .. }
            | Op::Block { .. }
            | Op::Unblock { .. }
            | Op::Enable { .. }
            | Op::SetTick { .. } => self.finished_ability_op(op),
        }
    }

    /// Runs an op about abilities or capabilities, and ends the operation.
    fn finished_ability_op(&mut self, op: &Op) -> Result<Outcome, Refusal> {
        let result = self.ability_op(op);
        self.finish_operation();
        if let Some(target) = self.st.controllers.slot(op.target()) {
            self.publish(target);
        }
        result
    }

    pub(crate) fn check_tags(&self, tags: &[crate::TagId]) -> Result<(), Refusal> {
        match tags.iter().find(|t| self.rules.tags.def(**t).is_none()) {
            Some(t) => Err(Refusal::UnknownName { kind: NameKind::Tag, id: t.0 }),
            None => Ok(()),
        }
    }

    /// Applies one effect to many targets. Each application is accepted or refused separately.
    #[inline]
    pub(crate) fn apply_to_many(
        &mut self,
        spec: &Spec,
        targets: &[ControllerId],
        mut each: impl FnMut(Result<EffectKey, Refusal>),
    ) -> u32 {
        let origin_id = self.cause.root.0;
        let fast = self.fast_application(spec);
        let mut single = spec.clone();
        let mut applied = 0;
        for some in targets.chunks(PREFETCH) {
            self.prefetch(some);
            for &target in some {
                // Returns the key of the fast path immediately. If the key shared a variable with the slow path's
                // result, the processor would stall on a value that is written in parts and read as a whole.
                if let Some(key) = fast.as_ref().and_then(|f| self.apply_fast(f, target, origin_id)) {
                    applied += 1;
                    each(Ok(key));
                    continue;
                }
                single.target = target;
                let result = self.apply_slow(&single, origin_id);
                applied += result.is_ok() as u32;
                each(result);
            }
        }
        applied
    }

    /// Prefetches the next rows together, so that their cache misses overlap. Changes nothing.
    #[inline]
    fn prefetch(&self, targets: &[ControllerId]) {
        let mut seen = 0;
        for &who in targets {
            if let Some(found) = self.st.controllers.slot(who) {
                let row = self.row(found);
                seen ^= row.modded as u64 ^ row.attrs.first().map_or(0, |a| a.base.to_bits());
            }
        }
        std::hint::black_box(seen);
    }

    /// Applies many effects to one or more targets. Each application is accepted or refused separately.
    pub(crate) fn apply_all(&mut self, specs: &[Spec], each: &mut dyn FnMut(Result<EffectKey, Refusal>)) -> u32 {
        let origin_id = self.cause.root.0;
        let mut applied = 0;
        for spec in specs {
            let result = self.apply(spec, origin_id);
            applied += result.is_ok() as u32;
            each(result);
        }
        applied
    }

    fn undefine(&mut self, id: DefId) -> Result<(), Refusal> {
        let (DefId::Effect(crate::EffectId(number)) | DefId::Ability(crate::AbilityId(number))) = id;
        if number & crate::RUNTIME_BIT == 0 || self.st.definitions.get(number).is_none() {
            return Err(Refusal::UnknownName { kind: NameKind::Definition, id: number });
        }
        let used = self.st.controllers.iter().find(|r| r.uses(number));
        if let Some(row) = used {
            return Err(Refusal::InUse { who: row.id });
        }
        self.st.definitions.list[(number & !crate::RUNTIME_BIT) as usize] = None;
        Ok(())
    }
}

impl Op {
    /// Returns the controller that an op targets, or [`ControllerId::NONE`].
    pub fn target(&self) -> ControllerId {
        match self {
            Op::Apply(spec) => spec.target,
            Op::Remove { key, .. } | Op::Change { key, .. } => key.target,
            Op::Despawn { who }
            | Op::RemoveMatching { who, .. }
            | Op::ChangeMatching { who, .. }
            | Op::AddSet { who, .. }
            | Op::RemoveSet { who, .. }
            | Op::SetActive { who, .. }
            | Op::SetRate { who, .. }
            | Op::Possess { who, .. }
            | Op::Move { who, .. }
            | Op::Grant { who, .. }
            | Op::Revoke { who, .. }
            | Op::GrantSet { who, .. }
            | Op::RevokeSet { who, .. }
            | Op::SetLevel { who, .. }
            | Op::SetParam { who, .. }
            | Op::Restrict { who, .. }
            | Op::Activate { who, .. }
            | Op::Cancel { who, .. }
            | Op::Interrupt { who, .. }
            | Op::End { who, .. }
            | Op::Commit { who, .. }
            | Op::Validate { who, .. }
            | Op::Mispredicted { who, .. }
            | Op::Press { who, .. }
            | Op::Release { who, .. }
            | Op::Axis { who, .. }
            | Op::LetGo { who, .. }
            | Op::ApplyFromAbility { who, .. }
            | Op::Block { who, .. }
            | Op::Unblock { who, .. }
            | Op::Enable { who, .. }
            | Op::SetTick { who, .. }
            | Op::ModifyResource { who, .. } => *who,
            Op::Aim { key, .. } => key.who,
            Op::Event(event) => event.target,
            Op::Complete { key, .. } => key.who,
            Op::Spawn(_)
            | Op::SpawnMany { .. }
            | Op::ApplyToMany { .. }
            | Op::ApplyAll { .. }
            | Op::Define(_)
            | Op::Undefine(_) => ControllerId::NONE,
        }
    }
}
