//! Fields and values that a document may contain but that the runtime does not implement. Each of them is a load error
//! with a reason, so that no field is silently ignored. An entry is removed when its behaviour is implemented.

use super::compile::Compiler;
use ugas_doc::{Controller, Effect, Timeline};

impl Compiler<'_> {
    fn unsupported(&mut self, field: &str, why: &str) {
        self.error("unsupported-field", format!("{field} is not supported yet: {why}"));
    }

    pub(crate) fn refuse_in_effect(&mut self, doc: &Effect) {
        if doc.area.is_some() {
            self.unsupported("Area", "an effect acts on one target; remove Area and apply the effect to each target");
        }
    }

    pub(crate) fn refuse_in_timeline(&mut self, doc: &Timeline) {
        if doc.attack.is_some() {
            self.unsupported("Attack", "a timeline is found by its Montage or its Ability; remove Attack");
        }
        if !doc.windows.is_empty() {
            self.unsupported("Windows", "time windows are not played; remove Windows and send events with Notifies");
        }
        if !doc.sockets.is_empty() {
            self.unsupported("Sockets", "the runtime does not read the positions of sockets; remove Sockets");
        }
    }

    pub(crate) fn refuse_in_controller(&mut self, doc: &Controller) {
        if doc.team.is_some() {
            self.unsupported(
                "Team",
                "the runtime does not compare teams; remove Team and write a team tag into OwnedTags",
            );
        }
    }
}
