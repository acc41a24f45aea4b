//! Rolls: a client predicts its rolls but cannot choose them. The cheating client of these tests tries each variation of
//! its packets, each tick and each target on a copy of the server before it sends the best one. So it knows more than any
//! client knows.

mod cheat;
mod predicted;

use crate::kit::{Game, Setup, builder};
use cheat::*;
use std::collections::BTreeMap;
use ugas_core::{AbilityId, Answer, ControllerId, Facts, Spec, Target, UsedAbility};
use ugas_doc::{Ability, AbilityTask, Effect, Value};
use ugas_net::authority::RejectReason;
use ugas_net::link::LinkProfile;
use ugas_net::message::{Command, Request};

#[test]
fn no_key_no_order_and_no_other_request_changes_a_roll() {
    let mut cheat = Cheat::new(9);
    let (mut procs, mut echoes) = (0, 0);
    for at in 0..250 {
        let before = cheat.outcome();
        let outcome = |way| {
            let mut copy = cheat.clone();
            strike(&mut copy, way);
            copy.step();
            let after = copy.outcome();
            (after.0 - before.0, after.1 - before.1)
        };
        let expected = outcome(0);
        for way in 1..WAYS {
            assert_eq!(outcome(way), expected, "strike {at}: way {way}");
        }
        procs += (expected.0 > 0.0) as u32;
        echoes += (expected.1 > 0.0) as u32;
        strike(&mut cheat, at % WAYS);
        cheat.step();
    }
    assert!(procs > 2 && echoes > 2, "both happen: {procs}, {echoes}");
}

/// The other ways to use an ability: the ticks to wait, whether the target is the twin, whether the client cancels first.
fn other_uses() -> impl Iterator<Item = (u32, bool, bool)> {
    let waits = (0..40).map(|wait| (wait, wait % 2 == 1, false));
    waits.chain([(0, true, false), (0, false, true), (3, true, true)])
}

#[test]
fn neither_the_time_nor_the_target_of_a_use_nor_a_cancel_changes_its_roll() {
    let mut cheat = Cheat::new(9);
    for ability in ["GA_Strike", "GA_Heavy"] {
        let mut procs = 0;
        for at in 0..80 {
            let before = cheat.outcome().0;
            let outcome = |(wait, on_twin, cancels)| {
                let mut copy = cheat.clone();
                copy.use_after(wait, ability, on_twin, cancels && ability == "GA_Heavy");
                copy.outcome().0 - before
            };
            let expected = outcome((0, false, false));
            let step = if at % 8 == 0 { 1 } else { 7 };
            for way in other_uses().step_by(step) {
                assert_eq!(outcome(way), expected, "{ability} {at}: {way:?}");
            }
            procs += (expected > 0.0) as u32;
            cheat.use_after(at % 3, ability, at % 2 == 0, false);
        }
        assert!(procs > 0, "{ability}");
    }
}

/// A client that knows all its future rolls chooses when and on whom it uses an ability.
#[test]
fn a_client_that_chooses_the_tick_and_the_target_does_not_succeed_more_often() {
    let (mut cheat, uses) = (Cheat::new(3), 700);
    for at in 0..uses {
        let before = cheat.outcome().0;
        let ability = ["GA_Strike", "GA_Heavy"][at % 2];
        let succeeds = |&(wait, on_twin, cancels): &(u32, bool, bool)| {
            let mut copy = cheat.clone();
            copy.use_after(wait, ability, on_twin, cancels && at % 2 == 1);
            copy.outcome().0 > before
        };
        let (wait, on_twin, cancels) = other_uses().step_by(5).find(succeeds).unwrap_or((0, false, false));
        cheat.use_after(wait, ability, on_twin, cancels);
        cheat.server.take_facts(&mut Facts::default());
    }
    let (count, all) = (cheat.outcome().0, uses as f64);
    let (mean, sigma) = (all * CHANCE, (all * CHANCE * (1.0 - CHANCE)).sqrt());
    println!("{count} of {all}, expected {mean}, sigma {sigma:.1}");
    assert!((count - mean).abs() <= 3.0 * sigma, "{count} of {all}, expected {mean}, sigma {sigma:.1}");
}

#[test]
fn a_held_input_rolls_like_other_uses_whenever_it_is_retried() {
    // Holding the input from different ticks on, and each use with its own press.
    let play = |delay: u32, presses: bool| {
        let mut cheat = Cheat::new(9);
        let (who, target) = (cheat.hero, Target::None);
        let mut procs = Vec::new();
        (0..delay).for_each(|_| cheat.step());
        for at in 0..3000 {
            let before = cheat.outcome().1;
            let ability = cheat.rules.ability("GA_Held").unwrap();
            let used = UsedAbility { who, ability };
            let next = cheat.server.sim().remote().next_use(used);
            let request = match presses && at % 2 == 1 {
                true => Request::Release { who, input: HELD },
                false => Request::Press { who, input: HELD, target },
            };
            let command = cheat.command(request);
            cheat.give(&[command]);
            cheat.step();
            if cheat.server.sim().remote().next_use(used) != next {
                procs.push(cheat.outcome().1 > before);
            }
        }
        assert!(procs.len() >= 120, "{}", procs.len());
        procs.truncate(120);
        procs
    };
    let held = play(0, false);
    assert!(held.iter().any(|p| *p));
    assert_eq!(held, play(5, false));
    assert_eq!(held, play(0, true));
}

