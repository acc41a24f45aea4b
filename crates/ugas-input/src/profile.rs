//! Profiles: the changes of a player as a document. A change that fits nothing, because the game's data changed, is
//! reported and kept, so that the player does not lose it if the data changes back.

use crate::catalogue::InputCode;
use crate::controls::{Controls, Kept};
use crate::remap::is_same;
use crate::spelling;
use std::collections::BTreeMap;
use std::fmt;
use ugas_doc::{BindingChange, InputProfile, Value};

/// The most changes of a profile.
const MOST_CHANGES: usize = 4096;

/// Why a profile cannot be loaded. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileError {
    /// The profile has another version of the format.
    Version {
        /// The version.
        found: u32,
    },
    /// The profile has too many changes.
    TooLarge {
        /// The number of changes.
        found: usize,
    },
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProfileError::Version { found } => {
                write!(f, "expected an input profile of version {}, found version {found}", InputProfile::VERSION)
            }
            ProfileError::TooLarge { found } => {
                write!(f, "expected an input profile with at most {MOST_CHANGES} changes, found {found}")
            }
        }
    }
}
impl std::error::Error for ProfileError {}

/// A part of a profile that has no effect and is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileIssue {
    /// The set and the action, or the modifier and its parameter.
    pub subject: String,
    /// Why it has no effect.
    pub message: String,
}

impl fmt::Display for ProfileIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.message)
    }
}

impl Controls {
    /// Returns the player's changes, including those that fit nothing.
    ///
    /// ```
    /// let controls = ugas_input::Controls::new(&[], &[])?;
    /// assert_eq!(controls.profile(), ugas_doc::InputProfile::default());
    /// # Ok::<(), ugas_input::ControlsError>(())
    /// ```
    pub fn profile(&self) -> InputProfile {
        let mut changes: Vec<BindingChange> = Vec::new();
        for unit in self.units.iter().filter(|unit| !is_same(&unit.current, &unit.default)) {
            let place = self.unit_place(unit);
            let change = BindingChange {
                action_set: place.set.to_owned(),
                action: place.action.to_owned(),
                slot: unit.slot,
                from: self.device_inputs(&unit.default),
                to: self.device_inputs(&unit.current),
            };
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
        changes.extend(self.kept.changes.iter().cloned());
        let mut modifiers = self.kept.modifiers.clone();
        for (name, modifier) in self.modifiers.iter().filter(|(_, modifier)| !modifier.changes.is_empty()) {
            let changes = modifier.changes.iter().map(|(param, value)| (param.clone(), value.clone()));
            modifiers.entry(name.clone()).or_default().extend(changes);
        }
        InputProfile { version: InputProfile::VERSION, changes, modifiers }
    }

    /// Replaces the player's changes by those of a profile, and returns what has no effect.
    ///
    /// ```
    /// use ugas_doc::{BindingChange, InputProfile};
    /// let mut controls = ugas_input::Controls::new(&[], &[])?;
    /// let change = BindingChange { action_set: "OnFoot".into(), action: "Jump".into(), ..Default::default() };
    /// let profile = InputProfile { changes: vec![change], ..InputProfile::default() };
    /// let issues = controls.load_profile(&profile)?;
    /// assert_eq!(issues[0].to_string(), "OnFoot Jump: the controls have no such binding");
    /// assert_eq!(controls.profile(), profile); // kept
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_profile(&mut self, profile: &InputProfile) -> Result<Vec<ProfileIssue>, ProfileError> {
        if profile.version != InputProfile::VERSION {
            return Err(ProfileError::Version { found: profile.version });
        }
        let found = profile.changes.len() + profile.modifiers.values().map(BTreeMap::len).sum::<usize>();
        if found > MOST_CHANGES {
            return Err(ProfileError::TooLarge { found });
        }
        self.units.iter_mut().for_each(|unit| unit.current.clone_from(&unit.default));
        self.kept = Kept::default();
        let mut issues = Vec::new();
        let mut changed = Vec::new();
        for change in &profile.changes {
            if let Err(message) = self.load_change(change, &mut changed) {
                let slot = change.slot.map(|slot| format!(" {slot:?}")).unwrap_or_default();
                let subject =
                    format!("{} {}{slot}", spelling::shown(&change.action_set), spelling::shown(&change.action));
                issues.push(ProfileIssue { subject, message });
                self.kept.changes.push(change.clone());
            }
        }
        let names: Vec<String> = self.modifiers.keys().cloned().collect();
        for name in &names {
            let _ = self.change_modifier(name, BTreeMap::new());
        }
        for (name, params) in &profile.modifiers {
            for (param, message) in self.load_modifier(name, params) {
                let value = params.get(&param).cloned().unwrap_or_default();
                let subject = format!("{} {}", spelling::shown(name), spelling::shown(&param));
                issues.push(ProfileIssue { subject, message });
                self.kept.modifiers.entry(name.clone()).or_default().insert(param, value);
            }
        }
        self.compile();
        Ok(issues)
    }

    fn load_change(&mut self, change: &BindingChange, changed: &mut Vec<usize>) -> Result<(), String> {
        let from: Option<Vec<InputCode>> = change.from.iter().map(|input| InputCode::of(input).ok()).collect();
        let from = from.unwrap_or_default();
        let is_it = |unit: &&crate::controls::Unit| unit.slot == change.slot && is_same(&unit.default, &from);
        let units = self.find_units(&change.action_set, &change.action, is_it);
        if units.is_empty() {
            return Err("the controls have no such binding".to_owned());
        }
        if units.iter().any(|at| changed.contains(at)) {
            return Err("the profile changes the binding twice".to_owned());
        }
        if units.iter().any(|at| !self.unit_place(&self.units[*at]).is_rebindable) {
            return Err("the binding cannot be changed".to_owned());
        }
        let to: Vec<InputCode> = change.to.iter().map(|input| self.intern(input)).collect::<Result<_, _>>()?;
        for at in &units {
            self.check_unit(*at, &to)?;
        }
        for at in units {
            self.units[at].current.clone_from(&to);
            changed.push(at);
        }
        Ok(())
    }

    /// Applies the parameters of a modifier, and returns those that have no effect with the reason.
    fn load_modifier(&mut self, name: &str, params: &BTreeMap<String, Value>) -> Vec<(String, String)> {
        let all = |message: &str| params.keys().map(|param| (param.clone(), message.to_owned())).collect();
        match self.modifiers.get(name) {
            None => return all("the controls have no such modifier"),
            Some(modifier) if !modifier.doc.user_configurable => return all("the modifier cannot be changed"),
            Some(_) => {}
        }
        let mut wrong = Vec::new();
        let mut good = BTreeMap::new();
        for (param, value) in params {
            match self.check_setting(name, param, value) {
                Ok(()) => {
                    good.insert(param.clone(), value.clone());
                }
                Err(message) => wrong.push((param.clone(), message)),
            }
        }
        if self.change_modifier(name, good.clone()).is_ok() {
            return wrong;
        }
        // Together the values are invalid: those that fit are taken in the order of their names.
        let mut taken = BTreeMap::new();
        for (param, value) in good {
            let mut more = taken.clone();
            more.insert(param.clone(), value);
            match self.change_modifier(name, more.clone()) {
                Ok(()) => taken = more,
                Err(message) => wrong.push((param, message)),
            }
        }
        wrong
    }
}
