//! Active effects after their application: grants, avatars, queries and changes.

use crate::kit::world::World;
use ugas_core::{
    ActorId, Anchor, EffectChange, EffectFilter, EffectUpdate, FactKind, Op, Outcome, ReadError, Refusal, RemoveReason,
    Rules, SimTime, SpawnSpec,
};
use ugas_doc::{Ability, Attribute, AttributeSet, Effect, GrantedAbilityEntry, Magnitude, TagRegistry};

fn vitals() -> AttributeSet {
    AttributeSet::new("Vitals")
        .with(Attribute::new("Health", 100.0).min(0.0))
        .with(Attribute::new("AttackPower", 10.0))
        .with(Attribute::new("MoveSpeed", 5.0))
}

// Grants --------------------------------------------------------------------------------------------------------

fn sword(name: &str, stays: bool) -> Effect {
    let mut e = Effect::infinite(name).add("AttackPower", 5.0);
    let input_id = Some("Ability.Weapon.Special".to_owned());
    e.granted_abilities = vec![GrantedAbilityEntry {
        input_id,
        remove_on_effect_removal: !stays,
        ..GrantedAbilityEntry::new("GA_FlameStrike")
    }];
    e
}

fn armory() -> World {
    World::new(
        Rules::builder()
            .add(vitals())
            .add(Ability::new("GA_FlameStrike"))
            .add(sword("GE_FireSword_Equipped", false))
            .add(sword("GE_FireDagger_Equipped", false))
            .add(sword("GE_Tome_Read", true)),
    )
}

// covers: UGAS-9.8-01
#[test]
fn an_effect_grants_an_ability_while_it_is_active() {
    let mut w = armory();
    let who = w.spawn("Vitals");
    let key = w.apply("GE_FireSword_Equipped", who);
    let grants = w.sim.grants(who).unwrap();
    assert_eq!(grants.len(), 1);
    let g = grants[0];
    assert_eq!(Some(g.ability), w.rules.find_ability("GA_FlameStrike"));
    assert_eq!((g.level, g.input, g.by), (1, w.rules.find_input("Ability.Weapon.Special"), Some(key)));
    w.sim.remove(key).unwrap();
    assert!(w.sim.grants(who).unwrap().is_empty());
}

#[test]
fn a_permanent_grant_outlives_its_effect() {
    let mut w = armory();
    let who = w.spawn("Vitals");
    let key = w.apply("GE_Tome_Read", who);
    w.log();
    w.sim.remove(key).unwrap();
    let grants = w.sim.grants(who).unwrap();
    assert_eq!((grants.len(), grants[0].by), (1, None));
    assert!(!w.log().iter().any(|l| l.starts_with("revoked")));
}

// covers: UGAS-9.8-04
#[test]
fn two_effects_make_two_grants_and_each_removes_only_its_own() {
    let mut w = armory();
    let who = w.spawn("Vitals");
    let sword = w.apply("GE_FireSword_Equipped", who);
    let dagger = w.apply("GE_FireDagger_Equipped", who);
    let grants = w.sim.grants(who).unwrap();
    assert_eq!(grants.len(), 2);
    assert_ne!(grants[0].id, grants[1].id);
    w.sim.remove(sword).unwrap();
    let left = w.sim.grants(who).unwrap();
    assert_eq!((left.len(), left[0].by, left[0].id), (1, Some(dagger), grants[1].id));
}

// Avatars -------------------------------------------------------------------------------------------------------

