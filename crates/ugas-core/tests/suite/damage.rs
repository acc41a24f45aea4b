//! The damage pipeline: rules of source and target, mitigation, absorbing attributes, overkill, kill credit and hooks.
//! An effect without `Combat` does not use the pipeline.

use crate::kit::world::World;
use ugas_core::{
    ActorId, ControllerId, FactKind, Op, Read, Refusal, Restriction, Rules, RulesBuilder, SpawnSpec, Spec,
};
use ugas_doc::{
    Absorb, Attribute, AttributeSet, Combat, CombatKind, CombatRule, CombatStyle, Effect, Modify, ModifyOperation,
    TagRegistry,
};

fn vitals() -> AttributeSet {
    let pool = |name: &str, value: f64, order: i32| Attribute {
        absorb: Some(Absorb { before: "Health".into(), order }),
        ..Attribute::new(name, value).min(0.0)
    };
    AttributeSet::new("Vitals")
        .with(Attribute::new("MaxHealth", 100.0))
        .with(Attribute::new("Health", 100.0).min(0.0).max("MaxHealth"))
        .with(Attribute::new("Armor", 50.0))
        .with(pool("Ward", 0.0, 20))
        .with(pool("Shield", 0.0, 10))
}

fn combat(kind: CombatKind, style: CombatStyle, school: &str) -> Option<Combat> {
    Some(Combat { kind, style, school: Some(school.into()), mitigation: None })
}

fn hit(name: &str, damage: f64) -> Effect {
    let fire = combat(CombatKind::Damage, CombatStyle::Direct, "DamageType.Fire");
    Effect { combat: fire, ..Effect::instant(name).add("Health", -damage) }
}

fn factor(on: &str, factor: f64, when: Option<&str>) -> CombatRule {
    let modify = Modify { operation: ModifyOperation::Multiply, value: None, factor: Some(factor) };
    CombatRule { on: on.into(), modify: Some(modify), when: when.map(Into::into), ..CombatRule::default() }
}

fn ruled(name: &str, rule: CombatRule) -> Effect {
    Effect { rules: vec![rule], ..Effect::infinite(name) }
}

fn restrict(name: &str, on: &str, when: Option<&str>) -> Effect {
    let when = when.map(Into::into);
    ruled(name, CombatRule { on: on.into(), restrict: true, when, ..CombatRule::default() })
}

fn builder() -> RulesBuilder {
    Rules::builder().add(vitals()).add(TagRegistry::new(["DamageType.Fire", "DamageType.Ice", "CrowdControl"]))
}

/// Amount, raw, absorbed, overkill and credit of each damage fact.
fn damage_facts(w: &mut World) -> Vec<(f64, f64, f64, f64, ControllerId)> {
    let damage_of = |f: FactKind| match f {
        FactKind::Damage { amount, raw, absorbed, overkill, credit, .. } => {
            Some((amount, raw, absorbed, overkill, credit))
        }
        _ => None,
    };
    w.facts().into_iter().filter_map(|f| damage_of(f.kind)).collect()
}

fn from(w: &mut World, effect: &str, source: ControllerId, target: ControllerId) -> Result<(), Refusal> {
    let effect = w.sim.rules().effect(effect).unwrap();
    w.sim.apply(&Spec::new(effect, target).from(source)).map(|_| ())
}

// covers: PEER-18
#[test]
fn damage_passes_a_reduction_then_a_shield_then_health() {
    let mut w = World::new(
        builder()
            .add(hit("GE_Fire", 80.0))
            .add(ruled("GE_Skin", factor("DamageTaken", 0.8, None)))
            .add(Effect::instant("GE_Shield").add("Shield", 30.0)),
    );
    let who = w.spawn("Vitals");
    w.apply("GE_Skin", who);
    w.apply("GE_Shield", who);
    w.facts();
    w.apply("GE_Fire", who);
    assert_eq!((w.get(who, "Shield"), w.get(who, "Health")), (0.0, 66.0));
    assert_eq!(damage_facts(&mut w), [(34.0, 80.0, 30.0, 0.0, ControllerId::NONE)]);
}

