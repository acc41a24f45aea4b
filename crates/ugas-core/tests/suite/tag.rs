//! Tags end to end: names and lints, queries, counts that always equal the grants behind them, sets of tags.

use crate::kit::*;
use std::collections::BTreeMap;
use ugas_core::{
    ControllerId, EffectFilter, EffectState, Op, Rules, Sim, SimConfig, SpawnSpec, Spec, TagId, TagQuery, TagSet,
    tag_parents, tag_segments,
};
use ugas_doc::{Effect, ExecutionPolicy, OnExpire, OnOngoingFail, Stacking, TagEntry, TagRegistry};

/// A controller that has exactly these innate tags.
fn tagged(rules: &std::sync::Arc<Rules>, tags: &[&str]) -> (Sim, ControllerId) {
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let spec = SpawnSpec {
        sets: vec![set(rules, "Combat")],
        tags: tags.iter().map(|t| tag(rules, t)).collect(),
        ..SpawnSpec::default()
    };
    let who = sim.spawn(spec).unwrap();
    (sim, who)
}

// covers: UGAS-2-02
#[test]
fn queries_nest_all_any_and_none() {
    let rules = world().build().unwrap();
    let has = |name: &str| TagQuery::Has(tag(&rules, name));
    let query = TagQuery::All(vec![has("State.Alive"), TagQuery::None(vec![has("State.Debuff")])]);
    let (sim, alive) = tagged(&rules, &["State.Alive"]);
    assert!(sim.matches(alive, &query).unwrap());
    let (sim, stunned) = tagged(&rules, &["State.Alive", "State.Debuff.Stunned.Magic"]);
    assert!(!sim.matches(stunned, &query).unwrap());
    let nested = TagQuery::Any(vec![query.clone(), TagQuery::All(vec![has("State.Debuff.Stunned"), has("State")])]);
    assert!(sim.matches(stunned, &nested).unwrap());
    assert_eq!(TagQuery::parse("State.Alive & !State.Debuff", &rules).unwrap(), query);
    assert!(!sim.matches(stunned, &TagQuery::HasExact(tag(&rules, "State.Debuff"))).unwrap());
    assert!(sim.matches(stunned, &TagQuery::HasExact(tag(&rules, "State.Debuff.Stunned.Magic"))).unwrap());
}

// covers: UGAS-7.1-01 UGAS-7.1-02
#[test]
fn names_are_dotted_pascal_case() {
    let name = "State.Debuff.Stunned.Magic";
    assert_eq!(tag_segments(name).unwrap().count(), 4);
    assert_eq!(tag_parents(name).collect::<Vec<_>>(), ["State.Debuff.Stunned", "State.Debuff", "State"]);
    let rules = world().build().unwrap();
    let mut up = Vec::new();
    let mut at = rules.find_tag(name);
    while let Some(t) = at {
        up.push(rules.tag_name(t).unwrap().to_owned());
        at = rules.tag_parent(t);
    }
    assert_eq!(up, [name, "State.Debuff.Stunned", "State.Debuff", "State"]);

    assert!(tag_segments("State.Debuff").is_some());
    for bad in ["state.debuff", "State..X", "State.1x", "", ".", "State.", ".State", "State.De buff", "State.Dé"] {
        assert!(tag_segments(bad).is_none(), "{bad:?}");
        let error = world().add(TagRegistry::new([bad])).build().unwrap_err();
        assert_eq!(error.issues[0].code, "bad-tag", "{bad:?}");
        let error = world().add(Effect::infinite("GE_Bad").grants(bad)).build().unwrap_err();
        assert!(error.issues.iter().any(|i| i.code == "bad-tag"), "{bad:?}");
    }
}

fn warnings(rules: &Rules, code: &str) -> usize {
    rules.warnings().iter().filter(|w| w.code == code).count()
}

// covers: UGAS-7.1-03
#[test]
fn more_than_five_levels_is_a_warning() {
    let six = world().add(TagRegistry::new(["A.B.C.D.E.F"])).build().unwrap();
    assert_eq!(warnings(&six, "tag-depth"), 1);
    assert!(six.find_tag("A.B.C.D.E.F").is_some());
    let five = world().add(TagRegistry::new(["A.B.C.D.E"])).build().unwrap();
    assert_eq!(warnings(&five, "tag-depth"), 0);
}

