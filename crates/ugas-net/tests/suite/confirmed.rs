//! Every predicted fact is confirmed or undone once and correctly: for each client that caused it, for each execution of a
//! period, with a controller that is away, and with a state too long for a packet.

use crate::kit::{Game, Setup, builder};
use ugas_core::{ControllerId, EffectId, Fact, FactKind, Op, RulesBuilder, SimTime, Spec, Target};
use ugas_doc::{Ability, AbilityTask, Effect, ImmunityEntry};
use ugas_net::client::{Certainty, ClientConfig, NetFacts};
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;

fn on_owner(effect: &str) -> AbilityTask {
    AbilityTask::new("ApplyEffectToOwner").param("EffectClass", effect)
}

fn on_target(effect: &str) -> AbilityTask {
    AbilityTask::new("ApplyEffectToTarget").param("EffectClass", effect)
}

/// A curse that a hero applies to itself, and a shield against it.
fn pact() -> RulesBuilder {
    let mut curse = Effect::lasting("GE_Curse", 5.0).add("Speed", -4.0).grants("State.Cursed");
    curse.effect_tags.push("Damage".into());
    let mut shield = Effect::infinite("GE_Shield");
    shield.immunity.push(ImmunityEntry { effect_tags: vec!["Damage".into()], ..Default::default() });
    builder()
        .add(curse)
        .add(shield)
        .add(Ability::new("GA_Pact").task(on_owner("GE_Curse")))
        .add(Ability::new("GA_Free").task(on_owner("GE_Other")))
}

/// Replaces Ana by Cem, who owns more controllers.
fn replace_ana(g: &mut Game, owned: &[ControllerId]) {
    g.net.disconnect("Ana");
    let config = ClientConfig { prediction_window: SimTime::millis(500), ..ClientConfig::default() };
    g.net.join_over("Cem", config, [LinkProfile::round_trip(100, 0); 2], owned).unwrap();
    g.net.run(120);
}

/// A client activates an ability on its own hero. In the tick in which the server runs it, something else happens there that
/// the client has not received.
fn use_meanwhile(g: &mut Game, client: &str, ability: &str, meanwhile: impl FnOnce(&mut Game)) {
    g.net.client_mut(client).take_facts(&mut NetFacts::default());
    let tick = g.net.client(client).tick().plus(1);
    let request = Request::Activate { who: g.hero, ability: g.ability(ability), target: Target::None };
    g.net.client_mut(client).command(request).unwrap();
    g.net.run_until(30, |net| net.tick().plus(1) == tick).unwrap();
    meanwhile(g);
    g.net.run(120);
}

/// Counts the facts about an effect since the last call: predicted, confirmed, undone.
fn count_facts(g: &mut Game, client: &str, who: ControllerId, effect: EffectId) -> [usize; 3] {
    let mut facts = NetFacts::default();
    g.net.client_mut(client).take_facts(&mut facts);
    [Certainty::Predicted, Certainty::Confirmed, Certainty::Undone]
        .map(|c| facts.iter().filter(|(f, k)| *k == c && f.who == who && f.effect == effect).count())
}

/// A removed effect may have another connected client as its source; the removal is still confirmed to the client that caused
/// it.
#[test]
fn the_client_that_caused_a_change_gets_its_confirmation() {
    for ben_is_first in [false, true] {
        let cleanse = AbilityTask::new("RemoveEffectFromOwner").param("EffectClass", "GE_Poison");
        let rules = builder()
            .add(Effect::lasting("GE_Poison", 60.0).add("Speed", -3.0).grants("State.Poisoned"))
            .add(Ability::new("GA_Cleanse").task(cleanse));
        let mut g = Game::new(Setup { builder: rules, ben: true, ..Setup::default() });
        let (hero, other, poison, hit) = (g.hero, g.other, g.effect("GE_Poison"), g.effect("GE_Other"));
        let name = if ben_is_first { "Cem" } else { "Ana" };
        if ben_is_first {
            replace_ana(&mut g, &[hero]);
        }
        g.net.server_mut().sim_mut().apply(&Spec::new(poison, hero).from(other)).unwrap();
        g.net.run(60);
        use_meanwhile(&mut g, name, "GA_Cleanse", |g| {
            g.net.server_mut().sim_mut().apply(&Spec::new(hit, hero)).unwrap();
        });
        let [predicted, confirmed, undone] = count_facts(&mut g, name, hero, poison);
        assert!(predicted > 0 && (confirmed, undone) == (predicted, 0), "{name}: {predicted} {confirmed} {undone}");
    }
}

