//! Predicted facts on remote actors: emitted once, and undone if the server does not confirm them.

use crate::kit::{Game, Setup, builder};
use ugas_core::{ControllerId, CueType, Fact, FactKind, Facts, RulesBuilder, Spec, Target};
use ugas_doc::{Ability, AbilityTask, ControllerReplication, Effect, ImmunityEntry};
use ugas_net::client::Certainty;
use ugas_net::link::LinkProfile;

fn apply(effect: &str) -> AbilityTask {
    AbilityTask::new("ApplyEffectToTarget").param("EffectClass", effect)
}

/// A game with a spark that has a cue, a lasting curse with a looping cue, and a shield against both.
fn sparks() -> RulesBuilder {
    let mut spark = Effect::instant("GE_Spark").add("Health", -20.0);
    spark.gameplay_cues.push("Cue.Spark".into());
    spark.effect_tags.push("Damage".into());
    let mut curse = Effect::lasting("GE_Curse", 5.0).add("Speed", -4.0).grants("State.Cursed");
    curse.gameplay_cues.push("Cue.Curse".into());
    curse.effect_tags.push("Damage".into());
    let mut shield = Effect::infinite("GE_Shield");
    shield.immunity.push(ImmunityEntry { effect_tags: vec!["Damage".into()], ..Default::default() });
    let late = AbilityTask::new("WaitDelay").param("Duration", 0.1);
    builder()
        .add(spark)
        .add(curse)
        .add(shield)
        .add(Ability::new("GA_Spark").task(apply("GE_Spark")))
        .add(Ability::new("GA_Curse").task(apply("GE_Curse")))
        .add(Ability::new("GA_Later").task(late).task(apply("GE_Spark")))
}

fn game(mode: ControllerReplication) -> Game {
    let mut g = Game::new(Setup { builder: sparks(), mode, ..Setup::default() });
    g.facts();
    g
}

/// Counts facts about a controller by certainty: predicted, confirmed, undone, server.
fn counts(facts: &[(Fact, Certainty)], who: ControllerId, is: impl Fn(&FactKind) -> bool) -> [usize; 4] {
    let all = [Certainty::Predicted, Certainty::Confirmed, Certainty::Undone, Certainty::Server];
    all.map(|c| facts.iter().filter(|(f, k)| f.who == who && *k == c && is(&f.kind)).count())
}

fn is_cue(kind: &FactKind) -> bool {
    matches!(kind, FactKind::Cue { .. })
}

fn is_value(kind: &FactKind) -> bool {
    matches!(kind, FactKind::AttributeChanged { .. })
}

fn any(_: &FactKind) -> bool {
    true
}

#[test]
fn facts_predicted_on_a_remote_actor_are_confirmed_and_not_emitted_again() {
    for name in ["GA_Spark", "GA_Curse", "GA_Later"] {
        let mut g = game(ControllerReplication::Full);
        let foe = g.foe;
        g.cast(name, Target::Controller(foe)).unwrap();
        g.net.run(60);
        let facts = g.facts();
        assert_eq!(counts(&facts, foe, is_cue), [1, 1, 0, 0], "{name}");
        assert_eq!(counts(&facts, foe, is_value), [1, 1, 0, 0], "{name}");
        let [predicted, confirmed, undone, server] = counts(&facts, foe, any);
        assert!(predicted >= 2 && confirmed == predicted && undone == 0 && server == 0, "{name}: {facts:#?}");
    }
}

// covers: NXT-13.8-05
#[test]
fn a_predicted_hit_that_the_server_blocks_is_undone_and_never_confirmed() {
    for name in ["GA_Spark", "GA_Curse", "GA_Later"] {
        let mut g = game(ControllerReplication::Full);
        let (foe, shield) = (g.foe, g.effect("GE_Shield"));
        // The client receives the shield too late.
        g.cast(name, Target::Controller(foe)).unwrap();
        g.net.server_mut().sim_mut().apply(&Spec::new(shield, foe)).unwrap();
        g.net.run(60);
        let facts = g.facts();
        let own = counts(&facts, g.hero, |k| matches!(k, FactKind::AbilityActivated { .. }));
        assert_eq!(own, [1, 1, 0, 0], "{name}: the use itself is fine");
        let [predicted, confirmed, undone, _] = counts(&facts, foe, any);
        assert!(predicted >= 2 && confirmed == 0 && undone == predicted, "{name}: {facts:#?}");
        assert_eq!(counts(&facts, foe, is_value)[3], 0, "{name}: the undone fact is enough");
        assert_eq!((g.seen(foe, "Health"), g.seen(foe, "Speed")), (100.0, 10.0));
    }
}

#[test]
fn other_changes_of_a_predicted_value_are_emitted_as_server_facts() {
    let mut g = game(ControllerReplication::Full);
    let (foe, other) = (g.foe, g.effect("GE_Other"));
    g.cast("GA_Spark", Target::Controller(foe)).unwrap();
    g.net.server_mut().sim_mut().apply(&Spec::new(other, foe)).unwrap();
    g.net.run(60);
    let facts = g.facts();
    assert_eq!(counts(&facts, foe, is_value), [1, 1, 0, 1]);
    let change = facts.iter().find(|(f, c)| *c == Certainty::Server && is_value(&f.kind)).unwrap().0.kind;
    let FactKind::AttributeChanged { old, new, .. } = change else { panic!() };
    // Received before the spark was applied there, or together with it.
    assert!(old - new == 1.0 && new == g.seen(foe, "Health"), "{old} {new}");
    assert_eq!(g.seen(foe, "Health"), 79.0);
}

