//! A small world whose abilities together use every type of task, casts, channels, charges, global cooldowns, triggers,
//! held inputs, validation and code; and a seeded script that plays it.

pub(crate) use super::tasks::*;

use std::sync::Arc;
use ugas_core::{
    AbilityCx, AbilityGrant, Anchor, Answer, CodedAbility, ControllerId, CustomTask, EffectFilter, EventData, Fact,
    Host, InputId, Limits, Next, Op, OpId, Progression, Resume, Rules, RulesBuilder, Sim, SimConfig, SimTime,
    SpaceQuery, Spec, Target, TaskCx, WakeEvent, WakeKind, Which,
};
use ugas_doc::{
    Ability, AbilitySet, AbilityTask as T, AnswerTarget, Cast, CombatRule, Effect, Modify, ModifyOperation, SetAbility,
    Timeline, Trigger,
};

/// Ticks three times and counts its events.
struct Counter;
impl CustomTask for Counter {
    type State = (u32, u32);
    fn activate(&self, _: &mut (u32, u32), _: &TaskCx<'_>) -> Progression {
        Progression::Wait
    }
    fn wake(&self, state: &mut (u32, u32), _: WakeEvent<'_>, _: &TaskCx<'_>) -> Progression {
        state.1 += 1;
        Progression::Output(state.1 as f64)
    }
    fn tick(&self, state: &mut (u32, u32), _: SimTime, _: &TaskCx<'_>) -> Progression {
        state.0 += 1;
        if state.0 < 3 { Progression::Wait } else { Progression::Complete(state.1 as f64) }
    }
    fn wakes_on(&self) -> &[WakeKind] {
        &[WakeKind::Tags, WakeKind::Attributes, WakeKind::Effects, WakeKind::Events, WakeKind::Input]
    }
    fn interval(&self) -> Option<SimTime> {
        Some(SimTime::millis(70))
    }
}

/// Waits for time, an event, a tag, an input, and counts its calls.
struct Script;
impl CodedAbility for Script {
    type State = u32;
    fn resume(&self, calls: &mut u32, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        *calls += 1;
        let tag = |name| cx.rules().tag(name).unwrap();
        let (event, burning) = (tag("Event.Hit"), tag("Status.Burning"));
        let (fire, mark) = (cx.rules().input("Fire").unwrap(), cx.rules().effect("GE_Mark").unwrap());
        if !matches!(why, Resume::End { .. }) {
            cx.apply_to_owner(mark);
        }
        match *calls {
            1 => Next::After(SimTime::millis(110)),
            2 => Next::Event(event),
            3 => Next::Tag(burning),
            4 => Next::Input(fire),
            5 => Next::After(SimTime::ZERO),
            _ => Next::End,
        }
    }
}

/// A wait with a time-out, so that no task list blocks.
fn short(kind: &str, seconds: f64) -> T {
    task(kind).param("TimeOut", seconds)
}

fn at_target(effect: &str) -> T {
    task("ApplyEffectToTarget").param("EffectClass", effect)
}

fn waits() -> Ability {
    Ability::new("GA_Waits")
        .task(wait(0.05))
        .task(T::repeat(2, [task("WaitGameTime").param("Time", 2.0), wait(0.03)]))
        .task(short("WaitGameplayEvent", 0.3).param("EventTag", "Event.Hit"))
        .task(short("WaitTagAdded", 0.3).param("Tag", "Status.Burning"))
        .task(short("WaitTagRemoved", 0.3).param("Tag", "Status.Burning"))
        .task(short("WaitTagChanged", 0.3).param("Tag", "Status.Burning"))
        .task(short("WaitTagQuery", 0.3).param("Query", "Status.Frozen"))
        .task(short("WaitAttributeChange", 0.3).param("Attribute", "Health"))
        .task(
            short("WaitAttributeThreshold", 0.3)
                .param("Attribute", "Health")
                .param("Comparison", "LessThan")
                .param("Value", "self.MaxHealth * 0.5"),
        )
        .task(short("WaitEffectApplied", 0.3).param("EffectClass", "GE_Hurt"))
        .task(short("WaitEffectRemoved", 0.3).param("EffectClass", "GE_Burn"))
        .task(short("WaitAbilityActivated", 0.3).param("Ability", "GA_Bolt"))
        .task(short("WaitAbilityCommitted", 0.3).param("Ability", "GA_Bolt"))
        .task(short("WaitAbilityEnded", 0.3).param("Ability", "GA_Bolt"))
        .task(short("WaitInputPressed", 0.3).param("InputID", "Fire"))
        .task(short("WaitInputRelease", 0.3).param("InputID", "Fire"))
        .task(mark("GE_Mark"))
        .on_cancel(mark("GE_Mark10"))
}

