//! Compiled combat rules of an effect, and what marks its writes as damage, healing or threat.

use super::compile::Compiler;
use super::expr::Expr;
use super::lookup::suggestion;
use super::names::nearest;
use super::scope::Scope;
use crate::{AbilityId, AttributeId, CalcId, TagId};
use ugas_doc::{CombatKind, CombatRule, CombatStyle, DurationPolicy, Effect, ModifyOperation};

/// What a combat rule acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RuleOn {
    CastLength,
    GlobalCooldown,
    CooldownLength,
    ResourceCost,
    MaxCharges,
    ChargeCost,
    ChargesPerCooldown,
    ResourceDelta,
    StatValue,
    DamageDone,
    DamageTaken,
    HealingDone,
    HealingTaken,
    Threat,
    AbilityUse,
    Interrupt,
    BuffApplied,
    /// An event by its tag, hierarchical.
    Event(TagId),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RuleWhat {
    Add(f64),
    Factor(f64),
    Restrict,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RuleDef {
    pub(crate) on: RuleOn,
    /// Only these abilities; empty: any.
    pub(crate) abilities: Box<[AbilityId]>,
    /// Only abilities with any of these tags, hierarchical; empty: any.
    pub(crate) tags: Box<[TagId]>,
    pub(crate) attribute: Option<AttributeId>,
    pub(crate) when: Option<Expr>,
    pub(crate) what: RuleWhat,
    /// Whether the effect's stacks multiply it.
    pub(crate) stacks: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CombatDef {
    pub(crate) kind: CombatKind,
    pub(crate) style: CombatStyle,
    pub(crate) school: Option<TagId>,
    pub(crate) mitigation: Option<CalcId>,
}

const NAMES: [(&str, RuleOn); 17] = [
    ("CastLength", RuleOn::CastLength),
    ("GlobalCooldown", RuleOn::GlobalCooldown),
    ("CooldownLength", RuleOn::CooldownLength),
    ("ResourceCost", RuleOn::ResourceCost),
    ("MaxCharges", RuleOn::MaxCharges),
    ("ChargeCost", RuleOn::ChargeCost),
    ("ChargesPerCooldown", RuleOn::ChargesPerCooldown),
    ("ResourceDelta", RuleOn::ResourceDelta),
    ("StatValue", RuleOn::StatValue),
    ("DamageDone", RuleOn::DamageDone),
    ("DamageTaken", RuleOn::DamageTaken),
    ("HealingDone", RuleOn::HealingDone),
    ("HealingTaken", RuleOn::HealingTaken),
    ("Threat", RuleOn::Threat),
    ("AbilityUse", RuleOn::AbilityUse),
    ("Interrupt", RuleOn::Interrupt),
    ("BuffApplied", RuleOn::BuffApplied),
];

impl RuleOn {
    /// Values that must be computable without an event, so that no `When` may hang on one.
    fn is_unconditional(self) -> bool {
        use RuleOn::{AbilityUse, ChargeCost, ChargesPerCooldown, MaxCharges, ResourceCost};
        matches!(self, MaxCharges | ChargeCost | ResourceCost | ChargesPerCooldown | AbilityUse)
    }

    /// Not values but permissions.
    fn is_permission(self) -> bool {
        matches!(self, RuleOn::AbilityUse | RuleOn::Interrupt | RuleOn::BuffApplied)
    }
}

impl Compiler<'_> {
    pub(crate) fn combat_rules(&mut self, doc: &Effect) -> Box<[RuleDef]> {
        if !doc.rules.is_empty() && doc.duration_policy == DurationPolicy::Instant {
            self.warn("unused-field", "Rules are not used by Instant".into());
            return Box::default();
        }
        doc.rules.iter().enumerate().filter_map(|(i, r)| self.combat_rule(&format!("Rules[{i}]"), r)).collect()
    }

    fn combat_rule(&mut self, place: &str, r: &CombatRule) -> Option<RuleDef> {
        let on = self.rule_on(place, &r.on);
        let abilities = r.abilities.iter().filter_map(|a| self.ability_ref(place, a)).collect();
        let tags = self.tag_list(&r.ability_tags);
        let attribute = match &r.attribute {
            Some(name) => Some(self.attribute_ref(place, name)?),
            None => None,
        };
        let when = match &r.when {
            Some(text) => Some(self.expression_in(&format!("{place}.When"), text, Scope::RULE)?),
            None => None,
        };
        let what = self.rule_what(place, r);
        let on = on?;
        if when.is_some() && on.is_unconditional() {
            let message = format!("{place}.When: {} must be known without an event; remove When", r.on);
            self.error("conditional-value", message);
        }
        if on.is_permission() && what.is_some_and(|w| w != RuleWhat::Restrict) {
            self.error("bad-rule", format!("{place}.Modify: {} is not a number; write Restrict: true", r.on));
        }
        Some(RuleDef { on, abilities, tags, attribute, when, what: what?, stacks: r.stacks })
    }

    fn rule_on(&mut self, place: &str, name: &str) -> Option<RuleOn> {
        if let Some((_, on)) = NAMES.iter().find(|(n, _)| *n == name) {
            return Some(*on);
        }
        // A tag has a dot; a single word is a slip of one of the names.
        if name.contains('.') {
            return self.tag(name).map(RuleOn::Event);
        }
        let near = suggestion(nearest(name, NAMES.iter().map(|(n, _)| *n)));
        let known = NAMES.map(|(n, _)| n).join(", ");
        let help = if near.is_empty() { format!("; those are {known}, or the tag of an event") } else { near };
        self.error("bad-rule", format!("{place}.On: unknown value or event {name}{help}"));
        None
    }

    fn rule_what(&mut self, place: &str, r: &CombatRule) -> Option<RuleWhat> {
        let bad = |c: &mut Self, why: &str| {
            c.error("bad-rule", format!("{place}: {why}"));
            None
        };
        match (&r.modify, r.restrict) {
            (None, true) => Some(RuleWhat::Restrict),
            (Some(m), false) => match (m.operation, m.value, m.factor) {
                (ModifyOperation::Add, Some(v), None) if v.is_finite() => Some(RuleWhat::Add(v)),
                (ModifyOperation::Multiply, None, Some(f)) if f.is_finite() => Some(RuleWhat::Factor(f)),
                (ModifyOperation::Add, ..) => bad(self, "Modify: Add takes a finite Value and nothing else"),
                (ModifyOperation::Multiply, ..) => bad(self, "Modify: Multiply takes a finite Factor and nothing else"),
            },
            _ => bad(self, "takes either Modify or Restrict: true"),
        }
    }

    pub(crate) fn combat(&mut self, doc: &Effect) -> Option<CombatDef> {
        let c = doc.combat.as_ref()?;
        Some(CombatDef {
            kind: c.kind,
            style: c.style,
            school: c.school.as_ref().and_then(|tag| self.tag(tag)),
            mitigation: c.mitigation.as_ref().and_then(|name| self.calc_ref("Combat.Mitigation", name, &[])),
        })
    }
}
