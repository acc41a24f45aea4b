//! The decisions of a capability document: whether its conditions hold.

use crate::flow::View;
use crate::rules::{Bearer, CapabilityDef, Expr, Local, Question, Reads, Side};
use crate::{AttributeId, EffectId, TagId};

/// The values that a condition of a capability reads.
struct OwnerReads<'a> {
    view: View<'a>,
    slot: usize,
}

impl Reads for OwnerReads<'_> {
    fn attribute(&mut self, side: Side, attribute: AttributeId) -> Option<f64> {
        match side {
            Side::Own => self.view.current_of(self.view.row(self.slot).id, attribute),
            Side::Source | Side::Target => None,
        }
    }

    fn tag(&mut self, bearer: Bearer, tag: TagId) -> Option<bool> {
        match bearer {
            Bearer::Own => Some(self.view.has(self.slot, tag)),
            Bearer::Source | Bearer::Target | Bearer::Event | Bearer::Hit => None,
        }
    }

    fn local(&mut self, _: Local) -> Option<f64> {
        None
    }
}

impl View<'_> {
    /// Evaluates the conditions of a document. With `Until`, only that condition ends an active capability. An inactive
    /// capability stays inactive while `Until` holds, because it would end again at its next evaluation.
    pub(crate) fn ask_document(&self, slot: usize, def: &CapabilityDef, question: Question, is_active: bool) -> bool {
        let who = self.row(slot).id;
        let holds = |expr: &Expr| self.holds(expr, &mut OwnerReads { view: *self, slot }, who, EffectId::NONE);
        let tags = &self.row(slot).tags;
        let matches = |query: &crate::rules::TagQuery| {
            query.eval(&|t| self.has(slot, t), &|t| tags.count(&self.rules.tags, t) > 0)
        };
        let wants = || def.query.as_ref().is_none_or(matches) && def.when.as_ref().is_none_or(holds);
        let ends = || def.until.as_ref().is_some_and(holds);
        match (question, &def.until, is_active) {
            (Question::Activate, ..) => wants() && !ends(),
            (Question::Deactivate, Some(_), true) => ends(),
            (Question::Deactivate, Some(_), false) => ends() || !wants(),
            (Question::Deactivate, None, _) => !wants(),
        }
    }
}
