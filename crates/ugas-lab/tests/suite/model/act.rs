//! What an effect does once it is admitted: start, stack, merge, execute, end, flip; facts in the order of ruling R-08.

use super::calc::Frozen;
use super::damage::Dealt;
use super::effects::{Plan, may_fail};
use super::eval::{Context, Node, acts_on_current, is_periodic};
use super::generate::TAGS;
use super::notice::Notice;
use super::settle::Write;
use super::world::{INITIAL_TAGS, Inst, ModState, Reaction, Refused, Spec, Unit, World};
use ugas_doc::{
    Effect, ExecutionPolicy, GrantedAbilityEntry, Modifier, OnExpire, OnOngoingFail, OnStack, Operation,
    PeriodInhibition, PeriodOnStack, StackBy,
};

impl World {
    // What an application does ----------------------------------------------------------------------------------

    pub(crate) fn instant(&mut self, spec: &Spec, def: &Effect, plan: Plan) -> Result<(), Refused> {
        let units: Vec<Option<f64>> = plan
            .mods
            .iter()
            .map(|m| match m.unit {
                Unit::Fixed(v) if m.holds => Some(v),
                _ => None,
            })
            .collect();
        self.next_seq += 1;
        self.write_all(spec, def, &units, spec.stacks, None)?;
        let mut counts = self.tag_counts(spec.target);
        for tag in &def.granted_tags {
            self.tag_facts(spec.target, &mut counts, tag, true);
        }
        for tag in &def.granted_tags {
            self.tag_facts(spec.target, &mut counts, tag, false);
        }
        self.emit_applied(spec.target, spec, spec.stacks);
        self.cue_facts(spec.target, def, "Execute");
        let parent = spec.clone();
        self.then(&parent, def.effects.as_ref().map(|e| e.on_applied.clone()));
        self.finish_verb();
        Ok(())
    }

    pub(crate) fn start(
        &mut self,
        spec: &Spec,
        def: &Effect,
        key: u64,
        tags: Vec<String>,
        plan: Plan,
    ) -> Result<(), Refused> {
        let who = spec.target;
        self.next_seq += 1;
        // Its tags are granted after its executions.
        let mut inst = self.new_inst(spec, key, Vec::new(), &plan, self.next_seq);
        let ongoing = self.ongoing_holds(who, &inst);
        inst.inhibited = !ongoing && def.on_ongoing_fail == OnOngoingFail::Inhibit;
        let (inhibited, stacks) = (inst.inhibited, inst.stacks);
        let at_once = is_periodic(def) && def.period.is_some_and(|p| p.execute_on_application);
        inst.owes_execution = inhibited && (at_once || !is_periodic(def) && !def.executions.is_empty());
        let counts = self.tag_counts(who);
        let touched = self.touched(who, &inst);
        self.row(who).effects.push(inst);
        self.later = Some(Vec::new());
        self.settle(&touched, who, Vec::new(), spec.source);
        let mut combat_writes = Vec::new();
        if !inhibited && !is_periodic(def) {
            combat_writes = self.run_executions(spec, def, None)?;
        }
        self.flush(spec.source);
        self.damage_facts(who, def, combat_writes);
        self.inst(who, key).tags = tags.clone();
        if !inhibited {
            self.tags_changed(who, counts, &tags, true);
        }
        for GrantedAbilityEntry { ability_class, level, input_id, remove_on_effect_removal } in &def.granted_abilities {
            let by = remove_on_effect_removal.then_some(key);
            self.give(who, ability_class, *level, input_id.clone(), by);
        }
        self.emit_applied(who, spec, stacks);
        self.recharge(who, def);
        if !inhibited {
            self.cue_facts(who, def, "Add");
        }
        let parent = self.spec_of(who, key);
        self.then(&parent, def.effects.as_ref().map(|e| e.on_applied.clone()));
        if !ongoing && def.on_ongoing_fail == OnOngoingFail::Remove {
            self.recheck_later(who, &[key]);
        }
        self.finish_verb();
        if at_once && !inhibited {
            self.execute(who, key);
        }
        if plan.length == Some(0) {
            self.end_effect(who, key, "Expired");
        }
        Ok(())
    }

