//! Look-ups by name. Functions such as [`Rules::effect`] return an error that suggests the most similar name. Functions
//! such as [`Rules::find_effect`] return an `Option`, for names that may not be defined.

use super::{Interner, NameTable, Rules};
use crate::kinds::*;

/// A name that the rules do not define, with the most similar defined name of the same kind.
///
/// ```
/// use ugas_core::Rules;
/// use ugas_doc::Effect;
/// let rules = Rules::builder().add(Effect::instant("GE_Burn")).build()?;
/// let error = rules.effect("GE_Brun").unwrap_err();
/// assert_eq!(error.to_string(), "unknown effect 'GE_Brun'; did you mean 'GE_Burn'?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The kind of definition that was looked up.
    pub kind: NameKind,
    /// The name that was looked up.
    pub name: String,
    /// The most similar defined name of that kind, if one is similar enough.
    pub nearest: Option<String>,
}

impl std::fmt::Display for UnknownName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unknown {} '{}'", self.kind, self.name.escape_debug())?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean '{nearest}'?"),
            None => Ok(()),
        }
    }
}
impl std::error::Error for UnknownName {}

macro_rules! by_name {
    ($(
        $(#[$doc:meta])*
        $kind:ident { id: $id:ident, a: $a:literal, noun: $noun:literal, table: $table:ident, find: $find:ident, get: $get:ident, name: $name:ident }
    )*) => {
        impl Rules {
            $(
                #[doc = concat!("Returns the id of ", $a, " ", $noun, ", or `None` if the name is not defined.")]
                #[doc = ""]
                $(#[$doc])*
                pub fn $find(&self, name: &str) -> Option<$id> {
                    self.find_id(NameKind::$kind, name).map($id)
                }

                #[doc = concat!("Returns the id of ", $a, " ", $noun, ", or an error with the most similar name.")]
                pub fn $get(&self, name: &str) -> Result<$id, UnknownName> {
                    self.$find(name).ok_or_else(|| self.unknown_name(NameKind::$kind, name))
                }

                #[doc = concat!("Returns the name of ", $a, " ", $noun, ".")]
                pub fn $name(&self, id: $id) -> Option<&str> {
                    self.$table.names().name(id.0)
                }
            )*

            fn table(&self, kind: NameKind) -> Option<&dyn NameTable> {
                match kind {
                    $(NameKind::$kind => Some(&self.$table),)*
                    NameKind::Definition => None,
                }
            }

            fn table_mut(&mut self, kind: NameKind) -> Option<&mut dyn NameTable> {
                match kind {
                    $(NameKind::$kind => Some(&mut self.$table),)*
                    NameKind::Definition => None,
                }
            }
        }
    };
}
for_each_name_kind!(by_name);

impl Rules {
    /// Returns the names of a kind. Run-time definitions have none.
    pub(crate) fn names(&self, kind: NameKind) -> &Interner {
        static NONE: Interner = Interner::EMPTY;
        self.table(kind).map_or(&NONE, NameTable::names)
    }

    /// Returns the id of a name of a kind. A new name gets a new id.
    pub(crate) fn intern(&mut self, kind: NameKind, name: &str) -> Option<u32> {
        self.table_mut(kind).map(|table| table.intern(name))
    }

    /// Returns whether an id of a kind has a definition.
    pub(crate) fn has(&self, kind: NameKind, id: u32) -> bool {
        if kind == NameKind::Attribute {
            return self.is_defined(AttributeId(id));
        }
        self.table(kind).is_some_and(|table| table.has(id))
    }

    /// Calls a function with each definition of a kind as text.
    pub(super) fn definitions(&self, kind: NameKind, each: &mut dyn FnMut(usize, String)) {
        if let Some(table) = self.table(kind) {
            table.definitions(each);
        }
    }

    /// Returns the id of a defined name. `Set.Name` also finds an attribute that only that attribute set defines.
    fn find_id(&self, kind: NameKind, name: &str) -> Option<u32> {
        let found = self.names(kind).find(name);
        if kind == NameKind::Attribute {
            return found.or_else(|| self.attribute_of_set(name).map(|id| id.0));
        }
        found.filter(|&id| self.has(kind, id))
    }

    fn unknown_name(&self, kind: NameKind, name: &str) -> UnknownName {
        let nearest = self.nearest_name(kind, name).map(str::to_owned);
        UnknownName { kind, name: name.to_owned(), nearest }
    }

    /// Returns the defined name of a kind that is most similar to a misspelt name, if one is similar enough.
    ///
    /// ```
    /// use ugas_core::{NameKind, Rules};
    /// use ugas_doc::Effect;
    /// let rules = Rules::builder().add(Effect::instant("GE_Burn")).build()?;
    /// assert_eq!(rules.nearest_name(NameKind::Effect, "GE_Bun"), Some("GE_Burn"));
    /// assert_eq!(rules.nearest_name(NameKind::Ability, "GE_Bun"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nearest_name(&self, kind: NameKind, name: &str) -> Option<&str> {
        self.names(kind).nearest_of(name, |id| self.has(kind, id))
    }
}
