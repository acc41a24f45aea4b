//! Operations on effects: apply, remove, change; and every check of an application, in the order of the rulings.

use super::eval::{Context, Node, acts_on_current, is_periodic};
use super::expr;
use super::world::{Inst, ModState, NONE, Periodic, Refused, Row, Spec, Unit, World};
use std::collections::BTreeMap;
use ugas_doc::{DurationPolicy, Effect, ExecutionPolicy, ImmunityEntry, Magnitude, MagnitudeType, StackBy};

/// Flicks in a second.
pub(crate) const SECOND: i64 = 705_600_000;
/// The shortest period.
pub(crate) const SHORTEST_PERIOD: i64 = SECOND / 1000;

/// Whole flicks of authored seconds.
pub(crate) fn flicks(seconds: f64) -> i64 {
    (seconds * SECOND as f64).round_ties_even() as i64
}

/// Selects active effects; a missing field matches all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) def: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) source: Option<u32>,
    pub(crate) modifies: Option<String>,
}

/// A change of an active effect.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Level(u32),
    Remaining(i64),
    Extend(i64),
    Period(i64),
    Stacks(u32),
    SetByCaller(String, f64),
}

/// What an application found out before it changes anything.
pub(crate) struct Plan {
    pub(crate) mods: Vec<ModState>,
    /// `None` for infinite.
    pub(crate) length: Option<i64>,
}

impl World {
    // Operations ------------------------------------------------------------------------------------------------

    /// Applies, then reacts. The key is the caller's, so that both worlds can speak of it.
    pub(crate) fn apply(&mut self, spec: &Spec, key: u64) -> Result<(), Refused> {
        let result = self.apply_now(spec, key);
        self.react();
        result
    }

    pub(crate) fn remove(&mut self, who: u32, key: u64, stacks: i32) -> Result<(), Refused> {
        let result = self.remove_now(who, key, stacks);
        self.react();
        result
    }

    pub(crate) fn remove_now(&mut self, who: u32, key: u64, stacks: i32) -> Result<(), Refused> {
        let Some(row) = self.rows.get_mut(&who) else {
            return Err("StaleHandle");
        };
        if stacks == 0 || stacks < -1 {
            return Err("BadValue");
        }
        if let Some(at) = row.queue.iter().position(|q| q.0 == key) {
            row.queue.remove(at);
            return Ok(());
        }
        let Some(e) = row.effects.iter().find(|e| e.key == key) else {
            return Err("StaleHandle");
        };
        if stacks == -1 || stacks as u32 >= e.stacks {
            self.end_effect(who, key, "Removed");
        } else {
            self.inst(who, key).stacks -= stacks as u32;
            self.changed(who, key, "Stacks", &[]);
        }
        Ok(())
    }

    pub(crate) fn remove_matching(&mut self, who: u32, filter: &Filter) -> Result<(), Refused> {
        if !self.rows.contains_key(&who) {
            return Err("StaleHandle");
        }
        self.remove_list(who, self.met(who, filter), filter);
        self.react();
        Ok(())
    }

    /// The effects that a filter means.
    pub(crate) fn met(&self, who: u32, filter: &Filter) -> Vec<u64> {
        self.rows[&who].effects.iter().filter(|e| self.matches(who, e, filter)).map(|e| e.key).collect()
    }

    /// What waits behind the effects goes first, then the effects in order of application.
    pub(crate) fn remove_list(&mut self, who: u32, keys: Vec<u64>, filter: &Filter) {
        let row = &self.rows[&who];
        let defs: Vec<String> = row.effects.iter().filter(|e| keys.contains(&e.key)).map(|e| e.def.clone()).collect();
        let meant = |q: &Spec| defs.contains(&q.def) && filter.source.is_none_or(|s| s == q.source);
        self.row(who).queue.retain(|(_, q)| !meant(q));
        let reason = if filter.tags.is_empty() { "Removed" } else { "ByTag" };
        for key in keys {
            self.end_effect(who, key, reason);
        }
    }

