//! Cues through a manager: registered cues play once per trigger, are pooled, and never change the game.

use std::cell::RefCell;
use std::rc::Rc;
use ugas::prelude::*;
use ugas::{BurstCue, CueContext, CueManager, LoopCue};

/// What cues did, in order.
type Calls = Rc<RefCell<Vec<String>>>;

struct Recorder {
    name: &'static str,
    calls: Calls,
}

impl Recorder {
    fn note(&self, what: &str, cx: &CueContext<'_>) {
        let duration = cx.duration.map_or(String::new(), |d| format!(" for {}", d.as_seconds()));
        let line = format!("{} {what} on {}{duration} at {}", self.name, cx.target.0, cx.at.as_seconds());
        self.calls.borrow_mut().push(line);
    }
}

impl BurstCue for Recorder {
    fn execute(&mut self, cx: &CueContext<'_>) {
        self.note("bursts", cx);
    }
}

impl LoopCue for Recorder {
    fn add(&mut self, cx: &CueContext<'_>) {
        self.note("starts", cx);
    }
    fn remove(&mut self, cx: &CueContext<'_>) {
        self.note("stops", cx);
    }
    fn execute(&mut self, cx: &CueContext<'_>) {
        self.note("beats", cx);
    }
}

fn sim() -> (Sim, ControllerId) {
    let rules = Rules::builder()
        .add(AttributeSet::new("V").with(Attribute::new("Health", 100.0)).with(Attribute::new("AttackPower", 10.0)))
        .add(Effect::instant("GE_FireDamage").add("Health", -25.0).cue("GameplayCue.Impact.Fire"))
        .add(Effect::instant("GE_Silent").add("Health", -1.0).cue("GameplayCue.Nobody"))
        .add(
            Effect::lasting("GE_StrengthBuff", 30.0)
                .multiply("AttackPower", 0.25)
                .cue("GameplayCue.Status.StrengthBuff"),
        )
        .add(Effect::lasting("GE_Poison", 10.0).every(1.0).add("Health", -1.0).cue("GameplayCue.Status.Poison"))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let spec = SpawnSpec::sets([rules.set("V").unwrap()]);
    let who = sim.spawn(SpawnSpec { anchor: Some(Anchor::at([1.0, 2.0, 3.0])), ..spec }).unwrap();
    (sim, who)
}

fn tag(sim: &Sim, name: &str) -> TagId {
    sim.rules().tag(name).unwrap()
}

fn apply(sim: &mut Sim, who: ControllerId, effect: &str) -> EffectKey {
    let effect = sim.rules().effect(effect).unwrap();
    sim.apply(&Spec::new(effect, who).from(who)).unwrap()
}

fn burst(calls: &Calls, name: &'static str) -> impl FnMut() -> Box<dyn BurstCue> + use<> {
    let calls = calls.clone();
    move || Box::new(Recorder { name, calls: calls.clone() })
}

fn looping(calls: &Calls, name: &'static str) -> impl FnMut() -> Box<dyn LoopCue> + use<> {
    let calls = calls.clone();
    move || Box::new(Recorder { name, calls: calls.clone() })
}

