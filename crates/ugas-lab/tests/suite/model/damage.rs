//! The damage pipeline of combat effects: restrictions, rules of the source, rules of the target, mitigation, pools in
//! order, then the attribute itself.

use super::calc::Frozen;
use super::combat::CombatEvent;
use super::eval::Context;
use super::play::Event;
use super::settle::Write;
use super::world::{Refused, Spec, World};
use ugas_doc::{CombatKind, DurationPolicy, Effect};

/// The name of the generated mitigation.
pub(crate) const ARMOR: &str = "Calc_Armor";

/// A settled combat write: the write, the amount dealt, the rest.
pub(crate) type Dealt = (CombatWrite, f64, f64);

/// The result of one combat write.
#[derive(Clone, Debug)]
pub(crate) struct CombatWrite {
    attribute: String,
    credit: u32,
    raw: f64,
    absorbed: f64,
    rest: f64,
}

/// The combat values of the source and of the target.
fn sides(kind: CombatKind) -> (&'static str, &'static str) {
    match kind {
        CombatKind::Damage => ("DamageDone", "DamageTaken"),
        CombatKind::Healing => ("HealingDone", "HealingTaken"),
        CombatKind::Threat => ("Threat", "Threat"),
        CombatKind::Resource => ("ResourceDelta", "ResourceDelta"),
    }
}

impl World {
    pub(crate) fn combat_event(
        &self,
        spec: &Spec,
        def: &Effect,
        attribute: Option<String>,
        amount: f64,
        frozen: Option<&Frozen>,
    ) -> CombatEvent {
        let mut tags = [def.effect_tags.clone(), def.granted_tags.clone()].concat();
        tags.extend(def.combat.as_ref().and_then(|c| c.school.clone()));
        if let Some(a) = &spec.ability {
            tags.extend(self.abilities[a].tags.ability_tags.clone());
        }
        let style = def.combat.as_ref().map(|c| c.style).unwrap_or_default();
        CombatEvent {
            tags,
            amount,
            style,
            source: spec.source,
            target: spec.target,
            attribute,
            frozen: frozen.cloned(),
        }
    }

    /// Rules that restrict an effect.
    pub(crate) fn combat_filters(&self, spec: &Spec, def: &Effect) -> Result<(), Refused> {
        let lasting = def.duration_policy != DurationPolicy::Instant;
        let buff = lasting && self.bars(spec, def, spec.target, "BuffApplied", None);
        if buff || self.bars_combat(spec, def, None) { Err("Restricted") } else { Ok(()) }
    }

    fn bars(&self, spec: &Spec, def: &Effect, who: u32, on: &str, frozen: Option<&Frozen>) -> bool {
        let ability = spec.ability.as_ref().map(|a| &self.abilities[a]);
        let combat_event = self.combat_event(spec, def, None, 0.0, frozen);
        self.is_restricted(who, on, ability, Some(&combat_event))
    }

    /// Whether rules of the target or of the source forbid what an effect does as combat.
    pub(crate) fn bars_combat(&self, spec: &Spec, def: &Effect, frozen: Option<&Frozen>) -> bool {
        // A rule about a resource reads the amount, so it is asked with the write.
        let Some(combat) = def.combat.as_ref().filter(|c| c.kind != CombatKind::Resource) else { return false };
        let (done, taken) = sides(combat.kind);
        self.bars(spec, def, spec.target, taken, frozen) || self.bars(spec, def, spec.source, done, frozen)
    }

