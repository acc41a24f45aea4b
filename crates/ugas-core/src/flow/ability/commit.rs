//! Commit: starts the global cooldown, spends charges, pays the cost, starts the cooldown, grants the owned tags and
//! starts the cast, in this order. If one part is refused, all parts are undone.

use super::super::task::ListKind;
use super::super::{AbilityEvent, Flow, RowEvent, child_origin_id};
use super::EndHow;
use super::check::ActivationAttempt;
use crate::rules::{AbilityDef, ActivationCheck};
use crate::state::{EffectRef, ModOp, alert};
use crate::{AbilityState, ActivationKey, ControllerId, EffectId, EffectKey, NameKind, Refusal, SimTime, Spec, Which};

/// The checks that a commit repeats.
const REPEATED_CHECKS: [ActivationCheck; 5] = [
    ActivationCheck::Casting,
    ActivationCheck::GlobalCooldown,
    ActivationCheck::Charges,
    ActivationCheck::Cost,
    ActivationCheck::Cooldown,
];

/// Marks the origin id of an effect that a commit applies.
const COMMIT: u64 = 32;

impl Flow<'_> {
    /// Commits an activation: global cooldown, charges, cost, cooldown, owned tags, cast. Does nothing if the
    /// activation is already committed.
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
        self.view().refusal_among(&t, &REPEATED_CHECKS)?;
        let effects = [def.cost, def.cooldown, def.owned];
        let plain = |e: EffectId| self.def(e).is_some_and(|d| d.simple);
        let crowded = row.effects.len() + row.queue().len() + 2 > self.limits.effects_per_controller as usize
            || effects.into_iter().flatten().any(|e| self.def(e).is_some_and(|d| self.check_room(slot, &d).is_err()));
        // One of these effects may make the owner immune to the next effect.
        let guarded = row.immunities > 0;
        let cannot_fail = self.fast && !crowded && !guarded && effects.into_iter().flatten().all(plain);
        let saved = (!cannot_fail).then(|| {
            let parts = effects.into_iter().flatten().filter_map(|e| self.def(e));
            self.save_before_removal(slot, &parts.flat_map(|d| d.remove_with_tags.to_vec()).collect::<Vec<_>>())
        });
        let charges = self.view().charges_of(slot, at).map(|c| c.cost);
        if let Some((group, length)) = self.gcd_of(slot, &def) {
            self.start_gcd(slot, group, length, seq);
        }
        if let Some(n) = charges {
            self.spend_charges(slot, at, n);
        }
        // Combat rules scale the cost before the cost changes anything.
        for (position, effect) in effects.into_iter().enumerate() {
            let Some(effect) = effect else { continue };
            let origin_id = self.part_origin_id(key, position);
            let spec = self.view().own_spec(&t, effect);
            let applied = if position == 0 { self.spend(&t, &spec, origin_id) } else { self.apply(&spec, origin_id) };
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
        self.notify(slot, alert::ABILITY, || RowEvent::Ability { ability, key, change: AbilityEvent::Committed });
        self.cast_begin(slot, seq);
        if started && def.cast.is_some_and(|c| c.initial) {
            self.run_list(slot, seq, ListKind::Tick);
        }
        Ok(())
    }

    /// Moves the start of a cooldown back to the time of the request, if the op arrived late.
    fn back_date(&mut self, slot: usize, key: EffectKey) {
        if self.back_dated_by == SimTime::ZERO {
            return;
        }
        let Some(at) = self.row(slot).find(key) else { return };
        let earlier = self.back_dated_by;
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

    /// Checks whether a commit would be refused now.
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
        self.view().refusal_among(&t, &REPEATED_CHECKS)
    }

    /// Returns the origin id of an effect that a commit applies. Position 0 is the cost, 1 the cooldown, 2 the owned
    /// tags.
    #[inline]
    pub(super) fn part_origin_id(&self, key: ActivationKey, position: usize) -> u64 {
        if key.origin_id == self.cause.root.0 {
            return key.origin_id;
        }
        let parent = EffectKey { origin_id: key.origin_id, target: key.who, ordinal: key.ordinal };
        child_origin_id(parent, COMMIT, 0, position)
    }

    /// Applies the cost, scaled by combat rules.
    fn spend(&mut self, t: &ActivationAttempt<'_>, spec: &Spec, origin_id: u64) -> Result<EffectKey, Refusal> {
        let Some(def) = self.def(spec.effect) else {
            return Err(Refusal::UnknownName { kind: NameKind::Effect, id: spec.effect.0 });
        };
        if self.view().is_free_of_cost_rules(t) {
            return self.apply(spec, origin_id);
        }
        self.spend_ruled(&def, t, spec, origin_id)
    }

    fn spend_ruled(
        &mut self,
        def: &EffectRef<'_>,
        t: &ActivationAttempt<'_>,
        spec: &Spec,
        origin_id: u64,
    ) -> Result<EffectKey, Refusal> {
        let ordinal = self.number(t.slot, origin_id);
        let key = EffectKey { origin_id, target: spec.target, ordinal };
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

    /// Commits each selected activation. If one is refused, the others are still committed. Returns the first refusal.
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

    /// Commits an activation. If the commit is refused, the ability is cancelled and nothing is spent.
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

    /// Returns the global cooldown an ability starts.
    fn gcd_of(&self, slot: usize, def: &AbilityDef) -> Option<(crate::GroupId, SimTime)> {
        self.view().gcd_of(slot, def)
    }
}
