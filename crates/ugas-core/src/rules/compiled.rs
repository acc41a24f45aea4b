//! What rules were compiled to, as text: the form that shows whether a change of a document changes anything.

use super::ability::AbilityDef;
use super::effect::EffectDef;
use super::timeline::TimelineDef;
use super::{INITIAL_TAGS, Rules};
use std::fmt::Write;
use std::sync::Arc;
use ugas_doc::{Ability, Timeline};

impl Rules {
    /// Returns everything the runtime reads of the documents, one definition to a line, for tests and tools. Display
    /// data, comments and places in files are left out, so a field that only changes those does not change the text.
    ///
    /// ```
    /// use ugas_core::Rules;
    /// use ugas_doc::{Effect, Metadata};
    /// let text = |e: Effect| Rules::builder().add(e).build().unwrap().compiled_text();
    /// let plain = Effect::infinite("GE_Aura");
    /// let shown = Effect { metadata: Some(Metadata { icon: Some("a.png".into()), ..Default::default() }), ..plain.clone() };
    /// assert_eq!(text(plain.clone()), text(shown));
    /// assert_ne!(text(plain.clone()), text(plain.priority(3)));
    /// ```
    pub fn compiled_text(&self) -> String {
        let mut text = String::new();
        let mut line = |definition: &dyn std::fmt::Debug| {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{definition:?}");
        };
        self.sets.iter().enumerate().for_each(|set| line(&set));
        self.curves.iter().enumerate().for_each(|curve| line(&curve));
        for calc in self.calcs.iter().flatten() {
            line(&(&calc.reads, &calc.params, calc.rolls, &calc.formulas));
        }
        for effect in self.effects.iter().flatten().filter(|e| e.id != INITIAL_TAGS) {
            line(&EffectDef { origin: None, ..(**effect).clone() });
        }
        self.abilities.iter().flatten().for_each(|ability| line(&without_doc(ability)));
        self.ability_sets.iter().enumerate().for_each(|set| line(&set));
        for timeline in self.timelines.iter().flatten() {
            line(&TimelineDef { doc: Arc::new(Timeline::default()), ..(**timeline).clone() });
        }
        line(&(&self.by_montage, &self.by_ability));
        self.templates.iter().enumerate().for_each(|template| line(&template));
        self.tables().iter().for_each(|(kind, names)| line(&(kind, names.list())));
        text
    }
}

/// An ability without what was written, but for the fields that the network reads from there.
fn without_doc(def: &AbilityDef) -> AbilityDef {
    let Ability { net_execution, client_may_cancel, .. } = *def.doc;
    let doc = Ability { net_execution, client_may_cancel, ..Ability::default() };
    AbilityDef { doc: Arc::new(doc), origin: None, ..def.clone() }
}
