//! Previews: what an op would do, without doing it.

use crate::kit;
use ugas_core::{AbilityGrant, ControllerId, Op, Refusal, SimTime, Spec, Target, Which};
use ugas_doc::{Ability, AbilityTask, Effect, Magnitude};

fn spec(sim: &ugas_core::Sim, effect: &str, target: ControllerId) -> Spec {
    Spec::new(sim.rules().effect(effect).unwrap(), target)
}

#[test]
fn a_preview_shows_values_tags_and_removed_effects() {
    let rules = kit::world()
        .add(Effect::lasting("GE_Burn", 5.0).every(1.0).add("Health", -5.0).grants("Status.Burning"))
        .add(Effect {
            remove_effects_with_tags: vec!["Status.Burning".into()],
            ..Effect::lasting("GE_Water", 2.0).add("Defense", 3.0).grants("Status.Frozen")
        })
        .build()
        .unwrap();
    let (mut sim, who) = kit::one(&rules);
    let burn = sim.apply(&spec(&sim, "GE_Burn", who)).unwrap();
    let hash = sim.hash();
    let preview = sim.preview(&spec(&sim, "GE_Water", who));
    assert_eq!(sim.hash(), hash);
    let row = preview.row(who).unwrap();
    assert_eq!(row.attributes.len(), 6);
    let defense = preview.attribute(who, rules.attribute("Defense").unwrap()).unwrap();
    assert_eq!((defense.before, defense.after, defense.base_after), (5.0, 8.0, 5.0));
    assert!(!preview.attribute(who, rules.attribute("Health").unwrap()).unwrap().is_changed());
    assert_eq!(row.tags_added, [rules.tag("Status.Frozen").unwrap()]);
    assert_eq!(row.tags_removed, [rules.tag("Status.Burning").unwrap()]);
    assert_eq!(row.effects_removed.iter().map(|e| e.key).collect::<Vec<_>>(), [burn]);
    assert_eq!(row.effects_added[0].remaining, Some(SimTime::seconds(2.0)));
}

#[test]
fn a_refused_application_shows_the_refusal_and_no_change() {
    let rules = kit::world()
        .add(Effect { application_required_tags: vec!["State.Alive".into()], ..Effect::instant("GE_Hit") })
        .build()
        .unwrap();
    let (sim, who) = kit::one(&rules);
    let preview = sim.preview(&spec(&sim, "GE_Hit", who));
    assert_eq!(preview.refusal, Some(Refusal::RequiredTags { missing: rules.tag("State.Alive").unwrap() }));
    assert!(!preview.row(who).unwrap().is_changed());
    assert_eq!(sim.preview(&spec(&sim, "GE_Hit", ControllerId(99))).refusal, Some(Refusal::StaleHandle));
}

/// Of a hundred controllers only those that are concerned are copied; a follower of a follower is.
#[test]
fn a_preview_includes_controllers_that_depend_on_a_changed_attribute() {
    let follow = || Magnitude::attribute("AttackPower").times(0.5);
    let rules = kit::world()
        .add(Effect::infinite("GE_Follow").add("AttackPower", follow()))
        .add(Effect::infinite("GE_Strength").add("AttackPower", 10.0))
        .build()
        .unwrap();
    let (mut sim, leader) = kit::one(&rules);
    let others: Vec<ControllerId> = (0..100).map(|_| kit::spawn(&mut sim)).collect();
    sim.apply(&spec(&sim, "GE_Follow", others[0]).from(leader)).unwrap();
    sim.apply(&spec(&sim, "GE_Follow", others[1]).from(others[0])).unwrap();
    let power = rules.attribute("AttackPower").unwrap();
    let strength = spec(&sim, "GE_Strength", leader);
    let preview = sim.preview(&strength);
    assert_eq!(preview.rows.iter().map(|r| r.who).collect::<Vec<_>>(), [leader, others[0], others[1]]);
    sim.apply(&strength).unwrap();
    for who in [leader, others[0], others[1]] {
        assert_eq!(preview.attribute(who, power).unwrap().after, sim.get(who, power).unwrap());
    }
}

#[test]
fn the_preview_of_an_ability_shows_cost_cooldown_and_immediate_effects() {
    let hit = AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Hit");
    let rules = kit::world()
        .add(Effect::instant("GE_Cost").add("Mana", -20.0))
        .add(Effect::lasting("GE_Cool", 3.0).grants("Cooldown.Bolt"))
        .add(Effect::instant("GE_Hit").add("Health", -30.0))
        .add(Ability::new("GA_Bolt").cost("GE_Cost").cooldown("GE_Cool").task(hit))
        .build()
        .unwrap();
    let (mut sim, who) = kit::one(&rules);
    let foe = kit::spawn(&mut sim);
    let bolt = rules.ability("GA_Bolt").unwrap();
    sim.grant(who, AbilityGrant::new(bolt)).unwrap();
    let preview = sim.preview_ability(who, bolt, Target::Controller(foe));
    let after = |who, name: &str| preview.attribute(who, rules.attribute(name).unwrap()).unwrap().after;
    assert_eq!((preview.refusal, after(who, "Mana"), after(foe, "Health")), (None, 30.0, 70.0));
    assert_eq!(preview.row(who).unwrap().tags_added, [rules.tag("Cooldown.Bolt").unwrap()]);
    sim.activate(who, bolt, Target::Controller(foe)).unwrap();
    let refusal = sim.preview_ability(who, bolt, Target::Controller(foe)).refusal;
    assert!(matches!(refusal, Some(Refusal::Cooldown { .. })), "{refusal:?}");
    let commit = sim.preview_op(&Op::Commit { who, which: Which::Ability(bolt) });
    assert!(!commit.row(who).unwrap().is_changed());
}

#[test]
fn later_entries_of_a_batch_preview_see_the_earlier_ones() {
    let rules = kit::world()
        .add(Effect::infinite("GE_Alive").grants("State.Alive"))
        .add(Effect {
            application_required_tags: vec!["State.Alive".into()],
            ..Effect::instant("GE_Hit").add("Health", -10.0)
        })
        .build()
        .unwrap();
    let (sim, who) = kit::one(&rules);
    let (alive, hit) = (spec(&sim, "GE_Alive", who), spec(&sim, "GE_Hit", who));
    let preview = sim.preview_all(&[hit.clone(), alive, hit.clone(), hit]);
    assert_eq!(preview.parts.iter().map(Result::is_ok).collect::<Vec<_>>(), [false, true, true, true]);
    assert_eq!(preview.attribute(who, rules.attribute("Health").unwrap()).unwrap().after, 80.0);
}
