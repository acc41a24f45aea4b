//! A world of small abilities, one for each thing that is tested, and short names.

use crate::kit::{self, kinds, tag};
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AbilityId, ActivationKey, ControllerId, FactKind, GrantId, Reason, Refusal, Rules, RulesBuilder, Sim,
    Target, Which,
};
use ugas_doc::{Ability, AbilityTask, Effect, GrantedAbilityEntry, GroupPolicy, Trigger};

/// Waits for something that never comes, so that the ability stays active.
pub(crate) fn waits() -> AbilityTask {
    AbilityTask::new("WaitDelay").param("Duration", 1000.0)
}

pub(crate) fn world() -> RulesBuilder {
    let mut sword = Effect::infinite("GE_Sword");
    sword.granted_abilities.push(GrantedAbilityEntry::new("GA_Bare"));
    let mut lesson = Effect::infinite("GE_Lesson");
    lesson
        .granted_abilities
        .push(GrantedAbilityEntry { remove_on_effect_removal: false, ..GrantedAbilityEntry::new("GA_Bare") });
    kit::world()
        .add(Effect::instant("GE_Cost").add("Mana", -20.0))
        .add(Effect::lasting("GE_Cooldown", 5.0).grants("Cooldown.Bolt"))
        .add(Effect::lasting("GE_Silence", 3.0).grants("State.Silenced"))
        .add(Effect::infinite("GE_Stun").grants("State.Stunned.Magic"))
        .add(Effect::infinite("GE_Ice").grants("State.Grounded.Ice"))
        .add(Effect::instant("GE_Drain").add("Mana", -40.0))
        .add(Effect::instant("GE_Potion").add("Mana", 10.0))
        .add(Effect::instant("GE_Hit").add("Health", -99.0))
        .add(Effect::instant("GE_Last").add("Health", -1.0))
        .add(sword)
        .add(lesson)
        .add(Ability::new("GA_Bare").task(waits()))
        .add(
            Ability::new("GA_Bolt")
                .tag("Ability.Spell.Fire")
                .blocked("State.Silenced")
                .cancels("State.Stunned")
                .owned("State.Casting")
                .cost("GE_Cost")
                .cooldown("GE_Cooldown")
                .task(waits()),
        )
        .add(Ability::new("GA_Quick").tag("Ability.Spell").cost("GE_Cost"))
        .add(Ability::new("GA_Manual").manual().owned("State.Casting").cost("GE_Cost").task(waits()))
        .add(Ability::new("GA_Ward").tag("Ability.Ward").blocks("Ability.Spell").task(waits()))
        .add(Ability::new("GA_Dodge").cancels("Ability.Ward").requires("State.Grounded"))
        .add(Ability::new("GA_Ghost").while_dead().task(waits()))
        .add(Ability::new("GA_Many").multiple().task(waits()))
        .add(Ability::new("GA_Again").retriggered().task(waits()))
        .add(Ability::new("GA_Stance").group("Stance", GroupPolicy::Replaceable).task(waits()))
        .add(Ability::new("GA_Lock").group("Stance", GroupPolicy::Exclusive).task(waits()))
        .add(Ability::new("GA_Ask").validated("Server", Some(500)).cost("GE_Cost").task(waits()))
        .add(Ability::new("GA_Far").range(10.0).cost("GE_Cost"))
        .add(Ability::new("GA_Body").needs_avatar().task(waits()))
        .add(Ability::new("GA_Aura").passively().owned("State.Aura").blocked("State.Silenced"))
        .add(Ability::new("GA_Riposte").trigger(Trigger::event("Event.Parried")).task(waits()))
        .add(Ability::new("GA_Flinch").trigger(Trigger::tag_added("State.Silenced")).task(waits()))
        .add(Ability::new("GA_Shiver").trigger(Trigger::tag_present("State.Grounded")))
        .add(Ability::new("GA_Panic").trigger(Trigger::below("Health", 25.0)).task(waits()))
        .add(Ability::new("GA_Echo").trigger(Trigger::effect_applied("GE_Ice")).task(waits()))
        .add(Ability::new("GA_Strong").condition("level >= 2 && param.Charge > 0.5").task(waits()))
}

pub(crate) fn rules() -> Arc<Rules> {
    world().build().unwrap()
}

pub(crate) fn id(sim: &Sim, name: &str) -> AbilityId {
    sim.rules().find_ability(name).unwrap_or_else(|| panic!("no ability {name}"))
}

pub(crate) fn grant(sim: &mut Sim, who: ControllerId, name: &str) -> GrantId {
    let ability = id(sim, name);
    sim.grant(who, AbilityGrant::new(ability)).unwrap()
}

pub(crate) fn cast(sim: &mut Sim, who: ControllerId, name: &str) -> Result<ActivationKey, Refusal> {
    let ability = id(sim, name);
    sim.activate(who, ability, Target::None)
}

pub(crate) fn cancel(sim: &mut Sim, who: ControllerId, name: &str) {
    let ability = id(sim, name);
    sim.cancel(who, Which::Ability(ability)).unwrap();
}

/// A sim with one controller that has these abilities.
pub(crate) fn with(names: &[&str]) -> (Sim, ControllerId, Vec<GrantId>) {
    let (mut sim, who) = kit::one(&rules());
    let grants = names.iter().map(|n| grant(&mut sim, who, n)).collect();
    kinds(&mut sim);
    (sim, who, grants)
}

pub(crate) fn has(sim: &Sim, who: ControllerId, name: &str) -> bool {
    sim.has_tag(who, tag(sim.rules(), name)).unwrap()
}

pub(crate) fn reasons(sim: &Sim, who: ControllerId, name: &str, target: Target) -> Vec<Reason> {
    let mut list = Vec::new();
    sim.why_not(who, Which::Ability(id(sim, name)), target, &mut list).unwrap();
    list
}

pub(crate) fn running(sim: &Sim, who: ControllerId) -> usize {
    sim.activations(who).unwrap().count()
}

pub(crate) fn ended(sim: &mut Sim) -> Vec<bool> {
    let cancelled = |k: FactKind| match k {
        FactKind::AbilityEnded { cancelled, .. } => Some(cancelled),
        _ => None,
    };
    kinds(sim).into_iter().filter_map(cancelled).collect()
}