#[test]
fn pools_are_drained_in_order_and_overkill_is_reported() {
    let mut w = World::new(
        builder()
            .add(hit("GE_Hit", 25.0))
            .add(hit("GE_Doom", 500.0))
            .add(Effect::instant("GE_Pools").add("Shield", 10.0).add("Ward", 10.0)),
    );
    let who = w.spawn("Vitals");
    w.apply("GE_Pools", who);
    w.facts();
    w.apply("GE_Hit", who);
    assert_eq!((w.get(who, "Shield"), w.get(who, "Ward"), w.get(who, "Health")), (0.0, 0.0, 95.0));
    assert_eq!(damage_facts(&mut w)[0].2, 20.0);
    w.apply("GE_Doom", who);
    let facts = w.facts();
    let kinds: Vec<&str> = facts.iter().map(|f| f.kind.name()).collect();
    assert_eq!(kinds, ["AttributeChanged", "Died", "Damage", "EffectApplied"]);
    let FactKind::Damage { amount, overkill, .. } = facts[2].kind else { panic!() };
    assert_eq!((amount, overkill), (95.0, 405.0));
}

#[test]
fn damage_done_rules_apply_before_mitigation() {
    let mitigated = Combat { mitigation: Some("Calc_Armor".into()), ..Combat::default() };
    let hit = Effect { combat: Some(mitigated), ..Effect::instant("GE_Hit").add("Health", -20.0) };
    let mut w = World::new(builder().add(hit).add(ruled("GE_Rage", factor("DamageDone", 1.5, None))).calc_fn(
        "Calc_Armor",
        [Read::target("Armor")],
        |cx| {
            let left = cx.amount() * 100.0 / (100.0 + cx.target("Armor"));
            cx.give(left);
        },
    ));
    let (a, b) = (w.spawn("Vitals"), w.spawn("Vitals"));
    w.apply("GE_Rage", a);
    from(&mut w, "GE_Hit", a, b).unwrap();
    assert_eq!(w.get(b, "Health"), 80.0);
    assert_eq!(w.get(a, "Health"), 100.0);
}

// covers: SAI-1.2-02 SAI-1.2-03 SAI-1.2-04
#[test]
fn direct_fire_damage_is_reduced_and_nothing_else() {
    let ice = combat(CombatKind::Damage, CombatStyle::Direct, "DamageType.Ice");
    let burn = combat(CombatKind::Damage, CombatStyle::Periodic, "DamageType.Fire");
    let cauterise = combat(CombatKind::Healing, CombatStyle::Direct, "DamageType.Fire");
    let set = AttributeSet::new("Big").with(Attribute::new("Life", 1000.0).min(0.0));
    let write = |name: &str, v: f64, combat| Effect { combat, ..Effect::instant(name).add("Life", v) };
    let fire = combat(CombatKind::Damage, CombatStyle::Direct, "DamageType.Fire");
    let when = Some("has_tag(event, DamageType.Fire) && event.Direct && event.Amount > 50");
    let mut w = World::new(
        builder()
            .add(set)
            .add(write("GE_Fire", -100.0, fire.clone()))
            .add(write("GE_Spark", -10.0, fire))
            .add(write("GE_Ice", -100.0, ice))
            .add(write("GE_Burn", -100.0, burn))
            .add(write("GE_Cauterise", 100.0, cauterise))
            .add(ruled("GE_Skin", factor("DamageTaken", 0.8, when)))
            .add(ruled("GE_Weak", factor("DamageTaken", 1.5, None))),
    );
    let who = w.spawn("Big");
    let lost = |w: &mut World, effect: &str| {
        let before = w.get(who, "Life");
        w.apply(effect, who);
        before - w.get(who, "Life")
    };
    let skin = w.apply("GE_Skin", who);
    let list = ["GE_Fire", "GE_Spark", "GE_Ice", "GE_Burn", "GE_Cauterise"];
    assert_eq!(list.map(|e| lost(&mut w, e)), [80.0, 10.0, 100.0, 100.0, -100.0]);
    let weak = w.apply("GE_Weak", who);
    assert_eq!(lost(&mut w, "GE_Fire"), 120.0);
    w.sim.remove(weak).unwrap();
    w.sim.remove(skin).unwrap();
    assert_eq!(lost(&mut w, "GE_Fire"), 100.0);
}

