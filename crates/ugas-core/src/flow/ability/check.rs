//! The checks of an activation, as one array in the order in which they are evaluated. `activate` stops at the first
//! failed check, and `why_not` evaluates all checks. The castable status caches the checks that depend only on the row.

use super::super::View;
use super::reads::AttemptReads;
use crate::rules::{AbilityDef, AbilityHookCx, ActivationCheck, RuleOn};
use crate::state::{Activation, Grant};
use crate::{
    AbilityState, ActorId, AttributeId, ControllerId, EffectId, LimitKind, Reason, Refusal, Restriction, SimTime,
    TagId, Target,
};
use ugas_doc::GroupPolicy;

/// An attempted activation: controller, grant and target.
#[derive(Clone, Copy)]
pub(crate) struct ActivationAttempt<'t> {
    pub(crate) slot: usize,
    /// Index of the grant in its row.
    pub(crate) grant: usize,
    pub(crate) def: &'t AbilityDef,
    pub(crate) level: u32,
    pub(crate) target: Target,
    /// The controller that caused the attempt: the instigator of a trigger event, otherwise the owner.
    pub(crate) source: ControllerId,
    /// The maximum distance to the target.
    pub(crate) range: Option<f64>,
    /// Bits of checks that are skipped.
    pub(crate) skip: u32,
}

/// A failed check: the refusal, and the local time at which the check passes without further changes, or
/// [`SimTime::NEVER`].
pub(crate) type FailedCheck = (Refusal, SimTime);
type CheckFn = fn(&View<'_>, &ActivationAttempt<'_>) -> Option<FailedCheck>;

const CHECKS: [(ActivationCheck, CheckFn); 21] = [
    (ActivationCheck::Inactive, |v, t| forever(!v.row(t.slot).clock.active(), Refusal::Inactive)),
    (ActivationCheck::NotInitialized, |v, t| {
        forever(t.def.avatar && v.row(t.slot).avatar() == ActorId::NONE, Refusal::NotInitialized)
    }),
    (ActivationCheck::AlreadyActive, already_active),
    (ActivationCheck::Dead, dead),
    (ActivationCheck::RequiredTags, |v, t| {
        let missing = t.def.required.iter().find(|&&tag| !v.has(t.slot, tag))?;
        Some((Refusal::RequiredTags { missing: *missing }, SimTime::NEVER))
    }),
    (ActivationCheck::BlockedTags, |v, t| {
        let found = t.def.blocked.iter().find(|&&tag| v.has(t.slot, tag))?;
        Some((Refusal::BlockedTags { found: *found }, v.tags_end(t.slot, &t.def.blocked)))
    }),
    (ActivationCheck::BlockedByTags, |v, t| {
        let found = t.def.blocked_by.iter().find(|&&tag| v.has(t.slot, tag))?;
        Some((Refusal::BlockedByTags { found: *found }, v.tags_end(t.slot, &t.def.blocked_by)))
    }),
    (ActivationCheck::BlockedByAbility, blocked_by_ability),
    (ActivationCheck::SourceTags, |v, t| {
        let tag = t.def.source_required.iter().find(|&&tag| !v.source_has(t.source, tag))?;
        Some((Refusal::SourceTags { tag: *tag }, SimTime::NEVER))
    }),
    (ActivationCheck::TargetTags, target_tags),
    (ActivationCheck::Group, group),
    (ActivationCheck::Query, |v, t| {
        let tags = &v.row(t.slot).tags;
        let holds = |q: &crate::TagQuery| q.eval(&|tag| v.has(t.slot, tag), &|tag| tags.count(&v.rules.tags, tag) > 0);
        forever(t.def.query.as_ref().is_some_and(|q| !holds(q)), Refusal::Query)
    }),
    (ActivationCheck::Condition, condition),
    (ActivationCheck::Restricted, |v, t| {
        if v.grant(t).more.as_deref().is_some_and(|m| !m.restrictions.is_empty()) {
            return forever(true, Refusal::Restricted { by: Restriction::Grant });
        }
        let by = Restriction::CombatRule;
        forever(v.restricted(t.slot, RuleOn::AbilityUse, Some(t.def), None), Refusal::Restricted { by })
    }),
    (ActivationCheck::Casting, |v, t| {
        let cast = v.row(t.slot).play().cast.as_deref()?;
        let end = cast.end();
        Some((Refusal::Casting { left: v.left(t.slot, end) }, end))
    }),
    (ActivationCheck::GlobalCooldown, |v, t| {
        let (group, _) = t.def.gcd?;
        let left = v.gcd_left(t.slot, group)?;
        Some((Refusal::GlobalCooldown { left }, v.local(t.slot) + left))
    }),
    (ActivationCheck::Charges, |v, t| {
        let c = v.charges_of(t.slot, t.grant)?;
        let clears_at = v.charged_in(t.slot, t.def, &c).map_or(SimTime::NEVER, |wait| v.local(t.slot) + wait);
        let left = c.left.unwrap_or(SimTime::NEVER);
        (c.have < c.cost).then_some((Refusal::Charges { have: c.have, need: c.cost, left }, clears_at))
    }),
    (ActivationCheck::Cost, |v, t| {
        v.check_hidden_reads(t).and_then(|()| v.afford(t)).err().filter(is_known).map(|r| (r, SimTime::NEVER))
    }),
    (ActivationCheck::Cooldown, |v, t| v.cooled(t).err().filter(|(refusal, _)| is_known(refusal))),
    (ActivationCheck::NoTarget, no_target),
    (ActivationCheck::OutOfRange, |v, t| {
        let max = t.range?;
        let distance = v.distance_to(t.slot, t.target)?;
        (distance > max).then_some((Refusal::OutOfRange { distance, max }, SimTime::NEVER))
    }),
];