// covers: UGAS-4.3-04
#[test]
fn a_location_bound_effect_ends_when_the_new_avatar_is_outside_its_area() {
    let mut area = Effect::infinite("GE_Sanctuary").add("MoveSpeed", 1.0).grants("State.Safe");
    area.bound_to_avatar_location = true;
    let free = Effect::infinite("GE_Free").add("AttackPower", 1.0);
    let mut w = World::new(Rules::builder().add(vitals()).add(area).add(free).avatar_validator(|cx| {
        let origin = cx.spec().extra.as_ref().and_then(|x| x.origin);
        match (origin, cx.target_anchor()) {
            (Some(o), Some(a)) => (0..3).map(|i| (o[i] - a.position[i]) * (o[i] - a.position[i])).sum::<f64>() <= 25.0,
            _ => false,
        }
    }));
    let (first, second, third) = (ActorId(1), ActorId(2), ActorId(3));
    let spec = SpawnSpec {
        owner: Some(first),
        anchor: Some(Anchor::at([0.0, 0.0, 0.0])),
        ..SpawnSpec::sets([w.set("Vitals")])
    };
    let who = w.sim.spawn(spec).unwrap();
    let bound = w.spec("GE_Sanctuary", who).origin([0.0, 0.0, 0.0]);
    let key = w.sim.apply(&bound).unwrap();
    w.apply("GE_Free", who);
    let possess = |w: &mut World, avatar, x| {
        w.sim.run(Op::Move { who, anchor: Some(Anchor::at([x, 0.0, 0.0])) }).unwrap();
        w.sim.run(Op::Possess { who, avatar: Some(avatar) }).unwrap();
    };
    possess(&mut w, second, 4.0);
    assert!(w.sim.effect(key).is_ok(), "still inside");
    w.facts();
    possess(&mut w, third, 40.0);
    assert_eq!(w.sim.effect(key), Err(ReadError::StaleHandle));
    assert_eq!((w.get(who, "MoveSpeed"), w.has(who, "State.Safe"), w.get(who, "AttackPower")), (5.0, false, 11.0));
    let facts = w.facts();
    let reason = FactKind::EffectRemoved { reason: RemoveReason::Avatar };
    assert!(facts.iter().any(|f| f.key == key && f.kind == reason));
    assert!(facts.iter().any(|f| f.kind == FactKind::Possessed { old: second, new: third }));
}

// Queries and changes -------------------------------------------------------------------------------------------

fn poisons() -> World {
    World::new(
        Rules::builder()
            .add(vitals())
            .add(TagRegistry::new(["Effect.Dot.Poison", "Effect.Dot.Fire", "State.Slow"]))
            .add(Effect::lasting("GE_Poison", 5.0).every(1.0).add("Health", -1.0).tagged("Effect.Dot.Poison"))
            .add(
                Effect::lasting("GE_Venom", 5.0)
                    .add("MoveSpeed", -1.0)
                    .tagged("Effect.Dot.Poison")
                    .grants("State.Slow"),
            )
            .add(Effect::lasting("GE_Fire", 5.0).every(1.0).add("Health", -1.0).tagged("Effect.Dot.Fire")),
    )
}

// covers: PEER-07
#[test]
fn active_effects_are_queried_and_changed_with_filters() {
    let mut w = poisons();
    let (boss, add, hero) = (w.spawn("Vitals"), w.spawn("Vitals"), w.spawn("Vitals"));
    let p1 = w.hit("GE_Poison", boss, hero);
    let v = w.hit("GE_Venom", boss, hero);
    let fire = w.hit("GE_Fire", boss, hero);
    let p2 = w.hit("GE_Poison", add, hero);
    let p3 = w.hit("GE_Poison", boss, hero);
    let filter = EffectFilter::default;
    let find = |w: &World, f: &EffectFilter| w.sim.query(hero, f).unwrap();
    let by_tag = EffectFilter { with_any_tag: vec![w.tag("Effect.Dot")], ..filter() };
    assert_eq!(find(&w, &by_tag), [p1, v, fire, p2, p3]);
    let by_granted = EffectFilter { with_any_tag: vec![w.tag("State.Slow")], ..filter() };
    assert_eq!(find(&w, &by_granted), [v]);
    let by_class = EffectFilter { effect: Some(w.effect("GE_Poison")), ..filter() };
    assert_eq!(find(&w, &by_class), [p1, p2, p3]);
    let by_source = EffectFilter { source: Some(add), ..filter() };
    assert_eq!(find(&w, &by_source), [p2]);
    let by_attribute = EffectFilter { modifies: Some(w.attr("MoveSpeed")), ..filter() };
    assert_eq!(find(&w, &by_attribute), [v]);
    // Extend all Poison from Boss by 2 s.
    w.to(1.0);
    w.facts();
    let from_boss = EffectFilter { with_any_tag: vec![w.tag("Effect.Dot.Poison")], source: Some(boss), ..filter() };
    let change = EffectUpdate::Extend(SimTime::seconds(2.0));
    let outcome = w.sim.run(Op::ChangeMatching { who: hero, filter: from_boss, change });
    assert_eq!(outcome, Ok(Outcome::Matched(3)));
    let facts = w.facts();
    let changed: Vec<_> = facts
        .iter()
        .map(|f| {
            assert!(matches!(f.kind, FactKind::EffectChanged { what: EffectChange::Duration, .. }), "{f:?}");
            f.key
        })
        .collect();
    assert_eq!(changed, [p1, v, p3]);
    let left = |w: &World, key| w.sim.effect(key).unwrap().remaining.unwrap();
    assert_eq!([p1, v, p3].map(|k| left(&w, k)), [SimTime::seconds(6.0); 3]);
    assert_eq!([fire, p2].map(|k| left(&w, k)), [SimTime::seconds(4.0); 2]);
    w.to(20.0);
    let ends: Vec<_> =
        w.facts().iter().filter(|f| matches!(f.kind, FactKind::EffectRemoved { .. })).map(|f| (f.key, f.at)).collect();
    let (early, late) = (SimTime::seconds(5.0), SimTime::seconds(7.0));
    assert_eq!(ends, [(fire, early), (p2, early), (p1, late), (v, late), (p3, late)]);
}