/// A client that reports several targets could otherwise choose, by their order, which of them gets a known roll.
#[test]
fn rolls_of_several_targets_use_the_seed_of_the_sim() {
    let play = |sim_seed: u64, several: bool| {
        let mut cheat = Cheat::with_sim_seed(9, sim_seed);
        let (who, ability) = (cheat.hero, cheat.rules.ability("GA_Sweep").unwrap());
        let mut results = Vec::new();
        for _ in 0..60 {
            let before = cheat.outcome().0;
            let start = cheat.command(Request::Activate { who, ability, target: Target::None });
            cheat.give(&[start]);
            cheat.step();
            let key = cheat.server.sim().tasks(who).unwrap()[0].key;
            let mut targets = vec![cheat.foe];
            if several {
                targets.extend([cheat.twin, cheat.hero]);
            }
            let answer = Answer { targets, ..Answer::default() };
            let answer = cheat.command(Request::Complete { key, answer });
            cheat.give(&[answer]);
            cheat.step();
            results.push(cheat.outcome().0 - before);
        }
        results
    };
    assert_eq!(play(1, false), play(2, false), "one target draws from the use");
    assert_ne!(play(1, true), play(2, true));
    assert_eq!(play(1, true), play(1, true));
}

#[test]
fn a_failed_chance_counts_towards_the_budget_of_an_effect() {
    let mut cheat = Cheat::new(9);
    let (who, ability) = (cheat.hero, cheat.rules.ability("GA_Volley").unwrap());
    let (effect, target) = (cheat.rules.effect("GE_Proc").unwrap(), cheat.foe);
    let used = UsedAbility { who, ability };
    let mut procs = 0.0;
    for _ in 0..40 {
        let before = (cheat.outcome().0, cheat.server.sim().remote().next_use(used).unwrap());
        let start = cheat.command(Request::Activate { who, ability, target: Target::None });
        cheat.give(&[start]);
        cheat.step();
        for _ in 0..70 {
            let hit = cheat.command(Request::Apply { who, ability, effect, target });
            cheat.give(&[hit]);
            cheat.step();
        }
        let drawn = cheat.server.sim().remote().next_use(used).unwrap() - before.1;
        assert_eq!(drawn, 2, "two rolls for each activation");
        procs += cheat.outcome().0 - before.0;
    }
    assert!(procs > 0.0 && procs < 20.0, "{procs}");
}

#[test]
fn a_client_reports_at_most_as_many_targets_as_the_data_allow() {
    let mut cheat = Cheat::new(9);
    let (who, ability) = (cheat.hero, cheat.rules.ability("GA_Sweep").unwrap());
    let start = cheat.command(Request::Activate { who, ability, target: Target::None });
    cheat.give(&[start]);
    cheat.step();
    let key = cheat.server.sim().tasks(who).unwrap()[0].key;
    let check = |count| cheat.server.sim().remote().check_client_answer(key, count, cheat.server.sim().now());
    assert_eq!((check(3), check(4).is_err()), (Ok(()), true));
}

/// An honest client whose predicted hit fails its chance goes on with the next roll.
#[test]
fn a_failed_chance_of_a_reported_hit_is_predicted_and_sent() {
    let volley = Ability::new("GA_Volley").task(
        AbilityTask::new("WaitDelay")
            .param("Duration", 20.0)
            .param("ClientEffects", vec![Value::Map(budget("GE_Chance", 40.0))]),
    );
    let mut chance = Effect::instant("GE_Chance").add("Mana", -0.01);
    chance.application_chance = Some(0.5.into());
    let builder = builder().add(chance).add(volley);
    let mut g = Game::new(Setup { builder, profile: LinkProfile::GOOD, ..Setup::default() });
    g.net.run(60);
    g.cast("GA_Volley", Target::None).unwrap();
    g.net.run(30);
    let (who, effect) = (g.hero, g.effect("GE_Chance"));
    let ability = g.net.server().sim().rules().ability("GA_Volley").unwrap();
    let corrections = g.ana().counts().corrections;
    let mana = g.seen(who, "Mana");
    for _ in 0..40 {
        let hit = Request::Apply { who, ability, effect, target: who };
        g.net.client_mut("Ana").command(hit).unwrap();
        g.net.run(5);
    }
    g.net.run(60);
    let hits = ((mana - g.seen(who, "Mana")) / 0.01).round();
    assert!((8.0..32.0).contains(&hits), "{hits} of 40");
    assert_eq!(g.ana().counts().corrections, corrections);
}

