//! Commit: the point of no return (ruling R-11). Everything is planned before the first write, so that a commit
//! happens whole or not at all.

use super::super::task::ListKind;
use super::super::{AbilityEvent, Flow, RowEvent, child_birth};
use super::EndHow;
use super::check::ActivationAttempt;
use crate::rules::{AbilityDef, ActivationCheck};
use crate::state::{EffectRef, ModOp, alert};
use crate::{AbilityState, ActivationKey, ControllerId, EffectId, EffectKey, NameKind, Refusal, SimTime, Spec, Which};

/// What a commit asks once more.
const AGAIN: [ActivationCheck; 5] = [
    ActivationCheck::Casting,
    ActivationCheck::GlobalCooldown,
    ActivationCheck::Charges,
    ActivationCheck::Cost,
    ActivationCheck::Cooldown,
];

/// In the birth of an effect that a commit applies.
const COMMIT: u64 = 32;

impl Flow<'_> {
    /// Commits an activation: global cooldown, charges, cost, cooldown, owned tags, cast. Nothing if that was done.
    pub(crate) fn commit(&mut self, slot: usize, seq: u64) -> Result<(), Refusal> {
        let row = self.row(slot);
        let Some(a) = row.play().activation(seq) else { return Err(Refusal::StaleHandle) };
        if a.committed || a.state == AbilityState::Ending {
            return Ok(());
        }
        let Some(def) = self.ability(a.ability) else {
            return Err(Refusal::UnknownName { kind: NameKind::Ability, id: a.ability.0 });
        };
        let at = row.grant(a.grant).ok_or(Refusal::NotGranted)?;
        let (key, started) = (a.key(row.id), a.state == AbilityState::Active);
        let t = ActivationAttempt { level: a.level, ..self.view().attempt(slot, at, &def, a.target) };
        self.view().refusal_among(&t, &AGAIN)?;
        let effects = [def.cost, def.cooldown, def.owned];
        let plain = |e: EffectId| self.def(e).is_some_and(|d| d.simple);
        let crowded = row.effects.len() + row.queue().len() + 2 > self.limits.effects_per_controller as usize
            || effects.into_iter().flatten().any(|e| self.def(e).is_some_and(|d| self.check_room(slot, &d).is_err()));
        // One of them may make the owner immune to the next.
        let guarded = row.immunities > 0;
        let cannot_fail = self.fast && !crowded && !guarded && effects.into_iter().flatten().all(plain);
        let saved = (!cannot_fail).then(|| self.save_row(slot));
        let charges = self.view().charges_of(slot, at).map(|c| c.cost);
        if let Some((group, length)) = self.gcd_of(slot, &def) {
            self.start_gcd(slot, group, length, seq);
        }
        if let Some(n) = charges {
            self.spend_charges(slot, at, n);
        }
        // What combat rules make of the cost is decided before the cost itself changes anything.
        for (position, effect) in effects.into_iter().enumerate() {
            let Some(effect) = effect else { continue };
            let birth = self.birth_of_part(key, position);
            let spec = self.view().own_spec(&t, effect);
            let applied = if position == 0 { self.spend(&t, &spec, birth) } else { self.apply(&spec, birth) };
            match applied {
                Ok(key) if position == 2 => {
                    let owned = self.row(slot).find(key).map_or(0, |i| self.row(slot).effects[i].seq());
                    if let Some(a) = self.row_mut(slot).play_mut().activation_mut(seq) {
                        a.owned = owned;
                    }
                }
                Ok(key) if position == 1 => self.back_date(slot, key),
                Ok(_) => {}
                Err(refusal) => {
                    self.roll_back(saved, slot);
                    return Err(refusal);
                }
            }
        }
        // The cost may have removed the effect that granted the ability.
        let Some(a) = self.row_mut(slot).play_mut().activation_mut(seq) else {
            self.row_mut(slot).trim();
            return Ok(());
        };
        a.committed = true;
        let ability = def.id;
        self.notify(slot, alert::ABILITY, || RowEvent::Ability { ability, key, news: AbilityEvent::Committed });
        self.cast_begin(slot, seq);
        if started && def.cast.is_some_and(|c| c.initial) {
            self.run_list(slot, seq, ListKind::Tick);
        }
        Ok(())
    }

    /// A cooldown counts from when it was asked for, also where that is heard of late.
    fn back_date(&mut self, slot: usize, key: EffectKey) {
        if self.back == SimTime::ZERO {
            return;
        }
        let Some(at) = self.row(slot).find(key) else { return };
        let earlier = self.back;
        let row = self.row_mut(slot);
        if row.effects[at].end == SimTime::NEVER || row.effects[at].periodic().is_some() {
            return;
        }
        let due = row.effects[at].due();
        due.into_iter().for_each(|d| row.unschedule(d));
        let e = &mut row.effects[at];
        (e.start, e.end) = (e.start - earlier, e.end - earlier);
        let due = e.due();
        due.into_iter().for_each(|d| row.schedule(d));
        self.publish(slot);
    }

    /// What a commit would be refused with now, as far as its checks say.
    pub(crate) fn may_commit(&self, slot: usize, seq: u64) -> Result<(), Refusal> {
        let row = self.row(slot);
        let Some(a) = row.play().activation(seq).filter(|a| a.state == AbilityState::Active) else {
            return Err(Refusal::StaleHandle);
        };
        if a.committed {
            return Ok(());
        }
        let Some(def) = self.ability(a.ability) else {
            return Err(Refusal::UnknownName { kind: NameKind::Ability, id: a.ability.0 });
        };
        let at = row.grant(a.grant).ok_or(Refusal::NotGranted)?;
        let t = ActivationAttempt { level: a.level, ..self.view().attempt(slot, at, &def, a.target) };
        self.view().refusal_among(&t, &AGAIN)
    }

    /// The birth of an effect that a commit applies: the first is the cost, then the cooldown, then the owned tags.
    #[inline]
    pub(super) fn birth_of_part(&self, key: ActivationKey, position: usize) -> u64 {
        if key.birth == self.cause.root.0 {
            return key.birth;
        }
        let parent = EffectKey { birth: key.birth, target: key.who, ordinal: key.ordinal };
        child_birth(parent, COMMIT, 0, position)
    }

    /// Applies the cost, its numbers as combat rules leave them.
    fn spend(&mut self, t: &ActivationAttempt<'_>, spec: &Spec, birth: u64) -> Result<EffectKey, Refusal> {
        let Some(def) = self.def(spec.effect) else {
            return Err(Refusal::UnknownName { kind: NameKind::Effect, id: spec.effect.0 });
        };
        if self.view().is_free_of_cost_rules(t) {
            return self.apply(spec, birth);
        }
        self.spend_ruled(&def, t, spec, birth)
    }

    fn spend_ruled(
        &mut self,
        def: &EffectRef<'_>,
        t: &ActivationAttempt<'_>,
        spec: &Spec,
        birth: u64,
    ) -> Result<EffectKey, Refusal> {
        let ordinal = self.number(t.slot, birth);
        let key = EffectKey { birth, target: spec.target, ordinal };
        let plan = self.capture_magnitudes(def, spec, t.slot, key, 1)?;
        let mut units = std::mem::take(&mut self.sc.units);
        for (unit, m) in units.iter_mut().zip(&def.modifiers) {
            if !unit.is_nan() {
                *unit = self.view().scaled_cost(t, ModOp::from(m.op), *unit);
            }
        }
        self.sc.units = units;
        self.apply_instant(def, spec, t.slot, &plan)?;
        Ok(key)
    }

    /// Commits each activation that is meant. One that is refused is no reason to leave the others; the first refusal
    /// is told.
    pub(crate) fn commit_op(&mut self, who: ControllerId, which: Which) -> Result<(), Refusal> {
        let slot = self.slot(who)?;
        let mut all = Ok(());
        for seq in self.running(slot, which)? {
            if self.row(slot).play().activation(seq).is_none_or(|a| a.state != AbilityState::Active) {
                continue;
            }
            all = all.and(self.commit_or_cancel(slot, seq));
        }
        all
    }

    /// A commit that fails ends the ability as cancelled; nothing was spent.
    pub(crate) fn commit_or_cancel(&mut self, slot: usize, seq: u64) -> Result<(), Refusal> {
        let result = self.commit(slot, seq);
        if let Err(refusal) = result {
            let who = self.row(slot).id;
            if let Some(ability) = self.row(slot).play().activation(seq).map(|a| a.ability)
                && self.log.tracing
            {
                self.trace(who, crate::TraceKind::AbilityRefused { ability, refusal });
            }
            self.finish(slot, seq, EndHow::Cancelled);
        }
        result
    }

    /// The global cooldown an ability starts.
    fn gcd_of(&self, slot: usize, def: &AbilityDef) -> Option<(crate::GroupId, SimTime)> {
        self.view().gcd_of(slot, def)
    }
}
