//! Damage over time that a client applies to a remote actor: the value that the client shows never rises, on any link.

use crate::kit::{Game, Setup, builder};
use ugas_core::{SimTime, Target};
use ugas_doc::{Ability, AbilityTask, Effect};
use ugas_net::link::LinkProfile;

fn game(profile: LinkProfile, seed: u64) -> Game {
    let dot = Effect::lasting("GE_Dot", 2.0).every(0.1).add("Health", -1.0);
    let task_of = |effect: &str| AbilityTask::new("ApplyEffectToTarget").param("EffectClass", effect);
    let rules = builder()
        .add(dot)
        .add(Effect::instant("GE_Heal").add("Health", 20.0))
        .add(Ability::new("GA_Dot").task(task_of("GE_Dot")))
        .add(Ability::new("GA_Hit").task(task_of("GE_Other")));
    let mut g = Game::new(Setup { builder: rules, profile, seed, window: SimTime::millis(500), ..Setup::default() });
    g.net.run(150);
    g
}

/// Uses the ability 24 times, one after the other. Returns after how many of them the shown health rose.
fn rebounds(profile: LinkProfile, ability: &str) -> usize {
    let mut g = game(profile, 11);
    let (foe, mut rises) = (g.foe, 0);
    for _ in 0..24 {
        let mut shown = g.seen(foe, "Health");
        let rejected = g.ana().counts().rejected;
        let cast = g.cast(ability, Target::Controller(foe)).is_ok();
        let mut risen = false;
        for _ in 0..240 {
            g.net.step();
            let now = g.seen(foe, "Health");
            risen |= now > shown;
            shown = now;
        }
        // A rejected command is undone, which raises the value.
        rises += usize::from(risen && cast && g.ana().counts().rejected == rejected);
        let heal = ugas_core::Spec::new(g.effect("GE_Heal"), foe);
        g.net.server_mut().sim_mut().apply(&heal).unwrap();
        g.net.run(120);
    }
    rises
}

#[test]
fn the_shown_value_of_a_remote_actor_does_not_rebound() {
    let mut wrong = Vec::new();
    // A loss that is too rare for the server to resend updates before it knows of the loss.
    let rare = ("rare loss", LinkProfile { loss: 0.04, ..LinkProfile::round_trip(100, 0) });
    for (name, profile) in LinkProfile::ALL.into_iter().chain([rare]) {
        for ability in ["GA_Dot", "GA_Hit"] {
            if rebounds(profile, ability) > 0 {
                wrong.push((name, ability));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
