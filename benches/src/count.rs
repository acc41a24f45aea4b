//! Counts: bytes per controller, allocations per steady step, instructions per operation. Counts are the same in every
//! run, so that gates can use them.

use crate::plan::Plan;
use crate::subject::Subject;
use crate::workload::{self, Run, Workload};
use crate::{alloc, runner::Runner};
use std::process::Command;

/// ControllerBytes per controller.
pub(crate) struct ControllerBytes {
    /// ControllerBytes of a controller with 16 attributes.
    pub(crate) bare: f64,
    /// ControllerBytes of a controller with 16 attributes, 12 tags, 4 abilities and 8 effects.
    pub(crate) full: f64,
}

/// Builds a world and measures its memory, without buffers that do not belong to controllers.
pub(crate) fn bytes<S: Subject>(plan: &Plan) -> ControllerBytes {
    let each = |since: usize| (alloc::live_bytes() - since) as f64 / plan.count as f64;
    let before = alloc::live_bytes();
    let mut world = S::new(plan.count);
    world.spawn_many(plan.count);
    world.drop_buffers();
    let bare = each(before);
    drop(world);
    let before = alloc::live_bytes();
    let mut world = S::new(plan.count);
    for tags in &plan.tags {
        world.spawn_full(tags);
        world.take_facts();
    }
    workload::start_effects(&mut world, plan);
    world.drop_buffers();
    ControllerBytes { bare, full: each(before) }
}

/// The number of allocations in steady steps.
pub(crate) struct Steady {
    pub(crate) allocations: u64,
    pub(crate) steps: u64,
    pub(crate) due_per_controller: f64,
}

/// Runs W4 with changes: in each step a hundredth of the controllers gets an effect of one second, is hit, and is read.
/// Counting starts after four seconds, when all buffers are warm.
pub(crate) fn steady<S: Subject>(plan: &Plan) -> Steady {
    const WARM_STEPS: usize = 240;
    const COUNTED_STEPS: usize = 300;
    let mut world = workload::running::<S>(plan);
    let mut next = 0..plan.count as u32;
    let mut step = |world: &mut S| {
        for _ in 0..plan.count / 100 {
            let who = next.next().unwrap_or_else(|| {
                next = 1..plan.count as u32;
                0
            });
            world.apply(who, 0);
            world.hit(who);
            std::hint::black_box(world.current(who, 4));
        }
        world.advance(1);
        world.take_facts();
    };
    (0..WARM_STEPS).for_each(|_| step(&mut world));
    let (allocations, done) = (alloc::allocations(), world.due_done());
    (0..COUNTED_STEPS).for_each(|_| step(&mut world));
    Steady {
        allocations: (alloc::allocations() - allocations) as u64,
        steps: COUNTED_STEPS as u64,
        due_per_controller: (world.due_done() - done) as f64 / plan.count as f64,
    }
}

/// Returns the instructions per operation. Callgrind counts them in a child process that runs the workload once. The
/// error says why the instructions cannot be counted.
pub(crate) fn instructions(runner: &Runner, workload: Workload, count: usize) -> Result<f64, String> {
    let arguments = [CHILD_WORD, runner.name, &format!("{workload:?}"), &count.to_string()];
    callgrind(&arguments).map(|(collected, operations)| collected / operations)
}

/// The error if valgrind is not available.
pub(crate) const NO_VALGRIND: &str = "valgrind not installed";

/// Runs this program as a child process. Returns the instructions of its measured section and the number of operations
/// that it prints.
pub(crate) fn callgrind(arguments: &[&str]) -> Result<(f64, f64), String> {
    let program = std::env::current_exe().map_err(|error| format!("own path unknown: {error}"))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect={}", workload::SECTION))
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|_| NO_VALGRIND.to_owned())?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let operations = stdout.trim().parse::<f64>().map_err(|_| format!("the child failed: {}", stderr.trim()))?;
    let collected = stderr.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse::<f64>().ok());
    let collected = collected.filter(|&count| count > 0.0).ok_or("callgrind did not see the measured section")?;
    Ok((collected, operations))
}

/// The first argument of the child process that [`instructions`] starts.
pub(crate) const CHILD_WORD: &str = "count-once";

/// Runs one workload once in the child process and prints the number of operations.
pub(crate) fn child(runners: &[Runner], arguments: &[String]) -> Result<(), String> {
    let [name, workload, count] = arguments else {
        return Err(format!("{CHILD_WORD} takes a subject, a workload and a number of controllers"));
    };
    let runner = runners.iter().find(|runner| runner.name == name).ok_or("no such subject")?;
    let workload = Workload::ALL.into_iter().find(|one| format!("{one:?}") == *workload).ok_or("no such workload")?;
    let plan = Plan::new(count.parse().map_err(|_| "the number of controllers is not a number")?);
    let Run { operations, .. } = (runner.run)(workload, &plan);
    println!("{operations}");
    Ok(())
}