#[test]
fn a_rejected_activation_undoes_its_facts_on_remote_actors() {
    let mut g = game(ControllerReplication::Full);
    let (hero, foe) = (g.hero, g.foe);
    let which = ugas_core::Which::Ability(g.ability("GA_Spark"));
    g.net.server_mut().sim_mut().run(ugas_core::Op::Revoke { who: hero, which }).unwrap();
    g.cast("GA_Spark", Target::Controller(foe)).unwrap();
    g.net.run(60);
    let facts = g.facts();
    let [predicted, confirmed, undone, server] = counts(&facts, foe, any);
    assert!(predicted >= 2 && confirmed == 0 && undone == predicted && server == 0, "{facts:#?}");
    assert_eq!(g.seen(foe, "Health"), 100.0);
}

#[test]
fn hidden_values_of_remote_actors_emit_no_predicted_facts() {
    let mut g = game(ControllerReplication::Mixed);
    let foe = g.foe;
    g.cast("GA_Spark", Target::Controller(foe)).unwrap();
    g.net.run(60);
    let facts = g.facts();
    assert_eq!(counts(&facts, foe, is_value), [0; 4]);
    assert_eq!(counts(&facts, foe, is_cue), [1, 1, 0, 0]);
    let [predicted, confirmed, undone, server] = counts(&facts, foe, any);
    assert!(confirmed == predicted && undone == 0 && server == 0);
}

#[test]
fn on_a_lossy_link_every_cue_is_emitted_once_and_every_prediction_is_decided() {
    (1..=4).for_each(play_on_a_lossy_link);
}

fn play_on_a_lossy_link(seed: u64) {
    let mut g = Game::new(Setup { builder: sparks(), profile: LinkProfile::BAD, seed, ..Setup::default() });
    let (foe, shield) = (g.foe, g.effect("GE_Shield"));
    g.facts();
    let (mut facts, mut truth, mut taken) = (Vec::new(), 0, Facts::default());
    g.net.server_mut().take_facts(&mut taken);
    let mut key = None;
    for n in 0..1320 {
        if n == 1200 {
            g.net.restore_links();
        }
        if n % 9 == 0 && n < 1200 {
            let _ = g.cast(["GA_Spark", "GA_Later"][n / 9 % 2], Target::Controller(foe));
        }
        let sim = g.net.server_mut().sim_mut();
        match (n % 200, key) {
            (100, _) => key = sim.apply(&Spec::new(shield, foe)).ok(),
            (150, Some(key)) => drop(sim.run(ugas_core::Op::Remove { key, stacks: None })),
            _ => {}
        }
        g.net.step();
        facts.extend(g.facts());
        g.net.server_mut().take_facts(&mut taken);
        let is_burst = |f: &&Fact| matches!(f.kind, FactKind::Cue { cue: CueType::Execute, .. }) && f.who == foe;
        truth += taken.list.iter().filter(is_burst).count();
    }
    let [predicted, confirmed, undone, server] = counts(&facts, foe, is_cue);
    assert!(predicted > 60 && undone > 5, "{predicted} {undone}");
    assert_eq!(predicted, confirmed + undone, "every prediction is decided once");
    let shown = predicted - undone + server;
    // A burst whose packets are all lost is not made up for; nothing is shown that was not.
    assert!(shown <= truth && shown + truth / 10 >= truth, "{shown} of {truth}");
    let [predicted, confirmed, undone, _] = counts(&facts, foe, any);
    assert_eq!(predicted, confirmed + undone);
}

#[test]
fn a_mispredicted_effect_on_the_own_controller_is_undone_too() {
    let curse = AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Curse");
    let rules = sparks().add(Ability::new("GA_Pact").cost("GE_Cost").task(curse));
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    let (hero, shield, curse) = (g.hero, g.effect("GE_Shield"), g.effect("GE_Curse"));
    g.net.run(60);
    g.facts();
    // The shield is there in the very tick in which the server plays the command.
    let tick = g.ana().tick().plus(1);
    g.cast("GA_Pact", Target::None).unwrap();
    g.net.run_until(30, |net| net.tick().plus(1) == tick).unwrap();
    g.net.server_mut().sim_mut().apply(&Spec::new(shield, hero)).unwrap();
    g.net.run(60);
    let facts = g.facts();
    let of = |c: Certainty, is: &dyn Fn(&Fact) -> bool| facts.iter().filter(|(f, k)| *k == c && is(f)).count();
    let cursed = |f: &Fact| f.effect == curse;
    let predicted = of(Certainty::Predicted, &cursed);
    assert!(predicted >= 4, "{facts:#?}");
    assert_eq!((of(Certainty::Undone, &cursed), of(Certainty::Confirmed, &cursed)), (predicted, 0), "{facts:#?}");
    assert_eq!(of(Certainty::Server, &cursed), 0, "the undone fact is enough");
    let paid = |f: &Fact| matches!(f.kind, FactKind::AttributeChanged { new: 80.0, .. });
    assert_eq!((of(Certainty::Confirmed, &paid), of(Certainty::Undone, &paid)), (1, 0), "the cost was paid");
    assert_eq!((g.seen(hero, "Speed"), g.seen(hero, "Mana")), (10.0, 80.0));
}
