//! Costs, casts and mispredictions between an owning client and its server.

use crate::kit::{Game, Setup, builder};
use ugas_core::{AbilityGrant, Anchor, Fact, FactKind, Facts, InputId, Op, Sim, SimTime, Spec, Target, Which};
use ugas_doc::{
    Ability, AbilityTask, Attribute, AttributeSet, Cast, CombatRule, Effect, Magnitude, Modify, ModifyOperation,
};
use ugas_net::authority::RejectReason;
use ugas_net::client::{Certainty, PredictionStatus};
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
fn a_shown_value_is_the_servers_with_pending_predictions_on_top() {
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
    // The cost falls on the server before the client receives that.
    let sale = g.effect("GE_Sale");
    g.net.server_mut().sim_mut().apply(&Spec::new(sale, hero)).unwrap();
    g.cast("GA_A", Target::None).unwrap();
    assert_eq!(g.seen(hero, "Mana"), 80.0);
    g.net.step();
    g.cast("GA_B", Target::None).unwrap();
    assert_eq!(g.seen(hero, "Mana"), 50.0, "100 without 20 and 30");
    let mut shown = Vec::new();
    while g.ana().pending_commands() > 0 {
        g.net.step();
        shown.push((g.ana().pending_commands(), g.seen(hero, "Mana")));
    }
    assert!(shown.contains(&(1, 55.0)), "the first is answered with 15, the second still counts: {shown:?}");
    assert_eq!((g.seen(hero, "Mana"), g.truth(hero, "Mana")), (55.0, 55.0));
}

// covers: SAI-1.4-03
#[test]
fn a_rejected_key_undoes_only_its_own_changes() {
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
    let client_facts = g.facts();
    let client = events(&g.rules, client_facts.iter().filter(|(_, c)| *c == Certainty::Predicted).map(|(f, _)| f));
    g.net.server_mut().take_facts(&mut facts);
    let server = events(&g.rules, facts.list.iter());
    assert_eq!(client, ["Event.Both", "Event.Predicted", "Event.Both", "Event.Predicted"]);
    assert_eq!(server, ["Event.Both", "Event.Server", "Event.Both", "Event.Server"]);
    assert_eq!(g.ana().counts().corrections, 0);
}

/// Takes the events that Ana, the server and Ben emitted since the last call.
fn take_events(g: &mut Game) -> [Vec<String>; 3] {
    let mine = g.facts();
    let is_new = |c: Certainty| matches!(c, Certainty::Predicted | Certainty::Server);
    let mine = events(&g.rules, mine.iter().filter(|(_, c)| is_new(*c)).map(|(f, _)| f));
    let (mut facts, mut others) = (Facts::default(), ugas_net::client::NetFacts::default());
    g.net.server_mut().take_facts(&mut facts);
    g.net.client_mut("Ben").take_facts(&mut others);
    [mine, events(&g.rules, facts.list.iter()), events(&g.rules, others.iter().map(|(f, _)| f))]
}

fn with_sides(mut ability: Ability) -> Ability {
    ability.on_predicted_tick.push(event("Event.Tick.Predicted"));
    ability.on_server_tick.push(event("Event.Tick.Server"));
    ability.on_simulated_tick.push(event("Event.Tick.Simulated"));
    ability.on_predicted_cancel.push(event("Event.Cancel.Predicted"));
    ability.on_server_cancel.push(event("Event.Cancel.Server"));
    ability.on_simulated_cancel.push(event("Event.Cancel.Simulated"));
    ability.on_interrupt.push(event("Event.Interrupt.Both"));
    ability.on_server_interrupt.push(event("Event.Interrupt.Server"));
    ability.on_simulated_interrupt.push(event("Event.Interrupt.Simulated"));
    ability
}

// covers: SAI-2.7-03
#[test]
fn only_observers_run_the_simulated_tick() {
    let cast = Cast { length: 0.2, ticks: Some(2), initial_tick: true, ..Cast::default() };
    for (ability, ticks) in [(Ability::new("GA_Side"), 1), (Ability::new("GA_Side").cast_as(cast), 3)] {
        let rules = builder().add(with_sides(ability));
        let mut g = Game::new(Setup { builder: rules, ben: true, ..Setup::default() });
        take_events(&mut g);
        g.cast("GA_Side", Target::None).unwrap();
        g.net.run(60);
        let all = |what: &str| vec![what.to_owned(); ticks];
        let wanted = ["Event.Tick.Predicted", "Event.Tick.Server", "Event.Tick.Simulated"].map(all);
        assert_eq!(take_events(&mut g), wanted);
    }
}

