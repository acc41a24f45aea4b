//! Prediction on a client, and its confirmation or correction by the server.

use crate::kit::{Game, Setup, builder};
use ugas_core::{
    AbilityCx, AbilityGrant, CodedAbility, FactKind, InputId, Next, Op, Outcome, Refusal, Resume, SimTime, Spec,
    Target, Which,
};
use ugas_doc::{Ability, AbilityTask, Cast, Effect, Trigger};
use ugas_net::client::{Certainty, CommandStatus, PredictionStatus};
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;

// covers: UGAS-13.4-01, UGAS-13.1-01, SAI-2.1-03, UGAS-13.7-10
#[test]
fn a_command_is_predicted_at_once_kept_under_its_key_and_confirmed_later() {
    let mut g = Game::new(Setup::default());
    let (id, outcome) = g.bolt();
    assert_eq!(g.seen(g.hero, "Mana"), 80.0, "before any answer");
    assert_eq!(g.truth(g.hero, "Mana"), 100.0);
    assert_eq!(g.ana().pending_commands(), 1);
    assert!(g.ana().is_predicted(id.0));
    let waiting: Vec<_> = g.ana().predictions().copied().collect();
    assert_eq!((waiting.len(), waiting[0].status, waiting[0].op), (1, PredictionStatus::Pending, id));
    let key = waiting[0].key;
    assert_eq!((key.base, key.sub, key.parent), (1, 0, None), "the first key of the client");
    assert!(matches!(outcome, Outcome::Activated(activation) if activation == waiting[0].activation));
    g.net.run(30);
    assert!(!g.ana().is_predicted(id.0));
    assert_eq!(g.ana().pending_commands(), 0);
    assert_eq!(g.ana().predictions().next().unwrap().status, PredictionStatus::Confirmed);
    assert_eq!(g.truth(g.hero, "Mana"), 80.0);
    g.assert_equal();
}

