//! The castable status of abilities is cached. After every event of random fights, it equals a fresh evaluation.

use crate::kit::Rng;
use crate::kit::world::World;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, Castable, ControllerId, EffectFilter, EffectKey, FactKind, Facts, GrantId, Op, ResourceSpec,
    ResourceStep, Rules, Sim, SimTime, SpawnSpec, Spec, Target, Which,
};
use ugas_doc::{
    Ability, Attribute, AttributeSet, Charges, CombatRule, Effect, Modify, ModifyOperation, Resource, Stat, StatTable,
};

const ABILITIES: [&str; 7] = ["GA_Spark", "GA_Strike", "GA_Both", "GA_Calc", "GA_Rich", "GA_Charged", "GA_Stanced"];
const EFFECTS: [&str; 9] =
    ["GE_Wise", "GE_Dull", "GE_Free", "GE_Dear", "GE_Silence", "GE_Stance", "GE_More", "GE_Drain", "GE_Haste"];

fn cost(name: &str, parts: &[(&str, f64)]) -> Effect {
    parts.iter().fold(Effect::instant(name), |effect, (attribute, amount)| effect.add(*attribute, -amount))
}

fn priced(name: &str, factor: f64) -> Effect {
    let modify = Modify { operation: ModifyOperation::Multiply, value: None, factor: Some(factor) };
    let rule = CombatRule { on: "ResourceCost".into(), modify: Some(modify), ..CombatRule::default() };
    Effect { rules: vec![rule], ..Effect::lasting(name, 2.0) }
}

fn ability(name: &str, cost: &str) -> Ability {
    Ability { cost: Some(cost.into()), ..Ability::new(name) }
}

fn rules() -> Arc<Rules> {
    let stats = StatTable::new("Stats")
        .with(Stat::new("Stat.MaxMana", 100.0))
        .with(Stat::new("Stat.Thrift", 1.0).scales("ResourceCost"));
    let cooldown = Effect::lasting("GE_Cooldown", 1.5).grants("Cooldown.Strike");
    Rules::builder()
        .add(stats)
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0).min(0.0)))
        .add(Resource::new("Mana", 40.0).max(80.0).max_stat("Stat.MaxMana").effect("GE_Regen"))
        .add(Resource::new("Energy", 50.0).max(60.0).min(5.0).on_changed("GE_Tick"))
        .add(Effect::infinite("GE_Regen").every(0.7).add("Mana", 4.0))
        .add(Effect::instant("GE_Tick").add("Health", -1.0))
        .add(cost("GE_SparkCost", &[("Mana", 30.0)]))
        .add(cost("GE_StrikeCost", &[("Energy", 20.0)]))
        .add(cost("GE_BothCost", &[("Mana", 10.0), ("Energy", 10.0)]))
        .add(Effect::instant("GE_CalcCost").execute("Exec_Cost"))
        .calc_fn("Exec_Cost", [], |cx| cx.add("Mana", -12.0))
        .add(cooldown)
        .add(Effect::lasting("GE_Wise", 1.0).add("Stat.MaxMana", 60.0))
        .add(Effect::infinite("GE_Dull").multiply("Stat.MaxMana", -0.8))
        .add(Effect::lasting("GE_Haste", 3.0).multiply("Stat.Thrift", -0.5))
        .add(priced("GE_Free", 0.0))
        .add(priced("GE_Dear", 3.0))
        .add(Effect::lasting("GE_Silence", 0.8).grants("State.Silenced"))
        .add(Effect::infinite("GE_Stance").grants("State.Stance"))
        .add(Effect::infinite("GE_More").add("MaxEnergy", 30.0))
        .add(Effect::lasting("GE_Drain", 2.0).every(0.5).add("Energy", -7.0))
        .add(Effect::instant("GE_Touch"))
        .add(ability("GA_Spark", "GE_SparkCost").blocked("State.Silenced").gcd(0.5))
        .add(Ability { cooldown: Some("GE_Cooldown".into()), ..ability("GA_Strike", "GE_StrikeCost") })
        .add(ability("GA_Both", "GE_BothCost"))
        .add(ability("GA_Calc", "GE_CalcCost"))
        .add(Ability { activation_condition: Some("Mana > 25 && Energy > 10".into()), ..Ability::new("GA_Rich") })
        .add(Ability {
            charges: Some(Charges { max: 2, cooldown: 1.0, ..Charges::default() }),
            ..ability("GA_Charged", "GE_SparkCost")
        })
        .add(ability("GA_Stanced", "GE_BothCost").requires("State.Stance"))
        .build()
        .unwrap_or_else(|e| panic!("{e}"))
}

/// A fighter with its grants and the effects that were applied to it.
struct Fighter {
    who: ControllerId,
    grants: Vec<GrantId>,
    active: Vec<EffectKey>,
}

fn spawn(w: &mut World, n: &mut Rng) -> Fighter {
    let mut spec = SpawnSpec::sets([w.set("Vitals")]);
    if n.below(3) > 0 {
        spec = spec.stats([w.set("Stats")]);
    }
    for name in ["Mana", "Energy"] {
        if n.below(4) > 0 {
            let initial = (n.below(2) == 0).then(|| n.below(90) as f64);
            spec = spec.resource(ResourceSpec { initial, ..ResourceSpec::new(w.set(name)) });
        }
    }
    let who = w.sim.spawn(spec).unwrap();
    let grant =
        |w: &mut World, name: &&str| w.sim.grant(who, AbilityGrant::new(w.rules.ability(name).unwrap())).unwrap();
    Fighter { who, grants: ABILITIES.iter().map(|name| grant(w, name)).collect(), active: Vec::new() }
}

