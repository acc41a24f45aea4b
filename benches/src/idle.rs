//! The cost of idle steps, with waiting abilities and without abilities. Both worlds must execute almost the same
//! number of instructions, because a step may cost time only for due work.

use crate::count;
use crate::plan::FRAME;
use crate::workload::measured_section;
use ugas_core::{AbilityId, ControllerId, Facts, Rules, Sim, SimConfig, SimTime, Spec, Target};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Controller, Effect, TagRegistry};

/// The first argument of the child whose instructions are counted.
pub(crate) const CHILD_WORD: &str = "count-idle";

/// The counted steps: one second.
const STEPS: i64 = 60;
/// The abilities that wait after their activation: for an event, for an attribute change, and for an hour.
const WAITING: [&str; 3] = ["GA_Event", "GA_Change", "GA_Hour"];

/// Returns the instructions of a step without due work: without abilities, and with waiting abilities.
pub(crate) fn instructions(controllers: usize) -> Result<(f64, f64), String> {
    let count = |kind: &str| {
        let (collected, steps) = count::callgrind(&[CHILD_WORD, kind, &controllers.to_string()])?;
        Ok::<f64, String>(collected / steps)
    };
    Ok((count("bare")?, count("waiting")?))
}

/// Steps one of the two worlds in the child process and prints the number of steps.
pub(crate) fn child(arguments: &[String]) -> Result<(), String> {
    let (waiting, controllers) = match arguments {
        [kind, controllers] if kind == "waiting" || kind == "bare" => (kind == "waiting", controllers),
        _ => return Err(format!("{CHILD_WORD} takes `bare` or `waiting` and a number of controllers")),
    };
    let controllers = controllers.parse().map_err(|_| "the number of controllers is not a number")?;
    let mut sim = world(controllers, waiting)?;
    let mut facts = Facts::default();
    let due = measured_section(std::hint::black_box(&mut sim), |sim| {
        (0..STEPS).fold(0, |due, _| {
            let progress = sim.advance_to(SimTime(sim.now().0 + FRAME));
            sim.take_facts(&mut facts);
            due + progress.due
        })
    });
    if due != 0 {
        return Err(format!("expected no due items, found {due}"));
    }
    println!("{STEPS}");
    Ok(())
}

/// Creates a world with this many controllers, all with three waiting tasks or all without abilities. Both worlds have
/// one effect that lasts an hour, because an empty queue of due work is cheaper and does not occur in games.
fn world(controllers: u32, waiting: bool) -> Result<Sim, String> {
    let told = |error: &dyn std::fmt::Display| format!("the idle world: {error}");
    let tasks = [
        AbilityTask::new("WaitGameplayEvent").param("EventTag", "Event.Hit"),
        AbilityTask::new("WaitAttributeChange").param("Attribute", "Health"),
        AbilityTask::new("WaitDelay").param("Duration", 3600.0),
    ];
    let abilities = WAITING.iter().zip(tasks).map(|(&name, task)| Ability::new(name).task(task));
    let full = WAITING.iter().copied().fold(Controller::new("Waiting").set("Idle"), Controller::ability);
    let rules = Rules::builder()
        .add(TagRegistry::new(["Event.Hit".to_owned()]))
        .add(AttributeSet::new("Idle").with(Attribute::new("Health", 100.0)))
        .add_all(abilities.chain([Ability::new("GA_Idle")]).map(Into::into))
        .add(Effect::lasting("GE_Hour", 3600.0))
        .add(Controller::new("Bare").set("Idle"))
        .add(full.ability("GA_Idle"))
        .build()
        .map_err(|error| told(&error))?;
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let template =
        rules.find_template(if waiting { "Waiting" } else { "Bare" }).ok_or("the idle world: no template")?;
    sim.spawn_many(template, controllers).map_err(|error| told(&error))?;
    let hour = rules.find_effect("GE_Hour").ok_or("the idle world: no effect")?;
    sim.apply(&Spec::new(hour, ControllerId(0))).map_err(|error| told(&error))?;
    if waiting {
        let abilities: Vec<AbilityId> = WAITING.iter().filter_map(|name| rules.find_ability(name)).collect();
        for who in (0..controllers).map(ControllerId) {
            for &ability in &abilities {
                sim.activate(who, ability, Target::None).map_err(|error| told(&error))?;
            }
            let asleep = sim.tasks(who).map_err(|error| told(&error))?.len();
            if asleep != WAITING.len() {
                return Err(format!("the idle world: {asleep} tasks sleep"));
            }
            sim.take_facts(&mut Facts::default());
        }
    }
    // Both worlds run a step and return their facts before counting starts.
    sim.advance_to(SimTime(FRAME));
    sim.take_facts(&mut Facts::default());
    Ok(sim)
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_worlds_sleep() {
        for kind in ["bare", "waiting"] {
            assert_eq!(super::child(&[kind.to_owned(), "50".to_owned()]), Ok(()));
        }
    }
}