    pub(crate) fn stack(&mut self, spec: &Spec, def: &Effect, old: Inst, plan: Plan, removes: bool) {
        let s = def.stacking.clone().expect("it stacks");
        let (who, now) = (spec.target, self.local(spec.target));
        let limit = s.limit.unwrap_or(u32::MAX);
        let before = self.touched(who, &old);
        let mods = keep_dropped(plan.mods, &old);
        let inst = self.inst(who, old.key);
        inst.stacks = (old.stacks + spec.stacks).min(limit);
        inst.level = spec.level;
        inst.ability = spec.ability.clone().or(inst.ability.take());
        inst.set_by_caller = spec.set_by_caller.clone();
        inst.mods = mods;
        if s.by == StackBy::Target && inst.source != spec.source {
            (inst.source, inst.frozen) = (spec.source, None);
        }
        if let (OnStack::RefreshDuration, Some(length)) = (s.on_stack, plan.length) {
            inst.end = Some(now + length);
            inst.length = length;
        }
        if let (PeriodOnStack::Reset, Some(p)) = (s.period_on_stack, inst.periodic.as_mut()) {
            (p.anchor, p.n) = (now, 1);
        }
        let parent = self.spec_of(who, old.key);
        let kept = self.joined(who, def, old.key, "Stacks", &before, removes);
        // What fits in part overflows nothing (ruling R-99).
        if old.stacks >= limit {
            self.then(&parent, Some(s.overflow_effects));
        }
        if kept && s.on_stack == OnStack::RefreshDuration && plan.length == Some(0) {
            self.due_expiry(who, old.key);
        }
    }

    pub(crate) fn merge(&mut self, spec: &Spec, def: &Effect, old: Inst, plan: Plan, removes: bool) {
        let (who, now) = (spec.target, self.local(spec.target));
        let before = self.touched(who, &old);
        let mods = keep_dropped(plan.mods, &old);
        let inst = self.inst(who, old.key);
        if spec.level >= old.level {
            inst.level = spec.level;
            if inst.source != spec.source {
                (inst.source, inst.frozen) = (spec.source, None);
            }
            inst.ability = spec.ability.clone().or(inst.ability.take());
            inst.set_by_caller = spec.set_by_caller.clone();
            inst.mods = mods;
        }
        if let (Some(end), Some(length)) = (old.end, plan.length) {
            inst.end = Some(end.max(now + length));
            inst.length = length;
        }
        self.joined(who, def, old.key, "Merged", &before, removes);
    }

    /// Settles an instance that an application joined, removes other effects by tag, and emits the change. Returns
    /// whether the instance is still active: what the removal cancelled may have removed it.
    fn joined(&mut self, who: u32, def: &Effect, key: u64, what: &str, before: &[Node], removes: bool) -> bool {
        if removes {
            let e = self.inst(who, key).clone();
            let touched = [before, &self.touched(who, &e)].concat();
            self.settle(&touched, who, Vec::new(), e.source);
            self.remove_by_tag(who, def, Some(key));
        }
        let kept = self.rows[&who].effects.iter().any(|e| e.key == key);
        if kept {
            self.changed(who, key, what, before);
        }
        kept
    }

    fn emit_applied(&mut self, who: u32, spec: &Spec, stacks: u32) {
        self.emit(who, format!("EffectApplied {} level {} stacks {stacks}", spec.def, spec.level));
        let (def, source) = (spec.def.clone(), spec.source);
        self.notify(who, Notice::Effect { def, source, applied: true });
    }

    /// Settles after an effect changed and emits the change. `before` lists the attributes it modified before.
    pub(crate) fn changed(&mut self, who: u32, key: u64, what: &str, before: &[Node]) {
        let e = self.inst(who, key).clone();
        let touched = [before, &self.touched(who, &e)].concat();
        self.settle(&touched, who, Vec::new(), e.source);
        self.emit(who, format!("EffectChanged {} {what} stacks {} level {}", e.def, e.stacks, e.level));
        self.recharge(who, &self.effects[&e.def].clone());
    }