// covers: UGAS-7.1-04
#[test]
fn granting_a_category_is_a_note_not_an_error() {
    let rules = world().add(Effect::infinite("GE_Vague").grants("State.Debuff")).build().unwrap();
    let note = rules.warnings().iter().find(|w| w.code == "parent-granted").unwrap();
    assert_eq!(note.document, "GE_Vague");
    assert!(note.message.contains("State.Debuff.Stunned"), "{}", note.message);
    let rules = world().add(Effect::infinite("GE_Clear").grants("State.Debuff.Stunned.Magic")).build().unwrap();
    assert_eq!(warnings(&rules, "parent-granted"), 0);
}

// covers: UGAS-7.1-05
#[test]
fn reserved_prefixes_are_known() {
    let rules = world()
        .add(TagRegistry::new(["Cooldown.Fire", "Cooldowns.Fire"]))
        .add(Effect::instant("GE_Wrong").cue("Sound.Boom"))
        .add(Effect::instant("GE_Right").cue("GameplayCue.Boom"))
        .build()
        .unwrap();
    let reported: Vec<&str> =
        rules.warnings().iter().filter(|w| w.code == "cue-prefix").map(|w| w.document.as_str()).collect();
    assert_eq!(reported, ["GE_Wrong"]);
    assert!(rules.is_cooldown_tag(tag(&rules, "Cooldown.Fire")));
    assert!(!rules.is_cooldown_tag(tag(&rules, "Cooldowns.Fire")));
    assert!(!rules.is_cooldown_tag(tag(&rules, "State.Alive")));
}

// covers: UGAS-7.2-08 UGAS-7.2-09
#[test]
fn emptiness_and_distinct_count_follow_the_effects() {
    let rules = world()
        .add(Effect::infinite("GE_AB").grants("A.B"))
        .add(Effect::infinite("GE_AC").grants("A.C"))
        .build()
        .unwrap();
    let (mut sim, hero) = one(&rules);
    assert_eq!(sim.tag_kinds(hero).unwrap(), 0);
    let first = apply(&mut sim, "GE_AB", hero);
    assert_eq!(sim.tag_kinds(hero).unwrap(), 1);
    let keys = [first, apply(&mut sim, "GE_AB", hero), apply(&mut sim, "GE_AC", hero)];
    assert_eq!(sim.tag_kinds(hero).unwrap(), 2);
    assert_eq!(sim.tag_count_all(hero, tag(&rules, "A")).unwrap(), 3);
    for key in keys {
        sim.remove(key).unwrap();
    }
    assert_eq!(sim.tag_kinds(hero).unwrap(), 0);
    assert!(sim.tags(hero).unwrap().is_empty());
}

// covers: UGAS-7.3-03 UGAS-7.3-04 UGAS-7.3-05
#[test]
fn has_any_has_all_and_has_none_test_lists_of_tags() {
    let rules = world().build().unwrap();
    let t = |name: &str| tag(&rules, name);
    let (sim, burning) = tagged(&rules, &["Status.Burning"]);
    assert!(sim.has_any(burning, &[t("Status.Frozen"), t("Status.Burning")]).unwrap());
    assert!(!sim.has_any(burning, &[]).unwrap());
    assert!(!sim.has_any(burning, &[t("Status.Frozen")]).unwrap());

    let (sim, both) = tagged(&rules, &["State.Debuff.Stunned.Magic", "Status.Burning"]);
    assert!(sim.has_all(both, &[t("State.Debuff.Stunned.Magic"), t("Status.Burning")]).unwrap());
    assert!(!sim.has_all(both, &[t("Status.Burning"), t("Status.Frozen")]).unwrap());
    assert!(sim.has_all(both, &[]).unwrap());

    let (sim, immune) = tagged(&rules, &["Immunity.Fire"]);
    assert!(!sim.has_none(immune, &[t("Immunity")]).unwrap());
    assert!(sim.has_none(immune, &[t("Status.Frozen")]).unwrap());
    assert!(sim.has_none(immune, &[]).unwrap());
}

