//! Values that combat rules change: additive rules are summed, factors are multiplied, and the result is at least zero.
//!
//! The formula is `max(0, max(0, base + Σ add·stacks) · Π max(0, (factor − 1)·stacks + 1))`. `stacks` is the stack
//! count of the effect that has the rule, or 1 if the rule does not depend on stacks. Terms are combined in order of
//! size, so that the result does not depend on the order of application.

use super::super::{Flow, View};
use crate::rules::{
    AbilityDef, Bearer, CombatChange, CombatCx, EffectDef, Local, Reads, RuleDef, RuleOn, RuleWhat, ScaleDef, Side,
    StaticMask,
};
use crate::state::{Effect, Frozen, FrozenEffect};
use crate::{AbilityId, AttributeId, ControllerId, HookId, KeyId, SimTime, TagId};
use ugas_doc::CombatStyle;

/// The event that a conditional rule reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CombatEvent<'e> {
    /// The effect's tags, the effect's damage school and the ability's tags.
    pub(crate) tags: &'e [TagId],
    pub(crate) amount: f64,
    pub(crate) style: CombatStyle,
    pub(crate) source: ControllerId,
    pub(crate) target: ControllerId,
    pub(crate) attribute: Option<AttributeId>,
    /// The last values and tags of the source, if the source left the sim.
    pub(crate) frozen: Option<&'e Frozen>,
}

/// The controller whose rules apply.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RuleHolder<'f> {
    Row(usize),
    /// A source that left the sim, or a source as a replay's journal recorded it. Effects on other controllers keep the
    /// combat rules that the source had immediately before it left.
    Frozen(&'f Frozen),
}

/// A value after combat rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuledValue {
    pub(crate) value: f64,
    /// Whether a rule or the function of a rule forbids the event.
    pub(crate) is_restricted: bool,
}

/// The active effect that a rule belongs to.
#[derive(Clone, Copy, Debug)]
enum RuleEffect<'e> {
    Row(usize, &'e Effect),
    Frozen(&'e Frozen, &'e FrozenEffect),
}

impl RuleEffect<'_> {
    fn level(self) -> u32 {
        match self {
            RuleEffect::Row(_, e) => e.level(),
            RuleEffect::Frozen(_, e) => e.level,
        }
    }
    fn stacks(self) -> u32 {
        match self {
            RuleEffect::Row(_, e) => e.stacks(),
            RuleEffect::Frozen(_, e) => e.stacks,
        }
    }
    fn set_by_caller(&self) -> &[(KeyId, f64)] {
        match self {
            RuleEffect::Row(_, e) => e.extra().map_or(&[], |x| &x.set_by_caller),
            RuleEffect::Frozen(_, e) => &e.set_by_caller,
        }
    }
}

