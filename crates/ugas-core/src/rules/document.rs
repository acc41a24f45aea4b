//! The trait that compiles each kind of document into the rules.
//!
//! Each kind of document implements the trait in the file that compiles the kind. [`super::host_read`] contains the
//! implementations for kinds that only the host reads.

use super::compile::Compiler;
use crate::NameKind;
use ugas_doc::{Doc, Document, Effect, Origin, for_each_kind};

/// Defines [`Phase`] and the list of all phases from one list.
macro_rules! phases {
    ($($(#[$doc:meta])* $phase:ident,)*) => {
        /// The phase in which a document is compiled, after the kinds that it refers to. The variants are in the order
        /// of compilation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Phase {
            $($(#[$doc])* $phase,)*
        }

        impl Phase {
            pub(super) const ALL: &[Phase] = &[$(Phase::$phase),*];
        }
    };
}
phases! {
    /// Curves, which expressions of attributes and calculations use.
    Curves,
    /// Attributes, tags and documents that the host reads.
    Sets,
    /// Calculations read attributes. Host code of the same name replaces a document.
    Calculations,
    /// Effects refer to calculations.
    Effects,
    /// Timelines contain the answers that are compiled into the tasks of abilities.
    Timelines,
    /// Abilities refer to effects and timelines.
    Abilities,
    /// Ability sets refer to abilities.
    AbilitySets,
    /// Controllers refer to all of these.
    Controllers,
    /// Scenes place controllers.
    Scenes,
}

/// A kind of document that rules are built from.
pub(super) trait RulesDocument: Document {
    /// Returns the phase in which the document is compiled.
    fn phase(&self) -> Phase;

    /// Returns the kind of the names of these documents in the rules. `None` if the rules store no name of the
    /// document.
    fn name_kind(&self) -> Option<NameKind> {
        None
    }

    /// Assigns ids to the names of the document. The builder calls this for every document before it compiles any, so
    /// that documents may refer to each other in any order.
    fn declare(&self, c: &mut Compiler<'_>) {
        if let Some(kind) = self.name_kind() {
            c.declare(kind, self.name());
        }
    }

    /// Returns the effect that belongs to the document and is compiled in the effect phase, if any.
    fn own_effect(&self) -> Option<Effect> {
        None
    }

    /// Adds the document's definition to the rules, or reports every error.
    fn compile(&self, c: &mut Compiler<'_>, origin: &Option<Origin>);
}

macro_rules! rules_document {
    ($($(#[$doc:meta])* $kind:ident { $($entry:tt)* })*) => {
        /// Returns the document as the trait object of its kind.
        pub(super) fn rules_document(doc: &Doc) -> &dyn RulesDocument {
            match doc {
                $(Doc::$kind(doc) => &**doc,)*
            }
        }
    };
}
for_each_kind!(rules_document);

impl Compiler<'_> {
    /// Assigns an id to a name and returns the id.
    pub(super) fn declare(&mut self, kind: NameKind, name: &str) -> Option<u32> {
        let id = self.rules.to_mut().intern(kind, name)?;
        self.declared.insert((kind, id));
        Some(id)
    }
}
