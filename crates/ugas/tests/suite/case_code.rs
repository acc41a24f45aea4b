//! The fireball, the jump and the whirlwind of chapters 14 and 15 as code instead of tasks. The state of the code is a
//! few bytes in the row, so a fork in the middle continues like the original.

use std::sync::Arc;
use ugas::core::{AbilityCx, AbilityGrant, CodedAbility, EventData, InputId, Next, Resume, Target, Which};
use ugas::prelude::*;

fn tag(cx: &AbilityCx<'_>, name: &str) -> TagId {
    cx.rules().tag(name).unwrap()
}
fn effect(cx: &AbilityCx<'_>, name: &str) -> EffectId {
    cx.rules().effect(name).unwrap()
}

/// Waits 1.5 s, then requests the projectile; an interruption emits an event.
struct Fireball;
impl CodedAbility for Fireball {
    type State = bool;
    fn resume(&self, thrown: &mut bool, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        match why {
            Resume::Activated => Next::After(SimTime::seconds(1.5)),
            Resume::Elapsed => {
                *thrown = true;
                cx.send(tag(cx, "Event.Projectile"), cx.who(), 1.0);
                cx.apply_to_target(effect(cx, "GE_FireballDamage"));
                Next::End
            }
            Resume::End { cancelled: true } if !*thrown => {
                cx.cue(tag(cx, "GameplayCue.Ability.Interrupted"));
                Next::End
            }
            _ => Next::End,
        }
    }
}

/// Jumps and remembers whether the button was let go; a release on the way up cuts it; a landing ends it.
struct Jump(InputId);
impl CodedAbility for Jump {
    type State = bool;
    fn resume(&self, released: &mut bool, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        let velocity = cx.rules().find_attribute("VerticalVelocity").and_then(|a| cx.get(a)).unwrap_or(0.0);
        match why {
            Resume::Activated => {
                cx.apply_to_owner(effect(cx, "GE_InAir"));
                let speed = cx.rules().find_attribute("JumpVelocity").and_then(|a| cx.get(a)).unwrap_or(0.0);
                cx.send(tag(cx, "Event.Impulse"), cx.who(), speed);
                Next::Input(self.0)
            }
            Resume::Input { pressed: false, .. } if !*released => {
                *released = true;
                if velocity > 0.0 {
                    cx.apply_to_owner(effect(cx, "GE_JumpCut"));
                }
                Next::Event(tag(cx, "Event.Landed"))
            }
            Resume::Input { .. } => Next::Input(self.0),
            Resume::Event(_) => Next::End,
            _ => {
                cx.remove_from_owner(effect(cx, "GE_JumpCut"));
                cx.remove_from_owner(effect(cx, "GE_InAir"));
                Next::End
            }
        }
    }
}

/// Hits all targets in range; vulnerable ones more, immune ones not at all.
struct Whirlwind;
impl CodedAbility for Whirlwind {
    type State = ();
    fn resume(&self, _: &mut (), why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        if why != Resume::Activated {
            return Next::End;
        }
        let (hit, bonus) = (effect(cx, "GE_WhirlwindDamage"), cx.rules().key("VulnerabilityBonus").unwrap());
        for foe in cx.within(500.0) {
            if cx.has_of(foe, tag(cx, "Immunity.Physical")) {
                cx.send(tag(cx, "Event.Text.Immune"), foe, 0.0);
                continue;
            }
            let more = if cx.has_of(foe, tag(cx, "Status.Vulnerable")) { 0.2 } else { 0.0 };
            cx.apply(Spec::new(hit, foe).set(bonus, more));
        }
        Next::End
    }
}

