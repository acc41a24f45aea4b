//! What lets go (a release, a cancel) is never lost: a key that was let go while the line was dead is up on the server
//! as soon as the line is back, and an ability that was cancelled meanwhile has ended.

use crate::kit::{Game, Setup, builder};
use ugas_core::{AbilityGrant, InputId, Op, Refusal, SimTime, Target, Which};
use ugas_doc::{Ability, AbilityTask, Effect};
use ugas_net::client::CommandStatus;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;

/// A game whose ability starts again and again while its key is held, costs a little mana each time, and one that lasts.
fn game(profile: LinkProfile) -> Game {
    let mut auto = Ability::new("GA_Auto").cost("GE_Shot").cooldown("GE_Cooldown");
    auto.held_activation = true;
    let long = Ability::new("GA_Long").task(AbilityTask::new("WaitDelay").param("Duration", 60.0));
    let mut g = Game::new(Setup {
        builder: builder().add(Effect::instant("GE_Shot").add("Mana", -1.0)).add(auto).add(long),
        profile,
        ..Setup::default()
    });
    let (who, ability) = (g.hero, g.ability("GA_Auto"));
    let server = g.net.server_mut().sim_mut();
    server.run(Op::Revoke { who, which: Which::Ability(ability) }).unwrap();
    server.run(Op::Grant { who, grant: AbilityGrant::new(ability).input(KEY) }).unwrap();
    g.net.run(60);
    g
}

const KEY: InputId = InputId(4);

/// Whether the server still plays what lasts.
fn lasts(g: &Game) -> bool {
    g.net.server().sim().activations(g.hero).unwrap().any(|a| a.ability == g.ability("GA_Long"))
}

#[test]
fn a_key_let_go_and_an_ability_cancelled_on_a_dead_line_end_when_it_is_back() {
    for profile in [LinkProfile::round_trip(100, 0), LinkProfile::MOBILE, LinkProfile::BAD] {
        let mut g = game(profile);
        let (who, long) = (g.hero, g.ability("GA_Long"));
        g.net.client_mut("Ana").command(Request::Press { who, input: KEY, target: Target::None }).unwrap();
        g.cast("GA_Long", Target::None).unwrap();
        g.net.run(30);
        assert!(lasts(&g), "the server plays it");
        g.net.interrupt_link("Ana", SimTime::seconds(1.0));
        g.net.run(50);
        let ana = g.net.client_mut("Ana");
        let refused = ana.command(Request::Activate { who, ability: long, target: Target::None });
        assert_eq!(
            refused.unwrap_err(),
            Refusal::PredictionWindowClosed,
            "nothing new is played ahead of a server that is silent"
        );
        let said = ana.command(Request::Release { who, input: KEY });
        assert!(matches!(said, Ok(CommandStatus::Sent(_))), "{said:?}");
        let said = ana.command(Request::Cancel { who, ability: long });
        assert!(matches!(said, Ok(CommandStatus::Sent(_))), "{said:?}");
        g.net.run(120);
        assert!(!lasts(&g), "the cancel came through");
        // A key that were still down would start the ability each time its cooldown is over.
        let mana = g.truth(who, "Mana");
        g.net.run(300);
        assert_eq!(g.truth(who, "Mana"), mana, "the release came through");
        g.assert_equal();
    }
}

#[test]
fn a_key_that_is_pressed_again_after_it_was_let_go_on_a_dead_line_is_down() {
    let mut g = game(LinkProfile::round_trip(100, 0));
    let who = g.hero;
    let press = Request::Press { who, input: KEY, target: Target::None };
    g.net.client_mut("Ana").command(press.clone()).unwrap();
    g.net.run(30);
    g.net.interrupt_link("Ana", SimTime::seconds(1.0));
    g.net.run(50);
    g.net.client_mut("Ana").command(Request::Release { who, input: KEY }).unwrap();
    let before = g.truth(who, "Mana");
    for _ in 0..120 {
        g.net.step();
        if g.net.client_mut("Ana").command(press.clone()).is_ok() {
            break;
        }
    }
    g.net.run(300);
    assert!(g.truth(who, "Mana") < before, "the key is down again, and the ability goes on");
}