#[test]
fn ten_thousand_tags_on_one_controller_are_all_found() {
    let names: Vec<String> = (0..10_000).map(|i| format!("T{}.U{}.V{i}", i % 7, i % 61)).collect();
    let rules = world().add(TagRegistry::new(names.iter().map(String::as_str))).build().unwrap();
    let half: Vec<&str> = names.iter().step_by(2).map(String::as_str).collect();
    let (sim, hero) = tagged(&rules, &half);
    assert_eq!(sim.tag_kinds(hero).unwrap(), half.len());
    for (i, name) in names.iter().enumerate() {
        assert_eq!(sim.has_tag(hero, tag(&rules, name)).unwrap(), i % 2 == 0, "{name}");
    }
    assert!(sim.has_tag(hero, tag(&rules, "T0")).unwrap());
    assert!(!sim.has_tag(hero, tag(&rules, "Status.Burning")).unwrap());
}

// covers: UGAS-7.6-02
#[test]
fn a_registry_reports_which_tags_are_declared() {
    let sample = TagRegistry::new(["Status.Immune.Stun", "Status.Burning", "State.Alive", "Cooldown.Fire"]);
    let rules = Rules::builder()
        .add(combat_set())
        .add(sample)
        .add(Effect::infinite("GE_Used").grants("Status.Loose"))
        .build()
        .unwrap();
    assert!(rules.is_declared("Status.Immune.Stun"));
    assert!(!rules.is_declared("Status.Nope"));
    // A tag that is only used exists, with a warning, but is not declared.
    assert!(rules.find_tag("Status.Loose").is_some() && !rules.is_declared("Status.Loose"));
    assert_eq!(warnings(&rules, "undeclared-tag"), 1);
}

// covers: UGAS-7.6-03
#[test]
fn registries_add_up_and_conflicts_are_reported() {
    let core = TagRegistry::new(["State.Alive", "State.Dead"]);
    let racing = TagRegistry::new(["Race.Lap", "State.Alive"]);
    let rules = Rules::builder().add(core.clone()).add(racing.clone()).build().unwrap();
    for name in ["State.Alive", "State.Dead", "Race.Lap"] {
        assert!(rules.is_declared(name), "{name}");
    }
    assert_eq!(warnings(&rules, "tag-conflict"), 0);
    let conflicting = TagRegistry { tags: vec![TagEntry { allow_multiple: true, ..TagEntry::new("State.Alive") }] };
    let rules = Rules::builder().add(core).add(racing).add(conflicting).build().unwrap();
    let conflict: Vec<_> = rules.warnings().iter().filter(|w| w.code == "tag-conflict").collect();
    assert_eq!(conflict.len(), 1);
    assert!(conflict[0].message.contains("State.Alive"));
}

// covers: UGAS-A-01
#[test]
fn tag_sets_support_the_set_operations_of_the_appendix() {
    let rules = world().add(TagRegistry::new(["A", "B", "C"])).build().unwrap();
    let of = |names: &[&str]| names.iter().map(|n| tag(&rules, n)).collect::<TagSet>();
    let (ab, bc, abc) = (of(&["A", "B"]), of(&["B", "C"]), of(&["A", "B", "C"]));
    assert!(ab.contains(tag(&rules, "A")) && !bc.contains(tag(&rules, "A")));
    assert!(ab.is_subset(&abc) && !abc.is_subset(&ab));
    assert_eq!(ab.intersection(&bc), of(&["B"]));
    assert_eq!(ab.union(&bc), abc);
    assert_eq!(ab.union(&bc).iter().count(), 3);
    assert!(ab.overlaps(&bc));
    assert!(!of(&["A"]).overlaps(&bc));
    assert!(of(&["A"]).intersection(&bc).is_empty());
}

