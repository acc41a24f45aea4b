//! Faults that a review of abilities found: what comes from outside or from code that is wrong is refused, and a replay
//! of one row neither moves others nor forgets what they did.

mod common3;
use common3::*;
use std::sync::Arc;
use ugas_core::*;
use ugas_doc::{Ability, Combat, CombatRule, Effect, TagRegistry, Trigger};

fn other(sim: &mut Sim, rules: &Arc<Rules>, name: &str) -> ControllerId {
    let foe = spawn(sim);
    sim.grant(foe, AbilityGrant::new(ability(rules, name))).unwrap();
    foe
}

/// A hero with a journal, one second after an image of it was taken.
fn journalled(rules: &Arc<Rules>) -> (Stage, RowImage) {
    let mut s = Stage::new(rules, "GA");
    s.sim.keep_journal(s.hero).unwrap();
    let mut image = RowImage::default();
    s.sim.capture(s.hero, &mut image).unwrap();
    go(&mut s.sim, 1.0);
    (s, image)
}

/// Lets a second pass, then replays the hero from its image to now.
fn replay(s: &mut Stage, image: &RowImage) {
    let before = s.sim.hash();
    let (journal, now) = (s.sim.journal(s.hero).unwrap(), s.sim.now());
    s.sim.resimulate(image, Some(&journal), &mut [ResimulationStop::at(now)]).unwrap();
    assert_eq!(s.sim.hash(), before, "the replay gave another world");
}

fn strike_rules(leech: Ability) -> Arc<Rules> {
    base()
        .add(Effect { combat: Some(Combat::default()), ..Effect::instant("GE_Strike").add("Health", -10.0) })
        .add(TagRegistry::new(["Event.Damage.Dealt", "Event.Damage.Taken"]))
        .add(Ability::new("GA").task(wait(100.0)))
        .add(leech.trigger(Trigger::event("Event.Damage.Dealt")))
        .build()
        .unwrap()
}

#[test]
fn a_replay_does_not_make_the_attacker_react_again() {
    let rules = strike_rules(Ability::new("GA_Leech").task(mark("GE_Mark")));
    let (mut s, image) = journalled(&rules);
    let foe = other(&mut s.sim, &rules, "GA_Leech");
    s.sim.apply(&Spec::new(rules.effect("GE_Strike").unwrap(), s.hero).from(foe)).unwrap();
    go(&mut s.sim, 1.0);
    assert_eq!(get(&s.sim, foe, "AttackPower"), 11.0);
    replay(&mut s, &image);
    assert_eq!((s.get("Health"), get(&s.sim, foe, "AttackPower")), (90.0, 11.0));
}

#[test]
fn a_replay_starts_no_ability_of_others() {
    let rules = strike_rules(Ability::new("GA_Leech").multiple().task(wait(100.0)));
    let (mut s, image) = journalled(&rules);
    let foe = other(&mut s.sim, &rules, "GA_Leech");
    s.sim.apply(&Spec::new(rules.effect("GE_Strike").unwrap(), s.hero).from(foe)).unwrap();
    go(&mut s.sim, 1.0);
    replay(&mut s, &image);
    assert_eq!(s.sim.activations(foe).unwrap().count(), 1);
}

#[test]
fn a_replay_knows_that_a_blow_on_another_was_heard() {
    let rules = base()
        .add(Effect { combat: Some(Combat::default()), ..Effect::instant("GE_Strike").add("Health", -10.0) })
        .add(TagRegistry::new(["Event.Damage.Dealt", "Event.Damage.Taken"]))
        .add(Ability::new("GA").trigger(Trigger::event("Event.Damage.Dealt")).task(mark("GE_Mark")))
        .build()
        .unwrap();
    let (mut s, image) = journalled(&rules);
    let foe = spawn(&mut s.sim);
    s.sim.apply(&Spec::new(rules.effect("GE_Strike").unwrap(), foe).from(s.hero)).unwrap();
    go(&mut s.sim, 1.0);
    assert_eq!(s.get("AttackPower"), 11.0);
    replay(&mut s, &image);
    assert_eq!(s.get("AttackPower"), 11.0);
}

