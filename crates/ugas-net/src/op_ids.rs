//! The ids of the ops that clients' commands run.
//!
//! The Base of an id is the tick of the command. The Sub is the group of the request and the number of earlier commands
//! of the same group and tick that had an effect. The server computes the id from the commands that it ran; the client
//! computes the same id for its prediction.
//!
//! A group is an ability, together with the abilities that share an input with it: a press, an activation and an answer
//! to a task of the same ability are in the same group.

use crate::message::Request;
use crate::types::Tick;
use ugas_core::{AbilityId, ControllerId, Fact, FactKind, InputId, OpId, Sim};

/// The number of groups. A Sub is the group plus this number for each earlier command, so the first Sub of each group
/// is short on the wire.
const GROUPS: u16 = 960;
/// The maximum number of commands of a group in a tick that have different Subs. A client runs further commands in the
/// next tick, and the server rejects them.
const MAX_COUNT: u16 = 64;
/// The first Sub of the requests that never draw: moves and aims. They are numbered separately.
const FIRST_PLAIN: u16 = GROUPS * MAX_COUNT;

/// Numbers the ops of one client.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpIds {
    tick: Tick,
    /// The number of commands with an effect in the tick, by group.
    counts: Vec<(u16, u16)>,
    /// The number of moves and aims in the tick.
    plain: u16,
}

impl OpIds {
    /// Returns the id of the next command of a tick. If `tick` is earlier than the tick of an earlier call, the id gets
    /// the later tick: otherwise a client could get the ids of an earlier tick again.
    pub(crate) fn next(&mut self, sim: &Sim, client: u16, tick: Tick, request: &Request) -> OpId {
        if tick > self.tick {
            (self.tick, self.plain) = (tick, 0);
            self.counts.clear();
        }
        let sub = match group_of(sim, request) {
            Some(group) => {
                let count = self.counts.iter().find(|c| c.0 == group).map_or(0, |c| c.1);
                count.min(MAX_COUNT - 1) * GROUPS + group
            }
            None => {
                self.plain = self.plain.saturating_add(1);
                FIRST_PLAIN.saturating_add(self.plain - 1)
            }
        };
        OpId::new(client, self.tick.0, sub)
    }

    /// Returns whether an id is taken, because too many commands of its group had an effect in this tick. Otherwise two
    /// commands would have the same rolls.
    pub(crate) fn is_taken(&self, id: OpId) -> bool {
        let of_group = |c: &&(u16, u16)| c.0 == id.sub() % GROUPS;
        id.sub() < FIRST_PLAIN && self.counts.iter().find(of_group).is_some_and(|c| c.1 >= MAX_COUNT)
    }

    /// Returns whether too many commands of a request's group had an effect in a tick for another one to have its own id.
    pub(crate) fn is_full(&self, sim: &Sim, tick: Tick, request: &Request) -> bool {
        let has_counts = tick <= self.tick && self.counts.iter().any(|c| c.1 >= MAX_COUNT);
        let group = has_counts.then(|| group_of(sim, request)).flatten();
        group.is_some_and(|group| self.is_taken(OpId::new(0, tick.0, group)))
    }

    /// Counts a command that had an effect, so that the next command of its group in this tick gets another id.
    pub(crate) fn count(&mut self, id: OpId) {
        if id.sub() >= FIRST_PLAIN {
            return;
        }
        let group = id.sub() % GROUPS;
        match self.counts.iter_mut().find(|c| c.0 == group) {
            Some(count) => count.1 = count.1.saturating_add(1),
            None => self.counts.push((group, 1)),
        }
    }
}

/// Returns whether an op had an effect, from the facts that it emitted. The press or release of an input is not an
/// effect by itself.
pub(crate) fn has_effect(facts: &[Fact], id: OpId) -> bool {
    facts.iter().any(|f| f.root == id && !matches!(f.kind, FactKind::Input { .. }))
}

