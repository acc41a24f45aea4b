//! The interface of a sim that network sessions use.

use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AbilityId, Anchor, ControllerId, DefId, InsertError, JournalPosition, Op, OpId, ProxyRow, Refusal,
    ResimulationStop, Role, RowImage, Rules, SeedBlock, Sim, SimConfig, SimTime, SpawnSpec, Spec, Target, UsedAbility,
    Which,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Cast, Doc, Effect, NetExecution};

fn rules() -> Arc<Rules> {
    let mut secret = Effect::instant("GE_Spawned").add("Health", 5.0);
    secret.effect_tags.push("Gameplay.Effect.AuthoritativeOnly".into());
    let mut chance = Effect::instant("GE_Roll").add("Health", -1.0);
    chance.application_chance = Some(0.5.into());
    let mut loot = Effect::instant("GE_Loot").add("Health", 1.0);
    loot.effect_tags.push("Gameplay.Effect.AuthoritativeOnly".into());
    loot.application_chance = Some(0.5.into());
    Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)).with(Attribute::new("Secret", 7.0)))
        .add(Effect::instant("GE_Hit").add("Health", -10.0))
        .add(Effect::lasting("GE_Burn", 4.0).every(1.0).add("Health", -3.0).grants("State.Burning"))
        .add(Effect::lasting("GE_Cooldown", 2.0).grants("Cooldown.Jab"))
        .add(secret)
        .add(chance)
        .add(loot)
        .add(Effect::lasting("GE_RollOverTime", 60.0).every(0.1).execute("ExecCalc_Roll"))
        .calc_fn("ExecCalc_Roll", [], |cx| {
            if cx.roll(0.5) {
                cx.add("Health", -1.0);
            }
        })
        .add(Ability::new("GA_Jab").cooldown("GE_Cooldown").gcd(1.0).charges(2, 3.0))
        .build()
        .unwrap()
}

fn sim(rules: &Arc<Rules>, role: Role) -> (Sim, ControllerId) {
    let mut sim = Sim::new(rules.clone(), SimConfig { role, ..SimConfig::default() });
    let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    (sim, who)
}

fn at(seconds: f64) -> SimTime {
    SimTime::seconds(seconds)
}

// covers: UGAS-13.3-02
#[test]
fn take_changed_returns_each_changed_row_once() {
    let rules = rules();
    let (mut sim, one) = sim(&rules, Role::Authority);
    let two = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    let mut changed = Vec::new();
    sim.remote_mut().take_changed(&mut changed);
    assert_eq!(changed, [one, two], "the first call returns all rows");
    sim.remote_mut().take_changed(&mut changed);
    assert!(changed.is_empty());
    let hit = rules.effect("GE_Hit").unwrap();
    sim.apply(&Spec::new(hit, two)).unwrap();
    sim.apply(&Spec::new(hit, two)).unwrap();
    sim.hash();
    sim.remote_mut().take_changed(&mut changed);
    assert_eq!(changed, [two], "also after a hash in between");
}