    // Executions ------------------------------------------------------------------------------------------------

    /// Everything an execution writes, then its facts.
    fn write_all(
        &mut self,
        spec: &Spec,
        def: &Effect,
        units: &[Option<f64>],
        stacks: u32,
        frozen: Option<&Frozen>,
    ) -> Result<(), Refused> {
        self.later = Some(Vec::new());
        let operations = def.modifiers.iter().zip(units).filter_map(|(m, unit)| {
            let unit = (*unit)?;
            let size = if m.operation == Operation::Override { unit } else { unit * stacks as f64 };
            Some((m.attribute.clone(), m.operation, size))
        });
        let mut combat_writes = self.write(spec, def, operations.collect(), frozen)?;
        combat_writes.extend(self.run_executions(spec, def, frozen)?);
        self.flush(spec.source);
        self.damage_facts(spec.target, def, combat_writes);
        Ok(())
    }

    /// One base write per attribute: all starts and results first, then written in dependency order.
    pub(crate) fn write(
        &mut self,
        spec: &Spec,
        def: &Effect,
        operations: Vec<(String, Operation, f64)>,
        frozen: Option<&Frozen>,
    ) -> Result<Vec<Dealt>, Refused> {
        let who = spec.target;
        let mut writes: Vec<Write> = Vec::new();
        for (attribute, operation, size) in operations {
            let node = (who, attribute.clone());
            if !writes.iter().any(|w| w.attribute == attribute) {
                let start = self.write_start(&node);
                writes.push(Write { attribute: attribute.clone(), start, result: start, overrides: false });
            }
            let w = writes.iter_mut().find(|w| w.attribute == attribute).expect("just made");
            match operation {
                Operation::Add | Operation::AddPost => w.result += size,
                Operation::Multiply => w.result *= 1.0 + size,
                Operation::Override => {
                    w.result = size;
                    w.overrides = true;
                }
            }
            if !w.result.is_finite() {
                return Err("NonFinite");
            }
        }
        let combat_writes = self.combat(spec, def, &mut writes, frozen)?;
        let nodes: Vec<Node> = writes.iter().map(|w| (who, w.attribute.clone())).collect();
        self.settle(&nodes, who, writes, spec.source);
        Ok(self.dealt(who, combat_writes))
    }

    /// One execution: it happens, or a rule forbids it, or it cannot be computed and nothing happens.
    fn execute(&mut self, who: u32, key: u64) {
        let e = self.inst(who, key).clone();
        let def = self.effects[&e.def].clone();
        let parent = self.spec_of(who, key);
        let periodic = self.inst(who, key).periodic.as_mut();
        let n = periodic.map(|p| {
            p.executed += 1;
            p.executed - 1
        });
        if self.bars_combat(&parent, &def, e.frozen.as_ref()) {
            self.emit(who, format!("ExecutionRestricted {} {}", e.def, n.unwrap_or(0)));
            return;
        }
        let Ok(units) = self.units_now(who, &e, &def) else { return };
        for (i, unit) in units.iter().enumerate() {
            if let (Unit::Reading { .. }, Some(v)) = (e.mods[i].unit, unit) {
                self.inst(who, key).mods[i].unit = Unit::Reading { last: *v };
            }
        }
        let saved = may_fail(&def).then(|| self.clone());
        if let Err(kind) = self.write_all(&parent, &def, &units, e.stacks, e.frozen.as_ref()) {
            *self = saved.expect("only what may fail fails");
            if kind == "Restricted" {
                self.emit(who, format!("ExecutionRestricted {} {}", e.def, n.unwrap_or(0)));
                return;
            }
            self.count("Execution refused");
            return;
        }
        if e.frozen.is_some() {
            self.count("Frozen execution");
        }
        let Some(n) = n else { return };
        self.emit(who, format!("EffectExecuted {} {n}", e.def));
        self.cue_facts(who, &def, "Execute");
        self.then(&parent, def.effects.as_ref().map(|e| e.on_executed.clone()));
    }

