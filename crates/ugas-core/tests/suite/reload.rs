//! Hot reload, case by case: what is kept, updated, removed, and refused as a whole.

use crate::kit::script::*;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, CauseWhat, ControllerId, DefId, FactKind, InsertError, Migration, Op, ReadError, Refusal,
    ReloadError, RemoveReason, ResimulationStop, RowImage, Rules, RulesBuilder, Sim, SimConfig, SimTime, SpawnSpec,
    Spec, Target,
};
use ugas_doc::{
    Ability, AbilitySet, Attribute, AttributeSet, Calculation, Curve, Effect, ExecutionPolicy, GrantedAbilityEntry,
    Magnitude, SetAbility, Stacking, TagRegistry,
};

fn vitals(max: f64) -> AttributeSet {
    AttributeSet::new("Vitals")
        .with(Attribute::new("MaxHealth", max).min(1.0))
        .with(Attribute::new("Health", 100.0).min(0.0).max("MaxHealth"))
        .with(Attribute::new("Power", 10.0))
}

fn start(builder: RulesBuilder) -> (Sim, ControllerId) {
    let rules = builder.build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::sets([set(&rules, "Vitals")])).unwrap();
    sim.take_facts(&mut Default::default());
    (sim, hero)
}

fn after(sim: &Sim) -> RulesBuilder {
    Rules::builder().after(sim.rules().clone())
}

fn reload(sim: &mut Sim, builder: RulesBuilder) -> Migration {
    sim.reload(builder.build().unwrap()).unwrap()
}

fn base_of(sim: &Sim, who: ControllerId, name: &str) -> f64 {
    sim.base(who, attribute(sim.rules(), name)).unwrap()
}

// covers: OWN-08
#[test]
fn a_raised_default_reaches_the_running_world_and_active_effects_stay() {
    let oak = || Effect::lasting("GE_Oak", 10.0).add("MaxHealth", 20.0);
    let (mut sim, hero) = start(Rules::builder().add(vitals(100.0)).add(oak()));
    let key = apply(&mut sim, "GE_Oak", hero);
    go(&mut sim, 4.0);
    sim.take_facts(&mut Default::default());
    let migration = {
        let b = after(&sim).add(vitals(150.0)).add(oak());
        reload(&mut sim, b)
    };
    assert_eq!(get(&sim, hero, "MaxHealth"), 170.0);
    assert_eq!(sim.effect(key).unwrap().remaining, Some(SimTime::seconds(6.0)));
    assert_eq!((migration.bases, migration.values, migration.effects_evaluated), (1, 1, 0));
    let emitted = facts(&mut sim);
    assert!(matches!(emitted[0].kind, FactKind::Reloaded { .. }));
    let max = attribute(sim.rules(), "MaxHealth");
    let change = |old, new| FactKind::AttributeChanged {
        attribute: max,
        old: old + 20.0,
        new: new + 20.0,
        old_base: old,
        new_base: new,
    };
    assert_eq!(emitted[1].kind, change(100.0, 150.0));
    assert_eq!(emitted.len(), 2);
    assert_eq!(sim.chain(emitted[1].link)[0].what, CauseWhat::Reload);
    go(&mut sim, 10.0);
    assert_eq!(get(&sim, hero, "MaxHealth"), 150.0);
}

#[test]
fn a_base_that_moved_away_from_its_default_does_not_follow_it() {
    let hit = || Effect::instant("GE_Hit").add("Health", -30.0);
    let set = |health: f64| {
        let mut set = vitals(200.0);
        set.attributes[1].default_base_value = Some(health);
        set
    };
    let (mut sim, hero) = start(Rules::builder().add(set(100.0)).add(hit()));
    let other = spawn_in(&mut sim);
    apply(&mut sim, "GE_Hit", hero);
    let b = after(&sim).add(set(120.0)).add(hit());
    reload(&mut sim, b);
    assert_eq!((base_of(&sim, hero, "Health"), base_of(&sim, other, "Health")), (70.0, 120.0));
    // A bound is no default: base stays, current shows the bound.
    let mut low = set(120.0);
    low.attributes[0].default_base_value = Some(50.0);
    let b = after(&sim).add(low).add(hit());
    reload(&mut sim, b);
    assert_eq!((base_of(&sim, other, "Health"), get(&sim, other, "Health")), (120.0, 50.0));
}

fn spawn_in(sim: &mut Sim) -> ControllerId {
    let vitals = set(sim.rules(), "Vitals");
    sim.spawn(SpawnSpec::sets([vitals])).unwrap()
}

