//! Damaged data: a portable controller whose bytes were changed is refused or works; it never breaks the sim.

use crate::kit::*;
use ugas_core::{ControllerId, EffectFilter, Op, Portable, Rules, Sim, SimTime, Spec};
use ugas_doc::{Ability, Controller, Effect, ExecutionPolicy, Magnitude, Stacking};

fn small_world() -> std::sync::Arc<Rules> {
    let mut guarded = Effect::infinite("GE_Guarded").grants("State.Buff").add("Defense", 1.0);
    guarded.ongoing_required_tags = vec!["State.Alive".into()];
    world()
        .add(Ability::new("GA_Fire"))
        .add(Controller::new("Hero").set("Combat").ability("GA_Fire").tag("State.Alive").effect("GE_Guarded"))
        .add(guarded)
        .add(Effect::lasting("GE_Tick", 9.0).every(0.5).add("Health", -1.0).cue("GameplayCue.Tick"))
        .add(Effect::lasting("GE_Row", 1.0).policy(ExecutionPolicy::RunInSequence).grants("Status.Burning"))
        .add(Effect::infinite("GE_Stack").multiply_in("Defense", 0.1, "Gear").stacking(Stacking::default()))
        .add(Effect::infinite("GE_Follow").add("Defense", Magnitude::attribute("AttackPower")))
        .build()
        .unwrap()
}

fn packed(rules: &std::sync::Arc<Rules>) -> (Sim, Vec<u8>) {
    let mut sim = Sim::new(rules.clone(), Default::default());
    let hero = sim.spawn(ugas_core::SpawnSpec::template(rules.template("Hero").unwrap())).unwrap();
    let other = spawn(&mut sim);
    for name in ["GE_Tick", "GE_Row", "GE_Row", "GE_Row", "GE_Stack", "GE_Stack"] {
        apply(&mut sim, name, hero);
    }
    sim.apply(&Spec::new(effect(rules, "GE_Follow"), hero).from(other)).unwrap();
    sim.apply(&Spec::new(effect(rules, "GE_Follow"), other).from(other)).ok();
    go(&mut sim, 0.7);
    let bytes = postcard::to_allocvec(&sim.extract(hero).unwrap()).unwrap();
    (sim, bytes)
}

/// Everything a host may do with a controller.
fn use_all(sim: &mut Sim, who: ControllerId) {
    let rules = sim.rules().clone();
    for a in sim.attributes(who).unwrap_or_default() {
        let _ = sim.explain(who, a);
    }
    let _ = (sim.effects(who), sim.tags(who), sim.grants(who), sim.cues(who));
    for name in ["GE_Tick", "GE_Row", "GE_Stack", "GE_Guarded"] {
        let _ = sim.apply(&Spec::new(effect(&rules, name), who));
    }
    let to = sim.now() + SimTime::seconds(3.0);
    sim.advance_to(to);
    sim.hash();
    let filter = EffectFilter { effect: Some(effect(&rules, "GE_Stack")), ..EffectFilter::default() };
    let _ = sim.run(Op::RemoveMatching { who, filter });
    let _ = sim.despawn(who);
    sim.hash();
}

#[test]
fn mutated_bytes_are_refused_or_harmless() {
    let rules = small_world();
    let (sim, bytes) = packed(&rules);
    let mut rng = Rng(42);
    let (mut refused, mut taken) = (0, 0);
    for round in 0..6_000 {
        let mut bad = bytes.clone();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(bad.len());
            bad[at] = match rng.below(4) {
                0 => 0,
                1 => 255,
                2 => bad[at] ^ (1 << rng.below(8)),
                _ => rng.next() as u8,
            };
        }
        if round % 7 == 0 {
            bad.truncate(rng.below(bad.len()));
        }
        let Ok(portable) = postcard::from_bytes::<Portable>(&bad) else {
            continue;
        };
        let mut sim = sim.clone();
        match sim.insert(&portable) {
            Ok(who) => {
                taken += 1;
                use_all(&mut sim, who);
            }
            Err(e) => {
                refused += 1;
                assert!(!e.to_string().is_empty());
                assert_eq!(sim.controllers().count(), 1);
            }
        }
    }
    assert!(refused > 100 && taken > 100, "{refused} refused, {taken} taken");
}

#[test]
fn an_unchanged_portable_round_trips_exactly() {
    let rules = small_world();
    let (mut sim, bytes) = packed(&rules);
    let portable: Portable = postcard::from_bytes(&bytes).unwrap();
    let who = sim.insert(&portable).unwrap();
    assert_eq!(sim.insert(&portable).map_err(|e| e.to_string().contains("exists")), Err(true));
    let again = postcard::to_allocvec(&sim.extract(who).unwrap()).unwrap();
    assert_eq!(again, bytes);
}
