//! Expected and found values, and how they are compared.

use super::fields::Reading;
use std::fmt;
use ugas_data::{Node, NodeValue, ReadError};

/// A value that was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    Nothing,
    Flag(bool),
    Number(f64),
    Text(String),
    Vector([f64; 3]),
    /// Several kinds; an expectation of any of them matches.
    AnyOf(Vec<String>),
    Map(Vec<(String, Found)>),
}

impl Found {
    pub(crate) fn text(text: impl Into<String>) -> Found {
        Found::Text(text.into())
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Nothing => f.write_str("nothing"),
            Found::Flag(b) => write!(f, "{b}"),
            Found::Number(n) => write!(f, "{n}"),
            Found::Text(t) => f.write_str(t),
            Found::Vector([x, y, z]) => write!(f, "[{x}, {y}, {z}]"),
            Found::AnyOf(words) => f.write_str(&words.join(" and ")),
            Found::Map(entries) => {
                let parts: Vec<String> = entries.iter().map(|(name, found)| format!("{name}: {found}")).collect();
                write!(f, "{{{}}}", parts.join(", "))
            }
        }
    }
}

/// The expectation for a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Matcher {
    Is(Found),
    Between(f64, f64),
    Above(f64),
    Below(f64),
    Not(Box<Matcher>),
    All(Vec<Matcher>),
    /// Entries of a map; other entries are allowed.
    Has(Vec<(String, Matcher)>),
}

/// Returns whether a number equals the expected one within 1e-6 × max(1, |expected|).
fn close(found: f64, expected: f64) -> bool {
    found == expected || (found - expected).abs() <= 1e-6 * expected.abs().max(1.0)
}

/// Returns whether a refusal matches; `Any` and `Blocked` match several kinds.
pub(crate) fn is_word(kind: &str, expected: &str) -> bool {
    match expected {
        "Any" => true,
        "Blocked" => ["BlockedTags", "BlockedByTags", "BlockedByAbility"].contains(&kind),
        _ => kind == expected,
    }
}

impl Matcher {
    /// Parses the entries that a map must have.
    pub(crate) fn parse_entries(reading: Reading<'_>, what: &str, node: &Node) -> Result<Matcher, ReadError> {
        if !node.is_map() {
            return Err(reading.error(node, format!("{what}: expected a map of names, found {}", node.describe())));
        }
        let entries = node.entries().iter();
        let entries = entries.map(|e| Ok((e.key.clone(), Matcher::parse(reading, &e.key, &e.value)?)));
        entries.collect::<Result<_, _>>().map(Matcher::Has)
    }

    pub(crate) fn holds(&self, found: &Found) -> bool {
        match (self, found) {
            (Matcher::Is(Found::Number(e)), Found::Number(f)) => close(*f, *e),
            (Matcher::Is(Found::Vector(e)), Found::Vector(f)) => f.iter().zip(e).all(|(f, e)| close(*f, *e)),
            (Matcher::Is(Found::Text(e)), Found::AnyOf(words)) => words.iter().any(|w| is_word(w, e)),
            (Matcher::Is(e), f) => e == f,
            (Matcher::Has(wanted), Found::Map(entries)) => wanted.iter().all(|(name, matcher)| {
                let found = entries.iter().find(|(n, _)| n == name);
                matcher.holds(found.map_or(&Found::Nothing, |(_, f)| f))
            }),
            (Matcher::Has(_), _) => false,
            (Matcher::Between(low, high), Found::Number(f)) => f >= low && f <= high,
            (Matcher::Above(low), Found::Number(f)) => f > low,
            (Matcher::Below(high), Found::Number(f)) => f < high,
            (Matcher::Between(..) | Matcher::Above(_) | Matcher::Below(_), _) => false,
            (Matcher::Not(m), f) => !m.holds(f),
            (Matcher::All(list), f) => list.iter().all(|m| m.holds(f)),
        }
    }

    pub(crate) fn parse(reading: Reading<'_>, what: &str, node: &Node) -> Result<Matcher, ReadError> {
        match &node.value {
            NodeValue::Null => Ok(Matcher::Is(Found::Nothing)),
            NodeValue::Bool(b) => Ok(Matcher::Is(Found::Flag(*b))),
            NodeValue::Number(n) => Ok(Matcher::Is(Found::Number(*n))),
            NodeValue::Text(t) => Ok(Matcher::Is(Found::text(t.clone()))),
            NodeValue::List(_) => Ok(Matcher::Is(Found::Vector(reading.vector(what, node)?))),
            NodeValue::Map(_) => Matcher::parse_map(reading, what, node),
        }
    }

    fn parse_map(reading: Reading<'_>, what: &str, node: &Node) -> Result<Matcher, ReadError> {
        let fields = reading.fields(what, node, &["Between", "Above", "Below", "Not"])?;
        let mut all = Vec::new();
        for entry in node.entries() {
            let value = &entry.value;
            all.push(match entry.key.as_str() {
                "Above" => Matcher::Above(reading.number("Above", value)?),
                "Below" => Matcher::Below(reading.number("Below", value)?),
                "Not" => Matcher::Not(Box::new(Matcher::parse(reading, "Not", value)?)),
                _ => match reading.list("Between", value)? {
                    [low, high] => Matcher::Between(reading.number("Between", low)?, reading.number("Between", high)?),
                    _ => {
                        return Err(reading.error(
                            value,
                            format!("Between: expected [low, high], found {} entries", value.items().len()),
                        ));
                    }
                },
            });
        }
        match all.len() {
            0 => Err(fields
                .reading
                .error(node, format!("{what}: expected at least one of Between, Above, Below and Not, found none"))),
            1 => Ok(all.remove(0)),
            _ => Ok(Matcher::All(all)),
        }
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Matcher::Is(e) => write!(f, "{e}"),
            Matcher::Between(low, high) => write!(f, "between {low} and {high}"),
            Matcher::Above(low) => write!(f, "above {low}"),
            Matcher::Below(high) => write!(f, "below {high}"),
            Matcher::Not(m) => write!(f, "not {m}"),
            Matcher::All(list) => {
                for (i, m) in list.iter().enumerate() {
                    write!(f, "{}{m}", if i > 0 { " and " } else { "" })?;
                }
                Ok(())
            }
            Matcher::Has(entries) => {
                let parts: Vec<String> = entries.iter().map(|(name, m)| format!("{name}: {m}")).collect();
                write!(f, "{{{}}}", parts.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_within_a_millionth_of_their_size() {
        let is = |e: f64, f: f64| Matcher::Is(Found::Number(e)).holds(&Found::Number(f));
        assert!(is(0.0, 9e-7) && !is(0.0, 2e-6));
        assert!(is(1e9, 1e9 + 900.0) && !is(1e9, 1e9 + 2000.0));
        assert!(is(f64::INFINITY, f64::INFINITY) && !is(f64::NAN, f64::NAN));
    }

    #[test]
    fn values_of_different_kinds_never_match_and_not_negates() {
        assert!(!Matcher::Is(Found::Number(1.0)).holds(&Found::Flag(true)));
        assert!(!Matcher::Above(0.0).holds(&Found::Nothing));
        assert!(Matcher::Not(Box::new(Matcher::Above(0.0))).holds(&Found::Nothing));
        assert!(Matcher::All(vec![Matcher::Above(1.0), Matcher::Below(2.0)]).holds(&Found::Number(1.5)));
        assert!(!Matcher::Between(1.0, 2.0).holds(&Found::Number(2.1)));
    }
}
