//! Compiled abilities: names are replaced with ids, and all task lists are compiled into one program.

use super::compiled::CompiledText;
use super::expr::Expr;
use super::program::{NO_PC, Program};
use super::tag::TagQuery;
use crate::{AbilityId, AttributeId, EffectId, GroupId, HookId, MotionId, SimTime, TagId};
use std::sync::Arc;
use ugas_doc::{Ability, GroupPolicy, OnTargetLost, Origin};

/// The kinds of events that a row must report because of an ability's waits and triggers.
pub(crate) mod listen {
    /// Tags that are added or removed.
    pub(crate) const TAG: u32 = 1 << 0;
    /// Gameplay events.
    pub(crate) const EVENT: u32 = 1 << 1;
    /// Effects that are applied or removed.
    pub(crate) const EFFECT: u32 = 1 << 2;
    /// Presses and releases.
    pub(crate) const INPUT: u32 = 1 << 3;
    /// Abilities that are activated, committed or ended.
    pub(crate) const ABILITY: u32 = 1 << 4;
    /// The death of the owner.
    pub(crate) const DEATH: u32 = 1 << 5;
}

/// An ability as the runtime uses it.
#[derive(Clone, Debug)]
pub(crate) struct AbilityDef {
    pub(crate) id: AbilityId,
    pub(crate) name: Arc<str>,
    pub(crate) origin: Option<Origin>,
    /// The authored document. Network options such as `NetExecution` are read from it.
    pub(crate) doc: Arc<Ability>,
    pub(crate) tags: Box<[TagId]>,
    pub(crate) blocked_by: Box<[TagId]>,
    pub(crate) blocks: Box<[TagId]>,
    /// Tags of other abilities that the ability cancels when it activates.
    pub(crate) cancels: Box<[TagId]>,
    /// Tags of the owner that cancel the ability.
    pub(crate) cancelled_by: Box<[TagId]>,
    pub(crate) required: Box<[TagId]>,
    pub(crate) blocked: Box<[TagId]>,
    /// The built-in effect that grants `ActivationOwnedTags`. For a run-time ability, the effect and the ability have
    /// the same number.
    pub(crate) owned: Option<EffectId>,
    pub(crate) source_required: Box<[TagId]>,
    pub(crate) target_required: Box<[TagId]>,
    pub(crate) target_blocked: Box<[TagId]>,
    pub(crate) query: Option<TagQuery>,
    pub(crate) condition: Option<Expr>,
    pub(crate) hook: Option<HookId>,
    pub(crate) cost: Option<EffectId>,
    pub(crate) cooldown: Option<EffectId>,
    /// The tags that the cooldown effect grants below `Cooldown`; if there are none, all tags that the effect grants.
    pub(crate) cooldown_tags: Box<[TagId]>,
    pub(crate) group: Option<(GroupId, GroupPolicy)>,
    pub(crate) triggers: Box<[TriggerDef]>,
    /// Global cooldown: group and seconds.
    pub(crate) gcd: Option<(GroupId, f64)>,
    pub(crate) charges: Option<ChargesDef>,
    pub(crate) cast: Option<CastDef>,
    pub(crate) max_range: Option<f64>,
    pub(crate) validation: Option<ValidationDef>,
    /// Whether a CommitAbility task commits the ability.
    pub(crate) manual: bool,
    pub(crate) multiple: bool,
    pub(crate) retrigger: bool,
    pub(crate) held: bool,
    /// Whether the ability is activated again in each frame while its input is held.
    pub(crate) automatic: bool,
    /// How long before the end of a cast or a global cooldown a press is queued.
    pub(crate) queue_window: SimTime,
    /// The motion that must precede a press.
    pub(crate) motion: Option<MotionId>,
    pub(crate) avatar: bool,
    pub(crate) passive: bool,
    /// Whether the ability can be activated while its owner is dead.
    pub(crate) dead: bool,
    pub(crate) fixed: StaticMask,
    pub(crate) program: Program,
    pub(crate) flags: AbilityFlags,
}

/// The text of an ability contains the fields of its document that the network reads.
impl CompiledText for AbilityDef {
    fn compiled_text(&self) -> String {
        let Ability { net_execution, client_may_cancel, .. } = *self.doc;
        let doc = Ability { net_execution, client_may_cancel, ..Ability::default() };
        format!("{:?}", AbilityDef { doc: Arc::new(doc), origin: None, ..self.clone() })
    }
}

impl AbilityDef {
    /// Returns the range within which an activation may start.
    pub(crate) fn start_range(&self) -> Option<f64> {
        self.max_range.or(self.cast.and_then(|c| c.max_range))
    }

    /// Returns the range within which the target of a cast must stay.
    pub(crate) fn cast_range(&self) -> Option<f64> {
        self.cast.and_then(|c| c.max_range).or(self.max_range)
    }

