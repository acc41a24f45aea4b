//! One controller among many: captured, restored, replayed from its journal, and the whole sim copied.

use crate::kit::Rng;
use crate::kit::world::busy::{assert_live_modifiers_follow, busy, crowd, run_script, script};
use crate::kit::world::{World, about, without_link};
use ugas_core::{ControllerId, Fact, FactKind, Op, OpId, ResimulationStop, RowImage, Rules, Sim, SimTime, Spec};
use ugas_doc::{Attribute, AttributeSet, Effect, Magnitude, Modifier, Operation};

// Capture and restore -------------------------------------------------------------------------------------------

#[test]
fn rerunning_from_a_restored_capture_gives_the_same_facts_shifted_in_time() {
    for seed in 0..20 {
        let (mut w, hero, _) = crowd(seed);
        let others: Vec<ControllerId> = w.sim.controllers().filter(|c| *c != hero).collect();
        // The others are inactive, so that only the hero's own history counts.
        for &who in &others {
            w.sim.run(Op::SetActive { who, active: false }).unwrap();
        }
        let plan = script(&w, &mut Rng(seed), hero, hero, 1_000, 25);
        let mut image = RowImage::default();
        w.sim.capture(hero, &mut image).unwrap();
        assert_eq!(image.at(), Some(SimTime::seconds(1.0)));
        let start = w.sim.row_hash(hero).unwrap();
        w.facts();
        run_script(&mut w, &plan, SimTime::ZERO, SimTime::seconds(12.0));
        let first = about(&w.facts(), hero);
        let untouched: Vec<u64> = others.iter().map(|c| w.sim.row_hash(*c).unwrap()).collect();

        w.sim.restore(hero, &image).unwrap();
        let after = about(&w.facts(), hero);
        assert_eq!(after.iter().map(|f| f.kind).collect::<Vec<_>>(), [FactKind::Restored]);
        let shift = SimTime::seconds(11.0);
        run_script(&mut w, &plan, shift, SimTime::seconds(12.0));
        let rerun: Vec<Fact> = about(&w.facts(), hero).iter().map(|f| Fact { at: f.at - shift, ..*f }).collect();
        assert!(first.len() > 20, "seed {seed}: {}", first.len());
        assert_eq!(rerun, first, "seed {seed}");
        let hashes: Vec<u64> = others.iter().map(|c| w.sim.row_hash(*c).unwrap()).collect();
        assert_eq!(hashes, untouched, "seed {seed}: others were touched");
        // At once, the row is the captured one apart from its clock; back at the same time it is the very same.
        let (mut fresh, ..) = crowd(seed);
        for &who in &others {
            fresh.sim.run(Op::SetActive { who, active: false }).unwrap();
        }
        fresh.sim.restore(hero, &image).unwrap();
        assert_eq!(fresh.sim.row_hash(hero).unwrap(), start);
    }
}

#[test]
fn an_image_of_another_controller_or_of_other_rules_is_refused() {
    let (mut w, hero, friend) = crowd(1);
    let mut image = RowImage::default();
    assert_eq!(w.sim.restore(hero, &image).unwrap_err().kind(), "Mismatch");
    w.sim.capture(hero, &mut image).unwrap();
    assert_eq!(w.sim.restore(friend, &image).unwrap_err().kind(), "Mismatch");
    let mut other = World::new(busy().add(Effect::infinite("GE_More")));
    other.spawn("Hero");
    let other_hero = other.spawn("Hero");
    assert_eq!(other.sim.restore(other_hero, &image).unwrap_err().kind(), "Mismatch");
    w.sim.despawn(hero).unwrap();
    assert_eq!(w.sim.restore(hero, &image).unwrap_err().kind(), "StaleHandle");
}