/// Returns the group of a request; `None` for requests that never draw.
fn group_of(sim: &Sim, request: &Request) -> Option<u16> {
    let (who, ability, input) = match *request {
        Request::Press { who, input, .. } | Request::Release { who, input } | Request::Axis { who, input, .. } => {
            (who, None, Some(input))
        }
        Request::Activate { who, ability, .. }
        | Request::Cancel { who, ability }
        | Request::End { who, ability }
        | Request::Commit { who, ability }
        | Request::Apply { who, ability, .. }
        | Request::Mispredicted { who, ability, .. } => (who, Some(ability), None),
        Request::Complete { key, .. } => {
            let tasks = sim.tasks(key.who).unwrap_or_default();
            (key.who, tasks.iter().find(|t| t.key == key).map(|t| t.ability), None)
        }
        Request::Move { .. } | Request::Aim { .. } | Request::LetGo { .. } => return None,
    };
    Some(connected(sim, who, ability, input))
}

/// Returns the group of an ability and of all abilities that share an input with it, directly or through others.
fn connected(sim: &Sim, who: ControllerId, ability: Option<AbilityId>, input: Option<InputId>) -> u16 {
    let grants = sim.grants(who).unwrap_or_default();
    let (mut abilities, mut inputs) = (Vec::from_iter(ability), Vec::from_iter(input));
    loop {
        let before = (abilities.len(), inputs.len());
        for grant in &grants {
            let Some(bound) = grant.input else { continue };
            if abilities.contains(&grant.ability) && !inputs.contains(&bound) {
                inputs.push(bound);
            }
            if inputs.contains(&bound) && !abilities.contains(&grant.ability) {
                abilities.push(grant.ability);
            }
        }
        if before == (abilities.len(), inputs.len()) {
            break;
        }
    }
    // Abilities get even numbers; inputs without abilities get odd ones.
    let number = match (abilities.iter().min(), inputs.iter().min()) {
        (Some(ability), _) => ability.0.wrapping_mul(2),
        (None, Some(input)) => input.0.wrapping_mul(2).wrapping_add(1),
        (None, None) => 0,
    };
    (number % u32::from(GROUPS)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use ugas_core::{AbilityGrant, Anchor, Op, Rules, SimConfig, SpawnSpec, Target};
    use ugas_doc::{Ability, Attribute, AttributeSet};

    #[test]
    fn only_commands_of_the_same_abilities_shift_an_id() {
        let set = AttributeSet::new("S").with(Attribute::new("Health", 100.0));
        let names = ["GA_A", "GA_B", "GA_C"];
        let rules = names.iter().fold(Rules::builder().add(set), |rules, name| rules.add(Ability::new(*name)));
        let rules = rules.build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
        let [a, b, c] = names.map(|name| rules.ability(name).unwrap());
        for (ability, input) in [(a, 4), (b, 4), (c, 5)] {
            sim.run(Op::Grant { who, grant: AbilityGrant::new(ability).input(InputId(input)) }).unwrap();
        }
        let use_of = |ability| Request::Activate { who, ability, target: Target::None };
        let press = |input| Request::Press { who, input: InputId(input), target: Target::None };
        let mut ids = OpIds::default();
        let next = |ids: &mut OpIds, request: &Request| ids.next(&sim, 3, Tick(9), request);
        let first = next(&mut ids, &use_of(a));
        assert_eq!((first.client(), first.base()), (3, 9));
        // Nothing counts until a command had an effect, and a press, a release and another ability of the input share
        // the group.
        for request in [use_of(a), use_of(b), press(4), Request::Release { who, input: InputId(4) }] {
            assert_eq!(next(&mut ids, &request), first, "{request:?}");
        }
        let other = next(&mut ids, &use_of(c));
        assert_ne!(other, first);
        ids.count(other);
        assert_eq!(next(&mut ids, &press(4)), first);
        assert_ne!(next(&mut ids, &press(5)), other);
        ids.count(first);
        assert_eq!(next(&mut ids, &press(4)).sub(), first.sub() + GROUPS);
        let step = || Request::Move { who, anchor: Anchor::at([0.0; 3]) };
        let (one, two) = (next(&mut ids, &step()), next(&mut ids, &step()));
        assert!(one.sub() >= FIRST_PLAIN && two.sub() == one.sub() + 1);
        ids.count(two);
        let later = ids.next(&sim, 3, Tick(10), &use_of(a));
        assert_eq!((later.base(), later.sub()), (10, first.sub()));
        let earlier = next(&mut ids, &use_of(a));
        assert_eq!(earlier, later, "a tick does not start again");
        assert_ne!(next(&mut OpIds::default(), &press(77)).sub(), first.sub());
    }
}
