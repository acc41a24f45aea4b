//! Undo of refused operations. An operation that can be refused after its first change saves the rows that it may have
//! changed by then, and restores them on a refusal.
//!
//! Usually only the row of the target is saved. A removal by tag can also cancel abilities, and their cancel lists can
//! change other rows, and it ends the blocks of the removed effects on other rows. The state of the whole sim is saved
//! only if such a list can run and can change another row, or if the row blocks capabilities of another row.

use super::settle::Emit;
use super::{EventCutoff, Flow, Journal, Recheck, RowEvent, State, Via};
use crate::rules::{AbilityDef, EffectDef};
use crate::state::{Index, Row};
use crate::task::TaskReach;
use crate::{AbilityState, Cause, ControllerId, EffectFilter, TagId};
use std::collections::BTreeMap;
use ugas_doc::DurationPolicy;

/// The saved state before an operation that can be refused after its first change: rows, the number of facts,
/// diagnostics and reactions, and the pending rechecks and row events.
pub(crate) struct Saved {
    rows: SavedRows,
    lengths: [usize; 3],
    rechecks: Vec<Recheck>,
    row_events: Vec<(ControllerId, RowEvent, Cause, EventCutoff)>,
}

/// The rows that a refusal restores.
enum SavedRows {
    Target(Box<Row>),
    All(Box<(State, Index, BTreeMap<ControllerId, Journal>)>),
}

/// What the cancel lists that a removal runs can change, in addition to the abilities that end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CancelReach {
    /// No list runs, or the lists apply no effects.
    NoEffects,
    /// The lists apply effects to their owner only.
    Owner,
    /// The lists can change any row.
    AnyRow,
}

impl Flow<'_> {
    /// Saves the state before an application removes other effects, if the application can still be refused after the
    /// removal: a written value or an execution may be refused, and a lasting effect may be refused if a cancel list
    /// applied effects.
    pub(crate) fn checkpoint(&self, def: &EffectDef, target: usize) -> Option<Saved> {
        if def.remove_with_tags.is_empty() {
            return None;
        }
        let reach = self.removal_reach(target, &def.remove_with_tags);
        let can_be_refused = match def.policy {
            DurationPolicy::Instant => !def.modifiers.is_empty() || !def.executions.is_empty(),
            DurationPolicy::HasDuration | DurationPolicy::Infinite => {
                reach != CancelReach::NoEffects || def.period.is_none() && !def.executions.is_empty()
            }
        };
        can_be_refused.then(|| self.save_reached(target, reach))
    }

    /// Saves the state before an operation that first removes effects with `tags` from a row and can then be refused.
    pub(crate) fn save_before_removal(&self, target: usize, tags: &[TagId]) -> Saved {
        let reach = if tags.is_empty() { CancelReach::NoEffects } else { self.removal_reach(target, tags) };
        self.save_reached(target, reach)
    }

    /// Saves a row, for an operation that can be refused only before it changes another row.
    pub(crate) fn save_row(&self, target: usize) -> Saved {
        self.save_reached(target, CancelReach::NoEffects)
    }

    fn save_reached(&self, target: usize, reach: CancelReach) -> Saved {
        let rows = match reach {
            CancelReach::NoEffects | CancelReach::Owner => SavedRows::Target(Box::new(self.row(target).clone())),
            CancelReach::AnyRow => SavedRows::All(Box::new((self.st.clone(), self.ix.clone(), self.journals.clone()))),
        };
        let lengths = [self.log.facts.list.len(), self.log.diagnostics.len(), self.sc.reactions.len()];
        let (rechecks, row_events) = (self.sc.rechecks.clone(), self.sc.row_events.clone());
        Saved { rows, lengths, rechecks, row_events }
    }

    /// Returns what the cancel lists that a removal by tag runs can change.
    fn removal_reach(&self, target: usize, tags: &[TagId]) -> CancelReach {
        let row = self.row(target);
        // Blocks of the removed effects on other rows end with them.
        if self.blocks_others(row.id) {
            return CancelReach::AnyRow;
        }
        let active = || row.play().activations.iter().filter(|a| a.state == AbilityState::Active);
        if active().next().is_none() {
            return CancelReach::NoEffects;
        }
        let filter = EffectFilter { with_any_tag: tags.to_vec(), ..EffectFilter::default() };
        let ended = self.matching(target, &filter);
        let is_cancelled = |grant| row.grant(grant).is_some_and(|at| ended.contains(&row.grants[at].by()));
        let cancelled = active().filter(|a| is_cancelled(a.grant)).filter_map(|a| self.ability(a.ability));
        cancelled.map(|ability| self.cancel_reach(&ability)).max().unwrap_or(CancelReach::NoEffects)
    }

    /// Returns what the cancel lists and the code of an ability can change when the ability is cancelled.
    fn cancel_reach(&self, ability: &AbilityDef) -> CancelReach {
        if self.rules.code_of(ability.id).is_some() {
            return CancelReach::AnyRow;
        }
        let reach = |reach: TaskReach| match reach {
            TaskReach::OwnAbility => CancelReach::NoEffects,
            TaskReach::AppliesToOwner(effect) if self.def(effect).is_none_or(|d| stays_on_row(&d)) => {
                CancelReach::Owner
            }
            TaskReach::AppliesToOwner(_) | TaskReach::AnyRow => CancelReach::AnyRow,
        };
        ability.program.cancel_tasks().map(|task| reach(task.kind.reach())).max().unwrap_or(CancelReach::NoEffects)
    }

    /// Restores the saved rows, and removes the facts, diagnostics and reactions that were added since.
    pub(crate) fn roll_back(&mut self, saved: Option<Saved>, target: usize) {
        let Some(Saved { rows, lengths: [facts, diagnostics, reactions], rechecks, row_events }) = saved else {
            return;
        };
        match rows {
            SavedRows::Target(row) => {
                let _ = self.replace_row(target, *row);
                for slot in 0..self.row(target).attrs.len() {
                    self.mark(target, slot);
                }
                self.mark_followers(target);
                self.settle(Via::NOTHING, Emit::Nothing);
            }
            SavedRows::All(all) => (*self.st, *self.ix, *self.journals) = *all,
        }
        self.log.facts.list.truncate(facts);
        self.log.diagnostics.truncate(diagnostics);
        self.sc.reactions.truncate(reactions);
        // Rechecks and events that were pending before the application stay pending.
        (self.sc.rechecks, self.sc.row_events) = (rechecks, row_events);
    }
}

