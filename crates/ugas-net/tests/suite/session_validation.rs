//! A predicted validation that takes longer than the prediction window: the client's prediction of its ability stays until the
//! server has decided. Everything else continues: the state of the owner is sent and corrected, and new commands are
//! predicted.

use crate::kit::{Game, Setup, builder};
use ugas_core::{Op, SimTime, Spec, Target, Which};
use ugas_doc::{Ability, AbilityTask, Effect};
use ugas_net::client::Certainty;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;

fn game(profile: LinkProfile, window: SimTime) -> Game {
    let heal = AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Haste");
    let mut asked = Ability::new("GA_Asked").cost("GE_Cost").validated("Entitlement", None).task(heal);
    if let Some(v) = &mut asked.async_validation {
        v.predicted = true;
    }
    let heavy = Effect::instant("GE_Heavy").add("Health", -90.0);
    Game::new(Setup { builder: builder().add(asked).add(heavy), profile, window, ..Setup::default() })
}

// covers: NXT-8.8-03
#[test]
fn a_long_validation_holds_back_only_its_own_ability() {
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
                assert!(g.ana().can_predict() || profile == LinkProfile::MOBILE, "new commands are predicted");
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
        g.net.restore_links();
        g.net.run(60);
        let left = if ok { 80.0 } else { 100.0 };
        assert_eq!((g.seen(hero, "Mana"), g.truth(hero, "Mana")), (left, left));
        g.bolt();
        assert_eq!(g.seen(hero, "Mana"), left - 20.0);
        g.net.run(240);
        assert_eq!(g.truth(hero, "Mana"), left - 20.0);
        g.assert_equal();
        assert!(g.ana().counts().longest_resimulation <= 30, "{:?}", g.ana().counts());
    }
}

#[test]
fn a_cancel_ends_a_pending_validation() {
    let mut g = game(LinkProfile::round_trip(100, 0), SimTime::millis(250));
    g.cast("GA_Asked", Target::None).unwrap();
    g.net.run(60);
    let ability = g.ability("GA_Asked");
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

/// The state of the owner is sent and corrected while the validation is pending.
#[test]
fn a_hit_during_a_validation_is_shown_at_once() {
    for (name, profile) in [("100 ms", LinkProfile::round_trip(100, 0)), ("mobile", LinkProfile::MOBILE)] {
        let mut g = game(profile, SimTime::millis(500));
        g.facts();
        g.cast("GA_Asked", Target::None).unwrap();
        let (hero, hit) = (g.hero, g.effect("GE_Heavy"));
        g.net.run(60);
        g.net.server_mut().sim_mut().apply(&Spec::new(hit, hero)).unwrap();
        let mut shown = None;
        for n in 0..170 {
            g.net.step();
            if g.seen(hero, "Health") == 10.0 {
                shown = shown.or(Some(n));
            }
        }
        assert!(shown.is_some_and(|n| n <= 30), "{name}: {shown:?}");
        assert_eq!(g.seen(hero, "Mana"), 80.0, "{name}: the predicted cost stays");
        let undone: Vec<_> = g.facts().into_iter().filter(|(_, c)| *c == Certainty::Undone).collect();
        assert!(undone.is_empty(), "{name}: {undone:#?}");
        g.net.restore_links();
        g.net.run(30);
        g.bolt();
        assert_eq!(g.seen(hero, "Mana"), 60.0, "{name}: other commands are predicted");
        g.net.run(60);
        assert_eq!((g.seen(hero, "Mana"), g.truth(hero, "Mana")), (60.0, 80.0), "{name}");
        let which = Which::Ability(g.ability("GA_Asked"));
        g.net.server_mut().sim_mut().run(Op::Validate { who: hero, which, ok: true }).unwrap();
        g.net.run(60);
        assert_eq!((g.seen(hero, "Mana"), g.truth(hero, "Mana")), (60.0, 60.0), "{name}");
        let undone = g.facts().iter().filter(|(_, c)| *c == Certainty::Undone).count();
        assert_eq!(undone, 0, "{name}");
        g.net.run(240);
        g.assert_equal();
    }
}
