//! Ops: the gameplay changes that a host requests of a sim, as data. A key press, an AI decision, a network command, a
//! scenario step and an API call all become ops. Ops are small and serializable. A sim runs them in the order in which
//! they arrive. Replays and client prediction record ops.

use crate::{
    AbilityGrant, AbilityId, AbilitySetId, ActivationKey, ActorId, Anchor, AttributeId, BlockSource, CapabilityId,
    ControllerId, EffectId, EffectKey, GrantId, Hit, KeyId, ParamId, Rate, SetId, SimTime, SpawnSpec, Spec, TagId,
    TaskKey, TemplateId,
};
use serde::{Deserialize, Serialize};
use ugas_doc::Doc;

/// A requested change of an active effect.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum EffectUpdate {
    /// Sets the level and recomputes the magnitudes that depend on the level.
    Level(u32),
    /// Sets the remaining time.
    Remaining(SimTime),
    /// Adds this time to the remaining time. A negative time shortens the remaining time.
    Extend(SimTime),
    /// Sets the period. The first new period starts now.
    Period(SimTime),
    /// Sets the number of stacks.
    Stacks(u32),
    /// Sets a set-by-caller value.
    SetByCaller(KeyId, f64),
}

/// Selects effects of a controller. An effect must match every field that is set.
///
/// ```
/// use ugas_core::{EffectFilter, EffectId};
/// let poison = EffectFilter { effect: Some(EffectId(4)), ..Default::default() };
/// assert!(poison.with_any_tag.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EffectFilter {
    /// The definition of the effects.
    pub effect: Option<EffectId>,
    /// The effects must have or grant at least one of these tags or of their descendants. An empty list selects all
    /// effects.
    pub with_any_tag: Vec<TagId>,
    /// The source of the effects.
    pub source: Option<ControllerId>,
    /// The attribute that the effects must modify.
    pub modifies: Option<AttributeId>,
}

