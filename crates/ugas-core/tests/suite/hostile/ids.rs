//! Ids that name nothing: in every op and in every read.

use crate::kit::*;
use ugas_core::{
    AbilityGrant, AbilityId, ActorId, AttributeId, ChannelId, ControllerId, CurveId, DefId, EffectFilter, EffectId,
    EffectKey, EffectUpdate, Hit, HookId, InputId, KeyId, NameKind, Op, OpId, RUNTIME_BIT, Rate, ReadError, Refusal,
    ResimulationStop, RowImage, RowJournal, Rules, SetId, Sim, SimConfig, SimTime, SpawnSpec, Spec, SpecExtra, TagId,
    TagQuery, TemplateId,
};
use ugas_doc::{Ability, Controller, Doc, Effect, Magnitude};

/// Numbers that no table of this world reaches.
const BAD: [u32; 6] = [9_999, RUNTIME_BIT, RUNTIME_BIT | 7, u32::MAX / 2, u32::MAX - 1, u32::MAX];

fn small_world() -> std::sync::Arc<Rules> {
    world()
        .add(Ability::new("GA_Fire"))
        .add(Controller::new("Hero").set("Combat"))
        .add(Effect::instant("GE_Hit").add("Health", -1.0))
        .add(
            Effect::lasting("GE_Buff", 5.0).every(1.0).add("Health", -1.0).grants("State.Buff").cue("GameplayCue.Buff"),
        )
        .add(Effect::infinite("GE_Asked").add("AttackPower", Magnitude::set_by_caller("Data.Power")))
        .add(Effect::infinite("GE_Follow").add("Defense", Magnitude::attribute("AttackPower")))
        .build()
        .unwrap()
}

/// Every op with an id that names nothing. Each must be refused.
fn refused(rules: &Rules, who: ControllerId, n: u32) -> Vec<Op> {
    let combat = set(rules, "Combat");
    let hit = effect(rules, "GE_Hit");
    let spec = || SpawnSpec::sets([combat]);
    let spawn = |s: SpawnSpec| Op::Spawn(Box::new(s));
    let missing = ControllerId(n);
    let grant = AbilityGrant { ability: AbilityId(n), level: 1, input: None };
    let keys = [
        EffectKey { origin_id: 1, target: missing, ordinal: 0 },
        EffectKey { origin_id: n as u64, target: who, ordinal: n },
        EffectKey { origin_id: u64::MAX, target: who, ordinal: 0 },
        EffectKey::NONE,
    ];
    let tags = EffectFilter { with_any_tag: vec![TagId(n)], ..EffectFilter::default() };
    let mut ops = vec![
        spawn(SpawnSpec::default()),
        spawn(SpawnSpec::template(TemplateId(n))),
        spawn(SpawnSpec::sets([SetId(n)])),
        spawn(SpawnSpec::sets([combat, SetId(n)])),
        spawn(SpawnSpec::sets([combat, combat])),
        spawn(spec().base(AttributeId(n), 1.0)),
        spawn(spec().tag(TagId(n))),
        spawn(spec().effect(EffectId(n))),
        spawn(SpawnSpec { abilities: vec![grant], ..spec() }),
        spawn(SpawnSpec { id: Some(who), ..spec() }),
        Op::SpawnMany { template: TemplateId(n), count: 3 },
        Op::SpawnMany { template: TemplateId(0), count: u32::MAX },
        Op::Despawn { who: missing },
        Op::Apply(Spec::new(EffectId(n), who)),
        Op::Apply(Spec::new(hit, missing)),
        Op::RemoveMatching { who: missing, filter: EffectFilter::default() },
        Op::RemoveMatching { who, filter: tags.clone() },
        Op::ChangeMatching { who: missing, filter: EffectFilter::default(), change: EffectUpdate::Level(2) },
        Op::ChangeMatching { who, filter: tags, change: EffectUpdate::Level(2) },
        Op::AddSet { who, set: SetId(n) },
        Op::AddSet { who: missing, set: combat },
        Op::AddSet { who, set: combat },
        Op::RemoveSet { who, set: SetId(n), force: true },
        Op::RemoveSet { who: missing, set: combat, force: true },
        Op::RemoveSet { who, set: combat, force: true },
        Op::SetActive { who: missing, active: true },
        Op::SetRate { who: missing, rate: Rate::ONE },
        Op::SetRate { who, rate: Rate(n | 1000 << 17) },
        Op::Possess { who: missing, avatar: Some(ActorId(1)) },
        Op::Move { who: missing, anchor: None },
        Op::Define(Box::new(Doc::from(Effect::instant("GE_New").add("Nothing", 1.0)))),
        Op::Undefine(DefId::Effect(EffectId(n))),
        Op::Undefine(DefId::Ability(AbilityId(n))),
        Op::Undefine(DefId::Effect(hit)),
    ];
    if n != u32::MAX {
        ops.push(Op::Apply(Spec::new(hit, who).from(missing)));
    }
    for key in keys {
        ops.push(Op::Remove { key, stacks: None });
        ops.push(Op::Change { key, change: EffectUpdate::Level(2) });
    }
    ops
}

