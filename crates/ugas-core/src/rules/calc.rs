//! Code in the rules: calculators, hooks and requirements. Such code reads values and requests changes through a
//! context. The code is stored in the rules, not in the sim, so a sim can be cloned, hashed and compared.

use super::Rules;
use super::calculation::Formulas;
use super::compiled::CompiledText;
use crate::rng::{DrawAt, SITE_TEXT};
use crate::state::{Row, Tags};
use crate::{AttributeId, CalcId, ControllerId, EffectId, Hit, Refusal, Spec, TagId};
use std::sync::Arc;
use ugas_doc::{Operation, Value};

/// The time at which a declared read is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaptureTime {
    /// At each execution.
    #[default]
    OnExecution,
    /// Once, when the effect is first applied.
    OnApplication,
}

/// An attribute that a calculator reads. Every read must be declared, because the runtime derives the dependencies of
/// an effect from the declarations.
///
/// ```
/// use ugas_core::{CaptureTime, Read};
/// let r = Read::source("AttackPower").on_application();
/// assert_eq!(r.when, CaptureTime::OnApplication);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The attribute's name.
    pub attribute: String,
    /// Whether the attribute of the target is read. If false, the attribute of the source is read.
    pub of_target: bool,
    /// The time at which the value is read.
    pub when: CaptureTime,
}

impl Read {
    /// Declares a read of an attribute of the source.
    pub fn source(attribute: impl Into<String>) -> Read {
        Read { attribute: attribute.into(), of_target: false, when: CaptureTime::OnExecution }
    }
    /// Declares a read of an attribute of the target.
    pub fn target(attribute: impl Into<String>) -> Read {
        Read { attribute: attribute.into(), of_target: true, when: CaptureTime::OnExecution }
    }
    /// Changes the read so that it happens once, when the effect is first applied.
    pub fn on_application(mut self) -> Read {
        self.when = CaptureTime::OnApplication;
        self
    }
}

/// A calculation in Rust. Used as an execution, it writes attributes. Used as a magnitude, it returns a value.
///
/// ```
/// use ugas_core::{Calc, Calculator, Read};
/// struct Physical { reads: [Read; 2] }
/// impl Calculator for Physical {
///     fn reads(&self) -> &[Read] { &self.reads }
///     fn run(&self, cx: &mut Calc<'_>) {
///         let damage = cx.source("AttackPower") * 100.0 / (100.0 + cx.target("Armor"));
///         cx.add("Health", -damage);
///     }
/// }
/// let calc = Physical { reads: [Read::source("AttackPower"), Read::target("Armor")] };
/// assert_eq!(calc.reads().len(), 2);
/// ```
pub trait Calculator: Send + Sync + 'static {
    /// Returns the declared reads.
    fn reads(&self) -> &[Read];
    /// Runs the calculation.
    fn run(&self, cx: &mut Calc<'_>);
    /// Returns whether a client may predict the calculation.
    fn predictable(&self) -> bool {
        true
    }
}

/// A calculator that consists of declared reads and a closure.
pub(crate) struct FnCalculator<F> {
    pub(crate) reads: Vec<Read>,
    pub(crate) run: F,
}

impl<F: Fn(&mut Calc<'_>) + Send + Sync + 'static> Calculator for FnCalculator<F> {
    fn reads(&self) -> &[Read] {
        &self.reads
    }
    fn run(&self, cx: &mut Calc<'_>) {
        (self.run)(cx);
    }
}

#[derive(Clone)]
pub(crate) struct CalcDef {
    pub(crate) code: Arc<dyn Calculator>,
    pub(crate) reads: Box<[ReadDef]>,
    /// The parameters that an execution must supply. Empty for code, which does not declare its parameters.
    pub(crate) params: Box<[Arc<str>]>,
    /// Whether the calculation draws random numbers. Always false for code, because the compiler cannot analyse code.
    pub(crate) rolls: bool,
    /// The expressions of a calculation that a document defines.
    pub(crate) formulas: Option<Arc<Formulas>>,
}

impl CompiledText for CalcDef {
    fn compiled_text(&self) -> String {
        format!("{:?}", (&self.reads, &self.params, self.rolls, &self.formulas))
    }
}

impl std::fmt::Debug for CalcDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CalcDef").field("reads", &self.reads).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReadDef {
    pub(crate) attribute: AttributeId,
    pub(crate) of_target: bool,
    pub(crate) when: CaptureTime,
}

