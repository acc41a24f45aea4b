//! Combat state: values that rules change, restrictions, global cooldowns, charges, casts, input.

use super::calc::Frozen;
use super::check::Try;
use super::effects::{flicks, has_any};
use super::expr;
use super::notice::Notice;
use super::play::{ActivationRequest, Held, How};
use super::world::{Reaction, Refused, Spec, World};
use ugas_doc::{Ability, CombatRule, CombatStyle, DurationPolicy, ModifyOperation, OnTargetLost, Operation};

/// Charges of a grant. Times are local.
#[derive(Clone, Debug)]
pub(crate) struct Charge {
    pub(crate) have: u32,
    pub(crate) max: u32,
    /// Start and end of the cooldown that runs, and its number.
    pub(crate) run: Option<(i64, i64, u64)>,
}

/// A cast under way.
#[derive(Clone, Debug)]
pub(crate) struct Cast {
    pub(crate) act: u64,
    pub(crate) seq: u64,
    pub(crate) start: i64,
    pub(crate) length: i64,
    pub(crate) ticks: u32,
    pub(crate) next: u32,
}

impl Cast {
    /// Ticks are evenly spaced, to the nearest flick, the last at the end.
    pub(crate) fn next_at(&self) -> i64 {
        let (length, next, ticks) = (self.length as i128, self.next as i128, self.ticks as i128);
        self.start + ((2 * length * next + ticks) / (2 * ticks)) as i64
    }
}

/// A global cooldown under way.
#[derive(Clone, Debug)]
pub(crate) struct Gcd {
    pub(crate) seq: u64,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// The event that a conditional rule reads.
#[derive(Clone, Debug)]
pub(crate) struct CombatEvent {
    pub(crate) tags: Vec<String>,
    pub(crate) amount: f64,
    pub(crate) style: CombatStyle,
    pub(crate) source: u32,
    pub(crate) target: u32,
    pub(crate) attribute: Option<String>,
    /// The stored values of a destroyed source.
    pub(crate) frozen: Option<Frozen>,
}

impl World {
    // Rules -----------------------------------------------------------------------------------------------------

    /// The rules of a controller's active effects that concern this, with the stacks behind each.
    fn rules(
        &self,
        who: u32,
        on: &str,
        ability: Option<&Ability>,
        combat_event: Option<&CombatEvent>,
    ) -> Vec<(CombatRule, u32)> {
        let mut found = Vec::new();
        let row = self.rows.get(&who).map(|r| &r.effects);
        // Only a source can be gone.
        let left = || combat_event.and_then(|b| b.frozen.as_ref()).map(|f| &f.effects);
        for e in row.or_else(left).into_iter().flatten().filter(|e| !e.inhibited) {
            let def = &self.effects[&e.def];
            if def.duration_policy == DurationPolicy::Instant {
                continue;
            }
            for rule in def.rules.iter().filter(|r| r.on == on) {
                let named = rule.abilities.is_empty() || ability.is_some_and(|a| rule.abilities.contains(&a.name));
                let tagged = rule.ability_tags.is_empty()
                    || ability.is_some_and(|a| has_any(&[&a.tags.ability_tags], &rule.ability_tags));
                let of = rule.attribute.is_none() || combat_event.is_some_and(|b| b.attribute == rule.attribute);
                let read = |name: &str| {
                    let style = |s: CombatStyle| combat_event.map(|b| (b.style == s) as u32 as f64);
                    match name {
                        "level" => Some(e.level as f64),
                        "stacks" => Some(e.stacks as f64),
                        "event.Amount" | "event.Magnitude" => combat_event.map(|b| b.amount),
                        "event.Direct" => style(CombatStyle::Direct),
                        "event.Periodic" => style(CombatStyle::Periodic),
                        "event.Area" => style(CombatStyle::Area),
                        _ => match name.strip_prefix("has_tag(event,") {
                            Some(tag) => {
                                let tag = tag.trim_end_matches(')').trim().to_owned();
                                combat_event.map(|b| has_any(&[&b.tags], &[tag]) as u32 as f64)
                            }
                            None => {
                                let (source, target) = combat_event.map_or((e.source, who), |b| (b.source, b.target));
                                let frozen = combat_event.map_or(e.frozen.as_ref(), |b| b.frozen.as_ref());
                                self.read_captured(name, who, (source, frozen), target)
                            }
                        },
                    }
                };
                let holds = rule.when.as_ref().is_none_or(|w| expr::holds(w, &read));
                if named && tagged && of && holds {
                    found.push((rule.clone(), e.stacks));
                }
            }
        }
        found
    }