/// A requested change of a sim, as data.
///
/// ```
/// use ugas_core::{ControllerId, EffectId, Op, Spec};
/// let op = Op::Apply(Spec::new(EffectId(0), ControllerId(0)));
/// let text = serde_json::to_string(&op).unwrap();
/// assert_eq!(serde_json::from_str::<Op>(&text).unwrap(), op);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Op {
    /// Spawns a controller.
    Spawn(Box<SpawnSpec>),
    /// Spawns many controllers from one template.
    SpawnMany {
        /// The template.
        template: TemplateId,
        /// The number of controllers.
        count: u32,
    },
    /// Destroys a controller.
    Despawn {
        /// The controller.
        who: ControllerId,
    },
    /// Applies an effect.
    Apply(Spec),
    /// Applies one effect to many targets. Each application is accepted or refused separately.
    ApplyToMany {
        /// The spec. The target of the spec is ignored.
        spec: Spec,
        /// The targets.
        targets: Vec<ControllerId>,
    },
    /// Applies many specs. Each application is accepted or refused separately.
    ApplyAll {
        /// The specs.
        specs: Vec<Spec>,
    },
    /// Removes stacks of an active or queued effect.
    Remove {
        /// The application.
        key: EffectKey,
        /// The number of stacks to remove, at least 1. `None` removes all stacks.
        stacks: Option<u32>,
    },
    /// Removes all effects that match a filter, queued applications first.
    RemoveMatching {
        /// The controller.
        who: ControllerId,
        /// The filter that selects the effects.
        filter: EffectFilter,
    },
    /// Changes an active effect.
    Change {
        /// The application.
        key: EffectKey,
        /// The change.
        change: EffectUpdate,
    },
    /// Changes every active effect that matches a filter.
    ChangeMatching {
        /// The controller.
        who: ControllerId,
        /// The filter that selects the effects.
        filter: EffectFilter,
        /// The change.
        change: EffectUpdate,
    },
    /// Registers an attribute set on a controller.
    AddSet {
        /// The controller.
        who: ControllerId,
        /// The attribute set.
        set: SetId,
    },
    /// Unregisters an attribute set from a controller.
    RemoveSet {
        /// The controller.
        who: ControllerId,
        /// The attribute set.
        set: SetId,
        /// What to do if active effects modify the attribute set: `true` removes these modifiers, `false` refuses the
        /// op.
        force: bool,
    },
    /// Pauses or resumes a controller.
    SetActive {
        /// The controller.
        who: ControllerId,
        /// Whether the controller is active.
        active: bool,
    },
    /// Sets a controller's clock rate.
    SetRate {
        /// The controller.
        who: ControllerId,
        /// The rate.
        rate: Rate,
    },
    /// Changes the avatar of a controller.
    Possess {
        /// The controller.
        who: ControllerId,
        /// The new avatar, or `None` to clear the avatar.
        avatar: Option<ActorId>,
    },
    /// Moves a controller's anchor.
    Move {
        /// The controller.
        who: ControllerId,
        /// The new anchor; `None` removes the controller's position.
        anchor: Option<Anchor>,
    },
    /// Grants an ability.
    Grant {
        /// The controller.
        who: ControllerId,
        /// The ability, its level and its input.
        grant: AbilityGrant,
    },
    /// Revokes granted abilities. Their activations are cancelled first.
    Revoke {
        /// The controller.
        who: ControllerId,
        /// The selected grants or activations.
        which: Which,
    },
    /// Grants an ability set or a capability set: its attribute sets, effects, abilities and capabilities. If one part
    /// is refused, no part is granted.
    GrantSet {
        /// The controller.
        who: ControllerId,
        /// The ability set.
        set: AbilitySetId,
    },
    /// Revokes one grant of an ability set.
    RevokeSet {
        /// The controller.
        who: ControllerId,
        /// The handle from [`Outcome::GrantedSet`].
        handle: u64,
    },
    /// Changes the level of a granted ability.
    SetLevel {
        /// The controller.
        who: ControllerId,
        /// The grant.
        grant: GrantId,
        /// The level.
        level: u32,
    },
    /// Sets a parameter of a granted ability.
    SetParam {
        /// The controller.
        who: ControllerId,
        /// The grant.
        grant: GrantId,
        /// The parameter.
        param: ParamId,
        /// The value of the parameter.
        value: f64,
    },
    /// Turns a named restriction of a granted ability on or off.
    Restrict {
        /// The controller.
        who: ControllerId,
        /// The grant.
        grant: GrantId,
        /// The name of the restriction.
        name: ParamId,
        /// Whether the restriction is on.
        on: bool,
    },
    /// Activates a granted ability.
    Activate {
        /// The controller.
        who: ControllerId,
        /// The selected grants or activations.
        which: Which,
        /// The target.
        target: Target,
    },
    /// Cancels active abilities.
    Cancel {
        /// The controller.
        who: ControllerId,
        /// The selected grants or activations.
        which: Which,
    },
    /// Interrupts a cast.
    Interrupt {
        /// The controller.
        who: ControllerId,
        /// The activation to interrupt. `None` selects the current cast.
        which: Option<Which>,
    },
    /// Ends active abilities. They count as completed.
    End {
        /// The controller.
        who: ControllerId,
        /// The selected grants or activations.
        which: Which,
    },
    /// Commits an active ability whose commit policy is Manual.
    Commit {
        /// The controller.
        who: ControllerId,
        /// The selected grants or activations.
        which: Which,
    },
    /// Answers the asynchronous validation of an activation.
    Validate {
        /// The controller.
        who: ControllerId,
        /// The selected grants or activations.
        which: Which,
        /// Whether the validation passed.
        ok: bool,
    },
    /// Reports that the server rejected a predicted activation. Emits the fact `Mispredicted` and runs the ability's
    /// task list `OnMispredicted`.
    Mispredicted {
        /// The controller.
        who: ControllerId,
        /// The ability.
        ability: AbilityId,
        /// The target of the predicted activation.
        target: Target,
    },
    /// Changes the target of an activation, or sets the target of one tick of its cast.
    Aim {
        /// The activation.
        key: ActivationKey,
        /// The target.
        target: Target,
        /// The number of the tick that the target is for. Only a cast with `TickData: Required` takes such a target: an
        /// early one is kept until the tick, a late one runs the tick at once if the next tick has not come.
        tick: Option<u32>,
    },
    /// Sends a gameplay event.
    Event(EventData),
    /// Presses an input.
    Press {
        /// The controller.
        who: ControllerId,
        /// The input.
        input: crate::InputId,
        /// The target for the abilities that the press activates.
        target: Target,
    },
    /// Releases an input.
    Release {
        /// The controller.
        who: ControllerId,
        /// The input.
        input: crate::InputId,
    },
    /// Sets the value of an axis. A value that leaves zero presses the input, and a value that returns to zero releases
    /// it. Refused for an input that is not a simulated axis.
    Axis {
        /// The controller.
        who: ControllerId,
        /// The input.
        input: crate::InputId,
        /// The value.
        value: crate::AxisValue,
    },
    /// Lets go of one input or of all inputs, because the window lost the focus, a device was lost or the player left. The
    /// inputs are up, and nothing that triggers at a release triggers.
    LetGo {
        /// The controller.
        who: ControllerId,
        /// The input, or `None` for all inputs.
        input: Option<crate::InputId>,
    },
    /// Completes or fails a task that requested an answer from the host.
    Complete {
        /// The task.
        key: TaskKey,
        /// The answer.
        answer: Answer,
    },
    /// Compiles an effect or ability at run time. Refused with
    /// [`Refusal::BadDefinition`](crate::Refusal::BadDefinition) if the document has errors or a limit is reached;
    /// [`Sim::define`](crate::Sim::define) returns the errors.
    Define(#[serde(with = "crate::json")] Box<Doc>),
    /// Removes an unused run-time definition.
    Undefine(DefId),
    /// Applies an effect of an active ability at the request of the owning client. Allowed only while a waiting task of
    /// a committed activation names the effect in `ClientEffects`, and only as often as that budget says. The level is
    /// the level of the activation. A host applies effects with [`Op::Apply`] instead.
    ApplyFromAbility {
        /// The controller that has the ability.
        who: ControllerId,
        /// The ability.
        ability: AbilityId,
        /// The effect.
        effect: EffectId,
        /// The target.
        target: ControllerId,
    },
    /// Blocks the capabilities of a controller that have a tag or a descendant of it, from the next frame on.
    Block {
        /// The controller.
        who: ControllerId,
        /// The tag.
        tag: TagId,
        /// The source of the block.
        source: BlockSource,
    },
    /// Removes the block of a tag by one source. The tag stays blocked while another source blocks it.
    Unblock {
        /// The controller.
        who: ControllerId,
        /// The tag.
        tag: TagId,
        /// The source of the block.
        source: BlockSource,
    },
    /// Enables or disables the capabilities of a class. A disabled capability is not evaluated and keeps its state.
    Enable {
        /// The controller.
        who: ControllerId,
        /// The class.
        capability: CapabilityId,
        /// Whether the capabilities are enabled.
        on: bool,
    },
    /// Changes when the capabilities of a class are evaluated.
    SetTick {
        /// The controller.
        who: ControllerId,
        /// The class.
        capability: CapabilityId,
        /// Whether the capabilities are evaluated; `None` leaves it unchanged.
        ticks: Option<bool>,
        /// The time between two evaluations, zero for every frame; `None` leaves it unchanged.
        interval: Option<SimTime>,
    },
    /// Adds to a resource, by applying the built-in effect `GE_ModifyResource`. Combat rules of the owner on
    /// `ResourceDelta` may change or forbid it. Refused on a client.
    ModifyResource {
        /// The controller.
        who: ControllerId,
        /// The attribute of the resource.
        attribute: AttributeId,
        /// The gain, or the loss if it is negative.
        by: f64,
        /// The controller that causes the change, or `None` if the world causes it. In JSON: a number, `null` or no
        /// field.
        #[serde(default, with = "crate::ids::or_none")]
        source: Option<ControllerId>,
        /// The tags of the change, which combat rules read with `has_tag(event, Tag)`.
        #[serde(default)]
        tags: Vec<TagId>,
        /// Whether combat rules are skipped.
        #[serde(default)]
        plain: bool,
    },
}

