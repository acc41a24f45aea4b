//! The specification's sample cues, on a host that writes down what it is asked to show.

use std::cell::RefCell;
use std::rc::Rc;
use ugas::prelude::*;
use ugas::{CueContext, CueManager, LoopCue};

/// What the host was asked for, in order.
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
    let hero = sim.spawn(SpawnSpec::sets(vec![rules.set("V").unwrap()])).unwrap();
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
    sim.advance_to(SimTime::seconds(30.0), &mut NoHost);
    sim.take_facts(&mut facts);
    cues.dispatch(&sim, &facts);
    assert_eq!(*host.borrow(), ["destroy aura", "remove icon", "sound expire"]);
}