#[test]
fn added_attributes_start_at_their_defaults_and_removed_ones_disappear() {
    let (mut sim, hero) = start(Rules::builder().add(vitals(100.0)));
    let derived = Attribute {
        derived_from: Some(ugas_doc::DerivedFrom { expression: "MaxHealth / 2".into() }),
        ..Attribute::new("Half", 0.0)
    };
    let more = vitals(100.0).with(Attribute::new("Mana", 900.0).max("Half")).with(derived);
    let b = after(&sim).add(more.clone());
    let m = reload(&mut sim, b);
    assert_eq!(m.attributes_added, 2);
    assert_eq!((get(&sim, hero, "Mana"), get(&sim, hero, "Half")), (50.0, 50.0));
    let mut less = more;
    less.attributes.remove(2);
    let power = attribute(sim.rules(), "Power");
    let b = after(&sim).add(less);
    let m = reload(&mut sim, b);
    assert_eq!(m.attributes_removed, 1);
    assert_eq!(sim.get(hero, power), Err(ReadError::UnknownAttribute { who: hero, attribute: power }));
    assert_eq!(get(&sim, hero, "Mana"), 50.0);
}

// covers: OWN-11
#[test]
fn cached_ids_stay_valid_when_a_tag_is_inserted() {
    let docs =
        |tags: &[&str]| builder().add(TagRegistry::new(tags.iter().copied())).add(Curve::new("C_A", [(1.0, 2.0)]));
    let before = docs(&["Zone.Fire.Hot", "Zone.Water"]).build().unwrap();
    let mut sim = Sim::new(before.clone(), SimConfig::default());
    let hero = spawn(&mut sim);
    for name in ["GE_Burn", "GE_Stun"] {
        apply(&mut sim, name, hero);
    }
    let innate = SpawnSpec {
        tags: vec![tag(&before, "Zone.Fire.Hot"), tag(&before, "Status.Frozen")],
        ..SpawnSpec::sets([set(&before, "Combat")])
    };
    let other = sim.spawn(innate).unwrap();
    let tags = |sim: &Sim, who| {
        let mut all: Vec<(String, bool, u64)> = Vec::new();
        for id in before.tag_ids() {
            let name = sim.rules().tag_name(id).unwrap().to_owned();
            assert_eq!(before.tag_name(id), Some(&*name));
            all.push((name, sim.has_tag(who, id).unwrap(), sim.tag_count(who, id).unwrap()));
        }
        all
    };
    let was = [tags(&sim, hero), tags(&sim, other)];
    let new =
        docs(&["Status.Bleeding", "Zone.Air", "Zone.Fire.Cold", "Zone.Fire.Hot", "Zone.Water"]).after(before.clone());
    let new = new.build().unwrap();
    sim.reload(new.clone()).unwrap();
    assert_eq!([tags(&sim, hero), tags(&sim, other)], was);
    for name in ABILITIES {
        assert_eq!(before.find_ability(name), new.find_ability(name));
    }
    for (id, name) in before.effect_list() {
        assert_eq!(new.find_effect(name), Some(id));
    }
    assert_eq!((before.find_curve("C_A"), before.find_input("Fire")), (new.find_curve("C_A"), new.find_input("Fire")));
    assert_eq!(
        (before.find_timeline("TL_Swing"), before.find_ability_set("AS_Bag")),
        (new.find_timeline("TL_Swing"), new.find_ability_set("AS_Bag"))
    );
    assert_eq!(before.task_kind("Counter"), new.task_kind("Counter"));
    // The new tags work: one between the old ones is under their parent and nowhere else.
    let cold = tag(&new, "Zone.Fire.Cold");
    assert!(!sim.has_tag(other, cold).unwrap());
    let chill = sim.define(Effect::infinite("GE_Chill").grants("Zone.Fire.Cold")).unwrap();
    let DefId::Effect(chill) = chill else { panic!("{chill:?}") };
    sim.apply(&Spec::new(chill, hero)).unwrap();
    assert!(
        sim.has_tag(hero, tag(&new, "Zone.Fire")).unwrap() && !sim.has_tag(hero, tag(&new, "Zone.Fire.Hot")).unwrap()
    );
}

