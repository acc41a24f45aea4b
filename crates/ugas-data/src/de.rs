//! A `serde` deserializer over [`Node`]. Its errors contain the line, column and path of the node, what was found, and
//! what was expected.

use crate::fault::{DeError, PathStep};
use crate::limits::MAX_ERRORS_PER_DOCUMENT;
use crate::mask::Masked;
use crate::{Entry, Node, NodeValue, ReadError};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Visitor};
use serde::forward_to_deserialize_any;

/// Reads a typed value from a tree.
///
/// ```
/// let tree = &ugas_data::read_trees("m.yaml", "Type: ScalableFloat\nValue: often\n").unwrap()[0];
/// let error = ugas_data::from_node::<ugas_doc::Magnitude>("m.yaml", tree).unwrap_err();
/// assert_eq!(error.to_string(), "m.yaml:2:8: Value: expected a number, found the text \"often\"");
/// ```
pub fn from_node<T: DeserializeOwned>(file: &str, node: &Node) -> Result<T, ReadError> {
    T::deserialize(NodeDe { node, masked: &Masked::default() }).map_err(|e| e.into_read_error(file, node))
}

/// Like [`from_node`], but ignores the keys in `hidden` and returns every error.
pub(crate) fn from_node_without<T: DeserializeOwned>(
    file: &str,
    node: &Node,
    hidden: &[&str],
) -> Result<T, Vec<ReadError>> {
    let mut masked = Masked::keys(node, hidden);
    let mut errors = Vec::new();
    loop {
        let error = match T::deserialize(NodeDe { node, masked: &masked }) {
            Ok(value) if errors.is_empty() => return Ok(value),
            Ok(_) => return Err(errors),
            Err(error) => error,
        };
        let next = masked.hide(&error, node);
        if !next.follows {
            errors.push(error.into_read_error(file, node));
        }
        // Follow-up errors are masked too, up to the root.
        if next.last || errors.len() >= MAX_ERRORS_PER_DOCUMENT || masked.len() > 4 * MAX_ERRORS_PER_DOCUMENT {
            return Err(errors);
        }
    }
}

/// The largest integer that `f64` represents exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[derive(Clone, Copy)]
struct NodeDe<'a> {
    node: &'a Node,
    masked: &'a Masked<'a>,
}

impl NodeDe<'_> {
    fn expected(&self, what: &str) -> DeError {
        DeError::new(format!("expected {what}, found {}", self.node.describe())).within(self.node)
    }

    fn finite(&self) -> Result<f64, DeError> {
        match self.node.value {
            NodeValue::Number(n) if n.is_finite() => Ok(n),
            NodeValue::Number(n) => Err(DeError::new(format!("expected a finite number, found {n}")).within(self.node)),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Text(_) | NodeValue::List(_) | NodeValue::Map(_) => {
                Err(self.expected("a number"))
            }
        }
    }

    /// Reads a whole number between two bounds.
    fn whole(&self, least: f64, most: f64) -> Result<f64, DeError> {
        let (least, most) = (least.max(-EXACT), most.min(EXACT));
        let n = self.finite()?;
        if n.fract() != 0.0 || n < least || n > most {
            return Err(self.expected(&format!("a whole number from {least} to {most}")));
        }
        Ok(n)
    }

    fn located<T>(&self, result: Result<T, DeError>) -> Result<T, DeError> {
        result.map_err(|e| e.within(self.node))
    }
}

macro_rules! whole_numbers {
    ($($method:ident $ty:ident $visit:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
            let n = self.whole($ty::MIN as f64, $ty::MAX as f64)?;
            self.located(visitor.$visit(n as $ty))
        }
    )*};
}