fn rules() -> Arc<Rules> {
    // The caster's effect sets the extra damage to vulnerable targets.
    let mut whirlwind = Effect::instant("GE_WhirlwindDamage").execute("ExecCalc_ARPGDamage");
    whirlwind.application_condition = Some("sbc.VulnerabilityBonus >= 0".to_owned());
    Rules::builder()
        .add(
            AttributeSet::new("Hero")
                .with(Attribute::new("Health", 100.0).min(0.0))
                .with(Attribute::new("Mana", 50.0).min(0.0))
                .with(Attribute::new("WeaponDamage", 30.0))
                .with(Attribute::new("JumpVelocity", 1200.0))
                .with(Attribute::new("VerticalVelocity", 0.0))
                .with(Attribute::new("GravityScale", 1.0)),
        )
        .add(TagRegistry::new(["Event.Projectile", "Event.Impulse", "Event.Landed", "Event.Text.Immune"]))
        .add(TagRegistry::new(["GameplayCue.Ability.Interrupted"]))
        .add(Effect::instant("GE_Fireball_Cost").add("Mana", -50.0))
        .add(Effect::lasting("GE_Fireball_Cooldown", 5.0).grants("Cooldown.Ability.Fireball"))
        .add(Effect::instant("GE_FireballDamage").add("Health", -40.0))
        .add(Effect::lasting("GE_Stun", 2.0).grants("State.Stunned"))
        .add(Effect::infinite("GE_InAir").grants("State.InAir"))
        .add(Effect::infinite("GE_JumpCut").multiply_in("GravityScale", 1.5, "JumpControl"))
        .add(Effect::instant("GE_Velocity").set("VerticalVelocity", Magnitude::set_by_caller("Velocity")))
        .add(Effect::infinite("GE_Vulnerable").grants("Status.Vulnerable"))
        .add(Effect::infinite("GE_Stone").grants("Immunity.Physical"))
        .add(whirlwind)
        .calc_fn("ExecCalc_ARPGDamage", [Read::source("WeaponDamage")], |cx| {
            let bonus = cx.set_by_caller("VulnerabilityBonus").unwrap_or(0.0);
            let damage = cx.source("WeaponDamage") * (1.0 + bonus);
            cx.add("Health", -damage);
        })
        .add(
            Ability::new("GA_Fireball")
                .tag("Ability.Type.Spell")
                .owned("State.Casting")
                .cancels("State.Stunned")
                .cost("GE_Fireball_Cost")
                .cooldown("GE_Fireball_Cooldown"),
        )
        .add(Ability::new("GA_Jump"))
        .add(Ability::new("GA_Whirlwind"))
        .ability_code("GA_Fireball", Fireball)
        .ability_code("GA_Jump", Jump(InputId(1)))
        .ability_code("GA_Whirlwind", Whirlwind)
        .build()
        .unwrap()
}

struct World {
    rules: Arc<Rules>,
    sim: Sim,
    hero: ControllerId,
}

impl World {
    fn new(ability: &str) -> World {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let hero = spawn(&mut sim, 0.0);
        let ability = rules.ability(ability).unwrap();
        sim.grant(hero, AbilityGrant { ability, level: 1, input: Some(InputId(1)) }).unwrap();
        World { rules, sim, hero }
    }
    fn cast(&mut self, name: &str, target: Target) {
        self.sim.activate(self.hero, self.rules.ability(name).unwrap(), target).unwrap();
    }
    fn apply(&mut self, name: &str, who: ControllerId) {
        self.sim.apply(&Spec::new(self.rules.effect(name).unwrap(), who)).unwrap();
    }
    fn go(&mut self, seconds: f64) {
        self.sim.advance_to(SimTime::seconds(seconds));
    }
    fn get(&self, who: ControllerId, name: &str) -> f64 {
        self.sim.get(who, self.rules.attribute(name).unwrap()).unwrap()
    }
    fn has(&self, name: &str) -> bool {
        self.sim.has_tag(self.hero, self.rules.tag(name).unwrap()).unwrap()
    }
    /// What happened since the last time: events and cues with their bearers, ends.
    fn emitted(&mut self) -> Vec<String> {
        let mut facts = Facts::default();
        self.sim.take_facts(&mut facts);
        let name = |t| self.rules.tag_name(t).unwrap();
        let line = |f: &Fact| match f.kind {
            FactKind::GameplayEvent { tag, magnitude, .. } => Some(format!("{} {} {magnitude}", f.who.0, name(tag))),
            FactKind::Cue { tag, .. } => Some(name(tag).to_owned()),
            FactKind::AbilityEnded { cancelled, .. } => Some(format!("end {cancelled}")),
            _ => None,
        };
        facts.list.iter().filter_map(line).collect()
    }
}

