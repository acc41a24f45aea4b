//! Commands that are too early, too late, or have a wrong tick.

use super::rig::{Rig, refused, refused_in};
use proptest::prelude::*;
use ugas_core::{AbilityId, FactKind, Facts, Target};
use ugas_net::authority::RejectReason;
use ugas_net::message::{Command, Request};
use ugas_net::server::ServerConfig;
use ugas_net::types::Tick;

#[test]
fn an_ability_on_cooldown_is_rejected() {
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        rig.ask(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
        rig
    });
    refused_in(pair, &[(RejectReason::Rules, 5)], |rig| {
        for _ in 0..5 {
            rig.ask(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
        }
    });
}

#[test]
fn a_global_cooldown_rejects_every_ability_of_its_group() {
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        rig.ask(rig.activate("GA_Jab", Target::Controller(rig.foe)));
        rig
    });
    refused_in(pair, &[(RejectReason::Rules, 4)], |rig| {
        for name in ["GA_Kick", "GA_Jab", "GA_Kick", "GA_Jab"] {
            rig.ask(rig.activate(name, Target::Controller(rig.foe)));
        }
    });
}

/// The server accepts a release however late it arrives, because otherwise the input would stay held. A cooldown that the
/// release starts must not begin earlier than the oldest tick that other commands may claim.
#[test]
fn an_old_release_does_not_shorten_a_cooldown() {
    let mut rig = Rig::new();
    let (who, input, target) = (rig.rogue, super::rig::DRAW, Target::Controller(rig.foe));
    let mut hits = Vec::new();
    for _ in 0..6 {
        let press = rig.command(Request::Press { who, input, target });
        let tick = press.tick;
        rig.give(&[press]);
        (0..110).for_each(|_| rig.step());
        let release = rig.command(Request::Release { who, input });
        rig.give(&[Command { tick, ..release }]);
        let health = rig.health(rig.foe);
        rig.step();
        // Ann's hits are smaller.
        if rig.health(rig.foe) <= health - 25.0 {
            hits.push(rig.server.tick().0);
        }
    }
    // A cooldown of 3 s is 180 ticks, of which a late command may spare 15.
    assert!(hits.len() >= 2 && hits.windows(2).all(|pair| pair[1] - pair[0] >= 165), "{hits:?}");
}

