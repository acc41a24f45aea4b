//! Why a device input does nothing.

use super::step::Cx;
use super::{BindingPhase, Seat, SeatOutput};
use crate::binding::Role;
use crate::catalogue::InputCode;
use crate::controls::{ActionIndex, Controls};
use crate::sim_side::{Activity, Liveness};
use ugas_core::{ControllerId, SimTime, TagId, Target};
use ugas_doc::DeviceInput;

/// Why a binding does not act on its inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum WhyNot {
    /// Nothing stands in the way: the binding acts, or acts when its inputs are pressed.
    Acts,
    /// No active action set contains the action.
    Asleep,
    /// Another active action set handles the action.
    OtherSet,
    /// A tag suppresses the action.
    Suppressed {
        /// The tag.
        tag: TagId,
    },
    /// The controller lacks a tag that the binding requires.
    MissingTag {
        /// The tag.
        tag: String,
    },
    /// Another action consumed an input of the binding.
    Consumed {
        /// The action.
        by: ActionIndex,
    },
    /// These parts of the chord are not pressed.
    PartsMissing {
        /// The inputs.
        inputs: Vec<DeviceInput>,
    },
    /// The inputs are not held long enough.
    HoldTime {
        /// The time that is left.
        left: SimTime,
    },
    /// The press waits for the rest of a chord.
    ChordWindow {
        /// The time that is left.
        left: SimTime,
    },
    /// The inputs went down while the binding could not act; they must be pressed again.
    PressAgain,
}

/// The answer for one binding.
#[derive(Clone, Debug, PartialEq)]
pub struct BindingAnswer {
    /// The name of the action set.
    pub set: String,
    /// The action.
    pub action: ActionIndex,
    /// The inputs of the binding.
    pub inputs: Vec<DeviceInput>,
    /// Why the binding does not act.
    pub why: WhyNot,
}

impl Seat {
    /// Returns for each binding of a device input why it does not act, the highest rank first. An input without
    /// bindings has no answers. The answers are those after the last step.
    pub fn why_not<L: Liveness + ?Sized>(
        &self,
        controls: &Controls,
        sim: &L,
        who: ControllerId,
        input: InputCode,
    ) -> Vec<BindingAnswer> {
        // The copy takes over the controls and the ids of the rules, if the seat did not step with them yet.
        let mut seat = self.clone();
        let mut out = SeatOutput::default();
        seat.queue.clear();
        let cx = &mut Cx { controls, sim, who, aim: Target::None, out: &mut out, at: self.now, lets_go: false };
        seat.adopt(cx);
        seat.link(cx);
        let mut of: Vec<u16> =
            input.view().atoms().flat_map(|(_, atom)| controls.bindings_of(atom).collect::<Vec<_>>()).collect();
        of.sort_unstable_by_key(|at| controls.bindings[usize::from(*at)].order);
        of.dedup();
        of.into_iter().map(|at| seat.answer(cx, at)).collect()
    }

    fn answer<L: Liveness + ?Sized>(&mut self, cx: &Cx<'_, L>, at: u16) -> BindingAnswer {
        let binding = &cx.controls.bindings[usize::from(at)];
        let inputs = binding.parts.iter().filter_map(|part| cx.controls.device_input(part.code)).collect();
        BindingAnswer {
            set: cx.controls.set_name(binding.set).to_owned(),
            action: ActionIndex(binding.action),
            inputs,
            why: self.reason(cx, at),
        }
    }

    fn reason<L: Liveness + ?Sized>(&mut self, cx: &Cx<'_, L>, at: u16) -> WhyNot {
        let binding = &cx.controls.bindings[usize::from(at)];
        let life = self.life(cx, binding.action);
        let set = self.link.sets[usize::from(binding.set)];
        match life.activity {
            Activity::Asleep => return WhyNot::Asleep,
            Activity::Suppressed(tag) => return WhyNot::Suppressed { tag },
            Activity::Active if life.set.is_some_and(|by| set != Some(by)) => return WhyNot::OtherSet,
            Activity::Active => {}
        }
        let lacks = |tag: &&u16| !self.link.tags[usize::from(**tag)].is_some_and(|tag| cx.sim.has_tag(cx.who, tag));
        if let Some(tag) = binding.tags.iter().find(lacks) {
            return WhyNot::MissingTag { tag: cx.controls.tag_names()[usize::from(*tag)].to_string() };
        }
        let hidden = |atom: &_| if self.level(*atom) > 0.0 { self.is_hidden(cx.controls, *atom, at) } else { None };
        if let Some(by) = binding.atoms.iter().find_map(hidden) {
            return WhyNot::Consumed { by: ActionIndex(cx.controls.bindings[usize::from(by)].action) };
        }
        let state = self.bindings[usize::from(at)];
        match state.phase {
            BindingPhase::Waiting { at, held_at } if held_at >= at => {
                WhyNot::HoldTime { left: SimTime(at.0.saturating_sub(self.now.0)) }
            }
            BindingPhase::Waiting { at, .. } => WhyNot::ChordWindow { left: SimTime(at.0.saturating_sub(self.now.0)) },
            BindingPhase::Down => WhyNot::Acts,
            BindingPhase::Spent => WhyNot::PressAgain,
            BindingPhase::Idle => {
                let gates = binding.parts.iter().enumerate().filter(|(_, part)| part.role == Role::Gate);
                let missing = gates.filter(|(i, _)| state.down >> i & 1 == 0).map(|(_, part)| part.code);
                let inputs: Vec<_> = missing.filter_map(|code| cx.controls.device_input(code)).collect();
                let is_chord = binding.parts.len() > 1 && state.down != 0 && !inputs.is_empty();
                if is_chord { WhyNot::PartsMissing { inputs } } else { WhyNot::Acts }
            }
        }
    }
}
