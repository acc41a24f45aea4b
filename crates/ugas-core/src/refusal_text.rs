//! The messages of refusals. A message states which check failed, with the values that were compared, and what to do.
//! It contains names from the rules, or ids if no rules are given.

use crate::refusal::{BadValue, LimitKind, Refusal, Restriction};
use crate::{
    AbilityId, AttributeId, CalcId, CapabilityId, ControllerId, EffectId, HookId, KeyId, Rules, SetId, SimTime, TagId,
};

impl Refusal {
    /// Returns the message of the refusal with names from the rules. `Display` writes the same message with ids.
    ///
    /// ```
    /// use ugas_core::{AttributeId, Refusal, Rules};
    /// use ugas_doc::{Attribute, AttributeSet};
    /// let rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Mana", 5.0))).build()?;
    /// let refusal = Refusal::Cost { attribute: rules.attribute("Mana")?, have: 5.0, need: 20.0 };
    /// assert_eq!(refusal.describe(&rules), "needs 20 Mana, has 5");
    /// assert_eq!(refusal.to_string(), "needs 20 attribute 0, has 5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn describe(&self, rules: &Rules) -> String {
        self.sentence(Some(rules))
    }

    pub(crate) fn sentence(&self, rules: Option<&Rules>) -> String {
        let tag = |t: TagId| rules.map_or_else(|| t.to_string(), |r| t.describe(r));
        let attribute = |a: AttributeId| rules.map_or_else(|| a.to_string(), |r| a.describe(r));
        let set = |s: SetId| rules.map_or_else(|| s.to_string(), |r| s.describe(r));
        let calculation = |c: CalcId| rules.map_or_else(|| c.to_string(), |r| c.describe(r));
        let key_name = |k: KeyId| rules.map_or_else(|| k.to_string(), |r| k.describe(r));
        let hook_name = |h: HookId| rules.map_or_else(|| h.to_string(), |r| h.describe(r));
        let capability = |c: CapabilityId| rules.map_or_else(|| c.to_string(), |r| c.describe(r));
        let ability = |a: AbilityId| match a.is_runtime() {
            true => "a run-time ability".to_owned(),
            false => rules.map_or_else(|| a.to_string(), |r| a.describe(r)),
        };
        let effect = |e: EffectId| match e.is_runtime() {
            true => "a run-time effect".to_owned(),
            false => rules.map_or_else(|| e.to_string(), |r| e.describe(r)),
        };
        match *self {
            Refusal::StaleHandle => "the controller, effect, grant, activation or task does not exist".into(),
            Refusal::UnknownName { kind, id } => format!("the rules have no {kind} with id {id}"),
            Refusal::UnknownAttribute { who: ControllerId::NONE, attribute: a } => {
                format!("the effect needs a source to read {}; set a source with Spec::from", attribute(a))
            }
            Refusal::UnknownAttribute { who, attribute: a } => {
                let name = attribute(a);
                format!("controller {} has no attribute {name}; add an attribute set that defines it", who.0)
            }
            Refusal::NotReplicated { who, attribute: a } => {
                format!("{} of controller {} is not replicated to this client; the server decides", attribute(a), who.0)
            }
            Refusal::Inactive => "the controller is inactive".into(),
            Refusal::Authority => {
                "only the server may do this: the client does not own the controller, or the data does not allow it \
                 (ClientAnswers, ClientMayCancel, NetExecutionPolicy)"
                    .into()
            }
            Refusal::AuthoritativeOnly => "only the authoritative server can apply this effect".into(),
            Refusal::RequiredTags { missing } => format!("requires the tag {}", tag(missing)),
            Refusal::BlockedTags { found } => format!("blocked by the tag {}", tag(found)),
            Refusal::SourceTags { tag: t } => {
                format!("the source lacks a required tag or has a blocked tag: {}", tag(t))
            }
            Refusal::Immune { by, .. } => format!("the target is immune: {} is active", effect(by)),
            Refusal::Restricted { by } => by.describe().into(),
            Refusal::Condition => "the condition or requirement is false".into(),
            Refusal::Chance { rolled, needed } => format!("the roll failed: {rolled:.4} is not below {needed}"),
            Refusal::Stacks { limit } => format!("the effect already has the maximum of {limit} stacks"),
            Refusal::MissingSetByCaller { key } => {
                format!("needs the set-by-caller value {}; set it when the effect is applied", key_name(key))
            }
            Refusal::NonFinite { attribute: Some(a) } => {
                format!("the value for {} is not finite; check its magnitudes", attribute(a))
            }
            Refusal::NonFinite { attribute: None } => "a computed value is not finite; check the magnitudes".into(),
            Refusal::BadValue { what } => what.describe().into(),
            Refusal::Cycle { who, attribute: a } => {
                format!("{} of controller {} would depend on itself", attribute(a), who.0)
            }
            Refusal::Limit { what, max, .. } => format!("the limit of {max} {} is reached", what.noun()),
            Refusal::Hook { hook } => format!("refused by the hook {}", hook_name(hook)),
            Refusal::Casting { left } => format!("another cast is in progress: {} remaining", seconds(left)),
            Refusal::GlobalCooldown { left } => {
                format!("the global cooldown is active: {} remaining", seconds(left))
            }
            Refusal::Charges { have, need: 1, .. } => format!("needs 1 charge, has {have}"),
            Refusal::Charges { have, need, .. } => format!("needs {need} charges, has {have}"),
            Refusal::Cost { attribute: a, have, need } => format!("needs {need} {}, has {have}", attribute(a)),
            Refusal::Cooldown { tag: t, left: SimTime::NEVER } => format!("on cooldown: {} is active", tag(t)),
            Refusal::Cooldown { tag: t, left } => format!("on cooldown: {} remaining ({})", seconds(left), tag(t)),
            Refusal::NotGranted => "the ability is not granted to the controller".into(),
            Refusal::NotInitialized => {
                "not initialized: the ability needs an avatar and the controller has none, or the state of the controller \
                 has not arrived at this client"
                    .into()
            }
            Refusal::AlreadyActive { .. } => "the ability is already active".into(),
            Refusal::Pending => "the ability is waiting for validation".into(),
            Refusal::Dead { attribute: a } => format!("the controller is dead: {} is depleted", attribute(a)),
            Refusal::BlockedByTags { found } => format!("blocked by the owner's tag {}", tag(found)),
            Refusal::BlockedByAbility { by } => format!("blocked by the active ability {}", ability(by)),
            Refusal::TargetTags { tag: t } => {
                format!("the target lacks a required tag or has a blocked tag: {}", tag(t))
            }
            Refusal::Group { by } => format!("blocked by the active ability {} of the same group", ability(by)),
            Refusal::Query => "the activation query is false".into(),
            Refusal::NoTarget => {
                "no valid target: it is missing or dead, or owner or target has no position for the range check".into()
            }
            Refusal::OutOfRange { distance, max } => {
                format!("out of range: the target is {distance:.2} away, the maximum is {max}")
            }
            Refusal::UndeclaredRead { calculator } => format!(
                "the calculation {} reads an attribute that it does not declare, or writes one that does not exist",
                calculation(calculator)
            ),
            Refusal::RandomCost { calculator } => format!(
                "the calculation {} of the cost draws random numbers; use a calculation without roll",
                calculation(calculator)
            ),
            Refusal::SetRegistered { set: s } => format!("the attribute set {} is already registered", set(s)),
            Refusal::SetMissing { set: s } => format!("the attribute set {} is not registered", set(s)),
            Refusal::DuplicateAttribute { attribute: a, set: s } => {
                format!("the attribute set {} already defines {}", set(s), attribute(a))
            }
            Refusal::SetNeeded { by } => {
                format!("the attribute set {} depends on the set that would be removed", set(by))
            }
            Refusal::SetInUse { .. } => {
                "an active effect modifies an attribute of the set; remove the effect, or force the removal".into()
            }
            Refusal::IdTaken { who } => format!("controller id {} is already taken; choose another id", who.0),
            Refusal::InUse { who } => format!("controller {} still uses the definition", who.0),
            Refusal::NoSets => "a controller needs at least one attribute set".into(),
            Refusal::BadDefinition => "the new documents were rejected".into(),
            Refusal::Mismatch => {
                "the image or journal is from other rules or another controller, or the journal starts too late".into()
            }
            Refusal::PredictionWindowClosed => {
                "the prediction window is closed and the queue is full; wait until the server confirms a later tick"
                    .into()
            }
            Refusal::EffectBudget { max } => {
                format!("the effect budget is used up: ClientEffects allows {max} per activation or target")
            }
            Refusal::TooEarly { left } => format!("too early: the client may answer the task in {}", seconds(left)),
            Refusal::Static { attribute: a } => {
                format!("{} is a fixed stat; only a stat with Modifiable: true can be modified", attribute(a))
            }
            Refusal::InputAsleep { set } => {
                let name = rules.map_or_else(|| set.to_string(), |r| set.describe(r));
                format!("the input action is asleep: the action set {name} is not live")
            }
            Refusal::InputSuppressed { tag: t } => format!("the input action is suppressed by the tag {}", tag(t)),
            Refusal::NotAnAxis { input } => {
                let name = rules.map_or_else(|| input.to_string(), |r| input.describe(r));
                format!("{name} is not a simulated axis; write an input_action with an axis ValueType and Simulated: true")
            }
            Refusal::Motion { motion } => {
                let name = rules.map_or_else(|| motion.to_string(), |r| motion.describe(r));
                format!("the motion {name} did not precede the press")
            }
            Refusal::SetHeld { handle } => {
                format!("the capability set is already added (handle {handle}); remove it first")
            }
            Refusal::NoCapability { class } => {
                format!("the controller has no capability {}; add a set that lists it", capability(class))
            }
            Refusal::ClaimedDuringCooldown => "the ability was on cooldown at the tick that the command claims".into(),
            Refusal::UnknownRoll => {
                "the server has not revealed the random seed yet; the result arrives with the server's state".into()
            }
        }
    }
}

