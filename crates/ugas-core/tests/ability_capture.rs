//! Running abilities are data: forked, captured, rolled back and moved in the middle of anything, they go on alike.

mod kit;
use kit::*;
use std::collections::BTreeSet;
use ugas_core::FactKind;

/// Ticks of a soak; CI runs fewer.
fn ticks(few: u32) -> u32 {
    if std::env::var_os("UGAS_SOAK").is_some() { 20_000 } else { few }
}

// The script is worth nothing if it does not reach what it is for.
#[test]
fn the_script_uses_every_type_of_task_and_every_kind_of_combat_state() {
    let rules = kit();
    let mut seen = BTreeSet::new();
    let (mut casts, mut gcds, mut charges, mut held, mut pending) = (0, 0, 0, 0, 0);
    for seed in 0..4 {
        let mut p = Play::new(&rules, seed);
        for _ in 0..400 {
            p.step();
            for who in [p.hero, p.foe] {
                seen.extend(p.sim.tasks(who).unwrap().iter().map(|t| rules.task_kind_name(t.kind).unwrap().to_owned()));
                casts += p.sim.cast(who).unwrap().is_some() as u32;
                gcds += p.sim.global_cooldowns(who).unwrap().len();
                let fire = rules.input("Fire").unwrap();
                held += p.sim.held(who, fire).unwrap().is_some() as u32;
                let waits = ugas_core::AbilityState::PendingConfirmation;
                pending += p.sim.activations(who).unwrap().filter(|a| a.state == waits).count();
            }
            charges += facts(&mut p.sim).iter().filter(|f| matches!(f.kind, FactKind::Charges { .. })).count();
        }
    }
    let all: BTreeSet<_> = rules.task_kinds().map(|(_, name, _)| name.to_owned()).collect();
    let waits: Vec<_> = all.iter().filter(|n| n.starts_with("Wait") || *n == "Counter").collect();
    let missing: Vec<_> = waits.into_iter().filter(|n| !seen.contains(*n)).collect();
    assert!(missing.is_empty(), "never slept: {missing:?}");
    assert!(casts > 50 && gcds > 50 && charges > 50 && held > 50 && pending > 50);
}

#[test]
fn a_fork_goes_on_like_the_original_from_any_tick() {
    let rules = kit();
    for seed in 0..3 {
        let mut p = Play::new(&rules, seed);
        for tick in 0..ticks(150) {
            let mut fork = p.clone();
            assert_eq!(fork.run(12), p.clone().run(12), "seed {seed} tick {tick}");
            p.step();
        }
    }
}

// Save, advance k frames, roll back, advance again.
#[test]
fn rolling_back_and_running_again_gives_the_same() {
    let rules = kit();
    let mut p = Play::new(&rules, 5);
    let mut saved = p.sim.clone();
    let (mut k, all) = (1, ticks(500));
    while p.tick < all {
        let tick = p.tick;
        saved.clone_from(&p.sim);
        let first = p.run(k);
        p.sim.clone_from(&saved);
        p.tick = tick;
        let again = p.run(k);
        assert_eq!(first, again, "tick {tick}, {k} frames");
        k = k % 16 + 1;
    }
}
