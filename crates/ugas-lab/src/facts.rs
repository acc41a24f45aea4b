//! The facts of a scenario as text.

use crate::run::{RunOptions, Runner};
use crate::scenario::Scenario;
use ugas_data::ReadError;

/// Returns each fact of a run as one line with the time, the actor, the event and the cause. Actors are named as in the
/// scenario.
///
/// ```
/// let text = r#"
/// Scenario: A hit
/// Entities:
///   - {Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}
///   - Kind: gameplay_effect
///     Name: GE_Hit
///     DurationPolicy: Instant
///     Modifiers: [{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -10}}]
/// Actors: {Hero: {AttributeSets: [Vitals]}}
/// Timeline: [{At: 1, Do: [{Apply: {Effect: GE_Hit, To: Hero}}]}]
/// "#;
/// let tree = &ugas_data::read_trees("hit.yaml", text).unwrap()[0];
/// let scenario = ugas_lab::Scenario::from_node("hit.yaml", tree).unwrap();
/// let lines = ugas_lab::facts(&scenario, None).unwrap();
/// assert!(lines.contains(&"1 s Hero: Health 100 → 90, base 100 → 90 (GE_Hit)".to_owned()), "{lines:?}");
/// ```
pub fn facts(scenario: &Scenario, seed: Option<u64>) -> Result<Vec<String>, Vec<ReadError>> {
    let options = RunOptions { seed, keep_facts: true, ..RunOptions::default() };
    let runner = Runner::played(scenario, options, &mut |_| {})?;
    Ok(runner.kept_facts().iter().map(|fact| runner.fact_in_words(fact)).collect())
}