    /// Returns whether a cast ends when its target is lost.
    pub(crate) fn needs_living_target(&self) -> bool {
        self.cast.is_some_and(|c| c.on_target_lost != OnTargetLost::Continue)
    }

    /// Returns whether the ability is active as long as a tag is present.
    pub(crate) fn lasts_with_tag(&self) -> bool {
        self.triggers.iter().any(|t| matches!(t, TriggerDef::TagPresent(_)))
    }

    /// Returns whether an activation ends immediately after its commit, according to the definition: no tasks, no
    /// validation, no cast, no owned tags.
    pub(crate) fn ends_at_once(&self) -> bool {
        let entry = &self.program.entry;
        entry.main == NO_PC
            && entry.tick.iter().all(|&pc| pc == NO_PC)
            && self.validation.is_none()
            && !self.manual
            && self.cast.is_none()
            && self.gcd.is_none()
            && self.charges.is_none()
            && self.owned.is_none()
            && !self.passive
            && !self.lasts_with_tag()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TriggerDef {
    /// A gameplay event with this tag or a descendant of it.
    Event(TagId),
    TagAdded(TagId),
    TagPresent(TagId),
    Below(AttributeId, f64),
    Above(AttributeId, f64),
    EffectApplied(EffectId),
    /// The owner died.
    Died,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ChargesDef {
    pub(crate) max: u32,
    pub(crate) cost: u32,
    /// Charges restored per cooldown.
    pub(crate) per: u32,
    /// Seconds.
    pub(crate) cooldown: f64,
    /// Whether a predicting client knows the duration.
    pub(crate) predicted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CastDef {
    /// Seconds.
    pub(crate) length: f64,
    /// At least one.
    pub(crate) ticks: u32,
    /// Whether there is one more tick, number 0, at the start.
    pub(crate) initial: bool,
    pub(crate) cancel_on_release: bool,
    /// Whether a press that the cast refuses cancels the cast.
    pub(crate) cancel_on_input: bool,
    pub(crate) interruptible: bool,
    /// Whether movement of the owner cancels the cast.
    pub(crate) still: bool,
    /// `State.Moving`, which cancels the cast too; `None` if the cast may continue while moving.
    pub(crate) moving: Option<TagId>,
    pub(crate) on_target_lost: OnTargetLost,
    /// The range within which the target must stay.
    pub(crate) max_range: Option<f64>,
    /// Whether a predicting client knows the duration.
    pub(crate) predicted: bool,
    /// Whether the ticks on the server wait for the target that the client chose in the same tick.
    pub(crate) awaits_data: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValidationDef {
    /// The kind of validation; empty if the document does not specify one.
    pub(crate) kind: Arc<str>,
    /// `NEVER` if no timeout is specified.
    pub(crate) timeout: SimTime,
    pub(crate) predicted: bool,
}

/// Values that modifiers do not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StaticMask(pub(crate) u8);

impl StaticMask {
    pub(crate) const CAST_LENGTH: StaticMask = StaticMask(1 << 0);
    pub(crate) const GLOBAL_COOLDOWN: StaticMask = StaticMask(1 << 1);
    pub(crate) const COOLDOWN: StaticMask = StaticMask(1 << 2);
    pub(crate) const COST: StaticMask = StaticMask(1 << 3);
    pub(crate) const MAX_CHARGES: StaticMask = StaticMask(1 << 4);
    pub(crate) const CHARGE_COST: StaticMask = StaticMask(1 << 5);
    pub(crate) const CHARGES_PER_COOLDOWN: StaticMask = StaticMask(1 << 6);

    pub(crate) fn has(self, other: StaticMask) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Properties of an ability that do not depend on its owner.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AbilityFlags {
    /// Bits of the activation checks that the ability can fail.
    pub(crate) checks: u32,
    /// The attribute and the amount of a cost that is a single number.
    pub(crate) price: Option<(AttributeId, f64)>,
    /// See [`AbilityDef::ends_at_once`].
    pub(crate) ends_at_once: bool,
    /// Whether the condition reads another controller. If so, the result of the condition check is not cached.
    pub(crate) foreign_condition: bool,
    /// Whether the hook reads more than the owner. If so, the result of the hook is not cached.
    pub(crate) foreign_hook: bool,
    /// Whether code decides about the cost or the cooldown. If so, the results of these checks are not cached.
    pub(crate) foreign_commit: bool,
    /// Whether the ability needs a controller as target.
    pub(crate) needs_target: bool,
    /// The `listen` bits of the ability's triggers and cancelling tags, while the ability is granted.
    pub(crate) listens: u32,
    /// The attributes that the ability's triggers watch, while the ability is granted.
    pub(crate) watched: Box<[AttributeId]>,
}