// covers: OWN-11
#[test]
fn removed_definitions_end_their_instances_with_a_reason_and_leave_a_tombstone() {
    let blade = Effect {
        granted_abilities: vec![GrantedAbilityEntry::new("GA_Slash")],
        ..Effect::infinite("GE_Blade").add("Power", 5.0).grants("State.Armed").cue("Cue.Shine")
    };
    let rest = |b: RulesBuilder| b.add(vitals(100.0)).add(Effect::infinite("GE_Stay").grants("State.Armed"));
    let full = |b| {
        rest(b)
            .add(blade.clone())
            .add(Ability::new("GA_Slash").task(wait(5.0)).on_cancel(mark("GE_Sorry")))
            .add(Effect::instant("GE_Sorry").add("Health", -1.0))
    };
    let (mut sim, hero) = start(full(Rules::builder()));
    let (stay, key) = (apply(&mut sim, "GE_Stay", hero), apply(&mut sim, "GE_Blade", hero));
    let slash = ability(sim.rules(), "GA_Slash");
    sim.activate(hero, slash, Target::None).unwrap();
    sim.take_facts(&mut Default::default());
    let old = sim.rules().clone();
    let b = rest(after(&sim));
    let m = reload(&mut sim, b);
    assert_eq!((m.effects_removed, m.grants_revoked, m.activations_ended), (1, 1, 1));
    let emitted = kinds(&mut sim);
    assert!(emitted.contains(&FactKind::EffectRemoved { reason: RemoveReason::Reload }));
    assert!(emitted.iter().any(|k| matches!(k, FactKind::Revoked { .. })));
    assert!(emitted.iter().any(|k| matches!(k, FactKind::AbilityEnded { cancelled: true, .. })));
    // It ended under the rules it began with: its OnCancel ran.
    assert_eq!((get(&sim, hero, "Health"), get(&sim, hero, "Power")), (99.0, 10.0));
    assert!(sim.effect(stay).is_ok() && sim.effect(key).is_err());
    assert_eq!(sim.tag_count(hero, tag(&old, "State.Armed")), Ok(1));
    assert!(sim.grants(hero).unwrap().is_empty() && sim.cues(hero).unwrap().is_empty());
    let blade = old.effect("GE_Blade").unwrap();
    assert_eq!((sim.rules().find_effect("GE_Blade"), sim.rules().effect_name(blade)), (None, Some("GE_Blade")));
    assert_eq!(sim.apply(&Spec::new(blade, hero)).unwrap_err().kind(), "UnknownName");
    assert_eq!(sim.grant(hero, AbilityGrant::new(slash)).unwrap_err().kind(), "UnknownName");
    // Back again under the same id.
    let b = full(after(&sim));
    reload(&mut sim, b);
    assert_eq!(sim.rules().find_effect("GE_Blade"), Some(blade));
    sim.apply(&Spec::new(blade, hero)).unwrap();
}

#[test]
fn changed_magnitudes_are_reevaluated_and_times_and_captures_stay() {
    let docs = |b: RulesBuilder, k: f64| {
        b.add(vitals(100.0))
            .add(Curve::new("C_L", [(1.0, k), (2.0, 10.0 * k)]))
            .add(Calculation::new("Calc_P").gives(format!("target.Power * {k}")))
            .add(Effect::lasting("GE_Value", 9.0).add("MaxHealth", k))
            .add(Effect::lasting("GE_Curve", 9.0).add("MaxHealth", Magnitude::curve("C_L")))
            .add(Effect::lasting("GE_Calc", 9.0).add("MaxHealth", Magnitude::calculation("Calc_P")))
            .add(Effect::lasting("GE_Live", 9.0).add("MaxHealth", Magnitude::attribute("Power").times(k)))
            .add(Effect::infinite("GE_Strong").add("Power", 2.0))
            .add(Effect::lasting("GE_Dot", 9.0).every(1.0).add("Health", -k))
    };
    let (mut sim, hero) = start(docs(Rules::builder(), 1.0));
    let source = spawn_in(&mut sim);
    for name in ["GE_Value", "GE_Curve", "GE_Calc", "GE_Live", "GE_Dot"] {
        let id = effect(sim.rules(), name);
        sim.apply(&Spec::new(id, hero).from(source).level(2)).unwrap();
    }
    assert_eq!(get(&sim, hero, "MaxHealth"), 100.0 + 1.0 + 10.0 + 10.0 + 10.0);
    go(&mut sim, 2.5);
    let dot = sim.effects(hero).unwrap()[4].next_execution;
    // A calculation reads the values of now; nothing else about the effects moves.
    apply(&mut sim, "GE_Strong", hero);
    assert_eq!(get(&sim, hero, "MaxHealth"), 131.0);
    let b = docs(after(&sim), 3.0);
    let m = reload(&mut sim, b);
    assert_eq!(m.effects_evaluated, 5);
    assert_eq!(get(&sim, hero, "MaxHealth"), 100.0 + 3.0 + 30.0 + 36.0 + 30.0);
    assert!(sim.effects(hero).unwrap()[..5].iter().all(|e| e.remaining == Some(SimTime::seconds(6.5))));
    assert_eq!(sim.effects(hero).unwrap()[4].next_execution, dot);
    apply(&mut sim, "GE_Strong", source);
    assert_eq!(get(&sim, hero, "MaxHealth"), 100.0 + 3.0 + 30.0 + 36.0 + 36.0);
    go(&mut sim, 3.0);
    assert_eq!(get(&sim, hero, "Health"), 100.0 - 2.0 - 3.0);
    go(&mut sim, 9.0);
    assert_eq!(get(&sim, hero, "MaxHealth"), 100.0);
}