    fn matches(&self, who: u32, e: &Inst, filter: &Filter) -> bool {
        let def = &self.effects[&e.def];
        filter.def.as_ref().is_none_or(|d| *d == e.def)
            && filter.source.is_none_or(|s| s == e.source)
            && filter.modifies.as_ref().is_none_or(|a| {
                let there = self.attribute(&(who, a.clone())).is_some();
                there && def.modifiers.iter().any(|m| m.attribute == *a)
            })
            && (filter.tags.is_empty() || has_any(&[&def.effect_tags, &def.granted_tags], &filter.tags))
    }

    pub(crate) fn change_matching(&mut self, who: u32, filter: &Filter, change: &Change) -> Result<(), Refused> {
        let Some(row) = self.rows.get(&who) else {
            return Err("StaleHandle");
        };
        let met: Vec<u64> = row.effects.iter().filter(|e| self.matches(who, e, filter)).map(|e| e.key).collect();
        // All of them or none.
        for key in &met {
            self.check_change(who, *key, change)?;
        }
        for key in met {
            // One that lost its time may have taken others with it.
            if self.rows[&who].effects.iter().any(|e| e.key == key) {
                self.change_now(who, key, change)?;
            }
        }
        self.react();
        Ok(())
    }

    pub(crate) fn change(&mut self, who: u32, key: u64, change: &Change) -> Result<(), Refused> {
        let result = self.change_now(who, key, change);
        self.react();
        result
    }

    fn check_change(&self, who: u32, key: u64, change: &Change) -> Result<(), Refused> {
        let e = self.rows.get(&who).and_then(|r| r.effects.iter().find(|e| e.key == key)).ok_or("StaleHandle")?;
        let limit = self.effects[&e.def].stacking.as_ref().and_then(|s| s.limit).unwrap_or(u32::MAX);
        let good = match change {
            Change::Level(level) => *level > 0,
            Change::Stacks(n) => *n > 0 && *n <= limit,
            Change::SetByCaller(_, v) => v.is_finite(),
            Change::Remaining(t) => *t >= 0 && e.end.is_some(),
            Change::Extend(_) => e.end.is_some(),
            Change::Period(t) => *t >= SHORTEST_PERIOD && e.periodic.is_some(),
        };
        if good { Ok(()) } else { Err("BadValue") }
    }

    fn change_now(&mut self, who: u32, key: u64, change: &Change) -> Result<(), Refused> {
        self.check_change(who, key, change)?;
        let now = self.local(who);
        let old = self.inst(who, key).clone();
        let before = self.touched(who, &old);
        let e = self.inst(who, key);
        let what = match change {
            Change::Level(level) => {
                e.level = *level;
                "Level"
            }
            Change::Stacks(n) => {
                e.stacks = *n;
                "Stacks"
            }
            Change::SetByCaller(name, v) => {
                e.set_by_caller.insert(name.clone(), *v);
                "SetByCaller"
            }
            Change::Remaining(t) => {
                e.end = Some(now + t);
                "Duration"
            }
            Change::Extend(t) => {
                e.end = e.end.map(|end| (end + t).max(now));
                "Duration"
            }
            Change::Period(t) => {
                let p = e.periodic.as_mut().expect("checked");
                (p.period, p.anchor, p.n) = (*t, now, 1);
                "Period"
            }
        };
        if matches!(what, "Level" | "SetByCaller") {
            self.reevaluate(who, key);
        }
        self.changed(who, key, what, &before);
        // An effect is active on [start, end): one that has no time left is over now.
        if what == "Duration" && self.inst(who, key).end.is_some_and(|end| end <= now) {
            self.due_expiry(who, key);
        }
        Ok(())
    }

