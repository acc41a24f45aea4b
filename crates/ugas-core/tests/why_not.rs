//! On random states: `why_not` says what `activate` says, and the castable status is what a fresh look gives.

mod common;

use common::Rng;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, Anchor, ControllerId, EffectFilter, GrantId, NoHost, Op, Reason, Rules, Sim, SimTime, Spec, Target,
    Which,
};
use ugas_doc::{Ability, AbilityTask, Effect, GroupPolicy};

fn rules() -> Arc<Rules> {
    let wait = |s: f64| AbilityTask::new("WaitDelay").param("Duration", s);
    common::world()
        .add(Effect::instant("GE_Cost").add("Mana", -15.0))
        .add(Effect::instant("GE_Gain").add("Mana", 25.0))
        .add(Effect::instant("GE_Hurt").add("Health", -40.0))
        .add(Effect::instant("GE_Heal").add("Health", 60.0))
        .add(Effect::lasting("GE_Cool", 2.0).grants("Cooldown.A"))
        .add(Effect::lasting("GE_Slow", 3.0).grants("Cooldown.B").requires("State.Alive"))
        .add(Effect::lasting("GE_Mute", 1.5).grants("State.Silenced"))
        .add(Effect::lasting("GE_Alive", 4.0).grants("State.Alive"))
        .add(
            Ability::new("GA_A")
                .tag("Ability.Spell")
                .blocked("State.Silenced")
                .cost("GE_Cost")
                .cooldown("GE_Cool")
                .owned("State.Casting")
                .task(wait(1.0)),
        )
        .add(Ability::new("GA_B").requires("State.Alive").cooldown("GE_Slow").gcd(0.75).range(5.0).task(wait(0.5)))
        .add(
            Ability::new("GA_C")
                .blocks("Ability.Spell")
                .group("G", GroupPolicy::Exclusive)
                .charges(2, 3.0)
                .task(wait(2.0)),
        )
        .add(Ability::new("GA_D").group("G", GroupPolicy::Replaceable).retriggered().cast(1.0, 2))
        .add(Ability::new("GA_E").condition("Mana > 20 && level > 1").target_requires("State.Alive").multiple())
        .add(
            Ability::new("GA_F")
                .query("State.Alive & !State.Silenced")
                .blocked_by("State.Casting")
                .while_dead()
                .cost("GE_Cost"),
        )
        .build()
        .unwrap()
}

/// Asks everything there is to ask and compares.
fn compare(sim: &Sim, who: ControllerId, grants: &[GrantId], target: Target, seed: u64) {
    let mut reasons: Vec<Reason> = Vec::new();
    for &grant in grants {
        let which = Which::Grant(grant);
        sim.why_not(who, which, target, &mut reasons).unwrap();
        let mut tried = sim.clone();
        let result = tried.activate_which(who, which, target);
        assert_eq!(result.is_ok(), reasons.is_empty(), "seed {seed}: {result:?} against {reasons:?}");
        if let Err(refusal) = result {
            assert_eq!(refusal, reasons[0].refusal, "seed {seed}");
        }
        // A status that was remembered, and the same asked of a sim that has nothing remembered.
        let mut fresh = sim.clone();
        let portable = fresh.extract(who).unwrap();
        fresh.insert(&portable).unwrap();
        assert_eq!(sim.castable(who, grant).unwrap(), fresh.castable(who, grant).unwrap(), "seed {seed}");
    }
}

// covers: SAI-2.2-04 UGAS-8.3-07
#[test]
fn why_not_agrees_with_activate_on_random_states() {
    let rules = rules();
    let names = ["GA_A", "GA_B", "GA_C", "GA_D", "GA_E", "GA_F"];
    let effects = ["GE_Cost", "GE_Gain", "GE_Hurt", "GE_Heal", "GE_Cool", "GE_Mute", "GE_Alive", "GE_Alive"];
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let soak = number("UGAS_SOAK") == Some(1);
    let (from, seeds) = if soak {
        (number("UGAS_SOAK_FROM").unwrap_or(0), number("UGAS_SOAK_SEEDS").unwrap_or(4_000))
    } else {
        (0, 700)
    };
    for seed in from..from + seeds {
        let mut n = Rng(seed + 1);
        let (mut sim, who) = common::one(&rules);
        let other = common::spawn(&mut sim);
        let grants: Vec<GrantId> = names
            .iter()
            .map(|name| {
                let grant = AbilityGrant::new(rules.ability(name).unwrap()).level(1 + n.below(2) as u32);
                sim.grant(who, grant).unwrap()
            })
            .collect();
        for _ in 0..25 {
            let target = *n.pick(&[Target::None, Target::Controller(other), Target::Point([3.0, 0.0, 0.0])]);
            match n.below(8) {
                0..=2 => {
                    let e = rules.effect(n.pick::<&str>(&effects)).unwrap();
                    let on = *n.pick(&[who, who, other]);
                    let _ = sim.apply(&Spec::new(e, on));
                }
                3..=4 => {
                    let _ = sim.activate_which(who, Which::Grant(*n.pick(&grants)), target);
                }
                5 => {
                    let x = n.below(12) as f64;
                    sim.run(Op::Move { who, anchor: Some(Anchor::at([x, 0.0, 0.0])) }).unwrap();
                    sim.run(Op::Move { who: other, anchor: Some(Anchor::at([0.0; 3])) }).unwrap();
                }
                6 => {
                    let until = sim.now() + SimTime::seconds(n.below(20) as f64 / 8.0);
                    sim.advance_to(until, &mut NoHost);
                }
                _ => {
                    let _ = sim.cancel(who, Which::Grant(*n.pick(&grants)));
                    let filter = EffectFilter { effect: rules.effect("GE_Cool"), ..EffectFilter::default() };
                    sim.run(Op::RemoveMatching { who, filter }).unwrap();
                }
            }
            compare(&sim, who, &grants, target, seed);
        }
    }
    if soak {
        let (to, cases) = (from + seeds, seeds * 25);
        println!("soak: name=why_not_agrees_with_activate_on_random_states seeds={from}..{to} cases={cases}");
    }
}
