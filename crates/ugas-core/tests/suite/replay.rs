//! Resimulation of one row: it neither changes other rows nor loses what their abilities, code and events did to it.

use crate::kit::tasks::*;
use std::sync::Arc;
use ugas_core::*;
use ugas_doc::{Ability, Combat, Effect, TagRegistry, Trigger};

fn other(sim: &mut Sim, rules: &Arc<Rules>, name: &str) -> ControllerId {
    let foe = spawn(sim);
    sim.grant(foe, AbilityGrant::new(ability(rules, name))).unwrap();
    foe
}

/// A hero with a journal, one second after an image of it was taken.
fn journalled(rules: &Arc<Rules>) -> (Stage, RowImage) {
    let mut s = Stage::new(rules, "GA");
    s.sim.keep_journal(s.hero).unwrap();
    let mut image = RowImage::default();
    s.sim.capture(s.hero, &mut image).unwrap();
    go(&mut s.sim, 1.0);
    (s, image)
}

/// Resimulates the hero from its image to the current time; the hash must stay the same.
fn replay(s: &mut Stage, image: &RowImage) {
    let before = s.sim.hash();
    let (journal, now) = (s.sim.journal(s.hero).unwrap(), s.sim.now());
    s.sim.resimulate(image, Some(&journal), &mut [ResimulationStop::at(now)]).unwrap();
    assert_eq!(s.sim.hash(), before, "the replay gave another world");
}

fn strike_rules(leech: Ability) -> Arc<Rules> {
    base()
        .add(Effect { combat: Some(Combat::default()), ..Effect::instant("GE_Strike").add("Health", -10.0) })
        .add(TagRegistry::new(["Event.Damage.Dealt", "Event.Damage.Taken"]))
        .add(Ability::new("GA").task(wait(100.0)))
        .add(leech.trigger(Trigger::event("Event.Damage.Dealt")))
        .build()
        .unwrap()
}

#[test]
fn a_resimulation_does_not_repeat_the_reaction_of_the_attacker() {
    let rules = strike_rules(Ability::new("GA_Leech").task(mark("GE_Mark")));
    let (mut s, image) = journalled(&rules);
    let foe = other(&mut s.sim, &rules, "GA_Leech");
    s.sim.apply(&Spec::new(rules.effect("GE_Strike").unwrap(), s.hero).from(foe)).unwrap();
    go(&mut s.sim, 1.0);
    assert_eq!(get(&s.sim, foe, "AttackPower"), 11.0);
    replay(&mut s, &image);
    assert_eq!((s.get("Health"), get(&s.sim, foe, "AttackPower")), (90.0, 11.0));
}

#[test]
fn a_resimulation_does_not_activate_abilities_of_other_controllers() {
    let rules = strike_rules(Ability::new("GA_Leech").multiple().task(wait(100.0)));
    let (mut s, image) = journalled(&rules);
    let foe = other(&mut s.sim, &rules, "GA_Leech");
    s.sim.apply(&Spec::new(rules.effect("GE_Strike").unwrap(), s.hero).from(foe)).unwrap();
    go(&mut s.sim, 1.0);
    replay(&mut s, &image);
    assert_eq!(s.sim.activations(foe).unwrap().count(), 1);
}

#[test]
fn a_resimulation_repeats_the_reaction_to_damage_dealt() {
    let rules = base()
        .add(Effect { combat: Some(Combat::default()), ..Effect::instant("GE_Strike").add("Health", -10.0) })
        .add(TagRegistry::new(["Event.Damage.Dealt", "Event.Damage.Taken"]))
        .add(Ability::new("GA").trigger(Trigger::event("Event.Damage.Dealt")).task(mark("GE_Mark")))
        .build()
        .unwrap();
    let (mut s, image) = journalled(&rules);
    let foe = spawn(&mut s.sim);
    s.sim.apply(&Spec::new(rules.effect("GE_Strike").unwrap(), foe).from(s.hero)).unwrap();
    go(&mut s.sim, 1.0);
    assert_eq!(s.get("AttackPower"), 11.0);
    replay(&mut s, &image);
    assert_eq!(s.get("AttackPower"), 11.0);
}

