//! Compiled motion patterns.

use super::compile::Compiler;
use super::compiled::CompiledText;
use super::document::{Phase, RulesDocument};
use super::lookup::suggestion;
use crate::{InputId, MotionId, NameKind, SimTime, TagId};
use std::sync::Arc;
use ugas_doc::{InputValue, MotionFacing, MotionPattern, Origin};

/// Maximum number of directions of a pattern.
const MAX_STEPS: usize = 16;
/// The eight directions of a circle, counterclockwise from the right.
pub(crate) const CIRCLE: [u8; 8] = [6, 9, 8, 7, 4, 1, 2, 3];

/// A compiled motion pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MotionDef {
    pub(crate) tag: Option<TagId>,
    pub(crate) action: InputId,
    /// The sequences of directions that match, all of the same length. A full circle matches from any direction and both
    /// ways.
    pub(crate) forms: Box<[Box<[MotionStep]>]>,
    pub(crate) tolerance: u32,
    pub(crate) max_duration: SimTime,
    pub(crate) press_within: SimTime,
    pub(crate) charge_time: SimTime,
    pub(crate) facing: MotionFacing,
    pub(crate) priority: i32,
}

/// One direction of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MotionStep {
    /// The key of a numeric keypad.
    pub(crate) direction: u8,
    /// Whether the direction must be held.
    pub(crate) is_charged: bool,
}

impl MotionDef {
    /// Returns the number of directions.
    pub(crate) fn len(&self) -> usize {
        self.forms.first().map_or(0, |form| form.len())
    }
}

impl CompiledText for MotionDef {}

impl RulesDocument for MotionPattern {
    fn phase(&self) -> Phase {
        Phase::Effects
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Motion)
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        c.motion_pattern(self);
    }
}

impl Compiler<'_> {
    fn motion_pattern(&mut self, doc: &MotionPattern) {
        let Some(id) = self.find(NameKind::Motion, &doc.name) else { return };
        let action = self.motion_action(&doc.action);
        let forms = self.motion_forms(&doc.directions.steps());
        let times =
            [("MaxDuration", doc.max_duration), ("PressWithin", doc.press_within), ("ChargeTime", doc.charge_time)];
        let [max_duration, press_within, charge_time] = times.map(|(place, seconds)| self.input_time(place, seconds));
        let tag = doc.tag.as_ref().and_then(|tag| self.tag(tag));
        let (Some(action), Some(forms)) = (action, forms) else { return };
        let len = forms.first().map_or(0, |form| form.len());
        if doc.tolerance as usize > len {
            self.error("bad-motion", format!("Tolerance is {}; write at most {len}", doc.tolerance));
        }
        let def = MotionDef {
            tag,
            action,
            forms,
            tolerance: doc.tolerance,
            max_duration,
            press_within,
            charge_time,
            facing: doc.facing,
            priority: doc.priority,
        };
        let rules = self.rules.to_mut();
        rules.motions.define(id, Arc::new(def));
        rules.inputs.change(action, |action| action.has_motions = true);
    }

    /// Returns the action of a pattern, which must be a simulated action with two axes.
    fn motion_action(&mut self, name: &str) -> Option<InputId> {
        let found = self.rules.find_input(name).and_then(|id| Some((id, self.rules.inputs.action(id)?.value)));
        match found {
            Some((id, InputValue::Axis2D)) => {
                self.check_simulated(id, name);
                Some(id)
            }
            Some(_) => {
                let message = format!("Action: {name} has no directions; name an action of ValueType Axis2D");
                self.error("bad-motion", message);
                None
            }
            None => {
                let near = suggestion(self.rules.input_names.nearest(name));
                self.error("unknown-input-action", format!("Action: unknown input action {name}{near}"));
                None
            }
        }
    }

    fn motion_forms(&mut self, steps: &[String]) -> Option<Box<[Box<[MotionStep]>]>> {
        if steps.concat() == "360" {
            let turn = |start: usize, way: usize| {
                let step = |i: usize| CIRCLE[(start + i * way) % CIRCLE.len()];
                (0..CIRCLE.len()).map(|i| MotionStep { direction: step(i), is_charged: false }).collect()
            };
            return Some((0..CIRCLE.len()).flat_map(|start| [turn(start, 1), turn(start, 7)]).collect());
        }
        if steps.is_empty() || steps.len() > MAX_STEPS {
            let message = format!("Directions: expected 1 to {MAX_STEPS} directions, found {}", steps.len());
            self.error("bad-motion", message);
            return None;
        }
        let mut form = Vec::with_capacity(steps.len());
        for (i, text) in steps.iter().enumerate() {
            let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
            let digit = inner.unwrap_or(text).parse::<u8>().ok().filter(|d| (1..=9).contains(d));
            let Some(direction) = digit.filter(|&d| d != 5 || inner.is_none()) else {
                let message =
                    format!("Directions: {text:?} is not a direction; write a digit from 1 to 9, or one in brackets");
                self.error("bad-motion", message);
                return None;
            };
            if inner.is_some() && i > 0 {
                self.error("bad-motion", format!("Directions: only the first direction can be charged, found {text}"));
                return None;
            }
            form.push(MotionStep { direction, is_charged: inner.is_some() });
        }
        if form.windows(2).any(|w| w[0] == w[1] && w[0].direction == 5) {
            self.error("bad-motion", "Directions: two neutral directions follow each other; remove one".into());
        }
        Some(Box::new([form.into()]))
    }

    /// Returns the motion pattern of a name.
    pub(super) fn motion_ref(&mut self, place: &str, name: &str) -> Option<MotionId> {
        let found = self.find(NameKind::Motion, name).map(MotionId);
        if found.is_none() {
            let near = self.nearest_suggestion(NameKind::Motion, name);
            self.error("unknown-motion", format!("{place}: unknown motion pattern {name}{near}"));
        }
        found
    }
}