// covers: UGAS-13.4-01, UGAS-13.1-01, SAI-2.1-03, NXT-13.8-04
#[test]
fn every_step_is_predicted_before_the_answer_and_rolled_back_when_the_server_rejects_it() {
    let mut ability = Ability::new("GA_Steps").cost("GE_Cost").gcd(3.0).charges(3, 4.0);
    ability = ability.cast_as(Cast { length: 5.0, ticks: Some(1), initial_tick: true, ..Cast::default() });
    ability.on_predicted_tick.push(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Haste"));
    let rules = builder().add(ability).add(Effect::instant("GE_Drain").add("Mana", -90.0));
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    let (hero, ability, drain, hasty) = (g.hero, g.ability("GA_Steps"), g.effect("GE_Drain"), g.tag("State.Haste"));
    let state = |g: &Game| {
        let sim = g.ana().sim();
        let grant = sim.grants(hero).unwrap().into_iter().find(|x| x.ability == ability).unwrap().id;
        let charges = sim.charges(hero, grant).unwrap().unwrap().have;
        let is_active = sim.activations(hero).unwrap().any(|a| a.ability == ability);
        let timers = (sim.global_cooldowns(hero).unwrap().len(), charges, sim.cast(hero).unwrap().is_some());
        (g.seen(hero, "Mana"), timers, is_active, g.seen(hero, "Speed"), sim.has_tag(hero, hasty).unwrap())
    };
    // The client receives this after its prediction: the server refuses the cost.
    g.net.server_mut().sim_mut().apply(&Spec::new(drain, hero)).unwrap();
    assert_eq!(state(&g), (100.0, (0, 3, false), false, 10.0, false));
    g.cast("GA_Steps", Target::None).unwrap();
    assert_eq!(state(&g), (80.0, (1, 2, true), true, 15.0, true), "before any answer");
    g.net.run(30);
    assert_eq!((g.ana().pending_commands(), g.ana().counts().rejected), (0, 1));
    assert_eq!(state(&g), (10.0, (0, 3, false), false, 10.0, false), "the server's state");
}

// covers: UGAS-13.4-02
#[test]
fn a_command_that_fails_locally_is_not_sent() {
    let mut g = Game::new(Setup::default());
    for _ in 0..5 {
        g.cast("GA_Haste", Target::None).unwrap();
        g.net.run(30);
    }
    let before = g.net.server().sim().row_hash(g.hero).unwrap();
    let refused = g.cast("GA_Haste", Target::None);
    assert!(matches!(refused, Err(Refusal::Cost { .. })), "{refused:?}");
    assert_eq!((g.ana().pending_commands(), g.ana().journal_entries()), (0, 0));
    g.net.run(30);
    assert_eq!(g.net.server().counts().iter().count(), 0, "nothing was sent");
    assert_eq!(g.net.server().sim().row_hash(g.hero).unwrap(), before);
}

// covers: UGAS-13.4-03, SAI-1.4-01
#[test]
fn keys_rise_and_never_repeat_and_the_server_has_the_key_zero() {
    let rules = builder().add(Ability::new("GA_Free")).add(Ability::new("GA_Gift"));
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    let mut made = Vec::new();
    for _ in 0..300 {
        for name in ["GA_Free", "GA_Gift", "GA_Free", "GA_Free"] {
            if g.cast(name, Target::None).is_ok() {
                made.push(*g.ana().predictions().last().unwrap());
            }
        }
        g.net.step();
    }
    assert!(made.len() >= 1000, "{}", made.len());
    let mut keys: Vec<_> = made.iter().map(|p| p.key).collect();
    assert!(keys.windows(2).all(|w| (w[0].base, w[0].sub) < (w[1].base, w[1].sub)));
    assert!(made.iter().all(|p| p.key.client != 0 && p.op.client() == p.key.client));
    let mut ops: Vec<_> = made.iter().map(|p| p.op).collect();
    assert!(ops.windows(2).all(|w| w[0].base() <= w[1].base()), "the ops rise with their ticks");
    ops.sort();
    ops.dedup();
    assert_eq!(ops.len(), made.len(), "no op id repeats");
    keys.dedup_by_key(|k| k.base);
    let bases: Vec<u32> = keys.iter().map(|k| k.base).collect();
    assert_eq!(bases[..3], [1, 2, 3]);
    let bolt = g.ability("GA_Bolt");
    let npc = g.other;
    g.net.server_mut().sim_mut().activate(npc, bolt, Target::Controller(g.foe)).unwrap();
    let own = g.net.server().sim().facts().list.iter().find(|f| f.who == npc).map(|f| f.root.client());
    assert_eq!(own, Some(0));
}

// covers: UGAS-13.1-01, UGAS-13.5-01, SAI-2.1-05, UGAS-13.7-09
#[test]
fn a_rejection_rolls_everything_back() {
    let mut g = Game::new(Setup::default());
    let (mana, cooldown) = (g.truth(g.hero, "Mana"), g.tag("Cooldown.Bolt"));
    let before = g.ana().sim().row_hash(g.hero).unwrap();
    // The server revoked the ability; the client has not received that.
    let ability = g.ability("GA_Bolt");
    let hero = g.hero;
    g.net.server_mut().sim_mut().run(Op::Revoke { who: hero, which: Which::Ability(ability) }).unwrap();
    let grant = AbilityGrant::new(ability);
    let (id, _) = g.bolt();
    assert!(g.ana().sim().has_tag(g.hero, cooldown).unwrap());
    g.net.run(30);
    assert_eq!(g.seen(g.hero, "Mana"), mana);
    assert!(!g.ana().sim().has_tag(g.hero, cooldown).unwrap());
    assert_eq!(g.seen(g.foe, "Health"), 100.0, "the foe's too");
    assert_eq!(g.ana().counts().rejected, 1);
    let facts = g.facts();
    let count = |c| facts.iter().filter(|(f, k)| f.root == id && *k == c).count();
    assert_eq!(count(Certainty::Predicted), count(Certainty::Undone));
    assert_eq!(count(Certainty::Confirmed), 0);
    g.net.server_mut().sim_mut().run(Op::Grant { who: hero, grant }).unwrap();
    g.assert_equal();
    assert_ne!(g.ana().sim().row_hash(g.hero).unwrap(), before, "the new grant has another number");
}

// covers: UGAS-13.5-02
#[test]
fn a_small_difference_is_corrected_and_the_ability_stays_active() {
    let long = Ability::new("GA_Long").cost("GE_LongCost").task(AbilityTask::new("WaitDelay").param("Duration", 5.0));
    let rules = builder().add(Effect::instant("GE_LongCost").add("Mana", -50.0)).add(long);
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    // The server gives mana back that the client does not know of.
    let long = g.ability("GA_Long");
    let ask = Request::Activate { who: g.hero, ability: long, target: Target::None };
    let Ok(CommandStatus::Predicted(_, Outcome::Activated(key))) = g.net.client_mut("Ana").command(ask) else {
        panic!()
    };
    assert_eq!(g.seen(g.hero, "Mana"), 50.0);
    let hero = g.hero;
    let other = g.effect("GE_Regen");
    g.net.server_mut().sim_mut().apply(&Spec::new(other, hero)).unwrap();
    g.net.run(45);
    assert_eq!(g.seen(g.hero, "Mana"), g.truth(g.hero, "Mana"));
    assert!(g.truth(g.hero, "Mana") > 50.0);
    let active = g.ana().sim().activations(g.hero).unwrap().any(|a| a.key == key);
    assert!(active, "the activation has kept its key");
    assert!(g.net.server().sim().activations(g.hero).unwrap().any(|a| a.key == key), "and the server has the same");
}

// covers: OWN-12
#[test]
fn keys_are_the_same_on_both_sides_and_outlive_confirmation() {
    let mut g = Game::new(Setup::default());
    g.cast("GA_Haste", Target::None).unwrap();
    let haste = g.effect("GE_Haste");
    let key_of =
        |sim: &ugas_core::Sim, who| sim.effects(who).unwrap().into_iter().find(|e| e.effect == haste).map(|e| e.key);
    let key = key_of(g.ana().sim(), g.hero).unwrap();
    g.net.run(30);
    assert_eq!(key_of(g.ana().sim(), g.hero), Some(key));
    assert_eq!(key_of(g.net.server().sim(), g.hero), Some(key));
    assert!(g.ana().sim().effect(key).is_ok());
    assert_eq!(g.ana().counts().corrections, 0);
}

// covers: UGAS-13.5-04, NXT-13.8-04
#[test]
fn only_the_own_controller_is_resimulated_and_only_later_inputs() {
    let mut g = Game::new(Setup { ben: true, ..Setup::default() });
    g.cast("GA_Haste", Target::None).unwrap();
    g.net.run(3);
    let hit = g.effect("GE_Other");
    let (hero, other) = (g.hero, g.other);
    g.net.server_mut().sim_mut().apply(&Spec::new(hit, hero)).unwrap();
    g.net.run(2);
    g.cast("GA_Haste", Target::None).unwrap();
    let foreign = g.ana().sim().row_hash(other).unwrap();
    let mut ran = 0;
    for _ in 0..30 {
        let before = g.ana().counts().resimulated;
        g.net.step();
        ran = ran.max(g.ana().counts().resimulated - before);
        assert_eq!(g.ana().sim().row_hash(other).unwrap(), foreign, "a rollback leaves others alone");
        assert_eq!(g.seen(g.hero, "Mana"), 60.0, "inputs contained in the server's state are not resimulated");
    }
    let counts = g.ana().counts();
    assert!(counts.external_changes > 0 && counts.corrections == 0, "{counts:?}");
    assert!(ran > 0 && ran < 20, "{ran}");
    assert_eq!(g.seen(g.hero, "Mana"), 60.0, "each command counts once");
    assert_eq!(g.truth(g.hero, "Mana"), 60.0);
    assert_eq!(g.seen(g.hero, "Health"), 99.0);
}

// covers: UGAS-13.5-04
#[test]
fn a_state_between_two_inputs_resimulates_only_the_second() {
    let mut g = Game::new(Setup::default());
    let (hero, hit) = (g.hero, g.effect("GE_Other"));
    for tick in 0..40 {
        if tick < 3 {
            g.cast("GA_Haste", Target::None).unwrap();
        }
        // Every tick of the server changes something, so that a state follows each of the inputs.
        g.net.server_mut().sim_mut().apply(&Spec::new(hit, hero)).unwrap();
        g.net.step();
        assert_eq!(g.seen(hero, "Mana"), 100.0 - 20.0 * f64::from(3.min(tick + 1)), "after {tick} ticks");
    }
    let counts = g.ana().counts();
    assert!(counts.external_changes > 20 && counts.corrections == 0, "{counts:?}");
}

// covers: UGAS-13.5-05
#[test]
fn a_large_difference_is_reported_as_a_value_correction_and_a_small_one_is_not() {
    for (effect, expected) in [("GE_Bolt", 1), ("GE_Other", 0)] {
        let mut g = Game::new(Setup::default());
        let (hit, hero) = (g.effect(effect), g.hero);
        g.net.server_mut().sim_mut().apply(&Spec::new(hit, hero)).unwrap();
        g.net.run(30);
        let mut blends = Vec::new();
        g.net.client_mut("Ana").take_corrections(&mut blends);
        assert_eq!(blends.len(), expected, "{blends:?}");
        assert_eq!(g.seen(g.hero, "Health"), g.truth(g.hero, "Health"), "the state switches at once");
    }
}

// covers: NXT-13.8-01, NXT-13.8-02
#[test]
fn chained_activations_have_keys_with_parents_and_a_child_alone_may_be_rejected() {
    let chain = |server_misses: bool| {
        let send = |tag: &str| AbilityTask::new("SendEvent").param("EventTag", tag);
        let rules = builder()
            .add(Ability::new("GA_One").task(send("Event.Two")))
            .add(Ability::new("GA_Two").trigger(Trigger::event("Event.Two")).task(send("Event.Three")))
            .add(
                Ability::new("GA_Three")
                    .trigger(Trigger::event("Event.Three"))
                    .task(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Haste")),
            );
        let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
        if server_misses {
            let (hero, which) = (g.hero, Which::Ability(g.ability("GA_Three")));
            g.net.server_mut().sim_mut().run(Op::Revoke { who: hero, which }).unwrap();
        }
        g.facts();
        g.cast("GA_One", Target::None).unwrap();
        let keys: Vec<_> = g.ana().predictions().map(|p| (p.key.sub, p.key.parent)).collect();
        assert_eq!(keys, [(0, None), (1, Some(0)), (2, Some(1))]);
        let bases: Vec<u32> = g.ana().predictions().map(|p| p.key.base).collect();
        assert!(bases.iter().all(|b| *b == bases[0]));
        g.net.run(30);
        let (three, haste, facts) = (g.ability("GA_Three"), g.effect("GE_Haste"), g.facts());
        let count = |c: Certainty| {
            let is = |f: &ugas_core::Fact| {
                f.effect == haste || matches!(f.kind, FactKind::AbilityActivated { ability, .. } if ability == three)
            };
            facts.iter().filter(|(f, k)| *k == c && is(f)).count()
        };
        let predicted = count(Certainty::Predicted);
        assert!(predicted >= 3);
        let (settled, speed) = if server_misses { (Certainty::Undone, 10.0) } else { (Certainty::Confirmed, 15.0) };
        assert_eq!(g.seen(g.hero, "Speed"), speed, "of the last ability");
        assert_eq!(count(settled), predicted, "{facts:#?}");
        g.ana().predictions().map(|p| p.status).collect::<Vec<_>>()
    };
    assert_eq!(chain(false), [PredictionStatus::Confirmed; 3]);
    assert_eq!(chain(true), [PredictionStatus::Confirmed, PredictionStatus::Confirmed, PredictionStatus::Rejected]);
    // Two commands of one tick are two roots of one base.
    let mut g = Game::new(Setup::default());
    g.bolt();
    g.cast("GA_Haste", Target::None).unwrap();
    let keys: Vec<_> = g.ana().predictions().map(|p| (p.key.base, p.key.sub, p.key.parent)).collect();
    assert_eq!(keys, [(1, 0, None), (1, 1, None)]);
}

// covers: NXT-13.8-02
#[test]
fn rejecting_a_parent_rejects_its_children() {
    let send = AbilityTask::new("SendEvent").param("EventTag", "Event.Two");
    let rules = builder()
        .add(Ability::new("GA_One").task(send))
        .add(Ability::new("GA_Two").trigger(Trigger::event("Event.Two")).cost("GE_Cost"));
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    let (hero, which) = (g.hero, Which::Ability(g.ability("GA_One")));
    g.net.server_mut().sim_mut().run(Op::Revoke { who: hero, which }).unwrap();
    g.cast("GA_One", Target::None).unwrap();
    assert_eq!(g.seen(g.hero, "Mana"), 80.0);
    g.net.run(30);
    assert_eq!(g.ana().predictions().map(|p| p.status).collect::<Vec<_>>(), [PredictionStatus::Rejected; 2]);
    assert_eq!(g.seen(g.hero, "Mana"), 100.0);
}

// covers: NXT-13.8-02
#[test]
fn a_grandchild_is_rejected_with_its_parent_although_the_same_ability_is_confirmed_elsewhere() {
    let send = |tag: &str| AbilityTask::new("SendEvent").param("EventTag", tag);
    let rules = builder()
        .add(Ability::new("GA_One").task(send("Event.Short")).task(send("Event.Long")))
        .add(Ability::new("GA_Short").trigger(Trigger::event("Event.Short")).task(send("Event.Three")))
        .add(Ability::new("GA_Long").trigger(Trigger::event("Event.Long")).task(send("Event.Longer")))
        .add(Ability::new("GA_Longer").trigger(Trigger::event("Event.Longer")).task(send("Event.Three")))
        .add(Ability::new("GA_Three").trigger(Trigger::event("Event.Three")));
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    let (hero, which) = (g.hero, Which::Ability(g.ability("GA_Short")));
    g.net.server_mut().sim_mut().run(Op::Revoke { who: hero, which }).unwrap();
    g.cast("GA_One", Target::None).unwrap();
    let three = g.ability("GA_Three");
    let parents = |g: &Game| -> Vec<_> {
        let of = g.ana().predictions().filter(|p| p.ability == three);
        of.map(|p| (p.key.parent, p.status)).collect()
    };
    assert_eq!(parents(&g), [(Some(1), PredictionStatus::Pending), (Some(4), PredictionStatus::Pending)]);
    g.net.run(30);
    assert_eq!(parents(&g), [(Some(1), PredictionStatus::Rejected), (Some(4), PredictionStatus::Confirmed)]);
}

// covers: NXT-13.8-03, NXT-13.8-06
#[test]
fn the_window_closes_after_sixteen_ticks_without_an_answer_and_opens_again() {
    let mut g = Game::new(Setup { window: SimTime::frames(16, 60), profile: LinkProfile::LAN, ..Setup::default() });
    let settled = g.ana().confirmed_tick(g.hero).unwrap();
    let lead = g.ana().tick().0 - settled.0;
    g.net.interrupt_link("Ana", SimTime::millis(1000));
    let mut played = 0;
    for _ in 0..40 {
        let input = InputId(0);
        let ask = Request::Press { who: g.hero, input, target: Target::None };
        let status = g.net.client_mut("Ana").command(ask);
        played += u32::from(matches!(status, Ok(CommandStatus::Predicted(..))));
        g.net.step();
        assert!(g.ana().tick().0 - g.ana().confirmed_tick(g.hero).unwrap().0 <= 16);
    }
    assert!(played + lead <= 17, "{played} commands were played and {lead} ticks were open before");
    assert!(!g.ana().can_predict());
    g.net.client_mut("Ana").clear_queue();
    assert!(matches!(g.cast("GA_Haste", Target::None), Ok(CommandStatus::Queued(_))));
    g.net.client_mut("Ana").clear_queue();
    g.net.run(90);
    assert!(g.ana().can_predict());
    assert!(g.cast("GA_Haste", Target::None).is_ok());
    assert!(g.ana().counts().longest_resimulation <= 16);
    // The worst link.
    let profile = LinkProfile::TORTURE;
    let mut g = Game::new(Setup { window: SimTime::frames(16, 60), profile, seed: 9, ..Setup::default() });
    for n in 0..1200 {
        if n % 40 == 0 {
            let _ = g.cast("GA_Haste", Target::None);
        }
        g.net.step();
    }
    assert!(g.ana().counts().longest_resimulation <= 16, "{:?}", g.ana().counts());
}

// covers: NXT-13.8-05
#[test]
fn a_predicted_hit_on_a_remote_actor_is_local_until_the_server_decides() {
    let rules = builder()
        .add({
            let mut shield = Effect::infinite("GE_Shield");
            shield.immunity.push(ugas_doc::ImmunityEntry { effect_tags: vec!["Damage".into()], ..Default::default() });
            shield
        })
        .add({
            let mut bolt = Effect::instant("GE_Bolt2").add("Health", -20.0);
            bolt.effect_tags.push("Damage".into());
            bolt
        });
    let rules = rules
        .add(Ability::new("GA_Bolt2").task(AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Bolt2")));
    let mut g = Game::new(Setup { builder: rules, ben: true, ..Setup::default() });
    let (shield, foe) = (g.effect("GE_Shield"), g.foe);
    g.net.server_mut().sim_mut().apply(&Spec::new(shield, foe)).unwrap();
    g.cast("GA_Bolt2", Target::Controller(foe)).unwrap();
    assert_eq!(g.seen(foe, "Health"), 80.0);
    let health = g.attribute("Health");
    for _ in 0..40 {
        g.net.step();
        assert_eq!(g.net.client("Ben").sim().get(foe, health).unwrap(), 100.0, "no other client received it");
    }
    assert_eq!(g.seen(foe, "Health"), 100.0);
}

// covers: UGAS-13.7-12
#[test]
fn an_effect_for_the_authority_is_never_predicted() {
    let kill = AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_InstantKill");
    let mut g = Game::new(Setup { builder: builder().add(Ability::new("GA_Kill").task(kill)), ..Setup::default() });
    g.cast("GA_Kill", Target::Controller(g.foe)).unwrap();
    assert_eq!(g.seen(g.foe, "Health"), 100.0);
    g.net.run(30);
    assert_eq!(g.truth(g.foe, "Health"), 0.0, "the server applies it");
    assert_eq!(g.seen(g.foe, "Health"), 0.0);
    let ask = Request::Apply {
        who: g.hero,
        ability: g.ability("GA_Kill"),
        effect: g.effect("GE_InstantKill"),
        target: g.hero,
    };
    assert!(matches!(g.net.client_mut("Ana").command(ask), Err(Refusal::AuthoritativeOnly)));
}

// covers: NXT-9.5-01
#[test]
fn every_roll_of_a_thousand_attacks_is_the_same_on_both_sides() {
    let mut lucky = Effect::instant("GE_Roll").add("Health", -1.0);
    lucky.application_chance = Some(ugas_doc::Magnitude::from(0.5));
    let swing = Ability::new("GA_Swing").task(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Roll"));
    let heal = Effect::instant("GE_Heal").add("Health", 1000.0);
    let mut g = Game::new(Setup { builder: builder().add(lucky).add(heal).add(swing), ..Setup::default() });
    let mut hits = 0;
    for _ in 0..1000 {
        let before = g.seen(g.hero, "Health");
        g.cast("GA_Swing", Target::None).unwrap();
        hits += u32::from(g.seen(g.hero, "Health") < before);
        g.net.step();
        if g.truth(g.hero, "Health") < 20.0 {
            g.net.run(20);
            let (heal, hero) = (g.effect("GE_Heal"), g.hero);
            g.net.server_mut().sim_mut().apply(&Spec::new(heal, hero)).unwrap();
            g.net.run(20);
        }
    }
    g.net.run(30);
    assert!((400..600).contains(&hits), "{hits}");
    assert_eq!(g.seen(g.hero, "Health"), g.truth(g.hero, "Health"));
    assert_eq!(g.ana().counts().rejected, 0);
    let counts = g.ana().counts();
    assert_eq!(counts.corrections, 0, "only what the server did by itself differed");
    assert!(counts.external_changes <= 40, "{counts:?}");
}

// covers: NXT-9.5-02
#[test]
fn an_unpredictable_execution_waits_for_the_server() {
    let mut hit = Effect::instant("GE_Secret");
    let mut x = ugas_doc::Execution::new("Secret");
    x.predictable = false;
    hit.executions.push(x);
    // Health is the first attribute of the small game.
    let rules = builder().calc_fn("Secret", [], |cx| cx.add(ugas_core::AttributeId(0), -7.0));
    let swing = Ability::new("GA_Swing").task(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Secret"));
    let mut g = Game::new(Setup { builder: rules.add(hit).add(swing), ..Setup::default() });
    g.cast("GA_Swing", Target::None).unwrap();
    assert_eq!(g.seen(g.hero, "Health"), 100.0, "nothing is predicted");
    g.net.run(30);
    assert_eq!(g.truth(g.hero, "Health"), 93.0);
    assert_eq!(g.seen(g.hero, "Health"), 93.0, "and then once");
}

// covers: NXT-9.5-02
#[test]
fn an_unpredicted_period_of_the_server_is_reported() {
    let mut fire = Effect::lasting("GE_Fire", 2.0).every(0.5);
    let mut x = ugas_doc::Execution::new("Secret");
    x.predictable = false;
    fire.executions.push(x);
    let rules = builder().calc_fn("Secret", [], |cx| cx.add(ugas_core::AttributeId(0), -7.0)).add(fire);
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    let (hero, fire) = (g.hero, g.effect("GE_Fire"));
    g.net.server_mut().sim_mut().apply(&Spec::new(fire, hero)).unwrap();
    for _ in 0..180 {
        g.net.step();
        assert!(g.seen(hero, "Health") >= g.truth(hero, "Health"), "never ahead of the server");
    }
    assert_eq!((g.seen(hero, "Health"), g.truth(hero, "Health")), (72.0, 72.0), "each period once");
}

// covers: NXT-8.8-03
#[test]
fn a_predicted_validation_commits_at_once_and_is_undone_when_it_fails() {
    for ok in [true, false] {
        let mut asked = Ability::new("GA_Asked").cost("GE_Cost").cooldown("GE_Cooldown").validated("Entitlement", None);
        if let Some(v) = &mut asked.async_validation {
            v.predicted = true;
        }
        let mut g = Game::new(Setup { builder: builder().add(asked), ..Setup::default() });
        g.cast("GA_Asked", Target::None).unwrap();
        assert_eq!(g.seen(g.hero, "Mana"), 80.0);
        let cooldown = g.tag("Cooldown.Bolt");
        for _ in 0..12 {
            g.net.step();
            assert_eq!(g.seen(g.hero, "Mana"), 80.0);
        }
        assert_eq!(g.truth(g.hero, "Mana"), 100.0, "the server waits");
        let (hero, ability) = (g.hero, g.ability("GA_Asked"));
        let which = Which::Ability(ability);
        g.net.server_mut().sim_mut().run(Op::Validate { who: hero, which, ok }).unwrap();
        for _ in 0..12 {
            g.net.step();
            if ok {
                assert_eq!(g.seen(g.hero, "Mana"), 80.0, "the confirmation changes nothing visible");
                assert!(g.ana().sim().has_tag(g.hero, cooldown).unwrap());
            }
        }
        let expected = if ok { 80.0 } else { 100.0 };
        assert_eq!((g.seen(g.hero, "Mana"), g.truth(g.hero, "Mana")), (expected, expected));
        assert_eq!(g.ana().sim().has_tag(g.hero, cooldown), g.net.server().sim().has_tag(g.hero, cooldown));
    }
}

// covers: PEER-12
#[test]
fn no_tick_shows_a_modifier_zero_or_two_times() {
    let mut g = Game::new(Setup { profile: LinkProfile::round_trip(200, 0), ..Setup::default() });
    let hit = g.effect("GE_Other");
    let hero = g.hero;
    let mut speeds = Vec::new();
    for n in 0..120 {
        if n == 10 {
            g.cast("GA_Haste", Target::None).unwrap();
        }
        if n % 7 == 3 {
            // Repeated rollbacks of the row.
            g.net.server_mut().sim_mut().apply(&Spec::new(hit, hero)).unwrap();
        }
        g.net.step();
        speeds.push(g.seen(g.hero, "Speed"));
    }
    assert!(g.ana().counts().external_changes > 5);
    assert!(speeds[..10].iter().all(|s| *s == 10.0));
    assert!(speeds[10..].iter().all(|s| *s == 15.0), "{speeds:?}");
}

// covers: UGAS-13.5-03
#[test]
fn a_duplicate_verdict_changes_nothing() {
    let profile = LinkProfile { duplicate: 0.5, ..LinkProfile::round_trip(60, 10) };
    let mut g = Game::new(Setup { profile, ..Setup::default() });
    g.bolt();
    g.net.run(60);
    assert_eq!((g.ana().pending_commands(), g.ana().journal_entries()), (0, 0));
    assert_eq!(g.seen(g.hero, "Mana"), 80.0);
    assert_eq!(g.seen(g.foe, "Health"), 75.0);
    let confirmed = g
        .facts()
        .iter()
        .filter(|(f, c)| *c == Certainty::Confirmed && matches!(f.kind, FactKind::AbilityActivated { .. }))
        .count();
    assert_eq!(confirmed, 1);
}

// covers: PEER-10
#[test]
fn the_execution_policy_decides_where_an_ability_runs_first() {
    let mut g = Game::new(Setup::default());
    // On the server only: a client cannot request it.
    assert!(matches!(g.cast("GA_Server", Target::None), Err(Refusal::Authority)));
    // On the server first: sent, not predicted.
    assert!(matches!(g.cast("GA_Initiated", Target::None), Ok(CommandStatus::Sent(_))));
    assert_eq!(g.seen(g.hero, "Mana"), 100.0);
    g.net.run(30);
    assert_eq!(g.seen(g.hero, "Mana"), 80.0);
    // On the client only: nothing is sent, and the row is unchanged.
    let before = g.ana().sim().row_hash(g.hero).unwrap();
    assert!(matches!(g.cast("GA_Local", Target::None), Ok(CommandStatus::Local(_))));
    assert_eq!(g.ana().pending_commands(), 0);
    assert_eq!(g.ana().sim().row_hash(g.hero).unwrap(), before);
    let facts = g.facts();
    assert!(facts.iter().any(|(f, c)| *c == Certainty::Local && matches!(f.kind, FactKind::AbilityActivated { .. })));
    g.net.run(60);
    assert_eq!(g.net.server().counts().iter().count(), 0);
    // The same by the keys they are bound to.
    for (name, input) in [("GA_Server", 1), ("GA_Initiated", 2), ("GA_Local", 3)] {
        let (who, grant) = (g.hero, AbilityGrant::new(g.ability(name)).input(InputId(input)));
        let which = Which::Ability(grant.ability);
        g.net.server_mut().sim_mut().run(Op::Revoke { who, which }).unwrap();
        g.net.server_mut().sim_mut().run(Op::Grant { who, grant }).unwrap();
    }
    g.net.run(60);
    let who = g.hero;
    let mut press = |input| {
        let ask = Request::Press { who, input: InputId(input), target: Target::None };
        g.net.client_mut("Ana").command(ask)
    };
    assert!(matches!(press(1), Err(Refusal::Authority)));
    assert!(matches!(press(2), Ok(CommandStatus::Sent(_))));
    assert!(matches!(press(3), Ok(CommandStatus::Local(_))));
    g.net.run(30);
    assert_eq!(g.net.server().counts().iter().count(), 0);
    assert_eq!(g.seen(g.hero, "Mana"), 60.0, "the server has run the abilities that it runs first");
}

#[test]
fn activations_of_a_held_input_have_equal_keys_on_both_sides() {
    let mut auto = Ability::new("GA_Auto").cost("GE_Cost").cooldown("GE_Cooldown");
    auto.held_activation = true;
    let auto = auto.task(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Haste"));
    let mut g = Game::new(Setup { builder: builder().add(auto), ..Setup::default() });
    let (who, ability, input) = (g.hero, g.ability("GA_Auto"), InputId(4));
    g.net.server_mut().sim_mut().run(Op::Revoke { who, which: Which::Ability(ability) }).unwrap();
    g.net.server_mut().sim_mut().run(Op::Grant { who, grant: AbilityGrant::new(ability).input(input) }).unwrap();
    g.net.run(120);
    g.facts();
    let before = g.ana().counts().corrections;
    g.net.client_mut("Ana").command(Request::Press { who, input, target: Target::None }).unwrap();
    g.net.run(3);
    g.net.client_mut("Ana").command(Request::Release { who, input }).unwrap();
    g.net.run(3);
    // Too early, and held until the cooldown ends.
    let early = g.net.client_mut("Ana").command(Request::Press { who, input, target: Target::None });
    assert!(matches!(early, Ok(CommandStatus::Predicted(_, Outcome::Pressed { activated: None, refused: Some(_) }))));
    g.net.run(90);
    assert_eq!((g.seen(who, "Mana"), g.truth(who, "Mana")), (60.0, 60.0));
    assert_eq!(g.ana().counts().corrections, before, "both sides agree");
    let facts = g.facts();
    let starts =
        |c| facts.iter().filter(|(f, k)| *k == c && matches!(f.kind, FactKind::AbilityActivated { .. })).count();
    assert_eq!((starts(Certainty::Predicted), starts(Certainty::Confirmed), starts(Certainty::Undone)), (2, 2, 0));
    g.assert_equal();
}

#[test]
fn code_that_rolls_rolls_the_same_on_both_sides() {
    struct Dice;
    impl CodedAbility for Dice {
        type State = ();
        fn resume(&self, (): &mut (), why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
            let hit = cx.rules().effect("GE_Other").unwrap();
            if matches!(why, Resume::Activated) && cx.random() < 0.5 {
                cx.apply_to_owner(hit);
            }
            Next::End
        }
    }
    let rules = builder().add(Ability::new("GA_Dice")).ability_code("GA_Dice", Dice);
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    g.net.run(120);
    g.net.server_mut().sim_mut().reseed(99);
    let before = g.ana().counts().corrections;
    for _ in 0..40 {
        g.cast("GA_Dice", Target::None).unwrap();
        g.net.step();
    }
    g.net.run(30);
    assert!((62.0..98.0).contains(&g.truth(g.hero, "Health")), "some of forty hit");
    assert_eq!(g.seen(g.hero, "Health"), g.truth(g.hero, "Health"));
    assert_eq!(g.ana().counts().corrections, before);
}