#[test]
fn an_id_that_names_nothing_is_refused_everywhere_and_changes_nothing() {
    let rules = small_world();
    let (mut sim, hero) = one(&rules);
    apply(&mut sim, "GE_Buff", hero);
    let before = sim.row_hash(hero).unwrap();
    facts(&mut sim);
    for n in BAD {
        for op in refused(&rules, hero, n) {
            match sim.run(op.clone()) {
                Err(refusal) => assert!(!refusal.describe(&rules).is_empty()),
                Ok(outcome) => panic!("{n}: {op:?} gave {outcome:?}"),
            }
            assert_eq!(sim.row_hash(hero).unwrap(), before, "{n}: {op:?}");
            assert_eq!(sim.controllers().count(), 1, "{n}: {op:?}");
        }
    }
    assert_eq!(facts(&mut sim), []);
}

#[test]
fn batches_refuse_each_bad_entry_on_its_own() {
    let rules = small_world();
    let (mut sim, hero) = one(&rules);
    let hit = effect(&rules, "GE_Hit");
    let mut results = Vec::new();
    let targets = [hero, ControllerId(77), ControllerId::NONE, hero];
    assert_eq!(sim.apply_to_many(&Spec::new(hit, hero), &targets, &mut results), 2);
    let stale = Err(Refusal::StaleHandle);
    assert_eq!((results[1], results[2]), (stale, stale));
    let specs = [Spec::new(EffectId(9_999), hero), Spec::new(hit, ControllerId(5)), Spec::new(hit, hero)];
    assert_eq!(sim.apply_all(&specs, &mut results), 1);
    assert_eq!(results[0].unwrap_err().kind(), "UnknownName");
    assert_eq!(results[1], stale);
    assert_eq!(get(&sim, hero, "Health"), 97.0);
}

#[test]
fn ids_that_are_only_carried_in_a_spec_do_no_harm() {
    let rules = small_world();
    for n in BAD {
        let (mut sim, hero) = one(&rules);
        let mut spec = Spec::new(effect(&rules, "GE_Buff"), hero).ability(AbilityId(n)).set(KeyId(n), 1.0);
        // Calculations test the tags of a hit, so they must exist.
        let hit = Hit { tags: vec![TagId(n)], ..Hit::default() };
        assert_eq!(sim.apply(&spec.clone().hit(hit)).unwrap_err().kind(), "UnknownName");
        spec.extra().causer = Some(ActorId(u64::MAX));
        spec.extra().object = u64::MAX;
        let key = sim.apply(&spec).unwrap();
        sim.run(Op::Change { key, change: EffectUpdate::SetByCaller(KeyId(n), 3.0) }).unwrap();
        let filters = [
            EffectFilter { effect: Some(EffectId(n)), ..EffectFilter::default() },
            EffectFilter { modifies: Some(AttributeId(n)), ..EffectFilter::default() },
            EffectFilter { source: Some(ControllerId(n)), effect: Some(EffectId(0)), ..EffectFilter::default() },
        ];
        for filter in filters {
            assert_eq!(sim.query(hero, &filter).unwrap(), []);
            sim.run(Op::RemoveMatching { who: hero, filter }).unwrap();
        }
        let grant = AbilityGrant { ability: rules.ability("GA_Fire").unwrap(), level: 1, input: Some(InputId(n)) };
        let sets = vec![set(&rules, "Combat")];
        let other = sim.spawn(SpawnSpec { sets, abilities: vec![grant], ..SpawnSpec::default() }).unwrap();
        go(&mut sim, 2.0);
        let bytes = postcard::to_allocvec(&sim.extract(other).unwrap()).unwrap();
        sim.insert(&postcard::from_bytes(&bytes).unwrap()).unwrap();
        sim.run_as(OpId(u64::MAX), &Op::Apply(spec)).unwrap();
        sim.hash();
    }
}