impl<'de> de::Deserializer<'de> for NodeDe<'_> {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match &self.node.value {
            NodeValue::Null => self.located(visitor.visit_unit()),
            NodeValue::Bool(b) => self.located(visitor.visit_bool(*b)),
            NodeValue::Number(_) => {
                let n = self.finite()?;
                // AssembledDocument numbers are visited as integers for untagged types, except minus zero.
                let integral = n.fract() == 0.0 && n.abs() <= EXACT && !(n == 0.0 && n.is_sign_negative());
                self.located(match integral {
                    true if n < 0.0 => visitor.visit_i64(n as i64),
                    true => visitor.visit_u64(n as u64),
                    false => visitor.visit_f64(n),
                })
            }
            NodeValue::Text(text) => self.located(visitor.visit_str(text)),
            NodeValue::List(_) => self.deserialize_seq(visitor),
            NodeValue::Map(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.node.value {
            NodeValue::Bool(b) => self.located(visitor.visit_bool(b)),
            NodeValue::Null | NodeValue::Number(_) | NodeValue::Text(_) | NodeValue::List(_) | NodeValue::Map(_) => {
                Err(self.expected("true or false"))
            }
        }
    }

    whole_numbers! {
        deserialize_i8 i8 visit_i8;
        deserialize_i16 i16 visit_i16;
        deserialize_i32 i32 visit_i32;
        deserialize_i64 i64 visit_i64;
        deserialize_u8 u8 visit_u8;
        deserialize_u16 u16 visit_u16;
        deserialize_u32 u32 visit_u32;
        deserialize_u64 u64 visit_u64;
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        let n = self.finite()?;
        self.located(visitor.visit_f64(n))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match &self.node.value {
            NodeValue::Text(text) => self.located(visitor.visit_str(text)),
            NodeValue::Number(_) | NodeValue::Bool(_) => {
                Err(self.expected("a text").helped(Some("put the value in quotes".to_owned())))
            }
            NodeValue::Null | NodeValue::List(_) | NodeValue::Map(_) => Err(self.expected("a text")),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        let value = if self.node.is_null() { visitor.visit_none() } else { visitor.visit_some(self) };
        self.located(value)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        match self.node.value {
            NodeValue::Null => self.located(visitor.visit_unit()),
            NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Text(_) | NodeValue::List(_) | NodeValue::Map(_) => {
                Err(self.expected("nothing"))
            }
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DeError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DeError> {
        self.located(visitor.visit_newtype_struct(self))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        let NodeValue::List(items) = &self.node.value else {
            return Err(self.expected("a list"));
        };
        let mut access = Items { items: items.iter().enumerate(), masked: self.masked };
        let value = self.located(visitor.visit_seq(&mut access))?;
        match access.next() {
            None => Ok(value),
            Some((taken, extra)) => {
                Err(DeError::new(format!("expected a list of {taken}, found a list of {}", items.len())).within(extra))
            }
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        let NodeValue::Map(entries) = &self.node.value else {
            return Err(self.expected("a map"));
        };
        self.located(visitor.visit_map(Entries { entries: entries.iter(), masked: self.masked, value: None }))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        if !self.node.is_map() && !self.masked.hides(self.node) {
            return Err(self.expected("a map").helped(Some(shape(name, fields, self.node))));
        }
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        let access = match &self.node.value {
            NodeValue::Text(name) => Choice { name, place: self.node, content: None, masked: self.masked },
            NodeValue::Map(entries) => match entries.as_slice() {
                [Entry { key, value, .. }] => {
                    Choice { name: key, place: self.node, content: Some(value), masked: self.masked }
                }
                _ => return Err(self.expected(&format!("a map with one of the keys {}", variants.join(", ")))),
            },
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::List(_) => {
                return Err(self.expected(&format!("one of {}", variants.join(", "))));
            }
        };
        self.located(visitor.visit_enum(access))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_unit()
    }
}

/// Returns an example of the expected map, with the found number if it fits.
fn shape(name: &str, fields: &[&str], found: &Node) -> String {
    let number = found.as_number().unwrap_or(5.0);
    match name {
        "Magnitude" => format!("write {{Type: ScalableFloat, Value: {number}}}"),
        "Period" => format!("write {{Period: {number}}}"),
        _ => match fields {
            [one] => format!("write {{{one}: …}}"),
            [first, ..] if fields.len() <= 12 => format!("write {{{first}: …}}; the fields are {}", fields.join(", ")),
            _ => "write a map: `Key: value` on separate lines".to_owned(),
        },
    }
}

/// The elements of a list.
struct Items<'a> {
    items: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
    masked: &'a Masked<'a>,
}

impl<'a> Items<'a> {
    fn next(&mut self) -> Option<(usize, &'a Node)> {
        let masked = self.masked;
        self.items.find(|(_, n)| !masked.hides(n))
    }
}

impl<'de> de::SeqAccess<'de> for &mut Items<'_> {
    type Error = DeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, DeError> {
        let Some((index, node)) = self.next() else {
            return Ok(None);
        };
        seed.deserialize(NodeDe { node, masked: self.masked })
            .map(Some)
            .map_err(|e| e.within(node).under(PathStep::Index(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The entries of a map.
struct Entries<'a> {
    entries: std::slice::Iter<'a, Entry>,
    masked: &'a Masked<'a>,
    value: Option<&'a Entry>,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = DeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DeError> {
        let masked = self.masked;
        self.value = self.entries.find(|e| !masked.hides(&e.value));
        let Some(entry) = self.value else {
            return Ok(None);
        };
        seed.deserialize(KeyDe { entry }).map(Some).map_err(|e| e.at(entry.line, entry.column))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DeError> {
        match self.value.take() {
            Some(entry) => seed
                .deserialize(NodeDe { node: &entry.value, masked: self.masked })
                .map_err(|e| e.within(&entry.value).under(PathStep::Key(entry.key.clone()))),
            None => Err(DeError::new("internal error: a value was read before its key")),
        }
    }
}

/// A key: a text, or a number for maps with numeric keys.
struct KeyDe<'a> {
    entry: &'a Entry,
}

impl KeyDe<'_> {
    fn as_node(&self) -> Node {
        Node {
            value: crate::scalar::resolve(&self.entry.key),
            line: self.entry.line,
            column: self.entry.column,
            span: self.entry.span,
        }
    }
}

macro_rules! key_numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
            NodeDe { node: &self.as_node(), masked: &Masked::default() }.$method(visitor)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for KeyDe<'_> {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_str(&self.entry.key)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        let place = self.as_node();
        visitor.visit_enum(Choice { name: &self.entry.key, place: &place, content: None, masked: &Masked::default() })
    }

    key_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64
    }

    forward_to_deserialize_any! {
        bool char str string bytes byte_buf option unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}

/// A variant of an enum: its name, and its content if it is a map with one key.
struct Choice<'a> {
    name: &'a str,
    place: &'a Node,
    content: Option<&'a Node>,
    masked: &'a Masked<'a>,
}

