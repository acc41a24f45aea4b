//! What one use of an ability can apply, read from the documents alone: each place of the task lists that applies an
//! effect, with the earliest time after the activation at which the program can reach it.
//!
//! Waits whose length the data does not give count as zero, so the times are lower bounds. Where the number of
//! applications depends on events, the effect is unbounded and is not counted. An effect that another effect applies
//! has the places of its parent.

use std::collections::{BTreeMap, BTreeSet};
use ugas_doc::{Ability, AbilityTask, Doc, DurationPolicy, Effect, Time, Timeline, Value};

/// Repetitions later than this are not listed: no session is longer.
const HORIZON: f64 = 30.0;

/// A place of a program that applies an effect, or lets the client apply it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slot {
    pub(crate) effect: String,
    /// The earliest time after the activation, in seconds.
    pub(crate) at: f64,
    /// How often the place applies the effect to one target.
    pub(crate) to_one: u32,
    /// How often the place applies the effect in all; `None` if it applies the effect to all actors.
    pub(crate) in_all: Option<u32>,
    /// Whether the place is reached only after the ability committed.
    pub(crate) after_commit: bool,
    /// The event that the owner must have received since the activation.
    pub(crate) after_event: Option<String>,
}

/// What one use of an ability can do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) slots: Vec<Slot>,
    /// Effects whose number of applications depends on events.
    pub(crate) unbounded: BTreeSet<String>,
    /// The least time from the activation to the end of the tasks.
    pub(crate) length: f64,
    /// Effects on the owner that the program removes at every end of the ability.
    pub(crate) held: BTreeSet<String>,
    /// The maximum distance to a target, if the data gives one.
    pub(crate) range: Option<f64>,
}

/// The documents of a pack by name.
pub(crate) struct Docs {
    pub(crate) abilities: BTreeMap<String, Ability>,
    pub(crate) effects: BTreeMap<String, Effect>,
    timelines: Vec<Timeline>,
    pub(crate) resources: BTreeSet<String>,
}

impl Docs {
    pub(crate) fn new<'d>(docs: impl Iterator<Item = &'d Doc>) -> Docs {
        let mut all = Docs {
            abilities: BTreeMap::new(),
            effects: BTreeMap::new(),
            timelines: Vec::new(),
            resources: BTreeSet::new(),
        };
        for doc in docs {
            match doc {
                Doc::Ability(a) => drop(all.abilities.insert(a.name.clone(), (**a).clone())),
                Doc::Effect(e) => drop(all.effects.insert(e.name.clone(), (**e).clone())),
                Doc::Timeline(t) => all.timelines.push((**t).clone()),
                Doc::AttributeSet(set) => {
                    let resources = set.attributes.iter().filter(|a| a.category == ugas_doc::Category::Resource);
                    all.resources.extend(resources.map(|a| a.name.clone()));
                }
                _ => {}
            }
        }
        all
    }

    pub(crate) fn program(&self, ability: &Ability) -> Program {
        let (montages, found) = (Vec::new(), Program::default());
        let mut walk = Walk { docs: self, ability, montages, found, commits: false, event: None };
        walk.found.length = walk.list(&ability.tasks, 0.0).max(ability.cast.as_ref().map_or(0.0, |c| c.length));
        walk.ticks();
        (walk.commits, walk.event) = (false, None);
        for list in [&ability.on_cancel, &ability.on_server_cancel, &ability.on_interrupt, &ability.on_server_interrupt]
        {
            walk.list(list, 0.0);
        }
        // The number of rejected commands is not bounded.
        walk.repeated(&ability.on_mispredicted);
        for paid in ability.cost.iter().chain(&ability.cooldown) {
            walk.apply(paid, 0.0, false);
        }
        let Walk { mut found, .. } = walk;
        found.range = ability.max_range;
        found.held = held(ability);
        self.add_children(&mut found);
        found
    }

    /// Adds the effects that applied effects apply in turn.
    fn add_children(&self, found: &mut Program) {
        let mut at = 0;
        while let Some(slot) = found.slots.get(at).cloned() {
            at += 1;
            let Some(effect) = self.effects.get(&slot.effect) else { continue };
            let conditional = effect.effects.clone().unwrap_or_default();
            let overflow = effect.stacking.iter().flat_map(|s| s.overflow_effects.clone());
            let children = conditional.on_applied.into_iter().chain(conditional.on_expired);
            for child in children.chain(conditional.on_removed).chain(overflow) {
                assert!(found.slots.len() < 10_000, "effects of {} apply each other", slot.effect);
                found.slots.push(Slot { effect: child, ..slot.clone() });
            }
            found.unbounded.extend(conditional.on_executed);
        }
    }

    /// Returns how many periodic executions one application can cause, or `None` if the data gives no limit.
    pub(crate) fn executions(&self, effect: &str) -> Option<u64> {
        let effect = self.effects.get(effect)?;
        let period = effect.period.as_ref()?.period;
        let constant = effect.duration.as_ref().and_then(|d| d.constant());
        match effect.duration_policy {
            DurationPolicy::HasDuration => Some((constant? / period + 1e-9).floor() as u64 + 1),
            DurationPolicy::Instant | DurationPolicy::Infinite => None,
        }
    }
}

