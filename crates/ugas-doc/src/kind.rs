//! The document kinds, as one table with one entry per kind.
//!
//! [`for_each_kind!`](crate::for_each_kind) passes the table to a macro. Macros generate the following code from the
//! table: [`Kind`] and [`Doc`] in this crate, the compilation in `ugas-core`, and the reading and writing of documents
//! in `ugas-data`. The trait [`Document`] has the methods that differ between document types.

use crate::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Calls a macro with the table of document kinds.
///
/// An entry consists of a variant and the name of the kind in files. The variant belongs to [`Kind`] and [`Doc`] and is
/// also the name of the type. If other documents refer to documents of the kind, the entry also has `defines`: the noun
/// for messages, the key that contains the name, and the prefix that names should have.
///
/// ```
/// macro_rules! count {
///     ($($(#[$doc:meta])* $kind:ident { name: $name:literal $(, defines: { $($def:tt)* })? })*) => {
///         [$($name),*].len()
///     };
/// }
/// assert_eq!(ugas_doc::for_each_kind!(count), ugas_doc::Kind::ALL.len());
/// ```
#[macro_export]
macro_rules! for_each_kind {
    ($then:ident) => {
        $then! {
            /// `attribute`: a single attribute, which becomes an attribute set of the same name.
            Attribute { name: "attribute", defines: { noun: "attribute", key: "Name", prefix: "" } }
            /// `attribute_set`: attributes registered together.
            AttributeSet { name: "attribute_set", defines: { noun: "attribute set", key: "Name", prefix: "" } }
            /// `stat_table`: stats registered together.
            StatTable { name: "stat_table", defines: { noun: "stat table", key: "Name", prefix: "" } }
            /// `resource`: a value that abilities spend, with its bounds.
            Resource { name: "resource", defines: { noun: "resource", key: "Name", prefix: "" } }
            /// `gameplay_tag`: a registry of tags.
            TagRegistry { name: "gameplay_tag" }
            /// `gameplay_effect`: a change of attributes and tags.
            Effect { name: "gameplay_effect", defines: { noun: "effect", key: "Name", prefix: "GE_" } }
            /// `gameplay_ability`: an action of an actor.
            Ability { name: "gameplay_ability", defines: { noun: "ability", key: "Name", prefix: "GA_" } }
            /// `gameplay_controller`: an actor with its attribute sets, abilities, effects and tags.
            Controller {
                name: "gameplay_controller",
                defines: { noun: "controller", key: "OwnerActor.ActorID", prefix: "" }
            }
            /// `curve`: a table of points.
            Curve { name: "curve", defines: { noun: "curve", key: "Name", prefix: "" } }
            /// `ability_set`: abilities, effects and attribute sets that are granted together.
            AbilitySet { name: "ability_set", defines: { noun: "ability set", key: "Name", prefix: "AS_" } }
            /// `capability`: behavior that runs while conditions hold.
            Capability { name: "capability", defines: { noun: "capability", key: "Name", prefix: "" } }
            /// `capability_set`: capabilities that are added together.
            CapabilitySet { name: "capability_set", defines: { noun: "capability set", key: "Name", prefix: "CS_" } }
            /// `timeline`: the events of a montage.
            Timeline { name: "timeline", defines: { noun: "timeline", key: "Name", prefix: "TL_" } }
            /// `calculation`: an execution or a magnitude that is written as expressions.
            Calculation { name: "calculation", defines: { noun: "calculation", key: "Name", prefix: "" } }
            /// `input_action`: a named action that a player triggers with an input.
            InputAction { name: "input_action", defines: { noun: "input action", key: "Name", prefix: "" } }
            /// `input_action_set`: actions that are active together.
            InputActionSet { name: "input_action_set", defines: { noun: "input action set", key: "Name", prefix: "" } }
            /// `input_settings`: the input buffer of all action sets that have none of their own.
            InputSettings { name: "input_settings" }
            /// `input_mapping`: the bindings of actions to device inputs.
            InputMapping { name: "input_mapping" }
            /// `input_modifier`: a step from a raw device value to the value of an action.
            InputModifier { name: "input_modifier", defines: { noun: "input modifier", key: "Name", prefix: "" } }
            /// `motion_pattern`: a sequence of directions that precedes a press.
            MotionPattern { name: "motion_pattern", defines: { noun: "motion pattern", key: "Name", prefix: "" } }
            /// `input_profile`: the changes that a player made to the controls.
            InputProfile { name: "input_profile" }
            /// `scene`: the controllers, regions and spawn points of a level.
            Scene { name: "scene", defines: { noun: "scene", key: "Name", prefix: "" } }
            /// `patch`: new values for single fields of another definition.
            Patch { name: "patch" }
        }
    };
}

/// The properties that every document type provides.
///
/// ```
/// use ugas_doc::{Curve, Document};
/// let curve = Curve::new("C_Damage", [(1.0, 10.0)]);
/// assert_eq!((curve.name(), curve.summary().unwrap()), ("C_Damage", "points (1, 10)".to_owned()));
/// ```
pub trait Document {
    /// Returns the name by which other documents refer to the document; empty if the document has no name.
    fn name(&self) -> &str;