    /// The magnitudes of what an active effect writes at an execution.
    fn units_now(&self, who: u32, e: &Inst, def: &Effect) -> Result<Vec<Option<f64>>, Refused> {
        let (values, cx) = (self.shown_values(), Context::of(e, who));
        let unit = |(i, m): (usize, &Modifier)| {
            let there = self.attribute(&(who, m.attribute.clone())).is_some();
            let writes = !acts_on_current(def, m) && !e.mods[i].dropped && there;
            if !writes || !self.filter_holds(m, who, e.source, e.frozen.as_ref()) {
                return Ok(None);
            }
            match e.mods[i].unit {
                Unit::AtExecution => self.magnitude(&m.magnitude, &cx, &|n| values.get(n).copied()),
                _ => Ok(self.unit(who, e, i, &values)),
            }
        };
        def.modifiers.iter().enumerate().map(unit).collect()
    }

    pub(crate) fn due_execution(&mut self, who: u32, key: u64) {
        let e = self.inst(who, key);
        let inhibited = e.inhibited;
        let p = e.periodic.as_mut().expect("it is periodic");
        p.n += 1;
        if inhibited {
            p.missed += 1;
        } else {
            self.execute(who, key);
        }
    }

    pub(crate) fn due_expiry(&mut self, who: u32, key: u64) {
        let e = self.inst(who, key).clone();
        let now = self.local(who);
        let on_expire = self.effects[&e.def].stacking.as_ref().map(|s| s.on_expire).unwrap_or_default();
        match on_expire {
            OnExpire::RemoveOne if e.stacks > 1 && e.length > 0 => {
                let inst = self.inst(who, key);
                inst.stacks -= 1;
                inst.end = Some(now + e.length);
                self.changed(who, key, "Stacks", &[]);
            }
            OnExpire::Refresh if e.length > 0 => {
                self.inst(who, key).end = Some(now + e.length);
                self.changed(who, key, "Duration", &[]);
            }
            OnExpire::ClearAll | OnExpire::RemoveOne | OnExpire::Refresh => self.end_effect(who, key, "Expired"),
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
        self.settle(&self.touched(who, &e), who, Vec::new(), e.source);
        if !e.inhibited {
            let mut tags = e.tags.clone();
            if e.def == INITIAL_TAGS {
                // Innate tags go in hierarchy order.
                tags.sort_by_key(|tag| TAGS.iter().position(|t| t == tag));
            }
            self.tags_changed(who, counts, &tags, false);
            self.row(who).leaving_cues.extend(def.gameplay_cues.clone());
        }
        while let Some(id) = self.rows[&who].grants.iter().find(|g| g.by == Some(key)).map(|g| g.id) {
            self.revoke_grant(who, id);
        }
        self.emit(who, format!("EffectRemoved {} {reason}", e.def));
        self.notify(who, Notice::Effect { def: e.def.clone(), source: e.source, applied: false });
        self.recharge(who, &def);
        if !def.rules.is_empty() {
            self.notify(who, Notice::Freed);
        }
        if !e.inhibited {
            for cue in &def.gameplay_cues {
                let leaving = &mut self.row(who).leaving_cues;
                let at = leaving.iter().position(|c| c == cue).expect("it was leaving");
                leaving.remove(at);
            }
            self.cue_facts(who, &def, "Remove");
        }
        let then = def.effects.clone().unwrap_or_default();
        match reason {
            "Expired" => self.then(&parent, Some(then.on_expired)),
            "Destroyed" => {}
            _ => self.then(&parent, Some(then.on_removed)),
        }
        if def.execution_policy == ExecutionPolicy::RunInSequence && reason != "Destroyed" {
            self.reactions.push_back(Reaction::NextInSequence(who, e.def.clone()));
        }
        self.finish_verb();
    }

    /// The attributes that an effect's modifiers act on, whether they are on or off now.
    pub(crate) fn touched(&self, who: u32, e: &Inst) -> Vec<Node> {
        let def = &self.effects[&e.def];
        let acting =
            |i: usize, m: &Modifier| acts_on_current(def, m) && !e.mods[i].dropped && e.mods[i].unit != Unit::Skipped;
        let mods = def.modifiers.iter().enumerate().filter(|(i, m)| acting(*i, m));
        mods.map(|(_, m)| (who, m.attribute.clone())).collect()
    }

    // Small things ----------------------------------------------------------------------------------------------

    pub(crate) fn inst(&mut self, who: u32, key: u64) -> &mut Inst {
        self.row(who).effects.iter_mut().find(|e| e.key == key).expect("it is active")
    }

    /// The spec an active effect hands to the effects it causes.
    fn spec_of(&mut self, who: u32, key: u64) -> Spec {
        let e = self.inst(who, key).clone();
        Spec { level: e.level, set_by_caller: e.set_by_caller, ability: e.ability, ..Spec::new(&e.def, who, e.source) }
    }

    pub(crate) fn then(&mut self, parent: &Spec, effects: Option<Vec<String>>) {
        for def in effects.unwrap_or_default() {
            let spec = Spec { def, stacks: 1, duration: None, period: None, ..parent.clone() };
            self.reactions.push_back(Reaction::Apply(spec));
        }
    }

    /// Turns an effect off or on again for its ongoing requirements.
    pub(crate) fn flip(&mut self, who: u32, key: u64, off: bool) {
        let counts = self.tag_counts(who);
        self.inst(who, key).inhibited = off;
        let e = self.inst(who, key).clone();
        let def = self.effects[&e.def].clone();
        self.settle(&self.touched(who, &e), who, Vec::new(), e.source);
        self.tags_changed(who, counts, &e.tags, !off);
        let what = if off { "Inhibited" } else { "Restored" };
        self.emit(who, format!("EffectChanged {} {what} stacks {} level {}", e.def, e.stacks, e.level));
        self.recharge(who, &def);
        self.cue_facts(who, &def, if off { "Remove" } else { "Add" });
        let now = self.local(who);
        if off {
            return;
        }
        if let Some(p) = self.inst(who, key).periodic.as_mut() {
            match def.period_inhibition {
                PeriodInhibition::Skip => p.missed = 0,
                PeriodInhibition::Reset => (p.anchor, p.n, p.missed) = (now, 1, 0),
                PeriodInhibition::CatchUp => {}
            }
        }
        self.catch_ups.push((who, key));
    }

    /// Runs one execution that an effect that is active again missed or owes; false if there is none.
    pub(crate) fn catch_up_one(&mut self) -> bool {
        while let Some(&(who, key)) = self.catch_ups.first() {
            let e = self.rows.get_mut(&who).and_then(|r| r.effects.iter_mut().find(|e| e.key == key));
            let runs = e.filter(|e| !e.inhibited).is_some_and(|e| {
                let owes = std::mem::take(&mut e.owes_execution);
                let missed = e.periodic.as_mut().filter(|p| !owes && p.missed > 0);
                owes || missed.map(|p| p.missed -= 1).is_some()
            });
            if runs {
                self.execute(who, key);
                return true;
            }
            self.catch_ups.remove(0);
        }
        false
    }

    /// How many active effects, effects that are being removed and abilities hold a looping cue.
    pub(crate) fn cue_count(&self, who: u32, cue: &str) -> u32 {
        let on = |e: &&Inst| !e.inhibited;
        let cues = self.rows[&who].effects.iter().filter(on).flat_map(|e| &self.effects[&e.def].gameplay_cues);
        let acts = self.rows[&who].play.acts.iter().flat_map(|a| &a.cues);
        cues.chain(acts).chain(&self.rows[&who].leaving_cues).filter(|c| *c == cue).count() as u32
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
                self.emit(who, format!("Cue {cue} {how}"));
            }
        }
    }
}

/// New magnitudes for an effect; modifiers dropped by a forced removal of a set stay dropped.
fn keep_dropped(mut mods: Vec<ModState>, old: &Inst) -> Vec<ModState> {
    for (new, was) in mods.iter_mut().zip(&old.mods) {
        new.dropped = was.dropped;
    }
    mods
}