#[test]
fn tags_cues_grants_periods_and_ends_follow_the_definition() {
    let (mut sim, hero) =
        start(Rules::builder().add(vitals(100.0)).add(Ability::new("GA_A")).add(Ability::new("GA_B")).add(Effect {
            granted_abilities: vec![GrantedAbilityEntry::new("GA_A")],
            ..Effect::infinite("GE_X").grants("State.A").cue("Cue.A").add("Power", 1.0)
        }));
    let key = apply(&mut sim, "GE_X", hero);
    go(&mut sim, 1.0);
    let b = after(&sim).add(vitals(100.0)).add(Ability::new("GA_A")).add(Ability::new("GA_B")).add(Effect {
        granted_abilities: vec![GrantedAbilityEntry::new("GA_B")],
        ..Effect::lasting("GE_X", 3.0).grants("State.B").cue("Cue.B").every(0.5).add("Power", 1.0)
    });
    let m = reload(&mut sim, b);
    let rules = sim.rules().clone();
    let has = |sim: &Sim, name: &str| sim.has_tag(hero, tag(&rules, name)).unwrap();
    assert_eq!((has(&sim, "State.A"), has(&sim, "State.B")), (false, true));
    assert_eq!(sim.cues(hero).unwrap(), [tag(&rules, "Cue.B")]);
    let grants: Vec<_> = sim.grants(hero).unwrap().iter().map(|g| g.ability).collect();
    assert_eq!(grants, [ability(&rules, "GA_B")]);
    assert_eq!((m.grants_added, m.grants_revoked), (1, 1));
    // New fields apply from now on: it ends in three seconds and has a period of half a second.
    let view = sim.effect(key).unwrap();
    assert_eq!((view.remaining, view.next_execution), (Some(SimTime::seconds(3.0)), Some(SimTime::seconds(0.5))));
    assert_eq!(get(&sim, hero, "Power"), 10.0);
    go(&mut sim, 4.0);
    assert!(sim.effect(key).is_err() && !has(&sim, "State.B") && sim.grants(hero).unwrap().is_empty());
    assert_eq!(get(&sim, hero, "Power"), 16.0);
}

#[test]
fn requirements_and_immunities_of_the_new_rules_apply_at_once() {
    let wet = || Effect::infinite("GE_Wet").grants("State.Wet");
    let glow = || Effect::infinite("GE_Glow").add("Power", 4.0).tagged("Magic.Fire");
    let fire = || Effect::infinite("GE_Fire").add("Power", 1.0).tagged("Magic.Fire");
    let (mut sim, hero) = start(Rules::builder().add(vitals(100.0)).add(wet()).add(glow()).add(fire()));
    apply(&mut sim, "GE_Wet", hero);
    apply(&mut sim, "GE_Glow", hero);
    let dry = Effect { ongoing_blocked_tags: vec!["State.Wet".into()], ..glow() };
    let shield = Effect {
        immunity: vec![ugas_doc::ImmunityEntry { effect_tags: vec!["Magic.Fire".into()], ..Default::default() }],
        ..wet()
    };
    let b = after(&sim).add(vitals(100.0)).add(shield).add(dry).add(fire());
    reload(&mut sim, b);
    assert_eq!(get(&sim, hero, "Power"), 10.0);
    let refused = sim.apply(&Spec::new(effect(sim.rules(), "GE_Fire"), hero)).unwrap_err();
    assert_eq!(refused.kind(), "Immune");
    let b = after(&sim).add(vitals(100.0)).add(wet()).add(glow()).add(fire());
    reload(&mut sim, b);
    assert_eq!(get(&sim, hero, "Power"), 14.0);
    apply(&mut sim, "GE_Fire", hero);
    assert_eq!(get(&sim, hero, "Power"), 15.0);
}

