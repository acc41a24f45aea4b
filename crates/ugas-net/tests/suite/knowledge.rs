//! What a client knows about attributes: its own rows completely, the rows of others as far as they are replicated.

use crate::kit::{Game, Setup};
use ugas_core::{ControllerId, Op, Spec};
use ugas_doc::ControllerReplication;
use ugas_net::client::{ClientExplanation, Knowledge};

/// A session in which the server has hastened all actors: 10 speed and 5 from a modifier.
fn hastened(mode: ControllerReplication) -> Game {
    let mut game = Game::new(Setup { mode, ..Setup::default() });
    game.net.run(60);
    let haste = game.rules.effect("GE_Haste").unwrap();
    for who in [game.hero, game.foe] {
        game.net.server_mut().sim_mut().run(Op::Apply(Spec::new(haste, who))).unwrap();
    }
    game.net.run(60);
    game
}

fn explain(game: &Game, who: ControllerId) -> ClientExplanation {
    game.net.client("Ana").explain(who, game.rules.attribute("Speed").unwrap()).unwrap()
}

#[test]
fn the_modifiers_of_a_remote_actor_are_unknown_and_never_explained_away() {
    let game = hastened(ControllerReplication::Full);
    assert_eq!(explain(&game, game.foe), ClientExplanation::ValueOnly { value: 15.0, replicated: 15.0 });
    let ClientExplanation::Full(own) = explain(&game, game.hero) else { panic!("an owner knows its own row") };
    assert_eq!((own.value, own.base, own.lines.len()), (15.0, 10.0, 1));
}

#[test]
fn an_attribute_that_is_not_replicated_is_hidden_though_the_row_has_a_default() {
    let game = hastened(ControllerReplication::Mixed);
    let (client, speed) = (game.net.client("Ana"), game.rules.attribute("Speed").unwrap());
    assert_eq!(client.sim().get(game.foe, speed).unwrap(), 10.0, "the default, which is not the server's value");
    assert_eq!(client.knowledge(game.foe, speed), Knowledge::Hidden);
    assert_eq!(explain(&game, game.foe), ClientExplanation::Hidden);
    assert_eq!(client.knowledge(ControllerId(99), speed), Knowledge::Hidden);
}