#[test]
fn ticks_too_far_in_the_future_are_rejected() {
    refused(&[(RejectReason::Future, 3)], |rig| {
        let max_early = ServerConfig::default().max_early_ticks;
        for tick in [rig.server.tick().plus(max_early + 1), Tick(1_000_000), Tick(u32::MAX)] {
            let command = rig.command(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
            rig.give(&[Command { tick, ..command }]);
        }
    });
}

#[test]
fn ticks_too_far_in_the_past_are_rejected() {
    refused(&[(RejectReason::Past, 3)], |rig| {
        let behind = ServerConfig::default().max_late_ticks;
        for tick in [Tick(0), Tick(1), rig.server.tick().minus(behind)] {
            let command = rig.command(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
            rig.give(&[Command { tick, ..command }]);
        }
    });
}

#[test]
fn a_command_rejected_for_its_tick_uses_the_command_budget() {
    let most = u64::from(ServerConfig::default().commands_per_tick) * 16;
    refused(&[(RejectReason::Past, most), (RejectReason::CommandRate, 1)], |rig| {
        let late = |rig: &mut Rig| Command { tick: Tick(1), ..rig.command(rig.activate("GA_Risky", Target::None)) };
        for _ in 0..4 {
            let commands: Vec<Command> = (0..most / 4).map(|_| late(rig)).collect();
            rig.give(&commands);
            // Resent, they do not count again.
            rig.give(&commands);
        }
        let command = rig.command(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
        rig.give(&[command]);
    });
}

#[test]
fn a_rejected_activation_is_cleaned_up_once() {
    let mut rig = Rig::new();
    let (who, ability, target) = (rig.rogue, rig.ability("GA_Risky"), Target::None);
    let mana = |rig: &Rig| rig.server.sim().get(who, rig.rules.attribute("Mana").unwrap()).unwrap();
    // Under high keys, so that later commands have lower ones.
    let request = rig.activate("GA_Risky", target);
    let late = |base| Command { tick: Tick(1), base, sub: 0, request: request.clone(), aim: None };
    let sorry = Request::Mispredicted { who, base: 500, sub: 0, ability, target };
    rig.give(&[late(500)]);
    rig.ask(sorry.clone());
    assert_eq!(mana(&rig), 999.0);
    // More than the server keeps.
    for base in 501..801 {
        rig.give(&[late(base)]);
        rig.step();
    }
    rig.give(&[late(500)]);
    rig.ask(sorry);
    assert_eq!(mana(&rig), 999.0, "once");
    assert_eq!(rig.count(RejectReason::Key), 2, "the resent command and the second clean-up request");
}

#[test]
fn a_late_command_from_within_its_cooldown_is_rejected() {
    // The cooldown of half a second ends at the tick; the claimed tick is earlier.
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        rig.ask(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
        let end = rig.server.tick().0 + 31;
        rig.run_to(end);
        rig
    });
    refused_in(pair, &[(RejectReason::Early, 1)], |rig| {
        let command = rig.command(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
        rig.give(&[Command { tick: rig.server.tick().minus(8), ..command }]);
        rig.step();
    });
}

#[test]
fn a_late_command_counts_from_its_own_tick() {
    let mut rig = Rig::new();
    let command = rig.command(rig.activate("GA_Bolt", Target::Controller(rig.foe)));
    rig.give(&[Command { tick: rig.server.tick().minus(9), ..command }]);
    rig.step();
    let grants = rig.server.sim().grants(rig.rogue).unwrap();
    let grant = grants.iter().find(|g| g.ability == rig.ability("GA_Bolt")).unwrap().id;
    let left = rig.server.sim().cooldown(rig.rogue, grant).unwrap().unwrap().remaining;
    // Thirty ticks from its own tick: ten passed before it arrived, one since.
    assert_eq!(left, ugas_core::SimTime::frames(30 - 10 - 1, 60));
    assert!(rig.server.counts().iter().next().is_none());
}

/// A wrong tick: waits, then sends a request that claims to be this many ticks old.
#[derive(Clone, Copy, Debug)]
struct WrongTick {
    wait: u32,
    ago: u32,
    what: usize,
}

fn wrong_tick(kinds: std::ops::Range<usize>) -> impl Strategy<Value = WrongTick> {
    (prop_oneof![3 => 0..4u32, 1 => 0..40u32], prop_oneof![1 => 0..18u32, 1 => Just(15), 1 => Just(0)], kinds)
        .prop_map(|(wait, ago, what)| WrongTick { wait, ago, what })
}

const NAMES: [&str; 4] = ["GA_Bolt", "GA_Jab", "GA_Kick", "GA_Dash"];

/// Plays requests with wrong ticks. Returns the server's tick and the claimed tick of each activation.
fn play(wrong_ticks: &[WrongTick]) -> Vec<(AbilityId, u32, u32)> {
    let mut rig = Rig::new();
    let mut facts = Facts::default();
    let mut done = Vec::new();
    rig.server.take_facts(&mut facts);
    for &WrongTick { wait, ago, what } in wrong_ticks {
        let target = Target::Controller(rig.foe);
        let request = match NAMES.get(what) {
            Some(name) => rig.activate(name, target),
            None => Request::Press { who: rig.rogue, input: super::rig::FIRE, target },
        };
        let is_press = matches!(request, Request::Press { .. });
        let command = rig.command(request);
        let command = Command { tick: rig.server.tick().plus(1).minus(ago), ..command };
        let mut commands = vec![command];
        if is_press {
            let release = rig.command(Request::Release { who: rig.rogue, input: super::rig::FIRE });
            commands.push(Command { tick: commands[0].tick, ..release });
        }
        rig.give(&commands);
        rig.step();
        let next = rig.server.tick().0 + wait;
        rig.run_to(next);
        rig.server.take_facts(&mut facts);
        for fact in facts.list.iter().filter(|f| f.who == rig.rogue) {
            if let FactKind::AbilityActivated { ability, .. } = fact.kind {
                let tick = (fact.at.0 / super::rig::LENGTH.0) as u32 + 1;
                done.push((ability, tick, fact.root.base()));
            }
        }
    }
    done
}

/// In any window of `W` ticks, the times in it are at most floor((W + slack) / length) + extra.
fn bounded(times: &[u32], length: u32, slack: u32, extra: u32) -> Result<(), String> {
    for (first, &begin) in times.iter().enumerate() {
        for (last, &end) in times.iter().enumerate().skip(first) {
            let (count, most) = ((last - first + 1) as u32, (end - begin + slack) / length + extra);
            if count > most {
                return Err(format!("{count} in {} ticks, {most} at most: {times:?}", end - begin));
            }
        }
    }
    Ok(())
}

fn check(done: &[(AbilityId, u32, u32)], rig: &Rig) -> Result<(), String> {
    let behind = ServerConfig::default().max_late_ticks;
    let of = |names: &[&str], server: bool| -> Vec<u32> {
        let ids: Vec<AbilityId> = names.iter().map(|n| rig.ability(n)).collect();
        done.iter().filter(|d| ids.contains(&d.0)).map(|d| if server { d.1 } else { d.2 }).collect()
    };
    // Cooldown and global cooldown are 30 ticks; charges are two, of 30 ticks each.
    for (names, extra) in [(&["GA_Bolt"][..], 1), (&["GA_Jab", "GA_Kick"], 1), (&["GA_Dash"], 2)] {
        bounded(&of(names, true), 30, behind, extra).map_err(|e| format!("{names:?}, server's time: {e}"))?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn wrong_ticks_gain_at_most_the_allowed_lateness(wrong_ticks in prop::collection::vec(wrong_tick(0..5), 1..80)) {
        let done = play(&wrong_ticks);
        if let Err(error) = check(&done, &Rig::silent()) {
            prop_assert!(false, "{}", error);
        }
    }

    #[test]
    fn activations_are_a_cooldown_apart_by_their_own_ticks(wrong_ticks in prop::collection::vec(wrong_tick(0..3), 1..80)) {
        let rig = Rig::silent();
        let done = play(&wrong_ticks);
        for names in [&["GA_Bolt"][..], &["GA_Jab", "GA_Kick"]] {
            let ids: Vec<AbilityId> = names.iter().map(|n| rig.ability(n)).collect();
            let claimed: Vec<u32> = done.iter().filter(|d| ids.contains(&d.0)).map(|d| d.2).collect();
            prop_assert!(bounded(&claimed, 30, 0, 1).is_ok(), "{:?} at {:?}", names, claimed);
        }
    }
}

#[test]
fn the_best_wrong_ticks_gain_the_allowed_lateness_once() {
    for what in [0, 1, 3, 4] {
        let wrong_ticks = vec![WrongTick { wait: 0, ago: 15, what }; 600];
        let done = play(&wrong_ticks);
        assert!(done.len() >= 10, "{} activations", done.len());
        check(&done, &Rig::silent()).unwrap();
    }
}