/// Effects that grant tags in every way there is, and what each grants.
fn granting() -> Vec<Effect> {
    let mut guarded = Effect::infinite("GE_Guarded").grants("State.Shielded").grants("State.Buff.Shield");
    guarded.ongoing_blocked_tags = vec!["State.Debuff".into()];
    let mut fragile = Effect::infinite("GE_Fragile").grants("State.Fragile");
    fragile.ongoing_required_tags = vec!["State.Alive".into()];
    fragile.on_ongoing_fail = OnOngoingFail::Remove;
    let mut cleanse = Effect::instant("GE_Cleanse").grants("Event.Cleansed");
    cleanse.remove_effects_with_tags = vec!["State.Debuff".into()];
    let stacking = Stacking { limit: Some(5), on_expire: OnExpire::RemoveOne, ..Stacking::default() };
    vec![
        Effect::infinite("GE_Alive").grants("State.Alive"),
        Effect::lasting("GE_Stun", 1.5).grants("State.Debuff.Stunned.Magic").grants("State.Debuff"),
        Effect::lasting("GE_Twice", 0.7).grants("Status.Burning").grants("Status.Burning"),
        Effect::lasting("GE_Stacks", 0.4).grants("Status.Burning").stacking(stacking),
        Effect::lasting("GE_Row", 0.3).grants("Status.Frozen").policy(ExecutionPolicy::RunInSequence),
        Effect::lasting("GE_Merge", 0.9).grants("Status.Frozen.Deep").policy(ExecutionPolicy::RunInMerge),
        Effect::lasting("GE_Tick", 1.0).every(0.1).add("Health", -1.0).grants("Status.Poisoned"),
        guarded,
        fragile,
        cleanse,
    ]
}

/// The sum of the tags granted by the active effects of a controller.
fn granted(
    sim: &Sim,
    who: ControllerId,
    innate: &[TagId],
    grants: &BTreeMap<String, Vec<TagId>>,
) -> BTreeMap<TagId, u32> {
    let mut sum = BTreeMap::new();
    for e in sim.effects(who).unwrap().iter().filter(|e| e.state == EffectState::Active) {
        let name = sim.effect_name(e.effect).unwrap();
        let tags = if name == "GE_Initial_Tags" { innate } else { &grants[name] };
        for &t in tags {
            *sum.entry(t).or_insert(0) += 1;
        }
    }
    sum
}

// covers: UGAS-3.1-04
#[test]
fn every_tag_is_granted_by_an_active_effect() {
    let list = granting();
    let rules = list.iter().cloned().fold(world(), |b, e| b.add(e)).build().unwrap();
    let grants: BTreeMap<String, Vec<TagId>> =
        list.iter().map(|e| (e.name.clone(), e.granted_tags.iter().map(|t| tag(&rules, t)).collect())).collect();
    let innate = [tag(&rules, "State.Alive"), tag(&rules, "Immunity.Fire")];
    for seed in 0..4 {
        let mut rng = Rng(seed);
        let (mut sim, hero) = tagged(&rules, &["State.Alive", "Immunity.Fire"]);
        for step in 0..1_000 {
            match rng.below(10) {
                0..6 => {
                    let id = effect(&rules, &rng.pick(&list).name);
                    let stacks = 1 + rng.below(3) as u32;
                    let _ = sim.apply(&Spec::new(id, hero).from(hero).stacks(stacks));
                }
                6 => {
                    let all = sim.effects(hero).unwrap();
                    let victim = rng.pick(&all).key;
                    let _ = sim.run(Op::Remove { key: victim, stacks: [None, Some(1)][rng.below(2)] });
                    if sim.effects(hero).unwrap().is_empty() {
                        apply(&mut sim, "GE_Alive", hero);
                    }
                }
                7 => {
                    let filter =
                        EffectFilter { effect: Some(effect(&rules, &rng.pick(&list).name)), ..Default::default() };
                    sim.run(Op::RemoveMatching { who: hero, filter }).unwrap();
                    apply(&mut sim, "GE_Alive", hero);
                }
                _ => {
                    let to = sim.now() + ugas_core::SimTime::millis(rng.below(300) as i64);
                    go_to(&mut sim, to);
                }
            }
            let shown: BTreeMap<TagId, u32> = sim.tags(hero).unwrap().into_iter().collect();
            assert_eq!(shown, granted(&sim, hero, &innate, &grants), "seed {seed}, step {step}");
            for (&t, &n) in &shown {
                assert_eq!(sim.tag_count(hero, t).unwrap(), n as u64);
            }
        }
    }
}