#[test]
fn level_period_stacks_remaining_and_callers_value_change_with_one_fact_each() {
    let mut w = World::new(
        Rules::builder()
            .add(vitals())
            .add(ugas_doc::Curve::new("C", [(1.0, 1.0), (9.0, 9.0)]))
            .add(
                Effect::lasting("GE_Buff", 10.0)
                    .add("MoveSpeed", Magnitude::curve("C"))
                    .add("AttackPower", Magnitude::set_by_caller("Data.Power")),
            )
            .add(Effect::lasting("GE_Dot", 10.0).every(4.0).add("Health", -1.0)),
    );
    let who = w.spawn("Vitals");
    let power = w.rules.key("Data.Power").unwrap();
    let spec = w.spec("GE_Buff", who).set(power, 3.0);
    let buff = w.sim.apply(&spec).unwrap();
    let dot = w.apply("GE_Dot", who);
    let change = |w: &mut World, key, change, what| {
        w.facts();
        w.sim.run(Op::Change { key, change }).unwrap();
        let facts = w.facts();
        let emitted: Vec<_> = facts
            .iter()
            .filter_map(|f| match f.kind {
                FactKind::EffectChanged { what, .. } => Some((f.key, what)),
                _ => None,
            })
            .collect();
        assert_eq!(emitted, [(key, what)]);
    };
    change(&mut w, buff, EffectUpdate::Level(4), EffectChange::Level);
    assert_eq!((w.get(who, "MoveSpeed"), w.get(who, "AttackPower")), (9.0, 13.0));
    change(&mut w, buff, EffectUpdate::SetByCaller(power, 7.0), EffectChange::SetByCaller);
    assert_eq!((w.get(who, "MoveSpeed"), w.get(who, "AttackPower")), (9.0, 17.0));
    change(&mut w, buff, EffectUpdate::Stacks(3), EffectChange::Stacks);
    assert_eq!((w.get(who, "MoveSpeed"), w.get(who, "AttackPower")), (17.0, 31.0));
    change(&mut w, buff, EffectUpdate::Remaining(SimTime::seconds(1.0)), EffectChange::Duration);
    change(&mut w, dot, EffectUpdate::Period(SimTime::seconds(0.5)), EffectChange::Period);
    w.to(1.0);
    assert_eq!(w.get(who, "Health"), 98.0);
    assert_eq!((w.get(who, "MoveSpeed"), w.sim.effects(who).unwrap().len()), (5.0, 1));
    let refused = w.sim.run(Op::Change { key: buff, change: EffectUpdate::Level(2) });
    assert_eq!(refused, Err(Refusal::StaleHandle));
}