impl View<'_> {
    /// Returns a value after the combat rules of a row's active effects.
    pub(crate) fn combat_value(
        &self,
        slot: usize,
        on: RuleOn,
        base: f64,
        ability: Option<&AbilityDef>,
        event: Option<&CombatEvent<'_>>,
    ) -> f64 {
        self.ruled_value(RuleHolder::Row(slot), on, base, ability, event).value
    }

    /// Returns a value after the rules of a controller.
    pub(crate) fn ruled_value(
        &self,
        holder: RuleHolder<'_>,
        on: RuleOn,
        base: f64,
        ability: Option<&AbilityDef>,
        event: Option<&CombatEvent<'_>>,
    ) -> RuledValue {
        let fixed = fixed_by(on).is_some_and(|mask| ability.is_some_and(|a| a.fixed.has(mask)));
        if fixed {
            return RuledValue { value: held(base), is_restricted: false };
        }
        let (mut adds, mut factors, mut is_restricted) = (Vec::new(), Vec::new(), false);
        self.each_rule(holder, on, ability, event, true, &mut |what, stacks| {
            match what {
                RuleWhat::Add(v) => adds.push(v * stacks),
                RuleWhat::Factor(f) => factors.push(((f - 1.0) * stacks + 1.0).max(0.0)),
                RuleWhat::Restrict => is_restricted = true,
                RuleWhat::Function(_) => {}
            }
            false
        });
        self.each_scale(holder, on, ability, &mut |factor| factors.push(factor));
        RuledValue { value: combine(base, &mut adds, &mut factors), is_restricted }
    }

    /// Calls `each` with the current value of every stat of a controller that multiplies a combat value.
    fn each_scale(&self, holder: RuleHolder<'_>, on: RuleOn, ability: Option<&AbilityDef>, each: &mut dyn FnMut(f64)) {
        let is_meant = |scale: &ScaleDef| scale.on == on && self.selects(&scale.abilities, &scale.tags, ability);
        match holder {
            RuleHolder::Row(row) => {
                let attrs = &self.row(row).attrs;
                let scales = self.layout(row).scales.iter().filter(|s| is_meant(&s.scale));
                scales.for_each(|s| each(attrs[s.slot as usize].current));
            }
            RuleHolder::Frozen(frozen) => {
                let scales = self.rules.scales_of(|stat| frozen.value(stat).is_some());
                let scales = scales.into_iter().filter(|(_, scale)| is_meant(scale));
                scales.filter_map(|(stat, _)| frozen.value(stat)).for_each(each);
            }
        }
    }

    /// Returns a duration after combat rules.
    pub(crate) fn combat_time(&self, slot: usize, on: RuleOn, seconds: f64, ability: &AbilityDef) -> SimTime {
        let value = self.combat_value(slot, on, seconds, Some(ability), None);
        SimTime::try_seconds(value).unwrap_or(SimTime::LONGEST)
    }

    /// Returns a count after combat rules. The result is rounded to the nearest integer and is at least `least`.
    pub(crate) fn combat_count(&self, slot: usize, on: RuleOn, base: u32, ability: &AbilityDef, least: u32) -> u32 {
        let value = self.combat_value(slot, on, base as f64, Some(ability), None);
        // `as` saturates.
        (value.round() as u32).max(least)
    }

    /// Returns whether an active effect of a row has combat rules, or a stat of the row multiplies combat values.
    pub(crate) fn has_rules(&self, slot: usize) -> bool {
        !self.layout(slot).scales.is_empty()
            || self.row(slot).effects.iter().any(|e| self.def(e.def).is_some_and(|d| !d.rules.is_empty()))
    }

    /// Calls `each` with what every matching rule does and how often it counts (the stacks of its effect, or 1), until
    /// `each` returns true. Returns whether `each` returned true. If `calls` is true, each matching function is called
    /// once and `each` gets its result; otherwise functions are skipped.
    pub(crate) fn each_rule(
        &self,
        holder: RuleHolder<'_>,
        on: RuleOn,
        ability: Option<&AbilityDef>,
        event: Option<&CombatEvent<'_>>,
        calls: bool,
        each: &mut dyn FnMut(RuleWhat, f64) -> bool,
    ) -> bool {
        let mut any = |effect: RuleEffect<'_>, def: &EffectDef| {
            def.rules.iter().filter(|r| self.is_about(r.on, on)).any(|rule| {
                let holds = |when| {
                    let mut reads = RuleReads { view: *self, effect, event };
                    let own = reads.own();
                    self.holds(when, &mut reads, own, def.id)
                };
                if !self.concerns(rule, ability, event) || !rule.when.as_ref().is_none_or(holds) {
                    return false;
                }
                let what = match rule.what {
                    RuleWhat::Function(_) if !calls => None,
                    // Checked before the calculation, where the amount is not known yet.
                    RuleWhat::Restrict if calls && !on.restricts_amounts() => None,
                    RuleWhat::Function(function) => self.call_function(function, effect, ability, event),
                    RuleWhat::Add(_) | RuleWhat::Factor(_) | RuleWhat::Restrict => Some(rule.what),
                };
                let stacks = if rule.stacks { effect.stacks() as f64 } else { 1.0 };
                what.is_some_and(|what| each(what, stacks))
            })
        };
        match holder {
            RuleHolder::Row(slot) => {
                let mut active = self.row(slot).effects.iter().filter(|e| !e.inhibited());
                active.any(|e| self.def(e.def).is_some_and(|def| any(RuleEffect::Row(slot, e), &def)))
            }
            RuleHolder::Frozen(frozen) => {
                let mut active = frozen.effects.iter();
                active.any(|e| self.def(e.def).is_some_and(|def| any(RuleEffect::Frozen(frozen, e), &def)))
            }
        }
    }

    /// Calls the function of a rule. Returns `None` if the function does nothing about the event.
    fn call_function(
        &self,
        function: HookId,
        effect: RuleEffect<'_>,
        ability: Option<&AbilityDef>,
        event: Option<&CombatEvent<'_>>,
    ) -> Option<RuleWhat> {
        let function = self.rules.hooks.combat.get(&function)?;
        let mut reads = RuleReads { view: *self, effect, event };
        let (source, target) = (reads.source().some(), reads.target());
        let change = (function.decide)(&mut CombatCx {
            rules: self.rules,
            reads: &mut reads,
            declared: &function.declared,
            amount: event.map_or(0.0, |e| e.amount),
            style: event.map_or_else(CombatStyle::default, |e| e.style),
            source,
            target,
            attribute: event.and_then(|e| e.attribute),
            ability: ability.map(|a| a.id),
            level: effect.level(),
            stacks: effect.stacks(),
        });
        match change {
            CombatChange::Add(value) if value.is_finite() => Some(RuleWhat::Add(value)),
            CombatChange::Factor(factor) if factor.is_finite() => Some(RuleWhat::Factor(factor)),
            CombatChange::Restrict => Some(RuleWhat::Restrict),
            CombatChange::None | CombatChange::Add(_) | CombatChange::Factor(_) => None,
        }
    }

    /// Returns whether a rule of kind `rule` applies to the kind `on`. A rule for an event tag also applies to
    /// descendants of the tag. All other kinds must be equal.
    fn is_about(&self, rule: RuleOn, on: RuleOn) -> bool {
        match (rule, on) {
            (RuleOn::Event(of), RuleOn::Event(tag)) => self.rules.tags.is_under(tag, of),
            (rule, on) => rule == on,
        }
    }

    /// Returns whether a rule or stat that names abilities and tags of abilities is about an ability.
    fn selects(&self, abilities: &[AbilityId], tags: &[TagId], ability: Option<&AbilityDef>) -> bool {
        let under = |t: &TagId| tags.iter().any(|&of| self.rules.tags.is_under(*t, of));
        (abilities.is_empty() || ability.is_some_and(|a| abilities.contains(&a.id)))
            && (tags.is_empty() || ability.is_some_and(|a| a.tags.iter().any(under)))
    }

    fn concerns(&self, rule: &RuleDef, ability: Option<&AbilityDef>, event: Option<&CombatEvent<'_>>) -> bool {
        self.selects(&rule.abilities, &rule.tags, ability)
            && rule.attribute.is_none_or(|a| event.is_some_and(|e| e.attribute == Some(a)))
    }
}

