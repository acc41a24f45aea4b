//! A predicted change that happened on the server is not reported as undone when the actor leaves: it is confirmed, or it
//! stays unknown if the server does not tell the client about the actor any more.

use crate::kit::{Game, Setup, builder};
use ugas_core::{Anchor, ControllerId, Fact, FactKind, Op, Spec, Target, Which};
use ugas_doc::{Ability, AbilityTask};
use ugas_net::client::Certainty;
use ugas_net::interest::DistanceRelevance;
use ugas_net::link::LinkProfile;

fn hit() -> AbilityTask {
    AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Bolt")
}

/// A game with a hit without a range, and one that the host of the server validates.
fn game(profile: LinkProfile, seed: u64) -> Game {
    let mut asked = Ability::new("GA_Asked").validated("Entitlement", None).task(hit());
    if let Some(validation) = &mut asked.async_validation {
        validation.predicted = true;
    }
    let builder = builder().add(Ability::new("GA_Far").task(hit())).add(asked);
    let mut g = Game::new(Setup { builder, profile, seed, ..Setup::default() });
    g.net.run(120);
    g.facts();
    g
}

/// Counts what became of the changes of a controller's values since the last call: predicted, confirmed, undone, unknown.
fn count(g: &mut Game, who: ControllerId) -> [usize; 4] {
    let facts = g.facts();
    let is_of = |f: &Fact| f.who == who && matches!(f.kind, FactKind::AttributeChanged { .. });
    [Certainty::Predicted, Certainty::Confirmed, Certainty::Undone, Certainty::Unknown]
        .map(|certainty| facts.iter().filter(|(f, c)| *c == certainty && is_of(f)).count())
}

/// The host of the server answers a validation. The ability kills its target, and the host despawns it at once.
#[test]
fn a_killing_blow_whose_target_is_despawned_in_its_tick_is_confirmed() {
    for (name, profile) in LinkProfile::ALL {
        let mut g = game(profile, 3);
        let (hero, foe) = (g.hero, g.foe);
        g.cast("GA_Asked", Target::Controller(foe)).unwrap();
        g.net.run(60);
        assert_eq!(count(&mut g, foe), [1, 0, 0, 0], "{name}: the server has not decided");
        let which = Which::Ability(g.ability("GA_Asked"));
        let sim = g.net.server_mut().sim_mut();
        sim.run(Op::Validate { who: hero, which, ok: true }).unwrap();
        assert_eq!(g.truth(foe, "Health"), 75.0, "{name}");
        g.net.server_mut().sim_mut().despawn(foe).unwrap();
        g.net.run(180);
        assert!(!g.ana().sim().exists(foe), "{name}");
        assert_eq!(count(&mut g, foe), [0, 1, 0, 0], "{name}");
    }
}

/// The server moves the target away. The client hits it before it learns that it no longer receives the target.
#[test]
fn a_hit_on_an_actor_that_left_the_interest_is_unknown() {
    for (name, profile) in LinkProfile::ALL {
        let mut unknown = 0;
        for seed in 1..=5 {
            let mut g = game(profile, seed);
            let foe = g.foe;
            g.net.server_mut().set_relevance(DistanceRelevance::new(500.0, 600.0));
            g.net.run(120);
            count(&mut g, foe);
            let before = g.ana().counts().rejected;
            let away = Op::Move { who: foe, anchor: Some(Anchor::at([90_000.0, 0.0, 0.0])) };
            g.net.server_mut().sim_mut().run(away).unwrap();
            for _ in 0..6 {
                // Refused once the client has removed the target.
                let _ = g.cast("GA_Far", Target::Controller(foe));
                g.net.step();
            }
            g.net.run(240);
            assert_eq!(g.ana().counts().rejected, before, "{name}, seed {seed}: every hit happened");
            let [predicted, confirmed, undone, left] = count(&mut g, foe);
            assert_eq!((undone, confirmed + left), (0, predicted), "{name}, seed {seed}: {confirmed} confirmed");
            unknown += left;
        }
        assert!(unknown > 0 || profile == LinkProfile::LAN, "{name}");
    }
}

/// A change that did not happen to an actor that left stays undone.
#[test]
fn a_hit_that_did_not_happen_is_undone() {
    let mut g = game(LinkProfile::round_trip(100, 0), 1);
    let (hero, foe, cost) = (g.hero, g.foe, g.effect("GE_Cost"));
    for _ in 0..5 {
        g.net.server_mut().sim_mut().apply(&Spec::new(cost, hero)).unwrap();
    }
    g.cast("GA_Bolt", Target::Controller(foe)).unwrap();
    g.net.run(60);
    assert_eq!(count(&mut g, foe), [1, 0, 1, 0], "the server had no mana for it");
}

/// The own controller is despawned after the server ran the command and before the client knows.
#[test]
fn a_change_of_an_own_controller_before_its_removal_is_not_undone() {
    for (name, profile) in LinkProfile::ALL {
        let mut g = game(profile, 3);
        let hero = g.hero;
        g.cast("GA_Haste", Target::None).unwrap();
        g.net.run_until(60, |net| net.server().sim().effects(hero).is_ok_and(|list| !list.is_empty())).unwrap();
        g.net.server_mut().sim_mut().despawn(hero).unwrap();
        g.net.run(180);
        let [predicted, confirmed, undone, unknown] = count(&mut g, hero);
        assert!(predicted > 0 && undone == 0, "{name}: {predicted} predicted, {undone} undone");
        assert_eq!(confirmed + unknown, predicted, "{name}");
    }
}