// covers: SAI-2.7-05
#[test]
fn a_cancel_has_a_version_for_each_side_and_an_interrupt_none_that_is_predicted() {
    let cast = Cast { length: 5.0, ticks: Some(1), ..Cast::default() };
    let rules = || builder().add(with_sides(Ability::new("GA_Side").cast_as(cast.clone())));
    let mut g = Game::new(Setup { builder: rules(), ben: true, ..Setup::default() });
    let (who, ability) = (g.hero, g.ability("GA_Side"));
    g.cast("GA_Side", Target::None).unwrap();
    g.net.run(30);
    take_events(&mut g);
    g.net.client_mut("Ana").command(Request::Cancel { who, ability }).unwrap();
    assert_eq!(take_events(&mut g)[0], ["Event.Cancel.Predicted"], "at once");
    g.net.run(30);
    let none: [&str; 0] = [];
    let [ana, server, ben] = take_events(&mut g);
    assert_eq!(
        (ana, server, ben),
        (
            none.map(str::to_owned).into(),
            vec!["Event.Cancel.Server".to_owned()],
            vec!["Event.Cancel.Simulated".to_owned()]
        )
    );
    g.cast("GA_Side", Target::None).unwrap();
    g.net.run(30);
    take_events(&mut g);
    g.net.server_mut().sim_mut().run(Op::Interrupt { who, which: None }).unwrap();
    g.net.run(30);
    let [ana, server, ben] = take_events(&mut g);
    assert!(ana.iter().all(|e| e != "Event.Interrupt.Server" && e != "Event.Interrupt.Simulated"), "{ana:?}");
    assert_eq!(server, ["Event.Interrupt.Both", "Event.Interrupt.Server"]);
    assert_eq!(ben, ["Event.Interrupt.Simulated"]);
    assert!(g.ana().sim().cast(who).unwrap().is_none() && g.net.server().sim().cast(who).unwrap().is_none());
}

// covers: SAI-2.1-04
#[test]
fn the_server_repeats_every_step_and_the_client_takes_its_values() {
    let half = |on: &str| {
        let modify = Modify { operation: ModifyOperation::Multiply, value: None, factor: Some(0.5) };
        CombatRule { on: on.into(), modify: Some(modify), ..CombatRule::default() }
    };
    let mut quick = Effect::infinite("GE_Quick").add("Price", -5.0);
    quick.rules = vec![half("GlobalCooldown"), half("CastLength")];
    let cast = Cast { length: 2.0, ticks: Some(4), initial_tick: true, ..Cast::default() };
    let ability = Ability::new("GA_Side").cost("GE_Price").gcd(3.0).cast_as(cast);
    let rules = builder()
        .add(AttributeSet::new("Prices").with(Attribute::new("Price", 20.0)))
        .add(Effect::instant("GE_Price").add("Mana", Magnitude::attribute("Price").times(-1.0)))
        .add(quick)
        .add(with_sides(ability));
    let mut g = Game::new(Setup { builder: rules, ben: true, ..Setup::default() });
    let (hero, set, quick) = (g.hero, g.rules.set("Prices").unwrap(), g.effect("GE_Quick"));
    g.net.server_mut().sim_mut().run(Op::AddSet { who: hero, set }).unwrap();
    g.net.run(30);
    take_events(&mut g);
    // The client receives this after its prediction.
    g.net.server_mut().sim_mut().apply(&Spec::new(quick, hero)).unwrap();
    g.cast("GA_Side", Target::None).unwrap();
    let lengths = |sim: &Sim| {
        let gcds = sim.global_cooldowns(hero).unwrap();
        (gcds.first().map(|g| g.1.total), sim.cast(hero).unwrap().map(|c| c.timer.total))
    };
    let seconds = |n: f64| Some(SimTime::seconds(n));
    assert_eq!((g.seen(hero, "Mana"), lengths(g.ana().sim())), (80.0, (seconds(3.0), seconds(2.0))));
    g.net.run_until(30, |net| net.client("Ana").pending_commands() == 0).unwrap();
    assert_eq!((g.truth(hero, "Mana"), lengths(g.net.server().sim())), (85.0, (seconds(1.5), seconds(1.0))));
    assert_eq!((g.seen(hero, "Mana"), lengths(g.ana().sim())), (85.0, (seconds(1.5), seconds(1.0))));
    let (status, refused) = (g.ana().predictions().last().unwrap().status, g.ana().counts().rejected);
    assert_eq!((status, refused), (PredictionStatus::Confirmed, 0));
    g.net.run(90);
    let [_, server, ben] = take_events(&mut g);
    assert_eq!(server, ["Event.Tick.Server"; 5]);
    assert_eq!(ben, ["Event.Tick.Simulated"; 5]);
    assert!(g.ana().sim().cast(hero).unwrap().is_none());
}