impl Flow<'_> {
    /// Returns a duration after combat rules.
    pub(crate) fn combat_time(&self, slot: usize, on: RuleOn, seconds: f64, ability: &AbilityDef) -> SimTime {
        self.view().combat_time(slot, on, seconds, ability)
    }
}

/// Returns the flag with which an ability excludes a value from combat rules.
fn fixed_by(on: RuleOn) -> Option<StaticMask> {
    match on {
        RuleOn::CastLength => Some(StaticMask::CAST_LENGTH),
        RuleOn::GlobalCooldown => Some(StaticMask::GLOBAL_COOLDOWN),
        RuleOn::CooldownLength => Some(StaticMask::COOLDOWN),
        RuleOn::ResourceCost => Some(StaticMask::COST),
        RuleOn::MaxCharges => Some(StaticMask::MAX_CHARGES),
        RuleOn::ChargeCost => Some(StaticMask::CHARGE_COST),
        RuleOn::ChargesPerCooldown => Some(StaticMask::CHARGES_PER_COOLDOWN),
        RuleOn::DamageDone
        | RuleOn::DamageTaken
        | RuleOn::HealingDone
        | RuleOn::HealingTaken
        | RuleOn::Threat
        | RuleOn::AbilityUse
        | RuleOn::Interrupt
        | RuleOn::BuffApplied
        | RuleOn::ResourceDelta
        | RuleOn::Event(_) => None,
    }
}