/// A result of an execution: one write to an attribute of the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CalcResult {
    pub(crate) attribute: AttributeId,
    pub(crate) op: Operation,
    pub(crate) value: f64,
}

/// A reference to an attribute in host code: the attribute's id, or its name.
pub trait ReadKey: Copy {
    /// Returns the attribute's id, if the rules define the attribute.
    fn attribute(self, rules: &Rules) -> Option<AttributeId>;
}
impl ReadKey for AttributeId {
    fn attribute(self, _: &Rules) -> Option<AttributeId> {
        Some(self)
    }
}
impl ReadKey for &str {
    fn attribute(self, rules: &Rules) -> Option<AttributeId> {
        rules.find_attribute(self)
    }
}

/// The context of a calculation: its inputs and its results.
pub struct Calc<'a> {
    pub(crate) calc: CalcId,
    pub(crate) rules: &'a Rules,
    pub(crate) spec: &'a Spec,
    pub(crate) reads: &'a [ReadDef],
    pub(crate) values: &'a [f64],
    pub(crate) params: &'a [(Arc<str>, Value)],
    pub(crate) target_row: &'a Row,
    pub(crate) source_tags: Option<&'a Tags>,
    pub(crate) distance: &'a dyn Fn() -> Option<f64>,
    pub(crate) draw: DrawAt,
    pub(crate) results: &'a mut Vec<CalcResult>,
    pub(crate) context_tags: &'a mut Vec<TagId>,
    pub(crate) value: f64,
    pub(crate) amount: f64,
    pub(crate) stacks: u32,
    /// Whether a number in a condition is not finite.
    pub(crate) not_finite: bool,
    /// Why the calculation failed.
    pub(crate) refused: Option<Refusal>,
}

impl Calc<'_> {
    fn refuse_undeclared(&mut self) {
        self.refused = Some(Refusal::UndeclaredRead { calculator: self.calc });
    }

    fn read(&mut self, key: impl ReadKey, of_target: bool) -> f64 {
        let wanted = key.attribute(self.rules);
        let at = self.reads.iter().position(|r| r.of_target == of_target && Some(r.attribute) == wanted);
        match at {
            Some(i) => self.values[i],
            None => {
                self.refuse_undeclared();
                0.0
            }
        }
    }

    /// Returns the distance between source and target, or `None` if one of them has no position.
    pub fn distance(&self) -> Option<f64> {
        (self.distance)()
    }
    /// Returns the value of a declared attribute of the source. If the read is not declared, the effect is refused.
    pub fn source(&mut self, attribute: impl ReadKey) -> f64 {
        self.read(attribute, false)
    }
    /// Returns the value of a declared attribute of the target. If the read is not declared, the effect is refused.
    pub fn target(&mut self, attribute: impl ReadKey) -> f64 {
        self.read(attribute, true)
    }
    /// Returns whether the target has a tag or a descendant of it.
    pub fn target_has(&self, tag: &str) -> bool {
        self.rules.find_tag(tag).is_some_and(|t| self.target_row.tags.has(&self.rules.tags, t))
    }
    /// Returns whether the source has a tag or a descendant of it.
    pub fn source_has(&self, tag: &str) -> bool {
        self.rules.find_tag(tag).is_some_and(|t| self.source_tags.is_some_and(|s| s.has(&self.rules.tags, t)))
    }
    /// Returns whether the hit has a tag or a descendant of it.
    pub fn hit_has(&self, tag: &str) -> bool {
        let Some(tag) = self.rules.find_tag(tag) else { return false };
        self.hit().is_some_and(|h| h.tags.iter().any(|&t| self.rules.tag_is_under(t, tag)))
    }
    /// Returns the hit, if there is one.
    pub fn hit(&self) -> Option<&Hit> {
        self.spec.extra.as_ref()?.hit.as_ref()
    }
    /// Returns the spec with its level, source, origin, ability and object.
    pub fn spec(&self) -> &Spec {
        self.spec
    }
    /// Returns the effect's level.
    pub fn level(&self) -> u32 {
        self.spec.level
    }
    /// Returns the effect's stacks.
    pub fn stacks(&self) -> u32 {
        self.stacks
    }
    /// Returns the incoming amount if this is a mitigation calculation, otherwise 0. A mitigation passes the mitigated
    /// amount to [`Calc::give`].
    pub fn amount(&self) -> f64 {
        self.amount
    }
    /// Returns a set-by-caller value, or `None` if it is not set.
    pub fn set_by_caller(&self, key: &str) -> Option<f64> {
        self.spec.value(self.rules.find_key(key)?)
    }
    /// Returns a parameter of the execution.
    pub fn param(&self, name: &str) -> Option<&Value> {
        self.params.iter().find(|(n, _)| &**n == name).map(|(_, v)| v)
    }
    /// Draws a random number in [0, 1). A replay of the same op draws the same number.
    pub fn random(&mut self) -> f64 {
        // In descriptions, each draw is the highest number, so that a roll succeeds only if its chance is 1.
        let r = if self.draw.calculation == SITE_TEXT { 1.0 - f64::EPSILON } else { self.draw.unit() };
        self.draw.draw += 1;
        r
    }
    /// Draws a random number and returns whether it is below `chance`.
    pub fn roll(&mut self, chance: f64) -> bool {
        self.random() < chance
    }

    fn result(&mut self, attribute: impl ReadKey, op: Operation, value: f64) {
        match attribute.attribute(self.rules) {
            Some(attribute) => self.results.push(CalcResult { attribute, op, value }),
            None => self.refuse_undeclared(),
        }
    }
    /// Adds to the base value of an attribute of the target.
    pub fn add(&mut self, attribute: impl ReadKey, value: f64) {
        self.result(attribute, Operation::Add, value);
    }
    /// Multiplies the base value of an attribute of the target by `1 + bonus`.
    pub fn multiply(&mut self, attribute: impl ReadKey, bonus: f64) {
        self.result(attribute, Operation::Multiply, bonus);
    }
    /// Sets the base value of an attribute of the target.
    pub fn set(&mut self, attribute: impl ReadKey, value: f64) {
        self.result(attribute, Operation::Override, value);
    }
    /// Sets the result of a magnitude or mitigation calculation.
    pub fn give(&mut self, value: f64) {
        self.value = value;
    }
    /// Adds a tag to the effect context, e.g. `Hit.Critical`.
    pub fn tag_context(&mut self, tag: &str) {
        if let Some(tag) = self.rules.find_tag(tag) {
            self.context_tags.push(tag);
        }
    }
}