    pub(crate) fn is_restricted(
        &self,
        who: u32,
        on: &str,
        ability: Option<&Ability>,
        combat_event: Option<&CombatEvent>,
    ) -> bool {
        self.rules(who, on, ability, combat_event).iter().any(|(r, _)| r.restrict)
    }

    /// `max(0, max(0, base + sums) * products)`, each factor at least 0.
    pub(crate) fn ruled(
        &self,
        who: u32,
        on: &str,
        base: f64,
        ability: Option<&Ability>,
        combat_event: Option<&CombatEvent>,
    ) -> f64 {
        let word = match on {
            "CooldownLength" => "Cooldown",
            "ResourceCost" => "Cost",
            _ => on,
        };
        if ability.is_some_and(|a| a.static_values.iter().any(|s| s == word)) {
            return base.max(0.0);
        }
        let scale = self.scale(who, on, ability, combat_event.and_then(|b| b.frozen.as_ref()));
        let (mut sum, mut product) = (0.0, 1.0);
        for (rule, stacks) in self.rules(who, on, ability, combat_event) {
            let stacks = if rule.stacks { stacks as f64 } else { 1.0 };
            let Some(m) = &rule.modify else { continue };
            match m.operation {
                ModifyOperation::Add => sum += m.value.unwrap_or(0.0) * stacks,
                ModifyOperation::Multiply => product *= ((m.factor.unwrap_or(1.0) - 1.0) * stacks + 1.0).max(0.0),
            }
        }
        ((base + sum).max(0.0) * (product * scale)).max(0.0)
    }

    fn ruled_time(&self, who: u32, on: &str, seconds: f64, ability: &Ability) -> i64 {
        flicks(self.ruled(who, on, seconds, Some(ability), None))
    }

    fn ruled_count(&self, who: u32, on: &str, base: u32, ability: &Ability, least: u32) -> u32 {
        (self.ruled(who, on, base as f64, Some(ability), None).round() as u32).max(least)
    }

    /// What rules make of a number of a cost.
    pub(crate) fn ruled_cost(&self, who: u32, ability: &Ability, op: Operation, unit: f64) -> f64 {
        if op == Operation::Override {
            return unit;
        }
        self.ruled(who, "ResourceCost", unit.abs(), Some(ability), None).copysign(unit)
    }

    /// Applies a cost with its numbers as rules leave them.
    pub(crate) fn spend(&mut self, ability: &Ability, spec: &Spec, key: u64) -> Result<(), Refused> {
        let def = self.effects[&spec.def].clone();
        self.fits(spec, &def)?;
        self.filters(spec, &def)?;
        let mut plan = self.plan(spec, &def, None, key)?;
        for (m, state) in def.modifiers.iter().zip(&mut plan.mods) {
            if let super::world::Unit::Fixed(v) = &mut state.unit {
                *v = self.ruled_cost(spec.target, ability, m.operation, *v);
            }
        }
        self.enter(spec, &def, key, plan, None)
    }

    // Global cooldowns ------------------------------------------------------------------------------------------

    pub(crate) fn gcd_runs(&self, who: u32, def: &Ability) -> bool {
        let group = def.global_cooldown.as_ref().map(gcd_group);
        group.is_some_and(|g| self.rows[&who].play.gcds.contains_key(&g))
    }

    pub(crate) fn start_gcd(&mut self, who: u32, def: &Ability) {
        let Some(gcd) = &def.global_cooldown else { return };
        let length = self.ruled_time(who, "GlobalCooldown", gcd.length, def);
        if length > 0 {
            let (seq, start, group) = (self.seq(), self.local(who), gcd_group(gcd));
            self.emit(who, format!("GlobalCooldown {group} running true length {length}"));
            self.play(who).gcds.insert(group, Gcd { seq, start, end: start + length });
        }
    }

    pub(crate) fn gcd_due(&mut self, who: u32, seq: u64) {
        let found = self.rows[&who].play.gcds.iter().find(|(_, g)| g.seq == seq);
        let Some((group, length)) = found.map(|(name, g)| (name.clone(), g.end - g.start)) else { return };
        self.play(who).gcds.remove(&group);
        self.emit(who, format!("GlobalCooldown {group} running false length {length}"));
    }

