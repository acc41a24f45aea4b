//! From documents to [`Controls`]. Everything that is wrong is reported at once.

use super::{Action, Authored, Controls, ControlsIssue, MOST_BINDINGS, Modifier, Set, Unit};
use crate::{modifier, spelling};
use std::collections::BTreeMap;
use ugas_core::SimTime;
use ugas_doc::{CompositeSlot, Doc, InputAction, InputBinding, InputMapping, InputModifier, Opposing};

/// Reads the documents and collects what is wrong with them.
pub(super) struct Compiler {
    pub(super) controls: Controls,
    pub(super) issues: Vec<ControlsIssue>,
}

impl Compiler {
    fn issue(&mut self, document: &str, message: impl Into<String>) {
        self.issues.push(ControlsIssue { document: document.to_owned(), message: message.into() });
    }

    pub(super) fn define(&mut self, doc: &Doc) {
        if let Doc::InputAction(action) = doc {
            self.action(action);
        } else if let Doc::InputActionSet(set) = doc {
            if self.controls.sets.iter().any(|other| *other.name == *set.name) {
                return self.issue(&set.name, "the input action set is defined twice");
            }
            let actions = set.actions.iter().map(|action| action.as_str().into()).collect();
            self.controls.sets.push(Set { name: set.name.as_str().into(), priority: set.priority, actions });
        } else if let Doc::InputModifier(modifier) = doc {
            self.modifier(modifier);
        }
    }

    fn action(&mut self, doc: &InputAction) {
        if self.controls.actions.iter().any(|other| *other.name == *doc.name) {
            return self.issue(&doc.name, "the input action is defined twice");
        }
        self.controls.actions.push(Action {
            name: doc.name.as_str().into(),
            value: doc.value_type,
            consumes: doc.consume_input,
            is_simulated: doc.is_simulated(),
            bindings: Vec::new(),
            is_relative: false,
            has_tags: false,
        });
    }

    fn modifier(&mut self, doc: &InputModifier) {
        if self.controls.modifiers.contains_key(&doc.name) {
            return self.issue(&doc.name, "the input modifier is defined twice");
        }
        match modifier::compile(doc, None, &self.controls.custom) {
            Ok(step) => {
                let modifier = Modifier { doc: doc.clone(), changes: BTreeMap::new(), step };
                self.controls.modifiers.insert(doc.name.clone(), modifier);
            }
            Err(errors) => errors.into_iter().for_each(|error| self.issue(&doc.name, error)),
        }
    }

    pub(super) fn mapping(&mut self, mapping: &InputMapping) {
        let name = mapping.action_set.as_str();
        let Ok(set) = self.controls.sets.binary_search_by(|set| (*set.name).cmp(name)) else {
            let near = spelling::nearest(name, self.controls.set_names());
            let message = unknown("input action set", name, near);
            return self.issue(name, message);
        };
        for binding in &mapping.bindings {
            self.binding(mapping, set as u16, binding);
        }
    }

    fn binding(&mut self, mapping: &InputMapping, set: u16, doc: &InputBinding) {
        let before = self.issues.len();
        let action = self.controls.action(&doc.action);
        if action.is_none() {
            let near = spelling::nearest(&doc.action, self.controls.actions.iter().map(|action| &*action.name));
            let message = unknown("input action", &doc.action, near);
            self.issue(&mapping.action_set, message);
        } else if !self.controls.sets[usize::from(set)].actions.iter().any(|action| **action == *doc.action) {
            self.issue(
                &mapping.action_set,
                format!("{} is not in the Actions of the set", spelling::shown(&doc.action)),
            );
        }
        self.check_fields(mapping, doc);
        let mut units = Vec::new();
        let authored = self.controls.authored.len() as u16;
        let mut unit = |this: &mut Compiler, slot, inputs: &[ugas_doc::DeviceInput]| {
            let mut codes = Vec::with_capacity(inputs.len());
            for input in inputs {
                match this.controls.intern(input) {
                    Ok(code) => codes.push(code),
                    Err(error) => this.issue(&mapping.action_set, format!("{}: {error}", doc.action)),
                }
            }
            units.push(Unit { authored, slot, current: codes.clone(), default: codes });
        };
        match &doc.composite_inputs {
            Some(inputs) => {
                for slot in CompositeSlot::ALL {
                    if let Some(input) = inputs.get(slot) {
                        unit(self, Some(slot), std::slice::from_ref(input));
                    }
                }
            }
            None => unit(self, None, &doc.inputs),
        }
        let Some(action) =
            action.filter(|_| self.issues.len() == before && self.controls.authored.len() < 2 * MOST_BINDINGS)
        else {
            return;
        };
        let first = self.controls.units.len();
        self.controls.units.extend(units);
        self.controls.authored.push(Authored { set, platform: mapping.platform, action: action.0, doc: doc.clone() });
        let units = self.controls.units[first..].iter().map(|unit| (unit.slot, unit.default.clone()));
        let fits = self.controls.parts_of(usize::from(authored), units.collect::<Vec<_>>().into_iter());
        if let Err(error) = fits {
            self.issue(&mapping.action_set, format!("{}: {error}", doc.action));
        }
    }

    /// Reports the fields of a binding that are wrong for every action.
    fn check_fields(&mut self, mapping: &InputMapping, doc: &InputBinding) {
        for modifier in &doc.modifiers {
            // A modifier with errors is defined, but not here.
            let is_reported = self.issues.iter().any(|issue| issue.document == *modifier);
            if !self.controls.modifiers.contains_key(modifier) && !is_reported {
                let near = spelling::nearest(modifier, self.controls.modifiers.keys().map(String::as_str));
                let message = unknown("input modifier", modifier, near);
                self.issue(&mapping.action_set, message);
            }
        }
        for (field, time) in [("HoldThreshold", doc.hold_threshold.unwrap_or(0.0)), ("ChordWindow", doc.chord_window)] {
            if SimTime::try_seconds(time).is_none_or(|time| time < SimTime::ZERO || time > SimTime::LONGEST) {
                self.issue(
                    &mapping.action_set,
                    format!("{}: {field}: expected seconds from 0, found {time}", doc.action),
                );
            }
        }
        let composite = doc.composite_inputs.as_ref();
        if composite.is_some() && !doc.inputs.is_empty() {
            self.issue(&mapping.action_set, format!("{}: expected Inputs or CompositeInputs, found both", doc.action));
        }
        if composite.is_none() && doc.opposing != Opposing::Neutral {
            self.issue(&mapping.action_set, format!("{}: Opposing needs CompositeInputs", doc.action));
        }
    }
}

fn unknown(noun: &str, name: &str, near: Option<&str>) -> String {
    let near = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
    format!("unknown {noun} '{}'{near}", spelling::shown(name))
}
