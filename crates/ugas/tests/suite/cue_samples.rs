//! The sample cues of the specification, on a host that records its requests.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use ugas::core::CueType;
use ugas::prelude::*;
use ugas::{BurstCue, CueContext, CueManager, LoopCue};

/// The requests to the host, in order.
type Host = Rc<RefCell<Vec<String>>>;

struct StrengthBuff(Host);

impl LoopCue for StrengthBuff {
    fn add(&mut self, cx: &CueContext<'_>) {
        let seconds = cx.duration.map_or(0.0, SimTime::as_seconds);
        self.0.borrow_mut().extend(["spawn aura".to_owned(), format!("icon {seconds}"), "sound start".to_owned()]);
    }
    fn remove(&mut self, _: &CueContext<'_>) {
        let calls = ["destroy aura", "remove icon", "sound expire"];
        self.0.borrow_mut().extend(calls.map(str::to_owned));
    }
}

// covers: UGAS-14.2-02
#[test]
fn the_strength_buff_shows_its_aura_icon_and_sounds() {
    let rules = Rules::builder()
        .add(AttributeSet::new("V").with(Attribute::new("AttackPower", 10.0)))
        .add(
            Effect::lasting("GE_StrengthBuff", 30.0)
                .multiply("AttackPower", 0.25)
                .cue("GameplayCue.Status.StrengthBuff"),
        )
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::sets([rules.set("V").unwrap()])).unwrap();
    let host = Host::default();
    let mut cues = CueManager::default();
    let made = host.clone();
    let tag = rules.tag("GameplayCue.Status.StrengthBuff").unwrap();
    cues.register_loop(tag, 1, move || Box::new(StrengthBuff(made.clone())));
    let mut facts = Facts::default();
    sim.apply(&Spec::new(rules.effect("GE_StrengthBuff").unwrap(), hero)).unwrap();
    sim.take_facts(&mut facts);
    cues.dispatch(&sim, &facts);
    assert_eq!(*host.borrow(), ["spawn aura", "icon 30", "sound start"]);
    host.borrow_mut().clear();
    sim.advance_to(SimTime::seconds(30.0));
    sim.take_facts(&mut facts);
    cues.dispatch(&sim, &facts);
    assert_eq!(*host.borrow(), ["destroy aura", "remove icon", "sound expire"]);
}

/// Particle and sound of an impact, at the hit.
struct ImpactFire(Host);

impl BurstCue for ImpactFire {
    fn execute(&mut self, cx: &CueContext<'_>) {
        let place = cx.location.map_or("nowhere".to_owned(), |[x, y, z]| format!("{x} {y} {z}"));
        self.0.borrow_mut().extend(["particle", "sound"].map(|what| format!("{what} at {place}")));
    }
}

/// Particle and looping sound on a burning target.
struct Burning(Host);

impl LoopCue for Burning {
    fn add(&mut self, cx: &CueContext<'_>) {
        let on = cx.target.0;
        self.0.borrow_mut().extend([format!("attach particle to {on}"), format!("start loop on {on}")]);
    }
    fn remove(&mut self, cx: &CueContext<'_>) {
        let on = cx.target.0;
        self.0.borrow_mut().extend([format!("detach particle from {on}"), format!("stop loop on {on}")]);
    }
}

fn fire_rules() -> Arc<Rules> {
    Rules::builder()
        .add(AttributeSet::new("V").with(Attribute::new("Health", 100.0)))
        .add(Effect::instant("GE_FireDamage").add("Health", -25.0).cue("GameplayCue.Impact.Fire"))
        .add(Effect::lasting("GE_Burning", 3.0).cue("GameplayCue.Status.Burning"))
        .add(Effect::lasting("GE_StrengthBuff", 30.0).cue("GameplayCue.Status.StrengthBuff"))
        .build()
        .unwrap()
}

fn place(sim: &mut Sim, x: f64) -> ControllerId {
    let spec = SpawnSpec::sets([sim.rules().set("V").unwrap()]);
    sim.spawn(SpawnSpec { anchor: Some(Anchor::at([x, 0.0, 0.0])), ..spec }).unwrap()
}

fn hit_at(position: [f64; 3]) -> ugas::core::Hit {
    ugas::core::Hit { position: Some(position), ..Default::default() }
}