/// The context of a hook, requirement or validator: the spec, and read access to the source and the target.
pub struct HookCx<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) spec: &'a Spec,
    pub(crate) target_row: &'a Row,
    pub(crate) source_tags: Option<&'a Tags>,
    pub(crate) values: &'a dyn Fn(ControllerId, AttributeId) -> Option<f64>,
}

impl HookCx<'_> {
    /// Returns the spec of the application.
    pub fn spec(&self) -> &Spec {
        self.spec
    }
    /// Returns the rules.
    pub fn rules(&self) -> &Rules {
        self.rules
    }
    /// Returns the current value of an attribute of the target.
    pub fn target(&self, attribute: impl ReadKey) -> Option<f64> {
        (self.values)(self.spec.target, attribute.attribute(self.rules)?)
    }
    /// Returns the current value of an attribute of the source.
    pub fn source(&self, attribute: impl ReadKey) -> Option<f64> {
        (self.values)(self.spec.source, attribute.attribute(self.rules)?)
    }
    /// Returns whether the target has a tag or a descendant of it.
    pub fn target_has(&self, tag: TagId) -> bool {
        self.target_row.tags.has(&self.rules.tags, tag)
    }
    /// Returns whether the source has a tag or a descendant of it.
    pub fn source_has(&self, tag: TagId) -> bool {
        self.source_tags.is_some_and(|s| s.has(&self.rules.tags, tag))
    }
    /// Returns the position and facing of the target, or `None` if the target has no position.
    pub fn target_anchor(&self) -> Option<crate::Anchor> {
        self.target_row.side().anchor
    }
    /// Iterates over the abilities currently granted to the target.
    pub fn target_abilities(&self) -> impl Iterator<Item = crate::AbilityId> {
        self.target_row.grants.iter().map(|g| g.ability)
    }
}

/// The context of an after-hook. The hook may request further effects on the same target.
pub struct AfterCx<'a> {
    pub(crate) see: HookCx<'a>,
    pub(crate) then: &'a mut Vec<EffectId>,
}

