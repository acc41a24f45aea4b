//! Own controllers that leave the server's world and come back, and that are shown in another way than before: their
//! owner's session goes on.

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

/// Ana has her own as the server has it, and can play.
fn plays(g: &mut Game) {
    let who = g.hero;
    assert_eq!(g.ana().owned(), [who]);
    g.assert_equal();
    let mana = g.truth(who, "Mana");
    g.bolt();
    assert_eq!(g.seen(who, "Mana"), mana - 20.0, "played ahead");
    g.net.run(60);
    assert_eq!(g.truth(who, "Mana"), mana - 20.0);
    g.assert_equal();
    assert_eq!(g.ana().pending_commands(), 0);
}

#[test]
fn an_own_controller_that_was_away_is_played_again() {
    for away in [0, 1, 2, 40] {
        let mut g = game();
        let hero = g.hero;
        let kept = take(&mut g, hero);
        g.net.run(away);
        put(&mut g, &kept);
        g.net.run(40);
        plays(&mut g);
        let ben = g.net.client("Ben");
        assert!(ben.sim().exists(g.hero), "others see it again, away for {away} ticks");
    }
}

#[test]
fn an_own_controller_comes_back_though_nobody_heard_that_it_went() {
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
fn an_own_controller_that_stood_still_and_is_gone_is_told_as_gone() {
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
fn another_mode_changes_what_is_shown_and_ends_nothing() {
    let mut g = game();
    let hero = g.hero;
    g.net.server_mut().set_replication(hero, ControllerReplication::Mixed);
    g.net.run(40);
    let health = g.attribute("Health");
    let value = |g: &Game| g.net.client("Ben").proxies().get(g.hero).and_then(|p| p.value(health));
    assert_eq!(value(&g), None, "Mixed shows others no attributes");
    plays(&mut g);
    g.net.server_mut().set_replication(hero, ControllerReplication::Full);
    g.net.run(40);
    assert_eq!(value(&g), Some(100.0));
    plays(&mut g);
}

#[test]
fn an_owner_who_sees_less_than_everything_is_an_observer_until_it_sees_everything_again() {
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
        assert!(g.ana().proxies().get(hero).is_none(), "what is one's own is not somebody else's too");
        plays(&mut g);
    }
}

/// What may be done to Ana's own in a tick.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Rest(u32),
    Away(u32),
    Mode(ControllerReplication),
    Cut(i64),
    Hit,
    Bolt,
}

fn deed() -> impl Strategy<Value = Deed> {
    use ControllerReplication::{Full, Minimal, Mixed, None};
    prop_oneof![
        3 => (1..20u32).prop_map(Deed::Rest),
        2 => (0..12u32).prop_map(Deed::Away),
        2 => prop_oneof![Just(Full), Just(Mixed), Just(Minimal), Just(None)].prop_map(Deed::Mode),
        1 => (1..400i64).prop_map(Deed::Cut),
        2 => Just(Deed::Hit),
        2 => Just(Deed::Bolt),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_becomes_of_an_own_controller_its_session_goes_on(
        deeds in prop::collection::vec(deed(), 1..24),
        seed in 0..1000u64,
        bad in any::<bool>(),
    ) {
        let profile = if bad { LinkProfile::BAD } else { LinkProfile::GOOD };
        let builder = kit::builder().add(Effect::instant("GE_Mend").add("Mana", 1000.0));
        let mut g = Game::new(Setup { ben: true, seed, profile, builder, ..Setup::default() });
        let (hero, hit, mend) = (g.hero, g.effect("GE_Other"), g.effect("GE_Mend"));
        g.net.server_mut().sim_mut().apply(&Spec::new(mend, hero)).unwrap();
        for deed in deeds {
            match deed {
                Deed::Rest(ticks) => g.net.run(ticks),
                Deed::Away(ticks) => {
                    let kept = take(&mut g, hero);
                    g.net.run(ticks);
                    put(&mut g, &kept);
                }
                Deed::Mode(mode) => g.net.server_mut().set_replication(hero, mode),
                Deed::Cut(length) => g.net.interrupt_link("Ana", SimTime::millis(length)),
                Deed::Hit => drop(g.net.server_mut().sim_mut().apply(&Spec::new(hit, hero)).unwrap()),
                // Not while it is away, or still on cooldown.
                Deed::Bolt => drop(g.cast("GA_Bolt", Target::Controller(g.foe))),
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
