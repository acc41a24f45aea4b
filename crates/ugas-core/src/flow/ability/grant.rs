//! Granting, revoking and configuring abilities of a controller.

use super::super::{Flow, RowEvent, Via};
use super::EndHow;
use super::state::AbilityTransition;
use crate::state::{Grant, GrantMore, alert};
use crate::{
    AbilityGrant, AbilityId, AbilityState, BadValue, ControllerId, FactKind, GrantId, InputId, LimitKind, NameKind,
    ParamId, Refusal, Which,
};

impl Flow<'_> {
    /// Grants an ability. `by` is the effect whose end revokes the ability, or 0.
    pub(crate) fn grant_ability(&mut self, target: usize, g: AbilityGrant, by: u64, via: Via) -> GrantId {
        let row = self.row_mut(target);
        let id = GrantId(row.next_grant);
        row.next_grant += 1;
        let AbilityGrant { ability, level, input } = g;
        let input = input.unwrap_or(InputId::NONE);
        let at = row.push_grant(Grant::new(id, g, by));
        let who = row.id;
        self.init_charges(target, at);
        self.fact(who, via, FactKind::Granted { ability, grant: id, level, input });
        self.step_ability(who, (ability, id), AbilityState::NotGranted, AbilityTransition::Grant);
        self.refresh_listeners(target);
        // Passive abilities start after the operation that granted them.
        if self.ability(ability).is_some_and(|d| d.passive || d.lasts_with_tag()) {
            self.notify_anyway(target, RowEvent::Granted { grant: id });
        }
        id
    }

    /// Revokes a grant. The activations of the grant are cancelled first.
    pub(crate) fn revoke_grant(&mut self, target: usize, grant: GrantId, via: Via) {
        let running = |a: &&crate::state::Activation| a.grant == grant && a.state != AbilityState::Ending;
        while let Some((seq, state)) =
            self.row(target).play().activations.iter().find(running).map(|a| (a.seq, a.state))
        {
            if state == AbilityState::Activating {
                // The activation was never active, so nothing is reported.
                let row = self.row(target);
                let ability = row.grant(grant).map_or(AbilityId::NONE, |at| row.grants[at].ability);
                self.step_ability(row.id, (ability, grant), state, AbilityTransition::Fail);
                self.drop_activation(target, seq);
            } else {
                self.finish(target, seq, EndHow::Cancelled);
            }
        }
        let Some(at) = self.row(target).grant(grant) else { return };
        self.stop_charges(target, at);
        let row = self.row_mut(target);
        let (who, g) = (row.id, row.take_grant(at));
        self.fact(who, via, FactKind::Revoked { ability: g.ability, grant });
        self.step_ability(who, (g.ability, grant), AbilityState::Granted, AbilityTransition::Revoke);
        self.refresh_listeners(target);
        self.publish(target);
    }

    pub(crate) fn grant_op(&mut self, who: ControllerId, grant: AbilityGrant) -> Result<GrantId, Refusal> {
        let target = self.slot(who)?;
        if grant.level == 0 {
            return Err(Refusal::BadValue { what: BadValue::Level });
        }
        if self.ability(grant.ability).is_none() {
            return Err(Refusal::UnknownName { kind: NameKind::Ability, id: grant.ability.0 });
        }
        let max = self.limits.grants_per_controller;
        if self.row(target).grants.len() >= max as usize {
            return Err(Refusal::Limit { what: LimitKind::Grants, max, link: self.cause.link });
        }
        Ok(self.grant_ability(target, grant, 0, Via::NOTHING))
    }

    pub(crate) fn revoke_op(&mut self, who: ControllerId, which: Which) -> Result<(), Refusal> {
        let target = self.slot(who)?;
        let grants: Vec<GrantId> = self.grants_of(target, which)?;
        if grants.is_empty() {
            return Err(Refusal::NotGranted);
        }
        for grant in grants {
            self.revoke_grant(target, grant, Via::NOTHING);
        }
        Ok(())
    }

    pub(crate) fn set_level(&mut self, who: ControllerId, grant: GrantId, level: u32) -> Result<(), Refusal> {
        let (target, at) = self.grant_at(who, grant)?;
        if level == 0 {
            return Err(Refusal::BadValue { what: BadValue::Level });
        }
        self.row_mut(target).grants[at].set_level(level);
        Ok(())
    }

    /// Sets a parameter of a grant.
    pub(crate) fn set_param(
        &mut self,
        who: ControllerId,
        grant: GrantId,
        param: ParamId,
        value: f64,
    ) -> Result<(), Refusal> {
        let (target, at) = self.grant_at(who, grant)?;
        if !value.is_finite() {
            return Err(Refusal::BadValue { what: BadValue::Number });
        }
        let max = self.limits.params_per_grant;
        let full = |m: &GrantMore| m.params.len() >= max as usize && !m.params.iter().any(|(p, _)| *p == param);
        if self.row(target).grants[at].more.as_deref().is_some_and(full) {
            return Err(Refusal::Limit { what: LimitKind::Params, max, link: self.cause.link });
        }
        let list = &mut self.row_mut(target).grants[at].more.get_or_insert_default().params;
        match list.binary_search_by_key(&param, |(p, _)| *p) {
            Ok(i) => list[i].1 = value + 0.0,
            Err(i) => list.insert(i, (param, value + 0.0)),
        }
        Ok(())
    }

    /// Turns a named restriction of a grant on or off.
    pub(crate) fn restrict(
        &mut self,
        who: ControllerId,
        grant: GrantId,
        name: ParamId,
        on: bool,
    ) -> Result<(), Refusal> {
        let (target, at) = self.grant_at(who, grant)?;
        let max = self.limits.params_per_grant;
        let found = self.row(target).grants[at].more.as_deref().map_or(Err(0), |m| m.restrictions.binary_search(&name));
        let have = self.row(target).grants[at].more.as_deref().map_or(0, |m| m.restrictions.len());
        match found {
            Err(_) if on && have >= max as usize => {
                return Err(Refusal::Limit { what: LimitKind::Params, max, link: self.cause.link });
            }
            Err(i) if on => {
                let more = self.row_mut(target).grants[at].more.get_or_insert_default();
                more.restrictions.insert(i, name);
            }
            Ok(i) if !on => {
                let more = &mut self.row_mut(target).grants[at].more;
                if let Some(m) = more {
                    m.restrictions.remove(i);
                }
                // Empty extra data is removed, so that equal grants have equal hashes.
                if more.as_deref() == Some(&GrantMore::default()) {
                    *more = None;
                }
                self.notify(target, alert::ABILITY, || RowEvent::Freed);
            }
            _ => {}
        }
        Ok(())
    }

    fn grant_at(&self, who: ControllerId, grant: GrantId) -> Result<(usize, usize), Refusal> {
        let target = self.slot(who)?;
        let at = self.row(target).grant(grant).ok_or(Refusal::StaleHandle)?;
        Ok((target, at))
    }

    /// Returns the selected grants in grant order.
    pub(crate) fn grants_of(&self, slot: usize, which: Which) -> Result<Vec<GrantId>, Refusal> {
        self.view().grants_of(slot, which).map(|list| list.collect())
    }
}
