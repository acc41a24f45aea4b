//! The workloads, written once for all implementations. A workload sets up a world, runs the measured section once, and
//! returns the time and the counts. The caller repeats and compares.

use crate::plan::{Ask, EFFECTS_EACH, HEALTH, MODIFIED, Plan, STEPS, STUNNED, STUNNED_EVERY, TAGS_EACH, TRIED, TRIES};
use crate::subject::{Answer, Subject};
use crate::{alloc, clock};

/// A workload that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workload {
    SpawnBatch,
    SpawnSingle,
    Modifiers,
    ModifiersBatched,
    HitSingle,
    HitBatched,
    Step,
    TagQuery,
    TagChange,
    Activate,
}

impl Workload {
    pub(crate) const ALL: [Workload; 10] = [
        Workload::SpawnBatch,
        Workload::SpawnSingle,
        Workload::Modifiers,
        Workload::ModifiersBatched,
        Workload::HitSingle,
        Workload::HitBatched,
        Workload::Step,
        Workload::TagQuery,
        Workload::TagChange,
        Workload::Activate,
    ];

    /// Returns the command line word that selects the workload; several workloads may share a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Workload::SpawnBatch | Workload::SpawnSingle => "w1",
            Workload::Modifiers | Workload::ModifiersBatched => "w2",
            Workload::HitSingle | Workload::HitBatched => "w3",
            Workload::Step => "w4",
            Workload::TagQuery | Workload::TagChange => "w5",
            Workload::Activate => "w6",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Workload::SpawnBatch => "W1 spawn from a template, batch (ns)",
            Workload::SpawnSingle => "W1 spawn from a template, one by one (ns)",
            Workload::Modifiers => "W2 apply 8 timed effects, read 4, remove 4, read 4 (ns)",
            Workload::ModifiersBatched => "W2 apply 8 timed effects in a batch, read 4, remove 4, read 4 (ns)",
            Workload::HitSingle => "W3 instant damage, one by one (ns)",
            Workload::HitBatched => "W3 instant damage, batch (ns)",
            Workload::Step => "W4 one due item (ns)",
            Workload::TagQuery => "W5 tag query (ns)",
            Workload::TagChange => "W5 add or remove a tag through an infinite effect (ns)",
            Workload::Activate => "W6 activation attempt with cost and cooldown (ns)",
        }
    }
}

/// The time and the counts of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub(crate) nanoseconds: u64,
    /// The number of operations; for W4 the number of periodic executions and expiries.
    pub(crate) operations: u64,
    pub(crate) facts: u64,
    pub(crate) allocations: u64,
    /// A sum of all read values, which must be equal for all implementations.
    pub(crate) checksum: f64,
}

/// Runs a workload once.
pub(crate) fn run<S: Subject>(workload: Workload, plan: &Plan) -> Run {
    match workload {
        Workload::SpawnBatch => spawn::<S>(plan, |world| world.spawn_many(plan.count)),
        Workload::SpawnSingle => spawn::<S>(plan, |world| (0..plan.count).for_each(|_| world.spawn_one())),
        Workload::Modifiers => modifiers::<S>(plan, modify_singly),
        Workload::ModifiersBatched => modifiers::<S>(plan, modify_batched),
        Workload::HitSingle => hits::<S>(plan, |world, targets| targets.iter().for_each(|&who| world.hit(who))),
        Workload::HitBatched => hits::<S>(plan, |world, targets| world.hit_many(targets)),
        Workload::Step => step::<S>(plan),
        Workload::TagQuery => tag_query::<S>(plan),
        Workload::TagChange => tag_change::<S>(plan),
        Workload::Activate => activate::<S>(plan).0,
    }
}

/// The only code that is timed and whose instructions are counted; the instruction counter finds it by this name.
#[inline(never)]
pub(crate) fn measured_section<S, T>(world: &mut S, work: impl FnOnce(&mut S) -> T) -> T {
    work(world)
}

/// The name to look for in the instruction counter.
pub(crate) const SECTION: &str = "*measured_section*";

fn measure<S, T>(world: &mut S, work: impl FnOnce(&mut S) -> T) -> (T, Run) {
    let allocations = alloc::allocations();
    let start = clock::nanoseconds();
    let result = std::hint::black_box(measured_section(std::hint::black_box(world), work));
    let nanoseconds = clock::nanoseconds() - start;
    let allocations = (alloc::allocations() - allocations) as u64;
    (result, Run { nanoseconds, allocations, ..Run::default() })
}

