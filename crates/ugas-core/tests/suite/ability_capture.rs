//! Active abilities are part of the state: after a fork, capture, rollback or move at any time they continue
//! identically.

use crate::kit::script::*;
use std::collections::BTreeSet;
use ugas_core::{
    ControllerId, Fact, FactKind, InputId, Op, OpId, Portable, ResimulationStop, RowImage, Sim, SimTime, Spec, Which,
};

/// Ticks of a soak; CI runs fewer.
fn ticks(few: u32, many: u32) -> u32 {
    if std::env::var_os("UGAS_SOAK").is_some() { many } else { few }
}

// The script must reach everything it is meant to cover.
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
fn a_fork_at_any_tick_continues_like_the_original() {
    let rules = kit();
    for seed in 0..3 {
        let mut p = Play::new(&rules, seed);
        for tick in 0..ticks(150, 2_000) {
            let mut fork = p.clone();
            assert_eq!(fork.run(12), p.clone().run(12), "seed {seed} tick {tick}");
            p.step();
        }
    }
}

// Save, advance k frames, roll back, advance again.
#[test]
fn rolling_back_and_resimulating_gives_the_same_state() {
    let rules = kit();
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let (from, seeds) = (number("UGAS_SOAK_FROM").unwrap_or(0), number("UGAS_SOAK_SEEDS").unwrap_or(1));
    let all = ticks(500, 20_000);
    for seed in from..from + seeds {
        let mut p = Play::new(&rules, seed + 5);
        let mut saved = p.sim.clone();
        let mut k = 1;
        while p.tick < all {
            let tick = p.tick;
            saved.clone_from(&p.sim);
            let first = p.run(k);
            p.sim.clone_from(&saved);
            p.tick = tick;
            let resimulated = p.run(k);
            assert_eq!(first, resimulated, "seed {seed}, tick {tick}, {k} frames");
            k = k % 16 + 1;
        }
    }
    if number("UGAS_SOAK") == Some(1) {
        let (to, cases) = (from + seeds, seeds * u64::from(all));
        println!("soak: name=rolling_back_and_resimulating_gives_the_same_state seeds={from}..{to} cases={cases}");
    }
}

/// Facts without the offsets of their details, which depend on when facts are taken.
fn bare(list: &[Fact]) -> Vec<Fact> {
    let strip = |f: &Fact| {
        let mut f = *f;
        if let FactKind::TaskRequest { detail, .. } | FactKind::GameplayEvent { detail, .. } = &mut f.kind {
            *detail = ugas_core::Span::default();
        }
        f
    };
    list.iter().map(strip).collect()
}

// At the time of every fact, and halfway to it.
#[test]
fn a_fork_between_any_two_facts_continues_equally_at_any_stride() {
    let rules = kit();
    let mut p = Play::new(&rules, 11);
    let mut fork_times = 0;
    for tick in 0..ticks(200, 2_000) {
        let whole = p.clone().run(8);
        let whole = (bare(&whole.0), whole.1);
        let (from, to) = (p.sim.now(), p.time_of(p.tick + 1));
        let mut at: Vec<SimTime> = whole.0.iter().map(|f| f.at).filter(|t| *t > from && *t < to).collect();
        at.dedup();
        let halves: Vec<SimTime> = at.iter().map(|t| SimTime((from.0 + t.0) / 2)).collect();
        for at in at.into_iter().chain(halves) {
            fork_times += 1;
            let mut q = p.clone();
            q.ops();
            assert!(q.sim.advance_with(at, &mut Ground(q.foe)).finished);
            let mut emitted = bare(&facts(&mut q.sim));
            let mut fork = q.clone();
            q.frame();
            fork.frame();
            assert_eq!(q.sim.hash(), fork.sim.hash());
            let (one, other) = (facts(&mut q.sim), facts(&mut fork.sim));
            assert_eq!(one, other, "tick {tick} at {at:?}");
            emitted.extend(bare(&one));
            let (rest, other) = (q.run(7), fork.run(7));
            assert_eq!(rest, other, "tick {tick} at {at:?}");
            emitted.extend(bare(&rest.0));
            assert_eq!(emitted, whole.0, "tick {tick} stopped at {at:?}");
        }
        p.step();
        facts(&mut p.sim);
    }
    assert!(fork_times > 50, "{fork_times}");
}

/// Facts about one controller, without the numbers of their links, which a sim counts for all.
fn about(list: &[Fact], who: ControllerId) -> Vec<Fact> {
    list.iter().filter(|f| f.who == who).map(|f| Fact { link: 0, ..*f }).collect()
}

/// As many ops as a way round takes, without any consequence: later ops of the sim have the same numbers.
fn idle(sim: &mut Sim, who: ControllerId, ops: u32) {
    for _ in 0..ops {
        sim.run(Op::Release { who, input: InputId(999) }).unwrap();
    }
}

fn assert_continues_equally(tick: u32, who: ControllerId, mut one: Play, mut other: Play) {
    assert_eq!(other.sim.row_hash(who), one.sim.row_hash(who), "tick {tick}");
    facts(&mut one.sim);
    facts(&mut other.sim);
    for later in 1..=30 {
        one.step();
        other.step();
        let (a, b) = (about(&facts(&mut one.sim), who), about(&facts(&mut other.sim), who));
        assert_eq!(b, a, "tick {tick} + {later}");
        assert_eq!(other.sim.row_hash(who), one.sim.row_hash(who), "tick {tick} + {later}");
    }
    assert_eq!(other.sim.hash(), one.sim.hash(), "tick {tick}");
}

