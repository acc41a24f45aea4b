//! Releases and cancels are never lost: an input released during an interruption is up on the server afterwards, and an
//! ability cancelled meanwhile has ended.

use crate::kit::{Game, Setup, builder};
use ugas_core::{AbilityGrant, InputId, Op, SimTime, Target, Which};
use ugas_doc::{Ability, AbilityTask, Effect};
use ugas_net::client::CommandStatus;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;

/// A game with an ability that repeats while its input is held and costs mana each time, and one that stays active.
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

/// Returns whether the lasting ability is active on the server.
fn lasts(g: &Game) -> bool {
    g.net.server().sim().activations(g.hero).unwrap().any(|a| a.ability == g.ability("GA_Long"))
}

#[test]
fn a_release_and_a_cancel_during_an_interruption_arrive_afterwards() {
    for profile in [LinkProfile::round_trip(100, 0), LinkProfile::MOBILE, LinkProfile::BAD] {
        let mut g = game(profile);
        let (who, long) = (g.hero, g.ability("GA_Long"));
        g.net.client_mut("Ana").command(Request::Press { who, input: KEY, target: Target::None }).unwrap();
        g.cast("GA_Long", Target::None).unwrap();
        g.net.run(30);
        assert!(lasts(&g), "active on the server");
        g.net.interrupt_link("Ana", SimTime::seconds(1.0));
        g.net.run(50);
        let ana = g.net.client_mut("Ana");
        let queued = ana.command(Request::Press { who, input: InputId(7), target: Target::None });
        assert!(
            matches!(queued, Ok(CommandStatus::Queued(_))),
            "nothing new is predicted while the server is silent: {queued:?}"
        );
        ana.clear_queue();
        let status = ana.command(Request::Release { who, input: KEY });
        assert!(matches!(status, Ok(CommandStatus::Sent(_))), "{status:?}");
        let status = ana.command(Request::Cancel { who, ability: long });
        assert!(matches!(status, Ok(CommandStatus::Sent(_))), "{status:?}");
        g.net.run(120);
        assert!(!lasts(&g), "the cancel arrived");
        // A held input would activate the ability after each cooldown.
        let mana = g.truth(who, "Mana");
        g.net.run(300);
        assert_eq!(g.truth(who, "Mana"), mana, "the release arrived");
        g.assert_equal();
    }
}

#[test]
fn a_press_after_a_release_during_an_interruption_is_held() {
    let mut g = game(LinkProfile::round_trip(100, 0));
    let who = g.hero;
    let press = Request::Press { who, input: KEY, target: Target::None };
    g.net.client_mut("Ana").command(press.clone()).unwrap();
    g.net.run(30);
    g.net.interrupt_link("Ana", SimTime::seconds(1.0));
    g.net.run(50);
    g.net.client_mut("Ana").command(Request::Release { who, input: KEY }).unwrap();
    let before = g.truth(who, "Mana");
    let status = g.net.client_mut("Ana").command(press);
    assert!(matches!(status, Ok(CommandStatus::Queued(_))), "{status:?}");
    g.net.run(300);
    assert!(g.truth(who, "Mana") < before, "the input is held again, and the ability repeats");
}
