//! Compiled input actions and action sets. They decide what a press means, so they are part of the rules and of their
//! hash. Mappings from devices to actions are not: two players with other bindings play together.

use super::compile::Compiler;
use super::compiled::CompiledText;
use super::document::{Phase, RulesDocument};
use crate::{ActionSetId, InputId, NameKind, SimTime, TagId};
use std::cmp::Reverse;
use std::sync::Arc;
use ugas_doc::{InputAction, InputActionSet, InputBuffer, InputSettings, InputValue, Origin, TriggerBehavior};

/// The tag under which the types of actions are.
const TYPES: &str = "Input.Type";
/// The tag under which the suppressed types are.
const BLOCKED: &str = "Input.Blocked";
/// Maximum size of an input buffer.
const MAX_BUFFER: u32 = 64;

/// The actions of the rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputDefs {
    /// By input. An input without a document is digital, triggers when it is pressed, and is always live.
    actions: Vec<Option<Arc<ActionDef>>>,
    /// The exclusive action sets.
    pub(crate) exclusive: Vec<ActionSetId>,
    /// The buffer of the settings. `None` without settings.
    settings: Option<Option<BufferDef>>,
}

/// A compiled input action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ActionDef {
    pub(crate) value: InputValue,
    pub(crate) is_simulated: bool,
    pub(crate) behavior: TriggerBehavior,
    /// The longest tap.
    pub(crate) tap: SimTime,
    /// The longest gap between two taps.
    pub(crate) double_tap: SimTime,
    /// The tags of the action.
    pub(crate) tags: Box<[TagId]>,
    /// The sets that contain the action, by descending priority, then by name. An action in no set is always live.
    pub(crate) sets: Box<[ActionSetId]>,
    /// The tags that suppress the action if they are granted exactly.
    pub(crate) suppressors: Box<[TagId]>,
    /// Whether a motion pattern reads the directions of the action.
    pub(crate) has_motions: bool,
}

/// A compiled action set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ActionSetDef {
    pub(crate) actions: Box<[InputId]>,
    pub(crate) priority: i32,
    pub(crate) required: Box<[TagId]>,
    pub(crate) blocked: Box<[TagId]>,
    pub(crate) is_exclusive: bool,
    /// The buffer of the set, or of the settings if the set has none. `None` if presses are not buffered.
    pub(crate) buffer: Option<BufferDef>,
    has_buffer: bool,
}

/// An input buffer that is on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BufferDef {
    pub(crate) window: SimTime,
    pub(crate) size: u32,
}

impl CompiledText for ActionSetDef {}

impl ActionDef {
    /// Returns whether the sim receives values of the action.
    pub(crate) fn is_axis(&self) -> bool {
        self.is_simulated && self.value != InputValue::Digital
    }
}

impl InputDefs {
    /// Returns the action of an input, if it has a document.
    #[inline]
    pub(crate) fn action(&self, input: InputId) -> Option<&Arc<ActionDef>> {
        self.actions.get(input.0 as usize)?.as_ref()
    }

    /// Returns whether the rules have any action.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Returns the buffer of inputs that belong to no action set.
    pub(crate) fn buffer(&self) -> Option<BufferDef> {
        self.settings.flatten()
    }

    /// Changes the definition of an action.
    pub(super) fn change(&mut self, input: InputId, change: impl FnOnce(&mut ActionDef)) {
        if let Some(action) = self.actions.get_mut(input.0 as usize).and_then(Option::as_mut) {
            change(Arc::make_mut(action));
        }
    }
}

impl super::Rules {
    /// Returns whether the release of an input can trigger its action.
    pub fn triggers_at_release(&self, input: InputId) -> bool {
        self.inputs.action(input).is_some_and(|action| match action.behavior {
            TriggerBehavior::OnPressed | TriggerBehavior::WhileHeld => false,
            TriggerBehavior::OnReleased | TriggerBehavior::OnTap | TriggerBehavior::OnDoubleTap => true,
        })
    }

    /// Returns the priority of an action set.
    pub fn action_set_priority(&self, id: ActionSetId) -> Option<i32> {
        self.action_sets.get(id.0).map(|set| set.priority)
    }
}

impl RulesDocument for InputAction {
    fn phase(&self) -> Phase {
        Phase::Sets
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Input)
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        c.input_action(self);
    }
}

impl RulesDocument for InputActionSet {
    fn phase(&self) -> Phase {
        Phase::Sets
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::ActionSet)
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        c.input_action_set(self);
    }
}

impl RulesDocument for InputSettings {
    fn phase(&self) -> Phase {
        Phase::Sets
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        let buffer = c.input_buffer(&self.input_buffer.buffer());
        if c.rules.inputs.settings.is_some_and(|known| known != buffer) {
            let message = "InputBuffer: another document of Kind input_settings has other values; write the same";
            c.error("duplicate-input-settings", message.into());
        }
        c.rules.to_mut().inputs.settings = Some(buffer);
    }
}