#[test]
fn an_absent_own_controller_confirms_nothing_for_the_others() {
    for is_away in [false, true] {
        let mut g = Game::new(Setup { builder: pact(), ..Setup::default() });
        let (hero, other, shield, curse) = (g.hero, g.other, g.effect("GE_Shield"), g.effect("GE_Curse"));
        replace_ana(&mut g, &[hero, other]);
        if is_away {
            g.net.server_mut().sim_mut().despawn(other).unwrap();
            g.net.run(30);
        }
        // More than fits into a packet.
        let free = Request::Activate { who: hero, ability: g.ability("GA_Free"), target: Target::None };
        for _ in 0..40 {
            g.net.client_mut("Cem").command(free.clone()).unwrap();
            g.net.run(2);
        }
        g.net.run(60);
        use_meanwhile(&mut g, "Cem", "GA_Pact", |g| {
            g.net.server_mut().sim_mut().apply(&Spec::new(shield, hero)).unwrap();
        });
        let [predicted, confirmed, undone] = count_facts(&mut g, "Cem", hero, curse);
        assert!(
            predicted > 0 && (confirmed, undone) == (0, predicted),
            "away {is_away}: {predicted} {confirmed} {undone}"
        );
    }
}

#[test]
fn a_state_too_long_for_a_packet_undoes_mispredictions() {
    const MANY: usize = 400;
    let names: Vec<String> = (0..MANY).map(|n| format!("GE_N{n}")).collect();
    let load = |name: &String| Effect::infinite(name).add("Mana", 0.001).grants(format!("State.{}", &name[3..]));
    let rules = names.iter().fold(pact(), |rules, name| rules.add(load(name)));
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    let (hero, shield, curse) = (g.hero, g.effect("GE_Shield"), g.effect("GE_Curse"));
    g.net.run(60);
    use_meanwhile(&mut g, "Ana", "GA_Pact", |g| {
        for effect in [shield].into_iter().chain(names.iter().map(|name| g.rules.effect(name).unwrap())) {
            g.net.server_mut().sim_mut().apply(&Spec::new(effect, hero)).unwrap();
        }
    });
    let [predicted, confirmed, undone] = count_facts(&mut g, "Ana", hero, curse);
    assert!(predicted > 0 && (confirmed, undone) == (0, predicted), "{predicted} {confirmed} {undone}");
    g.assert_equal();
}

#[test]
fn each_execution_of_a_period_on_an_owned_controller_is_confirmed_by_itself() {
    let dot = Effect::lasting("GE_Dot", 5.0).every(0.05).add("Speed", -0.5).add("Health", -1.0);
    for (own, task) in [(false, on_target("GE_Dot")), (true, on_owner("GE_Dot"))] {
        let rules = builder().add(dot.clone()).add(Ability::new("GA_Dot").task(task));
        let mut g = Game::new(Setup { builder: rules, profile: LinkProfile::round_trip(200, 0), ..Setup::default() });
        g.net.run(120);
        g.facts();
        let (who, dot, health) = (if own { g.hero } else { g.foe }, g.effect("GE_Dot"), g.attribute("Health"));
        g.cast("GA_Dot", Target::Controller(who)).unwrap();
        // The server removes it after the second execution; the client continues for a while.
        for _ in 0..60 {
            g.net.step();
            if g.truth(who, "Health") <= 98.0 {
                break;
            }
        }
        let effects = g.net.server().sim().effects(who).unwrap();
        let key = effects.iter().find(|e| e.effect == dot).unwrap().key;
        g.net.server_mut().sim_mut().run(Op::Remove { key, stacks: None }).unwrap();
        g.net.run(120);
        let lost = (100.0 - g.truth(who, "Health")) as usize;
        let facts = g.facts();
        let of = |certainty| {
            let is = |f: &Fact| matches!(f.kind, FactKind::AttributeChanged { attribute, .. } if attribute == health);
            facts.iter().filter(|(f, c)| *c == certainty && f.who == who && f.effect == dot && is(f)).count()
        };
        let [predicted, confirmed, undone] = [Certainty::Predicted, Certainty::Confirmed, Certainty::Undone].map(of);
        // Executions on a remote actor are not predicted: the server's value contains them.
        let expected = if own { (lost, predicted - lost) } else { (0, 0) };
        assert_eq!((predicted > lost, predicted > 0), (own, own), "own {own}: {predicted} {confirmed} {undone}");
        assert_eq!((confirmed, undone), expected, "own {own}: {predicted} {confirmed} {undone}");
        assert_eq!(g.seen(who, "Health"), g.truth(who, "Health"));
    }
}
