//! Capabilities written in code. The runtime asks a coded capability whether it should be active, and calls it at each
//! step of its life. The row stores the state of the capability in a few bytes.

use super::compile::Compiler;
use super::memory::CapabilityMemory;
use super::{Rules, RulesBuilder};
use crate::rng::DrawAt;
use crate::{AbilityId, AttributeId, CapabilityId, ControllerId, EffectId, NameKind, SimTime, Spec, TagId, Target};
use std::fmt;
use std::sync::Arc;

/// Maximum size of the state of a coded capability in bytes.
pub(crate) const CAPABILITY_STATE: usize = 64;

/// A step in the life of a coded capability. The code is called only on the machines that run the capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapabilityCall {
    /// The capability was added, and its data components are registered. This is the first call.
    Setup,
    /// The capability became active.
    Activated,
    /// A frame of an active capability.
    Tick {
        /// The time since the last evaluation, or since a new interval was set, on the clock of the owner.
        elapsed: SimTime,
    },
    /// The capability became inactive.
    Deactivated,
    /// The capability is removed, or no longer runs on this machine. This is the last call.
    End,
}

/// What a coded capability reads; see [`CodedCapability::watches`].
///
/// ```
/// let watches = ugas_core::Watches::new().attribute("Stamina").tag("State.Combat");
/// assert_eq!(watches.attributes, ["Stamina"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watches {
    /// The attributes of the owner.
    pub attributes: Vec<String>,
    /// The tags of the owner. A change of a descendant counts.
    pub tags: Vec<String>,
}

impl Watches {
    /// Returns a declaration without reads.
    pub fn new() -> Watches {
        Watches::default()
    }

    /// Adds an attribute of the owner.
    pub fn attribute(mut self, name: impl Into<String>) -> Watches {
        self.attributes.push(name.into());
        self
    }

    /// Adds a tag of the owner.
    pub fn tag(mut self, name: impl Into<String>) -> Watches {
        self.tags.push(name.into());
        self
    }
}

/// The tags and attributes of the owner that the verdict of a capability depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CapabilityWatch {
    pub(crate) tags: Box<[TagId]>,
    pub(crate) attributes: Box<[AttributeId]>,
}

impl CapabilityWatch {
    /// Creates a watch. A name with its set, such as `Stat.Haste`, also stands for the attribute itself, because facts
    /// name the attribute.
    pub(crate) fn new(rules: &Rules, tags: Vec<TagId>, mut attributes: Vec<AttributeId>) -> CapabilityWatch {
        let plain = |a: &AttributeId| rules.aliases.iter().find(|alias| alias.0 == *a).map(|alias| alias.2);
        let named: Vec<AttributeId> = attributes.iter().filter_map(plain).collect();
        attributes.extend(named);
        CapabilityWatch { tags: tags.into(), attributes: attributes.into() }
    }

    /// Returns whether a change of this tag can change the verdict.
    pub(crate) fn has_tag(&self, rules: &Rules, tag: TagId) -> bool {
        self.tags.iter().any(|&watched| rules.tags.is_under(tag, watched) || rules.tags.is_under(watched, tag))
    }
}

/// A change that a coded capability requests. Requests are executed in order when the call returns.
#[derive(Clone, Debug)]
pub(crate) enum CapabilityAction {
    Apply(Spec),
    Remove { effect: EffectId },
    Send { tag: TagId, target: ControllerId, magnitude: f64 },
    Cue(TagId),
    Block(TagId),
    Unblock(TagId),
    Enable { class: CapabilityId, on: bool },
    SetInterval { class: CapabilityId, interval: SimTime },
    SetTicking { class: CapabilityId, on: bool },
    Activate { ability: AbilityId, target: Target },
    RemoveSet,
}

/// The state that a coded capability reads.
pub(crate) trait CapabilityReads {
    fn value(&self, who: ControllerId, attribute: AttributeId) -> Option<f64>;
    fn has(&self, who: ControllerId, tag: TagId) -> bool;
    fn around(&self, radius: f64) -> Vec<ControllerId>;
    /// Returns the site of the first random number. Most calls draw none, so the context asks for it at the first draw.
    fn first_draw(&self) -> DrawAt;
}