#[test]
fn an_imported_row_is_resimulated_with_the_ops_after_it() {
    let rules = rules();
    let (hit, burn) = (rules.effect("GE_Hit").unwrap(), rules.effect("GE_Burn").unwrap());
    let (mut server, who) = sim(&rules, Role::Authority);
    let (mut client, _) = sim(&rules, Role::Client);
    client.keep_journal(who).unwrap();
    // Both are at one second; the server has applied a burn that the client does not know.
    server.apply(&Spec::new(burn, who)).unwrap();
    for sim in [&mut server, &mut client] {
        sim.advance_to(at(1.0));
    }
    let mark = client.remote().journal_end(who);
    let snapshot = server.remote().snapshot(who).unwrap();
    // The client predicts a hit at one second and advances to two and a half.
    let key = OpId::new(3, 1, 0);
    client.run_as(key, &Op::Apply(Spec::new(hit, who))).unwrap();
    client.advance_to(at(2.5));
    let image = client.remote_mut().import(&snapshot, mark).unwrap();
    let mut images = [RowImage::default(), RowImage::default()];
    let run = |client: &mut Sim, images: &mut [RowImage; 2]| {
        let until = client.remote().journal_end(who);
        let [first, second] = images.each_mut().map(Some);
        let first = ResimulationStop { at: at(2.0), until, image: first };
        client.resimulate(&image, None, &mut [first, ResimulationStop { at: at(2.5), until, image: second }])
    };
    run(&mut client, &mut images).unwrap();
    // The same by hand on the server.
    server.run_as(key, &Op::Apply(Spec::new(hit, who))).unwrap();
    server.advance_to(at(2.0));
    assert_eq!(images[0].hash(&rules), Some(server.row_hash(who).unwrap()));
    server.advance_to(at(2.5));
    assert_eq!(images[1].hash(&rules), Some(server.row_hash(who).unwrap()));
    assert_eq!(client.row_hash(who), server.row_hash(who));
    // An op that the authority rejected is discarded.
    client.remote_mut().discard_op(key, &Op::Apply(Spec::new(hit, who)));
    run(&mut client, &mut images).unwrap();
    let health = rules.attribute("Health").unwrap();
    assert_eq!(client.get(who, health).unwrap(), server.get(who, health).unwrap() + 10.0);
    // An op that the server has not answered is queued again, once.
    let ops = [(key, Op::Apply(Spec::new(hit, who)))];
    client.remote_mut().requeue_ops(who, mark, at(1.0), &ops);
    client.remote_mut().requeue_ops(who, mark, at(1.0), &ops);
    run(&mut client, &mut images).unwrap();
    assert_eq!(client.row_hash(who), server.row_hash(who));
    assert_eq!(client.remote().journal_len(who), 1);
    client.remote_mut().trim_journal(who, mark);
    assert_eq!(client.remote().journal_len(who), 0, "what the authority has spoken about is over");
}

#[test]
fn a_state_that_no_sim_can_have_is_refused() {
    let rules = rules();
    let (server, who) = sim(&rules, Role::Authority);
    let (mut client, _) = sim(&rules, Role::Client);
    let mut late = server.remote().snapshot(who).unwrap();
    late.set_at(at(9.0));
    assert!(matches!(
        client.remote_mut().import(&late, JournalPosition::default()),
        Err(InsertError::Damaged("the time is out of range"))
    ));
    let other = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 1.0))).build().unwrap();
    let mut stranger = Sim::new(other, SimConfig::default());
    let snapshot = server.remote().snapshot(who).unwrap();
    assert!(matches!(
        stranger.remote_mut().import(&snapshot, JournalPosition::default()),
        Err(InsertError::OtherRules { .. })
    ));
    let before = client.row_hash(who);
    assert_eq!(client.resimulate(&RowImage::default(), None, &mut []), Err(Refusal::Mismatch));
    assert_eq!(client.row_hash(who), before);
}

#[test]
fn a_late_op_starts_its_cooldowns_at_its_request_time() {
    let rules = rules();
    let jab = rules.ability("GA_Jab").unwrap();
    let left = |late: Option<SimTime>| {
        let (mut sim, who) = sim(&rules, Role::Authority);
        sim.run(Op::Grant { who, grant: AbilityGrant::new(jab) }).unwrap();
        sim.advance_to(at(5.0));
        let op = Op::Activate { who, which: Which::Ability(jab), target: Target::None };
        match late {
            Some(ago) => sim.remote_mut().run_late(OpId::new(1, 1, 0), &op, ago).unwrap(),
            None => sim.run_as(OpId::new(1, 1, 0), &op).unwrap(),
        };
        let grant = sim.grants(who).unwrap()[0].id;
        let gcd = sim.global_cooldowns(who).unwrap()[0].1.remaining;
        (sim.cooldown(who, grant).unwrap().unwrap().remaining, gcd)
    };
    assert_eq!(left(None), (at(2.0), at(1.0)));
    assert_eq!(left(Some(at(0.25))), (at(1.75), at(0.75)));
    let (mut sim, who) = sim(&rules, Role::Authority);
    let op = Op::Despawn { who };
    assert_eq!(
        sim.remote_mut().run_late(OpId::new(0, 1, 0), &op, at(0.1)),
        Err(Refusal::Authority),
        "client 0 is the sim itself"
    );
}