fn forks() -> Ability {
    let each = task("WaitGameplayEvent").param("EventTag", "Event.Hit").param("OnlyTriggerOnce", false);
    let once = task("WaitGameplayEvent").param("EventTag", "Event.Other");
    let hot = T::when("has_tag(self, Status.Burning)").then(mark("GE_Mark10")).otherwise(wait(0.04));
    Ability::new("GA_Forks")
        .multiple()
        .owned("State.Buff")
        .task(task("AddCue").param("Cue", "Cue.Spark"))
        .task(task("SetParam").param("Name", "Heat").param("Value", "level + 1"))
        .task(T::race([
            T::sequence([each.task(T::sequence([wait(0.07), mark("GE_Mark")]))]),
            T::parallel([
                once.task(T::sequence([wait(0.2), at_target("GE_Hurt")])),
                T::repeat(4, [wait(0.11), hot, task("ExecuteCue").param("Cue", "Cue.Spark")]),
            ]),
            wait(0.9),
        ]))
        .task(task("SetRestriction").param("Name", "Locked").param("Active", true))
        .task(T::query("Status.Burning").then(task("RemoveEffectFromOwner").param("EffectClass", "GE_Burn")))
        .task(wait(0.05))
        .task(task("SetRestriction").param("Name", "Locked").param("Active", false))
        .task(task("RemoveCue").param("Cue", "Cue.Spark"))
        .task(task("RemoveEffectFromTarget").param("EffectClass", "GE_Stun"))
        .task(task("SendEvent").param("EventTag", "Event.Other").param("To", "Target").param("Magnitude", 3.0))
        .task(task("CancelAbility").param("Ability", "GA_Bolt"))
        .on_cancel(task("SendEvent").param("EventTag", "Event.Other"))
}

fn host_tasks() -> Ability {
    Ability::new("GA_Seams")
        .task(task("PlayMontage").param("MontageToPlay", "AM_Swing"))
        .task(short("WaitAnimationEvent", 1.0).param("EventName", "Event.Hit.Hard"))
        .task(short("WaitTargetData", 0.4).param("TargetingMethod", "Trace"))
        .task(at_target("GE_Hurt"))
        .task(short("WaitOverlap", 0.5).param("Radius", 300.0).every(0.05))
        .task(short("WaitForTarget", 0.5).priority(3))
        .task(at_target("GE_Poison"))
        .task(task("ApplyEffectToActorsInRadius").param("Radius", 50.0).param("EffectClass", "GE_Hurt"))
        .task(short("Counter", 0.4))
        .task(task("SpawnProjectile").param("ProjectileClass", "BP_Arrow"))
        .task(task("Request").param("Name", "Shake"))
        .task(task("WaitMontageEnded").param("Montage", "AM_Swing").param("TimeOut", 2.0))
        .task(task("EndAbility"))
}

fn channel() -> Ability {
    let cast = Cast { length: 0.8, ticks: Some(5), initial_tick: true, cancel_on_release: true, ..Cast::default() };
    let beam = Ability::new("GA_Beam").gcd(0.3).charges(2, 1.1).cast_as(cast).owned("State.Alive");
    beam.on_tick(at_target("GE_Hurt")).on_cancel(mark("GE_Mark")).on_interrupt(mark("GE_Mark10"))
}

fn bolt() -> Ability {
    let bolt = Ability::new("GA_Bolt").cost("GE_Cost").cooldown("GE_Cool").gcd(0.25).cast(0.35, 1).manual();
    bolt.tag("Ability.Spell")
        .cancels("State.Debuff.Stunned")
        .on_tick(at_target("GE_Hurt"))
        .task(wait(0.1))
        .task(task("CommitAbility"))
}

fn asked() -> Ability {
    Ability::new("GA_Asked").validated("Anti", Some(300)).cost("GE_Cost").task(wait(0.2)).task(mark("GE_Mark"))
}

/// Rules with everything.
pub(crate) fn kit() -> Arc<Rules> {
    builder().build().unwrap()
}