#[test]
fn the_sim_hash_is_correct_after_a_row_is_restored() {
    let (mut w, hero, _) = crowd(5);
    let mut image = RowImage::default();
    w.sim.capture(hero, &mut image).unwrap();
    let plan = script(&w, &mut Rng(5), hero, hero, 1_000, 10);
    w.sim.hash();
    run_script(&mut w, &plan, SimTime::ZERO, SimTime::seconds(4.0));
    w.sim.restore(hero, &image).unwrap();
    // The incremental hash must equal one computed from scratch, which a copy that never asked before gives.
    let mut copy = World::on(w.rules.clone(), 5);
    copy.sim = w.sim.clone();
    let asked = w.sim.hash();
    assert_eq!(asked, copy.sim.hash());
    let sum = |s: &Sim| s.controllers().map(|c| s.row_hash(c).unwrap()).fold(0u64, u64::wrapping_add);
    assert_eq!(sum(&w.sim), sum(&copy.sim));
    let spec = w.spec("GE_Blast", hero);
    w.sim.apply(&spec).unwrap();
    assert_ne!(w.sim.hash(), asked);
}

#[test]
fn a_restore_that_would_close_a_cycle_of_live_magnitudes_is_refused() {
    let follow = |name: &str| Effect::infinite(name).add("Power", Magnitude::attribute("Power").times(0.5));
    let set = AttributeSet::new("S").with(Attribute::new("Power", 10.0));
    let mut w = World::new(
        Rules::builder().add(set).add(follow("GE_Follow")).add(Effect::instant("GE_Train").add("Power", 10.0)),
    );
    let (a, b) = (w.spawn("S"), w.spawn("S"));
    let mut image = RowImage::default();
    let key = w.hit("GE_Follow", b, a);
    w.sim.capture(a, &mut image).unwrap();
    w.sim.remove(key).unwrap();
    w.hit("GE_Follow", a, b);
    let restored = w.sim.restore(a, &image);
    w.apply("GE_Train", a);
    assert_live_modifiers_follow(&w, &[a, b]);
    assert_eq!(restored.unwrap_err().kind(), "Cycle");
}

// Replay --------------------------------------------------------------------------------------------------------

#[test]
fn resimulating_a_row_from_its_journal_gives_the_same_row_and_facts() {
    let failed: Vec<String> =
        (0..30).filter_map(|seed| replay_differs(seed).map(|why| format!("{seed}: {why}"))).collect();
    assert!(failed.is_empty(), "{} seeds:\n{}", failed.len(), failed.join("\n"));
}

/// What differs between a run and its replay, if anything.
fn replay_differs(seed: u64) -> Option<String> {
    let (mut w, hero, friend) = crowd(seed);
    w.sim.keep_journal(hero).unwrap();
    let mut image = RowImage::default();
    w.sim.capture(hero, &mut image).unwrap();
    w.facts();
    // A live modifier of the hero follows a friend whose power changes meanwhile.
    let mut dice = Rng(seed ^ 5);
    let plan = script(&w, &mut dice, hero, friend, 1_000, 20);
    for (n, (at, op)) in plan.iter().enumerate() {
        w.sim.advance_to(*at);
        if dice.below(3) == 0 {
            w.apply("GE_Surge", friend);
        }
        let _ = w.sim.run_as(OpId::new(9, n as u32, 0), op);
    }
    w.to(9.0);
    let (hash, original) = (w.sim.row_hash(hero).unwrap(), about(&w.facts(), hero));
    let others: Vec<ControllerId> = w.sim.controllers().filter(|c| *c != hero).collect();
    let untouched: Vec<u64> = others.iter().map(|c| w.sim.row_hash(*c).unwrap()).collect();
    let journal = w.sim.journal(hero).unwrap();
    assert!(journal.ops().count() >= 20);

    w.sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(9.0))]).unwrap();
    let facts = w.facts();
    let replayed = about(&facts, hero);
    for (n, (old, new)) in original.iter().zip(&replayed).enumerate() {
        // The causes of changes through a friend have their own test.
        let new = if old.key.target == hero { *new } else { Fact { kind: new.kind, at: new.at, ..*old } };
        if new != *old {
            return Some(format!("fact {n}\n  was {old:?}\n  is  {new:?}"));
        }
    }
    if replayed.len() != original.len() {
        return Some(format!("{} facts became {}", original.len(), replayed.len()));
    }
    if !facts.iter().all(|f| f.who == hero) {
        return Some("facts about others".into());
    }
    if w.sim.row_hash(hero).unwrap() != hash {
        return Some("the row's hash".into());
    }
    if others.iter().map(|c| w.sim.row_hash(*c).unwrap()).ne(untouched) {
        return Some("others were touched".into());
    }
    assert_eq!(w.sim.now(), SimTime::seconds(9.0));
    None
}

