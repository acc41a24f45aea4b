//! What a client may apply inside a running ability.

use super::rig::{Rig, refused_in};
use ugas_core::Target;
use ugas_net::authority::RejectReason;
use ugas_net::client::CommandStatus;
use ugas_net::message::Request;

/// Sessions in which an ability of Mallory is active with the foe as its target.
fn active(name: &str) -> [Rig; 2] {
    [Rig::new(), Rig::new()].map(|mut rig| {
        rig.ask(rig.activate(name, Target::Controller(rig.foe)));
        assert_eq!(rig.server.sim().activations(rig.rogue).unwrap().count(), 1);
        rig
    })
}

#[test]
fn a_wind_up_of_three_seconds_deals_its_one_hit() {
    // The hit of 50 is a task of the ability; the client may not repeat it while the ability winds up.
    let mut rig = Rig::new();
    let ann_only = {
        let mut calm = Rig::new();
        calm.run_to(60 + 60 * 4);
        1000.0 - calm.health(calm.foe)
    };
    rig.ask(rig.activate("GA_Slam", Target::Controller(rig.foe)));
    for _ in 0..100 {
        rig.ask(rig.apply("GA_Slam", "GE_Slam", rig.foe));
    }
    rig.run_to(60 + 60 * 4);
    assert_eq!(1000.0 - rig.health(rig.foe) - ann_only, 50.0);
    assert_eq!(rig.count(RejectReason::EffectClass), 100);
}

#[test]
fn an_effect_is_applied_as_often_as_the_activation_allows() {
    let [mut rig, _] = active("GA_Volley");
    let (foe, hero) = (rig.health(rig.foe), rig.health(rig.hero));
    for _ in 0..5 {
        rig.ask(rig.apply("GA_Volley", "GE_Beam", rig.foe));
    }
    assert_eq!((rig.health(rig.foe), rig.count(RejectReason::Budget)), (foe - 4.0, 3), "2 per target");
    for _ in 0..5 {
        rig.ask(rig.apply("GA_Volley", "GE_Beam", rig.hero));
    }
    assert_eq!((rig.health(rig.hero), rig.count(RejectReason::Budget)), (hero - 2.0, 7), "3 in total");
}

#[test]
fn the_budget_ends_with_the_task_that_names_the_effect() {
    let pair = active("GA_Volley").map(|mut rig| {
        // The first task waits one second.
        rig.run_to(rig.server.tick().0 + 61);
        rig
    });
    refused_in(pair, &[(RejectReason::Idle, 2)], |rig| {
        rig.ask(rig.apply("GA_Volley", "GE_Beam", rig.foe));
        rig.ask(rig.apply("GA_Volley", "GE_Beam", rig.hero));
    });
}

#[test]
fn a_new_activation_has_a_new_budget() {
    let [mut rig, _] = active("GA_Hold");
    let (who, ability, before) = (rig.rogue, rig.ability("GA_Hold"), rig.health(rig.foe));
    for _ in 0..3 {
        rig.ask(rig.apply("GA_Hold", "GE_Bolt", rig.foe));
        rig.ask(rig.apply("GA_Hold", "GE_Bolt", rig.foe));
        rig.ask(Request::Cancel { who, ability });
        rig.ask(rig.activate("GA_Hold", Target::Controller(rig.foe)));
    }
    let bolts = (before - rig.health(rig.foe)) / 25.0;
    assert!((3.0..3.5).contains(&bolts), "{bolts} with what Ann does");
    assert_eq!(rig.count(RejectReason::Budget), 3);
}

#[test]
fn an_honest_client_counts_like_the_server() {
    let mut rig = Rig::new();
    let (who, ability, effect) = (rig.hero, rig.ability("GA_Volley"), rig.effect("GE_Beam"));
    rig.ann.command(Request::Activate { who, ability, target: Target::Controller(rig.foe) }).unwrap();
    let apply = |target| Request::Apply { who, ability, effect, target };
    let mut sent = 0;
    for n in 0..12 {
        let target = if n % 2 == 0 { rig.foe } else { rig.rogue };
        sent += usize::from(matches!(rig.ann.command(apply(target)), Ok(CommandStatus::Predicted(..))));
        rig.step();
    }
    assert_eq!(sent, 3, "the client refuses what the server would reject");
    rig.run_to(rig.server.tick().0 + 20);
    assert_eq!(rig.server.counts().iter().count(), 0);
    assert_eq!((rig.ann.counts().rejected, rig.ann.counts().corrections), (0, 0));
    assert_eq!(rig.ann.confirmed_hash(who), Some(rig.server.owner_hash(who).unwrap()));
}