    /// Changes planned writes to what gets through, and plans what pools take.
    pub(crate) fn combat(
        &self,
        spec: &Spec,
        def: &Effect,
        writes: &mut Vec<Write>,
        frozen: Option<&Frozen>,
    ) -> Result<Vec<CombatWrite>, Refused> {
        let Some(combat) = &def.combat else { return Ok(Vec::new()) };
        if combat.kind == CombatKind::Resource {
            return self.resource_deltas(spec, def, writes, frozen).map(|()| Vec::new());
        }
        let ability = spec.ability.as_ref().map(|a| &self.abilities[a]);
        let sign = if combat.kind == CombatKind::Damage { -1.0 } else { 1.0 };
        let (done, taken) = sides(combat.kind);
        let mut combat_writes = Vec::new();
        let meant = writes.clone();
        for w in meant.iter().filter(|w| !w.overrides) {
            let raw = (w.result - w.start) * sign;
            if raw.is_nan() || raw <= 0.0 {
                continue;
            }
            let mut combat_event = self.combat_event(spec, def, Some(w.attribute.clone()), raw, frozen);
            let mut amount = raw;
            if self.rows.contains_key(&spec.source) || frozen.is_some() {
                amount = self.ruled(spec.source, done, amount, ability, Some(&combat_event));
            }
            if taken != done {
                combat_event.amount = amount;
                amount = self.ruled(spec.target, taken, amount, ability, Some(&combat_event));
            }
            if let Some(calc) = &combat.mitigation {
                amount = self.mitigated(calc, spec, frozen, amount)?.max(0.0);
            }
            if !amount.is_finite() {
                return Err("NonFinite");
            }
            let mut rest = amount;
            for pool in if sign < 0.0 { self.pools(spec.target, &w.attribute) } else { Vec::new() } {
                let node = (spec.target, pool.clone());
                let factor = self.factor(&node);
                let scale = if factor > 0.0 { factor } else { 1.0 };
                let planned = writes.iter().find(|o| o.attribute == pool).map_or(0.0, |o| (o.result - o.start) * scale);
                let shown = self.shown[&node];
                let take = (shown.current - shown.lo.max(0.0) + planned).min(rest);
                if take > 0.0 {
                    if !writes.iter().any(|o| o.attribute == pool) {
                        let start = self.write_start(&node);
                        writes.push(Write { attribute: pool.clone(), start, result: start, overrides: false });
                    }
                    writes.iter_mut().find(|o| o.attribute == pool).expect("just made").result -= take / scale;
                    rest -= take;
                }
            }
            let own = writes.iter_mut().find(|o| o.attribute == w.attribute).expect("it is one of them");
            // Its loss as a pool of another attribute is kept.
            own.result += w.start + sign * rest - w.result;
            let credit = frozen.map_or_else(|| self.credit(spec.source), |f| f.credit);
            let (attribute, absorbed) = (w.attribute.clone(), amount - rest);
            combat_writes.push(CombatWrite { attribute, credit, raw, absorbed, rest });
        }
        Ok(combat_writes)
    }

    /// The amount left after mitigation.
    fn mitigated(&self, calc: &str, spec: &Spec, frozen: Option<&Frozen>, amount: f64) -> Result<f64, Refused> {
        if calc == ARMOR {
            return Ok(amount * 0.75 - 1.0);
        }
        let text = self.calculations[calc].value.as_ref().expect("it has a value").text();
        let (source, target, set_by_caller) = (spec.source, spec.target, &spec.set_by_caller);
        let cx = Context { source, target, level: spec.level, set_by_caller, frozen };
        Ok(self.calculated(&[text], &cx, amount)?[0])
    }

    /// What settled writes came to.
    pub(crate) fn dealt(&self, target: u32, combat_writes: Vec<CombatWrite>) -> Vec<Dealt> {
        let left = |b: &CombatWrite| {
            let moved = (self.shown[&(target, b.attribute.clone())].base - self.starts[&b.attribute]).abs();
            (b.rest - moved).max(0.0)
        };
        combat_writes.into_iter().map(|b| (b.clone(), b.rest - left(&b), left(&b))).collect()
    }

    /// Pools before an attribute, by order, then by slot.
    fn pools(&self, who: u32, attribute: &str) -> Vec<String> {
        let slots = self.slots(who);
        let order = |a: &String| {
            let absorb = self.attribute(&(who, a.clone()))?.absorb.clone()?;
            (absorb.before == attribute && a != attribute).then_some(absorb.order)
        };
        let mut list: Vec<(i32, usize)> =
            slots.iter().enumerate().filter_map(|(slot, a)| Some((order(a)?, slot))).collect();
        list.sort_unstable();
        list.into_iter().map(|(_, slot)| slots[slot].clone()).collect()
    }

    /// The source, or the controller whose avatar owns it.
    pub(crate) fn credit(&self, source: u32) -> u32 {
        let Some(row) = self.rows.get(&source) else { return source };
        let Some(owner) = row.owner.filter(|_| row.owner != row.avatar) else { return source };
        let master = self.rows.iter().find(|(who, r)| **who != source && r.avatar == Some(owner));
        master.map_or(source, |(who, _)| *who)
    }

    pub(crate) fn damage_facts(&mut self, target: u32, def: &Effect, combat_writes: Vec<Dealt>) {
        let Some(combat) = &def.combat else { return };
        for (b, amount, overkill) in combat_writes {
            let text = format!("Damage {:?} {:?} credit {}", combat.kind, combat.style, b.credit);
            self.emit_with(target, text, vec![amount, b.raw, b.absorbed, overkill]);
            if combat.kind == CombatKind::Damage {
                self.damage_event("Event.Damage.Taken", target, b.credit, amount);
                self.damage_event("Event.Damage.Dealt", b.credit, target, amount);
            }
        }
    }

    /// Only if an ability listens to the event.
    fn damage_event(&mut self, tag: &str, target: u32, instigator: u32, magnitude: f64) {
        let Some(row) = self.rows.get(&target) else { return };
        let waits = row.play.tasks.iter().any(|t| t.task.kind == "WaitGameplayEvent" && !t.closed);
        let triggered = |g: &super::play::Grant| self.abilities[&g.ability].triggers.iter().any(|t| t.event.is_some());
        if waits || row.grants.iter().any(triggered) {
            let _ = self.send(target, Event { tag: tag.to_owned(), instigator, magnitude });
        }
    }
}