    /// Magnitudes at the effect's current level and values; those of a destroyed source keep their last value.
    fn reevaluate(&mut self, who: u32, key: u64) {
        let e = self.inst(who, key).clone();
        let def = self.effects[&e.def].clone();
        let cx = Context::of(&e, who);
        for (i, m) in def.modifiers.iter().enumerate() {
            let holds = self.filter_holds(m, who, e.source, e.frozen.as_ref());
            self.inst(who, key).mods[i].holds = holds;
            if e.mods[i].unit == Unit::AtExecution {
                continue;
            }
            let new = match self.magnitude(&m.magnitude, &cx, &|n| self.shown.get(n).map(|s| s.current)) {
                Ok(None) => Unit::Skipped,
                Ok(Some(v)) if self.reads_attribute(&m.magnitude) => Unit::Reading { last: v },
                Ok(Some(v)) => Unit::Fixed(v),
                Err(_) => continue,
            };
            self.inst(who, key).mods[i].unit = new;
        }
    }

    // Checks ----------------------------------------------------------------------------------------------------

    pub(crate) fn apply_now(&mut self, spec: &Spec, key: u64) -> Result<(), Refused> {
        let Some(row) = self.rows.get(&spec.target) else {
            return Err("StaleHandle");
        };
        let Some(def) = self.effects.get(&spec.def).cloned() else {
            return Err("UnknownName");
        };
        let bad = spec.level == 0
            || spec.stacks == 0
            || spec.set_by_caller.values().any(|v| !v.is_finite())
            || spec.duration.is_some_and(|d| d < 0)
            || spec.period.is_some_and(|p| p < SHORTEST_PERIOD);
        if bad {
            return Err("BadValue");
        }
        if spec.source != NONE && spec.source >= self.next_id {
            return Err("StaleHandle");
        }
        let instant = def.duration_policy == DurationPolicy::Instant;
        self.fits(spec, &def)?;
        if def.execution_policy == ExecutionPolicy::RunInSequence && !instant {
            let taken = row.effects.iter().any(|e| e.def == spec.def) || row.queue.iter().any(|q| q.1.def == spec.def);
            if taken {
                self.row(spec.target).queue.push((key, spec.clone()));
                return Ok(());
            }
        }
        self.begin(spec, key, def.granted_tags.clone())
    }

    /// Whether the target has the attributes that the effect modifies.
    pub(crate) fn fits(&self, spec: &Spec, def: &Effect) -> Result<(), Refused> {
        let nodes: Vec<Node> = def.modifiers.iter().map(|m| (spec.target, m.attribute.clone())).collect();
        for node in &nodes {
            if self.attribute(node).is_none() {
                return Err("UnknownAttribute");
            }
            if self.is_fixed(node) {
                return Err("Static");
            }
        }
        let derived = |n: &Node| self.attribute(n).is_some_and(|a| a.derived_from.is_some());
        if def.modifiers.iter().zip(&nodes).any(|(m, n)| derived(n) && !acts_on_current(def, m)) {
            return Err("Restricted");
        }
        Ok(())
    }

    /// The checks that a queued effect meets when its turn comes, then the application itself.
    pub(crate) fn begin(&mut self, spec: &Spec, key: u64, tags: Vec<String>) -> Result<(), Refused> {
        let def = self.effects[&spec.def].clone();
        if let Err(kind) = self.filters(spec, &def) {
            if kind == "Immune" {
                let by = self.blocker(spec, &def).expect("a blocking effect exists");
                self.emit(spec.target, format!("Immune {} by {by}", spec.def));
            }
            return Err(kind);
        }
        let existing = self.existing(spec, &def);
        let plan = self.plan(spec, &def, existing.as_ref(), key)?;
        self.enter(spec, &def, key, plan, Some(tags))
    }

