//! The cost of capabilities. Capabilities that sleep or never tick must cost nothing, and the cost of a frame must depend
//! on the capabilities that tick, not on all capabilities of a controller. A plain loop that does the same work by hand
//! is the measure of the cost of a tick.

mod code;
mod plain;

use crate::plan::FRAME;
use crate::workload::measured_section;
use crate::{alloc, count};
use code::{Fresh, Walk};
use plain::PlainWorld;
use ugas_core::{ActorId, ControllerId, Facts, Rules, RulesBuilder, Sim, SimConfig, SimTime, SpawnSpec, Spec};
use ugas_doc::{Attribute, AttributeSet, Capability, CapabilitySet, Controller, Effect, SetCapability, TagRegistry};

/// The first argument of the child whose instructions are counted.
pub(crate) const CHILD_WORD: &str = "count-capabilities";

/// The counted steps: one second.
const STEPS: u64 = 60;
/// The steps before counting starts. New capabilities are evaluated once or twice before they sleep.
const WARM_STEPS: u64 = 8;

/// The stamina of a new actor.
const STAMINA: f64 = 50.0;
/// The seconds after which walking costs one point of stamina. Longer than the counted steps.
const TIRES_AFTER: f64 = 10.0;

/// What an entry of a capability set is, in both implementations.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Entry {
    /// Code that is evaluated in every frame: walks while the actor has stamina.
    Walk,
    /// The same code with `CanEverTick: false`.
    StillWalk,
    /// The same code with `Enabled: false`.
    DisabledWalk,
    /// Code that watches the stamina: active while it is high.
    Fresh,
    /// A document with a tag query and an expression: rests while the stamina is low.
    Rest,
    /// A document with a tag query.
    Calm,
}

/// The entries that sleep or never tick, in order.
const ASLEEP: [Entry; 8] = [
    Entry::Rest,
    Entry::Calm,
    Entry::Fresh,
    Entry::StillWalk,
    Entry::DisabledWalk,
    Entry::Rest,
    Entry::Fresh,
    Entry::Calm,
];

/// How many capabilities an actor has.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    asleep: usize,
    ticking: usize,
}

impl Crowd {
    const BARE: Crowd = Crowd { asleep: 0, ticking: 0 };
    const SLEEPING: Crowd = Crowd { asleep: 5, ticking: 0 };
    const TWO_OF_TWO: Crowd = Crowd { asleep: 0, ticking: 2 };
    const TWO_OF_TEN: Crowd = Crowd { asleep: 8, ticking: 2 };
    const FOUR_OF_TEN: Crowd = Crowd { asleep: 6, ticking: 4 };

    /// Returns the entries. Those that tick are the last, so that a frame must find them behind the others.
    fn entries(self) -> impl Iterator<Item = Entry> {
        ASLEEP.into_iter().take(self.asleep).chain(std::iter::repeat_n(Entry::Walk, self.ticking))
    }
}

/// A world of the child process.
const KINDS: [(&str, Crowd, bool); 6] = [
    ("bare", Crowd::BARE, false),
    ("sleeping", Crowd::SLEEPING, false),
    ("two-of-two", Crowd::TWO_OF_TWO, false),
    ("two-of-ten", Crowd::TWO_OF_TEN, false),
    ("four-of-ten", Crowd::FOUR_OF_TEN, false),
    ("plain", Crowd::TWO_OF_TEN, true),
];

/// Instructions of one step.
pub(crate) struct Instructions {
    /// Without capabilities.
    pub(crate) bare: f64,
    /// With five capabilities per actor that sleep or never tick.
    pub(crate) sleeping: f64,
    /// With two capabilities per actor that tick.
    pub(crate) two_of_two: f64,
    /// With ten capabilities per actor, two of which tick.
    pub(crate) two_of_ten: f64,
    /// With ten capabilities per actor, four of which tick.
    pub(crate) four_of_ten: f64,
    /// With ten capabilities per actor, two of which tick, in the plain loop.
    pub(crate) plain: f64,
}

/// Counts the instructions of a step of each world. The child fails if a step visits another number of capabilities
/// than those that tick.
pub(crate) fn instructions(actors: usize) -> Result<Instructions, String> {
    let count = |kind: &str| {
        let (collected, steps) = count::callgrind(&[CHILD_WORD, kind, &actors.to_string()])?;
        Ok::<f64, String>(collected / steps)
    };
    Ok(Instructions {
        bare: count("bare")?,
        sleeping: count("sleeping")?,
        two_of_two: count("two-of-two")?,
        two_of_ten: count("two-of-ten")?,
        four_of_ten: count("four-of-ten")?,
        plain: count("plain")?,
    })
}