// A check's bit is its position in the order.
const _: () = {
    let mut place = 0;
    while place < CHECKS.len() {
        assert!(CHECKS[place].0 as usize == place);
        place += 1;
    }
};

/// Checks of the target. They are never part of a status.
pub(super) const OF_TARGET: u32 =
    ActivationCheck::TargetTags.bit() | ActivationCheck::NoTarget.bit() | ActivationCheck::OutOfRange.bit();

/// Checks that read only running activations, casts, cooldowns and charges.
const OF_PLAY: u32 = ActivationCheck::AlreadyActive.bit()
    | ActivationCheck::BlockedByAbility.bit()
    | ActivationCheck::Group.bit()
    | ActivationCheck::Casting.bit()
    | ActivationCheck::GlobalCooldown.bit();

/// Returns whether a refusal is certain. A client cannot check a value that it does not have; the server decides.
fn is_known(refusal: &Refusal) -> bool {
    !matches!(refusal, Refusal::NotReplicated { .. })
}

fn forever(failed: bool, refusal: Refusal) -> Option<FailedCheck> {
    failed.then_some((refusal, SimTime::NEVER))
}

fn already_active(v: &View<'_>, t: &ActivationAttempt<'_>) -> Option<FailedCheck> {
    let row = v.row(t.slot);
    let id = row.grants[t.grant].id;
    let mine = || row.play().activations.iter().filter(|a| a.grant == id);
    if mine().any(|a| a.state == AbilityState::PendingConfirmation) {
        return Some((Refusal::Pending, SimTime::NEVER));
    }
    let running = mine().next().filter(|_| !t.def.multiple && !t.def.retrigger)?;
    Some((Refusal::AlreadyActive { by: running.key(row.id) }, SimTime::NEVER))
}

fn dead(v: &View<'_>, t: &ActivationAttempt<'_>) -> Option<FailedCheck> {
    if t.def.dead {
        return None;
    }
    let (attrs, layout) = (&v.row(t.slot).attrs, v.layout(t.slot));
    let &zero = layout.deaths.iter().find(|&&slot| attrs[slot as usize].current <= 0.0)?;
    Some((Refusal::Dead { attribute: layout.slots[zero as usize].attribute }, SimTime::NEVER))
}