#[test]
fn an_active_ability_continues_unless_its_tasks_changed() {
    let same = || Ability::new("GA_Same").task(wait(2.0)).task(mark("GE_Mark"));
    let other =
        |seconds: f64| Ability::new("GA_Other").task(wait(seconds)).task(mark("GE_Mark10")).on_cancel(mark("GE_Hurt"));
    let (mut sim, hero) = one(&base().add(same()).add(other(2.0)).build().unwrap());
    for name in ["GA_Same", "GA_Other"] {
        let id = ability(sim.rules(), name);
        sim.grant(hero, AbilityGrant::new(id)).unwrap();
        sim.activate(hero, id, Target::None).unwrap();
    }
    go(&mut sim, 1.0);
    let b = base().after(sim.rules().clone()).add(same().cost("GE_Hurt")).add(other(1.5));
    let m = reload(&mut sim, b);
    assert_eq!(m.activations_ended, 1);
    assert_eq!(get(&sim, hero, "Health"), 90.0);
    go(&mut sim, 3.0);
    assert_eq!(get(&sim, hero, "AttackPower"), 11.0);
    // The next activation runs the new list.
    let id = ability(sim.rules(), "GA_Other");
    sim.activate(hero, id, Target::None).unwrap();
    go(&mut sim, 4.5);
    assert_eq!(get(&sim, hero, "AttackPower"), 21.0);
}

#[test]
fn stacks_queues_and_sets_are_adapted_to_the_new_rules() {
    let stacks = |limit| {
        Effect::infinite("GE_Stack").add("Power", 1.0).stacking(Stacking { limit: Some(limit), ..Stacking::default() })
    };
    let turn = |policy| Effect::lasting("GE_Turn", 2.0).add("Power", 100.0).policy(policy);
    let bag = || AbilitySet::new("AS_Bag").effect("GE_Held").ability(SetAbility::new("GA_Held2"));
    let rest = |b: RulesBuilder| {
        b.add(vitals(100.0)).add(Effect::infinite("GE_Held").add("Power", 1000.0)).add(Ability::new("GA_Held2"))
    };
    let (mut sim, hero) =
        start(rest(Rules::builder()).add(stacks(5)).add(turn(ExecutionPolicy::RunInSequence)).add(bag()));
    let stack = effect(sim.rules(), "GE_Stack");
    sim.apply(&Spec::new(stack, hero).stacks(4)).unwrap();
    for _ in 0..3 {
        apply(&mut sim, "GE_Turn", hero);
    }
    let bag = sim.rules().ability_set("AS_Bag").unwrap();
    sim.grant_set(hero, bag).unwrap();
    assert_eq!(get(&sim, hero, "Power"), 10.0 + 4.0 + 100.0 + 1000.0);
    let b = rest(after(&sim)).add(stacks(2)).add(turn(ExecutionPolicy::RunInParallel));
    let m = reload(&mut sim, b);
    assert_eq!(m.ability_sets_revoked, 1);
    assert!(sim.grants(hero).unwrap().is_empty());
    assert_eq!(get(&sim, hero, "Power"), 10.0 + 2.0 + 300.0);
    go(&mut sim, 2.0);
    assert_eq!(get(&sim, hero, "Power"), 12.0);
}

