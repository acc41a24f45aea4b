//! Event handling of a row after an operation, in this order: cancellations, waiting tasks, triggers, passive
//! abilities. Cancellations come first, because the tasks of a cancelled ability must not be woken.

use super::super::{AbilityEvent, EventCutoff, Flow, RowEvent, child_origin_id};
use super::activate::ActivationRequest;
use crate::rules::{AbilityDef, TagTable, TriggerDef};
use crate::{
    AttributeId, ControllerId, DiagnosticKind, EffectId, EffectKey, EventData, Fact, FactKind, GrantId, Refusal, Role,
    TagId, Target,
};
use ugas_doc::{GroupPolicy, NetExecution};

/// Marks the origin id of a triggered activation.
const TRIGGER: u64 = 33;

/// A change that can fire triggers: made by this sim, or received as a fact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TriggerCause {
    Event(TagId),
    Tag { tag: TagId, added: bool },
    Attribute { attribute: AttributeId, old: f64, new: f64 },
    EffectApplied(EffectId),
    Died,
}

impl TriggerCause {
    fn of_notice(row_event: &RowEvent) -> Option<TriggerCause> {
        match *row_event {
            RowEvent::Event(ref e) => Some(TriggerCause::Event(e.tag)),
            RowEvent::Tag { tag, added } => Some(TriggerCause::Tag { tag, added }),
            RowEvent::Attribute { attribute, old, new } => Some(TriggerCause::Attribute { attribute, old, new }),
            RowEvent::Effect { effect, applied: true, .. } => Some(TriggerCause::EffectApplied(effect)),
            RowEvent::Died { .. } => Some(TriggerCause::Died),
            RowEvent::Effect { .. }
            | RowEvent::Input { .. }
            | RowEvent::Granted { .. }
            | RowEvent::Ability { .. }
            | RowEvent::Freed
            | RowEvent::Liveness
            | RowEvent::Resumed => None,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "every other fact is irrelevant here")]
    pub(crate) fn of_fact(fact: &Fact) -> Option<TriggerCause> {
        match fact.kind {
            FactKind::GameplayEvent { tag, .. } => Some(TriggerCause::Event(tag)),
            FactKind::TagChanged { tag, added, presence: true, .. } => Some(TriggerCause::Tag { tag, added }),
            FactKind::AttributeChanged { attribute, old, new, .. } => {
                Some(TriggerCause::Attribute { attribute, old, new })
            }
            FactKind::EffectApplied { .. } => Some(TriggerCause::EffectApplied(fact.effect)),
            FactKind::Died { .. } => Some(TriggerCause::Died),
            _ => None,
        }
    }

    /// Returns whether the change fires a trigger. All triggers are matched by this function.
    pub(crate) fn fires(self, trigger: &TriggerDef, tags: &TagTable) -> bool {
        match *trigger {
            TriggerDef::Event(of) => matches!(self, TriggerCause::Event(tag) if tags.is_under(tag, of)),
            TriggerDef::TagAdded(of) | TriggerDef::TagPresent(of) => {
                matches!(self, TriggerCause::Tag { tag, added: true } if tag == of)
            }
            TriggerDef::Below(of, limit) => matches!(self, TriggerCause::Attribute { attribute, old, new }
                if attribute == of && old >= limit && new < limit),
            TriggerDef::Above(of, limit) => matches!(self, TriggerCause::Attribute { attribute, old, new }
                if attribute == of && old <= limit && new > limit),
            TriggerDef::EffectApplied(of) => matches!(self, TriggerCause::EffectApplied(effect) if effect == of),
            TriggerDef::Died => matches!(self, TriggerCause::Died),
        }
    }
}

