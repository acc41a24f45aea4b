//! Repeats and compares the measurements: the tables, and the gates that can fail a build.

use crate::plan::{Plan, STEPS};
use crate::runner::Runner;
use crate::table::{Table, figure, maybe};
use crate::workload::{Run, Workload};
use crate::{capability, count, expression, idle, net};

/// The number of controllers in the main measurements.
pub(crate) const MANY: usize = 10_000;
/// A smaller number of controllers, for comparison with [`MANY`].
pub(crate) const FEW: usize = 1_000;
/// The maximum cost of an operation at [`MANY`], as a multiple of the cost at [`FEW`].
const SCALE_LIMIT: f64 = 1.5;
/// The maximum bytes of a controller with 16 attributes, 12 tags, 4 abilities and 8 effects.
const BYTES_LIMIT: f64 = 1_600.0;

/// The maximum cost of a step without due work if abilities wait, as a multiple of the cost without abilities.
const IDLE_LIMIT: f64 = 1.02;

/// The maximum cost of a frame with ten capabilities per actor, two of which tick, as a multiple of a plain loop.
const PLAIN_LIMIT: f64 = 3.0;
/// The maximum cost of a frame with ten capabilities per actor, two of which tick, as a multiple of the cost with only
/// these two.
const ASLEEP_LIMIT: f64 = 1.15;
/// The minimum and maximum cost of a frame with four capabilities that tick, as multiples of the cost with two.
const TICKING_LIMITS: (f64, f64) = (1.5, 2.1);

/// The plans all tables share.
pub(crate) struct Plans {
    pub(crate) many: Plan,
    pub(crate) few: Plan,
}

impl Plans {
    pub(crate) fn new() -> Plans {
        Plans { many: Plan::new(MANY), few: Plan::new(FEW) }
    }
}

/// Times of one workload over all repetitions, in nanoseconds per operation.
struct Times {
    least: f64,
    median: f64,
    last: Run,
}

impl Times {
    fn take(runner: &Runner, workload: Workload, plan: &Plan, repetitions: usize) -> Times {
        let runs: Vec<Run> = (0..repetitions).map(|_| (runner.run)(workload, plan)).collect();
        let mut each: Vec<f64> = runs.iter().map(|run| run.nanoseconds as f64 / run.operations as f64).collect();
        each.sort_by(f64::total_cmp);
        Times { least: each[0], median: each[each.len() / 2], last: runs[0] }
    }

    fn cell(&self, factor: f64) -> String {
        format!("{} ({})", figure(self.least * factor), figure(self.median * factor))
    }

    /// Returns the factor that converts nanoseconds per due item to microseconds per step.
    fn per_step(&self) -> f64 {
        self.last.operations as f64 / STEPS as f64 / 1e3
    }
}

/// Returns the main table: least time over all repetitions, with the median in parentheses.
pub(crate) fn times(runners: &[Runner], plans: &Plans, chosen: &[Workload], repetitions: usize, scale: bool) -> Table {
    let title = format!("Time at {MANY} controllers: minimum of {repetitions} runs, median in parentheses");
    let mut table = Table::new(title, &["workload", "reference", "ugas", "ratio", "1k→10k"]);
    for &workload in chosen {
        let take = |plan| runners.iter().map(|one| Times::take(one, workload, plan, repetitions)).collect::<Vec<_>>();
        let many = take(&plans.many);
        let few = if scale { take(&plans.few) } else { vec![] };
        let growth: Vec<String> = many.iter().zip(&few).map(|(many, few)| figure(many.least / few.least)).collect();
        let growth = if growth.is_empty() { "-".to_owned() } else { growth.join(" · ") };
        let ratio = maybe(many.get(1).map(|ours| ours.least / many[0].least));
        let mut row = |title: &str, factor: fn(&Times) -> f64, growth: &str| {
            let cell = |times: &Times| times.cell(factor(times));
            let ours = many.get(1).map_or_else(|| "-".to_owned(), cell);
            table.row(vec![title.to_owned(), cell(&many[0]), ours, ratio.clone(), growth.to_owned()]);
        };
        if workload == Workload::Step {
            row("W4 step of 1/60 s with 80,000 effects (µs)", Times::per_step, "-");
        }
        row(workload.title(), |_| 1.0, &growth);
    }
    table
}

