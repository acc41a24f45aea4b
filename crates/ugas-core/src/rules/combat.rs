//! Compiled combat rules of an effect, and the compiled field `Combat`, which declares that the effect's writes are
//! damage, healing, threat or changes of a resource.

use super::compile::Compiler;
use super::expr::Expr;
use super::interner::nearest;
use super::lookup::suggestion;
use super::scope::Scope;
use crate::{AbilityId, AttributeId, CalcId, HookId, TagId};
use ugas_doc::{CombatKind, CombatRule, CombatStyle, DurationPolicy, Effect, ModifyOperation};

/// The value or event that a combat rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RuleOn {
    CastLength,
    GlobalCooldown,
    CooldownLength,
    ResourceCost,
    MaxCharges,
    ChargeCost,
    ChargesPerCooldown,
    DamageDone,
    DamageTaken,
    HealingDone,
    HealingTaken,
    Threat,
    AbilityUse,
    Interrupt,
    BuffApplied,
    ResourceDelta,
    /// An event with this tag or a descendant of it.
    Event(TagId),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RuleWhat {
    Add(f64),
    Factor(f64),
    Restrict,
    /// A function of the host decides for each event.
    Function(HookId),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RuleDef {
    pub(crate) on: RuleOn,
    /// The abilities that the rule applies to. Empty for all abilities.
    pub(crate) abilities: Box<[AbilityId]>,
    /// Tags of the abilities that the rule applies to. A descendant of a tag matches too. Empty for all abilities.
    pub(crate) tags: Box<[TagId]>,
    pub(crate) attribute: Option<AttributeId>,
    pub(crate) when: Option<Expr>,
    pub(crate) what: RuleWhat,
    /// Whether the effect's stacks multiply the value.
    pub(crate) stacks: bool,
}

/// The combat value that a stat multiplies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScaleDef {
    pub(crate) on: RuleOn,
    /// The abilities for which the stat counts. Empty for all abilities.
    pub(crate) abilities: Box<[AbilityId]>,
    /// Tags of the abilities for which the stat counts. A descendant of a tag matches too. Empty for all abilities.
    pub(crate) tags: Box<[TagId]>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CombatDef {
    pub(crate) kind: CombatKind,
    pub(crate) style: CombatStyle,
    pub(crate) school: Option<TagId>,
    pub(crate) mitigation: Option<CalcId>,
}

const NAMES: [(&str, RuleOn); 16] = [
    ("CastLength", RuleOn::CastLength),
    ("GlobalCooldown", RuleOn::GlobalCooldown),
    ("CooldownLength", RuleOn::CooldownLength),
    ("ResourceCost", RuleOn::ResourceCost),
    ("MaxCharges", RuleOn::MaxCharges),
    ("ChargeCost", RuleOn::ChargeCost),
    ("ChargesPerCooldown", RuleOn::ChargesPerCooldown),
    ("DamageDone", RuleOn::DamageDone),
    ("DamageTaken", RuleOn::DamageTaken),
    ("HealingDone", RuleOn::HealingDone),
    ("HealingTaken", RuleOn::HealingTaken),
    ("Threat", RuleOn::Threat),
    ("AbilityUse", RuleOn::AbilityUse),
    ("Interrupt", RuleOn::Interrupt),
    ("BuffApplied", RuleOn::BuffApplied),
    ("ResourceDelta", RuleOn::ResourceDelta),
];

impl RuleOn {
    /// Returns whether the value is needed without an event, so that `When` is not allowed.
    fn is_unconditional(self) -> bool {
        use RuleOn::{AbilityUse, ChargeCost, ChargesPerCooldown, MaxCharges, ResourceCost};
        matches!(self, MaxCharges | ChargeCost | ResourceCost | ChargesPerCooldown | AbilityUse)
    }

    /// Returns whether the amount is written to one attribute, so that a rule may select that attribute.
    fn has_attribute(self) -> bool {
        use RuleOn::{DamageDone, DamageTaken, HealingDone, HealingTaken, ResourceDelta, Threat};
        matches!(self, DamageDone | DamageTaken | HealingDone | HealingTaken | ResourceDelta | Threat)
    }

    /// Returns whether restrictions are evaluated where they can read the amount: permissions, which have none, and
    /// changes of a resource.
    pub(crate) fn restricts_amounts(self) -> bool {
        self.is_permission() || self == RuleOn::ResourceDelta
    }

    /// Returns the combat value of a name, if a stat can multiply it.
    pub(crate) fn scaled(name: &str) -> Option<RuleOn> {
        NAMES.iter().find(|(n, on)| *n == name && !on.is_permission()).map(|(_, on)| *on)
    }

    /// Returns the names of the combat values that a stat can multiply.
    pub(crate) fn scaled_names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().filter(|(_, on)| !on.is_permission()).map(|(name, _)| *name)
    }

    /// Returns whether the rule allows or forbids something, as opposed to changing a value.
    pub(crate) fn is_permission(self) -> bool {
        matches!(self, RuleOn::AbilityUse | RuleOn::Interrupt | RuleOn::BuffApplied)
    }
}

