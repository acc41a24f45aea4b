//! The cost of tasks as `tracing` events.
#![cfg(feature = "tracing")]

use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use ugas_core::{AbilityGrant, Rules, Sim, SimConfig, SimTime, SpawnSpec, Target};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet};
use ugas_studio::session::Session;
use ugas_studio::{Backend, Library, Names, Profiler};

/// A subscriber that records every event.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<String>>>);

impl Subscriber for Listener {
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        about.target() == "ugas::tasks"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        struct Line(String);
        impl Visit for Line {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                self.0 += &format!("{}={value:?} ", field.name());
            }
        }
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Returns a world with an actor whose task ticks ten times per second.
fn watcher() -> (Arc<Rules>, Sim) {
    let rules = Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
        .add(Ability::new("GA_Watch").task(AbilityTask::new("WaitOverlap").every(0.1)))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let watch = rules.ability("GA_Watch").unwrap();
    let spec =
        SpawnSpec { abilities: vec![AbilityGrant::new(watch)], ..SpawnSpec::sets([rules.set("Vitals").unwrap()]) };
    let who = sim.spawn(spec).unwrap();
    sim.activate(who, watch, Target::None).unwrap();
    (rules, sim)
}

// covers: UGAS-10.6-11
#[test]
fn every_frame_of_a_ticking_task_is_a_tracing_event() {
    let (rules, mut sim) = watcher();
    let mut profiler = Profiler::new(Arc::new(|| 0));
    sim.advance_with(SimTime::frames(6, 60), &mut profiler);
    let listener = Listener::default();
    tracing::subscriber::with_default(listener.clone(), || profiler.emit(&rules));
    let events = listener.0.lock().unwrap();
    assert_eq!(events.len(), profiler.take_records().len());
    assert!(!events.is_empty());
    assert!(
        events.iter().all(|line| line.contains("task=\"WaitOverlap\"") && line.contains("running=1")),
        "{events:?}"
    );
}

#[test]
fn a_resimulated_step_emits_no_tracing_event() {
    let boot = |seed| {
        let (rules, sim) = watcher();
        let library = Library::of_running(rules, "nowhere".as_ref());
        Ok(Session::of_sim(sim, library, Names::default(), seed))
    };
    let mut backend = Backend::new(Box::new(boot), 7).unwrap();
    let listener = Listener::default();
    let count = || listener.0.lock().unwrap().len();
    tracing::subscriber::with_default(listener.clone(), || {
        backend.answer(r#"{"ask":"step","ticks":100}"#);
        let emitted = count();
        assert!(emitted > 10, "{emitted}");
        for question in [r#"{"ask":"seek","tick":7}"#, r#"{"ask":"step","ticks":50}"#, r#"{"ask":"seek","tick":100}"#] {
            backend.answer(question);
            assert_eq!(count(), emitted, "{question}");
        }
        backend.answer(r#"{"ask":"step","ticks":20}"#);
        assert!(count() > emitted, "new steps emit events");
    });
}