#[test]
fn a_new_connection_does_not_change_the_next_rolls() {
    let mut cheat = Cheat::new(9);
    let mut procs = 0;
    for _ in 0..60 {
        let before = cheat.outcome().0;
        let mut stays = cheat.clone();
        stays.use_after(0, "GA_Strike", false, false);
        cheat.server.disconnect(CHEAT);
        cheat.join();
        cheat.use_after(0, "GA_Strike", false, false);
        assert_eq!(cheat.outcome().0, stays.outcome().0);
        procs += (cheat.outcome().0 > before) as u32;
    }
    assert!(procs > 0);
}

#[test]
fn a_new_connection_does_not_change_the_rolls_of_server_effects() {
    let mut cheat = Cheat::new(9);
    let (hero, fever) = (cheat.hero, cheat.rules.effect("GE_Fever").unwrap());
    cheat.server.sim_mut().apply(&Spec::new(fever, hero)).unwrap();
    let mut stays = cheat.clone();
    cheat.server.disconnect(CHEAT);
    cheat.join();
    // Until it has joined again, its controller draws from the seed of the sim.
    (0..10).for_each(|_| cheat.step());
    while stays.server.tick() < cheat.server.tick() {
        stays.step();
    }
    let before = [cheat.outcome().1, stays.outcome().1];
    let mut rolls = Vec::new();
    for _ in 0..200 {
        cheat.step();
        stays.step();
        let lost = [cheat.outcome().1 - before[0], stays.outcome().1 - before[1]];
        assert_eq!(lost[0], lost[1]);
        rolls.push(lost[0]);
    }
    assert!((5.0..30.0).contains(rolls.last().unwrap()), "{rolls:?}");
}

#[test]
fn commands_of_one_ability_and_tick_have_different_rolls_or_are_rejected() {
    let mut cheat = Cheat::new(9);
    let used = UsedAbility { who: cheat.hero, ability: cheat.rules.ability("GA_Strike").unwrap() };
    let next = |cheat: &Cheat| cheat.server.sim().remote().next_use(used).unwrap();
    let (first, tick) = (next(&cheat), cheat.server.tick().plus(1));
    for _ in 0..2 {
        let commands: Vec<Command> =
            (0..40).map(|_| Command { tick, ..cheat.command(cheat.activate("GA_Strike")) }).collect();
        cheat.give(&commands);
    }
    cheat.step();
    assert_eq!(next(&cheat) - first, 64);
    assert_eq!(cheat.server.counts().of(RejectReason::CommandRate), 16);
}

/// A client that gets a command rejected on purpose could otherwise use up a roll that it knows and does not want.
#[test]
fn the_rolls_after_a_rejection_use_the_seed_of_the_sim() {
    let play = |sim_seed: u64| {
        let mut cheat = Cheat::with_sim_seed(9, sim_seed);
        let (who, ability, target) = (cheat.hero, cheat.rules.ability("GA_Sorry").unwrap(), Target::None);
        let next = |cheat: &Cheat| cheat.server.sim().remote().next_use(UsedAbility { who, ability });
        let (first, mut results) = (next(&cheat), Vec::new());
        for _ in 0..200 {
            let start = cheat.command(Request::Activate { who, ability, target: Target::Controller(cheat.foe) });
            let (base, sub) = (start.base, start.sub);
            let sorry = cheat.command(Request::Mispredicted { who, base, sub, ability, target });
            cheat.give(&[start, sorry]);
            cheat.step();
            results.push(cheat.outcome().1);
        }
        assert_eq!(next(&cheat), first, "it has no use");
        results
    };
    let (one, two) = (play(1), play(2));
    assert!(one.last() > Some(&0.0) && two.last() > Some(&0.0), "the list runs");
    assert_ne!(one, two);
}

