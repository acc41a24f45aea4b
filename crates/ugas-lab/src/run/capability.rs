//! Runs the verbs about capabilities and reads their state.

use super::Runner;
use crate::scenario::{BlockedBy, CapabilityVerb, Found, Name};
use ugas_core::{BlockSource, CapabilityId, Op, Refusal, TagId};

/// The id of a class that does not exist.
const NO_CLASS: CapabilityId = CapabilityId(u32::MAX - 1);
/// The id of a tag that does not exist.
const NO_TAG: TagId = TagId(u32::MAX - 1);

impl Runner<'_> {
    pub(super) fn capability_verb(&mut self, verb: &CapabilityVerb) -> Result<(), Refusal> {
        let who = self.who(&verb.actor().text);
        let tag = verb.tag().map_or(NO_TAG, |name| self.world.rules.find_tag(&name.text).unwrap_or(NO_TAG));
        match verb {
            CapabilityVerb::Block { by, .. } => {
                let source = self.block_source(by)?;
                self.op(Op::Block { who, tag, source })
            }
            CapabilityVerb::Unblock { by, .. } => {
                let source = self.block_source(by)?;
                self.op(Op::Unblock { who, tag, source })
            }
            CapabilityVerb::Enable { class, on, .. } => {
                let capability = self.class(class);
                self.op(Op::Enable { who, capability, on: *on })
            }
            CapabilityVerb::SetTick { class, ticks, interval, .. } => {
                let capability = self.class(class);
                self.op(Op::SetTick { who, capability, ticks: *ticks, interval: *interval })
            }
        }
    }

    fn class(&self, name: &Name) -> CapabilityId {
        self.world.rules.find_capability(&name.text).unwrap_or(NO_CLASS)
    }

    fn block_source(&self, by: &BlockedBy) -> Result<BlockSource, Refusal> {
        Ok(match by {
            BlockedBy::Host(name) => BlockSource::host(name),
            BlockedBy::Actor(actor) => BlockSource::Controller(self.who(&actor.text)),
            BlockedBy::Effect(handle) => {
                let applied = self.applied.get(&handle.text).ok_or(Refusal::StaleHandle)?;
                BlockSource::Effect(applied.key)
            }
        })
    }

    /// Reads `Actor.Capabilities.C`.
    pub(super) fn capability_now(&self, actor: &str, class: &str) -> Result<Found, Refusal> {
        let (who, class) = (self.who(actor), self.world.rules.find_capability(class).unwrap_or(NO_CLASS));
        let in_sim = self.sim.capability_state(who, class)?;
        let here = self.run_here.get(&who).and_then(|all| all.iter().find(|view| view.class == class));
        Ok(Found::text(here.map_or(in_sim, |view| view.state).name()))
    }

    /// Reads `Actor.Blocks.T`.
    pub(super) fn block_now(&self, actor: &str, tag: &str) -> Result<Found, Refusal> {
        let Some(tag) = self.world.rules.find_tag(tag) else { return Ok(Found::Flag(false)) };
        Ok(Found::Flag(self.sim.is_blocked(self.who(actor), tag)?))
    }
}
