//! Checks that all implementations compute the same results before they are measured. Within one implementation, single
//! calls are compared with batch calls, different strides with each other, and tag queries with a plain search. Then
//! the implementations are compared with each other.

use crate::plan::{Ask, HEALTH, Plan, STEPS, TagTree};
use crate::runner::Runner;
use crate::subject::Subject;
use crate::workload::{self, Workload};

/// The results of one implementation, for comparison with the others.
#[derive(Debug)]
pub(crate) struct Results {
    /// The differences within the implementation.
    pub(crate) faults: Vec<String>,
    checksums: Vec<(&'static str, f64)>,
}

/// Checks one implementation with a small plan.
pub(crate) fn results<S: Subject>(plan: &Plan) -> Results {
    let run = |workload| workload::run::<S>(workload, plan);
    let mut faults = Vec::new();
    let mut equal = |what: &str, one: f64, other: f64| {
        if one != other {
            faults.push(format!("{}: {what}: {one} is not {other}", S::NAME));
        }
    };
    let (spawned, spawned_singly) = (run(Workload::SpawnBatch), run(Workload::SpawnSingle));
    equal("W1 batch and single values", spawned.checksum, spawned_singly.checksum);
    let (modified, modified_batch) = (run(Workload::Modifiers), run(Workload::ModifiersBatched));
    equal("W2 single and batch values", modified.checksum, modified_batch.checksum);
    let (hit, hit_batch) = (run(Workload::HitSingle), run(Workload::HitBatched));
    equal("W3 single and batch values", hit.checksum, hit_batch.checksum);
    equal("W3 single and batch facts", hit.facts as f64, hit_batch.facts as f64);
    let expected = workload::current_sum(&workload::populated::<S>(plan), plan) - expected_damage(plan);
    equal("W3 values and hits that count", hit.checksum, expected);
    let frames = strided::<S>(plan, 1);
    for stride in [7, 60, STEPS] {
        let other = strided::<S>(plan, stride);
        equal("W4 values at another stride", frames.0, other.0);
        equal("W4 facts and their order at another stride", f64::from(frames.1 == other.1), 1.0);
        equal("W4 due items at another stride", frames.2 as f64, other.2 as f64);
    }
    let (asked, searched) = (run(Workload::TagQuery), searched(plan));
    equal("W5 queries and a plain search", asked.checksum, searched);
    let changed = run(Workload::TagChange);
    equal("W5 tags left after all were removed", changed.checksum, 0.0);
    equal("W5 facts: as many lost as gained", (changed.facts % 2) as f64, 0.0);
    let (tried, answers) = workload::activate::<S>(plan);
    let all = answers.started + answers.blocked + answers.unpaid + answers.cooling;
    equal("W6 answers and attempts", all as f64, tried.operations as f64);
    let paid = (workload::current_sum(&workload::populated::<S>(plan), plan) - tried.checksum) / 30.0;
    equal("W6 costs paid and successes", paid, answers.started as f64);
    let checksums = vec![
        ("W1 values", spawned.checksum),
        ("W2 values", modified.checksum),
        ("W3 values", hit.checksum),
        ("W4 values", frames.0),
        ("W4 due items", frames.2 as f64),
        ("W4 base of health", frames.3),
        ("W5 answers", asked.checksum),
        ("W1 facts", spawned.facts as f64),
        ("W2 facts", modified.facts as f64),
        ("W2 batch facts", modified_batch.facts as f64),
        ("W3 facts", hit.facts as f64),
        ("W4 facts", run(Workload::Step).facts as f64),
        ("W5 facts", changed.facts as f64),
        ("W6 values", tried.checksum),
        ("W6 facts", tried.facts as f64),
        ("W6 successes", answers.started as f64),
        ("W6 refused by a tag", answers.blocked as f64),
        ("W6 refused by the cost", answers.unpaid as f64),
        ("W6 refused by the cooldown", answers.cooling as f64),
        ("W6 mana had", answers.mana.0),
        ("W6 mana needed", answers.mana.1),
        ("W6 cooldown left", answers.left as f64),
    ];
    Results { faults, checksums }
}

/// Returns the differences within each implementation, and between each implementation and the first.
pub(crate) fn all(runners: &[Runner], plan: &Plan) -> Vec<String> {
    let results: Vec<Results> = runners.iter().map(|runner| (runner.check)(plan)).collect();
    let mut faults: Vec<String> = results.iter().flat_map(|one| one.faults.clone()).collect();
    for (runner, other) in runners.iter().zip(&results).skip(1) {
        for (&(what, expected), &(_, found)) in results[0].checksums.iter().zip(&other.checksums) {
            if (found - expected).abs() > 1e-9 * expected.abs() {
                faults.push(format!("{what}: {} has {found}, {} has {expected}", runner.name, runners[0].name));
            }
        }
    }
    faults
}

/// Returns the total damage of W3. A controller cannot lose more health than it has.
fn expected_damage(plan: &Plan) -> f64 {
    let mut taken = vec![0.0f64; plan.count];
    plan.hits.iter().for_each(|&who| taken[who as usize] += 1.0);
    taken.iter().map(|&hits| hits.min(crate::plan::template()[HEALTH])).sum()
}

/// Runs W4 with this many frames per step. Returns the values, a digest of all facts, the number of due items and the
/// base value of health.
fn strided<S: Subject>(plan: &Plan, stride: usize) -> (f64, u64, u64, f64) {
    let mut world = workload::running::<S>(plan);
    let mut left = STEPS;
    while left > 0 {
        let frames = stride.min(left);
        world.advance(frames as i64);
        left -= frames;
    }
    let health = (0..plan.count as u32).map(|who| world.base(who, HEALTH)).sum();
    (workload::current_sum(&world, plan), world.facts_digest(), world.due_done(), health)
}

/// Returns how many queries of W5 match, found by a search of the ancestors of every tag.
fn searched(plan: &Plan) -> f64 {
    let tree = TagTree::new();
    let yes = plan.queries.iter().filter(|&&(who, ask)| {
        let has = |wanted| plan.tags[who as usize].iter().any(|&tag| tree.lineage(tag).any(|up| up == wanted));
        match ask {
            Ask::All(tags) => tags.into_iter().all(has),
            Ask::Any(tags) => tags.into_iter().any(has),
            Ask::One(tag) => has(tag),
        }
    });
    yes.count() as f64
}