/// Both ticks of an ability hit its target, the common one and then the server's; between them its predicted tick
/// clears the target, and after them its tasks target the owner.
fn aiming() -> Arc<Rules> {
    let strike = || AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Hit");
    let turn = |to: &str| AbilityTask::new("SetTarget").param("Target", to);
    let seeker = |name: &str, predicted_tick: Vec<AbilityTask>, net| {
        let mut seeker = Ability::new(name).net(net).task(turn("Owner"));
        seeker = seeker.task(AbilityTask::new("WaitDelay").param("Duration", 1.0));
        seeker.target_blocked_tags.push("State.Hidden".into());
        seeker.on_tick.push(strike());
        seeker.on_predicted_tick = predicted_tick;
        seeker.on_server_tick.push(strike());
        seeker
    };
    let mut later = seeker("GA_Later", vec![turn("Nobody")], NetExecution::LocalPredicted);
    later.cast = Some(Cast { length: 1.0, ticks: Some(1), ..Cast::default() });
    Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
        .add(Effect::instant("GE_Hit").add("Health", -10.0))
        .add(Effect::infinite("GE_Hidden").grants("State.Hidden"))
        .add(seeker("GA_Seek", vec![turn("Nobody")], NetExecution::LocalPredicted))
        .add(seeker("GA_Blind", Vec::new(), NetExecution::LocalPredicted))
        .add(seeker("GA_Led", vec![turn("Nobody")], NetExecution::ServerInitiated))
        .add(later)
        .add({
            let asked = seeker("GA_Asked", vec![turn("Nobody")], NetExecution::LocalPredicted);
            let mut asked = asked.validated("Entitlement", None);
            asked.on_tick.clear();
            asked
        })
        .build()
        .unwrap()
}

/// The acting controller and three others; the last one is hidden.
fn stage(rules: &Arc<Rules>, role: Role) -> (Sim, [ControllerId; 4]) {
    let (mut sim, who) = sim(rules, role);
    let vitals = rules.set("Vitals").unwrap();
    let others = [0; 3].map(|_| sim.spawn(SpawnSpec::sets([vitals])).unwrap());
    sim.apply(&Spec::new(rules.effect("GE_Hidden").unwrap(), others[2])).unwrap();
    for (ability, _) in rules.ability_list() {
        sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
    }
    (sim, [who, others[0], others[1], others[2]])
}

#[test]
fn the_target_of_the_first_predicted_tick_replaces_only_that_target() {
    let rules = aiming();
    // (ability, predicted target, hits on the first and the second, refusal of the target)
    let hidden = Refusal::TargetTags { tag: rules.tag("State.Hidden").unwrap() };
    for (name, aim, hits, why) in [
        ("GA_Seek", Some(2), [1, 1], Ok(())),
        ("GA_Seek", None, [1, 0], Ok(())),
        ("GA_Seek", Some(3), [2, 0], Err(hidden)),
        ("GA_Blind", Some(2), [2, 0], Err(Refusal::Authority)),
        ("GA_Led", Some(2), [2, 0], Err(Refusal::Authority)),
        // Its first tick is not yet.
        ("GA_Later", Some(2), [0, 0], Ok(())),
    ] {
        let (mut sim, all) = stage(&rules, Role::Authority);
        let health = |sim: &Sim, who| sim.get(who, rules.attribute("Health").unwrap()).unwrap();
        let which = Which::Ability(rules.ability(name).unwrap());
        let op = Op::Activate { who: all[0], which, target: Target::Controller(all[1]) };
        let aim = aim.map_or(Target::None, |at: usize| Target::Controller(all[at]));
        let (done, aimed) = sim.remote_mut().run_aimed(OpId::new(1, 1, 0), &op, SimTime::ZERO, aim);
        assert!(done.is_ok());
        assert_eq!(aimed, why, "{name}");
        let lost = [1, 2].map(|at: usize| ((100.0 - health(&sim, all[at])) / 10.0) as i32);
        assert_eq!((lost, health(&sim, all[3])), (hits, 100.0), "{name} at {aim:?}");
    }
}