impl<'a, 'de> de::EnumAccess<'de> for Choice<'a> {
    type Error = DeError;
    type Variant = Choice<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Choice<'a>), DeError> {
        let name: de::value::StrDeserializer<'_, DeError> = de::IntoDeserializer::into_deserializer(self.name);
        Ok((seed.deserialize(name)?, self))
    }
}

impl Choice<'_> {
    /// Reads the content with its name in the path.
    fn content<T>(self, read: impl FnOnce(NodeDe<'_>) -> Result<T, DeError>) -> Result<T, DeError> {
        match self.content {
            Some(node) => read(NodeDe { node, masked: self.masked })
                .map_err(|e| e.within(node).under(PathStep::Key(self.name.to_owned()))),
            None => {
                Err(DeError::new(format!("{} needs a value: write it as `{}: …`", self.name, self.name))
                    .within(self.place))
            }
        }
    }
}

impl<'de> de::VariantAccess<'de> for Choice<'_> {
    type Error = DeError;

    fn unit_variant(self) -> Result<(), DeError> {
        match self.content {
            None => Ok(()),
            Some(node) if node.is_null() => Ok(()),
            Some(node) => Err(NodeDe { node, masked: self.masked }.expected("nothing")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DeError> {
        self.content(|de| seed.deserialize(de))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DeError> {
        self.content(|de| de::Deserializer::deserialize_seq(de, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, DeError> {
        self.content(|de| de::Deserializer::deserialize_map(de, visitor))
    }
}
