//! Hooks, requirements and chances: checks before an effect is applied, and hooks after it.

use crate::kit::world::World;
use std::sync::{Arc, Mutex};
use ugas_core::{DiagnosticKind, FactKind, Refusal, Rules, SpawnSpec};
use ugas_doc::{Attribute, AttributeSet, Effect, TagRegistry};

fn vitals() -> AttributeSet {
    AttributeSet::new("Vitals")
        .with(Attribute::new("MaxHealth", 100.0))
        .with(Attribute::new("Health", 100.0).min(0.0).max("MaxHealth"))
}

// covers: UGAS-9.2-06
#[test]
fn a_before_hook_reads_the_values_before_the_application_and_can_refuse_it() {
    let seen: Arc<Mutex<Vec<f64>>> = Arc::default();
    let into = seen.clone();
    let mut w = World::new(
        Rules::builder()
            .add(vitals())
            .add(TagRegistry::new(["State.Untouchable"]))
            .add(Effect::infinite("GE_Untouchable").grants("State.Untouchable"))
            .add(Effect::instant("GE_Damage").add("Health", -25.0))
            .before_hook("Untouchable", move |cx| {
                if cx.rules().effect_name(cx.spec().effect) != Some("GE_Damage") {
                    return true;
                }
                into.lock().unwrap().push(cx.target("Health").unwrap());
                cx.rules().find_tag("State.Untouchable").is_none_or(|t| !cx.target_has(t))
            }),
    );
    let who = w.spawn("Vitals");
    w.apply("GE_Damage", who);
    assert_eq!((seen.lock().unwrap()[0], w.get(who, "Health")), (100.0, 75.0));
    w.apply("GE_Untouchable", who);
    w.facts();
    let before = w.sim.row_hash(who).unwrap();
    let refusal = w.try_apply("GE_Damage", who).unwrap_err();
    assert_eq!(refusal.kind(), "Hook");
    assert!(refusal.describe(&w.rules).contains("Untouchable"));
    assert_eq!((w.get(who, "Health"), w.sim.row_hash(who).unwrap()), (75.0, before));
    assert!(w.facts().is_empty());
    assert_eq!(*seen.lock().unwrap(), [100.0, 75.0]);
}

#[test]
fn a_before_hook_also_runs_for_reactions_and_initial_effects() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let into = seen.clone();
    let mut bomb = Effect::lasting("GE_Bomb", 1.0);
    bomb.effects.get_or_insert_default().on_expired = vec!["GE_Blast".into()];
    let mut w = World::new(
        Rules::builder().add(vitals()).add(bomb).add(Effect::instant("GE_Blast").add("Health", -5.0)).before_hook(
            "Log",
            move |cx| {
                into.lock().unwrap().push(cx.rules().effect_name(cx.spec().effect).unwrap().to_owned());
                cx.rules().effect_name(cx.spec().effect) != Some("GE_Blast")
            },
        ),
    );
    let spec = SpawnSpec::sets([w.set("Vitals")]).effect(w.effect("GE_Bomb"));
    let who = w.sim.spawn(spec).unwrap();
    w.to(2.0);
    assert_eq!(*seen.lock().unwrap(), ["GE_Bomb", "GE_Blast"]);
    assert_eq!(w.get(who, "Health"), 100.0);
    let refused =
        |k: &DiagnosticKind| matches!(k, DiagnosticKind::ReactionRefused { refusal } if refusal.kind() == "Hook");
    assert!(w.diagnostics().iter().any(|d| refused(&d.kind)));
}

#[test]
fn an_after_hook_can_request_another_effect() {
    let mut w = World::new(
        Rules::builder()
            .add(vitals())
            .add(Effect::instant("GE_Damage").add("Health", -25.0))
            .add(Effect::infinite("GE_LowHealth").grants("State.Low"))
            .after_hook("Low", |cx| {
                let rules = cx.context().rules();
                let (damage, low) = (rules.find_effect("GE_Damage"), rules.find_effect("GE_LowHealth"));
                if Some(cx.context().spec().effect) == damage && cx.context().target("Health") == Some(25.0) {
                    cx.then(low.unwrap());
                }
            }),
    );
    let (boss, who) = (w.spawn("Vitals"), w.spawn("Vitals"));
    for _ in 0..2 {
        w.hit("GE_Damage", boss, who);
    }
    assert!(!w.has(who, "State.Low"));
    w.facts();
    w.hit("GE_Damage", boss, who);
    assert!(w.has(who, "State.Low"));
    let facts = w.facts();
    let roots: Vec<_> = facts.iter().map(|f| f.root).collect();
    assert!(roots.iter().all(|r| *r == roots[0]), "one root cause");
    assert!(facts.iter().all(|f| f.source == boss), "same source");
}

