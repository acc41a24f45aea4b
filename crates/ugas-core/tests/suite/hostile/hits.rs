//! Hits that no game can mean, in specs, events and answers: each is refused with the reason.

use crate::kit::tasks::*;
use ugas_core::*;
use ugas_doc::{Ability, Effect, TagRegistry, Trigger};

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
        let refusal = s.sim.apply(&Spec::new(rules.effect("GE_Head").unwrap(), s.hero).hit(hit)).unwrap_err();
        assert!(matches!(refusal, Refusal::UnknownName { id: 60000, .. } | Refusal::BadValue { .. }), "{refusal:?}");
    }
}

#[test]
fn an_event_with_a_bad_hit_is_refused() {
    let rules = rules_with(Ability::new("GA").trigger(Trigger::event("Event.Hit")).task(wait(9.0)));
    let mut s = Stage::new(&rules, "GA");
    let tag = tag(&rules, "Event.Hit");
    for hit in bad_hits() {
        let refusal = s.sim.event(EventData { hit: Some(hit), ..EventData::new(tag, s.hero) }).unwrap_err();
        assert!(matches!(refusal, Refusal::UnknownName { id: 60000, .. } | Refusal::BadValue { .. }), "{refusal:?}");
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
        let refusal = s.sim.complete(asked.unwrap(), answer).unwrap_err();
        assert!(matches!(refusal, Refusal::UnknownName { id: 60000, .. } | Refusal::BadValue { .. }), "{refusal:?}");
    }
    assert!(s.is_active());
}
