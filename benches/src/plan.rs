//! The work of every implementation: the template, the effects, the tag tree and the random inputs of W1 to W6. Each
//! number of controllers has one plan for all implementations, so that all of them do the same work.

/// Time is counted in flicks: 1/705,600,000 s.
pub(crate) const SECOND: i64 = 705_600_000;
/// One frame at 60 Hz.
pub(crate) const FRAME: i64 = SECOND / 60;
/// Steps of W4: ten seconds at 60 Hz.
pub(crate) const STEPS: usize = 600;
/// Attributes of the template.
pub(crate) const ATTRIBUTES: usize = 16;
/// The number of effects of each controller in W2 and W4.
pub(crate) const EFFECTS_EACH: usize = 8;
/// The number of explicit tags of each controller in W5, all of depth 4.
pub(crate) const TAGS_EACH: usize = 12;
/// Which attribute caps which: (capped, cap). A cap always has the lower index.
pub(crate) const CAPS: [(usize, usize); 2] = [(HEALTH, MAX_HEALTH), (MANA, 2)];
const MAX_HEALTH: usize = 0;
/// The attribute that damage lowers.
pub(crate) const HEALTH: usize = 1;
/// The attribute that abilities cost.
const MANA: usize = 3;
/// The four attributes that the timed effects modify and W2 reads.
pub(crate) const MODIFIED: std::ops::Range<usize> = 4..8;
/// Index of the instant damage in [`effects`].
pub(crate) const DAMAGE: usize = 8;
/// Index of the periodic damage in [`effects`].
pub(crate) const POISON: usize = 9;
/// A controller with this tag refuses all effects of the plan. No controller has it, but every application checks it.
pub(crate) const IMMUNE: u16 = 7;
/// Index of the cost of all abilities in [`effects`]: three can be paid.
pub(crate) const COST: usize = 10;
/// Index of the cooldown of all abilities in [`effects`].
pub(crate) const COOLDOWN: usize = 11;
/// The tag that the cooldown grants.
pub(crate) const COOLING: u16 = 100;
/// A controller with this tag can activate nothing.
pub(crate) const STUNNED: u16 = 13;
/// The infinite effect that grants tag `n` has the index `TAG_EFFECTS + n`, after those in [`effects`].
pub(crate) const TAG_EFFECTS: u16 = 12;
/// Abilities each controller is granted in W6 and where bytes are counted. All have the same cost and cooldown.
pub(crate) const ABILITIES_EACH: usize = 4;
/// The ability that W6 tries.
pub(crate) const TRIED: usize = 1;
/// How often W6 tries it, once per frame.
pub(crate) const TRIES: usize = 100;
/// In W6 each controller whose number is a multiple of this is stunned.
pub(crate) const STUNNED_EVERY: usize = 32;

/// The operations the workloads use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Multiply,
}

/// The duration of an effect in flicks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Instant,
    Timed {
        duration: i64,
    },
    Periodic {
        duration: i64,
        period: i64,
    },
    /// Has a duration and no modifier; grants a tag while active.
    Cooldown {
        duration: i64,
        grants: u16,
    },
    /// Active until removed; grants a tag while active.
    Infinite {
        grants: u16,
    },
}

/// An effect with one modifier; the cooldown has no modifier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EffectPlan {
    pub(crate) attribute: usize,
    pub(crate) operation: Operation,
    /// The channel of a `Multiply` modifier; bonuses of one channel are added before they are multiplied.
    pub(crate) channel: u16,
    pub(crate) magnitude: f64,
    pub(crate) life: Life,
}

/// Eight timed effects on four attributes in two channels, then the damage, the poison, the cost, the cooldown.
pub(crate) fn effects() -> Vec<EffectPlan> {
    let timed = (0..EFFECTS_EACH).map(|index| {
        let channel = index / 4;
        let (operation, magnitude) =
            if (index + channel).is_multiple_of(2) { (Operation::Add, 5.0) } else { (Operation::Multiply, 0.1) };
        EffectPlan {
            attribute: MODIFIED.start + index % 4,
            operation,
            channel: channel as u16,
            magnitude,
            life: Life::Timed { duration: SECOND * (1 + index as i64) },
        }
    });
    let hurt = |life| EffectPlan { attribute: HEALTH, operation: Operation::Add, channel: 0, magnitude: -1.0, life };
    let poison = Life::Periodic { duration: 10 * SECOND, period: SECOND };
    let cost = EffectPlan { attribute: MANA, magnitude: -30.0, ..hurt(Life::Instant) };
    let cooldown = Life::Cooldown { duration: 20 * FRAME, grants: COOLING };
    timed.chain([hurt(Life::Instant), hurt(poison), cost, EffectPlan { magnitude: 0.0, ..hurt(cooldown) }]).collect()
}

/// The base values each controller starts with.
pub(crate) fn template() -> [f64; ATTRIBUTES] {
    let mut base = [10.0; ATTRIBUTES];
    base[MAX_HEALTH] = 150.0;
    base[HEALTH..MODIFIED.end].fill(100.0);
    base
}

/// The tags: eight trees in which each tag has five children, four deep, numbered depth first. "Is a descendant of"
/// is then a test of a range.
pub(crate) struct TagTree {
    /// For each tag the number after its last descendant.
    pub(crate) end: Vec<u16>,
    /// For each tag its parent, or [`TagTree::NONE`].
    pub(crate) parent: Vec<u16>,
    /// The tags of depth 4.
    pub(crate) leaves: Vec<u16>,
}

impl TagTree {
    /// The parent of a root.
    pub(crate) const NONE: u16 = u16::MAX;