#[test]
fn a_replay_knows_what_anothers_ability_did() {
    let rules = base()
        .add(Ability::new("GA").task(wait(100.0)))
        .add(Ability::new("GA_Shoot").task(task("ApplyEffectToTarget").param("EffectClass", "GE_Hurt")))
        .add(Effect::infinite("GE_Buff").grants("State.Buff"))
        .add(Ability::new("GA_Strip").task(task("RemoveEffectFromTarget").param("EffectClass", "GE_Buff")))
        .build()
        .unwrap();
    let (mut s, image) = journalled(&rules);
    let foe = other(&mut s.sim, &rules, "GA_Shoot");
    s.sim.grant(foe, AbilityGrant::new(ability(&rules, "GA_Strip"))).unwrap();
    s.sim.apply(&Spec::new(rules.effect("GE_Buff").unwrap(), s.hero)).unwrap();
    let buff = tag(&rules, "State.Buff");
    for name in ["GA_Shoot", "GA_Strip"] {
        s.sim.activate(foe, ability(&rules, name), Target::Controller(s.hero)).unwrap();
    }
    go(&mut s.sim, 1.0);
    assert_eq!((s.get("Health"), s.sim.has_tag(s.hero, buff).unwrap()), (90.0, false));
    replay(&mut s, &image);
    assert_eq!((s.get("Health"), s.sim.has_tag(s.hero, buff).unwrap()), (90.0, false));
}

#[test]
fn a_replay_knows_an_event_that_anothers_ability_sent() {
    let rules = base()
        .add(Ability::new("GA").trigger(Trigger::event("Event.Other")).task(mark("GE_Mark")))
        .add(Ability::new("GA_Tell").task(task("SendEvent").param("EventTag", "Event.Other").param("To", "Target")))
        .build()
        .unwrap();
    let (mut s, image) = journalled(&rules);
    let foe = other(&mut s.sim, &rules, "GA_Tell");
    s.sim.activate(foe, ability(&rules, "GA_Tell"), Target::Controller(s.hero)).unwrap();
    go(&mut s.sim, 1.0);
    assert_eq!(s.get("AttackPower"), 11.0);
    replay(&mut s, &image);
    assert_eq!(s.get("AttackPower"), 11.0);
}

/// The foe tells the hero and wounds it at once: the hero's answer comes after both, in a replay as well.
#[test]
fn a_replay_keeps_the_order_of_what_arrived_and_what_followed() {
    let tell = task("SendEvent").param("EventTag", "Event.Other").param("To", "Target");
    let shoot = task("ApplyEffectToTarget").param("EffectClass", "GE_Hurt");
    let mut answer = Ability::new("GA").multiple().trigger(Trigger::event("Event.Other")).task(mark("GE_Mark"));
    answer.activation_condition = Some("Health < 95".into());
    let rules = base().add(answer).add(Ability::new("GA_Tell").task(tell).task(shoot)).build().unwrap();
    let (mut s, image) = journalled(&rules);
    let foe = other(&mut s.sim, &rules, "GA_Tell");
    s.sim.activate(foe, ability(&rules, "GA_Tell"), Target::Controller(s.hero)).unwrap();
    go(&mut s.sim, 1.0);
    assert_eq!((s.get("Health"), s.get("AttackPower")), (90.0, 11.0));
    replay(&mut s, &image);
    assert_eq!((s.get("Health"), s.get("AttackPower")), (90.0, 11.0));
    // Without the first op of all nothing of it happened.
    let mut journal = s.sim.journal(s.hero).unwrap();
    assert_eq!(journal.ops().count(), 0);
    let root = facts(&mut s.sim).iter().find(|f| f.kind.name() == "GameplayEvent").unwrap().root;
    journal.remove(root);
    let now = s.sim.now();
    s.sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(now)]).unwrap();
    assert_eq!((s.get("Health"), s.get("AttackPower")), (100.0, 10.0));
}

/// Makes its own commit impossible, then asks for more.
struct Spender;
impl CodedAbility for Spender {
    type State = u32;
    fn resume(&self, _: &mut u32, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        if why == Resume::Activated {
            let r = cx.rules();
            let (drain, other, spark, who) = (
                r.effect("GE_DrainAll").unwrap(),
                r.tag("Event.Other").unwrap(),
                r.tag("Cue.Spark").unwrap(),
                cx.who(),
            );
            cx.apply_to_owner(drain);
            cx.commit().unwrap();
            cx.send(other, who, 1.0);
            cx.cue(spark);
            return Next::After(SimTime::seconds(1.0));
        }
        Next::End
    }
}

#[test]
fn coded_acts_stop_at_a_failed_commit() {
    let rules = base()
        .add(Effect::instant("GE_DrainAll").add("Mana", -50.0))
        .add(Effect::instant("GE_Price").add("Mana", -20.0))
        .add(Ability::new("GA").manual().cost("GE_Price"))
        .ability_code("GA", Spender)
        .build()
        .unwrap();
    let mut s = Stage::new(&rules, "GA");
    facts(&mut s.sim);
    s.activate();
    let names: Vec<&str> = facts(&mut s.sim).iter().map(|f| f.kind.name()).collect();
    assert!(!names.contains(&"GameplayEvent") && !names.contains(&"Cue"), "{names:?}");
}