// covers: SAI-2.4-06
#[test]
fn an_unpredicted_cooldown_length_is_unknown_until_the_server_sends_it() {
    let mut ability = Ability::new("GA_Charged").charges(3, 4.0);
    ability.charges.as_mut().unwrap().predict_length = Some(false);
    let mut g = Game::new(Setup { builder: builder().add(ability), ..Setup::default() });
    let hero = g.hero;
    let grants = g.ana().sim().grants(hero).unwrap();
    let grant = grants.into_iter().find(|x| x.ability == g.ability("GA_Charged")).unwrap().id;
    let charges = |sim: &Sim| sim.charges(hero, grant).unwrap().unwrap();
    g.cast("GA_Charged", Target::None).unwrap();
    for _ in 0..3 {
        let now = charges(g.ana().sim());
        assert_eq!(
            (now.have, now.left, now.length),
            (2, Some(SimTime::NEVER), SimTime::NEVER),
            "it is active with an unknown length"
        );
        g.net.step();
    }
    g.net.run(30);
    assert_eq!(charges(g.ana().sim()).length, SimTime::seconds(4.0));
    assert_eq!(charges(g.ana().sim()).have, 2);
    g.assert_equal();
}

// covers: SAI-2.4-08
#[test]
fn predicted_charges_are_spent_again_on_an_older_server_state() {
    for spent in [false, true] {
        let mut ability = Ability::new("GA_Charged").charges(3, 4.0);
        ability.charges.as_mut().unwrap().predict_length = Some(false);
        let mut g = Game::new(Setup { builder: builder().add(ability), ..Setup::default() });
        let (hero, hit, ability) = (g.hero, g.effect("GE_Other"), g.ability("GA_Charged"));
        let grants = g.ana().sim().grants(hero).unwrap();
        let grant = grants.into_iter().find(|x| x.ability == ability).unwrap().id;
        let charges = |sim: &Sim| sim.charges(hero, grant).unwrap().unwrap();
        // The client has not received this when it activates the ability.
        g.net.server_mut().sim_mut().apply(&Spec::new(hit, hero)).unwrap();
        if spent {
            let which = Which::Ability(ability);
            g.net.server_mut().sim_mut().run(Op::Activate { who: hero, which, target: Target::None }).unwrap();
        }
        g.net.step();
        g.cast("GA_Charged", Target::None).unwrap();
        let before = g.ana().counts().resimulated;
        g.net.run_until(30, |net| net.client("Ana").counts().resimulated > before).unwrap();
        assert!(g.ana().pending_commands() > 0, "the server's state is older than the activation");
        assert_eq!(g.seen(hero, "Health"), 99.0, "and is applied");
        let now = charges(g.ana().sim());
        if spent {
            assert_eq!(now.have, 1, "one less than in the server's state");
            assert_ne!(now.left, Some(SimTime::NEVER), "the server has started the recharge");
        } else {
            assert_eq!(
                (now.have, now.left),
                (2, Some(SimTime::NEVER)),
                "one less than the maximum, with an unknown length"
            );
        }
        g.net.run(30);
        assert_eq!(charges(g.ana().sim()).have, charges(g.net.server().sim()).have);
        g.assert_equal();
    }
}

