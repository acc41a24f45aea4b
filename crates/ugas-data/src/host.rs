//! Placeholders for host code, so that documents can be checked and run without the host.

use crate::HostNames;
use std::collections::BTreeSet;
use ugas_core::{CombatChange, CustomTask, HookReads, Progression, RulesBuilder, TaskCx};

/// A task that completes immediately.
struct Done;

impl CustomTask for Done {
    type State = ();

    fn activate(&self, (): &mut (), _: &TaskCx<'_>) -> Progression {
        Progression::Complete(0.0)
    }
}

impl HostNames {
    /// Registers a placeholder for each name: calculations return 0, tasks complete immediately, hooks allow everything,
    /// and functions of combat rules and capabilities do nothing.
    ///
    /// ```
    /// use ugas_core::Rules;
    /// use ugas_doc::{Ability, AbilityTask};
    /// let host = ugas_data::HostNames { tasks: vec!["Dance".into()], ..Default::default() };
    /// let ability = Ability { tasks: vec![AbilityTask { kind: "Dance".into(), ..Default::default() }], ..Ability::new("GA_A") };
    /// assert!(host.stand_in(Rules::builder().add(ability)).build().is_ok());
    /// ```
    pub fn stand_in(&self, mut builder: RulesBuilder) -> RulesBuilder {
        for name in &self.calculations {
            builder = builder.calc_fn(name, [], |cx| cx.give(0.0));
        }
        for name in &self.tasks {
            builder = builder.task(name, Done);
        }
        for name in &self.hooks {
            // A name may be used as a requirement of effects, as a hook of abilities or as a function of combat rules.
            builder = builder.requirement(name, |_| true).can_activate(name, HookReads::Owner, |_| true);
            builder = builder.combat_fn(name, [], |_| CombatChange::None);
        }
        for name in &self.capabilities {
            builder = builder.announce_capability(name);
        }
        builder
    }

    /// Adds the names of another pack, without duplicates.
    ///
    /// ```
    /// let mut host = ugas_data::HostNames::default();
    /// host.extend(&ugas_data::HostNames { hooks: vec!["Rich".into()], ..Default::default() });
    /// assert_eq!(host.hooks, ["Rich"]);
    /// ```
    pub fn extend(&mut self, other: &HostNames) {
        let add = |to: &mut Vec<String>, from: &[String]| {
            let mut seen: BTreeSet<String> = to.iter().cloned().collect();
            to.extend(from.iter().filter(|name| seen.insert((*name).clone())).cloned());
        };
        add(&mut self.calculations, &other.calculations);
        add(&mut self.tasks, &other.tasks);
        add(&mut self.hooks, &other.hooks);
        add(&mut self.capabilities, &other.capabilities);
        add(&mut self.modifiers, &other.modifiers);
    }
}