    // Charges ---------------------------------------------------------------------------------------------------

    pub(crate) fn full_charges(&self, who: u32, def: &Ability) -> Option<Charge> {
        let max = self.ruled_count(who, "MaxCharges", def.charges.as_ref()?.max, def, 1);
        Some(Charge { have: max, max, run: None })
    }

    fn charge_cost(&self, who: u32, def: &Ability) -> u32 {
        let cost = def.charges.as_ref().map_or(0, |c| c.cost.unwrap_or(1));
        self.ruled_count(who, "ChargeCost", cost, def, 0)
    }

    pub(crate) fn lacks_charges(&self, who: u32, grant: u32, def: &Ability) -> bool {
        let charge = self.grant(who, grant).and_then(|g| g.charge.as_ref());
        charge.is_some_and(|c| c.have < self.charge_cost(who, def))
    }

    fn charge(&mut self, who: u32, grant: u32) -> &mut Charge {
        let g = self.row(who).grants.iter_mut().find(|g| g.id == grant).expect("it is granted");
        g.charge.as_mut().expect("it has charges")
    }

    pub(crate) fn spend_charges(&mut self, who: u32, grant: u32, def: &Ability) {
        if def.charges.is_none() {
            return;
        }
        let (cost, now) = (self.charge_cost(who, def), self.local(who));
        let c = self.charge(who, grant);
        c.have = c.have.saturating_sub(cost);
        self.run_charges(who, grant, def, now);
    }

    /// A cooldown runs exactly while charges are missing; emits the change.
    fn run_charges(&mut self, who: u32, grant: u32, def: &Ability, from: i64) {
        let seconds = def.charges.as_ref().expect("it has charges").cooldown;
        let length = self.ruled_time(who, "CooldownLength", seconds, def);
        let c = self.charge(who, grant).clone();
        if c.have >= c.max {
            self.charge(who, grant).run = None;
        } else if c.run.is_none() && length <= 0 {
            self.charge(who, grant).have = c.max;
        } else if c.run.is_none() {
            let seq = self.seq();
            self.charge(who, grant).run = Some((from, from + length, seq));
        }
        let c = self.charge(who, grant).clone();
        let length = c.run.map_or(0, |r| r.1 - r.0);
        let text = format!("Charges {} grant {grant} {} of {} length {length}", def.name, c.have, c.max);
        self.emit(who, text);
    }

    pub(crate) fn charge_due(&mut self, who: u32, seq: u64) {
        let runs = |c: &Charge| c.run.is_some_and(|r| r.2 == seq);
        let found = self.rows[&who].grants.iter().find(|g| g.charge.as_ref().is_some_and(runs));
        let Some((grant, def)) = found.map(|g| (g.id, self.abilities[&g.ability].clone())) else { return };
        let per = def.charges.as_ref().and_then(|c| c.per_cooldown).unwrap_or(1);
        let per = self.ruled_count(who, "ChargesPerCooldown", per, &def, 1);
        let c = self.charge(who, grant);
        let ended = c.run.take().expect("it runs").1;
        c.have = (c.have + per).min(c.max);
        self.run_charges(who, grant, &def, ended);
    }

    /// Rules changed: charges stay within their new maximum.
    pub(crate) fn recharge(&mut self, who: u32, def: &ugas_doc::Effect) {
        if def.rules.is_empty() {
            return;
        }
        let now = self.local(who);
        let ids: Vec<u32> = self.rows[&who].grants.iter().filter(|g| g.charge.is_some()).map(|g| g.id).collect();
        for grant in ids {
            let ability = self.abilities[&self.grant(who, grant).expect("it is granted").ability].clone();
            let max = self.full_charges(who, &ability).expect("it has charges").max;
            let c = self.charge(who, grant);
            if c.max != max {
                (c.max, c.have) = (max, c.have.min(max));
                self.run_charges(who, grant, &ability, now);
            }
        }
    }

    // Casts -----------------------------------------------------------------------------------------------------