    /// The active effect that refuses the incoming one.
    fn blocker(&self, spec: &Spec, def: &Effect) -> Option<String> {
        let blocks =
            |e: &&Inst| !e.inhibited && self.effects[&e.def].immunity.iter().any(|i| self.immune(i, def, spec.source));
        self.rows[&spec.target].effects.iter().find(blocks).map(|e| e.def.clone())
    }

    /// All checks that come before magnitudes are evaluated.
    pub(crate) fn filters(&self, spec: &Spec, def: &Effect) -> Result<(), Refused> {
        let (target, source) = (spec.target, spec.source);
        if def.application_required_tags.iter().any(|t| !self.has_tag(target, t)) {
            return Err("RequiredTags");
        }
        if def.application_blocked_tags.iter().any(|t| self.has_tag(target, t)) {
            return Err("BlockedTags");
        }
        if def.source_required_tags.iter().any(|t| !self.has_tag(source, t))
            || def.source_blocked_tags.iter().any(|t| self.has_tag(source, t))
        {
            return Err("SourceTags");
        }
        if self.blocker(spec, def).is_some() {
            return Err("Immune");
        }
        self.combat_filters(spec, def)?;
        if let Some(text) = &def.application_condition {
            let read = |path: &str| {
                let (who, name) = match path.split_once('.') {
                    Some(("source", name)) => (source, name),
                    Some((_, name)) => (target, name),
                    None => (target, path),
                };
                self.get(who, name)
            };
            if !expr::holds(text, &read) {
                return Err("Condition");
            }
        }
        if let Some(chance) = &def.application_chance {
            let chance = self.asked(chance, spec)?.ok_or("MissingSetByCaller")?;
            if chance < 1.0 {
                return Err("Chance");
            }
        }
        self.refuse_overflow(spec, def)
    }

    /// All numbers of an application.
    pub(crate) fn plan(&self, spec: &Spec, def: &Effect, existing: Option<&Inst>, key: u64) -> Result<Plan, Refused> {
        let outranked = existing.is_some_and(|old| def.stacking.is_none() && spec.level < old.level);
        let mut plan = Plan { mods: Vec::new(), length: None };
        if existing.is_some() {
            plan.length = self.length(spec, def)?;
        }
        if !outranked {
            plan.mods = self.units(spec, def)?;
        }
        if existing.is_none() {
            plan.length = self.length(spec, def)?;
        }
        if def.duration_policy != DurationPolicy::Instant && !outranked {
            self.refuse_cycle(spec, key, &plan, existing)?;
        }
        Ok(plan)
    }

    /// Applies everything or nothing; `tags` replace the granted tags of the definition.
    pub(crate) fn enter(
        &mut self,
        spec: &Spec,
        def: &Effect,
        key: u64,
        plan: Plan,
        tags: Option<Vec<String>>,
    ) -> Result<(), Refused> {
        let saved = (may_fail(def) || !def.remove_effects_with_tags.is_empty()).then(|| self.clone());
        let entered = self.try_enter(spec, def, key, plan, tags);
        if let (Err(_), Some(saved)) = (entered, saved) {
            *self = saved;
        }
        entered
    }

