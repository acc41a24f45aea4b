//! Cooldowns that ended recently, to validate late commands.
//!
//! A late command counts from its own tick, so that a bad link does not lower the rate of fire. A client could send a wrong
//! tick, at which its cooldown was still running. The server therefore keeps the ends of cooldowns for as long as a
//! command may be late, and nothing counts from before one. Between the times from which activations count there is always
//! a whole cooldown: in any window W of claimed time there are at most floor(W / cooldown) + 1 activations, and in any window
//! of server time no more than in one that is longer by the allowed lateness.

use super::RejectReason;
use crate::message::Request;
use std::collections::VecDeque;
use ugas_core::{AbilityId, ControllerId, FactKind, Facts, GroupId, Refusal, Sim, SimTime, TagId};

/// The most ends that are kept. If there are more, nothing counts from before the oldest one.
const MOST: usize = 16_384;

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// A tag was removed, which may be a cooldown tag.
    Tag(TagId),
    /// The global cooldown of a group ended.
    Group(GroupId),
    /// The charges of an ability are full.
    Charges(AbilityId),
}

#[derive(Clone, Copy, Debug)]
struct End {
    at: SimTime,
    who: ControllerId,
    what: What,
}

/// The ends of cooldowns within the time that a command may be late.
#[derive(Clone, Debug, Default)]
pub struct CooldownHistory {
    ends: VecDeque<End>,
    /// Ends before this time are not known.
    known_from: SimTime,
}

impl CooldownHistory {
    /// Records the cooldowns that ended in a tick; drops those before the oldest time that a command may claim.
    pub fn note(&mut self, facts: &Facts, oldest: SimTime) {
        while self.ends.front().is_some_and(|end| end.at < oldest) {
            self.ends.pop_front();
        }
        for fact in &facts.list {
            let what = match fact.kind {
                FactKind::TagChanged { tag, added: false, presence: true, .. } => What::Tag(tag),
                FactKind::GlobalCooldown { group, running: false, .. } => What::Group(group),
                FactKind::Charges { ability, length: SimTime::ZERO, .. } => What::Charges(ability),
                _ => continue,
            };
            if self.ends.len() >= MOST
                && let Some(lost) = self.ends.pop_front()
            {
                self.known_from = self.known_from.max(lost.at);
            }
            self.ends.push_back(End { at: fact.at, who: fact.who, what });
        }
    }

    /// Returns the time from which a late request counts: the claimed one, or the end of what would have prevented it then. A
    /// late activation whose own cooldown was running at the claimed time is rejected: no honest client sends it.
    pub fn counted_from(
        &self,
        sim: &Sim,
        request: &Request,
        claimed: SimTime,
    ) -> Result<SimTime, (RejectReason, Refusal)> {
        let who = request.who();
        let from = claimed.max(self.known_from);
        let last = |is: &dyn Fn(What) -> bool| {
            let ends = self.ends.iter().filter(|end| end.who == who && is(end.what));
            ends.map(|end| end.at).fold(from, SimTime::max)
        };
        match request {
            Request::Activate { ability, .. } => {
                let (tags, group) = sim.cooldown_gates(*ability);
                let ran = last(&|what| match what {
                    What::Tag(tag) => tags.contains(&tag),
                    What::Group(of) => group == Some(of),
                    What::Charges(_) => false,
                });
                if ran > from {
                    return Err((RejectReason::Early, Refusal::ClaimedDuringCooldown));
                }
                Ok(last(&|what| what == What::Charges(*ability)))
            }
            // The ability is not known, so every end counts.
            _ => Ok(last(&|_| true)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ugas_core::{Cause, EffectId, EffectKey, Fact, Rules, SimConfig, Target};

    const WHO: ControllerId = ControllerId(0);

    fn facts(ends: &[(i64, FactKind)]) -> Facts {
        let Cause { root, link } = Cause::default();
        let (source, key, effect) = (ControllerId::NONE, EffectKey::NONE, EffectId::NONE);
        let fact = |&(at, kind)| Fact { at: SimTime(at), who: WHO, source, key, root, link, effect, kind };
        Facts { list: ends.iter().map(fact).collect(), ..Facts::default() }
    }

    fn full(ability: u32) -> FactKind {
        let (grant, have, max) = (ugas_core::GrantId(1), 2, 2);
        FactKind::Charges { ability: AbilityId(ability), grant, have, max, length: SimTime::ZERO }
    }

    fn counted(claims: &CooldownHistory, request: &Request, claimed: i64) -> i64 {
        let rules = Rules::builder().build().unwrap();
        let sim = Sim::new(rules, SimConfig::default());
        claims.counted_from(&sim, request, SimTime(claimed)).unwrap().0
    }

    #[test]
    fn nothing_counts_from_before_the_end_of_what_it_needs() {
        let mut claims = CooldownHistory::default();
        claims.note(&facts(&[(50, full(1)), (70, full(2))]), SimTime::ZERO);
        let activate = |ability| Request::Activate { who: WHO, ability: AbilityId(ability), target: Target::None };
        assert_eq!(counted(&claims, &activate(1), 40), 50);
        assert_eq!(counted(&claims, &activate(1), 60), 60);
        assert_eq!(counted(&claims, &activate(3), 40), 40);
        let press = Request::Press { who: WHO, input: ugas_core::InputId(0), target: Target::None };
        assert_eq!(counted(&claims, &press, 40), 70, "who knows what it starts");
    }

    #[test]
    fn what_no_command_may_claim_is_forgotten_and_what_is_lost_is_taken_for_the_worst() {
        let mut claims = CooldownHistory::default();
        claims.note(&facts(&[(10, full(1)), (20, full(1))]), SimTime::ZERO);
        claims.note(&facts(&[]), SimTime(15));
        assert_eq!(claims.ends.len(), 1);
        let many: Vec<_> = (0..MOST as i64 + 3).map(|n| (100 + n, full(1))).collect();
        claims.note(&facts(&many), SimTime(15));
        assert_eq!(claims.ends.len(), MOST);
        let other = Request::Activate { who: WHO, ability: AbilityId(9), target: Target::None };
        assert_eq!(counted(&claims, &other, 50), 102);
    }
}