    pub(crate) fn begin_cast(&mut self, who: u32, act: u64, def: &Ability) {
        let Some(cast) = &def.cast else { return };
        let length = self.ruled_time(who, "CastLength", cast.length, def);
        let (seq, start) = (self.seq(), self.local(who));
        self.play(who).cast = Some(Cast { act, seq, start, length, ticks: cast.ticks.unwrap_or(1), next: 1 });
        if length == 0 {
            self.reactions.push_back(Reaction::Ticks(who, seq));
        }
        self.emit(who, format!("Cast {} Started tick 0 length {length}", def.name));
    }

    pub(crate) fn cast_at_once(&mut self, who: u32, seq: u64) {
        while self.rows.get(&who).is_some_and(|r| r.play.cast.as_ref().is_some_and(|c| c.seq == seq)) {
            self.cast_due(who, seq);
        }
    }

    pub(crate) fn cast_due(&mut self, who: u32, seq: u64) {
        let cast = self.play(who).cast.as_mut().filter(|c| c.seq == seq).expect("it casts");
        let (act, tick, length, ticks) = (cast.act, cast.next, cast.length, cast.ticks);
        cast.next += 1;
        let def = self.ability_of(who, act);
        self.act_mut(who, act).tick = tick;
        self.emit(who, format!("Cast {} Tick tick {tick} length {length}", def.name));
        self.run_list(who, act, &def.on_tick);
        let casts = self.rows.get(&who).is_some_and(|r| r.play.cast.as_ref().is_some_and(|c| c.seq == seq));
        if tick >= ticks && casts {
            self.stop_cast(who, act, "Finished");
            self.maybe_done(who, act);
        }
    }

    /// Casts at a lost target end as their abilities specify.
    pub(crate) fn check_casters_at(&mut self, who: u32) {
        let aims = |r: &super::world::Row| {
            let act = r.play.cast.as_ref().map(|c| c.act);
            r.play.acts.iter().any(|a| Some(a.seq) == act && a.target == Some(who))
        };
        let casters = self.rows.iter().filter(|(id, r)| **id != who && aims(r));
        let casters: Vec<u32> = casters.map(|(id, _)| *id).collect();
        casters.into_iter().for_each(|caster| self.check_own_target(caster));
    }

    /// A cast whose target is lost ends as its ability specifies.
    pub(crate) fn check_own_target(&mut self, who: u32) {
        let Some(act) = self.rows.get(&who).and_then(|r| r.play.cast.as_ref()).map(|c| c.act) else { return };
        let (a, def) = (self.act(who, act).expect("it casts").clone(), self.ability_of(who, act));
        let cast = def.cast.clone().expect("it casts");
        let t = Try { who, grant: a.grant, level: a.level, target: a.target, source: a.source };
        let range = cast.max_range.or(def.max_range);
        if a.target.is_none() || self.refusal_of_target(&t, &def, range).is_none() {
            return;
        }
        match cast.on_target_lost {
            OnTargetLost::Continue => return,
            OnTargetLost::Cancel => self.finish(who, act, How::Cancelled),
            OnTargetLost::Complete => {
                self.stop_cast(who, act, "Finished");
                self.maybe_done(who, act);
            }
        }
        self.count(&format!("TargetLost {:?}", cast.on_target_lost));
    }

    pub(crate) fn move_to(&mut self, who: u32, place: Option<f64>) -> Result<(), Refused> {
        let old = std::mem::replace(&mut self.rows.get_mut(&who).ok_or("StaleHandle")?.place, place);
        if old != place {
            if let Some(act) = self.rows[&who].play.cast.as_ref().map(|c| c.act)
                && self.ability_of(who, act).cast.as_ref().is_some_and(|c| c.while_moving == Some(false))
            {
                self.finish(who, act, How::Cancelled);
            }
            self.check_own_target(who);
            self.check_casters_at(who);
        }
        self.react();
        Ok(())
    }

    pub(crate) fn stop_cast(&mut self, who: u32, act: u64, how: &str) {
        if let Some(c) = self.play(who).cast.take_if(|c| c.act == act) {
            let name = self.act(who, act).expect("it runs").ability.clone();
            self.emit(who, format!("Cast {name} {how} tick {} length {}", c.next - 1, c.length));
            self.notify(who, Notice::Freed);
        }
    }

