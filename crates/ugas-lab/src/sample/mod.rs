//! Samples every attribute over time, for plots. Several runs with different seeds show how much the values vary.

mod format;

use crate::run::{RunOptions, Runner};
use crate::scenario::Scenario;
use std::collections::BTreeMap;
use ugas_core::{AttributeId, SimTime};
use ugas_data::{Code, ReadError};

/// The limit of values in memory.
const MAX_CELLS: usize = 20_000_000;

/// The options of [`sample()`]: the number of runs and their seeds.
///
/// ```
/// assert_eq!(ugas_lab::SampleOptions::default().runs, 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleOptions {
    /// The number of runs. Each run uses the next seed.
    pub runs: u32,
    /// The first seed; by default the seed of the scenario.
    pub seed: Option<u64>,
}

impl Default for SampleOptions {
    fn default() -> SampleOptions {
        SampleOptions { runs: 1, seed: None }
    }
}

/// The mean, minimum and maximum of a value over all runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

/// The values of all columns at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleRow {
    /// The time.
    pub at: SimTime,
    /// One value per column; `None` if no run has the attribute at that time.
    pub values: Vec<Option<Spread>>,
}

/// The values of all attributes of a scenario over time.
///
/// ```
/// let text = r#"
/// Scenario: Idle
/// Entities: [{Kind: attribute_set, Name: Vitals, Attributes: [{Name: Health, DefaultBaseValue: 100}]}]
/// Actors: {Hero: {AttributeSets: [Vitals]}}
/// Timeline: [{At: 1}]
/// "#;
/// let tree = &ugas_data::read_trees("idle.yaml", text).unwrap()[0];
/// let scenario = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap();
/// let samples = ugas_lab::sample(&scenario, Default::default()).unwrap();
/// assert_eq!(samples.columns, ["Hero.Health"]);
/// assert_eq!(samples.rows.len(), 2); // the first and the last, because nothing changed in between
/// ```
#[derive(Clone, Debug)]
pub struct Samples {
    /// The name of the scenario.
    pub scenario: String,
    /// The number of runs.
    pub runs: u32,
    /// The first seed.
    pub seed: u64,
    /// The columns as `Actor.Attribute`: actors in the order of the file, attributes in the order of their attribute
    /// sets.
    pub columns: Vec<String>,
    /// The first and the last row, and every row that differs from the previous one.
    pub rows: Vec<SampleRow>,
    /// The number of failures over all runs.
    pub failures: usize,
}

impl Samples {
    /// Keeps only the columns of actors for which `wanted` returns true.
    ///
    /// ```
    /// # let text = "Scenario: Idle\nEntities: [{Kind: attribute_set, Name: V, Attributes: [{Name: H, DefaultBaseValue: 1}]}]\n\
    /// #             Actors: {A: {AttributeSets: [V]}, B: {AttributeSets: [V]}}\nTimeline: [{At: 1}]\n";
    /// # let tree = &ugas_data::read_trees("idle.yaml", text).unwrap()[0];
    /// # let scenario = ugas_lab::Scenario::from_node("idle.yaml", tree).unwrap();
    /// let mut samples = ugas_lab::sample(&scenario, Default::default()).unwrap();
    /// assert_eq!(samples.columns, ["A.H", "B.H"]);
    /// samples.keep(|actor| actor == "B");
    /// assert_eq!((samples.columns, samples.rows[0].values.len()), (vec!["B.H".to_owned()], 1));
    /// ```
    pub fn keep(&mut self, wanted: impl Fn(&str) -> bool) {
        let kept: Vec<bool> = self.columns.iter().map(|c| wanted(c.split('.').next().unwrap_or(c))).collect();
        let mut of_column = kept.iter();
        self.columns.retain(|_| of_column.next().is_some_and(|kept| *kept));
        for row in &mut self.rows {
            let mut of_column = kept.iter();
            row.values.retain(|_| of_column.next().is_some_and(|kept| *kept));
        }
    }
}

/// Runs a scenario and samples every attribute after each time step and each `Do` list.
pub fn sample(scenario: &Scenario, options: SampleOptions) -> Result<Samples, Vec<ReadError>> {
    let seed = options.seed.unwrap_or(scenario.seed);
    let runs = options.runs.max(1);
    let mut table = SampleTable::default();
    let mut failures = 0;
    for n in 0..runs {
        let run = RunOptions { seed: Some(seed.wrapping_add(u64::from(n))), ..RunOptions::default() };
        let mut recorder = Recorder { table: &mut table, next: 0, pending: None, thin: runs == 1 };
        let runner = Runner::played(scenario, run, &mut |runner| recorder.watch(runner))?;
        recorder.commit();
        failures += runner.failed();
        if table.cells() > MAX_CELLS {
            return Err(vec![too_much(scenario)]);
        }
    }
    Ok(Samples {
        scenario: scenario.name.clone(),
        runs,
        seed,
        columns: table.columns.iter().map(|(actor, name)| format!("{actor}.{name}")).collect(),
        rows: table.rows(),
        failures,
    })
}