#[test]
fn a_target_predicted_before_a_validation_is_used_when_it_passes() {
    let rules = aiming();
    let (mut sim, all) = stage(&rules, Role::Authority);
    let (who, which) = (all[0], Which::Ability(rules.ability("GA_Asked").unwrap()));
    let op = Op::Activate { who, which, target: Target::Controller(all[1]) };
    let (done, aimed) = sim.remote_mut().run_aimed(OpId::new(1, 1, 0), &op, SimTime::ZERO, Target::Controller(all[2]));
    assert!(done.is_ok() && aimed.is_ok());
    sim.run(Op::Validate { who, which, ok: true }).unwrap();
    let health = |who| sim.get(who, rules.attribute("Health").unwrap()).unwrap();
    assert_eq!((health(all[1]), health(all[2])), (100.0, 90.0));
}

#[test]
fn only_targets_chosen_by_a_predicted_tick_are_sent_to_the_authority() {
    let rules = aiming();
    for (name, sent, hits) in [("GA_Seek", 1, 10.0), ("GA_Blind", 0, 10.0), ("GA_Led", 0, 10.0)] {
        let (mut sim, all) = stage(&rules, Role::Client);
        let target = Target::Controller(all[1]);
        let op = Op::Activate { who: all[0], which: Which::Ability(rules.ability(name).unwrap()), target };
        sim.run_as(OpId::new(1, 1, 0), &op).unwrap();
        let mut aims = Vec::new();
        sim.remote_mut().take_aims(&mut aims);
        let key = sim.activations(all[0]).unwrap().next().unwrap().key;
        let aim = ugas_core::PredictedAim { activation: key, tick: None, target: Target::None };
        assert_eq!(aims, vec![aim; sent], "{name}: the tasks that turn to the owner run there too");
        assert_eq!(100.0 - sim.get(all[1], rules.attribute("Health").unwrap()).unwrap(), hits, "{name}");
    }
}

// covers: UGAS-13.7-12, UGAS-13.7-13
#[test]
fn an_authority_only_effect_is_refused_on_clients() {
    let rules = rules();
    let (spawned, hit) = (rules.effect("GE_Spawned").unwrap(), rules.effect("GE_Hit").unwrap());
    assert!(rules.is_for_authority(spawned) && !rules.is_for_authority(hit));
    for (role, expected) in [(Role::Standalone, true), (Role::Authority, true), (Role::Client, false)] {
        let (mut sim, who) = sim(&rules, role);
        let before = sim.row_hash(who);
        let applied = sim.apply(&Spec::new(spawned, who));
        assert_eq!(applied.is_ok(), expected, "{role:?}");
        if !expected {
            assert_eq!(applied, Err(Refusal::AuthoritativeOnly));
            assert_eq!(sim.row_hash(who), before);
        }
        let keyed = sim.run_as(OpId::new(4, 9, 0), &Op::Apply(Spec::new(spawned, who)));
        assert_eq!(keyed.is_ok(), expected, "a prediction key changes nothing");
    }
}

