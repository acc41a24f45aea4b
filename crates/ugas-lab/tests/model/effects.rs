//! Applying, executing, ending and changing effects, in the order the rulings fix.

use super::eval::{Context, Node, Write, acts_on_current, is_periodic};
use super::expr;
use super::world::{Grant, Inst, ModState, NONE, Periodic, Reaction, Refused, Row, Spec, Unit, World};
use std::collections::BTreeMap;
use ugas_doc::{
    DurationPolicy, Effect, ExecutionPolicy, GrantedAbilityEntry, ImmunityEntry, Magnitude, Modifier, OnExpire,
    OnOngoingFail, OnStack, Operation, PeriodInhibition, PeriodOnStack, StackBy,
};

/// Flicks in a second.
pub(crate) const SECOND: i64 = 705_600_000;
/// The shortest period.
pub(crate) const SHORTEST_PERIOD: i64 = SECOND / 1000;

/// Whole flicks of authored seconds.
pub(crate) fn flicks(seconds: f64) -> i64 {
    (seconds * SECOND as f64).round_ties_even() as i64
}

/// Which active effects are meant; what is not given does not matter.
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
struct Plan {
    mods: Vec<ModState>,
    /// `None` for infinite.
    length: Option<i64>,
}

impl World {
    // Doors -----------------------------------------------------------------------------------------------------

    /// Applies, then reacts. The key is the caller's, so that both worlds can speak of it.
    pub(crate) fn apply(&mut self, spec: &Spec, key: u64) -> Result<(), Refused> {
        let result = self.apply_now(spec, key);
        self.react();
        result
    }

    pub(crate) fn remove(&mut self, who: u32, key: u64, stacks: i32) -> Result<(), Refused> {
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
        self.react();
        Ok(())
    }

    pub(crate) fn remove_matching(&mut self, who: u32, filter: &Filter) -> Result<(), Refused> {
        let Some(row) = self.rows.get(&who) else {
            return Err("StaleHandle");
        };
        let met: Vec<u64> = row
            .effects
            .iter()
            .filter(|e| self.matches(e, filter))
            .map(|e| e.key)
            .collect();
        self.remove_list(who, met, filter);
        self.react();
        Ok(())
    }

    /// What waits behind the effects goes first, then the effects in order of application.
    fn remove_list(&mut self, who: u32, keys: Vec<u64>, filter: &Filter) {
        let row = &self.rows[&who];
        let defs: Vec<String> = row
            .effects
            .iter()
            .filter(|e| keys.contains(&e.key))
            .map(|e| e.def.clone())
            .collect();
        let meant = |q: &Spec| defs.contains(&q.def) && filter.source.is_none_or(|s| s == q.source);
        self.row(who).queue.retain(|(_, q)| !meant(q));
        let reason = if filter.tags.is_empty() { "Removed" } else { "ByTag" };
        for key in keys {
            self.end_effect(who, key, reason);
        }
    }

    fn matches(&self, e: &Inst, filter: &Filter) -> bool {
        let def = &self.effects[&e.def];
        filter.def.as_ref().is_none_or(|d| *d == e.def)
            && filter.source.is_none_or(|s| s == e.source)
            && filter
                .modifies
                .as_ref()
                .is_none_or(|a| def.modifiers.iter().any(|m| m.attribute == *a))
            && (filter.tags.is_empty() || has_any(&[&def.effect_tags, &def.granted_tags], &filter.tags))
    }

