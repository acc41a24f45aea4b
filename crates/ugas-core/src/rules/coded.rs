//! Abilities written in code. The runtime resumes a coded ability when the event that the ability waits for occurs. The
//! ability then requests changes and returns the next event that it waits for. Between two calls, the row stores the
//! state of the ability in a few bytes.

use super::compile::Compiler;
use super::{Rules, RulesBuilder};
use crate::rng::DrawAt;
use crate::{
    AbilityId, Answer, AttributeId, ControllerId, EffectId, EventData, InputId, ParamId, Refusal, SimTime, Spec, TagId,
    Target, TaskKindId,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fmt;
use std::sync::Arc;

/// The event that a coded ability waits for next.
///
/// ```
/// use ugas_core::{InputId, Next, SimTime};
/// let next = Next::After(SimTime::seconds(2.0)).or(Next::Input(InputId(1)));
/// assert!(matches!(next, Next::Any(waits) if waits.len() == 2));
/// assert_eq!(Next::End.or(Next::Input(InputId(1))), Next::End);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Next {
    /// The end of a time span on the owner's clock.
    After(SimTime),
    /// A gameplay event with this tag or a descendant of it.
    Event(TagId),
    /// The addition or removal of this tag.
    Tag(TagId),
    /// A press or release of this input.
    Input(InputId),
    /// The host's answer to a task request fact of this task type.
    Request(TaskKindId),
    /// The first of these events that occurs. The list has at most eight events. See [`Next::or`].
    Any(Vec<Next>),
    /// No event. The ability completes.
    End,
    /// No event. The ability is cancelled.
    Cancel,
}

/// Maximum number of simultaneous waits of one ability.
const WAITS: usize = 8;

impl Next {
    /// Combines two waits. The event that occurs first resumes the ability. `End` and `Cancel` take precedence over
    /// waits. A combination has at most eight waits; further waits are dropped.
    pub fn or(self, other: Next) -> Next {
        match (self, other) {
            (end @ (Next::End | Next::Cancel), _) | (_, end @ (Next::End | Next::Cancel)) => end,
            (first, second) => {
                let mut all = first.into_waits();
                all.extend(second.into_waits());
                all.truncate(WAITS);
                Next::Any(all)
            }
        }
    }

    fn into_waits(self) -> Vec<Next> {
        match self {
            Next::Any(all) => all,
            one @ Next::After(_)
            | one @ Next::Event(_)
            | one @ Next::Tag(_)
            | one @ Next::Input(_)
            | one @ Next::Request(_)
            | one @ Next::End
            | one @ Next::Cancel => vec![one],
        }
    }

    /// Returns the individual waits.
    pub(crate) fn waits(&self) -> &[Next] {
        match self {
            Next::Any(all) => all,
            one @ Next::After(_)
            | one @ Next::Event(_)
            | one @ Next::Tag(_)
            | one @ Next::Input(_)
            | one @ Next::Request(_)
            | one @ Next::End
            | one @ Next::Cancel => std::slice::from_ref(one),
        }
    }

    /// Returns whether [`Next::or`] could have produced this value. Code and files can produce other values.
    pub(crate) fn is_valid(&self) -> bool {
        let single = |n: &Next| !matches!(n, Next::Any(_) | Next::End | Next::Cancel);
        let waits = self.waits();
        !waits.is_empty() && waits.len() <= WAITS && waits.iter().all(single)
    }
}

