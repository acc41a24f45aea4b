//! Where the facts of the local runner belong among the facts of the sim.

use crate::{AbilitySetId, CapabilityId, CapabilityStep, ControllerId, Fact, FactKind};

/// Where a fact of the local runner belongs among the facts of the sim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FactPlace {
    /// After the fact `StartLife` of the same capability.
    AfterStart,
    /// Before the fact `EndLife` of the same capability.
    BeforeEnd,
    /// After all facts of the sim.
    #[default]
    Last,
}

/// A fact of the local runner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalFact {
    /// The fact.
    pub fact: Fact,
    /// Where it belongs among the facts of the sim.
    pub place: FactPlace,
}

/// Inserts facts of the local runner into the facts of the sim, so that the steps of each capability are in order:
/// `StartLife` of the sim, the steps of the runner, `EndLife` of the sim. `from` is the index of the first fact of the
/// sim since the last call: earlier facts may be about an earlier life of the same capability. Calls `inserted` with
/// the index of each inserted fact.
///
/// ```
/// use ugas_core::{LocalRunner, insert_local_facts};
/// let (mut runner, mut facts) = (LocalRunner::default(), Vec::new());
/// insert_local_facts(&runner.take_facts(), &mut facts, 0, |_| {});
/// assert!(facts.is_empty());
/// ```
pub fn insert_local_facts(local: &[LocalFact], into: &mut Vec<Fact>, from: usize, mut inserted: impl FnMut(usize)) {
    // For each capability, the index after its last inserted fact.
    let mut ends: Vec<(Identity, usize)> = Vec::new();
    for LocalFact { fact, place } in local {
        let identity = Identity::of(fact);
        let end = identity.and_then(|of| ends.iter().find(|end| end.0 == of)).map(|end| end.1);
        let find = |wanted: CapabilityStep| {
            let start = end.unwrap_or(from).min(into.len());
            let is_it =
                |other: &Fact| identity.is_some() && Identity::of(other) == identity && step_of(other) == Some(wanted);
            into[start..].iter().position(is_it).map(|at| start + at)
        };
        let found = match (place, step_of(fact)) {
            (FactPlace::AfterStart, Some(CapabilityStep::Setup)) => find(CapabilityStep::StartLife).map(|at| at + 1),
            // After the setup.
            (FactPlace::AfterStart, Some(_)) => end,
            (FactPlace::BeforeEnd, Some(_)) => find(CapabilityStep::EndLife),
            (FactPlace::AfterStart | FactPlace::BeforeEnd | FactPlace::Last, _) => None,
        };
        let at = found.unwrap_or(into.len());
        into.insert(at, *fact);
        inserted(at);
        ends.iter_mut().filter(|end| end.1 > at).for_each(|end| end.1 += 1);
        if let Some(identity) = identity {
            ends.retain(|end| end.0 != identity);
            ends.push((identity, at + 1));
        }
    }
}

/// What the facts about one capability have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity(ControllerId, CapabilityId, AbilitySetId);

impl Identity {
    fn of(fact: &Fact) -> Option<Identity> {
        if let FactKind::Capability { class, set, .. } = fact.kind {
            Some(Identity(fact.who, class, set))
        } else {
            None
        }
    }
}

fn step_of(fact: &Fact) -> Option<CapabilityStep> {
    if let FactKind::Capability { step, .. } = fact.kind { Some(step) } else { None }
}