#[test]
fn a_list_of_values_that_is_not_sorted_does_no_harm() {
    let rules = small_world();
    let (mut sim, hero) = one(&rules);
    let key = rules.key("Data.Power").unwrap();
    let mut spec = Spec::new(effect(&rules, "GE_Asked"), hero);
    let list = (0..50).rev().map(|k| (KeyId(k), k as f64)).chain([(key, 2.0), (key, 3.0)]).collect();
    spec.extra = Some(Box::new(SpecExtra { set_by_caller: list, ..SpecExtra::default() }));
    let _ = sim.apply(&spec);
    assert!(get(&sim, hero, "AttackPower").is_finite());
}

#[test]
fn an_ability_is_not_granted_at_level_zero() {
    let rules = small_world();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let grant = AbilityGrant { ability: rules.ability("GA_Fire").unwrap(), level: 0, input: None };
    let sets = vec![set(&rules, "Combat")];
    let refused = sim.spawn(SpawnSpec { sets, abilities: vec![grant], ..SpawnSpec::default() });
    assert_eq!(refused.map_err(|r| r.kind()), Err("BadValue"));
}

#[test]
fn reads_with_unknown_ids_return_errors() {
    let rules = small_world();
    let (mut sim, hero) = one(&rules);
    apply(&mut sim, "GE_Buff", hero);
    let health = attribute(&rules, "Health");
    for n in BAD {
        let missing = ControllerId(n);
        let stale = Some(ReadError::StaleHandle);
        assert!(!sim.exists(missing));
        assert_eq!(sim.get(missing, health).err(), stale);
        assert_eq!(sim.bounds(missing, health).err(), stale);
        assert_eq!(sim.effects(missing).err(), stale);
        assert_eq!(sim.tags(missing).err(), stale);
        assert_eq!(sim.has_tag(missing, TagId(0)).err(), stale);
        assert_eq!(sim.grants(missing).err(), stale);
        assert_eq!(sim.sets(missing).err(), stale);
        assert_eq!(sim.row_hash(missing).err(), stale);
        assert_eq!(sim.explain(missing, health).err(), stale);
        assert_eq!(sim.capture(missing, &mut RowImage::default()), Err(Refusal::StaleHandle));
        assert_eq!(sim.keep_journal(missing), Err(Refusal::StaleHandle));
        assert!(sim.extract(missing).is_err());
        assert!(sim.journal(missing).is_none());

        let unknown = Some(ReadError::UnknownAttribute { who: hero, attribute: AttributeId(n) });
        assert_eq!(sim.get(hero, AttributeId(n)).err(), unknown);
        assert_eq!(sim.base(hero, AttributeId(n)).err(), unknown);
        assert_eq!(sim.bounds(hero, AttributeId(n)).err(), unknown);
        assert_eq!(sim.explain(hero, AttributeId(n)).err(), unknown);
        assert_eq!(sim.has_tag(hero, TagId(n)), Ok(false));
        let no_tag = Some(ReadError::UnknownName { kind: NameKind::Tag, id: n });
        assert_eq!(sim.has_tag_exact(hero, TagId(n)).err(), no_tag);
        assert_eq!(sim.tag_count_all(hero, TagId(n)).err(), no_tag);
        assert_eq!(sim.has_any(hero, &[TagId(n)]), Ok(false));
        assert_eq!(sim.cue_count(hero, TagId(n)), Ok(0));
        assert_eq!(sim.matches(hero, &TagQuery::HasExact(TagId(n))), Ok(false));
        assert_eq!(sim.matches(hero, &TagQuery::Has(TagId(n))), Ok(false));
        assert_eq!(sim.effect_name(EffectId(n)), None);
        let _ = sim.chain(n);
        assert_eq!(sim.undefine(DefId::Effect(EffectId(n))).map_err(|r| r.kind()), Err("UnknownName"));

        assert_eq!(rules.attribute_name(AttributeId(n)), None);
        assert_eq!(rules.effect_name(EffectId(n)), None);
        assert_eq!(rules.ability_name(AbilityId(n)), None);
        assert_eq!(rules.set_name(SetId(n)), None);
        assert!(rules.set_attributes(SetId(n)).is_none());
        assert_eq!(rules.tag_name(TagId(n)), None);
        assert_eq!(rules.tag_parent(TagId(n)), None);
        assert!(!rules.is_cooldown_tag(TagId(n)));
        assert!(!rules.tag_is_under(TagId(n), TagId(0)) && !rules.tag_is_under(TagId(0), TagId(n)));
        assert_eq!(rules.key_name(KeyId(n)), None);
        assert_eq!(rules.input_name(InputId(n)), None);
        assert_eq!(rules.hook_name(HookId(n)), None);
        assert!(!rules.is_predictable(EffectId(n)));
        assert!(rules.effect_origin(EffectId(n)).is_none());
        let _ = (CurveId(n), ChannelId(n));
    }
    let empty = RowImage::default();
    assert_eq!(sim.restore(hero, &empty).err(), Some(Refusal::Mismatch));
    assert_eq!(
        sim.resimulate(&empty, Some(&RowJournal::default()), &mut [ResimulationStop::at(SimTime::ZERO)]).err(),
        Some(Refusal::Mismatch)
    );
}