/// One random event of a fight. Refusals are part of the fight.
fn event(w: &mut World, n: &mut Rng, fighters: &mut [Fighter]) {
    let (one, other) = (n.below(fighters.len()), n.below(fighters.len()));
    let source = fighters[other].who;
    let Fighter { who, grants, active } = &mut fighters[one];
    let who = *who;
    let resource = *n.pick(&["Mana", "Energy"]);
    match n.below(12) {
        0..=3 => {
            let _ = w.sim.activate_which(who, Which::Grant(*n.pick(grants)), Target::None);
        }
        4..=5 => {
            let effect = w.effect(n.pick::<&str>(&EFFECTS));
            active.extend(w.sim.apply(&Spec::new(effect, who).from(source)));
        }
        6 => {
            if let Some(key) = active.pop() {
                let _ = w.sim.run(Op::Remove { key, stacks: None });
            }
        }
        7 => {
            let attribute = w.attr(resource);
            let by = n.below(80) as f64 - 40.0;
            let op =
                Op::ModifyResource { who, attribute, by, source: Some(source), tags: vec![], plain: n.below(2) == 0 };
            let _ = w.sim.run(op);
        }
        8 => {
            let (set, force) = (w.set(resource), n.below(2) == 0);
            let _ = w.sim.run(Op::RemoveSet { who, set, force });
        }
        9 => {
            let set = w.set(resource);
            let _ = w.sim.run(Op::AddSet { who, set });
        }
        10 => {
            let filter = EffectFilter { effect: w.rules.find_effect("GE_Cooldown"), ..EffectFilter::default() };
            w.sim.run(Op::RemoveMatching { who, filter }).unwrap();
        }
        _ => {
            let until = w.sim.now() + SimTime::seconds(n.below(20) as f64 / 16.0);
            w.sim.advance_to(until);
        }
    }
}

/// Returns the status that is computed anew, because the row changed in nothing but its number of applications.
fn fresh(sim: &Sim, touch: ugas_core::EffectId, who: ControllerId, grant: GrantId) -> Castable {
    let mut sim = sim.clone();
    sim.apply(&Spec::new(touch, who)).unwrap();
    sim.castable(who, grant).unwrap()
}

// covers: SAI-2.2-06
#[test]
fn the_castable_status_equals_a_fresh_evaluation_after_every_event_of_random_fights() {
    const EVENTS: u64 = 30;
    let rules = rules();
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let soak = number("UGAS_SOAK") == Some(1);
    let (from, seeds) = match soak {
        true => (number("UGAS_SOAK_FROM").unwrap_or(0), number("UGAS_SOAK_SEEDS").unwrap_or(10_000)),
        false => (0, 10_000),
    };
    let (mut refused, mut allowed) = (0u64, 0u64);
    let (mut removals, mut moved_bounds) = (0u64, 0u64);
    for seed in from..from + seeds {
        let mut n = Rng(seed + 1);
        let mut w = World::on(rules.clone(), seed);
        let (touch, bound) = (w.effect("GE_Touch"), w.attr("MaxMana"));
        let mut fighters: Vec<Fighter> = (0..2).map(|_| spawn(&mut w, &mut n)).collect();
        for at in 0..EVENTS {
            event(&mut w, &mut n, &mut fighters);
            let mut facts = Facts::default();
            w.sim.take_facts(&mut facts);
            for fact in &facts.list {
                match fact.kind {
                    FactKind::Resource { step: ResourceStep::Removed, .. } => removals += 1,
                    FactKind::AttributeChanged { attribute, .. } if attribute == bound => moved_bounds += 1,
                    _ => {}
                }
            }
            for Fighter { who, grants, .. } in &fighters {
                for (name, &grant) in ABILITIES.iter().zip(grants) {
                    let (cached, anew) = (w.sim.castable(*who, grant).unwrap(), fresh(&w.sim, touch, *who, grant));
                    assert_eq!(cached, anew, "seed {seed}, event {at}: {name} of {who:?}");
                    *(if cached.reason.is_some() { &mut refused } else { &mut allowed }) += 1;
                    // A refused attempt changes nothing and caches the status, which the next event must invalidate.
                    if cached.reason.is_some() {
                        w.sim.activate_which(*who, Which::Grant(grant), Target::None).unwrap_err();
                    }
                }
            }
        }
    }
    assert!(refused > seeds * 20 && allowed > seeds * 20, "{refused} refused, {allowed} allowed");
    println!("{removals} resources removed, {moved_bounds} bounds moved");
    assert!(removals > seeds / 2 && moved_bounds > seeds / 2, "{removals} removed, {moved_bounds} bounds moved");
    if soak {
        let to = from + seeds;
        println!(
            "soak: name=the_castable_status_equals_a_fresh_evaluation_after_every_event_of_random_fights \
             seeds={from}..{to} cases={}",
            seeds * EVENTS
        );
    }
}