    /// Returns the metadata, if the kind has any and the document sets it.
    fn metadata(&self) -> Option<&Metadata> {
        None
    }

    /// Returns a one-line summary for editors, if there is something to add to the description.
    fn summary(&self) -> Option<String> {
        None
    }

    /// Returns the attributes that the document defines.
    fn attributes(&self) -> &[Attribute] {
        &[]
    }
}

/// A document type that is a variant of [`Doc`].
///
/// ```
/// use ugas_doc::{Ability, Doc, DocumentKind, Effect, Kind};
/// let doc = Doc::from(Effect::instant("GE_Hit"));
/// assert_eq!(Effect::KIND, Kind::Effect);
/// assert!(Effect::of(&doc).is_some() && Ability::of(&doc).is_none());
/// ```
pub trait DocumentKind: Document + Serialize + DeserializeOwned + Into<Doc> {
    /// The kind.
    const KIND: Kind;

    /// Returns the document if it is of this kind.
    fn of(doc: &Doc) -> Option<&Self>;
}

/// How the documents of a kind define names that other documents refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defines {
    /// The noun for messages: `ability set`.
    pub noun: &'static str,
    /// The key that contains the name, with dots between the parts of a path.
    pub key: &'static str,
    /// The prefix that the specification uses for names of the kind; empty if there is none.
    pub prefix: &'static str,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident { name: $name:literal $(, defines: { $($field:ident: $value:literal),* })? })*) => {
        /// The kinds of document. A file states the name of the kind in `Kind:` or at the end of `$schema`.
        ///
        /// ```
        /// assert_eq!(ugas_doc::Kind::from_name("gameplay_effect"), Some(ugas_doc::Kind::Effect));
        /// assert_eq!(ugas_doc::Kind::Effect.name(), "gameplay_effect");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// Every kind, in display order.
            pub const ALL: [Kind; [$($name),*].len()] = [$(Kind::$kind),*];

            /// Returns the name used in files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)*
                }
            }

            /// Returns how documents of the kind define names, or `None` if other documents never refer to documents of
            /// the kind. Several documents of such a kind may have the same name: tag registries are merged, and an
            /// action set has one mapping per platform, and every player has a profile.
            pub fn defines(self) -> Option<Defines> {
                match self {
                    $(Kind::$kind => [$(Defines { $($field: $value),* })?].first().copied(),)*
                }
            }
        }

        /// One authored document of any kind.
        ///
        /// ```
        /// use ugas_doc::{Doc, Effect, Kind};
        /// let doc = Doc::from(Effect::instant("GE_Hit").add("Health", -10.0));
        /// assert_eq!((doc.kind(), doc.name()), (Kind::Effect, "GE_Hit"));
        /// ```
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum Doc {
            $($(#[$doc])* $kind(Box<$kind>),)*
        }

        impl Doc {
            /// Returns the kind of the document.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Doc::$kind(_) => Kind::$kind,)*
                }
            }

            fn document(&self) -> &dyn Document {
                match self {
                    $(Doc::$kind(doc) => &**doc,)*
                }
            }
        }

        $(
            impl From<$kind> for Doc {
                fn from(doc: $kind) -> Doc {
                    Doc::$kind(Box::new(doc))
                }
            }

            impl DocumentKind for $kind {
                const KIND: Kind = Kind::$kind;

                fn of(doc: &Doc) -> Option<&$kind> {
                    if let Doc::$kind(doc) = doc { Some(doc) } else { None }
                }
            }
        )*

        /// Returns the JSON Schema (2020-12) of a document kind, without the keys `Kind` and `$schema`.
        ///
        /// ```
        /// let schema = ugas_doc::schema_of(ugas_doc::Kind::Curve);
        /// assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        /// assert!(schema["properties"]["Points"].is_object());
        /// ```
        #[cfg(feature = "schema")]
        pub fn schema_of(kind: Kind) -> serde_json::Value {
            match kind {
                $(Kind::$kind => schema::of_type::<$kind>(),)*
            }
        }
    };
}
for_each_kind!(kinds);

impl Kind {
    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| k.name() == name)
    }
}

impl Doc {
    /// Returns the name of the document. The name of a controller is the `ActorID` of its owner. The name of a mapping
    /// is the name of its action set. The name of a tag registry, a profile or a patch is empty.
    pub fn name(&self) -> &str {
        self.document().name()
    }

    /// Returns the metadata of the document.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.document().metadata()
    }

    /// Returns the attributes that the document defines: the attributes of a set, or the one attribute of an
    /// `attribute` document.
    pub fn attributes(&self) -> &[Attribute] {
        self.document().attributes()
    }

    /// Returns a one-line summary of the document for editors, or `None` if the kind has no summary.
    pub fn summary(&self) -> Option<String> {
        self.document().summary()
    }
}
