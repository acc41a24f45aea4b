//! Passive abilities: when they start, and what does not start them.

use crate::kit::tasks::*;
use ugas_core::{AbilityGrant, ActorId, Op, ParamId, Sim, Spec, Target, Which};
use ugas_doc::{Ability, CombatRule, Effect};

#[test]
fn passives_start_when_the_blocking_condition_ends() {
    let restrict = CombatRule { on: "AbilityUse".into(), restrict: true, ..CombatRule::default() };
    let rules = base()
        .add(Effect { rules: vec![restrict], ..Effect::infinite("GE_Bar") })
        .add(Ability::new("GA").tag("Ability.Ward").blocks("Ability.Aura").task(wait(2.0)))
        .add(Ability::new("GA_Aura").tag("Ability.Aura").passively().owned("State.Aura"))
        .add(Ability::new("GA_Body").needs_avatar().passively().owned("State.Body"))
        .add(Ability::new("GA_Late").passively().owned("State.Late"))
        .add(Ability::new("GA_Cast").cast(1.0, 1).task(wait(5.0)))
        .build()
        .unwrap();
    let mut s = Stage::new(&rules, "GA");
    let has = |sim: &Sim, who, name: &str| sim.has_tag(who, tag(&rules, name)).unwrap();
    s.activate();
    s.sim.grant(s.hero, AbilityGrant::new(ability(&rules, "GA_Aura"))).unwrap();
    s.sim.grant(s.hero, AbilityGrant::new(ability(&rules, "GA_Body"))).unwrap();
    assert!(!has(&s.sim, s.hero, "State.Aura"));
    go(&mut s.sim, 10.0);
    assert!(has(&s.sim, s.hero, "State.Aura"), "what blocked it has ended");
    s.sim.run(Op::Possess { who: s.hero, avatar: Some(ActorId(7)) }).unwrap();
    assert!(has(&s.sim, s.hero, "State.Body"), "there is an avatar now");

    let late = AbilityGrant::new(ability(&rules, "GA_Late"));
    s.sim.run(Op::SetActive { who: s.hero, active: false }).unwrap();
    s.sim.grant(s.hero, late).unwrap();
    assert!(!has(&s.sim, s.hero, "State.Late"));
    s.sim.run(Op::SetActive { who: s.hero, active: true }).unwrap();
    assert!(has(&s.sim, s.hero, "State.Late"), "its owner is active again");

    let foe = spawn(&mut s.sim);
    let bar = s.sim.apply(&Spec::new(rules.effect("GE_Bar").unwrap(), foe)).unwrap();
    let grant = s.sim.grant(foe, late).unwrap();
    let name = ParamId::named("Locked");
    s.sim.restrict(foe, grant, name, true).unwrap();
    s.sim.remove(bar).unwrap();
    assert!(!has(&s.sim, foe, "State.Late"), "its own restriction holds");
    s.sim.restrict(foe, grant, name, false).unwrap();
    assert!(has(&s.sim, foe, "State.Late"), "it is not restricted any more");

    let third = spawn(&mut s.sim);
    let bar = s.sim.apply(&Spec::new(rules.effect("GE_Bar").unwrap(), third)).unwrap();
    s.sim.grant(third, late).unwrap();
    s.sim.remove(bar).unwrap();
    assert!(has(&s.sim, third, "State.Late"), "no rule forbids it any more");

    let fourth = spawn(&mut s.sim);
    s.sim.grant(fourth, AbilityGrant::new(ability(&rules, "GA_Cast"))).unwrap();
    s.sim.activate(fourth, ability(&rules, "GA_Cast"), Target::None).unwrap();
    s.sim.grant(fourth, late).unwrap();
    assert!(!has(&s.sim, fourth, "State.Late"));
    go(&mut s.sim, 12.0);
    assert!(has(&s.sim, fourth, "State.Late"), "the cast is over");
}

// A passive ability that is ended stays ended until something else changes: its own end is no reason to start it.
#[test]
fn a_passive_that_ends_does_not_restart_itself() {
    let rules = base()
        .add(Ability::new("GA").tag("Ability.Aura").blocks("Ability.Aura").passively().owned("State.Aura"))
        .build()
        .unwrap();
    let mut s = Stage::new(&rules, "GA");
    assert!(s.is_active());
    s.sim.run(Op::Cancel { who: s.hero, which: Which::Ability(s.ability) }).unwrap();
    assert!(!s.is_active());
}