/// Effects that the tasks apply to the owner and remove later, and that a cancel removes too.
fn held(ability: &Ability) -> BTreeSet<String> {
    let effect_of = |task: &AbilityTask| task.params.get("EffectClass").and_then(Value::as_text).map(str::to_owned);
    let with = |list: &[AbilityTask], kind: &str| -> BTreeSet<String> {
        list.iter().filter(|t| t.kind == kind).filter_map(effect_of).collect()
    };
    let applied = with(&ability.tasks, "ApplyEffectToOwner");
    let removed = with(&ability.tasks, "RemoveEffectFromOwner");
    let cancelled = with(&ability.on_cancel, "RemoveEffectFromOwner");
    applied.into_iter().filter(|e| removed.contains(e) && cancelled.contains(e)).collect()
}

struct Walk<'d> {
    docs: &'d Docs,
    ability: &'d Ability,
    /// The playing montages: timeline, start and rate.
    montages: Vec<(&'d Timeline, f64, f64)>,
    found: Program,
    /// Whether the walk is past the commit of an ability that commits itself.
    commits: bool,
    /// The last event that the walk waited for.
    event: Option<String>,
}

impl<'d> Walk<'d> {
    /// Adds the places of the cast ticks. An ability without a cast runs its ticks once, at the activation.
    fn ticks(&mut self) {
        let ability = self.ability;
        (self.commits, self.event) = (false, None);
        let times: Vec<f64> = match &ability.cast {
            None => vec![0.0],
            Some(cast) => {
                let ticks = cast.ticks.unwrap_or(1).max(1);
                let first = if cast.initial_tick { 0 } else { 1 };
                (first..=ticks).map(|n| cast.length * f64::from(n) / f64::from(ticks)).collect()
            }
        };
        for at in times {
            self.list(&ability.on_tick, at);
            self.list(&ability.on_server_tick, at);
        }
    }

    /// Walks a list that starts at `at`. Returns the earliest time at which the list can be done.
    fn list(&mut self, list: &'d [AbilityTask], at: f64) -> f64 {
        list.iter().fold(at, |at, task| self.task(task, at))
    }

    fn task(&mut self, task: &'d AbilityTask, at: f64) -> f64 {
        self.client_effects(task, at);
        let text = |name: &str| task.params.get(name).and_then(Value::as_text);
        let number = |name: &str| task.params.get(name).and_then(Value::as_number);
        match task.kind.as_str() {
            "ApplyEffectToOwner" | "ApplyEffectToTarget" | "ApplyEffectToActorsInRadius" => {
                let each = task.kind == "ApplyEffectToActorsInRadius"
                    || task.kind == "ApplyEffectToTarget" && self.finds_targets();
                self.apply(text("EffectClass").unwrap_or_default(), at, each);
                at
            }
            "PlayMontage" => {
                let name = text("MontageToPlay").unwrap_or_default();
                let of = |t: &&Timeline| t.montage.as_deref().unwrap_or(&t.name) == name;
                if let Some(timeline) = self.docs.timelines.iter().find(of) {
                    self.montages.push((timeline, at, number("PlayRate").unwrap_or(1.0)));
                }
                at
            }
            "WaitGameplayEvent" | "WaitAnimationEvent" => self.wait_for_event(task, at),
            "WaitMontageEnded" => {
                let name = text("Montage");
                let of = |t: &Timeline| name.is_none_or(|n| t.montage.as_deref().unwrap_or(&t.name) == n);
                let ends = self.montages.iter().filter(|(t, ..)| of(t));
                let ends = ends.map(|(t, start, rate)| start + seconds(t, t.length) / rate);
                ends.reduce(f64::min).map_or(at, |end| end.max(at))
            }
            "WaitDelay" => at + number("Duration").unwrap_or(0.0),
            // No host answers in these sessions.
            "WaitTargetData" if task.params.get("ClientAnswers") == Some(&Value::Bool(false)) => f64::INFINITY,
            "WaitTargetData" => at + number("ClientAnswersAfter").unwrap_or(0.0),
            "CommitAbility" => {
                self.commits = true;
                at
            }
            "Sequence" => self.list(&task.tasks, at),
            "Parallel" => self.side_by_side(task, at).into_iter().fold(at, f64::max),
            "Race" => self.side_by_side(task, at).into_iter().reduce(f64::min).unwrap_or(at),
            "Repeat" => {
                let count = task.count.unwrap_or(1);
                (0..count).fold(at, |at, _| if at > HORIZON { at } else { self.list(&task.tasks, at) })
            }
            "Branch" => self.branch(task, at),
            _ => at,
        }
    }