    fn try_enter(
        &mut self,
        spec: &Spec,
        def: &Effect,
        key: u64,
        mut plan: Plan,
        tags: Option<Vec<String>>,
    ) -> Result<(), Refused> {
        let (target, source) = (spec.target, spec.source);
        let mut existing = self.existing(spec, def);
        let tags = tags.unwrap_or_else(|| def.granted_tags.clone());
        let mut removes = !def.remove_effects_with_tags.is_empty();
        // A stack or a merge removes later, when it has changed the instance.
        if removes && existing.is_none() {
            removes = false;
            self.remove_by_tag(target, def, None);
            // Cancel lists may have applied the same effect.
            if def.duration_policy != DurationPolicy::Instant {
                let active = self.rows[&target].effects.iter().any(|e| e.def == spec.def);
                if active && def.execution_policy == ExecutionPolicy::RunInSequence {
                    self.count("Queued after removal");
                    self.row(target).queue.push((key, spec.clone()));
                    return Ok(());
                }
                existing = self.existing(spec, def);
                if existing.is_some() {
                    self.count("Joined after removal");
                    self.refuse_overflow(spec, def)?;
                    plan = self.plan(spec, def, existing.as_ref(), key)?;
                } else {
                    self.refuse_cycle(spec, key, &plan, None)?;
                }
            }
        }
        for (m, state) in def.modifiers.iter().zip(&mut plan.mods) {
            state.holds = self.filter_holds(m, target, source, None);
        }
        match (existing, def.duration_policy) {
            (_, DurationPolicy::Instant) => self.instant(spec, def, plan)?,
            (Some(old), _) if def.stacking.is_some() => self.stack(spec, def, old, plan, removes),
            (Some(old), _) => self.merge(spec, def, old, plan, removes),
            (None, _) => self.start(spec, def, key, tags, plan)?,
        }
        Ok(())
    }

    /// Removes effects by tag, except the instance that the application joins.
    pub(crate) fn remove_by_tag(&mut self, who: u32, def: &Effect, except: Option<u64>) {
        let filter = Filter { tags: def.remove_effects_with_tags.clone(), ..Filter::default() };
        let before = self.reactions.len();
        let met = self.met(who, &filter).into_iter().filter(|key| Some(*key) != except).collect();
        self.remove_list(who, met, &filter);
        self.withdraw_rechecks(before);
    }

    fn refuse_overflow(&self, spec: &Spec, def: &Effect) -> Result<(), Refused> {
        let have = self.existing(spec, def).map_or(0, |old| old.stacks);
        match &def.stacking {
            Some(s) if s.deny_overflow && have >= s.limit.unwrap_or(u32::MAX) => Err("Stacks"),
            _ => Ok(()),
        }
    }

    pub(crate) fn existing(&self, spec: &Spec, def: &Effect) -> Option<Inst> {
        let by_source = def.stacking.as_ref().is_some_and(|s| s.by == StackBy::Source);
        let shared = def.stacking.is_some() || def.execution_policy == ExecutionPolicy::RunInMerge;
        let same = |e: &&Inst| e.def == spec.def && (!by_source || e.source == spec.source);
        self.rows[&spec.target].effects.iter().find(same).filter(|_| shared).cloned()
    }

    fn immune(&self, entry: &ImmunityEntry, def: &Effect, source: u32) -> bool {
        (entry.effect_tags.is_empty() || has_any(&[&def.effect_tags, &def.granted_tags], &entry.effect_tags))
            && (entry.effects.is_empty() || entry.effects.contains(&def.name))
            && (entry.source_tags.is_empty() || entry.source_tags.iter().any(|t| self.has_tag(source, t)))
    }

    fn units(&self, spec: &Spec, def: &Effect) -> Result<Vec<ModState>, Refused> {
        let mut mods = Vec::new();
        for m in &def.modifiers {
            let calculated = m.magnitude.kind == MagnitudeType::CustomCalculation;
            if calculated && def.duration_policy != DurationPolicy::Instant && !acts_on_current(def, m) {
                mods.push(ModState { unit: Unit::AtExecution, holds: true, dropped: false });
                continue;
            }
            let unit = match self.asked(&m.magnitude, spec)? {
                None => Unit::Skipped,
                Some(v) if self.reads_attribute(&m.magnitude) && def.duration_policy != DurationPolicy::Instant => {
                    Unit::Reading { last: v }
                }
                Some(v) => Unit::Fixed(v),
            };
            mods.push(ModState { unit, holds: true, dropped: false });
        }
        Ok(mods)
    }

    /// A magnitude as an application finds it.
    pub(crate) fn asked(&self, mag: &Magnitude, spec: &Spec) -> Result<Option<f64>, Refused> {
        let (source, target, set_by_caller) = (spec.source, spec.target, &spec.set_by_caller);
        let cx = Context { source, target, level: spec.level, set_by_caller, frozen: None };
        self.magnitude(mag, &cx, &|n| self.shown.get(n).map(|s| s.current))
    }

