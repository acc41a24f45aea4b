//! A view: everything the verbs decide by, and nothing they could change it with. A flow lends one, and so does a
//! sim to whoever only asks.

use super::{Flow, Replay, State, Sums, sums};
use crate::limits::Limits;
use crate::rules::{Layout, ModDef, Rules};
use crate::state::{AbilityRef, EffectRef, Index, Row};
use crate::{AbilityId, ControllerId, EffectId, OpId, TagId};

/// A sim's parts to read.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) limits: &'a Limits,
    pub(crate) st: &'a State,
    pub(crate) ix: &'a Index,
    pub(crate) replay: Option<Replay<'a>>,
    /// The op behind what is asked, for random draws.
    pub(crate) root: OpId,
    /// Its cause link, for refusals that name it.
    pub(crate) link: u32,
    /// Whether numbers are asked for that something else is to come out at later: then nothing may be random.
    pub(crate) sure: bool,
    /// Whether fast paths may be taken; see [`crate::Sim::fast_paths_open`].
    pub(crate) fast: bool,
}

impl Flow<'_> {
    #[inline]
    pub(crate) fn view(&self) -> View<'_> {
        View {
            rules: self.rules,
            limits: self.limits,
            st: self.st,
            ix: self.ix,
            replay: self.replay,
            root: self.cause.root,
            link: self.cause.link,
            sure: false,
            fast: self.fast,
        }
    }
}

impl<'a> View<'a> {
    #[inline]
    pub(crate) fn row(&self, slot: usize) -> &'a Row {
        self.st.controllers.row(slot)
    }

    /// Whether a row has a tag or a descendant of it.
    #[inline]
    pub(crate) fn has(&self, slot: usize, tag: TagId) -> bool {
        self.row(slot).has(&self.rules.tags, tag)
    }

    #[inline]
    pub(crate) fn layout(&self, slot: usize) -> &'a Layout {
        &self.ix.layouts[self.row(slot).layout as usize]
    }

    #[inline]
    pub(crate) fn def(&self, effect: EffectId) -> Option<EffectRef<'a>> {
        self.st.definitions.effect(self.rules, effect)
    }

    #[inline]
    pub(crate) fn ability(&self, ability: AbilityId) -> Option<AbilityRef<'a>> {
        self.st.definitions.ability(self.rules, ability)
    }

    /// What acts on a slot's current value.
    pub(crate) fn sums_of(&self, row: &Row, slot: usize, strongest: bool) -> Sums {
        let priority = |seq| {
            let def = row.effect_at(seq).and_then(|i| self.def(row.effects[i].def));
            def.map_or(0, |d| d.priority)
        };
        if row.is_modded(slot) { sums(row.mods_of(slot), strongest, priority) } else { Sums::NONE }
    }

    /// Whether a modifier's tag filter holds now.
    pub(crate) fn filter_holds(&self, m: &ModDef, source: ControllerId, target: usize) -> bool {
        m.target_tags.iter().all(|&t| self.has(target, t)) && m.source_tags.iter().all(|&t| self.source_has(source, t))
    }
}
