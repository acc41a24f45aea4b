//! Costs, casts and mispredictions between an owning client and its server.

mod kit;

use kit::{Game, Setup, builder};
use ugas_core::{AbilityGrant, Anchor, Fact, FactKind, Facts, InputId, Op, Sim, SimTime, Spec, Target, Which};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Cast, Effect, Magnitude};
use ugas_net::authority::Reason;
use ugas_net::client::{Certainty, Commanded};
use ugas_net::message::Request;

fn event(tag: &str) -> AbilityTask {
    AbilityTask::new("SendEvent").param("EventTag", tag)
}

fn events<'f>(rules: &ugas_core::Rules, facts: impl Iterator<Item = &'f Fact>) -> Vec<String> {
    facts
        .filter_map(|f| match f.kind {
            FactKind::GameplayEvent { tag, .. } => rules.tag_name(tag).map(str::to_owned),
            _ => None,
        })
        .collect()
}

// covers: SAI-3.2-03, SAI-3.2-04, SAI-1.4-02
#[test]
fn a_shown_value_is_the_servers_without_what_it_has_not_heard_of() {
    let price = AttributeSet::new("Prices").with(Attribute::new("Price", 20.0));
    let cheap = Effect::instant("GE_CostA").add("Mana", Magnitude::attribute("Price").times(-1.0));
    let rules = builder()
        .add(price)
        .add(cheap)
        .add(Effect::instant("GE_CostB").add("Mana", -30.0))
        .add(Effect::instant("GE_Sale").add("Price", -5.0))
        .add(Ability::new("GA_A").cost("GE_CostA"))
        .add(Ability::new("GA_B").cost("GE_CostB"));
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    let (hero, set) = (g.hero, g.rules.set("Prices").unwrap());
    g.net.server_mut().sim_mut().run(Op::AddSet { who: hero, set }).unwrap();
    g.net.run(30);
    // The server's price falls before the client hears of it.
    let sale = g.effect("GE_Sale");
    g.net.server_mut().sim_mut().apply(&Spec::new(sale, hero)).unwrap();
    g.cast("GA_A", Target::None).unwrap();
    assert_eq!(g.seen(hero, "Mana"), 80.0);
    g.net.step();
    g.cast("GA_B", Target::None).unwrap();
    assert_eq!(g.seen(hero, "Mana"), 50.0, "100 without 20 and 30");
    let mut shown = Vec::new();
    while g.ana().unanswered() > 0 {
        g.net.step();
        shown.push((g.ana().unanswered(), g.seen(hero, "Mana")));
    }
    assert!(shown.contains(&(1, 55.0)), "the first is answered with 15, the second still counts: {shown:?}");
    assert_eq!((g.seen(hero, "Mana"), g.truth(hero, "Mana")), (55.0, 55.0));
}