fn combine(base: f64, adds: &mut [f64], factors: &mut [f64]) -> f64 {
    adds.sort_by(f64::total_cmp);
    factors.sort_by(f64::total_cmp);
    let sum: f64 = adds.iter().sum();
    let product: f64 = factors.iter().product();
    held(held(base + sum) * product)
}

/// Clamps a number to the range from zero to the largest finite number. NaN becomes zero.
fn held(v: f64) -> f64 {
    if v > 0.0 { v.min(f64::MAX) } else { 0.0 }
}

/// The values that the `When` condition of a rule reads.
struct RuleReads<'r> {
    view: View<'r>,
    effect: RuleEffect<'r>,
    event: Option<&'r CombatEvent<'r>>,
}

impl RuleReads<'_> {
    /// Returns the controller that has the rule. If that controller left the sim, it is the source of the event.
    fn own(&self) -> ControllerId {
        match self.effect {
            RuleEffect::Row(slot, _) => self.view.row(slot).id,
            RuleEffect::Frozen(..) => self.event.map_or(ControllerId::NONE, |e| e.source),
        }
    }
    fn source(&self) -> ControllerId {
        match (self.event, self.effect) {
            (Some(event), _) => event.source,
            (None, RuleEffect::Row(_, e)) => e.source,
            (None, RuleEffect::Frozen(..)) => ControllerId::NONE,
        }
    }
    /// Returns the last values of the source, if the source left the sim.
    fn frozen(&self) -> Option<&Frozen> {
        match (self.event, self.effect) {
            (Some(event), _) => event.frozen,
            (None, RuleEffect::Row(_, e)) => self.view.frozen_source(e),
            (None, RuleEffect::Frozen(frozen, _)) => Some(frozen),
        }
    }
    fn target(&self) -> ControllerId {
        self.event.map_or(self.own(), |e| e.target)
    }
    fn style(&self, style: CombatStyle) -> Option<f64> {
        self.event.map(|e| (e.style == style) as u32 as f64)
    }
}