/// Remembers a number that cannot be written as JSON.
struct Inf;
impl CodedAbility for Inf {
    type State = f64;
    fn resume(&self, best: &mut f64, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        if why == Resume::Activated {
            *best = f64::INFINITY;
            return Next::After(SimTime::seconds(1.0));
        }
        if *best == f64::INFINITY {
            cx.apply_to_owner(cx.rules().effect("GE_Mark").unwrap());
        }
        Next::End
    }
}

#[test]
fn a_coded_state_that_cannot_be_kept_is_told() {
    let rules = base().add(Ability::new("GA")).ability_code("GA", Inf).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    assert!(!s.is_active());
    let mut told = Vec::new();
    s.sim.take_diagnostics(&mut told);
    assert!(told.iter().any(|d| d.kind == DiagnosticKind::Limit && d.who == s.hero), "{told:?}");
}

impl CustomTask for Inf {
    type State = f64;
    fn activate(&self, best: &mut f64, _: &TaskCx<'_>) -> Progression {
        *best = f64::INFINITY;
        Progression::Wait
    }
}

#[test]
fn a_custom_task_whose_state_cannot_be_kept_fails() {
    let rules = base().add(Ability::new("GA").task(task("Endless")).task(mark("GE_Mark")));
    let rules = rules.task("Endless", Inf).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    let failed = |f: &Fact| matches!(f.kind, FactKind::TaskEnded { result: TaskResult::Failed, .. });
    assert!(facts(&mut s.sim).iter().any(failed));
}

/// A hit that no game can mean: a tag that these rules do not have, or a place that is no number.
fn bad_hits() -> [Hit; 2] {
    [
        Hit { position: None, distance: None, tags: vec![TagId(60000)] },
        Hit { position: Some([f64::NAN; 3]), distance: None, tags: Vec::new() },
    ]
}

#[test]
fn a_spec_with_a_bad_hit_is_refused() {
    let mut e = Effect::instant("GE_Head").add("Health", -1.0);
    e.application_condition = Some("has_tag(hit, Hitzone.Head)".into());
    let rules = base().add(TagRegistry::new(["Hitzone.Head"])).add(e).add(Ability::new("GA")).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    for hit in bad_hits() {
        let said = s.sim.apply(&Spec::new(rules.effect("GE_Head").unwrap(), s.hero).hit(hit)).unwrap_err();
        assert!(matches!(said, Refusal::UnknownName { id: 60000, .. } | Refusal::BadValue { .. }), "{said:?}");
    }
}

#[test]
fn an_event_with_a_bad_hit_is_refused() {
    let rules = rules_with(Ability::new("GA").trigger(Trigger::event("Event.Hit")).task(wait(9.0)));
    let mut s = Stage::new(&rules, "GA");
    let tag = tag(&rules, "Event.Hit");
    for hit in bad_hits() {
        let said = s.sim.event(EventData { hit: Some(hit), ..EventData::new(tag, s.hero) }).unwrap_err();
        assert!(matches!(said, Refusal::UnknownName { id: 60000, .. } | Refusal::BadValue { .. }), "{said:?}");
    }
    assert!(!s.is_active());
}

#[test]
fn an_answer_with_a_bad_hit_is_refused() {
    let rules = rules_with(
        Ability::new("GA").task(task("WaitTargetData").param("TargetingMethod", "Cone")).task(mark("GE_Mark")),
    );
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    let asked = facts(&mut s.sim).into_iter().find_map(|f| match f.kind {
        FactKind::TaskRequest { task_key, .. } => Some(task_key),
        _ => None,
    });
    for hit in bad_hits() {
        let answer = Answer { hit: Some(hit), ..Answer::default() };
        let said = s.sim.complete(asked.unwrap(), answer).unwrap_err();
        assert!(matches!(said, Refusal::UnknownName { id: 60000, .. } | Refusal::BadValue { .. }), "{said:?}");
    }
    assert!(s.is_active());
}

/// Strikes and calls whom it aims at.
struct Caller;
impl CodedAbility for Caller {
    type State = u32;
    fn resume(&self, _: &mut u32, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        let (hurt, other) = (cx.rules().effect("GE_Hurt").unwrap(), cx.rules().tag("Event.Other").unwrap());
        if let (Resume::Activated, Target::Controller(target)) = (why, cx.target()) {
            cx.apply_to_target(hurt);
            cx.send(other, target, 1.0);
        }
        Next::End
    }
}

