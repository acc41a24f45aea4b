//! Prediction keys. Each activation that a command caused has its own key, so that each activation can be confirmed or
//! rejected separately. If an activation is rejected, the activations that it caused are rejected too.

use std::collections::VecDeque;
use ugas_core::{AbilityId, ActivationKey, FactKind, Facts, OpId, Sim, UsedAbility};

/// The maximum number of activations that are kept.
const MAX_KEPT: usize = 256;

/// The key of a predicted activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PredictionKey {
    /// The Base: a number that rises by one with each tick that has commands.
    pub base: u32,
    /// The Sub: the position of the activation within the tick.
    pub sub: u16,
    /// The Sub of the activation that caused this activation; `None` if the command itself caused this activation.
    pub parent: Option<u16>,
    /// The number of the client.
    pub client: u16,
    /// The seed of the rolls of the use, revealed by the server; `None` if the server had not revealed it.
    pub seed: Option<u64>,
}

/// The status of a predicted activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredictionStatus {
    /// The server's verdict has not arrived.
    Pending,
    /// The server activated the ability too.
    Confirmed,
    /// The server did not activate the ability.
    Rejected,
}

/// A predicted activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The prediction key of the activation.
    pub key: PredictionKey,
    /// The id of the op that caused the activation; it is the same on client and server, and facts have it as their
    /// `root`.
    pub op: OpId,
    /// The ability.
    pub ability: AbilityId,
    /// The key of the activation in the sim; it is the same on client and server.
    pub activation: ActivationKey,
    /// The status of the activation.
    pub status: PredictionStatus,
}

/// The predicted activations of the latest commands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    list: VecDeque<Prediction>,
}

impl Keys {
    /// Records the activations among the facts of an op; `base` and `sub` are the number of its command. Returns the
    /// number of activations.
    pub(crate) fn record(&mut self, id: OpId, (base, sub): (u32, u16), sim: &Sim, facts: &Facts) -> u16 {
        let mut predictions: Vec<Prediction> = Vec::new();
        for fact in facts.list.iter().filter(|f| f.root == id) {
            let FactKind::AbilityActivated { ability, activation, .. } = fact.kind else { continue };
            let causes = sim.chain(fact.link);
            // The nearest cause is the activation itself.
            let predicted = |by| predictions.iter().rev().find(|p: &&Prediction| p.ability == by);
            let parents = causes.iter().skip(1).filter_map(|link| link.what.ability().and_then(predicted));
            let parent = parents.map(|p| p.key.sub).next().or(predictions.first().map(|p| p.key.sub));
            let sub = sub.saturating_add(predictions.len() as u16);
            let seed = sim.remote().use_seed(id, UsedAbility { who: fact.who, ability });
            let key = PredictionKey { base, sub, parent, client: id.client(), seed };
            predictions.push(Prediction { key, op: id, ability, activation, status: PredictionStatus::Pending });
        }
        let count = predictions.len() as u16;
        for prediction in predictions {
            if self.list.len() >= MAX_KEPT {
                self.list.pop_front();
            }
            self.list.push_back(prediction);
        }
        count
    }

    /// Returns the ability that a command itself activated.
    pub(crate) fn first(&self, id: OpId) -> Option<AbilityId> {
        self.list.iter().find(|p| p.op == id && p.key.parent.is_none()).map(|p| p.ability)
    }

    /// Applies a verdict: the abilities that the server activated, in order, or none if it rejected the command.
    /// Predicted activations that are missing in the verdict are rejected, and so are the activations that they caused.
    /// Returns the rejected abilities.
    pub(crate) fn apply_verdict(&mut self, id: OpId, activated: &[AbilityId]) -> Vec<AbilityId> {
        let (mut unmatched, mut rejected_abilities) = (activated.to_vec(), Vec::new());
        let mut rejected_subs: Vec<u16> = Vec::new();
        for p in self.list.iter_mut().filter(|p| p.op == id && p.status == PredictionStatus::Pending) {
            let is_parent_rejected = p.key.parent.is_some_and(|parent| rejected_subs.contains(&parent));
            let at = unmatched.iter().position(|&a| a == p.ability).filter(|_| !is_parent_rejected);
            p.status = match at {
                Some(at) => {
                    unmatched.remove(at);
                    PredictionStatus::Confirmed
                }
                None => {
                    rejected_subs.push(p.key.sub);
                    rejected_abilities.push(p.ability);
                    PredictionStatus::Rejected
                }
            };
        }
        // If an ability was predicted twice and activated once, the facts of the two predictions cannot be
        // distinguished.
        rejected_abilities.retain(|a| !activated.contains(a));
        rejected_abilities
    }

    /// Records that the predicted activations of a command did not happen, because their validation failed.
    pub(crate) fn reject(&mut self, id: OpId) {
        let of_command = self.list.iter_mut().filter(|p| p.op == id);
        of_command.for_each(|p| p.status = PredictionStatus::Rejected);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Prediction> {
        self.list.iter()
    }
}
