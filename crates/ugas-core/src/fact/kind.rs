//! The table of fact kinds. The name after `=` is the name of the field in scenarios and tools. Scenarios and tools
//! cannot read a field without such a name; only Rust code can.

use super::field::event_kinds;
use super::{
    BufferStep, CapabilityStep, CastStep, CueType, EffectChange, FieldValue, RemoveReason, ResourceStep, Span,
    TaskResult,
};
use crate::{
    AbilityId, AbilitySetId, ActivationKey, ActorId, AttributeId, CapabilityId, ControllerId, EffectId, EffectKey,
    GrantId, GroupId, InputId, SetId, SimTime, TagId, TaskKey, TaskKindId,
};
use serde::{Deserialize, Serialize};
use ugas_doc::{CombatKind, CombatStyle, TriggerBehavior};

event_kinds! {
    /// The kind of a fact: what happened.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    #[repr(C)]
    #[non_exhaustive]
    pub enum FactKind {
        /// The base or current value of an attribute changed.
        AttributeChanged {
            /// The attribute.
            attribute: AttributeId = "Attribute",
            /// The current value before the change.
            old: f64 = "Old",
            /// The current value after the change.
            new: f64 = "New",
            /// The base value before the change.
            old_base: f64 = "OldBase",
            /// The base value after the change.
            new_base: f64 = "NewBase",
        },
        /// A tag was added or removed. Each ancestor that is added or removed with the tag has its own fact.
        TagChanged {
            /// The tag.
            tag: TagId = "Tag",
            /// Whether the tag was added.
            added: bool = "Added",
            /// Whether the count of this tag itself became zero or nonzero. False if only the count of a descendant
            /// changed.
            exact: bool = "Exact",
            /// Whether the result of `Sim::has_tag` changed. The result does not change if the tag itself is granted or
            /// removed while a descendant is present.
            presence: bool = "Presence",
        },
        /// An effect was applied. If the effect is instant, it was also executed.
        EffectApplied {
            /// The level of the effect.
            level: u32 = "Level",
            /// The number of stacks of the effect.
            stacks: u32 = "Stacks",
        },
        /// A periodic execution of an effect ran.
        EffectExecuted {
            /// The index of the execution, from 0.
            execution: u32 = "Execution",
        },
        /// A combat rule prevented an execution of an active effect. The execution wrote nothing. The times of later
        /// executions are unchanged.
        ExecutionRestricted {
            /// The index of the execution, from 0. The index counts prevented executions and executions that ran.
            execution: u32 = "Execution",
        },
        /// An effect ended.
        EffectRemoved {
            /// The reason.
            reason: RemoveReason = "Reason",
        },
        /// An active effect changed.
        EffectChanged {
            /// The change.
            what: EffectChange = "What",
            /// The current number of stacks.
            stacks: u32 = "Stacks",
            /// The current level.
            level: u32 = "Level",
        },
        /// An effect was refused because its target is immune. [`Fact::effect`](crate::Fact::effect) is the refused
        /// effect.
        Immune {
            /// The active effect that grants the immunity.
            blocker: EffectKey,
            /// The definition of the effect that grants the immunity.
            by: EffectId = "By",
        },
        /// An ability was granted.
        Granted {
            /// The ability.
            ability: AbilityId = "Ability",
            /// The id of the grant on this controller.
            grant: GrantId = "Grant",
            /// The level of the grant.
            level: u32 = "Level",
            /// The input that the ability is bound to.
            input: InputId = "InputID",
        },
        /// A granted ability was revoked.
        Revoked {
            /// The ability.
            ability: AbilityId = "Ability",
            /// The id of the grant.
            grant: GrantId = "Grant",
        },
        /// A cue was triggered.
        Cue {
            /// The tag of the cue.
            tag: TagId = "Tag",
            /// The type: executed once, added or removed.
            cue: CueType = "Type",
            /// The range of the details: `Position` and `Distance` of the hit, and the `Origin` of the effect. The
            /// range is empty if none of these values is known.
            detail: Span = "Params",
        },
        /// An attribute that marks death reached zero.
        Died {
            /// The attribute.
            attribute: AttributeId = "Attribute",
        },
        /// A controller was spawned.
        Spawned {
            /// The owner of the controller.
            owner: ActorId = "Owner",
        },
        /// A controller was destroyed.
        Despawned,
        /// An attribute set was registered.
        SetAdded {
            /// The attribute set.
            set: SetId = "Set",
        },
        /// An attribute set was unregistered.
        SetRemoved {
            /// The attribute set.
            set: SetId = "Set",
        },
        /// The avatar of a controller changed.
        Possessed {
            /// The previous avatar.
            old: ActorId = "Old",
            /// The new avatar.
            new: ActorId = "New",
        },
        /// A calculation added a tag to the effect context, e.g. `Hit.Critical`.
        ContextTag {
            /// The tag.
            tag: TagId = "Tag",
        },
        /// A controller was restored or inserted. This one fact replaces the facts of all individual changes.
        Restored,
        /// An ability was activated.
        AbilityActivated {
            /// The ability.
            ability: AbilityId = "Ability",
            /// The grant.
            grant: GrantId = "Grant",
            /// The level of the activation.
            level: u32 = "Level",
            /// The activation.
            activation: ActivationKey,
        },
        /// An ability ended.
        AbilityEnded {
            /// The ability.
            ability: AbilityId = "Ability",
            /// The grant.
            grant: GrantId = "Grant",
            /// The activation.
            activation: ActivationKey,
            /// Whether the ability was cancelled.
            cancelled: bool = "Cancelled",
            /// Whether the ability was cancelled by an interrupt.
            interrupted: bool = "Interrupted",
        },
        /// A task requests an action or an answer from the host. The parameters are in the details.
        TaskRequest {
            /// The ability.
            ability: AbilityId = "Ability",
            /// The task type.
            task: TaskKindId = "Task",
            /// The key for the host's answer, or [`TaskKey::NONE`] if no task waits for an answer.
            task_key: TaskKey,
            /// The range of the parameters in the details.
            detail: Span = "Params",
        },
        /// A waiting task completed, failed, was cancelled or emitted an output.
        TaskEnded {
            /// The ability.
            ability: AbilityId = "Ability",
            /// The task type.
            task: TaskKindId = "Task",
            /// The task.
            task_key: TaskKey,
            /// The value of the task, e.g. the seconds an input was held, a magnitude or a new attribute value.
            value: f64 = "Value",
            /// The result.
            result: TaskResult = "Result",
        },
        /// A gameplay event was received. The payload is in the details.
        GameplayEvent {
            /// The tag.
            tag: TagId = "Tag",
            /// The magnitude.
            magnitude: f64 = "Magnitude",
            /// The range of the payload in the details.
            detail: Span = "Params",
        },
        /// A cast started, ticked, skipped a tick or ended.
        Cast {
            /// The ability.
            ability: AbilityId = "Ability",
            /// The number of the tick that ran or was skipped; at the end of the cast, of its last tick.
            tick: u32 = "Tick",
            /// The total duration of the cast.
            length: SimTime = "Length",
            /// The step.
            step: CastStep = "Step",
        },
        /// A global cooldown started or ended.
        GlobalCooldown {
            /// The group.
            group: GroupId = "Group",
            /// Whether the global cooldown is running now.
            running: bool = "Running",
            /// The duration.
            length: SimTime = "Length",
        },
        /// The charges of an ability changed.
        Charges {
            /// The ability.
            ability: AbilityId = "Ability",
            /// The grant.
            grant: GrantId = "Grant",
            /// The number of charges.
            have: u32 = "Have",
            /// The maximum number of charges.
            max: u32 = "Max",
            /// The total duration of the running recharge, or zero if none is running.
            length: SimTime = "Length",
        },
        /// An input was pressed or released.
        Input {
            /// The input.
            input: InputId = "InputID",
            /// Whether the input is pressed now.
            pressed: bool = "Pressed",
            /// How long the input was held.
            held: SimTime = "Held",
        },
        /// An effect caused damage, healing or threat.
        Damage {
            /// The kind of the event: damage, healing or threat.
            damage: CombatKind = "Type",
            /// The style of the event: direct, periodic or area.
            style: CombatStyle = "Style",
            /// The controller that the event is credited to.
            credit: ControllerId = "Credit",
            /// The amount after mitigation and absorption.
            amount: f64 = "Amount",
            /// The amount before mitigation and absorption.
            raw: f64 = "Raw",
            /// The amount that attributes with `Absorb` absorbed.
            absorbed: f64 = "Absorbed",
            /// The part of the amount that exceeded the remaining value of the damaged attribute.
            overkill: f64 = "Overkill",
        },
        /// An ability set was granted.
        SetGranted {
            /// The ability set.
            set: AbilitySetId = "AbilitySet",
            /// The handle that revokes the ability set.
            handle: u64,
        },
        /// A granted ability set was revoked.
        SetRevoked {
            /// The ability set.
            set: AbilitySetId = "AbilitySet",
            /// The handle of the revoked grant.
            handle: u64,
        },
        /// The sim was migrated to new rules. The facts about the resulting changes follow this fact.
        Reloaded {
            /// The hash of the old rules.
            from: u64,
            /// The hash of the new rules.
            to: u64,
        },
        /// A step in the life of a capability.
        Capability {
            /// The class of the capability.
            class: CapabilityId = "Class",
            /// The set that lists the capability.
            set: AbilitySetId = "Set",
            /// The step.
            step: CapabilityStep = "Step",
        },
        /// A controller got or lost a resource, or the value of a resource changed. The fact of a change follows its
        /// `AttributeChanged`. A client emits `Added` when a resource first arrives.
        Resource {
            /// The attribute of the resource.
            attribute: AttributeId = "Attribute",
            /// What happened.
            step: ResourceStep = "Step",
            /// The value before; 0 for `Added`.
            old: f64 = "Old",
            /// The value after; 0 for `Removed`.
            new: f64 = "New",
        },
        /// The server denied an activation that the owning client had predicted. Emitted on both, but not on observers.
        Mispredicted {
            /// The ability.
            ability: AbilityId = "Ability",
        },
        /// An input action triggered. The abilities that are bound to it are tried next.
        Triggered {
            /// The input.
            input: InputId = "InputID",
            /// The trigger behavior of the action.
            behavior: TriggerBehavior = "Behavior",
        },
        /// The value of a simulated axis changed.
        Axis {
            /// The input.
            input: InputId = "InputID",
            /// The first component.
            x: f64 = "X",
            /// The second component.
            y: f64 = "Y",
            /// The third component.
            z: f64 = "Z",
        },
        /// A press was queued or buffered, or left the queue or the buffer.
        Buffered {
            /// The input.
            input: InputId = "InputID",
            /// What happened.
            step: BufferStep = "Step",
        },
    }
}