// covers: PEER-03
#[test]
fn blocked_tags_source_tags_conditions_hooks_and_chance_decide_in_order() {
    let mut effect = Effect::instant("GE_Finish").add("Health", -1.0);
    effect.application_blocked_tags = vec!["State.Ghost".into()];
    effect.source_required_tags = vec!["Class.Rogue".into()];
    effect.source_blocked_tags = vec!["State.Pacified".into()];
    effect.application_condition = Some("Health / MaxHealth < 0.3".into());
    effect.application_requirement = Some("Req_Behind".into());
    let mut luck = Effect::instant("GE_Luck").add("MaxHealth", 1.0);
    luck.application_chance = Some(0.25.into());
    let rules = Rules::builder()
        .add(vitals())
        .add(effect)
        .add(luck)
        .requirement("Req_Behind", |cx| cx.source("MaxHealth").is_some_and(|v| v > 50.0))
        .build()
        .unwrap();
    let mut w = World::on(rules.clone(), 11);
    let new = |w: &mut World, tag: Option<&str>, health, max| {
        let mut spec = SpawnSpec::sets([w.set("Vitals")]).base(w.attr("Health"), health).base(w.attr("MaxHealth"), max);
        spec.tags.extend(tag.map(|t| w.tag(t)));
        w.sim.spawn(spec).unwrap()
    };
    let rogue = new(&mut w, Some("Class.Rogue"), 100.0, 100.0);
    let small = new(&mut w, Some("Class.Rogue"), 10.0, 50.0);
    let calm = new(&mut w, Some("State.Pacified"), 100.0, 100.0);
    let weak = new(&mut w, None, 29.0, 100.0);
    let fit = new(&mut w, None, 30.0, 100.0);
    let ghost = new(&mut w, Some("State.Ghost"), 1.0, 100.0);
    let mut kind = |source, target| {
        let spec = w.spec("GE_Finish", target).from(source);
        w.sim.apply(&spec).map_err(|r| r.kind()).map(|_| ())
    };
    assert_eq!(kind(rogue, ghost), Err("BlockedTags"));
    assert_eq!(kind(weak, weak), Err("SourceTags"));
    assert_eq!(kind(calm, weak), Err("SourceTags"));
    assert_eq!(kind(rogue, fit), Err("Condition"));
    assert_eq!(kind(small, weak), Err("Condition"));
    assert_eq!(kind(rogue, weak), Ok(()));
    // Chance: 10,000 tries, within three sigma, and the same sequence on a replay with the same seed.
    let tries = |seed| {
        let mut w = World::on(rules.clone(), seed);
        let who = w.spawn("Vitals");
        let spec = w.spec("GE_Luck", who);
        let sequence: Vec<bool> = (0..10_000)
            .map(|_| match w.sim.apply(&spec) {
                Ok(_) => true,
                Err(Refusal::Chance { rolled, needed }) => {
                    assert!(rolled >= needed && needed == 0.25);
                    false
                }
                Err(other) => panic!("{other:?}"),
            })
            .collect();
        sequence
    };
    let first = tries(11);
    let hits = first.iter().filter(|h| **h).count() as f64;
    let sigma = libm::sqrt(10_000.0 * 0.25 * 0.75);
    assert!((hits - 2_500.0).abs() <= 3.0 * sigma, "{hits} hits");
    assert_eq!(first, tries(11));
    assert_ne!(first, tries(12));
}

#[test]
fn chances_of_one_and_zero_are_exact() {
    let chance = |name: &str, p: f64| {
        let mut e = Effect::instant(name).add("MaxHealth", 1.0);
        e.application_chance = Some(p.into());
        e
    };
    let mut w = World::new(Rules::builder().add(vitals()).add(chance("GE_Always", 1.0)).add(chance("GE_Never", 0.0)));
    let who = w.spawn("Vitals");
    for _ in 0..1_000 {
        w.apply("GE_Always", who);
        assert!(w.try_apply("GE_Never", who).is_err());
    }
    w.facts();
    assert_eq!(w.get(who, "MaxHealth"), 1_100.0);
    assert!(!w.facts().iter().any(|f| matches!(f.kind, FactKind::EffectApplied { .. })));
}
