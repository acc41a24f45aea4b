//! The cost of tasks on the page Statistics.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use ugas_core::{AbilityGrant, Rules, Sim, SimConfig, SpawnSpec};
use ugas_data::Project;
use ugas_studio::session::Session;
use ugas_studio::{Backend, Library, Names};

const TEXT: &str = "\
Kind: attribute_set
Name: Vitals
Attributes: [{Name: Health, DefaultBaseValue: 100}]
---
Kind: gameplay_ability
Name: GA_Watch
Tasks: [{Type: WaitOverlap, TickInterval: 0.1}]
---
Kind: gameplay_ability
Name: GA_Rest
Tasks: [{Type: WaitDelay, Params: {Duration: 100}}]
";

/// Three actors with a task that ticks every 0.1 s, and one actor with a waiting task.
fn watchers(seed: u64) -> Result<Session, String> {
    let mut project = Project::default();
    project.put("watch.yaml", TEXT);
    let library = Library::new(project, None).map_err(|findings| findings[0].message.clone())?;
    let rules: Arc<Rules> = library.rules().clone();
    let mut sim = Sim::new(rules.clone(), SimConfig { seed, ..SimConfig::default() });
    for ability in ["GA_Watch", "GA_Watch", "GA_Watch", "GA_Rest"] {
        let ability = rules.ability(ability).unwrap();
        let abilities = vec![AbilityGrant::new(ability)];
        let who = sim.spawn(SpawnSpec { abilities, ..SpawnSpec::sets([rules.set("Vitals").unwrap()]) }).unwrap();
        sim.activate(who, ability, ugas_core::Target::None).unwrap();
    }
    Ok(Session::of_sim(sim, library, Names::default(), seed))
}

fn figures(backend: &mut Backend) -> Value {
    serde_json::from_str(&backend.answer(r#"{"ask":"figures"}"#)).unwrap()
}

#[test]
fn the_allocations_of_a_step_are_counted_with_a_counter() {
    use std::cell::Cell;
    thread_local!(static COUNT: Cell<u64> = const { Cell::new(0) });
    // Simulates an allocator: three more at each call.
    fn counter() -> u64 {
        COUNT.with(|count| count.replace(count.get() + 3))
    }
    let figures =
        |backend: &mut Backend| -> Value { serde_json::from_str(&backend.answer(r#"{"ask": "figures"}"#)).unwrap() };
    let mut without = Backend::new(Box::new(watchers), 7).unwrap();
    without.advance(100.0, &mut || 0.0);
    assert_eq!(figures(&mut without)["allocations"], Value::Null);
    let mut with = Backend::new(Box::new(watchers), 7).unwrap().with_counter(counter);
    with.advance(100.0, &mut || 0.0);
    assert_eq!(figures(&mut with)["allocations"], 3);
}

// covers: UGAS-10.6-10 UGAS-10.6-11
#[test]
fn each_task_type_has_running_count_tick_rate_and_time() {
    // Each read of the clock is a microsecond later.
    let time = AtomicU64::new(0);
    let clock = Arc::new(move || time.fetch_add(1_000, Ordering::Relaxed));
    let mut backend = Backend::new(Box::new(watchers), 7).unwrap().with_clock(clock);
    (0..5).for_each(|_| backend.advance(1000.0, &mut || 0.0));
    let figures_now = figures(&mut backend);
    assert_eq!(figures_now["tasks"].as_array().unwrap().len(), 1, "waiting is not ticking: {figures_now}");
    let task = &figures_now["tasks"][0];
    let number = |key: &str| task[key].as_f64().unwrap();
    assert_eq!((&task["task"], number("instances")), (&json!("WaitOverlap"), 3.0));
    assert!((8.0..=10.5).contains(&number("rate")), "ten a second after throttling: {task}");
    assert!((number("ticks") - 3.0 * 5.0 * number("rate")).abs() <= 3.0, "{task}");
    assert_eq!(number("average_us"), 1.0);
    assert_eq!(number("sum_us"), number("ticks"));
    assert_eq!(figures_now["waiting"].as_array().unwrap().iter().find(|w| w[0] == "WaitDelay").unwrap()[1], 1);
    assert_eq!((&figures_now["controllers"], &figures_now["running"]), (&json!(4), &json!(4)));
}

#[test]
fn a_clock_does_not_change_the_state() {
    let clock = Arc::new(|| 12_345);
    let mut with = Backend::new(Box::new(watchers), 7).unwrap().with_clock(clock);
    let mut without = Backend::new(Box::new(watchers), 7).unwrap();
    let hash = |backend: &mut Backend| {
        backend.advance(2000.0, &mut || 0.0);
        let frame: Value = serde_json::from_str(&backend.answer(r#"{"ask":"frame"}"#)).unwrap();
        frame["hash"].clone()
    };
    assert_eq!(hash(&mut with), hash(&mut without));
}

#[test]
fn the_clock_is_used_after_a_seek_to_the_first_snapshot() {
    let time = AtomicU64::new(0);
    let clock = Arc::new(move || time.fetch_add(1_000, Ordering::Relaxed));
    let mut backend = Backend::new(Box::new(watchers), 7).unwrap().with_clock(clock);
    backend.advance(1000.0, &mut || 0.0);
    backend.answer(r#"{"ask":"seek","tick":15}"#);
    assert_eq!(figures(&mut backend)["tasks"][0]["average_us"], 1.0);
}