fn play(sim: &mut Sim, managers: &mut [&mut CueManager<'_>]) {
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    managers.iter_mut().for_each(|m| m.dispatch(sim, &facts));
}

fn taken(calls: &Calls) -> Vec<String> {
    std::mem::take(&mut calls.borrow_mut())
}

// covers: UGAS-12.3-01 UGAS-12.4-01
#[test]
fn a_burst_plays_once_per_trigger_and_unknown_tags_are_ignored() {
    let (mut sim, who) = sim();
    let calls = Calls::default();
    let mut cues = CueManager::default();
    cues.register_burst(tag(&sim, "GameplayCue.Impact.Fire"), 2, burst(&calls, "fire"));
    for _ in 0..3 {
        apply(&mut sim, who, "GE_FireDamage");
    }
    apply(&mut sim, who, "GE_Silent");
    play(&mut sim, &mut [&mut cues]);
    assert_eq!(taken(&calls), vec!["fire bursts on 0 at 0"; 3]);
    let figures = cues.figures();
    assert_eq!((figures.active, figures.unknown, figures.made), (0, 1, 1));
}

// covers: UGAS-12.3-02 UGAS-12.4-02
#[test]
fn a_loop_plays_from_start_to_end_of_its_effect_and_knows_its_context() {
    let (mut sim, who) = sim();
    let calls = Calls::default();
    let aura = tag(&sim, "GameplayCue.Status.StrengthBuff");
    let mut cues = CueManager::default();
    cues.register_loop(aura, 2, looping(&calls, "aura"));
    let seen = Rc::new(RefCell::new(Vec::new()));
    let other = seen.clone();
    type Seen = (EffectKey, ControllerId, Option<[f64; 3]>, Option<SimTime>);
    struct Context(Rc<RefCell<Vec<Seen>>>);
    impl LoopCue for Context {
        fn add(&mut self, cx: &CueContext<'_>) {
            self.0.borrow_mut().push((cx.key.unwrap(), cx.target, cx.location, cx.duration));
        }
        fn remove(&mut self, _: &CueContext<'_>) {}
    }
    let mut second = CueManager::default();
    second.register_loop(aura, 1, move || Box::new(Context(other.clone())));
    let key = apply(&mut sim, who, "GE_StrengthBuff");
    play(&mut sim, &mut [&mut cues, &mut second]);
    assert_eq!(seen.borrow()[0], (key, who, Some([1.0, 2.0, 3.0]), Some(SimTime::seconds(30.0))));
    assert!(cues.is_playing(who, aura));
    assert_eq!(cues.figures().active, 1);
    sim.advance_to(SimTime::seconds(30.0));
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    cues.dispatch(&sim, &facts);
    assert_eq!(taken(&calls), ["aura starts on 0 for 30 at 0", "aura stops on 0 at 30"]);
    assert_eq!(cues.figures().active, 0);
    // A second Remove finds nothing.
    cues.dispatch(&sim, &facts);
    assert!(taken(&calls).is_empty());
}

// covers: UGAS-12.3-03
#[test]
fn periodic_executions_call_an_active_loop() {
    let (mut sim, who) = sim();
    let calls = Calls::default();
    let mut cues = CueManager::default();
    cues.register_loop(tag(&sim, "GameplayCue.Status.Poison"), 2, looping(&calls, "poison"));
    cues.register_burst(tag(&sim, "GameplayCue.Status"), 2, burst(&calls, "status"));
    apply(&mut sim, who, "GE_Poison");
    sim.advance_to(SimTime::seconds(11.0));
    play(&mut sim, &mut [&mut cues]);
    let calls = taken(&calls);
    let count = |what: &str| calls.iter().filter(|c| c.starts_with(what)).count();
    let counts = (count("poison starts"), count("poison beats"), count("poison stops"), count("status bursts"));
    assert_eq!(counts, (1, 10, 1, 10));
}

// covers: UGAS-12.4-03
#[test]
fn instances_are_pooled() {
    let (mut sim, who) = sim();
    let calls = Calls::default();
    let mut cues = CueManager::default();
    cues.register_burst(tag(&sim, "GameplayCue.Impact"), 4, burst(&calls, "impact"));
    cues.register_loop(tag(&sim, "GameplayCue.Status"), 1, looping(&calls, "status"));
    for _ in 0..100 {
        apply(&mut sim, who, "GE_FireDamage");
        let key = apply(&mut sim, who, "GE_StrengthBuff");
        sim.remove(key).unwrap();
        play(&mut sim, &mut [&mut cues]);
    }
    let figures = cues.figures();
    assert_eq!(taken(&calls).len(), 300);
    assert_eq!((figures.made, figures.reused, figures.pooled, figures.active), (2, 198, 2, 0));
}

// covers: UGAS-12.1-02
#[test]
fn two_clients_have_their_own_cues_for_one_tag() {
    let (mut sim, who) = sim();
    let (one, two) = (Calls::default(), Calls::default());
    let impact = tag(&sim, "GameplayCue.Impact.Fire");
    let (mut desktop, mut phone) = (CueManager::default(), CueManager::default());
    desktop.register_burst(impact, 1, burst(&one, "sparks"));
    phone.register_burst(impact, 1, burst(&two, "flash"));
    apply(&mut sim, who, "GE_FireDamage");
    play(&mut sim, &mut [&mut desktop, &mut phone]);
    assert_eq!(taken(&one), ["sparks bursts on 0 at 0"]);
    assert_eq!(taken(&two), ["flash bursts on 0 at 0"]);
}

// covers: UGAS-12.1-01 UGAS-3.4-07
#[test]
fn cues_change_no_state() {
    let run = |with: bool| {
        let (mut sim, who) = sim();
        let calls = Calls::default();
        let mut cues = CueManager::default();
        cues.register_burst(tag(&sim, "GameplayCue"), 1, burst(&calls, "all"));
        cues.register_loop(tag(&sim, "GameplayCue"), 1, looping(&calls, "all"));
        for effect in ["GE_FireDamage", "GE_StrengthBuff", "GE_Poison"] {
            apply(&mut sim, who, effect);
        }
        for second in 1..40 {
            sim.advance_to(SimTime::seconds(second as f64));
            let mut facts = Facts::default();
            sim.take_facts(&mut facts);
            if with {
                let before = sim.hash();
                cues.dispatch(&sim, &facts);
                assert_eq!(sim.hash(), before);
            }
        }
        (sim.hash(), taken(&calls).len())
    };
    let (without, none) = run(false);
    let (with, some) = run(true);
    assert_eq!(without, with);
    assert!(none == 0 && some > 10);
}

// covers: UGAS-12.5-01 UGAS-12.5-03
#[test]
fn a_headless_host_has_no_manager_and_loads_nothing() {
    let mut loaded = 0;
    assert!(
        CueManager::for_host(true, || {
            loaded += 1;
            CueManager::default()
        })
        .is_none()
    );
    assert_eq!(loaded, 0);
    let shown = CueManager::for_host(false, || {
        loaded += 1;
        CueManager::default()
    });
    assert!(shown.is_some());
    drop(shown);
    assert_eq!(loaded, 1);
    // Triggered cues are emitted all the same.
    let (mut sim, who) = sim();
    apply(&mut sim, who, "GE_FireDamage");
    assert!(sim.facts().list.iter().any(|f| matches!(f.kind, FactKind::Cue { .. })));
}

#[test]
fn a_late_joiner_starts_active_cues_and_a_removed_actor_stops_them() {
    let (mut sim, who) = sim();
    apply(&mut sim, who, "GE_StrengthBuff");
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    let calls = Calls::default();
    let mut late = CueManager::default();
    late.register_loop(tag(&sim, "GameplayCue.Status"), 1, looping(&calls, "status"));
    sim.advance_to(SimTime::seconds(5.0));
    late.join(&sim);
    late.join(&sim);
    assert_eq!(taken(&calls), ["status starts on 0 at 5"]);
    sim.despawn(who).unwrap();
    play(&mut sim, &mut [&mut late]);
    assert_eq!(taken(&calls), ["status stops on 0 at 5"]);
    assert_eq!(late.figures().active, 0);
}

#[test]
fn cue_facts_can_be_sent_to_another_thread() {
    let (mut sim, who) = sim();
    apply(&mut sim, who, "GE_FireDamage");
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    let there = std::thread::spawn(move || facts.list.iter().filter(|f| f.kind.name() == "Cue").count());
    assert_eq!(there.join().unwrap(), 1);
}