#[test]
fn a_replay_knows_what_anothers_code_did() {
    let rules = base()
        .add(Ability::new("GA").trigger(Trigger::event("Event.Other")).task(mark("GE_Mark")))
        .add(Ability::new("GA_Call"))
        .ability_code("GA_Call", Caller)
        .build()
        .unwrap();
    let (mut s, image) = journalled(&rules);
    let foe = other(&mut s.sim, &rules, "GA_Call");
    s.sim.activate(foe, ability(&rules, "GA_Call"), Target::Controller(s.hero)).unwrap();
    go(&mut s.sim, 1.0);
    assert_eq!((s.get("Health"), s.get("AttackPower")), (90.0, 11.0));
    replay(&mut s, &image);
}

/// Waits for what these rules do not have.
struct Odd;
impl CodedAbility for Odd {
    type State = u32;
    fn resume(&self, _: &mut u32, _: Resume<'_>, _: &mut AbilityCx<'_>) -> Next {
        Next::Event(TagId(60000))
    }
}

#[test]
fn code_that_waits_for_an_unknown_tag_gives_up() {
    let rules = base().add(Ability::new("GA")).ability_code("GA", Odd).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    s.event("Event.Hit", 1.0);
    assert!(!s.is_active());
}

#[test]
fn a_refused_commit_forgets_no_older_news() {
    // GA_Watch hears that GA ended; GA_Try is triggered by the same tag that ends GA, and its commit is refused late.
    let cost =
        Effect { remove_effects_with_tags: vec!["State.None".into()], ..Effect::instant("GE_Odd").add("Mana", -1.0) };
    let rules = base()
        .add(cost)
        .add(Effect::infinite("GE_Silence").grants("State.Silenced"))
        .add(Ability::new("GA").cancels("State.Silenced").task(wait(99.0)))
        .add(Ability::new("GA_Watch").task(task("WaitAbilityEnded").param("Ability", "GA")).task(mark("GE_Mark")))
        .add(
            Ability::new("GA_Try")
                .trigger(Trigger::tag_added("State.Silenced"))
                .cost("GE_Odd")
                .owned("State.Buff")
                .task(wait(9.0)),
        )
        .build()
        .unwrap();
    let limits = Limits { effects_per_controller: 1, ..Limits::default() };
    let mut s = Stage::with(&rules, "GA", SimConfig { limits, ..SimConfig::default() });
    for name in ["GA_Watch", "GA_Try"] {
        s.sim.grant(s.hero, AbilityGrant::new(ability(&rules, name))).unwrap();
    }
    s.activate();
    s.sim.activate(s.hero, ability(&rules, "GA_Watch"), Target::None).unwrap();
    s.sim.apply(&Spec::new(rules.effect("GE_Silence").unwrap(), s.hero)).unwrap();
    assert_eq!(s.get("AttackPower"), 11.0, "the end of GA was not heard");
}

/// The castable status remembers such a restriction; it may because nothing but the row's own effects decides it.
#[test]
fn a_conditional_restriction_of_use_is_a_load_error() {
    let rule = CombatRule {
        on: "AbilityUse".into(),
        restrict: true,
        when: Some("source.Health > 1".into()),
        ..CombatRule::default()
    };
    let e = Effect { rules: vec![rule], ..Effect::infinite("GE_R") };
    let said = base().add(e).build().unwrap_err();
    assert!(said.to_string().contains("remove When"), "{said}");
}

#[test]
fn details_do_not_pile_up_when_nobody_takes_facts() {
    let rules = rules_with(Ability::new("GA"));
    let limits = Limits { facts: 100, ..Limits::default() };
    let mut s = Stage::with(&rules, "GA", SimConfig { limits, ..SimConfig::default() });
    let tag = tag(&rules, "Event.Hit");
    for n in 0..5_000 {
        let payload = (0..60).map(|i| (ParamId(i), n as f64)).collect();
        s.sim.event(EventData { payload, magnitude: n as f64, ..EventData::new(tag, s.hero) }).unwrap();
    }
    let mut f = Facts::default();
    s.sim.take_facts(&mut f);
    assert!(f.list.len() <= 100 && f.detail.len() < 400_000, "{} facts, {} bytes", f.list.len(), f.detail.len());
    // Whatever is left still has its own payload.
    for fact in &f.list {
        let FactKind::GameplayEvent { magnitude, .. } = fact.kind else { continue };
        assert_eq!(f.params(fact).count(), 60);
        assert!(f.params(fact).all(|(_, v)| v == ParamValue::Number(magnitude)));
    }
}