// covers: NXT-9.5-01
#[test]
fn ops_of_a_client_draw_from_the_seed_of_that_client() {
    let rules = rules();
    let (roll, health) = (rules.effect("GE_Roll").unwrap(), rules.attribute("Health").unwrap());
    // `gap` is the time between two ops, in ticks.
    let play = |sim_seed: u64, client_seed: u32, seeds: u32, gap: u32| {
        let mut sim = Sim::new(rules.clone(), SimConfig { seed: sim_seed, ..SimConfig::default() });
        let mut spawn = || sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
        let targets = [spawn(), spawn()];
        let who = targets[0];
        let used = UsedAbility { who, ability: AbilityId(4) };
        sim.remote_mut().set_roll_owner(who, 3);
        sim.remote_mut().add_use_seeds(used, 0, (0..seeds).map(|n| client_seed + n));
        let hits = |sim: &mut Sim, n: u32| {
            let target = targets[(n / gap % 2) as usize];
            let before = sim.get(target, health).unwrap();
            let op = OpId::new(3, n * gap, 0);
            sim.advance_to(SimTime::millis(100 * n as i64 * gap as i64));
            let _ = sim.run_as(op, &Op::Apply(Spec::new(roll, target).from(who).ability(used.ability)));
            sim.get(target, health).unwrap() < before
        };
        (0..64).map(|n| hits(&mut sim, n)).collect::<Vec<_>>()
    };
    assert_eq!(play(1, 5, 64, 1), play(2, 5, 64, 1), "the sim's own seed does not matter");
    assert_ne!(play(1, 5, 64, 1), play(1, 600, 64, 1));
    assert_eq!(play(1, 5, 64, 1), play(1, 5, 64, 7), "neither the time nor the target matters");
    let (half, all) = (play(1, 5, 32, 1), play(1, 5, 64, 1));
    assert_eq!(half[..32], all[..32], "each use draws from its seed");
    assert_ne!(half[32..], all[32..], "without a seed the sim's seed is used");
}

#[test]
fn later_work_of_an_op_draws_from_its_use_and_an_op_that_draws_nothing_has_no_number() {
    let rules = rules();
    let (over_time, roll, health) = (
        rules.effect("GE_RollOverTime").unwrap(),
        rules.effect("GE_Roll").unwrap(),
        rules.attribute("Health").unwrap(),
    );
    let spawn = |role: Role, seeds: &[u32]| {
        let mut sim = Sim::new(rules.clone(), SimConfig { role, ..SimConfig::default() });
        let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
        let used = UsedAbility { who, ability: AbilityId(4) };
        sim.remote_mut().set_roll_owner(who, 3);
        sim.remote_mut().add_use_seeds(used, 0, seeds.iter().copied());
        (sim, who, used)
    };
    let play = |role: Role, start: i64, seeds: &[u32]| {
        let (mut sim, who, used) = spawn(role, seeds);
        sim.advance_to(SimTime::millis(start));
        let op = OpId::new(3, start as u32, 0);
        let spec = |effect| Spec::new(effect, who).from(who).ability(used.ability);
        sim.run_as(op, &Op::Apply(spec(over_time))).unwrap();
        assert_eq!(sim.remote().next_use(used), Some(0), "nothing was drawn yet");
        // A second op draws first and gets the first number.
        let second = OpId::new(3, start as u32 + 1, 0);
        let _ = sim.run_as(second, &Op::Apply(spec(roll)));
        let value = |n: i64| {
            sim.advance_to(SimTime::millis(start + 100 * n));
            sim.get(who, health).unwrap()
        };
        let values = (0..=40).map(value).collect::<Vec<_>>();
        (values, sim.remote().next_use(used))
    };
    let played = play(Role::Authority, 1000, &[8, 9]);
    assert_eq!(played.1, Some(2));
    assert_eq!(played, play(Role::Authority, 7300, &[8, 9]), "the time does not matter");
    assert_eq!(played, play(Role::Client, 1000, &[8, 9]), "the client predicts the same rolls");
    assert_ne!(played, play(Role::Authority, 1000, &[8, 10]));
    // A client that does not know the seed of a use leaves its rolls to the server.
    let partly = play(Role::Client, 1000, &[8]);
    assert!(partly.0.iter().all(|v| *v == partly.0[0]) && partly.1 == Some(1), "{partly:?}");
}

/// Returns block `n` of eight ticks of 0.1 s.
fn block(n: u32, seed: u64) -> SeedBlock {
    let tick = SimTime::millis(100).0;
    let from = SimTime((n as i64 * 8 - 1) * tick);
    SeedBlock { from, until: SimTime(from.0 + 8 * tick), seed }
}

