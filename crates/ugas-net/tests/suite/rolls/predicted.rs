//! Honest clients predict their rolls.

use super::cheat::apply;
use crate::kit::{Game, Setup, builder};
use std::collections::BTreeMap;
use ugas_core::{EffectId, Fact, FactKind, Facts, Op, OpId, RulesBuilder, Spec, Target, Which};
use ugas_doc::{Ability, AbilityTask, Effect, TagRegistry};
use ugas_net::client::Certainty;
use ugas_net::link::LinkProfile;

/// Rules with abilities and an effect that roll.
fn fair(chance: f64) -> RulesBuilder {
    builder()
        .add(TagRegistry::new(["Hit.Critical"]))
        .add(Effect::instant("GE_Gamble").execute("ExecCalc_Gamble"))
        .add(Effect::lasting("GE_Fever", 30.0).every(0.25).execute("ExecCalc_Gamble"))
        .calc_fn("ExecCalc_Gamble", [], move |cx| {
            let critical = cx.roll(chance);
            cx.add("Mana", if critical { -0.02 } else { -0.01 });
            if critical {
                cx.tag_context("Hit.Critical");
            }
        })
        .add(Ability::new("GA_Gamble").task(apply("ApplyEffectToOwner", "GE_Gamble")))
        .add(
            Ability::new("GA_Slow")
                .task(AbilityTask::new("WaitDelay").param("Duration", 0.2))
                .task(apply("ApplyEffectToOwner", "GE_Gamble")),
        )
}

/// Records the rolls of ops: whether each was critical.
fn record<'f>(rolls: &mut BTreeMap<OpId, bool>, effect: EffectId, facts: impl Iterator<Item = &'f Fact>) {
    for fact in facts.filter(|f| f.effect == effect) {
        let is_critical = matches!(fact.kind, FactKind::ContextTag { .. });
        *rolls.entry(fact.root).or_default() |= is_critical;
    }
}

/// The result of a session in which Ana uses an ability that rolls.
#[derive(Default)]
struct Gamble {
    corrections: u64,
    undone: usize,
    predicted: BTreeMap<OpId, bool>,
    rolled: BTreeMap<OpId, bool>,
}

fn gamble(profile: LinkProfile, ability: &str) -> Gamble {
    let mut g = Game::new(Setup { builder: fair(0.5), profile, ..Setup::default() });
    g.net.run(120);
    let (effect, mut facts, mut result) = (g.effect("GE_Gamble"), Facts::default(), Gamble::default());
    let before = g.ana().counts().corrections;
    g.facts();
    for at in 0..500 {
        if at % 9 == 0 {
            // The window may be closed.
            let _ = g.cast(ability, Target::None);
        }
        g.net.step();
        g.net.server_mut().take_facts(&mut facts);
        record(&mut result.rolled, effect, facts.list.iter());
        let seen = g.facts();
        result.undone += seen.iter().filter(|(_, certainty)| *certainty == Certainty::Undone).count();
        let is_predicted = |(fact, certainty)| (certainty == Certainty::Predicted).then_some(fact);
        record(&mut result.predicted, effect, seen.iter().map(|(f, c)| (f, *c)).filter_map(is_predicted));
    }
    result.corrections = g.ana().counts().corrections - before;
    result
}

#[test]
fn predicted_rolls_equal_those_of_the_server_on_every_link() {
    for (name, profile) in LinkProfile::ALL {
        let Gamble { corrections, undone, predicted, rolled } = gamble(profile, "GA_Gamble");
        let both: Vec<(bool, bool)> =
            predicted.iter().filter_map(|(op, critical)| Some((*critical, *rolled.get(op)?))).collect();
        println!("{name}: {} rolls, {corrections} corrections, {undone} undone", both.len());
        assert!(both.iter().all(|(predicted, rolled)| predicted == rolled), "{name}: {both:?}");
        let critical = both.iter().filter(|(_, critical)| *critical).count();
        assert!(both.len() >= 8 && critical > 0 && critical < both.len(), "{name}: {critical} of {}", both.len());
        if ["lan", "good"].contains(&name) {
            assert_eq!((corrections, undone, both.len() >= 50), (0, 0, true), "{name}");
            // The roll of an ability after a delay belongs to the use of the ability.
            let slow = gamble(profile, "GA_Slow");
            assert_eq!((slow.corrections, slow.undone, slow.rolled.len() >= 20), (0, 0, true), "{name}");
        }
    }
}