// covers: SAI-2.5-07, SAI-2.5-09
#[test]
fn an_unpredicted_cast_shows_an_empty_bar_until_the_server_sends_its_length() {
    let cast = Cast { length: 0.6, ticks: Some(6), initial_tick: true, predict_length: Some(false), ..Cast::default() };
    let mut beam = Ability::new("GA_Beam").cast_as(cast);
    beam.on_tick.push(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Tick"));
    let rules = builder().add(Effect::instant("GE_Tick").add("Speed", 1.0)).add(beam);
    let profile = ugas_net::link::LinkProfile::round_trip(200, 0);
    let mut g = Game::new(Setup { builder: rules, profile, ..Setup::default() });
    let hero = g.hero;
    // Until its clock is early enough for commands to arrive in time.
    g.net.run(180);
    g.cast("GA_Beam", Target::None).unwrap();
    let begun = g.ana().tick().0;
    let mut seen = Vec::new();
    while g.ana().sim().cast(hero).unwrap().is_some() {
        let known = g.ana().sim().cast(hero).unwrap().unwrap().timer.total != SimTime::NEVER;
        seen.push((g.ana().tick().0 - begun, known, g.seen(hero, "Speed") - 10.0));
        g.net.step();
    }
    let answer = seen.iter().position(|s| s.1).unwrap();
    assert!(answer > 12, "a round trip: {seen:?}");
    assert!(seen[..answer].iter().all(|s| s.2 == 1.0), "the first tick and no other: {seen:?}");
    // Ticks fall every six ticks of the clock, the bar began with the press.
    for (at, _, ticks) in &seen[answer..] {
        assert_eq!(*ticks, 1.0 + (at / 6) as f64, "{seen:?}");
    }
    assert_eq!(g.seen(hero, "Speed"), 17.0);
    g.assert_equal();
}

/// A game with an ability with a cost that slows its owner for a while when it was rejected.
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

/// Plays an activation that the server rejects for a reason, or a press that activates nothing. Its `OnMispredicted` runs
/// once on both sides and nowhere else.
fn denied(reason: Option<RejectReason>, ask: impl Fn(&mut Game) -> Request) {
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
    let counts = g.net.server().counts();
    assert!(reason.map_or(counts.iter().count() == 0, |reason| counts.of(reason) > 0), "{counts:?}");
    assert_eq!(charges(&g), Some(2), "charges are restored");
    assert_eq!(g.seen(hero, "Mana"), g.truth(hero, "Mana"));
    assert!(g.ana().sim().global_cooldowns(hero).unwrap().is_empty(), "and the global cooldown");
    let sorry = |sim: &Sim| sim.effects(hero).unwrap().iter().map(|e| (e.key, e.effect)).collect::<Vec<_>>();
    assert_eq!(sorry(g.net.server().sim()).len(), 1, "{reason:?}");
    assert_eq!(sorry(g.ana().sim()), sorry(g.net.server().sim()));
    let client_facts = g.facts();
    for certainty in [Certainty::Predicted, Certainty::Confirmed] {
        let mine = events(&g.rules, client_facts.iter().filter(|(_, c)| *c == certainty).map(|(f, _)| f));
        assert_eq!(mine, ["Event.Mispredicted"], "{reason:?}: {certainty:?} once");
    }
    g.net.server_mut().take_facts(&mut facts);
    assert_eq!(events(&g.rules, facts.list.iter()), ["Event.Mispredicted"], "{reason:?}");
    let mut others = ugas_net::client::NetFacts::default();
    g.net.client_mut("Ben").take_facts(&mut others);
    assert!(events(&g.rules, others.iter().map(|(f, _)| f)).is_empty());
}

fn activate_request(g: &Game, target: Target) -> Request {
    Request::Activate { who: g.hero, ability: g.ability("GA_Risky"), target }
}

/// The server spends the mana; the client has not received that.
fn spend(g: &mut Game) {
    let (hero, cost) = (g.hero, g.effect("GE_Cost"));
    for _ in 0..5 {
        g.net.server_mut().sim_mut().apply(&Spec::new(cost, hero)).unwrap();
    }
}

// covers: SAI-2.7-07, SAI-2.1-05
#[test]
fn a_rejected_activation_is_reported_to_the_owner_and_the_server_only() {
    denied(Some(RejectReason::Rules), |g| {
        spend(g);
        activate_request(g, Target::None)
    });
    denied(None, |g| {
        spend(g);
        Request::Press { who: g.hero, input: InputId(7), target: Target::None }
    });
}

// covers: SAI-2.7-07
#[test]
fn a_rejected_activation_is_cleaned_up_on_both_sides_for_every_reason() {
    denied(Some(RejectReason::Target), |g| {
        let (who, anchor) = (g.foe, Some(Anchor::at([5000.0, 0.0, 0.0])));
        g.net.server_mut().sim_mut().run(Op::Move { who, anchor }).unwrap();
        activate_request(g, Target::Controller(who))
    });
    denied(Some(RejectReason::Past), |g| {
        g.net.interrupt_link("Ana", SimTime::millis(450));
        activate_request(g, Target::None)
    });
    denied(Some(RejectReason::CommandRate), |g| {
        for _ in 0..160 {
            let ask = Request::Release { who: g.hero, input: InputId(1) };
            g.net.client_mut("Ana").command(ask).unwrap();
        }
        activate_request(g, Target::None)
    });
}

#[test]
fn an_accepted_activation_cannot_be_cleaned_up() {
    let mut g = risky();
    let cast = |g: &mut Game| {
        g.cast("GA_Risky", Target::None).unwrap();
        g.ana().predictions().last().unwrap().key
    };
    let key = cast(&mut g);
    g.net.run(30);
    let (who, ability, target) = (g.hero, g.ability("GA_Risky"), Target::None);
    let forged = Request::Mispredicted { who, base: key.base, sub: key.sub, ability, target };
    g.net.client_mut("Ana").command(forged).unwrap();
    g.net.run(30);
    assert_eq!(g.net.server().counts().of(RejectReason::Key), 1);
    assert_eq!((g.seen(who, "Speed"), g.truth(who, "Speed")), (10.0, 10.0));
    // A rejected one can be cleaned up once only.
    let mut g = risky();
    spend(&mut g);
    let key = cast(&mut g);
    g.net.run(60);
    let again = Request::Mispredicted { who, base: key.base, sub: key.sub, ability, target };
    g.net.client_mut("Ana").command(again).unwrap();
    g.net.run(30);
    assert_eq!(g.truth(who, "Speed"), 9.0);
    assert_eq!(g.net.server().counts().of(RejectReason::Key), 1);
}