/// Bytes per controller.
pub(crate) fn bytes(runners: &[Runner], plans: &Plans) -> Table {
    let mut table = Table::new("Bytes per controller", &["what", "reference", "ugas", "ratio"]);
    let held: Vec<count::ControllerBytes> = runners.iter().map(|runner| (runner.bytes)(&plans.many)).collect();
    let mut row = |title: &str, pick: fn(&count::ControllerBytes) -> f64| {
        let ours = held.get(1).map(pick);
        let reference = pick(&held[0]);
        table.row(vec![title.to_owned(), figure(reference), maybe(ours), maybe(ours.map(|ours| ours / reference))]);
    };
    row("16 attributes", |bytes| bytes.bare);
    row("16 attributes, 12 tags, 4 abilities, 8 effects", |bytes| bytes.full);
    table
}

/// Allocations: in a steady step, and in each workload per operation.
pub(crate) fn allocations(runners: &[Runner], plans: &Plans) -> Table {
    let mut table = Table::new(format!("Allocations at {MANY} controllers"), &["what", "reference", "ugas"]);
    let mut row = |title: &str, count: &dyn Fn(&Runner) -> f64| {
        let counts: Vec<f64> = runners.iter().map(count).collect();
        table.row(vec![title.to_owned(), figure(counts[0]), maybe(counts.get(1).copied())]);
    };
    row("per step in steady state", &|runner| {
        let steady = (runner.steady)(&plans.many);
        steady.allocations as f64 / steady.steps as f64
    });
    for workload in Workload::ALL {
        let per_operation = |runner: &Runner| allocations_each(&(runner.run)(workload, &plans.many));
        let title = workload.title().trim_end_matches(" (ns)");
        row(&format!("{title}, per operation"), &per_operation);
    }
    table
}

fn allocations_each(run: &Run) -> f64 {
    run.allocations as f64 / run.operations as f64
}

/// Instructions per operation, or why they could not be counted.
pub(crate) fn instructions(runners: &[Runner], chosen: &[Workload]) -> Result<Table, String> {
    let title = format!("Instructions per operation at {MANY} controllers (callgrind)");
    let mut table = Table::new(title, &["workload", "reference", "ugas", "ratio", "1k→10k"]);
    for &workload in chosen {
        let count = |size| runners.iter().map(|one| count::instructions(one, workload, size)).collect();
        let many: Vec<f64> = Result::from_iter::<Vec<Result<f64, String>>>(count(MANY))?;
        let few: Vec<f64> = Result::from_iter::<Vec<Result<f64, String>>>(count(FEW))?;
        let growth: Vec<String> = many.iter().zip(&few).map(|(many, few)| figure(many / few)).collect();
        let title = workload.title().trim_end_matches(" (ns)").to_owned();
        let ours = many.get(1).copied();
        let ratio = ours.map(|ours| ours / many[0]);
        table.row(vec![title, figure(many[0]), maybe(ours), maybe(ratio), growth.join(" · ")]);
    }
    Ok(table)
}

/// The gates, each with its measured value. Gates use only counts, never times.
pub(crate) struct Gates {
    pub(crate) table: Table,
    pub(crate) passed: bool,
}

impl Gates {
    fn judge(&mut self, gate: String, found: String, holds: bool) {
        self.passed &= holds;
        self.table.row(vec![gate, found, if holds { "pass" } else { "FAIL" }.to_owned()]);
    }

    /// Checks what capabilities cost. The child processes also check how many capabilities a step visits: none of those
    /// that sleep or never tick.
    fn judge_capabilities(&mut self) {
        let (found, holds) = match capability::allocations(FEW as u32) {
            Ok((found, steps)) => (format!("{found} in {steps} steps"), found == 0),
            Err(reason) => (reason, false),
        };
        let actors = format!("{FEW} actors with 10 capabilities, 2 ticking");
        self.judge(format!("ugas: no allocation in a steady frame, {actors}"), found, holds);
        let titles = [
            format!(
                "ugas: idle step, {FEW} actors with 5 capabilities that sleep or never tick, 0 visited, within 2 %"
            ),
            format!("ugas: frame, {actors}, at most {PLAIN_LIMIT} times a plain loop"),
            format!("ugas: frame, {actors}, at most {ASLEEP_LIMIT} times the frame with only these 2"),
            format!("ugas: frame, 4 of 10 ticking, {} to {} times 2 of 10", TICKING_LIMITS.0, TICKING_LIMITS.1),
        ];
        let counted = match capability::instructions(FEW) {
            Ok(counted) => counted,
            Err(reason) => {
                let holds = reason == count::NO_VALGRIND;
                return titles.into_iter().for_each(|title| self.judge(title, format!("not counted: {reason}"), holds));
            }
        };
        let two = counted.two_of_ten;
        let compared = [
            (counted.sleeping, counted.bare, 0.0, IDLE_LIMIT),
            (two, counted.plain, 0.0, PLAIN_LIMIT),
            (two, counted.two_of_two, 0.0, ASLEEP_LIMIT),
            (counted.four_of_ten, two, TICKING_LIMITS.0, TICKING_LIMITS.1),
        ];
        for (title, (found, base, least, most)) in titles.into_iter().zip(compared) {
            let holds = (least * base..=most * base).contains(&found);
            self.judge(title, format!("{} against {}", figure(found), figure(base)), holds);
        }
    }
}

