//! Resolves names to ids once: the macro `ids!` declares a struct of ids that is filled from rules. One error lists
//! all unknown names.

use ugas_core::{AbilityId, AttributeId, EffectId, KeyId, Rules, SetId, TagId, TemplateId, UnknownName};

/// A type of id that rules assign to names.
pub trait FromRules: Sized {
    /// Returns the id that the rules assign to a name.
    fn from_rules(rules: &Rules, name: &str) -> Result<Self, UnknownName>;
}

macro_rules! from_rules {
    ($($id:ty, $find:ident;)*) => {$(
        impl FromRules for $id {
            fn from_rules(rules: &Rules, name: &str) -> Result<Self, UnknownName> { rules.$find(name) }
        }
    )*};
}
from_rules! {
    AttributeId, attribute;
    SetId, set;
    TagId, tag;
    EffectId, effect;
    AbilityId, ability;
    KeyId, key;
    TemplateId, template;
}

/// The names that were looked up but that the rules do not define, each with the most similar defined name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingNames(pub Vec<UnknownName>);

impl MissingNames {
    /// Looks up a name. Records the name as missing if the rules do not define it.
    pub fn find<T: FromRules>(&mut self, rules: &Rules, name: &str) -> Option<T> {
        T::from_rules(rules, name).map_err(|unknown| self.0.push(unknown)).ok()
    }
}

impl std::fmt::Display for MissingNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, unknown) in self.0.iter().enumerate() {
            let line = if i == 0 { "" } else { "\n" };
            write!(f, "{line}{unknown}")?;
        }
        Ok(())
    }
}
impl std::error::Error for MissingNames {}

/// Declares a struct of ids with a function `resolve` that looks up all names at once.
///
/// ```
/// use ugas::prelude::*;
/// ugas::ids! {
///     struct Ids { health: AttributeId = "Health", hit: EffectId = "GE_Hit" }
/// }
/// let rules = Rules::builder()
///     .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
///     .add(Effect::instant("GE_Hit").add("Health", -1.0))
///     .build()?;
/// let ids = Ids::resolve(&rules)?;
/// assert_eq!(rules.attribute_name(ids.health), Some("Health"));
/// assert_eq!(rules.effect_name(ids.hit), Some("GE_Hit"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! ids {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($field:ident : $ty:ty = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name { $(pub $field: $ty),* }
        impl $name {
            /// Looks up all names. The error lists every unknown name.
            $vis fn resolve(rules: &$crate::core::Rules) -> Result<$name, $crate::MissingNames> {
                let mut missing = $crate::MissingNames::default();
                $(let $field: Option<$ty> = missing.find(rules, $text);)*
                match ($($field,)*) {
                    ($(Some($field),)*) => Ok($name { $($field),* }),
                    #[allow(unreachable_patterns)]
                    _ => Err(missing),
                }
            }
        }
    };
}
