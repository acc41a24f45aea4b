//! Facts as text, and notes that may explain a failure.

use super::Runner;
use crate::scenario::Aim;
use ugas_core::{ActivationKey, Fact, FactKind};

/// The maximum number of notes in one report.
const MAX_NOTES: usize = 10;

impl Runner<'_> {
    /// Adds a note if an ability that needs a target is activated without one.
    pub(super) fn note_aimless(&mut self, aim: &Aim, key: ActivationKey, verb: &str) {
        if !matches!(aim, Aim::Nothing) {
            return;
        }
        let is_it = |f: &&Fact| matches!(f.kind, FactKind::AbilityActivated { activation, .. } if activation == key);
        let Some(fact) = self.sim.facts().list.iter().rev().find(is_it) else { return };
        let FactKind::AbilityActivated { ability, .. } = fact.kind else { return };
        let Some(name) = self.world.rules.ability_name(ability).filter(|n| self.world.needs_target(n)) else { return };
        let (at, who) = (fact.at, fact.who.0);
        let note =
            format!("{at} controller {who}: {name} acts on its target but has no target; add `Target:` to {verb}");
        let note = self.with_names(&note);
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns a fact as a line, with the names of the scenario.
    pub(crate) fn fact_in_words(&self, fact: &Fact) -> String {
        let mut line = self.with_names(&fact.describe(&self.world.rules));
        if let FactKind::Input { input, .. } | FactKind::Granted { input, .. } = fact.kind
            && let Some(name) = self.world.input_name(input)
        {
            line = line.replace(&format!("input {}", input.0), name);
        }
        line
    }

    pub(crate) fn kept_facts(&self) -> &[Fact] {
        &self.all_facts
    }
}