#[test]
fn a_resimulation_reads_another_controller_as_it_was_at_that_time() {
    let mut w = World::new(busy());
    let (friend, hero) = (w.spawn("Hero"), w.spawn("Hero"));
    w.sim.keep_journal(hero).unwrap();
    let mut image = RowImage::default();
    w.hit("GE_Live", friend, hero);
    w.sim.capture(hero, &mut image).unwrap();
    assert_eq!(w.get(hero, "Damage"), 15.0);
    w.to(1.0);
    let key = w.apply("GE_Surge", friend);
    assert_eq!(w.get(hero, "Damage"), 17.5);
    w.to(2.0);
    w.facts();
    // The friend loses the surge; a resimulation up to that time still sees it.
    let until_two = w.sim.journal(hero).unwrap();
    w.sim.remove(key).unwrap();
    w.to(3.0);
    assert_eq!(w.get(hero, "Damage"), 15.0);
    w.facts();
    w.sim.resimulate(&image, Some(&until_two), &mut [ResimulationStop::at(SimTime::seconds(2.0))]).unwrap();
    assert_eq!((w.get(hero, "Damage"), w.get(friend, "Power")), (17.5, 10.0));
    let journal = w.sim.journal(hero).unwrap();
    w.sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(3.0))]).unwrap();
    assert_eq!(w.get(hero, "Damage"), 15.0);
}

#[test]
fn a_resimulation_keeps_the_order_within_one_tick() {
    // At 6 s the hero's poison executes and the friend's buff expires: all executions run before expiries.
    let rules = Rules::builder()
        .add(AttributeSet::new("S").with(Attribute::new("Pool", 1000.0)).with(Attribute::new("Power", 10.0)))
        .add(Effect::lasting("GE_Buff", 6.0).add("Power", 10.0))
        .add(Effect::infinite("GE_Live").add("Power", Magnitude::attribute("Power")))
        .add(
            Effect::lasting("GE_Drain", 9.0)
                .every(3.0)
                .add("Pool", Magnitude::attribute("Power").of_target().times(-1.0)),
        );
    let mut w = World::new(rules);
    let (friend, hero) = (w.spawn("S"), w.spawn("S"));
    w.sim.keep_journal(hero).unwrap();
    w.apply("GE_Buff", friend);
    w.hit("GE_Live", friend, hero);
    w.apply("GE_Drain", hero);
    let mut image = RowImage::default();
    w.sim.capture(hero, &mut image).unwrap();
    w.to(6.0);
    assert_eq!((w.get(hero, "Pool"), w.get(hero, "Power")), (940.0, 20.0));
    let hash = w.sim.row_hash(hero);
    let journal = w.sim.journal(hero).unwrap();
    w.sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(6.0))]).unwrap();
    assert_eq!((w.get(hero, "Pool"), w.get(hero, "Power")), (940.0, 20.0));
    assert_eq!(w.sim.row_hash(hero), hash);
}