/// The reason why a coded ability is resumed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resume<'a> {
    /// The ability became active. This is the first call and happens exactly once.
    Activated,
    /// The time that the ability waited for has passed.
    Elapsed,
    /// The gameplay event that the ability waited for was received.
    Event(&'a EventData),
    /// The tag was added or removed.
    Tag {
        /// Whether the tag was added; otherwise it was removed.
        added: bool,
    },
    /// The input was pressed or released.
    Input {
        /// Whether the input is pressed now.
        pressed: bool,
        /// How long the input was held.
        held: SimTime,
    },
    /// The host answered the request.
    Answer(&'a Answer),
    /// The ability ended. This is the last call and happens exactly once. The result of this call is ignored.
    End {
        /// Whether the ability was cancelled.
        cancelled: bool,
    },
}

/// A change that a coded ability requests. Requests are executed in order when the call returns.
#[derive(Clone, Debug)]
pub(crate) enum AbilityAction {
    Apply(Box<Spec>),
    Remove { effect: EffectId },
    Send { tag: TagId, target: ControllerId, magnitude: f64 },
    Cue(TagId),
    SetParam { param: ParamId, value: f64 },
    Commit,
}

/// The context of a coded ability. The ability uses it to read tags and attributes and to request changes. The
/// requested changes are made, in order, when the call returns. Only effects can change tags and attributes.
///
/// ```compile_fail
/// fn cheat(cx: &mut ugas_core::AbilityCx<'_>, tag: ugas_core::TagId) {
///     cx.add_tag(tag); // no such method
/// }
/// ```
pub struct AbilityCx<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) who: ControllerId,
    pub(crate) level: u32,
    pub(crate) target: Target,
    pub(crate) now: SimTime,
    pub(crate) values: &'a dyn Fn(ControllerId, AttributeId) -> Option<f64>,
    pub(crate) tags: &'a dyn Fn(ControllerId, TagId) -> bool,
    pub(crate) around: &'a dyn Fn(f64) -> Vec<ControllerId>,
    pub(crate) params: &'a dyn Fn(ParamId) -> Option<f64>,
    /// Checks whether a commit would succeed now. The error is the refusal.
    pub(crate) commits: &'a dyn Fn() -> Result<(), Refusal>,
    pub(crate) draw: DrawAt,
    pub(crate) acts: Vec<AbilityAction>,
}

impl AbilityCx<'_> {
    /// Returns the rules.
    pub fn rules(&self) -> &Rules {
        self.rules
    }
    /// Returns the controller that owns the ability.
    pub fn who(&self) -> ControllerId {
        self.who
    }
    /// Returns the activation's level.
    pub fn level(&self) -> u32 {
        self.level
    }
    /// Returns the target of the activation.
    pub fn target(&self) -> Target {
        self.target
    }
    /// Returns the current time of the owner's clock.
    pub fn now(&self) -> SimTime {
        self.now
    }
    /// Returns the current value of an attribute of the owner.
    pub fn get(&self, attribute: AttributeId) -> Option<f64> {
        (self.values)(self.who, attribute)
    }
    /// Returns the current value of an attribute of any controller.
    pub fn get_of(&self, who: ControllerId, attribute: AttributeId) -> Option<f64> {
        (self.values)(who, attribute)
    }
    /// Returns whether the owner has a tag or a descendant of it.
    pub fn has(&self, tag: TagId) -> bool {
        (self.tags)(self.who, tag)
    }
    /// Returns whether a controller has a tag or a descendant of it.
    pub fn has_of(&self, who: ControllerId, tag: TagId) -> bool {
        (self.tags)(who, tag)
    }
    /// Returns the other controllers within a radius around the owner, the nearest first. Controllers without a
    /// position are not included. The list is empty if the owner has no position.
    pub fn within(&self, radius: f64) -> Vec<ControllerId> {
        (self.around)(radius)
    }
    /// Applies an effect to the owner.
    pub fn apply_to_owner(&mut self, effect: EffectId) {
        self.apply(Spec::new(effect, self.who).level(self.level));
    }
    /// Applies an effect to the target. Does nothing if there is no target.
    pub fn apply_to_target(&mut self, effect: EffectId) {
        if let Target::Controller(target) = self.target {
            self.apply(Spec::new(effect, target).level(self.level));
        }
    }
    /// Applies the effect of a spec, with the owner as its source.
    pub fn apply(&mut self, spec: Spec) {
        self.acts.push(AbilityAction::Apply(Box::new(spec)));
    }
    /// Removes all effects of this definition from the owner.
    pub fn remove_from_owner(&mut self, effect: EffectId) {
        self.acts.push(AbilityAction::Remove { effect });
    }
    /// Sends a gameplay event.
    pub fn send(&mut self, tag: TagId, target: ControllerId, magnitude: f64) {
        self.acts.push(AbilityAction::Send { tag, target, magnitude });
    }
    /// Triggers a burst cue on the owner.
    pub fn cue(&mut self, tag: TagId) {
        self.acts.push(AbilityAction::Cue(tag));
    }
    /// Returns a parameter of the ability's grant.
    pub fn param(&self, param: ParamId) -> Option<f64> {
        (self.params)(param)
    }
    /// Sets a parameter of the ability's grant. A number that is not finite is ignored.
    pub fn set_param(&mut self, param: ParamId, value: f64) {
        self.acts.push(AbilityAction::SetParam { param, value });
    }
    /// Returns a random number in [0, 1). A resimulation of this call returns the same number.
    pub fn random(&mut self) -> f64 {
        let number = self.draw.unit();
        self.draw.draw += 1;
        number
    }
    /// Commits an ability whose commit policy is Manual. If the commit is refused, the ability stays active without
    /// being committed; it can return [`Next::End`] or [`Next::Cancel`]. If a change requested earlier in the same call
    /// makes the commit impossible, the ability is cancelled and later requests of the call are dropped.
    pub fn commit(&mut self) -> Result<(), Refusal> {
        (self.commits)()?;
        self.acts.push(AbilityAction::Commit);
        Ok(())
    }
}

