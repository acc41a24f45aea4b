//! Validation of the activations, tasks, casts, cooldowns, inputs and ability sets of a row from untrusted data.

use crate::check::RowValidator;
use crate::rules::{NO_PC, Next};
use crate::state::{Activation, AppliedByClient, Cast, Charge, Gcd, Grant, GrantMore, Play, Row, SetGrant, Task};
use crate::{AbilityState, EventData, Hit, SimTime, Target};

/// Limits of one controller.
const TASKS: usize = 1024;
const TARGETS: usize = 4096;
const PAYLOAD: usize = 64;
/// Maximum number of targets and effects that the client of an activation applied: 16 effects, 1000 times each.
const CLIENT_EFFECTS: usize = 16_000;
/// Maximum size of the state of a coded ability or a custom task in bytes.
const STATE: usize = 256;

pub(crate) fn want(good: bool, what: &'static str) -> Result<(), &'static str> {
    if good { Ok(()) } else { Err(what) }
}

/// Returns whether a local time is in the range in which sums do not overflow.
pub(crate) fn is_valid_time(t: SimTime) -> bool {
    t.0.unsigned_abs() <= 2 * SimTime::LONGEST.0 as u64
}

/// Returns whether a local time is valid or [`SimTime::NEVER`].
fn due(t: SimTime) -> bool {
    t == SimTime::NEVER || is_valid_time(t)
}

pub(crate) fn aims(target: &Target) -> bool {
    !matches!(target, Target::Point(p) if p.iter().any(|v| !v.is_finite()))
}

impl RowValidator<'_> {
    /// Validates the activations, tasks, cast, cooldowns, inputs and ability sets of a row.
    pub(crate) fn play(&self, row: &Row) -> Result<(), &'static str> {
        let play = row.play();
        let Play { activations, tasks, cast, gcds, inputs, sets, capabilities: _ } = play;
        let rising = |mut seqs: Box<dyn Iterator<Item = u64> + '_>| {
            let mut last = 0;
            seqs.all(|s| std::mem::replace(&mut last, s) < s && s < row.next_seq)
        };
        want(rising(Box::new(activations.iter().map(|a| a.seq))), "sequence numbers of activations are invalid")?;
        want(rising(Box::new(tasks.iter().map(|t| t.seq))), "sequence numbers of tasks are invalid")?;
        want(rising(Box::new(sets.iter().map(|s| s.seq))), "handles of ability sets are invalid")?;
        let most = self.limits.activations_per_controller as usize;
        want(activations.len() <= most, "too many activations")?;
        want(tasks.len() <= TASKS, "too many waiting tasks")?;
        want(sets.len() <= self.limits.grants_per_controller as usize, "too many ability sets")?;
        for g in &row.grants {
            self.grant_more(row, g)?;
        }
        for a in activations {
            self.activation(row, a)?;
        }
        for t in tasks {
            self.task(row, t)?;
        }
        if let Some(c) = cast.as_deref() {
            self.cast(row, c)?;
        }
        // The rules define groups, and run-time definitions can add groups.
        let groups = self.rules.group_names.len() + self.limits.definitions as usize;
        want(gcds.len() <= groups, "more global cooldowns than groups")?;
        want(gcds.windows(2).all(|w| w[0].group < w[1].group), "global cooldowns are not in order")?;
        let gcd = |&Gcd { group: _, seq, start, end, root: _ }: &Gcd| {
            is_valid_time(start) && is_valid_time(end) && end >= start && seq < row.next_seq
        };
        want(gcds.iter().all(gcd), "a global cooldown's time is invalid")?;
        if let Some(inputs) = inputs.as_deref() {
            self.inputs(row, inputs)?;
        }
        // Parts of a granted set may have been removed after the grant. Revoking the set checks each part.
        let known = |SetGrant { seq: _, set, effects: _, grants: _, attributes: _ }: &SetGrant| {
            self.rules.ability_set_def(*set).is_some()
        };
        want(sets.iter().all(known), "an ability set is unknown")?;
        // Also checks a row without capabilities: its sets may list some.
        self.capabilities(row, play.capabilities())
    }

    fn grant_more(&self, row: &Row, g: &Grant) -> Result<(), &'static str> {
        let Some(more) = g.more.as_deref() else { return Ok(()) };
        // The granting effect and the level were validated before. Inputs are unrestricted.
        let GrantMore { by: _, level: _, input: _, set, params, charges, restrictions } = more;
        let max = self.limits.params_per_grant as usize;
        want(params.len() <= max && restrictions.len() <= max, "a grant's parameters are invalid")?;
        want(params.windows(2).all(|w| w[0].0 < w[1].0), "a grant's parameters are invalid")?;
        want(params.iter().all(|(_, v)| v.is_finite()), "a grant's parameters are invalid")?;
        want(restrictions.windows(2).all(|w| w[0] < w[1]), "a grant's restrictions are invalid")?;
        want(*set == 0 || row.play().sets.iter().any(|s| s.seq == *set), "the ability set of a grant does not exist")?;
        let Some(Charge { have, max, start, end, seq, rolled }) = *charges else { return Ok(()) };
        let charged = self.defs.ability(self.rules, g.ability).is_some_and(|d| d.charges.is_some());
        let sound = have <= max && is_valid_time(start) && due(end) && end >= start && seq < row.next_seq;
        let sound = sound && !(rolled && end == SimTime::NEVER);
        want(charged && sound, "a grant's charges are invalid")
    }

    fn activation(&self, row: &Row, a: &Activation) -> Result<(), &'static str> {
        // The sequence number was validated before. Origin, progress and source are unrestricted.
        let Activation {
            seq: _,
            origin_id: _,
            ordinal: _,
            grant: _,
            ability: _,
            root: _,
            link: _,
            state: _,
            committed: _,
            level: _,
            target: _,
            start: _,
            deadline: _,
            owned: _,
            acts: _,
            tick: _,
            repeats: _,
            event: _,
            source: _,
            targets: _,
            hit: _,
            held: _,
            cues: _,
            code: _,
            client_effects,
        } = a;
        let Some(at) = row.grant(a.grant) else { return Err("the grant of an activation does not exist") };
        want(row.grants[at].ability == a.ability && a.level > 0, "an activation's ability or level is invalid")?;
        let Some(def) = self.defs.ability(self.rules, a.ability) else {
            return Err("an activation's ability is unknown");
        };
        // The other states exist only while an op runs.
        let rests = matches!(a.state, AbilityState::Active | AbilityState::PendingConfirmation);
        want(rests, "an activation's state is invalid")?;
        let pending = a.state == AbilityState::PendingConfirmation;
        want(
            !pending || def.validation.is_some() && !a.committed,
            "an activation waits for a validation that its ability does not have",
        )?;
        want(pending || a.deadline == SimTime::NEVER, "an activation's time is invalid")?;
        want(is_valid_time(a.start) && due(a.deadline), "an activation's time is invalid")?;
        let owner = |seq: u64| row.effect_at(seq).map(|i| row.effects[i].def);
        // The effect may have been removed during the activation.
        let owns = |seq: u64| owner(seq).map_or(seq < row.next_seq, |found| Some(found) == def.owned);
        want(
            a.owned == 0 || def.owned.is_some() && owns(a.owned),
            "the effect of an activation's owned tags is invalid",
        )?;
        want(aims(&a.target) && a.held.is_finite(), "an activation's values are invalid")?;
        want(a.event.iter().all(|e| self.event(e)), "an activation's event is invalid")?;
        want(a.hit.iter().all(|h| self.hit(h)) && a.targets.len() <= TARGETS, "an activation's targets are invalid")?;
        want(a.code.len() <= STATE, "the state of an activation's code is too large")?;
        let order = |w: &[AppliedByClient]| (w[0].effect, w[0].target) < (w[1].effect, w[1].target);
        let counted = client_effects.iter().all(|&AppliedByClient { effect: _, target: _, count }| count > 0);
        let sorted = client_effects.len() <= CLIENT_EFFECTS && client_effects.windows(2).all(order);
        want(counted && sorted, "an activation's counts of effects that its client applied are invalid")?;
        want(a.repeats.len() <= def.program.regs as usize, "an activation has too many counters")?;
        want(a.cues.iter().all(|&t| self.rules.tags.def(t).is_some()), "an activation's cues are unknown")
    }

    fn event(&self, e: &EventData) -> bool {
        let EventData { tag, target: _, instigator: _, magnitude, hit, payload } = e;
        let numbers = payload.iter().map(|(_, v)| *v).chain([*magnitude]);
        self.rules.tags.def(*tag).is_some()
            && numbers.into_iter().all(f64::is_finite)
            && payload.len() <= PAYLOAD
            && hit.iter().all(|h| self.hit(h))
    }

    pub(crate) fn hit(&self, hit: &Hit) -> bool {
        self.rules.refuse_hit(hit).is_ok()
    }

    fn task(&self, row: &Row, t: &Task) -> Result<(), &'static str> {
        // The sequence number was validated before. Age and remaining branches are unrestricted.
        let Task { seq: _, of: _, parent: _, due: _, since: _, value: _, pc: _, age: _, left: _, code: _ } = t;
        let play = row.play();
        let Some(a) = play.activation(t.of) else { return Err("the activation of a task does not exist") };
        want(a.state == AbilityState::Active, "the activation of a task is not active")?;
        let def = self.defs.ability(self.rules, a.ability);
        let coded = || self.rules.code_of(a.ability).is_some() && t.parent == 0 && self.awaited(t);
        let placed = def.is_some_and(|d| (t.pc as usize) < d.program.code.len());
        want(if t.pc == NO_PC { coded() } else { placed }, "a task's position in its program is invalid")?;
        want(t.code.len() <= STATE, "the state of a task's code is too large")?;
        let parent = |p: &Task| p.of == t.of && p.seq < t.seq;
        want(t.parent == 0 || play.task(t.parent).is_some_and(parent), "a task's parent is invalid")?;
        want(due(t.due) && is_valid_time(t.since) && !t.value.is_nan(), "a task's values are invalid")
    }

    /// Returns whether the wait of a coded ability is valid.
    fn awaited(&self, t: &Task) -> bool {
        let next: Result<Next, _> = serde_json::from_slice(&t.code);
        next.is_ok_and(|n| self.rules.can_await(&n))
    }

    fn cast(&self, row: &Row, c: &Cast) -> Result<(), &'static str> {
        let Cast { of, seq, start, length, ticks, next, owed, ref data } = *c;
        let Some(a) = row.play().activation(of) else { return Err("the activation of a cast does not exist") };
        let def = self.defs.ability(self.rules, a.ability).and_then(|d| d.cast);
        let casts = def.is_some_and(|d| d.ticks.max(1) == ticks);
        // Only a cast whose last tick waits for its data continues after the time of that tick.
        let last = if owed { ticks.saturating_add(1) } else { ticks };
        let counts = next > u32::from(owed) && next <= last && seq < row.next_seq;
        let waits = def.is_some_and(|d| d.awaits_data);
        let has_data = data.as_ref().is_none_or(|target| waits && next <= ticks && aims(target));
        want((!owed || waits) && has_data, "the tick data of a cast is invalid")?;
        let times = is_valid_time(start) && length >= SimTime::ZERO && length <= SimTime::LONGEST;
        want(casts && counts && times && a.state == AbilityState::Active, "a cast is invalid")
    }
}