// covers: SAI-1.4-03
#[test]
fn a_refused_key_takes_only_what_came_from_it() {
    let buff = |name: &str, effect: &str| {
        Ability::new(name).task(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", effect))
    };
    let rules = builder()
        .add(Effect::lasting("GE_One", 9.0).add("Speed", 1.0))
        .add(Effect::lasting("GE_Two", 9.0).add("Speed", 2.0))
        .add(buff("GA_One", "GE_One"))
        .add(buff("GA_Two", "GE_Two"));
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    let (hero, which) = (g.hero, Which::Ability(g.ability("GA_One")));
    g.net.server_mut().sim_mut().run(Op::Revoke { who: hero, which }).unwrap();
    g.cast("GA_One", Target::None).unwrap();
    g.cast("GA_Two", Target::None).unwrap();
    assert_eq!(g.seen(hero, "Speed"), 13.0);
    g.net.run(30);
    assert_eq!(g.seen(hero, "Speed"), 12.0);
    let has = |sim: &Sim, name: &str| sim.effects(hero).unwrap().iter().any(|e| e.effect == g.effect(name));
    assert!(!has(g.ana().sim(), "GE_One") && has(g.ana().sim(), "GE_Two"));
}

// covers: SAI-2.1-06
#[test]
fn a_client_runs_the_predicted_tick_and_the_server_its_own() {
    let cast = Cast { length: 0.5, ticks: Some(1), initial_tick: true, ..Cast::default() };
    let mut beam = Ability::new("GA_Beam").cast_as(cast);
    beam.on_predicted_tick.push(event("Event.Predicted"));
    beam.on_server_tick.push(event("Event.Server"));
    beam.on_tick.push(event("Event.Both"));
    let mut g = Game::new(Setup { builder: builder().add(beam), ..Setup::default() });
    g.facts();
    let mut facts = Facts::default();
    g.net.server_mut().take_facts(&mut facts);
    g.cast("GA_Beam", Target::None).unwrap();
    g.net.run(90);
    let told = g.facts();
    let client = events(&g.rules, told.iter().filter(|(_, c)| *c == Certainty::Predicted).map(|(f, _)| f));
    g.net.server_mut().take_facts(&mut facts);
    let server = events(&g.rules, facts.list.iter());
    assert_eq!(client, ["Event.Both", "Event.Predicted", "Event.Both", "Event.Predicted"]);
    assert_eq!(server, ["Event.Both", "Event.Server", "Event.Both", "Event.Server"]);
    assert_eq!(g.ana().counts().corrections, 0);
}

/// A game with an ability that costs something, and slows its owner for a while when it was refused.
fn risky() -> Game {
    let mut risky = Ability::new("GA_Risky").cost("GE_Cost").gcd(1.0).charges(2, 8.0);
    risky.max_range = Some(500.0);
    risky.on_mispredicted.push(event("Event.Mispredicted"));
    risky.on_mispredicted.push(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Sorry"));
    let sorry = Effect::lasting("GE_Sorry", 5.0).add("Speed", -1.0).grants("State.Sorry");
    let mut g = Game::new(Setup { builder: builder().add(sorry).add(risky), ben: true, ..Setup::default() });
    let (who, ability) = (g.hero, g.ability("GA_Risky"));
    let which = Which::Ability(ability);
    g.net.server_mut().sim_mut().run(Op::Revoke { who, which }).unwrap();
    let grant = AbilityGrant::new(ability).input(InputId(7));
    g.net.server_mut().sim_mut().run(Op::Grant { who, grant }).unwrap();
    g.net.run(30);
    g
}

/// Plays a use that the server refuses for a reason; what it does about it counts once on both sides and nowhere else.
fn denied(reason: Reason, ask: impl Fn(&mut Game) -> Request) {
    let mut g = risky();
    let hero = g.hero;
    g.facts();
    let mut facts = Facts::default();
    g.net.server_mut().take_facts(&mut facts);
    let request = ask(&mut g);
    g.net.client_mut("Ana").command(request).unwrap();
    let grant =
        g.ana().sim().grants(hero).unwrap().into_iter().find(|x| x.ability == g.ability("GA_Risky")).unwrap().id;
    let charges = |g: &Game| g.ana().sim().charges(hero, grant).unwrap().map(|c| c.have);
    assert_eq!(charges(&g), Some(1));
    let mut speeds = vec![g.seen(hero, "Speed")];
    for _ in 0..90 {
        g.net.step();
        speeds.push(g.seen(hero, "Speed"));
    }
    speeds.dedup();
    assert_eq!(speeds, [10.0, 9.0], "{reason:?}: shown once, and it stays");
    assert!(g.net.server().counts().of(reason) > 0, "{:?}", g.net.server().counts());
    assert_eq!(charges(&g), Some(2), "charges are put back");
    assert_eq!(g.seen(hero, "Mana"), g.truth(hero, "Mana"));
    assert!(g.ana().sim().global_cooldowns(hero).unwrap().is_empty(), "and the global cooldown");
    let sorry = |sim: &Sim| sim.effects(hero).unwrap().iter().map(|e| (e.key, e.effect)).collect::<Vec<_>>();
    assert_eq!(sorry(g.net.server().sim()).len(), 1, "{reason:?}");
    assert_eq!(sorry(g.ana().sim()), sorry(g.net.server().sim()));
    let told = g.facts();
    for certainty in [Certainty::Predicted, Certainty::Confirmed] {
        let mine = events(&g.rules, told.iter().filter(|(_, c)| *c == certainty).map(|(f, _)| f));
        assert_eq!(mine, ["Event.Mispredicted"], "{reason:?}: {certainty:?} once");
    }
    g.net.server_mut().take_facts(&mut facts);
    assert_eq!(events(&g.rules, facts.list.iter()), ["Event.Mispredicted"], "{reason:?}");
    let mut others = ugas_net::client::NetFacts::default();
    g.net.client_mut("Ben").take_facts(&mut others);
    assert!(events(&g.rules, others.facts.list.iter()).is_empty());
}

fn use_it(g: &Game, target: Target) -> Request {
    Request::Activate { who: g.hero, ability: g.ability("GA_Risky"), target }
}

/// The server spends the mana; the client has not heard.
fn spend(g: &mut Game) {
    let (hero, cost) = (g.hero, g.effect("GE_Cost"));
    for _ in 0..5 {
        g.net.server_mut().sim_mut().apply(&Spec::new(cost, hero)).unwrap();
    }
}

// covers: SAI-2.7-07, SAI-2.1-05
#[test]
fn a_denied_use_is_told_to_the_owner_and_the_server_and_to_nobody_else() {
    denied(Reason::Rules, |g| {
        spend(g);
        use_it(g, Target::None)
    });
    denied(Reason::Rules, |g| {
        spend(g);
        Request::Press { who: g.hero, input: InputId(7), target: Target::None }
    });
}

// covers: SAI-2.7-07
#[test]
fn whatever_the_reason_a_denied_use_is_cleaned_up_on_both_sides() {
    denied(Reason::Target, |g| {
        let (who, anchor) = (g.foe, Some(Anchor::at([5000.0, 0.0, 0.0])));
        g.net.server_mut().sim_mut().run(Op::Move { who, anchor }).unwrap();
        use_it(g, Target::Controller(who))
    });
    denied(Reason::Past, |g| {
        g.net.cut("Ana", SimTime::millis(450));
        use_it(g, Target::None)
    });
    denied(Reason::CommandRate, |g| {
        for _ in 0..160 {
            let ask = Request::Release { who: g.hero, input: InputId(1) };
            g.net.client_mut("Ana").command(ask).unwrap();
        }
        use_it(g, Target::None)
    });
}

#[test]
fn who_was_not_refused_has_nothing_to_clean_up() {
    let mut g = risky();
    let Ok(Commanded::Predicted(id, _)) = g.cast("GA_Risky", Target::None) else { panic!() };
    g.net.run(30);
    let (who, ability, target) = (g.hero, g.ability("GA_Risky"), Target::None);
    let forged = Request::Mispredicted { who, base: id.base(), sub: id.sub(), ability, target };
    g.net.client_mut("Ana").command(forged).unwrap();
    g.net.run(30);
    assert_eq!(g.net.server().counts().of(Reason::Key), 1);
    assert_eq!((g.seen(who, "Speed"), g.truth(who, "Speed")), (10.0, 10.0));
    // And whoever was, only once.
    let mut g = risky();
    spend(&mut g);
    let Ok(Commanded::Predicted(id, _)) = g.cast("GA_Risky", Target::None) else { panic!() };
    g.net.run(60);
    let again = Request::Mispredicted { who, base: id.base(), sub: id.sub(), ability, target };
    g.net.client_mut("Ana").command(again).unwrap();
    g.net.run(30);
    assert_eq!(g.truth(who, "Speed"), 9.0);
    assert_eq!(g.net.server().counts().of(Reason::Key), 1);
}
