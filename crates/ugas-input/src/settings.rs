//! The settings of modifiers that players may change: sensitivity, dead zones, inverted axes.

use crate::controls::Controls;
use crate::modifier::{self, Domain, Param};
use crate::spelling;
use ugas_doc::{ModifierType, Value};

/// The values that a setting can have.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingRange {
    /// A number.
    Number {
        /// The smallest value.
        least: f64,
        /// The largest value.
        most: f64,
    },
    /// On or off.
    Flag,
    /// One of these texts.
    Choice(Vec<String>),
}

/// A parameter that a player may change.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The name of the modifier.
    pub modifier: String,
    /// The name of the parameter.
    pub param: String,
    /// The label of the modifier: its `DisplayName`, or its name.
    pub label: String,
    /// The label of the parameter.
    pub param_label: String,
    /// The unit; empty if the number has none.
    pub unit: String,
    /// The values that the setting can have.
    pub range: SettingRange,
    /// The value of the document.
    pub default: Value,
    /// The value with the player's changes.
    pub value: Value,
}

impl Controls {
    /// Returns the parameters of all modifiers with `UserConfigurable`.
    ///
    /// ```
    /// use ugas_doc::{Doc, InputModifier, ModifierType};
    /// let stick = InputModifier::new("Stick", ModifierType::DeadZone).with("InnerThreshold", 0.15);
    /// let docs = [Doc::from(InputModifier { user_configurable: true, ..stick })];
    /// let mut controls = ugas_input::Controls::new(&docs, &[])?;
    /// assert_eq!(controls.settings()[0].value, 0.15.into());
    /// controls.set("Stick", "InnerThreshold", 0.3.into()).unwrap();
    /// assert_eq!(controls.settings()[0].value, 0.3.into());
    /// # Ok::<(), ugas_input::ControlsError>(())
    /// ```
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for (name, modifier) in self.modifiers.iter().filter(|(_, modifier)| modifier.doc.user_configurable) {
            let metadata = modifier.doc.metadata.as_ref();
            let label = metadata.and_then(|metadata| metadata.display_name.clone()).unwrap_or_else(|| name.clone());
            let mut add = |param: &str, param_label: &str, unit: &str, range: SettingRange, default: Value| {
                let value = modifier.changes.get(param).unwrap_or(&default).clone();
                settings.push(Setting {
                    modifier: name.clone(),
                    param: param.to_owned(),
                    label: label.clone(),
                    param_label: param_label.to_owned(),
                    unit: unit.to_owned(),
                    range,
                    default,
                    value,
                });
            };
            for param in modifier::params(modifier.doc.kind) {
                if let Some(range) = self.range(name, param) {
                    add(param.name, param.label, param.unit, range, default(&modifier.doc, param));
                }
            }
            if modifier.doc.kind == ModifierType::Custom {
                for (param, value) in &modifier.doc.params {
                    match value {
                        Value::Number(_) => {
                            let range = SettingRange::Number { least: f64::MIN, most: f64::MAX };
                            add(param, param, "", range, value.clone());
                        }
                        Value::Bool(_) => add(param, param, "", SettingRange::Flag, value.clone()),
                        Value::Null | Value::Text(_) | Value::List(_) | Value::Map(_) => {}
                    }
                }
            }
        }
        settings
    }

    /// Changes a parameter of a modifier with `UserConfigurable`. The change has an effect from the next step on.
    /// The default value removes the change.
    pub fn set(&mut self, modifier: &str, param: &str, value: Value) -> Result<(), String> {
        self.check_setting(modifier, param, &value)?;
        let Some(entry) = self.modifiers.get(modifier) else { return Ok(()) };
        let mut changes = entry.changes.clone();
        let known = modifier::params(entry.doc.kind).iter().find(|known| known.name == param);
        let usual = match known {
            Some(known) => default(&entry.doc, known),
            None => entry.doc.params.get(param).cloned().unwrap_or_default(),
        };
        if value == usual {
            changes.remove(param);
        } else {
            changes.insert(param.to_owned(), value);
        }
        self.change_modifier(modifier, changes)?;
        self.compile();
        Ok(())
    }

    /// Removes the player's changes of all modifiers.
    pub fn reset_settings(&mut self) {
        let names: Vec<String> = self.modifiers.keys().cloned().collect();
        for name in names {
            // Without changes a modifier is as its document has it, which compiled before.
            let _ = self.change_modifier(&name, std::collections::BTreeMap::new());
        }
        self.kept.modifiers.clear();
        self.compile();
    }

    pub(crate) fn check_setting(&self, modifier: &str, param: &str, value: &Value) -> Result<(), String> {
        let Some(entry) = self.modifiers.get(modifier) else {
            let near = spelling::nearest(modifier, self.modifiers.keys().map(String::as_str));
            let near = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
            return Err(format!("unknown input modifier '{}'{near}", spelling::shown(modifier)));
        };
        if !entry.doc.user_configurable {
            return Err(format!("{modifier} has no UserConfigurable, so players cannot change it"));
        }
        let known = modifier::params(entry.doc.kind).iter().find(|known| known.name == param);
        let range = known.and_then(|known| self.range(modifier, known));
        match (range, value) {
            (Some(SettingRange::Number { least, most }), Value::Number(number)) if (least..=most).contains(number) => {
                Ok(())
            }
            (Some(SettingRange::Number { least, most }), _) => {
                Err(format!("{param}: expected a number from {least} to {most}"))
            }
            (Some(SettingRange::Flag | SettingRange::Choice(_)), value) => {
                known.map_or(Ok(()), |known| modifier::check(known, value, true))
            }
            (None, value) if entry.doc.kind == ModifierType::Custom => match (entry.doc.params.get(param), value) {
                (Some(Value::Number(_)), Value::Number(number)) if number.is_finite() => Ok(()),
                (Some(Value::Bool(_)), Value::Bool(_)) => Ok(()),
                _ => Err(format!("{modifier} has no such setting of this type: '{}'", spelling::shown(param))),
            },
            (None, _) => Err(format!("{modifier} has no setting '{}'", spelling::shown(param))),
        }
    }

    /// Returns the values that a parameter can have in the settings; the value of the document is always one of them.
    fn range(&self, modifier: &str, param: &Param) -> Option<SettingRange> {
        let doc = &self.modifiers.get(modifier)?.doc;
        match param.domain {
            Domain::Number { least, most, .. } => {
                let usual = default(doc, param).as_number().unwrap_or(least);
                Some(SettingRange::Number { least: least.min(usual), most: most.max(usual) })
            }
            Domain::Flag => Some(SettingRange::Flag),
            // A curve of points needs points, which are no setting.
            Domain::Choice(choices) => {
                let has_points = doc.params.contains_key("CurvePoints");
                let usable = choices.iter().filter(|choice| **choice != "Custom" || has_points);
                Some(SettingRange::Choice(usable.map(|choice| (*choice).to_owned()).collect()))
            }
            Domain::Order | Domain::Points | Domain::Code => None,
        }
    }
}

/// Returns the value of a parameter without changes.
fn default(doc: &ugas_doc::InputModifier, param: &Param) -> Value {
    if let Some(value) = doc.params.get(param.name) {
        return value.clone();
    }
    match param.domain {
        _ if param.name == "ReleaseThreshold" => doc.number(param.name).unwrap_or(0.5).into(),
        Domain::Number { default, .. } => default.into(),
        Domain::Flag => false.into(),
        Domain::Choice(choices) => choices[0].into(),
        Domain::Order | Domain::Points | Domain::Code => Value::Null,
    }
}