/// The facts of a step, played by every client.
fn play(sim: &mut Sim, clients: &mut [CueManager<'_>]) -> Facts {
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    clients.iter_mut().for_each(|client| client.dispatch(sim, &facts));
    facts
}

// covers: UGAS-12.3-05
#[test]
fn an_impact_cue_plays_at_the_hit_and_a_burning_cue_on_the_target() {
    let rules = fire_rules();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let orc = place(&mut sim, 9.0);
    let host = Host::default();
    let mut cues = CueManager::default();
    let (fire, burning) = (host.clone(), host.clone());
    let tag = |n: &str| rules.tag(n).unwrap();
    cues.register_burst(tag("GameplayCue.Impact.Fire"), 1, move || Box::new(ImpactFire(fire.clone())));
    cues.register_loop(tag("GameplayCue.Status.Burning"), 1, move || Box::new(Burning(burning.clone())));
    let mut clients = [cues];
    let spec = |name: &str| Spec::new(rules.effect(name).unwrap(), orc);
    sim.apply(&spec("GE_FireDamage").hit(hit_at([1.0, 2.0, 3.0]))).unwrap();
    // The orc has moved by the time the cue plays: the position is that of the hit.
    sim.run(Op::Move { who: orc, anchor: Some(Anchor::at([50.0, 0.0, 0.0])) }).unwrap();
    play(&mut sim, &mut clients);
    assert_eq!(*host.borrow(), ["particle at 1 2 3", "sound at 1 2 3"]);
    host.borrow_mut().clear();
    // Without a hit it plays at the position of the target.
    sim.apply(&spec("GE_FireDamage")).unwrap();
    play(&mut sim, &mut clients);
    assert_eq!(*host.borrow(), ["particle at 50 0 0", "sound at 50 0 0"]);
    host.borrow_mut().clear();
    sim.apply(&spec("GE_Burning")).unwrap();
    play(&mut sim, &mut clients);
    assert_eq!(*host.borrow(), ["attach particle to 0", "start loop on 0"]);
    host.borrow_mut().clear();
    sim.advance_to(SimTime::seconds(3.0));
    play(&mut sim, &mut clients);
    assert_eq!(*host.borrow(), ["detach particle from 0", "stop loop on 0"]);
}

/// The context that a cue received.
#[derive(Clone, Debug, PartialEq)]
struct Seen(ControllerId, Option<[f64; 3]>, Option<SimTime>, EffectKey, u32);

struct Context(Rc<RefCell<Vec<Seen>>>);

impl Context {
    fn note(&self, cx: &CueContext<'_>) {
        self.0.borrow_mut().push(Seen(cx.target, cx.hit, cx.duration, cx.key.unwrap(), cx.level));
    }
}

impl LoopCue for Context {
    fn add(&mut self, cx: &CueContext<'_>) {
        self.note(cx);
    }
    fn remove(&mut self, _: &CueContext<'_>) {}
}

// covers: UGAS-12.3-04
#[test]
fn a_cue_knows_target_hit_duration_and_effect() {
    let rules = fire_rules();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    place(&mut sim, 0.0);
    let hero = place(&mut sim, 1.0);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let into = seen.clone();
    let mut cues = CueManager::default();
    let tag = rules.tag("GameplayCue.Status.StrengthBuff").unwrap();
    cues.register_loop(tag, 1, move || Box::new(Context(into.clone())));
    let mut clients = [cues];
    let buff = Spec::new(rules.effect("GE_StrengthBuff").unwrap(), hero).level(2);
    let key = sim.apply(&buff.hit(hit_at([4.0, 5.0, 6.0]))).unwrap();
    play(&mut sim, &mut clients);
    assert_eq!(*seen.borrow(), [Seen(hero, Some([4.0, 5.0, 6.0]), Some(SimTime::seconds(30.0)), key, 2)]);
    // The handle is a real one.
    assert_eq!(sim.effect(key).unwrap().total, Some(SimTime::seconds(30.0)));
}

// covers: UGAS-12.2-01
#[test]
fn each_client_starts_the_cue_of_an_effect_once() {
    let rules = fire_rules();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let orc = place(&mut sim, 0.0);
    let hosts: [Host; 3] = Default::default();
    let mut clients: Vec<CueManager<'_>> = hosts
        .iter()
        .map(|host| {
            let (host, mut cues) = (host.clone(), CueManager::default());
            let fire = rules.tag("GameplayCue.Impact.Fire").unwrap();
            cues.register_burst(fire, 1, move || Box::new(ImpactFire(host.clone())));
            cues
        })
        .collect();
    sim.apply(&Spec::new(rules.effect("GE_FireDamage").unwrap(), orc)).unwrap();
    let facts = play(&mut sim, &mut clients);
    assert_eq!(sim.get(orc, rules.attribute("Health").unwrap()).unwrap(), 75.0);
    let fire = rules.tag("GameplayCue.Impact.Fire").unwrap();
    let cue = |f: &&Fact| matches!(f.kind, FactKind::Cue { .. });
    let cues: Vec<_> = facts.list.iter().filter(cue).map(|f| f.kind).collect();
    assert!(matches!(cues[..], [FactKind::Cue { tag, cue: CueType::Execute, .. }] if tag == fire), "{cues:?}");
    for host in &hosts {
        assert_eq!(*host.borrow(), ["particle at 0 0 0", "sound at 0 0 0"]);
    }
    // The next step emits nothing again.
    play(&mut sim, &mut clients);
    assert!(hosts.iter().all(|h| h.borrow().len() == 2));
}