/// The context of a coded capability. The capability uses it to read tags and attributes and to request changes. The
/// requested changes are made, in order and with all their reactions, before the next capability runs. Only effects can
/// change tags and attributes.
pub struct CapabilityCx<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) who: ControllerId,
    pub(crate) class: CapabilityId,
    pub(crate) now: SimTime,
    pub(crate) reads: &'a dyn CapabilityReads,
    /// The site of the next random number; `None` before the first draw.
    pub(crate) draw: Option<DrawAt>,
    pub(crate) acts: &'a mut Vec<CapabilityAction>,
}

impl CapabilityCx<'_> {
    /// Returns the rules.
    pub fn rules(&self) -> &Rules {
        self.rules
    }
    /// Returns the controller that has the capability.
    pub fn who(&self) -> ControllerId {
        self.who
    }
    /// Returns the class of the capability.
    pub fn class(&self) -> CapabilityId {
        self.class
    }
    /// Returns the current time of the owner's clock.
    pub fn now(&self) -> SimTime {
        self.now
    }
    /// Returns the current value of an attribute of the owner.
    pub fn get(&self, attribute: AttributeId) -> Option<f64> {
        self.reads.value(self.who, attribute)
    }
    /// Returns the current value of an attribute of any controller. A client that predicts the capability resimulates it
    /// with the present state of other controllers; give code that depends on them the side `AuthorityOnly`.
    pub fn get_of(&self, who: ControllerId, attribute: AttributeId) -> Option<f64> {
        self.reads.value(who, attribute)
    }
    /// Returns whether the owner has a tag or a descendant of it.
    pub fn has(&self, tag: TagId) -> bool {
        self.reads.has(self.who, tag)
    }
    /// Returns whether a controller has a tag or a descendant of it; see [`CapabilityCx::get_of`] about prediction.
    pub fn has_of(&self, who: ControllerId, tag: TagId) -> bool {
        self.reads.has(who, tag)
    }
    /// Returns the other controllers within a radius around the owner, the nearest first. Controllers without a
    /// position are not included. The list is empty if the owner has no position.
    pub fn within(&self, radius: f64) -> Vec<ControllerId> {
        self.reads.around(radius)
    }
    /// Applies an effect to the owner. A capability that runs on one machine only cannot apply effects.
    pub fn apply_to_owner(&mut self, effect: EffectId) {
        self.apply(Spec::new(effect, self.who));
    }
    /// Applies the effect of a spec, with the owner as its source. A capability that runs on one machine only cannot
    /// apply effects.
    pub fn apply(&mut self, spec: Spec) {
        self.acts.push(CapabilityAction::Apply(spec));
    }
    /// Removes all effects of this definition from the owner.
    pub fn remove_from_owner(&mut self, effect: EffectId) {
        self.acts.push(CapabilityAction::Remove { effect });
    }
    /// Sends a gameplay event. A capability that runs on one machine only cannot send events.
    pub fn send(&mut self, tag: TagId, target: ControllerId, magnitude: f64) {
        self.acts.push(CapabilityAction::Send { tag, target, magnitude });
    }
    /// Triggers a burst cue on the owner.
    pub fn cue(&mut self, tag: TagId) {
        self.acts.push(CapabilityAction::Cue(tag));
    }
    /// Blocks the capabilities of the owner that have a tag or a descendant of it, until the capability unblocks the
    /// tag or ends. Capabilities that run later in the same frame are blocked at once, earlier ones from the next
    /// frame on. A capability that runs on one machine only blocks only such capabilities.
    pub fn block(&mut self, tag: TagId) {
        self.acts.push(CapabilityAction::Block(tag));
    }
    /// Removes the block of a tag that this capability requested.
    pub fn unblock(&mut self, tag: TagId) {
        self.acts.push(CapabilityAction::Unblock(tag));
    }
    /// Enables or disables the capabilities of a class on the owner.
    pub fn enable(&mut self, class: CapabilityId, on: bool) {
        self.acts.push(CapabilityAction::Enable { class, on });
    }
    /// Sets the time between two evaluations of the capabilities of a class on the owner.
    pub fn set_interval(&mut self, class: CapabilityId, interval: SimTime) {
        self.acts.push(CapabilityAction::SetInterval { class, interval });
    }
    /// Sets whether the capabilities of a class on the owner are evaluated.
    pub fn set_ticking(&mut self, class: CapabilityId, on: bool) {
        self.acts.push(CapabilityAction::SetTicking { class, on });
    }
    /// Activates an ability of the owner, with the checks of a player's input.
    pub fn activate(&mut self, ability: AbilityId, target: Target) {
        self.acts.push(CapabilityAction::Activate { ability, target });
    }
    /// Removes the set of this capability from the owner when all its capabilities have run in this frame.
    pub fn remove_set(&mut self) {
        self.acts.push(CapabilityAction::RemoveSet);
    }
    /// Returns a random number in [0, 1). A resimulation of this call returns the same number.
    pub fn random(&mut self) -> f64 {
        let draw = self.draw.get_or_insert_with(|| self.reads.first_draw());
        let number = draw.unit();
        draw.draw += 1;
        number
    }
}

