//! Explains the value of an attribute at a time of a scenario.

use crate::run::{RunOptions, Runner};
use crate::scenario::{Scenario, did_you_mean};
use std::fmt;
use ugas_core::{NameKind, SimTime};
use ugas_data::ReadError;

/// Why [`explain()`], [`why_not()`](crate::why_not()) or [`preview()`](crate::preview()) failed.
#[derive(Clone, Debug)]
pub enum ExplainError {
    /// The scenario cannot be run.
    Scenario(Vec<ReadError>),
    /// A name is unknown, or the actor or its value does not exist at that time. The text names the reason and may
    /// contain a suggestion.
    Unknown(String),
}

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExplainError::Scenario(errors) => {
                for (i, error) in errors.iter().enumerate() {
                    write!(f, "{}{error}", if i > 0 { "\n" } else { "" })?;
                }
                Ok(())
            }
            ExplainError::Unknown(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for ExplainError {}

/// Explains an actor's attribute at a time, after the timeline's entries at that time have run.
///
/// ```
/// let text = r#"
/// Scenario: Idle
/// Entities: [{Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}]
/// Actors: {Hero: {AttributeSets: [Vitals]}}
/// "#;
/// let tree = &ugas_data::read_trees("idle.yaml", text).unwrap()[0];
/// let scenario = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap();
/// let text = ugas_lab::explain(&scenario, "Hero", "Health", ugas_core::SimTime::ZERO).unwrap();
/// assert!(text.contains("100"));
/// let error = ugas_lab::explain(&scenario, "Hero", "Helth", ugas_core::SimTime::ZERO).unwrap_err();
/// assert!(error.to_string().contains("Health"));
/// ```
pub fn explain(scenario: &Scenario, actor: &str, attribute: &str, at: SimTime) -> Result<String, ExplainError> {
    let options = RunOptions { until: Some(at), ..RunOptions::default() };
    let runner = Runner::played(scenario, options, &mut |_| {}).map_err(ExplainError::Scenario)?;
    let with_help = |message: String, help: Option<String>| {
        ExplainError::Unknown(match help {
            Some(help) => format!("{message}; {help}"),
            None => message,
        })
    };
    if !scenario.actors.iter().any(|a| a.name.text == actor) {
        let help = did_you_mean(actor, scenario.actors.iter().map(|a| a.name.text.as_str()));
        return Err(with_help(format!("unknown actor {actor}"), help));
    }
    let rules = runner.world.rules.clone();
    let Some(id) = rules.find_attribute(attribute) else {
        let help = rules.nearest_name(NameKind::Attribute, attribute).map(|n| format!("did you mean {n:?}?"));
        return Err(with_help(format!("unknown attribute {attribute}"), help));
    };
    match runner.sim.explain(runner.who(actor), id) {
        Ok(explanation) => Ok(runner.with_names(&explanation.to_string())),
        Err(refusal) => Err(ExplainError::Unknown(format!(
            "cannot read {attribute} of {actor} at {at}: {}",
            runner.describe(refusal)
        ))),
    }
}