/// Iterates over the activations of other grants.
fn others<'v>(v: &View<'v>, t: &ActivationAttempt<'_>) -> impl Iterator<Item = &'v Activation> {
    let row = v.row(t.slot);
    let id = row.grants[t.grant].id;
    row.play().activations.iter().filter(move |a| a.grant != id && a.state != AbilityState::PendingConfirmation)
}

fn blocked_by_ability(v: &View<'_>, t: &ActivationAttempt<'_>) -> Option<FailedCheck> {
    let hit =
        |blocks: &[TagId]| t.def.tags.iter().any(|&mine| blocks.iter().any(|&of| v.rules.tags.is_under(mine, of)));
    let by = others(v, t).find(|a| v.ability(a.ability).is_some_and(|d| hit(&d.blocks)))?;
    Some((Refusal::BlockedByAbility { by: by.ability }, SimTime::NEVER))
}

fn target_tags(v: &View<'_>, t: &ActivationAttempt<'_>) -> Option<FailedCheck> {
    let Target::Controller(target) = t.target else { return None };
    let tags = v.tags_of(target)?;
    let has = |tag: TagId| tags.has(&v.rules.tags, tag);
    let missing = t.def.target_required.iter().find(|&&tag| !has(tag));
    let tag = missing.or_else(|| t.def.target_blocked.iter().find(|&&tag| has(tag)))?;
    Some((Refusal::TargetTags { tag: *tag }, SimTime::NEVER))
}

fn group(v: &View<'_>, t: &ActivationAttempt<'_>) -> Option<FailedCheck> {
    let (mine, policy) = t.def.group?;
    if policy == GroupPolicy::Independent {
        return None;
    }
    let exclusive =
        |a: &&Activation| v.ability(a.ability).is_some_and(|d| d.group == Some((mine, GroupPolicy::Exclusive)));
    let by = others(v, t).find(exclusive)?;
    Some((Refusal::Group { by: by.ability }, SimTime::NEVER))
}

fn condition(v: &View<'_>, t: &ActivationAttempt<'_>) -> Option<FailedCheck> {
    // The server decides about a condition that the client cannot evaluate.
    if let Some(expr) = &t.def.condition
        && v.check_hidden_reads(t).is_ok()
        && !v.holds(expr, &mut AttemptReads { view: *v, of: *t }, v.row(t.slot).id, EffectId::NONE)
    {
        return Some((Refusal::Condition, SimTime::NEVER));
    }
    let hook = t.def.hook?;
    let row = v.row(t.slot);
    let target = match t.target {
        Target::Controller(c) => c,
        Target::None | Target::Point(_) => ControllerId::NONE,
    };
    let cx = AbilityHookCx {
        rules: v.rules,
        who: row.id,
        ability: t.def.id,
        level: t.level,
        target,
        values: &|w, a| v.current_of(w, a),
        tags: &|w, tag| v.source_has(w, tag),
        params: &|name| v.param_of(t.slot, t.grant, name),
    };
    let holds = v.rules.hooks.activations.get(&hook).is_some_and(|h| (h.run)(&cx));
    forever(!holds, Refusal::Condition)
}

fn no_target(v: &View<'_>, t: &ActivationAttempt<'_>) -> Option<FailedCheck> {
    let there = match t.target {
        Target::Controller(c) => v.exists(c) && !(t.def.needs_living_target() && v.is_dead(c)),
        Target::None | Target::Point(_) => !t.def.flags.needs_target,
    };
    let far = t.range.is_some() && t.target != Target::None;
    forever(!there || far && v.distance_to(t.slot, t.target).is_none(), Refusal::NoTarget)
}

/// Returns the distance between two positions.
pub(crate) fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| (a[i] - b[i]) * (a[i] - b[i])).sum::<f64>().sqrt()
}