fn spawn(sim: &mut Sim, x: f64) -> ControllerId {
    let spec = SpawnSpec::sets([sim.rules().set("Hero").unwrap()]);
    sim.spawn(SpawnSpec { anchor: Some(Anchor::at([x, 0.0, 0.0])), ..spec }).unwrap()
}

// covers: UGAS-14.3-03
#[test]
fn a_fireball_written_in_code_hits_or_is_interrupted() {
    let mut w = World::new("GA_Fireball");
    let foe = spawn(&mut w.sim, 10.0);
    w.cast("GA_Fireball", Target::Controller(foe));
    assert_eq!((w.get(w.hero, "Mana"), w.has("State.Casting"), w.has("Cooldown.Ability.Fireball")), (0.0, true, true));
    w.go(1.4);
    let mut fork = w.sim.clone();
    assert_eq!((w.emitted(), w.get(foe, "Health")), (Vec::new(), 100.0));
    w.go(1.5);
    assert_eq!(w.emitted(), ["0 Event.Projectile 1", "end false"]);
    assert_eq!((w.get(foe, "Health"), w.has("State.Casting")), (60.0, false));
    fork.take_facts(&mut Facts::default());
    fork.advance_to(SimTime::seconds(1.5));
    assert_eq!(fork.hash(), w.sim.hash());

    let mut w = World::new("GA_Fireball");
    w.cast("GA_Fireball", Target::None);
    w.go(0.7);
    w.apply("GE_Stun", w.hero);
    w.go(4.9);
    assert_eq!(w.emitted(), ["end true", "GameplayCue.Ability.Interrupted"]);
    assert_eq!((w.get(w.hero, "Mana"), w.has("Cooldown.Ability.Fireball"), w.has("State.Casting")), (0.0, true, false));
    w.go(5.0);
    assert!(!w.has("Cooldown.Ability.Fireball"));
}

// covers: UGAS-15.1-04
#[test]
fn a_jump_written_in_code_is_cut_while_rising_and_ends_on_landing() {
    for (velocity, gravity) in [(500.0, 2.5), (-10.0, 1.0)] {
        let mut w = World::new("GA_Jump");
        w.sim.press(w.hero, InputId(1), Target::None).unwrap();
        assert!(w.has("State.InAir"));
        assert_eq!(w.emitted(), ["0 Event.Impulse 1200"]);
        let speed = Spec::new(w.rules.effect("GE_Velocity").unwrap(), w.hero);
        w.sim.apply(&speed.set(w.rules.key("Velocity").unwrap(), velocity)).unwrap();
        w.go(0.2);
        w.sim.release(w.hero, InputId(1)).unwrap();
        assert_eq!(w.get(w.hero, "GravityScale"), gravity);
        w.sim.event(EventData::new(w.rules.tag("Event.Landed").unwrap(), w.hero)).unwrap();
        assert_eq!(w.emitted().last().map(String::as_str), Some("end false"));
        assert_eq!((w.get(w.hero, "GravityScale"), w.has("State.InAir")), (1.0, false));
    }
    let mut w = World::new("GA_Jump");
    w.cast("GA_Jump", Target::None);
    w.sim.cancel(w.hero, Which::Ability(w.rules.ability("GA_Jump").unwrap())).unwrap();
    assert!(!w.has("State.InAir"), "its last call cleans up");
}

// covers: UGAS-15.3-05
#[test]
fn a_whirlwind_hits_targets_in_range_and_reports_immune_ones() {
    let mut w = World::new("GA_Whirlwind");
    let [near, soft, stone, far] = [300.0, 350.0, 400.0, 600.0].map(|x| spawn(&mut w.sim, x));
    w.apply("GE_Vulnerable", soft);
    w.apply("GE_Stone", stone);
    w.emitted();
    w.cast("GA_Whirlwind", Target::None);
    let health = [near, soft, stone, far, w.hero].map(|who| w.get(who, "Health"));
    assert_eq!(health, [70.0, 64.0, 100.0, 100.0, 100.0]);
    assert_eq!(w.emitted(), [format!("{} Event.Text.Immune 0", stone.0), "end false".to_owned()]);
}