    /// Adds the effects that the client may apply while a task waits.
    fn client_effects(&mut self, task: &'d AbilityTask, at: f64) {
        let Some(Value::List(list)) = task.params.get("ClientEffects") else { return };
        for entry in list {
            let Value::Map(entry) = entry else { continue };
            let count = |name: &str| entry.get(name).and_then(Value::as_number).unwrap_or(1.0) as u32;
            let effect = entry.get("EffectClass").and_then(Value::as_text).unwrap_or_default();
            self.place(effect, at, count("PerTarget"), Some(count("Total")));
        }
    }

    /// Walks tasks that run at the same time and returns when each can be done. Which of their events happened is not
    /// known afterwards, so none is required.
    fn side_by_side(&mut self, task: &'d AbilityTask, at: f64) -> Vec<f64> {
        let before = self.event.clone();
        let ends = task.tasks.iter().map(|t| {
            self.event = before.clone();
            self.task(t, at)
        });
        let ends = ends.collect();
        self.event = before;
        ends
    }

    /// Walks both sides of a branch. Only one of them runs, so of each effect only the side with more places counts.
    fn branch(&mut self, task: &'d AbilityTask, at: f64) -> f64 {
        let before = std::mem::take(&mut self.found.slots);
        let event = self.event.clone();
        let first_end = self.list(&task.then, at);
        let first = std::mem::take(&mut self.found.slots);
        self.event = event.clone();
        let second_end = self.list(&task.r#else, at);
        self.event = event;
        let second = std::mem::replace(&mut self.found.slots, before);
        let effects: BTreeSet<&String> = first.iter().chain(&second).map(|s| &s.effect).collect();
        for effect in effects {
            let of = |side: &[Slot]| side.iter().filter(|s| s.effect == *effect).cloned().collect::<Vec<_>>();
            let (mut more, mut less) = (of(&first), of(&second));
            if more.len() < less.len() {
                std::mem::swap(&mut more, &mut less);
            }
            for (slot, other) in more.iter_mut().zip(&less) {
                slot.at = slot.at.min(other.at);
                slot.to_one = slot.to_one.max(other.to_one);
                slot.in_all = slot.in_all.zip(other.in_all).map(|(a, b)| a.max(b));
                slot.after_commit &= other.after_commit;
                slot.after_event = slot.after_event.take().filter(|event| Some(event) == other.after_event.as_ref());
            }
            self.found.slots.extend(more);
        }
        first_end.min(second_end)
    }

    /// Walks a wait for an event. A gameplay event reaches every waiting ability of its owner, whichever montage sends
    /// it, so its time is not known here: the places after the wait need the event itself. Only the own montage sends
    /// an animation event.
    fn wait_for_event(&mut self, task: &'d AbilityTask, at: f64) -> f64 {
        let text = |name: &str| task.params.get(name).and_then(Value::as_text);
        let name = text("EventTag").or(text("EventName")).unwrap_or_default();
        let mut end = at;
        if task.kind == "WaitGameplayEvent" {
            self.event = Some(name.to_owned());
        } else {
            let sent = self.montages.iter().flat_map(|(timeline, start, rate)| {
                let named = timeline.notifies.iter().filter(|n| n.name.as_deref().or(n.event.as_deref()) == Some(name));
                named.map(move |n| start + seconds(timeline, n.at) / rate)
            });
            end = sent.filter(|&t| t >= at - 1e-9).reduce(f64::min).unwrap_or(at);
        }
        match task.params.get("OnlyTriggerOnce") {
            Some(Value::Bool(false)) => self.repeated(&task.tasks),
            _ => drop(self.list(&task.tasks, end)),
        }
        end
    }

    /// Marks the effects of a list that runs any number of times.
    fn repeated(&mut self, list: &'d [AbilityTask]) {
        let before = self.found.slots.len();
        self.list(list, 0.0);
        let found: Vec<String> = self.found.slots.drain(before..).map(|s| s.effect).collect();
        self.found.unbounded.extend(found);
    }

    /// Returns whether the ability asks for targets, so that it may have several.
    fn finds_targets(&self) -> bool {
        const FINDING: [&str; 3] = ["WaitTargetData", "WaitForTarget", "WaitOverlap"];
        self.ability.tasks.iter().any(|t| FINDING.contains(&t.kind.as_str()))
    }

    fn apply(&mut self, effect: &str, at: f64, each: bool) {
        self.place(effect, at, 1, (!each).then_some(1));
    }

    fn place(&mut self, effect: &str, at: f64, to_one: u32, in_all: Option<u32>) {
        let after_commit = self.commits && self.ability.commit_policy == ugas_doc::CommitPolicy::Manual;
        let (effect, after_event) = (effect.to_owned(), self.event.clone());
        self.found.slots.push(Slot { effect, at, to_one, in_all, after_commit, after_event });
    }
}

fn seconds(timeline: &Timeline, time: Time) -> f64 {
    match time {
        Time::Seconds(s) => s,
        Time::Frames(n) => f64::from(n) / f64::from(timeline.frame_rate.unwrap_or(60)),
    }
}
