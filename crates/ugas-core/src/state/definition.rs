//! Run-time definitions, such as procedural items. Run-time definitions are part of the sim's state, and are saved and
//! replicated with the state.

use crate::rules::{AbilityDef, EffectDef, Rules};
use crate::{AbilityId, EffectId, RUNTIME_BIT};
use std::ops::Deref;
use std::sync::Arc;
use ugas_doc::Doc;

/// A definition, from the rules or compiled at run time. The reference stays valid while the sim changes.
pub(crate) enum DefRef<'r, T> {
    Rules(&'r T),
    Runtime(Arc<T>),
}

/// An effect's definition.
pub(crate) type EffectRef<'r> = DefRef<'r, EffectDef>;
/// An ability's definition.
pub(crate) type AbilityRef<'r> = DefRef<'r, AbilityDef>;

impl<T> Deref for DefRef<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        match self {
            DefRef::Rules(d) => d,
            DefRef::Runtime(d) => d,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) doc: Doc,
    /// An effect, or the effect that grants an ability's owned tags.
    pub(crate) effect: Option<Arc<EffectDef>>,
    pub(crate) ability: Option<Arc<AbilityDef>>,
    pub(crate) fingerprint: u64,
}

/// Definitions by number. A removed definition leaves an empty entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions {
    pub(crate) list: Vec<Option<Definition>>,
}

impl Definitions {
    pub(crate) fn next_id(&self) -> u32 {
        RUNTIME_BIT | self.list.len() as u32
    }

    /// Iterates over the definitions that a row uses.
    pub(crate) fn used_by<'s>(&'s self, row: &'s super::Row) -> impl Iterator<Item = (u32, &'s Definition)> {
        let list = self.list.iter().enumerate();
        list.filter_map(|(n, d)| Some((RUNTIME_BIT | n as u32, d.as_ref()?))).filter(|(id, _)| row.uses(*id))
    }

    pub(crate) fn get(&self, id: u32) -> Option<&Definition> {
        self.list.get((id & !RUNTIME_BIT) as usize)?.as_ref()
    }

    #[inline]
    pub(crate) fn effect<'r>(&self, rules: &'r Rules, id: EffectId) -> Option<EffectRef<'r>> {
        if id.is_runtime() {
            return self.get(id.0)?.effect.clone().map(DefRef::Runtime);
        }
        rules.effect_def(id).map(|d| DefRef::Rules(&**d))
    }

    #[inline]
    pub(crate) fn ability<'r>(&self, rules: &'r Rules, id: AbilityId) -> Option<AbilityRef<'r>> {
        if id.is_runtime() {
            return self.get(id.0)?.ability.clone().map(DefRef::Runtime);
        }
        rules.ability_def(id).map(|d| DefRef::Rules(&**d))
    }
}
