//! Verbs and paths about capabilities that run on one machine only.

use super::{ClientPart, ServerPart};
use crate::run::Runner;
use crate::scenario::{AbilityVerb, Pick, Verb};
use ugas_core::{AbilitySetId, CapabilityView, ControllerId, Op, Refusal};
use ugas_doc::CapabilityMode;

/// The id of a set that does not exist.
const NO_SET: AbilitySetId = AbilitySetId(u32::MAX - 1);

impl Runner<'_> {
    /// Sets the capabilities that paths read. `of` returns those of an actor as the session runs them.
    fn read_capabilities(&mut self, of: impl Fn(ControllerId) -> Vec<CapabilityView>) {
        let actors = self.scenario.actors.iter().map(|actor| self.who(&actor.name.text));
        self.run_here = actors.map(|who| (who, of(who))).collect();
    }

    /// Returns whether each machine adds the capability sets of an actor for itself.
    fn has_local_sets(&self, actor: &str) -> bool {
        let rules = &self.world.rules;
        let document = self.scenario.actors.iter().find(|a| a.name.text == actor).and_then(|a| a.controller.as_ref());
        let template = document.and_then(|name| rules.find_template(&name.text));
        template.and_then(|template| rules.capability_mode(template)) == Some(CapabilityMode::Local)
    }

    fn set_named(&self, name: &str) -> AbilitySetId {
        self.world.rules.find_ability_set(name).unwrap_or(NO_SET)
    }
}

impl ServerPart<'_> {
    pub(super) fn read_capabilities(&mut self) {
        self.runner.read_capabilities(|who| self.server.capabilities(who));
    }
}

impl ClientPart<'_> {
    pub(super) fn read_capabilities(&mut self) {
        self.runner.read_capabilities(|who| self.client.capabilities(who));
    }

    /// Runs a verb that changes this machine only; `None` for other verbs. A client adds sets to an actor whose
    /// document says `Mode: Local`; its sim refuses the others.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other verb is a command")]
    pub(super) fn run_local(&mut self, verb: &Verb) -> Option<Result<(), Refusal>> {
        Some(match verb {
            Verb::SetLocal { actor, is_local } => self.client.set_local(self.runner.who(&actor.text), *is_local),
            Verb::Ability(AbilityVerb::Grant { actor, what: Pick::Set(set), .. }) => {
                let (who, id) = (self.runner.who(&actor.text), self.runner.set_named(&set.text));
                match self.runner.has_local_sets(&actor.text) {
                    true => self.client.add_local_set(who, id).map(|_| ()),
                    false => self.client.sim().clone().run(Op::GrantSet { who, set: id }).map(|_| ()),
                }
            }
            Verb::Ability(AbilityVerb::Revoke(of)) => {
                let (Some(actor), Pick::Set(set)) = (&of.actor, &of.pick) else { return None };
                let (who, id) = (self.runner.who(&actor.text), self.runner.set_named(&set.text));
                let views = self.client.capabilities(who);
                let held = self.client.sim().ability_sets(who).unwrap_or_default();
                let shared = held.into_iter().find(|held| held.0 == id).map(|held| held.1);
                let own = || views.iter().find(|view| view.set == id).map(|view| view.handle);
                match (shared, own()) {
                    (Some(handle), _) => self.client.sim().clone().run(Op::RevokeSet { who, handle }).map(|_| ()),
                    (None, Some(handle)) => self.client.remove_local_set(who, handle),
                    (None, None) => Err(Refusal::StaleHandle),
                }
            }
            _ => return None,
        })
    }
}