/// Checks the gates of all implementations.
pub(crate) fn gates(runners: &[Runner], plans: &Plans) -> Gates {
    let mut gates = Gates { table: Table::new("Gates", &["gate", "found", "result"]), passed: true };
    for runner in runners {
        let name = runner.name;
        let (many, few) = ((runner.steady)(&plans.many), (runner.steady)(&plans.few));
        for (size, steady) in [(MANY, &many), (FEW, &few)] {
            let gate = format!("{name}: no allocation in a steady step, {size} controllers");
            gates.judge(gate, format!("{} in {} steps", steady.allocations, steady.steps), steady.allocations == 0);
        }
        // The reference implementation has no memory limit, because it is not shipped.
        if name != crate::reference::NAME {
            let full = (runner.bytes)(&plans.many).full;
            let gate = format!("{name}: bytes per controller with all it carries, at most {BYTES_LIMIT}");
            gates.judge(gate, figure(full), full <= BYTES_LIMIT);
        }
        let growth = many.due_per_controller / few.due_per_controller;
        let gate = format!("{name}: due items per controller, 10k against 1k, at most {SCALE_LIMIT}");
        gates.judge(gate, figure(growth), growth <= SCALE_LIMIT);
        for workload in Workload::ALL {
            let title = format!("{name}: {}", workload.title().trim_end_matches(" (ns)"));
            let each = |plan| allocations_each(&(runner.run)(workload, plan));
            let (many, few) = (each(&plans.many), each(&plans.few));
            // Buffers that double their size allocate rarely; up to one allocation per hundred operations is allowed.
            let gate = format!("{title}: allocations, 10k against 1k");
            gates.judge(gate, format!("{many:.4} against {few:.4}"), many <= few * SCALE_LIMIT + 0.01);
            let count = |size| count::instructions(runner, workload, size);
            let (found, holds) = match (count(MANY), count(FEW)) {
                (Ok(many), Ok(few)) => (format!("{} against {}", figure(many), figure(few)), many <= few * SCALE_LIMIT),
                (Err(reason), _) | (_, Err(reason)) => (format!("not counted: {reason}"), true),
            };
            gates.judge(format!("{title}: instructions, 10k against 1k"), found, holds);
        }
    }
    let (found, holds) = match idle::instructions(FEW) {
        Ok((bare, waiting)) => (format!("{} against {}", figure(waiting), figure(bare)), waiting <= bare * IDLE_LIMIT),
        Err(reason) => (format!("not counted: {reason}"), reason == count::NO_VALGRIND),
    };
    let gate = format!("ugas: idle step, {FEW} controllers with 4 abilities and 3 sleeping tasks, within 2 %");
    gates.judge(gate, found, holds);
    gates.judge_capabilities();
    let (found, holds) = match net::still::instructions(FEW) {
        Ok((none, many)) => (format!("{} against {}", figure(many), figure(none)), many <= none * IDLE_LIMIT),
        Err(reason) => (format!("not counted: {reason}"), reason == count::NO_VALGRIND),
    };
    gates.judge(
        format!("ugas-net: a tick for 8 clients with {FEW} actors that do not change, within 2 %"),
        found,
        holds,
    );
    let (found, holds) = match expression::allocations() {
        Ok((with, without)) => (format!("{with} in 1000 hits, {without} without it"), with == without),
        Err(reason) => (reason, false),
    };
    gates.judge("ugas: no allocation in an expression".to_owned(), found, holds);
    gates
}