/// The code of a capability. The entry of a set defines its side, its tags and its interval.
///
/// ```
/// use ugas_core::{CapabilityCall, CapabilityCx, CodedCapability, Rules, Sim, SimConfig, SimTime, SpawnSpec};
/// use ugas_doc::{Attribute, AttributeSet, CapabilitySet, Effect, SetCapability};
/// struct Drain;
/// impl CodedCapability for Drain {
///     type State = u32;
///     fn step(&self, frames: &mut u32, call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
///         if matches!(call, CapabilityCall::Tick { .. }) {
///             *frames += 1;
///             if *frames == 3 {
///                 cx.apply_to_owner(cx.rules().effect("GE_Drain").unwrap());
///             }
///         }
///     }
/// }
/// let rules = Rules::builder()
///     .add(AttributeSet::new("V").with(Attribute::new("Stamina", 10.0)))
///     .add(Effect::instant("GE_Drain").add("Stamina", -1.0))
///     .add(CapabilitySet::new("CS_Robot").capability(SetCapability::new("Drain")))
///     .capability_code("Drain", Drain)
///     .build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let robot = sim.spawn(SpawnSpec::sets([rules.set("V")?]))?;
/// sim.grant_set(robot, rules.ability_set("CS_Robot")?)?;
/// sim.advance_to(SimTime::frames(3, 60));
/// assert_eq!(sim.get(robot, rules.attribute("Stamina")?)?, 9.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait CodedCapability: Send + Sync + 'static {
    /// The state that is kept between calls, at most 64 bytes. The requests of a call whose state is larger are
    /// dropped with a diagnostic.
    type State: CapabilityMemory;

    /// Returns whether an inactive capability becomes active. Must depend only on its arguments.
    fn should_activate(&self, _state: &Self::State, _cx: &CapabilityCx<'_>) -> bool {
        true
    }

    /// Returns whether an active capability becomes inactive. Also decides whether the capability is active after its
    /// setup. Must depend only on its arguments.
    fn should_deactivate(&self, _state: &Self::State, _cx: &CapabilityCx<'_>) -> bool {
        false
    }

    /// Runs one step.
    fn step(&self, _state: &mut Self::State, _call: CapabilityCall, _cx: &mut CapabilityCx<'_>) {}

    /// Returns everything that the two decisions read, if they read only the capability's state and these attributes
    /// and tags of the owner. Such a capability is asked again only after one of them changed, which makes it free
    /// while nothing changes. It gets no [`CapabilityCall::Tick`].
    fn watches(&self) -> Option<Watches> {
        None
    }
}

/// A question to the code of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Activate,
    Deactivate,
}

/// The result of a tick of an active capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ticked {
    /// The capability ran its step.
    Done,
    /// The capability ends, so it did not run its step.
    Ends,
    /// The state cannot be decoded.
    Unreadable,
    /// The new state cannot be encoded.
    TooLarge,
}