impl Compiler<'_> {
    pub(crate) fn combat_rules(&mut self, doc: &Effect) -> Box<[RuleDef]> {
        if !doc.rules.is_empty() && doc.duration_policy == DurationPolicy::Instant {
            self.warn(
                "unused-field",
                "Rules: an Instant effect does not use combat rules; remove Rules or change DurationPolicy".into(),
            );
            return Box::default();
        }
        doc.rules.iter().enumerate().filter_map(|(i, r)| self.combat_rule(&format!("Rules[{i}]"), r)).collect()
    }

    fn combat_rule(&mut self, place: &str, r: &CombatRule) -> Option<RuleDef> {
        if r.on == "StatValue" {
            self.refuse_stat_rule(place, r);
            return None;
        }
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
        if r.function.is_some() && on.is_unconditional() {
            let message = format!("{place}.Function: {} must be known without an event; use Modify or Restrict", r.on);
            self.error("conditional-value", message);
        }
        if on.is_permission() && what.is_some_and(|w| matches!(w, RuleWhat::Add(_) | RuleWhat::Factor(_))) {
            self.error("bad-rule", format!("{place}.Modify: {} is not a number; write Restrict: true", r.on));
        }
        let what = what?;
        if attribute.is_some() && !(on.has_attribute() && what != RuleWhat::Restrict) {
            let uses = "only a change of damage, healing, threat or a resource uses an attribute";
            self.error("bad-rule", format!("{place}.Attribute: {uses}; remove Attribute"));
        }
        if r.stacks && what == RuleWhat::Restrict {
            self.error(
                "bad-rule",
                format!("{place}.Stacks: the number of stacks does not change a restriction; remove Stacks"),
            );
        }
        Some(RuleDef { on, abilities, tags, attribute, when, what, stacks: r.stacks })
    }

    /// Reports a rule about a stat, with the modifier to write instead.
    fn refuse_stat_rule(&mut self, place: &str, r: &CombatRule) {
        let attribute = r.attribute.as_deref().unwrap_or("Stat.Name");
        let (operation, magnitude) = match r.modify {
            Some(m) if m.operation == ModifyOperation::Multiply => ("Multiply", m.factor.unwrap_or(1.0) - 1.0),
            Some(m) => ("Add", m.value.unwrap_or(0.0)),
            None => ("Override", 0.0),
        };
        let message = format!(
            "{place}.On: combat rules do not change stats; remove the rule and add the modifier {{Attribute: {attribute}, \
             Operation: {operation}, Magnitude: {{Type: ScalableFloat, Value: {magnitude}}}}}"
        );
        self.error("stat-by-rule", message);
    }

    fn rule_on(&mut self, place: &str, name: &str) -> Option<RuleOn> {
        if let Some((_, on)) = NAMES.iter().find(|(n, _)| *n == name) {
            return Some(*on);
        }
        // A tag has a dot; a single word is a misspelt keyword.
        if name.contains('.') {
            return self.tag(name).map(RuleOn::Event);
        }
        let near = suggestion(nearest(name, NAMES.iter().map(|(n, _)| *n)));
        let known = NAMES.map(|(n, _)| n).join(", ");
        let help = if near.is_empty() { format!("; write one of {known}, or the tag of an event") } else { near };
        self.error("bad-rule", format!("{place}.On: unknown value or event {name}{help}"));
        None
    }

    fn rule_what(&mut self, place: &str, r: &CombatRule) -> Option<RuleWhat> {
        let bad = |c: &mut Self, why: &str| {
            c.error("bad-rule", format!("{place}: {why}"));
            None
        };
        if let Some(name) = &r.function {
            if r.modify.is_some() || r.restrict {
                return bad(self, "found Function and Modify or Restrict; write one of them");
            }
            return self.combat_function(place, name).map(RuleWhat::Function);
        }
        match (&r.modify, r.restrict) {
            (None, true) => Some(RuleWhat::Restrict),
            (Some(m), false) => match (m.operation, m.value, m.factor) {
                (ModifyOperation::Add, Some(v), None) if v.is_finite() => Some(RuleWhat::Add(v)),
                (ModifyOperation::Multiply, None, Some(f)) if f.is_finite() => Some(RuleWhat::Factor(f)),
                (ModifyOperation::Add, ..) => bad(self, "Modify: Operation is Add; write a finite Value and no Factor"),
                (ModifyOperation::Multiply, ..) => {
                    bad(self, "Modify: Operation is Multiply; write a finite Factor and no Value")
                }
            },
            (Some(_), true) => bad(self, "found both Modify and Restrict: true; remove one of them"),
            (None, false) => bad(self, "found none of Modify, Restrict: true and Function; add one of them"),
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