/// Selects granted abilities or activations of a controller.
///
/// ```
/// use ugas_core::{AbilityId, Which};
/// assert_ne!(Which::Ability(AbilityId(0)), Which::Ability(AbilityId(1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Which {
    /// All grants of this ability. `Op::Activate` uses the first grant that can be activated.
    Ability(AbilityId),
    /// One grant.
    Grant(GrantId),
    /// All grants bound to this input. `Op::Activate` uses the first grant that can be activated.
    Input(crate::InputId),
    /// One activation.
    Activation(ActivationKey),
}

/// The target of an activation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Target {
    /// No target.
    #[default]
    None,
    /// A controller.
    Controller(ControllerId),
    /// A point in space.
    Point([f64; 3]),
}

/// A gameplay event.
///
/// ```
/// use ugas_core::{ControllerId, EventData, TagId};
/// let parried = EventData::new(TagId(3), ControllerId(0));
/// assert_eq!(parried.magnitude, 0.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventData {
    /// The event's tag.
    pub tag: TagId,
    /// The controller that receives the event.
    pub target: ControllerId,
    /// The controller that caused the event, or `None` if the world caused it. In JSON: a number, `null` or no field.
    #[serde(default, with = "crate::ids::or_none")]
    pub instigator: Option<ControllerId>,
    /// The magnitude of the event.
    pub magnitude: f64,
    /// The hit that led to the event, if any.
    pub hit: Option<Hit>,
    /// The payload: additional numbers with names.
    pub payload: Vec<(ParamId, f64)>,
}