    /// How long it lasts; `None` for what has no duration.
    fn length(&self, spec: &Spec, def: &Effect) -> Result<Option<i64>, Refused> {
        match (&def.duration, spec.duration) {
            _ if def.duration_policy != DurationPolicy::HasDuration => Ok(None),
            (_, Some(given)) => Ok(Some(given)),
            (Some(mag), None) => {
                let seconds = self.asked(mag, spec)?.ok_or("MissingSetByCaller")?;
                Ok(Some(flicks(seconds).max(0)))
            }
            (None, None) => unreachable!("generated documents are whole"),
        }
    }

    /// Tries the new readings on a copy of the world.
    fn refuse_cycle(&self, spec: &Spec, key: u64, plan: &Plan, old: Option<&Inst>) -> Result<(), Refused> {
        let mut copy = self.clone();
        let mut inst = copy.new_inst(spec, key, Vec::new(), plan, 0);
        if let Some(old) = old {
            let by_source = self.effects[&spec.def].stacking.as_ref().is_some_and(|s| s.by == StackBy::Source);
            inst.source = if by_source { old.source } else { spec.source };
            copy.row(spec.target).effects.retain(|e| e.key != old.key);
        }
        copy.row(spec.target).effects.push(inst);
        if copy.has_cycle() { Err("Cycle") } else { Ok(()) }
    }

    pub(crate) fn new_inst(&self, spec: &Spec, key: u64, tags: Vec<String>, plan: &Plan, seq: u64) -> Inst {
        let def = &self.effects[&spec.def];
        let now = self.local(spec.target);
        let limit = def.stacking.as_ref().and_then(|s| s.limit).unwrap_or(u32::MAX);
        let period = spec.period.unwrap_or(flicks(def.period.map_or(0.0, |p| p.period)));
        Inst {
            key,
            seq,
            def: spec.def.clone(),
            source: spec.source,
            level: spec.level,
            stacks: spec.stacks.min(limit),
            set_by_caller: spec.set_by_caller.clone(),
            end: plan.length.map(|l| now + l),
            length: plan.length.unwrap_or(0),
            periodic: is_periodic(def).then_some(Periodic { period, anchor: now, n: 1, executed: 0, missed: 0 }),
            inhibited: false,
            mods: plan.mods.clone(),
            tags,
            ability: spec.ability.clone(),
            frozen: None,
            owes_execution: false,
        }
    }
}

/// Whether what an effect writes may turn out not to be computable.
pub(crate) fn may_fail(def: &Effect) -> bool {
    let is_resource = |c: &ugas_doc::Combat| c.kind == ugas_doc::CombatKind::Resource;
    !def.executions.is_empty() || def.combat.as_ref().is_some_and(|c| c.mitigation.is_some() || is_resource(c))
}

/// Whether any of the tags in `lists` is one of `wanted` or a descendant of one.
pub(crate) fn has_any(lists: &[&Vec<String>], wanted: &[String]) -> bool {
    lists.iter().any(|l| l.iter().any(|t| wanted.iter().any(|w| under(t, w))))
}

/// Whether `tag` is `of` or a descendant of it.
pub(crate) fn under(tag: &str, of: &str) -> bool {
    tag == of || tag.strip_prefix(of).is_some_and(|rest| rest.starts_with('.'))
}

impl Row {
    /// How often each tag is granted, summed over active effects; `but` is left out.
    pub(crate) fn grants_of_tags(&self, but: Option<u64>) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        for e in self.effects.iter().filter(|e| !e.inhibited && Some(e.key) != but) {
            for tag in &e.tags {
                *counts.entry(tag.clone()).or_insert(0) += 1;
            }
        }
        counts
    }
}