#[test]
fn a_resimulation_includes_changes_by_another_controllers_ability() {
    let rules = base()
        .add(Ability::new("GA").task(wait(100.0)))
        .add(Ability::new("GA_Shoot").task(task("ApplyEffectToTarget").param("EffectClass", "GE_Hurt")))
        .add(Effect::infinite("GE_Buff").grants("State.Buff"))
        .add(Ability::new("GA_Strip").task(task("RemoveEffectFromTarget").param("EffectClass", "GE_Buff")))
        .build()
        .unwrap();
    let (mut s, image) = journalled(&rules);
    let foe = other(&mut s.sim, &rules, "GA_Shoot");
    s.sim.grant(foe, AbilityGrant::new(ability(&rules, "GA_Strip"))).unwrap();
    s.sim.apply(&Spec::new(rules.effect("GE_Buff").unwrap(), s.hero)).unwrap();
    let buff = tag(&rules, "State.Buff");
    for name in ["GA_Shoot", "GA_Strip"] {
        s.sim.activate(foe, ability(&rules, name), Target::Controller(s.hero)).unwrap();
    }
    go(&mut s.sim, 1.0);
    assert_eq!((s.get("Health"), s.sim.has_tag(s.hero, buff).unwrap()), (90.0, false));
    replay(&mut s, &image);
    assert_eq!((s.get("Health"), s.sim.has_tag(s.hero, buff).unwrap()), (90.0, false));
}

#[test]
fn a_resimulation_includes_events_of_another_controllers_ability() {
    let rules = base()
        .add(Ability::new("GA").trigger(Trigger::event("Event.Other")).task(mark("GE_Mark")))
        .add(Ability::new("GA_Tell").task(task("SendEvent").param("EventTag", "Event.Other").param("To", "Target")))
        .build()
        .unwrap();
    let (mut s, image) = journalled(&rules);
    let foe = other(&mut s.sim, &rules, "GA_Tell");
    s.sim.activate(foe, ability(&rules, "GA_Tell"), Target::Controller(s.hero)).unwrap();
    go(&mut s.sim, 1.0);
    assert_eq!(s.get("AttackPower"), 11.0);
    replay(&mut s, &image);
    assert_eq!(s.get("AttackPower"), 11.0);
}

/// The foe sends an event to the hero and damages it: the hero reacts after both, in a resimulation too.
#[test]
fn a_resimulation_keeps_the_order_of_events_and_reactions() {
    let send = task("SendEvent").param("EventTag", "Event.Other").param("To", "Target");
    let shoot = task("ApplyEffectToTarget").param("EffectClass", "GE_Hurt");
    let mut answer = Ability::new("GA").multiple().trigger(Trigger::event("Event.Other")).task(mark("GE_Mark"));
    answer.activation_condition = Some("Health < 95".into());
    let rules = base().add(answer).add(Ability::new("GA_Tell").task(send).task(shoot)).build().unwrap();
    let (mut s, image) = journalled(&rules);
    let foe = other(&mut s.sim, &rules, "GA_Tell");
    s.sim.activate(foe, ability(&rules, "GA_Tell"), Target::Controller(s.hero)).unwrap();
    go(&mut s.sim, 1.0);
    assert_eq!((s.get("Health"), s.get("AttackPower")), (90.0, 11.0));
    replay(&mut s, &image);
    assert_eq!((s.get("Health"), s.get("AttackPower")), (90.0, 11.0));
    // Without the first op of all nothing of it happened.
    let mut journal = s.sim.journal(s.hero).unwrap();
    assert_eq!(journal.ops().count(), 0);
    let root = facts(&mut s.sim).iter().find(|f| f.kind.name() == "GameplayEvent").unwrap().root;
    journal.remove(root);
    let now = s.sim.now();
    s.sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(now)]).unwrap();
    assert_eq!((s.get("Health"), s.get("AttackPower")), (100.0, 10.0));
}

/// Damages its target and sends it an event.
struct Caller;
impl CodedAbility for Caller {
    type State = u32;
    fn resume(&self, _: &mut u32, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        let (hurt, other) = (cx.rules().effect("GE_Hurt").unwrap(), cx.rules().tag("Event.Other").unwrap());
        if let (Resume::Activated, Target::Controller(target)) = (why, cx.target()) {
            cx.apply_to_target(hurt);
            cx.send(other, target, 1.0);
        }
        Next::End
    }
}

#[test]
fn a_resimulation_includes_changes_by_another_controllers_code() {
    let rules = base()
        .add(Ability::new("GA").trigger(Trigger::event("Event.Other")).task(mark("GE_Mark")))
        .add(Ability::new("GA_Call"))
        .ability_code("GA_Call", Caller)
        .build()
        .unwrap();
    let (mut s, image) = journalled(&rules);
    let foe = other(&mut s.sim, &rules, "GA_Call");
    s.sim.activate(foe, ability(&rules, "GA_Call"), Target::Controller(s.hero)).unwrap();
    go(&mut s.sim, 1.0);
    assert_eq!((s.get("Health"), s.get("AttackPower")), (90.0, 11.0));
    replay(&mut s, &image);
}
