//! Read-only queries on grants.

use super::super::View;
use super::check::ActivationAttempt;
use crate::rules::{RuleOn, StaticMask};
use crate::{AbilityState, GrantId, NameKind, ParamId, Refusal, Which};

impl<'a> View<'a> {
    /// Returns the selected grants in grant order. An id that the rules do not define is an error. An ability that is
    /// not granted selects nothing.
    pub(crate) fn grants_of(&self, slot: usize, which: Which) -> Result<impl Iterator<Item = GrantId> + 'a, Refusal> {
        let row = self.row(slot);
        if let Which::Ability(a) = which
            && self.ability(a).is_none()
        {
            return Err(Refusal::UnknownName { kind: NameKind::Ability, id: a.0 });
        }
        let of = match which {
            Which::Activation(key) => {
                let a = row.play().activations.iter().find(|a| a.key(row.id) == key);
                Some(a.ok_or(Refusal::StaleHandle)?.grant)
            }
            Which::Ability(_) | Which::Grant(_) | Which::Input(_) => None,
        };
        let is_selected = move |g: &&crate::state::Grant| match which {
            Which::Ability(a) => g.ability == a,
            Which::Grant(id) => g.id == id,
            Which::Input(input) => g.input() == input && input != crate::InputId::NONE,
            Which::Activation(_) => Some(g.id) == of,
        };
        Ok(row.grants.iter().filter(is_selected).map(|g| g.id))
    }

    /// Returns the state of a grant. If the grant has several activations, returns the most advanced state.
    pub(crate) fn state_of(&self, slot: usize, grant: GrantId) -> AbilityState {
        let row = self.row(slot);
        if row.grant(grant).is_none() {
            return AbilityState::NotGranted;
        }
        let states = row.play().activations.iter().filter(|a| a.grant == grant).map(|a| a.state);
        states.max_by_key(|&s| (s == AbilityState::Active, s as u8)).unwrap_or(AbilityState::Granted)
    }

    /// Returns a parameter of a grant.
    pub(crate) fn param_of(&self, slot: usize, grant: usize, name: ParamId) -> Option<f64> {
        let params = &self.row(slot).grants[grant].more.as_deref()?.params;
        params.binary_search_by_key(&name, |(p, _)| *p).ok().map(|i| params[i].1)
    }

    /// Returns whether no combat rule changes the cost of an ability.
    pub(crate) fn is_free_of_cost_rules(&self, t: &ActivationAttempt<'_>) -> bool {
        t.def.fixed.has(StaticMask::COST)
            || !self.has_rules(t.slot)
            || [1.0, 2.0].iter().all(|&v| self.combat_value(t.slot, RuleOn::ResourceCost, v, Some(t.def), None) == v)
    }
}