impl Flow<'_> {
    /// Handles an event of a row after an operation.
    pub(crate) fn handle_event(&mut self, target: usize, row_event: &RowEvent, cutoff: &EventCutoff) {
        match row_event {
            RowEvent::Tag { tag, added: true } => self.cancel_by_tag(target, *tag, cutoff),
            RowEvent::Tag { tag, added: false } => self.cancel_without(target, *tag),
            RowEvent::Died { .. } => self.die(target, cutoff),
            RowEvent::Attribute { attribute, .. } => self.scale_changed(target, *attribute),
            RowEvent::Liveness => self.refresh_liveness(target),
            RowEvent::Effect { .. }
            | RowEvent::Event(_)
            | RowEvent::Input { .. }
            | RowEvent::Granted { .. }
            | RowEvent::Ability { .. }
            | RowEvent::Freed
            | RowEvent::Resumed => {}
        }
        let who = self.row(target).id;
        if matches!(row_event, RowEvent::Tag { .. } | RowEvent::Died { .. }) {
            self.check_casters_at(who);
        }
        let Some(target) = self.st.controllers.slot(who) else { return };
        self.wake(target, row_event, cutoff);
        let Some(target) = self.st.controllers.slot(who) else { return };
        self.trigger(target, row_event, cutoff);
        if row_event.may_start_passives() {
            self.try_passives(target, row_event, cutoff);
        }
        self.publish(target);
    }

    /// Activates the abilities that an event triggers, in grant order.
    fn trigger(&mut self, slot: usize, row_event: &RowEvent, cutoff: &EventCutoff) {
        let mut hits: Vec<(GrantId, usize)> = Vec::new();
        for g in self.row(slot).grants.iter().filter(|g| g.id.0 < cutoff.grants) {
            let Some(def) = self.ability(g.ability) else { continue };
            let hit = def.triggers.iter().position(|t| self.trigger_matches(slot, t, row_event, g.id));
            hits.extend(hit.map(|position| (g.id, position)));
        }
        for (grant, position) in hits {
            let (target, event, source) = self.aim_of(row_event);
            self.activate_triggered(slot, grant, position, target, event, source);
        }
    }

    fn trigger_matches(&self, slot: usize, trigger: &TriggerDef, row_event: &RowEvent, grant: GrantId) -> bool {
        match (*trigger, row_event) {
            (TriggerDef::TagPresent(t), RowEvent::Granted { grant: new }) => *new == grant && self.has(slot, t),
            _ => TriggerCause::of_notice(row_event).is_some_and(|cause| cause.fires(trigger, &self.rules.tags)),
        }
    }

    /// Returns the target, event and source of a triggered ability.
    fn aim_of<'n>(&self, row_event: &'n RowEvent) -> (Target, Option<&'n EventData>, Option<ControllerId>) {
        let aim = |who: ControllerId| who.some().map_or(Target::None, Target::Controller);
        match row_event {
            RowEvent::Event(e) => {
                let instigator = e.instigator.unwrap_or(ControllerId::NONE);
                (aim(instigator), Some(e), Some(instigator))
            }
            RowEvent::Effect { source, .. } => (aim(*source), None, Some(*source)),
            // No target if the controller that caused the death no longer exists.
            RowEvent::Died { source } if self.tags_of(*source).is_some() => (aim(*source), None, Some(*source)),
            RowEvent::Tag { .. }
            | RowEvent::Attribute { .. }
            | RowEvent::Died { .. }
            | RowEvent::Input { .. }
            | RowEvent::Granted { .. }
            | RowEvent::Ability { .. }
            | RowEvent::Freed
            | RowEvent::Liveness
            | RowEvent::Resumed => (Target::None, None, None),
        }
    }

    fn activate_triggered(
        &mut self,
        slot: usize,
        grant: GrantId,
        position: usize,
        target: Target,
        event: Option<&EventData>,
        source: Option<ControllerId>,
    ) {
        if !self.starts_here(slot, grant) {
            return;
        }
        let row = self.row(slot);
        let who = row.id;
        // The row's next sequence number keeps the origin ids distinct if one cause triggers the ability several times.
        let parent = EffectKey { origin_id: self.cause.root.0 ^ row.next_seq << 20, target: who, ordinal: grant.0 };
        let origin_id = self
            .trigger_origin(parent, TRIGGER, position)
            .unwrap_or_else(|| child_origin_id(parent, TRIGGER, row.next_seq as u32, position));
        if let Err(refusal @ (Refusal::Limit { .. } | Refusal::Cycle { .. })) =
            self.try_activate(slot, grant, ActivationRequest { target, origin_id, event, source })
        {
            self.diagnose(who, EffectId::NONE, DiagnosticKind::ReactionRefused { refusal });
        }
    }

    /// Returns whether an event may start an ability in this sim. On an event, a client starts only predicted
    /// abilities, and an authoritative sim starts all abilities except local-only ones.
    pub(crate) fn starts_here(&self, slot: usize, grant: GrantId) -> bool {
        let row = self.row(slot);
        let def = row.grant(grant).and_then(|at| self.ability(row.grants[at].ability));
        let Some(policy) = def.map(|d| d.doc.net_execution) else { return false };
        match self.work.role {
            Role::Standalone => true,
            Role::Client => policy == NetExecution::LocalPredicted,
            Role::Authority => policy != NetExecution::LocalOnly,
        }
    }

    /// Starts passive abilities that are not active and whose checks pass.
    fn try_passives(&mut self, slot: usize, row_event: &RowEvent, cutoff: &EventCutoff) {
        let row = self.row(slot);
        let idle = |g: &&crate::state::Grant| {
            let was = g.id.0 < cutoff.grants && !cutoff.passives.contains(&g.id);
            was && !row.play().activations.iter().any(|a| a.grant == g.id)
        };
        let passive = |g: &&crate::state::Grant| self.ability(g.ability).is_some_and(|d| d.passive);
        let list: Vec<GrantId> = row.grants.iter().filter(passive).filter(idle).map(|g| g.id).collect();
        for grant in list {
            let Some(at) = self.row(slot).grant(grant) else { continue };
            let Some(def) = self.ability(self.row(slot).grants[at].ability) else { continue };
            if !self.can_start_passive(&def, grant, row_event) {
                continue;
            }
            let t = self.view().attempt(slot, at, &def, Target::None);
            if self.view().first_refusal(&t).is_ok() {
                self.activate_triggered(slot, grant, 0, Target::None, None, None);
            }
        }
    }

    /// Returns whether the event can have removed the obstacle to the start of a passive ability. A change of the
    /// ability's own tags and its own end are ignored, because the ability would restart whenever it ends. The end of
    /// an ability that did not block the passive ability is ignored too, because abilities that replace each other
    /// would alternate forever.
    fn can_start_passive(&self, def: &AbilityDef, grant: GrantId, row_event: &RowEvent) -> bool {
        match row_event {
            RowEvent::Tag { tag, .. } => {
                let owned = def.owned.and_then(|o| self.def(o));
                !owned.is_some_and(|o| o.granted_tags.iter().any(|&t| self.rules.tags.is_under(t, *tag)))
            }
            RowEvent::Ability { ability, change: AbilityEvent::Ended { grant: ended, .. }, .. } => {
                *ended != grant && self.ability(*ability).is_some_and(|other| self.is_blocked_by(&other, def))
            }
            RowEvent::Attribute { .. }
            | RowEvent::Died { .. }
            | RowEvent::Effect { .. }
            | RowEvent::Event(_)
            | RowEvent::Input { .. }
            | RowEvent::Granted { .. }
            | RowEvent::Ability { .. }
            | RowEvent::Freed
            | RowEvent::Liveness
            | RowEvent::Resumed => true,
        }
    }

    /// Returns whether `other`, while active, prevents the start of `def`.
    fn is_blocked_by(&self, other: &AbilityDef, def: &AbilityDef) -> bool {
        let blocks = |mine: TagId| other.blocks.iter().any(|&of| self.rules.tags.is_under(mine, of));
        let excludes =
            |(mine, policy)| policy != GroupPolicy::Independent && other.group == Some((mine, GroupPolicy::Exclusive));
        def.tags.iter().copied().any(blocks) || def.group.is_some_and(excludes)
    }
}