/// Steps one of the worlds in the child process and prints the number of steps.
pub(crate) fn child(arguments: &[String]) -> Result<(), String> {
    let [kind, actors] = arguments else { return Err(format!("{CHILD_WORD} takes a world and a number of actors")) };
    let &(_, crowd, is_plain) =
        KINDS.iter().find(|(name, ..)| name == kind).ok_or_else(|| format!("unknown world `{kind}`"))?;
    let actors = actors.parse().map_err(|_| "the number of actors is not a number")?;
    if is_plain {
        let mut world = PlainWorld::new(actors, crowd);
        (0..WARM_STEPS).for_each(|_| world.step());
        measured_section(std::hint::black_box(&mut world), |world| (0..STEPS).for_each(|_| world.step()));
    } else {
        let mut world = World::new(actors, crowd)?;
        let visited = measured_section(std::hint::black_box(&mut world), |world| world.steps(STEPS));
        let expected = STEPS * u64::from(actors) * crowd.ticking as u64;
        if visited != expected {
            return Err(format!("expected {expected} visited capabilities, found {visited}"));
        }
    }
    println!("{STEPS}");
    Ok(())
}

/// Returns the allocations in steady steps of actors with ten capabilities, two of which tick, and the number of steps.
pub(crate) fn allocations(actors: u32) -> Result<(usize, u64), String> {
    let mut world = World::new(actors, Crowd::TWO_OF_TEN)?;
    let before = alloc::allocations();
    world.steps(STEPS);
    Ok((alloc::allocations() - before, STEPS))
}

/// A sim with actors that have capabilities.
struct World {
    sim: Sim,
    facts: Facts,
}

impl World {
    /// Creates a world and runs it until all capabilities that can sleep do. Every world has one effect that lasts an
    /// hour and one that has expired, because an empty queue of due work is cheaper and does not occur in games.
    fn new(actors: u32, crowd: Crowd) -> Result<World, String> {
        let rules = rules(crowd)?;
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let template = rules.find_template("Robot").ok_or("the capability world: no template")?;
        for actor in 1..=u64::from(actors) {
            // An actor has the capabilities of one controller only.
            let spec = SpawnSpec { avatar: Some(ActorId(actor)), ..SpawnSpec::template(template) };
            sim.spawn(spec).map_err(|error| failed(&error))?;
        }
        for effect in ["GE_Hour", "GE_Moment"] {
            let effect = rules.find_effect(effect).ok_or("the capability world: no effect")?;
            sim.apply(&Spec::new(effect, ControllerId(0))).map_err(|error| failed(&error))?;
        }
        for who in (0..actors).map(ControllerId) {
            let counts = sim.capability_counts(who).map_err(|error| failed(&error))?;
            if counts.total as usize != crowd.asleep + crowd.ticking {
                return Err(format!("the capability world: an actor has {} capabilities", counts.total));
            }
        }
        let mut world = World { sim, facts: Facts::default() };
        world.steps(WARM_STEPS);
        Ok(world)
    }

    /// Runs frames. Returns the number of evaluated capabilities.
    fn steps(&mut self, count: u64) -> u64 {
        (0..count).fold(0, |visited, _| {
            let progress = self.sim.advance_to(SimTime(self.sim.now().0 + FRAME));
            self.sim.take_facts(&mut self.facts);
            visited + progress.capabilities
        })
    }
}

fn failed(error: &dyn std::fmt::Display) -> String {
    format!("the capability world: {error}")
}

/// Returns a set with the entries of a crowd.
fn entries(crowd: Crowd, name: &str) -> CapabilitySet {
    let entry = |entry: Entry| {
        let walk = SetCapability::new("Walk");
        let capability = match entry {
            Entry::Walk => walk,
            Entry::StillWalk => walk.never_ticks(),
            Entry::DisabledWalk => walk.disabled(),
            Entry::Fresh => SetCapability::new("Fresh"),
            Entry::Rest => SetCapability::new("Rest"),
            Entry::Calm => SetCapability::new("Calm"),
        };
        capability.tag("Capability.Move").blocked_by("State.Stunned")
    };
    crowd.entries().map(entry).fold(CapabilitySet::new(name), CapabilitySet::capability)
}

/// Returns the documents and the code of every world.
fn documents() -> RulesBuilder {
    let tags = ["Capability.Move", "State.Combat", "State.Stunned", "State.Awake"];
    Rules::builder()
        .add(TagRegistry::new(tags.map(str::to_owned)))
        .add(AttributeSet::new("Body").with(Attribute::new("Stamina", STAMINA)))
        .add(Effect::lasting("GE_Hour", 3600.0))
        .add(Effect::lasting("GE_Moment", 0.02))
        .add(Effect::instant("GE_Tire").add("Stamina", -1.0))
        .add(Capability::new("Rest").query("!State.Combat").when("Stamina < 49"))
        .add(Capability::new("Calm").query("!State.Combat"))
        .capability_code("Walk", Walk::default())
        .capability_code("Fresh", Fresh::default())
}

