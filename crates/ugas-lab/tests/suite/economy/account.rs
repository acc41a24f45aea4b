//! What one controller of the cheater did in a session, counted from the server's facts and state, and compared with
//! the limits of honest play. The counting knows nothing of the server's checks.

use super::limits::{AbilityLimits, Limits};
use std::collections::BTreeMap;
use ugas_core::{
    AbilityId, ActivationKey, AttributeId, ControllerId, EffectChange, EffectId, EffectKey, Fact, FactKind, Facts, Sim,
    TagId,
};
use ugas_net::message::{Command, Request};

/// Times that differ by less than this are equal.
const EPSILON: f64 = 1e-6;
/// The time whose distance an honest client may move in one tick, because packets were late: seconds.
const JITTER: f64 = 1.0;
/// The factor by which an honest client may be faster, because clocks differ.
const CLOCK: f64 = 1.25;
/// The part of a distance, and the time in seconds of movement, by which a client may be wrong about a hit.
const SEEN: (f64, f64) = (0.25, 0.25);
/// The uses that are compared with a new use.
const COMPARED: usize = 64;

/// A running activation.
struct Activation {
    ability: AbilityId,
    key: ActivationKey,
    start: f64,
    committed: bool,
    /// The least distance to each other actor since the activation.
    nearest: Vec<f64>,
    /// The events that the owner received since the activation.
    events: Vec<TagId>,
}

/// What a controller had too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gain {
    Applications,
    Executions,
    Amount,
    Uses,
    Recovery,
    Cost,
    Held,
    Range,
    Distance,
    Rolls,
}

/// A violation: what the controller did, and the limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Violation {
    pub(crate) gain: Gain,
    pub(crate) text: String,
}

/// The totals of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) damage: f64,
    pub(crate) healing: f64,
    pub(crate) resources: f64,
    pub(crate) uses: u64,
    pub(crate) applications: u64,
    pub(crate) distance: f64,
}

impl Totals {
    pub(crate) fn add(&mut self, other: &Totals) {
        let Totals { damage, healing, resources, uses, applications, distance } = *other;
        self.damage += damage;
        self.healing += healing;
        self.resources += resources;
        self.uses += uses;
        self.applications += applications;
        self.distance += distance;
    }
}

/// The account of one controller.
pub(crate) struct Account<'l> {
    limits: &'l Limits,
    who: ControllerId,
    actors: Vec<ControllerId>,
    /// The time by which the server may date back the start of a cooldown, in seconds.
    late: f64,
    running: Vec<Activation>,
    /// Places of ended activations: for each effect, to one target and to all targets.
    reached: BTreeMap<EffectId, [u64; 2]>,
    /// Applications of each effect, in all and to each target.
    applied: BTreeMap<EffectId, u64>,
    applied_to: BTreeMap<(EffectId, ControllerId), u64>,
    executed: BTreeMap<EffectId, u64>,
    /// The times of uses, by ability and by group of a global cooldown.
    uses: BTreeMap<AbilityId, Vec<f64>>,
    group_uses: BTreeMap<String, Vec<f64>>,
    starts: BTreeMap<AbilityId, Vec<f64>>,
    /// Resources that the controller had and gained, and what it paid.
    pool: BTreeMap<AttributeId, f64>,
    paid: BTreeMap<AttributeId, f64>,
    /// Effects that are present only while their ability is active.
    held: BTreeMap<EffectKey, EffectId>,
    position: Option<[f64; 3]>,
    /// How far the controller is ahead of its highest speed.
    ahead: f64,
    /// Whether the client asked to move the controller.
    asked_to_move: bool,
    /// Successes and attempts of each chance.
    pub(crate) rolls: Vec<(u64, u64)>,
    pub(crate) totals: Totals,
    pub(crate) violations: Vec<Violation>,
}