/// Formats seconds without trailing zeros: `0.5 s`.
fn seconds(time: SimTime) -> String {
    let text = format!("{:.3}", time.as_seconds());
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

impl BadValue {
    fn describe(self) -> &'static str {
        match self {
            BadValue::Level => "the level must be at least 1",
            BadValue::Stacks => "the number of stacks must be from 1 to the stack limit",
            BadValue::RemoveCount => "the number of stacks to remove must be at least 1",
            BadValue::Duration => "the effect must have a duration, between 0 s and about 50 years",
            BadValue::Period => "the effect must have a period, at least 1 ms",
            BadValue::Rate => "the clock rate must be between 0 and 1000",
            BadValue::Position => "the position must have three finite numbers",
            BadValue::Time => "the time is out of range",
            BadValue::Number => "the number must be finite",
            BadValue::Targets => "the answer has more targets than MaxTargets of the task allows (1 by default)",
            BadValue::Length => "the request is too long; send fewer targets or tags",
        }
    }
}

impl Restriction {
    /// Returns the sentence for people.
    fn describe(self) -> &'static str {
        match self {
            Restriction::CombatRule => "forbidden by a combat rule of an active effect",
            Restriction::Grant => "the ability has an active restriction",
            Restriction::NotInterruptible => "the cast cannot be interrupted",
            Restriction::DerivedAttribute => {
                "a derived attribute has no base value to write; modify an attribute that it is derived from"
            }
            Restriction::StatTable => "a stat table is registered only at spawn; add it to Stats of the controller",
            Restriction::NotResource => "the attribute is not a resource; apply an effect to change its value",
            Restriction::ResourceBound => {
                "the resource has no such bound, or the bound follows a stat of the controller; change the resource or the stat"
            }
        }
    }
}

impl LimitKind {
    /// Returns what the limit counts, for messages.
    fn noun(self) -> &'static str {
        match self {
            LimitKind::Controllers => "controllers",
            LimitKind::Effects => "effects on a controller",
            LimitKind::Modifiers => "modifiers on a controller",
            LimitKind::Attributes => "attributes of a controller",
            LimitKind::ChainDepth => "links in a chain of causes",
            LimitKind::Reactions => "reactions to one cause",
            LimitKind::Definitions => "run-time definitions",
            LimitKind::Grants => "granted abilities of a controller",
            LimitKind::Layouts => "combinations of attribute sets",
            LimitKind::Activations => "activations of a controller",
            LimitKind::Params => "parameters of a grant",
            LimitKind::Tasks => "waiting tasks of a controller",
            LimitKind::Held => "held inputs of a controller",
            LimitKind::CodeState => "bytes of state of a coded ability",
            LimitKind::AbilitySets => "ability sets of a controller",
            LimitKind::Capabilities => "capabilities of a controller",
            LimitKind::Blocks => "blocks on a controller",
        }
    }
}