fn rules(crowd: Crowd) -> Result<std::sync::Arc<Rules>, String> {
    let robot = Controller::new("Robot").set("Body").tag("State.Awake");
    let robot = if crowd.entries().next().is_some() { robot.capability_set("CS_Robot") } else { robot };
    documents().add(entries(crowd, "CS_Robot")).add(robot).build().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ugas_core::{CapabilityState, LocalRunner, Role};
    use ugas_doc::Side;

    #[test]
    fn every_world_visits_only_the_capabilities_that_tick() {
        for (kind, ..) in KINDS {
            assert_eq!(child(&[kind.to_owned(), "50".to_owned()]), Ok(()), "{kind}");
        }
    }

    #[test]
    fn a_steady_frame_allocates_nothing() {
        // Other tests of this program run on other threads and allocate, so that one count can be too high.
        let least = (0..20).map(|_| allocations(20).unwrap().0).min();
        assert_eq!(least, Some(0));
    }

    #[test]
    fn a_steady_frame_of_the_local_runner_allocates_nothing() {
        let least = (0..20).map(|_| local_allocations(20)).min();
        assert_eq!(least, Some(0));
    }

    /// Returns the allocations in steady frames of a listen server that has ten capabilities for each actor: on its
    /// screen, and the same again in a set that it added for itself.
    fn local_allocations(actors: u32) -> usize {
        let side =
            |set: &mut CapabilitySet| set.capabilities.iter_mut().for_each(|entry| entry.side = Side::AllClients);
        let (mut shared, mut own) = (entries(Crowd::TWO_OF_TEN, "CS_Robot"), entries(Crowd::TWO_OF_TEN, "CS_Own"));
        [&mut shared, &mut own].into_iter().for_each(side);
        let rules = documents().add(shared).add(own).add(Controller::new("Robot").set("Body").tag("State.Awake"));
        let rules = rules.build().unwrap();
        let mut sim =
            Sim::new(rules.clone(), SimConfig { role: Role::Authority, screen: true, ..SimConfig::default() });
        let mut runner = LocalRunner::default();
        let [shared, own] = ["CS_Robot", "CS_Own"].map(|name| rules.ability_set(name).unwrap());
        for actor in 1..=u64::from(actors) {
            let spec = SpawnSpec::template(rules.template("Robot").unwrap());
            let who = sim.spawn(SpawnSpec { avatar: Some(ActorId(actor)), ..spec }).unwrap();
            sim.grant_set(who, shared).unwrap();
            runner.add_set(&sim, who, own).unwrap();
        }
        let mut facts = Facts::default();
        let mut run = |steps: u64| {
            for _ in 0..steps {
                // Two frames at once, as in a tick that is longer than a frame.
                let end = SimTime(sim.now().0 + 2 * FRAME);
                while let Some(frame) = runner.next_frame(&sim, end) {
                    sim.advance_to(frame);
                    runner.run(&sim);
                }
                sim.advance_to(end);
                runner.run(&sim);
                sim.take_facts(&mut facts);
                runner.take_facts();
            }
        };
        run(WARM_STEPS);
        let before = alloc::allocations();
        run(STEPS);
        let allocations = alloc::allocations() - before;
        let active = runner.capabilities(&sim, ControllerId(0)).iter().filter(|view| view.active).count();
        assert!(active >= 4, "the ticking capabilities of both sets are active");
        allocations
    }

    #[test]
    fn the_plain_loop_does_the_same() {
        for crowd in [Crowd::TWO_OF_TEN, Crowd::FOUR_OF_TEN] {
            let (mut world, mut plain) = (World::new(3, crowd).unwrap(), PlainWorld::new(3, crowd));
            (0..WARM_STEPS).for_each(|_| plain.step());
            for _ in 0..40 {
                world.steps(60);
                (0..60).for_each(|_| plain.step());
                for (at, who) in (0..3).map(ControllerId).enumerate() {
                    let stamina = world.sim.get(who, world.sim.rules().attribute("Stamina").unwrap()).unwrap();
                    assert_eq!(stamina, plain.stamina(at));
                    let views = world.sim.capabilities(who).unwrap();
                    let active: Vec<bool> = views.iter().map(|view| view.active).collect();
                    assert_eq!(active, plain.active(at));
                    assert!(views.iter().any(|view| view.state == CapabilityState::Disabled));
                }
            }
        }
    }
}
