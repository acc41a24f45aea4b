//! A predicted validation that takes longer than the prediction window: the client stops new predictions (ruling C-42), but its
//! clock continues, it receives and sends, and it predicts again as soon as the server has decided.

use crate::kit::{Game, Setup, builder};
use ugas_core::{Op, SimTime, Spec, Target, Which};
use ugas_doc::{Ability, AbilityTask};
use ugas_net::client::CommandStatus;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;

fn game(profile: LinkProfile, window: SimTime) -> Game {
    let heal = AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Haste");
    let mut asked = Ability::new("GA_Asked").cost("GE_Cost").validated("Entitlement", None).task(heal);
    if let Some(v) = &mut asked.async_validation {
        v.predicted = true;
    }
    Game::new(Setup { builder: builder().add(asked), profile, window, ..Setup::default() })
}

// covers: NXT-8.8-03
#[test]
fn a_long_validation_stops_only_new_predictions() {
    let profiles = [LinkProfile::round_trip(100, 0), LinkProfile::MOBILE];
    for (ok, profile) in [true, false].into_iter().flat_map(|ok| profiles.map(|p| (ok, p))) {
        let mut g = game(profile, SimTime::millis(500));
        g.cast("GA_Asked", Target::None).unwrap();
        let (hero, foe, hit) = (g.hero, g.foe, g.effect("GE_Other"));
        let mut most = 0;
        for n in 0..300 {
            g.net.step();
            assert_eq!(g.seen(hero, "Mana"), 80.0, "the prediction stays");
            let (ours, theirs) = (g.ana().tick(), g.net.tick());
            assert!(ours.plus(30) > theirs && theirs.plus(60) > ours, "{ours:?} and {theirs:?} are one game");
            if n > 60 {
                assert!(ours > theirs, "it still runs ahead of the server, so that its commands come in time");
                assert!(matches!(g.cast("GA_Haste", Target::None), Ok(CommandStatus::Queued(_))));
                g.net.client_mut("Ana").clear_queue();
            }
            if n == 100 {
                g.net.server_mut().sim_mut().apply(&Spec::new(hit, foe)).unwrap();
            }
            most = most.max(g.ana().retained());
        }
        assert!(most < 100, "{most} held");
        assert_eq!(g.seen(foe, "Health"), 99.0, "remote actors are updated");
        assert_eq!(g.truth(hero, "Mana"), 100.0, "the server still waits");
        let which = Which::Ability(g.ability("GA_Asked"));
        g.net.server_mut().sim_mut().run(Op::Validate { who: hero, which, ok }).unwrap();
        let is_there = |g: &Game| g.ana().can_predict();
        let open = (0..60).find(|_| {
            g.net.step();
            is_there(&g)
        });
        assert!(open.is_some(), "the verdict opens the window again");
        g.net.restore_links();
        g.net.run(60);
        let left = if ok { 80.0 } else { 100.0 };
        assert_eq!((g.seen(hero, "Mana"), g.truth(hero, "Mana")), (left, left));
        g.bolt();
        assert_eq!(g.seen(hero, "Mana"), left - 20.0, "it predicts again");
        g.net.run(240);
        assert_eq!(g.truth(hero, "Mana"), left - 20.0);
        g.assert_equal();
        assert!(g.ana().counts().longest_resimulation <= 30, "{:?}", g.ana().counts());
    }
}

#[test]
fn releases_and_cancels_are_sent_while_the_window_is_closed() {
    let mut g = game(LinkProfile::round_trip(100, 0), SimTime::millis(250));
    g.cast("GA_Asked", Target::None).unwrap();
    g.net.run(60);
    let ability = g.ability("GA_Asked");
    assert!(!g.ana().can_predict());
    let cancel = Request::Cancel { who: g.hero, ability };
    g.net.client_mut("Ana").command(cancel).unwrap();
    g.net.run(30);
    assert!(g.ana().can_predict(), "the server ended the validation");
    assert_eq!((g.seen(g.hero, "Mana"), g.truth(g.hero, "Mana")), (100.0, 100.0));
    g.bolt();
    g.net.run(60);
    assert_eq!((g.seen(g.hero, "Mana"), g.truth(g.hero, "Mana")), (80.0, 80.0));
    g.assert_equal();
}