impl AfterCx<'_> {
    /// Returns a context with the spec and read access to the source and the target, in their state after the
    /// application.
    pub fn context(&self) -> &HookCx<'_> {
        &self.see
    }
    /// Requests another effect on the same target from the same source. The effect is applied as a reaction.
    pub fn then(&mut self, effect: EffectId) {
        self.then.push(effect);
    }
}

/// The context of a damage hook: the result of one damage, healing or threat event. The hook may request further
/// effects, such as a lifesteal effect.
pub struct DamageCx<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) values: &'a dyn Fn(ControllerId, AttributeId) -> Option<f64>,
    /// The source, or [`ControllerId::NONE`].
    pub source: ControllerId,
    /// The target.
    pub target: ControllerId,
    /// The controller that the event is credited to.
    pub credit: ControllerId,
    /// The kind of the event: damage, healing or threat.
    pub kind: ugas_doc::CombatKind,
    /// The style of the event: direct, periodic or area.
    pub style: ugas_doc::CombatStyle,
    /// The amount after mitigation and absorption.
    pub amount: f64,
    /// The amount before mitigation and absorption.
    pub raw: f64,
    /// The amount that attributes with `Absorb` absorbed.
    pub absorbed: f64,
    /// The part of the amount that exceeded the remaining value of the damaged attribute.
    pub overkill: f64,
    pub(crate) then: &'a mut Vec<Spec>,
}

impl DamageCx<'_> {
    /// Returns the rules.
    pub fn rules(&self) -> &Rules {
        self.rules
    }
    /// Returns the current value of an attribute of any controller.
    pub fn value(&self, who: ControllerId, attribute: impl ReadKey) -> Option<f64> {
        (self.values)(who, attribute.attribute(self.rules)?)
    }
    /// Requests another effect. The effect is applied as a reaction.
    pub fn then(&mut self, spec: Spec) {
        self.then.push(spec);
    }
}

/// The context of a resource hook: one change of a resource. The hook may request further effects.
pub struct ResourceCx<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) values: &'a dyn Fn(ControllerId, AttributeId) -> Option<f64>,
    /// The owner of the resource.
    pub who: ControllerId,
    /// The attribute of the resource.
    pub attribute: AttributeId,
    /// The value before the change.
    pub old: f64,
    /// The value after the change.
    pub new: f64,
    /// The controller that caused the change, or [`ControllerId::NONE`].
    pub source: ControllerId,
    /// The effect that caused the change, or [`EffectId::NONE`].
    pub effect: EffectId,
    pub(crate) then: &'a mut Vec<Spec>,
}

impl ResourceCx<'_> {
    /// Returns the rules.
    pub fn rules(&self) -> &Rules {
        self.rules
    }
    /// Returns the current value of an attribute of any controller.
    pub fn value(&self, who: ControllerId, attribute: impl ReadKey) -> Option<f64> {
        (self.values)(who, attribute.attribute(self.rules)?)
    }
    /// Requests another effect. The effect is applied as a reaction.
    pub fn then(&mut self, spec: Spec) {
        self.then.push(spec);
    }
}

pub(crate) type OnResource = Arc<dyn Fn(&mut ResourceCx<'_>) + Send + Sync>;
pub(crate) type OnDamage = Arc<dyn Fn(&mut DamageCx<'_>) + Send + Sync>;
pub(crate) type Predicate = Arc<dyn Fn(&HookCx<'_>) -> bool + Send + Sync>;
pub(crate) type AfterHook = Arc<dyn Fn(&mut AfterCx<'_>) + Send + Sync>;

/// Registered code other than calculators.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) before: Vec<(crate::HookId, Predicate)>,
    pub(crate) after: Vec<AfterHook>,
    /// Hooks that run after each damage event.
    pub(crate) damage: Vec<OnDamage>,
    pub(crate) requirements: std::collections::BTreeMap<crate::HookId, Predicate>,
    pub(crate) avatar: Option<Predicate>,
    /// `CanActivate` hooks of abilities.
    pub(crate) activations: std::collections::BTreeMap<crate::HookId, super::hook::ActivationHook>,
    /// Hooks that run after each change of a resource.
    pub(crate) resource: Vec<OnResource>,
    /// The functions of combat rules.
    pub(crate) combat: std::collections::BTreeMap<crate::HookId, super::combat_fn::CombatFn>,
}

impl Hooks {
    /// Returns whether a hook inspects applications.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        !self.before.is_empty() || !self.after.is_empty()
    }
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hooks").field("before", &self.before.len()).field("after", &self.after.len()).finish()
    }
}