#[test]
fn a_query_over_a_list_with_unknown_tags_is_false() {
    let rules = small_world();
    let alive = tag(&rules, "State.Alive");
    for n in BAD {
        assert!(!TagQuery::Has(TagId(n)).matches(&rules, &[alive]));
        assert!(!TagQuery::Has(alive).matches(&rules, &[TagId(n)]));
        assert!(TagQuery::None(vec![TagQuery::Has(TagId(n))]).matches(&rules, &[alive]));
    }
}

#[test]
fn keys_become_stale_and_never_refer_to_another_effect() {
    let rules = small_world();
    let (mut sim, hero) = one(&rules);
    let mut old = Vec::new();
    for round in 0..200 {
        let key = apply(&mut sim, "GE_Buff", hero);
        for &stale in &old {
            assert_eq!(sim.remove(stale), Err(Refusal::StaleHandle));
            assert!(sim.run(Op::Change { key: stale, change: EffectUpdate::Stacks(2) }).is_err());
            assert!(sim.effect(stale).is_err());
        }
        match round % 3 {
            0 => sim.remove(key).unwrap(),
            1 => {
                let to = sim.now() + SimTime::seconds(6.0);
                sim.advance_to(to);
            }
            _ => {
                sim.run(Op::RemoveMatching { who: hero, filter: EffectFilter::default() }).unwrap();
            }
        }
        old.push(key);
    }
    // An instant's key is valid to hold, but never active.
    let hit = apply(&mut sim, "GE_Hit", hero);
    assert_eq!(sim.remove(hit), Err(Refusal::StaleHandle));
    sim.despawn(hero).unwrap();
    let next = spawn(&mut sim);
    assert_ne!(next, hero);
    assert_eq!(sim.remove(old[0]), Err(Refusal::StaleHandle));
}

#[test]
fn a_destroyed_source_is_frozen_and_cannot_apply_new_effects() {
    let rules = small_world();
    let (mut sim, hero) = one(&rules);
    let source = spawn(&mut sim);
    let follow = effect(&rules, "GE_Follow");
    sim.apply(&Spec::new(follow, hero).from(source)).unwrap();
    assert_eq!(get(&sim, hero, "Defense"), 15.0);
    sim.despawn(source).unwrap();
    assert_eq!(get(&sim, hero, "Defense"), 15.0);
    assert_eq!(sim.apply(&Spec::new(follow, hero).from(source)).unwrap_err().kind(), "UnknownAttribute");
    assert_eq!(sim.apply(&Spec::new(follow, hero)).unwrap_err().kind(), "UnknownAttribute");
}
