//! Ends abilities from outside their own tasks: by an op, an added or removed tag, another ability, death or the loss
//! of the avatar.

use super::super::{EventCutoff, Flow};
use super::EndHow;
use crate::rules::TriggerDef;
use crate::state::Activation;
use crate::{ControllerId, Refusal, TagId, Which};
use ugas_doc::GroupPolicy;

impl Flow<'_> {
    pub(crate) fn cancel_op(&mut self, who: ControllerId, which: Which) -> Result<(), Refusal> {
        self.end_all(who, which, EndHow::Cancelled)
    }

    pub(crate) fn end_op(&mut self, who: ControllerId, which: Which) -> Result<(), Refusal> {
        self.end_all(who, which, EndHow::Ended)
    }

    /// Ends the selected activations. If there are none, the call changes nothing.
    fn end_all(&mut self, who: ControllerId, which: Which, how: EndHow) -> Result<(), Refusal> {
        let slot = self.slot(who)?;
        for seq in self.running(slot, which)? {
            self.finish(slot, seq, how);
        }
        Ok(())
    }

    /// Returns the sequence numbers of the selected activations, ascending.
    pub(crate) fn running(&self, slot: usize, which: Which) -> Result<Vec<u64>, Refusal> {
        let row = self.row(slot);
        let all = &row.play().activations;
        if let Which::Activation(key) = which {
            if key.who != row.id {
                return Err(Refusal::StaleHandle);
            }
            return Ok(all.iter().filter(|a| a.key(row.id) == key).map(|a| a.seq).collect());
        }
        let grants = self.grants_of(slot, which)?;
        match which {
            Which::Grant(_) if grants.is_empty() => Err(Refusal::StaleHandle),
            Which::Ability(_) if grants.is_empty() => Err(Refusal::NotGranted),
            Which::Ability(_) | Which::Grant(_) | Which::Input(_) | Which::Activation(_) => {
                Ok(all.iter().filter(|a| grants.contains(&a.grant)).map(|a| a.seq).collect())
            }
        }
    }

    /// Cancels every activation that `test` selects, in order of activation.
    pub(crate) fn cancel_where(&mut self, slot: usize, test: impl Fn(&Flow<'_>, &Activation) -> bool) {
        let picked: Vec<u64> =
            self.row(slot).play().activations.iter().filter(|a| test(self, a)).map(|a| a.seq).collect();
        for seq in picked {
            self.finish(slot, seq, EndHow::Cancelled);
        }
    }

    /// Handles a tag added to a row: cancels abilities whose cancel list matches, and casts that movement interrupts.
    /// Tags that an ability owns do not cancel it.
    pub(crate) fn cancel_by_tag(&mut self, slot: usize, tag: TagId, cutoff: &EventCutoff) {
        self.cancel_where(slot, |flow, a| {
            if a.seq >= cutoff.seq || a.seq == cutoff.activating {
                return false;
            }
            let Some(def) = flow.ability(a.ability) else { return false };
            let under = |t: TagId, of: TagId| flow.rules.tags.is_under(t, of);
            let own = def.owned.and_then(|o| flow.def(o));
            if own.is_some_and(|o| o.granted_tags.iter().any(|&t| under(t, tag))) {
                return false;
            }
            let casts = flow.row(slot).play().cast.as_ref().is_some_and(|c| c.of == a.seq);
            let moved = casts && def.cast.as_ref().and_then(|c| c.moving).is_some_and(|m| under(tag, m));
            moved || def.cancelled_by.iter().any(|&of| under(tag, of))
        });
    }

    /// Handles a tag removed from a row: ends abilities that are active only while the tag is present.
    pub(crate) fn cancel_without(&mut self, slot: usize, tag: TagId) {
        self.cancel_where(slot, |flow, a| {
            flow.ability(a.ability).is_some_and(|d| d.triggers.contains(&TriggerDef::TagPresent(tag)))
        });
    }

    /// Cancels other abilities whose tags match the cancel list of a starting ability.
    pub(crate) fn cancel_matching(&mut self, slot: usize, tags: &[TagId], except: u64) {
        if tags.is_empty() {
            return;
        }
        self.cancel_where(slot, |flow, a| {
            let hit = |t: TagId| tags.iter().any(|&of| flow.rules.tags.is_under(t, of));
            a.seq != except && flow.ability(a.ability).is_some_and(|d| d.tags.iter().any(|&t| hit(t)))
        });
    }

    /// Cancels the replaceable abilities in the group of a starting ability.
    pub(crate) fn cancel_group(&mut self, slot: usize, group: Option<(crate::GroupId, GroupPolicy)>, except: u64) {
        let Some((group, policy)) = group else { return };
        if policy == GroupPolicy::Independent {
            return;
        }
        self.cancel_where(slot, |flow, a| {
            let theirs = flow.ability(a.ability).and_then(|d| d.group);
            a.seq != except && theirs == Some((group, GroupPolicy::Replaceable))
        });
    }

    /// Handles death: cancels every ability that may not continue while its owner is dead.
    pub(crate) fn die(&mut self, slot: usize, cutoff: &EventCutoff) {
        self.cancel_where(slot, |flow, a| a.seq < cutoff.seq && flow.ability(a.ability).is_none_or(|d| !d.dead));
    }

    /// Ends abilities that need an avatar after the avatar was removed.
    pub(crate) fn revalidate_avatar_abilities(&mut self, slot: usize) {
        if self.row(slot).avatar() == crate::ActorId::NONE {
            self.cancel_where(slot, |flow, a| flow.ability(a.ability).is_some_and(|d| d.avatar));
        }
    }
}