impl Compiler<'_> {
    fn input_action(&mut self, doc: &InputAction) {
        let Some(id) = self.find(NameKind::Input, &doc.name).map(InputId) else { return };
        let tap = self.input_time("TapThreshold", doc.tap_threshold);
        let double_tap = self.input_time("DoubleTapWindow", doc.double_tap_window);
        let def = ActionDef {
            value: doc.value_type,
            is_simulated: doc.is_simulated(),
            behavior: doc.trigger_behavior,
            tap,
            double_tap,
            tags: self.tag_list(&doc.tags.action_tags),
            sets: Box::default(),
            suppressors: Box::default(),
            has_motions: false,
        };
        let actions = &mut self.rules.to_mut().inputs.actions;
        if actions.len() <= id.0 as usize {
            actions.resize(id.0 as usize + 1, None);
        }
        actions[id.0 as usize] = Some(Arc::new(def));
    }

    fn input_action_set(&mut self, doc: &InputActionSet) {
        let Some(id) = self.find(NameKind::ActionSet, &doc.name) else { return };
        let actions = doc.actions.iter().filter_map(|name| {
            let id = self.rules.to_mut().intern(NameKind::Input, name)?;
            Some(InputId(id))
        });
        let actions = actions.collect();
        let def = ActionSetDef {
            actions,
            priority: doc.priority,
            required: self.tag_list(&doc.activation_tags.required_tags),
            blocked: self.tag_list(&doc.activation_tags.blocked_tags),
            is_exclusive: doc.exclusive,
            buffer: doc.input_buffer.as_ref().and_then(|b| self.input_buffer(&b.buffer())),
            has_buffer: doc.input_buffer.is_some(),
        };
        self.rules.to_mut().action_sets.define(id, Arc::new(def));
    }

    fn input_buffer(&mut self, doc: &InputBuffer) -> Option<BufferDef> {
        let window = self.input_time("InputBuffer.BufferWindow", doc.buffer_window);
        if !(1..=MAX_BUFFER).contains(&doc.max_buffer_size) {
            let message =
                format!("InputBuffer.MaxBufferSize is {}; write a number from 1 to {MAX_BUFFER}", doc.max_buffer_size);
            self.error("bad-input-buffer", message);
        }
        let is_on = doc.enabled && window > SimTime::ZERO;
        is_on.then_some(BufferDef { window, size: doc.max_buffer_size })
    }

    /// Converts a time of an input document.
    pub(super) fn input_time(&mut self, place: &str, seconds: f64) -> SimTime {
        let time = SimTime::try_seconds(seconds).filter(|&t| t >= SimTime::ZERO);
        time.unwrap_or_else(|| {
            self.error("bad-input-time", format!("{place} is {seconds}; write seconds from 0"));
            SimTime::ZERO
        })
    }

    /// Assigns the action sets to their actions, after all of them are compiled.
    pub(super) fn finish_action_sets(&mut self) {
        let rules = self.rules.to_mut();
        let settings = rules.inputs.buffer();
        let mut order: Vec<(Reverse<i32>, Arc<str>, ActionSetId)> = Vec::new();
        for id in (0..rules.action_sets.len() as u32).map(ActionSetId) {
            let name: Arc<str> = rules.action_set_name(id).unwrap_or("").into();
            let Some(def) = rules.action_sets.get_mut(id.0).map(Arc::make_mut) else { continue };
            if !def.has_buffer {
                def.buffer = settings;
            }
            order.push((Reverse(def.priority), name, id));
        }
        order.sort();
        for (_, _, id) in order {
            let Some(def) = rules.action_sets.get(id.0).cloned() else { continue };
            if def.is_exclusive {
                rules.inputs.exclusive.push(id);
            }
            for &input in &def.actions {
                rules.inputs.change(input, |action| {
                    let mut sets = std::mem::take(&mut action.sets).into_vec();
                    if sets.last() != Some(&id) {
                        sets.push(id);
                    }
                    action.sets = sets.into();
                });
            }
        }
    }

    /// Finds the tags that suppress each action, after all tags are known. An action with the tag `Input.Type.A.B` is
    /// suppressed by `Input.Blocked.A.B`, `Input.Blocked.A` and `Input.Blocked`.
    pub(super) fn finish_suppression(&mut self) {
        let rules = self.rules.to_mut();
        for at in 0..rules.inputs.actions.len() {
            let Some(action) = rules.inputs.actions[at].clone() else { continue };
            let mut suppressors = Vec::new();
            for name in action.tags.iter().filter_map(|&tag| rules.tag_name(tag)) {
                let Some(below) = name.strip_prefix(TYPES).filter(|rest| rest.is_empty() || rest.starts_with('.'))
                else {
                    continue;
                };
                let ends = below.match_indices('.').map(|(end, _)| end).chain([below.len()]);
                suppressors.extend(ends.filter_map(|end| rules.find_tag(&format!("{BLOCKED}{}", &below[..end]))));
            }
            suppressors.sort_unstable();
            suppressors.dedup();
            rules.inputs.change(InputId(at as u32), |action| action.suppressors = suppressors.into());
        }
    }

    /// Reports an input that the sim never receives.
    pub(super) fn check_simulated(&mut self, input: InputId, name: &str) {
        if self.rules.inputs.action(input).is_some_and(|action| !action.is_simulated) {
            let message = format!("the sim does not receive the action {name}; write Simulated: true in its document");
            self.error("axis-not-simulated", message);
        }
    }
}
