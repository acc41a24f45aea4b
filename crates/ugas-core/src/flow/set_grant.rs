//! Ability sets: granted and taken back as a whole.

use super::Flow;
use crate::{AbilitySetId, ControllerId, NameKind, Refusal};

impl Flow<'_> {
    pub(crate) fn grant_set(&mut self, _: ControllerId, set: AbilitySetId) -> Result<u64, Refusal> {
        Err(Refusal::UnknownName { kind: NameKind::Set, id: set.0 })
    }
    pub(crate) fn revoke_set(&mut self, _: ControllerId, _: u64) -> Result<(), Refusal> {
        Err(Refusal::StaleHandle)
    }
}