/// A coded capability with its state encoded as bytes.
pub(crate) trait ErasedCapability: Send + Sync {
    /// Asks the capability; `None` if its state cannot be decoded.
    fn ask(&self, state: &[u8], question: Question, cx: &CapabilityCx<'_>) -> Option<bool>;
    /// Runs a step and appends the new state to `next`; `None` if a state cannot be encoded or decoded.
    fn step(&self, state: &[u8], next: &mut Vec<u8>, call: CapabilityCall, cx: &mut CapabilityCx<'_>) -> Option<()>;
    /// Asks an active capability whether it ends. If not, runs its tick and appends the new state to `next`.
    fn tick(&self, state: &[u8], next: &mut Vec<u8>, elapsed: SimTime, cx: &mut CapabilityCx<'_>) -> Ticked;
    fn watches(&self) -> Option<Watches>;
}

/// Reads a state. A capability that was never called has the default state.
fn decode<S: CapabilityMemory>(mut bytes: &[u8]) -> Option<S> {
    if bytes.is_empty() {
        return Some(S::default());
    }
    S::read(&mut bytes).filter(|_| bytes.is_empty())
}

impl<T: CodedCapability> ErasedCapability for T {
    fn ask(&self, state: &[u8], question: Question, cx: &CapabilityCx<'_>) -> Option<bool> {
        let state = decode::<T::State>(state)?;
        Some(match question {
            Question::Activate => self.should_activate(&state, cx),
            Question::Deactivate => self.should_deactivate(&state, cx),
        })
    }

    fn step(&self, state: &[u8], next: &mut Vec<u8>, call: CapabilityCall, cx: &mut CapabilityCx<'_>) -> Option<()> {
        let mut state = decode::<T::State>(state)?;
        CodedCapability::step(self, &mut state, call, cx);
        state.write(next);
        (next.len() <= CAPABILITY_STATE).then_some(())
    }

    fn tick(&self, state: &[u8], next: &mut Vec<u8>, elapsed: SimTime, cx: &mut CapabilityCx<'_>) -> Ticked {
        let Some(mut state) = decode::<T::State>(state) else { return Ticked::Unreadable };
        if self.should_deactivate(&state, cx) {
            return Ticked::Ends;
        }
        CodedCapability::step(self, &mut state, CapabilityCall::Tick { elapsed }, cx);
        state.write(next);
        if next.len() <= CAPABILITY_STATE { Ticked::Done } else { Ticked::TooLarge }
    }

    fn watches(&self) -> Option<Watches> {
        CodedCapability::watches(self)
    }
}

/// The code of a capability, and what its decisions read.
#[derive(Clone)]
pub(crate) struct CapabilityCode {
    pub(crate) code: Arc<dyn ErasedCapability>,
    pub(crate) watch: Option<CapabilityWatch>,
}

impl fmt::Debug for CapabilityCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CapabilityCode")
    }
}

impl Compiler<'_> {
    /// Stores the code of a capability, and resolves what it watches.
    pub(crate) fn capability_code(&mut self, name: &str, code: Option<Arc<dyn ErasedCapability>>) {
        self.about(name, None);
        let Some(id) = self.find(NameKind::Capability, name).map(CapabilityId) else { return };
        if self.rules.capability_def(id).is_none() {
            self.rules.to_mut().capabilities.define(id.0, Arc::default());
        }
        let Some(code) = code else { return };
        let watch = code.watches().map(|w| {
            let attributes = w.attributes.iter().filter_map(|a| self.attribute_ref("watches", a)).collect();
            let tags = self.tag_list(&w.tags).into_vec();
            CapabilityWatch::new(&self.rules, tags, attributes)
        });
        let (all, place) = (&mut self.rules.to_mut().capability_code, id.0 as usize);
        all.resize_with(all.len().max(place + 1), || None);
        all[place] = Some(CapabilityCode { code, watch });
    }
}

impl Rules {
    #[inline]
    pub(crate) fn capability_code(&self, class: CapabilityId) -> Option<&CapabilityCode> {
        self.capability_code.get(class.0 as usize)?.as_ref()
    }
}

impl RulesBuilder {
    /// Registers the code of a capability under the name that sets use as its class.
    pub fn capability_code(mut self, name: impl Into<String>, code: impl CodedCapability) -> RulesBuilder {
        self.capabilities.push((name.into(), Some(Arc::new(code))));
        self
    }

    /// Announces the class of a capability that has no code in this process. Its entries do nothing; adding a set with
    /// such an entry emits a diagnostic.
    pub fn announce_capability(mut self, name: impl Into<String>) -> RulesBuilder {
        self.capabilities.push((name.into(), None));
        self
    }
}
