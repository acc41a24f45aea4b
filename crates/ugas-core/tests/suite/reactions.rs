//! Which abilities and tasks react to an event, a tag or an effect: only those that waited when it happened; and the
//! order of the consequences.

use crate::kit::abilities::{cast, grant, has, running, waits, world};
use crate::kit::{self, apply, effect, facts, go, go_to, kinds};
use ugas_core::{
    AbilityGrant, EffectFilter, FactKind, Op, Outcome, Refusal, Rules, Sim, SimTime, SpawnSpec, Target, Which,
};
use ugas_doc::{Ability, AbilitySet, AbilityTask, Attribute, AttributeSet, Combat, Effect, Trigger};

fn sim(rules: ugas_core::RulesBuilder) -> (Sim, ugas_core::ControllerId) {
    kit::one(&rules.build().unwrap())
}

fn ended_tasks(sim: &mut Sim) -> usize {
    kinds(sim).iter().filter(|k| matches!(k, FactKind::TaskEnded { .. })).count()
}

fn mark() -> Effect {
    Effect::instant("GE_Mark").add("AttackPower", 1.0)
}

// A wait that starts after an event is not woken by it, even if others are.
#[test]
fn a_wait_ignores_events_from_before_it_started() {
    let late = Ability::new("GA_Late")
        .task(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Mark"))
        .task(AbilityTask::new("WaitEffectApplied").param("EffectClass", "GE_Mark"));
    let echo = Ability::new("GA_Other").trigger(Trigger::effect_applied("GE_Mark")).task(waits());
    let (mut sim, who) = sim(world().add(mark()).add(late).add(echo));
    grant(&mut sim, who, "GA_Late");
    grant(&mut sim, who, "GA_Other");
    cast(&mut sim, who, "GA_Late").unwrap();
    assert_eq!(running(&sim, who), 2);
    assert_eq!(ended_tasks(&mut sim), 0);
    apply(&mut sim, "GE_Mark", who);
    assert_eq!(ended_tasks(&mut sim), 1);
}

#[test]
fn a_wait_is_woken_by_a_later_task_of_its_own_list() {
    let both = Ability::new("GA_Both").task(AbilityTask::parallel([
        AbilityTask::new("WaitEffectApplied").param("EffectClass", "GE_Mark"),
        AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Mark"),
    ]));
    let (mut sim, who) = sim(world().add(mark()).add(both));
    grant(&mut sim, who, "GA_Both");
    cast(&mut sim, who, "GA_Both").unwrap();
    assert_eq!(ended_tasks(&mut sim), 1);
    assert_eq!(running(&sim, who), 0);
}

// An ability that pays with the last of its owner's life does not outlive it.
#[test]
fn death_by_its_own_cost_ends_an_ability() {
    let blood = Ability::new("GA_Blood").cost("GE_Blood").task(waits());
    let (mut sim, who) = sim(world().add(Effect::instant("GE_Blood").add("Health", -100.0)).add(blood));
    grant(&mut sim, who, "GA_Blood");
    cast(&mut sim, who, "GA_Blood").unwrap();
    assert_eq!(running(&sim, who), 0);
}

// Only tags from other sources cancel an ability: the tag of its own cooldown does not.
#[test]
fn a_commit_does_not_cancel_its_own_ability() {
    let odd = Ability::new("GA_Odd").cooldown("GE_Cooldown").cancels("Cooldown").task(waits());
    let (mut sim, who) = sim(world().add(odd));
    grant(&mut sim, who, "GA_Odd");
    // An ability that listens to tags.
    grant(&mut sim, who, "GA_Flinch");
    cast(&mut sim, who, "GA_Odd").unwrap();
    assert_eq!(running(&sim, who), 1);
}

// The cooldown's tag may be what makes the owner immune to the tags of the ability: then nothing is spent.
#[test]
fn a_commit_refused_halfway_is_rolled_back() {
    let mut ward = Effect::infinite("GE_Ward");
    ward.immunity = vec![ugas_doc::ImmunityEntry {
        effects: vec!["GE_OwnedTags_GA_Bolt".into()],
        source_tags: vec!["Cooldown.Bolt".into()],
        ..Default::default()
    }];
    let (mut sim, who) = sim(world().add(ward));
    grant(&mut sim, who, "GA_Bolt");
    apply(&mut sim, "GE_Ward", who);
    facts(&mut sim);
    assert!(matches!(cast(&mut sim, who, "GA_Bolt"), Err(Refusal::Immune { .. })));
    assert!(facts(&mut sim).is_empty() && !has(&sim, who, "Cooldown.Bolt"));
    assert_eq!(kit::get(&sim, who, "Mana"), 50.0);
}

// Neither the end of a passive ability nor events while it was active start it again.
#[test]
fn a_cancelled_passive_is_not_restarted_by_earlier_events() {
    let hum = Ability::new("GA_Hum")
        .passively()
        .on_cancel(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Mark"));
    let (mut sim, who) = sim(world().add(mark()).add(hum));
    let hum = grant(&mut sim, who, "GA_Hum");
    // An ability that listens to attributes.
    grant(&mut sim, who, "GA_Panic");
    assert_eq!(running(&sim, who), 1);
    sim.cancel(who, Which::Grant(hum)).unwrap();
    assert_eq!(running(&sim, who), 0);
    apply(&mut sim, "GE_Mark", who);
    assert_eq!(running(&sim, who), 1);
}

// A failed grant of a set drops its own notices, not those queued before it.
#[test]
fn a_failed_set_grant_keeps_earlier_notices() {
    let set = AbilitySet::new("AS_Bad").effect("GE_Silence").effect("GE_Never");
    let never = Effect { application_required_tags: vec!["State.Grounded.Ice".into()], ..Effect::infinite("GE_Never") };
    let rules = world().add(never).add(set).build().unwrap();
    let mut sim = Sim::new(rules.clone(), ugas_core::SimConfig::default());
    let spec = SpawnSpec {
        abilities: vec![AbilityGrant::new(rules.ability("GA_Aura").unwrap())],
        ability_sets: vec![rules.ability_set("AS_Bad").unwrap()],
        ..SpawnSpec::sets([kit::set(&rules, "Combat")])
    };
    let who = sim.spawn(spec).unwrap();
    assert!(!has(&sim, who, "State.Silenced"));
    assert_eq!(running(&sim, who), 1);
}

// A live modifier of another controller is restored too.
#[test]
fn a_failed_set_grant_restores_dependent_controllers() {
    let set = AbilitySet::new("AS_Bad").effect("GE_Rage").effect("GE_Never");
    let never = Effect { application_required_tags: vec!["State.Grounded.Ice".into()], ..Effect::infinite("GE_Never") };
    let share = Effect::infinite("GE_Share").add("Defense", ugas_doc::Magnitude::attribute("AttackPower"));
    let rage = Effect::infinite("GE_Rage").add("AttackPower", 7.0);
    let (mut sim, who) = sim(world().add(never).add(share).add(rage).add(set));
    let other = kit::spawn(&mut sim);
    let share = effect(sim.rules(), "GE_Share");
    sim.apply(&ugas_core::Spec::new(share, other).from(who)).unwrap();
    assert_eq!(kit::get(&sim, other, "Defense"), 15.0);
    let bad = sim.rules().ability_set("AS_Bad").unwrap();
    assert!(matches!(sim.grant_set(who, bad), Err(Refusal::RequiredTags { .. })));
    assert_eq!(kit::get(&sim, who, "AttackPower"), 10.0);
    assert_eq!(kit::get(&sim, other, "Defense"), 15.0);
}

// A frame that is due at the time of another event still runs.
#[test]
fn a_frame_due_at_the_time_of_another_event_still_runs() {
    let held = Ability { held_activation: true, ..Ability::new("GA_Held").cooldown("GE_Short") };
    let short = Effect::lasting("GE_Short", 1.0).grants("Cooldown.Short");
    let set = AbilitySet::new("AS_Held").ability(ugas_doc::SetAbility::new("GA_Held").input("Fire"));
    let watch = Ability::new("GA_Watch")
        .task(AbilityTask::new("WaitEffectRemoved").param("EffectClass", "GE_Short"))
        .task(AbilityTask::new("WaitForTarget"));
    let (mut sim, who) = sim(world().add(short).add(held).add(watch).add(set));
    let set = sim.rules().ability_set("AS_Held").unwrap();
    sim.grant_set(who, set).unwrap();
    grant(&mut sim, who, "GA_Watch");
    let fire = sim.rules().input("Fire").unwrap();
    cast(&mut sim, who, "GA_Watch").unwrap();
    assert!(matches!(sim.press(who, fire, Target::None).unwrap(), Outcome::Pressed { activated: Some(_), .. }));
    sim.release(who, fire).unwrap();
    assert!(matches!(sim.press(who, fire, Target::None).unwrap(), Outcome::Pressed { refused: Some(_), .. }));
    facts(&mut sim);
    go_to(&mut sim, SimTime::seconds(1.0));
    let second_activation = facts(&mut sim).into_iter().find(|f| matches!(f.kind, FactKind::AbilityActivated { .. }));
    assert_eq!(second_activation.map(|f| f.at), Some(SimTime::seconds(1.0)));
}

// Effects that an ability applies while its owner is destroyed are removed too.
#[test]
fn destruction_removes_effects_applied_by_cancel_lists() {
    let last = Ability::new("GA_LastWord")
        .task(waits())
        .on_cancel(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Silence"));
    let (mut sim, who) = sim(world().add(last));
    grant(&mut sim, who, "GA_LastWord");
    cast(&mut sim, who, "GA_LastWord").unwrap();
    facts(&mut sim);
    sim.despawn(who).unwrap();
    let emitted = kinds(&mut sim);
    let applied = emitted.iter().filter(|k| matches!(k, FactKind::EffectApplied { .. })).count();
    let removed = emitted.iter().filter(|k| matches!(k, FactKind::EffectRemoved { .. })).count();
    assert_eq!((applied, removed), (1, 1));
    assert!(matches!(emitted.last(), Some(FactKind::Despawned)));
}

// A controller can be moved although another effect removed the owned tags of its ability.
#[test]
fn an_ability_whose_owned_tags_were_removed_can_be_moved() {
    let (mut sim, who) = sim(world());
    grant(&mut sim, who, "GA_Bolt");
    cast(&mut sim, who, "GA_Bolt").unwrap();
    let casting = kit::tag(sim.rules(), "State.Casting");
    let filter = EffectFilter { with_any_tag: vec![casting], ..EffectFilter::default() };
    sim.run(Op::RemoveMatching { who, filter }).unwrap();
    assert!(!has(&sim, who, "State.Casting"));
    let portable = sim.extract(who).unwrap();
    assert_eq!(sim.insert(&portable).unwrap(), who);
    assert_eq!(running(&sim, who), 1);
    go(&mut sim, 2.0);
}

// An attribute set that others refer to does not go with an ability set.
#[test]
fn an_ability_set_with_a_needed_attribute_set_cannot_be_revoked() {
    let extra = AttributeSet::new("Extra").with(Attribute::new("Limit", 40.0));
    let bound = AttributeSet::new("Bound").with(Attribute::new("Rage", 10.0).max("Limit"));
    let mut set = AbilitySet::new("AS_Extra");
    set.attribute_sets.push("Extra".into());
    let (mut sim, who) = sim(world().add(extra).add(bound).add(set));
    let rules = sim.rules().clone();
    let handle = sim.grant_set(who, rules.ability_set("AS_Extra").unwrap()).unwrap();
    sim.run(Op::AddSet { who, set: kit::set(&rules, "Bound") }).unwrap();
    assert!(matches!(sim.revoke_set(who, handle), Err(Refusal::SetNeeded { .. })));
    sim.run(Op::RemoveSet { who, set: kit::set(&rules, "Bound"), force: false }).unwrap();
    sim.revoke_set(who, handle).unwrap();
}

// A pool that is hit itself and absorbs for another: absorbed damage is not counted as a hit on it.
#[test]
fn absorbed_damage_does_not_count_as_damage_to_the_pool() {
    let shield = Attribute {
        absorb: Some(ugas_doc::Absorb { before: "Health".into(), order: 0 }),
        ..Attribute::new("Shield", 30.0).min(0.0)
    };
    let set = AttributeSet::new("V").with(Attribute::new("Health", 100.0).min(0.0)).with(shield);
    let hit = Effect::instant("GE_Both").add("Health", -10.0).add("Shield", -5.0);
    let rules = Rules::builder().add(set).add(Effect { combat: Some(Combat::default()), ..hit }).build().unwrap();
    let mut sim = Sim::new(rules.clone(), ugas_core::SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([kit::set(&rules, "V")])).unwrap();
    sim.apply(&ugas_core::Spec::new(effect(&rules, "GE_Both"), who)).unwrap();
    let hits: Vec<(f64, f64)> = kinds(&mut sim)
        .iter()
        .filter_map(|k| if let FactKind::Damage { raw, absorbed, .. } = k { Some((*raw, *absorbed)) } else { None })
        .collect();
    assert_eq!(hits, [(10.0, 10.0), (5.0, 0.0)]);
    assert_eq!(kit::get(&sim, who, "Shield"), 15.0);
    assert_eq!(kit::get(&sim, who, "Health"), 100.0);
    assert!(sim.advance_to(SimTime::seconds(1.0)).finished);
}

// An application that removes the effect of an active ability keeps its own magnitudes, although the cancel list of
// that ability applies another effect.
#[test]
fn a_cancel_list_inside_an_application_does_not_replace_its_magnitudes() {
    let mut stance = Effect::infinite("GE_Stance").tagged("State.Stance");
    stance.granted_abilities = vec![ugas_doc::GrantedAbilityEntry::new("GA_Stand")];
    let stand = Ability::new("GA_Stand")
        .task(waits())
        .on_cancel(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Tired"));
    let tired = Effect::lasting("GE_Tired", 5.0).add("AttackPower", -1.0);
    let mut knock = Effect::instant("GE_Knock").add("Health", -30.0).add("Mana", -5.0);
    knock.remove_effects_with_tags = vec!["State.Stance".into()];
    let (mut sim, who) = sim(world().add(stance).add(stand).add(tired).add(knock));
    let before = (kit::get(&sim, who, "Health"), kit::get(&sim, who, "Mana"), kit::get(&sim, who, "AttackPower"));
    apply(&mut sim, "GE_Stance", who);
    cast(&mut sim, who, "GA_Stand").unwrap();
    apply(&mut sim, "GE_Knock", who);
    let after = (kit::get(&sim, who, "Health"), kit::get(&sim, who, "Mana"), kit::get(&sim, who, "AttackPower"));
    assert_eq!(after, (before.0 - 30.0, before.1 - 5.0, before.2 - 1.0));
    assert_eq!(running(&sim, who), 0);
}

/// A stance whose ability hits its target when it is cancelled, and effects that end the stance and are then refused.
fn stances() -> ugas_core::RulesBuilder {
    let mut stance = Effect::infinite("GE_Stance").tagged("State.Stance").add("Defense", 7.0);
    stance.granted_abilities = vec![ugas_doc::GrantedAbilityEntry::new("GA_Stand")];
    let stand = Ability::new("GA_Stand")
        .task(waits())
        .on_cancel(AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Sting"))
        .on_cancel(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Mark"));
    let breaks = |mut e: Effect| {
        e.remove_effects_with_tags = vec!["State.Stance".into()];
        e
    };
    let sting = Effect::instant("GE_Sting").add("Health", -11.0);
    world()
        .add(stance)
        .add(stand)
        .add(sting)
        .add(mark())
        .add(breaks(Effect::instant("GE_Knock").add("Mana", -5.0).execute("ExecCalc_Nan")))
        .add(breaks(Effect::infinite("GE_Daze").add("Mana", -5.0).execute("ExecCalc_Nan")))
        .calc_fn("ExecCalc_Nan", [ugas_core::Read::target("Defense")], |cx| {
            // The stance was removed here.
            let defense = cx.target("Defense");
            cx.add("Health", if defense < 12.0 { f64::NAN } else { -1.0 });
        })
}

fn in_stance() -> (Sim, ugas_core::ControllerId, ugas_core::ControllerId) {
    let (mut sim, who) = sim(stances());
    let other = kit::spawn(&mut sim);
    apply(&mut sim, "GE_Stance", who);
    let stand = sim.rules().ability("GA_Stand").unwrap();
    sim.activate(who, stand, Target::Controller(other)).unwrap();
    facts(&mut sim);
    (sim, who, other)
}

// A refusal changes nothing, not even through the cancel list of an ability that the removal would end.
#[test]
fn a_refused_application_that_would_remove_effects_changes_nothing() {
    for name in ["GE_Knock", "GE_Daze"] {
        let (mut sim, who, other) = in_stance();
        let before = (sim.row_hash(who).unwrap(), sim.row_hash(other).unwrap());
        let spec = ugas_core::Spec::new(effect(sim.rules(), name), who);
        assert!(matches!(sim.apply(&spec), Err(Refusal::NonFinite { .. })), "{name}");
        assert_eq!((sim.row_hash(who).unwrap(), sim.row_hash(other).unwrap()), before, "{name}");
        assert!(facts(&mut sim).is_empty() && running(&sim, who) == 1, "{name}");
    }
}
