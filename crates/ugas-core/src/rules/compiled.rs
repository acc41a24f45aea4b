//! The compiled rules as text. Tests and tools use the text to check whether a changed document changes the compiled
//! rules.

use super::Rules;
use crate::NameKind;
use std::fmt::{Debug, Write};
use std::sync::Arc;

impl Rules {
    /// Returns everything that the runtime reads from the documents, one definition per line, for tests and tools. The
    /// text contains no metadata, comments or file positions, so a change to one of them does not change the text.
    ///
    /// ```
    /// use ugas_core::Rules;
    /// use ugas_doc::{Effect, Metadata};
    /// let text = |e: Effect| Rules::builder().add(e).build().unwrap().compiled_text();
    /// let plain = Effect::infinite("GE_Aura");
    /// let shown = Effect { metadata: Some(Metadata { icon: Some("a.png".into()), ..Default::default() }),
    /// ..plain.clone() }; assert_eq!(text(plain.clone()), text(shown));
    /// assert_ne!(text(plain.clone()), text(plain.priority(3)));
    /// ```
    pub fn compiled_text(&self) -> String {
        let mut text = String::new();
        // Writing into a string cannot fail.
        for kind in NameKind::NAMED {
            let _ = writeln!(text, "{kind}: {:?}", self.names(kind).list());
            self.definitions(kind, &mut |id, definition| {
                let _ = writeln!(text, "{kind} {id}: {definition}");
            });
        }
        let _ = writeln!(text, "{:?}", (&self.by_montage, &self.by_ability));
        let _ = writeln!(text, "{:?}", self.inputs);
        text
    }
}

/// A definition as text. An implementation leaves out display data and places in files. Each implementation is next to
/// the definition.
pub(crate) trait CompiledText: Debug {
    fn compiled_text(&self) -> String {
        format!("{self:?}")
    }
}

impl<T: CompiledText> CompiledText for Arc<T> {
    fn compiled_text(&self) -> String {
        (**self).compiled_text()
    }
}
