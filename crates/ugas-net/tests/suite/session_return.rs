//! Own controllers that are removed from the server's sim and return, or whose replication mode changes: the session of their
//! owner continues.

use crate::kit::{self, Game, Setup};
use proptest::prelude::*;
use ugas_core::{ControllerId, Portable, SimTime, Spec, Target};
use ugas_doc::{ControllerReplication, Effect};
use ugas_net::link::LinkProfile;

fn game() -> Game {
    Game::new(Setup { ben: true, ..Setup::default() })
}

fn take(g: &mut Game, who: ControllerId) -> Portable {
    g.net.server_mut().sim_mut().extract(who).unwrap()
}

fn put(g: &mut Game, from: &Portable) {
    g.net.server_mut().sim_mut().insert(from).unwrap();
}

/// Checks that Ana's controllers agree with the server and that she can predict.
fn plays(g: &mut Game) {
    let who = g.hero;
    assert_eq!(g.ana().owned(), [who]);
    g.assert_equal();
    let mana = g.truth(who, "Mana");
    g.bolt();
    assert_eq!(g.seen(who, "Mana"), mana - 20.0, "predicted");
    g.net.run(60);
    assert_eq!(g.truth(who, "Mana"), mana - 20.0);
    g.assert_equal();
    assert_eq!(g.ana().pending_commands(), 0);
}

#[test]
fn an_own_controller_that_returns_is_predicted_again() {
    for away in [0, 1, 2, 40] {
        let mut g = game();
        let hero = g.hero;
        let kept = take(&mut g, hero);
        g.net.run(away);
        put(&mut g, &kept);
        g.net.run(40);
        plays(&mut g);
        let ben = g.net.client("Ben");
        assert!(ben.sim().exists(g.hero), "observers receive it again, away for {away} ticks");
    }
}

#[test]
fn an_own_controller_returns_before_its_removal_is_received() {
    let mut g = game();
    let hero = g.hero;
    g.net.interrupt_link("Ana", SimTime::millis(300));
    let kept = take(&mut g, hero);
    g.net.run(3);
    put(&mut g, &kept);
    let hit = g.effect("GE_Other");
    g.net.server_mut().sim_mut().apply(&Spec::new(hit, hero)).unwrap();
    g.net.run(60);
    plays(&mut g);
}

#[test]
fn the_removal_of_an_unchanged_own_controller_is_sent() {
    let mut g = game();
    let hero = g.hero;
    take(&mut g, hero);
    g.net.run(20);
    assert!(g.ana().owned().is_empty());
    assert!(!g.ana().sim().exists(hero));
    assert!(g.cast("GA_Haste", Target::None).is_err());
    assert_eq!((g.ana().retained(), g.ana().counts().malformed), (0, 0));
}

#[test]
fn a_mode_change_changes_what_is_sent_and_ends_nothing() {
    let mut g = game();
    let hero = g.hero;
    g.net.server_mut().set_replication(hero, ControllerReplication::Mixed);
    g.net.run(40);
    let health = g.attribute("Health");
    let value = |g: &Game| g.net.client("Ben").proxies().get(g.hero).and_then(|p| p.value(health));
    assert_eq!(value(&g), None, "Mixed sends no attributes to observers");
    plays(&mut g);
    g.net.server_mut().set_replication(hero, ControllerReplication::Full);
    g.net.run(40);
    assert_eq!(value(&g), Some(100.0));
    plays(&mut g);
}

#[test]
fn an_owner_without_exact_state_is_an_observer_until_the_mode_changes_back() {
    for mode in [ControllerReplication::Minimal, ControllerReplication::None] {
        let mut g = game();
        let hero = g.hero;
        g.net.server_mut().set_replication(hero, mode);
        g.net.run(40);
        assert!(g.ana().owned().is_empty());
        let shown = mode == ControllerReplication::Minimal;
        assert_eq!(g.ana().sim().exists(hero), shown);
        assert_eq!(g.ana().proxies().get(hero).is_some(), shown);
        assert!(g.cast("GA_Haste", Target::None).is_err());
        g.net.server_mut().set_replication(hero, ControllerReplication::Full);
        g.net.run(40);
        assert!(g.ana().proxies().get(hero).is_none(), "an own controller is not a proxy too");
        plays(&mut g);
    }
}

/// A change of Ana's controllers in a tick.
#[derive(Clone, Copy, Debug)]
enum Action {
    Rest(u32),
    Away(u32),
    Mode(ControllerReplication),
    Cut(i64),
    Hit,
    Bolt,
}

fn action() -> impl Strategy<Value = Action> {
    use ControllerReplication::{Full, Minimal, Mixed, None};
    prop_oneof![
        3 => (1..20u32).prop_map(Action::Rest),
        2 => (0..12u32).prop_map(Action::Away),
        2 => prop_oneof![Just(Full), Just(Mixed), Just(Minimal), Just(None)].prop_map(Action::Mode),
        1 => (1..400i64).prop_map(Action::Cut),
        2 => Just(Action::Hit),
        2 => Just(Action::Bolt),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_session_continues_whatever_happens_to_an_own_controller(
        actions in prop::collection::vec(action(), 1..24),
        seed in 0..1000u64,
        bad in any::<bool>(),
    ) {
        let profile = if bad { LinkProfile::BAD } else { LinkProfile::GOOD };
        let builder = kit::builder().add(Effect::instant("GE_Mend").add("Mana", 1000.0));
        let mut g = Game::new(Setup { ben: true, seed, profile, builder, ..Setup::default() });
        let (hero, hit, mend) = (g.hero, g.effect("GE_Other"), g.effect("GE_Mend"));
        g.net.server_mut().sim_mut().apply(&Spec::new(mend, hero)).unwrap();
        for action in actions {
            match action {
                Action::Rest(ticks) => g.net.run(ticks),
                Action::Away(ticks) => {
                    let kept = take(&mut g, hero);
                    g.net.run(ticks);
                    put(&mut g, &kept);
                }
                Action::Mode(mode) => g.net.server_mut().set_replication(hero, mode),
                Action::Cut(length) => g.net.interrupt_link("Ana", SimTime::millis(length)),
                Action::Hit => drop(g.net.server_mut().sim_mut().apply(&Spec::new(hit, hero)).unwrap()),
                // Not while it is away, or still on cooldown.
                Action::Bolt => drop(g.cast("GA_Bolt", Target::Controller(g.foe))),
            }
            g.net.step();
        }
        g.net.server_mut().set_replication(hero, ControllerReplication::Full);
        g.net.restore_links();
        g.net.run(120);
        plays(&mut g);
        let seen = g.net.client("Ben").proxies().get(hero).and_then(|p| p.value(g.attribute("Health")));
        prop_assert_eq!(seen, Some(g.truth(hero, "Health")));
    }
}
