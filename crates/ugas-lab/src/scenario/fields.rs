//! Typed access to the maps of a scenario file. An error contains the place of the invalid value, and an error about an
//! unknown key suggests a similar key.

use ugas_core::SimTime;
use ugas_data::{Code, Entry, Node, NodeValue, ReadError, nearest};

/// A place in a scenario file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
}

impl Place {
    pub(crate) fn of(node: &Node) -> Place {
        Place { line: node.line, column: node.column }
    }

    pub(crate) fn of_key(entry: &Entry) -> Place {
        Place { line: entry.line, column: entry.column }
    }

    pub(crate) fn error(self, file: &str, message: impl Into<String>) -> ReadError {
        ReadError {
            code: Code::Invalid,
            file: file.into(),
            line: self.line,
            column: self.column,
            message: message.into(),
            help: None,
        }
    }
}

/// A name with the place where it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// The context of reading a scenario file: its name and its frame length.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) file: &'a str,
    pub(crate) frame: SimTime,
}

impl<'a> Reading<'a> {
    /// Returns the fields of a map that may only have the keys `known`; `what` is its name in messages.
    pub(crate) fn fields(
        self,
        what: &'a str,
        node: &'a Node,
        known: &'static [&'static str],
    ) -> Result<Fields<'a>, ReadError> {
        if !node.is_map() {
            return Err(self.error(node, format!("{what}: expected a map, found {}", node.describe())));
        }
        for entry in node.entries() {
            if !known.contains(&entry.key.as_str()) {
                let message = format!("{what}: unknown field {:?}; the fields are {}", entry.key, known.join(", "));
                return Err(ReadError {
                    help: did_you_mean(&entry.key, known.iter().copied()),
                    ..Place::of_key(entry).error(self.file, message)
                });
            }
        }
        Ok(Fields { reading: self, what, node })
    }

    pub(crate) fn error(self, node: &Node, message: impl Into<String>) -> ReadError {
        node.error(self.file, message)
    }

    pub(crate) fn text(self, what: &str, node: &Node) -> Result<String, ReadError> {
        node.as_text().map(str::to_owned).ok_or_else(|| ReadError {
            help: matches!(node.value, NodeValue::Number(_) | NodeValue::Bool(_))
                .then(|| "put the value in quotes".to_owned()),
            ..self.error(node, format!("{what}: expected a text, found {}", node.describe()))
        })
    }

    pub(crate) fn name(self, what: &str, node: &Node) -> Result<Name, ReadError> {
        Ok(Name { text: self.text(what, node)?, place: Place::of(node) })
    }

    pub(crate) fn names(self, what: &str, node: &Node) -> Result<Vec<Name>, ReadError> {
        self.list(what, node)?.iter().map(|n| self.name(what, n)).collect()
    }

    pub(crate) fn list(self, what: &str, node: &'a Node) -> Result<&'a [Node], ReadError> {
        if node.is_list() {
            Ok(node.items())
        } else {
            Err(self.error(node, format!("{what}: expected a list, found {}", node.describe())))
        }
    }

    /// Reads a number, including `.nan` and `.inf`, which scenarios use to test the runtime.
    pub(crate) fn number(self, what: &str, node: &Node) -> Result<f64, ReadError> {
        match node.value {
            NodeValue::Number(n) => Ok(n),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Text(_) | NodeValue::List(_) | NodeValue::Map(_) => {
                Err(self.error(node, format!("{what}: expected a number, found {}", node.describe())))
            }
        }
    }

    pub(crate) fn whole(self, what: &str, node: &Node, from: i64, to: i64) -> Result<i64, ReadError> {
        match node.value {
            NodeValue::Number(n) if n.fract() == 0.0 && n >= from as f64 && n <= to as f64 => Ok(n as i64),
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Number(_)
            | NodeValue::Text(_)
            | NodeValue::List(_)
            | NodeValue::Map(_) => {
                let message = format!("{what}: expected a whole number from {from} to {to}, found {}", node.describe());
                Err(self.error(node, message))
            }
        }
    }

    pub(crate) fn flag(self, what: &str, node: &Node) -> Result<bool, ReadError> {
        node.as_bool()
            .ok_or_else(|| self.error(node, format!("{what}: expected true or false, found {}", node.describe())))
    }

    pub(crate) fn vector(self, what: &str, node: &Node) -> Result<[f64; 3], ReadError> {
        match node.items() {
            [x, y, z] => Ok([self.number(what, x)?, self.number(what, y)?, self.number(what, z)?]),
            _ => Err(self.error(node, format!("{what}: expected three numbers [x, y, z], found {}", node.describe()))),
        }
    }

    /// Reads seconds as a number, or a text with a unit: `12f` (frames), `250ms`, `1.5s`. The time may be negative.
    pub(crate) fn time(self, what: &str, node: &Node) -> Result<SimTime, ReadError> {
        let time = match &node.value {
            NodeValue::Number(n) if n.is_finite() => SimTime::seconds(*n),
            NodeValue::Text(text) => parse_time(text, self.frame).ok_or_else(|| {
                let message = format!(
                    "{what}: expected seconds (1.5), frames (12f) or milliseconds (250ms), found the text {text:?}"
                );
                self.error(node, message)
            })?,
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::List(_) | NodeValue::Map(_) => {
                return Err(self.error(node, format!("{what}: expected a time, found {}", node.describe())));
            }
        };
        match time.0.unsigned_abs() <= SimTime::LONGEST.0 as u64 {
            true => Ok(time),
            false => Err(self.error(
                node,
                format!("{what}: the time is beyond the limit of {}; write a smaller number", longest_time()),
            )),
        }
    }

    /// Reads a time of at least `least`.
    pub(crate) fn time_from(self, what: &str, node: &Node, least: SimTime) -> Result<SimTime, ReadError> {
        let time = self.time(what, node)?;
        match time >= least {
            true => Ok(time),
            false => Err(self.error(node, format!("{what}: expected at least {least}, found {time}"))),
        }
    }
}