impl<'a> View<'a> {
    pub(crate) fn grant(&self, t: &ActivationAttempt<'_>) -> &'a Grant {
        &self.row(t.slot).grants[t.grant]
    }

    /// Returns the row's local time.
    pub(crate) fn local(&self, slot: usize) -> SimTime {
        self.row(slot).clock.local(self.st.now)
    }

    /// Returns the duration from now until a local time.
    pub(crate) fn left(&self, slot: usize, end: SimTime) -> SimTime {
        self.row(slot).clock.left(self.st.now, end)
    }

    /// Returns the distance from the owner's anchor to the target, or `None` if one of them has no position.
    pub(crate) fn distance_to(&self, slot: usize, target: Target) -> Option<f64> {
        let from = self.row(slot).side().anchor?.position;
        let to = match target {
            Target::None => return None,
            Target::Point(p) => p,
            Target::Controller(c) => self.position_of(c)?,
        };
        Some(distance(from, to))
    }

    /// Returns the distance between the anchors of two controllers, or `None` if one of them has no position.
    pub(crate) fn distance_between(&self, a: ControllerId, b: ControllerId) -> Option<f64> {
        Some(distance(self.position_of(a)?, self.position_of(b)?))
    }

    /// Returns whether an attribute that marks death is at or below zero.
    pub(crate) fn is_dead(&self, who: ControllerId) -> bool {
        if let Some(record) = self.recorded(who) {
            return record.known().is_some_and(|known| known.is_dead);
        }
        let Some(row) = self.st.controllers.get(who) else { return false };
        let layout = &self.ix.layouts[row.layout as usize];
        let attribute = |&slot: &u16| layout.slots[slot as usize].attribute;
        let is_known = |a: &AttributeId| !self.ix.hidden.hides(who, *a);
        let mut deaths = layout.deaths.iter().map(attribute).filter(is_known);
        deaths.any(|a| self.current_of(who, a).is_some_and(|v| v <= 0.0))
    }

    /// Creates an attempt by the owner itself.
    pub(crate) fn attempt<'t>(
        &self,
        slot: usize,
        grant: usize,
        def: &'t AbilityDef,
        target: Target,
    ) -> ActivationAttempt<'t> {
        let row = self.row(slot);
        let (level, range) = (row.grants[grant].level(), def.start_range());
        ActivationAttempt { slot, grant, def, level, target, source: row.id, range, skip: 0 }
    }

    /// Returns the bits of the checks that depend only on the row and the rules. The check for a restriction by a
    /// combat rule is included, because such a rule has no condition. The rule depends only on the effects of the row,
    /// and every change of these effects changes the row's stamp.
    pub(crate) fn cached_checks(&self, def: &AbilityDef) -> u32 {
        let mut bits = !OF_TARGET;
        if def.flags.foreign_condition || def.flags.foreign_hook {
            bits &= !ActivationCheck::Condition.bit();
        }
        // Host code may read anything, so its checks are not cached.
        if !self.rules.hooks.before.is_empty() || def.flags.foreign_commit {
            bits &= !(ActivationCheck::Cost.bit() | ActivationCheck::Cooldown.bit());
        }
        bits
    }

    /// Returns the bits of the checks to evaluate, and the bits of the checks that the grant's status already contains.
    #[inline]
    fn asked(&self, t: &ActivationAttempt<'_>) -> (u32, u32) {
        let (row, grant) = (self.row(t.slot), self.grant(t));
        let current = grant.status().seen == row.stamp() && grant.level() == t.level;
        let mut known = if current { self.cached_checks(t.def) } else { 0 };
        if t.source != row.id {
            known &= !ActivationCheck::SourceTags.bit();
        }
        // Checks that the status shows as passing are skipped.
        let open = match t.target {
            Target::None => self.asked_without_target(t.def),
            Target::Controller(_) | Target::Point(_) => t.def.flags.checks,
        };
        (open & !t.skip & !(known & !grant.status().fails), known)
    }

    /// Returns the bits of the checks that can fail without a target. Of the target checks, only `NoTarget` can fail.
    #[inline]
    pub(super) fn asked_without_target(&self, def: &AbilityDef) -> u32 {
        def.flags.checks
            & if def.flags.needs_target { !OF_TARGET | ActivationCheck::NoTarget.bit() } else { !OF_TARGET }
    }

    /// Returns the first failed check.
    pub(crate) fn first_refusal(&self, t: &ActivationAttempt<'_>) -> Result<(), Refusal> {
        let (mut asked, known) = self.asked(t);
        if asked & known & asked.wrapping_neg() != 0
            && let Some(refusal) = self.remembered(t, asked.trailing_zeros())
        {
            return Err(refusal);
        }
        while asked != 0 {
            if let Some((refusal, _)) = CHECKS[asked.trailing_zeros() as usize].1(self, t) {
                return Err(refusal);
            }
            asked &= asked - 1;
        }
        Ok(())
    }

    /// Checks the limit of activations on the row, after all other checks.
    pub(crate) fn room_to_run(&self, slot: usize) -> Result<(), Refusal> {
        let max = self.limits.activations_per_controller;
        let full = self.row(slot).play().activations.len() >= max as usize;
        if full { Err(Refusal::Limit { what: LimitKind::Activations, max, link: self.link }) } else { Ok(()) }
    }

    /// Evaluates only the wanted checks, in order.
    pub(crate) fn refusal_among(&self, t: &ActivationAttempt<'_>, wanted: &[ActivationCheck]) -> Result<(), Refusal> {
        let mask = wanted.iter().fold(0, |bits, c| bits | c.bit());
        self.refusal_in(t, mask)
    }

    /// Returns the first failed check, without the cache.
    pub(crate) fn refusal_of(&self, t: &ActivationAttempt<'_>) -> Result<(), Refusal> {
        self.refusal_in(t, !t.skip)
    }

    /// Returns the first failed check of those in `mask`.
    pub(crate) fn refusal_in(&self, t: &ActivationAttempt<'_>, mask: u32) -> Result<(), Refusal> {
        let hit = CHECKS.iter().filter(|(c, _)| mask & c.bit() != 0).find_map(|(_, failed)| failed(self, t));
        hit.map_or(Ok(()), |(refusal, _)| Err(refusal))
    }

    /// Collects every failed check, without short circuit and without the cache.
    pub(crate) fn every_refusal(&self, t: &ActivationAttempt<'_>, into: &mut Vec<Reason>) {
        let clock = &self.row(t.slot).clock;
        for (check, failed) in &CHECKS {
            if t.skip & check.bit() == 0
                && let Some((refusal, clears_at)) = failed(self, t)
            {
                let clears_at =
                    (clears_at != SimTime::NEVER).then(|| clock.due(clears_at)).filter(|&at| at != SimTime::NEVER);
                into.push(Reason { refusal, clears_at });
            }
        }
        into.extend(self.room_to_run(t.slot).err().map(|refusal| Reason { refusal, clears_at: None }));
    }

    /// Returns the bits of the checks in `mask` that fail, and the time at which all of them pass. The time is
    /// [`SimTime::NEVER`] if one of them does not pass without further changes.
    pub(crate) fn failing(&self, t: &ActivationAttempt<'_>, mask: u32) -> (u32, SimTime) {
        let mut asked = mask & t.def.flags.checks;
        if self.row(t.slot).is_at_rest() {
            asked &= !OF_PLAY;
        }
        let (mut bits, mut ready) = (0, SimTime::ZERO);
        while asked != 0 {
            let (check, failed) = &CHECKS[asked.trailing_zeros() as usize];
            if let Some((_, clears_at)) = failed(self, t) {
                bits |= check.bit();
                ready = ready.max(clears_at);
            }
            asked &= asked - 1;
        }
        (bits, ready)
    }
}
