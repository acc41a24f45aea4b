//! A scenario that is run to its end and whose documents can then be reloaded.

use super::world::World;
use super::{RunOptions, Runner, into_errors};
use crate::scenario::Scenario;
use std::fmt;
use std::path::PathBuf;
use ugas_core::{Migration, ReloadError, SimTime};
use ugas_data::{ReadError, read_packs};

/// Why a reload was rejected. The world keeps the previous documents.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveReloadError {
    /// The documents are invalid.
    Documents(Vec<ReadError>),
    /// The running world cannot use the new rules.
    World(ReloadError),
}

impl fmt::Display for LiveReloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveReloadError::Documents(errors) => {
                let lines: Vec<String> = errors.iter().map(|e| format!("line {}: {}", e.line, e.message)).collect();
                f.write_str(&lines.join("; "))
            }
            LiveReloadError::World(error) => error.fmt(f),
        }
    }
}
impl std::error::Error for LiveReloadError {}

/// The world at the end of a scenario's run, whose documents can be reloaded.
///
/// ```
/// let load = |max: u32| {
///     let set = format!("Kind: attribute_set, Name: V, Attributes: [{{Name: MaxHealth, DefaultBaseValue: {max}}}]");
///     let text = format!("Scenario: S\nEntities: [{{{set}}}]\nActors: {{Hero: {{AttributeSets: [V]}}}}");
///     let tree = &ugas_data::read_trees("s.yaml", &text).unwrap()[0];
///     ugas_lab::Scenario::from_node("s.yaml", tree).unwrap()
/// };
/// let scenario = load(100);
/// let mut live = scenario.live().unwrap();
/// live.reload(&load(150)).unwrap();
/// assert_eq!(live.values(), [("Hero.MaxHealth".to_owned(), 150.0)]);
/// ```
pub struct Live<'s> {
    runner: Runner<'s>,
}

impl Scenario {
    /// Runs the scenario to its end and returns the resulting world.
    pub fn live(&self) -> Result<Live<'_>, Vec<ReadError>> {
        let mut runner = Runner::new(self, RunOptions::default())?;
        runner.play(RunOptions::default(), &mut |_| {});
        Ok(Live { runner })
    }

    /// Returns the folders of the scenario's packs and of the packs that those packs require.
    pub fn pack_folders(&self) -> Vec<PathBuf> {
        let named: Vec<PathBuf> = self.packs.iter().map(|(folder, _)| folder.clone()).collect();
        read_packs(&named).map_or(named, |packs| packs.into_iter().map(|p| p.folder).collect())
    }
}

impl Live<'_> {
    /// Reloads the packs and entities of a scenario. The actors and the timeline of that scenario are ignored.
    pub fn reload(&mut self, scenario: &Scenario) -> Result<Migration, LiveReloadError> {
        let world = World::build_after(scenario, Some(&self.runner.world));
        let world = world.map_err(|wrong| LiveReloadError::Documents(into_errors(wrong)))?;
        self.runner.take(world)
    }

    /// Returns the value of every attribute of every existing actor, with names of the form `Actor.Attribute`.
    pub fn values(&self) -> Vec<(String, f64)> {
        let (runner, rules) = (&self.runner, &self.runner.world.rules);
        let mut values = Vec::new();
        for (name, &who) in &runner.ids {
            for attribute in runner.sim.attributes(who).unwrap_or_default() {
                let value = runner.sim.get(who, attribute).unwrap_or_default();
                values.push((format!("{name}.{}", rules.attribute_name(attribute).unwrap_or("?")), value));
            }
        }
        values
    }

    /// Returns the current time.
    pub fn now(&self) -> SimTime {
        self.runner.sim.now()
    }
}
