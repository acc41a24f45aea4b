//! Abilities written in code. Such an ability is resumed when what it waits for happens, says what to do, and says what
//! it waits for next; between two calls it is a few bytes in the row.

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

/// What a coded ability waits for next.
///
/// ```
/// use ugas_core::{InputId, Next, SimTime};
/// let next = Next::After(SimTime::seconds(2.0)).or(Next::Input(InputId(1)));
/// assert!(matches!(next, Next::Any(waits) if waits.len() == 2));
/// assert_eq!(Next::End.or(Next::Input(InputId(1))), Next::End);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Next {
    /// Time of the owner's clock.
    After(SimTime),
    /// A gameplay event with this tag or one below it.
    Event(TagId),
    /// A tag that comes or goes.
    Tag(TagId),
    /// A press or release of this input.
    Input(InputId),
    /// The host's answer: it is asked with a task request fact of this task type.
    Request(TaskKindId),
    /// Whichever of these happens first; at most eight. See [`Next::or`].
    Any(Vec<Next>),
    /// Nothing: it is complete.
    End,
    /// Nothing: it gives up.
    Cancel,
}

/// Waits that one ability may have at once.
const WAITS: usize = 8;

impl Next {
    /// Whichever happens first. What waits for nothing wins; a wait beyond the eighth is left out.
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
            one => vec![one],
        }
    }

    /// The single waits.
    pub(crate) fn waits(&self) -> &[Next] {
        match self {
            Next::Any(all) => all,
            one => std::slice::from_ref(one),
        }
    }

    /// Whether it could have been made by [`Next::or`]: an ability's own code or a file may say something else.
    pub(crate) fn is_sound(&self) -> bool {
        let single = |n: &Next| !matches!(n, Next::Any(_) | Next::End | Next::Cancel);
        let waits = self.waits();
        !waits.is_empty() && waits.len() <= WAITS && waits.iter().all(single)
    }
}

/// Why a coded ability is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resume<'a> {
    /// It became active. The first call, exactly once.
    Activated,
    /// Its time is over.
    Elapsed,
    /// Its event arrived.
    Event(&'a EventData),
    /// Its tag came or went.
    Tag {
        /// Whether it came.
        added: bool,
    },
    /// Its input went down or up.
    Input {
        /// Whether it is down now.
        pressed: bool,
        /// How long it was down.
        held: SimTime,
    },
    /// The host answered its request.
    Answer(&'a Answer),
    /// It ended. The last call, exactly once; what it answers does not matter.
    End {
        /// Whether it was cut short.
        cancelled: bool,
    },
}

/// What a coded ability asks for; done in order when it returns.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Apply(Box<Spec>),
    Remove { effect: EffectId },
    Send { tag: TagId, target: ControllerId, magnitude: f64 },
    Cue(TagId),
    SetParam { param: ParamId, value: f64 },
    Commit,
}

/// What a coded ability sees and asks for. Tags and attributes are there to be read; the only way to change them is an
/// effect.
///
/// ```compile_fail
/// fn cheat(cx: &mut ugas_core::AbilityCx<'_>, tag: ugas_core::TagId) {
///     cx.add_tag(tag); // there is no such door
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
    /// What a commit would be refused with now.
    pub(crate) commits: &'a dyn Fn() -> Result<(), Refusal>,
    pub(crate) draw: DrawAt,
    pub(crate) acts: Vec<Act>,
}

