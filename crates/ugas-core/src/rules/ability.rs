//! Compiled abilities: every name an id, every list a slice, the task lists one program.

use super::expr::Expr;
use super::program::{NO_PC, Program};
use super::tag::TagQuery;
use crate::{AbilityId, AttributeId, EffectId, GroupId, HookId, SimTime, TagId};
use std::sync::Arc;
use ugas_doc::{Ability, GroupPolicy, OnTargetLost, Origin};

/// What a row has to hear about because of an ability, a wait or a trigger on it.
pub(crate) mod listen {
    /// Tags that come or go.
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
    /// As it was written, for readers; what the network will ask (`NetExecution` and the like) is read from here.
    pub(crate) doc: Arc<Ability>,
    pub(crate) tags: Box<[TagId]>,
    pub(crate) blocked_by: Box<[TagId]>,
    pub(crate) blocks: Box<[TagId]>,
    pub(crate) cancels: Box<[TagId]>,
    pub(crate) required: Box<[TagId]>,
    pub(crate) blocked: Box<[TagId]>,
    /// The built-in effect that grants `ActivationOwnedTags`. A run-time ability's has the ability's own number.
    pub(crate) owned: Option<EffectId>,
    pub(crate) source_required: Box<[TagId]>,
    pub(crate) target_required: Box<[TagId]>,
    pub(crate) target_blocked: Box<[TagId]>,
    pub(crate) query: Option<TagQuery>,
    pub(crate) condition: Option<Expr>,
    pub(crate) hook: Option<HookId>,
    pub(crate) cost: Option<EffectId>,
    pub(crate) cooldown: Option<EffectId>,
    /// The cooldown effect's tags under `Cooldown`, else all it grants.
    pub(crate) cooldown_tags: Box<[TagId]>,
    pub(crate) group: Option<(GroupId, GroupPolicy)>,
    pub(crate) triggers: Box<[TriggerDef]>,
    /// Global cooldown: group and seconds.
    pub(crate) gcd: Option<(GroupId, f64)>,
    pub(crate) charges: Option<ChargesDef>,
    pub(crate) cast: Option<CastDef>,
    pub(crate) max_range: Option<f64>,
    pub(crate) validation: Option<ValidationDef>,
    /// A CommitAbility task commits.
    pub(crate) manual: bool,
    pub(crate) multiple: bool,
    pub(crate) retrigger: bool,
    pub(crate) held: bool,
    pub(crate) avatar: bool,
    pub(crate) passive: bool,
    /// Castable while dead.
    pub(crate) dead: bool,
    pub(crate) fixed: StaticMask,
    pub(crate) program: Program,
    pub(crate) flags: AbilityFlags,
}

impl AbilityDef {
    /// The range within which an activation may start.
    pub(crate) fn start_range(&self) -> Option<f64> {
        self.max_range.or(self.cast.and_then(|c| c.max_range))
    }

    /// The range within which the target of a cast must stay.
    pub(crate) fn cast_range(&self) -> Option<f64> {
        self.cast.and_then(|c| c.max_range).or(self.max_range)
    }

    /// Whether a cast of it ends when the target is lost.
    pub(crate) fn needs_living_target(&self) -> bool {
        self.cast.is_some_and(|c| c.on_target_lost != OnTargetLost::Continue)
    }

    /// Whether it lasts while a tag is there.
    pub(crate) fn lasts_with_tag(&self) -> bool {
        self.triggers.iter().any(|t| matches!(t, TriggerDef::TagPresent(_)))
    }

    /// Whether an activation is over as soon as it is committed, as far as the definition says: it waits for nothing,
    /// does nothing, casts nothing and holds nothing.
    pub(crate) fn is_momentary(&self) -> bool {
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
    /// Hierarchical.
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
    /// Charges that one cooldown brings back.
    pub(crate) per: u32,
    /// Seconds.
    pub(crate) cooldown: f64,
    /// Whether who plays ahead knows how long it takes.
    pub(crate) predicted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CastDef {
    /// Seconds.
    pub(crate) length: f64,
    /// At least one.
    pub(crate) ticks: u32,
    /// One more tick, number 0, at the start.
    pub(crate) initial: bool,
    pub(crate) cancel_on_release: bool,
    pub(crate) interruptible: bool,
    /// Movement of the owner cancels it.
    pub(crate) still: bool,
    /// `State.Moving`, which cancels the cast too, unless it may go on while moving.
    pub(crate) moving: Option<TagId>,
    pub(crate) on_target_lost: OnTargetLost,
    /// Within which the target must stay.
    pub(crate) max_range: Option<f64>,
    /// Whether who plays ahead knows how long it takes.
    pub(crate) predicted: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValidationDef {
    /// What is asked; empty where the document does not say.
    pub(crate) kind: Arc<str>,
    /// `NEVER` where nothing is said.
    pub(crate) timeout: SimTime,
    pub(crate) predicted: bool,
}

/// Which values modifiers leave alone.
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

/// What can be said about an ability without looking at anybody who has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AbilityFlags {
    /// Bits of the checks of an activation that it can fail at all.
    pub(crate) checks: u32,
    /// What a cost of a single number takes from what.
    pub(crate) price: Option<(AttributeId, f64)>,
    /// See [`AbilityDef::is_momentary`].
    pub(crate) momentary: bool,
    /// The condition reads another controller: its check cannot be cached.
    pub(crate) foreign_condition: bool,
    /// The hook did not say that it reads nothing but the owner: its check cannot be cached.
    pub(crate) foreign_hook: bool,
    /// Code decides about its cost or its cooldown: those checks cannot be cached.
    pub(crate) foreign_commit: bool,
    /// It cannot be activated without a controller as target.
    pub(crate) needs_target: bool,
    /// `listen` bits its triggers and its cancelling tags need while it is granted.
    pub(crate) listens: u32,
    /// Attributes its triggers watch while it is granted.
    pub(crate) watched: Box<[AttributeId]>,
}