#[test]
fn due_work_draws_from_the_stream_of_the_owner_at_its_time() {
    let rules = rules();
    let (roll, health) = (rules.effect("GE_RollOverTime").unwrap(), rules.attribute("Health").unwrap());
    let play = |role: Role, seed: u64, owner: Option<u16>, blocks: u32| {
        let mut sim = Sim::new(rules.clone(), SimConfig { seed, role, ..SimConfig::default() });
        let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
        (0..blocks).for_each(|n| sim.remote_mut().add_seed_block(3, block(n, 40 + n as u64)));
        owner.into_iter().for_each(|client| sim.remote_mut().set_roll_owner(who, client));
        sim.apply(&Spec::new(roll, who)).unwrap();
        let value = |n: i64| {
            sim.advance_to(SimTime::millis(100 * n));
            sim.get(who, health).unwrap()
        };
        (1..=64).map(value).collect::<Vec<_>>()
    };
    let owned = play(Role::Authority, 1, Some(3), 9);
    assert_eq!(owned, play(Role::Authority, 2, Some(3), 9), "the sim's own seed does not matter");
    assert_eq!(owned, play(Role::Client, 9, Some(3), 9), "the owner predicts the same rolls");
    assert_ne!(owned, play(Role::Authority, 1, None, 9));
    assert_ne!(play(Role::Authority, 1, None, 9), play(Role::Authority, 2, None, 9));
    // A client leaves the rolls of blocks that it does not know to the server: its value stays.
    let partly = play(Role::Client, 9, Some(3), 4);
    assert_eq!(partly[..31], owned[..31]);
    assert!(partly[31..].iter().all(|v| *v == partly[30]), "{partly:?}");
    assert!(owned[31..].iter().any(|v| *v != owned[30]));
    assert!(play(Role::Client, 9, None, 9).iter().all(|v| *v == 100.0), "rolls on other rows are unknown");
}

#[test]
fn rolls_that_no_client_predicts_use_the_seed_of_the_sim() {
    let rules = rules();
    let (loot, health) = (rules.effect("GE_Loot").unwrap(), rules.attribute("Health").unwrap());
    let play = |seed: u64, client_seed: u32| {
        let config = SimConfig { seed, role: Role::Authority, ..SimConfig::default() };
        let mut sim = Sim::new(rules.clone(), config);
        let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
        let used = UsedAbility { who, ability: AbilityId(4) };
        sim.remote_mut().set_roll_owner(who, 3);
        sim.remote_mut().add_use_seeds(used, 0, (0..64).map(|n| client_seed + n));
        let spec = Spec::new(loot, who).from(who).ability(used.ability);
        let won = |n| sim.run_as(OpId::new(3, n, 0), &Op::Apply(spec.clone())).is_ok();
        let won: Vec<bool> = (0..64).map(won).collect();
        assert!(sim.get(who, health).unwrap() > 100.0);
        won
    };
    assert_eq!(play(1, 5), play(1, 6), "the revealed seeds do not matter");
    assert_ne!(play(1, 5), play(2, 5));
}

#[test]
fn a_client_refuses_a_chance_that_it_does_not_know() {
    let rules = rules();
    let roll = rules.effect("GE_Roll").unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig { role: Role::Client, ..SimConfig::default() });
    let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    let used = UsedAbility { who, ability: AbilityId(4) };
    sim.remote_mut().set_roll_owner(who, 3);
    sim.remote_mut().add_use_seeds(used, 0, [5]);
    let spec = Spec::new(roll, who).from(who).ability(used.ability);
    let known = |sim: &mut Sim, n| sim.run_as(OpId::new(3, n, 0), &Op::Apply(spec.clone()));
    assert_ne!(known(&mut sim, 7), Err(Refusal::UnknownRoll));
    assert!(sim.remote().use_seed(OpId::new(3, 7, 0), used).is_some());
    assert_eq!(known(&mut sim, 8), Err(Refusal::UnknownRoll));
    assert_eq!(sim.remote().use_seed(OpId::new(3, 8, 0), used), None);
    let of_another = sim.run_as(OpId::new(2, 9, 0), &Op::Apply(spec.clone()));
    assert_eq!(of_another, Err(Refusal::UnknownRoll), "another client");
    assert_eq!(sim.apply(&Spec::new(roll, who)), Err(Refusal::UnknownRoll));
    sim.remote_mut().discard_uses(OpId::new(3, 7, 0));
    assert_ne!(known(&mut sim, 8), Err(Refusal::UnknownRoll), "the number is free again");
}