impl EventData {
    /// Creates an event with magnitude 0 and no instigator.
    pub fn new(tag: TagId, target: ControllerId) -> EventData {
        EventData { tag, target, instigator: None, magnitude: 0.0, hit: None, payload: Vec::new() }
    }
}

/// The host's answer to a task request.
///
/// ```
/// assert!(!ugas_core::Answer::default().fail);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Whether the task failed.
    pub fail: bool,
    /// The targets that the host found.
    pub targets: Vec<ControllerId>,
    /// The hit that the host found, if any.
    pub hit: Option<Hit>,
    /// The number for a task that expects a number.
    pub value: f64,
}

/// The id of a run-time definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DefId {
    /// An effect.
    Effect(EffectId),
    /// An ability.
    Ability(AbilityId),
}

/// The result of an op.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The op succeeded and returns no value.
    Done,
    /// A controller was spawned.
    Spawned(ControllerId),
    /// Controllers with consecutive ids were spawned. The fields are the first id and the count.
    SpawnedMany(ControllerId, u32),
    /// An effect was applied, executed or queued.
    Applied(EffectKey),
    /// The number of accepted applications in a batch.
    AppliedMany(u32),
    /// The number of active effects that matched the op's filter.
    Matched(u32),
    /// A run-time definition was compiled.
    Defined(DefId),
    /// An ability was granted.
    Granted(GrantId),
    /// An ability set was granted. [`Op::RevokeSet`] takes this handle.
    GrantedSet(u64),
    /// An ability was activated, or its activation waits for validation.
    Activated(ActivationKey),
    /// An input was pressed. The fields contain the activation, or the reason why no ability was activated. Both are
    /// `None` if no ability is bound to the input.
    Pressed {
        /// The first activation.
        activated: Option<ActivationKey>,
        /// The first refusal.
        refused: Option<crate::Refusal>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_accepts_no_id_as_null_as_a_missing_field_and_as_the_number_of_none() {
        let grant =
            |input: &str| serde_json::from_str::<AbilityGrant>(&format!("{{\"ability\":1,\"level\":2{input}}}"));
        for none in ["", ",\"input\":null", ",\"input\":4294967295"] {
            assert_eq!(grant(none).unwrap().input, None, "{none}");
        }
        assert_eq!(grant(",\"input\":7").unwrap().input, Some(crate::InputId(7)));
        assert!(grant(",\"input\":\"7\"").is_err());
        let event = |who: &str| {
            let text = format!("{{\"tag\":1,\"target\":0{who},\"magnitude\":0.0,\"hit\":null,\"payload\":[]}}");
            serde_json::from_str::<EventData>(&text).unwrap().instigator
        };
        for none in ["", ",\"instigator\":null", ",\"instigator\":4294967295"] {
            assert_eq!(event(none), None, "{none}");
        }
        assert_eq!(event(",\"instigator\":3"), Some(ControllerId(3)));
    }
}
