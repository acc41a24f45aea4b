//! Timelines: the lengths and events of montages, and answers to tasks that wait for the engine, so that a sim without
//! an engine can run the abilities that use them.

use crate::{Document, Metadata};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// A point in time or a length: seconds, or frames written as `12f`.
///
/// ```
/// use ugas_doc::Time;
/// assert_eq!(Time::parse("12f"), Some(Time::Frames(12)));
/// assert_eq!(Time::parse("soon"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    /// Seconds.
    Seconds(f64),
    /// Frames at the document's frame rate.
    Frames(u32),
}

impl Time {
    /// Parses a number of frames such as `12f`.
    pub fn parse(text: &str) -> Option<Time> {
        let digits = text.strip_suffix('f')?;
        let whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|_| whole).map(Time::Frames)
    }
}

impl Default for Time {
    fn default() -> Time {
        Time::Seconds(0.0)
    }
}

impl From<f64> for Time {
    fn from(seconds: f64) -> Time {
        Time::Seconds(seconds)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Time::Seconds(s) => to.serialize_f64(*s),
            Time::Frames(n) => to.serialize_str(&format!("{n}f")),
        }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Time;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("seconds, or frames such as 12f")
            }
            fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Time, E> {
                Ok(Time::Seconds(seconds))
            }
            fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Time, E> {
                Ok(Time::Seconds(seconds as f64))
            }
            fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Time, E> {
                Ok(Time::Seconds(seconds as f64))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Time, E> {
                Time::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        from.deserialize_any(Reader)
    }
}

/// A time window of a timeline. The runtime does not support windows yet: a timeline with `Windows` is a load
/// error.
///
/// ```
/// assert!(ugas_doc::TimelineWindow::default().slot.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct TimelineWindow {
    /// The purpose of the window, such as `Combo` or `Hitbox`.
    #[serde(rename = "Type")]
    pub kind: String,
    /// The name of the hitbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// When the window opens.
    pub start: Time,
    /// When the window closes.
    pub end: Time,
}

/// An event at a point of a timeline: a gameplay event by its tag, or an animation event by its name.
///
/// ```
/// assert!(ugas_doc::Notify::default().event.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Notify {
    /// When the event is sent.
    pub at: Time,
    /// The tag of the gameplay event, such as `Event.Montage.HitWindow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The name of the animation event; by default the tag in `Event`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The position of a socket at a point in time.
///
/// ```
/// assert_eq!(ugas_doc::SocketKey::default().position, [0.0; 3]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct SocketKey {
    /// The point in time.
    pub at: Time,
    /// The position relative to the actor.
    pub position: [f64; 3],
}

/// Which target a timeline's answer contains.
///
/// ```
/// assert_eq!(ugas_doc::AnswerTarget::default(), ugas_doc::AnswerTarget::Activation);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AnswerTarget {
    /// The target of the activation.
    #[default]
    Activation,
    /// The nearest other controller.
    Nearest,
    /// No target.
    None,
}

/// An answer of a timeline to a task that waits for the engine. A sim that plays timelines uses this answer in place of
/// the engine's answer.
///
/// ```
/// assert!(!ugas_doc::TimelineAnswer::default().fail);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct TimelineAnswer {
    /// The task type that is answered, such as `WaitTargetData`.
    pub task: String,
    /// The delay after the task started.
    #[serde(default)]
    pub after: Time,
    /// The target that the answer contains.
    #[serde(default)]
    pub target: AnswerTarget,
    /// Whether the answer reports that the task failed.
    #[serde(default)]
    pub fail: bool,
}

/// A `timeline` document: the events of a montage, so that a sim without an engine can play the montage.
///
/// ```
/// let t = ugas_doc::Timeline::new("TL_Cast", 0.6).montage("Anim_Cast").notify(0.4, "Event.Montage.CastPoint");
/// assert_eq!(t.notifies.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct Timeline {
    /// The name, unique in the project.
    pub name: String,
    /// The montage that the timeline describes; by default the montage with the timeline's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub montage: Option<String>,
    /// The ability whose waiting tasks receive the `Answers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ability: Option<String>,
    /// The attack that the timeline describes. Not supported yet; a value is a load error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-unsupported" = true)))]
    pub attack: Option<String>,
    /// Frames per second, for times written in frames; 60 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_rate: Option<u32>,
    /// The length of the montage.
    pub length: Time,
    /// Time windows. Not supported yet; a value is a load error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-unsupported" = true)))]
    pub windows: Vec<TimelineWindow>,
    /// The events of the montage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notifies: Vec<Notify>,
    /// Positions of sockets, by the name of the socket. Not supported yet; a value is a load error.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-unsupported" = true)))]
    pub sockets: BTreeMap<String, Vec<SocketKey>>,
    /// Answers to tasks that wait for the engine. Requires `Ability`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<TimelineAnswer>,
    /// Display data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Document for Timeline {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }
}

impl Timeline {
    /// Creates a timeline with this length and without events.
    pub fn new(name: impl Into<String>, length: impl Into<Time>) -> Timeline {
        Timeline { name: name.into(), length: length.into(), ..Timeline::default() }
    }

    /// Sets the montage.
    pub fn montage(mut self, montage: impl Into<String>) -> Timeline {
        self.montage = Some(montage.into());
        self
    }

    /// Sets the ability whose waiting tasks receive the answers.
    pub fn ability(mut self, ability: impl Into<String>) -> Timeline {
        self.ability = Some(ability.into());
        self
    }

    /// Adds an event.
    pub fn notify(mut self, at: impl Into<Time>, event: impl Into<String>) -> Timeline {
        self.notifies.push(Notify { at: at.into(), event: Some(event.into()), name: None });
        self
    }

    /// Adds an answer to tasks of a type. The answer is sent when this time has passed since the start of the task.
    pub fn answer(mut self, task: impl Into<String>, after: impl Into<Time>, target: AnswerTarget) -> Timeline {
        self.answers.push(TimelineAnswer { task: task.into(), after: after.into(), target, fail: false });
        self
    }
}
