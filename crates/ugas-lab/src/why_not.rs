//! Explains why an ability cannot be activated at a time of a scenario.

use crate::explain::ExplainError;
use crate::run::{RunOptions, Runner};
use crate::scenario::{Scenario, did_you_mean};
use ugas_core::{SimTime, Target, Which};

/// Lists every failed check of an actor's ability at a time, after the timeline's entries at that time have run. Each
/// failed check is one line, with the time at which the check will pass, if that time is known. All times are times of
/// the timeline. If no target is given, target checks fail only if the ability needs a target.
///
/// ```
/// let text = r#"
/// Scenario: Idle
/// Entities:
///   - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}
///   - {Kind: gameplay_ability, Name: GA_Slam, Tags: {ActivationRequiredTags: [State.Angry]}}
/// Actors: {Hero: {AttributeSets: [Vitals], Abilities: [GA_Slam]}}
/// "#;
/// let tree = &ugas_data::read_trees("idle.yaml", text).unwrap()[0];
/// let scenario = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap();
/// let lines = ugas_lab::why_not(&scenario, "Hero", "GA_Slam", None, ugas_core::SimTime::ZERO).unwrap();
/// assert_eq!(lines.len(), 1);
/// assert!(lines[0].starts_with("RequiredTags: "), "{lines:?}");
/// ```
pub fn why_not(
    scenario: &Scenario,
    actor: &str,
    ability: &str,
    target: Option<&str>,
    at: SimTime,
) -> Result<Vec<String>, ExplainError> {
    let options = RunOptions { until: Some(at), ..RunOptions::default() };
    let runner = Runner::played(scenario, options, &mut |_| {}).map_err(ExplainError::Scenario)?;
    let unknown = |message: String, help: Option<String>| {
        ExplainError::Unknown(help.map_or(message.clone(), |help| format!("{message}; {help}")))
    };
    for name in [Some(actor), target].into_iter().flatten() {
        if !scenario.actors.iter().any(|a| a.name.text == name) {
            let help = did_you_mean(name, scenario.actors.iter().map(|a| a.name.text.as_str()));
            return Err(unknown(format!("unknown actor {name}"), help));
        }
    }
    let rules = runner.world.rules.clone();
    let Some(id) = rules.find_ability(ability) else {
        let help = did_you_mean(ability, rules.ability_list().map(|(_, name)| name));
        return Err(unknown(format!("unknown ability {ability}"), help));
    };
    let target = target.map_or(Target::None, |name| Target::Controller(runner.who(name)));
    let mut reasons = Vec::new();
    let asked = runner.sim.why_not(runner.who(actor), Which::Ability(id), target, &mut reasons);
    asked.map_err(|refusal| {
        ExplainError::Unknown(format!("{actor} does not exist at {at}: {}", runner.describe(refusal)))
    })?;
    let now = runner.sim.now();
    let line = |reason: &ugas_core::Reason| {
        // A refusal uses the controller's clock; the output uses the clock of the timeline.
        let refusal = reason.clears_at.map_or(reason.refusal, |at| reason.refusal.with_remaining(at - now));
        let ready = match (reason.clears_at, refusal.remaining()) {
            (Some(at), _) => format!(" (ready at {at})"),
            (None, Some(left)) if left != SimTime::NEVER => {
                format!(" (on {actor}'s own clock, which is stopped)")
            }
            (None, _) => String::new(),
        };
        format!("{}: {}{ready}", refusal.kind(), runner.describe(refusal))
    };
    Ok(reasons.iter().map(line).collect())
}
