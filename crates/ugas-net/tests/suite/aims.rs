//! The targets of predicted abilities, and the targets that the server uses.

use crate::kit::{Game, Setup, builder};
use ugas_core::{Anchor, Op, Sim, SimTime, Spec, Target};
use ugas_doc::{Ability, AbilityTask, Cast};
use ugas_net::authority::RejectReason;

/// An ability that casts for a while: each predicted tick targets the nearest actor, each server tick hits the target.
fn seeker(cast: Option<Cast>) -> Ability {
    let mut seeker = Ability::new("GA_Seek");
    seeker.cast = cast;
    seeker.max_range = Some(500.0);
    seeker.on_predicted_tick.push(AbilityTask::new("SetTarget").param("Target", "Nearest"));
    seeker.on_server_tick.push(AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Other"));
    seeker
}

// covers: SAI-2.7-04
#[test]
fn the_servers_tick_uses_the_target_of_the_predicted_tick() {
    // At once, with a first tick and two more, and without a first one.
    let cast = |initial_tick| Cast { length: 0.1, ticks: Some(2), initial_tick, ..Default::default() };
    for (cast, hits) in [(None, 1.0), (Some(cast(true)), 3.0), (Some(cast(false)), 2.0)] {
        let mut g = Game::new(Setup { builder: builder().add(seeker(cast)), ..Setup::default() });
        // On the server another actor is nearer; the client has not received that.
        let (foe, other) = (g.foe, g.other);
        let place = |x: f64| Some(Anchor::at([x, 0.0, 0.0]));
        g.net.server_mut().sim_mut().run(Op::Move { who: other, anchor: place(450.0) }).unwrap();
        g.net.run(30);
        g.net.server_mut().sim_mut().run(Op::Move { who: other, anchor: place(1.0) }).unwrap();
        // The client does not receive it until the last tick has its target.
        let until = g.net.now() + SimTime::frames(10, 60);
        g.net.players_mut()[0].down.cut(until);
        g.cast("GA_Seek", Target::None).unwrap();
        g.net.run(60);
        let hurt = (100.0 - g.truth(foe, "Health"), 100.0 - g.truth(other, "Health"));
        assert_eq!(hurt, (hits, 0.0));
        assert_eq!(g.net.server().counts().iter().collect::<Vec<_>>(), []);
        g.assert_equal();
    }
}

#[test]
fn the_target_of_a_tick_is_validated_like_any_target() {
    let cast = Cast { length: 0.5, ticks: Some(2), ..Default::default() };
    let mut g = Game::new(Setup { builder: builder().add(seeker(Some(cast))), ..Setup::default() });
    let (foe, other) = (g.foe, g.other);
    let place = |x: f64| Some(Anchor::at([x, 0.0, 0.0]));
    g.net.server_mut().sim_mut().run(Op::Move { who: other, anchor: place(9000.0) }).unwrap();
    g.net.run(30);
    g.cast("GA_Seek", Target::None).unwrap();
    // Out of reach on the server before the first tick; the client has not received that when it aims.
    let until = g.net.now() + SimTime::frames(20, 60);
    g.net.players_mut()[0].down.cut(until);
    g.net.server_mut().sim_mut().run(Op::Move { who: foe, anchor: place(5000.0) }).unwrap();
    g.net.run(90);
    assert!(g.net.server().counts().of(RejectReason::Target) > 0);
    assert_eq!(g.truth(foe, "Health"), 100.0);
}

fn on_target(effect: &str) -> AbilityTask {
    AbilityTask::new("ApplyEffectToTarget").param("EffectClass", effect)
}

#[test]
fn a_target_set_by_task_lists_does_not_change_the_target_of_the_command() {
    let turn = AbilityTask::new("SetTarget").param("Target", "Nobody");
    let rules = builder().add(Ability::new("GA_Turn").task(on_target("GE_Other")).task(turn));
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    let foe = g.foe;
    g.cast("GA_Turn", Target::Controller(foe)).unwrap();
    assert_eq!(g.seen(foe, "Health"), 99.0);
    g.net.run(60);
    assert_eq!((g.seen(foe, "Health"), g.truth(foe, "Health")), (99.0, 99.0), "the target was cleared after the hit");
    assert_eq!(g.net.server().counts().iter().count(), 0);
    g.assert_equal();
}

#[test]
fn the_target_of_the_first_predicted_tick_is_not_used_for_activation_checks() {
    // Hits in the first tick; then the predicted tick clears the target, and the tasks have none.
    let mut turn = Ability::new("GA_Turn").task(on_target("GE_Other"));
    turn.on_tick.push(on_target("GE_Other"));
    turn.on_predicted_tick.push(AbilityTask::new("SetTarget").param("Target", "Nobody"));
    // Only a warded target is valid.
    let mut picky = Ability::new("GA_Picky").task(AbilityTask::new("WaitDelay").param("Duration", 1.0));
    picky.target_required_tags.push("State.Warded".into());
    picky.on_predicted_tick.push(AbilityTask::new("SetTarget").param("Target", "Nobody"));
    let rules = builder().add(turn).add(picky);
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    let (hero, foe, ward) = (g.hero, g.foe, g.effect("GE_Ward"));
    g.net.server_mut().sim_mut().apply(&Spec::new(ward, foe)).unwrap();
    g.net.run(60);
    g.cast("GA_Turn", Target::Controller(foe)).unwrap();
    g.cast("GA_Picky", Target::Controller(foe)).unwrap();
    assert_eq!(g.seen(foe, "Health"), 99.0);
    g.net.run(30);
    assert_eq!(g.truth(foe, "Health"), 99.0);
    let aim = |sim: &Sim| sim.activations(hero).unwrap().next().map(|a| a.target);
    assert_eq!((aim(g.ana().sim()), aim(g.net.server().sim())), (Some(Target::None), Some(Target::None)));
    assert_eq!((g.ana().counts().rejected, g.net.server().counts().iter().count()), (0, 0));
    g.assert_equal();
}

#[test]
fn a_predicted_tick_does_not_choose_an_invalid_target() {
    let mut picky = Ability::new("GA_Picky").task(AbilityTask::new("WaitDelay").param("Duration", 1.0));
    picky.target_required_tags.push("State.Warded".into());
    picky.on_predicted_tick.push(AbilityTask::new("SetTarget").param("Target", "Nearest"));
    let mut g = Game::new(Setup { builder: builder().add(picky), ..Setup::default() });
    let (hero, foe, other, ward) = (g.hero, g.foe, g.other, g.effect("GE_Ward"));
    let near = Some(Anchor::at([1.0, 0.0, 0.0]));
    g.net.server_mut().sim_mut().run(Op::Move { who: other, anchor: near }).unwrap();
    g.net.server_mut().sim_mut().apply(&Spec::new(ward, foe)).unwrap();
    g.net.run(60);
    g.cast("GA_Picky", Target::Controller(foe)).unwrap();
    g.net.run(30);
    let aim = |sim: &Sim| sim.activations(hero).unwrap().next().map(|a| a.target);
    let asked = Some(Target::Controller(foe));
    assert_eq!((aim(g.ana().sim()), aim(g.net.server().sim())), (asked, asked));
    assert_eq!((g.ana().counts().rejected, g.net.server().counts().iter().count()), (0, 0));
    g.assert_equal();
}
