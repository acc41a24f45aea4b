//! Combat state: a rotation with totals computed by hand, the facts of each step, held inputs, and the chain of causes
//! from a death to the input press.

use crate::kit::world::World;
use ugas_core::{
    AbilityGrant, AbilityId, CastStep, CauseWhat, ControllerId, FactKind, GrantId, InputId, Op, Outcome, Refusal,
    Rules, RulesBuilder, Target, Which,
};
use ugas_doc::{
    Ability, AbilityTask, Attribute, AttributeSet, Cast, Combat, CombatRule, Effect, Modify, ModifyOperation,
};

fn vitals() -> AttributeSet {
    AttributeSet::new("Vitals").with(Attribute::new("Health", 100_000.0).min(0.0))
}

fn damage(effect: Effect, amount: f64) -> Effect {
    Effect { combat: Some(Combat::default()), ..effect.add("Health", -amount) }
}

fn at_target(effect: &str) -> AbilityTask {
    AbilityTask::new("ApplyEffectToTarget").param("EffectClass", effect)
}

fn grant(w: &mut World, who: ControllerId, ability: &str, input: InputId) -> GrantId {
    let ability = w.rules.ability(ability).unwrap();
    match w.sim.run(Op::Grant { who, grant: AbilityGrant { ability, level: 1, input: input.some() } }).unwrap() {
        Outcome::Granted(id) => id,
        other => panic!("{other:?}"),
    }
}

fn activate(w: &mut World, who: ControllerId, ability: &str, at: ControllerId) -> Result<(), Refusal> {
    let which = Which::Ability(w.rules.ability(ability).unwrap());
    w.sim.run(Op::Activate { who, which, target: Target::Controller(at) }).map(|_| ())
}

fn mage() -> RulesBuilder {
    Rules::builder()
        .add(vitals())
        .add(damage(Effect::instant("GE_Nova"), 300.0))
        .add(damage(Effect::instant("GE_Bolt"), 100.0))
        .add(damage(Effect::lasting("GE_Dot", 18.0).every(3.0), 40.0))
        .add(Ability { on_tick: vec![at_target("GE_Nova")], ..Ability::new("GA_Nova").gcd(1.5).charges(1, 12.0) })
        .add(Ability { on_tick: vec![at_target("GE_Dot")], ..Ability::new("GA_Dot").gcd(1.5).charges(1, 18.0) })
        .add(Ability { on_tick: vec![at_target("GE_Bolt")], ..Ability::new("GA_Bolt").gcd(1.5).cast(2.5, 1) })
}

/// By hand, trying Nova, Dot, Bolt in this order every half second: Nova at 0, 13, 26, 39 and 53 (5 × 300); Dot at 1.5,
/// 19.5, 37.5 and 57 (6 + 6 + 6 + 1 ticks of 40); Bolts end at 5.5, 8, 10.5, 13, 17, 19.5, 23.5, 26, 30, 32.5, 35, 37.5,
/// 43, 45.5, 48, 50.5, 53 and 57 (18 × 100).
#[test]
fn a_rotation_of_sixty_seconds_deals_the_damage_computed_by_hand() {
    let mut w = World::new(mage());
    let (hero, dummy) = (w.spawn("Vitals"), w.spawn("Vitals"));
    let list = ["GA_Nova", "GA_Dot", "GA_Bolt"];
    for ability in list {
        grant(&mut w, hero, ability, InputId::NONE);
    }
    w.facts();
    let mut used = vec![Vec::new(); 3];
    for step in 0..=120 {
        let at = step as f64 / 2.0;
        w.to(at);
        for (i, ability) in list.iter().enumerate() {
            if activate(&mut w, hero, ability, dummy).is_ok() {
                used[i].push(at);
            }
        }
    }
    assert_eq!(used[0], [0.0, 13.0, 26.0, 39.0, 53.0]);
    assert_eq!(used[1], [1.5, 19.5, 37.5, 57.0]);
    assert_eq!(used[2].len(), 19, "the last one is under way");
    assert_eq!(w.get(dummy, "Health"), 100_000.0 - (5.0 * 300.0 + 19.0 * 40.0 + 18.0 * 100.0));
    let facts = w.facts();
    let dealt = facts.iter().filter_map(|f| match f.kind {
        FactKind::Damage { amount, credit, .. } if credit == hero => Some(amount),
        _ => None,
    });
    assert_eq!(dealt.sum::<f64>(), 4060.0);
}