impl AbilityCx<'_> {
    /// The rules.
    pub fn rules(&self) -> &Rules {
        self.rules
    }
    /// Whose ability it is.
    pub fn who(&self) -> ControllerId {
        self.who
    }
    /// The activation's level.
    pub fn level(&self) -> u32 {
        self.level
    }
    /// What it aims at.
    pub fn target(&self) -> Target {
        self.target
    }
    /// The owner's own time.
    pub fn now(&self) -> SimTime {
        self.now
    }
    /// An attribute of the owner.
    pub fn get(&self, attribute: AttributeId) -> Option<f64> {
        (self.values)(self.who, attribute)
    }
    /// An attribute of anybody.
    pub fn get_of(&self, who: ControllerId, attribute: AttributeId) -> Option<f64> {
        (self.values)(who, attribute)
    }
    /// Whether the owner has a tag or a descendant of it.
    pub fn has(&self, tag: TagId) -> bool {
        (self.tags)(self.who, tag)
    }
    /// Whether anybody has a tag or a descendant of it.
    pub fn has_of(&self, who: ControllerId, tag: TagId) -> bool {
        (self.tags)(who, tag)
    }
    /// The others within a radius, the nearest first; nobody if the owner or they stand nowhere.
    pub fn within(&self, radius: f64) -> Vec<ControllerId> {
        (self.around)(radius)
    }
    /// Applies an effect to the owner.
    pub fn apply_to_owner(&mut self, effect: EffectId) {
        self.apply(Spec::new(effect, self.who).level(self.level));
    }
    /// Applies an effect to the target; to nobody without one.
    pub fn apply_to_target(&mut self, effect: EffectId) {
        if let Target::Controller(target) = self.target {
            self.apply(Spec::new(effect, target).level(self.level));
        }
    }
    /// Applies an effect as the spec says; its source is the owner.
    pub fn apply(&mut self, spec: Spec) {
        self.acts.push(Act::Apply(Box::new(spec)));
    }
    /// Removes the owner's effects of a definition.
    pub fn remove_from_owner(&mut self, effect: EffectId) {
        self.acts.push(Act::Remove { effect });
    }
    /// Sends a gameplay event.
    pub fn send(&mut self, tag: TagId, target: ControllerId, magnitude: f64) {
        self.acts.push(Act::Send { tag, target, magnitude });
    }
    /// Triggers a burst cue.
    pub fn cue(&mut self, tag: TagId) {
        self.acts.push(Act::Cue(tag));
    }
    /// A parameter of its grant.
    pub fn param(&self, param: ParamId) -> Option<f64> {
        (self.params)(param)
    }
    /// Sets a parameter of its grant. A number that is not finite is not set.
    pub fn set_param(&mut self, param: ParamId, value: f64) {
        self.acts.push(Act::SetParam { param, value });
    }
    /// A random number in [0, 1): the same whenever this moment is played again.
    pub fn random(&mut self) -> f64 {
        let number = self.draw.unit();
        self.draw.draw += 1;
        number
    }
    /// Commits an ability whose policy is Manual. A refusal has changed nothing: the ability goes on uncommitted, or
    /// ends if it says so. It is cancelled only if something it asked for in the same call made the commit impossible;
    /// then nothing that it asked for after the commit happens.
    pub fn commit(&mut self) -> Result<(), Refusal> {
        (self.commits)()?;
        self.acts.push(Act::Commit);
        Ok(())
    }
}

/// An ability written in code. Its document says everything else: tags, cost, cooldown, checks.
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
    /// What it remembers between calls; at most 256 bytes as JSON, which has no numbers that are not finite. An
    /// ability whose state cannot be kept is cancelled, with a diagnostic.
    type State: Default + Serialize + DeserializeOwned;

    /// Goes on.
    fn resume(&self, state: &mut Self::State, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next;
}

/// A coded ability whose state is bytes.
pub(crate) trait ErasedAbility: Send + Sync {
    /// `None` if its state cannot be kept, or cannot be read back.
    fn resume(&self, state: &mut Vec<u8>, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Option<Next>;
}

/// Bytes of a state.
const STATE: usize = 256;

impl<T: CodedAbility> ErasedAbility for T {
    fn resume(&self, bytes: &mut Vec<u8>, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Option<Next> {
        let read = |bytes: &[u8]| serde_json::from_slice::<T::State>(bytes).ok();
        let mut state = if bytes.is_empty() { T::State::default() } else { read(bytes)? };
        let next = CodedAbility::resume(self, &mut state, why, cx);
        // Nobody reads what the last call leaves.
        if !matches!(why, Resume::End { .. }) {
            // Infinity, for one, can be written but not read: better told now than missed at the next call.
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
    /// Keeps the code of an ability that a document defines.
    pub(crate) fn ability_code(&mut self, name: &str, code: Arc<dyn ErasedAbility>) {
        let defined = self.rules.find_ability(name);
        let Some(id) = defined else {
            self.about(name, None);
            return self.error("unknown-ability", format!("{name} has code but no ability document"));
        };
        self.rules.to_mut().ability_code.insert(id, AbilityCode(code));
    }
}

impl Rules {
    /// Whether a coded ability can wait for this: its code or a file may name what these rules do not have.
    pub(crate) fn can_await(&self, next: &Next) -> bool {
        let exists = |wait: &Next| match *wait {
            Next::Event(tag) | Next::Tag(tag) => self.tags.def(tag).is_some(),
            Next::Request(kind) => self.task_kinds().any(|(id, ..)| id == kind),
            _ => true,
        };
        next.is_sound() && next.waits().iter().all(exists)
    }

    pub(crate) fn code_of(&self, ability: AbilityId) -> Option<Arc<dyn ErasedAbility>> {
        if self.ability_code.is_empty() { None } else { self.ability_code.get(&ability).map(|c| c.0.clone()) }
    }
}

impl RulesBuilder {
    /// Registers the code of an ability, by its document's name.
    pub fn ability_code(mut self, name: impl Into<String>, code: impl CodedAbility) -> RulesBuilder {
        self.codes.push((name.into(), Arc::new(code)));
        self
    }
}