pub(crate) fn builder() -> RulesBuilder {
    let haste = CombatRule {
        on: "CastLength".into(),
        modify: Some(Modify { operation: ModifyOperation::Multiply, value: None, factor: Some(0.5) }),
        ..CombatRule::default()
    };
    base()
        .add(Effect::instant("GE_Cost").add("Mana", -3.0))
        .add(Effect::instant("GE_Refill").add("Mana", 20.0).add("Health", 60.0))
        .add(Effect::lasting("GE_Cool", 0.6).grants("Cooldown.Bolt"))
        .add(Effect::lasting("GE_Poison", 0.5).every(0.1).add("Health", -1.0))
        .add(Effect { rules: vec![haste], ..Effect::lasting("GE_Haste", 1.0) })
        .add(
            Timeline::new("TL_Swing", 0.6)
                .montage("AM_Swing")
                .notify(0.15, "Event.Other")
                .notify(0.3, "Event.Hit.Hard"),
        )
        .add(Timeline::new("TL_Seams", 1.0).ability("GA_Seams").answer("WaitTargetData", 0.2, AnswerTarget::Activation))
        .add(waits())
        .add(forks())
        .add(host_tasks())
        .add(channel())
        .add(bolt())
        .add(asked())
        .add(Ability::new("GA_Held").held().gcd(0.4).task(wait(0.15)).task(mark("GE_Mark")))
        .add(Ability::new("GA_Coded"))
        .add(Ability::new("GA_OnEvent").trigger(Trigger::event("Event.Hit")).retriggered().task(wait(0.13)))
        .add(
            Ability::new("GA_OnTag")
                .trigger(Trigger::tag_added("Status.Burning"))
                .task(wait(0.2))
                .task(mark("GE_Mark")),
        )
        .add(Ability::new("GA_While").trigger(Trigger::tag_present("State.Debuff.Stunned")))
        .add(Ability::new("GA_Low").trigger(Trigger::below("Health", 50.0)).task(mark("GE_Refill")).task(wait(0.1)))
        .add(Ability::new("GA_OnHurt").trigger(Trigger::effect_applied("GE_Poison")).task(wait(0.05)))
        .add(Ability::new("GA_Aura").passively().blocked("State.Debuff.Stunned").owned("Immunity.Fire"))
        .add(AbilitySet::new("AS_Bag").effect("GE_Haste").ability(SetAbility::new("GA_Forks")))
        .task("Counter", Counter)
        .ability_code("GA_Coded", Script)
}

pub(crate) const ABILITIES: [&str; 14] = [
    "GA_Waits",
    "GA_Forks",
    "GA_Seams",
    "GA_Beam",
    "GA_Bolt",
    "GA_Asked",
    "GA_Held",
    "GA_Coded",
    "GA_OnEvent",
    "GA_OnTag",
    "GA_While",
    "GA_Low",
    "GA_OnHurt",
    "GA_Aura",
];

/// Finds the last controller.
pub(crate) struct Ground(pub(crate) ControllerId);
impl Host for Ground {
    fn overlap(&mut self, _: &SpaceQuery, found: &mut Vec<ControllerId>) {
        found.push(self.0);
    }
    fn find_target(&mut self, _: &SpaceQuery) -> Option<ControllerId> {
        Some(self.0)
    }
}

/// A sim under a script.
#[derive(Clone)]
pub(crate) struct Play {
    pub(crate) sim: Sim,
    pub(crate) hero: ControllerId,
    pub(crate) foe: ControllerId,
    pub(crate) seed: u64,
    pub(crate) tick: u32,
    /// The script's tick 0 in sim time; a restored controller has another.
    pub(crate) start: i64,
    /// Whether only the hero acts.
    pub(crate) only: bool,
}

pub(crate) fn config(seed: u64) -> SimConfig {
    let limits = Limits { due_per_advance: 20_000, facts: 100_000, ..Limits::default() };
    // A short budget: some tasks are passed over and grow older.
    SimConfig { seed, limits, task_budget: 1, ..SimConfig::default() }
}

pub(crate) fn cast_of_all(sim: &mut Sim, who: ControllerId) {
    let rules = sim.rules().clone();
    for name in ABILITIES {
        let input = match name {
            "GA_Beam" => rules.input("Fire").unwrap(),
            "GA_Held" => rules.find_input("Jump").unwrap_or(InputId(77)),
            _ => InputId::NONE,
        };
        let ability = ability(&rules, name);
        sim.grant(who, AbilityGrant { ability, level: 2, input: input.some() }).unwrap();
    }
}

