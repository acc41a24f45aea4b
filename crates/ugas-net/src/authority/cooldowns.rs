//! The history of ended cooldowns, with which the server validates late commands.
//!
//! A late command takes effect as of its own tick, so that a bad link does not lower the rate of fire. A cheating
//! client could claim a tick at which the cooldown of the ability was still running, so that the next cooldown would
//! start and end too early. The server therefore records when each cooldown ended, for as long as a command may be
//! late. An activation never takes effect as of a time before the end of the previous cooldown, so the effective times
//! of two activations are at least one cooldown apart. In a window of effective time of length W there are at most
//! floor(W / cooldown) + 1 activations. A window of server time contains at most as many activations as a window of
//! effective time that is longer by the allowed lateness.

use super::RejectReason;
use crate::message::Request;
use std::collections::VecDeque;
use ugas_core::{AbilityId, ControllerId, EffectId, Fact, FactKind, Facts, GroupId, Refusal, Sim, SimTime, TagId};

/// The maximum number of cooldown ends that are kept. If there are more, the oldest are dropped, and no request takes
/// effect as of a time before the last dropped end.
const MAX_ENDS: usize = 16_384;

#[derive(Clone, Copy, Debug, PartialEq)]
enum CooldownKind {
    /// A tag was removed; it may be a cooldown tag.
    Tag(TagId),
    /// The global cooldown of a group ended.
    Group(GroupId),
    /// The charges of an ability are fully restored.
    Charges(AbilityId),
}

#[derive(Clone, Copy, Debug)]
struct End {
    at: SimTime,
    who: ControllerId,
    kind: CooldownKind,
    /// The effect that ended, and its source.
    effect: EffectId,
    source: ControllerId,
}

impl End {
    /// Returns whether the cooldown began with a use of an ability.
    fn is_by_use(&self, sim: &Sim) -> bool {
        match self.kind {
            CooldownKind::Group(_) => true,
            CooldownKind::Tag(_) => sim.remote().is_own_cooldown(self.who, self.effect, self.source),
            // The end of a recharge may follow another recharge.
            CooldownKind::Charges(_) => false,
        }
    }

    /// Returns the end of a cooldown that a fact reports.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other fact is irrelevant here")]
    fn of(fact: &Fact) -> Option<End> {
        let kind = match fact.kind {
            FactKind::TagChanged { tag, added: false, presence: true, .. } => CooldownKind::Tag(tag),
            FactKind::GlobalCooldown { group, running: false, .. } => CooldownKind::Group(group),
            FactKind::Charges { ability, length: SimTime::ZERO, .. } => CooldownKind::Charges(ability),
            _ => return None,
        };
        Some(End { at: fact.at, who: fact.who, kind, effect: fact.effect, source: fact.source })
    }
}

/// The cooldowns that ended within the time that a command may be late.
#[derive(Clone, Debug, Default)]
pub struct CooldownHistory {
    ends: VecDeque<End>,
    /// Cooldown ends before this time are no longer kept.
    known_from: SimTime,
}

impl CooldownHistory {
    /// Records the cooldowns that ended in a tick. Drops cooldowns that ended before `oldest`, the oldest time that a
    /// command may claim.
    pub fn record(&mut self, facts: &Facts, oldest: SimTime) {
        while self.ends.front().is_some_and(|end| end.at < oldest) {
            self.ends.pop_front();
        }
        for end in facts.list.iter().filter_map(End::of) {
            if self.ends.len() >= MAX_ENDS
                && let Some(dropped) = self.ends.pop_front()
            {
                self.known_from = self.known_from.max(dropped.at);
            }
            self.ends.push_back(end);
        }
    }