    pub(crate) fn interrupt(&mut self, who: u32) -> Result<(), Refused> {
        let act = self.rows.get(&who).ok_or("StaleHandle")?.play.cast.as_ref().map(|c| c.act);
        let Some(act) = act else { return Ok(()) };
        let def = self.ability_of(who, act);
        let combat_event = CombatEvent {
            tags: def.tags.ability_tags.clone(),
            amount: 0.0,
            style: CombatStyle::default(),
            source: super::world::NONE,
            target: who,
            attribute: None,
            frozen: None,
        };
        let may = def.cast.as_ref().is_some_and(|c| c.interruptible != Some(false));
        if !may || self.is_restricted(who, "Interrupt", Some(&def), Some(&combat_event)) {
            return Err("Restricted");
        }
        self.finish(who, act, How::Interrupted);
        Ok(())
    }

    // Input -----------------------------------------------------------------------------------------------------

    /// The press happens even if the activation is refused; the refusal is emitted.
    pub(crate) fn press(&mut self, who: u32, input: &str, target: Option<u32>) -> Result<&'static str, Refused> {
        if !self.rows.contains_key(&who) {
            return Err("StaleHandle");
        }
        let (since, before) = (self.local(who), self.next_seq);
        let held = self.play(who).held.entry(input.to_owned()).or_insert(Held { since, retry: false, target });
        (held.retry, held.target) = (false, target);
        self.emit(who, format!("Input {input} pressed true held 0"));
        let bound = |g: &&super::play::Grant| g.input.as_deref() == Some(input);
        let grants: Vec<u32> = self.rows[&who].grants.iter().filter(bound).map(|g| g.id).collect();
        let mut outcome = "-";
        if !grants.is_empty() {
            match self.activate(who, &grants, &ActivationRequest { target, ..ActivationRequest::default() }) {
                Ok(_) => outcome = "Ok",
                Err(kind) => {
                    outcome = kind;
                    let grants = &self.rows[&who].grants;
                    let again = grants.iter().filter(bound).any(|g| self.abilities[&g.ability].held_activation);
                    self.play(who).held.get_mut(input).expect("it is down").retry = again;
                }
            }
        }
        let notice = Notice::Input { input: input.to_owned(), pressed: true, held: 0 };
        self.notify_since(who, notice, before);
        Ok(outcome)
    }

    pub(crate) fn release(&mut self, who: u32, input: &str) -> Result<(), Refused> {
        if !self.rows.contains_key(&who) {
            return Err("StaleHandle");
        }
        let (now, before) = (self.local(who), self.next_seq);
        let Some(down) = self.play(who).held.remove(input) else { return Ok(()) };
        let held = now - down.since;
        self.emit(who, format!("Input {input} pressed false held {held}"));
        let cast = self.rows[&who].play.cast.as_ref().map(|c| c.act);
        if let Some(act) = cast {
            let (a, def) = (self.act(who, act).expect("it casts").clone(), self.ability_of(who, act));
            let mine = self.grant(who, a.grant).is_some_and(|g| g.input.as_deref() == Some(input));
            if mine && def.cast.as_ref().is_some_and(|c| c.cancel_on_release) {
                self.finish(who, act, How::Cancelled);
            }
        }
        self.notify_since(who, Notice::Input { input: input.to_owned(), pressed: false, held }, before);
        Ok(())
    }

    /// At a frame, held inputs whose ability could not activate are retried, by controller, then by input.
    pub(crate) fn frame(&mut self) {
        self.capability_frame();
        let waiting: Vec<u32> =
            self.rows.iter().filter(|(_, r)| r.active && r.retries()).map(|(who, _)| *who).collect();
        for who in waiting {
            let Some(row) = self.rows.get(&who) else { continue };
            let list: Vec<(String, Option<u32>)> =
                row.play.held.iter().filter(|(_, h)| h.retry).map(|(i, h)| (i.clone(), h.target)).collect();
            for (input, target) in list {
                let row = &self.rows[&who];
                let held = |g: &&super::play::Grant| {
                    g.input.as_ref() == Some(&input) && self.abilities[&g.ability].held_activation
                };
                let grants: Vec<u32> = row.grants.iter().filter(held).map(|g| g.id).collect();
                if self.activate(who, &grants, &ActivationRequest { target, ..ActivationRequest::default() }).is_ok()
                    && let Some(h) = self.play(who).held.get_mut(&input)
                {
                    h.retry = false;
                }
            }
            self.react();
        }
    }
}

fn gcd_group(gcd: &ugas_doc::GlobalCooldown) -> String {
    gcd.group.clone().unwrap_or_else(|| "Default".into())
}