/// Returns a world with its controllers, nothing else.
pub(crate) fn populated<S: Subject>(plan: &Plan) -> S {
    let mut world = S::new(plan.count);
    world.spawn_many(plan.count);
    world.take_facts();
    world
}

/// Returns the sum of all current values of the attributes that the workloads touch.
pub(crate) fn current_sum<S: Subject>(world: &S, plan: &Plan) -> f64 {
    let attributes = || (HEALTH..MODIFIED.end).chain([0]);
    (0..plan.count as u32)
        .flat_map(|who| attributes().map(move |a| (who, a)))
        .map(|(who, a)| world.current(who, a))
        .sum()
}

fn spawn<S: Subject>(plan: &Plan, work: impl FnOnce(&mut S)) -> Run {
    let mut world = S::new(plan.count);
    let ((), run) = measure(&mut world, work);
    let checksum = current_sum(&world, plan);
    Run { operations: plan.count as u64, facts: world.take_facts() as u64, checksum, ..run }
}

fn modifiers<S: Subject>(plan: &Plan, modify: impl Fn(&mut S, u32, &[u16], &mut Vec<S::Key>) -> f64) -> Run {
    let mut world = populated::<S>(plan);
    let mut keys = Vec::with_capacity(EFFECTS_EACH);
    let mut pass = |world: &mut S| {
        let mut sum = 0.0;
        let mut facts = 0;
        for (who, effects) in plan.additions.chunks_exact(EFFECTS_EACH).enumerate() {
            if who % 256 == 0 {
                facts += world.take_facts();
            }
            keys.clear();
            sum += modify(world, who as u32, effects, &mut keys);
        }
        (sum, facts + world.take_facts())
    };
    // Once without the clock, until everything has run out: memory is then as warm as in a game that has run a while.
    pass(&mut world);
    world.advance(STEPS as i64);
    world.take_facts();
    let ((checksum, facts), run) = measure(&mut world, pass);
    Run { operations: plan.count as u64, facts: facts as u64, checksum, ..run }
}

fn read<S: Subject>(world: &S, who: u32) -> f64 {
    MODIFIED.map(|attribute| world.current(who, attribute)).sum()
}

fn modify_singly<S: Subject>(world: &mut S, who: u32, effects: &[u16], keys: &mut Vec<S::Key>) -> f64 {
    for &effect in effects {
        let key = world.apply(who, effect);
        keys.push(key);
    }
    let full = read(world, who);
    for &key in keys.iter().step_by(2) {
        world.remove(key);
    }
    full + read(world, who)
}

fn modify_batched<S: Subject>(world: &mut S, who: u32, effects: &[u16], keys: &mut Vec<S::Key>) -> f64 {
    world.apply_all(who, effects, keys);
    let full = read(world, who);
    for &key in keys.iter().step_by(2) {
        world.remove(key);
    }
    full + read(world, who)
}

/// The number of hits after which the facts are taken, independent of the number of controllers.
const HITS_PER_FRAME: usize = 1_000;

fn hits<S: Subject>(plan: &Plan, hit: impl Fn(&mut S, &[u32])) -> Run {
    let mut world = populated::<S>(plan);
    let (facts, run) = measure(&mut world, |world| {
        let frames = plan.hits.chunks(HITS_PER_FRAME);
        frames.fold(0, |facts, targets| {
            hit(world, targets);
            facts + world.take_facts()
        })
    });
    let checksum = current_sum(&world, plan);
    Run { operations: plan.hits.len() as u64, facts: facts as u64, checksum, ..run }
}

/// Returns a world in which all effects of W4 run, one second after the first of them started.
pub(crate) fn running<S: Subject>(plan: &Plan) -> S {
    let mut world = populated::<S>(plan);
    start_effects(&mut world, plan);
    world
}

/// Starts all effects of W4 in the course of one second.
pub(crate) fn start_effects<S: Subject>(world: &mut S, plan: &Plan) {
    for starting in plan.running.chunk_by(|one, next| one.frame == next.frame) {
        for application in starting {
            world.apply_for(application.who, application.effect, application.duration);
        }
        world.advance(1);
        world.take_facts();
    }
}

