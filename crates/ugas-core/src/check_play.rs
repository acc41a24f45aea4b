//! Validation of the activations, tasks, casts, cooldowns, inputs and ability sets of a row from outside.

use crate::check::Check;
use crate::rules::{NO_PC, Next};
use crate::state::{Activation, Cast, Grant, Row, Task};
use crate::{AbilityState, EventData, Hit, SimTime, Target};

/// The flow's limits for one controller.
const TASKS: usize = 1024;
const HELD: usize = 64;
const TARGETS: usize = 4096;
const PAYLOAD: usize = 64;
/// Maximum size of the state of a coded ability or a custom task in bytes.
const STATE: usize = 256;

fn want(good: bool, what: &'static str) -> Result<(), &'static str> {
    if good { Ok(()) } else { Err(what) }
}

/// Returns whether a local time is in the range of safe arithmetic.
fn moment(t: SimTime) -> bool {
    t.0.unsigned_abs() <= 2 * SimTime::LONGEST.0 as u64
}

/// Returns whether a local time is valid or never.
fn due(t: SimTime) -> bool {
    t == SimTime::NEVER || moment(t)
}

fn aims(target: &Target) -> bool {
    !matches!(target, Target::Point(p) if p.iter().any(|v| !v.is_finite()))
}

impl Check<'_> {
    /// Validates that everything that runs belongs to something that exists.
    pub(crate) fn play(&self, row: &Row) -> Result<(), &'static str> {
        let play = row.play();
        let rising = |mut seqs: Box<dyn Iterator<Item = u64> + '_>| {
            let mut last = 0;
            seqs.all(|s| std::mem::replace(&mut last, s) < s && s < row.next_seq)
        };
        want(rising(Box::new(play.activations.iter().map(|a| a.seq))), "the numbers of activations")?;
        want(rising(Box::new(play.tasks.iter().map(|t| t.seq))), "the numbers of tasks")?;
        want(rising(Box::new(play.sets.iter().map(|s| s.seq))), "the numbers of ability sets")?;
        let most = self.limits.activations_per_controller as usize;
        want(play.activations.len() <= most, "more activations than may run")?;
        want(play.tasks.len() <= TASKS, "more tasks than may wait")?;
        want(play.held.len() <= HELD, "more inputs than can be held")?;
        want(play.sets.len() <= self.limits.grants_per_controller as usize, "more ability sets than there may be")?;
        for g in &row.grants {
            self.grant_more(row, g)?;
        }
        for a in &play.activations {
            self.activation(row, a)?;
        }
        for t in &play.tasks {
            self.task(row, t)?;
        }
        if let Some(c) = play.cast.as_deref() {
            self.cast(row, c)?;
        }
        // The rules know their groups; a run-time definition can add another.
        let groups = self.rules.group_names.len() + self.limits.definitions as usize;
        want(play.gcds.len() <= groups, "more global cooldowns than there are groups")?;
        want(play.gcds.windows(2).all(|w| w[0].group < w[1].group), "the order of global cooldowns")?;
        let gcd = |g: &crate::state::Gcd| moment(g.start) && moment(g.end) && g.end >= g.start && g.seq < row.next_seq;
        want(play.gcds.iter().all(gcd), "a global cooldown")?;
        want(play.held.windows(2).all(|w| w[0].input < w[1].input), "the order of inputs")?;
        want(play.held.iter().all(|h| moment(h.since) && aims(&h.target)), "an input")?;
        let known = |s: &crate::state::SetGrant| self.rules.ability_set_def(s.set).is_some();
        want(play.sets.iter().all(known), "an ability set")
    }

    fn grant_more(&self, row: &Row, g: &Grant) -> Result<(), &'static str> {
        let Some(more) = g.more.as_deref() else { return Ok(()) };
        let max = self.limits.params_per_grant as usize;
        want(more.params.len() <= max && more.restrictions.len() <= max, "a grant's parameters")?;
        want(more.params.windows(2).all(|w| w[0].0 < w[1].0), "a grant's parameters")?;
        want(more.params.iter().all(|(_, v)| v.is_finite()), "a grant's parameters")?;
        want(more.restrictions.windows(2).all(|w| w[0] < w[1]), "a grant's restrictions")?;
        want(more.set == 0 || row.play().sets.iter().any(|s| s.seq == more.set), "a grant that no set explains")?;
        let Some(c) = &more.charges else { return Ok(()) };
        let charged = self.defs.ability(self.rules, g.ability).is_some_and(|d| d.charges.is_some());
        let sound = c.have <= c.max && moment(c.start) && due(c.end) && c.end >= c.start && c.seq < row.next_seq;
        want(charged && sound, "a grant's charges")
    }

    fn activation(&self, row: &Row, a: &Activation) -> Result<(), &'static str> {
        let Some(at) = row.grant(a.grant) else { return Err("an activation that is not granted") };
        want(row.grants[at].ability == a.ability && a.level > 0, "an activation")?;
        let Some(def) = self.defs.ability(self.rules, a.ability) else { return Err("an activation's ability") };
        // The other states do not outlast an op.
        let rests = matches!(a.state, AbilityState::Active | AbilityState::PendingConfirmation);
        want(rests, "an activation's state")?;
        let pending = a.state == AbilityState::PendingConfirmation;
        want(!pending || def.validation.is_some() && !a.committed, "an activation that waits for nothing")?;
        want(pending || a.deadline == SimTime::NEVER, "an activation's time")?;
        want(moment(a.start) && due(a.deadline), "an activation's time")?;
        let owner = |seq: u64| row.effect_at(seq).map(|i| row.effects[i].def);
        // The effect may have been removed since.
        let owns = |seq: u64| owner(seq).map_or(seq < row.next_seq, |found| Some(found) == def.owned);
        want(a.owned == 0 || def.owned.is_some() && owns(a.owned), "an activation's own tags")?;
        want(aims(&a.target) && a.held.is_finite(), "an activation's values")?;
        want(a.event.iter().all(|e| self.event(e)), "an activation's event")?;
        want(a.hit.iter().all(|h| self.hit(h)) && a.targets.len() <= TARGETS, "an activation's targets")?;
        want(a.code.len() <= STATE, "the state of an activation's code")?;
        want(a.repeats.len() <= def.program.regs as usize, "an activation's counters")?;
        want(a.cues.iter().all(|&t| self.rules.tags.def(t).is_some()), "an activation's cues")
    }

    fn event(&self, e: &EventData) -> bool {
        let numbers = e.payload.iter().map(|(_, v)| *v).chain([e.magnitude]);
        self.rules.tags.def(e.tag).is_some()
            && numbers.into_iter().all(f64::is_finite)
            && e.payload.len() <= PAYLOAD
            && e.hit.iter().all(|h| self.hit(h))
    }

    pub(crate) fn hit(&self, hit: &Hit) -> bool {
        self.rules.refuse_hit(hit).is_ok()
    }

    fn task(&self, row: &Row, t: &Task) -> Result<(), &'static str> {
        let play = row.play();
        let Some(a) = play.activation(t.of) else { return Err("a task without activation") };
        want(a.state == AbilityState::Active, "a task of what does not run")?;
        let def = self.defs.ability(self.rules, a.ability);
        let coded = || self.rules.code_of(a.ability).is_some() && t.parent == 0 && self.awaited(t);
        let placed = def.is_some_and(|d| (t.pc as usize) < d.program.code.len());
        want(if t.pc == NO_PC { coded() } else { placed }, "a task's place")?;
        want(t.code.len() <= STATE, "the state of a task's code")?;
        let parent = |p: &Task| p.of == t.of && p.seq < t.seq;
        want(t.parent == 0 || play.task(t.parent).is_some_and(parent), "a task's parent")?;
        want(due(t.due) && moment(t.since) && !t.value.is_nan(), "a task's values")
    }

    /// Returns whether the wait of a coded ability is valid.
    fn awaited(&self, t: &Task) -> bool {
        let next: Result<Next, _> = serde_json::from_slice(&t.code);
        next.is_ok_and(|n| self.rules.can_await(&n))
    }

    fn cast(&self, row: &Row, c: &Cast) -> Result<(), &'static str> {
        let Some(a) = row.play().activation(c.of) else { return Err("a cast without activation") };
        let def = self.defs.ability(self.rules, a.ability).and_then(|d| d.cast);
        let casts = def.is_some_and(|d| d.ticks.max(1) == c.ticks);
        let counts = c.next > 0 && c.next <= c.ticks && c.seq < row.next_seq;
        let times = moment(c.start) && c.length >= SimTime::ZERO && c.length <= SimTime::LONGEST;
        want(casts && counts && times && a.state == AbilityState::Active, "a cast")
    }
}