#[test]
fn a_client_creates_no_numbers_for_controllers_of_others() {
    let mut cheat = Cheat::new(9);
    let others = [cheat.foe, cheat.twin, ControllerId(77_000)];
    for who in others {
        let ability = cheat.rules.ability("GA_Strike").unwrap();
        let command = cheat.command(Request::Activate { who, ability, target: Target::None });
        cheat.give(&[command]);
        cheat.step();
    }
    let sim = cheat.server.sim();
    let has_uses =
        |who| (0..50).map(AbilityId).any(|ability| sim.remote().next_use(UsedAbility { who, ability }).is_some());
    assert!(has_uses(cheat.hero) && !others.into_iter().any(has_uses));
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Before each use, the client searches among variations of its packets and among keys for one that succeeds. It sends
/// that one, or the plain command if there is none. `UGAS_SOAK=1` uses the ability 100,000 times for each seed.
#[test]
fn a_client_that_searches_keys_does_not_succeed_more_often() {
    let soak = number("UGAS_SOAK") == Some(1);
    let from = number("UGAS_SOAK_FROM").filter(|_| soak).unwrap_or(0);
    let (seeds, uses) = if soak { (number("UGAS_SOAK_SEEDS").unwrap_or(1), 100_000) } else { (1, 1_000) };
    // The long form searches fewer keys for each of its many uses.
    let keys = if soak { KEYS / 6 } else { KEYS };
    let (mut procs, mut echoes) = (0.0, 0.0);
    for seed in from..from + seeds {
        let mut cheat = Cheat::new(seed);
        let used = UsedAbility { who: cheat.hero, ability: cheat.rules.ability("GA_Strike").unwrap() };
        let number = |cheat: &Cheat| cheat.server.sim().remote().next_use(used).unwrap();
        let first = number(&cheat);
        for at in 0..uses {
            // A client has about one Base per tick. Some variations skip some.
            while cheat.base > cheat.server.tick().0 + 500 {
                cheat.give(&[]);
                cheat.step();
            }
            let before = cheat.outcome();
            let succeeds = |way: &usize| {
                let mut copy = cheat.clone();
                strike(&mut copy, *way);
                copy.step();
                copy.outcome().0 > before.0
            };
            // With every variation for each use the test would take too long; each has its turn.
            let ways = [at % WAYS, (at / WAYS) % WAYS].into_iter().chain(WAYS..WAYS + keys);
            let best = ways.into_iter().find(succeeds).unwrap_or(0);
            strike(&mut cheat, best);
            cheat.step();
            cheat.server.take_facts(&mut Facts::default());
        }
        assert_eq!((number(&cheat) - first) as usize, uses, "every use rolled");
        procs += cheat.outcome().0;
        echoes += cheat.outcome().1;
    }
    let all = uses as f64 * seeds as f64;
    let (mean, sigma) = (all * CHANCE, (all * CHANCE * (1.0 - CHANCE)).sqrt());
    for (what, count) in [("strikes", procs), ("echoes", echoes)] {
        println!("{what}: {count} of {all}, expected {mean}, sigma {sigma:.1}");
        assert!((count - mean).abs() <= 3.0 * sigma, "{what}: {count} of {all}, expected {mean}, sigma {sigma:.1}");
    }
    if soak {
        let (name, to) = ("a_client_that_searches_keys_does_not_succeed_more_often", from + seeds);
        println!("soak: name={name} seeds={from}..{to} cases={all}");
    }
}

#[test]
fn a_late_command_rolls_as_if_it_had_arrived_in_time() {
    let mut cheat = Cheat::new(9);
    let (mut procs, mut late_by) = (0, 0);
    for _ in 0..300 {
        let before = cheat.outcome();
        let command = cheat.command(cheat.activate("GA_Strike"));
        let mut in_time = cheat.clone();
        in_time.give(std::slice::from_ref(&command));
        in_time.step();
        late_by = late_by % 12 + 1;
        (0..late_by).for_each(|_| cheat.step());
        cheat.give(std::slice::from_ref(&command));
        cheat.step();
        assert_eq!(cheat.outcome(), in_time.outcome(), "{late_by} ticks late");
        procs += (cheat.outcome() != before) as u32;
    }
    assert!(procs > 5, "{procs}");
}

#[test]
fn seeds_are_revealed_at_most_half_a_second_and_a_block_ahead() {
    let most_ahead = |acks: bool, least: i64, most: i64| {
        let mut cheat = Cheat::new(9);
        cheat.acks = acks;
        let mut known = BTreeMap::new();
        for at in 0..200 {
            cheat.give(&[]);
            cheat.step();
            let tick = i64::from(cheat.server.tick().0);
            for &(block, seed) in &cheat.seeds {
                let last = block * BLOCK + BLOCK - 1;
                assert!(last <= tick + most, "tick {tick}: a seed up to tick {last}");
                assert_eq!(*known.entry(block).or_insert(seed), seed, "a block has one seed");
            }
            let newest = known.keys().next_back().map_or(0, |b: &i64| b * BLOCK + BLOCK - 1);
            assert!(at < 20 || newest >= tick + least, "tick {tick}: seeds up to tick {newest}");
        }
        let mut seeds: Vec<u64> = known.into_values().collect();
        seeds.sort();
        seeds.dedup();
        assert!(seeds.len() >= 24, "{}", seeds.len());
    };
    // Half a second is 30 ticks; a block that has begun by then is revealed.
    most_ahead(true, 30, 37);
    // A client that acknowledges nothing seems to have a longer round trip: at most a second.
    most_ahead(false, 30, 67);
}