    /// Returns the time as of which a late request takes effect: the claimed time, or the end of a cooldown that was
    /// running at the claimed time. An activation whose own cooldown was running at the claimed time is rejected,
    /// because no honest client sends such a command, unless the cooldown began with a use and ended at most `grace`
    /// later.
    pub fn counted_from(
        &self,
        sim: &Sim,
        request: &Request,
        claimed: SimTime,
        grace: SimTime,
    ) -> Result<SimTime, (RejectReason, Refusal)> {
        let who = request.who();
        let from = claimed.max(self.known_from);
        let last = |is: &dyn Fn(&End) -> bool| {
            // A cooldown may also have ended earlier in this tick, whose facts are not recorded yet.
            let fresh = sim.facts().list.iter().filter_map(End::of);
            let ends = self.ends.iter().copied().chain(fresh).filter(|end| end.who == who && is(end));
            ends.map(|end| end.at).fold(from, SimTime::max)
        };
        match request {
            Request::Activate { ability, .. } => {
                let (tags, group) = sim.cooldown_gates(*ability);
                let is_gate = |end: &End| match end.kind {
                    CooldownKind::Tag(tag) => tags.contains(&tag),
                    CooldownKind::Group(of) => group == Some(of),
                    CooldownKind::Charges(_) => false,
                };
                let cooldown_end = last(&is_gate);
                let is_in_grace = |end: &End| end.at - claimed <= grace && end.is_by_use(sim);
                if last(&|end| is_gate(end) && !is_in_grace(end)) > from {
                    return Err((RejectReason::Early, Refusal::ClaimedDuringCooldown));
                }
                let of_ability = |end: &End| end.kind == CooldownKind::Charges(*ability);
                Ok(last(&of_ability).max(cooldown_end))
            }
            // The request does not name its ability, so every cooldown end counts.
            Request::Press { .. }
            | Request::Release { .. }
            | Request::Axis { .. }
            | Request::LetGo { .. }
            | Request::Cancel { .. }
            | Request::End { .. }
            | Request::Commit { .. }
            | Request::Apply { .. }
            | Request::Complete { .. }
            | Request::Move { .. }
            | Request::Aim { .. }
            | Request::Mispredicted { .. } => Ok(last(&|_| true)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ugas_core::{Cause, EffectId, EffectKey, Rules, SimConfig, Target};

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

    fn counted(history: &CooldownHistory, request: &Request, claimed: i64) -> i64 {
        let rules = Rules::builder().build().unwrap();
        let sim = Sim::new(rules, SimConfig::default());
        history.counted_from(&sim, request, SimTime(claimed), SimTime::ZERO).unwrap().0
    }

    #[test]
    fn a_request_counts_from_the_end_of_its_cooldown_at_the_earliest() {
        let mut history = CooldownHistory::default();
        history.record(&facts(&[(50, full(1)), (70, full(2))]), SimTime::ZERO);
        let activate = |ability| Request::Activate { who: WHO, ability: AbilityId(ability), target: Target::None };
        assert_eq!(counted(&history, &activate(1), 40), 50);
        assert_eq!(counted(&history, &activate(1), 60), 60);
        assert_eq!(counted(&history, &activate(3), 40), 40);
        let press = Request::Press { who: WHO, input: ugas_core::InputId(0), target: Target::None };
        assert_eq!(counted(&history, &press, 40), 70, "the press may activate either ability");
    }

    #[test]
    fn old_ends_are_dropped_and_nothing_counts_from_before_a_dropped_end() {
        let mut history = CooldownHistory::default();
        history.record(&facts(&[(10, full(1)), (20, full(1))]), SimTime::ZERO);
        history.record(&facts(&[]), SimTime(15));
        assert_eq!(history.ends.len(), 1);
        let many: Vec<_> = (0..MAX_ENDS as i64 + 3).map(|n| (100 + n, full(1))).collect();
        history.record(&facts(&many), SimTime(15));
        assert_eq!(history.ends.len(), MAX_ENDS);
        let other = Request::Activate { who: WHO, ability: AbilityId(9), target: Target::None };
        assert_eq!(counted(&history, &other, 50), 102);
    }
}