    pub(crate) fn new() -> TagTree {
        let mut tree = TagTree { end: vec![], parent: vec![], leaves: vec![] };
        for _ in 0..8 {
            tree.grow(1, TagTree::NONE);
        }
        tree
    }

    fn grow(&mut self, depth: usize, parent: u16) {
        let tag = self.parent.len();
        self.parent.push(parent);
        self.end.push(0);
        if depth == 4 {
            self.leaves.push(tag as u16);
        } else {
            for _ in 0..5 {
                self.grow(depth + 1, tag as u16);
            }
        }
        self.end[tag] = self.parent.len() as u16;
    }

    /// Returns the tag, then its ancestors up to the root.
    pub(crate) fn lineage(&self, tag: u16) -> impl Iterator<Item = u16> {
        std::iter::successors(Some(tag), |&tag| Some(self.parent[tag as usize]).filter(|&up| up != TagTree::NONE))
    }
}

/// One effect of W4: applied at this frame, so that periods are spread over the second.
#[derive(Clone, Copy)]
pub(crate) struct Application {
    pub(crate) frame: u32,
    pub(crate) who: u32,
    pub(crate) effect: u16,
    pub(crate) duration: i64,
}

/// A tag query.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask<T = u16> {
    All([T; 3]),
    Any([T; 3]),
    One(T),
}

impl Ask {
    /// Returns the same query with the tag ids of an implementation.
    pub(crate) fn map<T>(self, tag: impl Fn(u16) -> T) -> Ask<T> {
        match self {
            Ask::All(tags) => Ask::All(tags.map(tag)),
            Ask::Any(tags) => Ask::Any(tags.map(tag)),
            Ask::One(one) => Ask::One(tag(one)),
        }
    }
}

/// The inputs for one number of controllers.
pub(crate) struct Plan {
    /// How many controllers.
    pub(crate) count: usize,
    /// W2: which timed effects each controller gets, eight each.
    pub(crate) additions: Vec<u16>,
    /// W3: the controllers to hit, about a hundred times each, so that some reach the lower bound.
    pub(crate) hits: Vec<u32>,
    /// W4: the active effects, ordered by frame and controller.
    pub(crate) running: Vec<Application>,
    /// W5: the tags each controller has, sorted.
    pub(crate) tags: Vec<[u16; TAGS_EACH]>,
    /// W5: the tag queries, each with its controller.
    pub(crate) queries: Vec<(u32, Ask)>,
}

impl Plan {
    pub(crate) fn new(count: usize) -> Plan {
        let tree = TagTree::new();
        let tags = owned_tags(&tree, count);
        let queries = queries(&tree, &tags);
        let mut dice = Dice(5);
        let hits = (0..100 * count).map(|_| dice.below(count)).map(|who| who as u32).collect();
        Plan { count, additions: additions(count), hits, running: running(count), tags, queries }
    }
}

/// Returns the effects of each controller. Every second controller gets each effect once; the others get eight random
/// effects.
fn additions(count: usize) -> Vec<u16> {
    let mut dice = Dice(99);
    let pick = |index: usize| {
        if index % 16 < 8 { (index % 8) as u16 } else { dice.below(EFFECTS_EACH) as u16 }
    };
    (0..count * EFFECTS_EACH).map(pick).collect()
}

/// Returns two periodic and six timed effects for each controller. They last 1 to 60 seconds and start at different
/// times within the first second.
fn running(count: usize) -> Vec<Application> {
    let mut dice = Dice(11);
    let mut list: Vec<Application> = (0..count * EFFECTS_EACH)
        .map(|index| {
            let place = index % EFFECTS_EACH;
            Application {
                frame: dice.below(60) as u32,
                who: (index / EFFECTS_EACH) as u32,
                effect: if place < 2 { POISON } else { place } as u16,
                duration: FRAME * (60 + dice.below(59 * 60)) as i64,
            }
        })
        .collect();
    list.sort_by_key(|application| application.frame);
    list
}

fn owned_tags(tree: &TagTree, count: usize) -> Vec<[u16; TAGS_EACH]> {
    let mut dice = Dice(21);
    let mut set = || {
        let mut tags = [TagTree::NONE; TAGS_EACH];
        let mut have = 0;
        while have < TAGS_EACH {
            let tag = dice.pick(&tree.leaves);
            if tag != IMMUNE && !tags.contains(&tag) {
                tags[have] = tag;
                have += 1;
            }
        }
        tags.sort_unstable();
        tags
    };
    (0..count).map(|_| set()).collect()
}

/// Returns a hundred queries for each controller. Half of the queried tags are present, and their depth varies.
fn queries(tree: &TagTree, owned: &[[u16; TAGS_EACH]]) -> Vec<(u32, Ask)> {
    let mut dice = Dice(33);
    let mut query = |index: usize| {
        let who = dice.below(owned.len());
        let mut tag = |most_steps_up: usize| {
            let leaf = if dice.below(2) == 0 { dice.pick(&owned[who]) } else { dice.pick(&tree.leaves) };
            tree.lineage(leaf).nth(dice.below(most_steps_up + 1)).expect("a leaf has three ancestors")
        };
        let ask = match index % 3 {
            0 => Ask::All([tag(1), tag(1), tag(1)]),
            1 => Ask::Any([tag(1), tag(1), tag(1)]),
            _ => Ask::One(tag(3)),
        };
        (who as u32, ask)
    };
    (0..100 * owned.len()).map(&mut query).collect()
}

/// A small random stream (xorshift), so that the plan is the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * bound as u64) >> 32) as usize
    }

    fn pick(&mut self, from: &[u16]) -> u16 {
        from[self.below(from.len())]
    }
}