#[test]
fn restoring_a_captured_controller_undoes_every_later_change() {
    let rules = kit();
    let mut p = Play::new(&rules, 21);
    let mut image = RowImage::default();
    for tick in 0..ticks(200, 2_000) {
        p.step();
        let who = if tick % 3 == 0 { p.foe } else { p.hero };
        let (mut one, mut other) = (p.clone(), p.clone());
        other.sim.capture(who, &mut image).unwrap();
        // Anything that happens to this controller alone.
        for (n, name) in ["GE_Stun", "GE_Burn", "GE_Haste"].iter().enumerate() {
            let op = Op::Apply(Spec::new(effect(&rules, name), who));
            let _ = other.sim.run_as(OpId::new(8, tick, n as u16), &op);
        }
        for (n, name) in ABILITIES.iter().enumerate() {
            let which = Which::Ability(ability(&rules, name));
            let op = if n % 2 == 0 { Op::Cancel { who, which } } else { Op::Revoke { who, which } };
            let _ = other.sim.run_as(OpId::new(9, tick, n as u16), &op);
        }
        other.sim.restore(who, &image).unwrap();
        idle(&mut one.sim, who, 1);
        assert_continues_equally(tick, who, one, other);
    }
}

#[test]
fn a_controller_extracted_and_inserted_at_any_tick_continues_equally() {
    let rules = kit();
    let mut p = Play::new(&rules, 31);
    for tick in 0..ticks(200, 2_000) {
        p.step();
        let who = if tick % 3 == 0 { p.foe } else { p.hero };
        let (mut one, mut other) = (p.clone(), p.clone());
        let text = serde_json::to_string(&other.sim.extract(who).unwrap()).unwrap();
        let portable: Portable = serde_json::from_str(&text).unwrap_or_else(|e| panic!("tick {tick}: {e}"));
        assert_eq!(other.sim.insert(&portable), Ok(who), "tick {tick}");
        idle(&mut one.sim, who, 2);
        assert_continues_equally(tick, who, one, other);
    }
}

// Restored later, everything happens later by the same time.
#[test]
fn a_controller_restored_later_repeats_its_facts_shifted_in_time() {
    let rules = kit();
    let emitted = |list: &[Fact], who, start: i64| -> Vec<_> {
        let mine = list.iter().filter(|f| f.who == who && !matches!(f.kind, FactKind::Restored));
        mine.map(|f| (f.at.0 - start, f.kind.name(), f.effect)).collect()
    };
    let mut p = Play { only: true, ..Play::new(&rules, 41) };
    // Waits for a sim time have their own test.
    p.run(150);
    let mut image = RowImage::default();
    for tick in 0..ticks(100, 2_000) {
        p.step();
        facts(&mut p.sim);
        let (mut one, mut other) = (p.clone(), p.clone());
        let hero = p.hero;
        other.sim.capture(hero, &mut image).unwrap();
        other.run(20);
        other.sim.restore(hero, &image).unwrap();
        (other.tick, other.start) = (p.tick, other.sim.now().0 - p.time_of(p.tick).0);
        let (a, b) = (one.run(40), other.run(40));
        assert_eq!(emitted(&b.0, hero, other.start), emitted(&a.0, hero, 0), "tick {tick}");
    }
}

#[test]
fn a_wait_for_a_sim_time_ends_at_that_time_after_a_restore() {
    let rules = rules_with(ugas_doc::Ability::new("GA").task(task("WaitGameTime").param("Time", 4.0)));
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    let mut image = RowImage::default();
    s.sim.capture(s.hero, &mut image).unwrap();
    go(&mut s.sim, 3.0);
    s.sim.restore(s.hero, &image).unwrap();
    go(&mut s.sim, 3.9);
    assert!(s.is_active());
    go(&mut s.sim, 4.0);
    assert!(!s.is_active());
}

#[test]
fn the_instruction_budget_is_reset_for_each_operation() {
    use ugas_doc::AbilityTask as T;
    let ga =
        ugas_doc::Ability::new("GA").task(T::repeat(200, [task("SetParam").param("Name", "N").param("Value", 1.0)]));
    let mut s = Stage::new(&rules_with(ga), "GA");
    for _ in 0..200 {
        s.activate();
    }
    let cut =
        facts(&mut s.sim).iter().filter(|f| matches!(f.kind, FactKind::AbilityEnded { cancelled: true, .. })).count();
    assert_eq!(cut, 0);
}

// A client that predicts its own controller replays it alone.
#[test]
fn a_controller_resimulated_alone_from_its_journal_is_the_same() {
    let rules = kit();
    for seed in 50..54 {
        let mut p = Play { only: true, ..Play::new(&rules, seed) };
        p.sim.keep_journal(p.hero).unwrap();
        let mut image = RowImage::default();
        for tick in 0..ticks(60, 2_000) {
            p.run(3);
            p.sim.capture(p.hero, &mut image).unwrap();
            let mut later = p.clone();
            let emitted = bare(&about(&later.run(1 + tick % 16).0, p.hero));
            let mut replayed = later.sim.clone();
            let journal = replayed.journal(p.hero).unwrap();
            replayed.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(later.sim.now())]).unwrap();
            let resimulated = bare(&about(&facts(&mut replayed), p.hero));
            for (n, (old, new)) in emitted.iter().zip(&resimulated).enumerate() {
                assert_eq!(new, old, "seed {seed} tick {} fact {n}", p.tick);
            }
            assert_eq!(resimulated.len(), emitted.len(), "seed {seed} tick {}", p.tick);
            assert_eq!(replayed.row_hash(p.hero), later.sim.row_hash(p.hero), "seed {seed} tick {}", p.tick);
        }
    }
}