/// Parses a time: `1.5`, `1.5s`, `250ms` or `12f` (frames).
///
/// ```
/// use ugas_core::SimTime;
/// let frame = SimTime::frames(1, 60);
/// assert_eq!(ugas_lab::parse_time("12f", frame), Some(SimTime::frames(12, 60)));
/// assert_eq!(ugas_lab::parse_time("250ms", frame), Some(SimTime::millis(250)));
/// assert_eq!(ugas_lab::parse_time("soon", frame), None);
/// ```
pub fn parse_time(text: &str, frame: SimTime) -> Option<SimTime> {
    let text = text.trim();
    let number = |t: &str| t.trim().parse::<f64>().ok().filter(|n| n.is_finite());
    if let Some(ms) = text.strip_suffix("ms") {
        return number(ms).map(|n| SimTime::seconds(n / 1000.0));
    }
    if let Some(frames) = text.strip_suffix('f') {
        return frames.trim().parse::<i64>().ok().map(|n| SimTime(n.saturating_mul(frame.0)));
    }
    number(text.strip_suffix('s').unwrap_or(text)).map(SimTime::seconds)
}

/// Returns the longest time that a scenario accepts, as text.
///
/// ```
/// assert!(ugas_lab::longest_time().contains("years"), "{}", ugas_lab::longest_time());
/// ```
pub fn longest_time() -> String {
    let seconds = SimTime::LONGEST.as_seconds().floor();
    format!("{seconds} s (about {:.0} years)", seconds / (365.25 * 86_400.0))
}

/// The fields of one map.
pub(crate) struct Fields<'a> {
    pub(crate) reading: Reading<'a>,
    what: &'a str,
    pub(crate) node: &'a Node,
}

impl<'a> Fields<'a> {
    /// Returns the value of a key; `null` counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Node> {
        self.node.get(key).filter(|n| !n.is_null())
    }

    pub(crate) fn need(&self, key: &str) -> Result<&'a Node, ReadError> {
        self.get(key).ok_or_else(|| self.reading.error(self.node, format!("{}: the field {key} is missing", self.what)))
    }

    pub(crate) fn name(&self, key: &str) -> Result<Name, ReadError> {
        self.reading.name(key, self.need(key)?)
    }

    pub(crate) fn name_if(&self, key: &str) -> Result<Option<Name>, ReadError> {
        self.get(key).map(|n| self.reading.name(key, n)).transpose()
    }

    pub(crate) fn names_if(&self, key: &str) -> Result<Vec<Name>, ReadError> {
        self.get(key).map_or(Ok(Vec::new()), |n| self.reading.names(key, n))
    }

    pub(crate) fn count_if(&self, key: &str) -> Result<Option<u32>, ReadError> {
        self.get(key).map(|n| self.reading.whole(key, n, 0, i64::from(u32::MAX)).map(|n| n as u32)).transpose()
    }

    pub(crate) fn time_if(&self, key: &str) -> Result<Option<SimTime>, ReadError> {
        self.get(key).map(|n| self.reading.time(key, n)).transpose()
    }

    pub(crate) fn vector_if(&self, key: &str) -> Result<Option<[f64; 3]>, ReadError> {
        self.get(key).map(|n| self.reading.vector(key, n)).transpose()
    }

    pub(crate) fn flag_if(&self, key: &str) -> Result<Option<bool>, ReadError> {
        self.get(key).map(|n| self.reading.flag(key, n)).transpose()
    }

    /// Returns a map of names to numbers.
    pub(crate) fn numbers_if(&self, key: &str) -> Result<Vec<(Name, f64)>, ReadError> {
        let Some(node) = self.get(key) else {
            return Ok(Vec::new());
        };
        if !node.is_map() {
            let message = format!("{key}: expected a map of names to numbers, found {}", node.describe());
            return Err(self.reading.error(node, message));
        }
        let entries = node.entries().iter();
        entries
            .map(|e| {
                let name = Name { text: e.key.clone(), place: Place::of_key(e) };
                Ok((name, self.reading.number(&e.key, &e.value)?))
            })
            .collect()
    }
}

/// Returns the suggestion for a misspelt word.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|n| format!("did you mean {n:?}?"))
}