#[test]
fn a_resimulated_change_caused_by_another_controller_keeps_its_cause() {
    let mut w = World::new(busy());
    let (friend, hero) = (w.spawn("Hero"), w.spawn("Hero"));
    w.sim.keep_journal(hero).unwrap();
    w.hit("GE_Live", friend, hero);
    let mut image = RowImage::default();
    w.sim.capture(hero, &mut image).unwrap();
    w.to(1.0);
    w.facts();
    let key = w.apply("GE_Surge", friend);
    let original = about(&w.facts(), hero);
    assert!(original.len() == 2 && original.iter().all(|f| f.key == key));
    w.to(2.0);
    let journal = w.sim.journal(hero).unwrap();
    w.sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(2.0))]).unwrap();
    assert_eq!(about(&w.facts(), hero), original);
}

#[test]
fn a_resimulation_tests_the_tags_of_another_controller_as_they_were() {
    let filtered = Modifier::new("Damage", Operation::Add, 5.0).source_tag("State.Fused");
    let mut asking = Effect::instant("GE_Ask").add("Gold", 1.0);
    asking.source_required_tags = vec!["State.Fused".into()];
    let mut w = World::new(
        busy()
            .add(Effect::infinite("GE_Filtered").modify(filtered))
            .add(asking)
            .add(Effect::infinite("GE_Fuse").grants("State.Fused")),
    );
    let (friend, hero) = (w.spawn("Hero"), w.spawn("Hero"));
    w.sim.keep_journal(hero).unwrap();
    let mut image = RowImage::default();
    w.sim.capture(hero, &mut image).unwrap();
    let fuse = w.apply("GE_Fuse", friend);
    w.to(1.0);
    w.hit("GE_Filtered", friend, hero);
    w.hit("GE_Ask", friend, hero);
    assert_eq!((w.get(hero, "Damage"), w.get(hero, "Gold")), (15.0, 1.0));
    w.to(2.0);
    w.sim.remove(fuse).unwrap();
    assert_eq!((w.get(hero, "Damage"), w.get(hero, "Gold")), (10.0, 1.0));
    let hash = w.sim.row_hash(hero).unwrap();
    let journal = w.sim.journal(hero).unwrap();
    w.sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(2.0))]).unwrap();
    assert_eq!((w.get(hero, "Damage"), w.get(hero, "Gold")), (10.0, 1.0), "the friend was fused when he asked");
    assert_eq!(w.sim.row_hash(hero).unwrap(), hash);
}

#[test]
fn a_resimulated_hook_reads_another_controller_as_it_was() {
    let mut asking = Effect::instant("GE_Ask").add("Gold", 1.0);
    asking.application_requirement = Some("Req_Strong".into());
    let strong = |cx: &ugas_core::HookCx<'_>| cx.source("Power").is_some_and(|p| p > 12.0);
    let mut w = World::new(busy().add(asking).requirement("Req_Strong", strong));
    let (friend, hero) = (w.spawn("Hero"), w.spawn("Hero"));
    w.sim.keep_journal(hero).unwrap();
    let mut image = RowImage::default();
    w.sim.capture(hero, &mut image).unwrap();
    let surge = w.apply("GE_Surge", friend);
    w.to(1.0);
    w.hit("GE_Ask", friend, hero);
    w.sim.remove(surge).unwrap();
    w.to(2.0);
    let journal = w.sim.journal(hero).unwrap();
    w.sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(2.0))]).unwrap();
    assert_eq!(w.get(hero, "Gold"), 1.0, "the friend was strong when he asked");
}

#[test]
fn two_changes_of_another_controller_in_one_tick_are_resimulated_separately() {
    let mut w = World::new(busy());
    let (friend, hero) = (w.spawn("Hero"), w.spawn("Hero"));
    w.sim.keep_journal(hero).unwrap();
    w.hit("GE_Live", friend, hero);
    let mut image = RowImage::default();
    w.sim.capture(hero, &mut image).unwrap();
    w.to(1.0);
    w.facts();
    w.apply("GE_Surge", friend);
    w.apply("GE_Surge", friend);
    let kinds = |w: &mut World| about(&w.facts(), hero).iter().map(|f| f.kind).collect::<Vec<_>>();
    let original = kinds(&mut w);
    assert_eq!(original.len(), 4);
    let journal = w.sim.journal(hero).unwrap();
    w.sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(1.0))]).unwrap();
    assert_eq!(kinds(&mut w), original);
}