#[test]
fn each_change_of_combat_state_emits_a_fact() {
    let mut w = World::new(mage().add(Ability::new("GA_Ray").gcd(1.0).charges(3, 9.0).cast(2.0, 2)));
    let hero = w.spawn("Vitals");
    let ray = grant(&mut w, hero, "GA_Ray", InputId::NONE);
    let which = Which::Grant(ray);
    activate(&mut w, hero, "GA_Ray", hero).unwrap();
    w.to(1.5);
    w.sim.run(Op::Cancel { who: hero, which }).unwrap();
    activate(&mut w, hero, "GA_Ray", hero).unwrap();
    w.to(2.0);
    w.sim.run(Op::Interrupt { who: hero, which: None }).unwrap();
    w.to(9.0);
    w.sim.run(Op::Revoke { who: hero, which }).unwrap();
    let facts = w.facts();
    let count = |test: &dyn Fn(&FactKind) -> bool| facts.iter().filter(|f| test(&f.kind)).count();
    let step = |s: CastStep| count(&|k| matches!(k, FactKind::Cast { step, .. } if *step == s));
    assert_eq!(count(&|k| matches!(k, FactKind::Granted { .. })), 1);
    assert_eq!(count(&|k| matches!(k, FactKind::Revoked { .. })), 1);
    assert_eq!((step(CastStep::Started), step(CastStep::Tick)), (2, 1));
    assert_eq!((step(CastStep::Cancelled), step(CastStep::Interrupted)), (1, 1));
    assert_eq!(count(&|k| matches!(k, FactKind::AbilityEnded { cancelled: true, .. })), 2);
    assert_eq!(count(&|k| matches!(k, FactKind::AbilityEnded { interrupted: true, .. })), 1);
    assert_eq!(count(&|k| matches!(k, FactKind::GlobalCooldown { running: true, .. })), 2);
    assert_eq!(count(&|k| matches!(k, FactKind::GlobalCooldown { running: false, .. })), 2);
    assert_eq!(count(&|k| matches!(k, FactKind::Charges { .. })), 3);
}

// covers: OWN-03
#[test]
fn the_causes_of_a_death_include_the_input_press() {
    let mut w = World::new(
        mage()
            .add(damage(Effect::instant("GE_Kill"), 1e6))
            .add(Ability { on_tick: vec![at_target("GE_Kill")], ..Ability::new("GA_Kill") }),
    );
    let (hero, foe) = (w.spawn("Vitals"), w.spawn("Vitals"));
    let fire = InputId(7);
    grant(&mut w, hero, "GA_Kill", fire);
    w.sim.run(Op::Press { who: hero, input: fire, target: Target::Controller(foe) }).unwrap();
    let facts = w.facts();
    let died = facts.iter().find(|f| matches!(f.kind, FactKind::Died { .. })).unwrap();
    let chain = w.sim.chain(died.link);
    assert!(chain.len() <= 6, "{chain:?}");
    assert!(chain.iter().any(|l| l.what == CauseWhat::Pressed(fire) && l.who == hero), "{chain:?}");
}

#[test]
fn a_held_input_is_retried_until_it_activates_or_is_released() {
    let held = |name: &str| Ability { held_activation: true, ..Ability::new(name).gcd(1.0) };
    let mut w = World::new(mage().add(held("GA_Held")).add(Ability::new("GA_Tap").gcd(1.0)));
    let hero = w.spawn("Vitals");
    let (hold, tap) = (InputId(1), InputId(2));
    grant(&mut w, hero, "GA_Held", hold);
    grant(&mut w, hero, "GA_Tap", tap);
    let press = |w: &mut World, input| w.sim.run(Op::Press { who: hero, input, target: Target::None }).unwrap();
    let used = |w: &mut World| {
        let id = |name: &str| w.rules.ability(name).unwrap();
        let (a, b): (AbilityId, AbilityId) = (id("GA_Held"), id("GA_Tap"));
        let facts = w.facts();
        [a, b].map(|want| {
            facts
                .iter()
                .filter(|f| matches!(f.kind, FactKind::AbilityActivated { ability, .. } if ability == want))
                .count()
        })
    };
    press(&mut w, tap);
    w.to(0.25);
    let Outcome::Pressed { activated: None, refused: Some(Refusal::GlobalCooldown { .. }) } = press(&mut w, hold)
    else {
        panic!()
    };
    press(&mut w, tap);
    assert_eq!(used(&mut w), [0, 1]);
    w.to(0.9);
    assert_eq!(used(&mut w), [0, 0]);
    w.to(1.1);
    assert_eq!(used(&mut w), [1, 0]);
    w.to(3.0);
    assert_eq!(used(&mut w), [0, 0], "once is enough");
    press(&mut w, tap);
    press(&mut w, hold);
    w.sim.run(Op::Release { who: hero, input: hold }).unwrap();
    w.to(5.0);
    assert_eq!(used(&mut w), [0, 1]);
}

fn rejected(builder: RulesBuilder) -> Vec<&'static str> {
    builder.build().unwrap_err().issues.iter().map(|i| i.code).collect()
}

// covers: SAI-1.1-07
#[test]
fn four_combat_values_do_not_accept_a_condition() {
    for on in ["MaxCharges", "ChargeCost", "ResourceCost", "ChargesPerCooldown"] {
        let modify = Some(Modify { operation: ModifyOperation::Add, value: Some(1.0), factor: None });
        let rule = CombatRule { on: on.into(), modify, ..CombatRule::default() };
        let when = CombatRule { when: Some("Health > 10".into()), ..rule.clone() };
        let effect = |rule| Effect { rules: vec![rule], ..Effect::infinite("GE_X") };
        assert!(Rules::builder().add(vitals()).add(effect(rule)).build().is_ok());
        assert_eq!(rejected(Rules::builder().add(vitals()).add(effect(when))), ["conditional-value"], "{on}");
    }
}

// covers: SAI-2.5-03
#[test]
fn a_cast_has_at_least_one_tick() {
    let cast = Cast { length: 2.0, ticks: Some(0), ..Cast::default() };
    assert_eq!(rejected(Rules::builder().add(vitals()).add(Ability::new("GA_None").cast_as(cast))), ["bad-cast"]);
}