    pub(crate) fn change_matching(&mut self, who: u32, filter: &Filter, change: &Change) -> Result<(), Refused> {
        let Some(row) = self.rows.get(&who) else {
            return Err("StaleHandle");
        };
        let met: Vec<u64> = row
            .effects
            .iter()
            .filter(|e| self.matches(e, filter))
            .map(|e| e.key)
            .collect();
        // All of them or none.
        for key in &met {
            self.check_change(who, *key, change)?;
        }
        for key in met {
            self.change_now(who, key, change)?;
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
        let e = self
            .rows
            .get(&who)
            .and_then(|r| r.effects.iter().find(|e| e.key == key))
            .ok_or("StaleHandle")?;
        let limit = self.effects[&e.def]
            .stacking
            .as_ref()
            .and_then(|s| s.limit)
            .unwrap_or(u32::MAX);
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
            self.evaluate_again(who, key);
        }
        self.changed(who, key, what, &before);
        Ok(())
    }

    /// Magnitudes at the effect's present level and values; a source that is gone keeps its last one.
    fn evaluate_again(&mut self, who: u32, key: u64) {
        let e = self.inst(who, key).clone();
        let def = self.effects[&e.def].clone();
        let cx = Context {
            source: e.source,
            target: who,
            level: e.level,
            set_by_caller: &e.set_by_caller,
        };
        for (i, m) in def.modifiers.iter().enumerate() {
            let new = match self.magnitude(&m.magnitude, &cx, &|n| self.shown.get(n).map(|s| s.current)) {
                Ok(None) => Unit::Skipped,
                Ok(Some(v)) if self.reads_attribute(&m.magnitude) => Unit::Reading { last: v },
                Ok(Some(v)) => Unit::Fixed(v),
                Err(_) => continue,
            };
            let holds = self.filter_holds(m, who, e.source);
            let there = self.attribute(&(who, m.attribute.clone())).is_some();
            self.inst(who, key).mods[i] = ModState {
                unit: new,
                holds,
                dropped: !there,
            };
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
        let nodes: Vec<Node> = def
            .modifiers
            .iter()
            .map(|m| (spec.target, m.attribute.clone()))
            .collect();
        if nodes.iter().any(|n| self.attribute(n).is_none()) {
            return Err("UnknownAttribute");
        }
        let derived = |n: &Node| self.attribute(n).is_some_and(|a| a.derived_from.is_some());
        if def
            .modifiers
            .iter()
            .zip(&nodes)
            .any(|(m, n)| derived(n) && !acts_on_current(&def, m))
        {
            return Err("Restricted");
        }
        if def.execution_policy == ExecutionPolicy::RunInSequence && !instant {
            let taken = row.effects.iter().any(|e| e.def == spec.def) || row.queue.iter().any(|q| q.1.def == spec.def);
            if taken {
                self.row(spec.target).queue.push((key, spec.clone()));
                return Ok(());
            }
        }
        self.begin(spec, key, def.granted_tags.clone())
    }

    /// The checks that a queued effect meets when its turn comes, then the application itself.
    pub(crate) fn begin(&mut self, spec: &Spec, key: u64, tags: Vec<String>) -> Result<(), Refused> {
        let def = self.effects[&spec.def].clone();
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
        let blocker = self.rows[&target].effects.iter().find(|e| {
            let entries = &self.effects[&e.def].immunity;
            !e.inhibited && entries.iter().any(|i| self.immune(i, &def, source))
        });
        if let Some(by) = blocker.map(|e| e.def.clone()) {
            self.tell(target, format!("Immune {} by {by}", spec.def));
            return Err("Immune");
        }
        if let Some(text) = &def.application_condition {
            let read = |path: &str| {
                let (who, name) = match path.split_once('.') {
                    Some(("source", name)) => (source, name),
                    Some((_, name)) => (target, name),
                    None => (target, path),
                };
                self.get(who, name)
            };
            if expr::value(text, &read).is_none_or(|v| v == 0.0) {
                return Err("Condition");
            }
        }
        if let Some(chance) = &def.application_chance {
            let chance = self.asked(chance, spec)?.ok_or("MissingSetByCaller")?;
            if chance < 1.0 {
                return Err("Chance");
            }
        }
        let existing = self.existing(spec, &def);
        if let (Some(s), Some(old)) = (&def.stacking, &existing)
            && s.deny_overflow
            && old.stacks as u64 + spec.stacks as u64 > s.limit.unwrap_or(u32::MAX) as u64
        {
            return Err("Stacks");
        }
        let outranked = existing
            .as_ref()
            .is_some_and(|old| def.stacking.is_none() && spec.level < old.level);
        let mut plan = Plan {
            mods: Vec::new(),
            length: None,
        };
        if existing.is_some() {
            plan.length = self.length(spec, &def)?;
        }
        if !outranked {
            plan.mods = self.units(spec, &def)?;
        }
        if existing.is_none() {
            plan.length = self.length(spec, &def)?;
        }
        if def.duration_policy != DurationPolicy::Instant && !outranked {
            self.refuse_circle(spec, key, &plan, existing.as_ref())?;
        }
        if !def.remove_effects_with_tags.is_empty() {
            let filter = Filter {
                tags: def.remove_effects_with_tags.clone(),
                ..Filter::default()
            };
            let row = &self.rows[&target];
            let met = row
                .effects
                .iter()
                .filter(|e| self.matches(e, &filter))
                .map(|e| e.key)
                .collect();
            self.remove_list(target, met, &filter);
        }
        for (m, state) in def.modifiers.iter().zip(&mut plan.mods) {
            state.holds = self.filter_holds(m, target, source);
        }
        match (existing, def.duration_policy) {
            (_, DurationPolicy::Instant) => self.instant(spec, &def, plan),
            (Some(old), _) if def.stacking.is_some() => self.stack(spec, &def, old, plan),
            (Some(old), _) => self.merge(spec, old, plan),
            (None, _) => self.start(spec, &def, key, tags, plan),
        }
        Ok(())
    }

    fn existing(&self, spec: &Spec, def: &Effect) -> Option<Inst> {
        let by_source = def.stacking.as_ref().is_some_and(|s| s.by == StackBy::Source);
        let shared = def.stacking.is_some() || def.execution_policy == ExecutionPolicy::RunInMerge;
        let same = |e: &&Inst| e.def == spec.def && (!by_source || e.source == spec.source);
        self.rows[&spec.target]
            .effects
            .iter()
            .find(same)
            .filter(|_| shared)
            .cloned()
    }

    fn immune(&self, entry: &ImmunityEntry, def: &Effect, source: u32) -> bool {
        (entry.effect_tags.is_empty() || has_any(&[&def.effect_tags, &def.granted_tags], &entry.effect_tags))
            && (entry.effects.is_empty() || entry.effects.contains(&def.name))
            && (entry.source_tags.is_empty() || entry.source_tags.iter().any(|t| self.has_tag(source, t)))
    }

    fn units(&self, spec: &Spec, def: &Effect) -> Result<Vec<ModState>, Refused> {
        let mut mods = Vec::new();
        for m in &def.modifiers {
            let unit = match self.asked(&m.magnitude, spec)? {
                None => Unit::Skipped,
                Some(v) if self.reads_attribute(&m.magnitude) && def.duration_policy != DurationPolicy::Instant => {
                    Unit::Reading { last: v }
                }
                Some(v) => Unit::Fixed(v),
            };
            mods.push(ModState {
                unit,
                holds: true,
                dropped: false,
            });
        }
        Ok(mods)
    }

    /// A magnitude as an application finds it.
    fn asked(&self, mag: &Magnitude, spec: &Spec) -> Result<Option<f64>, Refused> {
        let cx = Context {
            source: spec.source,
            target: spec.target,
            level: spec.level,
            set_by_caller: &spec.set_by_caller,
        };
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
    fn refuse_circle(&self, spec: &Spec, key: u64, plan: &Plan, old: Option<&Inst>) -> Result<(), Refused> {
        let mut copy = self.clone();
        let mut inst = copy.new_inst(spec, key, Vec::new(), plan, 0);
        if let Some(old) = old {
            let by_source = self.effects[&spec.def]
                .stacking
                .as_ref()
                .is_some_and(|s| s.by == StackBy::Source);
            inst.source = if by_source { old.source } else { spec.source };
            copy.row(spec.target).effects.retain(|e| e.key != old.key);
        }
        copy.row(spec.target).effects.push(inst);
        if copy.has_circle() { Err("Cycle") } else { Ok(()) }
    }

    fn new_inst(&self, spec: &Spec, key: u64, tags: Vec<String>, plan: &Plan, seq: u64) -> Inst {
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
            periodic: is_periodic(def).then_some(Periodic {
                period,
                anchor: now,
                n: 1,
                executed: 0,
                missed: 0,
            }),
            inhibited: false,
            mods: plan.mods.clone(),
            tags,
        }
    }

    // What an application does ----------------------------------------------------------------------------------

    fn instant(&mut self, spec: &Spec, def: &Effect, plan: Plan) {
        let units: Vec<Option<f64>> = plan
            .mods
            .iter()
            .map(|m| match m.unit {
                Unit::Fixed(v) if m.holds => Some(v),
                _ => None,
            })
            .collect();
        self.write(spec.target, def, &units, spec.stacks);
        let mut counts = self.tag_counts(spec.target);
        for tag in &def.granted_tags {
            self.tag_facts(spec.target, &mut counts, tag, true);
        }
        for tag in &def.granted_tags {
            self.tag_facts(spec.target, &mut counts, tag, false);
        }
        self.told_applied(spec.target, spec, spec.stacks);
        self.cue_facts(spec.target, def, "Execute");
        let parent = spec.clone();
        self.then(&parent, def.effects.as_ref().map(|e| e.on_applied.clone()));
    }

    fn start(&mut self, spec: &Spec, def: &Effect, key: u64, tags: Vec<String>, plan: Plan) {
        let who = spec.target;
        self.next_seq += 1;
        let mut inst = self.new_inst(spec, key, tags.clone(), &plan, self.next_seq);
        let ongoing = self.ongoing_holds(who, &inst);
        inst.inhibited = !ongoing && def.on_ongoing_fail == OnOngoingFail::Inhibit;
        let (inhibited, stacks) = (inst.inhibited, inst.stacks);
        let counts = self.tag_counts(who);
        let touched = self.touched(who, &inst);
        self.row(who).effects.push(inst);
        self.settle(&touched, who, Vec::new());
        if !inhibited {
            self.tags_changed(who, counts, &tags, true);
        }
        for GrantedAbilityEntry {
            ability_class, level, ..
        } in &def.granted_abilities
        {
            self.row(who).grants.push(Grant {
                ability: ability_class.clone(),
                level: *level,
                by: Some(key),
            });
            self.tell(who, format!("Granted {ability_class} {level}"));
        }
        self.told_applied(who, spec, stacks);
        if !inhibited {
            self.cue_facts(who, def, "Add");
            if is_periodic(def) && def.period.is_some_and(|p| p.execute_on_application) {
                self.execute(who, key, false);
            }
        }
        let parent = self.spec_of(who, key);
        self.then(&parent, def.effects.as_ref().map(|e| e.on_applied.clone()));
        if is_periodic(def) && !inhibited && def.period.is_some_and(|p| p.execute_on_application) {
            self.then(&parent, def.effects.as_ref().map(|e| e.on_executed.clone()));
        }
        if !ongoing && def.on_ongoing_fail == OnOngoingFail::Remove {
            self.recheck_later(who);
        }
        if plan.length == Some(0) {
            self.end_effect(who, key, "Expired");
        }
    }

    fn stack(&mut self, spec: &Spec, def: &Effect, old: Inst, plan: Plan) {
        let s = def.stacking.clone().expect("it stacks");
        let (who, now) = (spec.target, self.local(spec.target));
        let limit = s.limit.unwrap_or(u32::MAX);
        let before = self.touched(who, &old);
        let inst = self.inst(who, old.key);
        inst.stacks = (old.stacks + spec.stacks).min(limit);
        inst.level = spec.level;
        inst.set_by_caller = spec.set_by_caller.clone();
        inst.mods = plan.mods;
        if s.by == StackBy::Target {
            inst.source = spec.source;
        }
        if let (OnStack::RefreshDuration, Some(length)) = (s.on_stack, plan.length) {
            inst.end = Some(now + length);
            inst.length = length;
        }
        if let (PeriodOnStack::Reset, Some(p)) = (s.period_on_stack, inst.periodic.as_mut()) {
            (p.anchor, p.n) = (now, 1);
        }
        self.changed(who, old.key, "Stacks", &before);
        if old.stacks + spec.stacks > limit {
            let parent = self.spec_of(who, old.key);
            self.then(&parent, Some(s.overflow_effects));
        }
    }

    fn merge(&mut self, spec: &Spec, old: Inst, plan: Plan) {
        let (who, now) = (spec.target, self.local(spec.target));
        let before = self.touched(who, &old);
        let inst = self.inst(who, old.key);
        if spec.level >= old.level {
            inst.level = spec.level;
            inst.source = spec.source;
            inst.set_by_caller = spec.set_by_caller.clone();
            inst.mods = plan.mods;
        }
        if let (Some(end), Some(length)) = (old.end, plan.length) {
            inst.end = Some(end.max(now + length));
            inst.length = length;
        }
        self.changed(who, old.key, "Merged", &before);
    }

    fn told_applied(&mut self, who: u32, spec: &Spec, stacks: u32) {
        self.tell(
            who,
            format!("EffectApplied {} level {} stacks {stacks}", spec.def, spec.level),
        );
    }

    /// Settles after an effect's numbers changed, and says what changed. `before` is what it touched before.
    fn changed(&mut self, who: u32, key: u64, what: &str, before: &[Node]) {
        let e = self.inst(who, key).clone();
        let touched = [before, &self.touched(who, &e)].concat();
        self.settle(&touched, who, Vec::new());
        self.tell(
            who,
            format!("EffectChanged {} {what} stacks {} level {}", e.def, e.stacks, e.level),
        );
    }

    // Executions ------------------------------------------------------------------------------------------------

    /// One base write per attribute: all starts and results first, then written in dependency order.
    fn write(&mut self, who: u32, def: &Effect, units: &[Option<f64>], stacks: u32) {
        let mut writes: Vec<Write> = Vec::new();
        for (m, unit) in def.modifiers.iter().zip(units) {
            let Some(unit) = unit else { continue };
            let node = (who, m.attribute.clone());
            if !writes.iter().any(|w| w.attribute == m.attribute) {
                let start = self.write_start(&node);
                writes.push(Write {
                    attribute: m.attribute.clone(),
                    start,
                    result: start,
                    overrides: false,
                });
            }
            let w = writes
                .iter_mut()
                .find(|w| w.attribute == m.attribute)
                .expect("just made");
            match m.operation {
                Operation::Add | Operation::AddPost => w.result += unit * stacks as f64,
                Operation::Multiply => w.result *= 1.0 + unit * stacks as f64,
                Operation::Override => {
                    w.result = *unit;
                    w.overrides = true;
                }
            }
        }
        let nodes: Vec<Node> = writes.iter().map(|w| (who, w.attribute.clone())).collect();
        self.settle(&nodes, who, writes);
    }

    fn execute(&mut self, who: u32, key: u64, react: bool) {
        let e = self.inst(who, key).clone();
        let def = self.effects[&e.def].clone();
        let values = self.shown_values();
        let units: Vec<Option<f64>> = def
            .modifiers
            .iter()
            .enumerate()
            .map(|(i, m)| {
                let there = self.attribute(&(who, m.attribute.clone())).is_some();
                let writes = !acts_on_current(&def, m) && !e.mods[i].dropped && there;
                let holds = self.filter_holds(m, who, e.source);
                if writes && holds {
                    self.unit(who, &e, i, &values)
                } else {
                    None
                }
            })
            .collect();
        let n = {
            let p = self.inst(who, key).periodic.as_mut().expect("it is periodic");
            p.executed += 1;
            p.executed - 1
        };
        self.write(who, &def, &units, e.stacks);
        self.tell(who, format!("EffectExecuted {} {n}", e.def));
        self.cue_facts(who, &def, "Execute");
        if react {
            let parent = self.spec_of(who, key);
            self.then(&parent, def.effects.as_ref().map(|e| e.on_executed.clone()));
        }
    }

    pub(crate) fn due_execution(&mut self, who: u32, key: u64) {
        let e = self.inst(who, key);
        let inhibited = e.inhibited;
        let p = e.periodic.as_mut().expect("it is periodic");
        p.n += 1;
        if inhibited {
            p.missed += 1;
        } else {
            self.execute(who, key, true);
        }
    }

    pub(crate) fn due_expiry(&mut self, who: u32, key: u64) {
        let e = self.inst(who, key).clone();
        let now = self.local(who);
        let on_expire = self.effects[&e.def]
            .stacking
            .as_ref()
            .map(|s| s.on_expire)
            .unwrap_or_default();
        match on_expire {
            OnExpire::RemoveOne if e.stacks > 1 => {
                let inst = self.inst(who, key);
                inst.stacks -= 1;
                inst.end = Some(now + e.length);
                self.changed(who, key, "Stacks", &[]);
            }
            OnExpire::Refresh => {
                self.inst(who, key).end = Some(now + e.length);
                self.changed(who, key, "Duration", &[]);
            }
            OnExpire::ClearAll | OnExpire::RemoveOne => self.end_effect(who, key, "Expired"),
        }
    }

    // The end ---------------------------------------------------------------------------------------------------

    pub(crate) fn end_effect(&mut self, who: u32, key: u64, reason: &'static str) {
        let Some(row) = self.rows.get(&who) else { return };
        let Some(at) = row.effects.iter().position(|e| e.key == key) else {
            return;
        };
        let parent = self.spec_of(who, key);
        let counts = self.tag_counts(who);
        let e = self.row(who).effects.remove(at);
        let def = self.effects[&e.def].clone();
        self.settle(&self.touched(who, &e), who, Vec::new());
        if !e.inhibited {
            self.tags_changed(who, counts, &e.tags, false);
        }
        self.revoke(who, key, &def);
        self.tell(who, format!("EffectRemoved {} {reason}", e.def));
        if !e.inhibited {
            self.cue_facts(who, &def, "Remove");
        }
        let then = def.effects.clone().unwrap_or_default();
        match reason {
            "Expired" => self.then(&parent, Some(then.on_expired)),
            "Destroyed" => {}
            _ => self.then(&parent, Some(then.on_removed)),
        }
        if def.execution_policy == ExecutionPolicy::RunInSequence {
            self.reactions.push_back(Reaction::NextInSequence(who, e.def.clone()));
        }
    }

    fn revoke(&mut self, who: u32, key: u64, def: &Effect) {
        let stays: Vec<&str> = def
            .granted_abilities
            .iter()
            .filter(|g| !g.remove_on_effect_removal)
            .map(|g| g.ability_class.as_str())
            .collect();
        let grants = std::mem::take(&mut self.row(who).grants);
        for mut grant in grants {
            if grant.by == Some(key) && !stays.contains(&grant.ability.as_str()) {
                self.tell(who, format!("Revoked {}", grant.ability));
                continue;
            }
            if grant.by == Some(key) {
                grant.by = None;
            }
            self.row(who).grants.push(grant);
        }
    }

    /// The attributes that an effect's modifiers act on, whether they are on or off now.
    fn touched(&self, who: u32, e: &Inst) -> Vec<Node> {
        let def = &self.effects[&e.def];
        let acting =
            |i: usize, m: &Modifier| acts_on_current(def, m) && !e.mods[i].dropped && e.mods[i].unit != Unit::Skipped;
        let mods = def.modifiers.iter().enumerate().filter(|(i, m)| acting(*i, m));
        mods.map(|(_, m)| (who, m.attribute.clone())).collect()
    }

    // Small things ----------------------------------------------------------------------------------------------

    pub(crate) fn inst(&mut self, who: u32, key: u64) -> &mut Inst {
        self.row(who)
            .effects
            .iter_mut()
            .find(|e| e.key == key)
            .expect("it is active")
    }

    /// The spec an active effect hands to the effects it causes.
    fn spec_of(&mut self, who: u32, key: u64) -> Spec {
        let e = self.inst(who, key).clone();
        Spec {
            level: e.level,
            set_by_caller: e.set_by_caller,
            ..Spec::new(&e.def, who, e.source)
        }
    }

    fn then(&mut self, parent: &Spec, effects: Option<Vec<String>>) {
        for def in effects.unwrap_or_default() {
            let spec = Spec {
                def,
                stacks: 1,
                duration: None,
                period: None,
                ..parent.clone()
            };
            self.reactions.push_back(Reaction::Apply(spec));
        }
    }

    /// Turns an effect off or on again for its ongoing requirements.
    pub(crate) fn flip(&mut self, who: u32, key: u64, off: bool) {
        let counts = self.tag_counts(who);
        self.inst(who, key).inhibited = off;
        let e = self.inst(who, key).clone();
        let def = self.effects[&e.def].clone();
        self.settle(&self.touched(who, &e), who, Vec::new());
        self.tags_changed(who, counts, &e.tags, !off);
        let what = if off { "Inhibited" } else { "Restored" };
        self.tell(
            who,
            format!("EffectChanged {} {what} stacks {} level {}", e.def, e.stacks, e.level),
        );
        self.cue_facts(who, &def, if off { "Remove" } else { "Add" });
        let now = self.local(who);
        if let (false, Some(p)) = (off, self.inst(who, key).periodic.as_mut()) {
            let missed = std::mem::take(&mut p.missed);
            match def.period_inhibition {
                PeriodInhibition::Skip => {}
                PeriodInhibition::Reset => (p.anchor, p.n) = (now, 1),
                PeriodInhibition::CatchUp => (0..missed).for_each(|_| self.execute(who, key, true)),
            }
        }
    }

    /// How many active effects hold a looping cue.
    pub(crate) fn cue_count(&self, who: u32, cue: &str) -> u32 {
        let on = |e: &&Inst| !e.inhibited;
        let cues = self.rows[&who]
            .effects
            .iter()
            .filter(on)
            .flat_map(|e| &self.effects[&e.def].gameplay_cues);
        cues.filter(|c| *c == cue).count() as u32
    }

    /// Execute always; Add when the first holder came, Remove when the last went. Call it after the change.
    fn cue_facts(&mut self, who: u32, def: &Effect, how: &str) {
        for (i, cue) in def.gameplay_cues.iter().enumerate() {
            let count = self.cue_count(who, cue);
            let own = def.gameplay_cues.iter().filter(|c| *c == cue).count() as u32;
            let crosses = match how {
                "Add" => count == own && def.gameplay_cues[..i].iter().all(|c| c != cue),
                "Remove" => count == 0 && def.gameplay_cues[i + 1..].iter().all(|c| c != cue),
                _ => true,
            };
            if crosses {
                self.tell(who, format!("Cue {cue} {how}"));
            }
        }
    }
}

/// Whether any of the tags in `lists` is one of `wanted` or stands below one.
fn has_any(lists: &[&Vec<String>], wanted: &[String]) -> bool {
    lists
        .iter()
        .any(|l| l.iter().any(|t| wanted.iter().any(|w| under(t, w))))
}

/// Whether `tag` is `of` or stands below it.
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