#[test]
fn a_proxy_has_exactly_the_received_values_and_tags() {
    let rules = rules();
    let (server, _) = sim(&rules, Role::Authority);
    let mut client = Sim::new(rules.clone(), SimConfig { role: Role::Client, ..SimConfig::default() });
    client.advance_to(at(3.0));
    let who = ControllerId(40);
    let (health, burning) = (rules.attribute("Health").unwrap(), rules.tag("State.Burning").unwrap());
    let sets = [rules.set("Vitals").unwrap()];
    let anchor = Some(Anchor::at([1.0, 2.0, 3.0]));
    let row =
        ProxyRow { who, at: at(2.0), sets: &sets, values: &[(health, 42.0)], tags: &[burning], anchor, holdings: &[] };
    let image = client.remote_mut().import_proxy(&row, JournalPosition::default()).unwrap();
    client.resimulate(&image, None, &mut [ResimulationStop::at(at(3.0))]).unwrap();
    assert_eq!(client.get(who, health), Ok(42.0));
    assert_eq!(client.has_tag(who, burning), Ok(true));
    assert_eq!(client.anchor(who), Ok(anchor));
    assert!(client.controllers().eq([who]));
    client.remote_mut().remove_silently(who);
    assert!(!client.exists(who));
    assert_eq!(server.controllers().count(), 1);
}

#[test]
fn hidden_attributes_are_in_no_copy_and_in_no_hash() {
    let rules = rules();
    let secret = rules.attribute("Secret").unwrap();
    let set = rules.set("Vitals").unwrap();
    let spawn = |value| {
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let who = sim.spawn(SpawnSpec::sets([set]).base(secret, value)).unwrap();
        (sim, who)
    };
    let ((a, who), (b, _)) = (spawn(1.0), spawn(2.0));
    assert_ne!(a.row_hash(who), b.row_hash(who));
    assert_eq!(a.remote().hash_without(who, &[secret]), b.remote().hash_without(who, &[secret]));
    let text = |sim: &Sim| {
        serde_json::to_string(&sim.remote().snapshot_without(who, &[secret], &|_, _| false).unwrap()).unwrap()
    };
    assert_eq!(text(&a), text(&b));
}

#[test]
fn definitions_of_another_sim_keep_their_ids() {
    let rules = rules();
    let (mut server, _) = sim(&rules, Role::Authority);
    let (mut client, _) = sim(&rules, Role::Client);
    let first = server.define(Effect::instant("GE_Sword").add("Health", -4.0)).unwrap();
    let second = server.define(Effect::instant("GE_Axe").add("Health", -6.0)).unwrap();
    server.undefine(first).unwrap();
    let definitions: Vec<(DefId, Doc)> = server.remote().definitions().map(|(id, doc)| (id, doc.clone())).collect();
    assert_eq!(definitions.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [second]);
    for (id, doc) in &definitions {
        client.remote_mut().adopt_definition(*id, doc).unwrap();
        client.remote_mut().adopt_definition(*id, doc).unwrap();
    }
    assert_eq!(client.remote().definition_count(), server.remote().definition_count());
    let DefId::Effect(axe) = second else { panic!() };
    assert_eq!(client.effect_name(axe), Some("GE_Axe"));
    let other = Doc::from(Effect::instant("GE_Other").add("Health", 1.0));
    assert!(
        matches!(client.remote_mut().adopt_definition(second, &other), Err(InsertError::Damaged(_))),
        "a number has one meaning"
    );
}