impl Reads for RuleReads<'_> {
    fn attribute(&mut self, side: Side, attribute: AttributeId) -> Option<f64> {
        let who = match side {
            Side::Own => match self.effect {
                RuleEffect::Row(..) => self.own(),
                RuleEffect::Frozen(frozen, _) => return frozen.value(attribute),
            },
            Side::Source => match self.frozen() {
                Some(frozen) => return frozen.value(attribute),
                None => self.source(),
            },
            Side::Target => self.target(),
        };
        self.view.current_of(who, attribute)
    }

    fn tag(&mut self, bearer: Bearer, tag: TagId) -> Option<bool> {
        let who = match bearer {
            Bearer::Own => {
                return Some(match self.effect {
                    RuleEffect::Row(slot, _) => self.view.has(slot, tag),
                    RuleEffect::Frozen(frozen, _) => frozen.has(&self.view.rules.tags, tag),
                });
            }
            Bearer::Source => match self.frozen() {
                Some(frozen) => return Some(frozen.has(&self.view.rules.tags, tag)),
                None => self.source(),
            },
            Bearer::Target => self.target(),
            Bearer::Hit => return None,
            Bearer::Event => {
                let tags = &self.view.rules.tags;
                return Some(self.event?.tags.iter().any(|&t| tags.is_under(t, tag)));
            }
        };
        Some(self.view.source_has(who, tag))
    }

    fn local(&mut self, local: Local) -> Option<f64> {
        match local {
            Local::Level => Some(self.effect.level() as f64),
            Local::Stacks => Some(self.effect.stacks() as f64),
            Local::Caller(key) => {
                let list = self.effect.set_by_caller();
                list.binary_search_by_key(&key, |v| v.0).ok().map(|at| list[at].1)
            }
            Local::Magnitude | Local::Amount => self.event.map(|e| e.amount),
            Local::Direct => self.style(CombatStyle::Direct),
            Local::Periodic => self.style(CombatStyle::Periodic),
            Local::Area => self.style(CombatStyle::Area),
            Local::TargetDistance => self.view.source_distance(self.source(), self.frozen(), self.target()),
            Local::Param(_) | Local::Tick | Local::Held | Local::Found => None,
            Local::Distance | Local::Bound(_) | Local::Given(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(f: f64, stacks: f64) -> f64 {
        ((f - 1.0) * stacks + 1.0).max(0.0)
    }

    // covers: SAI-1.1-05
    #[test]
    fn the_worked_example_casts_in_five_point_two_seconds() {
        let cast = combine(5.0, &mut [0.5 * 3.0], &mut [factor(0.9, 2.0)]);
        assert_eq!(SimTime::seconds(cast), SimTime::seconds(5.2));
    }

    // covers: SAI-1.1-06
    #[test]
    fn a_static_value_ignores_rules_and_is_clamped_at_zero() {
        use crate::{Rules, Sim, SimConfig, SpawnSpec, Spec};
        use ugas_doc::{Ability, Attribute, AttributeSet, CombatRule, Effect, Modify, ModifyOperation, Stacking};
        let rule = |operation, value, factor| CombatRule {
            on: "CastLength".to_owned(),
            modify: Some(Modify { operation, value, factor }),
            stacks: true,
            ..CombatRule::default()
        };
        let mut slow = Effect::infinite("GE_Slow").stacking(Stacking { limit: Some(5), ..Stacking::default() });
        slow.rules.push(rule(ModifyOperation::Add, Some(0.5), None));
        let mut quick = Effect::infinite("GE_Quick").stacking(Stacking { limit: Some(5), ..Stacking::default() });
        quick.rules.push(rule(ModifyOperation::Multiply, None, Some(0.9)));
        let mut fixed = Ability::new("GA_Fixed");
        fixed.static_values.push("CastLength".to_owned());
        let rules = Rules::builder()
            .add(AttributeSet::new("S").with(Attribute::new("Health", 1.0)))
            .add(slow)
            .add(quick)
            .add(fixed)
            .add(Ability::new("GA_Free"))
            .build()
            .unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
        for (effect, stacks) in [("GE_Slow", 3), ("GE_Quick", 2)] {
            sim.apply(&Spec::new(rules.effect(effect).unwrap(), who).stacks(stacks)).unwrap();
        }
        let value = |ability: &str, base: f64| {
            let view = sim.view();
            let def = view.ability(rules.ability(ability).unwrap()).unwrap();
            view.combat_value(0, RuleOn::CastLength, base, Some(&def), None)
        };
        assert!((value("GA_Free", 5.0) - 5.2).abs() < 1e-12, "the rules are there");
        assert_eq!((value("GA_Fixed", 5.0), value("GA_Fixed", -1.0)), (5.0, 0.0));
    }

    #[test]
    fn sums_and_factors_are_clamped_at_zero() {
        assert_eq!(combine(5.0, &mut [-8.0], &mut [2.0]), 0.0);
        assert_eq!(combine(5.0, &mut [], &mut [factor(0.4, 3.0)]), 0.0);
        assert_eq!(combine(-1.0, &mut [], &mut []), 0.0);
        assert_eq!(combine(1.0, &mut [1.5, 1.0], &mut []), 3.5);
    }

    #[test]
    fn the_order_does_not_matter_and_results_stay_finite() {
        let (a, b) = ([0.1, 0.7, 1e-9, 3.3], [3.3, 1e-9, 0.7, 0.1]);
        let value = |mut l: [f64; 4]| combine(0.3, &mut l.clone(), &mut l);
        assert_eq!(value(a).to_bits(), value(b).to_bits());
        assert_eq!(combine(f64::NAN, &mut [], &mut []), 0.0);
        assert_eq!(combine(1e300, &mut [], &mut [1e300]), f64::MAX);
        assert_eq!(combine(0.0, &mut [], &mut [f64::INFINITY]), 0.0);
    }
}
