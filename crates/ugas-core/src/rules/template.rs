//! Compiled controller documents: everything a spawn needs, without names.

use crate::{AbilityGrant, AbilitySetId, ActorId, AttributeId, EffectId, SetId, SimTime, TagId};
use ugas_doc::ControllerReplication;

#[derive(Clone, Debug)]
pub(crate) struct TemplateEffect {
    pub(crate) effect: EffectId,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    pub(crate) remaining: Option<SimTime>,
}

#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) owner: ActorId,
    pub(crate) avatar: ActorId,
    pub(crate) sets: Box<[SetId]>,
    pub(crate) base: Box<[(AttributeId, f64)]>,
    /// Current values in the document; a difference is a diagnostic.
    pub(crate) stated: Box<[(AttributeId, f64)]>,
    /// Owned tags that no listed effect grants.
    pub(crate) tags: Box<[TagId]>,
    pub(crate) effects: Box<[TemplateEffect]>,
    pub(crate) abilities: Box<[AbilityGrant]>,
    pub(crate) ability_sets: Box<[AbilitySetId]>,
    pub(crate) active: bool,
    pub(crate) position: Option<[f64; 3]>,
    /// Read by the network session; a row does not contain it.
    pub(crate) replication: ControllerReplication,
}