fn too_much(scenario: &Scenario) -> ReadError {
    ReadError {
        code: Code::Limit,
        file: scenario.file.clone(),
        line: scenario.place.line,
        column: scenario.place.column,
        message: format!("the samples have more than {MAX_CELLS} values"),
        help: Some("write a longer `Step:`".to_owned()),
    }
}

/// Sum, minimum, maximum and number of values seen.
#[derive(Clone, Copy, Debug)]
struct SampleCell {
    sum: f64,
    min: f64,
    max: f64,
    count: u32,
}

#[derive(Default)]
struct SampleTable {
    /// Actor and attribute, in the order they were first seen.
    columns: Vec<(String, String)>,
    index: BTreeMap<(String, AttributeId), usize>,
    times: Vec<SimTime>,
    cells: Vec<Vec<Option<SampleCell>>>,
}

impl SampleTable {
    fn cells(&self) -> usize {
        self.times.len() * self.columns.len().max(1)
    }

    fn column(&mut self, actor: &str, id: AttributeId, name: &str) -> usize {
        let key = (actor.to_owned(), id);
        *self.index.entry(key).or_insert_with(|| {
            self.columns.push((actor.to_owned(), name.to_owned()));
            self.columns.len() - 1
        })
    }

    fn add(&mut self, row: usize, values: &[Option<f64>]) {
        let cells = &mut self.cells[row];
        cells.resize(cells.len().max(values.len()), None);
        for (cell, value) in cells.iter_mut().zip(values) {
            let Some(value) = *value else { continue };
            match cell {
                Some(c) => {
                    c.sum += value;
                    c.min = c.min.min(value);
                    c.max = c.max.max(value);
                    c.count += 1;
                }
                None => {
                    *cell = Some(SampleCell { sum: value, min: value, max: value, count: 1 });
                }
            }
        }
    }

    /// Returns the rows without repetitions.
    fn rows(&self) -> Vec<SampleRow> {
        let mut rows: Vec<SampleRow> = Vec::new();
        let last = self.times.len().saturating_sub(1);
        for (i, (at, cells)) in self.times.iter().zip(&self.cells).enumerate() {
            let mut values: Vec<Option<Spread>> = cells
                .iter()
                .map(|cell| cell.map(|c| Spread { mean: c.sum / f64::from(c.count), min: c.min, max: c.max }))
                .collect();
            values.resize(self.columns.len(), None);
            if i == last || rows.last().is_none_or(|before| before.values != values) {
                rows.push(SampleRow { at: *at, values });
            }
        }
        rows
    }
}

/// Writes one run into the table. All runs sample the same times, so the index of a sample is its row. A single run
/// skips rows that repeat the previous one.
struct Recorder<'a> {
    table: &'a mut SampleTable,
    next: usize,
    pending: Option<(SimTime, Vec<Option<f64>>)>,
    thin: bool,
}

impl Recorder<'_> {
    fn watch(&mut self, runner: &Runner<'_>) {
        let now = runner.sim.now();
        if self.table.cells() > MAX_CELLS {
            return;
        }
        let values = self.values(runner);
        match &mut self.pending {
            Some((at, before)) if *at == now => *before = values,
            _ => {
                self.commit();
                self.pending = Some((now, values));
            }
        }
    }

    fn values(&mut self, runner: &Runner<'_>) -> Vec<Option<f64>> {
        let rules = &runner.world.rules;
        let mut values = vec![None; self.table.columns.len()];
        for actor in &runner.scenario.actors {
            let who = runner.who(&actor.name.text);
            let Ok(sets) = runner.sim.sets(who) else { continue };
            let attributes = sets.iter().filter_map(|s| rules.set_attributes(*s)).flatten();
            for def in attributes {
                let name = rules.attribute_name(def.attribute).unwrap_or("?");
                let column = self.table.column(&actor.name.text, def.attribute, name);
                values.resize(values.len().max(column + 1), None);
                values[column] = runner.sim.get(who, def.attribute).ok();
            }
        }
        values
    }

    fn commit(&mut self) {
        let Some((at, values)) = self.pending.take() else {
            return;
        };
        if self.thin && self.next >= 2 {
            let alike = |row: &Vec<Option<SampleCell>>| {
                row.len() == values.len()
                    && row
                        .iter()
                        .zip(&values)
                        .all(|(cell, value)| cell.map(|c| c.sum.to_bits()) == value.map(f64::to_bits))
            };
            let (a, b) = (self.next - 2, self.next - 1);
            // Of several equal rows only the first and the last are kept.
            if alike(&self.table.cells[a]) && alike(&self.table.cells[b]) {
                self.table.times[b] = at;
                return;
            }
        }
        if self.next == self.table.times.len() {
            self.table.times.push(at);
            self.table.cells.push(Vec::new());
        }
        self.table.add(self.next, &values);
        self.next += 1;
    }
}
