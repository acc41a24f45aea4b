//! The built-in task types: name, category, and how their parameters are read.

use super::param::Fields;
use super::program::NO_PC;
use super::task::{AbilityStep, ApplyDef, Comparison, EventTo, Num, RemoveDef, TargetPick, TaskCategory, TaskKind};

pub(crate) type Parse = fn(&mut Fields<'_, '_, '_>) -> Option<TaskKind>;

pub(crate) struct BuiltIn {
    pub(crate) name: &'static str,
    pub(crate) category: TaskCategory,
    /// `None`: a composite.
    pub(crate) parse: Option<Parse>,
    /// For a ticking task: whether it is critical.
    pub(crate) ticks: Option<bool>,
}

const fn leaf(name: &'static str, category: TaskCategory, parse: Parse) -> BuiltIn {
    BuiltIn { name, category, parse: Some(parse), ticks: None }
}
const fn ticking(name: &'static str, critical: bool, parse: Parse) -> BuiltIn {
    BuiltIn { name, category: Spatial, parse: Some(parse), ticks: Some(critical) }
}
const fn composite(name: &'static str) -> BuiltIn {
    BuiltIn { name, category: Composite, parse: None, ticks: None }
}

use TaskCategory::{Action, Animation, Composite, Event, Input, Request, Spatial, State, Temporal};

/// All built-in task types; the index is the id.
pub(crate) static BUILT_IN: [BuiltIn; 45] = [
    composite("Sequence"),
    composite("Parallel"),
    composite("Race"),
    composite("Branch"),
    composite("Repeat"),
    leaf("ApplyEffectToOwner", Action, |f| apply(f).map(TaskKind::ApplyToOwner)),
    leaf("ApplyEffectToTarget", Action, |f| apply(f).map(TaskKind::ApplyToTarget)),
    leaf("ApplyEffectToActorsInRadius", Action, in_radius),
    leaf("RemoveEffectFromOwner", Action, |f| remove(f).map(TaskKind::RemoveFromOwner)),
    leaf("RemoveEffectFromTarget", Action, |f| remove(f).map(TaskKind::RemoveFromTarget)),
    leaf("CommitAbility", Action, |_| Some(TaskKind::Commit)),
    leaf("EndAbility", Action, |f| Some(TaskKind::End { cancelled: f.flag("Cancelled", false) })),
    leaf("CancelAbility", Action, |f| f.abilities().map(TaskKind::CancelAbility)),
    leaf("SendEvent", Action, send_event),
    leaf("SetParam", Action, |f| {
        let (param, value) = (f.param("Name"), f.need_num("Value"));
        Some(TaskKind::SetParam { param: param?, value: value? })
    }),
    leaf("SetRestriction", Action, |f| {
        let (name, active) = (f.param("Name"), f.flag("Active", true));
        Some(TaskKind::SetRestriction { name: name?, active })
    }),
    leaf("ExecuteCue", Action, |f| f.need_tag("Cue").map(TaskKind::ExecuteCue)),
    leaf("AddCue", Action, |f| f.need_tag("Cue").map(TaskKind::AddCue)),
    leaf("RemoveCue", Action, |f| f.need_tag("Cue").map(TaskKind::RemoveCue)),
    leaf("PlayMontage", Request, |f| {
        let (montage, rate) = (f.need_text("MontageToPlay"), f.num("PlayRate"));
        let montage = montage?;
        let timeline = f.c.rules.by_montage.get(&montage).copied();
        Some(TaskKind::PlayMontage { montage, rate: rate.unwrap_or(Num::Value(1.0)), timeline })
    }),
    leaf("SpawnProjectile", Request, |f| {
        let class = f.need_text("ProjectileClass");
        f.num("Speed");
        f.num("Gravity");
        let effect = f.effect("EffectClass");
        class.map(|_| TaskKind::SpawnProjectile { effect })
    }),
    leaf("Request", Request, |f| {
        let name = f.need_text("Name");
        f.accept_rest();
        name.map(|name| TaskKind::Request { name })
    }),
    leaf("WaitDelay", Temporal, |f| f.need_time("Duration").map(|duration| TaskKind::WaitDelay { duration })),
    leaf("WaitGameTime", Temporal, |f| f.need_time("Time").map(|time| TaskKind::WaitGameTime { time })),
    leaf("WaitGameplayEvent", Event, |f| {
        let (tag, once) = (f.need_tag("EventTag"), f.flag("OnlyTriggerOnce", true));
        // The assembler sets the address of the body.
        Some(TaskKind::WaitGameplayEvent { tag: tag?, once, body: NO_PC })
    }),
    leaf("WaitTagAdded", State, |f| wait_tag(f, true)),
    leaf("WaitTagRemoved", State, |f| wait_tag(f, false)),
    leaf("WaitTagChanged", Event, |f| {
        let (tag, once) = (f.need_tag("Tag"), f.flag("OnlyTriggerOnce", true));
        Some(TaskKind::WaitTagChanged { tag: tag?, once })
    }),
    leaf("WaitTagQuery", State, |f| f.need_query("Query").map(TaskKind::WaitTagQuery)),
    leaf("WaitAttributeChange", State, |f| {
        let (attribute, once) = (f.attribute("Attribute"), f.flag("OnlyTriggerOnce", true));
        Some(TaskKind::WaitAttributeChange { attribute: attribute?, once })
    }),
    leaf("WaitAttributeThreshold", State, threshold),
    leaf("WaitEffectApplied", Event, |f| f.effects().map(|what| TaskKind::WaitEffect { what, applied: true })),
    leaf("WaitEffectRemoved", Event, |f| f.effects().map(|what| TaskKind::WaitEffect { what, applied: false })),
    leaf("WaitAbilityActivated", Event, |f| wait_ability(f, AbilityStep::Activated)),
    leaf("WaitAbilityCommitted", Event, |f| wait_ability(f, AbilityStep::Committed)),
    leaf("WaitAbilityEnded", Event, |f| wait_ability(f, AbilityStep::Ended)),
    leaf("WaitInputPressed", Input, |f| Some(TaskKind::WaitInputPressed { input: f.input("InputID") })),
    leaf("WaitInputRelease", Input, |f| Some(TaskKind::WaitInputRelease { input: f.input("InputID") })),
    leaf("WaitMontageEnded", Animation, |f| {
        Some(TaskKind::WaitMontageEnded { montage: f.text("Montage").map(|m| m.into()) })
    }),
    leaf("WaitAnimationEvent", Animation, animation_event),
    leaf("WaitTargetData", Spatial, |f| {
        let (method, max_range) = (f.need_text("TargetingMethod"), f.num("MaxRange"));
        Some(TaskKind::WaitTargetData { method: method?, max_range })
    }),
    ticking("WaitOverlap", false, |f| {
        let (radius, filter) = (f.num("Radius"), f.query("Filter"));
        Some(TaskKind::WaitOverlap { radius, filter })
    }),
    ticking("WaitForTarget", true, |f| Some(TaskKind::WaitForTarget { max_range: f.num("MaxRange") })),
    // Not allowed in a list: an ability with AsyncValidation sends a request of this kind to the host.
    leaf("Validate", Request, |f| {
        f.bad("Type", "Validate is used by AsyncValidation and cannot be a task of a list".into());
        None
    }),
    leaf("SetTarget", Action, set_target),
];

/// The types that the engine answers.
pub(crate) const SEAMS: [&str; 5] =
    ["WaitMontageEnded", "WaitAnimationEvent", "WaitTargetData", "WaitOverlap", "WaitForTarget"];

fn apply(f: &mut Fields<'_, '_, '_>) -> Option<ApplyDef> {
    let effect = f.need_effect("EffectClass");
    let (level, stacks, duration) = (f.num("Level"), f.num("Stacks"), f.time("Duration"));
    let by_caller = f.by_caller("SetByCaller");
    Some(ApplyDef { effect: effect?, level, stacks, duration, by_caller })
}

fn in_radius(f: &mut Fields<'_, '_, '_>) -> Option<TaskKind> {
    let (apply, radius) = (apply(f), f.need_num("Radius"));
    let (ignore, max) = (f.tags("IgnoreTargetsWithTag"), f.count("MaxTargets"));
    Some(TaskKind::ApplyInRadius { apply: apply?, radius: radius?, ignore, max })
}

fn remove(f: &mut Fields<'_, '_, '_>) -> Option<RemoveDef> {
    let (what, stacks) = (f.effects(), f.count("Stacks"));
    Some(RemoveDef { what: what?, stacks })
}

fn set_target(f: &mut Fields<'_, '_, '_>) -> Option<TaskKind> {
    let words = [
        ("Nearest", TargetPick::Nearest),
        ("Owner", TargetPick::Owner),
        ("Instigator", TargetPick::Instigator),
        ("Nobody", TargetPick::Nobody),
    ];
    let pick = f.need_word("Target", &words);
    let (radius, ignore) = (f.num("Radius"), f.tags("IgnoreTargetsWithTag"));
    Some(TaskKind::SetTarget { pick: pick?, radius, ignore })
}

fn send_event(f: &mut Fields<'_, '_, '_>) -> Option<TaskKind> {
    let tag = f.need_tag("EventTag");
    let words = [("Owner", EventTo::Owner), ("Target", EventTo::Target), ("Targets", EventTo::Targets)];
    let to = f.word("To", &words).unwrap_or_default();
    let magnitude = f.num("Magnitude");
    Some(TaskKind::SendEvent { tag: tag?, to, magnitude })
}

/// `Tag`, or `WaitTag` as in the specification's pseudo code.
fn wait_tag(f: &mut Fields<'_, '_, '_>, added: bool) -> Option<TaskKind> {
    let tag = match f.tag("WaitTag") {
        Some(tag) => {
            f.tag("Tag");
            Some(tag)
        }
        None => f.need_tag("Tag"),
    };
    Some(TaskKind::WaitTag { tag: tag?, added })
}

fn threshold(f: &mut Fields<'_, '_, '_>) -> Option<TaskKind> {
    let attribute = f.attribute("Attribute");
    let words = [
        ("LessThan", Comparison::LessThan),
        ("LessEqual", Comparison::LessEqual),
        ("Greater", Comparison::Greater),
        ("GreaterEqual", Comparison::GreaterEqual),
    ];
    let comparison = f.need_word("Comparison", &words);
    let value = f.need_num("Value");
    Some(TaskKind::WaitAttributeThreshold { attribute: attribute?, comparison: comparison?, value: value? })
}

fn wait_ability(f: &mut Fields<'_, '_, '_>, step: AbilityStep) -> Option<TaskKind> {
    f.abilities().map(|what| TaskKind::WaitAbility { what, step })
}

/// `EventName`, or `EventTag`.
fn animation_event(f: &mut Fields<'_, '_, '_>) -> Option<TaskKind> {
    let tag = f.tag("EventTag");
    match tag {
        Some(tag) => {
            f.text("EventName");
            let name = f.c.rules.tag_name(tag).unwrap_or("").into();
            Some(TaskKind::WaitAnimationEvent { name, tag: Some(tag) })
        }
        None => {
            let name = f.need_text("EventName")?;
            let tag = f.c.rules.find_tag(&name);
            Some(TaskKind::WaitAnimationEvent { name, tag })
        }
    }
}
