//! Motion patterns: sequences of directions, such as a quarter circle, that precede the press of an action.

use crate::{Document, Metadata};
use serde::{Deserialize, Serialize};

/// The directions of a pattern: a text such as `236`, `[4]6` or `360`, or a list of such texts.
///
/// The digits are the keys of a numeric keypad: `2` is down, `6` is right, `5` is neutral. A direction in brackets must be
/// held for `ChargeTime`. `360` is a full circle in any direction.
///
/// ```
/// let directions = ugas_doc::Directions::Text("236".into());
/// assert_eq!(directions.steps(), ["2", "3", "6"]);
/// assert_eq!(ugas_doc::Directions::Text("[4]6".into()).steps(), ["[4]", "6"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Directions {
    /// All directions in one text.
    Text(String),
    /// One direction per entry.
    List(Vec<String>),
}

impl Directions {
    /// Returns the single directions as texts, a bracketed direction with its brackets.
    pub fn steps(&self) -> Vec<String> {
        match self {
            Directions::List(list) => list.iter().map(|step| step.trim().to_owned()).collect(),
            Directions::Text(text) => {
                let mut steps: Vec<String> = Vec::new();
                let mut is_open = false;
                for c in text.chars().filter(|c| !c.is_whitespace() && *c != ',') {
                    match steps.last_mut().filter(|_| is_open) {
                        Some(last) => last.push(c),
                        None => steps.push(c.to_string()),
                    }
                    is_open = (is_open || c == '[') && c != ']';
                }
                steps
            }
        }
    }
}

impl Default for Directions {
    fn default() -> Directions {
        Directions::Text(String::new())
    }
}

/// How the directions of a pattern follow the facing of the owner.
///
/// ```
/// assert_eq!(ugas_doc::MotionFacing::default(), ugas_doc::MotionFacing::Mirror);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MotionFacing {
    /// Left and right are exchanged while the owner faces −X.
    #[default]
    Mirror,
    /// The directions turn with the yaw of the owner, in steps of 45 degrees.
    Turn,
    /// The directions are those of the stick.
    Ignore,
}

/// A `motion_pattern` document: directions that a player enters before a press. Abilities name it in `Motion`.
///
/// ```
/// let fireball = ugas_doc::MotionPattern::new("QuarterCircleForward", "Move", "236");
/// assert_eq!((fireball.tolerance, fireball.max_duration, fireball.press_within), (0, 0.3, 0.5));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct MotionPattern {
    /// The name, unique in the project.
    pub name: String,
    /// A tag that describes the pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The action whose directions are compared: a simulated `Axis2D` action.
    pub action: String,
    /// The directions, at most 16.
    pub directions: Directions,
    /// How many directions may be missing or additional. The first and the last direction must be there.
    #[serde(default)]
    pub tolerance: u32,
    /// The longest time from leaving the first direction to reaching the last one, in seconds.
    #[serde(default = "max_duration")]
    pub max_duration: f64,
    /// The longest time from reaching the last direction to the press, in seconds.
    #[serde(default = "press_within")]
    pub press_within: f64,
    /// How long a direction in brackets must be held, in seconds.
    #[serde(default = "charge_time")]
    pub charge_time: f64,
    /// How the directions follow the facing of the owner.
    #[serde(default)]
    pub facing: MotionFacing,
    /// The priority. If several patterns match, the one with the highest priority is used.
    #[serde(default)]
    pub priority: i32,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

fn max_duration() -> f64 {
    0.3
}
fn press_within() -> f64 {
    0.5
}
fn charge_time() -> f64 {
    0.75
}

impl Document for MotionPattern {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    fn summary(&self) -> Option<String> {
        Some(format!("{} {}", self.action, self.directions.steps().concat()))
    }
}

impl MotionPattern {
    /// Creates a pattern with the default windows.
    pub fn new(name: impl Into<String>, action: impl Into<String>, directions: impl Into<String>) -> MotionPattern {
        MotionPattern {
            name: name.into(),
            tag: None,
            action: action.into(),
            directions: Directions::Text(directions.into()),
            tolerance: 0,
            max_duration: max_duration(),
            press_within: press_within(),
            charge_time: charge_time(),
            facing: MotionFacing::Mirror,
            priority: 0,
            metadata: None,
        }
    }
}
