//! Compiled effects: names are replaced with ids, magnitudes are a small enum, and flags select the fast paths.

use super::combat::{CombatDef, RuleDef, RuleOn, RuleWhat};
use super::compiled::CompiledText;
use super::expr::Expr;
use super::magnitude::Mag;
use crate::flow::Trigger;
use crate::state::ModOp;
use crate::{AbilityId, AttributeId, CalcId, ChannelId, EffectId, HookId, InputId, SimTime, TagId};
use std::sync::Arc;
use ugas_doc::{
    DurationPolicy, ExecutionPolicy, OnExpire, OnOngoingFail, OnStack, Operation, Origin, PeriodInhibition,
    PeriodOnStack, StackBy, Value,
};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModDef {
    pub(crate) attribute: AttributeId,
    pub(crate) op: Operation,
    pub(crate) magnitude: Mag,
    pub(crate) channel: ChannelId,
    pub(crate) channel_name: Option<Arc<str>>,
    pub(crate) source_tags: Box<[TagId]>,
    pub(crate) target_tags: Box<[TagId]>,
}

impl ModDef {
    pub(crate) fn is_filtered(&self) -> bool {
        !self.source_tags.is_empty() || !self.target_tags.is_empty()
    }

    /// Returns whether the magnitude is a constant.
    fn is_plain(&self) -> bool {
        let ModDef { attribute: _, op: _, magnitude, channel: _, channel_name: _, source_tags, target_tags } = self;
        magnitude.constant().is_some() && source_tags.is_empty() && target_tags.is_empty()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ExecDef {
    pub(crate) calculator: CalcId,
    pub(crate) predictable: bool,
    pub(crate) params: Box<[(Arc<str>, Value)]>,
}

#[derive(Clone, Debug)]
pub(crate) struct ImmunityDef {
    pub(crate) effect_tags: Box<[TagId]>,
    pub(crate) effects: Box<[EffectId]>,
    pub(crate) source_tags: Box<[TagId]>,
}

#[derive(Clone, Debug)]
pub(crate) struct StackDef {
    pub(crate) by: StackBy,
    pub(crate) limit: u32,
    pub(crate) on_stack: OnStack,
    pub(crate) period_on_stack: PeriodOnStack,
    pub(crate) on_expire: OnExpire,
    pub(crate) overflow: Box<[EffectId]>,
    pub(crate) deny_overflow: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct GrantDef {
    pub(crate) ability: AbilityId,
    pub(crate) level: u32,
    pub(crate) input: InputId,
    pub(crate) remove_with_effect: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ThenDef {
    pub(crate) applied: Box<[EffectId]>,
    pub(crate) executed: Box<[EffectId]>,
    pub(crate) expired: Box<[EffectId]>,
    pub(crate) removed: Box<[EffectId]>,
}

impl ThenDef {
    pub(crate) fn has(&self, trigger: Trigger) -> bool {
        match trigger {
            Trigger::Applied => !self.applied.is_empty(),
            Trigger::Executed => !self.executed.is_empty(),
            Trigger::Expired => !self.expired.is_empty(),
            Trigger::Removed => !self.removed.is_empty(),
            Trigger::Overflow | Trigger::Hook => false,
        }
    }
}

/// A fixed value that is written to one attribute's base value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainWrite {
    pub(crate) attribute: AttributeId,
    pub(crate) op: ModOp,
    pub(crate) magnitude: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct EffectDef {
    pub(crate) id: EffectId,
    pub(crate) name: Arc<str>,
    pub(crate) origin: Option<Origin>,
    pub(crate) policy: DurationPolicy,
    pub(crate) duration: Option<Mag>,
    pub(crate) period: Option<SimTime>,
    pub(crate) execute_on_application: bool,
    pub(crate) execution_policy: ExecutionPolicy,
    pub(crate) priority: i32,
    pub(crate) modifiers: Box<[ModDef]>,
    pub(crate) executions: Box<[ExecDef]>,
    pub(crate) granted_tags: Box<[TagId]>,
    pub(crate) effect_tags: Box<[TagId]>,
    pub(crate) required: Box<[TagId]>,
    pub(crate) blocked: Box<[TagId]>,
    pub(crate) source_required: Box<[TagId]>,
    pub(crate) source_blocked: Box<[TagId]>,
    pub(crate) chance: Option<Mag>,
    pub(crate) condition: Option<Expr>,
    pub(crate) requirement: Option<HookId>,
    pub(crate) ongoing_required: Box<[TagId]>,
    pub(crate) ongoing_blocked: Box<[TagId]>,
    pub(crate) on_ongoing_fail: OnOngoingFail,
    pub(crate) period_inhibition: PeriodInhibition,
    pub(crate) immunity: Box<[ImmunityDef]>,
    pub(crate) remove_with_tags: Box<[TagId]>,
    pub(crate) stacking: Option<StackDef>,
    pub(crate) bound_to_avatar: bool,
    pub(crate) then: ThenDef,
    pub(crate) grants: Box<[GrantDef]>,
    pub(crate) cues: Box<[TagId]>,
    /// The combat rules that apply while the effect is active.
    pub(crate) rules: Box<[RuleDef]>,
    /// The combat declaration, if the writes of the effect are damage, healing, threat or changes of a resource.
    pub(crate) combat: Option<CombatDef>,
    /// The only modifier of the effect, if an execution writes one fixed value and does nothing else.
    pub(crate) plain_write: Option<PlainWrite>,
    /// Whether only the authoritative sim applies the effect, because of a tag of the effect or because one of its
    /// calculations cannot be predicted.
    pub(crate) authority: bool,
    /// Whether the effect has only value modifiers and tag requirements, so that captures, grants, cues and reactions
    /// can be skipped.
    pub(crate) simple: bool,
    /// The duration, if it is a fixed value.
    pub(crate) fixed_duration: Option<SimTime>,
    /// Whether tags affect the effect while it is active, through tag filters or ongoing requirements.
    pub(crate) watches: bool,
    /// Whether a modifier follows an attribute while the effect is active.
    pub(crate) has_live: bool,
    /// Whether the effect reads its source after the application in executions, tag filters or conditions of its rules.
    /// Live magnitudes do not count.
    pub(crate) reads_source: bool,
}

impl CompiledText for EffectDef {
    fn compiled_text(&self) -> String {
        format!("{:?}", EffectDef { origin: None, ..self.clone() })
    }
}

impl EffectDef {
    pub(crate) fn has_ongoing(&self) -> bool {
        !self.ongoing_required.is_empty() || !self.ongoing_blocked.is_empty()
    }

    /// Returns whether the effect can make its target immune to other effects.
    pub(crate) fn refuses_others(&self) -> bool {
        let bars =
            |r: &RuleDef| r.on == RuleOn::BuffApplied && matches!(r.what, RuleWhat::Restrict | RuleWhat::Function(_));
        !self.immunity.is_empty() || self.rules.iter().any(bars)
    }

    pub(crate) fn is_filtered(&self) -> bool {
        self.modifiers.iter().any(ModDef::is_filtered)
    }

    /// Returns whether modifier `m` changes the current value while the effect is active, instead of writing the base
    /// value.
    pub(crate) fn acts_on_current(&self, m: &ModDef) -> bool {
        match self.policy {
            DurationPolicy::Instant => false,
            DurationPolicy::HasDuration | DurationPolicy::Infinite => {
                self.period.is_none() || m.op == Operation::Multiply
            }
        }
    }

    /// Determines which fast paths the effect can use.
    pub(crate) fn classify(&mut self) {
        self.watches = self.has_ongoing() || self.is_filtered();
        self.has_live = self.modifiers.iter().any(|m| m.magnitude.live_on().is_some());
        self.reads_source = self.policy != DurationPolicy::Instant && self.needs_source();
        self.fixed_duration = self.duration.as_ref().and_then(Mag::constant).and_then(SimTime::try_seconds);
        self.simple = self.is_simple();
        let instant = self.simple && self.policy == DurationPolicy::Instant;
        self.plain_write = match &*self.modifiers {
            [m] if instant || self.has_plain_execution() => m.magnitude.constant().map(|magnitude| PlainWrite {
                attribute: m.attribute,
                op: ModOp::from(m.op),
                magnitude,
            }),
            _ => None,
        };
    }

    fn needs_source(&self) -> bool {
        let of_source = |m: &ModDef| {
            let read = matches!(m.magnitude.live_on(), Some((_, false))) && !self.acts_on_current(m);
            read || m.magnitude.calculation().is_some() || !m.source_tags.is_empty()
        };
        !self.executions.is_empty()
            || self.combat.is_some()
            || self.modifiers.iter().any(of_source)
            || self
                .rules
                .iter()
                .any(|r| matches!(r.what, RuleWhat::Function(_)) || r.when.as_ref().is_some_and(Expr::is_foreign))
    }

    /// Returns whether the effect has combat rules for the damage, healing or threat that its target deals to other
    /// controllers.
    pub(crate) fn rules_what_is_done(&self) -> bool {
        self.rules.iter().any(|r| matches!(r.on, RuleOn::DamageDone | RuleOn::HealingDone | RuleOn::Threat))
    }

    /// Returns whether an application runs an execution: the first execution of a periodic effect, or the calculations
    /// of any other effect.
    pub(crate) fn executes_at_once(&self) -> bool {
        if self.period.is_some() { self.execute_on_application } else { !self.executions.is_empty() }
    }

    /// Returns whether an application only writes or modifies constant values and grants tags. Every field is named, so
    /// that a new one cannot be forgotten here; `_` marks fields that both paths handle in the same way.
    fn is_simple(&self) -> bool {
        let EffectDef {
            id: _,
            name: _,
            origin: _,
            policy,
            duration: _,
            period,
            execute_on_application,
            execution_policy,
            priority: _,
            modifiers,
            executions,
            granted_tags,
            effect_tags: _,
            required: _,
            blocked: _,
            source_required,
            source_blocked,
            chance,
            condition,
            requirement,
            ongoing_required,
            ongoing_blocked,
            on_ongoing_fail: _,
            period_inhibition: _,
            immunity,
            remove_with_tags,
            stacking,
            bound_to_avatar: _,
            then: ThenDef { applied, executed: _, expired: _, removed: _ },
            grants,
            cues,
            rules,
            combat,
            plain_write: _,
            authority,
            simple: _,
            fixed_duration,
            watches: _,
            has_live: _,
            reads_source: _,
        } = self;
        let instant = *policy == DurationPolicy::Instant;
        modifiers.iter().all(ModDef::is_plain)
            && executions.is_empty()
            && (granted_tags.is_empty() || !instant)
            && source_required.is_empty()
            && source_blocked.is_empty()
            && chance.is_none()
            && condition.is_none()
            && requirement.is_none()
            && ongoing_required.is_empty()
            && ongoing_blocked.is_empty()
            && immunity.is_empty()
            && remove_with_tags.is_empty()
            && stacking.is_none()
            && applied.is_empty()
            && grants.is_empty()
            && cues.is_empty()
            && rules.is_empty()
            && combat.is_none()
            && !authority
            && (*execution_policy == ExecutionPolicy::RunInParallel || instant)
            && (*policy != DurationPolicy::HasDuration || fixed_duration.is_some_and(|d| d > SimTime::ZERO))
            && !(period.is_some() && *execute_on_application)
    }

    /// Returns whether a periodic execution only writes constant values. Every field is named, as in
    /// [`EffectDef::is_simple`]; `_` marks fields that matter only to an application or that both paths handle in the
    /// same way.
    fn has_plain_execution(&self) -> bool {
        let EffectDef {
            id: _,
            name: _,
            origin: _,
            policy: _,
            duration: _,
            period,
            execute_on_application: _,
            execution_policy: _,
            priority: _,
            modifiers,
            executions,
            granted_tags: _,
            effect_tags: _,
            required: _,
            blocked: _,
            source_required: _,
            source_blocked: _,
            chance: _,
            condition: _,
            requirement: _,
            ongoing_required: _,
            ongoing_blocked: _,
            on_ongoing_fail: _,
            period_inhibition: _,
            immunity: _,
            remove_with_tags: _,
            stacking: _,
            bound_to_avatar: _,
            then: ThenDef { applied: _, executed, expired: _, removed: _ },
            grants: _,
            cues,
            rules: _,
            combat,
            plain_write: _,
            authority: _,
            simple: _,
            fixed_duration: _,
            watches: _,
            has_live: _,
            reads_source: _,
        } = self;
        period.is_some()
            && modifiers.iter().all(|m| m.is_plain() && !self.acts_on_current(m))
            && executions.is_empty()
            && executed.is_empty()
            && cues.is_empty()
            && combat.is_none()
    }
}