impl<'l> Account<'l> {
    pub(crate) fn new(limits: &'l Limits, sim: &Sim, who: ControllerId, late: f64) -> Account<'l> {
        let now = sim.now().as_seconds();
        let actors: Vec<ControllerId> = sim.controllers().collect();
        let running = sim.activations(who).unwrap().map(|a| Activation {
            ability: a.ability,
            key: a.key,
            start: now - a.elapsed.as_seconds(),
            committed: a.committed,
            nearest: vec![f64::INFINITY; actors.len()],
            events: Vec::new(),
        });
        Account {
            limits,
            who,
            late,
            running: running.collect(),
            actors,
            reached: BTreeMap::new(),
            applied: BTreeMap::new(),
            applied_to: BTreeMap::new(),
            executed: BTreeMap::new(),
            uses: BTreeMap::new(),
            group_uses: BTreeMap::new(),
            starts: BTreeMap::new(),
            pool: limits.resources.iter().filter_map(|&a| Some((a, sim.get(who, a).ok()?))).collect(),
            paid: BTreeMap::new(),
            held: BTreeMap::new(),
            position: position(sim, who),
            ahead: 0.0,
            asked_to_move: false,
            rolls: vec![(0, 0); limits.chances.len()],
            totals: Totals::default(),
            violations: Vec::new(),
        }
    }

    /// Records the first violation of each kind.
    fn violate(&mut self, gain: Gain, at: f64, text: String) {
        if self.violations.iter().all(|v| v.gain != gain) {
            self.violations.push(Violation { gain, text: format!("at {at:.3} s: {text}") });
        }
    }

    /// Notes whether the client asks to move the controller.
    pub(crate) fn note_moves(&mut self, commands: &[Command]) {
        let moves = |c: &Command| matches!(c.request, Request::Move { .. }) && c.request.who() == self.who;
        self.asked_to_move |= commands.iter().any(moves);
    }

    /// Counts the facts of one tick.
    pub(crate) fn take(&mut self, sim: &Sim, facts: &Facts, tick_seconds: f64) {
        // The cost of an activation is paid before its fact.
        let who = self.who;
        for fact in facts.list.iter().filter(|f| f.who == who) {
            if let FactKind::AbilityActivated { ability, activation, .. } = fact.kind {
                self.activated(ability, activation, fact.at.as_seconds());
            }
        }
        let before = self.position;
        self.follow(sim, tick_seconds);
        self.measure(sim, before);
        for fact in &facts.list {
            self.count(sim, fact);
        }
        self.check_held(sim.now().as_seconds());
    }

    fn activated(&mut self, ability: AbilityId, key: ActivationKey, at: f64) {
        let nearest = vec![f64::INFINITY; self.actors.len()];
        self.running.push(Activation { ability, key, start: at, committed: false, nearest, events: Vec::new() });
        self.totals.uses += 1;
        let limits = self.limits;
        let Some(of) = limits.abilities.get(&ability) else { return };
        if let Some(length) = of.locked {
            let starts = self.starts.entry(ability).or_default();
            starts.push(at);
            if let Some(text) = too_often(starts, length, 1, 0.0) {
                self.violate(Gain::Recovery, at, format!("ability {}, which lasts {length} s: {text}", ability.0));
            }
        }
        if !of.manual {
            self.used(ability, of, at);
        }
    }

    /// Counts a use: the ability started its cooldown and paid its cost.
    fn used(&mut self, ability: AbilityId, of: &AbilityLimits, at: f64) {
        let uses = self.uses.entry(ability).or_default();
        uses.push(at);
        let by_cooldown = of.cooldown.and_then(|length| too_often(uses, length, 1, self.late));
        let by_charges = of.charges.and_then(|(most, length)| too_often(uses, length, u64::from(most), self.late));
        let by_group = of.global_cooldown.as_ref().and_then(|(group, length)| {
            let uses = self.group_uses.entry(group.clone()).or_default();
            uses.push(at);
            too_often(uses, *length, 1, self.late)
        });
        for text in [by_cooldown, by_charges, by_group].into_iter().flatten() {
            self.violate(Gain::Uses, at, format!("cooldown of ability {}: {text}", ability.0));
        }
        for &(attribute, cost) in &of.cost {
            let paid = self.paid.entry(attribute).or_default();
            *paid += cost;
            let (paid, pool) = (*paid, self.pool.get(&attribute).copied().unwrap_or(0.0));
            if paid > pool + EPSILON {
                let text = format!("ability {} paid {paid} of a resource of which there were {pool}", ability.0);
                self.violate(Gain::Cost, at, text);
            }
        }
    }

    fn count(&mut self, sim: &Sim, fact: &Fact) {
        let at = fact.at.as_seconds();
        match fact.kind {
            FactKind::AbilityEnded { activation, .. } if fact.who == self.who => self.ended(activation, at),
            FactKind::EffectApplied { .. } if fact.source == self.who => {
                self.applied(sim, fact, at);
                if fact.who == self.who && self.limits.abilities.values().any(|a| a.held.contains(&fact.effect)) {
                    self.held.insert(fact.key, fact.effect);
                }
            }
            FactKind::EffectChanged { what: EffectChange::Merged, .. } if fact.source == self.who => {
                self.applied(sim, fact, at);
            }
            FactKind::GameplayEvent { tag, .. } if fact.who == self.who => {
                self.running.iter_mut().for_each(|a| a.events.push(tag));
            }
            FactKind::EffectRemoved { .. } => drop(self.held.remove(&fact.key)),
            FactKind::EffectExecuted { .. } if fact.source == self.who => self.execution(fact, at),
            FactKind::AttributeChanged { attribute, old_base, new_base, .. } => {
                self.changed(sim, fact, attribute, new_base - old_base, at);
            }
            FactKind::ContextTag { tag } if fact.source == self.who => {
                for (n, chance) in self.limits.chances.iter().enumerate() {
                    self.rolls[n].0 += u64::from(chance.tag == Some(tag) && chance.effect == fact.effect);
                }
            }
            _ => {}
        }
    }

    /// Counts an application and compares it with the places that the programs have reached.
    fn applied(&mut self, sim: &Sim, fact: &Fact, at: f64) {
        let (effect, limits) = (fact.effect, self.limits);
        self.totals.applications += 1;
        for (n, chance) in limits.chances.iter().enumerate().filter(|(_, c)| c.effect == effect) {
            self.rolls[n].0 += u64::from(chance.tag.is_none());
            self.rolls[n].1 += u64::from(chance.tag.is_some());
        }
        self.commit(effect, fact, at);
        if !limits.names.contains_key(&effect) || limits.unbounded.contains(&effect) {
            return;
        }
        let total = self.applied.entry(effect).or_default();
        *total += 1;
        let to_one = self.applied_to.entry((effect, fact.who)).or_default();
        *to_one += 1;
        let (total, to_one) = (*total, *to_one);
        let [single, all] = self.reachable(effect, at);
        if to_one > single || total > all {
            let name = limits.name(effect);
            let text = format!(
                "{name} was applied {to_one} times to one target and {total} times in all; the programs of the \
                 activations so far allow {single} and {all}"
            );
            self.violate(Gain::Applications, at, text);
        }
        self.check_range(sim, fact, at);
    }

    /// Marks the activation that started a cooldown as committed.
    fn commit(&mut self, effect: EffectId, fact: &Fact, at: f64) {
        if fact.who != self.who {
            return;
        }
        let limits = self.limits;
        let starts = |a: &Activation| {
            let of = limits.abilities.get(&a.ability);
            !a.committed && of.is_some_and(|of| of.manual && of.cooldown_effect == Some(effect))
        };
        let Some(found) = self.running.iter_mut().find(|a| starts(a)) else { return };
        found.committed = true;
        let ability = found.ability;
        self.used(ability, &limits.abilities[&ability], at);
    }

    /// Returns how often an effect may have been applied so far: to one target, and to all targets.
    fn reachable(&self, effect: EffectId, now: f64) -> [u64; 2] {
        let mut sum = self.reached.get(&effect).copied().unwrap_or_default();
        for activation in &self.running {
            let Some(of) = self.limits.abilities.get(&activation.ability) else { continue };
            add_places(&mut sum, of, activation, now, self.actors.len() as u64, Some(effect));
        }
        sum
    }

    fn ended(&mut self, key: ActivationKey, at: f64) {
        let Some(n) = self.running.iter().position(|a| a.key == key) else { return };
        let activation = self.running.swap_remove(n);
        let Some(of) = self.limits.abilities.get(&activation.ability) else { return };
        for (n, chance) in self.limits.chances.iter().enumerate() {
            self.rolls[n].1 += u64::from(chance.tag.is_none() && chance.ability == activation.ability);
        }
        let mut effects: Vec<EffectId> = of.places.iter().map(|p| p.effect).collect();
        effects.sort_unstable();
        effects.dedup();
        for effect in effects {
            let sum = self.reached.entry(effect).or_default();
            add_places(sum, of, &activation, at, self.actors.len() as u64, Some(effect));
        }
    }

    fn execution(&mut self, fact: &Fact, at: f64) {
        let Some(&each) = self.limits.executions.get(&fact.effect) else { return };
        let executed = self.executed.entry(fact.effect).or_default();
        *executed += 1;
        let (executed, applied) = (*executed, self.applied.get(&fact.effect).copied().unwrap_or(0));
        if executed > applied * each && !self.limits.unbounded.contains(&fact.effect) {
            let name = self.limits.name(fact.effect);
            let text = format!("{name} executed {executed} times after {applied} applications of {each} executions");
            self.violate(Gain::Executions, at, text);
        }
    }

    /// Compares the change of a resource with the most that one execution can change.
    fn changed(&mut self, sim: &Sim, fact: &Fact, attribute: AttributeId, by: f64, at: f64) {
        if !self.limits.resources.contains(&attribute) || by == 0.0 {
            return;
        }
        if fact.who == self.who && by > 0.0 {
            *self.pool.entry(attribute).or_default() += by;
        }
        if fact.source != self.who || !self.limits.names.contains_key(&fact.effect) {
            return;
        }
        match (by > 0.0, fact.who == self.who) {
            (false, false) => self.totals.damage -= by,
            (true, true) => self.totals.resources += by,
            (true, false) => self.totals.healing += by,
            (false, true) => {}
        }
        let name = self.limits.name(fact.effect);
        // Effects without a maximum are not for the cheater's controllers.
        let most = self.limits.most.get(&fact.effect).copied().unwrap_or(0.0);
        let most = self.falloff(sim, fact).unwrap_or(most);
        if by.abs() > most + EPSILON {
            self.violate(Gain::Amount, at, format!("{name} changed a resource by {by}; the most is {most}"));
        }
    }

    /// Returns the most damage of a hit at about the server's distance, for an effect whose damage falls off.
    fn falloff(&self, sim: &Sim, fact: &Fact) -> Option<f64> {
        let (_, most, range) = self.limits.falloff.filter(|(effect, ..)| *effect == fact.effect)?;
        if self.asked_to_move {
            return Some(most);
        }
        let moved = 2.0 * self.limits.speed * CLOCK * SEEN.1;
        let beyond = (distance(sim, self.who, fact.who)? * (1.0 - SEEN.0) - moved - range).max(0.0);
        Some(most * (1.0 - beyond / range).max(0.0))
    }

    /// Checks that a target was in the range of an ability that applies the effect, since its activation.
    fn check_range(&mut self, sim: &Sim, fact: &Fact, at: f64) {
        if fact.who == self.who {
            return;
        }
        let Some(n) = self.actors.iter().position(|&a| a == fact.who) else { return };
        let slack = if self.asked_to_move { self.limits.speed * CLOCK * JITTER } else { 0.0 };
        let now = distance(sim, self.who, fact.who).unwrap_or(0.0);
        let mut nearest_miss: Option<(f64, f64)> = None;
        for (ability, of) in &self.limits.abilities {
            if !of.places.iter().any(|p| p.effect == fact.effect) {
                continue;
            }
            // An effect of an ability without a range, or of an ability that has ended, is not checked here.
            let Some(range) = of.range else { return };
            let running = self.running.iter().filter(|a| a.ability == *ability);
            let Some(near) = running.map(|a| a.nearest[n].min(now)).reduce(f64::min) else { continue };
            if near <= range + slack + EPSILON {
                return;
            }
            nearest_miss = Some((near, range));
        }
        if let Some((near, range)) = nearest_miss {
            let name = self.limits.name(fact.effect);
            self.violate(Gain::Range, at, format!("{name} hit a target {near:.1} units away; the range is {range}"));
        }
    }

    /// Adds the distance moved in a tick and compares it with the highest speed.
    fn follow(&mut self, sim: &Sim, seconds: f64) {
        let position = position(sim, self.who);
        let moved = match (self.position, position) {
            (Some(from), Some(to)) => between(from, to),
            _ => 0.0,
        };
        self.position = position;
        self.totals.distance += moved;
        self.ahead = (self.ahead + moved - self.limits.speed * CLOCK * seconds).max(0.0);
        let most = self.limits.speed * CLOCK * JITTER;
        if self.ahead > most + EPSILON {
            let speed = self.limits.speed;
            let ahead = self.ahead;
            let text = format!("moved {ahead:.1} units more than {speed} per second allow; {most} are tolerated");
            self.violate(Gain::Distance, sim.now().as_seconds(), text);
            self.ahead = 0.0;
        }
    }

    /// Records how near each actor was since each activation.
    fn measure(&mut self, sim: &Sim, before: Option<[f64; 3]>) {
        let actors = &self.actors;
        for activation in &mut self.running {
            for (n, &actor) in actors.iter().enumerate() {
                let there = position(sim, actor);
                for here in [before, self.position] {
                    let Some((here, there)) = here.zip(there) else { continue };
                    activation.nearest[n] = activation.nearest[n].min(between(here, there));
                }
            }
        }
    }

    /// Checks that effects are present only while an ability that removes them is active.
    fn check_held(&mut self, now: f64) {
        let limits = self.limits;
        let is_active = |running: &[Activation], effect: EffectId| {
            let mut active = running.iter().filter_map(|a| limits.abilities.get(&a.ability));
            active.any(|of| of.held.contains(&effect))
        };
        let left = self.held.iter().find(|(_, effect)| !is_active(&self.running, **effect)).map(|(k, e)| (*k, *e));
        if let Some((key, effect)) = left {
            self.held.remove(&key);
            let name = limits.name(effect);
            let text = format!("{name} is present, but the ability that removes it at its end is not active");
            self.violate(Gain::Held, now, text);
        }
    }
}

/// Adds the places that an activation reached by `until`.
fn add_places(
    sum: &mut [u64; 2],
    of: &AbilityLimits,
    activation: &Activation,
    until: f64,
    actors: u64,
    effect: Option<EffectId>,
) {
    for place in of.places.iter().filter(|p| effect.is_none_or(|e| e == p.effect)) {
        let is_reached = activation.start + place.at <= until + EPSILON;
        let has_event = place.after_event.is_none_or(|tag| activation.events.contains(&tag));
        if is_reached && has_event && (!place.after_commit || activation.committed) {
            sum[0] += u64::from(place.to_one);
            sum[1] += place.in_all.map_or(actors * u64::from(place.to_one), u64::from);
        }
    }
}

/// Compares the last of some uses with the earlier ones. In a time T there may be `most` uses and one more for each
/// full `length` in T and `late`.
fn too_often(uses: &[f64], length: f64, most: u64, late: f64) -> Option<String> {
    let last = *uses.last()?;
    uses.iter().rev().take(COMPARED).enumerate().find_map(|(n, first)| {
        let (count, span) = (n as u64 + 1, last - first);
        let allowed = most + ((span + late + EPSILON) / length).floor() as u64;
        (count > allowed).then(|| format!("{count} uses within {span:.3} s; a length of {length} s allows {allowed}"))
    })
}

fn position(sim: &Sim, who: ControllerId) -> Option<[f64; 3]> {
    sim.anchor(who).ok().flatten().map(|a| a.position)
}

fn distance(sim: &Sim, a: ControllerId, b: ControllerId) -> Option<f64> {
    Some(between(position(sim, a)?, position(sim, b)?))
}

fn between(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}
