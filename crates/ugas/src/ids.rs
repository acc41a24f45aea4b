//! Names resolved once: a struct of ids, filled from rules, with every missing name in one error.

use ugas_core::{AbilityId, AttributeId, EffectId, KeyId, NameKind, Rules, SetId, TagId, TemplateId};

/// An id that rules can give for a name.
pub trait FromRules: Sized {
    /// What kind of thing it names, for messages.
    const KIND: &'static str;
    /// The kind of names that a misspelt one is compared with; none suggests nothing.
    const NAMES: Option<NameKind>;
    /// The id, if the rules have the name.
    fn from_rules(rules: &Rules, name: &str) -> Option<Self>;
}

macro_rules! from_rules {
    ($($id:ty, $kind:literal, $names:expr, $find:ident;)*) => {$(
        impl FromRules for $id {
            const KIND: &'static str = $kind;
            const NAMES: Option<NameKind> = $names;
            fn from_rules(rules: &Rules, name: &str) -> Option<Self> { rules.$find(name) }
        }
    )*};
}
from_rules! {
    AttributeId, "attribute", Some(NameKind::Attribute), attribute;
    SetId, "attribute set", Some(NameKind::Set), set;
    TagId, "tag", Some(NameKind::Tag), tag;
    EffectId, "effect", Some(NameKind::Effect), effect;
    AbilityId, "ability", Some(NameKind::Ability), ability;
    KeyId, "set-by-caller key", None, key;
    TemplateId, "controller", Some(NameKind::Template), template;
}

/// Every name that rules lack, with what was probably meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingNames(pub Vec<String>);

impl MissingNames {
    /// Looks a name up, or remembers that it is missing.
    pub fn find<T: FromRules>(&mut self, rules: &Rules, name: &str) -> Option<T> {
        let found = T::from_rules(rules, name);
        if found.is_none() {
            let near = T::NAMES
                .and_then(|kind| rules.nearest(kind, name))
                .map(|n| format!("; did you mean {n}?"))
                .unwrap_or_default();
            self.0.push(format!("no {} named {name}{near}", T::KIND));
        }
        found
    }
}

impl std::fmt::Display for MissingNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.join("\n"))
    }
}
impl std::error::Error for MissingNames {}

/// Declares a struct of ids and `resolve`, which looks all names up at once.
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
            /// Looks every name up.
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