// covers: SAI-1.3-01 SAI-1.3-03
#[test]
fn a_restriction_blocks_only_its_own_kind_of_event() {
    let heal = Effect {
        combat: combat(CombatKind::Healing, CombatStyle::Direct, "DamageType.Ice"),
        ..Effect::instant("GE_Heal").add("Health", 10.0)
    };
    let mut w = World::new(
        builder()
            .add(hit("GE_Fire", 40.0))
            .add(heal)
            .add(Effect::infinite("GE_Stun").tagged("CrowdControl"))
            .add(Effect::infinite("GE_Blessing").add("Armor", 5.0))
            .add(restrict("GE_NoFire", "DamageTaken", Some("has_tag(event, DamageType.Fire)")))
            .add(restrict("GE_NoIce", "DamageTaken", Some("has_tag(event, DamageType.Ice)")))
            .add(restrict("GE_Pacifist", "DamageDone", None))
            .add(restrict("GE_Free", "BuffApplied", Some("has_tag(event, CrowdControl)"))),
    );
    let (a, b) = (w.spawn("Vitals"), w.spawn("Vitals"));
    w.apply("GE_NoIce", b);
    assert_eq!(from(&mut w, "GE_Fire", a, b), Ok(()));
    let fireproof = w.apply("GE_NoFire", b);
    let before = w.sim.row_hash(b).unwrap();
    assert_eq!(from(&mut w, "GE_Fire", a, b), Err(Refusal::Restricted { by: Restriction::CombatRule }));
    assert_eq!(w.sim.row_hash(b).unwrap(), before);
    assert_eq!(from(&mut w, "GE_Heal", a, b), Ok(()));
    w.sim.remove(fireproof).unwrap();
    w.apply("GE_Pacifist", a);
    assert_eq!(from(&mut w, "GE_Fire", a, b), Err(Refusal::Restricted { by: Restriction::CombatRule }));
    assert_eq!(from(&mut w, "GE_Fire", b, a), Ok(()));
    let free = w.apply("GE_Free", b);
    assert_eq!(from(&mut w, "GE_Stun", a, b), Err(Refusal::Restricted { by: Restriction::CombatRule }));
    assert_eq!(from(&mut w, "GE_Blessing", a, b), Ok(()));
    w.sim.remove(free).unwrap();
    assert_eq!(from(&mut w, "GE_Stun", a, b), Ok(()));
}

#[test]
fn an_after_damage_hook_can_heal_the_source() {
    let heal = Effect::instant("GE_Leech").add("Health", ugas_doc::Magnitude::set_by_caller("Amount"));
    let mut w = World::new(builder().add(hit("GE_Fire", 40.0)).add(hit("GE_Scratch", 30.0)).add(heal).after_damage(
        "Lifesteal",
        |cx| {
            let (effect, key) = (cx.rules().effect("GE_Leech").unwrap(), cx.rules().key("Amount").unwrap());
            if cx.source != ControllerId::NONE {
                cx.then(Spec::new(effect, cx.source).from(cx.source).set(key, cx.amount * 0.5));
            }
        },
    ));
    let (a, b) = (w.spawn("Vitals"), w.spawn("Vitals"));
    w.apply("GE_Scratch", a);
    from(&mut w, "GE_Fire", a, b).unwrap();
    assert_eq!((w.get(a, "Health"), w.get(b, "Health")), (90.0, 60.0));
}

