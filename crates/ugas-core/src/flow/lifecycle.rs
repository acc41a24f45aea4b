//! The lifecycle of a controller: spawn, change of avatar, change of the clock, movement and destruction. Spawn, change
//! of avatar and destruction run their parts in a fixed order.

use super::settle::Emit;
use super::{Flow, RowEvent, Via};
use crate::rules::{INITIAL_TAGS, Template};
use crate::state::{Effect, Row, Values, alert};
use crate::{
    ActorId, Anchor, AttributeId, ControllerId, DiagnosticKind, EffectId, EffectKey, FactKind, LifecycleStep,
    LimitKind, NameKind, Rate, Refusal, RemoveReason, SetId, SimTime, SpawnSpec, Spec, TagId, TemplateId,
};
use std::borrow::Cow;
use ugas_doc::CapabilityMode;

impl Flow<'_> {
    /// Spawns a controller, in this order: sets, actors, abilities, innate tags, effects.
    pub(crate) fn spawn(&mut self, spec: &SpawnSpec) -> Result<ControllerId, Refusal> {
        let rules = self.rules;
        let template = match spec.template {
            Some(id) => {
                let unknown = Refusal::UnknownName { kind: NameKind::Template, id: id.0 };
                Some(&**rules.templates.get(id.0).ok_or(unknown)?)
            }
            None => None,
        };
        let sets = spawn_sets(template, spec);
        if sets.is_empty() {
            return Err(Refusal::NoSets);
        }
        let who = self.next_id(spec.id)?;
        let layout = self.layout_for(&sets, who)?;
        let base = self.spawn_bases(template, spec, layout)?;
        self.check_spawn(spec, who, layout, &base)?;

        let position = template.and_then(|t| t.position).map(Anchor::at);
        let values = Values::from(&*self.ix.layouts[layout as usize].initial);
        let mut row = Row::new(who, layout, values, self.st.now);
        let owner = spec.owner.or(template.map(|t| t.owner)).unwrap_or(ActorId::NONE);
        let avatar = spec.avatar.or(template.map(|t| t.avatar)).unwrap_or(owner);
        row.owner = owner;
        row.set_avatar(avatar);
        if let Some(anchor) = spec.anchor.or(position) {
            row.side_mut().anchor = Some(anchor);
        }
        self.st.next_id = self.st.next_id.max(who.0 + 1);
        let target = self.st.controllers.insert(row, &rules.tags);
        // At most one entry per controller: doubling the capacity would reserve too much.
        let dirty = &mut self.st.hash_dirty;
        if dirty.len() == dirty.capacity() {
            dirty.reserve_exact(dirty.len() / 8 + 16);
        }
        self.step(who, LifecycleStep::Instantiated);
        for &set in &*sets {
            self.step(who, LifecycleStep::SetRegistered(set));
        }
        for &(attribute, value) in &*base {
            if let Some(slot) = self.layout(target).slot(attribute) {
                self.row_mut(target).attrs[slot].base = value + 0.0;
                self.mark(target, slot);
            }
        }
        self.row_mut(target);
        // Settles values that are not finite again, to report them.
        let not_finite = self.layout(target).not_finite.clone();
        not_finite.iter().for_each(|&slot| self.mark(target, slot as usize));
        self.settle(Via::NOTHING, Emit::Nothing);
        let has_resources = self.has_resources(target);
        if has_resources {
            self.clamp_resources(target);
        }
        self.step(who, LifecycleStep::ActorsSet);
        self.fact(who, Via::NOTHING, FactKind::Spawned { owner });
        if has_resources {
            self.report_resources(target);
        }
        if has_resources || spec.has_parts() || template.is_some_and(|t| t.has_parts()) {
            self.apply_spawn_parts(spec, target);
        }
        if spec.inactive || template.is_some_and(|t| !t.active) {
            self.set_clock(who, None, Some(false))?;
        }
        self.owners_changed();
        self.step(who, LifecycleStep::ReplicationConfigured);
        self.compare_stated(who, template.map_or(&[][..], |t| &t.stated));
        Ok(who)
    }

    /// Returns the base values that a spawn sets: those of its resources, of the template and of the spec.
    fn spawn_bases<'t>(
        &self,
        template: Option<&'t Template>,
        spec: &'t SpawnSpec,
        layout: u32,
    ) -> Result<Cow<'t, [(AttributeId, f64)]>, Refusal> {
        let (of_template, resources) = template.map_or((&[][..], &[][..]), |t| (&*t.base, &*t.resources));
        let layout = &self.ix.layouts[layout as usize];
        let mut bases = self.resource_bases(layout, resources.iter().chain(&spec.resources))?;
        if bases.is_empty() && spec.base.is_empty() {
            return Ok(Cow::Borrowed(of_template));
        }
        bases.extend(of_template.iter().chain(&spec.base));
        Ok(Cow::Owned(bases))
    }

    /// Emits a diagnostic for each current value in a document that differs from the computed value.
    fn compare_stated(&mut self, who: ControllerId, values: &[(AttributeId, f64)]) {
        for &(attribute, stated) in values {
            let found = self.current_of(who, attribute).unwrap_or(f64::NAN);
            if (found - stated).abs() > 1e-9 * stated.abs().max(1.0) {
                self.diagnose(who, EffectId::NONE, DiagnosticKind::ValueMismatch { attribute, stated, found });
            }
        }
    }

    fn next_id(&self, wanted: Option<ControllerId>) -> Result<ControllerId, Refusal> {
        let max = self.limits.controllers;
        if self.st.controllers.len() as u32 >= max {
            return Err(Refusal::Limit { what: LimitKind::Controllers, max, link: self.cause.link });
        }
        let who = wanted.unwrap_or(ControllerId(self.st.next_id));
        // The last ids stay unused, so that the next id never wraps. The table of ids grows with the largest id, so a
        // requested id must not be far above the next id.
        if who.0 >= u32::MAX - 1 || (wanted.is_some() && who.0 > self.st.next_id.saturating_add(max)) {
            return Err(Refusal::Limit { what: LimitKind::Controllers, max, link: self.cause.link });
        }
        // An id is never reused, not even that of a destroyed controller.
        if who.0 < self.st.next_id {
            return Err(Refusal::IdTaken { who });
        }
        Ok(who)
    }

    fn check_spawn(
        &self,
        spec: &SpawnSpec,
        who: ControllerId,
        layout: u32,
        base: &[(AttributeId, f64)],
    ) -> Result<(), Refusal> {
        let layout = &self.ix.layouts[layout as usize];
        for &(attribute, value) in base {
            if layout.slot(attribute).is_none() {
                return Err(Refusal::UnknownAttribute { who, attribute });
            }
            if !value.is_finite() {
                return Err(Refusal::NonFinite { attribute: Some(attribute) });
            }
        }
        if let Some(a) = spec.anchor {
            check_anchor(&a)?;
        }
        let unknown = |kind, id| Err(Refusal::UnknownName { kind, id });
        if let Some(t) = spec.tags.iter().find(|t| self.rules.tags.def(**t).is_none()) {
            return unknown(NameKind::Tag, t.0);
        }
        if let Some(e) = spec.effects.iter().find(|e| self.def(**e).is_none()) {
            return unknown(NameKind::Effect, e.0);
        }
        let known = |a: crate::AbilityId| self.ability(a).is_some();
        let template = spec.template.and_then(|t| self.rules.templates.get(t.0));
        let granted = spec.abilities.len() + template.map_or(0, |t| t.abilities.len());
        if granted > self.limits.grants_per_controller as usize {
            let max = self.limits.grants_per_controller;
            return Err(Refusal::Limit { what: LimitKind::Grants, max, link: self.cause.link });
        }
        if spec.abilities.iter().any(|g| g.level == 0) {
            return Err(Refusal::BadValue { what: crate::BadValue::Level });
        }
        if let Some(s) = spec.ability_sets.iter().find(|s| self.rules.ability_set_def(**s).is_none()) {
            return unknown(NameKind::AbilitySet, s.0);
        }
        match spec.abilities.iter().find(|g| !known(g.ability)) {
            Some(g) => unknown(NameKind::Ability, g.ability.0),
            None => Ok(()),
        }
    }

    /// Grants abilities and innate tags, and then applies effects, which may depend on these grants.
    fn apply_spawn_parts(&mut self, spec: &SpawnSpec, target: usize) {
        let rules = self.rules;
        let who = self.row(target).id;
        let template = spec.template.and_then(|t| rules.templates.get(t.0));
        for g in template.iter().flat_map(|t| t.abilities.iter()).chain(&spec.abilities) {
            self.grant_ability(target, *g, 0, Via::NOTHING);
            self.step(who, LifecycleStep::AbilityGranted(g.ability));
        }
        let mut tags: Vec<TagId> = Vec::new();
        for &tag in template.iter().flat_map(|t| t.tags.iter()).chain(&spec.tags) {
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        if !tags.is_empty() {
            self.grant_innate(target, &tags);
        }
        let origin_id = self.cause.root.0;
        let start = |flow: &mut Self, s: Spec| match flow.apply(&s, origin_id) {
            Ok(_) => flow.step(who, LifecycleStep::EffectApplied(s.effect)),
            Err(refusal) => flow.diagnose(who, s.effect, DiagnosticKind::ReactionRefused { refusal }),
        };
        if self.has_resources(target) {
            let sets: Vec<SetId> = self.layout(target).sets.to_vec();
            sets.into_iter().for_each(|set| self.apply_resource_effects(who, set));
        }
        for e in template.iter().flat_map(|t| t.effects.iter()) {
            let mut s = Spec::new(e.effect, who).from(who).level(e.level).stacks(e.stacks);
            let timed = self.def(e.effect).is_some_and(|d| d.duration.is_some());
            if let (Some(left), true) = (e.remaining, timed) {
                s = s.lasting(left);
            }
            start(self, s);
        }
        for &effect in &spec.effects {
            start(self, Spec::new(effect, who).from(who));
        }
        // Each machine adds the sets of a controller with local capabilities by itself.
        let role = self.work.role;
        let is_here = |t: &&&std::sync::Arc<Template>| {
            t.capability_mode == CapabilityMode::Authority || role == crate::Role::Standalone
        };
        if let Some(presets) = template.iter().find(|t| !is_here(t)).filter(|t| !t.capability_sets.is_empty()) {
            let presets = presets.capability_sets.to_vec();
            self.row_mut(target).play_mut().capabilities_mut().presets = presets;
            self.index_capabilities(target);
        }
        let capabilities = template.iter().filter(|t| is_here(t)).flat_map(|t| t.capability_sets.iter());
        let sets = template.iter().flat_map(|t| t.ability_sets.iter()).chain(capabilities);
        let sets = sets.chain(&spec.ability_sets).copied();
        self.grant_spawn_sets(who, &sets.collect::<Vec<_>>());
    }

    /// Grants innate tags through one automatic infinite effect, because tags are granted only by effects. A tag that
    /// is listed twice is granted once.
    fn grant_innate(&mut self, target: usize, tags: &[TagId]) {
        let (rules, who) = (self.rules, self.row(target).id);
        let origin_id = self.cause.root.0;
        let ordinal = self.number(target, origin_id);
        let key = EffectKey { origin_id, target: who, ordinal };
        let via = Via { source: who, key, effect: INITIAL_TAGS };
        let (link, now) = (self.cause.link, self.st.now);
        let row = self.row_mut(target);
        let seq = row.next_seq;
        row.next_seq += 1;
        let start = row.clock.local(now);
        let spec = Spec::new(INITIAL_TAGS, who).from(who);
        row.push_effect(Effect::new(seq, key, (start, SimTime::NEVER), &spec, link));
        let mut flips = Vec::new();
        if let Some(def) = self.def(INITIAL_TAGS) {
            self.grant_tags(&def, tags, target, &mut flips);
        }
        let (row, table) = (self.row_mut(target), &rules.tags);
        tags.iter().for_each(|&tag| row.tags.set_innate(table, tag, true));
        self.emit_flips(target, &flips, via);
        self.emit_applied(target, via, 1, 1);
        // Ends the operation here, so that its reactions run before those of the next operation.
        self.finish_operation();
    }

    /// Returns the tags that an effect granted in addition to those of its definition, and removes them from the innate
    /// tags.
    pub(super) fn take_innate(&mut self, e: &Effect, target: usize) -> Vec<TagId> {
        let table = &self.rules.tags;
        let row = self.st.controllers.row_mut(target);
        let own: Vec<TagId> = row.own_tags(e, table).collect();
        own.iter().for_each(|&tag| row.tags.set_innate(table, tag, false));
        own
    }

    /// Spawns many controllers from one template. If the template adds no effects and no abilities, the other
    /// controllers are copies of the first one.
    pub(crate) fn spawn_many(&mut self, template: TemplateId, count: u32) -> Result<ControllerId, Refusal> {
        let first = ControllerId(self.st.next_id);
        let room = self.limits.controllers as u64;
        if self.st.controllers.len() as u64 + count as u64 > room || first.0 as u64 + count as u64 >= u32::MAX as u64 {
            let max = self.limits.controllers;
            return Err(Refusal::Limit { what: LimitKind::Controllers, max, link: self.cause.link });
        }
        if count == 0 {
            return Ok(first);
        }
        let spec = SpawnSpec::template(template);
        self.spawn(&spec)?;
        let slot = self.slot(first)?;
        let row = self.row(slot);
        let plain = row.effects.is_empty() && row.grants.is_empty() && row.play().is_empty() && self.fast;
        if !plain {
            for _ in 1..count {
                self.spawn(&spec)?;
            }
            return Ok(first);
        }
        let has_resources = self.has_resources(slot);
        let mut prototype = row.clone();
        prototype.hash_dirty = true;
        let owner = prototype.owner;
        self.log.facts.list.reserve(count as usize);
        self.st.hash_dirty.reserve(count as usize);
        for i in 1..count {
            let id = ControllerId(first.0 + i);
            prototype.id = id;
            let target = self.st.controllers.insert(prototype.clone(), &self.rules.tags);
            self.st.hash_dirty.push(id);
            self.fact(id, Via::NOTHING, FactKind::Spawned { owner });
            if has_resources {
                self.report_resources(target);
            }
        }
        self.st.next_id = first.0 + count;
        Ok(first)
    }

    /// Destroys a controller, in this order: effects, abilities, subscriptions, replication.
    pub(crate) fn despawn(&mut self, who: ControllerId) -> Result<(), Refusal> {
        let target = self.slot(who)?;
        // Effects of the destroyed controller on other controllers keep their current values when its own effects are
        // removed.
        self.freeze_readers(target);
        self.remove_all_capabilities(who);
        self.row_mut(target).side_mut().queue.clear();
        self.end_everything(target);
        self.step(who, LifecycleStep::EffectsRemoved);
        self.revoke_all(target, Via::NOTHING);
        self.step(who, LifecycleStep::AbilitiesRevoked);
        // Also removes effects that abilities applied while they ended. The loop terminates, because nothing can start
        // on the row any more.
        while !self.row(target).effects.is_empty() || !self.row(target).grants.is_empty() {
            self.end_everything(target);
            self.revoke_all(target, Via::NOTHING);
        }
        self.fact(who, Via::NOTHING, FactKind::Despawned);
        self.step(who, LifecycleStep::SubscriptionsCleared);
        self.drop_row(target);
        self.step(who, LifecycleStep::ReplicationEnded);
        self.check_casters_at(who);
        self.owners_changed();
        Ok(())
    }

    /// Ends the effects of a row that is being destroyed, in order of application. Effects that are applied during the
    /// call end too.
    fn end_everything(&mut self, target: usize) {
        while let Some(seq) = self.row(target).effects.first().map(|e| e.seq()) {
            self.end(target, seq, RemoveReason::Destroyed, None);
            if self.row(target).effects.first().is_some_and(|e| e.seq() == seq) {
                debug_assert!(false, "an effect that cannot end");
                self.row_mut(target).effects.remove(0);
            }
        }
    }

    /// Removes a row from the sim. Live modifiers that read the row keep their last values.
    pub(crate) fn drop_row(&mut self, target: usize) -> Option<Row> {
        self.unlink_row(target);
        self.freeze_readers(target);
        let row = self.st.controllers.row_mut(target);
        let who = row.id;
        let hash = std::mem::take(self.st.controllers.hash_mut(target));
        self.st.hash_sum = self.st.hash_sum.wrapping_sub(hash);
        self.journals.remove(&who);
        self.ix.frames.remove(&who);
        self.ix.capable.remove(&who);
        self.ix.woken.remove(&who);
        self.unblock_left_controller(who);
        self.ix.set_aim(who, None);
        self.st.locality.remove(who);
        self.st.controllers.remove(who)
    }

    /// Changes the avatar, in this order: clears the old avatar, revalidates the effects that are bound to its
    /// position, sets the new avatar, revalidates abilities.
    pub(crate) fn possess(&mut self, who: ControllerId, avatar: Option<ActorId>) -> Result<(), Refusal> {
        let target = self.slot(who)?;
        let old = self.row(target).avatar();
        self.set_avatar(target, ActorId::NONE);
        self.step(who, LifecycleStep::AvatarCleared);
        self.revalidate_avatar_effects(target);
        self.step(who, LifecycleStep::AvatarEffectsRevalidated);
        let new = avatar.unwrap_or(ActorId::NONE);
        self.set_avatar(target, new);
        self.step(who, LifecycleStep::AvatarSet);
        self.revalidate_avatar_abilities(target);
        self.step(who, LifecycleStep::AvatarAbilitiesRevalidated);
        if old != new {
            // The anchor belongs to the old avatar. The host sets the anchor of the new avatar.
            if old != ActorId::NONE && self.row(target).side().anchor.is_some() {
                self.row_mut(target).side_mut().anchor = None;
            }
            self.fact(who, Via::NOTHING, FactKind::Possessed { old, new });
            self.notify(target, alert::ABILITY, || RowEvent::Freed);
            self.owners_changed();
        }
        Ok(())
    }

    fn set_avatar(&mut self, target: usize, avatar: ActorId) {
        self.touch(target);
        self.st.controllers.set_avatar(target, avatar);
    }

    fn revalidate_avatar_effects(&mut self, target: usize) {
        let who = self.row(target).id;
        let bound = |e: &&Effect| {
            let placed = e.extra().is_some_and(|x| x.origin.is_some());
            placed && self.def(e.def).is_some_and(|d| d.bound_to_avatar)
        };
        let list: Vec<u64> = self.row(target).effects.iter().filter(bound).map(|e| e.seq()).collect();
        for seq in list {
            let spec = self.spec_of(target, seq);
            let valid = self.rules.hooks.avatar.as_ref().is_some_and(|f| {
                f(&crate::HookCx {
                    rules: self.rules,
                    spec: &spec,
                    target_row: self.row(target),
                    source_tags: self.tags_of(spec.source),
                    values: &|w, a| self.current_of(w, a),
                })
            });
            if !valid {
                self.end(target, seq, RemoveReason::Avatar, Some(super::remove::Trigger::Removed));
            }
        }
        debug_assert!(self.st.controllers.get(who).is_some());
    }

    pub(crate) fn set_clock(
        &mut self,
        who: ControllerId,
        rate: Option<Rate>,
        active: Option<bool>,
    ) -> Result<(), Refusal> {
        let target = self.slot(who)?;
        if rate.is_some_and(|r| r.0 > 1000 << 16) {
            return Err(Refusal::BadValue { what: crate::BadValue::Rate });
        }
        let now = self.st.now;
        let clock = &mut self.row_mut(target).clock;
        let (was, was_stopped) = (clock.active(), clock.rate() == Rate(0));
        clock.set(now, rate.unwrap_or(clock.rate()), active.unwrap_or(was));
        self.retime(target);
        if was_stopped {
            // A stopped clock asks no capability, so a change while it was stopped has woken none.
            self.wake_capabilities(target);
        }
        if active == Some(true) && !was {
            let states = alert::TAG | alert::ATTRIBUTE | alert::INPUT | alert::ABILITY;
            self.notify(target, states, || RowEvent::Resumed);
        }
        self.publish(target);
        Ok(())
    }

    pub(crate) fn move_to(&mut self, who: ControllerId, anchor: Option<Anchor>) -> Result<(), Refusal> {
        let target = self.slot(who)?;
        if let Some(a) = &anchor {
            check_anchor(a)?;
        }
        let old = std::mem::replace(&mut self.row_mut(target).side_mut().anchor, anchor);
        if old.map(|a| a.position) != anchor.map(|a| a.position) {
            self.position_changed(target);
        }
        Ok(())
    }
}

/// Returns the attribute sets of a spawn in the order in which they are registered. Most specs add none to those of
/// their template.
fn spawn_sets<'t>(template: Option<&'t Template>, spec: &SpawnSpec) -> Cow<'t, [SetId]> {
    let of_template = template.map_or(&[][..], |t| &*t.sets);
    if spec.stats.is_empty() && spec.resources.is_empty() && spec.sets.is_empty() {
        return Cow::Borrowed(of_template);
    }
    let of_resources = spec.resources.iter().map(|r| &r.resource);
    Cow::Owned(spec.stats.iter().chain(of_template).chain(of_resources).chain(&spec.sets).copied().collect())
}

fn check_anchor(a: &Anchor) -> Result<(), Refusal> {
    let finite = a.position.iter().chain(&a.facing).all(|v| v.is_finite());
    if finite { Ok(()) } else { Err(Refusal::BadValue { what: crate::BadValue::Position }) }
}
