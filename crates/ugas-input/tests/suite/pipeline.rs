//! From a device to an ability of a sim.

use crate::kit::{actions, docs, input, mapping};
use ugas_core::{ControllerId, Op, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec, Target};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect, GrantedAbilityEntry};
use ugas_input::{Controls, DeviceEvent, DeviceId, InputCode, Intent, OnConflict, Remap, Seat, SeatOutput};

struct Game {
    sim: Sim,
    who: ControllerId,
    controls: Controls,
    seat: Seat,
}

impl Game {
    /// A controller with an ability on Fire that lasts a second.
    fn new(lines: &[&str]) -> Game {
        let documents = docs(&(actions("Fire") + &mapping(lines)));
        let grant = GrantedAbilityEntry { input_id: Some("Fire".into()), ..GrantedAbilityEntry::new("GA_Fire") };
        let wait = AbilityTask::new("WaitDelay").param("Duration", 1.0);
        let mut builder = Rules::builder()
            .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
            .add(Ability::new("GA_Fire").task(wait))
            .add(Effect { granted_abilities: vec![grant], ..Effect::infinite("GE_Arm") });
        for doc in &documents {
            builder = builder.add(doc.clone());
        }
        let rules = builder.build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
        sim.apply(&Spec::new(rules.effect("GE_Arm").unwrap(), who)).unwrap();
        Game { sim, who, controls: Controls::new(&documents, &[]).unwrap(), seat: Seat::new() }
    }

    /// Presses a device input and returns how many abilities run afterwards.
    fn press(&mut self, name: &str) -> usize {
        let at = SimTime(self.sim.now().0 + SimTime::millis(10).0);
        self.seat.take(DeviceEvent::press(at, DeviceId(0), InputCode::named(name).unwrap()));
        let mut out = SeatOutput::default();
        self.seat.step(&self.controls, &self.sim, self.who, Target::None, at, &mut out);
        for (at, intent) in out.intents {
            self.sim.advance_to(at);
            if let Intent::Press { input, target } = intent {
                self.sim.run(Op::Press { who: self.who, input, target }).unwrap();
            }
        }
        self.sim.activations(self.who).unwrap().count()
    }
}

// covers: UGAS-11.1-01 UGAS-11.2-01
#[test]
fn a_device_input_activates_the_ability_of_its_action() {
    let lines = ["Fire: Mouse.LeftButton", "Fire: Gamepad.RightTrigger"];
    assert_eq!(Game::new(&lines).press("Mouse.LeftButton"), 1);
    assert_eq!(Game::new(&lines).press("Gamepad.RightTrigger"), 1, "any device that is bound to Fire");
    assert_eq!(Game::new(&lines).press("Mouse.RightButton"), 0);
}

// covers: UGAS-11.1-02
#[test]
fn remapping_changes_no_ability() {
    let mut game = Game::new(&["Fire: Mouse.LeftButton"]);
    let (left, right) = ([input("Mouse.LeftButton")], [input("Mouse.RightButton")]);
    let before = game.sim.rules().fingerprint();
    assert_eq!(game.controls.remap("Play", "Fire", None, &left, &right, OnConflict::Warn), Remap::Done);
    assert_eq!(game.press("Mouse.LeftButton"), 0);
    assert_eq!(game.press("Mouse.RightButton"), 1);
    assert_eq!(game.sim.rules().fingerprint(), before);
}

#[test]
fn mappings_modifiers_and_profiles_are_not_in_the_hash_of_the_rules() {
    let build = |text: &str| {
        let mut builder = Rules::builder();
        for doc in docs(text) {
            builder = builder.add(doc);
        }
        builder.build().unwrap().fingerprint()
    };
    let plain = build(&actions("Fire"));
    let stick = "---\nKind: input_modifier\nName: Stick\nType: Normalize\n---\nKind: input_profile\nVersion: 1\n";
    assert_eq!(build(&(actions("Fire") + &mapping(&["Fire: Key.F"]) + stick)), plain);
}
