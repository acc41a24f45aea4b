//! Prediction keys: every activation that one command caused has one of its own, so that each can be confirmed or
//! rejected by itself, and a parent takes its children with it.

use std::collections::VecDeque;
use ugas_core::{AbilityId, ActivationKey, CauseWhat, FactKind, Facts, OpId, Sim};

/// Activations that are remembered.
const KEPT: usize = 256;

/// Names one activation that was played ahead (ruling C-57).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PredictionKey {
    /// One for each tick with commands, rising; 0 is the server's own.
    pub base: u32,
    /// The position in the tick.
    pub sub: u16,
    /// The Sub of the activation that caused it; none for what a command itself triggered.
    pub parent: Option<u16>,
    /// The client.
    pub client: u16,
    /// The seed of its random stream, given by the server.
    pub seed: u64,
}

/// How an activation that was played ahead stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The server has not spoken.
    Waiting,
    /// It happened.
    Confirmed,
    /// It did not happen.
    Rejected,
}

/// An activation that was played ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// Its key.
    pub key: PredictionKey,
    /// The ability.
    pub ability: AbilityId,
    /// The activation's own key, the same on the server.
    pub activation: ActivationKey,
    /// How it stands.
    pub standing: Standing,
}

/// The activations of the last commands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    list: VecDeque<(OpId, Prediction)>,
}

impl Keys {
    /// Notes the activations among what an op just did; how many.
    pub(crate) fn note(&mut self, id: OpId, seed: u64, sim: &Sim, facts: &Facts) -> u16 {
        let mut made: Vec<Prediction> = Vec::new();
        for fact in facts.list.iter().filter(|f| f.root == id) {
            let FactKind::AbilityActivated { ability, activation, .. } = fact.kind else { continue };
            let causes = sim.chain(fact.link);
            // The nearest is the activation itself; another one of the same ability is not its parent for that.
            let caused = causes.iter().skip(1).filter_map(|link| match link.what {
                CauseWhat::Activated(by) | CauseWhat::Ended(by) => made.iter().rev().find(|p| p.ability == by),
                _ => None,
            });
            let parent = caused.map(|p| p.key.sub).next().or(made.first().map(|p| p.key.sub));
            let sub = id.sub().saturating_add(made.len() as u16);
            let key = PredictionKey { base: id.base(), sub, parent, client: id.client(), seed };
            made.push(Prediction { key, ability, activation, standing: Standing::Waiting });
        }
        let count = made.len() as u16;
        for prediction in made {
            if self.list.len() >= KEPT {
                self.list.pop_front();
            }
            self.list.push_back((id, prediction));
        }
        count
    }

    /// The ability that a command itself activated.
    pub(crate) fn first(&self, id: OpId) -> Option<AbilityId> {
        self.list.iter().find(|(of, p)| *of == id && p.key.parent.is_none()).map(|(_, p)| p.ability)
    }

    /// The server's word: the abilities that really were activated, in order, or none if the command was refused.
    /// What is missing is rejected, and with it what it caused. Gives the abilities that were.
    pub(crate) fn judge(&mut self, id: OpId, done: &[AbilityId]) -> Vec<AbilityId> {
        let (mut left, mut gone) = (done.to_vec(), Vec::new());
        let mut rejected: Vec<u16> = Vec::new();
        for (_, p) in self.list.iter_mut().filter(|(of, p)| *of == id && p.standing == Standing::Waiting) {
            let orphan = p.key.parent.is_some_and(|parent| rejected.contains(&parent));
            let at = left.iter().position(|&a| a == p.ability).filter(|_| !orphan);
            p.standing = match at {
                Some(at) => {
                    left.remove(at);
                    Standing::Confirmed
                }
                None => {
                    rejected.push(p.key.sub);
                    gone.push(p.ability);
                    Standing::Rejected
                }
            };
        }
        // Of one that was activated twice and once in truth nobody can say which facts are whose.
        gone.retain(|a| !done.contains(a));
        gone
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Prediction> {
        self.list.iter().map(|(_, p)| p)
    }
}
