//! The runtime: a deterministic gameplay-ability system as a library. It uses no engine, files, sockets, system clock
//! or threads.
//!
//! Every game needs a layer that turns inputs, AI decisions and network commands into attribute changes, tags and cues.
//! If this layer is scattered over the character classes of a game, it cannot be replayed, predicted or explained. This
//! crate implements the layer as one value, the [`Sim`], which runs compiled [`Rules`]. A host requests a change with
//! an [`Op`]. The sim reports each change as a [`Fact`]. If an op fails a check, the sim returns a [`Refusal`].
//!
//! The goals, in order of priority: correctness, determinism, explainability, speed, small size. The crate does not
//! include rendering, audio, physics, file access, networking or threads.
//!
//! ```
//! use ugas_core::{Rules, Sim, SimConfig, SpawnSpec, Spec};
//! use ugas_doc::{Attribute, AttributeSet, Effect};
//!
//! let rules = Rules::builder()
//!     .add(AttributeSet::new("Combat").with(Attribute::new("AttackPower", 10.0)))
//!     .add(Effect::infinite("GE_Strength").multiply("AttackPower", 0.25))
//!     .build()?;
//! let mut sim = Sim::new(rules.clone(), SimConfig::default());
//! let hero = sim.spawn(SpawnSpec::sets([rules.set("Combat").unwrap()]))?;
//! sim.apply(&Spec::new(rules.effect("GE_Strength").unwrap(), hero))?;
//! let power = sim.explain(hero, rules.attribute("AttackPower").unwrap())?;
//! assert_eq!(power.short(), "AttackPower 12.5 = 10 × 1.25 (GE_Strength)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod block;
mod check;
mod check_capability;
mod check_input;
mod check_play;
mod difference;
mod fact;
mod flow;
mod ids;
mod image;
mod json;
mod kinds;
mod limits;
mod migration;
mod op;
mod query;
mod read_error;
mod refusal;
mod refusal_text;
mod rng;
mod rules;
mod sim;
mod sim_ability;
mod spec;
mod state;
mod task;
mod time;

pub use block::BlockSource;
pub use difference::RowDifference;
pub use fact::{
    AbilityState, BufferStep, CapabilityStep, CastStep, Cause, CueType, Diagnostic, DiagnosticKind, EffectChange, Fact,
    FactKind, Facts, FieldValue, LifecycleStep, ParamValue, Params, RemoveReason, ResourceStep, Span, TaskResult,
    TaskState, Trace, TraceKind,
};
pub use flow::{ActionSetState, ChargeView, Home, Liveness, SeedBlock, UsedAbility};
pub use ids::{
    ActivationKey, ActorId, ChannelId, ControllerId, EffectKey, GrantId, GroupId, OpId, ParamId, RUNTIME_BIT, TaskKey,
};
pub use image::{Portable, RowImage, RowJournal};
pub use kinds::*;
pub use limits::{Limits, MIN_PERIOD};
pub use migration::{DocumentChange, DocumentWhat, Migration, ReloadError};
pub use op::{Answer, DefId, EffectFilter, EffectUpdate, EventData, Op, Outcome, Target, Which};
pub use query::{ActionView, ActivationView, CastView, Castable, Reason, Timer};
pub use query::{CapabilityCounts, CapabilityReason, CapabilityState, CapabilityView, ConditionReads};
pub use query::{
    ChannelShare, EffectState, EffectView, Explanation, FilledText, GrantView, ModifierLine, ModifierState, TaskView,
};
pub use read_error::ReadError;
pub use refusal::{BadValue, InsertError, LimitKind, Refusal, Restriction};
pub use rules::{
    AbilityCx, AbilityHookCx, AfterCx, AttributeDef, BoundDef, Calc, Calculator, CapabilityCall, CapabilityCx,
    CapabilityMemory, CaptureTime, CodedAbility, CodedCapability, CombatChange, CombatCx, CustomTask, DamageCx, HookCx,
    HookReads, LoadError, LoadIssue, Next, Progression, Read, ReadKey, ResourceCx, Resume, Rules, RulesBuilder,
    Severity, TagQuery, TagSet, TaskCategory, TaskCx, UnknownName, WakeEvent, WakeKind, Watches, tag_parents,
    tag_segments,
};
pub use sim::{
    AttributePreview, CapabilityFigures, FactPlace, Holding, Host, JournalPosition, LocalFact, LocalRequest,
    LocalRunner, NoHost, PredictedAim, Preview, Progress, ProxyRow, Remote, RemoteMut, ResimulationStop, Role,
    RowPreview, RowResimulation, Sim, SimConfig, Simulated, SimulatedStep, SpaceQuery, TaskFigures, TaskRecord,
    TriggerAction, insert_local_facts,
};
pub use spec::{AbilityGrant, Anchor, Hit, ResourceSpec, SpawnSpec, Spec, SpecExtra};
pub use state::{AxisValue, CauseLink, CauseWhat};
pub use task::{host_answered_tasks, needs_target};
pub use time::{FLICKS_PER_SECOND, Rate, SimTime};