/// The code of an ability. The ability's document defines its tags, cost, cooldown and checks.
///
/// ```
/// use ugas_core::{AbilityCx, CodedAbility, Next, Resume, Rules, SimTime};
/// use ugas_doc::Ability;
/// struct Pause;
/// impl CodedAbility for Pause {
///     type State = u32;
///     fn resume(&self, calls: &mut u32, why: Resume<'_>, _: &mut AbilityCx<'_>) -> Next {
///         *calls += 1;
///         if why == Resume::Activated { Next::After(SimTime::seconds(1.0)) } else { Next::End }
///     }
/// }
/// assert!(Rules::builder().add(Ability::new("GA_Pause")).ability_code("GA_Pause", Pause).build().is_ok());
/// assert!(Rules::builder().ability_code("GA_Nobody", Pause).build().is_err());
/// ```
pub trait CodedAbility: Send + Sync + 'static {
    /// The state that is kept between calls, at most 256 bytes as JSON. JSON cannot represent non-finite numbers. An
    /// ability whose state cannot be stored is cancelled with a diagnostic.
    type State: Default + Serialize + DeserializeOwned;

    /// Resumes the ability and returns the event that it waits for next.
    fn resume(&self, state: &mut Self::State, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next;
}

/// A coded ability with its state encoded as bytes.
pub(crate) trait ErasedAbility: Send + Sync {
    /// Resumes the ability; `None` if its state cannot be encoded or decoded.
    fn resume(&self, state: &mut Vec<u8>, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Option<Next>;
}

/// Maximum size of a state in bytes.
const STATE: usize = 256;

impl<T: CodedAbility> ErasedAbility for T {
    fn resume(&self, bytes: &mut Vec<u8>, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Option<Next> {
        let read = |bytes: &[u8]| serde_json::from_slice::<T::State>(bytes).ok();
        let mut state = if bytes.is_empty() { T::State::default() } else { read(bytes)? };
        let next = CodedAbility::resume(self, &mut state, why, cx);
        // The state after the last call is never read.
        if !matches!(why, Resume::End { .. }) {
            // JSON can write infinity but cannot read it back, so the ability fails now and not at the next call.
            *bytes = serde_json::to_vec(&state).ok().filter(|b| b.len() <= STATE && read(b).is_some())?;
        }
        Some(next)
    }
}

/// The code of an ability.
#[derive(Clone)]
pub(crate) struct AbilityCode(pub(crate) Arc<dyn ErasedAbility>);

impl fmt::Debug for AbilityCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AbilityCode")
    }
}

impl Compiler<'_> {
    /// Stores the code of an ability that a document defines.
    pub(crate) fn ability_code(&mut self, name: &str, code: Arc<dyn ErasedAbility>) {
        let defined = self.rules.find_ability(name);
        let Some(id) = defined else {
            self.about(name, None);
            return self.error(
                "unknown-ability",
                "the ability has code but no document; add a gameplay_ability document with this name".into(),
            );
        };
        self.rules.to_mut().ability_code.insert(id, AbilityCode(code));
    }
}

impl Rules {
    /// Returns whether the rules define the ids that a coded ability waits for. Code and files can contain unknown ids.
    pub(crate) fn can_await(&self, next: &Next) -> bool {
        let exists = |wait: &Next| match *wait {
            Next::Event(tag) | Next::Tag(tag) => self.tags.def(tag).is_some(),
            Next::Request(kind) => self.task_kinds().any(|(id, ..)| id == kind),
            Next::After(_) | Next::Input(_) | Next::Any(_) | Next::End | Next::Cancel => true,
        };
        next.is_valid() && next.waits().iter().all(exists)
    }

    pub(crate) fn code_of(&self, ability: AbilityId) -> Option<Arc<dyn ErasedAbility>> {
        if self.ability_code.is_empty() { None } else { self.ability_code.get(&ability).map(|c| c.0.clone()) }
    }
}

impl RulesBuilder {
    /// Registers the code of an ability under the name of its document.
    pub fn ability_code(mut self, name: impl Into<String>, code: impl CodedAbility) -> RulesBuilder {
        self.codes.push((name.into(), Arc::new(code)));
        self
    }
}