#[test]
fn rolls_of_server_effects_on_an_own_controller_are_predicted() {
    let mut g = Game::new(Setup { builder: fair(0.5), profile: LinkProfile::GOOD, ..Setup::default() });
    let (hero, fever) = (g.hero, g.effect("GE_Fever"));
    g.net.server_mut().sim_mut().apply(&Spec::new(fever, hero)).unwrap();
    g.net.run(90);
    let before = g.ana().counts();
    let mana = g.seen(hero, "Mana");
    g.facts();
    g.net.run(600);
    let after = g.ana().counts();
    assert_eq!((after.corrections - before.corrections, after.resimulated - before.resimulated), (0, 0));
    assert!(g.facts().iter().all(|(_, certainty)| *certainty != Certainty::Undone));
    let spent = mana - g.seen(hero, "Mana");
    assert!((0.45..0.75).contains(&spent), "40 executions of 0.01 or 0.02: {spent}");
}

/// Ana's next use of an ability has the roll that she predicts.
fn assert_next_is_predicted(g: &mut Game, ability: &str) {
    let (effect, mut facts) = (g.effect("GE_Gamble"), Facts::default());
    let (mut predicted, mut rolled) = (BTreeMap::new(), BTreeMap::new());
    g.net.run(60);
    g.net.server_mut().take_facts(&mut facts);
    g.facts();
    g.cast(ability, Target::None).unwrap();
    g.net.run(60);
    g.net.server_mut().take_facts(&mut facts);
    record(&mut rolled, effect, facts.list.iter());
    let seen = g.facts();
    record(&mut predicted, effect, seen.iter().filter(|(_, c)| *c == Certainty::Predicted).map(|(f, _)| f));
    assert_eq!((predicted.len(), &predicted), (1, &rolled));
}

#[test]
fn a_rejected_prediction_gives_its_roll_back() {
    let mut gamble = Ability::new("GA_Sure").task(apply("ApplyEffectToOwner", "GE_Gamble"));
    gamble.tags.activation_blocked_tags.push("State.Blocked".into());
    let builder = fair(0.5).add(gamble).add(Effect::lasting("GE_Block", 0.3).grants("State.Blocked"));
    let mut g = Game::new(Setup { builder, profile: LinkProfile::GOOD, ..Setup::default() });
    let (hero, block) = (g.hero, g.effect("GE_Block"));
    for _ in 0..12 {
        // The client does not know yet that the server blocks the ability.
        g.net.server_mut().sim_mut().apply(&Spec::new(block, hero)).unwrap();
        let rejected = g.ana().counts().rejected;
        g.cast("GA_Sure", Target::None).unwrap();
        g.net.run(60);
        assert_eq!(g.ana().counts().rejected, rejected + 1);
        assert_next_is_predicted(&mut g, "GA_Sure");
    }
}

#[test]
fn the_rolls_of_a_predicted_validation_are_predicted() {
    let mut asked = Ability::new("GA_Asked").validated("Entitlement", None);
    asked = asked.task(apply("ApplyEffectToOwner", "GE_Gamble"));
    if let Some(validation) = &mut asked.async_validation {
        validation.predicted = true;
    }
    let mut g = Game::new(Setup { builder: fair(0.5).add(asked), profile: LinkProfile::GOOD, ..Setup::default() });
    let (hero, which, effect) = (g.hero, Which::Ability(g.ability("GA_Asked")), g.effect("GE_Gamble"));
    let (mut predicted, mut rolled, mut facts) = (BTreeMap::new(), BTreeMap::new(), Facts::default());
    for n in 0..24 {
        g.cast("GA_Asked", Target::None).unwrap();
        g.net.run(40);
        g.net.server_mut().sim_mut().run(Op::Validate { who: hero, which, ok: n % 3 != 1 }).unwrap();
        g.net.run(40);
        g.net.server_mut().take_facts(&mut facts);
        record(&mut rolled, effect, facts.list.iter());
        let seen = g.facts();
        record(&mut predicted, effect, seen.iter().filter(|(_, c)| *c == Certainty::Predicted).map(|(f, _)| f));
    }
    assert_eq!((predicted.len(), rolled.len()), (24, 16));
    assert!(rolled.iter().all(|(op, critical)| predicted[op] == *critical), "{predicted:?} {rolled:?}");
    assert!(rolled.values().any(|critical| *critical) && !rolled.values().all(|critical| *critical));
}
