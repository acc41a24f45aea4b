//! How each kind of document becomes part of the rules.
//!
//! The implementation is in the file that compiles the kind. A kind that the host reads is in [`super::host_read`].

use super::compile::Compiler;
use crate::NameKind;
use ugas_doc::{Doc, Document, Effect, Origin, for_each_kind};

/// When a document is compiled: after the kinds it refers to. The order of the variants is that of compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Curves: expressions of attributes and calculations contain them.
    Curves,
    /// Attributes, tags and what the host reads.
    Sets,
    /// Calculations read attributes. Host code of the same name replaces a document.
    Calculations,
    /// Effects refer to calculations.
    Effects,
    /// Timelines answer tasks of abilities.
    Timelines,
    /// Abilities refer to effects and timelines.
    Abilities,
    /// Ability sets refer to abilities.
    AbilitySets,
    /// Controllers refer to all of these.
    Controllers,
}

impl Phase {
    pub(super) const ALL: [Phase; 8] = [
        Phase::Curves,
        Phase::Sets,
        Phase::Calculations,
        Phase::Effects,
        Phase::Timelines,
        Phase::Abilities,
        Phase::AbilitySets,
        Phase::Controllers,
    ];
}

/// A kind of document that rules are built from.
pub(super) trait RulesDocument: Document {
    /// Returns when it is compiled.
    fn phase(&self) -> Phase;

    /// Returns the kind of its name in the rules, if it has one there.
    fn defines(&self) -> Option<NameKind> {
        None
    }

    /// Gives its names ids. Called for every document before any is compiled, so that documents may refer to each other
    /// in any order.
    fn declare(&self, c: &mut Compiler<'_>) {
        if let Some(kind) = self.defines() {
            c.declare(kind, self.name());
        }
    }

    /// Returns an effect that comes with it and is compiled with the effects.
    fn own_effect(&self) -> Option<Effect> {
        None
    }

    /// Adds its definition to the rules, or reports every error.
    fn compile(&self, c: &mut Compiler<'_>, origin: &Option<Origin>);
}

macro_rules! rules_document {
    ($($(#[$doc:meta])* $kind:ident { $($entry:tt)* })*) => {
        /// Returns the document by its kind.
        pub(super) fn rules_document(doc: &Doc) -> &dyn RulesDocument {
            match doc {
                $(Doc::$kind(doc) => &**doc,)*
            }
        }
    };
}
for_each_kind!(rules_document);

impl Compiler<'_> {
    /// Gives a name an id and returns it.
    pub(super) fn declare(&mut self, kind: NameKind, name: &str) -> Option<u32> {
        let id = self.rules.to_mut().intern(kind, name)?;
        self.declared.insert((kind, id));
        Some(id)
    }
}
