//! Updates of a session: a change is sent once, with the value at the end of the tick; sets and controllers may be removed while
//! packets are in flight.

use crate::kit::{Game, Setup, builder};
use ugas_core::{ControllerId, FactKind, Op, Spec};
use ugas_doc::{Attribute, AttributeSet, ControllerReplication, Effect};
use ugas_net::client::{Certainty, NetFacts};
use ugas_net::internals::view::ProxySnapshot;
use ugas_net::link::LinkProfile;

fn apply(game: &mut Game, effect: &str, who: ControllerId) {
    let effect = game.effect(effect);
    game.net.server_mut().sim_mut().apply(&Spec::new(effect, who)).unwrap();
}

/// The bytes of the next tick's datagrams to Ben.
fn bytes_to_ben(game: &mut Game) -> u64 {
    let bytes = |game: &Game| game.net.player("Ben").down.counts().bytes;
    let before = bytes(game);
    game.net.step();
    bytes(game) - before
}

fn watched() -> Game {
    let builder = builder()
        .add(Effect::instant("GE_Nothing").add("Mana", 0.0))
        .add(AttributeSet::new("Item").with(Attribute::new("Armor", 20.0)))
        .add(Effect::lasting("GE_Polish", 30.0).add("Armor", 5.0).add("Health", 7.0));
    Game::new(Setup { builder, ben: true, profile: LinkProfile::PERFECT, ..Setup::default() })
}

// covers: UGAS-3.3-05
#[test]
fn two_changes_in_one_tick_are_one_update_with_the_last_value() {
    let mut game = watched();
    let (hero, mana) = (game.hero, game.attribute("Mana"));
    let mut facts = NetFacts::default();
    game.net.client_mut("Ben").take_facts(&mut facts);
    apply(&mut game, "GE_Cost", hero);
    apply(&mut game, "GE_Cost", hero);
    game.net.run(10);
    game.net.client_mut("Ben").take_facts(&mut facts);
    let changes: Vec<f64> = facts
        .iter()
        .filter(|(fact, certainty)| fact.who == hero && *certainty == Certainty::Server)
        .filter_map(|(fact, _)| match fact.kind {
            FactKind::AttributeChanged { attribute, new, .. } if attribute == mana => Some(new),
            _ => None,
        })
        .collect();
    assert_eq!(changes, [60.0]);
}

// covers: UGAS-13.3-02
#[test]
fn only_changes_are_sent_and_only_once() {
    let mut game = watched();
    game.net.run(120);
    let idle = bytes_to_ben(&mut game);
    assert_eq!(bytes_to_ben(&mut game), idle, "nothing happens");
    let foe = game.foe;
    apply(&mut game, "GE_Nothing", foe);
    assert_eq!(bytes_to_ben(&mut game), idle, "the same value again is no change");
    apply(&mut game, "GE_Cost", foe);
    assert!(bytes_to_ben(&mut game) > idle, "a change is sent");
    assert_eq!(bytes_to_ben(&mut game), idle, "and not again");
}

// covers: PEER-13
#[test]
fn a_set_removed_while_its_buff_is_in_flight_leaves_all_clients_equal() {
    for (name, profile) in LinkProfile::ALL {
        let mut game = watched();
        let (hero, item) = (game.hero, game.rules.set("Item").unwrap());
        game.net.players_mut().iter_mut().for_each(|p| {
            p.up.set_profile(profile);
            p.down.set_profile(profile);
        });
        let run = |game: &mut Game, op: Op| game.net.server_mut().sim_mut().run(op).unwrap();
        for round in 0..6 {
            run(&mut game, Op::AddSet { who: hero, set: item });
            game.net.run(20 + round);
            apply(&mut game, "GE_Polish", hero);
            game.net.run(round);
            run(&mut game, Op::RemoveSet { who: hero, set: item, force: true });
            game.net.run(5 * round);
        }
        game.net.restore_links();
        // Without the set, and with it.
        for has in [false, true] {
            game.net.run(60);
            let server = game.net.server().sim();
            let ana = game.net.client("Ana");
            assert_eq!(ana.sim().sets(hero), server.sets(hero), "{name}");
            assert_eq!(ana.sim().sets(hero).map(|sets| sets.contains(&item)), Ok(has), "{name}");
            assert_eq!(ana.sim().get(hero, game.attribute("Health")), Ok(142.0), "{name}");
            assert_eq!(ana.confirmed_hash(hero), server.remote().hash_without(hero, &[]).ok(), "{name}");
            let seen = game.net.client("Ben").proxies().get(hero).map(|p| p.snapshot());
            assert_eq!(seen, ProxySnapshot::of(server, hero, ControllerReplication::Full).ok(), "{name}");
            if !has {
                run(&mut game, Op::AddSet { who: hero, set: item });
            }
        }
    }
}

#[test]
fn a_player_who_loses_one_of_two_controllers_keeps_the_other() {
    let mut game = watched();
    let (hero, foe) = (game.hero, game.foe);
    game.net.disconnect("Ana");
    game.net.join("Eve", LinkProfile::GOOD, &[hero, foe]).unwrap();
    game.net.run(120);
    assert_eq!(game.net.client("Eve").owned(), [hero, foe]);
    game.net.server_mut().sim_mut().despawn(hero).unwrap();
    game.net.run(60);
    apply(&mut game, "GE_Cost", foe);
    game.net.run(60);
    let eve = game.net.client("Eve");
    assert_eq!((eve.owned(), eve.counts().malformed), (&[foe][..], 0));
    assert_eq!(eve.sim().get(foe, game.attribute("Mana")), Ok(80.0));
    assert_eq!(eve.confirmed_hash(foe), game.net.server().sim().remote().hash_without(foe, &[]).ok());
    assert!(eve.can_predict() && !eve.sim().exists(hero));
}