#[test]
fn an_op_removed_from_the_journal_is_not_resimulated() {
    let mut w = World::new(busy());
    let hero = w.spawn("Hero");
    w.sim.keep_journal(hero).unwrap();
    let mut image = RowImage::default();
    w.sim.capture(hero, &mut image).unwrap();
    let id = OpId::new(4, 1, 0);
    w.to(1.0);
    w.apply("GE_Blast", hero);
    w.sim.run_as(id, &Op::Apply(w.spec("GE_Bomb", hero))).unwrap();
    w.to(2.0);
    w.apply("GE_Surge", hero);
    w.to(6.0);
    assert_eq!((w.get(hero, "Health"), w.get(hero, "Power")), (86.0, 15.0));
    w.facts();
    let mut journal = w.sim.journal(hero).unwrap();
    assert_eq!(journal.ops().filter(|(_, i, _)| *i == id).count(), 1);
    journal.remove(id);
    w.sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(6.0))]).unwrap();
    assert_eq!((w.get(hero, "Health"), w.get(hero, "Power")), (93.0, 15.0));
    assert!(!w.facts().iter().any(|f| f.effect == w.effect("GE_Bomb")));
    assert_eq!(
        w.sim
            .resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(7.0))])
            .unwrap_err()
            .kind(),
        "BadValue"
    );
}

#[test]
fn batches_are_resimulated_with_the_same_keys() {
    let mut w = World::new(busy());
    let (friend, hero) = (w.spawn("Hero"), w.spawn("Hero"));
    w.sim.keep_journal(hero).unwrap();
    let mut image = RowImage::default();
    w.sim.capture(hero, &mut image).unwrap();
    w.facts();
    let mut results = Vec::new();
    let specs: Vec<Spec> =
        ["GE_Fast", "GE_Poison", "GE_Stack", "GE_Poison"].map(|n| w.spec(n, hero).from(friend)).to_vec();
    w.sim.apply_all(&specs, &mut results);
    let spec = w.spec("GE_Sword", hero);
    w.sim.apply_to_many(&spec, &[friend, hero, hero], &mut results);
    w.to(8.0);
    let (hash, original) = (w.sim.row_hash(hero).unwrap(), about(&w.facts(), hero));
    let journal = w.sim.journal(hero).unwrap();
    w.sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(8.0))]).unwrap();
    assert_eq!(about(&w.facts(), hero), original);
    assert_eq!(w.sim.row_hash(hero).unwrap(), hash);
}

// Copies --------------------------------------------------------------------------------------------------------

#[test]
fn a_clone_and_a_rerun_of_the_same_ops_give_the_same_hash_and_facts() {
    for seed in 0..10 {
        let (mut w, hero, friend) = crowd(seed);
        let plan = script(&w, &mut Rng(seed), hero, friend, 1_000, 30);
        let mut copy = w.clone();
        w.facts();
        copy.facts();
        run_script(&mut w, &plan, SimTime::ZERO, SimTime::seconds(15.0));
        run_script(&mut copy, &plan, SimTime::ZERO, SimTime::seconds(15.0));
        assert_eq!(w.sim.hash(), copy.sim.hash());
        let (one, other) = (w.facts(), copy.facts());
        assert_eq!(one, other);
        assert!(!one.is_empty());
        let (mut rerun, ..) = crowd(seed);
        rerun.facts();
        run_script(&mut rerun, &plan, SimTime::ZERO, SimTime::seconds(15.0));
        assert_eq!(rerun.sim.hash(), w.sim.hash());
        assert_eq!(
            rerun.facts().iter().map(without_link).collect::<Vec<_>>(),
            one.iter().map(without_link).collect::<Vec<_>>()
        );
    }
}
