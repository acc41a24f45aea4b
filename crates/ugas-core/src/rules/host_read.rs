//! Documents that only the host or the pack loader uses. They add no definitions to the rules; the compiler reads only
//! the tags of scenes, and rejects patches that were not applied.

use super::compile::Compiler;
use super::document::{Phase, RulesDocument};
use ugas_doc::{InputMapping, InputModifier, InputProfile, Origin, Patch, Scene};

macro_rules! unread {
    ($($kind:ident)*) => {$(
        impl RulesDocument for $kind {
            fn phase(&self) -> Phase {
                Phase::Sets
            }

            fn compile(&self, _: &mut Compiler<'_>, _: &Option<Origin>) {}
        }
    )*};
}
unread!(InputMapping InputModifier InputProfile);

/// The host spawns the placements of a scene. The rules know the tags of the placements, as they know the tags of all
/// other documents.
impl RulesDocument for Scene {
    fn phase(&self) -> Phase {
        Phase::Scenes
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        for placement in &self.placements {
            c.tag_list(&placement.startup_tags);
        }
    }
}

impl RulesDocument for Patch {
    fn phase(&self) -> Phase {
        Phase::Sets
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        let message = format!(
            "the patch of {} was not applied: only loading from a folder applies patches; load the folder of the pack",
            self.target
        );
        c.error("patch-not-applied", message);
    }
}