#[test]
fn damage_dealt_by_a_pet_is_credited_to_its_owner() {
    let mut w = World::new(builder().add(hit("GE_Fire", 40.0)));
    let set = w.sim.rules().set("Vitals").unwrap();
    let mut spawn = |owner: u64, avatar: u64| {
        let (owner, avatar) = (Some(ActorId(owner)), Some(ActorId(avatar)));
        let spec = SpawnSpec { owner, avatar, ..SpawnSpec::sets([set]) };
        w.sim.spawn(spec).unwrap()
    };
    let (master, pet, foe) = (spawn(1, 1), spawn(1, 2), spawn(3, 3));
    w.facts();
    from(&mut w, "GE_Fire", pet, foe).unwrap();
    from(&mut w, "GE_Fire", master, foe).unwrap();
    let credits: Vec<ControllerId> = damage_facts(&mut w).into_iter().map(|d| d.4).collect();
    assert_eq!(credits, [master, master]);
    // Credit goes to the controller with the lowest id whose avatar owns the pet.
    let credit = |w: &mut World| {
        from(w, "GE_Fire", pet, foe).unwrap();
        damage_facts(w)[0].4
    };
    let heir = w.sim.spawn(SpawnSpec { owner: Some(ActorId(4)), ..SpawnSpec::sets([set]) }).unwrap();
    w.sim.run(Op::Possess { who: heir, avatar: Some(ActorId(1)) }).unwrap();
    assert_eq!(credit(&mut w), master);
    w.sim.run(Op::Possess { who: master, avatar: None }).unwrap();
    assert_eq!(credit(&mut w), heir);
    let portable = w.sim.extract(heir).unwrap();
    assert_eq!(credit(&mut w), pet);
    let back = w.sim.insert(&portable).unwrap();
    assert_eq!(credit(&mut w), back);
}

#[test]
fn an_effect_without_combat_ignores_damage_rules_and_pools() {
    let mut w = World::new(
        builder()
            .add(Effect::instant("GE_Plain").add("Health", -10.0))
            .add(ruled("GE_Skin", factor("DamageTaken", 0.5, None)))
            .add(restrict("GE_Never", "DamageTaken", None))
            .add(Effect::instant("GE_Shield").add("Shield", 30.0)),
    );
    let who = w.spawn("Vitals");
    for e in ["GE_Skin", "GE_Never", "GE_Shield"] {
        w.apply(e, who);
    }
    w.facts();
    w.apply("GE_Plain", who);
    assert_eq!((w.get(who, "Health"), w.get(who, "Shield")), (90.0, 30.0));
    assert!(damage_facts(&mut w).is_empty());
}

#[test]
fn conditions_on_the_event_are_evaluated_once_per_calculation() {
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = asked.clone();
    let mitigated_hit = |name: &str, damage: f64| {
        let mut hit = hit(name, damage);
        hit.combat.as_mut().unwrap().mitigation = Some("Mitigate".to_owned());
        hit
    };
    // No factor for a small hit, a factor for a large one, evaluated at the hit.
    let thick = factor("DamageTaken", 0.5, Some("event.Amount >= 50 && target.Armor >= 50"));
    let b = builder()
        .add(mitigated_hit("GE_Small", 10.0))
        .add(mitigated_hit("GE_Large", 60.0))
        .add(ruled("GE_Thick", thick))
        .add(Effect::instant("GE_Rust").add("Armor", -1.0))
        .calc_fn("Mitigate", [], move |cx| {
            noted.lock().unwrap().push(cx.amount());
            let amount = cx.amount();
            cx.give(amount);
        });
    let mut w = World::new(b);
    let (a, t) = (w.spawn("Vitals"), w.spawn("Vitals"));
    w.apply("GE_Thick", t);
    for effect in ["GE_Small", "GE_Large", "GE_Rust", "GE_Large"] {
        from(&mut w, effect, a, t).unwrap();
    }
    // 10 as it is, 60 halved, 60 as it is since the armour fell: three calculations, three calls.
    assert_eq!(*asked.lock().unwrap(), [10.0, 30.0, 60.0]);
    assert_eq!(w.get(t, "Health"), 0.0);
}