impl Play {
    pub(crate) fn new(rules: &Arc<Rules>, seed: u64) -> Play {
        let mut sim = Sim::new(rules.clone(), config(seed));
        let (hero, foe) = (spawn(&mut sim), spawn(&mut sim));
        cast_of_all(&mut sim, hero);
        cast_of_all(&mut sim, foe);
        for (who, x) in [(hero, 0.0), (foe, 20.0)] {
            sim.run(Op::Move { who, anchor: Some(Anchor::at([x, 0.0, 0.0])) }).unwrap();
        }
        sim.take_facts(&mut Default::default());
        Play { sim, hero, foe, seed, tick: 0, start: 0, only: false }
    }

    /// The op of a tick, chosen by the script and the current state.
    pub(crate) fn op(&self, rng: &mut Rng) -> Op {
        let rules = self.sim.rules();
        let who = if rng.below(4) == 0 && !self.only { self.foe } else { self.hero };
        let other = if who == self.hero { self.foe } else { self.hero };
        let which = Which::Ability(ability(rules, rng.pick::<&str>(&ABILITIES)));
        let input = if rng.below(3) > 0 { rules.input("Fire").unwrap() } else { InputId(77) };
        let grants = self.sim.grants(who).unwrap();
        let grant = grants[rng.below(grants.len())].id;
        let effect_of = |name: &str| Spec::new(effect(rules, name), who).from(other);
        let tag_of = |rng: &mut Rng| tag(rules, rng.pick::<&str>(&["Event.Hit", "Event.Hit.Hard", "Event.Other"]));
        match rng.below(40) {
            0..=11 => Op::Activate { who, which, target: Target::Controller(other) },
            12..=15 => Op::Press { who, input, target: Target::Controller(other) },
            16..=18 => Op::Release { who, input },
            19..=22 => {
                let event = EventData::new(tag_of(rng), who);
                Op::Event(EventData { instigator: Some(other), magnitude: rng.below(9) as f64, ..event })
            }
            23..=27 => {
                let names = ["GE_Burn", "GE_Stun", "GE_Hurt", "GE_Poison", "GE_Refill", "GE_Haste"];
                Op::Apply(effect_of(rng.pick::<&str>(&names)))
            }
            28..=30 => {
                let gone = effect(rules, rng.pick::<&str>(&["GE_Burn", "GE_Stun", "GE_Stun", "GE_Haste"]));
                Op::RemoveMatching { who, filter: EffectFilter { effect: Some(gone), ..EffectFilter::default() } }
            }
            31 | 32 => {
                let tasks = self.sim.tasks(who).unwrap();
                let Some(t) = tasks.get(rng.below(tasks.len().max(1))) else { return Op::Release { who, input } };
                let answer = Answer { targets: vec![other], fail: rng.below(3) == 0, ..Answer::default() };
                Op::Complete { key: t.key, answer }
            }
            33 => Op::Validate { who, which, ok: rng.below(3) > 0 },
            34 => Op::Cancel { who, which },
            35 => Op::Interrupt { who, which: None },
            36 => Op::SetRate { who, rate: ugas_core::Rate::new([0.5, 1.0, 2.0][rng.below(3)]).unwrap() },
            37 => Op::SetLevel { who, grant, level: 1 + rng.below(3) as u32 },
            38 => Op::GrantSet { who, set: rules.ability_set("AS_Bag").unwrap() },
            _ => Op::Validate { who, which: Which::Ability(ability(rules, "GA_Asked")), ok: true },
        }
    }

    /// The ops of a tick, under its ids.
    pub(crate) fn ops(&mut self) {
        let mut rng = Rng(self.seed ^ (self.tick as u64) << 20);
        for n in 0..rng.below(3) {
            let op = self.op(&mut rng);
            let _ = self.sim.run_as(OpId::new(7, self.tick, n as u16), &op);
        }
    }

    pub(crate) fn time_of(&self, tick: u32) -> SimTime {
        SimTime(self.start + SimTime::frames(tick as i64, 60).0)
    }

    /// The rest of a tick's frame.
    pub(crate) fn frame(&mut self) {
        self.tick += 1;
        assert!(self.sim.advance_with(self.time_of(self.tick), &mut Ground(self.foe)).finished);
    }

    pub(crate) fn step(&mut self) {
        self.ops();
        self.frame();
    }

    /// Runs `count` ticks and returns their facts and the hash after each.
    pub(crate) fn run(&mut self, ticks: u32) -> (Vec<Fact>, Vec<u64>) {
        let mut all = Vec::new();
        let mut hashes = Vec::new();
        for _ in 0..ticks {
            self.step();
            all.extend(facts(&mut self.sim));
            hashes.push(self.sim.hash());
        }
        (all, hashes)
    }
}