// covers: OWN-08
#[test]
fn a_refused_reload_leaves_the_sim_unchanged() {
    let oak = || Effect::infinite("GE_Oak").add("MaxHealth", 20.0);
    let (mut sim, hero) = start(Rules::builder().add(vitals(100.0)).add(oak()));
    apply(&mut sim, "GE_Oak", hero);
    sim.define(Effect::instant("GE_Made").add("Power", 1.0)).unwrap();
    let (hash, rules) = (sim.hash(), sim.rules().clone());
    let mut refuse = |builder: RulesBuilder| {
        let error = sim.reload(builder.build().unwrap()).unwrap_err();
        assert_eq!(sim.hash(), hash);
        assert!(Arc::ptr_eq(sim.rules(), &rules));
        assert_eq!(sim.facts().list.iter().filter(|f| matches!(f.kind, FactKind::Reloaded { .. })).count(), 0);
        error
    };
    // Not built after the running ones: an effect before the other moves its id.
    let early = Effect::instant("GE_Early").add("Power", 1.0);
    let error = refuse(Rules::builder().add(vitals(100.0)).add(early).add(oak()));
    assert_eq!(error, ReloadError::OtherIds { kind: "effect", name: "GE_Oak".into() });
    assert!(error.to_string().contains("RulesBuilder::after"), "{error}");
    // The hero's only set was removed.
    let other = AttributeSet::new("Other").with(Attribute::new("MaxHealth", 5.0)).with(Attribute::new("Power", 5.0));
    let error = refuse(Rules::builder().after(rules.clone()).add(other).add(oak()));
    assert!(matches!(&error, ReloadError::Sets { who, refusal: Refusal::NoSets, .. } if *who == hero), "{error}");
    let expected = "the new rules define no attribute set of controller 0: a controller needs at least one attribute \
                    set (the controller has Vitals)";
    assert_eq!(error.to_string(), expected);
    // A run-time definition reads a removed attribute.
    let mut less = vitals(100.0);
    less.attributes.pop();
    let error = refuse(Rules::builder().after(rules.clone()).add(less).add(oak()));
    assert!(matches!(&error, ReloadError::Definition { name, .. } if name == "GE_Made"), "{error}");
    assert!(error.to_string().contains("Power"), "{error}");
}

#[test]
fn images_journals_and_portables_from_before_are_refused() {
    let docs = |b: RulesBuilder, max| b.add(vitals(max)).add(Effect::lasting("GE_Oak", 9.0).add("MaxHealth", 20.0));
    let (mut sim, hero) = start(docs(Rules::builder(), 100.0));
    sim.keep_journal(hero).unwrap();
    let mut image = RowImage::default();
    sim.capture(hero, &mut image).unwrap();
    let portable = sim.clone().extract(hero).unwrap();
    apply(&mut sim, "GE_Oak", hero);
    go(&mut sim, 1.0);
    let b = docs(after(&sim), 150.0);
    reload(&mut sim, b);
    assert_eq!(sim.restore(hero, &image), Err(Refusal::Mismatch));
    let journal = sim.journal(hero).unwrap();
    assert_eq!(
        sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(1.0))]),
        Err(Refusal::Mismatch)
    );
    let mut away = sim.clone();
    away.extract(hero).unwrap();
    assert!(matches!(away.insert(&portable), Err(InsertError::OtherRules { .. })));
    // The same documents, built alone, have other ids where names were added: what one wrote is nothing to the other.
    let b = docs(after(&sim), 150.0).add(Effect::instant("GE_New").add("Power", 1.0));
    reload(&mut sim, b);
    let b = docs(after(&sim), 150.0);
    reload(&mut sim, b);
    let alone = docs(Rules::builder(), 150.0).build().unwrap();
    let mut away = Sim::new(alone, SimConfig::default());
    assert!(matches!(away.insert(&sim.clone().extract(hero).unwrap()), Err(InsertError::OtherRules { .. })));
    // From now on images and journals work again.
    sim.capture(hero, &mut image).unwrap();
    apply(&mut sim, "GE_Oak", hero);
    go(&mut sim, 2.0);
    let (hash, journal) = (sim.hash(), sim.journal(hero).unwrap());
    sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(2.0))]).unwrap();
    assert_eq!(sim.hash(), hash);
}

#[test]
fn a_reload_at_a_fixed_time_is_deterministic() {
    let docs =
        |b: RulesBuilder, k: f64| b.add(vitals(100.0)).add(Effect::lasting("GE_Dot", 9.0).every(1.0).add("Health", -k));
    let first = docs(Rules::builder(), 1.0).build().unwrap();
    let second = docs(Rules::builder().after(first.clone()), 3.0).build().unwrap();
    let play = || {
        let mut sim = Sim::new(first.clone(), SimConfig::default());
        let hero = sim.spawn(SpawnSpec::sets([set(&first, "Vitals")])).unwrap();
        apply(&mut sim, "GE_Dot", hero);
        go(&mut sim, 2.5);
        sim.reload(second.clone()).unwrap();
        sim.run(Op::SetRate { who: hero, rate: ugas_core::Rate::new(2.0).unwrap() }).unwrap();
        go(&mut sim, 4.0);
        assert_eq!(get(&sim, hero, "Health"), 100.0 - 2.0 - 9.0);
        sim.hash()
    };
    assert_eq!(play(), play());
}
