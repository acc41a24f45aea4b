//! On random states `why_not` agrees with `activate`, and the castable status with a fresh check.

use crate::kit::tasks::{Stage, rules_with, wait};
use crate::kit::{self, Rng};
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, Anchor, ControllerId, EffectFilter, GrantId, Limits, Op, Reason, Refusal, Rules, Sim, SimConfig,
    SimTime, Spec, Target, Which,
};
use ugas_doc::{Ability, AbilityTask, Effect, GroupPolicy};

fn rules() -> Arc<Rules> {
    let wait = |s: f64| AbilityTask::new("WaitDelay").param("Duration", s);
    kit::world()
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

/// The expected refusals, from a second implementation of the checks on public reads.
fn expected(sim: &Sim, who: ControllerId, name: &str, grant: GrantId) -> Vec<&'static str> {
    let rules = sim.rules();
    let has = |tag: &str| sim.has_tag(who, rules.tag(tag).unwrap()).unwrap();
    let get = |attribute: &str| sim.get(who, rules.attribute(attribute).unwrap()).unwrap();
    let runs = |ability: &str| sim.activations(who).unwrap().any(|a| Some(a.ability) == rules.find_ability(ability));
    let mut wrong = Vec::new();
    let mut note = |is_so: bool, kind| wrong.extend(is_so.then_some(kind));
    note(name != "GA_D" && name != "GA_E" && runs(name), "AlreadyActive");
    note(name != "GA_F" && get("Health") <= 0.0, "Dead");
    note(name == "GA_B" && !has("State.Alive"), "RequiredTags");
    note(name == "GA_A" && has("State.Silenced"), "BlockedTags");
    note(name == "GA_F" && has("State.Casting"), "BlockedByTags");
    note(name == "GA_A" && runs("GA_C"), "BlockedByAbility");
    note(name == "GA_D" && runs("GA_C"), "Group");
    note(name == "GA_F" && (!has("State.Alive") || has("State.Silenced")), "Query");
    let level = sim.grants(who).unwrap().iter().find(|g| g.id == grant).unwrap().level;
    note(name == "GA_E" && (get("Mana") <= 20.0 || level < 2), "Condition");
    note(sim.cast(who).unwrap().is_some(), "Casting");
    let charges = sim.charges(who, grant).unwrap();
    note(charges.is_some_and(|c| c.have < c.cost), "Charges");
    note((name == "GA_A" || name == "GA_F") && get("Mana") < 15.0, "Cost");
    note(name == "GA_A" && has("Cooldown.A") || name == "GA_B" && has("Cooldown.B"), "Cooldown");
    wrong
}

/// Checks that hang on the target or on a group of cooldowns, or that repeat another one at the commit.
const ELSEWHERE: [&str; 5] = ["TargetTags", "NoTarget", "OutOfRange", "GlobalCooldown", "Pending"];

/// Every failed check is listed, and no other; a check that passes with time has its time.
fn complete(sim: &Sim, who: ControllerId, names: &[&str], grants: &[GrantId], target: Target) {
    let mut reasons: Vec<Reason> = Vec::new();
    for (name, &grant) in names.iter().zip(grants) {
        sim.why_not(who, Which::Grant(grant), target, &mut reasons).unwrap();
        let mut found: Vec<_> = reasons.iter().map(|r| r.refusal.kind()).collect();
        found.retain(|kind| !ELSEWHERE.contains(kind));
        let mut wanted = expected(sim, who, name, grant);
        // Without what its cooldown asks of the owner an ability cannot commit either.
        if *name == "GA_B" && wanted.contains(&"RequiredTags") && !wanted.contains(&"Cooldown") {
            wanted.push("RequiredTags");
        }
        assert_eq!(found, wanted, "{name}");
        for reason in &reasons {
            let granting = match reason.refusal {
                Refusal::BlockedTags { .. } => "State.Silenced",
                Refusal::BlockedByTags { .. } => "State.Casting",
                Refusal::Cooldown { .. } if *name == "GA_A" => "Cooldown.A",
                Refusal::Cooldown { .. } => "Cooldown.B",
                _ => continue,
            };
            let tag = sim.rules().tag(granting).unwrap();
            let filter = EffectFilter { with_any_tag: vec![tag], ..EffectFilter::default() };
            let ends = sim.query(who, &filter).unwrap().into_iter().map(|key| sim.effect(key).unwrap().remaining);
            let last = ends.collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max());
            assert_eq!(reason.clears_at, last.map(|left| sim.now() + left), "{name}");
        }
    }
}

// covers: OWN-02 SAI-2.2-04 UGAS-8.3-07
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
        let (mut sim, who) = kit::one(&rules);
        let other = kit::spawn(&mut sim);
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
                    sim.advance_to(until);
                }
                _ => {
                    let _ = sim.cancel(who, Which::Grant(*n.pick(&grants)));
                    let filter = EffectFilter { effect: rules.find_effect("GE_Cool"), ..EffectFilter::default() };
                    sim.run(Op::RemoveMatching { who, filter }).unwrap();
                }
            }
            compare(&sim, who, &grants, target, seed);
            complete(&sim, who, &names, &grants, target);
        }
    }
    if soak {
        let (to, cases) = (from + seeds, seeds * 25);
        println!("soak: name=why_not_agrees_with_activate_on_random_states seeds={from}..{to} cases={cases}");
    }
}

#[test]
fn why_not_reports_the_activation_limit() {
    let limits = Limits { activations_per_controller: 1, ..Limits::default() };
    let rules = rules_with(Ability::new("GA").multiple().task(wait(9.0)));
    let mut s = Stage::with(&rules, "GA", SimConfig { limits, ..SimConfig::default() });
    s.activate();
    let refused = s.sim.activate(s.hero, s.ability, Target::None).unwrap_err();
    let mut why = Vec::new();
    s.sim.why_not(s.hero, Which::Ability(s.ability), Target::None, &mut why).unwrap();
    assert_eq!(why.iter().map(|r| r.refusal.kind()).collect::<Vec<_>>(), [refused.kind()]);
    assert_eq!(s.sim.check(s.hero, s.ability, Target::None).unwrap_err().kind(), "Limit");
}