/// Returns whether an application to a row changes no other row and ends no ability: the effect removes no effects,
/// deals no damage, of which another controller may get the credit, and ends no stack.
fn stays_on_row(def: &EffectDef) -> bool {
    def.remove_with_tags.is_empty() && def.combat.is_none() && def.stacking.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rules, Sim, SimConfig, SpawnSpec, Spec};
    use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect, GrantedAbilityEntry};

    /// Returns what the removal of an effect can change that grants an active ability with this cancel list.
    fn reach_of(on_cancel: Vec<AbilityTask>) -> CancelReach {
        let mut aura = Effect::infinite("GE_Aura").grants("State.Aura");
        aura.granted_abilities.push(GrantedAbilityEntry::new("GA_Aura"));
        let waits = AbilityTask::new("WaitDelay").param("Duration", 9.0);
        let mut purge = Effect::infinite("GE_Purge");
        purge.remove_effects_with_tags.push("State.Aura".into());
        let rules = Rules::builder()
            .add(AttributeSet::new("S").with(Attribute::new("Health", 1.0)))
            .add(aura)
            .add(Effect::infinite("GE_Weak").add("Health", -1.0))
            .add(purge)
            .add(Ability {
                on_cancel,
                on_interrupt: vec![apply_to("Target", "GE_Weak")],
                ..Ability::new("GA_Aura").task(waits)
            })
            .build()
            .unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
        let tags = [rules.tag("State.Aura").unwrap()];
        sim.apply(&Spec::new(rules.effect("GE_Aura").unwrap(), who)).unwrap();
        assert_eq!(sim.flow().removal_reach(0, &tags), CancelReach::NoEffects, "the ability is not active");
        sim.activate(who, rules.ability("GA_Aura").unwrap(), crate::Target::None).unwrap();
        sim.flow().removal_reach(0, &tags)
    }

    fn apply_to(whom: &str, effect: &str) -> AbilityTask {
        AbilityTask::new(format!("ApplyEffectTo{whom}")).param("EffectClass", effect)
    }

    #[test]
    fn only_a_cancel_list_that_can_change_another_row_saves_all_rows() {
        assert_eq!(reach_of(vec![]), CancelReach::NoEffects);
        assert_eq!(reach_of(vec![AbilityTask::new("EndAbility")]), CancelReach::NoEffects);
        assert_eq!(reach_of(vec![apply_to("Owner", "GE_Weak")]), CancelReach::Owner);
        assert_eq!(reach_of(vec![apply_to("Target", "GE_Weak")]), CancelReach::AnyRow);
        // The applied effect may cancel further abilities.
        assert_eq!(reach_of(vec![apply_to("Owner", "GE_Purge")]), CancelReach::AnyRow);
        let cancels = AbilityTask::new("CancelAbility").param("Ability", "GA_Aura");
        assert_eq!(reach_of(vec![cancels]), CancelReach::AnyRow);
        let branch = AbilityTask::when("Health > 0").then(apply_to("Target", "GE_Weak"));
        assert_eq!(reach_of(vec![branch]), CancelReach::AnyRow);
    }
}