fn step<S: Subject>(plan: &Plan) -> Run {
    let mut world = running::<S>(plan);
    let done = world.due_done();
    let (facts, run) = measure(&mut world, |world| {
        (0..STEPS).fold(0, |facts, _| {
            world.advance(1);
            facts + world.take_facts()
        })
    });
    let operations = world.due_done() - done;
    let checksum = current_sum(&world, plan);
    Run { operations, facts: facts as u64, checksum, ..run }
}

/// Returns a world in which all controllers have their tags.
pub(crate) fn tagged<S: Subject>(plan: &Plan) -> S {
    let mut world = populated::<S>(plan);
    for (who, tags) in plan.tags.iter().enumerate() {
        for &tag in tags {
            world.add_tag(who as u32, tag);
        }
        world.take_facts();
    }
    world
}

fn tag_query<S: Subject>(plan: &Plan) -> Run {
    let mut world = tagged::<S>(plan);
    let queries: Vec<_> = plan.queries.iter().map(|&(who, ask)| (who, ask.map(|tag| world.tag(tag)))).collect();
    let (yes, run) =
        measure(&mut world, |world| queries.iter().fold(0u64, |yes, &(who, ask)| yes + u64::from(world.ask(who, ask))));
    Run { operations: plan.queries.len() as u64, checksum: yes as f64, ..run }
}

fn tag_change<S: Subject>(plan: &Plan) -> Run {
    let mut world = populated::<S>(plan);
    let mut keys = Vec::with_capacity(TAGS_EACH);
    let mut pass = |world: &mut S| {
        plan.tags.iter().enumerate().fold(0, |facts, (who, tags)| {
            keys.extend(tags.iter().map(|&tag| world.add_tag(who as u32, tag)));
            keys.drain(..).for_each(|key| world.remove(key));
            facts + world.take_facts()
        })
    };
    // Once without the clock, for the same reason as in W2.
    pass(&mut world);
    let (facts, run) = measure(&mut world, pass);
    let left =
        (0..plan.count as u32).filter(|&who| world.ask(who, Ask::One(world.tag(plan.tags[who as usize][0])))).count();
    let operations = 2 * plan.tags.as_flattened().len() as u64;
    Run { operations, facts: facts as u64, checksum: left as f64, ..run }
}

/// The number of times of each outcome, and the sums of the reported values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answers {
    pub(crate) started: u64,
    pub(crate) blocked: u64,
    pub(crate) unpaid: u64,
    pub(crate) cooling: u64,
    /// The mana that controllers had and needed, summed over all attempts that could not pay the cost.
    pub(crate) mana: (f64, f64),
    /// The remaining cooldowns in flicks, summed over all refused attempts.
    pub(crate) left: i64,
}

impl Answers {
    #[inline]
    fn add(&mut self, answer: Answer) {
        match answer {
            Answer::Started => self.started += 1,
            Answer::Blocked => self.blocked += 1,
            Answer::Cost { have, need } => {
                self.unpaid += 1;
                self.mana.0 += have;
                self.mana.1 += need;
            }
            Answer::Cooldown { left } => {
                self.cooling += 1;
                self.left += left;
            }
        }
    }
}

/// In each frame every controller tries to activate an ability. Most attempts are refused, as with a held key: mana
/// suffices for three activations, a third of a second apart. The steps between the frames are measured too.
pub(crate) fn activate<S: Subject>(plan: &Plan) -> (Run, Answers) {
    let mut world = S::new(plan.count);
    for who in 0..plan.count {
        let stunned: &[u16] = if who.is_multiple_of(STUNNED_EVERY) { &[STUNNED] } else { &[] };
        world.spawn_full(stunned);
    }
    world.take_facts();
    let ((facts, answers), run) = measure(&mut world, |world| {
        let mut answers = Answers::default();
        let facts = (0..TRIES).fold(0, |facts, _| {
            (0..plan.count as u32).for_each(|who| answers.add(world.activate(who, TRIED)));
            world.advance(1);
            facts + world.take_facts()
        });
        (facts, answers)
    });
    let checksum = current_sum(&world, plan);
    (Run { operations: (TRIES * plan.count) as u64, facts: facts as u64, checksum, ..run }, answers)
}
